# SPDX-License-Identifier: Apache-2.0
"""Everyday jobs at full and at landlock, as root and as another user, end as they do outside."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs import USERS, all_jobs, table
from part import ALL, TURN
from workshop import Workshop

PARTS = 6
pytestmark = pytest.mark.rows_in_turn(PARTS)

HASP = os.environ["HASP"]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/honest-work.md"
JOBS = {job.name: job for job in all_jobs()}
# Each job as one user and at one level; as the other and at the other when it has its turn again (TURN is one of
# twelve); as both users and at both levels with HASP_TESTS=all.
WAYS = [("root", "full"), ("root", "landlock"), ("user", "landlock"), ("user", "full")]
RUNS = [(name, user, level) for number, name in enumerate(JOBS)
        for user, level in (WAYS if ALL else [WAYS[(number // PARTS + TURN // PARTS * 2) % len(WAYS)]])
        if user in JOBS[name].users]


@pytest.fixture(scope="module", name="runs")
def the_runs(request):
    """What was chosen of the table is begun at once, as many jobs side by side as help."""
    workshops = {user: Workshop(HASP, user) for user in USERS}
    with ThreadPoolExecutor((os.cpu_count() or 2) + 1) as pool:
        yield {way: pool.submit(workshops[way[1]].do, JOBS[way[0]], way[2]) for way in (
                   tuple(item.callspec.params[key] for key in ("name", "user", "level"))
                   for item in request.session.items if item.originalname == "test_job")}
    for workshop in workshops.values():
        workshop.close()


@pytest.mark.parametrize("name, user, level", RUNS)
def test_job(runs, name, user, level):
    wrong = runs[name, user, level].result()
    assert not wrong, "\n\n".join(wrong)


def test_the_document_has_this_table():
    assert len(JOBS) >= 40
    assert table() in DOCUMENT.read_text(), "make it again: test/honest/jobs.py"
