# SPDX-License-Identifier: Apache-2.0
"""The demo does what it says: a series made here, through the real program, beside GNU patch;
and it says so when something is wrong."""

import os
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib"), str(TOP / "test" / "corpus")]

import debian_series  # noqa: E402
import picture  # noqa: E402
from hasp_tool import HASP, Hasp  # noqa: E402
from series_run import Count, SeriesRun, compare  # noqa: E402

LINES = "".join("line %d\n" % i for i in range(40))

SERIES = [
    ("change.patch", "--- a/text\n+++ b/text\n@@ -4,3 +4,3 @@\n line 3\n-line 4\n+LINE 4\n line 5\n"
     "@@ -30,4 +30,5 @@\n line 29\n line 30\n+between\n line 31\n line 32\n"),
    ("again.patch", "--- a/text\n+++ b/text\n@@ -4,3 +4,3 @@\n line 3\n-LINE 4\n+Line 4\n line 5\n"),
    ("offset.patch", "--- a/text\n+++ b/text\n@@ -12,3 +12,3 @@\n line 19\n-line 20\n+TWENTY\n line 21\n"),
    ("create.patch", "--- /dev/null\n+++ b/new/folder/file\n@@ -0,0 +1,2 @@\n+one\n+two\n"),
    ("newline.patch", "--- a/tail\n+++ b/tail\n@@ -1,2 +1,2 @@\n first\n-last\n"
     "\\ No newline at end of file\n+last\n"),
    ("remove.patch", "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-away\n"),
    ("empty.patch", "--- a/emptied\n+++ b/emptied\n@@ -1 +0,0 @@\n-away\n"),
    ("git.patch", "diff --git a/old/name b/other/name\nsimilarity index 90%\nrename from old/name\n"
     "rename to other/name\n--- a/old/name\n+++ b/other/name\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"
     "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
     "--- a/run\n+++ b/run\n@@ -1 +1 @@\n-#!/bin/sh\n+#!/bin/bash\n"),
]

FILES = {"text": LINES, "tail": "first\nlast", "gone": "away\n", "emptied": "away\n",
         "old/name": "a\nb\n", "run": "#!/bin/sh\n", "untouched": "same\r\n"}


@pytest.fixture
def source(tmp_path):
    orig = tmp_path / "orig"
    for name, text in FILES.items():
        (orig / name).parent.mkdir(parents=True, exist_ok=True)
        (orig / name).write_bytes(text.encode())
    patches = orig / "debian" / "patches"
    patches.mkdir(parents=True)
    for name, text in SERIES:
        (patches / name).write_text("Description: a test\n\n" + text)
    (patches / "series").write_text("".join(name + "\n" for name, _ in SERIES))
    return debian_series.Source("made", "1", orig, debian_series._read_series(orig))


def apply(source, tree, hasp=None):
    subprocess.run(["cp", "-a", str(source.orig), str(tree)], check=True)
    count = Count()
    run = SeriesRun(hasp or Hasp(tree), tree, count, debian_series.target_name)
    for patch in source.series:
        for part in debian_series.split(patch.read(), patch.strip):
            run.part(patch, part)
    return count


def test_a_series_ends_in_the_tree_that_gnu_patch_makes(source, tmp_path):
    count = apply(source, tmp_path / "tree")
    debian_series.reference(source, tmp_path / "reference")
    compare(tmp_path / "tree", tmp_path / "reference", count)
    assert (count.troubles, count.refused, count.mismatches) == ([], 0, 0)
    assert (count.created, count.deleted, count.moved, count.modes) == (1, 2, 1, 1)
    assert count.files == 9 and count.hunks == 10
    assert (tmp_path / "tree" / "text").read_text() == LINES.replace(
        "line 4\n", "Line 4\n").replace("line 30\n", "line 30\nbetween\n").replace(
        "line 20\n", "TWENTY\n")
    assert not (tmp_path / "tree" / "emptied").exists()


def test_a_changed_file_in_between_is_refused_and_seen(source, tmp_path):
    class Meddler(Hasp):
        """Somebody writes to the file between two steps."""

        def call(self, name, **arguments):
            if name == "safe_patch" and "TWENTY" in arguments["unified_diff"]:
                with open(tmp_path / "tree" / "text", "a") as text:
                    text.write("meddled\n")
            return super().call(name, **arguments)

    count = apply(source, tmp_path / "tree", Meddler(tmp_path / "tree"))
    debian_series.reference(source, tmp_path / "reference")
    compare(tmp_path / "tree", tmp_path / "reference", count)
    assert count.refused == 1 and count.mismatches == 1
    assert "state_mismatch" in count.troubles[0]


@pytest.mark.parametrize("spoil, why", [
    (lambda tree: (tree / "text").write_text("x"), "other bytes"),
    (lambda tree: (tree / "extra").write_text("x"), "only in one tree"),
    (lambda tree: (tree / "text").unlink(), "only in one tree"),
    (lambda tree: (tree / "text").chmod(0o755), "mode 755, not 644"),
    (lambda tree: ((tree / "text").unlink(), (tree / "text").symlink_to("run")),
     "another type of file"),
], ids=["bytes", "an extra file", "a missing file", "a mode", "a link"])
def test_trees_that_differ_are_told_apart(source, tmp_path, spoil, why):
    for name in ("one", "two"):
        subprocess.run(["cp", "-a", str(source.orig), str(tmp_path / name)], check=True)
    os.chmod(tmp_path / "two" / "text", 0o644)
    os.chmod(tmp_path / "one" / "text", 0o644)
    spoil(tmp_path / "one")
    count = Count()
    compare(tmp_path / "one", tmp_path / "two", count)
    assert count.mismatches == 1 and why in count.troubles[0]


def run_demo(*arguments, **env):
    return subprocess.run([sys.executable, str(TOP / "script" / "lib" / "demo.py"), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "HASP": HASP, **env})


def test_the_readable_part_goes_as_told():
    done = run_demo("--scenes")
    assert done.returncode == 0, done.stdout
    for words in ("state_mismatch", "its header said 112", "ambiguous_diff", "candidate: line 7"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout


def test_the_demo_fails_without_a_program(tmp_path):
    done = run_demo("--scenes", HASP=str(tmp_path / "none"))
    assert done.returncode == 1


def test_the_demo_fails_when_the_program_does_nothing(tmp_path):
    liar = tmp_path / "liar"
    liar.write_text('#!/bin/sh\necho \'{"success": true, "message": "", "version": 1, '
                    '"sha256": "0", "total_lines": 1, "latest_file_state": {"sha256": "0"}}\'\n')
    liar.chmod(0o755)
    done = run_demo("--scenes", HASP=str(liar))
    assert done.returncode == 1 and "NOT as told" in done.stdout


def test_the_picture_of_a_coloured_text_is_well_formed():
    drawn = picture.draw(["\x1b[31;1m<red> & bold\x1b[0m plain", ""], "a <title>")
    document = xml.dom.minidom.parseString(drawn)
    spans = document.getElementsByTagName("tspan")
    assert [span.firstChild.data for span in spans] == ["<red> & bold", " plain"]
    assert spans[0].getAttribute("font-weight") == "bold"


def test_long_lines_of_a_picture_are_cut():
    assert "".join(text for text, _ in picture.runs(picture.cut("\x1b[2m" + "x" * 300))) == \
        "x" * picture.COLUMNS
