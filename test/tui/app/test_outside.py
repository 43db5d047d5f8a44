# SPDX-License-Identifier: Apache-2.0
"""The question about a file outside of the workspace, on a terminal: keys against what is on disk, and what the model
was told."""
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
            hasp.type("look").key("enter").wait("This is outside of the workspace")
            hasp.wait("read %s: this file may be read, and nothing else." % notes).wait("The call names it link")
            hasp.wait("Allow this?").wait("to every call that works on files, without this question")
            shown = "\n".join(hasp.dump().window)
            assert "command" not in shown.split("This is outside")[1] and "the notes" not in shown
            choose(hasp, "Allow for this session").wait("Seen twice.")
    assert "the notes" in told(server) and "allowed just that for this session" in told(server, 1)


def test_a_file_is_written_after_two_questions(world, outside):
    notes = outside / "notes.md"
    change = call("update_file", {"file_path": str(notes), "old_content": "the", "new_content": "my"})
    with world.fake([[change], [text("Changed.")]]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("change").key("enter")
            hasp.wait("write %s: this file may be read and replaced, and nothing else." % notes)
            choose(hasp, "Allow once").wait("Apply this change?").quiet(0.1)
            assert notes.read_text() == "the notes\n"
            choose(hasp, "Allow once").wait("Changed.")
    assert notes.read_text() == "my notes\n" and os.listdir(outside) == ["notes.md"]


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
    """Each question once, as it comes: what it is about stays on the screen. Returns how many there were."""
    answered, last = 0, time.monotonic() + SECONDS
    while end not in hasp.dump().text:
        assert time.monotonic() < last
        shown = hasp.quiet(0.05).dump()
        asked = len(re.findall(r"^(Allow this|Apply this change)\?", shown.text, re.M))
        if asked > answered and any(re.match(r"(Allow|Apply)\? \[1-", row) for row in shown.window):
            hasp.type("1")
            answered += 1
    return answered


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
