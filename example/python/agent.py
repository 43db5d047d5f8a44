#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One agent under four approvals.

    agent.py nobody|everything|terminal|browser PROMPT [MODEL]

It works in the current folder.  In a notebook, `hasp.notebook.Widget()` is the fifth.
"""
import asyncio
import sys

import hasp

APPROVALS = {
    "nobody": hasp.approval.Nobody,  # what needs a question is refused
    "everything": hasp.approval.Everything,  # all is allowed: only in a container, or in CI
    "terminal": hasp.approval.Terminal,  # a diff, and y, n, hunks or words
    "browser": hasp.approval.Browser,  # writes a link to a page with the diff
}


async def main(place: str, prompt: str, model: str | None = None) -> None:
    """The twenty lines, which are the same under each."""
    async with hasp.Agent(model, approval=APPROVALS[place]()) as agent:
        async for event in agent.prompt(prompt):
            if event.kind == "text":
                print(event.text, end="")
            elif event.kind == "tool_call":
                print("call:", event.data.get("toolName", event.data.get("name", "")))
        print()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in APPROVALS:
        sys.exit(__doc__)
    try:
        asyncio.run(main(*sys.argv[1:]))
    except hasp.Error as error:
        sys.exit(f"{error.code}: {error.message}")
