# SPDX-License-Identifier: Apache-2.0
"""Programs in terminals, for tests: type this, see that.

    with Vterm(["build/hasp"], 80, 24) as terminal:       # libvterm: cuts lines when it is made narrower
        terminal.wait("> ")
        terminal.type("hello").key("enter")
        terminal.wait("DONE")
        assert terminal.dump().window[-1].startswith("model")

Tmux(...), Screen(...) and Xterm(...) have the same methods but cells, raw, pause and written: real tmux, which wraps lines
anew, and real GNU screen, each on a socket of its own; and real xterm on an X server of its own.  All are in a window of their own without an user's settings.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PATIENCE = 120  # seconds: how long is waited for what must come, however busy the machine
BUILD = Path(os.environ.get("HASP", Path(__file__).resolve().parents[3] / "build" / "hasp")).resolve().parent
VT_RUN = Path(os.environ.get("VT_RUN", BUILD / "test" / "tui" / "harness" / "vt_run"))
# What a user's environment would say about the terminal that the tests were started in.
CLEAN = {name: None for name in ("TMUX", "TMUX_PANE", "STY", "WINDOW", "COLORTERM", "NO_COLOR", "TERM_PROGRAM",
                                 "TERM_PROGRAM_VERSION", "VTE_VERSION", "LINES", "COLUMNS", "CI", "GITHUB_ACTIONS")}

KEYS = {
    "enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f", "delete": "\x1b[3~", "insert": "\x1b[2~",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "space": " ", "shift+tab": "\x1b[Z",
    "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~",
    "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
}
MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}


def key_bytes(name):
    """What xterm sends for "ctrl+c", "alt+b", "shift+up", "ctrl+shift+left", "enter"."""
    name = name.lower()
    if name in KEYS:
        return KEYS[name]
    *modifiers, key = name.split("+") if name != "+" else ["+"]
    number = 1 + sum(MODIFIERS[modifier] for modifier in modifiers)
    if len(key) == 1 or key in ("enter", "backspace", "tab", "esc", "space"):
        text = KEYS.get(key, key)
        if "shift" in modifiers and len(text) == 1 and text.isalpha():
            text = text.upper()
        elif "shift" in modifiers or ("ctrl" in modifiers and not "@" <= text.upper() <= "_"):
            return "\x1b[%d;%du" % (ord(text), number)
        if "ctrl" in modifiers:
            text = chr(ord(text.upper()) & 0x1f)
        return "\x1b" + text if "alt" in modifiers else text
    sequence = KEYS[key]
    if sequence.endswith("~"):
        return "%s;%d~" % (sequence[:-1], number)
    return "\x1b[1;%d%s" % (number, sequence[-1])


def descendants(pid):
    """Its children, their children and so on; without itself."""
    found, left = [], [pid]
    while left:
        with contextlib.suppress(OSError):
            one = left.pop()
            for task in os.listdir("/proc/%d/task" % one):
                with open("/proc/%d/task/%s/children" % (one, task), encoding="ascii") as file:
                    left += (children := [int(child) for child in file.read().split()])
                    found += children
    return found


def switches_of(pids):
    """{thread: voluntary context switches}: how often it has waited."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for task in os.listdir("/proc/%d/task" % pid):
                with contextlib.suppress(OSError), \
                        open("/proc/%d/task/%s/status" % (pid, task), encoding="utf-8") as file:
                    found[task] = next(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return found


class Dump(NamedTuple):
    window: list        # a text a row, without blanks at the end
    scrollback: list    # likewise, oldest first
    cursor: tuple       # row, column, from 0
    size: tuple         # columns, rows
    visible: bool       # the cursor
    title: str
    written: int        # bytes, by the program; 0 where it is not known
    alive: bool
    alternate: bool
    beyond: list = []   # rows that the program made longer than it was told that the window is wide (margin)

    @property
    def text(self):
        return "\n".join(self.scrollback + self.window)


class Terminal:
    """What all of them have in common."""

    POLL = 0.02  # seconds between two looks at it; longer where a look starts programs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def key(self, *names):
        for name in names:
            self.type(key_bytes(name))
        return self

    def paste(self, text):
        return self.type("\x1b[200~%s\x1b[201~" % text)

    def wait(self, text, seconds=PATIENCE):
        """Until the window or the scrollback has `text`; AssertionError with what is there instead."""
        if not self._wait(text, seconds):
            raise AssertionError("%r never came; there is:\n%s" % (text, self.dump().text))
        return self

    def gone(self, text, seconds=PATIENCE):
        """Until neither has `text` any more."""
        end = time.monotonic() + seconds
        while text in (there := self.dump().text):
            assert time.monotonic() < end, "%r stays; there is:\n%s" % (text, there)
            time.sleep(self.POLL)
        return self

    def _wait(self, text, seconds):
        end = time.monotonic() + seconds
        while text not in self.dump().text:
            if time.monotonic() > end:
                return False
            time.sleep(self.POLL)
        return True

    def quiet(self, quiet=0.1, seconds=PATIENCE):
        """Until nothing changed for so long."""
        end, since, before = time.monotonic() + seconds, time.monotonic(), None
        while time.monotonic() < end:
            now = self.dump()
            if now != before:
                since, before = time.monotonic(), now
            elif time.monotonic() - since >= quiet:
                return self
            time.sleep(self.POLL)
        raise AssertionError("it is never quiet; there is:\n%s" % self.dump().text)


class Vterm(Terminal):
    """libvterm 0.1, by vt_run."""

    def __init__(self, argv, columns=80, rows=24, env=None, version=None, kitty=False, sync=False, background=None,
                 cwd=None, margin=0):
        """`margin`: so many columns more than the program is told, in which nothing may ever stand."""
        self.process = subprocess.Popen([str(VT_RUN)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd,
                                        text=True)
        self.status = None
        request = {"do": "start", "argv": [str(word) for word in argv], "columns": columns, "rows": rows,
                   "env": {**CLEAN, "TERM": "xterm-256color", **(env or {})}, "kitty": kitty, "sync": sync, "margin": margin}
        # As libvterm is known by its DA2 alone, a test that gives no version has lines that are cut.
        request.update({name: value for name, value in (("version", version), ("background", background)) if value})
        self.ask(request)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "vt_run has ended"}')
        assert "error" not in answer, answer["error"]
        return answer

    def type(self, text):
        self.ask({"do": "type", "text": text})
        return self

    def resize(self, columns, rows):
        self.ask({"do": "resize", "columns": columns, "rows": rows})
        return self

    def _wait(self, text, seconds):
        return self.ask({"do": "wait", "text": text, "ms": int(seconds * 1000)})["ok"]

    def quiet(self, quiet=0.1, seconds=PATIENCE):
        asked = self.ask({"do": "quiet", "for": int(quiet * 1000), "ms": int(seconds * 1000)})
        assert asked["ok"], "it is never quiet"
        return self

    def dump(self):
        got = self.ask({"do": "dump"})
        return Dump(got["window"], got["scrollback"], tuple(got["cursor"]), tuple(got["size"]), got["visible"],
                    got["title"], got["written"], got["alive"], got["alternate"], got["beyond"])

    def cells(self):
        """Of each row of the window its pieces [text, "bold #ff0000 on #000000"]."""
        return self.ask({"do": "cells"})["cells"]

    def raw(self):
        """The bytes since the last time."""
        return self.ask({"do": "raw"})["raw"].encode("latin-1")

    def pause(self, on=True):
        """A slow terminal: it reads nothing while it is paused."""
        self.ask({"do": "pause", "on": on})
        return self

    def signal(self, number):
        self.ask({"do": "signal", "number": int(number)})
        return self

    def wakeups(self, seconds):
        """How often threads of the program's processes woke up, in so long from now."""
        before = switches_of(descendants(self.process.pid))
        time.sleep(seconds)
        after = switches_of(descendants(self.process.pid))
        return sum(count - before.get(task, 0) for task, count in after.items())

    def end(self, seconds=PATIENCE):
        """Until the program has ended; its wait status."""
        answer = self.ask({"do": "end", "ms": int(seconds * 1000)})
        assert answer["ok"], "it has not ended; there is:\n%s" % self.dump().text
        return answer["status"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Tmux(Terminal):
    """Real tmux: it wraps lines anew when the window has another width."""

    POLL = 0.05

    def __init__(self, argv, columns=80, rows=24, env=None, cwd=None, history=100000):
        self.folder = tempfile.mkdtemp(prefix="hasp-tmux-")
        self.size = (columns, rows)
        settings = os.path.join(self.folder, "conf")
        with open(settings, "w", encoding="utf-8") as file:
            file.write("set -g history-limit %d\nset -g status off\nset -g remain-on-exit on\nset -s escape-time 0\n"
                       "set -g default-size %dx%d\n" % (history, columns, rows))
        self.base = ["tmux", "-S", os.path.join(self.folder, "s"), "-f", settings]
        environment = {name: value for name, value in os.environ.items() if name not in CLEAN}
        environment.update({"LC_ALL": "C.UTF-8", **(env or {})})
        self.run("new-session", "-d", "-x", str(columns), "-y", str(rows), "--", *[str(word) for word in argv],
                 env=environment, cwd=cwd)

    def run(self, *words, **options):
        return subprocess.run([*self.base, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **options).stdout.decode("utf-8", "replace")

    def type(self, text):
        words = ["%x" % byte for byte in text.encode()]
        for start in range(0, len(words), 500):
            self.run("send-keys", "-H", *words[start:start + 500])
        return self

    def resize(self, columns, rows):
        return self.storm((columns, rows))

    def storm(self, *sizes):
        """One after the other, before the program can hear of any but the last."""
        self.size = sizes[-1]
        words = [word for columns, rows in sizes
                 for word in ("resize-window", "-x", str(columns), "-y", str(rows), ";")]
        self.run(*words[:-1])
        return self

    def dump(self, joined=False):
        """`joined`: lines as they were before they were wrapped."""
        said, rest = self.run("display-message", "-p", "#{cursor_y} #{cursor_x} #{cursor_flag} #{pane_dead} "
                              "#{alternate_on} #{pane_title}", ";", "capture-pane", "-p", *(["-J"] if joined else []),
                              "-S", "-").split("\n", 1)
        what = said.split(" ", 5)
        lines = [line.rstrip() for line in rest.split("\n")[:-1]]
        rows = self.size[1] if not joined else 0
        return Dump(lines[len(lines) - rows:] if rows else [], lines[:len(lines) - rows] if rows else lines,
                    (int(what[0]), int(what[1])), self.size, what[2] == "1", what[5], 0, what[3] == "0",
                    what[4] == "1")

    def signal(self, number):
        os.kill(int(self.run("display-message", "-p", "#{pane_pid}")), number)
        return self

    def end(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while self.dump().alive:
            assert time.monotonic() < end, "it has not ended; there is:\n%s" % self.dump().text
            time.sleep(0.02)
        for _ in range(100):  # tmux learns of the end first, then of the status; of some ends it never does
            if self.status("status") or self.status("signal"):
                break
            time.sleep(0.02)
        return int(self.status("status") or -1)

    def status(self, what):
        return self.run("display-message", "-p", "#{pane_dead_%s}" % what).strip()

    def close(self):
        subprocess.run([*self.base, "kill-server"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


class Screen(Terminal):
    """Real GNU screen, in the window of a libvterm that gives it its size; its own scrollback is asked for."""

    def __init__(self, argv, columns=80, rows=24, env=None, cwd=None, history=20000, full=False):
        self.folder = tempfile.mkdtemp(prefix="hasp-screen-")
        os.chmod(self.folder, 0o700)
        settings = os.path.join(self.folder, "rc")
        with open(settings, "w", encoding="utf-8") as file:
            file.write("startup_message off\ndefscrollback %d\nvbell off\ndefutf8 on\nzombie kr\n"
                       "altscreen on\ntermcapinfo * ti@:te@\n" % history)
        self.name = "hasp%d" % os.getpid()
        self.env = {"SCREENDIR": self.folder, "LC_ALL": "C.UTF-8", "TERM": "xterm", **(env or {})}
        # A resize moves lines into the scrollback that screen 4.9 does not count (resize.c, w_scrollback_height), and
        # hardcopy and its copy mode show as many as were counted: so it is full before the program begins.
        fill = "yes '' | head -n %d; printf '\\033[H\\033[J'; exec \"$@\"" % (history + 100)
        argv = ["sh", "-c", fill, "sh", *argv] if full else list(argv)
        self.outer = Vterm(["screen", "-U", "-c", settings, "-S", self.name, *argv], columns, rows, env=self.env,
                           cwd=cwd)
        self.size = (columns, rows)

    def run(self, *words, ask=False):
        return subprocess.run(["screen", "-S", self.name, "-p", "0", "-Q" if ask else "-X", *words], check=True,
                              env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def type(self, text):
        self.outer.type(text)
        return self

    def resize(self, columns, rows):
        self.size = (columns, rows)
        self.outer.resize(columns, rows)
        return self

    def dump(self):
        path = os.path.join(self.folder, "hardcopy")
        outer = self.outer.dump()
        if os.path.exists(path):
            os.unlink(path)
        try:
            self.run("hardcopy", "-h", path)
        except subprocess.CalledProcessError:
            return outer
        # screen does one thing after the other: the file is whole when this is answered.
        self.run("number", ask=True)
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip() for line in file.read().split("\n")[:-1]]
        rows = self.size[1]
        return outer._replace(window=lines[-rows:], scrollback=lines[:-rows])

    def _wait(self, text, seconds):
        return self.outer._wait(text, seconds)

    def quiet(self, quiet=0.1, seconds=PATIENCE):
        self.outer.quiet(quiet, seconds)
        return self

    def signal(self, number):
        listing = subprocess.run(["pgrep", "-P", str(self.server())], stdout=subprocess.PIPE, check=True, text=True)
        os.kill(int(listing.stdout.split()[0]), number)
        return self

    def server(self):
        names = [name for name in os.listdir(self.folder) if name.endswith("." + self.name)]
        return int(names[0].split(".")[0])

    def close(self):
        try:
            self.run("quit")
        except (subprocess.CalledProcessError, OSError):
            pass
        self.outer.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Xterm(Terminal):
    """Real xterm on an X server of its own (Xvfb); what stands in it is what it prints."""

    POLL = 0.1
    FILLER = 200  # lines; more than a window has
    LOOK = ()     # more words for xterm

    def server_words(self):
        """More words for Xvfb."""
        return ()

    def start_server(self):
        """An X server and its display.  Two that start at once can want the same one; the loser ends."""
        for _ in range(10):
            ours, theirs = os.pipe()
            server = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-screen", "0", "4000x2000x24", "-nolisten",
                                       "tcp", *self.server_words()], pass_fds=[theirs], stderr=subprocess.DEVNULL)
            os.close(theirs)
            with os.fdopen(ours) as number:
                display = number.readline().strip()
            if display:
                return server, ":" + display
            server.wait()
        raise AssertionError("no X server (Xvfb) starts")

    def __init__(self, argv, columns=80, rows=24, env=None, cwd=None, history=20000):
        self.folder, self.size = tempfile.mkdtemp(prefix="hasp-xterm-"), (columns, rows)
        self.page = os.path.join(self.folder, "page")
        environment = {**{name: value for name, value in os.environ.items() if name not in CLEAN}, **(env or {})}
        self.server, environment["DISPLAY"] = self.start_server()
        environment.pop("TERM", None)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self.folder, "s"))
        listener.listen(1)
        resources = {"printerCommand": "cat >%s.new; mv %s.new %s" % ((self.page,) * 3), "printerAutoClose": "true",
                     "allowWindowOps": "true", "saveLines": str(history), "utf8": "2", "printAttributes": "0"}
        words = [word for name, value in resources.items() for word in ("-xrm", "XTerm*%s: %s" % (name, value))]
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "xterm_relay.py")
        self.process = subprocess.Popen(["xterm", *words, *self.LOOK, "-geometry", "%dx%d" % self.size, "-e", sys.executable, relay,
                                         listener.getsockname(), str(self.FILLER), *[str(word) for word in argv]],
                                        env=environment, cwd=cwd, stderr=subprocess.DEVNULL)
        listener.settimeout(PATIENCE)
        self.control = listener.accept()[0]
        listener.close()

    def order(self, **order):
        self.control.sendall(json.dumps(order).encode() + b"\n")
        return self

    def type(self, text):
        return self.order(type=text)

    def resize(self, columns, rows):
        self.size = (columns, rows)
        return self.order(write="\x1b[8;%d;%dt" % (rows, columns))

    def dump(self):
        if os.path.exists(self.page):
            os.unlink(self.page)
        self.order(write="\x1b[?11i")
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.page):
            assert time.monotonic() < end, "xterm does not print"
            time.sleep(0.01)
        with open(self.page, encoding="utf-8", errors="replace") as file:
            printed = re.sub(r"\x1b#.|\x1b\[[\d;-]*m|\x1b[()].|[\r\f]", "", file.read())
        lines = [line.rstrip() for line in printed.split("\n") if not line.startswith("filler ")]
        return Dump(lines[-self.size[1]:], lines[:-self.size[1]], (0, 0), self.size, True, "", 0,
                    self.process.poll() is None, False)

    def close(self):
        self.control.close()
        self.process.wait(PATIENCE)
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


TERMINALS = {"vterm": Vterm, "tmux": Tmux, "screen": Screen, "xterm": Xterm}
