# SPDX-License-Identifier: Apache-2.0
"""`hasp serve a2a` for tests, with a model that a local server plays."""
import contextlib
import http.client
import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
sys.path[:0] = [str(TOP / one) for one in ("test", "test/headless", "script/lib")]

_spec = importlib.util.spec_from_file_location("headless_conftest", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)

TOKEN = "token-of-a-caller-0123456789abcdef"
V1 = {"A2A-Version": "1.0"}


class Served:
    """A server that runs: `url` of its card, `port`, `token`."""

    def __init__(self, process):
        self.process, self.token = process, TOKEN
        self.url = next(line.split("agent card: ", 1)[1].split()[0] for line in process.stderr if "agent card: " in line)
        self.origin = self.url.removesuffix("/.well-known/agent-card.json")
        self.port = int(self.origin.rsplit(":", 1)[1])

    def ask(self, method, path, body=None, token=TOKEN, **headers):
        """(status, JSON or text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data and data[:1] in b"{[\"" else data.decode()


def rules(world, caller="token", allow=("write_file",)):
    """Lets a caller's tasks use these tools, and asks about the rest of what changes something."""
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(exist_ok=True)
    (folder / "callers.toml").write_text(
        '[[rule]]\ntoolName = %s\ndecision = "allow"\npriority = 500\ncaller = "%s"\n' % (json.dumps(list(allow)), caller))


def asks(world, caller="token", tools=("write_file",)):
    """Has a caller's tasks ask about these tools."""
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(exist_ok=True)
    (folder / "asks.toml").write_text(
        '[[rule]]\ntoolName = %s\ndecision = "ask_user"\npriority = 500\ncaller = "%s"\n' % (json.dumps(list(tools)), caller))


@contextlib.contextmanager
def serve(world, model, *flags, confirms=True, env=None, **settings):
    """Runs a server in the world's project; `model`: of world.fake."""
    token = world.top / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    world.settings(hasp={"a2a": {"callers": {"token": {"confirms": confirms}}, **settings}})
    process = world.start(model, "serve", "a2a", "--token-file", token, *flags, env=env, text=True,
                          stdout=subprocess.DEVNULL)
    try:
        yield Served(process)
    finally:
        process.terminate()
        process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=120) is not None


# ---- what is sent


def message(words="Say hello.", **fields):
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": words}], **fields}


def rpc(served, method, params=None, id=1, **headers):
    """The answer of a JSON-RPC request, whose status must be 200."""
    status, answer = served.ask(
        "POST",
        "/",
        {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}},
        **headers,
    )
    assert status == 200 and answer["jsonrpc"] == "2.0" and answer["id"] == id, (status, answer)
    return answer


def raw(served, data, whole=True):
    """The bytes that come for some bytes."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=120) as peer:
        peer.sendall(data)
        if whole:
            peer.shutdown(socket.SHUT_WR)
        got = b""
        # What is not read to its end is reset.
        with contextlib.suppress(ConnectionResetError):
            while piece := peer.recv(65536):
                got += piece
    return got


def post(served, body, path="/", **headers):
    """(status, JSON) of bytes as a body."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    connection.request(
        "POST",
        path,
        body,
        {"Content-Type": "application/json", "Authorization": "Bearer " + TOKEN, **headers},
    )
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data) if data else None
