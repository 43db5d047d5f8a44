# SPDX-License-Identifier: Apache-2.0
"""Updates of real histories, damaged: none is applied wrongly, those that can be told are saved.

UPDATE_DRIVER names the engine on a pipe (update_driver.c).  UPDATE_CASES is how many cases of each
kind are tried.
"""

import os
import random

import pytest

import corpus
import updates
from part import ALL

CASES = int(os.environ.get("UPDATE_CASES", "150" if ALL and "ASAN_OPTIONS" not in os.environ else "60"))


@pytest.fixture(scope="module")
def found():
    edits = list(updates.edits(corpus._commit_pairs(120), random.Random("1")))
    if len(edits) < 200:
        pytest.skip("this clone has too little history")
    return edits


@pytest.fixture(scope="module", params=updates.FORMS)
def rows(request, found):
    with updates.Driver(os.environ["UPDATE_DRIVER"]) as driver:
        return updates.run(driver, request.param, found, CASES, "1")


def test_nothing_is_applied_wrongly(rows):
    wrong = {name: row.failures[:2] for name, row in rows.items() if row.wrong}
    assert not wrong


@pytest.mark.parametrize("kind", updates.SAVED)
def test_what_can_be_told_is_saved(rows, kind):
    row = rows[kind]
    assert row.right >= updates.SAVED[kind] * row.cases


def test_what_is_refused_names_the_first_difference(rows):
    """But for texts that stand nowhere, and places that are as good as the one that was meant."""
    for kind in ("indentation of one line", "stale: a word", "an inner space more",
                 "shifted: less", "shifted: tabs to spaces", "shifted: four spaces to a tab"):
        row = rows[kind]
        assert row.right + row.enough >= 0.85 * row.cases
