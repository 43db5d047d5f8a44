# SPDX-License-Identifier: Apache-2.0
"""A language model for tests: it speaks three providers' wire formats and does one task.

    with FakeModel(Task("note.txt", "beta", "BETA")) as model:
        ... run an agent with its provider's address set to model.url ...
    model.complaints        # what was wrong with the agent's requests; [] when nothing
    model.calls             # [("read_file", {...}), ("safe_patch", {...})]

The model insists on the tools of hasp's MCP server: they have to be declared with their
schemas; it asks for read_file, takes the hash out of the tool's real result, asks for
safe_patch with it, and ends.  Whatever else the agent offers is never used.

Wires: Gemini (generateContent, streamGenerateContent), OpenAI (responses), Anthropic
(messages), all streamed as server-sent events.
"""

import json
import re
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class WireError(Exception):
    """A request that a provider would refuse."""


class Task(NamedTuple):
    path: str
    old: str  # a whole line of the file, which has "alpha" before it and "gamma" after it
    new: str

    def diff(self):
        return ("--- a/%s\n+++ b/%s\n@@ -1,3 +1,3 @@\n alpha\n-%s\n+%s\n gamma\n"
                % (self.path, self.path, self.old, self.new))


class Call(NamedTuple):
    tool: str        # as hasp calls it
    arguments: dict


class Turn(NamedTuple):
    """What a request says, whatever the wire."""

    tools: dict      # name -> JSON schema of its arguments; as the wire names them
    results: list    # (name, text) of the tool results so far, in order
    text: str        # all text of the conversation


def demand(condition, sentence):
    if not condition:
        raise WireError(sentence)


def texts_of(value):
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts_of(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts_of(member)


def events(messages, named=True):
    return "".join(("event: %s\n" % message["type"] if named else "") +
                   "data: %s\n\n" % json.dumps(message) for message in messages).encode()


# ---- Gemini ------------------------------------------------------------------------------

class Gemini:
    path = re.compile(r"/v1beta/models/[\w.-]+:(streamGenerateContent\?alt=sse|generateContent)$")

    @staticmethod
    def name(tool):
        return "mcp_hasp_" + tool

    @staticmethod
    def read(headers, body):
        demand(headers.get("x-goog-api-key"), "no x-goog-api-key")
        demand(isinstance(body.get("contents"), list) and body["contents"], "no contents")
        tools, results = {}, []
        for group in body.get("tools", []):
            for declared in group.get("functionDeclarations", []):
                schema = declared.get("parametersJsonSchema") or declared.get("parameters")
                demand(isinstance(schema, dict), "%s has no schema" % declared["name"])
                tools[declared["name"]] = schema
        for content in body["contents"]:
            demand(content.get("role") in ("user", "model"), "role %r" % content.get("role"))
            demand(content.get("parts"), "a content without parts")
            for part in content["parts"]:
                if "functionResponse" in part:
                    answer = part["functionResponse"]
                    results.append((answer["name"], "\n".join(texts_of(answer["response"]))))
        return Turn(tools, results, "\n".join(texts_of(body["contents"])))

    @staticmethod
    def _answer(part):
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0,
                                "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5,
                                  "totalTokenCount": 15},
                "modelVersion": "fake", "responseId": uuid.uuid4().hex}

    @classmethod
    def write(cls, step, path):
        part = {"text": step} if isinstance(step, str) else {
            "functionCall": {"id": "call-" + uuid.uuid4().hex, "name": cls.name(step.tool),
                             "args": step.arguments}}
        if path.endswith(":generateContent"):
            return "application/json", json.dumps(cls._answer(part)).encode()
        return "text/event-stream", events([cls._answer(part)], named=False)


# ---- OpenAI ------------------------------------------------------------------------------

class OpenAI:
    path = re.compile(r"/v1/responses$")
    namespace = "mcp__hasp"

    @classmethod
    def name(cls, tool):
        return cls.namespace + "/" + tool

    @classmethod
    def read(cls, headers, body):
        demand(headers.get("authorization", "").startswith("Bearer "), "no bearer token")
        demand(body.get("stream") is True, "not streamed")
        demand(isinstance(body.get("input"), list) and body["input"], "no input")
        tools = {}
        for tool in body.get("tools", []):
            if tool.get("type") == "namespace":
                for inner in tool["tools"]:
                    demand(isinstance(inner.get("parameters"), dict),
                           "%s has no schema" % inner["name"])
                    tools["%s/%s" % (tool["name"], inner["name"])] = inner["parameters"]
            elif tool.get("type") == "function":
                tools[tool["name"]] = tool["parameters"]
        calls, results = {}, []
        for item in body["input"]:
            if item.get("type") == "function_call":
                calls[item["call_id"]] = cls.name(item["name"]) \
                    if item.get("namespace") == cls.namespace else item["name"]
            elif item.get("type") == "function_call_output":
                demand(item["call_id"] in calls, "a result of a call that was never made")
                results.append((calls[item["call_id"]], "\n".join(texts_of(item["output"]))))
        return Turn(tools, results, "\n".join(texts_of(body["input"])))

    @classmethod
    def _item(cls, step):
        unique = uuid.uuid4().hex
        if isinstance(step, str):
            return {"type": "message", "id": "msg_" + unique, "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": step, "annotations": []}]}
        return {"type": "function_call", "id": "fc_" + unique, "call_id": "call_" + unique,
                "namespace": cls.namespace, "name": step.tool, "status": "completed",
                "arguments": json.dumps(step.arguments)}

    @classmethod
    def write(cls, step, _):
        item = cls._item(step)
        response = {"id": "resp_" + uuid.uuid4().hex, "object": "response", "model": "fake",
                    "created_at": 0}
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0},
                 "total_tokens": 15}
        return "text/event-stream", events([
            {"type": "response.created", "sequence_number": 0,
             "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
             "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0,
             "item": item},
            {"type": "response.completed", "sequence_number": 3,
             "response": {**response, "status": "completed", "output": [item], "usage": usage}},
        ])


# ---- Anthropic ----------------------------------------------------------------------------

class Anthropic:
    path = re.compile(r"/v1/messages(\?beta=true)?$")
    search = "ToolSearch"  # finds tools whose schemas were not sent

    @classmethod
    def name(cls, tool):
        return tool if tool == cls.search else "mcp__hasp__" + tool

    @staticmethod
    def read(headers, body):
        demand(headers.get("anthropic-version") == "2023-06-01", "no anthropic-version")
        demand(headers.get("x-api-key"), "no x-api-key")
        demand(body.get("stream") is True, "not streamed")
        demand(isinstance(body.get("max_tokens"), int), "no max_tokens")
        demand(body.get("messages"), "no messages")
        tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools", [])}
        calls, results = {}, []
        for message in body["messages"]:
            content = message["content"]
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    calls[block["id"]] = block["name"]
                elif block["type"] == "tool_result":
                    demand(message["role"] == "user", "a tool result that is not the user's")
                    demand(block["tool_use_id"] in calls, "a result of a call never made")
                    results.append((calls[block["tool_use_id"]],
                                    "\n".join(texts_of(block.get("content", "")))))
        return Turn(tools, results, "\n".join(texts_of(body["messages"])))

    @classmethod
    def write(cls, step, _):
        if isinstance(step, str):
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": step}
        else:
            block = {"type": "tool_use", "id": "toolu_" + uuid.uuid4().hex,
                     "name": cls.name(step.tool), "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0,
                 "cache_read_input_tokens": 0}
        return "text/event-stream", events([
            {"type": "message_start", "message": {
                "id": "msg_" + uuid.uuid4().hex, "type": "message", "role": "assistant",
                "model": "fake", "content": [], "stop_reason": None, "stop_sequence": None,
                "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "usage": {"output_tokens": 5},
             "delta": {"stop_reason": "end_turn" if isinstance(step, str) else "tool_use",
                       "stop_sequence": None}},
            {"type": "message_stop"},
        ])


WIRES = (Gemini, OpenAI, Anthropic)

# What every schema that reaches the model has to say of a tool's arguments.
ARGUMENTS = {"read_file": {"file_path"},
             "safe_patch": {"file_path", "base_content_sha256", "unified_diff"}}


class FakeModel:
    """Serves on a free port of the loopback until the `with` ends."""

    done = "The file is changed."

    def __init__(self, task):
        self.task, self.complaints, self.calls, self.requests = task, [], [], 0
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                self.answer(*model.post(self.path, self.headers, body))

            def do_GET(self):
                self.answer(404, "application/json", b'{"error": {"message": "no such page"}}')

            do_HEAD = do_GET

            def answer(self, status, content_type, data):
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self._server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def post(self, path, headers, data):
        try:
            with self._lock:
                self.requests += 1
                return 200, *self._answer(path, headers, data)
        except (WireError, KeyError, TypeError, ValueError) as error:
            self.complaints.append("%s: %s: %s" % (path, type(error).__name__, error))
            return 400, "application/json", json.dumps({
                "type": "error", "error": {"type": "invalid_request_error", "code": 400,
                                           "status": "INVALID_ARGUMENT",
                                           "message": str(error)}}).encode()

    def _answer(self, path, headers, data):
        wire = next((wire for wire in WIRES if wire.path.match(path)), None)
        demand(wire, "no provider has this path")
        demand(headers.get("content-type", "").startswith("application/json"), "not JSON")
        turn = wire.read({name.lower(): value for name, value in headers.items()},
                         json.loads(data))
        if not turn.tools:  # a question about the conversation, such as for its title
            return wire.write("A file", path)
        step = self._next(wire, turn)
        if isinstance(step, Call):
            self.calls.append((step.tool, step.arguments))
        return wire.write(step, path)

    def _next(self, wire, turn):
        """The next call, or the final text."""
        results = dict(turn.results)
        read, patched = (results.get(wire.name(tool)) for tool in ("read_file", "safe_patch"))
        missing = [tool for tool in ARGUMENTS if wire.name(tool) not in turn.tools]
        if missing:
            return self._search(wire, turn, results, missing)
        for tool, wanted in ARGUMENTS.items():
            declared = turn.tools[wire.name(tool)].get("properties", {})
            demand(wanted <= set(declared), "%s is declared with %s" % (tool, sorted(declared)))
        if read is None:
            return Call("read_file", {"file_path": self.task.path})
        demand(self.task.old in read, "the result of read_file has no content: %r" % read[:500])
        if patched is None:
            found = re.findall(r"\b[0-9a-f]{64}\b", read)
            demand(len(set(found)) == 1, "one hash in the result of read_file: %r" % read[:500])
            return Call("safe_patch", {"file_path": self.task.path,
                                       "base_content_sha256": found[0],
                                       "unified_diff": self.task.diff()})
        demand(re.search(r"\b[0-9a-f]{64}\b", patched),
               "the result of safe_patch tells no new hash: %r" % patched[:500])
        return self.done

    @staticmethod
    def _search(wire, turn, results, missing):
        """Tools that are only named: a provider's way to get their schemas."""
        search = getattr(wire, "search", None)
        names = [wire.name(tool) for tool in missing]
        demand(search in turn.tools and search not in results and
               all(name in turn.text for name in names),
               "%s are not declared, only %s" % (names, sorted(turn.tools)))
        return Call(search, {"query": "select:" + ",".join(names), "max_results": len(names)})
