# SPDX-License-Identifier: Apache-2.0
"""Stands between a real xterm and a program: xterm_relay.py SOCKET FILLER PROGRAM...

Runs in xterm.  The program has a terminal of its own, of xterm's size; what it writes goes to xterm as it is, and what
xterm sends (answers, not keys: nobody sits there) goes to it.  Lines of JSON on the socket are done: {"type": TEXT} as if
typed, {"write": TEXT} to xterm, where the program's output is between two sequences.  FILLER lines are written first: xterm prints whole pages, the last ones.  When the
program has ended the relay waits until the socket is closed."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import sys
import termios
import tty

# A control sequence, a string or a character of UTF-8 that has begun and not ended.
INCOMPLETE = re.compile(rb"(?:\x1b(?:\[[0-?]*[ -/]*|[\]P_^X](?:[^\x07\x1b]|\x1b(?!\\))*\x1b?|[ -/]*)?"
                        rb"|[\xc0-\xff][\x80-\xbf]{0,2})\Z")


def incomplete(text):
    """What of the end of `text` is incomplete; a character is when its first byte promises more."""
    found = INCOMPLETE.search(text)
    tail = found.group() if found else b""
    whole = tail[:1] >= b"\xc0" and len(tail) >= (2 if tail[0] < 0xe0 else 3 if tail[0] < 0xf0 else 4)
    return b"" if whole else tail


def copy_size(to):
    fcntl.ioctl(to, termios.TIOCSWINSZ, fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))


def main():
    path, filler, argv = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    tty.setraw(0)
    os.write(1, b"".join(b"filler %d\r\n" % i for i in range(filler)))
    control = socket.socket(socket.AF_UNIX)
    control.connect(path)
    pid, program = pty.fork()
    if pid == 0:
        copy_size(0)
        os.execvp(argv[0], argv)
    copy_size(program)
    signal.signal(signal.SIGWINCH, lambda *_: copy_size(program))
    pending, tail, later, ears = b"", b"", b"", [0, program, control.fileno()]
    while True:
        for ready in select.select(ears, [], [])[0]:
            try:
                got = os.read(ready, 65536)
            except OSError:
                got = b""
            if not got and ready == program:
                ears.remove(program)
            elif not got:
                return
            elif ready == 0:
                os.write(program, got)
            elif ready == program:
                os.write(1, got)
                tail = incomplete(tail + got)
            else:
                *lines, pending = (pending + got).split(b"\n")
                for order in map(json.loads, lines):
                    if "type" in order:
                        os.write(program, order["type"].encode())
                    else:
                        later += order["write"].encode()
            if later and (not tail or program not in ears):
                os.write(1, later)
                later = b""


if __name__ == "__main__":
    main()
