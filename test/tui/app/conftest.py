# SPDX-License-Identifier: Apache-2.0
"""hasp on a terminal, against strict fakes of the models' servers: `world` is a home, a project and the program;
world.hasp(server) is that program in a terminal."""
import importlib.util
import sys
import threading
import time
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
_spec = importlib.util.spec_from_file_location("headless_world", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402


SECONDS = 60 if headless.SANITIZED else 30


class Held:
    """Something for a step's "expect": the reply waits until it is let go, and says when it is asked for."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self, _request):
        self.asked.set()
        assert self.go.wait(60)

    def wait(self):
        assert self.asked.wait(60)


class Hasp(terminal.Vterm):
    def wait(self, text, seconds=SECONDS):
        return super().wait(text, seconds)

    def titled(self, start):
        """Until the window's title begins so."""
        end = time.monotonic() + SECONDS
        while not (title := self.dump().title).startswith(start):
            assert time.monotonic() < end, title
            time.sleep(0.02)
        return self


class World(headless.World):
    KEY, Hasp = headless.KEY, Hasp

    def hasp(self, server, *args, columns=120, rows=24, env=None, kind=Hasp,
             shown="runs a command."):
        """Keys count from the moment when there is a prompt for them. In full screen, what a conversation has
        pushed out of the window may never be seen: then `shown` is what stands at its end."""
        return kind(self.argv(server, args), columns, rows, env=self.environment(server, **(env or {})),
                    cwd=self.root).wait(shown)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def held():
    one = Held()
    yield one
    one.go.set()
