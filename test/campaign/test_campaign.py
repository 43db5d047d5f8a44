# SPDX-License-Identifier: Apache-2.0
"""Hostile programs, generated: each way to spell a path, by each kind of memory it lies in, by each call, on each
kind of name that is protected, at both levels, as root and as another user.

A run of the program is one way and one kind of memory; what it did is read from the disk alone:

  - outside of the workspace nothing has changed;
  - of the names that others obey none is new and none is changed, unless the report of the command names it.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

# Whole (HASP_TESTS=all) it is 560 runs of up to 609 calls (and 80 that get no memory), each often where something moves; a commit has a few.
pytestmark = [pytest.mark.rows_in_turn(40)]

HASP, HOSTILE = os.environ["HASP"], os.environ["HOSTILE"]
UNPRIVILEGED = 65534
OLD = "[core]\n\tbare = false\n"

# What the name is, and whether it is there before.  "@" is the call's: each has a place of its own.
TARGETS = [
    (".git/config", True),
    (".git/hooks/pre-commit", True),
    (".git/hooks/post-commit", False),
    (".git/commondir", False),
    (".git/config.worktree", False),
    (".git/info/attributes", False),
    (".git/modules/m-@/config", True),
    (".git/modules/m-@/hooks/post-checkout", False),
    (".gemini/settings.json", True),
    (".mcp.json", False),
    (".envrc", False),
    ("s-@/.envrc", False),
    ("s-@/.mcp.json", False),
    ("s-@/.vscode", False),
    ("e-@/.envrc", True),
    ("v-@/.vscode/tasks.json", True),
    ("v-@/.vscode/extensions.json", False),
    ("r-@/.git/config", True),
    ("r-@/.git/hooks/post-merge", False),
    ("../outside/file", True),
    ("../outside/new", False),
]


def tables():
    rows = subprocess.run([HOSTILE, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {name: [row.split()[1] for row in rows if row.startswith(name + " ")] for name in ("way", "text", "call")}


TABLES = tables()


class Ground:
    """top/work is the workspace, a repository; top/outside is nobody's business."""

    def __init__(self, user):
        self.top = Path(tempfile.mkdtemp(prefix="hasp-campaign-", dir="/var/tmp"))
        self.top.chmod(0o755)
        self.user = user
        self.work = self.top / "work"
        for folder in ("work", "home", "outside"):
            (self.top / folder).mkdir()
        shutil.copy(HASP, self.top / "hasp")
        shutil.copy(HOSTILE, self.top / "hostile")
        subprocess.run(["git", "-c", "init.defaultBranch=main", "-c", "init.templateDir=", "init", "-q", self.top / "new"],
                       check=True)
        made = self.top / "new/.git"
        for folder in (".git", *("r-%s/.git" % call for call in TABLES["call"]),
                       *(".git/modules/m-" + call for call in TABLES["call"])):
            shutil.copytree(made, self.work / folder)
        for name, there in self.targets():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if there:
                path.write_text(OLD)
        if user != "root":
            subprocess.run(["chown", "-R", "%d:%d" % (UNPRIVILEGED, UNPRIVILEGED), self.top], check=True)
        self.wait_for_the_clock()
        self.before = self.look()

    @staticmethod
    def targets():
        return sorted({(name.replace("@", call), there) for name, there in TARGETS for call in TABLES["call"]})

    def wait_for_the_clock(self):
        """Until the file system's clock has moved: what is there is older than the command."""
        probe, seen = self.top / "clock", set()
        while len(seen) < 3:
            probe.write_text("x")
            seen.add(probe.stat().st_ctime_ns)

    def look(self):
        """What each target is; of those that are not there, None."""
        def state(path):
            if path.is_symlink():
                return "link to " + os.readlink(path)
            if path.is_file():
                return "runs: " * os.access(path, os.X_OK) + path.read_text(errors="replace")[:200]
            return "a %o" % path.stat().st_mode if path.exists() else None

        outside = {str(path): state(path) for path in (self.top / "outside").rglob("*")}
        return {name: state(self.work / name) for name, _ in self.targets()}, outside

    def run(self, level, way, text):
        as_user = [] if self.user == "root" else [
            "setpriv", "--reuid", str(UNPRIVILEGED), "--regid", str(UNPRIVILEGED), "--clear-groups"]
        lines = "".join("%s%s\n" % (name, " there" if there else "") for name, there in TARGETS)
        report = self.top / "home/report"
        ended = subprocess.run(
            [*as_user, self.top / "hasp", "sandbox", "--sandbox", level, "--report", report, "--",
             self.top / "hostile", way, text],
            cwd=self.work, input=lines, text=True, errors="replace", timeout=250, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={"PATH": os.environ["PATH"], "HOME": str(self.top / "home"), "LC_ALL": "C"})
        self.output = ended.stdout
        return ended.returncode, json.loads(report.read_text())

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


@pytest.fixture(params=["root", "user"], name="ground")
def a_ground(request):
    ground = Ground(request.param)
    yield ground
    ground.close()


def is_harm(name, was, now):
    """Whether the change is one that somebody outside would obey, or that must not be possible at all."""
    if now == was:
        return False
    if name.startswith("r-"):  # a repository of its own: what git runs of it
        return "fsmonitor" in now if now and name.endswith("/config") else bool(now) and now.startswith("runs: ")
    return now is not None or "/" not in name or name.startswith((".git/", "../"))


def harm(ground, report):
    """The targets that are not as they were, and of which nothing is said."""
    said = {record["what"] for record in report["denials"]}
    (before, outside), (after, outside_after) = ground.before, ground.look()
    wrong = ["outside: %s" % (outside_after,)] if outside != outside_after else []
    for name, was in before.items():
        now = after[name]
        if is_harm(name, was, now) and not any(what.startswith(str(ground.work / name)) for what in said):
            wrong.append("%s: was %.60r, is %.60r" % (name, was, now))
    return wrong


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("text", TABLES["text"])
@pytest.mark.parametrize("way", TABLES["way"])
def test_nothing_stays_unreported(ground, level, text, way):
    code, report = ground.run(level, way, text)
    if text == "faulting":  # the memory itself is not to be had, by the call or by the device
        assert code == 3 and harm(ground, report) == [], ground.output[-2000:]
        return
    if code == 3 and text == "secret":
        pytest.skip("this kernel has no " + text)
    assert code == 0 and "finished" in ground.output, ground.output[-2000:]
    assert report["sandbox"] == level
    assert harm(ground, report)[:20] == []


def test_without_the_sandbox_memory_that_a_thread_gives_can_be_had():
    """And such a program does what it says, so that the filter is what keeps it out."""
    ground = Ground("root")
    try:
        lines = "".join("%s%s\n" % (name, " there" if there else "") for name, there in TARGETS)
        done = subprocess.run([ground.top / "hostile", "absolute", "faulting"], cwd=ground.work, input=lines, text=True,
                              timeout=100, stdout=subprocess.DEVNULL, check=False)
        if done.returncode == 3:
            pytest.skip("this kernel gives no userfaultfd")
        assert done.returncode == 0 and len(harm(ground, {"denials": []})) > 30
    finally:
        ground.close()


def test_without_the_sandbox_each_way_gets_through():
    """The program does what it says: a plain path, by plain memory, reaches every target."""
    for way in TABLES["way"]:
        ground = Ground("root")
        try:
            lines = "".join("%s%s\n" % (name, " there" if there else "") for name, there in TARGETS)
            subprocess.run([ground.top / "hostile", way, "plain"], cwd=ground.work, input=lines, text=True, check=True,
                           timeout=100, stdout=subprocess.DEVNULL)
            changed = len(harm(ground, {"denials": []}))
            # What is exchanged while the call is made is there in time or not.
            least = 0 if way.startswith("swapped") else 30
            assert (changed == 0) if way == "too-long-text" else changed > least, (way, changed)
        finally:
            ground.close()
