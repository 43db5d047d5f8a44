# SPDX-License-Identifier: Apache-2.0
"""--confirm edits: the user sees the diff, and exactly that is written, or nothing."""
import json

import pytest

from conftest import STATELESS

ASKS = {"elicitation": {}}
EDITS = [
    ("safe_patch", {"file_path": "a.txt", "unified_diff": "@@ -1 +1 @@\n-one\n+ONE\n",
                    "base_content_sha256": "$a"}, "a.txt", "ONE\n"),
    ("update_file", {"file_path": "a.txt", "old_content": "one", "new_content": "ONE"},
     "a.txt", "ONE\n"),
    ("write_file", {"file_path": "new.txt", "content": "ONE\n"}, "new.txt", "ONE\n"),
    ("apply_changes", {"changes": [
        {"kind": "update", "file_path": "a.txt", "old_content": "one", "new_content": "ONE"},
        {"kind": "create", "file_path": "b.txt", "content": "b\n"}]}, "a.txt", "ONE\n"),
]
IDS = [edit[0] for edit in EDITS]
YES = {"action": "accept", "content": {"allow": True}}
NOES = [{"action": "decline"}, {"action": "cancel"}, {"action": "accept"}, {},
        {"action": "accept", "content": {"allow": False}},
        {"action": "accept", "content": {"allow": "true"}}]


def arguments_of(ws, edit):
    return {key: ws.sha256("a.txt") if value == "$a" else value
            for key, value in edit[1].items()}


def files(ws):
    return {path.name: path.read_text() for path in ws.folder.iterdir()}


def client_that_says(ws, answer, **options):
    return ws.client("--confirm", "edits", capabilities=ASKS,
                     answers={"elicitation/create": lambda _: answer}, **options)


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_yes_writes_what_was_shown(ws, edit):
    ws.write("a.txt", "one\n")
    client = client_that_says(ws, YES)
    result = client.call(edit[0], **arguments_of(ws, edit))
    assert result["success"] is True
    assert ws.read(edit[2]) == edit[3]
    (method, question), = client.asked
    assert method == "elicitation/create"
    assert edit[0] in question["message"] and edit[2] in question["message"]
    assert "+ONE" in question["message"]
    assert question["requestedSchema"]["properties"]["allow"]["type"] == "boolean"


@pytest.mark.parametrize("answer", NOES, ids=json.dumps)
@pytest.mark.parametrize("edit", EDITS[1:], ids=IDS[1:])
def test_anything_else_writes_nothing(ws, edit, answer):
    ws.write("a.txt", "one\n")
    result = client_that_says(ws, answer).tool(edit[0], **arguments_of(ws, edit))
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "denied_by_user"
    assert files(ws) == {"a.txt": "one\n"}


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_client_that_cannot_ask_cannot_edit(ws, edit):
    ws.write("a.txt", "one\n")
    result = ws.client("--confirm", "edits").call(edit[0], **arguments_of(ws, edit))
    assert result["error"]["code"] == "denied_by_user" and "elicitation" in result["message"]
    assert files(ws) == {"a.txt": "one\n"}


def test_an_old_client_without_elicitation_cannot_edit(ws):
    client = client_that_says(ws, YES, version="2025-03-26")
    client.tool("write_file", file_path="new.txt", content="x")
    assert client.asked == [] and files(ws) == {}


def test_reading_asks_nobody(ws):
    ws.write("a.txt", "one\n")
    client = client_that_says(ws, YES)
    assert client.call("read_file", file_path="a.txt")["content"] == "one\n"
    assert client.call("update_file", file_path="a.txt", old_content="one", new_content="two",
                       dry_run=True)["success"] is True
    assert client.call("update_file", file_path="a.txt", old_content="x",
                       new_content="y")["error"]["code"] == "wrong_match_count"
    assert client.asked == []


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_change_while_the_user_thinks_is_a_mismatch(ws, edit):
    ws.write("a.txt", "one\n")

    def think(_):
        ws.write(edit[2], "one, by another\n")
        return YES
    client = ws.client("--confirm", "edits", capabilities=ASKS,
                       answers={"elicitation/create": think})
    result = client.call(edit[0], **arguments_of(ws, edit))
    assert result["success"] is False
    assert result["error"]["code"] == "state_mismatch"
    assert ws.read(edit[2]) == "one, by another\n"


def test_what_would_deceive_the_eye_is_shown_as_numbers(ws):
    client = client_that_says(ws, {"action": "decline"})
    client.call("write_file", file_path="a\x1b[2J.txt",
                content="\x1b[31mred\u202etxt.exe\u200b\x07\n")
    message = client.asked[0][1]["message"]
    for deceptive in "\x1b\u202e\u200b\x07":
        assert deceptive not in message
    assert "\\u{1b}[31mred\\u{202e}" in message


def test_a_long_diff_is_shortened_and_says_so(ws):
    client = client_that_says(ws, {"action": "decline"})
    client.call("write_file", file_path="long.txt", content="x" * 5000 + "\n" + "line\n" * 5000)
    message = client.asked[0][1]["message"]
    assert len(message) < 10000 and "more lines of the diff" in message


def test_other_calls_go_on_while_the_user_thinks(ws):
    ws.write("a.txt", "one\n")
    seen = []

    def think(_):
        # The reader's thread: what is sent here is answered while the question waits.
        seen.append(client.start("tools/call", {"name": "read_file",
                                                "arguments": {"file_path": "b.txt"}}))
        return None
    client = ws.client("--confirm", "edits", capabilities=ASKS,
                       answers={"elicitation/create": think})
    ws.write("b.txt", "b\n")
    client.start("tools/call", {"name": "update_file", "arguments": {
        "file_path": "a.txt", "old_content": "one", "new_content": "two"}})
    while not seen:
        client.request("ping")
    assert client.wait(seen[0])["structuredContent"]["content"] == "b\n"
    assert client.close() == 0
    assert ws.read("a.txt") == "one\n", "nobody answered"


# ---- clients without a connection (2026-07-28) -------------------------------------------


def ask_stateless(ws, edit, answer, between=lambda: None, change=lambda params: params):
    client = ws.client("--confirm", "edits", initialize=False, version=STATELESS,
                       answers={"elicitation/create": None})
    params = {"name": edit[0], "arguments": arguments_of(ws, edit)}
    first = client.request("tools/call", params)
    assert first["resultType"] == "input_required"
    question = first["inputRequests"]["confirm"]
    assert question["method"] == "elicitation/create" and "+ONE" in question["params"]["message"]
    assert not (ws.folder / "new.txt").exists()
    between()
    again = {**params, "inputResponses": {"confirm": answer},
             "requestState": first["requestState"]}
    return client.request("tools/call", change(again))


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_stateless_client_comes_back_with_the_answer(ws, edit):
    ws.write("a.txt", "one\n")
    result = ask_stateless(ws, edit, YES)
    assert result["resultType"] == "complete"
    assert result["structuredContent"]["success"] is True
    assert ws.read(edit[2]) == edit[3]


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_stateless_client_can_say_no(ws, edit):
    ws.write("a.txt", "one\n")
    result = ask_stateless(ws, edit, {"action": "decline"})
    assert result["structuredContent"]["error"]["code"] == "denied_by_user"
    assert files(ws) == {"a.txt": "one\n"}


@pytest.mark.parametrize("edit", EDITS, ids=IDS)
def test_a_stateless_answer_is_about_the_state_that_was_shown(ws, edit):
    ws.write("a.txt", "one\n")
    result = ask_stateless(ws, edit, YES, between=lambda: ws.write(edit[2], "one more\n"))
    assert result["structuredContent"]["success"] is False
    assert ws.read(edit[2]) == "one more\n"


def test_a_stateless_client_without_elicitation_cannot_edit(ws):
    client = ws.client("--confirm", "edits", initialize=False, version=STATELESS)
    result = client.call("write_file", file_path="new.txt", content="x")
    assert result["error"]["code"] == "denied_by_user"
    assert files(ws) == {}
