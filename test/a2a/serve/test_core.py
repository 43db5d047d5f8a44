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
                 "HOME": str(world.home), **environment})
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
            assert time.monotonic() < deadline, now
            time.sleep(0.01)
        return now

    def counters(self):
        self.write(counters=True)
        return self.line(lambda line: "counters" in line)["counters"]

    def end(self, ms=0):
        """Drains; everything must be freed and nothing said on standard error."""
        self.write(drain=ms)
        while self.process.poll() is None:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                break
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines += [json.loads(line) for line in lines]
        assert self.process.wait(SECONDS) == 0, self.process.stderr.read().decode()
        assert self.process.stderr.read() == b""

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
