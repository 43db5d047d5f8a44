# SPDX-License-Identifier: Apache-2.0
"""Calls into the library: on which thread, how they are cancelled, and what they raise."""
from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, TypeVar

from . import errors
from ._native import ffi, lib

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_LIBRARY = Path(__file__).with_name("_lib")


def extern(function: F) -> F:
    """A function that the library calls, by its name in build_native.py."""
    ffi.def_extern()(function)
    return function


def program() -> str:
    """The program `hasp`: of the variable HASP, the package's own, or of PATH."""
    own = _LIBRARY / "hasp"
    given = os.environ.get("HASP")
    if given:
        return given
    return str(own) if own.exists() else shutil.which("hasp") or "hasp"


def text(value: str | os.PathLike[str] | None) -> Any:
    """For the library, or NULL."""
    if value is None:
        return ffi.NULL
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise errors.InvalidArgument("A text with a NUL character cannot be handed over.")
    return ffi.new("char[]", encoded)


def words(values: Sequence[str | os.PathLike[str]] | None, keep: list[Any]) -> Any:
    """A NULL-terminated list, or NULL; `keep` keeps it alive."""
    if values is None:
        return ffi.NULL
    texts = [text(value) for value in values]
    array = ffi.new("char *[]", [*texts, ffi.NULL])
    keep.extend([*texts, array])
    return array


def taken(pointer: Any) -> str:
    """Text that is the caller's, freed."""
    try:
        return str(ffi.string(pointer).decode("utf-8", "replace"))
    finally:
        lib.hasp_agent_text_free(pointer)


def string(pointer: Any) -> str:
    """Text that is lent."""
    return str(ffi.string(pointer).decode("utf-8", "replace"))


def compact(value: Any) -> str:
    """As JSON text. Raises InvalidArgument for what JSON cannot say."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgument(f"It cannot be said in JSON: {error}") from None


def reported(error: Any) -> errors.Error:
    """The exception for a `hasp_agent_error`."""
    return errors.failure(
        string(lib.hasp_agent_code_name(error.code)),
        ffi.string(error.message).decode("utf-8", "replace"),
    )


class Cancel:
    """A way to end one call."""

    def __init__(self) -> None:
        self.handle = lib.hasp_cancel_new()
        if not self.handle:
            raise errors.NoResources("No descriptors are left.")

    def set(self) -> None:
        """Ends it, from any thread."""
        lib.hasp_cancel_set(self.handle)

    def __enter__(self) -> Cancel:
        return self

    def __exit__(self, *_: object) -> None:
        lib.hasp_cancel_free(self.handle)


async def on_thread(pool: Executor, call: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Runs the call on a thread of the pool.

    Cancelling the task cancels the call, and waits for its end.
    """
    future = asyncio.get_running_loop().run_in_executor(pool, call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancel()
        while not future.done():
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.shield(future)
        raise


def wait(pool: Executor, call: Callable[[], T], cancel: Callable[[], None]) -> T:
    """The same for a thread that waits: Ctrl+C cancels the call and is raised after its end."""
    future: Future[T] = pool.submit(call)
    try:
        return future.result()
    except KeyboardInterrupt:
        cancel()
        with contextlib.suppress(Exception):
            future.result()
        raise


def settings_text(settings: Mapping[str, Any] | None) -> Any:
    """Settings as the library takes them."""
    return ffi.NULL if settings is None else text(compact(dict(settings)))


@extern
def hasp_python_notice(data: Any, severity: Any, message: Any) -> None:
    ffi.from_handle(data)(string(severity), string(message))
