# SPDX-License-Identifier: Apache-2.0
"""Prompts that people pick, and the words at the beginning."""
import pytest

from conftest import Refused


def get(client, name, **arguments):
    return client.request("prompts/get", {"name": name, "arguments": arguments})["messages"]


def words(messages):
    return messages[-1]["content"]["text"]


def test_prompts_are_listed_with_their_arguments(ws):
    prompts = ws.client().request("prompts/list")["prompts"]
    required = {prompt["name"]: [argument["name"] for argument in prompt["arguments"]
                                 if argument["required"]] for prompt in prompts}
    assert required == {"edit_safely": ["path", "wish"], "apply_diff": ["diff"],
                        "explore": ["question"]}


def test_the_file_comes_with_the_wish(ws):
    ws.write("a.txt", "one {wish} read_file\n")
    messages = get(ws.client(), "edit_safely", path="a.txt", wish="more {path} than read_file")
    resource = messages[0]["content"]["resource"]
    assert resource["text"] == "one {wish} read_file\n"
    assert resource["_meta"]["hasp/sha256"] == ws.sha256("a.txt")
    assert "Change the file a.txt: more {path} than read_file\n" in words(messages)
    assert "state_mismatch" in words(messages)


def test_a_file_that_is_not_there_yet_is_to_be_created(ws):
    messages = get(ws.client(), "edit_safely", path="new.txt", wish="a poem")
    assert len(messages) == 1 and "create it with write_file" in words(messages)


def test_a_diff_is_handed_over_as_it_is(ws):
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a {path} safe_patch\n+b\n"
    messages = get(ws.client("--tool-prefix", "h_"), "apply_diff", diff=diff)
    assert diff in words(messages) and "h_apply_changes" in words(messages)


def test_a_folder_is_a_place_to_begin(ws):
    (ws.folder / "src").mkdir()
    messages = get(ws.client(), "explore", question="why?", path="src")
    assert len(messages) == 1 and "why?" in words(messages)


@pytest.mark.parametrize("name, arguments, said", [
    ("edit_safely", {"path": "a.txt"}, "wish"),
    ("edit_safely", {"wish": "x"}, "path"),
    ("apply_diff", {}, "diff"),
    ("explore", {"question": ""}, "question"),
    ("edit_safely", {"path": "../a", "wish": "x"}, "workspace"),
    ("nothing", {}, "prompt"),
])
def test_what_is_missing_is_named(ws, name, arguments, said):
    with pytest.raises(Refused) as refused:
        get(ws.client(), name, **arguments)
    assert refused.value.code == -32602 and said in refused.value.message


def test_who_can_only_read_is_offered_nothing_that_edits(ws):
    client = ws.client("--read-only")
    assert [p["name"] for p in client.request("prompts/list")["prompts"]] == ["explore"]
    with pytest.raises(Refused):
        get(client, "apply_diff", diff="x")
    assert "safe_patch" not in client.hello["instructions"]
    assert "sha256" in client.hello["instructions"]


def test_the_instructions_teach_the_protocol(ws):
    said = ws.client().hello["instructions"]
    for word in ("version", "sha256", "base_content_sha256", "safe_patch", "latest_file_state"):
        assert word in said
    assert len(said) < 800
