# SPDX-License-Identifier: Apache-2.0
"""Tasks of an A2A server: each rule of A2A 1.0, sections 3.1 to 3.5, that concerns them, with real sessions."""
import base64
import hashlib
import json
import os
import select
import subprocess
import time
from pathlib import Path

import pytest

PROBE = os.environ.get("CORE_PROBE") or "build/test/a2a/core_probe"
HASP = os.environ.get("HASP") or "build/hasp"
SECONDS = 60
SEND, STREAM, GET, LIST, CANCEL, SUBSCRIBE, PUSH_CREATE, PUSH_GET, PUSH_LIST, PUSH_DELETE, CARD = range(11)
(NONE, PARSE, REQUEST, METHOD, PARAMS, INTERNAL, NO_TASK, NOT_CANCELABLE, NO_PUSH, UNSUPPORTED, CONTENT_TYPE,
 AGENT_RESPONSE, NO_CARD, EXTENSION, VERSION, UNAUTHENTICATED, FORBIDDEN, BUSY) = range(18)


def reply(*parts):
    return {"method": "generateContentStream", "response": [{
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}]}


def text(words):
    return reply({"text": words})


def call(name, **args):
    return reply({"functionCall": {"name": name, "args": args}})


def sha(data):
    return hashlib.sha256(data).hexdigest()


def callers():
    """Some confirm, one has one task at a time."""
    names = ["anna", "bob", "carl", "cleo", "dora"] + ["caller-%d" % i for i in range(7)]
    made = {name: {"key": sha(name.encode()), "confirms": name in ("carl", "cleo")} for name in names}
    made["dora"]["tasks"] = 1
    return json.dumps(made)


class Core:
    """A probe; `send` and the like return the number of the order, `wait` the next line about it."""

    def __init__(self, world, *replies, at_once=4, folders=None, **environment):
        self.answers = world.top / ("answers%d.jsonl" % world.count)
        world.count += 1
        self.answers.write_text("".join(json.dumps(line) + "\n" for line in replies))
        self.process = subprocess.Popen(
            [PROBE, "replay:%s" % self.answers, str(at_once), *map(str, folders or [world.root])], cwd=world.root,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "HASP": str(Path(HASP).absolute()), "GEMINI_CLI_HOME": str(world.home),
                 "HOME": str(world.home), "PROBE_CALLERS": callers(), **environment})
        self.number, self.lines, self.rest = 0, [], b""
        self.line(lambda line: line.get("ready"))

    def read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        assert ready, "nothing came; so far %s" % self.lines[-20:]
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, self.process.stderr.read().decode()
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.lines += [json.loads(line) for line in lines]

    def line(self, matches):
        """Takes the first line that does."""
        while True:
            for i, line in enumerate(self.lines):
                if matches(line):
                    return self.lines.pop(i)
            self.read()

    def write(self, **line):
        """Neither side waits for the other to read."""
        while True:
            ready, free, _ = select.select([self.process.stdout], [self.process.stdin], [], SECONDS)
            if not ready:
                break
            self.read()
        assert free, "the probe reads nothing"
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def order(self, operation, params, caller="anna", **more):
        self.number += 1
        self.write(id=self.number, caller=caller, operation=operation, params=params, **more)
        return self.number

    def wait(self, number):
        return self.line(lambda line: line.get("id") == number)

    def do(self, operation, params, caller="anna", **more):
        line = self.wait(self.order(operation, params, caller, **more))
        assert "answer" in line, line
        return line["answer"]

    def refused(self, operation, params, caller="anna"):
        line = self.wait(self.order(operation, params, caller))
        assert "refused" in line, line
        return line["refused"]

    def say(self, words, caller="anna", operation=SEND, configuration=None, **message):
        parts = words if isinstance(words, list) else [{"text": words}]
        params = {"message": {"messageId": "m%d" % self.number, "role": "ROLE_USER", "parts": parts, **message}}
        if configuration is not None:
            params["configuration"] = configuration
        return self.order(operation, params, caller)

    def task(self, words, caller="anna", **more):
        line = self.wait(self.say(words, caller, **more))
        assert "answer" in line, line
        return line["answer"]["task"]

    def events(self, number):
        """Until its end."""
        events = []
        while "end" not in (line := self.wait(number)):
            assert "event" in line, line
            events.append((line["number"], line["event"]))
        return events

    def get(self, task, caller="anna", **more):
        return self.do(GET, {"id": task["id"], **more}, caller)

    def until(self, task, state, caller="anna"):
        deadline = time.monotonic() + SECONDS
        while (now := self.get(task, caller))["status"]["state"] != "TASK_STATE_" + state:
            assert time.monotonic() < deadline, (now["status"], len(str(now)))
            time.sleep(0.01)
        return now

    def counters(self):
        self.write(counters=True)
        return self.line(lambda line: "counters" in line)["counters"]

    def end(self, ms=0, pushes=False):
        """Drains; everything must be freed and nothing said on standard error but of notifications that were lost."""
        self.write(drain=ms)
        while self.process.poll() is None:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                break
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines += [json.loads(line) for line in lines]
        assert self.process.wait(SECONDS) == 0, self.process.stderr.read().decode()
        said = self.process.stderr.read().splitlines()
        assert [line for line in said if not (pushes and b"example.com" in line)] == []

    def kill(self):
        self.process.kill()
        self.process.wait()


class World:
    def __init__(self, top):
        self.top, self.root, self.home, self.count = top, top / "work", top / "home", 0
        self.root.mkdir()
        (self.home / ".gemini").mkdir(parents=True)

    def core(self, *replies, **more):
        return Core(self, *replies, **more)

    def record(self, context):
        for path in self.home.glob(".gemini/tmp/*/chats/*.jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            if lines and lines[0].get("sessionId") == context:
                return lines
        raise AssertionError("no record of %s" % context)

    def settings(self, **members):
        (self.home / ".gemini" / "settings.json").write_text(json.dumps(members))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def state(event):
    return event["statusUpdate"]["status"]["state"].removeprefix("TASK_STATE_")


def words(message):
    return "\n".join(part["text"] for part in message["parts"] if "text" in part)


# ---- 3.1.1, 3.2.2: send -----------------------------------------------------------------------------

def test_a_send_waits_until_the_task_is_over(world):
    core = world.core(text("Hello there."))
    task = core.task("Say hello.")
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert words(task["status"]["message"]) == "Hello there."
    assert task["status"]["message"]["role"] == "ROLE_AGENT"
    assert task["artifacts"] == [{"artifactId": "answer", "name": "answer", "parts": [{"text": "Hello there."}]}]
    assert [words(message) for message in task["history"]] == ["Say hello."]
    assert task["history"][0]["taskId"] == task["id"] and task["history"][0]["contextId"] == task["contextId"]
    core.end()


def test_one_that_returns_immediately_does_not(world):
    core = world.core(text("Hello."))
    task = core.task("Say hello.", configuration={"returnImmediately": True})
    assert task["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
    assert words(core.until(task, "COMPLETED")["status"]["message"]) == "Hello."
    core.end()


def test_what_fails_says_why(world):
    core = world.core()
    task = core.task("Say hello.")
    assert task["status"]["state"] == "TASK_STATE_FAILED" and words(task["status"]["message"])
    core.end()


@pytest.mark.parametrize("parts, fault", [
    ([{"url": "https://example.com/a.txt"}], CONTENT_TYPE),
    ([{"raw": base64.b64encode(b"\0\1\2").decode(), "mediaType": "application/zip"}], CONTENT_TYPE),
    ([{"raw": base64.b64encode(b"\0\1\2").decode()}], CONTENT_TYPE),
    ([{"raw": base64.b64encode(b"\xff\xfe").decode(), "mediaType": "text/plain"}], CONTENT_TYPE),
    ([{"raw": "####", "mediaType": "text/plain"}], PARAMS),
    ([{"text": " \n"}], PARAMS),
    ([], PARAMS),
])
def test_content_that_cannot_be_used_makes_no_task(world, parts, fault):
    core = world.core(text("Hello."))
    assert core.wait(core.say(parts))["refused"] == fault
    assert core.counters()["tasks"] == 0
    core.end()


def test_files_and_data_reach_the_model(world):
    core = world.core(text("Seen."))
    task = core.task([{"text": "What is this?"},
                      {"raw": base64.b64encode("grün\n".encode()).decode(), "mediaType": "text/plain",
                       "filename": "colour.txt"},
                      {"data": {"answer": 42}},
                      {"raw": base64.b64encode(b"\x89PNG\r\n").decode(), "mediaType": "image/png"}])
    assert task["status"]["state"] == "TASK_STATE_COMPLETED", task
    said = json.dumps(world.record(task["contextId"]), ensure_ascii=False)
    assert "grün" in said and "colour.txt" in said and '\\"answer\\": 42' in said
    core.end()


def test_a_message_must_be_the_users(world):
    core = world.core(text("Hello."))
    assert core.wait(core.say("Hi.", role="ROLE_AGENT"))["refused"] == PARAMS
    core.end()


# ---- 3.1.2, 3.5.2: streams ---------------------------------------------------------------------------

LONG = call("run_shell_command", command="touch began; until [ -e go ]; do sleep 0.05; done")


def allow(world, caller, *tools, decision="allow"):
    policies = world.home / ".gemini" / "policies"
    policies.mkdir(exist_ok=True)
    with open(policies / "callers.toml", "a") as file:
        for tool in tools:
            file.write('[[rule]]\ncaller = "%s"\ntoolName = "%s"\ndecision = "%s"\npriority = 100\n'
                       % (caller, tool, decision))


def eventually(holds):
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def go(world):
    (world.root / "go").touch()


def test_a_stream_begins_with_the_task_and_ends_with_it(world):
    core = world.core(text("Hello there."))
    events = core.events(core.say("Say hello.", operation=STREAM))
    assert "task" in events[0][1] and events[0][1]["task"]["contextId"]
    assert [number for number, _ in events] == list(range(events[0][0], events[0][0] + len(events)))
    assert state(events[-1][1]) == "COMPLETED"
    streamed = "".join(event["artifactUpdate"]["artifact"]["parts"][0]["text"] for _, event in events
                       if "artifactUpdate" in event)
    assert streamed == "Hello there."
    assert [event["artifactUpdate"]["lastChunk"] for _, event in events if "artifactUpdate" in event][-1]
    assert core.counters()["streams"] == 0
    core.end()


def test_all_streams_of_a_task_get_the_same_in_the_same_order(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."))
    task = core.task("Wait.", configuration={"returnImmediately": True})
    streams = [core.order(SUBSCRIBE, {"id": task["id"]}) for _ in range(3)]
    firsts = [core.wait(stream) for stream in streams]
    assert all("task" in first["event"] for first in firsts)
    core.write(gone=streams[2])
    go(world)
    first, second = (core.events(stream) for stream in streams[:2])
    assert first[-len(second):] == second or second[-len(first):] == first
    assert state(first[-1][1]) == "COMPLETED"
    assert core.counters()["streams"] == 0
    core.end()


def test_who_comes_again_gets_what_it_missed(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(text("Hello."))
    events = core.events(core.say("Say hello.", operation=STREAM))
    task = events[0][1]["task"]
    for n, (number, _) in enumerate(events):
        again = core.order(SUBSCRIBE, {"id": task["id"]}, after=number)
        assert core.events(again) == events[n + 1:]
    assert core.refused(SUBSCRIBE, {"id": task["id"]}) == UNSUPPORTED
    assert core.wait(core.order(SUBSCRIBE, {"id": task["id"]}, after=9999))["refused"] == UNSUPPORTED
    core.end()


def test_a_slow_client_loses_nothing_and_costs_no_memory(world):
    core = world.core(text(" ".join(map(str, range(30000)))))
    stream = core.say("Write a lot.", operation=STREAM)
    core.write(slow=stream, **{"is": True})
    task = core.wait(stream)["event"]["task"]
    core.until(task, "COMPLETED")
    assert core.counters()["recent"] <= 64 << 10
    core.write(slow=stream, **{"is": False})
    events = core.events(stream)
    last = events[-1][1]
    assert last["task"]["status"]["state"] == "TASK_STATE_COMPLETED" if "task" in last else state(last) == "COMPLETED"
    assert core.counters()["streams"] == 0
    core.end()


# ---- 3.1.3, 3.2.4: get --------------------------------------------------------------------------------

def test_history_has_as_many_messages_as_are_asked_for(world):
    core = world.core(text("Hello."))
    task = core.task("Say hello.")
    assert "history" not in core.get(task, historyLength=0)
    assert len(core.get(task, historyLength=1)["history"]) == 1
    assert len(core.get(task)["history"]) == 1
    assert core.refused(GET, {"id": task["id"], "historyLength": -1}) == PARAMS
    core.end()


def test_a_task_of_another_caller_is_not_there(world):
    core = world.core(text("Hello."))
    task = core.task("Say hello.")
    for operation in (GET, CANCEL, SUBSCRIBE):
        assert core.refused(operation, {"id": task["id"]}, "bob") == NO_TASK
        assert core.refused(operation, {"id": "no-such-task"}) == NO_TASK
    assert core.wait(core.say("More.", "bob", taskId=task["id"]))["refused"] == NO_TASK
    assert core.wait(core.say("More.", "bob", contextId=task["contextId"]))["refused"] == PARAMS
    assert core.do(LIST, {}, "bob")["tasks"] == []
    core.end()


# ---- 3.1.4: list ----------------------------------------------------------------------------------------

def test_lists_have_pages_that_hold_while_tasks_are_added(world):
    core = world.core(text("Hello."))
    tasks = [core.task("Task %d." % i) for i in range(7)]
    page = core.do(LIST, {"pageSize": 3})
    assert [task["id"] for task in page["tasks"]] == [task["id"] for task in tasks[:3:-1]]
    assert (page["totalSize"], page["pageSize"]) == (7, 3) and page["nextPageToken"]
    assert all("artifacts" not in task for task in page["tasks"])
    tasks.append(core.task("Another."))
    second = core.do(LIST, {"pageSize": 3, "pageToken": page["nextPageToken"]})
    third = core.do(LIST, {"pageSize": 3, "pageToken": second["nextPageToken"]})
    assert [task["id"] for task in second["tasks"] + third["tasks"]] == [task["id"] for task in tasks[3::-1]]
    assert third["nextPageToken"] == ""
    moments = [task["status"]["timestamp"] for task in core.do(LIST, {})["tasks"]]
    assert moments == sorted(moments, reverse=True) and len(set(moments)) == 8
    core.end()


def test_lists_are_filtered(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(text("Hello."))
    first, second = core.task("One."), core.task("Two.")
    assert [task["id"] for task in core.do(LIST, {"contextId": first["contextId"]})["tasks"]] == [first["id"]]
    assert core.do(LIST, {"status": "TASK_STATE_FAILED"})["totalSize"] == 0
    assert core.do(LIST, {"status": "TASK_STATE_COMPLETED"})["totalSize"] == 2
    after = core.do(LIST, {"statusTimestampAfter": second["status"]["timestamp"], "includeArtifacts": True})
    assert [task["id"] for task in after["tasks"]] == [second["id"]]
    assert after["tasks"][0]["artifacts"]
    assert core.do(LIST, {"historyLength": 0})["tasks"][0].get("history") is None
    for wrong in ({"pageSize": 0}, {"pageSize": 101}, {"pageToken": "x"}, {"pageToken": "pzz"},
                  {"statusTimestampAfter": "yesterday"}, {"status": "TASK_STATE_RUNNING"}):
        assert core.refused(LIST, wrong) == PARAMS, wrong
    core.end()


# ---- 3.1.5: cancel ------------------------------------------------------------------------------------------

def test_cancelling_ends_a_task_in_each_state(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."), at_once=1)
    working = core.task("Wait.", configuration={"returnImmediately": True})
    waiting = core.task("Later.", configuration={"returnImmediately": True})
    assert waiting["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert core.do(CANCEL, {"id": waiting["id"]})["status"]["state"] == "TASK_STATE_CANCELED"
    core.until(working, "WORKING")
    assert core.do(CANCEL, {"id": working["id"]})["status"]["state"] == "TASK_STATE_CANCELED"
    for task in (working, waiting):
        assert core.refused(CANCEL, {"id": task["id"]}) == NOT_CANCELABLE
        assert core.wait(core.say("More.", taskId=task["id"]))["refused"] == UNSUPPORTED
    assert core.counters()["running"] == 0
    core.end()


# ---- 3.4: contexts --------------------------------------------------------------------------------------------

def test_a_context_is_one_session(world):
    core = world.core(text("One."), text("Two."))
    first = core.task("First.")
    second = core.task("Second.", contextId=first["contextId"])
    assert second["contextId"] == first["contextId"] and second["id"] != first["id"]
    assert words(second["status"]["message"]) == "Two."
    record = json.dumps(world.record(first["contextId"]))
    assert "First." in record and "Second." in record
    core.end()


def test_contexts_are_checked(world):
    core = world.core(text("Hello."))
    first, other = core.task("One."), core.task("Two.", contextId="my-own-context")
    assert other["contextId"] == "my-own-context"
    assert core.wait(core.say("More.", contextId="other", taskId=first["id"]))["refused"] == PARAMS
    assert core.wait(core.say("More.", contextId="../../etc"))["refused"] == PARAMS
    assert core.wait(core.say("More.", "bob", contextId="my-own-context"))["refused"] == PARAMS
    assert core.wait(core.say("More.", taskId="no-such"))["refused"] == NO_TASK
    core.end()


def test_sessions_of_the_user_are_no_contexts(world):
    core = world.core(text("Hello."))
    context = core.task("One.")["contextId"]
    core.end()
    for path in world.home.glob(".gemini/tmp/*/chats/*.jsonl"):  # as a session of the user's
        lines = [line for line in path.read_text().splitlines() if "a2aTask" not in line]
        path.write_text("\n".join(lines) + "\n")
    core = world.core(text("Hello."))
    assert core.wait(core.say("More.", contextId=context))["refused"] == PARAMS
    core.end()


# ---- questions -------------------------------------------------------------------------------------------------

WRITE = call("write_file", file_path="new.txt", content="made\n")


def test_a_question_goes_to_a_caller_that_confirms(world):
    allow(world, "carl", "write_file", decision="ask_user")
    core = world.core(WRITE, text("Written."))
    task = core.task("Write it.", "carl")
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", task
    parts = task["status"]["message"]["parts"]
    question = parts[1]["data"]["hasp"]["question"]
    assert "+made" in parts[0]["text"] and question["toolName"] == "write_file" and question["shown"]
    assert question["outcomes"] == ["proceed_once", "cancel"]
    again = core.task("Perhaps?", "carl", taskId=task["id"])
    assert again["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" and not (world.root / "new.txt").exists()
    wrong = [{"data": {"outcome": "proceed_once", "shown": "0" * 64}}]
    assert core.task(wrong, "carl", taskId=task["id"])["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    done = core.task([{"data": {"outcome": "proceed_once", "shown": question["shown"]}}], "carl", taskId=task["id"])
    assert done["status"]["state"] == "TASK_STATE_COMPLETED", done
    assert (world.root / "new.txt").read_text() == "made\n"
    assert [message["role"] for message in done["history"]] == ["ROLE_USER"] + ["ROLE_AGENT", "ROLE_USER"] * 3
    assert core.counters()["asking"] == 0
    core.end()


def test_a_no_is_a_no(world):
    allow(world, "carl", "write_file", decision="ask_user")
    core = world.core(WRITE, text("Not written."))
    task = core.task("Write it.", "carl")
    done = core.task("no", "carl", taskId=task["id"])
    assert done["status"]["state"] in ("TASK_STATE_COMPLETED", "TASK_STATE_CANCELED")
    assert not (world.root / "new.txt").exists()
    core.end()


def test_a_task_that_asks_can_be_cancelled(world):
    allow(world, "carl", "write_file", decision="ask_user")
    core = world.core(WRITE, text("Written."))
    task = core.task("Write it.", "carl")
    assert core.do(CANCEL, {"id": task["id"]}, "carl")["status"]["state"] == "TASK_STATE_CANCELED"
    assert not (world.root / "new.txt").exists()
    core.end()


def test_who_does_not_confirm_is_told_what_was_refused(world):
    core = world.core(WRITE, text("I could not write it."))
    task = core.task("Write it.")
    assert task["status"]["state"] == "TASK_STATE_COMPLETED" and not (world.root / "new.txt").exists()
    assert "denied by policy: write_file" in words(task["status"]["message"]), task
    core.end()


def test_a_task_that_asks_leaves_its_place_to_others(world):
    allow(world, "carl", "write_file", decision="ask_user")
    core = world.core(WRITE, text("Written."), at_once=1)
    asking = core.task("Write it.", "carl")
    other = core.task("Write it.", "cleo")
    assert asking["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert other["status"]["state"] == "TASK_STATE_COMPLETED"
    assert core.task("yes", "carl", taskId=asking["id"])["status"]["state"] == "TASK_STATE_COMPLETED"
    core.end()


def test_words_join_a_task_that_works(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."))
    task = core.task("Wait.", configuration={"returnImmediately": True})
    eventually(lambda: (world.root / "began").exists())
    steer = core.say("And be quick.", taskId=task["id"])
    eventually(lambda: len(core.get(task)["history"]) == 2)
    go(world)
    done = core.wait(steer)["answer"]["task"]
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [words(message) for message in done["history"]] == ["Wait.", "And be quick."]
    # The model was sent them with what the call gave, before it answered.
    prompts = [line for line in world.record(task["contextId"])
               if "And be quick." in json.dumps(line.get("content"))]
    assert prompts and all(line["type"] == "user" for line in prompts)
    core.end()


# ---- artifacts ----------------------------------------------------------------------------------------------------

def edit(content, old, new):
    return call("update_file", file_path="a.txt", base_content_sha256=sha(content), old_string=old, new_string=new)


def test_edits_are_artifacts(world):
    allow(world, "anna", "update_file")
    before = b"one\ntwo\nthree\n"
    (world.root / "a.txt").write_bytes(before)
    core = world.core(edit(before, "two", "TWO"), text("Done."))
    task = core.task("Edit it.")
    after = (world.root / "a.txt").read_bytes()
    assert after == b"one\nTWO\nthree\n", task
    artifacts = {artifact["artifactId"]: artifact["parts"][0] for artifact in task["artifacts"]}
    assert artifacts["edits"]["data"] == {"edits": [
        {"file_path": str(world.root / "a.txt"), "base_sha256": sha(before), "sha256": sha(after)}]}
    assert artifacts["diff"]["mediaType"] == "text/x-diff"
    (world.root / "a.txt").write_bytes(before)
    subprocess.run(["patch", "-p1"], input=base64.b64decode(artifacts["diff"]["raw"]), cwd=world.root, check=True,
                   stdout=subprocess.DEVNULL)
    assert (world.root / "a.txt").read_bytes() == after
    core.end()


def test_of_two_tasks_that_edit_one_file_one_is_told_and_goes_on(world):
    allow(world, "anna", "update_file")
    before = b"one\ntwo\n"
    (world.root / "a.txt").write_bytes(before)
    core = world.core(edit(before, "one", "ONE"), text("Done."))
    tasks = [core.say("Edit it.") for _ in range(4)]
    tasks = [core.wait(number)["answer"]["task"] for number in tasks]
    assert all(task["status"]["state"] == "TASK_STATE_COMPLETED" for task in tasks)
    edits = [artifact for task in tasks for artifact in task["artifacts"] if artifact["artifactId"] == "edits"]
    assert len(edits) == 1 and (world.root / "a.txt").read_bytes() == b"ONE\ntwo\n"
    records = "".join(json.dumps(world.record(task["contextId"])) for task in tasks)
    assert "state_mismatch" in records
    core.end()


# ---- the queue -------------------------------------------------------------------------------------------------------

def test_callers_take_turns(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."), at_once=1)
    first = core.task("Wait.", configuration={"returnImmediately": True})
    numbers = [core.say("Task.", caller) for caller in ("anna", "anna", "anna", "bob")]
    assert core.counters()["waiting"] == 4
    go(world)
    order = []
    while len(order) < 4:
        line = core.line(lambda line: line.get("id") in numbers)
        order.append(numbers.index(line["id"]))
    assert order.index(3) <= 1, order
    assert [i for i in order if i < 3] == [0, 1, 2]
    core.until(first, "COMPLETED")
    core.end()


def test_a_callers_own_limit_holds(world):
    allow(world, "dora", "run_shell_command")
    core = world.core(LONG, text("Done."), at_once=4)
    tasks = [core.task("Wait.", "dora", configuration={"returnImmediately": True}) for _ in range(3)]
    assert core.counters() | {"recent": 0, "values": 0} == {
        "tasks": 3, "waiting": 2, "running": 1, "asking": 0, "streams": 0, "recent": 0, "values": 0}
    go(world)
    for task in tasks:
        core.until(task, "COMPLETED", "dora")
    core.end()


def test_a_thousand_tasks_wait_and_two_hundred_streams_follow(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."), at_once=1)
    first = core.task("Wait.", configuration={"returnImmediately": True})
    core.until(first, "WORKING")
    numbers = [core.say("Task %d." % i, "caller-%d" % (i % 7), configuration={"returnImmediately": True})
               for i in range(1000)]
    tasks = [core.wait(number)["answer"]["task"] for number in numbers]
    assert core.wait(core.say("One too many."))["refused"] == BUSY
    streams = [core.order(SUBSCRIBE, {"id": tasks[i]["id"]}, "caller-%d" % (i % 7)) for i in range(200)]
    for stream in streams:
        assert "task" in core.wait(stream)["event"]
    counters = core.counters()
    assert counters["waiting"] == 1000 and counters["streams"] == 200 and counters["running"] == 1
    assert counters["recent"] < 1 << 20
    for stream in streams[:100]:  # clients that vanish
        core.write(gone=stream)
    assert core.counters()["streams"] == 100
    for task, i in zip(tasks, range(1000)):
        core.order(CANCEL, {"id": task["id"]}, "caller-%d" % (i % 7))
    for stream in streams[100:]:
        assert state(core.events(stream)[-1][1]) == "CANCELED"
    counters = core.counters()
    assert counters["waiting"] == counters["streams"] == 0 and counters["values"] <= 257
    old = core.get(tasks[0], "caller-0")  # it is only in its record now
    assert old["status"]["state"] == "TASK_STATE_CANCELED" and words(old["history"][0]) == "Task 0."
    go(world)
    core.until(first, "COMPLETED")
    core.end()


# ---- the end, and after it ------------------------------------------------------------------------------------------------

def test_a_server_that_ends_lets_what_runs_end(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."), at_once=1)
    running = core.say("Wait.")
    waiting = core.task("Later.", configuration={"returnImmediately": True})
    core.write(drain=60000)
    assert core.wait(core.say("Too late."))["refused"] == BUSY
    go(world)
    assert core.wait(running)["answer"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    core.end()
    core = world.core(text("Now."))
    assert words(core.until(waiting, "COMPLETED")["status"]["message"]) == "Now."
    core.end()


def test_what_does_not_end_is_interrupted(world):
    allow(world, "anna", "run_shell_command")
    core = world.core(LONG, text("Done."))
    task = core.task("Wait.", configuration={"returnImmediately": True})
    core.until(task, "WORKING")
    core.end()
    core = world.core(text("Going on."))
    now = core.get(task)
    assert now["status"]["state"] == "TASK_STATE_FAILED" and "shut down" in words(now["status"]["message"])
    assert words(core.task("Continue.", contextId=task["contextId"])["status"]["message"]) == "Going on."
    core.end()


def test_tasks_survive_a_server_that_is_killed(world):
    allow(world, "anna", "run_shell_command", "update_file")
    (world.root / "a.txt").write_bytes(b"one\n")
    core = world.core(edit(b"one\n", "one", "ONE"), LONG, text("Done."), at_once=1)
    go(world)
    done = core.task("Edit it.")
    (world.root / "go").unlink()
    (world.root / "a.txt").write_bytes(b"one\n")
    running = core.task("Wait.", configuration={"returnImmediately": True})
    waiting = core.task("Later.", configuration={"returnImmediately": True})
    core.until(running, "WORKING")
    core.kill()
    core = world.core(text("Now."))
    assert core.get(done) == done
    failed = core.get(running)
    assert failed["status"]["state"] == "TASK_STATE_FAILED" and "server stopped" in words(failed["status"]["message"])
    assert words(core.until(waiting, "COMPLETED")["status"]["message"]) == "Now."
    listed = core.do(LIST, {})
    assert listed["totalSize"] == 3
    core.end()


def test_a_context_goes_on_in_the_terminal_and_back(world):
    core = world.core(text("One."), text("Three."))
    task = core.task("First.")
    core.end()
    answers = world.top / "user.jsonl"
    answers.write_text(json.dumps(text("Two.")) + "\n")
    done = subprocess.run([HASP, "--resume", task["contextId"], "-p", "Second.", "--fake-responses", str(answers)],
                          cwd=world.root, capture_output=True, text=True, timeout=SECONDS,
                          env={**os.environ, "GEMINI_CLI_HOME": str(world.home), "HOME": str(world.home)})
    assert done.returncode == 0 and "Two." in done.stdout, done.stderr
    core = world.core(text("Three."))
    assert core.get(task) == task
    third = core.task("Third.", contextId=task["contextId"])
    record = json.dumps(world.record(task["contextId"]))
    assert third["status"]["state"] == "TASK_STATE_COMPLETED"
    assert all(word in record for word in ("First.", "Second.", "Third."))
    core.end()


# ---- 3.1.7 to 3.1.10: push configurations -----------------------------------------------------------------------------------

def test_push_configurations_belong_to_a_task(world):
    core = world.core(text("Hello."), PROBE_PUSH="1")
    config = {"url": "https://example.com/hook", "token": "t"}
    task = core.task("Say hello.", configuration={"taskPushNotificationConfig": {**config, "id": "first"}})
    made = core.do(PUSH_CREATE, {**config, "taskId": task["id"]})
    assert made["id"] and made["taskId"] == task["id"]
    assert core.do(PUSH_GET, {"taskId": task["id"], "id": "first"})["url"] == config["url"]
    assert {one["id"] for one in core.do(PUSH_LIST, {"taskId": task["id"]})["configs"]} == {"first", made["id"]}
    for _ in range(2):
        core.do(PUSH_DELETE, {"taskId": task["id"], "id": "first"})
    assert core.refused(PUSH_GET, {"taskId": task["id"], "id": "first"}) == NO_TASK
    assert core.refused(PUSH_CREATE, {"taskId": task["id"]}) == PARAMS
    assert core.refused(PUSH_LIST, {"taskId": task["id"]}, "bob") == NO_TASK
    core.end(pushes=True)
    core = world.core(text("Hello."), PROBE_PUSH="1")
    assert [one["id"] for one in core.do(PUSH_LIST, {"taskId": task["id"]})["configs"]] == [made["id"]]
    core.end()


def test_without_notifications_there_are_no_configurations(world):
    core = world.core(text("Hello."))
    task = core.task("Say hello.")
    for operation in (PUSH_CREATE, PUSH_GET, PUSH_LIST, PUSH_DELETE):
        assert core.refused(operation, {"taskId": task["id"], "id": "a", "url": "https://example.com"}) == NO_PUSH
    core.end()
