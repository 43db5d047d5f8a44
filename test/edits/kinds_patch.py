# SPDX-License-Identifier: Apache-2.0
"""Kinds of unified diffs: as programs print them, and as models write them (numbers, headings, what stands around
them, lines that look like a diff's own)."""

import difflib
import re

import changes
import files
import formats
from changes import PROPERTIES, SHAPES, Place
from files import bare, end_of, has_word, indent_of, loose
from kinds_update import MARK, nothing, one_end
from table import APPLIES, EITHER, REFUSE, SIMPLE, WORDY, clear, kind, narrowed, patch, pick, single

PLAIN, NUMBERS, AROUND = "unified diffs", "numbers and headings", "what stands around a diff"


def drawn(rng, shape=None, prop=None, context=None, **more):
    """(edit, hunks) whose old lines each stand in one place."""
    edit = pick(rng, shape or rng.choice(SIMPLE + ["several"]), prop, **more)
    if not edit:
        return None, None
    context = rng.choice([1, 2, 3, 3, 3, 5]) if context is None else context
    made = formats.hunks(edit, context)
    if not single(edit, made) or not all(any(map(has_word, hunk.old)) for hunk in made):
        return None, None
    return edit, made


def clearly(rng, shape=None, prop=None, context=3, one=True, **more):
    """(edit, hunks) that no reading takes for anything else; `one`: a single hunk."""
    edit, made = drawn(rng, shape or rng.choice(WORDY), prop, context, **more)
    if not edit or not clear(edit, made) or one and len(made) != 1:
        return None, None
    return edit, made


# ---- as programs print them ----------------------------------------------------------------------

for _shape in SHAPES:

    @kind(PLAIN, "diff: " + _shape, APPLIES)
    def _(rng, shape=_shape):
        edit, made = drawn(rng, shape)
        if not edit:
            return None
        orders = permuted(rng, edit, made)
        case = patch(edit, made, formats.unified(edit, made), numbers=True)
        case.orders = [dict(case.arguments, unified_diff=formats.unified(edit, made, order=o).decode()) for o in orders]
        return case

    @kind(PLAIN, "diff without numbers: " + _shape, APPLIES)
    def _(rng, shape=_shape):
        edit, made = drawn(rng, shape)
        return edit and patch(
            edit, made, formats.unified(edit, made, header=lambda h: b"@@"), numbers=False, heading=False
        )


def permuted(rng, edit, made):
    """Other orders of hunks that fit one place each, also after the others."""
    if len(made) < 2:
        return []
    order = list(range(len(made)))
    rng.shuffle(order)
    return [order, order[::-1]]


for _context in (0, 1, 2, 5, 10, 400):

    @kind(PLAIN, "diff -U%d" % _context, APPLIES)
    def _(rng, context=_context):
        edit, made = drawn(
            rng,
            rng.choice(["constant", "replace", "delete", "tail", "rename"] if context == 0 else SIMPLE + ["several"]),
            context=context,
        )
        return edit and patch(edit, made, formats.unified(edit, made), numbers=True)


for _head in formats.HEADS:

    @kind(PLAIN, "head: " + _head, APPLIES)
    def _(rng, head=_head):
        edit, made = drawn(rng)
        return edit and patch(edit, made, formats.unified(edit, made, head))


def marked(edit, made):
    """The byte-order mark stays where it is: it is the file's, not a line's."""
    return edit.result.startswith(MARK) and MARK not in edit.result[3:]


for _prop in PROPERTIES:

    @kind("line ends, marks, alphabets", "diff: " + _prop, APPLIES)
    def _(rng, prop=_prop):
        edit, made = drawn(rng, prop=prop)
        if not edit or prop == "mixed" and not all(map(one_end, made)) or prop == "mark" and not marked(edit, made):
            return None
        return patch(edit, made, formats.unified(edit, made, cr=prop != "mixed").replace(MARK, b""))

    @kind("line ends, marks, alphabets", "diff without numbers: " + _prop, APPLIES)
    def _(rng, prop=_prop):
        edit, made = drawn(rng, prop=prop)
        if not edit or prop == "mixed" and not all(map(one_end, made)) or prop == "mark" and not marked(edit, made):
            return None
        diff = formats.unified(edit, made, "none", header=lambda h: b"@@", cr=False, marker=False)
        return patch(edit, made, diff.replace(MARK, b""), numbers=False)


@kind("line ends, marks, alphabets", "diff: mixed, with the ends that the file has", APPLIES)
def _(rng):
    edit, made = drawn(rng, prop="mixed")
    return edit and all(map(one_end, made)) and patch(edit, made, formats.unified(edit, made)) or None


@kind("line ends, marks, alphabets", "diff: CR LF throughout, for a file with LF", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    return edit and patch(edit, made, formats.unified(edit, made).replace(b"\n", b"\r\n"))


@kind("line ends, marks, alphabets", "diff: LF throughout, for a file with CR LF", APPLIES)
def _(rng):
    edit, made = drawn(rng, prop="crlf")
    return edit and patch(edit, made, formats.unified(edit, made, cr=False))


def at_end(rng, what):
    """(edit, hunks) at the last line of a file: with or without its end before and after."""
    edit = pick(rng, None, "no_end" if what != "loses it" else None)
    if not edit:
        return None, None
    file = edit.file
    last, lines = len(file.lines) - 1, file.lines
    text = bare(lines[-1])
    if what == "loses it" and end_of(lines[-1]) == b"" or not text.strip():
        return None, None
    new = {
        "gets it": [text + b"\n"],
        "loses it": [text],
        "keeps none": [text + b" more_at_the_end"],
        "more after it": [text + b"\n", b"one_more_line\n"],
        "more without": [text + b"\n", b"one_more_line"],
    }[what]
    edit = changes.Edit(file, [Place(last, last + 1, new)])
    made = formats.hunks(edit, 3)
    return (edit, made) if single(edit, made) else (None, None)


for _what in ("gets it", "loses it", "keeps none", "more after it", "more without"):

    @kind("line ends, marks, alphabets", "diff: the end of the last line: " + _what, APPLIES)
    def _(rng, what=_what):
        edit, made = at_end(rng, what)
        return edit and patch(edit, made, formats.unified(edit, made), again=False)


@kind("line ends, marks, alphabets", "diff: a final CR without LF, with the marker", APPLIES)
def _(rng):
    edit = pick(rng, None, "no_end")
    if not edit:
        return None
    file = files.File(edit.file.name, edit.file.data + b"\r")
    last = len(file.lines) - 1
    edit = changes.Edit(file, [Place(last, last + 1, [file.lines[last][:-1] + b" more\r"])])
    made = formats.hunks(edit, 3)
    return patch(edit, made, formats.unified(edit, made)) if single(edit, made) else None


@kind(PLAIN, "diff: the real changes between two versions", APPLIES)
def _(rng):
    edit = changes.real(rng)
    made = edit and formats.hunks(edit, 3)
    if not made or not single(edit, made):
        return None
    case = patch(edit, made, formats.unified(edit, made, "git"))
    case.orders = [
        dict(case.arguments, unified_diff=formats.unified(edit, made, order=o).decode())
        for o in permuted(rng, edit, made)
    ]
    return case


@kind(PLAIN, "diff: the real changes, without numbers", APPLIES)
def _(rng):
    edit = changes.real(rng)
    made = edit and formats.hunks(edit, 3)
    if not made or not single(edit, made):
        return None
    return patch(edit, made, formats.unified(edit, made, header=lambda h: b"@@ ... @@"), numbers=False, heading=False)


@kind(PLAIN, "diff: context of neighbouring hunks overlaps", APPLIES)
def _(rng):
    edit = near(rng)
    made = edit and formats.hunks(edit, 3, apart=True)
    if not made or len(made) < 2 or not single(edit, made):
        return None
    return patch(edit, made, formats.unified(edit, made))


def near(rng):
    """Two changes with three to five lines between them."""
    edit = pick(rng, rng.choice(["constant", "tail"]))
    if not edit:
        return None
    first = edit.places[0]
    at = first.end + rng.randint(3, 5)
    if at >= len(edit.file.lines) - 1 or not has_word(edit.file.lines[at]):
        return None
    new = changes.reworded(rng, edit.file, edit.file.lines[at])
    return new and changes.tidy(
        edit.file, [Place(first.start, first.end, list(first.new)), Place(at, at + 1, [new])], "near"
    )


@kind(PLAIN, "diff: each changed line a hunk, no context, aider's way", APPLIES)
def _(rng):
    edit, made = drawn(rng, rng.choice(["rename", "several"]), context=0)
    return edit and patch(
        edit, made, formats.unified(edit, made, "plain", header=lambda h: b"@@ ... @@"), numbers=False
    )


@kind(PLAIN, "diff: whole blocks removed and added again, aider's way", APPLIES)
def _(rng):
    edit, made = drawn(rng, context=4)
    if not edit:
        return None
    for hunk in made:
        hunk.rows = [(b"-", line) for line in hunk.old] + [(b"+", line) for line in hunk.new]
    return patch(
        edit, made, formats.fenced(formats.unified(edit, made, "plain", header=lambda h: b"@@ ... @@")), numbers=False
    )


# ---- numbers and headings ------------------------------------------------------------------------


def some_heading(rng, edit, hunk):
    """A line above that git might print as heading."""
    for at in range(hunk.start, -1, -1):
        line = edit.file.lines[at]
        if has_word(line) and not indent_of(line):
            return bare(line).strip()[:60]
    return b"main"


def _wild(rng):
    return lambda h: formats.numbers(h, rng.randint(-9, 900) if h.start > 9 else rng.randint(0, 900))


DIALECTS = {  # of a hunk's first line: (name, what it is made by, whether it says where)
    "@@": (lambda h: b"@@", False),
    "@@ @@": (lambda h: b"@@ @@", False),
    "@@ ... @@": (lambda h: b"@@ ... @@", False),
    "@@ -,+ @@ without digits": (lambda h: b"@@ -,+ @@", False),
    "@@ -X,Y +X,Y @@": (lambda h: b"@@ -X,Y +X,Y @@", False),
    "@@ -0,0 +0,0 @@": (lambda h: b"@@ -0,0 +0,0 @@", False),
    "@@ -12 +12 @@": (lambda h: b"@@ -%d +%d @@" % (h.start + 1, h.new_start + 1), True),
    "@@ -12,7 @@": (lambda h: b"@@ -%d,%d @@" % (h.start + 1, len(h.old)), True),
    "@@ -12 @@": (lambda h: b"@@ -%d @@" % (h.start + 1), True),
    "@@ line 12 @@": (lambda h: b"@@ line %d @@" % (h.start + 1), True),
    "@@ Line 12": (lambda h: b"@@ Line %d" % (h.start + 1), True),
    "@@ 12 @@": (lambda h: b"@@ %d @@" % (h.start + 1), True),
    "@@ 12,7 @@": (lambda h: b"@@ %d,%d @@" % (h.start + 1, len(h.old)), True),
    "@@ lines 12-18 @@": (lambda h: b"@@ lines %d-%d @@" % (h.start + 1, h.start + len(h.old)), True),
    "@@ L12 @@": (lambda h: b"@@ L%d @@" % (h.start + 1), True),
    "@@ -12,7 +12,8, not closed": (lambda h: formats.numbers(h)[:-3], True),
    "@@-12,7 +12,8@@": (lambda h: formats.numbers(h).replace(b" @@", b"@@").replace(b"@@ ", b"@@"), True),
    "@@ -12, 7 +12, 8 @@": (lambda h: formats.numbers(h).replace(b",", b", "), True),
    "@@ -12,7 +12,8 @@ with blanks after": (lambda h: formats.numbers(h) + b"   ", True),
}
for _name, (_make, _says) in DIALECTS.items():

    @kind(NUMBERS, "diff: " + _name, APPLIES)
    def _(rng, make=_make, says=_says):
        edit, made = drawn(rng)
        if not edit or not all(edit.file.alone(hunk.old) for hunk in made):
            return None
        return patch(edit, made, formats.unified(edit, made, header=make), numbers=says)


OFF = {
    "all off alike": lambda rng: (lambda n: lambda h: formats.numbers(h, n))(rng.choice([-2, -1, 1, 2, 3, 7, 40])),
    "each off otherwise": _wild,
    "from 0": lambda rng: lambda h: formats.numbers(h, -1),
    "of the result": lambda rng: lambda h: b"@@ -%s +%s @@"
    % ((formats.span(h.new_start, len(h.old)), formats.span(h.new_start, len(h.new)))),
    "beyond the end of the file": lambda rng: lambda h: formats.numbers(h, 5000),
    "counts one too large": lambda rng: lambda h: b"@@ -%d,%d +%d,%d @@"
    % (h.start + 1, len(h.old) + 1, h.new_start + 1, len(h.new) + 1),
    "counts one too small": lambda rng: lambda h: b"@@ -%d,%d +%d,%d @@"
    % (h.start + 1, len(h.old) - 1, h.new_start + 1, len(h.new) - 1),
    "counts wrong by several": lambda rng: lambda h: b"@@ -%d,%d +%d,%d @@"
    % (h.start + 1, len(h.old) + 4, h.new_start + 1, len(h.new) + 9),
    "counts of the changed lines alone": lambda rng: lambda h: b"@@ -%d,%d +%d,%d @@"
    % (h.start + 1, sum(m == b"-" for m, _ in h.rows), h.new_start + 1, sum(m == b"+" for m, _ in h.rows)),
    "of the changed line": lambda rng: lambda h: b"@@ -%d,%d +%d,%d @@"
    % (h.start + 1 + h.lead, len(h.old), h.new_start + 1 + h.lead, len(h.new)),
}
for _name, _make in OFF.items():

    @kind(NUMBERS, "diff: numbers, " + _name, APPLIES)
    def _(rng, make=_make):
        edit, made = drawn(rng, context=3)
        if (
            not edit
            or not all(edit.file.alone(hunk.old) for hunk in made)
            or min(h.start for h in made) < 45
            and make is OFF["all off alike"]
        ):
            return None
        header = make(rng)
        heads = [header(hunk) for hunk in made]
        if any(resembles(edit.file, hunk, int(re.search(rb"\d+", head)[0]) - 1) for hunk, head in zip(made, heads)):
            return None
        return patch(edit, made, formats.unified(edit, made, header=lambda h: heads[made.index(h)]))


def resembles(file, hunk, at):
    """Where a wrong number points, a line is like one of the hunk's: it may be the place, changed since."""
    if at == hunk.start:
        return False
    near = [loose(line) for line in file.lines[max(0, at - 3) : at + len(hunk.old) + 3] if has_word(line)]
    own = {loose(line) for line in hunk.old if has_word(line)}
    return any(
        difflib.SequenceMatcher(None, line, there).ratio() > 0.5 for line in own for there in near if there not in own
    )


HEADINGS = {
    "git's": lambda rng, e, h: formats.numbers(h) + b" " + some_heading(rng, e, h),
    "alone": lambda rng, e, h: b"@@ " + some_heading(rng, e, h),
    "closed": lambda rng, e, h: b"@@ " + some_heading(rng, e, h) + b" @@",
    "behind dots": lambda rng, e, h: b"@@ ... @@ " + some_heading(rng, e, h),
}
for _name, _make in HEADINGS.items():

    @kind(NUMBERS, "diff: a heading, " + _name, APPLIES)
    def _(rng, make=_make):
        edit, made = drawn(rng)
        if not edit or not all(edit.file.alone(hunk.old) for hunk in made) or min(h.start for h in made) == 0:
            return None
        if any(some_heading(rng, edit, h) == b"main" for h in made):
            return None
        return patch(edit, made, formats.unified(edit, made, header=lambda h: make(rng, edit, h)), heading=True)


@kind(NUMBERS, "diff: a heading that describes the change", EITHER)
def _(rng):
    edit, made = clearly(rng)
    words = rng.choice([b"update the call", b"in the helper", b"first change", b"imports section"])
    return edit and patch(edit, made, formats.unified(edit, made, header=lambda h: b"@@ " + words + b" @@"))


# ---- what stands around --------------------------------------------------------------------------

BEFORE = (
    b"I'll change how this is computed.\n\n1. The helper is renamed.\n2. Its callers follow.\n\nHere is the diff:\n\n"
)
AFTER = b"\nThis keeps the behaviour for old callers. Run the tests to check it.\n"
AROUNDS = {
    "prose before and after": lambda d: BEFORE + d + AFTER,
    "a fence": formats.fenced,
    "a fence without a language": lambda d: formats.fenced(d, b""),
    "a fence of tildes": lambda d: formats.fenced(d, b"diff", b"~~~"),
    "a fence of four": lambda d: formats.fenced(d, b"diff", b"````"),
    "a fence, and prose": lambda d: BEFORE + formats.fenced(d) + AFTER,
    "a fence, and a list with dashes": lambda d: BEFORE
    + formats.fenced(d)
    + b"\nWhat changed:\n- the helper\n- its callers\n+ a test\n",
    "a fence that is not closed": lambda d: b"```diff\n" + d,
    "the word diff first": lambda d: b"diff\n" + d,
    "indented by four": lambda d: b"".join(b"    " + line for line in files.split(d)),
    "a here document": lambda d: b"cat <<'EOF' | patch -p1\n" + d + b"EOF\n",
    "blank lines before and after": lambda d: b"\n\n" + d + b"\n\n",
    "XML's tags": lambda d: b"<patch>\n" + d + b"</patch>\n",
    "a prompt of a shell": lambda d: b"$ git diff\n" + d,
}
for _name, _make in AROUNDS.items():

    @kind(AROUND, "diff: " + _name, APPLIES)
    def _(rng, make=_make):
        edit, made = drawn(rng, context=3)
        if not edit or any(b"```" in line or b"~~~" in line for hunk in made for line in hunk.old + hunk.new):
            return None
        return patch(edit, made, make(formats.unified(edit, made, rng.choice(["none", "prefixed", "git", "plain"]))))


@kind(AROUND, "diff: two fences, a hunk each", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=3)
    if not edit or len(made) < 2 or any(b"```" in line for hunk in made for line in hunk.old + hunk.new):
        return None
    parts = [formats.fenced(formats.unified(edit, [hunk])) for hunk in made]
    return patch(edit, made, b"First:\n\n" + b"\nThen:\n\n".join(parts))


@kind(AROUND, "diff: the file's header before each hunk", APPLIES)
def _(rng):
    edit, made = drawn(rng, "several", context=3)
    return edit and patch(edit, made, b"".join(formats.unified(edit, [hunk]) for hunk in made))


@kind(AROUND, "mail of git format-patch", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    return edit and patch(edit, made, formats.mail(edit, made))


@kind(AROUND, "mail: a list's footer behind the signature", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    footer = b"2.39.2\n\n_______________________________________________\ndev mailing list\ndev@lists.example.org\nhttps://lists.example.org/dev\n"
    return edit and patch(edit, made, formats.mail(edit, made, footer=footer))


@kind(AROUND, "mail: the message quotes a hunk", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    return edit and patch(
        edit, made, formats.mail(edit, made, b"Before:\n\n    @@ -1 +1 @@\n    -old_name\n    +new_name\n\n")
    )


@kind(AROUND, "mail: the message has a list with dashes and plus signs", APPLIES)
def _(rng):
    edit, made = drawn(rng)
    return edit and patch(edit, made, formats.mail(edit, made, b"What is new:\n\n- a faster loop\n+ a test\n\n"))


@kind(AROUND, "mail: a removed line - before the signature", APPLIES)
def _(rng):
    edit = pick(rng, "replace")
    if not edit:
        return None
    at = edit.places[0].start
    file = files.File(edit.file.name, b"".join(edit.file.lines[:at] + [b"-\n"] + edit.file.lines[at:]))
    edit = changes.Edit(file, [Place(at, at + 1, [])])
    made = [narrowed(formats.hunks(edit, 3)[0], 3, rng.choice([0, 0, 3]))]
    return patch(edit, made, formats.mail(edit, made)) if single(edit, made) else None


@kind(AROUND, "diff: a list with plus signs behind it", EITHER)
def _(rng):
    edit, made = clearly(rng)
    return edit and patch(edit, made, formats.unified(edit, made) + b"+ the loop is faster now\n+ and tested\n")


@kind(AROUND, "diff: quoted as in a reply", EITHER)
def _(rng):
    edit, made = clearly(rng)
    return edit and patch(edit, made, b"".join(b"> " + line for line in files.split(formats.unified(edit, made))))


@kind(AROUND, "diff: with a terminal's colours", EITHER)
def _(rng):
    edit, made = clearly(rng)
    colour = lambda line: {b"-": b"\x1b[31m%s\x1b[m\n", b"+": b"\x1b[32m%s\x1b[m\n"}.get(line[:1], b"%s\n") % line[:-1]
    return edit and patch(edit, made, b"".join(map(colour, files.split(formats.unified(edit, made)))))


@kind(AROUND, "diff: another file's section behind it", REFUSE)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    other = rng.choice(
        [
            b"--- a/other.txt\n+++ b/other.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n",
            b"diff --git a/other.txt b/other.txt\n--- a/other.txt\n+++ b/other.txt\n one\n-two\n+TWO\n",
        ]
    )
    return nothing(patch(edit, made, formats.unified(edit, made, "git") + other, []))


FIRST_BARE = {
    "in a fence": lambda edit, first, rest: formats.fenced(first + rest),
    "bare": lambda edit, first, rest: first + rest,
    "behind diff --git": lambda edit, first, rest: b"diff --git a/%s b/%s\n" % ((edit.file.name.encode(),) * 2)
    + first
    + rest,
    "behind Index:": lambda edit, first, rest: b"Index: %s\n%s\n" % (edit.file.name.encode(), b"=" * 67) + first + rest,
    "behind --- and +++": lambda edit, first, rest: formats.HEADS["prefixed"](edit.file.name.encode()) + first + rest,
}
for _name, _make in FIRST_BARE.items():

    @kind(AROUND, "diff: the first hunk without @@, " + _name, EITHER)
    def _(rng, make=_make):
        edit, made = clearly(rng, "several", one=False)
        if not edit or len(made) < 2 or not bare(made[0].old[0]).strip():
            return None
        return patch(edit, made, make(edit, formats.body(made[0]), formats.unified(edit, made[1:], "none")), starts=[])


LATER_BARE = {
    "in a second fence": lambda edit, first, rest: formats.fenced(first) + b"\nand\n\n" + formats.fenced(rest),
    "behind diff --git": lambda edit, first, rest: first
    + b"diff --git a/%s b/%s\n" % ((edit.file.name.encode(),) * 2)
    + rest,
    "behind --- and +++": lambda edit, first, rest: first + formats.HEADS["prefixed"](edit.file.name.encode()) + rest,
    "behind a blank line and prose": lambda edit, first, rest: first + b"\nAnd further down:\n\n" + rest,
}
for _name, _make in LATER_BARE.items():

    @kind(AROUND, "diff: a later hunk without @@, " + _name, EITHER)
    def _(rng, make=_make):
        edit, made = clearly(rng, "several", one=False)
        if (
            not edit
            or len(made) != 2
            or not bare(made[1].old[0]).strip()
            or any(b"```" in line for hunk in made for line in hunk.old + hunk.new)
        ):
            return None
        return patch(edit, made, make(edit, formats.unified(edit, made[:1]), formats.body(made[1])))


# ---- lines that look like a diff's own -----------------------------------------------------------

LIKE = [
    b"Index: of terms",
    b"diff --git a/x b/x",
    b"--- a/x.sql",
    b"-- x.sql",
    b"++ x.sql",
    b"+++ b/x.sql",
    b"@@ -1,3 +1,3 @@",
    b"*** Begin Patch",
    b"*** End Patch",
    b"*** Update File: x",
    b"\\ No newline at end of file",
    b"-",
    b"+",
    b"- item",
    b"+ item",
    b"-- ",
    b"1.5 release",
    b"2.39.2",
    b"```",
    b"```diff",
    b"From: somebody",
    b"---",
    b"***",
    b"===",
    b"@@",
]
for _where in ("kept", "removed", "added"):

    @kind("lines that look like a diff's", "diff: a line that is " + _where, APPLIES)
    def _(rng, where=_where):
        return looking(rng, where, formats.numbers)

    @kind("lines that look like a diff's", "diff with a fence: a line that is " + _where, APPLIES)
    def _(rng, where=_where):
        case = looking(rng, where, formats.numbers, [line for line in LIKE if b"```" not in line])
        if case:
            case.arguments["unified_diff"] = "```diff\n" + case.arguments["unified_diff"] + "```\n"
        return case


def looking(rng, where, header, like=LIKE):
    edit = pick(rng, rng.choice(["constant", "tail", "insert"]))
    if not edit or len(edit.places) != 1:
        return None
    place, line = edit.places[0], rng.choice(like) + edit.file.end
    at = place.start
    if line in edit.file.lines:
        return None
    if where == "added":
        place.new = place.new + [line]
        edit = changes.Edit(edit.file, [place])
    else:
        file = files.File(edit.file.name, b"".join(edit.file.lines[:at] + [line] + edit.file.lines[at:]))
        gone = where == "removed"
        edit = changes.Edit(file, [Place(at + (not gone), place.end + 1, place.new)])
    made = formats.hunks(edit, 3)
    return patch(edit, made, formats.unified(edit, made, header=header)) if single(edit, made) else None


@kind("lines that look like a diff's", "diff: a removed -- and an added ++ line end a hunk, another follows", APPLIES)
def _(rng):
    edit = pick(rng, "several", languages={"SQL", "Text", "Markdown", "Python", "C", "YAML", "Elm"})
    if not edit or len(edit.places) < 2:
        return None
    first = edit.places[0]
    file = edit.file
    lines = list(file.lines)
    lines[first.start : first.end] = [b"-- x.sql" + file.end]
    by = 1 - (first.end - first.start)
    places = [Place(first.start, first.start + 1, [b"++ x.sql" + file.end])]
    places += [Place(p.start + by, p.end + by, p.new) for p in edit.places[1:]]
    edit = changes.Edit(files.File(file.name, b"".join(lines)), places)
    made = formats.hunks(edit, 3)
    made[0] = narrowed(made[0], 3, 0)
    return patch(edit, made, formats.unified(edit, made)) if len(made) > 1 and single(edit, made) else None


@kind("lines that look like a diff's", "diff: kept lines without their blank, one like a header", EITHER)
def _(rng):
    edit = pick(rng, "constant", languages={"Text", "Markdown", "YAML", "JSON", "Python", "C"})
    if not edit or len(edit.places) != 1:
        return None
    at = edit.places[0].start
    if at < 3:
        return None
    line = rng.choice([b"Index: of terms", b"diff --git of trees", b"From: here on"]) + edit.file.end
    edit = edit.moved(
        files.File(edit.file.name, b"".join(edit.file.lines[: at - 1] + [line] + edit.file.lines[at - 1 :])), 1
    )
    made = formats.hunks(edit, 3)
    if not single(edit, made) or not clear(edit, made):
        return None
    diff = formats.unified(edit, made).replace(b"\n " + line, b"\n" + line)
    return patch(edit, made, diff)
