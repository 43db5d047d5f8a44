# SPDX-License-Identifier: Apache-2.0
"""Files that trusted hooks name stay as they were trusted while a session runs: for every way to write."""
import json
import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

import fake_mcp
import pytest
from conftest import HASP, World
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
def test_edits_are_asked_about_and_refused_where_no_one_is(world, spelled):
    put(world)
    # A rule that allows every edit does not reach them.
    (world.home / ".gemini" / "policies.toml").write_text('[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 900\n')
    before, path = state(world), spelled.format(root=world.root)
    calls = [call(name, json.loads(json.dumps(arguments).replace("{p}", path))) for name, arguments in EDITS]
    for mode in ("default", "auto_edit", "yolo"):
        done = world.run([calls, [text("Done.")]], "-p", "x", "--approval-mode", mode)
        assert state(world) == before and not (world.root / "out").exists()
        for result in done.results():
            assert not result["success"] and result["error"]["code"] == "denied_by_policy", result
    done = world.run([[call("update_file", {"file_path": "free.sh", "old_content": SCRIPT, "new_content": "x"})], [text("Done.")]],
                     "-p", "x", "--approval-mode", "auto_edit")
    assert (world.root / "free.sh").read_text() == "x", done.results()


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


# What could change a file between comparison and run: each goes on until the session's end.
SWAPS = {
    "content": "echo 'touch wrong' > tools/guard.sh",
    "rename over it": "echo 'touch wrong' > n; chmod 755 n; mv n tools/guard.sh",
    "folder": "mv tools old && cp -a bad tools && sleep 0.02 && rm -rf tools && mv old tools",
    "hard link": "echo 'touch wrong' > twin",
    "link": "ln -sf bad/guard.sh n; mv -T n link",
    "link to a folder": "ln -sfn bad n; mv -T n current",
    "folder of a link": "mv sub old && cp -a bad sub && sleep 0.02 && rm -rf sub && mv old sub",
}


def put_late(world, **hooks):
    """As `put`, but nothing is trusted yet."""
    for folder, script in (("tools", SCRIPT), ("bad", "#!/bin/sh\ntouch wrong\n"), ("sub", SCRIPT)):
        (world.root / folder).mkdir()
        (world.root / folder / "guard.sh").write_text(script)
        (world.root / folder / "guard.sh").chmod(0o755)
        (world.root / folder / "link").symlink_to("guard.sh")
    (world.root / "link").symlink_to("tools/guard.sh")
    (world.root / "current").symlink_to("tools")
    world.settings(hooks={"BeforeTool": [{"matcher": "list_directory", "hooks": [
        {"type": "command", "command": command} for command in ("$GEMINI_PROJECT_DIR/tools/guard.sh", "./link", "sh current/guard.sh", "sub/link")]}]}, **hooks)


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("how", SWAPS)
def test_what_was_started_before_the_trust_changes_nothing_that_runs(world, level, how):
    """A hook does not run while it could: the refusal names the file and the command."""
    put_late(world)
    if how == "hard link":
        os.link(world.root / "tools" / "guard.sh", world.root / "twin")
    job = "while [ ! -e begin ]; do sleep 0.01; done; while :; do %s; done" % SWAPS[how]
    trusted = []

    def trust():
        trusted.append(world.command("hooks", "trust"))
        (world.root / "begin").write_text("")
    look = [call("list_directory", {"dir_path": "."})]
    done = world.run([[shell(job, is_background=True)], {"reply": look, "wait": trust}, look, look, [text("Done.")]],
                     "-p", "x", "-y", "--sandbox", level)
    assert trusted[0].code == 0 and "Trusted: tools/guard.sh" in trusted[0].text, trusted[0].err
    assert not (world.root / "wrong").exists(), "%s: what it put there ran" % how
    for i in (2, 3, 4):
        said = str(done.results(i))
        assert "denied_by_hook" in said and "can still be changed by a command" in said and "while [ ! -e begin" in said, said


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("how", [how for how in SWAPS if how != "hard link"])
def test_what_is_started_after_the_trust_changes_nothing_that_runs(world, level, how):
    """It may try for as long as it likes, and hooks go on running."""
    put_late(world)
    assert world.command("hooks", "trust").code == 0
    job = "touch running; while :; do %s; done" % SWAPS[how]
    look = [call("list_directory", {"dir_path": "."})]
    done = world.run([[shell(job, is_background=True)], *[look for _ in range(8)], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert (world.root / "running").exists() and not (world.root / "wrong").exists(), "%s: what it put there ran" % how
    assert (world.root / "guarded").exists() and "denied_by_hook" not in done.said(), done.said()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_server_that_was_started_before_the_trust_changes_nothing_that_runs(world, level):
    put_late(world)
    entry, trusted = fake_mcp.entry(), []
    words = shlex.join([entry["command"], *entry["args"]])
    script = "cd '%s'; (until [ -e begin ]; do sleep 0.01; done; while :; do %s; done) 2>&- >&- <&- & exec %s" % (
        world.root, SWAPS["content"], words)
    settings = json.loads((world.home / ".gemini" / "settings.json").read_text())
    world.settings(mcpServers={"fake": {**entry, "command": "sh", "args": ["-c", script], "trust": True,
                                        "sandbox": {"workspace": "write"}}}, **settings)

    def trust():
        trusted.append(world.command("hooks", "trust"))
        (world.root / "begin").write_text("")
    look = [call("list_directory", {"dir_path": "."})]
    done = world.run([[call("mcp_fake_echo", {"text": "FIVE"})], {"reply": look, "wait": trust}, look, [text("Done.")]],
                     "-p", "x", "-y", "--sandbox", level)
    assert trusted[0].code == 0 and "FIVE" in str(done.results()), done.err
    assert not (world.root / "wrong").exists() and str(done.results()).count("denied_by_hook") == 2, done.results()
    assert "can still be changed by a command" in str(done.results(2)) and "until [ -e begin" in str(done.results(2)), done.results(2)


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
@pytest.mark.parametrize("level", ["full", "landlock"])
def test_another_user_has_the_same(level):
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as top:
        world = World(Path(top))
        put_late(world)
        world.env["TMPDIR"] = str(world.temp)
        subprocess.run(["chown", "-R", "65534:65534", top], check=True)
        trusted = []

        def trust():
            trusted.append(world.command("hooks", "trust", before=user))
            (world.root / "begin").write_text("")
        look = [call("list_directory", {"dir_path": "."})]
        job = "until [ -e begin ]; do sleep 0.01; done; while :; do %s; done"
        jobs = [shell(job % SWAPS[how], is_background=True) for how in ("content", "folder", "link to a folder")]
        done = world.run([jobs, {"reply": look, "wait": trust}, look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level, before=user)
        assert trusted[0].code == 0, trusted[0].err
        assert not (world.root / "wrong").exists() and str(done.results()).count("denied_by_hook") == 2, done.results()
        assert "can still be changed by a command" in str(done.results(2)), done.results(2)


@pytest.mark.parametrize("mode", ["auto_edit", "yolo"])
def test_edits_of_what_is_trusted_during_a_session_are_refused_from_then_on(world, mode):
    put_late(world)
    trusted = []
    edit = [call("update_file", {"file_path": "tools/guard.sh", "old_string": "exit 0", "new_string": "exit 0 #"})]
    again = [call("update_file", {"file_path": "tools/guard.sh", "old_string": "exit 0 #", "new_string": "exit 1"})]
    free = [call("write_file", {"file_path": "tools/other", "content": "x"})]
    look = [call("list_directory", {"dir_path": "."})]
    done = world.run([edit, {"reply": again, "wait": lambda: trusted.append(world.command("hooks", "trust"))}, free, look, [text("Done.")]],
                     "-p", "x", "--approval-mode", mode)
    assert trusted[0].code == 0
    first, second, third, last = done.results()
    assert first["success"] and third["success"] and last["success"] and (world.root / "guarded").exists(), done.results()
    assert not second["success"] and second["error"]["code"] == "denied_by_policy", second
    assert (world.root / "tools" / "guard.sh").read_text() == SCRIPT.replace("exit 0", "exit 0 #")


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_another_name_of_the_file_in_the_workspace_keeps_the_hook_from_running(world, level):
    """A command could write through it, whenever it was started; one outside does not count."""
    put_late(world)
    os.link(world.root / "tools" / "guard.sh", world.home / "outside")
    assert world.command("hooks", "trust").code == 0
    look = [call("list_directory", {"dir_path": "."})]
    done = world.run([look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert done.results()[0]["success"] and (world.root / "guarded").exists(), done.results()
    (world.root / "deep" / "er").mkdir(parents=True)
    os.link(world.root / "tools" / "guard.sh", world.root / "deep" / "er" / "twin")
    job = "while :; do echo 'touch wrong' > deep/er/twin; done"
    done = world.run([look, [shell(job, is_background=True)], look, look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert "a hard link" in str(done.results(1)) and "deep/er/twin" in str(done.results(1)), done.results(1)
    assert str(done.results()).count("denied_by_hook") == 3 and not (world.root / "wrong").exists()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_what_ended_or_cannot_write_it_keeps_no_hook_from_running(world, level):
    """Commands that ended, one that knows what is trusted, and one of another workspace that was started before."""
    put_late(world)
    other = world.top / "other"
    other.mkdir()
    look = [call("list_directory", {"dir_path": "."})]
    run = "trap 'exit 0' TERM; touch running; while :; do sleep 0.05; done"
    far = subprocess.Popen([HASP, "sandbox", "--sandbox", level, "--", "sh", "-c", run], cwd=other, env=world.environment())
    while not (other / "running").exists():
        assert far.poll() is None
        time.sleep(0.01)
    trusted = []
    done = world.run([[shell("sleep 0")], {"reply": [shell(run, is_background=True)], "wait": lambda: trusted.append(world.command("hooks", "trust"))},
                      look, look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert trusted[0].code == 0
    assert "denied_by_hook" not in done.said() and (world.root / "guarded").exists(), done.results()
    far.kill()
    far.wait()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_another_name_that_cannot_be_looked_for_keeps_the_hook_from_running(world, level):
    """In a folder whose path is too long; or while a command runs, which could move it behind hasp's back."""
    put_late(world)
    assert world.command("hooks", "trust").code == 0
    look = [call("list_directory", {"dir_path": "."})]
    os.link(world.root / "tools" / "guard.sh", world.home / "outside")
    run = shell("touch running; while :; do sleep 0.05; done", is_background=True)
    done = world.run([[run], look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert "a hard link" in str(done.results(2)) and "cannot be looked for while" in str(done.results(2)), done.results()
    folder = os.open(world.root, os.O_DIRECTORY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=folder)
        above, folder = folder, os.open("d" * 250, os.O_DIRECTORY, dir_fd=folder)
        os.close(above)
    os.link(world.root / "tools" / "guard.sh", "twin", dst_dir_fd=folder)
    os.close(folder)
    done = world.run([look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
    assert "hasp cannot look into" in str(done.results()[0]) and "denied_by_hook" in str(done.results()[0]), done.results()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_command_of_another_hasp_changes_nothing_that_runs(world, level):
    """It cannot write what was trusted before it; while it runs, hooks that were trusted later do not."""
    put_late(world)
    job = "touch newer; while :; do %s; done" % "; ".join(SWAPS[how] for how in ("content", "rename over it", "folder", "link to a folder"))
    look = [call("list_directory", {"dir_path": "."})]
    assert world.command("hooks", "trust").code == 0
    newer = subprocess.Popen([HASP, "sandbox", "--sandbox", level, "--", "sh", "-c", job], cwd=world.root, env=world.environment(),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (world.root / "newer").exists():
            assert newer.poll() is None
            time.sleep(0.01)
        done = world.run([*[look for _ in range(6)], [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
        assert "denied_by_hook" not in done.said() and (world.root / "guarded").exists(), done.said()
        assert not (world.root / "wrong").exists()
        # What was there when it started is not what is trusted now.
        (world.root / "tools" / "guard.sh").write_text(SCRIPT + "#\n")
        assert world.command("hooks", "trust").code == 0
        done = world.run([look, look, [text("Done.")]], "-p", "x", "-y", "--sandbox", level)
        assert str(done.results()).count("denied_by_hook") == 2 and "touch newer" in str(done.results()), done.results()
        assert not (world.root / "wrong").exists()
    finally:
        newer.kill()
        newer.wait()


def test_what_a_program_outside_changed_does_not_run_from_the_next_call_on(world):
    """Not defended is the moment between comparison and run: a program of the user's, outside, could run the commands itself."""
    put_late(world)
    assert world.command("hooks", "trust").code == 0
    script = world.root / "tools" / "guard.sh"

    def outside(content, how):
        def change():
            if how == "in place":
                script.write_text(content)
            else:
                (world.root / "n").write_text(content)
                (world.root / "n").chmod(0o755)
                os.rename(world.root / "n", script)
        return change

    look = [call("list_directory", {"dir_path": "."})]
    evil = "#!/bin/sh\ntouch wrong\n"
    done = world.run([look, {"reply": look, "wait": outside(evil, "in place")}, {"reply": look, "wait": outside(SCRIPT, "in place")},
                      {"reply": look, "wait": outside(evil, "renamed")}, {"reply": look, "wait": outside(SCRIPT, "renamed")},
                      [text("Done.")]], "-p", "x", "-y")
    said = [str(result) for result in done.results()]
    assert ["has changed since it was trusted" in one for one in said] == [False, True, False, True, False], said
    assert ["denied_by_hook" in one for one in said] == [False, True, False, True, False], said
    assert not (world.root / "wrong").exists()
