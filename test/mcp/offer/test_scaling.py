# SPDX-License-Identifier: Apache-2.0
"""Messages of a client cost in proportion to their size: of each kind so much that a step for every pair of
members would take far longer than the seconds of processor time that are given."""
import json
import subprocess

import pytest

pytestmark = pytest.mark.rows_in_turn(4)

LIMITED = ["prlimit", "--cpu=5", "--"]
MANY = 30000
DEEP = 10000


def request(ident, method, params=None):
    return {"jsonrpc": "2.0", "id": ident, "method": method, **({"params": params} if params else {})}


def call(ident, name, **arguments):
    return request(ident, "tools/call", {"name": name, "arguments": arguments})


def answers(ws, lines, version="2025-11-25"):
    """What is answered to `lines` (JSON values, or text as it is), by the text of its id."""
    hello = request("hello", "initialize", {"protocolVersion": version, "capabilities": {},
                                            "clientInfo": {"name": "test", "version": "1"}})
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n"
                   for line in [hello, ready, *lines])
    done = subprocess.run([*LIMITED, *ws.command()], cwd=ws.folder, env=ws.env, input=text.encode(),
                          capture_output=True, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    flat = [one for message in found for one in (message if isinstance(message, list) else [message])]
    return {json.dumps(one["id"]): one for one in flat if "id" in one}


@pytest.mark.parametrize("batch", [1, 1000])
def test_many_calls(ws, batch):
    ws.write("a.txt", "one\n")
    calls = [call(i, "read_file", file_path="a.txt") for i in range(5000)]
    lines = [calls[i:i + batch] if batch > 1 else calls[i] for i in range(0, len(calls), batch)]
    got = answers(ws, lines, "2025-03-26")
    assert len(got) == len(calls) + 1
    assert not any("error" in one for one in got.values())


def test_many_edits_of_one_file(ws):
    ws.write("a.txt", "one\n")
    got = answers(ws, [call(i, "write_file", file_path="a.txt", content="%d\n" % i,
                            return_content="none") for i in range(1000)])
    assert len(got) == 1001


@pytest.mark.parametrize("ident, times", [("x" * (1 << 20), 20), (-1, MANY)], ids=["long", "short"])
def test_ids_that_come_again_and_again(ws, ident, times):
    got = answers(ws, [request(ident, "ping") for _ in range(times)] + [request(7, "ping")])
    assert got["7"]["result"] == {}


ARGUMENTS = {
    "paths": {"paths": ["no/such/file%d" % i for i in range(MANY)]},
    "the same path": {"paths": ["a.txt"] * MANY},
    "unknown members": {"file_path": "a.txt", **{"k%d" % i: i for i in range(MANY)}},
    "members of the wrong type": {"paths": [{"a": i} for i in range(MANY)]},
    "changes": {"changes": [{"kind": "delete", "file_path": "f%d" % i} for i in range(MANY)]},
    "changes without sense": {"changes": [i for i in range(MANY)]},
    "a long path": {"file_path": "a/" * (1 << 20)},
    "a long escape": {"file_path": "\\xe9" * (1 << 20)},
    "a long hash": {"file_path": "a.txt", "base_content_sha256": "0" * (8 << 20)},
}


@pytest.mark.parametrize("name", ["read_many_files", "read_file", "apply_changes", "safe_patch"])
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_large_arguments(ws, name, kind):
    ws.write("a.txt", "one\n")
    got = answers(ws, [call(1, name, **ARGUMENTS[kind])])
    assert len(json.dumps(got["1"])) < 64 << 20


NESTS = {
    "arrays": "[" * DEEP + "]" * DEEP,
    "arrays that do not end": "[" * (1 << 18),
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
}


@pytest.mark.parametrize("kind", NESTS)
def test_deep_messages(ws, kind):
    inside = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":%s}}'
    got = answers(ws, [NESTS[kind]] * 50 + [inside % NESTS[kind]] * 50 + [request(2, "ping")])
    assert got["2"]["result"] == {}


def test_many_members_of_a_message(ws):
    members = {"m%d" % i: i for i in range(MANY)}
    got = answers(ws, [{**request(1, "tools/list", {"_meta": members, **members}), **members}])
    assert "1" in got


def test_many_notifications_of_calls_that_are_none(ws):
    got = answers(ws, [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}
                       for i in range(MANY)] + [request(1, "ping")])
    assert got["1"]["result"] == {}
