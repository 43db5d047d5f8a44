# SPDX-License-Identifier: Apache-2.0
"""The MCP Inspector's command line lists what hasp offers and calls every tool, over stdio and
over HTTP, as a client of 2025-11-25 ("legacy") and of 2026-07-28 ("modern")."""

import contextlib
import json
import os
import subprocess
import tempfile

import pytest

import npm_peers
from part import ALL, in_turn
import served
import tool_calls
from conftest import HASP

pytestmark = pytest.mark.rows_in_turn(3)  # each run takes a second

SECONDS = 120
COMPILED = tempfile.TemporaryDirectory(prefix="hasp-inspector-")  # its own code, for all runs
WAYS = [("stdio", "legacy"), ("stdio", "modern"), ("http", "legacy"), ("http", "modern")]
EACH = WAYS[::3]  # each transport and each era, not all pairs


class Inspector:
    """Each request is one run of the program; over stdio each starts a hasp of its own."""

    def __init__(self, folder, home, era, port=None):
        self.folder, self.port = folder, port
        self.argv = [npm_peers.package("inspector", ".bin/mcp-inspector"), "--cli", "--format",
                     "json", "--protocol-era", era]
        self.env = npm_peers.environment(HOME=str(home), NODE_COMPILE_CACHE=COMPILED.name)

    def run(self, *arguments):
        target = ["--", HASP, "serve", "mcp", "--output-schemas"]
        if self.port:
            target = ["--transport", "http", "--server-url",
                      "http://127.0.0.1:%d/mcp" % self.port,
                      "--header", "Authorization: Bearer " + served.TOKEN]
        return subprocess.run([*self.argv, *arguments, *target], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS)

    def do(self, method, *arguments):
        done = self.run("--method", method, *arguments)
        assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
        whole = json.loads(done.stdout)
        return whole.get("result", whole)


@pytest.fixture(params=WAYS, ids="-".join)
def inspector(request, tmp_path):
    transport, era = request.param
    folder = tool_calls.workspace(tmp_path)
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(
            served.http(folder, arguments=["--output-schemas"])) if transport == "http" else None
        yield Inspector(folder, tmp_path, era, port)


def test_every_tool_is_listed_without_a_complaint_about_its_schema(inspector):
    done = inspector.run("--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stderr.decode()
    whole = json.loads(done.stdout)
    tools = {tool["name"]: tool for tool in whole.get("result", whole)["tools"]}
    assert set(tools) == {call.name for call in tool_calls.calls()}
    for tool in tools.values():
        assert tool["outputSchema"]["type"] == "object" and tool["annotations"]


@pytest.mark.parametrize("inspector, part", [(way, part) for part, way in enumerate(EACH)],
                         indirect=["inspector"], ids=["-".join(way) for way in EACH])
def test_every_tool_can_be_called(inspector, part):
    """One run for each tool, of a quarter of them in turn; all tools in all pairs are called in test_sdk.py."""
    calls = list(tool_calls.calls(alone=True))
    for call in calls if ALL else in_turn(calls[part::len(EACH)], 4):
        result = inspector.do("tools/call", "--tool-name", call.name,
                              "--tool-args-json", json.dumps(call.arguments))
        assert not result.get("isError"), (call.name, result)
        call.check(result["structuredContent"], inspector.folder)


def test_a_failed_call_is_a_result_that_says_so(inspector):
    done = inspector.run("--method", "tools/call", "--tool-name", "read_file",
                         "--tool-args-json", '{"file_path": "nowhere.txt"}')
    assert done.returncode == 5, done.stderr.decode()  # the Inspector's own: isError
    assert b"file_not_found" in done.stdout + done.stderr


@pytest.mark.parametrize("inspector", WAYS if ALL else EACH[1:], ids="-".join, indirect=True)
def test_prompts_and_resources_are_listed_and_read(inspector):
    assert inspector.do("prompts/list")["prompts"]
    assert inspector.do("resources/templates/list")["resourceTemplates"]
    listed = {os.path.basename(entry["uri"]): entry["uri"]
              for entry in inspector.do("resources/list")["resources"]}
    (contents,) = inspector.do("resources/read", "--uri", listed["note.txt"])["contents"]
    assert contents["text"] == tool_calls.NOTE


def test_a_wrong_token_is_refused(tmp_path, monkeypatch):
    folder = tool_calls.workspace(tmp_path)
    with served.http(folder) as port:
        monkeypatch.setattr(served, "TOKEN", "wrong")
        done = Inspector(folder, tmp_path, "legacy", port).run("--method", "tools/list")
    assert done.returncode != 0 and b"auth_required" in done.stderr
