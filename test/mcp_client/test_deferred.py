# SPDX-License-Identifier: Apache-2.0
"""Tools of servers that are announced by name and loaded on demand (hasp.tools.defer)."""
import json

import pytest
from conftest import declared
from fake_gemini import call, text

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
    assert len(foreign(request)) == 3 and not WAYS & set(declared(request))


@pytest.mark.parametrize("settings,deferred", [({"defer": "off"}, False), ({}, True),
                                               ({"deferTokens": 1000000}, False)])
def test_many_are_announced(world, settings, deferred):
    use(world, "large", **settings)
    (request,) = world.run([[text("Hi.")]], "-p", "Hi.").sent
    assert (len(foreign(request)) == 0) == deferred
    assert (WAYS <= set(declared(request))) == deferred
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
