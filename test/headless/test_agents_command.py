# SPDX-License-Identifier: Apache-2.0
"""hasp agents: which there are, and the user's settings in which they are switched off."""
import json

from test_agents import BUILT_IN, HELLO, declared, put


def agents(world, *args, code=0, env=None):
    done = world.command("agents", *args, env=env)
    assert done.code == code, done.err
    return done


def test_all_are_listed_with_where_they_come_from(world):
    path = put(world.root, "fruit", tools="Read", model="gemini-2.5-flash", max_turns=7, timeout_mins=0.5)
    put(world.home, "wrong", kind="elsewhere")
    done = agents(world, "list", "--json")
    rows = {row["name"]: row for row in done.json}
    assert list(rows) == sorted(["fruit", *BUILT_IN]) and {rows[name]["from"] for name in BUILT_IN} == {"built-in"}
    assert rows["fruit"] == {"name": "fruit", "description": "Does it.", "from": "project", "enabled": True, "kind": "local",
                             "location": str(path), "model": "gemini-2.5-flash", "max_turns": 7, "timeout_mins": 0.5,
                             "tools": ["Read"]}
    assert "fruit [Enabled]\n  Description: Does it.\n  Location:    %s\n" % path in agents(world).text
    assert 'kind "elsewhere"' in done.err
    done = agents(world, env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert "fruit" not in done.text and "not trusted" in done.err


def test_one_is_switched_off_and_on(world):
    put(world.home, "Fruit")
    settings = world.home / ".gemini" / "settings.json"
    settings.write_text('{\n  // mine\n  "agents": {"overrides": {"fruit": {"runConfig": {"maxTurns": 3}}}}\n}\n')
    assert 'The agent "Fruit" is disabled now' in agents(world, "disable", "FRUIT").text
    assert "// mine" in settings.read_text() and '"maxTurns": 3' in settings.read_text()
    assert "Fruit [Disabled]" in agents(world).text and "Fruit" not in declared(world.run(HELLO, "-p", "x"))
    assert "already disabled" in agents(world, "disable", "fruit").text
    agents(world, "disable", "reviewer")
    assert "is enabled now" in agents(world, "enable", "fruit").text
    assert declared(world.run(HELLO, "-p", "x")) == ["Fruit", *BUILT_IN[:3]]
    (row,) = [row for row in agents(world, "--json", "list").json if row["name"] == "Fruit"]
    assert row["enabled"] and row["max_turns"] == 3


def test_what_cannot_be_done_is_said(world):
    assert "not found" in agents(world, "disable", "nobody", code=1).err
    assert "takes the name" in agents(world, "enable", code=2).err
    assert "takes no name" in agents(world, "list", "x", code=2).err
    world.settings(experimental={"enableAgents": False})
    assert "enableAgents is false" in agents(world, "disable", "reviewer", code=1).err
    assert agents(world).text == "No agents discovered.\n" and json.loads(agents(world, "--json").text) == []
