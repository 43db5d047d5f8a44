# SPDX-License-Identifier: Apache-2.0
"""Who may ask the A2A server: keys, tokens of an issuer, certificates; notifications; the card's
signature. The issuer, the targets and the verifier are real; python3-cryptography is the other side
of each signature."""

import hashlib
import http.client
import json
import os
import ssl
import subprocess
import threading
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from issuer import DEADLINE, Issuer, Key, Server, b64, bearer, sha, un64

PROBE = os.environ["CALLER_PROBE"]


class Probe:
    def __init__(self, settings, *pem, context=None):
        self.process = subprocess.Popen(
            [PROBE, json.dumps(settings), *map(str, pem)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.port, self.context = int(line), context

    def ask(self, path, body=None, **headers):
        kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        extra = {"context": self.context} if self.context else {}
        connection = kind("127.0.0.1", self.port, timeout=DEADLINE, **extra)
        connection.request(
            "POST" if body is not None else "GET",
            path,
            json.dumps(body) if body is not None else None,
            {name.replace("_", "-"): value for name, value in headers.items()},
        )
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text), answer.headers.get("WWW-Authenticate")

    def who(self, **headers):
        status, value, challenge = self.ask("/who", **headers)
        return value["caller"] if status == 200 else (status, value["error"], challenge)

    def close(self):
        self.process.stdin.close()
        said = self.process.stderr.read()
        assert self.process.wait(DEADLINE) == 0, said
        return said


@pytest.fixture
def probes():
    made = []

    def make(*args, **kwargs):
        made.append(Probe(*args, **kwargs))
        return made[-1]

    yield make
    for probe in made:
        if not probe.process.stdin.closed:
            probe.close()


@pytest.fixture
def servers():
    made = []

    def make(handle):
        made.append(Server(handle))
        return made[-1]

    yield make
    for server in made:
        server.close()


def test_keys_and_tokens_are_compared_as_hashes(probes):
    probe = probes(
        {
            "token": "start",
            "callers": {
                "a": {"key": sha("key-a")},
                "b": {"bearer": sha("token-b"), "confirms": True},
            },
        }
    )
    assert probe.who(X_API_Key="key-a") == "a"
    assert probe.who(**bearer("token-b")) == "b"
    assert probe.who(**bearer("start")) == "token"
    # A key is no token, a token no key, and a hash is neither.
    for headers in (
        bearer("key-a"),
        {"X_API_Key": "token-b"},
        {"X_API_Key": sha("key-a")},
        bearer(""),
        {"X_API_Key": ""},
        {"Authorization": "Basic a2V5"},
        {**bearer("token-b"), "X_API_Key": "key-a"},
        {},
    ):
        status, _, challenge = probe.who(**headers)
        assert status == 401 and challenge.startswith("Bearer realm="), headers
    assert "error" not in probe.who()[2]


def test_without_a_token_a_wrong_proof_is_still_refused(probes):
    probe = probes({"callers": {"a": {"key": sha("key-a")}, "token": {"confirms": True}}})
    assert probe.ask("/who")[1] == {"caller": "token", "confirms": True}
    assert probe.who(X_API_Key="key-a") == "a"
    assert probe.who(X_API_Key="other")[0] == 401
    assert probe.who(**bearer("other"))[0] == 401


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"a": {}}, "needs one of"),
        ({"a": {"key": "abc"}}, "a.key must be"),
        ({"a": {"key": sha("x"), "bearer": sha("y")}}, "more than one"),
        ({"a": {"oauth": {"issuer": "https://x"}}}, "needs issuer and audience"),
        ({"a": {"oauth": {"issuer": "http://x.example", "audience": "h"}}}, "https"),
        (
            {"a": {"oauth": {"issuer": "https://x", "audience": "h", "scope": ["x"]}}},
            "oauth.scope is not",
        ),
        ({"a": {"certificate": {}}}, "subject or fingerprint"),
        ({"a": {"key": sha("x"), "workspaces": ["src"]}}, "absolute"),
        ({"a": {"key": sha("x"), "confirm": True}}, "a.confirm is not known"),
        ({"token": {"key": sha("x")}}, "--token-file"),
        ({"a": []}, ""),
    ],
)
def test_a_setting_that_is_wrong_serves_nothing(wrong, says):
    done = subprocess.run(
        [PROBE, json.dumps({"callers": wrong})],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE,
    )
    assert done.returncode == 1 and says in done.stderr


def test_tokens_of_an_issuer(probes, servers):
    issuer = Issuer(servers)
    probe = probes(
        {
            "token": "t",
            "callers": {
                "one": {"oauth": issuer.oauth(subject="agent-1", scopes=["a2a.send"])},
                "two": {"oauth": issuer.oauth(client="client-2")},
            },
        }
    )
    for key in issuer.keys:
        assert probe.who(**bearer(key.token(issuer.claims(scope="x a2a.send y")))) == "one"
        assert probe.who(**bearer(key.token(issuer.claims(scp=["a2a.send"])))) == "one"
        assert probe.who(**bearer(key.token(issuer.claims(sub="s", client_id="client-2")))) == "two"
        assert (
            probe.who(
                **bearer(key.token(issuer.claims(aud=["x", "hasp"], sub="s", azp="client-2")))
            )
            == "two"
        )
    assert len(issuer.fetches()) == 1
    key = issuer.keys[0]
    status, _, challenge = probe.who(**bearer(key.token(issuer.claims(scope="a2a.sendx"))))
    assert status == 403 and 'error="insufficient_scope"' in challenge
    assert 'scope="a2a.send"' in challenge
    status, _, challenge = probe.who(**bearer(key.token(issuer.claims(sub="stranger"))))
    assert status == 401 and 'error="invalid_token"' in challenge
    assert 'resource_metadata="http://here/.well-known/oauth-protected-resource"' in challenge
    assert probe.ask("/resource")[1] == {
        "resource": "http://here",
        "authorization_servers": [issuer.url],
        "scopes_supported": ["a2a.send"],
        "bearer_methods_supported": ["header"],
    }


def test_attacks_on_tokens(probes, servers):
    issuer = Issuer(servers)
    probe = probes({"token": "t", "callers": {"one": {"oauth": issuer.oauth()}}})
    now = int(time.time())
    rs, es, ed = issuer.keys
    good = rs.token(issuer.claims())
    assert probe.who(**bearer(good)) == "one"
    stranger = Key("RS256", "r")
    public = json.dumps(rs.jwk()).encode()
    head, body, signature = good.split(".")

    def hmac(secret, alg="HS256"):
        import hmac as mac

        text = b64(json.dumps({"alg": alg, "kid": "r"}).encode()) + "." + body
        return text + "." + b64(mac.new(secret, text.encode(), "sha256").digest())

    pem = rs.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    none = b64(b'{"alg":"none","kid":"r"}') + "." + body
    bad = {
        "expired": rs.token(issuer.claims(exp=now - 120)),
        "without an end": rs.token({k: v for k, v in issuer.claims().items() if k != "exp"}),
        "end is text": rs.token(issuer.claims(exp=str(now + 300))),
        "not yet": rs.token(issuer.claims(nbf=now + 300)),
        "from the future": rs.token(issuer.claims(iat=now + 3600)),
        "other audience": rs.token(issuer.claims(aud="other")),
        "no audience": rs.token({k: v for k, v in issuer.claims().items() if k != "aud"}),
        "other issuer": rs.token(issuer.claims(iss="https://evil.example")),
        "issuer with a slash": rs.token(issuer.claims(iss=issuer.url + "/")),
        "none": none + ".",
        "none with a signature": none + "." + signature,
        "None": b64(b'{"alg":"None","kid":"r"}') + "." + body + "." + signature,
        "public key as a secret": hmac(pem),
        "public JWK as a secret": hmac(public),
        "RS256 in a header of ES256": b64(b'{"alg":"ES256","kid":"r"}')
        + "."
        + body
        + "."
        + signature,
        "key of another kind": rs.token(issuer.claims(), kid="e"),
        "stranger's key": stranger.token(issuer.claims()),
        "stranger's key in the header": stranger.token(issuer.claims(), jwk=stranger.jwk()),
        "stranger's address": stranger.token(
            issuer.claims(), jku="http://127.0.0.1:1/jwks", kid="z"
        ),
        "critical": rs.token(issuer.claims(), crit=["b64"], b64=False),
        "other claims": head
        + "."
        + b64(json.dumps(issuer.claims(sub="root")).encode())
        + "."
        + signature,
        "cut signature": good[:-8],
        "zeros": ".".join(es.token(issuer.claims()).split(".")[:2]) + "." + b64(bytes(64)),
        "name twice": b64(b'{"alg":"RS256","alg":"none","kid":"r"}') + "." + body + "." + signature,
        "four parts": good + ".x",
        "long": good + "A" * 20000,
    }
    for name, token in bad.items():
        if name == "long":
            continue  # the head's own limit refuses it
        answer = probe.who(**bearer(token))
        assert answer[0] == 401, (name, answer)
        assert token not in answer[1] and 'error="invalid_token"' in answer[2], name
    assert not [
        path
        for path, _, _ in issuer.server.requests
        if path not in ("/jwks", "/.well-known/oauth-authorization-server/tenant")
    ]
    assert len(issuer.fetches()) <= 2


def test_new_keys_are_fetched_but_not_for_each_token(probes, servers):
    issuer = Issuer(servers)
    probe = probes(
        {
            "token": "t",
            "callers": {"one": {"oauth": issuer.oauth(jwks=issuer.server.url + "/jwks")}},
        }
    )
    unknown = [Key("ES256", f"k{i}") for i in range(20)]
    answers = [probe.who(**bearer(key.token(issuer.claims()))) for key in unknown]
    assert all(answer[0] == 401 for answer in answers)
    assert len(issuer.fetches()) == 1


def test_an_issuer_that_hangs_keeps_no_one_else_waiting(probes, servers):
    held = threading.Event()
    issuer = Issuer(servers)
    answers = issuer.answer

    def slow(*args):
        held.wait(DEADLINE)
        return answers(*args)

    hanging = servers(slow)
    probe = probes(
        {
            "token": "t",
            "callers": {
                "slow": {"oauth": issuer.oauth(jwks=hanging.url + "/jwks")},
                "a": {"key": sha("k")},
            },
        }
    )
    found = []
    waiting = threading.Thread(
        target=lambda: found.append(probe.who(**bearer(issuer.keys[0].token(issuer.claims()))))
    )
    waiting.start()
    hanging.wait_for(1)
    assert probe.who(X_API_Key="k") == "a" and not found
    held.set()
    waiting.join(DEADLINE)
    assert found == ["slow"]


def make_certificates(folder):
    def run(*argv):
        subprocess.run(["openssl", *argv], check=True, cwd=folder, capture_output=True)

    def signed(name, subject, authority, more):
        run(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            subject,
        )
        (folder / "ext").write_text(more)
        run(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            f"{authority}.pem",
            "-CAkey",
            f"{authority}.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-out",
            f"{name}.pem",
            "-extfile",
            "ext",
        )

    for name in ("authority", "other"):
        run(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.pem",
            "-subj",
            f"/CN={name}",
            "-days",
            "2",
        )
    signed("server", "/CN=127.0.0.1", "authority", "subjectAltName=IP:127.0.0.1")
    signed("agent", "/O=Example/CN=agent", "authority", "extendedKeyUsage=clientAuth")
    signed("printed", "/CN=printed", "authority", "extendedKeyUsage=clientAuth")
    signed("forged", "/O=Example/CN=agent", "other", "extendedKeyUsage=clientAuth")
    signed("web", "/O=Example/CN=agent", "authority", "extendedKeyUsage=serverAuth")


def test_certificates_of_clients(probes, tmp_path):
    make_certificates(tmp_path)
    der = ssl.PEM_cert_to_DER_cert((tmp_path / "printed.pem").read_text())
    settings = {
        "token": "t",
        "callers": {
            "agent": {"certificate": {"subject": "CN=agent,O=Example"}},
            "printed": {"certificate": {"fingerprint": hashlib.sha256(der).hexdigest()}},
        },
    }
    probe = probes(
        settings,
        tmp_path / "server.pem",
        tmp_path / "server.key",
        tmp_path / "authority.pem",
        context=ssl.create_default_context(cafile=tmp_path / "authority.pem"),
    )
    expected = {None: 401, "agent": "agent", "printed": "printed", "forged": 401, "web": 401}
    for name, caller in expected.items():
        probe.context = ssl.create_default_context(cafile=tmp_path / "authority.pem")
        if name:
            probe.context.load_cert_chain(tmp_path / f"{name}.pem", tmp_path / f"{name}.key")
        found = probe.who()
        assert (found if isinstance(found, str) else found[0]) == caller, name
    assert probe.who(**bearer("t")) == "token"


def test_the_card_says_how_to_prove_it(probes, servers):
    issuer = Issuer(servers)
    probe = probes(
        {
            "token": "t",
            "callers": {
                "a": {"key": sha("k")},
                "b": {"oauth": issuer.oauth()},
                "c": {"certificate": {"subject": "x"}},
            },
        }
    )
    card = probe.ask("/schemes")[1]
    assert card["securitySchemes"] == {
        "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        "apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        "mtls": {"mtlsSecurityScheme": {}},
        issuer.url: {
            "openIdConnectSecurityScheme": {
                "openIdConnectUrl": issuer.url + "/.well-known/openid-configuration"
            }
        },
    }
    assert [list(row["schemes"]) for row in card["securityRequirements"]] == [
        ["bearer"],
        ["apiKey"],
        ["mtls"],
        [issuer.url],
    ]


# ---- notifications

EVENT = {
    "statusUpdate": {
        "taskId": "task-1",
        "contextId": "c",
        "status": {"state": "TASK_STATE_WORKING"},
    }
}


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://a.localhost/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://10.0.0.1/",
        "https://192.168.1.1:8443/",
        "https://user:pass@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com\\@127.0.0.1/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https:///x",
        "",
        "https://example.com/\r\nX: y",
        "https://named.example@localhost/",
        "https://" + "a" * 3000,
        "http://localhost.evil.example/",
        "gopher://127.0.0.1:6379/_x",
    ],
)
def test_addresses_that_are_refused(probes, url):
    probe = probes({"token": "t", "allow": ["named.example"]})
    assert probe.ask("/check", {"url": url})[0] == 400


def test_addresses_that_are_kept_without_a_look_at_their_names(probes):
    probe = probes({"token": "t", "allow": ["localhost", "127.0.0.1:9"]})
    for url in (
        "https://example.com/hook",
        "https://no-such-name.invalid/",
        "http://localhost:1234/x",
        "http://127.0.0.1:9/",
        "https://8.8.8.8/",
    ):
        assert probe.ask("/check", {"url": url})[0] == 200, url
    assert probe.ask("/check", {"url": "http://127.0.0.1:8/"})[0] == 400
    for more in (
        {"token": "a\nb"},
        {"token": "x" * 5000},
        {"authentication": {"scheme": "Bea rer", "credentials": "x"}},
        {"authentication": {"credentials": "x"}},
        {"authentication": {"scheme": "Bearer", "credentials": "x\r\nHost: y"}},
    ):
        assert probe.ask("/check", {"url": "https://example.com/", **more})[0] == 400, more


def test_a_name_that_leads_home_is_refused_when_it_is_connected_to(probes, servers):
    """What the name is at delivery counts, not what it was when it was kept."""
    target = servers(lambda *_: (200, {}))
    probe = probes({"token": "t"})
    with open("/etc/hosts", encoding="utf-8") as hosts:
        own = os.uname().nodename
        if not any(own in line.split()[1:] for line in hosts):
            own = "ip6-localhost"
    url = f"https://{own}:{target.port}/secret-path"
    assert probe.ask("/check", {"url": url})[0] == 200
    probe.ask("/send", {"configs": {"x": {"url": url}}, "response": EVENT})
    said = probe.close()
    assert not target.requests
    assert "secret-path" not in said


def test_a_notification_arrives_with_what_proves_it(probes, servers):
    target = servers(lambda *_: (200, {}))
    probe = probes({"token": "t", "allow": ["127.0.0.1"]})
    probe.ask(
        "/send",
        {
            "response": EVENT,
            "configs": {
                "x": {
                    "url": target.url + "/hook",
                    "token": "note",
                    "authentication": {"scheme": "Bearer", "credentials": "s3cret"},
                }
            },
        },
    )
    path, headers, body = target.wait_for(1)[0]
    assert path == "/hook" and json.loads(body) == EVENT
    assert headers["X-A2A-Notification-Token"] == "note"
    assert headers["Authorization"] == "Bearer s3cret"
    assert headers["Content-Type"] == "application/json"


def test_order_holds_through_failures_and_redirects_are_not_followed(probes, servers):
    failures = [503, 429]
    seen = []

    def handle(method, path, headers, body):
        if failures:
            return failures.pop(), {}
        seen.append(json.loads(body)["n"])
        return 200, {}

    target = servers(handle)
    away = servers(lambda *_: (307, {}))
    probe = probes({"token": "t", "allow": ["127.0.0.1"]})
    for n in range(5):
        probe.ask("/send", {"response": {"n": n}, "configs": {"x": {"url": target.url + "/"}}})
    probe.ask("/send", {"response": {"n": 9}, "configs": {"y": {"url": away.url + "/"}}})
    target.wait_for(7)
    away.wait_for(1)
    said = probe.close()
    assert seen == [0, 1, 2, 3, 4]
    assert len(away.requests) == 1 and "given up" in said


def test_a_target_that_hangs_delays_no_other(probes, servers):
    held = threading.Event()
    hanging = servers(lambda *_: (held.wait(DEADLINE) and 200 or 200, {}))
    target = servers(lambda *_: (200, {}))
    probe = probes({"token": "t", "allow": ["127.0.0.1"]})
    probe.ask(
        "/send",
        {
            "response": EVENT,
            "configs": {"h": {"url": hanging.url + "/"}, "x": {"url": target.url + "/"}},
        },
    )
    hanging.wait_for(1)
    target.wait_for(1)
    for _ in range(3):
        probe.ask(
            "/send",
            {
                "response": EVENT,
                "configs": {"h": {"url": hanging.url + "/"}, "x": {"url": target.url + "/"}},
            },
        )
    target.wait_for(4)
    assert len(hanging.requests) == 1
    held.set()
    hanging.wait_for(4)


# ---- the card's signature


def test_the_card_is_signed(probes, tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    file = tmp_path / "card.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    probe = probes({"token": "t", "cardKey": str(file)})
    card = {
        "name": 'a"\\/\b\n\x01\u007f\u20ac',
        "\ue000": 1,
        "\U0001f600": True,
        "b": [None, False, -7],
        "": {"z": {}, "a": []},
        "signatures": [{"old": 1}],
    }
    status, signed, _ = probe.ask("/card", card)
    assert status == 200
    [signature] = signed.pop("signatures")
    # Sorted by UTF-16, as RFC 8785 has it: U+1F600 stands before U+E000.
    canonical = (
        '{"":{"a":[],"z":{}},"b":[null,false,-7],'
        '"name":"a\\"\\\\/\\b\\n\\u0001\u007f\u20ac","\U0001f600":true,"\ue000":1}'
    )
    assert signed == json.loads(canonical)
    text = signature["protected"] + "." + b64(canonical.encode())
    raw = un64(signature["signature"])
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    [jwk] = probe.ask("/keys")[1]["keys"]
    public = ec.EllipticCurvePublicNumbers(
        int.from_bytes(un64(jwk["x"]), "big"), int.from_bytes(un64(jwk["y"]), "big"), ec.SECP256R1()
    ).public_key()
    public.verify(der, text.encode(), ec.ECDSA(hashes.SHA256()))
    header = json.loads(un64(signature["protected"]))
    thumb = json.dumps(
        {name: jwk[name] for name in ("crv", "kty", "x", "y")},
        separators=(",", ":"),
        sort_keys=True,
    )
    assert header == {
        "alg": "ES256",
        "typ": "JOSE",
        "jku": "http://here/.well-known/jwks.json",
        "kid": b64(hashlib.sha256(thumb.encode()).digest()),
    }
    assert jwk["kid"] == header["kid"] and "d" not in jwk
    assert probe.ask("/card", {"x": 1.5})[0] == 400
