# SPDX-License-Identifier: Apache-2.0
"""Where jobs are done: each in a folder of its own, outside and inside, with what came of it."""

import contextlib
import fnmatch
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script/lib"))

import npm_peers  # noqa: E402  pylint: disable=wrong-import-position

UNPRIVILEGED = 65534
SECONDS = 120  # for one run of one job, on a machine that does much else


class Outcome(NamedTuple):
    code: int
    output: str
    tree: dict
    denials: list
    errors: str

    def differs(self, other):
        """What is not as in `other`, in words; "" if nothing."""
        found = []
        if self.code != other.code:
            found.append("exit code %d instead of %d" % (self.code, other.code))
        if self.output != other.output:
            found.append("output %r instead of %r" % (self.output[-800:], other.output[-800:]))
        for path in sorted(self.tree.keys() | other.tree.keys()):
            here, there = self.tree.get(path), other.tree.get(path)
            if here != there:
                found.append("%s: %s instead of %s" % (path, here, there))
        return "\n".join(found[:6])


def search_path():
    """The system's own programs first; PostgreSQL's servers are in a folder of their own."""
    servers = sorted(str(path) for path in Path("/usr/lib/postgresql").glob("*/bin"))
    others = [str(Path(shutil.which(name)).parent) for name in ("node", "npm")]
    return ":".join([*servers, "/usr/bin", "/bin", "/usr/sbin", "/sbin", *others])


def look(top, unlike):
    """Every name beneath a folder with its mode, and its content where that can be compared."""
    seen = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = Path(folder, name)
            st = path.lstat()
            short = str(path.relative_to(top))
            what = [stat.filemode(st.st_mode)]
            if stat.S_ISLNK(st.st_mode):
                what.append(os.readlink(path))
            elif stat.S_ISREG(st.st_mode) and not any(
                    fnmatch.fnmatch(text, pattern) for pattern in unlike for text in (name, short)):
                what.append(hashlib.sha256(path.read_bytes()).hexdigest()[:16])
            seen[short] = " ".join(what)
    return {path: what for path, what in seen.items()
            if not any(fnmatch.fnmatch(path, pattern) and pattern.endswith("*") for pattern in unlike)}


class Workshop:
    """One for a user; jobs may run side by side."""

    def __init__(self, hasp, user):
        self.user = user
        self.uid = 0 if user == "root" else UNPRIVILEGED
        # Not beneath /tmp: at full that is another one.
        self.top = Path(tempfile.mkdtemp(prefix="hasp-honest-", dir="/var/tmp"))
        self.top.chmod(0o755)
        self.hasp = self.top / "hasp"
        shutil.copy(hasp, self.hasp)
        self.husky = self.top / "husky"
        shutil.copytree(npm_peers.folder("husky"), self.husky, symlinks=True)
        runtime = Path("/run/user/%d" % self.uid)  # a login makes it, and programs look for it there
        if not runtime.exists():
            runtime.mkdir(mode=0o700, parents=True)
            os.chown(runtime, self.uid, self.uid)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def environment(self, home):
        return {"PATH": search_path(), "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/sh",
                "HUSKY": str(self.husky),
                "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}

    def shell(self, argv, folder, env):
        """Runs it as the user of this workshop."""
        become = [] if self.user == "root" else [
            "setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]
        process = subprocess.Popen([*become, *argv], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            output, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            output, errors = b"", b"it did not end"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left running
        return subprocess.CompletedProcess(argv, process.wait(), output, errors)

    def fresh(self, job, place):
        """The folders of a job as they are before it."""
        shutil.rmtree(place, ignore_errors=True)
        for folder in (place, place / "work", place / "home", place / "home/.cache"):
            folder.mkdir()
            os.chown(folder, self.uid, self.uid)
        config = place / "home/.gitconfig"
        config.write_text("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n")
        os.chown(config, self.uid, self.uid)
        env = self.environment(place / "home")
        if job.before:
            ready = self.shell(["sh", "-ec", job.before], place / "work", env)
            assert ready.returncode == 0, "%s: its preparation fails: %s" % (job.name, ready.stderr)
        return env

    def run(self, job, place, level, flags):
        """Once, in the sandbox; or outside, when level is ""."""
        env = self.fresh(job, place)
        report = place / "home/report"
        words = [word.replace("$HOME", env["HOME"]) for word in flags]
        hasp = [self.hasp, "sandbox", "--sandbox", level, "--report", report, *words, "--"] if level else []
        folder = place / "work" / job.folder
        ended = self.shell([*hasp, "sh", "-ec", job.script], folder, env)
        denials = [one for one in json.loads(report.read_text())["denials"] if "routine" not in one] if level else []
        return Outcome(ended.returncode, ended.stdout.decode(errors="replace"),
                       look(place / "work", job.unlike), denials,
                       ended.stderr.decode(errors="replace")[-900:])

    def do(self, job, level):
        """All runs of a job at a level: what is wrong, as a list of sentences."""
        place = self.top / hashlib.sha256((level + job.name).encode()).hexdigest()[:12]
        outside = self.run(job, place, "", ())
        if outside.code:
            return ["outside, as %s, it ends with %d: %s" % (self.user, outside.code, outside.errors)]
        wrong = ["%s, as %s: %s" % (level, self.user, one) for one in self.compare(job, place, level, outside)]
        shutil.rmtree(place, ignore_errors=True)
        return wrong

    def compare(self, job, place, level, outside):
        flags = job.flags if level in job.levels else ()
        inside = self.run(job, place, level, flags)
        different = inside.differs(outside)
        # In a /tmp that others use too, what they change is reported.
        denials = [one for one in inside.denials if "/tmp" not in flags or one["kind"] != "changed"]
        if level in job.cannot:
            if not different:
                yield "it works, though the table says that it cannot"
            return
        if different:
            yield different + "\n" + inside.errors
        elif denials or "hasp: denied" in inside.errors:
            yield "it succeeds, and yet denials are reported: %s\n%s" % (
                json.dumps(denials), inside.errors)
        if flags and not self.run(job, place, level, ()).differs(outside):
            yield "it works without %s" % " ".join(flags)
