# SPDX-License-Identifier: Apache-2.0
"""What must be refused: diffs for another state of the file, and texts that are no such diff.

Every stale kind is checked with the oracle: the hunk that was made stale fits nowhere in the
base, with the widest folding, so that only tolerance could apply it.
"""

import dataclasses
import re

import model
import oracle
from kinds import REFUSE, REFUSED, kind


def _fits(draft, hunk):
    return oracle.Places(draft.change.base).of(hunk.old(), oracle.LOOKALIKE)


# ---- a line of the diff is of another version ------------------------------------------

def _older_word(text, rng):
    """Another version of a line: one word or number differs."""
    words = list(re.finditer(rb"[A-Za-z_]\w+|\d+", text))
    if not words:
        return None
    word = rng.choice(words)
    if word[0].isdigit():
        other = b"%d" % (int(word[0][:12]) + rng.randint(1, 9))
    else:
        other = rng.choice([word[0] + b"s", word[0] + b"_old", b"x" + word[0], word[0][:-1],
                            word[0].swapcase()])
    return text[:word.start()] + other + text[word.end():]


def _older_character(text, rng):
    """One character of punctuation differs: the smallest change that means something."""
    marks = [m.start() for m in re.finditer(rb"[;,.:!?()\[\]{}<>=+*/&|%-]", text)]
    if not marks:
        return None
    at = rng.choice(marks)
    return text[:at] + rng.choice([b"", text[at:at + 1] * 2]) + text[at + 1:]


def _other_quotes(text, rng):
    """Single for double quotes is another text, not a look-alike."""
    if text.count(b'"') >= 2 and b"'" not in text:
        return text.replace(b'"', b"'")
    if text.count(b"'") >= 2 and b'"' not in text:
        return text.replace(b"'", b'"')
    return None


def _comment_after(text, rng):
    return text[:-1] + rng.choice([b" // checked", b" # noqa", b";"]) + text[-1:] \
        if text.endswith(b"\n") and text.strip() else None


def _stale_line(draft, rng, tags, function, where=None):
    """Replaces one line of one hunk by another version of it."""
    spots = []
    for h, hunk in enumerate(draft.change.hunks):
        for i, (tag, text) in enumerate(hunk.lines):
            if tag in tags and (where is None or where(hunk, i)):
                spots.append((h, i))
    rng.shuffle(spots)
    for h, i in spots[:20]:
        hunk = draft.change.hunks[h]
        tag, text = hunk.lines[i]
        other = function(text, rng)
        if other is None or other == text:
            continue
        stale = dataclasses.replace(
            hunk, lines=hunk.lines[:i] + ((tag, other),) + hunk.lines[i + 1:])
        if not _fits(draft, stale):
            printed = draft.text.hunks[h]
            printed.lines = [raw for t, x in stale.lines for raw in model.print_line(t, x)]
            return True
    return False


def _stale(name, tags, function, where=None):
    @kind(name, REFUSE)
    def damage(draft, rng):
        return _stale_line(draft, rng, tags, function, where)
    return damage


_outermost = lambda hunk, i: i in (0, len(hunk.lines) - 1)
_stale("stale: a removed line", b"-", _older_word)
_stale("stale: a context line", b" ", _older_word)
_stale("stale: the outermost context line", b" ", _older_word, _outermost)
_stale("stale: one character", b" -", _older_character)
_stale("stale: other quotes", b" -", _other_quotes)
_stale("stale: the end of a line", b" -", _comment_after)
_stale("stale: letter case", b" -", lambda text, rng: text.swapcase())
_stale("stale: a placeholder for code", b" ",
       lambda text, rng: re.match(rb"[ \t]*", text)[0] + rng.choice(
           [b"// ... existing code ...\n", b"...\n", b"# rest unchanged\n"]))


@kind("stale: a removed line, numbers absent", REFUSE)
def stale_absent(draft, rng):
    for printed in draft.text.hunks:
        printed.header = b"@@"
    return _stale_line(draft, rng, b"-", _older_word)


@kind("stale: context wider by a wrong line", REFUSE)
def wider_wrong(draft, rng):
    h = rng.randrange(len(draft.change.hunks))
    hunk, other = draft.change.hunks[h], rng.choice(draft.change.base)
    if not other.strip() or not other.endswith(b"\n"):
        return False
    extra = ((b" ", other),)
    first = rng.random() < 0.5
    stale = dataclasses.replace(hunk, lines=extra + hunk.lines if first else hunk.lines + extra)
    if _fits(draft, stale) or not hunk.lines[-1][1].endswith(b"\n"):
        return False
    printed = draft.text.hunks[h]
    printed.lines = [raw for t, x in stale.lines for raw in model.print_line(t, x)]
    printed.header = model.header(hunk.at - first, len(stale.old()), hunk.at - first,
                                  len(stale.new()))
    return True


# ---- the base moved on -----------------------------------------------------------------

def _moved_on(draft, rng, edit):
    """Changes the base inside the old lines of one hunk; the diff stays as it was."""
    h = rng.randrange(len(draft.change.hunks))
    hunk = draft.change.hunks[h]
    if len(hunk.old()) < 3:
        return False
    base = edit(list(draft.change.base), hunk)
    if base is None:
        return False
    places = oracle.Places(base)
    if places.of(hunk.old(), oracle.LOOKALIKE):
        return False
    draft.base_bytes = b"".join(base)
    return True


@kind("base moved on: a line of the hunk changed", REFUSE)
def base_changed(draft, rng):
    def edit(base, hunk):
        at = hunk.at + rng.randrange(len(hunk.old()))
        other = _older_word(base[at], rng)
        if other is None:
            return None
        base[at] = other
        return base
    return _moved_on(draft, rng, edit)


@kind("base moved on: a line in the hunk is new", REFUSE)
def base_inserted(draft, rng):
    def edit(base, hunk):
        at = hunk.at + rng.randrange(1, len(hunk.old()))
        return base[:at] + [rng.choice([b"    new_line();\n", b"# new\n"])] + base[at:]
    return _moved_on(draft, rng, edit)


@kind("base moved on: a line of the hunk was deleted", REFUSE)
def base_deleted(draft, rng):
    def edit(base, hunk):
        at = hunk.at + rng.randrange(len(hunk.old()))
        if not base[at].strip():
            return None
        return base[:at] + base[at + 1:]
    return _moved_on(draft, rng, edit)


@kind("base moved on: two lines of the hunk swapped", REFUSE)
def base_swapped(draft, rng):
    def edit(base, hunk):
        at = hunk.at + rng.randrange(len(hunk.old()) - 1)
        if not (base[at].endswith(b"\n") and base[at + 1].endswith(b"\n")):
            return None
        base[at], base[at + 1] = base[at + 1], base[at]
        return base
    return _moved_on(draft, rng, edit)


@kind("base moved on: a context line changed that a hunk far above adds, too", REFUSE)
def base_changed_added_above(draft, rng):
    """A hunk may show what the hunk before it adds, but only where that hunk is."""
    change = draft.change
    pairs = [(g, h) for g, one in enumerate(change.hunks) for h, two in enumerate(change.hunks)
             if one.at + len(one.old()) + 3 < two.at and two.edges()[0] >= 2
             and any(tag == b"+" for tag, _ in one.lines) and two.lines[0][1].strip()]
    if not pairs:
        return False
    g, h = rng.choice(pairs)
    line = change.hunks[h].lines[0][1]
    other = _older_word(line, rng)
    if other is None:
        return False
    lines = change.hunks[g].lines
    end = 1 + max(i for i, (tag, text) in enumerate(lines) if tag == b"+")
    if not lines[end - 1][1].endswith(b"\n"):
        return False
    hunks = list(change.hunks)
    hunks[g] = dataclasses.replace(hunks[g], lines=lines[:end] + ((b"+", line),) + lines[end:])
    draft.reset(change.with_hunks(hunks))
    base = list(change.base)
    base[hunks[h].at] = other
    if oracle.Places(base).of(hunks[h].old(), oracle.LOOKALIKE):
        return False
    draft.base_bytes = b"".join(base)
    return True


@kind("base moved on: all the removed lines are missing", REFUSE)
def base_removed(draft, rng):
    def edit(base, hunk):
        removed, at = set(), hunk.at
        for tag, _ in hunk.lines:
            if tag == b"-":
                removed.add(at)
            at += tag != b"+"
        if not removed:
            return None
        return [line for i, line in enumerate(base) if i not in removed]
    return _moved_on(draft, rng, edit)


@kind("base moved on: the place changed, a copy is elsewhere", REFUSE)
def stale_copy(draft, rng):
    """The number names the true place, which changed; an exact copy stands elsewhere. To
    change the copy would be to change lines that the diff does not mean."""
    change = draft.change.with_hunks([rng.choice(draft.change.hunks)])
    hunk = change.hunks[0]
    block = hunk.old()
    if len(block) < 4 or not block[-1].endswith(b"\n"):
        return False
    if len(oracle.Places(change.base).of(block, oracle.LOOKALIKE)) != 1:
        return False
    gaps = [at for at in range(len(change.base))
            if at < hunk.at - 20 or at > hunk.at + len(block) + 20]
    if not gaps:
        return False
    change = change.inserted(rng.choice(gaps), block)
    hunk = change.hunks[0]
    at = hunk.at + rng.randrange(len(block))
    other = _older_word(change.base[at], rng)
    if other is None:
        return False
    base = list(change.base)
    base[at] = other
    if len(oracle.Places(base).of(block, oracle.LOOKALIKE)) != 1:
        return False
    draft.reset(change)
    draft.base_bytes = b"".join(base)
    return True


@kind("base moved on: the place changed, a copy is elsewhere, numbers off", REFUSE)
def stale_copy_off(draft, rng):
    """As above with a number that is off by one or two, as numbers of models are."""
    if not stale_copy(draft, rng):
        return False
    from damage_numbers import renumber
    by = rng.choice([-2, -1, 1, 2])
    return renumber(draft, lambda hunk, old, new: (max(0, old + by), max(0, new + by)))


@kind("base moved on: a removed line changed, context repeats", REFUSE)
def stale_small(draft, rng):
    """Little context, so that the old lines of the hunk nearly fit in several places."""
    hunks = [hunk.cut(1, 1) for hunk in draft.change.hunks]
    draft.reset(draft.change.with_hunks(hunks))
    return _stale_line(draft, rng, b"-", _older_word)


@kind("base moved on: other indentation and another word", REFUSE)
def reindented_and_changed(draft, rng):
    """White space that could be folded does not excuse a word that cannot."""
    if not _stale_line(draft, rng, b" -", _older_word):
        return False
    return draft.each_line(b" -", lambda text: b"  " + text if text else text)


@kind("stale: look-alike quotes and another word", REFUSE)
def curly_and_changed(draft, rng):
    from damage_lines import _curly
    return _stale_line(draft, rng, b" -", _older_word) and draft.each_line(b" -+", _curly)


# ---- applied already, or the other way -------------------------------------------------

@kind("applied already", REFUSE)
def already(draft, rng):
    result = model.split_lines(draft.change.result())
    places = oracle.Places(result)
    if all(places.of(hunk.old(), oracle.LOOKALIKE) for hunk in draft.change.hunks):
        return False
    draft.base_bytes = b"".join(result)
    return True


@kind("reversed", REFUSE)
def backwards(draft, rng):
    swap = {b"+": b"-", b"-": b"+"}
    hunks = [dataclasses.replace(h, lines=tuple((swap.get(t, t), x) for t, x in h.lines))
             for h in draft.change.hunks]
    if all(_fits(draft, hunk) for hunk in hunks):
        return False
    for printed, hunk in zip(draft.text.hunks, hunks):
        printed.lines = [raw for t, x in hunk.lines for raw in model.print_line(t, x)]
        match = model.HEADER.match(printed.header)
        printed.header = b"@@ -%s,%s +%s,%s @@" % (match[3], match[4] or b"1",
                                                   match[1], match[2] or b"1")
    return True


@kind("for another file", REFUSE)
def another_file(draft, rng):
    from kinds import parse
    other = parse(rng.choice(draft.others), "U3")
    places = oracle.Places(draft.change.base)
    if all(places.of(hunk.old(), oracle.LOOKALIKE) for hunk in other.hunks) or \
            all(places.of(hunk.new(), oracle.EXACT) for hunk in other.hunks):
        return False  # it applies here too, or it is in this state of the same file
    draft.text = other.print()
    return True


@kind("a new file where there is one", REFUSE)
def create_on_existing(draft, rng):
    lines = draft.change.hunks[0].new()
    if not lines or not draft.change.base:
        return False
    draft.text.prelude[0] = b"--- /dev/null"
    draft.text.hunks = [model.Printed(b"@@ -0,0 +1,%d @@" % len(lines), [
        raw for x in lines for raw in model.print_line(b"+", x)])]
    return True


@kind("one hunk right, one stale", REFUSE)
def one_of_two(draft, rng):
    return len(draft.change.hunks) > 1 and _stale_line(draft, rng, b" -", _older_word)


@kind("two hunks change the same line differently", REFUSE)
def contradicting(draft, rng):
    hunk = draft.change.hunks[0]
    plus = [i for i, (tag, _) in enumerate(hunk.lines) if tag == b"+"]
    if not plus or not any(tag == b"-" for tag, _ in hunk.lines):
        return False
    if len(_fits(draft, hunk)) != 1:
        return False
    second = draft.change.print().hunks[0]
    i = next(i for i, raw in enumerate(second.lines) if raw[:1] == b"+")
    second.lines[i] = second.lines[i] + b" /* other */"
    draft.text.hunks.insert(1, second)
    return True


# ---- no such diff ----------------------------------------------------------------------

@kind("two files in one diff", REFUSE)
def two_files(draft, rng):
    from kinds import parse
    other = parse(rng.choice(draft.others), "U3")
    if other.path == draft.change.path:
        return False
    name = other.path.encode("utf-8", "surrogateescape")
    git = rng.random() < 0.5
    mine = draft.change.path.encode("utf-8", "surrogateescape")
    prelude = [b"diff --git a/%s b/%s" % (name, name), b"index 1..2 100644"] if git else []
    if git:
        draft.text.prelude.insert(0, b"diff --git a/%s b/%s" % (mine, mine))
    draft.text.tail = prelude + other.print().lines()
    draft.demand = REFUSED
    return True


@kind("two files in one diff, counts wrong", REFUSE)
def two_files_counts(draft, rng):
    from damage_numbers import wrong_counts
    return wrong_counts(draft, rng) and two_files(draft, rng)


NOTHING = [
    ("empty text", b""),
    ("blank lines", b"\n\n"),
    ("prose", b"The file needs no change: it is right as it stands.\n"),
    ("file headers only", b"--- a/file\n+++ b/file\n"),
    ("mode change only", b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"),
    ("rename only", b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"),
    ("binary files differ", b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"),
    ("hunk header only", b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n"),
    ("fence only", b"```diff\n```\n"),
]


def _replaced(text):
    def damage(draft, rng):
        draft.after.append(lambda diff: text)
        return True
    return damage


for _name, _text in NOTHING:
    kind("no diff: " + _name, REFUSE)(_replaced(_text))


@kind("no diff: context only", REFUSE)
def context_only(draft, rng):
    lines = draft.change.base[:8]
    if len(lines) < 8:
        return False
    draft.text.hunks = [model.Printed(b"@@ -1,8 +1,8 @@", [b" " + x.rstrip(b"\n") for x in lines])]
    return True


@kind("no diff: a combined diff", REFUSE)
def combined(draft, rng):
    for printed in draft.text.hunks:
        match = model.HEADER.match(printed.header)
        both = b"-%s,%s" % (match[1], match[2] or b"1")
        printed.header = b"@@@ %s %s +%s,%s @@@" % (both, both, match[3], match[4] or b"1")
        printed.lines = [raw[:1] + raw for raw in printed.lines]
    draft.text.prelude.insert(0, b"diff --cc file")
    return True


@kind("no diff: the file itself", REFUSE)
def whole_file(draft, rng):
    if b"\n@@" in draft.change.base_bytes() or b"\n--- " in draft.change.base_bytes():
        return False
    draft.after.append(lambda diff: draft.change.result())
    return True


@kind("no diff: the normal format", REFUSE)
def normal_format(draft, rng):
    def convert(diff):
        out = []
        for hunk in draft.change.hunks:
            out.append(b"%dc%d\n" % (hunk.at + 1, hunk.at + 1))
            out += [b"< " + x for t, x in hunk.lines if t == b"-"] + [b"---\n"]
            out += [b"> " + x for t, x in hunk.lines if t == b"+"]
        return b"".join(out)
    draft.after.append(convert)
    return True


@kind("no diff: the context format", REFUSE)
def context_format(draft, rng):
    def convert(diff):
        out = [b"*** a/file\n--- b/file\n"]
        for hunk in draft.change.hunks:
            out.append(b"***************\n*** %d,%d ****\n" % (hunk.at + 1, hunk.at + 9))
            out += [(b"! " if t == b"-" else b"  ") + x for t, x in hunk.lines if t != b"+"]
            out.append(b"--- %d,%d ----\n" % (hunk.at + 1, hunk.at + 9))
            out += [(b"! " if t == b"+" else b"  ") + x for t, x in hunk.lines if t != b"-"]
        return b"".join(out)
    draft.after.append(convert)
    return True
