# SPDX-License-Identifier: Apache-2.0
"""Prompts that are interrupted, and messages that join a prompt, against strict fakes of all providers: each
request must be one that the provider takes, and to begin with the one before it."""
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agent_world import YOLO, World, world  # noqa: E402,F401
import fake_anthropic  # noqa: E402
import fake_gemini  # noqa: E402
import fake_openai  # noqa: E402

PROVIDERS = {
    "gemini": (fake_gemini, {}),
    "anthropic": (fake_anthropic, {"provider": "anthropic", "name": "claude-opus-4-6", "path": ""}),
    "openai": (fake_openai, {"provider": "openai", "name": "gpt-5.2", "path": "/v1"}),
}


@pytest.fixture(params=list(PROVIDERS))
def model(request):
    return request.param


def run(world, model, script, prompts, **job):
    fake, given = PROVIDERS[model]
    return world.run(script, prompts=prompts, fake=fake, model=dict(given), **job)


def texts(content):
    return [part["text"] for part in content["parts"] if "text" in part]


def said_by(history, role):
    return [word for content in history if content["role"] == role for word in texts(content)]


# ---- interruption --------------------------------------------------------------------------------

def test_what_the_model_had_said_stays_and_the_next_prompt_works(world, model):
    fake = PROVIDERS[model][0]
    got = run(world, model, [{"reply": [fake.text("One, "), fake.text("two")], "pace": 1},
                             [fake.text("Three.")]], ["Count.", "Go on."], interrupt_on="content",
              record=True)
    assert [o["end"] for o in got.outcomes] == ["cancelled", "answered"]
    first = got.outcomes[0]["text"]
    assert first and "One, two".startswith(first)
    assert said_by(got.history, "model") == [first, "Three."]
    again = said_by(got.history, "user")
    assert again[0] == "Count." and again[1] == "Go on."
    assert "interrupted the work" in again[2]
    recorded = [json.loads(line) for line in Path(got.end["record"]).read_text().splitlines()]
    assert [line["content"] for line in recorded if line.get("type") == "gemini"] == [first, "Three."]


def test_an_interruption_before_the_first_word_leaves_one_message_of_the_user(world, model):
    fake = PROVIDERS[model][0]
    got = run(world, model, [[fake.text("Now.")]], ["Count.", "No: sing."], interrupt_on="prompt")
    assert [o["end"] for o in got.outcomes] == ["cancelled", "answered"]
    assert [content["role"] for content in got.history] == ["user", "model"]
    assert texts(got.history[0])[:2] == ["Count.", "No: sing."]


def test_calls_of_an_interrupted_prompt_have_results(world, model):
    fake = PROVIDERS[model][0]
    got = run(world, model, [[fake.call("run_shell_command", {"command": "echo begun; sleep 30"}),
                              fake.call("write_file", {"file_path": "b", "content": "never\n"})],
                             [fake.text("Well.")]], ["Do it.", "Never mind."],
              interrupt_on="tool-output", **YOLO)
    assert [o["end"] for o in got.outcomes] == ["cancelled", "answered"]
    assert [r["error"]["code"] for r in got.results()] == ["cancelled", "cancelled"]
    assert not (world.root / "b").exists() and got.end["threads"] == 1


# ---- messages that join --------------------------------------------------------------------------

def test_a_message_joins_behind_the_results(world, model):
    fake = PROVIDERS[model][0]
    got = run(world, model, [[fake.call("run_shell_command", {"command": "echo 1"})],
                             [fake.text("Both.")]], ["Do it."], steers=[["tool-call", "And that."]],
              record=True, **YOLO)
    assert got.outcomes[0]["text"] == "Both." and got.outcomes[0]["turns"] == 2
    assert got.told("prompt") == [{"text": "Do it."}, {"text": "And that.", "steer": True}]
    results = [content for content in got.history
               if any("functionResponse" in part for part in content["parts"])]
    assert ["functionResponse" in part for part in results[0]["parts"]] == [True, False]
    assert texts(results[0]) == ["And that."]
    lines = [json.loads(line) for line in Path(got.end["record"]).read_text().splitlines()]
    assert [line.get("hasp", {}).get("said") for line in lines if line.get("type") == "user"] == [
        None, "steer"]


def test_a_message_at_the_end_goes_on(world, model):
    fake = PROVIDERS[model][0]
    got = run(world, model, [[fake.text("First.")], [fake.text("Second.")]], ["Do it."],
              steers=[["content", "And that."]])
    assert [o["end"] for o in got.outcomes] == ["answered"]
    assert got.outcomes[0]["text"] == "Second." and got.outcomes[0]["turns"] == 2
    assert said_by(got.history, "user") == ["Do it.", "And that."]


def test_several_messages_join_in_their_order(world):
    text = fake_gemini.text
    got = run(world, "gemini", [[text("First.")], [text("Second.")]], ["Do it."],
              steers=[["prompt", "One."], ["content", "Two."]])
    assert said_by(got.history, "user") == ["Do it.", "One.", "Two."]


def test_a_message_that_comes_too_late_is_handed_back(world):
    got = run(world, "gemini", [{"reply": [fake_gemini.text("One, ")], "pace": 1}], ["Do it."],
              steers=[["prompt", "One."], ["prompt", "Two."]], interrupt_on="content")
    assert got.outcomes[0]["end"] == "cancelled"
    assert got.outcomes[0]["unsent"] == "One."
    got = run(world, "gemini", [{"status": 401, "error": "no"}], ["Do it."],
              steers=[["prompt", "One."]])
    assert got.outcomes[0]["end"] == "failed" and got.outcomes[0]["unsent"] == "One."


def test_a_declined_call_with_a_message_goes_on(world):
    """No: do this instead."""
    got = run(world, "gemini", [[fake_gemini.call("write_file", {"file_path": "a", "content": "a"})],
                                [fake_gemini.text("Otherwise.")]], ["Do it."], interactive=True,
              answers=[{"outcome": "cancel"}],
              steers=[["tool-confirmation-request", "Call it b."]])
    assert got.outcomes[0]["end"] == "answered" and got.outcomes[0]["text"] == "Otherwise."
    assert got.results()[0]["error"]["code"] == "denied_by_user"
    assert "Call it b." in said_by(got.history, "user")


def test_a_hook_may_keep_a_message_out(world):
    hooks = {"BeforeAgent": [{"hooks": [{"type": "command", "command":
        "grep -q secret && echo '{\"decision\": \"deny\", \"reason\": \"Not that.\"}'; true"}]}]}
    got = run(world, "gemini", [[fake_gemini.text("First.")]], ["Do it."],
              steers=[["content", "The secret."]], hooks=hooks)
    assert got.outcomes[0]["end"] == "answered" and got.outcomes[0]["unsent"] == "The secret."
    assert [m["message"] for m in got.told("notice")] == ["Not that."]
    assert said_by(got.history, "user") == ["Do it."]
