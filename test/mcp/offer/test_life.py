# SPDX-License-Identifier: Apache-2.0
"""Many calls at once, their order, cancellation, progress, and how the server ends."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import HASP, SECONDS, VERSION
from part import part_of


def start_tool(client, name, **arguments):
    return client.start("tools/call", {"name": name, "arguments": arguments})


def test_edits_of_one_file_are_made_in_the_order_in_which_they_were_sent(ws):
    ws.write("a.txt", "0\n")
    client = ws.client()
    # Each finds its text only after the one before.
    calls = [start_tool(client, "update_file", file_path=("a.txt", "./a.txt", str(
        ws.folder / "a.txt"))[i % 3], old_content="%d\n" % i, new_content="%d\n" % (i + 1))
        for i in range(300)]
    reads = [start_tool(client, "read_file", file_path="a.txt")]
    assert all(client.wait(call)["structuredContent"]["success"] for call in calls)
    assert ws.read("a.txt") == "300\n"
    assert client.wait(reads[0])["structuredContent"]["content"] == "300\n"


def test_apply_changes_keeps_its_place_too(ws):
    ws.write("a.txt", "0\n")
    ws.write("b.txt", "0\n")
    client = ws.client()
    calls = []
    for i in range(40):
        one = {"old_content": "%d\n" % i, "new_content": "%d\n" % (i + 1)}
        if i % 2:
            calls.append(start_tool(client, "apply_changes", changes=[
                {"kind": "update", "file_path": name, **one} for name in ("b.txt", "a.txt")]))
        else:
            calls += [start_tool(client, "update_file", file_path=name, **one)
                      for name in ("a.txt", "b.txt")]
    assert all(client.wait(call)["structuredContent"]["success"] for call in calls)
    assert (ws.read("a.txt"), ws.read("b.txt")) == ("40\n", "40\n")


def test_thousands_of_calls_in_flight_are_all_answered(ws):
    for i in range(20):
        ws.write("f%d" % i, "x" * 1000 + "\n")
    client = ws.client()
    names = ["read_file", "read_many_files", "list_directory", "update_file"]
    arguments = {"read_file": lambda i: {"file_path": "f%d" % (i % 20)},
                 "read_many_files": lambda i: {"paths": ["f%d" % (i % 20)]},
                 "list_directory": lambda i: {"path": "."},
                 "update_file": lambda i: {"file_path": "f%d" % (i % 20), "old_content": "no",
                                           "new_content": "yes"}}
    calls = []
    for i in range(part_of(4000, 4)):
        name = names[i % len(names)]
        calls.append((name, start_tool(client, name, **arguments[name](i))))
    for name, call in calls:
        result = client.wait(call)
        assert result.get("isError", False) == (name == "update_file")
    assert client.close() == 0


def test_a_cancelled_call_is_not_answered_and_the_next_are(ws):
    ws.write("a.txt", "one\n")
    for i in range(2000):
        ws.write("many/%d" % i, "x\n" * 500)
    client = ws.client()
    long = start_tool(client, "read_many_files", paths=["many"], max_total_bytes=100 << 20)
    edit = start_tool(client, "update_file", file_path="a.txt", old_content="one",
                      new_content="two")
    client.notify("notifications/cancelled", {"requestId": long})
    assert client.wait(edit)["structuredContent"]["success"]
    assert client.call("read_file", file_path="a.txt")["content"] == "two\n"
    assert client.close() == 0
    assert long not in client.replies


def test_progress_is_told_to_who_asks_and_grows(ws):
    for i in range(3000):
        ws.write("many/%d" % i, "x\n" * 200)
    client = ws.client("--answer-tokens", "0")
    call = client.start("tools/call", {
        "name": "read_many_files", "_meta": {"progressToken": "p"},
        "arguments": {"paths": ["many"], "max_total_bytes": 100 << 20}})
    assert len(client.wait(call)["structuredContent"]["files"]) == 3000
    told = []
    while not client.notes.empty():
        note = client.notes.get()
        if note["method"] == "notifications/progress":
            assert note["params"]["progressToken"] == "p"
            told.append((note["params"]["progress"], note["params"].get("total")))
    assert told and told == sorted(told) and told[-1] == (3000, 3000)


def test_nothing_but_messages_is_on_standard_output_and_it_ends_with_the_input(ws):
    messages = [
        {"id": 1, "method": "initialize", "params": {
            "protocolVersion": VERSION, "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {
            "name": "write_file", "arguments": {"file_path": "a.txt", "content": "one\n"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "read_file",
                                                     "arguments": {"file_path": "/dev/stdin"}}}]
    lines = b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages)
    code, out, err = ws.run(stdin=lines + b"this is not JSON\n")
    replies = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and err == ""
    assert {reply.get("id") for reply in replies if "method" not in reply} == {1, 2, 3, None}
    assert ws.read("a.txt") == "one\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_with_what_is_under_way(ws, number):
    ws.write("a.txt", "one\n")
    client = ws.client("--confirm", "edits", capabilities={"elicitation": {}},
                       answers={"elicitation/create": lambda _: None})
    start_tool(client, "update_file", file_path="a.txt", old_content="one", new_content="two")
    while not client.asked:
        client.request("ping")
    client.process.send_signal(number)
    assert client.process.wait(SECONDS) == 128 + number
    assert ws.read("a.txt") == "one\n"
    assert client.stderr == b""


def test_a_client_that_goes_away_ends_it(ws):
    ws.write("big", "x" * 100 + "\n")
    server = subprocess.Popen(ws.command(), cwd=ws.folder, env=ws.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    server.stdout.close()
    messages = [{"id": 1, "method": "initialize", "params": {
        "protocolVersion": VERSION, "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}}},
        *({"id": i, "method": "tools/call", "params": {
            "name": "read_file", "arguments": {"file_path": "big"}}} for i in range(2, 50))]
    for message in messages:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.close()
    assert server.wait(SECONDS) == 0


def test_the_client_is_told_of_the_workspace(ws):
    ws.write("a.txt", "one\n")
    client = ws.client()
    client.call("read_file", file_path="a.txt")
    told = client.note("notifications/message")
    assert told["logger"] == "workspace" and told["data"]["roots"] == [str(ws.folder)]
    assert "recovered" not in told["data"]
    quiet = ws.client()
    quiet.request("logging/setLevel", {"level": "error"})
    quiet.call("read_file", file_path="a.txt")
    assert quiet.notes.empty()


def test_what_a_crash_left_is_put_right_and_told(ws):
    ws.write("a.txt", "one\n")
    ws.write("b.txt", "one\n")
    changes = {"changes": [{"kind": "update", "file_path": name, "old_content": "one",
                            "new_content": "two"} for name in ("a.txt", "b.txt")]}
    # Killed when the first of the two files has been exchanged.
    subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2",
                    "-e", "inject=renameat2:signal=SIGKILL:when=2", HASP, "tool",
                    "apply_changes", json.dumps(changes), "--durability", "rename"],
                   cwd=ws.folder, env=ws.env, check=False, capture_output=True)
    assert [ws.read(name) for name in ("a.txt", "b.txt")].count("two\n") == 1
    client = ws.client()
    assert client.call("read_file", file_path="a.txt")["content"] == "one\n"
    told = client.note("notifications/message")
    assert told["level"] == "notice" and told["data"]["recovered"] == 1
    assert ws.read("b.txt") == "one\n"


def test_it_starts_fast_and_stays_small(ws):
    ws.write("a.txt", "".join("line %d of a file of ten kilobytes\n" % i for i in range(280)))
    times, peers = [], []
    for _ in range(5):
        begin = time.monotonic()
        client = ws.client()
        times.append(time.monotonic() - begin)
        begin = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        peers.append(time.monotonic() - begin)
    for _ in range(200):
        client.call("read_file", file_path="a.txt")
    status = open("/proc/%d/status" % client.process.pid, encoding="ascii").read()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    if "ASAN_OPTIONS" not in os.environ and not os.environ.get("HASP", "").count("-san"):
        assert peak < 32 * 1024, "KiB"
        assert min(times) < 3 * min(peers)  # half of one, on an idle machine
