# SPDX-License-Identifier: Apache-2.0
"""Files as resources: lists, contents, completion, and what is told when they change."""
import base64
import hashlib
import os
import queue

import pytest

from conftest import STATELESS, Refused

UPDATED = "notifications/resources/updated"
QUIET = 1.0  # seconds; longer than changes are held back


def listed(client):
    found, cursor = [], {}
    while cursor is not None:
        page = client.request("resources/list", cursor)
        found += page["resources"]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    return found


def test_files_are_listed_and_ignored_ones_are_not(ws):
    ws.write(".gitignore", "*.o\n/build/\n")
    ws.write("src/a b.c", "int a;\n")
    ws.write("src/a.o", "x")
    ws.write("build/x.c", "x")
    ws.write("README.md", "# hi\n")
    (ws.folder / "link").symlink_to("README.md")
    client = ws.client()
    resources = listed(client)
    assert [r["name"] for r in resources] == [".gitignore", "README.md", "src/a b.c"]
    assert resources[1] == {"uri": ws.uri("README.md"), "name": "README.md",
                            "mimeType": "text/markdown", "size": 5}
    assert resources[2]["uri"] == ws.uri("src/a b.c")
    assert all(client.request("resources/read", {"uri": r["uri"]})["contents"]
               for r in resources)


@pytest.mark.parametrize("counts", [(0, 3), (499, 2), (500, 1), (501, 1), (1000, 500), (1203, 7)])
def test_pages_make_up_the_whole_list(ws, counts):
    names = []
    for folder, count in zip(("one", "two"), counts):
        (ws.folder / folder).mkdir()
        for i in range(count):
            names.append(ws.write("%s/%d" % (folder, i), "").as_uri())
    client = ws.client("--root", str(ws.folder / "one"), "--root", str(ws.folder / "two"))
    uris = [resource["uri"] for resource in listed(client)]
    assert len(uris) == len(set(uris)) and sorted(uris) == sorted(names)
    first = client.request("resources/list")
    assert len(first["resources"]) == min(500, sum(counts))
    assert ("nextCursor" in first) == (sum(counts) > 500)


def test_files_of_any_name_are_listed_and_read(ws):
    name = b"\xff\xfe new\nline % ?#\xc3\xa9"
    with open(os.path.join(os.fsencode(ws.folder), name), "wb") as file:
        file.write(b"text\n")
    client = ws.client()
    resource, = listed(client)
    assert resource["uri"].endswith("/%FF%FE%20new%0Aline%20%25%20%3F%23%C3%A9")
    assert client.request("resources/read",
                          {"uri": resource["uri"]})["contents"][0]["text"] == "text\n"


@pytest.mark.parametrize("cursor", ["", "x", "0", "0:", "0:/a", "99:file:///a", "-1:file:///a"])
def test_a_cursor_of_nobody_does_no_harm(ws, cursor):
    ws.write("a", "")
    client = ws.client()
    try:
        page = client.request("resources/list", {"cursor": cursor})
        assert page["resources"] == []
    except Refused as refused:
        assert refused.code == -32602
    assert client.request("ping") == {}


def test_contents_come_with_hash_and_version(ws):
    ws.write("a.json", "{}\n")
    ws.write("b.bin", b"\x00\x01\x02\xff" * 10)
    ws.write("c.txt", "caf\u00e9\n".encode("utf-16"))
    client = ws.client()

    def read(name):
        contents, = client.request("resources/read", {"uri": ws.uri(name)})["contents"]
        assert contents["uri"] == ws.uri(name)
        assert contents["_meta"]["hasp/sha256"] == ws.sha256(name)
        return contents
    assert read("a.json")["text"] == "{}\n" and read("a.json")["mimeType"] == "application/json"
    assert base64.b64decode(read("b.bin")["blob"]) == b"\x00\x01\x02\xff" * 10
    assert read("c.txt")["text"] == "caf\u00e9\n"
    version = read("a.json")["_meta"]["hasp/version"]
    assert client.call("read_file", file_path="a.json")["version"] == version + 1
    patched = client.call("write_file", file_path="a.json", content="[]\n",
                          base_content_sha256=read("a.json")["_meta"]["hasp/sha256"])
    assert patched["success"] is True


NOT_THERE = [
    ("missing", -32002), ("sub", -32602), ("../outside", -32602), ("%00", -32602),
    ("%2e%2e/outside", -32602), ("out/passwd", -32602),
]


@pytest.mark.parametrize("name, code", NOT_THERE, ids=[row[0] for row in NOT_THERE])
def test_what_is_no_file_of_the_workspace_is_an_error(ws, name, code):
    (ws.folder / "sub").mkdir()
    (ws.folder.parent / "outside").write_text("secret")
    (ws.folder / "out").symlink_to("/etc")
    with pytest.raises(Refused) as refused:
        ws.client().request("resources/read", {"uri": ws.uri() + "/" + name})
    assert refused.value.code == code
    assert "secret" not in refused.value.message


def test_from_2026_on_a_missing_file_is_an_invalid_parameter(ws):
    client = ws.client(initialize=False, version=STATELESS)
    with pytest.raises(Refused) as refused:
        client.request("resources/read", {"uri": ws.uri("missing")})
    assert refused.value.code == -32602


def test_other_uris_are_refused(ws):
    client = ws.client()
    for uri in ("http://localhost/", "file://elsewhere/a", "a.txt", "file:///etc/passwd"):
        with pytest.raises(Refused) as refused:
            client.request("resources/read", {"uri": uri})
        assert refused.value.code == -32602


def test_only_what_is_told_is_declared(ws):
    assert ws.client().hello["capabilities"]["resources"] == {"subscribe": True}


# ---- completion ---------------------------------------------------------------------------


def complete(client, value, ref):
    return client.request("completion/complete", {
        "ref": ref, "argument": {"name": "path", "value": value}})["completion"]


@pytest.fixture
def tree(ws):
    for name in ("src/main.c", "src/make.c", "src/deep/main.h", "main.txt"):
        ws.write(name, "")
    return ws


PROMPT = {"type": "ref/prompt", "name": "edit_safely"}
TEMPLATE = {"type": "ref/resource", "uri": "file:///{path}"}


@pytest.mark.parametrize("value, wanted", [
    ("", ["src/", "main.txt"]),
    ("src", ["src/"]),
    ("src/", ["src/deep/", "src/main.c", "src/make.c"]),
    ("src/ma", ["src/main.c", "src/make.c"]),
    ("src/mai", ["src/main.c"]),
    ("MAIN", ["main.txt", "src/deep/main.h", "src/main.c"]),
    ("mai", ["main.txt", "src/deep/main.h", "src/main.c"]),
    ("nothing", []),
    ("../", []),
    ("src/../../", []),
    ("a" * 5000, []),
    ("*", []),
])
def test_paths_are_completed_in_prompts(tree, value, wanted):
    assert complete(tree.client(), value, PROMPT)["values"] == wanted


def test_paths_are_completed_in_the_template_as_absolute_ones(tree):
    client = tree.client()
    top = str(tree.folder)[1:]
    assert complete(client, "src/ma", TEMPLATE)["values"] == [top + "/src/main.c",
                                                               top + "/src/make.c"]
    assert complete(client, top + "/src/mai", TEMPLATE)["values"] == [top + "/src/main.c"]
    assert complete(client, top[:-2], TEMPLATE)["values"] == [top + "/"]
    template, = client.request("resources/templates/list")["resourceTemplates"]
    uri = template["uriTemplate"].replace("{path}", top + "/src/main.c")
    assert client.request("resources/read", {"uri": uri})["contents"]


def test_other_arguments_have_no_completions(tree):
    client = tree.client()
    result = client.request("completion/complete", {
        "ref": PROMPT, "argument": {"name": "wish", "value": "s"}})
    assert result["completion"]["values"] == []


def test_at_most_a_hundred_values(ws):
    for i in range(150):
        ws.write("file%03d" % i, "")
    result = complete(ws.client(), "file", PROMPT)
    assert len(result["values"]) == 100 and result["hasMore"] is True and result["total"] == 150


# ---- subscriptions ------------------------------------------------------------------------


def quiet(client):
    with pytest.raises(queue.Empty):
        client.note(UPDATED, QUIET)


def test_changes_are_told_until_unsubscribe(ws):
    path = ws.write("a.txt", "one\n")
    ws.write("b.txt", "one\n")
    client = ws.client()
    client.request("resources/subscribe", {"uri": ws.uri("a.txt")})
    ws.write("b.txt", "two\n")
    quiet(client)
    path.write_text("two, in place\n")
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}
    quiet(client)
    ws.write("new", "three, by rename\n").rename(path)
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}
    quiet(client)
    path.unlink()
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}
    quiet(client)
    path.write_text("back\n")
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}
    quiet(client)
    client.call("update_file", file_path="a.txt", old_content="back", new_content="edited")
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}
    client.request("resources/unsubscribe", {"uri": ws.uri("a.txt")})
    while not client.notes.empty():
        client.notes.get()
    path.write_text("nobody is told\n")
    quiet(client)
    assert client.close() == 0


def test_a_subscription_before_the_roots_are_known_counts(ws):
    ws.write("a.txt", "one\n")
    client = ws.client(capabilities={"roots": {}}, answers={"roots/list": lambda _: None})
    client.request("resources/subscribe", {"uri": ws.uri("a.txt")})
    client.send({"id": client.asked_ids[0], "result": {"roots": [{"uri": ws.uri()}]}})
    client.call("read_file", file_path="a.txt")
    ws.write("a.txt", "two\n")
    assert client.note(UPDATED) == {"uri": ws.uri("a.txt")}


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "http://a/", ""])
def test_what_is_not_in_the_workspace_cannot_be_watched(ws, uri):
    with pytest.raises(Refused):
        ws.client().request("resources/subscribe", {"uri": uri})


def test_a_stateless_client_listens(ws):
    ws.write("a.txt", "one\n")
    client = ws.client(initialize=False, version=STATELESS)
    stream = client.start("subscriptions/listen", {"notifications": {
        "resourceSubscriptions": [ws.uri("a.txt"), "file:///etc/passwd"]}})
    told = client.note("notifications/subscriptions/acknowledged")
    assert told["notifications"]["resourceSubscriptions"] == [ws.uri("a.txt")]
    ws.write("a.txt", "two\n")
    note = client.note(UPDATED)
    assert note["uri"] == ws.uri("a.txt")
    assert note["_meta"]["io.modelcontextprotocol/subscriptionId"] == stream
    client.notify("notifications/cancelled", {"requestId": stream})
    client.request("tools/list")
    ws.write("a.txt", "three\n")
    quiet(client)


def test_hash_of_the_resource_is_that_of_the_bytes(ws):
    content = "caf\u00e9\r\n".encode("latin-1") * 40
    ws.write("a.txt", content)
    contents, = ws.client().request("resources/read", {"uri": ws.uri("a.txt")})["contents"]
    assert contents["_meta"]["hasp/sha256"] == hashlib.sha256(content).hexdigest()
    assert contents["text"] == "caf\u00e9\r\n" * 40
