# SPDX-License-Identifier: Apache-2.0
"""Writes the table of error codes in docs/edits.md from src/base/err.h, which has the only one.

    python3 script/lib/error_table.py           rewrites the table
    python3 script/lib/error_table.py --check   exits 1 if it would change
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HEADER = TOP / "src" / "base" / "err.h"
PAGE = TOP / "docs" / "edits.md"
BEGIN, END = "<!-- error codes: begin -->\n", "<!-- error codes: end -->"


def rows(header):
    """(name, class, advice) of each row of ERR_TABLE."""
    table = header[header.index("#define ERR_TABLE(X)"):header.index("enum err_code")]
    table = table.replace("\\\n", " ")
    row = r'X\(\s*(\w+),\s*"(\w+)",\s*(\w+),((?:\s*"(?:\\.|[^"\\])*")+)\s*\)'
    for match in re.finditer(row, table):
        advice = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match.group(4)))
        yield match.group(2), match.group(3).lower(), advice


def render(header):
    lines = ["| code | class | what to do |", "|---|---|---|"]
    lines += ["| `%s` | %s | %s |" % row for row in rows(header) if row[0] != "none"]
    return "\n".join(lines) + "\n"


def updated(page, header):
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + render(header) + END + rest.partition(END)[2]


def main():
    page = PAGE.read_text()
    new = updated(page, HEADER.read_text())
    if "--check" in sys.argv:
        return 0 if new == page else 1
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
