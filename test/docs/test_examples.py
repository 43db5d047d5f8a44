# SPDX-License-Identifier: Apache-2.0
"""Every example in README.md and docs/ does what it shows; and the runner can fail."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import run_examples  # noqa: E402


@pytest.mark.parametrize("path", run_examples.documents(), ids=lambda path: path.name)
def test_the_examples_of_a_document_do_what_they_show(path):
    wrong = [run_examples.explain(result) for result in run_examples.run(path) if not result.ok]
    assert not wrong, "\n\n".join(wrong)


def test_the_tool_command_is_shown_by_examples():
    path = run_examples.TOP / "docs" / "tool-command.md"
    assert len(run_examples.examples(path)) >= 15


def judge(tmp_path, text):
    path = tmp_path / "document.md"
    path.write_text(text)
    return [result.ok for result in run_examples.run(path)]


def test_wrong_output_is_found(tmp_path):
    assert judge(tmp_path, "```console\n$ echo one\ntwo\n```\n") == [False]


def test_missing_output_is_found(tmp_path):
    assert judge(tmp_path, "```console\n$ echo one; echo two\none\n```\n") == [False]


def test_output_that_is_not_shown_is_found(tmp_path):
    assert judge(tmp_path, "```console\n$ true\nword\n```\n") == [False]


def test_dots_stand_for_text_and_for_lines(tmp_path):
    text = "```console\n$ seq 5; echo abc\n1\n...\n5\na...c\n```\n"
    assert judge(tmp_path, text) == [True]


def test_the_exit_status_and_variables_last_from_one_command_to_the_next(tmp_path):
    text = "```console\n$ a=7; false\n$ echo $? $a\n1 7\n```\n"
    assert judge(tmp_path, text) == [True, True]


def test_a_command_can_be_continued_and_be_hidden(tmp_path):
    text = "<!-- $ echo hi > f -->\n```console\n$ cat f &&\n> echo done\nhi\ndone\n```\n"
    assert judge(tmp_path, text) == [True, True]


def test_other_blocks_are_not_run(tmp_path):
    assert judge(tmp_path, "```sh\n$ false\n```\n") == []
