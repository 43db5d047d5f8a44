# SPDX-License-Identifier: Apache-2.0
"""The question about a file outside of the workspace, on a terminal: keys against what is on disk, and what the model
was told."""
import hashlib
import os
from pathlib import Path
import re
import shutil
import tempfile
import time

import pytest
from conftest import SECONDS
from fake_gemini import call, text
from test_dialogs import choose, told


@pytest.fixture
def outside():
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix="hasp-outside-", dir="/var/tmp")))
    (path / "notes.md").write_text("the notes\n")
    yield path
    shutil.rmtree(path)


def read(path):
    return call("read_file", {"file_path": str(path)})


@pytest.mark.parametrize("level", ["auto", "landlock", "paths"])
def test_a_file_is_read_when_that_is_allowed(world, outside, level):
    notes = outside / "notes.md"
    (world.root / "link").symlink_to(notes)
    with world.fake([[read("link")], [read(notes)], [text("Seen twice.")]]) as server:
        with world.hasp(server, "--sandbox", level, rows=40) as hasp:
            hasp.type("look").key("enter").wait("This is outside the workspace")
            hasp.wait("read %s: this file may be read, and nothing else." % notes).wait("The call names it link")
            hasp.wait("Allow this?").wait("to every call that works on files, until you quit")
            shown = "\n".join(hasp.dump().window)
            assert "command" not in shown.split("This is outside")[1] and "the notes" not in shown
            choose(hasp, "Allow for this session").wait("Seen twice.")
    assert "the notes" in told(server) and "allowed just that for this session" in told(server, 1)


@pytest.mark.parametrize("name", ["notes.md", "my f\N{LATIN SMALL LETTER O WITH DIAERESIS}lder/notes.md"])
def test_a_file_is_written_after_two_questions(world, outside, name):
    notes = outside / name
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("the notes\n")
    change = call("update_file", {"file_path": str(notes), "old_content": "the", "new_content": "my"})
    with world.fake([[change], [text("Changed.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("change").key("enter")
            hasp.wait("write %s: this file may be read and replaced, and nothing else." % notes)
            choose(hasp, "Allow once").wait("Apply this change?").quiet(0.1)
            assert "\n%s\n@@" % notes in hasp.dump().text, "the diff names a file of the workspace"
            assert notes.read_text() == "the notes\n"
            choose(hasp, "Allow once").wait("Changed.")
    assert notes.read_text() == "my notes\n" and os.listdir(notes.parent) == ["notes.md"]


def test_no_and_what_to_do_instead(world, outside):
    with world.fake([[read(outside / "notes.md")], [text("Here then.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("look").key("enter").wait("Allow this?")
            choose(hasp, "No, suggest changes").wait("What should be done instead?")
            hasp.type("Use ./notes.").key("enter").wait("Here then.")
    assert "They say: Use ./notes." in told(server) and "the notes" not in told(server)


def test_reads_of_one_reply_are_one_question_for_the_session(world, outside):
    notes = outside / "notes.md"
    world.write("mine", "mine\n")
    with world.fake([[read(notes), read("mine"), read(notes), read(notes)], [text("All seen.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("look").key("enter").wait("Allow this?")
            choose(hasp, "Allow for this session").wait("All seen.")
    assert str(server.requests[-1].body["contents"][-1]).count("'the notes\\n'") == 3


def test_a_sub_agents_question_names_it_and_the_session_is_one(world, outside):
    path = world.home / ".gemini" / "agents" / "fruit.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: fruit\ndescription: Does it.\n---\nLook.\n")
    notes = outside / "notes.md"
    steps = [[call("invoke_agent", {"agent_name": "fruit", "prompt": "Look."})], [read(notes)], [text("Child done.")],
             [read(notes)], [text("All done.")]]
    with world.fake(steps, append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter").wait("Allow this?").wait("Agent fruit")
            choose(hasp, "Allow for this session").wait("All done.")
    assert "the notes" in told(server) and "the notes" in told(server, 2)


def say_yes_until(hasp, end):
    """Each question once, as it comes. Returns what was asked."""
    asked, last = [], time.monotonic() + SECONDS
    while end not in hasp.dump().text:
        assert time.monotonic() < last
        question = re.search(r"^(Allow this|Apply (this|these) changes?)\? \[1-.*?^> 1", "\n".join(hasp.quiet(0.05).dump().window), re.M | re.S)
        if question and question[0] not in asked:
            hasp.type("1")
            asked.append(question[0])
    return len(asked)


def test_edits_of_one_reply_inside_and_outside(world, outside):
    """Each path outside is asked about by itself; none of the questions waits for another for ever."""
    (outside / "rest.md").write_text("the rest\n")
    world.write("mine", "the mine\n")
    paths = [outside / "notes.md", "mine", outside / "rest.md"]
    edits = [call("update_file", {"file_path": str(p), "old_content": "the", "new_content": "my"}) for p in paths]
    with world.fake([[*edits, read(outside / "notes.md")], [text("All changed.")]]) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("change").key("enter")
            assert say_yes_until(hasp, "All changed.") == 6
    assert [(outside / n).read_text() for n in ("notes.md", "rest.md")] == ["my notes\n", "my rest\n"]
    assert world.read("mine") == "my mine\n" and "my notes" in told(server)


def several(outside, *more):
    the = {"kind": "update", "old_content": "the", "new_content": "my"}
    return call("apply_changes", {"changes": [dict(the, file_path="mine"),
                                              dict(the, file_path=str(outside / "notes.md")), *more]})


def test_a_change_of_several_files_names_each(world, outside):
    (outside / "old.md").write_text("old\n")
    (outside / "a.md").write_text("a\n")
    world.write("mine", "the mine\n")
    sums = {n: hashlib.sha256(("%s\n" % n).encode()).hexdigest() for n in ("old", "a")}
    change = several(outside, {"kind": "create", "file_path": str(outside / "new.md"), "content": "new\n"},
                     {"kind": "delete", "file_path": str(outside / "old.md"), "base_content_sha256": sums["old"]},
                     {"kind": "move", "file_path": str(outside / "a.md"), "new_path": str(outside / "b.md"),
                      "base_content_sha256": sums["a"]})
    with world.fake([[change], [text("Changed.")]]) as server:
        with world.hasp(server, rows=50, columns=160) as hasp:
            hasp.type("change").key("enter").wait("Allow this?")
            for line in ("write %s/notes.md: this file may be read and replaced, and nothing else.",
                         "create %s/new.md: this file may be made, read and replaced, and nothing else.",
                         "remove %s/old.md: this file may be read and removed, and nothing else.",
                         "move %s/a.md to {0}/b.md: this file may be read and get that name, and nothing else."):
                hasp.wait(line.format(outside) % outside)
            hasp.wait("No checkpoint covers it: /rewind and /restore do not undo changes there.")
            assert "/mine" not in "\n".join(hasp.dump().window)
            choose(hasp, "Allow once").wait("Apply these changes?").quiet(0.1)
            assert (outside / "notes.md").read_text() == "the notes\n" and world.read("mine") == "the mine\n"
            choose(hasp, "Allow once").wait("Changed.")
    assert sorted(os.listdir(outside)) == ["b.md", "new.md", "notes.md"]
    assert (outside / "notes.md").read_text() == "my notes\n" and world.read("mine") == "my mine\n"


def test_a_change_of_several_files_is_declined(world, outside):
    world.write("mine", "the mine\n")
    with world.fake([[several(outside)], [text("Here then.")]]) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("change").key("enter").wait("Allow this?")
            choose(hasp, "No, suggest changes").wait("What should be done instead?")
            hasp.type("Leave it.").key("enter").wait("Here then.")
    assert "They say: Leave it." in told(server)
    assert (outside / "notes.md").read_text() == "the notes\n" and world.read("mine") == "the mine\n"


def test_a_change_with_a_secret_is_no_question(world, outside):
    (outside / ".ssh").mkdir()
    (outside / ".ssh" / "config").write_text("the key\n")
    world.write("mine", "the mine\n")
    secret = {"kind": "update", "file_path": str(outside / ".ssh" / "config"), "old_content": "the", "new_content": "my"}
    with world.fake([[several(outside, secret)], [text("Refused.")]]) as server:
        with world.hasp(server, rows=50) as hasp:
            hasp.type("change").key("enter").wait("Refused.")
            assert "Allow this?" not in hasp.dump().text
    assert "this cannot be allowed: %s/.ssh/config" % outside in told(server)
    assert (outside / "notes.md").read_text() == "the notes\n" and world.read("mine") == "the mine\n"


def test_a_rewind_undoes_what_is_inside_alone(world, outside):
    """As the question said."""
    world.write("mine", "the mine\n")
    with world.fake([[several(outside)], [text("Changed.")]]) as server:
        with world.hasp(server, rows=50, columns=160) as hasp:
            hasp.type("change").key("enter").wait("Allow this?")
            choose(hasp, "Allow once").wait("Apply these changes?")
            choose(hasp, "Allow once").wait("Changed.").wait("? for keys")
            assert (outside / "notes.md").read_text() == "my notes\n" and world.read("mine") == "my mine\n"
            hasp.type("/rewind").key("enter").wait("Back to which?").key("enter").wait("What goes back?")
            hasp.wait("Conversation and files").key("enter").wait("/rewind undo")
    assert world.read("mine") == "the mine\n" and (outside / "notes.md").read_text() == "my notes\n"
