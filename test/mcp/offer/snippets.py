# SPDX-License-Identifier: Apache-2.0
"""The configuration snippets of docs/mcp.md, by name.

A snippet is the fenced block after a line "<!-- snippet: NAME -->".

    snippets.py            names them
    snippets.py NAME       prints one
"""
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mcp.md"


def snippets():
    """{name: (language, text)}"""
    found = re.findall(r"(?ms)^<!-- snippet: ([a-z-]+) -->\n```(\w+)\n(.*?)^```$",
                       PAGE.read_text(encoding="utf-8"))
    return {name: (language, text) for name, language, text in found}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(snippets()[sys.argv[1]][1], end="")
    else:
        print("\n".join(snippets()))
