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
    same = ["--memory", str(tmp_path / "memory")]

    def quickest(count, script, *more):
        reports = [place.guarded(script, *more) for _ in range(count)]
        return min(r.take_us for r in reports), min(r.check_us for r in reports)

    # A first command lists before it starts, and not again after it: then it looks at change times, as later ones do.
    listed, after = quickest(3, "true")
    place.guarded("true", *same)
    before, nothing = quickest(5, "true", *same)
    small = quickest(5, ": > d1/e1/x", *same)[1]
    print("listed in %.0f us, checked in %.0f; later %.0f, %.0f; something made %.0f"
          % (listed, after, before, nothing, small))
    # Ratios of the same minute: an idle machine has more than 4.
    assert 2 * max(after, before, nothing, small) < listed


def test_an_interrupted_command_leaves_a_worktree_that_git_can_prune(place):
    place.guarded("git worktree add -q t; rm .git/worktrees/t/gitdir", "--lost")
    place.shell("git worktree prune; git worktree list")
    assert subprocess.run(["git", "fsck"], cwd=place.work, env=place.env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
