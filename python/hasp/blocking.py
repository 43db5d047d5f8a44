# SPDX-License-Identifier: Apache-2.0
"""The same workspaces and agents for programs without asyncio.

    with hasp.blocking.Workspace("project") as ws:
        file = ws.read("main.py")

Short calls are made on the calling thread; commands, searches and prompts on a worker thread, so
that Ctrl+C cancels them and leaves a working object.
"""
from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from . import _calls, agent as _agent, errors, workspace as _w
from .workspace import CommandResult, Edited, File, Path, SearchResult, State

T = TypeVar("T")


class Workspace(_w._Tools):
    """As `hasp.Workspace`."""

    def _long(self, request: _w._Request) -> dict[str, Any]:
        with _calls.Cancel() as cancel:
            return _calls.wait(
                self._threads(), lambda: self._now(request, cancel.handle), cancel.set
            )

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls any tool by its own arguments (docs/tools.md); the result, also of a failure."""
        return self._long((tool, arguments))

    def read(
        self,
        path: Path,
        *,
        start_line: int | None = None,
        max_lines: int | None = None,
        end_line: int | None = None,
        encoding: str | None = None,
    ) -> File:
        """A file, or a range of its lines, counted from 1."""
        return _w._file(
            errors.check(self._now(_w._read(path, start_line, max_lines, end_line, encoding)))
        )

    def write(
        self,
        path: Path,
        content: str,
        *,
        base: State | Edited | str | None = None,
        create_dirs: bool = False,
        encoding: str | None = None,
    ) -> Edited:
        """Writes the whole content. An existing file needs `base`: what was read, or its hash."""
        return _w._edited(
            errors.check(self._now(_w._write(path, content, base, create_dirs, encoding)))
        )

    def update(
        self,
        path: Path,
        old: str,
        new: str,
        *,
        base: State | Edited | str | None = None,
        expected_matches: int = 1,
    ) -> Edited:
        """Replaces a text that is there exactly so often."""
        return _w._edited(
            errors.check(self._now(_w._update(path, old, new, base, expected_matches)))
        )

    def patch(self, path: Path, diff: str, *, base: State | Edited | str | None = None) -> Edited:
        """Applies a unified diff of one file, strictly; wrong line numbers are repaired."""
        return _w._edited(errors.check(self._now(_w._patch(path, diff, base))))

    def apply_changes(self, changes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Changes of many files, all or none (docs/tools.md#apply_changes)."""
        return errors.check(
            self._now(("apply_changes", {"changes": [dict(one) for one in changes]}))
        )

    def search(
        self,
        pattern: str,
        *,
        path: Path | None = None,
        regex: bool = False,
        case_sensitive: bool | None = None,
        include: Sequence[str] | None = None,
        file_types: Sequence[str] | None = None,
        context: int | None = None,
        max_results: int | None = None,
    ) -> SearchResult:
        """Lines with a text, or a regular expression."""
        return _w._found(
            errors.check(
                self._long(
                    _w._search(
                        pattern,
                        path,
                        regex,
                        case_sensitive,
                        include,
                        file_types,
                        context,
                        max_results,
                    )
                )
            )
        )

    def glob(
        self,
        pattern: str | Sequence[str],
        *,
        path: Path | None = None,
        max_results: int | None = None,
    ) -> list[str]:
        """Paths of the files whose names fit."""
        return _w._names(errors.check(self._long(_w._glob(pattern, path, max_results))))

    def run(
        self,
        command: str,
        *,
        timeout: float | None = None,
        folder: Path | None = None,
        background: bool = False,
    ) -> CommandResult:
        """Runs a line of bash in the sandbox; `timeout` in seconds.

        An exit code other than 0 raises nothing.
        """
        return _w._ended(self._long(_w._command(command, timeout, folder, background)))

    def close(self) -> None:
        """Ends commands in the background and the worker."""
        self._shut()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Agent:
    """As `hasp.Agent`, with an event loop on a thread: hooks, tools and approval may be `async`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="hasp-agent", daemon=True
        )
        self._thread.start()
        try:
            self._agent = self._wait(self._opened(args, options))
        except BaseException:
            self._end()
            raise

    @staticmethod
    async def _opened(args: tuple[Any, ...], options: dict[str, Any]) -> _agent.Agent:
        agent = _agent.Agent(*args, **options)
        await agent.open()
        return agent

    def _wait(
        self, coroutine: Coroutine[Any, Any, T], cancel: Callable[[], None] = lambda: None
    ) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            cancel()
            with contextlib.suppress(Exception):
                future.result()
            raise

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def session_id(self) -> str:
        """For `resume`, and for the session's file."""
        return self._agent.session_id

    def prompt(self, text: str) -> Iterator[_agent.Event]:
        """What happens until the answer is there, as `hasp.Agent.prompt`."""
        events = self._agent.prompt(text)
        try:
            while True:
                try:
                    yield self._wait(_next(events), self._agent.cancel)
                except _Over:
                    return
        finally:
            self._wait(_closed(events), self._agent.cancel)

    def run(self, text: str, *, output: Any = None) -> _agent.Result:
        """The answer, as `hasp.Agent.run`."""
        return self._wait(self._agent.run(text, output=output), self._agent.cancel)

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """A call of any tool by the program."""
        return self._wait(self._agent.call(tool, **arguments), self._agent.cancel)

    def cancel(self) -> None:
        """Ends the prompt that is under way."""
        self._agent.cancel()

    def steer(self, text: str) -> None:
        """A message for the prompt that is under way."""
        self._agent.steer(text)

    def set_mode(self, mode: str) -> None:
        """The approval mode of all calls from now on."""
        self._agent.set_mode(mode)

    def share(self, port: int = 0) -> str:
        """A link that shows the session in a browser."""
        return self._wait(self._agent.share(port))

    def stats(self) -> dict[str, Any]:
        """Requests, tokens, calls, decisions and lines so far."""
        return self._agent.stats()

    def close(self) -> None:
        """Ends the session."""
        if not self._loop.is_closed():
            self._wait(self._agent.close())
            self._end()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _next(events: Any) -> _agent.Event:
    try:
        event: _agent.Event = await events.__anext__()
        return event
    except StopAsyncIteration:
        raise _Over from None


async def _closed(events: Any) -> None:
    await events.aclose()


class _Over(Exception):
    """The events have ended: StopAsyncIteration cannot leave a coroutine."""
