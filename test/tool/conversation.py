# SPDX-License-Identifier: Apache-2.0
"""Runs conversation_probe: tools of a conversation with the services that a test describes."""
import json
import os
import subprocess

import pytest

PROBE = os.environ["CONVERSATION_PROBE"]


class Run:
    def __init__(self, lines):
        self.lines, self.end = lines, lines[-1]
        self.results = [line["result"] for line in lines if "result" in line]
        assert not self.of("misfit"), self.of("misfit")

    def of(self, name):
        return [line[name] for line in self.lines if name in line]

    def told(self, topic):
        return [line["message"] for line in self.lines if line.get("topic") == topic]


@pytest.fixture
def run(tmp_path):
    def run(*calls, **job):
        job = dict({"root": str(tmp_path / "w"), "calls": calls}, **job)
        done = subprocess.run([PROBE], input=json.dumps(job), stdout=subprocess.PIPE, text=True,
                              timeout=60, check=True, env=dict(os.environ, no_proxy="*"))
        return Run([json.loads(line) for line in done.stdout.splitlines()])
    (tmp_path / "w").mkdir()
    return run


def code(result):
    assert result["success"] is False
    return result["error"]["code"]
