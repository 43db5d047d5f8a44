# SPDX-License-Identifier: Apache-2.0
"""What MCP servers ask a user whom nobody can ask: headless, every question is declined at once, and that is said."""
import json

import pytest
from fake_gemini import call, text


def told(world, server, what):
    """What the server got, as its tool says it; and what hasp said."""
    world.use({"fake": server})
    done = world.run([[call("mcp_fake_say", {"what": what})], [text("Done.")]], "-p", "Go.", "--yolo")
    assert done.code == 0, done.err
    part = done.sent[1]["contents"][-1]["parts"][0]["functionResponse"]["response"]
    return str(part["output"]), done.err


def inside(said):
    return json.loads(said[said.index("{"):said.rindex("}") + 1])


@pytest.mark.parametrize("what", ["form", "url"])
def test_without_a_user_it_is_declined_and_said(world, what):
    said, err = told(world, world.server(), what)
    got = inside(said)
    assert got["answer"]["result"] == {"action": "decline"}
    assert got["capabilities"]["elicitation"] == {"form": {}, "url": {}}
    assert 'The MCP server "fake" asked the user something, but this run has no way to ask' in err
    assert "\x1b" not in err and "\u202e" not in err


@pytest.mark.parametrize("what, why", [
    ("nested", 'The field "a" is not of a type that a form has'), ("javascript", "http or https"), ("silent", "message"),
])
def test_what_is_no_question_is_refused(world, what, why):
    said, err = told(world, world.server(), what)
    error = inside(said)["answer"]["error"]
    assert error["code"] == -32602 and why in error["message"]
    assert "this run has no way to ask" not in err


def test_a_question_within_an_answer_is_declined_too(world):
    """Multi-round-trip requests of 2026-07-28."""
    said, err = told(world, world.server("fake", "modern,ask-form"), "anything")
    assert inside(said)["inputResponses"] == {"a": {"action": "decline"}}
    assert "this run has no way to ask" in err


def test_a_call_that_needs_an_address_opened_first(world):
    """-32042 of 2025-11-25."""
    world.use({"fake": world.server()})
    done = world.run([[call("mcp_fake_say", {"what": "address"})], [text("Done.")]], "-p", "Go.", "--yolo")
    error = done.results()[0]
    assert error["error"]["code"] == "denied_by_user" and "which was not done: Log in" in error["message"]
    assert "\x1b" not in error["message"] and "this run has no way to ask" in done.err
