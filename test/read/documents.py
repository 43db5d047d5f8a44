# SPDX-License-Identifier: Apache-2.0
"""Small documents of many formats, written by hand from their specifications, with a known content.

Each function returns the bytes of a file.  No library for the formats is needed, so what the readers
find in them is compared with what was put in.
"""

import io
import struct
import zipfile

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in [("office", "office"), ("text", "text"), ("table", "table"),
                        ("draw", "drawing"), ("presentation", "presentation"), ("meta", "meta")])


def package(members, stored_first=False):
    """A ZIP archive of {name: text or bytes}, in that order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, (name, content) in enumerate(members.items()):
            kind = zipfile.ZIP_STORED if stored_first and i == 0 else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content, kind)
    return out.getvalue()


def relations(rows):
    """A part with relationships: [(id, type, target)]."""
    return f'<Relationships xmlns="{RELATIONS}">' + "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for name, kind, target in rows) + "</Relationships>"


def docx(body=None, extra=None, head=""):
    """Two headings, a list, a table with a bar in it, a footnote, deleted text."""
    body = body or """
<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>One</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Some </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>
<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t xml:space="preserve"> text</w:t>
<w:footnoteReference w:id="2"/></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>
<w:r><w:t>first</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr>
<w:r><w:t>inner</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc>
<w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc>
<w:tc><w:p/></w:tc></w:tr></w:tbl>
<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Two</w:t></w:r></w:p>"""
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations([("rId1", "officeDocument", "word/document.xml")]),
        "word/document.xml": f'{head}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body>'
                             "</w:document>",
        "word/_rels/document.xml.rels": relations([("rId9", "footnotes", "footnotes.xml")]),
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:type="separator" '
                              'w:id="0"><w:p><w:r><w:t>no</w:t></w:r></w:p></w:footnote>'
                              '<w:footnote w:id="2"><w:p><w:r><w:t>The note.</w:t></w:r></w:p>'
                              "</w:footnote></w:footnotes>",
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="H1">'
                           '<w:name w:val="heading 1"/></w:style></w:styles>',
        "docProps/core.xml": '<cp:coreProperties xmlns:cp="x" xmlns:dc="y"><dc:title>A &amp; B'
                             "</dc:title><dc:creator>Me</dc:creator></cp:coreProperties>",
    }
    members.update(extra or {})
    return package(members)


def odf(kind, body, head=""):
    """An OpenDocument file with that content."""
    return package({
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"{head}<office:document-content {ODF}><office:body>{body}</office:body>"
                       "</office:document-content>",
        "meta.xml": f'<office:document-meta {ODF} xmlns:dc="y"><office:meta><dc:title>Plan'
                    "</dc:title></office:meta></office:document-meta>",
    }, stored_first=True)


def odt(head=""):
    """A heading, blanks, a list, a table, a note, a comment."""
    return odf("text", """<office:text><text:tracked-changes><text:p>gone</text:p>
</text:tracked-changes><text:h text:outline-level="2">Two</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c<text:note>
<text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p></text:note-body>
</text:note><office:annotation><text:p>comment</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p>
</text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>
<table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>
</office:text>""", head)


def odp():
    """Two slides, one with notes."""
    return odf("presentation", """<office:presentation>
<draw:page draw:name="a"><draw:frame presentation:class="title"><draw:text-box><text:p>First</text:p>
</draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:p>line</text:p>
</draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say hello.</text:p>
</draw:text-box></draw:frame></presentation:notes></draw:page>
<draw:page draw:name="b"><draw:frame><draw:text-box><text:p>Second</text:p></draw:text-box></draw:frame>
<presentation:notes/></draw:page></office:presentation>""")


def ods():
    """Two sheets: types, repeats, merged cells, a formula."""
    def cell(kind="", inside="", more=""):
        return f"<table:table-cell {kind} {more}>{inside}</table:table-cell>"
    return odf("spreadsheet", '<office:spreadsheet><table:table table:name="Q1"><table:table-row>'
               + cell('office:value-type="string"', "<text:p>Name</text:p>")
               + cell('office:value-type="date" office:date-value="2024-02-29T10:00:00"',
                      "<text:p>29 Feb</text:p>")
               + cell('office:value-type="float" office:value="1.5"', "<text:p>1,50</text:p>",
                      'table:formula="of:=SUM([.A1:.A2])"')
               + "</table:table-row>"
               '<table:table-row table:number-rows-repeated="3">'
               + cell('office:value-type="float" office:value="7"', "<text:p>7</text:p>",
                      'table:number-columns-repeated="2"')
               + "</table:table-row>"
               '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
               'table:number-columns-repeated="16384"/></table:table-row></table:table>'
               '<table:table table:name="Q 2"><table:table-row>'
               + cell('office:value-type="boolean" office:boolean-value="true"', "",
                      'table:number-columns-spanned="2" table:number-rows-spanned="1"')
               + "<table:covered-table-cell/></table:table-row></table:table>"
               "</office:spreadsheet>")


def xlsx(rows=None, sheets=("Budget", "Big one")):
    """Shared, inline and rich strings, dates of several kinds, formulas, errors, merged cells."""
    first = rows or """<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
<row r="2"><c r="A2" s="1"><v>45351</v></c><c r="B2" s="2"><v>44928.127835648</v></c>
<c r="C2" s="3"><v>1.25</v></c><c r="D2" s="1"><v>59</v></c></row>
<row r="4"><c r="A4"><v>0.30000000000000004</v></c><c r="B4" t="b"><v>1</v></c>
<c r="C4" t="e"><v>#DIV/0!</v></c><c r="D4" t="inlineStr"><is><t>in line</t></is></c>
<c r="E4"><f>SUM(A4:A4)</f><v>3</v></c><c r="F4"><f t="shared" ref="F4:F5" si="0">A4*2</f><v>1</v></c></row>
<row r="5"><c r="F5"><f t="shared" si="0"/><v>2</v></c><c r="AB5"><v>12345678901234567</v></c></row>"""
    book = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>'
                   for i, name in enumerate(sheets, 1))
    big = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c><c r="B{i}"><v>{i * 2}</v></c></row>'
                  for i in range(1, 1001))
    return package({
        "_rels/.rels": relations([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{book}</sheets>'
                           "</workbook>",
        "xl/_rels/workbook.xml.rels": relations([
            ("rId1", "worksheet", "worksheets/sheet1.xml"),
            ("rId2", "worksheet", "/xl/worksheets/sheet2.xml"),
            ("rId8", "sharedStrings", "sharedStrings.xml"), ("rId9", "styles", "styles.xml")]),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}"><si><t>Name</t></si><si><r><t>ri</t></r><r>'
                                "<t>ch</t></r><rPh><t>no</t></rPh></si></sst>",
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}"><numFmts><numFmt numFmtId="164" formatCode='
                         '"[h]:mm:ss"/></numFmts><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs>'
                         '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>'
                         '<xf numFmtId="164"/></cellXfs></styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><dimension ref="A1:AB5"/>'
                                    f"<sheetData>{first}</sheetData><mergeCells>"
                                    '<mergeCell ref="A4:A5"/></mergeCells></worksheet>',
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{SHEET}"><dimension ref="A1:B1000"/>'
                                    f"<sheetData>{big}</sheetData></worksheet>",
    })


def pptx():
    """Two slides in another order than that of their names; one has notes, one is hidden."""
    space = 'xmlns:p="p" xmlns:a="a"'

    def shape(text, kind=""):
        return (f'<p:sp><p:nvSpPr><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}'
                "</a:t></a:r></a:p></p:txBody></p:sp>")
    title = '<p:ph type="title"/>'
    return package({
        "ppt/presentation.xml": f'<p:presentation {space} xmlns:r="{OFFICE}"><p:sldIdLst>'
                                '<p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/>'
                                "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations([
            ("rId1", "slide", "slides/slide1.xml"), ("rId2", "slide", "slides/slide2.xml")]),
        "ppt/slides/slide1.xml": f'<p:sld {space} show="0">{shape("Last", title)}</p:sld>',
        "ppt/slides/slide2.xml": f"<p:sld {space}>{shape('body')}{shape('First', title)}</p:sld>",
        "ppt/slides/_rels/slide2.xml.rels": relations([
            ("rId1", "notesSlide", "../notesSlides/notesSlide1.xml")]),
        "ppt/notesSlides/notesSlide1.xml": f"<p:notes {space}>{shape('Say hello.')}</p:notes>",
    })


def epub():
    """Two chapters, listed in another order than they are read in."""
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>%s</body></html>'
    return package({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="c"><rootfiles><rootfile full-path="OPS/a.opf"/>'
                                  "</rootfiles></container>",
        "OPS/a.opf": '<package xmlns="o" xmlns:dc="d"><metadata><dc:title>Book</dc:title></metadata>'
                     '<manifest><item id="b" href="two%20x.xhtml"/><item id="a" href="one.xhtml"/>'
                     '</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OPS/one.xhtml": page % "<h1>Alpha</h1><p>caf&#233;&nbsp;x</p>",
        "OPS/two x.xhtml": page % "<h2>Beta</h2><p>end</p>",
    }, stored_first=True)


def pdf(pages, title="Title", outline=(), catalog="", count=None, encrypt=""):
    """A PDF whose pages are lists of (x, y from the top, text), in Helvetica of 10 points."""
    objects = {}
    kids = " ".join(f"{10 + 2 * i} 0 R" for i in range(len(pages)))
    marks = " /Outlines 4 0 R" if outline else ""
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R{marks} {catalog} >>"
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages) if count is None else count} >>"
    objects[3] = f"<< /Title ({title}) /CreationDate (D:20240102030405Z) >>"
    objects[5] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    for i, lines in enumerate(pages):
        text = "".join(f"BT /F1 10 Tf {x} {800 - y} Td ({line}) Tj ET\n" for x, y, line in lines)
        objects[10 + 2 * i] = ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources "
                               f"<< /Font << /F1 5 0 R >> >> /Contents {11 + 2 * i} 0 R >>")
        objects[11 + 2 * i] = f"<< /Length {len(text)} >>\nstream\n{text}endstream"
    base = 100000
    if outline:
        objects[4] = f"<< /First {base} 0 R /Last {base + len(outline) - 1} 0 R >>"
    for i, (name, page) in enumerate(outline):
        after = f"/Next {base + i + 1} 0 R" if i + 1 < len(outline) else ""
        objects[base + i] = (f"<< /Title ({name}) /Parent 4 0 R {after} "
                             f"/Dest [{8 + 2 * page} 0 R /Fit] >>")
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    for number, text in sorted(objects.items()):
        places[number] = len(out)
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in sorted(places.items()):
        out += f"{number} 1\n{place:010} 00000 n \n".encode()
    out += (f"trailer << /Size {max(places) + 1} /Root 1 0 R /Info 3 0 R {encrypt} >>\nstartxref\n"
            f"{start}\n%%EOF\n").encode()
    return bytes(out)


def cpio(members):
    """The "new" portable format of {name: bytes}."""
    out = bytearray()
    for name, content in [*members.items(), ("TRAILER!!!", b"")]:
        raw = name.encode() + b"\0"
        fields = [1, 0o100644, 0, 0, 1, 1700000000, len(content), 0, 0, 0, 0, len(raw), 0]
        out += b"070701" + "".join(f"{field:08X}" for field in fields).encode() + raw
        out += b"\0" * (-len(out) % 4) + content
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def java_class():
    """class a/B extends java/lang/Object implements x/I { long f; void m() {} }"""
    def text(value):
        return b"\1" + struct.pack(">H", len(value)) + value.encode()

    def name(index):
        return b"\7" + struct.pack(">H", index)
    pool = [text("a/B"), name(1), text("java/lang/Object"), name(3), text("x/I"), name(5), text("f"),
            text("J"), text("m"), text("()V"), b"\5" + b"\0" * 8]
    return (b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 61, len(pool) + 2) + b"".join(pool)
            + struct.pack(">HHHHH", 0x21, 2, 4, 1, 6) + struct.pack(">HHHHH", 1, 0, 7, 8, 0)
            + struct.pack(">HHHHH", 1, 1, 9, 10, 1) + struct.pack(">HI", 9, 4) + b"abcd"
            + struct.pack(">H", 0))
