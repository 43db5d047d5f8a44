# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI, Codex and Claude Code edit a file through hasp's tools, over stdio and HTTP.

Each is the real program from npm, in a home of its own, configured with what docs/mcp.md shows;
only the language model is not real (fake_model.py).  Where the system allows it there
is no network but the loopback.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import re
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
    name: str       # of the command, of its set in npm_peers, and in docs/mcp.md
    snippet: str    # where what the page shows goes; {home}, or in the workspace
    config: str     # where it is told which model to ask; "": in `environment` only
    model: str      # what it is told there; {url} is the model's
    arguments: list
    with_snippet: list  # more of them, to make it look there
    environment: dict


AGENTS = [
    Agent("gemini", ".gemini/settings.json", "{home}/.gemini/settings.json",
          json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}},
                      "privacy": {"usageStatisticsEnabled": False}}),
          ["--yolo", "-m", "gemini-fake", "-p", PROMPT], [],
          {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "{url}",
           "GEMINI_CLI_NO_RELAUNCH": "true"}),
    Agent("codex", "{home}/.codex/config.toml", "{home}/.codex/config.toml",
          'model = "fake"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
          'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n\n',
          ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
          [], {"FAKE_KEY": "dummy"}),
    Agent("claude", ".mcp.json", "", "", ["-p", PROMPT, "--allowedTools", "mcp__hasp"],
          ["--mcp-config", ".mcp.json", "--strict-mcp-config"],
          {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1",
           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}),
]


@contextlib.contextmanager
def loopback_only():
    """A network with nothing in it but lo, if that is allowed, for this thread and its children."""
    clone_newnet, siocsifflags, up = 0x40000000, 0x8914, 0x1
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as before:
        if libc.unshare(clone_newnet) != 0:
            yield
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, siocsifflags, struct.pack("16sh14x", b"lo", up))
        yield
        assert libc.setns(before.fileno(), clone_newnet) == 0


@pytest.fixture(scope="module", autouse=True)
def alone():
    """Everything is fetched first, then there is no network."""
    for agent in AGENTS:
        npm_peers.folder(agent.name)
    npm_peers.node()
    with loopback_only():
        yield


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

    def append(self, name, text):
        """Adds to a file of the home ("{home}/...") or of the workspace."""
        path = self.work / name.format(home=self.home)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)

    def run(self, argv, **environment):
        """Runs a program to its end, which must be a good one; returns what it printed."""
        done = subprocess.run(argv, cwd=self.work, env={**self.env, **environment},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
        said = done.stdout.decode(errors="replace")[-3000:]
        assert done.returncode == 0, said
        return said


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def http_port(place):
    with served.http(place.work, place.env) as port:
        yield port


def check(agent, place, configure, more=()):
    """Has the agent do the task, after `configure` has told it of hasp."""
    with FakeModel(TASK) as model:
        if agent.config:
            place.append(agent.config, agent.model.replace("{url}", model.url))
        if agent.name == "gemini":  # the user has said so when it first asked
            place.append("{home}/.gemini/trustedFolders.json",
                         json.dumps({str(place.work.resolve()): "TRUST_FOLDER"}))
        environment = {name: value.format(url=model.url)
                       for name, value in agent.environment.items()}
        configure(environment)
        before = place.files()
        said = place.run([command(agent), *agent.arguments, *more], **environment)
    assert model.complaints == [], said
    assert [tool for tool, _ in model.calls if tool != "ToolSearch"] == \
        ["read_file", "safe_patch"], said
    after = place.files()
    assert after.pop(TASK.path) == AFTER.encode()
    before.pop(TASK.path)
    assert after == before, "nothing else in the workspace changed"
    assert model.done in said


def command(agent):
    return npm_peers.package(agent.name, ".bin/" + agent.name)


def with_configuration(agent, transport, port, place):
    shown = snippets.at(snippets.block("%s-%s" % (agent.name, transport)), port)
    check(agent, place, lambda _: place.append(agent.snippet, shown), agent.with_snippet)


def after_command(agent, transport, port, place):
    shown = snippets.at(snippets.command(agent.name, transport), port)
    line = shown.replace(agent.name, str(command(agent)), 1)
    check(agent, place, lambda environment: place.run(["sh", "-c", line], **environment))


@pytest.mark.rows_in_turn(4)  # each agent in one of its four ways
@pytest.mark.parametrize("told", [with_configuration, after_command], ids=lambda told: told.__name__)
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_edits_as_it_is_shown(agent, transport, told, place, request):
    port = request.getfixturevalue("http_port") if transport == "http" else 0
    told(agent, transport, port, place)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_configuration_for_vs_code_has_the_documented_keys(transport):
    """.vscode/mcp.json: servers of type stdio have a command, of type http a url."""
    text = snippets.block("vscode-" + transport)
    whole = json.loads(text)
    known = {"stdio": {"type", "command", "args", "env", "envFile", "cwd", "dev"},
             "http": {"type", "url", "headers"}}[transport]
    asked = {entry["id"] for entry in whole.pop("inputs", [])}
    assert set(whole) == {"servers"} and set(whole["servers"]) == {"hasp"}
    server = whole["servers"]["hasp"]
    assert server["type"] == transport and set(server) <= known
    assert server[{"stdio": "command", "http": "url"}[transport]]
    assert asked == set(re.findall(r"\$\{input:([\w-]+)\}", text))
