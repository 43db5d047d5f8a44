# SPDX-License-Identifier: Apache-2.0
"""The live region: a question stands in it and leaves one line and one diff; what is under way says how long, for how
many tokens and what keys do; what a prompt changed and used is said when it has ended."""
import re
import time
from pathlib import Path

import pytest
import terminal
from fake_gemini import call, text

CALC = "def add(a, b):\n    return a + b\n"


def update(old, new, name="calc.py"):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new})


def run(command, **more):
    return call("run_shell_command", {"command": command, **more})


def choose(hasp, label):
    hasp.quiet(0.1)
    number = next(re.match(r"(?:> )?\s*(\d+)\. ", row)[1] for row in hasp.dump().window if re.search(r"\d\. " + re.escape(label), row))
    return hasp.type(number)


def window(hasp):
    return "\n".join(hasp.dump().window)


def seen(hasp, fits):
    """Until the window, without what has left it, is so."""
    end = time.monotonic() + 60
    while not fits(window(hasp)):
        assert time.monotonic() < end, window(hasp)
        time.sleep(0.05)


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 50), (40, 24)])
def test_a_question_leaves_one_line_and_one_diff(world, columns, rows):
    world.write("calc.py", CALC)
    with world.fake([[update("a + b", "a - b")], [text("Done.")]]) as server:
        with world.hasp(server, columns=columns, rows=rows, shown="runs a") as hasp:
            hasp.type("go").key("enter").wait("Allow once").quiet(0.2)
            asked = window(hasp)
            assert asked.count("calc.py") == 1 and asked.count("Apply") == 1 and "Waiting" not in asked
            hasp.type("1").wait("Done.").wait("1 file changed, +1 -1").quiet(0.2)
            left = hasp.dump().text
    assert left.count("Edit calc.py") == 1 and left.count("calc.py") == 1
    assert left.count("return a - b") == 1 and left.count("return a + b") == 1
    assert "Apply" not in left and "Allow" not in left


def test_a_no_leaves_the_edit_and_the_words(world):
    world.write("calc.py", CALC)
    with world.fake([[update("a + b", "a - b")], [text("Then not.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter").wait("Allow once")
            choose(hasp, "No, suggest changes").wait("What should be done instead?")
            assert "return a - b" in window(hasp)
            hasp.type("use sum()").key("enter").wait("Then not.").quiet(0.2)
            left = hasp.dump().text
    assert "- Edit calc.py" in left and "You declined this: use sum()" in left and left.count("return a - b") == 1
    assert "Denied By User" not in left and "Done:" not in left
    assert "declined this call and says: use sum()" in str(server.requests[-1].body)


def test_a_long_question_scrolls_beneath_its_choices(world):
    content = "".join("line %d\n" % i for i in range(1, 61))
    with world.fake([[call("write_file", {"file_path": "b.c", "content": content})], [text("Written.")]]) as server:
        with world.hasp(server, columns=80, shown="runs a") as hasp:
            hasp.type("go").key("enter").wait("rows 1-").wait("No, suggest changes")
            assert "+ line 1\n" in window(hasp) and "line 60" not in window(hasp)
            hasp.key(*["pagedown"] * 8).wait("+ line 60")
            assert "Allow once" in window(hasp)
            hasp.key("down").type("\x0f").wait("q closes").type("q").wait("Allow once")
            hasp.type("1").wait("Written.")
    assert world.read("b.c") == content


def test_warnings_of_a_long_command_are_in_sight(world):
    command = "\n".join("echo %d" % i for i in range(60)) + "\ncurl https://good.org@evil.org/"
    with world.fake([[run(command)], [text("Ran.")]]) as server:
        with world.hasp(server, columns=100) as hasp:
            hasp.type("go").key("enter").wait("A deceptive address").wait("Allow once").key("esc")
            hasp.wait("you declined the call")


@pytest.mark.parametrize("choice, mode", [("Yes, and accept edits", "edits accepted"), ("Yes, and ask about each edit", None)])
def test_a_plan_is_approved_in_a_plans_words(world, choice, mode):
    def written(request):
        folder = Path(re.search(r"(/[^\s\"'`]*/plans)", str(request.body))[1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "p.md").write_text("# The plan\n\n1. Mend it\n2. Test it\n")

    leave = [call("exit_plan_mode", {"plan_filename": "p.md"})]
    script = [{"reply": leave, "expect": written}, [call("write_file", {"file_path": "x.txt", "content": "x\n"})],
              [text("Carried out.")]]
    with world.fake(script) as server:
        with world.hasp(server, "--approval-mode", "plan", rows=50) as hasp:
            hasp.type("go").key("enter").wait("Carry out this plan?").wait("No, keep planning").quiet(0.2)
            assert window(hasp).count("Mend it") == 1 and "Allow" not in window(hasp)
            choose(hasp, choice)
            if not mode:
                hasp.wait("Apply this change?").type("1")
            hasp.wait("Carried out.").quiet(0.2)
            assert hasp.dump().text.count("Mend it") == 1
            assert ("edits accepted" in window(hasp)) == bool(mode)
    assert world.read("x.txt") == "x\n"


def test_what_goes_on_says_how_long_and_what_keys_do(world, held):
    with world.fake([[run("echo begun")], {"reply": [text("Over.")], "expect": held}]) as server:
        with world.hasp(server, "--approval-mode", "yolo", columns=120) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.wait("esc to interrupt").wait("tokens in, ").quiet(0.1)
            assert re.search(r"\* Working \d+s  esc to interrupt  \d+k? tokens in, \d+ out", window(hasp))
            hasp.type("and").wait("enter to steer, ctrl+q to queue").key("enter").wait("joins at the next step: and")
            hasp.type("later").key("ctrl+q").wait("queued: later").gone("enter to steer")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
def test_the_status_line_keeps_what_changes(world, columns):
    with world.fake([[text("Yes.")]]) as server:
        with world.hasp(server, columns=columns, shown="> ") as hasp:
            hasp.type("go").key("enter").wait("Yes.").wait("% context left").quiet(0.2)
            last = next(row for row in reversed(hasp.dump().window) if row)
    assert "% context left" in last and "\u2026" not in last.replace("\u2026/", "")
    assert (" out" in last) == (columns >= 60) and ("sandbox: full" in last) == (columns == 200)


def test_in_tmux_the_rows_beneath_are_as_wide_as_the_window(world):
    """With nothing above the live region, too."""
    with world.fake([[text("Yes.")]]) as server:
        argv, env = world.argv(server, []), world.environment(server)
        with terminal.Tmux(argv, 200, 50, env=env, cwd=world.root) as hasp:
            hasp.wait("runs a command.").type("go").key("enter").wait("Yes.").wait("% context left").quiet(0.3)
            hasp.key("ctrl+l")
            seen(hasp, lambda shown: "Yes." not in shown and "0% cached" in shown and "? for keys" in shown)
            hasp.type("/").wait("about").quiet(0.3)
            assert any(len(row) > 80 for row in hasp.dump().window) or "\u2026" not in window(hasp)


def test_a_line_without_a_prefix_is_allowed_as_it_is(world):
    """Where a prefix would allow too much, exactly that call is what the choice is about."""
    world.write("x.py", "print('ran')\n")
    (world.root / "sub").mkdir()
    world.write("sub/x.py", "print('other')\n")
    line = "python3 x.py; make -j4 | sh"
    script = [[run(line)], [run(line, description="Again.")], [run(line, dir_path="sub")], [run("python3 y.py")], [text("All.")]]
    with world.fake(script) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("go").key("enter").wait("Allow for this session: exactly this command, until you quit")
            choose(hasp, "Allow for this session").wait("in sub").quiet(0.1)
            choose(hasp, "Allow once").wait("python3 y.py")
            choose(hasp, "Allow once").wait("All.")
            hasp.type("/policies").key("enter").wait("exactly this command: python3 x.py; make -j4 | sh")
    assert str(server.requests[-1].body).count("'ran\\\\n") + str(server.requests[-1].body).count('ran\\n') >= 2


@pytest.mark.parametrize("set_up, why", [
    (lambda world: {"env": {"GEMINI_CLI_TRUST_WORKSPACE": "false"}}, "this folder is not trusted (/permissions)"),
    (lambda world: world.settings(security={"disableAlwaysAllow": True}) or {}, "the settings turn that off"),
    (lambda world: policy(world), "a rule asks about each such call (/policies)"),
])
def test_where_nothing_is_offered_for_the_session_it_says_why(world, set_up, why):
    more = set_up(world)
    with world.fake([[run("touch a")], [text("Over.")]]) as server:
        with world.hasp(server, rows=50, **more) as hasp:
            hasp.type("go").key("enter").wait("Not offered for the session: " + why).key("esc")
            hasp.wait("you declined the call")


def policy(world):
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ask.toml").write_text('[[rule]]\ntoolName = "run_shell_command"\ndecision = "ask_user"\npriority = 900\n')
    return {}


@pytest.mark.parametrize("status, error, said", [
    (401, "API key not valid. Please pass a valid API key.", "The key is GEMINI_API_KEY"),
    (404, "models/nix is not found for API version v1beta. Call ListModels to see the list of available models.",
     "To list the models that your key reaches"),
])
def test_an_error_says_what_mends_it_and_the_prompt_is_back(world, status, error, said):
    with world.fake([{"status": status, "error": error}, [text("Now it works.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("do it").key("enter").wait(said).wait("Your prompt is in the composer again.").quiet(0.2)
            assert any(row.startswith("> do it") for row in hasp.dump().window[-4:]) or "> do it" in window(hasp)
            hasp.key("enter").wait("Now it works.")


def test_a_question_mark_says_why_it_is_asked_and_what_it_could_do(world):
    with world.fake([[run("ls; touch a")], [text("Ran.")]]) as server:
        with world.hasp(server, rows=50, columns=160) as hasp:
            hasp.type("go").key("enter").wait("? explains why this is asked")
            hasp.type("?").wait("Why this is asked: ").wait("ls: allowed, known to be harmless").wait("touch a: asked about")
            hasp.wait("What it could do: write in ").wait("network (sandbox: full)")
            hasp.type("?").wait("? explains why this is asked").type("1").wait("Ran.")


def test_an_edit_that_changes_nothing_is_not_asked_about(world):
    world.write("calc.py", CALC)
    same = call("write_file", {"file_path": "calc.py", "content": CALC})
    with world.fake([[update("a + b", "a + b")], [call("read_file", {"file_path": "calc.py"})], [same], [text("Nothing to do.")]]) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("go").key("enter").wait("Nothing to do.")
            assert "Allow once" not in hasp.dump().text
