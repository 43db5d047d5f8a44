# SPDX-License-Identifier: Apache-2.0
"""The official SDK's clients use everything that `hasp serve mcp` offers, over stdio and HTTP.

Version 1 of the SDK speaks 2025-11-25, version 2 both that and 2026-07-28.  The clients check each
structuredContent against its tool's outputSchema, and messages against the protocol's schemas.
"""

import contextlib
import json
import os
import time
from pathlib import Path

import pytest

import served
import tool_calls
from conftest import HASP
from sdk import Sdk, SdkError, end_hosts

OLD, NEW = "2025-11-25", "2026-07-28"
CLIENTS = {"sdk1": (1, None, OLD), "sdk2": (2, "legacy", OLD), "sdk2-stateless": (2, NEW, NEW)}
# Each test with one of them, in turn.
pytestmark = pytest.mark.in_turn("place")

WAYS = [(client, transport) for client in CLIENTS for transport in ("stdio", "http")]
if "ASAN_OPTIONS" in os.environ:  # each client and each transport, not all pairs
    WAYS = [WAYS[0], WAYS[3], WAYS[4]]
QUIET_SECONDS = 1.5  # in which something that must not happen would have happened


class Place:
    """A workspace, and clients of a server of it."""

    def __init__(self, folder, client, transport, stack):
        self.folder, self.transport, self.stack = folder, transport, stack
        self.sdk, self.mode, self.version = CLIENTS[client]
        self.modern = self.version == NEW

    def connect(self, *arguments, **options):
        """A client of a new server that was started with these arguments."""
        if self.transport == "http":
            port = self.stack.enter_context(served.http(self.folder, arguments=arguments))
            options.update(url="http://127.0.0.1:%d/mcp" % port, token=served.TOKEN)
        else:
            env = {name: value for name, value in os.environ.items()
                   if name in ("PATH", "HOME") or name.endswith("SAN_OPTIONS")}
            options.update(command=[HASP, "serve", "mcp", *arguments], cwd=str(self.folder),
                           env=env)
        return self.stack.enter_context(Sdk(self.sdk, self.mode, **options))


@pytest.fixture(scope="module", autouse=True)
def hosts():
    yield
    end_hosts()


@pytest.fixture(params=WAYS, ids="-".join)
def place(request, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Place(tool_calls.workspace(tmp_path), *request.param, stack)


@pytest.fixture
def client(place):
    return place.connect("--output-schemas")


def uri(path):
    return Path(path).resolve().as_uri()


# ---- Beginning -----------------------------------------------------------------------------

def test_the_newest_version_that_both_speak_is_used(place, client):
    info = client.do("info")
    if "version" in info:  # the first SDK does not tell it of stdio
        assert info["version"] == place.version
    assert info["era"] == ("modern" if place.modern else "legacy")
    assert info["server"]["name"] == "hasp" and info["instructions"]
    assert info["capabilities"]["resources"]["subscribe"] is True
    assert {"tools", "prompts", "completions", "logging"} <= set(info["capabilities"])
    assert bool(info.get("session")) == (place.transport == "http" and not place.modern)


# ---- Tools ---------------------------------------------------------------------------------

def test_every_tool_is_described_in_full(client):
    tools = {tool["name"]: tool for tool in client.do("tools")["tools"]}
    assert set(tools) == {call.name for call in tool_calls.calls()}
    for name, tool in tools.items():
        assert tool["title"] and len(tool["description"]) > 50
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        changes = name in ("safe_patch", "write_file", "update_file", "apply_changes",
                           "update_data", "update_notebook",
                           "run_shell_command", "write_background_input",
                           "kill_background_process")
        assert tool["annotations"]["readOnlyHint"] == (not changes)
        assert tool["annotations"]["openWorldHint"] is False


def test_every_tool_is_called_and_answers_as_its_schema_says(place, client):
    client.do("tools")  # from here on the client checks results
    for call in tool_calls.calls():
        result = client.do("call", name=call.name, arguments=call.arguments)
        assert not result.get("isError"), (call.name, result)
        call.check(result["structuredContent"], place.folder)
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.parametrize("name, arguments, code", [
    ("read_file", {"file_path": "nowhere"}, "file_not_found"),
    ("read_file", {"file_path": "/etc/passwd"}, "outside_workspace"),
    ("read_file", {}, "invalid_argument"),
    ("safe_patch", {"file_path": "note.txt", "base_content_sha256": "0" * 64,
                    "unified_diff": tool_calls.diff("note.txt", "alpha", "gamma", "beta", "B")},
     "state_mismatch"),
    ("write_file", {"file_path": "note.txt", "content": ""}, "base_required"),
    ("update_file", {"file_path": "note.txt", "old_content": "zeta", "new_content": ""},
     "wrong_match_count"),
])
def test_a_failed_call_is_a_result_that_says_what_to_do(place, client, name, arguments, code):
    client.do("tools")
    result = client.do("call", name=name, arguments=arguments)
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == code
    assert code in result["content"][0]["text"]
    assert (place.folder / "note.txt").read_text() == tool_calls.NOTE


def test_an_unknown_tool_is_an_error_of_the_protocol(client):
    with pytest.raises(SdkError) as error:
        client.do("call", name="no_such_tool", arguments={})
    assert error.value.code == -32602


def test_versions_count_up_and_the_newest_state_is_what_is_edited(place, client):
    versions = []
    for i in range(3):
        state = client.do("call", name="read_file",
                          arguments={"file_path": "note.txt"})["structuredContent"]
        old, new = (("beta", "BETA"), ("BETA", "beta"))[i % 2]
        edit = client.do("call", name="safe_patch", arguments={
            "file_path": "note.txt", "base_content_sha256": state["sha256"],
            "unified_diff": tool_calls.diff("note.txt", "alpha", "gamma", old, new)})
        versions += [state["version"],
                     edit["structuredContent"]["latest_file_state"]["version"]]
    assert versions == sorted(set(versions))


def test_an_image_is_content_of_its_own_kind(client):
    client.do("tools")
    result = client.do("call", name="read_file", arguments={"file_path": "dot.png"})
    (image,) = [block for block in result["content"] if block["type"] == "image"]
    assert image["mimeType"] == "image/png" and image["data"].startswith("iVBORw0KGgo")


def test_many_calls_at_once_are_all_answered(client):
    calls = [client.begin("call", name="read_file", arguments={"file_path": "note.txt"})
             for _ in range(500)]
    for call in calls:
        assert client.finish(call)["structuredContent"]["content"] == tool_calls.NOTE


# ---- Resources -----------------------------------------------------------------------------

def test_files_are_resources(place, client):
    listed = {entry["uri"]: entry for entry in client.do("resources")["resources"]}
    assert set(listed) == {uri(path) for path in place.folder.rglob("*") if path.is_file()}
    (contents,) = client.do("read", uri=uri(place.folder / "note.txt"))["contents"]
    assert contents["text"] == tool_calls.NOTE and contents["mimeType"] == "text/plain"
    (contents,) = client.do("read", uri=uri(place.folder / "dot.png"))["contents"]
    assert contents["blob"].startswith("iVBORw0KGgo") and contents["mimeType"] == "image/png"
    (template,) = client.do("templates")["resourceTemplates"]
    assert template["uriTemplate"] == "file:///{path}"


@pytest.mark.parametrize("name", ["file:///nowhere", "file:///etc/passwd", "http://localhost/",
                                  "note.txt", "file:///%00", "file:///../etc/passwd"])
def test_what_is_no_resource_is_an_error(place, client, name):
    with pytest.raises(SdkError) as error:
        client.do("read", uri=name)
    assert error.value.code in (-32602, -32002)


def test_a_long_list_comes_in_pages(place, client):
    for i in range(1200):
        (place.folder / "src" / ("f%04d.txt" % i)).write_text("x")
    seen, cursor, pages = [], None, 0
    while True:
        page = client.do("resources", cursor=cursor or "")
        seen += [entry["uri"] for entry in page["resources"]]
        cursor, pages = page.get("nextCursor"), pages + 1
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 1206
    assert pages > 1 or (place.modern or place.sdk == 2)  # which collects them itself


def test_a_change_of_a_watched_file_is_told(place, client):
    name = uri(place.folder / "note.txt")
    client.do("watch", uris=[name])
    (place.folder / "note.txt").write_text("changed by somebody else\n")
    event = client.event("notifications/resources/updated")
    assert event["params"]["uri"] == name
    (contents,) = client.do("read", uri=name)["contents"]
    assert contents["text"] == "changed by somebody else\n"


def test_an_edit_replaces_the_file_and_the_watch_goes_on(place, client):
    name = uri(place.folder / "note.txt")
    client.do("watch", uris=[name])
    for text in ("one\n", "two\n"):
        state = client.do("call", name="read_file",
                          arguments={"file_path": "note.txt"})["structuredContent"]
        client.do("call", name="write_file", arguments={
            "file_path": "note.txt", "content": text, "base_content_sha256": state["sha256"]})
        assert client.event("notifications/resources/updated")["params"]["uri"] == name
        time.sleep(0.3)  # what is told again of the same change
        client.do("info")
        client.events.clear()


def test_nothing_is_told_after_the_watch_has_ended(place, client):
    name = uri(place.folder / "note.txt")
    client.do("watch", uris=[name])
    client.do("unwatch", uris=[name])
    (place.folder / "note.txt").write_text("changed\n")
    (place.folder / "list.txt").write_text("changed\n")
    time.sleep(QUIET_SECONDS)
    client.do("tools")
    assert not client.seen("notifications/resources/updated")


# ---- Prompts and completion -------------------------------------------------------------------

def test_every_prompt_can_be_got(place, client):
    prompts = client.do("prompts")["prompts"]
    assert len(prompts) >= 3
    for prompt in prompts:
        given = {argument["name"]: "note.txt" for argument in prompt["arguments"]}
        result = client.do("prompt", name=prompt["name"], arguments=given)
        text = json.dumps(result["messages"])
        assert "note.txt" in text and not any("{%s}" % name in text for name in given)
        assert result["messages"][0]["role"] == "user"
        with pytest.raises(SdkError) as error:
            client.do("prompt", name=prompt["name"], arguments={})
        assert error.value.code == -32602


def test_paths_are_completed(place, client):
    (prompt,) = [prompt for prompt in client.do("prompts")["prompts"]
                 if prompt["name"] == "edit_safely"]
    found = client.do("complete", ref={"type": "ref/prompt", "name": prompt["name"]},
                      argument={"name": "path", "value": "src/"})["completion"]
    assert found["values"] == ["src/main.c"]
    begun = str(place.folder.resolve())[1:] + "/no"
    found = client.do("complete", ref={"type": "ref/resource", "uri": "file:///{path}"},
                      argument={"name": "path", "value": begun})["completion"]
    assert found["values"] == [begun + "te.txt"]


# ---- Asking the user ---------------------------------------------------------------------------

EDIT = {"name": "safe_patch", "arguments": {
    "file_path": "note.txt", "base_content_sha256": tool_calls.digest(tool_calls.NOTE),
    "unified_diff": tool_calls.diff("note.txt", "alpha", "gamma", "beta", "BETA")}}


@pytest.mark.parametrize("answer, changes", [
    ({"action": "accept", "content": {"allow": True}}, True),
    ({"action": "accept", "content": {"allow": False}}, False),
    ({"action": "decline"}, False), ({"action": "cancel"}, False)],
    ids=["accept", "accept-no", "decline", "cancel"])
def test_the_user_is_asked_before_an_edit(place, answer, changes):
    client = place.connect("--confirm", "edits")
    client.do("answer", **{"with": answer})
    result = client.do("call", **EDIT)
    asked = client.event("elicitation")["params"]
    assert "note.txt" in asked["message"] and "+BETA" in asked["message"]
    assert asked["requestedSchema"]["properties"]["allow"]["type"] == "boolean"
    assert bool(result.get("isError")) == (not changes)
    text = (place.folder / "note.txt").read_text()
    assert text == (tool_calls.NOTE.replace("beta", "BETA") if changes else tool_calls.NOTE)
    client.do("call", name="read_file", arguments={"file_path": "note.txt"})
    assert not client.seen("elicitation"), "reading needs no leave"


# ---- Roots --------------------------------------------------------------------------------------

def test_the_roots_of_the_client_are_the_workspace(place, tmp_path):
    """A stateless client is not asked: its workspace is the server's own."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "there.txt").write_text("there\n")
    client = place.connect(roots=[{"uri": uri(tmp_path / "other")}])
    here = {"name": "read_file", "arguments": {"file_path": "note.txt"}}
    there = {"name": "read_file", "arguments": {"file_path": "there.txt"}}
    assert bool(client.do("call", **there).get("isError")) == place.modern
    assert bool(client.do("call", **here).get("isError")) == (not place.modern)
    if not place.modern:
        client.do("roots", roots=[{"uri": uri(place.folder)}])
        assert not client.do("call", **here).get("isError")
        assert client.do("call", **there)["isError"] is True


# ---- Cancelling and progress ---------------------------------------------------------------------

def test_a_cancelled_edit_that_waits_for_the_user_is_not_made(place):
    if place.modern:  # no call waits: the client comes back with the answer, or never
        return
    client = place.connect("--confirm", "edits")
    client.do("answer", **{"with": None})  # the user never answers
    call = client.begin("call", abort_ms=1000, **EDIT)
    with pytest.raises(SdkError):
        client.finish(call)
    assert client.event("elicitation")
    client.do("answer", **{"with": {"action": "accept", "content": {"allow": True}}})
    assert (place.folder / "note.txt").read_text() == tool_calls.NOTE
    result = client.do("call", **EDIT)
    assert not result.get("isError"), "the file is free for others"


def test_progress_grows(place, client):
    for i in range(3000):
        (place.folder / "src" / ("p%04d.c" % i)).write_text("int x%d;\n" % i * 200)
    call = client.begin("call", name="read_many_files", progress=True,
                        arguments={"paths": ["src"]})
    client.finish(call)
    values = [event["progress"]["progress"] for event in client.seen("progress")]
    assert values and values == sorted(set(values))


def test_the_level_of_the_log_can_be_set(place, client):
    if place.modern:
        with pytest.raises(SdkError):
            client.do("level", level="debug")  # each request carries its own there
    else:
        assert client.do("level", level="debug") == {}
        assert client.do("ping") == {}
