# SPDX-License-Identifier: Apache-2.0
"""Every slash command without arguments, with each of its forms, and with arguments that it does not have.

The table is the program's own: what /help lists, and the forms that /help NAME shows.
"""
import re
import subprocess

import pytest
from part import in_turn

# What is sent to the model, or ends the session: its own tests (test/tui/app/test_commands.py).
APART = {"quit", "clear", "compress", "init", "review", "fork", "ide"}
WRONG = "zzz1 zzz2 zzz3"


def run(world, line, script=()):
    with world.fake(list(script), append_only=False) as server:
        return world.command("-y", "-p", line, server=server)


def names(world):
    listed = run(world, "/help").text
    return re.findall(r"^  /([a-z]+) ", listed.split("From other agents")[0], re.M)


def forms(world, name):
    """The ways to use it, each as words."""
    shown = run(world, "/help %s" % name).text
    return [form.strip() for form in re.findall(r"^  /%s ?(.*?)(?:  .*)?$" % name, shown, re.M) if form.strip()]


def said(done):
    return (done.out.decode() if isinstance(done.out, bytes) else done.out) + \
        (done.err.decode() if isinstance(done.err, bytes) else done.err)


def test_each_command_says_something_and_refuses_what_it_does_not_have(world):
    world.write("a.txt", "one\n")
    there = [name for name in names(world) if name not in APART]
    assert len(there) > 25
    for name in in_turn(there, 3):
        assert said(run(world, "/" + name)).strip(), name
        wrong = said(run(world, "/%s %s" % (name, WRONG)))
        assert "Usage: /%s" % name in wrong or "takes no arguments" in wrong or "zzz1" in wrong or \
            "is for a terminal" in wrong, (name, wrong)


def test_each_form_that_is_shown_is_taken(world):
    """Of those without a name to fill in: none is answered with how the command is used."""
    for name in in_turn([name for name in names(world) if name not in APART], 3):
        for form in forms(world, name):
            words = re.sub(r"\[[^]]*\]", "", form).split()
            if not words or any(word.isupper() for word in words):
                continue
            for word in words[-1].split("|"):
                line = "/%s %s" % (name, " ".join([*words[:-1], word]))
                answer = said(run(world, line))
                assert answer.strip() and "Usage:" not in answer and "takes no arguments" not in answer, (line, answer)


@pytest.mark.parametrize("line, shown", [
    ("/diff", r"\+two"), ("/diff", r"untracked +new\.txt"), ("/diff a.txt", r"/diff takes no arguments"),
    ("/logout", r"GEMINI_API_KEY still holds a key, which hasp did not set"), ("/logout nobody", r"nobody"), ("/tasks", r"No command is in the background"),
    ("/tasks end 7", r'No command in the background has the number "7"'), ("/todos", r"no list of steps"),
    ("/docs nopage", r"nopage"), ("/export ../outside.md", r"Nothing was said in this session yet"), ("/mcp enable nobody", r"nobody"),
    ("/hooks enable nobody", r"nobody"), ("/skills enable nobody", r"nobody"), ("/agents enable nobody", r"nobody"),
    ("/extensions enable nobody", r"nobody"), ("/restore nobody", r"No checkpoints are kept"), ("/rewind 99", r"Usage: /rewind"),
    ("/resume nobody", r"nobody"), ("/editor nobody", r"nobody"), ("/theme nobody", r"/theme is for a terminal"), ("/auth nobody", r"nobody"),
    ("/settings nobody", r"nobody"), ("/settings unset nobody", r"nobody"), ("/model effort", r"Usage: /model"),
    ("/permissions revoke 3", r'No permission "3"'), ("/memory show", r"."), ("/context list", r"System prompt: \d+ tokens"),
])
def test_what_is_shown_and_refused(world, line, shown):
    git = ["git", "-C", str(world.root), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    world.write("a.txt", "one\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "One")):
        subprocess.run([*git, *words], check=True, env=world.environment())
    world.write("a.txt", "two\n")
    world.write("new.txt", "new\n")
    assert re.search(shown, said(run(world, line))), said(run(world, line))
