# SPDX-License-Identifier: Apache-2.0
"""script/bench's part about work: what everyday jobs cost inside the sandbox, beside outside.

Five jobs as people have them, in a folder on the disk: a compilation, npm, git, tar, pytest; and
three that are all calls about names, on tmpfs.  The ways to run a job (outside, at both levels, in
bubblewrap where that is installed) take turns in one folder, because the disk makes files at
different speeds in different places; each run starts from the same state, and its result is
compared with that of the first one outside.

    python3 script/lib/bench_inside.py                            all, into docs/benchmarks.md
    python3 script/lib/bench_inside.py [--rounds N] --job WORD    jobs with WORD in their titles

npm ci installs the official MCP SDK (npm_peers.py) from a cache that one run outside has filled.
"""

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, NamedTuple

import bench
import npm_peers

BEGIN, END = "<!-- inside: begin -->", "<!-- inside: end -->"
SHM = Path("/dev/shm")


def ways():
    """{name: words before a command in a folder}; the first is what the others are compared with."""
    found = {"outside": lambda folder: [],
             "hasp": lambda folder: bench.in_sandbox(folder, "--sandbox", "full"),
             "hasp, level landlock": lambda folder: bench.in_sandbox(folder, "--sandbox", "landlock")}
    if shutil.which("bwrap"):
        found["bubblewrap"] = bench.in_bubblewrap
    return found


# ---- the jobs -------------------------------------------------------------------------------

class Job(NamedTuple):
    title: str
    setup: Callable       # fills a folder
    prepare: str          # a script, before each run; not timed
    script: str           # the job
    result: str           # the folder whose files are compared
    tmpfs: bool = False
    python: bool = False  # the result has times in it: names alone are compared


def shell(script, folder):
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True, stdout=subprocess.DEVNULL)


C_FILE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "project.h"
static int compare%(n)d(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int part%(n)d(int *list, size_t count)
{
	char text[64];
	qsort(list, count, sizeof(*list), compare%(n)d);
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%%d:%(n)d", list[i]);
		list[i] += (int)strlen(text);
	}
	return list[0] + %(n)d;
}
"""


def c_project(folder):
    """200 files, compiled each by itself and put into a program."""
    numbers = range(200)
    (folder / "project.h").write_text("".join("int part%d(int *list, size_t count);\n" % n
                                              for n in numbers))
    for n in numbers:
        (folder / ("part%d.c" % n)).write_text(C_FILE % {"n": n})
    (folder / "main.c").write_text("#include <stdlib.h>\n#include \"project.h\"\nint main(void)\n{\n"
                                   "\tint list[2] = { 2, 1 };\n\treturn (%s) == 0;\n}\n"
                                   % " + ".join("part%d(list, 2)" % n for n in numbers))
    (folder / "Makefile").write_text(
        "objects = $(patsubst %.c,%.o,$(wildcard *.c))\nprogram: $(objects)\n"
        "\t$(CC) -o $@ $(objects)\n%.o: %.c project.h\n\t$(CC) -O1 -c -o $@ $<\n"
        "clean:\n\trm -f program $(objects)\n")


def npm_project(folder):
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(npm_peers.folder("sdk") / name, folder)
    shell("npm ci --cache cache --no-audit --no-fund --ignore-scripts --loglevel error", folder)


def many_files(folder, count):
    """In folders of 100; each has some lines of its own."""
    for n in range(count):
        if n % 100 == 0:
            (folder / ("d%d" % (n // 100))).mkdir(parents=True)
        (folder / ("d%d/file%d.txt" % (n // 100, n))).write_text("line %d\n" % n * 20)


def repository(count):
    def setup(folder):
        many_files(folder, count)
        shell("git init -q -b full . && git config gc.auto 0 && git config maintenance.auto false && "
              "git add -A && git -c user.name=x -c user.email=x@example.org "
              "commit -qm x && git checkout -q --orphan empty && git rm -rqf . && "
              "git -c user.name=x -c user.email=x@example.org commit -qm y --allow-empty", folder)
    return setup


def archive(folder):
    many_files(folder / "tree", 5000)
    shell("tar cf tree.tar tree && rm -rf tree", folder)


PACKAGE_TESTS = """import json, subprocess, sys
import pytest
from package import part%(n)d
@pytest.mark.parametrize("value", range(20))
def test_value(value, tmp_path):
    path = tmp_path / "value.json"
    path.write_text(json.dumps(part%(n)d.double(value)))
    assert json.loads(path.read_text()) == 2 * value
def test_program():
    assert subprocess.run([sys.executable, "-c", "import package.part%(n)d"]).returncode == 0
"""


def python_package(folder):
    """A package of 20 modules, and 21 tests of each."""
    for name in ["package", "tests"]:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("")
    for n in range(20):
        (folder / ("package/part%d.py" % n)).write_text("def double(n):\n    return 2 * n\n")
        (folder / ("tests/test_part%d.py" % n)).write_text(PACKAGE_TESTS % {"n": n})


def python():
    """One that has pytest."""
    for program in ["python3", "/usr/bin/python3"]:
        if subprocess.run([program, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode == 0:
            return program
    raise SystemExit("bench: pytest is not installed (Debian: python3-pytest)")


MAKE_FILES = "rm -rf out && mkdir out"
SPLIT = "cd out && seq 1 100000 | split -l 1 -a 5 -d - f"


def jobs():
    checkout = "git checkout -q full"
    empty = "git checkout -qf empty && git clean -qfdx"
    return [
        Job("compile 200 C files, `make -j2`", c_project, "make -s clean", "make -s -j2", "."),
        Job("`npm ci`, the MCP SDK", npm_project, "rm -rf node_modules",
            "npm ci --cache cache --offline --no-audit --no-fund --ignore-scripts --loglevel error",
            "node_modules"),
        Job("`git checkout`, 2,000 files", repository(2000), empty, checkout, "."),
        Job("`tar x`, 5,000 files", archive, MAKE_FILES, "tar xf tree.tar -C out", "out"),
        Job("pytest, 420 tests of a package", python_package,
            "rm -rf .pytest_cache && find . -name __pycache__ -exec rm -rf {} +",
            "%s -m pytest -q --basetemp=temp tests" % python(), ".", python=True),
        Job("make 100,000 files (`split`)", lambda folder: None, MAKE_FILES, SPLIT, "out", True),
        Job("`rm -rf` of them", lambda folder: None, MAKE_FILES + " && " + SPLIT, "rm -rf out", ".",
            True),
        Job("`git checkout`, 20,000 files", repository(20000), empty, checkout, ".", True),
    ]


# ---- measuring ------------------------------------------------------------------------------

def result_of(folder, names_only):
    """A digest of all names in a folder, and of what is in the files."""
    hashed = hashlib.sha256()
    for path, names, files in os.walk(folder):
        names[:] = sorted(set(names) - {".git", "cache", "temp"})
        for name in sorted(files):
            full = Path(path) / name
            hashed.update(b"%s\0" % os.path.relpath(full, folder).encode())
            if not names_only and full.is_file():
                hashed.update(bench.digest(full).encode())
    return hashed.hexdigest()


def runner_of(job, name, before, folder, expected):
    def right():
        found = result_of(folder / job.result, job.python)
        return expected.setdefault(job.title, found) == found

    return bench.Runner(name, [*before(folder), "sh", "-ec", job.script], str(folder),
                        lambda: shell(job.prepare, folder), right, stdout="/dev/null")


def rounds_of(job, options):
    """Jobs on tmpfs vary less, and their results take longer to compare."""
    return options.rounds or (1 if options.quick else 3 if job.tmpfs else 5)


def measure(job, base, rounds):
    """{way: Runner}"""
    expected = {}
    base.mkdir()
    job.setup(base)
    runners = [runner_of(job, name, before, base, expected) for name, before in ways().items()]
    bench.interleave(runners, rounds)
    return {runner.name: runner for runner in runners}


def ratio(runner, outside, field):
    """The median of the ratios to the run outside of the same round."""
    return statistics.median(getattr(mine, field) / max(getattr(theirs, field), 0.001)
                             for mine, theirs in zip(runner.costs, outside.costs))


def row_of(job, runners):
    outside = runners["outside"]
    cost = outside.median()
    cells = ["%s%s" % (job.title, ", tmpfs" if job.tmpfs else ""), "%.0f" % cost.wall_ms,
             "%.0f" % cost.cpu_ms]
    for name in list(ways())[1:]:
        cells.append("%.2f; %.2f" % (ratio(runners[name], outside, "cpu_ms"),
                                     ratio(runners[name], outside, "wall_ms")))
    return cells


def page(options):
    lines = ["%s. Medians of %s runs, interleaved." % (
                 bench.machine(), options.rounds or ("1" if options.quick else "5 (tmpfs: 3)")), "",
             "| job | outside, wall ms | CPU ms | %s |" % " | ".join(
                 name + ": CPU; wall, times" for name in list(ways())[1:]),
             "|%s" % ("---|" * (len(ways()) + 2))]
    for job in jobs():
        if options.job and not any(word in job.title for word in options.job):
            continue
        if job.tmpfs and not SHM.is_dir():
            continue
        with tempfile.TemporaryDirectory(prefix="hasp-bench-",
                                         dir=SHM if job.tmpfs else bench.TOP / "build") as folder:
            row = row_of(job, measure(job, Path(folder) / "job", rounds_of(job, options)))
        lines.append("| %s |" % " | ".join(row))
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="bench_inside.py")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--job", action="append", help="only jobs with this word in their title")
    options = parser.parse_args()
    whole = not options.quick and not options.job
    text = page(options)
    print(text)
    if whole:
        bench.page_write(BEGIN, END, text)


if __name__ == "__main__":
    main()
