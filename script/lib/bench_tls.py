# SPDX-License-Identifier: Apache-2.0
"""https for the models of script/bench: an authority and a certificate of its own, and a server in
front of a model's that speaks HTTP/2 (Python's ssl is enough for HTTP/1.1).
"""

import ssl
import subprocess
from pathlib import Path

import npm_peers

FRONT = Path(__file__).with_name("http2_front.mjs")


def openssl(folder, *argv):
    done = subprocess.run(["openssl", *argv], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("bench: openssl %s: %s" % (argv[0], done.stderr[-400:]))
    return done.stdout.strip()


class Certificates:
    """`authority`: a file; `hashed`: a folder with it as systems have them; `chain` and `key`: the
    server's, for 127.0.0.1."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.authority, self.hashed = self.folder / "authority.pem", self.folder / "hashed"
        self.chain, self.key = self.folder / "server.pem", self.folder / "server.key"
        self.hashed.mkdir()
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl(folder, "req", "-x509", *key, "-keyout", "authority.key", "-out", self.authority,
                "-days", "2", "-subj", "/CN=hasp bench authority")
        openssl(folder, "req", *key, "-keyout", self.key, "-out", "server.csr", "-subj",
                "/CN=127.0.0.1")
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", self.authority, "-CAkey",
                "authority.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out",
                self.chain)
        name = openssl(folder, "x509", "-in", self.authority, "-noout", "-hash")
        (self.hashed / (name + ".0")).symlink_to(self.authority)

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain, self.key)
        context.set_alpn_protocols(["http/1.1"])
        return context


class Http2Front:
    """Speaks HTTP/2 alone, and hands each request to the server on `port`."""

    def __init__(self, certificates, port):
        self.process = subprocess.Popen(
            [str(npm_peers.node()), str(FRONT), str(certificates.key), str(certificates.chain),
             str(port)], stdout=subprocess.PIPE, text=True)
        self.url = "https://127.0.0.1:%d" % int(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
