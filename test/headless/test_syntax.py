# SPDX-License-Identifier: Apache-2.0
"""Commands that bash cannot read: the model is told what and where; nothing is run and nobody is asked."""
import json
import sys

import pytest
from fake_gemini import call, text


def shell(command):
    return call("run_shell_command", {"command": command})


def run(world, *calls, mode="default", **options):
    return world.run([list(calls), [text("Done.")]], "-p", "Go.", "--approval-mode", mode, **options)


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("mode", ["default", "yolo"])
@pytest.mark.parametrize("command, what, where", [
    ("touch mark\nif", "unexpected end of file", "line 2, column 3"),
    ("touch mark > > x", "syntax error near unexpected token `>'", "line 1, column 12: > > x"),
    ("touch mark; echo 'a", "unexpected EOF while looking for matching `''", "line 1, column 18: 'a"),
    ("touch mark\necho (\x1b[31m\u202e", "syntax error near unexpected token", "line 2, column 6"),
    ("shopt -s extglob; touch mark\necho +(x", "unexpected", "line 2"),
])
def test_what_bash_cannot_read_is_told_and_not_run(world, mode, command, what, where):
    done = run(world, shell(command), mode=mode)
    assert done.code == 0 and done.text == "Done.\n" and "allowed-tools" not in done.err, done.err
    (result,) = done.results()
    assert result["success"] is False and result["error"]["code"] == "invalid_argument"
    assert result["message"].startswith("Syntax error: bash cannot read the command, and nothing of it was run. ")
    assert what in result["message"] and where in result["message"], result["message"]
    assert not (world.root / "mark").exists() and "\x1b" not in done.err and "\u202e" not in done.err


@pytest.mark.parametrize("command, output", [
    ("for i in 1 2; { echo $i; }", "1\n2\n"),
    ("for ((i = 0; i < 2; i++)) { echo $i; }", "0\n1\n"),
    ("shopt -s extglob\necho +(x)", "+(x)\n"),
    ("cat <<EOF\nopen", "open\n"),
])
def test_what_bash_reads_all_the_same_runs(world, command, output):
    """hasp's own reader takes it, or does not."""
    (result,) = run(world, shell(command), mode="yolo").results()
    assert result["exit_code"] == 0 and output in result["output"], result


def test_what_bash_reads_all_the_same_is_asked_about(world):
    done = run(world, shell("for i in 1 2; { touch mark; }"))
    assert done.code == 56 and not (world.root / "mark").exists()


def test_several_in_one_step(world):
    done = run(world, shell("echo ("), shell("echo fine"), shell("echo )"), mode="yolo")
    first, fine, last = done.results()
    assert "Syntax error" in first["message"] and "Syntax error" in last["message"] and fine["output"] == "fine\n"


def test_a_hook_may_mend_it_first(world):
    hook = world.write("hook.py", "import json\nprint(json.dumps({'hookSpecificOutput': {'tool_input': {'command': 'echo mended'}}}))\n")
    assert hook
    world.settings(hooks={"BeforeTool": [{"matcher": "run_shell_command", "hooks": [
        {"type": "command", "command": "%s %s" % (sys.executable, world.root / "hook.py")}]}]})
    world.command("hooks", "trust")
    (result,) = run(world, shell("echo ("), mode="yolo").results()
    assert result.get("output") == "mended\n", json.dumps(result)


def test_hasp_tool_says_it_too(world):
    done = world.command("tool", "run_shell_command", "-a", "command=touch mark; (")
    assert "Syntax error" in done.text and not (world.root / "mark").exists()
