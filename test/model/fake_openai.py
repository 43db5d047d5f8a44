# SPDX-License-Identifier: Apache-2.0
"""OpenAI's two formats, as strict as api.openai.com: chat completions and Responses.

Replies are lists of parts: text("..."), thought("..."), call("name", {...}), refusal("...").
Provider(flavour=...) is one of those who speak chat completions in their own way:

    "openai"      the strict one
    "deepseek"    thoughts as reasoning_content, which have to come back with calls
    "openrouter"  thoughts as reasoning_details, which have to come back as they were
    "own"         a server of one's own: whole calls without ids, and tolerant

What was sent is remembered: arguments of calls, encrypted reasoning and details have to come back
byte for byte.  Provider(append_only=True): each request begins with the one before it (prefix.py).

As a program: python3 fake_openai.py --port-file F (--script FILE.json | --answer-by auto)
[--lenient], the last for other programs than hasp: nothing is checked.
"""
import json
import re
import sys

import fake_server
import schema_rules
from prefix import Appended
from strict import (BOOL, INTEGER, LIST, NUMBER, OBJECT, TEXT, Rule, between, by_type, closed,
                    data_url, each, is_, json_object, matching, may, members, thing)

NAME = matching(r"[a-zA-Z0-9_-]{1,64}")
# API reference, "Create a model response": at most 64 characters; a longer one is string_above_max_length.
CACHE_KEY = matching(r".{1,64}")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def text(value):
    return {"text": value}


def thought(value):
    return {"text": value, "thought": True}


def call(name, args=None):
    return {"call": name, "args": args or {}}


# The "call" of a tool_search that its caller makes.
SEARCH = "tool_search"


def search(args=None):
    return call(SEARCH, args)


def has_search(body):
    return any(tool["type"] == "tool_search" for tool in body.get("tools", []))


def callable_names(body):
    """What is declared at the beginning, and what searches found since."""
    found = [tool for item in body["input"] if item["type"] == "tool_search_output"
             for tool in item["tools"]]
    return {tool["name"] for tool in body.get("tools", []) + found if tool["type"] in ("function", "custom")}


def custom_names(body):
    """Tools of free text (developers.openai.com/api/docs/guides/function-calling, "Custom tools")."""
    return [tool["name"] for tool in body.get("tools", []) if tool["type"] == "custom"]


def takes_custom(model):
    return bool(re.match(r"gpt-(5|6)(?!-chat)", model))


def grammar(value, at):
    """What api.openai.com refuses in a grammar of Lark: no start, rules without a definition."""
    found = TEXT(value, at)
    if found:
        return found
    bare = re.sub(r'"(?:\\.|[^"\\])*"|/(?:\\.|[^/\\])*/|//.*', " ", value)
    rules = dict(re.findall(r"^([a-z_]+)\s*:(.*)$", bare, re.M))
    terminals = set(re.findall(r"^%import [\w.]+\.([A-Z]+)$", value, re.M)) | set(
        re.findall(r"^([A-Z_]+)\s*:", bare, re.M))
    used = {word for body in rules.values() for word in re.findall(r"\b[A-Za-z_]+\b", re.sub(r"->\s*\w+", "", body))}
    return ([] if "start" in rules else [at + " has no rule start"]) + [
        "%s: %s is not defined" % (at, word) for word in sorted(used - set(rules) - terminals)]


def refusal(value):
    return {"refusal": value}


def reasons(model):
    return bool(re.match(r"o\d|gpt-5(?!-chat)|codex", model))


def function_parameters(value, at):
    return schema_rules.openai(value, at)


def format_schema(value, at):
    found = members(value, at, {"name": NAME, "schema": OBJECT, "strict": may(BOOL),
                                "description": may(TEXT), "type": may(TEXT)})
    if not found and value.get("strict"):
        found += closed(value["schema"], at + ".schema", all_required=True)
    return found


# ---- chat completions ----------------------------------------------------------------------------

FUNCTION = thing(name=NAME, description=may(TEXT), parameters=may(Rule(function_parameters)),
                 strict=may(BOOL))
CHAT_TOOL = by_type({"function": {"function": FUNCTION}})
CHAT_PARTS = each(by_type({
    "text": {"text": TEXT},
    "image_url": {"image_url": thing(url=data_url(*IMAGES),
                                     detail=may(is_("auto", "low", "high")))},
    "file": {"file": thing(filename=TEXT, file_data=data_url("application/pdf"))},
    "input_audio": {"input_audio": thing(data=TEXT, format=is_("wav", "mp3"))},
}))
CALLS = each(thing(id=matching(r".{1,40}"), type=is_("function"),
                   function=thing(name=NAME, arguments=Rule(json_object))))


def said(value, at):
    if isinstance(value, str):
        return []
    return CHAT_PARTS(value, at) + ([] if value else [at + " is empty"])


def text_or_null(value, at):
    return [] if value is None else TEXT(value, at)


MESSAGES = {
    "system": {"content": TEXT},
    "developer": {"content": TEXT},
    "user": {"content": Rule(said)},
    "assistant": {"content": may(Rule(text_or_null)), "tool_calls": may(CALLS),
                  "refusal": may(TEXT)},
    "tool": {"content": TEXT, "tool_call_id": TEXT},
}
NAMED = {"function": {"function": thing(name=NAME)}}
CHOICE = by_type({"allowed_tools": {"allowed_tools": thing(
    mode=is_("auto", "required"), tools=each(by_type(NAMED)))}, **NAMED})
CHAT = {
    "model": TEXT, "messages": LIST, "stream": is_(True),
    "stream_options": thing(include_usage=BOOL),
    "tools": may(each(CHAT_TOOL)),
    "tool_choice": may(Rule(lambda value, at: [] if value in ("none", "auto", "required")
                            else CHOICE(value, at))),
    "temperature": may(between(0, 2)), "top_p": may(between(0, 1)),
    "max_completion_tokens": may(INTEGER), "prompt_cache_key": may(CACHE_KEY),
    "reasoning_effort": may(is_("none", "minimal", "low", "medium", "high", "xhigh")),
    "response_format": may(by_type({"json_schema": {"json_schema": Rule(format_schema)}})),
}
FLAVOURS = {
    "openai": (CHAT, {}),
    "deepseek": (dict({name: CHAT[name] for name in CHAT if name not in (
        "max_completion_tokens", "prompt_cache_key", "response_format")},
        max_tokens=may(INTEGER), response_format=may(by_type({"json_object": {}}))),
        {"reasoning_content": may(TEXT)}),
    "openrouter": (dict({name: CHAT[name] for name in CHAT if name != "prompt_cache_key"},
                        reasoning=may(thing(effort=TEXT)), max_tokens=may(INTEGER),
                        top_k=may(INTEGER)), {"reasoning_details": may(LIST)}),
    "own": (dict(CHAT, top_k=may(INTEGER), max_tokens=may(INTEGER)),
            {"reasoning_content": may(TEXT), "reasoning": may(TEXT)}),
}


def check_order(messages):
    """Each call is answered before anything else comes."""
    found, waiting = [], []
    for i, message in enumerate(messages):
        at = "messages[%d]" % i
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                found.append(at + ": messages with role 'tool' must be a response to a preceding "
                             "message with 'tool_calls'")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            found.append("An assistant message with 'tool_calls' must be followed by tool messages "
                         "responding to each 'tool_call_id': " + ", ".join(waiting))
        waiting = [one["id"] for one in message.get("tool_calls") or []]
        if len(set(waiting)) != len(waiting):
            found.append(at + ": ids of calls occur twice")
        if message["role"] == "assistant" and not message.get("content") and not waiting:
            # docs.mistral.ai/api, "Chat Completion": content or tool_calls, one of them at least.
            found.append(at + ": Assistant message must have either content or tool_calls, but not "
                         "none.")
        if message["role"] in ("system", "developer") and i:
            found.append(at + ": instructions come first")
    if waiting:
        found.append("calls are not answered: " + ", ".join(waiting))
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        found.append("the last message has to be the user's or a tool's")
    return found


def check_model(body, tools_with_effort=True):
    """What reasoning models refuse, and what the others do."""
    model, found = body["model"], []
    if reasons(model):
        found += ["Unsupported parameter: '%s' is not supported with this model" % name
                  for name in ("temperature", "top_p", "max_tokens") if name in body]
        newer = re.match(r"gpt-5\.(\d+)", model)
        if newer and int(newer.group(1)) >= 4 and tools_with_effort and body.get("tools") and \
                body.get("reasoning_effort") != "none":
            found.append("Function tools with reasoning_effort are not supported for %s in "
                         "/v1/chat/completions. Please use /v1/responses instead." % model)
    else:
        found += ["Unrecognized request argument supplied: " + name
                  for name in ("reasoning_effort", "reasoning", "include") if name in body]
        if any(message.get("role") == "developer" for message in body.get("messages", [])):
            found.append("the role developer is for reasoning models")
    return found


def check_choice(body, names):
    choice = body.get("tool_choice")
    if choice is not None and not names:
        return ["'tool_choice' is only allowed when 'tools' are specified"]
    if not isinstance(choice, dict):
        return []
    allowed = choice.get("allowed_tools", choice).get("tools", [])
    wanted = [one.get("function", one).get("name") for one in allowed]
    return ["the tool %r is not declared" % name for name in wanted if name not in names]


class Provider:
    def __init__(self, key="test-key", flavour="openai", lenient=False, append_only=False):
        self.key, self.flavour, self.count = key, flavour, 0
        self.appended = Appended() if append_only else None
        self.lenient = lenient
        self.sent = {}        # id of a call -> (name, arguments)
        self.free = set()     # ids of calls of free text
        self.thoughts = {}    # id of a call -> the thoughts before it
        self.details = []     # of OpenRouter, each as sent
        self.encrypted = {}   # id of a reasoning item -> the item

    # -- requests --------------------------------------------------------------------------------

    def check(self, request):
        if self.lenient:
            return []
        found = list(self.check_head(request))
        if found or request.body is None:
            return found or ["there is no body"]
        if request.path.endswith("/chat/completions"):
            found = self.check_chat(request.body)
        else:
            found = self.check_responses(request.body)
        if self.appended and not found:
            found = self.appended.check(request.body)
        return found

    def check_head(self, request):
        headers = request.headers
        if not re.fullmatch(r"(/api)?/v1/(chat/completions|responses)", request.path):
            yield "Invalid URL (%s %s)" % (request.method, request.path)
        if request.method != "POST" or request.query:
            yield "%s with %r" % (request.method, request.query)
        if headers.get("content-type") != "application/json":
            yield "content-type is %r" % headers.get("content-type")
        if headers.get("authorization") != "Bearer " + self.key:
            yield "Incorrect API key provided"

    def check_chat(self, body):
        rules, more = FLAVOURS[self.flavour]
        found = members(body, "body", rules)
        for i, message in enumerate(body.get("messages", [])):
            role = message.get("role") if isinstance(message, dict) else None
            if role not in MESSAGES:
                return found + ["messages[%d].role is %r" % (i, role)]
            kinds = dict(MESSAGES[role], role=is_(role), **(more if role == "assistant" else {}))
            found += members(message, "messages[%d]" % i, kinds)
        if found:
            return found
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        # API reference, "Create chat completion": at most 128 functions.
        if len(names) > 128:
            found.append("Invalid 'tools': array too long. Expected an array with maximum length 128")
        if len(set(names)) != len(names):
            found.append("names of tools occur twice")
        found += check_order(body["messages"]) + check_choice(body, names)
        if self.flavour == "openai":
            found += check_model(body)
        return found + self.check_sent(body["messages"])

    def check_sent(self, messages):
        """What the model said comes back as it was."""
        found, details = [], []
        for message in messages:
            for one in message.get("tool_calls") or []:
                called = one["function"]["name"], json.loads(one["function"]["arguments"])
                if one["id"] in self.sent and self.sent[one["id"]] != called:
                    found.append("the call %s has changed" % one["id"])
                wanted = self.thoughts.get(one["id"])
                if self.flavour == "deepseek" and wanted and \
                        message.get("reasoning_content") != wanted:
                    found.append("The `reasoning_content` in the thinking mode must be passed back "
                                 "to the API.")
            details += [message["reasoning_details"]] if "reasoning_details" in message else []
        if self.flavour == "openrouter" and details != self.details[:len(details)]:
            found.append("reasoning_details have changed")
        if self.flavour == "openrouter" and len(details) < len(self.details):
            found.append("reasoning_details are missing")
        return found

    # -- Responses -------------------------------------------------------------------------------

    def check_responses(self, body):
        found = members(body, "body", RESPONSES)
        if found:
            return found
        for i, item in enumerate(body["input"]):
            found += ITEM(item, "input[%d]" % i)
        if found:
            return found
        names = [tool["name"] for tool in body.get("tools", []) if tool["type"] in ("function", "custom")]
        found += self.check_items(body["input"]) + check_choice(body, names)
        found += ["the tool %s is declared twice" % name for name in set(names) if names.count(name) > 1]
        if custom_names(body) and not takes_custom(body["model"]):
            found.append("Invalid value: 'custom'. Tools of this type are not supported with %s." % body["model"])
        kinds = {tool.get("name"): tool["type"] for tool in body.get("tools", [])}
        choice = body.get("tool_choice")
        found += ["tool_choice: %s is no %s" % (one.get("name"), one["type"])
                  for one in (choice.get("tools", []) if isinstance(choice, dict) else [])
                  if "name" in one and kinds.get(one["name"], one["type"]) != one["type"]]
        if any(tool["type"] == "tool_search" for tool in body.get("tools", [])) and \
                not re.match(r"gpt-(5\.([4-9]|\d\d)|[6-9])(?!-nano)", body["model"]):
            found.append("Tool 'tool_search' is not supported with %s." % body["model"])
        if "include" in body and not reasons(body["model"]):
            found.append("Encrypted content is not supported with this model.")
        return found + check_model(body, tools_with_effort=False)

    def check_items(self, items):
        found, waiting, searches, free = [], [], set(), set()
        for i, item in enumerate(items):
            kind, at = item["type"], "input[%d]" % i
            if kind == "custom_tool_call":
                waiting.append(item["call_id"])
                free.add(item["call_id"])
                called = item["name"], {"input": item["input"]}
                if self.sent.get(item["call_id"], called) != called or item["call_id"] not in self.free:
                    found.append("the call %s has changed" % item["call_id"])
            elif kind in ("function_call", "tool_search_call"):
                if item["call_id"] in self.free:
                    found.append(at + ": the call was one of a custom tool")
                waiting.append(item["call_id"])
                searches.update({item["call_id"]} if kind == "tool_search_call" else ())
                called = (SEARCH, item["arguments"]) if kind == "tool_search_call" else (
                    item["name"], json.loads(item["arguments"]))
                if self.sent.get(item["call_id"], called) != called:
                    found.append("the call %s has changed" % item["call_id"])
            elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
                if (item["call_id"] in free) != (kind == "custom_tool_call_output"):
                    found.append(at + ": the output is of another kind than its call")
                if (item["call_id"] in searches) != (kind == "tool_search_output"):
                    found.append(at + ": the output is of another kind than its call")
                names = [tool["name"] for tool in item.get("tools", [])]
                if len(set(names)) != len(names):
                    found.append(at + ".tools: names occur twice")
                if item["call_id"] not in waiting:
                    found.append("No tool call found for function call output with call_id "
                                 + item["call_id"])
                else:
                    waiting.remove(item["call_id"])
            elif kind == "reasoning":
                if self.encrypted.get(item["id"]) != item:
                    found.append("The encrypted content for item %s could not be verified."
                                 % item["id"])
                after = items[i + 1]["type"] if i + 1 < len(items) else None
                if after not in ("reasoning", "message", "function_call", "custom_tool_call",
                                 "tool_search_call"):
                    found.append("Item '%s' of type 'reasoning' was provided without its required "
                                 "following item." % item["id"])
            elif item.get("role") == "user" and waiting:
                found.append(at + ": No tool output found for function call " + waiting[0])
        return found + ["No tool output found for function call " + one for one in waiting]

    # -- answers ---------------------------------------------------------------------------------

    def special(self, request):
        known = request.path.endswith(("/chat/completions", "/responses")) and request.body
        return {"status": 404, "error": "Not found"} if self.lenient and not known else None

    def encode(self, request, step):
        reply = step.get("reply", [])
        if isinstance(reply, dict):
            return "text/event-stream", [event(one) for one in reply["chunks"]]
        if request.path.endswith("/responses"):
            return "text/event-stream", list(self.response_events(request, reply, step))
        return "text/event-stream", list(self.chat_events(request, reply, step))

    def chat_events(self, request, reply, step):
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": request.body["model"]}
        pieces = [{"role": "assistant", "content": ""}, *self.chat_deltas(reply)]
        finish = step.get("finish") or (
            "tool_calls" if any("call" in part for part in reply) else "stop")
        for delta in pieces:
            yield event(dict(head, choices=[{"index": 0, "delta": delta, "logprobs": None,
                                             "finish_reason": None}]))
        yield event(dict(head, choices=[{"index": 0, "delta": {}, "logprobs": None,
                                         "finish_reason": finish}]))
        usage = dict({"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19,
                      "prompt_tokens_details": {"cached_tokens": 4},
                      "completion_tokens_details": {"reasoning_tokens": 2}},
                     **step.get("usage", {}))
        yield event(dict(head, choices=[], usage=usage))
        yield b"data: [DONE]\n\n"

    def chat_deltas(self, reply):
        thoughts, calls = "", 0
        for part in reply:
            if "call" in part:
                yield from self.chat_call(part, calls, thoughts)
                calls += 1
            elif "refusal" in part:
                yield {"refusal": part["refusal"]}
            elif part.get("thought"):
                thoughts += part["text"]
                yield from self.chat_thought(part["text"])
            else:
                for piece in halves(part["text"]):
                    yield {"content": piece}

    def chat_thought(self, value):
        if self.flavour != "openrouter":
            for piece in halves(value):
                yield {"reasoning_content": piece, "content": None}
            return
        self.count += 1
        whole = {"type": "reasoning.text", "text": value, "index": 0, "format": "f",
                 "signature": "signature %d" % self.count}
        self.details.append([whole])
        for piece in halves(value):
            yield {"reasoning": piece, "reasoning_details": [
                {"type": "reasoning.text", "text": piece, "index": 0, "format": "f"}]}
        yield {"reasoning_details": [{"type": "reasoning.text", "index": 0,
                                      "signature": whole["signature"]}]}

    def chat_call(self, part, index, thoughts):
        if self.flavour == "own":  # whole, and without an id
            yield {"tool_calls": [{"index": 0, "type": "function", "function": {
                "name": part["call"], "arguments": json.dumps(part.get("args", {}))}}]}
            return
        given = self.new_call(part)
        self.thoughts[given] = thoughts
        yield {"tool_calls": [{"index": index, "id": given, "type": "function",
                               "function": {"name": part["call"], "arguments": ""}}]}
        for piece in halves(json.dumps(part.get("args", {}))):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def new_call(self, part):
        self.count += 1
        given = "call_%d" % self.count
        self.sent[given] = part["call"], part.get("args", {})
        return given

    def response_events(self, request, reply, step):
        self.count += 1
        response = {"id": "resp_%d" % self.count, "object": "response", "created_at": 1,
                    "status": "in_progress", "error": None, "incomplete_details": None,
                    "model": request.body["model"], "output": [], "usage": None,
                    "instructions": None, "metadata": {}, "parallel_tool_calls": True,
                    "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1}
        number = iter(range(10 ** 6))

        def tell(kind, **values):
            return event(dict({"type": kind, "sequence_number": next(number)}, **values), kind)

        yield tell("response.created", response=response)
        for index, part in enumerate(reply):
            for kind, values in self.response_item(part, request.body):
                if kind == "response.output_item.done":
                    response["output"].append(values["item"])
                yield tell(kind, output_index=index, **values)
        usage = dict({"input_tokens": 12, "input_tokens_details": {"cached_tokens": 4},
                      "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 2},
                      "total_tokens": 19}, **step.get("usage", {}))
        finish = step.get("finish", "completed")
        response = dict(response, status=finish, usage=usage)
        if finish == "incomplete":
            response["incomplete_details"] = {"reason": step.get("reason", "max_output_tokens")}
        if finish == "failed":
            response["error"] = step["failure"]
        yield tell("response." + finish, response=response)

    def response_item(self, part, body):
        self.count += 1
        if part.get("thought"):
            yield from self.reasoning_item(part["text"])
        elif part.get("call") == SEARCH:
            assert any(tool["type"] == "tool_search" for tool in body["tools"])
            yield from self.search_item(part)
        elif "call" in part and part["call"] in custom_names(body):
            yield from self.custom_item(part)
        elif "call" in part:
            assert not has_search(body) or part["call"] in callable_names(body), \
                part["call"] + " is not declared"
            yield from self.call_item(part)
        else:
            yield from self.message_item(part)

    def reasoning_item(self, value):
        given = "rs_%d" % self.count
        item = {"id": given, "type": "reasoning", "summary": [{"type": "summary_text",
                                                               "text": value}],
                "encrypted_content": "encrypted %d==" % self.count}
        self.encrypted[given] = item
        yield "response.output_item.added", {"item": dict(item, summary=[])}
        part = {"item_id": given, "summary_index": 0}
        yield "response.reasoning_summary_part.added", dict(part, part={"type": "summary_text",
                                                                        "text": ""})
        for piece in halves(value):
            yield "response.reasoning_summary_text.delta", dict(part, delta=piece)
        yield "response.reasoning_summary_text.done", dict(part, text=value)
        yield "response.output_item.done", {"item": dict(item, status="completed")}

    def search_item(self, part):
        item = {"id": "tsc_%d" % self.count, "type": "tool_search_call", "status": "completed",
                "call_id": self.new_call(part), "execution": "client",
                "arguments": part.get("args", {})}
        yield "response.output_item.added", {"item": dict(item, arguments={}, status="in_progress")}
        yield "response.output_item.done", {"item": item}

    def custom_item(self, part):
        assert set(part["args"]) == {"input"}, "a call of free text has an input"
        item = {"id": "ctc_%d" % self.count, "type": "custom_tool_call", "status": "completed",
                "call_id": self.new_call(part), "name": part["call"], "input": part["args"]["input"]}
        self.free.add(item["call_id"])
        yield "response.output_item.added", {"item": dict(item, input="", status="in_progress")}
        for piece in halves(item["input"]):
            yield "response.custom_tool_call_input.delta", {"item_id": item["id"], "delta": piece}
        yield "response.custom_tool_call_input.done", {"item_id": item["id"], "input": item["input"]}
        yield "response.output_item.done", {"item": item}

    def call_item(self, part):
        item = {"id": "fc_%d" % self.count, "type": "function_call", "status": "completed",
                "call_id": self.new_call(part), "name": part["call"],
                "arguments": json.dumps(part.get("args", {}))}
        yield "response.output_item.added", {"item": dict(item, arguments="",
                                                          status="in_progress")}
        if part.get("cut"):  # by max_output_tokens: half of its arguments have come
            half = halves(item["arguments"])[0]
            yield "response.function_call_arguments.delta", {"item_id": item["id"], "delta": half}
            yield "response.output_item.done", {"item": dict(item, arguments=half,
                                                             status="incomplete")}
            return
        for piece in halves(item["arguments"]):
            yield "response.function_call_arguments.delta", {"item_id": item["id"], "delta": piece}
        yield "response.function_call_arguments.done", {"item_id": item["id"], "name": item["name"],
                                                        "arguments": item["arguments"]}
        yield "response.output_item.done", {"item": item}

    def message_item(self, part):
        kind = "refusal" if "refusal" in part else "output_text"
        value = part.get("refusal", part.get("text"))
        content = {"type": kind, "refusal": value} if kind == "refusal" else {
            "type": kind, "text": value, "annotations": [], "logprobs": []}
        given = "msg_%d" % self.count
        item = {"id": given, "type": "message", "role": "assistant", "status": "completed",
                "content": [content]}
        at = {"item_id": given, "content_index": 0}
        yield "response.output_item.added", {"item": dict(item, content=[], status="in_progress")}
        empty = dict(content, **{"refusal" if kind == "refusal" else "text": ""})
        yield "response.content_part.added", dict(at, part=empty)
        for piece in halves(value):
            yield "response.%s.delta" % kind, dict(at, delta=piece, logprobs=[])
        yield "response.content_part.done", dict(at, part=content)
        yield "response.output_item.done", {"item": item}

    @staticmethod
    def error(_request, status, message, details=None):
        kinds = {401: ("invalid_request_error", "invalid_api_key"), 429: ("tokens",
                 "rate_limit_exceeded"), 500: ("server_error", None), 503: ("server_error", None)}
        kind, code = kinds.get(status, ("invalid_request_error", None))
        return json.dumps({"error": dict({"message": message, "type": kind, "param": None,
                                          "code": code}, **(details or {}))}).encode()

    # -- for EditJob -----------------------------------------------------------------------------

    @staticmethod
    def tool_names(request):
        tools = [tool.get("function", tool) for tool in request.body.get("tools", [])]
        return {tool["name"]: tool.get("parameters", {}) for tool in tools if "name" in tool}

    @staticmethod
    def tool_results(request):
        if "input" in request.body:
            return [as_json(item["output"]) for item in request.body["input"]
                    if isinstance(item, dict) and item.get("type") in (
                        "function_call_output", "custom_tool_call_output")]
        return [as_json(message["content"]) for message in request.body["messages"]
                if message["role"] == "tool"]


def as_json(value):
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


def event(value, kind=None):
    head = b"event: " + kind.encode() + b"\n" if kind else b""
    return head + b"data: " + json.dumps(value).encode() + b"\n\n"


def halves(value):
    """A text in two pieces, if it has two characters."""
    middle = (len(value) + 1) // 2
    return [piece for piece in (value[:middle], value[middle:]) if piece]


INPUT_PART = by_type({
    "input_text": {"text": TEXT},
    "input_image": {"image_url": data_url(*IMAGES), "detail": is_("auto", "low", "high",
                                                                  "original")},
    "input_file": {"filename": TEXT, "file_data": data_url("application/pdf")},
})


def text_or_parts(value, at):
    return [] if isinstance(value, str) else each(INPUT_PART)(value, at)


def assistant_text(value, at):
    return TEXT(value, at) or ([] if value else [at + " is empty"])


def message(value, at):
    role = value.get("role")
    if role not in ("user", "assistant"):
        return ["%s.role is %r" % (at, role)]
    return members(value, at, {
        "type": is_("message"), "role": is_(role),
        "content": each(INPUT_PART) if role == "user" else Rule(assistant_text),
        **({"phase": may(is_("commentary", "final_answer"))} if role == "assistant" else {})})


# A function, and one that a search found (developers.openai.com/api/docs/guides/tools-tool-search).
DECLARED = {"name": NAME, "description": may(TEXT), "strict": BOOL,
            "parameters": Rule(function_parameters)}
FOUND = dict(DECLARED, defer_loading=is_(True))


def ITEM(value, at):  # noqa: N802
    if isinstance(value, dict) and value.get("type") == "message":
        return message(value, at)
    return by_type({
        "function_call": {"call_id": matching(r".{1,64}"), "name": NAME,
                          "arguments": Rule(json_object)},
        "function_call_output": {"call_id": matching(r".{1,64}"), "output": Rule(text_or_parts)},
        "custom_tool_call": {"call_id": matching(r".{1,64}"), "name": NAME, "input": TEXT},
        "custom_tool_call_output": {"call_id": matching(r".{1,64}"), "output": Rule(text_or_parts)},
        "tool_search_call": {"call_id": matching(r".{1,64}"), "execution": is_("client"),
                             "status": may(is_("completed")), "arguments": OBJECT},
        "tool_search_output": {"call_id": matching(r".{1,64}"), "execution": is_("client"),
                               "status": may(is_("completed")),
                               "tools": each(by_type({"function": dict(FOUND)}))},
        "reasoning": {"id": matching(r"rs_.+"), "summary": each(by_type({"summary_text": {
            "text": TEXT}})), "encrypted_content": TEXT},
    })(value, at)


RESPONSES = {
    "model": TEXT, "input": LIST, "stream": is_(True), "store": is_(False),
    "instructions": may(TEXT),
    "include": may(each(is_("reasoning.encrypted_content"))),
    "reasoning": may(thing(summary=may(is_("auto", "concise", "detailed")), effort=may(
        is_("none", "minimal", "low", "medium", "high", "xhigh")))),
    "tools": may(each(by_type({
        "function": DECLARED,
        "custom": {"name": NAME, "description": may(TEXT), "format": may(by_type({
            "text": {}, "grammar": {"syntax": is_("lark"), "definition": Rule(grammar)}}))},
        "tool_search": {"execution": is_("client"), "description": TEXT,
                        "parameters": Rule(function_parameters)},
        "web_search": {}}))),
    "tool_choice": may(Rule(lambda value, at: [] if value in ("none", "auto", "required") else
                            by_type({"allowed_tools": {"mode": is_("auto", "required"),
                                                       "tools": each(by_type({"function": {
                                                           "name": NAME}, "custom": {"name": NAME},
                                                           "tool_search": {}}))}})(
                                                               value, at))),
    "temperature": may(between(0, 2)), "top_p": may(between(0, 1)),
    "max_output_tokens": may(between(16, 10 ** 6)), "prompt_cache_key": may(CACHE_KEY),
    "text": may(thing(format=Rule(format_schema))),
    "metadata": may(OBJECT), "top_logprobs": may(NUMBER),
}


if __name__ == "__main__":
    LENIENT = "--lenient" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--lenient"]
    fake_server.main(Provider(lenient=LENIENT))
