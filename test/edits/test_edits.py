# SPDX-License-Identifier: Apache-2.0
"""Edits as models write them, by rules of published formats alone: what must apply applies, nothing lands
elsewhere, claims are true.

A third of the kinds at each commit, others at the next ones (HASP_TURN); all of them, whole, with
HASP_TESTS=all or script/edits-report. EDIT_CASES is how many cases of each kind are drawn, EDIT_SEED another
draw.
"""

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # before test/damage, which has names of its own
import drive  # noqa: E402
import files  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402
from drive import APPLIES, REFUSED  # noqa: E402
from part import ALL, in_turn  # noqa: E402

HASP = os.environ.get("HASP", str(HERE.parents[1] / "build" / "hasp"))
CASES = int(os.environ.get("EDIT_CASES", "200" if ALL else "30"))
SHOWN = 12  # failing kinds, in a message


@pytest.fixture(scope="module")
def tallies():
    return report.run(HASP, in_turn(table.load(), 3), CASES, os.environ.get("EDIT_SEED", "1"))


def failures(tallies, name, of=lambda tally: True):
    """For a reader: each kind with such an outcome, how often, and the smallest call."""
    lines = []
    for tally in tallies:
        if tally.counts[name] and of(tally):
            text = json.dumps(tally.worst[1].arguments)[:600] if tally.worst else ""
            lines.append(
                "%d of %d: %s, asked: %s\n      %s\n      %s"
                % (
                    tally.counts[name],
                    tally.cases,
                    tally.kind.name,
                    tally.kind.outcome,
                    dict(tally.reasons.most_common(2)),
                    text,
                )
            )
    return "\n".join(["%d kinds" % len(lines)] + lines[:SHOWN])


def count(tallies, name):
    return report.totals(tallies)[name]


def test_there_are_enough_kinds_files_and_languages():
    loaded = files.load()
    assert len(table.load()) >= 200
    assert len(loaded) >= 200 and len({file.language for file in loaded}) >= 40


def test_every_kind_has_cases(tallies):
    assert not [tally.kind.name for tally in tallies if tally.cases < CASES]


@pytest.mark.parametrize(
    "what, sentence",
    [
        ("wrong", "changed otherwise than meant, or success without it"),
        ("torn", "changed, and the answer is a failure"),
        ("twice", "sent again, it changes the file again"),
        ("claims", "the answer says what is not so"),
        ("broken", "reversed, or with its hunks in another order, it comes to something else"),
    ],
)
def test_none_is(tallies, what, sentence):
    assert not count(tallies, what), "%s: %s" % (sentence, failures(tallies, what))


def test_what_must_apply_applies(tallies):
    total = report.totals(tallies)
    assert total["refused, must apply"] <= report.SHARE * total["must apply"], failures(
        tallies, REFUSED, lambda tally: tally.kind.outcome == APPLIES
    )


def test_the_strict_applier_reads_what_it_should():
    """The checks rest on it: it takes exact diffs and nothing else."""
    base = b"one\ntwo\nthree"
    diff = b"--- a\n+++ a\n@@ -2,2 +2,2 @@\n two\n-three\n\\ No newline at end of file\n+THREE\n"
    assert drive.strictly(base, diff) == b"one\ntwo\nTHREE\n"
    assert drive.strictly(b"one\ntwo\nTHREE\n", drive.reverse(diff)) == base
    assert drive.strictly(b"one\nother\nthree", diff) is None
    assert drive.line_bounds(b"a\nb\n", b"a\nc\nd\n") == (2, 1)
