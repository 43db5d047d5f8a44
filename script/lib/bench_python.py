# SPDX-License-Identifier: Apache-2.0
"""script/bench python: what the Python package costs.

`import hasp`, a call, a hook, and memory over many calls; then one agent run next to the SDKs that
npm has: a program that imports, sends one prompt and ends.  The model is a server on loopback that
answers immediately, without TLS.  Claude's and OpenAI's agents for Python come from PyPI alone and
are not measured.

    script/build python && /usr/bin/python3 script/lib/bench_python.py [--quick]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench
import bench_agent
import demo_python
import npm_peers

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
                ws._inside._tools,
                b"read_file",
                b'{"file_path":"a.txt"}',
                ffi.NULL,
                result,
                ffi.NULL,
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


# ---- one agent run -------------------------------------------------------------------------

BEGIN, END = "<!-- python: begin -->", "<!-- python: end -->"
PROMPT = "Say that you are done."
PROGRAM = """import sys, hasp
with hasp.blocking.Agent(sys.argv[1], ".") as agent:
    print(agent.run(sys.argv[2]).text)
"""
# {name: (format, set of npm_peers.py, environment(url))}; "" is hasp
PEERS = {
    "hasp, Gemini's format": (
        "gemini",
        "",
        lambda url: {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": url},
    ),
    "hasp, Anthropic's format": (
        "anthropic",
        "",
        lambda url: {"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": url},
    ),
    "hasp, OpenAI's format": (
        "openai",
        "",
        lambda url: {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": url + "/v1"},
    ),
    "claude-agent-sdk": (
        "anthropic",
        "agent-sdk",
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "test-key",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "openai-agents": (
        "openai",
        "openai-agents",
        lambda url: {"OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "test-key"},
    ),
    "adk": (
        "gemini",
        "adk",
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test-key"},
    ),
    "genai": (
        "gemini",
        "models",
        lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test-key"},
    ),
}
MODELS = {
    "gemini": "gemini-2.5-flash",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai": "openai/gpt-4.1",
}
PACKAGES = {
    "claude-agent-sdk": "@anthropic-ai/claude-agent-sdk",
    "openai-agents": "@openai/agents",
    "adk": "@google/adk",
    "genai": "@google/genai",
}


def shown(name):
    """A contender in the table, with its version."""
    if name not in PACKAGES:
        return name
    found = [one for row in npm_peers.SETS.values() for one in row.packages]
    package = next(one for one in found if one.startswith(PACKAGES[name] + "@"))
    return package + (" (a conversation; no agent)" if name == "genai" else "")


def one_run(name, package, top):
    """Milliseconds and MB, as bench_agent.py has them."""
    kind, peer, environment = PEERS[name]
    make = bench_agent.provider_of(kind)
    provider = make() if not peer or kind == "gemini" else make(lenient=True)
    provider = bench_agent.Lenient(provider) if peer else provider
    noted = bench_agent.Noted(lambda request: {"reply": [{"text": "Done."}]})
    home, said = top / "home", top / "said"
    home.mkdir(exist_ok=True)
    with bench_agent.fake_server.FakeServer(provider, [], noted) as server:
        given = npm_peers.environment(HOME=str(home), PYTHONPATH=str(package))
        given.update(environment(server.url))
        argv = [sys.executable, "-c", PROGRAM, MODELS[kind], PROMPT]
        if peer:
            script = str(bench.TOP / "script/lib/agent_run.mjs")
            argv = [npm_peers.node(), script, name, str(npm_peers.folder(peer)), PROMPT]
        started = time.monotonic()
        running = subprocess.Popen(
            [str(bench.TOOLS / "bench_spawn"), "/dev/null", str(said), *argv],
            cwd=home,
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        watch = bench_agent.Watch(running.pid)
        watch.start()
        printed, complaints = running.communicate()
        watch.over.set()
        watch.join()
    fields = printed.split()
    answered = said.read_text().rstrip().endswith("Done.")
    if len(fields) != 4 or fields[3] != "0" or not answered or server.violations:
        raise SystemExit("bench: %s did not answer: %s" % (name, complaints[-600:]))
    return (
        1000 * (noted.first - started),
        int(fields[0]) / 1e6,
        int(fields[1]) / 1e3,
        int(fields[2]) / 1024,
        max(watch.peak / 2**20, int(fields[2]) / 1024),
    )


def agent_runs(package, rounds):
    """The table."""
    samples = {name: [] for name in PEERS}
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=Path.home()) as top:
        for number in range(rounds + 1):
            for name in PEERS:
                place = Path(top) / str(list(PEERS).index(name))
                place.mkdir(exist_ok=True)
                sample = one_run(name, package, place)
                if number:  # the first warms the caches
                    samples[name].append(sample)
    head = ["one agent run", "first request after ms", "wall ms", "CPU ms"]
    head += ["largest process MB", "all processes MB"]
    rows = [head, ["---"] * len(head)]
    for name, taken in samples.items():
        medians = map(statistics.median, zip(*taken))
        rows.append(
            [shown(name)] + ["%.0f" % one if one >= 100 else "%.1f" % one for one in medians]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as top:
        package, work = Path(top) / "package", Path(top) / "work"
        work.mkdir()
        demo_python.unpacked(package, demo_python.TOP / "build")
        imported = start(str(package), "import hasp") - start(str(package), "pass")
        print("import hasp: %.1f ms" % imported)
        calls(work, 1_000 if quick else 10_000)
        hooks(work, 1_000 if quick else 10_000)
        table = agent_runs(package, 2 if quick else 7)
    print(table)
    if not quick:
        bench.page_write(BEGIN, END, table)


if __name__ == "__main__":
    main()
