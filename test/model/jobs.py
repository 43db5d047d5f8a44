# SPDX-License-Identifier: Apache-2.0
"""Jobs for model_probe (its first comment says what they are), and conversations with it.

    talk = Talk(provider="anthropic", name="claude-sonnet-4-5", base_url=server.url)
    reply = talk.say("Hello", tools=[...])       # the request is the whole conversation so far
    reply = talk.answer({"output": "..."})       # a response for each call of the last reply
"""
import json
import os
import subprocess

import pytest

READ = {"name": "read_file", "description": "Reads a file.", "parameters": {
    "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}
LIST = {"name": "list", "description": "Lists a folder.", "parameters": {
    "type": "object", "properties": {}}}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def options(**more):
    """Quick to give up, with the key that the fakes expect."""
    return dict({"api_key": "test-key", "max_attempts": 3, "first_delay_ms": 1}, **more)


ENDS = {"reply", "error", "tokens", "limits"}
probe = None


@pytest.fixture(scope="session", autouse=True)
def ends_well():
    """Sanitizers have their say when the probe ends. To be imported by each file of tests."""
    yield
    if probe is not None:
        probe.stdin.close()
        assert probe.wait(30) == 0


def start():
    """One probe for all tests of a run: it has no state but its model."""
    global probe
    if probe is None or probe.poll() is not None:
        clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        probe = subprocess.Popen([os.environ["MODEL_PROBE"]], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, env=clean)
    return probe


def run(*jobs):
    """The lines that the probe writes for the jobs: each ends with one of ENDS."""
    pipes, lines = start(), []
    for job in jobs:
        pipes.stdin.write(json.dumps(job).encode() + b"\n")
        pipes.stdin.flush()
        while True:
            line = pipes.stdout.readline()
            assert line, "the probe has died: %r" % pipes.wait()
            lines.append(json.loads(line))
            if ENDS & set(lines[-1]):
                break
    return lines


def last(lines):
    return next(line for line in reversed(lines) if ENDS & set(line))


def ask(opened, **request):
    """The last line for one request."""
    return last(run({"options": opened, "request": request}))


class Talk:
    def __init__(self, **opened):
        self.options, self.contents = options(**opened), []
        self.lines = []

    def send(self, **request):
        self.lines = run({"options": self.options,
                          "request": dict(request, contents=self.contents)})
        line = last(self.lines)
        assert "reply" in line, line
        self.contents.append(line["reply"]["content"])
        return line["reply"]

    def say(self, *parts, **request):
        self.contents.append(user(*({"text": part} if isinstance(part, str) else part
                                    for part in parts)))
        return self.send(**request)

    def calls(self):
        return [part["functionCall"] for part in self.contents[-1]["parts"]
                if "functionCall" in part]

    def answer(self, *responses, then=(), **request):
        """Responses to the calls, in their order; `then`: parts after them."""
        calls = self.calls()
        assert len(calls) == len(responses)
        self.contents.append(user(*({"functionResponse": {"id": one["id"], "name": one["name"],
                                                          **response}}
                                    for one, response in zip(calls, responses)), *then))
        return self.send(**request)


def texts(reply):
    return "".join(part["text"] for part in reply["content"]["parts"]
                   if "text" in part and not part.get("thought"))
