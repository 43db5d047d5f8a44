# SPDX-License-Identifier: Apache-2.0
"""What meets: a paste, a kill, a question, a narrow window, an editor that fails, while something else has the keys."""
import shlex
import signal

import fake_mcp
import pytest
import terminal
from fake_gemini import call, text
from test_live import KEYS, TYPES, run
from test_sessions import three_sessions

READY = "? for keys"


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


# ---- pastes ---------------------------------------------------------------------------------------


def test_a_paste_is_searched_for_in_the_pager(world):
    with world.fake([[text("A needle and\n\nhay.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("look").key("enter").wait("hay.").wait(READY).key("ctrl+o").wait("q closes")
            hasp.type("/").paste("needle\nno more").wait("/needle").key("enter").wait("q closes")
            assert "not found" not in hasp.dump().text
            hasp.paste("for later").wait("The pasted text is in the prompt").type("q").wait("> for later")


def test_a_paste_is_searched_for_in_sessions_and_can_be_a_title(world):
    three_sessions(world)
    with world.fake([]) as server:
        with world.hasp(server, columns=140, rows=30) as hasp:
            hasp.wait(READY).type("/resume").key("enter").wait("3 sessions").paste("shed").wait("Search: shed  1 session")
            hasp.key("ctrl+r").wait("New title:").paste("A green shed\n").wait("New title: A green shed").key("enter")
            hasp.wait("It is called").wait("A green shed  2")


def test_a_paste_that_a_question_has_no_use_for_is_in_the_prompt(world):
    with world.fake([[write("b.c", "int x;\n")], [text("Written.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter").wait("Allow once").paste("words for later")
            hasp.wait("The pasted text is in the prompt").type("1").wait("Written.").wait("> words for later")


# ---- completion -----------------------------------------------------------------------------------


def test_a_completed_path_is_one_whatever_is_in_it(world):
    """Behind an @ and in a command; also where it is typed on with its backslash."""
    name = 'it\'s (a) "b", c.txt'
    world.write(name, "the content\n")
    with world.fake([[text("Read.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("!cat it").wait("> it's").key("tab").wait("it\\'s").key("enter").wait("the content").wait("exit 0")
            hasp.wait(READY).key("backspace").type("see @it's\\ ").wait("> it's").key("tab").wait("c.txt").type(" please")
            hasp.wait(" please").key("enter").wait("Read.")
    sent = str(server.requests[-1].body["contents"][-1])
    assert sent.count("the content") == 2, sent


def test_a_backslash_that_is_part_of_a_name_does_not_join_two_words(world):
    world.write("notes.txt", "the content\n")
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("see @end\\\\ @not").wait("> notes.txt").key("tab").wait("see @end\\\\ @notes.txt")


# ---- questions ------------------------------------------------------------------------------------


def test_a_question_does_not_take_what_is_typed_into_a_command(world, held):
    """The sibling of a draft that is being typed: here Enter is the command's, too."""
    reads = run("echo begun; while read a; do echo \"got $a\"; done")
    script = [[reads], {"reply": [write("b.c", "int x;\n")], "expect": held}, [text("Asked.")]]
    with world.fake(script) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter").wait(TYPES).key("ctrl+b")
            held.wait()
            hasp.wait("in the background, 1:").key("tab").wait(KEYS).type("a")
            held.go.set()
            for _ in range(200):
                hasp.type("1")
                if "Apply this change?" in hasp.dump().text:
                    break
            hasp.type("1").key("enter").wait("got a1")
            assert not (world.root / "b.c").exists() and "The question above has the keyboard." in hasp.dump().text
            hasp.quiet(0.7).type("1").wait("Asked.").wait(KEYS)
            assert world.read("b.c") == "int x;\n"


def test_who_reads_the_transcript_hears_of_a_question(world, held):
    with world.fake([{"reply": [write("b.c", "int x;\n")], "expect": held}, [text("Asked.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.key("ctrl+o").wait("q closes")
            held.go.set()
            hasp.wait("hasp has a question: q goes to it").titled("Action required").type("q").wait("Allow once").type("1").wait("Asked.")


@pytest.mark.parametrize("kill", [True, False])
def test_what_is_typed_into_a_question_is_not_lost(world, kill):
    """Killed there, or interrupted."""
    with world.fake([[write("b.c", "int x;\n")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("write").key("enter").wait("Review by hunk").type("3").wait("Hunk 1/1?")
            hasp.type("c").wait("Your comment on this hunk").type("too short").key("enter").wait("Your comment: too short")
            hasp.key("esc").wait("5. No, suggest changes").type("5").wait("What should be done instead?")
            hasp.type("a longer one").wait("a longer one")
            if kill:
                hasp.quiet().signal(signal.SIGKILL)
                hasp.end()
            else:
                # The first empties the line.
                hasp.key("ctrl+c", "ctrl+c").wait("Interrupted").wait("> Hunk 1: too short")
        if kill:
            with world.hasp(server) as hasp:
                hasp.wait("Hunk 1: too short").wait("a longer one")


def test_no_timer_runs_while_a_form_within_an_answer_waits(world):
    """Of a server of 2026-07-28: its call waits for the user, an interruption, and the server. The server's own worker
    looks around now and then."""
    world.settings(mcpServers={"fake": fake_mcp.entry("modern,ask-form", trust=True)})
    with world.fake([[call("mcp_fake_say", {"what": "x"})]]) as server:
        with world.hasp(server, rows=40, columns=100) as hasp:
            hasp.type("go").key("enter").wait('The MCP server "fake" asks you to fill in a form:').wait("Name")
            assert any(hasp.quiet(1.2).wakeups(3) < 20 for _ in range(3))  # with a poll of 20 ms there are 150
            hasp.key("ctrl+c", "ctrl+c").wait("Interrupted")


# ---- what waits -----------------------------------------------------------------------------------


def test_a_command_about_the_conversation_waits_for_its_turn(world, held):
    """Custom ones, too, of which nobody knows before."""
    world.write(".gemini/commands/greet.toml", 'prompt = "Greet me."\n')
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Hello you.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.type("/export out.md").key("enter").wait("queued: /export out.md")
            hasp.type("/greet").key("enter").wait("queued: /greet").type("/about").key("enter").wait("session    ")
            held.go.set()
            hasp.wait("Written to").wait("Hello you.").wait(READY)
    assert "One." in world.read("out.md") and "Hello you." not in world.read("out.md")


def test_an_interruption_makes_no_command_a_part_of_the_draft(world, held):
    with world.fake([{"reply": [text("Never.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.type("/export out.md").key("enter").wait("queued: /export out.md").type("then this").key("ctrl+q")
            hasp.wait("queued: then this").type("half a").key("esc").wait("Not run: /export out.md").wait("> then this")
            held.go.set()
            hasp.wait("Interrupted").wait("half a").quiet()
            assert "  /export out.md" not in hasp.dump().window
            hasp.key("ctrl+c").wait(READY).key("up").quiet().key("up").wait("> /export out.md")
    assert not (world.root / "out.md").exists()


@pytest.mark.parametrize("kill", [False, True])
def test_a_shell_command_that_is_typed_is_not_mixed_with_what_waited(world, held, kill):
    """It stays what it is; what waited can be had with Up, now and after a kill."""
    with world.fake([{"reply": [text("Never.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.type("then this").key("ctrl+q").wait("queued: then this").type("!echo half 'one").wait("! echo half 'one").quiet()
            if kill:
                hasp.signal(signal.SIGKILL)
                hasp.end()
            else:
                hasp.key("esc").wait("Not sent, kept in the history: then this").wait("Interrupted").quiet()
                check_the_command_and_what_waited(hasp)
            held.go.set()
        if kill:
            with world.hasp(server) as hasp:
                check_the_command_and_what_waited(hasp)
    assert len(server.requests) == 1


def check_the_command_and_what_waited(hasp):
    hasp.wait("! echo half 'one").quiet()
    assert "!echo" not in hasp.dump().text and "> then this" not in hasp.dump().window
    hasp.key("ctrl+c", "backspace").quiet(0.3).key("up").wait("> then this")


# ---- other programs -------------------------------------------------------------------------------


@pytest.mark.parametrize("begin, shown", [("/resume\r", "3 sessions"), ("/theme\r", "Esc to cancel"), ("\x0f", "q closes")])
def test_lists_and_the_pager_are_suspended(world, begin, shown):
    three_sessions(world)
    with world.fake([]) as server:
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24,
                            env={**world.environment(server), "PS1": "SHELL\\#$ "}, cwd=world.root) as shell:
            shell.wait("SHELL1$").type(shlex.join(map(str, world.argv(server, [])))).key("enter")
            shell.wait("sandbox:").wait(READY).type(begin).wait(shown).key("ctrl+z").wait("SHELL2$")
            shell.type("fg").key("enter").wait("fg").quiet().key("esc").quiet().type("a draft").wait("> a draft")


def test_what_an_editor_saved_before_it_failed_is_kept(world):
    """Also where the terminal goes while it is open; what it did not change is no file of anybody's."""
    world.write("editor.sh", "[ \"$(cat \"$1\")\" = one ] && exit 1\nprintf ' and more' >> \"$1\"\nexit 3\n")
    with world.fake([]) as server:
        with world.hasp(server, env={"EDITOR": "sh %s" % (world.root / "editor.sh"), "VISUAL": ""}) as hasp:
            hasp.wait("sandbox:").type("one").wait("> one").key("ctrl+g").wait("failed; nothing was").quiet()
            assert "What it saved" not in hasp.dump().text and list(world.temp.glob("hasp-edit-*")) == []
            hasp.key("ctrl+u").type("two").wait("> two").key("ctrl+g").wait("What it saved is in").wait("> two")
    (kept,) = world.temp.glob("hasp-edit-*/*")
    assert kept.read_text() == "two and more"


# ---- narrow windows -------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [20, 80])
def test_a_list_says_all_that_it_asks_in_a_narrow_window(world, columns):
    three_sessions(world)
    with world.fake([]) as server:
        with world.hasp(server, columns=columns, rows=30, shown="command.") as hasp:
            hasp.quiet(0.3).type("/resume").key("enter").wait("3 sessions").wait("Write a poem").key("ctrl+x").wait("Delete this").quiet()
            assert "any other key to keep it" in " ".join(" ".join(hasp.dump().window).split())
            hasp.type("n").wait("Ctrl+R").key("ctrl+r").wait("New title:").type("a title that is long").quiet()
            assert "a title that is long" in " ".join(" ".join(hasp.dump().window).split())


@pytest.mark.parametrize("columns", [20, 80])
def test_keys_are_listed_whole_in_a_narrow_window(world, columns):
    with world.fake([]) as server:
        with world.hasp(server, columns=columns, rows=40, shown="command.") as hasp:
            hasp.quiet(0.3).type("/keys").key("enter").wait("q closes").quiet()
            window = "".join("".join(hasp.dump().window).split())
            assert "basic.confirm" in window and "cursor.home" in window
            hasp.type("q").quiet()


def test_a_name_beyond_ascii_is_shown_as_it_is(world):
    name = "n\N{LATIN SMALL LETTER O WITH DIAERESIS}t \N{CJK UNIFIED IDEOGRAPH-6F22}.md"
    world.write(name, "the one\n")
    update = call("update_file", {"file_path": name, "old_content": "the", "new_content": "my"})
    with world.fake([[update], [text("Changed.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter").wait("Allow once").quiet()
            assert "\n%s\n@@" % name in hasp.dump().text and "\\303" not in hasp.dump().text


# ---- plain lines ----------------------------------------------------------------------------------

PLAIN = pytest.mark.parametrize("how", [{"args": ["--screen-reader"]}, {"env": {"TERM": "dumb"}}], ids=["reader", "dumb"])


def plainly(world, server, how, **more):
    return world.hasp(server, *how.get("args", []), env=how.get("env"), **more)


@PLAIN
def test_plain_lines_have_the_choices_of_a_question(world, how):
    """Printed, and again where another one is selected: the live row is the prompt alone."""
    with world.fake([[write("b.c", "int x;\n")], [text("Asked.")]]) as server:
        with plainly(world, server, how, rows=60) as hasp:
            hasp.type("write").key("enter").wait("1. Allow once (selected)").wait("No, suggest changes").quiet()
            if "env" in how:
                assert b"\x1b" not in hasp.raw()
            hasp.key("down").wait("2. Allow for this session: edits of any file and new files, until you quit (selected)").quiet()
            assert hasp.dump().text.count("Review by hunk") == 1
            hasp.type("3").wait("Hunk 1/1?").wait("y take, n leave out").quiet().type("c").wait("Enter keeps it")
            hasp.type("short").key("enter").wait("Your comment: short").type("y").wait("y applies it").type("y").wait("Asked.")
    assert world.read("b.c") == "int x;\n"


@PLAIN
def test_plain_lines_say_what_keys_did(world, how):
    world.write("a.txt", "".join("row %d of it\n" % i for i in range(1, 61)))
    with world.fake([[run("cat a.txt")], [text("Read.")]]) as server:
        with plainly(world, server, how, rows=100) as hasp:
            hasp.wait("command.").key("f12").wait("no warnings and no errors").type("?").wait("/keys all keys")
            hasp.key("ctrl+t").wait("There are no todos.").key("ctrl+c").wait("Press Ctrl+C again to exit.")
            hasp.type("go").key("enter").wait("(Ctrl+O)").wait("Done.").quiet()
            hasp.gone("row 7 of it")
            hasp.key("ctrl+o").wait("row 7 of it").key("shift+tab").wait("Mode: edits accepted.")
            hasp.type("/yolo").key("enter").wait("Mode: YOLO.").key("shift+tab").wait("Mode: default.")


@PLAIN
def test_plain_lines_say_what_waits(world, how, held):
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Two.")], [text("Three.")]], append_only=False) as server:
        with plainly(world, server, how) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.type("a steer").key("enter").wait("Joins at the next step: a steer")
            hasp.type("the next").key("ctrl+q").wait("Queued: the next")
            held.go.set()
            hasp.wait("Three.")
