# SPDX-License-Identifier: Apache-2.0
"""Recorded sessions: listed, resumed, deleted; several files of one session, as Gemini CLI leaves them."""
import fcntl
import json
import os
import re
import time
import uuid

import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]


def prompt_of(done, i=-1):
    """What the user said last in a request."""
    return done.sent[i]["contents"][-1]["parts"][-1]["text"]


def test_sessions_are_listed_resumed_and_deleted(world):
    assert world.command("--list-sessions").text == "0 sessions of this project.\n"
    ids = []
    for word in ("first", "second"):
        done = world.run(HELLO, "-p", word, "-o", "json")
        ids.append(done.json["session_id"])
        assert str(uuid.UUID(ids[-1])) == ids[-1]
    listed = world.command("--list-sessions").text.splitlines()
    assert listed[0] == "2 sessions of this project:" and len(listed) == 3
    assert re.fullmatch(r"  1\. first \(.*\) \[%s\]" % ids[0], listed[1])
    for which, word, i in [("latest", "second", 1), ("1", "first", 0), (ids[1], "second", 1),
                           (ids[0][:8], "first", 0)]:
        done = world.run(HELLO, "-p", "again", "-o", "json", "--resume", which)
        assert done.json["session_id"] == ids[i]
        assert word in done.said() and prompt_of(done) == "again"
    assert len(world.sessions()) == 2
    done = world.command("--delete-session", "1")
    assert done.code == 0 and len(world.sessions()) == 1
    assert ids[1] in world.command("--list-sessions").text
    for which in ("7", "latst", ids[0]):
        done = world.command("--delete-session", which)
        assert done.code == 42 and done.err.startswith("hasp: ")
    assert len(world.sessions()) == 1


def test_a_session_is_found_by_its_title(world):
    for word in ("paint the shed", "sell the shop", "sell the shop"):
        world.run(HELLO, "-p", word)
    done = world.run(HELLO, "-p", "again", "--resume", "paint the shed")
    assert "paint the shed" in done.said() and prompt_of(done) == "again"
    world.command("sessions", "rename", "1", "7")
    for which, why in [("sell the shop", '2 sessions have the title "sell the shop"; give the number'),
                       ("paint", 'no session "paint"'), ("Sell the shop", "no session"), ("7", 'no session "7"')]:
        for flag in ("--resume", "--delete-session"):
            done = world.command(flag, which, *(["-p", "x"] if flag == "--resume" else []), env={"GEMINI_API_KEY": "k"})
            assert done.code == 42 and why in done.err, done.err
    assert len(world.sessions()) == 3
    assert world.command("--delete-session", "sell the shop").code == 42
    assert world.command("--delete-session", "2").code == 0
    assert world.command("--delete-session", "sell the shop").code == 0 and len(world.sessions()) == 1


def test_resume_takes_the_latest_without_a_word(world):
    world.run(HELLO, "-p", "first")
    done = world.run(HELLO, "-r", "-p", "again")
    assert "first" in done.said() and prompt_of(done) == "again"
    done = world.run(HELLO, "--resume", "-o", "json", "-p", "and again")
    assert [c["role"] for c in done.sent[0]["contents"]].count("model") == 2


def test_a_session_of_another_folder_is_not_there(world):
    world.run(HELLO, "-p", "first")
    other = world.top / "other"
    other.mkdir()
    done = world.command("-r", "-p", "x", cwd=other, env={"GEMINI_API_KEY": "k"})
    assert done.code == 42


def test_a_session_with_a_name(world):
    done = world.run(HELLO, "--session-id", "ticket-12_b", "-p", "first", "-o", "json")
    assert done.json["session_id"] == "ticket-12_b"
    done = world.run(HELLO, "-r", "ticket-12_b", "-p", "again", "-o", "json")
    assert done.json["session_id"] == "ticket-12_b" and "first" in done.said()


def test_a_session_from_a_file(world):
    world.run(HELLO, "-p", "the very first")
    (file,) = world.sessions()
    before = file.read_bytes()
    done = world.run(HELLO, "--session-file", file, "-p", "again", "-o", "json")
    assert "the very first" in done.said() and file.read_bytes() == before
    assert len(world.sessions()) == 2
    done = world.command("--session-file", world.top / "none", "-p", "x",
                         env={"GEMINI_API_KEY": "k"})
    assert done.code == 42


def test_a_session_that_is_open_is_not_resumed(world):
    world.run(HELLO, "-p", "first")
    with world.fake([{"reply": [text("late")], "delay": 60}]) as server:
        process = world.start(server, "-r", "-p", "x")
        while not server.requests:
            time.sleep(0.01)
        done = world.command("-r", "-p", "y", server=server)
        assert done.code == 42 and "open" in done.err
        process.terminate()
        process.communicate()


def test_files_of_sessions_are_the_users_alone(world):
    world.run(HELLO, "-p", "first")
    (file,) = world.sessions()
    assert file.stat().st_mode & 0o777 == 0o600


# ---- what goes with a session ---------------------------------------------------------------------

def planned(world, session):
    """A session that wrote a plan; where it is."""
    world.run(HELLO, "-p", "x", "--session-id", "to-have-a-folder-%s" % session)
    (chats,) = world.home.glob(".gemini/tmp/*/chats")
    plan = chats.parent / session / "plans" / "all.md"
    world.run([[call("write_file", {"file_path": str(plan), "content": "# All of it\n"})],
               [text("Planned.")]], "-p", "x", "--approval-mode", "plan", "--session-id", session)
    assert plan.read_text() == "# All of it\n"
    return plan


def test_plans_go_with_their_session(world):
    plans = [planned(world, name) for name in ("session-one", "session-two")]
    outside = world.top / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept\n")
    (plans[0].parent / "link").symlink_to(outside)
    (plans[0].parent / "deep" / "er").mkdir(parents=True)
    (plans[0].parent / "deep" / "er" / "b.md").write_text("b\n")
    assert world.command("--delete-session", "session-one").code == 0
    assert not plans[0].parent.parent.exists() and plans[1].exists()
    assert (outside / "kept.txt").exists()


def test_plans_go_when_their_session_is_too_old(world):
    plan = planned(world, "11111111-of-old")
    for path in world.sessions():
        os.utime(path, (1, 1))
    world.run(HELLO, "-p", "x")
    assert len(world.sessions()) == 1 and not plan.parent.parent.exists()


def test_a_session_with_the_name_of_another_folder_takes_its_own(world):
    plan = planned(world, "memory")
    (plan.parents[1] / "MEMORY.md").write_text("The user likes tabs.\n")
    assert world.command("--delete-session", "memory").code == 0
    assert [path.name for path in plan.parents[1].iterdir()] == ["MEMORY.md"]


# ---- what is compressed --------------------------------------------------------------------------

LARGE = {"status": 400, "error": "The input token count (1200000) exceeds the maximum number of "
                                 "tokens allowed (1048576)."}
SHORT = [text("<state_snapshot><goal>Books are sorted, as was said.</goal></state_snapshot>")]


WORK = [[call("run_shell_command", {"command": "head -c 9000 /dev/zero | tr '\\0' %d" % i})]
        for i in range(3)]


def titles(world):
    return [line.split(" (")[0].split(". ", 1)[1]
            for line in world.command("--list-sessions").text.splitlines()[1:]]


@pytest.mark.parametrize("again", ["--resume", "--session-file"])
def test_a_compressed_session_has_its_first_prompt_as_its_title(world, again):
    """Also when it goes on and is compressed again, in its file or in another."""
    with world.fake([*WORK, LARGE, SHORT, [text("Sorted.")]] * 2) as server:
        world.command("--yolo", "-p", "Sort the BOOKS.", server=server)
        assert titles(world) == ["Sort the BOOKS."]
        (file,) = world.sessions()
        which = "latest" if again == "--resume" else file
        world.command("--yolo", again, which, "-p", "Go on.", server=server)
        assert not server.script and not server.violations
    assert titles(world) == ["Sort the BOOKS."] * (1 if again == "--resume" else 2)
    assert json.dumps(server.requests[-1].body).count("Sort the BOOKS.") == 1


# ---- files as Gemini CLI leaves them --------------------------------------------------------------

ID = "11744ff3-5ac3-4e05-ae0c-78b0d1feebc7"
CONTEXT = {"id": "d04923d38bb0f6017037e74183378ef4", "type": "user",
           "content": [{"text": "<session_context>\nThis is the Gemini CLI. We are setting up the "
                                "context for our chat.\n</session_context>"}]}


def at(minute):
    return "2026-11-22T17:%02d:06.156Z" % minute


def metadata(minute, session=ID):
    return {"sessionId": session, "projectHash": "0" * 64, "startTime": at(minute),
            "lastUpdated": at(minute), "kind": "main"}


def turn(minute, word):
    """A question and its answer."""
    lines = []
    for kind, content in (("user", [{"text": word + " question."},
                                    {"text": "<hook_context>The build is red.</hook_context>"}]),
                          ("gemini", word + " answer.")):
        lines += [{"id": str(uuid.uuid4()), "timestamp": at(minute), "type": kind,
                   "content": content, **({"thoughts": [], "model": "gemini-2.5-pro"}
                                          if kind == "gemini" else {})},
                  {"$set": {"lastUpdated": at(minute)}}]
    return lines


def context(minute):
    return {"$set": {"messages": [{**CONTEXT, "timestamp": at(minute)}], "lastUpdated": at(minute)}}


def whole(minute, *words, session=ID):
    lines = [metadata(minute, session), context(minute)]
    for word in words:
        lines += turn(minute, word)
    return lines


def stub(minute, session=ID):
    """What is left of a resumption in another minute than that of the session's beginning."""
    return [metadata(minute, session), context(minute)]


@pytest.fixture
def chats(world):
    """Writes files of sessions, each with a time of its own to have been changed."""
    world.run(HELLO, "-p", "to have a folder", "--session-id", "first-of-all")
    (file,) = world.sessions()
    folder = file.parent
    file.unlink()

    def write(name, lines, changed):
        path = folder / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (changed, changed))
        return path
    write.folder = folder
    return write


def listed(world):
    return world.command("--list-sessions").text.splitlines()[1:]


def test_a_file_in_which_nobody_said_anything_is_not_the_latest(world, chats):
    real = chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "First"), 1000)
    left = chats("session-2026-11-22T17-48-11744ff3.jsonl", stub(48), 2000)
    (line,) = listed(world)
    assert re.fullmatch(r"  1\. First question\. \(.*\) \[%s\]" % ID, line)
    before = left.read_bytes()
    for which in ("latest", "1", ID, ID[:8]):
        size = real.stat().st_size
        done = world.run(HELLO, "-p", "again", "-o", "json", "--resume", which)
        assert done.json["session_id"] == ID and "First answer." in done.said()
        assert real.stat().st_size > size and left.read_bytes() == before
        assert "<session_context>\\nThis is the Gemini CLI" not in done.said()
    assert world.command("--delete-session", ID).code == 0
    assert not real.exists() and not left.exists()


def test_a_file_without_a_conversation_alone_is_no_session(world, chats):
    chats("session-2026-11-22T17-48-11744ff3.jsonl", stub(48), 2000)
    assert listed(world) == []
    done = world.command("--resume", ID, "-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 42 and "no session" in done.err
    assert world.run(HELLO, "-p", "mine", "--session-id", ID).code == 0


@pytest.mark.parametrize("early,late", [(1000, 2000), (2000, 1000), (1500, 1500)])
def test_of_several_files_the_one_that_was_changed_last_is_the_session(world, chats, early, late):
    """By what they tell of, whatever a copy did to the files' times."""
    chats("session-2026-11-22T17-49-11744ff3.jsonl", whole(47, "Older"), early)
    chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(48, "Newer"), late)
    (line,) = listed(world)
    assert "Newer question." in line
    done = world.run(HELLO, "-p", "again", "--resume", ID[:9])
    assert "Newer answer." in done.said() and "Older" not in done.said()


def test_files_that_tell_of_one_moment_are_told_apart_by_when_they_were_changed(world, chats):
    chats("session-2026-11-22T17-49-11744ff3.jsonl", whole(47, "Older"), 1000)
    chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "Newer"), 2000)
    done = world.run(HELLO, "-p", "again", "--resume")
    assert "Newer answer." in done.said() and "Older" not in done.said()


def test_deleting_a_session_takes_all_its_files_and_no_others(world, chats):
    other = "11744ff3-0000-4e05-ae0c-78b0d1feebc7"
    gone = [chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "First"), 1000),
            chats("session-2026-11-22T17-48-11744ff3.jsonl", stub(48), 2000)]
    kept = [chats("session-2026-11-22T17-46-11744ff3.jsonl", whole(46, "Other", session=other),
                  1000),
            chats("session-2026-11-22T17-45-11744ff3.jsonl", stub(45, session=other), 1000),
            chats("session-2026-11-22T17-47-deadbeef.jsonl", whole(44, "Copy"), 900)]
    outputs = chats.folder.parent / "tool-outputs"
    for session in (ID, other):
        (outputs / ("session-" + session)).mkdir(parents=True)
        (outputs / ("session-" + session) / "out.txt").write_text("x")
    done = world.command("--delete-session", "11744ff3")
    assert done.code == 42 and "2 sessions" in done.err, "it is the beginning of two ids"
    assert world.command("--delete-session", ID[:13]).code == 0
    assert [path.exists() for path in gone] == [False, False]
    assert [path.exists() for path in kept] == [True, True, True]
    assert [path.name for path in outputs.iterdir()] == ["session-" + other]
    assert [line.split(" question")[0] for line in listed(world)] == ["  1. Copy", "  2. Other"]


def test_what_agents_said_is_no_session_and_goes_with_its_own(world, chats):
    chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "First"), 1000)
    below = chats.folder / ID
    below.mkdir()
    for path in (below / "agent-1.jsonl", chats.folder / "session-2026-11-22T17-48-agent-1.jsonl"):
        path.write_text("".join(json.dumps(line) + "\n" for line in [
            {**metadata(48, "agent-1"), "kind": "subagent"}, *turn(48, "Agent")]))
    assert [line.split(" question")[0] for line in listed(world)] == ["  1. First"]
    assert world.command("--delete-session", ID).code == 0
    assert not below.exists() and len(world.sessions()) == 1


def test_no_file_goes_while_one_of_the_session_is_open(world, chats):
    real = chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "First"), 1000)
    left = chats("session-2026-11-22T17-48-11744ff3.jsonl", stub(48), 2000)
    for path in (real, left):
        with open(path, "rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            done = world.command("--delete-session", ID)
            assert done.code == 42 and "open" in done.err
            assert real.exists() and left.exists()


def test_what_is_left_of_a_resumption_does_not_take_the_outputs_along_when_it_is_old(world, chats):
    now = time.time()
    real = chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, "First"), now)
    left = chats("session-2026-11-22T17-48-11744ff3.jsonl", stub(48), now - 90 * 86400)
    old = [chats("session-2026-11-22T17-4%d-77777777.jsonl" % i, whole(i, "Old", session="77777777"),
                 now - 90 * 86400) for i in range(2)]
    outputs = chats.folder.parent / "tool-outputs" / ("session-" + ID)
    outputs.mkdir(parents=True)
    (outputs / "out.txt").write_text("x")
    assert world.run(HELLO, "-p", "something else").code == 0
    assert real.exists() and left.exists() and (outputs / "out.txt").exists()
    assert [path.exists() for path in old] == [False, False]


def test_an_id_that_looks_like_a_number_is_an_id(world):
    for session in ("2", "other", "third"):
        world.run(HELLO, "-p", "I am " + session, "--session-id", session)
        time.sleep(0.002)
    assert "I am 2" in world.run(HELLO, "-p", "x", "-r", "2").said()
    assert "I am third" in world.run(HELLO, "-p", "x", "-r", "3").said()
    for which in ("0", "03", "4", "othe", "3x", "-1", "third-of-all"):
        done = world.command("--resume=" + which, "-p", "x", env={"GEMINI_API_KEY": "k"})
        assert done.code == 42, which


def test_a_new_session_does_not_take_anothers_id_or_file(world):
    """The names of files have the first eight characters of the ids: two that begin alike are two files."""
    for i in range(3):
        world.run(HELLO, "-p", "number %d" % i, "--session-id", "pipeline-%d" % i)
    assert len(world.sessions()) == 3
    for i in range(3):
        said = world.run(HELLO, "-p", "x", "-r", "pipeline-%d" % i).said()
        assert re.findall(r"number \d", said) == ["number %d" % i]
    done = world.command("-p", "x", "--session-id", "pipeline-1", env={"GEMINI_API_KEY": "k"})
    assert done.code == 42 and "already" in done.err
    for i in range(3):
        assert world.command("--delete-session", "pipeline-%d" % i).code == 0
        assert len(world.sessions()) == 2 - i


def test_an_older_file_is_read_and_not_written(world, chats):
    old = chats.folder / "session-2026-11-22T17-47-11744ff3.json"
    old.write_text(json.dumps({**metadata(47), "messages": [
        line for line in turn(47, "First") if "type" in line]}, indent=2))
    before, times = old.read_bytes(), old.stat().st_mtime_ns
    assert "First question." in listed(world)[0]
    for expected in (["First"], ["First", "Second"]):
        done = world.run([[text("Second answer.")]], "-p", "Second question.", "-r", ID, "-o", "json")
        assert done.json["session_id"] == ID
        assert all(word + " answer." in done.said() for word in expected)
        assert (old.read_bytes(), old.stat().st_mtime_ns) == (before, times)
        assert len(listed(world)) == 1 and len(world.sessions()) == 2
    forked = world.run(HELLO, "-p", "x", "--session-file", old, "-o", "json")
    assert forked.json["session_id"] != ID
    assert (old.read_bytes(), old.stat().st_mtime_ns) == (before, times)
    assert world.command("--delete-session", ID).code == 0
    assert not old.exists() and len(world.sessions()) == 1


def test_a_title_is_one_line_and_harmless(world, chats):
    word = "a\nb\r\x1b[31mred\x9b\u202egnp\u2028next\x07 \u200b"
    chats("session-2026-11-22T17-47-11744ff3.jsonl", whole(47, word), 1000)
    chats("session-2026-11-22T17-48-11744ff3.jsonl",
          [{"$set": {"summary": "s\x1b]0;t\x07\u2066"}}, *whole(48, "Other", session="other-one")],
          1000)
    chats("session-2026-11-22T17-47-77777777.jsonl", whole(47, "No", session="7\x1b[2J\n7"), 1000)
    out = world.command("--list-sessions").text
    assert len(out.splitlines()) == out.count("\n") == 4, "one line each"
    assert "[77777777]" in out, "an id that is none is that of the file's name"
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069]", out)
    assert "\\u{202e}gnp" in out
