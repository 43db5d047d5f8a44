# SPDX-License-Identifier: Apache-2.0
"""Each of git's everyday commands that write its configuration ends whole, or changes nothing and says why.

The command runs outside and inside from the same state; refs, index, work trees, every configuration and git's other
files are compared with what was before and with what it makes outside.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from effective_fixture import CONFIG, GIT_ENV, HASP, OTHER

pytestmark = [pytest.mark.in_turn("user", "level"), pytest.mark.rows_in_turn(3)]

LEVELS = ("full", "landlock")
# A clone with two submodules (one registered, one not), a branch that follows another, and a conflict to come.
MAKE = """
make() { git init -q $1; (cd $1; echo one > file; git add file; git commit -qm one); }
make lib; make other; make up0
(cd up0; git submodule --quiet add ../lib sub; git submodule --quiet add ../other left; git commit -qm subs
 git branch topic; git branch spare; echo two >> file; git commit -qam two)
git clone -q --bare up0 up.git
git clone -q up.git work
cd work
git submodule --quiet update --init sub
git branch -q --no-track plain; git branch -q --track tracked origin/topic; git branch -q --track gone origin/spare
git worktree add -q -b tree tree HEAD~1
git config rerere.enabled true
"""
# What the command does: "works" as outside; is "refused" with nothing changed; does all "but settings", as git takes it
# for no failure that it cannot write them; or all "but the module's", which a submodule's own repository keeps. All but the
# first say why.
COMMANDS = {
    "branch -m plain moved": "works",
    "branch -m tracked moved": "works",
    "branch -M tracked plain": "works",
    "branch -c plain copied": "works",
    "branch -c tracked copied": "works",
    "branch -u origin/topic plain": "works",
    "branch --set-upstream-to=origin/topic": "works",
    "branch --unset-upstream tracked": "refused",
    "branch -d plain": "works",
    "branch -D tracked": "works",
    "branch --edit-description plain": "works",
    "branch --track made origin/topic": "works",
    "branch made": "works",
    "checkout -q -b made": "works",
    "checkout -q -b made --track origin/topic": "works",
    "checkout -q topic": "works",
    "switch -q -c made": "works",
    "switch -q -c made -t origin/topic": "works",
    "switch -q --no-track -c made origin/topic": "works",
    "push -q origin plain": "works",
    "push -q -u origin plain": "works",
    "push -q origin --delete spare": "works",
    "fetch -q": "works",
    "pull -q --rebase": "works",
    "-c branch.autoSetupRebase=always pull -q --rebase": "works",
    "remote add more ../other": "refused",
    "remote rename origin moved": "refused",
    "remote remove origin": "refused",
    "remote set-url origin ../up0": "refused",
    "remote set-head origin -a": "works",
    "remote set-branches origin main": "refused",
    "submodule --quiet add ../lib more": "but settings",
    "submodule --quiet init": "refused",
    "submodule --quiet init sub": "works",
    "submodule --quiet update sub": "works",
    "submodule --quiet update --init": "refused",
    "submodule --quiet deinit sub": "but the module's",
    "submodule --quiet deinit -f --all": "but the module's",
    "submodule --quiet sync": "works",
    "submodule --quiet set-branch -b main sub": "works",
    "submodule --quiet absorbgitdirs": "works",
    "rm -q sub": "works",
    "mv sub moved": "refused",
    "sparse-checkout set --cone docs": "refused",
    "sparse-checkout disable": "refused",
    "worktree add -q new plain": "works",
    "worktree add -q -b made new": "works",
    "worktree move tree moved": "works",
    "worktree remove tree": "works",
    "worktree lock tree": "works",
    "config core.abbrev 8": "refused",
    "config --local lfs.repositoryformatversion 0": "refused",
    "config --unset branch.tracked.remote": "refused",
    "config --remove-section branch.tracked": "works",
    "maintenance run --quiet": "works",
    "maintenance register": "refused",
    "bisect start HEAD HEAD~1": "works",
    "notes add -m note": "works",
    "stash push -q -u": "works",
    "rerere gc": "works",
    "gc -q": "works",
    "init -q": "refused",
}


class Place:
    def __init__(self, user):
        self.top = Path(tempfile.mkdtemp(prefix="hasp-everyday-", dir="/var/tmp"))
        self.top.chmod(0o755)
        (self.top / "home").mkdir()
        (self.top / "home/.gitconfig").write_text(CONFIG)
        self.work, self.kept = self.top / "work", self.top / "kept"
        self.as_user = ["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups"] \
            if user == "user" else []
        if self.as_user:
            os.chown(self.top, OTHER, OTHER)
            os.chown(self.top / "home", OTHER, OTHER)
        self.run(["sh", "-ec", MAKE], self.top, check=True)
        self.parts = ("work", "up.git")
        self.kept.mkdir()
        for part in self.parts:
            subprocess.run(["cp", "-a", self.top / part, self.kept], check=True)

    def bring_back(self):
        for part in self.parts:
            shutil.rmtree(self.top / part)
            subprocess.run(["cp", "-a", self.kept / part, self.top], check=True)

    def env(self):
        return dict(GIT_ENV, HOME=str(self.top / "home"), GIT_EDITOR="sh -c 'echo text >> $0'")

    def run(self, argv, folder=None, check=False):
        done = subprocess.run([*self.as_user, *argv], cwd=folder or self.work, env=self.env(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        assert not check or done.returncode == 0, done.stdout
        return done

    def outside(self, command):
        return self.run(["sh", "-c", "git " + command])

    def inside(self, command, level):
        return self.inside_argv(["sh", "-c", "git " + command], level)

    def hasp(self, level):
        return [HASP, "sandbox", "--sandbox", level, "--env", "keep", "--write", self.top / "up.git", "--"]

    def inside_argv(self, argv, level):
        return self.run(self.hasp(level) + argv)

    def state(self):
        found = {}
        for part in self.parts:
            for path in sorted((self.top / part).rglob("*")):
                name = str(path.relative_to(self.top))
                if any(word in name for word in ("/objects", "/logs/", "/hooks/", "_EDITMSG", "_HEAD", "/rr-cache",
                                                 "packed-refs", "/info", "hasp-taken", "/refs/")):
                    continue
                if path.name in ("index", "EDIT_DESCRIPTION") and path.is_file():
                    continue
                found[name] = path.is_dir() or hashlib.sha1(path.read_bytes()).hexdigest()
        for folder in ("work", "work/sub", "work/left", "work/tree", "up.git"):
            if (self.top / folder).is_dir():
                for words in (("for-each-ref",), ("ls-files", "-sv"), ("config", "--local", "-l"), ("rev-parse", "HEAD"),
                              ("symbolic-ref", "-q", "HEAD"), ("stash", "list")):
                    found[folder, words] = self.run(["git", *words], self.top / folder).stdout
        return found

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


@pytest.fixture(scope="module", params=["root", "user"], name="place")
def a_place(request):
    place = Place(request.param)
    yield place
    place.close()


def difference(one, other):
    return "".join("\n%s\n  %s\n  %s" % (key, one.get(key), other.get(key))
                   for key in sorted({*one, *other}, key=str) if one.get(key) != other.get(key))


def is_setting(key):
    return key[1][0] == "config" if isinstance(key, tuple) else key.endswith("/config")


def settings(state):
    """Those that were there: not of a module that the command makes."""
    return {key: value for key, value in state.items() if is_setting(key) and "more" not in str(key)}


def rest(state):
    return {key: value for key, value in state.items() if not is_setting(key)}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_whole_or_changes_nothing(place, level, command):
    place.bring_back()
    before = place.state()
    done = place.outside(command)
    outside = place.state()
    place.bring_back()
    tried = place.inside(command, level)
    inside = place.state()
    told = "outside %d: %s\ninside %d: %s" % (done.returncode, done.stdout, tried.returncode, tried.stdout)
    assert done.returncode == 0, told
    ends = COMMANDS[command]
    if ends == "works":
        assert tried.returncode == 0 and "denied" not in tried.stdout, told
        assert inside == outside, told + difference(inside, outside)
        return
    assert "hasp: denied: " in tried.stdout and "version control runs it or is steered by it" in tried.stdout, told
    if ends == "refused":
        assert inside == before, told + difference(inside, before)
        assert tried.returncode != 0, told
    elif ends == "but the module's":
        module = "work/.git/modules/sub/config"
        assert inside.pop(module) == before[module] and outside.pop(module), told
        assert inside == outside and tried.returncode == 0, told + difference(inside, outside)
        assert tried.stdout.count("denied: ") == 1 and "It would change core.worktree." in tried.stdout, told
    else:
        assert settings(inside) == settings(before), told
        assert rest(inside) == rest(outside), told + difference(inside, outside)
        assert "could not write config file" in tried.stdout, told
