# SPDX-License-Identifier: Apache-2.0
"""Calls of the tools from a shell: results, exit codes, workspaces, output that fails."""
import hashlib
import json
import os
import subprocess
import time

import pytest
from conftest import HASP
from test_usage import is_usage_error

DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -7,3 +7,3 @@\n one\n-two\n+TWO\n three\n"


@pytest.fixture
def file(ws):
    ws.write("a.txt", "one\ntwo\nthree\n")
    return ws


def patch(ws, base, *flags, **options):
    return ws.tool("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF,
                                  "base_content_sha256": base}, *flags, **options)


def test_a_read_answers_with_the_hash_of_the_file(file):
    result = file.tool("read_file", {"file_path": "a.txt"}).json
    assert result["sha256"] == file.sha256("a.txt")
    assert result["file_path"] == str(file.folder / "a.txt")
    assert result["version"] == 1


def test_a_diff_with_wrong_numbers_lands_once_and_then_mismatches(file):
    before = file.sha256("a.txt")
    first = patch(file, before)
    assert first.code == 0 and first.json["success"] is True
    assert file.read("a.txt") == b"one\nTWO\nthree\n"
    assert first.json["latest_file_state"]["sha256"] == file.sha256("a.txt")
    assert first.json["hunks"][0]["line"] == 1 and first.json["hunks"][0]["stated_line"] == 7
    again = patch(file, before)
    assert again.code == 1 and again.json["error"]["code"] == "state_mismatch"
    assert again.json["latest_file_state"]["sha256"] == file.sha256("a.txt")
    assert again.json["latest_file_state"]["content"] == "one\nTWO\nthree\n"


def test_a_dry_run_writes_nothing(file):
    done = file.tool("safe_patch", {"file_path": "a.txt", "unified_diff": DIFF, "dry_run": True,
                                    "base_content_sha256": file.sha256("a.txt")})
    assert done.code == 0 and file.read("a.txt") == b"one\ntwo\nthree\n"


def test_update_and_write(file):
    done = file.tool("update_file", {"file_path": "a.txt", "old_content": "two",
                                     "new_content": "2"})
    assert done.code == 0 and file.read("a.txt") == b"one\n2\nthree\n"
    done = file.tool("write_file", {"file_path": "a.txt", "content": "x"})
    assert done.code == 1 and done.json["error"]["code"] == "base_required"
    done = file.tool("write_file", {"file_path": "a.txt", "content": "x",
                                    "base_content_sha256": file.sha256("a.txt")})
    assert done.code == 0 and file.read("a.txt") == b"x"


def test_a_tool_by_its_alias(file):
    done = file.tool("replace", {"file_path": "a.txt", "old_string": "two", "new_string": "2"})
    assert done.code == 0 and file.read("a.txt") == b"one\n2\nthree\n"


def test_many_files_are_an_array(file):
    file.write("b.txt", "b\n")
    done = file.tool("read_many_files", {"paths": ["a.txt", "b.txt", "none.txt"]})
    assert done.code == 0
    assert [entry.get("sha256") for entry in done.json] == [
        file.sha256("a.txt"), file.sha256("b.txt"), None]
    assert [entry.get("version") for entry in done.json][:2] == [1, 2]


def test_when_every_file_fails_the_exit_code_says_so(ws):
    assert ws.tool("read_many_files", {"paths": ["none.txt"]}).code == 1


def test_a_file_that_is_not_there(ws):
    done = ws.tool("read_file", {"file_path": "none.txt"})
    assert done.code == 1 and done.err == b""
    assert done.json["error"]["code"] == "file_not_found" and done.json["error"]["advice"]


def test_nothing_outside_the_workspace_is_reached(ws):
    for path in ("/etc/passwd", "../home", "../../../../etc/passwd"):
        done = ws.tool("read_file", {"file_path": path})
        assert done.code == 1 and done.json["error"]["code"] == "outside_workspace"


def test_roots(ws, tmp_path):
    for name in ("p", "q"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    flags = ["--root", str(tmp_path / "p"), "-r", str(tmp_path / "q")]
    assert ws.tool("read_file", {"file_path": "f"}, *flags).json["content"] == "p"
    assert ws.tool("read_file", {"file_path": str(tmp_path / "q/f")}, *flags).json["content"] == "q"
    ws.write("mine", "")
    done = ws.tool("read_file", {"file_path": str(ws.folder / "mine")}, *flags)
    assert done.json["error"]["code"] == "outside_workspace"


def test_a_root_that_is_not_there(ws):
    assert is_usage_error(ws.tool("list_directory", {"path": "."}, "--root", "nowhere"), "nowhere")
    ws.write("file", "")
    assert is_usage_error(ws.tool("list_directory", {"path": "."}, "--root", "file"), "file")


CHANGES = {"changes": [
    {"kind": "create", "file_path": "new/a", "content": "A"},
    {"kind": "create", "file_path": "new/b", "content": "B"}]}


def test_several_changes_leave_nothing_behind(ws):
    done = ws.tool("apply_changes", CHANGES)
    assert done.code == 0, done.out
    assert (ws.read("new/a"), ws.read("new/b")) == (b"A", b"B")
    assert sorted(os.listdir(ws.folder)) == ["new"]
    journal = ws.home / ".gemini/tmp/hasp/journal"
    assert journal.is_dir() and os.listdir(journal) == []


def test_the_journal_follows_gemini_cli_home(ws, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert ws.tool("apply_changes", CHANGES, env={"GEMINI_CLI_HOME": str(other)}).code == 0
    assert (other / ".gemini/tmp/hasp/journal").is_dir() and os.listdir(ws.home) == []


def test_reading_and_single_edits_make_nothing_in_the_home_folder(file):
    file.tool("read_file", {"file_path": "a.txt"})
    assert patch(file, file.sha256("a.txt")).code == 0
    # The worker's sandbox has a place for the journal; nothing is in it.
    assert [names for _, _, names in os.walk(file.home) if names] == []


def test_without_a_home_only_transactions_fail(file):
    env = {"HOME": "", "GEMINI_CLI_HOME": ""}
    assert patch(file, file.sha256("a.txt"), env=env).code == 0
    done = file.tool("apply_changes", CHANGES, env=env)
    assert done.code == 1 and not (file.folder / "new").exists()
    assert "home" in done.json["message"].lower() or "journal" in done.json["message"].lower()


def calls_of(ws, tmp_path, *flags):
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-o", str(trace), "-e", "trace=fsync,fdatasync,syncfs", HASP, "tool",
               "write_file", '{"file_path": "w", "content": "x"}', *flags]
    env = {**ws.env, "ASAN_OPTIONS": "detect_leaks=0"}
    subprocess.run(command, cwd=ws.folder, env=env, check=True, capture_output=True)
    (ws.folder / "w").unlink()
    return trace.read_text().count("sync(")


def test_durability_decides_what_is_synced(ws, tmp_path):
    assert calls_of(ws, tmp_path) >= 2
    assert calls_of(ws, tmp_path, "--durability", "full") >= 2
    assert calls_of(ws, tmp_path, "--durability=rename") == 0


def test_json_is_one_line_unless_pretty(file):
    done = file.tool("read_file", {"file_path": "a.txt"})
    assert done.out.count(b"\n") == 1 and done.out.endswith(b"}\n")
    pretty = file.tool("read_file", {"file_path": "a.txt"}, "--json", "--pretty")
    assert pretty.out.startswith(b'{\n  "success"') and pretty.json == done.json


def test_json_keeps_text_and_odd_characters(ws):
    text = "caf\u00e9 \u4f60\u597d \U0001f600 \u2028 tab\t end\x7f\n"
    ws.write("u", text)
    assert ws.tool("read_file", {"file_path": "u"}).json["content"] == text


def test_a_full_disk_is_an_error(file):
    with open("/dev/full", "wb") as full:
        for args in (["--help"], ["--version"], ["tool", "--list"], ["completion", "bash"],
                     ["tool", "read_file", '{"file_path": "a.txt"}'],
                     ["tool", "read_file", "--schema"]):
            done = subprocess.run([HASP, *args], cwd=file.folder, env=file.env, stdout=full,
                                  stderr=subprocess.PIPE, check=False)
            assert done.returncode == 1 and b"No space left" in done.stderr, args


def test_a_closed_pipe_is_an_error(file):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([HASP, "tool", "read_file", '{"file_path": "a.txt"}'], cwd=file.folder,
                          env=file.env, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.returncode == 1 and b"Broken pipe" in done.stderr


def test_a_closed_standard_output_is_not_written_into_a_file(file):
    before = file.read("a.txt")
    done = subprocess.run(["sh", "-c", 'exec "$0" tool read_file "$1" >&-', HASP,
                           '{"file_path": "a.txt"}'], cwd=file.folder, env=file.env,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"Standard output" in done.stderr
    assert file.read("a.txt") == before


def test_all_descriptors_closed(file):
    done = subprocess.run(["sh", "-c", 'exec "$0" tool write_file "$1" <&- >&- 2>&-', HASP,
                           json.dumps({"file_path": "w", "content": "text"})],
                          cwd=file.folder, env=file.env, check=False)
    assert done.returncode == 1
    assert file.read("w") == b"text"


def test_a_large_result_arrives_whole(ws):
    content = b"".join(b"%07d \xc3\xa9\xc3\xa8 \"quoted\"\n" % n for n in range(200000))
    ws.write("big", content)
    done = ws.tool("read_file", {"file_path": "big", "max_lines": 300000})
    assert done.code == 0 and done.json["content"].encode() == content
    assert done.json["sha256"] == hashlib.sha256(content).hexdigest()


def test_pipes_that_somebody_made_non_blocking(ws):
    """Node and other programs do that to what they share with their children."""
    ws.write("big", b"a line of text\n" * 100000)
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    for end in (in_read, out_write):
        os.set_blocking(end, False)
    process = subprocess.Popen([HASP, "tool", "read_file", "-"], cwd=ws.folder, env=ws.env,
                               stdin=in_read, stdout=out_write)
    os.close(out_write)
    time.sleep(0.2)  # it has nothing to read yet
    os.write(in_write, b'{"file_path": "big", ')
    time.sleep(0.1)
    os.write(in_write, b'"max_lines": 200000}')
    os.close(in_write)
    time.sleep(0.3)  # its output fills the pipe
    with open(out_read, "rb") as output:
        result = json.loads(output.read())
    os.close(in_read)
    assert process.wait(timeout=300) == 0
    assert result["content"] == "a line of text\n" * 100000
