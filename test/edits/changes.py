# SPDX-License-Identifier: Apache-2.0
"""Changes as people ask for them: which lines of a file become which, so that the result is known before any tool
has seen the edit.

    edit = SHAPES["rename"](rng, file)      # an Edit, or None where the file has nothing of the kind
    edit.file, edit.places, edit.result     # result: bytes
    real(rng)                               # an Edit between two published versions
    PROPERTIES["crlf"](rng, file)           # the file with another property: line ends, tabs, no end of the last line

A Place replaces the lines start..end (from 0, end excluded) by others. Places are in order and do not touch.
"""

import difflib
import re
from dataclasses import dataclass

import files
from files import File, bare, end_of, has_word, indent_of

WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{3,30}")
KEYWORDS = set(
    b"""function return const static public private import from class struct this self else while break continue true false null
None True False void int char string unsigned include define endif ifdef begin require module export default""".split()
)


@dataclass
class Place:
    start: int
    end: int
    new: list


class Edit:
    def __init__(self, file, places, shape=""):
        self.file, self.places, self.shape = file, sorted(places, key=lambda p: p.start), shape

    @property
    def lines(self):
        out, at = [], 0
        for place in self.places:
            out += self.file.lines[at : place.start] + place.new
            at = place.end
        return out + self.file.lines[at:]

    @property
    def result(self):
        return b"".join(self.lines)

    def moved(self, file, by):
        """The same edit in a file whose lines stand `by` later."""
        return Edit(file, [Place(p.start + by, p.end + by, p.new) for p in self.places], self.shape)


def tidy(file, places, shape):
    """An Edit whose places change something, do not touch, and leave each line's end to the lines; or None."""
    last = len(file.lines)
    places = sorted(places, key=lambda p: p.start)
    for one in places:
        if file.lines[one.start : one.end] == one.new:
            return None
        while one.start < one.end and one.new and file.lines[one.start] == one.new[0]:
            one.start, one.new = one.start + 1, one.new[1:]
        while one.start < one.end and one.new and file.lines[one.end - 1] == one.new[-1]:
            one.end, one.new = one.end - 1, one.new[:-1]
        if one.end == last and not file.data.endswith(b"\n") and (one.start == one.end or not one.new):
            return None  # that would change the line before
    if any(a.end >= b.start for a, b in zip(places, places[1:])):
        return None
    edit = Edit(file, places, shape)
    text = edit.result
    return edit if text != file.data and files.split(text) == edit.lines else None


# ---- where ---------------------------------------------------------------------------------------


def spot(rng, file, test=has_word, size=1):
    """The first of `size` lines, the first of which passes; not the file's last one."""
    count = len(file.lines) - size
    for _ in range(20):
        at = rng.randrange(0, max(1, count))
        if at < count and test(file.lines[at]):
            return at
    return None


def fresh(rng, file, stem=b"value"):
    """A name that the file does not have."""
    while True:
        name = stem[:18] + b"_" + rng.choice([b"next", b"limit", b"total", b"state", b"extra", b"local", b"cached"])
        name += b"%d" % rng.randrange(2, 99)
        if name not in file.data:
            return name


def words_of(line):
    return [w for w in WORD.findall(line) if w not in KEYWORDS]


def reworded(rng, file, line):
    """The line with one of its words replaced by a new name."""
    words = words_of(line)
    if not words:
        return None
    word = rng.choice(words)
    new = re.sub(rb"\b%s\b" % re.escape(word), fresh(rng, file, word), line, count=1)
    return new if new != line else None


# ---- shapes --------------------------------------------------------------------------------------


def rename(rng, file):
    at = spot(rng, file, lambda line: bool(words_of(line)))
    if at is None:
        return None
    word = rng.choice(words_of(file.lines[at]))
    name, pattern = fresh(rng, file, word), re.compile(rb"\b%s\b" % re.escape(word))
    places = []
    for i in range(max(0, at - 6), min(len(file.lines) - 1, at + 12)):
        new = pattern.sub(name, file.lines[i])
        if new != file.lines[i]:
            if places and places[-1].end == i:
                places[-1].end, places[-1].new = i + 1, places[-1].new + [new]
            else:
                places.append(Place(i, i + 1, [new]))
    return tidy(file, places, "rename")


def constant(rng, file):
    number = re.compile(rb"(?<![A-Za-z0-9_.])\d{1,5}(?![A-Za-z0-9_.])")
    at = spot(rng, file, lambda line: bool(number.search(line)) and has_word(line))
    if at is None:
        return None
    new = number.sub(lambda m: b"%d" % (int(m[0]) * 2 + rng.randrange(3, 90)), file.lines[at], count=1)
    return tidy(file, [Place(at, at + 1, [new])], "constant")


def parameter(rng, file):
    call = re.compile(rb"\(([^()]*\w)\)")
    at = spot(rng, file, lambda line: bool(call.search(line)) and has_word(line))
    if at is None:
        return None
    name = fresh(rng, file, b"option")
    new = call.sub(lambda m: b"(" + m[1] + b", " + name + b")", file.lines[at], count=1)
    return tidy(file, [Place(at, at + 1, [new])], "parameter")


def _some_new_lines(rng, file, at, most=5):
    """Lines like others of the file, at the depth of line `at`, with a new name in each that has a word."""
    out, want = [], indent_of(file.lines[at])
    source = spot(rng, file, size=most + 1)
    if source is None:
        return None
    base = indent_of(file.lines[source])
    for line in file.lines[source : source + rng.randint(1, most)]:
        if has_word(line):
            line = reworded(rng, file, line)
        if line is None or not bare(line).strip():
            continue
        here = indent_of(line)
        deeper = here[len(base) :] if here.startswith(base) else b""
        out.append(want + deeper + bare(line)[len(here) :].rstrip() + file.end)
    return out if out and any(map(has_word, out)) else None


def insert(rng, file):
    at = spot(rng, file)
    new = None if at is None else _some_new_lines(rng, file, at)
    return new and tidy(file, [Place(at, at, new)], "insert")


def delete(rng, file):
    size = rng.randint(1, 5)
    at = spot(rng, file, size=size + 1)
    return None if at is None else tidy(file, [Place(at, at + size, [])], "delete")


def replace(rng, file):
    size = rng.randint(2, 5)
    at = spot(rng, file, size=size + 1)
    new = None if at is None else _some_new_lines(rng, file, at, 6)
    return new and tidy(file, [Place(at, at + size, new)], "replace")


def wrap(rng, file):
    size = rng.randint(2, 5)
    at = spot(rng, file, size=size + 1)
    if at is None or not bare(file.lines[at]).strip():
        return None
    depth, unit = indent_of(file.lines[at]), b"\t" if any(line.startswith(b"\t") for line in file.lines) else b"    "
    name, end = fresh(rng, file, b"enabled"), file.end
    inner = [unit + line if bare(line).strip() else line for line in file.lines[at : at + size]]
    new = [depth + b"if (" + name + b") {" + end] + inner + [depth + b"}" + end]
    if file.extension in (".py", ".pyi", ".gyp"):
        new = [depth + b"if " + name + b":" + end] + inner
    return tidy(file, [Place(at, at + size, new)], "wrap")


def comment(rng, file):
    at = spot(rng, file)
    if at is None:
        return None
    before, after = COMMENTS.get(file.language, (b"#", b""))
    text = before + b" Keeps " + fresh(rng, file, b"state") + b" for the next call." + after
    return tidy(file, [Place(at, at, [indent_of(file.lines[at]) + text + file.end])], "comment")


def swap(rng, file):
    at = spot(rng, file, size=3)
    if at is None or not has_word(file.lines[at + 1]):
        return None
    one, two = file.lines[at : at + 2]
    return tidy(file, [Place(at, at + 2, [two, one])], "swap")


def blank(rng, file):
    """A blank line more, between two lines that are not blank."""
    at = spot(rng, file, size=2)
    if at is None or not has_word(file.lines[at + 1]):
        return None
    return tidy(file, [Place(at + 1, at + 1, [file.end])], "blank")


def tail(rng, file):
    """The end of a line: what a model replaces in the middle of a long one."""
    at = spot(rng, file, lambda line: len(words_of(line)) > 1)
    if at is None:
        return None
    word = words_of(file.lines[at])[-1]
    before, _, after = file.lines[at].rpartition(word)
    return tidy(file, [Place(at, at + 1, [before + fresh(rng, file, word) + after])], "tail")


def several(rng, file, most=4):
    """Two to four changes, far enough from each other for a hunk each."""
    places, wanted = [], rng.randint(2, most)
    for _ in range(30):
        edit = SHAPES[rng.choice(["constant", "parameter", "insert", "delete", "replace", "comment", "tail"])](
            rng, file
        )
        if edit and all(p.end + 12 < q.start or q.end + 12 < p.start for p in edit.places for q in places):
            places += edit.places
        if len(places) >= wanted:
            break
    return tidy(file, places, "several") if len(places) >= 2 else None


def real(rng):
    """The changes between two published versions, or some of them."""
    old, new = rng.choice(files.pairs())
    matcher = difflib.SequenceMatcher(None, old.lines, new.lines, False)
    places = [Place(a, b, new.lines[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    if not places or sum(p.end - p.start + len(p.new) for p in places) > 400:
        return None
    first = rng.randrange(len(places))
    return tidy(old, places[first : first + rng.randint(1, 6)], "real")


COMMENTS = {}
for _names, _marks in (
    (
        "C|C header|C++|C#|Java|JavaScript|TypeScript|Kotlin|Objective-C|Solidity|GLSL|Gradle|Protocol Buffers|SCSS|Swift|Xcode settings"
        "|Resource script",
        (b"//", b""),
    ),
    ("CSS", (b"/*", b" */")),
    ("HTML|Vue|Svelte|XML|MSBuild|Markdown|Property list|SVG", (b"<!--", b" -->")),
    ("SQL|Elm|Lua", (b"--", b"")),
    ("Scheme|Emacs Lisp|INI", (b";;", b"")),
    ("Manual page", (b'.\\"', b"")),
    ("M4|Autoconf", (b"dnl", b"")),
    ("Batch", (b"REM", b"")),
):
    for _name in _names.split("|"):
        COMMENTS[_name] = _marks

SHAPES = {
    f.__name__: f
    for f in (rename, constant, parameter, insert, delete, replace, wrap, comment, swap, blank, tail, several)
}


# ---- properties of files -------------------------------------------------------------------------


def _with(file, lines):
    return File(file.name, b"".join(lines), file.source)


def crlf(rng, file):
    return _with(file, [bare(line) + b"\r\n" if end_of(line) else line for line in file.lines])


def mixed(rng, file):
    """Runs of lines with CRLF among others, as two editors leave them."""
    out, on = [], False
    for line in file.lines:
        on = on != (rng.random() < 0.08)
        out.append(bare(line) + b"\r\n" if on and end_of(line) else line)
    one = _with(file, out)
    return one if 3 < sum(line.endswith(b"\r\n") for line in out) < len(out) - 3 else None


def no_end(rng, file):
    """Without an end of the last line."""
    lines = list(file.lines)
    while lines and not has_word(lines[-1]):
        lines.pop()
    return _with(file, lines[:-1] + [bare(lines[-1])]) if len(lines) > 10 else None


def mark(rng, file):
    """With a byte-order mark."""
    return _with(file, [b"\xef\xbb\xbf" + file.data])


def tabs(rng, file):
    """Indented by tabs, a level each."""
    units = [len(indent_of(line)) for line in file.lines if line[:1] == b" " and bare(line).strip()]
    if len(units) < 5 or b"\t" in file.data:
        return None
    unit = min(units)
    if unit not in (2, 4) or sum(n % unit for n in units):
        return None
    return _with(
        file,
        [b"\t" * (len(indent_of(line)) // unit) + line[len(indent_of(line)) // unit * unit :] for line in file.lines],
    )


def trailing(rng, file):
    """Blanks at the end of some lines."""
    lines = [
        bare(line) + rng.choice([b" ", b"  ", b"\t"]) + end_of(line)
        if rng.random() < 0.2 and bare(line).strip()
        else line
        for line in file.lines
    ]
    return _with(file, lines)


LOOKALIKES = {b"'": "\u2019".encode(), b'"': "\u201d".encode(), b"-": "\u2013".encode(), b" ": "\u00a0".encode()}


def lookalikes(rng, file):
    """Typographic quotes, dashes and spaces in some lines."""
    out = []
    for line in file.lines:
        depth = len(indent_of(line))
        if rng.random() < 0.3 and has_word(line):
            char = rng.choice(list(LOOKALIKES))
            line = line[:depth] + line[depth:].replace(char, LOOKALIKES[char])
        out.append(line)
    one = _with(file, out)
    return one if one.data != file.data else None


def lone_cr(rng, file):
    """A CR within some lines: text of a progress bar, an old Mac's end."""
    return _with(
        file,
        [
            line[: len(line) // 2] + b"\r" + line[len(line) // 2 :] if rng.random() < 0.1 and len(line) > 8 else line
            for line in file.lines
        ],
    )


def long_lines(rng, file):
    """A few lines of more than 4,000 bytes: data, minified text."""
    out = list(file.lines)
    for _ in range(4):
        at = spot(rng, file)
        if at is not None:
            out[at] = (
                bare(out[at])
                + b"  "
                + b",".join(b"0x%04x" % rng.randrange(65536) for _ in range(700))
                + end_of(out[at])
            )
    return _with(file, out)


def unseen(rng, file):
    """Characters that no screen shows, in some lines."""
    out = []
    for line in file.lines:
        word = WORD.search(line) if rng.random() < 0.3 else None
        out.append(line[: word.end()] + "\u200b".encode() + line[word.end() :] if word else line)
    one = _with(file, out)
    return one if one.data != file.data else None


def accents(rng, file):
    """Letters outside of ASCII, composed or not."""
    out = []
    for line in file.lines:
        word = WORD.search(line) if rng.random() < 0.4 else None
        letter = rng.choice(["\u00e9", "e\u0301", "\u4e16\u754c", "\U0001f600", "\u00df"]).encode()
        out.append(line[: word.end()] + letter + line[word.end() :] if word else line)
    return _with(file, out)


PROPERTIES = {
    f.__name__: f for f in (crlf, mixed, no_end, mark, tabs, trailing, lookalikes, lone_cr, long_lines, unseen, accents)
}
