# SPDX-License-Identifier: Apache-2.0
"""`world` as on a terminal; a Line is a line front's connection."""
import importlib.util
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("app_world", TOP / "test" / "tui" / "app" / "conftest.py")
app = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(app)

PROBE = os.environ.get("FRONT_PROBE") or str(Path(app.headless.HASP).parent / "test" / "front" / "front_probe")


class Line:
    """Reads its events until one matches."""

    def __init__(self, path, name, roles="cad", after=0, session=""):
        self.name, self.seen, self.rest = name, [], b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(app.SECONDS)
        self.socket.connect(str(path))
        self.order("%s%s %s %d" % (session, name, roles, after))

    def order(self, text):
        self.socket.sendall(text.encode() + b"\n")
        return self

    def line(self):
        while b"\n" not in self.rest:
            try:
                more = self.socket.recv(65536)
            except TimeoutError:
                raise AssertionError("%s waits: %s" % (self.name, "\n".join(self.seen)))
            assert more, "it ended: %s" % "\n".join(self.seen)
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        self.seen.append(line.decode())
        return self.seen[-1]

    def wait(self, pattern):
        """The match in the next line that has one."""
        while not (found := re.search(pattern, self.line())):
            pass
        return found

    def question(self):
        return self.wait(r"^\d+ ask (\S+)").group(1)

    def events(self):
        return [line for line in self.seen if re.match(r"\d+ ", line)]

    def leave(self):
        self.order("leave")
        while self.socket.recv(65536):
            pass
        self.socket.close()


class World(app.World):
    @property
    def path(self):
        return self.top / "s"

    def with_terminal(self, server):
        return app.Hasp([PROBE, "tui", str(self.path)], 120, 40, cwd=self.root,
                        env=self.environment(server, HASP=app.headless.HASP)).wait("runs a command.")

    def lines(self, server, *folders):
        """Returns when the probe listens."""
        probe = subprocess.Popen([PROBE, "lines", str(self.path), *map(str, folders)], cwd=self.root,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env=self.environment(server, HASP=app.headless.HASP))
        assert probe.stdout.readline() == b"listening\n"
        return probe

    def line(self, name, roles="cad", after=0, session=""):
        return Line(self.path, name, roles, after, session)


@pytest.fixture
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("w"))
