# SPDX-License-Identifier: Apache-2.0
"""The notebooks of the documents run from beginning to end."""
import shutil
from pathlib import Path

import nbformat
import pytest
from front import environment_of
from nbclient import NotebookClient

DOCS = Path(__file__).resolve().parents[3] / "docs"
SECONDS = 60
PRICES = "apple,2\npear,3\nplum,-1\n"


def shown(cell):
    return "\n".join(
        str(output.get("data", {}).get("text/html", "")) + str(output.get("text", ""))
        for output in cell.outputs
    )


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tour") / "work"
    folder.mkdir()
    (folder.parent / "home").mkdir()
    for file in (DOCS / "notebooks").iterdir():
        shutil.copy(file, folder)
    (folder / "prices.csv").write_text(PRICES)
    document = nbformat.read(folder / "tour.ipynb", as_version=4)
    NotebookClient(
        document,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute(env=environment_of(folder.parent))
    nbformat.validate(document)
    return {cell.id: cell for cell in document.cells}, folder


def test_the_answer_is_in_the_notebook(tour):
    cells, _ = tour
    assert "<table>" in shown(cells["ask"]) and "<strong>-1</strong>" in shown(cells["ask"])


def test_nobody_is_asked_and_the_cell_says_so(tour):
    cells, folder = tour
    assert "Nobody can be asked here" in shown(cells["edit"])
    assert (folder / "prices.csv").read_text() == PRICES


def test_the_kernel_goes_on(tour):
    cells, _ = tour
    assert cells["next"].outputs[0].data["text/plain"] == "4"


def test_documents_hold_no_outputs():
    """They are made by running; kept ones would grow old."""
    for file in (DOCS / "notebooks").glob("*.ipynb"):
        assert not any(
            cell.get("outputs") for cell in nbformat.read(file, as_version=4).cells
        ), file
