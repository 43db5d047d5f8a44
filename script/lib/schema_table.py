# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/schemas.md from that of src/model/schema_fit.c.

    python3 script/lib/schema_table.py           rewrites the table
    python3 script/lib/schema_table.py --check   exits 1 if it would change
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "schemas.md"
SOURCE = TOP / "src" / "model" / "schema_fit.c"
BEGIN, END = "<!-- schemas: begin -->\n", "<!-- schemas: end -->"
WORDS = {"S": "sent", "R": "rewritten", "N": "in the description", "L": "left out"}


def rows():
    """(keyword, letters, how) of each row."""
    text = re.sub(r'"\n\s*"', "", SOURCE.read_text(encoding="utf-8"))
    return re.findall(r'^\t\{ "([$\w]+)", FIT_\w+, "([SRNL]{4})",\s*"([^"]*)" \},$', text, re.M)


def table():
    lines = ["| keyword | OpenAI, chat | OpenAI, Responses | Anthropic | Gemini | |", "|---|---|---|---|---|---|"]
    for name, letters, how in rows():
        lines.append("| `%s` | %s | %s |" % (name, " | ".join(WORDS[one] for one in letters), how))
    return "\n".join(lines) + "\n"


def main():
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    new = before + BEGIN + table() + END + rest.split(END)[1]
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        sys.exit("docs/schemas.md is not what src/model/schema_fit.c says: python3 script/lib/schema_table.py")


if __name__ == "__main__":
    main()
