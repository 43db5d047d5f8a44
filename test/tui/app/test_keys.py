# SPDX-License-Identifier: Apache-2.0
"""The table of keys (key_table.py) against the program, its document and the defaults of keybindings.json."""
import re

import key_table
import pytest
import terminal
from fake_gemini import text

UNDECIDED = {"GEMINI_CLI_TRUST_WORKSPACE": None}
READY = "? for keys"
TABLE = key_table.TOP / "src/tui/editor/bindings_table.h"


def press(hasp, typed):
    for key, plain in re.findall(r"<([a-z+0-9]+)>|([^<]+)", typed):
        hasp.quiet(0.05)
        if key:
            hasp.key(key)
        else:
            hasp.type(plain)


def draft(hasp):
    """The text of the caret's row; blanks at its end are not seen."""
    there = hasp.dump()
    return there.window[there.cursor[0]][2:]


@pytest.fixture
def hasp(world):
    world.write("editor.sh", "printf 'from the editor' > \"$1\"\n")
    env = {"EDITOR": "sh %s" % (world.root / "editor.sh"), "VISUAL": "", "WAYLAND_DISPLAY": "", "DISPLAY": ""}
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with world.hasp(server, env=env, rows=30) as there:
            there.type("first").key("enter").wait("One.").wait(READY)
            there.type("second").key("enter").wait("Two.").wait(READY)
            yield there


def test_each_key_does_what_the_table_says(hasp):
    for row in key_table.ROWS:
        for proof in row.proof:
            before = hasp.dump().text.count(getattr(proof, "text", "\0"))
            press(hasp, proof.typed)
            hasp.quiet(0.1)
            if isinstance(proof, key_table.Becomes):
                assert draft(hasp) == proof.draft, (row.keys, proof)
            else:
                hasp.wait(proof.text)
                assert before == 0 or proof.text in "\n".join(hasp.dump().window), (row.keys, proof)
            if hasp.dump().alternate:
                hasp.key("q").quiet(0.05)
            # Back to an empty prompt; a key in between ends what a key pressed twice would do.
            if any("to cancel" in line for line in hasp.dump().window):
                hasp.key("esc").quiet(0.05)
            hasp.type("x").quiet(0.05).key("ctrl+c").quiet(0.05)


def test_keys_while_it_works(world, held):
    with world.fake([{"reply": [text("One.")], "expect": held}, [text("Two.")], [text("Three.")]], append_only=False) as server:
        with world.hasp(server, rows=30) as hasp:
            hasp.wait("sandbox:").type("first").key("enter").wait("esc to interrupt")
            held.wait()
            hasp.type("a steer").key("tab").quiet(0.1)
            assert draft(hasp) == "a steer" and "joins" not in hasp.dump().text
            hasp.key("enter").wait("a steer").type("later").key("ctrl+q").wait("queued: later").key("up").quiet(0.1)
            assert draft(hasp) == "later"
            hasp.key("ctrl+c").quiet(0.1).type("abc").key("ctrl+b").type("X").wait("abXc").key("ctrl+c").quiet(0.1)
            hasp.key("ctrl+d").quiet(0.1)
            assert not hasp.dump().alive or hasp.end() == 0


def test_a_key_between_ends_what_twice_would_do(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type(terminal.key_bytes("ctrl+c") + "x\x7f" + terminal.key_bytes("ctrl+c"))
            hasp.wait("Press Ctrl+C again to exit.").quiet(0.2)
            assert hasp.dump().alive


def test_the_mode_that_a_folder_does_not_permit_is_passed_over(world):
    with world.fake([]) as server:
        with world.hasp(server, env=UNDECIDED) as hasp:
            hasp.wait("Trust this folder?").quiet(0.2).key("enter").wait("Not trusted.").wait("sandbox:")
            hasp.key("shift+tab").wait("plan mode").wait("Skipped: accepting edits requires a trusted folder")
            hasp.key("shift+tab").gone("plan mode").gone("Skipped: accepting").key("shift+tab").wait("plan mode")


def test_the_document_has_the_table():
    assert key_table.shown() == key_table.table(), "python3 test/tui/app/key_table.py"


def test_nothing_grave_is_on_a_key_that_completes_moves_or_pastes_elsewhere():
    rows = re.findall(r'X\(\w+, "([\w.]+)", "([^"]*)"', TABLE.read_text(encoding="utf-8"))
    assert len(rows) > 70
    names = {name for name, _ in rows}
    assert not set(key_table.GRAVE) - names
    for name, chords in rows:
        for chord in chords.split():
            harmless = [what for what, keys in key_table.ELSEWHERE.items() if chord in keys.split()]
            if name in key_table.GRAVE and (name, chord) not in key_table.EXCUSED:
                assert not harmless, "%s is on %s, which %s elsewhere" % (name, chord, harmless[0])
