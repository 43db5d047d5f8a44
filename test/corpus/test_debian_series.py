# SPDX-License-Identifier: Apache-2.0
"""Taking patches apart, and turning the system's apt sources into source entries."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import debian_series as series  # noqa: E402

HUNK = b"@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"


def names(patch, strip=1):
    return [(d.old, d.new, d.hunks) for d in series.split(patch, strip)]


def test_a_patch_is_split_at_its_files():
    patch = b"From: x\n\n--- a/p\n+++ b/p\n" + HUNK + b"--- a/q/r\n+++ b/q/r\n" + HUNK * 2
    assert names(patch) == [("p", "p", 1), ("q/r", "q/r", 2)]
    assert series.file_diffs(patch)[0] == ("p", "p", b"--- a/p\n+++ b/p\n" + HUNK)


def test_a_removed_line_that_looks_like_a_header_stays_in_its_hunk():
    hunk = b"@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n one\n"
    assert names(b"--- a/p\n+++ b/p\n" + hunk) == [("p", "p", 1)]


def test_dev_null_and_the_epoch_mean_no_file():
    patch = b"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n" \
        b"--- a/o\t2020-01-01 00:00:00\n+++ b/o\t1970-01-01 00:00:00.000000000 +0000\n" \
        b"@@ -1 +0,0 @@\n-x\n"
    assert names(patch) == [(None, "n", 1), ("o", None, 1)]


def test_a_signature_and_descriptions_are_left_out():
    patch = b"Subject: y\n---\n p | 2 +-\n\n--- a/p\n+++ b/p\n" + HUNK + b"-- \n2.39\n"
    assert series.file_diffs(patch) == [("p", "p", b"--- a/p\n+++ b/p\n" + HUNK)]


def test_a_missing_newline_marker_belongs_to_the_hunk():
    diff = b"--- a/p\n+++ b/p\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n"
    assert series.file_diffs(diff + b"tail\n") == [("p", "p", diff)]


def test_quoted_names_are_read_as_git_writes_them():
    patch = b'--- "a/t\\303\\244\\tb"\n+++ "b/t\\303\\244\\tb"\n' + HUNK
    assert names(patch) == [("t\u00e4\tb", "t\u00e4\tb", 1)]


def test_preludes_without_hunks_are_kept_with_their_notes():
    patch = b"diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n" \
        b"diff --git a/r b/r\nold mode 100644\nnew mode 100755\n"
    found = series.split(patch)
    assert [(d.old, d.new, d.diff) for d in found] == [("p", "q", b""), ("r", "r", b"")]
    assert found[1].notes == ("old mode 100644", "new mode 100755")


def test_carriage_returns_do_not_split_lines():
    patch = b"--- a/p\r\n+++ b/p\r\n@@ -1 +1 @@\r\n-x\ry\r\n+z\r\n"
    assert names(patch) == [("p", "p", 1)]
    assert series.file_diffs(patch)[0][2] == patch


@pytest.mark.parametrize("there, chosen", [(["old"], "old"), (["new"], "new"), ([], "new"),
                                           (["old", "new"], "new")])
def test_the_file_that_exists_is_the_one_that_is_meant(tmp_path, there, chosen):
    pair = {"old": "sub/file.orig", "new": "sub/file"}
    for name in there:
        (tmp_path / pair[name]).parent.mkdir(exist_ok=True)
        (tmp_path / pair[name]).write_text("x")
    assert series.target_name(tmp_path, pair["old"], pair["new"]) == pair[chosen]


def test_both_formats_of_apt_sources_become_source_entries(tmp_path):
    etc = tmp_path / "apt"
    (etc / "sources.list.d").mkdir(parents=True)
    (etc / "sources.list").write_text(
        "# deb http://x/debian a main\ndeb [signed-by=/k] http://x/debian stable main # y\n"
        "deb-src http://x/debian stable main\ndeb http://other.example/repo ./\n")
    (etc / "sources.list.d" / "d.sources").write_text(
        "Types: deb\nURIs: http://y/debian\nSuites: s\nComponents: main\nSigned-By: /k\n\n"
        "Types: deb\nEnabled: no\nURIs: http://z/debian\nSuites: s\nComponents: main\n\n"
        "Types: deb deb-src\n# note\nURIs: http://w/debian\nSuites: s\nComponents: main\n")
    home = tmp_path / "home"
    assert series.write_apt_sources(home, etc) == 3
    assert (home / "sources.d" / "series.list").read_text() == \
        "deb-src [signed-by=/k] http://x/debian stable main\n"
    text = (home / "sources.d" / "series.sources").read_text()
    assert text.count("Types: deb-src") == 2 and "http://z" not in text and "# note" not in text


def test_series_files_have_comments_and_options(tmp_path):
    folder = tmp_path / "debian" / "patches"
    folder.mkdir(parents=True)
    (folder / "series").write_text("# first\none.patch\n\nsub/two.patch -p0 # why\n")
    assert [(p.name, p.strip) for p in series._read_series(tmp_path)] == \
        [("one.patch", 1), ("sub/two.patch", 0)]
