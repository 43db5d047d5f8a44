# SPDX-License-Identifier: Apache-2.0
"""What MCP servers ask of the user while a caller's task runs: its caller answers, where it confirms."""
import json
import sys
import urllib.error
import urllib.request

import pytest
from serving import TOP, V1, message, rpc, rules, serve

from fake_gemini import call, text

sys.path.append(str(TOP / "test" / "mcp" / "client"))

import oauth_server  # noqa: E402

FORM = {
    "asking": {
        "command": "/usr/bin/python3",
        "args": [str(TOP / "test/acp/asking_server.py")],
        "trust": True,
    }
}


def use(world, servers):
    """From now on the settings have these MCP servers."""
    write = world.settings
    world.settings = lambda **settings: write(mcpServers=servers, **settings)


def said(model):
    """What the last call gave the model."""
    parts = model.requests[-1].body["contents"][-1]["parts"]
    return parts[0]["functionResponse"]["response"]["output"]


def send(served, words, **fields):
    return rpc(served, "SendMessage", {"message": message(words, **fields)}, **V1)["result"]["task"]


def answer(served, task, data):
    return send(served, "", taskId=task["id"], parts=[{"data": data}])


@pytest.mark.parametrize(
    "data",
    [
        {"action": "accept", "content": {"name": "Ada", "size": "L"}},
        {"action": "decline"},
    ],
)
def test_a_form_is_its_callers_to_fill(world, data):
    use(world, FORM)
    rules(world, allow=("mcp_asking_ask",))
    with world.fake(
        [[call("mcp_asking_ask", {})], [text("Done.")]], append_only=False
    ) as model, serve(world, model) as served:
        task = send(served, "Ask me.")
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", task["status"]
        asked = task["status"]["message"]["parts"]
        question = asked[-1]["data"]["hasp"]["question"]
        assert (
            "asking asks: Who?" in asked[0]["text"] and question["topic"] == "elicitation-request"
        )
        assert [field["name"] for field in question["fields"]] == ["name", "size", "times"]
        # What is no answer of the form's is asked again.
        for wrong in (
            {"action": "perhaps"},
            {"outcome": "proceed_once"},
            {"action": "accept", "content": {"name": "Ada"}, "correlationId": "of-another"},
        ):
            assert (
                answer(served, task, wrong)["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
            ), wrong
        done = answer(served, task, {**data, "correlationId": question["correlationId"]})
        assert done["status"]["state"] == "TASK_STATE_COMPLETED", done["status"]
        assert json.dumps(data) in said(model)


def test_without_confirms_a_form_is_declined(world):
    use(world, FORM)
    rules(world, allow=("mcp_asking_ask",))
    with world.fake(
        [[call("mcp_asking_ask", {})], [text("Done.")]], append_only=False
    ) as model, serve(world, model, confirms=False) as served:
        assert send(served, "Ask me.")["status"]["state"] == "TASK_STATE_COMPLETED"
        assert json.dumps({"action": "decline"}) in said(model)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def test_a_login_is_auth_required(world):
    """The caller opens the login page, and says where it led."""
    with oauth_server.Server() as far:
        use(world, {"far": {"httpUrl": far.base + "/mcp", "trust": True}})
        rules(world, allow=("mcp_far_echo",))
        # Its tools are known, and no token holds.
        far.tokens.add("for-now")
        tokens = world.home / ".gemini" / "mcp-oauth-tokens.json"
        tokens.write_text(
            '[{"serverName": "far", "mcpServerUrl": "%s/mcp", "token": {"accessToken": "for-now"}}]'
            % far.base
        )
        world.settings()
        assert world.run([[text("Hello.")]], "-p", "Hi.").code == 0
        tokens.unlink()
        far.tokens.clear()
        with world.fake(
            [[call("mcp_far_echo", {})], [text("Done.")]], append_only=False
        ) as model, serve(world, model) as served:
            task = send(served, "Call it.")
            assert task["status"]["state"] == "TASK_STATE_AUTH_REQUIRED", task["status"]
            question = task["status"]["message"]["parts"][-1]["data"]["hasp"]["question"]
            assert question["login"] is True and question["url"].startswith(
                far.base + "/authorize?"
            )
            old = rpc(served, "tasks/get", {"id": task["id"]})["result"]
            assert old["status"]["state"] == "auth-required"
            with pytest.raises(urllib.error.HTTPError) as led:
                urllib.request.build_opener(Stay).open(question["url"], timeout=60)
            done = answer(
                served, task, {"action": "accept", "address": led.value.headers["Location"]}
            )
            assert done["status"]["state"] == "TASK_STATE_COMPLETED", done["status"]
            assert "the far echo" in said(model)
            assert not any(token in json.dumps(done) for token in far.tokens)
