# SPDX-License-Identifier: Apache-2.0
"""Agents of the official SDK, of both versions: asked, streamed, answered."""
import json

import pytest
from conftest import sdk

VERSIONS = ["1.0", "0.3"]
SEND = {"1.0": ("SendStreamingMessage", "SendMessage"), "0.3": ("message/stream", "message/send")}


@pytest.fixture(scope="module", params=VERSIONS)
def far(request):
    with sdk(request.param) as peer:
        peer.version = request.param
        yield peer


def output(result):
    assert result["output"].startswith("<untrusted_context>\n"), result
    return result["output"].removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")


def test_one_is_listed_asked_and_its_reply_is_the_result(world, far):
    world.agent(far.url)
    listed = world.command("agents", "list", "--json").json
    assert {"kind": "remote", "address": far.url}.items() <= next(x for x in listed if x["name"] == "far").items()
    done = world.ask("report on it", flags=("-y", "-o", "stream-json"))
    (result,) = done.got
    assert result["success"] and result["end"] == "answered" and result["agent"] == "far", result
    assert output(result) == "Reading the files.\n\nThat is all.\n\nArtifact (report.md):\nMANGO-REPORT"
    said = [one["event"]["content"] for one in done.of_type("agent")]
    assert said == ["Reading the files.", "MANGO-", "REPORT", "That is all."], done.events
    assert far.methods()[-1] == SEND[far.version][0]


def test_an_answer_may_be_a_message(world, far):
    world.agent(far.url)
    done = world.ask("say something")
    assert output(done.got[0]) == "MANGO-MESSAGE" and done.got[0]["end"] == "answered"


def test_a_failure_is_one(world, far):
    world.agent(far.url)
    (result,) = world.ask("fail now").got
    assert not result["success"] and result["end"] == "failed", result
    assert result["error"]["code"] == "tool_failed" and "far says that it failed: The disk is full." in json.dumps(result)


@pytest.mark.parametrize("version", VERSIONS)
def test_one_that_does_not_stream(world, version):
    with sdk(version, "still") as far:
        world.agent(far.url)
        (result,) = world.ask("report").got
        assert output(result).endswith("That is all.\n\nArtifact (report.md):\nMANGO-REPORT")
        assert far.methods()[0] == SEND[version][1]


@pytest.mark.parametrize("version,flags", [("1.0", []), ("0.3", []), ("1.0", ["rest"])])
def test_a_stream_that_breaks_is_taken_up_again(world, version, flags):
    with sdk(version, *flags) as far:
        world.agent(far.url)
        (result,) = world.ask("break it").got
        assert result["success"] and "After it." in output(result) and output(result).endswith("Artifact (report.md):\nMANGO"), result
        asked = json.dumps([one.get("path", "") + str((one.get("body") or {}).get("method")) for one in far.all("request")])
        assert "ubscribe" in asked, asked


@pytest.mark.parametrize("still", [[], ["still"]])
def test_http_and_json(world, still):
    with sdk("1.0", "rest", *still) as far:
        world.agent(far.url)
        done = world.ask("report on it", "say something", "fail now", "ask me", "blue")
        report, said, failed, asked, answered = done.got
        assert output(report) == "Reading the files.\n\nThat is all.\n\nArtifact (report.md):\nMANGO-REPORT" if not still else \
            output(report).endswith("That is all.\n\nArtifact (report.md):\nMANGO-REPORT")
        assert output(said) == "MANGO-MESSAGE" and "far says that it failed: The disk is full." in json.dumps(failed)
        assert asked["end"] == "input_required" and output(answered).endswith("The answer was blue.")
        paths = [one["path"] for one in far.all("request") if one["request"] == "POST"]
        assert set(paths[:4]) == {"/rest/message:send" if still else "/rest/message:stream"}, paths


def test_a_task_over_http_and_json_is_cancelled_there(world):
    with sdk("1.0", "rest") as far:
        world.agent(far.url, timeout_mins=0.03)
        (result,) = world.ask("wait for it").got
        assert result["end"] == "time_limit", result
        far.until(lambda one: "cancelled" in one)
