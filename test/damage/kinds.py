# SPDX-License-Identifier: Apache-2.0
"""The table of damages, and the draft on which they work.

A kind is a function that takes a Draft (a correct diff, still in parts) and a random source,
damages it, and returns False if it found nothing to damage.  To add one: write it in one of
the damage_*.py files with the @kind line above it; table, tests and docs follow.

Groups, and what is demanded of each case:
    RECOVER   the result still follows from the diff: right, in 99 % of the cases at least
    REFUSE    the base is not what the diff says, or the diff says nothing: refused, always
    EFFORT    a careful reader could get it right, or refuse, or take it at its word
    OPTIONAL  encodings of the text rather than damages of the diff: the same is demanded

To take a damaged diff at its word (literal.py) is to place it rightly, to keep the base's other
bytes, and to write the added lines as the damaged diff gives them.

A RECOVER case that the oracle finds undetermined (two places fit and nothing says which, or the
number is nearer to a place that nearly fits, which may be the true one, changed since) is
demanded to be right or refused.  Where the damage makes just the text that another change, made
and damaged otherwise, would have (a number that names another fitting place, indentation of
which nothing shows whether the added lines have it too), the case is called misled and is left
out: no reader could know.
"""

import random
from dataclasses import dataclass
from typing import Callable, Optional

import literal
import model
import oracle

RECOVER, REFUSE, EFFORT, OPTIONAL = "recoverable", "refused", "best effort", "optional"
RIGHT, REFUSED, EITHER, MISLED = "right", "refused", "either", "misled"

KINDS = []


@dataclass(frozen=True)
class Kind:
    name: str
    group: str
    function: Callable
    composable: bool   # may be combined with others


@dataclass(frozen=True)
class Case:
    kind: str
    group: str
    name: str               # of the triple
    path: str
    base: bytes
    diff: bytes
    truth: Optional[bytes]  # None: there is none, it must be refused
    demand: str
    literal: literal.Said   # the results that take the damaged diff at its word


def kind(name, group, composable=False):
    def register(function):
        KINDS.append(Kind(name, group, function, composable))
        return function
    return register


class Draft:
    """A diff being damaged, and what is known about it."""

    def __init__(self, change, rng, others=()):
        self.rng = rng
        self.others = others                 # other triples, for damages that mix
        self.level = oracle.EXACT            # the folding needed to read the old lines
        self.ordered = True                  # hunks still come in the base's order
        self.order = None                    # if not, the true hunk that stands at each place
        self.demand = None                   # set by a kind that knows better than the oracle
        self.after = []                      # functions bytes -> bytes on the printed diff
        self.base_bytes = None               # the base, when it is not change.base
        self.truth_bytes = None
        self.counts_lost = False             # the ends of hunks have to be guessed
        self.reset(change)

    def reset(self, change):
        """Starts again from another change."""
        self.change = change
        self.said = change                   # what the diff's lines say, if not the true change
        self.text = change.print()
        self.numbers = [hunk.at for hunk in change.hunks]

    def each_line(self, tags, function):
        """Applies function(text) to the raw lines with these markers; True if any changed.
        The text has neither marker nor line feed; a CR at its end is kept apart."""
        changed = False
        for hunk in self.text.hunks:
            for i, raw in enumerate(hunk.lines):
                if raw[:1] and raw[:1] in tags:
                    body, cr = (raw[1:-1], b"\r") if raw.endswith(b"\r") else (raw[1:], b"")
                    hunk.lines[i] = raw[:1] + function(body) + cr
                    changed = changed or hunk.lines[i] != raw
        return changed

    def needs(self, level):
        self.level = max(self.level, level)

    def diff(self):
        diff = self.text.bytes()
        for function in self.after:
            diff = function(diff)
        return diff

    def truth(self):
        return self.change.result() if self.truth_bytes is None else self.truth_bytes

    def _looks_ordered(self):
        """Whether the hunks were moved and nothing shows it: no number runs backwards."""
        if self.ordered or self.order is None:
            return False
        stated = [self.numbers[i] for i in self.order if self.numbers[i] is not None]
        return stated == sorted(stated)

    def judge(self, group):
        """What to demand of the finished case."""
        if self.demand:
            return self.demand
        if group == REFUSE:
            return REFUSED
        verdict = oracle.judge(self.change, self.level, self.numbers, self.ordered)
        if verdict.misled or (verdict.ways > 1 and self._looks_ordered()):
            return MISLED
        if group != RECOVER or not verdict.determined:
            return EITHER
        if self.counts_lost and looks_like_header(self.text):
            return EITHER
        return RIGHT


def looks_like_header(text):
    """Whether a hunk holds lines that could be taken for headers once the counts are lost."""
    words = (b"--- ", b"+++ ", b"@@", b"diff ", b"-- ", b"```", b"~~~", b"index ")
    for hunk in text.hunks:
        for raw in hunk.lines:
            if raw.startswith(words[:3]) or raw[1:].strip().startswith(words) or raw == b"-- ":
                return True
    return False


def parse(triple, context):
    """The Change of a triple with "U3" or "U10" lines of context."""
    return model.Change.parse(triple.base, triple.diffs[context], triple.path)


# Kinds that were renamed: their cases are drawn by the names that they had, so that figures can be compared.
DRAWN_BY = {
    "context: indentation removed": "context: indentation gone",
    "context and removed lines: indentation removed": "context and removed lines: indentation gone",
    "base moved on: a line of the hunk was deleted": "base moved on: a line of the hunk is gone",
    "base moved on: all the removed lines are missing": "base moved on: all the removed lines are gone",
}


def drawn_by(entry):
    return DRAWN_BY.get(entry.name, entry.name)


def make_case(entry, triple, others, seed):
    """The case of this kind for this triple, or None when there is nothing to damage."""
    rng = random.Random("%s/%s/%s" % (drawn_by(entry), triple.name, seed))
    draft = Draft(parse(triple, rng.choice(("U3", "U10"))), rng, others)
    if entry.function(draft, rng) is False:
        return None
    base = draft.change.base_bytes() if draft.base_bytes is None else draft.base_bytes
    demand = draft.judge(entry.group)
    truth = None if demand == REFUSED else draft.truth()
    if truth == base:
        return None
    at_its_word = entry.group in (EFFORT, OPTIONAL) and demand == EITHER
    said = literal.said(draft) if at_its_word else literal.NOTHING
    return Case(entry.name, entry.group, triple.name, draft.change.path, base, draft.diff(),
                truth, demand, said)


def load_all():
    """Imports every file of damages; returns the table."""
    if not KINDS:
        import damage_numbers, damage_lines, damage_wrap, damage_places, damage_stale  # noqa
        import damage_optional, damage_mixed  # noqa: F401,E401
    return KINDS
