# SPDX-License-Identifier: Apache-2.0
"""hasp policy allow, ask, deny, remove: rules for good, written by a command."""
import json

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
    (["allow"], "Name a command"), (["allow", "a && b"], "several"), (["allow", "write_file"], "for which arguments"),
    (["allow", "--path", "x"], "not allow"), (["deny", "x", "--path", "y"], "Name a command"),
    (["allow", "npm", "test"], "takes no arguments"), (["allow", "a", "b", "c"], "does not take"),
    (["check"], "requires a tool"), (["forbid", "x"], "ACTION")])
def test_what_cannot_be_a_rule_is_refused(world, words, why):
    done = world.command("policy", *words)
    assert done.code in (1, 2) and why in done.err and not saved(world), done.err
