# SPDX-License-Identifier: Apache-2.0
"""hasp mcp list and hasp mcp test, and /mcp where there is no terminal."""
import json

import pytest
from fake_gemini import text


def test_none(world):
    assert "No MCP servers" in world.command("mcp").text


def test_list_starts_nothing(world):
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, sandbox={"write": [str(world.top)]}),
               "far": {"httpUrl": "http://user:pass@127.0.0.1:9/mcp?key=hush"},
               "old": {"url": "http://127.0.0.1:9/", "type": "sse"}})
    done = world.command("mcp", "list")
    assert done.code == 0 and not log.exists()
    assert "fake: not asked yet" in done.text and "old: not asked yet" in done.text and "sse http://127.0.0.1:9/" in done.text
    assert "http://127.0.0.1:9/mcp" in done.text
    assert "hush" not in done.text and "pass" not in done.text


def test_list_knows_what_was_said_last_time(world):
    world.use({"fake": world.server()})
    world.run([[text("Hi.")]], "-p", "Hi.")
    done = world.command("mcp")
    assert "known from last time" in done.text and "mcp_fake_echo" in done.text
    (server,) = world.command("mcp", "--json").json
    assert (server["name"], server["state"], server["transport"]) == ("fake", "known", "stdio")
    assert [tool["name"] for tool in server["tools"]] == ["mcp_fake_echo", "mcp_fake_fail", "mcp_fake_say"]


def test_test_names_tools_and_versions(world):
    world.use({"fake": world.server()})
    done = world.command("mcp", "test", "fake")
    assert done.code == 0, done.err
    assert "fake: ready" in done.text and "mcp_fake_echo  Says it again." in done.text
    assert "fake 1, protocol 2025-11-25" in done.text
    server = world.command("mcp", "test", "fake", "--json").json
    assert server["state"] == "ready" and server["denials"] == []


@pytest.mark.parametrize("way,words", [("die-at-start", "cannot find my settings"),
                                       ("old", "1999-01-01"), ("no-list", "without a list")])
def test_test_says_what_is_wrong(world, way, words):
    world.use({"fake": world.server("fake", way)})
    done = world.command("mcp", "test", "fake")
    assert done.code == 1 and words in done.err and "\x1b" not in done.err
    done = world.command("mcp", "test", "fake", "--json")
    assert done.code == 1 and words in done.json["problem"] and done.json["state"] == "failed"


def test_odd_names_do_not_act_on_a_terminal(world):
    world.use({"a\x1b[31mb": world.server("fake", "odd")})
    for args in (["list"], ["test", "a\x1b[31mb"]):
        done = world.command("mcp", *args)
        assert done.code == 0 and "\x1b" not in done.err, done.err


@pytest.mark.parametrize("args,code", [(["test"], 2), (["list", "fake"], 2), (["test", "none"], 1),
                                       (["add"], 2), (["add", "x"], 2), (["remove"], 2),
                                       (["add", "a.b", "true"], 2), (["list", "--trust"], 2),
                                       (["test", "fake", "--scope", "user"], 2),
                                       (["add", "x", "true", "--timeout", "0"], 2),
                                       (["add", "x", "true", "--header", "A: b"], 2),
                                       (["add", "x", "/no/address", "-t", "http"], 2),
                                       (["enable", "none"], 1), (["disable", "none"], 1),
                                       (["disable", "fake", "--session"], 2)])
def test_what_it_does_not_take(world, args, code):
    world.use({"fake": world.server()})
    assert world.command("mcp", *args).code == code


def test_a_projects_own_are_named(world):
    world.settings(where="project", mcpServers={"fake": world.server()})
    done = world.command("mcp", "list")
    assert "hasp config allow mcpServers" in done.err and "fake" not in done.text


def test_an_excluded_one_is_off(world):
    world.use({"fake": world.server()}, mcp={"excluded": ["fake"]})
    assert "mcp.excluded" in world.command("mcp").text
    done = world.command("mcp", "test", "fake")
    assert done.code == 1 and "mcp.excluded" in done.err


def test_slash_mcp_without_a_terminal(world):
    world.use({"fake": world.server()})
    world.run([[text("Hi.")]], "-p", "Hi.")
    with world.fake([]) as server:
        done = world.command("-p", "/mcp desc", server=server)
    assert "known, 3 tools" in done.text and "Says it again." in done.text
    assert json.dumps(done.sent) == "[]"
