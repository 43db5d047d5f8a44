# SPDX-License-Identifier: Apache-2.0
"""An OAuth issuer for tests, with keys of its own; python3-cryptography signs."""

import base64
import hashlib
import http.server
import json
import threading
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

DEADLINE = 60


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def un64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(value, size):
    return b64(value.to_bytes(size, "big"))


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Key:
    def __init__(self, alg, kid):
        self.alg, self.kid = alg, kid
        self.key = {
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[alg]()

    def jwk(self):
        public = self.key.public_key()
        if self.alg == "RS256":
            numbers = public.public_numbers()
            members = {"kty": "RSA", "n": number(numbers.n, 256), "e": number(numbers.e, 3)}
        elif self.alg == "ES256":
            numbers = public.public_numbers()
            members = {
                "kty": "EC",
                "crv": "P-256",
                "x": number(numbers.x, 32),
                "y": number(numbers.y, 32),
            }
        else:
            raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            members = {"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}
        return {**members, "kid": self.kid, "use": "sig"}

    def sign(self, data):
        if self.alg == "RS256":
            return self.key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        if self.alg == "EdDSA":
            return self.key.sign(data)
        r, s = decode_dss_signature(self.key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def token(self, claims, **header):
        head = {"alg": self.alg, "typ": "at+jwt", "kid": self.kid, **header}
        text = b64(json.dumps(head).encode()) + "." + b64(json.dumps(claims).encode())
        return text + "." + b64(self.sign(text.encode()))


class Server:
    """Answers by `handle(method, path, headers, body)` -> (status, object); `requests` is what came."""

    def __init__(self, handle):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with outer.changed:
                    outer.requests.append((self.path, dict(self.headers), body))
                    outer.changed.notify_all()
                status, value = handle(self.command, self.path, self.headers, body)
                text = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do

            def log_message(self, *args):
                pass

        self.changed = threading.Condition()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(
                lambda: len(self.requests) >= count, DEADLINE
            ), self.requests
            return self.requests[:count]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Issuer:
    def __init__(self, servers, discovered=False):
        self.keys = [Key("RS256", "r"), Key("ES256", "e"), Key("EdDSA", "d")]
        self.server = servers(self.answer)
        self.url = self.server.url + "/tenant"

    def answer(self, method, path, headers, body):
        if path == "/jwks":
            return 200, {"keys": [key.jwk() for key in self.keys]}
        if path == "/.well-known/oauth-authorization-server/tenant":
            return 200, {"issuer": self.url, "jwks_uri": self.server.url + "/jwks"}
        return 404, {}

    def oauth(self, **more):
        return {"issuer": self.url, "audience": "hasp", **more}

    def claims(self, **more):
        now = int(time.time())
        return {
            "iss": self.url,
            "aud": "hasp",
            "sub": "agent-1",
            "exp": now + 300,
            "iat": now,
            **more,
        }

    def fetches(self):
        return [path for path, _, _ in self.server.requests if path == "/jwks"]


def bearer(token):
    return {"Authorization": "Bearer " + token}
