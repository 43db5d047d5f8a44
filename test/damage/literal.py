# SPDX-License-Identifier: Apache-2.0
"""What a damaged diff says word for word, computed from the draft and never by a program.

    said = literal.said(draft)      # a Said
    got in said                     # whether `got` takes the diff at its word

The hunks stand at their true places, every line of the base that they do not remove is kept, and
the added lines have the text that the damaged diff gives them: where nothing shows that they
were damaged, this is no mistake.  Where the diff shows some of the damage, all added lines may
have their true indentation instead, and of the rest of each line every word its true or its
given text; one word, or the indentation of some lines, half repaired is no reading of the diff.
Line endings may be the true ones, the file's or the diff's.  Nothing is in a Said whose draft no
longer has the added lines one by one.
"""

import functools
from dataclasses import dataclass, replace

import model


@dataclass(frozen=True)
class Line:
    """A line of the result: without its ending as it should be, and as the diff gives it."""
    true: bytes
    given: bytes
    endings: frozenset

    def is_near(self, body):
        if _indentation(body) != _indentation(self.true):
            return False
        rest, true, given = (text.lstrip(b" \t") for text in (body, self.true, self.given))
        words, columns = rest.split(b" "), (true.split(b" "), given.split(b" "))
        return rest in (true, given) or len(words) == len(columns[0]) == len(columns[1]) and \
            all(word in choice for word, *choice in zip(words, *columns))


class Said:
    """Its lines are made when somebody asks: most answers are the truth, or a refusal."""

    def __init__(self, base, make):
        self.base, self._make = base, make

    @functools.cached_property
    def lines(self):
        """A tuple of Line, or None."""
        return self._make()

    def __eq__(self, other):
        return (self.base, self.lines) == (other.base, other.lines)

    def __contains__(self, got):
        if got is None or got == self.base or self.lines is None:
            return False
        texts = model.split_lines(got)
        if len(texts) != len(self.lines):
            return False
        pairs = [(line, _body(text)) for line, text in zip(self.lines, texts)]
        return all(_ending(text) in line.endings for line, text in zip(self.lines, texts)) and (
            all(body == line.given for line, body in pairs) or
            all(line.is_near(body) for line, body in pairs))


NOTHING = Said(b"", lambda: None)


def _body(text):
    return text.removesuffix(b"\n").removesuffix(b"\r")


def _ending(text):
    return text[len(_body(text)):]


def _indentation(text):
    return text[:len(text) - len(text.lstrip(b" \t"))]


def _line(text, given=None, endings=frozenset()):
    given = text if given is None else given
    return Line(_body(text), _body(given), endings | {_ending(text), _ending(given)})


def _common_ending(text):
    return b"\r\n" if 2 * text.count(b"\r\n") > text.count(b"\n") else b"\n"


def _added(printed):
    """The added lines of a printed hunk with their endings in the diff."""
    out, last = [], b""
    for raw in printed.lines:
        if raw[:1] == b"+":
            out.append(raw[1:] + b"\n")
        elif raw[:1] == b"\\" and last == b"+":
            out[-1] = out[-1][:-1]
        last = raw[:1]
    return out


def _shown(draft):
    """The added lines of each hunk of draft.said as the diff shows them, hunk by hunk in the
    order of the base; None when they do not correspond."""
    printed = {hunk.index: hunk for hunk in draft.text.hunks}
    out = []
    for index, hunk in enumerate(draft.said.hunks):
        shown = _added(printed[index]) if index in printed else []
        if len(shown) != sum(tag == b"+" for tag, _ in hunk.lines):
            return None
        out.append(shown)
    return out


def _lines(draft, shown, endings):
    """A Line for each line of the result."""
    base, at, out = draft.said.base, 0, []
    for hunk, added in zip(draft.said.hunks, shown):
        out += map(_line, base[at:hunk.at])
        added = iter(added)
        for tag, text in hunk.lines:
            if tag == b"+":
                out.append(_line(text, next(added), endings))
            elif tag == b" ":
                out.append(_line(text))
        at = hunk.at + len(hunk.old())
    return out + list(map(_line, base[at:]))


def _made(draft, shown, plain, base):
    endings = frozenset((_common_ending(plain), _common_ending(draft.diff())))
    lines = _lines(draft, shown, endings)
    if lines and not plain.endswith(b"\n"):
        lines[-1] = replace(lines[-1], endings=lines[-1].endings | {b""})
    if lines and base.endswith(plain):  # a byte-order mark goes before the first line
        mark = base[:len(base) - len(plain)]
        lines[0] = replace(lines[0], true=mark + lines[0].true, given=mark + lines[0].given)
    return tuple(lines)


def said(draft):
    """Of a draft that is finished."""
    shown = _shown(draft)
    if shown is None:
        return NOTHING
    plain = draft.change.base_bytes()
    base = plain if draft.base_bytes is None else draft.base_bytes
    return Said(base, lambda: _made(draft, shown, plain, base))
