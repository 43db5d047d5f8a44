#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Damages real diffs, has them applied, and reports right / literal / refused / wrong per kind.

    DAMAGE_DRIVER=build/test/damage/damage_driver test/damage/report.py [--cases N] [--peers]
            [--kind TEXT] [--seed S] [--program build/hasp] [--write FILE] [--failures FOLDER]

With --peers the table stands beside GNU patch, `git apply` and npm's `diff`.  --failures saves
the smallest failing cases of each kind (base, diff, expected, got, note).  --write makes the
Markdown page.  Literal, in the groups in which nothing must be recovered, is a result with every
hunk at its true place, all other bytes of the base kept, and the added lines written as the
damaged diff gives them (literal.py).  The exit status is 1 when something was applied wrongly or
a demand failed.
"""

import argparse
import hashlib
import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import corpus
import kinds
import peers
from kinds import EFFORT, EITHER, MISLED, OPTIONAL, RECOVER, REFUSE, REFUSED, RIGHT

TRIES = 12        # triples looked at for each case wanted: not every diff has a tab
SHARE = 0.99      # of all recoverable cases that must be right
SHARE_OF_KIND = 0.97  # of those of each kind; one refusal is allowed however few they are
KEPT = 3          # failures saved of each kind


# What was made already is no error: the file stays as it is, and the answer says why.
DONE = ("applied already", "reversed", "base moved on: all the removed lines are missing")


def leaves_it(case, got):
    return case.kind in DONE and got == case.base


@dataclass
class Tally:
    right: int = 0
    literal: int = 0
    refused: int = 0
    wrong: int = 0

    def add(self, case, got):
        if leaves_it(case, got):
            got = None
        if case.truth is not None and got == case.truth:
            self.right += 1
        elif got is None:
            self.refused += 1
        elif got in case.literal:
            self.literal += 1
        else:
            self.wrong += 1

    def plus(self, other):
        return Tally(self.right + other.right, self.literal + other.literal,
                     self.refused + other.refused, self.wrong + other.wrong)

    def total(self):
        return self.right + self.literal + self.refused + self.wrong

    def outcomes(self):
        """The outcomes that cases had, as the names of their fields."""
        names = ("right", "literal", "refused", "wrong")
        return tuple(name for name in names if getattr(self, name))

    def cell(self, group):
        """For a table of the group: literal results are counted where they are allowed."""
        if group in (EFFORT, OPTIONAL):
            return "%d/%d/%d/%d" % (self.right, self.literal, self.refused, self.wrong)
        return "%d/%d/%d" % (self.right, self.refused, self.wrong)


@dataclass
class Row:
    """One kind: tallies by the name of the program."""
    entry: kinds.Kind
    demanded: dict = field(default_factory=dict)      # cases with one answer
    undetermined: dict = field(default_factory=dict)  # right or refused, both are fine
    misled: int = 0
    failures: list = field(default_factory=list)      # of the first program: (case, got, note)

    def cases(self):
        return sum(next(iter(t.values())).total() if t else 0
                   for t in (self.demanded, self.undetermined))


def failed(case, got):
    """Whether an answer breaks the demand on its case."""
    if case.demand == RIGHT:
        return got != case.truth
    if case.demand == REFUSED:
        return got is not None and not leaves_it(case, got)
    return case.demand == EITHER and got is not None and got != case.truth and \
        got not in case.literal


def cases_of(entry, triples, count, seed):
    """Up to `count` cases of a kind, from triples in an order of its own."""
    key = ("%s/%s/" % (kinds.drawn_by(entry), seed)).encode()
    # By name, so that a commit more in this repository does not change all the cases.
    places = [hashlib.blake2b(key + triple.name.encode("utf-8", "replace"), digest_size=8).digest()
              for triple in triples]
    made = 0
    for n in sorted(range(len(triples)), key=places.__getitem__)[:count * TRIES]:
        case = kinds.make_case(entry, triples[n], triples, seed)
        if case is not None:
            made += 1
            yield case
            if made == count:
                return


def run_kind(entry, triples, programs, count, peer_count, seed):
    """programs[0] is the one that is judged; the others get the first `peer_count` cases."""
    row = Row(entry)
    for n, case in enumerate(cases_of(entry, triples, count, seed)):
        if case.demand == MISLED:
            row.misled += 1
            continue
        for program in programs[:1] if n >= peer_count else programs:
            got = program.apply(case.base, case.diff, case.path)
            tallies = row.undetermined if case.demand == EITHER else row.demanded
            tallies.setdefault(program.name, Tally()).add(case, got)
            if program is programs[0] and failed(case, got):
                row.failures.append((case, got, getattr(program, "note", "")))
    return row


def run(programs, count, peer_count=0, seed=1, match="", progress=False):
    triples = corpus.load()
    rows = []
    chosen = [entry for entry in kinds.load_all() if match in entry.name]
    for n, entry in enumerate(chosen):
        rows.append(run_kind(entry, triples, programs, count, peer_count, seed))
        if progress and sys.stderr.isatty():
            print("\r%3d / %d kinds" % (n + 1, len(chosen)), end="", file=sys.stderr)
    if progress and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return rows


# ---- demands ---------------------------------------------------------------------------

def complaints(rows, name):
    """What is not as demanded, one sentence each."""
    out = []
    for row in rows:
        sure, open_ = (t.get(name, Tally()) for t in (row.demanded, row.undetermined))
        wrong = sure.wrong + open_.wrong
        if wrong:
            out.append("%s: %d of %d applied wrongly" % (row.entry.name, wrong,
                                                         sure.total() + open_.total()))
        missed = sure.total() - sure.right
        if row.entry.group == RECOVER and missed > max(1, (1 - SHARE_OF_KIND) * sure.total()):
            out.append("%s: only %d of %d right (%d refused)" % (
                row.entry.name, sure.right, sure.total(), sure.refused))
    right, total = share_right(rows, name)
    if len(rows) > 1 and right < SHARE * total:
        out.append("all recoverable kinds: only %d of %d right" % (right, total))
    return out


def share_right(rows, name):
    """(right, all) over the recoverable kinds."""
    tallies = [row.demanded.get(name, Tally()) for row in rows if row.entry.group == RECOVER]
    return sum(t.right for t in tallies), sum(t.total() for t in tallies)


# ---- tables ----------------------------------------------------------------------------

TITLES = {
    RECOVER: "Recoverable: the result still follows from the diff",
    REFUSE: "To be refused, or left alone as done: another state of the file, or no such diff",
    EFFORT: "Best effort: right, literal or refused, all are fine",
    OPTIONAL: "Other forms of a diff: right, literal or refused, all are fine",
}


def _tallies(row):
    """The tallies that a row shows: in groups that demand something, the demanded ones."""
    if row.entry.group in (RECOVER, REFUSE):
        return row.demanded
    return row.undetermined or row.demanded


def _markdown(name):
    for plain, escaped in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("`", "&#96;")):
        name = name.replace(plain, escaped)
    return name


def merged(lines, demanded):
    """Of (kind, cells), the lines of a table: kinds for which each program has the same outcomes
    share a line with their cells added up.  Where something is demanded, only those for which the
    first program has one outcome in all cases."""
    shared, rest = {}, []
    for kind, cells in lines:
        outcomes = tuple(cell.outcomes() for cell in cells)
        alike = rest if demanded and len(outcomes[0]) > 1 else shared.setdefault(outcomes, [])
        alike.append((kind, cells))
    out = []
    for same in sorted(shared.values(), key=len, reverse=True):
        sums = [Tally() for _ in same[0][1]]
        for _, cells in same:
            sums = [total.plus(cell) for total, cell in zip(sums, cells)]
        out.append((kinds_in_words([kind for kind, _ in same]), sums))
    return out + rest


def kinds_in_words(names):
    """Names of kinds, those that begin with the same words and a colon together."""
    stems = {}
    for name in names:
        stem, colon, _ = name.partition(": ")
        stems.setdefault(stem + colon, []).append(name[len(stem + colon):])
    return "<br>".join(stem + "; ".join(ends) for stem, ends in stems.items())


def tables(rows, names, share_lines=False):
    """The Markdown tables, one for each group; share_lines: see merged()."""
    out = []
    for group, title in TITLES.items():
        chosen = [row for row in rows if row.entry.group == group and _tallies(row)]
        if not chosen:
            continue
        out += ["", "### " + title, "", "| kind | " + " | ".join(names) + " |",
                "|---|" + "---|" * len(names)]
        totals = {name: Tally() for name in names}
        for row in chosen:
            for name in names:
                totals[name] = totals[name].plus(_tallies(row).get(name, Tally()))
        lines = [(_markdown(row.entry.name), [_tallies(row).get(name, Tally()) for name in names])
                 for row in chosen]
        out += ["| %s | %s |" % (kind, " | ".join(cell.cell(group) for cell in cells))
                for kind, cells in (merged(lines, group in (RECOVER, REFUSE)) if share_lines
                                    else lines)]
        out.append("| **all** | %s |" % " | ".join("**%s**" % totals[name].cell(group)
                                                   for name in names))
        if group == RECOVER:
            open_ = {name: Tally() for name in names}
            for row in chosen:
                for name in names:
                    open_[name] = open_[name].plus(row.undetermined.get(name, Tally()))
            cells = " | ".join(open_[name].cell(group) for name in names)
            out.append("| not determined: another place fits, or nearly, and nothing says which "
                       "| %s |" % cells)
    return out


PAGE = """# Damaged diffs

Real changes (from Debian's patch series, successive versions of npm packages and this
repository), printed as unified diffs and then damaged as language models damage them.
Each cell counts cases: *right/refused/wrong*. Right is the exact bytes of the real result;
wrong is any other result reported as success. The last two tables have
*right/literal/refused/wrong*. Literal: every hunk is at its true place and the rest of the file
is kept, but the added lines have the text of the damaged diff, in which nothing shows the damage.
Kinds for which each program has the same outcomes share a row; in the first two tables, those for
which hasp has one outcome in all cases.

Left out are %d of %d cases whose damaged text is just what another change would have.

The other programs run with their defaults, each on the first of hasp's cases. To repeat it (the
first run fetches the packages, by apt and npm, which may have moved on):

    meson compile -C build damage_driver
    DAMAGE_DRIVER=build/test/damage/damage_driver test/damage/report.py --peers \\
            --cases %d --peer-cases %d --seed %s --write docs/damage.md
"""


def page(rows, names, options):
    misled = sum(row.misled for row in rows)
    total = misled + sum(row.cases() for row in rows)
    head = PAGE % (misled, total, options.cases, options.peer_cases, options.seed)
    return head + "\n".join(tables(rows, names, share_lines=True)) + "\n"


# ---- failures --------------------------------------------------------------------------

def save_failures(rows, folder):
    """The smallest failures of each kind, as files that can be tried by hand."""
    folder = Path(folder)
    for row in rows:
        slug = re.sub(r"[^a-z0-9]+", "-", row.entry.name.lower()).strip("-")
        shutil.rmtree(folder / slug, ignore_errors=True)
        smallest = sorted(row.failures, key=lambda failure: (
            failure[1] is None, len(failure[0].diff) + len(failure[0].base)))
        for n, (case, got, note) in enumerate(smallest[:KEPT]):
            place = folder / slug / str(n)
            place.mkdir(parents=True, exist_ok=True)
            (place / "base").write_bytes(case.base)
            (place / "diff").write_bytes(case.diff)
            (place / "expected").write_bytes(b"" if case.truth is None else case.truth)
            (place / "got").write_bytes(got or b"")
            (place / "note").write_text("%s\nof: %s\ndemand: %s\ngot: %s\n%s\n" % (
                case.kind, case.name, case.demand,
                "refused" if got is None else "applied", note))


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100, help="of each kind")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-cases", type=int, default=40, help="of each kind for the peers")
    parser.add_argument("--kind", default="", help="only kinds whose name has this text")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--program", help="judge this hasp by `hasp tool`, not the driver")
    parser.add_argument("--driver", default=os.environ.get("DAMAGE_DRIVER"))
    parser.add_argument("--write", help="write the Markdown page here")
    parser.add_argument("--failures", help="save failing cases beneath this folder")
    options = parser.parse_args()
    if not options.driver and not options.program:
        parser.error("give --driver, DAMAGE_DRIVER or --program")
    return options


def main():
    options = _arguments()
    if options.program:
        programs = [peers.Program(options.program)]
    else:
        programs = [peers.Engine([options.driver])] if options.driver else []
    if options.peers:
        programs += [peers.GnuPatch(), peers.GitApply(), peers.js_diff()]
    rows = run(programs, options.cases, options.peer_cases, options.seed, options.kind, True)
    names = [program.name for program in programs]
    print("\n".join(tables(rows, names)))
    for name in names:
        right, total = share_right(rows, name)
        print("%s: %d of %d recoverable cases right (%.2f %%)" % (
            name, right, total, 100.0 * right / max(total, 1)))
    if options.write:
        Path(options.write).write_text(page(rows, names, options))
    if options.failures:
        save_failures(rows, options.failures)
    found = complaints(rows, names[0])
    print("\n".join(found) or "nothing applied wrongly, every demand met")
    for program in programs:
        program.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
