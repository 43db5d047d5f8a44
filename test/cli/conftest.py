# SPDX-License-Identifier: Apache-2.0
"""Runs the real program in a workspace of its own."""
import hashlib
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())

# The same program, which alone obeys HASP_SANDBOX_SIMULATE (test/simulate/).
SIMULATE = str(Path(HASP).parent / "test" / "simulate" / "hasp-simulate")


def program(env):
    """The hasp that this environment is for."""
    return SIMULATE if "HASP_SANDBOX_SIMULATE" in (env or {}) else HASP

# A shell's background job has SIGINT ignored, nohup's SIGHUP: so would all that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Done:
    """What a run left: exit code, both outputs as bytes."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def message(self):
        return self.err.decode()


class Workspace:
    """A folder to work in, and hasp started inside it with a home of its own."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.home = folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "xterm-256color"}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name):
        return (self.folder / name).read_bytes()

    def sha256(self, name):
        return hashlib.sha256(self.read(name)).hexdigest()

    def run(self, *args, stdin=b"", env=None, cwd=None, **options):
        done = subprocess.run([program(env), *args], input=stdin, capture_output=True, check=False,
                              cwd=cwd or self.folder, env={**self.env, **(env or {})},
                              timeout=600, **options)
        return Done(done.returncode, done.stdout, done.stderr)

    def tool(self, name, arguments, *flags, **options):
        """One call with its arguments on standard input."""
        return self.run("tool", name, "-", *flags, stdin=json.dumps(arguments).encode(), **options)


@pytest.fixture
def outside():
    """A folder that is neither in the workspace nor beneath /tmp, which commands have for themselves."""
    with tempfile.TemporaryDirectory(prefix="hasp-test-", dir="/var/tmp") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def ws(tmp_path):
    return Workspace(tmp_path)
