# SPDX-License-Identifier: Apache-2.0
"""Exact replacements of real histories, damaged as language models damage them.

    for edit in edits(pairs, random): ...    # Edit(base, old, new, result), each old text once
    rows = run(driver, form, edits, ...)     # {kind: Row}: right, enough, refused, wrong

Each is written in three forms: as an update (the old text and the new one), as a hunk without
numbers, and as a section of the apply_patch format.

A row counts what became of each case:

    right    the file is what the history says (or, done already, was left as it is)
    enough   refused, and the answer names the first line that differs, at its true place
    refused  refused otherwise
    wrong    other bytes, or a success that changed nothing though something was to be done

    UPDATE_DRIVER=build/test/damage/update_driver test/damage/updates.py --repository --write docs/edits.md
"""

import argparse
import difflib
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import corpus

BASE_MAX = 60_000    # larger files take difflib long and say nothing new
PER_FILE = 4         # edits taken from one change of one file
BEGIN, END = "<!-- damaged updates: begin -->", "<!-- damaged updates: end -->"


@dataclass(frozen=True)
class Edit:
    name: str
    base: str
    old: str
    new: str
    result: str
    cut: bool  # both texts lack their last line end

    @property
    def line(self):
        """1-based line of the base where the old text begins."""
        return self.base.count("\n", 0, self.base.index(self.old)) + 1


@dataclass
class Row:
    right: int = 0
    enough: int = 0
    refused: int = 0
    wrong: int = 0
    failures: list = field(default_factory=list)

    @property
    def cases(self):
        return self.right + self.enough + self.refused + self.wrong


def edits(pairs, rng):
    """Every change as a replacement with up to three lines of context, and without its last
    line end in every other case, as models write them."""
    for name, _, base, result in pairs:
        if len(base) > BASE_MAX or b"\r" in base:
            continue
        try:
            before, after = (text.decode().splitlines(True) for text in (base, result))
        except UnicodeDecodeError:
            continue
        opcodes = [code for code in difflib.SequenceMatcher(None, before, after).get_opcodes()
                   if code[0] != "equal"]
        for _, i1, i2, j1, j2 in rng.sample(opcodes, min(PER_FILE, len(opcodes))):
            head = min(rng.randrange(0, 4), i1, j1)
            tail = min(rng.randrange(0, 4), len(before) - i2)
            old = "".join(before[i1 - head:i2 + tail])
            new = "".join(before[i1 - head:i1] + after[j1:j2] + before[i2:i2 + tail])
            text = "".join(before)
            cut = rng.random() < 0.5 and old.endswith("\n") and new.endswith("\n")
            if cut:
                old, new = old[:-1], new[:-1]
            if old.strip() and len(old) < 20_000 and text.count(old) == 1 and old != new:
                yield Edit(name, text, old, new, text.replace(old, new), cut)


# ---- damages: each gives (base, old, new, what the file should become) or None ----------

def _shifted(edit, shift):
    """Both texts with every line that is not blank shifted; None if nothing changes."""
    old, new = (re.sub(r"(?m)^(?=[^\n]*\S)[ \t]*", lambda found: shift(found[0]), text)
                for text in (edit.old, edit.new))
    if old == edit.old or edit.base.count(old) or len(re.findall(r"(?m)^.*\S", old)) < 2:
        return None
    return edit.base, old, new, edit.result


def _common_indent(edit):
    lines = [line for line in (edit.old + "\n" + edit.new).split("\n") if line.strip()]
    return os.path.commonprefix([re.match(r"[ \t]*", line)[0] for line in lines])


def dedented(edit, rng):
    common = _common_indent(edit)
    return _shifted(edit, lambda indent: indent[len(common):]) if common else None


def less(edit, rng):
    common = _common_indent(edit)
    cut = 1 if common.startswith("\t") else rng.choice((2, 4))
    return _shifted(edit, lambda indent: indent[cut:]) if len(common) >= cut else None


def more(edit, rng):
    tabs = "\n\t" in edit.base
    extra = "\t" if tabs else " " * rng.choice((2, 4, 8))
    return _shifted(edit, lambda indent: extra + indent)


def tabs_to_spaces(edit, rng):
    width = rng.choice((2, 4, 8))
    return _shifted(edit, lambda indent: indent.replace("\t", " " * width))


def spaces_to_tabs(edit, rng):
    return _shifted(edit, lambda indent: indent.replace("    ", "\t"))


def tabs_to_spaces_and_less(edit, rng):
    if not _common_indent(edit).startswith("\t"):
        return None
    return _shifted(edit, lambda indent: indent[1:].replace("\t", "    "))


def halved(edit, rng):
    if re.search(r"(?m)^(?:  )* (?! )\S", edit.old + "\n" + edit.new):
        return None  # half a space is none: what was there is lost
    return _shifted(edit, lambda indent: " " * (len(indent) // 2) if indent.isspace()
                    and "\t" not in indent else indent)


def uneven(edit, rng):
    lines = edit.old.split("\n")
    real = [i for i, line in enumerate(lines) if line.strip()]
    if len(real) < 2:
        return None
    at = rng.choice(real)
    lines[at] = rng.choice(("  ", "    ", "\t")) + lines[at]
    old = "\n".join(lines)
    return (edit.base, old, edit.new, edit.result) if not edit.base.count(old) else None


def _with_a_word_changed(text, rng):
    words = list(re.finditer(r"[A-Za-z_]{4,}", text))
    if not words:
        return None
    word = rng.choice(words)
    other = rng.choice((word[0] + "s", word[0][:-1], word[0].swapcase(), "previous"))
    return text[:word.start()] + other + text[word.end():]


def stale_word(edit, rng):
    old = _with_a_word_changed(edit.old, rng)
    return (edit.base, old, edit.new, None) if old and not edit.base.count(old) else None


def stale_word_and_shifted(edit, rng):
    case = more(edit, rng)
    old = case and _with_a_word_changed(case[1], rng)
    return (edit.base, old, case[2], None) if old and not edit.base.count(old) else None


def _without_a_line(edit, rng, blank):
    lines = edit.old.split("\n")
    inner = [i for i in range(1, len(lines) - 1) if (not lines[i].strip()) == blank]
    if len([line for line in lines if line.strip()]) < 3 or not inner:
        return None
    del lines[rng.choice(inner)]
    old = "\n".join(lines)
    return old if not edit.base.count(old) else None


def stale_line(edit, rng):
    """The file has a line more than the old text."""
    old = _without_a_line(edit, rng, blank=False)
    return (edit.base, old, edit.new, None) if old else None


def blank_line(edit, rng):
    """A blank line was left out, which in a hunk says nothing."""
    old = _without_a_line(edit, rng, blank=True)
    return (edit.base, old, edit.new, edit.result) if old else None


def done(edit, rng):
    if edit.old in edit.result:
        return None
    return edit.result, edit.old, edit.new, edit.result


def half_done(edit, rng):
    """The file has the new text, but one of its lines was changed since."""
    if edit.old in edit.result or not edit.new.strip():
        return None
    new = _with_a_word_changed(edit.new, rng)
    base = new and edit.base.replace(edit.old, new)
    if not new or edit.old in base or edit.new in base:
        return None
    return base, edit.old, edit.new, None


def absent(edit, rng):
    """An edit of another file."""
    other = "".join(rng.sample(edit.base.splitlines(True), len(edit.base.splitlines(True))))
    return (other, edit.old, edit.new, None) if edit.old not in other and \
        edit.new not in other else None


def _numbered(text, first, mark):
    return "\n".join(mark % (first + i, line) for i, line in enumerate(text.split("\n")))


def numbered(edit, rng):
    mark = rng.choice(("%6d\u2192%s", "%d:%s", "%d| %s", "%6d\t%s", "%d: %s", "%05d| %s"))
    old, new = (text[:-1] if text.endswith("\n") else text for text in (edit.old, edit.new))
    if edit.old.endswith("\n") != edit.new.endswith("\n") or not new or \
            edit.cut and edit.old.endswith("\n"):
        return None
    return (edit.base, _numbered(old, edit.line, mark), _numbered(new, edit.line, mark),
            edit.result)


def inner_space(edit, rng):
    places = [m for m in re.finditer(r"(?<=\S) (?=\S)", edit.old)]
    if not places:
        return None
    at = rng.choice(places).start()
    old = edit.old[:at] + " " + edit.old[at:]
    return (edit.base, old, edit.new, edit.result) if not edit.base.count(old) else None


# ---- forms: each gives (old text, new text or diff), as the tools take them ---------------

def as_update(edit, old, new):
    return old, new


def _lines(edit, text):
    return (text + "\n" if edit.cut else text).splitlines()


def _hunk(edit, old, new):
    """The lines of a hunk. Which of them are context was known before they were damaged."""
    plain = _lines(edit, edit.old), _lines(edit, edit.new)
    damaged = _lines(edit, old), _lines(edit, new)
    if [len(lines) for lines in plain] != [len(lines) for lines in damaged]:
        plain = damaged
    out = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *plain, autojunk=False).get_opcodes():
        if tag == "equal":
            out += [" " + line for line in damaged[0][i1:i2]]
        else:
            out += ["-" + line for line in damaged[0][i1:i2]]
            out += ["+" + line for line in damaged[1][j1:j2]]
    return "".join(line + "\n" for line in out)


def as_hunk(edit, old, new):
    return "", "@@\n" + _hunk(edit, old, new)


def as_section(edit, old, new):
    return "", "*** Begin Patch\n*** Update File: f\n@@\n%s*** End Patch\n" % _hunk(edit, old, new)


FORMS = {"update": as_update, "hunk": as_hunk, "section": as_section}

KINDS = [
    ("as written", lambda edit, rng: (edit.base, edit.old, edit.new, edit.result)),
    ("shifted: common indentation removed", dedented),
    ("shifted: less", less),
    ("shifted: more", more),
    ("shifted: tabs to spaces", tabs_to_spaces),
    ("shifted: tabs to spaces, and a level less", tabs_to_spaces_and_less),
    ("shifted: four spaces to a tab", spaces_to_tabs),
    ("shifted: half as wide", halved),
    ("line numbers of a listing", numbered),
    ("done already", done),
    ("indentation of one line", uneven),
    ("stale: a word", stale_word),
    ("stale: a word, and shifted", stale_word_and_shifted),
    ("stale: a line missing", stale_line),
    ("a blank line missing", blank_line),
    ("stale: done, then changed", half_done),
    ("an inner space more", inner_space),
    ("absent", absent),
]

# The share of each that has to be right at least. Where the unit changes, much cannot be told: how a
# line is aligned, how wide a tab is when one level is all there is.
SAVED = {"as written": 1, "line numbers of a listing": 0.95, "done already": 0.7,
         "shifted: common indentation removed": 0.9, "shifted: less": 0.9, "shifted: more": 0.9,
         "shifted: tabs to spaces": 0.4, "shifted: tabs to spaces, and a level less": 0.4,
         "shifted: four spaces to a tab": 0.25, "shifted: half as wide": 0.25}


class Driver:
    """update_driver.c on a pipe."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, self.folder.name], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def update(self, base, old, new):
        """(error code, places replaced, line of the difference, text, note)"""
        parts = [text.encode() for text in (base, old, new)]
        self.process.stdin.write(struct.pack("<III", *map(len, parts)) + b"".join(parts))
        self.process.stdin.flush()
        code, replaced, line, text, note = struct.unpack("<5I", self.process.stdout.read(20))
        text = self.process.stdout.read(text).decode()
        return code, replaced, line, text, self.process.stdout.read(note).decode()


def _first_differences(edit, base, old):
    """Where the old text, put at its place, first differs from the base: at all, and but for the
    indentation, which in a hunk says nothing."""
    if edit.old not in base:
        return []
    start = base.count("\n", 0, base.index(edit.old))
    have, want = base.split("\n")[start:], old.split("\n")
    return [next((start + i + 1 for i, line in enumerate(want)
                  if i >= len(have) or form(have[i]) != form(line)), None)
            for form in (str, str.split)]


def judge(row, edit, case, got):
    base, old, new, wanted = case
    code, replaced, line, text, note = got
    if code == 0:
        fine = wanted is not None and text == wanted
        row.right += fine
        row.wrong += not fine
        if not fine:
            diff = difflib.unified_diff(*((text or "(a refusal)").splitlines(True)
                                          for text in (wanted, text)), "wanted", "got", n=1)
            row.failures.append((edit.name, old, new, "".join(diff), note))
    elif line and line in _first_differences(edit, base, old):
        row.enough += 1
    else:
        row.refused += 1


def run(driver, form, found, cases, seed):
    """{kind: Row} of at most so many cases of each kind."""
    rows = {}
    for name, damage in KINDS:
        rng = random.Random("%s %s" % (seed, name.replace("indentation removed", "indentation gone")))  # its old name
        row = rows[name] = Row()
        for edit in rng.sample(found, len(found)):
            if row.cases >= cases:
                break
            case = damage(edit, rng)
            if case:
                judge(row, edit, case, driver.update(case[0], *FORMS[form](edit, *case[1:3])))
    return rows


def table(forms):
    """A line for each damage; right · with the difference · refused · wrong for each form.
    Forms whose cells are all alike share a column."""
    columns = {}
    for form, rows in forms.items():
        cells = tuple("%d · %d · %d · %d" % (row.right, row.enough, row.refused, row.wrong)
                      for row in (rows[name] for name, _ in KINDS))
        columns.setdefault(cells, []).append("as a %s" % form if form != "update" else "as an update")
    out = ["| damage | %s |" % " | ".join(", ".join(forms) for forms in columns.values()),
           "|---|" + "---|" * len(columns)]
    out += ["| %s | %s |" % line for line in
            ((name, " | ".join(cells)) for (name, _), *cells in zip(KINDS, *columns))]
    return "\n".join(out)


def show_failures(form, rows):
    for name, row in rows.items():
        for failure in row.failures[:5]:
            print("\n== %s, %s: %s\n-- old\n%s\n-- new\n%s\n-- got\n%s\n-- note %s" % (
                form, name, *failure))


def write_table(page_name, text):
    with open(page_name, encoding="utf-8") as page:
        head, rest = page.read().split(BEGIN)
    _, tail = rest.split(END)
    with open(page_name, "w", encoding="utf-8") as page:
        page.write(head + BEGIN + "\n" + text + "\n" + END + tail)


def main():
    parser = argparse.ArgumentParser(description="Counts damaged updates.")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--repository", action="store_true", help="only this repository's history")
    parser.add_argument("--write", metavar="PAGE", help="put the table into this page")
    options = parser.parse_args()
    pairs = list(corpus._commit_pairs())
    if not options.repository:
        pairs += corpus._series_pairs()
    found = list(edits(pairs, random.Random(options.seed)))
    with Driver(os.environ["UPDATE_DRIVER"]) as driver:
        forms = {form: run(driver, form, found, options.cases, options.seed) for form in FORMS}
    print("%d edits\n%s" % (len(found), table(forms)))
    for form, rows in forms.items():
        show_failures(form, rows)
    if options.write:
        write_table(options.write, table(forms))


if __name__ == "__main__":
    sys.exit(main())
