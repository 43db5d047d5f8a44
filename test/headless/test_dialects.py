# SPDX-License-Identifier: Apache-2.0
"""The editor that each family of models is offered, and what becomes of its calls."""
import json

import pytest
from conftest import KINDS
from fake_gemini import call, text

LINES = "one\ntwo\nthree\n"
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** End Patch\n"
HELLO = [[text("Hello.")]]

# Where the model is named -> what it is offered.
FAMILIES = [
    ("gemini", "gemini-3-pro", "gemini"), ("openai", "openai/gpt-4.1", "openai"), ("openai", "openai/o4-mini", "openai"),
    ("openai-responses", "openai-responses/gpt-5", "openai"), ("anthropic", "anthropic/claude-sonnet-4-5", "anthropic"),
    ("openai", "openai/qwen3-coder", "anthropic"), ("openai", "openai/anthropic/claude-opus-4", "anthropic"),
    ("openai", "openai/google/gemini-2.5-pro", "gemini"), ("openai", "openai/deepseek-v3.2", "anthropic"),
    ("openai", "openai/openai/gpt-oss-120b", "openai"), ("openai", "openai/kimi-k2", "anthropic"),
    ("openai", "openai/z-ai/glm-4.6", "anthropic"), ("openai", "openai/llama-4", "hasp"),
    ("openai", "openai/mistral-large", "hasp"), ("openai", "openai/foo1", "hasp"),
]
EDITORS = {"hasp": {"safe_patch", "write_file", "update_file", "apply_changes"},
           "gemini": {"safe_patch", "write_file", "replace", "apply_changes"},
           "openai": {"apply_patch"}, "anthropic": {"Edit", "MultiEdit", "Write"}}
ALL = set().union(*EDITORS.values())


def reply(kind, *parts):
    """A step of a script."""
    return list(parts) if kind == "gemini" else {"reply": list(parts)}


def declared(done, i=0):
    tools = done.sent[i]["tools"]
    tools = tools[0]["functionDeclarations"] if "functionDeclarations" in tools[0] else tools
    return {tool["name"]: tool for tool in (tool.get("function", tool) for tool in tools) if "name" in tool}


@pytest.mark.parametrize("kind, model, dialect", FAMILIES)
def test_a_family_gets_its_editor(world, kind, model, dialect):
    with world.fake([reply(kind, text("Hello."))], kind) as server:
        server.model = model
        server.provider.lenient = kind == "openai"
        done = world.command("-p", "x", server=server)
    assert done.code == 0, done.err
    assert set(declared(done)) & ALL == EDITORS[dialect]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", EDITORS)
def test_the_setting_decides(world, kind, dialect):
    world.settings(hasp={"tools": {"dialect": dialect}})
    done = world.run([reply(kind, text("Hello."))], "-p", "x", kind=kind)
    assert set(declared(done)) & ALL == EDITORS[dialect]
    said = json.dumps(done.sent[0])
    assert ("base_content_sha256" in said) == (dialect in ("hasp", "gemini"))
    for name in EDITORS[dialect]:
        assert name in said


@pytest.mark.parametrize("settings", [{"tools": {"exclude": ["write_file"]}},
                                      {"tools": {"core": ["read_file", "update_file"]}}])
def test_who_takes_an_editor_away_keeps_the_others_as_they_are(world, settings):
    world.settings(**settings)
    done = world.run([reply("anthropic", text("Hello."))], "-p", "x", kind="anthropic")
    there = set(declared(done)) & ALL
    assert there and there < EDITORS["hasp"]


# What an editor can do, by whatever name.
CAN = {name: {"edit"} for name in ("safe_patch", "update_file", "replace", "Edit", "MultiEdit")}
CAN.update({name: {"write"} for name in ("write_file", "Write")})
CAN.update({name: {"edit", "write", "delete"} for name in ("apply_changes", "apply_patch")})
OWN = {"safe_patch", "update_file", "apply_changes"}  # these words mean no other tool where they take away


def listed(world, way, word):
    """(settings, arguments) that list the word and read_file."""
    words = [word, "read_file"]
    if way == "hook":
        said = world.top / "said.json"
        said.write_text(json.dumps({"hookSpecificOutput": {"toolConfig": {"mode": "AUTO", "allowedFunctionNames": words}}}))
        return {"hooks": {"BeforeToolSelection": [{"hooks": [{"type": "command", "command": "cat %s" % said}]}]}}, []
    if way == "rule":
        rules = world.top / "rules.toml"
        rules.write_text("".join('[[rule]]\ntoolName = "%s"\ndecision = "deny"\npriority = 900\n' % one for one in words))
        return {}, ["--policy", str(rules)]
    if way == "agent":
        agents = world.home / ".gemini" / "agents"
        agents.mkdir(parents=True, exist_ok=True)
        (agents / "a.md").write_text("---\nname: a\ndescription: d\ntools: %s\n---\nWork.\n" % json.dumps(words))
        return {"experimental": {"enableAgents": True}}, []
    return {"tools": {way: words}}, []


def offered(world, dialect, way, word):
    settings, arguments = listed(world, way, word)
    world.settings(**settings, hasp={"tools": {"dialect": dialect}})
    calls = [[call("invoke_agent", {"agent_name": "a", "prompt": "x"})], [text("Hello.")]] if way == "agent" else []
    done = world.run([reply("anthropic", *one) for one in [*calls, [text("Hello.")]]], "-p", "x", "--yolo", *arguments,
                     kind="anthropic", append_only=way != "agent")
    return set(declared(done, len(calls) // 2))


@pytest.mark.parametrize("dialect", EDITORS)
@pytest.mark.parametrize("way", ["hook", "core", "agent", "exclude", "rule"])
def test_a_list_of_tools_means_the_same_in_each_dialect(world, dialect, way):
    """Allowed is what can do no more than what is named; taken away what can do the same."""
    for word in CAN:
        names = offered(world, dialect, way, word)
        able = set().union(*(CAN[name] for name in names & ALL))
        if way in ("hook", "core", "agent"):
            assert able and able <= CAN[word] and "read_file" in names, (word, names)
        else:
            assert word not in names and "read_file" not in names, (word, names)
            assert word in OWN or not able & CAN[word], (word, names)


@pytest.mark.parametrize("kind, edit", [
    ("gemini", ("replace", {"file_path": "a.txt", "instruction": "x", "old_string": "two", "new_string": "2"})),
    ("openai", ("apply_patch", {"input": PATCH})),
    ("openai-responses", ("apply_patch", {"input": PATCH})),
    ("anthropic", ("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "2"})),
])
def test_an_edit_in_each_dialect(world, kind, edit):
    """Two of them: the second goes on from the first without a read."""
    world.write("a.txt", LINES)
    second = json.loads(json.dumps(edit[1]).replace("two", "three").replace('"2"', '"3"').replace("+2", "+3").replace(
        " one\\n-three\\n+3\\n three", " one\\n 2\\n-three\\n+3"))
    done = world.run([reply(kind, call("read_file", {"file_path": "a.txt"})), reply(kind, call(*edit)),
                      reply(kind, call(edit[0], second)), reply(kind, text("Done."))], "--yolo", "-p", "x", kind=kind)
    assert done.code == 0 and world.read("a.txt") == "one\n2\n3\n", done.said()


def test_free_text_goes_back_as_it_came(world):
    world.write("a.txt", LINES)
    kind = "openai-responses"
    done = world.run([reply(kind, call("read_file", {"file_path": "a.txt"}), call("apply_patch", {"input": PATCH})),
                      reply(kind, call("apply_patch", {"input": "nonsense"})),
                      reply(kind, text("Done."))], "--yolo", "-p", "x", kind=kind)
    tool = declared(done)["apply_patch"]
    assert tool["type"] == "custom" and tool["format"]["syntax"] == "lark" and "parameters" not in tool
    items = done.sent[2]["input"]
    assert [item["type"] for item in items if "call" in item["type"]] == [
        "function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output",
        "custom_tool_call", "custom_tool_call_output"]
    assert [item["input"] for item in items if item["type"] == "custom_tool_call"] == [PATCH, "nonsense"]
    assert "no *** Begin Patch" in items[-1]["output"] and world.read("a.txt") == "one\n2\nthree\n"


def test_a_resumed_session_sends_it_again_so(world):
    world.write("a.txt", LINES)
    kind = "openai-responses"
    first = world.run([reply(kind, call("read_file", {"file_path": "a.txt"}), call("apply_patch", {"input": PATCH})),
                       reply(kind, text("Done."))], "--yolo", "-p", "x", kind=kind)
    with world.fake([reply(kind, text("Hello."))], kind, append_only=False) as server:
        server.provider.free, server.provider.sent = first.server.provider.free, first.server.provider.sent
        done = world.command("-r", "latest", "-p", "y", server=server)
    assert done.code == 0, done.err
    assert [item["type"] for item in done.sent[0]["input"] if "custom" in item["type"]] == [
        "custom_tool_call", "custom_tool_call_output"]


def test_a_server_without_free_text_gets_a_function(world):
    """It says so once, and later sessions know."""
    world.write("a.txt", LINES)
    kind = "openai-responses"
    refusal = {"status": 400, "error": "Invalid value: 'custom'. Unsupported tool type."}
    done = world.run([refusal, reply(kind, call("read_file", {"file_path": "a.txt"})),
                      reply(kind, call("apply_patch", {"input": PATCH})), reply(kind, text("Done."))],
                     "--yolo", "-p", "x", kind=kind, append_only=False)
    assert done.code == 0 and world.read("a.txt") == "one\n2\nthree\n", done.err
    assert declared(done, 0)["apply_patch"]["type"] == "custom"
    assert declared(done, 1)["apply_patch"]["parameters"]["required"] == ["input"]


def test_hooks_that_select_tools_mean_what_stands_in_their_place(world):
    world.settings(hooks={"BeforeToolSelection": [{"hooks": [{"type": "command", "command": (
        "echo '{\"hookSpecificOutput\": {\"toolConfig\": {\"mode\": \"ANY\", \"allowedFunctionNames\": "
        "[\"read_file\", \"update_file\"]}}}'")}]}]})
    for kind, editors in (("anthropic", {"Edit", "MultiEdit"}), ("openai-responses", {"update_file"})):
        done = world.run([reply(kind, text("Hello."))], "-p", "x", kind=kind)
        assert set(declared(done)) == {"read_file"} | editors


def test_a_subagent_gets_its_models_editor(world):
    world.write(".gemini/agents/a.md", "---\nname: a\ndescription: d\n---\nWork.\n")
    world.write("a.txt", LINES)
    world.settings(experimental={"enableAgents": True})
    kind = "anthropic"
    done = world.run([reply(kind, call("invoke_agent", {"agent_name": "a", "prompt": "x"})),
                      reply(kind, call("Read", {"file_path": "a.txt"})),
                      reply(kind, call("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "2"})),
                      reply(kind, text("Done.")), reply(kind, text("Done."))], "--yolo", "-p", "x", kind=kind,
                     append_only=False)
    assert EDITORS["anthropic"] <= set(declared(done, 1)) and world.read("a.txt") == "one\n2\nthree\n"
    assert "base_content_sha256" not in json.dumps(done.sent[1]["system"])
