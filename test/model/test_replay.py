# SPDX-License-Identifier: Apache-2.0
"""Recordings: Gemini CLI's are replayed, and so is what hasp records of any provider."""
import json
import os
import resource
import stat

import fake_anthropic
import fake_openai
import pytest
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import READ, Talk, options, run, start, texts, user

HELLO = {"contents": [user({"text": "x"})]}


def replay(path, *requests, attempts=1):
    """The last line for each request, all to one model."""
    opened = {"provider": "replay", "name": "r", "replay_file": str(path), "max_attempts": attempts}
    jobs = [{"request": request} for request in requests]
    lines = run(*[dict(job, **({"options": opened} if i == 0 else {}))
                  for i, job in enumerate(jobs)])
    return [line for line in lines if {"reply", "error"} & set(line)]


def line(method, response):
    return json.dumps({"method": method, "response": response}) + "\n"


def chunk(*parts, finish=None, **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return dict({"candidates": [candidate]}, **more)


def test_lines_of_gemini_cli(tmp_path):
    """As its RecordingContentGenerator writes them: streams, whole answers, counts, embeddings."""
    file = tmp_path / "r"
    call = {"functionCall": {"name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "S="}
    file.write_text(
        line("generateContentStream", [
            chunk({"text": "**Look**\nhm", "thought": True}), chunk({"text": "I "}),
            chunk({"text": "look."}), chunk(call),
            chunk(finish="STOP", usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 2,
                                                "totalTokenCount": 7})]) + "\n" +
        line("countTokens", {"totalTokens": 42}) + line("embedContent", {"embeddings": []}) +
        line("generateContent", chunk({"text": "{}"}, finish="STOP")))
    first, second, third = replay(file, HELLO, HELLO, HELLO)
    parts = first["reply"]["content"]["parts"]
    assert parts[0] == {"text": "**Look**\nhm", "thought": True} and parts[1] == {"text": "I look."}
    assert parts[2]["functionCall"]["args"] == {"path": "a"} and parts[2]["functionCall"]["id"]
    assert parts[2]["thoughtSignature"] == "S="
    assert first["reply"]["finish"] == "tools" and first["reply"]["usage"]["total"] == 7
    assert texts(second["reply"]) == "{}"
    assert third["error"] == "model_error" and "no line 6 in %s" % file in third["message"]


def test_an_answer_that_was_asked_for_again_is_followed_by_the_next(tmp_path):
    file = tmp_path / "r"
    file.write_text(
        line("generateContentStream", [chunk({"text": "hm", "thought": True}),
                                       {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}]) +
        line("generateContentStream", [chunk({"text": "Here."}, finish="STOP")]))
    (answer,) = replay(file, HELLO, attempts=2)
    assert texts(answer["reply"]) == "Here."
    (answer,) = replay(file, HELLO)
    assert "MALFORMED_FUNCTION_CALL" in answer["message"]


def test_what_the_router_said_is_passed_over(tmp_path):
    """Gemini CLI asks one which model to take before a prompt's first request; hasp has none."""
    file = tmp_path / "r"
    routed = json.dumps({"reasoning": "Simple.", "model_choice": "flash"})
    file.write_text(
        line("generateContent", chunk({"text": routed}, finish="STOP")) +
        line("generateContentStream", [chunk({"text": "a"}, finish="STOP")]) +
        line("generateContent", chunk({"text": '{"reasoning": "mine"}'}, finish="STOP")))
    first, second = replay(file, HELLO, HELLO)
    assert texts(first["reply"]) == "a" and texts(second["reply"]) == '{"reasoning": "mine"}'


@pytest.mark.parametrize("content, says", [
    ("", "no line 1 in"), ("\n\n", "no line 3 in"), ("{oops\n", "Line 1 of"), ("{}\n", '"method"'),
    ('{"method": "dance"}\n', "none of Gemini CLI's"),
    (line("generateContentStream", "x"), "no object"),
    (line("generateContentStream", []), "no finishReason"),
    (line("generateContentStream", [chunk({"text": "a"})]), "no finishReason"),
    (line("generateContentStream", [chunk("x", finish="STOP")]), "no object"),
    (line("generateContent", chunk({"functionCall": {}}, finish="STOP")), "no name"),
])
def test_recordings_that_are_none_name_the_line(tmp_path, content, says):
    file = tmp_path / "r"
    file.write_text(content)
    (answer,) = replay(file, HELLO)
    assert answer["error"] == "model_error" and says in answer["message"]


def test_a_file_that_is_not_there(tmp_path):
    (answer,) = replay(tmp_path / "none", HELLO)
    assert answer["error"] == "file_not_found"


def converse(talk, **request):
    talk.say("x", tools=[READ], **request)
    talk.answer({"response": {"output": "y"}}, tools=[READ], **request)
    return [content for content in talk.contents if content["role"] == "model"]


ANTHROPIC = [{"reply": [fake_anthropic.thought("hm"), fake_anthropic.redacted(),
                        fake_anthropic.text("a"), fake_anthropic.call("read_file")]},
             {"reply": [fake_anthropic.thought("so"), fake_anthropic.text("b")]}]
OPENAI = [{"reply": [fake_openai.thought("hm"), fake_openai.text("a"),
                     fake_openai.call("read_file", {"path": "p"})]},
          {"reply": [fake_openai.text("b")], "finish": "length"}]


@pytest.mark.parametrize("make, provider, name, script", [
    (fake_anthropic.Provider, "anthropic", "claude-sonnet-4-5", ANTHROPIC),
    (fake_openai.Provider, "openai-responses", "gpt-5.1", OPENAI[:1] + [{"reply": [
        fake_openai.text("b")]}]),
    (lambda: fake_openai.Provider(flavour="own"), "openai", "m", OPENAI),
])
def test_what_is_recorded_comes_again_with_all_that_the_provider_wants_back(
        tmp_path, make, provider, name, script):
    file = tmp_path / "recording"
    fake = make()
    with FakeServer(fake, script) as server:
        said = converse(Talk(provider=provider, name=name, base_url=server.url + "/v1",
                             record_file=str(file)), thinking="high")
        assert server.violations == []
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    recorded = [json.loads(one) for one in file.read_text().splitlines()]
    assert [one["method"] for one in recorded] == ["generateContentStream"] * 2
    again = [one["reply"] for one in replay(file, HELLO, HELLO)]
    assert [one["content"] for one in again] == said
    assert again[0]["finish"] == "tools"
    assert again[1]["finish"] == ("length" if script is OPENAI else "stop")
    assert again[0]["usage"]["total"] > 0
    # The provider takes a conversation that goes on from the replay.
    with FakeServer(fake, [{"reply": [{"text": "c"}]}]) as server:
        talk = Talk(provider=provider, name=name, base_url=server.url + "/v1")
        talk.contents = [user({"text": "x"}), again[0]["content"]]
        talk.answer({"response": {"output": "y"}}, tools=[READ], thinking="high")
        assert server.violations == []


def test_a_full_disk_is_told_once_and_the_answers_come():
    with FakeServer(fake_openai.Provider(flavour="own"),
                    [{"reply": [{"text": "a"}]}, {"reply": [{"text": "b"}]}]) as server:
        opened = options(provider="openai", name="m", base_url=server.url + "/v1",
                         record_file="/dev/full")
        lines = run({"options": opened, "request": HELLO}, {"request": HELLO})
    assert sum("reply" in line for line in lines) == 2
    assert [line["trouble"] for line in lines if "trouble" in line] == ["disk_full"]


def test_what_did_not_fit_leaves_a_recording_that_can_be_replayed(tmp_path):
    """Whole answers up to there; none behind a gap, though there is room again."""
    file, small = tmp_path / "recording", {"reply": [{"text": "a"}]}
    with FakeServer(fake_openai.Provider(flavour="own"),
                    [small, {"reply": [{"text": "b" * 9000}]}, small]) as server:
        opened = options(provider="openai", name="m", base_url=server.url + "/v1",
                         record_file=str(file))
        probe = start().pid
        limit = resource.prlimit(probe, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        lines = run({"options": opened, "request": HELLO}, {"request": HELLO})
        resource.prlimit(probe, resource.RLIMIT_FSIZE, limit)
        lines += run({"request": HELLO})
    assert sum("reply" in line for line in lines) == 3
    assert len([line for line in lines if "trouble" in line]) == 1
    assert [one["reply"]["content"]["parts"][0]["text"] for one in replay(file, HELLO)] == ["a"]
