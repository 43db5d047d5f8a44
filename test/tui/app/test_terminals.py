# SPDX-License-Identifier: Apache-2.0
"""The same session under real tmux, GNU screen and xterm: a question, streaming while the window changes, an
interruption; afterwards every finished line stands there once and in order."""
import os
import shutil
import struct
import sys
import time
import zlib
from pathlib import Path

import pytest
import terminal
from fake_gemini import call, text

LINES = ["line %03d of the answer" % i for i in range(60)]
NEEDS = {"tmux": ["tmux"], "screen": ["screen"], "xterm": ["xterm", "Xvfb"], "vterm": []}


@pytest.mark.parametrize("kind", list(terminal.TERMINALS))
def test_a_session(world, held, kind):
    for program in NEEDS[kind]:
        assert shutil.which(program), program
    script = [[call("write_file", {"file_path": "b.c", "content": "int x;\n"})],
              {"reply": [text(line + "\n\n") for line in LINES], "pace": 0.02},
              {"reply": [text("Never.")], "expect": held}]
    world.settings(ui={"footer": {"items": ["sandbox"]}})
    with world.fake(script) as server:
        with world.hasp(server, columns=100, rows=30, kind=terminal.TERMINALS[kind]) as hasp:
            hasp.wait("sandbox:", 60).type("write it").key("enter").wait("Allow once", 60).type("1").wait("line 003", 60)
            for columns, rows in (60, 20), (120, 40), (40, 30), (100, 30):
                hasp.resize(columns, rows)
            hasp.wait("line 059", 60).quiet(0.5)
            hasp.type("more").key("enter")
            held.wait()
            hasp.type("a draft").wait("> a draft", 60).quiet(0.3).key("esc").wait("Interrupted.", 60)
            shown = hasp.quiet(0.3).dump().text
            hasp.key("ctrl+c").key("ctrl+d")
    assert world.read("b.c") == "int x;\n"
    assert [line for line in LINES if shown.count(line) != 1] == []
    assert sorted(LINES, key=shown.index) == LINES
    assert "Never." not in shown


def test_in_tmux_the_user_s_tmux_is_asked_after_a_resize_and_none_of_the_workspace(world, tmp_path):
    """What becomes of it: test/tui/term/test_screen.py."""
    theirs, ours = world.root, tmp_path / "bin"
    ours.mkdir()
    for folder in theirs, ours:
        program = folder / "tmux"
        program.write_text("#!/bin/sh\necho \"$@\" >>%s/asked\nexec %s \"$@\"\n" % (folder, shutil.which("tmux")),
                           encoding="utf-8")
        program.chmod(0o755)

    def asked(folder):
        log = folder / "asked"
        return log.exists() and "capture-pane" in log.read_text(encoding="utf-8")

    path = "%s:.:%s:%s" % (theirs, ours, os.environ["PATH"])
    with world.fake([[text("An answer.")]]) as server:
        with world.hasp(server, columns=100, rows=30, kind=terminal.Tmux, env={"PATH": path}) as hasp:
            hasp.wait("sandbox:", 60).type("say something").key("enter").wait("An answer.", 60).quiet(0.5)
            assert not asked(ours)
            hasp.resize(90, 20)
            end = time.monotonic() + terminal.PATIENCE
            while not asked(ours):
                assert time.monotonic() < end, "tmux is never asked"
                time.sleep(0.02)
            assert hasp.quiet(0.5).dump().text.count("An answer.") == 1
            hasp.key("ctrl+d")
    assert not asked(theirs)


def test_a_picture_is_taken_of_what_xterm_shows(world):
    """As script/picture takes those of README.md and docs/: with the command's text and the colours of the theme."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "script" / "lib"))
    import terminal_pictures as pictures
    taken = pictures.denial(world)
    assert taken.startswith(b"\x89PNG\r\n\x1a\n") and taken.endswith(b"IEND\xaeB`\x82") and len(taken) < 150 << 10
    width, height = struct.unpack(">II", taken[16:24])
    assert width > pictures.COLUMNS * 5 and 12 * 10 < height < pictures.ROWS * 40
    at, data = 8, b""
    while at < len(taken):
        size, kind = struct.unpack(">I4s", taken[at:at + 8])
        assert zlib.crc32(taken[at + 4:at + 8 + size]) == struct.unpack(">I", taken[at + 8 + size:at + 12 + size])[0]
        data += taken[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    pixels = zlib.decompress(data)
    line = len(pixels) // height
    assert len(pixels) == height * line and line in (1 + width, 1 + 3 * width)
    assert len({pixels[i * line:(i + 1) * line] for i in range(height)}) > height // 3  # text, not a window without any
