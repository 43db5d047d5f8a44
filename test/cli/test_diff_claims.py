# SPDX-License-Identifier: Apache-2.0
"""What a diff says beside its hunks is refused or reported, by every tool that takes a diff.

ROWS has each of git's extended header lines (git-diff's documentation), the file headers, and
those of the apply_patch format.  A row without a place in it is one that hasp drops silently.
"""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import HASP

CLAIMS = Path(__file__).resolve().parent.parent.parent / "src" / "patch" / "claims.c"

HUNK = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
GIT = "diff --git a/sub/x.c b/sub/x.c\n"
NAMES = "--- a/sub/x.c\n+++ b/sub/x.c\n"

# (the text before the hunk, what must come of it): a refusal's words, or a report's after "ok:".
ROWS = [
    (NAMES, "ok:"),
    (GIT + "index 0123456..89abcde 100644\n" + NAMES, "ok:"),
    (GIT + "similarity index 97%\n" + NAMES, "ok:"),
    (GIT + "dissimilarity index 40%\n" + NAMES, "ok:"),
    (GIT + "old mode 100755\nnew mode 100644\n" + NAMES, "ok:"),
    (GIT + "old mode 100644\nnew mode 100755\n" + NAMES, "ok:sets the mode 100755"),
    (GIT + "new file mode 100644\n--- /dev/null\n+++ b/sub/x.c\n", "ok:calls the file new"),
    ("--- /dev/null\n+++ b/sub/x.c\n", "ok:calls the file new"),
    (GIT + "deleted file mode 100644\n" + NAMES, "deletes"),
    ("--- a/sub/x.c\n+++ /dev/null\n", "deletes"),
    (GIT + "rename from sub/x.c\nrename to sub/y.c\n--- a/sub/x.c\n+++ b/sub/y.c\n",
     "renames sub/x.c to sub/y.c"),
    ("rename from sub/x.c\nrename to sub/y.c\n" + NAMES, "renames sub/x.c to sub/y.c"),
    (GIT + "copy from sub/x.c\ncopy to sub/y.c\n--- a/sub/x.c\n+++ b/sub/y.c\n",
     "copies sub/x.c to sub/y.c"),
    (GIT + "GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n" + NAMES, "binary"),
    ("Binary files a/sub/x.c and b/sub/x.c differ\n" + NAMES, "binary"),
    (GIT + "index 0123456..89abcde 160000\n" + NAMES, "submodule"),
    ("Submodule sub/x.c 0123456..89abcde:\n" + NAMES, "submodule"),
    (GIT + "new file mode 120000\n" + NAMES, "symbolic link"),
    (GIT + "index 0123456..89abcde 120000\n" + NAMES, "symbolic link"),
    ("--- a/some/other.py\n+++ b/some/other.py\n", "for some/other.py, but the call names sub/x.c"),
    ("+++ b/some/other.py\n", "for some/other.py, but the call names sub/x.c"),
    ("--- a/other.py\n", "for other.py, but the call names sub/x.c"),
    ("--- a/sub/x.c\n+++ b/sub/y.c\n", "ok:names sub/y.c"),
    ("--- a/far/x.c\n+++ b/far/x.c\n", "ok:names far/x.c"),
    ("--- x.c\n+++ x.c\n", "ok:"),
    ("--- old/sub/x.c\n+++ new/sub/x.c\n", "ok:"),
    ("--- /elsewhere/p/sub/x.c\n+++ /elsewhere/p/sub/x.c\n", "ok:"),
    ("--- sub/x.c.orig\t2024-01-01 10:00:00\n+++ sub/x.c\t2024-01-01 10:00:00\n", "ok:"),
    ("--- a/sub/x.c (original)\n+++ b/sub/x.c (modified)\n", "ok:"),
    ("--- original\n+++ modified\n", "ok:"),
    ("Index: sub/x.c\n" + 67 * "=" + "\n" + NAMES, "ok:"),
    ("*** Begin Patch\n*** Update File: sub/x.c\n", "ok:"),
    ("*** Begin Patch\n*** Update File: other.py\n", "for other.py, but the call names sub/x.c"),
    ("*** Begin Patch\n*** Update File: sub/x.c\n*** Move to: sub/y.c\n", "renames"),
    ("*** Begin Patch\n*** Delete File: sub/y.c\n*** Update File: sub/x.c\n", "deletes sub/y.c"),
    ("*** Begin Patch\n*** Add File: sub/y.c\n+new\n*** Update File: sub/x.c\n", "several files (sub/y.c and sub/x.c)"),
]
# After the hunk, where nothing of the file follows.
AFTER = [
    ("*** Delete File: sub/y.c\n*** End Patch\n", "deletes sub/y.c"),
    ("*** Add File: sub/y.c\n+new\n*** End Patch\n", "several files (sub/x.c and sub/y.c)"),
    ("diff --git a/y.c b/z.c\nrename from y.c\nrename to z.c\n", "renames y.c to z.c"),
    ("diff --git a/y.c b/y.c\ndeleted file mode 100644\nindex 0123456..0000000\n", "deletes"),
    ("diff --git a/y.png b/y.png\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n", "binary"),
    ("Binary files a/y.png and b/y.png differ\n", "binary"),
    ("diff --git a/y.sh b/y.sh\nold mode 100644\nnew mode 100755\n", "ok:sets the mode 100755"),
]


def call(folder, tool, diff):
    """The answer of one call on sub/x.c, and the file after."""
    file = folder / "sub" / "x.c"
    file.parent.mkdir(exist_ok=True)
    file.write_text("one\ntwo\nthree\n")
    change = {"file_path": "sub/x.c", "unified_diff": diff,
              "base_content_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    if tool == "apply_changes":
        change = {"changes": [dict(change, kind="patch")]}
    done = subprocess.run([HASP, "tool", tool, "-", "--json", "--root", str(folder)],
                          input=json.dumps(change), capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer["changes"][0] if tool == "apply_changes" else answer, file.read_text()


def judge(answer, text, expected):
    if expected.startswith("ok:"):
        assert answer["success"], answer["message"]
        assert text == "one\nTWO\nthree\n"
        if expected == "ok:":
            assert answer["message"] == "Patch applied successfully."
        else:
            assert expected[3:] in answer["message"]
            assert expected[3:] in answer["note"]
    else:
        assert not answer["success"], answer["message"]
        assert answer["error"]["code"] == "invalid_diff"
        assert expected in answer["message"]
        assert text == "one\ntwo\nthree\n"


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("tool", ["safe_patch", "apply_changes"])
@pytest.mark.parametrize("head,expected", ROWS)
def test_what_stands_before_the_hunks(tmp_path, tool, head, expected):
    judge(*call(tmp_path, tool, head + HUNK), expected)


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("tool", ["safe_patch", "apply_changes"])
@pytest.mark.parametrize("tail,expected", AFTER)
def test_what_stands_after_the_hunks(tmp_path, tool, tail, expected):
    judge(*call(tmp_path, tool, NAMES + HUNK + tail), expected)


@pytest.mark.parametrize("tool", ["safe_patch", "apply_changes"])
@pytest.mark.parametrize("head,words", [
    (GIT + "old mode 100644\nnew mode 100755\n", "the file mode 100755"),
    (GIT + "similarity index 100%\nrename from sub/x.c\nrename to y.c\n", "renames"),
    (GIT + "deleted file mode 100644\nindex 0123456..0000000\n", "deletes"),
])
def test_a_diff_of_nothing_else(tmp_path, tool, head, words):
    judge(*call(tmp_path, tool, head), words)


def test_a_file_added_in_the_apply_patch_format(tmp_path):
    diff = "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\n"
    done = subprocess.run([HASP, "tool", "safe_patch", "-", "--json", "--root", str(tmp_path)],
                          input=json.dumps({"file_path": "new.txt", "unified_diff": diff}),
                          capture_output=True, text=True)
    assert json.loads(done.stdout)["success"], done.stdout
    assert (tmp_path / "new.txt").read_text() == "one\ntwo\n"


def test_a_file_may_be_named_by_its_link(tmp_path):
    (tmp_path / "real.c").write_text("one\ntwo\nthree\n")
    (tmp_path / "link.c").symlink_to("real.c")
    for name in ("link.c", "real.c"):
        (tmp_path / "real.c").write_text("one\ntwo\nthree\n")
        diff = "--- a/%s\n+++ b/%s\n" % (name, name) + HUNK
        base = hashlib.sha256((tmp_path / "real.c").read_bytes()).hexdigest()
        done = subprocess.run([HASP, "tool", "safe_patch", "-", "--json", "--root", str(tmp_path)],
                              input=json.dumps({"file_path": "link.c", "unified_diff": diff,
                                                "base_content_sha256": base}),
                              capture_output=True, text=True)
        assert json.loads(done.stdout)["success"], done.stdout


def test_prose_is_no_header(tmp_path):
    prose = "rename from the old name to x\ncopy to clipboard\nsimilarity index is high\n"
    judge(*call(tmp_path, "safe_patch", prose + NAMES + HUNK), "ok:")


def test_every_line_that_the_program_knows_is_tried():
    known = re.findall(r'^\t\{ "([^"]+)", (?:NULL|"[^"]*"), CLAIM_', CLAIMS.read_text(), re.M)
    assert len(known) > 12
    tried = "".join(text for text, _ in ROWS + AFTER)
    for prefix in known:
        assert re.search("^" + re.escape(prefix), tried, re.M), prefix


@pytest.mark.skipif(not os.path.exists("/usr/bin/git"), reason="no git")
def test_every_extended_header_of_git_is_tried():
    """The words of git itself, from the program's own strings."""
    program = Path("/usr/bin/git").read_bytes()
    tried = "".join(text for text, _ in ROWS + AFTER)
    for words in ("old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ",
                  "copy to ", "rename from ", "rename to ", "similarity index ",
                  "dissimilarity index ", "index "):
        assert words.encode() in program
        assert re.search("^" + words, tried, re.M), words
