# SPDX-License-Identifier: Apache-2.0
"""What each provider says when something is wrong, in its own words: what hasp makes of it."""
import json

import fake_anthropic
import fake_gemini
import fake_openai
import pytest
from fake_openai import text
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import ask, options, run, user

FAKES = {"openai": (fake_openai.Provider, "gpt-4o"),
         "openai-responses": (fake_openai.Provider, "gpt-5.1"),
         "anthropic": (fake_anthropic.Provider, "claude-sonnet-4-5"),
         "gemini": (fake_gemini.Provider, "gemini-2.5-pro")}


def body(kind, message, code=None, status=400):
    if kind == "anthropic":
        return {"type": "error", "error": {"type": code or "invalid_request_error",
                                           "message": message}}
    if kind == "gemini":
        return {"error": {"code": status, "message": message, "status": code}}
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def refused(kind, status, value, **more):
    """The error, and how often it was asked."""
    fake, name = FAKES[kind]
    steps = [{"status": status, "error": json.dumps(value).encode()}] * 3
    with FakeServer(fake(key=more.get("api_key", "test-key")), steps) as server:
        opened = options(**dict({"provider": kind, "name": name, "base_url": server.url + (
            "/v1beta" if kind == "gemini" else "/v1")}, **more))
        got = ask(opened, contents=[user({"text": "Hi"})])
        return got, len(server.requests)


TOO_LONG = [
    ("gemini", 400, "The input token count (1196265) exceeds the maximum number of tokens allowed "
     "(1048576)."),
    ("gemini", 400, "Unable to submit request because the input token count is 1193000 but model only "
     "supports up to 1048576. Reduce the input token count and try again."),
    ("openai", 400, "This model's maximum context length is 128000 tokens. However, your messages "
     "resulted in 130000 tokens."),
    ("openai-responses", 400, "Your input exceeds the context window of this model. Please adjust "
     "your input and try again."),
    ("openai", 400, "This model's maximum prompt length is 131072 but the request contains 537812 "
     "tokens."),
    ("openai", 400, "The decoder prompt (length 5000) is longer than the maximum model length of "
     "4096."),
    ("openai", 400, "Your request exceeded model token limit: 262144 (requested: 288123)"),
    ("openai", 400, "The number of tokens to keep from the initial prompt is greater than the context "
     "length"),
    ("openai", 400, "Range of input length should be [1, 98304]"),
    ("openai", 400, "prompt token count of 140000 exceeds the limit of 128000"),
    ("openai", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."),
    ("openai", 400, "Prompt exceeds max length"),
    ("openai", 400, "Please reduce the length of the messages or completion."),
    ("anthropic", 400, "prompt is too long: 213462 tokens > 200000 maximum"),
    ("anthropic", 400, "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000"),
    ("anthropic", 400, "Input is too long for requested model."),
]


@pytest.mark.parametrize("kind, status, sentence", TOO_LONG)
def test_too_long_is_known_in_every_providers_words(kind, status, sentence):
    got, asked = refused(kind, status, body(kind, sentence, status=status))
    assert got["error"] == "context_too_large" and asked == 1
    assert sentence in got["message"]


@pytest.mark.parametrize("kind, status, sentence", [*TOO_LONG[1:3], TOO_LONG[3], TOO_LONG[13]])
def test_too_long_is_known_in_small_letters(kind, status, sentence):
    got, asked = refused(kind, status, body(kind, sentence.lower(), status=status))
    assert got["error"] == "context_too_large" and asked == 1


@pytest.mark.parametrize("code", ["context_length_exceeded", "too_many_prompt_tokens",
                                  "model_max_prompt_tokens_exceeded", "string_above_max_length"])
def test_too_long_is_known_by_its_code(code):
    got, asked = refused("openai", 400, body("openai", "It is more than it can take.", code))
    assert got["error"] == "context_too_large" and asked == 1
    assert "It is more than it can take." in got["message"]


MINUTE = ("Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
          "Requested 40000. The input or output tokens must be reduced in order to run successfully.")


@pytest.mark.parametrize("status", [429, 413])
def test_more_than_a_minute_allows_is_neither_too_long_nor_waited_for(status):
    got, asked = refused("openai", status, body("openai", MINUTE, "rate_limit_exceeded"))
    assert got["error"] == "quota_exceeded" and asked == 1
    assert "tokens per min (TPM): Limit 30000, Requested 40000." in got["message"]


@pytest.mark.parametrize("kind, sentence", [
    ("openai", "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, "
     "Requested 2000. Please try again in 1ms. Visit the page on context length."),
    ("anthropic", "This request would exceed your organization's rate limit of 30,000 input tokens per "
     "minute. Reduce the prompt length or the context window."),
])
def test_a_limit_by_the_minute_is_waited_for(kind, sentence):
    got, asked = refused(kind, 429, body(kind, sentence, "rate_limit_error"))
    assert got["error"] == "overloaded" and asked == 3
    assert sentence[:60] in got["message"]


@pytest.mark.parametrize("kind, status, sentence", [
    ("gemini", 429, "Your prepayment credits are depleted. Please go to AI Studio to manage your "
     "project and billing."),
    ("gemini", 429, "Your project has exceeded its monthly spending cap. Please go to AI Studio to "
     "manage your project spend cap."),
    ("openai", 429, "You exceeded your current quota, please check your plan and billing details."),
    ("openai", 402, "Insufficient Balance"),
    ("openai", 402, "Insufficient credits. Add more to continue."),
    ("anthropic", 400, "Your credit balance is too low to access the Anthropic API."),
])
def test_what_is_spent_does_not_come_back_by_waiting(kind, status, sentence):
    got, asked = refused(kind, status, body(kind, sentence, "RESOURCE_EXHAUSTED"
                                            if kind == "gemini" else None, status))
    assert got["error"] == "quota_exceeded" and asked == 1
    assert sentence in got["message"]


@pytest.mark.parametrize("kind, status, value", [
    # xAI: the sentence is the value of "error", and the status is 400.
    ("openai", 400, {"code": "Client specified an invalid argument", "error":
                     "Incorrect API key provided: xa***yz. You can obtain an API key from x.ai."}),
    ("gemini", 400, {"error": {"code": 400, "message": "API key not valid. Please pass a valid API "
                               "key.", "status": "INVALID_ARGUMENT", "details": [
                                   {"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                                    "reason": "API_KEY_INVALID"}]}}),
    ("openai", 400, body("openai", "No API key provided.")),
    ("anthropic", 400, body("anthropic", "invalid x-api-key")),
])
def test_a_wrong_key_is_known_whatever_the_status(kind, status, value):
    got, asked = refused(kind, status, value)
    assert got["error"] == "authentication_failed" and asked == 1


# Made up, of the shapes that the providers' keys have.
KEYS = ["sk-" + "a1B2" * 12, "sk-proj-" + "aB3_-d" * 20, "sk-ant-api03-" + "aB3_-d" * 15 + "AA",
        "sk-or-v1-" + "0a" * 32, "sk-" + "0a" * 16, "gsk_" + "aB3d" * 13, "xai-" + "aB3d" * 20,
        "AIza" + "aB3-_dE" * 5, "AQ.Ab8" + "aB3-_dE" * 6, "ya29." + "aB3-_dE" * 8,
        "hf_" + "aBcD" * 8 + "1e", "pplx-" + "aB3d" * 12, "nvapi-" + "aB3d" * 15, "csk-" + "a1b2" * 12,
        "ghp_" + "aB3d" * 9, "AKIA" + "1BCD" * 4, "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." * 3,
        "aB3d" * 11, "sk-proj-********cdef", "xa***yz"]
# Nobody's secrets: they tell what a sentence is about.
NAMES = ["messages.0.content.1.image.source.base64", "messages.12.content.34.tool_result.content.0.text",
         "rs_0f3a9c5d2b7e4f1a8c6d0e9b3a5f7c1d2e4b6a8c0d", "resp_68a1f0c2d4e681a2b3c4d5e6f708192a3b4c5d6e",
         "msg_01XFDUDYJgAACzvnptvVoYEL", "toolu_01D7FLrfh4GYq7yT1ULFeyMV", "call_9bT3kXl2mN8pQ5rS7uVwYz01",
         "req_011CSHoEeqs5C35K2UUqR7Fy", "chatcmpl-9bT3kXl2mN8pQ5rS7uVwYz01aBcDeF",
         "fc_68a1f0c2d4e681a2b3c4d5e6f708192a3b4c5d6e7f", "call_0123456789abcdef01234567",
         "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "claude-sonnet-4-5-20250929",
         "claude-opus-4-1@20250805", "gpt-5.1-codex-max-2025-11-19", "gemini-2.5-flash-lite-preview-09-2025",
         "accounts/fireworks/models/qwen3-coder-480b-a35b-instruct", "sk-learn", "sk-1", "hf_hub_3",
         "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "generationConfig.thinkingConfig.thinkingLevel",
         "projects/my-project-123/locations/us-east5/publishers/google/models/gemini-2.5-pro",
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         "aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model",
         "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "tools.12.custom.input_schema.properties.a1",
         "max_completion_tokens", "https://platform.openai.com/docs/guides/error-codes/api-errors-2",
         "interleaved-thinking-2025-05-14", "context-1m-2025-08-07", "input[123].encrypted_content"]


@pytest.mark.parametrize("kind", sorted(FAKES))
@pytest.mark.parametrize("key", KEYS)
def test_keys_are_masked(kind, key):
    got, _ = refused(kind, 400, body(kind, "It is wrong: %s, so there." % key))
    assert key not in got["message"] and "[key], so there." in got["message"]


@pytest.mark.parametrize("kind", sorted(FAKES))
@pytest.mark.parametrize("shape", [lambda said: said, lambda said: {"error": said}])
def test_keys_are_masked_where_the_error_is_a_sentence_alone(kind, shape):
    got, _ = refused(kind, 400, shape("It is wrong: %s, so there." % KEYS[0]))
    assert KEYS[0] not in got["message"] and "It is wrong: [key], so there." in got["message"]


@pytest.mark.parametrize("kind", sorted(FAKES))
@pytest.mark.parametrize("name", NAMES)
def test_names_are_not(kind, name):
    got, _ = refused(kind, 400, body(kind, "It is wrong: %s, so there." % name))
    assert "It is wrong: %s, so there." % name in got["message"]


@pytest.mark.parametrize("length", [1, 64, 65, 128, 256, 300])
@pytest.mark.parametrize("kind", ["openai", "openai-responses", "anthropic"])
def test_a_session_of_any_name_is_named_as_the_provider_takes_it(kind, length):
    fake, name = FAKES[kind]
    where = {"base_url": "http://api.openai.com/v1"} if kind == "openai" else {}
    with FakeServer(fake(), [{"reply": [text("Yes.")]}] * 2) as server:
        opened = options(**dict({"provider": kind, "name": name, "base_url": server.url + "/v1",
                                 "proxy": server.url}, **where))
        request = {"contents": [user({"text": "Hi"})], "session_id": "s" * length}
        run({"options": opened, "request": request}, {"request": request})
        assert server.violations == []
        sent = [one.body["metadata"]["user_id"] if kind == "anthropic" else
                one.body["prompt_cache_key"] for one in server.requests]
    assert sent[0] == sent[1] and (sent[0] == "s" * length) == (
        length <= (256 if kind == "anthropic" else 64))


@pytest.mark.parametrize("name", ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"])
@pytest.mark.parametrize("thinking", ["default", "off", "low", "medium", "high"])
@pytest.mark.parametrize("most", [100, 1000, 8192, 60000])
def test_thoughts_leave_room_for_the_answer(name, thinking, most):
    with FakeServer(fake_gemini.Provider(), [{"reply": [text("Yes.")]}] * 2) as server:
        opened = options(provider="gemini", name=name, base_url=server.url + "/v1beta")
        for tokens in (0, most):
            ask(opened, contents=[user({"text": "Hi"})], thinking=thinking, thinking_tokens=tokens,
                max_output_tokens=most)
        budgets = [one.body["generationConfig"]["thinkingConfig"]["thinkingBudget"]
                   for one in server.requests]
    least = 128 if name == "gemini-2.5-pro" else 0
    assert all(budget <= max(most // 2, least) for budget in budgets)
    assert server.violations == [] or (most == 100 and least)
