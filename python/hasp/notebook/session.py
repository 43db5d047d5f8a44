# SPDX-License-Identifier: Apache-2.0
"""The conversation of a notebook: one agent, which lives from cell to cell.

The agent works on a thread of its own.  What it has to show, to ask or to run in the kernel comes
to the cell that prompted it, which waits on the kernel's main thread (pump.py).
"""
from __future__ import annotations

import asyncio
import atexit
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import hasp

from . import document, widget
from .cells import Notebook
from .context import with_variables
from .pump import Inbox, Pump, kernel_of, stdin_allowed
from .view import View

LONGEST_OUTPUT = 20_000  # characters of a cell's output that the model gets


class CellError(Exception):
    """The prompt was not answered.  A cell shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Interrupted(KeyboardInterrupt):
    """Ctrl+C: the prompt was cancelled, and the cells after it do not run."""

    def _render_traceback_(self) -> list[str]:
        return ["Interrupted. The conversation can go on with the next prompt."]


class _Thread:
    """An event loop on a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="hasp-notebook", daemon=True
        )
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Approval:
    """Asks in the cell that runs."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def ask(self, question: Any) -> Any:
        """The answer of whoever sits at the notebook; no where nobody does."""
        return await self._session.ask(question)


class Session:
    """What `%hasp` and `%%hasp` work on."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._thread: _Thread | None = None
        self._agent: Any = None
        self._inbox: Inbox | None = None
        self._open_questions: dict[str, Callable[[Any], None]] = {}
        self._panels: list[widget.Panel] = []  # of the main thread
        self._cancelled = False
        self.options: dict[str, Any] = {}
        self.by_text = False  # `%hasp ask text`
        self.file: str | None = None  # `%hasp notebook FILE`
        self.notebook = Notebook(lambda: document.found(shell.user_ns, self.file), self._run_cell)
        atexit.register(self.close)

    # ---- prompts ----

    def prompt(self, text: str) -> None:
        """Sends a prompt and shows the answer below the cell; returns when all is done."""
        if self._inbox:
            raise CellError("A prompt is already at work in this notebook.")
        inbox = self._inbox = Inbox(Pump.of(self._shell))
        view = View(plain=kernel_of(self._shell) is None)
        self._cancelled = False
        ended = threading.Event()
        text = with_variables(text, self._shell.user_ns)
        turn = self._on_thread(self._turn(text, view, inbox, ended))
        try:
            while not ended.is_set():
                try:
                    inbox.wait()
                    self._work_off(inbox, view)
                except KeyboardInterrupt:
                    self._cancel(turn, view)
            self._work_off(inbox, view)
        finally:
            self._inbox = None
            for panel in self._panels:
                panel.close()
            self._panels.clear()
            inbox.close()
        self._raise(turn)

    def _on_thread(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._thread is None:
            self._thread = _Thread()
        return self._thread.start(work)

    @staticmethod
    def _work_off(inbox: Inbox, view: View) -> None:
        for job in inbox.arrived():
            job()
        view.flush()

    def _raise(self, turn: Future[Any]) -> None:
        if self._cancelled:
            turn.exception()  # what cancelling gave is no news
            raise Interrupted
        error = turn.exception()
        if isinstance(error, hasp.Error):
            raise CellError(str(error)) from error
        if error is not None:
            raise error

    async def _turn(self, text: str, view: View, inbox: Inbox, ended: threading.Event) -> None:
        try:
            agent = await self._opened()
            async for event in agent.prompt(text):
                inbox.put(functools.partial(view.add, event))
                if event.kind == "answer":
                    self._answered(event.data)
        except asyncio.CancelledError:
            pass  # before there was an agent
        finally:
            ended.set()
            inbox.put(lambda: None)

    def _answered(self, data: dict[str, Any]) -> None:
        """Takes away a question that was answered elsewhere, or whose asker has stopped."""
        settle = self._open_questions.get(str(data.get("correlationId")))
        if settle:
            settle(hasp.Answer.no())  # the first answer counts, and this one is late

    def _cancel(self, turn: Future[Any], view: View) -> None:
        """Ctrl+C: the agent ends what it does, and then the cell goes on."""
        assert self._thread
        if self._cancelled:
            view.note("Still waiting for the agent to end what it does.")
        self._cancelled = True
        for settle in list(self._open_questions.values()):
            settle(hasp.Answer.no())
        agent = self._agent
        if agent is None:
            turn.cancel()
        else:
            self._thread.loop.call_soon_threadsafe(agent.cancel)

    # ---- the agent ----

    async def _opened(self) -> Any:
        if self._agent is None:
            agent = hasp.Agent(
                workspace=os.getcwd(),
                tools=self.notebook.tools(),
                approval=Approval(self),
                python=True,
                **self.options,
            )
            self._agent = await agent.__aenter__()
        return self._agent

    def agent(self) -> Any:
        """The agent of the conversation, opened if there is none.  Ctrl+C raises."""
        return self._on_thread(self._opened()).result()

    def call(self, what: Callable[[Any], Any]) -> Any:
        """Calls a function with the agent on its own thread; waits for what it gives."""

        async def called() -> Any:
            result = what(await self._opened())
            return await result if hasattr(result, "__await__") else result

        return self._on_thread(called()).result()

    def has_agent(self) -> bool:
        """Whether a conversation has begun."""
        return self._agent is not None

    def reset(self, **options: Any) -> None:
        """Ends the conversation; the next prompt begins another, with these options as well."""
        agent, self._agent = self._agent, None
        if agent is not None:
            self._on_thread(agent.__aexit__(None, None, None)).result()
        self.options |= options
        self.options = {name: value for name, value in self.options.items() if value is not None}
        self.notebook.forget()

    def close(self) -> None:
        """Ends the conversation and its thread."""
        atexit.unregister(self.close)
        if self._thread:
            self.reset()
            self._thread.stop()
            self._thread = None

    # ---- questions ----

    async def ask(self, question: Any) -> Any:
        """From the agent's loop: shows a question in the cell, and waits for the answer."""
        inbox = self._inbox
        if inbox is None:
            return hasp.Answer.no("No cell runs in which the question could be shown.")
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Any] = loop.create_future()

        def taken(answer: Any) -> None:
            if not answered.done():
                answered.set_result(answer)

        def settle(answer: Any) -> None:
            loop.call_soon_threadsafe(taken, answer)

        self._open_questions[question.id] = settle
        try:
            inbox.put(lambda: self._show(question, settle))
            answer = await answered
            if answer is None:  # the browser has no widgets
                self.by_text = True
                answered = loop.create_future()
                inbox.put(lambda: self._show(question, settle))
                answer = await answered
            return answer
        finally:
            self._open_questions.pop(question.id, None)
            inbox.put(lambda: self._shown(question))

    def _show(self, question: Any, settle: Callable[[Any], None]) -> None:
        """On the main thread."""
        if self._cancelled:
            settle(hasp.Answer.no())
        elif not stdin_allowed(self._shell):
            View(plain=False).note(
                f"Refused: {widget.heading(question)}. {widget.NOBODY}", "warning"
            )
            settle(hasp.Answer.no(widget.NOBODY))
        elif self.by_text or Pump.of(self._shell) is None or not widget.have_widgets():
            settle(widget.ask_by_text(question))
        else:
            self._panels.append(widget.Panel(question, settle))
            self._panels[-1].show()

    def _shown(self, question: Any) -> None:
        """On the main thread: takes the question's widget away."""
        for panel in [one for one in self._panels if one.question is question]:
            panel.close()
            self._panels.remove(panel)
            View(plain=False).note(f"Answered: {widget.heading(question)}")

    # ---- cells that the agent runs ----

    async def _run_cell(self, source: str) -> str:
        inbox = self._inbox
        if inbox is None:
            raise document.NotebookError("No cell runs: the kernel is not the agent's now.")
        done: Future[str] = Future()

        def run() -> None:
            try:
                done.set_result(self._run_here(source))
            except BaseException as error:
                done.set_exception(document.NotebookError(f"The cell was not run: {error}"))
                if isinstance(error, KeyboardInterrupt):
                    raise

        inbox.put(run)
        return await asyncio.wrap_future(done)

    def _run_here(self, source: str) -> str:
        """On the main thread: runs code as a cell of the notebook; its output is shown as well."""
        from IPython.utils.capture import capture_output

        transformed = self._shell.transform_cell(source)
        if "'hasp'" in transformed and "run_" in transformed:
            raise document.NotebookError("it prompts hasp itself.")
        if self._shell.should_run_async(source, transformed_cell=transformed):
            raise document.NotebookError("it awaits, which a cell within a cell cannot.")
        with capture_output() as captured:
            result = self._shell.run_cell(source, store_history=False)
        captured.show()
        parts = [captured.stdout, captured.stderr]
        parts += [str(one.data.get("text/plain", "")) for one in captured.outputs]
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, KeyboardInterrupt):
            raise error
        text = "\n".join(part for part in parts if part)
        if error:
            text += f"\nIt failed with {type(error).__name__}: {error}"
        elif result.result is not None and not captured.outputs:
            text += f"\n{result.result!r}"
        return text[-LONGEST_OUTPUT:] or "It ran and printed nothing."
