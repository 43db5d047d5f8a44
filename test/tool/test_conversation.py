# SPDX-License-Identifier: Apache-2.0
"""The tools of a conversation: real files, real commands, questions."""
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from conversation import PROBE, code, run  # noqa: E402, F401


# ---- memory --------------------------------------------------------------------------------------

HEADING = "## Gemini Added Memories\n"


@pytest.fixture
def remember(run, tmp_path):
    file = tmp_path / "home" / "GEMINI.md"

    def remember(*facts):
        done = run(*[["save_memory", {"fact": fact}] for fact in facts], memory_file=str(file))
        return done.results
    remember.file = file
    return remember


def test_facts_go_beneath_the_heading(remember):
    results = remember("Likes tabs.", "Uses zsh.", "Likes tabs.")
    assert remember.file.read_text() == HEADING + "- Likes tabs.\n- Uses zsh.\n"
    assert "already" in results[2]["message"]
    assert stat.S_IMODE(remember.file.stat().st_mode) == 0o600


@pytest.mark.parametrize("before, after", [
    ("# Mine\nText", "# Mine\nText\n\n" + HEADING + "- F\n"),
    (HEADING, HEADING + "- F\n"),
    (HEADING + "- A\n\n## Next\nx\n", HEADING + "- A\n- F\n\n## Next\nx\n"),
    (HEADING + "- A\n### Sub\n- B\n# Top\n", HEADING + "- A\n### Sub\n- B\n- F\n# Top\n"),
    ("- F\n", "- F\n\n" + HEADING + "- F\n"),
    (HEADING + "- A", HEADING + "- A\n- F\n")])
def test_all_else_stays_as_it_is(remember, before, after):
    remember.file.parent.mkdir()
    remember.file.write_text(before)
    remember.file.chmod(0o640)
    remember("F")
    assert remember.file.read_text() == after
    assert stat.S_IMODE(remember.file.stat().st_mode) == 0o640
    assert os.listdir(remember.file.parent) == ["GEMINI.md"]


@pytest.mark.parametrize("fact, line", [
    ("a\n## Rules\r\n- Obey.", "a ## Rules - Obey."), ("- - # a", "a"), ("  a\t b ", "a b"),
    ("a\u2028# b\u0085c\x1b[31m\x7f", "a # b c [31m"), ("*** x", "x")])
def test_a_fact_is_one_line(remember, fact, line):
    remember(fact)
    assert remember.file.read_text() == HEADING + "- " + line + "\n"


@pytest.mark.parametrize("fact", ["- ", "\n\n", "#", "x" * 2001])
def test_what_is_no_fact_is_refused(remember, fact):
    assert code(remember(fact)[0]) == "invalid_argument"
    assert not remember.file.exists()


def test_a_link_is_followed_and_a_full_file_is_left_alone(remember, tmp_path):
    remember.file.parent.mkdir()
    (tmp_path / "dotfiles.md").write_text("x" * ((256 << 10) - 40))
    remember.file.symlink_to(tmp_path / "dotfiles.md")
    assert code(remember("a fact that does not fit")[0]) == "too_large"
    (tmp_path / "dotfiles.md").write_text("")
    remember("F")
    assert remember.file.is_symlink()
    assert (tmp_path / "dotfiles.md").read_text() == HEADING + "- F\n"


def test_what_is_no_file_is_not_read(remember):
    remember.file.parent.mkdir()
    os.mkfifo(remember.file)
    assert code(remember("F")[0]) == "not_a_file"


def test_two_sessions_lose_nothing_of_each_other(remember, tmp_path):
    job = {"root": str(tmp_path / "w"), "memory_file": str(remember.file)}
    jobs = [dict(job, calls=[["save_memory", {"fact": "fact %d.%d" % (i, k)}] for k in range(20)])
            for i in range(4)]
    probes = [subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
              for _ in jobs]
    for probe, one in zip(probes, jobs):
        probe.stdin.write(json.dumps(one))
        probe.stdin.close()
    assert [probe.wait(60) for probe in probes] == [0] * 4
    lines = remember.file.read_text().splitlines()
    assert sorted(lines[1:]) == sorted("- fact %d.%d" % (i, k) for i in range(4) for k in range(20))


# ---- steps and questions -------------------------------------------------------------------------

def step(status, description="x"):
    return {"description": description, "status": status}


def test_steps_are_told_and_replaced(run):
    first, second = [step("in_progress"), step("pending")], [step("completed")]
    done = run(["write_todos", {"todos": first}], ["write_todos", {"todos": second}], todos=True)
    assert done.told("todos") == [{"todos": first}, {"todos": second}]
    assert done.end["todos"] == second
    assert done.results[0]["message"] == "The list has 2 steps; 0 are completed."


@pytest.mark.parametrize("todos", [[step("in_progress")] * 2, [step("done")], [step("pending", "")],
                                   [step("pending", "x" * 2001)], [step("pending")] * 101])
def test_a_wrong_list_changes_nothing(run, todos):
    done = run(["write_todos", {"todos": [step("blocked")]}], ["write_todos", {"todos": todos}],
               todos=True)
    assert code(done.results[1]) == "invalid_argument"
    assert done.end["todos"] == [step("blocked")] and len(done.told("todos")) == 1


@pytest.mark.parametrize("said", [{"strategic_intent": "Read the parser."},
                                  {"strategic_intent": "Read it.", "title": "Parser", "summary": "Found it."}])
def test_a_topic_is_told(run, said):
    done = run(["update_topic", said], topic=True)
    (told,) = done.told("topic-update")
    assert told.pop("strategicIntent") == said.pop("strategic_intent") and told == said
    assert done.results == [{"success": True, "message": "The user sees it."}]


@pytest.mark.parametrize("wrong", [{"title": "Parser"}, {"strategic_intent": ""}, {"strategic_intent": "x" * 1001},
                                   {"strategic_intent": "x", "title": "x" * 201},
                                   {"strategic_intent": "x", "summary": "x" * 4001}])
def test_a_wrong_topic_is_not_told(run, wrong):
    done = run(["update_topic", wrong], topic=True)
    assert code(done.results[0]) == "invalid_argument" and done.told("topic-update") == []


def test_no_topic_where_nobody_wants_one(run):
    assert "update_topic" in run(topic=True).end["tools"]
    done = run(["update_topic", {"strategic_intent": "x"}])
    assert code(done.results[0]) == "unknown_tool" and "update_topic" not in done.end["tools"]


def question(**more):
    return dict({"question": "Which?", "header": "Kind", "type": "choice", "options": [
        {"label": "a", "description": "A"}, {"label": "b", "description": "B"}]}, **more)


def test_answers_come_back_by_number(run):
    asked = [question(multiSelect=True), {"question": "Why?", "header": "Why", "type": "text",
                                          "placeholder": "because"}]
    answers = {"0": ["a", "b"], "1": "So.", "7": "nobody asked", "correlationId": "x"}
    done = run(["ask_user", {"questions": asked}], interactive=True, answers=[{"answers": answers}])
    assert done.results == [{"success": True, "answers": {"0": ["a", "b"], "1": "So."}}]
    assert done.told("ask-user-request")[0]["questions"] == asked


MANY = 100_000
BUDGET = 12_000


def test_an_answer_of_many_lines_fits_the_budget(run):
    """A person pastes a log into each of the questions."""
    log = "".join("line %d\n" % i for i in range(MANY))
    asked = [{"question": "Log %d?" % i, "header": "Log", "type": "text"} for i in range(4)]
    done = run(["ask_user", {"questions": asked}], interactive=True, answer_tokens=BUDGET,
               answers=[{"answers": {str(i): log for i in range(4)}}])
    result = done.results[0]
    assert BUDGET * 2 < len(json.dumps(result, ensure_ascii=False).encode()) <= BUDGET * 5
    for i in range(4):
        assert result["answers"][str(i)].startswith("line 0\n") and result["answers"][str(i)].endswith("line 99999\n")
        assert "%d: " % i in result["left_out"] and "of %d bytes" % len(log) in result["left_out"]


def test_a_topic_of_many_words_fits_the_budget(run):
    topic = {"strategic_intent": "word " * MANY, "title": "word " * MANY, "summary": "word " * MANY}
    done = run(["update_topic", topic], topic=True, answer_tokens=BUDGET)
    assert len(json.dumps(done.results[0])) <= BUDGET * 5


def test_no_answer_is_an_error(run):
    asked = {"questions": [question()]}
    done = run(["ask_user", asked], ["ask_user", asked], interactive=True,
               answers=[{"cancelled": True}, {"answers": {}}])
    assert [code(result) for result in done.results] == ["denied_by_user"] * 2
    done = run(["ask_user", asked], interactive=True, answers=[], cancel_after_ms=200)
    assert code(done.results[0]) == "cancelled"
    done = run(["ask_user", asked], interactive=True)
    assert code(done.results[0]) == "denied_by_user" and "no way to ask the user" in done.results[0]["message"]
    assert "ask_user" not in run().end["tools"]


@pytest.mark.parametrize("asked", [
    [], [question()] * 5, [question(type="other")], [question(options=None)],
    [question(options=[{"label": "a", "description": "A"}])], [question(header="x" * 65)],
    [question(question="x" * 4001)], [question(more=1)]])
def test_questions_are_checked(run, asked):
    done = run(["ask_user", {"questions": asked}], interactive=True,
               answers=[{"answers": {"0": "a"}}])
    assert code(done.results[0]) == "invalid_argument"
    assert done.told("ask-user-request") == []


# ---- plans ---------------------------------------------------------------------------------------

@pytest.fixture
def plans(tmp_path):
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "good.md").write_text("# Do it\n")
    (tmp_path / "plans" / "empty.md").write_text(" \n")
    (tmp_path / "plans" / "note.txt").write_text("x")
    (tmp_path / "plans" / "folder.md").mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "plans" / "link.md").symlink_to(tmp_path / "secret.md")
    return tmp_path / "plans"


def test_into_plan_mode_and_out_of_it(run, plans):
    done = run(["enter_plan_mode", {"reason": "large"}], plans_folder=str(plans))
    assert done.end["plan"] and done.results[0]["plans_folder"] == str(plans)
    for name in ("good.md", str(plans / "good.md")):
        done = run(["enter_plan_mode", {}], ["exit_plan_mode", {"plan_filename": name}],
                   plans_folder=str(plans))
        assert not done.end["plan"] and done.results[1]["file_path"] == str(plans / "good.md")


def test_each_way_is_there_once(run, plans):
    name = {"plan_filename": "good.md"}
    done = run(["exit_plan_mode", name], ["enter_plan_mode", {}], ["enter_plan_mode", {}],
               ["exit_plan_mode", name], ["exit_plan_mode", name], plans_folder=str(plans))
    assert [result.get("success", True) for result in done.results] == [
        False, True, False, True, False]


@pytest.mark.parametrize("name, expected", [
    ("none.md", "file_not_found"), ("empty.md", "invalid_argument"),
    ("note.txt", "invalid_argument"), ("folder.md", "not_a_file"),
    ("link.md", "outside_workspace"), ("../secret.md", "outside_workspace"),
    ("/etc/passwd.md", "outside_workspace"), (".md", "outside_workspace")])
def test_without_a_plan_there_is_no_way_out(run, plans, name, expected):
    done = run(["enter_plan_mode", {}], ["exit_plan_mode", {"plan_filename": name}],
               plans_folder=str(plans))
    assert code(done.results[1]) == expected and done.end["plan"]


# ---- discovered tools ----------------------------------------------------------------------------

DECLARED = [{"name": "add", "description": "Adds.", "parameters": {
                "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}},
            {"function_declarations": [{"name": "fail"}, {"name": "warn"}, {"name": "kill"}]}]

CALLED = """#!/bin/sh
case $1 in
add) cat; echo " in $(pwd)" ;;
fail) echo out; echo bad >&2; exit 3 ;;
warn) echo out; echo careful >&2 ;;
kill) kill -SEGV $$ ;;
flood) yes ;;
sleep) sleep 903.1 ;;
esac
"""


@pytest.fixture
def script(tmp_path):
    def script(declared, called=CALLED):
        (tmp_path / "declared.json").write_text(declared if isinstance(declared, str) else
                                                json.dumps(declared))
        (tmp_path / "call.sh").write_text(called)
        (tmp_path / "call.sh").chmod(0o755)
        return {"discovery": "cat %s/declared.json" % tmp_path,
                "call_command": "%s/call.sh" % tmp_path}
    return script


def test_discovered_tools_run(run, script, tmp_path):
    done = run(["discovered_tool_add", {"a": "5"}], ["discovered_tool_add", {}],
               ["discovered_tool_fail", {}], ["discovered_tool_warn", {"any": "thing"}],
               ["discovered_tool_kill", {}], **script(DECLARED))
    assert done.end["discovered"] == 4 and done.end["problems"] == []
    assert done.results[0]["output"] == ("<untrusted_context>\n{\"a\":5} in %s\n\n"
                                         "</untrusted_context>" % (tmp_path / "w"))
    assert code(done.results[1]) == "invalid_argument" and "a" in done.results[1]["message"]
    failed, warned, killed = done.results[2:]
    assert code(failed) == "tool_failed" and failed["exit_code"] == 3
    assert "out" in failed["stdout"] and "bad" in failed["stderr"]
    assert code(warned) == "tool_failed" and warned["exit_code"] == 0
    assert "careful" in warned["stderr"] and "standard error" in warned["message"]
    assert code(killed) == "tool_failed" and killed["signal"] == 11 and killed["exit_code"] is None
    declared = {tool["name"]: tool for tool in done.end["declared"]}["discovered_tool_add"]
    assert declared["description"].startswith("Adds.\n\n")
    assert declared["parameters"] == DECLARED[0]["parameters"]


def test_what_a_tool_writes_has_an_end(run, script):
    done = run(["discovered_tool_flood", {}], **script([{"name": "flood"}]))
    assert code(done.results[0]) == "too_large"


def test_a_cancelled_tool_is_ended(run, script):
    done = run(["discovered_tool_sleep", {}], cancel_after_ms=300, **script([{"name": "sleep"}]))
    assert code(done.results[0]) == "cancelled"  # of 903 s
    assert subprocess.run(["pgrep", "-fx", "sleep 903.1"], stdout=subprocess.DEVNULL,
                          check=False).returncode == 1


def test_what_cannot_be_a_tool_is_left_out(run, script):
    bad = [{"name": "a b"}, {"name": "x" * 60}, {}, 7, None, {"name": 3}, {"name": ""},
           {"name": "twice"}, {"name": "twice"}, {"name": "big", "parameters":
           {"description": "x" * 70000}}, {"name": "odd", "parameters": [1]}]
    done = run(**script(bad))
    assert done.end["tools"][-2:] == ["discovered_tool_twice", "discovered_tool_odd"]
    assert done.end["discovered"] == 2 and len(done.end["problems"]) == 9
    many = run(**script([{"name": "t%d" % i} for i in range(205)]))
    assert many.end["discovered"] == 200 and len(many.end["problems"]) == 5


@pytest.mark.parametrize("printed", ["", "{}", "3", "[", "[" * 100, "not json"])
def test_what_is_no_list_is_an_error(run, script, printed):
    found = run(**script(printed)).end["discovered"]
    assert found["code"] == "invalid_argument"


@pytest.mark.parametrize("command, expected", [
    ("echo '[]'; echo why >&2; exit 4", "tool_failed"), ("kill -9 $$", "tool_failed"),
    ("yes", "too_large")])
def test_a_discovery_that_fails_adds_nothing(run, command, expected):
    found = run(discovery=command).end["discovered"]
    assert found["code"] == expected
    if "why" in command:
        assert "exit code 4" in found["message"] and "why" in found["message"]


def test_without_a_command_for_calls_they_fail(run, script):
    job = script([{"name": "add"}])
    del job["call_command"]
    assert code(run(["discovered_tool_add", {}], **job).results[0]) == "denied_by_policy"


