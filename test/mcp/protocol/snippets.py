# SPDX-License-Identifier: Apache-2.0
"""What docs/mcp.md tells its reader to copy.

    snippets.block("codex-stdio")        # the fenced block after <!-- snippet: codex-stdio -->
    snippets.command("codex", "stdio")   # `codex mcp add ...`, in the paragraph before it
    snippets.at(text, 1234)              # the same with that port; nothing else changes
"""

import os
import re
from pathlib import Path

PAGE = Path(os.environ.get("MCP_PAGE") or
            Path(__file__).resolve().parents[3] / "docs" / "mcp.md")


def _find(name):
    """(paragraph before the marker, block after it)"""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"(?ms)^([^\n]+)\n\n<!-- snippet: %s -->\n```\w+\n(.*?)^```$"
                      % re.escape(name), text)
    if not found:
        raise LookupError("%s has no snippet %r after a line of text" % (PAGE.name, name))
    return found.groups()


def block(name):
    return _find(name)[1]


def command(agent, transport):
    """As a line for a shell."""
    paragraph, _ = _find("%s-%s" % (agent, transport))
    found = re.search(r"`(%s mcp add [^`]+)`" % agent, paragraph)
    if not found:
        raise LookupError("%s shows no `%s mcp add` for %s" % (PAGE.name, agent, transport))
    return found.group(1)


def at(text, port):
    return re.sub(r"(http://127\.0\.0\.1:)\d+", r"\g<1>%d" % port, text)
