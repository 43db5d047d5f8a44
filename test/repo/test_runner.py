# SPDX-License-Identifier: Apache-2.0
"""script/test on a project of two jobs: whatever ends it, nothing that it started is left, nor its folders."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))
import run_tests  # noqa: E402

# Three processes that are hard to end: they ignore signals, have sessions of their own and have lost their parents.
# Each says so in the FIFO, which has no end as long as one of them lives.
STAY = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
fifo = os.open(os.environ["FIFO"], os.O_WRONLY)
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        os.closerange(0, 3)
        os.write(fifo, b"here\\n")
        while True:
            signal.pause()
os.write(fifo, b"here\\n")
"""
WAIT = "while True:\n    signal.pause()\n"
IN_PYTEST = "import os\ndef test_it():\n    source = open(os.environ['STAY']).read()\n    exec(source)\n"


class Project:
    """A folder with the real runner and other jobs; not beneath /tmp, where it would be copied first."""

    def __init__(self, top):
        self.top = top
        for name in ("lib", "../build/meson-info", "../test/stay"):
            (top / "script" / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / "script" / "test", top / "script" / "test")
        for name in ("run_tests", "pytest_server", "keeper", "candidates", "stand_in"):
            shutil.copy(TOP / "script" / "lib" / (name + ".py"), top / "script" / "lib")
        for name in ("setup", "build"):
            (top / "script" / name).write_text("#!/bin/sh\n")
            (top / "script" / name).chmod(0o755)
        (top / "test" / "stay" / "test_stay.py").write_text(IN_PYTEST)
        tests = [{"name": "stay", "cmd": ["/usr/bin/python3", str(top / "stay.py")], "env": {}, "workdir": str(top),
                  "timeout": 60, "is_parallel": True, "priority": 0, "depends": []}]
        (top / "build" / "meson-info" / "intro-tests.json").write_text(json.dumps(tests, ensure_ascii=False))
        (top / "build" / "meson-info" / "intro-targets.json").write_text("[]")
        (top / "temp").mkdir()
        self.fifo = top / "fifo"
        os.mkfifo(self.fifo)

    def start(self, job, source):
        """The process, and a pipe that has an end when the runner's own processes have ended."""
        (self.top / "stay.py").write_text(source)
        end, theirs = os.pipe()
        environment = dict(os.environ, TMPDIR=str(self.top / "temp"), FIFO=str(self.fifo),
                           STAY=str(self.top / "stay.py"))
        process = subprocess.Popen([self.top / "script" / "test", job], env=environment, pass_fds=[theirs],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.close(theirs)
        return process, open(end, "rb")

    def listen(self):
        """What the jobs say."""
        fifo = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)  # without waiting for one that speaks
        os.set_blocking(fifo, True)
        return open(fifo, "rb", buffering=0)


@pytest.fixture
def project():
    with tempfile.TemporaryDirectory(prefix="hasp-runner-", dir="/var/tmp") as folder:
        yield Project(Path(folder).resolve())


def hear(process, fifo, end, lines):
    said = b""
    while said.count(b"\n") < lines:
        ready, _, _ = select.select([fifo, end], [], [])  # a FIFO is not ready before its first writer
        assert fifo in ready, process.communicate()[0]
        said += fifo.read(100)


def nothing_is_left(project, fifo, end):
    assert fifo.readall() == b"" and end.read() == b""  # returns when the last one is dead
    assert os.listdir(project.top / "temp") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL],
                         ids=lambda number: number.name)
@pytest.mark.parametrize("job", ["c/stay", "py/stay"])
def test_a_signal_ends_all_that_runs(project, job, number):
    process, end = project.start(job, STAY + WAIT)
    with process, end, project.listen() as fifo:
        hear(process, fifo, end, 3)
        process.send_signal(number)
        assert process.wait() == -number
        nothing_is_left(project, fifo, end)


@pytest.mark.parametrize("job", ["c/stay", "py/stay"])
def test_what_a_job_leaves_running_ends_with_the_suite(project, job):
    process, end = project.start(job, STAY)
    with process, end, project.listen() as fifo:
        hear(process, fifo, end, 3)
        said = process.communicate()[0]
        assert said.endswith("\n1 passed, 0 failed\n") and process.returncode == 0, said
        nothing_is_left(project, fifo, end)


def test_a_job_that_takes_too_long_is_ended_with_its_children(project):
    tests = project.top / "build" / "meson-info" / "intro-tests.json"
    tests.write_text(tests.read_text().replace('"timeout": 60', '"timeout": 0.1'))
    with project.listen() as fifo:
        process, end = project.start("c/stay", STAY + WAIT)
        with process, end:
            said = process.communicate()[0]
            assert "ended after 1 s" in said and said.endswith("\n0 passed, 1 failed\n"), said
            assert process.returncode == 1
            fifo.readall()
            nothing_is_left(project, fifo, end)


def test_a_runner_that_fails_says_why(project):
    (project.top / "build" / "meson-info" / "intro-tests.json").write_text("{")
    process, end = project.start("c/stay", STAY)
    with process, end:
        said = process.communicate()[0]
        assert "JSONDecodeError" in said and process.returncode == 1
        assert end.read() == b"" and os.listdir(project.top / "temp") == []


# ---- rows that take turns --------------------------------------------------------------------

def test_each_part_of_a_table_has_its_turn():
    """The campaign once took 40 turns of 12 that there were: most of its rows ran at no commit."""
    taken = [(str(path), int(parts)) for path in (TOP / "test").rglob("*.*") if path.suffix in {".c", ".py"}
             for parts in re.findall(r"\b(?:rows_in_turn\(|part_first\(|in_turn\([^()]*, )(\d+)\)", path.read_text())]
    assert len(taken) > 50
    assert [(path, parts) for path, parts in taken if run_tests.TURNS % parts] == []


# ---- a clone where tests cannot run ----------------------------------------------------------

@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Makes a project in a folder of that name, in pytest's own place beneath /tmp or elsewhere; copies are elsewhere."""
    with tempfile.TemporaryDirectory(prefix="hasp-runner-", dir="/var/tmp") as elsewhere:
        monkeypatch.setenv("XDG_CACHE_HOME", elsewhere)

        def make(name, beneath_tmp=False):
            top = (tmp_path if beneath_tmp else Path(elsewhere).resolve()) / name
            top.mkdir(parents=True)
            project = Project(top)
            info = top / "build" / "meson-info"
            shutil.move(info, top / "script" / "info")
            (top / "script" / "build").write_text(  # as meson, with the names of the folder that it is in
                "#!/bin/sh\nmkdir -p build/meson-info\nfor file in script/info/*; do\n"
                "sed \"s,$ORIGIN,$PWD,g\" \"$file\" > build/meson-info/${file##*/}\ndone\n")
            (top / "stay.py").write_text("import os\nprint('1..1\\nok 1')\n"
                                         "open(os.environ['SAID'], 'w').write(os.getcwd())\n")
            return project
        make.copies = Path(elsewhere) / "hasp-test"
        yield make


def run_in(project):
    said = project.top / "temp" / "said"
    done = subprocess.run([project.top / "script" / "test", "c/stay"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=dict(os.environ, SAID=str(said), ORIGIN=str(project.top)))
    assert done.returncode == 0 and done.stdout.endswith("\n1 passed, 0 failed\n"), done.stdout
    return said.read_text(), done.stdout.splitlines()[0]


@pytest.mark.parametrize("name, beneath_tmp, why", [
    ("plain", True, "is beneath /tmp,"), ("with a blank", False, "has a path with blanks"),
    ("\u00e4", False, "has a path with blanks"), ("/".join(["long" * 20] * 3), False, "has a path of more than")],
    ids=["beneath /tmp", "a blank", "an umlaut", "a long path"])
def test_a_clone_where_tests_cannot_run_is_copied(clone, name, beneath_tmp, why):
    project = clone(name, beneath_tmp)
    where, first = run_in(project)
    assert first.startswith("%s %s" % (project.top, why)) and first.endswith(": testing a copy, " + where)
    assert Path(where).parent == clone.copies and not (project.top / "build" / "meson-info").exists()


def test_a_clone_where_tests_can_run_is_not(clone):
    project = clone("plain")
    assert run_in(project)[0] == str(project.top) and not clone.copies.exists()


def test_the_copy_follows_the_clone_and_keeps_its_builds(clone):
    project = clone("plain", True)
    copy = Path(run_in(project)[0])
    (copy / "build" / "kept").write_text("")
    (project.top / "new").write_text("x")
    (project.top / "fifo").unlink()
    assert run_in(project)[0] == str(copy)
    assert (copy / "new").exists() and (copy / "build" / "kept").exists() and not (copy / "fifo").exists()


def test_the_copy_of_a_clone_that_was_removed_goes(clone):
    first = clone("first", True)
    copy = Path(run_in(first)[0])
    shutil.rmtree(first.top)
    second = Path(run_in(clone("second", True))[0])
    assert sorted(clone.copies.iterdir()) == sorted([second, second.with_suffix(".clone")]) and second != copy


def test_each_priority_is_that_of_a_test():
    """A row of a test that was renamed would be ignored silently, and the test start last."""
    text = (TOP / "test" / "meson.build").read_text()
    rows = {name: int(seconds) for name, seconds in
            re.findall(r"'([^']+)': (\d+)", re.search(r"(?s)^priorities = \{(.*?)^\}", text, re.M).group(1))}
    tests = json.loads((Path(os.environ["HASP"]).parent / "meson-info" / "intro-tests.json").read_text())
    assert len(rows) > 40 and {test["name"]: test["priority"] for test in tests if test["priority"]} == rows
    ran = [SimpleNamespace(name="c/" + test["name"], files=[word for word in test["cmd"] if word.endswith(".py")])
           for test in tests]
    assert {job.name for job in run_tests.py_jobs("", ran)} >= run_tests.FOLDERS.keys()
