# SPDX-License-Identifier: Apache-2.0
"""A parameter that the provider refuses: the same request once more without it, and that is remembered."""
import datetime
import json
import re
import pathlib

import fake_anthropic
import fake_gemini
import fake_openai
import pytest
from fake_openai import text
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import READ, ask, options, run, user

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
          "additionalProperties": False}
REASONING = {"role": "model", "parts": [
    {"text": "Hmm.", "thought": True, "opaque": {"provider": "openai-responses", "item": {
        "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc=="}}},
    {"text": "Hello."}]}


def openai(message, param=None, code="unsupported_parameter"):
    return json.dumps({"error": {"message": message, "type": "invalid_request_error",
                                 "param": param, "code": code}}).encode()


def claude(message):
    return json.dumps({"type": "error", "error": {"type": "invalid_request_error",
                                                  "message": message}}).encode()


def google(message):
    return json.dumps({"error": {"code": 400, "message": message,
                                 "status": "INVALID_ARGUMENT"}}).encode()


def pydantic(*where):
    return json.dumps({"object": "error", "message": {"detail": [
        {"type": "extra_forbidden", "loc": ["body", *where],
         "msg": "Extra inputs are not permitted", "input": {"temperature": 1}}]}}).encode()


CHAT, RESPONSES, CLAUDE, GEMINI = "openai", "openai-responses", "anthropic", "gemini"
# Each: the row, the format, the model, the request, the refusal in the provider's words, and what stands in
# the place of the parameter afterwards.
CASES = [
    ("reasoning.summary", RESPONSES, "gpt-5.1", {}, openai(
        "Your organization must be verified to generate reasoning summaries. Please go to: "
        "https://platform.openai.com/settings/organization/general and click on Verify "
        "Organization.", "reasoning.summary", "unsupported_value"), None),
    # A gateway that keeps the sentence alone.
    ("reasoning.summary", RESPONSES, "gpt-5.1", {}, openai(
        "Your organization must be verified to generate reasoning summaries."), None),
    ("include", RESPONSES, "gpt-5.1", {}, openai(
        "Encrypted content is not supported with this model.", "include",
        "invalid_request_error"), None),
    ("input.encrypted_content", RESPONSES, "gpt-5.1", {"contents": [
        user({"text": "Hi"}), REASONING, user({"text": "And?"})]}, openai(
        "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could "
        "not be decrypted or parsed.", None, "invalid_encrypted_content"), None),
    ("reasoning.effort", RESPONSES, "gpt-5.1", {"thinking": "low"}, openai(
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "reasoning.effort"), None),
    ("reasoning", RESPONSES, "gpt-5.1", {}, openai(
        "Unknown parameter: 'reasoning'.", "reasoning", "unknown_parameter"), None),
    ("reasoning_effort", CHAT, "gpt-5.1", {"thinking": "low"}, openai(
        "Unrecognized request argument supplied: reasoning_effort"), None),
    ("prompt_cache_key", RESPONSES, "gpt-4o", {"session_id": "s"}, openai(
        "Unsupported parameter: prompt_cache_key", "prompt_cache_key"), None),
    ("store", RESPONSES, "gpt-4o", {}, openai("Unknown parameter: 'store'.", "store"), None),
    ("stream_options", CHAT, "qwen3", {}, pydantic("stream_options"), None),
    ("max_tokens", CHAT, "qwen3", {"max_output_tokens": 500}, openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.", "max_tokens"), ("max_completion_tokens", 500)),
    ("max_completion_tokens", CHAT, "gpt-4o", {"max_output_tokens": 500}, openai(
        "Unrecognized request argument supplied: max_completion_tokens"), ("max_tokens", 500)),
    ("max_output_tokens", RESPONSES, "gpt-5.1", {"max_output_tokens": 500}, openai(
        "Unsupported parameter: max_output_tokens", "max_output_tokens"), None),
    ("tools.[].strict", RESPONSES, "gpt-4o", {"tools": [READ]}, openai(
        "Unknown parameter: 'tools[0].strict'.", "tools[0].strict", "unknown_parameter"), None),
    ("tools.[].format", RESPONSES, "gpt-5.1", {"tools": [dict(READ, grammar='start: "x"')]}, openai(
        "Invalid value: 'custom'. This type of tool is not supported.", "tools[0].type"), None),
    ("response_format.json_schema.strict", CHAT, "qwen3", {"answer_schema": SCHEMA}, pydantic(
        "response_format", "json_schema", "strict"), None),
    ("text.format.strict", RESPONSES, "gpt-4o", {"answer_schema": SCHEMA}, openai(
        "Unsupported parameter: 'text.format.strict'", "text.format.strict"), None),
    ("tool_choice", CHAT, "qwen3", {"tools": [READ], "tool_mode": "any"}, openai(
        "tool_choice 'required' is incompatible with thinking enabled"), None),
    ("temperature", CHAT, "qwen3", {"temperature": 0.5}, openai(
        "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default "
        "(1) value is supported.", "temperature", "unsupported_value"), None),
    ("temperature", CLAUDE, "claude-sonnet-4-5", {"temperature": 0.5}, claude(
        "`temperature` is deprecated for this model."), None),
    ("top_p", CHAT, "qwen3", {"top_p": 0.5}, openai("property 'top_p' is unsupported"), None),
    ("top_k", CHAT, "qwen3", {"top_k": 40}, pydantic("top_k"), None),
    ("generationConfig.temperature", GEMINI, "gemini-2.5-pro", {"temperature": 1}, google(
        "Unsupported parameter: temperature"), None),
    ("generationConfig.topP", GEMINI, "gemini-2.5-pro", {"top_p": 0.5}, google(
        "Invalid JSON payload received. Unknown name \"topP\" at 'generation_config': Cannot find "
        "field."), None),
    ("generationConfig.topK", GEMINI, "gemini-2.5-pro", {"top_k": 5}, google(
        "top_k is not supported for this model."), None),
    ("generationConfig.thinkingConfig.thinkingLevel", GEMINI, "gemini-3-flash-preview",
     {"thinking": "off"}, google("Thinking level MINIMAL is not supported for this model."), None),
    ("generationConfig.thinkingConfig.thinkingBudget", GEMINI, "gemini-2.5-pro", {}, google(
        "Thinking budget is not supported for this model."), None),
    ("generationConfig.thinkingConfig", GEMINI, "gemini-2.5-pro", {}, google(
        "Thinking is not enabled for models/x: this config is not supported"), None),
    ("output_config.effort", CLAUDE, "claude-opus-4-5", {"thinking": "low"}, claude(
        "This model does not support the effort parameter."), None),
    ("thinking.display", CLAUDE, "claude-opus-5", {"thinking": "high"}, claude(
        "thinking.display: Extra inputs are not permitted"), None),
    ("thinking", CLAUDE, "claude-opus-4-6", {"thinking": "high"}, claude(
        "adaptive thinking is not supported on this model"), None),
    ("output_config", CLAUDE, "claude-opus-5", {"thinking": "high"}, claude(
        "output_config: Extra inputs are not permitted"), None),
    ("metadata", CLAUDE, "claude-sonnet-4-5", {"session_id": "s"}, claude(
        "Unknown field `metadata`: not supported"), None),
    ("cache_control", CLAUDE, "claude-sonnet-4-5", {"system": "Be brief.", "tools": [READ]}, claude(
        "system.0.cache_control: Extra inputs are not permitted"), None),
]
FAKES = {CHAT: fake_openai, RESPONSES: fake_openai, CLAUDE: fake_anthropic, GEMINI: fake_gemini}


class Tolerant:
    """A provider's answers, without its checks: here it is the script that refuses."""

    def __init__(self, kind):
        self.inner = FAKES[kind].Provider()
        self.encode, self.error, self.special = (self.inner.encode, self.inner.error,
                                                 self.inner.special)

    @staticmethod
    def check(_request):
        return []


def found(body, row):
    """Whether a body has the parameter of a row."""
    if row == "cache_control":
        return '"cache_control"' in json.dumps(body)
    if row == "input.encrypted_content":
        return any(item.get("type") == "reasoning" for item in body["input"])
    values = [body]
    for name in row.split("."):
        values = [child for value in values for child in (
            value if name == "[]" else [value[name]] if isinstance(value, dict) and name in value
            else [])]
    return bool(values)


def opened(server, kind, name, **more):
    """gpt-4o and its like are OpenAI's own: known by the address, so they are reached as by a proxy."""
    own = kind == CHAT and name.startswith("gpt")
    where = {"base_url": "http://api.openai.com/v1", "proxy": server.url} if own else {
        "base_url": server.url + ("/v1beta" if kind == GEMINI else "/v1")}
    return options(provider=kind, name=name, **where, **more)


@pytest.mark.parametrize("row, kind, name, request_, refusal, instead", CASES)
def test_what_is_refused_is_left_out_once_and_for_all(tmp_path, row, kind, name, request_, refusal,
                                                       instead):
    file = str(tmp_path / "home" / "learnt.json")
    request = dict({"contents": [user({"text": "Hi"})]}, **request_)
    script = [{"status": 400, "error": refusal}] + [{"reply": [text("Yes.")]}] * 3
    with FakeServer(Tolerant(kind), script) as server:
        how = opened(server, kind, name, learnt_file=file)
        lines = run({"options": how, "request": request}, {"request": request})
        again = ask(how, **request)
        bodies = [one.body for one in server.requests]
    assert [("reply" in line) for line in lines if "reply" in line or "error" in line] == [True] * 2
    restart = next(line for line in lines if line.get("event") == "restart")
    assert restart["delay_ms"] == 0 and "Retrying without " + row + "." in restart["text"]
    assert "reply" in again and len(bodies) == 4
    lasting = row != "input.encrypted_content"
    assert [found(body, row) for body in bodies] == [True, False, False, not lasting]
    for body in bodies[1:] if instead else []:
        assert body[instead[0]] == instead[1]
    # Nothing else has changed.
    words = lambda body: sorted(set(body) - {"max_tokens", "max_completion_tokens"})  # noqa: E731
    top = row.split(".")[0]
    assert [word for word in words(bodies[0]) if word != top] == \
        [word for word in words(bodies[1]) if word != top]
    if lasting:
        known = json.loads(pathlib.Path(file).read_text())
        assert "test-key" not in json.dumps(known)
        assert [list(one["without"]) for one in known.values()] == [[row]]


def rows():
    source = pathlib.Path(__file__).parents[2] / "src" / "model" / "refusable.c"
    return set(re.findall(r'^\t\{ "([\w.\[\]]+)", [A-Z]', source.read_text(), re.M))


def test_every_row_of_the_table_has_a_case():
    assert rows() == {case[0] for case in CASES}


def test_the_document_lists_every_row():
    document = (pathlib.Path(__file__).parents[2] / "docs" / "models.md").read_text()
    assert [row for row in sorted(rows()) if "`%s`" % row not in document] == []


def test_several_are_left_out_one_after_the_other():
    script = [{"status": 400, "error": openai("Unknown parameter: 'top_k'.", "top_k")},
              {"status": 422, "error": pydantic("stream_options")}, {"reply": [text("Yes.")]}]
    with FakeServer(Tolerant(CHAT), script) as server:
        got = ask(opened(server, CHAT, "qwen3"), contents=[user({"text": "Hi"})], top_k=3,
                  temperature=0.5)
        body = server.requests[-1].body
    assert "reply" in got and body["temperature"] == 0.5
    assert "top_k" not in body and "stream_options" not in body


def test_one_that_is_refused_although_it_was_left_out_is_the_error():
    refusal = {"status": 400, "error": openai("Unknown parameter: 'top_k'.", "top_k")}
    with FakeServer(Tolerant(CHAT), [refusal] * 2) as server:
        got = ask(opened(server, CHAT, "qwen3"), contents=[user({"text": "Hi"})], top_k=3)
        assert len(server.requests) == 2
    assert got["error"] == "invalid_argument" and "Unknown parameter: 'top_k'." in got["message"]


@pytest.mark.parametrize("sentence", [
    "temperature: 3 is not between 0 and 2",
    "Invalid 'max_tokens': integer below minimum value",
    "The model `include` store strict is wrong",
    "This model is not supported.",
    "Unsupported parameter: 'seed' is not supported with this model.",
    "Your organization must be verified to stream this model.",
])
def test_other_refusals_are_told_as_they_are(sentence):
    with FakeServer(Tolerant(CHAT), [{"status": 400, "error": openai(sentence, None, "invalid_value")}]) as server:
        got = ask(opened(server, CHAT, "qwen3"), contents=[user({"text": "Hi"})], top_k=3,
                  temperature=0.5, top_p=0.5, max_output_tokens=10)
        assert len(server.requests) == 1
    assert got["error"] == "invalid_argument" and sentence in got["message"]


def test_what_a_setting_names_is_never_sent():
    with FakeServer(Tolerant(RESPONSES), [{"reply": [text("Yes.")]}]) as server:
        ask(opened(server, RESPONSES, "gpt-5.1", without=["reasoning.summary", "nothing"]),
            contents=[user({"text": "Hi"})], thinking="low")
        assert server.requests[0].body["reasoning"] == {"effort": "low"}


def test_what_was_learnt_is_forgotten_after_its_day(tmp_path):
    file = tmp_path / "learnt.json"
    with FakeServer(Tolerant(RESPONSES), [{"status": 400, "error": CASES[0][4]}] +
                    [{"reply": [text("Yes.")]}] * 3) as server:
        how = opened(server, RESPONSES, "gpt-5.1", learnt_file=str(file))
        ask(how, contents=[user({"text": "Hi"})])
        known = json.loads(file.read_text())
        assert file.stat().st_mode & 0o777 == 0o600
        (entry,) = known.values()
        until = datetime.date.fromisoformat(entry["without"]["reasoning.summary"])
        assert 25 < (until - datetime.date.today()).days < 35
        entry["without"]["reasoning.summary"] = "2026-01-01"
        file.write_text(json.dumps(known))
        ask(how, contents=[user({"text": "Hi"})])
        # Another key is another account.
        ask(dict(how, api_key="other"), contents=[user({"text": "Hi"})])
        assert [("summary" in one.body.get("reasoning", {})) for one in server.requests] == [
            True, False, True, True]


@pytest.mark.parametrize("content", ["", "no json", "[]", '{"x": 3}', '{"x": {"without": 3}}'])
def test_a_file_that_is_broken_is_no_error(tmp_path, content):
    file = tmp_path / "learnt.json"
    file.write_text(content)
    with FakeServer(Tolerant(RESPONSES), [{"status": 400, "error": CASES[0][4]},
                                          {"reply": [text("Yes.")]}]) as server:
        got = ask(opened(server, RESPONSES, "gpt-5.1", learnt_file=str(file)),
                  contents=[user({"text": "Hi"})])
    assert "reply" in got and len(json.loads(file.read_text())) >= 1
