# SPDX-License-Identifier: Apache-2.0
"""Rules that ask for several people: an approval of hasp.approval is the owner's vote, and no
more than that."""
import asyncio
import contextlib
import json
import re
import urllib.error
import urllib.request

import pytest
from conftest import call, say

import hasp

RULE = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "ask_user"\npriority = 500\n'


class Page:
    """A browser that has come in by a link."""

    class _Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    def __init__(self, link):
        self.origin = link.split("/?")[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), self._Stay)
        with pytest.raises(urllib.error.HTTPError) as came:
            opener.open(link, timeout=60)
        assert came.value.code == 303
        self.cookie = came.value.headers["Set-Cookie"].split(";")[0]
        self.key = re.search("key=([0-9a-f]+)", came.value.headers["Location"])[1]
        self.opener = opener

    def post(self, path, **body):
        request = urllib.request.Request(
            self.origin + path,
            json.dumps(body).encode(),
            {
                "Cookie": self.cookie,
                "Origin": self.origin,
                "X-Hasp": self.key,
                "Content-Type": "application/json",
            },
        )
        with self.opener.open(request, timeout=60) as answer:
            return json.load(answer)

    def invited(self, name):
        return Page(self.post("/api/invite", name=name, role="approve")["url"])

    def answer(self, question, outcome):
        self.post(
            "/api/sessions/1/answer",
            topic="tool-confirmation-response",
            answer={"correlationId": question.raw["correlationId"], "outcome": outcome},
        )


def ruled(world, more):
    policies = world.home / ".gemini/policies"
    policies.mkdir(parents=True, exist_ok=True)
    (policies / "review.toml").write_text(RULE + more + "\n")
    return world.model(call("run_shell_command", command="touch made"), say("Done."))


@pytest.mark.parametrize(
    "rule, made",
    [
        ("approvals = 1", True),
        ("approvals = 2", False),
        ('approvals = 1\nreviewers = ["anna"]', False),
        ('approvals = 1\nreviewers = ["anna"]\nowner = "counts"', True),
        ('approvals = 1\nreviewers = ["anna"]\nowner = "may_be_outvoted"', False),
    ],
)
def test_everything_is_one_vote_of_the_owner(world, rule, made):
    model = ruled(world, rule)

    async def work():
        async with hasp.Agent(model, ".", approval=hasp.approval.Everything()) as agent:
            return [event async for event in agent.prompt("go")]

    events = asyncio.run(work())
    assert (world.root / "made").exists() == made
    if not made:
        result = next(event.data for event in events if event.topic == "tool-result")
        assert "too few people" in json.dumps(result)


class WithAnna:
    """The program says yes or no first, and then anna in a browser."""

    def __init__(self, own, annas):
        self.own, self.annas, self.anna, self.asked, self.votes = own, annas, None, [], []

    def ask(self, question):
        self.asked.append(question)
        return self.own

    def saw(self, event):
        if event.topic == "question-vote":
            self.votes.append((event.data["by"], event.data["vote"]))
            self.turn()

    def notice(self, _severity, words):
        if "Your answer does not count here" in words:
            self.turn()

    def turn(self):
        """After the owner's vote, or its refusal, it is anna's."""
        outcome, self.annas = self.annas, None
        if outcome:
            self.anna.answer(self.asked[0], outcome)


@pytest.mark.parametrize(
    "rule, own, annas, votes, made",
    [
        (
            "approvals = 2",
            hasp.Answer.once(),
            "proceed_once",
            [("owner", "approve"), ("anna", "approve")],
            True,
        ),
        (
            "approvals = 2",
            hasp.Answer.once(),
            "cancel",
            [("owner", "approve"), ("anna", "veto")],
            False,
        ),
        (
            'approvals = 1\nreviewers = ["anna"]',
            hasp.Answer.once(),
            "proceed_once",
            [("anna", "approve")],
            True,
        ),
        ('approvals = 1\nreviewers = ["anna"]', hasp.Answer.no(), None, [("owner", "veto")], False),
        (
            'approvals = 1\nreviewers = ["anna"]\nowner = "may_be_outvoted"',
            hasp.Answer.no(),
            "proceed_once",
            [("owner", "against"), ("anna", "approve")],
            True,
        ),
    ],
)
def test_rules_hold_for_the_owner_who_is_a_program(world, rule, own, annas, votes, made):
    model = ruled(world, rule)
    approval = WithAnna(own, annas)

    async def work():
        async with hasp.Agent(model, ".", approval=approval, notice=approval.notice) as agent:
            approval.anna = Page(await agent.share()).invited("anna")
            with contextlib.suppress(hasp.Cancelled):  # a no without words ends the prompt
                async for event in agent.prompt("go"):
                    approval.saw(event)

    asyncio.run(work())
    assert [vote for _, vote in approval.votes] == [vote for _, vote in votes]
    assert [by for by, _ in approval.votes if by == "anna"] == [
        by for by, _ in votes if by == "anna"
    ]
    assert (world.root / "made").exists() == made
