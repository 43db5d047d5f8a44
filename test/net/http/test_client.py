# SPDX-License-Identifier: Apache-2.0
"""The HTTP client against real sockets that answer byte by byte what a test says.

With the system's libcurl, or with hasp's own copy: HTTP_MODULE is then its path, and it is put beside
the probe, where a program looks for it.
"""
import atexit
import contextlib
import gzip
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import pytest

PROBE, MODULE = os.environ["CLIENT_PROBE"], os.environ.get("HTTP_MODULE")
if MODULE:
    FOLDER = tempfile.mkdtemp(prefix="hasp-http-")
    atexit.register(shutil.rmtree, FOLDER)
    PROBE = shutil.copy(PROBE, FOLDER)
    shutil.copy(MODULE, FOLDER)
SOON_MS = 25000  # sooner than any of the servers that wait here goes on, on a busy machine too
CLEAN = {name: value for name, value in os.environ.items()
         if not name.lower().endswith("_proxy") and not name.startswith("SSL_CERT_")}


class Server:
    """Answers the requests of all connections with the bytes of a script, in order; a callable gets
    the socket.  Keeps what was asked."""

    def __init__(self, *answers, context=None):
        self.answers, self.asked, self.connections = list(answers), [], 0
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = "http%s://127.0.0.1:%d" % ("s" if context else "", self.port)
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with contextlib.suppress(OSError, IndexError):
            if self.context:
                sock = self.context.wrap_socket(sock, server_side=True)
            stream = sock.makefile("rb")
            while request := read_request(stream):
                self.asked.append(request)
                answer = self.answers.pop(0)
                if callable(answer):
                    answer(sock)
                else:
                    sock.sendall(answer)
                if b"onnection: close" in (answer if isinstance(answer, bytes) else b""):
                    break
        with contextlib.suppress(OSError):
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)  # ends accept, before the number is used again
        self.thread.join()
        self.listener.close()


def read_request(stream):
    line = stream.readline().decode()
    if not line:
        return None
    fields = {}
    while field := stream.readline().decode().strip():
        name, _, value = field.partition(":")
        fields[name.lower()] = value.strip()
    return line.strip(), fields, stream.read(int(fields.get("content-length", 0)))


class Client:
    def __init__(self, env=None):
        self.process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=dict(CLEAN, **(env or {})))

    def ask(self, url, **job):
        self.process.stdin.write(json.dumps(dict(job, url=url)) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def client():
    it = Client()
    yield it
    it.process.stdin.close()
    assert it.process.wait(60) == 0


def ok(body=b"hello", *fields):
    head = [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def redirect(status, target):
    return b"HTTP/1.1 %d Go\r\nLocation: %s\r\nContent-Length: 3\r\n\r\nno!" % (status,
                                                                               target.encode())


def test_an_answer_comes_with_its_head_and_its_body(client):
    with Server(b"HTTP/1.1 100 Continue\r\n\r\n" +
                ok(b"hello", b"X-Odd:  a: b ", b"Retry-After: 7")) as server:
        got = client.ask(server.url + "/a?b=c", method="POST", body="asked",
                         headers=["X-Mine: 1", "Content-Type: text/x"])
    assert (got["ok"], got["status"], got["body"], got["retry_after"]) == (True, 200, "hello", 7)
    assert got["headers"].splitlines() == ["content-length: 5", "x-odd: a: b", "retry-after: 7"]
    line, fields, body = server.asked[0]
    assert line == "POST /a?b=c HTTP/1.1" and body == b"asked"
    assert fields["x-mine"] == "1" and fields["content-type"] == "text/x" and "expect" not in fields


def test_connections_are_used_again(client):
    with Server(ok(), ok(), ok(b"bye", b"Connection: close"), ok()) as server:
        for _ in range(4):
            assert client.ask(server.url)["ok"]
    assert server.connections == 2


def test_a_status_is_an_answer_and_no_error(client):
    with Server(b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno") as server:
        got = client.ask(server.url)
    assert (got["ok"], got["status"], got["body"]) == (True, 503, "no")


def test_compressed_bodies_are_decoded(client):
    packed = gzip.compress(b"much " * 1000)
    with Server(ok(packed, b"Content-Encoding: gzip")) as server:
        got = client.ask(server.url)
    assert got["body"] == "much " * 1000
    assert "gzip" in server.asked[0][1]["accept-encoding"]


def test_a_stream_is_told_as_it_comes(client):
    def answer(sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (b"one", b"two", b"three"):
            sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(0.05)
        sock.sendall(b"0\r\nX-Trailer: t\r\n\r\n")
    with Server(answer) as server:
        got = client.ask(server.url)
    assert (got["body"], got["pieces"]) == ("onetwothree", 3)
    assert "trailer" not in got["headers"]


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart"])
def test_cancelling_ends_a_request_at_once(client, sent):
    with Server(ok(), lambda sock: (sock.sendall(sent), time.sleep(30))) as server:
        assert client.ask(server.url)["ok"]
        got = client.ask(server.url, cancel_after_ms=300)
        assert got["code"] == "cancelled" and got["ms"] < SOON_MS
        server.answers = [ok()]
        assert client.ask(server.url)["ok"]  # the client is as good as before


def test_cancelling_does_not_wait_for_a_connection(client):
    # A backlog of one that is full: further connects hang.
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for sock in (first, second):
            sock.setblocking(False)
            sock.connect_ex(full.getsockname())
        got = client.ask("http://127.0.0.1:%d/" % full.getsockname()[1], cancel_after_ms=100)
    assert got["code"] == "cancelled" and got["stage"] == "not_sent" and got["ms"] < SOON_MS


def test_a_reader_that_has_enough_ends_the_request(client):
    with Server(ok(b"x" * 100000)) as server:
        got = client.ask(server.url, stop_after=1)
    assert got["code"] == "cancelled" and got["pieces"] == 1


@pytest.mark.parametrize("limit, sentence", [
    ({"idle_ms": 150}, "sent nothing for 0.15 seconds"),
    ({"total_ms": 150}, "did not finish its answer in 0.15 seconds")])
def test_slow_servers_have_an_end(client, limit, sentence):
    with Server(lambda sock: time.sleep(30)) as server:
        got = client.ask(server.url, **limit)
    assert got["code"] == "network_error" and sentence in got["message"]
    assert got["stage"] == "sent" and got["ms"] < SOON_MS


def test_a_trickle_is_not_idle(client):
    def answer(sock):
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
        for _ in range(8):
            sock.sendall(b".")
            time.sleep(0.1)
    with Server(answer) as server:
        assert client.ask(server.url, idle_ms=700)["body"] == "........"


def cut(sock):
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\npart")
    sock.shutdown(socket.SHUT_RDWR)


def test_how_far_a_request_got(client):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    got = client.ask("http://127.0.0.1:%d/?key=SECRET" % port)
    assert (got["code"], got["stage"]) == ("network_error", "not_sent")
    assert "SECRET" not in got["message"] and "Cannot connect to 127.0.0.1" in got["message"]
    with Server(lambda sock: sock.shutdown(socket.SHUT_RDWR), cut) as server:
        got = client.ask(server.url, body="x")
        assert (got["code"], got["stage"]) == ("network_error", "sent")
        got = client.ask(server.url, body="x")
        assert (got["code"], got["stage"], got["body"]) == ("network_error", "answering", "part")


def test_a_body_has_a_largest_size(client):
    packed = gzip.compress(b"0" * (8 << 20))  # some kilobytes on the wire
    with Server(ok(packed, b"Content-Encoding: gzip"), ok(b"x" * 10)) as server:
        got = client.ask(server.url, max_bytes=100000)
        assert got["code"] == "too_large" and len(got["body"]) <= 100000
        server.answers = [ok(b"x" * 10), ok(b"x" * 11)]
        assert client.ask(server.url, max_bytes=10)["ok"]
        assert client.ask(server.url, max_bytes=10)["code"] == "too_large"


def test_heads_have_a_largest_size(client):
    with Server(b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"x" * 90000 + b"\r\n" +
                b"X-B: %s\r\n" % (b"y" * 90000) * 40 + b"\r\n") as server:
        assert client.ask(server.url)["code"] in ("too_large", "network_error")


def test_redirects_are_followed_when_asked_for(client):
    with Server(redirect(302, "/b?c"), ok(), redirect(302, "/b")) as server:
        got = client.ask(server.url + "/a", method="POST", body="x", max_redirects=1)
        assert (got["status"], got["body"]) == (200, "hello")
        assert server.asked[1][0] == "GET /b?c HTTP/1.1" and server.asked[1][2] == b""
        got = client.ask(server.url + "/a", max_redirects=0)
        assert (got["status"], got["body"]) == (302, "no!")


def test_redirects_have_an_end(client):
    with Server(*[redirect(301, "/again")] * 4) as server:
        assert client.ask(server.url, max_redirects=3)["status"] == 301
    assert len(server.asked) == 4


def test_a_redirect_keeps_the_method_where_it_has_to(client):
    with Server(redirect(307, "/b"), ok()) as server:
        assert client.ask(server.url, body="again", max_redirects=1)["ok"]
    assert server.asked[1][0].startswith("POST") and server.asked[1][2] == b"again"


def test_nothing_of_a_request_goes_to_another_origin(client):
    with Server(ok()) as other, Server(redirect(307, other.url + "/x"),
                                       redirect(302, other.url)) as server:
        got = client.ask(server.url, headers=["X-Api-Key: SECRET", "Authorization: Bearer SECRET"],
                         body="SECRET", max_redirects=2)
        assert got["ok"]
        assert "SECRET" not in str(other.asked)


def test_a_redirect_leads_to_http_and_https_alone(client):
    for target in ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"):
        with Server(redirect(302, target)) as server:
            got = client.ask(server.url, max_redirects=3)
        assert (got["ok"], got["code"]) == (False, "invalid_argument"), target


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost", "", "ftp://a/", "http://",
                                 "http://a b/", "javascript:1"])
def test_what_is_not_a_url_is_refused(client, url):
    assert client.ask(url)["code"] == "invalid_argument"


@pytest.mark.parametrize("host", [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0", "localhost", "localhost.", "a.localhost",
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[fe80::1]", "[fc00::1]", "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "[ff02::1]", "[2001:db8::1]", "192.0.2.1", "168.63.129.16",
    "192.80.8.124", "161.26.0.10", "166.9.1.1", "[::ffff:168.63.129.16]", "[3fff::1]"])
def test_only_public_addresses_when_asked_for(client, host):
    with Server() as server:
        got = client.ask("http://%s:%d/" % (host, server.port), public_only=True, connect_ms=3000)
    assert got["code"] == "denied_by_sandbox", got
    assert server.connections == 0


def test_a_name_of_a_private_address_is_refused_when_it_connects(client):
    name = socket.gethostname()  # in /etc/hosts, by an address of this machine
    try:
        socket.getaddrinfo(name, 80)
    except OSError:
        name = "ip6-localhost"
    with Server() as server:
        got = client.ask("http://%s:%d/" % (name, server.port), public_only=True)
    assert got["code"] in ("denied_by_sandbox", "network_error") and server.connections == 0


def test_a_redirect_does_not_lead_inside(client):
    with Server(redirect(302, "http://169.254.169.254/latest")) as proxy:
        got = client.ask("http://8.8.8.8/", proxy=proxy.url, public_only=True, max_redirects=3)
    assert got["code"] == "denied_by_sandbox" and len(proxy.asked) == 1


@pytest.mark.parametrize("to_proxy", ["http", "socks5h"])
def test_a_name_is_judged_the_same_with_a_proxy(client, to_proxy):
    # Names of this machine, from /etc/hosts: a proxy must not be asked for them.
    names = [name for name in ("ip6-localhost", "localhost", socket.gethostname()) if resolves(name)]
    with Server() as proxy:
        through = proxy.url.replace("http", to_proxy)
        for name in names:
            for scheme in ("http", "https"):
                got = client.ask("%s://%s:81/" % (scheme, name), proxy=through, public_only=True)
                assert got["code"] == "denied_by_sandbox", (name, got)
    assert len(names) >= 2 and proxy.connections == 0


def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 80))
    except OSError:
        return False


def test_a_name_that_cannot_be_judged_is_refused_unless_the_proxy_may(client):
    with Server(ok(b"by proxy"), ok(b"in digits")) as proxy:
        job = {"proxy": proxy.url, "public_only": True, "connect_ms": 5000}
        got = client.ask("http://no-such-host.invalid/", **job)
        assert got["code"] == "denied_by_sandbox" and "hasp.web.proxyResolves" in got["message"]
        assert proxy.connections == 0
        got = client.ask("http://no-such-host.invalid/", proxy_resolves=True, **job)
        assert got["body"] == "by proxy"
        assert client.ask("http://8.8.8.8/", **job)["body"] == "in digits"
        got = client.ask("http://127.0.0.1/", proxy_resolves=True, **job)
        assert got["code"] == "denied_by_sandbox"


@pytest.mark.parametrize("login", ["u:p@", "u@", ":p@", "u%40x:p@"])
def test_a_redirect_sends_no_login(client, login):
    with Server(ok()) as other:
        target = other.url.replace("http://", "http://" + login)
        with Server(redirect(302, target)) as server:
            got = client.ask(server.url, max_redirects=3)
    assert (got["ok"], got["code"]) == (False, "invalid_argument"), got
    assert "user name or password" in got["message"] and other.asked == []
    assert "u:p" not in got["message"]


def test_proxies_of_the_environment_are_used():
    with Server(ok(b"by proxy"), ok(b"direct"), ok(b"forced")) as proxy:
        env = {"http_proxy": proxy.url, "NO_PROXY": "other.example, 127.0.0.1"}
        client = Client(env)
        assert client.ask("http://a.example/x")["body"] == "by proxy"
        assert proxy.asked[0][0] == "GET http://a.example/x HTTP/1.1"
        assert client.ask(proxy.url + "/y")["body"] == "direct"
        assert proxy.asked[1][0] == "GET /y HTTP/1.1"
        client.process.stdin.close()
        client = Client({"HTTP_PROXY": "http://127.0.0.1:1", "no_proxy": "*"})
        assert client.ask("http://a.example/z", proxy=proxy.url)["body"] == "forced"
        client.process.stdin.close()


def test_an_https_request_tunnels_through_a_proxy():
    with Server(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") as proxy:
        client = Client({"HTTPS_PROXY": proxy.url})
        got = client.ask("https://a.example/", headers=["X-Api-Key: SECRET"])
        client.process.stdin.close()
    assert proxy.asked[0][0] == "CONNECT a.example:443 HTTP/1.1"
    assert got["code"] == "network_error" and "SECRET" not in str(proxy.asked)


def certificate(tmp_path):
    """A server's context with a certificate of its own."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key",
                    "-out", tmp_path / "cert"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused(client, tmp_path):
    context = certificate(tmp_path)
    with Server(ok(), context=context) as server:
        got = client.ask(server.url, headers=["X-Api-Key: SECRET"])
    assert got["code"] == "network_error" and "certificate" in got["message"]
    assert got["stage"] == "not_sent" and server.asked == []


def test_authorities_can_be_named(tmp_path):
    context = certificate(tmp_path)
    with Server(ok(), ok(), context=context) as server:
        client = Client({"SSL_CERT_FILE": str(tmp_path / "cert")})
        assert client.ask(server.url)["body"] == client.ask(server.url)["body"] == "hello"
        assert server.connections == 1
        wrong = client.ask(server.url.replace("127.0.0.1", "localhost"))  # another name
        assert wrong["code"] == "network_error" and server.asked[2:] == []
        client.process.stdin.close()
        client = Client({"SSL_CERT_DIR": str(tmp_path)})  # not hashed: nobody in it
        assert client.ask(server.url)["code"] == "network_error"
        client.process.stdin.close()


def test_retry_after_is_seconds_or_a_date(client):
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 100))
    for field, least, most in (("3", 3, 3), ("0.5", 0.5, 0.5), (later, 90, 100), ("soon", -1, -1),
                               ("-1", -1, -1), ("inf", -1, -1),
                               ("Sun, 06 Nov 1994 08:49:37 GMT", 0, 0)):
        with Server(ok(b"", b"Retry-After: " + field.encode())) as server:
            assert least <= client.ask(server.url)["retry_after"] <= most, field


def test_nothing_is_loaded_before_it_is_needed():
    client = Client()

    def has_libcurl():
        return bool(libraries(client.process.pid) & {"libcurl", "hasp-http"})
    assert not has_libcurl()
    with Server(ok()) as server:
        assert client.ask(server.url)["ok"]
    assert has_libcurl()
    client.process.stdin.close()
    assert client.process.wait(60) == 0


NO_ANSWERS = {
    "nothing": b"", "noise": b"\0\xff\n\n", "HTTP/0.9": b"<html>hello</html>\n",
    "no status": b"HTTP/1.1 OK\r\n\r\n", "blank": b"\r\n\r\n",
    "minus": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
    "coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: x, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "no size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\nx\r\n0\r\n\r\n",
    "long chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
    "huge chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\nx",
    "cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nxy",
}
# What libcurl reads all the same, as others do.
ODD_ANSWERS = {
    "no name": b"HTTP/1.1 200 OK\r\n: a\r\n\r\n",
    "folded": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 1\r\n\r\nx",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "odd length": b"HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx",
    "huge length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
    "switching": b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\nx",
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_an_error(client, name):
    with Server(lambda sock: (sock.sendall(NO_ANSWERS[name]), sock.shutdown(socket.SHUT_WR)),
                ok()) as server:
        got = client.ask(server.url)
        assert (got["ok"], got.get("code")) == (False, "network_error"), got
        again = client.ask(server.url)
        assert (again["ok"], server.connections) == (True, 2), again


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_an_odd_answer_does_not_touch_the_next(client, name):
    ended = threading.Event()

    def answer(sock):
        try:
            sock.sendall(ODD_ANSWERS[name])
            sock.shutdown(socket.SHUT_RDWR)
        finally:
            ended.set()

    with Server(answer, ok(b"next")) as server:
        got = client.ask(server.url)
        assert (got["ok"] and len(got["body"]) <= 2) or got["code"] == "network_error", got
        assert ended.wait(60)  # or the next would be sent on a connection that is just ending
        assert client.ask(server.url)["body"] == "next" and server.connections == 2


def test_bytes_after_an_answer_are_not_the_next_answer(client):
    with Server(ok() + ok(b"smuggled"), ok(b"second")) as server:
        assert client.ask(server.url)["body"] == "hello"
        assert client.ask(server.url)["body"] == "second" and server.connections == 2


def test_an_answer_can_last_until_the_connection_ends(client):
    with Server(lambda sock: (sock.sendall(b"HTTP/1.0 200 OK\r\n\r\nall of it"),
                              sock.shutdown(socket.SHUT_RDWR))) as server:
        assert client.ask(server.url)["body"] == "all of it"


def test_a_large_request_goes_out_while_the_server_reads_slowly(client):
    with Server(ok()) as server:
        assert client.ask(server.url, body="x" * (4 << 20))["ok"]
    assert len(server.asked[0][2]) == 4 << 20


# ---- which libcurl it is, and what is left out of hasp's own ------------------------------------


def libraries(pid):
    """Names of the libraries that a process has mapped, up to the first dot."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        paths = [line.split(maxsplit=5)[5].strip() for line in maps if "/" in line]
    return {os.path.basename(path).split(".")[0] for path in paths if ".so" in path}


def test_the_copy_beside_the_program_is_loaded_with_what_https_needs(client):
    with Server(ok()) as server:
        assert client.ask(server.url)["ok"]
    loaded = libraries(client.process.pid)
    assert ("hasp-http" in loaded) == bool(MODULE) and ("libcurl" in loaded) == (not MODULE)
    if MODULE:
        assert loaded <= {"hasp-http", "libssl", "libcrypto", "libnghttp2", "libz", "libbrotlidec",
                          "libbrotlicommon", "libzstd", "libc", "ld-linux-x86-64"}, loaded


def test_a_host_whose_name_is_not_ascii_is_an_error(client):
    with Server(ok(b"next")) as proxy:
        got = client.ask("http://bücher.example/x", proxy=proxy.url)
        assert got["code"] == "network_error" and "bad/illegal format" in got["message"]
        assert client.ask("http://a.example/", proxy=proxy.url)["body"] == "next"


@pytest.mark.parametrize("status, field", [(401, b"WWW-Authenticate"), (407, b"Proxy-Authenticate")])
def test_schemes_that_are_not_used_are_no_trouble_when_they_are_asked_for(client, status, field):
    with Server(b"HTTP/1.1 %d No\r\n%s: Negotiate YII=\r\n%s: NTLM\r\nContent-Length: 0\r\n\r\n" %
                (status, field, field), ok(b"next")) as proxy:
        assert client.ask("http://a.example/", proxy=proxy.url)["status"] == status
        assert client.ask("http://a.example/", proxy=proxy.url)["body"] == "next"


def test_a_cookie_is_not_kept(client):
    with Server(ok(b"a", b"Set-Cookie: id=1; Domain=example; Path=/"), ok(b"b")) as server:
        assert client.ask(server.url)["body"] == "a" and client.ask(server.url)["body"] == "b"
    assert "cookie" not in server.asked[1][1]


def test_a_socks_proxy_is_offered_no_kerberos(client):
    offered = []

    def socks():
        sock, _ = listener.accept()
        with sock:
            head = sock.recv(2)
            offered.extend(sock.recv(head[1]))
            sock.sendall(b"\x05\xff")  # none will do

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=socks, daemon=True)
        thread.start()
        got = client.ask("http://a.example/", proxy="socks5h://127.0.0.1:%d" %
                         listener.getsockname()[1])
        thread.join(60)
    assert got["code"] == "network_error" and 0 in offered and 1 not in offered
