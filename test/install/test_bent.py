# SPDX-License-Identifier: Apache-2.0
"""Manifests of strangers with each member missing or of another type: an answer, never a crash."""
import copy
import json

import part
import pytest
from test_plugins import put

BENT = [None, 7, "x", True, [], {}, [None], {"x": None}, {"x": {}}]
GONE = object()

SERVERS = {"local": {"command": "node", "args": ["s.js"], "env": {"A": "b"}, "cwd": "x", "trust": True, "timeout": 5},
           "far": {"httpUrl": "https://example.org/mcp", "headers": {"X-Key": "$KEY"}, "headersHelper": "x",
                   "targetAudience": "all", "authProviderType": "dynamic_discovery", "oauth": {"scopes": ["a"]}},
           "sse": {"url": "https://example.org/sse", "type": "sse", "includeTools": ["a"], "excludeTools": ["b"]}}
HOOKS = {"hooks": {"BeforeTool": [{"matcher": "x", "hooks": [{"type": "command", "command": "true", "args": ["a"],
                                                             "timeout": 5, "name": "n"}]}]}}
AUTHOR = {"name": "A", "email": "a@example.org", "url": "https://example.org"}

# What is bent, and what lies beside it.
MANIFESTS = {
    "gemini-extension.json": ({
        "name": "ext", "version": "1.2.3", "description": "d", "contextFileName": ["GEMINI.md"],
        "excludeTools": ["glob"], "mcpServers": SERVERS, "themes": [{"name": "t", "type": "dark"}],
        "settings": [{"name": "Key", "description": "d", "envVar": "THE_KEY", "sensitive": True}]}, {}),
    "hooks/hooks.json": (HOOKS, {"gemini-extension.json": {"name": "ext", "version": "1.2.3"}}),
    ".claude-plugin/plugin.json": ({
        "name": "ext", "version": "1.2.3", "author": AUTHOR, "mcpServers": SERVERS, "hooks": HOOKS,
        "commands": ["./commands"], "agents": ["./agents/a.md"], "skills": ["./skills"], "keywords": ["k"]}, {}),
    ".mcp.json": ({"mcpServers": SERVERS}, {".claude-plugin/plugin.json": {"name": "ext"}}),
    ".codex-plugin/plugin.json": ({"name": "ext", "version": "1.2.3", "author": AUTHOR, "mcpServers": "./.mcp.json",
                                   "skills": "./skills", "interface": {"displayName": "E"}}, {".mcp.json": SERVERS}),
}


def places(value, at=()):
    """The path of each member and item, and of the whole."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, at + (key,))


def bend(value, at, other):
    value = copy.deepcopy(value)
    if not at:
        return other
    inner = value
    for key in at[:-1]:
        inner = inner[key]
    if other is GONE:
        del inner[at[-1]]
    else:
        inner[at[-1]] = other
    return value


CASES = [(name, at, other) for name, (whole, _) in MANIFESTS.items() for at in places(whole)
         for other in BENT + [GONE] * bool(at)]


@pytest.mark.parametrize("verb", ["validate", "install"])
def test_no_member_is_used_without_a_look(world, verb):
    folder = world.top / "work" / "ext"
    crashed = []
    for name, at, other in part.in_turn(CASES, 12):
        whole, beside = MANIFESTS[name]
        put(folder, {**beside, name: json.dumps(bend(whole, at, other))})
        words = [str(folder)] if verb == "validate" else ["--consent", str(folder)]
        code = world.command("extensions", verb, *words).code
        listed = world.command("extensions", "list").code if verb == "install" and code == 0 else 0
        if code not in (0, 1, 2, 42, 44, 52) or listed:
            crashed.append((name, at, "missing" if other is GONE else other, code, listed))
        if verb == "install" and code == 0:
            world.command("extensions", "uninstall", "ext")
        for path in [name, *beside]:
            (folder / path).unlink()
    assert not crashed


@pytest.mark.parametrize("server", [{}, {"serverUrl": "https://x.example.com/mcp"}, {"comand": "node"}, {"command": ""},
                                    None, "x", 7])
def test_a_server_without_an_address_is_named(world, server):
    folder = world.extend("ext", at=world.top / "work" / "ext", mcpServers={"s": server})
    done = world.command("extensions", "validate", str(folder))
    assert done.code == 1 and "broken: MCP server s (gemini-extension.json): " in done.text


# Files of a home and a project, other programs' among them: what is bent, by its place.
SETUPS = {
    "home/.claude.json": {"mcpServers": SERVERS, "projects": {"/x": {"mcpServers": {}, "disabledMcpServers": ["a"]}}},
    "home/.claude/settings.json": {"hooks": {"PreToolUse": [{"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}]},
                                   "permissions": {"deny": ["Read(./x)"], "defaultMode": "plan"}, "disabledMcpjsonServers": ["a"]},
    "home/.claude/plugins/known_marketplaces.json": {"m": {"source": {"source": "github", "repo": "a/b", "ref": "c"}}},
    "home/.gemini/settings.json": {"mcpServers": SERVERS, "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]},
                                   "tools": {"exclude": ["x"]}, "skills": {"disabled": ["x"]}, "agents": {"overrides": {"a": {"enabled": False}}}},
    "home/.gemini/hasp-marketplaces.json": {"m": {"source": "/x", "ref": "c"}},
    "home/.gemini/extensions/extension-enablement.json": {"a": {"overrides": ["!/x/*"]}},
    "home/.gemini/hasp-extensions.json": {"a": {"content": "x", "looks": "x", "brings": "x", "files": {"a": "x"}}},
    "home/.gemini/extensions/a/.gemini-extension-install.json": {"source": "/x", "type": "link", "format": "claude"},
    "work/.mcp.json": {"mcpServers": SERVERS},
    "work/.claude/settings.local.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}},
}
SETUP_CASES = [(name, at, other) for name, whole in SETUPS.items() for at in places(whole) for other in BENT + [GONE] * bool(at)]


def test_no_file_of_a_set_up_is_used_without_a_look(world):
    world.extend("a")
    crashed = []
    for name, at, other in part.in_turn(SETUP_CASES, 20):
        path = (world.home if name.startswith("home/") else world.root) / name.split("/", 1)[1]
        before = path.read_text() if path.exists() else None
        put(path.parent, {path.name: json.dumps(bend(SETUPS[name], at, other))})
        code = world.command("setup", "check").code
        if code not in (0, 1):
            crashed.append((name, at, "missing" if other is GONE else other, code))
        path.unlink() if before is None else path.write_text(before)
    assert not crashed


MARKET = {"name": "m", "owner": {"name": "A"}, "metadata": {"pluginRoot": "./plugins"}, "plugins": [
    {"name": "a", "source": "./a", "version": "1", "description": "d", "strict": False, "skills": ["./s"]},
    {"name": "b", "source": {"source": "git-subdir", "url": "https://example.org/x.git", "path": "b", "ref": "r", "sha": "0"}},
    {"name": "c", "source": {"source": "github", "repo": "a/b"}}]}


def test_no_member_of_a_marketplace_is_used_without_a_look(world):
    folder = world.top / "work" / "market"
    crashed = []
    for at, other in part.in_turn([(at, other) for at in places(MARKET) for other in BENT + [GONE] * bool(at)], 8):
        put(folder, {".claude-plugin/marketplace.json": json.dumps(bend(MARKET, at, other)), "plugins/a/s/SKILL.md": "x"})
        code = world.command("extensions", "explore", str(folder)).code
        if code not in (0, 1):
            crashed.append((at, "missing" if other is GONE else other, code))
    assert not crashed
