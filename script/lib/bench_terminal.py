# SPDX-License-Identifier: Apache-2.0
"""script/bench's fifth part: agents on a terminal, beside others.

Each is started on a PTY whose other end is libvterm (test/tui/harness), interactive, against the model
of script/bench's fourth part on loopback.  All that is waited for is seen in the emulator: the first
thing on the window, a key that was typed, the words of a reply.  Only idleness is a span of time.

What an agent cannot be driven to is an empty cell, and a sentence beneath the table.

    python3 script/lib/bench_terminal.py [--quick] [--only NAMES] [--write]
"""

import argparse
import contextlib
import ctypes
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

import bench
import bench_agent
import bench_tls
import npm_peers

sys.path.insert(0, str(bench.TOP / "test" / "tui" / "harness"))
import terminal  # noqa: E402

BEGIN, END = "<!-- terminal: begin -->", "<!-- terminal: end -->"
AGENTS = ("hasp, Gemini's format", "codex", "claude-code", "gemini-cli")
HEADLESS = ("-p", bench_agent.PROMPT, "exec", "--skip-git-repo-check")
COLUMNS, ROWS = 100, 40
RATE, ALONE, TYPED = 200, 10, 7  # tokens a second; seconds without keys, and with them
KEYS, BETWEEN_KEYS = 20, 0.25
REPLIES, LINES = 10, 1000
MANY_REPLIES, MANY_SECONDS = 100, 300  # of the same lines, in the first round
MESSAGES = 10000  # of a session that is opened
PR_SET_CHILD_SUBREAPER = 36
# Agents that see these take themselves for headless.
NO_TERMINAL = ("CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "BUILD_NUMBER", "RUN_ID")
METRICS = (
    ("first output on the window, ms", "paint"),
    ("a typed key is shown, ms", "usable"),
    ("CPU until then, ms", "start_cpu"),
    ("memory when it is still, MB", "memory"),
    ("idle: wake-ups a minute", "wakeups"),
    ("idle: CPU ms a minute", "idle_cpu"),
    ("streaming: CPU, % of a processor", "stream_cpu"),
    ("streaming: KB written to the terminal", "written"),
    ("key to window while streaming, ms", "key"),
    ("memory after the stream, MB", "stream_memory"),
    ("memory after 10,000 lines more, MB", "lines_memory"),
    ("memory after 100,000 lines, MB", "many_memory"),
    ("the end of a session of 10,000 messages is shown, ms", "opened"),
)


class Unreached(Exception):
    """What an agent could not be driven to, as the rest of a sentence."""


# ---- the model ----

class Pieces(str):
    """A text that is sent in the pieces it was made of."""

    def __new__(cls, pieces):
        text = super().__new__(cls, "".join(pieces))
        text.pieces = pieces
        return text


def split_pieces(halves):
    return lambda value: value.pieces if isinstance(value, Pieces) else halves(value)


for provider_module in (bench_agent.fake_openai, bench_agent.fake_anthropic):
    provider_module.halves = split_pieces(provider_module.halves)


class Paced:
    """A provider whose events leave at a rate, by the clock, if the step has one."""

    def __init__(self, provider):
        self.provider = provider

    def __getattr__(self, name):
        return getattr(self.provider, name)

    def encode(self, request, step):
        kind, events = self.provider.encode(request, step)
        if "reached" not in step or kind != "text/event-stream":
            return kind, events
        return kind, self.send(events, step["reached"])

    @staticmethod
    def send(events, reached):
        start = None
        for number, event in enumerate(events):
            if start is None and b"alpha" in event:
                start = time.monotonic() - number / RATE
            if start:
                time.sleep(max(0, start + number / RATE - time.monotonic()))
                if number / RATE >= ALONE:
                    reached["alone"].set()
            yield event
        reached["end"].set()


class Talk:
    """Answers the first request that has tools with what is next; the others are an agent's own (titles,
    who speaks next)."""

    def __init__(self, provider, kind):
        self.provider, self.kind, self.next = provider, kind, None

    def __call__(self, request):
        step, self.next = (self.next, None) if self.provider.tool_names(request) else (None, self.next)
        return step or {"reply": [{"text": "Done."}]}

    def say(self, pieces, **more):
        reply = [{"text": piece} for piece in pieces] if self.kind == "gemini" else \
            [{"text": Pieces(pieces)}]
        self.next = dict({"reply": reply}, **more)


def words(count, seed):
    """No word, nor any row of them, comes over and over: agents stop such replies.  None has a q or z."""
    choose = random.Random(seed)
    return ["".join(choose.choices("etaoinshrdlu", k=5)) for _ in range(count)]


def stream_tokens():
    """A word a token, ten a line, a paragraph each four lines."""
    ends = {39: "\n\n", 9: "  \n", 19: "  \n", 29: "  \n"}
    return ["alpha ", *[word + ends.get(i % 40, " ")
                        for i, word in enumerate(words(RATE * (ALONE + TYPED), 1))], "omega"]


def reply_lines(number):
    lines = ["- %s\n" % " ".join(words(10, "%d %d" % (number, i))) for i in range(LINES)]
    return ["".join(lines[i:i + 10]) for i in range(0, LINES, 10)] + ["\nend-%d" % number]


def lengthen_session(home):
    """Puts prompts, calls and answers behind what the session has that hasp has left in a home."""
    path = max(home.rglob("chats/session-*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    lines, said = [], words(MESSAGES * 10, 3)
    for i in range(0, MESSAGES, 4):
        text = " ".join(said[i * 10:i * 10 + 30])
        called = {"id": "message-%d" % (i + 1), "timestamp": "2030-01-01T00:00:00.000Z", "type": "gemini",
                  "content": ""}
        call = {"id": "call-%d" % i, "name": "read_file", "args": {"file_path": "a.txt"}, "status": "success",
                "result": [{"functionResponse": {"id": "call-%d" % i, "name": "read_file",
                                                 "response": {"success": True, "content": text}}}]}
        lines += [dict(called, id="message-%d" % i, type="user", content=[{"text": text}]), called,
                  dict(called, toolCalls=[call]),
                  dict(called, id="message-%d" % (i + 2), content=text)]
    lines += [dict(lines[0], id="message-last"), dict(called, id="answer-last", content="the very last answer")]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


# ---- processes ----

class Window(terminal.Vterm):
    """The emulator, which knows when it started the program."""

    def ask(self, request):
        if request["do"] == "start":
            super().ask({"do": "raw"})  # it is up
            self.started = time.monotonic()
        return super().ask(request)

    def shows(self, text, seconds):
        return self.ask({"do": "wait", "text": text, "ms": int(seconds * 1000), "window": True})["ok"]

    def settle(self, quiet, seconds):
        """Some never write nothing: then it is as settled as it will be."""
        self.ask({"do": "quiet", "for": int(quiet * 1000), "ms": int(seconds * 1000)})


# ---- an agent ----

class Session:
    """One agent on a terminal of its own; `got` has what was measured, `reasons` why something was not."""

    def __init__(self, agent, home, work, certificates, arguments=()):
        self.agent, self.home, self.work = agent, home, work
        self.got, self.reasons, self.stack = {}, [], contextlib.ExitStack()
        context = certificates.context() if agent.wire == "http/1.1" else None
        server = self.stack.enter_context(agent.server(context))
        server.provider = Paced(server.provider)
        server.auto = self.talk = Talk(server.provider, agent.kind)
        url = server.url
        if agent.wire == "h2":
            front = bench_tls.Http2Front(certificates, server.port)
            self.stack.callback(front.close)
            url = front.url
        agent.prepare(url, home)
        HOMES.get(agent.name.split()[0], lambda home, work: None)(home, work)
        environment = dict(npm_peers.environment(HOME=str(home)), PWD=str(work), LC_ALL="C.UTF-8")
        environment.update(bench_agent.trust(certificates))
        environment.update(agent.environment(url, home))
        environment.update(dict.fromkeys((*NO_TERMINAL, *terminal.CLEAN)))
        argv = [word for word in agent.argv(url) if word not in HEADLESS] + list(arguments)
        self.window = self.stack.enter_context(Window(argv, COLUMNS, ROWS, env=environment, cwd=work,
                                                      background="rgb:0000/0000/0000", sync=True))

    def pids(self):
        """The agent's processes, also those that it has left to whoever is above, in its home."""
        emulator = self.window.process.pid
        found = bench_agent.descendants(emulator)[1:]
        with open("/proc/self/task/%d/children" % os.getpid(), encoding="ascii") as file:
            for pid in map(int, file.read().split()):
                if pid != emulator and self.is_at_home(pid):
                    found += [one for one in bench_agent.descendants(pid) if one not in found]
        return found

    def is_at_home(self, pid):
        try:
            return bytes(self.home) in Path("/proc/%d/environ" % pid).read_bytes()
        except OSError:
            return False

    def close(self):
        left = self.pids()
        self.stack.close()
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, 9)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def memory(self):
        return bench_agent.memory_of(self.pids()) / 2 ** 20

    def echoes(self):
        """Whether the terminal itself would show what is typed."""
        try:
            place = os.open("/proc/%d/fd/0" % self.pids()[0], os.O_RDWR | os.O_NOCTTY)
        except (OSError, IndexError):
            return True
        try:
            return bool(termios.tcgetattr(place)[3] & termios.ECHO)
        finally:
            os.close(place)

    def start(self):
        window = self.window
        if not window.shows("", 60):
            raise Unreached("shows nothing within a minute")
        self.got["paint"] = 1000 * (time.monotonic() - window.started)
        typed, end = 0, time.monotonic() + 60
        while typed == 0 or not window.shows("ж", 0.1):
            if time.monotonic() > end:
                raise Unreached("shows no typed key within a minute")
            if self.echoes():
                window.shows("ж", 0.005)
                continue
            window.type("ж")
            typed += 1
        self.got["usable"] = 1000 * (time.monotonic() - window.started)
        self.got["start_cpu"] = bench_agent.cpu_of(self.pids()) / 1e6
        for _ in range(typed + 5):
            window.settle(0.15, 2)
            if not any("ж" in row for row in window.dump().window):
                break
            window.key("backspace")
        if not window.shows(READY.get(self.agent.name.split()[0], ""), 60):
            raise Unreached("is not ready within a minute")
        window.settle(3, 60)  # some show themselves, and load more for a while
        self.got["memory"] = self.memory()

    def idle_begin(self):
        pids = self.pids()
        self.before = bench_agent.cpu_of(pids), terminal.switches_of(pids), time.monotonic()

    def idle_end(self):
        pids = self.pids()
        cpu, switches, begun = self.before
        minutes = (time.monotonic() - begun) / 60
        now = terminal.switches_of(pids)
        self.got["idle_cpu"] = (bench_agent.cpu_of(pids) - cpu) / 1e6 / minutes
        self.got["wakeups"] = sum(count - switches.get(task, 0) for task, count in now.items()) / minutes

    def submit(self, prompt):
        self.window.type(prompt)
        if not self.window.shows(prompt, 20):
            raise Unreached("does not show a prompt")
        self.window.settle(0.3, 2)  # what comes too fast is taken for a paste
        self.window.key("enter")

    def stream(self):
        window, reached = self.window, {"alone": threading.Event(), "end": threading.Event()}
        self.talk.say(stream_tokens(), pace=0, reached=reached)
        self.submit("say something")
        if not window.shows("alpha", 30):
            raise Unreached("does not show a reply that streams")
        cpu, begun, written = bench_agent.cpu_of(self.pids()), time.monotonic(), window.dump().written
        if not reached["alone"].wait(5 * ALONE):
            raise Unreached("does not read the reply as fast as it comes")
        seconds = time.monotonic() - begun
        self.got["stream_cpu"] = (bench_agent.cpu_of(self.pids()) - cpu) / 1e7 / seconds
        self.got["written"] = (window.dump().written - written) / 1024
        self.type_keys(reached["end"])
        if not window.shows("omega", 60):
            raise Unreached("does not show the end of a reply")
        for _ in range(KEYS + 2):
            window.key("backspace")
            window.settle(0.02, 0.1)
        window.settle(1, 5)
        self.got["stream_memory"] = self.memory()

    def type_keys(self, end):
        """The draft grows by a key each time; what it is then is on no other row."""
        window, draft, times = self.window, "qz", []
        window.type(draft)
        if not window.shows(draft, 5):
            print("\n".join(window.dump().window), file=sys.stderr)
            self.reasons.append("shows no typed key for 5 s once a reply has streamed for ten")
            return
        while len(times) < KEYS and not end.is_set():
            begun = time.monotonic()
            draft += "qz"[len(draft) % 2]
            window.type(draft[-1])
            if not window.shows(draft, 10):
                self.reasons.append("shows some keys not within 10 s while a reply streams")
                return
            times.append(1000 * (time.monotonic() - begun))
            time.sleep(max(0, begun + BETWEEN_KEYS - time.monotonic()))
        self.got["key"] = statistics.median(times)

    def say_lines(self, number):
        self.talk.say(reply_lines(number))
        self.submit("go on %d" % number)
        if not self.window.shows("end-%d" % number, 90):
            raise Unreached("does not show a reply of 1000 lines within 90 s")
        self.window.settle(0.3, 2)

    def lines(self):
        for number in range(REPLIES):
            self.say_lines(number)
        self.window.settle(1, 5)
        self.got["lines_memory"] = self.memory()

    def many_lines(self):
        end = time.monotonic() + MANY_SECONDS
        for number in range(REPLIES, MANY_REPLIES):
            if time.monotonic() > end:
                raise Unreached("shows no 100,000 lines within five minutes")
            self.say_lines(number)
        self.window.settle(1, 5)
        self.got["many_memory"] = self.memory()

    def opened(self):
        if not self.window.shows("the very last answer", 60):
            raise Unreached("does not show the end of a session within a minute")
        self.got["opened"] = 1000 * (time.monotonic() - self.window.started)

    def attempt(self, part):
        """False: it cannot go on."""
        try:
            part(self)
        except (Unreached, AssertionError) as why:
            self.reasons.append(str(why).splitlines()[0])
            print("bench: %s %s:\n%s" % (self.agent.name, why, "\n".join(self.window.dump().window)),
                  file=sys.stderr)
            return False
        return True


# What an interactive start asks else: whether a folder is trusted, whether a key may be used.

def claude_home(home, work):
    (home / ".claude.json").write_text(json.dumps({
        "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": ["test-key"], "rejected": []},
        "projects": {str(work): {"hasTrustDialogAccepted": True,
                                 "hasCompletedProjectOnboarding": True}}}))


def codex_home(home, work):
    settings = home / ".codex" / "config.toml"
    settings.write_text("check_for_update_on_startup = false\n" + settings.read_text() +
                        '[projects."%s"]\ntrust_level = "trusted"\n' % work)


# What is on the window once it has loaded what it can show itself without.
READY = {"codex": "permissions:"}
HOMES = {"claude-code": claude_home, "codex": codex_home}


# ---- all of them ----

def contenders(wanted):
    agents = {}
    for agent in bench_agent.contenders(AGENTS):
        agents.setdefault(agent.name.split()[0], agent)
    found = [agent for agent in agents.values()
             if not wanted or any(agent.name.startswith(name) for name in wanted)]
    for agent in found:
        agent.name = agent.name.split(",")[0]
        agent.reasons = []
    return found


def measure_opening(agent, home, work, certificates):
    """Of hasp, whose sessions' form is known here."""
    lengthen_session(home)
    session = Session(agent, home, work, certificates, ["--resume", "latest"])
    try:
        session.attempt(Session.opened)
    finally:
        session.close()
    agent.samples[-1].update(session.got)
    agent.reasons += session.reasons


def measure_round(agents, homes, folder, certificates, idle, first):
    sessions = []
    try:
        for agent in agents:
            work = Path(folder) / ("work-" + agent.name.split()[0])
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            session = Session(agent, homes[agent.name], work, certificates)
            sessions.append(session)
            session.able = session.attempt(Session.start)
        able = [session for session in sessions if session.able]
        # Idleness of all at once: who does nothing takes nothing from others.
        for session in able:
            session.idle_begin()
        time.sleep(idle)
        for session in able:
            session.idle_end()
        for session in able:
            if session.attempt(Session.stream) and session.attempt(Session.lines) and first:
                session.attempt(Session.many_lines)
    finally:
        for session in sessions:
            session.agent.samples.append(session.got)
            session.agent.reasons += [reason for reason in session.reasons
                                      if reason not in session.agent.reasons]
            session.close()
    for session in sessions:
        if session.agent.name == "hasp" and session.able:
            measure_opening(session.agent, session.home, session.work, certificates)


def measure(agents, rounds, idle):
    """Returns the least and the most of the machine's load meanwhile."""
    loads = []
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Not beneath /tmp: codex starts no helper from there.
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=Path.home(),
                                     ignore_cleanup_errors=True) as folder:
        homes = {agent.name: Path(folder) / ("home%d" % i) for i, agent in enumerate(agents)}
        for home in homes.values():
            home.mkdir()
        place = Path(folder) / "tls"
        place.mkdir()
        certificates = bench_tls.Certificates(place)
        for number in range(rounds):
            loads.append(os.getloadavg()[0])
            measure_round(agents, homes, folder, certificates, idle, number == 0)
            loads.append(os.getloadavg()[0])
            for agent in agents:
                print(agent.name, {key: round(value, 1) for key, value in agent.samples[-1].items()},
                      agent.reasons, flush=True)
    return min(loads), max(loads)


def cell(agent, key):
    values = [sample[key] for sample in agent.samples if key in sample]
    if not values:
        return ""
    value = statistics.median(values)
    return "%.0f" % value if value >= 100 else "%.1f" % value


def table(agents, rounds, idle, loads):
    rows = [["on a terminal"] + [agent.name for agent in agents], ["---"] * (len(agents) + 1)]
    rows += [[title] + [cell(agent, key) for agent in agents] for title, key in METRICS]
    said = ["Medians of %d run%s, interleaved; idle for %d s. The machine has %d processors, and its "
            "load was %.1f to %.1f." % (rounds, "s" if rounds > 1 else "", idle, os.cpu_count(), *loads)]
    said += ["%s %s." % (agent.name, reason) for agent in agents for reason in agent.reasons]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n\n" + "\n".join(said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names' beginnings, with commas")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--write", action="store_true", help="into docs/, even a quick one")
    options = parser.parse_args()
    rounds, idle = options.rounds or (3 if options.quick else 5), 30 if options.quick else 60
    agents = contenders(options.only.split(",") if options.only else None)
    loads = measure(agents, rounds, idle)
    text = table(agents, rounds, idle, loads)
    print(text)
    if options.write or not options.quick and not options.only:
        bench.page_write(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
