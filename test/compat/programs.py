# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI and hasp on copies of one repository and one home, against servers that answer with
one script.

    gemini = Program("gemini", folder);  hasp = Program("hasp", folder)
    run = hasp.run(steps, "-p", "Go.", "-o", "json")
    run.code, run.out, run.err, run.requests, run.hooks, run.files
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(TOP / "test" / "model"), str(TOP / "script" / "lib")]

import fake_gemini  # noqa: E402
import npm_peers  # noqa: E402
from fake_server import FakeServer  # noqa: E402

HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())
SECONDS = 120
KEY = "test-key-0f9d17"
# Servers are started with this python3: another one may be a script that looks for it, twenty times as dear.
PATH = "%s:%s" % (Path(sys.executable).parent, os.environ["PATH"])
THEIR_PATH = "%s:%s" % (npm_peers.node().parent, PATH)


class Lenient(fake_gemini.Provider):
    """Answers like the strict one; another program's requests are its own matter."""

    def check(self, request):
        return []

    def special(self, request):
        """Questions beside the conversation (summaries, loops) are answered by nothing much."""
        beside = request.path.endswith(":generateContent")
        return {"reply": [fake_gemini.text("{}")]} if beside else super().special(request)


def modified(path):
    return path.stat().st_mtime_ns


class Hook:
    """One run of tools/hook.sh: the file that it left."""

    def __init__(self, path):
        head, _, body = path.read_text().rpartition("\n\n")
        self.name, *env = shlex.split(head.replace("\nexport ", "\n"))
        self.env = dict(line.split("=", 1) for line in env if "=" in line)
        self.input = json.loads(body)
        self.event = self.input["hook_event_name"]


def number(call_id):
    """Of the ids that the fake gives: fc-7, and Gemini CLI's read_file__fc-7 for the same."""
    return int(call_id.rpartition("fc-")[2])


class Run:
    def __init__(self, done, server, program):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.violations, self.left = server.violations, server.script
        self.requests = [request.body for request in server.requests]
        self.paths = [request.path for request in server.requests]
        self.top = program.top
        hooks = program.top / "hooks"
        self.hooks = [Hook(path) for path in sorted(hooks.iterdir(), key=modified)]
        self.files = {str(path.relative_to(program.root)): path.read_text()
                      for path in sorted(program.root.rglob("*")) if path.is_file()}

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def answers(self):
        """What the model was told of each call, by the number of its id: (name, response)."""
        return {number(part["functionResponse"]["id"]): (part["functionResponse"]["name"],
                                                         part["functionResponse"]["response"])
                for content in self.requests[-1]["contents"] for part in content["parts"]
                if "functionResponse" in part}

    def results(self):
        """The events tool_result, likewise."""
        return {number(event["tool_id"]): event for event in self.of_type("tool_result")}

    def said(self, i=0):
        """All that a request says, as one text, with the program's own folder left out."""
        return json.dumps(self.requests[i], ensure_ascii=False).replace(str(self.top), "")


class Program:
    REPO, HOME = HERE / "repo", HERE / "home"
    ALLOWED = ("tools.allowed", "hooksConfig.disabled")  # of the project, by the user of hasp
    HOOKS = 12  # of the project

    def __init__(self, name, folder):
        self.name, self.top = name, folder / name
        self.root, self.home = self.top / "project", self.top / "home"
        shutil.copytree(self.REPO, self.root)
        shutil.copytree(self.HOME, self.home)
        for made in (self.top / "hooks", self.top / "tmp", self.root / ".git"):
            made.mkdir()
        self.trust_hooks()
        self.env = {"HOME": str(self.home), "TMPDIR": str(self.top / "tmp"), "LANG": "C.UTF-8",
                    "TERM": "xterm-256color", "COLORTERM": "truecolor", "GEMINI_API_KEY": KEY,
                    "COMPAT_FROM": "the outside", "GEMINI_CLI_NO_RELAUNCH": "true",
                    "GEMINI_CLI_TRUST_WORKSPACE": "true", "PATH": THEIR_PATH if name == "gemini" else PATH}
        self.allow(*self.ALLOWED)
        self.hasp("hooks", "trust")  # those with variables of their own, which count there as they are

    def allow(self, *names):
        """What the user of hasp would have allowed the project."""
        for name in names:
            self.hasp("config", "allow", name)

    def hasp(self, *args):
        subprocess.run([HASP, *args], env=self.env, cwd=self.root, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def trust_hooks(self):
        """What the user of both would have said of the project's hooks."""
        text = (self.root / ".gemini" / "settings.json").read_text()
        keys = ["%s:%s" % found
                for found in re.findall(r'"name": "([^"]+)",.*?"command": "([^"]+)"', text, re.S)]
        assert len(keys) == self.HOOKS, keys
        claude = self.root / ".claude" / "settings.json"
        if claude.exists():  # those have no names
            keys += [":" + command for command in re.findall(r'"command": "([^"]+)"', claude.read_text())]
        (self.home / ".gemini" / "trusted_hooks.json").write_text(
            json.dumps({str(self.root): keys}))

    def settings(self, **more):
        """Adds to the user's settings."""
        path = self.home / ".gemini" / "settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **more}))

    def argv(self, program=None):
        if (program or self.name) == "gemini":
            # It parses commands in WebAssembly; to optimize that code takes longer than these runs do.
            return [str(npm_peers.node()), "--liftoff-only", str(npm_peers.package("gemini", ".bin/gemini"))]
        return [HASP]

    def run(self, steps, *args, stdin=None, env=None, program=None):
        provider = (Lenient if (program or self.name) == "gemini" else fake_gemini.Provider)(KEY)
        given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        with FakeServer(provider, steps) as server:
            env = {**self.env, "GOOGLE_GEMINI_BASE_URL": server.url, **(env or {})}
            if program == "gemini":
                env["PATH"] = THEIR_PATH
            done = subprocess.run([*self.argv(program), *args], cwd=self.root, timeout=SECONDS,
                                  env={k: v for k, v in env.items() if v is not None},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  **given)
        return Run(done, server, self)
