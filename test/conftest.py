# SPDX-License-Identifier: Apache-2.0
"""What all folders of tests share: cases and rows that take turns.

    @pytest.mark.in_turn("level")
    @pytest.mark.parametrize("level", LEVELS)
    @pytest.mark.parametrize("attack", ATTACKS)

runs the first attack at the first level, the second at the second, and so on around: each attack once and each level
often, where all of them at all levels would take long.  Several names, also of fixtures with parameters, take turns
together.

    pytestmark = pytest.mark.rows_in_turn(3)

runs of each table of the file that has ROWS or more rows (a test's parameters) every third, and the others at other
commits: script/lib/run_tests.py makes HASP_TURN of the commit's name.  It is for files whose tables take long.

Everything is run with HASP_TESTS=all, and so is a case that is named.

What a registry lacked, and what stood in for it (script/lib/candidates.py), is printed at the end.

Every answer of `hasp tool` is checked on its way (claims.py).

HASP_SAMPLE=6 runs one case of six, another at another commit: script/lib/run_tests.py sets it where the same cases are
all run elsewhere.
"""

import os
import subprocess
import sys
from pathlib import Path

import claims
from part import ALL, TURN

sys.path.append(str(Path(__file__).resolve().parents[1] / "script" / "lib"))
import candidates  # noqa: E402

ROWS = 4

# What every `hasp tool` of every test claims is held against the bytes.
subprocess.run = claims.watch(subprocess.run)


def case_of(item, names):
    """What the items have in common that differ in these parameters alone."""
    others = sorted((key, id(value)) for key, value in item.callspec.params.items() if key not in names)
    return item.path, item.originalname, tuple(others)


def pytest_collection_modifyitems(config, items):
    if ALL or any("::" in argument for argument in config.args):
        return  # who names a case means that one
    keep(config, items, taking_turns(items))
    keep(config, items, rows_taking_turns(items))
    sample = int(os.environ.get("HASP_SAMPLE", "1"))
    keep(config, items, items[TURN // 2 % sample::sample] or items[:1])  # in another measure than rows, or some would never come


def taking_turns(items):
    cases = {}
    for item in items:
        mark = item.get_closest_marker("in_turn")
        if mark and hasattr(item, "callspec"):
            cases.setdefault(case_of(item, mark.args), []).append(item)
    left_out = set()
    for turn, same in enumerate(cases.values()):
        kept = same[turn % len(same)]
        left_out.update(item for item in same if item is not kept)
    return [item for item in items if item not in left_out]


def rows_taking_turns(items):
    tables = {}
    for item in items:
        mark = item.get_closest_marker("rows_in_turn")
        if mark and hasattr(item, "callspec"):
            tables.setdefault((item.path, item.originalname, *mark.args), []).append(item)
    left_out = set()
    for (*_, parts), rows in tables.items():
        if len(rows) >= ROWS:
            left_out.update(row for i, row in enumerate(rows) if (i + TURN) % parts)
    return [item for item in items if item not in left_out]


def keep(config, items, kept):
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_terminal_summary(terminalreporter):
    for note in candidates.notes():
        terminalreporter.write_line(note)
