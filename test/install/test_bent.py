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
