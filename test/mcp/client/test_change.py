# SPDX-License-Identifier: Apache-2.0
"""hasp mcp add, remove, enable and disable: settings.json keeps all else, and Gemini CLI's file of disabled servers."""
import json

from fake_gemini import text

COMMENTED = """{
  // mine
  "unheardOf": 1,
  "mcpServers": {
    // the old one
    "old": {"command": "true"}
  }
}
"""


def users(world):
    return world.home / ".gemini" / "settings.json"


def projects(world):
    return world.root / ".gemini" / "settings.json"


def enablement(world):
    return world.home / ".gemini" / "mcp-server-enablement.json"


def test_add_takes_gemini_clis_options(world):
    done = world.command("mcp", "add", "-s", "user", "-e", "KEY=a=b", "--env", "OTHER=$HOME", "--timeout", "5000",
                         "--trust", "--description", "Files.", "--include-tools", "a,b", "--exclude-tools", "c",
                         "files", "npx", "-y", "@x/files", "--depth=3", "--", "--trust", "-e")
    assert done.code == 0, done.err
    assert "is added to the user settings" in done.text
    assert json.loads(users(world).read_text())["mcpServers"]["files"] == {
        "command": "npx", "args": ["-y", "@x/files", "--depth=3", "--trust", "-e"],
        "env": {"KEY": "a=b", "OTHER": "$HOME"}, "timeout": 5000, "trust": True, "description": "Files.",
        "includeTools": ["a", "b"], "excludeTools": ["c"]}


def test_add_takes_an_address(world):
    for how in ("http", "sse"):
        done = world.command("mcp", "add", "--scope=user", "--type", how, "far", "https://a.test/mcp",
                             "-H", "Authorization: Bearer a:b", "-H", "X-Key:c")
        assert done.code == 0, done.err
        assert json.loads(users(world).read_text())["mcpServers"]["far"] == {
            "url": "https://a.test/mcp", "type": how,
            "headers": {"Authorization": "Bearer a:b", "X-Key": "c"}}
    assert "is replaced in the user settings" in done.text


def test_add_knows_an_address_without_a_transport(world):
    for address, entry in (("https://a.test/mcp", {"url": "https://a.test/mcp", "type": "http"}),
                           ("http://127.0.0.1:1/x", {"url": "http://127.0.0.1:1/x", "type": "http"}),
                           ("wss://a.test/mcp", {"tcp": "wss://a.test/mcp"}),
                           ("./https://a", {"command": "./https://a", "args": []})):
        done = world.command("mcp", "add", "-s", "user", "far", address)
        assert done.code == 0, done.err
        assert json.loads(users(world).read_text())["mcpServers"]["far"] == entry
    done = world.command("mcp", "add", "-s", "user", "far", "https://a.test/mcp", "more")
    assert done.code == 2 and "takes no arguments" in done.err


def test_add_takes_the_address_of_a_websocket(world):
    done = world.command("mcp", "add", "-s", "user", "-t", "tcp", "far", "wss://a.test/mcp", "-H", "X-Key: c")
    assert done.code == 0, done.err
    assert json.loads(users(world).read_text())["mcpServers"]["far"] == {
        "tcp": "wss://a.test/mcp", "headers": {"X-Key": "c"}}
    for how, address in ("tcp", "https://a.test/mcp"), ("http", "wss://a.test/mcp"):
        done = world.command("mcp", "add", "-s", "user", "-t", how, "other", address)
        assert done.code == 2 and "is no address for this transport" in done.err
    assert world.command("mcp", "add", "-s", "user", "-t", "tcp", "other", "ws://a.test", "-e", "A=b").code == 2
    assert list(json.loads(users(world).read_text())["mcpServers"]) == ["far"]


def test_all_else_in_the_file_stays(world):
    users(world).parent.mkdir(parents=True, exist_ok=True)
    users(world).write_text(COMMENTED)
    assert world.command("mcp", "add", "-s", "user", "new", "true").code == 0
    now = users(world).read_text()
    assert all(line in now for line in COMMENTED.splitlines() if "//" in line or "unheardOf" in line)
    assert '"old": {"command": "true"}' in now and '"new"' in now
    done = world.command("mcp", "remove", "--scope", "user", "new")
    assert done.code == 0 and "is removed from the user settings" in done.text
    assert users(world).read_text() == COMMENTED
    done = world.command("mcp", "remove", "--scope", "user", "new")
    assert done.code == 1 and "user settings have no MCP server" in done.err


def test_what_is_added_works(world):
    server = world.server()
    assert world.command("mcp", "add", "-s", "user", "mine", server["command"], *server["args"]).code == 0
    assert "mcp_mine_echo" in world.command("mcp", "test", "mine").text


def test_a_projects_needs_the_user(world):
    done = world.command("mcp", "add", "own", "true")
    assert done.code == 0 and "hasp config allow mcpServers" in done.err
    assert json.loads(projects(world).read_text())["mcpServers"] == {"own": {"command": "true", "args": []}}
    assert "own" not in world.command("mcp", "list").text
    # Withheld or not, it stands there and can go.
    assert world.command("mcp", "remove", "own").code == 0
    assert not json.loads(projects(world).read_text()).get("mcpServers")


def test_an_untrusted_folder_is_said(world):
    done = world.command("mcp", "add", "own", "true", env={"GEMINI_CLI_TRUST_WORKSPACE": "false"})
    assert done.code == 0 and "not trusted" in done.err


def test_a_disabled_server_is_not_used(world):
    world.use({"Fake": world.server(), "other": {"command": "true"}})
    enablement(world).write_text('{"far": {"enabled": false, "why": 1}}')
    assert world.command("mcp", "disable", "fake").code == 0
    assert json.loads(enablement(world).read_text()) == {"far": {"enabled": False, "why": 1},
                                                         "fake": {"enabled": False}}
    states = {one["name"]: one["state"] for one in world.command("mcp", "--json").json}
    assert states["Fake"] == "disabled" and states["other"] == "unknown"
    done = world.command("mcp", "test", "Fake")
    assert done.code == 1 and "hasp mcp enable Fake" in done.err
    done = world.run([[text("Hi.")]], "-p", "Hi.")
    assert "mcp_Fake" not in json.dumps(done.sent) and '"Fake"' not in done.err

    assert world.command("mcp", "enable", "FAKE").code == 0
    assert json.loads(enablement(world).read_text()) == {"far": {"enabled": False, "why": 1}}
    assert "mcp_Fake_echo" in world.command("mcp", "test", "Fake").text


def test_a_server_that_does_not_count_yet(world):
    """It is there: a command that names it says what keeps it from counting."""
    projects(world).parent.mkdir(exist_ok=True)
    projects(world).write_text('{"mcpServers": {"own": {"command": "true"}}}')
    (world.root / ".mcp.json").write_text('{"mcpServers": {"shared": {"command": "true"}}}')
    untrusted = {"GEMINI_CLI_TRUST_WORKSPACE": "false"}
    for name, file in (("own", ".gemini/settings.json"), ("shared", ".mcp.json")):
        for action in ("disable", "enable", "test", "auth"):
            done = world.command("mcp", action, name, env=untrusted)
            assert done.code == (0 if action in ("disable", "enable") else 1), done.err
            assert file in done.err and "hasp config trust" in done.err and "no MCP server" not in done.err
    assert world.command("mcp", "disable", "own", env=untrusted).code == 0
    assert json.loads(enablement(world).read_text()) == {"own": {"enabled": False}}
    assert "hasp config allow mcpServers" in world.command("mcp", "disable", "own").err
    done = world.command("mcp", "disable", "neither", env=untrusted)
    assert done.code == 1 and "no MCP server" in done.err


def test_what_settings_exclude_is_not_enabled(world):
    world.use({"fake": world.server()}, mcp={"excluded": ["fake"]})
    done = world.command("mcp", "enable", "fake")
    assert done.code == 1 and "mcp.excluded" in done.err


def test_a_broken_file_of_disabled_servers_is_named(world):
    world.use({"fake": world.server()})
    enablement(world).write_text("{")
    done = world.command("mcp", "list")
    assert done.code == 0 and "mcp-server-enablement.json" in done.err and "fake: not asked yet" in done.text
    done = world.command("mcp", "disable", "fake")
    assert done.code == 1 and enablement(world).read_text() == "{"
