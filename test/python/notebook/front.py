# SPDX-License-Identifier: Apache-2.0
"""A kernel with a front end that a test plays: runs cells, reads outputs, clicks on widgets, types,
interrupts."""
import hashlib
import json
import os
import queue
import sys
from pathlib import Path

import hasp
import zmq
from jupyter_client.manager import KernelManager

SECONDS = 60


def call(name, **arguments):
    """A turn of the model that calls a tool."""
    return {"functionCall": {"name": name, "args": arguments}}


def overwrite(path, content):
    """A turn that writes over a file as it is."""
    return call(
        "write_file",
        file_path=path.name,
        content=content,
        base_content_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def text(words):
    """A turn of the model that answers."""
    return {"text": words}


def replay(path, *turns):
    """A recording of these turns, for `%hasp model replay:FILE`."""
    lines = [
        {
            "method": "generateContentStream",
            "response": [
                {
                    "candidates": [
                        {"content": {"role": "model", "parts": [turn]}, "finishReason": "STOP"}
                    ],
                    "usageMetadata": {"totalTokenCount": 12},
                }
            ],
        }
        for turn in turns
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def environment_of(folder):
    """For kernels and servers: settings, sessions and runtime files are in the test's folder."""
    return {
        **os.environ,
        "HOME": str(folder / "home"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "PATH": "/usr/bin:" + os.environ["PATH"],
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONPATH": str(Path(hasp.__file__).parents[1]),
    }


class Cell:
    """What one cell has shown so far, and how it ended."""

    def __init__(self):
        self.displays, self.order, self.stream, self.error, self.reply = {}, [], "", None, None

    def shown(self, message):
        content = message["content"]
        kind = message["msg_type"]
        if kind == "stream":
            self.stream += content["text"]
        elif kind == "error":
            self.error = (content["ename"], "\n".join(content["traceback"]))
        elif kind in ("display_data", "update_display_data"):
            name = content.get("transient", {}).get("display_id") or "plain-%d" % len(self.order)
            if name not in self.displays:
                self.order.append(name)
            self.displays[name] = content["data"]

    @property
    def html(self):
        return "\n".join(self.displays[name].get("text/html", "") for name in self.order)

    @property
    def plain(self):
        return "\n".join(self.displays[name].get("text/plain", "") for name in self.order)


class Died(Exception):
    """The kernel has ended while a cell ran."""


class Front:
    """One kernel.  `widgets` are those that are open: comm id to the state of the model."""

    def __init__(self, folder):
        self.manager = KernelManager(kernel_name="python3")
        # Not the kernel of whatever environment has registered itself.
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(cwd=str(folder), env=environment_of(folder.parent))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)
        self.pid = self.manager.provisioner.pid
        self.ended = os.pidfd_open(self.pid)
        self.widgets = {}
        self.folder = folder

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        os.close(self.ended)

    def run(self, code, on_message=lambda cell, message: None, stdin=None):
        """Runs a cell to its end.

        `on_message` sees each message, and may click; `stdin` answers text input, None: there is
        none.
        """
        cell = Cell()
        asked = self.client.execute(code, allow_stdin=stdin is not None, stop_on_error=False)
        iopub, typed = self.client.iopub_channel, self.client.stdin_channel
        poller = zmq.Poller()
        for channel in (iopub, typed):
            poller.register(channel.socket, zmq.POLLIN)
        poller.register(self.ended, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(1000 * SECONDS))
            assert ready, "the cell has not ended: " + cell.plain + cell.stream
            if self.ended in ready:
                raise Died
            if typed.socket in ready:
                self.client.input(
                    stdin(self.client.get_stdin_msg(timeout=SECONDS)["content"]["prompt"])
                )
            if iopub.socket not in ready:
                continue
            message = self.client.get_iopub_msg(timeout=SECONDS)
            self._follow(message)
            if message["parent_header"].get("msg_id") == asked:
                cell.shown(message)
                if (
                    message["msg_type"] == "status"
                    and message["content"]["execution_state"] == "idle"
                ):
                    break
            on_message(cell, message)
        while True:
            reply = self.client.get_shell_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == asked:
                cell.reply = reply["content"]
                return cell

    def _follow(self, message):
        content = message["content"]
        if message["msg_type"] == "comm_open":
            data = content["data"]
            self.widgets[content["comm_id"]] = data.get("state", data)
        elif message["msg_type"] == "comm_close":
            self.widgets.pop(content["comm_id"], None)

    def find(self, words):
        """The id of an open widget by its description."""
        for name, state in self.widgets.items():
            if state.get("description") == words:
                return name
        return None

    def send(self, kind, comm, data):
        message = self.client.session.msg(kind, {"comm_id": comm, "data": data})
        self.client.shell_channel.send(message)

    def click(self, words):
        self.send("comm_msg", self.find(words), {"method": "custom", "content": {"event": "click"}})

    def tick(self, words, value):
        self.send(
            "comm_msg", self.find(words), {"method": "backbone", "sync_data": {"value": value}}
        )

    def decline(self):
        """As a browser without widgets: it closes what was opened."""
        for name in list(self.widgets):
            self.send("comm_close", name, {})
        self.widgets.clear()
