# SPDX-License-Identifier: Apache-2.0
"""hasp without a terminal, against strict fakes of the models' servers: `world` is a home, a project and
the program in it."""
import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import claims
import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "model"), str(TOP / "test" / "cli")]

import fake_anthropic  # noqa: E402
import fake_gemini  # noqa: E402
import fake_openai  # noqa: E402
from fake_server import FakeServer  # noqa: E402

HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())

# The same program, which alone obeys HASP_SANDBOX_SIMULATE (test/simulate/).
SIMULATE = str(Path(HASP).parent / "test" / "simulate" / "hasp-simulate")


def program(env):
    """The hasp that this environment is for."""
    return SIMULATE if "HASP_SANDBOX_SIMULATE" in (env or {}) else HASP
KEY = "test-key-5f2a99c1d07e"  # found wherever it should not be
SANITIZED = "ASAN_OPTIONS" in os.environ

# A shell's background job has SIGINT ignored, and so would all that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What each provider needs: its fake, variables, the path beneath the server's address, a model.
KINDS = {
    "gemini": (fake_gemini.Provider, "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "", None),
    "openai": (fake_openai.Provider, "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1",
               "openai/gpt-4.1"),
    "openai-responses": (fake_openai.Provider, "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1",
                         "openai-responses/gpt-5"),
    "anthropic": (fake_anthropic.Provider, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "",
                  "anthropic/claude-sonnet-4-5"),
}


# Before a command: seconds of processors for it and for each that it starts; no wait of a busy machine counts.
LIMITED = ["prlimit", "--cpu=%d" % (30 if SANITIZED else 10), "--"]


def become_reaper():
    """Orphans of what is started from here become this process's children, and so can be counted."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def children():
    """Of this process, with their names; ended ones are taken away."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return []
    pids = Path("/proc/self/task/%d/children" % os.getpid()).read_text().split()
    found = []
    for pid in pids:
        try:
            found.append(Path("/proc/%s/cmdline" % pid).read_bytes().replace(b"\0", b" "))
        except OSError:
            pass
    return found


def nothing_left(seconds=120):
    """Whether everything that was started has ended; it may take a moment to be gone."""
    end = time.monotonic() + seconds
    while (left := children()) and time.monotonic() < end:
        time.sleep(0.02)
    assert left == []
    return True


class Done:
    def __init__(self, code, out, err, server):
        self.code, self.out, self.err, self.server = code, out, err.decode(), server

    @property
    def text(self):
        return self.out.decode()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]

    @property
    def sent(self):
        """The requests' bodies."""
        return [request.body for request in self.server.requests]

    def results(self, i=-1):
        """What the request `i` says of calls."""
        return self.server.provider.tool_results(self.server.requests[i])

    def said(self, i=-1):
        """All that a request says, as one text."""
        return json.dumps(self.server.requests[i].body, ensure_ascii=False)


class World:
    def __init__(self, top):
        self.top, self.root, self.home, self.temp = (top, top / "project", top / "home",
                                                     top / "temp")
        for folder in (self.root, self.home / ".gemini", self.temp):
            folder.mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.temp),
                    "GEMINI_CLI_TRUST_WORKSPACE": "true", "TERM": "xterm-256color"}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def write(self, name, content, mode=None):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        if mode:
            path.chmod(mode)
        return hashlib.sha256(content.encode()).hexdigest()

    def read(self, name):
        return (self.root / name).read_text()

    def settings(self, where="home", **settings):
        """Of the user, or of the project."""
        folder = (self.home if where == "home" else self.root) / ".gemini"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings))

    def sessions(self):
        """The files of sessions, oldest first."""
        return sorted(self.home.glob(".gemini/tmp/*/chats/session-*"),
                      key=lambda path: path.stat().st_mtime_ns)

    def fake(self, script, kind="gemini", append_only=True, **options):
        """`append_only`: each request has to begin with the one before it."""
        steps = [step if isinstance(step, dict) else {"reply": step} for step in script]
        server = FakeServer(KINDS[kind][0](key=KEY, append_only=append_only), steps, **options)
        server.kind, server.model = kind, None
        return server

    def environment(self, server=None, **more):
        env = dict(self.env)
        if server:
            _, key, base, path, _ = KINDS[server.kind]
            env.update({key: KEY, base: server.url + path})
        return {name: value for name, value in {**env, **more}.items() if value is not None}

    @staticmethod
    def argv(server, args, env=None):
        model = (getattr(server, "model", None) or KINDS[server.kind][4]) if server else None
        return [program(env), *(["-m", model] if model else []), *map(str, args)]

    def start(self, server, *args, env=None, **options):
        options = dict({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                        "stderr": subprocess.PIPE, "cwd": self.root}, **options)
        return subprocess.Popen(self.argv(server, args, env),
                                env=self.environment(server, **(env or {})), **options)

    def run(self, script, *args, kind="gemini", violations=0, whole=True, env=None, auto=None,
            append_only=True, **options):
        """One run to its end against a server of its own, which must be asked for all of the script."""
        with self.fake(script, kind, append_only, auto=auto) as server:
            done = self.command(*args, server=server, env=env, **options)
        assert len(server.violations) == violations, server.violations
        assert not whole or not server.script, "steps that were not asked for: %r\n%s" % (
            server.script, done.err)
        return done

    def command(self, *args, server=None, env=None, stdin=None, timeout=300, cwd=None, before=()):
        given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run([*before, *self.argv(server, args, env)], cwd=cwd or self.root, timeout=timeout,
                              env=self.environment(server, **(env or {})),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given)
        for request in server.requests if server else ():
            claims.check_alone(request.body)
        return Done(done.returncode, done.stdout, done.stderr, server)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
