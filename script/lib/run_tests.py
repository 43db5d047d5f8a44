# SPDX-License-Identifier: Apache-2.0
"""Builds, runs every test of the project, and counts test cases; called by script/test.

A job is one process: a test program of the build (c/NAME with gcc, san/NAME with clang and
the sanitizers) or one folder of black-box tests (py/NAME, if the build does not run it).
C tests report in TAP, pytest in JUnit's XML, so that cases are counted and not programs.  Jobs run side by side, one more
than there are processors (many wait for others' events), except those that their build file marks as not parallel.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
BUILDS = {
    "c": ("build", {}, []),
    "san": ("build-san", {"CC": "clang", "CXX": "clang++"},
            # Reports need lines and nothing else: all of it takes minutes to link.
            ["-Db_sanitize=address,undefined", "-Db_lundef=false",
             "-Dc_args=-gline-tables-only", "-Dcpp_args=-gline-tables-only"]),
}
# What these compare and kill is the same with sanitizers, and takes a quarter of the time of all: with
# HASP_TESTS=all they run with them too.  The parsers behind them have fuzzers, replayed with sanitizers.
# So are other programs' clients (mcp/conformance, mcp/hostile and the transports talk to the sanitized server) and
# bash under a recorder (shell/analysis reads the same lines).
ONCE = {"differential", "damage", "updates", "search/differential_ripgrep", "search/differential_git",
        "match/matches", "store/commit_kill", "store/transaction_kill", "mcp/transport_stdio",
        "mcp/agents", "mcp/inspector", "shell/recorder"}
# Leaks are not looked for in what pytest starts: that cannot be done under strace.
ASAN = "detect_leaks=%d:allocator_may_return_null=1"
UBSAN = {"UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
PY_ENV = {"HASP": str(TOP / "build" / "hasp"), "DAMAGE_PROGRAM": str(TOP / "build" / "hasp"),
          "PYTHONDONTWRITEBYTECODE": "1"}
MOST_SECONDS = 1200
SECONDS_FACTOR = 10  # meson's time-outs are for an idle machine


class Job(NamedTuple):
    name: str
    argv: list
    env: dict
    cwd: str
    seconds: int
    alone: bool
    report: str  # file with JUnit XML; "" for TAP on standard output


class Outcome(NamedTuple):
    passed: int
    failed: int
    output: str
    seconds: float
    cpu: float  # seconds of processors, of it and of what it waited for


def build(kind):
    """Makes or refreshes one build folder; exits with its output when that fails."""
    folder, env, options = BUILDS[kind]
    # A warning of a compiler newer than CI's is no reason not to test.
    strict = ["-Dwerror=true"] if os.environ.get("CI") else []
    print("building %s" % folder, flush=True)
    result = subprocess.run(["script/build", folder, *strict, *options], cwd=TOP,
                            env=dict(os.environ, **env))
    if result.returncode != 0:
        print("%s does not build" % folder)
        print("0 passed, 1 failed")
        sys.exit(1)


def c_jobs(kind, reports):
    """The tests that the build knows; some are pytest with an environment of their own."""
    folder = TOP / BUILDS[kind][0]
    text = subprocess.run(["meson", "introspect", "--tests", str(folder)], check=True,
                          stdout=subprocess.PIPE, cwd=TOP).stdout
    jobs = []
    for test in json.loads(text):
        if kind == "san" and test["name"] in ONCE and os.environ.get("HASP_TESTS") != "all":
            continue
        name = "%s/%s" % (kind, test["name"].replace(" ", "_"))
        argv, report = test["cmd"], ""
        if "pytest" in argv:
            report = report_file(reports, name)
            argv = argv + ["--junitxml", report, "--basetemp", report + ".d"]
        env = {"CMOCKA_MESSAGE_OUTPUT": "TAP", **PY_ENV, **test["env"]}
        if kind == "san":
            env.update(UBSAN, ASAN_OPTIONS=ASAN % (0 if report else 1))
        jobs.append(Job(name, argv, env,
                        test["workdir"] or str(folder),
                        min(MOST_SECONDS, test["timeout"] * SECONDS_FACTOR),
                        not test["is_parallel"], report))
    return jobs


def report_file(reports, name):
    return str(Path(reports) / (name.replace("/", "-") + ".xml"))


def py_jobs(reports, build_jobs):
    """One job per folder with test_*.py, but those that the build runs itself."""
    known = {str(Path(argument).resolve().parent) for job in build_jobs for argument in job.argv
             if argument.endswith(".py") and "pytest" in job.argv}
    jobs = []
    for folder in sorted({path.parent for path in (TOP / "test").rglob("test_*.py")}):
        if str(folder) in known:
            continue
        name = "py/" + folder.relative_to(TOP / "test").as_posix()
        report = report_file(reports, name)
        argv = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                "--junitxml", report, "--basetemp", report + ".d", str(folder)]
        jobs.append(Job(name, argv, PY_ENV, str(TOP), MOST_SECONDS, False, report))
    return jobs


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


def run(job):
    """Runs one job in a session of its own, so that a time-out ends all its processes."""
    start = time.monotonic()
    process = subprocess.Popen(job.argv, cwd=job.cwd, env=dict(os.environ, **job.env),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    late = threading.Event()

    def end_it():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so the number is its own

    timer = threading.Timer(job.seconds, end_it)
    timer.start()
    raw = process.stdout.read()
    process.stdout.close()
    # What it left in the background may have closed its output: the end is that of the process.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    timer.cancel()
    timer.join()
    _, status, used = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    note = "\nended after %d s" % job.seconds if late.is_set() else ""
    output = raw.decode("utf-8", "replace") + note
    passed, failed = count_junit(job.report, code) if job.report else count_tap(output, code)
    return Outcome(passed, failed + (1 if note and not failed else 0), output,
                   time.monotonic() - start, used.ru_utime + used.ru_stime)


def excerpt(output, head=60, tail=60):
    """The lines of a failure that a reader needs: where it began and how it ended."""
    lines = output.rstrip().splitlines()
    if len(lines) <= head + tail:
        return lines
    return lines[:head] + ["... %d lines ..." % (len(lines) - head - tail)] + lines[-tail:]


class Board:
    """Hands out jobs to threads and prints what came of them."""

    def __init__(self, jobs):
        self.waiting = sorted(jobs, key=lambda job: job.alone)
        self.total = len(jobs)
        self.done = self.passed = self.failed = 0
        self.lock = threading.Lock()

    def take(self, alone):
        with self.lock:
            for i, job in enumerate(self.waiting):
                if job.alone == alone:
                    return self.waiting.pop(i)
        return None

    def work(self, alone):
        while (job := self.take(alone)) is not None:
            self.report(job, run(job))

    def report(self, job, outcome):
        with self.lock:
            self.done += 1
            self.passed += outcome.passed
            self.failed += outcome.failed
            print("[%*d/%d] %s %-32s %5d passed%s  %6.1f s, %.1f of CPU" % (
                len(str(self.total)), self.done, self.total,
                "FAIL" if outcome.failed else "ok  ", job.name, outcome.passed,
                ", %d failed" % outcome.failed if outcome.failed else "", outcome.seconds,
                outcome.cpu),
                flush=True)
            if outcome.failed:
                print("\n".join("    | " + line for line in excerpt(outcome.output)),
                      flush=True)


def run_all(jobs):
    board = Board(jobs)
    threads = [threading.Thread(target=board.work, args=(False,))
               for _ in range((os.cpu_count() or 2) + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    board.work(True)
    return board


def collect(words, reports):
    """All jobs, or those whose names contain one of the words; builds what they need."""
    kinds = {word.split("/")[0] for word in words}
    everything = not kinds or not kinds <= {"c", "san", "py"}
    jobs = []
    for kind in BUILDS:
        if everything or kind in kinds or (kind == "c" and "py" in kinds):
            build(kind)
            jobs += c_jobs(kind, reports)
    jobs = py_jobs(reports, jobs) + jobs
    jobs.sort(key=lambda job: not job.report)  # the longest first
    if not words:
        return jobs
    return [job for job in jobs
            if any(word in job.name if word not in ("c", "san", "py")
                   else job.name.startswith(word + "/") for word in words)]


def main(words):
    reports = tempfile.mkdtemp(prefix="hasp-test-")
    try:
        if words == ["--list"]:
            print("\n".join(job.name for job in collect([], reports)))
            return 0
        start = time.monotonic()
        jobs = collect(words, reports)
        board = run_all(jobs)
    finally:  # rm: tests leave trees too deep for Python's own
        subprocess.run(["rm", "-rf", reports])
    if not jobs:
        print("no test is named so")
    print("%d test programs and folders in %.0f s" % (len(jobs), time.monotonic() - start))
    print("%d passed, %d failed" % (board.passed, board.failed if jobs else 1))
    return 0 if jobs and board.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
