# SPDX-License-Identifier: Apache-2.0
"""The terminal and a line front on one session."""
from fake_gemini import call, text


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def test_both_show_the_same_and_who_answers_first_has_answered(world):
    script = [[write("a.txt", "one\n")], [text("First.")], [write("b.txt", "two\n")], [text("Second.")]]
    with world.fake(script) as server, world.with_terminal(server) as hasp:
        line = world.line("line")
        line.wait(r"^\d+ opened")
        line.order("prompt from the line")
        hasp.wait("from the line").wait("Apply this change?")
        question = line.question()
        line.wait(r"^\| \+one")
        line.order("answer %s proceed_once" % question)
        hasp.wait("Answered by line: proceed_once").wait("First.")
        line.wait(r"question-answered proceed_once line")
        line.wait(r"content First\.")
        line.wait(r"ended answered line")
        assert world.read("a.txt") == "one\n"

        hasp.quiet(0.2).type("from the terminal").key("enter")
        line.wait(r"prompt from the terminal")
        question = line.question()
        hasp.wait("b.txt").wait("Apply this change?").quiet(0.1).type("1")
        line.wait(r"question-answered proceed_once terminal")
        hasp.wait("Second.")
        line.wait(r"ended answered terminal")
        line.order("answer %s cancel" % question)
        line.wait(r"^error .*answered or withdrawn")
        assert world.read("b.txt") == "two\n"


def with_rule(world, rule):
    policies = world.home / ".gemini" / "policies"
    policies.mkdir(parents=True, exist_ok=True)
    (policies / "review.toml").write_text(
        '[[rule]]\ntoolName = "write_file"\ndecision = "ask_user"\npriority = 500\n' + rule)


def test_the_terminal_shows_votes_and_has_one(world):
    with_rule(world, "approvals = 2\n")
    with world.fake([[write("a.txt", "one\n")], [text("First.")]]) as server, world.with_terminal(server) as hasp:
        anna = world.line("anna", "car")
        anna.wait(r"^\d+ opened")
        hasp.type("go").key("enter").wait("Apply this change?")
        question = anna.question()
        anna.order("answer %s proceed_once" % question)
        hasp.wait("anna approved: 1 of 2 approvals (anna); needs 1 more")
        hasp.quiet(0.1).type("1")
        hasp.wait("You approved: 2 of 2 approvals (anna, terminal)").wait("First.")
        anna.wait(r"ended answered terminal")
    assert world.read("a.txt") == "one\n"


def test_the_terminal_keeps_a_question_on_which_its_user_does_not_count(world):
    """They can still say no."""
    with_rule(world, 'approvals = 1\nreviewers = ["anna"]\n')
    with world.fake([[write("a.txt", "one\n")]]) as server, world.with_terminal(server) as hasp:
        anna = world.line("anna", "car")
        anna.wait(r"^\d+ opened")
        hasp.type("go").key("enter").wait("Apply this change?").quiet(0.1).type("1")
        hasp.wait("Your answer does not count here: this call needs 1 approval of anna").wait("Apply this change?")
        hasp.quiet(0.1).key("esc")
        anna.wait(r"vote veto terminal")
        anna.wait(r"\d+ ended")
    assert not (world.root / "a.txt").exists()


def test_the_second_front_interrupts_comments_and_changes_the_mode(world):
    with world.fake([[write("a.txt", "one\n")]]) as server, world.with_terminal(server) as hasp:
        line = world.line("line")
        line.wait(r"^\d+ opened")
        hasp.type("go").key("enter").wait("Apply this change?")
        line.question()
        line.order("comment let me look")
        hasp.wait("line: let me look")
        line.order("interrupt")
        line.wait(r"question-answered withdrawn")
        line.wait(r"ended cancelled terminal")
        hasp.wait("Interrupted.")
        line.order("mode autoEdit")
        line.wait(r"approval-mode autoEdit")
        hasp.wait("edits accepted")
    assert not (world.root / "a.txt").exists()


def test_the_terminal_leaves_while_a_question_is_open(world):
    with world.fake([[write("a.txt", "one\n")]]) as server:
        with world.with_terminal(server) as hasp:
            line = world.line("line")
            line.wait(r"^\d+ opened")
            line.order("prompt go")
            line.question()
            hasp.wait("Apply this change?").key("esc").wait("ancelled").quiet(0.1)
            hasp.key("ctrl+d")
            line.wait(r"\d+ over")
    assert not (world.root / "a.txt").exists()


def test_a_session_is_opened_again_and_orders_wait_for_that(world):
    """With another folder; the conversation continues, in the same mode, for all fronts."""
    (world.top / "more").mkdir()
    with world.fake([[text("First.")], [text("Second.")]], append_only=False) as server, world.with_terminal(server) as hasp:
        line = world.line("line")
        line.wait(r"^\d+ opened")
        hasp.type("first-words").key("enter").wait("First.").quiet(0.2)
        line.order("mode plan")
        hasp.wait("plan mode").type("/add-dir ../more").key("enter")
        line.wait(r"^\d+ paused terminal")
        line.order("prompt second")
        hasp.wait("In the workspace now: ").wait("Second.").wait("plan mode")
        line.wait(r"ended answered line")
    assert "first-words" in str(server.requests[-1].body["contents"])
