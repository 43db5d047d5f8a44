# SPDX-License-Identifier: Apache-2.0
"""A folder that was set up for Gemini CLI, Claude Code and Codex: every part works with hasp -p, and
Gemini CLI does the same where it has the part: in one run for all calls, and in one for each part with
HASP_TESTS=all, as in script/setup-compare."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from part import ALL
import setups
from programs import TOP

BOTH = ("gemini", "hasp")


@pytest.fixture(scope="module")
def all_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("setup")
    with ThreadPoolExecutor(2) as pool:
        started = {name: pool.submit(setups.run, name, folder, ALL or name == "hasp")
                   for name in BOTH}
    return {name: one.result() for name, one in started.items()}


def test_every_run_came_to_its_end(all_runs):
    for name in BOTH:
        for prompt, run in all_runs[name].items():
            assert (run.code, run.left) == (0, []), (name, prompt, run.err)
    assert all(run.violations == [] for run in all_runs["hasp"].values())


def test_every_part_works_here_and_there_where_it_is_known(all_runs):
    has = {one.part: one.gemini for one in (*setups.SENT, *setups.CALLS, *setups.AGENTS)}
    found = {part: (there, here) for part, there, here, _ in setups.rows(all_runs)}
    assert found == {**{part: (gemini, True) for part, gemini in has.items()},
                     setups.CLAUDE_HOOKS: (False, True)}


def test_both_made_the_same_calls(all_runs):
    uses = [[(event["tool_name"], event["parameters"])
             for event in all_runs[name]["Work."].of_type("tool_use")] for name in BOTH]
    asked = [(one.call["call"], one.call["args"]) for one in setups.CALLS]
    assert uses == [asked, asked]


def test_what_servers_answer_is_handed_on_alike(all_runs):
    """Word for word, the mark around it too."""
    for i, one in enumerate(setups.CALLS):
        if one.gemini and one.call["call"].startswith("mcp_"):
            there, here = (all_runs[name]["Work."].answers()[i + 1] for name in BOTH)
            assert there == here


def test_files_are_the_same_afterwards(all_runs):
    there, here = (dict(all_runs[name]["Work."].files) for name in BOTH)
    here.pop("claude-hook-ran", None)  # a hook that only hasp has
    assert there == here and here["notes/new.md"] == "x\n"
    assert not {"api/new.c", "web/new.html"} & set(here)


def test_the_page_has_the_table(all_runs):
    page = (TOP / "docs" / "gemini-cli.md").read_text()
    part = page.partition("<!-- setup: begin -->\n")[2].partition("<!-- setup: end -->")[0]
    assert part.splitlines() == setups.table(all_runs)
