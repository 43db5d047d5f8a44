# SPDX-License-Identifier: Apache-2.0
"""What servers log: the level that they are asked for, what is kept and shown, and what is said of errors."""
import json
import sys

import pytest
from conftest import TOP
from fake_gemini import call, text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\U000e0041")
LOG = call("mcp_fake_say", {"what": "log"})


def logged(world, ways, **settings):
    """What the server was asked for, and the run."""
    world.use({"fake": world.server("fake", ways, trust=True)}, **settings)
    done = world.run([[LOG], [text("Done.")]], "-p", "Go.")
    assert done.code == 0, done.err
    said = done.results()[0]["output"]
    return json.loads(said[said.index("[["):said.rindex("]") + 1]), done


def test_errors_are_said_at_most_five_times(world):
    (asked, _), done = logged(world, "logging")
    assert asked == ["warning"]
    said = [line for line in done.err.splitlines() if 'The MCP server "fake" logged an error: ' in line]
    assert len(said) == 5, done.err
    assert "no error connection" in said[0] and "trouble 0" in said[1] and "/mcp desc" in said[4]
    assert not [one for one in RAW if one in done.err]


@pytest.mark.parametrize("level, asked", [("debug", ["debug"]), ("emergency", ["emergency"]), ("off", [])])
def test_the_setting_is_asked_for(world, level, asked):
    got, done = logged(world, "logging", hasp={"servers": {"logLevel": level}})
    assert got[0] == asked
    assert ("logged an error" in done.err) == (level == "debug")


@pytest.mark.parametrize("ways, asked", [("usual", []), ("no-level", ["warning"])])
def test_a_server_without_levels_works(world, ways, asked):
    assert logged(world, ways)[0][0] == asked


@pytest.mark.parametrize("ways, level", [("modern,logging", "warning"), ("modern", None)])
def test_each_request_says_the_level_since_2026(world, ways, level):
    (asked, meta), _ = logged(world, ways)
    assert asked == [] and meta.get("io.modelcontextprotocol/logLevel") == level


def test_mcp_desc_shows_the_last_messages(world):
    world.use({"fake": world.server("fake", "logging", trust=True)}, hasp={"servers": {"logLevel": "info"}})
    with world.fake([[LOG], [text("All done.")]]) as server:
        with terminal.Vterm(world.argv(server, []), 160, 200, env=world.environment(server), cwd=world.root) as hasp:
            hasp.wait("? for keys").type("do it").key("enter").wait("All done.")
            hasp.wait("? for keys").type("/mcp desc").key("enter").wait("log: critical: trouble 99")
            shown = hasp.dump().text
            hasp.key("ctrl+d")
            assert hasp.end() == 0
    assert "trouble 50" in shown and "log: critical: trouble 49" not in shown
    assert not [one for one in RAW if one in shown]
