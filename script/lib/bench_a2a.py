# SPDX-License-Identifier: Apache-2.0
"""script/bench a2a: hasp serve a2a beside Gemini CLI's A2A server: from its start to the first card, memory when it is idle
and after tasks, how long a streamed task takes that the model answers immediately, and processor time per tasks/get.

Runs are interleaved; times are medians.  Memory is the proportional set size of the program and all that it started
(PSS).  Both have the same model, a server on loopback in this process, which sends two pieces of text; both are asked
by the same client, over JSON-RPC of A2A 0.3.

    python3 script/lib/bench_a2a.py [--quick]
"""
import argparse
import contextlib
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import bench
import npm_peers

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "model"))

from fake_gemini import Provider, text  # noqa: E402
from fake_server import FakeServer  # noqa: E402

BEGIN, END = "<!-- a2a: begin -->", "<!-- a2a: end -->"
TASKS, GETS = 20, 2000


class Lenient(Provider):
    """Takes what the peer's requests have that the real API would not."""

    def check(self, request):
        super().check(request)
        return []


class Agent:
    """One of those that are compared; `starts`, `firsts`, `lasts` in ms."""

    def __init__(self, name, argv):
        self.name, self.argv = name, argv
        self.starts, self.firsts, self.lasts, self.idle, self.used, self.gets = [], [], [], [], [], []

    @contextlib.contextmanager
    def running(self, top, url):
        home, work = top / "home", top / "work"
        for folder in (home / ".gemini", work):
            folder.mkdir(parents=True)
        with socket_port() as port:
            pass
        env = {"PATH": "%s:%s" % (npm_peers.node().parent, os.environ["PATH"]), "HOME": str(home),
               "GEMINI_CLI_HOME": str(home), "GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url,
               "GEMINI_CLI_TRUST_WORKSPACE": "true", "CODER_AGENT_WORKSPACE_PATH": str(work),
               "CODER_AGENT_PORT": str(port)}
        begin = time.monotonic()
        argv = [str(one).replace("PORT", str(port)).replace("WORK", str(work)) for one in self.argv]
        process = subprocess.Popen(argv, env=env, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            while not card(port):
                if process.poll() is not None:
                    sys.exit("%s did not start" % self.name)
                time.sleep(0.001)
            self.starts.append((time.monotonic() - begin) * 1000)
            yield port, process.pid, work
        finally:
            process.terminate()
            process.wait()

    def run(self, top, url):
        with self.running(top, url) as (port, pid, work):
            self.idle.append(pss(pid))
            for _ in range(TASKS):
                task = self.stream(port, work)
            self.used.append(pss(pid))
            before = cpu(pid)
            connection = http.client.HTTPConnection("127.0.0.1", port)
            for _ in range(GETS):
                post(connection, "tasks/get", {"id": task}).read()
            self.gets.append((cpu(pid) - before) * 1000 / GETS)

    def stream(self, port, work):
        """A task of its own; its id."""
        connection, begin, first, task = http.client.HTTPConnection("127.0.0.1", port), time.monotonic(), None, None
        answer = post(connection, "message/stream", {"message": {
            "kind": "message", "role": "user", "messageId": str(uuid.uuid4()),
            "parts": [{"kind": "text", "text": "Say hello."}],
            "metadata": {"coderAgent": {"kind": "agent-settings", "workspacePath": str(work)}}}})
        for line in answer:
            if not line.startswith(b"data:"):
                continue
            event = json.loads(line[5:])["result"]
            task = task or event.get("id") or event.get("taskId")
            if first is None and "Hello" in line.decode():
                first = time.monotonic()
            if event.get("final"):
                break
        self.firsts.append((first - begin) * 1000)
        self.lasts.append((time.monotonic() - begin) * 1000)
        connection.close()
        return task


@contextlib.contextmanager
def socket_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield one.getsockname()[1]


def post(connection, method, params):
    connection.request("POST", "/", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
                       {"Content-Type": "application/json"})
    return connection.getresponse()


def card(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/.well-known/agent-card.json")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def family(pid):
    """A process and all below it."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/%d/task" % pid):
            for child in Path("/proc/%d/task/%s/children" % (pid, thread)).read_text().split():
                yield from family(int(child))


def pss(pid):
    """In MB."""
    total = 0
    for one in family(pid):
        with contextlib.suppress(OSError):
            total += next(int(line.split()[1]) for line in Path("/proc/%d/smaps_rollup" % one).read_text().splitlines()
                          if line.startswith("Pss:"))
    return total / 1024


def cpu(pid):
    """Seconds of processors that it has taken so far."""
    fields = Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(agents):
    rows = (("start to the first card", "starts", "ms"), ("memory, idle", "idle", "MB"),
            ("memory after %d tasks" % TASKS, "used", "MB"), ("streamed task: first text", "firsts", "ms"),
            ("streamed task: whole", "lasts", "ms"), ("processor time per tasks/get", "gets", "ms"))
    lines = ["| | %s | ratio |" % " | ".join(agent.name for agent in agents), "|---" * (len(agents) + 2) + "|"]
    for title, member, unit in rows:
        values = [statistics.median(getattr(agent, member)) for agent in agents]
        lines.append("| %s | %s | 1/%.0f |" % (
            title, " | ".join("%.3g %s" % (value, unit) for value in values), values[1] / max(values[0], 1e-9)))
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true")
    quick = options.parse_args().quick
    peer = npm_peers.folder("gemini-a2a") / "node_modules/@google/gemini-cli-a2a-server"
    agents = [Agent("hasp serve a2a", [bench.TOP / "build/hasp", "serve", "a2a", "--no-token", "--port", "PORT",
                                       "--workspace", "WORK"]),
              Agent("gemini-cli-a2a-server", [npm_peers.node(), peer / "dist/src/http/server.js"])]
    top = Path(tempfile.mkdtemp(prefix="bench-a2a-")).resolve()
    try:
        with FakeServer(Lenient(), auto=lambda request: {"reply": [text("Hello "), text("there.")]}) as model:
            for i in range(1 if quick else 5):
                for agent in agents:
                    agent.run(top / ("%s-%d" % (agent.name.split()[0], i)), model.url)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    made = table(agents)
    print(made)
    if not quick:
        page = bench.TOP / "docs" / "benchmarks.md"
        before, _, rest = page.read_text().partition(BEGIN)
        page.write_text(before + BEGIN + "\n" + made + END + rest.partition(END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
