# SPDX-License-Identifier: Apache-2.0
"""The interactive agent: type this, see that, and what is on disk."""
import functools
import json
import os
import pty
import re
import shlex
import signal
import subprocess

import pytest
import terminal
from conftest import Hasp
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


def test_an_empty_composer_says_what_it_is_for_until_something_is_sent(world):
    words = "Type your message or @path/to/file"
    with world.fake([[text("Heard.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait(">  " + words).type("hi").wait("> hi")
            hasp.gone(words)
            hasp.key("ctrl+c").wait(words).type("!").wait("! ")
            hasp.gone(words)
            hasp.key("backspace").wait(words).type("hi").key("enter").wait("Heard.")
            hasp.gone(words)


def test_the_composer_stands_before_the_session_is_open(world):
    """What is typed and sent meanwhile waits for it."""
    with world.fake([[text("Here.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("early").key("enter").wait("Here.")
    assert "early" in said(server)


@pytest.mark.parametrize("words", [["-i", "start with this"], ["start with this"], ["start", "with", "this"],
                                   ["-m", "gemini-2.5-pro", "--", "start", "with this"]], ids=" ".join)
def test_a_prompt_of_the_command_line_begins_a_session_that_goes_on(world, words):
    """As `gemini "..."`, `claude "..."` and `codex "..."` do on a terminal."""
    with world.fake([[text("Begun.")], [text("And more.")]]) as server:
        with world.hasp(server, *words, env={"CI": "", "GITHUB_ACTIONS": ""}) as hasp:
            hasp.wait("Begun.").type("go on").key("enter").wait("And more.")
    assert "start with this" in said(server) and len(server.requests) == 2


def test_a_prompt_in_words_ends_on_a_build_server(world):
    with world.fake([[text("Done.")]]) as server:
        with world.hasp(server, "start with this", env={"CI": "true"}, shown="Done.") as hasp:
            assert hasp.end() == 0



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
            hasp.gone("joins at the next step")
    assert "second" in said(server) and len(server.requests) == 2


@pytest.mark.parametrize("draft, shown", [("!touch ran", "touch ran"), ("/clear ", "/clear"), ("see @nothing-like-it", "nothing-like-it"),
                                          ("half a thought", "half a thought")])
@pytest.mark.parametrize("works", [False, True])
def test_tab_runs_sends_and_queues_nothing(world, held, draft, shown, works):
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Two.")]][:1 + works] if works else []) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:")
            if works:
                hasp.type("first").key("enter")
                held.wait()
            hasp.type(draft).wait(shown).key("tab", "tab", "right", "end", "ctrl+f", "ctrl+e").type("x").wait("x").quiet()
            assert "queued:" not in hasp.dump().text and not (world.root / "ran").exists()
            held.go.set()
    assert len(server.requests) == works


def test_ctrl_q_waits_for_nothing_where_nothing_runs(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("a thought").key("ctrl+q").wait("Nothing to wait for: Enter sends").wait("> a thought")
    assert not server.requests


def test_a_queued_prompt_is_sent_afterwards(world, held):
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Two.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("second").key("ctrl+q").wait("queued: second")
            hasp.type("third").key("ctrl+q").wait("queued: third").key("up").wait("> third").key("ctrl+c")
            held.go.set()
            hasp.wait("Two.").wait(READY)
    assert "second" in said(server) and "third" not in said(server)


def test_what_waits_behind_a_command_is_sent(world):
    """Typed while the session is being opened. Commands begin no turn whose end would send the next."""
    with world.fake([[text("One.")]]) as server:
        with world.hasp(server) as hasp:
            for waits in ["/tools", "/about", "/tools", "first"]:
                hasp.type(waits).key("enter")
            hasp.wait("One.").wait(READY)
    assert "first" in said(server) and len(server.requests) == 1


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
            hasp.gone("plan mode")
    assert world.read("b.c") == "int x;\n"


def test_each_key_that_changes_the_mode_counts(world):
    """However fast they come; Tab, where other agents do that, says which key it is."""
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").key("tab").wait("Shift+Tab changes the mode")
            hasp.type(terminal.key_bytes("shift+tab") * 2).wait("plan mode")
            hasp.type(terminal.key_bytes("shift+tab") * 2).wait("edits accepted")


@pytest.mark.parametrize("word", ["exit", " quit "])
def test_a_word_quits_as_in_a_shell(world, word):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type(word).key("enter")
            assert hasp.end() == 0
    assert not server.requests


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


def test_nothing_is_drawn_over_the_pager(world):
    """What the screen would do a second after rows were printed, where the caret is drawn, waits."""
    with world.fake([[text("Hello.")]]) as server:
        with world.hasp(server, kind=functools.partial(Hasp, version="VTE(7006)")) as hasp:
            hasp.type("hi").key("enter").wait("Hello.").type("a draft of more than twenty columns").key("ctrl+o")
            hasp.wait("q closes").quiet(1.3)
            window = hasp.dump().window
            assert "q closes" in window[-1] and "a draft" not in "\n".join(window)
            hasp.type("q").wait("a draft of more than twenty columns")


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
        hasp.wait("GEMINI_API_KEY").wait("No API key for gemini")
        hasp.type("hello").wait("> hello").key("enter").quiet(0.3).wait("> hello")
        assert hasp.dump().text.count("No API key for gemini") == 2
        assert hasp.dump().window[hasp.dump().cursor[0]] == "> hello"


def test_a_session_goes_on(world):
    with world.fake([[text("The first answer.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("remember me").key("enter").wait("The first answer.").wait(READY).key("ctrl+d")
            hasp.end()
    with world.fake([[text("The second.")]]) as server:
        with world.hasp(server, "--resume", "latest") as hasp:
            hasp.wait("remember me").wait("The first answer.").wait("The session continues here.")
            hasp.type("and now").key("enter").wait("The second.")
    assert "remember me" in said(server)


def test_a_plain_terminal_gets_no_escape_sequence(world):
    with world.fake([[text("Plain.")]]) as server:
        with world.hasp(server, env={"TERM": "dumb"}) as hasp:
            hasp.wait('TERM is "dumb"').type("hi").key("enter").wait("Plain.").wait("Done.")
            assert b"\x1b" not in hasp.raw()
            hasp.key("ctrl+d")
            assert hasp.end() == 0


def test_screen_readers_get_lines(world):
    with world.fake([[text("Read me.")]]) as server:
        with world.hasp(server, "--screen-reader") as hasp:
            hasp.type("hi").key("enter").wait("Working.").wait("Read me.").wait("Done.")
            hasp.gone("* Working")


def test_a_prompt_is_gone_back_to(world):
    with world.fake([[text("The wrong one.")], [text("The right one.")]], append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("first try").key("enter").wait("The wrong one.").wait(READY)
            hasp.key("esc").wait("Esc again").key("esc").wait("Back to which?").key("enter").wait("takes it back, until something is sent.")
            hasp.key("ctrl+c").type("second try").key("enter").wait("The right one.")
    assert "second try" in said(server) and "first try" not in said(server)


def test_commands_are_completed_and_run(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("/hel").wait("help").key("tab").key("enter").wait("/chat")
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


def rests(hasp):
    """What comes once, as the end of threads that nothing is left for, may be in the first of these spans."""
    return any(hasp.quiet(1.2).wakeups(3) == 0 for _ in range(3))


def test_nothing_wakes_at_rest(world):
    """Neither hasp nor its workers: with a draft, after searches and commands, while a question waits."""
    world.write("a.txt", "a\n")
    script = [[call("read_file", {"file_path": "a.txt"}), call("grep_search", {"pattern": "a"})],
              [call("run_shell_command", {"command": "echo ran"})], [text("Looked.")], [write("b.c", "int x;\n")]]
    with world.fake(script) as server:
        with world.hasp(server, columns=200) as hasp:
            hasp.type("look").key("enter").wait("Looked.").wait(READY)
            hasp.type("@a").wait("a.txt").type(" draft").wait("@a draft")
            assert rests(hasp)
            hasp.key("ctrl+c").type("write").key("enter").wait("Allow once")
            assert rests(hasp)


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


def test_prompts_are_marked(world):
    """Each once, where it was printed: terminals jump from one to the next."""
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter").wait("One.").wait(READY)
            hasp.paste("second\nof two lines").key("enter").wait("Two.").wait(READY)
            raw = hasp.raw()
    assert raw.count(b"\x1b]133;A\x1b\\") == 2 and raw.count(b"\x1b]133;C\x1b\\") == 2
    assert raw.index(b"\x1b]133;A") < raw.index(b"\x1b]133;C") < raw.index(b"One.")


LONG = "".join("pasted line %d\n" % i for i in range(1, 10))
FOLDED = """> see [Pasted Text: 9 lines] for why
    pasted line 1
    pasted line 2
    pasted line 3
    … 6 lines more (Ctrl+O)
"""


def test_a_long_paste_is_printed_folded(world):
    with world.fake([[text("Seen.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("see ").paste(LONG).type(" for why").key("enter").wait("Seen.").wait(READY)
            assert FOLDED in hasp.dump().text
            hasp.key("ctrl+o").wait("pasted line 9").type("q").wait(READY)
            hasp.gone("pasted line 4")
    assert LONG in said(server).replace("\\n", "\n")


def test_a_long_paste_that_joins_is_printed_folded(world, held):
    world.write("a.txt", "a\n")
    with world.fake([{"reply": [call("read_file", {"file_path": "a.txt"})], "expect": held},
                     [text("Both.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("see ").paste(LONG).type(" for why").key("enter").wait("joins at the next step: see")
            held.go.set()
            hasp.wait("Both.").wait(READY)
            assert FOLDED in hasp.dump().text and "pasted line 4" not in hasp.dump().text
    assert "pasted line 9" in said(server)


def test_a_hook_puts_its_own_question(world):
    """Where rules would not ask; what it says is the reason, and the answer counts."""
    world.settings(hooks={"BeforeTool": [{"matcher": "read_file", "hooks": [{"type": "command", "command":
        "printf '{\"decision\": \"ask\", \"reason\": \"Is it a full moon?\"}'"}]}]})
    world.write("a.txt", "alpha\n")
    read = call("read_file", {"file_path": "a.txt"})
    with world.fake([[read], [read]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("Is it a full moon?").wait("Allow once").type("1").wait("1 line")
            hasp.wait("Allow once").key("esc").wait("Cancelled: you declined the call.")
    assert "alpha" in str(server.requests[1].body["contents"][-1])
    assert len(server.requests) == 2


def hook(event, matcher, **said):
    return {event: [{"matcher": matcher, "hooks": [
        {"type": "command", "command": "echo '%s'" % json.dumps(said)}]}]}


def test_session_start_hooks_run_when_it_opens(world):
    added = {"hookEventName": "SessionStart", "additionalContext": "The user is a gardener."}
    world.settings(hooks=hook("SessionStart", "startup", systemMessage="Good morning.", hookSpecificOutput=added))
    with world.fake([[text("Roses.")], [text("Tulips.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("Good morning.").wait("sandbox:")
            assert server.requests == []
            hasp.type("What now?").key("enter").wait("Roses.").type("And then?").key("enter").wait("Tulips.")
    first, second = (json.dumps(request.body["contents"]) for request in server.requests)
    assert first.count("The user is a gardener.") == second.count("The user is a gardener.") == 1


def test_nothing_is_written_while_nothing_changes(world):
    """Under tmux, too, whose cursor is asked for."""
    with world.fake([[text("An answer.")]]) as server:
        with world.hasp(server, kind=terminal.Tmux) as hasp:
            hasp.type("hi").key("enter").wait("An answer.").quiet(1.5)
            counts = "/proc/%s/io" % hasp.run("display-message", "-p", "#{pane_pid}").strip()
            with open(counts, encoding="ascii") as file:
                before = file.read()
            hasp.quiet(1.0)
            with open(counts, encoding="ascii") as file:
                assert file.read().split("syscw")[0].split("wchar")[1] == before.split("syscw")[0].split("wchar")[1]


def test_a_suspended_hasp_gives_the_shell_a_sane_terminal_and_comes_back(world):
    with world.fake([[text("Still here.")]]) as server:
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24,
                            env={**world.environment(server), "PS1": "SHELL\\#$ "}, cwd=world.root) as shell:
            shell.wait("SHELL1$").type(shlex.join(map(str, world.argv(server, [])))).key("enter")
            shell.wait("sandbox:").type("a draft").wait("> a draft").key("ctrl+u").quiet().key("ctrl+z")
            shell.wait("SHELL2$").type("stty -a | grep -o ' icanon\\| echo ' | sort | tr -d '\\n'; echo").key("enter")
            shell.wait(" echo  icanon").type("echo kept-$((40 + 2))").key("enter").wait("kept-42").wait("SHELL4$")
            shell.type("fg").key("enter").wait("sandbox:").quiet().type("and on").key("enter").wait("Still here.")
            assert "kept-42" in shell.dump().text


def test_a_signal_to_stop_is_as_the_key(world):
    """SIGTSTP from outside, and SIGCONT."""
    with world.fake([[text("Still here.")]]) as server:
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24,
                            env={**world.environment(server), "PS1": "SHELL\\#$ "}, cwd=world.root) as shell:
            command = "echo $$ >pid; exec " + shlex.join(map(str, world.argv(server, [])))
            shell.wait("SHELL1$").type("sh -c " + shlex.quote(command)).key("enter").wait("sandbox:").quiet()
            os.kill(int(world.read("pid")), signal.SIGTSTP)
            shell.wait("SHELL2$").type("fg").key("enter").wait("sandbox:").quiet().type("on").key("enter")
            shell.wait("Still here.")


def test_a_slow_terminal_loses_nothing(world):
    lines = ["line %03d" % i for i in range(200)]
    with world.fake([{"reply": [text(line + "\n\n") for line in lines], "pace": 0.002}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("line 003")
            for _ in range(5):
                hasp.pause(True).quiet(0.05).pause(False).quiet(0, 1)
            shown = hasp.wait("line 199").wait(READY).dump().text
    assert [line for line in lines if shown.count(line) != 1] == []


def test_a_storm_of_resizes_tears_nothing(world):
    lines = ["line %03d" % i for i in range(80)]
    with world.fake([{"reply": [text(line + "\n\n") for line in lines], "pace": 0.01}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("line 002")
            for i in range(200):
                hasp.signal(signal.SIGWINCH)
                if i % 10 == 0:
                    hasp.resize(60 + i // 4, 20 + i % 7)
            hasp.resize(120, 24)
            shown = hasp.wait("line 079").wait(READY).dump().text
    assert [line for line in lines if shown.count(line) != 1] == []


def test_the_pager_folds_and_unfolds(world):
    world.write("long.txt", "".join("row %d of the file\n" % i for i in range(1, 41)))
    with world.fake([[call("run_shell_command", {"command": "cat long.txt"})], [text("Read.")]]) as server:
        with world.hasp(server, "--approval-mode", "yolo", rows=60) as hasp:
            hasp.type("go").key("enter").wait("Read.").wait(READY).key("ctrl+o").wait("row 7 of the file")
            hasp.type("z").wait("z unfolds")
            assert "row 7 of the file" not in hasp.dump().text and "row 40 of the file" in hasp.dump().text
            hasp.type("z").wait("row 7 of the file").type("q").quiet()
            assert not hasp.dump().alternate


def test_the_pager_folds_one_entry_alone(world):
    for name in "ab":
        world.write(name + ".txt", "".join("%s %d of the file\n" % (name, i) for i in range(1, 41)))
    with world.fake([[call("run_shell_command", {"command": "cat a.txt"})],
                     [call("run_shell_command", {"command": "cat b.txt"})], [text("Read.")]]) as server:
        with world.hasp(server, "--approval-mode", "yolo", rows=120) as hasp:
            hasp.type("go").key("enter").wait("Read.").wait(READY).key("ctrl+o").wait("b 7 of the file")
            hasp.type("g}o").wait("o unfolds it")
            shown = hasp.dump().text
            assert "a 7 of" not in shown and "a 40 of" in shown and "b 7 of" in shown
            hasp.type("o").wait("a 7 of the file").wait("o folds it")
            hasp.type("z}o").wait("z unfolds all").wait("a 7 of the file")
            hasp.gone("b 7 of")
            hasp.type("q").quiet()


def test_warnings_and_errors_are_shown_alone(world):
    world.settings(general={"maxAttempts": 1})
    with world.fake([{"status": 400, "error": "Wrong thing"}]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").key("f12").wait("no warnings and no errors")
            hasp.type("go").key("enter").wait("Wrong thing").quiet().key("f12").wait("Warnings and errors")
            shown = hasp.dump()
            assert shown.alternate and "Wrong thing" in shown.text and "> go" not in shown.window


@pytest.mark.parametrize("method, sequence", [("osc9", b"\x1b]9;hasp has a question."), ("bell", b"\x07"),
                                              ("osc777", b"\x1b]777;notify;hasp;hasp has a question.")])
def test_who_looks_elsewhere_is_told_as_the_setting_says(world, method, sequence):
    world.settings(general={"enableNotifications": True, "notificationMethod": method})
    with world.fake([[write("b.c", "int x;\n")], [text("Asked.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("\x1b[O").type("write").key("enter").wait("Allow once").quiet()
            raw = hasp.raw().replace(b"\x1b]0;", b"").split(b"Allow once")[0]
            assert sequence in raw, raw
            assert "Action required" in hasp.dump().title
            hasp.type("\x1b[I1").wait("Asked.")


def test_markdown_is_shown_as_its_source_and_rendered_again(world):
    """From then on; what is printed stays. The pager follows, and switches too."""
    with world.fake([[text("An **old** answer.")], [text("- A **new** one.\n\n```c\nint x;\n```\n")],
                     [text("The **last** one.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("go").key("enter").wait("An old answer.").wait(READY)
            hasp.key("alt+m").wait("Answers are shown as their Markdown source").type("on").key("enter")
            hasp.wait("- A **new** one.").wait("```c").wait(READY)
            assert "An old answer." in hasp.dump().text and "**old**" not in hasp.dump().text
            hasp.key("ctrl+o").wait("Transcript").wait("An **old** answer.").wait("- A **new** one.")
            hasp.key("alt+m").wait("Markdown is rendered").wait("An old answer.")
            hasp.gone("**")
            hasp.key("q").wait("- A **new** one.").wait(READY).type("and").key("enter").wait("The last one.")


def test_the_topic_is_shown_and_is_there_again(world, held):
    """Above the activity and in the window's title; one without a title leaves it, a refused one too. What a hostile
    one holds is text."""
    topic = [call("update_topic", {"title": "Parser\x1b]0;evil\x07", "strategic_intent": "Read the lexer."})]
    goes_on = [call("update_topic", {"strategic_intent": "Now the tests."})]
    refused = [call("update_topic", {"title": "No topic"})]
    with world.fake([topic, goes_on, refused, {"reply": [text("Done so.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("go").key("enter")
            held.wait()
            hasp.wait("Topic Parser").wait("  Read the lexer.").wait("Now the tests.").quiet(0.2)
            dump = hasp.dump()
            at = [i for i, line in enumerate(dump.window) if line.startswith("* Working")][-1]
            assert "Now the tests." in dump.window[at] and dump.window[at - 1].startswith("Parser")
            assert dump.title.startswith("Working: Parser") and "No topic" not in dump.title
            assert b"\x1b]0;evil" not in hasp.raw()
            held.go.set()
            hasp.wait("Done so.").wait(READY).titled("Ready: Parser").key("ctrl+d")
            assert hasp.end() == 0
    with world.fake([[text("On.")]]) as server:
        with world.hasp(server, "--resume", "latest") as hasp:
            hasp.wait("The session continues here.").wait(READY).titled("Ready: Parser")
            hasp.type("/clear").key("enter").titled("Ready (")
    world.settings(general={"topicUpdateNarration": False})
    with world.fake([[text("On.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("go").key("enter").wait("On.")
    assert "update_topic" not in str(server.requests[-1].body)


def test_progress_is_shown_while_it_works(world, held):
    """OSC 9;4: without an end while it works, and none afterwards; the title says so too."""
    with world.fake([{"reply": [text("Done so.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").quiet().raw()
            hasp.type("go").key("enter")
            held.wait()
            hasp.wait("* Working").quiet(0.2)
            assert b"\x1b]9;4;3" in hasp.raw() and "Working" in hasp.dump().title
            held.go.set()
            hasp.wait("Done so.").wait(READY).quiet()
            assert b"\x1b]9;4;0" in hasp.raw() and "Ready" in hasp.dump().title


def telemetry_of(path):
    """The objects of the file, one after the other."""
    found, at, whole, decoder = [], 0, path.read_text(), json.JSONDecoder()
    while at < len(whole.rstrip()):
        value, at = decoder.raw_decode(whole, at)
        at += len(whole[at:]) - len(whole[at:].lstrip())
        found.append(value)
    return found


def test_what_telemetry_has_of_a_terminal(world):
    """Prompts with a span of their own, commands by name, and what a confirmation was about."""
    log = world.home / "telemetry.log"
    world.settings(
        telemetry={"enabled": True, "outfile": str(log), "logPrompts": True},
        hasp={"telemetry": {"logDetails": True}},
        tools={"confirmationRequired": ["run_shell_command"]},
        hooks={"Notification": [{"hooks": [{"type": "command", "command": "true"}]}]})
    with world.fake([[write("a.c", "made-up-contents\n")], [call("run_shell_command", {"command": "echo also"})],
                     [text("Written.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("write it").key("enter").wait("Allow once").key("enter")
            hasp.wait("echo also").wait("Allow once").key("enter").wait("Written.").wait(READY).type("/about made-up-word").key("enter").wait("no arguments")
            hasp.type("/about").key("enter").wait("session    ")
            hasp.type("/rewind 1").key("enter").wait("What goes back?").key("enter").wait("/rewind undo").quiet().key("ctrl+c").wait(READY).key("ctrl+d")
            assert hasp.end() == 0
    found = telemetry_of(log)
    events = {}
    for one in found:
        if "event.name" in one.get("attributes", {}):
            events.setdefault(one["attributes"]["event.name"], []).append(one["attributes"])
    (finished,) = events["gemini_cli.conversation_finished"]
    assert (finished["approvalMode"], finished["turnCount"]) == ("default", 3)
    assert [(one["command"], one["status"]) for one in events["gemini_cli.slash_command"]] == [
        ("about", "error"), ("about", "success"), ("rewind", "success"), ("rewind", "success")]
    assert [one["outcome"] for one in events["gemini_cli.rewind"]] == ["rewind_and_revert"]
    edit, command = (json.loads(one["hook_input"])["details"] for one in events["gemini_cli.hook_call"]
                     if one["hook_event_name"] == "Notification")
    assert (edit["type"], edit["filePath"], edit["newContent"]) == ("edit", str(world.root / "a.c"), "[17 bytes]")
    assert (command["type"], command["title"], command["command"]) == ("exec", "Confirm Shell Command", "echo also")
    spans = [one for one in found if "_spanContext" in one]
    assert [one["name"] for one in spans][:8] == [
        *["llm_call", "tool_call", "schedule_tool_calls"] * 2, "llm_call", "user_prompt"]
    # After the first reply (others come ten seconds later at the earliest), after the prompt, and last.
    counted = [next(metric for metric in one["scopeMetrics"][0]["metrics"]
                    if metric["descriptor"]["name"] == "gemini_cli.api.request.count")["dataPoints"][0]["value"]
               for one in found if "scopeMetrics" in one]
    assert counted[0] == 1 and counted[-2:] == [3, 3] and counted == sorted(counted)
    prompt = spans[7]["_spanContext"]
    for one in (spans[0], spans[2], spans[3], spans[5], spans[6]):
        assert one["parentSpanContext"] == prompt
    assert "made-up" not in log.read_text()


# ---- rules on paths ------------------------------------------------------------------------------
