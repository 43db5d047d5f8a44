# SPDX-License-Identifier: Apache-2.0
"""hasp extensions: put in, taken out, switched on and off; and what each of these asks first."""
import json
import os
import socket

import pytest
from fake_gemini import text

HELLO = [[text("Hello.")]]


def run(world, *args, code=0, **options):
    done = world.command("extensions", *args, **options)
    assert done.code == code, (done.text, done.err)
    return done


def listed(world, **options):
    return {row["name"]: row for row in run(world, "list", "--json", **options).json}


def source(world, name="ext", **more):
    """A folder to install from, with one of everything."""
    return world.extend(name, {
        "GEMINI.md": "MANGO\n", "commands/git/sum.toml": 'prompt = "x"\n',
        "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nx\n",
        "hooks/hooks.json": {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "touch seen"}]}]}},
        "policies/no.toml": "", "agents/critic.md": "---\nname: critic\ndescription: Finds faults.\n---\nx\n",
    }, at=world.top / "work" / name, excludeTools=["glob"], settings=[{"name": "Key", "description": "d", "envVar": "THE_KEY"}],
        mcpServers={"local": {"command": "node", "args": ["${extensionPath}/s.js", "a b"]},
                    "far": {"httpUrl": "https://example.org/mcp", "targetAudience": "all of it",
                            "authProviderType": "service_account_impersonation"}}, **more)


ALL = """  MCP server local: run node ${extensionPath}/s.js "a b"
  MCP server far: contact https://example.org/mcp, with your login or a token of Google's: %s for "all of it"
  hook, which runs outside the sandbox, BeforeTool: touch seen
  instructions: GEMINI.md
  command /git:sum
  skill notes: Writes notes.
  agent critic: Finds faults.
  takes away the tool: glob
  rules: no.toml
  setting Key: THE_KEY
""" % "service_account_impersonation"


def test_installed_listed_used_and_removed(world):
    folder = source(world)
    done = run(world, "install", str(folder), stdin=b"y\n")
    assert done.text == ('Installing extension "ext" (1.2.3) from %s. It brings:\n%s'
                         'Extension "ext" installed successfully and enabled.\n'
                         '  not set: THE_KEY; hasp extensions config ext THE_KEY\n' % (folder, ALL))
    installed = world.extensions / "ext"
    assert json.loads((installed / ".gemini-extension-install.json").read_text()) == {"source": str(folder), "type": "local"}
    assert (installed / "commands/git/sum.toml").read_text() == 'prompt = "x"\n'
    row = listed(world)["ext"]
    assert (row["path"], row["type"], row["enabledUser"], row["enabledWorkspace"], row["used"]) == (
        str(installed), "local", True, True, True)
    said = run(world).text
    assert said.startswith("ext (1.2.3)\n  Path: %s\n  Source: %s (Type: local)\n" % (installed, folder)) and ALL in said
    (folder / "GEMINI.md").write_text("FIG\n")  # a copy is a copy
    assert "MANGO" in world.run(HELLO, "-p", "x").said(0)
    assert run(world, "uninstall", "EXT").text == 'Extension "EXT" successfully uninstalled.\n'
    assert not installed.exists() and folder.exists() and run(world).text == "No extensions installed.\n"
    assert json.loads((world.extensions / "extension-enablement.json").read_text()) == {}


@pytest.mark.parametrize("answer", [b"", b"\n", b"n\n", b"yesterday\n"])
def test_without_a_yes_nothing_is_done(world, answer):
    done = run(world, "install", str(source(world)), stdin=answer, code=1)
    assert ALL in done.text and "[y/N]" in done.err and "Nothing was installed" in done.err
    assert not world.extensions.exists()


def test_consent_says_yes(world):
    assert "[y/N]" not in run(world, "install", "--consent", str(source(world))).err
    done = run(world, "install", "--consent", str(source(world)), code=1)
    assert "already installed" in done.err


def test_linked_it_is_used_where_it_is(world):
    folder = source(world)
    done = run(world, "link", os.path.relpath(folder, world.root), "--consent")
    assert 'Linking extension "ext"' in done.text
    assert [path.name for path in (world.extensions / "ext").iterdir()] == [".gemini-extension-install.json"]
    (folder / "GEMINI.md").write_text("FIG\n")
    assert "FIG" in world.run(HELLO, "-p", "x").said(0)
    run(world, "uninstall", str(folder))
    assert folder.exists() and listed(world) == {}


def test_what_a_link_leads_to_is_shown_and_kept(world):
    """Whoever turns the link round later has another folder, about which another question is asked."""
    good, bad = world.extend("good", {}, at=world.top / "good"), world.extend("bad", {}, at=world.top / "bad")
    link = world.top / "link"
    link.symlink_to(good)
    assert "from %s. It brings:" % good in run(world, "install", str(link), stdin=b"y\n").text
    link.unlink()
    link.symlink_to(bad)
    assert "already up to date" in run(world, "update", "good").text
    assert "from %s. It brings:" % bad in run(world, "install", str(link), stdin=b"n\n", code=1).text
    assert set(listed(world)) == {"good"}
    assert not (world.home / ".gemini" / "trustedFolders.json").exists()


def test_a_link_of_the_users_is_removed_alone(world):
    folder = source(world)
    world.extensions.mkdir(parents=True)
    (world.extensions / "mine").symlink_to(folder)
    run(world, "uninstall", "ext")
    assert folder.exists() and not (world.extensions / "mine").is_symlink()


def test_what_is_broken_can_be_removed(world):
    world.extend("bad", {"gemini-extension.json": "{"})
    run(world, "uninstall", "bad", "nope", code=1)
    assert not (world.extensions / "bad").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../../project", "ext/skills", ".hidden"])
def test_only_extensions_are_removed(world, name):
    world.extend()
    world.write("kept", "x")
    run(world, "uninstall", name, code=1)
    assert (world.root / "kept").exists() and (world.extensions / "ext" / "gemini-extension.json").exists()


def test_hostile_folders_are_refused_whole(world):
    folder = source(world)
    for bad in ("link", "absolute", "fifo", "socket"):
        made = folder / "skills" / bad
        if bad == "link":
            made.symlink_to("../../../outside")
        elif bad == "absolute":
            made.symlink_to("/etc/passwd")
        elif bad == "fifo":
            os.mkfifo(made)
        else:
            with socket.socket(socket.AF_UNIX) as one:
                here = os.getcwd()
                os.chdir(made.parent)
                one.bind(bad)
                os.chdir(here)
        done = run(world, "install", "--consent", str(folder), code=1)
        assert bad in done.err
        left = [path.name for path in world.extensions.iterdir()] if world.extensions.exists() else []
        assert left == []
        made.unlink()
    run(world, "install", "--consent", str(folder))


def test_what_it_says_of_itself_does_not_act_on_a_terminal(world):
    folder = source(world, version="1\x1b[2J", description="x")
    (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "a\x1b]0;evil\x07\n  instructions: none\u202e"}]}]}}))
    done = run(world, "install", str(folder), stdin=b"n\n", code=1)
    assert "\x1b" not in done.text and "\u202e" not in done.text and "\n  instructions: none" not in done.text


@pytest.mark.parametrize("security,why", [
    ({"allowedExtensions": ["^/nowhere"]}, "allowedExtensions"), ({"blockGitExtensions": True}, None),
])
def test_what_settings_forbid(world, security, why):
    world.settings(security=security)
    done = run(world, "install", "--consent", str(source(world)), code=1 if why else 0)
    assert not why or why in done.err


@pytest.mark.parametrize("steps,user,here", [
    (["disable ext"], False, False), (["disable ext --scope project"], True, False),
    (["disable ext", "enable ext --scope workspace"], False, True),
    (["disable ext --scope workspace", "enable ext"], True, True),
    (["disable ext", "disable ext --scope workspace", "enable ext --scope user"], True, True),  # all beneath it
])
def test_switched(world, steps, user, here):
    world.extend()
    root, world.root = world.root, world.home / "project"  # beneath the home, as most are
    world.root.mkdir()
    try:
        for step in steps:
            word, _, *scope = step.split()
            assert "successfully %sd for scope" % word in run(world, *step.split()).text
        row = listed(world)["ext"]
    finally:
        world.root = root
    assert (row["enabledUser"], row["enabledWorkspace"], row["used"]) == (user, here, here)


def test_rules_that_say_nothing_any_more_are_forgotten(world):
    world.extend()
    world.enablement(ext=["/x/*", "!%s/sub/*" % world.root, "%s/" % world.root, "!%s/*" % world.root], other=["/y/*"])
    run(world, "disable", "ext", "--scope", "workspace")
    kept = json.loads((world.extensions / "extension-enablement.json").read_text())
    assert kept == {"ext": {"overrides": ["/x/*", "!%s/*" % world.root]}, "other": {"overrides": ["/y/*"]}}


def test_new_and_validate(world):
    run(world, "new", "mine")
    assert run(world, "validate", "mine").text == 'Extension "mine" is valid. It brings:\n  instructions: GEMINI.md\n'
    run(world, "link", "mine", "--consent")
    assert listed(world)["mine"]["used"]
    assert "already" in run(world, "new", "mine", code=1).err
    assert "no name" in run(world, "new", "my_ext", code=1).err
    (world.root / "mine" / "gemini-extension.json").write_text('{"name": "mine", "version": "1", "mcpServers": []}')
    assert "not an object" in run(world, "validate", "mine", code=1).text
    assert "gemini-extension.json" in run(world, "validate", ".", code=1).err


@pytest.mark.parametrize("manifest", ["gemini-extension.json", ".claude-plugin/plugin.json"])
def test_hooks_where_they_are_not_read(world, manifest):
    """A guard that would not run is no valid extension, and a warning wherever it is used."""
    folder = world.root / "mine"
    (folder / manifest).parent.mkdir(parents=True)
    (folder / manifest).write_text('{"name": "mine", "version": "1"}')
    hooks = {"hooks": {"BeforeTool" if "gemini" in manifest else "PreToolUse": [
        {"hooks": [{"type": "command", "command": "exit 2"}]}]}}
    (folder / "hooks.json").write_text(json.dumps(hooks))
    assert "move it to hooks/hooks.json" in run(world, "validate", "mine", code=1).text
    assert "hooks that do not run" in run(world, "link", "mine", "--consent").text
    assert "hooks.json is not read" in world.command("hooks", "list").err
    (folder / "hooks").mkdir()
    (folder / "hooks.json").rename(folder / "hooks" / "hooks.json")
    assert "exit 2" in run(world, "validate", "mine").text
    assert "exit 2" in world.command("hooks", "list").text
    if "claude" in manifest:  # which may name any file
        (folder / "hooks" / "hooks.json").rename(folder / "hooks.json")
        (folder / manifest).write_text('{"name": "mine", "version": "1", "hooks": "./hooks.json"}')
        assert "exit 2" in run(world, "validate", "mine").text


@pytest.mark.parametrize("args,code", [
    (["list", "x"], 2), (["enable"], 2), (["enable", "a", "b"], 2), (["install"], 2), (["explode"], 2),
    (["enable", "x", "--json"], 2), (["enable", "nope"], 1), (["install", "nowhere"], 1), (["disable", "nope"], 1),
])
def test_wrong_words(world, args, code):
    assert run(world, *args, code=code).err
