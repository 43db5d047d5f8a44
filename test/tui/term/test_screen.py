# SPDX-License-Identifier: Apache-2.0
"""The screen in real terminals: what is printed stays, what is live is drawn in place, and what was switched on is
switched off, however the program ends."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import resize_fuzz  # noqa: E402
from terminal import BUILD, Screen, Tmux, Vterm, descendants, switches_of  # noqa: E402

DEMO = str(BUILD / "test" / "tui" / "term" / "screen_demo")
ON_AND_OFF = [(b"\x1b[?2004h", b"\x1b[?2004l"), (b"\x1b[?1004h", b"\x1b[?1004l"), (b"\x1b[?7l", b"\x1b[?7h"),
              (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[>5u", b"\x1b[<u"), (b"\x1b[>4;1m", b"\x1b[>4m"),
              (b"\x1b[?2026h", b"\x1b[?2026l")]


def numbers(dump):
    return [int(n) for n in re.findall(r"L(\d{6}) \d{3}", "".join(dump.scrollback + dump.window))]


@pytest.mark.parametrize("terminal_of", [Vterm, Tmux, Screen])
def test_rows_are_printed_once_above_a_live_region(terminal_of):
    with terminal_of([DEMO, "60", "1", "1", "5"], 80, 24) as terminal:
        terminal.wait("DONE 60 of 60 rows")
        terminal.type("hello").wait("DRAFT0 hello")
        dump = terminal.quiet().dump()
        lines = [line for line in dump.window if line]
        assert numbers(dump) == list(range(1, 61))
        assert [line.split()[0] for line in lines[-5:]] == [">", "*", "TAIL0", "TAIL1", "STATUS"]
        assert lines[-6].endswith("E000060"), "nothing stands between the last row and the live region"
        if terminal_of is not Screen:
            caret = dump.window.index("> DRAFT0 hello")
            assert dump.cursor == (caret, len("> DRAFT0 hello")), "the cursor stands at the caret"


def test_a_frame_is_small_and_nothing_is_written_when_nothing_changes():
    with Vterm([DEMO, "300", "1", "1", "10"], 100, 30, sync=True) as terminal:
        terminal.wait("DONE").quiet(0.2)
        raw = terminal.raw()
        frames = re.findall(rb"\x1b\[\?2026h(.*?)\x1b\[\?2026l", raw, re.S)
        assert len(frames) > 5
        assert sorted(len(frame) for frame in frames)[len(frames) // 2] < 4096
        assert b"\x1b[?25l" not in raw[raw.index(b"\x1b[?2026h"):-60], "a synchronized frame hides no cursor"
        terminal.type("x").wait("DRAFT0 x").quiet(0.1)
        assert len(terminal.raw()) < 100, "a key costs a few bytes"
        terminal.quiet(0.5)
        assert terminal.raw() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, None])
@pytest.mark.parametrize("kitty", [False, True])
def test_the_terminal_is_left_as_it_was_found(number, kitty):
    script = "stty -a > /tmp/$$.before; %s 3; code=$?; stty -a | cmp - /tmp/$$.before && echo SAME $code; rm /tmp/$$.before"
    own = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}  # the program's own handler
    with Vterm(["sh", "-c", script % DEMO], 80, 24, kitty=kitty, sync=True, env=own,
               version="tmux 3.3a") as terminal:
        terminal.wait("DONE").quiet()
        if number is None:
            terminal.key("ctrl+c") if not kitty else terminal.type("\x1b[99;5u")
        else:
            subprocess.run(["pkill", "-%d" % number, "-P", str(child_of(terminal))], check=True)
        terminal.wait("SAME")
        raw = terminal.raw()
        assert terminal.dump().visible
        for on, off in ON_AND_OFF:
            if on in raw:
                assert raw.rindex(off) > raw.rindex(on), "%r is not undone" % on
        assert (b"\x1b[>5u" in raw) == kitty
        assert (b"\x1b[>4;1m" in raw) != kitty, "xterm's protocol where Kitty's is not known"
        expected = 0 if number is None else 128 + number
        assert re.search(r"SAME %d" % expected, terminal.dump().text), "the signal acts as it would have"


def child_of(terminal):
    return int(subprocess.run(["pgrep", "-P", str(terminal.process.pid)], stdout=subprocess.PIPE, check=True,
                              text=True).stdout.split()[0])


def test_a_terminal_that_does_not_read_gets_few_frames_and_all_rows():
    with Vterm([DEMO, "600", "1", "1", "5"], 80, 24) as terminal:
        terminal.wait("L000010")
        terminal.pause()
        time.sleep(0.5)
        terminal.pause(False)
        terminal.wait("DONE 600 of 600 rows", 60)
        assert numbers(terminal.quiet().dump()) == list(range(1, 601))


def test_stopped_and_continued_it_draws_itself_again():
    with Vterm(["bash", "-i", "-c", "set -m; %s 5; echo ENDED" % DEMO], 80, 24, env={"PS1": "$ "}) as terminal:
        terminal.wait("DONE").quiet()
        terminal.key("ctrl+c").wait("ENDED")
    with Vterm(["bash", "--norc", "-i"], 80, 24, env={"PS1": "PROMPT "}) as terminal:
        terminal.wait("PROMPT").type("%s 5\r" % DEMO)
        terminal.wait("DONE").quiet()
        terminal.key("ctrl+z").wait("Stopped")
        dump = terminal.quiet().dump()
        assert "STATUS" not in dump.text, "the live region is gone while another program has the terminal"
        terminal.type("fg\r").wait("STATUS")
        terminal.type("back").wait("DRAFT0 back")
        terminal.key("ctrl+c").quiet()
        terminal.type("echo ali''ve\r").wait("alive")
        assert numbers(terminal.dump()) == [1, 2, 3, 4, 5]


def test_a_plain_terminal_gets_no_escape_sequences():
    with Vterm([DEMO, "20", "1", "1", "5"], 80, 24, env={"TERM": "dumb"}) as terminal:
        terminal.wait("L000020").quiet()
        terminal.type("hello").wait("DRAFT0 hello")
        terminal.key("ctrl+c").end()
        assert b"\x1b" not in terminal.raw()
        assert numbers(terminal.dump()) == list(range(1, 21))


def test_no_color_and_colours_by_what_the_terminal_says():
    for env, version, expected, unexpected in (
            ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, None, b"", rb"\x1b\[[0-9;]*[349][0-9][;m]"),
            ({"TERM": "xterm"}, None, rb"\x1b\[9[0-9]m", rb"[34]8;[25];"),
            ({"TERM": "xterm-256color"}, None, rb"38;5;", rb"38;2;"),
            ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, None, rb"38;2;", rb"38;5;"),
            ({"TERM": "xterm-256color"}, "foot(1.16.2)", rb"38;2;", None)):
        with Vterm([DEMO, "60", "1", "1", "5"], 80, 24, env=env, version=version) as terminal:
            terminal.wait("DONE").quiet()
            raw = terminal.raw()
        assert re.search(expected, raw), env
        assert not unexpected or not re.search(unexpected, raw), env


def test_clearing_loses_nothing():
    with Vterm([DEMO, "30", "1", "1", "5"], 80, 24) as terminal:
        terminal.wait("DONE").quiet()
        terminal.key("ctrl+l").quiet(0.2)
        dump = terminal.dump()
        assert [line[:8] for line in dump.window if line][0] == "> DRAFT0", "the window begins with it"
        assert numbers(dump) == list(range(1, 31))


def test_a_line_that_was_begun_is_not_written_over():
    with Vterm(["sh", "-c", "printf 'begun by another'; exec %s 3" % DEMO], 80, 24) as terminal:
        terminal.wait("DONE").quiet()
        assert terminal.dump().window[0] == "begun by another"


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("kind,seed", [("vterm", 1), ("tmux", 1044), ("tmux", 1051), ("screen", 1005), ("screen", 1009)])
def test_resizes_lose_repeat_and_tear_nothing(kind, seed):
    """A few seeds with a narrow draft that went wrong once; script/resize-fuzz does thousands, with all kinds."""
    wrong, _, what = resize_fuzz.session(kind, seed, draft=(1, 10))
    assert not wrong, what


@pytest.mark.rows_in_turn(4)
@pytest.mark.parametrize("seed,draft,first,storm", [
    # tmux joins three rows at a wide character: its cursor goes astray by one line or more, and the window gets lower
    (1, (6, 10), (152, 26), [(24, 24), (48, 24), (48, 11)]),
    (5, (6, 10), (112, 35), [(39, 30), (79, 30), (79, 13)]),
    (16, (6, 10), (140, 39), [(31, 37), (62, 37), (62, 9)]),
    (71, (6, 10), (145, 24), [(30, 22), (60, 22), (60, 14)]),
    (36, (1, 10), (87, 24), [(30, 22), (60, 22), (60, 8)]),
    # a draft that needs more rows than the window has when it is narrow
    (1, (3, 70), (351, 12), [(24, 12), (250, 38)]),
    (17, (4, 140), (272, 27), [(25, 27), (381, 25)]),
    (12, (6, 70), (197, 30), [(22, 30), (211, 38)]),
    # astray by several lines, to one that ends in the same column as another: only what tmux shows tells which it is
    (126, (3, 70), (97, 38), [(40, 29), (81, 39), (27, 29), (54, 39), (54, 8)]),
    (154, (6, 10), (138, 39), [(34, 40), (68, 38), (28, 36), (57, 25), (57, 11)]),
    (174, (6, 10), (146, 24), [(31, 26), (62, 31), (23, 34), (47, 35), (41, 26), (83, 34), (83, 12)]),
    (183, (6, 10), (101, 24), [(29, 31), (58, 40), (47, 26), (94, 25), (22, 37), (44, 24), (44, 11)]),
])
def test_a_storm_of_sizes_in_tmux_takes_nothing_away_and_leaves_nothing(seed, draft, first, storm):
    """What tmux does at once, before the program hears of it."""
    with Tmux([DEMO, "40", str(seed), str(draft[0]), "5", str(draft[1])], *first) as terminal:
        terminal.wait("DONE").quiet()
        terminal.storm(*storm, (200, 50)).wait("window of 200x50")
        assert not resize_fuzz.check(terminal.dump(), 40, False)


@pytest.mark.parametrize("tmux", [
    "exec sleep 600",                                      # it never answers
    "exit 1",
    "exec yes 200 50 0 0 0 /dev/pts/0",                    # nor ends
    "echo 200 50 0 0 0 /dev/pts/999; seq 50",              # another terminal's window
    "printf '\\377 \\033[2J %s' \"$(seq 99999)\"",
    'tmux "$@" | sed "1!s/L0000/X0000/"',                    # what is there was never printed
])
def test_a_tmux_that_answers_wrongly_or_never_takes_no_row_and_leaves_no_process(tmux, tmp_path):
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\necho >>%s/asked\n%s\n" % (tmp_path, tmux), encoding="utf-8")
    program.chmod(0o755)
    with Tmux([DEMO, "40", "1", "6", "5", "10"], 152, 26, env={"DEMO_TMUX": str(program)}) as terminal:
        terminal.wait("DONE").quiet()
        assert not (tmp_path / "asked").exists(), "nobody is asked unless the size has changed"
        terminal.storm((100, 30), (120, 20), (200, 50)).wait("window of 200x50")
        assert (tmp_path / "asked").exists()
        assert not resize_fuzz.check(terminal.quiet(0.2).dump(), 40, False)
        assert not descendants(int(terminal.run("display-message", "-p", "#{pane_pid}")))


def test_in_tmux_nothing_wakes_up_after_a_resize():
    with Tmux([DEMO, "40", "1", "1", "5", "10"], 152, 26) as terminal:
        terminal.wait("DONE").quiet(1.2)
        terminal.storm((100, 30), (120, 20), (200, 50)).wait("window of 200x50")
        terminal.quiet(0.5)
        process = int(terminal.run("display-message", "-p", "#{pane_pid}"))
        assert wait_until_idle(process), "the program never rests"


def wait_until_idle(process):
    """Whether there is a second in which it does not wake up, soon."""
    for _ in range(30):
        before = switches_of([process])
        time.sleep(1)
        if switches_of([process]) == before:
            return True
    return False
