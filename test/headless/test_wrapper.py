# SPDX-License-Identifier: Apache-2.0
"""A wrapper from npm that was written for Gemini CLI's stream-json drives hasp: the program is in PATH as
`gemini`, the wrapper is as it was published."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HASP, KEY, TOP, become_reaper, nothing_left
from fake_gemini import call, text

sys.path.append(str(TOP / "script" / "lib"))

import npm_peers  # noqa: E402

WRAPPER = Path(__file__).with_name("wrapper.mjs")


@pytest.fixture
def drive(world):
    npm_peers.source("react-grab-gemini", world.top / "wrapper")
    (world.top / "bin").mkdir()
    (world.top / "bin" / "gemini").symlink_to(HASP)

    def run(script, *args, violations=0):
        with world.fake([step if isinstance(step, dict) else {"reply": step} for step in
                         script]) as server:
            path = "%s:%s" % (world.top / "bin", world.env["PATH"])
            done = subprocess.run(
                [str(npm_peers.node()), str(WRAPPER), str(world.top / "wrapper/dist/server.cjs"),
                 *args], cwd=world.root, env=world.environment(server, PATH=path),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        assert len(server.violations) == violations, server.violations
        assert KEY.encode() not in done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done
    return run


def contents(messages):
    return [message["content"] for message in messages if message["type"] == "status"]


def test_text_tools_and_the_result(world, drive):
    sha = world.write("a.txt", "alpha\n")
    messages, done = drive([
        [text("I look. "), call("read_file", {"file_path": "a.txt"})],
        [call("update_file", {"file_path": "a.txt", "old_content": "nothing", "new_content": "x",
                              "base_content_sha256": sha})],
        [call("update_file", {"file_path": "a.txt", "old_content": "alpha", "new_content": "beta",
                              "base_content_sha256": sha})],
        [text("It is "), text("beta.")]], "Make it beta.")
    said = contents(messages)
    assert done.returncode == 0
    assert said[:3] == ["Thinking\u2026", "Session started...", "I look. "], done.stderr
    assert [one for one in said if one.startswith("Using ")] == [
        "Using read_file...", "Using update_file...", "Using update_file..."]
    assert len([one for one in said if one.startswith("Tool error: ")]) == 1
    assert said[-3:] == ["It is ", "beta.", "Completed successfully"]
    assert [message["type"] for message in messages if message["type"] != "status"] == ["done"]
    assert world.read("a.txt") == "beta\n"


def test_a_failure(world, drive):
    messages, _ = drive([{"status": 400, "error": "API key not valid."}], "x")
    errors = [message["content"] for message in messages if message["type"] == "error"]
    assert errors[0] == "Task failed" and messages[-1]["type"] in ("done", "error")


def test_it_is_aborted(world, drive):
    become_reaper()
    messages, _ = drive([[call("run_shell_command", {"command": "sleep 1000"})]], "x",
                        "Using run_shell_command...")
    assert messages[-1]["type"] in ("done", "error") and nothing_left()
