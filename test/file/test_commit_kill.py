# SPDX-License-Identifier: Apache-2.0
"""A commit killed at every system call, a part of them at each commit of the project, leaves the old
or the new file, and the next operation in the folder leaves no litter."""

import os
import subprocess

import pytest

from disturb import calls, disturbed
from part import in_turn

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["COMMIT_PROBE"]
OLD, NEW, OTHER, WRITTEN = "old content\n", "new content\n", "other content\n", "written"
WAYS = ["", "f", "t", "x", "tx", "l", "tl"]


def prepare(folder, operation, modes):
    for name in os.listdir(folder):
        os.unlink(folder / name)
    if operation != "create":
        (folder / "file").write_text(OLD)
    if "o" in modes:
        (folder / "other").write_text(OTHER)


def content(path):
    return path.read_text() if path.exists() else None


def litter(folder):
    return sorted(set(os.listdir(folder)) - {"file", "other", "next"})


def next_operation(folder):
    run = subprocess.run([PROBE, folder, "create", "next", ""], stdout=subprocess.PIPE,
                         text=True, check=False)
    assert run.stdout == "ok\n"
    assert litter(folder) == []


def kill_everywhere(folder, operation, modes, check):
    command = [PROBE, folder, operation, "file", modes]
    prepare(folder, operation, modes)
    every = calls(command)
    assert len(every) > 5
    for name, count in in_turn(every, 3):
        prepare(folder, operation, modes)
        run = disturbed(command, name, count, "signal=KILL")
        assert run.returncode in (-9, 137), (name, count, run)
        check((name, count))
        next_operation(folder)
        check((name, count))


@pytest.mark.in_turn("operation", "before", "after")
@pytest.mark.parametrize("modes", WAYS)
@pytest.mark.parametrize("operation,before,after", [
    ("replace", OLD, NEW), ("create", None, NEW), ("delete", OLD, None)])
def test_a_kill_leaves_the_old_or_the_new_file(tmp_path, operation, before, after, modes):
    def check(where):
        assert content(tmp_path / "file") in (before, after), where

    kill_everywhere(tmp_path, operation, modes, check)


@pytest.mark.in_turn("operation")
@pytest.mark.parametrize("modes", ["o", "ol", "ot"])
@pytest.mark.parametrize("operation", ["replace", "delete"])
def test_a_strangers_file_survives_a_kill(tmp_path, operation, modes):
    """Recovery gives it its name back; only until then can ours be seen (or none)."""
    command = [PROBE, tmp_path, operation, "file", modes]
    prepare(tmp_path, operation, modes)
    for name, count in in_turn(calls(command), 3):
        prepare(tmp_path, operation, modes)
        disturbed(command, name, count, "signal=KILL")
        renamed = not (tmp_path / "other").exists()
        next_operation(tmp_path)
        assert content(tmp_path / "file") == (OTHER if renamed else OLD), (name, count)


@pytest.mark.parametrize("operation", ["replace", "delete"])
@pytest.mark.parametrize("modes", ["", "f", "t", "l"])
def test_a_stranger_in_between_wins_and_nothing_is_left(tmp_path, operation, modes):
    prepare(tmp_path, operation, "o")
    run = subprocess.run([PROBE, tmp_path, operation, "file", "o" + modes],
                         stdout=subprocess.PIPE, text=True, check=False)
    assert run.stdout == "state_mismatch\n"
    assert content(tmp_path / "file") == OTHER
    assert litter(tmp_path) == []


@pytest.mark.parametrize("operation", ["replace", "delete"])
def test_a_write_in_place_without_leases_wins(tmp_path, operation):
    prepare(tmp_path, operation, "")
    run = subprocess.run([PROBE, tmp_path, operation, "file", "wl"],
                         stdout=subprocess.PIPE, text=True, check=False)
    assert run.stdout == "state_mismatch\n"
    assert content(tmp_path / "file") == "written" + OLD[7:]
    assert litter(tmp_path) == []


@pytest.mark.parametrize("operation", ["replace", "delete"])
def test_a_writer_who_breaks_the_lease_makes_us_step_back(tmp_path, operation):
    prepare(tmp_path, operation, "")
    run = subprocess.run([PROBE, tmp_path, operation, "file", "w"],
                         stdout=subprocess.PIPE, text=True, check=False)
    assert run.stdout == "busy\n"
    assert content(tmp_path / "file") == OLD
    assert litter(tmp_path) == []
