# SPDX-License-Identifier: Apache-2.0
"""A folder, a home and a strict fake of Gemini's API, in which the probe runs an agent."""
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "model"))

import fake_gemini  # noqa: E402
from fake_gemini import call, text, thought  # noqa: E402,F401
from fake_server import FakeServer  # noqa: E402

PROBE = os.environ["AGENT_PROBE"]
YOLO = {"mode": "yolo"}


class Run:
    """The output of the probe."""

    def __init__(self, lines, server):
        self.lines, self.server = lines, server
        self.outcomes = [line["outcome"] for line in lines if "outcome" in line]
        self.end = lines[-1]
        self.history, self.stats = self.end["history"], self.end["stats"]

    def told(self, topic):
        return [line["message"] for line in self.lines if line.get("topic") == topic]

    def results(self):
        """Of tools, in the order of their calls, as the model got them."""
        return [part["functionResponse"]["response"] for content in self.history
                for part in content["parts"] if "functionResponse" in part]


@pytest.fixture
def world(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "home").mkdir()
    return World(tmp_path)


class World:
    def __init__(self, path):
        self.path, self.root = path, path / "w"

    def write(self, name, content):
        (self.root / name).write_text(content)
        return hashlib.sha256(content.encode()).hexdigest()

    def read(self, name):
        return (self.root / name).read_text()

    def run(self, script, prompts=("Do it.",), violations=0, append_only=True, auto=None,
            fake=fake_gemini, **job):
        provider = fake.Provider(append_only=append_only)
        with FakeServer(provider, [step if isinstance(step, dict) else
                                   {"reply": step} for step in script], auto) as server:
            job = dict({"root": str(self.root), "prompts": list(prompts), "model": {}}, **job)
            path = job["model"].pop("path", "/v1beta")
            job["model"] = dict({"provider": "gemini", "name": "gemini-3-pro-preview",
                                 "base_url": server.url + path}, **job["model"])
            env = {"PATH": os.environ["PATH"], "HOME": str(self.path / "home")}
            env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
            done = subprocess.run([PROBE], input=json.dumps(job), env=env, timeout=300,
                                  stdout=subprocess.PIPE, text=True)
            lines = [json.loads(line) for line in done.stdout.split("\n") if line]
            assert done.returncode == 0, lines[-3:]
            assert len(server.violations) == violations, server.violations
            assert not server.script, "steps that were not asked for: %r" % server.script
        return Run(lines, server)


def patch(name, sha, old, new):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new,
                                "base_content_sha256": sha})


def hook(event, command, matcher=None):
    group = {"hooks": [{"type": "command", "command": command}]}
    return {event: [dict(group, matcher=matcher) if matcher else group]}


def say(**output):
    return "cat >/dev/null; printf '%s' '" + json.dumps(output) + "'"
