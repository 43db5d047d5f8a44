# SPDX-License-Identifier: Apache-2.0
"""A hash that is malformed is a wrong argument; other ways to write a right one are taken."""

import pytest

DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
TEXT = "one\ntwo\nthree\n"

CALLS = {
    "safe_patch": {"unified_diff": DIFF},
    "write_file": {"content": "one\nTWO\nthree\n"},
    "update_file": {"old_content": "two", "new_content": "TWO"},
    "apply_changes patch": {"unified_diff": DIFF},
    "apply_changes write": {"content": "one\nTWO\nthree\n"},
    "apply_changes update": {"old_content": "two", "new_content": "TWO"},
    "apply_changes delete": {},
    "apply_changes move": {"new_path": "b.txt"},
}


def call(ws, which, base):
    tool, _, kind = which.partition(" ")
    arguments = dict(CALLS[which], file_path="a.txt", base_content_sha256=base)
    if kind:
        arguments = {"changes": [dict(arguments, kind=kind)]}
    return ws.tool(tool, arguments).json


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("which", CALLS)
@pytest.mark.parametrize("base", [
    lambda h: "garbage", lambda h: h[:8], lambda h: h[:63], lambda h: h + "0",
    lambda h: "g" + h[1:], lambda h: "md5:" + h, lambda h: "<sha256>",
], ids=["garbage", "first 8", "63 digits", "65 digits", "no digit", "md5", "placeholder"])
def test_what_is_no_hash_is_a_wrong_argument(ws, which, base):
    ws.write("a.txt", TEXT)
    answer = call(ws, which, base(ws.sha256("a.txt")))
    assert answer["success"] is False
    assert answer["error"]["code"] == "invalid_argument", answer["message"]
    assert "base_content_sha256 is no SHA-256" in answer["message"]
    assert ws.read("a.txt") == TEXT.encode()


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("which", CALLS)
@pytest.mark.parametrize("form", [str.upper, "sha256:{}".format, " {}\n".format,
                                  lambda h: "sha256:" + h.upper()],
                         ids=["upper case", "prefix", "blanks", "prefix and upper case"])
def test_other_ways_to_write_the_hash(ws, which, form):
    ws.write("a.txt", TEXT)
    assert call(ws, which, form(ws.sha256("a.txt")))["success"] is True


@pytest.mark.parametrize("which", CALLS)
def test_another_hash_is_a_mismatch(ws, which):
    ws.write("a.txt", TEXT)
    answer = call(ws, which, "0" * 64)
    answer = answer["changes"][0] if "changes" in answer else answer
    assert answer["error"]["code"] == "state_mismatch"
