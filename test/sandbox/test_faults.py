# SPDX-License-Identifier: Apache-2.0
"""A command is started while one system call fails: it runs as confined as ever, or hasp says why it does not.

Every call of every process that has a part in it fails in turn: of hasp, of its workers while they are still outside,
inside, and on their way, of the supervisor, and of the command.  What is outside stays as it was.  Waiting, and the messages
of hasp's processes to each other, fail once or from then on: the command ends, or is ended, and hasp says why.
"""

import collections
import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from part import ALL, TURN, in_turn

TOP = Path(__file__).resolve().parents[2]
HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())
# Tried by the command; all of it is outside of what it may write.
SCRIPT = """echo begun
echo broken > {outside}/file
mv {outside}/file {outside}/moved
ln -s {outside} way; echo broken > way/file
mkdir {outside}/new
git config core.fsmonitor 'touch {outside}/ran'
echo text > inside; mv inside renamed; rm renamed
echo ended"""
CALL = re.compile(r"(\d+) +([a-z_0-9]+)\(")
# What cannot fail, and what the C library and the loader do for themselves.
NEVER = {"brk", "mmap", "munmap", "mprotect", "madvise", "execve", "exit", "exit_group", "close", "futex", "rseq",
         "arch_prctl", "set_tid_address", "set_robust_list", "geteuid", "getuid", "getgid", "getegid", "getpid", "getppid",
         "gettid", "getpgrp", "rt_sigreturn", "rt_sigaction", "umask", "sched_yield", "clock_gettime", "sysinfo",
         "getpgid", "getpeername", "restart_syscall"}
# What a process waits with, and how hasp's processes speak to each other.
WAITS = {"poll", "ppoll", "ioctl", "read", "write", "writev", "sendmsg", "recvmsg", "sendto", "recvfrom", "epoll_wait"}
ERRORS = ("EPERM", "EIO", "EMFILE", "ENOMEM", "EINTR")
LATE = 120  # seconds after which a command that does not end has failed


class Scene:
    def __init__(self, level, *flags):
        # Not beneath /tmp, which commands do not see.
        self.top = Path(tempfile.mkdtemp(prefix="hasp-faults-", dir="/var/tmp"))
        self.work, self.outside = self.top / "work", self.top / "outside"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.top / "home"), "LC_ALL": "C"}
        self.command = [HASP, "sandbox", "--sandbox", level, *flags, "--", "sh", "-c", SCRIPT.format(outside=self.outside)]
        for folder in (self.work, self.outside, self.top / "home"):
            folder.mkdir()
        (self.outside / "file").write_text("as it was\n")
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.config = (self.work / ".git" / "config").read_text()

    def close(self):
        shutil.rmtree(self.top)

    def run(self, *strace):
        shutil.rmtree(self.work / "way", ignore_errors=True)
        for name in ("way", "inside", "renamed"):
            if (self.work / name).is_symlink() or (self.work / name).exists():
                (self.work / name).unlink()
        (self.work / ".git" / "config").write_text(self.config)
        return subprocess.run(["strace", "-f", "-qq", *strace, *self.command], cwd=self.work, env=self.env,
                              capture_output=True, text=True, errors="replace", timeout=LATE)

    def calls(self, names):
        """(name, number) of each call that `names` lets through, numbers as each process counts its own."""
        log = self.top / "log"
        done = self.run("-o", str(log))
        assert done.returncode == 0 and "ended" in done.stdout, done
        counts, most = collections.Counter(), collections.Counter()
        for process, name in CALL.findall(log.read_text(errors="replace")):
            counts[process, name] += 1
            most[name] = max(most[name], counts[process, name])
        return [(name, number) for name in filter(names, sorted(most)) for number in range(1, most[name] + 1)]

    def is_whole(self):
        return sorted(os.listdir(self.outside)) == ["file"] and (self.outside / "file").read_text() == "as it was\n"


@pytest.fixture
def scene(request):
    made = Scene(*request.param)
    yield made
    made.close()


LEVELS = pytest.mark.parametrize("scene", [("full",), ("landlock",)], ids=" ".join, indirect=True)


@LEVELS
def test_a_failing_call_never_lets_a_command_out(scene):
    kinds = collections.Counter()
    cases = list(zip(scene.calls(lambda name: name not in NEVER | WAITS), itertools.cycle(ERRORS)))
    assert len(cases) > 100
    # A run takes half a second: the others are for HASP_TESTS=all, which script/coverage sets.
    for (name, number), error in cases if ALL else in_turn(cases, 12)[TURN % 3::3]:
        done = scene.run("-o", "/dev/null", "-e", "trace=" + name, "-e",
                         "inject=%s:error=%s:when=%d" % (name, error, number))
        where = (name, number, error, done)
        assert scene.is_whole(), where
        assert done.returncode >= 0, where
        if "begun" not in done.stdout:
            assert done.returncode != 0 and done.stderr.strip(), where
        kinds["begun" in done.stdout] += 1
    assert not ALL or min(kinds[True], kinds[False]) > 20, kinds


@LEVELS
def test_what_cannot_be_waited_for_ends(scene):
    """LATE is the limit: hasp asks a worker that is silent for a sign of life, and gives it up after 20 seconds."""
    places = [(name, number, more) for name, number in scene.calls(WAITS.__contains__) for more in ("", "+")]
    cases = list(zip(places, itertools.cycle(ERRORS[:-1])))  # EINTR for ever is no failure
    assert len(cases) > 100
    kinds = collections.Counter()
    for (name, number, more), error in cases if ALL else in_turn(cases, 12)[TURN % 3::3]:
        done = scene.run("-o", "/dev/null", "-e", "trace=" + name, "-e",
                         "inject=%s:error=%s:when=%d%s" % (name, error, number, more))
        where = (name, number, more, error, done)
        assert scene.is_whole(), where
        assert done.returncode >= 0, where
        if "ended" not in done.stdout:
            assert done.returncode != 0, where
            # Words cannot be written either, then.
            assert done.stderr.strip() or (name, more) == ("write", "+"), where
        kinds["ended" in done.stdout] += 1
    assert not ALL or min(kinds.values()) > 20, kinds


@LEVELS
def test_a_command_whose_supervisor_cannot_wait_is_ended(scene):
    """With fewer descriptors than it waits for, poll is EINVAL: that of the supervisor, and of all that runs the command."""
    scene.command[-1] = "touch first; echo begun; read line; touch second; touch third; sleep 100; echo ended"
    with subprocess.Popen(scene.command, cwd=scene.work, env=scene.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as hasp:
        assert hasp.stdout.readline() == "begun\n"
        for thread in Path("/proc/%d/task" % hasp.pid).iterdir():
            for worker in (thread / "children").read_text().split():
                resource.prlimit(int(worker), resource.RLIMIT_NOFILE, (1, 1))
        out, err = hasp.communicate("go\n", timeout=LATE)
    assert (hasp.returncode, out) == (128 + signal.SIGKILL, ""), (hasp.returncode, out, err)
    assert "not supervised: the command, because hasp's call poll failed (Invalid argument): hasp ended the command" in err
    assert "the command reached a limit and was ended" in err
