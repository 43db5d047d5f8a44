# SPDX-License-Identifier: Apache-2.0
"""Runs a program again and again, disturbed by strace at each of its system calls in turn."""

import re
import subprocess

CALL = re.compile(r"^(?:\d+ +)?([a-z_0-9]+)\(")
BEGIN, END = '"/begin"', '"/end"'


def calls(command):
    """The system calls between the marks, as [(name, how many of that name so far)]."""
    run = subprocess.run(["strace", "-qq", "-s", "8", *command], stderr=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, text=True, check=False)
    found, counts, begun = [], {}, False
    for line in run.stderr.splitlines():
        match = CALL.match(line)
        if not match:
            continue
        name = match[1]
        counts[name] = counts.get(name, 0) + 1
        if END in line:
            return found
        if begun:
            found.append((name, counts[name]))
        begun = begun or BEGIN in line
    raise AssertionError(run.stderr)


def disturbed(command, name, count, what):
    """Runs it with `what` ("signal=KILL", "error=EIO") at the count-th call of `name`."""
    return subprocess.run(["strace", "-qq", "-e", f"trace={name}", "-e",
                           f"inject={name}:{what}:when={count}", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False, timeout=300)
