# SPDX-License-Identifier: Apache-2.0
"""script/demo python, its second part: a notebook with pandas and matplotlib, executed and kept.

The model's part is played back: it gets a table by its name in braces, and draws it by run_python.
The notebook runs unattended, so a policy allows that code.  The executed notebook and its pictures
are left in build/python/demo/.
"""

import base64
import json
import os
import shutil
import sys
from pathlib import Path

import demo_python

CSV = "year,city,people\n" + "".join(
    "%d,%s,%d\n" % (year, city, people + growth * (year - 2015))
    for year in range(2015, 2025)
    for city, people, growth in (("Bergen", 275_000, 1_700), ("Lund", 116_000, 1_500))
)
DRAWS = """import pandas as pd
import matplotlib.pyplot as plt
table = pd.read_csv("cities.csv").pivot(index="year", columns="city", values="people")
growth = (table.iloc[-1] / table.iloc[0] - 1) * 100
figure, axes = plt.subplots(figsize=(6, 3))
(table / table.iloc[0] * 100).plot(ax=axes, ylabel="2015 = 100")
growth.round(1)"""
POLICY = '[[rule]]\ntoolName = "run_python"\ndecision = "allow"\npriority = 100\n'
CELLS = [
    ("load", "%load_ext hasp\n%hasp model replay:model.json"),
    ("table", "import pandas as pd\ndf = pd.read_csv('cities.csv')\ndf.tail(4)"),
    (
        "sent",
        "from hasp.notebook.context import with_variables\n"
        "print(with_variables('{df}', globals()))",
    ),
    ("ask", "%%hasp Which city grows faster in {df}? Draw both."),
]


def played():
    """What the model says: code, then words about its result."""
    parts = [
        {"functionCall": {"name": "run_python", "args": {"code": DRAWS}}},
        {"text": "**Lund** grows faster: by 11.6 % since 2015, and Bergen by 5.6 %."},
    ]
    for part in parts:
        content = {"role": "model", "parts": [part]}
        reply = {"candidates": [{"content": content, "finishReason": "STOP"}]}
        yield json.dumps({"method": "generateContentStream", "response": [reply]}) + "\n"


def prepared(folder):
    shutil.rmtree(folder, ignore_errors=True)
    home = folder / "home"
    (home / ".gemini" / "policies").mkdir(parents=True)
    (home / ".gemini" / "policies" / "demo.toml").write_text(POLICY)
    (folder / "work").mkdir()
    (folder / "work" / "cities.csv").write_text(CSV)
    (folder / "work" / "model.json").write_text("".join(played()))
    demo_python.unpacked(folder / "package", demo_python.TOP / "build")
    return {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "PATH": "/usr/bin:" + os.environ["PATH"],
        "PYTHONPATH": str(folder / "package"),
    }


def executed(folder, environment):
    import nbformat
    from nbclient import NotebookClient

    document = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        cells=[nbformat.v4.new_code_cell(source, id=name) for name, source in CELLS],
    )
    place = {"metadata": {"path": str(folder / "work")}}
    client = NotebookClient(document, timeout=120, kernel_name="python3", resources=place)
    client.execute(env=environment)
    nbformat.validate(document)
    nbformat.write(document, folder / "demo.ipynb")
    return {cell.id: cell.outputs for cell in document.cells}


def checked(outputs, folder):
    """What a person would look for."""
    sent = outputs["sent"][0]["text"]
    for words in (
        "20 rows x 3 columns",
        "people: int64",
        "city: object",
        "2015",
        "Bergen",
        "275000",
    ):
        assert words in sent, sent
    shown = [one.get("data", {}) for one in outputs["ask"]]
    assert any("<strong>Lund</strong>" in str(one.get("text/html")) for one in shown), shown
    drawn = [base64.b64decode(one["image/png"]) for one in shown if "image/png" in one]
    assert len(drawn) == 1, shown
    width, height = (int.from_bytes(drawn[0][at : at + 4], "big") for at in (16, 20))
    assert width > 300 and height > 150, (width, height)
    (folder / "demo.png").write_bytes(drawn[0])
    return sent, "%d x %d" % (width, height)


def main():
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a warning of the kernel's debugger
    folder = demo_python.TOP / "build" / "python" / "demo"
    sent, size = checked(executed(folder, prepared(folder)), folder)
    print("\nIn a notebook, {df} is for the model:\n")
    print("\n".join("    " + line for line in sent.strip().splitlines()[2:]))
    for name in ("package", "home"):
        shutil.rmtree(folder / name)
    print("\nand run_python's figure (%s) is in the cell. To look at:" % size)
    for name in ("demo.ipynb", "demo.png"):
        print("    " + str((folder / name).relative_to(Path.cwd())))


if __name__ == "__main__":
    sys.exit(main())
