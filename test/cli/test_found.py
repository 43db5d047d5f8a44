# SPDX-License-Identifier: Apache-2.0
"""What search_files and glob look like to people."""
import json
import os

import pytest
from test_terminal import HOSTILE, is_safe, on_terminal


def search(**arguments):
    return ["tool", "search_files", json.dumps(arguments)]


@pytest.fixture
def tree(ws):
    ws.write("src/a.c", "int one;\nint two;\n\tx = one;\nlast\n")
    ws.write("b.txt", "no\nONE more\n")
    return ws


def test_lines_stand_beneath_the_name_of_their_file(tree):
    done = tree.run(*search(pattern="one"), "--pretty")
    assert done.out.decode() == ("b.txt\n2:ONE more\n\nsrc/a.c\n1:int one;\n3:        x = one;\n\n"
                                 "3 matching lines in 2 files, 2 searched\n")


def test_the_match_is_coloured_where_it_is(tree):
    code, output = on_terminal(tree, *search(pattern="one", case_sensitive=True))
    assert code == 0
    assert b"\x1b[1msrc/a.c\x1b[0m\n" in output
    assert b"\x1b[32m1\x1b[0m:int \x1b[1;31mone\x1b[0m;\n" in output
    assert b"\x1b[32m3\x1b[0m:        x = \x1b[1;31mone\x1b[0m;\n" in output


def test_the_place_of_a_match_counts_characters(ws):
    ws.write("a", "\u4e2d\u6587\U0001f600 needle \u00e9\n")
    _, output = on_terminal(ws, *search(pattern="needle"))
    assert "\u4e2d\u6587\U0001f600 \x1b[1;31mneedle\x1b[0m \u00e9\n".encode() in output


def test_context_has_dashes_and_gaps_are_marked(tree):
    tree.write("c", "".join("line %d\n" % i for i in range(1, 10)))
    done = tree.run(*search(pattern="line [28]", regex=True, context=1), "--pretty")
    assert done.out.decode() == ("c\n1-line 1\n2:line 2\n3-line 3\n--\n7-line 7\n8:line 8\n9-line 9\n\n"
                                 "2 matching lines in 1 file, 3 searched\n")


@pytest.mark.parametrize("arguments,shown", [
    ({"output": "files"}, "b.txt\nsrc/a.c\n"),
    ({"output": "counts"}, "b.txt:1\nsrc/a.c:2\n"),
    ({"names_only": True}, "b.txt\nsrc/a.c\n"),
    ({"output": "lines", "include": ["b.txt"]}, "b.txt\n2:ONE more\n\n1 matching line in 1 file, 1 searched\n"),
])
def test_other_forms_are_shown_as_they_were_asked_for(tree, arguments, shown):
    assert tree.run(*search(pattern="one", **arguments), "--pretty").out.decode() == shown


def test_what_is_missing_is_said(tree):
    done = tree.run(*search(pattern="one", max_results=1), "--pretty")
    assert "there are more" in done.out.decode()
    assert tree.run(*search(pattern="none"), "--pretty").out.decode() == "No match in 2 files.\n"
    done = tree.run(*search(pattern="(", regex=True), "--pretty")
    assert done.code == 1 and done.out.decode().startswith("failed (invalid_argument)")


def test_hashes_are_shown_beside_the_name(tree):
    done = tree.run(*search(pattern="more", with_hashes=True), "--pretty")
    assert done.out.decode().splitlines()[0] == "b.txt  %d bytes  version 1, sha256 %s" % (
        len(tree.read("b.txt")), tree.sha256("b.txt"))


def test_files_that_glob_found_are_a_list(tree):
    done = tree.run("tool", "glob", "-a", "patterns=**", "-a", "order=name", "--pretty")
    assert done.out.decode() == "b.txt\nsrc/a.c\n"
    done = tree.run("tool", "glob", "-a", "patterns=*", "-a", "details=true", "--pretty")
    assert done.out.decode().startswith("b.txt  12 bytes  20")


def test_nothing_that_a_stranger_wrote_reaches_the_terminal(ws):
    ws.write("a", "needle " + HOSTILE + "\n" + HOSTILE + " needle\ncontext" + HOSTILE + "\n")
    with open(os.path.join(os.fsencode(str(ws.folder)), b"\x1b]0;x\x07\xff" + b"\n\r\xe2\x80\xae"), "wb") as file:
        file.write(b"needle \xff\xfa\x9b31m\n")
    for arguments in ({"after": 1}, {"output": "files"}, {"output": "counts"}, {"output": "lines", "context": 1}):
        code, output = on_terminal(ws, *search(pattern="needle", **arguments))
        assert code == 0 and is_safe(output)
    code, output = on_terminal(ws, "tool", "glob", "-a", "patterns=*", "-a", "details=true")
    assert code == 0 and is_safe(output)
    code, output = on_terminal(ws, *search(pattern="(" + HOSTILE, regex=True))
    assert code == 1 and is_safe(output)


def test_the_other_name_of_the_tool_means_what_it_means_elsewhere(tree):
    done = tree.run("tool", "grep_search", "-a", "pattern=on[e]", "-a", "names_only=true")
    assert done.json["files"] == ["b.txt", "src/a.c"]
    assert tree.run("tool", "search_files", "-a", "pattern=on[e]").json["files"] == []
    done = tree.run("tool", "grep_search", "-a", "pattern=on[e]", "-a", "fixed_strings=true")
    assert done.json["files"] == []
