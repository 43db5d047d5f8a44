# SPDX-License-Identifier: Apache-2.0
"""The interactive agent: type this, see that, and what is on disk."""
import os
import pty


import shlex
import signal
import subprocess

import terminal
from fake_gemini import call, text

READY = "? for keys"


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def said(server):
    """What the user's side of the last request says, as one text."""
    return str(server.requests[-1].body["contents"])


def test_a_prompt_is_answered_and_printed(world):
    with world.fake([[text("Hello **there**.\n\nA second paragraph.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("hi").key("enter").wait("A second paragraph.").wait(READY)
            lines = hasp.dump().text.splitlines()
            assert sum("hi" == line.strip("> ") for line in lines) == 1
            assert "Hello there." in lines
            hasp.key("ctrl+d")
            assert hasp.end() == 0
    assert server.violations == [] and server.script == []


def test_the_composer_stands_before_the_session_is_open(world):
    """What is typed and sent meanwhile waits for it."""
    with world.fake([[text("Here.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("early").key("enter").wait("Here.")
    assert "early" in said(server)


def test_a_prompt_of_the_command_line_begins(world):
    with world.fake([[text("Begun.")]]) as server:
        with world.hasp(server, "-i", "start with this") as hasp:
            hasp.wait("Begun.")
    assert "start with this" in said(server)


def test_an_edit_is_made_when_it_is_confirmed(world):
    with world.fake([[text("I write."), write("b.c", "int x;\n")], [text("Written.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter").wait("Apply").wait("Allow once")
            assert not (world.root / "b.c").exists()
            hasp.type("1").wait("Written.")
            assert world.read("b.c") == "int x;\n"


def test_a_refused_edit_is_not_made(world):
    with world.fake([[write("b.c", "int x;\n")], [text("Then not.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter").wait("Allow once").key("esc").wait(READY)
    assert not (world.root / "b.c").exists()


def test_a_message_joins_while_it_works(world, held):
    world.write("a.txt", "a\n")
    with world.fake([{"reply": [call("read_file", {"file_path": "a.txt"})], "expect": held},
                     [text("Both.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("second").key("enter").wait("joins at the next step: second")
            held.go.set()
            hasp.wait("Both.").wait(READY)
            assert "joins at the next step" not in hasp.dump().text
    assert "second" in said(server) and len(server.requests) == 2


def test_a_queued_prompt_is_sent_afterwards(world, held):
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Two.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("second").key("tab").wait("queued: second")
            hasp.type("third").key("tab").wait("queued: third").key("up").wait("> third").key("ctrl+c")
            held.go.set()
            hasp.wait("Two.").wait(READY)
    assert "second" in said(server) and "third" not in said(server)


def test_escape_interrupts_and_keeps_the_draft(world, held):
    with world.fake([{"reply": [text("Never.")], "expect": held}, [text("Later.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("half a").wait("> half a").key("esc").wait("Interrupted")
            held.go.set()
            hasp.type(" draft").wait("half a draft").key("enter").wait("Later.")
            assert "Never." not in hasp.dump().text
    assert "half a draft" in said(server)


def test_a_question_does_not_take_what_is_being_typed(world, held):
    with world.fake([{"reply": [write("b.c", "int x;\n")], "expect": held}, [text("Asked.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter")
            held.wait()
            hasp.type("dra").wait("> dra")
            held.go.set()
            for _ in range(200):
                hasp.type("1")
                if "Allow once" in hasp.dump().text:
                    break
            hasp.type("1").key("enter")
            assert not (world.root / "b.c").exists()
            hasp.quiet(0.7).type("1").wait("Asked.").wait("> dra1")
            assert world.read("b.c") == "int x;\n"


def test_a_draft_survives_a_kill(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("not sent yet").wait("not sent yet").quiet()
            hasp.signal(signal.SIGKILL)
            hasp.end()
        with world.hasp(server) as hasp:
            hasp.wait("> not sent yet")


def test_a_hang_up_answers_no_and_keeps_the_draft(world):
    with world.fake([[write("b.c", "int x;\n")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter").wait("Allow once")
            hasp.signal(signal.SIGHUP)
            hasp.end()
    assert not (world.root / "b.c").exists()


def test_a_command_of_the_user_runs_and_is_told(world):
    with world.fake([[text("Seen.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("!echo from-me-$((40 + 2))").key("enter").wait("from-me-42")
            hasp.wait(READY).key("backspace").type("what was it?").key("enter").wait("Seen.")
    assert "from-me-42" in said(server)


def test_modes_change_by_key(world):
    with world.fake([[write("b.c", "int x;\n")], [text("Done it.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").key("shift+tab").wait("edits accepted")
            hasp.type("write").key("enter").wait("Done it.")
            hasp.key("shift+tab").wait("plan mode").key("shift+tab").quiet()
            assert "plan mode" not in hasp.dump().text
    assert world.read("b.c") == "int x;\n"


def test_resizing_while_text_streams_keeps_every_line_once(world):
    lines = ["line %03d" % i for i in range(60)]
    with world.fake([{"reply": [text(line + "\n\n") for line in lines], "pace": 0.01}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("line 002")
            for columns in 60, 100, 40, 90, 30, 120:
                hasp.resize(columns, 20).quiet(0.02, 1) if columns == 30 else hasp.resize(columns, 20)
            hasp.wait("line 059").wait(READY)
            text_ = hasp.dump().text
    assert [text_.count(line) for line in lines] == [1] * len(lines)


def test_the_pager_shows_the_conversation(world):
    with world.fake([[text("A needle and\n\nhay.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("look").key("enter").wait("hay.").wait(READY).key("ctrl+o").wait("q closes")
            assert hasp.dump().alternate
            hasp.type("/needle").key("enter").quiet()
            hasp.type("q").wait(READY)
            assert not hasp.dump().alternate


def test_nothing_is_lost_while_the_pager_is_shown(world):
    """What is still to be printed then goes to the main screen, not to the pager's."""
    lines = ["L%05d" % number for number in range(1, 9001)]
    with world.fake([[text("- " + "\n- ".join(lines) + "\n")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("L00001").key("ctrl+o").wait("q closes").quiet()
            assert hasp.dump().alternate and "Transcript" in hasp.dump().window[-1]
            hasp.type("q").wait(lines[-1])
            shown = hasp.quiet().dump().text.split()
            assert [word for word in shown if word.startswith("L")] == lines


def test_paths_are_completed(world):
    world.write("source/far/away.c", "x\n")
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("see @awa").wait("source/far/away.c").key("tab").wait("@source/far/away.c")


def test_without_a_key_it_says_what_to_do(world):
    with world.hasp(None) as hasp:
        hasp.wait("GEMINI_API_KEY").wait("hasp tries again")
        hasp.type("hello").wait("> hello").key("enter").quiet(0.3).wait("> hello")
        assert hasp.dump().text.count("hasp tries again") == 2
        assert hasp.dump().window[hasp.dump().cursor[0]] == "> hello"


def test_a_session_goes_on(world):
    with world.fake([[text("The first answer.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("remember me").key("enter").wait("The first answer.").wait(READY).key("ctrl+d")
            hasp.end()
    with world.fake([[text("The second.")]]) as server:
        with world.hasp(server, "--resume", "latest") as hasp:
            hasp.wait("remember me").wait("The first answer.").wait("goes on")
            hasp.type("and now").key("enter").wait("The second.")
    assert "remember me" in said(server)


def test_a_plain_terminal_gets_no_escape_sequence(world):
    with world.fake([[text("Plain.")]]) as server:
        with world.hasp(server, env={"TERM": "dumb"}) as hasp:
            hasp.type("hi").key("enter").wait("Plain.").wait("Done.")
            assert b"\x1b" not in hasp.raw()
            hasp.key("ctrl+d")
            assert hasp.end() == 0


def test_screen_readers_get_lines(world):
    with world.fake([[text("Read me.")]]) as server:
        with world.hasp(server, "--screen-reader") as hasp:
            hasp.type("hi").key("enter").wait("Working.").wait("Read me.").wait("Done.")
            assert "* Working" not in hasp.dump().text


def test_a_prompt_is_gone_back_to(world):
    with world.fake([[text("The wrong one.")], [text("The right one.")]], append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("first try").key("enter").wait("The wrong one.").wait(READY)
            hasp.key("esc").wait("Esc again").key("esc").wait("Back to which?").key("enter").wait("> first try")
            hasp.key("ctrl+c").type("second try").key("enter").wait("The right one.")
    assert "second try" in said(server) and "first try" not in said(server)


def test_commands_are_completed_and_run(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("/hel").wait("help").key("tab").key("enter").wait("/quit")
            hasp.type("q").quiet().type("/quit").key("enter").key("enter")
            assert hasp.end() == 0


def test_the_draft_is_edited_elsewhere(world):
    editor = world.top / "editor"
    editor.write_text("#!/bin/sh\nprintf ' and more' >> \"$1\"\n")
    editor.chmod(0o755)
    with world.fake([]) as server:
        with world.hasp(server, env={"VISUAL": str(editor)}) as hasp:
            hasp.wait("sandbox:").type("some").wait("> some").key("ctrl+g").wait("> some and more")


def test_it_ends_when_the_terminal_is_gone(world):
    """Without a signal: it leads no session."""
    with world.fake([]) as server:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(world.argv(server, []), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
                                   env=world.environment(server), cwd=world.root)
        os.close(theirs)
        seen = b""
        while b"sandbox:" not in seen:
            seen += os.read(ours, 65536)
        os.write(ours, b"kept")
        while b"kept" not in seen:
            seen += os.read(ours, 65536)
        os.close(ours)
        assert process.wait(60) != 0
        assert process.stderr.read() == b""
        process.stderr.close()
        with world.hasp(server) as hasp:
            hasp.wait("> kept")


def test_a_list_begins_at_its_newest_row(world):
    """Earlier prompts, the newest first: Enter goes back to that one, and no further."""
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("the first prompt").key("enter").wait("One.").wait(READY)
            hasp.type("the second prompt").key("enter").wait("Two.").wait(READY)
            hasp.type("/rewind").key("enter").wait("> 1. the second prompt")
            hasp.key("enter").wait("/rewind undo").wait("> the second prompt")


def test_keys_of_an_editor_do_not_end_hasp(world):
    """Ctrl+C in a program that leaves the terminal as it is signals all of them."""
    world.write("editor.sh", "trap 'printf after >> \"$1\"; exit 0' INT\nprintf EDITING\n"
                "while :; do sleep 0.05; done\n")
    with world.fake([]) as server:
        with world.hasp(server, env={"EDITOR": "sh %s" % (world.root / "editor.sh"), "VISUAL": ""}) as hasp:
            hasp.type("before ").key("ctrl+g").wait("EDITING").key("ctrl+c").wait("> before after")
            hasp.key("ctrl+u").key("ctrl+d")
            assert hasp.end() == 0


def test_an_editor_that_stops_gives_the_shell_the_terminal(world):
    """Ctrl+Z in it stops hasp as well, and fg brings both back."""
    world.write("editor.sh", "trap 'printf after >> \"$1\"; exit 0' INT\ntrap 'printf BACK' CONT\n"
                "printf EDITING\nwhile :; do sleep 0.05; done\n")
    with world.fake([]) as server:
        environment = world.environment(server, EDITOR="sh %s" % (world.root / "editor.sh"), VISUAL="")
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24,
                            env={**environment, "PS1": "SHELL\\#$ "}, cwd=world.root) as shell:
            shell.wait("SHELL1$").type(shlex.join(map(str, world.argv(server, [])))).key("enter")
            shell.wait("runs a command.").type("before ").key("ctrl+g").wait("EDITING").key("ctrl+z")
            shell.wait("SHELL2$").type("fg").key("enter").wait("BACK")
            shell.key("ctrl+c").wait("> before after")


def test_the_chosen_editor_is_used(world):
    world.write("bin/nvim", "#!/bin/sh\nprintf chosen >> \"$1\"\n", 0o755)
    world.settings(general={"preferredEditor": "neovim"})
    with world.fake([]) as server:
        path = "%s:%s" % (world.root / "bin", os.environ["PATH"])
        with world.hasp(server, env={"PATH": path, "EDITOR": "false"}) as hasp:
            hasp.type("is ").key("ctrl+g").wait("> is chosen")
