# SPDX-License-Identifier: Apache-2.0
"""The status line: its items, and the user's own command for it."""
import json
import re
import socket
import time

import fake_openai
from fake_gemini import call, text

READY = "? for keys"


def last_line(hasp):
    lines = [line for line in hasp.dump().window if line.strip()]
    return lines[-1]


def command(world, script, where="home", **more):
    """A command for the status line that keeps what it is given in a file, an object a line."""
    log = world.top / "asked"
    world.settings(where, statusLine={"type": "command", "command": "cat >>%s; echo >>%s; %s" % (log, log, script)},
                   **more)
    # The last line may still be being written.
    return lambda: [json.loads(line) for line in log.read_text().split("\n")[:-1] if line] if log.exists() else []


def told(asked, true):
    """What the command was told last, when that is true of it: it is told what the screen shows a little later."""
    end = time.monotonic() + 60
    while not (asked() and true(asked()[-1])):
        assert time.monotonic() < end, asked()[-1:]
        time.sleep(0.05)
    return asked()[-1]


def test_items(world):
    world.settings(ui={"footer": {"items": ["hostname", "auth", "memory-usage", "code-changes", "quota"]}})
    edit = call("write_file", {"file_path": "a.txt", "content": "one\ntwo\n"})
    with world.fake([[edit], [text("Written.")]]) as server:
        with world.hasp(server, "--approval-mode", "auto_edit") as hasp:
            hasp.wait("GEMINI_API_KEY").quiet()
            assert re.search(r"%s  GEMINI_API_KEY  [1-9]\d*\.\d MB" % re.escape(socket.gethostname()), last_line(hasp))
            assert "+" not in last_line(hasp) and "limit" not in last_line(hasp)
            hasp.type("go").key("enter").wait("Written.").wait(READY)
            assert re.search(r"MB  \+2 -0\b", last_line(hasp))


def test_the_id_of_the_session(world):
    """The first frame stands before there is one, and before there is anything that knows it."""
    world.settings(ui={"footer": {"items": ["session-id"]}})
    with world.fake([[text("Here.")]]) as server, world.hasp(server) as hasp:
        hasp.type("go").key("enter").wait("Here.")
        end = time.monotonic() + 60
        while not re.match(r"\s*[0-9a-f]{8}\b", last_line(hasp)):
            assert time.monotonic() < end, last_line(hasp)
            time.sleep(0.05)


def test_what_the_provider_says_is_left(world):
    world.settings(ui={"footer": {"items": ["quota"]}})
    heads = {"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499",
             "x-ratelimit-limit-tokens": "30000", "x-ratelimit-remaining-tokens": "12900",
             "x-ratelimit-limit": "no number", "x-ratelimit-remaining": "0"}
    with world.fake([{"reply": [fake_openai.text("Here.")], "headers": heads}], "openai") as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("Here.").wait("43% of the limit left")


def test_what_the_tokens_cost(world):
    asked = command(world, "echo mine", ui={"footer": {"items": ["token-count"]}},
                    hasp={"prices": {"gemini-*": {"input": 1, "output": 100}}})
    usage = {"promptTokenCount": 20000, "candidatesTokenCount": 130, "totalTokenCount": 20130}
    with world.fake([{"reply": [text("Here.")], "usage": usage}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("Here.").wait("20k in, 130 out").wait("$0.0330")
            hasp.type("/stats").key("enter").wait("cost").quiet()
            assert re.search(r"cost +\$0\.0330", hasp.dump().text)
            assert told(asked, lambda one: "total_cost_usd" in one["cost"])["cost"]["total_cost_usd"] == 0.033


def test_a_command_for_it(world):
    asked = command(world, "printf '\\033[2J\\033[31mmine\\033[0m \\033]52;c;aGk=\\007%s\\nsecond\\n' \"$GEMINI_SESSION_ID\"")
    edit = call("write_file", {"file_path": "a.txt", "content": "one\n"})
    with world.fake([[edit], [text("Written.")]]) as server:
        with world.hasp(server, "--approval-mode", "auto_edit") as hasp:
            hasp.wait("edits accepted  mine").quiet()
            assert [style for row in hasp.cells() for cell, style in row if "mine" in cell] == ["#e00000"]
            first = asked()
            assert first[-1]["state"] == "idle" and first[-1]["model"]["id"] and first[-1]["cwd"] == str(world.root)
            assert first[-1]["session_id"] in hasp.dump().text and "second" not in hasp.dump().text
            assert "sandbox:" not in hasp.dump().text and b"]52;" not in hasp.raw()
            hasp.type("go").key("enter").wait("Written.").wait(READY).quiet(0.3)
            last = told(asked, lambda one: one["state"] == "idle" and one["cost"]["total_lines_added"])
            assert "working" in [one["state"] for one in asked()]
            assert last["cost"]["total_lines_added"] == 1 and last["approval_mode"] == "autoEdit"
            assert last["context_window"]["total_input_tokens"] > 0
            # Once for each state, and never again while nothing changes.
            assert all(one != other for one, other in zip(asked(), asked()[1:]))
            before = len(asked())
            hasp.type("draft").quiet(0.5)
            assert len(asked()) == before


def test_items_that_are_named_stay_beside_it(world):
    command(world, "echo mine", ui={"footer": {"items": ["sandbox"]}})
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("mine")
            assert re.search(r"sandbox: \w+  mine", last_line(hasp))


def test_a_command_that_fails_says_so_once(world):
    command(world, "exit 3")
    with world.fake([[text("Here.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("ended with exit code 3").wait("sandbox:")
            hasp.type("go").key("enter").wait("Here.").wait(READY).quiet(0.3)
            assert hasp.dump().text.count("exit code 3") == 1


def test_a_command_that_hangs_is_ended_with_hasp(world):
    command(world, "echo $$ >%s; sleep 1000" % (world.top / "pid"))
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("runs a command.")
            while not (world.top / "pid").exists() or not (world.top / "pid").read_text():
                hasp.quiet(0.05)
            hasp.key("ctrl+d")
            assert hasp.end() == 0


def test_a_projects_command_needs_to_be_allowed(world):
    asked = command(world, "echo mine", where="project")
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").quiet(0.3)
            assert not asked() and "mine" not in hasp.dump().text
    assert world.command("config", "allow", "statusLine").code == 0
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("mine")
    assert asked()


def test_a_wait_before_the_next_request_is_counted_down(world):
    slow = {"status": 429, "error": "Slow down.", "headers": {"retry-after": "2"}}
    with world.fake([slow, [text("All done.")]]) as server, world.hasp(server) as hasp:
        hasp.type("Go on.").key("enter").wait("  Retrying in 2 s").wait("  Retrying in 1 s").wait("All done.")
        shown = hasp.dump().text
    assert shown.count("Slow down.") == 1 and "Retrying" not in shown
