# SPDX-License-Identifier: Apache-2.0
"""Files that trusted hooks name stay as they were trusted while a session runs: for every way to write."""
import json
import os

import pytest
from fake_gemini import call, text

SCRIPT = "#!/bin/sh\ntouch guarded\nexit 0\n"
WAYS = [
    "echo x > tools/guard.sh", "echo x >> tools/guard.sh", "echo x > n && mv n tools/guard.sh", "rm -f tools/guard.sh; echo x > tools/guard.sh",
    "mv tools old; mkdir tools; echo x > tools/guard.sh", "rm -rf tools; mkdir tools; echo x > tools/guard.sh", "chmod 600 tools/guard.sh",
    "ln tools/guard.sh hard && echo x > hard", "cp /etc/passwd link", "rm -f link; echo x > link", "ln -sf /etc/passwd link", "mv link other",
    "sed -i s/touch/echo/ tools/guard.sh", "python3 -c 'open(\"tools/guard.sh\", \"w\").write(\"x\")'", "truncate -s 0 tools/guard.sh",
    "rm -f line.sh; echo x > line.sh", "rm -f login.sh && echo x > login.sh",
]
AGENT = """---
kind: remote
name: far
description: d
agent_card_url: https://far.example/card
auth:
  type: http
  scheme: Bearer
  token: "!$PWD/login.sh"
---
"""


def put(world, hook="$GEMINI_PROJECT_DIR/tools/guard.sh"):
    (world.root / "tools").mkdir()
    for name in ("tools/guard.sh", "line.sh", "login.sh", "free.sh"):
        (world.root / name).write_text(SCRIPT)
        (world.root / name).chmod(0o755)
    (world.root / "link").symlink_to("tools/guard.sh")
    (world.home / ".gemini" / "agents").mkdir(parents=True)
    (world.home / ".gemini" / "agents" / "far.md").write_text(AGENT)
    world.settings(hooks={"BeforeTool": [{"matcher": ".*", "hooks": [
        {"type": "command", "command": hook}, {"type": "command", "command": "./link"}]}]},
        statusLine={"type": "command", "command": "./line.sh"})
    done = world.command("hooks", "trust")
    assert done.code == 0 and "tools/guard.sh" in done.text and "line.sh" in done.text and "login.sh" in done.text, done.text


def state(world):
    files = [world.root / name for name in ("tools/guard.sh", "line.sh", "login.sh")]
    return [(path.read_text(), path.stat().st_mode) for path in files], os.readlink(world.root / "link")


def shell(command, **more):
    return call("run_shell_command", {"command": command, **more})


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_no_command_changes_them_not_even_in_the_background(world, level):
    put(world)
    before = state(world)
    background = "i=0; while [ $i -lt 30 ]; do rm -f tools/guard.sh; cp free.sh n; mv n tools/guard.sh; sleep 0.1; i=$((i+1)); done"
    done = world.run([[shell(background, is_background=True)], *[[shell(way)] for way in WAYS],
                      [shell("cat tools/guard.sh; echo y > tools/other; echo z > free.sh")], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert state(world) == before
    results = done.results()
    assert all("sh" in str(result) for result in results) and len(results) == len(WAYS) + 2
    assert SCRIPT in results[-1]["output"], "reading goes on, and so do the hooks"
    assert (world.root / "tools" / "other").read_text() == "y\n" and (world.root / "free.sh").read_text() == "z\n"
    assert (world.root / "guarded").exists()


EDITS = [
    ("write_file", {"file_path": "{p}", "content": "x"}), ("update_file", {"file_path": "{p}", "old_content": SCRIPT, "new_content": "x"}),
    ("replace", {"file_path": "{p}", "old_string": "exit 0", "new_string": "exit 1"}),
    ("apply_changes", {"changes": [{"kind": "delete", "file_path": "{p}"}]}),
    ("apply_changes", {"changes": [{"kind": "move", "file_path": "{p}", "new_path": "out"}]}),
]


@pytest.mark.parametrize("spelled", ["tools/guard.sh", "./tools/../tools/guard.sh", "link", "{root}/tools/guard.sh", "line.sh", "login.sh"])
def test_edits_are_asked_about_in_every_mode_but_yolo(world, spelled):
    put(world)
    # A rule that allows every edit does not reach them.
    (world.home / ".gemini" / "policies.toml").write_text('[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 900\n')
    before, path = state(world), spelled.format(root=world.root)
    calls = [call(name, json.loads(json.dumps(arguments).replace("{p}", path))) for name, arguments in EDITS]
    for mode in ("default", "auto_edit"):
        done = world.run([calls, [text("Done.")]], "-p", "x", "--approval-mode", mode)
        assert state(world) == before and not (world.root / "out").exists()
        for result in done.results():
            assert not result["success"] and result["error"]["code"] == "denied_by_policy", result
    done = world.run([[call("update_file", {"file_path": "free.sh", "old_content": SCRIPT, "new_content": "x"})], [text("Done.")]],
                     "-p", "x", "--approval-mode", "auto_edit")
    assert (world.root / "free.sh").read_text() == "x", done.results()
    world.run([calls[1:2], [text("Done.")]], "-p", "x", "-y")
    assert state(world) != before


def test_what_no_trusted_command_names_is_as_before(world):
    """A name without a record keeps nothing from being written: its command does not run."""
    put(world)
    (world.home / ".gemini" / "hasp-trusted-files.json").unlink()
    world.run([[shell("echo x > tools/guard.sh; rm link")], [text("Done.")]], "-p", "x", "-y")
    # Its hooks refuse the call, and hasp sandbox has none.
    world.command("sandbox", "--", "sh", "-c", "echo x > tools/guard.sh; rm link")
    assert (world.root / "tools" / "guard.sh").read_text() == "x\n" and not os.path.lexists(world.root / "link")


def test_the_user_can_open_one_to_a_command(world):
    put(world)
    world.command("sandbox", "--", "sh", "-c", "echo x > tools/guard.sh")
    assert (world.root / "tools" / "guard.sh").read_text() == SCRIPT
    world.command("sandbox", "--write", world.root / "tools" / "guard.sh", "--", "sh", "-c", "echo x > tools/guard.sh")
    assert (world.root / "tools" / "guard.sh").read_text() == "x\n"
    done = world.run([[shell("true")], [text("Done.")]], "-p", "x", "-y")
    assert not done.results()[0]["success"] and "has changed since it was trusted" in str(done.results()[0])
