# SPDX-License-Identifier: Apache-2.0
"""Every answer to a confirmation, against what is then on disk and what the model is told."""
import hashlib

import pytest
from agent_world import call, text, world  # noqa: F401  (world is a fixture)

LINES = ["line %d" % i for i in range(1, 31)]


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Edit:
    """A file of 30 lines, and an edit of lines 2, 15 and 29: three hunks."""

    def __init__(self, world, ending="\n", last=True, name="a.txt"):
        self.world, self.path = world, world.root / name
        self.name, self.ending = name, ending
        self.before = ending.join(LINES).encode() + (ending.encode() if last else b"")
        self.path.write_bytes(self.before)

    def after(self, *numbers):
        data = self.before
        for n in numbers:
            data = data.replace(b"line %d" % n + (self.ending.encode() if n < 30 else b""),
                                b"LINE %d" % n + (self.ending.encode() if n < 30 else b""))
        return data

    def call(self):
        hunks = "".join("@@ -%d,3 +%d,3 @@\n line %d\n-line %d\n+LINE %d\n line %d\n" %
                        (n - 1, n - 1, n - 1, n, n, n + 1) for n in (2, 15, 29))
        return call("safe_patch", {"file_path": self.name, "unified_diff": hunks,
                                   "base_content_sha256": sha(self.before)})

    def run(self, *answers, then=(), **job):
        return self.world.run([[self.call()], *then, [text("Done.")]], interactive=True,
                              answers=list(answers), **job)

    def now(self):
        return self.path.read_bytes()


def review(*taken, **comments):
    return {"hunks": [dict({"header": "@@ -%d @@" % i, "taken": t},
                           **({"comment": comments["c%d" % i]} if "c%d" % i in comments else {}))
                      for i, t in enumerate(taken)]}


@pytest.mark.parametrize("outcome", ["proceed_once", "proceed_always"])
def test_what_is_approved_is_written(world, outcome):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": outcome})
    assert edit.now() == edit.after(2, 15, 29)
    assert "user_review" not in run.results()[0]


def test_saved_for_the_file(world):  # noqa: F811
    edit = Edit(world)
    folder = world.path / "home" / "policies"
    run = edit.run({"outcome": "proceed_always_and_save"}, save_folder=str(folder),
                   settings={"security": {"enablePermanentToolApproval": True}})
    assert edit.now() == edit.after(2, 15, 29)
    assert run.told("update-policy")[0]["saved"] is True
    assert "a\\\\.txt" in "".join(f.read_text() for f in folder.iterdir())


@pytest.mark.parametrize("ending,last", [("\n", True), ("\r\n", True), ("\n", False)])
def test_the_file_has_exactly_the_hunks_that_were_taken(world, ending, last):  # noqa: F811
    edit = Edit(world, ending, last)
    left = edit.after(2, 29)
    run = edit.run({"outcome": "modify_with_editor", "newContent": left.decode(),
                    "review": review(True, False, True, c1="Keep line 15!")})
    assert edit.now() == left
    result = run.results()[0]
    assert result["success"] and result["latest_file_state"]["sha256"] == sha(left)
    assert [h["taken"] for h in result["user_review"]["hunks"]] == [True, False, True]
    said = result["user_review"]["message"]
    assert "took 2 of 3" in said
    assert "Hunk 2 (@@ -1 @@): not taken; the user says: Keep line 15!" in said
    assert "latest_file_state is what stands now" in said


def test_mixed_endings_stay(world):  # noqa: F811
    edit = Edit(world)
    mixed = edit.before.replace(b"line 5\n", b"line 5\r\n").replace(b"line 20\n", b"line 20\r\n")
    edit.path.write_bytes(mixed)
    edit.before = mixed
    left = mixed.replace(b"line 15\n", b"LINE 15\n")
    edit.run({"outcome": "modify_with_editor", "newContent": left.decode(),
              "review": review(False, True, False)})
    assert edit.now() == left


def test_all_taken_with_a_comment_is_told(world):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": "modify_with_editor", "newContent": edit.after(2, 15, 29).decode(),
                    "review": review(True, True, True, c0="Fine, but shorter next time.")})
    assert edit.now() == edit.after(2, 15, 29)
    assert "shorter next time" in run.results()[0]["user_review"]["message"]


def test_an_edited_hunk_is_named(world):  # noqa: F811
    edit = Edit(world)
    content = edit.after(2).replace(b"LINE 2", b"Line two")
    run = edit.run({"outcome": "modify_with_editor", "newContent": content.decode(),
                    "review": review("edited", False, False)})
    assert edit.now() == content
    assert "Hunk 1 (@@ -0 @@): taken as the user edited it" in \
        run.results()[0]["user_review"]["message"]


def test_another_content_is_named(world):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": "modify_with_editor", "newContent": "All new.\n"}, return_content="new")
    assert edit.now() == b"All new.\n"
    result = run.results()[0]
    assert "The user changed this edit" in result["user_review"]["message"]
    assert "+All new." in result["diff"] and "content_omitted" not in result["latest_file_state"]


def test_none_taken_writes_nothing_and_goes_on(world):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": "cancel", "message": "Hunk 1: Why?",
                    "review": review(False, False, False, c0="Why?")})
    assert edit.now() == edit.before
    result = run.results()[0]
    assert result["error"]["code"] == "denied_by_user" and "Why?" in result["message"]
    assert result["latest_file_state"]["sha256"] == sha(edit.before)
    assert "took 0 of 3" in result["user_review"]["message"]
    assert run.outcomes[0]["end"] == "answered"


def test_no_with_words_goes_on_and_no_without_them_ends(world):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": "cancel", "message": "Use tabs."})
    assert edit.now() == edit.before and "Use tabs." in run.results()[0]["message"]
    run = world.run([[edit.call()]], interactive=True, answers=[{"outcome": "cancel"}])
    assert edit.now() == edit.before and run.outcomes[0]["end"] == "cancelled"


def swapping(world, path):
    """A hook that puts `other` in the file's place when the question comes, once. It names no file of the project,
    which would have to be trusted."""
    (world.path / "swap.sh").write_text("test -e %s && mv %s %s; echo {}\n" % (
        world.path / "other", world.path / "other", path))
    return {"Notification": [{"matcher": "ToolPermission", "hooks": [
        {"type": "command", "command": "sh %s" % (world.path / "swap.sh")}]}]}


def test_a_file_that_changed_meanwhile_is_asked_about_again(world):  # noqa: F811
    edit = Edit(world)
    other = b"somebody else\n" + edit.before
    (world.path / "other").write_bytes(other)
    meanwhile = swapping(world, edit.path)
    again = call("safe_patch", {"file_path": "a.txt", "unified_diff":
                                "@@ -2,3 +2,3 @@\n line 1\n-line 2\n+LINE 2\n line 3\n",
                                "base_content_sha256": sha(other)})
    run = edit.run({"outcome": "modify_with_editor", "newContent": edit.after(2).decode(),
                    "review": review(True, False, False)},
                   {"outcome": "proceed_once"}, then=[[again]], hooks=meanwhile)
    stale, done = run.results()
    assert stale["error"]["code"] == "state_mismatch"
    assert "nothing was written" in stale["user_review"]["message"]
    assert len(run.told("tool-confirmation-request")) == 2
    assert done["success"] and edit.now() == other.replace(b"line 2\n", b"LINE 2\n")


def test_an_outcome_that_was_not_offered_is_no(world):  # noqa: F811
    edit = Edit(world)
    world.run([[edit.call()]], interactive=True, answers=[{"outcome": "proceed_always_server"}])
    assert edit.now() == edit.before


def test_who_watches_sees_the_diff_and_the_model_the_content(world):  # noqa: F811
    edit = Edit(world)
    run = edit.run({"outcome": "proceed_once"})
    assert "+LINE 15\n" in run.told("tool-result")[0]["result"]["diff"]
    assert "diff" not in run.results()[0]
    assert run.results()[0]["latest_file_state"]["content"] == edit.now().decode()


def test_the_diffs_of_changes_too(world):  # noqa: F811
    run = world.run([[call("apply_changes", {"changes": [
        {"kind": "create", "file_path": "a", "content": "x\n"}]})], [text("Done.")]],
        interactive=True, answers=[{"outcome": "proceed_once"}])
    assert "+x\n" in run.told("tool-result")[0]["result"]["changes"][0]["diff"]
    assert "diff" not in run.results()[0]["changes"][0]


def test_a_diff_that_was_asked_for_stays(world):  # noqa: F811
    edit = Edit(world)
    asked = edit.call()
    asked["args"]["return_content"] = "diff"
    run = world.run([[asked], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_once"}])
    assert "+LINE 15\n" in run.results()[0]["diff"]


class Changes:
    """A list of changes: two edits of one file with CRLF, one of another, a new file, one that
    goes and one that is moved and edited."""

    def __init__(self, world):
        self.world, self.root = world, world.root
        self.before = {"a": "".join("line %d\r\n" % i for i in range(1, 31)), "b": "b\n",
                       "gone": "gone\n", "sub/old": "old\n"}
        for name, content in self.before.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_bytes(content.encode())
        self.after = self.before["a"].replace("line 2\r", "LINE 2\r").replace("line 29", "LINE 29")

    def base(self, name):
        return sha(self.before[name].encode())

    def call(self):
        return call("apply_changes", {"changes": [
            {"kind": "update", "file_path": "a", "old_content": "line 2\n",
             "new_content": "LINE 2\n", "base_content_sha256": self.base("a")},
            {"kind": "create", "file_path": "new", "content": "new\n"},
            {"kind": "update", "file_path": "a", "old_content": "line 29", "new_content": "LINE 29"},
            {"kind": "update", "file_path": "b", "old_content": "b", "new_content": "B"},
            {"kind": "delete", "file_path": "gone", "base_content_sha256": self.base("gone")},
            {"kind": "move", "file_path": "sub/old", "new_path": "sub/new",
             "base_content_sha256": self.base("sub/old")},
            {"kind": "update", "file_path": "sub/new", "old_content": "old", "new_content": "NEW"},
        ]})

    def run(self, *answers, end=([text("Done.")],), **job):
        (self.world.path / "journal").mkdir()
        return self.world.run([[self.call()], *end], interactive=True, answers=list(answers),
                              journal=str(self.world.path / "journal"), **job)

    def rows(self, *taken, **members):
        names = ["a", "new", "b", "gone", "sub/old"]
        return [dict({"filePath": str(self.root / n), "taken": bool(t)}, **members.get(n, {}))
                for n, t in zip(names, taken)]

    def now(self):
        return {str(p.relative_to(self.root)): p.read_bytes().decode()
                for p in sorted(self.root.rglob("*")) if p.is_file()}


def test_changes_are_shown_file_by_file(world):  # noqa: F811
    changes = Changes(world)
    details = changes.run({"outcome": "proceed_once"}).told(
        "tool-confirmation-request")[0]["details"]
    assert changes.now() == {"a": changes.after, "new": "new\n", "b": "B\n", "sub/new": "NEW\n"}
    files = {f["filePath"][len(str(world.root)) + 1:]: f for f in details["files"]}
    assert {n: f["kind"] for n, f in files.items()} == {
        "a": "edit", "new": "create", "b": "edit", "gone": "delete", "sub/old": "rename"}
    assert files["a"]["originalContent"] == changes.before["a"]
    assert files["a"]["newContent"] == changes.after
    assert files["a"]["fileDiff"].count("@@ -") == 2
    assert files["new"]["newContent"] == "new\n" and files["new"]["originalContent"] is None
    assert files["sub/old"]["newPath"] == str(world.root / "sub/new")
    assert files["sub/old"]["newContent"] is None
    assert changes.now() == {"a": changes.after, "new": "new\n", "b": "B\n", "sub/new": "NEW\n"}


def test_what_is_taken_of_changes_is_written_at_once(world):  # noqa: F811
    changes = Changes(world)
    left = changes.before["a"].replace("line 29", "LINE 29")
    run = changes.run({"outcome": "modify_with_editor", "files": changes.rows(
        True, False, False, True, True, a={"newContent": left, **review(False, True)},
        new={"comment": "Not yet"})})
    assert changes.now() == {"a": left, "b": "b\n", "sub/new": "NEW\n"}
    result = run.results()[0]
    assert result["success"], result
    files = {f["file_path"][len(str(world.root)) + 1:]: f for f in result["user_review"]["files"]}
    assert {n: f["taken"] for n, f in files.items()} == {
        "a": "edited", "new": False, "b": False, "gone": True, "sub/old": True}
    assert files["a"]["sha256"] == sha(left.encode())
    assert files["b"]["sha256"] == changes.base("b")
    assert files["sub/old"]["sha256"] == sha(b"NEW\n")
    said = result["user_review"]["message"]
    assert "took some." in said and "/a: 1 of 2 hunks taken. Hunk 1 (@@ -0 @@): not taken." in said
    assert "/new (create): not taken; the user says: Not yet. " in said
    assert "do not send what was not taken again" in said


@pytest.mark.parametrize("outcome", ["modify_with_editor", "cancel"])
def test_nothing_taken_of_changes_is_said(world, outcome):  # noqa: F811
    changes = Changes(world)
    run = changes.run({"outcome": outcome, "message": "None of it.",
                       "files": changes.rows(0, 0, 0, 0, 0, a=review(False, False))})
    assert changes.now() == changes.before
    result = run.results()[0]
    assert not result["success"] and "None of it." in result["message"]
    assert "took none: nothing was written." in result["user_review"]["message"]
    assert "/a: 0 of 2 hunks taken." in result["user_review"]["message"]


def test_all_taken_is_the_call_as_it_was(world):  # noqa: F811
    changes = Changes(world)
    run = changes.run({"outcome": "modify_with_editor", "files": changes.rows(
        1, 1, 1, 1, 1, a={"newContent": changes.after})})
    assert changes.now() == {"a": changes.after, "new": "new\n", "b": "B\n", "sub/new": "NEW\n"}
    assert len(run.results()[0]["changes"]) == 7
    assert "took all." in run.results()[0]["user_review"]["message"]


@pytest.mark.parametrize("spoil", ["unknown", "twice", "content", "undecided", "none", "old"])
def test_an_answer_about_other_files_writes_nothing(world, spoil):  # noqa: F811
    changes = Changes(world)
    rows = changes.rows(1, 1, 1, 1, 1)
    answer = {"outcome": "modify_with_editor", "files": rows}
    if spoil == "unknown":
        rows[0]["filePath"] += "x"
    elif spoil == "twice":
        rows.append(rows[0])
    elif spoil == "content":
        rows[1]["newContent"] = "other\n"
    elif spoil == "undecided":
        del rows[2]["taken"]
    elif spoil == "none":
        answer["files"] = []
    else:
        answer = {"outcome": "modify_with_editor", "newContent": "x\n"}
    # No row at all: the user said no, which ends the turn.
    run = changes.run(answer, end=[] if spoil == "none" else [[text("Done.")]])
    assert changes.now() == changes.before
    assert not run.results()[0]["success"]


def test_changes_of_a_file_that_changed_meanwhile_write_nothing(world):  # noqa: F811
    changes = Changes(world)
    (world.path / "other").write_text("other\n")
    meanwhile = swapping(world, world.root / "a")
    left = changes.before["a"].replace("line 29", "LINE 29")
    run = changes.run({"outcome": "modify_with_editor", "files": changes.rows(
        1, 1, 1, 1, 1, a={"newContent": left, **review(False, True)})}, hooks=meanwhile)
    assert changes.now() == {**changes.before, "a": "other\n"}
    stale = run.results()[0]
    assert stale["error"]["code"] == "state_mismatch"
    assert "nothing was written" in stale["user_review"]["message"]
    assert stale["user_review"]["files"][0]["sha256"] == sha(b"other\n")


# ---- questions of one reply, put together --------------------------------------------------------

def writes(*names):
    return [call("write_file", {"file_path": n, "content": n + "\n"}) for n in names]


def together(world, calls, answers, end=True, **job):
    return world.run([calls, *([[text("Done.")]] if end else [])], interactive=True, together=True,
                     answers=answers, **job)


def there(world):
    return sorted(p.name for p in world.root.iterdir())


ONCE = {"outcome": "proceed_once"}


@pytest.mark.parametrize("count", [1, 2, 12])
def test_questions_of_a_reply_are_put_together(world, count):  # noqa: F811
    """More than run at once, too; in the order of the reply."""
    names = ["f%02d" % i for i in range(count)]
    run = together(world, writes(*names), [ONCE] * count)
    asked = run.told("tool-confirmation-request")
    assert {q["together"]["count"] for q in asked} == {count}
    assert len({q["together"]["id"] for q in asked}) == 1
    assert [q["arguments"]["file_path"] for q in sorted(asked, key=lambda q: q["together"]["index"])
            ] == names
    assert there(world) == names


def test_what_runs_without_a_question_is_not_waited_for(world):  # noqa: F811
    (world.root / "a").write_text("1\n")
    calls = [*writes("b"), call("read_file", {"file_path": "a"}), *writes("c"),
             call("read_file", {"file_path": "missing"}), call("write_file", {"content": "x"})]
    run = together(world, calls, [ONCE] * 2)
    assert [q["together"]["count"] for q in run.told("tool-confirmation-request")] == [2, 2]
    assert there(world) == ["a", "b", "c"]


def test_edits_of_one_file_come_in_a_second_round(world):  # noqa: F811
    (world.root / "a").write_text("1\n2\n")

    def update(old, new):
        return call("update_file", {"file_path": "a", "old_content": old, "new_content": new})
    run = together(world, [update("1", "one"), *writes("b"), update("one", "two")], [ONCE] * 3)
    asked = run.told("tool-confirmation-request")
    assert [q["together"]["count"] for q in asked] == [2, 2, 1]
    assert "one" in asked[2]["details"]["originalContent"]
    assert (world.root / "a").read_text() == "two\n2\n"


def test_always_answers_the_others_that_wait(world):  # noqa: F811
    run = together(world, [*writes("a", "b", "c"), call("run_shell_command", {"command": "touch d"})],
                   [{"outcome": "proceed_always"}, None, None, {"outcome": "cancel", "message": "No"}])
    assert there(world) == ["a", "b", "c"]
    told = run.told("tool-confirmation-response")
    assert sum(1 for r in told if r.get("byPolicy")) == 2
    assert run.stats["tools"]["totalDecisions"] == {"accept": 1, "reject": 1, "modify": 0,
                                                    "auto_accept": 2}
    # Who shows questions learns of the rule when it has been applied to all.
    at = [i for i, line in enumerate(run.lines) if line.get("topic") == "update-policy" or
          line.get("message", {}).get("byPolicy")]
    assert len(at) == 3 and run.lines[at[-1]]["topic"] == "update-policy"


def test_always_does_not_answer_for_where_a_link_leads(world):  # noqa: F811
    """That is known only when the call looks again: it is asked about in a round of its own."""
    (world.root / "secret").write_text("x\n")
    (world.root / "l").symlink_to("secret")
    rules = world.path / "rules.toml"
    rules.write_text("[[rule]]\ntoolName = \"*\"\nargsPattern = 'secret'\ndecision = \"ask_user\"\n"
                     "priority = 999\n")
    link = call("write_file", {"file_path": "l", "content": "y\n",
                               "base_content_sha256": sha(b"x\n")})
    run = together(world, [*writes("a"), link, *writes("b")],
                   [{"outcome": "proceed_always"}, None, None, {"outcome": "cancel", "message": "No"}],
                   policy=[str(rules)])
    assert [q["together"]["count"] for q in run.told("tool-confirmation-request")] == [3, 3, 3, 1]
    assert there(world) == ["a", "b", "l", "secret"]
    assert (world.root / "secret").read_text() == "x\n"


def test_one_left_out_in_a_review_does_not_keep_others(world):  # noqa: F811
    none = {"outcome": "cancel", "review": review(False)}
    run = together(world, writes("a", "b"), [none, ONCE])
    assert there(world) == ["b"]
    assert "took 0 of 1" in run.results()[0]["user_review"]["message"]
    (world.root / "b").unlink()
    run = together(world, writes("a", "b"), [none, none], end=False)
    assert there(world) == [] and run.outcomes[0]["end"] == "cancelled"


def test_a_cancelled_prompt_leaves_no_question(world):  # noqa: F811
    run = together(world, writes("a", "b", "c"), [None, None, None], end=False,
                   cancel_on="tool-confirmation-request")
    assert there(world) == [] and run.outcomes[0]["end"] == "cancelled"
