# SPDX-License-Identifier: Apache-2.0
"""Edits that are begun on the loop's thread: nobody waits for them, and nothing is lost."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
from pathlib import Path

from conftest import Refused
from part import part_of
from test_life import start_tool

FILES = 48


def children(pid):
    return [int(child) for task in os.listdir("/proc/%d/task" % pid)
            for child in Path("/proc/%d/task/%s/children" % (pid, task)).read_text().split()]


def threads(client):
    tasks = Path("/proc/%d/task" % client.process.pid)
    return sorted((task / "comm").read_text().strip() for task in tasks.iterdir())


def lines(messages):
    return b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages)


def write_call(number, name, content="new\n"):
    return {"id": number, "method": "tools/call",
            "params": {"name": "write_file", "arguments": {"file_path": name, "content": content}}}


def send_at_once(client, messages):
    client.last_id = max(one["id"] for one in messages)
    with client.sending:
        client.process.stdin.write(lines(messages))
        client.process.stdin.flush()


@contextlib.contextmanager
def locked(folder):
    """Commits in it wait, two seconds at most."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def test_edits_of_many_files_need_no_thread(ws):
    client = ws.client()
    assert client.request("ping") == {}
    send_at_once(client, [write_call(100 + i, "f%d" % i) for i in range(FILES)])
    assert all(client.wait(100 + i)["structuredContent"]["success"] for i in range(FILES))
    assert [name for name in threads(client) if "pool" in name] == []
    assert all(ws.read("f%d" % i) == "new\n" for i in range(FILES))
    assert client.close() == 0


def test_answers_to_what_came_together_leave_together(ws):
    server = subprocess.Popen(ws.command(), cwd=ws.folder, env=ws.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    server.stdin.write(lines([{"id": i, "method": "ping"} for i in range(20)]))
    server.stdin.flush()
    first = os.read(server.stdout.fileno(), 1 << 16)
    assert [json.loads(line)["id"] for line in first.splitlines()] == list(range(20))
    server.stdin.close()
    assert server.wait() == 0


def test_an_edit_that_waits_keeps_nobody_waiting(ws):
    """Nor does one of a file whose name differs from its own in the first letter alone."""
    ws.write("a.txt", "one\n")
    ws.write("other/b.txt", "one\n")
    client = ws.client()
    with locked(ws.folder):
        edit = start_tool(client, "update_file", file_path="a.txt", old_content="one",
                          new_content="two")
        free = start_tool(client, "update_file", file_path="other/b.txt", old_content="one",
                          new_content="two")
        read = start_tool(client, "read_file", file_path="other/b.txt")
        found = start_tool(client, "search_files", pattern="two")
        assert client.wait(read)["structuredContent"]["content"] == "two\n"
        assert client.wait(free)["structuredContent"]["success"]
        client.wait(found)
        assert edit not in client.replies
    client.wait(edit)
    assert client.close() == 0


def test_an_edit_that_is_cancelled_is_not_answered_and_its_id_is_free(ws):
    ws.write("a.txt", "one\n")
    ws.write("b.txt", "b\n")
    client = ws.client()
    with locked(ws.folder):
        edit = start_tool(client, "update_file", file_path="a.txt", old_content="one",
                          new_content="two")
        try:
            send_at_once(client, [write_call(edit, "c.txt")])
            assert client.wait(edit)["structuredContent"]["error"]["code"] == "busy"
        except Refused as refused:
            assert "under way already" in refused.message
        client.replies.clear()
        client.notify("notifications/cancelled", {"requestId": edit})
        client.send({"id": edit, "method": "tools/call", "params": {
            "name": "read_file", "arguments": {"file_path": "b.txt"}}})
        assert client.wait(edit)["structuredContent"]["content"] == "b\n"
    assert client.call("read_file", file_path="a.txt")["content"] in ("one\n", "two\n")
    assert client.close() == 0


def test_the_end_of_the_input_waits_for_edits(ws):
    ws.write("a.txt", "one\n")
    client = ws.client()
    with locked(ws.folder):
        edit = start_tool(client, "update_file", file_path="a.txt", old_content="one",
                          new_content="two")
        client.request("ping")
        client.process.stdin.close()
    assert client.wait(edit)["structuredContent"]["success"] == (ws.read("a.txt") == "two\n")
    assert client.process.wait() == 0


def test_a_signal_ends_it_after_the_edits_that_are_under_way(ws):
    client = ws.client()
    ws.write("a.txt", "one\n")
    client.call("read_file", file_path="a.txt")
    with locked(ws.folder):
        send_at_once(client, [write_call(100 + i, "f%d" % i) for i in range(FILES)])
        client.request("ping")
        client.process.send_signal(signal.SIGTERM)
    assert client.process.wait() == 128 + signal.SIGTERM


def test_edits_under_way_are_answered_when_the_worker_dies_and_the_next_are_made(ws):
    client = ws.client()
    ws.write("a.txt", "one\n")
    client.call("read_file", file_path="a.txt")
    workers = children(client.process.pid)
    assert workers
    with locked(ws.folder):
        send_at_once(client, [write_call(100 + i, "f%d" % i) for i in range(FILES)])
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        for i in range(FILES):
            result = client.wait(100 + i)["structuredContent"]
            assert result["success"] or result["error"]["code"] in ("worker_lost", "busy"), result
    assert client.call("write_file", file_path="last", content="x\n")["success"]
    assert client.close() == 0


def test_large_writes_among_many_edits_whose_answers_are_large(ws):
    text = "%s\n" % ("x" * 99) * 150
    for i in range(FILES):
        ws.write("f%d" % i, "first\n" + text)
    client = ws.client()
    for turn in range(part_of(9, 3)):
        calls = []
        for i in range(FILES):
            calls.append(start_tool(client, "update_file", file_path="f%d" % i,
                                    old_content="first" * (turn + 1),
                                    new_content="first" * (turn + 2)))
            if i % 4 == 1:
                calls.append(start_tool(client, "write_file", file_path="large%d-%d" % (turn, i),
                                        content="y" * 200_000))
        assert all(client.wait(call)["structuredContent"]["success"] for call in calls)
    assert client.close() == 0
