# SPDX-License-Identifier: Apache-2.0
"""Anthropic's Messages API, as strict as the real one.

Replies are lists of parts: text("..."), thought("..."), redacted(), call("name", {...}).  Thoughts
are signed; what was signed has to come back byte for byte and where it stood, and nothing before it
may have changed (prefix.py).  Provider(append_only=True): nor in requests without thoughts.

As a program: python3 fake_anthropic.py --port-file F (--script FILE.json | --answer-by auto)
[--lenient], the last for other programs than hasp: nothing is checked.
"""
import json
import re
import sys

import fake_server
import schema_rules
from fake_openai import as_json, event, halves
from prefix import Appended, Bound
from strict import (BOOL, INTEGER, LIST, OBJECT, TEXT, Rule, base64_text, between, by_type, closed,
                    each, image_faults, is_, matching, may, members, thing)

NAME = matching(r"[a-zA-Z0-9_-]{1,128}")
ID = matching(r"[a-zA-Z0-9_-]+")
CACHE = may(thing(type=is_("ephemeral"), ttl=may(is_("5m", "1h"))))
# "Create a Message", metadata.user_id: at most 256 characters.
USER_ID = matching(r".{1,256}")
BREAKPOINTS = 4
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def text(value):
    return {"text": value}


def thought(value):
    return {"text": value, "thought": True}


def redacted():
    return {"redacted": True}


def call(name, args=None):
    return {"call": name, "args": args or {}}


def said(value, at):
    return TEXT(value, at) or ([] if value.strip() else [
        at + ": text content blocks must contain non-whitespace text"])


def schema_object(value, at):
    return schema_rules.anthropic(value, at)


def answer_schema(value, at):
    found = closed(value, at)
    unknown = {"minLength", "maxLength", "minimum", "maximum", "pattern", "maxItems"}
    return found + ["%s: %s is not supported" % (at, name)
                    for name in unknown if '"%s"' % name in json.dumps(value)]


def base64_source(*types):
    return thing(type=is_("base64"), media_type=is_(*types), data=Rule(base64_text))


TEXT_BLOCK = {"text": Rule(said), "cache_control": CACHE}
IMAGE_BLOCK = {"source": base64_source(*PICTURES), "cache_control": CACHE}
DOCUMENT_BLOCK = {"source": base64_source("application/pdf"), "cache_control": CACHE}
USER_BLOCK = by_type({
    "text": TEXT_BLOCK, "image": IMAGE_BLOCK, "document": DOCUMENT_BLOCK,
    "tool_result": {"tool_use_id": ID, "is_error": may(BOOL), "cache_control": CACHE,
                    "content": each(by_type({"text": TEXT_BLOCK, "image": IMAGE_BLOCK,
                                             "document": DOCUMENT_BLOCK,
                                             "tool_reference": {"tool_name": NAME}}))},
})
ASSISTANT_BLOCK = by_type({
    "text": TEXT_BLOCK,
    "thinking": {"thinking": TEXT, "signature": TEXT},
    "redacted_thinking": {"data": TEXT},
    "tool_use": {"id": ID, "name": NAME, "input": OBJECT, "cache_control": CACHE},
    "server_tool_use": {"id": ID, "name": NAME, "input": OBJECT},
    "web_search_tool_result": {"tool_use_id": ID, "content": LIST},
})
THINKING = by_type({
    "enabled": {"budget_tokens": between(1024, 10 ** 6)},
    "adaptive": {"display": may(is_("summarized", "omitted"))},
    "disabled": {}, "between_tools": {},
})


def tool(value, at):
    kind = value.get("type") if isinstance(value, dict) else None
    if kind is None:
        return members(value, at, {"name": NAME, "description": may(TEXT), "cache_control": CACHE,
                                   "input_schema": Rule(schema_object), "defer_loading": may(BOOL)})
    return by_type({"web_search_20250305": {"name": is_("web_search"), "cache_control": CACHE},
                    "web_fetch_20250910": {"name": is_("web_fetch"), "cache_control": CACHE}})(
                        value, at)


COUNTED = {
    "model": TEXT, "messages": LIST,
    "system": may(each(by_type({"text": TEXT_BLOCK}))),
    "tools": may(each(Rule(tool))),
    "tool_choice": may(by_type({"auto": {}, "any": {}, "none": {}, "tool": {"name": NAME}})),
    "thinking": may(THINKING),
    "output_config": may(thing(effort=may(is_("low", "medium", "high", "xhigh", "max")),
                               format=may(by_type({"json_schema": {
                                   "schema": Rule(answer_schema)}})))),
}
MESSAGES = dict(COUNTED, max_tokens=between(1, 128000), stream=is_(True),
                temperature=may(between(0, 1)), top_p=may(between(0, 1)), top_k=may(INTEGER),
                metadata=may(thing(user_id=USER_ID)))


def model_rules(body):
    """What this model does not take."""
    model, thinking = body.get("model", ""), body.get("thinking", {}).get("type")
    modern = re.match(r"claude-(?:fable|mythos|(?:opus|sonnet|haiku)-5|opus-4-[78])", model)
    always = re.match(r"claude-(?:fable|mythos|opus-5-5)", model)
    adaptive = modern or re.match(r"claude-(?:opus|sonnet)-4-6", model)
    if modern:
        yield from ("`%s` is not supported for this model" % name
                    for name in ("temperature", "top_p", "top_k") if name in body)
    if thinking == "enabled" and modern or thinking == "disabled" and always:
        yield '"thinking.type.%s" is not supported for this model.' % thinking
    if thinking == "adaptive" and not adaptive:
        yield "adaptive thinking is not supported on this model"
    if thinking == "between_tools" and not model.startswith("claude-sonnet-5-5"):
        yield '"thinking.type.between_tools" is not supported for this model.'
    if "effort" in body.get("output_config", {}) and not adaptive and "opus-4-5" not in model:
        yield "This model does not support the effort parameter."


def thinking_rules(body):
    thinking = body.get("thinking", {})
    if thinking.get("type") not in ("enabled", "adaptive"):
        return
    if thinking.get("budget_tokens", 0) >= body.get("max_tokens", 10 ** 9):
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            yield "`%s` may not be set when thinking is enabled" % name
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        yield "Thinking may not be enabled when tool_choice forces tool use."


def images(value):
    """(type, base64 text) of each anywhere in a value."""
    if isinstance(value, dict) and value.get("type") == "image":
        yield value["source"]["media_type"], value["source"]["data"]
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from images(child)


def marks(value):
    """How many cache breakpoints are anywhere in a value."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(marks, value.values()))
    return sum(map(marks, value)) if isinstance(value, list) else 0


class Provider:
    def __init__(self, key="test-key", bearer=False, vertex=False, lenient=False,
                 append_only=False):
        self.key, self.bearer, self.vertex, self.count = key, bearer, vertex, 0
        self.bound, self.appended = Bound(), Appended() if append_only else None
        self.lenient = lenient
        self.paused = None  # the types of the blocks of a reply that has stopped with pause_turn
        self.signed = {}   # signature or hidden data -> the block as sent
        self.sent = {}     # id of a call -> (name, input)
        self.turns = {}    # id of a call -> the thinking blocks of its message

    # -- requests --------------------------------------------------------------------------------

    def check(self, request):
        if self.lenient:
            return []
        found = list(self.check_head(request))
        if found or not isinstance(request.body, dict):
            return found or ["there is no body"]
        body = dict(request.body)
        if self.vertex:
            found += [] if body.pop("anthropic_version", None) == "vertex-2023-10-16" else [
                "anthropic_version: Field required"]
            if "model" in body:
                found.append("model: Extra inputs are not permitted")
            body["model"] = re.search(r"/models/([^:]+):", request.path).group(1)
        counted = request.path.endswith("/count_tokens")
        found += members(body, "body", COUNTED if counted else MESSAGES)
        if found:
            return found
        found += self.check_messages(body) or self.check_sent(body)
        # platform.claude.com/docs/en/build-with-claude/vision: 5 MB of base64, 8,000 pixels a side, 2,000
        # with more than 20 images; 100 images (models with 200,000 tokens). /docs/en/api/overview: 32 MB.
        found += image_faults(list(images(body["messages"])), PICTURES, 5 << 20, 8000, 20, 2000, 100)
        if len(request.raw) > 32 << 20:
            found.append("Request exceeds the maximum size")
        found += list(model_rules(body)) + list(thinking_rules(body)) + check_tools(body)
        found += list(loading_rules(body))
        if marks(body) > BREAKPOINTS:
            found.append("A maximum of 4 blocks with cache_control may be provided. Found %d."
                         % marks(body))
        found = found or self.bound.check(body)
        if self.appended and not found and not counted:
            found += self.appended.check(body)
        return found

    def check_head(self, request):
        headers, path = request.headers, request.path
        routes = r"/v1/projects/[\w-]+/locations/[\w-]+/publishers/anthropic/models/" \
                 r"[\w@.-]+:streamRawPredict" if self.vertex else r"/v1/messages(/count_tokens)?"
        if not re.fullmatch(routes, path) or request.method != "POST":
            yield "not_found: %s %s" % (request.method, path)
        if headers.get("content-type") != "application/json":
            yield "content-type is %r" % headers.get("content-type")
        version = headers.get("anthropic-version")
        if not self.vertex and version not in ("2023-06-01", "2026-10-21"):
            yield "anthropic-version: header is required"
        given = headers.get("x-api-key")
        if self.bearer or self.vertex or version == "2026-10-21":
            given = headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            yield "invalid x-api-key"
        if "x-api-key" in headers and "authorization" in headers:
            yield "both kinds of keys"
        for beta in filter(None, headers.get("anthropic-beta", "").split(",")):
            if beta != "interleaved-thinking-2025-05-14":
                yield "Unexpected value(s) `%s` for the `anthropic-beta` header" % beta

    def check_messages(self, body):
        found, waiting, role = [], [], None
        for i, message in enumerate(body["messages"]):
            at = "messages.%d" % i
            found += members(message, at, {"role": is_("user", "assistant"), "content": LIST})
            if found:
                return found
            if message["role"] == role:
                found.append(at + ": roles must alternate between \"user\" and \"assistant\"")
            role = message["role"]
            block = USER_BLOCK if role == "user" else ASSISTANT_BLOCK
            found += each(block)(message["content"], at + ".content")
            if not message["content"]:
                found.append(at + ": all messages must have non-empty content")
            if found:
                return found
            found += check_results(message["content"], waiting, at)
            waiting = [one["id"] for one in message["content"] if one["type"] == "tool_use"]
            if len(set(waiting)) != len(waiting):
                found.append(at + ": `tool_use` ids must be unique")
        if not body["messages"] or body["messages"][0]["role"] != "user":
            found.append("messages: first message must use the \"user\" role")
        if role != "user" and not self.is_paused(body["messages"][-1]["content"]):
            found.append("This model does not support assistant message prefill.")
        return found

    def is_paused(self, content):
        """A reply that stopped with pause_turn comes back as it was, block for block."""
        return bool(content) and [one["type"] for one in content] == self.paused

    def check_sent(self, body):
        """Signed thinking and calls as they were, and in their places."""
        found = []
        enabled = body.get("thinking", {}).get("type") == "enabled"
        for message in body["messages"]:
            blocks = message["content"]
            thoughts = [one for one in blocks if one["type"] in ("thinking", "redacted_thinking")]
            for one in thoughts:
                key = one.get("signature", one.get("data"))
                if self.signed.get(key) != one:
                    found.append("Invalid `signature` in `thinking` block")
            for one in blocks:
                if one["type"] != "tool_use" or one["id"] not in self.sent:
                    continue
                if self.sent[one["id"]] != (one["name"], one["input"]):
                    found.append("the call %s has changed" % one["id"])
                # All of a message may be left out; what is between others is missed (prefix.py).
                if thoughts and self.turns[one["id"]] != thoughts:
                    found.append("`thinking` blocks in the assistant message cannot be modified: "
                                 "they must remain as they were")
        last = [one["content"] for one in body["messages"] if one["role"] == "assistant"][-1:]
        for blocks in last if enabled else []:
            calls = any(one["type"] == "tool_use" for one in blocks)
            if calls and blocks[0]["type"] not in ("thinking", "redacted_thinking"):
                found.append("Expected `thinking` or `redacted_thinking`, but found `%s`."
                             % blocks[0]["type"])
        return found

    # -- answers ---------------------------------------------------------------------------------

    def special(self, request):
        if request.path.endswith("/count_tokens"):
            return {"reply": {"count": max(1, len(request.raw) // 4)}}
        if self.lenient and not (request.path.endswith("/messages") and request.body):
            return {"status": 404, "error": "Not found"}
        return None

    def encode(self, request, step):
        reply = step.get("reply", [])
        if isinstance(reply, dict) and "count" in reply:
            return "application/json", [json.dumps({"input_tokens": reply["count"]}).encode()]
        if isinstance(reply, dict):
            self.note_pause(request, reply["chunks"])
            return "text/event-stream", [event(one, one.get("type")) for one in reply["chunks"]]
        if not request.body.get("stream"):  # lenient
            return "application/json", [json.dumps(whole(self.events(request, reply, step)))
                                        .encode()]
        return "text/event-stream", [event(one, one["type"])
                                     for one in self.events(request, reply, step)]

    def note_pause(self, request, chunks):
        """What has to come back, with what came back already, if the reply stops with pause_turn."""
        blocks = [one["content_block"]["type"] for one in chunks if one["type"] == "content_block_start"]
        last = request.body["messages"][-1]
        before = [one["type"] for one in last["content"]] if last["role"] == "assistant" else []
        pauses = any(one.get("delta", {}).get("stop_reason") == "pause_turn" for one in chunks)
        self.paused = before + blocks if pauses else None

    def events(self, request, reply, step):
        self.count += 1
        usage = {"input_tokens": 12, "output_tokens": 1, "cache_creation_input_tokens": 3,
                 "cache_read_input_tokens": 4}
        model = request.body.get("model", "claude-vertex")
        yield {"type": "message_start", "message": {
            "id": "msg_%d" % self.count, "type": "message", "role": "assistant", "content": [],
            "model": model, "stop_reason": None, "stop_sequence": None, "usage": usage}}
        yield {"type": "ping"}
        thoughts, calls = [], []
        for index, part in enumerate(reply):
            if part.get("thought") or part.get("redacted"):
                thoughts.append(self.sign(part))
                yield from thought_events(index, thoughts[-1])
            elif "call" in part:
                self.count += 1
                assert part["call"] not in deferred(request.body) or \
                    part["call"] in referred(request.body), part["call"] + " was not loaded"
                calls.append("toolu_%d" % self.count)
                self.sent[calls[-1]] = part["call"], part.get("args", {})
                yield from call_events(index, calls[-1], part)
            else:
                yield from text_events(index, part["text"])
        self.bound.made(request.body, thoughts)
        for given in calls:
            self.turns[given] = thoughts
        yield {"type": "message_delta", "delta": {
            "stop_reason": step.get("finish", "tool_use" if calls else "end_turn"),
            "stop_sequence": None}, "usage": dict({"output_tokens": 7}, **step.get("usage", {}))}
        yield {"type": "message_stop"}

    def sign(self, part):
        self.count += 1
        if part.get("redacted"):
            block = {"type": "redacted_thinking", "data": "hidden %d==" % self.count}
        else:
            block = {"type": "thinking", "thinking": part["text"],
                     "signature": "signature %d/+==" % self.count}
        self.signed[block.get("signature", block.get("data"))] = block
        return block

    @staticmethod
    def error(_request, status, message, details=None):
        kinds = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
                 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
                 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
        error = dict({"type": kinds.get(status, "api_error"), "message": message},
                     **(details or {}))
        return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()

    # -- for EditJob -----------------------------------------------------------------------------

    @staticmethod
    def tool_names(request):
        return {one["name"]: one.get("input_schema", {}) for one in request.body.get("tools", [])}

    @staticmethod
    def tool_results(request):
        blocks = [block for message in request.body["messages"]
                  if isinstance(message["content"], list) for block in message["content"]]
        results = [block.get("content", "") for block in blocks if block["type"] == "tool_result"]
        return [as_json(one if isinstance(one, str) else one[0].get("text")) for one in results]


def check_results(blocks, waiting, at):
    """Each call is answered in the next message, before anything else that is said there."""
    found = []
    results = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
    missing = [one for one in waiting if one not in results]
    if missing:
        found.append("%s: `tool_use` ids were found without `tool_result` blocks immediately "
                     "after: %s" % (at, ", ".join(missing)))
    for one in results:
        if one not in waiting:
            found.append(at + ": unexpected `tool_use_id` found in `tool_result` blocks: " + one)
    kinds = [one["type"] == "tool_result" for one in blocks]
    if kinds != sorted(kinds, reverse=True):
        found.append(at + ": `tool_result` blocks come first")
    return found


def check_tools(body):
    names = [one["name"] for one in body.get("tools", [])]
    choice = body.get("tool_choice")
    found = ["tools: Tool names must be unique."] if len(set(names)) != len(names) else []
    if choice and not names:
        found.append("tool_choice may only be specified while providing tools.")
    if choice and choice["type"] == "tool" and choice["name"] not in names:
        found.append("Tool '%s' not found in provided tools" % choice["name"])
    return found


def deferred(body):
    return {one["name"] for one in body.get("tools", []) if one.get("defer_loading")}


def reference_lists(body):
    """The types and names of each result that has a reference."""
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            content = block.get("content") if block["type"] == "tool_result" else None
            kinds = [one["type"] for one in content] if isinstance(content, list) else []
            if "tool_reference" in kinds:
                yield kinds, [one.get("tool_name") for one in content]


def referred(body):
    return {name for _, names in reference_lists(body) for name in names}


def loading_rules(body):
    """platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool: which models have it, its
    errors, and that a search of the client's own returns references."""
    tools, later = body.get("tools", []), deferred(body)
    able = r"claude-(?:fable|mythos|(?:opus|sonnet|haiku)-5|opus-4-[5-8]|sonnet-4-[56]|haiku-4-5)"
    if (later or referred(body)) and not re.match(able, body.get("model", "")):
        yield "tools: defer_loading is not supported for this model"
    if later and len(later) == len(tools):
        yield "At least one tool must have defer_loading=false. All tools cannot be deferred."
    for one in tools:
        if one.get("defer_loading") and "cache_control" in one:
            yield ("Tool '%s' cannot have both defer_loading=true and cache_control set. Tools with "
                   "defer_loading cannot use prompt caching." % one["name"])
    for name in referred(body) - later:
        yield "Tool reference '%s' not found in available tools" % name
    for kinds, names in reference_lists(body):
        if set(kinds) != {"tool_reference"} or len(set(names)) != len(names):
            yield "tool_reference blocks stand alone in a tool_result, each once"


def block_events(index, start, deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def text_events(index, value):
    return block_events(index, {"type": "text", "text": ""},
                        [{"type": "text_delta", "text": piece} for piece in halves(value)])


def thought_events(index, block):
    if block["type"] == "redacted_thinking":
        return block_events(index, block, [])
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])]
    return block_events(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas + [
        {"type": "signature_delta", "signature": block["signature"]}])


def call_events(index, given, part):
    return block_events(index, {"type": "tool_use", "id": given, "name": part["call"], "input": {}},
                        [{"type": "input_json_delta", "partial_json": piece}
                         for piece in ["", *halves(json.dumps(part.get("args", {})))]])


def whole(events):
    """The message that events make."""
    events = list(events)
    message, blocks = events[0]["message"], {}
    for one in events:
        if one["type"] == "content_block_start":
            blocks[one["index"]] = dict(one["content_block"])
        elif one["type"] == "content_block_delta":
            for name, value in one["delta"].items():
                into = blocks[one["index"]]
                if name in ("text", "thinking", "signature", "partial_json"):
                    into[name] = into.get(name, "") + value
        elif one["type"] == "message_delta":
            message.update(one["delta"])
    for block in blocks.values():
        if "partial_json" in block:
            block["input"] = json.loads(block.pop("partial_json"))
    return dict(message, content=list(blocks.values()))


if __name__ == "__main__":
    LENIENT = "--lenient" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--lenient"]
    fake_server.main(Provider(lenient=LENIENT))
