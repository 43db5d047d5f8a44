# SPDX-License-Identifier: Apache-2.0
"""What needed a permission that nobody was there to give: lines on standard error, the flags that would
allow it, exit code 56; and when that is not what happened, 0."""
import json
import re
import shlex

import pytest
from fake_gemini import call, text
from test_permissions import hook, say

SHELL = call("run_shell_command", {"command": "touch made; echo made it"})
WRITE = call("write_file", {"file_path": "new.txt", "content": "new\n"})
REPORT = call("request_permission", {"tools": ["write_file", "run_shell_command"],
                                     "reason": "The build cannot be run."})


def ask(world, calls, *args, **options):
    return world.run([[*calls], [text("Done.")]], "-p", "Do it.", *args, **options)


def rule(world, tool, decision, pattern):
    """A file with one rule."""
    path = world.top / "rules.toml"
    path.write_text('[[rule]]\ntoolName = "%s"\nargsPattern = "%s"\ndecision = "%s"\n'
                    'priority = 900\n' % (tool, pattern, decision))
    return path


def last_line(done):
    return done.err.splitlines()[-1]


# ---- it is said, with flags that help ------------------------------------------------------------

CALLS = {
    "write": WRITE,
    "many files": call("apply_changes", {"changes": [
        {"kind": "create", "file_path": "made", "content": "x"}]}),
    "commands": SHELL,
    "one command": call("run_shell_command", {"command": "git init -q sub"}),
    "a redirection": call("run_shell_command", {"command": "echo x > made"}),
    "anything": call("run_shell_command", {"command": "sh -c 'touch made'"}),
    "memory": call("save_memory", {"fact": "Tabs."}),
}


def flags_in(line):
    """Each way that the sentence names, as arguments."""
    told = re.search(r"What would allow it: (.*?)\.(?: |$)", line)[1]
    ways = [shlex.split(re.sub(r" \(-y\)", "", way)) for way in
            re.findall(r'--[a-z-]+ (?:"[^"]*"|[\w,]*\w)(?: \(-y\))?', told)]
    return ways + ([["-y"]] if "(-y)" in told else [])


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("name", CALLS)
def test_each_way_that_is_named_helps(world, name):
    done = ask(world, [CALLS[name]])
    assert done.code == 56 and done.text == "Done.\n"
    assert last_line(done).startswith("hasp: Nothing was changed, because this run had no way to ask for approval: ")
    ways = flags_in(last_line(done))
    assert len(ways) >= (1 if name == "a redirection" else 2) and "or a policy rule" in last_line(done)
    for way in ways:
        for path in world.root.iterdir():
            path.is_dir() or path.unlink()
        allowed = ask(world, [CALLS[name]], *way)
        assert (allowed.code, allowed.err) == (0, ""), way


PAIRS = [("write", "commands"), ("commands", "anything"), ("a redirection", "memory"), ("write", "a redirection"),
         ("one command", "memory"), ("write", "memory")]


@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_each_way_that_is_named_suffices_for_all_that_was_refused(world, names):
    done = ask(world, [CALLS[name] for name in names])
    ways = flags_in(last_line(done))
    assert done.code == 56 and ways, done.err
    for way in ways:
        for path in world.root.iterdir():
            path.is_dir() or path.unlink()
        allowed = ask(world, [CALLS[name] for name in names], *way)
        assert (allowed.code, allowed.err) == (0, ""), way


@pytest.mark.parametrize("word", ["`touch made`", "$HOME", "!!"])
def test_no_way_that_is_named_does_something_when_it_is_pasted(world, word):
    done = ask(world, [call("run_shell_command", {"command": "'%s' x" % word})])
    ways = last_line(done).split("What would allow it:")[1]
    assert done.code == 56 and word not in ways and "--allowed-tools run_shell_command," in ways


def test_each_refused_call_has_its_line(world):
    done = ask(world, [WRITE, SHELL])
    lines = done.err.splitlines()
    assert [line.split(" failed: ")[0] for line in lines[:-1]] == [
        "[ERROR] write_file (new.txt)", "[ERROR] run_shell_command (touch made; echo made it)"]
    assert "write_file (new.txt), run_shell_command (touch made; echo made it)" in lines[-1]
    assert "--approval-mode yolo (-y)" in lines[-1]


def test_trust_is_named_where_it_comes_first(world):
    env = {"GEMINI_CLI_TRUST_WORKSPACE": None}
    done = ask(world, [WRITE], env=env)
    assert done.code == 56 and last_line(done).endswith(
        'That mode requires a trusted folder: hasp config trust, or --skip-trust for one run.')
    assert ask(world, [WRITE], "--approval-mode", "auto_edit", "--skip-trust", env=env).code == 0


def test_a_forbidden_mode_is_not_named(world):
    world.settings(security={"disableYoloMode": True})
    done = ask(world, [SHELL])
    assert done.code == 56 and "yolo" not in last_line(done)
    assert "--allowed-tools" in last_line(done)


def test_permissions_beyond_the_sandbox(world):
    done = ask(world, [call("run_shell_command", {
        "command": "true", "additional_permissions": {"network": True}})], "-y")
    assert done.code == 56 and "--net" in last_line(done) and "--allowed" not in last_line(done)


def test_a_hook_that_wants_somebody_asked(world):
    hook(world, "BeforeTool", say(decision="ask", systemMessage="Is it Sunday?"), "write_file")
    done = ask(world, [WRITE], "-y")
    message = done.results()[0]["message"]
    assert done.code == 56 and "Is it Sunday?" in message and "--allowed-tools" not in message
    assert "hook" in last_line(done) and "--approval-mode" not in last_line(done)


# ---- what the model reports itself ---------------------------------------------------------------

def test_the_model_reports_what_it_lacks(world):
    done = ask(world, [REPORT])
    assert done.code == 56 and done.results()[0]["message"].startswith("The user is informed.")
    assert "write_file, run_shell_command. What would allow it: --approval-mode yolo (-y), or " \
        "--allowed-tools write_file,run_shell_command, or a policy rule. " \
        "The model says: The build cannot be run." in last_line(done)
    assert "call request_permission" in done.said(0)


def test_only_what_is_off_can_be_reported(world):
    done = ask(world, [call("request_permission", {"tools": [name], "reason": "x"})
                       for name in ("read_file", "nonesuch")])
    assert done.code == 0
    assert [result["error"]["code"] for result in done.results()] == ["invalid_argument"] * 2


@pytest.mark.parametrize("args", [["-y"], ["--approval-mode", "plan"]])
def test_where_nothing_could_be_allowed_it_is_not_named_and_says_so(world, args):
    """It is declared, as every tool is in every mode: what was sent stays as it was."""
    done = ask(world, [call("request_permission", {"tools": ["run_shell_command"],
                                                   "reason": "No tests."})], *args)
    assert done.code == 0 and "request_permission" not in json.dumps(done.sent[0]["contents"])
    assert done.results()[0]["error"]["code"] == "denied_by_policy"


def test_a_report_stays_though_other_work_was_done(world):
    done = ask(world, [call("write_file", {"file_path": "a", "content": "a"}),
                       call("request_permission", {"tools": ["run_shell_command"],
                                                   "reason": "No tests."})],
               "--approval-mode", "auto_edit")
    assert done.code == 56 and "Not all of it was done" in last_line(done)


# ---- what is none of that ------------------------------------------------------------------------

def test_a_question_that_reading_answers(world):
    world.write("a.txt", "alpha\n")
    done = ask(world, [call("read_file", {"file_path": "a.txt"})])
    assert (done.code, done.text, done.err) == (0, "Done.\n", "")


def test_a_permitted_way_was_found(world):
    for other, code in [(WRITE, 0), (call("list_directory", {"dir_path": "."}), 56)]:
        done = world.run([[call("apply_changes", {"changes": [
            {"kind": "create", "file_path": "made", "content": "x"}]})], [other], [text("Done.")]],
            "-p", "x", "--policy", rule(world, "write_file", "allow", "new"))
        assert done.code == code and done.err.startswith("[ERROR] apply_changes (create made)")


def test_a_list_of_allowed_commands_is_the_users_word(world):
    """Models of build servers try other commands too: that the list forbids them is no news."""
    done = ask(world, [SHELL], "--allowed-tools", "run_shell_command(echo)")
    assert done.code == 0 and done.err.count("\n") == 1


@pytest.mark.parametrize("decision", ["deny", "ask_user"])
def test_a_rule_that_denies_is_not_for_want_of_anybody(world, decision):
    done = ask(world, [WRITE], "--policy", rule(world, "write_file", decision, "new"),
               "--approval-mode", "auto_edit")
    assert done.code == (0 if decision == "deny" else 56) and "[ERROR] write_file" in done.err


def test_plan_mode_is_its_own_reason(world):
    assert ask(world, [WRITE], "--approval-mode", "plan").code == 0


def test_failures_that_have_nothing_to_do_with_it(world):
    done = ask(world, [call("read_file", {"file_path": "none.txt"})])
    assert done.code == 0 and done.err.startswith("[ERROR] read_file (none.txt) failed: ")
    assert done.err.count("\n") == 1


# ---- formats -------------------------------------------------------------------------------------

def test_json_has_the_answer_and_the_error(world):
    done = ask(world, [WRITE], "-o", "json")
    assert done.code == 56 and done.json["response"] == "Done." and done.json["stats"]
    error = done.json["error"]
    assert (error["type"], error["code"]) == ("FatalPermissionError", 56)
    assert last_line(done) == "hasp: " + error["message"] and "write_file" in error["message"]


def test_stream_json_ends_with_the_error(world):
    done = ask(world, [WRITE], "-o", "stream-json")
    (result,) = done.of_type("result")
    assert done.code == 56 and result["status"] == "error" and result["stats"]["tool_calls"] == 1
    assert result["error"]["type"] == "FatalPermissionError"
    assert json.loads(done.out.splitlines()[-1]) == result
    assert last_line(done) == "hasp: " + result["error"]["message"]


# ---- Gemini CLI's words, which its scripts look for --------------------------------------------

def test_the_words_of_a_denial(world):
    done = ask(world, [SHELL])
    assert 'Tool "run_shell_command" not found: it is off (default:' in done.err
    assert "This run has no way to ask" in str(done.results()[0])
    done = ask(world, [SHELL], "--policy", str(rule(world, "run_shell_command", "deny", "touch")))
    assert "Tool execution denied by policy: run_shell_command (%s:" % (world.top / "rules.toml") in done.err
    assert "not found" not in done.err
