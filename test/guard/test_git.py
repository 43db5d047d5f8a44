# SPDX-License-Identifier: Apache-2.0
"""What git itself makes stays: the guard says nothing about ordinary work, and nothing is missing."""

import os
import subprocess

import pytest

from guard_fixture import Place
from guard_work import WORK

pytestmark = [pytest.mark.in_turn("level"), pytest.mark.rows_in_turn(3)]


@pytest.fixture(name="place")
def a_place(tmp_path):
    place = Place(tmp_path / "top")
    place.library()
    return place


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("name", WORK)
def test_git_works_and_nothing_is_taken_away(place, name, level):
    report = place.guarded("set -e; " + WORK[name], "--level", level, "--lost")
    again = place.guarded("touch y", "--level", level, "--lost")
    # "git submodule add" writes the workspace's own configuration, which is protected.
    told = [line for line in report.told + again.told
            if not ("submodule" in name and level == "landlock" and
                    line == "git: %s/.git/config (put back as it was)" % place.work)]
    assert not told
    assert "hasp-" not in place.shell("find . -not -name 'config.hasp-taken'")
    place.shell("git fsck --strict; git status; for d in sub copy s p n trees/t; do "
                "if [ -d $d ]; then git -C $d status; git -C $d fsck; fi; done")


def test_a_rebase_in_progress_goes_on(place):
    """Steps that a person wrote stay when the command goes on with the rebase."""
    place.shell("echo a > a; git add a; git commit -qm a; echo b > file; git commit -qam b; "
                "git checkout -q -b o HEAD~2; echo c > file; git commit -qam c; git checkout -q main; "
                "git rebase -q -x 'touch ran' -x 'touch also' o || true")
    report = place.guarded("echo b > file; git add file; GIT_EDITOR=true git rebase --continue",
                           "--lost")
    assert report.count == 0, report.told
    assert (place.work / "also").exists()


def test_a_large_workspace_is_listed_once(place, tmp_path):
    """4,000 folders with 40,000 files: the session's later commands look only at what has changed."""
    for number in range(4000):
        folder = place.work / ("d%d" % (number % 20)) / ("e%d" % number)
        folder.mkdir(parents=True)
        for name in range(10):
            os.close(os.open(folder / str(name), os.O_CREAT | os.O_WRONLY))
    whole = min((place.guarded("true") for _ in range(3)), key=lambda r: r.check_us)
    same = ["--memory", str(tmp_path / "memory")]
    place.guarded("true", *same)
    nothing, small = (min((place.guarded(script, *same) for _ in range(5)), key=lambda r: r.check_us)
                      for script in ("true", ": > d1/e1/x"))
    print("whole walk %.0f us; nothing made %.0f us; something made %.0f us"
          % (whole.check_us, nothing.check_us, small.check_us))
    # Ratios of the same minute: an idle machine has more than 4.
    assert 2 * nothing.check_us < whole.check_us and 2 * small.check_us < whole.check_us


def test_an_interrupted_command_leaves_a_worktree_that_git_can_prune(place):
    place.guarded("git worktree add -q t; rm .git/worktrees/t/gitdir", "--lost")
    place.shell("git worktree prune; git worktree list")
    assert subprocess.run(["git", "fsck"], cwd=place.work, env=place.env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
