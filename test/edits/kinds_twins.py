# SPDX-License-Identifier: Apache-2.0
"""Kinds of edits whose text stands in more than one place, at the same depth or another, and what an edit says
besides decides, or nothing does."""

import re

import files
import formats
import sections
from changes import Edit, Place, reworded
from files import File, bare, has_word, indent_of, loose
from formats import Hunk
from table import ALREADY, APPLIES, EITHER, REFUSE, kind, narrowed, patch, single, trail, unchanged, update
from kinds_patch import DIALECTS, clearly
from kinds_update import nothing

SHEETS, COPIES = "twins: sections alike", "twins: copies in real files"


def inner(rng, sheet, k, salt=None):
    """(edit, hunk) within the body of section k: no line of it tells which section it is."""
    edit = sheet.edit(rng, k, salt)
    start, end = sheet.bodies[k]
    hunk = formats.hunks(edit, 40)[0]
    lead = rng.randint(0, edit.places[0].start - start)
    return edit, narrowed(hunk, lead, rng.randint(0 if lead else 1, max(1, min(2, end - edit.places[0].end))))


def within(rng, sheet, k):
    """The same, and never longer than the body."""
    edit, hunk = inner(rng, sheet, k)
    start, end = sheet.bodies[k]
    over = hunk.start + len(hunk.old) - end
    return edit, narrowed(hunk, hunk.lead, trail(hunk) - over) if over > 0 else hunk


def drawn(rng, least=4, last=False, **more):
    sheet = sections.draw(rng, least=least, **more)
    k = len(sheet.names) - 1 if last else rng.randrange(1, len(sheet.names) - 1)
    edit, hunk = within(rng, sheet, k)
    copies = len(sheet.file.places(hunk.old))
    return (sheet, k, edit, hunk) if copies == len(sheet.names) else (None, None, None, None)


def heading(text):
    return lambda h: b"@@ " + text


# ---- sections: what decides ----------------------------------------------------------------------

for _name, (_make, _says) in list(DIALECTS.items()) + [("@@ -12,7 +12,8 @@", (formats.numbers, True))]:
    if _says:

        @kind(SHEETS, "section by its number: " + _name, APPLIES)
        def _(rng, make=_make):
            sheet, k, edit, hunk = drawn(rng)
            return sheet and patch(
                edit, [hunk], formats.unified(edit, [hunk], "none", header=make), again=False, twins=True
            )


NAMINGS = {
    "the whole line": lambda s, k: s.head(k).strip(),
    "the line with its indentation": lambda s, k: s.head(k),
    "the line, closed by @@": lambda s, k: s.head(k).strip() + b" @@",
    "the line without its bracket": lambda s, k: s.head(k).strip().rstrip(b"{:([ "),
    "the name alone": lambda s, k: s.names[k].encode(),
}


def a_word(sheet, k, make):
    """The name alone is a word of one line; what is not to be the name alone is more."""
    if make is not NAMINGS["the name alone"]:
        return make(sheet, k).strip(b'":') != sheet.names[k].encode()
    return len(re.findall(rb"(?<![\w.-])%s(?![\w-])" % sheet.names[k].encode(), sheet.file.data)) == 1


for _name, _make in NAMINGS.items():
    _asked = EITHER if _name == "the name alone" else APPLIES  # it may as well describe what is done

    @kind(SHEETS, "section by a heading: " + _name, _asked)
    def _(rng, make=_make):
        sheet, k, edit, hunk = drawn(rng)
        if not sheet or not a_word(sheet, k, make):
            return None
        diff = formats.unified(edit, [hunk], "none", header=heading(make(sheet, k)))
        return patch(edit, [hunk], diff, again=False, twins=True, numbers=False)

    if _make is not NAMINGS["the line, closed by @@"]:

        @kind(SHEETS, "section by an anchor: " + _name, _asked)
        def _(rng, make=_make):
            sheet, k, edit, hunk = drawn(rng)
            if not sheet or not a_word(sheet, k, make):
                return None
            return patch(
                edit, [hunk], formats.envelope(edit, [hunk], [make(sheet, k)]), again=False, twins=True, numbers=False
            )


@kind(SHEETS, "section by git's numbers and heading", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    return sheet and patch(
        edit,
        [hunk],
        formats.unified(edit, [hunk], "git", lambda h: formats.numbers(h) + b" " + sheet.head(k)),
        again=False,
        twins=True,
    )


@kind(SHEETS, "section by a heading, the name is part of another's", APPLIES)
def _(rng):
    names = rng.choice(
        [
            ["save", "load_all", "load", "list"],
            ["load", "load_all", "save", "list"],
            ["list", "load_all", "load", "load_one", "save"],
        ]
    )
    sheet = sections.draw(
        rng, rng.choice(["Python, methods", "TypeScript", "Go", "Java", "Ruby", "Lua", "Rust"]), names
    )
    k = names.index("load")
    edit, hunk = within(rng, sheet, k)
    head = sheet.head(k).strip()
    text = head[: head.index(b"load") + 4]
    if len(sheet.file.places(hunk.old)) != len(names):
        return None
    diff = (
        formats.envelope(edit, [hunk], [text])
        if rng.random() < 0.5
        else formats.unified(edit, [hunk], "none", header=heading(text))
    )
    return patch(edit, [hunk], diff, again=False, twins=True)


@kind(SHEETS, "section by two anchors: a class and its method", APPLIES)
def _(rng):
    count, methods = rng.randint(3, 5), ["setup", "handle", "close"]
    lines, starts = [], []
    for i in range(count):
        lines.append(b"class Worker%s:\n" % bytes([65 + i]))
        for name in methods:
            lines.append(b"    def %s(self, value):\n" % name.encode())
            starts.append((i, name, len(lines)))
            lines += [b"        self.check(value)\n", b"        self.limit = 10\n", b"        return value\n", b"\n"]
        lines.append(b"\n")
    i, name, start = rng.choice(starts[1:-1])
    edit = Edit(
        File("workers.py", b"".join(lines)),
        [Place(start + 1, start + 2, [b"        self.limit = %d\n" % rng.randrange(11, 999)])],
    )
    hunk = formats.hunks(edit, rng.randint(0, 1))[0]
    anchors = [
        b"class Worker%s:" % bytes([65 + i]),
        (b"    def %s(self, value):" % name.encode()).strip()
        if rng.random() < 0.5
        else b"    def %s(self, value):" % name.encode(),
    ]
    return patch(edit, [hunk], formats.envelope(edit, [hunk], anchors), again=False, twins=True)


@kind(SHEETS, "section by its head in the context", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    full = formats.hunks(edit, 40)[0]
    hunk = narrowed(full, edit.places[0].start - sheet.heads[k], rng.randint(0, 2))
    diff = rng.choice([formats.envelope(edit, [hunk]), formats.unified(edit, [hunk], header=lambda h: b"@@ ... @@")])
    return patch(edit, [hunk], diff)


@kind(SHEETS, "section by its head in the old text", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    hunk = narrowed(formats.hunks(edit, 40)[0], edit.places[0].start - sheet.heads[k], 1)
    return update(edit, *formats.texts(hunk, rng.random() < 0.5))


def headed(rng, sheet, k):
    edit = sheet.edit(rng, k)
    return edit.places[0], narrowed(formats.hunks(edit, 40)[0], edit.places[0].start - sheet.heads[k], 0)


@kind(SHEETS, "section by order: between two that are certain", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    (one, first), (two, last) = headed(rng, sheet, k - 1), headed(rng, sheet, k + 1)
    whole = Edit(sheet.file, [one] + edit.places + [two])
    made = [first, hunk, last]
    if rng.random() < 0.5:
        return patch(whole, made, formats.unified(whole, made, header=lambda h: b"@@"), again=False, numbers=False)
    return patch(whole, made, formats.envelope(whole, made), again=False, numbers=False)


@kind(SHEETS, "section by its neighbours: all numbers off alike", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    (one, first), (two, last) = headed(rng, sheet, k - 1), headed(rng, sheet, k + 1)
    size = sheet.heads[1] - sheet.heads[0]
    off = rng.choice([n for n in range(-sheet.heads[k - 1], 3 * size) if n % size and n])
    whole = Edit(sheet.file, [one] + edit.places + [two])
    made = [first, hunk, last]
    return patch(whole, made, formats.unified(whole, made, header=lambda h: formats.numbers(h, off)), again=False)


@kind(SHEETS, "the last section by *** End of File", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(
        rng, last=True, language=rng.choice([n for n in sections.TEMPLATES if n not in ("Markdown",)])
    )
    if not sheet:
        return None
    hunk = narrowed(formats.hunks(edit, 40)[0], hunk.lead, 40)
    text = formats.enveloped(formats.section(edit, [formats.chunk(hunk, rng.choice([(b"",), ()]), True)]))
    if len(sheet.file.places(hunk.old)) < 2 or hunk.start + len(hunk.old) != len(sheet.file.lines):
        return None
    return patch(edit, [hunk], text, again=False, twins=True)


@kind(SHEETS, "every section: a hunk each, by numbers", APPLIES)
def _(rng):
    sheet = sections.draw(rng)
    salt = rng.randrange(11, 999)
    edits = [sheet.edit(rng, k, salt) for k in range(len(sheet.names))]
    whole = Edit(sheet.file, [e.places[0] for e in edits])
    made = formats.hunks(whole, 1)
    case = patch(whole, made, formats.unified(whole, made), again=False)
    return case


@kind(SHEETS, "every section: allow_multiple", APPLIES)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    old, new = formats.texts(hunk)
    how = {"allow_multiple": True} if rng.random() < 0.5 else {"expected_matches": len(sheet.names)}
    return update(edit, old, new, [sheet.file.data.replace(old, new)], arguments=how, replaced=len(sheet.names))


# ---- sections: nothing decides, or what decides is gone ------------------------------------------


@kind(SHEETS, "section: nothing tells which, update", REFUSE)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    return sheet and nothing(update(edit, *formats.texts(hunk), truths=[]))


def fits(edit, hunk):
    return [at + 1 for at in edit.file.places(hunk.old)]


@kind(SHEETS, "section: nothing tells which, diff", REFUSE)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    header = rng.choice([b"@@", b"@@ ... @@", b"@@ -0,0 +0,0 @@"])
    return nothing(
        patch(edit, [hunk], formats.unified(edit, [hunk], header=lambda h: header), [], fits=fits(edit, hunk))
    )


@kind(SHEETS, "section: nothing tells which, *** Begin Patch", REFUSE)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    return sheet and nothing(
        patch(edit, [hunk], formats.envelope(edit, [hunk], rng.choice([(b"",), ()])), [], fits=fits(edit, hunk))
    )


@kind(SHEETS, "section: the number is none of theirs", REFUSE)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    size = sheet.heads[1] - sheet.heads[0]
    off = rng.choice([n for n in range(1 - size, 2 * size) if n % size])
    return nothing(patch(edit, [hunk], formats.unified(edit, [hunk], header=lambda h: formats.numbers(h, off)), []))


def changed_there(rng, sheet, hunk):
    """The sheet after somebody changed a word of the line that the hunk removes."""
    at = hunk.start + hunk.lead
    line = sheet.file.lines[at].replace(b"10", b"25")
    lines = list(sheet.file.lines)
    lines[at] = line
    return File(sheet.file.name, b"".join(lines))


STALE = {
    "number": lambda s, k, e, h: formats.unified(e, [h]),
    "heading": lambda s, k, e, h: formats.unified(e, [h], "none", heading(s.head(k).strip())),
    "anchor": lambda s, k, e, h: formats.envelope(e, [h], [s.head(k).strip()]),
    "number and heading": lambda s, k, e, h: formats.unified(
        e, [h], "git", lambda x: formats.numbers(x) + b" " + s.head(k).strip()
    ),
}
for _name, _make in STALE.items():

    @kind(SHEETS, "section by its %s: its line has changed, the others' has not" % _name, REFUSE)
    def _(rng, make=_make):
        sheet, k, edit, hunk = drawn(rng)
        return sheet and unchanged(
            patch(edit, [hunk], make(sheet, k, edit, hunk)), changed_there(rng, sheet, hunk).data
        )

    @kind("made before", "section by its %s: sent again" % _name, ALREADY)
    def _(rng, make=_make):
        sheet, k, edit, hunk = drawn(rng)
        return sheet and unchanged(patch(edit, [hunk], make(sheet, k, edit, hunk)), edit.result)


@kind(SHEETS, "section by a heading, part of another's name: its line has changed", REFUSE)
def _(rng):
    names = rng.choice(
        [["save", "load", "load_all", "list"], ["load", "load_all", "save"], ["list", "load_one", "load", "load_all"]]
    )
    sheet = sections.draw(
        rng, rng.choice(["Python, methods", "TypeScript", "Go", "Java", "Ruby", "Lua", "Rust"]), names
    )
    k = names.index("load")
    edit, hunk = within(rng, sheet, k)
    head = sheet.head(k).strip()
    text = head[: head.index(b"load") + 4]
    diff = (
        formats.envelope(edit, [hunk], [text])
        if rng.random() < 0.5
        else formats.unified(edit, [hunk], "none", header=heading(text))
    )
    return unchanged(patch(edit, [hunk], diff), changed_there(rng, sheet, hunk).data)


@kind(SHEETS, "section by an anchor that the file has not", REFUSE)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    return sheet and nothing(patch(edit, [hunk], formats.envelope(edit, [hunk], [b"def another_name_entirely():"]), []))


@kind(SHEETS, "section by order: two copies behind the one that is certain", EITHER)
def _(rng):
    sheet, k, edit, hunk = drawn(rng)
    if not sheet:
        return None
    one, first = headed(rng, sheet, k - 1)
    whole = Edit(sheet.file, [one] + edit.places)
    return patch(whole, [first, hunk], formats.envelope(whole, [first, hunk]), again=False)


# ---- copies in real files ------------------------------------------------------------------------


def copied(rng, edit, hunk, change=lambda line: line, after=None):
    """(edit, hunk) in the file with a copy of the hunk's old lines elsewhere, each line changed."""
    lines, size = edit.file.lines, len(hunk.old)
    if not all(map(files.end_of, hunk.old)):
        return None, None
    spots = [i for i in range(len(lines) - 1) if i + 12 < hunk.start or i > hunk.start + size + 12]
    if after is not None:
        spots = [i for i in spots if (i > hunk.start) == after]
    if not spots:
        return None, None
    at = rng.choice(spots)
    copy = [change(line) if bare(line).strip() else line for line in hunk.old]
    file = File(edit.file.name, b"".join(lines[:at] + copy + lines[at:]))
    by = size if at < hunk.start else 0
    return edit.moved(file, by), Hunk(hunk.start + by, hunk.new_start + by, hunk.rows, hunk.places)


def real(rng, change=None, shape=None, worded=2, after=None):
    """(edit, hunk) with a copy; the hunk's own place is alone but for that."""
    edit, made = clearly(rng, shape, context=rng.choice([1, 2, 3]))
    if (
        not edit
        or len(edit.places) != 1
        or sum(map(has_word, made[0].old)) < worded
        or not bare(made[0].old[0]).strip()
        or not bare(made[0].old[-1]).strip()
    ):
        return None, None
    if change is None:
        return copied(rng, edit, made[0], after=after)
    pad = b"\t" if any(line.startswith(b"\t") for line in edit.file.lines) else b"    "
    return copied(rng, edit, made[0], lambda line: change(pad, line), after)


def deeper(pad, line):
    return pad + line


def made_text(edit, hunk):
    return [line for mark, line in hunk.rows if mark != b"-"]


@kind(COPIES, "copy: nothing tells which, update", REFUSE)
def _(rng):
    edit, hunk = real(rng)
    return edit and nothing(update(edit, *formats.texts(hunk), truths=[]))


@kind(COPIES, "copy: nothing tells which, diff", REFUSE)
def _(rng):
    edit, hunk = real(rng)
    return edit and nothing(
        patch(edit, [hunk], formats.unified(edit, [hunk], header=lambda h: b"@@"), [], fits=fits(edit, hunk))
    )


@kind(COPIES, "copy: the number tells", APPLIES)
def _(rng):
    edit, hunk = real(rng)
    return edit and patch(edit, [hunk], formats.unified(edit, [hunk]), again=False, twins=True)


@kind(COPIES, "copy: further context tells", APPLIES)
def _(rng):
    edit, hunk = real(rng)
    if not edit:
        return None
    wide = formats.hunks(edit, 8)
    if not single(edit, wide):
        return None
    return patch(edit, wide, formats.unified(edit, wide, header=lambda h: b"@@"))


@kind(COPIES, "copy: further text tells, update", APPLIES)
def _(rng):
    edit, hunk = real(rng)
    wide = edit and formats.hunks(edit, 8)
    if not edit or not single(edit, wide):
        return None
    return (
        update(edit, *formats.texts(wide[0]))
        if bare(wide[0].old[0]).strip() and bare(wide[0].old[-1]).strip()
        else None
    )


WRITE = {
    "update": lambda e, h: update(e, *formats.texts(h), again=False),
    "diff": lambda e, h: patch(e, [h], formats.unified(e, [h], header=lambda x: b"@@"), again=False),
    "diff with numbers": lambda e, h: patch(e, [h], formats.unified(e, [h]), again=False),
    "*** Begin Patch": lambda e, h: patch(e, [h], formats.envelope(e, [h]), again=False),
}
for _name, _write in WRITE.items():

    @kind(COPIES, "copy at another depth: the exact one, " + _name, APPLIES)
    def _(rng, write=_write):
        edit, hunk = real(rng, deeper)
        return (
            write(edit, hunk)
            if edit and single(edit, [hunk]) and files.occurs(b"".join(hunk.old), edit.file.data) == 1
            else None
        )

    @kind(COPIES, "copy at another depth: the place itself has changed, " + _name, REFUSE)
    def _(rng, write=_write):
        edit, hunk = real(rng, deeper, rng.choice(["constant", "tail", "replace", "parameter"]))
        if not edit:
            return None
        at = edit.places[0].start
        line = reworded(rng, edit.file, edit.file.lines[at]) if has_word(edit.file.lines[at]) else None
        if line is None or loose(line) == loose(edit.places[0].new[0]):
            return None
        lines = list(edit.file.lines)
        lines[at] = line
        now = b"".join(lines)
        return unchanged(write(edit, hunk), now) if files.occurs(b"".join(hunk.old), now) == 0 else None

    @kind("made before", "copy at another depth: made before, " + _name, ALREADY)
    def _(rng, write=_write):
        edit, hunk = real(rng, deeper)
        if (
            not edit
            or files.occurs(b"".join(hunk.old), edit.result)
            or files.occurs(b"".join(hunk.new), edit.file.data)
        ):
            return None
        return unchanged(write(edit, hunk), edit.result)

    @kind(
        COPIES,
        "copies at two depths, the edit at a third, " + _name,
        EITHER if _name == "diff with numbers" else REFUSE,
    )
    def _(rng, write=_write):
        edit, hunk = real(rng, deeper)
        if not edit or not all(indent_of(line)[:1] in b" \t" for line in hunk.old + hunk.new if bare(line).strip()):
            return None
        pad = b"\t\t" if any(line.startswith(b"\t") for line in edit.file.lines) else b" " * 8
        rows = [(mark, pad + line if bare(line).strip() else line) for mark, line in hunk.rows]
        shown = Hunk(hunk.start, hunk.new_start, rows, hunk.places)
        if not all(indent_of(line) for line in hunk.old if bare(line).strip()) or files.occurs(
            b"".join(shown.old), edit.file.data
        ):
            return None
        case = write(edit, shown)
        return case if write is WRITE["diff with numbers"] else nothing(case)


@kind(COPIES, "copy: its line there has changed, the number is right", REFUSE)
def _(rng):
    edit, hunk = real(rng, shape=rng.choice(["constant", "tail", "replace", "parameter"]))
    if hunk and hunk.start <= 1:  # who writes 1 does not say where
        return None
    if not edit or not has_word(edit.file.lines[edit.places[0].start]):
        return None
    at = edit.places[0].start
    line = reworded(rng, edit.file, edit.file.lines[at])
    if line is None:
        return None
    lines = list(edit.file.lines)
    lines[at] = line
    return unchanged(patch(edit, [hunk], formats.unified(edit, [hunk])), b"".join(lines))


@kind("made before", "copy: made before, the number is right", ALREADY)
def _(rng):
    edit, hunk = real(rng)
    return edit and unchanged(patch(edit, [hunk], formats.unified(edit, [hunk])), edit.result)


OTHER = {
    "its trailing blanks": lambda pad, line: bare(line) + b"  \n",
    "its quotes": lambda pad, line: line.replace(b"'", "\u2019".encode()).replace(b'"', "\u201d".encode()),
    "blanks within its lines": lambda pad, line: indent_of(line) + line[len(indent_of(line)) :].replace(b" ", b"  "),
}
for _name, _change in OTHER.items():
    for _form in ("update", "diff"):

        @kind(COPIES, "copy that differs in %s: the exact one, %s" % (_name, _form), APPLIES)
        def _(rng, change=_change, write=WRITE[_form]):
            edit, hunk = real(rng, change)
            return (
                write(edit, hunk)
                if edit and single(edit, [hunk]) and files.occurs(b"".join(hunk.old), edit.file.data) == 1
                else None
            )


for _form in ("update", "diff", "diff with numbers"):

    @kind(COPIES, "the new text stands elsewhere already, " + _form, APPLIES)
    def _(rng, write=WRITE[_form]):
        edit, made = clearly(rng, context=2)
        if not edit or len(edit.places) != 1 or not bare(made[0].old[0]).strip() or not bare(made[0].old[-1]).strip():
            return None
        hunk = made[0]
        shown = Hunk(hunk.start, hunk.new_start, [(b" ", line) for line in hunk.new], [])
        moved, other = copied(rng, edit, shown)
        if not moved:
            return None
        by = other.start - shown.start
        hunk = Hunk(hunk.start + by, hunk.new_start + by, hunk.rows, hunk.places)
        return (
            write(moved, hunk)
            if single(moved, [hunk]) and files.occurs(b"".join(hunk.old), moved.file.data) == 1
            else None
        )


@kind(COPIES, "copy at the file's first line, no leading context", REFUSE)
def _(rng):
    edit, made = clearly(rng, rng.choice(["constant", "replace", "tail"]), context=3)
    if not edit or len(edit.places) != 1:
        return None
    hunk = narrowed(made[0], 0, 3)
    if sum(map(has_word, hunk.old)) < 2 or hunk.start < 20 or not all(map(files.end_of, hunk.old)):
        return None
    file = File(edit.file.name, b"".join(hunk.old + edit.file.lines))
    return unchanged(patch(edit, [hunk], formats.unified(edit, [hunk], header=lambda h: b"@@")), file.data)


@kind(COPIES, "copy at the file's last line, no trailing context", REFUSE)
def _(rng):
    edit, made = clearly(rng, rng.choice(["constant", "replace", "tail"]), context=3)
    if not edit or len(edit.places) != 1 or not edit.file.data.endswith(b"\n"):
        return None
    hunk = narrowed(made[0], 3, 0)
    if sum(map(has_word, hunk.old)) < 2 or hunk.start > len(edit.file.lines) - 20:
        return None
    file = File(edit.file.name, b"".join(edit.file.lines + hunk.old))
    return unchanged(patch(edit, [hunk], formats.unified(edit, [hunk], header=lambda h: b"@@")), file.data)


# ---- closers -------------------------------------------------------------------------------------


def closers(rng, test):
    """(file, at, count): two or three lines of closers, in one place of a real file in the loosest reading."""
    file = rng.choice(files.load())
    runs = [
        i
        for i in range(2, len(file.lines) - 3)
        if all(loose(line) and not re.search(r"\w", loose(line)) for line in file.lines[i : i + 2])
        and test(file.lines[i : i + 2])
    ]
    if not runs:
        return None, 0
    at = rng.choice(runs)
    return (file, at) if len(file.places(file.lines[at : at + 2], loose)) == 1 else (None, 0)


for _form in ("update", "diff", "*** Begin Patch"):

    @kind("white space", "closers alone, two blanks too deep, " + _form, REFUSE)
    def _(rng, write=WRITE[_form]):
        file, at = closers(rng, lambda lines: all(line[:1] == b" " for line in lines))
        if not file:
            return None
        old = [b"  " + line for line in file.lines[at : at + 2]]
        if files.occurs(b"".join(old), file.data):
            return None
        rows = [(b" ", old[0]), (b"+", indent_of(old[0]) + b"added_here();\n"), (b" ", old[1])]
        edit = Edit(file, [Place(at + 1, at + 1, [b"added_here();\n"])])
        return nothing(write(edit, Hunk(at, at, rows, [])))
