# SPDX-License-Identifier: Apache-2.0
"""The tables of names.h, and a workspace beside a home folder, for root and for another user."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

HASP = os.environ["HASP"]
UNPRIVILEGED = 65534
CANARY = "CANARY-NAMES-51c0"


class Name(NamedTuple):
    table: str
    path: str
    access: str
    flags: tuple
    kind: str
    source: str
    why: str

    def place(self, beneath=""):
        """A path that the row is about; `beneath` is cut off, which a variable stands for."""
        path = self.path.replace("python*", "python3.11").replace("*", "x")
        return path[len(beneath):].lstrip("/") if beneath else path


def read_tables():
    text = subprocess.run([os.environ["NAMES_PROBE"]], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    return [Name(r[0], r[1], r[2], tuple(r[3].split()), *r[4:]) for r in rows]


NAMES = read_tables()


def table(name):
    return [row for row in NAMES if row.table == name]


class Place:
    """top/: `work` is the workspace, `home` the home folder."""

    def __init__(self, user):
        # Not beneath /tmp, which is another folder inside.
        self.top = Path(tempfile.mkdtemp(prefix="hasp-names-", dir="/var/tmp"))
        self.top.chmod(0o755)
        self.user = user
        self.work, self.home = self.top / "work", self.top / "home"
        self.work.mkdir()
        self.home.mkdir()
        shutil.copy(HASP, self.top / "hasp")

    def as_user(self):
        if self.user == "root":
            return []
        uid = str(UNPRIVILEGED)
        return ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"]

    def give_away(self):
        uid = 0 if self.user == "root" else UNPRIVILEGED
        for path in [self.top, *self.top.rglob("*")]:
            os.chown(path, uid, uid, follow_symlinks=False)
        self.let_time_pass()

    def let_time_pass(self):
        """Until the file system's coarse clock has moved twice: what was planted is then older than
        the command."""
        probe = self.top / ".clock"
        seen = set()
        while len(seen) < 3:
            probe.write_text("x")
            seen.add(probe.stat().st_ctime_ns)
        probe.unlink()

    def plant(self, path, text=CANARY + "\n"):
        """A file; a folder with one in it if there is a folder already."""
        if path.is_dir():
            path = path / "inside"
        path.parent.mkdir(parents=True, exist_ok=True)
        # hasp reads its own settings, and stops at what is no JSON.
        path.write_text('{"note": "%s"}\n' % CANARY if path.parent == self.home / ".gemini" and
                        path.name == "settings.json" else text)
        return path

    def plant_all(self, paths):
        """Those that lie deeper first, so that what is above them is a folder."""
        return [self.plant(path) for path in sorted(paths, key=lambda path: -len(path.parts))]

    def hasp(self, *argv, env=(), cwd=None, before=()):
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.home),
                     "LC_ALL": "C", **dict(env)}
        return subprocess.run([*before, *self.as_user(), self.top / "hasp", *argv], env=variables,
                              cwd=cwd or self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=120)

    def sandbox(self, level, script, *flags, **more):
        return self.hasp("sandbox", "--sandbox", level, *flags, "--", "sh", "-c", script, **more)

    def readable(self, level, paths, **more):
        """Those of the files whose canary a command reads."""
        (self.work / "list").write_text("".join("%s\n" % path for path in paths))
        ended = self.sandbox(level, "xargs -d '\\n' grep -ls %s < list; echo finished" % CANARY,
                             **more)
        assert "finished" in ended.stdout, ended.stdout
        return {line for line in ended.stdout.splitlines() if line.startswith("/")}

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
