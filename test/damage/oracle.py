# SPDX-License-Identifier: Apache-2.0
"""What a damaged diff still says: does it determine one result?

The judge of the tests, written apart from the engine and by brute force: it finds every place
where a hunk's old lines fit the base, with the folding that the damage makes necessary, and
counts the ways to place all hunks.

    places = Places(base_lines)
    places.of(old_lines, LEVEL_EXACT)                # every index where they fit
    judge(change, base_lines, level, numbers, ordered)    # a Verdict
"""

from typing import NamedTuple

EXACT, TRAILING, SPACE, LOOKALIKE = range(4)

_FOLD = {}
for _plain, _codes in (("'", (0x2018, 0x2019, 0x201A, 0x201B, 0x2032, 0x00B4)),
                       ('"', (0x201C, 0x201D, 0x201E, 0x201F, 0x2033)),
                       ("-", (0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212)),
                       ("", (0x00A0, 0x2002, 0x2003, 0x2007, 0x2009, 0x202F, 0x3000))):
    for _code in _codes:
        _FOLD[_code] = _plain

_BLANK = b" \t\r\n\v\f"


def _lookalike(line):
    if not line.isascii():
        folded = line.decode("utf-8", "surrogateescape").translate(_FOLD)
        line = folded.encode("utf-8", "surrogateescape")
    return line.translate(None, _BLANK)


def _folded(lines, level):
    """A whole base at a time: this is what the judge spends its time on."""
    if level == EXACT:
        return [line[:-2] if line[-2:] == b"\r\n" else line[:-1] if line[-1:] == b"\n" else line
                for line in lines]
    if level == TRAILING:
        return [line.rstrip(b" \t\r\n") for line in lines]
    if level == SPACE:
        return [line.translate(None, _BLANK) for line in lines]
    return [_lookalike(line) for line in lines]


class Places:
    """Where runs of lines occur in a base."""

    def __init__(self, base):
        self.base = base
        self._folded = {}

    def _level(self, level):
        if level not in self._folded:
            self._folded[level] = _folded(self.base, level)
        return self._folded[level]

    def of(self, old, level):
        """All indices where `old` fits; for no lines at all every gap between lines."""
        if not old:
            return list(range(len(self.base) + 1))
        lines, wanted = self._level(level), _folded(old, level)
        index = {line: [] for line in wanted}
        for i, line in enumerate(lines):
            if line in index:
                index[line].append(i)
        rarest = min(range(len(wanted)), key=lambda i: len(index[wanted[i]]))
        starts = (i - rarest for i in index[wanted[rarest]])
        return [s for s in starts if s >= 0 and lines[s:s + len(wanted)] == wanted]


class Verdict(NamedTuple):
    determined: bool  # one result follows from what the diff says
    misled: bool      # several places fit, and a number names one that is not the true one
    ways: int         # how many ways there are to place the hunks, numbers aside


def _ways(cores, candidates, ordered):
    """Ways to choose a place for each hunk, in the order of the diff if it is to be trusted."""
    if not ordered:
        total = 1
        for places in candidates:
            total *= len(places)
        return total
    # Hunks may share context but not changed lines: compare first changed to last changed.
    counts = {-1: 1}
    for (first, last), places in zip(cores, candidates):
        following = {}
        for place in places:
            ways = sum(n for end, n in counts.items() if end < place + first)
            if ways:
                end = place + max(first, last)
                following[end] = following.get(end, 0) + ways
        counts = following
    return sum(counts.values())


def _core(hunk):
    """Old-line offsets of the first and the last change; an insertion is before its line."""
    before, _ = hunk.edges()
    after = 0
    for tag, _ in reversed(hunk.lines):
        if tag != b" ":
            break
        after += 1
    return before, len(hunk.old()) - after - 1


NEAR = 40  # lines round a stated number in which a reader would look for the place it names


def _names_another(places, hunk, number, level):
    """Whether the number is nearer to a place where nearly all old lines fit than to the true
    place: then the place may have changed since, and what fits may be only a copy."""
    old = hunk.old()
    if number is None or number == hunk.at or len(old) < 2:
        return False
    lines, wanted = places._level(level), _folded(old, level)
    reach = min(abs(number - hunk.at), NEAR)
    for start in range(max(0, number - reach), min(len(lines) - len(old), number + reach) + 1):
        equal = sum(a == b for a, b in zip(wanted, lines[start:start + len(old)]))
        if start != hunk.at and len(old) > equal >= len(old) - max(1, len(old) // 4):
            return True
    return False


def judge(change, level=EXACT, numbers=None, ordered=True, places=None):
    """The verdict on a diff whose hunks are those of `change` (at their true places), read
    with the folding `level`; numbers: the 0-based place each header states, or None."""
    places = places or Places(change.base)
    candidates = [places.of(hunk.old(), level) for hunk in change.hunks]
    cores = [_core(hunk) for hunk in change.hunks]
    ways = _ways(cores, candidates, ordered)
    if ways == 1:
        doubtful = any(_names_another(places, hunk, number, level) for hunk, number
                       in zip(change.hunks, numbers or ()))
        return Verdict(not doubtful, False, 1)
    misled, kept = False, []
    for hunk, found, number in zip(change.hunks, candidates, numbers or [None] * len(candidates)):
        # Against the order of the hunks a number is no evidence: it could be exchanged.
        if number == hunk.at and (ordered or len(found) == 1):
            kept.append([hunk.at])
            continue
        misled = misled or (number is not None and number != hunk.at and len(found) > 1
                            and number in found)
        kept.append(found)
    return Verdict(not misled and _ways(cores, kept, ordered) == 1, misled, ways)
