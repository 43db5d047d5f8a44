# SPDX-License-Identifier: Apache-2.0
"""Header fields that a command prints (Claude Code's headersHelper)."""
import json

import oauth_server
import pytest
import test_websocket
from fake_gemini import call, text

ECHO = call("mcp_far_echo", {})
SECRET = "s3same"


class Handler(oauth_server.Handler):
    def message(self, message):
        self.server.seen.append(dict(self.headers.items()))
        if message.get("method") == "tools/call":
            self.server.called()
        return super().message(message)


class Server(oauth_server.Server):
    """Takes the tokens that a helper is to print."""
    handler = Handler

    def __init__(self):
        super().__init__()
        self.seen, self.tokens = [], {SECRET}
        self.called = lambda: None


@pytest.fixture
def far():
    with Server() as server:
        yield server


def entry(far, helper, **more):
    return {"type": "http", "url": far.base + "/mcp", "headersHelper": helper, **more}


def claude(world, **servers):
    (world.home / ".claude.json").write_text(json.dumps({"mcpServers": servers}))


def prints(**fields):
    return "echo '%s'" % json.dumps(fields)


TOKEN = prints(Authorization="Bearer " + SECRET)


def echoed(world, *more):
    done = world.run([[ECHO], [text("Done.")]], "-p", "Go.", "--yolo", *more)
    assert done.code == 0, done.err
    return done


def says_nothing_of(world, secret, *runs):
    for done in runs:
        assert secret not in done.text + done.err
    for file in world.home.rglob("*"):
        if file.is_file() and file.name != ".claude.json":
            assert secret.encode() not in file.read_bytes(), file


def test_what_it_prints_is_sent(world, far):
    """In the project's folder, over what `headers` has."""
    world.write("helper.sh", """
        printf '{"Authorization": "Bearer %s", "X-NAME": "%s", "X-Url": "%s", "X-Where": "%s", "X-Key": "<%s>"}' \\
            "$(cat token)" "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL" "$PWD" "$GEMINI_API_KEY"
    """)
    world.write("token", SECRET)
    claude(world, far=entry(far, "sh ./helper.sh", headers={"x-name": "old", "X-Fixed": "kept"}))
    done = echoed(world, "--debug")
    assert "the far echo" in str(done.results())
    for sent in far.seen:
        assert sent["X-NAME"] == "far" and sent["X-Url"] == far.base + "/mcp" and sent["X-Fixed"] == "kept"
        assert sent["X-Where"] == str(world.root) and sent["X-Key"] == "<>" and "x-name" not in sent
    says_nothing_of(world, SECRET, done, world.command("mcp", "test", "far"), world.command("mcp", "list", "--json"))


@pytest.mark.parametrize("holds", [True, False])
def test_a_token_that_is_refused_later_is_made_anew(world, far, holds):
    """By one more run; what that prints may be refused as well."""
    world.write("token", SECRET)
    claude(world, far=entry(far, 'echo "{\\"Authorization\\": \\"Bearer $(cat token)\\"}"'))

    def expire():
        far.tokens = {"another"}
        world.write("token", "another" if holds else "wrong")

    far.called = expire
    done = echoed(world)
    tokens = list(dict.fromkeys(sent["Authorization"] for sent in far.seen))
    assert tokens == ["Bearer " + SECRET, "Bearer another" if holds else "Bearer wrong"]
    said = str(done.results())
    assert "the far echo" in said if holds else "does not take what is printed by mcpServers.far.headersHelper" in said


@pytest.mark.parametrize("helper,why", [
    ("echo %s; exit 3" % SECRET, "ended with exit code 3"),
    ("echo %s" % SECRET, "did not print header fields"),
    ("echo '[\"%s\"]'" % SECRET, "did not print header fields"),
    (prints(A=[SECRET]), "did not print header fields"),
    (prints(A=SECRET + "\r\nB: c"), "did not print header fields"),
    (prints(A=SECRET + "\0"), "did not print header fields"),
    (prints(**{"A: b": SECRET}), "did not print header fields"),
    (prints(**{"A%d" % i: SECRET for i in range(101)}), "did not print header fields"),
    ("echo %s >&2; head -c 200000 /dev/zero" % SECRET, "wrote more than 65536 bytes"),
    ("kill -9 $$", "was ended"),
    ("echo %s; sleep 60" % SECRET, "took more than 10 seconds"),
])
def test_one_that_fails_is_told_without_what_it_said(world, far, helper, why):
    claude(world, far=entry(far, helper))
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and "headersHelper" in done.err and why in done.err, done.err
    assert SECRET not in done.text + done.err and not far.seen


def test_it_runs_in_the_sandbox_of_a_server(world, far):
    claude(world, far=entry(far, "touch mark && " + TOKEN))
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and '"sandbox": {"write":["%s/mark"]}' % world.root in done.err, done.err
    world.use({"far": {"sandbox": {"workspace": "write"}}})
    assert world.command("mcp", "test", "far").code == 0 and (world.root / "mark").exists()


@pytest.mark.parametrize("token,needs", [("Bearer wrong", "does not take what is printed by"), (None, "hasp mcp auth far")])
def test_what_a_refusal_says(world, far, token, needs):
    """Where the helper prints no Authorization, hasp may log in."""
    claude(world, far=entry(far, prints(Authorization=token) if token else prints(A="b")))
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and needs in done.err, done.err


def test_a_projects_is_asked_about_with_its_command(world, far):
    mark = world.top / "mark"
    world.write(".mcp.json", json.dumps({"mcpServers": {"far": entry(far, "touch %s; %s" % (mark, TOKEN))}}))
    (row,) = json.loads(world.command("mcp", "list", "--json").out)
    assert row["asks"].startswith("contact: %s/mcp; run, for headers: touch " % far.base)
    world.run([[text("Hello.")]], "-p", "Hi.")
    assert not far.seen
    assert world.command("mcp", "allow", "far").code == 0
    done = echoed(world)
    assert "the far echo" in str(done.results()) and not mark.exists()  # outside of the workspace
    world.write(".mcp.json", json.dumps({"mcpServers": {"far": entry(far, TOKEN)}}))
    (row,) = json.loads(world.command("mcp", "list", "--json").out)
    assert "asks" in row


@pytest.mark.parametrize("address", [True, False])
def test_a_plugins_is_shown_before_it_is_installed(world, far, address):
    folder = world.top / "work" / "kit"
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "kit"}))
    (folder / "token.sh").write_text('test "$CLAUDE_PLUGIN_ROOT" = "$(dirname "$0")" && ' + TOKEN)
    server = entry(far, 'sh "${CLAUDE_PLUGIN_ROOT}/token.sh"')
    if not address:
        server = {"command": "true", "headersHelper": "true"}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"far": server}}))
    done = world.command("extensions", "install", "--consent", str(folder))
    assert done.code == 0, done.err
    if address:
        assert "contact %s/mcp, run for headers: sh \"${CLAUDE_PLUGIN_ROOT}/token.sh\"" % far.base in done.text
        assert "the far echo" in str(echoed(world).results())
    else:
        assert "MCP server far: run true\n" in done.text


def test_behind_a_websocket(world):
    with test_websocket.peer() as server:
        claude(world, far={"type": "ws", "url": "ws://127.0.0.1:%d/" % server.port,
                           "headersHelper": prints(Authorization="Bearer sesame")})
        assert world.command("mcp", "test", "far").code == 0
