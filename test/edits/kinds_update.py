# SPDX-License-Identifier: Apache-2.0
"""Kinds of exact text for exact text: Gemini CLI's `replace`, Claude Code's `Edit`, the search and replace blocks
of aider and cline, which all come to update_file; and what models do to the two texts."""

import json
import re

import files
import formats
from changes import COMMENTS, LOOKALIKES, PROPERTIES, SHAPES
from files import bare, end_of, has_word, indent_of, loose
from table import ALREADY, APPLIES, EITHER, REFUSE, SIMPLE, WORDY, around, clear, kind, pick, unchanged, update

MARK = b"\xef\xbb\xbf"
EXACT, SPACES, SPELLED = "old and new text", "white space", "listings, escapes, fences"


def once(edit, old):
    return files.occurs(formats.lf(old), formats.lf(edit.file.data)) == 1


def drawn(rng, shape=None, prop=None, least=1, **more):
    """(edit, hunk) with some context, whose old text is there once."""
    edit = pick(rng, shape or rng.choice(SIMPLE), prop, **more)
    hunk = edit and around(rng, edit, least)
    if not hunk or not once(edit, b"".join(hunk.old)) or not framed(hunk) or MARK in b"".join(hunk.new[1:]):
        return None, None
    return edit, hunk


def framed(hunk):
    """Begins and ends with lines that have text: an empty first line is the end of whatever line is before it."""
    return all(bare(line).strip() for line in (hunk.old[0], hunk.old[-1], hunk.new[0], hunk.new[-1]))


# ---- as asked for --------------------------------------------------------------------------------

for _shape in SHAPES:
    if _shape != "several":

        @kind(EXACT, "update: " + _shape, APPLIES)
        def _(rng, shape=_shape):
            edit, hunk = drawn(rng, shape)
            return edit and update(edit, *formats.texts(hunk, rng.random() < 0.7))


for _prop in PROPERTIES:

    @kind("line ends, marks, alphabets", "update: " + _prop, APPLIES)
    def _(rng, prop=_prop):
        edit, hunk = drawn(rng, prop=prop)
        if not edit or prop == "mixed" and not one_end(hunk) or prop == "mark" and not edit.result.startswith(MARK):
            return None
        return update(edit, *(formats.lf(t).replace(MARK, b"") for t in formats.texts(hunk)))


def one_end(hunk):
    """What is added has the end of the lines around it."""
    near = hunk.rows[max(0, hunk.lead - 1) :]
    ends = [end_of(line) for mark, line in near]
    return len(set(ends)) == 1


@kind("line ends, marks, alphabets", "update: kept lines end otherwise than changed ones", APPLIES)
def _(rng):
    edit, hunk = drawn(rng, rng.choice(["constant", "tail", "parameter"]), "mixed")
    if not edit:
        return None
    if len(set(map(end_of, hunk.old))) < 2:
        return None
    for (mark, old), (after, new) in zip(hunk.rows, hunk.rows[1:]):
        if (mark, after) == (b"-", b"+") and end_of(old) != end_of(new):
            return None
    return update(edit, *map(formats.lf, formats.texts(hunk)))


@kind("line ends, marks, alphabets", "update: CR LF in a file with LF", APPLIES)
def _(rng):
    edit, hunk = drawn(rng)
    return edit and update(edit, *(t.replace(b"\n", b"\r\n") for t in formats.texts(hunk)), again=again_lf(edit, hunk))


@kind("line ends, marks, alphabets", "update: CR LF in a file with CR LF", APPLIES)
def _(rng):
    edit, hunk = drawn(rng, prop="crlf")
    return edit and update(edit, *formats.texts(hunk))


def again_lf(edit, hunk):
    return files.occurs(formats.lf(b"".join(hunk.old)), formats.lf(edit.result)) > 0


@kind("line ends, marks, alphabets", "update: the first line, with the byte-order mark", APPLIES)
def _(rng):
    edit = pick(rng, "constant", "mark") or pick(rng, "rename", "mark")
    if not edit or edit.places[0].start > 3 or len(edit.places) != 1:
        return None
    size = edit.places[0].end + 1
    old, new = b"".join(edit.file.lines[:size]), b"".join(edit.lines[:size])
    return update(edit, old, new) if once(edit, old) else None


@kind("line ends, marks, alphabets", "update: the last line, which has no end", APPLIES)
def _(rng):
    edit = pick(rng, None, "no_end")
    if not edit:
        return None
    from changes import reworded, tidy, Place

    last = len(edit.file.lines) - 1
    new = reworded(rng, edit.file, edit.file.lines[last])
    edit = new and tidy(edit.file, [Place(last, last + 1, [new])], "last")
    hunk = edit and formats.hunks(edit, rng.randint(0, 3))[0]
    return update(edit, *formats.texts(hunk)) if hunk and once(edit, b"".join(hunk.old)) else None


@kind(EXACT, "update: without context", APPLIES)
def _(rng):
    edit = pick(rng, rng.choice(["constant", "replace", "delete", "wrap", "tail"]))
    hunk = edit and formats.hunks(edit, 0)[0]
    if not hunk or len(edit.places) != 1 or not hunk.old or not once(edit, b"".join(hunk.old)):
        return None
    return update(edit, *formats.texts(hunk))


@kind(EXACT, "update: part of a line", APPLIES)
def _(rng):
    edit = pick(rng, rng.choice(["constant", "tail", "parameter"]))
    if not edit:
        return None
    old, new = bare(edit.file.lines[edit.places[0].start]), bare(edit.places[0].new[0])
    a = next((i for i in range(min(len(old), len(new))) if old[i] != new[i]), 0)
    a = max(0, a - rng.randint(4, 12))
    old, new = old[a:].lstrip(), new[a:].lstrip()
    try:
        old.decode(), new.decode()
    except UnicodeDecodeError:
        return None
    return update(edit, old, new) if len(old) > 3 and once(edit, old) else None


@kind(EXACT, "update: without the first line's indentation and the last line's end", APPLIES)
def _(rng):
    edit, hunk = drawn(rng, least=1)
    if not edit:
        return None
    old, new = (t.strip() for t in formats.texts(hunk))
    if not once(edit, old) or indent_of(hunk.old[0]) != indent_of(hunk.new[0]):
        return None
    return update(edit, old, new, [edit.file.data.replace(old, new)])


@kind(EXACT, "update: every occurrence of a name", APPLIES)
def _(rng):
    from changes import fresh, words_of

    edit = pick(rng, "rename")
    if not edit:
        return None
    words = words_of(edit.file.lines[edit.places[0].start])
    if not words:
        return None
    old, new = words[0], fresh(rng, edit.file, b"q")
    count = edit.file.data.count(old)
    if count < 2 or old in new or files.occurs(old, edit.file.data) != count:
        return None
    how = {"allow_multiple": True} if rng.random() < 0.5 else {"expected_matches": count}
    return update(edit, old, new, [edit.file.data.replace(old, new)], arguments=how, replaced=count)


# ---- what must be refused ------------------------------------------------------------------------


def nothing(case):
    case.after, case.again = [], False
    return case


@kind("stale and absent", "update: text of another file", REFUSE)
def _(rng):
    edit, hunk = drawn(rng)
    other = pick(rng)
    if (
        not edit
        or not other
        or loose(b"".join(hunk.old)) in other.file.squeezed
        or loose(b"".join(hunk.new)) in other.file.squeezed
    ):
        return None
    old, new = formats.texts(hunk)
    return nothing(update(other, old, new))


def stale(rng, edit, hunk):
    """The file in which somebody has changed a word of a line that the hunk removes; None if there is none."""
    from changes import reworded

    gone = [p for p in edit.places if p.end > p.start]
    if not gone:
        return None
    at = rng.randrange(gone[0].start, gone[0].end)
    line = reworded(rng, edit.file, edit.file.lines[at]) if has_word(edit.file.lines[at]) else None
    if line is None or loose(line) == loose(edit.file.lines[at]):
        return None
    lines = list(edit.file.lines)
    lines[at] = line
    return files.File(edit.file.name, b"".join(lines))


@kind("stale and absent", "update: a word has changed", REFUSE)
def _(rng):
    edit, hunk = drawn(rng, rng.choice(["constant", "replace", "tail", "parameter", "wrap"]))
    now = edit and stale(rng, edit, hunk)
    if not now or now.places(hunk.old, loose) or now.places(hunk.new, loose):
        return None
    return unchanged(update(edit, *formats.texts(hunk)), now.data)


@kind("stale and absent", "update: a line has been put between", REFUSE)
def _(rng):
    edit, hunk = drawn(rng, least=2)
    if not edit or len(hunk.old) < 4:
        return None
    at = hunk.start + rng.randrange(1, len(hunk.old))
    lines = list(edit.file.lines)
    lines.insert(at, b"inserted_by_someone_else();\n")
    now = files.File(edit.file.name, b"".join(lines))
    if now.places(hunk.old, loose) or now.places(hunk.new, loose):
        return None
    return unchanged(update(edit, *formats.texts(hunk)), now.data)


@kind("twins", "update: the old text is there twice", REFUSE)
def _(rng):
    edit = pick(rng, "rename") or pick(rng, "constant")
    if not edit:
        return None
    at = edit.places[0].start
    old = bare(edit.file.lines[at]).strip()
    if len(edit.file.places([edit.file.lines[at]])) < 2 or old == b"":
        return None
    new = bare(edit.places[0].new[0]).strip()
    return nothing(update(edit, old, new, []))


@kind("twins", "update: another count than is there", REFUSE)
def _(rng):
    from changes import fresh, words_of

    edit = pick(rng, "rename")
    words = edit and words_of(edit.file.lines[edit.places[0].start])
    if not words:
        return None
    count = edit.file.data.count(words[0])
    return nothing(
        update(edit, words[0], fresh(rng, edit.file), [], arguments={"expected_matches": count + rng.choice([1, 2, 5])})
    )


@kind("twins", "update: the old text overlaps itself", REFUSE)
def _(rng):
    edit = pick(rng, "insert")
    if not edit:
        return None
    closer = rng.choice([b"}", b"end", b"  ]", b"</div>", b"\t);"]) + b"\n"
    if closer in edit.file.data:
        return None
    at = edit.places[0].start
    lines = edit.file.lines[:at] + [closer] * 3 + edit.file.lines[at:]
    case = update(edit, closer * 2, closer + b"added_here();\n", [])
    return unchanged(case, b"".join(lines))


@kind(EXACT, "update: the new text is the old one", ALREADY)
def _(rng):
    edit, hunk = drawn(rng)
    return edit and nothing(update(edit, b"".join(hunk.old), b"".join(hunk.old)))


@kind(EXACT, "update: an empty old text, and the file exists", REFUSE)
def _(rng):
    edit, hunk = drawn(rng)
    return edit and nothing(update(edit, b"", b"".join(hunk.new)))


@kind("stale and absent", "update: the hash of another state", REFUSE)
def _(rng):
    edit, hunk = drawn(rng)
    return edit and nothing(
        update(edit, *formats.texts(hunk), arguments={"base_content_sha256": "%064x" % rng.getrandbits(256)})
    )


@kind(SPELLED, "update: aider's markers within the old text", REFUSE)
def _(rng):
    edit, hunk = drawn(rng)
    if not edit or b"<<<<<<<" in edit.file.data:
        return None
    old, new = formats.texts(hunk)
    return nothing(update(edit, b"<<<<<<< SEARCH\n" + old + b"=======\n" + new + b">>>>>>> REPLACE\n", new))


# ---- placeholders for what was left out ----------------------------------------------------------

PLACEHOLDERS = {
    "existing code": ["... existing code ...", "... existing code", "existing code here", "... (existing code) ..."],
    "rest": [
        "... rest of the code ...",
        "rest of function remains the same",
        "... rest of the file unchanged",
        "rest of the code here...",
    ],
    "unchanged": ["... unchanged ...", "(unchanged)", "remaining code unchanged", "... remains unchanged ..."],
    "previous": [
        "... previous code ...",
        "previous implementation stays the same",
        "... same as before ...",
        "... previous implementation ...",
    ],
    "omitted": [
        "... omitted for brevity ...",
        "code omitted for brevity",
        "[... omitted ...]",
        "... other methods ...",
    ],
}


PROSE = ("Markdown", "AsciiDoc", "Text", "POD", "Manual page", "Test cases")
COMMENTED = tuple(b"# // * /* <!-- -- ; % dnl REM rem = ! {- '".split()) + (b'"',)


def of_code(lines):
    """How many of these lines are of code: not blank, no comment, more than brackets."""
    return sum(has_word(line) and not bare(line).strip().startswith(COMMENTED) for line in lines)


def shortened(rng, line_of, languages=None):
    """An edit of six lines or more, of a source, in which a placeholder stands for three lines of code or more."""
    edit = pick(rng, "replace", languages=languages)
    if not edit or edit.file.language in PROSE:
        return None, None, None
    file, size = edit.file, rng.randint(6, 12)
    at = rng.randrange(0, len(file.lines) - size) if len(file.lines) > size + 2 else None
    if at is None or not has_word(file.lines[at]):
        return None, None, None
    old = file.lines[at : at + size]
    depth = indent_of(old[1]) if has_word(old[1]) else indent_of(old[0])
    from changes import reworded

    first, line = reworded(rng, file, old[0]), depth + line_of(file) + file.end
    if first is None or of_code(old[1:-1]) < 3 or not once(edit, b"".join(old)) or bare(line).strip() in file.data:
        return None, None, None
    if not stands_alone(file, at + 1, at + size - 1, line):
        return None, None, None
    return edit, old, [first, line, old[-1]]


def stands_alone(file, at, to, line):
    """In place of these lines, a placeholder is no part of a comment: words without dots could be one's sentence."""
    before = b"".join(file.lines[:at])
    within = before.count(b"/*") > before.count(b"*/") or before.count(b"<!--") > before.count(b"-->")
    return (
        not within
        and before.count(b'"""') % 2 == 0
        and (b"..." in line or of_code([file.lines[at - 1], file.lines[to]]) == 2)
    )


for _name, _words in PLACEHOLDERS.items():

    def _line(rng, words):
        def line_of(file):
            before, after = COMMENTS.get(file.language, (b"#", b""))
            return before + b" " + rng.choice(words).encode() + after

        return line_of

    @kind("placeholders", "update: a comment, %s" % _name, REFUSE)
    def _(rng, words=_words, line=_line):
        edit, old, new = shortened(rng, line(rng, words))
        return edit and nothing(update(edit, b"".join(old), b"".join(new), []))


@kind("placeholders", "update: dots alone on a line", REFUSE)
def _(rng):
    edit, old, new = shortened(
        rng,
        lambda file: rng.choice([b"...", "\u2026".encode()]),
        {"C", "JavaScript", "Java", "CSS", "Shell", "C++", "Make", "SQL", "SCSS", "Solidity", "JSON"},
    )
    return edit and nothing(update(edit, b"".join(old), b"".join(new), []))


@kind("placeholders", "update: the file has that very line", APPLIES)
def _(rng):
    edit, hunk = drawn(rng, rng.choice(["insert", "constant", "tail"]))
    if not edit:
        return None
    before, after = COMMENTS.get(edit.file.language, (b"#", b""))
    line = before + b" ... existing code ..." + after + edit.file.end
    file = files.File(edit.file.name, b"".join(edit.file.lines[: hunk.start] + [line] + edit.file.lines[hunk.start :]))
    moved = edit.moved(file, 1)
    old, new = formats.texts(hunk)
    return update(moved, line + old, line + new)


@kind("placeholders", "update: dots that belong to the code", APPLIES)
def _(rng):
    edit, hunk = drawn(
        rng, "insert", languages={"JavaScript", "TypeScript", "C", "Python", "Java", "Shell", "Markdown"}
    )
    if not edit:
        return None
    file = edit.file
    mark = COMMENTS.get(file.language, (b"#", b""))[0]
    line = {
        "JavaScript": b"call(...rest_%d);",
        "TypeScript": b"call(...rest_%d);",
        "C": b"int print_%d(const char *format, ...);",
        "Python": b"view_%d = table[..., 0]",
        "Java": b"void call%d(String... names) {}",
    }.get(file.language, mark + b" Wait %d s... then try again.")
    line = indent_of(edit.places[0].new[0]) + line % rng.randrange(10, 99) + file.end
    edit.places[0].new = edit.places[0].new + [line]
    hunk = around(rng, edit)
    return update(edit, *formats.texts(hunk)) if hunk and once(edit, b"".join(hunk.old)) else None


# ---- white space ---------------------------------------------------------------------------------


def block(rng, test, shape=None, prop=None, indented=True):
    """(edit, hunk) of at least three lines with words, alone in the file in any reading."""
    edit, hunk = drawn(rng, shape or rng.choice(WORDY), prop)
    if not edit or not clear(edit, [hunk]) or sum(map(has_word, hunk.old)) < 3:
        return None, None
    full = [line for line in hunk.old + hunk.new if bare(line).strip()]
    if indented and not all(indent_of(line) for line in full):
        return None, None
    return (edit, hunk) if test is None or test(full) else (None, None)


def common(lines):
    """The indentation that all lines with text begin with."""
    out = indent_of(lines[0])
    for line in lines:
        while not line.startswith(out):
            out = out[:-1]
    return out


def each(lines, change):
    return b"".join(change(line) if bare(line).strip() else line for line in lines)


def only(chars):
    return lambda lines: all(set(indent_of(line)) <= set(chars) for line in lines)


def known_depths(hunk):
    """New lines are no deeper or shallower than the old ones show."""
    old = {indent_of(line) for line in hunk.old if bare(line).strip()}
    return {indent_of(line) for line in hunk.new if bare(line).strip()} <= old


def respelled(rng, change, test, shape=None, prop=None, depths=True):
    edit, hunk = block(rng, test, shape, prop)
    if not edit or depths and not known_depths(hunk):
        return None
    step = change(hunk)
    if not depths and len({indent_of(line) for line in hunk.old if bare(line).strip()}) < 2:
        return None  # moved, or of another width: one depth does not tell
    old = step and each(hunk.old, step)
    if not old or old in edit.file.data or each(hunk.new, step) in edit.file.data:
        return None
    return update(edit, old, each(hunk.new, step), again=False, exact=False)


def _dedent(hunk):
    cut = len(common([line for line in hunk.old if bare(line).strip()]))
    return cut and (lambda line: line[cut:])


def _less(hunk):
    cut = len(common([line for line in hunk.old + hunk.new if bare(line).strip()])) // 2
    return cut and (lambda line: line[cut:])


SHIFTS = {
    "the common indentation missing": (_dedent, None),
    "half of the common indentation missing": (_less, only(b" ")),
    "four blanks too deep": (lambda hunk: lambda line: b"    " + line, only(b" ")),
    "two blanks too deep": (lambda hunk: lambda line: b"  " + line, only(b" ")),
    "a tab too deep": (lambda hunk: lambda line: b"\t" + line, only(b"\t")),
    "a tab not deep enough": (lambda hunk: lambda line: line[1:], only(b"\t")),
}
for _name, (_change, _test) in SHIFTS.items():

    @kind(SPACES, "update: " + _name, APPLIES)
    def _(rng, change=_change, test=_test):
        return respelled(rng, change, test, prop="tabs" if test and test([b"\tx"]) else None)


def _expand(width):
    return lambda hunk: lambda line: b" " * width * len(indent_of(line)) + line[len(indent_of(line)) :]


def _units(old, new):
    def change(hunk):
        if any(len(indent_of(line)) % old for line in hunk.old + hunk.new if bare(line).strip()):
            return None
        return lambda line: new * (len(indent_of(line)) // old) + line[len(indent_of(line)) :]

    return change


SAME_DEPTH = [
    "rename",
    "constant",
    "parameter",
    "tail",
    "comment",
]  # each new line is as deep as the old one in its place
WIDTHS = {
    "tabs as four blanks": (_expand(4), b"\t"),
    "tabs as eight blanks": (_expand(8), b"\t"),
    "tabs as two blanks": (_expand(2), b"\t"),
    "four blanks as a tab": (_units(4, b"\t"), b" "),
    "two blanks as a tab": (_units(2, b"\t"), b" "),
    "four blanks as two": (_units(4, b"  "), b" "),
    "two blanks as four": (_units(2, b"    "), b" "),
}
for _name, (_change, _chars) in WIDTHS.items():

    @kind(SPACES, "update: " + _name, APPLIES)
    def _(rng, change=_change, chars=_chars):
        return respelled(rng, change, only(chars), rng.choice(SAME_DEPTH), "tabs" if chars == b"\t" else None)

    @kind(SPACES, "update: %s, and a depth of its own" % _name, EITHER)
    def _(rng, change=_change, chars=_chars):
        return respelled(rng, change, only(chars), prop="tabs" if chars == b"\t" else None, shape="wrap", depths=False)


@kind(SPACES, "update: the file's trailing blanks are left out", APPLIES)
def _(rng):
    edit, hunk = block(rng, None, prop="trailing", indented=False)
    if not edit:
        return None
    strip = lambda lines: b"".join(bare(line).rstrip(b" \t") + end_of(line) for line in lines)
    added = [bare(line) for mark, line in hunk.rows if mark == b"+"]
    if strip(hunk.old) == b"".join(hunk.old) or any(line != line.rstrip(b" \t") for line in added):
        return None
    if set(added) & {bare(line).rstrip(b" \t") for line in hunk.old}:
        return None  # is it a line that stays, then?
    return update(edit, strip(hunk.old), strip(hunk.new), again=False, exact=False)


@kind(SPACES, "update: trailing blanks that the file has not", EITHER)
def _(rng):
    edit, hunk = block(rng, None, indented=False)
    if not edit:
        return None
    pad = lambda mark, line: bare(line) + b"  " + end_of(line) if mark == b" " and bare(line).strip() else line
    old = b"".join(pad(mark, line) for mark, line in hunk.rows if mark != b"+")
    new = b"".join(pad(mark, line) for mark, line in hunk.rows if mark != b"-")
    return update(edit, old, new, again=False) if old not in edit.file.data else None


@kind(SPACES, "update: a line of white space only is spelled the same in both", APPLIES)
def _(rng):
    edit, hunk = block(rng, only(b" "), rng.choice(["constant", "tail", "parameter"]))
    if not edit or not known_depths(hunk):
        return None
    at = hunk.start + 1
    if hunk.lead < 2:
        return None
    white = b"  " + edit.file.end
    file = files.File(edit.file.name, b"".join(edit.file.lines[:at] + [white] + edit.file.lines[at:]))
    moved = edit.moved(file, 1)
    wide = formats.hunks(moved, 40)[0]
    old, new = hunk.old[:1] + [white] + hunk.old[1:], hunk.new[:1] + [white] + hunk.new[1:]
    if not file.alone(old) or not wide:
        return None
    deeper = lambda line: b"    " + line
    return update(moved, each(old, deeper), each(new, deeper), again=False)


# ---- listings, escapes, fences -------------------------------------------------------------------

for _style in formats.LISTINGS:

    @kind(SPELLED, "update: a listing's numbers, %s" % _style, APPLIES)
    def _(rng, style=_style):
        edit, hunk = block(rng, None, indented=False)
        if not edit:
            return None
        new = formats.listed(hunk.new, hunk.start, style) if rng.random() < 0.6 else b"".join(hunk.new)
        return update(edit, formats.listed(hunk.old, hunk.start, style), new, again=False)


for _fence, _language in ((b"```", b""), (b"```", b"LANGUAGE"), (b"~~~", b"")):

    @kind(SPELLED, "update: a fence round both, %s%s" % (_fence.decode(), _language.decode().lower()), APPLIES)
    def _(rng, fence=_fence, language=_language):
        edit, hunk = block(rng, None, indented=False)
        if not edit or fence in edit.file.data or not end_of(hunk.old[-1]):
            return None
        word = language and edit.file.language.split()[0].lower().encode()
        return update(edit, *(formats.fenced(t, word, fence) for t in formats.texts(hunk)), again=False)


@kind(SPELLED, "update: a level of escapes too much", APPLIES)
def _(rng):
    edit, hunk = block(rng, None, indented=False)
    if not edit or not b"".join(hunk.old).isascii() or not b"".join(hunk.new).isascii():
        return None
    old, new = (json.dumps(t.decode())[1:-1].encode() for t in formats.texts(hunk))
    return update(edit, old, new, again=False) if old not in edit.file.data else None


@kind(SPELLED, "update: quotes escaped that are not", APPLIES)
def _(rng):
    edit, hunk = block(
        rng,
        lambda lines: any(b'"' in line for line in lines) and not any(b"\\" in line for line in lines),
        indented=False,
    )
    if not edit or b'"' not in b"".join(hunk.old):
        return None
    old, new = (t.replace(b'"', b'\\"') for t in formats.texts(hunk))
    return update(edit, old, new, again=False)


@kind(SPELLED, "update: HTML's escapes", EITHER)
def _(rng):
    edit, hunk = block(
        rng,
        lambda lines: any(re.search(rb"[<>&]", line) for line in lines) and not any(b"&lt" in line for line in lines),
        indented=False,
    )
    if not edit:
        return None
    escape = lambda t: t.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    old, new = map(escape, formats.texts(hunk))
    return update(edit, old, new, again=False) if old not in edit.file.data else None


@kind(SPELLED, "update: typographic quotes in lines that stay", EITHER)
def _(rng):
    edit, hunk = block(rng, None, indented=False)
    if not edit:
        return None
    char = rng.choice([b"'", b'"', b"-"])
    swap = lambda mark, line: line.replace(char, LOOKALIKES[char]) if mark == b" " else line
    old = b"".join(swap(mark, line) for mark, line in hunk.rows if mark != b"+")
    new = b"".join(swap(mark, line) for mark, line in hunk.rows if mark != b"-")
    return update(edit, old, new, again=False) if old not in edit.file.data else None


@kind(SPELLED, "update: unseen characters as the answers' escapes", APPLIES)
def _(rng):
    edit, hunk = drawn(rng, prop="unseen")
    if not edit or not clear(edit, [hunk]):
        return None
    shown = lambda t: t.replace("\u200b".encode(), b"\\u{200b}")
    old, new = map(shown, formats.texts(hunk))
    if old in edit.file.data or any("\u200b".encode() in line for mark, line in hunk.rows if mark == b"+"):
        return None
    return update(edit, old, new, again=False)


@kind(SPELLED, "update: an escape that is added is text", EITHER)
def _(rng):
    edit, hunk = drawn(rng, "insert", prop="unseen")
    if not edit or not clear(edit, [hunk]) or "\u200b".encode() in b"".join(edit.places[0].new):
        return None
    edit.places[0].new = edit.places[0].new + [b"separator = '\\u{200b}';" + edit.file.end]
    hunk = around(rng, edit)
    if not hunk or not clear(edit, [hunk]) or not framed(hunk):
        return None
    shown = lambda t: t.replace("\u200b".encode(), b"\\u{200b}")
    old, new = map(shown, formats.texts(hunk))
    return update(edit, old, new, again=False) if old not in edit.file.data else None


# ---- made before ---------------------------------------------------------------------------------


@kind("made before", "update: sent again", ALREADY)
def _(rng):
    edit, hunk = drawn(rng, rng.choice(WORDY))
    if not edit or once_again(edit, hunk):
        return None
    return unchanged(update(edit, *formats.texts(hunk)), edit.result)


def once_again(edit, hunk):
    return files.occurs(formats.lf(b"".join(hunk.old)), formats.lf(edit.result)) > 0


for _prop in ("crlf", "tabs", "mixed", "no_end"):

    @kind("made before", "update: sent again, " + _prop, ALREADY)
    def _(rng, prop=_prop):
        edit, hunk = drawn(rng, rng.choice(WORDY), prop)
        if not edit or once_again(edit, hunk):
            return None
        return unchanged(update(edit, *map(formats.lf, formats.texts(hunk))), edit.result)


@kind("made before", "update: sent again, four blanks too deep", ALREADY)
def _(rng):
    edit, hunk = block(rng, only(b" "))
    if not edit or not known_depths(hunk) or files.File("", edit.result).places(hunk.old, loose):
        return None
    deeper = lambda line: b"    " + line
    return unchanged(update(edit, each(hunk.old, deeper), each(hunk.new, deeper)), edit.result)
