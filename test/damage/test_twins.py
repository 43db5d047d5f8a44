# SPDX-License-Identifier: Apache-2.0
"""Random edits of small files that are full of twins: like blocks at several depths.

Each edit is known by construction: which block it changes, and what the file then is.  It is written as a
hunk, a section of the apply_patch format or an update, with its numbers, headings, white space and context
damaged.  What must hold, whatever the damage:

    - it is made at its own place, or refused; never in a twin
    - made twice is made once: the second time it is there already, or refused
    - hunks that do not touch each other may come in any order

Left out is what no reader could know: text that, as it was damaged, stands exactly in another place, or a
number that names another place where it fits.  DAMAGE_DRIVER and UPDATE_DRIVER name the engines.
"""

import os
import random
import struct
import subprocess
import tempfile

import pytest

CASES = int(os.environ.get("TWIN_CASES", "2500"))
SEED = os.environ.get("TWIN_SEED", "1")


# ---- files ------------------------------------------------------------------------------------

BODIES = (
    ("run(one)", "run(two)"),
    ("if ready:", "    run(one)", "    run(two)", "else:", "    stop()"),
    ("try:", "    value = load(path)", "except Failure as failure:", "    check(failure)", "", "return value"),
    ("for item in items:", "    if item.ok:", "        total += item.size", "    seen.add(item)"),
    ("value = 1", "return value"),
    ("end()", "", "end()"),
)

# (line of a function, line of a class, unit of indentation)
LANGUAGES = (
    ("def %s(self):", "class %s:", "    "),
    ("%s:", "%s:", "  "),
    ("function %s() {", "module %s {", "\t"),
)


class File:
    """Lines, and the blocks in them: (heading's line, first line, end)."""

    def __init__(self, rng):
        self.lines, self.blocks = [], []
        self.rng = rng
        function, group, self.unit = rng.choice(LANGUAGES)
        names = rng.sample(["load", "load_all", "save", "check_it", "start", "stop_now", "first"], 5)
        pool = rng.sample(BODIES, 3)
        for i in range(rng.randint(2, 4)):
            nested = rng.random() < 0.6
            if nested:
                self.lines.append(group % ("Group%d" % i))
            for name in rng.sample(names, rng.randint(1, 3)):
                self._block(function % name, rng.choice(pool), int(nested), rng.random() < 0.3)
        self.lines.append("last line of all")

    def _block(self, heading, body, depth, deeper):
        at = len(self.lines)
        self.lines.append(self.unit * depth + heading)
        if deeper:
            depth += 1
            self.lines.append(self.unit * depth + "when(True):")
        first = len(self.lines)
        for line in body:
            line = line.replace("    ", self.unit)
            self.lines.append(self.unit * (depth + 1) + line if line else "")
        self.blocks.append((at, first, len(self.lines)))
        if heading.endswith("{"):
            self.lines.append(self.unit * depth + "}")
        if self.rng.random() < 0.8:
            self.lines.append("")

    def text(self, lines=None):
        return "\n".join(self.lines if lines is None else lines) + "\n"


class Edit:
    """One line of a block is replaced, removed, or one is added after it."""

    def __init__(self, file, rng, block=None):
        self.file, self.number = file, rng.randrange(10000)
        at, first, end = self.block = block or rng.choice(file.blocks)
        solid = [i for i in range(first, end) if file.lines[i]]
        self.line = rng.choice(solid)
        kind = rng.choice(("replace", "replace", "add", "remove"))
        have = file.lines[self.line]
        indent = have[:len(have) - len(have.lstrip())]
        self.removed = [] if kind == "add" else [have]
        self.added = [] if kind == "remove" else [indent + "made_%d(%d)" % (self.number, rng.randrange(100))]
        start = self.line + (kind == "add")
        self.head = file.lines[max(0, start - rng.randint(0, 3)):start]
        after = start + len(self.removed)
        self.tail = file.lines[after:after + rng.randint(0, 3)]
        self.start, self.after = start, after
        self.at = start - len(self.head)

    def old(self):
        return self.head + self.removed + self.tail

    def result(self):
        lines = self.file.lines
        return self.file.text(lines[:self.start] + self.added + lines[self.after:])

    def hunk(self, header, change=lambda line: line):
        lines = [" " + change(x) for x in self.head] + ["-" + change(x) for x in self.removed] + \
            ["+" + change(x) for x in self.added] + [" " + change(x) for x in self.tail]
        return header + "\n" + "\n".join(lines) + "\n"


# ---- damages ----------------------------------------------------------------------------------

def indentation(rng, unit):
    """One change of how lines are indented, or of their ends."""
    return rng.choice((
        lambda line: line, lambda line: line, lambda line: line,
        lambda line: unit + line if line else line,
        lambda line: line[len(unit):] if line.startswith(unit) else line,
        lambda line: line.expandtabs(4),
        lambda line: line.replace("    ", "\t"),
        lambda line: line + " ",
        lambda line: line.lstrip(),
    ))


def header_of(edit, rng):
    """(the header, the 0-based line that it names or None)"""
    old, new = len(edit.old()), len(edit.head + edit.added + edit.tail)
    heading = edit.file.lines[edit.block[0]].strip() if rng.random() < 0.5 else ""
    kind = rng.choice(("right", "right", "none", "none", "off", "one"))
    if kind == "none":
        return ("@@ " + heading).rstrip(), None
    at = {"right": edit.at, "off": edit.at + rng.randint(-5, 30), "one": 0}[kind]
    at = max(0, at)
    return ("@@ -%d,%d +%d,%d @@ %s" % (at + 1, old, at + 1, new, heading)).rstrip(), at


def places(lines, old, fold=lambda line: line):
    wanted = [fold(line) for line in old]
    have = [fold(line) for line in lines]
    return [i for i in range(len(have) - len(wanted) + 1) if have[i:i + len(wanted)] == wanted]


def loosely(line):
    return "".join(line.split())


def misleads(edit, change, named):
    """Whether the damaged text plainly says another place."""
    old = [change(line) for line in edit.old()]
    exact = places(edit.file.lines, old) if old else []
    if exact and edit.at not in exact:
        return True
    return named is not None and named != edit.at and \
        named in (places(edit.file.lines, old, loosely) if old else [named])


# ---- engines ----------------------------------------------------------------------------------

class Patcher:
    def __init__(self):
        self.process = subprocess.Popen([os.environ["DAMAGE_DRIVER"]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def apply(self, base, diff):
        """(the text or None, the note)"""
        parts = [base.encode(), diff.encode()]
        self.process.stdin.write(struct.pack("<II", *map(len, parts)) + b"".join(parts))
        self.process.stdin.flush()
        code, text, note = struct.unpack("<III", self.process.stdout.read(12))
        text, note = self.process.stdout.read(text).decode(), self.process.stdout.read(note).decode()
        return (text if code == 0 else None), note


class Updater:
    def __init__(self, folder):
        self.process = subprocess.Popen([os.environ["UPDATE_DRIVER"], folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def apply(self, base, old, new):
        parts = [text.encode() for text in (base, old, new)]
        self.process.stdin.write(struct.pack("<III", *map(len, parts)) + b"".join(parts))
        self.process.stdin.flush()
        code, _, _, text, note = struct.unpack("<5I", self.process.stdout.read(20))
        text, note = self.process.stdout.read(text).decode(), self.process.stdout.read(note).decode()
        return (text if code == 0 else None), note


@pytest.fixture(scope="module")
def patcher():
    engine = Patcher()
    yield engine
    engine.process.stdin.close()
    engine.process.wait()


@pytest.fixture(scope="module")
def updater():
    with tempfile.TemporaryDirectory() as folder:
        engine = Updater(folder)
        yield engine
        engine.process.stdin.close()
        engine.process.wait()


# ---- what must hold ---------------------------------------------------------------------------

def where(text, edit):
    """The result with the line that the edit adds or lacks, whatever its indentation."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def check(got, note, edit, written):
    assert got is None or where(got, edit) == where(edit.result(), edit), \
        "in a twin (%s)\n%s\n---\n%s" % (note, written, edit.file.text())


def same_run(edit):
    """Whether the change would be the same in a neighbour: which of equal lines went cannot be seen."""
    old, new = edit.old(), edit.head + edit.added + edit.tail
    return any(edit.file.text(edit.file.lines[:at] + new + edit.file.lines[at + len(old):]) == edit.result()
               for at in places(edit.file.lines, old) if at != edit.at)


def hunks(count):
    """(edit, its text) of so many hunks that say nothing false about their place."""
    made = 0
    for case in range(20 * count):
        rng = random.Random("%s/hunk/%d" % (SEED, case))
        file = File(rng)
        edit = Edit(file, rng)
        change = indentation(rng, file.unit)
        header, named = header_of(edit, rng)
        if not edit.old() or misleads(edit, change, named) or same_run(edit):
            continue
        diff = edit.hunk(header, change)
        if named is None and rng.random() < 0.3:
            diff = "*** Begin Patch\n*** Update File: f\n%s*** End Patch\n" % diff
        yield edit, diff
        made += 1
        if made == count:
            return


def test_no_hunk_lands_in_a_twin_nor_is_made_twice(patcher):
    applied = 0
    for edit, diff in hunks(CASES):
        got, note = patcher.apply(edit.file.text(), diff)
        check(got, note, edit, diff)
        if got is None or got == edit.file.text():
            continue
        applied += 1
        again, note = patcher.apply(got, diff)
        assert again is None or again == got, "made twice (%s)\n%s\n---\n%s" % (note, diff, got)
    assert applied > CASES // 3


def test_no_update_lands_in_a_twin_nor_is_made_twice(updater):
    applied = 0
    for case in range(CASES):
        rng = random.Random("%s/update/%d" % (SEED, case))
        file = File(rng)
        edit = Edit(file, rng)
        change = indentation(rng, file.unit)
        ending = "\n" * rng.randint(0, 1)
        old, new = ("\n".join(map(change, lines)) + (ending if lines else "")
                    for lines in (edit.old(), edit.head + edit.added + edit.tail))
        if not old.strip() or old == new or misleads(edit, change, None) or same_run(edit) or \
                (file.text().count(old) == 1 and file.text().index(old) != len("".join(
                    line + "\n" for line in file.lines[:edit.at]))):
            continue
        got, note = updater.apply(file.text(), old, new)
        check(got, note, edit, old + "\n->\n" + new)
        if got is None or got == file.text():
            continue
        applied += 1
        again, note = updater.apply(got, old, new)
        assert again is None or again == got, "made twice (%s)\n%s\n->\n%s\n---\n%s" % (note, old, new, got)
    assert applied > CASES // 8


def test_hunks_that_do_not_touch_each_other_may_come_in_any_order(patcher):
    compared = 0
    for case in range(CASES // 2):
        rng = random.Random("%s/order/%d" % (SEED, case))
        file = File(rng)
        if len(file.blocks) < 2:
            continue
        one, other = (Edit(file, rng, block) for block in rng.sample(file.blocks, 2))
        if one.at + len(one.old()) > other.at and other.at + len(other.old()) > one.at:
            continue
        headers = [header_of(edit, rng) for edit in (one, other)]
        # What only the order settles is another edit in another order.
        if any(header[1] != edit.at and len(places(file.lines, edit.old())) > 1
               for edit, header in zip((one, other), headers)):
            continue
        both = [edit.hunk(header[0]) for edit, header in zip((one, other), headers)]
        there, _ = patcher.apply(file.text(), "".join(both))
        back, note = patcher.apply(file.text(), "".join(reversed(both)))
        if there is None or back is None:
            continue
        compared += 1
        assert there == back, "at %d, %d: %s\n%s\n---\n%s" % (
            one.at + 1, other.at + 1, note, "".join(both), file.text())
    assert compared > CASES // 20
