# SPDX-License-Identifier: Apache-2.0
"""The loopback server over real sockets: what it answers, and what hostile clients cannot do."""
import contextlib
import http.client
import os
import re
import socket
import subprocess
import time

import pytest

PROBE = os.environ["HTTP_PROBE"]
WAIT = 60  # for whatever has to happen at once, on a busy machine
with open(PROBE, "rb") as program:
    SLACK_MB = 400 if b"__asan_init" in program.read() else 60  # what a sanitizer keeps back


class Server:
    def __init__(self, *arguments, host="127.0.0.1"):
        self.process = subprocess.Popen([PROBE, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.host, self.port = host, int(self.process.stdout.readline())

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=WAIT)

    def client(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=WAIT)

    def ask(self, method, path, body=None, headers=None):
        """A request on a connection of its own: (status, body, headers)."""
        with contextlib.closing(self.client()) as client:
            client.request(method, path, body, headers or {})
            answer = client.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())

    def raw(self, data):
        """Sends bytes, and returns everything until the server closes."""
        with self.connect() as sock:
            sock.sendall(data)
            return read_all(sock)

    def counts(self):
        """Requests begun, closed, and cut off."""
        return [int(word) for word in self.ask("GET", "/counts")[1].split()]

    def wait_until_closed(self, begun, cut):
        end = time.monotonic() + WAIT
        while self.counts() != [begun, begun, cut]:
            assert time.monotonic() < end, self.counts()
            time.sleep(0.02)

    def memory_mb(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(WAIT) == 0


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while more := sock.recv(65536):
            data += more
    return data


def read_until(sock, what):
    data = b""
    while what not in data:
        more = sock.recv(65536)
        assert more, data
        data += more
    return data


@contextlib.contextmanager
def serving(*arguments, **options):
    server = Server(*arguments, **options)
    try:
        yield server
        server.end()
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def server():
    with serving() as running:
        yield running


# ---- what it answers

def test_many_requests_on_one_connection(server):
    client = server.client()
    client.connect()
    first = client.sock
    for i in range(300):
        client.request("POST", "/echo", b"x" * i)
        assert client.getresponse().read() == b"x" * i
        client.request("GET", "/echo")
        assert client.getresponse().read() == b"hello"
    assert client.sock is first
    client.close()


def test_an_answer_that_comes_later(server):
    client = server.client()
    for _ in range(3):
        client.request("POST", "/slow", b"abc")
        assert client.getresponse().read() == b"slow"
    client.close()


@pytest.mark.parametrize("size", [0, 1, 65536, 1 << 20, 8 << 20])
def test_bodies_of_all_sizes_and_both_framings(server, size):
    body = os.urandom(size)
    assert server.ask("POST", "/echo", body)[:2] == (200, body)
    chunks = (body[i:i + 10000] for i in range(0, size, 10000))
    assert server.ask("POST", "/echo", chunks)[:2] == (200, body)


def test_a_client_that_waits_to_be_told_to_go_on(server):
    with server.connect() as sock:
        sock.sendall(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                     b"Content-Length: 3\r\nConnection: close\r\n\r\n")
        assert b"100 Continue" in read_until(sock, b"\r\n\r\n")
        sock.sendall(b"abc")
        assert read_all(sock).endswith(b"\r\n\r\nabc")


def test_a_stream_arrives_event_by_event(server):
    with server.connect() as sock:
        sock.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = time.monotonic()
        head = read_until(sock, b"id: 1\ndata: tick\n\n")
        assert b"text/event-stream" in head and b"X-Accel-Buffering: no" in head
        assert b"id: 10" not in head
        read_until(sock, b"id: 10\ndata: tick\n\n\r\n0\r\n\r\n")
        assert time.monotonic() - begun > 0.1
        # The connection goes on.
        sock.sendall(b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n")
        read_until(sock, b"hello")


def test_a_quiet_stream_is_kept_alive(server):
    with server.connect() as sock:
        sock.sendall(b"GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b":\n\n" not in read_until(sock, b"\r\n\r\n")
        read_until(sock, b":\n\n")


def test_a_stream_for_http_1_0_ends_with_the_connection(server):
    answer = server.raw(b"GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert answer.count(b"data: tick\n\n") == 10 and b"chunked" not in answer


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/nothing", 404), ("GET", "/", 404), ("GET", "/echo/", 404), ("GET", "/Echo", 404),
    ("GET", "/../echo", 404), ("POST", "/stream", 405), ("PUT", "/echo", 405),
    ("DELETE", "/echo", 405), ("HEAD", "/echo", 405), ("PATCH", "/echo", 405),
    ("GET", "/echo?query=1", 200), ("OPTIONS", "/echo", 204),
])
def test_paths_and_methods(server, method, path, status):
    answer = server.ask(method, path)
    assert answer[0] == status
    if status in (405, 204):
        assert answer[2]["Allow"] == ("GET" if path == "/stream" else "GET, POST")


def test_ipv6():
    with serving("-a", "::1", host="::1") as server:
        assert server.ask("GET", "/echo")[:2] == (200, b"hello")


@pytest.mark.parametrize("arguments, words", [
    (["-a", "localhost"], "not an IP address"), (["-a", "203.0.113.1"], "cannot be served"),
])
def test_an_address_that_cannot_be_had(arguments, words):
    done = subprocess.run([PROBE, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=WAIT)
    assert done.returncode == 1 and words in done.stderr


# ---- who is let in

@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 403), ({"Host": "localhost:1"}, 403), ({"Host": ""}, 403),
    ({"Host": "a b"}, 403),
    ({"Host": "localhost"}, 200), ({"Host": "[::1]"}, 200), ({"Host": "allowed.example"}, 200),
    ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost"}, 200), ({"Origin": "https://page.example"}, 200),
])
def test_host_and_origin(headers, status):
    with serving("-H", "allowed.example", "-o", "https://page.example") as server:
        answer = server.ask("GET", "/echo", headers=headers)
        assert answer[0] == status
        listed = headers.get("Origin") == "https://page.example"
        assert answer[2].get("Access-Control-Allow-Origin") == (headers["Origin"] if listed
                                                               else None)
        assert answer[2].get("Access-Control-Expose-Headers") == ("Mcp-Session-Id" if listed
                                                                 else None)


def test_the_port_in_host_and_origin_is_the_servers(server):
    for name in ("localhost", "127.0.0.1", "[::1]"):
        here = "%s:%d" % (name, server.port)
        assert server.ask("GET", "/echo", headers={"Host": here,
                                                   "Origin": "http://" + here})[0] == 200


def test_a_preflight_is_answered_for_listed_origins_alone():
    with serving("-o", "https://page.example", "-t", "secret") as server:
        wanted = {"Access-Control-Request-Method": "POST",
                  "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id"}
        status, _, got = server.ask("OPTIONS", "/echo",
                                    headers={"Origin": "https://page.example", **wanted})
        assert status == 204
        assert got["Access-Control-Allow-Origin"] == "https://page.example"
        assert got["Access-Control-Allow-Methods"] == "GET, POST"
        assert got["Access-Control-Allow-Headers"] == wanted["Access-Control-Request-Headers"]
        assert got["Vary"] == "Origin"
        status, _, got = server.ask("OPTIONS", "/echo", headers={
            "Origin": "http://localhost:%d" % server.port, **wanted})
        assert status == 204 and not [name for name in got if name.startswith("Access-")]
        assert server.ask("OPTIONS", "/echo",
                          headers={"Origin": "http://evil.example", **wanted})[0] == 403


def test_the_token():
    with serving("-t", "secret") as server:
        status, _, headers = server.ask("GET", "/echo")
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        status, _, headers = server.ask("POST", "/echo", b"x" * 10000,
                                        {"Authorization": "Bearer wrong"})
        assert status == 401 and "invalid_token" in headers["WWW-Authenticate"]
        assert server.ask("POST", "/echo", b"x", {"Authorization": "Bearer secret"})[0] == 200


@pytest.mark.parametrize("lines", [
    "Host: localhost\r\nHost: evil.example", "Host: localhost\r\nOrigin: http://localhost\r\n"
    "Origin: http://evil.example", "Host: localhost\r\nAuthorization: a\r\nAuthorization: b",
    "Host: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
    "Host: localhost\r\nContent-Length: 3\r\nContent-Length: 4",
    "Host: localhost\r\nContent-Length: -1", "Host: localhost\r\nContent-Length: 1x",
])
def test_contradictions_are_refused(server, lines):
    data = server.raw(b"POST /echo HTTP/1.1\r\nConnection: close\r\n%s\r\n\r\nabc" % lines.encode())
    assert data.startswith(b"HTTP/1.1 400 ") or data == b""
    assert server.ask("GET", "/echo")[0] == 200


# ---- bodies that are too long, refused before they are read

def test_a_body_announced_as_too_long_is_refused_at_once(server):
    with server.connect() as sock:
        sock.sendall(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n"
                     b"\r\n")
        assert read_until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 413 ")


def test_a_body_that_turns_out_too_long_is_refused(server):
    chunks = (b"x" * 65536 for _ in range(8 * 16 + 1))
    assert server.ask("POST", "/echo", chunks)[0] == 413


def test_an_endless_body_costs_nothing(server):
    before = server.memory_mb()
    with server.connect() as sock:
        sock.sendall(CHUNKED)
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        sent = 0
        with pytest.raises(OSError):
            while sent < 1000:
                sock.sendall(chunk)
                sent += 1
    assert 128 <= sent < 1000
    assert server.memory_mb() - before < SLACK_MB
    assert server.ask("GET", "/echo")[0] == 200


# ---- hostile clients

GET = b"GET /echo HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
GARBAGE = {
    "blank lines": b"\r\n" * 100000,
    "a long path": b"GET /" + b"x" * 200000,
    "a long header": GET + b"X: " + b"y" * 200000 + b"\r\n\r\n",
    "many headers": GET + b"".join(b"X%d: y\r\n" % i for i in range(20000)) + b"\r\n",
    "a header without a name": GET + b": no name\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
    "another version": b"GET / HTTP/9.9\r\n\r\n",
    "NUL bytes": b"\0" * 1000,
    "a chunk of no length": CHUNKED + b"zz\r\n",
    "a chunk's extension that is too long": CHUNKED + b"5;" + b"x" * 200000 + b"\r\nhello\r\n0\r\n\r\n",
    "a trailer that is too long": CHUNKED + b"0\r\nX: " + b"y" * 200000 + b"\r\n\r\n",
    "a chunk of too great a length": CHUNKED + b"ffffffffffffffffffff\r\n",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=list(GARBAGE))
def test_garbage_is_survived(server, data):
    with server.connect() as sock:
        with contextlib.suppress(OSError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
        read_all(sock)
    assert server.ask("GET", "/echo")[:2] == (200, b"hello")
    assert server.memory_mb() < 100


def test_pipelined_requests_are_answered_in_order(server):
    requests = b"".join(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n%05d"
                        % i for i in range(200))
    with server.connect() as sock:
        sock.sendall(requests + b"GET /echo HTTP/1.1\r\nHost: localhost\r\n"
                                b"Connection: close\r\n\r\n")
        answers = read_all(sock)
    assert re.findall(rb"\r\n\r\n(\d{5})", answers) == [b"%05d" % i for i in range(200)]


def test_a_head_that_comes_byte_by_byte_stops_nobody(server):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(100)]
        for byte in b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n":
            for sock in slow:
                sock.sendall(bytes([byte]))
            assert server.ask("GET", "/echo")[0] == 200
        for sock in slow:
            assert read_until(sock, b"hello").startswith(b"HTTP/1.1 200")


def test_clients_that_vanish_are_noticed_wherever_they_are(server):
    begun = 0
    for data, reaches in [
            (b"", 0), (b"GET /echo HT", 0),
            (b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc", 0),
            (b"GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n", 1),
            (b"GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n", 1),
            (b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n", 1)]:
        for _ in range(10):
            with server.connect() as sock:
                sock.sendall(data)
                if reaches:
                    end = time.monotonic() + WAIT
                    while server.counts()[0] != begun + 1:
                        assert time.monotonic() < end
                    begun += 1
    server.wait_until_closed(begun, begun)
    end = time.monotonic() + WAIT
    while server.descriptors() > 20:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_reader_that_does_not_read_is_cut_off(server):
    before = server.memory_mb()
    with server.connect() as sock:
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.wait_until_closed(1, 1)
        assert server.memory_mb() - before < SLACK_MB
    assert server.ask("GET", "/echo")[0] == 200


@pytest.mark.parametrize("tail", [b"5;" + b"x" * 100000 + b"\r\nhello\r\n0\r\n\r\n",
                                  b"0" * 100000 + b"5\r\nhello\r\n0\r\n\r\n",
                                  b"0\r\n" + b"X: y\r\n" * 20000 + b"\r\n"], ids=["extension", "length", "trailer"])
def test_framing_that_does_not_fit_is_refused_while_its_client_waits(server, tail):
    with server.connect() as sock:
        with contextlib.suppress(OSError):
            sock.sendall(CHUNKED + tail)
        assert read_all(sock)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.1 431", b"")
        assert server.ask("GET", "/echo")[:2] == (200, b"hello")


@pytest.mark.parametrize("said", [b"", b"GET /echo HT", b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                  CHUNKED + b"5\r\n"], ids=["nothing", "half a line", "no token", "half a body"])
def test_who_only_connects_keeps_nobody_out(said):
    """More than all connections that there may be; a client with the token, new or old, is answered."""
    token = {"Authorization": "Bearer secret"}
    with serving("-t", "secret") as server, contextlib.ExitStack() as stack:
        old = stack.enter_context(contextlib.closing(server.client()))
        old.request("GET", "/echo", headers=token)
        assert old.getresponse().read() == b"hello"
        first = old.sock
        for _ in range(1100):
            sock = stack.enter_context(server.connect())
            with contextlib.suppress(OSError):
                sock.sendall(said)
        for _ in range(3):
            assert server.ask("GET", "/echo", headers=token)[:2] == (200, b"hello")
            old.request("GET", "/echo", headers=token)
            assert old.getresponse().read() == b"hello" and old.sock is first
        assert server.descriptors() < 600


def test_two_hundred_streams_at_once(server):
    with contextlib.ExitStack() as stack:
        quiet = [stack.enter_context(server.connect()) for _ in range(200)]
        for sock in quiet:
            sock.sendall(b"GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for sock in quiet:
            read_until(sock, b"\r\n\r\n")
        streams = [stack.enter_context(server.connect()) for _ in range(200)]
        for sock in streams:
            sock.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert server.ask("GET", "/echo")[0] == 200
        for sock in streams:
            assert read_until(sock, b"\r\n0\r\n\r\n").count(b"data: tick\n\n") == 10
        assert server.memory_mb() < 150
    server.wait_until_closed(401, 200)


def test_the_end_of_the_server_ends_what_is_open():
    server = Server()
    with contextlib.ExitStack() as stack:
        open_ones = [stack.enter_context(server.connect()) for _ in range(4)]
        for sock, path in zip(open_ones, [b"/never", b"/quiet", b"/flood", b"/slow"]):
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
        end = time.monotonic() + WAIT
        while server.counts()[0] < 4:
            assert time.monotonic() < end
        server.end()
        for sock in open_ones:
            read_all(sock)
