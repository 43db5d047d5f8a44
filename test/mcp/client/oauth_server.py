# SPDX-License-Identifier: Apache-2.0
"""A server over HTTP and its authorization server, which refuse what is missing or wrong, and a browser that
follows the address it gets."""
import base64
import hashlib
import json
import queue
import secrets
import shlex
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, utils

TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {}}}
BROWSER = """#!/bin/sh
echo "$1" >>%s
exec curl -fsSL -m 120 -o /dev/null "$1"
"""


def read_jwt(text, key):
    """The header and claims of an assertion, if this public key has signed it."""
    parts = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in text.split(".")]
    header, claims = json.loads(parts[0]), json.loads(parts[1])
    assert header["typ"] == "JWT" and len(parts) == 3 and "=" not in text
    signed = text.rpartition(".")[0].encode()
    if header["alg"] == "RS256":
        key.verify(parts[2], signed, padding.PKCS1v15(), hashes.SHA256())
    else:
        assert header["alg"] == "ES256" and len(parts[2]) == 64
        halves = (int.from_bytes(parts[2][:32], "big"), int.from_bytes(parts[2][32:], "big"))
        key.verify(utils.encode_dss_signature(*halves), signed, ec.ECDSA(hashes.SHA256()))
    return header, claims


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value=None, **headers):
        body = json.dumps(value).encode() if value is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        world, (path, _, query) = self.server, self.path.partition("?")
        base = world.base
        world.asked.append(path)
        if path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/sse",
                    "/.well-known/oauth-protected-resource/ws"):
            self.reply(200, {"resource": base + path[len("/.well-known/oauth-protected-resource"):], "authorization_servers": [base + "/as"],
                             "scopes_supported": ["tools"], **world.resource})
        elif path == "/.well-known/oauth-authorization-server/as":
            self.reply(200, {"issuer": base + "/as", "authorization_endpoint": base + "/authorize",
                             "token_endpoint": base + "/token",
                             "registration_endpoint": base + "/register",
                             "authorization_response_iss_parameter_supported": True,
                             "code_challenge_methods_supported": ["S256"], **world.metadata})
        elif path == "/authorize":
            self.authorize(dict(urllib.parse.parse_qsl(query, strict_parsing=True)))
        elif path == "/sse":
            self.stream()
        elif path == "/ws":
            self.websocket()
        else:
            self.reply(404)

    def may(self):
        """Whether the request has a token that holds; else it is answered."""
        world, said = self.server, self.headers.get("Authorization", "")
        if said.removeprefix("Bearer ") in world.tokens:
            return True
        world.denied += 1
        if world.denied >= world.expected:
            world.crowd.set()
        self.reply(401, {"error": "invalid_token"}, WWW_Authenticate=world.challenge)
        return False

    def websocket(self):
        """Messages of less than 64 KiB, each in a frame (RFC 6455)."""
        if not self.may():
            return
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Protocol", "mcp"),
                            ("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        while (head := self.rfile.read(2)) and head[0] & 15 == 1:
            size = head[1] & 127
            size = int.from_bytes(self.rfile.read(2), "big") if size == 126 else size
            mask, data = self.rfile.read(4), self.rfile.read(size)
            message = json.loads(bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))
            if "id" in message:
                answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], **self.answered(message)}).encode()
                size = bytes([len(answer)]) if len(answer) < 126 else b"\x7e" + len(answer).to_bytes(2, "big")
                self.wfile.write(b"\x81" + size + answer)

    def stream(self):
        """The old transport: what is posted is answered here."""
        world = self.server
        if not self.may():
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /post\n\n")
        while (answer := world.answers.get()) is not None:
            self.wfile.write(b"data: " + json.dumps(answer).encode() + b"\n\n")
        self.close_connection = True

    def authorize(self, form):
        world = self.server
        assert sorted(form) == ["client_id", "code_challenge", "code_challenge_method", "redirect_uri",
                                "resource", "response_type", "scope", "state"], form
        assert form["client_id"] in world.clients and form["response_type"] == "code"
        assert form["code_challenge_method"] == "S256" and form["resource"] in (world.base + "/mcp", world.base + "/sse", world.base + "/ws")
        assert form["redirect_uri"] == world.clients[form["client_id"]]
        code = secrets.token_urlsafe()
        world.codes[code] = form
        back = {"code": code, "state": form["state"], "iss": world.base + "/as", **world.back}
        self.reply(302, Location=form["redirect_uri"] + "?" + urllib.parse.urlencode(back))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(self.path)
        if self.path == "/register":
            wish = json.loads(body)
            assert wish["application_type"] == "native", wish
            name = "client%d" % len(self.server.clients)
            self.server.clients[name] = wish["redirect_uris"][0]
            self.reply(201, {"client_id": name, "token_endpoint_auth_method": "client_secret_post",
                             "client_secret": "secret of " + name, **self.server.registration})
        elif self.path == "/token":
            self.token(dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True)))
        else:
            self.message(json.loads(body))

    def token(self, form):
        world = self.server
        if world.registration:
            world.basic.append(self.headers.get("Authorization"))
            return self.reply(401, {"error": "invalid_client"})
        if world.public_key:
            self.assertion(form)
        else:
            assert form["client_secret"] == "secret of " + form["client_id"]
        assert form["resource"] in (world.base + "/mcp", world.base + "/sse", world.base + "/ws")
        if form["grant_type"] == "authorization_code":
            asked = world.codes.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
            assert form["redirect_uri"] == asked["redirect_uri"]
            assert form["client_id"] == asked["client_id"]
        elif form["grant_type"] == "client_credentials":
            assert world.public_key
            world.tokens = {secrets.token_urlsafe()}
            return self.reply(200, {"access_token": max(world.tokens), "token_type": "Bearer", "expires_in": 3600})
        else:
            world.crowd.wait()
            if form["grant_type"] != "refresh_token" or form["refresh_token"] not in world.refreshes:
                world.reused += 1
                return self.reply(400, {"error": "invalid_grant"})
        world.refreshes = {secrets.token_urlsafe()}
        world.tokens = {secrets.token_urlsafe()}
        return self.reply(200, {"access_token": max(world.tokens) if world.granted is None else world.granted,
                                "token_type": "Bearer", "refresh_token": max(world.refreshes), "expires_in": 3600})

    def assertion(self, form):
        """By which a client says who it is (RFC 7523)."""
        world = self.server
        assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        assert "client_secret" not in form and "Authorization" not in self.headers
        header, claims = read_jwt(form["client_assertion"], world.public_key)
        assert claims["iss"] == claims["sub"] == form["client_id"] == "the client"
        assert claims["aud"] == world.base + "/as" and claims["jti"] not in world.assertions
        assert claims["iat"] <= time.time() + 1 < claims["exp"] <= time.time() + 300
        world.assertions[claims["jti"]] = header

    def message(self, message):
        world = self.server
        if not self.may():
            return None
        if "id" not in message:
            return self.reply(202)
        answer = {"jsonrpc": "2.0", "id": message["id"], **self.answered(message)}
        if self.path != "/post":
            return self.reply(200, answer)
        world.answers.put(answer)
        return self.reply(202)

    @staticmethod
    def answered(message):
        if message["method"] == "initialize":
            return {"result": {"protocolVersion": message["params"]["protocolVersion"],
                               "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "1"}}}
        if message["method"] == "tools/list":
            return {"result": {"tools": [TOOL]}}
        if message["method"] == "tools/call":
            return {"result": {"content": [{"type": "text", "text": "the far echo"}]}}
        return {"error": {"code": -32601, "message": "There is no such method."}}


class Server(ThreadingHTTPServer):
    """Both servers; what they refuse, and say otherwise, is set by tests."""
    daemon_threads = True
    handler = Handler

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.handler)
        self.base = "http://127.0.0.1:%d" % self.server_port
        self.asked, self.clients, self.codes = [], {}, {}
        self.tokens, self.refreshes = set(), set()
        self.basic, self.answers = [], queue.Queue()
        self.public_key, self.assertions, self.challenge = None, {}, "Bearer"
        self.granted = None  # a token in place of the one that would be given
        self.reused, self.denied, self.expected, self.crowd = 0, 0, 0, threading.Event()
        self.crowd.set()
        self.resource, self.metadata, self.back, self.registration = {}, {}, {}, {}

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.answers.put(None)
        self.shutdown()
        self.server_close()


def browser_in(folder):
    """A program that follows the address it gets, and writes it down."""
    path, log = folder / "browser", folder / "browser.log"
    path.write_text(BROWSER % shlex.quote(str(log)))
    path.chmod(0o755)
    return str(path), log
