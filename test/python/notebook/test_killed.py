# SPDX-License-Identifier: Apache-2.0
"""A kernel that is killed in the middle of an edit: the file is old or new, the session goes on."""
import ctypes
import os
import select
import signal
import threading

import nbformat
import pytest
from front import Died, Front, call, overwrite, replay, text

OLD = "".join("line %d\n" % number for number in range(3000))
NEW = OLD.replace("line 7\n", "line seven\n")
IN_CREATE, IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO = 0x100, 0x2, 0x8, 0x80


class Watch(threading.Thread):
    """Kills a process as soon as something happens in a folder: of inotify(7), which the edit of a
    worker is seen by in the middle."""

    def __init__(self, folder, events, pid):
        super().__init__(daemon=True)
        library = ctypes.CDLL(None, use_errno=True)
        self.inotify = library.inotify_init1(os.O_CLOEXEC)
        assert library.inotify_add_watch(self.inotify, os.fsencode(folder), events) >= 0
        self.pid = pid
        self.start()

    def run(self):
        os.read(self.inotify, 4096)
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.inotify)


def processes_below(pid):
    """Descriptors of its children's ends: workers."""
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
            for child in map(int, file.read().split()):
                found += [os.pidfd_open(child), *processes_below(child)]
    return found


def start(tmp_path):
    front = Front(tmp_path / "work")
    assert front.run("%load_ext hasp\n%hasp ask widget").reply["status"] == "ok"
    return front


def play(front, path, *turns):
    done = front.run("%%hasp model replay:%s" % replay(path, *turns))
    assert done.reply["status"] == "ok", done.error


def killed(front, kill):
    """Prompts, allows what is asked, and has it killed then."""
    below = []

    def look(cell, message):
        if "application/vnd.jupyter.widget-view+json" in message["content"].get("data", {}):
            below.extend(processes_below(front.pid))
            kill()
            front.click("Allow once")

    with pytest.raises(Died):
        front.run("%%hasp Change it", on_message=look, stdin=lambda prompt: "")
    assert below
    # What workers were doing is done or undone when they have ended.
    for one in below:
        select.select([one], [], [])
        os.close(one)


@pytest.mark.parametrize(
    "events",
    [None, IN_CREATE, IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO],
    ids=["asked", "created", "written", "closed", "renamed"],
)
def test_a_file_is_old_or_new(tmp_path, events):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    file = folder / "a.txt"
    file.write_text(OLD)
    front = start(tmp_path)
    try:
        play(front, tmp_path / "model", overwrite(file, NEW), text("Done."))
        killed(front, lambda: end_at(front, folder, events))
    finally:
        front.close()
    assert file.read_text() in (OLD, NEW)
    resumes(tmp_path, file)


def end_at(front, folder, events):
    if events is None:
        os.kill(front.pid, signal.SIGKILL)
    else:
        Watch(folder, events, front.pid)


def resumes(tmp_path, file):
    """The session in another kernel: the model sees what was said, and edits the file."""
    front = start(tmp_path)
    try:
        play(front, tmp_path / "model", overwrite(file, NEW + "more\n"), text("Went on."))
        assert front.run("%hasp resume latest").reply["status"] == "ok"
        click = when_asked(front)
        cell = front.run("%%hasp Go on", on_message=click, stdin=lambda prompt: "")
        assert "Went on." in cell.html, (cell.plain, cell.error)
        stats = front.run("%hasp stats").stream
        assert '"totalRequests": 2' in stats or "Went on." in cell.html, stats
    finally:
        front.close()
    assert file.read_text() == NEW + "more\n"
    assert sorted(os.listdir(file.parent)) == ["a.txt"]


def when_asked(front):
    def look(cell, message):
        if "application/vnd.jupyter.widget-view+json" in message["content"].get("data", {}):
            front.click("Allow once")

    return look


@pytest.mark.parametrize("events", [IN_CREATE, IN_CLOSE_WRITE], ids=["created", "closed"])
def test_a_notebook_is_old_or_new(tmp_path, events):
    """The same by notebook_edit, which writes through a workspace of the kernel's process."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    file = folder / "n.ipynb"
    old = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1", id="first")])
    nbformat.write(old, file)
    insert = call("notebook_edit", operation="insert", source="y = 2", after="first")
    front = start(tmp_path)
    try:
        play(front, tmp_path / "model", call("notebook_read"), insert, text("Done."))
        front.run("%hasp notebook n.ipynb")
        killed(front, lambda: end_at(front, folder, events))
    finally:
        front.close()
    now = nbformat.read(file, as_version=4)
    nbformat.validate(now)
    assert [cell.source for cell in now.cells] in (["x = 1"], ["x = 1", "y = 2"])
