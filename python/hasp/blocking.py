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
import functools
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import _calls, agent as _agent, workspace as _workspace

T = TypeVar("T")
P = ParamSpec("P")

# Tools that end soon, so that another thread for them would only cost time.
_SHORT = frozenset(("read_file", "write_file", "update_file", "safe_patch", "apply_changes"))


def _as(
    method: Callable[Concatenate[Any, P], T]
) -> Callable[[Callable[..., T]], Callable[Concatenate[Any, P], T]]:
    """Decorates a function with the parameters of another."""
    return functools.wraps(method)


# ---- workspaces ----------------------------------------------------------------------


class _Inline(_workspace.Workspace):
    """Its methods never wait for a loop: they are done when they are first driven."""

    async def _run(self, request: _workspace.Request) -> dict[str, Any]:
        if request[0] in _SHORT:
            return self._now(request)
        with _calls.Cancel() as cancel:
            return _calls.wait(
                self._threads(), lambda: self._now(request, cancel.handle), cancel.set
            )


def _now(
    method: Callable[Concatenate[_workspace.Workspace, P], Coroutine[Any, Any, T]]
) -> Callable[Concatenate[Workspace, P], T]:
    """The method without `await`."""

    @functools.wraps(method)
    def call(self: Workspace, /, *args: P.args, **arguments: P.kwargs) -> T:
        work = method(self._inside, *args, **arguments)
        try:
            work.send(None)
        except StopIteration as ended:
            value: T = ended.value
            return value
        raise AssertionError("a blocking call has waited for a loop")

    return call


class Workspace:
    """As `hasp.Workspace`."""

    @_as(_workspace.Workspace.__init__)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._inside = _Inline(*args, **options)
        self.notices = self._inside.notices

    call = _now(_workspace.Workspace.call)
    read = _now(_workspace.Workspace.read)
    write = _now(_workspace.Workspace.write)
    update = _now(_workspace.Workspace.update)
    patch = _now(_workspace.Workspace.patch)
    apply_changes = _now(_workspace.Workspace.apply_changes)
    search = _now(_workspace.Workspace.search)
    glob = _now(_workspace.Workspace.glob)
    run = _now(_workspace.Workspace.run)
    read_file = _now(_workspace.Workspace.read_file)
    write_file = _now(_workspace.Workspace.write_file)
    update_file = _now(_workspace.Workspace.update_file)
    search_files = _now(_workspace.Workspace.search_files)

    def close(self) -> None:
        """Ends commands in the background and the worker."""
        self._inside._shut()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# ---- agents --------------------------------------------------------------------------


def _waiting(
    method: Callable[Concatenate[_agent.Agent, P], Coroutine[Any, Any, T]]
) -> Callable[Concatenate[Agent, P], T]:
    """The method, on the agent's loop; the calling thread waits."""

    @functools.wraps(method)
    def call(self: Agent, /, *args: P.args, **arguments: P.kwargs) -> T:
        return self._wait(method(self._agent, *args, **arguments), self._agent.cancel)

    return call


def _same(method: Callable[Concatenate[_agent.Agent, P], T]) -> Callable[Concatenate[Agent, P], T]:
    """The method as it is: of those for any thread."""

    @functools.wraps(method)
    def call(self: Agent, /, *args: P.args, **arguments: P.kwargs) -> T:
        return method(self._agent, *args, **arguments)

    return call


class Agent:
    """As `hasp.Agent`, with an event loop on a thread: hooks, tools and approval may be `async`."""

    @_as(_agent.Agent.__init__)
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
        return await _agent.Agent(*args, **options).open()

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
        """Events until the answer is complete, as `hasp.Agent.prompt`."""
        events = self._agent.prompt(text)
        try:
            while True:
                event = self._wait(_next(events), self._agent.cancel)
                if event is None:
                    return
                yield event
        finally:
            self._wait(_closed(events), self._agent.cancel)

    run = _waiting(_agent.Agent.run)
    call = _waiting(_agent.Agent.call)
    add_tool = _waiting(_agent.Agent.add_tool)
    share = _waiting(_agent.Agent.share)
    cancel = _same(_agent.Agent.cancel)
    steer = _same(_agent.Agent.steer)
    set_mode = _same(_agent.Agent.set_mode)
    stats = _same(_agent.Agent.stats)

    def close(self) -> None:
        """Ends the session."""
        if not self._loop.is_closed():
            self._wait(self._agent.close())
            self._end()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _next(events: Any) -> _agent.Event | None:
    event: _agent.Event | None = await anext(events, None)
    return event


async def _closed(events: Any) -> None:
    await events.aclose()
