# SPDX-License-Identifier: Apache-2.0
"""Several damages at once, as they come in life."""

import kinds
from kinds import RECOVER, REFUSE, EFFORT, kind


def _family(name):
    """Damages of one family would overwrite each other."""
    for words, family in ((("numbers", "counts"), "numbers"),
                          (("fence", "signature", "blank lines after"), "wrap")):
        if name.startswith(words):
            return family
    return name.split(":")[0]


def _mix(draft, rng, count):
    """Applies `count` composable damages, in the order of the table (headers, lines, wraps)."""
    pool = [entry for entry in kinds.KINDS if entry.composable]
    done = 0
    families = set()
    for entry in sorted(rng.sample(pool, min(len(pool), 2 * count)), key=pool.index):
        family = _family(entry.name)
        if done < count and family not in families and entry.function(draft, rng) is not False:
            families.add(family)
            done += 1
    if draft.counts_lost and "wrap" in families:
        # Text after hunks without counts: a careful reader may take it for context.
        draft.demand = None if _tail_is_plain(draft) else kinds.EITHER
    return done == count


def _tail_is_plain(draft):
    """Whether what follows the last hunk cannot be part of it."""
    return not any(mark in draft.diff() for mark in (b"\n-- \n",))


@kind("two damages", RECOVER)
def two(draft, rng):
    return _mix(draft, rng, 2)


@kind("three damages", RECOVER)
def three(draft, rng):
    return _mix(draft, rng, 3)


def _anything(draft, rng, count):
    """Recoverable damages of any kind, one upon the other.  Together they may destroy what each
    alone leaves, so nothing but right or refused can be demanded."""
    not_mixed = ("two", "three", "a new file", "a file", "every line", "undamaged",
                 "overlapping", "the diff's own", "file header: +++ only, repeated")
    pool = [entry for entry in kinds.KINDS
            if entry.group == RECOVER and not entry.name.startswith(not_mixed)]
    done, families = 0, set()
    for entry in rng.sample(pool, 4 * count):
        if done < count and _family(entry.name) not in families:
            families.add(_family(entry.name))
            done += entry.function(draft, rng) is not False
    draft.demand = draft.demand or kinds.EITHER
    verdict = kinds.oracle.judge(draft.change, draft.level, draft.numbers, draft.ordered)
    if verdict.misled or not verdict.determined and verdict.ways != 1:
        draft.demand = kinds.MISLED
    return done == count


@kind("two damages of any kind", EFFORT)
def any_two(draft, rng):
    return _anything(draft, rng, 2)


@kind("four damages of any kind", EFFORT)
def any_four(draft, rng):
    return _anything(draft, rng, 4)


@kind("two damages and a stale line", REFUSE)
def stale_too(draft, rng):
    import damage_stale
    if not damage_stale._stale_line(draft, rng, b" -", damage_stale._older_word):
        return False
    if not _mix(draft, rng, 2):
        return False
    draft.demand = kinds.REFUSED
    return True
