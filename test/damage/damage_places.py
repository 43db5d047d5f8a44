# SPDX-License-Identifier: Apache-2.0
"""Damages that make the place doubtful: repeated blocks, context cut, split or merged."""

import dataclasses

import model
import oracle
from kinds import RECOVER, REFUSE, EFFORT, EITHER, RIGHT, kind


def _free_gaps(change, margin):
    """Indices between lines that are at least `margin` lines away from every hunk."""
    taken = set()
    for hunk in change.hunks:
        taken.update(range(hunk.at - margin + 1, hunk.at + len(hunk.old()) + margin))
    return [at for at in range(len(change.base)) if at not in taken]


def _ends_lines(hunk):
    """Whether neither side of the hunk ends without a line feed, which marks the file's end."""
    return all(text.endswith(b"\n") for _, text in hunk.lines)


def _without_headings(change):
    """A copy may stand between a place and the function that git names for it."""
    return change.with_hunks([dataclasses.replace(h, heading=b"") for h in change.hunks])


def _repeat(draft, rng, times, only=None):
    """Copies the old block of one hunk elsewhere into the base; its index, or None."""
    change = draft.change
    i = rng.randrange(len(change.hunks)) if only is None else only
    block = change.hunks[i].old()
    if not block or len(block) > 400 or not _ends_lines(change.hunks[i]):
        return None
    for _ in range(times):
        gaps = _free_gaps(change, 2)
        if not gaps:
            return None
        change = change.inserted(rng.choice(gaps), block)
    draft.reset(_without_headings(change))
    return i


@kind("repeated block, number right", RECOVER)
def repeated(draft, rng):
    return _repeat(draft, rng, rng.randint(1, 3)) is not None


@kind("repeated block next to it, number right", RECOVER)
def repeated_near(draft, rng):
    change = draft.change
    i = rng.randrange(len(change.hunks))
    hunk = change.hunks[i]
    if not hunk.old() or not _ends_lines(hunk):
        return False
    end = hunk.at + len(hunk.old())
    following = change.hunks[i + 1].at if i + 1 < len(change.hunks) else len(change.base) + 1
    at = rng.choice([hunk.at, end]) if end <= following else hunk.at
    if at == end and end >= following:
        return False
    draft.reset(_without_headings(change.inserted(at, hunk.old())))
    return True


def _silent(draft):
    """Takes all numbers away."""
    for k, printed in enumerate(draft.text.hunks):
        printed.header = b"@@ @@"
        draft.numbers[k] = None
    draft.counts_lost = True


def _same_result(draft):
    """Whether it makes no difference where the only hunk goes."""
    places = oracle.Places(draft.change.base)
    hunk = draft.change.hunks[0]
    results = set()
    for at in places.of(hunk.old(), draft.level)[:50]:
        base = draft.change.base
        results.add(b"".join(base[:at] + hunk.new() + base[at + len(hunk.old()):]))
    return len(results) == 1


@kind("repeated block, no number", REFUSE)
def repeated_absent(draft, rng):
    """One hunk only: with several, their order may settle it."""
    draft.reset(draft.change.with_hunks([rng.choice(draft.change.hunks)]))
    if _repeat(draft, rng, rng.randint(1, 3), only=0) is None or _same_result(draft):
        return False
    _silent(draft)
    return True


@kind("repeated block, number of neither", EFFORT)
def repeated_wrong(draft, rng):
    draft.reset(draft.change.with_hunks([rng.choice(draft.change.hunks)]))
    if _repeat(draft, rng, rng.randint(1, 3), only=0) is None:
        return False
    from damage_numbers import renumber
    renumber(draft, lambda hunk, old, new: (len(draft.change.base) + 40,) * 2)
    return True


@kind("repeated block, halfway between two", REFUSE)
def repeated_between(draft, rng):
    hunk = rng.choice(draft.change.hunks)
    block = hunk.old()
    change = draft.change.with_hunks([hunk])
    end = hunk.at + len(block)
    if not block or not _ends_lines(hunk) or len(block) > 60:
        return False
    gap = [b"/* %d */\n" % n for n in range(10)]
    change = change.inserted(end, gap + block) if end < len(change.base) else None
    if change is None:
        return False
    draft.reset(change)
    if _same_result(draft):
        return False
    middle = hunk.at + (len(gap) + len(block)) // 2
    places = oracle.Places(change.base).of(block, oracle.EXACT)
    if middle in places:
        return False
    draft.text.hunks[0].header = model.header(middle, len(block), middle, len(hunk.new()))
    return True


@kind("repeated blocks all changed, in order, no numbers", RECOVER)
def repeated_all(draft, rng):
    """Every one of the copies has its hunk: the order says which is which."""
    hunk = rng.choice(draft.change.hunks)
    block = hunk.old()
    if not block or not _ends_lines(hunk):
        return False
    change = draft.change.with_hunks([hunk])
    gaps = [at for at in _free_gaps(change, 2) if at > hunk.at]
    if not gaps:
        return False
    at = rng.choice(gaps)
    change = change.inserted(at, block)
    change.hunks.append(dataclasses.replace(hunk, at=at))
    draft.reset(change)
    _silent(draft)
    return True


# ---- order against numbers -------------------------------------------------------------

def _twice_changed(draft, rng):
    """Two equal blocks, each changed by a hunk of its own, differently."""
    hunk = dataclasses.replace(rng.choice(draft.change.hunks), heading=b"")
    block = hunk.old()
    if not block or not _ends_lines(hunk) or len(block) > 400:
        return False
    change = draft.change.with_hunks([hunk])
    gaps = [at for at in _free_gaps(change, 2) if at > hunk.at]
    if not gaps:
        return False
    at = rng.choice(gaps)
    change = change.inserted(at, block)
    lines = list(hunk.lines)
    last = max(i for i, (tag, _) in enumerate(lines) if tag != b" ")
    lines.insert(last + 1, (b"+", b"made up\n"))
    change.hunks.append(dataclasses.replace(hunk, at=at, lines=tuple(lines)))
    draft.reset(change)
    return len(oracle.Places(change.base).of(block, oracle.EXACT)) == 2


def _exchange_headers(draft, i, j):
    one, other = draft.text.hunks[i], draft.text.hunks[j]
    one.header, other.header = other.header, one.header


@kind("two equal blocks both changed, numbers exchanged", REFUSE)
def exchanged(draft, rng):
    """Order and numbers each name one place for each hunk, and not the same."""
    if not _twice_changed(draft, rng):
        return False
    _exchange_headers(draft, 0, 1)
    return True


@kind("two equal blocks both changed, hunks exchanged", REFUSE)
def hunks_exchanged(draft, rng):
    """The same contradiction, come about the other way."""
    if not _twice_changed(draft, rng):
        return False
    draft.text.hunks.reverse()
    return True


@kind("repeated block, hunks shuffled, numbers right", EFFORT)
def repeated_shuffled(draft, rng):
    from damage_wrap import _shuffle
    return _repeat(draft, rng, rng.randint(1, 3)) is not None and _shuffle(draft, rng)


@kind("repeated block, numbers of two hunks exchanged", EFFORT)
def repeated_exchanged(draft, rng):
    if _repeat(draft, rng, rng.randint(1, 3)) is None or len(draft.text.hunks) < 2:
        return False
    i, j = rng.sample(range(len(draft.text.hunks)), 2)
    _exchange_headers(draft, i, j)
    draft.numbers[i], draft.numbers[j] = draft.numbers[j], draft.numbers[i]
    return True


@kind("repeated block, hunks shuffled, numbers random", EFFORT)
def repeated_shuffled_random(draft, rng):
    from damage_numbers import random_numbers
    from damage_wrap import _shuffle
    return _repeat(draft, rng, rng.randint(1, 3)) is not None and \
        random_numbers(draft, rng) and _shuffle(draft, rng)


# ---- amount of context -----------------------------------------------------------------

def _cut(before, after, silent):
    def damage(draft, rng):
        hunks = [hunk.cut(before, after) for hunk in draft.change.hunks]
        if hunks == draft.change.hunks:
            return False
        # A hunk that begins later may be in another function than its heading says.
        draft.reset(_without_headings(draft.change.with_hunks(hunks)))
        if not all(hunk.old() for hunk in hunks):
            draft.demand = EITHER  # only its number says where such a hunk belongs
        if silent:
            _silent(draft)
        return True
    return damage


for _n in (2, 1):
    kind("context cut to %d, numbers right" % _n, RECOVER)(_cut(_n, _n, False))
    kind("context cut to %d, numbers absent" % _n, RECOVER)(_cut(_n, _n, True))
kind("context cut to none, numbers right", EFFORT)(_cut(0, 0, False))
kind("context cut to none, numbers absent", EFFORT)(_cut(0, 0, True))
kind("context only before, numbers right", RECOVER)(_cut(99, 0, False))
kind("context only after, numbers right", RECOVER)(_cut(0, 99, False))
kind("context only before, numbers absent", RECOVER)(_cut(99, 0, True))
kind("context only after, numbers absent", RECOVER)(_cut(0, 99, True))


def _cut_wrong(n, family):
    def damage(draft, rng):
        import damage_numbers
        _cut(n, n, False)(draft, rng)
        draft.demand = None if all(h.old() for h in draft.change.hunks) else EITHER
        return getattr(damage_numbers, family)(draft, rng)
    return damage


# Little context and wrong numbers: where a reader that takes the nearest place goes wrong.
for _n in (2, 1):
    for _family, _words in (("constant", "numbers shifted"), ("off_by_few", "numbers off by a few"),
                            ("all_one", "numbers all 1"), ("in_result", "numbers of the result"),
                            ("wrong_counts", "counts wrong")):
        kind("context cut to %d, %s" % (_n, _words), RECOVER)(_cut_wrong(_n, _family))


@kind("context far wider than needed", RECOVER)
def wide(draft, rng):
    change, hunks = draft.change, []
    for i, hunk in enumerate(change.hunks):
        floor = hunks[-1].at + len(hunks[-1].old()) if hunks else 0
        ceiling = change.hunks[i + 1].at if i + 1 < len(change.hunks) else len(change.base)
        end = hunk.at + len(hunk.old())
        at, stop = max(floor, hunk.at - rng.randint(0, 40)), min(ceiling, end + rng.randint(0, 40))
        lines = [(b" ", x) for x in change.base[at:hunk.at]] + list(hunk.lines) + \
            [(b" ", x) for x in change.base[end:stop]]
        hunks.append(dataclasses.replace(hunk, at=at, lines=tuple(lines)))
    draft.reset(change.with_hunks(hunks))
    return True


def _split_point(hunk):
    """An index of context inside the hunk, with changes on both sides; None if there is none."""
    tags = [tag for tag, _ in hunk.lines]
    changed = [i for i, tag in enumerate(tags) if tag != b" "]
    for left, right in zip(changed, changed[1:]):
        if right - left >= 2:
            return left + 1, right
    return None


def _parts(hunk):
    """The hunk cut in two between changes; both keep the context between them."""
    point = _split_point(hunk)
    if point is None:
        return None
    first_end, second_start = point
    head = dataclasses.replace(hunk, lines=hunk.lines[:second_start])
    skipped = sum(tag != b"+" for tag, _ in hunk.lines[:first_end])
    tail = dataclasses.replace(hunk, at=hunk.at + skipped, lines=hunk.lines[first_end:])
    return head, tail


def _split(draft):
    """Prints splittable hunks as two that share context; the model keeps the true hunks."""
    out, numbers, shift, changed = [], [], 0, False
    for hunk in draft.change.hunks:
        parts = _parts(hunk)
        changed = changed or parts is not None
        for part in parts or [hunk]:
            old, new = len(part.old()), len(part.new())
            printed = draft.change.with_hunks([part]).print().hunks[0]
            printed.header = model.header(part.at, old, part.at + shift, new, part.heading)
            out.append(printed)
            numbers.append(part.at)
            shift += new - old
    draft.text.hunks = out
    return changed


@kind("overlapping context between hunks, numbers right", RECOVER)
def overlapping(draft, rng):
    return _split(draft)


@kind("overlapping context between hunks, numbers absent", RECOVER)
def overlapping_absent(draft, rng):
    if not _split(draft):
        return False
    hunks = [p for h in draft.change.hunks for p in (_parts(h) or [h])]
    for printed in draft.text.hunks:
        printed.header = b"@@"
    draft.counts_lost = True
    # The oracle wants the parts, not the whole hunks that truth() is made from.
    verdict = oracle.judge(draft.change.with_hunks(hunks))
    if not verdict.determined:
        draft.demand = EITHER
    return True


@kind("second hunk shows what the first one removes", EFFORT)
def shows_old(draft, rng):
    """Both hunks are against the base, each with wide context that covers the other."""
    return _covering(draft, lambda tag, text: [(b" ", text)] if tag != b"+" else [])


@kind("second hunk shows what the first one adds", EFFORT)
def shows_new(draft, rng):
    """The second hunk is written against the state that the first one leaves."""
    return _covering(draft, lambda tag, text: [(b" ", text)] if tag != b"-" else [])


def _covering(draft, view):
    i = next((i for i, h in enumerate(draft.change.hunks) if _split_point(h)), None)
    if i is None:
        return False
    hunk = draft.change.hunks[i]
    draft.reset(draft.change.with_hunks([hunk]))
    first_end, _ = _split_point(hunk)
    head = hunk.lines[:first_end]
    _, second_start = _split_point(hunk)
    first = dataclasses.replace(hunk, lines=hunk.lines[:second_start])
    again = tuple(pair for tag, text in head for pair in view(tag, text))
    second = dataclasses.replace(hunk, lines=again + hunk.lines[first_end:])
    prints = []
    for part in (first, second):
        printed = draft.change.with_hunks([hunk]).print().hunks[0]
        printed.header = model.header(hunk.at, len(part.old()), hunk.at, len(part.new()))
        printed.lines = [raw for t, x in part.lines for raw in model.print_line(t, x)]
        prints.append(printed)
    draft.text.hunks = prints
    return True


@kind("hunks merged, the lines between filled in", RECOVER)
def merged(draft, rng):
    change = draft.change
    if len(change.hunks) < 2:
        return False
    i = rng.randrange(len(change.hunks) - 1)
    one, two = change.hunks[i:i + 2]
    between = change.base[one.at + len(one.old()):two.at]
    if len(between) > 200:
        return False
    lines = one.lines + tuple((b" ", x) for x in between) + two.lines
    hunks = change.hunks[:i] + [dataclasses.replace(one, lines=lines)] + change.hunks[i + 2:]
    draft.reset(change.with_hunks(hunks))
    return True


@kind("hunks merged, the lines between left out", EFFORT)
def merged_gap(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    i = rng.randrange(len(draft.text.hunks) - 1)
    draft.text.hunks[i].lines += draft.text.hunks[i + 1].lines
    del draft.text.hunks[i + 1]
    draft.demand = EITHER
    return True


@kind("a line of context in the middle left out", EFFORT)
def elided(draft, rng):
    spots = [(h, i) for h in draft.text.hunks for i, raw in enumerate(h.lines)
             if raw[:1] == b" " and 0 < i < len(h.lines) - 1 and raw.strip()]
    if not spots:
        return False
    hunk, i = rng.choice(spots)
    del hunk.lines[i]
    shorter = [raw[1:] + b"\n" for raw in hunk.lines if raw[:1] in (b" ", b"-")]
    if oracle.Places(draft.change.base).of(shorter, oracle.LOOKALIKE):
        return False  # what is left is a correct diff of another change
    draft.demand = EITHER
    return True


def _function_line(name):
    return b"int made_up_%s(void)\n" % name


@kind("repeated block, no number, heading right", RECOVER)
def repeated_heading(draft, rng):
    """The two copies are in two functions, and the @@ line names the right one."""
    return _in_functions(draft, rng, b"first")


@kind("repeated block, no number, heading of another function", REFUSE)
def repeated_heading_wrong(draft, rng):
    return _in_functions(draft, rng, b"third")


def _in_functions(draft, rng, named):
    hunk = dataclasses.replace(rng.choice(draft.change.hunks), heading=b"")
    block = hunk.old()
    if not block or not _ends_lines(hunk) or len(block) > 60:
        return False
    if any(x[:1].isalpha() or x[:1] in b"_$#@." for x in block if x.strip()):
        return False  # such a line could itself be taken for a heading
    change = draft.change.with_hunks([hunk])
    change = change.inserted(hunk.at, [_function_line(b"first"), b"{\n"])
    end = change.hunks[0].at + len(block)
    change = change.inserted(end, [b"}\n", b"\n", _function_line(b"second"), b"{\n"] + block)
    draft.reset(change)
    if _same_result(draft):
        return False
    _silent(draft)
    draft.text.hunks[0].header = b"@@ @@ int made_up_%s(void)" % named
    draft.demand = RIGHT if named == b"first" else None
    return len(oracle.Places(change.base).of(block, oracle.EXACT)) == 2


@kind("repeated block, numbers shifted", EFFORT)
def repeated_shifted(draft, rng):
    """All headers are off by the same: the hunks that fit one place only tell by how much."""
    from damage_numbers import constant
    return _repeat(draft, rng, rng.randint(1, 3)) is not None and constant(draft, rng)


@kind("repeated block, number off by a few", EFFORT)
def repeated_few(draft, rng):
    from damage_numbers import off_by_few
    return _repeat(draft, rng, rng.randint(1, 3)) is not None and off_by_few(draft, rng)


@kind("repeated block that differs in white space, number right", RECOVER)
def repeated_indented(draft, rng):
    """The copy fits exactly only at another depth: exact comes before folded."""
    change = draft.change
    hunk = rng.choice(change.hunks)
    block = [b"\t" + x if x.strip() else x for x in hunk.old()]
    gaps = _free_gaps(change, 2)
    if not gaps or not block or block == hunk.old() or not _ends_lines(hunk):
        return False
    draft.reset(_without_headings(change.inserted(rng.choice(gaps), block)))
    return True


@kind("repeated block that differs in white space, no number", RECOVER)
def repeated_indented_absent(draft, rng):
    if not repeated_indented(draft, rng):
        return False
    _silent(draft)
    return True


# ---- whole files -----------------------------------------------------------------------

def _whole(draft, old, new):
    tagged = [(b"-", x) for x in old] + [(b"+", x) for x in new]
    draft.reset(model.Change(list(old), [model.Hunk(0, tuple(tagged))], draft.change.path))
    return len(tagged) <= 4000 and bool(tagged)


@kind("a new file", RECOVER)
def new_file(draft, rng):
    if not _whole(draft, [], draft.change.base):
        return False
    draft.text.prelude[0] = b"--- /dev/null"
    return True


@kind("a new file, numbers absent", RECOVER)
def new_file_absent(draft, rng):
    if not _whole(draft, [], draft.change.base):
        return False
    _silent(draft)
    draft.counts_lost = False
    return True


@kind("a new file, counts wrong", RECOVER)
def new_file_counts(draft, rng):
    if not _whole(draft, [], draft.change.base):
        return False
    n = len(draft.change.hunks[0].lines)
    draft.text.hunks[0].header = b"@@ -%d,0 +1,%d @@" % (rng.choice([0, 1]),
                                                         n + rng.choice([-1, 2]))
    draft.numbers = [None]
    draft.counts_lost = True
    return True


@kind("a file emptied", RECOVER)
def emptied(draft, rng):
    return _whole(draft, draft.change.base, [])


@kind("every line replaced", RECOVER)
def rewritten(draft, rng):
    return _whole(draft, draft.change.base, model.split_lines(draft.change.result()))
