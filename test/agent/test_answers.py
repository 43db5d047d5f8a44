# SPDX-License-Identifier: Apache-2.0
"""Every answer to a confirmation, against what is then on disk and what the model is told."""
import hashlib

import pytest
from test_agent import call, text, world  # noqa: F401  (world is a fixture)

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
    run = edit.run({"outcome": "modify_with_editor", "newContent": "All new.\n"})
    assert edit.now() == b"All new.\n"
    assert "The user changed this edit" in run.results()[0]["user_review"]["message"]


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


def test_a_file_that_changed_meanwhile_is_asked_about_again(world):  # noqa: F811
    edit = Edit(world)
    other = b"somebody else\n" + edit.before
    (world.path / "other").write_bytes(other)
    meanwhile = {"Notification": [{"matcher": "ToolPermission", "hooks": [
        {"type": "command", "command": "test -e %s && mv %s %s; echo {}" % (
            world.path / "other", world.path / "other", edit.path)}]}]}
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
