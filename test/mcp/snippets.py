# SPDX-License-Identifier: Apache-2.0
"""The configurations that docs/mcp.md shows, as its reader would copy them.

    snippets.of("Codex")          # [Snippet("toml", "..."), ...]: the blocks under that heading
    snippets.one("Codex", http=True)
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(os.environ.get("MCP_PAGE") or
            Path(__file__).resolve().parents[2] / "docs" / "mcp.md")
LANGUAGES = ("json", "jsonc", "toml")


class Snippet(NamedTuple):
    language: str
    text: str

    def is_http(self):
        return "http://" in self.text

    def at(self, port):
        """The same with another port; nothing else changes."""
        return re.sub(r"(http://127\.0\.0\.1:)\d+", r"\g<1>%d" % port, self.text)


def of(heading):
    """The fenced blocks of configuration beneath a heading, in order."""
    found, here, fence, block = [], False, None, []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        bare = line.strip()
        if fence is None and bare.startswith("```"):
            fence, block = bare[3:], []
        elif fence is not None and bare == "```":
            if here and fence in LANGUAGES:
                found.append(Snippet(fence, "\n".join(block) + "\n"))
            fence = None
        elif fence is not None:
            block.append(line)
        elif line.startswith("#"):
            here = line.lstrip("#").strip() == heading
    return found


def one(heading, http=False):
    """The first block for stdio, or for HTTP."""
    for snippet in of(heading):
        if snippet.is_http() == http:
            return snippet
    raise LookupError("%s shows no %s configuration under %r" % (
        PAGE.name, "HTTP" if http else "stdio", heading))
