# SPDX-License-Identifier: Apache-2.0
"""An agent that is strict about what it gets, and says whatever a test wants; also the authorization server before it,
and Google's token endpoint (test/mcp/client/)."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mcp" / "client"))

import google_server  # noqa: E402
import oauth_server  # noqa: E402


def check(message):
    """A request of A2A 1.0 over JSON-RPC, as specification/a2a.proto has it."""
    assert set(message) == {"jsonrpc", "id", "method", "params"} and message["jsonrpc"] == "2.0", message
    params = message["params"]
    if message["method"] in ("SendMessage", "SendStreamingMessage"):
        said = params["message"]
        assert set(params) <= {"message", "tenant", "configuration", "metadata"}, params
        assert set(said) <= {"messageId", "contextId", "taskId", "role", "parts"}, said
        assert said["role"] == "ROLE_USER" and [list(part) for part in said["parts"]] == [["text"]], said
    else:
        assert message["method"] in ("GetTask", "CancelTask", "SubscribeToTask") and set(params) <= {"id", "tenant"}, message


class Handler(google_server.Handler):
    def do_GET(self):
        far = self.server
        if far.rest and self.path.startswith("/rpc/"):
            return self.message(None)
        if self.path not in ("/mcp", "/.well-known/agent-card.json"):
            return super().do_GET()
        far.got.append((self.path, dict(self.headers), None))
        if far.protected and not self.may():
            return None
        if far.moved:
            return self.reply(302, Location=far.moved)
        return self.send(200, "application/json", far.card if isinstance(far.card, bytes) else json.dumps(
            far.card).encode())

    def token(self, form):
        if form["grant_type"] == "authorization_code":
            return oauth_server.Handler.token(self, form)
        return super().token(form)

    def send(self, status, type, body):
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def message(self, message):
        far = self.server
        far.got.append((self.path, dict(self.headers), message))
        if far.protected and not self.may():
            return None
        if far.rest:
            assert message is None or set(message) <= {"message", "configuration"}, message
            return self.send(*(far.says.pop(0) if far.says else (404, "application/json", b'{"error": {"code": 404}}')))
        check(message)
        assert self.headers["A2A-Version"] == "1.0"
        answers = far.says.pop(0) if far.says else [{"message": {
            "messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "MANGO"}]}}]
        if isinstance(answers, tuple):
            return self.send(*answers)
        events = [one if isinstance(one, bytes) else json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], **(one if "error" in one else {"result": one})}).encode()
            for one in answers]
        if message["method"] not in ("SendStreamingMessage", "SubscribeToTask"):
            return self.send(200, "application/json", events[0])
        stream = b"".join(b"data: " + one + b"\n\n" for one in events)
        if not far.open:
            return self.send(200, "text/event-stream", stream)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(stream)
        return far.open.wait(600)


class Server(google_server.Server):
    handler = Handler

    def __init__(self):
        super().__init__()
        self.url, self.got, self.says = self.base + "/.well-known/agent-card.json", [], []
        self.protected, self.moved, self.rest, self.open = False, None, False, None
        self.card = self.card_of(self.base + "/rpc")

    @staticmethod
    def card_of(url, **more):
        return {"name": "Far", "description": "Is far.", "version": "1", "capabilities": {"streaming": True},
                "defaultInputModes": ["text"], "defaultOutputModes": ["text"], "skills": [],
                "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], **more}

    def sent(self, name):
        """The field of each request."""
        return [{key.lower(): value for key, value in headers.items()}.get(name) for _, headers, _ in self.got]

    def methods(self):
        return [message["method"] for _, _, message in self.got if message]
