# SPDX-License-Identifier: Apache-2.0
"""`%hasp` and `%%hasp`."""
from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class

from .session import CellError, Session
from .view import View
from .pump import kernel_of

HELP = """\
%%hasp PROMPT          asks the agent; the rest of the cell belongs to the prompt, and {name} in it
                       shows the agent that variable
%hasp model NAME       the model of a new conversation
%hasp mode MODE        default, autoEdit, yolo or plan, from now on
%hasp resume ID        goes on with a session, or with the "latest"
%hasp reset            ends the conversation; the next prompt begins another
%hasp stats            requests, tokens and calls of the conversation
%hasp ask text|widget  how questions are asked
%hasp notebook FILE    the file of this notebook, where no Jupyter server knows it
%hasp help             this text"""


@magics_class
class HaspMagics(Magics):  # type: ignore[misc]
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)  # type: ignore[no-untyped-call]
        self.session = Session(shell)

    @line_cell_magic  # type: ignore[misc, no-untyped-call]
    def hasp(self, line: str, cell: str | None = None) -> None:
        """%%hasp PROMPT asks hasp's agent; `%hasp help` lists what else there is."""
        if cell is not None:
            text = "\n".join(part for part in (line.strip(), cell.strip()) if part)
            if not text:
                raise CellError("The prompt is empty.")
            self.session.prompt(text)
            return
        name, _, rest = line.strip().partition(" ")
        command = self._COMMANDS.get(name or "help")
        if command is None:
            raise CellError(
                f"There is no %hasp {name}; `%hasp help` lists what there is. "
                "A prompt begins with %%hasp."
            )
        command(self, rest.strip())

    def _say(self, text: str) -> None:
        View(plain=kernel_of(self.shell) is None).note(text)

    @staticmethod
    def _wanted(rest: str, what: str) -> str:
        if not rest:
            raise CellError(f"Say {what}.")
        return rest

    def _model(self, rest: str) -> None:
        self.session.reset(model=self._wanted(rest, "which model"), resume=None)
        self._say(f"The next prompt begins a conversation with {rest}.")

    def _mode(self, rest: str) -> None:
        mode = self._wanted(rest, "which mode: default, autoEdit, yolo or plan")
        if self.session.has_agent():
            self.session.call(lambda agent: agent.set_mode(mode))
        self.session.options["mode"] = mode
        self._say(f"The mode is {mode}.")

    def _resume(self, rest: str) -> None:
        self.session.reset(resume=self._wanted(rest, "which session: its id, or latest"))
        self.session.agent()
        self._say("The conversation goes on.")

    def _reset(self, rest: str) -> None:
        self.session.reset(resume=None)
        self.session.options.pop("resume", None)
        self._say("The next prompt begins a new conversation.")

    def _stats(self, rest: str) -> None:
        if not self.session.has_agent():
            self._say("There is no conversation yet.")
            return
        stats = self.session.call(lambda agent: agent.stats())
        print(json.dumps(stats, indent=1))

    def _ask(self, rest: str) -> None:
        if rest not in ("text", "widget"):
            raise CellError("Say how questions are asked: text or widget.")
        self.session.by_text = rest == "text"
        self._say(f"Questions are asked by {rest}.")

    def _notebook(self, rest: str) -> None:
        self.session.file = self._wanted(rest, "which file")
        self.session.notebook.forget()
        self._say(f"The notebook is {rest}.")

    def _help(self, rest: str) -> None:
        if kernel_of(self.shell) is None:
            print(HELP)
            return
        from IPython.display import display

        display({"text/html": f"<pre>{html.escape(HELP)}</pre>", "text/plain": HELP}, raw=True)

    _COMMANDS: dict[str, Callable[[HaspMagics, str], None]] = {
        "model": _model,
        "mode": _mode,
        "resume": _resume,
        "reset": _reset,
        "stats": _stats,
        "ask": _ask,
        "notebook": _notebook,
        "help": _help,
    }
