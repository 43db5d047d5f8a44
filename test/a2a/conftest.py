# SPDX-License-Identifier: Apache-2.0
"""hasp with agents elsewhere: `world` is a home, a project and the program in it (test/headless/)."""
import contextlib
import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(TOP / "test" / "headless"), str(TOP / "script" / "lib")]

import npm_peers  # noqa: E402

_spec = importlib.util.spec_from_file_location("headless_conftest", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)
from fake_gemini import call, text  # noqa: E402


class Peer:
    """A server that prints its port and then a line of JSON for whatever happens."""

    def __init__(self, process):
        self.process, self.lines, self.seen = process, queue.Queue(), []
        self.port = int(process.stdout.readline())
        self.url = "http://127.0.0.1:%d/.well-known/agent-card.json" % self.port
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def until(self, fits):
        """Waits for a line that fits."""
        while not any(map(fits, self.seen)):
            self.seen.append(self.lines.get(timeout=120))
        return next(filter(fits, self.seen))

    def all(self, member):
        """All lines so far that have it: those before the line of a request that is made now."""
        mark = "/mark-%d" % len(self.seen)
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, mark), timeout=120).close()
        self.until(lambda one: one.get("path") == mark)
        return [one for one in self.seen if member in one]

    def methods(self):
        return [one["body"]["method"] for one in self.all("request") if one["request"] == "POST"]


@contextlib.contextmanager
def sdk(version, *more):
    argv = [npm_peers.node(), HERE / "sdk_server.mjs", npm_peers.folder("a2a" if version == "1.0" else "a2a03"),
            version, *more]
    with subprocess.Popen([str(one) for one in argv], stdout=subprocess.PIPE) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()


class World(headless.World):
    def agent(self, url=None, name="far", where="home", auth=None, **fields):
        """A file that describes a remote agent."""
        path = getattr(self, where) / ".gemini/agents" / (name + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        fields = {"kind": "remote", "name": name, "description": "Works elsewhere.", **fields}
        if url:
            fields["agent_card_url"] = url
        if auth:
            fields["auth"] = auth
        path.write_text("---\n%s---\n" % "".join("%s: %s\n" % (key, json.dumps(value)) for key, value in fields.items()))
        return path

    def ask(self, *tasks, name="far", flags=("-y",), env=None, **options):
        """A run in which the agent is called with each of the tasks, one after the other; `done.got` are the results."""
        script = [[call("invoke_agent", {"agent_name": name, "prompt": task})] for task in tasks]
        done = self.run([*script, [text("Done.")]], "-p", "x", *flags, env=env, **options)
        done.got = [result for i in range(len(tasks)) for result in done.results(i + 1)[-1:]]
        return done


class Front:
    """A run of front.c, whose messages are in `heard`."""

    def __init__(self, world, *answers, mode="yolo", task="ask me", name="far", env=None):
        replies = [{"functionCall": {"name": "invoke_agent", "args": {"agent_name": name, "prompt": task}}},
                   {"text": "Done."}]
        world.top.joinpath("model").write_text("".join(json.dumps({"method": "generateContentStream", "response": [
            {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}]}) + "\n"
            for part in replies))
        argv = [os.environ["A2A_FRONT"], world.root, "replay:%s" % (world.top / "model"), mode, "x", *answers]
        done = subprocess.run(list(map(str, argv)), timeout=300,
                              env=world.environment(HASP=os.environ["HASP"], **(env or {})),
                              capture_output=True, text=True)
        assert done.returncode == 0 and "refused " not in done.stdout, done.stderr
        self.heard = [line.split(" ", 1) for line in done.stdout.splitlines()]

    def all(self, topic):
        return [json.loads(message) for name, message in self.heard if name == topic]

    @property
    def result(self):
        (result,) = self.all("tool-result")
        return result["result"]

    def questions(self):
        return [question["question"] for one in self.all("ask-user-request") for question in one["questions"]]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
