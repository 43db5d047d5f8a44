# SPDX-License-Identifier: Apache-2.0
"""Tools of servers that are announced by name and loaded on demand (hasp.tools.defer)."""
import json

import pytest
from conftest import declared
from fake_gemini import call, text
from fake_openai import search

WAYS = {"search_tools", "call_tool"}


def use(world, *ways, trust=True, **tools):
    world.use({"fake": world.server("fake", *ways, trust=trust)}, hasp={"tools": tools})


def foreign(request):
    return [name for name in declared(request) if name.startswith("mcp_")]


def context(request):
    return json.dumps(request["contents"][0])


def responses(request):
    return [part["functionResponse"] for part in request["contents"][-1]["parts"]
            if "functionResponse" in part]


def test_few_are_declared(world):
    use(world)
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert len(foreign(request)) == 3 and "mcp_fake" not in context(request)


def test_rare_tools_of_our_own_are_announced(world):
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert "query_data" not in declared(request) and WAYS <= set(declared(request))
    assert "- query_data: Queries a data file" in context(request)
    world.settings(hasp={"tools": {"defer": "off"}})
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert "query_data" in declared(request) and not WAYS & set(declared(request))


def test_a_rare_tool_is_found_and_called(world):
    world.write("d.json", '{"a": [1, 2, 3]}')
    done = world.run([[call("search_tools", {"query": "jq expression json"})],
                      [call("call_tool", {"name": "query_data", "arguments": {"file_path": "d.json", "query": ".a | add"}})],
                      [text("Done.")]], "-p", "Hi.")
    (found,) = responses(done.sent[1])
    assert found["response"]["tools"][0]["name"] == "query_data"
    (answer,) = responses(done.sent[2])
    assert answer["response"]["results"] == [6], answer


@pytest.mark.parametrize("settings,deferred", [({"defer": "off"}, False), ({}, True),
                                               ({"deferTokens": 1000000}, False)])
def test_many_are_announced(world, settings, deferred):
    use(world, "large", **settings)
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert (len(foreign(request)) == 0) == deferred
    assert (WAYS <= set(declared(request))) == (settings.get("defer") != "off")
    assert ("- mcp_fake_large7: Large number 7." in context(request)) == deferred


def test_loading_and_calling(world):
    use(world, defer="on")
    done = world.run([[call("search_tools", {"query": "says again"})],
                      [call("call_tool", {"name": "mcp_fake_echo", "arguments": {"text": "hello"}})],
                      [text("Done.")]], "-p", "Hi.", "-o", "stream-json")
    assert done.code == 0, done.err
    first, second, third = done.sent
    (found,) = responses(second)
    assert found["name"] == "search_tools"
    assert found["response"]["tools"][0]["name"] == "mcp_fake_echo"
    assert "text" in found["response"]["tools"][0]["parameters"]["properties"]
    (answer,) = responses(third)
    assert answer["name"] == "call_tool" and "hello" in json.dumps(answer["response"])
    # What was sent stays as it was.
    assert first["tools"] == second["tools"] == third["tools"]
    assert first["systemInstruction"] == third["systemInstruction"]
    assert third["contents"][:len(first["contents"])] == first["contents"]
    # Whoever watches sees the real tool.
    assert '"mcp_fake_echo"' in done.text and '"tool_name":"call_tool"' not in done.text


def test_a_name_finds_just_that(world):
    use(world, "large", defer="on")
    done = world.run([[call("search_tools", {"query": "mcp_fake_large11", "max_results": 1})],
                      [text("Done.")]], "-p", "Hi.")
    (found,) = responses(done.sent[1])
    assert [tool["name"] for tool in found["response"]["tools"]] == ["mcp_fake_large11"]


def test_called_by_its_own_name(world):
    use(world, defer="on")
    done = world.run([[call("mcp_fake_echo", {"text": "direct"}), call("mcp_fake_echo", {"txt": 1})],
                      [text("Done.")]], "-p", "Hi.")
    good, bad = responses(done.sent[1])
    assert "direct" in json.dumps(good["response"])
    assert bad["response"]["error"]["code"] == "invalid_argument"
    assert bad["response"]["declaration"]["name"] == "mcp_fake_echo"


def test_rules_are_about_the_real_tool(world):
    use(world, defer="on", trust=False)
    done = world.run([[call("call_tool", {"name": "mcp_fake_echo", "arguments": {"text": "x"}})],
                      [text("Done.")]], "-p", "Hi.")
    (answer,) = responses(done.sent[1])
    assert answer["response"]["error"]["code"].startswith("denied"), answer


def test_no_such_tool(world):
    use(world, defer="on")
    done = world.run([[call("call_tool", {"name": "mcp_fake_ecko", "arguments": {}}),
                       call("call_tool", {"name": "call_tool", "arguments": {}})],
                      [text("Done.")]], "-p", "Hi.")
    one, two = responses(done.sent[1])
    assert one["response"]["error"]["code"] == "unknown_tool"
    assert "mcp_fake_echo" in one["response"]["message"]
    assert two["response"]["error"]["code"] == "unknown_tool"


def test_what_is_excluded_leaves_all_declared(world):
    world.use({"fake": world.server("fake", trust=True)}, hasp={"tools": {"defer": "on"}},
              tools={"exclude": ["call_tool"]})
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert len(foreign(request)) == 3 and "search_tools" not in declared(request)


def test_a_resumed_session_has_what_was_loaded(world):
    use(world, defer="on")
    script = [[call("search_tools", {"query": "echo"})], [text("Found.")], [text("Hi.")]]
    with world.fake(script, "gemini", True) as server:
        for args in (["-p", "Hi."], ["--resume", "latest", "-p", "Again."]):
            done = world.command(*args, server=server)
            assert done.code == 0, done.err
    assert not server.violations and not server.script
    old, new = done.sent[1], done.sent[2]
    assert new["tools"] == old["tools"]
    assert new["contents"][:len(old["contents"])] == old["contents"]


# ---- by the provider itself ----

CLAUDE = ("anthropic", "anthropic/claude-sonnet-4-5")
GPT = ("openai-responses", "openai-responses/gpt-5.5")


def provided(world, which, script, *args, append_only=True):
    kind, model = which
    with world.fake(script, kind, append_only) as server:
        server.model = model
        done = world.command(*(args or ("-p", "Hi.", "-o", "stream-json")), server=server)
    assert done.code == 0, done.err
    assert not server.violations and not server.script, server.violations
    return done


def last_result(request):
    """The content of the last result in a request to the fake of Anthropic's API."""
    return [block["content"] for message in request["messages"] for block in message["content"]
            if block["type"] == "tool_result"][-1]


def test_anthropic_gets_references(world):
    use(world, defer="on", deferBy="provider")
    done = provided(world, CLAUDE, [
        [call("search_tools", {"query": "mcp_fake_echo", "max_results": 1})],
        [call("mcp_fake_echo", {"text": "hello"})], [text("Done.")]])
    first, second, third = done.sent
    tools = {tool["name"]: tool for tool in first["tools"]}
    assert tools["mcp_fake_echo"]["defer_loading"] and "defer_loading" not in tools["search_tools"]
    assert "call_tool" not in tools and "mcp_fake_echo" in json.dumps(first["messages"])
    assert last_result(second) == [{"type": "tool_reference", "tool_name": "mcp_fake_echo"}]
    assert "hello" in json.dumps(last_result(third))
    assert first["tools"] == second["tools"] == third["tools"]


def test_openai_gets_what_was_found(world):
    use(world, defer="on", deferBy="provider")
    done = provided(world, GPT, [[search({"query": "mcp_fake_echo", "max_results": 1})],
                                 [call("mcp_fake_echo", {"text": "hello"})], [text("Done.")]])
    first, second, third = done.sent
    names = [tool.get("name", tool["type"]) for tool in first["tools"]]
    assert "tool_search" in names and not WAYS & set(names)
    assert not [name for name in names if name.startswith("mcp_")]
    asked, found = second["input"][-2:]
    assert asked["arguments"] == {"query": "mcp_fake_echo", "max_results": 1}
    assert [tool["name"] for tool in found["tools"]] == ["mcp_fake_echo"]
    assert "text" in found["tools"][0]["parameters"]["properties"]
    assert third["input"][-1]["type"] == "function_call_output"
    assert "hello" in third["input"][-1]["output"]
    assert first["tools"] == third["tools"]


@pytest.mark.parametrize("which", [CLAUDE, GPT])
@pytest.mark.parametrize("by", ["own", "auto"])
def test_own_way_where_the_provider_is_not_known_to_load(world, which, by):
    use(world, defer="on", deferBy=by)
    (request,) = provided(world, which, [[text("Hi.")]]).sent
    assert WAYS <= {tool["name"] for tool in request["tools"]}
    assert not any(tool.get("defer_loading") for tool in request["tools"])


@pytest.mark.parametrize("which", [CLAUDE, GPT])
def test_a_resumed_session_still_has_it(world, which):
    use(world, defer="on", deferBy="provider")
    asks = search({"query": "echo"}) if which is GPT else call("search_tools", {"query": "echo"})
    script = [[asks], [text("Found.")], [call("mcp_fake_echo", {"text": "later"})], [text("Done.")]]
    with world.fake(script, which[0], True) as server:  # each request begins with the one before it
        server.model = which[1]
        for args in (["-p", "Hi."], ["--resume", "latest", "-p", "Again."]):
            done = world.command(*args, server=server)
            assert done.code == 0, done.err
    assert not server.violations and not server.script
    assert "later" in json.dumps(done.sent[-1])


def test_no_reference_to_a_tool_that_is_gone(world):
    use(world, defer="on", deferBy="provider")
    provided(world, CLAUDE, [[call("search_tools", {"query": "mcp_fake_echo"})], [text("Found.")]])
    world.settings(hasp={"tools": {"deferBy": "provider"}})
    done = provided(world, CLAUDE, [[text("Gone.")]], "--resume", "latest", "-p", "Again.",
                    append_only=False)
    assert [block["type"] for block in last_result(done.sent[0])] == ["text"]
