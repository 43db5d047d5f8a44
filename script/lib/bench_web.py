# SPDX-License-Identifier: Apache-2.0
"""script/bench web: what a page in a browser costs the hasp that serves it, and how fast it shows things.

    /usr/bin/python3 script/lib/bench_web.py [--quick] [--hasp PROGRAM]

One hasp on a terminal of its own, a fake model, Debian's Chromium without a window (bench_web.mjs).
"""
import contextlib
import hashlib
import importlib.util
import json
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
os.environ.setdefault("VT_RUN", str(TOP / "build/test/tui/harness/vt_run"))
sys.path[:0] = [str(TOP / "script/lib"), str(TOP / "test"), str(TOP / "test/model"), str(TOP / "test/tui/harness")]

_spec = importlib.util.spec_from_file_location("web_world", TOP / "test/web/conftest.py")
web = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(web)

import bench  # noqa: E402
import bench_agent  # noqa: E402
import npm_peers  # noqa: E402
import terminal  # noqa: E402
from fake_gemini import call, text  # noqa: E402

BEGIN, END = "<!-- web: begin -->", "<!-- web: end -->"
LINES, EVERY = 10000, 8
EVENTS = 40
COUNTS = (1000, 2000, 5000, 10000)
LAYOUTS = (("no", "in one column"), ("yes", "side by side"))


class Chromium:
    def __init__(self, bundle):
        self.process = subprocess.Popen([npm_peers.node(), str(TOP / "script/lib/bench_web.mjs"), str(npm_peers.folder("browser")), str(bundle)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def order(self, what, **more):
        self.process.stdin.write(json.dumps({"order": what, **more}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser ended"
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)


class Hasp:
    """hasp on a terminal of its own, without an emulator: what it writes is read and kept."""

    def __init__(self, world, server):
        self.master, slave = pty.openpty()
        env = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **world.environment(server)}
        self.process = subprocess.Popen(world.argv(server, []), env=env, cwd=world.root, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True)
        os.close(slave)
        self.seen, self.more = b"", threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError):
            while part := os.read(self.master, 65536):
                with self.more:
                    self.seen += part
                    self.more.notify_all()

    def type(self, line):
        os.write(self.master, line.encode())
        time.sleep(0.3)  # what comes too fast is taken for a paste
        os.write(self.master, b"\r")

    def address(self):
        with self.more:
            assert self.more.wait_for(lambda: web.ADDRESS.search(self.seen.decode(errors="replace")), 20), self.seen[-2000:]
            return web.ADDRESS.search(self.seen.decode(errors="replace"))[0]

    def pids(self):
        return [self.process.pid, *terminal.descendants(self.process.pid)]

    def still(self, seconds):
        """MB in memory, wake-ups a minute, CPU ms a minute."""
        time.sleep(2)
        before, cpu = terminal.switches_of(self.pids()), bench_agent.cpu_of(self.pids())
        time.sleep(seconds)
        now, minutes = terminal.switches_of(self.pids()), seconds / 60
        return (bench_agent.memory_of(self.pids()) / 2 ** 20, sum(count - before.get(task, 0) for task, count in now.items()) / minutes,
                (bench_agent.cpu_of(self.pids()) - cpu) / 1e6 / minutes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def old_lines():
    return ['int value_%d = compute(%d, "text"); // line %d' % (i, i, i) for i in range(LINES)]


def one_round(bundle, seconds):
    told = {}
    new = "".join((line if i % EVERY else line.replace("int", "long")) + "\n" for i, line in enumerate(old_lines()))
    old = "".join(line + "\n" for line in old_lines())
    base = hashlib.sha256(old.encode()).hexdigest()

    def answer(request):
        last = json.dumps(request.body["contents"][-1])
        if '{"text": "go"}' not in last:
            return {"reply": [text("Done.")]}
        told["answered"] = 1000 * time.time()
        return {"reply": [call("write_file", {"file_path": "x.c", "content": new, "base_content_sha256": base})]}

    with tempfile.TemporaryDirectory(prefix="bench-web-") as top, contextlib.ExitStack() as stack:
        world = web.World(Path(top))
        world.write("x.c", old)
        server = stack.enter_context(world.fake([], auto=answer, append_only=False))
        hasp = stack.enter_context(Hasp(world, server))
        chromium = stack.enter_context(Chromium(bundle))
        got = {"alone": hasp.still(seconds)}
        hasp.type("/web")
        # The link is for one browser: the clock's own comes in by an invitation.
        owner = web.Browser(hasp.address()).come_in()
        link = owner.post("/api/invite", {"name": "page", "role": "drive"}).json["url"]
        chromium.order("open", address=link)
        got["page"] = hasp.still(seconds)
        waits = []
        for i in range(EVENTS):
            sent = 1000 * time.time()
            assert owner.order("comment", {"text": "ping %d" % i}).status == 200
            waits.append(chromium.order("comment", text="ping %d" % i) - sent)
        got["waits"] = waits
        for split, words in LAYOUTS:
            chromium.order("layout", split=split)
            sent = owner.order("prompt", {"text": "go"}); assert sent.status == 202, (sent.status, sent.body)
            stamps = chromium.order("question")
            got[words] = (stamps["painted"] - stamps["came"], stamps["painted"] - told["answered"])
            with contextlib.closing(owner.events(after=0)) as events:
                question = events.question()
                while question["correlationId"] in told:
                    question = events.question()
            told[question["correlationId"]] = True
            assert owner.answer(question, "cancel").status == 200
            time.sleep(1)
        got["messages"] = chromium.order("messages", counts=COUNTS)
    return got


def middle(values):
    values = sorted(values)
    return "%.1f (%.1f to %.1f)" % (statistics.median(values), values[0], values[-1]) if len(values) > 1 else "%.1f" % values[0]


def table(rounds):
    """Medians of the rounds, with the least and the most."""
    def of(take):
        return middle([take(one) for one in rounds])

    rows = [("memory of hasp on a terminal, MB", of(lambda one: one["alone"][0])),
            ("the same with `/web` and one page, MB", of(lambda one: one["page"][0])),
            ("wake-ups a minute without `/web`", of(lambda one: one["alone"][1])),
            ("wake-ups a minute with a page", of(lambda one: one["page"][1])),
            ("CPU ms a minute with a page", of(lambda one: one["page"][2])),
            ("an event is on the page after, ms: half of %d" % EVENTS, of(lambda one: statistics.median(one["waits"]))),
            ("an event is on the page after, ms: nine of ten", of(lambda one: statistics.quantiles(one["waits"], n=10)[-1]))]
    for _, words in LAYOUTS:
        rows.append(("first lines of a 10,000-line file with 1,250 hunks, %s, ms since they came to the browser" % words,
                     of(lambda one, words=words: one[words][0])))
        rows.append(("the same since the model answered, ms", of(lambda one, words=words: one[words][1])))
    for index in (0, 1, -1):
        rows.append(("heap of the page after %d messages, MB" % rounds[0]["messages"][index]["messages"],
                     of(lambda one, index=index: one["messages"][index]["heap"] / 2 ** 20)))
    rows.append(("nodes of the page then", "%d" % max(one["messages"][-1]["nodes"] for one in rounds)))
    lines = ["| | median of %d rounds |" % len(rounds), "|---|---|", *("| %s | %s |" % row for row in rows)]
    return "\n".join(lines) + "\n"


def main():
    options = bench.page_options(web.app.headless, bundle=str(TOP / "build/web"))
    made = table([one_round(options.bundle, 5 if options.quick else 10) for _ in range(1 if options.quick else 3)])
    bench.page_print(options, BEGIN, END, made)


if __name__ == "__main__":
    main()
