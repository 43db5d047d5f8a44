# SPDX-License-Identifier: Apache-2.0
"""Runs a function so that nothing that it starts outlives it.

    status = keeper.run(work, clean)   # of the process that ran work(); then clean() has run, too

Three processes: the caller, the keeper (a session of its own), and the one that calls work().  A descendant that loses
its parent becomes the keeper's child, whatever session or group it is in (PR_SET_CHILD_SUBREAPER), so killing children
until there are none ends all of them.  The keeper does that when work() has returned, and when the caller is told to end
(SIGINT, SIGTERM, SIGHUP) or is killed (PR_SET_PDEATHSIG).  A caller that was told to end then ends by that signal.

    keeper.end_tree(pid)               # a process with its descendants, as far as they still have their parents

Not here: processes in another process's care (a container's daemon), and those of other users, which cannot be killed.
"""

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
TOLD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_libc = ctypes.CDLL(None, use_errno=True)


def _set(option, value):
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _parents():
    """{pid: its parent's} of all processes that can be seen; those that have ended and wait for their parent, too."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:  # "PID (NAME) STATE PPID ...", where the name may have anything in it
                found[int(entry)] = int(Path("/proc", entry, "stat").read_bytes().rpartition(b")")[2].split()[1])
            except OSError:
                pass  # it has ended
    return found


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except (ProcessLookupError, PermissionError):
        return False


def end_tree(pid):
    """Kills a process and its descendants."""
    parents, tree = _parents(), [pid]
    for one in tree:
        tree += [child for child, parent in parents.items() if parent == one]
    for one in tree:
        _kill(one)


def _end_children():
    """Until there are none: what a killed child leaves behind is a child then."""
    me = os.getpid()
    while True:
        killed = [_kill(child) for child, parent in _parents().items() if parent == me]
        if not any(killed):
            return
        try:
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _dies_with(parent, by):
    """Ends this process, by that signal, when its parent ends."""
    _set(PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os._exit(1)


def _fork(function):
    """A child that ends with what function(its parent) returns."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = function(parent)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # this process has nobody else to show it to
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _keep(caller, work, clean, mask):
    """The keeper's life; signals are blocked."""
    os.setsid()
    _set(PR_SET_CHILD_SUBREAPER, 1)
    _dies_with(caller, signal.SIGTERM)

    def worker(parent):
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in TOLD:  # ignored by nohup, or in a shell's background, or handled by the caller
            signal.signal(number, signal.SIG_DFL)
        _dies_with(parent, signal.SIGKILL)
        return work()

    pid, status = _fork(worker), None
    while status is None and signal.sigwait([signal.SIGCHLD, *TOLD]) == signal.SIGCHLD:
        ended = pid
        while status is None and ended:
            ended, how = os.waitpid(-1, os.WNOHANG)
            if ended == pid:
                status = os.waitstatus_to_exitcode(how)
    _end_children()
    clean()
    return 1 if status is None or status < 0 else status


def run(work, clean):
    """What work() returns, 0 to 255; 1 if its process was killed.  Call it with one thread alone."""
    told = []
    heard = {*TOLD, signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    pid = _fork(lambda caller: _keep(caller, work, clean, mask))

    def forward(number, _):
        told.append(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    for number in TOLD:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    _, how = os.waitpid(pid, 0)
    if told:
        signal.signal(told[0], signal.SIG_DFL)
        os.kill(os.getpid(), told[0])
    return max(0, os.waitstatus_to_exitcode(how))
