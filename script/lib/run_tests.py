# SPDX-License-Identifier: Apache-2.0
"""Builds, runs every test of the project, and counts test cases; called by script/test.

A job is one process: a test of the build (c/NAME with gcc, san/NAME with clang and the sanitizers), several short ones
of one folder that are pytest's (c/FOLDER/{NAME,NAME}), or one folder of black-box tests (py/NAME, if the build does not
run it).  C tests report in TAP, pytest in JUnit's XML, so that cases are counted and not programs.  Jobs run side by
side, a few more than there are processors (many wait for others' events), except those that their build file marks as
not parallel.  The first build's jobs run while the second is made.
"""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import candidates
import keeper
import stand_in
from pytest_server import PYTHON, PytestServer

TOP = Path(__file__).resolve().parents[2]
# Meson looks for ccache by itself only where CC is not given.
CACHE = "ccache " if shutil.which("ccache") else ""
PYTEST = [PYTHON, "-m", "pytest"]  # begins the jobs that a server of such starts
# A check that ends the program is two thirds of one that may go on.
# Meson asks about warnings without sanitizers, where clang refuses what it does not use: all would be off.
SAN_ARGS = ("['-gline-tables-only','-fdata-sections','--start-no-unused-arguments',"
            "'-fsanitize-address-globals-dead-stripping','--end-no-unused-arguments','-fno-sanitize-recover=all']")
BUILDS = {
    "c": ("build", {}, []),
    "san": ("build-san", {"CC": CACHE + "clang", "CXX": CACHE + "clang++"},
            # Reports need lines and nothing else: all of it takes minutes to link.
            ["-Db_sanitize=address,undefined", "-Db_lundef=false",
             # Each program makes its globals known at once, not file by file: hasp begins in half the time.
             "-Dc_args=" + SAN_ARGS, "-Dcpp_args=" + SAN_ARGS,
             # lld takes a third of the time; without PIE a program begins in two thirds: nothing is relocated.
             "-Dc_link_args=['-fuse-ld=lld','-Wl,--no-pie']", "-Dcpp_link_args=['-fuse-ld=lld','-Wl,--no-pie']"]),
}
# In place of both, for script/coverage: every job runs in it.  Without optimization it is built in a fifth of the time.
COVERAGE = ("build-coverage", {"CC": CACHE + "clang", "CXX": CACHE + "clang++"},
            ["-Dcoverage=true", "-Doptimization=0", "-Ddebug=false", "-Dc_link_args=['-fuse-ld=lld']",
             "-Dcpp_link_args=['-fuse-ld=lld']"])
# In it these run all of their rows: each leads through lines of its own, where a call has failed.
WHOLE = {"file/commit_faults", "file/transaction_kill", "sandbox/faults"}
# What both builds have runs once; with HASP_TESTS=all in both, and so does what is asked for by name.  Programs in C run
# with sanitizers.  Tests that drive hasp or a part of it from outside run without, in a third of the time, but for
# these: what they are given is hostile, or they lead through much that no program in C does.
HARDENED = {"acp/hostile", "agent/answers", "agent/steer", "config/hostile", "net/http/client", "net/http/server", "model/errors",
            "model/media", "policy/bash", "policy/command", "damage/rebase_history", "search/encodings",
            "shell/analysis", "shell/words", "file/commit_faults", "tui/editor/vim", "tui/term/screen",
            "worker/test_program"}
# The same of these, but dear: they run without sanitizers, and one case of so many with them, another one at another
# commit (test/conftest.py).
SAMPLED = {"agent/agent", "agent/compaction", "agent/questions", "install/fetched", "install/markets",
           "sandbox/guard/later", "headless/hostile", "search/hostile_search", "tool/conversation"}
SAMPLE = 6
# Programs in C that run without sanitizers, too: what confines is to hold for the program that is shipped.
# These and UNHARDENED are not in test/unit_tests, or the first build would have to make all of it (test/meson.build).
UNHARDENED_TOO = {"sandbox/filter", "sandbox/landlock", "sandbox/mounts", "sandbox/spawn", "policy/star"}
# What lines cost is not measured where the sanitizers' own cost would be; the others wait for commands in sandboxes, and
# what hasp does for those is in job/run and worker/test_provider with sanitizers.
UNHARDENED = {"policy/line_cost", "worker/job/confined", "worker/job/jobs"}
EVERYTHING = os.environ.get("HASP_TESTS") == "all"
TURNS = 120  # each number of parts that take turns in test/ divides it, or some parts would never run
# Leaks are not looked for in what pytest starts: that cannot be done under strace.
# What is freed is kept for a while to catch its later use: 256 MB of that, the default, double what a program costs.
ASAN = ("detect_leaks=%d:allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=8:"
        "allocator_release_to_os_interval_ms=-1")
UBSAN = {"UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
# Another python3 may be a script that looks for one (pyenv's), fifteen times as dear to begin.
PATH = os.environ["PATH"]
PY_ENV = {"HASP": str(TOP / "build" / "hasp"), "DAMAGE_PROGRAM": str(TOP / "build" / "hasp"),
          "PATH": PATH if shutil.which("python3") == PYTHON else "%s:%s" % (os.path.dirname(PYTHON), PATH),
          "PYTHONDONTWRITEBYTECODE": "1"}
# Of folders of pytest that no build file has; see `priorities` in test/meson.build.
FOLDERS = {"py/cli": 115, "py/compat": 75, "py/honest": 75, "py/mcp/offer": 70, "py/repo": 25}
MORE_JOBS = 2  # side by side than there are processors
PYTEST_SECONDS = 5  # of others that are a folder or a file of pytest
FILES_TOGETHER = 6  # of pytest in one process, at most: each process takes 0.3 s before its first test
USAGE = """usage: script/test [WORD ...]   the jobs whose names contain a word, or all
       script/test --list       their names"""
MOST_SECONDS = 1200
FAILURES_SHOWN = 8  # again, at the end
DEAREST_SHOWN = 10  # jobs that took the most CPU, at the end
SECONDS_FACTOR = 10  # meson's time-outs are for an idle machine


class Job(NamedTuple):
    name: str
    argv: list
    files: tuple  # or folders of pytest, behind argv
    env: dict
    cwd: str
    seconds: int
    alone: bool
    report: str  # file with JUnit XML; "" for TAP on standard output
    priority: int = 0  # seconds that it takes, if it is started first and by itself


class Outcome(NamedTuple):
    passed: int
    failed: int
    output: str
    seconds: float
    cpu: float  # seconds of processors, of it and of what it waited for


def make(kind, targets):
    """Makes files of a build folder, the folder first; None, with the compiler's output shown, when that fails."""
    folder, env, options = BUILDS[kind]
    # A warning of a compiler newer than CI's is no reason not to test.
    strict = ["-Dwerror=true"] if os.environ.get("CI") else []
    process = subprocess.Popen(["script/build", folder, *strict, *options], cwd=TOP,
                               env=dict(os.environ, TARGETS=" ".join(targets), **env))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print("%s does not build" % folder, flush=True)
        return None
    return used.ru_utime + used.ru_stime


def introspect(kind, what):
    """What "meson introspect" prints, which takes half a second to begin."""
    return json.loads((TOP / BUILDS[kind][0] / "meson-info" / ("intro-%s.json" % what)).read_text())


def targets_of(kind, jobs):
    """All but what is made for tests that are not among the jobs; with sanitizers no program for no test, either."""
    folder = TOP / BUILDS[kind][0]
    names, run, others = {job.name for job in jobs}, set(), set()
    for test in introspect(kind, "tests"):
        (run if job_name(kind, test) in names else others).update([test["cmd"][0], *test["depends"]])
    targets = []
    for target in introspect(kind, "targets"):
        file = Path(target["filename"][0])
        wanted, is_tests = {target["id"], str(file)} & run, file.is_relative_to(folder / "test")
        left_out = is_tests and (kind == "san" or {target["id"], str(file)} & others)
        if wanted or (target["build_by_default"] and not left_out):
            targets += [os.path.relpath(name, folder) for name in target["filename"]]
    return targets


def build(kind, words, reports):
    """Makes or refreshes what the jobs of one build need. The jobs; None when it cannot be made."""
    folder = BUILDS[kind][0]
    print("building %s" % folder, flush=True)
    start = time.monotonic()
    if (begun := make(kind, ["build.ninja"])) is None:
        return None
    jobs = jobs_of(kind, words, reports)
    if (ended := make(kind, targets_of(kind, jobs))) is None:
        return None
    print("built %s in %.0f s, %.0f of CPU" % (folder, time.monotonic() - start, begun + ended), flush=True)
    return jobs


def job_name(kind, test):
    return "%s/%s" % (kind, test["name"].replace(" ", "_"))


def c_jobs(kind, reports):
    """The tests that the build knows; some are pytest with an environment of their own."""
    folder = TOP / BUILDS[kind][0]
    jobs = []
    for test in introspect(kind, "tests"):
        name = job_name(kind, test)
        argv, files, report = test["cmd"], (), ""
        if "pytest" in argv:
            report = report_file(reports, name)
            files = tuple(word for word in argv if word.endswith(".py"))
            argv = [word for word in argv if word not in files]
        env = {"CMOCKA_MESSAGE_OUTPUT": "TAP", **PY_ENV, **test["env"]}
        if kind == "san":
            env.update(UBSAN, ASAN_OPTIONS=ASAN % (0 if report else 1))
            env.update({"HASP_SAMPLE": str(SAMPLE)} if test["name"] not in HARDENED else {})
        if BUILDS[kind] is COVERAGE and test["name"] in WHOLE:
            env["HASP_TESTS"] = "all"
        jobs.append(Job(name, argv, files, env, test["workdir"] or str(folder),
                        min(MOST_SECONDS, test["timeout"] * SECONDS_FACTOR),
                        not test["is_parallel"], report, test["priority"]))
    return jobs


def report_file(reports, name):
    return str(Path(reports) / (name.replace("/", "-") + ".xml"))


def turn():
    """Which rows of long tables have their turn: another number at most commits; HASP_TURN repeats one."""
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return os.environ.get("HASP_TURN") or str(int(said.stdout.strip() or "0", 16) % TURNS)


def folder_of(report):
    """Where a job's tests have their folders. Its path is short: sockets that programs make in them may have 107 bytes."""
    return str(Path(report).parent / format(zlib.crc32(report.encode()), "x"))


def py_jobs(reports, build_jobs):
    """One job per folder with test_*.py, but those that the build runs itself."""
    ran = {str(Path(file).resolve()) for job in build_jobs for file in job.files}
    known = {str(Path(file).parent) for file in ran}
    # With sanitizers some files are left out on purpose.
    whole = any(job.name.startswith("c/") for job in build_jobs)
    for path in sorted((TOP / "test").rglob("test_*.py")):
        if whole and str(path.parent) in known and not {str(path), str(path.parent)} & ran:
            print("%s is in no meson.build, so nobody runs it" % path.relative_to(TOP))
            print("0 passed, 1 failed")
            sys.exit(1)
    jobs = []
    for folder in sorted({path.parent for path in (TOP / "test").rglob("test_*.py")}):
        if str(folder) in known:
            continue
        name = "py/" + folder.relative_to(TOP / "test").as_posix()
        argv = [*PYTEST, "-q", "-p", "no:cacheprovider"]
        jobs.append(Job(name, argv, (str(folder),), PY_ENV, str(TOP), MOST_SECONDS, False, report_file(reports, name),
                        FOLDERS.get(name, 0)))
    return jobs


def command_of(job):
    reports = ["--junitxml", job.report, "--basetemp", folder_of(job.report)] if job.report else []
    return [*job.argv, *job.files, *reports]


def count_tap(output, code):
    """A program that says nothing in TAP is one case: its exit status."""
    passed = failed = 0
    planned = sum(int(n) for n in re.findall(r"(?m)^1\.\.(\d+)", output))
    for line in re.findall(r"(?m)^(?:not )?ok\b.*", output):
        good = line.startswith("ok") and "# skip" not in line.lower()
        passed, failed = passed + good, failed + (not good)
    if passed + failed == 0:
        return (1, 0) if code == 0 and planned == 0 else (0, max(planned, 1))
    failed += max(0, planned - passed - failed)  # it died before the rest
    if code != 0 and failed == 0:
        failed = 1
    return passed, failed


def count_junit(report, code):
    try:
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return 0, 1
    total = sum(int(s.get("tests", 0)) for s in suites)
    bad = sum(int(s.get(k, 0)) for s in suites for k in ("failures", "errors", "skipped"))
    if code != 0 and bad == 0:
        bad = 1
    return max(0, total - bad), bad


class Started:
    """A process in a session of its own."""

    def __init__(self, job, output):
        process = subprocess.Popen(command_of(job), cwd=job.cwd, env=dict(os.environ, **job.env),
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        self.process, self.pid = process, process.pid

    def wait(self):
        """Its exit code and seconds of processors. Until then its number is its own."""
        _, status, used = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, used.ru_utime + used.ru_stime


class StartedByServer:
    """The same for a job of pytest, as the server's child."""

    def __init__(self, job, output, server):
        self.server = server
        self.pid = server.start(command_of(job)[len(PYTEST):], dict(os.environ, **job.env), job.cwd, output)

    def wait(self):
        return self.server.reap(self.pid)


def read_until_end(output, pid):
    """What a process and those that it leaves in the background write until it ends; closes `output`."""
    pieces, ended, reads = [], os.pidfd_open(pid), [output]
    os.set_blocking(output, False)
    while True:
        ready, _, _ = select.select([*reads, ended], [], [])
        if output in ready:
            pieces.append(os.read(output, 1 << 16))
            reads = reads if pieces[-1] else []
        elif ready:
            break
    os.close(output)
    os.close(ended)
    return b"".join(pieces)


def run(job, server):
    """Runs one job; a time-out ends its processes (those whose parents have ended wait for the end of the suite)."""
    start = time.monotonic()
    output, theirs = os.pipe()
    is_pytest = job.argv[:len(PYTEST)] == PYTEST
    process = StartedByServer(job, theirs, server) if is_pytest else Started(job, theirs)
    os.close(theirs)
    late = threading.Event()

    def end_it():
        late.set()
        keeper.end_tree(process.pid)  # not waited for yet, so the number is its own

    timer = threading.Timer(job.seconds, end_it)
    timer.start()
    raw = read_until_end(output, process.pid)
    timer.cancel()
    timer.join()
    code, cpu = process.wait()
    note = "\nended after %d s" % job.seconds if late.is_set() else ""
    output = raw.decode("utf-8", "replace") + note
    passed, failed = count_junit(job.report, code) if job.report else count_tap(output, code)
    return Outcome(passed, failed + (1 if note and not failed else 0), output,
                   time.monotonic() - start, cpu)


def failing_cases(lines, most=12):
    """The lines of TAP that name a failed case, with the first ones of what it said."""
    shown, left = [], 0
    for line in lines:
        left = most if line.startswith("not ok") else left - 1 if line.startswith("#") else 0
        if left > 0:
            shown.append(line)
    return shown


def excerpt(output, head=30, tail=40, width=300):
    """The lines of a failure that a reader needs: what failed, where it began and how it ended."""
    lines = [line[:width] for line in output.rstrip().splitlines()]
    first = failing_cases(lines)
    if len(lines) > head + tail:
        lines = lines[:head] + ["... %d lines ..." % (len(lines) - head - tail)] + lines[-tail:]
    return first + lines


def weight(job):
    return job.priority or PYTEST_SECONDS * len(job.files)


def together(jobs):
    """The jobs, where short files of one folder that are started alike are one job: c/headless/{door,flags,job}."""
    alike, result = {}, []
    for job in jobs:
        if job.alone or job.priority or not job.files or not job.files[0].endswith(".py"):
            result.append(job)
        else:
            key = (str(Path(job.files[0]).parent), job.argv, job.env, job.cwd)
            alike.setdefault(json.dumps(key, sort_keys=True), []).append(job)
    for same in alike.values():
        parts = -(-len(same) // FILES_TOGETHER)
        for i in range(parts):
            result.append(joined(same[i::parts]))
    return result


def joined(jobs):
    if len(jobs) == 1:
        return jobs[0]
    folder = jobs[0].name.rpartition("/")[0]
    return jobs[0]._replace(
        name="%s/{%s}" % (folder, ",".join(job.name.rpartition("/")[2] for job in jobs)),
        files=tuple(file for job in jobs for file in job.files),
        seconds=min(MOST_SECONDS, sum(job.seconds for job in jobs)))


class Board:
    """Hands out jobs to threads, the longest first, and prints what came of them."""

    def __init__(self, server):
        self.server = server  # of pytest
        self.waiting = []
        self.growing = True  # there may be more jobs
        self.total = self.done = self.passed = self.failed = 0
        self.failures = []  # what is shown of each, once more at the end
        self.spent = []  # (seconds of processors, name) of each job
        self.notes = set()  # what registries lacked
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)

    def add(self, jobs):
        with self.changed:
            self.waiting = sorted(self.waiting + jobs, key=weight, reverse=True)
            self.total += len(jobs)
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.growing = False
            self.changed.notify_all()

    def take(self, alone):
        """The next job; waits while there may be more. None: there are no more."""
        with self.changed:
            while True:
                for i, job in enumerate(self.waiting):
                    if job.alone == alone:
                        return self.waiting.pop(i)
                if not self.growing:
                    return None
                self.changed.wait()

    def work(self, alone):
        while (job := self.take(alone)) is not None:
            self.report(job, run(job, self.server))
            if job.report:  # rm: tests leave trees too deep for Python's own
                subprocess.run(["rm", "-rf", folder_of(job.report)])

    def report(self, job, outcome):
        with self.lock:
            self.done += 1
            self.passed += outcome.passed
            self.failed += outcome.failed
            self.spent.append((outcome.cpu, job.name))
            print("[%*d/%d] %s %-32s %5d passed%s  %6.1f s, %.1f of CPU" % (
                len(str(self.total)), self.done, self.total,
                "FAIL" if outcome.failed else "ok  ", job.name, outcome.passed,
                ", %d failed" % outcome.failed if outcome.failed else "", outcome.seconds,
                outcome.cpu),
                flush=True)
            for note in re.findall(r"(?m)^%s.*" % re.escape(candidates.MARK), outcome.output):
                if note not in self.notes:
                    print(note, flush=True)
                self.notes.add(note)
            if outcome.failed:
                shown = "\n".join("    | " + line for line in excerpt(outcome.output))
                print(shown, flush=True)
                self.failures.append("FAIL %s\n%s" % (job.name, shown))


def kinds_of(words):
    """The builds that jobs with these words need, in the order in which they are made."""
    kinds = {word.split("/")[0] for word in words}
    if not kinds or not kinds <= {"c", "san", "py"}:
        return list(BUILDS)
    return [kind for kind in BUILDS if kind in kinds or (kind == "c" and "py" in kinds)]


def is_wanted(job, words):
    return not words or any(word in job.name if word not in ("c", "san", "py")
                            else job.name.startswith(word + "/") for word in words)


def has_its_turn(job, kind):
    """Whether a job that both builds have is this build's, when not both run it."""
    name = job.name.split("/", 1)[1]
    if job.name.startswith("py/") or len(BUILDS) == 1:
        return True
    if job.report:
        return name in SAMPLED or (name in HARDENED) == (kind == "san")
    return (name not in UNHARDENED if kind == "san" else name in UNHARDENED or name in UNHARDENED_TOO)


def jobs_of(kind, words, reports):
    """The jobs of a build whose names contain one of the words; its part of all when there are none."""
    jobs = c_jobs(kind, reports)
    if kind == "c":
        jobs = py_jobs(reports, jobs) + jobs
    elif lost := (HARDENED | SAMPLED) - {job.name.split("/", 1)[1] for job in jobs}:  # no build would run them
        sys.exit("not in the build with sanitizers: %s\n0 passed, 1 failed" % ", ".join(sorted(lost)))
    return [job for job in jobs if is_wanted(job, words) and (words or EVERYTHING or has_its_turn(job, kind))]


def run_all(words, reports, server):
    board = Board(server)
    threads = [threading.Thread(target=board.work, args=(False,))
               for _ in range((os.cpu_count() or 2) + MORE_JOBS)]
    for thread in threads:
        thread.start()
    try:
        for kind in kinds_of(words):
            if (jobs := build(kind, words, reports)) is None:
                board.failed += 1
                break
            board.add(jobs if words else together(jobs))
    finally:
        board.close()
    for thread in threads:
        thread.join()
    board.work(True)
    board.failed += board.total - board.done  # a thread of ours that died has taken its job with it
    return board


def list_jobs(reports):
    for kind in BUILDS:
        if make(kind, ["build.ninja"]) is None:
            return 1
        print("\n".join(job.name for job in jobs_of(kind, [], reports)))
    return 0


def run_suite(words, reports):
    start = time.monotonic()
    PY_ENV["HASP_TURN"] = turn()
    print("rows of long tables: HASP_TURN=" + PY_ENV["HASP_TURN"], flush=True)
    server = PytestServer(str(Path(reports) / "compiled"))
    board = run_all(words, reports, server)
    server.close()
    if not board.total and not board.failed:
        print("no test is named so")
        board.failed = 1
    for shown in board.failures[:FAILURES_SHOWN]:  # a log may be read from its end only
        print(shown)
    if len(board.spent) > DEAREST_SHOWN:
        print("most CPU: " + ", ".join("%s %.0f s" % (name, cpu) for cpu, name in
                                       sorted(board.spent, reverse=True)[:DEAREST_SHOWN]))
    print("%d test programs and folders in %.0f s, %.0f s of CPU" % (
        board.total, time.monotonic() - start, sum(cpu for cpu, _ in board.spent)))
    print("%d passed, %d failed" % (board.passed, board.failed))
    return 0 if board.failed == 0 else 1


def use_coverage():
    """From now on everything is built with counters, once."""
    BUILDS.clear()
    BUILDS["c"] = COVERAGE
    program = str(TOP / COVERAGE[0] / "hasp")
    PY_ENV.update(HASP=program, DAMAGE_PROGRAM=program)


def go_elsewhere(why, words):
    """Goes on in a copy of this clone; returns only if there is none."""
    try:
        copy = stand_in.make(TOP)
    except stand_in.CopyError as error:
        print("%s %s, so tests fail there, and %s. Clone into another folder." % (TOP, why, error), flush=True)
        print("0 passed, 1 failed")
        return 1
    print("%s %s: testing a copy, %s" % (TOP, why, copy), flush=True)
    os.chdir(copy)
    os.execv(sys.executable, [sys.executable, str(copy / "script" / "lib" / "run_tests.py"), *words])


def main(words):
    if words != ["--list"] and any(word.startswith("-") for word in words):
        print(USAGE)
        return 0 if words in (["-h"], ["--help"]) else 2
    if why := stand_in.reason(TOP):
        return go_elsewhere(why, words)
    reports = tempfile.mkdtemp(prefix="hasp-test-")
    return keeper.run(lambda: list_jobs(reports) if words == ["--list"] else run_suite(words, reports),
                      lambda: subprocess.run(["rm", "-rf", reports]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
