# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI, Codex and Claude Code edit a file through hasp's tools, over stdio and HTTP.

Each is the real program from npm, in a home of its own, configured with what docs/mcp.md shows;
only the language model is not real (fake_model.py).  Where the system allows it there
is no network but the loopback.
"""

import ctypes
import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

import npm_peers
import served
import snippets
from conftest import HASP
from fake_model import FakeModel, Task

SECONDS = 180
PROMPT = "In note.txt, change the line beta to BETA."
TASK = Task("note.txt", "beta", "BETA")
BEFORE, AFTER = "alpha\nbeta\ngamma\n", "alpha\nBETA\ngamma\n"


class Agent(NamedTuple):
    name: str       # the heading in docs/mcp.md
    package: str    # the set and the command in it
    config: str     # where its configuration goes; "{home}" or the workspace
    arguments: list
    environment: dict  # {url} is the model's

    def merge(self, shown, model):
        """What is in the file: what the page shows, and which model to ask."""
        if self.package == "gemini":
            settings = {"security": {"auth": {"selectedType": "gemini-api-key"}},
                        "privacy": {"usageStatisticsEnabled": False}}
            return json.dumps({**settings, **json.loads(shown)})
        if self.package == "codex":
            return ('model = "fake"\nmodel_provider = "fake"\n' + shown +
                    '\n[model_providers.fake]\nname = "fake"\nbase_url = "%s/v1"\n'
                    'wire_api = "responses"\nenv_key = "FAKE_KEY"\n' % model.url)
        return shown


AGENTS = [
    Agent("Gemini CLI", "gemini", "{home}/.gemini/settings.json",
          ["--yolo", "--skip-trust", "-m", "gemini-fake", "-p", PROMPT],
          {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "{url}",
           "GEMINI_CLI_NO_RELAUNCH": "true"}),
    Agent("Codex", "codex", "{home}/.codex/config.toml",
          ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
          {"FAKE_KEY": "dummy"}),
    Agent("Claude Code", "claude", ".mcp.json",
          ["-p", PROMPT, "--mcp-config", ".mcp.json", "--strict-mcp-config",
           "--allowedTools", "mcp__hasp"],
          {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1",
           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}),
]


def loopback_only():
    """Leaves the network, if that is allowed, for a new one with nothing in it but lo."""
    clone_newnet, siocsifflags, up = 0x40000000, 0x8914, 0x1
    if ctypes.CDLL(None, use_errno=True).unshare(clone_newnet) != 0:
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, siocsifflags, struct.pack("16sh14x", b"lo", up))


@pytest.fixture(scope="module", autouse=True)
def alone():
    """Everything is fetched first, then there is no network."""
    for agent in AGENTS:
        npm_peers.folder(agent.package)
    npm_peers.node()
    loopback_only()


class Place:
    """A workspace with one file, a home, and what to start programs with."""

    def __init__(self, folder):
        self.work, self.home, commands = folder / "work", folder / "home", folder / "bin"
        for made in (self.work, self.home, commands):
            made.mkdir()
        (self.work / TASK.path).write_text(BEFORE)
        (commands / "hasp").symlink_to(Path(HASP).resolve())
        kept = {name: value for name, value in os.environ.items()
                if name.endswith("SAN_OPTIONS") or name in ("LANG", "TMPDIR")}
        self.env = {**kept, "HOME": str(self.home), "TERM": "dumb", "HASP_MCP_TOKEN": served.TOKEN,
                    "PATH": "%s:%s" % (commands, npm_peers.environment()["PATH"])}

    def files(self):
        return {str(path.relative_to(self.work)): path.read_bytes()
                for path in self.work.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def http_port(place):
    with served.http(place.work, place.env) as port:
        yield port


def run_agent(agent, place, config):
    """Has the agent do the task; returns the model it talked to and what it printed."""
    with FakeModel(TASK) as model:
        path = place.work / agent.config.format(home=place.home)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(agent.merge(config, model))
        before = place.files()
        env = {**place.env, **{name: value.format(url=model.url)
                               for name, value in agent.environment.items()}}
        command = npm_peers.package(agent.package, ".bin/" + agent.package)
        done = subprocess.run([command, *agent.arguments], cwd=place.work, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
    said = done.stdout.decode(errors="replace")[-3000:]
    assert model.complaints == [], said
    assert done.returncode == 0, said
    return model, said, before


def check(agent, place, config):
    model, said, before = run_agent(agent, place, config)
    assert [tool for tool, _ in model.calls if tool != "ToolSearch"] == \
        ["read_file", "safe_patch"], said
    after = place.files()
    assert after.pop(TASK.path) == AFTER.encode()
    before.pop(TASK.path)
    assert after == before, "nothing else in the workspace changed"
    assert model.done in said


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.package)
def test_an_agent_edits_through_the_server_it_starts(agent, place):
    check(agent, place, snippets.one(agent.name).text)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.package)
def test_an_agent_edits_through_a_server_on_http(agent, place, http_port):
    check(agent, place, snippets.one(agent.name, http=True).at(http_port))


def test_the_configuration_for_vs_code_has_the_documented_keys():
    """VS Code's .vscode/mcp.json: servers of type stdio have a command, of type http a url."""
    for snippet in snippets.of("VS Code"):
        whole = json.loads(snippet.text)
        assert set(whole) <= {"servers", "inputs"} and "hasp" in whole["servers"]
        known = {"stdio": {"type", "command", "args", "env", "envFile", "cwd", "dev"},
                 "http": {"type", "url", "headers"}}
        server = whole["servers"]["hasp"]
        assert set(server) <= known[server["type"]]
        assert ("url" if server["type"] == "http" else "command") in server
        asked = {entry["id"] for entry in whole.get("inputs", [])}
        assert asked == set(re.findall(r"\$\{input:(\w[\w-]*)\}", snippet.text))
    assert shutil.which("hasp", path=str(Path(HASP).resolve().parent))
