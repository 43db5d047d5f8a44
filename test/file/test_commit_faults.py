# SPDX-License-Identifier: Apache-2.0
"""A commit in which one system call fails: refused with the old file, or done with the new
one, never between; and the next operation in the folder leaves no litter."""

import os
import subprocess

import pytest

from disturb import calls, disturbed
from part import ALL, in_turn
from test_commit_kill import NEW, OLD, PROBE, content, litter, next_operation, prepare

# What the kernel may answer to any call that touches the disk.
ERRORS = ["EIO", "ENOSPC", "EINTR"]
# Calls that cannot fail, or whose failure the C library hides.
NEVER = {"brk", "mmap", "munmap", "mprotect", "write", "futex", "rt_sigprocmask", "exit_group",
         "geteuid", "close", "getrandom", "sched_yield", "clock_gettime", "madvise"}


def fail_everywhere(folder, operation, modes, before, after, errors):
    """errors(i): those that the i-th call fails with, one after the other."""
    command = [PROBE, folder, operation, "file", modes]
    prepare(folder, operation, modes)
    fallible = [call for call in calls(command) if call[0] not in NEVER]
    assert len(fallible) > 5
    for number, (name, count) in in_turn(list(enumerate(fallible)), 4):
        for error in errors(number):
            prepare(folder, operation, modes)
            run = disturbed(command, name, count, f"error={error}")
            where = (name, count, error, run.stdout)
            assert run.returncode in (0, 1), where
            assert content(folder / "file") == (after if run.returncode == 0 else before), where
            next_operation(folder)


# One error for each call, so that among the modes it meets all of them; with HASP_TESTS=all each call all errors.
@pytest.mark.in_turn("operation", "before", "after")
@pytest.mark.parametrize("modes,turn", [("f", 0), ("t", 1), ("l", 2)])
@pytest.mark.parametrize("operation,before,after", [
    ("replace", OLD, NEW), ("create", None, NEW), ("delete", OLD, None)])
def test_a_failing_call_leaves_the_old_file(tmp_path, operation, before, after, modes, turn):
    fail_everywhere(tmp_path, operation, modes, before, after,
                    lambda number: ERRORS if ALL else [ERRORS[(number + turn) % len(ERRORS)]])


@pytest.mark.parametrize("call,error,code", [
    ("writev", "ENOSPC", "disk_full"), ("writev", "EDQUOT", "disk_full"),
    ("writev", "EIO", "io_error"), ("fsync", "EIO", "io_error"),
    ("fsync", "EDQUOT", "disk_full"), ("renameat2", "EIO", "io_error"),
    ("renameat2", "EPERM", "permission_denied")])
def test_the_error_says_what_happened(tmp_path, call, error, code):
    prepare(tmp_path, "replace", "")
    run = disturbed([PROBE, tmp_path, "replace", "file", "f"], call, 1, f"error={error}")
    assert run.stdout == code + "\n"
    assert content(tmp_path / "file") == OLD
    assert litter(tmp_path) == []


@pytest.mark.parametrize("call,error", [
    ("renameat2", "EINVAL"), ("openat2", "EAGAIN"), ("fcntl", "EINVAL"), ("flock", "ENOLCK"),
    ("writev", "EINTR"), ("pread64", "EINTR"), ("fsync", "EINTR"), ("flistxattr", "EOPNOTSUPP")])
def test_what_a_file_system_lacks_or_interrupts_is_worked_around(tmp_path, call, error):
    prepare(tmp_path, "replace", "")
    command = [PROBE, tmp_path, "replace", "file", "f"]
    first = [count for name, count in calls(command) if name == call]
    prepare(tmp_path, "replace", "")
    run = disturbed(command, call, first[0] if first else 1, f"error={error}")
    assert run.stdout == "ok\n"
    assert content(tmp_path / "file") == NEW
    assert litter(tmp_path) == []


@pytest.mark.parametrize("error", ["EOPNOTSUPP", "EISDIR"])
def test_without_anonymous_files_a_named_one_serves(tmp_path, error):
    prepare(tmp_path, "replace", "")
    command = [PROBE, tmp_path, "replace", "file", ""]
    opens = [count for name, count in calls(command) if name == "openat"]
    prepare(tmp_path, "replace", "")
    # The first after the mark opens the folder, the second the temporary.
    run = disturbed(command, "openat", opens[1], f"error={error}")
    assert run.stdout == "ok\n"
    assert content(tmp_path / "file") == NEW
    assert litter(tmp_path) == []


def mounted(tmp_path, mount, script):
    """Runs a shell script with a file system mounted at $M, in a mount namespace of its own."""
    (tmp_path / "m").mkdir()
    env = {**os.environ, "M": str(tmp_path / "m"), "T": str(tmp_path), "PROBE": PROBE}
    return subprocess.run(["unshare", "-m", "sh", "-ec", mount + "\n" + script], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def test_a_full_disk_is_told_and_changes_nothing(tmp_path):
    run = mounted(tmp_path, "mount -t tmpfs -o size=64k t $M", """
        printf 'old content\\n' > $M/file
        dd if=/dev/zero of=$M/fill bs=4k 2>/dev/null || true
        $PROBE $M replace file '' || true
        $PROBE $M create created '' || true
        cat $M/file
        ls -A $M""")
    assert run.stdout == "disk_full\ndisk_full\nold content\nfile\nfill\n"


def test_a_file_system_without_exchange_or_anonymous_files(tmp_path):
    run = mounted(tmp_path, """truncate -s 16M $T/image; mkntfs -q -F -Q $T/image >/dev/null 2>&1
        ntfs-3g $T/image $M""", """
        printf 'old content\\n' > $M/file
        $PROBE $M replace file f; cat $M/file
        $PROBE $M create created ''; cat $M/created
        $PROBE $M delete file ''
        ls -A $M
        umount $M""")
    assert run.stdout == "ok\nnew content\nok\nnew content\nok\ncreated\n"


def test_an_overlay_whose_lower_file_is_copied_up(tmp_path):
    run = mounted(tmp_path, """mkdir $T/all; mount -t tmpfs t $T/all; cd $T/all
        mkdir lower upper work; mount -t tmpfs t2 lower; printf 'old content\\n' > lower/file
        cp lower/file lower/second
        mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work o $M""", """
        $PROBE $M replace file f; cat $M/file; cat lower/file
        $PROBE $M delete second ''; $PROBE $M create created ''
        ls -A $M""")
    assert run.stdout == "ok\nnew content\nold content\nok\nok\ncreated\nfile\n"


def test_a_file_that_is_being_tried_out_is_not_asked_for_again_at_once(tmp_path):
    """The kernel answers EAGAIN while somebody's commit has a lease on it; each attempt wakes them."""
    prepare(tmp_path, "replace", "")
    trace = tmp_path / "trace"
    run = subprocess.run(["strace", "-qq", "-o", trace, "-e", "trace=openat2,clock_nanosleep", "-e",
                          "inject=openat2:error=EAGAIN:when=1..3", PROBE, tmp_path, "replace",
                          "file", ""], stdout=subprocess.PIPE, text=True, check=False)
    seen = [line.split("(")[0] for line in trace.read_text().splitlines()]
    assert run.stdout == "ok\n"
    assert seen[:7] == ["openat2", "clock_nanosleep"] * 3 + ["openat2"]
