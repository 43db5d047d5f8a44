# SPDX-License-Identifier: Apache-2.0
"""Words on a terminal: colours, a progress bar, tables.  Plain lines when it is no terminal."""

import os
import re
import shutil
import sys
import time

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


def coloured():
    return (sys.stdout.isatty() or bool(os.environ.get("CLICOLOR_FORCE"))) and \
        "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text, *styles):
    if not coloured() or not styles:
        return text
    return "\x1b[%sm%s\x1b[0m" % (";".join(_CODES[style] for style in styles), text)


def printable(text):
    """Control characters of a stranger's text, made visible."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]",
                  lambda m: "\\x%02x" % ord(m.group(0)), text)


def print_diff(diff, indent="    "):
    for line in diff.rstrip("\n").split("\n"):
        style = {"+": ["green"], "-": ["red"], "@": ["cyan"]}.get(line[:1], [])
        if line.startswith(("--- ", "+++ ")):
            style = ["bold"]
        print(indent + paint(printable(line), *style))


class Progress:
    """A bar that redraws itself, at most 20 times a second; nothing when it is no terminal."""

    def __init__(self, total):
        self.total = max(total, 1)
        self.done = 0
        self.drawn = 0.0
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def step(self, text, count=1):
        self.done += count
        now = time.monotonic()
        if not self.live or now - self.drawn < 0.05:
            return
        self.drawn = now
        width = shutil.get_terminal_size().columns
        filled = min(30, 30 * self.done // self.total)
        line = "[%s%s] %3d %%  %s" % ("#" * filled, " " * (30 - filled),
                                      100 * self.done // self.total, printable(text))
        sys.stdout.write("\r\x1b[K" + line[:width - 1])
        sys.stdout.flush()

    def clear(self):
        if self.live:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()


def table(rows, footer=0):
    """Prints rows of strings; the first is the head, the last `footer` ones are totals."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                         for i, (cell, width) in enumerate(zip(row, widths)))
        if number == 0 or number >= len(rows) - footer:
            line = paint(line, "bold")
        if footer and number == len(rows) - footer:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))
        print(line)
