# SPDX-License-Identifier: Apache-2.0
"""Logins at servers of the official SDK, from discovery to a call with a renewed token."""
import contextlib
import os
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

import npm_peers
import oauth_server
import pytest
from fake_gemini import call, text

EXAMPLE = "@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js"
GREET = call("mcp_far_greet", {"name": "you"})


@contextlib.contextmanager
def program(*argv, **env):
    """Its output, to be read line by line."""
    with subprocess.Popen([str(npm_peers.node()), *map(str, argv)], env=dict(os.environ, **env), text=True,
                          stdout=subprocess.PIPE) as process:
        try:
            yield process.stdout
        finally:
            process.kill()


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def example(*flags):
    """The SDK's own example, as it is; its authorization server is on a port of its own."""
    mine, its = free_ports(2)
    with program(npm_peers.package("sdk", EXAMPLE), "--oauth", *flags, MCP_PORT=str(mine),
                 MCP_AUTH_PORT=str(its)) as lines:
        missing = {"Authorization Server listening", "Streamable HTTP Server listening"}
        while missing:
            line = next(lines)
            missing = {one for one in missing if one not in line}
        threading.Thread(target=lines.read, daemon=True).start()
        yield "http://localhost:%d/mcp" % mine


def use(world, url, tmp_path):
    world.use({"far": {"httpUrl": url, "trust": True}})
    world.browser, world.opened = oauth_server.browser_in(tmp_path)


def auth(world):
    done = world.command("mcp", "auth", "far", env={"BROWSER": world.browser})
    assert done.code == 0, done.err


def greeting(world):
    done = world.run([[GREET], [text("Done.")]], "-p", "Go.")
    assert done.code == 0, done.err
    return str(done.results())


@pytest.mark.parametrize("flags", [(), ("--oauth-strict",)], ids=str)
def test_the_example_of_the_sdk(world, tmp_path, flags):
    with example(*flags) as url:
        use(world, url, tmp_path)
        done = world.command("mcp", "test", "far")
        assert done.code == 1 and "hasp mcp auth far" in done.err
        auth(world)
        asked = world.opened.read_text()
        assert "code_challenge_method=S256" in asked and "scope=mcp%3Atools" in asked
        assert "Hello, you!" in greeting(world)
        assert world.opened.read_text() == asked


class Peer:
    """sdk_oauth_server.mjs and what it prints."""

    def __init__(self, lines):
        self.base = "http://localhost:%d" % int(next(lines))
        self.lines, self.tag = lines, 0

    def post(self, path):
        request = urllib.request.Request(self.base + path, b"", {"Content-Type": "text/plain"})
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=60).close()

    def asked(self):
        """The requests since it was asked last."""
        self.tag += 1
        self.post("/mark%d" % self.tag)
        found = []
        while (line := next(self.lines).strip()) != "POST /mark%d" % self.tag:
            found.append(line)
        return found


def test_a_login_from_discovery_to_a_renewed_token(world, tmp_path):
    with program(Path(__file__).with_name("sdk_oauth_server.mjs"), npm_peers.folder("sdk")) as lines:
        peer = Peer(lines)
        use(world, peer.base + "/mcp", tmp_path)
        auth(world)
        steps = [one for one in peer.asked() if "/mcp tools" not in one]
        wanted = ["GET /.well-known/oauth-protected-resource/mcp", "GET /.well-known/oauth-authorization-server",
                  "POST /register", "GET /authorize", "POST /token authorization_code", "POST /mcp initialize"]
        assert [one for one in steps if one in wanted][-len(wanted):] == wanted, steps
        assert "Hello, client of %s/mcp!" % peer.base in greeting(world)
        assert not [one for one in peer.asked() if "/mcp" not in one]
        for _ in range(2):  # the second with the refresh token that came in place of the first
            peer.post("/expire")
            assert "Hello, client of" in greeting(world)
            assert "POST /token refresh_token" in (asked := peer.asked()) and "GET /authorize" not in asked
