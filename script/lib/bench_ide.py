# SPDX-License-Identifier: Apache-2.0
"""script/bench ide: what an editor costs a hasp in its terminal: first output, the connection, idleness, and the wait for problems
after an edit that brings none.  The editors are the servers of test/ide, on loopback.

    python3 script/lib/bench_ide.py [--quick] [--hasp PROGRAM]
"""
import contextlib
import importlib.util
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
sys.path[:0] = [str(TOP / "script/lib"), str(TOP / "test"), str(TOP / "test/ide"), str(TOP / "test/model"), str(TOP / "test/tui/harness")]

_spec = importlib.util.spec_from_file_location("ide_world", TOP / "test/ide/conftest.py")
ide = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ide)

import bench  # noqa: E402
import bench_agent  # noqa: E402
import terminal  # noqa: E402
from fake_gemini import call, text  # noqa: E402

BEGIN, END = "<!-- ide: begin -->", "<!-- ide: end -->"
EDITS = 10
# Each: its name, the settings, the terminal's program, the editor's server, and the line with which that is connected.
KINDS = (("no editor", {}, None, None, None),
         ("an editor's terminal, not enabled", {"ide": {"hasSeenNudge": True}}, "vscode", "companion", None),
         ("Gemini CLI's companion", {"ide": {"enabled": True}}, "vscode", "companion", "stream"),
         ("Claude Code's protocol", {"ide": {"enabled": True}}, "vscode", "neovim", "connected"))


class Run:
    """hasp on a terminal of its own, without an emulator: what it writes is read and dropped."""

    def __init__(self, world, server, program, *args):
        self.master, slave = pty.openpty()
        env = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **world.environment(server, TERM_PROGRAM=program)}
        if program is None:
            env.pop("TERM_PROGRAM", None)
        self.began = time.monotonic()
        self.process = subprocess.Popen([*world.argv(server, []), *args], env=env, cwd=world.root, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True)
        os.close(slave)
        os.read(self.master, 65536)
        self.first = time.monotonic() - self.began
        threading.Thread(target=self.drop, daemon=True).start()

    def drop(self):
        with contextlib.suppress(OSError):
            while os.read(self.master, 65536):
                pass

    def pids(self):
        return [self.process.pid, *terminal.descendants(self.process.pid)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def opened(kind, auto=None, **more):
    """A world with the editor: (world, server, editor)."""
    _, settings, _, server_name, _ = kind
    with tempfile.TemporaryDirectory(prefix="bench-ide-") as top, contextlib.ExitStack() as stack:
        world = ide.World(Path(top))
        world.settings(**settings, **more)
        editor = stack.enter_context(getattr(world, server_name)()) if server_name else None
        server = stack.enter_context(world.fake([], auto=auto, append_only=False))
        yield world, server, editor


def starts(count):
    """Of each kind lower quartiles, in ms, interleaved: the first output, and the connection.  What other programs of the machine take
    only ever adds to a start."""
    firsts, connections = {kind: [] for kind in range(len(KINDS))}, {kind: [] for kind in range(len(KINDS))}
    with contextlib.ExitStack() as stack:
        worlds = [stack.enter_context(opened(kind)) for kind in KINDS]
        for i in range(count * len(KINDS)):
            number, (world, server, editor) = i % len(KINDS), worlds[i % len(KINDS)]
            with Run(world, server, KINDS[number][2]) as run:
                firsts[number].append(run.first)
                if KINDS[number][4]:
                    editor.next(KINDS[number][4])
                    connections[number].append(time.monotonic() - run.began)
    return [[1000 * statistics.quantiles(values, n=4)[0] if values else None for values in both] for both in zip(firsts.values(), connections.values())]


def idleness(kind, seconds):
    """Wake-ups and CPU ms, a minute."""
    with opened(kind) as (world, server, editor), Run(world, server, kind[2]) as run:
        if kind[4]:
            editor.next(kind[4])
        time.sleep(3)  # it loads, and is still
        before, cpu = terminal.switches_of(run.pids()), bench_agent.cpu_of(run.pids())
        time.sleep(seconds)
        now = terminal.switches_of(run.pids())
        minutes = seconds / 60
        return (sum(count - before.get(task, 0) for task, count in now.items()) / minutes,
                (bench_agent.cpu_of(run.pids()) - cpu) / 1e6 / minutes)


def clean_edits(kind):
    """Milliseconds from each call of an edit to its result, in order."""
    times = []

    def answer(_request):
        times.append(time.monotonic())
        if len(times) > EDITS:
            return {"reply": [text("Done.")]}
        return {"reply": [call("write_file", {"file_path": "a.c", "content": "int a%d;\n" % len(times)})]}

    with opened(kind, answer) as (world, server, _), Run(world, server, kind[2], "-y", "-i", "go") as run:
        end = time.monotonic() + 60
        while len(times) <= EDITS and time.monotonic() < end:
            time.sleep(0.01)
        assert len(times) > EDITS, run.process.poll()
    return [1000 * (after - before) for before, after in zip(times, times[1:])]


def number(value, form="%.1f"):
    return "–" if value is None else form % value


def table(count, seconds):
    rows = [(kind[0], *started, *idleness(kind, seconds), clean_edits(kind)) for kind, started in zip(KINDS, starts(count))]
    lines = ["| | first output, ms | connected after, ms | idle: wake-ups a minute | idle: CPU ms a minute | "
             "a clean edit, ms: the first, the tenth, %d in all |" % EDITS, "|---" * 6 + "|"]
    for name, first, connected, wakes, cpu, edits in rows:
        lines.append("| %s | %s | %s | %s | %s | %.0f, %.0f, %.0f |" % (
            name, number(first), number(connected), number(wakes, "%.0f"), number(cpu, "%.0f"), edits[0], edits[-1], sum(edits)))
    return "\n".join(lines) + "\n"


def main():
    options = bench.page_options(ide.app.headless)
    made = table(5 if options.quick else 20, 10 if options.quick else 30)
    bench.page_print(options, BEGIN, END, made)


if __name__ == "__main__":
    main()
