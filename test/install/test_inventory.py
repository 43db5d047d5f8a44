# SPDX-License-Identifier: Apache-2.0
"""The inventory of a set-up: what works under which name, what has no effect here, what is broken and why."""
import json
import os
import resource

import pytest
from test_plugins import put

SKILL = "---\nname: %s\ndescription: Does %s.\n---\nDo it.\n"
AGENT = "---\nname: %s\ndescription: Does %s.\n---\nYou do it.\n"
HOOK = {"type": "command", "command": "true"}


def check(world, *args, code=0, trust="true"):
    done = world.command("setup", "check", *map(str, args), env={"GEMINI_CLI_TRUST_WORKSPACE": trust})
    assert done.code == code, (done.text, done.err)
    return done


def pieces(world, *args, code=0):
    """{(kind, name): piece} of all sections."""
    rows = [piece for section in json.loads(check(world, "--json", *args, code=code).text) for piece in section["pieces"]]
    assert len(rows) == len({(row["kind"], row["name"], row["file"], row.get("why")) for row in rows}), rows
    return {(row["kind"], row["name"] or row["file"]): row for row in rows}


def extension(world, files=None, **manifest):
    return put(world.top / "work" / "kit", {
        "gemini-extension.json": {"name": "kit", "version": "1.0.0", **manifest}, **(files or {})})


# One broken piece: its files, members of the manifest, and what is said of it: kind, file, a part of the reason.
BROKEN = [
    ({"commands/a.toml": "prompt = "}, {}, "command", "commands/a.toml", "line 1"),
    ({"commands/a.toml": "description = 'x'\n"}, {}, "command", "commands/a.toml", "no text named \"prompt\""),
    ({"skills/a/SKILL.md": "---\nname: [\n"}, {}, "skill", "skills/a/SKILL.md", "no end"),
    ({"skills/a/SKILL.md": "Do it.\n"}, {}, "skill", "skills/a/SKILL.md", "front matter"),
    ({"agents/a.md": "You do it.\n"}, {}, "agent", "agents/a.md", "name"),
    ({"agents/a.md": AGENT[:30] % "a"}, {}, "agent", "agents/a.md", ""),
    ({"hooks/hooks.json": {"hooks": {"BeforeTols": [{"hooks": [HOOK]}]}}}, {}, "hook", "hooks/hooks.json", "BeforeTool"),
    ({"hooks/hooks.json": {"hooks": {"BeforeTool": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}}, {}, "hook",
     "hooks/hooks.json", "\"prompt\""),
    ({"hooks/hooks.json": {"hooks": {"BeforeTool": [HOOK]}}}, {}, "hook", "hooks/hooks.json", "left out"),
    ({"hooks/hooks.json": "{"}, {}, "hooks", "hooks/hooks.json", ""),
    ({"hooks/hooks.json": {"hooks": []}}, {}, "hooks", "hooks/hooks.json", "no object"),
    ({"hooks.json": {"hooks": {}}}, {}, "hooks", "hooks.json", "hooks/hooks.json"),
    ({"policies/a.toml": "[[rule]]\ntoolName = \"x\\q\"\n"}, {}, "rules", "policies/a.toml", ""),
    ({}, {"contextFileName": "NONE.md"}, "instructions", "gemini-extension.json", "not there"),
    ({}, {"contextFileName": ["../out.md"]}, "instructions", "gemini-extension.json", "not there"),
    ({}, {"excludeTools": [7]}, "excluded tool", "gemini-extension.json", "not a tool's name"),
    ({}, {"themes": [{"type": "dark"}]}, "theme", "gemini-extension.json", "no \"name\""),
    ({}, {"settings": [{"name": "Key"}]}, "setting", "gemini-extension.json", "envVar"),
    ({}, {"mcpServers": {"s": {"serverUrl": "https://x.example.com/mcp"}}}, "MCP server", "gemini-extension.json",
     "neither a command nor an address"),
    ({}, {"mcpServers": {"s": "node"}}, "MCP server", "gemini-extension.json", "no object"),
    ({}, {"mcpServers": {"s": {"command": 7}}}, "MCP server", "gemini-extension.json", "no text"),
    ({}, {"mcpServers": 7}, "manifest", "gemini-extension.json", "not an object"),
]


@pytest.mark.parametrize("row", range(len(BROKEN)))
def test_what_is_broken_is_named_with_its_file_and_cause(world, row):
    files, manifest, kind, file, why = BROKEN[row]
    folder = extension(world, files, **manifest)
    found = [piece for piece in pieces(world, folder, code=1).values() if piece["state"] == "broken"]
    assert len(found) == 1, found
    assert (found[0]["kind"].split()[0], found[0]["file"]) == (kind.split()[0], file) and why in found[0]["why"], found
    assert str(folder) not in found[0]["why"]
    for verb, code in (("validate", 1), ("install", 0)):
        done = world.command("extensions", verb, *["--consent"] * (verb == "install"), str(folder))
        assert done.code == code and "  broken: " in done.text, (done.text, done.err)
    listed = world.command("extensions", "list")
    assert listed.code == 0 and "  broken: " in listed.text


def test_what_works_is_listed_by_the_name_that_it_is_used_by(world):
    folder = extension(world, {
        "commands/git/fix.toml": "prompt = \"Fix.\"\n", "skills/notes/SKILL.md": SKILL % ("notes", "notes"),
        "agents/critic.md": AGENT % ("critic", "reviews"), "GEMINI.md": "Be brief.\n",
        "hooks/hooks.json": {"hooks": {"BeforeTool": [{"matcher": "x", "hooks": [HOOK]}]}},
        "policies/a.toml": "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n",
    }, themes=[{"name": "dusk", "type": "dark"}], mcpServers={"s": {"command": "node", "args": ["s.js"]}},
        settings=[{"name": "Place", "envVar": "THE_PLACE"}], excludeTools=["glob"])
    found = pieces(world, folder)
    assert {state for state in (piece["state"] for piece in found.values())} == {"works"}
    for kind, name in (("command", "/git:fix"), ("skill", "notes"), ("agent", "critic"), ("rules", "policies/a.toml"),
                       ("theme", "dusk (kit)"), ("MCP server", "s"), ("setting", "Place")):
        assert (kind, name) in found, (kind, name, sorted(found))
    done = world.command("extensions", "validate", str(folder))
    assert done.code == 0 and done.text.startswith('Extension "kit" is valid. It brings:\n  MCP server s: run node s.js\n')


def test_what_has_no_effect_is_said(world):
    folder = extension(world, {"commands/a.md": "x", "agents/b.txt": "x", "policies/c.json": "{}",
                               "skills/empty/notes.txt": "x", "commands/README.md": "x"})
    found = pieces(world, folder)
    assert {name for (kind, name), piece in found.items() if piece["state"] == "unused"} == {
        "commands/a.md", "agents/b.txt", "policies/c.json", "skills/empty"}
    plugin = put(world.top / "work" / "plug", {
        ".claude-plugin/plugin.json": {"name": "plug", "lspServers": {"clangd": {"command": "clangd"}}},
        "output-styles/terse.md": "x", "commands/sum.md": "Sum.\n"})
    text = world.command("extensions", "validate", str(plugin)).text
    assert "not used by hasp: language servers: clangd\n" in text and "not used by hasp: output styles: terse.md\n" in text


def test_a_home_and_a_project_with_by_whom(world):
    put(world.home, {".claude/commands/mine.md": "Mine.\n", ".gemini/commands/broken.toml": "prompt = 7\n",
                     ".claude/output-styles/terse.md": "x", ".claude/settings.json": {"spinnerVerbs": ["x"]},
                     ".codex/config.toml": "model = \"x\"\n"})
    put(world.root, {".claude/skills/notes/SKILL.md": SKILL % ("notes", "notes"),
                     "CLAUDE.md": "Be brief.\n",
                     ".mcp.json": {"mcpServers": {"s": {"command": "node"}, "t": {"url": 7}}}, ".cursor/mcp.json": {}})
    world.extend("ext", {"commands/hi.toml": "prompt = \"Hi.\"\n"})
    sections = json.loads(check(world, "--json", code=1).text)
    by = {section["from"]: {(p["kind"], p["name"] or p["file"]): p for p in section["pieces"]} for section in sections}
    home, project = by["Home"], by["Project"]
    assert home["command", "/mine"]["state"] == "works"
    assert home["command", "/broken"]["state"] == "broken" and "prompt" in home["command", "/broken"]["why"]
    assert home["output styles", ".claude/output-styles"]["state"] == "unused"
    assert home["setting", "spinnerVerbs"]["state"] == home["setting", "model"]["state"] == "unused"
    assert project["skill", "notes"]["state"] == project["instructions", "CLAUDE.md"]["state"] == "works"
    assert "not allowed it" in project["MCP server", "s"]["why"] and project["MCP server", "t"]["state"] == "broken"
    assert project["MCP servers of Cursor", ".cursor/mcp.json"]["state"] == "unused"
    assert ("command", "/hi") in by['Gemini CLI extension "ext"']


def test_a_project_that_is_not_trusted_is_looked_at_and_nothing_of_it_runs(world):
    other = put(world.top / "work" / "other", {
        ".gemini/settings.json": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}},
        ".claude/commands/a.md": "---\nname: a\n---\n!`touch ran`\n", ".mcp.json": {"mcpServers": {"s": {"command": "touch", "args": ["ran"]}}}})
    sections = json.loads(check(world, "--json", other, trust="false").text)
    assert len(sections) == 1 and "not trusted" in sections[0]["note"]
    assert {"/a", "s"} <= {piece["name"] for piece in sections[0]["pieces"]}
    assert not (other / "ran").exists() and not (world.root / "ran").exists()


def hostile(folder):
    """Names that act on a terminal, links out, FIFOs, deep folders, many files, a file of a gigabyte."""
    put(folder, {"gemini-extension.json": {"name": "kit", "version": "1", "contextFileName": "fifo"},
                 "commands/a\x1b]0;x\x07\u202e.toml": "prompt = \"\x1b[31m\"\n", "agents/a\x1b[2J.txt": "x"})
    for part in ("skills/big", "skills/out", "skills/fifo"):
        (folder / part).mkdir(parents=True)
    with open(folder / "skills/big/SKILL.md", "wb") as file:
        file.truncate(1 << 30)
    os.symlink("/etc/passwd", folder / "skills/out/SKILL.md")
    os.symlink("/etc", folder / "policies")
    os.symlink("/dev/zero", folder / "commands/zero.toml")
    for name in ("fifo", "skills/fifo/SKILL.md", "commands/fifo.toml", "agents/fifo.md"):
        os.mkfifo(folder / name)
    deep = folder / "commands"
    for _ in range(60):
        deep = deep / "d"
        deep.mkdir()
    (deep / "x.toml").write_text("prompt = \"x\"\n")
    many = folder / "agents" / "many"
    many.mkdir(parents=True)
    for place, count in ((folder / "agents", 5000), (folder / "skills", 300)):
        for i in range(count):
            (place / ("n%d" % i)).touch()
    return folder


def test_a_hostile_folder_costs_little_and_acts_on_no_terminal(world):
    folder = hostile(world.top / "work" / "kit")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = check(world, folder, code=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2
    assert "\x1b" not in done.text and "\u202e" not in done.text and "\x07" not in done.text
    assert "agents: it has a thousand names or more" in done.text
    assert "skills/big/SKILL.md" in done.text and "skills/out/SKILL.md" in done.text
    assert "root:" not in done.text
