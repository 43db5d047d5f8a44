# SPDX-License-Identifier: Apache-2.0
"""hasp in IPython and Jupyter: `%load_ext hasp`, then `%%hasp PROMPT` in a cell.

`Widget` answers questions of an agent that a program makes itself, in an async cell:

    async with hasp.Agent(approval=hasp.notebook.Widget()) as agent:
        await agent.run("tidy up")
"""
from __future__ import annotations

from typing import Any

_NAME = "_hasp_magics"


def _one_line(lines: list[str]) -> list[str]:
    """IPython refuses cell magics without a body; the prompt may stand in the first line alone."""
    alone = len(lines) == 1 and lines[0].startswith("%%hasp")
    return [lines[0].rstrip("\n") + "\n", "\n"] if alone else lines


def load_ipython_extension(shell: Any) -> None:
    """For `%load_ext hasp`."""
    from .magics import HaspMagics

    if getattr(shell, _NAME, None) is None:
        magics = HaspMagics(shell)
        setattr(shell, _NAME, magics)
        shell.register_magics(magics)
        shell.input_transformers_cleanup.append(_one_line)


def unload_ipython_extension(shell: Any) -> None:
    """For `%unload_ext hasp`: ends the conversation."""
    magics = getattr(shell, _NAME, None)
    if magics is not None:
        magics.session.close()
        shell.input_transformers_cleanup.remove(_one_line)
        setattr(shell, _NAME, None)


def __getattr__(name: str) -> Any:
    # ipywidgets and zmq are asked for only by who uses them.
    if name == "Widget":
        from .widget import Widget

        return Widget
    raise AttributeError(f"module 'hasp.notebook' has no attribute {name!r}")
