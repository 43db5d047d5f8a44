# SPDX-License-Identifier: Apache-2.0
"""Workspaces of several folders, and such as were named by a way through a link, with every tool.

HASP names the program.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

HASP = os.environ.get("HASP", str(Path(__file__).resolve().parents[2] / "build" / "hasp"))


@pytest.fixture
def place(tmp_path):
    """one/ and two/ are folders, link -> one, nested -> two/deep is a folder in a root."""
    for name in ("one/sub", "two/deep", "home"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "one/sub/n.txt").write_text("needle one\n")
    (tmp_path / "two/n.txt").write_text("needle two\n")
    (tmp_path / "two/deep/d.txt").write_text("needle deep\n")
    (tmp_path / "outside.txt").write_text("needle outside\n")
    (tmp_path / "link").symlink_to("one")
    return tmp_path


def tool(place, roots, name, arguments, cwd=None, pwd=None):
    flags = [word for root in roots for word in ("--root", str(root))]
    env = dict(os.environ, HOME=str(place / "home"), PWD=str(pwd or cwd or place))
    done = subprocess.run([HASP, "tool", *flags, name, "-"], input=json.dumps(arguments),
                          text=True, capture_output=True, cwd=cwd or place, env=env)
    return json.loads(done.stdout)


# ---- reached by a link ------------------------------------------------------------------

CALLS = [
    ("read_file", {"file_path": "{}/sub/n.txt"}),
    ("read_many_files", {"paths": ["{}/sub/n.txt"]}),
    ("read_many_files", {"paths": ["{}/sub/*.txt"]}),
    ("write_file", {"file_path": "{}/sub/new.txt", "content": "x\n"}),
    ("update_file", {"file_path": "{}/sub/n.txt", "old_content": "needle", "new_content": "pin"}),
    ("apply_changes", {"changes": [{"kind": "create", "file_path": "{}/c.txt", "content": "x\n"}]}),
    ("list_directory", {"path": "{}/sub"}),
    ("glob", {"patterns": ["*.txt"], "path": "{}/sub"}),
    ("glob", {"patterns": ["{}/sub/*.txt"]}),
    ("search_files", {"pattern": "needle", "path": "{}/sub"}),
    ("run_shell_command", {"command": "cat n.txt", "dir_path": "{}/sub"}),
]


def fill(arguments, root):
    return json.loads(json.dumps(arguments).replace("{}", str(root)))


def assert_reached(name, answer):
    first = answer[0] if isinstance(answer, list) else answer
    assert "error" not in first, (name, first)
    assert first.get("files") != []


@pytest.mark.parametrize("name, arguments", CALLS, ids=[
    "%s-%d" % (call[0], i) for i, call in enumerate(CALLS)])
def test_a_root_is_reached_by_the_spelling_it_was_given(place, name, arguments):
    assert_reached(name, tool(place, [place / "link"], name, fill(arguments, place / "link")))


@pytest.mark.parametrize("name, arguments", CALLS, ids=[
    "%s-%d" % (call[0], i) for i, call in enumerate(CALLS)])
def test_the_current_folder_is_reached_by_the_shells_spelling(place, name, arguments):
    assert_reached(name, tool(place, [], name, fill(arguments, place / "link"),
                              cwd=place / "one", pwd=place / "link"))


def test_a_further_root_has_its_spelling_too(place):
    answer = tool(place, [place / "two", place / "link"], "read_file",
                  {"file_path": str(place / "link/sub/n.txt")})
    assert answer["content"] == "needle one\n"


def test_a_relative_root_has_its_absolute_spellings(place):
    for spelling in (place / "link", place / "one"):
        answer = tool(place, ["link"], "read_file", {"file_path": str(spelling / "sub/n.txt")})
        assert answer["content"] == "needle one\n"


@pytest.mark.parametrize("path", ["link/../outside.txt", "link/../two/n.txt", "linker/n.txt",
                                  "link/sub/out", "outside.txt"])
def test_no_more_than_the_root_is_reached_by_a_spelling(place, path):
    (place / "linker").mkdir()
    (place / "linker/n.txt").write_text("x\n")
    (place / "one/sub/out").symlink_to(place / "outside.txt")
    answer = tool(place, [place / "link"], "read_file", {"file_path": str(place / path)})
    assert answer["error"]["code"] == "outside_workspace"


def test_a_wrong_pwd_names_nothing(place):
    answer = tool(place, [], "read_file", {"file_path": str(place / "two/n.txt")},
                  cwd=place / "one", pwd=place / "two")
    assert answer["error"]["code"] == "outside_workspace"


# ---- several folders --------------------------------------------------------------------

def test_a_search_looks_in_all_roots(place):
    roots = [place / "one", place / "two"]
    answer = tool(place, roots, "search_files", {"pattern": "needle"})
    assert answer["roots"] == [str(root) for root in roots]
    assert [file["file_path"] for file in answer["files"]] == [
        "sub/n.txt", str(place / "two/deep/d.txt"), str(place / "two/n.txt")]
    assert answer["matches"] == 3 and answer["searched"] == 3 and answer["more"] is False


def test_the_limits_are_those_of_all_roots_together(place):
    roots = [place / "one", place / "two"]
    for most, more in ((1, True), (2, True), (3, False)):
        for output in ("lines", "files", "counts"):
            answer = tool(place, roots, "search_files",
                          {"pattern": "needle", "max_results": most, "output": output})
            assert len(answer["files"]) == most and answer["more"] is more
        answer = tool(place, roots, "glob", {"patterns": ["**/*.txt"], "max_results": most,
                                             "order": "name"})
        assert len(answer["files"]) == most and answer["more"] is more


def test_a_path_is_looked_in_alone(place):
    roots = [place / "one", place / "two"]
    for path, count in ((".", 1), (str(place / "two"), 2)):
        answer = tool(place, roots, "search_files", {"pattern": "needle", "path": path})
        assert len(answer["files"]) == count and "roots" not in answer


def test_one_root_is_not_named(place):
    answer = tool(place, [place / "one"], "search_files", {"pattern": "needle"})
    assert "roots" not in answer and len(answer["files"]) == 1


def test_a_root_in_a_root_is_found_once(place):
    roots = [place / "two", place / "two/deep"]
    answer = tool(place, roots, "search_files", {"pattern": "needle"})
    assert [file["file_path"] for file in answer["files"]] == ["deep/d.txt", "n.txt"]
    answer = tool(place, roots, "glob", {"patterns": ["**/*.txt"], "order": "name"})
    assert answer["files"] == ["deep/d.txt", "n.txt"]


def test_a_root_in_a_root_that_ignores_it_is_searched(place):
    (place / "two/.gitignore").write_text("deep/\n")
    (place / "two/.git").mkdir()
    answer = tool(place, [place / "two", place / "two/deep"], "search_files",
                  {"pattern": "needle", "output": "files"})
    assert sorted(answer["files"]) == ["deep/d.txt", "n.txt"]


def test_names_that_are_no_text_are_told_apart_in_a_root_in_a_root(place):
    """a\\xe9 in six characters, and the two bytes that are shown so."""
    deep = place / "two/deep"
    (deep / "a\\xe9").write_text("needle\n")
    with open(os.path.join(os.fsencode(deep), b"a\xe9"), "wb") as file:
        file.write(b"needle\n")
    (place / "two/.gitignore").write_bytes(b"/deep/a\xe9\n")
    for roots in ([place / "two", deep], [place / "two", place / "one", deep]):
        for name, arguments in (("glob", {"patterns": ["**/a*"]}),
                                ("search_files", {"pattern": "needle", "output": "files"})):
            answer = tool(place, roots, name, arguments)
            assert {"deep/a\\x5cxe9", "deep/a\\xe9"} <= set(answer["files"]), (name, answer)


def test_globs_look_in_all_roots(place):
    roots = [place / "one", place / "two"]
    answer = tool(place, roots, "glob", {"patterns": ["**/*.txt"], "order": "name",
                                         "with_hashes": True})
    assert answer["roots"] == [str(root) for root in roots]
    assert [file["file_path"] for file in answer["files"]] == [
        "sub/n.txt", str(place / "two/deep/d.txt"), str(place / "two/n.txt")]
    assert all(file["sha256"] for file in answer["files"])
    answer = tool(place, roots, "glob", {"patterns": [str(place / "two/*.txt")]})
    assert answer["files"] == [str(place / "two/n.txt")]


def test_files_found_can_be_read_as_they_are_named(place):
    roots = [place / "one", place / "two"]
    found = tool(place, roots, "search_files", {"pattern": "needle", "output": "files"})["files"]
    answers = tool(place, roots, "read_many_files", {"paths": found})
    assert [answer["content"][:6] for answer in answers] == ["needle"] * 3


def test_globs_of_read_many_files_look_in_all_roots(place):
    answers = tool(place, [place / "one", place / "two"], "read_many_files",
                   {"paths": ["**/*.txt"]})
    assert sorted(answer["content"] for answer in answers) == [
        "needle deep\n", "needle one\n", "needle two\n"]


def test_a_listing_needs_no_path(place):
    answer = tool(place, [place / "one"], "list_directory", {})
    assert answer["path"] == str(place / "one") and "others" not in answer
    answer = tool(place, [place / "one", place / "two"], "list_directory", {})
    assert answer["path"] == str(place / "one")
    (other,) = answer["others"]
    assert other["path"] == str(place / "two")
    assert [entry["name"] for entry in other["entries"]] == ["deep", "n.txt"]
