#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kinds of edits and reports right, refused and wrong by kind; script/edits-report runs it whole.

    test/edits/report.py [--cases N] [--kind TEXT] [--seed S] [--program build/hasp] [--peers] [--write docs/edits.md]
            [--failures FOLDER]

--failures keeps the smallest failing case of each kind as JSON, with the call's arguments, the file, what was
wanted and what came. The exit status is 1 when a demand of test_edits.py does not hold.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import drive
import files
import table
from drive import ALREADY, APPLIES, EITHER, REFUSE, REFUSED, RIGHT, WRONG

TOP = Path(__file__).resolve().parents[2]
SHARE = 0.01  # of what must apply, that may be refused
NAMED = 6  # kinds in one row
DEEP = 8  # every so many cases the properties too
BEGIN, END = "<!-- edits by kind: begin -->", "<!-- edits by kind: end -->"


# ---- GNU patch and git apply, each with its own defaults -----------------------------------------

PEERS = ("GNU patch", "git apply")


def by_patch(case, folder):
    name = case.name
    path, text = os.path.join(folder, name), os.path.join(folder, "the.diff")
    for where, data in ((path, case.before[name]), (text, case.diff)):
        with open(where, "wb") as file:
            file.write(data)
    done = subprocess.run(
        ["patch", "-s", "-f", "--no-backup-if-mismatch", "-r", "-", path, text],
        cwd=folder,  # where a diff that renames makes its new file
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def by_git(case, folder):
    name = case.name
    diff = case.diff
    if b"\n--- " not in b"\n" + diff:  # it needs names: with them it has a chance
        diff = b"--- a/%s\n+++ b/%s\n" % ((name.encode(),) * 2) + diff
    with open(os.path.join(folder, name), "wb") as file:
        file.write(case.before[name])
    strip = "-p1" if b"--- a/" in diff or b"--- old/" in diff or b"--- i/" in diff or b'--- "a/' in diff else "-p0"
    done = subprocess.run(
        ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", strip, "-"],
        input=diff,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(folder)),
    )
    if done.returncode != 0:
        return None
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def emptied(folder):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return folder


def peer_outcomes(case, folder):
    """Per program, what it makes of the file: bytes, or None for a refusal; {} for what is no diff of one file."""
    if not case.diff or len(case.before) != 1:
        return {}
    return {"GNU patch": by_patch(case, emptied(folder)), "git apply": by_git(case, emptied(folder))}


# ---- counting ------------------------------------------------------------------------------------


@dataclass
class Tally:
    kind: object
    counts: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    worst: object = None  # (size, case, verdict): the smallest failure
    peers: dict = field(default_factory=lambda: {name: Counter() for name in PEERS})

    @property
    def cases(self):
        return sum(self.counts[one] for one in (RIGHT, REFUSED, WRONG))

    def add(self, case, verdict):
        self.counts[verdict.outcome] += 1
        self.counts["torn"] += verdict.torn
        self.counts["twice"] += verdict.twice
        self.counts["claims"] += bool(verdict.claims)
        self.counts["broken"] += bool(verdict.broken)
        refused = self.kind.outcome == APPLIES and verdict.outcome == REFUSED
        reasons = [verdict.wrong] if verdict.wrong else []
        reasons += (
            ["made twice"] * verdict.twice + ["torn"] * verdict.torn + list(verdict.claims) + list(verdict.broken)
        )
        if refused:
            reasons.append("refused: " + verdict.answer.get("message", ""))
        for reason in reasons:
            self.reasons[re.sub(r"\d+", "N", reason)[:110]] += 1
        size = sum(map(len, case.before.values())) + len(json.dumps(case.arguments))
        rank = (not verdict.wrong, size)
        if reasons and (self.worst is None or rank < self.worst[0]):
            self.worst = rank, case, verdict

    def add_peers(self, case, folder):
        for name, got in peer_outcomes(case, folder).items():
            done = got is not None and {case.name: got} != case.before
            if got is None:
                self.peers[name][REFUSED] += 1
            elif (
                self.kind.outcome in (APPLIES, EITHER)
                and {case.name: got} in case.after
                or not done
                and self.kind.outcome in (ALREADY,)
            ):
                self.peers[name][RIGHT] += 1
            else:
                self.peers[name][WRONG] += 1


def run(program, chosen, count, seed="1", with_peers=False, progress=lambda tally: None):
    """A Tally for each kind."""
    out = []
    with tempfile.TemporaryDirectory() as folder, drive.Server(program) as server:
        for one in chosen:
            tally = Tally(one)
            for i, case in enumerate(one.cases(count, seed)):
                tally.add(case, drive.judge(server, one, case, deep=i % DEEP == 0))
                if with_peers:
                    tally.add_peers(case, folder)
            out.append(tally)
            progress(tally)
    return out


def totals(tallies):
    total = Counter()
    for tally in tallies:
        total.update(tally.counts)
        if tally.kind.outcome == APPLIES:
            total["must apply"] += tally.cases
            total["refused, must apply"] += tally.counts[REFUSED]
    return total


def faults(tallies):
    """What the demands do not allow, as sentences."""
    total = totals(tallies)
    found = ["%d %s" % (total[name], name) for name in (WRONG, "torn", "twice", "claims", "broken") if total[name]]
    if total["refused, must apply"] > SHARE * total["must apply"]:
        found.append("%d of %d that must apply are refused" % (total["refused, must apply"], total["must apply"]))
    return found


# ---- tables --------------------------------------------------------------------------------------

ASKED = {APPLIES: "applies", REFUSE: "refused", EITHER: "applies, or refused", ALREADY: "stays as it is"}


def cell(counts):
    return "%d · %d · %d" % (counts[RIGHT], counts[REFUSED], counts[WRONG])


def as_asked(tally):
    counts = tally.counts
    return (
        not counts[WRONG]
        and not counts["twice"]
        and not counts["claims"]
        and not (tally.kind.outcome == APPLIES and counts[REFUSED])
    )


def summed(counters):
    total = Counter()
    for counter in counters:
        total.update(counter)
    return total


def named(tallies):
    """The kinds' names; only the first of many."""
    names = [tally.kind.name.replace("|", "\\|").replace("`", "'") for tally in tallies]
    return "; ".join(names[:NAMED]) + ("; and %d more" % (len(names) - NAMED) if len(names) > NAMED else "")


def markdown(tallies):
    """A row for all kinds of a group that ask the same and got it; one for those that did not."""
    groups = {}
    for tally in tallies:
        groups.setdefault((tally.kind.group, tally.kind.outcome, not as_asked(tally)), []).append(tally)
    lines = ["| kinds | asked | hasp | GNU patch | git apply |", "|---|---|---|---|---|"]
    for (group, asked, otherwise), some in sorted(groups.items(), key=lambda item: item[0]):
        what = "%s: %d kind%s" % (group, len(some), "s" * (len(some) > 1))
        if otherwise:
            what = "%s, otherwise: %s" % (group, named(some))
        beside = [summed(tally.peers[name] for tally in some) for name in PEERS]
        cells = [
            cell(counts) if sum(counts.values()) else "" for counts in [summed(tally.counts for tally in some), *beside]
        ]
        lines.append("| %s | %s | %s |" % (what, ASKED[asked], " | ".join(cells)))
    total = totals(tallies)
    lines.append("")
    lines.append("%d kinds, %d cases, %d files of %d languages. Of %d that must apply, %d were refused." % (
        len(tallies), sum(tally.cases for tally in tallies), len(files.load()),
        len({file.language for file in files.load()}), total["must apply"], total["refused, must apply"]))
    lines.append("The same call again made the edit twice in %d cases, %d edits were half made, %d answers said what is "
                 "not so." % (total["twice"], total["torn"], total["claims"]))
    return "\n".join(lines)


def keep_failures(tallies, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, tally in enumerate(tallies):
        if tally.worst is None:
            continue
        _, case, verdict = tally.worst
        text = lambda state: {name: data.decode("utf-8", "surrogateescape") for name, data in state.items()}
        record = {
            "kind": tally.kind.name,
            "group": tally.kind.group,
            "asked": tally.kind.outcome,
            "counts": dict(tally.counts),
            "reasons": dict(tally.reasons),
            "tool": case.tool,
            "arguments": case.arguments,
            "before": text(case.before),
            "after": [text(one) for one in case.after],
            "got": text(verdict.got),
            "answer": verdict.answer,
        }
        name = re.sub(r"[^A-Za-z0-9]+", "-", tally.kind.name).strip("-")
        (folder / ("%03d-%s.json" % (number, name))).write_text(json.dumps(record, indent=1, ensure_ascii=True))


def replaced(page, text):
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--kind", default="")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--program", default=str(TOP / "build" / "hasp"))
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--failures", type=Path)
    options = parser.parse_args()
    chosen = [one for one in table.load() if options.kind in one.name or options.kind in one.group]

    def progress(tally):
        counts = tally.counts
        extra = ", ".join(
            "%s %d" % (name, counts[name]) for name in ("twice", "torn", "claims", "broken") if counts[name]
        )
        print("%-8s %-90s %s %s" % (tally.kind.outcome, tally.kind.name, cell(counts), extra), flush=True)
        if tally.cases < options.cases:
            print("         only %d cases" % tally.cases)

    tallies = run(options.program, chosen, options.cases, options.seed, options.peers, progress)
    total = totals(tallies)
    print(
        "\n%d kinds, %d cases: %s; of %d that must apply %d refused"
        % (
            len(tallies),
            sum(t.cases for t in tallies),
            ", ".join("%s %d" % (k, total[k]) for k in (RIGHT, REFUSED, WRONG, "torn", "twice", "claims", "broken")),
            total["must apply"],
            total["refused, must apply"],
        )
    )
    if options.failures:
        keep_failures(tallies, options.failures)
    if options.write:
        options.write.write_text(replaced(options.write.read_text(), markdown(tallies)))
    found = faults(tallies)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
