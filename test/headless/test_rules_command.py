# SPDX-License-Identifier: Apache-2.0
"""hasp policy allow, ask, deny, remove: rules for good, written by a command."""
import json
import tomllib

import pytest
from fake_gemini import call, text

OK = "touch made"


def saved(world):
    path = world.home / ".gemini/policies/auto-saved.toml"
    return path.read_text() if path.exists() else ""


def policy(world, *words, code=0):
    done = world.command("policy", *words)
    assert done.code == code, done.err
    return done


def runs(world):
    """Whether `touch made` runs in a run that cannot ask."""
    done = world.run([[call("run_shell_command", {"command": OK})], [text("Done.")]], "-p", "Go.", whole=False)
    made = world.root / "made"
    found = made.exists()
    made.unlink(missing_ok=True)
    return found and done.code == 0


def test_allowed_for_good_and_taken_away_again(world):
    assert not runs(world)
    done = policy(world, "allow", OK)
    assert 'Allowed from now on: commands that begin with "touch made".' in done.text
    assert "Written to %s/.gemini/policies/auto-saved.toml" % world.home in done.text
    assert runs(world)
    policy(world, "deny", OK)
    assert not runs(world) and saved(world).count("[[rule]]") == 1
    policy(world, "remove", OK)
    assert saved(world).strip() == "" and not runs(world)
    assert "no such rule" in policy(world, "remove", OK, code=1).err


@pytest.mark.parametrize("words", [["Bash(npm test:*)"], ["ShellTool(npm test)"], ["run_shell_command", "npm test"],
                                   ["npm test"], ["run_shell_command(npm test)"]])
def test_words_of_other_agents(world, words):
    document = json.loads(policy(world, "allow", *words, "--json").text)
    assert (document["commandPrefix"], document["decision"]) == ("npm test", "allow")
    assert 'commandPrefix = [ "npm test" ]' in saved(world)


def test_a_tool_and_a_path(world):
    policy(world, "allow", "web_fetch")
    policy(world, "deny", "--path", "generated")
    policy(world, "ask", "mcp_git_push")
    text_of = policy(world, "list", "--scope", "user").text
    assert "allow    web_fetch" in text_of and "mcp_git_push" in text_of and "generated" in text_of
    assert "default:" not in text_of
    done = world.run([[call("write_file", {"file_path": "generated/a", "content": "x"})], [text("No.")]],
                     "-p", "Go.", "-y", whole=False)
    assert not (world.root / "generated").exists() and "denied_by_policy" in json.dumps(done.results())


def test_comments_and_other_rules_stay(world):
    file = world.home / ".gemini/policies/auto-saved.toml"
    file.parent.mkdir(parents=True)
    kept = '# mine\n[[rule]]\ntoolName = "glob"\ndecision = "allow"\npriority = 1\n# of the next\n\n'
    file.write_text(kept + '[[rule]]\ntoolName = "ShellTool"\ncommandPrefix = "npm test"\ndecision = "allow"\n'
                    'priority = 950\n\n[[rule]]\ntoolName = "web_fetch"\ndecision = "ask_user"\npriority = 5\n')
    policy(world, "remove", "npm test")
    assert saved(world) == kept + '[[rule]]\ntoolName = "web_fetch"\ndecision = "ask_user"\npriority = 5\n'


def test_a_rule_whose_end_cannot_be_found_is_refused(world):
    file = world.home / ".gemini/policies/auto-saved.toml"
    file.parent.mkdir(parents=True)
    odd = ('[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "npm test"\ndenyMessage = """\n[[rule]]\n"""\n'
           'decision = "deny"\npriority = 9\n')
    file.write_text(odd)
    assert "remove it by hand" in policy(world, "remove", "npm test", code=1).err
    assert saved(world) == odd


def test_a_file_that_is_no_toml_is_left_alone(world):
    file = world.home / ".gemini/policies/auto-saved.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[[rule]\n")
    assert "auto-saved.toml" in policy(world, "allow", "npm test", code=1).err and saved(world) == "[[rule]\n"


def test_a_rule_that_another_one_overrides_is_not_called_allowed(world):
    (world.home / ".gemini/policies").mkdir(parents=True)
    (world.home / ".gemini/policies/strict.toml").write_text(
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "npm"\ndecision = "deny"\npriority = 999\n')
    done = policy(world, "allow", "npm test")
    assert "Allowed" not in done.text and "another rule decides here: " in done.text and "strict.toml" in done.text


def test_a_projects_rule_counts_once_it_is_allowed(world):
    done = policy(world, "allow", OK, "--scope", "project")
    assert (world.root / ".gemini/policies/auto-saved.toml").exists() and not saved(world)
    assert "Allowed" not in done.text and "hasp config allow .gemini/policies" in done.err
    assert world.command("config", "allow", ".gemini/policies").code == 0
    assert runs(world)


@pytest.mark.parametrize("words, why", [
    (["allow"], "Name a command"), (["allow", "a && b"], "several"), (["allow", "write_file"], "No rule allows every edit"),
    (["allow", "--path", "x"], "not allow"), (["deny", "x", "--path", "y"], "Name a command"),
    (["allow", "npm", "test"], "takes no arguments"), (["allow", "a", "b", "c"], "does not take"),
    (["check"], "requires a tool"), (["forbid", "x"], "ACTION")])
def test_what_cannot_be_a_rule_is_refused(world, words, why):
    done = world.command("policy", *words)
    assert done.code in (1, 2) and why in done.err and not saved(world), done.err


# What people bring from other agents, and the rule that it is: members of the rule in the file.
EDITORS = ["safe_patch", "write_file", "update_file", "apply_changes", "update_data", "update_notebook"]
FORMS = [
    ("Bash(npm run:*)", {"toolName": "run_shell_command", "commandPrefix": ["npm run"]}),
    ("Bash(npm run *)", {"toolName": "run_shell_command", "commandPrefix": ["npm run"]}),
    ("npm run *", {"toolName": "run_shell_command", "commandPrefix": ["npm run"]}),
    ("npm:*", {"toolName": "run_shell_command", "commandPrefix": ["npm"]}),
    ("ls", {"toolName": "run_shell_command", "commandPrefix": ["ls"]}),
    ("Bash(*)", {"toolName": "run_shell_command"}), ("Bash()", {"toolName": "run_shell_command"}),
    ("Bash", {"toolName": "run_shell_command"}), ("shell", {"toolName": "run_shell_command"}),
    ("Edit", {"toolName": EDITORS}), ("Edit(*)", {"toolName": EDITORS}), ("Write(**)", {"toolName": EDITORS}),
    ("apply_patch", {"toolName": EDITORS}), ("replace", {"toolName": EDITORS}), ("update_file", {"toolName": "update_file"}),
    ("Edit(src/**)", {"path": "src/**"}), ("Write(./src)", {"path": "./src"}), ("Edit(//etc/x)", {"path": "/etc/x"}),
    ("mcp__git__push", {"toolName": "mcp_git_push"}), ("mcp__git", {"toolName": "mcp_git_*"}),
    ("mcp__git__*", {"toolName": "mcp_git_*"}), ("mcp_git_push", {"toolName": "mcp_git_push"}),
    ("WebFetch", {"toolName": "web_fetch"}), ("WebFetch(domain:*)", {"toolName": "web_fetch"}),
    ("discovered_tool_x", {"toolName": "discovered_tool_x"}),
]


def rule_of(world):
    rules = tomllib.loads(saved(world))["rule"]
    assert len(rules) == 1
    return {name: value for name, value in rules[0].items() if name in ("toolName", "commandPrefix", "path", "mcpName")}


@pytest.mark.parametrize("form,rule", FORMS)
def test_each_form_is_a_rule_that_decides(world, form, rule):
    done = policy(world, "deny", form)
    assert rule_of(world) == rule and done.text.startswith("Denied from now on: "), done.text
    policy(world, "remove", form)
    assert not saved(world).strip()
    if "commandPrefix" in rule or "mcp_" in str(rule) or rule["toolName" if "toolName" in rule else "path"] == "web_fetch":
        assert policy(world, "allow", form).text.startswith("Allowed from now on: ")


# What no rule can say, what is answered, and whether only `allow` is refused.
NO_RULES = [
    ("Bash(*)", "No rule allows every command.", True), ("Bash", "--yolo", True),
    ("Edit", "general.defaultApprovalMode", True), ("Write(*)", "No rule allows every edit.", True),
    ("update_file", "No rule allows every edit.", True), ("Edit(src/**)", "can deny or ask, not allow", True),
    ("Bash(npm run*)", 'can only be its last word: "npm run *"', False), ("Bash(git * main)", "its last word", False),
    ("git * main", "its last word", False), ("Edit(*.ts)", "name a file or a folder", False),
    ("Edit(/etc/x)", 'or "//etc/x" for one at the root', False), ("Edit(../x)", "cannot be in it", False),
    ("Read(.env)", "--deny PATH", False), ("Grep(x)", "--deny PATH", False),
    ("WebFetch(domain:x.org)", "one host", False), ("Skill(deploy)", "argsPattern", False),
    ("Task(reviewer)", "takes no arguments here", False), ("mcp__git(push)", "mcp_SERVER_TOOL", False),
    ("mcp__", "mcp_SERVER_TOOL", False), ("*", "No rule is about every call.", False), ("nonesuch(x)", "Unknown tool", False),
    ('prefix_rule(pattern=["git", "push"], decision="allow")', "name its first words", False),
    ("Bash(a && b)", "is several", False),
]


@pytest.mark.parametrize("form,why,only_allow", NO_RULES)
def test_a_form_that_no_rule_can_say_is_refused_and_nothing_is_written(world, form, why, only_allow):
    for action in ("allow",) if only_allow else ("allow", "deny", "ask"):
        done = policy(world, action, form, code=2)
        assert (why in done.err or (action == "allow" and "not allow" in done.err)) and not saved(world), done.err


def test_denied_edits_are_denied_to_every_tool(world):
    policy(world, "deny", "Edit")
    (world.root / "a").write_text("x\n")
    calls = [call("write_file", {"file_path": "b", "content": "x"}),
             call("update_file", {"file_path": "a", "old_content": "x", "new_content": "y"}),
             call("apply_changes", {"changes": [{"kind": "create", "file_path": "c", "content": "x"}]}),
             call("safe_patch", {"file_path": "a", "unified_diff": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"})]
    done = world.run([calls, [text("No.")]], "-p", "Go.", "-y", whole=False)
    assert (world.root / "a").read_text() == "x\n" and not (world.root / "b").exists() and not (world.root / "c").exists()
    assert [one["error"]["code"] for one in done.results()] == ["denied_by_policy"] * 4, done.results()
