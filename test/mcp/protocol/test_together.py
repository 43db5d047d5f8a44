# SPDX-License-Identifier: Apache-2.0
"""Calls that arrive in one piece: reads are under way together, and are answered as if each had come
alone, at its place among edits."""

import json

from wire import Wire


def batch(calls):
    return b"".join(json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call",
                                "params": {"name": name, "arguments": arguments}}).encode() + b"\n"
                    for ident, name, arguments in calls)


def test_many_reads_in_one_piece(tmp_path):
    for i in range(5):
        (tmp_path / ("%d.txt" % i)).write_text("text %d\n" % i * 1000)
    (tmp_path / "large.txt").write_text("a line of a large file\n" * 20000)
    (tmp_path / "picture").write_bytes(b"\x00\x01\x02" * 1000)
    reads = ["0.txt", "missing", "1.txt", "large.txt", "2.txt", "picture", "../out", "3.txt", "4.txt"]
    calls = [(i, "read_file", {"file_path": reads[i % len(reads)]}) for i in range(1, 200)]
    with Wire(tmp_path, "--root", str(tmp_path)) as wire:
        wire.initialize()
        wire.write(batch(calls))
        versions = []
        for ident, _, arguments in calls:
            result = wire.answer(ident)
            path, data = arguments["file_path"], result["structuredContent"]
            assert json.loads(result["content"][0]["text"]) == data
            if path in ("missing", "picture", "../out"):
                assert result["isError"] and data["error"]["code"] in (
                    "file_not_found", "not_text", "outside_workspace")
            else:
                assert data["content"] == (tmp_path / path).read_text()[:len(data["content"])]
                assert data["content"]
            versions += [data["version"]] if "version" in data else []
        assert len(set(versions)) == len(versions)


def test_a_read_between_edits_sees_those_before_it(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("state 0\n")
    calls = []
    for i in range(20):
        calls.append((3 * i + 1, "read_file", {"file_path": "a.txt"}))
        calls.append((3 * i + 2, "update_file", {
            "file_path": "a.txt", "old_content": "state %d\n" % i,
            "new_content": "state %d\n" % (i + 1)}))
        calls.append((3 * i + 3, "read_file", {"file_path": "./a.txt"}))
    with Wire(tmp_path, "--root", str(tmp_path), "--durability", "rename") as wire:
        wire.initialize()
        wire.write(batch(calls))
        for i in range(20):
            assert wire.answer(3 * i + 1)["structuredContent"]["content"] == "state %d\n" % i
            assert not wire.answer(3 * i + 2).get("isError")
            assert wire.answer(3 * i + 3)["structuredContent"]["content"] == "state %d\n" % (i + 1)


def test_a_cancelled_read_is_not_answered_and_harms_no_other(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    calls = batch((i, "read_file", {"file_path": "a.txt"}) for i in range(1, 20))
    with Wire(tmp_path, "--root", str(tmp_path)) as wire:
        wire.initialize()
        wire.write(calls + json.dumps(cancel).encode() + b"\n")
        for i in range(1, 20):
            if i != 7:
                got = wire.answer(i)
                assert got["structuredContent"].get("content") == "one\n", (i, got)
        assert wire.is_alive()


def test_the_end_of_input_behind_reads(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    with Wire(tmp_path, "--root", str(tmp_path)) as wire:
        wire.initialize()
        wire.write(batch((i, "read_file", {"file_path": "a.txt"}) for i in range(1, 41)))
        answers = wire.end()
        assert sorted(message["id"] for message in answers) == list(range(1, 41))
