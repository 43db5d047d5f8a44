# SPDX-License-Identifier: Apache-2.0
"""script/bench counts the processor time of all processes of what it measures."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

TOOLS = Path(os.environ["HASP"]).parent / "test" / "bench"

# Uses up so much processor time, as its own clock says.
BURN = "import time\nwhile time.process_time() < 0.3: pass\n"


def spawn(*argv):
    done = subprocess.run([TOOLS / "bench_spawn", "/dev/null", "/dev/null", *argv], check=True,
                          stdout=subprocess.PIPE, text=True)
    wall_ns, cpu_us, rss_kb, status = map(int, done.stdout.split())
    assert wall_ns > 0 and rss_kb > 0 and status == 0
    return cpu_us


def test_time_of_a_child_that_nobody_waits_for():
    assert spawn(sys.executable, "-c", BURN) >= 300_000
    left_behind = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', %r])" % BURN
    assert spawn(sys.executable, "-c", left_behind) >= 300_000


def test_time_and_memory_of_a_servers_children(tmp_path):
    """A server whose child does the work: a hundredth of a second for each call."""
    worker = textwrap.dedent("""\
        import sys, time
        memory = bytearray(64 << 20)
        for line in sys.stdin:
            end = time.process_time() + 0.01
            while time.process_time() < end: pass
            print(line, end="", flush=True)
        """)
    server = textwrap.dedent("""\
        import json, subprocess, sys
        pipe = subprocess.PIPE
        worker = subprocess.Popen([sys.executable, "-c", %r], stdin=pipe, stdout=pipe, text=True)
        for line in sys.stdin:
            number = json.loads(line).get("id")
            if number is None:
                continue
            worker.stdin.write("x\\n")
            worker.stdin.flush()
            worker.stdout.readline()
            print(json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}), flush=True)
        """) % worker
    params = json.dumps({"name": "x", "arguments": {}})
    done = subprocess.run([TOOLS / "bench_mcp_lines", "20", "1", params, "--", sys.executable, "-c",
                           server], check=True, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    _, _, all_us, first_us, idle_kb, after_kb = map(float, done.stdout.split())
    assert all_us >= 10_000
    assert first_us < all_us - 9_000
    assert idle_kb >= 64 << 10 and after_kb >= 64 << 10
