# SPDX-License-Identifier: Apache-2.0
"""Git's everyday commands give inside what they give outside, or are refused whole.

What git does not find it takes for deleted, and commits that.  So each shape of a repository at each place where the
view of a command differs from the machine's is made twice (of the same path: one after the other); the command is run
outside on the one and inside on the other; then commits, refs, indexes, files and status are compared.

All 8,400 take an hour; 14 have their turn at each commit (test/part.py), all with HASP_TESTS=all.
"""

import hashlib
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from effective_fixture import CONFIG, GIT_ENV, HASP
from part import in_turn
from view_layouts import COMMANDS, HIDING, LAYOUTS, MAKE, PLACES

LEVELS = ("full", "landlock")
# What git writes to its configuration, which is protected: with the same content it works, else it is refused before
# anything else is done.
WORKS = ("branch -m plain n", "branch -M plain n", "branch -d plain", "branch -D plain", "config core.bare false",
         "submodule init", "submodule update --init", "submodule sync", "branch -m tracked n", "branch -M tracked n",
         "branch -m n", "branch -u origin/narrow", "config --unset branch.tracked.merge")
REFUSED = ("remote add x y", "remote rename origin x", "remote remove origin", "config user.name x",
           "config --unset branch.tracked.remote", "branch --unset-upstream tracked")
CASES = [(layout, place, level, command) for command in COMMANDS for layout in LAYOUTS for place in PLACES
         for level in LEVELS]
random.Random(7).shuffle(CASES)  # what has its turn is of all kinds
PARTS = 600


class Ground:
    def __init__(self, layout, place, level):
        base = PLACES[place] % os.getuid() if "%" in PLACES[place] else PLACES[place]
        Path(base).mkdir(parents=True, exist_ok=True)
        self.top = Path(tempfile.mkdtemp(prefix="hasp-view-", dir=base))
        self.layout, self.level = layout, level
        home = self.top if place.startswith("home") else Path(tempfile.mkdtemp(prefix="hasp-home-", dir="/var/tmp"))
        self.home = home
        (home / ".gitconfig").write_text(CONFIG + "[safe]\n\tdirectory = *\n")
        self.folder, self.kept = self.top / "d", self.top / "kept"
        self.env = dict(GIT_ENV, HOME=str(home), D=str(self.folder), ROOT=str(self.folder / layout.root))
        if place == "TMPDIR":
            self.env["TMPDIR"] = str(self.top)
        self.folder.mkdir()
        self.run(["sh", "-ec", MAKE + layout.make], self.folder, check=True)

    def run(self, argv, folder, check=False, env=None):
        done = subprocess.run(argv, cwd=folder, env=dict(self.env, **(env or {})), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        assert not check or done.returncode == 0, done.stdout
        return done

    def words(self, text):
        return text.replace("$D", str(self.folder))

    def variables(self):
        return {name: self.words(value) for name, value in self.layout.env.items()}

    def keep(self):
        subprocess.run(["cp", "-a", self.folder, self.kept], check=True)

    def bring_back(self):
        shutil.rmtree(self.folder)
        subprocess.run(["cp", "-a", self.kept, self.folder], check=True)

    def outside(self, script):
        return self.run(["sh", "-c", script], self.folder / self.layout.root, env=self.variables())

    def inside(self, script):
        flags = [self.words(flag) for flag in self.layout.flags]
        return self.run([HASP, "sandbox", "--sandbox", self.level, "--env", "keep", *flags, "--", "sh", "-c", script],
                        self.folder / self.layout.root, env=self.variables())

    def git(self, folder, *words):
        done = self.run(["git", *words], folder, env=self.variables())
        return done.stdout if done.returncode == 0 else "failed: " + done.stdout

    def files(self):
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if ".git" in path.parts or "b.git" in name or name.split("/")[0] in ("g", "s"):
                continue
            if path.is_file():
                content = path.read_bytes()
                found[name] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return found

    def state(self):
        """What git says in each work tree, and the files."""
        seen = {}
        for top in self.layout.tops or (self.layout.root,):
            folder = self.folder / top
            said = {
                "refs": self.git(folder, "for-each-ref", "--format=%(refname) %(objectname) %(tree)"),
                "head": self.git(folder, "rev-parse", "HEAD", "HEAD^{tree}"),
                "index": self.git(folder, "ls-files", "-s"),
                "status": self.git(folder, "status", "--porcelain"),
                "stash": self.git(folder, "log", "-g", "--format=%T", "refs/stash", "--"),
                "worktrees": self.git(folder, "worktree", "list", "--porcelain"),
            }
            seen.update({(top, key): value for key, value in said.items()})
        seen["files"] = self.files()
        return seen

    def trees(self):
        """The trees of all commits that are there, reachable or not."""
        found = set()
        for top in self.layout.tops or (self.layout.root,):
            said = self.run(["sh", "-c", "git cat-file --batch-all-objects --batch-check | grep commit | cut -c1-40 | "
                             "git log --no-walk --stdin --format=%T"], self.folder / top, env=self.variables()).stdout
            found.update(line for line in said.split() if len(line) == 40)
        return found

    def has_blob(self, name):
        tops = self.layout.tops or (self.layout.root,)
        return name and any(self.run(["git", "cat-file", "-e", name], self.folder / top, env=self.variables()).returncode == 0
                            for top in tops)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)


def lost(ground, before, outside, inside, failed):
    """What is neither as it was nor as it is outside.  What fails and says so may have begun; then what was in a file
    is in git."""
    wrong = []
    for name in {**before["files"], **outside["files"]}:
        now, was = inside["files"].get(name), before["files"].get(name)
        if now not in (was, outside["files"].get(name)) and not (failed and ground.has_blob(was)):
            wrong.append(name)
    for key, now in inside.items():
        if key[1] == "status" and not failed:
            wrong += [(key, line) for line in now.splitlines()
                      if "D" in line[:2] and line not in before[key] + outside[key]]
        if key[1] == "worktrees":
            wrong += [(key, path) for path in paths(before[key]) & paths(outside[key]) - paths(now)]
    return wrong


def paths(listing):
    return {line for line in listing.splitlines() if line.startswith("worktree ")}


def look(case):
    """What came of a case: "same", "refused", or "refused whole" where nothing happened at all."""
    name, place, level, command = case
    layout = LAYOUTS[name]
    first, script = COMMANDS[command]
    ground = Ground(layout, place, level)
    try:
        if (ground.folder / "m").exists():
            ground.run(["sh", "-c", first], ground.folder)
        ground.keep()
        before, trees = ground.state(), ground.trees()
        ground.bring_back()
        done = ground.outside(script)
        outside = ground.state()
        trees |= ground.trees()
        ground.bring_back()
        tried = ground.inside(script)
        inside = ground.state()
        made = ground.trees() - trees
        told = "%s\noutside %d: %s\ninside %d: %s" % (case, done.returncode, done.stdout, tried.returncode,
                                                      tried.stdout)
        assert not made, "a commit has another tree\n" + told
        said = tried.returncode != 0 or "hasp: denied" in tried.stdout or "rror: " in tried.stdout
        wrong = lost(ground, before, outside, inside, said)
        assert not wrong, "%s\n%s" % (wrong, told)
        if inside == outside and tried.returncode == done.returncode:
            return "same", told
        assert said, "it differs in silence\n%s\n%s" % (told, difference(inside, outside))
        return ("refused whole" if inside == before else "refused"), told + difference(inside, outside)
    finally:
        ground.close()


def difference(inside, outside):
    return "".join("\n%s\n  inside  %s\n  outside %s" % (key, inside[key], outside[key])
                   for key in inside if inside[key] != outside[key])


@pytest.mark.in_turn("level")
@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("command", [*WORKS, *REFUSED])
def test_a_configuration_is_not_half_written(command, level):
    ground = Ground(LAYOUTS["with a submodule"], "var", level)
    try:
        ground.run(["sh", "-ec", "git clone -q m c; cd c; git branch --no-track plain; git branch tracked "
                    "origin/narrow; git submodule --quiet update --init"], ground.folder, check=True)
        ground.layout = ground.layout._replace(root="c", tops=("c", "c/sub"))
        ground.keep()
        before = ground.state()
        configs = [(ground.folder / "c/.git/config").read_text()]
        ground.bring_back()
        done = ground.outside("git " + command)
        outside = ground.state()
        configs.append((ground.folder / "c/.git/config").read_text())
        ground.bring_back()
        tried = ground.inside("git " + command)
        inside = ground.state()
        told = tried.stdout + difference(inside, before)
        assert done.returncode == 0, done.stdout
        if command in WORKS:
            assert tried.returncode == 0 and "denied" not in tried.stdout and inside == outside, told
        else:
            assert tried.returncode != 0 and "denied: write" in tried.stdout and inside == before, told
        assert (ground.folder / "c/.git/config").read_text() == configs[command in WORKS], told
        assert not list((ground.folder / "c/.git").rglob("*.lock"))
    finally:
        ground.close()


@pytest.mark.parametrize("case", in_turn(CASES, PARTS), ids="-".join)
def test_git_does_inside_what_it_does_outside_or_nothing(case):
    name, _, _, command = case
    layout = LAYOUTS[name]
    result, told = look(case)
    may_fail = command in layout.refused or name in HIDING or name == "git folder elsewhere"
    assert result == "same" or may_fail, told
