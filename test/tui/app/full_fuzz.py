# SPDX-License-Identifier: Apache-2.0
"""Resizes a terminal and scrolls at random moments while hasp streams in full screen, and then looks at what there is.

    full_fuzz.py vterm|tmux|screen ROUNDS [SEED]

Each round: prompts, replies of numbered lines, narrow and wide, of many pieces; sizes from 20 x 8 to 400 x 60, keys
that scroll, search and type.  Afterwards scrolling through the conversation must show each line whole, once and in
order; the window must be the same when it was narrower and is as wide again, and the same as in a new hasp that resumes
the session at that size; and the terminal's scrollback is empty.  The last line counts rounds and what was wrong.
"""
import random
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "model"))
from conftest import World, terminal  # noqa: E402
from fake_gemini import text  # noqa: E402

FOOT = re.compile(r"^(?:At least )?(\d+) rows? below")
PROMPTS, COLUMNS, ROWS = 3, 100, 30
KEYS = ["pageup", "pageup", "pagedown", "shift+up", "shift+down", "ctrl+home", "ctrl+end", "f3"]
WHEEL = ["\x1b[<64;1;1M", "\x1b[<65;1;1M"]


def shown(hasp):
    """The window; screen's is that of the terminal around it, as its hardcopy knows no wide characters."""
    return getattr(hasp, "outer", hasp).dump().window


def until(hasp, true, seconds=terminal.PATIENCE):
    """The window, when that is true of it twice in a row."""
    end, before = time.monotonic() + seconds, None
    while True:
        window = shown(hasp)
        if window == before and true(window):
            return window
        assert time.monotonic() < end, "it never came; there is:\n%s" % "\n".join(window)
        before = window
        time.sleep(hasp.POLL)


def idle(window):
    return not any(row.startswith("* Working") for row in window)


def fits(window):
    """It is drawn for COLUMNS x ROWS: the status line, which is longer, is cut there. tmux tells of a size late."""
    return len(window) == ROWS and len(window[-1]) == COLUMNS and window[-1].endswith("…") and window[-2][:1] == ">"


def foot(window):
    """The row beneath the conversation, and how many rows it says are below; None: the end is shown."""
    for i, row in enumerate(window):
        found = FOOT.match(row)
        if found:
            return i, int(found.group(1))
    return None


def walk(hasp):
    """All rows of a conversation that has more than the window, by scrolling through them."""
    hasp.key("ctrl+end")
    until(hasp, lambda window: not foot(window))
    hasp.key("ctrl+home")
    window = until(hasp, lambda window: window[0].startswith("hasp ") and foot(window))
    height, below = foot(window)
    total, rows = height + below, {}
    while True:
        for i in range(height):
            number = total - below - height + i
            assert rows.setdefault(number, window[i]) == window[i], "row %d is %r and then %r" % (
                number, rows[number], window[i])
        if not below:
            return [rows[i] for i in range(total)]
        hasp.key("pagedown")
        window = until(hasp, lambda window: not foot(window) or foot(window)[1] != below)
        below = foot(window)[1] if foot(window) else 0


class Round:
    def __init__(self, kind, seed):
        self.kind, self.random, self.wrong = kind, random.Random(seed), []
        self.count = 0

    def reply(self):
        """Numbered lines as a list, cut into pieces anywhere."""
        draw, lines = self.random, []
        for _ in range(draw.choice([20, 60, 120])):
            self.count += 1
            words = "".join(draw.choice(["word ", "a ", "漢字", "longer-than-others "])
                            for _ in range(draw.choice([0, 2, 10, 40])))
            lines.append("- L%04d %s E%04d\n" % (self.count, words, self.count))
        whole, pieces = "".join(lines), []
        while whole:
            size = draw.randint(1, 120)
            pieces.append(text(whole[:size]))
            whole = whole[size:]
        return {"reply": pieces, "pace": draw.choice([0.001, 0.003])}

    def disturb(self, hasp):
        draw = self.random
        for _ in range(draw.randint(3, 12)):
            what = draw.random()
            if what < 0.5:
                for _ in range(draw.choice([1, 1, 4])):  # alone, or a storm
                    hasp.resize(draw.randint(20, 400 if draw.random() < 0.2 else 130), draw.randint(8, 60))
                    time.sleep(draw.choice([0, 0.001, 0.01]))
            elif what < 0.8:
                key = draw.choice(KEYS)
                hasp.key(key)
                if key == "f3":
                    hasp.type("l%03d" % draw.randint(0, 20)).key("enter", draw.choice(["down", "up"]), "ctrl+c")
            elif what < 0.9:
                hasp.type(draw.choice(WHEEL))
            else:
                hasp.type("x")
            time.sleep(draw.choice([0, 0.01, 0.06, 0.1]))

    def check_lines(self, rows):
        joined = "\n".join(rows)
        expected = list(range(1, self.count + 1))
        for letter in "LE":
            found = [int(number) for number in re.findall(letter + r"(\d{4})", joined)]
            if found != expected:
                self.wrong.append("%s: missing %s, repeated %s" % (
                    letter, sorted(set(expected) - set(found))[:8],
                    sorted({number for number in found if found.count(number) > 1})[:8]))

    def check_same(self, what, rows, others):
        differ = [i for i in range(max(len(rows), len(others))) if rows[i:i + 1] != others[i:i + 1]]
        if differ:
            self.wrong.append("%s: %d rows differ, first %r and %r" % (
                what, len(differ), rows[differ[0]:differ[0] + 1], others[differ[0]:differ[0] + 1]))

    def conversation(self, rows):
        """From the first prompt to the last line."""
        first = next(i for i, row in enumerate(rows) if row.startswith("> prompt0"))
        last = max(i for i, row in enumerate(rows) if "E%04d" % self.count in row)
        # What a prompt used is said when it has ended, and not again.
        used = [i for i in range(first, last) if re.match(r"i .* tokens in, ", rows[i])]
        return [row for i, row in enumerate(rows) if first <= i <= last and i not in used and i - 1 not in used]

    def session(self, hasp):
        hasp.wait("sandbox:")
        for number in range(PROMPTS):
            hasp.type("prompt%d" % number).key("enter").wait("L")
            self.disturb(hasp)
            hasp.resize(COLUMNS, ROWS)
            until(hasp, lambda window: idle(window) and fits(window), 60)
            hasp.key("ctrl+u", "ctrl+end")
        until(hasp, lambda window: not foot(window) and fits(window) and window[-2] == ">")

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            # More than a row: what fits says at which width it was drawn.
            world.settings(ui={"useAlternateBuffer": True, "footer": {"items": ["sandbox"] + ["context-used"] * 8}})
            kind = terminal.TERMINALS[self.kind]
            with world.fake([self.reply() for _ in range(PROMPTS)]) as server:
                with world.hasp(server, columns=COLUMNS, rows=ROWS, kind=kind) as hasp:
                    scrollback = len(hasp.dump().scrollback)
                    self.session(hasp)
                    end = until(hasp, lambda window: not foot(window))
                    rows = walk(hasp)
                    self.check_lines(rows)
                    if self.kind == "vterm" and len(hasp.dump().scrollback) != scrollback:
                        self.wrong.append("something is in the scrollback")
                    hasp.resize(COLUMNS - 37, ROWS)
                    until(hasp, lambda window: window != end)
                    hasp.resize(COLUMNS, ROWS)
                    try:
                        until(hasp, lambda window: window == end, 10)
                    except AssertionError:
                        self.check_same("narrower and back", end, shown(hasp))
                    hasp.key("ctrl+d")
                    hasp.wait("To continue this session:")
                with world.hasp(server, "--resume", "latest", columns=COLUMNS, rows=ROWS, kind=kind,
                                shown="The session continues here.") as hasp:
                    self.check_same("resumed", self.conversation(rows), self.conversation(walk(hasp)))
        return self.wrong


def main():
    kind, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 24)
    bad = crashes = 0
    for number in range(seed, seed + rounds):
        try:
            wrong = Round(kind, number).run()
        except (AssertionError, BrokenPipeError) as why:
            # libvterm 0.1 itself does now and then, around screen.
            crashed = "vt_run has ended" in str(why) or isinstance(why, BrokenPipeError)
            crashes += crashed
            wrong = [] if crashed else [str(why)]
        if wrong:
            bad += 1
            print("%s seed %d: %s" % (kind, number, "; ".join(wrong)), flush=True)
    print("%s in full screen: %d rounds, %d wrong%s" % (kind, rounds, bad, "; the emulator of the tests crashed in %d" %
                                                        crashes if crashes else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
