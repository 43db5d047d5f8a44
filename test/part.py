# SPDX-License-Identifier: Apache-2.0
"""How much of a long test is run: all of it with HASP_TESTS=all, else a part; part.h is the same for C."""
import os

ALL = os.environ.get("HASP_TESTS") == "all"
TURN = int(os.environ.get("HASP_TURN", "0"))  # another number at most commits: script/lib/run_tests.py


def part_of(whole, parts):
    """Of `whole` rounds: all of them, or one of `parts`."""
    return whole if ALL else whole // parts


def part_step(step):
    """From one case of a table to the next that is run: 1, or `step`."""
    return 1 if ALL else step


def in_turn(cases, parts):
    """Of these cases every `parts`-th, others at another commit, or all."""
    return cases if ALL else cases[TURN % parts::parts]
