# SPDX-License-Identifier: Apache-2.0
"""`hasp worker` and the workers of `hasp tool`, from outside."""
import json
import os
import shlex
import subprocess

import pytest

pytestmark = pytest.mark.in_turn("level")

HASP = os.environ["HASP"]
LEVELS = ["full", "landlock", "paths"]


@pytest.fixture
def place(tmp_path):
    """A workspace and a home, which an ordinary user owns too."""
    for name in ("ws", "home", "other"):
        (tmp_path / name).mkdir()
    return tmp_path


def tool(place, name, arguments, *flags, user=None):
    command = [HASP, "tool", name, json.dumps(arguments), "--json", "--root", str(place / "ws"),
               *flags]
    env = dict(os.environ, HOME=str(place / "home"))
    for variable in ("GEMINI_CLI_HOME", "HASP_SANDBOX"):
        env.pop(variable, None)
    done = subprocess.run([*(user or []), *command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=env, cwd=place / "ws",
                          timeout=60)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("level", LEVELS)
def test_an_edit_that_the_plan_forbids_names_the_rule(place, level):
    git = place / "ws" / ".git"
    for folder in ("hooks", "objects", "refs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n")
    answer = tool(place, "write_file",
                  {"file_path": ".git/hooks/pre-commit", "content": "#!/bin/sh\n"},
                  "--sandbox", level)
    assert answer["success"] is False
    assert answer["error"]["code"] == "denied_by_sandbox"
    denial = answer["error"]["denial"]
    assert denial.items() >= {"kind": "write", "what": str(git / "hooks" / "pre-commit"),
                              "rule": str(git / "hooks"), "reason": "git", "level": level}.items()
    assert denial["message"] in answer["message"]
    assert not (git / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_hidden_files_are_neither_read_nor_found(place, level):
    (place / "ws" / "open.txt").write_text("token one\n")
    (place / "ws" / "secret.txt").write_text("token two\n")
    flags = ["--sandbox", level, "--deny", str(place / "ws" / "secret.txt")]
    answer = tool(place, "read_file", {"path": "secret.txt"}, *flags)
    assert answer["error"]["code"] == "denied_by_sandbox"
    found = tool(place, "search_files", {"pattern": "token"}, *flags)
    assert [file["file_path"] for file in found["files"]] == ["open.txt"]


CALLS = [
    ("read_file", {"path": "PATH"}),
    ("read_many_files", {"paths": ["PATH"]}),
    ("list_directory", {"path": "PATH"}),
    ("glob", {"pattern": "*", "path": "PATH"}),
    ("search_files", {"pattern": "x", "path": "PATH"}),
    ("safe_patch", {"file_path": "PATH", "unified_diff": "@@ -1 +1 @@\n-one\n+two\n"}),
    ("update_file", {"file_path": "PATH", "old_content": "one", "new_content": "two"}),
    ("apply_changes", {"changes": [{"kind": "write", "file_path": "fine", "content": "x"},
                                   {"kind": "delete", "file_path": "PATH"}]}),
]


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("name, arguments", CALLS, ids=[name for name, _ in CALLS])
def test_each_file_tool_hands_over_the_denial(place, name, arguments):
    """At full an ordinary user cannot even look into a hidden folder; a link leads there too."""
    hidden = place / "ws" / "hidden"
    (hidden / "deep").mkdir(parents=True)
    (hidden / "deep" / "file").write_text("one\n")
    (place / "ws" / "link").symlink_to("hidden")
    give_to_nobody(place)
    arguments = json.loads(json.dumps(arguments).replace("PATH", "link/deep/file"))
    answer = tool(place, name, arguments, "--sandbox", "full", "--deny", str(hidden),
                  user=nobody())
    for part in answer if isinstance(answer, list) else [answer, *answer.get("changes", [])[1:]]:
        denial = part["error"]["denial"]
        assert denial.pop("message") and denial.pop("how_to_allow")
        assert denial == {"kind": "read", "what": str(hidden / "deep" / "file"),
                          "rule": str(hidden), "reason": "deny", "level": "full"}
    assert not (place / "ws" / "fine").exists()


def test_what_the_system_forbids_is_no_denial(place):
    closed = place / "ws" / "closed"
    closed.mkdir()
    hidden = place / "ws" / "hidden"
    hidden.mkdir()
    give_to_nobody(place)
    closed.chmod(0)
    answer = tool(place, "read_file", {"path": "closed/file"}, "--deny", str(hidden),
                  user=nobody())
    assert answer["error"]["code"] == "permission_denied" and "denial" not in answer["error"]


@pytest.mark.parametrize("level", LEVELS)
def test_changes_of_several_files_work_inside(place, level):
    answer = tool(place, "apply_changes", {"changes": [
        {"type": "create", "file_path": "a", "content": "1\n"},
        {"type": "create", "file_path": "b/c", "content": "2\n"}]}, "--sandbox", level)
    assert answer["success"] is True, answer
    assert (place / "ws" / "b" / "c").read_text() == "2\n"


def nobody(groups="4321"):
    return ["setpriv", "--reuid=4321", "--regid=4321", "--groups=" + groups]


def give_to_nobody(place):
    folder = place
    while folder != folder.parent and folder.name != "tmp":
        folder.chmod(folder.stat().st_mode | 0o055)
        folder = folder.parent
    for name in ("ws", "home", "other"):
        os.chown(place / name, 4321, 4321)


def test_a_group_that_a_user_namespace_lacks_is_an_error_with_a_way_out(place):
    give_to_nobody(place)
    path = place / "ws" / "shared.txt"
    path.write_text("old\n")
    os.chown(path, 4321, 54321)
    user = nobody("4321,54321")
    base = tool(place, "read_file", {"path": "shared.txt"}, "--sandbox", "full",
                user=user)["sha256"]
    call = {"file_path": "shared.txt", "content": "new\n", "sha256": base}
    answer = tool(place, "write_file", call, "--sandbox", "full", user=user)
    if not answer["success"]:
        assert answer["error"]["code"] == "cannot_preserve"
        assert "--sandbox landlock" in answer["message"]
        assert path.read_text() == "old\n"
        answer = tool(place, "write_file", call, "--sandbox", "landlock", user=user)
    assert answer["success"], answer
    assert path.read_text() == "new\n"
    assert path.stat().st_gid == 54321


def test_a_worker_opens_only_what_it_may(place):
    (place / "ws" / "a").write_text("x\n")
    (place / "other" / "b").write_text("y\n")
    worker = shlex.join([HASP, "worker", "--root", str(place / "ws")])
    assert tool(place, "read_file", {"path": "a"}, "--worker", worker)["content"] == "x\n"
    worker = shlex.join([HASP, "worker", "--root", str(place / "other")])
    done = subprocess.run([HASP, "tool", "read_file", '{"path": "a"}', "--root",
                           str(place / "ws"), "--worker", worker], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode != 0
    assert "does not allow the workspace" in done.stderr


def test_a_folder_that_is_no_journal_leaves_file_tools_as_they_are(place):
    """No home to write to: only changes of several files need one."""
    (place / "ws" / "a").write_text("x\n")
    (place / "home").rmdir()
    (place / "home").write_text("a file, no folder")
    assert tool(place, "read_file", {"path": "a"})["content"] == "x\n"
