# SPDX-License-Identifier: Apache-2.0
"""Kinds of unified diffs with other white space, quotes or listings than the file; of formats that are none; and
of what must be refused or is made."""

import re

import changes
import files
import formats
from changes import COMMENTS, LOOKALIKES, Place
from files import bare, end_of, has_word, indent_of, loose
from kinds_patch import AFTER, BEFORE, at_end, clearly, drawn
from kinds_update import PLACEHOLDERS, SAME_DEPTH, SHIFTS, WIDTHS, known_depths, nothing, only, shortened, stale
from table import ALREADY, APPLIES, EITHER, REFUSE, WORDY, kind, patch, pick, unchanged

DAMAGED = "white space"


# ---- damaged -------------------------------------------------------------------------------------


@kind(DAMAGED, "diff: blank context lines without their blank", APPLIES)
def _(rng):
    edit, made = drawn(rng, context=4)
    if not edit:
        return None
    diff = formats.unified(edit, made)
    bared = re.sub(rb"(?m)^ $", b"", diff)
    return patch(edit, made, bared) if bared != diff else None


@kind(DAMAGED, "diff: no context line has its blank", APPLIES)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    kept = [line for mark, line in made[0].rows if mark == b" "]
    if any(not re.match(rb"[A-Za-z_#/(){}\]<.&\"';]", line) for line in kept if bare(line)) or len(kept) < 3:
        return None
    if any(
        line.startswith(
            (b"From", b"Index", b"diff", b"index", b"```", b"deleted", b"new ", b"old ", b"rename", b"copy", b"Only")
        )
        for line in kept
    ):
        return None
    diff = b"".join(formats.row(mark, line, False)[mark == b" " :] for mark, line in made[0].rows)
    head = formats.HEADS["prefixed"](edit.file.name.encode())
    return patch(edit, made, head + formats.numbers(made[0]) + b"\n" + diff)


@kind(DAMAGED, "diff: a blank context line left out", EITHER)
def _(rng):
    edit, made = clearly(rng, context=4)
    if not edit:
        return None
    rows = made[0].rows
    blanks = [i for i in range(1, len(rows) - 1) if rows[i][0] == b" " and not bare(rows[i][1]).strip()]
    if not blanks:
        return None
    at = rng.choice(blanks)
    shown = formats.Hunk(made[0].start, made[0].new_start, rows[:at] + rows[at + 1 :], made[0].places)
    return patch(edit, made, formats.unified(edit, [shown]), again=False)


@kind(DAMAGED, "diff: dots in place of context lines", EITHER)
def _(rng):
    edit, made = clearly(rng, context=8)
    if not edit or made[0].lead < 6:
        return None
    rows = made[0].rows
    shown = formats.Hunk(
        made[0].start, made[0].new_start, rows[:2] + [(b" ", b"...\n")] + rows[made[0].lead - 2 :], made[0].places
    )
    return patch(edit, made, formats.unified(edit, [shown]), again=False, starts=[])


@kind(DAMAGED, "diff: trailing blanks of context lines lost", APPLIES)
def _(rng):
    edit, made = clearly(rng, prop="trailing")
    if not edit or any(bare(line) != bare(line).rstrip() for mark, line in made[0].rows if mark != b" "):
        return None
    rows = [(mark, bare(line).rstrip(b" \t") + end_of(line)) for mark, line in made[0].rows]
    if rows == made[0].rows:
        return None
    return patch(
        edit, made, formats.unified(edit, [formats.Hunk(made[0].start, made[0].new_start, rows, [])]), exact=False
    )


@kind(DAMAGED, "diff: trailing blanks that the file has not, in context", APPLIES)
def _(rng):
    edit, made = clearly(rng)
    if not edit:
        return None
    rows = [(mark, bare(line) + b"  " + end_of(line) if mark == b" " else line) for mark, line in made[0].rows]
    return patch(
        edit, made, formats.unified(edit, [formats.Hunk(made[0].start, made[0].new_start, rows, [])]), exact=False
    )


def respelled(rng, change, test, shape=None, prop=None, header=formats.numbers, marks=b" -+", depths=True):
    """A hunk whose rows with these marks are indented otherwise."""
    edit, made = clearly(rng, shape, prop, 3)
    if not edit or len(edit.places) != 1:
        return None
    hunk = made[0]
    full = [line for line in hunk.old + hunk.new if bare(line).strip()]
    if (
        not all(map(indent_of, full))
        or test
        and not test(full)
        or depths
        and not known_depths(hunk)
        or sum(map(has_word, hunk.old)) < 3
    ):
        return None
    if not bare(hunk.old[0]).strip() or not bare(hunk.old[-1]).strip():
        return None
    step = change(hunk)
    if not step:
        return None
    rows = [(mark, step(line) if mark in marks and bare(line).strip() else line) for mark, line in hunk.rows]
    if rows == hunk.rows or files.File("", edit.file.data).places([line for mark, line in rows if mark != b"+"]):
        return None
    shown = formats.Hunk(hunk.start, hunk.new_start, rows, hunk.places)
    return patch(edit, made, formats.unified(edit, [shown], header=header), exact=False)


for _name, (_change, _test) in SHIFTS.items():

    @kind(DAMAGED, "diff: " + _name, APPLIES)
    def _(rng, change=_change, test=_test):
        return respelled(rng, change, test, prop="tabs" if test and test([b"\tx"]) else None)


for _name, (_change, _chars) in WIDTHS.items():

    @kind(DAMAGED, "diff: " + _name, APPLIES)
    def _(rng, change=_change, chars=_chars):
        return respelled(rng, change, only(chars), rng.choice(SAME_DEPTH), "tabs" if chars == b"\t" else None)


for _name in ("four blanks too deep", "a tab too deep", "the common indentation missing"):

    @kind(DAMAGED, "diff: removed and added lines: %s, context exact" % _name, EITHER)
    def _(rng, change=SHIFTS[_name][0], test=SHIFTS[_name][1]):
        return respelled(
            rng,
            change,
            test,
            rng.choice(["rename", "constant", "replace", "tail"]),
            "tabs" if test and test([b"\tx"]) else None,
            marks=b"-+",
        )


for _name in ("tabs as four blanks", "tabs as eight blanks", "four blanks as a tab"):

    @kind(DAMAGED, "diff: removed and added lines: %s, context exact" % _name, EITHER)
    def _(rng, change=WIDTHS[_name][0], chars=WIDTHS[_name][1]):
        return respelled(
            rng,
            change,
            only(chars),
            rng.choice(["rename", "constant", "replace", "tail"]),
            "tabs" if chars == b"\t" else None,
            marks=b"-+",
        )


@kind("listings, escapes, fences", "diff: typographic quotes in context lines", APPLIES)
def _(rng):
    return other_quotes(rng, b" ")


@kind("listings, escapes, fences", "diff: typographic quotes in all lines", EITHER)
def _(rng):
    return other_quotes(rng, b" -+")


def other_quotes(rng, marks):
    edit, made = clearly(rng)
    if not edit:
        return None
    char = rng.choice([b"'", b'"'])
    rows = [(mark, line.replace(char, LOOKALIKES[char]) if mark in marks else line) for mark, line in made[0].rows]
    if not any(mark != b"+" and line != kept for (mark, line), (_, kept) in zip(rows, made[0].rows)):
        return None
    return patch(
        edit, made, formats.unified(edit, [formats.Hunk(made[0].start, made[0].new_start, rows, [])]), exact=False
    )


@kind("listings, escapes, fences", "diff: plain quotes where the file has typographic ones, in context", APPLIES)
def _(rng):
    edit, made = clearly(rng, prop="lookalikes")
    if not edit:
        return None
    rows = []
    for mark, line in made[0].rows:
        for plain, typographic in LOOKALIKES.items():
            line = line.replace(typographic, plain) if mark == b" " else line
        rows.append((mark, line))
    if rows == made[0].rows:
        return None
    return patch(
        edit, made, formats.unified(edit, [formats.Hunk(made[0].start, made[0].new_start, rows, [])]), exact=False
    )


for _style in formats.LISTINGS:

    @kind("listings, escapes, fences", "diff: a listing's numbers, %s" % _style, APPLIES)
    def _(rng, style=_style):
        edit, made = clearly(rng, rng.choice(["constant", "tail", "replace", "comment"]))
        if not edit or len(made[0].old) < 3 or not all(map(has_word, made[0].old[:2])):
            return None
        at, rows = [made[0].start + 1, made[0].new_start + 1], []
        for mark, line in made[0].rows:
            rows.append((mark, formats.LISTINGS[style](at[mark == b"+"], line)))
            at = [at[0] + (mark != b"+"), at[1] + (mark != b"-")]
        return patch(
            edit,
            made,
            formats.unified(edit, [formats.Hunk(made[0].start, made[0].new_start, rows, [])], header=lambda h: b"@@"),
        )


# ---- to be refused -------------------------------------------------------------------------------


@kind("stale and absent", "diff: hunks of another file", REFUSE)
def _(rng):
    edit, made = clearly(rng, one=False)
    other = pick(rng)
    if (
        not edit
        or not other
        or any(other.file.places(hunk.old, loose) or other.file.places(hunk.new, loose) for hunk in made)
    ):
        return None
    return unchanged(patch(edit, made, formats.unified(edit, made, "none")), other.file.data)


for _header in (formats.numbers, lambda h: b"@@"):

    @kind(
        "stale and absent",
        "diff: a word has changed, %s" % ("with numbers" if _header is formats.numbers else "without numbers"),
        REFUSE,
    )
    def _(rng, header=_header):
        edit, made = clearly(rng, rng.choice(["constant", "replace", "tail", "parameter", "wrap"]))
        now = edit and stale(rng, edit, made[0])
        if not now or now.places(made[0].old, loose) or now.places(made[0].new, loose):
            return None
        return unchanged(patch(edit, made, formats.unified(edit, made, header=header)), now.data)


for _which in ("first", "last"):

    @kind("stale and absent", "diff: of several hunks the %s has no place" % _which, REFUSE)
    def _(rng, which=_which):
        edit, made = clearly(rng, "several", one=False)
        if not edit or len(made) < 2:
            return None
        bad = made[0 if which == "first" else -1]
        lines = list(edit.file.lines)
        at = next((bad.start + i for i, line in enumerate(bad.old) if has_word(line)), None)
        lines[at] = b"something quite different from before\n"
        now = files.File(edit.file.name, b"".join(lines))
        if now.places(bad.old, loose) or now.places(bad.new, loose):
            return None
        case = unchanged(patch(edit, made, formats.unified(edit, made)), now.data)
        case.facts = {"bad_hunk": 1 if which == "first" else len(made)}
        return case


@kind("stale and absent", "diff: signs the wrong way round", ALREADY)
def _(rng):
    edit, made = clearly(rng)
    swap = {b"-": b"+", b"+": b"-", b" ": b" "}
    return edit and nothing(
        patch(edit, made, b"@@\n" + b"".join(formats.row(swap[mark], line, False) for mark, line in made[0].rows))
    )


@kind("stale and absent", "diff: context alone", ALREADY)
def _(rng):
    edit, made = clearly(rng)
    return edit and nothing(
        patch(edit, made, b"@@\n" + b"".join(formats.row(b" ", line, False) for line in made[0].old))
    )


@kind("stale and absent", "diff: the hash of another state", REFUSE)
def _(rng):
    edit, made = drawn(rng)
    return edit and nothing(
        patch(
            edit, made, formats.unified(edit, made), arguments={"base_content_sha256": "%064x" % rng.getrandbits(256)}
        )
    )


def search_replace(edit, hunk, before=b""):
    """aider's and cline's blocks, which are no diffs."""
    return b"<<<<<<< SEARCH\n" + before + b"".join(hunk.old) + b"=======\n" + b"".join(hunk.new) + b">>>>>>> REPLACE\n"


def context_diff(edit, hunk):
    """As diff -c prints it, for one place."""
    name = edit.file.name.encode()
    gone, new = (
        [(b"! " if mark in b"-+" else b"  ") + bare(line) + b"\n" for mark, line in hunk.rows if mark != skip]
        for skip in (b"+", b"-")
    )
    return b"*** %s\n--- %s\n***************\n*** %d,%d ****\n%s--- %d,%d ----\n%s" % (
        name,
        name,
        hunk.start + 1,
        hunk.start + len(hunk.old),
        b"".join(gone),
        hunk.new_start + 1,
        hunk.new_start + len(hunk.new),
        b"".join(new),
    )


def normal_diff(edit, hunk):
    """As diff prints it without options."""
    place = hunk.places[0]
    old, new = edit.file.lines[place.start : place.end], place.new
    head = b"%d,%dc%d,%d\n" % (place.start + 1, place.end, place.start + 1, place.start + len(new))
    return (
        head
        + b"".join(b"< " + bare(line) + b"\n" for line in old)
        + b"---\n"
        + b"".join(b"> " + bare(line) + b"\n" for line in new)
    )


FOREIGN = {
    "aider's search and replace": search_replace,
    "Roo Code's, with a line": lambda e, h: search_replace(e, h, b":start_line:%d\n-------\n" % (h.start + 1)),
    "a context diff": context_diff,
    "a normal diff": normal_diff,
    "the new text alone": lambda e, h: b"".join(h.new),
    "a fence with the new text": lambda e, h: formats.fenced(b"".join(h.new), b""),
    "only added lines with plus signs": lambda e, h: b"".join(b"+" + line for mark, line in h.rows if mark == b"+"),
}
for _name, _make in FOREIGN.items():

    @kind("stale and absent", "diff: another format: " + _name, EITHER)
    def _(rng, make=_make):
        edit, made = clearly(rng, rng.choice(["constant", "replace", "tail"]))
        return edit and patch(edit, made, make(edit, made[0]), again=True)


@kind("stale and absent", "diff: prose alone", REFUSE)
def _(rng):
    edit, made = clearly(rng)
    return edit and nothing(patch(edit, made, BEFORE + AFTER, []))


ASKED_ELSE = {
    "a deletion": b"diff --git a/%s b/%s\ndeleted file mode 100644\n--- a/%s\n+++ /dev/null\n",
    "a rename": b"diff --git a/%s b/new_%s\nsimilarity index 90%%\nrename from %s\nrename to new_name\n",
}
for _name, _head in ASKED_ELSE.items():

    @kind("stale and absent", "diff: %s beside the change" % _name, REFUSE)
    def _(rng, head=_head):
        edit, made = clearly(rng)
        return edit and nothing(
            patch(edit, made, head % ((edit.file.name.encode(),) * 3) + formats.unified(edit, made, "none"), [])
        )


for _name, _words in PLACEHOLDERS.items():

    @kind("placeholders", "diff: a comment, %s" % _name, REFUSE)
    def _(rng, words=_words):
        def line_of(file):
            before, after = COMMENTS.get(file.language, (b"#", b""))
            return before + b" " + rng.choice(words).encode() + after

        return placeheld(rng, line_of)


@kind("placeholders", "diff: dots alone on a line", REFUSE)
def _(rng):
    return placeheld(
        rng,
        lambda file: rng.choice([b"...", "\u2026".encode()]),
        {"C", "JavaScript", "Java", "CSS", "Shell", "C++", "Make", "SQL", "SCSS", "JSON"},
    )


def placeheld(rng, line_of, languages=None):
    edit, old, new = shortened(rng, line_of, languages)
    if not edit:
        return None
    start = edit.file.places(old)[0]
    whole = changes.tidy(edit.file, [Place(start, start + len(old), new)], "short")
    made = whole and formats.hunks(whole, 2)
    case = made and nothing(patch(whole, made, formats.unified(whole, made), []))
    if case:
        case.diff = b""  # other programs know nothing of placeholders
    return case


# ---- made before ---------------------------------------------------------------------------------

for _name, _header in (("with numbers", formats.numbers), ("without numbers", lambda h: b"@@")):

    @kind("made before", "diff: sent again, " + _name, ALREADY)
    def _(rng, header=_header):
        edit, made = drawn(rng, rng.choice(WORDY + ["several"]), context=3)
        case = edit and patch(edit, made, formats.unified(edit, made, header=header))
        return unchanged(case, edit.result) if case and not case.again else None


@kind("made before", "diff: of several hunks one is made", EITHER)
def _(rng):
    edit, made = clearly(rng, "several", one=False)
    if not edit or len(made) < 2:
        return None
    case = patch(edit, made, formats.unified(edit, made))
    if case.again:
        return None
    half = changes.Edit(edit.file, made[0].places).result
    case.before = {case.name: half}
    case.facts = {}
    return case


@kind("made before", "diff: at the file's end, sent again", ALREADY)
def _(rng):
    edit, made = at_end(rng, rng.choice(["more after it", "more without", "keeps none"]))
    return edit and unchanged(patch(edit, made, formats.unified(edit, made)), edit.result)
