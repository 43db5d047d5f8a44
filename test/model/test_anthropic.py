# SPDX-License-Identifier: Apache-2.0
"""The Messages API against a server that is as strict as Anthropic's."""
import json

import fake_anthropic
import pytest
from fake_anthropic import call, redacted, text, thought
from fake_server import FakeServer, Request
from jobs import ends_well  # noqa: F401
from jobs import LIST, READ, Talk, ask, options, texts, user

PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
PDF = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjQ="}}
CLIP = {"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}
MODELS = ["claude-3-5-haiku-latest", "claude-3-7-sonnet-latest", "claude-sonnet-4-20250514",
          "claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5", "claude-opus-4-6",
          "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5", "claude-sonnet-5-5",
          "claude-opus-5-5", "claude-fable-5-1"]
SCRIPT = [{"reply": [thought(" Hmm,\n"), redacted(), text("I look."),
                     call("read_file", {"path": "ä/b c"}), thought("and"), call("list")]},
          {"reply": [thought("So."), text("It is a picture.")]},
          {"reply": [text("Nothing else.")]}]


def talk(server, name="claude-sonnet-4-5", **more):
    return Talk(provider="anthropic", name=name, **dict({"base_url": server.url}, **more))


def two_turns(conversation, **request):
    first = conversation.say(PNG, "Look.", system="Be brief.", tools=[READ, LIST], **request)
    assert first["finish"] == "tools"
    conversation.answer({"response": {"output": "x"}, "parts": [PNG, PDF, CLIP]},
                        {"response": {"error": "no"}}, then=[text("Go on.")],
                        system="Be brief.", tools=[READ, LIST], **request)
    return conversation.say("And?", PDF, system="Be brief.", tools=[READ, LIST], **request)


@pytest.mark.parametrize("change", [{"system": "Be long."}, {"tools": [READ]},
                                    {"system": "Be brief.", "first": "Listen."}])
def test_the_fake_refuses_thinking_whose_beginning_has_changed(change):
    script = [{"reply": [thought("Hm."), text("Yes.")]}, {"reply": [text("No.")]}]
    with FakeServer(fake_anthropic.Provider(), script) as server:
        conversation = talk(server, "claude-opus-5-5")
        conversation.say("Look.", system="Be brief.", tools=[READ, LIST])
        if "first" in change:
            conversation.contents[0]["parts"][0]["text"] = change.pop("first")
        with pytest.raises(AssertionError, match="bound to a different conversation"):
            conversation.say("And?", **dict({"system": "Be brief.", "tools": [READ, LIST]},
                                            **change))


@pytest.mark.parametrize("thinking", ["default", "off", "low", "high"])
def test_thinking_goes_back_byte_for_byte_whatever_the_model_and_its_effort(thinking):
    for name in MODELS:
        with FakeServer(fake_anthropic.Provider(), SCRIPT) as server:
            reply = two_turns(talk(server, name), thinking=thinking, temperature=1, top_p=0.95,
                              top_k=64)
            assert server.violations == [], name
        assert texts(reply) == "Nothing else." and reply["finish"] == "stop"


def test_usage_has_what_was_read_from_the_cache_and_written_to_it():
    with FakeServer(fake_anthropic.Provider(), SCRIPT) as server:
        reply = talk(server).say("x", system="S", tools=[READ, LIST])
        assert fake_anthropic.marks(server.requests[0].body) == 3
    assert reply["usage"] == {"input": 19, "cached": 4, "cache_written": 3, "output": 7,
                              "thoughts": 0, "tool": 0, "total": 26}


def test_a_long_conversation_has_four_breakpoints():
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("a")]}] * 4) as server:
        conversation = talk(server)
        for _ in range(4):
            conversation.say("x", system="S", tools=[READ])
        assert server.violations == []
        assert fake_anthropic.marks(server.requests[-1].body) == 4


def test_an_answer_has_as_much_room_as_there_is_beside_the_conversation():
    """200,000 tokens, and a text of about 150,000."""
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("a")]}] * 2) as server:
        talk(server, "claude-sonnet-4-20250514").say("x" * 600000)
        talk(server, "claude-opus-5").say("x" * 600000)
        room, usual = (one.body["max_tokens"] for one in server.requests)
    assert 49000 < room <= 50000 and usual == 64000


def test_the_model_is_changed_in_the_middle_of_a_turn():
    """Ids, thoughts and signatures of another provider's do no harm."""
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("a")]}]) as server:
        conversation = talk(server)
        conversation.contents = [
            user(text("x")),
            {"role": "model", "parts": [
                {"text": "hm", "thought": True},
                {"text": "", "thought": True, "opaque": {"provider": "openai",
                                                         "reasoning_details": [{}]}},
                {"functionCall": {"id": "functions.f:0", "name": "f", "args": {}},
                 "thoughtSignature": "abc"}]}]
        conversation.answer({"response": {"output": "x"}}, tools=[READ], thinking="high")
        assert server.violations == []


@pytest.mark.parametrize("mode", [{"tool_mode": "any"}, {"tool_mode": "none"},
                                  {"tool_mode": "any", "allowed_tools": ["list"]}])
@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-opus-5", "claude-opus-5-5"])
def test_calls_are_forced_and_forbidden(mode, name):
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("a")]}]) as server:
        talk(server, name).say("x", tools=[READ, LIST], thinking="high", **mode)
        assert server.violations == []


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-3-7-sonnet-latest"])
def test_answers_that_are_json_have_their_schema(name):
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {
        "type": "array", "items": {"type": "object", "properties": {}}}}}
    with FakeServer(fake_anthropic.Provider(), [{"reply": [text("{}")]}]) as server:
        talk(server, name).say("x", answer_schema=schema)
        assert server.violations == []


def test_bearer_and_vertex():
    reply = [{"reply": [text("a")]}]
    with FakeServer(fake_anthropic.Provider(bearer=True), reply) as server:
        talk(server, bearer=True).say("x")
        assert server.violations == []
    with FakeServer(fake_anthropic.Provider(vertex=True), reply) as server:
        talk(server, "claude-sonnet-4-5@20250929", vertex=True,
             base_url=server.url + "/v1/projects/p/locations/us-east5").say("x", thinking="low")
        assert server.violations == []


def searching(number, said, reason, model="claude-sonnet-4-5"):
    """A reply in which the provider's own search ran."""
    call = "srvtoolu_%d" % number
    return {"reply": {"chunks": [
        {"type": "message_start", "message": {"model": model, "usage": {
            "input_tokens": 100 * number, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {
            "type": "server_tool_use", "id": call, "name": "web_search", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {
            "type": "input_json_delta", "partial_json": '{"query": "q%d"}' % number}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {
            "type": "web_search_tool_result", "tool_use_id": call, "content": [
                {"type": "web_search_result", "url": "https://%d.org" % number, "title": "X"}]}},
        {"type": "content_block_stop", "index": 1},
        *([{"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": said}},
           {"type": "content_block_stop", "index": 2}] if said else []),
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 10}},
        {"type": "message_stop"}]}}


def test_the_provider_pauses_and_goes_on():
    """pause_turn comes with tools that run there: what they did goes back as it was, with the same tools and
    nothing after it, and all of it is one reply."""
    script = [searching(1, "", "pause_turn"), searching(2, "So far.", "pause_turn"),
              {"status": 529, "error": "Overloaded"}, searching(3, "All.", "end_turn"),
              {"reply": [text("a")]}]
    with FakeServer(fake_anthropic.Provider(), script) as server:
        conversation = talk(server)
        reply = conversation.say("x", server_tools=["google_search"])
        assert reply["finish"] == "stop" and texts(reply) == "So far.All." and reply["attempts"] == 4
        assert reply["usage"]["input"] == 600 and reply["usage"]["output"] == 30
        assert [chunk["web"]["uri"] for chunk in reply["grounding"]["groundingChunks"]] == [
            "https://1.org", "https://2.org", "https://3.org"]
        # What is shown while it comes is told again after it was taken back.
        shown = ""
        for line in conversation.lines:
            shown = "" if line.get("event") == "restart" else shown
            shown += line["text"] if line.get("event") == "text" else ""
        assert shown == "So far.All."
        conversation.say("y", server_tools=["google_search"])
        assert server.violations == []
        bodies = [request.body for request in server.requests]
    assert bodies[2]["messages"] == bodies[3]["messages"]
    for i, searches in ((1, 1), (2, 2), (3, 2), (4, 3)):
        back = bodies[i]["messages"][1]["content"]
        assert [one["type"] for one in back if one["type"] != "text"] == searches * [
            "server_tool_use", "web_search_tool_result"]
        assert [one["input"] for one in back if "input" in one] == [
            {"query": "q%d" % (k + 1)} for k in range(searches)]
        assert bodies[i]["tools"] == bodies[0]["tools"]
        assert len(bodies[i]["messages"]) == (3 if i == 4 else 2)


def test_a_fallback_begins_a_paused_reply_anew():
    """It cannot read what the tools of the first one gave; a notice says that this is dropped. It may pause as
    often as the first."""
    spent = {"status": 429, "error": "You have reached a limit.",
             "details": {"details": {"error_code": "enforced_spend_limit_reached"}}}
    first = [searching(i, "Half.", "pause_turn") for i in range(1, 6)]
    name = "claude-haiku-4-5"
    other = [searching(i, "So far.", "pause_turn", name) for i in range(1, 6)]
    other.append(searching(6, "All.", "end_turn", name))
    with FakeServer(fake_anthropic.Provider(), [*first, spent]) as server, \
            FakeServer(fake_anthropic.Provider(), other) as next_server:
        fallback = options(provider="anthropic", name=name, base_url=next_server.url)
        conversation = talk(server, fallbacks=[fallback])
        reply = conversation.say("x", server_tools=["google_search"])
        assert server.violations == [] and next_server.violations == []
        assert len(next_server.requests[0].body["messages"]) == 1
    assert reply["finish"] == "stop" and texts(reply) == 5 * "So far." + "All."
    assert "Half." not in json.dumps(reply)
    (restart,) = [line for line in conversation.lines if line.get("event") == "restart"]
    assert "reached a limit" in restart["text"] and "starts the reply again" in restart["text"]


def test_a_provider_that_only_pauses_is_not_asked_for_ever():
    with FakeServer(fake_anthropic.Provider(), [], auto=lambda request: searching(
            1, "More.", "pause_turn")) as server:
        reply = talk(server).say("x", server_tools=["google_search"])
        assert reply["finish"] == "other" and reply["finish_text"] == "pause_turn"
        assert texts(reply) == 9 * "More." and reply["attempts"] == len(server.requests) == 9
        assert server.violations == []


def test_overload_is_waited_for_also_in_the_middle_and_spending_limits_are_not():
    broken = {"reply": {"chunks": [
        {"type": "message_start", "message": {"usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text",
                                                                      "text": "a"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}]}}
    script = [{"status": 529, "error": "Overloaded"}, broken, {"reply": [text("b")]}]
    with FakeServer(fake_anthropic.Provider(), script) as server:
        reply = talk(server).say("x")
        assert reply["attempts"] == 3 and texts(reply) == "b"
    spent = {"status": 429, "error": "You have reached a limit.",
             "details": {"details": {"error_code": "enforced_spend_limit_reached"}}}
    with FakeServer(fake_anthropic.Provider(), [spent]) as server:
        line = ask(options(provider="anthropic", name="claude-sonnet-4-5", base_url=server.url),
                   contents=[user(text("x"))])
        assert line["error"] == "quota_exceeded" and len(server.requests) == 1


def test_a_stream_that_breaks_is_asked_for_again():
    script = [{"reply": [thought("hm"), text("a longer text")], "break_after": 700},
              {"reply": [text("b")]}]
    with FakeServer(fake_anthropic.Provider(), script) as server:
        assert texts(talk(server).say("x", thinking="high")) == "b"
        assert server.violations == []


def test_a_wrong_key_is_not_shown():
    with FakeServer(fake_anthropic.Provider(key="another"), []) as server:
        line = ask(options(provider="anthropic", name="claude-sonnet-4-5", base_url=server.url,
                           api_key="sk-ant-secret-0123456789"), contents=[user(text("x"))])
    assert "secret" not in json.dumps(line)


def test_the_fake_refuses_what_the_real_one_refuses():
    """Requests that break one rule each."""
    def says(role, *blocks):
        return {"role": role, "content": list(blocks)}

    say = says("user", {"type": "text", "text": "a"})
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1",
              "content": [{"type": "text", "text": "x"}]}
    note = {"type": "text", "text": "x"}
    marked = dict(note, cache_control={"type": "ephemeral"})
    thinks = {"type": "thinking", "thinking": "hm", "signature": "S"}
    good = {"model": "claude-sonnet-4-5", "max_tokens": 5000, "stream": True,
            "messages": [say, says("assistant", use), says("user", result)]}
    provider = fake_anthropic.Provider()
    provider.signed["S"] = thinks

    def check(body):
        return provider.check_messages(body) or provider.check_sent(body)

    assert check(good) == []
    assert check(dict(good, messages=[say, says("assistant", thinks, use),
                                      says("user", result)])) == []
    wrong = [[says("assistant", note), say], [say, say], [say, says("assistant", note)],
             [say, says("assistant", use), say], [say, says("user")],
             [say, says("assistant", use), says("user", note, result)],
             [say, says("assistant", use, use), says("user", result)],
             [say, says("assistant", note), says("user", result)],
             [says("user", dict(note, text=" "))], [says("user", dict(note, extra=1))],
             [says("user", thinks)],
             [say, says("assistant", dict(thinks, thinking="h"), use), says("user", result)]]
    for messages in wrong:
        assert check(dict(good, messages=messages)), messages
    assert fake_anthropic.marks([marked] * 5) == 5
    assert check(dict(good, thinking={"type": "enabled", "budget_tokens": 1024}))
    for change in ({"thinking": {"type": "enabled", "budget_tokens": 5000}},
                   {"thinking": {"type": "enabled", "budget_tokens": 1024}, "temperature": 0.5}):
        assert list(fake_anthropic.thinking_rules(dict(good, **change)))
    assert list(fake_anthropic.model_rules(dict(good, model="claude-opus-5-5",
                                                thinking={"type": "disabled"})))


def test_the_fake_refuses_whole_requests_too():
    """Headers, members, tools and breakpoints, each wrong once."""
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01",
               "x-api-key": "test-key"}
    note = {"type": "text", "text": "a"}
    marked = dict(note, cache_control={"type": "ephemeral"})
    good = {"model": "claude-sonnet-4-5", "max_tokens": 10, "stream": True, "system": [marked],
            "messages": [{"role": "user", "content": [note, marked, marked, marked]}]}

    def check(body, path="/v1/messages", **changed):
        raw = json.dumps(body).encode()
        return fake_anthropic.Provider().check(Request("POST", path, dict(headers, **changed), raw))

    tool = {"name": "f", "input_schema": {"type": "object"}}
    assert check(good) == []
    assert check(dict(good, tools=[tool], tool_choice={"type": "tool", "name": "f"})) == []
    for change in ({"unknown": 1}, {"max_tokens": "10"}, {"max_tokens": 0}, {"system": "S"},
                   {"messages": [{"role": "user", "content": [marked] * 4}]},
                   {"tools": [tool, tool]}, {"tools": [dict(tool, name="a b")]},
                   {"tools": [dict(tool, input_schema={})]}, {"tool_choice": {"type": "any"}},
                   {"tools": [tool], "tool_choice": {"type": "tool", "name": "g"}},
                   {"output_config": {"effort": "high"}}, {"temperature": 2},
                   {"output_config": {"format": {"type": "json_schema", "schema": {
                       "type": "object", "properties": {}}}}}):
        assert check(dict(good, **change)), change
    assert check(good, path="/v1/other") and check(good, **{"x-api-key": "no"})
    assert check(good, **{"anthropic-version": "1"})
    assert check(good, **{"authorization": "Bearer test-key"})
    assert check(good, **{"anthropic-beta": "unknown-2020-01-01"})
