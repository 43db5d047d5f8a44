# SPDX-License-Identifier: Apache-2.0
"""/extensions in a session: what it lists, and that all that an extension brings comes and goes with it."""
import json
import re

import fake_mcp
import pytest
from fake_gemini import call, text
from test_commands import READY

SKILL = "---\nname: %s\ndescription: Does %s.\n---\nDo it.\n"
POLICY = '[[rule]]\ntoolName = "write_file"\ndecision = "deny"\npriority = 900\ndenyMessage = "MANGO-RULE"\n'
HOOKS = {"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "touch $HOME/hooked"}]}]}}
AGENT = "---\nname: fruit\ndescription: Does fruit.\n---\nDo it.\n"


def extend(world, name, files=None, **manifest):
    """Where Gemini CLI keeps one that it installed."""
    files = {"gemini-extension.json": {"name": name, "version": "1.2.3", **manifest}, **(files or {})}
    for path, content in files.items():
        at = world.home / ".gemini" / "extensions" / name / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(content if isinstance(content, str) else json.dumps(content))


def enablement(world):
    return world.home / ".gemini" / "extensions" / "extension-enablement.json"


def rules(world, name):
    return json.loads(enablement(world).read_text())[name]["overrides"]


def disable(world, name):
    enablement(world).write_text(json.dumps({name: {"overrides": ["!/*"]}}))


def headless(world, line, code=0):
    with world.fake([]) as server:
        done = world.command("-p", line, server=server)
    assert done.code == code, done.err
    return done.text + done.err


def brings(world, name="all", **more):
    """One with everything."""
    extend(world, name, {"GEMINI.md": "FIG-WORDS\n", "skills/notes/SKILL.md": SKILL % ("notes", "notes"), "agents/fruit.md": AGENT,
                               "hooks/hooks.json": HOOKS, "policies/p.toml": POLICY, "commands/greet.toml": 'prompt = "GREETING"\n'},
                        excludeTools=["web_fetch"], mcpServers={"far": fake_mcp.entry()}, **more)


def declared(request):
    return {tool["name"]: tool for group in request.body.get("tools", []) for tool in group["functionDeclarations"]}


def test_they_are_listed_with_what_each_brings(world):
    brings(world)
    extend(world, "gone", {"GEMINI.md": "x\n"})
    extend(world, "bad", {"gemini-extension.json": "{"})
    disable(world, "gone")
    listed = headless(world, "/extensions")
    assert re.search(r"^  all +1.2.3, enabled$", listed, re.M) and re.search(r"^  gone +1.2.3, disabled$", listed, re.M)
    assert "MCP server far" in listed and "skill notes: Does notes." in listed
    assert "The extension in" in listed and "bad is ignored" in listed
    one = headless(world, "/extensions list GONE")
    assert "1.2.3, disabled" in one and "notes" not in one
    assert 'Extension "nobody" not found.' in headless(world, "/extensions list nobody", code=42)


def test_switching_writes_what_the_command_line_does(world):
    extend(world, "ext")
    assert 'disabled for scope "workspace"' in headless(world, "/extensions disable ext --scope=workspace")
    assert rules(world, "ext") == ["!%s/*" % world.root]
    assert 'enabled for scope "user"' in headless(world, "/extensions enable EXT")
    assert "1.2.3, enabled" in headless(world, "/extensions")
    before = rules(world, "ext")
    assert 'disabled for scope "session"' in headless(world, "/extensions disable ext --scope session")
    for wrong in ("disable ext --scope moon", "disable nobody", "disable", "disable ext more", "fly"):
        headless(world, "/extensions %s" % wrong, code=42)
    assert rules(world, "ext") == before


@pytest.mark.parametrize("scope", ["", " --scope session"])
def test_all_that_it_brings_comes_and_goes(world, scope):
    brings(world)
    disable(world, "all")
    write = lambda name: [call("write_file", {"file_path": name, "content": "x"})]
    script = [write("one"), [text("First.")], write("two"), [text("Second.")], write("three"), [text("Third.")]]
    with world.fake(script, append_only=False) as server:
        with world.hasp(server, "-y", rows=40) as hasp:
            hasp.type("a").key("enter").wait("First.").wait(READY)
            assert not (world.home / "hooked").exists()
            hasp.type("/extensions enable a").wait("> all  1.2.3").key("tab").wait("/extensions enable all")
            hasp.type("%s" % scope).key("enter").wait("successfully enabled").wait(READY)
            hasp.type("b").key("enter").wait("Second.").wait(READY)
            assert (world.home / "hooked").exists()
            (world.home / "hooked").unlink()
            hasp.type("/extensions disable all%s" % scope).key("enter").wait("successfully disabled").wait(READY)
            hasp.type("c").key("enter").wait("Third.").wait(READY)
            hasp.type("/greet").key("enter").wait("Unknown command /greet.")
    assert not (world.home / "hooked").exists()
    off, on, off_again = (declared(server.requests[i]) for i in (0, 2, 4))
    for tools, there in ((off, False), (on, True), (off_again, False)):
        assert ("activate_skill" in tools) == there and ("web_fetch" in tools) != there
        assert ("- fruit: " in tools["invoke_agent"]["description"]) == there
        assert any(name.startswith("mcp_far_") for name in tools) == there
    said = [str(request.body["contents"][-1]) + str(request.body.get("systemInstruction")) for request in server.requests]
    assert "FIG-WORDS" not in said[0] and "FIG-WORDS" in said[2] and "MANGO-RULE" in said[3]
    assert world.read("one") == "x" and not (world.root / "two").exists() and world.read("three") == "x"
    assert (rules(world, "all") == ["!/*"]) == bool(scope)


def test_what_was_installed_meanwhile_is_found(world):
    with world.fake([[text("Hello.")]], append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("/extensions").key("enter").wait("No extensions installed.")
            brings(world)
            hasp.type("/extensions reload").key("enter").wait("reloaded successfully: 1 used.").wait(READY)
            hasp.type("/greet").key("enter").wait("Hello.")
    assert "GREETING" in str(server.requests[0].body["contents"][-1]) and "FIG-WORDS" in str(server.requests[0].body)


@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_one_whose_files_changed_is_asked_about(world, answer):
    """It says which files and what they bring; after a yes all of it is there with that very prompt."""
    extend(world, "ext", {"GEMINI.md": "MANGO-WORDS\n", "notes.txt": "x\n"})
    made = world.root / "made"
    (world.home / ".gemini" / "extensions" / "ext").rename(made)
    assert world.command("extensions", "install", "--consent", str(made)).code == 0
    extend(world, "ext", {"GEMINI.md": "FIG-WORDS\n", "commands/greet.toml": 'prompt = "GREETING"\n'})
    (world.home / ".gemini/extensions/ext/notes.txt").unlink()
    with world.fake([[text("Hello.")], [text("Again.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter").wait("Use it as it is now?")
            shown = hasp.dump().text
            for line in ("changed: GEMINI.md", "new: commands/greet.toml", "gone: notes.txt", "+ command /greet"):
                assert line in shown
            assert not server.requests and "hasp extensions approve" not in shown
            hasp.type("1" if answer == "Yes" else "2").wait("Hello.").wait(READY)
            hasp.type("/extensions").key("enter").wait("1.2.3, enabled" if answer == "Yes" else "1.2.3, changed, not used")
            hasp.type("more").key("enter").wait("Again.")
    first = str(server.requests[0].body)
    assert ("FIG-WORDS" in first) == (answer == "Yes") and "MANGO-WORDS" not in first
    after = headless(world, "/extensions")
    assert ("hasp extensions approve ext" in after) == (answer == "No")


@pytest.fixture
def made(world):
    """A folder that an extension was installed from."""
    extend(world, "ext", {"GEMINI.md": "MANGO-WORDS\n"})
    folder = world.root / "made"
    (world.home / ".gemini" / "extensions" / "ext").rename(folder)
    assert world.command("extensions", "install", "--consent", str(folder)).code == 0
    return folder


def brings_more(folder):
    (folder / "commands").mkdir()
    (folder / "commands" / "greet.toml").write_text('prompt = "GREETING"\n')
    (folder / "GEMINI.md").write_text("FIG-WORDS\n")


def test_an_update_without_a_terminal(world, made):
    extend(world, "linked")  # nothing says where it came from: of all it is left out
    assert 'Extension "ext" is already up to date.' in headless(world, "/extensions update EXT")
    (made / "GEMINI.md").write_text("KIWI-WORDS\n")
    assert headless(world, "/extensions update --all").strip() == 'Extension "ext" successfully updated: 1.2.3 -> 1.2.3.'
    brings_more(made)
    assert "In a shell: hasp extensions update ext" in headless(world, "/extensions update ext", code=42)
    assert not (world.home / ".gemini/extensions/ext/commands").exists()
    assert sorted(path.name for path in (world.home / ".gemini/extensions").iterdir()) == ["ext", "extension-enablement.json", "linked"]
    for wrong in ("update", "update ext more", "update nobody", "update linked"):
        headless(world, "/extensions %s" % wrong, code=42)


@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_an_update_asks_and_counts_at_once(world, made, answer):
    brings_more(made)
    with world.fake([[text("Hello.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("/extensions update ext").key("enter")
            hasp.wait("as it would be?")
            assert "+ command /greet" in hasp.dump().text
            hasp.type("1" if answer == "Yes" else "2")
            hasp.wait("successfully updated" if answer == "Yes" else "was not updated").wait(READY)
            hasp.type("/greet" if answer == "Yes" else "go").key("enter").wait("Hello.").wait(READY)
            hasp.type("/extensions update e").wait("> ext  1.2.3").key("tab").wait("/extensions update ext")
    said = str(server.requests[0].body)
    assert ("FIG-WORDS" in said) == ("GREETING" in said) == (answer == "Yes") and ("MANGO-WORDS" in said) == (answer == "No")


def test_marketplaces_are_explored(world, made):
    market = world.home / "market"
    (market / ".claude-plugin").mkdir(parents=True)
    (market / ".claude-plugin" / "marketplace.json").write_text(json.dumps({"name": "tools", "owner": {}, "plugins": [
        {"name": "kit", "source": "./kit", "description": "Sums.\x1b[2J", "version": "2.0"},
        {"name": "pack", "source": {"source": "npm"}}, {"name": "ext", "source": "./ext"}, {"name": "a b", "source": "./x"}]}))
    assert "No marketplaces are kept." in headless(world, "/extensions explore")
    said = headless(world, "/extensions explore %s" % market)
    assert "Marketplace tools (Claude Code), %s" % market in said and re.search(r"^  kit +2.0$", said, re.M) and "Sums." in said
    assert "Cannot be installed: it is a package of npm" in said and '"a b" is left out' in said and "\x1b[2J" not in said
    assert 'There is an extension "ext" from elsewhere.' in said and "first: hasp extensions marketplace add" in said
    assert world.command("extensions", "marketplace", "add", str(market)).code == 0
    assert headless(world, "/extensions explore tools") == headless(world, "/extensions explore")
    assert "in a shell: hasp extensions install NAME@tools" in headless(world, "/extensions explore")
    assert "neither a folder nor an archive" in headless(world, "/extensions explore /nowhere", code=42)
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("/extensions explore tools").key("enter").wait("hasp extensions install NAME@tools")
            assert "Cannot be installed" in hasp.dump().text
