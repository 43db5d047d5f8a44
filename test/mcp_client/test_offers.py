# SPDX-License-Identifier: Apache-2.0
"""What servers offer besides tools: instructions."""
import json

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
    world.use({"s%d" % i: world.server("fake", "long-instructions", "none") for i in range(12)})
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
