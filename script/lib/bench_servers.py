# SPDX-License-Identifier: Apache-2.0
"""script/bench's part about MCP servers: ten of them, with 30 tools each, beside none and beside other agents.

The servers are programs of the official SDK (tools_server.mjs).  What is measured is from the start of the
agent to its first request to the model, a server on loopback that answers at once: with no servers, with ten
that it has never seen, and, of hasp, which keeps what servers declared, with ten that it knows from the run
before.  Further: memory of
the agent without the servers' own at that request, tokens of it (bytes by four; tools that the provider keeps
out of the context are not counted), and in a run with one server the time from the end of a reply that calls
its tool to the request that has the result, beside what the server takes for the same call by itself.  Runs
are interleaved, figures medians; each run is checked to have offered what it should.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench
import bench_agent
import npm_peers

sys.path.insert(0, str(bench.TOP / "test" / "model"))
import fake_server  # noqa: E402

BEGIN, END = "<!-- servers: begin -->", "<!-- servers: end -->"
SERVERS, TOOLS, CALLS = 10, 30, 12
SERVER = bench.TOP / "script" / "lib" / "tools_server.mjs"


def entry(name):
    return {"command": str(npm_peers.node()), "args": [str(SERVER), str(npm_peers.folder("sdk")), name]}


def servers(count):
    return {"s%d" % i: entry("s%d" % i) for i in range(count)}


def own_processes(pid):
    """Of the agent: not the shell that starts it, and no server."""
    for one in bench_agent.descendants(pid):
        try:
            words = Path("/proc/%d/cmdline" % one).read_bytes()
        except OSError:
            continue
        if bytes(SERVER) not in words:
            yield one


class Job:
    """Answers at once: with `calls` calls of the tool echo first."""

    def __init__(self, provider, calls):
        self.provider, self.calls, self.asked, self.replied = provider, calls, [], []
        self.pid, self.memory, self.first = None, 0, None

    def __call__(self, request):
        now = time.monotonic()
        names = self.provider.tool_names(request)
        if not names:  # about something else: a title, whether there is quota
            return {"reply": [{"text": "Hi."}]}
        if not self.asked:
            self.first, self.memory = request, bench_agent.memory_of(list(own_processes(self.pid)))
        self.asked.append(now)
        done = len(self.asked) > self.calls
        name = next((name for name in names if name.endswith("echo")), "mcp_s0_echo")
        reply = {"text": "Done."} if done else {"call": name, "args": {"text": "hello %d" % len(self.asked)}}
        self.replied.append(time.monotonic())
        return {"reply": [reply]}

    def tokens(self):
        body = dict(self.first.body)
        body["tools"] = [one for one in body.get("tools", []) if not one.get("defer_loading")]
        return len(json.dumps(body)) // 4

    def declared(self):
        """How many tools of servers the model has from the beginning."""
        kept = [one["name"] for one in self.first.body.get("tools", []) if one.get("defer_loading")]
        return sum("records_" in name or name.endswith("echo")
                   for name in self.provider.tool_names(self.first) if name not in kept)


class Agent:
    def __init__(self, name, kind, argv, environment, prepare):
        self.name, self.kind, self.argv, self.environment = name, kind, argv, environment
        self.prepare, self.samples, self.peer = prepare, {}, not name.startswith("hasp")


def settings(home, wanted, **more):
    """hasp's and Gemini CLI's."""
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps({
        "mcpServers": {name: dict(one, trust=True) for name, one in wanted.items()},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}, **more}))


def hasp(name, kind, model, variables, **tools):
    return Agent(name, kind, lambda home: [bench.HASP, "-p", "Hi.", "--yolo", "--skip-trust", "-m", model],
                 variables, lambda home, wanted: settings(home, wanted, hasp={"tools": tools}))


def claude_config(home, wanted):
    (home / "servers.json").write_text(json.dumps({"mcpServers": wanted}))


def contenders():
    google = {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": "{url}"}
    claude = {"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": "{url}", "IS_SANDBOX": "1",
              "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    sonnet = ("anthropic", "anthropic/claude-sonnet-4-5", claude)

    return [
        hasp("hasp", "gemini", "gemini-2.5-flash", google),
        hasp("hasp, all declared", "gemini", "gemini-2.5-flash", google, defer="off"),
        hasp("hasp, loaded by Anthropic", *sonnet, deferBy="provider"),
        Agent("claude-code 2.1.328", "anthropic", lambda home: [
            bench_agent.program("claude", "claude"), "-p", "Hi.", "--dangerously-skip-permissions",
            "--strict-mcp-config", "--mcp-config", str(home / "servers.json")], claude, claude_config),
        Agent("gemini-cli 0.61", "gemini", lambda home: [
            bench_agent.program("gemini", "gemini"), "--yolo", "--skip-trust", "-m", "gemini-2.5-flash",
            "-p", "Hi."], google, settings),
    ]


def run(agent, folder, home, count, calls=0):
    work = Path(folder) / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    agent.prepare(home, servers(count))
    make = bench_agent.provider_of(agent.kind)
    provider = bench_agent.Lenient(make() if agent.kind == "gemini" else make(lenient=True))
    job = Job(provider, calls)
    with fake_server.FakeServer(provider, [], job) as server:
        environment = dict(npm_peers.environment(HOME=str(home)), PWD=str(work))
        environment.update({name: value.format(url=server.url) for name, value in agent.environment.items()})
        started = time.monotonic()
        running = subprocess.Popen(agent.argv(home), cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        job.pid = running.pid
        _, complaints = running.communicate(timeout=300)
    if running.returncode or len(job.asked) != calls + 1:
        raise SystemExit("bench: %s with %d servers did not work (%d): %d requests: %s" % (
            agent.name, count, running.returncode, len(job.asked), complaints[-600:]))
    trips = [1000 * (b - a) for a, b in zip(job.replied, job.asked[1:])][2:]
    return {"first": 1000 * (job.asked[0] - started), "memory": job.memory / 2 ** 20, "tokens": job.tokens(),
            "declared": job.declared(), "trip": statistics.median(trips) if trips else None}


def forget(home):
    for file in home.glob(".gemini/tmp/*/mcp-tools.json"):
        file.unlink()


def measure(agents, rounds, peer_rounds):
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=Path.home()) as folder:
        for number in range(rounds + 1):  # the first one warms the machine's caches
            for i, agent in enumerate(agents):
                if agent.peer and not 0 < number <= peer_rounds:
                    continue
                home = Path(folder) / ("home%d" % i)
                home.mkdir(exist_ok=True)
                for what, count, calls in [("none", 0, 0), ("cold", SERVERS, 0), ("warm", SERVERS, 0),
                                           ("call", 1, CALLS)]:
                    if agent.peer and what == "warm":
                        continue  # as before: nothing is kept
                    if what == "cold":
                        forget(home)
                    sample = run(agent, folder, home, count, calls)
                    if number:
                        agent.samples.setdefault(what, []).append(sample)


def alone():
    """Milliseconds of a call by a program that does nothing else."""
    one = entry("alone")
    with subprocess.Popen([one["command"], *one["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, bufsize=1) as process:
        def ask(number, method, params):
            began = time.monotonic()
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                            "params": params}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
            return 1000 * (time.monotonic() - began)

        ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                              "clientInfo": {"name": "bench", "version": "1"}})
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        trips = [ask(i + 1, "tools/call", {"name": "echo", "arguments": {"text": "hello"}}) for i in range(50)]
        process.stdin.close()
        process.stdout.read()
    return statistics.median(trips[2:])


def shown(value):
    return "" if value is None else "%.0f" % value if abs(value) >= 100 else "%.1f" % value


def table(agents, own_ms):
    head = ["%d servers of %d tools" % (SERVERS, TOOLS), "first request after ms, no servers", "ten new ones",
            "ten known", "known: later than without", "MB, no servers", "ten new ones", "ten known",
            "tokens, no servers", "ten", "tools declared", "a turn with a call, ms"]
    rows = []
    for agent in agents:
        def median(what, key, samples=agent.samples):
            return statistics.median(sample[key] for sample in samples[what]) if what in samples else None

        # Of pairs that ran one after the other: what else the machine did is in both.
        later = None if agent.peer else statistics.median(
            b["first"] - a["first"] for a, b in zip(agent.samples["none"], agent.samples["warm"]))
        rows.append([agent.name] + [shown(value) for value in (
            median("none", "first"), median("cold", "first"), median("warm", "first"), later,
            median("none", "memory"), median("cold", "memory"), median("warm", "memory"))] + [
            "%d" % median("none", "tokens"), "%d" % median("cold", "tokens"),
            "%d" % median("cold", "declared"), shown(median("call", "trip"))])
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]
    count = len(agents[0].samples["none"])
    peers = min([len(agent.samples["none"]) for agent in agents if agent.peer] or [count])
    return "\n".join(lines) + "\n\nMedians of %d interleaved runs, of the others %d; 2 processors, load %.1f at " \
        "the end. The server by itself takes %.2f ms for the call." % (
            count, peers, os.getloadavg()[0], own_ms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names' beginnings, with commas")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--peer-rounds", type=int, default=0, help="of the others, which take long")
    parser.add_argument("--write", action="store_true", help="into docs/, whatever else is said")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else [""]
    agents = [agent for agent in contenders() if any(agent.name.startswith(name) for name in wanted)]
    rounds = options.rounds or (2 if options.quick else 7)
    measure(agents, rounds, options.peer_rounds or rounds)
    text = table(agents, alone())
    print(text)
    if options.write or not (options.quick or options.only or options.rounds):
        bench.page_write(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
