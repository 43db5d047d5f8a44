# SPDX-License-Identifier: Apache-2.0
"""Several reviewers in browsers: a rule that asks for two approvals, each person with one vote."""
import json

import pytest

from fake_gemini import call, text


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


@pytest.fixture
def ruled(world):
    def rule(more, **groups):
        policies = world.home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "review.toml").write_text(
            '[[rule]]\ntoolName = "write_file"\ndecision = "ask_user"\npriority = 500\n' + more)
        world.settings(hasp={"reviewers": {"groups": groups}})
        return world
    return rule


def votes(events):
    return [(event["message"]["by"], event["message"]["vote"]) for event in events.seen
            if event.get("topic") == "question-vote"]


def test_two_reviewers_approve_and_the_audit_says_who(ruled):
    world = ruled('approvals = 2\nreviewers = ["@security"]\n', security=["anna", "ben"])
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.opened(server) as owner:
        # Both are invited, and have not come yet: the question waits for them.
        anna, ben, eve = (owner.invite(name, "approve", groups=["security"]) for name in ("anna", "ben", "eve"))
        events = owner.events()
        events.until("opened")
        owner.order("prompt", {"text": "go"})
        question = events.question()
        assert question["approvals"]["needed"] == 2
        # A group that the settings have is theirs: an invitation into it does not count, nor does the owner's word.
        for other in (eve, owner):
            refused = other.answer(question)
            assert (refused.status, refused.code) == (403, "permission_denied")
        other = anna.answer(question, shown="0" * 64)
        assert other.status >= 400 and "something else" in other.json["error"]["message"]
        assert anna.answer(question, shown=question["shown"]).status == 200
        assert anna.answer(question).status == 200
        assert not (world.root / "a.txt").exists()
        assert ben.answer(question).status == 200
        answered = events.until("bus", "question-answered")["message"]
        assert (answered["by"], answered["approvedBy"]) == ("ben", ["anna", "ben"])
        events.until("ended")
        assert votes(events) == [("anna", "approve"), ("anna", "approve"), ("ben", "approve")]
    assert world.read("a.txt") == "one\n"
    records = [json.loads(line) for line in (world.home / ".gemini" / "hasp-audit" / "00000001.jsonl").open()]
    assert [record.get("by") for record in records if record["event"] == "vote"] == ["anna", "anna", "ben"]


def test_a_revoked_reviewers_approval_lapses(ruled):
    world = ruled("approvals = 3\n")
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.opened(server) as owner:
        anna, ben = owner.invite("anna", "approve"), owner.invite("ben", "approve")
        events = owner.events()
        events.until("opened")
        owner.order("prompt", {"text": "go"})
        question = events.question()
        assert anna.answer(question).status == 200 and ben.answer(question).status == 200
        events.until("bus", "question-vote", by="ben")
        anna_id = next(row["id"] for row in owner.get("/api/invites").json if row["name"] == "anna")
        assert owner.post("/api/invites/%s/revoke" % anna_id).status == 200
        # Two people are left, and three are needed: the answer is no, and says why.
        assert events.until("bus", "question-vote", by="anna")["message"]["vote"] == "lapsed"
        assert "too few people" in json.dumps(events.until("bus", "tool-result")["message"]["result"])
        events.until("ended")
    assert not (world.root / "a.txt").exists()
