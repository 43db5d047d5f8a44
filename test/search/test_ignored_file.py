# SPDX-License-Identifier: Apache-2.0
"""A file that ignore files of the user name is kept from who asks for it by name."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))
from hasp_tool import HASP, Hasp  # noqa: E402


@pytest.fixture
def root(tmp_path):
    for name in ("secret.txt", "open.txt", "kept.txt", "kept/in.txt", "private/deep/in.txt",
                 "sub/secret.txt", "sub/private/in.txt", "build/made.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name + "\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / ".geminiignore").write_text("secret.txt\n/private/\nkept*\n!kept.txt\n")
    (tmp_path / "link").symlink_to("secret.txt")
    (tmp_path / "folder").symlink_to("private")
    return tmp_path


def code(result):
    return result.get("error", {}).get("code")


@pytest.mark.parametrize("path", ["secret.txt", "sub/secret.txt", "private/deep/in.txt", "link",
                                  "folder/deep/in.txt", "kept/in.txt", "./sub/../secret.txt"])
def test_what_geminiignore_names_is_not_read(root, path):
    hasp = Hasp(root)
    for name in (path, str(root / path)):
        result = hasp.call("read_file", file_path=name)
        assert code(result) == "ignored" and "content" not in result, (name, result)
        assert ".geminiignore" in result["message"]


@pytest.mark.parametrize("path", ["open.txt", "kept.txt", "sub/private/in.txt", "build/made.txt",
                                  ".geminiignore"])
def test_all_else_is(root, path):
    assert code(Hasp(root).call("read_file", file_path=path)) is None


def test_several_files(root):
    hasp = Hasp(root)
    files = hasp.call("read_many_files", paths=["open.txt", "secret.txt", "sub"])
    assert [code(file) for file in files] == [None, "ignored", None, "ignored"] and files[3]["left_out_count"] == 1
    assert files[2]["file_path"] == str(root / "sub/private/in.txt")
    files = hasp.call("read_many_files", paths=["secret.txt"], respect_gemini_ignore=False)
    assert files[0]["content"] == "secret.txt\n"


def test_a_missing_file_is_missing(root):
    assert code(Hasp(root).call("read_file", file_path="private/none.txt")) == "file_not_found"


def test_an_edit_names_what_it_knows(root):
    """Whoever has the hash has seen the file: editing it is not kept from them."""
    hasp = Hasp(root)
    state = hasp.call("read_many_files", paths=["secret.txt"], respect_gemini_ignore=False)[0]
    done = hasp.call("update_file", file_path="secret.txt", old_content="secret",
                     new_content="public", base_content_sha256=state["sha256"])
    assert done["success"], done


def test_the_second_root_has_its_own_rules(root, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "secret.txt").write_text("theirs\n")
    (other / "own.txt").write_text("theirs\n")
    (other / ".geminiignore").write_text("own.txt\n")

    def read(path):
        done = subprocess.run([HASP, "tool", "read_file", "--json", "--root", str(root), "--root",
                               str(other), "--arg", "file_path=%s" % path], capture_output=True)
        return code(json.loads(done.stdout))

    assert read(other / "secret.txt") is None and read(other / "own.txt") == "ignored"
