# SPDX-License-Identifier: Apache-2.0
"""What servers offer besides tools: instructions, prompts."""
import json

import pytest
from fake_gemini import text


def hello(world, *more):
    done = world.run([[text("Hi.")]], "-p", "Hi.", *more)
    assert done.code == 0, done.err
    return done


def first_text(request):
    return "".join(part.get("text", "") for part in request["contents"][0]["parts"])


# ---- instructions ----


def test_instructions_are_in_the_first_message_and_marked(world):
    world.use({"fake": world.server("fake", "instructions")})
    said = first_text(hello(world).sent[0])
    assert said.count('The MCP server "fake":') == 1
    inside = said.split('The MCP server "fake":\n<untrusted_context>\n')[1]
    inside = inside.split("\n</untrusted_context>")[0]
    assert inside.startswith("Call echo ") and "Obey me." in inside
    assert "\x1b" not in said and "\U000e0041" not in said
    assert said.index("<server_instructions>") < said.index("</session_context>")


def test_instructions_are_the_same_of_a_server_that_was_not_started(world):
    log = world.top / "log"
    for way in ("instructions", "long-instructions"):
        world.use({"fake": world.server("fake", "--log", log, way,
                                        sandbox={"write": [str(world.top)]})})
        first = first_text(hello(world).sent[0])
        assert log.exists()
        log.unlink()
        assert first_text(hello(world).sent[0]) == first and not log.exists()


def test_long_instructions_are_cut_and_that_is_said(world):
    world.use({"fake": world.server("fake", "long-instructions")})
    said = first_text(hello(world).sent[0])
    part = said.split("<server_instructions>")[1].split("</server_instructions>")[0]
    assert len(part.encode()) < 2500 and "the server sent 12000 bytes" in part


def test_many_instructions_have_a_limit_together(world):
    world.use({"s%d" % i: world.server("fake", "long-instructions", "none") for i in range(9)})
    said = first_text(hello(world).sent[0])
    part = said.split("<server_instructions>")[1].split("</server_instructions>")[0]
    assert len(part.encode()) < 17500 and "more servers have instructions" in part


def test_the_beginning_stays_when_a_server_comes_late(world):
    """What a slow server says is told in a note; what was sent before is sent again as it was."""
    log = world.top / "log"
    servers = {"fake": world.server("fake", "--log", log, "held", "none", "instructions",
                                    sandbox={"write": [str(world.top)]})}
    world.settings(hasp={"waits": {"serversSeconds": 0}}, mcpServers=servers)
    first = hello(world)
    assert "<server_instructions>" not in first.said()
    world.settings(mcpServers=servers)
    (world.top / "log.go").touch()
    second = hello(world, "--resume", "latest")
    before, now = first.sent[0]["contents"], second.sent[0]["contents"]
    assert now[0] == before[0] and second.sent[0]["systemInstruction"] == first.sent[0][
        "systemInstruction"]
    assert "Call echo " in json.dumps(now[1:])


def test_without_instructions_nothing_is_said(world):
    world.use({"fake": world.server()})
    assert "server_instructions" not in hello(world).said()


# ---- prompts ----


def prompted(world, line):
    done = world.run([[text("Hi.")]], "-p", line)
    assert done.code == 0, done.err
    return done.sent[0]["contents"][-1]["parts"]


def test_a_prompt_is_sent_with_all_its_messages(world):
    world.use({"fake": world.server("fake", "prompts")})
    for _ in range(2):  # asked, and known from last time
        parts = prompted(world, "/plain")
        said = "".join(part.get("text", "") for part in parts)
        assert 'The user chose the prompt "plain" of the MCP server "fake"' in said
        assert said.count("</server_prompt>") == 1 and "As you like." in said
        assert "<untrusted_context>\ntest://a\n\ninside" in said
        assert [part["inlineData"]["mimeType"] for part in parts if "inlineData" in part] == [
            "image/png"]


@pytest.mark.parametrize("line,arguments", [
    ('--what="a \\"b\\"" --how=c', {"what": 'a "b"', "how": "c"}),
    ("do this now", {"what": "do this now"}),
    ("--what=x y z", {"what": "x", "how": "y z"}),
], ids=str)
def test_arguments_by_name_and_by_place(world, line, arguments):
    world.use({"fake": world.server("fake", "prompts")})
    said = "".join(part.get("text", "") for part in prompted(world, "/two-words " + line))
    assert json.dumps(arguments, sort_keys=True) in said


def test_what_is_missing_or_unknown_is_said(world):
    world.use({"fake": world.server("fake", "prompts")})
    for line, why in (("/two-words", "--what="), ("/two-words --no=1", 'no argument "no"'),
                      ("/nothing", "Unknown command")):
        done = world.run([], "-p", line)
        assert done.code != 0 and why in done.err, (line, done.err)
    done = world.run([], "-p", "/two-words help")
    assert done.code == 0 and "--what" in done.text and "(required)" in done.text


def test_names_that_are_taken_have_the_servers_before_them(world):
    world.use({"a b": world.server("fake", "prompts"), "c": world.server("fake", "prompts")})
    assert "Greet" in json.dumps(prompted(world, "/c.plain"))
    done = world.run([], "-p", "/help")
    assert "Not the built-in one" in done.text and "/a-b:plain" in done.text
    assert "/a-b:help" in done.text and "\x1b" not in done.text


def test_the_command_shows_prompts_and_instructions(world):
    world.use({"fake": world.server("fake", "prompts,instructions")})
    done = world.command("mcp", "test", "fake")
    assert done.code == 0, done.err
    assert "\n    prompt " in done.text and "\n    instructions:\n        " in done.text


# ---- names in the lists of a server's tools ----


@pytest.mark.parametrize("names,said", [
    ({"excludeTools": ["ecoh"]}, 'mcpServers.fake.excludeTools names "ecoh", but the server has no such tool; did you mean "echo"?'),
    ({"includeTools": ["echo", "deploy(x)"]}, 'mcpServers.fake.includeTools names "deploy", but the server has no such tool.'),
    ({"includeTools": ["echo"], "excludeTools": ["echo(x)"]}, ""),
])
def test_a_name_that_a_server_does_not_have_is_said_once(world, names, said):
    """Also where its tools are known from the last time, and it is not started."""
    world.use({"fake": world.server("fake", **names)})
    for _ in range(2):
        done = hello(world)
        assert done.err.count("has no such tool") == (1 if said else 0) and said in done.err, done.err
