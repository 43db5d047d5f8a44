# SPDX-License-Identifier: Apache-2.0
"""The checker of claims (test/claims.py) can fail: each answer here is true, and false once a claim is changed.

HASP names the program.
"""

import copy
import hashlib
import json
import os
import subprocess
from pathlib import Path

import claims
import pytest

ROOT = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP", str(ROOT / "build" / "hasp"))
FILE = "one\ntwo\nthree\nfour\ntwo\nlast"
SUM = hashlib.sha256(FILE.encode()).hexdigest()


def patch(diff, **more):
    return "safe_patch", {"file_path": "f", "base_content_sha256": SUM, "unified_diff": diff, **more}


def update(old, new, **more):
    return "update_file", {"file_path": "f", "old_content": old, "new_content": new, **more}


CALLS = {
    "patch": patch("@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n@@ -4,2 +4,3 @@\n four\n two\n+more\n", return_content="diff"),
    "dry": patch("@@ -1 +1 @@\n-one\n+ONE\n", dry_run=True),
    "append": patch("@@ -5,2 +5,3 @@\n two\n last\n+more\n"),
    "already": patch("@@ -1,3 +1,3 @@\n one thing more\n-a second line\n+another second line\n three\n"),
    "mismatch": ("safe_patch", {"file_path": "f", "base_content_sha256": "0" * 64, "unified_diff": "@@\n-one\n+x\n"}),
    "no match": patch("@@ -1,2 +1,2 @@\n one\n-twice\n+TWO\n@@ -3,2 +3,2 @@\n three\n-for\n+4\n"),
    "update": update("three", "THREE"),
    "all": update("two", "TWO", allow_multiple=True),
    "many": update("two", "TWO"),
    "none": update("three\nfive\n", "x\n"),
    "write": ("write_file", {"file_path": "f", "content": "new\n", "base_content_sha256": SUM}),
    "create": ("write_file", {"file_path": "new", "content": "new\n"}),
    "changes": ("apply_changes", {"changes": [{"kind": "delete", "file_path": "f", "base_content_sha256": SUM},
                                              {"kind": "create", "file_path": "new", "content": "x\n"}]}),
    "read": ("read_file", {"file_path": "f", "max_lines": 2}),
    "cut": ("read_file", {"file_path": "f", "max_line_chars": 2}),
    "absent": ("read_file", {"file_path": "nothing"}),
}

# A true answer's member, and what is false in its place (a function of the answer, or a value).
FALSE = [
    ("patch", "lines_added", 3), ("patch", "lines_removed", 0), ("patch", "hunks.0.added", 2),
    ("patch", "hunks.0.line", 2), ("patch", "hunks.1.stated_line", 5), ("patch", "hunks.0.stated_line", None),
    ("patch", "hunks.0.settled_by", "guess"), ("patch", "latest_file_state.sha256", "0" * 64),
    ("patch", "already_applied", True), ("patch", "success", False), ("patch", "created", True),
    ("patch", "message", "No change was needed: nothing was written."), ("patch", "hunks.0.line", 77),
    ("dry", "dry_run", False), ("append", "hunks.0.added", 1), ("append", "lines_added", 1),
    ("already", "already_applied", None), ("already", "message", "Patch applied successfully."),
    ("already", "lines_added", 1),
    ("mismatch", "error.code", "no_match;already"), ("mismatch", "success", True),
    ("mismatch", "message", "State Mismatch: f does not exist."),
    ("no match", "error.found", "three"), ("no match", "error.found_line", 3), ("no match", "error.expected", "never"),
    ("no match", "error.failed_hunks.1.found_line", 1), ("no match", "error.failed_hunks.1.hunk", 1),
    ("no match", "error.failed_hunks_total", 1), ("no match", "error.hunk", 7),
    ("no match", "message", "Patch applied successfully."), ("no match", "error.candidates.0.line", 70),
    ("update", "replaced", 2), ("update", "lines_added", 7), ("all", "replaced", 1),
    ("many", "error.matches", 0), ("many", "error.match_lines.0", 4), ("none", "error.candidates.0.lines_equal", 2),
    ("none", "error.matches", 1),
    ("write", "latest_file_state.content", "other\n"), ("create", "already_applied", True),
    ("changes", "changes.0.success", False), ("changes", "success", False),
    ("read", "sha256", "0" * 64), ("read", "total_lines", 5), ("read", "content", "one\n"), ("read", "end_line", 3),
    ("read", "success", None), ("cut", "cut_column", 1), ("cut", "cut_line", 99), ("absent", "file_path", None),
]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "f").write_text(FILE)
    return tmp_path


def make(place, name):
    """(tool, arguments, answer, what was there before)"""
    tool, arguments = CALLS[name]
    if name == "already":
        (place / "f").write_text("one thing more\nanother second line\nthree\nfour\n")
        arguments = {**arguments, "base_content_sha256": hashlib.sha256((place / "f").read_bytes()).hexdigest()}
    before = claims.look(place, tool, arguments)
    done = subprocess.run([HASP, "tool", "--root", str(place), tool, "-"], input=json.dumps(arguments).encode(),
                          capture_output=True, cwd=place, env={**os.environ, "HOME": str(place)})
    return tool, arguments, json.loads(done.stdout), before


def put(answer, path, value):
    *way, last = path.split(".")
    for word in way:
        answer = answer[int(word) if word.isdigit() else word]
    if value is None and not last.isdigit() and last != "stated_line":
        answer.pop(last, None)
    else:
        answer[int(last) if last.isdigit() else last] = value


@pytest.mark.parametrize("name", CALLS)
def test_a_true_answer_is_taken_and_was_looked_at(place, name):
    counted = dict(claims.checked)
    tool, arguments, answer, before = make(place, name)
    claims.check(tool, arguments, answer, before, place)
    kind = "reads" if tool == "read_file" else "edits"
    assert claims.checked[kind] >= counted[kind] + 2  # subprocess.run is watched, too


@pytest.mark.parametrize("name, path, value", [pytest.param(*row, id="%s-%s-%s" % (row[0], row[1], i))
                                               for i, row in enumerate(FALSE)])
def test_a_false_claim_is_found(place, name, path, value):
    tool, arguments, answer, before = make(place, name)
    false = copy.deepcopy(answer)
    if path == "error.code" and value.endswith(";already"):
        false["already_applied"], value = True, "no_match"
    if (name, path) == ("absent", "file_path"):
        before = {arguments["file_path"]: b"it is there"}
    put(false, path, value)
    with pytest.raises((AssertionError, KeyError, IndexError)):
        claims.check(tool, arguments, false, before, place)


@pytest.mark.parametrize("name, bytes_before", [("update", b"other\n"), ("no match", b"x"), ("dry", b"one\n")])
def test_bytes_that_changed_unsaid_are_found(place, name, bytes_before):
    tool, arguments, answer, before = make(place, name)
    if name == "update":
        (place / "f").write_bytes(FILE.encode())  # as if nothing had been written
    else:
        before = {"f": bytes_before}
    with pytest.raises(AssertionError):
        claims.check(tool, arguments, answer, before, place)


def test_results_within_other_answers_are_found(place):
    answer = make(place, "patch")[2]
    answer["lines_added"] = 9
    with pytest.raises(AssertionError):
        claims.check_alone({"contents": [{"parts": [{"text": json.dumps(answer)}]}]})
