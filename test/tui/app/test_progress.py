# SPDX-License-Identifier: Apache-2.0
"""`hasp -p` on a terminal: what goes on is shown on standard error while it works, the answer alone is the output."""
import re
import shlex
import signal

import fake_openai
import pytest
import terminal
from fake_gemini import call, text


def run(command):
    return call("run_shell_command", {"command": command})


def prompt(world, server, *args, env=None, shell=None, columns=100, rows=24):
    """`shell`: the command line around it, with %s for hasp's."""
    argv = world.argv(server, ["--approval-mode", "yolo", *args, "-p", "do it"])
    if shell:
        argv = ["sh", "-c", shell % shlex.join(map(str, argv))]
    return world.Hasp(argv, columns, rows, env=world.environment(server, **(env or {})), cwd=world.root)


def lines(hasp):
    return hasp.dump().text.rstrip("\n").split("\n")


def test_activity_output_and_diffs_are_shown_while_it_works(world, held):
    world.write("a.c", "int old;\n")
    script = [[text("I look."), run("echo first-line; while [ ! -e go ]; do sleep 0.05; done; echo last-line")],
              [call("replace", {"file_path": "a.c", "old_string": "int old;", "new_string": "int new;"})],
              {"reply": [text("All done.")], "expect": held}]
    with world.fake(script) as server:
        with prompt(world, server) as hasp:
            hasp.wait("I look.").wait("* Working 1s").wait("    first-line").wait("* Working 2s")
            world.write("go", "")
            held.wait()
            hasp.wait("last-line").wait("int old;").wait("int new;").wait("* Working")
            held.go.set()
            hasp.wait("All done.")
            assert hasp.end() == 0
            shown = lines(hasp)
    assert shown[0] == "I look." and shown[-1] == "All done."
    assert not [line for line in shown if "Working" in line or line == "    first-line"]
    assert len([line for line in shown if "last-line" in line]) >= 1
    assert len([line for line in shown if "int new;" in line]) == 1


def test_the_topic_stands_above_what_goes_on(world, held):
    """And is there again when the conversation goes on."""
    topic = fake_openai.call("update_topic", {"title": "The parser", "strategic_intent": "Read the lexer."})
    with world.fake([{"reply": [topic]}, {"reply": [fake_openai.text("Half done.")], "expect": held}], "openai") as server:
        with prompt(world, server) as hasp:
            held.wait()
            hasp.wait("Topic The parser").wait("s  Read the lexer.")
            held.go.set()
            hasp.wait("Half done.")
            assert hasp.end() == 0
    held.asked.clear(), held.go.clear()
    with world.fake([{"reply": [fake_openai.text("All done.")], "expect": held}], "openai") as server:
        with prompt(world, server, "--resume", "latest") as hasp:
            held.wait()
            hasp.wait("* Working")
            shown = lines(hasp)
            assert shown[[line.startswith("* Working") for line in shown].index(True) - 1] == "The parser"
            held.go.set()
            hasp.wait("All done.")
            assert hasp.end() == 0
            hasp.gone("The parser")


def test_the_seconds_go_on_after_a_text_without_an_end(world):
    """Beneath such a text nothing is drawn; the silent command after it is watched all the same."""
    world.write("go.sh", "while [ ! -e go ]; do sleep 0.05; done")
    with world.fake([{"reply": [text("Half a line"), text(" and more."), run("sh go.sh")], "pace": 1.2}, [text("Done.")]]) as server:
        with prompt(world, server) as hasp:
            hasp.wait("and more.").wait("Working 3s").wait("Working 5s")
            world.write("go", "")
            hasp.wait("Done.")


def test_the_answer_in_a_pipe_has_nothing_else_in_it(world, held):
    """Text of a reply is held until it is whole; the activity is shown meanwhile."""
    script = [[run("echo of-the-command")], {"reply": [text("The answer.")], "expect": held}]
    with world.fake(script) as server:
        with prompt(world, server, shell="%s > answer; echo ENDED $?") as hasp:
            held.wait()
            hasp.wait("of-the-command").wait("* Working")
            held.go.set()
            hasp.wait("ENDED 0")
            assert "The answer." not in hasp.dump().text and "Working" not in hasp.dump().text
    assert world.read("answer") == "The answer.\n"


@pytest.mark.parametrize("kind", ["json", "stream-json"])
def test_formats_for_programs_stay_whole(world, kind):
    with world.fake([[run("echo of-the-command")], [text("The answer.")]]) as server:
        with prompt(world, server, "-o", kind, shell="%s > answer; echo ENDED $?") as hasp:
            hasp.wait("of-the-command").wait("ENDED 0")
    assert "\x1b" not in world.read("answer") and "Working" not in world.read("answer")


def test_events_on_a_terminal_are_not_torn(world):
    with world.fake([[run("sleep 1.2")], [text("The answer.")]]) as server:
        with prompt(world, server, "-o", "stream-json", columns=400) as hasp:
            assert hasp.end() == 0
            shown = lines(hasp)
    assert not [line for line in shown if "Working" in line]
    assert len([line for line in shown if line.startswith('{"type":')]) >= 5


def test_nothing_of_a_terminal_where_there_is_none(world):
    with world.fake([[run("echo of-the-command")], [text("The answer.")]]) as server:
        done = world.command("--approval-mode", "yolo", "-p", "do it", server=server)
    assert done.text == "The answer.\n" and "Working" not in done.err and "\x1b" not in done.err


@pytest.mark.parametrize("options", [{"args": ["--screen-reader"]}, {"env": {"TERM": "dumb"}}])
def test_what_can_draw_nothing_gets_lines(world, options):
    with world.fake([[run("echo of-the-command; sleep 1.1")], [text("The answer.")]]) as server:
        with prompt(world, server, *options.get("args", []), env=options.get("env")) as hasp:
            assert hasp.end() == 0
            assert b"\x1b" not in hasp.raw()
            shown = hasp.dump().text
    assert "of-the-command" in shown and "The answer." in shown and "Working" not in shown


def test_no_colours_where_none_are_wanted(world):
    world.write("a.c", "int old;\n")
    script = [[call("replace", {"file_path": "a.c", "old_string": "int old;", "new_string": "int new;"})], [text("Ok.")]]
    with world.fake(script) as server:
        with prompt(world, server, env={"NO_COLOR": "1"}) as hasp:
            assert hasp.end() == 0
            raw = hasp.raw()
    assert not re.search(rb"\x1b\[(?:[0-9;]*;)?(?:3|4|9|10)[0-8][;m]", raw) and b"new" in raw


def test_a_command_cannot_act_on_the_terminal(world):
    script = "printf '\\033]0;evil\\007\\033[2J\\033[31mred\\n'; sleep 1.2"
    with world.fake([[run(script)], [text("Ok.")]]) as server:
        with prompt(world, server) as hasp:
            assert hasp.end() == 0
            raw = hasp.raw()
            assert "evil" not in hasp.dump().title
    assert b"\x1b]0;" not in raw and b"\x1b[2J" not in raw


def test_stopping_and_going_on_erases_nothing_of_the_shell(world):
    world.write("go.sh", "while [ ! -e go ]; do sleep 0.05; done; echo went")
    with world.fake([[run("sh go.sh")], [text("The answer.")]]) as server:
        environment = world.environment(server)
        argv = shlex.join(map(str, world.argv(server, ["--approval-mode", "yolo", "-p", "do it"])))
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24, env={**environment, "PS1": "SHELL\\#$ "},
                            cwd=world.root) as shell:
            shell.wait("SHELL1$").type(argv).key("enter").wait("* Working 1s").key("ctrl+z").wait("SHELL2$")
            shell.type("echo kept-$((40 + 2))").key("enter").wait("kept-42").wait("SHELL3$")
            shell.type("fg").key("enter").wait("* Working")
            world.write("go", "")
            shell.wait("The answer.").wait("SHELL4$")
            assert "kept-42" in shell.dump().text and "SHELL2$ echo" in shell.dump().text


def test_an_interruption_leaves_the_terminal_clean(world):
    with world.fake([[run("sleep 60")]]) as server:
        with prompt(world, server) as hasp:
            hasp.wait("* Working 1s").signal(signal.SIGINT)
            hasp.end()
            hasp.gone("* Working")
