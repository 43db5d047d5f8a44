# SPDX-License-Identifier: Apache-2.0
"""Questions of an agent, and their answers."""
from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from . import errors

QuestionKind = Literal["edit", "command", "mcp", "tool", "plan", "ask_user", "form", "more"]

_TYPES: dict[str, QuestionKind] = {
    "edit": "edit",
    "exec": "command",
    "mcp": "mcp",
    "info": "tool",
    "sandbox_expansion": "more",
}
_OUTCOMES = {
    "proceed_once": "once",
    "proceed_always": "session",
    "proceed_always_tool": "session",  # of a call of an MCP server's tool
    "proceed_always_and_save": "always",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Hunk:
    """A piece of an edit that can be taken or left."""

    index: int
    header: str
    lines: list[str]  # each with its mark: " ", "-" or "+"


@dataclasses.dataclass(frozen=True, slots=True)
class FileDiff:
    """What an edit does to one file.

    Without both texts (a new file, a deleted one) it is taken whole or not at all.
    """

    path: str
    diff: str
    old_text: str | None
    new_text: str | None
    hunks: list[Hunk]

    @classmethod
    def between(cls, path: str, old: str, new: str) -> FileDiff:
        """The difference of two texts; `path` is what a person reads above it."""
        hunks = _hunks(old, new)
        lines = [line for hunk in hunks for line in (hunk.header, *hunk.lines)]
        return cls(path, "".join(line + "\n" for line in lines), old, new, hunks)


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """Something that is asked before it is done.

    `choices`: how it may be allowed ("once", "session", "always"); no is always an answer. `raw` is
    the whole message (docs/bus.md).
    """

    id: str
    kind: QuestionKind
    tool: str
    title: str
    arguments: dict[str, Any]
    files: list[FileDiff]
    command: str | None
    text: str
    choices: list[str]
    why: str
    questions: list[dict[str, Any]]  # of ask_user, and the fields of a form
    raw: dict[str, Any]
    preview: list[FileDiff] = dataclasses.field(
        default_factory=list
    )  # of `@hasp.tool(preview=...)`


class Approval(Protocol):
    """Answers an agent's questions.

    `ask` may also be a plain function. If there is a method `opened(agent)`, the agent calls it
    before its first prompt.
    """

    async def ask(self, question: Question) -> Answer | None:
        """The answer; None: it comes from elsewhere, as from a browser.

        The call is refused and the prompt fails if this raises or the answer does not fit the
        question.
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a question; made by the functions below."""

    allow: Literal["once", "session", "always", "no"]
    words: str = ""
    taken: dict[str, list[int]] | None = None
    texts: dict[str, str] | None = None
    answers: dict[str, str] | None = None

    @classmethod
    def once(cls) -> Answer:
        """This time."""
        return cls("once")

    @classmethod
    def session(cls) -> Answer:
        """Until the session ends, also what is like it (`Question.raw["scope"]`)."""
        return cls("session")

    @classmethod
    def always(cls) -> Answer:
        """From now on, by a rule in the user's policies, where the settings permit that."""
        return cls("always")

    @classmethod
    def no(cls, words: str = "") -> Answer:
        """Not done. With words, the model gets them and goes on; without, the prompt ends."""
        return cls("no", words)

    @classmethod
    def hunks(cls, taken: Mapping[str, Iterable[int]], words: str = "") -> Answer:
        """Of an edit these hunks alone, by file and index."""
        return cls(
            "once", words, taken={path: sorted(set(indices)) for path, indices in taken.items()}
        )

    @classmethod
    def edited(cls, texts: Mapping[str, str], words: str = "") -> Answer:
        """Other contents than those that were proposed, by file."""
        return cls("once", words, texts=dict(texts))

    @classmethod
    def text(cls, answers: Mapping[str, str] | str) -> Answer:
        """Answers ask_user or a form, by the question's number ("0", "1") or the field's name.

        A text alone answers the first question.
        """
        return cls("once", answers={"0": answers} if isinstance(answers, str) else dict(answers))


# ---- from the bus -------------------------------------------------------------------


def _opcodes(old: str, new: str) -> list[list[tuple[str, int, int, int, int]]]:
    matcher = difflib.SequenceMatcher(
        None, old.splitlines(True), new.splitlines(True), autojunk=False
    )
    return list(matcher.get_grouped_opcodes(3))


def _hunks(old: str | None, new: str | None) -> list[Hunk]:
    if old is None or new is None:
        return []
    before, after = old.splitlines(True), new.splitlines(True)
    found = []
    for index, group in enumerate(_opcodes(old, new)):
        lines: list[str] = []
        for tag, a, b, c, d in group:
            lines += [(" " if tag == "equal" else "-") + line.rstrip("\n") for line in before[a:b]]
            lines += ["+" + line.rstrip("\n") for line in after[c:d] if tag != "equal"]
        first, last = group[0], group[-1]
        header = f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@"
        found.append(Hunk(index, header, lines))
    return found


def with_hunks(old: str, new: str, taken: Sequence[int]) -> str:
    """The old text with some of the hunks."""
    before, after = old.splitlines(True), new.splitlines(True)
    out: list[str] = []
    at = 0
    for index, group in enumerate(_opcodes(old, new)):
        for _, a, b, c, d in group:
            out += before[at:a]
            out += after[c:d] if index in taken else before[a:b]
            at = b
    return "".join(out + before[at:])


def _file(details: Mapping[str, Any]) -> FileDiff:
    old, new = details.get("originalContent"), details.get("newContent")
    return FileDiff(
        str(details.get("newPath") or details.get("filePath", "")),
        str(details.get("fileDiff", "")),
        old,
        new,
        _hunks(old, new),
    )


def question_of(topic: str, message: dict[str, Any]) -> Question:
    """A question's message as a `Question`."""
    if topic == "ask-user-request":
        asked = list(message.get("questions", []))
        return Question(
            message["correlationId"],
            "ask_user",
            "ask_user",
            "",
            {},
            [],
            None,
            "\n".join(str(one.get("question", "")) for one in asked),
            ["once"],
            "",
            asked,
            message,
        )
    if topic == "elicitation-request":
        return Question(
            message["correlationId"],
            "form",
            str(message.get("serverName", "")),
            "",
            {},
            [],
            None,
            str(message.get("message", "")),
            ["once"],
            "",
            list(message.get("fields", [])),
            message,
        )
    details = message.get("details", {})
    several = details.get("files")
    kind = _TYPES.get(str(details.get("type")), "tool")
    if message.get("modes"):
        kind = "plan"
    files = [_file(one) for one in several or ([details] if kind == "edit" else [])]
    return Question(
        message["correlationId"],
        kind,
        str(message.get("toolName", "")),
        str(details.get("title", "")),
        dict(message.get("arguments", {})),
        files,
        details.get("command"),
        str(details.get("prompt", "")),
        [_OUTCOMES[one] for one in message.get("outcomes", []) if one in _OUTCOMES],
        str(message.get("reason", "")),
        [],
        message,
    )


# ---- to the bus ------------------------------------------------------------------------


def _review(file: FileDiff, taken: Sequence[int], words: str) -> list[dict[str, Any]]:
    """What became of each hunk; the words are about the first that was left."""
    rows: list[dict[str, Any]] = [
        {"header": hunk.header, "taken": hunk.index in taken} for hunk in file.hunks
    ]
    left = [row for row in rows if not row["taken"]] or rows
    if words and left:
        left[0]["comment"] = words
    return rows


def _partial(question: Question, answer: Answer) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for file in question.files:
        if answer.texts is not None:
            if file.path in answer.texts:
                rows.append(
                    {"filePath": file.path, "taken": True, "newContent": answer.texts[file.path]}
                )
            continue
        taken = (answer.taken or {}).get(file.path)
        if taken is None:
            continue
        row: dict[str, Any] = {
            "filePath": file.path,
            "taken": bool(taken),
            "hunks": _review(file, taken, answer.words),
        }
        if file.old_text is not None and file.new_text is not None and taken:
            row["newContent"] = with_hunks(file.old_text, file.new_text, taken)
        rows.append(row)
    if not any(row["taken"] for row in rows):
        return {
            "outcome": "cancel",
            **({"message": answer.words} if answer.words else {}),
            **(
                {"review": {"hunks": rows[0].get("hunks", [])}}
                if len(question.files) == 1 and rows
                else {}
            ),
        }
    if question.raw.get("details", {}).get("files"):
        return {"outcome": "modify_with_editor", "files": rows}
    hunks = rows[0].get("hunks", [])
    return {
        "outcome": "modify_with_editor",
        "newContent": rows[0]["newContent"],
        **({"review": {"hunks": hunks}} if hunks else {}),
    }


def _checked(question: Question, answer: Any) -> Answer:
    """Raises InvalidArgument for an answer that this question does not have."""
    if not isinstance(answer, Answer):
        raise errors.InvalidArgument(
            f"The approval returned {answer!r}, which is not a hasp.Answer."
        )
    wrong = ""
    if answer.allow != "no" and answer.allow not in question.choices:
        wrong = f"Answer.{answer.allow}() is not offered"
    elif answer.answers is not None and question.kind not in ("ask_user", "form"):
        wrong = "Answer.text() is for ask_user and forms"
    elif answer.taken is not None or answer.texts is not None:
        wrong = _misplaced(
            question, {**(answer.taken or {}), **dict.fromkeys(answer.texts or (), [])}
        )
    if wrong:
        offered = ", ".join([*question.choices, "no"])
        raise errors.InvalidArgument(
            f"{wrong}, so the call of {question.tool} was refused. This question ({question.kind}) "
            f"can be answered with: {offered}."
        )
    return answer


def _misplaced(question: Question, taken: Mapping[str, Sequence[int]]) -> str:
    """What is wrong with these hunks, by file; "" for nothing."""
    known = {file.path: file for file in question.files}
    for path, indices in taken.items():
        if path not in known:
            return f"The edit has no file {path}"
        unknown = set(indices) - set(range(len(known[path].hunks) or 1))
        if unknown:
            return f"{path} has no hunk {min(unknown)}"
    return ""


def response_of(question: Question, answer: Answer) -> tuple[str, dict[str, Any]]:
    """The topic and the message that say this answer.

    Raises InvalidArgument for an answer that this question does not have.
    """
    _checked(question, answer)
    said: dict[str, Any] = {"correlationId": question.id}
    if question.kind == "ask_user":
        if answer.allow == "no":
            said["cancelled"] = True
        else:
            said["answers"] = answer.answers or {}
        return "ask-user-response", said
    if question.kind == "form":
        said["action"] = "decline" if answer.allow == "no" else "accept"
        if answer.allow != "no":
            said["content"] = answer.answers or {}
        return "elicitation-response", said
    if question.raw.get("shown"):
        said["shown"] = question.raw["shown"]
    if answer.taken is not None or answer.texts is not None:
        said.update(_partial(question, answer))
    elif answer.allow == "no":
        said["outcome"] = "cancel"
        if answer.words:
            said["message"] = answer.words
    else:
        said["outcome"] = next(
            one for one in question.raw["outcomes"] if _OUTCOMES.get(one) == answer.allow
        )
        if answer.words:
            said["message"] = answer.words
    return "tool-confirmation-response", said
