# SPDX-License-Identifier: Apache-2.0
"""Plugins of Claude Code and of Agent Plugins 1.0: installed, shown and used like an extension of Gemini CLI."""
import json
import os

import fake_mcp
import pytest
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(4)

HELLO = [[text("Hello.")]]
SCHEMA = "https://agent-plugins.org/schemas/1.0.0/"


def run(world, *args, code=0, **options):
    done = world.command("extensions", *args, **options)
    assert done.code == code, (done.text, done.err)
    return done


def put(folder, files):
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def claude(world, files=None, name="kit", **manifest):
    """The folder of a plugin of Claude Code."""
    return put(world.top / "work" / name, {".claude-plugin/plugin.json": {"name": name, **manifest}, **(files or {})})


def portable(world, files=None, name="kit", **manifest):
    """One of Agent Plugins 1.0."""
    return put(world.top / "work" / name, {
        "plugin.json": {"$schema": SCHEMA + "plugin.schema.json", "name": name, **manifest}, **(files or {})})


def mcp(**servers):
    return {"$schema": SCHEMA + "mcp.schema.json", "mcpServers": servers}


def install(world, folder):
    return run(world, "install", "--consent", str(folder))


def script(body):
    """A hook that notes what it is given in `seen` of the project, and says something."""
    return "#!/bin/sh\ncat >>\"$CLAUDE_PROJECT_DIR/seen\"; echo >>\"$CLAUDE_PROJECT_DIR/seen\"\n" + body


def seen(world):
    return [json.loads(line) for line in world.read("seen").splitlines()]


def test_all_of_a_claude_plugin_in_one_run(world):
    """Command, skill, agent, server and hook, each of them at work."""
    folder = claude(world, {
        "commands/sum.md": "---\ndescription: Sums.\n---\nSum $ARGUMENTS by ${CLAUDE_PLUGIN_ROOT}/how.md.\n",
        "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nSee ${CLAUDE_PLUGIN_ROOT}/x.\n",
        "agents/critic.md": "---\nname: critic\ndescription: Finds faults.\ntools: Read\n---\n"
                            "You find faults with ${CLAUDE_PLUGIN_ROOT}.\n",
        "hooks/hooks.json": {"description": "d", "hooks": {
            "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat \"${CLAUDE_PLUGIN_ROOT}/say\"",
                                             "timeout": 10}]}],
            "PreToolUse": [{"matcher": "Write|Edit", "hooks": [{"type": "command", "command": "sh \"$CLAUDE_PLUGIN_ROOT/no.sh\""}]}],
        }},
        "say": "from a hook: FIG", "no.sh": script("echo no writing here >&2; exit 2\n"),
        ".mcp.json": {"mcpServers": {"tools": fake_mcp.entry()}},
    }, version="1.2.3", description="All of it.")
    said = install(world, folder).text
    for line in ("command /kit:sum", "skill notes: Writes notes.", "agent critic: Finds faults.", "MCP server tools: run",
                 "hook, which runs outside the sandbox, BeforeTool: sh"):
        assert line in said
    placed = world.extensions / "kit"
    done = world.run([
        [call("mcp_tools_echo", {"text": "called"}), call("activate_skill", {"name": "notes"}),
         call("write_file", {"file_path": "a.txt", "content": "x"}),
         call("invoke_agent", {"agent_name": "critic", "prompt": "Look."})],
        [text("It has faults.")], [text("Done.")]], "-y", "-p", "/kit:sum these", append_only=False)
    assert done.code == 0 and "[WARNING]" not in done.err, done.err
    first = done.said(0)
    assert "Sum these by %s/how.md." % placed in first and "from a hook: FIG" in first
    assert "You find faults with %s." % placed in done.said(1)
    echoed, activated, written, agent = done.results(2)
    assert "called" in str(echoed) and "See %s/x." % placed in activated["output"]
    assert "no writing here" in str(written) and not (world.root / "a.txt").exists()
    assert "It has faults." in str(agent)
    (given,) = seen(world)
    assert (given["hook_event_name"], given["tool_name"]) == ("PreToolUse", "Write")
    assert given["tool_input"]["file_path"].endswith("a.txt") and given["tool_input"]["content"] == "x"


def test_short_names_of_its_commands(world):
    install(world, claude(world, {"commands/sum.md": "Sum $1.\n", "commands/deep/er.md": "Deeper.\n"}))
    for typed, said in (("/sum 1", "Sum 1."), ("/kit:deep:er", "Deeper."), ("/er", "Deeper.")):
        assert said in world.run(HELLO, "-p", typed).said(0)
    mine = world.home / ".gemini" / "commands" / "sum.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text('prompt = "Mine."\n')
    assert "Mine." in world.run(HELLO, "-p", "/sum").said(0)
    assert "Sum 2." in world.run(HELLO, "-p", "/kit:sum 2").said(0)


def test_paths_of_its_manifest(world):
    skill = "---\nname: %s\ndescription: d\n---\nx\n"
    install(world, claude(world, {
        "commands/not.md": "x", "more/one.md": "One.\n", "two.md": "Two.\n",
        "skills/a/SKILL.md": skill % "a", "others/b/SKILL.md": skill % "b", "c/SKILL.md": skill % "c",
        "agents/not.md": "x", "helpers/d.md": "---\nname: d\ndescription: d\n---\nYou help.\n",
        "servers.json": {"tools": {"command": "true"}}, "conf/hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "true"}]}]}},
    }, commands=["./more/", "./two.md"], skills=["./others", "./c"], agents="./helpers/d.md",
        mcpServers=["./servers.json", {"far": {"type": "http", "url": "https://example.org/mcp"}}],
        hooks=["./conf/hooks/hooks.json", {"SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]}]))
    said = run(world).text
    for line in ("command /kit:one", "command /kit:two", "skill a: d", "skill b: d", "skill c: d", "agent d: d",
                 "MCP server tools: run true", "MCP server far: contact https://example.org/mcp", "AfterAgent: true",
                 "SessionEnd: true"):
        assert line in said
    assert "kit:not" not in said and "not.md" not in said
    assert {row["name"] for row in json.loads(world.command("skills", "list", "--json").out)} == {"a", "b", "c"}
    assert "Two." in world.run(HELLO, "-p", "/two").said(0)


def test_variables_of_its_servers(world):
    folder = claude(world, {".mcp.json": {"tools": {
        **fake_mcp.entry("env"), "env": {
            "A": "${CLAUDE_PLUGIN_ROOT}/x", "B": "${CLAUDE_PROJECT_DIR}", "C": "${UNSET:-none} $B",
            "D": "${user_config.the_key}", "E": "${CLAUDE_PLUGIN_DATA}"}}}},
        userConfig={"the_key": {"type": "string", "title": "The key", "description": "A key."}})
    assert "setting The key: CLAUDE_PLUGIN_OPTION_THE_KEY" in install(world, folder).text
    run(world, "config", "kit", "The key", stdin=b"KIWI\n")
    done = world.run([[call("mcp_tools_say", {"what": "env"}), call("mcp_tools_say", {
        "what": "write", "path": str(world.home / ".local/share/hasp-plugins/kit/made")})], [text("Done.")]], "-y", "-p", "x")
    said = str(done.results(1)[0]["output"])
    got = json.loads(said[said.index("{"):said.rindex("}") + 1])
    placed, data = world.extensions / "kit", world.home / ".local/share/hasp-plugins/kit"
    assert (got["A"], got["B"], got["C"]) == (str(placed / "x"), str(world.root), "none $B")
    assert (got["D"], got["CLAUDE_PLUGIN_OPTION_THE_KEY"], got["E"]) == ("KIWI", "KIWI", str(data))
    assert (got["CLAUDE_PLUGIN_ROOT"], got["CLAUDE_PLUGIN_DATA"]) == (str(placed), str(data))
    assert (data / "made").exists()  # outside the sandbox of other servers
    run(world, "uninstall", "kit")
    assert not data.exists()


@pytest.mark.parametrize("answer,blocked,context", [
    ("echo bad >&2; exit 1", True, "ended with exit code 1"),
    ("echo bad >&2; exit 3", True, "ended with exit code 3"),
    ("echo told >&2; echo ignored; exit 2", True, "told"),
    ("""echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "told"}}'""", True, "told"),
    ("""echo '{"decision": "block", "reason": "told"}'""", True, "told"),
    ("""echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'""", False, None),
    ("""echo '{"hookSpecificOutput": {"updatedInput": {"content": "changed"}}}'""", False, None),
    ("echo some text", False, None),
])
def test_what_its_hooks_say(world, answer, blocked, context):
    install(world, claude(world, {"hook.sh": script(answer + "\n"), "hooks/hooks.json": {"hooks": {"PreToolUse": [
        {"matcher": "Write", "hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]}}}))
    done = world.run([[call("write_file", {"file_path": "a", "content": "said"})], [text("Done.")]], "-y", "-p", "x")
    (given,) = seen(world)
    assert given["tool_name"] == "Write"
    if blocked:
        assert context in str(done.results(1)) and not (world.root / "a").exists()
        assert "ignored" not in str(done.results(1))
    else:
        assert world.read("a") == ("changed" if "updatedInput" in answer else "said")


@pytest.mark.parametrize("matcher,names", [
    ("", ["Write", "Bash"]), ("*", ["Write", "Bash"]), ("Bash", ["Bash"]), ("B", []), ("Wr.*", ["Write"]),
    ("write_file", []), ("Edit|Write", ["Write"])])
def test_matchers_of_its_hooks(world, matcher, names):
    install(world, claude(world, {"hook.sh": script(""), "hooks/hooks.json": {"hooks": {"PreToolUse": [
        {"matcher": matcher, "hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]}}}))
    flags = ["--ignore-unknown-rules"] if matcher == "B" else []  # which names no tool
    world.run([[call("write_file", {"file_path": "a", "content": "b"})], [call("run_shell_command", {"command": "true"})],
               [text("Done.")]], "-y", "-p", "x", *flags)
    assert [one["tool_name"] for one in (seen(world) if (world.root / "seen").exists() else [])] == names


CALLS = {
    "push": ("run_shell_command", {"command": "cd . && A=1 git push --force"}),
    "wrapped": ("run_shell_command", {"command": "timeout 9 git 'status'"}),
    "dynamic": ("run_shell_command", {"command": "X=push; git $X"}),
    "echo": ("run_shell_command", {"command": "echo git push"}),
    "odd": ("run_shell_command", {"command": "$(echo echo) x"}),
    "ts": ("write_file", {"file_path": "src/a.ts", "content": "x"}),
    "md": ("write_file", {"file_path": "./src/../doc//b.md", "content": "x"}),
    "linked": ("write_file", {"file_path": "link/c.md", "content": "x"}),
    "read": ("read_file", {"file_path": "src/a.ts"}),
    "far": ("mcp_tools_echo", {"text": "x"}),
}


@pytest.mark.parametrize("rule,meant", [
    ("Bash", "push wrapped dynamic echo odd"), ("Bash(*)", "push wrapped dynamic echo odd"),
    ("Bash(git *)", "push wrapped dynamic odd"), ("Bash(git:*)", "push wrapped dynamic odd"), ("Bash(git push *)", "push dynamic odd"),
    ("Bash(git status *)", "wrapped dynamic odd"), ("Bash(git)", "dynamic odd"), ("Bash(echo git push)", "dynamic echo odd"), ("Bash(* --force)", "push dynamic odd"),
    ("Edit(*.ts)", "ts"), ("Edit(src/**)", "ts"), ("Edit(/src)", "ts"), ("Write(doc/b.md)", "md"), ("Edit(./doc/*)", "md linked"),
    ("Edit(//{root}/doc/**)", "md linked"), ("Read(*.ts)", "read"), ("Edit(~/doc/**)", ""), ("Edit(doc/{a,b,c}.md)", "md linked"),
    ("Edit([)", "ts md linked"), ("mcp__tools", "far"), ("mcp__tools__*", "far"), ("mcp__tools__echo", "far"), ("mcp__tool", ""),
    ("Bash(x", "push wrapped dynamic echo odd ts md linked read far"), ("Other(x)", ""), ("mcp__tools__echo(what:x)", "far"),
])
def test_calls_that_its_hooks_are_for(world, rule, meant):
    put(world.root, {"src/a.ts": "x", "doc/b.md": "x", "doc/c.md": "x"})
    (world.root / "link").symlink_to("doc")
    install(world, claude(world, {
        ".mcp.json": {"tools": fake_mcp.entry()},
        "hook.sh": script("echo no >&2; exit 2\n"), "hooks/hooks.json": {"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command", "if": rule.replace("{root}", str(world.root)[1:]), "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]}}}))
    done = world.run([[call(*one) for one in CALLS.values()], [text("Done.")]], "-y", "-p", "x")
    denied = [name for name, result in zip(CALLS, done.results(1)) if "no" == str(result.get("message", result.get("error", "")))[-2:]]
    assert denied == meant.split(), done.results(1)


def test_hooks_that_nobody_waits_for(world):
    """What it says has no weight; at the end of the session it is ended."""
    waits = 'while [ ! -e "$CLAUDE_PROJECT_DIR/go" ]; do sleep 0.05; done; echo >"$CLAUDE_PROJECT_DIR/seen"; exit 2'
    sleeps = 'cat >"$CLAUDE_PROJECT_DIR/given"; sleep 600'
    install(world, claude(world, {"hooks/hooks.json": {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [
        {"type": "command", "async": True, "command": command} for command in (waits, sleeps)]}]}}}))
    done = world.run([[call("write_file", {"file_path": "go", "content": "x"})],
                      [call("run_shell_command", {"command": "until [ -e seen ] && [ -s given ]; do sleep 0.05; done"})],
                      [text("Done.")]], "-y", "-p", "x")
    assert done.results(1)[0]["success"] and json.loads(world.read("given"))["tool_input"]["file_path"] == str(world.root / "go")


def bare(world, name="kit"):
    """What Claude Code takes for a plugin, too."""
    return put(world.top / "work" / name, {
        "commands/sum.md": "---\ndescription: Sums.\n---\nSum $ARGUMENTS.\n", ".mcp.json": {"far": {"url": "https://example.org/mcp"}},
        "hooks/hooks.json": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]},
        "hook.sh": script("")})


def test_one_without_a_manifest(world):
    folder = bare(world)
    brings = "  MCP server far: contact https://example.org/mcp\n"
    said = run(world, "validate", str(folder)).text
    assert said.startswith('Extension "kit" is valid.') and brings in said and not (folder / ".claude-plugin").exists()
    refused = world.command("extensions", "install", str(folder), stdin=b"n\n")
    assert refused.code == 1 and brings in refused.text and not (world.extensions / "kit").exists()
    assert 'extension "kit"' in install(world, folder).text
    assert "Sum 1." in world.run(HELLO, "-p", "/sum 1").said(0) and len(seen(world)) == 1
    put(folder, {"commands/two.md": "Two."})
    assert "+ command /kit:two" in world.command("extensions", "update", "--consent", "kit").text.replace("+   ", "+ ")
    assert "Two." in world.run(HELLO, "-p", "/two").said(0)
    run(world, "uninstall", "kit")
    run(world, "link", "--consent", str(folder))
    assert "Sum 2." in world.run(HELLO, "-p", "/sum 2").said(0)
    run(world, "uninstall", "kit")
    assert not (folder / ".claude-plugin").exists() and (folder / "commands").exists()


@pytest.mark.parametrize("name", ["a b", "-x"])
def test_one_without_a_manifest_whose_folder_has_no_name_for_it(world, name):
    folder = bare(world, name)
    for action in ("validate", "install", "link"):
        assert 'its "name" must be' in run(world, action, str(folder), code=1).err
    assert not world.extensions.exists() or not list(world.extensions.iterdir())


def test_what_stands_without_a_manifest_among_the_extensions_is_none(world):
    put(world.extensions / "left", {"commands/sum.md": "Sum."})
    done = world.run(HELLO, "-p", "x")
    assert "left is ignored: It has no manifest." in done.err
    assert world.command("-p", "/sum").code != 0


def test_hooks_that_are_words(world):
    said = "it's $HOME \"x\" ${CLAUDE_PROJECT_DIR}"
    shown = install(world, claude(world, {"say.sh": 'printf "%s|" "$@" >"$CLAUDE_PROJECT_DIR/seen"', "hooks/hooks.json": {"hooks": {"SessionStart": [{
        "hooks": [{"type": "command", "command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/say.sh", said, "", "`"]},
                  {"type": "command", "command": "sh", "args": [1]}]}]}}})).text
    assert "SessionStart: sh ${CLAUDE_PLUGIN_ROOT}/say.sh it's $HOME" in shown
    done = world.run([[text("Hello.")]], "-p", "x")
    assert world.read("seen") == "%s||`|" % said.replace("${CLAUDE_PROJECT_DIR}", str(world.root)) and "a hook of SessionStart is left out" in done.err


def test_hooks_on_tools_of_servers_and_on_results(world):
    install(world, claude(world, {
        ".mcp.json": {"tools": fake_mcp.entry()},
        "hook.sh": script("echo look again >&2; exit 2\n"), "hooks/hooks.json": {"hooks": {"PostToolUse": [
            {"matcher": "mcp__tools__.*", "hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]}}}))
    done = world.run([[call("mcp_tools_echo", {"text": "called"})], [text("Done.")]], "-y", "-p", "x")
    (given,) = seen(world)
    assert (given["hook_event_name"], given["tool_name"]) == ("PostToolUse", "mcp__tools__echo")
    # A result is the model's all the same, with the reason.
    assert "called" in str(done.results(1)) and "look again" in done.said(1)


def test_a_hook_at_the_end_sends_the_model_on(world):
    install(world, claude(world, {"hook.sh": script('[ "$(wc -l <"$CLAUDE_PROJECT_DIR/seen")" -gt 1 ] && exit 0\n'
                                                    "echo go on >&2; exit 2\n"),
                                  "hooks/hooks.json": {"hooks": {"Stop": [
                                      {"hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hook.sh"}]}]}}}))
    done = world.run([[text("One.")], [text("Two.")]], "-p", "x")
    assert "go on" in done.said(1) and [one["hook_event_name"] for one in seen(world)] == ["Stop", "Stop"]


def test_what_hasp_does_not_use_is_named(world):
    folder = claude(world, {
        "output-styles/x.md": "x", "bin/tool": "x", "hooks/hooks.json": {"hooks": {
            "SubagentStop": [{"hooks": [{"type": "command", "command": "true"}]}],
            "Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}, {"type": "command", "command": "true", "if": "y"}]}],
            "SessionStart": [{"hooks": [{"type": "command", "command": "true", "shell": "powershell"},
                                        {"type": "command", "command": "true", "asyncRewake": True, "statusMessage": "x", "once": True}]}]}},
    }, lspServers={}, futureThing=1, hooks={"Other": []}, mcpServers="./x.mcpb")
    (folder / "x.mcpb").write_text("x")
    done = run(world, "validate", str(folder))
    named = [line[len("  not used by hasp: "):] for line in done.text.splitlines() if line.startswith("  not used by hasp: ")]
    assert sorted(named) == sorted([
        "language servers", "output styles: x.md", "programs for the search path (bin/): tool", '"futureThing" of the manifest',
        "hooks of the event SubagentStop", "hooks of the event Other", 'hooks of Stop of the type "prompt"',
        'hooks of Stop that have an "if", which is for those of tools', "hooks of SessionStart for PowerShell",
        '"asyncRewake" of SessionStart hooks is not supported',
        "MCP servers in bundles (./x.mcpb)"])
    assert done.err == ""
    install(world, folder)
    (row,) = run(world, "list", "--json").json
    assert (row["format"], row["version"]) == ("Claude Code plugin", "no version") and sorted(row["unused"]) == sorted(named)
    assert "Format: Claude Code plugin" in run(world).text and "language servers" in run(world).text
    assert "[WARNING]" not in world.run(HELLO, "-p", "x").err


@pytest.mark.parametrize("member,value", [
    ("commands", "../outside"), ("commands", "/etc"), ("commands", ["./a/../../outside"]), ("skills", "./none"),
    ("agents", 7), ("agents", [""]), ("hooks", "../outside/hooks.json"), ("mcpServers", "/etc/passwd"),
    ("commands", "./\x1b[2Jx\u202e"), ("mcpServers", {"a": 1}), ("userConfig", {"a b": {}}), ("hooks", "./broken.json"),
])
def test_hostile_manifests(world, member, value):
    put(world.top / "work" / "outside", {"x.md": "MANGO", "hooks.json": {"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "MANGO"}]}]}}})
    folder = claude(world, {"broken.json": "{"}, **{member: value})
    done = run(world, "validate", str(folder), code=0 if value == 7 else 1)
    assert "\x1b" not in done.err + done.text and "\u202e" not in done.err + done.text
    said = install(world, folder).text
    assert "MANGO" not in said and "x.md" not in said and "/x" not in said
    assert world.run(HELLO, "-p", "x").code == 0


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a..b", "x" * 65, "a\x1b[2J", 7, None])
def test_names_that_count_for_none(world, name):
    for make in (claude, portable):
        folder = make(world)
        for file in ("plugin.json", ".claude-plugin/plugin.json"):
            if (folder / file).exists():
                manifest = json.loads((folder / file).read_text())
                (folder / file).write_text(json.dumps({**manifest, "name": name}))
        done = run(world, "install", "--consent", str(folder), code=1)
        assert "\x1b" not in done.err and not world.extensions.exists()
        for file in folder.rglob("*.json"):
            file.unlink()


@pytest.mark.parametrize("file", [".claude-plugin/plugin.json", "plugin.json"])
def test_manifests_that_are_none(world, file):
    folder = world.top / "work" / "kit"
    for content in ("", "{", "[]", "x" * (1 << 22), "[" * 100000, '{"name": "kit"'):
        put(folder, {file: content})
        run(world, "install", "--consent", str(folder), code=1)
    (folder / file).unlink()
    (folder / file).symlink_to("/etc/hostname")
    run(world, "install", "--consent", str(folder), code=1)
    assert not world.extensions.exists()


def test_links_in_a_linked_plugin_lead_nowhere_else(world):
    folder = claude(world, {"commands/a.md": "x"})
    put(world.top / "work" / "outside", {"c.md": "MANGO", "s/SKILL.md": "---\nname: s\ndescription: MANGO\n---\nMANGO\n"})
    (folder / "commands" / "c.md").symlink_to(world.top / "work" / "outside" / "c.md")
    (folder / "skills").symlink_to(world.top / "work" / "outside")
    (folder / ".mcp.json").symlink_to("/etc/hostname")
    run(world, "link", "--consent", str(folder))
    done = world.run([], "-p", "/c")
    assert "MANGO" not in done.text and "MANGO" not in world.command("skills", "list").text
    assert run(world, "install", "--consent", str(folder), code=1).err


def test_disabled_removed_updated_and_changed(world):
    folder = claude(world, {"commands/sum.md": "Sum.\n"}, version="1")
    install(world, folder)
    run(world, "disable", "kit")
    assert world.command("-p", "/kit:sum", server=world.fake([])).code == 42
    run(world, "enable", "kit")
    put(folder, {".claude-plugin/plugin.json": {"name": "kit", "version": "2"}, "commands/more.md": "More.\n"})
    said = run(world, "update", "kit", stdin=b"y\n").text
    assert "+ command /kit:more" in said and "1 -> 2" in said
    (world.extensions / "kit" / "commands" / "sum.md").write_text("Other.\n")
    done = world.command("-p", "/kit:sum", server=world.fake([]))
    assert done.code == 42 and "changed since you approved them" in run(world).err
    run(world, "uninstall", "kit")
    assert not (world.extensions / "kit").exists()


def test_what_claude_code_has_installed_is_not_used(world):
    cache = world.home / ".claude" / "plugins" / "cache" / "market" / "kit" / "1.0.0"
    put(cache, {".claude-plugin/plugin.json": {"name": "kit"}, "commands/sum.md": "Sum.\n"})
    put(world.root, {".claude-plugin/plugin.json": {"name": "mine"}, "commands/go.md": "Go.\n"})
    assert run(world).text == "No extensions installed.\n"
    assert world.command("-p", "/sum", server=world.fake([])).code == 42


def test_of_several_manifests_the_richest_counts(world):
    folder = claude(world, {"plugin.json": {"$schema": SCHEMA + "plugin.schema.json", "name": "of-all"}}, name="of-claude")
    assert '"of-claude" is valid' in run(world, "validate", str(folder)).text
    put(folder, {"gemini-extension.json": {"name": "of-gemini", "version": "1"}})
    assert '"of-gemini" is valid' in run(world, "validate", str(folder)).text


@pytest.mark.parametrize("named,ran", [("./hooks/hooks.json", 1), ("./other/hooks/hooks.json", 2)])
def test_hooks_of_the_usual_file_and_of_another(world, named, ran):
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo \"%s\" >>\"$CLAUDE_PROJECT_DIR/seen\""}]}]}}
    install(world, claude(world, {
        "hooks/hooks.json": json.loads(json.dumps(hooks).replace("%s", "usual")),
        "other/hooks/hooks.json": json.loads(json.dumps(hooks).replace("%s", "other"))}, hooks=named))
    world.run(HELLO, "-p", "x")
    assert sorted(world.read("seen").split()) == ["other", "usual"][2 - ran:]


# ---- Agent Plugins 1.0 ----


def test_a_portable_plugin_at_work(world):
    folder = portable(world, {
        "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes notes.\n---\nKIWI\n",
        "bin/server": "#!/bin/sh\nexec %s\n" % " ".join(fake_mcp.words("env")),
        "mcp.json": mcp(tools={"type": "stdio", "command": "./bin/server", "args": ["${PLUGIN_ROOT}", "$HOME ${HOME}"], "env": {
            "A": "${PLUGIN_ROOT}/x", "B": "${PLUGIN_DATA}/y", "C": "${HOME} $HOME ${CLAUDE_PLUGIN_ROOT} ${extensionPath}"}},
            far={"type": "streamable-http", "url": "https://example.org/mcp", "headers": {"X-Tenant": "${PLUGIN_ROOT}"}}),
        "commands/no.md": "x", "hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "false"}]}]}},
        "GEMINI.md": "MANGO\n", "policies/no.toml": '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 1\n',
    }, name="acme.kit", version="3", extensions={"com.example.client": {"x": 1}})
    os.chmod(folder / "bin" / "server", 0o755)
    said = install(world, folder).text
    assert "skill notes: Writes notes." in said and "not used by hasp: what it has for com.example.client" in said
    assert "MCP server tools: run ${PLUGIN_ROOT}/bin/server" in said and "reads the variable" not in said
    for other in ("no.md", "command", "hook,", "instructions", "rules"):
        assert other not in said
    done = world.run([[call("mcp_tools_say", {"what": "env"}), call("activate_skill", {"name": "notes"})],
                      [text("Done.")]], "-y", "-p", "x")
    placed, data = world.extensions / "acme.kit", world.home / ".local/share/hasp-plugins/acme.kit"
    told, activated = done.results(1)
    got = json.loads(str(told["output"])[str(told["output"]).index("{"):str(told["output"]).rindex("}") + 1])
    assert (got["A"], got["B"]) == (str(placed / "x"), str(data / "y"))
    assert got["C"] == "${HOME} $HOME ${CLAUDE_PLUGIN_ROOT} ${extensionPath}"
    assert (got["PLUGIN_ROOT"], got["PLUGIN_DATA"], data.is_dir()) == (str(placed), str(data), True)
    assert "KIWI" in activated["output"] and "MANGO" not in done.said(0)
    (row,) = run(world, "list", "--json").json
    assert (row["name"], row["format"], row["version"]) == ("acme.kit", "Agent Plugins 1.0", "3")


@pytest.mark.parametrize("entry", [
    {"type": "stdio"}, {"command": "true"}, {"type": "http", "url": "https://example.org"}, 7, None,
    {"type": "stdio", "command": "/bin/true"}, {"type": "stdio", "command": "../true"}, {"type": "stdio", "command": "./../true"},
    {"type": "stdio", "command": "./link"}, {"type": "stdio", "command": "true", "url": "https://example.org"},
    {"type": "stdio", "command": "true", "args": [1]}, {"type": "stdio", "command": "true", "env": {"PLUGIN_ROOT": "x"}},
    {"type": "stdio", "command": "true", "cwd": "data"}, {"type": "stdio", "command": "true", "cwd": "./../x"},
    {"type": "stdio", "command": "true", "cwd": "${PLUGIN_DATA}/../x"}, {"type": "stdio", "command": "true", "cwd": "/"},
    {"type": "stdio", "command": "${PLUGIN_ROOT}"}, {"type": "stdio", "command": "true", "trust": True},
    {"type": "sse", "url": "http://example.org"}, {"type": "sse", "url": "https://me@example.org"},
    {"type": "sse", "url": "https://example.org/#x"}, {"type": "sse", "url": "ftp://example.org"},
    {"type": "sse", "url": "http://127.evil.example/"}, {"type": "sse", "url": "http://localhost.evil.example/"},
    {"type": "sse", "url": "https://example.org", "headers": {"a": "1", "A": "2"}},
    {"type": "sse", "url": "https://example.org", "headers": {"a": "1\r\nb: 2"}},
])
def test_servers_that_break_the_rules_are_left_out_alone(world, entry):
    folder = portable(world, {"mcp.json": mcp(bad=entry, good={"type": "stdio", "command": "true", "cwd": "./"})})
    (folder / "link").symlink_to("/bin/true")
    assert '"bad" of mcp.json is ignored' in run(world, "validate", str(folder), code=1).text
    (folder / "link").unlink()
    (folder / "link").write_text("x")
    said = install(world, folder).text
    assert "MCP server good: run true" in said
    assert "MCP server bad" not in said or entry == {"type": "stdio", "command": "./link"}


@pytest.mark.parametrize("entry", [
    {"type": "stdio", "command": "true", "cwd": "${PLUGIN_DATA}/x"}, {"type": "stdio", "command": "true", "cwd": "${PLUGIN_ROOT}"},
    {"type": "sse", "url": "http://127.0.0.1:80/x"}, {"type": "sse", "url": "http://[::1]/"}, {"type": "sse", "url": "http://localhost"},
    {"type": "streamable-http", "url": "https://example.org/x?y=1"},
])
def test_servers_that_keep_the_rules(world, entry):
    done = run(world, "validate", str(portable(world, {"mcp.json": mcp(it=entry)})))
    assert "MCP server it: " in done.text and not done.err


@pytest.mark.parametrize("content", [
    "{", "[]", {}, {"mcpServers": {"x": {"type": "stdio", "command": "true"}}},
    {**mcp(x={"type": "stdio", "command": "true"}), "more": 1},
    {**mcp(x={"type": "stdio", "command": "true"}), "$schema": SCHEMA.replace("1.0.0", "1.1.0") + "mcp.schema.json"},
])
def test_a_broken_list_of_servers_leaves_the_skills(world, content):
    folder = portable(world, {"mcp.json": content, "skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\nx\n"})
    assert "mcp.json are ignored" in run(world, "validate", str(folder), code=1).text
    said = install(world, folder).text
    assert "skill a: d" in said and "MCP server" not in said


@pytest.mark.parametrize("more,fine", [
    ({"unknown": 1}, True), ({"extensions": []}, True), ({"version": "not semantic"}, True), ({"homepage": "x"}, True),
    ({"version": 1}, False), ({"author": "me"}, False), ({"author": {"phone": "1"}}, False), ({"keywords": [1]}, False),
    ({"$schema": SCHEMA.replace("1.0.0", "2.0.0") + "plugin.schema.json"}, False), ({"$schema": None}, False),
    ({"name": "Kit"}, False), ({"name": "a--b"}, False), ({"name": "a_b"}, False),
])
def test_its_closed_manifest(world, more, fine):
    folder = portable(world, **{key: value for key, value in more.items() if key != "name"})
    if "name" in more:
        (folder / "plugin.json").write_text(json.dumps({"$schema": SCHEMA + "plugin.schema.json", **more}))
    done = world.command("extensions", "install", "--consent", str(folder))
    assert (done.code == 0) == fine, done.err
    if fine and "unknown" in more:
        assert '"unknown" is not a member of Agent Plugins 1.0' in run(world, "validate", str(folder), code=1).text
