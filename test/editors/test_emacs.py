# SPDX-License-Identifier: Apache-2.0
"""editors/emacs in emacs --batch, against the real `hasp acp` and a fake model."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from fake_gemini import call, text

TOP = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("emacs_driver.el")
SECONDS = 120
NINE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def emacs(world, server, steps, *arguments, command=None):
    """What the steps, a Lisp form, return."""
    (world.temp / "steps.el").write_text("(progn %s)" % steps)
    result = world.temp / "result.json"
    env = world.environment(server, HASP_TEST_SECONDS=os.environ.get("HASP_TEST_SECONDS", "100"),
                            HASP_TEST_STEPS=str(world.temp / "steps.el"), HASP_TEST_RESULT=str(result),
                            HASP_TEST_COMMAND=json.dumps(command or world.argv(server, ["acp", *arguments])),
                            LC_ALL="C.UTF-8")
    done = subprocess.run(["emacs", "--batch", "-Q", "-L", str(TOP / "editors/emacs"), "-l", str(DRIVER)],
                          cwd=world.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    assert result.exists(), done.stdout.decode(errors="replace")
    answer = json.loads(result.read_text())
    assert answer["ok"], answer["result"]
    return answer["result"]


def edit(name, old, new):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new})


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def read(name):
    return call("read_file", {"file_path": name})


def test_it_compiles_without_a_warning(tmp_path):
    source = tmp_path / "hasp.el"
    source.write_text((TOP / "editors/emacs/hasp.el").read_text())
    done = subprocess.run(["emacs", "--batch", "-Q", "-f", "batch-byte-compile", str(source)], timeout=SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0 and done.stdout == b"", done.stdout.decode()


def test_a_prompt_and_its_answer_are_shown(world):
    with world.fake([[text("Good morning, ÄÖÜ 😀.")]]) as server:
        said = emacs(world, server, '(test-send "hellö") (test-ended) (test-text)')
        assert "hell\u00f6" in json.dumps(server.requests[0].body, ensure_ascii=False)
    assert said == "> hellö\n\nGood morning, ÄÖÜ 😀."


@pytest.mark.parametrize("key, text_then", [("1", "1\n"), ("n", "one\n")])
def test_an_edit_is_asked_about_and_the_open_file_is_read_again(world, key, text_then):
    world.write("a.txt", "one\n")
    with world.fake([[edit("a.txt", "one", "1")], [text("Done.")]]) as server:
        shown, buffer = emacs(world, server, """
            (let ((file (find-file-noselect "a.txt")) shown)
              (test-send "go") (test-question) (setq shown (test-text))
              (test-key "%s") (test-ended)
              (vector shown (with-current-buffer file (buffer-string))))""" % key)
    assert "-one\n+1" in shown and "[1] Allow once" in shown
    assert world.read("a.txt") == text_then == buffer


def test_hunks_are_left_out_in_ediff(world):
    world.write("a.txt", NINE)
    new = NINE.replace("one", "ONE").replace("nine", "NINE")
    with world.fake([[read("a.txt")], [write("a.txt", new)], [text("Done.")]]) as server:
        said = emacs(world, server, """
            (test-send "go") (test-question)
            (test-review (lambda () (ediff-copy-A-to-B nil)))
            (test-ended) (test-text)""")
    assert "→ Taken in part" in said and world.read("a.txt") == NINE.replace("nine", "NINE")


def test_what_is_typed_into_the_proposed_text_is_written(world):
    world.write("a.txt", "one\n")
    with world.fake([[read("a.txt")], [edit("a.txt", "one", "1")], [text("Done.")]]) as server:
        emacs(world, server, """
            (test-send "go") (test-question)
            (test-review (lambda () (with-current-buffer ediff-buffer-B (erase-buffer) (insert "uno\\n"))))
            (test-ended)""")
    assert world.read("a.txt") == "uno\n"


def test_all_hunks_left_out_is_a_no(world):
    world.write("a.txt", "one\n")
    with world.fake([[read("a.txt")], [edit("a.txt", "one", "1")]]) as server:
        emacs(world, server, """
            (test-send "go") (test-question)
            (test-review (lambda () (ediff-copy-A-to-B nil)))
            (test-ended)""")
    assert world.read("a.txt") == "one\n"


def test_a_review_as_proposed_is_a_yes_and_one_that_is_not_taken_is_no_answer(world):
    world.write("a.txt", "one\n")
    with world.fake([[edit("a.txt", "one", "1")], [text("Done.")]]) as server:
        waits = emacs(world, server, """
            (test-send "go") (test-question) (test-key "d")
            (with-current-buffer (test-ediff)
              (cl-letf (((symbol-function 'y-or-n-p) #'ignore)) (ediff-really-quit nil)))
            (let ((waits (length (buffer-local-value 'hasp--questions test-buffer))))
              (test-review #'ignore) (test-ended) waits)""")
    assert waits == 1 and world.read("a.txt") == "1\n"


def test_several_files_are_reviewed_one_after_the_other(world):
    for name in ("a.txt", "b.txt"):
        world.write(name, "one\n")
    changes = [{"kind": "update", "file_path": name, "old_content": "one", "new_content": "1"}
               for name in ("a.txt", "b.txt")]
    with world.fake([[call("apply_changes", {"changes": changes})], [text("Done.")]]) as server:
        emacs(world, server, """
            (test-send "go") (test-question)
            (test-review (lambda () (ediff-copy-A-to-B nil)))
            (with-current-buffer (test-ediff)
              (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t))) (ediff-really-quit nil)))
            (test-ended)""")
    assert world.read("a.txt") == "one\n" and world.read("b.txt") == "1\n"


def test_unsaved_buffers_are_read_and_edited_in_emacs(world):
    world.write("a.txt", "saved\n")
    script = [[read("a.txt")], [edit("a.txt", "unsaved", "edited")], [text("Done.")]]
    with world.fake(script) as server:
        said = emacs(world, server, """
            (let ((file (find-file-noselect "a.txt")))
              (with-current-buffer file (erase-buffer) (insert "unsaved\\n"))
              (test-send "go") (test-ended)
              (with-current-buffer file (vector (buffer-string) (buffer-modified-p))))""", "--yolo")
        assert "unsaved" in json.dumps(server.requests[1].body["contents"][-1])
    assert said == ["edited\n", True] and world.read("a.txt") == "saved\n"


def test_mentions_are_links(world):
    world.write("my notes.txt", "remember the milk\n")
    world.write("b.c", "int b;\n")
    with world.fake([[text("Done.")]]) as server:
        emacs(world, server, r"""(test-send "read @my\\ notes.txt and @b.c#L1 not @missing") (test-ended)""")
        said = json.dumps(server.requests[0].body["contents"])
    assert "remember the milk" in said and "int b;" in said and "lines L1" in said and "@missing" in said


def test_mode_and_model_are_options_and_a_cancelled_question_is_a_no(world):
    world.write("a.txt", "one\n")
    with world.fake([[edit("a.txt", "one", "1")]]) as server:
        said = emacs(world, server, """
            (test-send "go") (test-question) (test-key "C-c C-c") (test-ended)
            (let ((stop (buffer-local-value 'hasp--stop test-buffer)))
              (with-current-buffer test-buffer (hasp-set "mode" "nonsense"))
              (test-shows "is not a mode")
              (with-current-buffer test-buffer (hasp-set "mode" "autoEdit"))
              (test-shows "mode: autoEdit")
              (with-current-buffer test-buffer
                (vector stop (hasp--get (hasp--option "mode") :currentValue))))""")
    assert said == ["cancelled", "autoEdit"] and world.read("a.txt") == "one\n"


def test_the_models_questions_are_forms(world):
    questions = [{"question": "Which colour?", "header": "Colour", "type": "choice",
                  "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]
    with world.fake([[call("ask_user", {"questions": questions})], [text("Done.")]]) as server:
        emacs(world, server, """
            (test-send "go") (test-question)
            (test-shows "Which colour?")
            (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "Blue: cold"))
                      ((symbol-function 'read-string) (lambda (&rest _) "")))
              (test-key "a"))
            (test-ended)""")
        assert '"Blue"' in json.dumps(server.requests[1].body["contents"][-1])


def test_a_recorded_session_comes_again(world):
    with world.fake([[text("First.")], [text("Second.")]]) as server:
        said = emacs(world, server, """
            (test-send "hello") (test-ended)
            (let ((id (buffer-local-value 'hasp--session test-buffer)))
              (with-current-buffer test-buffer (hasp-new))
              (test-wait "a session" (eq hasp--state 'ready))
              (unless (equal (test-text) "") (error "%S" (test-text)))
              (with-current-buffer test-buffer (hasp-new id))
              (test-wait "a session" (eq hasp--state 'ready))
              (test-shows "First.")
              (test-send "more") (test-ended) (test-text))""")
    assert "hello" in said and said.endswith("Second.")


HOSTILE = "-*- eval: (setq bad 1) -*-\n[[elisp:(setq bad 1)]]\x1b]0;x\x07 a\u202eb `(setq bad 1)' https://example.com\n"


def test_text_of_the_model_is_only_text(world):
    """No local variables, no buttons, no control characters, no marks of direction."""
    world.write("a.txt", "one\n")
    content = "-*- mode: emacs-lisp; eval: (setq bad 1); tab-width: 3 -*-\ntext\n"
    with world.fake([[read("a.txt")], [text(HOSTILE), write("a.txt", content)], [text("Done.")]]) as server:
        said = emacs(world, server, """
            (let ((enable-local-variables :all) (enable-local-eval t)
                  (file (find-file-noselect "a.txt")) keys)
              (test-send "go") (test-question) (test-review #'ignore) (test-ended)
              (with-current-buffer test-buffer
                (let ((at (point-min)))
                  (while (setq at (next-property-change at))
                    (cl-loop for (name) on (text-properties-at at) by #'cddr
                             do (cl-pushnew (symbol-name name) keys :test #'equal)))))
              (vector (test-text) (boundp 'bad) (vconcat keys)
                      (with-current-buffer file
                        (vector (buffer-string) tab-width (symbol-name major-mode)))))""")
    assert said[1] is None and said[3] == [content, 8, "text-mode"]
    assert set(said[2]) <= {"face"}
    assert "\x1b" not in said[0] and "\\x1b]0;x\\x07" in said[0] and "\u202e" not in said[0]


@pytest.mark.parametrize("program, said", [
    (["false"], "exit code 1"), (["no-such-program"], "cannot be started"), (["echo", "nonsense"], "not JSON")])
def test_an_agent_that_is_none_is_said_to_be_none(world, program, said):
    with world.fake([]) as server:
        emacs(world, server, '(test-shows "%s")' % said, command=program)
