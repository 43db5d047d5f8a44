# SPDX-License-Identifier: Apache-2.0
"""What strangers wrote acts on no terminal, wherever a listing goes: every string of a set-up carries ESC, CR, a line
end and bidirectional marks, and every command that lists any of it is run into a pipe."""
import json
import os
import pty
import re
import subprocess

import pytest
from fake_gemini import call, text

EVIL = "#\r\x1b[K\x1b]52;c;aGk=\x07\u202e\u2066\x9b2J\x7f\nFORGED: yes\n    FORGED"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
# One that names and files may have: no line end, no slash.
NAME = "x\r\x1b[2J\u202e"


def evil(words):
    return words + EVIL


def toml(value):
    return json.dumps(value)


def set_up(world):
    """A project, a home and extensions of somebody who means harm."""
    g, home = ".gemini/", world.home / ".gemini"
    hooks = {"BeforeTool": [{"matcher": evil("m"), "hooks": [
        {"type": "command", "name": evil("n"), "command": evil("touch M "), "env": {evil("E"): evil("v")}}]}],
        evil("Event"): [], "AfterTool": [{"matcher": "(" + EVIL, "hooks": [{"type": evil("t")}]}]}
    servers = {NAME: {"command": evil("prog"), "args": [evil("a")], "description": evil("d"), "cwd": evil("/"),
                      "env": {evil("A"): evil("b")}}, "web": {"httpUrl": "https://example.org/" + EVIL}}
    for folder in (world.root / ".gemini", home):
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({
            "hooks": hooks, "mcpServers": servers, evil("unknown"): evil("x"),
            "tools": {"exclude": [evil("t")], "allowed": [evil("run_shell_command(")]},
            "context": {"fileName": [evil("G.md")]}, "hasp": {"fallbacks": [evil("model")]}}))
        (folder / "policies").mkdir(exist_ok=True)
        (folder / "policies" / "p.toml").write_text(
            "[[rule]]\ntoolName = %s\ndecision = \"deny\"\npriority = 5\n[[rule]]\ntoolName = \"glob\"\n"
            "decision = \"deny\"\npriority = 5\ndenyMessage = %s\nargsPattern = %s\n" % (
                toml(evil("t")), toml(evil("no ")), toml(re.escape("x") + "\x1b\r\u202e")))
        for kind, name in (("skills", "s"), ("agents", "a"), ("commands", "c")):
            (folder / kind / ("k" if kind == "skills" else "")).mkdir(parents=True, exist_ok=True)
        front = "---\nname: %s\ndescription: %s\n---\n" 
        (folder / "skills" / "k" / "SKILL.md").write_text(front % (toml("sk"), toml(evil("about "))) + "x\n")
        (folder / "agents" / "a.md").write_text(front % (toml("ag"), toml(evil("about "))) + "x\n")
        (folder / "agents" / ("b" + NAME + ".md")).write_text(front % (toml(evil("n")), "x") + "x\n")
        (folder / "commands" / ("c" + NAME + ".toml")).write_text("prompt = 1\n")
        (folder / "hooks.toml").write_text("[hooks]\n%s = 1\n" % toml(evil("E")))
    (world.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (world.root / ".claude").mkdir()
    (world.root / ".claude" / "settings.json").write_text(json.dumps({
        "hooks": {"PreToolUse": [{"matcher": evil("m"), "hooks": [{"type": "command", "command": evil("c"), "if": evil("i")},
                                                                {"type": evil("prompt")}]}], evil("E"): []}}))
    extension = home / "extensions" / "ext"
    extension.mkdir(parents=True)
    (extension / "gemini-extension.json").write_text(json.dumps({
        "name": "ext", "version": evil("1"), "description": evil("d"), "mcpServers": servers, "excludeTools": [evil("t")],
        "contextFileName": [evil("C.md")], "settings": [{"name": evil("s"), "description": evil("d"), "envVar": "SOME"}]}))
    (extension / "hooks").mkdir()
    (extension / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    (extension / ".gemini-extension-install.json").write_text(json.dumps({
        "source": "https://example.org/" + EVIL, "type": evil("git"), "ref": evil("main")}))
    (home / "trustedFolders.json").write_text(json.dumps({str(world.root): "TRUST_FOLDER", "/" + EVIL: "TRUST_FOLDER"}))


COMMANDS = [
    ["hooks"], ["hooks", "list"], ["hooks", "trust"], ["mcp", "list"], ["mcp", "test", NAME], ["mcp", "allow", NAME],
    ["mcp", "disable", NAME], ["mcp", "enable", NAME], ["mcp", "remove", NAME], ["mcp", "add", NAME, "prog", EVIL],
    ["extensions", "list"], ["extensions", "validate", "."], ["extensions", "config", "ext"], ["extensions", "explore"],
    ["extensions", "marketplace", "list"], ["extensions", "disable", "ext"], ["extensions", "enable", "ext"],
    ["skills", "list"], ["skills", "disable", "sk"], ["skills", "enable", "sk"], ["agents", "list"],
    ["agents", "disable", "ag"], ["agents", "enable", "ag"], ["agents", "allow", "ag"],
    ["policy", "list"], ["policy", "check", "glob"], ["policy", "check", "run_shell_command", "echo " + EVIL],
    ["config"], ["config", "show"], ["config", "authority"], ["config", "trust"],
    ["config", "allow", "tools.allowed"], ["--list-extensions"], ["--list-sessions"], ["sessions", "search"],
    ["checkpoint", "list"], ["stats"], ["context"], ["sandbox", "--status"], ["models", "check"], ["skills", "install", "."],
]


def clean(done, command):
    for stream in (done.out.decode("utf-8", "surrogateescape"), done.err):
        data = stream[:2] in ("[{", "{\n", '{"')  # for programs: what JSON escapes is escaped
        found = re.search("[\x00-\x09\x0b-\x1f]", stream) if data else BAD.search(stream)
        assert not found, (command, stream[max(0, found.start() - 80):found.end() + 20])
        assert not any(line.lstrip().startswith("FORGED") for line in stream.splitlines()), (command, stream)


@pytest.mark.parametrize("trusted", ["true", "false"])
def test_no_listing_acts_on_a_terminal(world, trusted):
    world.run([[call("list_directory", {"dir_path": EVIL})], [text("Done" + EVIL)]], "-p", "Hello" + EVIL)
    set_up(world)
    named = 0
    for command in COMMANDS:
        done = world.command(*command, env={"GEMINI_CLI_TRUST_WORKSPACE": trusted}, stdin=b"")
        assert done.code >= 0, (command, done.err)
        clean(done, command)
        named += ("FORGED" in done.text or "52;c" in done.text) + ("FORGED" in done.err)
    assert named > 15, named  # the strings are there, and can be seen


@pytest.mark.parametrize("command", [["hooks", "list"], ["mcp", "list"], ["extensions", "list"], ["skills", "list"],
                                     ["agents", "list"]], ids=" ".join)
def test_json_on_a_terminal(world, command):
    set_up(world)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(world.argv(None, [*command, "--json"]), env=world.environment(), cwd=world.root,
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    process.wait()
    os.close(ours)
    printed = said.decode().replace("\r\n", "\n")
    assert not BAD.search(printed) and json.loads(printed)
