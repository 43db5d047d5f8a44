# SPDX-License-Identifier: Apache-2.0
"""What MCP servers want the model to answer (sampling): refused where nobody can be asked, unless the user's settings
name the server; without tools and the conversation; bounded."""
import json
import os
import time
from pathlib import Path

import pytest
from fake_gemini import call, text

ALLOWED = {"hasp": {"servers": {"sampling": ["fake"]}}}
SECRET = "The user's own words."


def begun(what, times=1):
    return [call("mcp_fake_say", {"what": what, "path": str(times)})]


def inside(done):
    said = str(done.sent[-1]["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"])
    return json.loads(said[said.index("{"):said.rindex("}") + 1])


def sample(world, what="sample", replies=(), settings=None, times=1, ways=""):
    world.use({"fake": world.server("fake", *([ways] if ways else []))}, **(settings or {}))
    return world.run([begun(what, times), *replies, [text("Done.")]], "-p", SECRET, "--yolo", "-o", "json", append_only=False)


def test_without_a_user_it_is_refused_and_said(world):
    done = sample(world)
    assert done.code == 0, done.err
    got = inside(done)
    assert "sampling" not in got["capabilities"]
    assert got["answers"][0]["error"]["code"] == -1
    assert 'The MCP server "fake" asked the model a question' in done.err
    assert "hasp.servers.sampling" in done.err


def test_the_settings_of_the_user_allow_it(world):
    done = sample(world, replies=[[text("A clasp.STOP And more.")]], settings=ALLOWED)
    assert done.code == 0, done.err
    got = inside(done)
    assert got["capabilities"]["sampling"] == {}
    result = got["answers"][0]["result"]
    assert result["role"] == "assistant" and result["content"] == {"type": "text", "text": "A clasp."}
    assert result["stopReason"] == "stopSequence" and result["model"].startswith("gemini/")
    sent = done.sent[1]
    assert "tools" not in sent and SECRET not in json.dumps(sent)
    assert sent["systemInstruction"]["parts"][0]["text"] == "You are terse\\u{202e}."
    assert [one["role"] for one in sent["contents"]] == ["user", "model", "user"]
    assert sent["contents"][2]["parts"][1]["inlineData"]["mimeType"] == "image/png"  # its bytes', not its word's
    assert sent["generationConfig"]["maxOutputTokens"] == 8192 and sent["generationConfig"]["temperature"] == 0.5
    roles = list(done.json["stats"]["models"].values())[0]["roles"]
    assert roles["sampling"]["totalRequests"] == 1 and roles["main"]["totalRequests"] == 2


def test_it_may_ask_only_while_its_tool_is_called(world):
    error = inside(sample(world, "sampled-early", settings=ALLOWED, ways="sample-early"))["answers"][0]["error"]
    assert error["code"] == -1 and "only while a tool" in error["message"]


def test_a_natural_end_is_told(world):
    result = inside(sample(world, replies=[[text("A clasp.")]], settings=ALLOWED))["answers"][0]["result"]
    assert result["stopReason"] == "endTurn" and result["content"]["text"] == "A clasp."


def test_a_project_cannot_allow_it(world):
    world.use({"fake": world.server()})
    world.settings("project", **ALLOWED)
    done = world.run([begun("sample"), [text("Done.")]], "-p", "Go.", "--yolo")
    assert inside(done)["answers"][0]["error"]["code"] == -1


def test_a_server_that_is_not_named_is_refused(world):
    done = sample(world, settings={"hasp": {"servers": {"sampling": ["other"]}}})
    assert inside(done)["answers"][0]["error"]["code"] == -1


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("what", ["tools", "nothing", "role", "block", "image", "large", "tokens", "stop", "hot"])
def test_what_is_no_request_is_refused(world, what):
    """-32602, before anybody is asked, and no model is."""
    error = inside(sample(world, "sample-" + what, settings=ALLOWED))["answers"][0]["error"]
    assert error["code"] == -32602, error


def test_a_hostile_loop_ends_in_errors(world):
    got = inside(sample(world, replies=[[text("n%d" % i)] for i in range(10)], settings=ALLOWED, times=13))["answers"]
    assert [one["result"]["content"]["text"] for one in got[:10]] == ["n%d" % i for i in range(10)]
    assert all("at most 10 requests in one call" in one["error"]["message"] for one in got[10:]) and len(got) == 13


def test_another_call_may_ask_again(world):
    world.use({"fake": world.server()}, **ALLOWED)
    done = world.run([begun("sample", 11), *[[text("n")] for _ in range(10)], begun("sample"), [text("again")],
                      [text("Done.")]], "-p", "Go.", "--yolo", append_only=False)
    assert inside(done)["answers"][0]["result"]["content"]["text"] == "again"


def test_a_failing_model_is_an_error_of_the_request(world):
    done = sample(world, replies=[{"status": 400, "json": {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}}],
                  settings=ALLOWED)
    assert inside(done)["answers"][0]["error"]["code"] == -32603


def test_within_an_answer_it_is_answered_too(world):
    """Multi-round-trip requests of 2026-07-28."""
    done = sample(world, replies=[[text("A clasp.")]], settings=ALLOWED, ways="modern,ask-sample")
    assert inside(done)["inputResponses"]["a"]["content"]["text"] == "A clasp."


def test_within_an_answer_a_refusal_ends_the_call(world):
    done = sample(world, ways="modern,ask-sample")
    result = done.results()[0]
    assert result["error"]["code"] == "denied_by_user" and "refused" in result["message"]


def switches(pid):
    """{thread: how often it has slept or was put aside} of a process."""
    found = {}
    for task in Path("/proc/%d/task" % pid).iterdir():
        lines = (task / "status").read_text().splitlines()
        found[task.name] = [line.split()[1] for line in lines if "ctxt_switches" in line]
    return found


def asleep(pid):
    """Waits until no thread of the process has woken between two looks."""
    end = time.monotonic() + 120
    before = switches(pid)
    while time.monotonic() < end:
        time.sleep(0.5)
        now = switches(pid)
        if now == before:
            return
        before = now
    pytest.fail("it does not sleep: %r" % now)


def test_who_waits_for_the_turn_sleeps(world):
    """A server asks twice at a time: the second request waits for the first's answer, and no timer runs meanwhile."""
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, sandbox={"write": [str(world.top)]})}, **ALLOWED)
    answers = iter(["One.", "Two."])

    def auto(request):
        if "tools" in request.body:
            return None
        said = next(answers)
        while "sampling" not in log.read_text().splitlines():
            time.sleep(0.02)
        if said == "One.":
            asleep(int(Path("/proc/self/task/%d/children" % os.getpid()).read_text().split()[0]))
        return {"reply": [text(said)]}

    done = world.run([begun("sample-together", 2), [text("Done.")]], "-p", SECRET, "--yolo", "-o", "json",
                     append_only=False, auto=auto)
    assert done.code == 0, done.err
    got = [one["result"]["content"]["text"] for one in inside(done)["answers"]]
    assert sorted(got) == ["One.", "Two."]  # either may be first
