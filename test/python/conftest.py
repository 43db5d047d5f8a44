# SPDX-License-Identifier: Apache-2.0
"""The package as its wheel has it, unpacked; a home, a project, and a recorded model."""
import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ["HASP"]).resolve().parent
WHEEL = next((BUILD / "python").glob("*.whl"))
UNPACKED = Path(tempfile.mkdtemp(prefix="hasp-wheel-"))
atexit.register(shutil.rmtree, UNPACKED, ignore_errors=True)
with zipfile.ZipFile(WHEEL) as packed:
    packed.extractall(UNPACKED)
for program in (UNPACKED / "hasp/_lib").iterdir():
    program.chmod(0o755)
sys.path.insert(0, str(UNPACKED))


def call(name, **arguments):
    return {"functionCall": {"name": name, "args": arguments}}


def say(text):
    return {"text": text}


class Started:
    """A pipe in the project, which a command writes to when it has started."""

    def __init__(self, path):
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self, process=None):
        """Until then, or until the process has ended."""
        ended = [os.pidfd_open(process.pid)] if process else []
        select.select([self.pipe, *ended], [], [])
        for one in [self.pipe, *ended]:
            os.close(one)


class World:
    def __init__(self, home, root):
        self.home, self.root = home, root

    def model(self, *parts):
        """What the model says: an answer each, or several calls of one reply in a list.

        Returns its name.
        """
        path = self.home / "model"
        with open(path, "w", encoding="utf-8") as file:
            for part in parts:
                content = {"role": "model", "parts": part if isinstance(part, list) else [part]}
                file.write(
                    json.dumps(
                        {
                            "method": "generateContentStream",
                            "response": [
                                {"candidates": [{"content": content, "finishReason": "STOP"}]}
                            ],
                        }
                    )
                    + "\n"
                )
        return "replay:%s" % path

    def put(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")
        return text

    def started(self):
        """For a command `echo > started`."""
        return Started(self.root / "started")

    def get(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def python(self, script, *arguments, **options):
        """Runs a program of its own with the package."""
        environment = dict(os.environ, PYTHONPATH=str(UNPACKED), HOME=str(self.home))
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, *arguments],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )


@pytest.fixture
def world(tmp_path, monkeypatch):
    home, root = tmp_path / "home", tmp_path / "project"
    (home / ".gemini").mkdir(parents=True)
    root.mkdir()
    for name in ("GEMINI_API_KEY", "GEMINI_CLI_HOME", "HASP_SANDBOX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(root)
    return World(home, root)
