# SPDX-License-Identifier: Apache-2.0
"""hasp sandbox --report: whatever the command puts in the report's place, nothing else is written."""
import json
import os
import stat
import subprocess

import pytest
from conftest import HASP

pytestmark = pytest.mark.in_turn("level")

# Chosen by the command, and in the report when it is denied.
NAME = "$(id>PWNED)"

# What the command does with the report's place; r.json is the report's name.
PLANTS = {
    "link": "ln -s {target} r.json",
    "link that dangles": "ln -s {target}.new r.json",
    "link put over a file": "touch r.json; ln -sf {target} r.json",
    "link through a folder": "mkdir d; ln -s {target} d/x; ln -s d/x r.json",
    "fifo": "mkfifo r.json",
    "own file under another name": "touch mine; ln mine r.json",
}


@pytest.fixture
def target(outside):
    path = outside / "bashrc"
    path.write_text("unchanged\n")
    return path


def report(ws, script, *flags, name="r.json", **options):
    return ws.run("sandbox", "--report", name, *flags, "--", "sh", "-c", script, **options)


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_what_the_command_plants_is_replaced_by_the_report(ws, outside, target, plant, level):
    denied = "touch '%s/%s' 2>/dev/null; true" % (outside, NAME)
    done = report(ws, "%s; %s" % (plant.format(target=target), denied), "--sandbox", level)
    assert done.code == 0, done.message
    assert target.read_text() == "unchanged\n"
    assert sorted(os.listdir(outside)) == ["bashrc"]
    found = os.lstat(ws.folder / "r.json")
    assert stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    assert NAME in json.dumps(json.loads(ws.read("r.json")))
    assert not any(name.startswith(".hasp-") for name in os.listdir(ws.folder))


def test_a_folder_in_the_reports_place_is_an_error_and_stays(ws):
    done = report(ws, "mkdir r.json; touch r.json/x")
    assert done.code == 125 and "r.json" in done.message
    assert os.listdir(ws.folder / "r.json") == ["x"]


def test_the_reports_folder_is_the_one_from_before(ws, outside):
    (ws.folder / "out").mkdir()
    done = report(ws, "mv out moved; ln -s %s out" % outside, name="out/r.json")
    assert done.code == 0, done.message
    assert os.listdir(outside) == [] and os.listdir(ws.folder / "moved") == ["r.json"]


def test_links_that_an_earlier_command_left_are_refused_before_this_one_runs(ws, outside, target):
    (ws.folder / "r.json").symlink_to(target)
    (ws.folder / "out").symlink_to(outside)
    (ws.folder / "allowed").mkdir()
    for name in ("r.json", "out/bashrc", str(ws.folder / "out" / "new")):
        done = report(ws, "touch ran", name=name)
        assert done.code == 125 and name in done.message
    assert not (ws.folder / "ran").exists() and target.read_text() == "unchanged\n"
    assert os.listdir(outside) == ["bashrc"]


def test_a_place_that_write_allows_is_a_root_too(ws, outside, target):
    shared = outside / "shared"
    shared.mkdir()
    (shared / "out").symlink_to("..")
    done = report(ws, "touch ran", "--write", str(shared), name=str(shared / "out" / "bashrc"))
    assert done.code == 125 and not (ws.folder / "ran").exists()
    assert target.read_text() == "unchanged\n"


@pytest.mark.parametrize("name", ["/dev/stderr", "/dev/fd/2"])
def test_standard_error_can_be_the_report(ws, name):
    done = report(ws, "true", name=name)
    assert done.code == 0 and json.loads(done.err)


def test_a_pipe_can_be_the_report(ws):
    """As bash's >(...) makes them."""
    read, write = os.pipe()
    subprocess.run([HASP, "sandbox", "--report", "/dev/fd/%d" % write, "true"], cwd=ws.folder,
                   env=ws.env, check=True, pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as pipe:
        assert json.loads(pipe.read())


def test_links_of_the_users_own_outside_of_the_workspace_count(ws, outside):
    (outside / "real").mkdir()
    (outside / "name").symlink_to("real")
    done = report(ws, "true", name=str(outside / "name" / "r.json"))
    assert done.code == 0 and json.loads((outside / "real" / "r.json").read_text())
