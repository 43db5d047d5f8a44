# SPDX-License-Identifier: Apache-2.0
"""`hasp serve mcp` on a pipe, with clients that are broken, hostile or dead: nothing ends it but
the end of its input, its memory is bounded, and every request is answered exactly once."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from part import ALL, part_of
import tool_calls
from conftest import HASP
from wire import LEGACY, MODERN, Refused, Wire, meta

pytestmark = pytest.mark.rows_in_turn(3)

SANITIZED = "ASAN_OPTIONS" in os.environ
MESSAGE_MAX = 64 << 20           # LIMIT_MESSAGE_BYTES
PEAK_MB = 1200 if SANITIZED else 400
PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602


@pytest.fixture
def folder(tmp_path):
    return tool_calls.workspace(tmp_path)


@pytest.fixture
def wire(folder):
    with Wire(folder) as made:
        yield made


def line(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


# What a client says first, without waiting for the answer.
HELLO = line(id="first", method="initialize", params={
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "hasty", "version": "1"}}) + line(method="notifications/initialized")


def complete(ident, method="ping", **params):
    return line(id=ident, method=method, params=params)


# ---- What is no message ------------------------------------------------------------------

# name, line, code of the error, id in the error
BROKEN = [
    ("not JSON", b"hello", PARSE, None),
    ("half an object", b'{"jsonrpc": "2.0", "id": 1', PARSE, None),
    ("two values", b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}', PARSE, None),
    ("bad UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', PARSE, None),
    ("overlong UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"ping\xc0\x80"}', PARSE, None),
    ("a lone surrogate", b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', PARSE, None),
    ("a NUL byte", b'{"jsonrpc":"2.0",\0"id":1,"method":"ping"}', PARSE, None),
    ("only NUL bytes", b"\0" * 100, PARSE, None),
    ("a name twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', PARSE, None),
    ("nested too deep", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' +
     b"[" * 1000000 + b"]" * 1000000 + b"}}", PARSE, None),
    ("opened a million times", b"[" * 1000000, PARSE, None),
    ("objects in objects", b'{"a":' * 300000, PARSE, None),
    ("a number", b"1", INVALID, None),
    ("a string", b'"ping"', INVALID, None),
    ("null", b"null", INVALID, None),
    ("an empty object", b"{}", INVALID, None),
    ("an empty batch", b"[]", INVALID, None),
    ("another version", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID, 1),
    ("no version", b'{"id":1,"method":"ping"}', INVALID, 1),
    ("a method that is a number", b'{"jsonrpc":"2.0","id":1,"method":5}', INVALID, 1),
    ("params that are an array", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
     None, 1),  # either code will do
    ("an id that is null", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, None),
    ("an id that is a fraction", b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID, None),
    ("an id that is an object", b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID, None),
    ("an id that is a book", b'{"jsonrpc":"2.0","id":"' + b"x" * 100000 +
     b'","method":"ping"}', INVALID, None),
    ("an unknown method", b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', NO_METHOD, 1),
    ("a method with a NUL", b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000x"}', None, 1),
]


@pytest.mark.parametrize("text, code, ident", [row[1:] for row in BROKEN],
                         ids=[row[0].replace(" ", "-") for row in BROKEN])
def test_what_is_no_message_is_answered_with_an_error(wire, text, code, ident):
    wire.initialize()
    wire.write(text + b"\n")
    message = wire.receive()
    assert message["id"] == ident and "error" in message
    assert code is None or message["error"]["code"] == code
    assert wire.is_alive()


# Nothing may be answered to these.
SILENT = [
    ("an unknown notification", line(method="notifications/no/such")),
    ("a cancellation of nothing", line(method="notifications/cancelled",
                                       params={"requestId": 12345})),
    ("a cancellation without an id", line(method="notifications/cancelled")),
    ("progress of nothing", line(method="notifications/progress",
                                 params={"progressToken": 1, "progress": 1})),
    ("an answer that nobody waits for", line(id=1, result={})),
    ("an answer with an id of another kind", line(id="x" * 2000, result={})),
    ("an error that nobody waits for", line(id=1, error={"code": 1, "message": "no"})),
    ("an empty line", b"\n"),
    ("a line with a CR", b"\r\n"),
    ("many empty lines", b"\n" * 100000),
]


@pytest.mark.parametrize("text", [row[1] for row in SILENT],
                         ids=[row[0].replace(" ", "-") for row in SILENT])
def test_what_asks_nothing_is_not_answered(wire, text):
    wire.initialize()
    wire.write(text)
    wire.send({"jsonrpc": "2.0", "id": "next", "method": "ping"})
    assert wire.receive(lambda _: True) == {"jsonrpc": "2.0", "id": "next", "result": {}}


def test_arguments_of_any_wrong_shape_are_refused_or_failed(wire):
    wire.initialize()
    for params in ({}, {"name": 5}, {"name": None}, {"name": "no_such_tool"},
                   {"name": "read_file\0"}, {"name": "x" * 100000},
                   {"name": "read_file", "arguments": []},
                   {"name": "read_file", "arguments": "x"}):
        with pytest.raises(Refused) as refused:
            wire.request("tools/call", params)
        assert refused.value.code in (PARAMS, INVALID), params
    for arguments in ({}, {"file_path": 5}, {"file_path": "\0"}, {"file_path": "/etc/passwd"},
                      {"file_path": "../../etc/passwd"}, {"file_path": "x" * 100000}):
        result = wire.call("read_file", **arguments)
        assert result["isError"] is True, arguments
    assert wire.is_alive()


# ---- Lengths ----------------------------------------------------------------------------

def test_more_than_it_may_need_without_a_newline_needs_no_memory(wire):
    wire.initialize()
    block = b"a" * (4 << 20)
    for _ in range(2 * PEAK_MB // 4 if ALL else PEAK_MB // 4 + 16):
        wire.write(block)
    wire.write(b"\n")
    message = wire.receive()
    assert message["id"] is None and message["error"]["code"] in (PARSE, INVALID)
    assert wire.is_alive()
    assert wire.peak_mb() < PEAK_MB


def test_a_long_string_that_is_valid_so_far_needs_no_memory(wire):
    wire.initialize()
    wire.write(b'{"jsonrpc":"2.0","id":77,"method":"ping","params":{"x":"')
    for _ in range(64):
        wire.write(b"b" * (4 << 20))
    wire.write(b'"}}\n')
    message = wire.receive()
    assert "error" in message and message["id"] in (77, None)
    assert wire.is_alive()
    assert wire.peak_mb() < PEAK_MB


def test_a_large_file_can_be_written_and_read(folder):
    text = "".join("%07d\n" % i for i in range(1000000))
    with Wire(folder, "--answer-tokens", "0") as wire:
        wire.initialize()
        result = wire.call("write_file", file_path="large.txt", content=text, return_content="none")
        assert result["structuredContent"]["success"] is True
        assert (folder / "large.txt").read_text() == text
        result = wire.call("read_file", file_path="large.txt", max_lines=10000000)
        assert result["structuredContent"]["content"] == text


def test_many_long_garbage_lines_are_each_answered(wire):
    wire.initialize()
    threading.Thread(target=wire.write, args=((b"x" * 100000 + b"\n") * 1000,),
                     daemon=True).start()
    for _ in range(1000):
        assert wire.receive()["error"]["code"] == PARSE
    assert wire.is_alive()
    assert wire.peak_mb() < PEAK_MB


# ---- How bytes arrive -------------------------------------------------------------------

def test_two_messages_in_one_write(wire):
    wire.initialize()
    wire.write(complete(10) + complete(11))
    assert {wire.receive()["id"], wire.receive()["id"]} == {10, 11}


def test_one_byte_at_a_time(wire):
    for byte in line(id=1, method="initialize", params={
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "slow", "version": "1"}}) + complete("é"):
        wire.write(bytes([byte]))
    assert wire.receive()["result"]["protocolVersion"] == "2025-11-25"
    assert wire.receive()["id"] == "é"


def test_lines_that_end_with_crlf(wire):
    wire.initialize()
    wire.write(complete(10).replace(b"\n", b"\r\n"))
    assert wire.answer(10) == {}


def test_white_space_around_a_message(wire):
    wire.initialize()
    wire.write(b" \t " + complete(10).rstrip() + b" \t \n")
    assert wire.answer(10) == {}


def test_half_a_message_at_the_end_of_input(wire):
    wire.initialize()
    wire.write(complete(10) + complete(11)[:20])
    assert wire.answer(10) == {}
    assert [m for m in wire.end() if m.get("id") == 11] == []


@pytest.mark.parametrize("text", [b"", b"\n", b"x", b"{", complete(1)[:-1]],
                         ids=["nothing", "newline", "letter", "brace", "no-newline"])
def test_input_that_ends_at_once(folder, text):
    done = subprocess.run([HASP, "serve", "mcp"], input=text, stdout=subprocess.PIPE,
                          cwd=folder, timeout=300)
    assert done.returncode == 0
    for answer in done.stdout.splitlines():
        json.loads(answer)


def test_calls_that_are_under_way_at_the_end_of_input_are_answered(wire):
    wire.initialize()
    for i in range(200):
        wire.start("tools/call", {"name": "read_file", "arguments": {"file_path": "note.txt"}},
                   "last-%d" % i)
    assert sorted(message["id"] for message in wire.end()) == \
        sorted("last-%d" % i for i in range(200))


def test_a_client_that_never_says_that_it_is_initialized(wire):
    wire.write(HELLO.splitlines(keepends=True)[0])
    wire.write(complete(10, "tools/call", name="read_file", arguments={"file_path": "note.txt"}))
    assert wire.answer(10)["structuredContent"]["content"] == tool_calls.NOTE


# ---- Ids and many calls -----------------------------------------------------------------

@pytest.mark.parametrize("ident", [0, -1, 2**53 + 1, 2**63 - 1, -2**63, "", "1", "\u0000",
                                   "a\nb", "\U0001f600", "x" * 1000])
def test_ids_come_back_as_they_were_sent(wire, ident):
    wire.initialize()
    wire.send({"jsonrpc": "2.0", "id": ident, "method": "ping"})
    message = wire.receive()
    assert message == {"jsonrpc": "2.0", "id": ident, "result": {}}
    assert type(message["id"]) is type(ident)


def test_two_requests_with_one_id_get_two_answers(wire):
    wire.initialize()
    call = {"name": "read_file", "arguments": {"file_path": "note.txt"}}
    data = complete(50, "tools/call", **call) + complete(50, "tools/call", **call)
    wire.write(data)
    answers = [wire.receive(), wire.receive()]
    assert [message["id"] for message in answers] == [50, 50]
    assert any("result" in message for message in answers)
    assert wire.is_alive()


def test_the_number_and_the_text_of_it_are_different_ids(wire):
    wire.initialize()
    wire.write(complete(60, "tools/list") + complete("60"))
    assert "tools" in wire.answer(60)
    assert wire.answer("60") == {}


def test_thousands_of_calls_in_flight_are_each_answered_once(wire):
    wire.initialize()
    kinds = [("tools/call", {"name": "read_file", "arguments": {"file_path": "note.txt"}}),
             ("tools/call", {"name": "list_directory", "arguments": {"path": "."}}),
             ("tools/call", {"name": "read_file", "arguments": {"file_path": "nowhere"}}),
             ("ping", {}), ("tools/list", {}),
             ("tools/call", {"name": "read_many_files", "arguments": {"paths": ["*.txt"]}})]
    idents = [i if i % 2 else "call-%d" % i for i in range(part_of(6000, 3))]
    data = b"".join(complete(ident, kinds[n % len(kinds)][0], **kinds[n % len(kinds)][1])
                    for n, ident in enumerate(idents))
    threading.Thread(target=wire.write, args=(data,), daemon=True).start()
    answered = {}
    for _ in idents:
        message = wire.receive()
        assert message["id"] not in answered, "answered twice"
        answered[message["id"]] = message
    assert set(answered) == set(idents)
    for n, ident in enumerate(idents):
        result = answered[ident]["result"]
        assert (result.get("isError") is True) == (n % len(kinds) == 2)
        if n % len(kinds) == 0:
            assert result["structuredContent"]["content"] == tool_calls.NOTE
    assert wire.is_alive()
    assert wire.end() == []


def test_edits_of_one_file_in_flight_are_made_one_after_the_other(wire, folder):
    wire.initialize()
    (folder / "count.txt").write_text("".join("line %d\n" % i for i in range(300)))
    for i in range(300):
        wire.start("tools/call", {"name": "update_file", "arguments": {
            "file_path": "count.txt", "old_content": "line %d\n" % i,
            "new_content": "LINE %d\n" % i, "return_content": "none"}}, "edit-%d" % i)
    versions = set()
    for i in range(300):
        result = wire.answer("edit-%d" % i)["structuredContent"]
        assert result["success"] is True, result
        versions.add(result["latest_file_state"]["version"])
    assert len(versions) == 300
    assert (folder / "count.txt").read_text() == "".join("LINE %d\n" % i for i in range(300))


def test_of_edits_in_flight_against_one_state_only_one_is_made(wire, folder):
    wire.initialize()
    base = tool_calls.digest(tool_calls.NOTE)
    for i in range(50):
        wire.start("tools/call", {"name": "safe_patch", "arguments": {
            "file_path": "note.txt", "base_content_sha256": base,
            "unified_diff": tool_calls.diff("note.txt", "alpha", "gamma", "beta", "B%d" % i)}},
            "patch-%d" % i)
    made = [i for i in range(50)
            if wire.answer("patch-%d" % i)["structuredContent"]["success"]]
    assert len(made) == 1
    assert (folder / "note.txt").read_text() == "alpha\nB%d\ngamma\n" % made[0]


# ---- Cancelling ---------------------------------------------------------------------------

def test_cancelled_calls_are_answered_at_most_once_and_others_all(wire):
    wire.initialize()
    read = {"name": "read_file", "arguments": {"file_path": "note.txt"}}
    data = b"".join(complete("c-%d" % i, "tools/call", **read) +
                    (line(method="notifications/cancelled",
                          params={"requestId": "c-%d" % i, "reason": "changed my mind"})
                     if i % 2 else b"") for i in range(2000))
    threading.Thread(target=wire.write, args=(data + complete("end"),), daemon=True).start()
    seen = set()
    while len([ident for ident in seen if ident == "end" or int(ident[2:]) % 2 == 0]) < 1001:
        ident = wire.receive()["id"]
        assert ident not in seen
        seen.add(ident)
    assert wire.is_alive()


def test_a_cancelled_initialize_changes_nothing(wire):
    ident = wire.start("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                      "clientInfo": {"name": "x", "version": "1"}})
    wire.notify("notifications/cancelled", {"requestId": ident})
    assert wire.answer(ident)["protocolVersion"] == "2025-11-25"


# ---- Answers to the server's own questions -----------------------------------------------------

PATCH = {"name": "safe_patch", "arguments": {
    "file_path": "note.txt", "base_content_sha256": tool_calls.digest(tool_calls.NOTE),
    "unified_diff": tool_calls.diff("note.txt", "alpha", "gamma", "beta", "BETA")}}


def asked(wire, method):
    """The server's next question."""
    return wire.receive(lambda message: message.get("method") == method)


@pytest.fixture
def careful(folder):
    """A server that asks before edits, with an edit that it asks about."""
    with Wire(folder, "--confirm", "edits") as wire:
        wire.initialize(capabilities={"elicitation": {}})
        wire.start("tools/call", PATCH, "edit")
        wire.question = asked(wire, "elicitation/create")["id"]
        yield wire


@pytest.mark.parametrize("answer", [
    {"result": 5}, {"result": []}, {"result": None}, {"result": {}},
    {"result": {"action": 5}}, {"result": {"action": "ACCEPT", "content": {"allow": True}}},
    {"result": {"action": "accept"}}, {"result": {"action": "accept", "content": 5}},
    {"result": {"action": "accept", "content": {}}},
    {"result": {"action": "accept", "content": {"allow": "true"}}},
    {"result": {"action": "accept", "content": {"allow": 1}}},
    {"error": {"code": -1, "message": "no"}}, {"error": {"code": "x"}},
], ids=json.dumps)
def test_only_a_clear_yes_lets_an_edit_happen(careful, folder, answer):
    careful.send({"jsonrpc": "2.0", "id": careful.question, **answer})
    assert careful.answer("edit")["isError"] is True
    assert (folder / "note.txt").read_text() == tool_calls.NOTE
    assert careful.is_alive()


def test_an_answer_under_another_id_is_no_answer(careful, folder):
    yes = {"action": "accept", "content": {"allow": True}}
    for ident in (str(careful.question), -1, 10**9, "x"):
        if ident != careful.question:
            careful.send({"jsonrpc": "2.0", "id": ident, "result": yes})
    assert careful.is_alive()
    assert (folder / "note.txt").read_text() == tool_calls.NOTE
    careful.send({"jsonrpc": "2.0", "id": careful.question, "result": yes})
    assert careful.answer("edit")["structuredContent"]["success"] is True


def test_an_edit_that_waits_for_the_user_is_not_made_when_the_client_goes(careful, folder):
    careful.process.stdin.close()
    assert careful.process.wait(timeout=60) == 0
    assert (folder / "note.txt").read_text() == tool_calls.NOTE


def test_a_file_that_changes_while_the_user_thinks_is_not_overwritten(careful, folder):
    (folder / "note.txt").write_text("alpha\nbeta\ngamma\ndelta\n")
    careful.send({"jsonrpc": "2.0", "id": careful.question,
                  "result": {"action": "accept", "content": {"allow": True}}})
    result = careful.answer("edit")
    assert result["isError"] and result["structuredContent"]["error"]["code"] == "state_mismatch"
    assert (folder / "note.txt").read_text() == "alpha\nbeta\ngamma\ndelta\n"


@pytest.mark.parametrize("answer", [
    {"result": 5}, {"result": {}}, {"result": {"roots": 5}}, {"result": {"roots": [5, {}]}},
    {"result": {"roots": [{"uri": 5}]}}, {"result": {"roots": [{"uri": "http://localhost/"}]}},
    {"result": {"roots": [{"uri": "file:///nowhere/at/all"}]}},
    {"result": {"roots": [{"uri": "file:///dev/null"}]}},
    {"result": {"roots": [{"uri": "file:///%00"}]}},
    {"result": {"roots": [{"uri": "file:///" + "x" * 100000}]}},
    {"result": {"roots": [{"uri": "file:///nowhere/%d" % i} for i in range(50000)]}},
    {"error": {"code": -1, "message": "no"}},
], ids=lambda answer: json.dumps(answer)[:60])
def test_roots_that_are_none_end_nothing_and_open_nothing(wire, folder, answer):
    wire.initialize(capabilities={"roots": {"listChanged": True}})
    wire.send({"jsonrpc": "2.0", "id": asked(wire, "roots/list")["id"], **answer})
    wire.start("tools/call", {"name": "read_file", "arguments": {"file_path": "/etc/passwd"}},
               "outside")
    assert wire.answer("outside")["isError"] is True
    assert wire.is_alive()


# ---- Clients that go, and clients that do not read --------------------------------------------

@pytest.fixture
def deaf(folder):
    """A server whose output nobody reads yet; it is killed at the end."""
    wire = Wire(folder, "--answer-tokens", "0", reading=False)
    yield wire
    wire.process.kill()
    wire.process.wait()


def test_a_client_that_dies_with_calls_in_flight(deaf):
    deaf.write(HELLO + b"".join(complete(i, "tools/call", name="read_file",
                                         arguments={"file_path": "note.txt"})
                                for i in range(300)))
    deaf.process.stdout.close()
    deaf.process.stdin.close()
    assert deaf.process.wait(timeout=60) >= 0, "ended by a signal"


def test_output_that_nobody_takes_any_more(deaf):
    deaf.process.stdout.close()
    with contextlib.suppress(BrokenPipeError):  # it has noticed already
        for i in range(1000):
            deaf.write(complete(i))
            time.sleep(0.001)
    with contextlib.suppress(BrokenPipeError):
        deaf.process.stdin.close()
    assert deaf.process.wait(timeout=60) >= 0, "ended by a signal"


def test_a_client_that_does_not_read_costs_bounded_memory(deaf, folder):
    """More is asked for at once than it may hold; when the client reads at last, all of it is there."""
    text = "".join("%07d\n" % i for i in range(50000))
    (folder / "big.txt").write_text(text)
    calls = b"".join(complete(i, "tools/call", name="read_file", arguments={
        "file_path": "big.txt", "max_lines": 100000})
        for i in range(600 if SANITIZED else part_of(2500, 2)))
    deaf.write(HELLO)
    taken = deaf.write_what_fits(calls, 4)
    asked_for = set(range(calls[:taken].count(b"\n")))
    for answer in deaf.process.stdout:  # not as JSON: that takes long
        found = re.match(rb'\{"jsonrpc":"2\.0","id":(\d+),"result":', answer)
        if found:
            assert len(answer) > 2 * len(text), "the stream was cut"
            asked_for.remove(int(found.group(1)))
        if not asked_for:
            break
    assert not asked_for
    # Of a gigabyte.  How many reads are under way when it is full depends on how busy the machine is.
    assert deaf.peak_mb() < 1.5 * PEAK_MB


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(wire, number):
    wire.initialize()
    wire.process.send_signal(number)
    assert wire.process.wait(timeout=60) == 128 + number
    wire.process.returncode = 0


# ---- Versions -----------------------------------------------------------------------------------

@pytest.mark.parametrize("version", LEGACY)
def test_every_version_before_2026_is_spoken(wire, version):
    result = wire.initialize(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] and result["capabilities"]["tools"] is not None
    tools = wire.request("tools/list", {"_meta": {"hasp/outputSchemas": True}})["tools"]
    titled = version >= "2025-06-18"
    assert all(("outputSchema" in tool) == titled for tool in tools)
    assert all(("annotations" in tool) == (version >= "2025-03-26") for tool in tools)
    result = wire.call("read_file", file_path="note.txt")
    assert ("structuredContent" in result) == titled
    assert "resultType" not in result and "beta" in result["content"][0]["text"]


@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", MODERN, "", "x" * 10000])
def test_a_version_that_cannot_be_initialized_gets_the_newest_that_can(wire, version):
    assert wire.initialize(version)["protocolVersion"] == LEGACY[-1]
    assert wire.is_alive()


def test_a_stateless_client_needs_no_initialize(wire):
    found = wire.request("server/discover", {"_meta": meta()})
    assert MODERN in found["supportedVersions"] and found["resultType"] == "complete"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
    result = wire.request("tools/call", {"name": "read_file", "_meta": meta(),
                                         "arguments": {"file_path": "note.txt"}})
    assert result["resultType"] == "complete"
    assert result["structuredContent"]["sha256"] == tool_calls.digest(tool_calls.NOTE)


def test_both_kinds_of_client_on_one_connection(wire):
    wire.initialize("2025-06-18")
    call = {"name": "read_file", "arguments": {"file_path": "note.txt"}}
    assert "resultType" not in wire.request("tools/call", call)
    assert wire.request("tools/call", {**call, "_meta": meta()})["resultType"] == "complete"
    assert "resultType" not in wire.request("tools/call", call)


@pytest.mark.parametrize("given", [
    {"io.modelcontextprotocol/protocolVersion": "2099-01-01",
     "io.modelcontextprotocol/clientCapabilities": {}},
    {"io.modelcontextprotocol/protocolVersion": 5},
    {"io.modelcontextprotocol/protocolVersion": MODERN},
    {"io.modelcontextprotocol/protocolVersion": MODERN,
     "io.modelcontextprotocol/clientCapabilities": 7}])
def test_a_stateless_request_with_a_wrong_envelope_is_refused(wire, given):
    with pytest.raises(Refused) as refused:
        wire.request("tools/list", {"_meta": given})
    assert refused.value.code in (PARAMS, -32022)
    assert wire.request("tools/list", {"_meta": meta()})["tools"]


def test_batches_are_of_one_version_only(wire):
    wire.initialize("2025-03-26")
    wire.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"},
               {"jsonrpc": "2.0", "method": "notifications/no/such"}, 5,
               {"jsonrpc": "2.0", "id": "b", "method": "tools/list"}])
    answers = wire.receive(lambda message: isinstance(message, list))
    assert sorted(str(message["id"]) for message in answers) == ["None", "a", "b"]
    with Wire(os.getcwd()) as other:
        other.initialize("2025-06-18")
        other.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}])
        assert other.receive()["error"]["code"] == INVALID
