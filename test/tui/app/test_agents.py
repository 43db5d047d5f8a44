# SPDX-License-Identifier: Apache-2.0
"""Sub-agents on a terminal: what one is doing stands at its call, its questions name it, and what it says is not
the answer."""
from fake_gemini import call, text
from test_dialogs import choose


def put(world):
    path = world.home / ".gemini" / "agents" / "fruit.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: fruit\ndescription: Does it.\n---\nMANGO-PROMPT\n")


def script(held):
    return [[text("I ask."), call("invoke_agent", {"agent_name": "fruit", "prompt": "Pick it."})],
            [text("CHILD-WORDS"), call("glob", {"pattern": "*.zzz"})],
            {"reply": [call("write_file", {"file_path": "new.txt", "content": "MANGO\n"})], "expect": held},
            [text("CHILD-REPORT")], [text("All done.")]]


def test_what_it_does_and_asks_is_shown_as_its_own(world, held):
    put(world)
    with world.fake(script(held), append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.type("go").key("enter")
            held.wait()
            hasp.wait("1  Find files: *.zzz")
            held.go.set()
            hasp.wait("Apply this change?").wait("Agent fruit")
            choose(hasp, "Allow once").wait("All done.")
            shown = hasp.dump().text
    assert world.read("new.txt") == "MANGO\n" and "CHILD-WORDS" not in shown
    assert not server.violations


def test_interrupting_ends_it(world, held):
    put(world)
    steps = script(held)[:2] + [[call("run_shell_command", {"command": "sleep 1000"})]]
    with world.fake(steps, append_only=False) as server:
        with world.hasp(server, "-y", rows=40) as hasp:
            hasp.type("go").key("enter").wait("sleep 1000").quiet(0.2).key("esc").wait("Interrupted.")
    assert len(server.requests) == 3
