# SPDX-License-Identifier: Apache-2.0
"""Damages of hunk headers: wrong and absent numbers and counts."""

import dataclasses

import model
from kinds import RECOVER, EFFORT, kind


@kind("undamaged", RECOVER)
def undamaged(draft, rng):
    return True


def renumber(draft, function):
    """Rewrites headers: function(hunk, old_at, new_at) gives the two starts to state, 0-based
    as model.header takes them."""
    shift = 0
    for i, (hunk, printed) in enumerate(zip(draft.change.hunks, draft.text.hunks)):
        old, new = len(hunk.old()), len(hunk.new())
        stated, stated_new = function(hunk, hunk.at, hunk.at + shift)
        printed.header = model.header(max(stated, 0), old, max(stated_new, 0), new, hunk.heading)
        draft.numbers[i] = max(stated, 0)
        shift += new - old
    return True


def _moved(draft, step):
    """Adds step() to both starts of each hunk, never by nothing."""
    def move(hunk, old, new):
        by = step()
        if by == 0 or old + by < 0:
            by = abs(by) + 1
        return old + by, new + by
    return renumber(draft, move)


@kind("numbers: all shifted by one constant", RECOVER, composable=True)
def constant(draft, rng):
    by = rng.choice([-1, 1]) * rng.choice([1, 2, 3, 7, 20, 55, 140, 400])
    by = abs(by) if draft.change.hunks[0].at + by < 0 else by
    return _moved(draft, lambda: by)


@kind("numbers: random for each hunk", RECOVER, composable=True)
def random_numbers(draft, rng):
    return _moved(draft, lambda: rng.randint(-1, 1) * rng.randint(0, len(draft.change.base) + 9))


@kind("numbers: off by one to four, each its own", RECOVER, composable=True)
def off_by_few(draft, rng):
    return _moved(draft, lambda: rng.choice([-4, -3, -2, -1, 1, 2, 3, 4]))


@kind("numbers: all 1", RECOVER, composable=True)
def all_one(draft, rng):
    return renumber(draft, lambda hunk, old, new: (0, 0))


@kind("numbers: beyond the end", RECOVER)
def beyond(draft, rng):
    end = len(draft.change.base)
    return renumber(draft, lambda hunk, old, new: (end + rng.randint(5, 5000),) * 2)


@kind("numbers: old right, new wrong", RECOVER)
def new_wrong(draft, rng):
    return renumber(draft, lambda hunk, old, new: (old, new + rng.randint(-30, 300)))


@kind("numbers: new right, old wrong", RECOVER)
def old_wrong(draft, rng):
    return renumber(draft, lambda hunk, old, new: (old + rng.choice([-17, -5, 4, 12, 90]), new))


@kind("numbers: counted in the result", RECOVER)
def in_result(draft, rng):
    if len(draft.change.hunks) < 2:
        return False
    return renumber(draft, lambda hunk, old, new: (new, new))


@kind("numbers: each hunk counted after the ones before twice", RECOVER)
def drifting(draft, rng):
    if len(draft.change.hunks) < 2:
        return False
    return renumber(draft, lambda hunk, old, new: (old + 2 * (new - old), new + 2 * (new - old)))


@kind("numbers: 0,0 everywhere", RECOVER)
def zero(draft, rng):
    for i, printed in enumerate(draft.text.hunks):
        printed.header = b"@@ -0,0 +0,0 @@"
        draft.numbers[i] = None
    draft.counts_lost = True
    return True


# ---- absent ----------------------------------------------------------------------------

def _headers(draft, function):
    for i, (hunk, printed) in enumerate(zip(draft.change.hunks, draft.text.hunks)):
        printed.header = function(hunk)
        draft.numbers[i] = None
    draft.counts_lost = True
    return True


FORMS = [b"@@", b"@@ ... @@", b"@@ @@", b"@@ -,+ @@", b"@@ -?,? +?,? @@", b"@@ -X,Y +X,Y @@",
         b"@@ -... +... @@", b"@@ ..."]


def _absent(form):
    def damage(draft, rng):
        return _headers(draft, lambda hunk: form)
    return damage


for _form in FORMS:
    kind("numbers absent: %s" % _form.decode(), RECOVER,
         composable=_form == b"@@")(_absent(_form))


kind("numbers absent: @@@@", EFFORT)(_absent(b"@@@@"))


def _function_name(draft, hunk):
    """The heading git gives, or the nearest line above that begins at the margin."""
    if hunk.heading:
        return hunk.heading
    for line in reversed(draft.change.base[max(0, hunk.at - 200):hunk.at]):
        if line[:1].isalpha():
            return line.strip()[:80]
    return None


def _with_heading(pattern):
    def damage(draft, rng):
        names = [_function_name(draft, hunk) for hunk in draft.change.hunks]
        if not all(names) or any(b"@@" in name for name in names):
            return False
        names = iter(names)
        return _headers(draft, lambda hunk: pattern % next(names))
    return damage


kind("numbers absent: @@ heading", RECOVER)(_with_heading(b"@@ %s"))
kind("numbers absent: @@ heading @@", RECOVER)(_with_heading(b"@@ %s @@"))
kind("numbers absent: @@ @@ heading", RECOVER)(_with_heading(b"@@ @@ %s"))
kind("numbers absent: @@ -,+ @@ heading", RECOVER)(_with_heading(b"@@ -,+ @@ %s"))


@kind("numbers absent: @@ def name():", RECOVER)
def invented_heading(draft, rng):
    return _headers(draft, lambda hunk: b"@@ def " + rng.choice([b"main", b"run", b"f"]) + b"():")


@kind("numbers: absent in some hunks only", RECOVER)
def some_absent(draft, rng):
    if len(draft.change.hunks) < 2:
        return False
    for i, printed in enumerate(draft.text.hunks):
        if i == 0 or rng.random() < 0.5:
            printed.header = b"@@"
            draft.numbers[i] = None
    draft.counts_lost = True
    return True


# ---- counts ----------------------------------------------------------------------------

def _counts(draft, function):
    shift = 0
    for hunk, printed in zip(draft.change.hunks, draft.text.hunks):
        old, new = len(hunk.old()), len(hunk.new())
        start, start_new = hunk.at + (old > 0), hunk.at + shift + (new > 0)
        printed.header = b"@@ -%d%s +%d%s @@" % (start, function(old), start_new, function(new))
        if hunk.heading:
            printed.header += b" " + hunk.heading
        shift += new - old
    draft.counts_lost = True
    return True


@kind("counts: off by a few", RECOVER, composable=True)
def wrong_counts(draft, rng):
    return _counts(draft, lambda n: b",%d" % max(0, n + rng.choice([-5, -3, -2, -1, 1, 2, 3, 5])))


@kind("counts: far too small", RECOVER)
def small_counts(draft, rng):
    return _counts(draft, lambda n: b",1")


@kind("counts: far too large", RECOVER)
def large_counts(draft, rng):
    return _counts(draft, lambda n: b",%d" % (n + rng.randint(20, 500)))


@kind("counts: left out", RECOVER)
def no_counts(draft, rng):
    return _counts(draft, lambda n: b"")


@kind("counts: only changed lines counted", RECOVER)
def changed_counts(draft, rng):
    for hunk, printed in zip(draft.change.hunks, draft.text.hunks):
        minus = sum(tag == b"-" for tag, _ in hunk.lines)
        plus = sum(tag == b"+" for tag, _ in hunk.lines)
        printed.header = b"@@ -%d,%d +%d,%d @@" % (hunk.at + 1, minus, hunk.at + 1, plus)
    draft.counts_lost = True
    return True


@kind("counts and numbers: all random", RECOVER, composable=True)
def all_random(draft, rng):
    for i, printed in enumerate(draft.text.hunks):
        numbers = [rng.randint(1, len(draft.change.base) + 50), rng.randint(0, 40),
                   rng.randint(1, len(draft.change.base) + 50), rng.randint(0, 40)]
        printed.header = b"@@ -%d,%d +%d,%d @@" % tuple(numbers)
        draft.numbers[i] = numbers[0] - 1
    draft.counts_lost = True
    return True


@kind("header: spaces and commas odd", RECOVER)
def odd_spelling(draft, rng):
    if not all(model.HEADER.match(printed.header) for printed in draft.text.hunks):
        return False  # another damage was here before
    for printed in draft.text.hunks:
        a, b, c, d, _ = model.HEADER.match(printed.header).groups()
        b, d = b or b"1", d or b"1"
        printed.header = rng.choice([b"@@-%s,%s +%s,%s@@", b"@@  -%s,%s  +%s,%s  @@",
                                     b"@@ -%s, %s +%s, %s @@", b"@@ -%s,%s +%s,%s",
                                     b"@@ -%s,%s, +%s,%s @@", b"@@ %s,%s %s,%s @@"]) % (a, b, c, d)
    return True


@kind("lines that look like headers, counts right", RECOVER)
def header_lookalikes(draft, rng):
    """Removed SQL comments print as "--- x", added "++ x" as "+++ x"."""
    def masked(tag, text):
        return {b"-": b"-- " + text, b"+": b"++ " + text}.get(tag, text)
    hunks = [dataclasses.replace(h, lines=tuple((t, masked(t, x)) for t, x in h.lines))
             for h in draft.change.hunks]
    if not any(t == b"-" for h in hunks for t, _ in h.lines):
        return False
    base = list(draft.change.base)
    for hunk in hunks:
        base[hunk.at:hunk.at + len(hunk.old())] = hunk.old()
    draft.reset(model.Change(base, hunks, draft.change.path))
    return True


@kind("lines that look like headers, counts wrong", EFFORT)
def header_lookalikes_lost(draft, rng):
    return header_lookalikes(draft, rng) and wrong_counts(draft, rng)
