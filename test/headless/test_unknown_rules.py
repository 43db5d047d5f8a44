# SPDX-License-Identifier: Apache-2.0
"""A rule that restricts and names what does not exist ends the start; one that allows is a warning."""
import json

import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]
RULE = '[[rule]]\ntoolName = %s\ndecision = "%s"\npriority = 1\n%s'
SERVERS = {"mcpServers": {"github": {"command": "true"}}}

CALLERS = {"hasp": {"a2a": {"callers": {"builder": {"key": "0" * 64}}}}}


def rule(name, decision="deny", more=""):
    return RULE % (json.dumps(name), decision, more)


def hooks(matcher, event="BeforeTool"):
    return {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]}]}}


def claude(matcher):
    settings = hooks(matcher)
    settings["hooks"]["BeforeTool"][0]["format"] = "claude"
    return settings


# Settings, the user's rules, the project's rules; what the error names, NULL: the run starts.
LOST = [
    ({}, rule("wirte_file"), "", 'my.toml:1: There is no tool "wirte_file"; did you mean "write_file"?'),
    ({}, rule(["write_file", "SmartEditTol"]), "", "SmartEditTool"),
    ({}, rule("nothing_like_it", "ask_user"), "", '"nothing_like_it"'),
    ({}, "", rule("wirte_file"), "project.toml:1: "),
    ({}, "", "x = \n", "project.toml: Not TOML"),
    ({}, "", rule("glob", "deny", 'modes = ["yollo"]\n'), "project.toml"),
    ({}, "", rule("glob", "deny", 'argsPattern = "("\n'), "project.toml:1: "),
    ({}, "", rule("x", "deny", 'mcpName = "nosuch"\n'), '"nosuch"'),
    (SERVERS, rule("x", "deny", 'mcpName = "gihub"\n'), "", 'did you mean "github"?'),
    (SERVERS, rule("mcp_gihub_delete"), "", 'did you mean "github"?'),
    (CALLERS, rule("glob", "deny", 'caller = "bulder"\n'), "", 'There is no caller "bulder"; did you mean "builder"?'),
    (CALLERS, rule("glob", "deny", 'caller = ["builder", "tokn"]\n'), "", 'did you mean "token"?'),
    (SERVERS, rule("mcp__gihub__delete"), "", 'did you mean "github"?'),
    ({"tools": {"exclude": ["RunShelCommand"]}}, "", "", 'settings.json:1: tools.exclude: There is no tool "RunShelCommand"'),
    ({"tools": {"core": ["read_file", "gerp"]}}, "", "", '"gerp"'),
    ({"tools": {"confirmationRequired": ["wirte_file(x)"]}}, "", "", '"wirte_file"'),
    (hooks("wirte_file|replace"), "", "", '.gemini/settings.json:1: The hook "true" never runs for "wirte_file"'),
    (claude("Wri"), "", "", '.gemini/settings.json:1: The hook "true" never runs for "Wri"'),
    ({"hasp": {"sandbox": {"level": "landlok"}}}, "", "", "hasp.sandbox.level"),
    ({"general": {"defaultApprovalMode": "pln"}}, "", "", "general.defaultApprovalMode"),
    ({"tools": {"exclude": "write_file"}}, "", "", "tools.exclude"),
    ({"security": {"disableYoloMode": "yes"}}, "", "", "security.disableYoloMode"),
    ({"tools": {"exlude": ["glob"]}}, "", "", 'unknown setting "tools.exlude"; did you mean "tools.exclude"?'),
    ({"security": ["disableYoloMode"]}, "", "", '"security" must be an object'),
    (hooks("wirte_file", "AfterTool"), "", "", '"wirte_file"'),
    ({**SERVERS, **hooks("mcp_gihub_delete")}, "", "", 'did you mean "github"?'),
    ({**SERVERS, **hooks("mcp__gihub__delete")}, "", "", 'did you mean "github"?'),
]
FINE = [
    # Known, elsewhere, not configured here, found later, patterns.
    ({}, rule(["SmartEditTool", "Bash", "default_api.glob", "readFile"]), ""),
    ({}, rule(["NotebookEdit", "browser_agent", "TaskCreate"]), ""),
    ({}, rule("x", "deny", 'mcpName = "linear"\n'), ""),
    (CALLERS, rule("glob", "deny", 'caller = ["builder", "token"]\n'), ""),
    (CALLERS, rule("glob", "allow", 'caller = "someone-else"\n'), rule("glob", "deny", 'caller = "of-ours"\n')),
    (SERVERS, rule(["mcp_linear_x", "mcp__linear__x", "mcp_github_anything", "github__x", "mcp_*", "discovered_tool_x"]), ""),
    ({}, rule(["cli_help", "codebase_investigator", "wirte_*", "*"], "ask_user"), ""),
    ({"tools": {"exclude": ["ShellTool", "NotebookEdit"]}}, "", ""),
    (hooks("write|.*Edit.*|NotebookEdit|mcp__x__y"), "", ""),
    (hooks("wirte_file", "SessionStart"), "", ""),
    (hooks("Wri"), "", ""),
    (hooks("^(?:Wirte)$"), "", ""),
    (claude("Write|Edit|mcp__x__y"), "", ""),
    ({**SERVERS, **hooks("mcp_github_delete|mcp__github__x|mcp_linear_y")}, "", ""),
    ({"hooks": {"SessionStart": [{"type": "command"}], "SesionEnd": [], "Other": []}}, "", ""),
]


def put(world, settings, users, projects):
    world.settings(**settings)
    for top, name, content in ((world.home, "my.toml", users), (world.root, "project.toml", projects)):
        if content:
            folder = top / ".gemini" / "policies"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)


@pytest.mark.parametrize("settings,users,projects,named", LOST)
def test_what_restricts_must_exist(world, settings, users, projects, named):
    put(world, settings, users, projects)
    for mode in ("default", "plan"):
        done = world.command("-p", "x", "--approval-mode", mode, env={"GEMINI_API_KEY": "k"})
        assert done.code == 52 and named in done.err and "--ignore-unknown-rules" in done.err
        assert done.err.count(named) <= 2
    # What only looks says so and goes on.
    if not settings.get("hasp") and "modes" not in projects:
        assert world.command("policy", "list").code == 0
    done = world.run(HELLO, "-p", "x", "--ignore-unknown-rules")
    assert done.code == 0 and "Hello." in done.text


@pytest.mark.parametrize("settings,users,projects", FINE)
def test_what_nothing_could_be_called_by_is_no_mistake(world, settings, users, projects):
    put(world, settings, users, projects)
    done = world.run(HELLO, "-p", "x")
    assert done.code == 0 and "There is no" not in done.err and "no effect" not in done.err


def test_what_has_no_effect_is_said_by_policy_check(world):
    put(world, {}, rule(["NotebookEdit", "mcp_linear_x"], more='caller = "planner"\n'), "")
    done = world.command("policy", "check", "glob")
    assert 'only other agents have the tool "NotebookEdit"' in done.err
    assert 'nothing is configured as "linear"' in done.err
    assert 'hasp.a2a.callers has no "planner"' in done.err


def test_what_allows_is_a_warning(world):
    put(world, {"tools": {"allowed": ["Nix"]}}, rule("wirte_file", "allow"), "")
    done = world.run(HELLO, "-p", "x")
    assert '[WARNING]' in done.err and '"wirte_file"' in done.err and '"Nix"' in done.err


def test_a_project_cannot_switch_it_off(world):
    put(world, {}, rule("wirte_file"), "")
    (world.root / ".gemini").mkdir(exist_ok=True)
    (world.root / ".gemini" / "settings.json").write_text('{"hasp": {"ignoreUnknownRules": true}}')
    assert world.command("-p", "x", env={"GEMINI_API_KEY": "k"}).code == 52


WRITE = [[call("write_file", {"file_path": "a.txt", "content": "x"})], [text("Done.")]]


@pytest.mark.parametrize("where", ["home", "root"])
def test_policies_in_one_file_count(world, where):
    folder = getattr(world, where) / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "policies.toml").write_text(rule("ReplaceTool") + rule("WriteFileTool"))
    world.run(WRITE, "-p", "x", "-y")
    assert not (world.root / "a.txt").exists()
    (folder / "policies.toml").write_text("x = \n")
    assert world.command("-p", "x", env={"GEMINI_API_KEY": "k"}).code == 52


def test_a_projects_single_file_allows_once_it_is_allowed(world):
    folder = world.root / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "policies.toml").write_text(rule("write_file", "allow"))
    done = world.run(WRITE, "-p", "x")
    assert not (world.root / "a.txt").exists() and "hasp config allow .gemini/policies" in done.err
    assert world.command("config", "allow", ".gemini/policies").code == 0
    world.run(WRITE, "-p", "x")
    assert (world.root / "a.txt").read_text() == "x"


@pytest.mark.parametrize("field", ["Wirte", "[Bash, wirte_file]", "5", "[Bash, 5]", "[Bash, [Write]]"])
def test_an_agent_whose_list_is_wrong_is_not_used(world, field):
    folder = world.home / ".gemini" / "agents"
    folder.mkdir()
    (folder / "fruit.md").write_text("---\nname: fruit\ndescription: Does it.\ndisallowedTools: %s\n---\nWork.\n" % field)
    done = world.command("agents", "list")
    assert "fruit" not in done.text and "disallowedTools" in done.err


# Every other place where a tool can be named: the words of the command, what it says, whether it goes on.  (Rules, the
# settings tools.*, hooks' matchers: LOST above, with errors for what restricts.)
NAMED = [
    (("-p", "x", "--allowed-tools", "wirte_file"), 'did you mean "write_file"?', True),
    (("tool", "wirte_file"), 'did you mean "write_file"?', False),
    (("serve", "mcp", "--tools", "read_file,wirte_file"), 'did you mean "write_file"?', False),
    (("serve", "mcp", "--exclude-tools", "wirte_file"), 'did you mean "write_file"?', False),
]
AGENT = "---\nname: fruit\ndescription: Does it.\n%s: [read_file, wirte_file]\n---\nWork.\n"
IN_FILES = [
    (".gemini/agents/fruit.md", AGENT % "tools", True), (".gemini/agents/fruit.md", AGENT % "disallowedTools", False),
    (".claude/agents/fruit.md", AGENT % "tools", True), (".claude/agents/fruit.md", AGENT % "disallowedTools", False),
]


@pytest.mark.parametrize("words,named,runs", NAMED)
def test_a_name_on_the_command_line_is_looked_up(world, words, named, runs):
    done = world.run(HELLO, *words) if runs else world.command(*words, stdin=b"{}")
    assert named in done.err + done.text and (done.code == 0) == runs, done.err


@pytest.mark.parametrize("path,content,used", IN_FILES)
def test_a_name_in_an_agents_list_is_looked_up(world, path, content, used):
    (world.home / path).parent.mkdir(parents=True, exist_ok=True)
    (world.home / path).write_text(content)
    done = world.command("agents", "list")
    assert '"wirte_file"; did you mean "write_file"?' in done.err, done.err
    assert ("fruit" in done.text) == used


def test_a_name_in_an_extensions_list_is_looked_up(world):
    folder = world.home / ".gemini" / "extensions" / "ext"
    folder.mkdir(parents=True)
    (folder / "gemini-extension.json").write_text(json.dumps({"name": "ext", "version": "1", "excludeTools": ["wirte_file"]}))
    done = world.command("policy", "check", "glob", "{}")
    assert '"wirte_file"; did you mean "write_file"?' in done.err


# ---- hooks that could refuse something, and cannot run -------------------------------------------------------------

GUARD = [{"matcher": "", "hooks": [{"type": "command", "command": "exit 2"}]}]
GEMINI, CLAUDE = ".gemini/settings.json", ".claude/settings.json"


def of_type(kind, event="BeforeTool", **more):
    return {event: [{"hooks": [{"type": kind, **more}]}]}


# Where hooks stand, what stands there, what the error says.
LOST_HOOKS = [
    (GEMINI, {"BeforeTools": GUARD}, 'settings.json:3: there is no event "BeforeTools"; did you mean "BeforeTool"?'),
    (GEMINI, {"PreToolUse": GUARD}, 'there is no event "PreToolUse"; did you mean "BeforeTool"?'),
    (GEMINI, {"UserPromptSubmit": GUARD}, 'did you mean "BeforeAgent"?'),
    (GEMINI, {"before_tool": GUARD}, 'did you mean "BeforeTool"?'),
    (GEMINI, {"BeforeTool": GUARD[0]}, '"hooks.BeforeTool" must be an array'),
    (GEMINI, {"BeforeTool": GUARD[0]["hooks"]}, 'settings.json:3: an entry of BeforeTool is left out'),
    (GEMINI, of_type("http", url="https://x.example"), 'not of the type "http"'),
    (GEMINI, of_type("command"), 'it needs "type": "command" and a "command"'),
    (GEMINI, of_type("command", "AfterTool", command=5), 'a hook of AfterTool is left out'),
    (GEMINI, {"Nothing": 1}, '"hooks.Nothing" must be an array'),
    (GEMINI, {"PreCompress": [{"hooks": [{"type": "command", "command": "true %d" % i} for i in range(1000)]}],
              "BeforeTool": GUARD}, "1 of its hooks is left out"),
    (CLAUDE, {"PreToolUses": GUARD}, 'settings.json:3: there is no event "PreToolUses"; did you mean "PreToolUse"?'),
    (CLAUDE, {"BeforeTool": GUARD}, 'there is no event "BeforeTool"; did you mean "PreToolUse"?'),
    (CLAUDE, of_type("prompt", "PreToolUse", prompt="Is it safe?"), 'settings.json:3: hasp cannot run hooks of PreToolUse of the type "prompt"'),
    (CLAUDE, of_type("command", "UserPromptSubmit", command="x", shell="powershell"), 'hooks of UserPromptSubmit for PowerShell'),
    (CLAUDE, {"PreToolUse": GUARD[0]["hooks"]}, "entries of PreToolUse without"),
    (CLAUDE, {"PreToolUse": GUARD[0]}, "hooks of PreToolUse that are no list"),
    (CLAUDE, "{", "settings.json: "),
    (".gemini/hooks.toml", '\n[[hooks.BeforeTools]]\nhooks = []\n', 'hooks.toml:2: there is no event "BeforeTools"'),
    (".gemini/hooks.toml", '[hooks.BeforeTool]\nhooks = [ { type = "agent" } ]\n', 'hooks.toml:1: a hook of BeforeTool'),
    (".gemini/hooks.toml", "x = \n", "hooks.toml: "),
    (".gemini/trusted_hooks.json", "[", "trusted_hooks.json: "),
]
FINE_HOOKS = [
    (CLAUDE, {event: GUARD for event in ("WorktreeCreate", "TeammateIdle", "PermissionRequest", "SubagentStop", "Setup")}),
    (CLAUDE, of_type("prompt", "Stop", prompt="Is it done?")), (CLAUDE, of_type("http", "PostToolUse", url="x")),
    (CLAUDE, {"SomethingNew": GUARD}), (CLAUDE, {"PostToolUseX": GUARD}), (GEMINI, of_type("http", "SessionEnd")),
    (GEMINI, {"PermissionRequest": GUARD}), (".gemini/hooks.toml", "[hooks.SesionEnd]\nhooks = []\n"),
]


def put_hooks(world, where, said, top):
    path = top / where
    path.parent.mkdir(exist_ok=True)
    lines = said if isinstance(said, str) else '{\n  "hooks": {\n' + json.dumps(said)[1:] + "\n}"
    path.write_text(lines)


@pytest.mark.parametrize("where,said,named", LOST_HOOKS)
@pytest.mark.parametrize("top", ["home", "root"])
def test_a_guard_that_cannot_run_ends_the_start(world, where, said, named, top):
    if top == "root" and "trusted_hooks" in where:
        put_hooks(world, GEMINI, {"BeforeTool": GUARD}, world.root)
    put_hooks(world, where, said, world.home if "trusted_hooks" in where else getattr(world, top))
    if top == "home" and "trusted_hooks" in where:
        return
    done = world.command("-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and named in done.err and "--ignore-unknown-rules" in done.err, done.err
    tool = world.command("tool", "--hooks", "glob", "-a", "pattern=*")
    assert tool.code != 0 and named in tool.err + tool.text
    assert world.command("hooks", "list").code == 0
    done = world.run(HELLO, "-p", "x", "--ignore-unknown-rules")
    assert done.code == 0 and "Hello." in done.text
    # Without hooks none is lost.
    if top == "home" and where != GEMINI:
        world.settings(hooksConfig={"enabled": False})
        assert world.run(HELLO, "-p", "x").code == 0


@pytest.mark.parametrize("where,said", FINE_HOOKS)
def test_hooks_that_could_not_refuse_are_no_mistake(world, where, said):
    put_hooks(world, where, said, world.home)
    assert world.run(HELLO, "-p", "x").code == 0
    done = world.command("hooks", "list")
    assert any(words in done.text + done.err for words in ("no event", "no such event", "not used by hasp", "left out"))


# ---- settings that restrict ------------------------------------------------------------------------------------------

def rows_that_restrict(world):
    """(path, a value of the wrong type, one that is no choice) of each, from the program's own schema."""
    def walk(schema, path):
        for name, below in [*schema.get("properties", {}).items(), ("*", schema.get("additionalProperties"))]:
            if isinstance(below, dict) and "x-hasp" not in below:
                yield from walk(below, (*path, name))
            elif below:
                yield ".".join((*path, name)), below

    for path, row in walk(world.command("config", "schema").json, ()):
        if row["x-hasp"]["project"] in ("only true", "only false"):
            assert row["x-hasp"]["restricts"], path
        if row["x-hasp"]["restricts"]:
            yield path.replace("*", "BeforeNothing"), "nosuch" if "enum" in row else 5.5 if row["type"] != "integer" else "many"


def nested(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def test_every_setting_that_restricts_must_have_a_value_of_its_own(world):
    rows = list(rows_that_restrict(world))
    paths = {path for path, _ in rows}
    assert {"hasp.sandbox.level", "hasp.sandbox.keepPaths", "hasp.sandbox.syscalls", "hasp.worker", "tools.exclude", "hooks.BeforeTool",
            "security.disableYoloMode", "hasp.hooks.onError", "policyPaths", "mcp.excluded", "hasp.telemetry.logDetails"} <= paths
    for path, wrong in rows:
        for value in (wrong, {} if wrong == 5.5 else [], None):
            world.settings(**nested(path, value))
            done = world.command("-p", "x", env={"GEMINI_API_KEY": "k"})
            if isinstance(value, dict) and done.code != 52 and path in (
                    "mcpServers", "agents.overrides", "hasp.a2a.callers", "hasp.reviewers.groups"):
                continue  # an object is right
            assert done.code == 52 and '"%s" must be' % path in done.err, (path, value, done.err)
            # A project cannot loosen anything by it, either, where it may set it.
    world.settings()


@pytest.mark.parametrize("command", [("tool", "glob", "-a", "pattern=*"), ("sandbox", "--", "true")])
@pytest.mark.parametrize("path,value", [("hasp.sandbox.level", "ful"), ("hasp.sandbox.syscalls", "@clock"), ("hasp.sandbox.keepPaths", "x"),
                                        ("tools.sandboxNetworkAccess", "false"), ("hasp.worker", "x"), ("hasp.sandbox.levl", "full")])
def test_what_confines_must_be_understood_by_every_command(world, command, path, value):
    world.settings(**nested(path, value))
    done = world.command(*command)
    assert done.code != 0 and '"%s"' % path in done.err + done.text


def test_protections_without_effect_are_said(world):
    world.settings(tools={"sandbox": "docker"}, security={"toolSandboxing": True})
    done = world.run(HELLO, "-p", "x")
    assert "tools.sandbox has no effect" in done.err and "security.toolSandboxing has no effect" in done.err
    assert "hasp.sandbox.level" in done.err
