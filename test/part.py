# SPDX-License-Identifier: Apache-2.0
"""How much of a long test is run: all of it with HASP_TESTS=all, else a part; part.h is the same for C."""
import os

ALL = os.environ.get("HASP_TESTS") == "all"


def part_of(whole, parts):
    """Of `whole` rounds: all of them, or one of `parts`."""
    return whole if ALL else whole // parts


def part_step(step):
    """From one case of a table to the next that is run: 1, or `step`."""
    return 1 if ALL else step


# Another number at another commit (script/lib/run_tests.py): which cases of a table are run, where some are.
TURN = int(os.environ.get("HASP_TURN", "0"))
