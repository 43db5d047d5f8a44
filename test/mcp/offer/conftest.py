# SPDX-License-Identifier: Apache-2.0
"""Drives `hasp serve mcp` as a client does: one JSON message a line."""
import hashlib
import json
import os
import queue
import subprocess
import threading
from pathlib import Path

import claims
import pytest

TOP = Path(__file__).resolve().parents[3]
HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())

# The same program, which alone obeys HASP_SANDBOX_SIMULATE (test/simulate/).
SIMULATE = str(Path(HASP).parent / "test" / "simulate" / "hasp-simulate")


def program(env):
    """The hasp that this environment is for."""
    return SIMULATE if "HASP_SANDBOX_SIMULATE" in (env or {}) else HASP
SECONDS = 60
VERSION = "2025-11-25"
STATELESS = "2026-07-28"


class Refused(Exception):
    """An error response."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message, self.data = error["code"], error["message"], error.get("data")


class Client:
    """A server of its own on standard input and output, and what it sends.

    `answers` has a function for each method that the server may ask: params -> result, or
    None when the test itself answers later."""

    def __init__(self, command, cwd, env, capabilities=None, answers=None, initialize=True,
                 version=VERSION):
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answers = answers or {}
        # Where its files are; None: the server is told other roots.
        self.cwd = None if "--root" in command or "roots/list" in self.answers else cwd
        self.asked = []          # requests of the server: (method, params)
        self.asked_ids = []
        self.notes = queue.Queue()  # its notifications
        self.replies = {}
        self.arrived = threading.Condition()
        self.order = []          # ids in the order in which they were answered
        self.ended = False
        self.last_id = 0
        self.sending = threading.RLock()  # answers are sent from the reader's thread
        self.stderr = b""
        self.threads = [threading.Thread(target=run, daemon=True)
                        for run in (self._read, self._read_stderr)]
        for thread in self.threads:
            thread.start()
        self.version = version
        if initialize:
            self.hello = self.request("initialize", {
                "protocolVersion": version, "capabilities": capabilities or {},
                "clientInfo": {"name": "test", "version": "1"}})
            self.notify("notifications/initialized")

    def _read_stderr(self):
        self.stderr = self.process.stderr.read()

    def _read(self):
        for line in self.process.stdout:
            self._take(json.loads(line))
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def _take(self, message):
        assert message["jsonrpc"] == "2.0"
        if "method" in message and "id" in message:
            self.asked.append((message["method"], message.get("params")))
            self.asked_ids.append(message["id"])
            answer = self.answers[message["method"]](message.get("params"))
            if answer is not None:
                self.send({"id": message["id"], "result": answer})
        elif "method" in message:
            self.notes.put(message)
        else:
            with self.arrived:
                self.replies[message["id"]] = message
                self.order.append(message["id"])
                self.arrived.notify_all()

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        with self.sending:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params else {})})

    def start(self, method, params=None):
        """Sends a request; the id to wait for."""
        with self.sending:
            self.last_id += 1
            number = self.last_id
        params = dict(params or {})
        if self.version == STATELESS:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities":
                    {"elicitation": {}} if "elicitation/create" in self.answers else {},
                **params.get("_meta", {})}
        self.send({"id": number, "method": method, "params": params})
        return number

    def wait(self, request_id):
        with self.arrived:
            assert self.arrived.wait_for(lambda: request_id in self.replies or self.ended,
                                         SECONDS), "no answer"
            assert request_id in self.replies, "the server has ended"
        reply = self.replies[request_id]
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["result"]

    def request(self, method, params=None):
        return self.wait(self.start(method, params))

    def tool(self, name, **arguments):
        before = claims.look(self.cwd, name, arguments)
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        if isinstance(result.get("structuredContent"), dict):
            claims.check(name, arguments, result["structuredContent"], before, self.cwd,
                         others=bool(self.answers))
        return result

    def call(self, name, **arguments):
        """The structured result of a tool."""
        return self.tool(name, **arguments)["structuredContent"]

    def note(self, method, seconds=SECONDS):
        """The next notification of this method; others before it are dropped."""
        while True:
            message = self.notes.get(timeout=seconds)
            if message["method"] == method:
                return message["params"]

    def close(self):
        """Ends its input; the exit code."""
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        for thread in self.threads:
            thread.join(SECONDS)
        return code


class Workspace:
    def __init__(self, folder):
        self.folder = folder / "work"
        self.home = folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        self.clients = []

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name):
        return (self.folder / name).read_text()

    def sha256(self, name):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def uri(self, name=""):
        return (self.folder / name).as_uri()

    def command(self, *flags, env=None):
        return [program(env), "serve", "mcp", "--durability", "rename", *flags]

    def client(self, *flags, cwd=None, env=None, **options):
        client = Client(self.command(*flags, env=env), cwd or self.folder, {**self.env, **(env or {})},
                        **options)
        self.clients.append(client)
        return client

    def run(self, *flags, stdin=b"", env=None):
        """Serves what `stdin` holds and ends: (exit code, output, errors)."""
        done = subprocess.run(self.command(*flags, env=env), cwd=self.folder, input=stdin, check=False,
                              env={**self.env, **(env or {})}, capture_output=True,
                              timeout=SECONDS)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def ws(tmp_path):
    workspace = Workspace(tmp_path.resolve())
    yield workspace
    for client in workspace.clients:
        if client.process.poll() is None:
            client.process.kill()
            client.process.wait()


def schema_of(tools, name):
    return next(tool for tool in tools if tool["name"] == name)
