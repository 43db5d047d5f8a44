# SPDX-License-Identifier: Apache-2.0
"""Settings that say they hold for calls without a session ("calls" in `hasp config schema`) hold for `hasp tool` and
`hasp serve mcp`. HASP names the program."""

import json
import lzma
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

HASP = os.environ.get("HASP", str(Path(__file__).resolve().parents[2] / "build" / "hasp"))


class Place:
    """A project and a user's home."""

    def __init__(self, top):
        self.project, self.home = top / "project", top / "home"
        (self.project / ".git").mkdir(parents=True)
        (self.home / ".gemini").mkdir(parents=True)
        with zipfile.ZipFile(self.project / "a.zip", "w") as archive:
            archive.writestr("x", "y")
        (self.project / "a.xz").write_bytes(lzma.compress(b"word", preset=9))  # takes 64 MiB to expand
        (self.project / "seen.txt").write_text("word\n")
        (self.project / "hidden.txt").write_text("word\n")
        (self.project / "package.json").write_text('{"scripts": {"a": "b"}}')
        self.env = {**os.environ, "HOME": str(self.home), "GEMINI_CLI_HOME": "", "SECRET_WORD": "shown", "TZ": "UTC", "XDG_CACHE_HOME": str(top / "cache")}

    def say(self, path, value):
        for name in reversed(path.split(".")):
            value = {name: value}
        (self.home / ".gemini" / "settings.json").write_text(json.dumps(value))

    def tool(self, name, **arguments):
        done = subprocess.run([HASP, "tool", name, "-", "--json", "--root", str(self.project)], input=json.dumps(arguments), text=True,
                              capture_output=True, env=self.env, check=False, timeout=120)
        return done.stdout + done.stderr

    def served(self, name, **arguments):
        lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                     "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}]
        with subprocess.Popen([HASP, "serve", "mcp", "--root", str(self.project)], text=True, env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()
            for line in server.stdout:
                if json.loads(line).get("id") == 2:
                    server.stdin.close()
                    return json.dumps(json.loads(line)["result"])
            return server.stderr.read()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


ZIP = ("read_file", {"file_path": "a.zip"})
FIND = ("search_files", {"pattern": "word"})
SHOW = ("run_shell_command", {"command": "echo pager=$PAGER zone=$TZ secret=$SECRET_WORD end"})
CHANGE = ("write_file", {"file_path": "new.txt", "content": "x\n"})
# By setting: a value, a call, what the answer matches with it and what without, what the project has besides.
CASES = {
    "hasp.formats.enabled": (False, ZIP, "(?s)^(?!.*(with part|member))(?=.*not_text)(?=.*hasp.formats.enabled)", "libarchive", {}),
    "hasp.formats.memoryMb": (1, ("read_file", {"file_path": "a.xz"}), "(?s)^(?=.*too_large)(?=.*more than 1 MB of memory)", "libarchive", {}),
    "context.fileFiltering.respectGitIgnore": (False, FIND, "hidden.txt", "seen.txt", {".gitignore": "hidden.txt\n"}),
    "context.fileFiltering.respectGeminiIgnore": (False, FIND, "hidden.txt", "seen.txt", {".geminiignore": "hidden.txt\n"}),
    "context.fileFiltering.customIgnoreFilePaths": (["own.ignore"], FIND, "seen.txt", "hidden.txt", {"own.ignore": "hidden.txt\n"}),
    "tools.shell.pager": ("less", SHOW, "pager=less", "pager=cat", {}),
    "security.environmentVariableRedaction.allowed": (["SECRET_WORD"], SHOW, "secret=shown", "secret= end", {}),
    "security.environmentVariableRedaction.blocked": (["TZ"], SHOW, "zone= ", "zone=UTC", {}),
    "hasp.sandbox.keepPaths": (["new.txt"], CHANGE, "denied", '"success": ?true', {}),
    "hasp.sandbox.level": ("paths", SHOW, "not confined|paths", "pager=cat", {}),
    "tools.shell.inactivityTimeout": (1, ("run_shell_command", {"command": "sleep 4; echo slept"}), "(?s)^(?!.*slept\\\\?n)", "slept", {}),
}
ELSEWHERE = {
    "hasp.formats.onSchemaError": "test/schema/test_guard.py",
    "hasp.formats.schemas": "test/schema/test_guard.py",
    "hasp.formats.timeoutMs": "test/read: a file that takes that long",
    "hasp.durability": "test/file: tracing",
    "hasp.sandbox.syscalls": "test/cli/test_syscalls.py",
    "hasp.worker": "test/worker/test_providers.py",
}


def flagged(schema, path=()):
    for name, below in schema.get("properties", {}).items():
        if "x-hasp" in below:
            if below["x-hasp"]["calls"]:
                yield ".".join((*path, name))
        else:
            yield from flagged(below, (*path, name))


def test_each_setting_that_says_so_has_a_case():
    run = subprocess.run([HASP, "config", "schema"], capture_output=True, text=True, check=True)
    assert set(flagged(json.loads(run.stdout))) == set(CASES) | set(ELSEWHERE)


@pytest.mark.parametrize("way", ["tool", "served"])
@pytest.mark.parametrize("path", sorted(CASES))
def test_it_holds(place, path, way):
    value, (name, arguments), with_it, without, besides = CASES[path]
    for file, text in besides.items():
        (place.project / file).write_text(text)
    call = getattr(place, way)
    before = call(name, **arguments)
    assert re.search(without, before), before
    (place.project / "new.txt").unlink(missing_ok=True)
    place.say(path, value)
    after = call(name, **arguments)
    assert re.search(with_it, after), after


@pytest.mark.parametrize("way", ["tool", "served"])
def test_a_value_that_would_restrict_and_cannot_be_used_is_an_error(place, way):
    place.say("hasp.formats.enabled", "no")
    assert "hasp.formats.enabled" in getattr(place, way)(*ZIP[:1], **ZIP[1])


@pytest.mark.parametrize("way", ["tool", "served"])
def test_a_trusted_project_may_turn_readers_off(place, way):
    (place.project / ".gemini").mkdir()
    (place.project / ".gemini" / "settings.json").write_text('{"hasp": {"formats": {"enabled": false}}}')
    call = getattr(place, way)
    assert "libarchive" in call("read_file", **ZIP[1])
    subprocess.run([HASP, "config", "trust"], cwd=place.project, env=place.env, check=True, capture_output=True)
    assert "not_text" in call("read_file", **ZIP[1])
