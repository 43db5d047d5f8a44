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
