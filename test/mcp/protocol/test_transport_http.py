# SPDX-License-Identifier: Apache-2.0
"""Streams, sessions and cancellation over HTTP, with tools that take their time."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time

import pytest

SERVER = os.environ["TRANSPORT_SERVER"]
WAIT = 60  # for whatever has to happen at once, on a busy machine
with open(SERVER, "rb") as program:
    SLACK_MB = 400 if b"__asan_init" in program.read() else 80  # what a sanitizer keeps back
BOTH = "application/json, text/event-stream"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}


def parse_events(text):
    """The events of a stream as dictionaries, comments left out."""
    events = []
    for block in text.split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n") if line and line[0] != ":"]
        if fields:
            event = {}
            for name, _, value in fields:
                event[name.rstrip(":")] = event.get(name, "") + value
            events.append(event)
    return events


def messages(events):
    return [json.loads(event["data"]) for event in events if event.get("data")]


class Stream:
    """An event stream that is being read."""

    def __init__(self, client, answer):
        self.client, self.answer, self.text = client, answer, ""
        self.headers = dict(answer.getheaders())

    def read_until(self, what):
        while what not in self.text:
            more = self.answer.read1(65536)
            assert more, self.text
            self.text += more.decode()
        return parse_events(self.text)

    def read_all(self):
        self.text += self.answer.read().decode()
        return parse_events(self.text)

    def close(self):
        self.answer.close()
        self.client.close()


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([SERVER, "--http", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def open(self, method, body=None, headers=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        base = {"Accept": BOTH}
        if body is not None:
            base["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        client.request(method, "/mcp", body, {**base, **(headers or {})})
        return client, client.getresponse()

    def ask(self, method, body=None, headers=None):
        """(status, JSON or events, headers)"""
        client, answer = self.open(method, body, headers)
        with contextlib.closing(client):
            text = answer.read().decode()
            got = {name.lower(): value for name, value in answer.getheaders()}
            if "event-stream" in got.get("content-type", ""):
                return answer.status, parse_events(text), got
            return answer.status, json.loads(text) if text else None, got

    def stream(self, method, body=None, headers=None):
        client, answer = self.open(method, body, headers)
        assert answer.status == 200, answer.read()
        assert answer.getheader("Content-Type") == "text/event-stream"
        return Stream(client, answer)

    def modern(self, tool, arguments=None, meta=None, ident=1):
        """Body and headers of a stateless call."""
        params = {"name": tool, "arguments": arguments or {}, "_meta": {**META, **(meta or {})}}
        return (request("tools/call", params, ident),
                {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
                 "Mcp-Name": tool})

    def counts(self):
        """Calls finished, cancelled, and begun."""
        answer = self.ask("POST", *self.modern("tally"))
        return [int(n) for n in answer[1]["result"]["content"][0]["text"].split()]

    def tally(self):
        return self.counts()[:2]

    def wait_for_tally(self, tally):
        wait_until(lambda: self.tally() == tally)

    def memory_mb(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def request(method, params=None, ident=1):
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params or {}}


def call(tool, arguments=None, ident=2, token=None):
    params = {"name": tool, "arguments": arguments or {}}
    if token:
        params["_meta"] = {"progressToken": token}
    return request("tools/call", params, ident)


class Session:
    def __init__(self, server, version="2025-11-25", capabilities=None):
        status, answer, headers = server.ask("POST", request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"}}))
        assert status == 200 and answer["result"]["protocolVersion"] == version
        self.server = server
        self.headers = {"Mcp-Session-Id": headers["mcp-session-id"]}
        if version >= "2025-06-18":
            self.headers["MCP-Protocol-Version"] = version
        assert self.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}) == \
            (202, None)

    def ask(self, method, body=None, headers=None):
        return self.server.ask(method, body, {**self.headers, **(headers or {})})[:2]

    def stream(self, method, body=None, headers=None):
        return self.server.stream(method, body, {**self.headers, **(headers or {})})

    def resume(self, last_event):
        return self.stream("GET", None, {"Last-Event-ID": last_event})


@contextlib.contextmanager
def serving(*arguments):
    server = Server(*arguments)
    try:
        yield server
        server.process.stdin.close()
        assert server.process.wait(WAIT) == 0
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def server():
    with serving() as running:
        yield running


def wait_until(true):
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def text_of(message):
    return message["result"]["content"][0]["text"]


# ---- JSON or a stream

def test_an_answer_alone_is_json(server):
    session = Session(server)
    for tool in ("echo", "slow"):
        status, answer = session.ask("POST", call(tool, {"text": "hello"}))
        assert status == 200 and text_of(answer) == {"echo": "hello"}.get(tool, tool)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_progress_makes_it_a_stream(server, version):
    session = Session(server, version)
    stream = session.stream("POST", call("progress", {"steps": 3}, token="t"))
    assert stream.headers["X-Accel-Buffering"] == "no"
    events = stream.read_all()
    # From 2025-11-25 on it begins with an event that gives the client an id.
    primed = version == "2025-11-25"
    assert (events[0].get("data") == "") == primed
    got = messages(events)
    assert [m["params"]["progress"] for m in got[:-1]] == sorted(
        m["params"]["progress"] for m in got[:-1])
    assert got[-1]["id"] == 2 and text_of(got[-1]) == "progressed"
    ids = [event["id"] for event in events]
    assert len(set(ids)) == len(ids)


def test_what_the_client_accepts_decides(server):
    session = Session(server)
    body = call("progress", {"steps": 2}, token="t")
    status, answer = session.ask("POST", body, {"Accept": "application/json"})
    assert status == 200 and text_of(answer) == "progressed"
    stream = session.stream("POST", call("echo", {"text": "x"}),
                            {"Accept": "text/event-stream"})
    assert text_of(messages(stream.read_all())[-1]) == "x"
    assert session.ask("POST", body, {"Accept": "text/html"})[0] == 406
    assert session.ask("GET", None, {"Accept": "application/json"})[0] == 406
    assert session.ask("POST", body, {"Content-Type": "text/plain"})[0] == 415


def test_a_question_goes_out_on_the_stream_of_its_call(server):
    session = Session(server, capabilities={"elicitation": {}})
    stream = session.stream("POST", call("ask"))
    question = messages(stream.read_until("elicitation/create"))[-1]
    assert session.ask("POST", {"jsonrpc": "2.0", "id": question["id"],
                                "result": {"action": "decline"}}) == (202, None)
    assert text_of(messages(stream.read_all())[-1]) == "decline"


def test_a_long_wait_becomes_a_stream_by_itself(server):
    session = Session(server)
    stream = session.stream("POST", call("slow", {"ms": 17000}))  # patience is 10 seconds
    assert text_of(messages(stream.read_all())[-1]) == "slow"


def test_a_cancelled_request_ends_without_an_answer(server):
    session = Session(server)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port,
                                                       timeout=WAIT)) as client:
        client.request("POST", "/mcp", json.dumps(call("slow", {"ms": 60000}, ident=7)),
                       {"Accept": BOTH, "Content-Type": "application/json", **session.headers})
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled",
                  "params": {"requestId": 7}}
        wait_until(lambda: server.counts()[2])
        assert session.ask("POST", cancel)[0] == 202
        server.wait_for_tally([0, 1])
        answer = client.getresponse()
        assert answer.status == 202 and answer.read() == b""


def test_batches_where_the_version_has_them(server):
    session = Session(server, "2025-03-26")
    batch = [call("slow", {"ms": 50}, 1), call("echo", {"text": "two"}, 2),
             {"jsonrpc": "2.0", "method": "notifications/nothing"}]
    status, answers = session.ask("POST", batch)
    assert status == 200
    assert {a["id"]: text_of(a) for a in answers} == {1: "slow", 2: "two"}
    assert session.ask("POST", batch[2:]) == (202, None)
    assert session.ask("POST", [])[0] == 400
    status, answer = Session(server, "2025-11-25").ask("POST", batch)
    assert status == 400 and answer["error"]["code"] == -32600
    assert server.ask("POST", batch)[0] == 400


# ---- coming back

def test_a_stream_that_the_server_ends_is_taken_up_again(server):
    session = Session(server)
    events = session.stream("POST", call("later")).read_all()
    assert events[0]["data"] == "" and events[-1] == {"retry": "50"}
    assert [m["params"]["data"] for m in messages(events)] == ["first"]
    last = [event["id"] for event in events if "id" in event][-1]
    more = messages(session.resume(last).read_all())
    assert more[0]["params"]["data"] == "second" and text_of(more[1]) == "later"
    # From the beginning, everything is there once more.
    assert len(messages(session.resume(events[0]["id"]).read_all())) == 3


def test_a_stream_is_not_ended_early_for_older_versions(server):
    session = Session(server, "2025-06-18")
    assert len(messages(session.stream("POST", call("later")).read_all())) == 3


def test_a_lost_connection_cancels_nothing_and_loses_nothing(server):
    session = Session(server)
    stream = session.stream("POST", call("progress", {"steps": 20, "ms": 60}, token="t"))
    events = stream.read_until("notifications/progress")
    stream.close()
    last = [event["id"] for event in events][-1]
    rest = session.resume(last)
    more = messages(rest.read_all())
    assert text_of(more[-1]) == "progressed"
    steps = [m["params"]["progress"] for m in messages(events) + more[:-1]]
    assert steps == sorted(set(steps)) and steps[-1] == 20
    assert server.tally() == [1, 0]


def test_a_second_connection_takes_the_stream_over(server):
    session = Session(server)
    first = session.stream("POST", call("progress", {"steps": 30, "ms": 60}, token="t"))
    events = first.read_until("notifications/progress")
    second = session.resume(events[0]["id"])
    second.read_until("notifications/progress")
    first.read_all()  # ends
    assert text_of(messages(second.read_all())[-1]) == "progressed"


@pytest.mark.parametrize("last", ["", "1", "1-", "-1", "zz-1", "ffff-1", "1-1-1", "1" * 400,
                                  "2-99999999999999999999", "../1-1"])
def test_an_unknown_event_is_refused(server, last):
    session = Session(server)
    assert session.ask("GET", None, {"Last-Event-ID": last})[0] == 400


def test_another_session_cannot_take_a_stream(server):
    one, other = Session(server), Session(server)
    events = one.stream("POST", call("later")).read_all()
    assert other.ask("GET", None, {"Last-Event-ID": events[0]["id"]})[0] == 400


def test_what_is_kept_is_bounded(server):
    session = Session(server)
    before = server.memory_mb()
    # Who is more than 32 MiB behind is cut off: not even a reader that gets no processor is here.
    for _ in range(6):
        stream = session.stream("POST", call("log_much", {"megabytes": 20}))
        assert len(messages(stream.read_all())) == 21
    assert server.memory_mb() - before < SLACK_MB
    # Nobody listens: the same.
    stream = session.stream("POST", call("log_much", {"megabytes": 60}))
    first = stream.read_until("much")[0]["id"]
    stream.close()
    server.wait_for_tally([7, 0])
    assert server.memory_mb() - before < SLACK_MB
    # The latest 16 MiB are there, and the answer.
    more = messages(session.resume(first).read_all())
    assert 14 <= len(more) <= 17 and text_of(more[-1]) == "logged"


# ---- stateless clients

def test_a_stateless_call_needs_nothing_before(server):
    assert text_of(server.ask("POST", *server.modern("echo", {"text": "hi"}))[1]) == "hi"
    body, headers = server.modern("progress", {"steps": 2}, {"progressToken": "t"})
    events = server.stream("POST", body, headers).read_all()
    assert all("id" not in event for event in events)
    assert text_of(messages(events)[-1]) == "progressed"
    # A session's id means nothing to it.
    assert server.ask("POST", body, {**headers, "Mcp-Session-Id": "x"})[0] == 200


@pytest.mark.parametrize("change, status, code", [
    ({"MCP-Protocol-Version": "2025-11-25"}, 400, -32020), ({"Mcp-Method": "ping"}, 400, -32020),
    ({"Mcp-Name": "slow"}, 400, -32020), ({"MCP-Protocol-Version": "1999-01-01"}, 400, -32020),
])
def test_headers_that_contradict_the_body(server, change, status, code):
    body, headers = server.modern("echo")
    got = server.ask("POST", body, {**headers, **change})
    assert (got[0], got[1]["error"]["code"], got[1]["id"]) == (status, code, 1)


@pytest.mark.parametrize("method, status, code", [
    ("no/such", 404, -32601), ("initialize", 404, -32601), ("ping", 404, -32601)])
def test_methods_that_do_not_exist(server, method, status, code):
    got = server.ask("POST", request(method, {"_meta": META}), {
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method})
    assert (got[0], got[1]["error"]["code"]) == (status, code)


def test_closing_the_stream_cancels(server):
    for tool, meta in (("slow", {}), ("progress", {"progressToken": "t"})):
        body, headers = server.modern(tool, {"ms": 60000} if tool == "slow" else
                                      {"steps": 1000, "ms": 60}, meta)
        before = server.tally()
        with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as sock:
            data = json.dumps(body).encode()
            lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Accept: " + BOTH,
                     "Content-Type: application/json", "Content-Length: %d" % len(data)]
            lines += ["%s: %s" % header for header in headers.items()]
            sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
            got = b""
            while meta and b"notifications/progress" not in got:
                got += sock.recv(65536)
            wait_until(lambda: server.counts()[2])
        server.wait_for_tally([before[0], before[1] + 1])


# ---- sessions

def test_a_session_ends_with_delete(server):
    session = Session(server)
    listening = session.stream("GET")
    waiting = threading.Thread(target=lambda: results.append(
        session.ask("POST", call("slow", {"ms": 60000}))))
    results = []
    waiting.start()
    wait_until(lambda: server.counts()[2])
    assert session.ask("DELETE")[0] == 204
    waiting.join(WAIT)
    assert results[0][0] == 404
    listening.read_all()
    for method, body in (("POST", call("echo")), ("GET", None), ("DELETE", None)):
        assert session.ask(method, body)[0] == 404
    server.wait_for_tally([0, 1])


def test_sessions_are_needed(server):
    assert server.ask("POST", call("echo"))[0] == 400
    assert server.ask("GET")[0] == 400
    assert server.ask("DELETE")[0] == 400
    for ident in ("", "x", "0" * 32, "0" * 10000):
        assert server.ask("POST", call("echo"), {"Mcp-Session-Id": ident})[0] in (400, 404)


def test_a_failed_initialize_makes_no_session():
    with serving("-s", "1") as server:
        status, answer, headers = server.ask("POST", request("initialize", {"nothing": 1}))
        assert "error" in answer and "mcp-session-id" not in headers and status in (200, 400)
        Session(server)


@pytest.mark.parametrize("version, status", [
    ("2025-03-26", 200), ("2025-11-25", 200), ("1999-01-01", 400), ("", 400), ("x" * 300, 400)])
def test_the_version_header(server, version, status):
    session = Session(server)
    assert session.ask("POST", call("echo"), {"MCP-Protocol-Version": version})[0] == status


def test_the_session_idle_for_longest_makes_room():
    with serving("-s", "3") as server:
        sessions = [Session(server) for _ in range(3)]
        sessions[0].ask("POST", call("echo"))
        streams = [sessions[2].stream("GET")]
        Session(server)
        assert [s.ask("POST", call("echo"))[0] for s in sessions] == [200, 404, 200]
        # When all are in use there is no room.
        streams.append(sessions[0].stream("GET"))
        with contextlib.suppress(AssertionError):
            while True:
                streams.append(Session(server).stream("GET"))
        assert len(streams) == 3
        got = server.ask("POST", request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}))
        assert got[0] == 503 and got[1]["id"] == 1


def test_a_session_that_nobody_uses_ends():
    with serving("-i", "1") as server:
        idle, listened = Session(server), Session(server)
        stream = listened.stream("GET")
        end = time.monotonic() + WAIT
        while True:
            time.sleep(7)  # asking would be using it; every 5 s is looked for those that nobody uses
            if idle.ask("POST", call("echo"))[0] == 404:
                break
            assert time.monotonic() < end
        assert listened.ask("POST", call("echo"))[0] == 200
        stream.close()


def test_a_listed_origin_may_read():
    with serving("-o", "https://page.example") as server:
        headers = {"Origin": "https://page.example"}
        got = server.ask("POST", *[call("echo"), headers])[2]
        assert got["access-control-allow-origin"] == "https://page.example"
        assert got["access-control-expose-headers"] == "Mcp-Session-Id"


def test_the_token_is_asked_for():
    with serving("-t", "secret") as server:
        got = server.ask("POST", call("echo"))
        assert got[0] == 401 and got[2]["www-authenticate"].startswith("Bearer")
        assert got[1]["jsonrpc"] == "2.0"
        body, headers = server.modern("echo", {"text": "in"})
        headers["Authorization"] = "Bearer secret"
        assert text_of(server.ask("POST", body, headers)[1]) == "in"


# ---- many

def test_hundreds_of_streams_at_once(server):
    session = Session(server)
    with contextlib.ExitStack() as stack:
        streams = []
        for i in range(200):
            body, headers = (call("progress", {"steps": 10, "ms": 100}, i + 10, "t%d" % i), None) \
                if i % 2 else server.modern("progress", {"steps": 10, "ms": 100},
                                            {"progressToken": "p"}, i + 10)
            headers = {**(headers or session.headers), "Accept": BOTH,
                       "Content-Type": "application/json"}
            client = stack.enter_context(contextlib.closing(
                http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)))
            client.request("POST", "/mcp", json.dumps(body), headers)
            streams.append(client)
        for i, client in enumerate(streams):
            got = messages(parse_events(client.getresponse().read().decode()))
            assert got[-1]["id"] == i + 10 and text_of(got[-1]) == "progressed"
    assert server.tally() == [200, 0]


def test_a_large_answer_reaches_a_slow_client(server):
    session = Session(server)
    client, answer = server.open("POST", call("big", {"kilobytes": 48 << 10}), session.headers)
    with contextlib.closing(client):
        time.sleep(0.5)
        assert len(json.loads(answer.read())["result"]["content"][0]["text"]) == 48 << 20


def test_the_end_of_the_server_answers_who_waits():
    server = Server()
    session = Session(server)
    listening = session.stream("GET")
    results = []
    waiting = threading.Thread(target=lambda: results.append(
        server.ask("POST", *server.modern("slow", {"ms": 60000}))[0]))
    waiting.start()
    wait_until(lambda: server.counts()[2])
    server.process.stdin.close()
    assert server.process.wait(WAIT) == 0
    waiting.join(WAIT)
    assert results == [503]
    listening.read_all()
