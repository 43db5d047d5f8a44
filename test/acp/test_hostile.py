# SPDX-License-Identifier: Apache-2.0
"""Clients that are broken, hostile, or gone: nothing crashes, nothing is torn, memory stays bounded."""
import json
import os
import random
import subprocess
import time

import pytest

from editor import Editor, Refused
from fake_gemini import call, text

MB = 1 << 20


def memory(process):
    """Of the process alone, the most so far."""
    for line in open("/proc/%d/status" % process.pid):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10


def fits(process, most):
    """With sanitizers memory says nothing."""
    return "ASAN_OPTIONS" in os.environ or memory(process) < most


def code(editor, line):
    """The error that a line is answered with."""
    editor.write(line if line.endswith(b"\n") else line + b"\n")
    while not editor.answers:
        editor.receive()
    return editor.answers.popitem()[1]["error"]["code"]


def test_what_is_no_message_is_answered_and_the_next_one_works(world):
    with world.fake([]) as server, Editor(world, server, raw=True) as editor:
        for line, expected in ((b"hello", -32700), (b"{", -32700), (b"[]", -32600), (b"7", -32600), (b"\xff\xfe", -32700),
                               (b'{"jsonrpc":"1.0","id":9,"method":"initialize"}', -32600),
                               (b'{"jsonrpc":"2.0","id":[],"method":"initialize"}', -32600),
                               (b'{"jsonrpc":"2.0","id":9,"method":7}', -32600),
                               (b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":[]}', -32602),
                               (b'{"jsonrpc":"2.0","id":9,"method":"session/cancel","params":{"sessionId":"x"}}', -32600),
                               (b'{"a":' * 200 + b"1" + b"}" * 200, -32700)):
            assert code(editor, line) == expected, line[:60]
        # Nothing of these is answered.
        for line in (b"", b"\r", b'{"jsonrpc":"2.0","method":"session/new"}', b'{"jsonrpc":"2.0","method":"_x/y"}',
                     b'{"jsonrpc":"2.0","id":77,"result":{}}', b'{"jsonrpc":"2.0","id":null,"error":{"code":1}}',
                     b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}'):
            editor.write(line + b"\n")
        assert editor.new().id


def test_a_line_without_an_end_costs_no_memory(world):
    with Editor(world, raw=True) as editor:
        piece = b"x" * MB
        for _ in range(100):
            editor.write(piece)
        assert code(editor, b"\n") == -32600
        assert fits(editor.process, 120 * MB)
        assert editor.request("session/list", cwd=str(world.root)) == {"sessions": []}


def test_too_many_requests_and_sessions_are_refused(world):
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "x"})]]) as server:
        with Editor(world, server, raw=True) as editor:
            session = editor.new()
            first = session.begin("go")
            editor.wait("session/request_permission")
            ids = [session.begin("more") for _ in range(300)]
            refused = 0
            for id in ids[255:]:
                with pytest.raises(Refused, match="already wait"):
                    editor.result(id)
                refused += 1
            assert refused == 45
            session.cancel()
            assert all(editor.result(id)["stopReason"] == "cancelled" for id in [first, *ids[:255]])


def test_a_flood_of_long_requests_is_refused_and_costs_what_waits(world):
    """Prompts of 4 MB each while a question is open."""
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "x"})]]) as server:
        with Editor(world, server, raw=True) as editor:
            session = editor.new()
            first = session.begin("go")
            editor.wait("session/request_permission")
            ids = [session.begin("x" * (4 * MB)) for _ in range(40)]
            with pytest.raises(Refused, match="bytes already wait"):
                editor.result(ids[-1])
            session.cancel()
            ends = []
            for id in [first, *ids[:-1]]:
                try:
                    ends.append(editor.result(id)["stopReason"])
                except Refused as refused:
                    ends.append(refused.message.partition(" of ")[0])
            assert ends[0] == "cancelled" and set(ends) == {"cancelled", "Requests"}
            assert 25 < ends.count("cancelled") < 40 and fits(editor.process, 600 * MB)


def test_a_client_that_stops_reading_holds_up_nothing_but_itself(world):
    """A command prints 50 MB as a terminal's output: what is not read waits where it is bounded, and the end comes."""
    script = [[call("run_shell_command", {"command": "yes 0123456789abcdef | head -c 50000000"})], [text("Done.")]]
    with world.fake(script) as server:
        with Editor(world, server, "--yolo", raw=True, capabilities={"_meta": {"terminal_output": True}}) as editor:
            session = editor.new()
            prompt = session.begin("go")
            end = time.monotonic() + 120
            while len(server.requests) < 2 and time.monotonic() < end and session_progress(editor):
                pass
            assert len(server.requests) == 2 and fits(editor.process, 120 * MB)
            assert editor.result(prompt)["stopReason"] == "end_turn"
            assert session.said() == "Done."


def session_progress(editor):
    """Waits for a little while as a client that does not read; no more than that matters here."""
    try:
        editor.process.wait(0.05)
    except subprocess.TimeoutExpired:
        return True
    return False


def test_garbage_in_the_middle_of_everything(world):
    """A prompt goes on while lines of noise come."""
    noise = random.Random(42)
    script = [[call("write_file", {"file_path": "a.txt", "content": "one\n"})], [text("Done.")]]
    with world.fake(script) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        prompt = session.begin("go")
        question = editor.wait("session/request_permission")
        for _ in range(500):
            line = bytes(noise.randrange(256) for _ in range(noise.randrange(200))).replace(b"\n", b"")
            editor.write(line + b"\n")
        editor.asked[None] = None
        editor.write({"jsonrpc": "2.0", "id": question["id"], **editor.chosen("proceed_once")})
        editor.write({"jsonrpc": "2.0", "id": question["id"], **editor.chosen("cancel")})
        assert editor.result(prompt)["stopReason"] == "end_turn"
    assert world.read("a.txt") == "one\n"


def test_sessions_that_are_closed_while_they_open_are_gone(world):
    with world.fake([], append_only=False) as server, Editor(world, server, raw=True) as editor:
        for _ in range(5):
            id = editor.send("session/new", cwd=str(world.root), mcpServers=[])
            editor.notify("$/cancel_request", requestId=id)
            try:
                editor.result(id)
            except Refused as refused:
                assert refused.code == -32800
        assert editor.new().id


@pytest.mark.parametrize("when", ["new", "prompt", "question"])
def test_a_client_that_dies_at_any_moment_leaves_a_session_to_resume(world, when):
    script = [[text("First.")], [call("write_file", {"file_path": "a.txt", "content": "one\n"})], [text("Again.")]]
    with world.fake(script, append_only=False) as server:
        editor = Editor(world, server, raw=True)
        if when == "new":
            editor.send("session/new", cwd=str(world.root), mcpServers=[])
            editor.process.stdin.close()
            editor.process.stdout.close()
            assert editor.process.wait(60) == 0
            return
        session = editor.new()
        session.prompt("one")
        session.begin("two")
        if when == "question":
            editor.wait("session/request_permission")
        editor.process.stdin.close()
        editor.process.stdout.close()
        assert editor.process.wait(60) == 0
        assert not (world.root / "a.txt").exists()
        done = world.command("-r", session.id, "-p", "still there?", server=server)
        # 56: the model's edit, if the second prompt had not got it, is for nobody to allow.
        assert "First." in json.dumps(server.requests[-1].body) and done.code in (0, 56)


def test_a_client_that_dies_while_its_yes_is_carried_out_tears_nothing(world):
    old, new = "old\n" * 1900, "a new line, which is longer\n" * 1900
    for _ in range(3):
        world.write("a.txt", old)
        script = [[call("read_file", {"file_path": "a.txt"})],
                  [call("write_file", {"file_path": "a.txt", "content": new})], [text("Done.")], [text("Again.")]]
        with world.fake(script, append_only=False) as server:
            editor = Editor(world, server, raw=True)
            session = editor.new()
            session.begin("go")
            question = editor.wait("session/request_permission")
            editor.write({"jsonrpc": "2.0", "id": question["id"], **editor.chosen("proceed_once")})
            editor.process.stdin.close()
            editor.process.stdout.close()
            assert editor.process.wait(60) == 0
            assert world.read("a.txt") in (old, new)
            assert world.command("-r", session.id, "-p", "still there?", server=server).code in (0, 56)


def test_titles_and_texts_of_a_model_are_json_and_nothing_else(world):
    evil = "\x1b]0;x\x07\r\n\u202e\u0000\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
    with world.fake([[text(evil)]]) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        assert session.prompt("go\n" + evil.replace("\0", ""))["stopReason"] == "end_turn"
        assert '"result":{}' in session.said()
