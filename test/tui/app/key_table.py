# SPDX-License-Identifier: Apache-2.0
"""The keys that people bring from other agents and from readline: a row each, with what proves it in a terminal.

docs/terminal.md has the table: run this file to write it there.  test_keys.py types every row into the program, and
looks at every default of src/tui/editor/bindings_table.h: nothing that runs, sends, deletes, quits or asks less is on
a key that completes, moves or pastes elsewhere.
"""
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "docs" / "terminal.md"
BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->"
AGENTS = ("Claude Code", "Codex", "Gemini CLI")


class Becomes(NamedTuple):
    """What is typed (keys in <>) makes this draft."""
    typed: str
    draft: str


class Shows(NamedTuple):
    """What is typed has this on the screen."""
    typed: str
    text: str


class Row(NamedTuple):
    keys: str
    hasp: str
    agents: tuple       # as AGENTS; "same": as hasp
    readline: str
    proof: list         # of an idle terminal; what needs a running prompt is in test_keys.py, by the row's `keys`


def same(hasp, keys, readline, *proof, agents=("same",) * 3):
    return Row(keys, hasp, agents, readline, list(proof))


ROWS = [
    Row("Tab", "completes; never sends", ("same", "same; queues while it works", "same"), "same",
        [Becomes("/shortc<tab>", "/shortcuts"), Becomes("nothing to complete<tab>", "nothing to complete")]),
    Row("Enter", "sends; steers while it works", ("sends; queues", "same", "sends; queues"), "accepts the line", []),
    same("new line", "Ctrl+J, Alt+Enter, `\\` Enter", "Ctrl+J accepts the line", Shows("one<ctrl+j>two", "  two"),
         Shows("one<alt+enter>two", "  two"), Shows("one\\<enter>two", "  two")),
    same("earlier and later prompts", "Up, Down", "same", Becomes("<up>", "second"), Becomes("<up><up>", "first"),
         Becomes("<up><up><down>", "second")),
    same("earlier and later prompts", "Ctrl+P, Ctrl+N", "same", Becomes("<ctrl+p>", "second"),
         Becomes("<ctrl+p><ctrl+p><ctrl+n>", "second")),
    same("move", "Left, Right, Ctrl+F, Home, End, Ctrl+A, Ctrl+E", "same", Becomes("abc<left>X", "abXc"),
         Becomes("abc<home><right>X", "aXbc"), Becomes("abc<ctrl+a><ctrl+f>X", "aXbc"), Becomes("abc<ctrl+a>X", "Xabc"),
         Becomes("abc<home><end>X", "abcX"), Becomes("abc<home><ctrl+e>X", "abcX")),
    same("moves left; moves a running command to the background", "Ctrl+B", "moves left", Becomes("abc<ctrl+b>X", "abXc"),
         agents=("moves a command to the background", "moves left", "moves a command to the background")),
    same("move by a word", "Alt+B, Alt+F, Ctrl+Left, Ctrl+Right", "same", Becomes("one two<alt+b>X", "one Xtwo"),
         Becomes("one two<home><alt+f>X", "oneX two"), Becomes("one two<ctrl+left>X", "one Xtwo"),
         Becomes("one two<home><ctrl+right>X", "oneX two")),
    same("delete to the end, to the start, a word", "Ctrl+K, Ctrl+U, Ctrl+W, Alt+D", "same",
         Becomes("one two<alt+b><ctrl+k>", "one"), Becomes("one two<alt+b><ctrl+u>", "two"),
         Becomes("one two<ctrl+w>", "one"), Becomes("one two<home><alt+d>", " two")),
    Row("Ctrl+Y", "pastes what these deleted", ("same", "same", "YOLO mode"), "same",
        [Becomes("one two<ctrl+w><ctrl+y><ctrl+y>", "one twotwo"), Becomes("one two<ctrl+w><ctrl+w><ctrl+y>", "one two"),
         Becomes("one two<home><alt+d><alt+d><ctrl+y>", "one two")]),
    same("deletes a character", "Backspace, Delete, Ctrl+H", "same", Becomes("abc<backspace>", "ab"),
         Becomes("abc<left><delete>", "ab"), Becomes("abc<ctrl+h>", "ab")),
    Row("Ctrl+D", "deletes a character; in an empty prompt quits", ("same", "same", "quits when pressed twice"), "same",
        [Becomes("abc<left><ctrl+d>", "ab")]),
    Row("Esc", "interrupts", ("same",) * 3, "–", [Becomes("draft<esc>", "draft")]),
    Row("Esc Esc", "empties the prompt; in an empty one rewinds", ("same", "edits an earlier message", "same"), "–",
        [Becomes("draft<esc><esc>", ""), Shows("<esc><esc>", "Back to which?")]),
    Row("Ctrl+C", "empties, interrupts; twice quits", ("same",) * 3, "drops the line",
        [Becomes("draft<ctrl+c>", ""), Shows("<ctrl+c>", "Press Ctrl+C again to exit.")]),
    Row("Ctrl+R", "searches earlier prompts", ("same",) * 3, "same", [Shows("<ctrl+r>fir", "first")]),
    Row("Ctrl+L", "clears the window", ("same",) * 3, "same", []),
    Row("Ctrl+G", "opens the editor", ("same",) * 3, "aborts", [Becomes("<ctrl+g>", "from the editor")]),
    Row("Ctrl+V", "pastes, images too", ("same",) * 3, "takes the next key as it is", [Shows("<ctrl+v>", "lipboard")]),
    Row("Ctrl+Z", "suspends", ("same",) * 3, "–", []),
    Row("Shift+Tab", "next mode", ("same",) * 3, "–",
        [Shows("<shift+tab>", "edits accepted"), Shows("<shift+tab>", "plan mode"), Shows("<shift+tab>", "? for keys")]),
    Row("Ctrl+O", "the whole conversation", ("same", "copies the last answer", "unfolds"), "–", [Shows("<ctrl+o>", "q closes")]),
    Row("Ctrl+T", "to-do list", ("same", "the whole conversation", "same"), "swaps characters",
        [Shows("<ctrl+t>", "There are no todos.")]),
    Row("Ctrl+Q", "queues while it works", ("–", "–", "–"), "takes the next key as it is", [Shows("draft<ctrl+q>", "Nothing to wait for")]),
    Row("?", "in an empty prompt: keys", ("same",) * 3, "–", [Shows("?", "/keys all keys")]),
]

# What a key does in readline or in one of the agents, of what may surprise: completes, moves or pastes.
ELSEWHERE = {
    "completes": "tab alt+? alt+* alt+/ right ctrl+f end ctrl+e ctrl+space",
    "moves": "left right up down home end ctrl+a ctrl+b ctrl+e ctrl+f ctrl+n ctrl+p alt+b alt+f alt+n alt+p alt+< alt+> "
             "ctrl+left ctrl+right alt+left alt+right pageup pagedown alt+m shift+up shift+down ctrl+home ctrl+end",
    "pastes": "ctrl+y alt+y alt+. alt+_ ctrl+alt+y ctrl+v alt+v cmd+v ctrl+shift+v insert",
}
# What runs, sends, deletes, quits or asks less, by the bindings' names.
GRAVE = ("input.submit input.queueMessage history.search.submit basic.quit basic.exit app.toggleYolo app.cycleApprovalMode "
         "edit.clear edit.deleteRightAll edit.deleteLeftAll edit.deleteWordLeft edit.deleteWordRight edit.deleteLeft "
         "edit.deleteRight background.toggle").split()
# A running command alone is moved by it, and goes on.
EXCUSED = {("background.toggle", "ctrl+b")}


def table():
    rows = ["| key | hasp | %s | readline |" % " | ".join(AGENTS), "|---|---|---|---|---|---|"]
    rows += ["| %s |" % " | ".join((row.keys, row.hasp, *row.agents, row.readline)) for row in ROWS]
    return "\n".join(rows) + "\n"


def shown():
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.replace(shown(), table()), encoding="utf-8")
