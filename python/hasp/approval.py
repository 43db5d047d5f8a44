# SPDX-License-Identifier: Apache-2.0
"""Approval of an agent's calls: refuse all, allow all, ask on a terminal or in a browser.

In a notebook use `hasp.notebook.Widget`.

The agent is the same under each:

    hasp.Agent(workspace=".", approval=hasp.approval.Terminal())
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from .questions import Answer, FileDiff, Question

if TYPE_CHECKING:
    from .agent import Agent

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}


class Nothing:
    """Refuses every call, with a reason, so that the model continues without it."""

    def __init__(self, words: str = "This run cannot ask for approval.") -> None:
        self.words = words

    def ask(self, question: Question) -> Answer:
        """No."""
        return Answer.no(self.words)


class Everything:
    """Yes to every call, for runs that may do all that the sandbox allows: in CI, in a container.

    Questions of ask_user and forms are declined: their answers are not known.
    """

    def ask(self, question: Question) -> Answer:
        """Yes, this time."""
        return Answer.no() if question.kind in ("ask_user", "form") else Answer.once()


def visible(text: str) -> str:
    """Text of a stranger's for a terminal: what acts on it, or hides, is shown by its number."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else f"<U+{ord(char):04X}>" for char in text
    )


class Terminal:
    """Shows the question on a terminal, and reads the answer.

    The answer is y, s (session), a (always), n, h (hunk by hunk), or words, which are a no that
    says what to do instead. Where the input is not a terminal, the answer is no.
    """

    def __init__(self, output: TextIO | None = None, source: TextIO | None = None) -> None:
        self.output = output
        self.source = source

    def ask(self, question: Question) -> Answer:
        """Blocks the question's own thread, and not the loop."""
        out, source = self.output or sys.stderr, self.source or sys.stdin
        if not source.isatty():
            return Answer.no("The input is not a terminal, so the question could not be asked.")
        if question.kind in ("ask_user", "form"):
            return self._texts(question, out, source)
        self._show(question, out)
        offers = (
            ["y"]
            + ["s"] * ("session" in question.choices)
            + ["a"] * ("always" in question.choices)
            + ["n"]
        )
        offers += ["h"] * any(len(file.hunks) > 1 for file in question.files)
        said = self._line(f"[{'/'.join(offers)}, or what to do instead] ", out, source)
        while len(said) == 1 and said not in offers:
            said = self._line(f"That is not offered here. [{'/'.join(offers)}] ", out, source)
        plain: dict[str, Callable[[], Answer]] = {
            "y": Answer.once,
            "s": Answer.session,
            "a": Answer.always,
            "n": Answer.no,
            "": Answer.no,
        }
        if said == "h" and "h" in offers:
            return self._by_hunk(question, out, source)
        if said == "" or said in offers:
            return plain[said]()
        return Answer.no(said)

    def _line(self, words: str, out: TextIO, source: TextIO) -> str:
        out.write(words)
        out.flush()
        return source.readline().strip()

    def _diff(self, text: str, out: TextIO) -> None:
        colours = out.isatty()
        for line in visible(text).splitlines():
            colour = _COLOURS.get(line[:1]) if colours else None
            out.write(f"{colour}{line}\x1b[0m\n" if colour else line + "\n")

    def _show(self, question: Question, out: TextIO) -> None:
        out.write(f"\n{visible(question.title or question.tool)}\n")
        for file in question.files:
            self._diff(file.diff, out)
        if question.command:
            out.write(f"  $ {visible(question.command)}\n")
        for file in question.preview:
            out.write(f"{visible(file.path)}\n")
            self._diff(file.diff, out)
        if not (question.files or question.preview or question.command or question.text):
            for name, value in question.arguments.items():
                out.write(f"  {visible(name)}: {visible(str(value))}\n")
        if question.text and not question.preview:
            out.write(visible(question.text) + "\n")

    def _by_hunk(self, question: Question, out: TextIO, source: TextIO) -> Answer:
        taken: dict[str, list[int]] = {}
        for file in question.files:
            taken[file.path] = self._of_file(file, out, source)
        return Answer.hunks(taken)

    def _of_file(self, file: FileDiff, out: TextIO, source: TextIO) -> list[int]:
        chosen = []
        for hunk in file.hunks:
            out.write(f"{visible(file.path)} {hunk.header}\n")
            self._diff("\n".join(hunk.lines), out)
            if self._line("take it? [y/n] ", out, source) == "y":
                chosen.append(hunk.index)
        return chosen

    def _texts(self, question: Question, out: TextIO, source: TextIO) -> Answer:
        answers: dict[str, str] = {}
        for index, one in enumerate(question.questions):
            out.write(
                visible(str(one.get("question") or one.get("title") or one.get("name") or ""))
                + "\n"
            )
            for option in one.get("options", []):
                label = option.get("label", option) if isinstance(option, dict) else option
                out.write(f"  - {visible(str(label))}\n")
            answers[str(one.get("name", index))] = self._line("> ", out, source)
        return Answer.text(answers)


class Browser:
    """Questions are answered in a browser.

    The agent makes the link when it opens, and it is written to `output` (None: standard error).
    The link is for one person and works once; `show` makes another.
    """

    def __init__(self, port: int = 0, output: TextIO | None = None) -> None:
        self.port = port
        self.output = output
        self.link: str | None = None

    async def opened(self, agent: Agent) -> None:
        """Writes the link; the agent calls this before its first prompt."""
        out = self.output or sys.stderr
        out.write(f"Answer at {await self.show(agent)}\n")
        out.flush()

    async def show(self, agent: Agent) -> str:
        """Another link, which works once. Not while a prompt is under way."""
        self.link = await agent.share(self.port)
        return self.link

    def ask(self, question: Question) -> None:
        """Leaves the answer to the browser."""
