# SPDX-License-Identifier: Apache-2.0
"""Sessions on a terminal: ways back, other sessions, what a kill leaves."""
import random
import signal

import kill_rounds
from fake_gemini import call, text
from full_fuzz import until

READY = "? for keys"
TEN = "".join("%d\n" % line for line in range(1, 11))


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def edited(hasp):
    hasp.type("edit it").key("enter").wait("Allow once").type("1").wait("Edited.").wait(READY)


def test_a_rewind_says_what_it_would_change_and_keeps_what_the_user_changed(world):
    """Chosen by list: first the prompt, then what goes back; with its undo."""
    world.write("a.txt", TEN)
    with world.fake([[call("read_file", {"file_path": "a.txt"})],
                     [call("update_file", {"file_path": "a.txt", "old_content": "2\n", "new_content": "an edit\n"})],
                     [text("Edited.")]]) as server:
        with world.hasp(server, columns=160, rows=40) as hasp:
            edited(hasp)
            world.write("a.txt", world.read("a.txt").replace("9\n", "mine\n"))
            hasp.type("/rewind").key("enter").wait("Back to which?").wait("> 1. edit it").key("enter")
            hasp.wait("What goes back?").wait("Conversation and files").wait("a.txt merged +1 -1")
            hasp.key("ctrl+o").wait("an edit").wait("Changes").key("q")
            assert "an edit" in world.read("a.txt")
            hasp.wait("What goes back?").key("enter").wait("Your changes in it are kept: +1 -1").wait("> edit it")
            assert world.read("a.txt") == TEN.replace("9\n", "mine\n")
            hasp.key("ctrl+c").type("/rewind undo").key("enter").wait("The last rewind is undone.")
            assert world.read("a.txt") == TEN.replace("2\n", "an edit\n").replace("9\n", "mine\n")


def test_a_checkpoint_is_restored_by_its_number_and_that_is_undone(world):
    world.write("a.txt", TEN)
    with world.fake([[call("read_file", {"file_path": "a.txt"})],
                     [call("update_file", {"file_path": "a.txt", "old_content": "2\n", "new_content": "an edit\n"})],
                     [text("Edited.")]]) as server:
        with world.hasp(server, columns=160, rows=40) as hasp:
            edited(hasp)
            after = world.read("a.txt")
            hasp.type("/restore").key("enter").wait("Which one?").quiet().key("enter").wait("To take it back: /restore").quiet()
            assert world.read("a.txt") == TEN
            undo = hasp.dump().text.split("To take it back: ")[1].split("\n")[0].strip()
            hasp.wait(READY).type(undo).key("enter")
            until(hasp, lambda window: sum("To take it back: /restore" in row for row in window) == 2)
            assert world.read("a.txt") == after


def test_a_rewind_of_files_leaves_conflicts_and_the_conversation(world):
    world.write("a.txt", "one\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [write("a.txt", "two\n")], [text("Edited.")],
                     [text("Still here.")]]) as server:
        with world.hasp(server, columns=160, rows=40) as hasp:
            edited(hasp)
            world.write("a.txt", "mine\n")
            hasp.type("/rewind 1").key("enter").wait("1 left as it is").key("down", "down", "enter")
            hasp.wait("left").wait("touch the lines").wait(READY)
            assert world.read("a.txt") == "mine\n"
            hasp.type("go on").key("enter").wait("Still here.")
    assert "edit it" in str(server.requests[-1].body["contents"])


# ---- other sessions --------------------------------------------------------------------------------


def three_sessions(world):
    """Of which the second is about a parser; the last is the newest."""
    for prompt, reply in (("Paint the shed", "Green it is."), ("Why does it crash?", "The parser reads too far."),
                          ("Write a poem", "Roses.\n\nViolets.")):
        with world.fake([[text(reply)]]) as server:
            with world.hasp(server) as hasp:
                hasp.type(prompt).key("enter").wait(reply.split()[0]).wait(READY).key("ctrl+d")
                assert hasp.end() == 0


def test_sessions_are_searched_looked_at_and_opened(world):
    three_sessions(world)
    with world.fake([[text("It still does.")]]) as server:
        with world.hasp(server, "--resume", rows=30) as hasp:
            hasp.wait("3 sessions").wait("Violets.")
            hasp.key("ctrl+o").wait("Session").wait("Roses.").key("q").wait("3 sessions")
            window = "\n".join(hasp.dump().window)
            assert window.index("Write a poem") < window.index("crash?") < window.index("Paint the shed")
            hasp.type("PARSER").wait("1 session").wait("found: The parser reads").key("enter")
            hasp.wait("The parser reads too far.").wait(READY)
            hasp.type("and now").key("enter").wait("It still does.")
    assert "Why does it crash?" in str(server.requests[-1].body["contents"])


def test_a_session_is_renamed_and_deleted_from_the_list(world):
    three_sessions(world)
    with world.fake([]) as server:
        with world.hasp(server, columns=140, rows=30) as hasp:
            hasp.type("/resume").key("enter").wait("3 sessions").key("down", "ctrl+r").wait("New title:")
            hasp.type("A bug in the parser").key("enter").wait("It is called").wait("A bug in the parser  2")
            hasp.type("shed").wait("1 session").key("ctrl+x").wait("Delete this session").type("n")
            hasp.wait("Esc to cancel").key("delete").wait("y to delete").type("y").wait("Deleted").wait("0 sessions")
            hasp.key("ctrl+u").wait("2 sessions").key("esc").wait(READY)
    assert len(world.sessions()) == 2
    listed = world.command("--list-sessions").text
    assert "A bug in the parser" in listed and "shed" not in listed


def test_ctrl_d_quits_from_the_list_unless_something_is_typed(world):
    three_sessions(world)
    with world.fake([]) as server:
        with world.hasp(server, columns=140, rows=30) as hasp:
            hasp.type("/resume").key("enter").wait("3 sessions").type("shed").wait("1 session").key("ctrl+d").quiet()
            assert hasp.dump().alive and "Delete this session" not in hasp.dump().text
            hasp.key("ctrl+u").wait("3 sessions").key("ctrl+d")
            assert hasp.end() == 0
    assert len(world.sessions()) == 3


def test_an_export_is_not_written_over_a_file_unasked(world):
    for name in "talk.md", "other.md":
        world.write(name, "mine\n")
    with world.fake([[text("Here:\n\n```\nan open fence")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("say it").key("enter").wait("an open fence").wait(READY)
            hasp.type("/export talk.md").key("enter").wait("It is there already").key("enter").wait(READY)
            assert world.read("talk.md") == "mine\n"
            hasp.type("/chat share other.md").key("enter").wait("Replace it  other.md").key("down", "enter")
            hasp.wait("Written to")
            hasp.type("/export talk.json").key("enter").wait("talk.json")
    exported = world.read("other.md")
    assert "> say it\n" in exported and exported.endswith("```\nan open fence\n```\n\n")


def test_the_end_of_a_long_session_is_shown_once(world):
    """It is shown before all of the session is read; all of that is in the transcript then."""
    # No two words alike, lest it be taken for a loop.
    long = "\n\n".join("paragraph %d %s" % (i, " ".join("w%d" % (200 * i + k) for k in range(200))) for i in range(400))
    with world.fake([[text("The beginning.")], [text(long)], [text("The very end.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("begin").key("enter").wait("The beginning.").wait(READY)
            hasp.type("go on").key("enter").wait("paragraph 399").wait(READY)
            hasp.type("end").key("enter").wait("The very end.").wait(READY).key("ctrl+d")
            assert hasp.end() == 0
    assert world.sessions()[0].stat().st_size > 300 << 10
    with world.fake([]) as server:
        for args in ("--resume", "latest"), ():
            with world.hasp(server, *args) as hasp:
                if not args:
                    hasp.wait(READY).type("/resume").key("enter").wait("1 session").wait("The very end.").key("enter")
                hasp.wait("The session continues here.").wait(READY)
                shown = hasp.dump().text
                assert shown.count("The very end.") == 1 and "Ctrl+O shows the earlier messages." in shown
                hasp.key("ctrl+o").wait("q closes").key("home").wait("The beginning.").type("q").wait(READY)


# ---- kills -----------------------------------------------------------------------------------------


def test_what_waits_survives_a_kill(world, held):
    """Queued, steered and half typed, in this order."""
    with world.fake([{"reply": [text("Never.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("first").key("enter")
            held.wait()
            hasp.type("a steer").key("enter").wait("joins at the next step").type("the next").key("ctrl+q")
            hasp.wait("queued: the next").type("half a").wait("> half a")
            hasp.signal(signal.SIGKILL)
            held.go.set()
            hasp.end()
        with world.hasp(server) as hasp:
            hasp.wait("> a steer").wait("the next").wait("half a")


def test_kills_at_random_moments_lose_nothing():
    """A few rounds of script/kill-rounds."""
    assert kill_rounds.rounds(4, random.randrange(1 << 24)) == []


def test_a_session_goes_when_it_ends(world):
    with world.fake([[text("Answered.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("forget this").key("enter").wait("Answered.").wait(READY)
            assert len(world.sessions()) == 1
            hasp.type("/quit --delete").key("enter")
            assert hasp.end() == 0
    assert world.sessions() == []
