# SPDX-License-Identifier: Apache-2.0
"""What one changed line costs in a conversation, whatever the file's size (src/tool/answer.h): the bytes that
the edit's answer adds to every later request."""
import difflib
import hashlib
import json
import tempfile
from pathlib import Path

import pytest
from conftest import World
from fake_gemini import call, text

COST = 450   # bytes
SMALL = 2048  # a file below this may come whole

WIDE = {"model": {"disableLoopDetection": True}, "hasp": {"contextTokens": 20_000_000}}


def sha(data):
    return hashlib.sha256(data.encode()).hexdigest()


def lines(count):
    return ["%05d %s\n" % (i, "words of a line that is as long as most") for i in range(1, count + 1)]


def answer_bytes(kind, body):
    """Of the last answer in a request, as the provider's format has it, with all that stands around it."""
    if kind == "gemini":
        item = body["contents"][-1]["parts"][-1]
    elif kind == "openai-responses":
        item = body["input"][-1]
    else:
        item = body["messages"][-1]
        item = dict(item["content"][-1]) if kind == "anthropic" else item
        item.pop("cache_control", None)  # where the cache ends now: it moves on with the next request
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())


def edits(name, count):
    """(tool, arguments) for one changed line."""
    old, at = lines(count), count // 2
    new = old[:at] + [old[at].replace("words", "WORDS")] + old[at + 1:]
    diff = "".join(difflib.unified_diff(old, new, "a/" + name, "b/" + name, n=10))
    update = {"file_path": name, "old_content": old[at], "new_content": new[at]}
    yield "update_file", update
    yield "safe_patch", {"file_path": name, "unified_diff": diff}
    yield "write_file", {"file_path": name, "content": "".join(new)}
    yield "apply_changes", {"changes": [dict(update, kind="update")]}


def with_hash(tool, arguments, value):
    if tool == "apply_changes":
        return {"changes": [dict(arguments["changes"][0], base_content_sha256=value)]}
    return dict(arguments, base_content_sha256=value)


def cases(count):
    """Where what is to be changed was read, or the call has its text."""
    for read in "whole", "part":
        came = read == "part" or len("".join(lines(count))) < 40_000
        for tool, _ in edits("x", 13):
            for hashed in True, False:
                if hashed or came or tool in ("update_file", "apply_changes"):
                    yield tool, read, hashed


@pytest.mark.parametrize("kind,count", [*(("gemini", count) for count in (13, 303, 3003, 60000)),
                                        ("openai", 303), ("openai-responses", 303), ("anthropic", 3003)])
def test_one_changed_line(world, kind, count):
    world.settings(**WIDE)
    content, script, rows = "".join(lines(count)), [], []
    for number, (tool, read, hashed) in enumerate(cases(count)):
        if tool == "write_file" and count > 3003:
            continue  # a model does not send 2.5 MB
        name = "f%d.txt" % number
        arguments = next(e[1] for e in edits(name, count) if e[0] == tool)
        world.write(name, content)
        part = {"start_line": max(1, count // 2 - 5), "max_lines": 10} if read == "part" else {}
        script += [[call("read_file", dict(file_path=name, **part))],
                   [call(tool, with_hash(tool, arguments, sha(content)) if hashed else arguments)]]
        rows.append((tool, read, hashed, name))
    done = world.run([*script, [text("Done.")]], "-p", "edit", "--approval-mode", "yolo", kind=kind)
    assert done.code == 0, done.err
    costs = {row: answer_bytes(kind, done.sent[2 * i + 2]) for i, row in enumerate(rows)}
    print(kind, count, {"%s %s %s" % row[:3]: cost for row, cost in costs.items()})
    for i, (row, cost) in enumerate(costs.items()):
        answer = done.results(2 * i + 2)[-1]
        assert answer["success"], (row, answer)
        state = (answer.get("changes") or [answer])[0]["latest_file_state"]
        now = world.read(row[3])
        assert now.count("WORDS") == 1 and state["sha256"] == sha(now), row
        assert isinstance(state["version"], int) and state["file_path"].endswith(row[3])
        if len(content) < SMALL and state.get("content"):
            assert state["content"] == now
        else:
            assert state["content_omitted"], row
            assert cost <= COST, (row, cost, answer)


# ---- what is seen ----------------------------------------------------------------------------------------------

YOLO = ("-p", "edit", "--approval-mode", "yolo")


@pytest.fixture
def short_world():
    """With a path as short as a home's, which an answer has once."""
    with tempfile.TemporaryDirectory(prefix="hasp") as top:
        yield World(Path(top))


@pytest.mark.parametrize("kind", ["gemini", "openai", "anthropic"])
def test_a_refusal_for_want_of_the_right_hash(short_world, kind):
    """The file is known whole, and nothing has changed: the answer has its hash and what to do."""
    world, count = short_world, 900
    world.settings(**WIDE)
    world.write("a.txt", "".join(lines(count)))
    tried = [(tool, with_hash(tool, arguments, "0" * 64)) for tool, arguments in edits("a.txt", count)]
    done = world.run([[call("read_file", {"file_path": "a.txt"})], *([call(*one)] for one in tried), [text("Done.")]],
                     *YOLO, kind=kind)
    costs = [answer_bytes(kind, body) for body in done.sent[2:]]
    print(kind, costs, [done.results(i + 2)[-1] for i in range(len(tried))])
    for i, (tool, arguments) in enumerate(tried):
        (answer,) = done.results(i + 2)[-1:]
        inner = (answer.get("changes") or [answer])[0]
        assert inner["error"]["code"] == "state_mismatch", answer
        assert inner["latest_file_state"]["content_omitted"].startswith("already shown as version")
        # Anthropic's format has the answer as a string, with escapes; and a list says which of it failed.
        assert costs[i] <= COST + 50 * (kind == "anthropic") + 170 * (tool == "apply_changes"), (costs[i], answer)
    assert world.read("a.txt") == "".join(lines(count))


def test_what_was_read_as_most_files_are_does_not_say_so(world):
    world.write("plain.txt", "one\ntwo\n")
    (world.root / "odd.txt").write_bytes(b"one\r\ntwo")
    reads = [call("read_file", {"file_path": name}) for name in ("plain.txt", "odd.txt")]
    part = call("read_file", {"file_path": "plain.txt", "max_lines": 1})
    many = call("read_many_files", {"paths": ["plain.txt"]})
    done = world.run([[*reads, part, many], [text("Done.")]], *YOLO)
    plain, odd, cut, listed = done.results()
    common = {"success", "file_path", "version", "sha256", "content", "total_lines", "start_line", "end_line"}
    assert set(plain) == common == set(listed["output"][0])
    assert set(odd) == common | {"line_endings", "final_newline"} and odd["final_newline"] is False
    assert {"truncated", "size", "next_start_line"} <= set(cut)


def test_a_hunk_says_what_differs_from_what_was_sent(world):
    old = "".join(lines(900))
    hashed = world.write("a.txt", old)
    hunks = "@@ -%d,2 +%d,2 @@\n%s%s%s-%s+%s"
    diff = hunks % (100, 100, " ", "", lines(100)[99], lines(101)[100], "one\n") + \
        hunks % (190, 190, " ", "", lines(200)[199], lines(201)[200], "two\n") + \
        hunks % (300, 300, " ", "  ", lines(300)[299], lines(301)[300], "three\n")
    done = world.run([[call("read_file", {"file_path": "a.txt"})],
                      [call("safe_patch", {"file_path": "a.txt", "unified_diff": diff, "base_content_sha256": hashed})],
                      [text("Done.")]], *YOLO)
    assert done.results()[-1]["hunks"] == [{"hunk": 2, "line": 200, "stated_line": 190},
                                           {"hunk": 3, "line": 300, "matched": "all_space"}], done.results()[-1]


def test_a_note_about_something_else_does_not_show_the_change_again(world):
    """Links are not about the text; another indentation is."""
    world.write("a.txt", "".join(lines(90)))
    world.write("b.txt", "".join("    " + line for line in lines(90)))
    (world.root / "hard.txt").hardlink_to(world.root / "a.txt")
    (world.root / "soft.txt").symlink_to("b.txt")

    def update(name, old, new):
        return [call("update_file", {"file_path": name, "old_content": old, "new_content": new})]

    at = lines(90)[39] + lines(90)[40]
    done = world.run([[call("read_file", {"file_path": "a.txt"}), call("read_file", {"file_path": "b.txt"})],
                      update("hard.txt", lines(90)[9], "ten\n"), update("soft.txt", "    " + lines(90)[9], "    ten\n"),
                      update("soft.txt", at, "forty\nmore\n"), [text("Done.")]], *YOLO)
    hard, soft, indented = done.results()[-3:]
    assert "hard links" in hard["note"] and "symbolic link" in soft["note"] and "indentation" in indented["note"]
    assert ["changed" in one["latest_file_state"] for one in (hard, soft, indented)] == [False, False, True]


def states(done, i=-1):
    return [one.get("latest_file_state", one) for one in done.results(i)]


def test_a_refusal_shows_what_changed_since_and_then_nothing(world):
    """The file is changed by a command between a read and the edit."""
    world.settings(**WIDE)
    old = "".join(lines(900))
    hashed = world.write("a.txt", old)
    late = call("update_file", {"file_path": "a.txt", "old_content": "00450 words", "new_content": "x",
                                "base_content_sha256": hashed})
    done = world.run([[call("read_file", {"file_path": "a.txt"})],
                      [call("run_shell_command", {"command": "sed -i 's/^00450/other/' a.txt"})],
                      [late], [late], [text("Done.")]], *YOLO)
    first, second = states(done)[2:]
    assert "-00450 words" in first["changed"] and "+other words" in first["changed"] and "content" not in first
    assert first["changed"].startswith("@@ -448,5 +448,5 @@\n") and len(json.dumps(first)) < 900
    assert second["content_omitted"] == "already shown as version %d" % first["version"]
    assert "changed" not in second


def test_a_refusal_of_a_part_shows_the_lines_it_is_about(world):
    world.settings(**WIDE)
    world.write("a.txt", "".join(lines(900)))
    miss = call("safe_patch", {"file_path": "a.txt", "base_content_sha256": sha("".join(lines(900))), "unified_diff":
                "@@ -600,3 +600,3 @@\n 00600 words of a line that is as long as most\n-00601 other\n+x\n"
                " 00602 words of a line that is as long as most\n"})
    done = world.run([[call("read_file", {"file_path": "a.txt", "max_lines": 10})], [miss], [text("Done.")]], *YOLO)
    state = states(done)[1]
    assert "lines 1-10 shown as version 1" in state["content_omitted"] and "content" not in state
    assert "00601 words" in state["excerpt"]["content"] and state["excerpt"]["start_line"] == 598


def test_ranges_move_with_the_edits(world):
    """Lines seen before an edit above them are seen where they are then."""
    world.settings(**WIDE)
    world.write("a.txt", "".join(lines(900)))
    done = world.run([[call("read_file", {"file_path": "a.txt", "start_line": 500, "max_lines": 10})],
                      [call("update_file", {"file_path": "a.txt", "old_content": lines(100)[99],
                                            "new_content": "one\ntwo\nthree\n"})],
                      [call("update_file", {"file_path": "a.txt", "old_content": "no such", "new_content": "x"})],
                      [text("Done.")]], *YOLO)
    made, missed = states(done)[1:]
    assert made["content_omitted"].startswith("lines 100-102 as sent")
    assert missed["content_omitted"].startswith("lines 100-102 and others shown as version 2")


def test_long_lines_are_cut_around_the_change(world):
    world.settings(**WIDE)
    old = "a" * 99_999 + "needle" + "b" * 99_999 + "\n"
    world.write("a.txt", old + "end\n")
    update = {"file_path": "a.txt", "old_content": "needle", "new_content": "thread"}
    done = world.run([[call("read_file", {"file_path": "a.txt"})], [call("update_file", update)],
                      [call("update_file", update)], [text("Done.")]], *YOLO)
    assert all(answer_bytes("gemini", done.sent[i]) < 1500 for i in (2, 3))
    assert states(done)[1]["content_omitted"].startswith("line 1 as sent")


def test_a_mention_and_a_resumed_session_count_as_seen(world):
    world.settings(**WIDE)
    world.write("a.txt", "".join(lines(303)))

    def edit(n):
        return call("update_file", {"file_path": "a.txt", "old_content": lines(n)[n - 1], "new_content": "x%d\n" % n})

    done, steps = [text("Done.")], [edit(7), edit(9), call("write_file", {"file_path": "a.txt", "content": "new\n"})]
    with world.fake([reply for step in steps for reply in ([step], done)], append_only=False) as server:
        world.command("-p", "see @a.txt", "--yolo", server=server)
        for _ in range(2):
            world.command("--resume", "latest", "-p", "more", "--yolo", server=server)
    assert not server.violations
    said = [one["latest_file_state"]["content_omitted"] for one in server.provider.tool_results(server.requests[-1])]
    assert said == ["line 7 as sent, the rest as version 1", "line 9 as sent, the rest as version 2", "as sent"]
    assert world.read("a.txt") == "new\n"


def test_one_edit_of_a_large_file_compacts_nothing(world):
    """C1: lines 95-110 of 2.5 MB read, line 100 patched; the next requests have the new line, and all before it."""
    content = lines(60_000)
    hashed = world.write("a.txt", "".join(content))
    diff = "@@ -99,3 +99,3 @@\n %s-%s+00100 CHANGED\n %s" % (content[98], content[99], content[100])
    done = world.run([[call("read_file", {"file_path": "a.txt", "start_line": 95, "max_lines": 16})],
                      [call("safe_patch", {"file_path": "a.txt", "unified_diff": diff, "base_content_sha256": hashed})],
                      [call("read_file", {"file_path": "a.txt", "start_line": 100, "max_lines": 1})],
                      [text("Done.")]], *YOLO)
    assert len(done.sent) == 4 and all(len(json.dumps(body)) < 40_000 for body in done.sent)
    assert "00100 CHANGED" in done.said(2) and "00095 words" in done.said(3)
