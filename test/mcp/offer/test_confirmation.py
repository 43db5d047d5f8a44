# SPDX-License-Identifier: Apache-2.0
"""--confirm edits: the user sees the diff, and exactly that is written, or nothing."""
import json
import re

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


def test_a_long_diff_is_shown_whole(ws):
    """A form has no way to open what it leaves out."""
    client = client_that_says(ws, {"action": "decline"})
    content = "x" * 5000 + "\n" + "".join("line %d\n" % i for i in range(5000))
    client.call("write_file", file_path="long.txt", content=content)
    message = client.asked[0][1]["message"]
    assert all("+" + line + "\n" in message for line in content.splitlines())
    client.call("apply_changes", changes=[{"kind": "create", "file_path": "f%d" % i, "content": "%d\n" % i} for i in range(100)])
    assert all("create f%d (+1 -0)\n" % i in client.asked[1][1]["message"] for i in range(100))


@pytest.mark.parametrize("content", ["x" * (1 << 20), "\n" * 100000, "\u202e" * 200000], ids=["bytes", "lines", "escapes"])
@pytest.mark.parametrize("edit", ["write_file", "apply_changes", "run_shell_command", "argument"])
def test_what_is_too_long_to_be_shown_is_refused(ws, edit, content):
    client = ws.client("--confirm", "all", capabilities=ASKS, answers={"elicitation/create": lambda _: YES})
    if edit == "write_file":
        result = client.call("write_file", file_path="a", content=content)
    elif edit == "apply_changes":
        result = client.call("apply_changes", changes=[{"kind": "create", "file_path": "a", "content": content}])
    elif edit == "run_shell_command":
        result = client.call("run_shell_command", command="touch a #" + content)
    else:
        result = client.call("run_shell_command", command="touch a", description=content)
    assert result["error"]["code"] == "denied_by_user" and "too long to be shown" in result["message"], result
    assert client.asked == [] and files(ws) == {}


HOSTILE = {
    "long": "begin " + 3000 * "0123456789 " + "end",
    "blank": "first" + 2000 * " " + "hidden" + 40 * "\n" + "below\t\t" + 500 * "\u00a0" + "last",
    "invisible": "a\u202eb\u200bc\u2066d\ufeffe\rf\r\ng\x1b[2Kh\x07i\u00adj\u2028k",
}


def as_numbers(text):
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u2028\u202e\u2066\ufeff]", lambda m: "\\u{%x}" % ord(m[0]), text)


def string_arguments(schema, path=()):
    if schema.get("type") == "string" and "enum" not in schema:
        yield path
    for name, member in schema.get("properties", {}).items():
        yield from string_arguments(member, path + (name,))
    if isinstance(schema.get("items"), dict):
        yield from string_arguments(schema["items"], path + (0,))


def minimal(schema):
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: minimal(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal(schema["items"])]
    return {"integer": schema.get("minimum", 1), "boolean": True, "number": 1}.get(kind, "a.txt")


def filled(schema, path, value):
    arguments = at = minimal(schema)
    for name, following in zip(path, path[1:] + (None,)):
        if following is None:
            if isinstance(at, list):
                at[:] = [value]
            else:
                at[name] = value
        elif isinstance(at, list):
            at.extend([{}] if not at else [])
            at = at[0]
        else:
            at = at.setdefault(name, [] if following == 0 else {})
    return arguments


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
def test_every_argument_of_every_tool_is_in_its_question(ws, hostile):
    """Each byte of it: as it is, as its number, or as a line of the diff."""
    value = HOSTILE[hostile]
    client = ws.client("--confirm", "all", capabilities=ASKS, answers={"elicitation/create": lambda _: {"action": "decline"}})
    shown = set()
    for tool in client.request("tools/list")["tools"]:
        for path in string_arguments(tool["inputSchema"]):
            ws.write("a.txt", "a.txt\n")
            arguments = filled(tool["inputSchema"], path, value)
            if tool["name"] == "write_file" and path != ("file_path",):
                arguments["file_path"] = "new.txt"
            before = len(client.asked)
            client.tool(tool["name"], **arguments)
            for _, question in client.asked[before:]:
                message = question["message"]
                forms = [as_numbers(line) for line in value.split("\n")], [as_numbers(json.dumps(value, ensure_ascii=False)[1:-1])]
                assert any(all(part in message for part in form) for form in forms), (tool["name"], path, message[:2000])
                shown.add((tool["name"], path))
    expected = {("run_shell_command", ("command",)), ("run_shell_command", ("description",)), ("write_file", ("content",)),
                ("update_file", ("new_content",))}
    assert expected <= shown, expected - shown


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
