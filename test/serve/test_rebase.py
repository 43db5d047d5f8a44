# SPDX-License-Identifier: Apache-2.0
"""An edit that comes too late is offered anew where it does not touch what changed since."""

import hashlib

import pytest

TEXT = "".join("line %d\n" % n for n in range(1, 31))
DIFF = "@@ -2,3 +2,3 @@\n line 2\n-line 3\n+mine\n line 4\n"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def changed(**lines):
    """TEXT with some lines replaced: l20="theirs"."""
    out = TEXT.split("\n")
    for name, words in lines.items():
        out[int(name[1:]) - 1] = words
    return "\n".join(out)


EDITS = {
    "safe_patch": {"unified_diff": DIFF},
    "update_file": {"old_content": "line 3\n", "new_content": "mine\n"},
    "write_file": {"content": changed(l3="mine")},
}


@pytest.fixture
def client(ws):
    return ws.client()


@pytest.fixture
def folder(ws):
    return ws.folder


def late(client, folder, theirs, tool="safe_patch", **more):
    """Reads, lets somebody else write, edits: the answer."""
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    (folder / "a.txt").write_text(theirs)
    return client.call(tool, file_path="a.txt", base_content_sha256=digest(TEXT),
                       **dict(EDITS[tool], **more))


@pytest.mark.parametrize("tool", EDITS)
def test_one_short_call_makes_the_edit_on_the_new_state(client, folder, tool):
    theirs = changed(l20="theirs")
    answer = late(client, folder, theirs, tool)
    assert answer["error"]["code"] == "state_mismatch"
    assert (folder / "a.txt").read_text() == theirs
    offer = answer["rebased"]
    assert "-line 3\n+mine\n" in offer["diff"] and offer["id"] in answer["message"]
    done = client.call("safe_patch", file_path="a.txt", rebase=offer["id"],
                       base_content_sha256=answer["latest_file_state"]["sha256"])
    assert done["success"] is True, done["message"]
    assert (folder / "a.txt").read_text() == changed(l3="mine", l20="theirs")


def test_in_apply_changes_it_takes_the_diffs_place(client, folder):
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT)
    client.call("read_many_files", include=["a.txt", "b.txt"])
    (folder / "a.txt").write_text(changed(l20="theirs"))
    changes = [dict(kind="patch", file_path=name, unified_diff=DIFF,
                    base_content_sha256=digest(TEXT)) for name in ("a.txt", "b.txt")]
    answer = client.call("apply_changes", changes=changes)
    first, second = answer["changes"]
    assert first["error"]["code"] == "state_mismatch" and "rebased" not in second
    del changes[0]["unified_diff"]
    changes[0].update(rebase=first["rebased"]["id"],
                      base_content_sha256=first["latest_file_state"]["sha256"])
    assert client.call("apply_changes", changes=changes)["success"] is True
    assert (folder / "a.txt").read_text() == changed(l3="mine", l20="theirs")
    assert (folder / "b.txt").read_text() == changed(l3="mine")


@pytest.mark.parametrize("theirs", [
    changed(l3="theirs"), changed(l2="theirs"), changed(l4="theirs"), changed(l3="mine"),
    changed(l2="line 2\nmore"), "",
], ids=["same line", "line before", "line after", "done already", "inserted beside", "emptied"])
def test_what_touches_is_not_offered(client, folder, theirs):
    answer = late(client, folder, theirs)
    assert answer["error"]["code"] == "state_mismatch"
    assert "rebased" not in answer


def test_what_was_never_read_is_not_offered(client, folder):
    (folder / "a.txt").write_text(changed(l20="theirs"))
    answer = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF,
                         base_content_sha256=digest(TEXT))
    assert answer["error"]["code"] == "state_mismatch" and "rebased" not in answer


@pytest.mark.parametrize("tool", ["safe_patch", "update_file"])
def test_of_what_was_read_in_part_the_edits_own_lines_have_to_stand_exactly(client, folder, tool):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt", start_line=2, max_lines=10)
    call = dict(EDITS[tool], file_path="a.txt", base_content_sha256=digest(TEXT))
    for theirs in (changed(l2="theirs", l3="line  3"), changed(l20="line 2\nline 3\nline 4")):
        (folder / "a.txt").write_text(theirs)
        assert "rebased" not in client.call(tool, **call), theirs
    (folder / "a.txt").write_text(changed(l20="theirs"))
    answer = client.call(tool, **call)
    done = client.call("safe_patch", file_path="a.txt", rebase=answer["rebased"]["id"],
                       base_content_sha256=answer["latest_file_state"]["sha256"])
    assert done["success"] is True and (folder / "a.txt").read_text() == changed(l3="mine", l20="theirs")


@pytest.mark.parametrize("tool", EDITS)
def test_an_answer_without_content_has_the_offer_too(client, folder, tool):
    answer = late(client, folder, changed(l20="theirs"), tool, return_content="none")
    assert "rebased" in answer and answer["latest_file_state"]["content"] is None


def test_who_changed_it_is_said(client, folder):
    answer = late(client, folder, changed(l20="theirs"))
    assert "No edit or command of this session changed it since that state" in answer["message"]
    never = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF, base_content_sha256="0" * 64)
    assert "this session" not in never["message"], "of a state that no answer showed nothing is known"


def test_an_own_edit_before_somebody_elses_is_not_denied(client, folder):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    made = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF, base_content_sha256=digest(TEXT))
    (folder / "a.txt").write_text(changed(l3="mine", l20="theirs"))
    answer = client.call("update_file", file_path="a.txt", old_content="line 9\n", new_content="nine\n",
                         base_content_sha256=digest(TEXT))
    assert ("own edit made version %d of that state; something else has changed the file since"
            % made["latest_file_state"]["version"]) in answer["message"]


def test_what_is_forgotten_is_not_denied(client, folder):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    for i in range(300):
        client.call("write_file", file_path="%d.txt" % i, content="x")
    (folder / "a.txt").write_text(changed(l20="theirs"))
    answer = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF, base_content_sha256=digest(TEXT))
    assert answer["error"]["code"] == "state_mismatch" and "of this session" not in answer["message"]


def test_the_text_of_another_file_that_was_shown_is_known(client, folder):
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.c").write_text("int main(void)\n{\n\treturn compute(7);\n}\n")
    client.call("read_many_files", paths=["a.txt", "b.c"])
    line = "\treturn compute(7);\n"
    for tool, edit in (("update_file", {"old_content": line, "new_content": "\treturn 0;\n"}),
                       ("safe_patch", {"unified_diff": "@@\n-" + line + "+\treturn 0;\n",
                                       "base_content_sha256": digest(TEXT)})):
        answer = client.call(tool, file_path="a.txt", **edit)
        assert "b.c has it: if that file is meant, name it as file_path." in answer["message"]


def test_all_changes_that_fail_are_counted_and_the_advice_is_that_of_the_offer(client, folder):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    (folder / "a.txt").write_text(changed(l20="theirs"))
    stale = dict(kind="patch", file_path="a.txt", unified_diff=DIFF, base_content_sha256=digest(TEXT))
    answer = client.call("apply_changes", changes=[stale, dict(kind="delete", file_path="none")])
    assert "1 more fails: see their errors in changes." in answer["message"]
    assert "kind patch with rebase" in answer["error"]["advice"] and "rebased" in answer["changes"][0]


def test_what_is_there_already_is_not_asked_for_again(client, folder):
    answer = late(client, folder, changed(l3="mine"))
    assert answer["already_applied"] is True
    assert "Do not make this edit again" in answer["error"]["advice"]


def test_a_diff_that_does_not_fit_its_own_base_is_not_offered(client, folder):
    answer = late(client, folder, changed(l20="theirs"),
                  unified_diff="@@ -2,3 +2,3 @@\n line 2\n-other\n+mine\n line 4\n")
    assert answer["error"]["code"] == "state_mismatch" and "rebased" not in answer


def test_a_placeholder_is_not_offered(client, folder):
    answer = late(client, folder, changed(l20="theirs"), "write_file",
                  content="line 1\n# ... rest of file unchanged ...\n")
    assert answer["error"]["code"] == "state_mismatch" and "rebased" not in answer


def test_changed_once_more_there_is_a_new_offer(client, folder):
    answer = late(client, folder, changed(l20="theirs"))
    (folder / "a.txt").write_text(changed(l20="theirs", l25="again"))
    stale = client.call("safe_patch", file_path="a.txt", rebase=answer["rebased"]["id"],
                        base_content_sha256=answer["latest_file_state"]["sha256"])
    assert stale["error"]["code"] == "state_mismatch"
    assert stale["rebased"]["id"] != answer["rebased"]["id"]
    done = client.call("safe_patch", file_path="a.txt", rebase=stale["rebased"]["id"],
                       base_content_sha256=stale["latest_file_state"]["sha256"])
    assert done["success"] is True
    assert (folder / "a.txt").read_text() == changed(l3="mine", l20="theirs", l25="again")


def test_an_id_is_good_for_its_file_with_a_hash_and_without_a_diff(client, folder):
    answer = late(client, folder, changed(l20="theirs"))
    (folder / "b.txt").write_text(changed(l20="theirs"))
    call = dict(rebase=answer["rebased"]["id"],
                base_content_sha256=answer["latest_file_state"]["sha256"])
    other = client.call("safe_patch", file_path="b.txt", **call)
    assert other["error"]["code"] == "invalid_argument" and "a.txt" in other["message"]
    both = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF, **call)
    assert both["error"]["code"] == "invalid_argument"
    unknown = client.call("safe_patch", **dict(call, file_path="a.txt", rebase="0" * 16))
    assert unknown["error"]["code"] == "invalid_argument"
    bare = client.call("safe_patch", file_path="a.txt", rebase=call["rebase"])
    assert bare["error"]["code"] == "base_required"
    neither = client.call("safe_patch", file_path="a.txt",
                          base_content_sha256=call["base_content_sha256"])
    assert "unified_diff: required, but missing" in neither["message"]
    assert (folder / "a.txt").read_text() == changed(l20="theirs")


def test_another_session_does_not_know_it(ws, folder):
    answer = late(ws.client(), folder, changed(l20="theirs"))
    other = ws.client().call("safe_patch", file_path="a.txt", rebase=answer["rebased"]["id"],
                         base_content_sha256=answer["latest_file_state"]["sha256"])
    assert other["error"]["code"] == "invalid_argument"


def test_an_answer_with_a_diff_alone_keeps_the_text_too(client, folder):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    first = client.call("safe_patch", file_path="a.txt", unified_diff=DIFF,
                        base_content_sha256=digest(TEXT), return_content="diff")
    mine = changed(l3="mine")
    assert first["latest_file_state"]["sha256"] == digest(mine)
    (folder / "a.txt").write_text(mine.replace("line 20", "theirs"))
    answer = client.call("update_file", file_path="a.txt", old_content="line 10\n",
                         new_content="ten\n", base_content_sha256=digest(mine))
    assert "rebased" in answer


def test_only_so_much_is_kept(ws, folder):
    """The oldest of more text than the budget is forgotten."""
    client = ws.client("--answer-tokens", "0")
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    for n in range(10):
        (folder / "big.txt").write_text(("%d" % n) * 99 + "\n" + "x" * 999 + "\n" * 900000)
        read = client.call("read_file", file_path="big.txt", max_lines=2000000)
        assert "truncated" not in read
    (folder / "a.txt").write_text(changed(l20="theirs"))
    answer = client.call("write_file", file_path="a.txt", base_content_sha256=digest(TEXT), **EDITS["write_file"])
    assert answer["error"]["code"] == "state_mismatch" and "rebased" not in answer


def test_who_is_asked_sees_the_diff(ws):
    theirs = changed(l20="theirs")
    client = ws.client("--confirm", "edits", capabilities={"elicitation": {}},
                       answers={"elicitation/create": lambda _: {
                           "action": "accept", "content": {"allow": True}}})
    answer = late(client, ws.folder, theirs)
    assert client.asked == []
    done = client.call("safe_patch", file_path="a.txt", rebase=answer["rebased"]["id"],
                       base_content_sha256=answer["latest_file_state"]["sha256"])
    assert done["success"] is True
    (_, question), = client.asked
    assert "-line 3\n+mine\n" in question["message"]
    assert ws.read("a.txt") == changed(l3="mine", l20="theirs")


def test_another_copy_of_a_line_is_added_and_the_same_call_again_is_not_made_twice(client, folder):
    (folder / "a.txt").write_text("import os\nimport re\nx = 1\n")
    call = dict(file_path="a.txt", old_content="import os\n", new_content="import os\nimport re\n")
    answer = client.call("update_file", **call)
    assert answer["success"] and "already_applied" not in answer
    assert (folder / "a.txt").read_text() == "import os\nimport re\nimport re\nx = 1\n"
    answer = client.call("update_file", **call)
    assert answer["already_applied"] is True and "The same call made it before" in answer["message"]
    assert (folder / "a.txt").read_text() == "import os\nimport re\nimport re\nx = 1\n"


def test_what_a_call_made_and_cannot_be_seen_is_known_of_the_session(client, folder):
    """The old text is nowhere, the new one everywhere: only that this very call left the file so tells."""
    (folder / "a.txt").write_text("f {\n  a\n]\n}\n}\n")
    call = dict(file_path="a.txt", old_content="]", new_content="}")
    assert client.call("update_file", **call)["success"]
    again = client.call("update_file", **call)
    assert again["success"] and again["already_applied"] is True
    (folder / "a.txt").write_text("f {\n  a\n}\n}\n}\nend\n")
    late = client.call("update_file", **call)
    assert late["success"] is False and "already_applied" not in late
    assert "The same call was made already, with version" in late["message"]


@pytest.mark.parametrize("tool, edit, words", [
    ("update_file", {"old_content": "line 2\nlime 3", "new_content": "x"},
     "First difference: line 3 of the file is `line 3`, the text has `lime 3`"),
    ("safe_patch", {"unified_diff": "@@\n line 2\n-lime 3\n+x\n"},
     "First difference: line 3 of the file is `line 3`, the diff has `lime 3`"),
    ("update_file", {"old_content": "line 20", "new_content": "x"}, None),
])
def test_what_changed_does_not_hide_that_the_edit_does_not_fit(client, folder, tool, edit, words):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    now = TEXT.replace("line 20\n", "line 20 (theirs)\n")
    (folder / "a.txt").write_text(now)
    answer = client.call(tool, file_path="a.txt", base_content_sha256=digest(TEXT), **edit)
    assert answer["error"]["code"] == "state_mismatch" and "rebased" not in answer
    assert "of this session changed it since that state" in answer["message"]
    if words:
        assert "The edit does not fit the file as it is now either: " in answer["message"]
        assert words in answer["message"] and answer["error"]["found"] == "line 3"
        return
    assert "The edit fits at line 20." in answer["message"]
    edit["base_content_sha256"] = answer["latest_file_state"]["sha256"]
    assert client.call(tool, file_path="a.txt", **edit)["success"]
    assert (folder / "a.txt").read_text() == now.replace("line 20 (theirs)", "x (theirs)")


def test_an_edit_that_was_made_by_its_offer_is_not_made_twice(client, folder):
    (folder / "a.txt").write_text(TEXT)
    client.call("read_file", file_path="a.txt")
    (folder / "a.txt").write_text(TEXT.replace("line 20\n", "line 20 (theirs)\n"))
    call = dict(file_path="a.txt", old_content="line 3\n", new_content="line 3\nanother line\n")
    answer = client.call("update_file", base_content_sha256=digest(TEXT), **call)
    state = answer["latest_file_state"]["sha256"]
    assert client.call("safe_patch", file_path="a.txt", rebase=answer["rebased"]["id"],
                       base_content_sha256=state)["success"]
    made = (folder / "a.txt").read_text()
    again = client.call("update_file", **call)
    assert again["already_applied"] is True and (folder / "a.txt").read_text() == made
