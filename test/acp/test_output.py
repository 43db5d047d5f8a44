# SPDX-License-Identifier: Apache-2.0
"""What commands print, while they run and at their end; where they run."""
import pytest

from editor import Editor
from fake_gemini import call, text

COMMAND = "echo one; echo two >&2; cat go; echo three"


def run(world, capabilities, command=COMMAND):
    world.write("go", "go\n")
    with world.fake([[call("run_shell_command", {"command": command})], [text("Done.")]]) as server:
        with Editor(world, server, "--yolo", capabilities=capabilities) as editor:
            session = editor.new()
            session.prompt("go")
            return session, session.call(session.updates("tool_call")[0]["toolCallId"])


def test_the_result_of_a_command_is_its_output(world):
    session, known = run(world, {"terminal": True})
    assert known["kind"] == "execute" and known["status"] == "completed"
    assert known["title"] == "Run " + COMMAND
    shown = known["content"][0]["content"]["text"]
    assert "one" in shown and "go" in shown and "three" in shown


def test_a_client_that_shows_terminals_gets_all_output_as_one(world):
    session, known = run(world, {"_meta": {"terminal_output": True}})
    id = known["toolCallId"]
    begun = session.updates("tool_call")[0]
    assert begun["content"] == [{"type": "terminal", "terminalId": id}]
    assert begun["_meta"]["terminal_info"] == {"terminal_id": id, "cwd": str(world.root)}
    data = "".join(update["_meta"]["terminal_output"]["data"] for update in session.updates("tool_call_update")
                   if "terminal_output" in update.get("_meta", {}))
    assert data.replace("\r", "") == "one\ntwo\ngo\nthree\n"
    assert known["_meta"]["terminal_exit"] == {"terminal_id": id, "exit_code": 0, "signal": None}
    assert known["content"] == [{"type": "terminal", "terminalId": id}]


@pytest.mark.parametrize("capabilities", [{"terminal": True}, {"terminal": True, "_meta": {"terminal_output": True}}])
def test_no_command_runs_outside_of_the_sandbox_because_an_editor_offers_a_terminal(world, capabilities):
    outside = world.home / "outside"
    session, known = run(world, capabilities, "echo x > %s" % outside)
    assert not outside.exists()
    assert not [message for message in session.editor.heard if message["method"].startswith("terminal/")]


def test_output_is_shown_while_a_command_runs(world):
    with world.fake([[call("run_shell_command", {"command": "echo first; while ! test -e go; do sleep 0.05; done"})],
                     [text("Done.")]]) as server:
        with Editor(world, server, "--yolo") as editor:
            session = editor.new()
            prompt = session.begin("go")
            while not [update for update in session.updates("tool_call_update")
                       if "first" in str(update.get("content"))]:
                editor.receive()
            world.write("go", "")
            assert editor.result(prompt)["stopReason"] == "end_turn"


def test_what_python_code_prints_and_is_worth(world):
    """It has no terminal, whatever the client shows."""
    world.settings(hasp={"python": {"enabled": True}})
    with world.fake([[call("run_python", {"code": "print('printed')\n6 * 7"})], [text("Done.")]]) as server:
        with Editor(world, server, "--yolo", capabilities={"_meta": {"terminal_output": True}}) as editor:
            session = editor.new()
            session.prompt("go")
            known = session.call(session.updates("tool_call")[0]["toolCallId"])
            assert not [update for update in session.updates("tool_call_update")
                        if "terminal_output" in update.get("_meta", {})]
    shown = known["content"][0]["content"]["text"]
    assert known["kind"] == "execute" and "printed" in shown and "42" in shown
