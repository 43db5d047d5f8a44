# SPDX-License-Identifier: Apache-2.0
"""Readers of binary formats, each in its confined child: what they find is what was put in, parts
are what was asked for, and hostile or damaged files are errors or bounded answers, nothing else."""

import base64
import bz2
import gzip
import io
import json
import lzma
import os
import py_compile
import re
import sqlite3
import struct
import subprocess
import tarfile
import zipfile
from pathlib import Path

import documents
import pytest

PROBE = os.environ["DERIVE_PROBE"]
REFUSALS = {"not_text", "too_large", "invalid_argument"}


def derive(path, *words):
    run = subprocess.run([PROBE, path, *words], capture_output=True, timeout=120, check=False)
    assert run.returncode == 0, run
    return json.loads(run.stdout)


@pytest.fixture(name="make")
def fixture_make(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path
    return make


def asks(answer):
    return [(entry["name"], entry["ask"]) for entry in answer["outline"]]


# ---- PDF

TABLE = [["Name", "Count", "Price"], ["Apple", "12", "1.50"], ["Pear", "7", "2.25"],
         ["Plum", "100", "0.10"]]
PAGES = [[(50, 50, "Chapter one"), (50, 80, "Some prose that goes on for a while.")]
         + [(60 + 150 * j, 120 + 20 * i, cell) for j in range(3) for i, row in enumerate(TABLE)
            for cell in [row[j]]] + [(50, 300, "After the table.")],
         [(50, 50, "Page two")], [(50, 50, "Page three")]]


def test_pdf_pages_and_tables(make):
    path = make("a.pdf", documents.pdf(PAGES))
    answer = derive(path)
    assert answer["kind"] == "a PDF document" and answer["library"].startswith("poppler ")
    assert answer["facts"]["pages"] == 3 and answer["facts"]["title"] == "Title"
    assert answer["facts"]["created"] == "2024-01-02"
    assert answer["text"].splitlines() == [
        "--- page 1 ---", "Chapter one", "Some prose that goes on for a while.",
        "| Name | Count | Price |", "| Apple | 12 | 1.50 |", "| Pear | 7 | 2.25 |",
        "| Plum | 100 | 0.10 |", "After the table.", "--- page 2 ---", "Page two",
        "--- page 3 ---", "Page three"]
    assert derive(path, "pages=2-")["text"] == "--- page 2 ---\nPage two\n--- page 3 ---\nPage three"
    assert derive(path, "pages=9")["error"] == "invalid_argument"
    assert derive(path, "sheet=1")["error"] == "invalid_argument"
    cut = derive(path, "max=210")
    assert cut["truncated"] and cut["next"] == "pages 3-3"


def test_pdf_outline(make):
    marks = [("One", 1), ("Three", 3)]
    answer = derive(make("a.pdf", documents.pdf(PAGES, outline=marks)), "outline")
    assert asks(answer) == [("One", {"pages": "1"}), ("Three", {"pages": "3"})]
    answer = derive(make("b.pdf", documents.pdf(PAGES)), "outline")
    assert asks(answer) == [("Chapter one", {"pages": "1"}), ("Page two", {"pages": "2"}),
                            ("Page three", {"pages": "3"})]


def test_pdf_pictures(make):
    answer = derive(make("a.pdf", documents.pdf(PAGES)), "render", "pages=1-2")
    assert [picture["mime_type"] for picture in answer["pictures"]] == ["image/png"] * 2
    png = base64.b64decode(answer["pictures"][0]["data"])
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24]) == (1060, 1501)
    blank = base64.b64decode(derive(make("b.pdf", documents.pdf([[]])), "render")["pictures"][0]["data"])
    assert len(png) > 2 * len(blank), "the letters are in the picture"


def test_pdf_without_text_says_so(make):
    assert "pictures" in derive(make("a.pdf", documents.pdf([[]])))["facts"]["note"]


def test_pdf_encrypted(make):
    lock = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]" % (
        "61" * 32, "62" * 32)
    answer = derive(make("a.pdf", documents.pdf(PAGES, encrypt=lock)))
    assert answer["error"] == "not_text" and "encrypted" in answer["message"]


@pytest.mark.parametrize("content", [
    documents.pdf(PAGES, count=5000000),
    documents.pdf(PAGES).replace(b"/Kids [10 0 R", b"/Kids [ 2 0 R"),
    documents.pdf(PAGES, outline=[("a", 1), ("b", 2)]).replace(b"/Next 100001", b"/Next 100000"),
    documents.pdf(PAGES).replace(b"/Contents 11 0 R", b"/Contents 10 0 R"),
], ids=["five million pages", "pages that contain themselves", "bookmarks in a circle",
        "a page that is its own content"])
@pytest.mark.parametrize("words", [[], ["outline"], ["render"]], ids=str)
def test_pdf_that_loops(make, content, words):
    check_bounded(derive(make("a.pdf", content), *words))


# ---- office documents

def test_docx(make):
    path = make("a.docx", documents.docx())
    answer = derive(path)
    assert answer["kind"] == "a Word document"
    assert answer["facts"] == {"title": "A & B", "author": "Me"}
    assert answer["text"].splitlines() == [
        "# One", "Some new text[^2]", "- first", "  - inner", "| a\\|b | c |", "| --- | --- |",
        "| 1 2 | |", "## Two", "[^2]: The note."]
    assert asks(derive(path, "outline")) == [("One", {"line": "1"}), ("Two", {"line": "8"})]
    assert derive(path, "line=8")["text"] == "## Two\n[^2]: The note.\n"


def test_odt(make):
    answer = derive(make("a.odt", documents.odt()))
    assert answer["facts"] == {"title": "Plan"}
    assert answer["text"].splitlines() == [
        "## Two", "a   b\tc [note: The note.]", "- first", "  - inner", "| x | y |", "| --- | --- |"]


def test_xlsx(make):
    path = make("a.xlsx", documents.xlsx())
    text = derive(path, "sheet=Budget")["text"].splitlines()
    assert text[0] == "## Budget" and text[1].startswith("row | A | B | C")
    assert text[2:5] == [
        "1 | Name | rich", "2 | 2024-02-29 | 2023-01-02 03:04:05 | 30:00:00 | 1900-02-28",
        "4 | 0.3 | TRUE | #DIV/0! | in line | 3 | 1"]
    assert text[6] == "merged: A4:A5"
    assert re.fullmatch(r"5( \|)* \| 2 \| AB: 12345678901234567", text[5])
    formulas = derive(path, "formulas", "range=E4:F5")["text"].splitlines()
    assert formulas[2:4] == ["4 | =SUM(A4:A4) [3] | =A4*2 [1]", "5 | | =(as in F4) [2]"]


def test_xlsx_ranges_and_sheets(make):
    path = make("a.xlsx", documents.xlsx())
    assert asks(derive(path, "outline")) == [("Budget", {"sheet": "Budget"}),
                                             ("Big one", {"sheet": "Big one"})]
    assert derive(path, "sheet=Big one", "range=B5:B6")["text"] == (
        "## Big one\nrow | B\n5 | 10\n6 | 12\n")
    assert derive(path, "sheet=2", "range=999:2000")["text"].splitlines()[2:] == [
        "999 | 999 | 1998", "1000 | 1000 | 2000"]
    cut = derive(path, "sheet=2", "max=100")
    last = int(cut["text"].splitlines()[-1].split(" ")[0])
    assert cut["truncated"] and cut["next"] == f'sheet "Big one" A{last + 1}:B1000'
    answer = derive(path, "sheet=No")
    assert answer["error"] == "invalid_argument" and '"Big one"' in answer["message"]
    assert derive(path, "range=7:A")["error"] == "invalid_argument"


def test_ods(make):
    path = make("a.ods", documents.ods())
    assert derive(path)["text"].splitlines() == [
        "## Q1", "row | A | B | C", "1 | Name | 2024-02-29 10:00:00 | 1.5", "2 | 7 | 7",
        "3 | 7 | 7", "4 | 7 | 7", "## Q 2", "row | A", "1 | true", "merged: A1:B1"]
    outline = derive(path, "outline")["outline"]
    assert [(entry["name"], entry["rows"], entry["columns"]) for entry in outline] == [
        ("Q1", 4, 3), ("Q 2", 1, 1)]
    assert derive(path, "sheet=Q1", "range=C1", "formulas")["text"].endswith(
        "1 | =SUM([.A1:.A2]) [1.5]\n")
    assert derive(path, "sheet=Q1", "range=B3:B9")["text"] == "## Q1\nrow | B\n3 | 7\n4 | 7\n"


def test_pptx(make):
    path = make("a.pptx", documents.pptx())
    assert derive(path)["text"].splitlines() == [
        "--- slide 1 ---", "body", "# First", "Notes:", "Say hello.", "--- slide 2 ---", "# Last",
        "(This slide is hidden.)"]
    assert derive(path, "pages=2")["text"].startswith("--- slide 2 ---\n# Last")
    assert asks(derive(path, "outline")) == [("First", {"pages": "1"}), ("Last", {"pages": "2"})]


def test_odp(make):
    path = make("a.odp", documents.odp())
    assert derive(path)["text"].splitlines() == [
        "--- slide 1 ---", "# First", "line", "Notes:", "Say hello.", "--- slide 2 ---", "Second"]
    assert derive(path, "pages=2")["text"] == "--- slide 2 ---\nSecond\n"
    assert derive(path, "pages=3")["error"] == "invalid_argument"


def test_epub(make):
    path = make("a.epub", documents.epub())
    answer = derive(path)
    assert answer["facts"]["chapters"] == 2 and answer["facts"]["title"] == "Book"
    lines = [line for line in answer["text"].splitlines() if line]
    assert lines == ["--- chapter 1 ---", "# Alpha", "caf\u00e9\u00a0x", "--- chapter 2 ---", "## Beta",
                     "end"]
    assert asks(derive(path, "outline")) == [("Alpha", {"pages": "1"}), ("Beta", {"pages": "2"})]


def test_older_and_encrypted_office_files(make):
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    assert "2007" in derive(make("a.doc", head))["message"]
    locked = derive(make("a.docx", head + "EncryptedPackage".encode("utf-16-le")))
    assert locked["error"] == "not_text" and "encrypted" in locked["message"]


# ---- archives

MEMBERS = {"a/one.txt": b"first\nsecond\n", "a/b.pdf": documents.pdf(PAGES), "x.bin": b"\0\1\2" * 50}


def tar_of(members, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(content), 0o640, 1700000000
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


ARCHIVES = {"a.zip": documents.package(MEMBERS), "a.tar": tar_of(MEMBERS),
            "a.tar.gz": tar_of(MEMBERS, "w:gz"), "a.tar.bz2": tar_of(MEMBERS, "w:bz2"),
            "a.tar.xz": tar_of(MEMBERS, "w:xz"), "a.cpio": documents.cpio(MEMBERS)}


def packed(folder, name):
    """An archive that bsdtar makes of the members, in their order."""
    for member, content in MEMBERS.items():
        (folder / member).parent.mkdir(exist_ok=True)
        (folder / member).write_bytes(content)
    kind = {"7z": "7zip", "iso": "iso9660"}[name.rpartition(".")[2]]
    subprocess.run(["bsdtar", "--format", kind, "-cf", name, *MEMBERS], cwd=folder, check=True)
    return (folder / name).read_bytes()


@pytest.mark.parametrize("name", [*ARCHIVES, "a.7z"])
def test_archives(make, tmp_path, name):
    path = make(name, ARCHIVES[name] if name in ARCHIVES else packed(tmp_path, name))
    answer = derive(path)
    assert answer["facts"]["members"] == 3
    lines = answer["text"].splitlines()
    assert [line.split()[1] for line in lines] == [str(len(content)) for content in MEMBERS.values()]
    assert [line.split("  ")[-1] for line in lines] == list(MEMBERS)
    assert derive(path, "member=a/one.txt")["text"] == "first\nsecond\n"
    page = derive(path, "member=a/b.pdf", "pages=2")
    assert page["kind"] == "a PDF document" and page["text"] == "--- page 2 ---\nPage two"
    assert derive(path, "member=x.bin")["error"] == "not_text"
    assert derive(path, "member=none")["error"] == "invalid_argument"
    assert derive(path, "pages=1")["error"] == "invalid_argument"
    assert asks(derive(path, "outline")) == [(member, {"member": member}) for member in MEMBERS]
    if "tar" in name:
        assert lines[0].startswith("-rw-r-----") and "2023-11-14 22:13" in lines[0]


def test_an_image_of_a_disc(make, tmp_path):
    """It has its folders as members, too, in its own order."""
    path = make("a.iso", packed(tmp_path, "a.iso"))
    rows = [line.split() for line in derive(path)["text"].splitlines()]
    assert {row[-1]: row[1] for row in rows if row[0].startswith("-")} == {
        name: str(len(content)) for name, content in MEMBERS.items()}
    assert derive(path, "member=a/one.txt")["text"] == "first\nsecond\n"


@pytest.mark.parametrize("name,pack", [("a.txt.gz", gzip.compress), ("a.txt.bz2", bz2.compress),
                                       ("a.txt.xz", lzma.compress)])
def test_compressed_files(make, name, pack):
    text = "".join(f"line {i}\n" for i in range(1000))
    assert derive(make(name, pack(text.encode())))["text"] == text
    page = derive(make("b.pdf" + name[5:], pack(documents.pdf(PAGES))), "pages=3")
    assert page["text"] == "--- page 3 ---\nPage three"


def test_compressed_by_zstd(make):
    packed = subprocess.run(["zstd", "-q"], input=b"hello\n", capture_output=True, check=True).stdout
    assert derive(make("a.zst", packed))["text"] == "hello\n"


def test_real_changelogs():
    for path in sorted(Path("/usr/share/doc").glob("*/changelog*.gz"))[:10]:
        text = gzip.decompress(path.read_bytes())
        if len(text) < 1 << 20 and text.isascii() and b"\f" not in text:
            assert derive(path)["text"] == text.decode().replace("\r\n", "\n"), path


def test_package_of_debian(tmp_path):
    root = tmp_path / "p"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "usr/share").mkdir(parents=True)
    (root / "usr/share/hello").write_text("hello\n")
    (root / "DEBIAN/control").write_text("Package: hello\nVersion: 1.2\nArchitecture: all\n"
                                         "Maintainer: A <a@example.org>\nDescription: says so\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, tmp_path / "h.deb"], check=True,
                   capture_output=True)
    answer = derive(tmp_path / "h.deb")
    assert answer["facts"]["package"] == "hello" and answer["facts"]["version"] == "1.2"
    names = [line.split("  ")[-1] for line in answer["text"].splitlines()]
    assert "control/control" in names and "data/usr/share/hello" in names
    assert derive(tmp_path / "h.deb", "member=data/usr/share/hello")["text"] == "hello\n"
    assert derive(tmp_path / "h.deb", "member=control/control")["text"].startswith("Package: hello\n")


def test_one_level_alone(make):
    inner = documents.package({"deep.txt": b"deep\n"})
    path = make("a.zip", documents.package({"b.zip": inner}))
    assert derive(path, "member=b.zip")["text"].endswith("deep.txt\n")


def test_names_that_lie(make):
    answer = derive(make("a.tar", tar_of({"../../etc/passwd": b"x", "/abs": b"y",
                                          "a\x1b[31m\u202eb": b"z"})))
    assert answer["facts"]["unsafe_names"] == 2
    assert answer["text"].count("outside of the folder") == 2
    assert "\x1b" not in answer["text"] and "\u202e" not in answer["text"]


def test_member_that_its_name_hides(make):
    answer = derive(make("a.zip", documents.package({"x": documents.pdf(PAGES)})), "member=x")
    assert answer["error"] == "not_text" and "a PDF document" in answer["message"]


# ---- SQLite

@pytest.fixture(name="database")
def fixture_database(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as db:
        db.execute('CREATE TABLE "my users"(id INTEGER PRIMARY KEY, name TEXT, photo BLOB)')
        db.executemany('INSERT INTO "my users" VALUES(?, ?, ?)',
                       [(i, f"name {i}", None if i % 2 else b"\0\1") for i in range(1, 301)])
        db.execute('CREATE VIEW even AS SELECT id FROM "my users" WHERE id % 2 = 0')
        db.execute("CREATE TABLE empty(x)")
    db.close()
    return path


def test_sqlite(database):
    answer = derive(database)
    assert answer["kind"] == "an SQLite database" and answer["library"].startswith("SQLite 3.")
    assert answer["facts"]["tables"] == 3
    text = answer["text"]
    assert '## table my users (300 rows)\nCREATE TABLE "my users"(id INTEGER PRIMARY KEY' in text
    assert 'row | id | name | photo\n1 | 1 | "name 1" | null\n2 | 2 | "name 2" | {"blob":2' in text
    assert "\n5 | 5 |" in text and "\n6 | 6 |" not in text and "## view even\nCREATE VIEW" in text
    outline = derive(database, "outline")["outline"]
    assert [(entry["ask"], entry.get("rows")) for entry in outline] == [
        ({"table": "my users"}, 300), ({"table": "empty"}, 0), ({"table": "even"}, None)]


def test_sqlite_rows(database):
    rows = derive(database, "table=my users", "range=10-12")["text"].splitlines()
    assert rows[0] == "row | id | name | photo" and [row.split(" | ")[0] for row in rows[1:]] == [
        "10", "11", "12"]
    first = derive(database, "table=my users")
    assert first["truncated"] and first["next"] == 'table "my users" 201-400'
    assert derive(database, "table=even", "range=150")["text"].endswith("150 | 300\n")
    assert derive(database, "table=none")["error"] == "invalid_argument"
    cut = derive(database, "table=my users", "max=200")
    last = int(cut["text"].splitlines()[-1].split(" ")[0])
    assert cut["next"] == f'table "my users" {last + 1}-200'


def test_sqlite_is_only_read(database):
    before = database.read_bytes()
    derive(database)
    assert database.read_bytes() == before
    assert sorted(path.name for path in database.parent.iterdir()) == ["a.db"]


# ---- programs and fonts

def test_elf():
    path = Path("/usr/bin/python3").resolve()
    answer = derive(path)
    dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    assert answer["facts"]["needs"] == re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True,
                             check=True).stdout
    assert answer["facts"]["dynamic_symbols"] == int(re.search(r"contains (\d+) entr", symbols)[1])
    assert "interpreter" in answer["facts"] and answer["facts"]["type"].startswith("program")
    assert answer["facts"]["bits"] in (32, 64)
    assert ".dynsym" in derive(path, "details")["text"]


def test_strings(make):
    own = derive("/bin/true", "strings")["text"].splitlines()
    theirs = subprocess.run(["strings", "-a", "/bin/true"], capture_output=True, text=True,
                            check=True).stdout.splitlines()
    assert own == theirs


def test_java_class(make):
    answer = derive(make("a.class", documents.java_class()))
    assert answer["facts"]["class"] == "a/B" and answer["facts"]["extends"] == "java/lang/Object"
    assert answer["facts"]["version"] == "61.0 (Java 17)"
    assert answer["text"] == "implements x/I\nfield f J\nmethod m ()V\n"


def test_pyc(tmp_path):
    source = tmp_path / "a.py"
    source.write_text("GREETING = 'hello there'\n")
    compiled = py_compile.compile(str(source), cfile=str(tmp_path / "a.pyc"))
    answer = derive(compiled)
    version = ".".join(os.sys.version.split(".")[:2])
    assert answer["facts"]["python"] == version
    assert answer["facts"]["source_bytes"] == source.stat().st_size
    assert "hello there" in derive(compiled, "strings")["text"]


def test_fonts():
    path = next(Path("/usr/share/fonts").rglob("DejaVuSans-Bold.ttf"))
    answer = derive(path)
    assert answer["facts"]["family"] == "DejaVu Sans" and "Bold" in answer["text"]


# ---- hostile files

def check_bounded(answer):
    """An error of the refusing kind, or an answer; never a crash."""
    if "error" in answer:
        assert answer["error"] in REFUSALS, answer
    else:
        assert len(answer["text"]) <= 1 << 20


ENTITIES = ('<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "lol">'
            + "".join(f'<!ENTITY {b} "{("&%s;" % a) * 10}">' for a, b in zip("abcdefghij", "bcdefghijk"))
            + ']>')
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY k SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("head", [ENTITIES, EXTERNAL], ids=["billion laughs", "external entity"])
def test_entities_are_not_expanded(make, head):
    body = "<w:p><w:r><w:t>before &k; after</w:t></w:r></w:p>"
    for path in (make("a.docx", documents.docx(body, head=head)), make("a.odt", documents.odt(head))):
        answer = derive(path)
        check_bounded(answer)
        assert "root:" not in json.dumps(answer) and "lollol" not in json.dumps(answer)


def test_bombs_are_named(make):
    spaces = " " * (1 << 20)
    body = "<w:p><w:r><w:t>" + spaces * 300 + "</w:t></w:r></w:p>"
    answer = derive(make("a.docx", documents.docx(body)))
    assert answer["error"] == "too_large" and "bomb" in answer["message"]
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("z", "w", force_zip64=True) as member:
            for _ in range(1100):
                member.write(b"\0" * (1 << 20))
    path = make("a.zip", zeros.getvalue())
    assert "decompression bomb" in derive(path)["facts"]["warning"]
    assert derive(path, "member=z")["error"] in REFUSALS
    nested = make("42.zip", documents.package({f"lib {i}.zip": ARCHIVES["a.zip"] for i in range(16)}))
    assert "bomb of nested archives" in derive(nested)["facts"]["warning"]
    packed = make("a.tar.gz", gzip.compress(tar_of({"z": b"\0" * (200 << 20)})))
    answer = derive(packed)
    assert answer["error"] == "too_large" and "bomb" in answer["message"]


def test_sparse_tar(make):
    header = bytearray(512)
    header[0:4], header[100:108], header[124:136] = b"huge", b"0000644\0", b"00000000000\0"
    header[136:148], header[156:157], header[257:265] = b"00000000000\0", b"S", b"ustar  \0"
    header[483:495] = b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    check_bounded(derive(make("a.tar", bytes(header) + b"\0" * 1024)))
    check_bounded(derive(make("a.tar", bytes(header) + b"\0" * 1024), "member=huge"))


def many_members(count):
    places, central = bytearray(), bytearray()
    for i in range(count):
        name = b"%07d" % i
        central += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 0, 0, 33, 0, 0, 0, 7, 0, 0,
                               0, 0, 0, len(places)) + name
        places += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 0, 0, 33, 0, 0, 0, 7, 0) + name
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(central), len(places))
    at = len(places) + len(central)
    return bytes(places + central + end + struct.pack("<IIQI", 0x07064B50, 0, at, 1)
                 + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def test_a_million_members(make):
    answer = derive(make("a.zip", many_members(1000000)))
    assert answer["truncated"] and len(answer["text"]) <= 1 << 20
    assert answer["facts"]["members"] == 1000000 or "note" in answer["facts"]
    answer = derive(make("a.docx", (make("b.zip", many_members(150000))).read_bytes()))
    assert answer["error"] == "too_large"


def test_deep_nesting(make):
    deep = "<w:p><w:r>" + "<w:x>" * 100000 + "</w:x>" * 100000 + "</w:r></w:p>"
    assert derive(make("a.docx", documents.docx(deep)))["error"] == "not_text"
    tables = "<w:tbl><w:tr><w:tc>" * 60 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 60
    check_bounded(derive(make("b.docx", documents.docx(tables))))


def test_repeats_of_a_spreadsheet(make):
    row = ('<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
           'office:value-type="float" office:value="1" table:number-columns-repeated="16384">'
           "<text:p>1</text:p></table:table-cell></table:table-row>")
    body = f'<office:spreadsheet><table:table table:name="t">{row * 5}</table:table></office:spreadsheet>'
    answer = derive(make("a.ods", documents.odf("spreadsheet", body)))
    assert answer["truncated"] and len(answer["text"]) <= 1 << 20
    assert derive(make("a.ods", documents.odf("spreadsheet", body)), "range=XFD1048576")["text"].endswith(
        "1048576 | 1\n")


WHOLE = {"a.pdf": documents.pdf(PAGES), "a.docx": documents.docx(), "a.odt": documents.odt(),
         "a.xlsx": documents.xlsx(), "a.ods": documents.ods(), "a.pptx": documents.pptx(),
         "a.odp": documents.odp(), "a.epub": documents.epub(), "a.class": documents.java_class(),
         "a.txt.gz": gzip.compress(b"hello\n" * 500), **ARCHIVES}


@pytest.mark.parametrize("name", WHOLE)
def test_truncated(make, name):
    """Cut after each twentieth: an error, or what came before the cut."""
    content = WHOLE[name]
    for i in range(20):
        check_bounded(derive(make(name, content[:len(content) * i // 20])))


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_in_the_middle(make, name):
    content = bytearray(WHOLE[name])
    for at in range(len(content) // 7, len(content), len(content) // 7 + 1):
        content[at] ^= 0x55
    check_bounded(derive(make(name, bytes(content))))
    check_bounded(derive(make(name, bytes(content)), "outline"))


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.xlsx", "a.zip", "a.tar.gz", "a.class", "a.so"])
def test_wrong_content(make, name):
    for content in (b"", b"\0" * 600, b"PK\3\4" + b"\xff" * 300, b"plain text\n"):
        check_bounded(derive(make(name, content)))


def test_sqlite_hostile(make, database):
    whole = database.read_bytes()
    for i in range(20):
        check_bounded(derive(make("b.db", whole[:len(whole) * i // 20])))
    for at in range(100, len(whole), 997):
        content = bytearray(whole)
        content[at:at + 50] = b"\xff" * 50
        check_bounded(derive(make("b.db", bytes(content))))
    with sqlite3.connect(database) as db:
        db.execute("CREATE VIEW loop AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                   "SELECT i FROM n")
    db.close()
    answer = derive(database)
    assert "\n5 | 5\n" in answer["text"].split("## view loop")[1]
