# SPDX-License-Identifier: Apache-2.0
"""The full screen (ui.useAlternateBuffer): a window over the conversation, scrolled and searched; nothing repeated,
lost or torn whatever is done to the terminal."""
import os
import re
import shlex
import signal
import time

import pytest
import terminal
from fake_gemini import call, text, thought
from full_fuzz import Round, foot, idle, until, walk

READY = "? for keys"


@pytest.fixture
def full(world):
    world.settings(ui={"useAlternateBuffer": True})
    return world


def lines(first, last):
    """Numbered items, a row each."""
    return "".join("- L%04d\n" % number for number in range(first, last + 1))


def numbers(rows):
    return [int(number) for number in re.findall(r"L(\d{4})", "\n".join(rows))]


def ask(hasp, prompt="go"):
    return hasp.type(prompt).key("enter")


def answered(hasp):
    return until(hasp, lambda window: idle(window) and ">" in window)


def test_a_prompt_is_answered_on_the_alternate_screen(full):
    with full.fake([[text("Hello **there**.\n\nA second paragraph.")]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp.wait("sandbox:"), "hi").wait("A second paragraph.").wait(READY)
            dump = hasp.dump()
            assert dump.alternate and dump.scrollback == [] and dump.visible
            assert sum("hi" == line.strip("> ") for line in dump.window) == 1 and "Hello there." in dump.window
            assert dump.window[dump.cursor[0]] == ">"
            hasp.key("ctrl+d")
            assert hasp.end() == 0
            # What was said last, and how to go on, stay in the terminal.
            dump = hasp.dump()
            assert not dump.alternate and "Hello there." in dump.window and "A second paragraph." in dump.window
            assert [line for line in dump.window if line][-1].startswith("To continue this session: hasp --resume ")
            # The mouse and the keys are the shell's again.
            assert hasp.raw().count(b"\033[?1000l") == 2 and dump.visible
    assert server.violations == [] and server.script == []


def test_the_view_stays_while_text_streams(full, held):
    with full.fake([[text(lines(1, 100))], {"reply": [text(lines(101, 150))], "expect": held}]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0100")
            answered(hasp)
            ask(hasp, "more")
            held.wait()
            hasp.key("pageup", "pageup", "shift+down")
            window = until(hasp, foot)
            before, below = numbers(window), foot(window)[1]
            held.go.set()
            window = until(hasp, lambda window: idle(window) and foot(window)[1] > below)
            assert numbers(window)[:len(before)] == before
            hasp.key("ctrl+end")
            assert numbers(until(hasp, lambda window: not foot(window)))[-1] == 150


@pytest.mark.parametrize("up, down, rows", [("shift+up", "shift+down", 1), ("wheel", "wheel", 3)])
def test_rows_and_the_wheel_scroll(full, up, down, rows):
    wheel = {"shift+up": "\033[1;2A", "shift+down": "\033[1;2B"}
    with full.fake([[text(lines(1, 60))]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.type(wheel.get(up, "\033[<64;5;5M")).wait("%d row%s below" % (rows, "" if rows == 1 else "s"))
            hasp.type(wheel.get(up, "\033[<64;5;5M")).wait("%d rows below" % (2 * rows))
            hasp.type(wheel.get(down, "\033[<65;5;5M")).wait("%d row%s below" % (rows, "" if rows == 1 else "s"))
            hasp.type(wheel.get(down, "\033[<65;5;5M"))
            assert numbers(until(hasp, lambda window: not foot(window)))[-1] == 60


def test_all_is_there_once_and_in_order(full):
    """Also when something is sent while the beginning is shown, which goes to the end."""
    with full.fake([[text("Read."), call("read_file", {"file_path": "a.txt"})], [thought("Hm."), text(lines(1, 90))],
                    [text(lines(91, 180))]]) as server:
        full.write("a.txt", "hay\n")
        with full.hasp(server) as hasp:
            ask(hasp, "first").wait("L0090")
            answered(hasp)
            hasp.key("ctrl+home")
            until(hasp, lambda window: window[0].startswith("hasp "))
            ask(hasp, "second").wait("L0180")
            answered(hasp)
            rows = walk(hasp)
            assert numbers(rows) == list(range(1, 181))
            assert [rows.count(row) for row in ("> first", "Read.", "> second")] == [1, 1, 1] and "Hm." not in rows
            assert rows.index("> first") < rows.index("Read.") < rows.index("> second")
            assert sum("a.txt" in row for row in rows) == 1


def test_markdown_is_laid_out_anew_as_its_source(full, held):
    """All of it, an answer that is being written too; what is above the end stays in the window."""
    with full.fake([[text("An **old** answer.\n\n" + lines(1, 60))],
                    {"reply": [text("The **new** one.\n"), text("Its **end**.\n")], "expect": held}]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.key("ctrl+home").wait("An old answer.").wait("• L0001").key("alt+m")
            hasp.wait("An **old** answer.").wait("- L0001").wait("Answers are shown as their Markdown source")
            ask(hasp, "more")
            held.wait()
            held.go.set()
            hasp.wait("The **new** one.").wait("Its **end**.")
            answered(hasp)
            hasp.key("alt+m").wait("Markdown is rendered").wait("The new one. Its end.")
            until(hasp, lambda window: "• L0060" in "\n".join(window))


def pieces(row, mark):
    """Of a row of cells: [text before, marked text, text behind] of each piece with the mark."""
    return [["".join(text for text, _ in row[:i]), row[i][0], "".join(text for text, _ in row[i + 1:])]
            for i in range(len(row)) if mark in row[i][1].split()]


def reversed_are(hasp, texts):
    """Until just these pieces are in reverse, from top to bottom; returns what is underlined."""
    deadline = time.monotonic() + terminal.PATIENCE
    while True:
        cells = hasp.cells()
        if (marked := [piece[1] for row in cells for piece in pieces(row, "reverse")]) == texts:
            return [piece[1] for row in cells for piece in pieces(row, "underline")]
        assert time.monotonic() < deadline, marked
        time.sleep(0.02)


def found(hasp, before, text, behind):
    """Until that match alone is in reverse (blanks between pieces do not count); returns what is underlined."""
    deadline = time.monotonic() + terminal.PATIENCE
    while True:
        cells = hasp.cells()
        marked = [[part.replace(" ", "") for part in piece] for row in cells for piece in pieces(row, "reverse")]
        if marked == [[part.replace(" ", "") for part in (before, text, behind)]]:
            return [piece[1] for row in cells for piece in pieces(row, "underline")]
        assert time.monotonic() < deadline, marked
        time.sleep(0.02)


def test_a_search_goes_from_match_to_match(full):
    """Matches of one row, of one block beyond the window, and around its ends; the one is in reverse, others underlined."""
    said = "- Fish, fish and FISH\n" + lines(1, 60) + "- a fish\n" + lines(61, 70)
    with full.fake([[text(said)]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0070")
            answered(hasp)
            hasp.key("f3").wait("Find:").type("fish").wait("Find: fish ").key("enter")
            assert found(hasp, "• a ", "fish", "") == []
            for before, match, behind, others in [
                    ("• Fish, fish and ", "FISH", "", ["Fish", "fish"]),
                    ("• Fish, ", "fish", " and FISH", ["Fish", "FISH"]),
                    ("• ", "Fish", ", fish and FISH", ["fish", "FISH"])]:
                assert found(hasp.key("enter"), before, match, behind) == others
            found(hasp.key("enter"), "• a ", "fish", "")            # the last one again
            found(hasp.key("down"), "• ", "Fish", ", fish and FISH")
            found(hasp.key("down"), "• Fish, ", "fish", " and FISH")
            found(hasp.key("up"), "• ", "Fish", ", fish and FISH")
            found(hasp.key("up"), "• a ", "fish", "")
            hasp.key("esc")
            until(hasp, lambda window: not any(row.startswith("Find:") for row in window))
            assert all(pieces(row, "reverse") == [] for row in hasp.cells())


def broken(before=0):
    """Three matches of "lost 漢字 needle", each of them broken, in windows of 40 columns: at a blank, at a wide
    character, between both; and "that fill" in a cell of a table, beside another cell."""
    return ("%s lost 漢字 needle one.\n\n%s lost 漢字 needle two.\n\n%slost 漢字 needle three\n\n" %
            ("a" * 29, "b" * 32, "漢" * 17) +
            "| left | right |\n|---|---|\n| some words that fill the gap | other words, as many as that |\n\n" +
            lines(1, before))


def test_a_broken_match_is_found_once(full):
    """Both pieces of it are in reverse, and each is one step, up and down."""
    with full.fake([[text(broken(60))]]) as server:
        with full.hasp(server, columns=40, shown="shortcuts; @") as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.key("f3").wait("Find:").type("lost 漢字 needle").key("enter")
            reversed_are(hasp, ["lost", "漢字 needle"])
            for up, texts in [("enter", ["lost 漢", "字 needle"]), ("enter", ["lost 漢字", "needle"]),
                              ("enter", ["lost", "漢字 needle"]), ("down", ["lost 漢字", "needle"]),
                              ("down", ["lost 漢", "字 needle"]), ("down", ["lost", "漢字 needle"]),
                              ("up", ["lost 漢", "字 needle"])]:
                underlined = reversed_are(hasp.key(up), texts)
            assert sorted(underlined) == ["lost", "lost 漢字", "needle", "漢字 needle"]
            hasp.key("esc").wait("rows below").key("f3").wait("Find:").type("that fill").key("enter")
            assert reversed_are(hasp, ["that", "fill"]) == []


def test_the_pager_finds_broken_matches_once(full):
    """n and N go to where they begin, and around the ends."""
    with full.fake([[text(broken(60))]]) as server:
        with full.hasp(server, columns=40, shown="shortcuts; @") as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.key("ctrl+o").wait("q closes").type("/lost 漢字 needle").key("enter")
            all_of_them = ["lost 漢字", "needle", "lost 漢", "字 needle", "lost", "漢字 needle"]
            for key, first in [("n", 2), ("n", 4), ("n", 0), ("N", 4), ("N", 2), ("N", 0)]:
                reversed_are(hasp.type(key), all_of_them[first:])
            hasp.type("j")
            reversed_are(hasp, all_of_them[1:])      # the first piece is above the window
            hasp.type("/that fill").key("enter")
            reversed_are(hasp, ["that", "fill"])
            hasp.type("/漢字 lost").key("enter").wait("not found").type("q")


def test_the_conversation_is_searched(full):
    with full.fake([[text(lines(1, 99) + "- a needle here\n" + lines(100, 200) + "- Needle again\n" +
                          lines(201, 260))]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0260")
            answered(hasp)
            hasp.type("draft").wait("> draft").key("f3").wait("Find:").type("needlf").key("backspace").type("e")
            hasp.key("enter").wait("Needle again")
            found(hasp, "• ", "Needle", " again")
            hasp.key("enter").wait("a needle here").key("down").wait("Needle again")
            hasp.key("down").wait("a needle here")
            hasp.key("ctrl+u").paste("nowhere\nelse")
            hasp.key("enter").wait("not found").key("esc")
            window = until(hasp, lambda window: foot(window) and "> draft" in window)
            assert "• a needle here" in window


def test_a_long_search_takes_keys_and_is_stopped(full):
    """Megabytes without a hit: what is typed meanwhile is shown, another search begins, Esc ends one and then closes."""
    many = "".join("- L%04d `code` and *more* of it, so that there is something to be laid out\n" % (i % 10000)
                   for i in range(1200))
    # Some are summaries: the conversation is compressed meanwhile.
    with full.fake([[text("- the needle\n\n" + many)]] + [[text(many)] for _ in range(60)]) as server:
        with full.hasp(server) as hasp:
            for i in range(51):
                ask(hasp, "go %d" % i)
                answered(hasp)
            hasp.key("f3").wait("Find:").type("nowhere").wait("Find: nowhere").key("enter").wait("searching").key("esc")
            hasp.wait("Find: nowhere   Enter finds").key("enter").wait("searching").type("x").wait("Find: nowherex   Enter")
            hasp.key("enter").wait("searching").wait("not found", 120)
            hasp.key("ctrl+c").wait("? for keys").key("f3").wait("Find:    Enter").type("the needle").wait("Find: the needle ")
            hasp.key("enter").wait("• the needle", 120)
            hasp.key("esc").wait("rows below")


def test_an_earlier_search_does_not_stay(full):
    with full.fake([[text(lines(1, 60))]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.key("f3").wait("Find:").type("L0003").key("enter").wait("L0003").key("ctrl+c")
            hasp.key("ctrl+end", "f3").wait("Find:    Enter").type("L0002").key("enter").wait("Find: L0002 ")
            assert 2 in numbers(until(hasp, lambda window: "• L0002" in window))


def test_the_pager_shows_the_whole_and_gives_the_window_back(full):
    full.write("long.txt", "".join("hay %d\n" % number for number in range(1, 400)))
    with full.fake([[call("read_file", {"file_path": "long.txt"})], [text("Read.")]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("Read.")
            before = answered(hasp)
            hasp.key("ctrl+o").wait("q closes").type("/hay 277").key("enter").wait("hay 277")
            hasp.type("\033[<65;1;1M").type("q")
            assert until(hasp, lambda window: ">" in window) == before and hasp.dump().alternate


def test_a_long_question_is_scrolled(full):
    content = "".join("line %d\n" % number for number in range(1, 61))
    with full.fake([[call("write_file", {"file_path": "b.c", "content": content})], [text("Written.")]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("Allow once").wait("rows 1-").key(*["pagedown"] * 8)
            until(hasp, lambda window: any(row.endswith("60 + line 60") for row in window))
            hasp.type("1")
            hasp.key("ctrl+end").wait("Written.")
            assert full.read("b.c") == content


def test_a_command_with_the_keyboard_keeps_its_keys(full):
    """PageUp is less' own, and the wheel scrolls the conversation above it."""
    full.write("long.txt", "".join("line %d\n" % number for number in range(1, 401)))
    with full.fake([[text(lines(1, 60)), call("run_shell_command", {"command": "LESS= less long.txt; echo left"})],
                    [text("Seen.")]]) as server:
        with full.hasp(server, "--approval-mode", "yolo", rows=40) as hasp:
            ask(hasp).wait("types into it").key("tab").wait("Keys go to this command").wait("line 2")
            hasp.type("G").wait("line 400").key("pageup").wait("line 360")
            hasp.type("\033[<64;1;1M").wait("rows below").type("q")
            answered(hasp)
            hasp.key("ctrl+end").wait("Seen.")


def test_an_editor_gets_the_main_screen(full):
    full.write("editor.sh", "printf 'EDITING'; sleep 0.1; printf ' edited' >> \"$1\"\n")
    with full.fake([[text(lines(1, 60))]]) as server:
        with full.hasp(server, env={"EDITOR": "sh %s" % (full.root / "editor.sh"), "VISUAL": ""}) as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.type("draft").key("ctrl+g")
            window = until(hasp, lambda window: "> draft edited" in window)
            assert numbers(window)[-1] == 60 and hasp.dump().alternate
            assert b"\033[?1049l" in hasp.raw().split(b"EDITING")[0]


def test_it_is_suspended_and_comes_back(full):
    with full.fake([[text(lines(1, 60))]]) as server:
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24, cwd=full.root,
                            env={**full.environment(server), "PS1": "SHELL\\#$ "}) as shell:
            shell.wait("SHELL1$").type(shlex.join(map(str, full.argv(server, [])))).key("enter")
            ask(shell.wait("runs a command."), "go").wait("L0060")
            before = answered(shell)
            shell.key("ctrl+z").wait("SHELL2$")
            dump = shell.dump()
            assert not dump.alternate and dump.visible and not numbers(dump.window)
            shell.resize(120, 30)
            shell.type("fg").key("enter")
            window = until(shell, lambda window: ">" in window and numbers(window))
            assert shell.dump().alternate and len(numbers(window)) == len(numbers(before)) + 6
            shell.type("\033[<64;1;1M").wait("3 rows below").key("ctrl+d").wait("SHELL3$")
            assert not shell.dump().alternate


def test_a_terminal_that_was_left_by_a_kill_is_put_in_order(full):
    with full.fake([]) as server:
        program = shlex.join(map(str, full.argv(server, [])))
        with terminal.Vterm(["bash", "--norc", "--noprofile", "-i"], 120, 24, cwd=full.root,
                            env={**full.environment(server), "PS1": "SHELL\\#$ "}) as shell:
            shell.wait("SHELL1$").type("%s; echo $$ left" % program).key("enter").wait("sandbox:").quiet()
            os.kill(program_of(shell), signal.SIGKILL)
            shell.wait(" left").quiet()
            assert shell.dump().alternate
            full.settings(ui={})
            shell.type("clear; echo clea''red").key("enter").wait("cleared")
            shell.type(program).key("enter").wait("runs a command.").wait("sandbox:")
            assert not shell.dump().alternate


def program_of(shell):
    """The one program that a shell has started, which is the one that the terminal has."""
    process = shell.process.pid
    for _ in range(2):
        with open("/proc/%d/task/%d/children" % (process, process), encoding="utf-8") as file:
            process = int(file.read().split()[0])
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_main_screen(full, number):
    with full.fake([[text("Said.")]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("Said.")
            answered(hasp)
            hasp.signal(number)
            hasp.end()
            dump = hasp.dump()
            assert not dump.alternate and dump.visible and "Said." in dump.window


def test_a_new_conversation_is_an_empty_window(full):
    with full.fake([[text(lines(1, 60))]]) as server:
        with full.hasp(server) as hasp:
            ask(hasp).wait("L0060")
            answered(hasp)
            hasp.key("pageup").wait("rows below")
            ask(hasp, "/clear")
            until(hasp, lambda window: not numbers(window) and not foot(window))


def test_the_mouse_is_given_away(full):
    with full.fake([]) as server:
        with full.hasp(server) as hasp:
            hasp.wait("sandbox:").quiet().raw()
            hasp.key("ctrl+s").wait("The mouse is the terminal's")
            assert b"\033[?1006l\033[?1000l" in hasp.raw()
            hasp.key("f9").wait("The mouse is hasp's")
            assert b"\033[?1000h\033[?1006h" in hasp.raw()


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {}])
def test_plain_lines_stay_plain(full, env):
    if not env:
        full.settings(ui={"useAlternateBuffer": True, "accessibility": {"screenReader": True}})
    with full.fake([[text("Said.")]]) as server:
        with full.hasp(server, env=env) as hasp:
            ask(hasp.wait(">"), "hi").wait("Said.")
            assert not hasp.dump().alternate


def test_a_row_that_scrolls_in_costs_a_row(full):
    """Not the window: what moves is moved by the terminal."""
    with full.fake([{"reply": [text("- L%04d %s\n" % (number, "word " * 20)) for number in range(1, 300)],
                     "pace": 0.01}]) as server:
        with full.hasp(server, rows=50) as hasp:
            ask(hasp).wait("L0060").raw()
            before = numbers(hasp.dump().window)[-1]
            hasp.wait("L0200")
            rows, spent = numbers(hasp.dump().window)[-1] - before, len(hasp.raw())
            assert spent / rows < 600, "%d bytes for %d rows" % (spent, rows)
            assert numbers(until(hasp, lambda window: 299 in numbers(window)))[-1] == 299


@pytest.mark.parametrize("kind, seed", [("vterm", 11), ("vterm", 12), ("tmux", 13)])
def test_resizing_tears_and_repeats_nothing(kind, seed):
    assert Round(kind, seed).run() == []
