# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs: `import hasp`, a call, a hook, and memory over many calls.

    script/build python && /usr/bin/python3 script/lib/bench_python.py [CALLS]
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import demo_python

REPEATS = 9


def microseconds(call, times):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(taken)


def start(folder, code):
    """Milliseconds of a Python that runs the code."""
    return (
        microseconds(
            lambda: subprocess.run(
                [sys.executable, "-c", "import sys; sys.path.insert(0, %r); %s" % (folder, code)],
                check=True,
            ),
            REPEATS,
        )
        / 1000
    )


def resident():
    """KiB of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def calls(top, times):
    import hasp
    from hasp._native import ffi, lib

    (top / "a.txt").write_text("hi\n")
    with hasp.blocking.Workspace(top) as ws:

        def library():
            result = ffi.new("char **")
            lib.hasp_tools_call(
                ws._tools, b"read_file", b'{"file_path":"a.txt"}', ffi.NULL, result, ffi.NULL
            )
            lib.hasp_agent_text_free(result[0])

        microseconds(library, times // 10)
        print(
            "read of a small file: %.1f us by the library, %.1f us by Workspace.read"
            % (microseconds(library, times), microseconds(lambda: ws.read("a.txt"), times))
        )
        before = resident()
        microseconds(lambda: ws.read("a.txt"), times)
        print("resident memory after %d calls: %+d KiB" % (times, resident() - before))


def hooks(top, times):
    import hasp

    class Looks:
        def before_tool_execution(self, event_name, agent, kwargs):
            return None

    for name, given in (("none", []), ("one", [Looks()])):
        with hasp.blocking.Agent(demo_python.answers(top / "model"), top, hooks=given) as agent:
            print(
                "Agent.call, hooks: %s: %.1f us"
                % (
                    name,
                    microseconds(lambda: agent.call("read_file", file_path="a.txt"), times // 10),
                )
            )


def main(times):
    with tempfile.TemporaryDirectory() as top:
        package, work = Path(top) / "package", Path(top) / "work"
        work.mkdir()
        demo_python.unpacked(package, demo_python.TOP / "build")
        print(
            "import hasp: %.1f ms"
            % (start(str(package), "import hasp") - start(str(package), "pass"))
        )
        calls(work, times)
        hooks(work, times)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["10000"])[0]))
