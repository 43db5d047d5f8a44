# SPDX-License-Identifier: Apache-2.0
"""What an extension that Gemini CLI installed brings is used in place: one test for each part."""
import json

import fake_mcp
import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]


def server(*args, **more):
    return fake_mcp.entry(*args, **more)


def declared(done, i=0):
    return {tool["name"] for group in done.sent[i]["tools"] for tool in group.get("functionDeclarations", [])}


def rows(world, **options):
    done = world.command("mcp", "list", "--json", **options)
    assert done.code == 0, done.err
    listed = {}
    for row in done.json:
        listed.setdefault(row["name"], row)
    return listed


def test_all_of_one_in_one_run(world):
    """A server's tool called, a command run, context sent, a skill listed and activated, a hook run, a tool
    excluded, a policy's word kept."""
    folder = world.extend("kit", {
        "GEMINI.md": "Say MANGO.\n@./more.md\n", "more.md": "And PAPAYA.\n",
        "commands/git/sum.toml": 'prompt = "Sum {{args}} @{%s}"\ndescription = "Sums."\n' % "notes.txt",
        "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nRead ref.md.\n",
        "skills/notes/ref.md": "The word is KIWI.\n",
        "hooks/hooks.json": {"hooks": {"BeforeAgent": [{"hooks": [{
            "type": "command", "name": "told", "command": "cat ${extensionPath}${/}said.json"}]}]}},
        "said.json": json.dumps({"hookSpecificOutput": {"additionalContext": "from a hook: FIG"}}),
        "policies/no.toml": '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 100\n'
                            'deny_message = "no globs here"\n',
    }, mcpServers={"tools": server(cwd="${extensionPath}")}, excludeTools=["web_fetch", "run_shell_command(rm)"])
    world.write("notes.txt", "from the file: PLUM")
    done = world.run([
        [call("mcp_tools_echo", {"text": "called"}), call("activate_skill", {"name": "notes"}),
         call("glob", {"pattern": "*"}), call("run_shell_command", {"command": "rm notes.txt"})],
        [call("read_file", {"file_path": str(folder / "skills/notes/ref.md")})],
        [text("Done.")]], "-y", "-p", "/git:sum these")
    assert done.code == 0 and "no globs here" in done.err and "[WARNING]" not in done.err
    first = done.said(0)
    for word in ("MANGO", "PAPAYA", "FIG", "PLUM", "Sum these", "notes: Writes notes."):
        assert word in first
    assert str(folder / "GEMINI.md") in first
    assert "web_fetch" not in declared(done) and "mcp_tools_echo" in declared(done)
    echoed, activated, globbed, removed = done.results(1)
    assert "called" in str(echoed) and "Read ref.md." in activated["output"]
    assert 'from="extension kit"' in activated["output"]
    assert globbed["error"]["code"] == "denied_by_policy" and removed["error"]["code"] == "denied_by_policy"
    assert "KIWI" in done.results(2)[-1]["content"] and (world.root / "notes.txt").exists()


def test_context_shows_its_file(world):
    folder = world.extend(files={"a.md": "Say MANGO.\n", "b.md": "Say FIG.\n"}, contextFileName=["a.md", "none.md", "b.md"])
    world.write("GEMINI.md", "Say PLUM.\n")
    listed = world.run([], "context").text
    files = [folder / "a.md", folder / "b.md", world.root / "GEMINI.md"]
    assert sorted(files, key=lambda file: listed.index(str(file))) == files and "none.md" not in listed
    shown = world.run([], "context", "show", "first").text
    assert shown.index("MANGO") < shown.index("FIG") < shown.index("PLUM")


@pytest.mark.parametrize("name", ["../out.md", "/etc/hostname", "link.md"])
def test_context_does_not_lead_out(world, name):
    folder = world.extend(contextFileName=name)
    (world.extensions / "out.md").write_text("MANGO")
    (folder / "link.md").symlink_to("../out.md")
    done = world.run(HELLO, "-p", "x")
    assert "MANGO" not in done.said(0)


def test_variables(world):
    world.settings(mcpServers={})
    folder = world.extend("kit", {".env": 'PLAIN="of the \\"file\\" $HOME"\nOTHER=unlisted\n'},
                          settings=[{"name": "Plain", "description": "d", "envVar": "PLAIN"},
                                    {"name": "Unset", "description": "d", "envVar": "UNSET"}],
                          mcpServers={"tools": server("env", env={
                              "A": "${extensionPath}${/}x", "B": "${workspacePath}", "C": "$PLAIN|${OTHER:-none}",
                              "D": "$FROM_ENV", "E": "${UNSET:-default}", "F": "${nonsense"})})
    done = world.run([[call("mcp_tools_say", {"what": "env"})], [text("Done.")]], "-y", "-p", "x",
                     env={"FROM_ENV": "set", "PLAIN": "of the environment"})
    said = str(done.results(1)[0]["output"])
    got = json.loads(said[said.index("{"):said.rindex("}") + 1])
    assert (got["A"], got["B"]) == (str(folder / "x"), str(world.root))
    assert got["C"].startswith("of the ") and "$HOME" in got["C"] and got["C"].endswith("|none")
    assert (got["D"], got["E"], got["F"]) == ("set", "default", "${nonsense")
    assert got["PLAIN"].startswith("of the ") and "environment" not in got["PLAIN"]  # also without being named


@pytest.mark.parametrize("linked", ["by Gemini CLI", "by a symbolic link"])
def test_hooks_of_a_linked_folder_run_once_they_are_trusted(world, linked):
    hooks = {"BeforeAgent": [{"hooks": [{"type": "command", "command": "echo ran >>'%s'" % (world.top / "log")}]}]}
    source = world.extend("kit", {"hooks/hooks.json": {"hooks": hooks}}, at=world.top / "source" / "kit")
    world.extensions.mkdir(parents=True, exist_ok=True)
    if linked == "by Gemini CLI":
        (world.extensions / "kit").mkdir()
        (world.extensions / "kit" / ".gemini-extension-install.json").write_text(
            json.dumps({"source": str(source), "type": "link"}))
    else:
        (world.extensions / "kit").symlink_to(source)
    said = world.run(HELLO, "-p", "x").err
    assert "not trusted" in said and not (world.top / "log").exists()
    assert world.command("hooks", "trust", stdin=b"y\n").code == 0
    world.run(HELLO, "-p", "x")
    assert (world.top / "log").read_text() == "ran\n"
    changed = {"BeforeAgent": [{"hooks": [{"type": "command", "command": "echo other >>'%s'" % (world.top / "log")}]}]}
    (source / "hooks" / "hooks.json").write_text(json.dumps({"hooks": changed}))
    world.run(HELLO, "-p", "x")
    assert (world.top / "log").read_text() == "ran\n"


def test_values_are_the_environment_of_hooks(world):
    world.extend("kit", {".env": "PLAIN=secret of it\n", "hooks/hooks.json": {"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "name": "told", "command": "printf %s \"$PLAIN\" >\"$GEMINI_PROJECT_DIR/seen\""}]}]}}},
        settings=[{"name": "Plain", "description": "d", "envVar": "PLAIN"}])
    world.run(HELLO, "-p", "x")
    assert world.read("seen") == "secret of it"


def test_the_users_server_of_the_name_wins(world):
    world.settings(mcpServers={"tools": {"command": "true"}})
    world.extend(mcpServers={"tools": server(), "more": server(trust=True, sandbox={"network": True})})
    listed = rows(world)
    assert listed["tools"]["origin"] == "user settings" and listed["more"]["origin"] == "extension ext"
    assert listed["more"]["file"].endswith("ext/gemini-extension.json")
    assert "trust" not in str(listed["more"]) or listed["more"].get("trust") in (None, False)


def test_its_server_is_not_trusted_and_not_less_confined(world):
    world.extend(mcpServers={"more": server(trust=True, sandbox={"workspace": "write"})})
    done = world.run([[call("mcp_more_say", {"what": "write", "path": str(world.root / "made")})], [text("Done.")]],
                     "-p", "x")
    assert done.code != 0 or done.results(1)[0]["error"]["code"].startswith("denied")
    world.run([[call("mcp_more_say", {"what": "write", "path": str(world.root / "made")})], [text("Done.")]],
              "-y", "-p", "x")
    assert not (world.root / "made").exists()


def test_users_may_add_to_its_server(world):
    world.settings(mcpServers={"more": {"timeout": 4321}})
    world.extend(mcpServers={"more": server()})
    assert rows(world)["more"]["origin"] == "extension ext"


@pytest.mark.parametrize("user,names", [
    ({}, {"go": "kit", "deep:er": "kit"}),
    ({"go": "user"}, {"go": "user", "kit.go": "kit", "deep:er": "kit"}),
    ({"model": "user"}, {"user.model": "user", "go": "kit"}),
])
def test_names_of_commands(world, user, names):
    for name, word in user.items():
        path = world.home / ".gemini" / "commands" / (name + ".toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('prompt = "by %s"\n' % word)
    world.extend("kit", {"commands/go.toml": 'prompt = "by kit"\n', "commands/deep/er.toml": 'prompt = "by kit"\n'})
    for name, word in names.items():
        assert "by " + word in world.run(HELLO, "-p", "/" + name).said(0)


def test_commands_of_two_extensions_and_of_claude_code(world):
    for name in ("one", "two"):
        world.extend(name, {"commands/go.toml": 'prompt = "by %s"\n' % name,
                            "commands/mine.toml": 'prompt = "by %s"\n' % name if name == "one" else "x"})
    path = world.home / ".claude" / "commands" / "mine.md"
    path.parent.mkdir(parents=True)
    path.write_text("by claude\n")
    assert "by one" in world.run(HELLO, "-p", "/one.go").said(0)
    assert "by two" in world.run(HELLO, "-p", "/two.go").said(0)
    assert "by claude" in world.run(HELLO, "-p", "/mine").said(0)
    done = world.command("-p", "/go", server=world.fake([]))
    assert done.code == 42


def test_its_skill_is_below_the_users(world):
    for folder in (world.home / ".gemini" / "skills" / "notes", world.extend() / "skills" / "notes"):
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: notes\ndescription: In %s.\n---\nx\n" % folder.parent.parent.name)
    rows = json.loads(world.command("skills", "list", "--json").out)
    extension = next(row["from"] for row in rows if row["from"] != "user").split()[1]
    assert {row["name"]: row["description"] for row in rows} == {
        "notes": "In .gemini.", extension + ":notes": "In %s." % extension}
    assert world.run(HELLO, "-p", "x").err == ""


def test_a_policy_of_it_allows_nothing(world):
    world.extend(files={"policies/yes.toml": '[[rule]]\ntoolName = "write_file"\ndecision = "allow"\npriority = 900\n'})
    done = world.run([[call("write_file", {"file_path": "a", "content": "b"})], [text("No.")]], "-p", "x")
    assert not (world.root / "a").exists() and done.results(1)[0]["error"]


def test_hooks_are_listed(world):
    folder = world.extend("kit", {"hooks/hooks.json": {"hooks": {"AfterTool": [{"matcher": "glob", "hooks": [
        {"type": "command", "command": "${extensionPath}/x", "name": "x"}]}]}}})
    (row,) = [row for row in json.loads(world.command("hooks", "list", "--json").out) if row["source"] == "extension"]
    assert (row["event"], row["command"]) == ("AfterTool", str(folder / "x"))
