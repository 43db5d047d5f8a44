# SPDX-License-Identifier: Apache-2.0
"""script/bench acp: an editor's agent, beside others: from its start to the answer to initialize, session/new, memory with
idle sessions, and how long a piece of the model's answer takes to the editor.

Runs are interleaved; times are medians.  Memory is the proportional set size of the program and all that it started
(PSS: a page that several have counts once).  A peer that refuses a step has a dash there.  The model of the last row
is a server on loopback, over plain HTTP, in a process of its own, that puts the time of sending into each piece.  What
server, client and machine take themselves is in it, and is measured alone as well: `cat` copies the same pieces.

    python3 script/lib/bench_acp.py [--quick]
"""

import argparse
import contextlib
import gc
import http.server
import json
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench
import npm_peers

BEGIN, END = "<!-- acp: begin -->", "<!-- acp: end -->"
SESSIONS, PIECES, ROUNDS, SECONDS = 10, 400, 5, 60
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
        end, now = time.monotonic() + seconds, time.monotonic_ns()
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
    disable_nagle_algorithm = True

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        if "alt=sse" not in self.path:
            data = json.dumps(self.answer({"text": "{}"}, True)).encode()
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for i in range(PIECES):
            time.sleep(0.005)
            data = b"data: " + json.dumps(self.answer({"text": "%d " % time.monotonic_ns()}, i == PIECES - 1)).encode()
            self.wfile.write(b"%x\r\n%s\r\n\r\n\r\n" % (len(data) + 4, data))
        self.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def answer(part, last):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if last:
            candidate["finishReason"] = "STOP"
        return {"candidates": [candidate]}

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def model():
    """The port of the server, which is another process."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stream)
    child = os.fork()
    if not child:
        gc.disable()
        with contextlib.suppress(BaseException):
            server.serve_forever()
        os._exit(0)
    server.socket.close()
    try:
        yield server.server_port
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def streamed(agent, folder, port):
    """Nanoseconds that each piece took."""
    agent.env["GOOGLE_GEMINI_BASE_URL"] = "http://127.0.0.1:%d" % port
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
    return took


def copied(port):
    """The same of a program that does nothing else."""
    command = ("exec 3<>/dev/tcp/127.0.0.1/%d; printf 'POST /?alt=sse HTTP/1.1\\r\\ncontent-length: 0\\r\\n"
               "connection: close\\r\\n\\r\\n' >&3; exec cat <&3" % port)
    took, rest = [], b""
    with subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE) as process:
        while more := os.read(process.stdout.fileno(), 1 << 16):
            now, rest = time.monotonic_ns(), rest + more
            *lines, rest = rest.split(b"\n")
            took.extend(now - int(sent) for line in lines for sent in re.findall(rb'"text": "(\d+)', line))
    return took


def pieces(agents, top, rounds):
    """{name: what each piece took}, of agents that have come so far, and of a copy; hasp's and the copy's of all rounds.
    The other programs of the machine wait meanwhile, where that is permitted."""
    took = {}
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    gc.disable()
    with model() as port:
        for i in range(rounds):
            for agent in [agent for agent in agents if not agent.why][:1 if i else None]:
                took.setdefault(agent.name, []).extend(streamed(agent, top / ("%s-%d" % (agent.name[:3], i)), port))
            took.setdefault("copy", []).extend(copied(port))
    gc.enable()
    return took


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


def spread(took):
    took = sorted(value / 1e6 for value in took)
    return "%.2f ms, %.2f ms" % (took[len(took) // 2], took[len(took) * 99 // 100]) if took else "–"


def table(agents, took):
    lines = ["| | " + " | ".join(agent.name for agent in agents) + " |", "|---|" + "---|" * len(agents)]
    rows = [("start to the answer to initialize", lambda a: ms(a.init)), ("session/new", lambda a: ms(a.new)),
            ("memory with %d idle sessions: the program" % SESSIONS, lambda a: mb(a.alone)),
            ("with all that it started", lambda a: mb(a.all)),
            ("a piece of text, from the model's socket to the editor's pipe: median, 99 %",
             lambda a: spread(took.get(a.name, [])))]
    lines += ["| %s | %s |" % (name, " | ".join(value(agent) for agent in agents)) for name, value in rows]
    lines += ["", "A piece that `cat` copies from the same server: %s." % spread(took["copy"])]
    lines += [*("%s: %s." % (agent.name, agent.why.rstrip(".")) for agent in agents if agent.why)]
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
        took = pieces(agents, top, 1 if quick else ROUNDS)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    made = table(agents, took)
    print(made)
    if not quick:
        page = bench.TOP / "docs" / "benchmarks.md"
        before, _, rest = page.read_text().partition(BEGIN)
        page.write_text(before + BEGIN + "\n" + made + END + rest.partition(END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
