# SPDX-License-Identifier: Apache-2.0
"""Questions of an agent in a notebook: a widget, text, or no.

The widget shows what is asked about: files side by side, hunk by hunk, or the command or code as it
would run.  Nothing in it is markup of a model or a file.  Where the browser has no widgets the
question is asked by text input, and where nobody can type (nbclient, nbconvert) the answer is no.
"""
from __future__ import annotations

import asyncio
import dataclasses
import difflib
import functools
import html
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import hasp

from .pump import Pump, stdin_allowed

LONGEST_SHOWN = 100_000  # characters of one command, code or file
NOBODY = (
    "Nobody can be asked here, because this notebook runs without text input "
    "(nbclient, nbconvert). Allow the call with a policy or a mode."
)
# A no without words would end the prompt; the kernel's interrupt does that.
REFUSED = "The user refused this call."

Settle = Callable[[Any], None]

_SHADES = {"-": "#fdd8d8", "+": "#d4f4d9", " ": "transparent"}
_CELL = (
    "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace;text-align:left;"
    "vertical-align:top;width:50%;padding:0 4px;color:#111;"
)


def offered(question: Any) -> list[str]:
    """What may be answered besides no: "once", "session", "always", as the question allows it."""
    return [word for word in ("once", "session", "always") if word in question.choices]


def cut(text: str, limit: int = LONGEST_SHOWN) -> str:
    """Text that is shown: what is left out is counted."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n... and {len(text) - limit} more characters, which are not shown"


def preformatted(text: str) -> str:
    """Foreign text as it is."""
    return (
        f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{html.escape(visible(cut(text)))}</pre>"
    )


def visible(text: str) -> str:
    """Characters that turn or hide text are shown by their numbers."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else f"<U+{ord(char):04X}>" for char in text
    )


# ---- a diff side by side --------------------------------------------------------


def pairs(lines: Iterable[str]) -> Iterable[tuple[str, str, str, str]]:
    """The rows of one hunk: mark and text of the old side, mark and text of the new side."""
    removed: list[str] = []
    added: list[str] = []

    def changed() -> Iterable[tuple[str, str, str, str]]:
        for at in range(max(len(removed), len(added))):
            old = ("-", removed[at]) if at < len(removed) else (" ", "")
            new = ("+", added[at]) if at < len(added) else (" ", "")
            yield (*old, *new)
        removed.clear()
        added.clear()

    for line in lines:
        mark, text = line[:1], line[1:].rstrip("\n")
        if mark == "-":
            if added:
                yield from changed()
            removed.append(text)
        elif mark == "+":
            added.append(text)
        elif mark != "\\":
            yield from changed()
            yield (" ", text, " ", text)
    yield from changed()


def _marked(old: str, new: str) -> tuple[str, str]:
    """Two lines with what differs between them in bold; long ones as they are."""
    if not old or not new or len(old) + len(new) > 400:
        return html.escape(visible(old)), html.escape(visible(new))
    sides: tuple[list[str], list[str]] = ([], [])
    for what, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        for side, piece in zip(sides, (old[old_from:old_to], new[new_from:new_to])):
            shown = html.escape(visible(piece))
            side.append(shown if what == "equal" else f"<b>{shown}</b>")
    return "".join(sides[0]), "".join(sides[1])


def side_by_side(lines: Iterable[str]) -> str:
    """One hunk as a table of two columns."""
    rows = []
    for old_mark, old, new_mark, new in pairs(lines):
        left, right = (
            _marked(old, new)
            if old_mark == "-" and new_mark == "+"
            else (html.escape(visible(old)), html.escape(visible(new)))
        )
        rows.append(
            f'<tr><td style="{_CELL}background:{_SHADES[old_mark]}">{left}</td>'
            f'<td style="{_CELL}background:{_SHADES[new_mark]}">{right}</td></tr>'
        )
    return (
        f'<table style="width:100%;table-layout:fixed;border-collapse:collapse">'
        f'{"".join(rows)}</table>'
    )


# ---- the widget ------------------------------------------------------------------


class Panel:
    """One question as a widget.  `settle` gets the answer, once; None: there are no widgets."""

    def __init__(self, question: Any, settle: Settle) -> None:
        import ipywidgets

        self._widgets = ipywidgets
        self.question = question
        self._settle = settle
        self._hunks: list[tuple[str, int, Any]] = []
        self._comment = ipywidgets.Text(placeholder="A comment for the model")
        self._fields: dict[str, Any] = {}
        self.box = ipywidgets.VBox([*self._shown(), *self._asked(), self._comment, self._buttons()])
        self.box.add_class("hasp-question")
        if getattr(self.box, "comm", None) is not None:
            # A browser that knows no widgets closes what was opened.
            self.box.comm.on_close(lambda _: self._settle(None))

    def show(self) -> None:
        """Below the cell that runs."""
        from IPython.display import display

        shown: dict[str, Any] = {
            "application/vnd.jupyter.widget-view+json": {
                "model_id": self.box.model_id,
                "version_major": 2,
                "version_minor": 0,
            }
        }
        if self._widgets.version_info[0] < 7:
            # As it does that itself, but without its complaint that there is no JavaScript for
            # widgets, which it has whenever the page has not told its version yet.
            self.box._send({"method": "display"})
        else:
            shown["text/plain"] = heading(self.question)
        display(shown, raw=True)

    def close(self) -> None:
        """Takes the widget away, answered or not."""
        waiting = [self.box]
        while waiting:
            one = waiting.pop()
            waiting += getattr(one, "children", ())
            for part in (getattr(one, "style", None), getattr(one, "layout", None), one):
                if hasattr(part, "close"):
                    part.close()

    def _html(self, text: str) -> Any:
        return self._widgets.HTML(f'<div class="tex2jax_ignore mathjax_ignore">{text}</div>')

    def _shown(self) -> Iterable[Any]:
        question = self.question
        yield self._html(f"<b>{html.escape(visible(heading(question)))}</b>")
        if question.why:
            yield self._html(html.escape(visible(cut(question.why, 2_000))))
        for text in subject(question):
            yield self._html(preformatted(text))
        pieces = pieces_of(question)
        for file in question.files:
            yield self._html(f"<code>{html.escape(visible(nearby(file.path)))}</code>")
            for hunk in file.hunks:
                yield from self._take(pieces, file.path, hunk.index)
                yield self._hunk(hunk)
            if not file.hunks:
                yield from self._take(pieces, file.path, 0)
                yield self._html(preformatted(file.diff or "(nothing to show)"))
        for file in question.preview:
            yield self._html(html.escape(visible(file.path)))
            for hunk in file.hunks:
                yield self._hunk(hunk)

    def _hunk(self, hunk: Any) -> Any:
        shown = "".join(line if line.endswith("\n") else line + "\n" for line in hunk.lines)
        return self._html(side_by_side(cut(shown).splitlines()))

    def _take(self, pieces: list[tuple[str, int]], path: str, index: int) -> Iterable[Any]:
        """The box of one piece, where there are several."""
        if len(pieces) > 1:
            number = pieces.index((path, index)) + 1
            take = self._widgets.Checkbox(value=True, description=f"Take hunk {number}")
            self._hunks.append((path, index, take))
            yield take

    def _asked(self) -> Iterable[Any]:
        for name, asked in asked_of(self.question):
            yield self._html(html.escape(visible(asked)))
            field = self._widgets.Text()
            self._fields[name] = field
            yield field

    def _buttons(self) -> Any:
        labels = {
            "once": "Allow once",
            "session": "Allow for this session",
            "always": "Always allow",
        }
        row = []
        if self._fields:
            row.append(self._button("Answer", "primary", self._answered))
        else:
            for word in offered(self.question):
                row.append(
                    self._button(
                        labels[word],
                        "success" if word == "once" else "",
                        functools.partial(self._allowed, word),
                    )
                )
        row.append(self._button("Refuse", "danger", self._refused))
        return self._widgets.HBox(row)

    def _button(self, label: str, style: str, press: Callable[[], None]) -> Any:
        button = self._widgets.Button(description=label, button_style=style)
        button.on_click(lambda _: press())
        return button

    def _allowed(self, word: str) -> None:
        self._settle(
            taken(
                self.question,
                word,
                self._comment.value,
                [(path, index, bool(box.value)) for path, index, box in self._hunks],
            )
        )

    def _refused(self) -> None:
        self._settle(hasp.Answer.no(self._comment.value or REFUSED))

    def _answered(self) -> None:
        self._settle(hasp.Answer.text({name: field.value for name, field in self._fields.items()}))


def nearby(path: str) -> str:
    """The path from the kernel's directory, for files below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def heading(question: Any) -> str:
    """One line that says what is asked."""
    if question.title:
        return str(question.title)
    return str(question.text) if question.questions else f"{question.tool} asks to run"


def subject(question: Any) -> list[str]:
    """What would run: a command, code, a plan, or the arguments of a call that is no edit."""
    if question.command:
        return [question.command]
    for name in ("code", "plan"):
        if isinstance(question.arguments.get(name), str):
            return [question.arguments[name]]
    if question.files or question.preview or question.questions:
        return []
    return ["\n".join(f"{name}: {value}" for name, value in question.arguments.items())]


def pieces_of(question: Any) -> list[tuple[str, int]]:
    """What of an edit can be taken or left: hunks by path and index; a file without any is one."""
    return [
        (file.path, index)
        for file in question.files
        for index in ([hunk.index for hunk in file.hunks] or [0])
    ]


def asked_of(question: Any) -> list[tuple[str, str]]:
    """What ask_user or a form wants to know: the name of each answer, and the text to show."""
    asked = []
    for place, one in enumerate(question.questions):
        text = str(one.get("question") or one.get("title") or one.get("name") or "")
        labels = [
            str(option.get("label", ""))
            for option in one.get("options") or []
            if isinstance(option, dict)
        ]
        name = str(one.get("name") or place) if question.kind == "form" else str(place)
        asked.append((name, text + (f" ({', '.join(labels)})" if labels else "")))
    return asked


def taken(question: Any, word: str, comment: str, hunks: list[tuple[str, int, bool]]) -> Any:
    """The answer when hunks were taken and left: all, some, or none, which is no."""
    if hunks and not any(take for _, _, take in hunks):
        return hasp.Answer.no(comment or REFUSED)
    if all(take for _, _, take in hunks):
        return dataclasses.replace(getattr(hasp.Answer, word)(), words=comment)
    chosen: dict[str, list[int]] = {file.path: [] for file in question.files}
    for path, index, take in hunks:
        if take:
            chosen[path].append(index)
    return hasp.Answer.hunks(chosen, comment)


# ---- text --------------------------------------------------------------------------


def ask_by_text(
    question: Any, read: Callable[[str], str] = input, write: Callable[[str], None] = print
) -> Any:
    """Asks on a line of text.  An answer that cannot be read is asked for again."""
    write(visible(heading(question)))
    for text in subject(question):
        write(visible(cut(text)))
    for file in question.files:
        write(visible(cut(file.diff or file.path)))
    for file in question.preview:
        write(visible(cut(f"{file.path}\n{file.diff}")))
    asked = asked_of(question)
    if asked:
        return hasp.Answer.text({name: read(visible(text) + " ") for name, text in asked})
    hunks = pieces_of(question)
    words = offered(question)
    choices = "/".join(
        [
            *("y" if word == "once" else word for word in words),
            *(["1,2,..."] if len(hunks) > 1 else []),
            "n",
        ]
    )
    while True:
        said = read(f"Allow? [{choices}; other words refuse, and the model gets them] ").strip()
        if said.lower() in ("y", "yes"):
            said = "once"
        if said.lower() in words:
            return getattr(hasp.Answer, said.lower())()
        if said.lower() in ("n", "no"):
            return hasp.Answer.no(REFUSED)
        numbers = said.replace(",", " ").split()
        if numbers and all(number.isdecimal() for number in numbers):
            picked = {int(number) for number in numbers}
            if len(hunks) > 1 and picked <= set(range(1, len(hunks) + 1)):
                return taken(
                    question,
                    "once",
                    "",
                    [(path, index, at in picked) for at, (path, index) in enumerate(hunks, 1)],
                )
            write(f"There is no such hunk: {said}")
        elif said:
            return hasp.Answer.no(said)


# ---- for programs' own agents ------------------------------------------------------


class Widget:
    """Approval for `hasp.Agent(approval=hasp.notebook.Widget())` in an async cell of a notebook.

    `await agent.run(...)` in a cell: questions are shown below it, and the cell goes on when they
    are answered.  In a cell that blocks (hasp.blocking) nothing can be clicked; there the answer is
    no, and says so.
    """

    def __init__(self, shell: Any = None) -> None:
        from IPython import get_ipython

        self._shell = shell or get_ipython()  # type: ignore[no-untyped-call]

    async def ask(self, question: Any) -> Any:
        """Shows the question and waits for its answer."""
        if not stdin_allowed(self._shell):
            return hasp.Answer.no(NOBODY)
        pump = Pump.of(self._shell)
        if threading.current_thread() is not threading.main_thread():
            return hasp.Answer.no(
                "Questions cannot be shown while a cell blocks the kernel: "
                "use hasp.Agent with await."
            )
        if pump is None or not have_widgets():
            return ask_by_text(question)
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(answer: Any) -> None:
            if not answered.done():
                answered.set_result(answer)

        panel = Panel(question, settle)
        panel.show()
        try:
            await pump.until(answered)
        finally:
            panel.close()
            pump.put_back()
        answer = answered.result()
        return ask_by_text(question) if answer is None else answer


def have_widgets() -> bool:
    """Whether ipywidgets can be imported."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True
