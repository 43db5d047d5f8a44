# SPDX-License-Identifier: Apache-2.0
"""Which folders are the workspace: --root, the client's roots, the current folder."""
import pytest

OFFERS = {"roots": {"listChanged": True}}


def listing(*uris):
    return {"roots/list": lambda _: {"roots": [{"uri": uri} for uri in uris]}}


def content(client, path):
    return client.call("read_file", file_path=path).get("content")


def code(client, path="a"):
    return client.call("read_file", file_path=path)["error"]["code"]


@pytest.fixture
def folders(ws):
    ws.write("here/a", "here\n")
    ws.write("one folder/a", "one\n")
    ws.write("two/b", "two\n")
    ws.folder = ws.folder / "here"
    return ws, ws.folder.parent


def test_without_roots_it_is_the_current_folder(folders):
    ws, _ = folders
    assert content(ws.client(), "a") == "here\n"


def test_a_client_without_roots_need_not_say_that_it_is_ready(folders):
    """It is not waited for, as one is that has some: though asked later, it is answered first."""
    ws, _ = folders
    clients = []
    for capabilities in ({"roots": {}}, {}):
        client = ws.client(initialize=False)
        client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                                      "clientInfo": {"name": "test", "version": "1"}})
        clients.append(client)
    having, without = clients
    waiting = having.start("tools/call", {"name": "read_file", "arguments": {"file_path": "a"}})
    assert content(without, "a") == "here\n"
    assert waiting not in having.replies


def test_the_clients_roots_are_used(folders):
    ws, top = folders
    client = ws.client(capabilities=OFFERS, answers=listing((top / "one folder").as_uri(),
                                                            (top / "two").as_uri()))
    assert content(client, "a") == "one\n"
    assert content(client, str(top / "two" / "b")) == "two\n"
    assert code(client, str(top / "here" / "a")) == "outside_workspace"
    told = client.note("notifications/message")["data"]
    assert told["roots"] == [str(top / "one folder"), str(top / "two")]


def test_the_root_flag_wins_and_nobody_is_asked(folders):
    ws, top = folders
    client = ws.client("--root", str(top / "two"), "--root", str(top / "one folder"),
                       capabilities=OFFERS, answers=listing(top.as_uri()))
    assert content(client, "b") == "two\n"
    assert content(client, str(top / "one folder" / "a")) == "one\n"
    assert code(client, str(top / "here" / "a")) == "outside_workspace"
    client.notify("notifications/roots/list_changed")
    assert content(client, "b") == "two\n"
    assert client.asked == []


def test_no_roots_are_the_current_folder(folders):
    ws, _ = folders
    assert content(ws.client(capabilities=OFFERS, answers=listing()), "a") == "here\n"


def test_calls_wait_for_the_roots_and_keep_their_order(folders):
    ws, top = folders
    client = ws.client(capabilities=OFFERS, answers={"roots/list": lambda _: None})
    calls = [client.start("tools/call", {"name": "update_file", "arguments": {
        "file_path": "a", "old_content": old, "new_content": new}})
        for old, new in (("one", "2"), ("2", "3"), ("3", "4"))]
    read = client.start("resources/read", {"uri": (top / "one folder" / "a").as_uri()})
    listed = client.start("tools/list")
    assert client.wait(listed)["tools"]
    assert not set(calls + [read]) & set(client.order)
    client.send({"id": client.asked_ids[0],
                 "result": {"roots": [{"uri": (top / "one folder").as_uri()}]}})
    assert all(client.wait(call)["structuredContent"]["success"] for call in calls)
    client.wait(read)
    assert (top / "one folder" / "a").read_text() == "4\n"


def test_changed_roots_are_asked_for_again(folders):
    ws, top = folders
    roots = [top / "one folder"]
    client = ws.client(capabilities=OFFERS, answers={
        "roots/list": lambda _: {"roots": [{"uri": roots[0].as_uri()}]}})
    assert content(client, "a") == "one\n"
    roots[0] = top / "two"
    client.notify("notifications/roots/list_changed")
    result = client.call("read_file", file_path="b")
    assert result["content"] == "two\n"
    assert result["version"] == 2, "the counter is the client's, not the workspace's"
    assert code(client, str(top / "one folder" / "a")) == "outside_workspace"


@pytest.mark.parametrize("uri, words", [
    ("https://example.org/", "not a file:// URI"),
    ("file://other.example/a", "another machine"),
    ("file:///a%00b", "broken escape"),
    ("", "not a file:// URI"),
])
def test_roots_that_cannot_be_used_are_an_error_of_each_call(folders, uri, words):
    ws, _ = folders
    client = ws.client(capabilities=OFFERS, answers=listing(uri))
    for _ in range(2):
        result = client.call("read_file", file_path="a")
        assert result["success"] is False and words in result["message"]
    patched = client.call("safe_patch", file_path="a", unified_diff="@@ @@\n-a\n+b\n")
    assert words in patched["message"] and patched["latest_file_state"]["sha256"] is None
    many = client.call("apply_changes", changes=[
        {"kind": "create", "file_path": "x", "content": ""}])
    assert many["success"] is False
    assert client.call("list_directory", path=".")["success"] is False
    assert client.close() == 0


def test_a_root_that_does_not_exist_yet_is_used_when_it_does(folders):
    ws, top = folders
    client = ws.client(capabilities=OFFERS, answers=listing((top / "later").as_uri()))
    result = client.call("read_file", file_path="a")
    assert "later" in result["message"] and result["error"]["code"] == "file_not_found"
    ws.write("../later/a", "later\n")
    assert content(client, "a") == "later\n"


def test_a_client_that_ends_before_it_told_its_roots_ends_the_server(folders):
    ws, _ = folders
    client = ws.client(capabilities=OFFERS, answers={"roots/list": lambda _: None})
    client.start("tools/call", {"name": "read_file", "arguments": {"file_path": "a"}})
    client.start("resources/list")
    assert client.close() == 0


def test_a_client_that_is_never_ready_ends_the_server_too(folders):
    ws, _ = folders
    client = ws.client(initialize=False)
    client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                  "clientInfo": {"name": "test", "version": "1"}})
    client.start("tools/call", {"name": "read_file", "arguments": {"file_path": "a"}})
    client.process.terminate()
    assert client.process.wait(60) == 128 + 15


@pytest.mark.parametrize("by", ["flag", "client", "shell"])
def test_a_root_is_reached_by_the_way_through_a_link(folders, by):
    ws, top = folders
    (top / "link").symlink_to("two")
    if by == "flag":
        client = ws.client("--root", str(top / "link"))
    elif by == "client":
        client = ws.client(capabilities=OFFERS, answers=listing((top / "link").as_uri()))
    else:
        client = ws.client(cwd=top / "two", env={"PWD": str(top / "link")})
    for folder in ("link", "two"):
        assert content(client, str(top / folder / "b")) == "two\n"
        assert client.call("search_files", pattern="two", path=str(top / folder))["matches"] == 1
        read = client.request("resources/read", {"uri": (top / folder / "b").as_uri()})
        assert read["contents"][0]["text"] == "two\n"
    assert code(client, str(top / "link" / ".." / "here" / "a")) == "outside_workspace"


def test_what_names_no_path_looks_in_all_roots(folders):
    ws, top = folders
    client = ws.client(capabilities=OFFERS, answers=listing((top / "one folder").as_uri(),
                                                            (top / "two").as_uri()))
    roots = [str(top / "one folder"), str(top / "two")]
    for _ in range(2):  # the second time from what the session knows of the trees
        found = client.call("search_files", pattern="o", output="files")
        assert found["roots"] == roots and found["files"] == ["a", str(top / "two" / "b")]
    (top / "two" / "c").write_text("more\n")
    found = client.call("search_files", pattern="o", output="files")
    assert found["files"] == ["a", str(top / "two" / "b"), str(top / "two" / "c")]
    found = client.call("glob", patterns=["*"], order="name")
    assert found["roots"] == roots and found["files"] == ["a", str(top / "two" / "b"),
                                                          str(top / "two" / "c")]


def test_a_write_without_a_hash_takes_what_the_client_last_had(folders):
    ws, top = folders
    client, other = ws.client(), ws.client()
    assert client.call("write_file", file_path="a", content="x\n")["error"]["code"] == "base_required"
    assert content(client, "a") == "here\n"
    assert other.call("write_file", file_path="a", content="x\n")["error"]["code"] == "base_required"
    written = client.call("write_file", file_path="a", content="first\n")
    assert written["success"] and "last read or wrote" in written["note"]
    (ws.folder / "a").write_text("of others\n")
    assert client.call("write_file", file_path="a", content="x\n")["error"]["code"] == "base_required"
    assert (ws.folder / "a").read_text() == "of others\n"
