# SPDX-License-Identifier: Apache-2.0
"""Clients written for gemini-cli-a2a-server: what that sends (gemini_truth.json, taken down from the real one by
gemini_client.py) and what hasp sends, event by event and member by member; its commands and other routes."""
import json
import re
from pathlib import Path

import gemini_client
import pytest
from gemini_client import call, confirmations, ids, label, say, text
from serving import asks, rules, serve

HERE = Path(__file__).resolve().parent
TRUTH = json.loads((HERE / "gemini_truth.json").read_text())

# Members that the real server sends and hasp does not, and why.
LEFT_OUT = {
    "traceId": "of Google's telemetry",
    "checkpoint": "the name of a file of Gemini CLI's checkpoints; restore list has hasp's",
    "schema": "GET /tasks/ID/metadata has it: kilobytes in each event",
    "parameterSchema": "likewise",
    "diffStat": "counts of what fileDiff shows",
}
# Labels that are others, and why.
OTHERWISE = (
    # Newer versions than the one that was taken down say so themselves.
    (r"tool-call-update:validating", "tool-call-update:scheduled"),
    # hasp works as soon as it is answered; the real server says so only after the call.
    (r"(tool-call-update:\w+) input-required", r"\1 working"),
)


def labels(taken):
    """What happens, in order; states between two calls of the model are said once or twice, and a further stream of
    hasp's begins with the task."""
    found = []
    for one, _ in taken:
        for pattern, instead in OTHERWISE:
            one = re.sub(pattern, instead, one)
        if found[-1:] != [one]:
            found.append(one)
    return [one for one in found if one not in ("artifact-update", "task working", "status-update state-change submitted",
                                                "status-update state-change working")]


def missing(real, ours, path=""):
    """Members of the real server's events that ours have not, or have of another type."""
    if type(real) is not type(ours):
        yield path
    elif isinstance(real, dict):
        for name in real.keys() - LEFT_OUT.keys():
            if name not in ours:
                yield "%s.%s" % (path, name)
            else:
                yield from missing(real[name], ours[name], "%s.%s" % (path, name))
    elif isinstance(real, list) and real:
        yield from missing(real[0], ours[0], path + "[0]") if ours else [path + "[0]"]
    elif real != ours:
        yield "%s: %s, not %s" % (path, ours, real)


@pytest.fixture
def client_of(world):
    def make(served):
        return gemini_client.Client(served.port, world.root, served.token)

    world.write("notes.txt", "mango\n")
    asks(world, tools=("write_file", "read_file"))
    return make


@pytest.mark.parametrize("name", TRUTH)
def test_events_are_those_of_the_real_server(world, client_of, name):
    script, run = gemini_client.scenarios(world.root)[name]
    with world.fake(script) as model, serve(world, model) as served:
        taken = gemini_client.taken_down(run(client_of(served)))
    real = TRUTH[name]
    assert labels(taken) == labels(real)
    wrong = []
    for one, shape in real:
        for pattern, instead in OTHERWISE:
            one = re.sub(pattern, instead, one)
        fits = [list(missing(shape, own)) for other, own in taken if other == one]
        wrong += [(one, min(fits, key=len))] if fits and min(fits, key=len) else []
    assert wrong == []


def test_a_call_is_declined_and_the_task_goes_on(world, client_of):
    script = [[call("write_file", {"file_path": "new.txt", "content": "x\n"})], [text("As you like.")]]
    with world.fake(script) as model, serve(world, model) as served:
        client = client_of(served)
        first = client.stream(say("Write it."))
        (call_id,) = confirmations(first)
        client.stream({"kind": "data", "data": {"callId": call_id, "outcome": "cancel"}}, task=ids(first))
        last = client.stream(say("Then not."), task=ids(first))
        assert "As you like." in json.dumps(last) and last[-1]["status"]["state"] == "input-required"
    assert not (world.root / "new.txt").exists()


def test_what_is_approved_may_be_changed_before(world, client_of):
    script = [[call("write_file", {"file_path": "new.txt", "content": "papaya\n"})], [text("Written.")]]
    with world.fake(script) as model, serve(world, model) as served:
        client = client_of(served)
        first = client.stream(say("Write it."))
        (call_id,) = confirmations(first)
        client.stream({"kind": "data", "data": {"callId": call_id, "outcome": "proceed_once",
                                                "newContent": "guava\n"}}, task=ids(first))
    assert world.read("new.txt") == "guava\n"


def test_always_is_for_one_call_alone(world, client_of):
    script = [[call("write_file", {"file_path": "a.txt", "content": "a\n"})],
              [call("write_file", {"file_path": "b.txt", "content": "b\n"})], [text("Done.")]]
    with world.fake(script, append_only=False) as model, serve(world, model) as served:
        client = client_of(served)
        first = client.stream(say("Write both."))
        (call_id,) = confirmations(first)
        second = client.stream({"kind": "data", "data": {"callId": call_id, "outcome": "proceed_always"}},
                               task=ids(first))
        (other,) = confirmations(second)
        assert other != call_id and world.read("a.txt") == "a\n" and not (world.root / "b.txt").exists()


def test_settings_give_no_rights(world, client_of):
    """autoExecute asks all the same; a workspace that the server was not given is refused."""
    script = [[call("write_file", {"file_path": "new.txt", "content": "x\n"})]]
    with world.fake(script) as model, serve(world, model) as served:
        client = client_of(served)
        assert confirmations(client.stream(say("Write it."), auto=True))
        client.workspace = str(world.home)
        with pytest.raises(AssertionError, match="workspace"):
            client.stream(say("Write it there."))


def test_without_the_right_to_confirm_nothing_is_asked(world, client_of):
    script = [[call("write_file", {"file_path": "new.txt", "content": "x\n"})], [text("It was refused.")]]
    with world.fake(script) as model, serve(world, model, confirms=False) as served:
        events = client_of(served).stream(say("Write it."))
    assert not confirmations(events) and not (world.root / "new.txt").exists()
    assert any(label(one).startswith("status-update tool-call-update:error") for one in events)


def test_tasks_are_made_before_their_first_message(world, client_of):
    with world.fake([[text("Here.")]]) as model, serve(world, model) as served:
        client = client_of(served)
        assert served.ask("GET", "/tasks/metadata")[0] == 204
        status, task = served.ask("POST", "/tasks", {"contextId": "made-before", "agentSettings": {
            "kind": "agent-settings", "workspacePath": str(world.root)}})
        assert status == 201 and isinstance(task, str)
        status, one = served.ask("GET", "/tasks/%s/metadata" % task)
        found = one["metadata"]
        assert status == 200 and (found["id"], found["contextId"], found["taskState"]) == (task, "made-before", "submitted")
        assert found["model"] and found["mcpServers"] == []
        tools = {tool["name"]: tool for tool in found["availableTools"]}
        assert tools["read_file"]["description"] and tools["read_file"]["parameterSchema"]["type"] == "object"
        status, everything = served.ask("GET", "/tasks/metadata")
        assert status == 200 and [one["id"] for one in everything] == [task]
        events = client.stream(say("Are you there?"), task={"taskId": task, "contextId": "made-before"})
        assert ids(events) == {"taskId": task, "contextId": "made-before"} and "Here." in json.dumps(events)
        assert served.ask("GET", "/tasks/other/metadata")[0] == 404
        assert served.ask("GET", "/tasks/metadata", token=None)[0] == 401


def test_commands_are_listed_and_executed(world, client_of):
    rules(world, allow=("write_file", "save_memory"))
    world.write("GEMINI.md", "Use tabs.\n")
    with world.fake([]) as model, serve(world, model) as served:
        status, listed = served.ask("GET", "/listCommands")
        names = {one["name"]: [sub["name"] for sub in one["subCommands"]] for one in listed["commands"]}
        assert status == 200 and names == {
            "extensions": ["extensions list"], "restore": ["restore list"],
            "memory": ["memory show", "memory refresh", "memory list", "memory add"]}

        def run(command, *args):
            status, answer = served.ask("POST", "/executeCommand", {"command": command, "args": list(args)})
            assert status == 200 and answer["name"] == command, answer
            return answer["data"]

        assert "Use tabs." in run("memory show")
        assert served.ask("POST", "/executeCommand", {"command": "memory"})[1]["name"] == "memory show"
        assert run("memory list").endswith("/GEMINI.md")
        run("memory add", "likes", "mangos")
        assert "likes mangos" in run("memory show")
        world.write("GEMINI.md", "Use blanks.\n")
        assert "GEMINI.md" in run("memory refresh") and "Use blanks." in run("memory show")
        assert run("extensions list") == "No extensions installed."
        assert run("restore list") == {"type": "message", "messageType": "info", "content": "[]"}
        assert run("restore")["messageType"] == "error"
        assert run("restore", "nothing")["messageType"] == "error"
        for body, wrong in (({"command": 7}, 400), ({"command": "memory", "args": "x"}, 400), ({"command": "x"}, 404),
                            ([], 400)):
            assert served.ask("POST", "/executeCommand", body)[0] == wrong


def test_a_checkpoint_is_restored_by_who_may_write(world, client_of):
    rules(world)
    world.write("notes.txt", "mango\n")
    script = [[call("write_file", {"file_path": "new.txt", "content": "x\n"})], [text("Written.")]]
    with world.fake(script) as model, serve(world, model) as served:
        client_of(served)
        (world.home / ".gemini/policies/asks.toml").unlink()
        gemini_client.Client(served.port, world.root, served.token).stream(say("Write it."))
        assert world.read("new.txt") == "x\n"
        _, listed = served.ask("POST", "/executeCommand", {"command": "restore list"})
        (checkpoint,) = json.loads(listed["data"]["content"])
        asks(world)
        (world.home / ".gemini/policies/callers.toml").unlink()
        order = {"command": "restore", "args": [checkpoint["checkpoint"]]}
        assert served.ask("POST", "/executeCommand", order)[1]["data"]["messageType"] == "error"
        assert world.read("new.txt") == "x\n"
        (world.home / ".gemini/policies/asks.toml").unlink()
        rules(world)
        assert served.ask("POST", "/executeCommand", order)[1]["data"][0]["messageType"] == "info"
        assert not (world.root / "new.txt").exists()


def test_init_streams(world, client_of):
    rules(world)
    script = [[call("write_file", {"file_path": "GEMINI.md", "content": "# Fruit\n"})], [text("Written.")]]
    with world.fake(script) as model, serve(world, model) as served:
        client = gemini_client.Client(served.port, world.root, served.token)
        status, events = client.ask("POST", "/executeCommand", {"command": "init"})
        assert status == 200 and {one["jsonrpc"] for one in events} == {"2.0"}
        results = client.approve([one["result"] for one in events])  # hasp obeys that file, so it asks
        assert label(results[0]) == "task submitted" and label(results[-1]) == "status-update state-change input-required final"
        assert world.read("GEMINI.md") == "# Fruit\n" and "Written." in json.dumps(results)
        status, events = client.ask("POST", "/executeCommand", {"command": "init"})
        assert [label(one["result"]) for one in events] == ["status-update text-content completed final"]
    assert world.read("GEMINI.md") == "# Fruit\n"


def test_a_task_goes_on_after_a_restart(world, client_of):
    with world.fake([[text("First.")], [text("Second.")]]) as model:
        with serve(world, model) as served:
            first = client_of(served).stream(say("One."))
        with serve(world, model) as served:
            second = client_of(served).stream(say("Two."), task=ids(first))
            assert "Second." in json.dumps(second) and second[-1]["final"]
