# SPDX-License-Identifier: Apache-2.0
"""Servers behind a WebSocket: the official SDK's over npm's `ws`, and those that break the protocol."""
import base64
import contextlib
import hashlib
import json
import queue
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import npm_peers
import pytest
from conftest import declared
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(3)

ALLOW = ("--allowed-mcp-server-names", "far")
TOKEN = {"Authorization": "Bearer sesame", "Sec-WebSocket-Key": "mine", "X-Own": "yes"}
TEXT, BINARY, CLOSE, PING, MASK = 1, 2, 8, 9, 0x80


def echo(said="hello"):
    return call("mcp_far_echo", {"text": said})


class Peer:
    """ws_server.mjs and what it prints."""

    def __init__(self, process):
        self.process, self.lines = process, queue.Queue()
        self.port = int(process.stdout.readline())
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def until(self, member):
        """Waits for a line that has it."""
        while not any(member in one for one in self.seen):
            self.seen.append(self.lines.get(timeout=120))
        return next(one for one in self.seen if member in one)

    def drained(self):
        with contextlib.suppress(queue.Empty):
            while True:
                self.seen.append(self.lines.get_nowait())
        return self.seen


@contextlib.contextmanager
def peer(*certificate):
    argv = [npm_peers.node(), Path(__file__).with_name("ws_server.mjs"), npm_peers.folder("sdk"),
            npm_peers.folder("ws"), *certificate]
    with subprocess.Popen([str(one) for one in argv], stdout=subprocess.PIPE) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()


def attempt(world, *calls, code=0, env=None, **options):
    done = world.run([[one] for one in calls or [echo()]] + [[text("Done.")]], "-p", "Do it.", *ALLOW, env=env,
                     **options)
    assert done.code == code, done.err
    return done


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    folder / "key", "-out", folder / "cert"], check=True, stderr=subprocess.DEVNULL)
    return folder / "cert", folder / "key"


# ---- the official SDK ----------------------------------------------------------------------------

def test_calls_over_ws(world):
    with peer() as far:
        world.use({"far": {"tcp": "ws://127.0.0.1:%d/mcp?key=hush" % far.port, "headers": TOKEN}})
        done = attempt(world, echo(), echo("x" * 200000), echo("large"))
        far.until("closed")
    results = [done.results(i + 1)[-1] for i in range(3)]
    assert "you said hello" in results[0]["output"] and "you said 200000" in results[1]["output"]
    assert "xxxx" in json.dumps(results[2]) and "mcp_far_echo" in declared(done.sent[0])
    begun = far.until("connected")
    assert begun["connected"] == "/mcp?key=hush" and begun["protocol"] == "mcp"
    assert begun["headers"]["x-own"] == "yes" and begun["headers"]["sec-websocket-key"] != "mine"
    seen = far.drained()
    assert [one["message"].get("method") for one in seen if "message" in one][:3] == [
        "initialize", "notifications/initialized", "tools/list"]
    assert not [one for one in seen if one.get("binary") or "error" in one]
    assert "between" in [one.get("pong") for one in seen]
    assert far.until("closed")["closed"] == 1000


def test_wss_verifies_the_certificate(world, tmp_path):
    cert, key = certificate(tmp_path)
    with peer(cert, key) as far:
        world.use({"far": {"tcp": "wss://127.0.0.1:%d/" % far.port, "headers": TOKEN}})
        done = attempt(world, echo(), echo("large"), env={"SSL_CERT_FILE": str(cert)})
        assert "you said hello" in done.results(1)[-1]["output"]
        assert "xxxx" in json.dumps(done.results(2)[-1])
        far.until("closed")
        far.drained()
        count = len(far.seen)
        refused = world.command("mcp", "test", "far")
        assert refused.code == 1 and "certificate" in refused.err + refused.text, refused.err
        assert len(far.drained()) == count
        world.use({"far": {"tcp": "wss://localhost:%d/" % far.port, "headers": TOKEN}})
        other = world.command("mcp", "test", "far", env={"SSL_CERT_FILE": str(cert)})
        assert other.code == 1, other.text


def test_a_wrong_token_is_said(world):
    with peer() as far:
        world.use({"far": {"tcp": "ws://127.0.0.1:%d/?key=hush" % far.port, "headers": {"Authorization": "Bearer no"}}})
        done = world.command("mcp", "test", "far")
    assert done.code == 1 and "mcpServers.far.headers" in done.err + done.text, done.err
    assert "hush" not in done.err + done.text and "Bearer no" not in done.err + done.text


def test_a_connection_that_was_closed_is_opened_again(world):
    with peer() as far:
        world.use({"far": {"tcp": "ws://127.0.0.1:%d/" % far.port, "headers": TOKEN}})
        done = attempt(world, echo("die-once"), echo())
    first, second = done.results(1)[0], done.results(2)[-1]
    assert "closed the connection (1011, tired" in first["message"] and "\x1b" not in first["message"]
    assert "you said hello" in second["output"]
    assert len([one for one in far.drained() if "connected" in one]) == 2


def test_a_call_that_takes_too_long_is_withdrawn(world):
    with peer() as far:
        # The handshake has this time, too.
        world.use({"far": {"tcp": "ws://127.0.0.1:%d/" % far.port, "headers": TOKEN, "timeout": 5000}})
        done = attempt(world, echo("hang"))
        far.until("closed")
    assert done.results(1)[0]["success"] is False
    assert "notifications/cancelled" in [one["message"].get("method") for one in far.drained() if "message" in one]


def test_commands_know_it(world):
    with peer() as far:
        world.use({"far": {"tcp": "ws://127.0.0.1:%d/mcp?key=hush" % far.port, "headers": TOKEN}})
        for args in (("test", "far"), ("list",)):
            done = world.command("mcp", *args)
            assert done.code == 0 and "tcp ws://127.0.0.1:%d/mcp" % far.port in done.text, done.text
            assert "hush" not in done.text + done.err


def test_an_address_of_another_kind_is_said(world):
    world.use({"far": {"tcp": "http://127.0.0.1:9"}, "near": {"url": "ws://127.0.0.1:9"}})
    done = world.run([[text("Hi.")]], "-p", "Hi.")
    assert "does not begin with ws://" in done.err and "is given as tcp" in done.err, done.err


# ---- hostile servers -----------------------------------------------------------------------------

def frame(opcode, payload=b"", fin=True, mask=0, length=None):
    size = len(payload) if length is None else length
    head = struct.pack("!B", (0x80 if fin else 0) | opcode)
    if size < 126:
        head += struct.pack("!B", mask | size)
    elif size < 65536:
        head += struct.pack("!BH", mask | 126, size)
    else:
        head += struct.pack("!BQ", mask | 127, size)
    return head + (b"\0\0\0\0" if mask else b"") + payload


class Hostile:
    """Shakes hands as it likes, answers until tools/call, and then does `way`."""

    def __init__(self, way, head=None):
        self.way, self.head, self.problems = way, head, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.closes, self.stop = queue.Queue(), threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer = self.listener.accept()[0]
                threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        with peer, contextlib.suppress(OSError, EOFError):
            reader = peer.makefile("rb")
            fields = {}
            while (line := reader.readline().strip()):
                name, _, value = line.partition(b":")
                fields[name.lower()] = value.strip()
            accept = base64.b64encode(hashlib.sha1(
                fields[b"sec-websocket-key"] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            usual = (b"HTTP/1.1 101 Switching\r\nUpgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n"
                     b"Sec-WebSocket-Accept: " + accept + b"\r\nSec-WebSocket-Protocol: mcp\r\n\r\n")
            peer.sendall(self.head(usual, accept) if self.head else usual)
            while True:
                opcode, payload = self.read(reader)
                if opcode == CLOSE:
                    self.closes.put(struct.unpack("!H", payload[:2])[0] if len(payload) > 1 else None)
                    return
                if opcode == TEXT:
                    self.answer(peer, json.loads(payload))

    def read(self, reader):
        head = self.exactly(reader, 2)
        size = head[1] & 0x7F
        if not head[1] & MASK:
            self.problems.append("a frame without a mask")
        if size > 125:
            size = int.from_bytes(self.exactly(reader, 2 if size == 126 else 8), "big")
        mask = self.exactly(reader, 4)
        payload = self.exactly(reader, size)
        return head[0] & 15, bytes(one ^ mask[i % 4] for i, one in enumerate(payload))

    @staticmethod
    def exactly(reader, size):
        data = reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def answer(self, peer, message):
        method = message.get("method")
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "far", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": "you said hello"}]}
        else:
            return
        said = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        if method == "tools/call" and self.way:
            self.way(peer, said)
        else:
            peer.sendall(frame(TEXT, said))


@contextlib.contextmanager
def hostile(world, way=None, head=None, **more):
    server = Hostile(way, head)
    world.use({"far": {"tcp": "ws://127.0.0.1:%d/" % server.port, **more}})
    try:
        yield server
    finally:
        server.listener.close()
        assert not server.problems


def changed(old, new):
    return lambda usual, accept: usual.replace(old, new)


@pytest.mark.parametrize("head, word", [
    (lambda usual, accept: usual.replace(accept, accept[:3] + bytes([accept[3] ^ 1]) + accept[4:]), "Sec-WebSocket-Accept"),
    (lambda usual, accept: usual.replace(b"Sec-WebSocket-Accept: " + accept + b"\r\n", b""), "Sec-WebSocket-Accept"),
    (changed(b"101 Switching", b"200 Fine"), "HTTP status 200"),
    (changed(b"HTTP/1.1 101", b"NONSENSE"), "not HTTP/1.1"),
    (changed(b"Upgrade: WebSocket", b"Upgrade: h2c"), "does not say"),
    (changed(b"keep-alive, Upgrade", b"keep-alive"), "does not say"),
    (changed(b": mcp", b": other"), "subprotocol"),
    (changed(b": mcp", b": mcp\r\nsec-websocket-accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="), "twice"),
    (changed(b"Sec-WebSocket-Accept", b"Sec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Accept"), "twice"),
    (changed(b": mcp", b": mcp\r\nSec-WebSocket-Extensions: permessage-deflate"), "extension"),
    (lambda usual, accept: usual[:-2] + b"X: " + b"x" * (1 << 20), "too large"),
    (lambda usual, accept: b"", "did not open"),
], ids=["accept", "no-accept", "status", "no-http", "upgrade", "connection", "protocol", "two-accepts", "two-protocols", "extension", "large", "silent"])
def test_handshakes_that_are_wrong(world, head, word):
    with hostile(world, head=head, startupTimeout=800 if word == "did not open" else 60000):
        done = world.command("mcp", "test", "far")
    assert done.code == 1 and word in done.err + done.text, done.err + done.text


def test_no_subprotocol_and_early_frames_are_fine(world):
    early = frame(PING, b"early") + frame(TEXT, b'{"jsonrpc": "2.0", "method": "notifications/message"}')
    with hostile(world, head=lambda usual, accept: usual.replace(b"Sec-WebSocket-Protocol: mcp\r\n", b"") + early):
        done = attempt(world)
    assert "you said hello" in done.results(1)[0]["output"]


def endlessly(first, again):
    def way(peer, said):
        peer.sendall(first)
        while True:
            peer.sendall(again)
    return way


@pytest.mark.parametrize("way, code, word", [
    (lambda peer, said: peer.sendall(frame(TEXT, said, mask=MASK)), 1002, "not the WebSocket protocol"),
    (lambda peer, said: peer.sendall(frame(BINARY, said)), 1003, "not text"),
    (lambda peer, said: peer.sendall(frame(TEXT, said, length=(32 << 20) + 1)), 1009, "too large"),
    (lambda peer, said: peer.sendall(frame(TEXT, said, length=(1 << 63) - 1)), 1009, "too large"),
    (lambda peer, said: peer.sendall(frame(0, said)), 1002, "not the WebSocket protocol"),
    (lambda peer, said: peer.sendall(frame(TEXT, said[:9], fin=False) + frame(TEXT, said[9:])), 1002, "protocol"),
    (lambda peer, said: peer.sendall(frame(TEXT | 0x40, said)), 1002, "not the WebSocket protocol"),
    (lambda peer, said: peer.sendall(frame(PING, b"x" * 126)), None, "not the WebSocket protocol"),
    (lambda peer, said: peer.sendall(frame(TEXT, b'"\xff"')), 1007, "not UTF-8"),
    (endlessly(frame(TEXT, b"[", fin=False), frame(0, b"", fin=False) * 1000), 1008, "too many fragments"),
    (endlessly(frame(TEXT, b"[", fin=False), frame(0, b" " * 60000, fin=False)), 1009, "too large"),
], ids=["masked", "binary", "oversize", "enormous", "continuation", "nested", "reserved", "ping", "utf8", "fragments",
        "endless"])
def test_frames_that_are_wrong(world, way, code, word):
    with hostile(world, way) as server:
        done = attempt(world)
        said = done.results(1)[0]
        assert said["success"] is False and word in said["message"], said
        if way.__name__ != "way":  # one that writes for ever reads nothing
            assert server.closes.get(timeout=120) == code


@pytest.mark.parametrize("way", [
    lambda peer, said: peer.sendall(frame(TEXT, said)[:-5]),
    lambda peer, said: peer.sendall(frame(TEXT, said[:9], fin=False)),
    lambda peer, said: None,
], ids=["frame", "fragment", "nothing"])
def test_a_connection_that_breaks_in_the_middle(world, way):
    def broken(peer, said):
        way(peer, said)
        peer.shutdown(socket.SHUT_RDWR)

    with hostile(world, broken):
        said = attempt(world).results(1)[0]
    assert said["success"] is False and "broke off" in said["message"], said


def test_pings_that_nobody_reads_the_answers_of(world):
    """The answers do not pile up: the server cannot send for ever either. The call's time ends it."""
    stuck = threading.Event()

    def way(peer, said):
        peer.settimeout(1)
        try:
            while True:
                peer.sendall(frame(PING, b"x" * 125) * 100)
        except TimeoutError:
            stuck.set()
        time.sleep(30)

    with hostile(world, way, timeout=4000):
        said = attempt(world).results(1)[0]
    assert said["success"] is False and stuck.wait(120)
