# SPDX-License-Identifier: Apache-2.0
"""What is out of sight of the supervisor, or was made where no walk goes, is found all the same: at both
levels, as root and as another user, in the same command, in the next one, and after hasp was killed."""

import os
import signal
import subprocess
import time

import pytest

from names_fixture import Place

LEVELS = ["full", "landlock"]
pytestmark = pytest.mark.in_turn("level")

# Paths longer than the kernel takes, and calls whose path the supervisor cannot read.
TOOLS = r"""
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def hidden(path):
    at = libc.mmap(None, 4096, 3, 0x22, -1, 0)
    ctypes.memmove(at, path.encode() + b'\0', len(path) + 1)
    libc.mprotect(ctypes.c_void_p(at), 4096, mmap.PROT_EXEC)
    return ctypes.c_void_p(at)
def put_hidden(path, text):
    fd = libc.openat(-100, hidden(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    if fd >= 0: os.write(fd, text.encode())
def down():
    fd = os.open('.', os.O_RDONLY)
    for _ in range(17):
        try: os.mkdir('d' * 250, dir_fd=fd)
        except FileExistsError: pass
        fd = os.open('d' * 250, os.O_RDONLY, dir_fd=fd)
    return fd
def put(fd, path, text):
    try:
        for part in path.split('/')[:-1]:
            try: os.mkdir(part, dir_fd=fd)
            except FileExistsError: pass
            fd = os.open(part, os.O_RDONLY, dir_fd=fd)
        os.write(os.open(path.split('/')[-1], os.O_WRONLY | os.O_CREAT, dir_fd=fd), text.encode())
    except OSError as error:
        print('refused', path, error)
CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ../RAN; false"\n'
def plant(fd):
    for name in ('objects/x', 'refs/x'): put(fd, 'sub/.git/' + name, '')
    put(fd, 'sub/.git/HEAD', 'ref: refs/heads/main\n')
    put(fd, 'sub/.git/config', CONFIG)
    put(fd, 'sub/.envrc', 'x')
    put(fd, 'sub/.vscode/tasks.json', 'x')
def up():
    try: os.rename('sub', 'up', src_dir_fd=down())
    except OSError as error: print('refused', error)
"""


@pytest.fixture(params=["root", "user"])
def place(request):
    place = Place(request.param)
    yield place
    place.close()


def python(place, level, what):
    (place.top / "script.py").write_text(TOOLS + what + "\n")
    return place.sandbox(level, "/usr/bin/python3 %s" % (place.top / "script.py")).stdout


def nothing_runs(place, folder, said):
    subprocess.run(["git", "-c", "safe.directory=*", "status"], cwd=place.work / folder, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False, env={"PATH": os.environ["PATH"], "HOME": str(place.top)})
    assert not (place.work / "RAN").exists(), said


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("together", [True, False], ids=["one command", "two commands"])
def test_made_far_down_and_moved_up(place, level, together):
    place.give_away()
    said = python(place, level, "plant(down()); up()" if together else "plant(down())")
    if not together:
        said = python(place, level, "up()")
    if (place.work / "up").exists():
        assert together or ("up/.envrc" in said and "up/.vscode/tasks.json" in said), said
        nothing_runs(place, "up", said)
    else:  # from where no call can be judged
        assert "unjudged" in said, said


@pytest.mark.parametrize("level", LEVELS)
def test_calls_that_the_supervisor_cannot_read(place, level):
    """All of them are so, which used to be no call at all."""
    (place.work / "mine").mkdir()
    subprocess.run(["git", "init", "-q", place.work / "repo"], check=True)
    place.give_away()
    said = python(place, level, "put_hidden('mine/.envrc', 'x'); put_hidden('repo/.git/config', CONFIG)")
    assert not (place.work / "mine/.envrc").exists() or "mine/.envrc" in said, said
    nothing_runs(place, "repo", said)


@pytest.mark.parametrize("level", LEVELS)
def test_three_commands_around_a_folder_of_packages(place, level):
    place.plant(place.work / "sub/.vscode/settings.json")
    place.give_away()
    place.sandbox(level, "mv sub vendor")
    place.sandbox(level, "echo b > vendor/.vscode/settings.json")
    said = place.sandbox(level, "mv vendor sub").stdout
    assert "changed: %s" % (place.work / "sub/.vscode/settings.json") in said, said


def workers(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as children:
        return [int(word) for word in children.read().split()]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", ["hasp", "worker"])
def test_what_a_killed_command_left(place, level, who):
    """Without hasp its worker looks; without a worker the next command's does, before that begins."""
    place.give_away()
    argv = [*place.as_user(), place.top / "hasp", "sandbox", "--sandbox", level, "--", "sh", "-c",
            "git init -q --template= sub && git -C sub config core.fsmonitor 'touch ../RAN; false' && touch ready && "
            "sleep 1000"]
    with subprocess.Popen(argv, cwd=place.work, env={"PATH": os.environ["PATH"], "HOME": str(place.home)},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while not (place.work / "ready").exists():
            assert running.poll() is None
            time.sleep(0.01)
        own = workers(running.pid)
        for pid in [running.pid] if who == "hasp" else own:
            os.kill(pid, signal.SIGKILL)
        while any(os.path.exists("/proc/%d" % pid) for pid in own):
            time.sleep(0.01)
    said = place.sandbox(level, "! git -C sub config core.fsmonitor && echo clean").stdout
    if "no command runs" in said:  # at full the new plan has mounted what was left
        assert level == "full" and "sub/.git/config" in said and "clean" not in said, said
        said = place.sandbox("landlock", "! git -C sub config core.fsmonitor && echo clean").stdout
    assert "clean" in said and ("core.fsmonitor" in said or who == "hasp"), said
    nothing_runs(place, "sub", said)
