# SPDX-License-Identifier: Apache-2.0
"""Someone who has just come: a home that is empty but for a key, a small project under git, a terminal of 256 colours."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("headless_world", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import player  # noqa: E402
import tasks as rows  # noqa: E402
import terminal  # noqa: E402
from part import ALL, TURN  # noqa: E402

# What each of them had: the provider of its key, and the model that they have chosen at their very first start.
COMES_WITH = {"claude_code": ("anthropic", "anthropic/claude-sonnet-4-6"),
              "codex": ("openai-responses", "openai-responses/gpt-5.6"), "gemini_cli": ("gemini", None),
              "opencode": ("anthropic", "anthropic/claude-sonnet-4-6")}
FILES = {
    "README.md": "# Shop\n\nSells things. Run `python3 main.py`; tests: `sh test.sh`.\n",
    "main.py": "from prices import total\n\n\nprint(total([1, 2, 3]))\n",
    "prices.py": "def total(prices):\n    result = 0\n    for price in prices:\n        result = result - price\n    return result\n",
    "test.sh": "test \"$(python3 main.py)\" = 6 && echo all tests passed\n",
    "docs/guide.md": "Ask for the moon.\n",
}


class Tmux(terminal.Tmux):
    """tmux itself says what its terminal can; it is told that it has 256 colours, as it comes in most places."""

    def __init__(self, argv, *args, **options):
        super().__init__(["env", "TERM=tmux-256color", *argv], *args, **options)


PLACES = [(kind, size) for size in rows.SIZES for kind in (terminal.Vterm, Tmux)]


def names(place):
    return "%s-%dx%d" % (place[0].__name__.lower(), *place[1])


def cases(tasks):
    """Each task in one of the places, at another commit in another; in all of them with HASP_TESTS=all."""
    return [pytest.param(task, place, id="%02d-%s" % (i + 1, names(place))) for i, task in enumerate(tasks)
            for place in (places(task) if ALL else [places(task)[(i + TURN) % len(places(task))]])]


def places(task):
    """tmux may lose what a program prints just before its end, and how it ended."""
    ends = task.shell or task.ends or rows.ended in task.after
    return [place for place in PLACES if place[0] is terminal.Vterm] if ends else PLACES


class Mover(headless.World):
    def __init__(self, top, peer, template):
        super().__init__(top)
        shutil.rmtree(self.home / ".gemini")
        self.root.rmdir()
        shutil.copytree(template, self.root, symlinks=True)
        del self.env["GEMINI_CLI_TRUST_WORKSPACE"]
        self.kind, self.model = COMES_WITH[peer]
        self.server, self.status, self.gates, self.asked = None, None, {}, {}
        (top / "bin").mkdir()
        (top / "bin" / "hasp").symlink_to(headless.HASP)
        self.env["PATH"] = "%s:%s" % (top / "bin", self.env["PATH"])

    def choose(self, trusts):
        """What the very first start leaves behind."""
        if self.model:
            self.settings(model={"name": self.model})
        if trusts:
            rows.trusted(self)

    def replies(self, script, lists, prompts=()):
        """One that is a name in front of its parts is held until it is let go."""
        provider = headless.KINDS[self.kind][0](key=headless.KEY)
        steps = []
        for step in script:
            held, step = step if isinstance(step, tuple) and not isinstance(step, player.Act) else (None, step)
            step = player.played(step, provider, prompts) if isinstance(step, player.Act) else {"reply": step}
            if held:
                gate, came = self.gates[held], self.asked[held] = threading.Event(), threading.Event()
                step["wait"] = lambda gate=gate, came=came: came.set() or gate.wait(60)
            steps.append(step)
        server = headless.FakeServer(provider, steps)
        server.kind, server.model = self.kind, None
        server.lists.update(lists)
        return server

    def await_request(self, name):
        assert self.asked[name].wait(60), "the request for %r never came" % name

    def release(self, name):
        self.gates[name].set()

    def words(self, task):
        if task.shell:
            return ["sh", "-c", task.shell]
        return [headless.HASP, *task.start]

    def prompt(self, words, script):
        """A run before this hour, without a terminal."""
        with self.replies(script, {}) as server:
            done = subprocess.run([headless.HASP, "-p", words], cwd=self.root, env=self.environment(server),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 0, done.stderr

    def git(self, *words):
        return subprocess.run(["git", "-C", str(self.root), *words], stdout=subprocess.PIPE, check=True, text=True,
                              env={**self.env, "GIT_CONFIG_NOSYSTEM": "1"}).stdout

    def said(self, i):
        """All that a request to the model says, but for its tools."""
        body = {name: value for name, value in self.server.requests[i].body.items() if name != "tools"}
        return json.dumps(body, ensure_ascii=False)

    def saved(self):
        path = self.home / ".gemini" / "settings.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def ended(self):
        assert self.status == 0

    def do(self, task, place):
        kind, (columns, lines) = place
        if not task.first:
            self.choose(task.trusts)
        for one in task.before:
            one(self)
        with self.replies(task.script, task.lists, rows.prompts_of(task)) as self.server:
            with kind(self.words(task), columns, lines, env=self.environment(self.server), cwd=self.root) as hasp:
                try:
                    self.take(hasp, task)
                finally:
                    for gate in self.gates.values():
                        gate.set()
        assert not self.server.violations, self.server.violations
        assert not self.server.script, "steps that were not asked for: %r" % self.server.script

    def take(self, hasp, task):
        if task.trusts and not (task.start or task.shell or task.first):
            hasp.wait("sandbox:")
        for step in task.steps:
            step.do(hasp, self)
        if rows.ended in task.after:
            self.status = hasp.end()
        else:
            hasp.quiet()
        dump = hasp.dump()
        assert dump.alive or task.start or task.shell or self.status is not None, dump.text
        for check in task.after:
            check(self, dump.text)


@pytest.fixture(scope="session", name="project")
def the_project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "shop"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q", "-b", "main"], ["config", "user.name", "Ada"], ["config", "user.email", "ada@example.org"],
                  ["add", "."], ["commit", "-q", "-m", "Open the shop"]):
        subprocess.run(["git", *words], cwd=folder, env=env, check=True)
    return folder


@pytest.fixture
def mover(request, tmp_path, project):
    return Mover(tmp_path, request.module.PEER, project)
