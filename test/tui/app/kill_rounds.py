# SPDX-License-Identifier: Apache-2.0
"""Kills hasp at random moments of a streaming session, and looks at what comes back.

    kill_rounds.py ROUNDS [SEED]

Each round: prompts, short and long, with replies of many pieces; a draft typed while one streams, or a prompt that
waits for its end.  Somewhere in there SIGKILL.  Afterwards the session must have each reply that was finished, its file
at most half a line that cannot be read, and the composer of the next hasp what was to be seen in it or waited.  The
last line counts rounds, and what was wrong.
"""
import json
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "model"))
from conftest import World  # noqa: E402
from fake_gemini import text  # noqa: E402

PROMPTS, STEPS, PIECES, PACE = 3, 16, 40, 0.001

class Killed(Exception):
    """The program was."""


class Round:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.plan = [self.random.choice(["plain", "long", "draft", "queue"]) for _ in range(PROMPTS)]
        self.left = self.random.randrange(1, STEPS)
        self.finished, self.draft = [], None

    def script(self):
        steps = []
        for number, kind in enumerate(self.plan):
            words = [text("reply%d " % number)] + [text("word%d " % i) for i in range(PIECES)]
            steps.append({"reply": words + [text("end%d." % number)], "pace": PACE})
            steps += [[text("later%d." % number)]] if kind == "queue" else []
        return steps

    def step(self, hasp):
        """The kill is soon after one of these."""
        self.left -= 1
        if not self.left:
            time.sleep(self.random.random() * 0.05)
            hasp.signal(signal.SIGKILL)
            raise Killed

    def typed(self, hasp, words):
        hasp.type(words).wait(words.split()[-1])
        self.draft = words
        self.step(hasp)

    def answered(self, hasp, end):
        hasp.wait(end)
        while any(row.startswith("* Working") for row in hasp.dump().window):
            time.sleep(0.005)
        self.finished.append(end)
        self.step(hasp)

    def queued(self, hasp, draft, answer):
        """Queued while the reply goes on; sent, if that has just ended and there is nothing to wait for."""
        ends = ("queued: " + draft, "Nothing to wait for", answer)
        hasp.key("ctrl+q")
        patience = time.monotonic() + 60
        while not any(end in row for row in hasp.dump().window for end in ends):
            assert time.monotonic() < patience, hasp.dump().text
            time.sleep(0.005)
        if any("Nothing to wait for" in row for row in hasp.dump().window):
            hasp.key("enter")

    def session(self, hasp):
        for number, kind in enumerate(self.plan):
            self.typed(hasp, "prompt%d" % number + (" and more of it" * 400 + " tail" if kind == "long" else ""))
            self.draft = None
            hasp.key("enter").wait("reply%d" % number)
            self.step(hasp)
            if kind in ("draft", "queue"):
                self.typed(hasp, "draft%d" % number)
            if kind == "queue":
                self.queued(hasp, "draft%d" % number, "later%d." % number)
                self.step(hasp)
                self.draft = None
                self.answered(hasp, "later%d." % number)
            else:
                self.answered(hasp, "end%d." % number)
            if kind == "draft":
                hasp.key("ctrl+u")
                self.draft = None
        hasp.signal(signal.SIGKILL)

    def wrong(self, world, server):
        """Sentences about what did not come back."""
        wrong, said = [], b""
        if world.sessions():
            done = world.command("sessions", "export", "latest", "--format", "json", server=server)
            said = done.out
            wrong += ["%s is gone: %s" % (one, done.err) for one in self.finished if one.encode() not in said]
            listed = world.command("--list-sessions", server=server).text
            wrong += ["it is damaged: " + listed] if "lines of this" in listed else []
            json.loads(said)
        elif self.finished:
            wrong.append("there is no session")
        with world.hasp(server, columns=200, rows=40) as hasp:
            # What waited may have been sent before the kill.
            end = self.draft.split()[-1] if self.draft else ""
            if end.encode() not in said and not hasp._wait(end, 10):
                wrong.append("the draft is gone: %s" % self.draft[:40])
        return wrong


def one_round(folder, seed):
    world, kills = World(Path(folder)), Round(seed)
    with world.fake(kills.script(), append_only=False) as server:
        with world.hasp(server, columns=200, rows=40) as hasp:
            try:
                kills.session(hasp)
            except Killed:
                pass
            hasp.end()
        return kills.wrong(world, server)


def rounds(count, seed):
    wrong = []
    for i in range(count):
        with tempfile.TemporaryDirectory(prefix="hasp-kill-") as folder:
            wrong += ["seed %d: %s" % (seed + i, sentence) for sentence in one_round(folder, seed + i)]
    return wrong


if __name__ == "__main__":
    COUNT = int(sys.argv[1])
    FOUND = rounds(COUNT, int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 24))
    print("\n".join(FOUND + ["%d rounds, %d wrong" % (COUNT, len(FOUND))]))
    sys.exit(bool(FOUND))
