# SPDX-License-Identifier: Apache-2.0
"""A server that wants a login in a session: on a terminal the user is asked, and the call goes on; elsewhere the error
says what to do.  And the address that a browser on another machine comes to, pasted."""
import os
import pty
import subprocess
import sys
import urllib.error
import urllib.request

import oauth_server
import pytest
from conftest import TOP
from fake_gemini import call, text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

ECHO = call("mcp_far_echo", {})


@pytest.fixture
def far(world, tmp_path):
    with oauth_server.Server() as server:
        use(world, server)
        world.browser, world.opened = oauth_server.browser_in(tmp_path)
        yield server


def use(world, far, **entry):
    world.use({"far": {"httpUrl": far.base + "/mcp", "trust": True, **entry}})


def log_in(world):
    done = world.command("mcp", "auth", "far", env={"BROWSER": world.browser})
    assert done.code == 0, done.err


def known_and_expired(world, far):
    """The tools are in the cache; no token holds, and none can be renewed."""
    far.tokens.add("for-now")
    name = world.home / ".gemini" / "mcp-oauth-tokens.json"
    name.write_text('[{"serverName": "far", "mcpServerUrl": "%s/mcp", "token": {"accessToken": "for-now"}}]' % far.base)
    done = world.run([[text("Hello.")]], "-p", "Hi.")
    assert done.code == 0 and not done.err, done.err
    name.unlink()
    far.tokens.clear()
    far.asked.clear()


def on_terminal(world, server, **env):
    env = world.environment(server, **{"BROWSER": world.browser, **env})
    return terminal.Vterm(world.argv(server, []), 140, 40, env=env, cwd=world.root).wait("runs a command.")


def said(server):
    return str(server.requests[-1].body["contents"][-1]["parts"][0]["functionResponse"]["response"])


def address_on(screen, far):
    """The address of the login page, which is folded there."""
    joined = "".join(line.strip() for line in screen.splitlines())
    return joined[joined.index(far.base + "/authorize?"):].split("It leads to")[0]


def redirected(address):
    """Where the login page leads the browser, as its user sees it."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        urllib.request.build_opener(Stay).open(address, timeout=60)
    except urllib.error.HTTPError as answer:
        assert answer.code == 302
        return answer.headers["Location"]
    raise AssertionError("no redirect")


def test_a_call_goes_on_after_the_login(world, far):
    known_and_expired(world, far)
    with world.fake([[ECHO], [text("Done.")]]) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("go").key("enter").wait("Log in? [o/c/n]").quiet(0.1)
            shown = hasp.dump().text
            assert "you have to log in at:" in shown and "It leads to 127.0.0.1" in shown
            assert not world.opened.exists() and "Log in?" in hasp.key("enter").quiet(0.2).dump().text
            hasp.type("o").wait("Done.", 60)
            assert not any(token in hasp.dump().text for token in far.tokens)
    assert "the far echo" in said(server) and len(world.opened.read_text().splitlines()) == 1


def test_an_address_from_another_machine_is_pasted(world, far):
    known_and_expired(world, far)
    with world.fake([[ECHO], [text("Done.")]]) as server:
        with on_terminal(world, server, BROWSER="/nowhere/browser") as hasp:
            hasp.type("go").key("enter").wait("Log in? [o/c/n]").quiet(0.1)
            address = redirected(address_on(hasp.dump().text, far))
            hasp.type("o").wait("No browser could be started").wait("Log in? [o/c/n]").quiet(0.1)
            hasp.paste("http://localhost/oauth/callback?code=x&state=y").wait("That is not the address").quiet(0.1)
            hasp.paste(address + "\n").wait("Done.", 60)
    assert "the far echo" in said(server) and not world.opened.exists()


@pytest.mark.parametrize("key, again", [("n", False), (None, True)])
def test_a_login_that_is_refused_is_an_error_of_the_call(world, far, key, again):
    known_and_expired(world, far)
    with world.fake([[ECHO], [ECHO], [text("Done.")]]) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("go").key("enter").wait("Log in? [o/c/n]").quiet(0.1)
            hasp.type(key) if key else hasp.key("esc")
            if again:
                hasp.wait("did not log in").wait("Log in? [o/c/n]").quiet(0.1).type("n")
            hasp.wait("Done.", 60)
    assert "hasp mcp auth far" in said(server) and "/token" not in far.asked and not world.opened.exists()


def test_slash_mcp_auth(world, far):
    """A server that was never logged in at is not asked about at the start; the command does."""
    with world.fake([[ECHO], [text("Done.")]]) as server:
        with on_terminal(world, server) as hasp:
            hasp.wait("requires a login").quiet(0.1).type("/mcp auth").key("enter")
            hasp.wait("MCP servers that want a login").quiet(0.1)
            hasp.type("/mcp auth far").key("enter").wait("Log in? [o/c/n]").quiet(0.1).type("o")
            hasp.wait("the login holds", 60).quiet(0.1).type("/mcp auth").key("enter").wait("No MCP server asks for a login")
            hasp.quiet(0.1).type("go").key("enter").wait("Done.", 60)
    assert "the far echo" in said(server)


def test_without_a_user_the_error_names_the_command(world, far):
    known_and_expired(world, far)
    done = world.run([[ECHO], [text("Done.")]], "-p", "Go.", "--yolo")
    assert "hasp mcp auth far" in str(done.results()) and "/authorize" not in far.asked


def test_a_server_of_the_old_type_is_logged_in_at(world, far):
    world.use({"far": {"url": far.base + "/sse", "type": "sse", "trust": True}})
    log_in(world)
    assert "/sse" in far.asked and "/post" in far.asked and "/mcp" not in far.asked


def test_a_server_behind_a_websocket_is_logged_in_at(world, far):
    world.use({"far": {"tcp": far.base.replace("http", "ws") + "/ws", "trust": True}})
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and "hasp mcp auth far" in done.err
    log_in(world)
    far.asked.clear()
    done = world.run([[ECHO], [text("Done.")]], "-p", "Go.")
    assert "the far echo" in str(done.results()) and set(far.asked) == {"/ws"}
    far.tokens.clear()  # the next handshake renews it
    assert world.command("mcp", "test", "far").code == 0 and "/token" in far.asked


@pytest.mark.parametrize("entry", ["httpUrl", "tcp"])
def test_the_challenge_says_which_scope_to_ask_for(world, far, entry):
    """Also that of a handshake which is refused."""
    far.challenge = 'Bearer scope="deep"'
    base = far.base.replace("http", "ws") + "/ws" if entry == "tcp" else far.base + "/mcp"
    world.use({"far": {entry: base, "trust": True}})
    log_in(world)
    assert "scope=deep&" in world.opened.read_text()


def test_hasp_mcp_auth_takes_the_pasted_address(world, far):
    """On a terminal; the browser is elsewhere."""
    ours, its = pty.openpty()
    env = world.environment(None, BROWSER="/nowhere/browser")
    with subprocess.Popen(world.argv(None, ["mcp", "auth", "far"]), stdin=its, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=world.root, env=env) as hasp:
        shown = ""
        while "paste here" not in shown:
            shown += hasp.stderr.readline().decode()
        os.write(ours, b"nonsense\n")
        while "That is not the address" not in shown:
            shown += hasp.stderr.readline().decode()
        os.write(ours, redirected(shown.split("with a browser: ")[1].split()[0]).encode() + b"\n")
        out = hasp.stdout.read().decode()
        assert hasp.wait(120) == 0 and "the login holds" in out, hasp.stderr.read()
    os.close(ours)
    os.close(its)
    assert world.command("mcp", "test", "far").code == 0
