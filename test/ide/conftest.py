# SPDX-License-Identifier: Apache-2.0
"""`world` as on a terminal, which belongs to an editor: a server of node's, and the file that says where it is."""
import contextlib
import importlib.util
import json
import os
import queue
import subprocess
import threading
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("app_world", TOP / "test" / "tui" / "app" / "conftest.py")
app = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(app)

import npm_peers  # noqa: E402  (app has the path)

TOKEN = "0123456789abcdef0123456789abcdef"


class Editor:
    """A server's process, what it prints, and the orders that it takes."""

    def __init__(self, process):
        self.process, self.lines, self.seen = process, queue.Queue(), []
        self.port = int(process.stdout.readline())
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def next(self, member, value=None):
        """The next line that has it."""
        while True:
            self.seen.append(one := self.lines.get(timeout=app.SECONDS))
            if member in one and value in (None, one[member]):
                assert not one.get("wrong"), one
                return one

    def order(self, **what):
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()
        return self

    def send(self, method, **params):
        return self.order(send={"method": method, "params": params})


class World(app.World):
    def __init__(self, top):
        super().__init__(top)
        self.temp = top / "tmp"
        self.temp.mkdir()
        self.settings(ide={"enabled": True})

    @contextlib.contextmanager
    def node(self, script, *arguments):
        argv = [npm_peers.node(), Path(__file__).with_name(script), *arguments]
        with subprocess.Popen([str(one) for one in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "TMPDIR": str(self.temp)}) as process:
            try:
                yield Editor(process)
            finally:
                process.kill()

    def editor(self, script, package, token=TOKEN):
        return self.node(script, npm_peers.folder(package), token)

    def played(self, extension, take, reject):
        """An extension for VS Code in one that is played."""
        return self.node("vscode_editor.mjs", extension, self.root, take, reject)

    @contextlib.contextmanager
    def companion(self, **more):
        with self.editor("companion_server.mjs", "sdk") as editor:
            self.port_file(editor.port, **more)
            yield editor

    @contextlib.contextmanager
    def neovim(self, **more):
        with self.editor("claude_server.mjs", "ws") as editor:
            path = self.lock_file(editor.port, **more)
            yield editor
            path.unlink()

    def port_file(self, port, pid=None, mode=0o600, **more):
        """As the companion writes it; this process is an ancestor of hasp's."""
        said = {"port": port, "workspacePath": "/nowhere:%s" % self.root, "authToken": TOKEN,
                "ideInfo": {"name": "vscode", "displayName": "VS Code"}, **more}
        path = self.temp / "gemini" / "ide" / ("gemini-ide-server-%d-%d.json" % (pid or os.getpid(), port))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(said))
        path.chmod(mode)
        return path

    def lock_file(self, port, **more):
        said = {"pid": os.getpid(), "workspaceFolders": [str(self.root)], "ideName": "Neovim", "transport": "ws",
                "authToken": TOKEN, **more}
        path = self.home / ".claude" / "ide" / ("%d.lock" % port)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(said))
        path.chmod(0o600)
        return path

    def environment(self, server=None, **more):
        return super().environment(server, **{"TERM_PROGRAM": "vscode", "TMPDIR": str(self.temp), **more})


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
