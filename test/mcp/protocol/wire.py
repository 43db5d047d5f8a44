# SPDX-License-Identifier: Apache-2.0
"""A client of `hasp serve mcp` that can do everything wrong: raw bytes on its standard input, and
everything it writes checked to be one JSON-RPC message a line.

    with Wire(folder) as wire:
        wire.initialize()
        wire.request("tools/list")["tools"]     # raises Refused when answered with an error
        wire.write(b"garbage\\n")
        wire.receive()
"""

import json
import os
import queue
import re
import selectors
import subprocess
import threading
import time
from pathlib import Path

from conftest import HASP

SECONDS = 120  # for one answer, on a busy machine
MODERN = "2026-07-28"
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


class Refused(Exception):
    """The error that a request was answered with."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code, self.message, self.data = error["code"], error["message"], error.get("data")


def meta(capabilities=None, **more):
    """What a request of 2026-07-28 carries."""
    prefix = "io.modelcontextprotocol/"
    return {prefix + "protocolVersion": MODERN, prefix + "clientCapabilities": capabilities or {},
            prefix + "clientInfo": {"name": "wire", "version": "1"}, **more}


def check_message(message):
    """Everything that is sent has the form that the specification gives it."""
    assert isinstance(message, dict) and message.get("jsonrpc") == "2.0", message
    if "method" in message:
        assert set(message) <= {"jsonrpc", "id", "method", "params"}, message
        assert isinstance(message.get("params", {}), dict), message
    else:
        assert "id" in message and ("result" in message) != ("error" in message), message
        assert set(message) == {"jsonrpc", "id", "result"} or \
            set(message) == {"jsonrpc", "id", "error"}, message
        if "error" in message:
            assert isinstance(message["error"]["code"], int), message
            assert message["error"]["message"], message


def is_no_notification(message):
    return isinstance(message, list) or "id" in message


class Wire:
    def __init__(self, folder, *arguments, reading=True, **options):
        self.process = subprocess.Popen([HASP, "serve", "mcp", *arguments], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self._lines, self._last, self._kept = queue.Queue(), 0, []
        if reading:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.end()
        finally:
            self.process.kill()
            self.process.wait()

    # ---- bytes

    def write(self, data):
        """All of it, however slowly it is read."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view):]

    def write_what_fits(self, data, seconds):
        """Writes until nothing was taken for so long; returns how much was taken."""
        fd = self.process.stdin.fileno()
        os.set_blocking(fd, False)
        view = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(fd, selectors.EVENT_WRITE)
            while view and selector.select(seconds):
                view = view[os.write(fd, view[:1 << 16]):]
        os.set_blocking(fd, True)
        return len(data) - len(view)

    def end(self, seconds=SECONDS):
        """Closes its input and waits for a clean exit; returns what else it answered."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        assert self.process.wait(timeout=seconds) == 0
        return [message for message in [*self._kept, *iter(self._next, None)]
                if is_no_notification(message)]

    # ---- messages

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def _next(self):
        """The next message, or None at the end of output."""
        try:
            line = self._lines.get(timeout=SECONDS)
        except queue.Empty:
            raise AssertionError("hasp is silent (status %s)" % self.process.poll()) from None
        if line is None:
            self._lines.put(None)
            return None
        assert line.endswith(b"\n") and line.count(b"\r") == 0, line[:200]
        message = json.loads(line.decode("utf-8"))
        for one in message if isinstance(message, list) else [message]:
            check_message(one)
        return message

    def receive(self, wanted=is_no_notification):
        """The next message that is wanted; others are kept for later."""
        for i, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(i)
        while True:
            message = self._next()
            assert message is not None, "hasp ended (status %s)" % self.process.wait()
            if wanted(message):
                return message
            self._kept.append(message)

    def start(self, method, params=None, ident=None):
        """Sends a request; returns its id."""
        self._last += 1
        ident = self._last if ident is None else ident
        self.send({"jsonrpc": "2.0", "id": ident, "method": method,
                   **({} if params is None else {"params": params})})
        return ident

    def answer(self, ident):
        """The result of a request."""
        message = self.receive(lambda m: isinstance(m, dict) and "method" not in m and
                               m["id"] == ident and type(m["id"]) is type(ident))
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def request(self, method, params=None, ident=None):
        return self.answer(self.start(method, params, ident))

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def initialize(self, version="2025-11-25", capabilities=None):
        result = self.request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "wire", "version": "1"}})
        self.notify("notifications/initialized")
        return result

    def call(self, name, **arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def is_alive(self):
        """It still answers, and in order of nothing else."""
        ident = "alive-%d" % time.monotonic_ns()
        return self.request("ping", ident=ident) == {}

    def peak_mb(self):
        """The most memory that it ever had."""
        text = Path("/proc/%d/status" % self.process.pid).read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", text).group(1)) / 1024
