# SPDX-License-Identifier: Apache-2.0
"""%%hasp in a real kernel, with a front end that clicks, types, interrupts, or cannot be asked."""
import html
import re

import pytest
from front import call, overwrite, replay, text

OLD = "".join("line %d\n" % i for i in range(40))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")


@pytest.fixture
def model(front, tmp_path):
    """Plays these turns from now on."""

    def play(*turns):
        done = front.run("%%hasp model replay:%s" % replay(tmp_path / "model.json", *turns))
        assert done.reply["status"] == "ok", done.error

    return play


def write(front, content=NEW):
    (front.folder / "a.txt").write_text(OLD)
    return overwrite(front.folder / "a.txt", content)


def when_asked(front, answer):
    """Answers whenever the widget is shown."""

    def look(cell, message):
        if "application/vnd.jupyter.widget-view+json" in message["content"].get("data", {}):
            answer()

    return look


def hasp(front, prompt, **options):
    return front.run("%%hasp " + prompt, **options)


def test_the_answer_is_shown(front, model):
    model(text("# Hello\n\n**World** <script>alert(1)</script>"))
    cell = hasp(front, "Hello")
    assert cell.reply["status"] == "ok", cell.reply
    assert "<h1>Hello</h1>" in cell.html and "<strong>World</strong> &lt;script&gt;" in cell.html
    assert "<script" not in cell.html


def test_one_hunk_is_taken_and_another_left(front, model):
    model(write(front), text("Done."))

    def answer():
        front.tick("Take hunk 2", False)
        front.click("Allow once")

    cell = hasp(front, "Change it", on_message=when_asked(front, answer), stdin=lambda prompt: "")
    assert cell.reply["status"] == "ok", cell.reply
    assert (front.folder / "a.txt").read_text() == OLD.replace("line 3\n", "line three\n")
    assert "Done." in cell.html and "<details>" in cell.html
    assert not front.widgets, "nothing of the question is left"


@pytest.mark.parametrize(
    "button, expected", [("Allow once", NEW), ("Refuse", OLD)], ids=["allow", "refuse"]
)
def test_all_or_nothing(front, model, button, expected):
    model(write(front), text("Done."))
    cell = hasp(
        front,
        "Change it",
        on_message=when_asked(front, lambda: front.click(button)),
        stdin=lambda prompt: "",
    )
    assert "Done." in cell.html
    assert (front.folder / "a.txt").read_text() == expected


def test_the_widget_shows_nothing_as_markup(front, model):
    (front.folder / "a.txt").write_text("<img>old</img>\n")
    model(overwrite(front.folder / "a.txt", "<script>new</script>\n"), text("Done."))
    shown = []

    def answer():
        shown.extend(str(state.get("value")) for state in front.widgets.values())
        front.click("Refuse")

    hasp(front, "Change it", on_message=when_asked(front, answer), stdin=lambda prompt: "")
    every = "\n".join(shown)
    assert set(re.findall(r"<(\w+)", every)) == {"div", "b", "code", "table", "tr", "td"}
    assert "<img>old</img>" in html.unescape(re.sub("<[^>]*>", "", every))


def test_a_command_is_asked_about_as_well(front, model):
    model(call("run_shell_command", command="rm -rf build"), text("Done."))
    shown = []

    def answer():
        shown.extend(str(state.get("value")) for state in front.widgets.values())
        front.click("Refuse")

    hasp(front, "Clean", on_message=when_asked(front, answer), stdin=lambda prompt: "")
    assert any("rm -rf build" in value for value in shown)


def test_without_widgets_it_is_text(front, model):
    """A browser that knows no widgets closes them; the question is asked on a line."""
    model(write(front), text("Done."))
    prompts = []

    def stdin(prompt):
        prompts.append(prompt)
        return "1"

    cell = hasp(front, "Change it", on_message=when_asked(front, front.decline), stdin=stdin)
    assert len(prompts) == 1 and "+line thirty" in cell.stream, (prompts, cell.stream, cell.error)
    assert (front.folder / "a.txt").read_text() == OLD.replace("line 3\n", "line three\n")


@pytest.mark.parametrize(
    "said, expected",
    [("y", NEW), ("n", OLD), ("leave it", OLD), ("2", OLD.replace("line 30\n", "line thirty\n"))],
    ids=["yes", "no", "words", "hunk"],
)
def test_text_by_choice(front, model, said, expected):
    model(write(front), text("Done."))
    front.run("%hasp ask text")
    hasp(front, "Change it", stdin=lambda prompt: said)
    assert (front.folder / "a.txt").read_text() == expected


def test_where_nobody_can_be_asked_it_is_no(front, model):
    model(write(front), text("Done."))
    cell = hasp(front, "Change it")
    assert cell.reply["status"] == "ok", cell.reply
    assert "Nobody can be asked here" in cell.plain
    assert (front.folder / "a.txt").read_text() == OLD


def test_interrupting_leaves_a_working_session(front, model):
    model(write(front), text("Done."), text("Again."))
    cell = hasp(
        front,
        "Change it",
        on_message=when_asked(front, front.manager.interrupt_kernel),
        stdin=lambda prompt: "",
    )
    assert (
        cell.reply["status"] == "error"
        and cell.error[0] == "Interrupted"
        and "Traceback" not in cell.error[1]
    )
    assert (front.folder / "a.txt").read_text() == OLD
    assert front.run("6 * 7").reply["status"] == "ok"
    assert hasp(front, "Go on").reply["status"] == "ok"


def test_cells_started_meanwhile_run_afterwards(front, model):
    model(write(front), text("Done."))
    order = []

    def answer():
        front.client.execute("print('after')", allow_stdin=False)
        front.click("Allow once")

    def look(cell, message):
        if message["msg_type"] == "stream":
            order.append(message["content"]["text"])
        asked(cell, message)

    asked = when_asked(front, answer)
    hasp(front, "Change it", on_message=look, stdin=lambda prompt: "")
    assert (front.folder / "a.txt").read_text() == NEW
    front.run("print('last')", on_message=look)
    assert "".join(order).split() == ["after", "last"]


def test_variables_are_named_in_braces(front, model):
    model(text("Seen."))
    front.run(
        "seen = []\nimport hasp\nreal = hasp.Agent\nclass Agent:\n"
        "    async def __aenter__(self): return self\n"
        "    async def __aexit__(self, *_): pass\n    def __init__(self, **_): pass\n"
        "    async def prompt(self, text):\n        seen.append(text)\n        return\n"
        "        yield\nhasp.Agent = Agent\ndata = [1, 2, 3]"
    )
    hasp(front, "Sum {data}, not {other}")
    said = front.run("hasp.Agent = real\nprint(seen[0])").stream
    assert said.startswith("Sum `data`, not {other}\n\nVariable `data`") and "[1, 2, 3]" in said


def test_errors_are_one_sentence(front):
    for line in ("%hasp nothing", "%hasp ask me", "%hasp mode"):
        cell = front.run(line)
        assert cell.reply["status"] == "error" and "Traceback" not in cell.error[1], cell.error
    assert "%%hasp PROMPT" in front.run("%hasp help").plain


def test_the_kernel_runs_a_cell_for_the_agent(front, model):
    (front.folder / "n.ipynb").write_text(NOTEBOOK)
    model(
        call("notebook_read"),
        call("notebook_run_cell", cell="calc", source="answer = 6 * 7\nprint(answer)"),
        text("Done."),
    )
    front.run("%hasp notebook n.ipynb")
    cell = hasp(
        front,
        "Run it",
        on_message=when_asked(front, lambda: front.click("Allow once")),
        stdin=lambda prompt: "",
    )
    assert "42" in cell.stream and "Done." in cell.html, (cell.plain, cell.error)
    assert front.run("print(answer)").stream == "42\n"


def test_the_agent_edits_the_notebook(front, model):
    file = front.folder / "n.ipynb"
    file.write_text(NOTEBOOK)
    model(
        call("notebook_read"),
        call("notebook_edit", operation="insert", source="print(answer)", after="calc"),
        text("Done."),
    )
    front.run("%hasp notebook n.ipynb")
    hasp(
        front,
        "Add a cell",
        on_message=when_asked(front, lambda: front.click("Allow once")),
        stdin=lambda prompt: "",
    )
    import nbformat

    document = nbformat.read(file, as_version=4)
    nbformat.validate(document)
    assert [one.source for one in document.cells] == [
        "answer = 6 * 7\nprint(answer)",
        "print(answer)",
    ]


NOTEBOOK = """{"cells": [
{"cell_type": "code", "execution_count": null, "id": "calc", "metadata": {}, "outputs": [],
"source": ["answer = 6 * 7\\n", "print(answer)"]}
], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
"""
