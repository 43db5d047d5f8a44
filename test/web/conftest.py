# SPDX-License-Identifier: Apache-2.0
"""`world` as on a terminal, and browsers' side of the web front: strict on every answer's head."""
import contextlib
import http.client
import http.cookies
import importlib.util
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import urllib.parse
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("app_world", TOP / "test" / "tui" / "app" / "conftest.py")
app = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(app)

SECONDS = app.SECONDS
ADDRESS = re.compile(r"(https?)://(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+)(?::(\d+))?/\?token=([0-9a-f]{32})")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                               "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                               "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()
        for name, value in HEADERS.items():
            assert self.headers.get_all(name) == [value], (name, self.headers)
        if self.body and "json" in self.headers["Content-Type"]:
            assert self.headers["Content-Type"] == "application/json"

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Events:
    """A stream of events; strict on its form."""

    def __init__(self, browser, session, after=None, last=None):
        self.connection = browser.connect()
        headers = browser.headers("GET")
        headers["Accept"] = "text/event-stream"
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        path = "/api/sessions/%s/events%s" % (session, "" if after is None else "?after=%d" % after)
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        self.status, self.seen, self.last = self.response.status, [], 0
        if self.status != 200:
            self.answer = Answer(self.response)
            return
        assert self.response.headers["Content-Type"] == "text/event-stream"
        for name, value in HEADERS.items():
            assert self.response.headers[name] == value

    def next(self):
        """The next event; None at the end."""
        data = number = None
        while True:
            line = self.response.readline()
            if not line:
                return None
            line = line.rstrip(b"\n").decode()
            if not line and data is None:
                continue
            if not line:
                event = json.loads(data)
                assert event.get("last") == number
                if number is not None:
                    assert event["number"] > self.last
                    self.last = number
                self.seen.append(event)
                return event
            if line.startswith(":") or line.startswith("retry:"):
                continue
            if line.startswith("id: "):
                number = int(line[4:])
                continue
            assert line.startswith("data: ") and data is None, line
            data = line[6:]

    def until(self, kind, topic=None, **members):
        while event := self.next():
            message = event.get("message", {})
            if event["kind"] == kind and event.get("topic") == topic and all(
                    message.get(name, event.get(name)) == value for name, value in members.items()):
                return event
        raise AssertionError("it ended: %s" % self.seen)

    def question(self):
        return self.until("bus", "tool-confirmation-request")["message"]

    def rest(self):
        while self.next():
            pass
        return self.seen

    def close(self):
        # The response holds the socket, too.
        self.response.close()
        self.connection.close()


class Browser:
    """Comes in by a link and keeps what a browser keeps."""

    def __init__(self, address, context=None, unix=None):
        match = ADDRESS.search(address)
        assert match, address
        self.scheme, self.host, port, self.token = match.groups()
        self.port, self.context, self.unix = int(port or 80), context, unix
        self.cookies, self.key = {}, None

    def connect(self):
        if self.unix:
            return UnixConnection(self.unix, SECONDS)
        if self.scheme == "https":
            return http.client.HTTPSConnection(self.host.strip("[]"), self.port, timeout=SECONDS, context=self.context)
        return http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=SECONDS)

    @property
    def origin(self):
        return "http://localhost" if self.unix else "%s://%s:%d" % (self.scheme, self.host, self.port)

    def headers(self, method):
        headers = {}
        if self.cookies:
            headers["Cookie"] = "; ".join("%s=%s" % pair for pair in self.cookies.items())
        if method == "POST":
            headers.update({"Origin": self.origin, "Content-Type": "application/json"})
            if self.key:
                headers["X-Hasp"] = self.key
        return headers

    def send(self, method, path, body=None, headers=None, drop=()):
        connection = self.connect()
        try:
            sent = self.headers(method)
            sent.update(headers or {})
            for name in drop:
                sent.pop(name, None)
            text = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            connection.request(method, path, text, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.send("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.send("POST", path, {} if body is None else body, **more)

    def come_in(self):
        answer = self.get("/?token=" + self.token)
        assert answer.status == 303, answer.body
        cookie = answer.headers["Set-Cookie"]
        name, value = cookie.split(";")[0].split("=")
        port = 0 if self.unix else self.port
        if self.scheme == "https":
            assert re.fullmatch(r"__Host-hasp-%d=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Secure" % port, cookie)
        else:
            assert re.fullmatch(r"hasp-%d=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict" % port, cookie)
        self.cookies[name] = value
        self.key = re.fullmatch(r"/#key=([0-9a-f]{64})", answer.headers["Location"])[1]
        return self

    def events(self, session="1", **more):
        return Events(self, session, **more)

    def order(self, what, body=None, session="1"):
        return self.post("/api/sessions/%s/%s" % (session, what), body)

    def answer(self, question, outcome="proceed_once", session="1", **more):
        return self.order("answer", {"topic": "tool-confirmation-response", "answer": {
            "correlationId": question["correlationId"], "outcome": outcome, **more}}, session)

    def invite(self, name, role, **more):
        """The browser of somebody else."""
        answer = self.post("/api/invite", {"name": name, "role": role, **more})
        assert answer.status == 201, answer.body
        return Browser(answer.json["url"], self.context, self.unix).come_in()


class Served:
    """A hasp whose standard error says where its page is."""

    def __init__(self, argv, cwd, env):
        self.process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.errors, self.found = [], threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        assert self.found.wait(SECONDS), self.errors
        self.address = next((line for line in self.errors if ADDRESS.search(line)), None)
        assert self.address, self.errors

    def _read(self):
        for line in self.process.stderr:
            self.errors.append(line.decode())
            if ADDRESS.search(self.errors[-1]):
                self.found.set()
        self.found.set()

    def browser(self, **more):
        return Browser(self.address, **more).come_in()

    def end(self, code=143):
        if code == 143:
            self.process.terminate()
        out, _ = self.process.communicate(timeout=SECONDS * 2)
        self.reader.join(SECONDS)
        assert self.process.returncode == code, (self.process.returncode, out, self.errors)
        return out.decode()


class World(app.World):
    @contextlib.contextmanager
    def served(self, server, *args, env=None):
        """`hasp serve web`."""
        served = Served([app.headless.HASP, "serve", "web", *args], self.root,
                        self.environment(server, **(env or {})))
        try:
            yield served
        finally:
            if served.process.poll() is None:
                served.end()
        assert app.headless.nothing_left()

    def opened(self, server, *args, **more):
        """The same with a browser that has opened a session in the project."""
        return _Opened(self, server, args, more)


class _Opened:
    def __init__(self, world, server, args, more):
        self.world, self.context = world, world.served(server, *args, **more)

    def __enter__(self):
        self.served = self.context.__enter__()
        browser = self.served.browser()
        answer = browser.post("/api/sessions", {"folder": str(self.world.root)})
        assert answer.status == 201, answer.body
        assert answer.json == {"id": "1"}
        return browser

    def __exit__(self, *error):
        return self.context.__exit__(*error)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def held():
    one = app.Held()
    yield one
    one.go.set()
