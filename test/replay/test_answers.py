# SPDX-License-Identifier: Apache-2.0
"""A small piece of `script/bench answers`, with hasp alone: the measurement itself, and what an edit may add."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "script" / "lib"), str(HERE.parent / "model")]
import bench_answers  # noqa: E402
import bench_products as ways  # noqa: E402

LINES = (13, 303)


@pytest.fixture(scope="module")
def found():
    return bench_answers.gather(ways.products(["hasp"]), LINES)


def test_each_editor_of_hasp_is_measured_with_a_hash_and_without(found):
    rows = {(row["editor"], row["locked"]) for row in found["rows"]}
    assert {(name, locked) for name in ("safe_patch", "update_file", "write_file", "apply_changes")
            for locked in (True, False)} <= rows
    for row in found["rows"]:
        assert set(row["cells"]) == {(lines, part) for lines in LINES for part in (False, True)}
        for cell in row["cells"].values():
            assert 0 < cell["answer"] < cell["request"] and not cell["shortened"]


def test_no_edit_of_what_was_seen_is_refused_or_costs_more_than_it_may(found):
    """With a hash or without, read whole or in part."""
    for row in found["rows"]:
        for at, cell in row["cells"].items():
            assert cell["calls"] == 1 and cell["answer"] <= bench_answers.TARGET, (row["who"], row["editor"], row["locked"],
                                                                                   at, cell)


class Knowing(bench_answers.Task):
    """The model has the file before its first reply."""

    def __call__(self, request, provider):
        if self.first_edit is not None:
            return super().__call__(request, provider)
        self.first_edit = 0
        return self.say(bench_answers.edit_call(self.editor, ways.tools(request, provider), self.place, None))


def reading(request, provider):
    """The model reads the file, no more."""
    done = provider.tool_results(request)
    return {"reply": [{"text": "Done."} if done else ways.read_call(ways.tools(request, provider), "file.txt")]}


def with_arguments(product, *more):
    return ways.Product(product.name, product.kind, lambda prompt: [*product.argv(prompt), *more], product.environment,
                        strict=True, prepare=product.prepare)


@pytest.mark.parametrize("editor,lines", [("update_file", 303), ("update_file", 3003), ("safe_patch", 303), ("write_file", 303)])
@pytest.mark.parametrize("way", ["mentioned", "resumed"])
def test_a_file_that_came_otherwise_is_known_as_well(tmp_path, way, lines, editor):
    """By @file, or in a session that is resumed; without a hash."""
    own = next(one for one in ways.products(["hasp"]) if "own editors" in one.name)
    work, place = tmp_path / "work", bench_answers.Place(lines)
    work.mkdir()
    (work / "file.txt").write_text("\n".join(place.before) + "\n")
    task = Knowing(work / "file.txt", place, editor, False, False)
    if way == "resumed":
        ways.run(own, tmp_path / "home", work, "Read file.txt.", reading)
        own = with_arguments(own, "--resume", "latest")
    name = "file.txt" if way == "resumed" else "@file.txt"
    requests = ways.run(own, tmp_path / "home", work, "In %s, replace factor by FACTOR." % name, task)
    assert task.done_at == 1, ways.texts(bench_answers.conversation_end(requests))
    assert ways.added(*requests[:2]) <= bench_answers.TARGET


def test_the_table_has_all_figures(found):
    text = bench_answers.page(found, LINES)
    assert text.count("| hasp, ") == 2 * len(found["rows"]) + len(found["first"])


def request_of(*items):
    request = lambda: None  # noqa: E731
    request.body = {"messages": list(items)}
    request.raw = ways.json.dumps(request.body, separators=(",", ":")).encode()
    return request


def test_what_the_model_said_is_not_counted():
    asked = {"role": "user", "content": "Edit it."}
    called = {"role": "assistant", "content": "x" * 1000}
    answer = {"role": "user", "content": "done"}
    before, after = request_of(asked), request_of(asked, called, answer)
    assert ways.added(before, after) == ways.size(answer) + 1
    assert ways.grew(before, after) and not ways.grew(after, request_of(asked, answer))


def test_all_text_of_a_result_is_found():
    value = {"output": '{"content": "one\\ntwo", "hunks": [{"line": 3, "text": "three"}]}', "n": 4}
    assert ways.texts(value) == "one\ntwo\nthree"


def test_a_peer_that_cannot_be_had_is_named():
    lost = ways.Product("codex 0.169", "openai", None, None)
    lost.missing = "npm did not install it"
    gone = bench_answers.gather([lost], LINES)
    assert "| codex 0.169 | missing: npm did not install it |" in bench_answers.page(gone, LINES)
