# SPDX-License-Identifier: Apache-2.0
"""Clicks on widgets while a cell runs.

The kernel handles one message of the browser after another, and a cell that runs is one of them: a
click that comes meanwhile waits in the queue until the cell has ended.  A cell that waits for the
click takes it from there itself.  Only messages of widgets (comms) are handled; cells that were
started meanwhile are put back in their order.  It knows the queue of ipykernel 6; with any other
kernel there is no pump, and questions are asked by text.
"""
from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import socket
from collections.abc import Callable, Iterator
from typing import Any

_HANDLED = ("comm_msg", "comm_open", "comm_close")


def kernel_of(shell: Any) -> Any:
    """The kernel that the shell runs in; None in a terminal."""
    return getattr(shell, "kernel", None)


def stdin_allowed(shell: Any) -> bool:
    """Whether someone can be asked: nbclient and nbconvert run cells without."""
    kernel = kernel_of(shell)
    return kernel is None or bool(getattr(kernel, "_allow_stdin", False))


class Pump:
    """Handles what widgets send to one kernel.  Of the kernel's main thread alone."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._held: list[Any] = []

    @staticmethod
    def of(shell: Any) -> Pump | None:
        """The pump of the shell's kernel; None where there is no kernel that it knows."""
        kernel = kernel_of(shell)
        known = ("msg_queue", "shell_stream", "shell_handlers", "session", "_publish_status")
        if kernel is None or not all(hasattr(kernel, name) for name in known):
            return None
        if not hasattr(kernel.shell_stream, "flush"):
            return None
        return Pump(kernel)

    def handle_arrived(self) -> None:
        """Handles what has arrived, and does not wait."""
        import zmq

        self._kernel.shell_stream.flush(zmq.POLLIN)
        while True:
            try:
                item = self._kernel.msg_queue.get_nowait()
            except Exception as error:  # asyncio's and tornado's QueueEmpty have no common class
                if type(error).__name__ != "QueueEmpty":
                    raise
                return
            self._handle(item)

    def wait(self, wake: socket.socket) -> None:
        """Waits until `wake` can be read or messages came, and handles these.  Ctrl+C raises."""
        import zmq

        self.handle_arrived()
        poller = zmq.Poller()
        poller.register(self._kernel.shell_stream.socket, zmq.POLLIN)
        poller.register(wake.fileno(), zmq.POLLIN)
        poller.poll()
        self.handle_arrived()

    async def until(self, done: asyncio.Future[Any]) -> None:
        """Handles messages on the kernel's own loop, in an async cell, until `done` is."""
        while not done.done():
            coming = asyncio.ensure_future(self._kernel.msg_queue.get())
            try:
                await asyncio.wait({coming, done}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not coming.done():
                    coming.cancel()
            if coming.done() and not coming.cancelled():
                self._handle(coming.result())

    def put_back(self) -> None:
        """What was not for widgets is the kernel's again, in its order."""
        self.handle_arrived()
        held, self._held = self._held, []
        for item in held:
            self._kernel.msg_queue.put_nowait(item)
        # The loop slept when these came.
        self._kernel.io_loop.add_callback(lambda: None)

    def _handle(self, item: Any) -> None:
        session = self._kernel.session
        frames = item[-1][0]
        idents, parts = session.feed_identities(frames, copy=False)
        try:
            header = json.loads(bytes(parts[1].bytes))
            kind = header["msg_type"]
        except (ValueError, KeyError, IndexError, TypeError):
            kind = None
        if kind not in _HANDLED:
            self._held.append(item)
            return
        # The signature is checked here; a message is accepted once.
        try:
            message = session.deserialize(parts, content=True, copy=False)
        except Exception as error:
            self._kernel.log.error("A message of a widget cannot be read: %s", error)
            return
        # As the kernel does it, but what the handler shows belongs to the cell that runs.
        self._kernel._publish_status("busy", "shell", parent=message)
        try:
            self._kernel.shell_handlers[kind](self._kernel.shell_stream, idents, message)
        finally:
            self._kernel._publish_status("idle", "shell", parent=message)


class Inbox:
    """What other threads have for the kernel's main thread, which runs it while a cell waits."""

    def __init__(self, pump: Pump | None) -> None:
        self._pump = pump
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._wake.setblocking(False)

    def put(self, job: Callable[[], None]) -> None:
        """Has `job` run on the main thread.  From any thread."""
        self._jobs.put(job)
        # A full socket wakes as well; a closed one belongs to a cell that has ended.
        with contextlib.suppress(OSError):
            self._waker.send(b".")

    def arrived(self) -> Iterator[Callable[[], None]]:
        """The jobs that are there."""
        with contextlib.suppress(queue.Empty):
            while True:
                yield self._jobs.get_nowait()

    def wait(self) -> None:
        """Waits for a job, and lets widgets work meanwhile.  Ctrl+C raises."""
        if self._pump:
            self._pump.wait(self._wake)
        else:
            import select

            select.select([self._wake], [], [])
        with contextlib.suppress(BlockingIOError):
            while self._wake.recv(4096):
                pass

    def close(self) -> None:
        """Messages that were held go back to the kernel."""
        if self._pump:
            self._pump.put_back()
        self._wake.close()
        self._waker.close()
