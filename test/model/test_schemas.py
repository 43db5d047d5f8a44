# SPDX-License-Identifier: Apache-2.0
"""Schemas of servers' tools: each construct is sent in a form that each provider documents, calls come back under the
names that the schema has, and a tool that is refused all the same is left out."""
import hashlib
import json
import os
import pathlib
import re
import subprocess

import fake_anthropic
import fake_gemini
import fake_openai
import jobs
import pytest
import schema_rules
from fake_openai import text
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import LIST, READ, ask, options, run, user
from schema_cases import FORMS, KEYWORDS

TOP = pathlib.Path(__file__).parents[2]
CHAT, RESPONSES, CLAUDE, GEMINI = FORMATS = ("openai", "openai-responses", "anthropic", "gemini")
MODELS = {CHAT: "gpt-4o", RESPONSES: "gpt-4o", CLAUDE: "claude-sonnet-4-5", GEMINI: "gemini-2.5-pro"}
FAKES = {CHAT: fake_openai, RESPONSES: fake_openai, CLAUDE: fake_anthropic, GEMINI: fake_gemini}
RULES = {CHAT: schema_rules.openai, RESPONSES: schema_rules.openai, CLAUDE: schema_rules.anthropic,
         GEMINI: schema_rules.gemini}


def opened(server, kind, **more):
    own = kind == CHAT
    where = {"base_url": "http://api.openai.com/v1", "proxy": server.url} if own else {
        "base_url": server.url + ("/v1beta" if kind == GEMINI else "/v1")}
    return options(provider=kind, name=MODELS[kind], **where, **more)


def tool(schema, name="mcp_s_t"):
    return {"name": name, "description": "A server's.", "parameters": schema}


def declared(body):
    """{name: schema} of a request of any format."""
    return {one.get("function", one)["name"]: one.get("function", one).get(
        "parameters", one.get("input_schema", one.get("parametersJsonSchema")))
        for group in body.get("tools", []) for one in group.get("functionDeclarations", [group])}


def call_of(kind, name, args):
    return {GEMINI: lambda: {"functionCall": {"name": name, "args": args}},
            CLAUDE: lambda: fake_anthropic.call(name, args)}.get(kind, lambda: fake_openai.call(name, args))()


def words(value):
    """All keywords of a schema, and all its descriptions."""
    found, said = set(), []
    if isinstance(value, dict):
        found, said = set(value), [str(value.get("description", ""))]
    for where, one in schema_rules.below(value) if isinstance(value, dict) else []:
        more, text_ = words(one)
        found, said = found | more, said + text_
    return found, said


def schema_names(schema):
    """Names of members that a provider takes, of all schemas within one that are about values."""
    for where, one in schema_rules.below(schema) if isinstance(schema, dict) else []:
        if where.startswith("properties.") and one is not False and re.fullmatch(r"\w{1,64}", where[11:]):
            yield where[11:]
        if where not in ("if", "not"):
            yield from schema_names(one)


@pytest.fixture(scope="module")
def sent():
    """What each format gets of each schema: one request each, with all of them as tools."""
    got = {}
    for kind in FORMATS:
        names = {"t%d" % i: what for i, what in enumerate([*KEYWORDS, *FORMS])}
        tools = [tool(dict(FORMS, **KEYWORDS)[what], name) for name, what in names.items()]
        with FakeServer(FAKES[kind].Provider(), [{"reply": [text("Yes.") if kind != GEMINI else {"text": "Yes."}]}]) as server:
            answer = ask(opened(server, kind), contents=[user({"text": "Hi"})], tools=tools)
            assert "reply" in answer and server.violations == [], (answer, server.violations[:5])
            (request,) = server.requests
        got[kind] = {what: declared(request.body)[name] for name, what in names.items()}
    return got


def rows():
    """{keyword: its letters} of the table."""
    source = (TOP / "src" / "model" / "schema_fit.c").read_text()
    return dict(re.findall(r'^\t\{ "([$\w]+)", FIT_\w+, "([SRNL]{4})"', source, re.M))


def test_every_row_has_a_case():
    assert rows().keys() == KEYWORDS.keys() and len(rows()) == 62


@pytest.mark.parametrize("what", [*KEYWORDS, *FORMS])
@pytest.mark.parametrize("kind", FORMATS)
def test_each_construct_is_sent_as_documented(sent, kind, what):
    schema = sent[kind][what]
    if schema is None:  # Gemini takes no parameters at all
        assert kind == GEMINI and what in ("no properties at all", "no schema at all")
        return
    assert RULES[kind](schema, what) == []
    assert len(json.dumps(schema)) < 100000


@pytest.mark.parametrize("what", KEYWORDS)
@pytest.mark.parametrize("kind", FORMATS)
def test_the_table_says_what_becomes_of_it(sent, kind, what):
    act = rows()[what][FORMATS.index(kind)]
    found, said = words(sent[kind][what])
    if act == "S":
        assert what in found
    elif act != "R":
        assert what not in found and (act == "L" or any(what + ": " in one for one in said))
    # What is rewritten has lost no member.
    if act == "R" and what not in ("$defs", "definitions", "not"):
        members = set(schema_names(KEYWORDS[what]))
        assert members <= set(json.dumps(sent[kind][what]).split('"'))


def test_the_document_has_the_table():
    done = subprocess.run(["/usr/bin/python3", str(TOP / "script" / "lib" / "schema_table.py"), "--check"], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_kept_of_alternatives(sent):
    for kind in FORMATS:
        for what in ("oneOf", "oneOf at the top without a type", "anyOf of references at the top"):
            schema = sent[kind][what]
            assert set(schema["properties"]) == {"kind", "x", "y"} and schema["required"] == ["kind"]
            assert schema["properties"]["kind"]["enum"] == ["x", "y"]
            assert "kind, x; or kind, y" in schema["description"]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_schema_that_fits_is_sent_as_it_is(kind):
    schema = READ["parameters"]
    with FakeServer(FAKES[kind].Provider(), [{"reply": [{"text": "Yes."} if kind == GEMINI else text("Yes.")]}]) as server:
        ask(opened(server, kind), contents=[user({"text": "Hi"})], tools=[READ])
        assert json.dumps(declared(server.requests[0].body)["read_file"]) == json.dumps(schema)


NAMED = {"type": "object", "properties": {
    "StartTime<": {"type": "string"}, "StartTime>": {"type": "string"}, "a[]": {"type": "array", "items": {
        "type": "object", "properties": {"$gt": {"type": "integer"}, "plain": {"type": "string"}}}},
    "free": {"type": "object", "additionalProperties": True},
    "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/E"}]}}, "required": ["a[]"],
    "$defs": {"E": {"type": "object", "properties": {"e e": {"type": "string"}}}}}
ARGS = {"StartTime<": "x", "StartTime>": "y", "a[]": [{"$gt": 3, "plain": "p"}], "free": {"a__": 1, "_gt": 2},
        "either": {"e e": "z"}}


def as_sent(schema, args, root):
    """Arguments under the names that were sent, found by the descriptions' "Original name"."""
    if isinstance(args, list):
        return [as_sent(schema.get("items", {}), one, root) for one in args]
    if not isinstance(args, dict):
        return args
    for one in [schema, *schema.get("anyOf", [])]:
        one = root.get("$defs", {}).get(str(one.get("$ref"))[8:], one)
        names = {re.sub(".*Original name: ", "", below.get("description", name)): (name, below)
                 for name, below in one.get("properties", {}).items()}
        if set(args) <= set(names):
            return {names[key][0]: as_sent(names[key][1], value, root) for key, value in args.items()}
    return args


@pytest.mark.parametrize("kind", FORMATS)
def test_names_come_back_and_go_out_again(kind):
    seen = {}

    def learn(request):
        seen.update(declared(request.body)["mcp_s_t"])

    class Playing(FAKES[kind].Provider):
        def encode(self, request, step):
            if step.get("reply") == "call":
                step = dict(step, reply=[call_of(kind, "mcp_s_t", as_sent(seen, ARGS, seen))])
            return super().encode(request, step)

    done = [{"text": "Yes."} if kind == GEMINI else text("Yes.")]
    with FakeServer(Playing(), [{"expect": learn, "reply": "call"}, {"reply": done}]) as server:
        how, tools = opened(server, kind), [tool(NAMED)]
        first = run({"options": how, "request": {"contents": [user({"text": "Hi"})], "tools": tools}})[-1]
        assert "reply" in first, first
        content = first["reply"]["content"]
        (part,) = [one for one in content["parts"] if "functionCall" in one]
        assert part["functionCall"]["args"] == ARGS and part["functionCall"]["name"] == "mcp_s_t"
        answer = ask(how, tools=tools, contents=[user({"text": "Hi"}), content, user({"functionResponse": {
            "id": part["functionCall"]["id"], "name": "mcp_s_t", "response": {"output": "1"}}})])
        assert "reply" in answer and server.violations == [], (answer, server.violations)
        assert "StartTime_" in server.requests[1].raw.decode() and '"$gt"' not in re.sub(
            r'Original name: \$gt', "", server.requests[1].raw.decode().replace('\\"', '"'))
    assert RULES[kind](seen, "t") == [] and "free" in seen["properties"]


@pytest.mark.parametrize("kind", FORMATS)
def test_names_of_tools_fit(kind):
    """A tool named for Gemini, after the model was changed; and one whose name is too long."""
    names = ["mcp_s_a.b", "mcp_s_a:b", "t" * 70 + "1", "t" * 70 + "2"]
    played = []

    class Playing(FAKES[kind].Provider):
        def encode(self, request, step):
            if step.get("reply") == "call":
                played.extend(declared(request.body))
                step = dict(step, reply=[call_of(kind, name, {}) for name in played])
            return super().encode(request, step)

    with FakeServer(Playing(), [{"reply": "call"}]) as server:
        got = ask(opened(server, kind), contents=[user({"text": "Hi"})], tools=[tool({"type": "object"}, one)
                                                                              for one in names])
        assert server.violations == [] and len(set(played)) == 4, (got, server.violations)
    assert [one["functionCall"]["name"] for one in got["reply"]["content"]["parts"] if "functionCall" in one] == names


def cpu_of(schema):
    """Seconds of the probe's for one request with a tool of this schema."""
    def used():
        fields = pathlib.Path("/proc/%d/stat" % jobs.probe.pid).read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    with FakeServer(FAKES[CLAUDE].Provider(), [{"reply": [text("Yes.")]}] * 2) as server:
        job = {"options": opened(server, CLAUDE), "request": {"contents": [user({"text": "Hi"})], "tools": [tool(schema)]}}
        run({**job, "request": {"contents": [user({"text": "Hi"})]}})
        before = used()
        assert "reply" in run(job)[-1]
        return used() - before


@pytest.mark.parametrize("reference", ["#nowhere", "#p2400", "#/$defs/n"])
def test_references_cost_what_the_schema_is_long(reference):
    """64 KB of references took two seconds of each request."""
    def made(one):
        return {"type": "object", "properties": {"p%d" % i: dict(one, **({"$anchor": "p%d" % i} if i > 2390 else {}))
                                                 for i in range(2400)}, "$defs": {"n": {"type": "string"}}}

    assert cpu_of(made({"$ref": reference})) < 5 * cpu_of(made({"type": "string"})) + 0.3


# ---- refused all the same ------------------------------------------------------------------------

def bad(index, name, kind):
    """Refusals that say which tool it is, in each provider's words."""
    return {
        CHAT: {"error": {"message": "Invalid schema for function '%s': In context=('properties', 'a'), 'x' is not "
                         "permitted." % name, "type": "invalid_request_error", "code": "invalid_function_parameters",
                         "param": "tools[%d].function.parameters" % index}},
        RESPONSES: {"error": {"message": "Invalid 'tools[%d].parameters': oh no." % index, "type":
                              "invalid_request_error", "param": "tools[%d].parameters" % index, "code": None}},
        CLAUDE: {"type": "error", "error": {"type": "invalid_request_error", "message":
                 "tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12" % index}},
        GEMINI: {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
                 "* GenerateContentRequest.tools[0].function_declarations[%d].parameters.properties[a]: no." % index}},
    }[kind]


VAGUE = {CHAT: {"error": {"message": "Invalid tool schema.", "type": "invalid_request_error"}},
         RESPONSES: {"error": {"message": "One of the function schemas is not valid.", "type": "invalid_request_error"}},
         CLAUDE: {"type": "error", "error": {"type": "invalid_request_error", "message": "Invalid request"}},
         GEMINI: {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
                            "Request contains an invalid argument."}}}


def picky(kind, refused, answer):
    """A provider that refuses some tools, in the words of `answer`(index, name)."""
    class Picky(FAKES[kind].Provider):
        def check(self, request):
            found = [(i, name) for i, name in enumerate(declared(request.body)) if name in refused]
            self.why = answer(*found[0]) if found else None
            return ["refused"] if found else []

        def error(self, request, status, message, detail=None):
            return json.dumps(self.why).encode()

        def special(self, request):
            body = super().special(request)
            if body is None and "Answer with OK" in request.raw.decode():
                body = {"reply": [{"text": "OK"} if kind == GEMINI else text("OK")]}
            return body
    return Picky()


MANY = [READ, LIST] + [tool({"type": "object", "properties": {"a": {"type": "string"}}}, "mcp_s_tool_%d" % i) for i in range(30)]


def many_asked(kind, refused, answer, tools=MANY, more=1, **how):
    yes = {"reply": [{"text": "Yes."} if kind == GEMINI else text("Yes.")]}
    with FakeServer(picky(kind, refused, answer), [yes] * more) as server:
        opened_ = opened(server, kind, **how)
        lines = run({"options": opened_, "request": {"contents": [user({"text": "Hi"})], "tools": tools}})
        for _ in range(more - 1):
            lines += run({"request": {"contents": [user({"text": "Hi"})], "tools": tools}})
        return lines, [list(declared(one.body)) for one in server.requests]


def told(lines):
    """The tools that were left out, all that were found before an answer in one event."""
    return [name for line in lines if line.get("event") == "left_out" for name in line["subject"].split(", ")]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_tool_that_is_named_is_left_out(kind, tmp_path):
    refused, file = {"mcp_s_tool_7", "mcp_s_tool_20"}, str(tmp_path / "home" / "learnt.json")
    lines, asked = many_asked(kind, refused, lambda i, name: bad(i, name, kind), more=2, learnt_file=file)
    assert [("reply" in line) for line in lines if "reply" in line or "error" in line] == [True, True]
    assert sorted(told(lines)) == sorted(refused)  # once, for both prompts
    assert len(asked) == 4 and not refused & set(asked[-1]) and len(asked[-1]) == len(MANY) - 2
    known = json.loads(pathlib.Path(file).read_text())
    assert [len(one["tools"]) for one in known.values()] == [2]
    if kind != CHAT:  # each server has another address here, and is another provider
        return
    # Another session knows it, and says it again; a tool that is declared otherwise is tried.
    other = [dict(one, description="Other.") if one["name"] == "mcp_s_tool_7" else one for one in MANY]
    lines, asked = many_asked(kind, {"none"}, None, learnt_file=file, tools=other)
    assert len(asked) == 1 and told(lines) == ["mcp_s_tool_20"] and "mcp_s_tool_7" in asked[0]


@pytest.mark.parametrize("refused", [{"mcp_s_tool_0"}, {"mcp_s_tool_29"}, {"mcp_s_tool_3", "mcp_s_tool_4"},
                                     {"mcp_s_tool_1", "mcp_s_tool_28"}, {"read_file"}])
@pytest.mark.parametrize("kind", FORMATS)
def test_one_that_is_not_named_is_found(kind, refused):
    lines, asked = many_asked(kind, refused, lambda i, name: VAGUE[kind])
    assert "reply" in lines[-1] and set(told(lines)) == refused
    assert len(asked) <= 26 and set(asked[-1]) == {one["name"] for one in MANY} - refused


def test_a_refusal_that_is_not_about_tools_is_the_error():
    class Other(FAKES[CHAT].Provider):
        def check(self, request):
            return [] if "Answer with OK" in request.raw.decode() else ["no"]

        def error(self, request, status, message, detail=None):
            return json.dumps({"error": {"message": "The tool results do not fit."}}).encode()

    ok = {"reply": [text("OK")]}
    with FakeServer(Other(), [ok, ok]) as server:
        got = ask(opened(server, CHAT), contents=[user({"text": "Hi"})], tools=MANY)
        assert len(server.requests) == 2
    assert got["error"] == "invalid_argument" and "do not fit" in got["message"]


@pytest.mark.parametrize("alone", [True, False], ids=["its schema", "a call of it"])
def test_a_tool_whose_name_the_refusal_has_is_left_out_if_it_is_the_cause(alone):
    """Gemini's "Function call is missing a thought_signature" has a name, too."""
    class Words(FAKES[CHAT].Provider):
        def check(self, request):
            mine = "mcp_s_tool_7" in declared(request.body)
            return ["no"] if mine and (alone or "Answer with OK" not in request.raw.decode()) else []

        def error(self, request, status, message, detail=None):
            return json.dumps({"error": {"message": "The function call of `mcp_s_tool_7` in the conversation, or its "
                                         "schema, is not what is required."}}).encode()

    ok = {"reply": [text("OK")]}
    with FakeServer(Words(), [ok] * 3) as server:
        lines = run({"options": opened(server, CHAT), "request": {"contents": [user({"text": "Hi"})], "tools": MANY}})
        asked = [list(declared(one.body)) for one in server.requests]
    if alone:
        assert "reply" in lines[-1] and told(lines) == ["mcp_s_tool_7"]
        assert [len(one) for one in asked] == [len(MANY), 1, 0, len(MANY) - 1]
    else:
        assert lines[-1]["error"] == "invalid_argument" and not told(lines)
        assert [len(one) for one in asked] == [len(MANY), 1, len(MANY)]


NAMES_THAT_LOOK_MAPPED = ["a b", "a_b", "a/b"]


@pytest.mark.parametrize("kind", [CHAT, CLAUDE])
def test_names_that_look_like_others_stay_apart(kind):
    """Of tools and of members: what stands for a name is no other's, also one that a server chose to be so."""
    def hashed(name, kept, digits):
        return re.sub("[^A-Za-z0-9_-]", "_", name)[:kept] + "_" + hashlib.sha256(name.encode()).hexdigest()[:digits]

    members = NAMES_THAT_LOOK_MAPPED + [hashed("a/b", 57, 6), hashed("a b", 57, 6)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in members}}
    names = NAMES_THAT_LOOK_MAPPED + [hashed("a/b", 55, 8), hashed("a b", 55, 8)]
    tools = [tool(schema, name) for name in names]
    with FakeServer(FAKES[kind].Provider(), [{"reply": [text("Yes.")]}]) as server:
        run({"options": opened(server, kind), "request": {"contents": [user({"text": "Hi"})], "tools": tools}})
        sent = list(declared(server.requests[0].body).values())
    assert len({json.dumps(one) for one in declared(server.requests[0].body)}) == len(names)
    assert all(len(one["properties"]) == len(members) for one in sent), sent
    # Each is called under the name that was sent, with its members as they were sent.
    calls = [call_of(kind, name, {member: str(at) for at, member in enumerate(sent[0]["properties"])})
             for name in declared(server.requests[0].body)]
    with FakeServer(FAKES[kind].Provider(), [{"reply": calls}]) as server:
        got = ask(opened(server, kind), contents=[user({"text": "Hi"})], tools=tools)["reply"]["content"]["parts"]
    assert [one["functionCall"]["name"] for one in got] == names
    assert all(one["functionCall"]["args"] == {member: str(at) for at, member in enumerate(members)} for one in got)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("vague", [False, True], ids=["named", "vague"])
def test_all_tools_refused_still_answers_with_one_line(kind, vague):
    names = {one["name"] for one in MANY}
    lines, asked = many_asked(kind, names, lambda i, name: VAGUE[kind] if vague else bad(i, name, kind))
    assert "reply" in lines[-1] and asked[-1] == [] and set(told(lines)) == names and len(asked) < 65
    left = [line["text"] for line in lines if line.get("event") == "left_out"]
    assert len(left) == 1 and left[0].endswith(" rejects the declarations of all 32 tools. Requests are sent without tools: "
                                               "the model can only answer in text.")
    assert len([line for line in lines if line.get("event") == "restart"]) == 1


def test_too_many_tools_are_halved():
    class Few(FAKES[CHAT].Provider):
        def check(self, request):
            return ["many"] if len(request.body.get("tools", [])) > 20 else []

        def error(self, request, status, message, detail=None):
            return json.dumps({"error": {"message": "Invalid 'tools': array too long. Expected an array with maximum "
                                         "length 20, but got an array with length 32 instead."}}).encode()

    with FakeServer(Few(), [{"reply": [text("Yes.")]}] * 8) as server:
        got = ask(opened(server, CHAT), contents=[user({"text": "Hi"})], tools=MANY)
        assert len(declared(server.requests[-1].body)) == 16
    assert "reply" in got
