# SPDX-License-Identifier: Apache-2.0
"""script/coverage counts in every process, however it ends and whatever it cannot open, and sums up truly."""

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))
import coverage  # noqa: E402

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void leave(void) { _exit(0); }
__attribute__((noinline)) static void die(void) { raise(SIGKILL); }
__attribute__((noinline)) static void work_inside(void) { _exit(fcntl(97, F_GETFD) < 0 ? 0 : 3); }
__attribute__((noinline)) static void never(void) { _exit(1); }

static void start_inside(const char *folder)
{
	int program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	char *argv[] = { "inside", "inside", NULL }, *none[] = { NULL };

	if (unshare(CLONE_NEWUSER) != 0 || chroot(folder) != 0)
		never();
	syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */);
	syscall(SYS_execveat, program, "", argv, none, AT_EMPTY_PATH);
	never();
}

int main(int argc, char **argv)
{
	int status, failed = 0;

	if (argc > 1 && strcmp(argv[1], "inside") == 0)
		work_inside();
	if (fork() == 0)
		leave();
	if (fork() == 0)
		die();
	if (fork() == 0)
		start_inside(argv[1]);
	while (wait(&status) > 0)
		failed |= WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	_exit(failed);
}
"""


def test_counts_survive_exec_into_a_sandbox_and_every_end(tmp_path):
    counters, empty = tmp_path / "counters", tmp_path / "empty"
    counters.mkdir()
    empty.mkdir()
    (tmp_path / "p.c").write_text(PROGRAM)
    subprocess.run(["clang", "-O1", "-Wall", "-Werror", "-DCOUNTERS_FOLDER=\"%s\"" % counters, "-c",
                    TOP / "script/lib/counters.c", "-o", "counters.o"], cwd=tmp_path, check=True)
    subprocess.run(["clang", "-static", "-O1", "-fprofile-instr-generate", "-fcoverage-mapping", "-mllvm",
                    "-runtime-counter-relocation", "-Wl,--wrap=syscall", "p.c", "counters.o", "-o", "p"],
                   cwd=tmp_path, check=True)
    assert subprocess.run(["./p", empty], cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counters", "counters.o", "empty", "p", "p.c"]
    (raw,) = counters.iterdir()
    subprocess.run(["llvm-profdata", "merge", raw, "-o", "all"], cwd=tmp_path, check=True)
    said = subprocess.run(["llvm-cov", "export", "-format=lcov", "-instr-profile", "all", "p"], cwd=tmp_path,
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    counts = dict(line[5:].split(",")[::-1] for line in said.splitlines() if line.startswith("FNDA:"))
    assert {name.split(":")[-1]: int(count) for name, count in counts.items()} == {
        "main": 2, "leave": 1, "die": 1, "start_inside": 1, "work_inside": 1, "never": 0}


def test_lines_and_branches_are_summed_by_file(capsys):
    said = ["SF:/other/clone/src/base/buf.c", "DA:1,5", "DA:2,0", "DA:3,0", "DA:5,0", "BRDA:1,0,0,3", "BRDA:1,0,1,-",
            "end_of_record", "SF:/other/clone/test/x.c", "DA:1,0", "end_of_record",
            "SF:build-coverage/../src/base/buf.c", "DA:2,7", "end_of_record"]
    files = coverage.read(said)
    assert list(files) == ["base/buf.c"]
    coverage.show_folders(files)
    assert capsys.readouterr().out.splitlines()[0].split() == \
        "base 50.0 % of 4 lines 50.0 % of 2 branches 0 uncovered lines listed, 2 not".split()
    coverage.show_files(files, "src/base/")
    assert capsys.readouterr().out.splitlines()[0] == "src/base/buf.c: 2: 3, 5"


def test_the_page_has_the_last_table(capsys):
    files = coverage.read(["SF:src/base/buf.c", "DA:1,5", "DA:2,0", "BRDA:1,0,0,3", "SF:src/diff/diff.c", "DA:1,1"])
    page = "before\n" + coverage.BEGIN + "the old one\n" + coverage.END + "after\n"
    written = coverage.write(files, page)
    assert written == coverage.write(files, written)
    assert "the old one" not in written and written.startswith("before\n") and written.endswith("after\n")
    assert "| base | 50.0 % | 100.0 % | diff | 100.0 % | - | src | 66.7 % | 100.0 % |" in written
    coverage.show_folders(files)
    assert capsys.readouterr().out.splitlines()[-1] == "1 uncovered lines, 1 without a reason"
    files["base/buf.c"].left = {2}
    coverage.show_folders(files)
    assert capsys.readouterr().out.splitlines()[-1] == "1 uncovered lines, all with a reason"


def test_runs_of_lines_are_named_once():
    assert coverage.ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


SOURCE = """int f(void)
{
	if (x)
		return bug();
	y();

	if (z()) {
		w();
		return bug();
	}
	v();
}
"""
COUNTED = ["DA:1,2", "DA:3,1", "DA:4,0", "DA:5,1", "DA:7,0", "DA:8,0", "DA:9,0", "DA:11,0"]


@pytest.mark.parametrize("row, left, wrong", [
    ("base/a.c | bug | cannot be", {4, 8, 9}, []),
    ("base | ^int | cannot be", set(), ["no uncovered line of src/base is meant"]),
    ("* | z\\(\\) | cannot be", {7, 8, 9, 11}, []),
    ("base/a.c | if .x | the line after it", {4}, []),
    ("base/a.c | \\(x\\)\\n.*bug | both lines", {4}, []),
    ("base/a.c | \\(\\)\\) .\\n.*bug | not these two", set(), ["no uncovered line of src/base/a.c is meant"]),
    ("base/a.c | y\\(\\); | can", set(), ["no uncovered line of src/base/a.c is meant"]),
    ("bas | bug | another folder", set(), ["no uncovered line of src/bas is meant"]),
    ("# base | if | a comment", set(), [])])
def test_a_row_of_lines_left_is_checked(row, left, wrong):
    files = coverage.read(["SF:src/base/err.c", *COUNTED])
    files = {"base/a.c": files.pop("base/err.c")}
    said = coverage.apply_left(files, "# head\n\n%s\n" % row, lambda path: SOURCE)
    assert files["base/a.c"].left == left
    assert said == ["script/lib/coverage_left.txt:3: " + sentence for sentence in wrong]


def test_rows_of_lines_left_name_lines_and_a_reason():
    for number, place, pattern, reason in coverage.rows_left(coverage.LEFT.read_text()):
        path = TOP / "src" / place.replace("*", "")
        sources = path.rglob("*.c") if path.is_dir() else [path]
        lines = [line for source in sources for line in source.read_text().splitlines()]
        assert any(pattern.search(line) or pattern.search(before + "\n" + line)
                   for before, line in zip([""] + lines, lines)), number
        assert len(reason) > 10, number
