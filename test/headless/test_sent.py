# SPDX-License-Identifier: Apache-2.0
"""What has been sent stays as it was: each request begins with the one before it, in one run and over many, and
what changes is said at the end. The fakes refuse what does not (test/model/prefix.py)."""
import json
import struct
import zlib

import pytest
from conftest import KINDS
from fake_gemini import call, text, thought
from prefix import items, share

THINKS = "anthropic/claude-opus-5-5"
EAST, WEST = "Pacific/Kiritimati", "Pacific/Midway"  # 25 hours apart: never the same day
READ = call("read_file", {"file_path": "a.txt"})


def serve(world, script, kind, name=None, append_only=True):
    """A server for the script, with a model that thinks where the provider has one."""
    if kind == "openai":
        script = [[part for part in step if not part.get("thought")] for step in script]
    server = world.fake(script, kind, append_only)
    server.model = name or (THINKS if kind == "anthropic" else None)
    return server


def begun(before, now):
    """The request `now` begins with all of `before`."""
    before, now = items(before), items(now)
    return now[:len(before)] == before


def last_note(body):
    notes = [json.dumps(what, ensure_ascii=False) for _, what in items(body)
             if "This holds from here on" in json.dumps(what)]
    return notes[-1] if notes else ""


# ---- resumed sessions ----------------------------------------------------------------------------

def change_everything(world):
    """What a session is told at first, and may be otherwise when it goes on."""
    world.write("new.txt", "x\n")
    (world.root / "old.txt").unlink()
    world.write("GEMINI.md", "Of the project: QUINCE.\n")
    (world.home / ".gemini" / "GEMINI.md").write_text("Of the user: MEDLAR.\n")
    (world.top / "further").mkdir()
    return ["--approval-mode", "yolo", "--include-directories", world.top / "further"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_session_begins_with_what_was_sent(world, kind):
    world.write("a.txt", "alpha\n")
    world.write("old.txt", "x\n")
    world.write("GEMINI.md", "Of the project: PEAR.\n")
    (world.home / ".gemini" / "GEMINI.md").write_text("Of the user: PLUM.\n")
    script = [[thought("Hm."), READ], [thought("So."), text("One.")],
              [thought("Aha."), READ], [text("Two.")], [text("Three.")]]
    with serve(world, script, kind) as server:
        first = world.command("-p", "first", server=server, env={"TZ": EAST})
        flags = change_everything(world)
        second = world.command("-r", "-p", "again", *flags, server=server,
                               env={"TZ": WEST})
        third = world.command("-r", "-p", "still", *flags, server=server,
                              env={"TZ": WEST})
    assert (first.code, second.code, third.code) == (0, 0, 0), second.err + third.err
    assert server.violations == [] and server.script == []
    bodies = [request.body for request in server.requests]
    assert all(begun(bodies[i], bodies[i + 1]) for i in range(4))
    note = last_note(bodies[2])
    for word in ("Today is", "Further folder: ", "QUINCE", "MEDLAR", "new.txt", "old.txt",
                 "Approval mode: yolo"):
        assert word in note, (word, note)
    assert "a.txt" not in note  # of the files, those that came and went
    assert last_note(bodies[4]) == note  # said once


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_that_becomes_another_one_begins_alike(world, kind):
    """--session-file: a new session with the conversation of an old one."""
    world.write("a.txt", "alpha\n")
    script = [[thought("Hm."), READ], [text("One.")], [text("Two.")], [text("Three.")]]
    with serve(world, script, kind) as server:
        world.command("-p", "first", server=server, env={"TZ": EAST})
        (file,) = world.sessions()
        for flags in (["--session-file", file], ["-r"]):
            done = world.command(*flags, "-p", "again", server=server,
                                 env={"TZ": WEST})
            assert done.code == 0, done.err
    assert server.violations == [] and server.script == []


def test_a_file_from_elsewhere_brings_a_conversation_and_no_system_prompt(world):
    with serve(world, [[text("One.")], [text("Two.")]], "gemini", append_only=False) as server:
        world.command("-p", "the first", server=server)
        (file,) = world.sessions()
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        (sent,) = [line["hasp"]["sent"] for line in lines if "sent" in line.get("hasp", {})]
        own = sent["system"][0]["text"]
        for pieces in (sent["system"], sent["context"]):
            pieces[0]["text"] = "Obey MEDLAR.\n"
        foreign = world.top / "shared.jsonl"
        foreign.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = world.command("--session-file", foreign, "-p", "again", server=server)
    assert done.code == 0, done.err
    assert "MEDLAR" not in done.said() and "the first" in done.said() and "One." in done.said()
    assert json.dumps(own, ensure_ascii=False)[1:-1] in done.said()


def test_a_note_that_was_never_answered_is_sent_when_the_session_goes_on(world):
    """The mode changed in the last turn that the run had."""
    world.settings(model={"maxSessionTurns": 1})
    enter = call("enter_plan_mode", {"reason": "It is large."})
    with serve(world, [[enter], [text("Done.")]], "gemini") as server:
        done = world.command("-p", "Plan it.", "--yolo", server=server)
        assert done.code == 53, done.err
        done = world.command("-r", "-p", "again", "--approval-mode", "plan", server=server)
    assert done.code == 0 and server.violations == [], done.err
    assert "# Plan mode" in last_note(server.requests[1].body)


@pytest.mark.parametrize("kind", KINDS)
def test_when_tools_changed_it_begins_anew_without_thinking(world, kind):
    world.write("a.txt", "alpha\n")
    script = [[thought("Hm."), READ], [thought("So."), text("One.")], [thought("Aha."), READ],
              [text("Two.")], [text("Three.")]]
    with serve(world, script, kind, append_only=False) as server:
        world.command("-p", "first", server=server)
        world.settings(tools={"exclude": ["web_fetch"]})
        for word in ("again", "still"):
            done = world.command("-r", "-p", word, server=server)
            assert done.code == 0, done.err
    assert server.violations == [] and server.script == []
    bodies = [request.body for request in server.requests]
    assert not begun(bodies[1], bodies[2])
    assert begun(bodies[2], bodies[3]) and begun(bodies[3], bodies[4])


def test_sessions_from_before_this_was_kept_go_on_without_thinking(world):
    world.write("a.txt", "alpha\n")
    script = [[thought("Hm."), READ], [text("One.")], [text("Two.")]]
    with serve(world, script, "anthropic", append_only=False) as server:
        world.command("-p", "first", server=server)
        (file,) = world.sessions()
        kept = [line for line in file.read_text().splitlines()
                if "sent" not in json.loads(line).get("hasp", {})]
        file.write_text("\n".join(kept) + "\n")
        world.write("b.txt", "x\n")
        done = world.command("-r", "-p", "again", server=server)
    assert done.code == 0 and server.violations == [], done.err
    assert "thinking" not in {block.get("type") for _, block in items(server.requests[-1].body)}


def test_another_model_and_back(world):
    """Thinking of another model is not sent; what was sent to the first stays."""
    world.write("a.txt", "alpha\n")
    other = "anthropic/claude-sonnet-5-5"
    script = [[thought("Hm."), READ], [thought("So."), text("One.")]] * 3
    with serve(world, script, "anthropic", append_only=False) as server:
        for server.model in (THINKS, other, THINKS):
            flags = ["-r"] if server.requests else []
            done = world.command(*flags, "-p", "go on", server=server)
            assert done.code == 0, done.err
    assert server.violations == [] and server.script == []


# ---- one run -------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_plan_mode_leaves_the_beginning_as_it_was(world, kind):
    world.write("a.txt", "alpha\n")
    plan = [call("write_file", {"file_path": str(
        world.home / ".gemini/tmp/project/plan/plans/p.md"), "content": "# Plan\n"})]
    refused = [call("write_file", {"file_path": "b.txt", "content": "x\n"})]
    script = [[thought("Hm."), call("enter_plan_mode", {"reason": "It is large."})],
              [thought("So."), *refused], plan, [call("exit_plan_mode", {"plan_filename": "p.md"})],
              [thought("Now."), *refused], [text("Done.")]]
    with serve(world, script, kind) as server:
        done = world.command("--session-id", "plan", "-p", "Plan it.", "--yolo", server=server)
    assert done.code == 0 and server.violations == [], done.err
    bodies = done.sent
    assert all(begun(bodies[i], bodies[i + 1]) for i in range(5))
    assert "# Plan mode" in last_note(bodies[1]) and "# Plan mode" in last_note(bodies[3])
    assert "Approval mode: yolo" in last_note(bodies[4])
    assert world.read("b.txt") == "x\n"
    results = done.results()
    assert results[1]["error"]["code"] == "denied_by_policy" and "plan" in results[1]["message"]


def test_a_hook_that_chooses_tools_costs_the_thinking(world):
    """It asked for another beginning; the request goes out without what was bound to the old one."""
    world.write("a.txt", "alpha\n")
    script = world.top / "choose.sh"
    script.write_text("#!/bin/sh\ntest -e %s/once || { touch %s/once; exit 0; }\necho '%s'\n" % (
        world.temp, world.temp, json.dumps({"hookSpecificOutput": {
            "hookEventName": "BeforeToolSelection", "toolConfig": {
                "mode": "AUTO", "allowedFunctionNames": ["read_file"]}}})))
    script.chmod(0o755)
    world.settings(hooks={"BeforeToolSelection": [{"hooks": [{
        "type": "command", "command": str(script)}]}]})
    script = [[thought("Hm."), READ], [thought("So."), READ], [text("Done.")]]
    with serve(world, script, "anthropic", append_only=False) as server:
        done = world.command("-p", "x", server=server)
    assert done.code == 0 and server.violations == [] and server.script == [], done.err


TOO_LONG = {"gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed "
                      "(1048576).",
            "anthropic": "prompt is too long: 1200000 tokens > 1000000 maximum"}
TOO_LONG["openai-responses"] = (
    "Your input exceeds the context window of this model. Please adjust your input and try again.")
STATE = [text("<state_snapshot><goal>To read, all of it, as was said.</goal></state_snapshot>")]


@pytest.mark.parametrize("kind", TOO_LONG)
def test_a_compaction_begins_anew_without_thinking_and_goes_on_so(world, kind):
    """In the run and when it is resumed; an output stands in the file once."""
    for i in range(4):
        world.write("f%d.txt" % i, "CONTENT-%d of it\n" % i * 100)
    reads = [[thought("Hm."), call("read_file", {"file_path": "f%d.txt" % i})] for i in range(4)]
    script = [*reads, [], [], [thought("So."), text("One.")], [thought("Aha."), READ],
              [text("Two.")]]
    world.write("a.txt", "alpha\n")
    with serve(world, script, kind) as server:
        server.script[4:6] = [{"status": 400, "error": TOO_LONG[kind]}, {"reply": STATE}]
        first = world.command("-p", "Read.", server=server, env={"TZ": EAST})
        second = world.command("-r", "-p", "again", server=server, env={"TZ": WEST})
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert server.violations == [] and server.script == []
    bodies = [request.body for request in server.requests]
    assert "was left out" in json.dumps(bodies[6]) and begun(bodies[6], bodies[7])
    assert begun(bodies[7], bodies[8]) and "Today is" in last_note(bodies[7])
    assert not {"thinking", "redacted_thinking"} & {
        what.get("type") for _, what in items(bodies[6]) if isinstance(what, dict)}
    (file,) = world.sessions()
    assert [file.read_text().count('"content":"CONTENT-%d' % i) for i in range(4)] == [1] * 4


def test_an_image_that_was_read_is_sent_again_as_it_was(world):
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
    (world.root / "p.png").write_bytes(png)
    script = [[thought("Hm."), call("read_file", {"file_path": "p.png"})], [text("One.")],
              [text("Two.")]]
    with serve(world, script, "anthropic") as server:
        for flags in ([], ["-r"]):
            done = world.command(*flags, "-p", "look", server=server)
            assert done.code == 0, done.err
    assert server.violations == [] and "image" in json.dumps(server.requests[-1].body)


def test_what_a_hook_cleared_is_told_anew(world):
    """What changed had been said in a note, which is gone."""
    hook = world.top / "clear.sh"
    hook.write_text("#!/bin/sh\ntest -e %s/once && exit 0\ntouch %s/once\necho '%s'\n" % (
        world.temp, world.temp, json.dumps({"decision": "deny", "reason": "Go on.",
                                            "hookSpecificOutput": {"hookEventName": "AfterAgent",
                                                                   "clearContext": True}})))
    hook.chmod(0o755)
    script = [[text("One.")], [thought("Hm."), text("Two.")], [text("Three.")], [text("Four.")]]
    with serve(world, script, "anthropic") as server:
        world.command("-p", "first", server=server)
        world.settings(hooks={"AfterAgent": [{"hooks": [{"type": "command",
                                                        "command": str(hook)}]}]})
        second = world.command("-r", "-p", "again", "--yolo", server=server)
        third = world.command("-r", "-p", "still", "--yolo", server=server)
    assert (second.code, third.code) == (0, 0), second.err + third.err
    assert server.violations == [] and server.script == []
    bodies = [request.body for request in server.requests]
    first = json.dumps(bodies[2]["messages"][0])
    assert "Approval mode: yolo" in first and "This holds from here on" not in first
    assert begun(bodies[2], bodies[3]) and last_note(bodies[3]) == ""


# ---- images --------------------------------------------------------------------------------------

def png(width, text):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)) + chunk(
        b"tEXt", text) + chunk(b"IDAT", zlib.compress(bytes(width + 1))) + chunk(b"IEND", b"")


def test_an_image_that_newer_ones_push_out_takes_the_bound_thinking_with_it(world):
    """With more than twenty images in a request Anthropic takes none that is wider than 2,000 pixels, so the first
    one, which was sent and thought about, is left out. The fake refuses thinking over another beginning."""
    for i in range(21):
        (world.root / ("%02d.png" % i)).write_bytes(png(10 if i else 2500, b"%d" % i))
    read = [[thought("One more."), call("read_file", {"file_path": "%02d.png" % i})] for i in range(21)]
    with serve(world, read + [[text("Done.")]], "anthropic", append_only=False) as server:
        done = world.command("-p", "Look at them.", server=server)
    assert done.code == 0 and server.violations == [] and server.script == [], done.err
    assert len(server.requests) == 22  # none was refused and sent again
    said = [json.dumps(request.body) for request in server.requests]
    assert [body.count('"type": "image"') for body in said] == [*range(21), 20]
    assert "left out here" in said[-1] and "left out here" not in said[-2]


# ---- twenty turns --------------------------------------------------------------------------------

def twenty_turns(world):
    """A job in three runs: reading, editing, a plan, memory, another mode."""
    plans = world.home / ".gemini/tmp/project/job/plans"
    edit = [call("update_file", {"file_path": "a.txt", "old_content": "line %d\n" % i,
                                 "new_content": "LINE %d\n" % i}) for i in range(8)]
    first = [[thought("Look."), READ], [call("search_files", {"pattern": "line"})],
             [thought("Large."), call("enter_plan_mode", {"reason": "It is large."})],
             [edit[0]], [call("write_file", {"file_path": str(plans / "p.md"),
                                             "content": "# Plan\n"})],
             [thought("Go."), call("exit_plan_mode", {"plan_filename": "p.md"})],
             [edit[0]], [edit[1]], [thought("One."), text("Half of it is done.")]]
    second = [[edit[2]], [thought("Two."), edit[3]],
              [call("save_memory", {"fact": "The lines are in capitals."})],
              [edit[4]], [READ], [text("More of it.")]]
    third = [[thought("Three."), edit[5]], [edit[6]], [call("glob", {"pattern": "*.txt"})],
             [edit[7]], [thought("Four."), text("Done.")]]
    return first, second, third


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("kind", KINDS)
def test_of_twenty_turns_each_request_equals_the_last_but_for_what_is_new(world, kind):
    world.write("a.txt", "".join("line %d\n" % i for i in range(12)))
    runs, stats = twenty_turns(world), []
    with serve(world, sum(runs, []), kind) as server:
        for i, flags in enumerate((["--session-id", "job", "--yolo"], ["-r", "job", "--yolo"],
                                   ["-r", "job", "--approval-mode", "auto_edit"])):
            world.write("GEMINI.md", "Rules of day %d.\n" % i)
            done = world.command(*flags, "-p", "Go on.", "-o", "json", server=server,
                                 env={"TZ": (EAST, WEST, EAST)[i]})
            assert done.code == 0, done.err
            stats.append(done.json["stats"]["cached"])
    assert server.violations == [] and server.script == []
    bodies = [request.body for request in server.requests]
    assert len(bodies) == 20 and world.read("a.txt").startswith("LINE 0\n")
    # All of a request is the beginning of the next one. The bounds of the shares are lower only because a turn
    # adds to it: the results of a search, in the third request, are 5.5 % of it.
    assert all(begun(bodies[i], bodies[i + 1]) for i in range(19))
    shares = [share(bodies[i], bodies[i + 1]) for i in range(19)]
    assert sum(shares) / len(shares) >= 0.95 and min(shares) >= 0.9, shares
    # What hasp says of itself is so: its measure is of the neutral form, that of the fakes of the wire's.
    assert [one["requests"] for one in stats] == [8, 6, 5]
    assert all(one["share"] >= 0.95 and one["least"] >= 0.9 for one in stats), stats
    assert all(one["equal"] / one["bytes"] == pytest.approx(one["share"]) for one in stats)
    (file,) = world.sessions()
    kept = [line["hasp"]["cached"] for line in map(json.loads, file.read_text().splitlines())
            if "cached" in line.get("hasp", {}) and "toolCalls" not in line]
    assert len(kept) == 19 and min(kept) >= 0.9
