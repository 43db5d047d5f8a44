# SPDX-License-Identifier: Apache-2.0
"""When servers are started, what is kept of them, and what becomes of slow ones."""
import json
import stat
import sys

import pytest
from conftest import TOP, declared
from fake_gemini import call, text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

pytestmark = pytest.mark.rows_in_turn(3)

ECHO = call("mcp_fake_echo", {"text": "hello"})


class Logged:
    """Servers of this folder that write down what they get."""

    def __init__(self, world, count=1, *ways, **more):
        self.world, self.logs = world, {}
        self.names = ["fake"] if count == 1 else ["s%d" % i for i in range(count)]
        for name in self.names:
            self.logs[name] = world.top / (name + ".log")
        self.entries = {name: world.server("fake", "--log", self.logs[name], *ways, trust=True,
                                           sandbox={"write": [str(world.top)]}, **more)
                        for name in self.names}
        world.use(self.entries)

    def started(self):
        return [name for name in self.names if self.logs[name].exists()]

    def forget(self):
        for log in self.logs.values():
            log.unlink(missing_ok=True)


def hello(world):
    done = world.run([[text("Hi.")]], "-p", "Hi.")
    assert done.code == 0, done.err
    return done


def test_ten_that_are_known_are_not_started(world):
    servers = Logged(world, 10)
    first = hello(world)
    assert len(servers.started()) == 10
    servers.forget()
    second = hello(world)
    assert servers.started() == []
    assert declared(first.sent[0]) == declared(second.sent[0])
    assert len([name for name in declared(second.sent[0]) if name.startswith("mcp_")]) == 30
    assert stat.S_IMODE(world.cache.stat().st_mode) == 0o600


def test_the_first_call_starts_one(world):
    servers = Logged(world, 3)
    hello(world)
    servers.forget()
    seen = []

    def look(_request):
        seen.append(servers.started())

    done = world.run([{"reply": [call("mcp_s1_echo", {"text": "hello"})], "expect": look},
                      [text("Done.")]], "-p", "Do it.")
    assert "you said hello" in done.results()[0]["output"]
    assert seen == [[]] and servers.started() == ["s1"]


@pytest.mark.parametrize("change", [{"args": "more"}, {"env": {"NEW": "1"}}, {"cwd": "."}], ids=str)
def test_another_command_is_asked_again(world, change):
    servers = Logged(world)
    hello(world)
    servers.forget()
    entry = dict(servers.entries["fake"])
    if change == {"args": "more"}:
        entry["args"] = [*entry["args"], "more"]
    else:
        entry.update(change)
    world.use({"fake": entry})
    hello(world)
    assert servers.started() == ["fake"]


def test_what_is_kept_has_no_secret(world):
    Logged(world, 1, env={"MY_TOKEN": "t0ps3cret"})
    hello(world)
    assert "t0ps3cret" not in world.cache.read_text()


def cached(world):
    return json.loads(world.cache.read_text())


@pytest.mark.parametrize("content", [
    b"", b"{", b"\xff\xfe", b"[]", b'{"fake": 5}', b"[" * 100000, b'{"fake": {"tools": {}}}'])
def test_a_broken_file_is_as_none(world, content):
    servers = Logged(world)
    hello(world)
    servers.forget()
    world.cache.write_bytes(content)
    assert "mcp_fake_echo" in declared(hello(world).sent[0])
    assert servers.started() == ["fake"]


def test_what_the_file_says_is_believed_no_more_than_a_server(world):
    servers = Logged(world)
    hello(world)
    kept = cached(world)
    kept["fake"]["tools"] = [
        5, {"name": "a\x1b[31m", "description": "red\x1b[31m\U000e0041", "inputSchema": []},
        {"name": "big", "inputSchema": {"description": "x" * 100000}},
        {"name": "write_file", "description": "mine", "inputSchema": {}}]
    world.cache.write_text(json.dumps(kept))
    servers.forget()
    done = hello(world)
    tools = declared(done.sent[0])
    assert [name for name in tools if name.startswith("mcp_")] == ["mcp_fake_a__31m",
                                                                   "mcp_fake_write_file"]
    assert tools["write_file"]["description"] != "mine" and servers.started() == []
    assert "\\u001b" not in done.said() and "\U000e0041" not in done.said()


SCHEMA = '{"type":"object","properties":{"text":{"type":"string","description":%s}}}'


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("schema, expected", [
    (SCHEMA % r'"Says \"it\"."', {"text": {"type": "string", "description": 'Says "it".'}}),
    (SCHEMA % r'"Red\u001b[31m\ud83d\ude00."', {"text": {"type": "string", "description": "Red[31m\U0001f600."}}),
    (SCHEMA % '"Gr\u00fcn\U000e0041"', {"text": {"type": "string", "description": "Gr\u00fcn\\u{e0041}"}}),
    (SCHEMA % '"x\x1b"', None), (SCHEMA % '"x"' + "}", None), ("{" + '"type":"object"', None),
    ('["type":"object"]', None), ('{"text":{"type":"object"}}', None), ("", None), ("{\\", None),
    (SCHEMA % ('"%s"' % ("x" * 70000)), "left out"),
    ('{"type":"object","a":' + "[" * 40 + "]" * 40 + "}", "left out"),
], ids=range(12))
def test_schemas_in_the_file_are_cleaned_where_they_are_not_clean(world, schema, expected):
    servers = Logged(world)
    hello(world)
    kept = cached(world)
    assert kept["fake"]["tools"][0]["inputSchema"].startswith('{"type":"object"')
    kept["fake"]["tools"][0]["inputSchema"] = schema
    world.cache.write_text(json.dumps(kept))
    servers.forget()
    done = hello(world)
    tools = declared(done.sent[0])
    assert servers.started() == [] and "mcp_fake_say" in tools
    if expected == "left out":
        assert "mcp_fake_echo" not in tools
        assert "is left out (\"echo\")" in done.err
    else:
        parameters = tools["mcp_fake_echo"]["parametersJsonSchema"]
        assert parameters["type"] == "object"
        parameters.get("properties", {}).pop("wait_for_previous", None)
        assert (parameters.get("properties") or None) == expected
    assert "\x1b" not in json.dumps(done.sent[0], ensure_ascii=False)


def test_tools_that_are_gone_fail_with_a_sentence(world):
    """What is known is from last time: the server has the last word."""
    Logged(world)
    hello(world)
    kept = cached(world)
    kept["fake"]["tools"].append({"name": "gone", "description": "x", "inputSchema": {}})
    world.cache.write_text(json.dumps(kept))
    done = world.run([[call("mcp_fake_gone", {})], [text("Done.")]], "-p", "Do it.")
    assert "called gone" in done.results()[0]["output"]
    assert [tool["name"] for tool in cached(world)["fake"]["tools"]] == ["echo", "fail", "say"]


def test_a_slow_one_holds_the_first_prompt_no_longer_than_is_set(world):
    servers = Logged(world, 1, "held")
    world.settings(mcpServers={**servers.entries, "quick": world.server()},
                   hasp={"waits": {"serversSeconds": 2}})
    done = hello(world)
    assert "mcp_quick_echo" in declared(done.sent[0])
    assert "mcp_fake_echo" not in declared(done.sent[0])
    assert "\"fake\" has not listed its tools within 2 s; " in done.err and "quick" not in done.err


def test_one_that_was_too_slow_is_waited_for_less_the_next_time(world):
    servers = Logged(world, 1, "held")
    world.settings(mcpServers=servers.entries, hasp={"waits": {"serversSeconds": 2}})
    assert "within 2 s; " in hello(world).err and cached(world)["fake"]["late"] is True
    assert "within 1 s, nor in time for the session before; " in hello(world).err
    (world.top / "fake.log.go").touch()
    while "tools" not in cached(world)["fake"]:
        hello(world)
    assert "mcp_fake_echo" in declared(hello(world).sent[0])


def test_a_slow_one_joins_later(world):
    servers = Logged(world, 1, "held")
    world.settings(mcpServers=servers.entries, hasp={"waits": {"serversSeconds": 1}})
    # More tools are another beginning of the request, once.
    with world.fake([[text("One.")], [ECHO], [text("Three.")]], append_only=False) as server:
        with terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("hi").key("enter").wait("One.").wait("? for keys")
            assert "mcp_fake_echo" not in declared(server.requests[0].body)
            hasp.type("/mcp").key("enter").wait("starting")
            (world.top / "fake.log.go").touch()
            while "ready, 3 tools" not in hasp.dump().text:
                hasp.type("/mcp").key("enter").quiet()
            hasp.type("again").key("enter").wait("Three.", 60)
            assert "mcp_fake_echo" in declared(server.requests[1].body)
            hasp.key("ctrl+d")
            assert hasp.end() == 0
    assert "you said hello" in str(server.requests[2].body)


def test_tools_that_change_are_there_with_the_next_prompt(world):
    world.use({"fake": world.server("fake", "change", trust=True)})
    with world.fake([[ECHO], [text("Two.")], [call("mcp_fake_later", {})], [text("Four.")]],
                    append_only=False) as server:
        with terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("hi").key("enter").wait("Two.").wait("? for keys")
            hasp.type("again").key("enter").wait("Four.").key("ctrl+d")
            assert hasp.end() == 0
    assert "mcp_fake_later" not in declared(server.requests[1].body)
    assert "called later" in str(server.requests[3].body)
    assert [tool["name"] for tool in cached(world)["fake"]["tools"]][-1] == "later"


def test_a_call_that_is_interrupted_is_cancelled_over_there(world):
    servers = Logged(world, 1, "no-answer")
    with world.fake([[ECHO], [ECHO], [text("Three.")]]) as server:
        with terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("hi").key("enter")
            while "tools/call" not in (servers.logs["fake"].read_text()
                                       if servers.started() else ""):
                hasp.quiet()
            hasp.key("esc").wait("? for keys").key("ctrl+d")
            assert hasp.end() == 0
    assert servers.logs["fake"].read_text().split()[-3:] == [
        "tools/call", "notifications/cancelled", "end"]
    assert len(server.requests) == 1


def test_another_session_goes_on_with_the_servers(world):
    servers = Logged(world)
    with world.fake([[ECHO], [text("Two.")], [ECHO], [text("Four.")]], append_only=False) as server:
        with terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("hi").key("enter").wait("Two.").wait("? for keys")
            hasp.type("/clear").key("enter").quiet()
            hasp.type("again").key("enter").wait("Four.").key("ctrl+d")
            assert hasp.end() == 0
    assert "you said hello" in str(server.requests[3].body)
    assert servers.logs["fake"].read_text().count("start") == 1


def test_on_a_terminal_a_call_is_asked_about(world):
    entry = dict(world.server(), env={"N": "1"})
    world.use({"fake": entry})
    with world.fake([[ECHO], [ECHO], [text("Done.")]]) as server:
        with terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("do it").key("enter").wait("from the MCP server").wait("Allow once")
            assert "fake" in hasp.dump().text
            hasp.type("2").wait("Done.")
            hasp.key("ctrl+d")
            assert hasp.end() == 0
    assert str(server.requests[2].body).count("you said hello") == 2
