# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a pseudo-terminal of its own and collects what it writes there."""
import errno
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

SECONDS = 120


def undrawn(output):
    """The text without the sequences with which `hasp -p` draws and colours, and these alone."""
    return re.sub(r"\x1b\[\d+A\r\x1b\[J|\x1b\[[\d;]*m", "", output.decode("utf-8", "replace"))


def lines_left(output):
    """The lines that stand in the end, without what `hasp -p` draws while it works and without colours."""
    lines = [""]
    for up, end, rest in re.findall(r"\x1b\[(\d+)A\r\x1b\[J|(\r\n)|(?:\x1b\[[\d;]*m)?([^\r\n\x1b]*)",
                                    output.decode("utf-8", "replace")):
        if up:
            lines[-int(up) - 1:] = [""]
        elif end:
            lines.append("")
        else:
            lines[-1] += rest
    return lines


class Terminal:
    """    with Terminal(["bash", "-i"], cwd, env) as t:
               t.type("ls\\n"); t.wait_for(b"$ ")
    """

    def __init__(self, argv, cwd, env, columns=100, rows=40):
        self.output = b""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvpe(argv[0], argv, env)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        if self.status is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)

    def type(self, text):
        os.write(self.fd, text.encode())

    def _read(self, seconds):
        """More output; False at the end of it or when there is none in time."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            piece = b""
        self.output += piece
        return bool(piece)

    def wait_for(self, text, since=0):
        """Reads until `text` stands in the output after offset `since`."""
        end = time.monotonic() + SECONDS
        while text not in self.output[since:]:
            if time.monotonic() > end or not self._read(1) and self._ended():
                raise AssertionError("%r did not come; there is %r" % (text, self.output[since:]))
        return self.output[since:]

    def _ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def finish(self):
        """Reads to the end; the exit code and all the output."""
        end = time.monotonic() + SECONDS
        while self._read(5):
            assert time.monotonic() < end
        while not self._ended():
            assert time.monotonic() < end, "it goes on; there is %r" % self.output
            time.sleep(0.01)
        return self.status, self.output
