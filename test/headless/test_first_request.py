# SPDX-License-Identifier: Apache-2.0
"""How large a session's first request is: every request of it pays for that again."""
import json
import re
from collections import Counter

import pytest
from conftest import KINDS
from fake_gemini import text

LARGEST = 20 << 10  # bytes: the system prompt, all tools, a workspace of few files, a short prompt

# Of the editors that a model is offered: the most bytes, and what they have to teach.
BY_HASH = ["safe_patch", "MUST call read_file", "base_content_sha256", "at least 10 unchanged lines"]
EDITORS = {
    "hasp": (LARGEST, BY_HASH), "gemini": (LARGEST, BY_HASH + ['"replace"']),
    "openai": (17000, ["apply_patch", "Read a file before you", "*** Begin Patch", "saw last"]),
    "anthropic": (17000, ['"Edit"', '"MultiEdit"', '"Write"', "not read, or has changed", "saw last"]),
}
AUTO = {"gemini": "gemini", "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic"}

HELLO = {"gemini": [[text("Hello.")]]}


@pytest.mark.parametrize("dialect", ["auto", *EDITORS])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_request_is_small(world, kind, dialect):
    if dialect != "auto":
        world.settings(hasp={"tools": {"dialect": dialect}})
    largest, words = EDITORS[AUTO[kind] if dialect == "auto" else dialect]
    world.write("README.md", "A project.\n")
    world.write("src/main.c", "int main(void) { return 0; }\n")
    done = world.run([{"reply": [{"text": "Hello."}]}] if kind != "gemini" else HELLO[kind], "--yolo",
                     "-p", "Say hello.", kind=kind)
    (request,) = done.server.requests
    assert len(request.raw) <= largest
    said = request.raw.decode()
    # All tools are there, and what they have to teach.
    for word in ("run_shell_command", "web_fetch", "write_todos", "update_topic", "error.advice"):
        assert word in said, word
    for word in words:
        assert word in said.replace('\\"', '"'), word
    if words[0] != "safe_patch":
        assert "safe_patch" not in said and "base_content_sha256" not in said


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings_in(member)


def test_no_sentence_is_sent_twice(world):
    done = world.run(HELLO["gemini"], "--yolo", "-p", "x")
    said = Counter(sentence.strip() for part in strings_in(done.server.requests[0].body)
                   for sentence in re.split(r"(?<=[.:])\s+", part) if len(sentence) > 60)
    assert sum(said.values()) > 50
    assert [sentence for sentence, times in said.items() if times > 1] == []


def test_what_only_checks_is_not_sent(world):
    done = world.run(HELLO["gemini"], "--yolo", "-p", "x")
    tools = [tool for group in done.server.requests[0].body["tools"]
             for tool in group["functionDeclarations"]]
    assert len(tools) > 15
    sent = json.dumps(tools)
    for word in ("maxItems", "minLength", "additionalProperties", "oneOf", "file_filtering_options"):
        assert word not in sent
    (changes,) = [tool for tool in tools if tool["name"] == "apply_changes"]
    kind = changes["parametersJsonSchema"]["properties"]["changes"]["items"]["properties"]["kind"]
    assert kind == {"type": "string",
                    "enum": ["patch", "write", "create", "update", "delete", "move"]}


def test_what_is_not_told_is_taken_all_the_same(world):
    """A model that knows the parameters from elsewhere may use them."""
    world.write("a.txt", "one\ntwo\nthree\n")
    search = {"functionCall": {"name": "search_files", "args": {
        "pattern": "TWO", "case": "ignore", "before": 1,
        "file_filtering_options": {"respect_git_ignore": False}}}}
    done = world.run([[search], [text("Done.")]], "-p", "x")
    assert "1-one" in done.said(1) and "2:two" in done.said(1)
