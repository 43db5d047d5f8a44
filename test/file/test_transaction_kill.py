# SPDX-License-Identifier: Apache-2.0
"""A transaction killed before each of its system calls, and its recovery too.

strace kills the probe as it enters one system call; every call of a run has its turn,
a part of them at each commit.  After the recovery the four files are all old or all new, and
there is nothing else: no temporary, no folder, no journal.  A call that fails leaves all old or all new files, too.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

import pytest
from part import ALL, in_turn

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["TRANSACTION_PROBE"]
OLD = {"a": "a\n", "s/c": "c\n", "s/d": "d\n"}
NEW = {"a": "A\n", "n/m/new": "N\n", "o/moved": "d\n"}
OLD_FOLDERS = {"s"}
NEW_FOLDERS = {"s", "n", "n/m", "o"}
# What the loader and the C library do before main, and what changes no state outside.
QUIET = {"execve", "brk", "mmap", "munmap", "mprotect", "arch_prctl", "set_tid_address",
         "set_robust_list", "rseq", "prlimit64", "getrandom", "exit_group", "access",
         "pread64", "read", "lseek", "newfstatat", "fstat", "readlink", "getcwd"}
# What cannot fail, and what the C library does not report.
STURDY = QUIET - {"pread64", "lseek", "newfstatat", "fstat", "getrandom"} | {
    "close", "write", "futex", "rt_sigprocmask", "clock_gettime", "madvise", "getpid", "gettid", "sched_yield", "clone3"}


class Scene:
    """A workspace with the old files, in a folder of its own."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="hasp-kill-")
        self.root = self.top + "/w"
        self.journal = self.top + "/state/j"
        for name, text in OLD.items():
            path = f"{self.root}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(text)

    def close(self):
        shutil.rmtree(self.top)

    def run(self, what, *more, inject=None, fault="signal=KILL"):
        argv = [PROBE, what, self.root, self.journal, *more]
        if inject:
            name, number = inject
            argv = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={name}", "-e",
                    f"inject={name}:{fault}:when={number}", *argv]
        return subprocess.run(argv, capture_output=True, text=True)

    def calls(self, what, *more, quiet=QUIET):
        """The system calls of a whole run, or if not QUIET of what it does in the workspace: [(name, number), ...]."""
        log = self.top + "/log"
        argv = ["strace", "-f", "-o", log, PROBE, what, self.root, self.journal, *more]
        done = subprocess.run(argv, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        seen, calls, begun = collections.Counter(), [], quiet is QUIET
        with open(log) as lines:
            for line in lines:
                match = re.match(r"\d+ +(\w+)\(", line)
                if match:
                    seen[match[1]] += 1
                    if begun and match[1] not in quiet:
                        calls.append((match[1], seen[match[1]]))
                    begun |= '"/begin"' in line
        return calls

    def files(self):
        found = {}
        for folder, _, leaves in os.walk(self.root):
            for leaf in leaves:
                with open(f"{folder}/{leaf}") as text:
                    found[os.path.relpath(f"{folder}/{leaf}", self.root)] = text.read()
        return found

    def state(self):
        """'old' or 'new'; a failure for anything in between or besides."""
        files = self.files()
        folders = {os.path.relpath(f"{folder}/{name}", self.root)
                   for folder, names, _ in os.walk(self.root) for name in names}
        journals = os.listdir(self.journal) if os.path.isdir(self.journal) else []
        assert journals == []
        if files == OLD and folders == OLD_FOLDERS:
            return "old"
        assert (files, folders) == (NEW, NEW_FOLDERS)
        return "new"


def kill_and_recover(inject, more):
    scene = Scene()
    try:
        killed = scene.run("change", *more, inject=inject)
        assert killed.returncode != 0, "it was not killed"
        recovered = scene.run("recover")
        assert recovered.returncode == 0, recovered.stderr
        return scene.state()
    finally:
        scene.close()


def kill_twice(first, second, more):
    """Killed in the transaction, then in the recovery, then recovered."""
    scene = Scene()
    try:
        scene.run("change", *more, inject=first)
        scene.run("recover", inject=second)
        recovered = scene.run("recover")
        assert recovered.returncode == 0, recovered.stderr
        return scene.state()
    finally:
        scene.close()


def all_calls(what, *more, before=None, quiet=QUIET):
    scene = Scene()
    try:
        if before:
            scene.run("change", *more, inject=before)
            return scene.calls(what, quiet=quiet)
        return scene.calls(what, *more, quiet=quiet)
    finally:
        scene.close()


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))


@pytest.mark.parametrize("more", [(), ("full",)], ids=["rename", "full"])
def test_a_kill_at_any_call_leaves_all_old_or_all_new(more):
    calls = all_calls("change", *more)
    assert len(calls) > 40
    # Fewer of the second: only calls to sync are more.
    calls = [*in_turn(calls[:-1], 6 if more else 3), calls[-1]]
    states = in_parallel(lambda call: kill_and_recover(call, more), calls)
    # Old up to the commit point, new from there on.
    assert states == sorted(states, key="old new".split().index)
    assert states[0] == "old" and states[-1] == "new"


def test_a_kill_during_recovery_is_recovered_too():
    calls = all_calls("change")
    steps = [call for call in calls if call[0] in ("renameat2", "renameat", "linkat", "unlinkat",
                                                   "mkdirat")]
    pairs = []
    for first in in_turn(steps, 3):
        for second in all_calls("recover", before=first):
            if second[0] in ("renameat2", "renameat", "linkat", "unlinkat", "unlink", "rmdir"):
                pairs.append((first, second))
    assert len(pairs) > (60 if ALL else 15)
    states = in_parallel(lambda pair: kill_twice(*pair, ()), [*in_turn(pairs[:-1], 2), pairs[-1]])
    assert set(states) == {"old", "new"}


def fail_and_recover(inject, fault):
    """A call of the transaction fails: its exit status, and the files that are there after a recovery."""
    scene = Scene()
    try:
        done = scene.run("change", "full", inject=inject, fault=fault)
        assert done.returncode in (0, 1) and bool(done.stderr) == bool(done.returncode), (inject, done)
        assert scene.run("recover").returncode == 0
        return done.returncode, scene.files()
    finally:
        scene.close()


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_a_call_that_fails_leaves_all_old_or_all_new(error):
    calls = all_calls("change", "full", quiet=STURDY)
    assert len(calls) > 100
    calls = list(in_turn(calls, 3))
    outcomes = in_parallel(lambda call: fail_and_recover(call, "error=" + error), calls)
    for inject, (code, files) in zip(calls, outcomes):
        if inject[0] == "unlinkat":  # what it could not remove is there
            files = {name: text for name, text in files.items() if not os.path.basename(name).startswith(".hasp-")}
        # When the journal is done all is in place, and a folder that cannot be synced then is reported.
        assert files == (OLD if code else NEW) or (inject[0] == "fsync" and files == NEW), inject


def test_a_journal_that_cannot_be_read_now_is_kept():
    """It is no damaged one: the next recovery, which can read it, has all of it to do."""
    scene = Scene()
    try:
        swap = [call for call in all_calls("change") if call[0] == "renameat2"][1]
        scene.run("change", inject=swap)
        reads = all_calls("recover", before=swap, quiet=STURDY - {"read"})
        journals = [name for name in os.listdir(scene.journal) if name.endswith(".undo")]
        done = scene.run("recover", inject=[call for call in reads if call[0] in ("read", "pread64")][0],
                         fault="error=EIO")
        assert done.returncode == 1 and "Cannot read the journal " + journals[0] in done.stderr
        assert os.listdir(scene.journal) == journals
        assert scene.run("recover").returncode == 0 and scene.state() == "old"
    finally:
        scene.close()


def fail_recovery(pair):
    """A transaction killed at the first, its recovery failed at the second: what it said, and what the next one leaves."""
    killed, failed = pair
    scene = Scene()
    try:
        scene.run("change", inject=killed)
        done = scene.run("recover", inject=failed, fault="error=EIO")
        assert done.returncode in (0, 1) and bool(done.stderr) == bool(done.returncode), (pair, done)
        assert scene.run("recover").returncode == 0, pair
        return scene.state(), os.listdir(scene.journal)
    finally:
        scene.close()


def test_a_failure_during_recovery_leaves_it_to_the_next():
    """No call that the machine fails decides on a file: the journal stays until all is old, or all is new."""
    steps = [call for call in all_calls("change") if call[0] in ("renameat2", "renameat", "linkat", "unlinkat")]
    pairs = [(first, second) for first in (steps[len(steps) // 3], steps[-3])
             for second in all_calls("recover", before=first, quiet=STURDY)]
    assert len(pairs) > 60
    pairs = list(in_turn(pairs, 3))
    for pair, (state, journals) in zip(pairs, in_parallel(fail_recovery, pairs)):
        assert state in ("old", "new") and not journals, (pair, state, journals)


def test_without_a_kill_all_is_new():
    scene = Scene()
    try:
        done = scene.run("change", "full")
        assert done.returncode == 0, done.stderr
        assert scene.state() == "new"
    finally:
        scene.close()
