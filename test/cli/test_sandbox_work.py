# SPDX-License-Identifier: Apache-2.0
"""Work inside the sandbox beside the jobs of test/honest: npm without its tokens; and a network that is off."""
import contextlib
import json
import os
import socket
import threading

import pytest

pytestmark = pytest.mark.in_turn("level")

LEVELS = ["full", "landlock"]


def inside(ws, script, *flags, **options):
    done = ws.run("sandbox", *flags, "--", "sh", "-ec", script, **options)
    assert "denied" not in done.message, done.message
    return done


def npm_project(ws):
    """A project with one dependency, a folder of its own."""
    ws.write("dep/package.json", json.dumps({"name": "dep", "version": "1.0.0",
                                             "main": "index.js"}))
    ws.write("dep/index.js", "exports.answer = () => 42\n")
    ws.write("package.json", json.dumps({
        "name": "app", "version": "1.0.0", "scripts": {"test": "node --test"},
        "dependencies": {"dep": "file:dep"}}))
    ws.write("app.test.js", "const test = require('node:test'), assert = require('node:assert')\n"
                            "test('answer', () => assert.equal(require('dep').answer(), 42))\n")


def test_an_npm_project_is_installed_and_tested_offline(ws):
    npm_project(ws)
    (ws.home / ".npmrc").write_text("//registry.example.org/:_authToken=CANARY\n")
    script = "npm install --offline; npm test"
    done = inside(ws, script, env={"npm_config_cache": str(ws.folder / ".npm-cache"),
                                   "npm_config_update_notifier": "false"})
    assert done.code == 0, done.out.decode() + done.message
    assert b"# pass 1" in done.out
    assert (ws.folder / "node_modules" / "dep" / "index.js").is_file()


# ---- the network --------------------------------------------------------------------------


class Listener:
    """Counts what arrives at a TCP and a UDP port of the machine's loopback."""

    def __init__(self):
        self.arrived = []
        self.sockets = [socket.socket(socket.AF_INET, kind)
                        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
        for item in self.sockets:
            item.bind(("127.0.0.1", 0))
        self.sockets[0].listen()
        self.tcp, self.udp = [item.getsockname()[1] for item in self.sockets]
        self.threads = [threading.Thread(target=run, daemon=True)
                        for run in (self._accept, self._receive)]
        for thread in self.threads:
            thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.sockets[0].accept()
            except OSError:
                return
            self.arrived.append("tcp")
            connection.sendall(b"hello\n")
            connection.close()

    def _receive(self):
        while True:
            try:
                datagram = self.sockets[1].recv(100)
            except OSError:
                return
            if not datagram:  # shut down; nobody here sends empty ones
                return
            self.arrived.append(datagram)

    def close(self):
        """Ends the waiting before the numbers are used again: a restarted call would take another's."""
        for item in self.sockets:
            with contextlib.suppress(OSError):  # a datagram socket is not connected; it wakes all the same
                item.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for item in self.sockets:
            item.close()


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.close()


TRY_ALL = r"""
import socket, sys
tcp, udp = int(sys.argv[1]), int(sys.argv[2])
def attempt(what, do):
    try:
        print(what, do())
    except OSError as error:
        print(what, "refused")
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", tcp), 2).recv(9))
def datagram():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def connected():
    s = datagram()
    s.connect(("127.0.0.1", udp))
    return s.send(b"datagram")
attempt("udp", lambda: datagram().sendto(b"datagram", ("127.0.0.1", udp)))
attempt("udp connected", connected)
attempt("dns", lambda: socket.getaddrinfo("example.org", 80))
attempt("far", lambda: socket.create_connection(("192.0.2.1", 80), 2))
"""


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_leaves(ws, listener, level):
    ws.write("try.py", TRY_ALL)
    done = ws.run("sandbox", "--sandbox", level, "--", "python3", "try.py", str(listener.tcp),
                  str(listener.udp))
    assert listener.arrived == []
    assert b"hello" not in done.out and b"tcp refused" in done.out and b"far refused" in done.out


def test_the_network_on_request(ws, listener):
    ws.write("try.py", TRY_ALL)
    done = ws.run("sandbox", "--net", "--", "python3", "try.py", str(listener.tcp),
                  str(listener.udp))
    assert b"tcp b'hello" in done.out and "tcp" in listener.arrived
    assert b"datagram" in listener.arrived


LOOPBACK = r"""
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:%d/page" % server.server_port, timeout=120).read())
"""


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_and_its_client_inside(ws, level):
    ws.write("serve.py", LOOPBACK)
    ws.write("page", "content")
    done = inside(ws, "python3 serve.py 2> /dev/null", "--sandbox", level)
    assert done.out == b"b'content'\n", done.message


def test_a_unix_socket_of_a_daemon_cannot_be_reached(ws, outside):
    path = str(outside / "daemon.sock")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    os.chmod(path, 0o777)
    for level in LEVELS:
        done = ws.run("sandbox", "--sandbox", level, "--", "python3", "-c",
                      "import socket; socket.socket(socket.AF_UNIX).connect(%r)" % path)
        assert done.code != 0 and path in done.message
        server.settimeout(0.1)
        with pytest.raises(socket.timeout):
            server.accept()
    server.close()


def test_no_file_is_left_behind(ws, tmp_path):
    """In a folder for temporary files of its own: other tests run at the same time."""
    temp = tmp_path / "temp"
    temp.mkdir()
    ws.env["TMPDIR"] = str(temp)
    inside(ws, "true")  # what the check after a command remembers lies in ~/.gemini
    before = sorted(os.listdir(ws.folder)), sorted(os.listdir(ws.home))
    inside(ws, "echo x > /tmp/left-behind; cat /tmp/left-behind; mktemp > /dev/null")
    assert (sorted(os.listdir(ws.folder)), sorted(os.listdir(ws.home))) == before
    assert os.listdir(temp) == [] and not os.path.exists("/tmp/left-behind")
    kept = [path for path in ws.home.rglob("*") if path.is_file() and path.name != ".looked"]
    assert [path.parent for path in kept] == [ws.home / ".gemini/tmp/hasp/guard"], kept
