# SPDX-License-Identifier: Apache-2.0
"""Folders outside the workspace that file tools can read and never write (--read), at both levels of the sandbox.

HASP names the program.
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

HASP = os.environ.get("HASP", str(Path(__file__).resolve().parents[2] / "build" / "hasp"))
LEVELS = ("full", "landlock")


@pytest.fixture
def place(tmp_path):
    """work/ is the workspace, more/ a folder beside it, with links that lead out of both."""
    for name in ("work", "more/sub", "out", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/w.txt").write_text("needle work\n")
    (tmp_path / "more/a.txt").write_text("needle more\n")
    (tmp_path / "more/sub/b.c").write_text("int needle;\n")
    (tmp_path / "out/secret.txt").write_text("needle out\n")
    (tmp_path / "home/.ssh/id_rsa").write_text("needle key\n")
    (tmp_path / "more/link.txt").symlink_to("../out/secret.txt")
    (tmp_path / "more/away").symlink_to(tmp_path / "out")
    (tmp_path / "more/back.txt").symlink_to(tmp_path / "work/w.txt")
    (tmp_path / "work/in.txt").symlink_to(tmp_path / "more/a.txt")
    (tmp_path / "way").symlink_to("more")
    return tmp_path


def tool(place, level, name, arguments, read="more"):
    flags = ["--sandbox", level] + (["--read", str(place / read)] if read else [])
    done = subprocess.run([HASP, "tool", *flags, name, "-"], input=json.dumps(arguments), text=True,
                          capture_output=True, cwd=place / "work", env=dict(os.environ, HOME=str(place / "home")))
    return json.loads(done.stdout)


def snapshot(place):
    return {str(path): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_text()
            for path in sorted(place.rglob("*")) if "home" not in path.parts}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("level", LEVELS)
def test_every_reader_reads_there(place, level):
    more = place / "more"
    assert tool(place, level, "read_file", {"file_path": str(more / "a.txt")})["content"] == "needle more\n"
    assert tool(place, level, "read_file", {"file_path": "in.txt"})["file_path"] == str(more / "a.txt")
    assert tool(place, level, "read_file", {"file_path": str(more / "back.txt")})["content"] == "needle work\n"
    many = tool(place, level, "read_many_files", {"paths": [str(more) + "/**/*.c", str(more / "a.txt")]})
    assert sorted(one["file_path"] for one in many) == [str(more / "a.txt"), str(more / "sub/b.c")]
    found = tool(place, level, "search_files", {"pattern": "needle", "path": str(more), "output": "files"})
    assert sorted(found["files"]) == [str(more / "a.txt"), str(more / "sub/b.c")]
    assert tool(place, level, "glob", {"patterns": [str(more) + "/**/*.c"]})["files"] == [str(more / "sub/b.c")]
    names = {entry["name"] for entry in tool(place, level, "list_directory", {"path": str(more)})["entries"]}
    assert {"sub", "a.txt"} <= names


@pytest.mark.parametrize("level", LEVELS)
def test_it_is_no_folder_of_the_workspace(place, level):
    """Calls that name no path look in the workspace alone."""
    found = tool(place, level, "search_files", {"pattern": "needle", "output": "files"})
    assert found["files"] == ["w.txt"] and "roots" not in found
    assert tool(place, level, "glob", {"patterns": ["**/*.c"]})["files"] == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", ["more/link.txt", "more/away/secret.txt", "more/../out/secret.txt", "out/secret.txt"])
def test_nothing_leads_out_of_it(place, level, path):
    for name, arguments in (("read_file", {"file_path": "%s/%s" % (place, path)}),
                            ("search_files", {"pattern": "needle", "path": "%s/%s" % (place, path)})):
        answer = tool(place, level, name, arguments)
        assert answer["error"]["code"] == "outside_workspace" and "needle out" not in json.dumps(answer)
    walked = tool(place, level, "search_files", {"pattern": "needle", "path": str(place / "more"), "output": "lines"})
    assert "needle out" not in json.dumps(walked)


@pytest.mark.parametrize("level", LEVELS + ("paths",))
def test_nothing_is_written_there(place, level):
    more = str(place / "more")
    base = {"base_content_sha256": digest(place / "more/a.txt")}
    work = {"base_content_sha256": digest(place / "work/w.txt")}
    before = snapshot(place)
    for name, arguments in (
            ("write_file", {"file_path": more + "/new.txt", "content": "x\n"}),
            ("write_file", {"file_path": more + "/new/deep.txt", "content": "x\n"}),
            ("write_file", {"file_path": more + "/a.txt", "content": "x\n", **base}),
            ("write_file", {"file_path": "in.txt", "content": "x\n", **base}),
            ("update_file", {"file_path": more + "/a.txt", "old_content": "needle", "new_content": "x"}),
            ("safe_patch", {"file_path": more + "/a.txt", "unified_diff": "@@\n-needle more\n+x\n", **base}),
            ("apply_changes", {"changes": [{"kind": "delete", "file_path": more + "/a.txt", **base}]}),
            ("apply_changes", {"changes": [{"kind": "move", "file_path": "w.txt", "new_path": more + "/w.txt", **work}]}),
            ("apply_changes", {"changes": [{"kind": "move", "file_path": more + "/a.txt", "new_path": "m.txt", **base}]}),
            ("apply_changes", {"changes": [{"kind": "create", "file_path": "new.txt", "content": "x\n"},
                                           {"kind": "create", "file_path": more + "/n.txt", "content": "x\n"}]})):
        answer = tool(place, level, name, arguments)
        assert answer["success"] is False and answer["error"]["code"] == "denied_by_sandbox", (name, answer)
        assert "can only be read" in answer["message"] and "--include-directories" in answer["message"]
        assert snapshot(place) == before, name
    # What leads back into the workspace is the workspace's.
    assert tool(place, level, "write_file", {"file_path": more + "/back.txt", "content": "y\n", **work})["success"]


@pytest.mark.parametrize("level", LEVELS)
def test_the_kernel_refuses_a_write_there_as_well(place, level):
    """The plan of the files' worker, which a command has too."""
    answer = tool(place, level, "run_shell_command", {"command": "cat %s/more/a.txt; echo x > %s/more/new" % (place, place)})
    assert "needle more" in answer["output"] and answer["exit_code"] != 0
    assert answer["denials"][0]["kind"] == "write" and not (place / "more/new").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_hidden_in_it_stays_hidden(place, level):
    key = {"file_path": str(place / "home/.ssh/id_rsa")}
    assert tool(place, level, "read_file", key, read="home")["error"]["code"] == "denied_by_sandbox"
    found = tool(place, level, "search_files", {"pattern": "needle", "path": str(place / "home"), "hidden": True}, read="home")
    assert "id_rsa" not in json.dumps(found)
    assert tool(place, level, "read_file", key, read="home/.ssh")["content"] == "needle key\n"


def test_a_folder_by_its_other_name_a_file_and_nothing(place):
    assert tool(place, "full", "read_file", {"file_path": str(place / "way/a.txt")}, read="way")["content"] == "needle more\n"
    for read in ("more/a.txt", "absent", None):
        answer = tool(place, "full", "read_file", {"file_path": str(place / "more/a.txt")}, read=read)
        assert answer["error"]["code"] == "outside_workspace"


def test_the_workspace_in_it_can_be_written(place):
    answer = tool(place, "full", "write_file", {"file_path": str(place / "work/n.txt"), "content": "x\n"}, read=".")
    assert answer["success"], answer
    assert tool(place, "full", "read_file", {"file_path": str(place / "out/secret.txt")}, read=".")["content"] == "needle out\n"
