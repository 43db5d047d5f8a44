# SPDX-License-Identifier: Apache-2.0
"""What the interactive agent asks before it acts: confirmed, refused, answered for several, asked again."""
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from fake_gemini import call, text

READY = "? for keys"


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def said(server):
    """What the user's side of the last request says, as one text."""
    return str(server.requests[-1].body["contents"])


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


# ---- several questions at once -------------------------------------------------------------------

def files(world, *names):
    return {n for n in names if (world.root / n).exists()}


def everything(hasp):
    """The scrollback and the screen."""
    return hasp.dump().text


def test_likes_are_allowed_at_once(world):
    names = ["f%d" % i for i in range(1, 6)]
    with world.fake([[write(n, "in %s\n" % n) for n in names], [text("Written.")]]) as server:
        with world.hasp(server, rows=60) as hasp:
            hasp.type("write").key("enter").wait("2. Allow these 5  this one and the 4 below")
            shown = everything(hasp)
            assert all(shown.count("in %s\n" % n) == 1 for n in names)
            assert shown.count("Apply these changes?") == 1
            assert files(world, *names) == set()
            hasp.type("2").wait("Written.")
    assert files(world, *names) == set(names)


def test_commands_of_one_program_are_allowed_at_once(world):
    commands = ["touch one", "mkdir two", "touch three"]
    with world.fake([[call("run_shell_command", {"command": c}) for c in commands], [text("Run.")]]) as server:
        with world.hasp(server, rows=60) as hasp:
            hasp.type("run").key("enter").wait("2. Allow these 2").wait("touch three")
            hasp.type("2").wait("Run this command?").wait("mkdir two").gone("Allow these")
            hasp.type("1").wait("Run.")
    assert files(world, "one", "two", "three") == {"one", "two", "three"}


def test_once_is_for_one_of_them(world):
    with world.fake([[write(n, "in %s\n" % n) for n in "abc"], [text("Written.")]]) as server:
        with world.hasp(server, rows=60) as hasp:
            hasp.type("write").key("enter").wait("Allow these 3").type("1").wait("Allow these 2")
            assert files(world, "b", "c") == set()
            hasp.key("esc").wait("[1-5]").wait("in c\n").type("1").wait("Written.")
    assert files(world, "a", "b", "c") == {"a", "c"}


def test_for_this_session_answers_those_that_wait(world):
    with world.fake([[write(n, "in %s\n" % n) for n in "abc"], [text("Written.")]]) as server:
        with world.hasp(server, rows=60) as hasp:
            hasp.type("write").key("enter").wait("3. Allow for this session").type("3").wait("Written.")
            assert "Apply" not in everything(hasp)
    assert files(world, "a", "b", "c") == {"a", "b", "c"}


def test_edits_of_one_reply_are_reviewed_together(world):
    world.write("b", "".join("line %d\n" % i for i in range(1, 21)))
    edit = call("apply_changes", {"changes": [
        {"kind": "update", "file_path": "b", "old_content": "line 2\n", "new_content": "LINE 2\n"},
        {"kind": "update", "file_path": "b", "old_content": "line 19\n", "new_content": "LINE 19\n"},
        {"kind": "create", "file_path": "c", "content": "in c\n"}]})
    with world.fake([[write("a", "in a\n"), edit, write("d", "in d\n")], [text("Written.")]]) as server:
        with world.hasp(server, rows=60) as hasp:
            hasp.type("write").key("enter").wait("4. Review by hunk").type("4")
            hasp.wait("File 1/4, hunk 1/1?").type("y").wait("File 2/4, hunk 1/2?").type("n")
            hasp.wait("File 2/4, hunk 2/2?").type("y").wait("File 3/4?").wait("Creates").type("n")
            hasp.wait("File 4/4, hunk 1/1?").type("k").wait("File 3/4?").wait("Left out.").type("j")
            hasp.wait("File 4/4, hunk 1/1?").type("y").wait("3 of 5 hunks, in 3 of 4 files.")
            assert files(world, "a", "d") == set()
            hasp.type("y").wait("Written.")
    assert files(world, "a", "c", "d") == {"a", "d"}
    assert "line 2\n" in world.read("b") and "LINE 19\n" in world.read("b")
    told = said(server)
    assert "1 of 2 hunks taken. Hunk 1 (@@ -1,5 +1,5 @@): not taken." in told and "/c (create): not taken." in told


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


@pytest.fixture
def outside():
    """A folder that no workspace has, and not in /tmp, which is the session's own."""
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix="hasp-denied-", dir="/var/tmp")))
    (path / "notes").write_text("old\n")
    yield path
    shutil.rmtree(path)


def append(path):
    return call("run_shell_command", {"command": "echo run >> log; echo new >> %s" % path})


@pytest.mark.parametrize("level", ["auto", "landlock"])
def test_a_denied_command_runs_again_when_that_is_allowed(world, outside, level):
    notes = outside / "notes"
    with world.fake([[append(notes)], [append(notes)], [text("Appended.")]]) as server:
        with world.hasp(server, "--sandbox", level) as hasp:
            hasp.type("append").key("enter").wait("The sandbox will block this: write %s" % notes)
            hasp.wait("Run this command?").type("1")
            hasp.wait("write %s: this file may be written, and nothing else." % notes)
            hasp.wait("run the command again?").wait("Allow for this session")
            assert notes.read_text() == "old\n" and world.read("log") == "run\n"
            hasp.type("2").wait("exit 0  run 2").wait("Run this command? [1-3]").type("1").wait("Appended.")
            assert notes.read_text() == "old\nnew\nnew\n" and world.read("log") == "run\n" * 3
    assert "this is the result of run 2" in said(server)


def test_a_denied_command_is_left_as_it_is(world, outside):
    notes = outside / "notes"
    with world.fake([[append(notes)], [text("Elsewhere then.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("append").key("enter").wait("Run this command?").type("1")
            hasp.wait("run the command again?").type("3").wait("What should be done instead?")
            hasp.type("Use ./notes.").key("enter").wait("Elsewhere then.")
    assert notes.read_text() == "old\n" and world.read("log") == "run\n"
    assert "They declined, and say: Use ./notes." in said(server)


ASKS = '[[rule]]\npath = "generated/**"\ndecision = "ask_user"\n'


def test_a_rule_that_asks_about_a_folder_is_a_question_each_time(world):
    """Whatever the mode; a command, which this mode runs unasked, cannot write there."""
    world.write("generated/a", "old\n")
    (world.home / ".gemini" / "policies.toml").write_text(ASKS)
    script = [[write("generated/one", "1\n")], [text("First.")], [write("generated/two", "2\n")],
              [call("run_shell_command", {"command": "echo x > generated/a; true"})], [text("Third.")],
              [write("free", "x\n")], [text("Fourth.")]]
    with world.fake(script) as server:
        with world.hasp(server, "--approval-mode", "auto_edit", rows=50) as hasp:
            hasp.type("go").key("enter").wait("generated/one").wait("Allow once")
            assert not (world.root / "generated/one").exists()
            hasp.type("1").wait("First.").wait("edits accepted")
            assert world.read("generated/one") == "1\n"
            hasp.type("go on").key("enter").wait("generated/two").wait("[1-").key("esc").wait("Cancelled").wait("edits accepted")
            assert not (world.root / "generated/two").exists()
            hasp.type("and a command").key("enter").wait("Third.").wait("edits accepted")
            assert world.read("generated/a") == "old\n"
            hasp.type("free").key("enter").wait("Fourth.")
            assert world.read("free") == "x\n"


def test_a_folder_that_a_rule_asks_about_is_not_allowed_for_the_session(world):
    """Nor does a yes for the session to edits elsewhere count there: the user's rule is stronger."""
    (world.home / ".gemini" / "policies.toml").write_text(ASKS)
    script = [[write("free", "x\n")], [text("First.")], [write("generated/one", "1\n")], [text("Second.")],
              [write("generated/two", "2\n")]]
    with world.fake(script) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("go").key("enter").wait("2. Allow for this session").type("2").wait("First.").wait(READY)
            hasp.type("there").key("enter").wait("generated/one").wait("Allow once")
            question = hasp.dump().text.rsplit("generated/one", 1)[1]
            assert "for this session" not in question, question
            hasp.type("1").wait("Second.").wait(READY)
            hasp.type("again").key("enter").wait("generated/two").wait("[1-").key("esc").wait("Cancelled").wait(READY)
    assert (world.root / "generated/one").exists() and not (world.root / "generated/two").exists()
