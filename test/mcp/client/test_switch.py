# SPDX-License-Identifier: Apache-2.0
"""/mcp enable, disable, reload and schema: what the model has then, what runs, what is written down."""
import json
import sys
import time

import pytest
from conftest import TOP, declared
from fake_gemini import call, text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

ECHO = call("mcp_fake_echo", {"text": "hello"})
READY = "? for keys"


def logged(world, **more):
    return world.server("fake", "--log", world.top / "fake.log",
                        **{"trust": True, "sandbox": {"write": [str(world.top)]}, **more})


def log(world):
    return (world.top / "fake.log").read_text().splitlines()


def until(true):
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it never came true")


def disabled(world):
    path = world.home / ".gemini" / "mcp-server-enablement.json"
    return json.loads(path.read_text()) if path.exists() else {}


def on_terminal(world, server):
    return terminal.Vterm(world.argv(server, []), 120, 40, env=world.environment(server),
                          cwd=world.root).wait("runs a command.")


def slash(hasp, line, said):
    hasp.wait(READY).type(line).key("enter").wait(said, 120).quiet(0.1)


@pytest.mark.parametrize("flag, kept", [("", {"fake": {"enabled": False}}), (" --session", {})])
def test_one_is_switched_off_and_on(world, flag, kept):
    """Its process ends, the model has its tools no more, and gets them back."""
    world.use({"fake": logged(world), "other": world.server()})
    script = [[text("One.")], [ECHO], [text("Two.")], [ECHO], [text("Three.")]]
    with world.fake(script, append_only=False) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("hi").key("enter").wait("One.")
            slash(hasp, "/mcp disable fake" + flag, "is disabled")
            until(lambda: "end" in log(world))
            assert disabled(world) == kept
            slash(hasp, "/tools", "mcp_other_echo")
            assert "mcp_fake_echo" not in hasp.dump().text
            hasp.type("again").key("enter").wait("Two.")
            slash(hasp, "/mcp enable fake" + flag, "is enabled")
            assert disabled(world) == {}
            hasp.type("once more").key("enter").wait("Three.", 60)
    bodies = [request.body for request in server.requests]
    assert ["mcp_fake_echo" in declared(body) for body in bodies] == [True, False, False, True, True]
    assert all("mcp_other_echo" in declared(body) for body in bodies)
    assert "There is no tool" in str(bodies[2]["contents"][-1])
    assert "you said hello" in str(bodies[4]["contents"][-1])


def test_what_is_off_for_the_session_stays_off_when_all_begin_anew(world):
    world.use({"fake": logged(world), "other": world.server()})
    with world.fake([[text("One.")]], append_only=False) as server:
        with on_terminal(world, server) as hasp:
            slash(hasp, "/mcp disable --session fake", "for this session.")
            slash(hasp, "/mcp reload", "other")
            hasp.type("hi").key("enter").wait("One.")
        assert "mcp_fake_echo" not in declared(server.requests[0].body)
        assert "mcp_other_echo" in declared(server.requests[0].body)


def test_settings_are_read_again(world):
    """One that is new is there, one that is gone has ended, and one whose trust was taken back is asked about."""
    world.use({"fake": logged(world), "gone": world.server("fake", "--log", world.top / "gone.log",
                                                          sandbox={"write": [str(world.top)]})})
    script = [[ECHO], [text("One.")], [ECHO], [text("Two.")]]
    with world.fake(script, append_only=False) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("hi").key("enter").wait("One.")
            world.use({"fake": logged(world, trust=False), "new": world.server()})
            slash(hasp, "/mcp refresh", "new")
            until(lambda: "end" in (world.top / "gone.log").read_text().splitlines())
            hasp.type("again").key("enter").wait("Allow once", 60).quiet(0.1).type("1").wait("Two.", 60)
    first, last = declared(server.requests[0].body), declared(server.requests[-1].body)
    assert "mcp_gone_echo" in first and "mcp_gone_echo" not in last
    assert "mcp_new_echo" not in first and "mcp_new_echo" in last
    assert "you said hello" in str(server.requests[-1].body["contents"][-1])


@pytest.mark.parametrize("what", ["tool", "all server tools"])
def test_always_is_for_the_server_that_was_asked_about(world, what):
    """Not for another command that has its name since."""
    world.use({"fake": logged(world, trust=False)})
    script = [[ECHO], [ECHO], [text("One.")], [ECHO], [text("Two.")]]
    with world.fake(script, append_only=False) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("hi").key("enter").wait("Allow %s for this session" % what).quiet(0.1)
            hasp.type("2" if what == "tool" else "3").wait("One.", 60)
            world.use({"fake": world.server("fake", "--log", world.top / "other.log",
                                            sandbox={"write": [str(world.top)]})})
            slash(hasp, "/mcp reload", "ready, 3 tools")
            hasp.type("again").key("enter").wait("Allow once", 60).quiet(0.1).type("1").wait("Two.", 60)
    assert log(world).count("tools/call") == 2
    assert (world.top / "other.log").read_text().split().count("tools/call") == 1


def test_settings_that_are_wrong_change_nothing(world):
    world.use({"fake": logged(world)})
    with world.fake([[text("One.")], [ECHO], [text("Two.")]]) as server:
        with on_terminal(world, server) as hasp:
            hasp.type("hi").key("enter").wait("One.")
            (world.home / ".gemini" / "settings.json").write_text("{ no")
            slash(hasp, "/mcp reload", "settings.json")
            hasp.type("again").key("enter").wait("Two.")
    assert "you said hello" in str(server.requests[-1].body["contents"][-1])


def test_without_a_terminal(world):
    world.use({"fake": world.server(), "bad": world.server()}, mcp={"excluded": ["bad"]})
    with world.fake([]) as server:
        def said(line, code=0):
            done = world.command("-p", line, server=server)
            assert (done.code == 0) == (code == 0), done.err
            return done.text + done.err

        assert "ready, 3 tools" in said("/mcp reload")
        assert '"properties": {' in said("/mcp schema fake") and "bad" not in said("/mcp schema fake")
        assert "fake" in said("/mcp list FAKE") and "Says it again." in said("/mcp desc fake")
        assert "is disabled." in said("/mcp disable Fake") and disabled(world)
        assert "disabled, 0 tools" in said("/mcp")
        assert "disabled in all sessions" in said("/mcp enable fake --session", 1)
        assert '"fake" is enabled.' in said("/mcp enable fake") and not disabled(world)
        assert "mcp.excluded" in said("/mcp enable bad", 1)
        assert 'no MCP server "none"' in said("/mcp disable none", 1)
        assert 'no MCP server "none"' in said("/mcp list none", 1)
        assert "/mcp" in said("/mcp enable", 1)


def test_names_are_completed(world):
    world.use({"mine-a": world.server(), "mine-b": world.server()})
    assert world.command("mcp", "disable", "mine-b").code == 0
    with world.fake([]) as server:
        with on_terminal(world, server) as hasp:
            hasp.wait("sandbox:").type("/mcp enable mi").wait("mine-b").quiet(0.1)
            assert "mine-a" not in hasp.dump().text
            hasp.key("esc").quiet(0.2).key("ctrl+u").quiet(0.1).type("/mcp disable mi").wait("mine-a").quiet(0.1)
            assert "mine-b" not in hasp.dump().text
            hasp.key("esc").quiet(0.2).key("ctrl+u").quiet(0.1).type("/mcp enable mine-b --s").wait("--session")


def test_not_while_the_model_works(world):
    world.use({"fake": logged(world)})
    wait = call("run_shell_command", {"command": "while [ ! -e go ]; do sleep 0.05; done"})
    with world.fake([[wait], [text("One.")]]) as server:
        with terminal.Vterm(world.argv(server, ["--yolo"]), 120, 40, env=world.environment(server),
                            cwd=world.root).wait("runs a command.") as hasp:
            hasp.type("hi").key("enter").wait("while [").quiet(0.2)
            hasp.type("/mcp reload").key("enter").wait("queued: /mcp reload").quiet(0.1)
            hasp.type("/mcp").key("enter").wait("ready, 3 tools")
            assert "end" not in log(world)
            (world.root / "go").touch()
            hasp.wait("One.").wait("ready, 3 tools").wait("? for keys")
            assert "end" in log(world)
