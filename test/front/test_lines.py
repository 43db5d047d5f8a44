# SPDX-License-Identifier: Apache-2.0
"""Line fronts on sessions without a terminal."""
import re

from fake_gemini import call, text


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def end(probe):
    probe.stdin.close()
    assert probe.wait(60) == 0


def test_the_first_answer_counts_and_the_others_see_by_whom(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        probe = world.lines(server, world.root)
        one, two, watcher = world.line("one"), world.line("two"), world.line("watcher", "-")
        for line in (one, two, watcher):
            line.wait(r"^\d+ opened")
        one.order("prompt go")
        question = two.question()
        assert one.question() == watcher.question() == question
        watcher.order("answer %s proceed_once" % question)
        watcher.wait(r"^error watcher may not answer questions")
        watcher.order("prompt mine")
        watcher.wait(r"^error watcher may not give orders")
        two.order("answer %s proceed_once" % question)
        for line in (one, two, watcher):
            line.wait(r"question-answered proceed_once two")
            line.wait(r"ended answered one")
        one.order("answer %s cancel" % question)
        one.wait(r"^error This question is not open")
        # All have had the same, and in the same order.
        assert one.events() == two.events() == watcher.events()
        end(probe)
    assert world.read("a.txt") == "one\n"


def test_a_late_front_gets_what_there_was_and_the_open_question(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        probe = world.lines(server, world.root)
        one = world.line("one")
        one.wait(r"^\d+ opened")
        one.order("prompt go")
        question = one.question()
        late = world.line("late")
        assert late.question() == question
        assert late.events() == one.events()
        late.order("answer %s proceed_once" % question)
        one.wait(r"question-answered proceed_once late")
        one.wait(r"ended answered one")
        number = int(one.events()[-1].split()[0])
        last = world.line("last", after=number - 1)
        assert last.wait(r"^(\d+) ended").group(1) == str(number)
        assert last.events() == one.events()[-1:]
        end(probe)


def test_what_is_not_kept_is_named(world):
    """An answer longer than what is kept."""
    long = "0123456789abcdef" * (20 << 10)
    with world.fake([[text(long)], [text("Done.")]]) as server:
        probe = world.lines(server, world.root)
        one = world.line("one")
        one.wait(r"^\d+ opened")
        one.order("prompt go")
        one.wait(r"ended answered")
        late = world.line("late")
        assert late.wait(r"missed (\d+)")
        late.wait(r"ended answered")
        end(probe)


def test_a_front_that_leaves_leaves_its_question_to_the_others(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")], [write("b.txt", "two\n")], [text("No.")]]) as server:
        probe = world.lines(server, world.root)
        one, two = world.line("one"), world.line("two")
        for line in (one, two):
            line.wait(r"^\d+ opened")
        one.order("prompt go")
        question = one.question()
        two.question()
        one.leave()
        two.order("answer %s proceed_once" % question)
        two.wait(r"ended answered one")
        assert world.read("a.txt") == "one\n"
        # With nobody left the answer is no.
        two.order("prompt again")
        two.question()
        watcher = world.line("watcher", "-")
        watcher.question(), watcher.question()
        two.leave()
        watcher.wait(r"question-answered withdrawn")
        watcher.wait(r"\d+ ended")
        end(probe)
    assert not (world.root / "b.txt").exists()


def test_two_sessions_in_one_process(world):
    """One waits for an answer; the other answers its prompts meanwhile. Both end in order."""
    other = world.top / "other"
    other.mkdir()
    script = [[write("a.txt", "one\n")], [text("Quick.")], [text("Quick again.")]]
    with world.fake(script, append_only=False) as server:
        probe = world.lines(server, world.root, other)
        slow, quick = world.line("slow", session="0"), world.line("quick", session="1")
        slow.wait(r"^\d+ opened")
        quick.wait(r"^\d+ opened")
        slow.order("prompt go")
        slow.question()
        for answer in ("Quick", "Quick again"):
            quick.order("prompt now")
            quick.wait(r"content %s\." % re.escape(answer))
            quick.wait(r"ended answered quick")
        assert not [event for event in slow.events() if "quick" in event]
        end(probe)
        slow.wait(r"ended cancelled")
        slow.wait(r"over")
        quick.wait(r"over")
    assert not (world.root / "a.txt").exists() and not list(other.iterdir())
