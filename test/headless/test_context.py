# SPDX-License-Identifier: Apache-2.0
"""What reaches the model besides the prompt, and what reaches whoever watches."""
import base64
import json
import re
import struct
import zlib

import pytest
from conftest import HASP
from fake_gemini import call, text, thought
from terminal import Terminal, undrawn

HELLO = [[text("Hello.")]]


# ---- files of instructions -----------------------------------------------------------------------

def test_instructions_with_imports(world):
    (world.home / ".gemini" / "GEMINI.md").write_text("Of the user: PLUM.\n")
    world.write("GEMINI.md", "Of the project: PEAR.\n@./docs/more.md\n")
    world.write("docs/more.md", "Imported: QUINCE.\n@../docs/deep.md\n")
    world.write("docs/deep.md", "Deeper: MEDLAR.\n@./more.md\n")
    said = world.run(HELLO, "-p", "x").said(0)
    for word in ("PLUM", "PEAR", "QUINCE", "MEDLAR"):
        assert said.count(word) == 1, word


def test_instructions_are_found_just_in_time(world):
    world.write("GEMINI.md", "Here: PEAR.\n")
    world.write("sub/GEMINI.md", "There: QUINCE.\n")
    world.write("sub/deep/a.txt", "alpha\n")
    read = call("read_file", {"file_path": "sub/deep/a.txt"})
    done = world.run([[read], [read], [text("Done.")]], "-p", "x")
    assert "QUINCE" not in done.said(0) and "PEAR" in done.said(0)
    assert done.said(1).count("QUINCE") == done.said(2).count("QUINCE") == 1


def test_instructions_are_found_again_when_a_compaction_dropped_them(world):
    world.write("GEMINI.md", "Here: PEAR.\n")
    world.write("sub/GEMINI.md", "There: QUINCE.\n")
    for name in ("sub/a.txt", "b.txt", "c.txt"):
        world.write(name, "a line of %s\n" % name * 200)
    read = [[call("read_file", {"file_path": name})] for name in ("sub/a.txt", "b.txt", "c.txt")]
    large = {"status": 400, "error": "The input token count (1200000) exceeds the maximum number "
                                     "of tokens allowed (1048576)."}
    short = [text("<state_snapshot><goal>Files were read, three of them.</goal></state_snapshot>")]
    done = world.run([*read, large, short, read[0], [text("Done.")]], "-p", "Read.")
    assert [done.said(i).count("QUINCE") for i in (1, 2, 5, 6)] == [1, 1, 0, 1]
    assert all(done.said(i).count("PEAR") == 1 for i in (0, 5, 6))


def test_an_import_does_not_leave_the_project(world):
    (world.top / "secret.txt").write_text("CANARY\n")
    world.write("GEMINI.md", "@../secret.txt\n@%s\n" % (world.top / "secret.txt"))
    (world.root / "link.md").symlink_to(world.top / "secret.txt")
    world.write("sub/GEMINI.md", "@../link.md\n")
    world.write("sub/a.txt", "alpha\n")
    done = world.run([[call("read_file", {"file_path": "sub/a.txt"})], [text("Done.")]], "-p", "x")
    assert "CANARY" not in done.said(0) + done.said(1)


# ---- mentions ------------------------------------------------------------------------------------

def test_mentions(world):
    world.write("a.txt", "ALPHA\n")
    world.write("b c.txt", "BETA\n")
    world.write("sub/c.txt", "GAMMA\n")
    world.write("sub/d.txt", "DELTA\n")
    for prompt, words in [("see @a.txt.", ["ALPHA"]), ("see @b\\ c.txt", ["BETA"]),
                          ("see @sub/", ["GAMMA", "DELTA"]), ("see @sub/*.txt", ["GAMMA", "DELTA"]),
                          ("@a.txt and @sub/c.txt", ["ALPHA", "GAMMA"])]:
        last = json.dumps(world.run(HELLO, "-p", prompt).sent[0]["contents"][-1])
        assert [w for w in ("ALPHA", "BETA", "GAMMA", "DELTA") if w in last] == words, prompt


def test_what_is_derived_from_a_mentioned_file_is_sent_as_text(world):
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# PLUM\n", "\n", "A \"quoted\" line\n"]}]
    world.write("n.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": cells}))
    parts = [part["text"] for part in world.run(HELLO, "-p", "see @n.ipynb").sent[0]["contents"][-1]["parts"]]
    at = next(i for i, part in enumerate(parts) if part.endswith("n.ipynb:\n"))
    facts, content = parts[at + 1].split("\n\n", 1)
    assert json.loads(facts)["derived"]["from"] and "content" not in json.loads(facts)
    assert '# PLUM\n\nA "quoted" line\n' in content


def test_what_was_mentioned_can_be_edited(world):
    sha = world.write("a.txt", "alpha\n")
    done = world.run([[call("update_file", {"file_path": "a.txt", "old_content": "alpha",
                                            "new_content": "beta", "base_content_sha256": sha})],
                      [text("Done.")]], "-p", "change @a.txt", "--yolo")
    assert sha in done.said(0) and world.read("a.txt") == "beta\n"


@pytest.mark.parametrize("prompt", ["see @/etc/passwd", "see @../secret.txt", "see @link"])
def test_a_mention_does_not_leave_the_project(world, prompt):
    (world.top / "secret.txt").write_text("root: CANARY\n")
    (world.root / "link").symlink_to(world.top / "secret.txt")
    said = world.run(HELLO, "-p", prompt).said(0)
    assert "CANARY" not in said and "root:x:0" not in said


def test_folders_are_reached_by_the_ways_their_users_spell(world):
    """Through links: the current folder as the shell names it, a further one as the flag does."""
    world.write("a.txt", "ALPHA\n")
    (world.top / "more").mkdir()
    (world.top / "more" / "b.txt").write_text("BETA\n")
    (world.top / "way").symlink_to("project")
    (world.top / "other").symlink_to("more")
    way, other = world.top / "way", world.top / "other"
    done = world.run([[call("read_file", {"file_path": str(way / "a.txt")}),
                       call("read_file", {"file_path": str(other / "b.txt")}),
                       call("search_files", {"pattern": "A$", "regex": True, "output": "files"})],
                      [text("Done.")]],
                     "-p", "see @%s and @%s" % (way / "a.txt", other / "b.txt"),
                     "--include-directories", str(other), env={"PWD": str(way)})
    last = json.dumps(done.sent[0]["contents"][-1])
    assert "ALPHA" in last and "BETA" in last
    assert "is outside the workspace" not in done.said(1) and done.said(1).count("BETA") >= 2
    assert str(world.top / "more" / "b.txt") in done.said(1)


def test_what_was_just_read_is_overwritten_without_its_hash(world):
    world.write("a.txt", "alpha\n")
    world.write("b.txt", "beta\n")
    done = world.run([[call("read_file", {"file_path": "a.txt"})],
                      [call("write_file", {"file_path": "a.txt", "content": "new\n"}),
                       call("write_file", {"file_path": "b.txt", "content": "new\n"})],
                      [text("Done.")]], "-p", "change them", "--yolo")
    assert world.read("a.txt") == "new\n" and world.read("b.txt") == "beta\n"
    assert "last read or wrote" in done.said(2) and "base_required" in done.said(2)


@pytest.mark.parametrize("args,files", [
    (["-p", "why? @a.txt"], ["ALPHA"]), (["what", "is this?"], []), (["-p", ""], ["BETA"]), ([], ["BETA"])])
def test_what_is_piped_in_beside_a_prompt_names_no_files(world, args, files):
    """A log, a diff: others wrote it. Alone it is the prompt."""
    world.write("a.txt", "ALPHA\n")
    world.write("b.txt", "BETA\n")
    done = world.run(HELLO, *args, stdin=b"error in @b.txt at \\@line 3")
    said = json.dumps(done.sent[0]["contents"][-1])
    assert [word for word in ("ALPHA", "BETA") if word in said] == files and done.err == ""
    kept = "\\\\@line" if files != ["BETA"] else "@line"
    assert "error in @b.txt at %s 3" % kept in said


def test_an_address_is_no_mention(world):
    done = world.run(HELLO, "-p", "write to me@example.org, @nobody")
    assert done.err == "" and "me@example.org, @nobody" in done.said(0)


# ---- who watches ---------------------------------------------------------------------------------

SCRIPT = [[thought("**Plan** it."), text("First. "), call("read_file", {"file_path": "a.txt"}),
           call("read_file", {"file_path": "none\x1b[31m.txt"})], [text("La\x1b]0;gone\x07st.")]]


def test_a_pipe_gets_the_answer_alone(world):
    world.write("a.txt", "alpha\n")
    done = world.run(SCRIPT, "-p", "x")
    assert (done.text, re.sub("/\\S+/", "", done.err)) == (
        "First. \nLa\x1b]0;gone\x07st.\n",
        "[ERROR] read_file (none [31m.txt) failed: none\\x1b[31m.txt does not exist.\n")


def test_a_terminal_sees_what_happens_and_nothing_raw(world):
    world.write("a.txt", "alpha\n")
    with world.fake([{"reply": step} for step in SCRIPT]) as server:
        env = dict(world.environment(server))
        with Terminal([HASP, "-p", "x"], world.root, env, columns=200) as terminal:
            code, out = terminal.finish()
    assert code == 0 and server.violations == []
    out = undrawn(out)
    assert "First." in out and "a.txt" in out and re.search("none.*not", out, re.S)
    assert "\x1b" not in out and "\x07" not in out and "gone" in out


def test_progress_is_not_in_the_answer(world):
    """Standard error on a terminal, standard output in a file."""
    world.write("a.txt", "alpha\n")
    with world.fake([{"reply": step} for step in SCRIPT]) as server:
        line = '"$0" -p x >"$1"'
        with Terminal(["sh", "-c", line, HASP, str(world.top / "out")], world.root,
                      dict(world.environment(server)), columns=200) as terminal:
            code, out = terminal.finish()
    assert code == 0 and b"a.txt" in out and b"First." not in out
    assert (world.top / "out").read_text() == "First. \nLa\x1b]0;gone\x07st.\n"


def test_an_answer_that_was_cut_is_told_once(world):
    cut = {"reply": [text("It is")], "finish": "MAX_TOKENS"}
    done = world.run([cut], "-p", "x")
    assert (done.text, done.err.count("The answer is cut")) == ("It is\n", 1)
    done = world.run([cut], "-p", "x", "-o", "json")
    assert [w for w in done.json["warnings"] if "The answer is cut" in w] == done.json["warnings"]
    assert len(done.json["warnings"]) == 1
    done = world.run([cut], "-p", "x", "-o", "stream-json")
    assert done.out.count(b"The answer is cut") == 1


def test_debugging_tells_requests_and_no_keys(world):
    done = world.run(HELLO, "-p", "x", "--debug")
    assert done.text == "Hello.\n" and "is asked at 127.0.0.1" in done.err
    assert "test-key" not in done.err


def test_debugging_shows_the_prompt_once(world):
    world.write("a.txt", "what stands there\n")
    done = world.run([[call("read_file", {"file_path": "a.txt"})], [text("Read.")]], "-p", "Read a.txt", "-d")
    assert done.err.count("| Read a.txt") == 1 and done.err.count("You are hasp, a coding agent.") == 1
    assert "what stands there" in done.err and '"functionCall"' in done.err


def test_a_retry_is_told(world):
    done = world.run([{"status": 503, "headers": {"retry-after": "0"}}, [text("Hello.")]], "-p",
                     "x", "-o", "json")
    assert done.json["response"] == "Hello."
    assert any(word in " ".join(done.json.get("warnings", [])) + done.err for word in
               ("503", "overloaded", "again"))


def test_a_reply_that_breaks_off_is_asked_for_again(world):
    done = world.run([{"reply": [text("Half a"), text(" reply")], "break_after": 200},
                      [text("Whole.")]], "-p", "x", "-o", "json")
    assert done.json["response"] == "Whole."


# ---- images that a provider refuses --------------------------------------------------------------

REFUSAL = "Could not process image"


def png(more):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(
            ">I", zlib.crc32(name + data))
    head = struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"tEXt", more) + chunk(b"IEND", b"")


def refuse(server, data):
    """No image with this data is taken; a request that is refused was never a part of the conversation."""
    check = server.provider.check
    server.provider.check = lambda request: [REFUSAL] if data in request.raw.decode() else check(request)


def test_an_image_that_was_refused_is_not_sent_again_when_the_session_goes_on(world):
    (world.root / "good.png").write_bytes(png(b"good"))
    (world.root / "bad.png").write_bytes(png(b"bad"))
    bad = base64.b64encode(png(b"bad")).decode()
    script = [{"reply": [text("One.")]}, {"reply": [text("Two.")]}, {"reply": [text("Three.")]}]
    with world.fake(script, "anthropic") as server:
        refuse(server, bad)
        assert world.command("-p", "see @good.png", server=server).code == 0
        done = world.command("-p", "see @bad.png", "-r", server=server)
        assert (done.code, done.text) == (0, "Two.\n"), done.err
        assert REFUSAL in done.err and "left out" in done.err
        last = world.command("-p", "and now?", "-r", server=server)
        assert (last.code, last.text) == (0, "Three.\n") and REFUSAL not in last.err
        assert [one.count(REFUSAL) for one in server.violations] == [1]
        assert len(server.requests) == 4
    # The model is told, what was accepted is still there, and what was refused is in no file.
    assert REFUSAL in last.said() and base64.b64encode(png(b"good")).decode() in last.said()
    assert bad not in last.said()
