# SPDX-License-Identifier: Apache-2.0
"""Gemini's format against a server that is as strict as Google's, and what all formats share: retries,
fallbacks, cancellation, and keys that nobody sees."""
import json
import subprocess
import sys
import time

import fake_gemini
import pytest
from fake_gemini import SKIP, call, text, thought
from fake_server import FakeServer
from jobs import LIST, READ, Talk, last, options, run, texts, user

PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
NEW, OLD = "gemini-3-pro-preview", "gemini-2.5-flash"
KEY = "test-key-SECRET"


def opened(server, name=NEW, **more):
    return dict({"provider": "gemini", "name": name, "base_url": server.url + "/v1beta"}, **more)


def talk(server, name=NEW, **more):
    return Talk(**opened(server, name, **more))


def serve(*steps, **provider):
    return FakeServer(fake_gemini.Provider(**provider), list(steps))


def events(lines, kind):
    return [line for line in lines if line.get("event") == kind]


def failure(server, **more):
    """(code, message, requests) of one request that fails."""
    lines = run({"options": options(**opened(server, **more)),
                 "request": {"contents": [user(text("x"))]}})
    return last(lines)["error"], last(lines)["message"], len(server.requests)


# ---- the format ---------------------------------------------------------------------------------

SCRIPT = [{"reply": [thought("**Plan** it"), text("I "), text("look."),
                     call("read_file", {"path": "ä/b c"}), call("list")]},
          {"reply": [call("list")]},
          {"reply": [text("Done."), {"text": "", "sign": True}]},
          {"reply": [text("Nothing else.")]}]


@pytest.mark.parametrize("name", [NEW, "gemini-3-flash-preview", OLD, "gemini-2.5-pro",
                                  "gemini-2.0-flash", "gemma-4-31b-it"])
@pytest.mark.parametrize("ids", [True, False])
def test_turns_with_calls_are_what_gemini_takes(name, ids):
    with serve(*SCRIPT, ids=ids) as server:
        conversation = talk(server, name)
        more = {"system": "Be brief.", "tools": [READ, LIST]}
        first = conversation.say("Look at ", PNG, **more)
        assert (first["finish"], texts(first)) == ("tools", "I look.")
        conversation.answer({"response": {"output": "ä\n\"x\""}, "parts": [PNG]},
                            {"response": {"error": "no"}}, **more)
        conversation.answer({"response": {"output": []}}, then=[text("quick")], **more)
        reply = conversation.say("And?", **more)
        assert server.violations == []
    assert texts(reply) == "Nothing else." and reply["finish"] == "stop"


def test_a_model_keeps_its_connection():
    job = {"request": {"contents": [user(text("x"))]}}
    with serve(*[{"reply": [text("ok")]}] * 6) as server:
        run(dict(job, options=options(**opened(server))))
        for _ in range(5):
            assert "reply" in last(run(job))
        assert (len(server.requests), server.connections) == (6, 1)


def test_signatures_come_back_byte_for_byte_and_missing_ones_are_marked():
    with serve(*SCRIPT) as server:
        conversation = talk(server)
        conversation.say("a", tools=[READ, LIST])
        conversation.answer({"response": {}}, {"response": {}}, tools=[READ, LIST])
        sent = [part for part in server.requests[1].body["contents"][1]["parts"]]
        assert [sorted(part) for part in sent] == [
            ["text"], ["functionCall", "thoughtSignature"], ["functionCall"]]
        foreign = [user(text("a")), {"role": "model", "parts": [
            {"text": "Hm", "thought": True, "opaque": {"provider": "anthropic", "signature": "s"}},
            {"functionCall": {"id": "1", "name": "list", "args": {}}},
            {"functionCall": {"id": "2", "name": "list", "args": {}}},
            {"opaque": {"provider": "anthropic", "data": "x"}}]},
            user(*({"functionResponse": {"id": str(i), "name": "list", "response": {}}}
                   for i in (1, 2)))]
        run({"options": options(**opened(server)),
             "request": {"contents": foreign, "tools": [LIST]}})
        assert server.violations == []
    assert server.requests[2].body["contents"][1]["parts"] == [
        {"functionCall": {"id": "1", "name": "list", "args": {}}, "thoughtSignature": SKIP},
        {"functionCall": {"id": "2", "name": "list", "args": {}}}]


def test_only_the_last_turn_is_marked():
    contents = [user(text("a")), {"role": "model", "parts": [{"functionCall": {
        "id": "1", "name": "list", "args": {}}}]}, user({"functionResponse": {
            "id": "1", "name": "list", "response": {}}}), {"role": "model", "parts": [text("b")]},
        user(text("c"))]
    with serve({"reply": [text("d")]}) as server:
        run({"options": options(**opened(server)), "request": {"contents": contents}})
        assert server.violations == []
        assert SKIP not in server.requests[0].raw.decode()


def test_broken_histories_are_repaired():
    call_1 = {"functionCall": {"id": "1", "name": "list", "args": {}}}
    call_2 = {"functionCall": {"id": "2", "name": "list", "args": {"a": 1}}}
    answer = {"functionResponse": {"id": "2", "name": "list", "response": {"output": 1}}}
    stray = {"functionResponse": {"id": "9", "name": "list", "response": {}}}
    model = {"role": "model", "parts": [call_1, call_2]}
    for contents in ([model, user(answer)], [user(text("a")), model, user(text("b"), answer, stray)],
                     [user(text("a")), model], [user(text("a")), user(), user(stray, text("b"))],
                     [user(text("a")), {"role": "model", "parts": [call_1]},
                      {"role": "model", "parts": [call_2]}, user(answer), user(text("c"))]):
        with serve({"reply": [text("ok")]}) as server:
            lines = run({"options": options(**opened(server)),
                         "request": {"contents": contents, "tools": [LIST]}})
            assert server.violations == [] and "reply" in last(lines), contents


def test_schemas_are_cut_to_what_gemini_knows():
    schema = {"$schema": "x", "type": "object", "additionalProperties": False, "required": ["a"],
              "properties": {
                  "a": {"type": ["string", "null"], "minLength": 1, "pattern": "^a", "default": "a"},
                  "b": {"const": "x"}, "c": {"$ref": "#/definitions/d", "description": "gone"},
                  "e": {"allOf": [{"type": "integer", "exclusiveMinimum": 0}]},
                  "f": {"type": "array", "items": True, "uniqueItems": True},
                  "g": {"oneOf": [{"type": "string", "examples": ["a"]}, {"type": "integer"}]}},
              "definitions": {"d": {"type": "string", "maxLength": 5}}}
    with serve({"reply": [text("ok")]}) as server:
        talk(server).say("x", tools=[{"name": "t", "description": "d", "parameters": schema}])
        assert server.violations == []
        sent = server.requests[0].body["tools"][0]["functionDeclarations"][0]
    assert sent["parametersJsonSchema"] == {
        "type": "object", "required": ["a"], "additionalProperties": False, "properties": {
            "a": {"type": ["string", "null"], "description": "(minLength: 1, pattern: ^a, default: a)"},
            "b": {"type": "string", "enum": ["x"]}, "c": {"type": "string", "description": "gone (maxLength: 5)"},
            "e": {"type": "integer", "minimum": 1},
            "f": {"type": "array", "items": {}, "description": "(uniqueItems: true)"},
            "g": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}


@pytest.mark.parametrize("name, thinking, tokens, sent", [
    (NEW, "default", 0, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
    (NEW, "low", 0, {"includeThoughts": True, "thinkingLevel": "LOW"}),
    (NEW, "off", 0, {"includeThoughts": False, "thinkingLevel": "LOW"}),
    ("gemini-3.5-flash", "off", 0, {"includeThoughts": False, "thinkingLevel": "MINIMAL"}),
    (NEW, "high", 500, {"includeThoughts": True, "thinkingBudget": 500}),
    (OLD, "default", 0, {"includeThoughts": True, "thinkingBudget": 8192}),
    (OLD, "off", 0, {"includeThoughts": False, "thinkingBudget": 0}),
    (OLD, "high", 99999, {"includeThoughts": True, "thinkingBudget": 24576}),
    ("gemini-2.5-pro", "off", 0, {"includeThoughts": False, "thinkingBudget": 128}),
    ("gemini-3.1-pro-preview", "medium", 0, {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
    ("gemini-3-pro-preview", "medium", 0, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
    ("gemini-3.7-flash", "off", 0, {"includeThoughts": False, "thinkingLevel": "LOW"}),
    ("gemini-3.8-flash", "off", 0, {"includeThoughts": False, "thinkingLevel": "LOW"}),
    ("gemini-3.8-flash", "medium", 0, {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
    ("gemini-3.5-flash-lite", "medium", 0, {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
    ("gemini-4-flash", "off", 0, {"includeThoughts": False, "thinkingLevel": "LOW"}),
    ("gemini-2.5-flash-lite", "high", 5, {"includeThoughts": True, "thinkingBudget": 512}),
    ("gemini-2.0-flash", "high", 0, None)])
def test_thinking_is_asked_for_as_each_family_takes_it(name, thinking, tokens, sent):
    with serve({"reply": [text("ok")]}) as server:
        talk(server, name).say("x", thinking=thinking, thinking_tokens=tokens, temperature=0.5,
                               top_p=0.9, top_k=40, max_output_tokens=60000)
        assert server.violations == []
        config = server.requests[0].body["generationConfig"]
    assert config.pop("thinkingConfig", None) == sent
    assert config == {"temperature": 0.5, "topP": 0.9, "topK": 40, "maxOutputTokens": 60000}


def test_tools_can_be_demanded_and_forbidden_and_the_answer_be_json():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    with serve(*[{"reply": [text("{}")]}] * 3) as server:
        conversation = talk(server)
        conversation.say("x", tools=[READ, LIST], tool_mode="any", allowed_tools=["list"])
        conversation.say("x", tools=[READ, LIST], tool_mode="none")
        conversation.say("x", answer_schema=schema)
        assert server.violations == []
        bodies = [request.body for request in server.requests]
    assert bodies[0]["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY", "allowedFunctionNames": ["list"]}
    assert bodies[1]["toolConfig"]["functionCallingConfig"] == {"mode": "NONE"}
    assert bodies[2]["generationConfig"]["responseJsonSchema"] == schema


def test_tools_of_the_server_bring_grounding():
    found = {"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}]}
    urls = {"urlMetadata": [{"retrievedUrl": "https://a"}]}
    step = {"reply": [text("It is so.")], "candidate": {"groundingMetadata": found,
                                                       "urlContextMetadata": urls}}
    with serve(step) as server:
        reply = talk(server).say("x", server_tools=["google_search", "url_context"])
        assert server.violations == []
        assert server.requests[0].body["tools"] == [{"googleSearch": {}}, {"urlContext": {}}]
        assert reply["grounding"] == dict(found, urlContextMetadata=urls)
        for request in ({"server_tools": ["nothing"]},
                        {"server_tools": ["google_search"], "tools": [READ]}):
            lines = run({"options": options(**opened(server)),
                         "request": dict(request, contents=[user(text("x"))])})
            assert last(lines)["error"] == "invalid_argument"
    assert len(server.requests) == 1


def test_pieces_are_told_as_they_come_and_usage_is_counted():
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "thoughtsTokenCount": 7,
             "candidatesTokenCount": 5, "toolUsePromptTokenCount": 3, "totalTokenCount": 115}
    with serve(dict(SCRIPT[0], usage=usage)) as server:
        conversation = talk(server)
        reply = conversation.say("x", tools=[READ, LIST])
    assert [line["text"] for line in events(conversation.lines, "text")] == ["I ", "look."]
    assert events(conversation.lines, "thought")[0]["subject"] == "Plan"
    assert len(events(conversation.lines, "call")) == 2
    assert len(events(conversation.lines, "usage")) == 1  # the same one is not told again
    assert reply["usage"] == {"input": 100, "cached": 60, "cache_written": 0, "output": 5,
                              "thoughts": 7, "tool": 3, "total": 115}


def test_calls_without_ids_get_some():
    with serve({"reply": [call("list"), call("list")]}, ids=False) as server:
        conversation = talk(server)
        conversation.say("x", tools=[LIST])
    ids = {one["id"] for one in conversation.calls()}
    assert len(ids) == 2 and all(len(one) > 10 for one in ids)


def test_a_prefix_stays_the_same_from_turn_to_turn():
    # What implicit caching needs: each request begins with the bytes of the one before.
    with serve(*[{"reply": [text("a")]}] * 3) as server:
        conversation = talk(server)
        for _ in range(3):
            conversation.say("x", system="S", tools=[READ])
        bodies = [request.raw.decode() for request in server.requests]
    for before, after in zip(bodies, bodies[1:]):
        contents = before[:before.index('],"systemInstruction"')]
        assert after.startswith(contents)
        assert before[before.index('"systemInstruction"'):] == \
            after[after.index('"systemInstruction"'):]


# ---- addresses and keys -------------------------------------------------------------------------

def test_keys_go_where_they_are_wanted():
    headers = {"X-Team": "a b", "User-Agent": "hasp/mine"}
    with FakeServer(fake_gemini.Provider(bearer=True, headers=headers), [{"reply": [text("a")]}]
                    ) as server:
        talk(server, bearer=True, headers=["X-Team: a b", "user-agent: hasp/mine"]).say("x")
        assert server.violations == []


def test_vertex_has_project_and_place_in_its_address():
    with serve({"reply": [text("a")]}) as server:
        base = server.url + "/v1beta1/projects/p-1/locations/europe-west4/"
        talk(server, base_url=base, vertex=True).say("x")
        assert server.violations == []
        assert [request.path for request in server.requests] == [
            "/v1beta1/projects/p-1/locations/europe-west4/publishers/google/models/%s:streamGenerateContent" % NEW]


@pytest.mark.parametrize("bad", [
    {"base_url": "file:///x"}, {"base_url": "http://"}, {"base_url": "http://a/?k=v"},
    {"api_key": "a\r\nX-Evil: 1"}, {"headers": ["X-Evil: a\r\nb: c"]}, {"headers": ["nothing"]},
    {"provider": "nobody"}, {"name": ""}, {"name": "a\nb"}])
def test_options_that_cannot_be_are_refused(bad):
    with serve() as server:
        line = last(run({"options": options(**opened(server, **bad)),
                         "request": {"contents": [user(text("x"))]}}))
    assert line["error"] == "invalid_argument" and server.requests == []
    assert "Evil" not in line["message"]


def test_a_name_does_not_leave_its_place_in_the_address():
    with serve() as server:
        failure(server, name="../../x?y#z")
    assert server.requests[0].path == "/v1beta/models/..%2F..%2Fx%3Fy%23z:streamGenerateContent"


def test_keys_are_in_no_error_and_no_trace():
    echo = ("Bad key %s, header %s" % (KEY, "hidden-header-value")).encode()
    for step in ({"status": 401, "error": echo.decode()}, {"status": 500, "error": echo},
                 {"status": 200, "reply": b"data: {\"error\": {\"code\": 400, \"message\": \"" +
                  echo + b"\"}}\n\n"}):
        with FakeServer(fake_gemini.Provider(key=KEY), [step] * 3) as server:
            lines = run({"options": options(**opened(
                server, api_key=KEY, headers=["X-Extra: hidden-header-value"])),
                "request": {"contents": [user(text("x"))]}})
        assert "error" in last(lines) and any("trace" in line for line in lines)
        assert KEY not in str(lines) and "hidden-header" not in str(lines)


def test_a_wrong_key_is_told_from_other_errors():
    with FakeServer(fake_gemini.Provider(key="other"), []) as server:
        code, message, count = failure(server)
    assert code == "authentication_failed" and count == 1
    assert message.startswith("gemini/%s: HTTP 400: API key not valid" % NEW)


# ---- trouble ------------------------------------------------------------------------------------

def detail(kind, **members):
    return dict({"@type": "type.googleapis.com/google.rpc." + kind}, **members)


def test_overload_is_waited_for_and_pieces_are_taken_back():
    with serve({"status": 503}, {"status": 429}, {"reply": [text("ok")]}) as server:
        conversation = talk(server)
        reply = conversation.say("x")
    again = events(conversation.lines, "restart")
    assert reply["attempts"] == 3 and [line["attempt"] for line in again] == [2, 3]
    assert "HTTP 503" in again[0]["text"] and server.violations == []


def test_there_is_an_end_to_asking():
    with serve(*[{"status": 503}] * 9) as server:
        code, message, count = failure(server, max_attempts=4)
    assert (code, count) == ("overloaded", 4) and "asked 4 times" in message


def test_a_delay_of_nothing_does_not_remove_the_back_off():
    with serve(*[{"status": 503, "headers": {"retry-after": "0"}}] * 4, {"reply": [text("ok")]}) as server:
        conversation = talk(server, max_attempts=9, first_delay_ms=200)
        assert texts(conversation.say("x")) == "ok"
    waited = [line["delay_ms"] for line in events(conversation.lines, "restart")]
    # A tenth of 200, 400, 800, 1,200 ms, less at most 30 %.
    assert all(ms >= least for ms, least in zip(waited, (14, 28, 56, 84), strict=True)), waited


@pytest.mark.parametrize("value, least, most", [
    ("0.05", 50, 61), ("-5", 140, 261), ("Mon, 01 Jan 2001 00:00:00 GMT", 14, 27), ("nonsense", 140, 261)])
def test_odd_delays_are_read(value, least, most):
    with serve({"status": 503, "headers": {"retry-after": value}}, {"reply": [text("ok")]}) as server:
        conversation = talk(server, max_attempts=9, first_delay_ms=200)
        conversation.say("x")
    (told,) = events(conversation.lines, "restart")
    assert least <= told["delay_ms"] <= most


@pytest.mark.parametrize("value", ["9" * 50, "9" * 90, "86400"])
def test_endless_delays_are_not_waited_for(value):
    with serve({"status": 503, "headers": {"retry-after": value}}, {"reply": [text("ok")]}) as server:
        code, _, count = failure(server, max_attempts=2, first_delay_ms=1)
    assert (code, count) == ("quota_exceeded", 1)


def test_a_delay_in_milliseconds_and_one_in_the_middle_of_a_stream_are_kept():
    slow = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow.", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.25s"}]}}
    middle = {"candidates": [{"content": {"parts": [text("a")]}}]}
    with serve({"status": 503, "headers": {"retry-after-ms": "30"}},
               {"reply": {"chunks": [middle, slow]}}, {"reply": [text("ok")]}) as server:
        conversation = talk(server, max_attempts=9, first_delay_ms=1)
        conversation.say("x")
    first, second = [line["delay_ms"] for line in events(conversation.lines, "restart")]
    assert 30 <= first <= 37 and 250 <= second <= 301


@pytest.mark.parametrize("step, least_ms", [
    ({"status": 429, "details": [detail("RetryInfo", retryDelay="0.3s")]}, 300),
    ({"status": 503, "details": [detail("RetryInfo", retryDelay="300ms")]}, 300),
    ({"status": 429, "headers": {"retry-after": "0.3"}}, 300),
    ({"status": 429, "error": "Slow down. Please retry in 0.3s."}, 300)])
def test_delays_that_servers_name_are_kept(step, least_ms):
    with serve(step, {"reply": [text("ok")]}) as server:
        conversation = talk(server)
        conversation.say("x")
    delay = events(conversation.lines, "restart")[0]["delay_ms"]
    assert least_ms <= delay <= least_ms * 1.2


@pytest.mark.parametrize("step", [
    {"status": 429, "details": [detail("QuotaFailure", violations=[
        {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}])]},
    {"status": 429, "details": [detail("ErrorInfo", reason="QUOTA_EXHAUSTED")]},
    {"status": 429, "error": "Quota exceeded, limit: 0, model: x"},
    {"status": 429, "details": [detail("RetryInfo", retryDelay="4000s")]},
    {"status": 429, "headers": {"retry-after": "86400"}}])
def test_a_quota_that_is_used_up_is_not_waited_for(step):
    with serve(step) as server:
        code, _, count = failure(server)
    assert (code, count) == ("quota_exceeded", 1)


def test_another_model_answers_when_the_quota_is_used_up():
    quota = {"status": 429, "details": [detail("ErrorInfo", reason="QUOTA_EXHAUSTED")]}
    with serve(quota, {"reply": [text("ok")]}, {"reply": [text("ok")]}) as server:
        conversation = talk(server, fallbacks=[options(**opened(server, OLD))])
        reply = conversation.say("x")
        switched = events(conversation.lines, "switched")
        assert [line["text"] for line in switched] == ["gemini/" + OLD]
        assert "HTTP 429" in switched[0]["subject"]
        again = last(run({"request": {"contents": [user(text("y"))]}}))
        assert server.violations == []
    assert reply["model"] == again["reply"]["model"] == "gemini/" + OLD  # and stays


def answers_over_time(server, *seconds):
    """(who answers, what is said of that) for the first request and for others so much later each."""
    request = {"contents": [user(text("x"))]}
    lines = run({"options": options(**opened(server, fallbacks=[options(**opened(server, OLD))])),
                 "request": request}, *({"request": request, "advance_s": one} for one in seconds))
    said, found = [], []
    for line in lines:
        said += [line] if line.get("event") == "switched" else []
        if "reply" in line:
            found.append((line["reply"]["model"].partition("/")[2], said))
            said = []
    assert server.violations == []
    return found


EXHAUSTED = {"status": 429, "details": [detail("ErrorInfo", reason="QUOTA_EXHAUSTED")]}
RESET = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m5s"}


@pytest.mark.parametrize("step, rest", [
    ([EXHAUSTED], 3600),
    ([dict(EXHAUSTED, headers={"retry-after": "86400"})], 86400),
    ([{"status": 429, "headers": {"retry-after": "1000"}}], 1000),
    ([{"status": 429, "details": [detail("RetryInfo", retryDelay="4000s")]}], 4000),
    ([{"status": 429, "headers": RESET}], 365),
    ([dict(EXHAUSTED, headers={"retry-after": "1"})], 60),
    ([{"status": 503}] * 3, 300)])
def test_the_first_model_is_back_when_its_time_is_over(step, rest):
    before = time.time()
    with serve(*step, *[{"reply": [text("ok")]}] * 4) as server:
        first, second, third, fourth = answers_over_time(server, rest - 1, 1, 0)
    assert [one[0] for one in (first, second, third, fourth)] == [OLD, OLD, NEW, NEW]
    assert second[1] == fourth[1] == []
    (left,), (back,) = first[1], third[1]
    assert left["from"] == "gemini/" + NEW and rest - 2 <= left["until"] - before < rest + 60
    assert " Continuing with gemini/%s until " % OLD in left["sentence"]
    assert left["sentence"].endswith(", when gemini/%s is tried again." % NEW)
    assert "until" not in back and back["sentence"] == "Continuing with gemini/%s again, after gemini/%s." % (NEW, OLD)


@pytest.mark.parametrize("zone, ahead, rests", [("Z", 5000, 5000), (".25Z", 5000, 5000), ("+02:00", 5000, 5000),
                                                ("-05:30", 5000, 5000), ("Z", 10 ** 10, 31 * 86400)])
def test_a_moment_of_a_reset_is_one_in_its_zone(zone, ahead, rests):
    """A moment in centuries counts as a month."""
    shift = 60 * (int(zone[:3]) * 60 + int(zone[0] + zone[4:])) if zone[0] in "+-" else 0
    now = time.time()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now + ahead + shift)) + zone
    step = {"status": 429, "headers": {"x-ratelimit-remaining": "0", "x-ratelimit-reset": moment}}
    with serve(step, {"reply": [text("ok")]}) as server:
        ((model, (left,)),) = answers_over_time(server)
    assert model == OLD and -2 < left["until"] - now - rests < 60


def test_a_reset_that_is_over_is_waited_for_no_longer():
    step = {"status": 429, "headers": {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2020-01-01T00:00:00Z"}}
    with serve(step, {"reply": [text("ok")]}) as server:
        assert answers_over_time(server) == [(NEW, [])]


def test_a_model_that_is_still_exhausted_rests_again():
    with serve(EXHAUSTED, {"reply": [text("ok")]}, EXHAUSTED, *[{"reply": [text("ok")]}] * 2) as server:
        first, second, third = answers_over_time(server, 3600, 10)
    assert [one[0] for one in (first, second, third)] == [OLD] * 3
    assert [len(one[1]) for one in (first, second, third)] == [1, 2, 0]


def test_overload_is_left_too_when_there_is_another_model():
    with serve(*[{"status": 503}] * 3, {"reply": [text("ok")]}) as server:
        conversation = talk(server, max_attempts=10, fallbacks=[options(**opened(server, OLD))])
        assert conversation.say("x")["model"] == "gemini/" + OLD


def test_streams_that_break_are_asked_for_again():
    with serve({"reply": [text("one "), text("two")], "break_after": 150, "pace": 0.02},
               {"reply": [text("one "), text("two")]}) as server:
        conversation = talk(server, max_attempts=9)
        reply = conversation.say("x")
    kinds = [line["event"] for line in conversation.lines if "event" in line]
    assert texts(reply) == "one two" and reply["attempts"] == 2
    assert kinds.index("restart") < len(kinds) - 1 - kinds[::-1].index("text")


BROKEN = {
    "cut": {"reply": [text("one")], "break_after": 20},
    "no finish reason": {"reply": [text("one")], "finish": None},
    "a call and no finish reason": {"reply": [call("list")], "finish": None},
    "no JSON": {"reply": b"data: {\"candidates\": [\n\n"},
    "no object": {"reply": b"data: []\n\n"},
    "empty": {"reply": []},
    "nothing": {"reply": b""},
    "blanks": {"reply": [text("\n ")]},
    "only thoughts": {"reply": [thought("Hm")]},
    "malformed call": {"reply": [], "finish": "MALFORMED_FUNCTION_CALL"},
    "unexpected call": {"reply": [call("x")], "finish": "UNEXPECTED_TOOL_CALL"},
    "a call without a name": {"reply": [{"functionCall": {"args": {}}}]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_replies_of_no_use_are_asked_for_three_times_more(name):
    with serve(*[BROKEN[name]] * 9) as server:
        code, _, count = failure(server, max_attempts=9)
    # What cannot be read is asked for once more: a server that prints it so does it again.
    times = 2 if name in ("no JSON", "no object") else 4
    assert code == ("network_error" if name == "cut" else "model_error") and count == times
    # The last tries are nudged where nothing was said; others are asked the same again.
    asked = [request.body["contents"][-1]["parts"][-1]["text"] for request in server.requests]
    empty = name in ("empty", "blanks", "only thoughts")
    assert asked == (["x", "x"] + (["Please continue."] * 2 if empty else ["x"] * 2))[:times]


@pytest.mark.parametrize("chunk, word", [
    ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT"),
    ({"candidates": [{"finishReason": "SAFETY"}]}, "SAFETY"),
    ({"candidates": [{"finishReason": "RECITATION"}]}, "RECITATION")])
def test_what_is_blocked_is_not_asked_for_again(chunk, word):
    with serve({"reply": {"chunks": [chunk]}}) as server:
        code, message, count = failure(server)
    assert (code, count) == ("model_error", 1) and word in message


def test_a_reply_that_is_cut_short_says_so():
    with serve({"reply": [text("one")], "finish": "MAX_TOKENS"},
               {"reply": [thought("one")], "finish": "MAX_TOKENS"}) as server:
        assert talk(server).say("x")["finish"] == "length"
        assert failure(server)[0] == "model_error"


def test_an_error_in_the_middle_is_classed_as_one_at_the_start():
    def middle(code):
        chunk = {"error": {"code": code, "message": "Sorry."}}
        return {"reply": {"chunks": [{"candidates": [{"content": {"parts": [text("a")]}}]}, chunk]}}
    with serve(middle(503), {"reply": [text("ok")]}) as server:
        assert talk(server).say("x")["attempts"] == 2
    with serve(middle(400)) as server:
        assert failure(server)[0::2] == ("invalid_argument", 1)


@pytest.mark.parametrize("step, code", [
    ({"status": 400, "error": "The input token count (2000000) exceeds the maximum number of "
                              "tokens allowed (1048576)."}, "context_too_large"),
    ({"status": 413}, "context_too_large"), ({"status": 403}, "authentication_failed"),
    ({"status": 404}, "invalid_argument"), ({"status": 302}, "invalid_argument"),
    ({"status": 400, "error": b"<html>\x1b[31mno\x07"}, "invalid_argument")])
def test_errors_that_stay_are_told_at_once(step, code):
    with serve(dict(step, headers=step.get("headers", {"location": "http://127.0.0.1:1/"}))
               ) as server:
        got, message, count = failure(server)
    assert (got, count) == (code, 1)
    assert "\x1b" not in message and "\n" not in message


def test_text_of_an_error_is_cleaned():
    with serve({"status": 400, "error": "a\x1b[31m\x9b\nb" + "ä" * 2000}) as server:
        message = failure(server)[1]
    assert "HTTP 400: a [31m bää" in message and len(message) < 400 and message.endswith("...")


def test_nobody_there_is_tried_and_told():
    with serve() as server:
        pass
    code, message, _ = failure(server, max_attempts=3)
    assert code == "network_error" and "Cannot connect to 127.0.0.1" in message
    assert "asked 3 times" in message
    code, message, _ = failure(server, no_network_retries=True)
    assert code == "network_error" and "asked" not in message


def test_cancelling_ends_an_answer_and_a_wait_at_once():
    with serve({"reply": [text("a"), text("b")], "pace": 3000},
               {"status": 503, "headers": {"retry-after": "60"}}) as server:
        for _ in range(2):
            lines = run({"options": options(**opened(server)), "cancel_after_ms": 200,
                         "request": {"contents": [user(text("x"))]}})
            assert last(lines)["error"] == "cancelled"


def test_a_caller_that_has_heard_enough_gets_what_there_is():
    with serve({"reply": [text("one "), text("two "), text("three")], "pace": 0.2},
               {"reply": [text("ok")]}) as server:
        job = {"options": options(**opened(server)), "request": {"contents": [user(text("x"))]}}
        lines = run(dict(job, enough_after=2))
        assert [line["text"] for line in events(lines, "text")] == ["one ", "two "]
        reply = last(lines)["reply"]
        assert texts(reply) == "one two " and reply["finish_text"] == "enough"
        assert texts(last(run(job))["reply"]) == "ok" and server.violations == []


def test_the_fake_does_a_job_by_itself(tmp_path):
    edit = {"name": "replace", "description": "Edits.", "parameters": {
        "type": "object", "properties": {name: {"type": "string"} for name in (
            "file_path", "old_string", "new_string")}}}
    read = {"name": "read_file", "description": "Reads.", "parameters": {
        "type": "object", "properties": {"file_path": {"type": "string"}}}}
    fake = subprocess.Popen([sys.executable, fake_gemini.__file__, "--answer-by", "auto",
                             "--port-file", tmp_path / "port", "--log", tmp_path / "log"])
    try:
        while not (tmp_path / "port").exists():
            time.sleep(0.01)
        conversation = Talk(provider="gemini", name=NEW, base_url="http://127.0.0.1:%s/v1beta"
                            % (tmp_path / "port").read_text().strip())
        conversation.say("Change it.", tools=[read, edit])
        conversation.answer({"response": {"content": "beta"}}, tools=[read, edit])
        assert conversation.calls()[0]["args"] == {"file_path": "file.txt", "old_string": "beta",
                                                   "new_string": "BETA"}
        assert texts(conversation.answer({"response": {}}, tools=[read, edit])) == "Done."
    finally:
        fake.kill()
        fake.wait()
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(log) == 3 and all(line["violations"] == [] for line in log)


def test_answers_without_an_end_have_one():
    chunk = json.dumps({"candidates": [{"content": {"parts": [text("x" * 65536)]}}]}).encode()
    with serve({"reply": (b"data: " + chunk + b"\n\n") * 600, "length": True}) as server:
        code, message, count = failure(server)
    assert (code, count) == ("model_error", 1) and "too large" in message
