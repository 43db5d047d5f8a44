# SPDX-License-Identifier: Apache-2.0
"""One job from its prompt to the right bytes, with each provider and in each format: the model reads,
patches wrongly, is told, patches what somebody else has changed meanwhile, is told, patches that, and
runs the tests."""
import hashlib
import json
import re

import pytest
from conftest import KINDS, SANITIZED
from fake_gemini import call, text, thought

BEFORE = "#!/bin/sh\n# Adds.\nadd() {\n\techo $(($1 - $2))\n}\nadd \"$@\"\n"
MEANWHILE = BEFORE.replace("# Adds.", "# Adds two numbers.")
AFTER = MEANWHILE.replace("-", "+")
CHECK = "test \"$(sh add.sh 2 3)\" = 5 && echo it adds || exit 1\n"
ANSWER = "add.sh adds now; check.sh says so."
FORMATS = ["text", "json", "stream-json"]
TOOLS = ["read_file", "safe_patch", "safe_patch", "safe_patch", "run_shell_command"]


def sha256(content):
    return hashlib.sha256(content.encode()).hexdigest()


def patch(before, old, new):
    diff = "--- a/add.sh\n+++ b/add.sh\n@@ -3,3 +3,3 @@\n add() {\n-%s\n+%s\n }\n" % (old, new)
    return call("safe_patch", {"file_path": "add.sh", "unified_diff": diff,
                               "base_content_sha256": sha256(before)})


def script(world, kind, provider):
    wrong, old, new = "\treturn $(($1 - $2))", "\techo $(($1 - $2))", "\techo $(($1 + $2))"

    def last(request, code=None):
        result = provider.tool_results(request)[-1]
        found = result.get("error", {}).get("code")
        return [] if found == code else "%r instead of %r: %r" % (found, code, result)

    def somebody_else(request):
        world.write("add.sh", MEANWHILE)
        return last(request, "no_match")

    def told(request):
        result = provider.tool_results(request)[-1]
        state = result.get("latest_file_state", {})
        return last(request, "state_mismatch") or (
            [] if "-# Adds.\n+# Adds two numbers.\n" in state.get("changed", "") and state.get("sha256") == sha256(MEANWHILE)
            else "the new state is not there: %r" % result)

    return [
        # OpenAI's chat completions have no thoughts.
        {"reply": [*([] if kind == "openai" else [thought("**Look** first.")]), text("I look. "),
                   call("read_file", {"file_path": "add.sh"})]},
        {"reply": [patch(BEFORE, wrong, new)], "expect": last},
        {"reply": [patch(BEFORE, old, new)], "expect": somebody_else},
        {"reply": [patch(MEANWHILE, old, new)], "expect": told},
        {"reply": [text("Now the tests. "), call("run_shell_command", {"command": "sh check.sh"})],
         "expect": last},
        {"reply": [text(ANSWER[:10]), text(ANSWER[10:])],
         "expect": lambda request: [] if "it adds" in json.dumps(
             provider.tool_results(request)[-1]) else "the tests did not run"},
    ]


def check_text(done):
    assert done.text == "I look. \nNow the tests. \n%s\n" % ANSWER
    assert [line[:31] for line in done.err.splitlines()] == ["[ERROR] safe_patch (add.sh) fai"] * 2


def check_json(done):
    assert done.out.startswith(b"{\n  ") and done.err == ""
    assert set(done.json) == {"session_id", "response", "stats"}
    assert done.json["response"] == ANSWER
    assert set(done.json["stats"]["cached"]) == {"requests", "bytes", "equal", "share", "least",
                                                 "tokens"}
    tools = done.json["stats"]["tools"]
    assert (tools["totalCalls"], tools["totalSuccess"], tools["totalFail"]) == (5, 3, 2)
    assert tools["byName"]["safe_patch"]["count"] == 3
    assert done.json["stats"]["files"] == {"totalLinesAdded": 1, "totalLinesRemoved": 1}
    (model,) = done.json["stats"]["models"].values()
    assert model["api"]["totalRequests"] == 6 and model["api"]["totalErrors"] == 0
    assert set(model["tokens"]) == {"input", "prompt", "candidates", "total", "cached", "thoughts",
                                    "tool"}


def check_stream(done):
    events = done.events
    assert [event["type"] for event in events if event["type"] != "message"] == (
        ["init"] + ["tool_use", "tool_result"] * 5 + ["result"])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["timestamp"])
               for event in events)
    assert set(events[0]) == {"type", "timestamp", "session_id", "model"}
    assert {k: v for k, v in events[1].items() if k != "timestamp"} == {
        "type": "message", "role": "user", "content": "Make it add."}
    said = [event for event in done.of_type("message") if event["role"] == "assistant"]
    assert all(event["delta"] is True for event in said)
    assert "".join(event["content"] for event in said) == "I look. Now the tests. " + ANSWER
    uses, results = done.of_type("tool_use"), done.of_type("tool_result")
    assert [use["tool_name"] for use in uses] == TOOLS
    assert uses[0]["parameters"] == {"file_path": "add.sh"}
    assert [use["tool_id"] for use in uses] == [result["tool_id"] for result in results]
    assert [result["status"] for result in results] == ["success", "error", "error", "success",
                                                        "success"]
    assert set(results[1]["error"]) == {"type", "message"} and "it adds" in results[4]["output"]
    assert events[-1]["status"] == "success"
    stats = events[-1]["stats"]
    assert set(stats) == {"total_tokens", "input_tokens", "output_tokens", "cached", "cached_share",
                          "input", "duration_ms", "tool_calls", "models"}
    assert stats["tool_calls"] == 5 and stats["total_tokens"] > 0
    assert done.err == ""


CHECKS = {"text": check_text, "json": check_json, "stream-json": check_stream}
CASES = [(kind, form) for kind in KINDS for form in FORMATS]


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("kind,form", CASES[2::4] if SANITIZED else CASES)
def test_a_job(world, kind, form):
    world.write("add.sh", BEFORE)
    world.write("check.sh", CHECK)
    with world.fake([], kind) as server:
        server.script = script(world, kind, server.provider)
        done = world.command("-p", "Make it add.", "-o", form, "--yolo", server=server)
    assert server.violations == [] and server.script == []
    assert done.code == 0, done.err
    assert world.read("add.sh") == AFTER and world.read("check.sh") == CHECK
    assert sorted(path.name for path in world.root.iterdir()) == ["add.sh", "check.sh"]
    CHECKS[form](done)
