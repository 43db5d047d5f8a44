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
