# SPDX-License-Identifier: Apache-2.0
"""Each task of the four quick starts (tasks.py) is done in real tmux, at two sizes, in 256 colours."""
import importlib.util
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
import tasks

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("tui_world", TOP / "test" / "tui" / "app" / "conftest.py")
tui = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tui)

from fake_gemini import call, text  # noqa: E402

SECONDS = 60
OPEN = re.compile(r"Esc to cancel|Esc (?:to )?close|q closes|Esc goes|Esc leaves")  # of a page or a list
COMMANDS = {"what files": "git status --short", "last 5 commits": "git log --oneline -5",
            "commit my changes": "git add -A && git -c user.email=a@b -c user.name=A commit -qm 'Add hello'",
            "new branch": "git checkout -qb feature/quickstart"}


def said_last(request):
    """The user's last words, and whether the model has called a tool since."""
    contents = request.body["contents"]
    for i in range(len(contents) - 1, -1, -1):
        words = [part["text"] for part in contents[i]["parts"] if "text" in part]
        if contents[i]["role"] == "user" and words:
            return words[-1], len(contents) - 1 > i
    return "", False


def model(request):
    """Answers as a model would: a question with words, a task with a call."""
    words, called = said_last(request)
    if "hello world" in words:
        return {"reply": [text("The edit is made.")] if called else
                [call("write_file", {"file_path": "hello.py", "content": "print('hello')\n"})]}
    for about, command in COMMANDS.items():
        if about in words:
            return {"reply": [text("The command has run.")] if called else
                    [call("run_shell_command", {"command": command})]}
    return {"reply": [text("It is a calculator.")]}


class World(tui.World):
    def begin(self):
        self.write("calc.py", "def add(a, b):\n    return a + b\n")
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.email=a@b", "-c", "user.name=A", "commit", "-qm", "Begin"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.begin()
    return made


def until(hasp, pattern, before=""):
    """Until the pattern is seen in what was not there before."""
    end = time.monotonic() + SECONDS
    while True:
        shown = hasp.dump().text
        if re.search(pattern, shown[len(os.path.commonprefix([before, shown])):]):
            return
        assert time.monotonic() < end, "%r is not seen:\n%s" % (pattern, shown[-3000:])
        time.sleep(0.05)


def do_task(hasp, how, shows, needed):
    before = hasp.type(how).quiet().dump().text
    hasp.key("enter")
    if needed == "yes":
        until(hasp, r"1\. Allow once", before)
        before = hasp.quiet().dump().text
        hasp.key("enter")
    until(hasp, shows, before)
    hasp.quiet()
    if needed in ("shell", "draft"):
        hasp.key("esc" if needed == "shell" else "ctrl+c").quiet()
    while needed == "esc" and OPEN.search("\n".join(hasp.dump().window)):  # Esc Esc at the prompt opens /rewind
        hasp.key("esc").quiet()
    assert hasp.dump().alive, how


def do_in_shell(world, server, how, shows):
    line = how[2:] if "hasp" in how else "hasp " + how[2:]
    argv = world.argv(server, [])
    env = dict(world.environment(server), PATH="%s:%s" % (Path(argv[0]).parent, world.env["PATH"]))
    done = subprocess.run(["sh", "-c", line], cwd=world.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=120)
    assert re.search(shows, done.stdout.decode()), (line, done.stdout.decode())


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 50)])
@pytest.mark.parametrize("peer", sorted(tasks.PEERS))
def test_the_first_hour(world, peer, columns, rows):
    in_session = [task for task in tasks.PEERS[peer] if not task[1].startswith("$ ")]
    with world.fake([], auto=model, append_only=False) as server:
        hasp = tui.terminal.Tmux(world.argv(server, []), columns, rows, cwd=world.root,
                                 env=world.environment(server, TERM="tmux-256color", COLORTERM=None))
        try:
            until(hasp, "runs a command|for keys|for shortcuts")
            for _, how, shows, needed in in_session:
                do_task(hasp, how, shows, needed)
            hasp.type("/quit").quiet().key("enter")
            hasp.end()
        finally:
            hasp.close()
        assert server.violations == []
        for _, how, shows, _ in tasks.PEERS[peer]:
            if how.startswith("$ "):
                do_in_shell(world, server, how, shows)
    assert (world.root / "hello.py").exists()


def test_there_are_thirty_of_each_and_the_page_has_them():
    assert {len(rows) for rows in tasks.PEERS.values()} == {30}
    assert (TOP / "docs/first-hour.md").read_text() == tasks.page(), "run test/first_hour/tasks.py > docs/first-hour.md"
