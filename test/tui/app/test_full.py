# SPDX-License-Identifier: Apache-2.0
"""The full screen (ui.useAlternateBuffer): a window over the conversation, scrolled and searched; nothing repeated,
lost or torn whatever is done to the terminal."""
import random
import re
import signal
import time

import pytest
from fake_gemini import call, text

READY = "? for keys"
LINE = re.compile(r"L(\d{4})")


@pytest.fixture
def full(world):
    world.settings(ui={"useAlternateBuffer": True})
    return world


def lines(first, last, more=""):
    """Numbered lines, each a paragraph's row of its own."""
    return "\n".join("- L%04d%s" % (number, more) for number in range(first, last + 1))


def numbers(rows):
    return [int(found.group(1)) for found in map(LINE.search, rows) if found]


def below(hasp):
    """What the row under the window says; 0: the end is shown."""
    found = re.search(r"(\d+) rows? below", "\n".join(hasp.dump().window))
    return int(found.group(1)) if found else 0


def test_a_prompt_is_answered_on_the_alternate_screen(full):
    with full.fake([[text("Hello **there**.\n\nA second paragraph.")]]) as server:
        with full.hasp(server) as hasp:
            hasp.wait("sandbox:").type("hi").key("enter").wait("A second paragraph.").wait(READY)
            dump = hasp.dump()
            assert dump.alternate and dump.scrollback == [] and dump.visible
            assert sum("hi" == line.strip("> ") for line in dump.window) == 1
            assert "Hello there." in dump.window
            assert dump.window[dump.cursor[0]].startswith(">")
            hasp.key("ctrl+d")
            assert hasp.end() == 0
            # What was said last, and how to go on, stay in the terminal.
            dump = hasp.dump()
            assert not dump.alternate and "Hello there." in dump.window and "A second paragraph." in dump.window
            assert dump.window[max(i for i, line in enumerate(dump.window) if line)].startswith("hasp --resume ")
