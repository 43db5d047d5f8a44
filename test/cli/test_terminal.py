# SPDX-License-Identifier: Apache-2.0
"""What people see: on a terminal, or with --pretty."""
import json
import re

import pytest
from conftest import HASP
from terminal import Terminal

DIFF = "--- a/a.c\n+++ b/a.c\n@@ -9,3 +9,3 @@\n one\n-two\n+TWO\n three\n"
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\u202egnp.exe\u200b\x7f\x08\U000e0041\r!"


def on_terminal(ws, *args, env=None, columns=100):
    with Terminal([HASP, *args], ws.folder, {**ws.env, **(env or {})}, columns) as terminal:
        code, output = terminal.finish()
    return code, output.replace(b"\r\n", b"\n")


def call(name, **arguments):
    return ["tool", name, json.dumps(arguments)]


def is_safe(output):
    """Nothing but colours, printable text and line feeds."""
    text = COLOUR.sub(b"", output).decode()
    bad = [c for c in text if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or
           c in "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff" or
           "\U000e0000" <= c <= "\U000e007f"]
    assert not bad, (bad, text)
    return True


@pytest.fixture
def file(ws):
    ws.write("a.c", "one\ntwo\nthree\n")
    return ws


def test_an_edit_is_shown_as_a_coloured_diff_with_where_it_went(file):
    code, output = on_terminal(file, *call("safe_patch", file_path="a.c", unified_diff=DIFF,
                                           base_content_sha256=file.sha256("a.c")))
    plain = COLOUR.sub(b"", output).decode()
    assert code == 0 and COLOUR.search(output)
    assert "Patch applied successfully." in plain
    assert file.sha256("a.c") in plain and "version 1" in plain
    assert "hunk 1: line 1 (the diff said 9)" in plain and "+1 -1" in plain
    assert re.search(r"\btwo\b", plain) and re.search(r"\bTWO\b", plain)
    assert is_safe(output)


def test_a_failed_edit_is_shown_with_what_to_do(file):
    code, output = on_terminal(file, *call("safe_patch", file_path="a.c", unified_diff=DIFF,
                                           base_content_sha256="0" * 64))
    plain = COLOUR.sub(b"", output).decode()
    assert code == 1
    assert "failed (state_mismatch)" in plain and "what to do" in plain
    assert file.sha256("a.c") in plain


def test_an_ambiguous_diff_is_shown_with_its_candidates(ws):
    ws.write("a.c", "x\none\ntwo\nthree\ny\n" * 3)
    diff = DIFF.replace("@@ -9,3 +9,3 @@", "@@ @@")
    code, output = on_terminal(ws, *call("safe_patch", file_path="a.c", unified_diff=diff,
                                         base_content_sha256=ws.sha256("a.c")))
    assert code == 1
    assert b"candidates: line 2" in output and b"line 7" in output and b"line 12" in output


def test_a_line_that_differs_is_shown_on_both_sides(file):
    diff = DIFF.replace("-two", "-tvo")
    code, output = on_terminal(file, *call("safe_patch", file_path="a.c", unified_diff=diff,
                                           base_content_sha256=file.sha256("a.c")))
    plain = COLOUR.sub(b"", output).decode()
    assert code == 1 and "no_match" in plain
    assert "the diff has: tvo" in plain and "the file has: two" in plain


def test_a_file_is_shown_with_a_header_and_line_numbers(file):
    code, output = on_terminal(file, *call("read_file", file_path="a.c", start_line=2))
    plain = COLOUR.sub(b"", output).decode()
    assert code == 0
    lines = plain.splitlines()
    assert lines[0] == str(file.folder / "a.c")
    assert file.sha256("a.c") in lines[1]
    assert lines[2].startswith("lines 2-3 of 3")
    assert lines[3].split() == ["2", "two"] and lines[4].split() == ["3", "three"]


def test_a_folder_is_shown_in_columns(ws):
    ws.write("sub/inner", "")
    ws.write("file", "12345")
    (ws.folder / "link").symlink_to("file")
    code, output = on_terminal(ws, *call("list_directory", path="."))
    lines = COLOUR.sub(b"", output).decode().splitlines()
    assert code == 0
    assert "sub/" in lines and "link@" in lines
    assert ["file", "5"] in [line.split() for line in lines]


def test_several_files_and_several_changes(file):
    file.write("b", "bee\n")
    code, output = on_terminal(file, *call("read_many_files", paths=["a.c", "b", "none"]))
    assert code == 0 and b"bee" in output and b"file_not_found" in output
    code, output = on_terminal(file, *call("apply_changes", changes=[
        {"kind": "create", "file_path": "c", "content": "sea\n"},
        {"kind": "patch", "file_path": "a.c", "unified_diff": DIFF,
         "base_content_sha256": file.sha256("a.c")}]))
    assert code == 0 and b"sea" in output and b"TWO" in output and b"hunk 1" in output
    assert is_safe(output)


def test_json_on_a_terminal_with_the_flag(file):
    code, output = on_terminal(file, *call("read_file", file_path="a.c"), "--json")
    assert code == 0 and json.loads(output)["content"] == "one\ntwo\nthree\n"


@pytest.mark.parametrize("flags", [[], ["--json"], ["--json", "--pretty"]])
def test_hostile_content_does_not_reach_the_terminal_raw(ws, flags):
    ws.write("evil", HOSTILE + "\n")
    code, output = on_terminal(ws, *call("read_file", file_path="evil"), *flags)
    assert code == 0 and b"owned" in output and is_safe(output)


def test_hostile_diffs_do_not_reach_the_terminal_raw(ws):
    code, output = on_terminal(ws, *call("write_file", file_path="evil", content=HOSTILE))
    assert code == 0 and b"owned" in output and is_safe(output)
    diff = "@@ @@\n-" + HOSTILE + "\x1b[31m\n+ok\n"
    code, output = on_terminal(ws, *call("safe_patch", file_path="evil", unified_diff=diff,
                                         base_content_sha256=ws.sha256("evil")))
    assert code == 1 and is_safe(output)


def test_hostile_names_do_not_reach_the_terminal_raw(ws):
    name = HOSTILE.replace("/", "") + "\nsecond line"
    ws.write(name, "x\n")
    for args in (call("list_directory", path="."), call("read_file", file_path=name),
                 call("write_file", file_path=name, content="y"),
                 call("read_many_files", paths=["."])):
        _, output = on_terminal(ws, *args)
        assert b"owned" in output and is_safe(output)
        assert b"\nsecond line" not in output


def test_bytes_that_are_not_utf8_do_not_reach_the_terminal_raw(ws):
    (ws.folder / b"bad\xff\x9b31mname".decode("utf-8", "surrogateescape")).write_bytes(b"x")
    code, output = on_terminal(ws, *call("list_directory", path="."))
    assert code == 0 and is_safe(output)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}])
def test_colours_are_left_out_when_not_wanted(file, env):
    _, output = on_terminal(file, *call("read_file", file_path="a.c"), env=env)
    assert b"\x1b" not in output and b"two" in output


def test_an_empty_no_color_does_not_count(file):
    _, output = on_terminal(file, *call("read_file", file_path="a.c"), env={"NO_COLOR": ""})
    assert b"\x1b[" in output


def test_color_always_and_never_win(file):
    args = call("read_file", file_path="a.c")
    _, output = on_terminal(file, *args, "--color=always", env={"NO_COLOR": "1"})
    assert b"\x1b[" in output
    _, output = on_terminal(file, *args, "--color", "never")
    assert b"\x1b" not in output


def test_pretty_into_a_pipe_is_for_people_and_without_colours(file):
    done = file.run(*call("read_file", file_path="a.c"), "--pretty")
    assert done.code == 0 and b"\x1b" not in done.out
    assert done.out.startswith(str(file.folder / "a.c").encode() + b"\n")
    done = file.run(*call("read_file", file_path="a.c"), "--pretty", "--color=always")
    assert b"\x1b[" in done.out


def test_lines_fit_a_narrow_terminal_or_are_whole(file):
    code, output = on_terminal(file, *call("read_file", file_path="a.c"), columns=20)
    assert code == 0 and b"three" in output


def test_the_schema_and_the_list_on_a_terminal(ws):
    code, output = on_terminal(ws, "tool", "read_file", "--schema")
    assert code == 0 and json.loads(output)["name"] == "read_file" and b'\n  "' in output
    code, output = on_terminal(ws, "tool", "--list")
    assert code == 0 and b"safe_patch" in output
