# SPDX-License-Identifier: Apache-2.0
"""Single-file diffs as data: read a correct one, change it, print it.

    change = Change.parse(base, diff)        # diff: as `git diff` prints it, exact
    change.result()                          # the bytes that the diff makes of the base
    text = change.print()                    # a Text: headers and raw lines, to be damaged
    text.bytes()

A line keeps its ending (LF, CRLF as CR + LF, or none at the end of the file).
Places are 0-based indices of base lines.  Nothing here tolerates anything: what is read
was made by a diff program from both sides, and result() is checked against the new side.
"""

import re
from dataclasses import dataclass, field, replace

HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$")
NO_NEWLINE = b"\\ No newline at end of file"


def split_lines(text):
    """Lines with their endings; LF ends a line, CR alone does not."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


@dataclass(frozen=True)
class Hunk:
    at: int          # index of the first old line; where to insert when there is none
    lines: tuple     # of (tag, text): tag is b" ", b"-" or b"+", text with its ending
    heading: bytes = b""

    def old(self):
        return [text for tag, text in self.lines if tag != b"+"]

    def new(self):
        return [text for tag, text in self.lines if tag != b"-"]

    def edges(self):
        """How many context lines there are before the first and after the last change."""
        tags = [tag for tag, _ in self.lines]
        changed = [i for i, tag in enumerate(tags) if tag != b" "]
        return (changed[0], len(tags) - 1 - changed[-1]) if changed else (len(tags), 0)

    def cut(self, before, after):
        """The same change with at most so many lines of context at its two ends."""
        head, tail = self.edges()
        drop, keep = max(0, head - before), len(self.lines) - max(0, tail - after)
        return replace(self, at=self.at + drop, lines=self.lines[drop:keep])

    def mapped(self, function, tags=b" -+"):
        """With function(text) in place of each text whose tag is among `tags`."""
        return replace(self, lines=tuple((tag, function(text) if tag in tags else text)
                                         for tag, text in self.lines))


@dataclass
class Printed:
    """One hunk of a printed diff: its header and its raw lines, without line feeds."""
    header: bytes
    lines: list
    index: int = -1   # of the change's hunk that it prints, wherever it is moved


@dataclass
class Text:
    """A printed diff, still in parts."""
    prelude: list                 # lines before the first hunk
    hunks: list                   # of Printed
    tail: list = field(default_factory=list)

    def lines(self):
        out = list(self.prelude)
        for hunk in self.hunks:
            out.append(hunk.header)
            out += hunk.lines
        return out + self.tail

    def bytes(self):
        return b"".join(line + b"\n" for line in self.lines())


def print_line(tag, text):
    """A diff line, and the marker after it when the text has no line feed."""
    if text.endswith(b"\n"):
        return [tag + text[:-1]]
    return [tag + text, NO_NEWLINE]


def header(old_at, old_count, new_at, new_count, heading=b""):
    """A hunk header. Starts are 0-based; an empty side names the line before, as POSIX says."""
    def side(sign, at, count):
        at += 1 if count else 0
        return b"%s%d" % (sign, at) + (b"" if count == 1 else b",%d" % count)
    return b"@@ %s %s @@" % (side(b"-", old_at, old_count), side(b"+", new_at, new_count)) + \
        (b" " + heading if heading else b"")


@dataclass
class Change:
    """A base, and the hunks of a correct diff against it."""
    base: list
    hunks: list
    path: str = "file"

    @classmethod
    def parse(cls, base, diff, path="file"):
        lines = diff.split(b"\n")
        hunks, i = [], 0
        while i < len(lines):
            match = HEADER.match(lines[i])
            i += 1
            if match:
                hunk, i = _parse_hunk(match, lines, i)
                hunks.append(hunk)
        return cls(split_lines(base), hunks, path)

    def result(self):
        out, at = [], 0
        for hunk in self.hunks:
            assert hunk.at >= at, "hunks overlap"
            assert self.base[hunk.at:hunk.at + len(hunk.old())] == hunk.old(), "not this base"
            out += self.base[at:hunk.at] + hunk.new()
            at = hunk.at + len(hunk.old())
        return b"".join(out + self.base[at:])

    def base_bytes(self):
        return b"".join(self.base)

    def headers(self):
        """The header of each hunk."""
        shift, out = 0, []
        for hunk in self.hunks:
            old, new = len(hunk.old()), len(hunk.new())
            out.append(header(hunk.at, old, hunk.at + shift, new, hunk.heading))
            shift += new - old
        return out

    def print(self, prelude=None):
        if prelude is None:
            name = self.path.encode("utf-8", "surrogateescape")
            prelude = [b"--- a/" + name, b"+++ b/" + name]
        return Text(list(prelude), [
            Printed(head, [raw for tag, text in hunk.lines for raw in print_line(tag, text)], i)
            for i, (head, hunk) in enumerate(zip(self.headers(), self.hunks))])

    def with_hunks(self, hunks):
        return Change(self.base, list(hunks), self.path)

    def inserted(self, at, lines):
        """The same change to a base that has `lines` more before line `at` (outside hunks)."""
        hunks = [replace(h, at=h.at + len(lines)) if h.at >= at else h for h in self.hunks]
        return Change(self.base[:at] + list(lines) + self.base[at:], hunks, self.path)

    def mapped(self, function):
        """With function(line) in place of every line of the base and of the diff."""
        return Change([function(line) for line in self.base],
                      [hunk.mapped(function) for hunk in self.hunks], self.path)


def _parse_hunk(match, lines, i):
    start, old = int(match[1]), int(match[2] or 1)
    new = int(match[4] or 1)
    at, out = start - 1 if old else start, []
    while old or new:
        tag, text = lines[i][:1], lines[i][1:] + b"\n"
        old -= tag in b" -"
        new -= tag in b" +"
        i += 1
        if lines[i:i + 1] and lines[i].startswith(b"\\"):
            text = text[:-1]
            i += 1
        out.append((tag, text))
    return Hunk(at, tuple(out), match[5]), i
