# SPDX-License-Identifier: Apache-2.0
"""A rule that restricts and names what does not exist ends the start; one that allows is a warning."""
import json

import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]
RULE = '[[rule]]\ntoolName = %s\ndecision = "%s"\npriority = 1\n%s'
SERVERS = {"mcpServers": {"github": {"command": "true"}}}


def rule(name, decision="deny", more=""):
    return RULE % (json.dumps(name), decision, more)


def hooks(matcher, event="BeforeTool"):
    return {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]}]}}


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
    (SERVERS, rule("mcp__gihub__delete"), "", 'did you mean "github"?'),
    ({"tools": {"exclude": ["RunShelCommand"]}}, "", "", 'settings.json:1: tools.exclude: There is no tool "RunShelCommand"'),
    ({"tools": {"core": ["read_file", "gerp"]}}, "", "", '"gerp"'),
    ({"tools": {"confirmationRequired": ["wirte_file(x)"]}}, "", "", '"wirte_file"'),
    (hooks("wirte_file|replace"), "", "", '"wirte_file"'),
    ({"hasp": {"sandbox": {"level": "landlok"}}}, "", "", "hasp.sandbox.level"),
    ({"general": {"defaultApprovalMode": "pln"}}, "", "", "general.defaultApprovalMode"),
    ({"tools": {"exclude": "write_file"}}, "", "", "tools.exclude"),
    ({"security": {"disableYoloMode": "yes"}}, "", "", "security.disableYoloMode"),
]
FINE = [
    # Known, elsewhere, not configured here, found later, patterns.
    ({}, rule(["SmartEditTool", "Bash", "default_api.glob", "readFile"]), ""),
    ({}, rule(["NotebookEdit", "browser_agent", "TaskCreate"]), ""),
    ({}, rule("x", "deny", 'mcpName = "linear"\n'), ""),
    (SERVERS, rule(["mcp_linear_x", "mcp__linear__x", "mcp_github_anything", "github__x", "mcp_*", "discovered_tool_x"]), ""),
    ({}, rule(["cli_help", "codebase_investigator", "wirte_*", "*"], "ask_user"), ""),
    ({"tools": {"exclude": ["ShellTool", "NotebookEdit"]}}, "", ""),
    (hooks("write|.*Edit.*|NotebookEdit|mcp__x__y"), "", ""),
    (hooks("wirte_file", "SessionStart"), "", ""),
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
    put(world, {}, rule(["NotebookEdit", "mcp_linear_x"]), "")
    done = world.command("policy", "check", "glob")
    assert 'only other agents have the tool "NotebookEdit"' in done.err
    assert 'nothing is configured as "linear"' in done.err


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


@pytest.mark.parametrize("field", ["Wirte", "[Bash, wirte_file]", "5"])
def test_an_agent_whose_list_is_wrong_is_not_used(world, field):
    folder = world.home / ".gemini" / "agents"
    folder.mkdir()
    (folder / "fruit.md").write_text("---\nname: fruit\ndescription: Does it.\ndisallowedTools: %s\n---\nWork.\n" % field)
    done = world.command("agents", "list")
    assert "fruit" not in done.text and "disallowedTools" in done.err


def test_protections_without_effect_are_said(world):
    world.settings(tools={"sandbox": "docker"}, security={"toolSandboxing": True})
    done = world.run(HELLO, "-p", "x")
    assert "tools.sandbox has no effect" in done.err and "security.toolSandboxing has no effect" in done.err
    assert "hasp.sandbox.level" in done.err
