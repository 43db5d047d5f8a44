# SPDX-License-Identifier: Apache-2.0
"""Several reviewers: rules that ask for more than one approval, votes at line fronts."""
import hashlib
import json
import re

import pytest

from fake_gemini import call, text

OWN = """
[[rule]]
toolName = ["write_file", "safe_patch", "update_file"]
decision = "ask_user"
priority = 500
"""


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def sees(*words):
    """As a step's "expect": the last message to the model has these words."""
    def expect(request):
        last = json.dumps(request.body["contents"][-1])
        return ["%r is not in %s" % (word, last) for word in words if word not in last]
    return expect


def end(probe):
    probe.stdin.close()
    assert probe.wait(60) == 0


class Review:
    """A session with an owner and reviewers, and a rule."""

    def __init__(self, world, server, people, rule, groups=None):
        policies = world.home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "review.toml").write_text(rule if "[[rule]]" in rule else OWN + rule)
        if groups:
            world.settings(hasp={"reviewers": {"groups": groups}})
        self.world, self.probe = world, world.lines(server, world.root)
        self.owner = world.line("owner")
        self.people = {name: world.line(name, "car") for name in people}
        for line in (self.owner, *self.people.values()):
            line.wait(r"^\d+ opened")

    def line(self, name):
        return self.owner if name == "owner" else self.people[name]

    def ask(self):
        """All have the question."""
        self.owner.order("prompt go")
        question = self.owner.question()
        for line in self.people.values():
            assert line.question() == question
        return question

    def vote(self, name, question, outcome="proceed_once", **more):
        self.line(name).order("vote " + json.dumps({"correlationId": question, "outcome": outcome, **more}))

    def wait(self, pattern):
        """All see it."""
        found = None
        for line in (self.owner, *self.people.values()):
            found = line.wait(pattern)
        return found


@pytest.fixture
def review(world):
    def start(server, people, rule, groups=None):
        return Review(world, server, people, rule, groups)
    return start


def test_two_of_three_must_approve(world, review):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna", "ben"), "approvals = 2\n")
        question = session.ask()
        session.vote("anna", question)
        session.wait(r"vote approve anna 1/2 1 more$")
        assert not (world.root / "a.txt").exists()
        # One person has one vote, from whichever page.
        again = world.line("anna", "car")
        again.question()
        again.wait(r"vote approve anna 1/2")
        again.order("answer %s proceed_once" % question)
        again.wait(r"vote approve anna 1/2")
        session.vote("owner", question)
        session.wait(r"vote approve owner 2/2 $")
        session.wait(r"question-answered proceed_once owner")
        session.wait(r"ended answered owner")
        session.vote("ben", question)
        session.people["ben"].wait(r"^error This question is not open")
        end(session.probe)
    assert world.read("a.txt") == "one\n"


def test_a_veto_is_a_no_with_words(world, review):
    with world.fake([[write("a.txt", "one\n")], {"reply": [text("I see.")], "expect": sees("ben declined this call and says: not on a Friday")}]) as server:
        session = review(server, ("anna", "ben"), "approvals = 2\n")
        question = session.ask()
        session.vote("anna", question)
        session.vote("ben", question, "cancel", message="not on a Friday")
        session.wait(r"vote veto ben")
        session.wait(r"question-answered cancel ben")
        session.wait(r"ended answered owner")
        end(session.probe)
    assert not (world.root / "a.txt").exists()


@pytest.mark.parametrize("owner, people, votes, done", [
    # An owner who does not count cannot approve, and their no is one.
    ("does_not_count", ("anna",), [("owner", "proceed_once", r"^error Your answer does not count here"),
                                   ("anna", "proceed_once", r"vote approve anna 1/1")], True),
    ("does_not_count", ("anna",), [("owner", "cancel", r"vote veto owner")], False),
    # An owner who may be outvoted is.
    ("may_be_outvoted", ("anna",), [("owner", "cancel", r"vote against owner"),
                                    ("anna", "proceed_once", r"vote approve anna 1/1")], True),
    ("counts", ("anna",), [("owner", "proceed_once", r"vote approve owner 1/1")], True),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_the_owner_may(world, review, owner, people, votes, done):
    rule = 'approvals = 1\nreviewers = ["anna"]\nowner = "%s"\n' % owner
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]], append_only=False) as server:
        session = review(server, people, rule)
        question = session.ask()
        for name, outcome, seen in votes:
            session.vote(name, question, outcome)
            session.line(name).wait(seen)
        session.owner.wait(r"\d+ ended")
        end(session.probe)
    assert (world.root / "a.txt").exists() == done


def test_groups_are_the_settings(world, review):
    """A reviewer who is not of the group does not count, and cannot veto."""
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna", "eve"), 'approvals = 1\nreviewers = ["@security"]\n',
                         {"security": ["anna"]})
        question = session.ask()
        for outcome in ("proceed_once", "cancel", "proceed_always"):
            session.vote("eve", question, outcome)
            session.line("eve").wait(r"^error .*needs 1 approval of @security \(.*review.toml:2\)")
        session.vote("anna", question)
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "one\n"


def test_too_few_people_is_a_no_at_once(world, review):
    with world.fake([[write("a.txt", "one\n")], {"reply": [text("I see.")], "expect": sees("needs 3 approvals", "too few people")}]) as server:
        session = review(server, ("anna",), "approvals = 3\n")
        session.owner.order("prompt go")
        session.owner.wait(r"ended answered owner")
        assert not [event for event in session.owner.events() if " ask " in event]
        end(session.probe)


def test_the_last_who_could_answer_leaves(world, review):
    """Somebody who is invited may still come; when the invitation is revoked, their vote lapses."""
    with world.fake([[write("a.txt", "one\n")], {"reply": [text("I see.")], "expect": sees("too few people who count can answer")}]) as server:
        session = review(server, ("anna",), "approvals = 3\n")
        session.owner.order("invite ben")
        session.owner.order("invite anna")
        question = session.ask()
        session.vote("anna", question)
        session.wait(r"vote approve anna 1/3")
        session.line("anna").leave()
        session.vote("owner", question)
        session.owner.wait(r"vote approve owner 2/3")
        session.owner.order("uninvite anna")
        session.owner.wait(r"vote lapsed anna 1/3")
        session.owner.wait(r"ended answered owner")
        end(session.probe)
    assert not (world.root / "a.txt").exists()


def test_an_approval_can_be_withdrawn(world, review):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna", "ben"), "approvals = 2\n")
        question = session.ask()
        session.vote("anna", question)
        session.wait(r"vote approve anna 1/2")
        session.vote("anna", question, "withdraw")
        session.wait(r"vote lapsed anna 0/2")
        session.vote("anna", question, "withdraw")
        session.line("anna").wait(r"^error There is no approval of yours")
        session.vote("ben", question)
        session.wait(r"vote approve ben 1/2")
        session.vote("owner", question)
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "one\n"


def test_swapped_bytes_are_asked_about_again(world, review):
    """Who approves other bytes has proposed them: the approvals of the first lapse."""
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna", "ben"), "approvals = 2\n")
        question = session.ask()
        session.vote("anna", question)
        session.wait(r"vote approve anna 1/2")
        session.vote("ben", question, "modify_with_editor", newContent="evil\n")
        session.wait(r"vote lapsed anna 0/2")
        second = session.owner.question()
        assert second != question and not (world.root / "a.txt").exists()
        session.owner.wait(r"vote approve ben 1/2")
        # A late page sees what has been voted, and no one else's earlier approval counts.
        late = world.line("late", "-")
        assert late.question() == question and late.question() == second
        late.wait(r"vote approve ben 1/2")
        session.vote("anna", question)
        session.line("anna").wait(r"^error This question is not open")
        session.vote("anna", second)
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "evil\n"


def test_a_front_does_not_say_who_has_approved(world, review):
    """Members that are hasp's own are taken off an answer, with a rule and without one."""
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna",), "")
        session.owner.order("answered")
        question = session.ask()
        session.vote("anna", question, approvedBy=["ben", "carl"], byPolicy=True, unmet="ignore all")
        whole = json.loads(session.owner.wait(r"^answered (.*)").group(1))
        assert whole["by"] == "anna" and "approvedBy" not in whole
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "one\n"


def test_an_answer_names_what_it_is_about(world, review):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, ("anna",), "approvals = 2\n")
        session.owner.order("whole")
        session.owner.order("prompt go")
        question = session.owner.question()
        whole = json.loads(session.owner.wait(r"^whole (.*)").group(1))
        assert re.fullmatch("[0-9a-f]{64}", whole["shown"])
        assert whole["noAlways"] and "proceed_always" not in whole["outcomes"]
        assert whole["approvals"]["needed"] == 2 and whole["approvals"]["rules"][0]["owner"] == "counts"
        assert whole["details"]["newSha256"] == hashlib.sha256(b"one\n").hexdigest()
        assert ("file \"%s\" - \"%s\"\n" % (whole["details"]["filePath"], whole["details"]["newSha256"]) in
                whole["approvals"]["statement"])
        session.vote("anna", question, shown="0" * 64)
        session.line("anna").wait(r"^error This answer is about something else")
        session.vote("anna", question, shown=whole["shown"])
        session.wait(r"vote approve anna 1/2")
        session.vote("owner", question, shown=whole["shown"])
        session.wait(r"ended answered owner")
        end(session.probe)


def test_what_was_approved_is_for_a_file_as_it_was(world, review):
    """The file changes while the last vote is awaited: nothing is written, and the approvals lapse."""
    (world.root / "a.txt").write_text("old\n")
    sha = hashlib.sha256(b"old\n").hexdigest()
    edit = call("write_file", {"file_path": "a.txt", "content": "new\n", "base_content_sha256": sha})
    with world.fake([[edit], [text("I see.")]]) as server:
        session = review(server, ("anna",), "approvals = 2\n")
        question = session.ask()
        session.vote("anna", question)
        session.wait(r"vote approve anna 1/2")
        (world.root / "a.txt").write_text("other\n")
        session.vote("owner", question)
        session.wait(r"question-answered proceed_once")
        session.wait(r"vote lapsed anna")
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "other\n"


def test_a_command_needs_them_in_any_spelling(world, review):
    rule = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "touch"
decision = "ask_user"
priority = 600
approvals = 2

[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 100
"""
    script = []
    for line in ("to''uch x", "sh -c 'touch x'", "$(echo touch) x", "eval \"$y\"; echo x"):
        script += [[call("run_shell_command", {"command": line})]]
    with world.fake([*script, [text("Done.")]], append_only=False) as server:
        session = review(server, ("anna",), rule)
        session.owner.order("prompt go")
        for _ in script:
            question = session.owner.question()
            assert session.line("anna").question() == question
            session.vote("owner", question)
            session.owner.wait(r"vote approve owner 1/2")
            session.vote("anna", question, "cancel", message="no")
            session.owner.wait(r"vote veto anna")
        session.owner.wait(r"ended answered owner")
        end(session.probe)
    assert not (world.root / "x").exists()


@pytest.mark.parametrize("count", [2, 5, 50])
def test_many_reviewers(world, review, count):
    names = ["p%d" % i for i in range(count)]
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        session = review(server, names, 'approvals = %d\nowner = "does_not_count"\n' % count)
        question = session.ask()
        for name in names:
            session.vote(name, question)
        session.wait(r"question-answered proceed_once p\d+")
        session.wait(r"ended answered owner")
        votes = [event for event in session.owner.events() if " vote approve " in event]
        assert sorted(int(vote.split()[4].split("/")[0]) for vote in votes) == list(range(1, count + 1))
        end(session.probe)
    assert world.read("a.txt") == "one\n"


def test_comments_reach_the_model_and_the_next_proposal_answers_them(world, review):
    def has_comments(request):
        results = [part["functionResponse"]["response"] for part in request.body["contents"][-1]["parts"]
                   if "functionResponse" in part]
        said = results[0]["user_review"]
        wanted = [{"id": "c1", "file_path": said["comments"][0]["file_path"], "side": "new",
                                     "lines": "2-3", "sha256": hashlib.sha256(b"a\nb\nc\nd\n").hexdigest(),
                                     "text": "b\nc\n", "comment": "use words", "by": "anna"}]
        return [] if said["comments"] == wanted and "There is 1 comment" in said["message"] else repr(said)
    with world.fake([[write("a.txt", "a\nb\nc\nd\n")], {"reply": [write("a.txt", "a\nbeta\ngamma\nd\n")],
                                                        "expect": has_comments}, [text("Done.")]]) as server:
        session = review(server, ("anna",), "approvals = 2\n")
        session.owner.order("whole")
        question = session.ask()
        path = json.loads(session.owner.wait(r"^whole (.*)").group(1))["details"]["filePath"]
        good = {"filePath": path, "side": "new", "startLine": 2, "endLine": 3, "text": "use words"}
        for wrong, why in (({"startLine": 4, "endLine": 5}, "lines that the file does not have"),
                           ({"startLine": 0}, "count from 1"), ({"side": "both"}, "must have the side"),
                           ({"side": "old"}, "has no text here"), ({"filePath": "b.txt"}, "names no file"),
                           ({"text": " "}, "is empty"), ({"text": "x" * 16385}, "longer than 16 KB")):
            session.vote("anna", question, "cancel", comments=[{**good, **wrong}])
            session.line("anna").wait(r"^error Comment 1 .*" + why)
        session.vote("anna", question, "cancel", comments=[good])
        session.wait(r"vote veto anna")
        second = session.owner.question()
        whole = json.loads(session.owner.wait(r"^whole (.*)").group(1))
        assert whole["round"] == 2 and whole["answers"] == ["c1"]
        assert whole["previous"] == {path: hashlib.sha256(b"a\nb\nc\nd\n").hexdigest()}
        assert whole["details"]["previousContent"] == "a\nb\nc\nd\n"
        session.vote("anna", second)
        session.vote("owner", second)
        session.wait(r"ended answered owner")
        end(session.probe)
    assert world.read("a.txt") == "a\nbeta\ngamma\nd\n"
