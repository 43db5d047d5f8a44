# SPDX-License-Identifier: Apache-2.0
"""Whether memory grows with agents that were made and dropped, and with calls.

    script/build python && /usr/bin/python3 script/lib/python_memory.py [AGENTS [CALLS]]

Without arguments 1,000 agents, each with a prompt and a call of a function of the program's, and
10,000 calls of a workspace.  Prints how much the heap of Python (tracemalloc) and the process (RSS)
have grown by the second half; ends with 1 if that is more than a limit.  test/python runs a tenth.
"""

import asyncio
import gc
import json
import os
import sys
import tempfile
import threading
import tracemalloc
from pathlib import Path

import demo_python

MOST_HEAP = 100_000  # bytes by which half of the work may grow Python's heap
MOST_RESIDENT = 3 << 20  # bytes, likewise, of the process: its allocator keeps some
MOST_ENDING = 3  # threads and descriptors that are just ending; a leak is one for each agent


def resident():
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def answers(path):
    """A model that calls the function and answers."""
    parts = [{"functionCall": {"name": "shout", "args": {"word": "hey"}}}, {"text": "Done."}]
    path.write_text(
        "".join(
            json.dumps(
                {
                    "method": "generateContentStream",
                    "response": [
                        {
                            "candidates": [
                                {
                                    "content": {"role": "model", "parts": [part]},
                                    "finishReason": "STOP",
                                }
                            ]
                        }
                    ],
                }
            )
            + "\n"
            for part in parts
        )
    )
    return "replay:%s" % path


def agents(top, count):
    import hasp

    class Looks:
        def before_tool_execution(self, event_name, agent, kwargs):
            return None

    @hasp.tool(kind="read")
    def shout(word: str) -> str:
        """Shouts."""
        return word.upper() + "!"

    async def one(model):
        async with hasp.Agent(model, top, tools=[shout], hooks=[Looks()]) as agent:
            assert (await agent.run("go")).text == "Done."

    async def work():
        model = answers(top.parent / "model")
        for _ in range(count):
            await one(model)

    asyncio.run(work())


def calls(top, count):
    import hasp

    (top / "a").write_text("one\n")
    with hasp.blocking.Workspace(top) as ws:
        for _ in range(count):
            assert ws.read("a").content == "one\n"


def growth(work, top, count):
    """(heap, resident, descriptors, threads): what the second half of the work has added."""
    work(top, count // 2)
    gc.collect()
    tracemalloc.start()
    work(top, max(2, count // 20))  # tracemalloc's own tables
    gc.collect()
    before = tracemalloc.get_traced_memory()[0], resident(), descriptors(), threading.active_count()
    work(top, count // 2)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0], resident(), descriptors(), threading.active_count()
    tracemalloc.stop()
    return [new - old for old, new in zip(before, after)]


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def measure(agent_count, call_count):
    """Prints what has grown; returns whether it is too much."""
    failed = False
    with tempfile.TemporaryDirectory() as top:
        os.environ["HOME"] = top
        work = Path(top) / "work"
        work.mkdir()
        for what, count in ((agents, agent_count), (calls, call_count)):
            grown = growth(what, work, count)
            print(
                "%d %s: heap %+d bytes, resident %+d KiB, descriptors %+d, threads %+d"
                % (count, what.__name__, grown[0], grown[1] // 1024, *grown[2:])
            )
            limits = (MOST_HEAP, MOST_RESIDENT, MOST_ENDING, MOST_ENDING)
            failed = failed or any(one > limit for one, limit in zip(grown, limits))
    return failed


def main():
    given = [*map(int, sys.argv[1:]), *(1_000, 10_000)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as package:
        if "HASP_PACKAGE" in os.environ:  # unpacked already
            sys.path.insert(0, os.environ["HASP_PACKAGE"])
        else:
            demo_python.unpacked(Path(package), demo_python.TOP / "build")
        return measure(*given)


if __name__ == "__main__":
    sys.exit(main())
