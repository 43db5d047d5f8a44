# SPDX-License-Identifier: Apache-2.0
"""Every event with every exit code and every kind of output: what is shown where, and whether the run goes on."""
import json

import pytest
from fake_gemini import call, text

pytestmark = [pytest.mark.in_turn("code"), pytest.mark.rows_in_turn(3)]

LIST = [call("list_directory", {"dir_path": "."})]
EVENTS = ["SessionStart", "BeforeAgent", "BeforeModel", "BeforeToolSelection", "AfterModel", "BeforeTool",
          "AfterTool", "AfterAgent", "SessionEnd"]
OUTPUTS = {
    "nothing": "", "text": "echo KIWI", "on stderr": "echo KIWI >&2",
    "json": """echo '{"systemMessage": "KIWI"}'""",
    "suppressed": """echo '{"systemMessage": "KIWI", "suppressOutput": true}'""",
    "allowed": """echo '{"decision": "allow", "systemMessage": "KIWI"}'""",
}


def once(world, event, output, code):
    """A hook that speaks once: one that refuses AfterAgent each time would go on for ever."""
    world.settings(hooks={event: [{"hooks": [{
        "type": "command", "name": "k",
        "command": "[ -e %s/once ] && exit 0; touch %s/once; %s; exit %d" % (
            world.home, world.home, output or ":", code)}]}]})


REFUSING = ["BeforeAgent", "BeforeModel", "BeforeToolSelection", "AfterModel", "BeforeTool", "AfterTool"]


def denies(output, code):
    if code == 2:
        return True
    return code > 2 and output in ("text", "on stderr")


def fails(output, code):
    """It says nothing that counts beside an exit code of failure."""
    if code == 1:
        return output in ("nothing", "text", "on stderr")
    return code > 2 and not denies(output, code)


def run(world, *args):
    """However many turns there are: a list of the folder, then an answer."""
    def answer(request):
        done = any("functionResponse" in part for content in request.body["contents"]
                   for part in content["parts"])
        return {"reply": [text("Done.")] if done else LIST}

    with world.fake([], auto=answer) as server:
        return world.command("-p", "x", "-y", *args, server=server)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 127])
@pytest.mark.parametrize("event", EVENTS)
def test_what_is_shown_of_a_hook(world, event, code):
    for output, command in OUTPUTS.items():
        once(world, event, command, code)
        done = run(world)
        (world.home / "once").unlink()
        where = (event, code, output)
        assert done.code in (0, 1), (where, done.err)
        if output == "nothing" and code == 3:
            assert "[WARNING]" in done.err and "exit code 3" in done.err, (where, done.err)
        if denies(output, code):
            if event.startswith("Session"):  # which nothing can stop
                assert done.code == 0 and "[WARNING] A %s hook objected" % event in done.err, where
            continue
        if fails(output, code) and event in REFUSING:
            (warning,) = [line for line in done.err.splitlines() if "hasp.hooks.onError" in line]
            assert "exit code %d" % code in warning and ("KIWI" in warning) == (output != "nothing"), where
            continue
        assert done.code == 0 and done.text.endswith("Done.\n"), (where, done.err)
        shown = "[INFO] %sKIWI" % ("Warning: " if code == 1 and output in ("text", "on stderr") else "")
        expected = output not in ("nothing", "suppressed")
        assert (shown in done.err) == expected, (where, done.err)
        assert "KIWI" not in done.text, where


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
@pytest.mark.parametrize("event", ["SessionStart", "BeforeTool", "AfterAgent"])
def test_it_is_shown_with_every_format_on_standard_error(world, event, form):
    once(world, event, OUTPUTS["json"], 0)
    done = run(world, "-o", form)
    assert done.code == 0 and "[INFO] KIWI" in done.err.splitlines() and b"KIWI" not in done.out


@pytest.mark.parametrize("said,words", [
    ({"decision": "block", "reason": "Where are the tests?"}, "Where are the tests?"),
    ({"decision": "deny", "reason": "R", "systemMessage": "Not yet."}, "Not yet."),
])
def test_a_blocked_answer_is_a_warning_in_each_format(world, said, words):
    message = "Agent execution blocked: " + words
    once(world, "AfterAgent", "echo '%s'" % json.dumps(said), 0)
    done = run(world)
    assert "[WARNING] " + message in done.err.splitlines() and done.text.endswith("Done.\n")
    (world.home / "once").unlink()
    assert message in run(world, "-o", "json").json["warnings"]
    (world.home / "once").unlink()
    (event,) = run(world, "-o", "stream-json").of_type("error")
    assert (event["severity"], event["message"]) == ("warning", message)
