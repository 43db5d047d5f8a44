# SPDX-License-Identifier: Apache-2.0
"""A small piece of script/replay, with hasp alone: what becomes of real edits, damaged, and after refusals.

Everything that is made is what was meant, whatever was damaged; what is as it should be is made; and who is refused
needs one further reply, except where a place cannot be known.
"""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "script" / "lib"), str(HERE.parent / "model")]
import bench_products as ways  # noqa: E402
import damages  # noqa: E402
import report  # noqa: E402
import scripted  # noqa: E402
import tasks  # noqa: E402

AMONG, TASKS = 40, 7  # so many are run of so many, those with the damages that are rare
EDITORS = [one for one in report.contenders() if one.ours and one.dialect != "together"]
# Of these, some places cannot be known: what a short text means, and where an edit went that is there already.
UNKNOWN = ("not unique", "sent again")


@pytest.fixture(scope="module")
def every():
    found = tasks.load(AMONG)
    return [found[number] for number in report.sample(found, TASKS)]


@pytest.fixture(scope="module", params=EDITORS, ids=lambda one: one.name)
def results(request, every):
    product = ways.products([request.param.product])[0]
    return [report.replay(request.param, product, task) for task in every]


def test_tasks_are_several_edits_of_which_some_are_damaged(every):
    assert len(every) == TASKS
    assert all(len(task.edits) >= tasks.FEWEST for task in every)
    kinds = {edit.damage for task in every for edit in task.edits}
    assert None in kinds and len(kinds) >= 9, kinds


def test_nothing_is_made_otherwise_than_meant(results):
    assert [one["wrong"] for one in results if one["wrong"]] == []


def test_every_edit_is_made_in_the_end(results):
    assert [one["stopped"] for one in results if one["stopped"]] == []


def test_an_edit_as_it_should_be_is_not_refused(results):
    refused = [damage.answer for one in results for damage in one["damages"] if damage.kind == scripted.NO_DAMAGE]
    assert refused == []


def test_a_refusal_takes_one_further_reply(results):
    refused = [damage for one in results for damage in one["damages"] if damage.refused]
    assert refused, "nothing was refused: the damages do nothing"
    slow = [(damage.kind, damage.rounds, damage.answer) for damage in refused
            if damage.rounds > 1 and damage.kind not in UNKNOWN]
    assert slow == []


# ---- the parts ---------------------------------------------------------------------------


def edit(old, new, at=2):
    return tasks.Edit("a.c", at, old, new)


LINES = ["int a;", "", '\tputs("a");  /* x */', "}", "", "}"]


def test_the_places_of_a_diff_are_cut_to_what_changes():
    diff = "--- a\n+++ b\n@@ -1,4 +1,4 @@ f\n one\n-two\n+zwei\n three\n four\n@@ -9,2 +9,3 @@\n nine\n+new\n ten\n"
    found = list(tasks.edits_of("a.c", diff))
    assert [(one.at, one.old, one.new) for one in found] == [(1, ["two"], ["zwei"]), (9, [], ["new"])]


@pytest.mark.parametrize("kind, old", [
    ("indentation", '    puts("a");  /* x */'), ("quotes", "\tputs(“a”);  /* x */"),
    ("escaped", '\tputs(\\"a\\");  /* x */'), ("blanks", '\tputs("a"); /* x */'),
    ("line numbers", '3\t\tputs("a");  /* x */'), ("misremembered", '\tstup("a");  /* x */')])
def test_a_damage_changes_the_old_text_and_its_difference_is_what_must_be_shown(kind, old):
    block = damages.Block.of(LINES, [(2, edit(LINES[2:3], ["\treturn;"]))], 0)
    whole = damages.Block.of(LINES, [(2, edit(LINES[2:3], ["\treturn;"]))], 0)
    assert damages.damaged(block, kind, True)
    assert block.old() == [old]
    assert whole.missing(block.old()) == LINES[2:3]


def test_a_shortened_block_occurs_more_than_once():
    block = damages.shortened(LINES, 3, edit(["}"], ["};"], 3))
    assert block.old() == ["}"] and damages.occurrences(LINES, block) == 2
    assert damages.shortened(LINES, 0, edit(["int a;"], ["int b;"], 0)) is None


def test_a_peer_that_cannot_be_had_is_named():
    lost = report.Contender("gemini-cli 0.61, replace", "gemini-cli", "exact", missing="npm did not install it")
    assert "| gemini-cli 0.61, replace | missing: npm did not install it |" in report.page([lost], [], 0)


def model_of(tmp_path):
    task = tasks.Task("t", {"a.c": "\n".join(LINES) + "\n"}, [edit(LINES[2:3], ["\treturn;"])])
    model = scripted.Model(task, tmp_path, "exact")
    return model, model.blocks(task.edits, True)[0]


@pytest.mark.parametrize("answer, enough", [
    ({"message": "No match. The file has: " + LINES[2]}, True),
    ({"message": "First difference: line 3.", "content_omitted": "already shown as version 1"}, True),
    ({"message": "First difference: line 3."}, False),
    ({"message": "First difference: line 9.", "content_omitted": "already shown as version 1"}, False),
    ({"message": "String to replace not found in file."}, False)])
def test_an_answer_is_enough_if_it_shows_the_line_or_where_it_was_shown(tmp_path, answer, enough):
    model, (path, block) = model_of(tmp_path)
    assert model.shows(answer, path, block, set(LINES) - {LINES[2]}) == enough
    model.files[path].lines[0] += " // changed since"
    model.files[path].where.write_bytes(model.files[path].text())
    assert model.shows(answer, path, block, set(LINES) - {LINES[2]}) == (enough and LINES[2] in answer["message"])


def test_an_edit_that_fits_what_is_there_now_is_sent_as_it_was(tmp_path):
    model, (path, block) = model_of(tmp_path)
    assert scripted.FITS_NOW.search("State Mismatch: ... The edit fits at line 3.")
    damages.damaged(block, "blanks", True)
    model.names, model.last = {"update_file": {"file_path": {}, "old_content": {}, "new_content": {}}}, [(path, block)]
    answer = {"success": False, "message": "The edit fits at line 3."}
    replies = list(model.recover([edit(LINES[2:3], ["\treturn;"])], answer, scripted.Damage("blanks")))
    assert len(replies) == 1 and block.old()[0] in str(replies[0][0]["args"])
