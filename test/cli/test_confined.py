# SPDX-License-Identifier: Apache-2.0
"""hasp tool: what it does is done by a confined worker, and each result says so."""
import json
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import HASP

pytestmark = pytest.mark.in_turn("level")


@pytest.mark.parametrize("level", ["full", "landlock", "paths"])
def test_each_result_says_its_level(ws, level):
    ws.write("a.txt", "text\n")
    for flags, env in (["--sandbox", level], {}), ([], {"HASP_SANDBOX": level}):
        done = ws.tool("read_file", {"file_path": "a.txt"}, *flags, env=env)
        assert done.code == 0 and done.json["sandbox"] == level
        assert done.json["content"] == "text\n"
        failed = ws.tool("read_file", {"file_path": "none"}, *flags, env=env)
        assert failed.code == 1 and failed.json["sandbox"] == level


def test_the_level_is_full_here(ws):
    assert ws.tool("list_directory", {"path": "."}).json["sandbox"] == "full"


def test_the_schema_of_a_result_allows_what_is_added(ws):
    for tool in ws.run("tool", "--list", "--json").json:
        schema = tool["result_schema"]
        for branch in schema.get("oneOf", [schema]):
            if "properties" in branch:
                assert branch["properties"]["sandbox"]["enum"] == ["full", "landlock", "paths"]


def test_no_confinement_is_said_once_on_standard_error(ws):
    ws.write("a.txt", "text\n")
    for env in {"HASP_SANDBOX": "none"}, {"HASP_SANDBOX_SIMULATE": "no-userns,no-landlock"}:
        done = ws.tool("read_file", {"file_path": "a.txt"}, env=env)
        assert done.code == 0 and done.json["sandbox"] == "paths"
        assert done.message.count("\n") == 1 and "WARNING" in done.message


def test_a_level_that_cannot_be_had_is_an_error(ws):
    done = ws.tool("list_directory", {"path": "."}, "--sandbox", "full",
                   env={"HASP_SANDBOX_SIMULATE": "no-userns"})
    assert done.code == 2 and done.out == b"" and "namespaces" in done.message


def test_the_front_never_opens_a_file_of_the_workspace(ws, tmp_path):
    ws.write("inner/a.txt", "one\n")
    calls = [("read_file", '{"file_path": "inner/a.txt"}'), ("search_files", '{"pattern": "one"}'),
             ("update_file", '{"file_path": "inner/a.txt", "old_content": "one", '
                             '"new_content": "two"}'), ("glob", '{"pattern": "**/*"}')]
    for name, arguments in calls:
        trace = tmp_path / "trace"
        subprocess.run(["strace", "-o", str(trace), "-e", "trace=open,openat,openat2", HASP, "tool",
                        name, arguments], cwd=ws.folder, env=ws.env, check=True,
                       capture_output=True)
        found = re.findall(r'^open\w*\((?:\w+, )?"([^"]*)", (.*?)\)? = \d+', trace.read_text(),
                           re.M)
        opened = [path for path, flags in found if "O_PATH" not in flags and
                  ("a.txt" in path or "inner" in path)]
        assert opened == [], name


def opened_by_whom(ws, trace, *argv):
    """Whether the one who reads git's files is the front; how many do; each has a filter by then."""
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", "trace=open,openat,openat2,seccomp", HASP,
                    *argv], cwd=ws.folder, env=ws.env, check=True, capture_output=True)
    lines = [re.match(r"(\d+) +(.*)", line).groups() for line in trace.read_text().splitlines()]
    readers, filtered = [], set()
    for pid, call in lines:
        if call.startswith("seccomp(SECCOMP_SET_MODE_FILTER"):
            filtered.add(pid)
        if re.search(r'"[^"]*/(\.git|config|commondir|gitdir)", O_RDONLY\|(O_NOCTTY|O_CLOEXEC\|O_PATH\))',
                     call):
            assert pid in filtered, call
            readers.append(pid)
    assert readers and lines[0][0] not in readers
    return len(set(readers))


def test_git_s_files_are_read_by_confined_processes_alone(ws, tmp_path):
    def git(*argv):
        subprocess.run(["git", "-C", str(ws.folder), *argv], env=ws.env, check=True)

    write = ["tool", "write_file", '{"file_path": "hooks/x", "content": "x"}']
    git("init", "-q")
    ws.write("hooks/y", "y")
    # What the files say is what was assumed: the worker alone has read them.
    assert opened_by_whom(ws, tmp_path / "trace", "tool", "list_directory", '{"path": "."}') == 1
    assert opened_by_whom(ws, tmp_path / "trace", "sandbox", "--", "true") == 1
    # They say more: read once more, by a process that does nothing else; and it counts.
    git("config", "core.hooksPath", "hooks")
    assert opened_by_whom(ws, tmp_path / "trace", "sandbox", "--", "true") == 2
    assert ws.run("sandbox", "--", "sh", "-c", "echo x > hooks/x").code != 0
    assert ws.run(*write).json["error"]["code"] == "denied_by_sandbox"
    assert not (ws.folder / "hooks/x").exists()
    # With --explain there is no worker.
    assert opened_by_whom(ws, tmp_path / "trace", "sandbox", "--explain") == 1


def test_a_symlink_made_meanwhile_leads_nowhere(ws, tmp_path):
    (tmp_path / "secret").write_text("CANARY")
    os.symlink(tmp_path / "secret", ws.folder / "link")
    done = ws.tool("read_file", {"file_path": "link"})
    assert done.code == 1 and b"CANARY" not in done.out


def test_denied_files_of_the_workspace_cannot_be_read(ws):
    ws.write("private/key", "CANARY")
    ws.write("private.txt", "fine")
    for name in "private/key", "./private//key":
        done = ws.tool("read_file", {"file_path": name}, "--deny", "private/")
        assert done.code == 1 and b"CANARY" not in done.out
    found = ws.tool("search_files", {"pattern": "CANARY"}, "--deny", "private")
    assert found.json["matches"] == 0
    assert ws.tool("read_file", {"file_path": "private.txt"}, "--deny", "private").code == 0


def test_owner_and_mode_survive_an_edit_of_root(ws):
    path = ws.write("a.txt", "one\n")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    before = path.stat()
    assert ws.tool("update_file", {"file_path": "a.txt", "old_content": "one",
                                   "new_content": "two"}).json["success"]
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid,
                                                           before.st_mode)


# ---- commands -------------------------------------------------------------------------------


def test_a_command_and_its_end(ws):
    done = ws.tool("run_shell_command", {"command": "echo out; echo err >&2; exit 3"})
    assert done.json["exit_code"] == 3 and done.json["sandbox"] == "full"
    assert b"out" in done.out and b"err" in done.out


def test_a_denial_is_part_of_the_result(ws, outside):
    done = ws.tool("run_shell_command", {"command": "echo x > %s/x" % outside})
    (denial,) = done.json["denials"]
    assert str(outside / "x") in str(denial) and not (outside / "x").exists()


def test_more_permissions_are_given_by_flags_and_not_by_arguments(ws):
    done = ws.tool("run_shell_command", {"command": "touch made", "additional_permissions": {
        "fileSystem": {"write": ["/usr"]}}})
    assert done.code == 1 and done.json["error"]["code"] == "denied_by_user"
    assert "--write" in done.json["message"] and not (ws.folder / "made").exists()


def test_people_see_the_output_as_it_comes(ws):
    process = subprocess.Popen([HASP, "tool", "run_shell_command", "--pretty", "-a",
                                "command=echo first; read line < fifo; echo second"],
                               cwd=ws.folder, env=ws.env, stdout=subprocess.PIPE)
    os.mkfifo(ws.folder / "fifo")
    seen = b""
    while b"first" not in seen:
        seen += os.read(process.stdout.fileno(), 4096)
    with open(ws.folder / "fifo", "w") as fifo:
        fifo.write("go\n")
    rest = process.stdout.read()
    assert process.wait(20) == 0 and b"second" in rest


def test_what_it_started_ends_with_it_and_is_told(ws):
    result = ws.tool("run_shell_command", {
        "command": "(while :; do echo >> ticks; sleep 0.02; done) & sleep 0.2"}).json
    size = (ws.folder / "ticks").stat().st_size
    subprocess.run(["sleep", "0.3"], check=True)
    assert (ws.folder / "ticks").stat().st_size == size
    assert result["state"] == "left_running"
    assert "ended: the session ends with this call" in result["message"]
    assert "kill_background_process" not in result["message"]


def test_nothing_can_be_put_in_the_background(ws):
    result = ws.tool("run_shell_command", {"command": "touch begun", "is_background": True}).json
    assert result["error"]["code"] == "invalid_argument" and "is_background" in result["message"]
    assert not (ws.folder / "begun").exists()


def test_output_that_is_cut_is_not_promised_from_a_session_that_is_over(ws):
    result = ws.tool("run_shell_command", {"command": "seq 1 100000"}).json
    assert result["truncated"] and "log_path" not in result
    assert "read_background_output" not in result["message"]


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_ends_the_command_and_puts_things_in_order(ws, tmp_path, level, name):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    mark = "sleep 6%d.%d" % (os.getpid(), time.monotonic_ns() % 10**6)
    script = ("mkdir -p new/.git/hooks new/.git/objects new/.git/refs; "
              "echo 'ref: refs/heads/x' > new/.git/HEAD; echo x > new/.git/hooks/pre-commit; "
              "setsid %s & touch ready; %s" % (mark, mark))
    process = subprocess.Popen([HASP, "tool", "run_shell_command", "--sandbox", level,
                                json.dumps({"command": script})], cwd=ws.folder,
                               env={**ws.env, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE)
    end = time.monotonic() + 120
    while not (ws.folder / "ready").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(getattr(signal, "SIG" + name))
    out, _ = process.communicate(timeout=300)
    assert process.returncode == -getattr(signal, "SIG" + name)
    assert json.loads(out)["error"]["code"] == "cancelled"
    assert subprocess.run(["pgrep", "-f", mark], stdout=subprocess.DEVNULL).returncode == 1
    assert os.listdir(ws.folder / "new/.git/hooks") == ["pre-commit.hasp-taken"]
    assert list(temporary.iterdir()) == []
