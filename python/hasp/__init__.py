# SPDX-License-Identifier: Apache-2.0
"""hasp: state-verified edits, confined tools and an agent, with your functions as hooks and tools.

    async with hasp.Workspace("project") as ws:      # tools without a model
        file = await ws.read("main.py")

    async with hasp.Agent(workspace="project") as agent:
        result = await agent.run("Why does the build fail?")

`hasp.blocking` has both without `await`. Failures are `hasp.Error`, with hasp's codes.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    libhasp: str  # the path of libhasp, for ctypes and cffi; next to it is its header, hasp.h
    from . import approval as approval
    from . import blocking as blocking
    from .agent import Agent as Agent
    from .agent import Event as Event
    from .agent import Result as Result
    from .errors import *  # noqa: F403
    from .questions import Answer as Answer
    from .questions import Approval as Approval
    from .questions import FileDiff as FileDiff
    from .questions import Hunk as Hunk
    from .questions import Question as Question
    from .tools import Tool as Tool
    from .tools import tool as tool
    from .workspace import CommandResult as CommandResult
    from .workspace import Edited as Edited
    from .workspace import File as File
    from .workspace import Match as Match
    from .workspace import SearchResult as SearchResult
    from .workspace import State as State
    from .workspace import Workspace as Workspace

_FROM = {
    "agent": ("Agent", "Event", "Result"),
    "questions": ("Answer", "Approval", "FileDiff", "Hunk", "Question"),
    "tools": ("Tool", "tool"),
    "workspace": ("CommandResult", "Edited", "File", "Match", "SearchResult", "State", "Workspace"),
}
_HOME = {name: module for module, names in _FROM.items() for name in names}
_MODULES = (
    "agent",
    "approval",
    "blocking",
    "errors",
    "notebook",
    "questions",
    "tools",
    "workspace",
)

__all__ = sorted(_HOME) + ["approval", "blocking"]


def __getattr__(name: str) -> Any:
    """Loads what is asked for: `import hasp` alone costs almost nothing."""
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    elif name == "libhasp":
        from pathlib import Path

        value = str(Path(__file__).with_name("_lib") / "libhasp.so.0")
    elif name == "__version__":
        from ._native import ffi, lib

        value = ffi.string(lib.hasp_agent_version()).decode()
    else:
        from . import errors

        try:
            value = getattr(errors, name)
        except AttributeError:
            raise AttributeError(f"module 'hasp' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext hasp`."""
    importlib.import_module(".notebook", __name__).load_ipython_extension(shell)
