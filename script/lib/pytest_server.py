# SPDX-License-Identifier: Apache-2.0
"""Starts pytest without importing it each time: one process that has, and forks for each job.

    server = PytestServer(folder)              # for compiled modules, which all jobs share
    pid = server.start(argv, env, cwd, output) # argv as after "python3 -m pytest"; output: a descriptor
    ...                                        # it may be killed, and its end seen with a pidfd
    status, cpu = server.reap(pid)             # until then its number is its own

A job leads a session, as a program started by itself does, and ends as one: threads are waited for, and what is to
be done at exit is done.  Imported before are pytest and the standard library only, nothing of the tests.
"""

import atexit
import gc
import json
import os
import socket
import subprocess
import sys
import threading

PYTHON = "/usr/bin/python3"
LARGEST = 1 << 20  # bytes of a request: mostly the environment
# Freed memory is kept, and comes in large pages: getting the same pages again and again is half of what tests cost that
# handle megabytes.  Of the server and the jobs alone: what they start has the request's environment.
MEMORY = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824:"
          "glibc.malloc.top_pad=67108864")


class PytestServer:
    def __init__(self, folder):
        self.lock = threading.Lock()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.socket, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        with theirs:
            self.process = subprocess.Popen(
                [PYTHON, __file__, str(theirs.fileno()), folder], pass_fds=[theirs.fileno()],
                env=dict(os.environ, GLIBC_TUNABLES=MEMORY),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def _ask(self, question, descriptors=()):
        with self.lock:
            socket.send_fds(self.socket, [json.dumps(question).encode()], list(descriptors))
            answer = self.socket.recv(LARGEST)
        if not answer:
            raise RuntimeError("the server of pytest has ended")
        return json.loads(answer)

    def start(self, argv, env, cwd, output):
        return self._ask({"argv": argv, "env": env, "cwd": cwd}, [output])

    def reap(self, pid):
        """Its exit status, or less a signal, and its seconds of processors with what it waited for."""
        return self._ask({"reap": pid})

    def close(self):
        self.socket.close()
        self.process.wait()


def become_job(request, output):
    """In the child: what a new process would find."""
    os.setsid()
    for fd in (1, 2):
        os.dup2(output, fd)
    os.close(output)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = request["cwd"]
    sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[2]
    sys.argv = [sys.modules["pytest"].__file__.replace("__init__", "__main__"), *request["argv"]]


def serve(connection):
    """Returns in each child, with True; and where there are no more requests, with False."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(connection, LARGEST, 1)
        if not data:
            return False
        request = json.loads(data)
        if "reap" in request:
            _, status, used = os.wait4(request["reap"], 0)
            answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
        else:
            answer = os.fork()
            if answer == 0:
                connection.close()
                become_job(request, descriptors[0])
                return True
            os.close(descriptors[0])
        connection.send(json.dumps(answer).encode())


def leave(code):
    """Ends a job as the interpreter would, but without taking its modules apart: each page of what all jobs share
    would be copied for that, which takes as long as a small job."""
    threading._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def main():
    import pytest
    import _pytest.config
    _pytest.config.get_config()  # imports its own plugins
    import _pytest.junitxml  # noqa: F401
    import concurrent.futures, ctypes, http.server, queue, ssl, urllib.request, xml.etree.ElementTree  # noqa: F401,E401
    # Rubbish with cycles is little, and looking for it takes a fifth of the time of tests with much data.
    gc.freeze()
    gc.set_threshold(100000, 20, 100)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        is_job = serve(connection)
    if is_job:
        leave(pytest.console_main())
    return 0


if __name__ == "__main__":
    sys.exit(main())
