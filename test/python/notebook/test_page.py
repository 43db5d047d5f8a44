# SPDX-License-Identifier: Apache-2.0
"""hasp in Jupyter's own page: a real server, a real browser, clicks."""
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import fake_mcp
import nbformat

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "script" / "lib")]

import npm_peers  # noqa: E402
from front import call, environment_of, overwrite, replay, text  # noqa: E402

SECONDS = 120
OLD = "".join("line %d\n" % i for i in range(40))
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DRAWS = (
    """made = 6 * 7
class Picture:
    def _repr_png_(self):
        import base64
        return base64.b64decode("%s")
print(made)
Picture()
"""
    % PNG
)
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")


def notebook(folder, model):
    cell = nbformat.v4.new_code_cell
    nbformat.write(
        nbformat.v4.new_notebook(
            metadata={
                "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
            },
            cells=[
                cell("%%load_ext hasp\n%%hasp model replay:%s" % model, id="begin"),
                cell("%%hasp\nSpell two numbers out in a.txt", id="edit"),
                cell("%%hasp What is markup?", id="markup"),
                cell("%%hasp Add a cell", id="add"),
                cell("%%hasp Compute", id="compute"),
                cell("%%hasp Clean up", id="remove"),
                cell("%%hasp Say hello", id="echo"),
                cell("%%hasp Say it twice", id="twice"),
                cell("%%hasp Sleep", id="sleep"),
                cell("%%hasp Say it again", id="again"),
            ],
        ),
        folder / "n.ipynb",
    )


def free_port():
    """The server takes the next one should another process be faster, and says which."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """Debian's Jupyter notebook on loopback, with runtime files of its own."""

    def __init__(self, tmp_path, folder):
        settings = tmp_path / "home" / ".gemini" / "settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            json.dumps(
                {
                    "mcpServers": {"fake": fake_mcp.entry()},
                    "security": {"enablePermanentToolApproval": True},
                }
            )
        )
        settings.with_name("trustedFolders.json").write_text(
            json.dumps({str(folder): "TRUST_FOLDER"})
        )
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "notebook",
                "--no-browser",
                "--allow-root",
                "--ip=127.0.0.1",
                "--port=%d" % free_port(),
                "--NotebookApp.token=thekey",
                "--notebook-dir=" + str(folder),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment_of(tmp_path),
            cwd=folder,
        )
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"(http://127\.0\.0\.1:\d+/)\?token=", line)
            if found:
                self.address = found[1]
                break
        else:
            raise AssertionError(said)
        # The server must not block on a full pipe.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.drain.wait()


def test_hunks_are_taken_and_left_by_clicking(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text(OLD)
    (folder / "build").mkdir()
    notebook(
        folder,
        replay(
            tmp_path / "model.json",
            overwrite(folder / "a.txt", NEW),
            text("**Done.**"),
            text(
                "<script>alert(1)</script> <img src=x onerror=alert(1)> "
                "![x](http://127.0.0.1:9/x.png) $\\href{javascript:alert(1)}{x}$"
            ),
            call("notebook_read"),
            call("notebook_edit", operation="insert", source="print('added')", after="add"),
            text("Added."),
            call("run_python", code=DRAWS),
            text("Computed."),
            call("run_shell_command", command="rm -rf build"),
            text("Removed."),
            call("mcp_fake_echo", text="hello"),
            text("Echoed."),
            call("mcp_fake_echo", text="one"),
            call("mcp_fake_echo", text="two"),
            text("Twice."),
            call("run_shell_command", command="echo > started; sleep 1000"),
            call("mcp_fake_echo", text="three"),
            text("Again."),
        ),
    )
    pictures = os.environ.get("HASP_PICTURES", "")
    server = Server(tmp_path, folder)
    try:
        done = subprocess.run(
            [
                npm_peers.node(),
                str(Path(__file__).with_name("page.mjs")),
                str(npm_peers.folder("browser")),
                server.address + "notebooks/n.ipynb?token=thekey",
                pictures,
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    finally:
        server.close()
    assert done.returncode == 0 and done.stdout.endswith("played\n"), done.stdout + done.stderr
    assert (folder / "a.txt").read_text() == OLD.replace("line 3\n", "line three\n")
    assert not (folder / "build").exists()
    rules = list((tmp_path / "home" / ".gemini" / "policies").iterdir())
    assert len(rules) == 1 and "echo" in rules[0].read_text()
    document = nbformat.read(folder / "n.ipynb", as_version=4)
    nbformat.validate(document)
    assert [one.id for one in document.cells[:4]] == ["begin", "edit", "markup", "add"]
    assert document.cells[4].source == "print('added')"
