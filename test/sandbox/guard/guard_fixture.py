# SPDX-License-Identifier: Apache-2.0
"""A repository with a marker that must never appear, and guard_probe around a command."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

PROBE = os.environ.get("GUARD_PROBE")
BARE_CONFIG = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n"


class Report(NamedTuple):
    told: list
    count: int
    take_us: float
    check_us: float


CONFIG = ("[user]\n\tname = A B\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"
          "[protocol \"file\"]\n\tallow = always\n[safe]\n\tdirectory = *\n"
          "[advice]\n\tdetachedHead = false\n")


@functools.cache
def repository(script):
    """A folder with what a script makes of a new repository: copying it is faster than making it again."""
    top = Path(tempfile.mkdtemp(prefix="hasp-git-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    (top / ".gitconfig").write_text(CONFIG)
    (top / "made").mkdir()
    subprocess.run(["sh", "-ec", "git init -q\n" + script], cwd=top / "made", check=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"})
    return top / "made"


class Place:
    """top/: `work` is the workspace, `outside` is not, `marker` is what attacks make."""

    def __init__(self, top):
        self.top = Path(top)
        self.work = self.top / "work"
        self.outside = self.top / "outside"
        self.marker = self.top / "marker"
        home = self.top / "home"
        for folder in (self.work, self.outside, home):
            folder.mkdir(parents=True)
        (home / ".gitconfig").write_text(CONFIG)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "LC_ALL": "C",
                    "M": str(self.marker), "W": str(self.work), "O": str(self.outside)}
        self.copy(self.work, "echo one > file; git add file; git commit -qm one")

    def copy(self, folder, script):
        """Puts there what the script makes of a new repository."""
        shutil.copytree(repository(script), folder, symlinks=True, dirs_exist_ok=True)

    def library(self):
        """$O/lib, from which there are clones and submodules."""
        self.copy(self.outside / "lib", "echo l > l; git add l; git commit -qm l; "
                  "git config uploadpack.allowFilter true")

    def shell(self, script, cwd=None, check=True):
        done = subprocess.run(["sh", "-c", script], cwd=cwd or self.work, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert not check or done.returncode == 0, done.stdout
        return done.stdout

    def later(self, script):
        """What people do outside afterwards; whether it works is another matter."""
        subprocess.run(["sh", "-c", script], cwd=self.work, env=self.env, timeout=300,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL)

    def guarded(self, script, *options, user=None, works=True, files=None, pass_fds=()):
        argv = [PROBE, *options, str(self.work), "--", "sh", "-c", script]
        if user is not None:
            argv = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *argv]
        if files:  # descriptors that the probe may have
            argv = ["prlimit", "--nofile=%d" % files, *argv]
        done = subprocess.run(argv, cwd=self.work, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, pass_fds=pass_fds)
        assert done.returncode == 0, done.stdout
        assert not works or "the command failed" not in done.stdout, done.stdout
        last = re.search(r"count (\d+) take_us (\d+) check_us (\d+)", done.stdout)
        told = [line for line in done.stdout.splitlines()
                if re.match(r"(git|settings|option|credentials|limit): ", line)]
        return Report(told, int(last[1]), float(last[2]), float(last[3]))
