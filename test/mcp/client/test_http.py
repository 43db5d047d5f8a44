# SPDX-License-Identifier: Apache-2.0
"""Servers at an address: JSON and streams of events, sessions, and what may be wrong with either."""
import contextlib
import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import declared
from fake_gemini import call, text

ECHO = call("mcp_far_echo", {"text": "hello"})
ALLOW = ("--allowed-mcp-server-names", "far")
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, message):
        self.server.seen.append((self.command, dict(self.headers.items()), message))

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def do_DELETE(self):
        self.note(None)
        self.reply(200)

    def do_GET(self):
        """Streams that broke: the first is taken up in vain, the second has the answer."""
        self.note(None)
        taken_up = [1 for command, headers, _ in self.server.seen
                    if command == "GET" and headers.get("Last-Event-ID")]
        if "stands" in self.server.ways:
            self.stand()
        elif "says" in self.server.ways:  # the stream of the old transport
            self.reply(200, self.server.ways["says"], "text/event-stream")
        elif not taken_up or self.server.ways.get("breaks") == "for-good":
            self.reply(405)
        elif len(taken_up) < 2:
            self.reply(200, b"id: e2\ndata: {\"jsonrpc\"", "text/event-stream")
        else:
            self.reply(200, b"id: e3\ndata: " + self.server.kept + b"\n\n", "text/event-stream")

    def stand(self):
        """The stream of messages that belong to no request: asks, ends, and is opened again where it was."""
        if self.headers.get("Last-Event-ID"):
            self.server.stood.set()
            self.reply(405)
            return
        ping = {"jsonrpc": "2.0", "id": "unasked", "method": "ping"}
        self.reply(200, b"retry: 100\nid: g1\ndata: " + json.dumps(ping).encode() + b"\n\n", "text/event-stream")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        server, method = self.server, message.get("method")
        if method == "server/discover" and "modern" not in server.ways:
            self.reply(404, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {
                "code": -32601, "message": "not here"}}).encode(), Mcp_Session_Id="stray")
            return
        self.note(message)
        if "status" in server.ways:
            self.reply(server.ways["status"], b"<html>\x1b[31mno</html>", "text/html")
            return
        if "id" not in message or method is None:
            if method == "notifications/initialized":
                server.begun.set()
                server.stop.wait(server.ways.get("slow-begun", 0))
            self.reply(202)
            return
        headers = {}
        if method == "server/discover":
            server.stop.wait(server.ways.get("slow", 0))
            result = {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                      "capabilities": {}, "serverInfo": {"name": "far", "version": "2"}}
            headers["Mcp_Session_Id"] = "none"
        elif method == "initialize":
            server.sessions += 1
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                      "serverInfo": {"name": "far", "version": "1"}}
            if "session" in server.ways:
                headers["Mcp_Session_Id"] = "s%d" % server.sessions
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        else:
            if server.ways.get("forget") and self.headers.get("Mcp-Session-Id") == "s1":
                self.reply(404)
                return
            result = {"content": [{"type": "text",
                                   "text": "you said " + message["params"]["arguments"]["text"]}]}
        self.answer({"jsonrpc": "2.0", "id": message["id"], "result": result}, method, headers)

    def answer(self, message, method, headers):
        ways, said = self.server.ways, json.dumps(message).encode()
        if method != "tools/call":
            self.reply(200, said, **headers)
        elif "bent" in ways:
            self.bent(message)
        elif "hang" in ways:
            self.server.stop.wait(60)
        elif "stands" in ways:
            self.server.stood.wait(60)
            self.reply(200, said)
        elif "breaks" in ways:
            self.server.kept = said
            self.reply(200, b"retry: 150\nid: e1\ndata: \n\n", "text/event-stream")
        elif "no-result" in ways:
            self.reply(200, b": nothing\n\n", "text/event-stream")
        elif "no-json" in ways:
            self.reply(200, b"hello")
        elif "large" in ways:
            self.reply(200, b" " * (40 << 20))
        elif "redirect" in ways:
            self.reply(307, b"", Location="http://127.0.0.1:1/")
        elif "error" in ways:
            self.reply(400, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {
                "code": -32602, "message": "not so"}}).encode())
        elif "stream" in ways or "endless" in ways:
            self.stream(said, "endless" in ways)
        else:
            self.reply(200, said)

    def bent(self, message):
        """What the call says, in a stream that stays open, or as a body."""
        line = self.server.line.replace("@", str(message["id"])).replace("NUL", "\0").encode("latin-1")
        if self.server.ways["bent"] == "body":
            self.reply(200, line)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"data: " + line + b"\n\n")
        self.server.stop.wait(600)

    def stream(self, said, endless):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        ping = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
        log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}}
        events = [b"id: 1\ndata: \n\n", b"data: " + json.dumps(ping).encode() + b"\n\n"]
        if not endless:
            events += [b"event: message\ndata: " + said + b"\n\n"]
        with contextlib.suppress(OSError):
            for event in events:
                self.wfile.write(event)
            while True:  # it stays open behind the answer
                self.wfile.write(b"data: " + json.dumps(log).encode() + b"\n\n" if endless
                                 else b": still here\n\n")
                time.sleep(0 if endless else 0.05)


@contextlib.contextmanager
def far(world, _entry=None, **ways):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.ways, server.seen, server.sessions, server.stop = ways, [], 0, threading.Event()
    server.stood, server.begun = threading.Event(), threading.Event()
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    world.use({"far": {"httpUrl": "http://127.0.0.1:%d/mcp?key=hush" % server.server_port,
                       **(_entry or {})}})
    try:
        yield server
    finally:
        server.stop.set()
        server.shutdown()
        server.server_close()


def settings_of(world):
    return json.loads((world.home / ".gemini" / "settings.json").read_text())


def attempt(world, one=ECHO, **options):
    done = world.run([[one], [text("Done.")]], "-p", "Do it.", *ALLOW, **options)
    assert done.code == 0, done.err
    return done.results()[0], done


@pytest.mark.parametrize("ways", [{}, {"stream": True}, {"session": True},
                                  {"session": True, "stream": True}], ids=str)
def test_calls(world, ways):
    with far(world, **ways) as server:
        result, done = attempt(world)
    assert "you said hello" in result["output"] and "mcp_far_echo" in declared(done.sent[0])
    methods = [message.get("method") for command, _, message in server.seen if command == "POST"]
    assert methods[:4] == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    assert ("answer" if "stream" in ways else "") in ["answer" if m is None else "" for m in methods]
    for command, headers, message in server.seen:
        if command == "POST":
            assert headers["Content-Type"] == "application/json"
            assert headers["Accept"] == "application/json, text/event-stream"
        first = message and message.get("method") == "initialize"
        assert ("MCP-Protocol-Version" in headers) == (not first)
        assert ("Mcp-Session-Id" in headers) == (not first and "session" in ways)
    assert ("DELETE" in [command for command, _, _ in server.seen]) == ("session" in ways)


def test_a_server_of_2026_07_28_has_no_session(world):
    with far(world, modern=True) as server:
        result, _ = attempt(world)
    assert "you said hello" in result["output"] and server.sessions == 0
    assert [message["method"] for _, _, message in server.seen] == ["server/discover", "tools/list",
                                                                     "tools/call"]
    for _, headers, message in server.seen:
        meta = message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "hasp"
        assert headers["MCP-Protocol-Version"] == "2026-07-28"
        assert headers["Mcp-Method"] == message["method"] and "Mcp-Session-Id" not in headers
    assert server.seen[2][1]["Mcp-Name"] == "echo"


def test_a_slow_server_of_2026_07_28_is_not_taken_for_an_older_one(world):
    """Longer than one that has begun its response and never ends it is waited for (15 s)."""
    with far(world, modern=True, slow=16) as server:
        world.settings(hasp={"waits": {"serversSeconds": 600}}, **settings_of(world))
        result, _ = attempt(world)
    assert "you said hello" in result["output"] and server.sessions == 0
    assert "initialize" not in [message["method"] for _, _, message in server.seen]


def test_a_server_that_is_slow_to_take_that_it_was_initialized(world):
    """Longer than other notifications may take (10 s)."""
    with far(world, **{"slow-begun": 11}) as server:
        world.settings(hasp={"waits": {"serversSeconds": 600}}, **settings_of(world))
        result, _ = attempt(world)
    assert "you said hello" in result["output"] and server.sessions == 1


def test_one_that_never_takes_it_does_not_hold_up_the_end(world):
    with far(world, {"startupTimeout": 3600000}, **{"slow-begun": 3600}) as server:
        world.settings(hasp={"waits": {"serversSeconds": 600}}, **settings_of(world))
        with world.fake([[text("Done.")]]) as model:
            run = world.start(model, "-p", "Hi.")
            assert server.begun.wait(120)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=600)
    assert run.returncode == 130


def test_a_stream_that_breaks_is_taken_up(world):
    with far(world, breaks=True, session=True) as server:
        result, _ = attempt(world)
    assert "you said hello" in result["output"]
    gets = [headers for command, headers, _ in server.seen if command == "GET"]
    assert [headers["Last-Event-ID"] for headers in gets if "Last-Event-ID" in headers] == ["e1", "e2"]
    assert all(headers["Mcp-Session-Id"] == "s1" for headers in gets)


def test_messages_that_belong_to_no_request(world):
    with far(world, stands=True, session=True) as server:
        result, _ = attempt(world)
    assert "you said hello" in result["output"]
    gets = [headers for command, headers, _ in server.seen if command == "GET"]
    assert [headers.get("Last-Event-ID") for headers in gets] == [None, "g1"]
    assert all(headers["Mcp-Session-Id"] == "s1" for headers in gets)
    assert any(message and message.get("id") == "unasked" and message.get("result") == {}
               for _, _, message in server.seen)


def test_a_stream_that_cannot_be_taken_up_is_an_error(world):
    with far(world, breaks="for-good"):
        result, _ = attempt(world)
    assert result["success"] is False and "405" in result["message"]


def test_headers_of_the_settings(world):
    entry = {"headers": {"Authorization": "Bearer $GIVEN", "X-Bad\n": "x", "X-Also": "a\r\nb: c"}}
    with far(world, entry) as server:
        _, done = attempt(world, env={"GIVEN": "t0ken"})
    assert all(headers["Authorization"] == "Bearer t0ken" for _, headers, _ in server.seen)
    assert not any("b" in headers or "X-Also" in headers for _, headers, _ in server.seen)
    assert done.err.count("mcpServers.far.headers") == 2 and "t0ken" not in done.err


def test_url_without_a_type_is_taken_for_http(world):
    with far(world) as server:
        world.use({"far": {"url": "http://127.0.0.1:%d/" % server.server_port, "type": "http"}})
        assert "you said hello" in attempt(world)[0]["output"]
        world.use({"far": {"url": "http://127.0.0.1:%d/" % server.server_port}})
        assert "you said hello" in attempt(world)[0]["output"]


def test_a_forgotten_session_begins_anew(world):
    with far(world, session=True, forget=True) as server:
        result, _ = attempt(world)
    assert "you said hello" in result["output"] and server.sessions == 2


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("way,words", [
    ("no-result", "without a result"), ("no-json", "without a result"), ("large", "too large"),
    ("redirect", "307"), ("error", "-32602"), ("endless", "unsolicited messages"), ("hang", "3000 ms"),
])
def test_a_broken_call_is_explained(world, way, words):
    with far(world, {"timeout": 3000} if way == "hang" else None, **{way: True}):
        result, done = attempt(world)
    assert result["success"] is False and "far" in result["message"]
    assert words in result["message"] and "hush" not in done.said()


@pytest.mark.parametrize("status,words", [(401, "mcpServers.far.headers"), (404, '"type": "sse"'),
                                          (500, "500"), (200, "without a result")])
def test_a_server_that_is_none_is_named(world, status, words):
    with far(world, status=status):
        done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert done.code == 0 and "far" in done.err and words in done.err, done.err
    assert "\x1b" not in done.err and "hush" not in done.err


@pytest.mark.parametrize("says,words", [
    (b"event: endpoint\ndata: http://127.0.0.1:1/m\n\n", "redirects messages to another server"),
    (b": nothing\n\n", "ended its stream"), (b"data: {}\n\n", "ended its stream")], ids=str)
def test_a_stream_of_the_old_transport_that_is_none(world, says, words):
    with far(world, {"type": "sse"}, says=says) as server:
        done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert done.code == 0 and "far" in done.err and words in done.err, done.err
    assert {command for command, _, _ in server.seen} == {"GET"}


def test_nobody_is_there(world):
    world.use({"far": {"httpUrl": "http://127.0.0.1:9/mcp"}})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert done.code == 0 and "far" in done.err and "127.0.0.1" in done.err, done.err


def test_calls_at_the_same_time(world):
    with far(world, stream=True):
        calls = [call("mcp_far_echo", {"text": "n%d" % i}) for i in range(12)]
        done = world.run([calls, [text("Done.")]], "-p", "Do it.", *ALLOW)
    assert ["n%d" % i in result["output"] for i, result in enumerate(done.results())] == [True] * 12
