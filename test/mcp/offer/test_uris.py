# SPDX-License-Identifier: Apache-2.0
"""Names of any bytes, in every place where the server or a client writes a file as a URI."""
import base64
import os

import pytest

from conftest import Refused

# Each is a file; the last one's name is what the second's is shown as.
NAMES = [b"plain.txt", b"caf\xe9.txt", b"new\nline", b'"quoted" \'name\'', b"tab\tbell\x07\x1b[1m",
         b"100%.txt", b"%41", b"a#b?c=d", b"\xff\xfe", b"back\\slash", b"two\xe2\x80\xa8lines",
         b"caf\\xe9.txt"]
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def make(folder, name, content):
    with open(os.path.join(os.fsencode(folder), name), "wb") as file:
        file.write(content)


def escaped(ws, name):
    """The URI of a file, with each byte of its name escaped."""
    return ws.uri() + "/" + "".join("%%%02X" % byte for byte in name)


@pytest.fixture
def full(ws):
    for name in NAMES:
        make(ws.folder, name, b"this is " + base64.b16encode(name))
    return ws


def content_of(client, uri):
    contents, = client.request("resources/read", {"uri": uri})["contents"]
    return contents


def test_every_listed_uri_reads_the_file_it_was_made_of(full):
    client = full.client()
    listed = client.request("resources/list")["resources"]
    assert len({resource["uri"] for resource in listed}) == len(NAMES)
    seen = set()
    for resource in listed:
        contents = content_of(client, resource["uri"])
        assert contents["uri"] == resource["uri"]
        seen.add(contents["text"])
    assert seen == {"this is " + base64.b16encode(name).decode() for name in NAMES}
    assert client.close() == 0


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_uri_with_every_byte_escaped_is_the_same_file(full, name):
    assert content_of(full.client(), escaped(full, name))["text"] == \
        "this is " + base64.b16encode(name).decode()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_tools_read_a_file_by_the_name_in_the_list(full, name):
    client = full.client()
    uri = content_of(client, escaped(full, name))["uri"]
    shown, = [resource["name"] for resource in client.request("resources/list")["resources"]
              if resource["uri"] == uri]
    assert client.call("read_file", file_path=shown)["content"] == \
        "this is " + base64.b16encode(name).decode()


@pytest.mark.parametrize("escape", ["%", "%4", "%zz", "%E9%", "%-1", "%00"])
def test_an_escape_that_is_none_is_refused_in_words(full, escape):
    with pytest.raises(Refused) as refused:
        content_of(full.client(), full.uri() + "/caf" + escape)
    assert refused.value.code == -32602
    assert "two hexadecimal digits" in refused.value.message


@pytest.mark.parametrize("name", [b"none\xe9", b"none\n", b"none%"], ids=ascii)
def test_a_missing_file_of_such_a_name_is_a_missing_file(full, name):
    with pytest.raises(Refused) as refused:
        content_of(full.client(), escaped(full, name))
    assert refused.value.code == -32002 and "none" in refused.value.message


@pytest.mark.parametrize("name", [b"caf\xe9.pdf", b"a#b?.pdf", b"caf\\xe9.pdf"], ids=ascii)
def test_the_uri_of_a_file_in_a_result_is_its_own(ws, name):
    make(ws.folder, b"caf\xe9.pdf", PDF + b"% one")
    make(ws.folder, b"caf\\xe9.pdf", PDF + b"% two")
    make(ws.folder, b"a#b?.pdf", PDF + b"% three")
    client = ws.client()
    uri = content_of(client, escaped(ws, name))["uri"]
    shown, = [resource["name"] for resource in client.request("resources/list")["resources"]
              if resource["uri"] == uri]
    block, = [block for block in client.tool("read_file", file_path=shown, part="media")["content"]
              if block["type"] == "resource"]
    assert block["resource"]["uri"] == uri
    assert content_of(client, uri)["blob"] == block["resource"]["blob"]


@pytest.mark.parametrize("name", [b"ws-\xe9", b"ws 100%", b"ws#?", b"ws\n"], ids=ascii)
def test_a_root_of_any_name_is_opened(ws, name):
    folder = os.path.join(os.fsencode(ws.folder), name)
    os.mkdir(folder)
    make(folder, b"in\xe9", b"found\n")
    roots = [{"uri": escaped(ws, name)}]
    client = ws.client(capabilities={"roots": {}}, answers={"roots/list": lambda _: {"roots": roots}})
    resource, = client.request("resources/list")["resources"]
    assert resource["uri"].startswith(ws.uri() + "/ws")
    assert content_of(client, resource["uri"])["text"] == "found\n"
    assert client.call("read_file", file_path="in\\xe9")["content"] == "found\n"
    assert client.close() == 0


def test_a_prompt_is_given_the_file_by_its_shown_name(full):
    messages = full.client().request("prompts/get", {"name": "edit_safely", "arguments": {
        "path": "caf\\xe9.txt", "wish": "more"}})["messages"]
    assert messages[0]["content"]["resource"]["uri"].endswith("/caf%E9.txt")


def complete(client, ref, value):
    return client.request("completion/complete", {
        "ref": ref, "argument": {"name": "path", "value": value}})["completion"]["values"]


def test_completions_of_a_prompt_are_names_that_its_tools_take(full):
    client = full.client()
    ref = {"type": "ref/prompt", "name": "explore"}
    assert complete(client, ref, "caf") == ["caf\\x5cxe9.txt", "caf\\xe9.txt"]
    assert complete(client, ref, "caf\\xe9") == ["caf\\xe9.txt"]
    for shown in complete(client, ref, "caf"):
        assert client.call("read_file", file_path=shown)["content"].startswith("this is ")


def test_completions_of_the_template_lead_to_the_file_they_name(full):
    client = full.client()
    ref = {"type": "ref/resource", "uri": "file:///{path}"}
    typed = str(full.folder)[1:] + "/"
    values = complete(client, ref, typed)
    # The two that no value can spell are left out.
    assert len(values) == len(NAMES) - 2
    for value in values:
        uri = "file:///" + "".join("%%%02X" % byte for byte in value.encode())
        name = os.fsencode(os.path.basename(value))
        assert content_of(client, uri)["text"] == "this is " + base64.b16encode(name).decode()
