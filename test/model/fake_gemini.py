# SPDX-License-Identifier: Apache-2.0
"""Gemini's generateContent API (v1beta), as strict as the real one and stricter where that helps.

Replies are lists of parts: text("..."), thought("..."), call("name", {...}), or a part as the API
writes it.  Each part is a chunk of its own.  A request with a "reply" of {"chunks": [...]} gets
these chunks as they are.  Models of version 3 sign the first call of each reply, and the
signature has to come back byte for byte.  Provider(append_only=True): each request begins with the one
before it (prefix.py).

As a program: python3 fake_gemini.py --port-file F (--script FILE.json | --answer-by auto)
"""
import base64
import json
import os
import re

import fake_server
import schema_rules
from prefix import Appended
from strict import image_faults

SKIP = "skip_thought_signature_validator"
FIELDS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig",
          "safetySettings", "cachedContent", "model", "labels"}
GENERATION = {"temperature": (0, 2), "topP": (0, 1), "topK": (1, 1000), "maxOutputTokens":
              (1, 10 ** 6), "seed": (-2 ** 31, 2 ** 31), "candidateCount": (1, 8),
              "stopSequences": list, "responseMimeType": str, "responseJsonSchema": dict,
              "thinkingConfig": dict, "presencePenalty": (-2, 2), "frequencyPenalty": (-2, 2)}
KEYWORDS = {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum",
            "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf",
            "properties", "additionalProperties", "required", "propertyOrdering"}
TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
KINDS = {"text", "inlineData", "functionCall", "functionResponse", "fileData", "executableCode",
         "codeExecutionResult"}
SERVER_TOOLS = {"googleSearch", "urlContext", "codeExecution"}
MEDIA = re.compile(r"(image|audio|video|text|application)/[\w.+-]+$")
NAME = re.compile(r"[A-Za-z_][\w.:-]{0,127}$")
ROUTE = re.compile(r"/v1(?:beta|beta1|alpha)?/(?:(projects/[\w-]+/locations/[\w-]+/)?"
                   r"publishers/google/)?models/([\w.%-]+):(\w+)$")
STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
          404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL",
          503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}


def text(value):
    return {"text": value}


def thought(value):
    return {"text": value, "thought": True}


def call(name, args=None):
    return {"call": name, "args": args or {}}


def is_response(part):
    return isinstance(part, dict) and "functionResponse" in part


def last_turn(contents):
    """Where the user last said something himself."""
    said = [i for i, content in enumerate(contents) if content["role"] == "user" and
            not any(map(is_response, content["parts"]))]
    return said[-1] if said else 0


class Provider:
    def __init__(self, key="test-key", bearer=False, headers=None, ids=True, append_only=False):
        self.appended = Appended() if append_only else None
        self.key, self.bearer, self.headers, self.ids = key, bearer, headers or {}, ids
        self.signed = {}  # id of a call -> its signature; and the text of signed texts
        self.count = 0

    # -- what is wrong with a request ------------------------------------------------------------

    def check(self, request):
        route = ROUTE.match(request.path)
        if not route or request.method != "POST":
            return ["there is no %s %s" % (request.method, request.path)]
        found = list(self.check_headers(request, route))
        body = request.body
        if route.group(3) == "countTokens":
            body, problems = self.unwrap_count(body, route)
            found += problems
        elif route.group(3) == "streamGenerateContent":
            if request.query != {"alt": "sse"}:
                found.append("the query is %r" % request.query)
        elif route.group(3) != "generateContent":
            found.append("there is no method %s" % route.group(3))
        if not isinstance(body, dict):
            return found + ["the body is no object"]
        unknown = set(body) - FIELDS
        if unknown:
            found.append('Unknown name "%s": Cannot find field.' % unknown.pop())
        found += self.check_system(body.get("systemInstruction"))
        found += self.check_contents(body.get("contents"), newer(route.group(2)))
        found += self.check_tools(body, newer(route.group(2)))
        found += self.check_generation(body.get("generationConfig", {}), route.group(2))
        if self.appended and not found and route.group(3) != "countTokens":
            found += self.appended.check(body)
        return found

    def check_headers(self, request, route):
        headers = request.headers
        if headers.get("content-type") != "application/json":
            yield "content-type is %r" % headers.get("content-type")
        if not headers.get("user-agent", "").startswith(("hasp/", "GeminiCLI")):
            yield "user-agent is %r" % headers.get("user-agent")
        given = (headers.get("authorization", "").removeprefix("Bearer ") if self.bearer else
                 headers.get("x-goog-api-key"))
        if given != self.key:
            yield "API key not valid. Please pass a valid API key."
        if ("x-goog-api-key" if self.bearer else "authorization") in headers:
            yield "the key comes in the wrong header"
        for name, value in self.headers.items():
            if headers.get(name.lower()) != value:
                yield "the header %s is %r" % (name, headers.get(name.lower()))

    @staticmethod
    def unwrap_count(body, route):
        if "publishers" in route.group(0):
            return body, []
        if not isinstance(body, dict) or set(body) != {"generateContentRequest"}:
            return body, ["countTokens takes a generateContentRequest"]
        body = dict(body["generateContentRequest"])
        name = body.pop("model", None)
        return body, [] if name == "models/" + route.group(2) else ["model is %r" % name]

    @staticmethod
    def check_system(system):
        if system is None:
            return []
        good = (isinstance(system, dict) and set(system) <= {"role", "parts"} and
                system.get("parts") and all(set(part) == {"text"} and part["text"]
                                            for part in system["parts"]))
        return [] if good else ["systemInstruction has to be texts"]

    def check_contents(self, contents, newer_model):
        if not isinstance(contents, list) or not contents:
            return ["contents is not specified"]
        found, waiting, role = [], [], None
        for i, content in enumerate(contents):
            at = "contents[%d]" % i
            if not isinstance(content, dict) or set(content) != {"role", "parts"}:
                return found + [at + " has other members than role and parts"]
            if content["role"] not in ("user", "model") or content["role"] == role:
                found.append("%s has the role %r after %r" % (at, content["role"], role))
            role = content["role"]
            if not isinstance(content["parts"], list) or not content["parts"]:
                return found + [at + ".parts must not be empty"]
            for j, part in enumerate(content["parts"]):
                found += self.check_part(part, role, "%s.parts[%d]" % (at, j), newer_model)
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            found += self.check_pairs(content["parts"], waiting, at)
            waiting = calls
        if contents[0]["role"] != "user":
            found.append("the first content has to be the user's")
        if contents[-1]["role"] != "user":
            found.append("the last content has to be the user's")
        if newer_model and not found:
            found += self.check_signatures(contents)
        return found

    @staticmethod
    def check_pairs(parts, waiting, at):
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if len(responses) != len(waiting):
            return ["%s: the number of function response parts has to be equal to the number of "
                    "function call parts of the function call turn (%d, %d)"
                    % (at, len(responses), len(waiting))]
        found = []
        for response, called in zip(responses, waiting):
            if response.get("name") != called.get("name") or response.get("id") != called.get("id"):
                found.append("%s: the response %r does not belong to the call %r"
                             % (at, response.get("id"), called.get("id")))
        if responses and "functionResponse" not in parts[0]:
            found.append(at + ": function responses come first")
        return found

    def check_part(self, part, role, at, newer_model):
        kinds = KINDS & set(part)
        if len(kinds) != 1:
            return ["%s has %d kinds of data" % (at, len(kinds))]
        unknown = set(part) - KINDS - {"thought", "thoughtSignature"}
        if unknown:
            return ['%s: Unknown name "%s": Cannot find field.' % (at, unknown.pop())]
        kind, found = kinds.pop(), []
        value = part[kind]
        if kind == "text" and (not isinstance(value, str) or
                               not value and "thoughtSignature" not in part):
            found.append(at + " has an empty text parameter")
        if "thought" in part and (part["thought"] is not True or role != "model" or
                                  "thoughtSignature" not in part):
            found.append(at + " is a thought that is not signed")
        if "thoughtSignature" in part:
            found += self.check_signature(part, at)
        if kind == "functionCall":
            found += check_call(value, role, at)
        elif kind == "functionResponse":
            found += check_response(value, role, at, newer_model)
        elif kind == "inlineData":
            found += check_media(value, at)
        return found

    def check_signature(self, part, at):
        signature = part["thoughtSignature"]
        if not isinstance(signature, str):
            return [at + ".thoughtSignature is no string"]
        if signature != SKIP and signature not in self.signed.values():
            return [at + ": Thought signature is not valid"]
        called = part.get("functionCall")
        if signature == SKIP or not called:
            return []
        return [] if self.signed.get(called.get("id")) == signature or not self.ids else [
            at + ": the signature belongs to another call"]

    def check_signatures(self, contents):
        found = []
        for content in contents[last_turn(contents):]:
            calls = [part for part in content["parts"] if "functionCall" in part]
            if calls and "thoughtSignature" not in calls[0]:
                found.append("Function call is missing a thought_signature in functionCall parts: "
                             + str(calls[0]["functionCall"].get("name")))
            for part in calls:
                given = part["functionCall"].get("id")
                if given in self.signed and part.get("thoughtSignature") != self.signed[given]:
                    found.append("the signature of the call %s did not come back" % given)
        return found

    def check_tools(self, body, newer_model):
        found, names, server = [], set(), False
        for tool in body.get("tools", []):
            if not isinstance(tool, dict) or len(tool) != 1:
                found.append("a tool has to have one member")
                continue
            kind, value = next(iter(tool.items()))
            if kind in SERVER_TOOLS:
                server = True
                found += [] if value == {} else ["%s takes nothing" % kind]
            elif kind != "functionDeclarations":
                found.append('Unknown name "%s": Cannot find field.' % kind)
            else:
                for one in value:
                    found += check_declaration(one, names)
        if server and names:
            found.append("Built-in tools and Function Calling cannot be combined")
        config = body.get("toolConfig")
        if config is not None:
            found += check_tool_config(config, names)
        return found

    @staticmethod
    def check_generation(config, model):
        found = []
        for name, value in config.items():
            rule = GENERATION.get(name)
            if rule is None:
                found.append('Unknown name "%s" at generation_config' % name)
            elif isinstance(rule, tuple):
                if isinstance(value, bool) or not isinstance(value, (int, float)) or \
                        not rule[0] <= value <= rule[1]:
                    found.append("%s is %r" % (name, value))
            elif not isinstance(value, rule):
                found.append("%s is %r" % (name, value))
        if "responseJsonSchema" in config:
            found += check_schema(config["responseJsonSchema"], "responseJsonSchema")
            if config.get("responseMimeType") != "application/json":
                found.append("a responseJsonSchema needs the type application/json")
        return found + check_thinking(config.get("thinkingConfig"), model,
                                       config.get("maxOutputTokens"))

    # -- answers ---------------------------------------------------------------------------------

    def special(self, request):
        route = ROUTE.match(request.path)
        if route and route.group(3) == "countTokens":
            return {"reply": {"count": {"totalTokens": max(1, len(request.raw) // 4)}}}
        return None

    def encode(self, request, step):
        reply = step.get("reply", [])
        if isinstance(reply, dict) and "count" in reply:
            return "application/json", [json.dumps(reply["count"]).encode()]
        if isinstance(reply, dict):
            chunks = reply["chunks"]
        else:
            chunks = self.chunks(request, reply, step)
        if request.path.endswith(":generateContent"):
            whole = dict(chunks[-1])
            parts = [part for chunk in chunks for candidate in chunk.get("candidates", [])
                     for part in candidate.get("content", {}).get("parts", [])]
            whole["candidates"][0]["content"] = {"role": "model", "parts": parts}
            return "application/json; charset=UTF-8", [json.dumps(whole).encode()]
        return "text/event-stream", [b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n"
                                     for chunk in chunks]

    def chunks(self, request, reply, step):
        model = ROUTE.match(request.path).group(2)
        parts = self.parts(reply, newer(model))
        usage = dict({"promptTokenCount": len(request.raw) // 4, "candidatesTokenCount":
                      len(parts), "totalTokenCount": len(request.raw) // 4 + len(parts)},
                     **step.get("usage", {}))
        chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
                   "usageMetadata": usage, "modelVersion": model, "responseId": "r"}
                  for part in parts] or [{"candidates": [{"index": 0}], "usageMetadata": usage}]
        finish = step.get("finish", "STOP")
        if finish:
            chunks[-1]["candidates"][0]["finishReason"] = finish
        chunks[-1]["candidates"][0].update(step.get("candidate", {}))
        return chunks

    def parts(self, reply, signs):
        parts = []
        for part in reply:
            if "call" in part:
                self.count += 1
                part = {"functionCall": {"name": part["call"], "args": part.get("args", {})}}
                if self.ids:
                    part["functionCall"]["id"] = "fc-%d" % self.count
                if signs and not any("functionCall" in before for before in parts):
                    part["thoughtSignature"] = self.sign(part["functionCall"].get("id"))
            elif part.get("sign"):
                part = {name: value for name, value in part.items() if name != "sign"}
                part["thoughtSignature"] = self.sign("text-%d" % self.count)
            parts.append(part)
        return parts

    def sign(self, what):
        self.count += 1
        signature = base64.b64encode(b"signature %d of %s" % (self.count, os.urandom(6))).decode()
        self.signed[what or "call-%d" % self.count] = signature
        return signature

    @staticmethod
    def error(_request, status, message, details=None):
        error = {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN")}
        if message.startswith("API key not valid"):
            details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                        "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]
        if details:
            error["details"] = details
        return json.dumps({"error": error}).encode()

    # -- for EditJob -----------------------------------------------------------------------------

    @staticmethod
    def tool_names(request):
        return {one["name"]: one.get("parametersJsonSchema", {})
                for tool in request.body.get("tools", [])
                for one in tool.get("functionDeclarations", [])}

    @staticmethod
    def tool_results(request):
        return [part["functionResponse"]["response"] for content in request.body["contents"]
                for part in content["parts"] if "functionResponse" in part]


def newer(model):
    """Signs calls: version 3 and later, and names without a version."""
    version = re.match(r"gemini-(\d+(?:\.\d+)?)", model)
    return model.startswith("gemini-") and (not version or float(version.group(1)) >= 3)


def check_call(value, role, at):
    if role != "model":
        return [at + ": a functionCall of the user"]
    if not set(value) <= {"id", "name", "args"} or not NAME.match(str(value.get("name"))):
        return [at + ": functionCall is %r" % value]
    return [] if isinstance(value.get("args", {}), dict) else [at + ": args is no object"]


def check_response(value, role, at, newer_model):
    if role != "user":
        return [at + ": a functionResponse of the model"]
    found = []
    if not set(value) <= {"id", "name", "response", "parts"} or \
            not isinstance(value.get("response"), dict):
        found.append(at + ": functionResponse.response has to be a Struct")
    if "parts" in value and not newer_model:
        found.append(at + ": Multimodal function response is not supported for this model")
    for part in value.get("parts", []):
        found += check_media(part.get("inlineData"), at) if set(part) == {"inlineData"} else [
            at + ": parts of a response are inlineData"]
    return found


# ai.google.dev/gemini-api/docs/image-understanding, "Supported image formats".
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")


def check_media(value, at):
    if not isinstance(value, dict) or not set(value) <= {"mimeType", "data", "displayName"}:
        return [at + ": inlineData is %r" % value]
    try:
        base64.b64decode(value.get("data", "?"), validate=True)
    except ValueError:
        return [at + ": inlineData.data is not base64"]
    kind = str(value.get("mimeType"))
    if kind.startswith("image/"):
        return image_faults([(kind, value["data"])], PICTURES)
    return [] if MEDIA.match(kind) else [at + ": mimeType is wrong"]


def check_declaration(one, names):
    if not set(one) <= {"name", "description", "parametersJsonSchema", "parameters", "response",
                        "responseJsonSchema", "behavior"}:
        return ["unknown fields in a declaration: %r" % sorted(one)]
    if not NAME.match(str(one.get("name"))) or one["name"] in names:
        return ["Invalid function name %r, or it is declared twice" % one.get("name")]
    names.add(one["name"])
    if not isinstance(one.get("description"), str) or not one["description"]:
        return ["%s has no description" % one["name"]]
    schema = one.get("parametersJsonSchema")
    if schema is None:
        return []
    return schema_rules.gemini(schema, one["name"])


def check_schema(schema, at):
    if isinstance(schema, bool) and at.endswith("additionalProperties"):
        return []
    if not isinstance(schema, dict):
        return [at + " is no schema"]
    found = ["%s: unknown keyword %s" % (at, word) for word in sorted(set(schema) - KEYWORDS)]
    types = schema.get("type", [])
    if not set([types] if isinstance(types, str) else types) <= TYPES:
        found.append("%s: type is %r" % (at, types))
    for word in ("properties", "$defs"):
        for name, one in schema.get(word, {}).items():
            found += check_schema(one, "%s.%s.%s" % (at, word, name))
    for word in ("items", "additionalProperties"):
        if word in schema:
            found += check_schema(schema[word], "%s.%s" % (at, word))
    for word in ("anyOf", "oneOf", "prefixItems"):
        for i, one in enumerate(schema.get(word, [])):
            found += check_schema(one, "%s.%s[%d]" % (at, word, i))
    if not set(schema.get("required", [])) <= set(schema.get("properties", {})):
        found.append("%s: required names what is not in properties" % at)
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        found.append("%s: enum is empty" % at)
    return found


def check_tool_config(config, names):
    inner = config.get("functionCallingConfig")
    if set(config) != {"functionCallingConfig"} or not isinstance(inner, dict) or not \
            set(inner) <= {"mode", "allowedFunctionNames"}:
        return ["toolConfig is %r" % config]
    allowed = inner.get("allowedFunctionNames")
    if inner.get("mode") not in ("AUTO", "ANY", "NONE", "VALIDATED"):
        return ["mode is %r" % inner.get("mode")]
    if allowed is not None and (inner["mode"] not in ("ANY", "VALIDATED") or not allowed or
                                not set(allowed) <= names):
        return ["allowedFunctionNames is %r" % allowed]
    return [] if names else ["toolConfig without functions"]


def levels(model):
    """ai.google.dev/gemini-api/docs/thinking, and the pages of the models: 3.7 and 3.8 Flash return an
    error for minimal, 3 Pro for medium too."""
    if "gemini-3-pro" in model:
        return ("LOW", "HIGH")
    older = re.search(r"gemini-3(\.[1-6])?-flash", model)
    return ("MINIMAL", "LOW", "MEDIUM", "HIGH") if older else ("LOW", "MEDIUM", "HIGH")


def check_thinking(config, model, most=None):
    if config is None:
        return []
    if most and config.get("thinkingBudget", 0) >= most:
        # Not refused by the provider: the answer is then MAX_TOKENS without a text.
        return ["thoughts may use up all of maxOutputTokens"]
    if not set(config) <= {"includeThoughts", "thinkingBudget", "thinkingLevel"}:
        return ["thinkingConfig is %r" % config]
    budget, level = config.get("thinkingBudget"), config.get("thinkingLevel")
    if budget is not None and level is not None:
        return ["You can only set one of thinking budget and thinking level."]
    if level is not None and not newer(model):
        return ["Thinking level is not supported for this model."]
    if level is not None and level not in levels(model):
        return ["Thinking level %s is not supported for this model." % level]
    if "gemini-2.5" not in model and not newer(model):
        return ["Thinking is not supported for this model."]
    if budget is not None and "gemini-2.5" in model:
        least, most, off = ((128, 32768, None) if "pro" in model else
                            (512, 24576, 0) if "lite" in model else (0, 24576, 0))
        if budget not in (-1, off) and not least <= budget <= most:
            return ["The thinking budget %d is invalid." % budget]
    return []


if __name__ == "__main__":
    fake_server.main(Provider(key=os.environ.get("FAKE_KEY", "test-key")))
