# SPDX-License-Identifier: Apache-2.0
"""The agent's tools for the notebook that it runs in: read, edit, run.

A cell is named by its id; in notebooks older than format 4.5 by `#PLACE-HASH`, which names nothing
any more once the cell has moved or changed.  An edit is made to a cell only as the model has read
it: who has changed it meanwhile is not overwritten, and changes of other cells stay.
"""
from __future__ import annotations

import copy
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import hasp

from .document import Changed, NotebookError, Store

LONGEST_SOURCE = 20_000
LONGEST_OUTPUT = 4_000
MOST_CELLS = 500
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")

Run = Callable[[str], Awaitable[str]]


def text_of(source: Any) -> str:
    """A source or text of nbformat: a string, or a list of lines."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def name_of(cell: dict[str, Any], place: int) -> str:
    """What the tools call the cell."""
    if cell.get("id"):
        return str(cell["id"])
    return f"#{place}-{_hash(text_of(cell.get('source')))[:6]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def place_of(document: dict[str, Any], name: str) -> int:
    """The place of the cell, from 0."""
    for place, cell in enumerate(document["cells"]):
        if name_of(cell, place) == name:
            return place
    raise NotebookError(f"There is no cell {name!r} (any more). notebook_read lists the cells.")


def _output_text(output: dict[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return text_of(output.get("text"))
    if kind == "error":
        return _ANSI.sub(
            "",
            "\n".join(map(str, output.get("traceback") or []))
            or f"{output.get('ename')}: {output.get('evalue')}",
        )
    data = output.get("data") or {}
    plain = text_of(data.get("text/plain"))
    others = [name for name in data if name not in ("text/plain", "text/html")]
    return plain + (f" [{', '.join(others)}]" if others else "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n... ({len(text) - limit} more)"


def described(cell: dict[str, Any], place: int, outputs: bool) -> str:
    """One cell as the model reads it."""
    count = cell.get("execution_count")
    title = (
        f"--- cell {name_of(cell, place)} ({cell.get('cell_type')}"
        + (f", run as [{count}]" if count else "")
        + ")"
    )
    parts = [title, _cut(text_of(cell.get("source")), LONGEST_SOURCE)]
    if outputs and cell.get("outputs"):
        shown = "\n".join(_output_text(one) for one in cell["outputs"] if isinstance(one, dict))
        if shown.strip():
            parts += ["--- output", _cut(shown, LONGEST_OUTPUT)]
    return "\n".join(parts)


def _source_of(document: dict[str, Any], cell: str) -> str:
    return text_of(document["cells"][place_of(document, cell)].get("source"))


def _contents(document: dict[str, Any]) -> str:
    """A line for each cell: its name and how it begins."""
    lines = []
    for place, cell in enumerate(document["cells"]):
        first = text_of(cell.get("source")).strip().partition("\n")[0]
        lines.append(f"{cell.get('id') or place}: {first[:80]}\n")
    return "".join(lines)


def new_cell(document: dict[str, Any], kind: str, source: str) -> dict[str, Any]:
    """A cell as the notebook's format has it."""
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    if int(document.get("nbformat_minor") or 0) >= 5:
        cell["id"] = secrets.token_hex(4)
    return cell


class Notebook:
    """The notebook of one session: what the model has read of it, and the three tools."""

    def __init__(self, find: Callable[[], Store], run: Run) -> None:
        self._find = find
        self._run = run
        self._store: Store | None = None
        self._read: dict[str, str] = {}  # hash of each cell that the model has read, by its name

    def forget(self) -> None:
        """Looks for the notebook anew with the next call."""
        self._store = None
        self._read.clear()

    async def _opened(self) -> Store:
        if self._store is None:
            import asyncio

            self._store = await asyncio.to_thread(self._find)
        return self._store

    def _as_read(self, document: dict[str, Any], name: str) -> int:
        """The place of a cell that is as the model has read it."""
        place = place_of(document, name)
        source = text_of(document["cells"][place].get("source"))
        if name not in self._read:
            raise NotebookError(f"Cell {name!r} was not read yet: call notebook_read first.")
        if self._read[name] != _hash(source):
            raise Changed(
                f"Cell {name!r} was changed since it was read; nothing was written. "
                "Read it again with notebook_read."
            )
        return place

    def _learn(self, document: dict[str, Any], name: str) -> None:
        cell = document["cells"][place_of(document, name)]
        self._read[name] = _hash(text_of(cell.get("source")))

    async def read(self, cell: str = "", outputs: bool = True) -> str:
        """The text of notebook_read."""
        store = await self._opened()
        document, _ = await store.read()
        cells = document["cells"]
        first = place_of(document, cell) if cell else 0
        last = first + 1 if cell else min(len(cells), MOST_CELLS)
        for place in range(first, last):
            self._learn(document, name_of(cells[place], place))
        parts = [f"{store.name}: {len(cells)} cells"]
        parts += [described(cells[place], place, outputs) for place in range(first, last)]
        if not cell and len(cells) > MOST_CELLS:
            parts.append(f"... and {len(cells) - MOST_CELLS} more cells")
        return "\n".join(parts)

    async def edit(self, operation: str, cell: str, source: str, kind: str, after: str) -> str:
        """The text of notebook_edit."""
        store = await self._opened()
        document, seen = await store.read()
        changed = copy.deepcopy(document)
        done, name = _OPERATIONS[operation](self, changed, cell, source, kind, after)
        await store.write(changed, seen)
        if name:
            self._learn(changed, name)
        if operation in ("replace", "delete"):
            self._read.pop(cell if name != cell else "", None)
        return done + " If the notebook is open in a browser, it is seen there after a reload."

    async def preview(
        self, operation: str, cell: str = "", source: str = "", kind: str = "code", after: str = ""
    ) -> list[hasp.FileDiff]:
        """The change of one cell, or of the order of cells, for the question about it."""
        store = await self._opened()
        document, _ = await store.read()
        changed = copy.deepcopy(document)
        _OPERATIONS[operation](self, changed, cell, source, kind, after)
        where = f"after cell {after}" if after else "at the top"
        title = {
            "insert": f"{store.name}: a new {kind} cell {where}",
            "replace": f"{store.name}: cell {cell}",
            "delete": f"{store.name}: cell {cell} is deleted",
            "move": f"{store.name}: cell {cell} moves",
        }[operation]
        if operation == "move":
            return [hasp.FileDiff.between(title, _contents(document), _contents(changed))]
        old = _source_of(document, cell) if operation != "insert" else ""
        return [hasp.FileDiff.between(title, old, source if operation != "delete" else "")]

    def _insert(
        self, document: dict[str, Any], cell: str, source: str, kind: str, after: str
    ) -> tuple[str, str]:
        place = self._as_read(document, after) + 1 if after else 0
        document["cells"].insert(place, new_cell(document, kind, source))
        name = name_of(document["cells"][place], place)
        return f"Inserted cell {name}.", name

    def _replace(
        self, document: dict[str, Any], cell: str, source: str, kind: str, after: str
    ) -> tuple[str, str]:
        place = self._as_read(document, cell)
        one = document["cells"][place]
        one["source"] = source
        if one.get("cell_type") == "code":
            # What is below it would be of other code.
            one["outputs"], one["execution_count"] = [], None
        return f"Replaced the source of cell {cell}.", name_of(one, place)

    def _delete(
        self, document: dict[str, Any], cell: str, source: str, kind: str, after: str
    ) -> tuple[str, str]:
        del document["cells"][self._as_read(document, cell)]
        return f"Deleted cell {cell}.", ""

    def _move(
        self, document: dict[str, Any], cell: str, source: str, kind: str, after: str
    ) -> tuple[str, str]:
        if after == cell:
            raise NotebookError("A cell cannot be moved after itself.")
        place = self._as_read(document, cell)
        anchor = document["cells"][self._as_read(document, after)] if after else None
        moved = document["cells"].pop(place)
        place = next((at + 1 for at, one in enumerate(document["cells"]) if one is anchor), 0)
        document["cells"].insert(place, moved)
        return f"Moved cell {cell}.", name_of(moved, place)

    async def run(self, cell: str, source: str) -> str:
        """The text of notebook_run_cell.  The user was asked about `source`: no other code runs."""
        store = await self._opened()
        document, _ = await store.read()
        place = self._as_read(document, cell)
        one = document["cells"][place]
        if one.get("cell_type") != "code":
            raise NotebookError(f"Cell {cell!r} holds no code.")
        if text_of(one.get("source")) != source:
            raise NotebookError(
                f"Cell {cell!r} does not hold this code: read it again, and pass "
                "its whole source."
            )
        return await self._run(source)

    def tools(self) -> list[Any]:
        """The tools for hasp.Agent(tools=...)."""

        @hasp.tool(kind="read")
        async def notebook_read(cell: str = "", outputs: bool = True) -> str:
            """Reads the notebook this conversation is in: all cells, or one.

            Args:
                cell: Id of the only cell to read.
                outputs: Whether what the cells printed is included.
            """
            return await self.read(cell, outputs)

        @hasp.tool(kind="edit", preview=self.preview)
        async def notebook_edit(
            operation: Literal["insert", "replace", "delete", "move"],
            cell: str = "",
            source: str = "",
            kind: Literal["code", "markdown", "raw"] = "code",
            after: str = "",
        ) -> str:
            """Changes cells of the notebook, which must have been read.

            Args:
                operation: What to do.
                cell: Id of the cell to replace, delete or move.
                source: The whole new text, for insert and replace.
                kind: What an inserted cell is.
                after: Id of the cell to insert or move after; empty: to the top.
            """
            return await self.edit(operation, cell, source, kind, after)

        @hasp.tool(kind="execute")
        async def notebook_run_cell(cell: str, source: str) -> str:
            """Runs a cell that was read in the user's kernel, and returns what it printed.

            Args:
                cell: Id of the cell.
                source: Its whole source as it was read, which the user is shown.
            """
            return await self.run(cell, source)

        return [notebook_read, notebook_edit, notebook_run_cell]


_OPERATIONS: dict[str, Callable[..., tuple[str, str]]] = {
    "insert": Notebook._insert,
    "replace": Notebook._replace,
    "delete": Notebook._delete,
    "move": Notebook._move,
}
