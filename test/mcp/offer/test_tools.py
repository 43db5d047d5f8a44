# SPDX-License-Identifier: Apache-2.0
"""tools/list and tools/call: what is declared is what is answered."""
import base64
import json
import os
import struct
import zlib

import jsonschema
import pytest

from conftest import HASP, STATELESS, Client, Refused

DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


def png():
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(b"\0\0\0\0")) + chunk(b"IEND", b"")


LARGEST_LIST = 30 << 10  # bytes of tools/list that every client gets
ASKING = {"_meta": {"hasp/outputSchemas": True}}


def tools_of(client, params=None):
    return {tool["name"]: tool for tool in client.request("tools/list", params)["tools"]}


# name, arguments; each is called in a workspace with a few files
CALLS = [
    ("read_file", {"file_path": "a.txt"}),
    ("read_file", {"file_path": "a.txt", "start_line": 2, "max_lines": 1}),
    ("read_file", {"file_path": "missing"}),
    ("read_file", {"file_path": "../a"}),
    ("read_file", {"file_path": "p.png"}),
    ("read_file", {"file_path": "program"}),
    ("read_file", {}),
    ("read_file", {"file_path": "a.txt", "unknown": 1}),
    ("read_many_files", {"paths": ["a.txt", "missing", "p.png"]}),
    ("read_many_files", {"paths": ["**/*.txt"], "max_total_bytes": 1024}),
    ("read_many_files", {}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF, "base_content_sha256": "$a"}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF, "base_content_sha256": "0" * 64}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": "no diff",
                    "base_content_sha256": "$a"}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF.replace("two", "deux"),
                    "base_content_sha256": "$a"}),
    ("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF, "base_content_sha256": "$a",
                    "dry_run": True}),
    ("write_file", {"file_path": "new.txt", "content": "new\n"}),
    ("write_file", {"file_path": "a.txt", "content": "new\n"}),
    ("update_file", {"file_path": "a.txt", "old_content": "two", "new_content": "2",
                     "return_content": "diff"}),
    ("update_file", {"file_path": "a.txt", "old_content": "o", "new_content": "0"}),
    ("apply_changes", {"changes": [
        {"kind": "create", "file_path": "d/e.txt", "content": "e\n"},
        {"kind": "update", "file_path": "a.txt", "old_content": "two", "new_content": "2"}]}),
    ("apply_changes", {"changes": [
        {"kind": "create", "file_path": "a.txt", "content": "e\n"},
        {"kind": "delete", "file_path": "none"}]}),
    ("apply_changes", {"changes": "nonsense"}),
    ("list_directory", {"path": "."}),
    ("list_directory", {"path": "missing"}),
    ("query_data", {"file_path": "d.json"}),
    ("query_data", {"file_path": "d.json", "query": ".[] | .a"}),
    ("query_data", {"file_path": "d.json", "query": ".["}),
    ("query_data", {"file_path": "a.txt"}),
    ("search_files", {"pattern": "t[wh]"}),
    ("search_files", {"pattern": "("}),
    ("glob", {"pattern": "*.txt"}),
]


@pytest.mark.parametrize("name, arguments", CALLS,
                         ids=["%d-%s" % (i, call[0]) for i, call in enumerate(CALLS)])
def test_results_are_what_the_output_schema_says(ws, name, arguments):
    ws.write("a.txt", "one\ntwo\nthree\n")
    ws.write("d.json", '[{"a": 1}, 2, {"a": [null]}]')
    ws.write("p.png", png())
    ws.write("program", b"\x7fELF\x02\x01\x01" + bytes(64))
    arguments = {key: ws.sha256("a.txt") if value == "$a" else value
                 for key, value in arguments.items()}
    client = ws.client()
    tool = tools_of(client, ASKING)[name]
    result = client.tool(name, **arguments)
    jsonschema.Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["content"][0]["type"] == "text"
    failed = result["structuredContent"].get("success") is False
    assert result.get("isError", False) == failed
    assert client.close() == 0


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", STATELESS])
def test_schemas_of_results_are_for_those_who_ask(ws, version):
    how = {"version": version, "initialize": version != STATELESS}
    client, open_handed = ws.client(**how), ws.client("--output-schemas", **how)
    plain, asked = tools_of(client), tools_of(client, ASKING)
    assert not any("outputSchema" in tool for tool in plain.values())
    assert all("outputSchema" in tool for tool in asked.values())
    assert {name: {key: value for key, value in tool.items() if key != "outputSchema"}
            for name, tool in asked.items()} == plain
    assert tools_of(open_handed) == tools_of(open_handed, ASKING) == asked
    assert len(json.dumps(plain)) < len(json.dumps(asked)) / 2
    assert len(json.dumps(plain)) <= LARGEST_LIST
    # What is not asked for by the word is not asked for; and results have data all the same.
    for other in (False, 1, "true", None, {}):
        assert tools_of(client, {"_meta": {"hasp/outputSchemas": other}}) == plain
    ws.write("a.txt", "one\n")
    assert client.call("read_file", file_path="a.txt")["content"] == "one\n"


def test_each_tool_is_declared_whole(ws):
    client = ws.client()
    tools = tools_of(client, ASKING)
    assert {"read_file", "read_many_files", "safe_patch", "write_file", "update_file",
            "apply_changes", "list_directory"} <= set(tools)
    for tool in tools.values():
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool["title"] and tool["description"]
        assert tool["annotations"]["title"] == tool["title"]
        assert tool["annotations"]["openWorldHint"] is False


def test_annotations_tell_readers_from_editors(ws):
    tools = tools_of(ws.client())
    readers = {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]}
    assert {"read_file", "read_many_files", "list_directory"} <= readers
    assert readers.isdisjoint({"safe_patch", "write_file", "update_file", "apply_changes"})
    for name in ("safe_patch", "write_file"):
        assert tools[name]["annotations"]["idempotentHint"] is True
        assert tools[name]["annotations"]["destructiveHint"] is True
    assert tools["update_file"]["annotations"]["idempotentHint"] is False


def test_arguments_that_the_input_schema_allows_are_taken(ws):
    client = ws.client()
    for name, tool in tools_of(client).items():
        validator = jsonschema.Draft202012Validator(tool["inputSchema"])
        for called, arguments in CALLS:
            if called != name or not validator.is_valid(arguments):
                continue
            error = client.call(name, **arguments).get("error", {})
            assert not error.get("message", "").startswith("Invalid Arguments")


def test_an_image_is_a_block_of_its_own(ws):
    ws.write("p.png", png())
    client = ws.client()
    result = client.tool("read_file", file_path="p.png")
    assert [block["type"] for block in result["content"]] == ["text", "image"]
    assert base64.b64decode(result["content"][1]["data"]) == png()
    assert result["content"][1]["mimeType"] == "image/png"
    assert "data" not in result["structuredContent"]


def test_a_pdf_is_an_embedded_resource(ws):
    pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    ws.write("a b.pdf", pdf)
    client = ws.client()
    block = client.tool("read_file", file_path="a b.pdf", part="media")["content"][1]
    assert block["type"] == "resource"
    assert block["resource"]["uri"] == ws.uri("a b.pdf")
    assert block["resource"]["mimeType"] == "application/pdf"
    assert base64.b64decode(block["resource"]["blob"]) == pdf


def test_versions_count_within_one_client(ws):
    ws.write("a.txt", "one\n")
    first, second = ws.client(), ws.client()
    assert [first.call("read_file", file_path="a.txt")["version"] for _ in range(3)] == [1, 2, 3]
    assert second.call("read_file", file_path="a.txt")["version"] == 1


def test_an_unknown_tool_is_a_protocol_error(ws):
    with pytest.raises(Refused) as refused:
        ws.client().tool("reed_file", file_path="a")
    assert refused.value.code == -32602


# ---- which tools, and their names --------------------------------------------------------


def test_only_the_tools_that_are_asked_for(ws):
    client = ws.client("--tools", "read_file,edit", "--exclude-tools", "read_file")
    assert list(tools_of(client)) == ["update_file"]
    with pytest.raises(Refused):
        client.tool("read_file", file_path="a")


def test_names_are_changed_everywhere(ws):
    ws.write("a.txt", "".join("line %d\n" % i for i in range(3000)))
    client = ws.client("--tool-prefix", "hasp_", "--tool-name", "read_file=cat")
    tools = tools_of(client)
    assert "cat" in tools and "hasp_safe_patch" in tools and "read_file" not in tools
    assert "MUST call cat or hasp_read_many_files" in tools["hasp_safe_patch"]["description"]
    assert "hasp_safe_patch" in client.hello["instructions"]
    text = json.dumps(list(tools.values())) + client.hello["instructions"]
    for name in ("read_file", "safe_patch", "read_many_files"):
        assert " %s " % name not in text
    assert "call cat with start_line 2001" in client.call("cat", file_path="a.txt")["message"]
    prompt = client.request("prompts/get", {"name": "apply_diff", "arguments": {"diff": "x"}})
    assert "hasp_apply_changes" in prompt["messages"][0]["content"]["text"]


def test_read_only_offers_no_editor(ws):
    client = ws.client("--read-only")
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools_of(client).values())
    with pytest.raises(Refused):
        client.tool("write_file", file_path="a", content="b")
    assert not (ws.folder / "a").exists()


@pytest.mark.parametrize("content, member", [("full", "content"), ("diff", "diff"), ("none", None)])
def test_what_edits_return_by_default_is_a_setting(ws, content, member):
    client = ws.client("--return-content", content)
    result = client.call("write_file", file_path="a.txt", content="one\n")
    assert ("diff" in result) == (member == "diff")
    assert (result["latest_file_state"]["content"] is not None) == (member == "content")
    asked = client.call("write_file", file_path="b.txt", content="one\n", return_content="full")
    assert asked["latest_file_state"]["content"] == "one\n"


BAD_FLAGS = [
    (["--tools", "reed_file"], "did you mean \"read_file\""),
    (["--exclude-tools", "zzzzzzzzzzz"], "There is no tool"),
    (["--tools", "safe_patch", "--read-only"], "No tool is left"),
    (["--tool-name", "read_file"], "OLD=NEW"),
    (["--tool-name", "read_file=write_file"], "both be called"),
    (["--tool-name", "read_file=with space"], "cannot be the name"),
    (["--tool-prefix", "a/b"], "cannot be the name"),
    (["--root", "missing"], "missing"),
    (["--confirm", "always"], "never, commands, edits or all"),
    (["--return-content", "all"], "full, diff or none"),
    (["--durability", "none"], "full or rename"),
    (["--http", "99999"], "--http takes a port"),
    (["--http", "x"], "--http takes a port"),
    (["--token-file", "t"], "--token-file needs --http"),
    (["--no-token"], "--no-token needs --http"),
    (["--allow-host", "h"], "--allow-host needs --http"),
    (["--http", "0", "--no-token", "--token-file", "t"], "exclude each other"),
    (["--roots", "."], "did you mean --root"),
]


@pytest.mark.parametrize("flags, words", BAD_FLAGS, ids=[" ".join(row[0]) for row in BAD_FLAGS])
def test_flags_that_make_no_sense_are_told_and_nothing_is_served(ws, flags, words):
    if "--durability" in flags:
        flags = ["--root", "."] + flags
    command = [word for word in ws.command() if word not in ("--durability", "rename")]
    ws.command = lambda *more, env=None: command + list(more)
    code, out, err = ws.run(*flags)
    assert code == 2 and out == ""
    assert words in err


def test_serve_wants_to_know_what(ws):
    ws.command = lambda *flags, env=None: [HASP, "serve", *flags]
    code, _, err = ws.run()
    assert code == 2 and "hasp serve mcp" in err


WAITS = [("run_shell_command", {"command": "while [ ! -e go ]; do sleep 0.02; done; echo went"}),
         ("read_background_output", {"delay_ms": 60000})]
QUICK = [("read_file", {"file_path": "a.txt"}), ("search_files", {"pattern": "one"}),
         ("list_directory", {"dir_path": "."}), ("run_shell_command", {"command": "echo quick"}),
         ("write_file", {"file_path": "go", "content": ""})]


@pytest.mark.parametrize("name,arguments", WAITS)
@pytest.mark.parametrize("processors", [1, None])
def test_calls_do_not_wait_for_those_that_wait(ws, processors, name, arguments):
    """However few processors there are, and however many commands run."""
    ws.write("a.txt", "one\n")
    own = sorted(os.sched_getaffinity(0))[:processors]
    client = Client(["taskset", "-c", ",".join(map(str, own)), *ws.command()], ws.folder, ws.env)
    ws.clients.append(client)
    if name == "read_background_output":
        arguments = dict(arguments, pid=client.call(*WAITS[0][:1], **WAITS[0][1],
                                                    is_background=True, delay_ms=0)["pid"])
    slow = [client.start("tools/call", {"name": name, "arguments": arguments}) for _ in range(5)]
    for quick, given in QUICK:
        assert client.call(quick, **given).get("success", True)
        assert quick == "write_file" or not client.order or not set(client.order) & set(slow)
    for number in slow:
        assert "went" in client.wait(number)["structuredContent"]["output"]


def test_an_ignore_file_holds_from_the_next_read_on(ws):
    """Reads that arrive together share one look for it; those that come later look again."""
    ws.write("a.txt", "a\n")
    client = ws.client()
    for _ in range(50):
        together = [client.start("tools/call", {"name": "read_file", "arguments": {"file_path": "a.txt"}})
                    for _ in range(4)]
        assert all(client.wait(one)["structuredContent"]["content"] == "a\n" for one in together)
        ws.write(".geminiignore", "a.txt\n")
        assert client.call("read_file", file_path="a.txt")["error"]["code"] == "ignored"
        (ws.folder / ".geminiignore").unlink()
        assert client.call("read_file", file_path="a.txt")["content"] == "a\n"
