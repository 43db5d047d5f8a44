#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One agent under five approvals.

    agent.py none|everything|terminal|browser PROMPT [MODEL]

It works in the current folder.  The fifth is for a cell of a notebook:

    import agent
    await agent.main("notebook", PROMPT)
"""
import asyncio
import sys

import hasp

APPROVALS = {
    "none": hasp.approval.Nothing,  # what needs a question is refused
    "everything": hasp.approval.Everything,  # all is allowed: only in a container, or in CI
    "terminal": hasp.approval.Terminal,  # a diff, and y, n, hunks or words
    "browser": hasp.approval.Browser,  # writes a link to a page with the diff
    "notebook": lambda: hasp.notebook.Widget(),  # below the cell: the diff, and buttons
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
