# SPDX-License-Identifier: Apache-2.0
"""The scripts: shellcheck has nothing to say, and the test runner counts honestly."""

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))

import run_tests  # noqa: E402

SHELL = [path for path in [*sorted((TOP / "script").iterdir()), TOP / ".ci" / "run"]
         if path.is_file() and path.read_bytes().startswith(b"#!/bin/sh")]


@pytest.mark.parametrize("script", SHELL, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script):
    done = subprocess.run(["shellcheck", str(script)], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


# The Python package, with its examples, tests and scripts.
FORMATTED = ["python", "example/python", "test/python",
             *("script/lib/%s.py" % name for name in ("bench_python", "demo_notebook", "demo_python", "python_api", "python_memory", "wheel"))]


def black(*paths):
    return subprocess.run([sys.executable, "-m", "black", "--config", str(TOP / "python" / "pyproject.toml"), "--check", "--diff", "-q",
                           *map(str, paths)], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_python_package_is_formatted_by_black(tmp_path):
    done = black(*FORMATTED)
    assert done.returncode == 0, done.stdout
    (tmp_path / "a.py").write_text("x = {  'a':1 }\n")
    assert black(tmp_path / "a.py").returncode == 1


def test_the_lines_of_the_python_package_have_at_most_100_columns():
    files = [file for name in FORMATTED for file in (sorted((TOP / name).rglob("*.py")) or [TOP / name])]
    assert len(files) > 30
    assert not ["%s:%d" % (file, number) for file in files for number, line in enumerate(file.read_text().splitlines(), 1)
                if len(line) > 100]


@pytest.mark.parametrize("script", SHELL, ids=lambda path: path.name)
def test_scripts_can_be_executed(script):
    assert script.stat().st_mode & 0o111


def test_every_package_has_its_reason():
    done = subprocess.run([str(TOP / "script" / "setup"), "--list"], stdout=subprocess.PIPE,
                          text=True, check=True)
    rows = [line.split(None, 1) for line in done.stdout.splitlines()]
    assert len(rows) > 20
    assert all(len(row) == 2 and row[1].strip() for row in rows)


# what a test program printed and ended with, and what that counts as
TAP = [
    ("all pass", "1..2\nok 1 - a\nok 2 - b\n", 0, (2, 0)),
    ("one fails", "1..2\nok 1 - a\nnot ok 2 - b\n", 1, (1, 1)),
    ("a skipped test is a failed one", "1..2\nok 1 - a\nok 2 # SKIP no reason\n", 0, (1, 1)),
    ("it died before the rest", "1..3\nok 1 - a\n", -11, (1, 2)),
    ("all pass and yet it failed (a leak)", "1..1\nok 1 - a\n", 23, (1, 1)),
    ("it says nothing and succeeds", "", 0, (1, 0)),
    ("it says nothing and fails", "", 1, (0, 1)),
    ("two groups", "1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n", 0, (3, 0)),
    ("a plan and no result", "1..4\n", 0, (0, 4)),
]


@pytest.mark.parametrize("output, code, counts", [pytest.param(*row[1:], id=row[0])
                                                  for row in TAP])
def test_results_of_c_tests_are_counted(output, code, counts):
    assert run_tests.count_tap(output, code) == counts


def test_results_of_pytest_are_counted(tmp_path):
    (tmp_path / "test_x.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert False\n"
        "@pytest.mark.skip\n"
        "def test_skipped(): pass\n")
    report = tmp_path / "r.xml"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           "--junitxml", str(report), str(tmp_path)], stdout=subprocess.PIPE)
    assert run_tests.count_junit(str(report), done.returncode) == (1, 2)


def test_a_missing_report_is_a_failure(tmp_path):
    assert run_tests.count_junit(str(tmp_path / "none.xml"), 0) == (0, 1)


def test_an_unknown_option_runs_nothing(capsys):
    assert run_tests.main(["--every"]) == 2 and run_tests.main(["--help"]) == 0
    assert capsys.readouterr().out == 2 * (run_tests.USAGE + "\n")
