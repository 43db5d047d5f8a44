# SPDX-License-Identifier: Apache-2.0
"""Resizes a terminal at random moments while screen_demo streams into it, and then looks at what there is.

    resize_fuzz.py vterm|tmux|screen SECONDS [SEED [DRAFT-ROWS DRAFT-WIDTH]]

Each session: a seeded stream of numbered rows, draft of one or several rows, sizes from 20 x 8 to 400 x 60.
Afterwards scrollback and window must hold every finished row exactly once and in order (joined over wraps), and
nothing of the live region among them.  The last line counts sessions, resizes and what was wrong, by kind.
"""

import random
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from terminal import BUILD, TERMINALS  # noqa: E402

DEMO = BUILD / "test" / "tui" / "term" / "screen_demo"
DRAFT = re.compile(r"[> ] DRAFT(\d+)\b")
LIVE = re.compile(r"\* Wor|DRAFT|drft|草稿|TAIL\d|STATUS")


def live_begins(lines):
    """Above the last row of the activity stand those of the draft next to the caret, each once."""
    first = max((i for i, line in enumerate(lines) if line.startswith("* Working")), default=len(lines))
    below = None
    while first and (row := DRAFT.match(lines[first - 1])) and below in (None, int(row[1]) + 1):
        below = int(row[1])
        first -= 1
    return first


def check(dump, rows, cuts):
    """Sentences about what is wrong. `cuts`: the terminal cuts lines, so that their ends may be missing."""
    lines = dump.scrollback + dump.window
    wrong = []
    while lines and not lines[-1]:
        lines.pop()
    finished = lines[:live_begins(lines)]
    for line in finished:
        if LIVE.search(line):
            wrong.append("remnant: %r" % line[:60])
    joined = "".join(finished)
    numbers = [int(n) for n in re.findall(r"L(\d{6}) \d{3}", joined)]
    expected = list(range(1, rows + 1))
    if numbers != expected:
        missing = sorted(set(expected) - set(numbers))
        double = sorted({n for n in numbers if numbers.count(n) > 1})
        wrong.append("rows: missing %s, repeated %s%s" % (
            missing[:8], double[:8], "" if missing or double else ", not in order"))
    elif not cuts and not wrong:
        ends = [int(n) for n in re.findall(r"E(\d{6})", joined)]
        if ends != expected:
            wrong.append("torn: %s" % sorted(set(expected) - set(ends))[:8])
    return wrong


def size_of(draw):
    """Mostly usual sizes, some extreme ones."""
    if draw.random() < 0.5:
        return draw.randint(40, 160), draw.randint(10, 50)
    return draw.randint(20, 400), draw.randint(8, 60)


def session(kind, seed, log=None, draft=None, rows=None, most=12):
    """One session: what is wrong, the number of resizes, a description. `draft`: rows and width of it."""
    draw = random.Random(seed)
    rows = rows or draw.choice([60, 150, 300])
    delay = draw.choice([5, 20, 50])
    draft_rows, draft_width = draft or (draw.choice([1, 1, 1, 2, 3]), draw.choice([10, 10, 30, 70, 150]))
    columns, height = size_of(draw)
    count, resizes = draw.randint(2, most), 0
    what = "seed %d: %d rows, draft of %d x %d, %d ms" % (seed, rows, draft_rows, draft_width, delay)
    options = {"full": True, "history": 8000} if kind == "screen" else {}
    with TERMINALS[kind]([DEMO, str(rows), str(seed), str(draft_rows), str(delay), str(draft_width)],
                         columns, height, **options) as terminal:
        terminal.wait("DRAFT", 60)
        for _ in range(count):
            for _ in range(draw.choice([1, 1, 1, 4])):  # alone, or a storm
                columns, height = size_of(draw)
                terminal.resize(columns, height)
                resizes += 1
                if log:
                    log(columns, height)
                time.sleep(draw.choice([0, 0.001, 0.01]))
            time.sleep(draw.choice([0, 0.01, 0.05, 0.06, 0.1, 0.2]))
        terminal.resize(120, 30)
        terminal.wait("DONE", 60)
        terminal.quiet(0.5)  # in tmux no new row is printed for 300 ms after a resize
        dump = terminal.dump()
        wrong = check(dump, rows, kind == "vterm")
        if wrong and log:
            print(dump.text)
    return wrong, resizes + 1, what + ("" if draft_rows == 1 and draft_width < 20 else " (wide draft)")


def main():
    kind, seconds = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 24)
    draft = (int(sys.argv[4]), int(sys.argv[5])) if len(sys.argv) > 5 else None
    sessions = resizes = bad = bad_wide = rows_wrong = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        wrong, count, what = session(kind, seed, draft=draft)
        sessions, resizes = sessions + 1, resizes + count
        if wrong:
            bad += 1
            bad_wide += "wide" in what
            rows_wrong += any(not sentence.startswith("remnant") for sentence in wrong)
            print("%s %s: %s" % (kind, what, "; ".join(wrong[:4])), flush=True)
        seed += 1
    print("%s: %d sessions, %d resizes, %d sessions wrong (%d with a wide draft; finished rows wrong in %d)" % (
        kind, sessions, resizes, bad, bad_wide, rows_wrong))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
