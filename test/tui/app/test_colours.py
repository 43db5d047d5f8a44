# SPDX-License-Identifier: Apache-2.0
"""Colours on the real terminal: themes of the settings, the background that is asked for, few colours and none."""
import re

import pytest
from fake_gemini import text

READY = "? for keys"
ANSWER = "A [link](https://example.org) and:\n\n```c\nint x = 1; /* why */\n```\n"
TRUE = {"COLORTERM": "truecolor"}


def styles(world, env=None, background=None):
    """What stands in the window after an answer: {text: style} of its pieces, and the bytes."""
    with world.fake([[text(ANSWER)]]) as server:
        argv = world.argv(server, [])
        with world.Hasp(argv, 120, 30, env=world.environment(server, **(env or {})), cwd=world.root,
                        background=background) as hasp:
            hasp.wait("sandbox:").quiet().type("go").key("enter").wait("why").wait(READY).quiet()
            return {piece.strip(): style for row in hasp.cells() for piece, style in row if piece.strip()}, hasp.raw()


def colours(found):
    return {word for style in found.values() for word in style.split() if word.startswith("#")}


def test_a_theme_of_the_settings(world):
    """Gemini CLI's objects, and its old flat names."""
    world.settings(ui={"theme": "Mine", "customThemes": {"Mine": {
        "type": "custom", "name": "Mine", "text": {"accent": "#123456", "secondary": "#654321"},
        "Comment": "#abcdef", "status": {"error": "#ff0001"}}}})
    found, _ = styles(world, TRUE)
    assert {"#123456", "#abcdef"} <= colours(found)
    assert "#abcdef" in found["/* why */"]


def test_gemini_clis_names(world):
    seen = set()
    for name in ("Dracula", "GitHub", "Solarized Dark", "Xcode", "GitHub Light"):
        world.settings(ui={"theme": name})
        found, _ = styles(world, TRUE)
        seen.add(found["/* why */"])
    assert len(seen) >= 4


def test_the_background_decides_where_no_theme_is_set(world):
    dark, _ = styles(world, TRUE, background="rgb:1010/1010/1010")
    light, _ = styles(world, TRUE, background="rgb:fdfd/fdfd/fdfd")
    assert dark["/* why */"] != light["/* why */"]


@pytest.mark.parametrize("env, wanted, unwanted", [
    (TRUE, rb"\x1b\[[\d;]*38;2;", rb"\x1b\[[\d;]*38;5;"),
    ({}, rb"\x1b\[[\d;]*38;5;", rb"\x1b\[[\d;]*38;2;"),
    ({"TERM": "xterm"}, rb"\x1b\[(?:[\d;]*;)?(?:3|9)[0-7]m", rb"38;[25];"),
    ({"NO_COLOR": "1", **TRUE}, rb"why", rb"\x1b\[(?:[\d;]*;)?(?:3|4|9|10)[0-8][;m]"),
])
def test_as_many_colours_as_there_are(world, env, wanted, unwanted):
    _, raw = styles(world, env)
    assert re.search(wanted, raw) and not re.search(unwanted, raw)


def test_a_theme_that_there_is_not_is_named(world):
    world.settings(ui={"theme": "Nonesuch"})
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait('There is no theme "Nonesuch".')
