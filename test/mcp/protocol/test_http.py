# SPDX-License-Identifier: Apache-2.0
"""`hasp serve mcp --http` as anybody on the machine can reach it: who is let in, how sessions begin
and end, and what broken or hostile clients can do, which is nothing to others."""

import contextlib
import http.client
import json
import re
import socket
import threading
from pathlib import Path

import pytest

import served
import tool_calls
from wire import LEGACY, MODERN, meta

SECONDS = 60
BOTH = "application/json, text/event-stream"
READ = {"name": "read_file", "arguments": {"file_path": "note.txt"}}


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()

    @property
    def message(self):
        """The JSON-RPC message, from JSON or as the last event of a stream."""
        if self.headers.get_content_type() == "text/event-stream":
            return self.messages[-1]
        return json.loads(self.body)

    @property
    def messages(self):
        return [json.loads(data) for data in
                re.findall(rb"^data: ?(.+?)\r?$", self.body, re.M)]


class Server:
    def __init__(self, port):
        self.port = port

    def open(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def send(self, method="POST", path="/mcp", body=None, connection=None, **headers):
        """`headers` replace the usual ones (Content_Type=...), None leaves one out."""
        usual = {"Authorization": "Bearer " + served.TOKEN, "Accept": BOTH,
                 "Content-Type": "application/json"}
        usual.update({name.replace("_", "-"): value for name, value in headers.items()})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        own = connection or self.open()
        try:
            own.request(method, path, body, {name: value for name, value in usual.items()
                                             if value is not None})
            return Answer(own.getresponse())
        finally:
            if not connection:
                own.close()

    def initialize(self, version=LEGACY[-1], capabilities=None, **more):
        answer = self.send(body=request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "http", "version": "1"}}), **more)
        assert answer.status == 200, answer.body
        session = answer.headers["Mcp-Session-Id"]
        assert re.fullmatch(r"[\x21-\x7e]{20,}", session)
        assert self.send(body=notification("notifications/initialized"),
                         Mcp_Session_Id=session).status == 202
        return session

    def call(self, session, params=None, **more):
        answer = self.send(body=request("tools/call", params or READ), Mcp_Session_Id=session,
                           **more)
        assert answer.status == 200, answer.body
        return answer.message["result"]

    def stateless(self, method, params, ident=1, capabilities=None, **headers):
        params = {**params, "_meta": meta(capabilities)}
        name = params.get("name") or params.get("uri")
        return self.send(body=request(method, params, ident), **{
            "MCP_Protocol_Version": MODERN, "Mcp_Method": method,
            **({"Mcp_Name": name} if name else {}), **headers})

    def works(self):
        return not self.call(self.initialize()).get("isError")


def request(method, params=None, ident=1):
    return {"jsonrpc": "2.0", "id": ident, "method": method,
            **({} if params is None else {"params": params})}


def notification(method, params=None):
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tool_calls.workspace(tmp_path_factory.mktemp("http"))
    with served.http(folder) as port:
        made = Server(port)
        made.folder = folder
        yield made
        assert made.works()


# ---- Who is let in ----------------------------------------------------------------------

@pytest.mark.parametrize("headers, status", [
    ({"Authorization": None}, 401), ({"Authorization": "Bearer wrong"}, 401),
    ({"Authorization": "Bearer " + served.TOKEN + "x"}, 401),
    ({"Authorization": "Bearer " + served.TOKEN[:-1]}, 401),
    ({"Authorization": "Basic " + served.TOKEN}, 401), ({"Authorization": "Bearer "}, 401),
    ({"Authorization": served.TOKEN}, 401),
    ({"Host": "example.org"}, 403), ({"Host": "example.org:80"}, 403),
    ({"Host": "127.0.0.1.example.org"}, 403), ({"Host": "localhost.example.org"}, 403),
    ({"Host": "127.0.0.1@example.org"}, 403), ({"Host": "2130706433"}, 403),
    ({"Host": "localhost:1"}, 403), ({"Host": "127.0.0.1:"}, 403),
    ({"Origin": "http://example.org"}, 403), ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost:1"}, 403), ({"Origin": "file://"}, 403),
    ({"Origin": "http://localhost.example.org"}, 403),
    ({"Origin": "http://127.0.0.1@example.org"}, 403),
    ({"Content_Type": "text/plain"}, 415), ({"Content_Type": None}, 415),
    ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ({"Accept": "text/html"}, 406),
])
def test_others_are_refused(server, headers, status):
    answer = server.send(body=request("initialize"), **headers)
    assert answer.status == status
    assert status != 401 or answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert "Mcp-Session-Id" not in answer.headers


@pytest.mark.parametrize("headers", [
    {"Host": "localhost"}, {"Host": "LOCALHOST:%d"}, {"Host": "127.0.0.1"}, {"Host": "[::1]:%d"},
    {"Origin": "http://localhost"}, {"Origin": "http://127.0.0.1:%d"},
    {"Content_Type": "application/json; charset=utf-8"}, {"Content_Type": "Application/JSON"},
    {"Accept": "*/*"}, {"Accept": "application/json,text/event-stream;q=0.5"},
])
def test_those_on_this_machine_are_let_in(server, headers):
    assert server.initialize(**{name: value.replace("%d", str(server.port))
                                for name, value in headers.items()})


@pytest.mark.parametrize("path", ["/", "/mcp/", "/mcp2", "/MCP", "/mcp/../etc/passwd", "/sse",
                                  "/.well-known/oauth-authorization-server"])
def test_there_is_one_path(server, path):
    assert server.send(path=path, body=request("ping")).status == 404


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE", "BREW"])
def test_there_are_three_methods(server, method):
    answer = server.send(method, body=None)
    assert answer.status in (405, 501)
    assert answer.status == 501 or {"GET", "POST", "DELETE"} == \
        set(re.split(r",\s*", answer.headers["Allow"]))


def test_a_browser_is_not_told_that_it_may_look(server):
    for method in ("OPTIONS", "POST"):
        for origin in ("http://example.org", "http://localhost:1", None):
            answer = server.send(method, body=request("ping"), Origin=origin,
                                 Access_Control_Request_Method="POST")
            assert "Access-Control-Allow-Origin" not in answer.headers


# ---- Sessions -----------------------------------------------------------------------------

@pytest.mark.parametrize("version", [v for v in LEGACY if v >= "2025-03-26"])
def test_a_session_from_its_beginning_to_its_end(server, version):
    session = server.initialize(version)
    assert server.call(session, MCP_Protocol_Version=version)["content"]
    assert server.send("DELETE", Mcp_Session_Id=session).status in (200, 204)
    for method in ("POST", "GET", "DELETE"):
        body = request("ping") if method == "POST" else None
        assert server.send(method, body=body, Mcp_Session_Id=session,
                           Accept=BOTH).status == 404


@pytest.mark.parametrize("session, status", [(None, 400), ("", 400), ("unknown", 404),
                                             ("x" * 5000, 404), ("../../etc", 404)])
def test_a_request_without_its_session_is_refused(server, session, status):
    answer = server.send(body=request("tools/list"), Mcp_Session_Id=session)
    assert answer.status in (status, 400, 404) and "error" in answer.message


def test_sessions_are_random_and_each_counts_its_own_versions(server):
    sessions = [server.initialize() for _ in range(20)]
    assert len(set(sessions)) == 20
    first = [server.call(session)["structuredContent"]["version"] for session in sessions]
    assert len(set(first)) == 1
    again = server.call(sessions[0])["structuredContent"]["version"]
    assert again == first[0] + 1
    for session in sessions:
        server.send("DELETE", Mcp_Session_Id=session)


def test_a_wrong_version_header_is_refused(server):
    session = server.initialize()
    answer = server.send(body=request("ping"), Mcp_Session_Id=session,
                         MCP_Protocol_Version="1999-01-01")
    assert answer.status == 400


def test_many_clients_at_once(server):
    failed = []

    def client():
        try:
            session = server.initialize()
            with contextlib.closing(server.open()) as connection:
                for i in range(20):
                    result = server.call(session, connection=connection)["structuredContent"]
                    assert result["version"] == i + 1 and result["content"] == tool_calls.NOTE
            assert server.send("DELETE", Mcp_Session_Id=session).status in (200, 204)
        except Exception as error:  # told in the main thread
            failed.append(repr(error))

    threads = [threading.Thread(target=client) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# ---- Messages -----------------------------------------------------------------------------

def test_notifications_and_answers_have_no_body(server):
    session = server.initialize()
    for body in (notification("notifications/no/such"),
                 {"jsonrpc": "2.0", "id": 1, "result": {}},
                 {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}):
        answer = server.send(body=body, Mcp_Session_Id=session)
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("body, code", [
    (b"", -32700), (b"{", -32700), (b"\xff\xfe", -32700), (b"\0", -32700),
    (b"[" * 100000, -32700), (b"1", -32600), (b"{}", -32600), (b"null", -32600)])
def test_what_is_no_message_is_refused(server, body, code):
    session = server.initialize()
    answer = server.send(body=body, Mcp_Session_Id=session)
    assert answer.status == 400 and answer.message["error"]["code"] == code
    answer = server.send(body=body)
    assert answer.status == 400


def test_an_error_of_the_protocol_is_an_answer(server):
    session = server.initialize()
    answer = server.send(body=request("no/such"), Mcp_Session_Id=session)
    assert answer.status == 200 and answer.message["error"]["code"] == -32601


# ---- Streams ------------------------------------------------------------------------------

def event(stream):
    """The next event of a stream as {field: value}; data as JSON."""
    fields = {}
    while True:
        line = stream.readline().decode().rstrip("\r\n")
        if line and not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.lstrip(" ")
        elif not line and fields:
            if fields.get("data"):
                fields["data"] = json.loads(fields["data"])
            return fields


@contextlib.contextmanager
def stream(server, session, **headers):
    with contextlib.closing(server.open()) as connection:
        connection.request("GET", "/mcp", None, {
            "Authorization": "Bearer " + served.TOKEN, "Accept": "text/event-stream",
            "Mcp-Session-Id": session, **headers})
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers.get_content_type() == "text/event-stream"
        yield response


def watched(server, session):
    """Subscribes to a file of its own; returns its path and URI."""
    path = Path(server.folder) / ("watched-%s.txt" % session[:8].replace("/", "_"))
    path.write_text("before\n")
    name = path.resolve().as_uri()
    answer = server.send(body=request("resources/subscribe", {"uri": name}),
                         Mcp_Session_Id=session)
    assert answer.message.get("result") == {}, answer.body
    return path, name


def test_changes_come_on_the_stream_of_the_session(server):
    session = server.initialize()
    path, name = watched(server, session)
    with stream(server, session) as events:
        path.write_text("after\n")
        data = {}
        while data.get("method") != "notifications/resources/updated":
            data = event(events).get("data") or {}
        assert data["params"]["uri"] == name


def test_a_stream_ends_with_its_session(server):
    session = server.initialize()
    with stream(server, session) as events:
        assert server.send("DELETE", Mcp_Session_Id=session).status in (200, 204)
        while events.readline():
            pass


def test_what_was_missed_is_sent_when_the_client_comes_back(server):
    session = server.initialize()
    path, name = watched(server, session)
    with stream(server, session) as events:
        path.write_text("one\n")
        seen = event(events)
        while not seen.get("data"):
            seen = event(events)
    path.write_text("two, which nobody hears\n")
    with stream(server, session, **{"Last-Event-ID": seen["id"]}) as events:
        data = {}
        while data.get("method") != "notifications/resources/updated":
            found = event(events)
            assert found.get("id") != seen["id"]
            data = found.get("data") or {}
        assert data["params"]["uri"] == name


@pytest.mark.parametrize("last", ["0", "nonsense", "-1", "9" * 400, "\x01"])
def test_an_event_that_never_was_harms_nothing(server, last):
    session = server.initialize()
    try:
        answer = server.send("GET", Mcp_Session_Id="unknown", Last_Event_ID=last)
        assert answer.status in (400, 404)
    except http.client.HTTPException:
        pass
    assert server.call(session)["content"]


# ---- 2026-07-28 ---------------------------------------------------------------------------

def test_a_stateless_request_needs_no_session(server):
    answer = server.stateless("tools/call", READ)
    assert answer.status == 200 and answer.message["result"]["resultType"] == "complete"
    assert "Mcp-Session-Id" not in answer.headers


@pytest.mark.parametrize("headers", [
    {"Mcp_Method": "tools/list"}, {"Mcp_Method": None}, {"Mcp_Method": "TOOLS/CALL"},
    {"Mcp_Name": "write_file"}, {"Mcp_Name": None}, {"MCP_Protocol_Version": None},
    {"MCP_Protocol_Version": "2025-11-25"}])
def test_headers_that_contradict_the_body_are_refused(server, headers):
    answer = server.stateless("tools/call", READ, **headers)
    assert answer.status == 400 and answer.message["error"]["code"] == -32020


def test_a_subscription_tells_of_changes(server):
    path = Path(server.folder) / "listened.txt"
    path.write_text("before\n")
    name = path.resolve().as_uri()
    body = request("subscriptions/listen", {"notifications": {"resourceSubscriptions": [name]},
                                            "_meta": meta()}, "sub")
    with contextlib.closing(server.open()) as connection:
        connection.request("POST", "/mcp", json.dumps(body), {
            "Authorization": "Bearer " + served.TOKEN, "Accept": BOTH,
            "Content-Type": "application/json", "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "subscriptions/listen"})
        response = connection.getresponse()
        assert response.status == 200
        first = event(response)["data"]
        assert first["method"] == "notifications/subscriptions/acknowledged"
        path.write_text("after\n")
        data = event(response)["data"]
        assert data["method"] == "notifications/resources/updated"
        assert data["params"]["uri"] == name
        assert data["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"


# ---- Broken clients -----------------------------------------------------------------------

def raw(server, data, read=True):
    """Sends bytes; returns what comes back until the server closes or a second is silent."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        with contextlib.suppress(OSError):
            sock.sendall(data)
        if not read:
            return b""
        sock.settimeout(3)
        got = b""
        with contextlib.suppress(OSError):
            while more := sock.recv(65536):
                got += more
        return got


HEAD = ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nAccept: %s\r\n" % (served.TOKEN, BOTH)).encode()


@pytest.mark.parametrize("data", [
    b"\r\n\r\n", b"\0" * 10000, b"GET\r\n\r\n", b"POST /mcp HTTP/9.9\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
    b"POST /" + b"x" * 1000000 + b" HTTP/1.1\r\n\r\n",
    HEAD + b"X: " + b"y" * 1000000 + b"\r\n\r\n",
    HEAD + b"Content-Length: -1\r\n\r\n", HEAD + b"Content-Length: 1e9\r\n\r\n",
    HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    HEAD + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nabcde",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
], ids=range(13))
def test_what_is_no_http_is_refused_or_dropped(server, data):
    answer = raw(server, data)
    assert answer == b"" or re.match(rb"HTTP/1\.[01] [45]\d\d ", answer), answer[:200]
    assert server.works()


def test_nothing_is_read_after_a_request_with_two_lengths(server):
    """RFC 9112, 6.1: the connection is closed; what follows may be somebody else's."""
    inner = json.dumps(request("initialize")).encode()
    smuggled = HEAD + b"Content-Length: %d\r\n\r\n" % len(inner) + inner
    answer = raw(server, HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
                 b"0\r\n\r\n" + smuggled)
    assert answer.count(b"HTTP/1.1 200") == 0


def test_a_body_that_is_too_long_is_refused_before_it_is_read(server):
    answer = raw(server, HEAD + b"Content-Length: 1000000000\r\n\r\n" + b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_in_chunks_without_an_end_is_cut(server):
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        sock.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(OSError):
            for _ in range(1000):
                sock.sendall(chunk)
    assert server.works()


def test_connections_that_say_nothing_keep_nobody_out(server):
    with contextlib.ExitStack() as stack:
        for i in range(200):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", server.port),
                                                                timeout=SECONDS))
            sock.sendall(HEAD[:i])
        assert server.works()


def test_clients_that_leave_in_the_middle_harm_nobody(server):
    session = server.initialize()
    body = json.dumps(request("tools/call", READ)).encode()
    whole = HEAD + b"Mcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n" % (
        session.encode(), len(body)) + body
    for cut in list(range(0, len(whole), 37)) + [len(whole)] * 20:
        raw(server, whole[:cut], read=False)
    assert server.call(session)["content"]


def test_requests_on_one_connection_are_answered_in_order(server):
    session = server.initialize()
    data = b""
    for i in range(50):
        body = json.dumps(request("tools/call", READ, "p%d" % i)).encode()
        data += HEAD + b"Mcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n" % (
            session.encode(), len(body)) + body
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        sock.sendall(data)
        got = b""
        while got.count(b'"id":"p') < 50:
            more = sock.recv(1 << 20)
            assert more, "closed after %d answers" % got.count(b'"id":"p')
            got += more
    assert re.findall(rb'"id":"p(\d+)"', got) == [b"%d" % i for i in range(50)]
