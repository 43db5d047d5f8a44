# SPDX-License-Identifier: Apache-2.0
"""Resources of servers: attached with @SERVER:URI, read by the model, reported when they change."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import TOP, declared
from fake_gemini import call, text
from test_npm import program, served

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

HASP = os.environ["HASP"]
TOOLS = {"list_mcp_resources", "read_mcp_resource"}


def run(world, prompt, *calls):
    done = world.run([[one] for one in calls] + [[text("Done.")]], "-p", prompt)
    assert done.code == 0, done.err
    return done, [done.results(i + 1)[-1] for i in range(len(calls))]


def parts(done, request=0):
    return done.sent[request]["contents"][-1]["parts"]


def said(done, request=0):
    return "".join(part.get("text", "") for part in parts(done, request))


@pytest.mark.parametrize("ways", ["resources", "resources,modern"])
def test_a_prompt_attaches_what_it_names(world, ways):
    world.use({"fake": world.server("fake", ways)})
    for _ in range(2):  # asked, and known from last time
        done, _ = run(world, "What is @fake:test://4, and @fake:test://1?")
        assert "--- Content from referenced files ---\nContent from @fake:test://4:\n" in said(done)
        assert "<untrusted_context>\ntest://4\n\ninside test://4" in said(done)
        assert said(done).count("</untrusted_context>") == 2
        assert [part["inlineData"]["mimeType"] for part in parts(done) if "inlineData" in part] == ["image/png"]
        assert "--- End of content ---" in said(done)


def test_a_template_may_be_filled_in(world):
    world.use({"fake": world.server("fake", "resources")})
    assert "inside test://of/me/now" in said(run(world, "See @fake:test://of/me/now")[0])
    for wrong in ("fake:test://of//now", "fake:test://of/me", "fake:other://x", "none:test://4"):
        done, _ = run(world, "See @" + wrong)
        assert "inside" not in said(done) and "no such file" in done.err, wrong


def test_the_model_lists_and_reads_them(world):
    world.use({"fake": world.server("fake", "resources"), "b": world.server("fake", "resources")})
    done, (all_, some, one, bare, none) = run(
        world, "Go.", call("list_mcp_resources", {}), call("list_mcp_resources", {"serverName": "b"}),
        call("read_mcp_resource", {"uri": "b:test://0"}), call("read_mcp_resource", {"uri": "test://3"}),
        call("read_mcp_resource", {"uri": "test://99"}))
    assert TOOLS <= set(declared(done.sent[0]))
    for name in ("fake:test://0", "fake:test://4", "b:test://4", "b:test://of/{what}/now"):
        assert name in all_["output"]
    assert all_["output"].startswith("<untrusted_context>\n") and "fake:" not in some["output"]
    assert "inside test://0" in one["output"] and "inside test://3" in bare["output"]
    assert none["success"] is False and none["error"]["type"] == "mcp_resource_not_found"


def test_they_are_not_offered_without_resources(world):
    world.use({"fake": world.server()})
    done, _ = run(world, "Go.")
    assert not TOOLS & set(declared(done.sent[0]))


def test_settings_may_leave_a_tool_out(world):
    world.use({"fake": world.server("fake", "resources")}, tools={"exclude": ["read_mcp_resource"]})
    done, _ = run(world, "Go.")
    assert TOOLS & set(declared(done.sent[0])) == {"list_mcp_resources"}


def on_terminal(world, server):
    return terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                          cwd=world.root).wait("runs a command.")


@pytest.mark.parametrize("ways", ["resources", "resources,modern"])
def test_a_change_is_reported_to_the_model_and_the_user(world, ways):
    """In the session that read it: once, and of what was read alone."""
    world.use({"fake": world.server("fake", ways, trust=True)})
    with world.fake([[text("Zero.")], [text("One.")], [call("mcp_fake_say", {"what": "change"})], [text("Two.")],
                     [text("Three.")], [text("Four.")]], append_only=False) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("hi").key("enter").wait("Zero.").wait("? for keys")
            hasp.type("/mcp").key("enter").wait("@fake:test://of/{what}/now")
            hasp.type("See @test4").wait("  r4").key("tab").wait("See @fake:test://4")
            hasp.type(" now").key("enter").wait("One.").wait("? for keys")
            hasp.type("go on").key("enter").wait("Two.").wait("? for keys")
            hasp.type("and").key("enter").wait("Three.").wait("have changed; the model is notified").wait("? for keys")
            hasp.type("then").key("enter").wait("Four.").key("ctrl+d")
            assert hasp.end() == 0
    asked = ["".join(part.get("text", "") for part in one.body["contents"][-1]["parts"]) for one in server.requests]
    assert "inside test://4" in asked[1]
    assert [i for i, one in enumerate(asked) if "<server_notice>" in one] == [4], asked
    assert "have changed since they were read:\nfake:test://4\nRead" in asked[4]


def test_a_change_is_reported_over_http(world):
    """By a server of 2026-07-28, on the stream that stands: hasp's own."""
    world.write("a.txt", "before\n")
    own = subprocess.Popen([HASP, "serve", "mcp", "--http", "0", "--no-token", "--root", str(world.root)],
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=world.env)
    try:
        url = re.search(r"http://127\.0\.0\.1:\d+/mcp", next(line for line in own.stderr if "http://" in line)).group()
        world.use({"own": {"httpUrl": url}})
        with world.fake([[text("Answer %d." % i)] for i in range(50)], append_only=False) as server:
            with on_terminal(world, server) as hasp:
                hasp.type("See @own:file://%s now" % (world.root / "a.txt")).key("enter").wait("Answer 0.")
                hasp.wait("? for keys")
                world.write("a.txt", "after\n")
                for i in range(1, 50):
                    hasp.type("go on").key("enter").wait("Answer %d." % i).wait("? for keys")
                    if "<server_notice>" in str(server.requests[-1].body):
                        break
                hasp.key("ctrl+d")
                assert hasp.end() == 0
        assert "before" in str(server.requests[0].body["contents"])
        assert "own:file://%s" % (world.root / "a.txt") in str(server.requests[-1].body["contents"][-1])
        assert "<server_notice>" in str(server.requests[-1].body["contents"][-1])
    finally:
        own.kill()
        own.wait()


def test_hostile_resources_are_cleaned(world):
    world.use({"fake": world.server("fake", "evil")})
    done, (listed, read) = run(world, "Go.", call("list_mcp_resources", {}),
                               call("read_mcp_resource", {"uri": "fake:evil://a"}))
    for bad in ("\x1b", "\x07", "\u202e", "\U000e0041"):
        assert bad not in json.dumps([listed, read], ensure_ascii=False)
    assert listed["output"].count("evil://") == 1
    for one in (listed["output"], read["output"][0]["text"]):
        assert one.count("</untrusted_context>") == 1
    shown = world.command("mcp", "test", "fake")
    assert "@fake:evil://a" in shown.text and "\x1b" not in shown.text


def use_everything(world):
    done, (listed, read) = run(world, "See @all:demo://resource/dynamic/text/7", call("list_mcp_resources", {}),
                               call("read_mcp_resource", {"uri": "demo://resource/dynamic/blob/3"}))
    assert "Content from @all:demo://resource/dynamic/text/7:" in said(done) and "Resource 7" in said(done)
    assert "all:demo://resource/dynamic/text/{resourceId}" in listed["output"]
    assert "success" not in read


def test_of_the_reference_server(world):
    world.use({"all": program("everything", "stdio")})
    use_everything(world)


def test_of_the_reference_server_over_http(world):
    with served("/mcp") as url:
        world.use({"all": {"httpUrl": url}})
        use_everything(world)
