# SPDX-License-Identifier: Apache-2.0
"""script/bench acp: an editor's agent, beside others: from its start to the answer to initialize, session/new, memory with
idle sessions, and how long a piece of the model's answer takes to the editor.

Runs are interleaved; times are medians.  Memory is the proportional set size of the program and all that it started
(PSS: a page that several have counts once).  A peer that refuses a step has a dash there.  The model of the last row
is a server on loopback, over plain HTTP, that puts the time of sending into each piece; the client is Python, whose
part of it is included.

    python3 script/lib/bench_acp.py [--quick]
"""

import argparse
import contextlib
import http.server
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bench
import npm_peers

BEGIN, END = "<!-- acp: begin -->", "<!-- acp: end -->"
SESSIONS, PIECES, SECONDS = 10, 200, 60
CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}}


class Failed(Exception):
    pass


class Client:
    """Speaks with one agent; messages that are not waited for are dropped, questions refused."""

    def __init__(self, argv, env, cwd):
        self.start = time.monotonic()
        self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.last, self.rest = 0, b""

    def lines(self, seconds=SECONDS):
        """Each message and when it came."""
        end = time.monotonic() + seconds
        while True:
            while b"\n" not in self.rest:
                if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                    raise Failed("no answer")
                more = os.read(self.process.stdout.fileno(), 1 << 16)
                now = time.monotonic_ns()
                if not more:
                    raise Failed("it ended")
                self.rest += more
            line, self.rest = self.rest.split(b"\n", 1)
            with contextlib.suppress(ValueError):
                yield json.loads(line), now

    def request(self, method, heard=lambda message, now: None, **params):
        """The result, and the seconds that it took."""
        self.last += 1
        begun = time.monotonic()
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method,
                                             "params": params}).encode() + b"\n")
        self.process.stdin.flush()
        for message, now in self.lines():
            if "method" not in message and message.get("id") == self.last:
                if "error" in message:
                    raise Failed(message["error"]["message"])
                return message["result"], now / 1e9 - begun
            heard(message, now)
        return None

    def initialize(self):
        """Seconds since the start of the program."""
        self.request("initialize", protocolVersion=1, clientCapabilities=CAPABILITIES)
        return time.monotonic() - self.start

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def tree(pid):
    found, left = [], [pid]
    while left:
        one = left.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            for task in os.listdir("/proc/%d/task" % one):
                left += map(int, Path("/proc/%d/task/%s/children" % (one, task)).read_text().split())
    return found


def pss(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path("/proc/%d/smaps_rollup" % pid).read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) << 10
    return total


class Agent:
    def __init__(self, name, argv, **env):
        self.name, self.argv, self.env = name, argv, env
        self.init, self.new, self.alone, self.all, self.why = [], [], None, None, ""

    def client(self, folder):
        home = folder / "home"
        (home / ".gemini").mkdir(parents=True, exist_ok=True)
        (home / ".gemini/settings.json").write_text(
            '{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}}')
        (folder / "project").mkdir(exist_ok=True)
        env = npm_peers.environment(HOME=str(home), GEMINI_API_KEY="x", ANTHROPIC_API_KEY="x", OPENAI_API_KEY="x",
                                    GEMINI_CLI_TRUST_WORKSPACE="true", **self.env)
        return Client(self.argv, env, folder / "project")

    def run(self, folder, sessions):
        client = self.client(folder)
        try:
            self.init.append(client.initialize())
            for _ in range(sessions):
                self.new.append(client.request("session/new", cwd=str(folder / "project"), mcpServers=[])[1])
            if sessions > 1:
                self.alone, self.all = pss([client.process.pid]), pss(tree(client.process.pid))
        except Failed as why:
            self.why = str(why)
        finally:
            client.end()


class Stream(http.server.BaseHTTPRequestHandler):
    """An answer of Gemini's in pieces, each with the time at which it was sent."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for i in range(PIECES):
            time.sleep(0.005)
            self.piece({"text": "%d " % time.monotonic_ns()}, i == PIECES - 1)
        self.wfile.write(b"0\r\n\r\n")

    def piece(self, part, last):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if last:
            candidate["finishReason"] = "STOP"
        data = b"data: " + json.dumps({"candidates": [candidate]}).encode() + b"\r\n\r\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_):
        pass


def streamed(agent, folder):
    """Seconds that a piece takes, the median and the longest of 99 of 100."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent.env["GOOGLE_GEMINI_BASE_URL"] = "http://127.0.0.1:%d" % server.server_port
    took = []

    def heard(message, now):
        update = message.get("params", {}).get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk":
            took.extend(now - int(sent) for sent in update["content"]["text"].split())

    client = agent.client(folder)
    try:
        client.initialize()
        session = client.request("session/new", cwd=str(folder / "project"), mcpServers=[])[0]["sessionId"]
        client.request("session/prompt", heard, sessionId=session, prompt=[{"type": "text", "text": "go"}])
    finally:
        client.end()
        server.shutdown()
    took.sort()
    return took[len(took) // 2] / 1e9, took[len(took) * 99 // 100] / 1e9


def contenders():
    def npm(package, *words):
        return [npm_peers.node(), str(npm_peers.folder(package) / "node_modules" / words[0]), *words[1:]]

    return [
        Agent("hasp acp", [str(bench.TOP / "build" / "hasp"), "acp"]),
        Agent("gemini --acp", npm("gemini", "@google/gemini-cli/bundle/gemini.js", "--acp", "--skip-trust")),
        Agent("claude-code-acp", npm("claude-acp", "@zed-industries/claude-code-acp/dist/index.js")),
        Agent("codex-acp", npm("codex-acp", "@zed-industries/codex-acp/bin/codex-acp.js")),
    ]


def ms(values):
    return "%.1f ms" % (statistics.median(values) * 1000) if values else "–"


def mb(value):
    return "%.1f MB" % (value / (1 << 20)) if value else "–"


def table(agents, chunk):
    lines = ["| | " + " | ".join(agent.name for agent in agents) + " |", "|---|" + "---|" * len(agents)]
    rows = [("start to the answer to initialize", lambda a: ms(a.init)), ("session/new", lambda a: ms(a.new)),
            ("memory with %d idle sessions: the program" % SESSIONS, lambda a: mb(a.alone)),
            ("with all that it started", lambda a: mb(a.all)),
            ("a piece of text, from the model's socket to the editor's pipe: median, 99 %",
             lambda a: "%s, %s" % (ms(chunk[:1]), ms(chunk[1:])) if a is agents[0] else "not measured")]
    lines += ["| %s | %s |" % (name, " | ".join(value(agent) for agent in agents)) for name, value in rows]
    lines += ["", *("%s: %s." % (agent.name, agent.why.rstrip(".")) for agent in agents if agent.why)]
    return "\n".join(lines).rstrip() + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true")
    quick = options.parse_args().quick
    agents = contenders()
    top = Path(tempfile.mkdtemp(prefix="bench-acp-")).resolve()
    try:
        for i in range(2 if quick else 9):
            for agent in agents:
                agent.run(top / ("%s-%d" % (agent.name.split()[0], i)), SESSIONS if i == 0 else 1)
        chunk = streamed(agents[0], top / "stream")
    finally:
        shutil.rmtree(top, ignore_errors=True)
    made = table(agents, chunk)
    print(made)
    if not quick:
        page = bench.TOP / "docs" / "benchmarks.md"
        before, _, rest = page.read_text().partition(BEGIN)
        page.write_text(before + BEGIN + "\n" + made + END + rest.partition(END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
