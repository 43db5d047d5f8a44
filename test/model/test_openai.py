# SPDX-License-Identifier: Apache-2.0
"""OpenAI's two formats against a server that is as strict as theirs."""
import json

import fake_openai
import pytest
from fake_openai import call, refusal, text, thought
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import LIST, READ, Talk, ask, last, options, run, texts, user

PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
PDF = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjQ="}}
HOSTS = {"openai": "http://api.openai.com/v1", "deepseek": "http://api.deepseek.com/v1",
         "openrouter": "http://openrouter.ai/api/v1"}
NAMES = {"openai": "gpt-4o", "deepseek": "deepseek-reasoner",
         "openrouter": "anthropic/claude-sonnet-4.5", "own": "qwen3"}


def talk(server, flavour="openai", provider="openai", **more):
    """Who is spoken to is known by the address, so the server is reached as a proxy."""
    where = ({"base_url": HOSTS[flavour], "proxy": server.url} if flavour in HOSTS else
             {"base_url": server.url + "/v1"})
    return Talk(provider=provider, **dict({"name": NAMES[flavour], **where}, **more))


def two_turns(conversation, **request):
    """A turn with calls, media in results, and one more question."""
    first = conversation.say("Look at ", PNG, system="Be brief.", tools=[READ, LIST], **request)
    assert first["finish"] == "tools"
    conversation.answer({"response": {"output": "ä\n\"x\""}, "parts": [PNG]},
                        {"response": {"error": "no"}}, tools=[READ, LIST], **request)
    return conversation.say("And?", tools=[READ, LIST], **request)


SCRIPT = [{"reply": [thought("Hmm, "), text("I look. "), call("read_file", {"path": "ä/b c"}),
                     call("list")]},
          {"reply": [thought("So."), text("It is a picture.")]},
          {"reply": [text("Nothing else.")]}]


@pytest.mark.parametrize("flavour", ["openai", "deepseek", "openrouter", "own"])
def test_turns_with_calls_are_what_each_server_takes(flavour):
    provider = fake_openai.Provider(flavour=flavour)
    with FakeServer(provider, SCRIPT) as server:
        conversation = talk(server, flavour)
        reply = two_turns(conversation)
        assert server.violations == []
    assert texts(reply) == "Nothing else." and reply["finish"] == "stop"
    assert texts({"content": conversation.contents[3]}) == "It is a picture."


def test_pieces_are_told_as_they_come_and_usage_is_counted():
    with FakeServer(fake_openai.Provider(), SCRIPT) as server:
        conversation = talk(server)
        reply = conversation.say("Go", tools=[READ, LIST])
        assert server.violations == []
    kinds = [line["event"] for line in conversation.lines if "event" in line]
    assert kinds.count("thought") == 2 and kinds.count("text") == 2 and kinds.count("call") == 2
    assert reply["usage"] == {"input": 12, "cached": 4, "cache_written": 0, "output": 5,
                              "thoughts": 2, "tool": 0, "total": 19}
    ids = [one["id"] for one in conversation.calls()]
    assert len(set(ids)) == 2 and all(one.startswith("call_") for one in ids)


def test_a_reasoning_model_of_openai_gets_no_sampling():
    with FakeServer(fake_openai.Provider(), [{"reply": [text("a")]}] * 2) as server:
        talk(server, name="gpt-5.1").say("x", system="S", temperature=0.5, top_p=0.5, top_k=3,
                                         thinking="high", max_output_tokens=1000)
        talk(server, name="gpt-5.5").say("x", tools=[READ], thinking="high")
        assert server.violations == []


def test_responses_give_reasoning_back_as_it_came():
    provider = fake_openai.Provider()
    with FakeServer(provider, SCRIPT) as server:
        conversation = talk(server, provider="openai-responses", name="gpt-5.1")
        reply = two_turns(conversation, thinking="low", temperature=1)
        assert server.violations == []
        sent = server.requests[2].body["input"]
    assert [item["type"] for item in sent] == [
        "message", "reasoning", "message", "function_call", "function_call",
        "function_call_output", "function_call_output", "reasoning", "message", "message"]
    assert texts(reply) == "Nothing else."


def test_responses_of_a_model_that_does_not_reason():
    with FakeServer(fake_openai.Provider(), [{"reply": [text("a")]}]) as server:
        talk(server, provider="openai-responses", name="gpt-4.1").say(
            PDF, "x", temperature=0.5, thinking="high", max_output_tokens=5)
        assert server.violations == []


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_answers_that_are_json_have_their_schema(provider):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
              "additionalProperties": False}
    with FakeServer(fake_openai.Provider(), [{"reply": [text('{"a": "b"}')]}]) as server:
        reply = talk(server, provider=provider).say("x", answer_schema=schema)
        assert server.violations == []
    assert json.loads(texts(reply)) == {"a": "b"}


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
@pytest.mark.parametrize("mode", [{"tool_mode": "any"}, {"tool_mode": "none"},
                                  {"tool_mode": "any", "allowed_tools": ["list"]}])
def test_calls_are_forced_and_forbidden(provider, mode):
    with FakeServer(fake_openai.Provider(), [{"reply": [text("a")]}]) as server:
        talk(server, provider=provider).say("x", tools=[READ, LIST], **mode)
        assert server.violations == []


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_a_refusal_is_one(provider):
    with FakeServer(fake_openai.Provider(), [{"reply": [refusal("I will not.")]}]) as server:
        reply = talk(server, provider=provider).say("x")
    assert reply["finish"] == "safety" and texts(reply) == "I will not."


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_overload_is_waited_for_and_a_used_up_quota_is_not(provider):
    busy = {"status": 503, "error": "overloaded"}
    used_up = {"status": 429, "error": "You exceeded your current quota.",
               "details": {"type": "insufficient_quota", "code": "insufficient_quota"}}
    with FakeServer(fake_openai.Provider(), [busy, {"reply": [text("a")]}]) as server:
        assert talk(server, provider=provider).say("x")["attempts"] == 2
    with FakeServer(fake_openai.Provider(), [used_up]) as server:
        line = ask(options(provider=provider, name="gpt-5.1", base_url=server.url + "/v1"),
                   contents=[user(text("x"))])
        assert len(server.requests) == 1
    assert line["error"] == "quota_exceeded" and "current quota" in line["message"]


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
@pytest.mark.parametrize("bytes_of", [60, 400])
def test_a_stream_that_breaks_is_asked_for_again(provider, bytes_of):
    script = [{"reply": [text("a longer text than one would think")], "break_after": bytes_of},
              {"reply": [text("b")]}]
    with FakeServer(fake_openai.Provider(), script) as server:
        opened = options(provider=provider, name="gpt-5.1", base_url=server.url + "/v1")
        lines = run({"options": opened, "request": {"contents": [user(text("x"))]}})
    assert texts(last(lines)["reply"]) == "b"
    assert "restart" in [line.get("event") for line in lines]


def test_a_wrong_key_is_not_shown():
    with FakeServer(fake_openai.Provider(key="another"), []) as server:
        line = ask(options(provider="openai", name="gpt-5.1", base_url=server.url + "/v1",
                           api_key="sk-secret-0123456789"), contents=[user(text("x"))])
    assert "sk-secret" not in json.dumps(line)


def test_the_fake_refuses_what_the_real_one_refuses():
    """Requests that break one rule each."""
    good = {"model": "gpt-4o", "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": "a"}]}
    one = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [one]}
    told = {"role": "tool", "tool_call_id": "c", "content": "x"}
    say = good["messages"]
    wrong = [{"unknown": 1}, {"messages": []}, {"messages": say + [asked]},
             {"messages": say + [asked] + say}, {"messages": say + [told]},
             {"messages": say + [asked, told, told]}, {"temperature": "1"}, {"max_tokens": 3},
             {"messages": say + [dict(asked, reasoning_content="x"), told]},
             {"messages": say + [{"role": "assistant", "content": None}] + say},
             {"messages": [{"role": "user", "content": []}]}, {"tool_choice": "required"},
             {"model": "gpt-5", "temperature": 1}, {"reasoning_effort": "low"},
             {"messages": say + [dict(asked, tool_calls=[dict(one, id="x" * 41)]),
                                 dict(told, tool_call_id="x" * 41)]}]
    assert fake_openai.Provider().check_chat(good) == []
    assert fake_openai.Provider().check_chat(dict(good, messages=say + [asked, told])) == []
    for change in wrong:
        assert fake_openai.Provider().check_chat(dict(good, **change)), change


def test_the_fake_of_responses_refuses_what_the_real_one_refuses():
    say = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}
    asked = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    told = {"type": "function_call_output", "call_id": "c", "output": "x"}
    thinks = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    good = {"model": "gpt-5", "stream": True, "store": False, "input": [say, asked, told]}
    wrong = [{"unknown": 1}, {"input": [say, asked]}, {"input": [say, told]},
             {"input": [say, asked, say]}, {"input": [say, thinks]}, {"store": True},
             {"input": [say, dict(asked, arguments="{")]}, {"max_output_tokens": 3},
             {"model": "gpt-4o", "include": ["reasoning.encrypted_content"]}, {"temperature": 1}]
    provider = fake_openai.Provider()
    provider.encrypted["rs_1"] = dict(thinks, encrypted_content="F")
    assert provider.check_responses(good) == []
    for change in wrong:
        assert provider.check_responses(dict(good, **change)), change
    assert provider.check_responses(dict(good, input=[say, thinks, asked, told]))
    provider.encrypted["rs_1"] = thinks
    assert provider.check_responses(dict(good, input=[say, thinks, asked, told])) == []
