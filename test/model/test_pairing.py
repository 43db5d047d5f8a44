# SPDX-License-Identifier: Apache-2.0
"""Conversations of every shape, as every format sends them: what belongs together is together.

Each provider refuses a request with a half of a pair in it: a call without its result, a result without
its call, reasoning without what it led to, a message without content, two messages of one side.  A
conversation gets there by being cut, resumed, compressed, changed by a hook, or begun with another
provider.  So conversations are drawn from all kinds of parts in any order, and no fake finds a fault.
"""
import random

import fake_anthropic
import fake_gemini
import fake_openai
import pytest
from fake_openai import call, text, thought
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import READ, Talk, ask, options, user
from part import in_turn

PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
RS = {"id": "rs_9", "type": "reasoning", "summary": [], "encrypted_content": "encrypted=="}


def reasoning(**item):
    return {"text": "Hmm.", "thought": True,
            "opaque": {"provider": "openai-responses", "item": dict(RS, **item)}}


def hollow():
    """Reasoning that was asked for without its encrypted content."""
    part = reasoning()
    del part["opaque"]["item"]["encrypted_content"]
    return part


def signed(name="claude-opus-4-8"):
    return {"text": "Hmm.", "thought": True, "opaque": {
        "provider": "anthropic", "model": name, "signature": "signature 9/+=="}}


def called(draw):
    return {"functionCall": {"id": draw.choice(["c1", "c2", "toolu_3", "ä b", ""]),
                             "name": "read_file", "args": {"path": "x"}}}


def answered(draw):
    return {"functionResponse": {"id": draw.choice(["c1", "c2", "toolu_3", "ä b"]),
                                 "name": "read_file", "response": draw.choice(
                                     [{"output": "x"}, {"error": "no"}, {}])}}


MODEL = [
    lambda draw: {"text": draw.choice(["Hello.", "", "  \n"])},
    lambda draw: {"text": "I think.", "thought": True},
    lambda draw: reasoning(), lambda draw: hollow(), lambda draw: signed(),
    lambda draw: {"opaque": {"provider": "anthropic", "model": "claude-opus-4-8", "block": {
        "type": "redacted_thinking", "data": "hidden=="}}},
    called, called,
    lambda draw: {"text": "From Gemini.", "thoughtSignature": "c2ln"},
    answered,
]
USER = [lambda draw: {"text": draw.choice(["Go on.", "", " "])}, lambda draw: dict(PNG), answered,
        answered, called]


def conversation(draw):
    contents = []
    for _ in range(draw.randint(1, 7)):
        role = draw.choice(["user", "model"])
        kinds = USER if role == "user" else MODEL
        contents.append({"role": role, "parts": [draw.choice(kinds)(draw)
                                                 for _ in range(draw.randint(0, 4))]})
    return contents + [user({"text": "And now?"})] * draw.randint(0, 1)


class Known(fake_openai.Provider):
    """Has made every reasoning item."""

    def check_items(self, items):
        self.encrypted = {item["id"]: item for item in items if item["type"] == "reasoning"}
        return super().check_items(items)


class Signer(fake_anthropic.Provider):
    def check_sent(self, _body):  # who signed what is not what this is about
        return []


class Believer(fake_gemini.Provider):
    def check_signature(self, _part, _at):
        return []


FORMATS = [
    ("openai-responses", "gpt-5.1", Known, "/v1"), ("openai-responses", "gpt-4o", Known, "/v1"),
    ("openai", "qwen3", lambda: Known(flavour="own"), "/v1"),
    ("anthropic", "claude-opus-4-8", Signer, "/v1"),
    ("anthropic", "claude-sonnet-4-5", Signer, "/v1"),
    ("gemini", "gemini-3-flash-preview", Believer, "/v1beta"),
    ("gemini", "gemini-2.5-flash", Believer, "/v1beta"),
]


@pytest.mark.parametrize("provider, name, fake, base", FORMATS)
def test_no_conversation_is_sent_with_half_a_pair(provider, name, fake, base):
    draw = random.Random(1)
    faults = {}
    with FakeServer(fake(), auto=lambda _request: {"reply": [text("Yes.")]}) as server:
        how = options(provider=provider, name=name, base_url=server.url + base, max_attempts=1)
        for contents in in_turn([conversation(draw) for _ in range(400)], 4):
            got = ask(how, contents=contents, tools=[READ])
            if "reply" not in got:
                shorter = sorted([contents, faults.get(got["message"], contents)], key=repr)
                faults[got["message"]] = min(shorter, key=lambda one: len(repr(one)))
    assert faults == {}


def test_a_call_that_was_cut_off_takes_its_reasoning_along():
    provider = fake_openai.Provider()
    cut = call("read_file", {"path": "a long path"})
    cut["cut"] = True
    script = [{"reply": [text("I look. "), thought("Which one?"), cut], "finish": "incomplete"},
              {"reply": [text("Done.")]}]
    with FakeServer(provider, script) as server:
        talk = Talk(provider="openai-responses", name="gpt-5.1", base_url=server.url + "/v1")
        first = talk.say("Look", tools=[READ])
        assert first["finish"] == "length" and not talk.calls()
        talk.say("Go on", tools=[READ])
        assert server.violations == []
        kinds = [item["type"] for item in server.requests[1].body["input"]]
    assert kinds == ["message", "message", "message"]
