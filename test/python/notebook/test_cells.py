# SPDX-License-Identifier: Apache-2.0
"""The agent's tools for its notebook: addressed cells, edits of what was read, valid notebooks."""
import asyncio
import copy

import nbformat
import pytest
from hasp.notebook.cells import Notebook
from hasp.notebook.document import Changed, NotebookError, checked


class Kept:
    """A store in memory with a version, as a server keeps one."""

    name = "kept.ipynb"

    def __init__(self, document):
        self.document, self.version = document, 0

    async def read(self):
        return copy.deepcopy(self.document), self.version

    async def write(self, document, seen):
        checked(document, self.name)
        if seen != self.version:
            raise Changed("changed")
        self.document, self.version = document, seen + 1


def made(minor=5):
    document = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Title", id="title"),
            nbformat.v4.new_code_cell("x = 1", id="first"),
            nbformat.v4.new_code_cell(
                "print(x)",
                id="second",
                execution_count=2,
                outputs=[nbformat.v4.new_output("stream", name="stdout", text="1\n")],
            ),
        ]
    )
    document.nbformat_minor = minor
    if minor < 5:
        for cell in document.cells:
            del cell["id"]
    return Kept(document)


def notebook(store, run=None):
    return Notebook(lambda: store, run)


def edit(one, operation, cell="", source="", kind="code", after=""):
    return asyncio.run(one.edit(operation, cell, source, kind, after))


def sources(store):
    nbformat.validate(nbformat.from_dict(store.document))
    return [cell["source"] for cell in store.document["cells"]]


def test_read():
    text = asyncio.run(notebook(made()).read())
    assert text == (
        "kept.ipynb: 3 cells\n--- cell title (markdown)\n# Title\n--- cell first (code)\nx = 1\n"
        "--- cell second (code, run as [2])\nprint(x)\n--- output\n1\n"
    )


def test_operations():
    store = made()
    one = notebook(store)
    asyncio.run(one.read())
    edit(one, "insert", source="y = 2", after="first")
    edit(one, "replace", "first", "x = 10")
    edit(one, "move", "second")
    edit(one, "delete", "title")
    assert sources(store) == ["print(x)", "x = 10", "y = 2"]
    edit(one, "move", "second", after="first")
    edit(one, "insert", source="text", kind="markdown")
    assert sources(store) == ["text", "x = 10", "print(x)", "y = 2"]


def test_replaced_code_has_no_old_output():
    store = made()
    one = notebook(store)
    asyncio.run(one.read())
    edit(one, "replace", "second", "print(2)")
    assert (
        store.document["cells"][2]["outputs"] == []
        and store.document["cells"][2]["execution_count"] is None
    )


def test_cells_without_ids():
    store = made(minor=4)
    one = notebook(store)
    text = asyncio.run(one.read())
    name = [line.split()[2] for line in text.splitlines() if line.startswith("--- cell")][1]
    edit(one, "replace", name, "x = 3")
    assert (
        sources(store) == ["# Title", "x = 3", "print(x)"]
        and "id" not in store.document["cells"][1]
    )
    with pytest.raises(NotebookError, match="no cell"):
        edit(one, "replace", name, "x = 4")


@pytest.mark.parametrize(
    "operation, cell, after",
    [
        ("replace", "first", ""),
        ("delete", "first", ""),
        ("move", "first", ""),
        ("insert", "", "first"),
        ("move", "second", "first"),
    ],
)
def test_a_cell_that_was_changed_meanwhile_is_not_overwritten(operation, cell, after):
    store = made()
    one = notebook(store)
    asyncio.run(one.read())
    store.document["cells"][1]["source"] = "x = 'theirs'"
    before = copy.deepcopy(store.document)
    with pytest.raises(Changed, match="'first' was changed"):
        edit(one, operation, cell, "mine", after=after)
    assert store.document == before


def test_changes_of_other_cells_stay():
    store = made()
    one = notebook(store)
    asyncio.run(one.read())
    store.document["cells"][0]["source"] = "# Theirs"
    edit(one, "replace", "first", "x = 2")
    assert sources(store) == ["# Theirs", "x = 2", "print(x)"]


def test_a_change_between_reading_and_writing_is_a_mismatch():
    store = made()
    one = notebook(store)
    asyncio.run(one.read())

    class Racing(Kept):
        async def read(self):
            read = await super().read()
            self.version += 1  # someone writes now
            return read

    one._store = Racing(store.document)
    with pytest.raises(Changed):
        edit(one, "replace", "first", "x = 2")


def test_unread_cells_are_not_edited():
    with pytest.raises(NotebookError, match="notebook_read"):
        edit(notebook(made()), "delete", "first")


def test_running():
    async def run(source):
        return "ran " + source

    one = notebook(made(), run)
    asyncio.run(one.read(cell="first"))
    assert asyncio.run(one.run("first", "x = 1")) == "ran x = 1"
    with pytest.raises(NotebookError, match="does not hold this code"):
        asyncio.run(one.run("first", "x = 2"))
    asyncio.run(one.read(cell="title"))
    with pytest.raises(NotebookError, match="no code"):
        asyncio.run(one.run("title", ""))


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"nbformat": 3, "cells": []},
        {"nbformat": 4},
        {"nbformat": 4, "cells": 1},
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "other"}]},
    ],
)
def test_what_is_no_notebook_is_refused(document):
    with pytest.raises(NotebookError):
        checked(document, "x.ipynb")
