# SPDX-License-Identifier: Apache-2.0
"""What a command leaves is found at any depth, behind any number of decoys, and over several commands.

The supervisor says nothing here (guard_probe): the walk after the command is all there is."""

import fcntl
import os
import struct
import subprocess
from pathlib import Path

import pytest

from guard_attacks import BARE
from guard_fixture import PROBE, Place

LONG = "d" * 250
LEVELS = ["full", "landlock"]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "top")


@pytest.fixture
def session(place):
    """A command of one session at a level; all of them share what they know."""
    def run(script, *options, level="full", **how):
        return place.guarded(BARE + script, "--level", level, "--memory", str(place.top / "memory"), *options, **how)
    return run


def folder_down(work):
    """Makes the folders; a descriptor of the last one."""
    fd = os.open(work, os.O_RDONLY)
    for _ in range(17):
        try:
            os.mkdir(LONG, dir_fd=fd)
        except FileExistsError:
            pass
        below = os.open(LONG, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


# The paths are longer than the kernel takes.
PYTHON_DOWN = r"""
import os, sys
fd = os.open('.', os.O_RDONLY)
for _ in range(17):
    try: os.mkdir('d' * 250, dir_fd=fd)
    except FileExistsError: pass
    fd = os.open('d' * 250, os.O_RDONLY, dir_fd=fd)
def put(path, text):
    parts, at = path.split('/'), fd
    for part in parts[:-1]:
        try: os.mkdir(part, dir_fd=at)
        except FileExistsError: pass
        at = os.open(part, os.O_RDONLY, dir_fd=at)
    os.write(os.open(parts[-1], os.O_WRONLY | os.O_CREAT, dir_fd=at), text.encode())
def plant():
    for name in ('objects/x', 'refs/x'): put('sub/.git/' + name, '')
    put('sub/.git/HEAD', 'ref: refs/heads/main\n')
    put('sub/.git/config', '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %s; false"\n' % os.environ['M'])
    put('sub/.envrc', 'x'); put('sub/.vscode/tasks.json', 'x')
def up():
    os.rename('sub', 'up', src_dir_fd=fd)
"""


def python(what):
    return "/usr/bin/python3 - <<'END'\n%s%s\nEND\n" % (PYTHON_DOWN, what)


def config_of(place, folder):
    return (place.work / folder / ".git/config").read_text()


@pytest.mark.parametrize("level", LEVELS)
def test_paths_longer_than_the_kernel_takes(place, level):
    report = place.guarded(python("plant()"), "--level", level)
    assert any("fsmonitor" in line for line in report.told), report.told
    place.guarded(python("up()"), "--level", level)
    place.later("git -C up status")
    assert not place.marker.exists()


@pytest.mark.parametrize("level", LEVELS)
def test_made_far_down_and_moved_up_in_the_same_command(place, level):
    report = place.guarded(python("plant(); up()"), "--level", level)
    assert "fsmonitor" not in config_of(place, "up"), report.told
    place.later("git -C up status")
    assert not place.marker.exists()


@pytest.mark.parametrize("level", LEVELS)
def test_made_far_down_and_moved_up_by_the_next_command(session, place, level):
    session(python("plant()"), level=level)
    report = session(python("up()"), level=level)
    told = " ".join(report.told)
    assert "up/.envrc" in told and "up/.vscode/tasks.json" in told, report.told
    place.later("git -C up status")
    assert not place.marker.exists()


@pytest.mark.parametrize("level", LEVELS)
def test_far_down_in_a_folder_of_the_user(place, level):
    """A new name there is reported: the folder was not the command's."""
    os.close(folder_down(place.work))
    place.shell("sleep 0.05")
    told = " ".join(place.guarded(python("put('.envrc', 'x')"), "--level", level).told)
    assert ".envrc" in told


def test_decoys_hide_nothing(place):
    place.shell(BARE + "git init -q --template= other")
    report = place.guarded(BARE + "for r in $(seq 1100); do mkdir -p a/r$r/.git; done; hook other/.git/hooks pre-commit")
    assert not (place.work / "other/.git/hooks/pre-commit").exists(), report.told[-1]


def test_all_of_many_repositories_are_put_right_and_the_report_stays_short(place):
    report = place.guarded(BARE + "git init -q --template= r0; hook r0/.git/hooks pre-commit; mkdir m; "
                           "for r in $(seq 2000); do cp -r r0 m/r$r; done")
    assert not list(place.work.glob("m/*/.git/hooks/pre-commit"))
    assert report.count == 2001 and len(report.told) <= 65
    assert "1937 more names" in report.told[-1]


def test_a_quick_plant_beside_many_folders(place):
    place.shell("for i in $(seq 300); do mkdir -p f$i/g; done; mkdir zz")
    report = place.guarded("mkdir zz/.git; printf '[core]\\n\\tfsmonitor = x\\n' > zz/.git/config; echo x > zz/.envrc")
    assert any("zz/.envrc" in line for line in report.told)
    assert "fsmonitor" not in (place.work / "zz/.git/config").read_text()


def test_detour_through_a_folder_of_packages(session, place):
    place.shell("mkdir -p sub/.vscode; echo a > sub/.vscode/settings.json; sleep 0.05")
    assert session("mv sub vendor").count == 0
    assert session("echo b > vendor/.vscode/settings.json").count == 0
    assert any("sub/.vscode/settings.json" in line for line in session("mv vendor sub").told)
    assert session("true").count == 0, "told once"


def test_a_commands_own_folder_moved_by_the_next(session):
    assert session("mkdir -p new/.vscode; echo x > new/.vscode/tasks.json").count == 0
    assert any("dst/.vscode/tasks.json" in line for line in session("mv new dst").told)


def test_another_folder_where_an_earlier_command_removed_one(session, place):
    place.shell("mkdir -p sub/src; sleep 0.05")
    session("rm -r sub", "--gone", str(place.work / "sub"))
    told = session("mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json").told
    assert any("sub/.vscode/tasks.json" in line for line in told)


def test_a_repository_completed_out_of_sight(session, place):
    """What no walk enters (git's objects) is where the first command makes it."""
    session("git init -q --template= .git/objects/zz; monitor .git/objects/zz/.git/config")
    report = session("mv .git/objects/zz sub")
    assert "fsmonitor" not in config_of(place, "sub"), report.told


def test_what_the_user_does_between_commands_stays(session, place):
    session("true")
    place.shell(BARE + "git init -q --template= mine; hook mine/.git/hooks pre-push; mkdir -p sub/.vscode; "
                "echo a > sub/.vscode/settings.json; sleep 0.05")
    assert session("touch sub/x mine/x").count == 0
    assert session("mv mine yours; mv sub other").count == 0
    assert (place.work / "yours/.git/hooks/pre-push").exists()


def test_a_command_that_was_killed_is_checked_by_the_next(session, place):
    session("git init -q --template= sub; hook sub/.git/hooks pre-commit", "--killed")
    assert (place.work / "sub/.git/hooks/pre-commit").exists()
    report = session("[ ! -e sub/.git/hooks/pre-commit ]")
    assert any("sub/.git/hooks/pre-commit" in line for line in report.told)
    assert session("true").count == 0


def test_what_a_killed_command_left_hides_no_finding_of_the_next(session, place):
    session("git init -q --template= r0; hook r0/.git/hooks pre-commit; for r in $(seq 69); do cp -r r0 r$r; done", "--killed")
    report = session("git init -q --template= own; hook own/.git/hooks pre-push")
    assert any("/own/.git/hooks/pre-push" in line for line in report.told), report.told
    more = [line for line in report.told if "more name" in line]
    assert report.count == 66 and len(more) == 1 and " 6 more names " in more[0], more


def test_one_more_than_is_listed(place):
    report = place.guarded(BARE + "git init -q --template= r0; hook r0/.git/hooks pre-commit; "
                           "for r in $(seq 64); do cp -r r0 r$r; done")
    assert report.count == 65 and " 1 more name (" in report.told[-1]


def test_an_index_of_folders_that_cannot_be_is_not_believed(session, place):
    place.shell("mkdir sub; echo a > sub/.envrc; sleep 0.05")
    change = session("echo b > sub/.envrc")
    assert any("sub/.envrc" in line for line in change.told)
    assert session("true").count == 0
    memory = place.top / "memory"
    data = bytearray(memory.read_bytes())
    payload = 88 + 1024 * (24 + 4024)
    folders, text_bytes = struct.unpack_from("QQ", data, 48)
    assert folders and payload + folders * 48 + text_bytes <= len(data)
    text = payload + 40
    assert struct.unpack_from("Q", data, text)[0] < text_bytes
    struct.pack_into("Q", data, text, 2 ** 64 - 3)
    memory.write_bytes(data)
    assert any("sub/.envrc" in line for line in session("echo c > sub/.envrc").told)


@pytest.mark.parametrize("depth, files", [(3000, 256), (200, 40)])
def test_depth_needs_no_descriptors(place, depth, files):
    """The second has too few for its window: what was not looked at is said."""
    fd = os.open(place.work, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    seen = set()  # until the file system's clock has moved, as it has where people work
    while len(seen) < 3:
        with open(place.work / "clock", "w", encoding="ascii") as clock:
            seen.add(os.fstat(clock.fileno()).st_ctime_ns)
    report = place.guarded("/usr/bin/python3 -c \"import os; os.write(os.open('.envrc', os.O_WRONLY | os.O_CREAT, "
                           "dir_fd=%d), b'x')\"" % fd, files=files, pass_fds=[fd])
    os.close(fd)
    assert any(".envrc" in line if depth == 3000 else "Too many open files" in line for line in report.told)


def test_any_number_of_closed_folders(place):
    place.shell("chmod o+x $(realpath .. ../.. ../../.. ../../../..); chown -R 65534:65534 ..")
    report = place.guarded(BARE + "git init -q --template= r0; hook r0/.git/hooks pre-commit; mkdir m; for r in $(seq 400); "
                           "do cp -r r0 m/r$r; done; chmod -R 000 m/*/.git/hooks; chmod 000 m/*/.git m/*", user=65534)
    assert report.count == 401
    assert not list(place.work.glob("m/*/.git/hooks/pre-commit"))
    assert (place.work / "m/r7").stat().st_mode & 0o777 == 0


def test_a_record_that_is_removed_meanwhile_is_no_ones(tmp_path):
    """Who opens the file of a workspace, and who removes it because it is old, hold its lock in turn."""
    path = tmp_path / "record"
    path.touch()
    with path.open("r+") as old:
        fcntl.lockf(old, fcntl.LOCK_EX, 1)
        number = os.fstat(old.fileno()).st_ino
        probe = subprocess.Popen([PROBE, "--record", path], stdout=subprocess.PIPE, text=True)
        while probe.poll() is None and not any("-> " in line and ":%d " % number in line
                                               for line in Path("/proc/locks").read_text().splitlines()):
            pass
        path.unlink()
    told = probe.communicate(timeout=60)[0].split()
    assert told == [str(path.stat().st_ino), "1"], (told, number)
