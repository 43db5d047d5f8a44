# SPDX-License-Identifier: Apache-2.0
"""How large a session's first request is: every request of it pays for that again."""
import json
import re
from collections import Counter

import pytest
from conftest import KINDS
from fake_gemini import text
from terminal import Terminal

# Bytes: the system prompt, all tools, a workspace of few files (with a path of 90 bytes), a short prompt: what was
# measured, and 2 %; no default passes the limit.
LIMIT = 18 << 10
BY_HASH = ["safe_patch", "MUST call read_file", "base_content_sha256", "at least 10 unchanged lines"]
EDITORS = {
    "hasp": BY_HASH, "gemini": BY_HASH + ['"replace"'],
    "openai": ["apply_patch", "Read a file before you", "*** Begin Patch", "saw last"],
    "anthropic": ['"Edit"', '"MultiEdit"', '"Write"', "not read, or has changed", "saw last"],
}
AUTO = {"gemini": "gemini", "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic"}
LARGEST = {"gemini": LIMIT, "openai": 15300, "openai-responses": 16280, "anthropic": 15740}
MOST = {"hasp": LIMIT, "gemini": LIMIT, "openai": 15310, "anthropic": 15420}

WAYS = {"yolo": ["--yolo", "-p"], "default": ["-p"], "interactive": ["-i"]}


def hello(kind):
    return [[text("Hello.")]] if kind == "gemini" else [{"reply": [{"text": "Hello."}]}]


def first_request(world, kind, way):
    """The first request of a session in a folder of two files."""
    world.write("README.md", "A project.\n")
    world.write("src/main.c", "int main(void) { return 0; }\n")
    args = WAYS[way] + ["Say hello."]
    if way != "interactive":
        return world.run(hello(kind), *args, kind=kind).server.requests[0]
    with world.fake(hello(kind), kind) as server:
        with Terminal(world.argv(server, args), world.root, world.environment(server)) as terminal:
            terminal.wait_for(b"Hello.")
        return server.requests[0]


@pytest.mark.parametrize("dialect", ["auto", *EDITORS])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_request_is_small(world, kind, dialect):
    if dialect != "auto":
        world.settings(hasp={"tools": {"dialect": dialect}})
    request = first_request(world, kind, "yolo")
    assert len(request.raw) <= (LARGEST[kind] if dialect == "auto" else MOST[dialect])
    said = request.raw.decode()
    words = EDITORS[AUTO[kind] if dialect == "auto" else dialect]
    # All tools are there, and what they have to teach.
    for word in ("run_shell_command", "web_fetch", "write_todos", "error.advice"):
        assert word in said, word
    for word in words:
        assert word in said.replace('\\"', '"'), word
    if words[0] != "safe_patch":
        assert "safe_patch" not in said and "base_content_sha256" not in said


@pytest.mark.parametrize("way", ["default", "interactive"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_small_in_every_kind_of_session(world, kind, way):
    assert len(first_request(world, kind, way).raw) <= LARGEST[kind]


@pytest.mark.parametrize("way,tools", [("default", {"request_permission"}),
                                       ("interactive", {"ask_user", "update_topic"})])
def test_tools_that_cannot_be_used_are_not_declared(world, way, tools):
    said = first_request(world, "gemini", way).raw.decode()
    assert {tool for tool in ("request_permission", "ask_user", "update_topic") if '"%s"' % tool in said} == tools


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings_in(member)


def test_no_sentence_is_sent_twice(world):
    done = world.run(hello("gemini"), "--yolo", "-p", "x")
    said = Counter(sentence.strip() for part in strings_in(done.server.requests[0].body)
                   for sentence in re.split(r"(?<=[.:])\s+", part) if len(sentence) > 60)
    assert sum(said.values()) > 50
    assert [sentence for sentence, times in said.items() if times > 1] == []


def test_what_only_checks_is_not_sent(world):
    done = world.run(hello("gemini"), "--yolo", "-p", "x")
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
