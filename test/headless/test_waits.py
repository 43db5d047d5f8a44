# SPDX-License-Identifier: Apache-2.0
"""Waits for what another program holds: each has a ceiling, is shown, and ends when the run is cancelled."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time

import pytest
from conftest import HASP
from fake_gemini import call, text
from terminal import Terminal


@contextlib.contextmanager
def locked(path):
    """As another hasp, that does not get on, holds it."""
    flags = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT
    fd = os.open(path, flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def write_call(name):
    return call("write_file", {"file_path": name, "content": "x\n"})


MEMORY = call("save_memory", {"fact": "Tabs."})


def checkpoints_lock(world):
    """Of the project's repository of checkpoints, which a first run makes."""
    world.settings(general={"checkpointing": {"enabled": True}})
    world.run([[write_call("first")], [text("Done.")]], "-p", "Go.", "--yolo")
    (repository,) = world.home.glob(".gemini/history/*/.git")
    return repository.parent / "hasp.lock"


def set_wait(world, seconds, **settings):
    world.settings(hasp={"waits": {"lockSeconds": seconds}}, **settings)


def test_save_memory_gives_up_on_a_lock_and_names_it(world):
    set_wait(world, 1)
    with locked(world.home / ".gemini"):
        done = world.run([[MEMORY], [text("Busy.")]], "-p", "Go.", "--yolo", timeout=300)
    (result,) = done.results()
    assert result["error"]["code"] == "busy"
    assert str(world.home / ".gemini") in result["message"] and "try again" in result["message"]
    assert not (world.home / ".gemini" / "GEMINI.md").exists()


HOOK = {"hooks": [{"type": "command", "command": "true"}]}


def test_trusting_hooks_gives_up_on_a_lock_and_names_it(world):
    set_wait(world, 1)
    world.settings("project", hooks={"SessionEnd": [HOOK]})
    with locked(world.home / ".gemini"):
        done = world.command("hooks", "trust")
    assert done.code == 1 and str(world.home / ".gemini") in done.err and "try again" in done.err
    assert not (world.home / ".gemini" / "trusted_hooks.json").exists()


def test_hooks_trusted_meanwhile_stay_trusted(world):
    set_wait(world, 300)
    world.settings("project", hooks={"SessionEnd": [HOOK]})
    file = world.home / ".gemini" / "trusted_hooks.json"
    with locked(world.home / ".gemini"):
        process = subprocess.Popen([HASP, "hooks", "trust"], cwd=world.root, env=world.env,
                                   stderr=subprocess.PIPE, text=True)
        assert "another program has locked" in process.stderr.readline()
        file.write_text(json.dumps({"/another": [":make"]}))
    assert process.wait(60) == 0 and process.stderr.read() == ""
    process.stderr.close()
    assert json.loads(file.read_text()) == {"/another": [":make"], str(world.root): [":true"]}


def test_an_edit_is_made_when_its_checkpoint_cannot_be(world):
    lock = checkpoints_lock(world)
    set_wait(world, 1, general={"checkpointing": {"enabled": True}})
    with locked(lock):
        done = world.run([[write_call("second")], [text("Done.")]], "-p", "Go.", "--yolo", timeout=300)
    assert done.code == 0 and str(lock) in done.err
    assert world.read("second") == "x\n"
    notes = world.command("checkpoint", "list").json
    assert [len(note["files"]) for note in notes] == [1]


@pytest.mark.parametrize("kind", ["memory", "checkpoint"])
def test_a_signal_ends_the_wait_for_a_lock_and_the_terminal_shows_it(world, kind):
    """The ceiling is five minutes, so it is the signal that ends the run."""
    lock = checkpoints_lock(world) if kind == "checkpoint" else world.home / ".gemini"
    set_wait(world, 300, general={"checkpointing": {"enabled": kind == "checkpoint"}},
             **({} if kind == "memory" else {"model": {}}))
    step = [MEMORY] if kind == "memory" else [write_call("second")]
    with world.fake([step]) as server, locked(lock):
        argv = world.argv(server, ["-p", "Go.", "--yolo"])
        with Terminal(argv, world.root, world.environment(server), columns=400) as terminal:
            terminal.wait_for(b"another program has locked")
            assert b"Waiting for %s" % str(lock).encode() in terminal.output
            assert b"gives up after 300 s" in terminal.output
            os.kill(terminal.pid, signal.SIGINT)
            code, _ = terminal.finish()
    assert code == 130


def test_a_signal_ends_asking_for_the_models_limits(world):
    """hasp asks a provider for that for three seconds at most; the quickest of some tries counts, for on a busy
    machine one alone may take longer."""
    quickest = 60
    for _ in range(3):
        with world.fake([{"reply": [call("list_directory", {"dir_path": "."})],
                          "usage": {"promptTokenCount": 9000}}]) as server:
            begun = []

            def silent(request):
                begun.append(time.monotonic())
                return {"status": 404, "error": b"{}", "delay": 30}
            server.listed = silent
            process = world.start(server, "-p", "Go.", "-o", "stream-json", "--yolo")
            while not begun:
                assert process.poll() is None
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=300)
            quickest = min(quickest, time.monotonic() - begun[0])
            assert process.returncode == 130
            assert json.loads(out.splitlines()[-1])["error"]["type"] == "FatalCancellationError"
    assert quickest < 2.5


PIPED = r"""
{ read -r go <"$GATE"; printf %s "$go"; } | exec "$@"
"""


@pytest.mark.parametrize("words, seen", [("late", "late\n\nexplain"), ("", "explain")])
def test_what_another_command_of_the_job_writes_late_is_read(world, tmp_path, words, seen):
    """No time counts: the writer writes when hasp has said that it waits, or ends without a word."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with world.fake([[text("So it is.")]]) as server:
        argv = world.argv(server, ["-p", "explain"])
        run = subprocess.Popen(["bash", "-c", PIPED, "bash", *argv], cwd=world.root, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=world.environment(server, GATE=str(gate)))
        assert run.stderr.readline() == b"hasp: Waiting for what the command before | writes.\n"
        gate.write_text(words + "\n")
        out, err = run.communicate(timeout=300)
    assert (run.returncode, out, err) == (0, b"So it is.\n", b"")
    (request,) = server.requests
    assert request.body["contents"][-1]["parts"][-1]["text"].endswith(seen)


def test_a_pipe_that_whoever_started_hasp_keeps_open_is_not_waited_for(world):
    with world.fake([[text("So it is.")]]) as server:
        run = world.start(server, "-p", "explain", stdin=subprocess.PIPE)
        out, err = run.stdout.read(), run.stderr.read()
        run.stdin.close()
        assert (run.wait(timeout=300), out) == (0, b"So it is.\n")
    assert b"Nothing arrived on standard input; continuing without it." in err
