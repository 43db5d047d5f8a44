# SPDX-License-Identifier: Apache-2.0
"""Logins at servers over HTTP, by hasp mcp auth: how they go, where they end, what is kept of them."""
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading

import oauth_server
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

pytestmark = pytest.mark.rows_in_turn(3)


@pytest.fixture
def far(world, tmp_path):
    with oauth_server.Server() as server:
        world.use({"far": {"httpUrl": server.base + "/mcp"}})
        world.browser, _ = oauth_server.browser_in(tmp_path)
        yield server


def auth(world, *more):
    return world.command("mcp", "auth", "far", *more, env={"BROWSER": world.browser})


def secrets_of(far):
    return far.tokens | far.refreshes | {"secret of " + name for name in far.clients}


def kept(world, name="hasp-mcp-tokens.json"):
    return world.home / ".gemini" / name


def test_a_login_is_kept_and_forgotten(world, far):
    done = auth(world)
    assert done.code == 0, done.err
    assert not any(one in done.text + done.err for one in secrets_of(far))
    for name in "hasp-mcp-tokens.json", "hasp-mcp-tokens.key":
        assert kept(world, name).stat().st_mode & 0o777 == 0o600
    sealed = kept(world).read_text()
    far.asked.clear()
    assert world.command("mcp", "test", "far").code == 0
    assert "/authorize" not in far.asked and "/token" not in far.asked
    assert kept(world).read_text() == sealed
    assert auth(world, "--logout").code == 0
    assert kept(world).read_text() != sealed
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and "hasp mcp auth far" in done.err


def test_a_login_that_cannot_be_kept_is_told(world, far):
    kept(world).mkdir(parents=True)
    done = auth(world)
    assert "The login at the MCP server \"far\" is not kept" in done.err


def test_no_file_of_the_home_has_a_secret(world, far):
    assert auth(world).code == 0
    found = [file for file in world.home.rglob("*") if file.is_file()]
    assert kept(world) in found
    for file in found:
        assert not any(one.encode() in file.read_bytes() for one in secrets_of(far)), file


def node(script, *args):
    done = subprocess.run(["node", "-e", script, *args], capture_output=True, check=True, timeout=120)
    return done.stdout.decode()


def test_what_is_kept_is_aes_256_gcm_with_the_key_beside_it(world, far):
    """Opened by another implementation."""
    assert auth(world).code == 0
    plain = node("""
        const crypto = require('crypto'), fs = require('fs'), [, file, key] = process.argv;
        const said = JSON.parse(fs.readFileSync(file)), [nonce, tag, data] = said.sealed.split(':');
        const open = crypto.createDecipheriv(said.cipher, fs.readFileSync(key), Buffer.from(nonce, 'hex'));
        open.setAuthTag(Buffer.from(tag, 'hex'));
        process.stdout.write(open.update(data, 'hex', 'utf8') + open.final('utf8'));
    """, str(kept(world)), str(kept(world, "hasp-mcp-tokens.key")))
    (token,) = json.loads(plain).values()
    assert {token["access_token"]} == far.tokens and {token["refresh_token"]} == far.refreshes


def test_a_file_from_before_encryption_is_encrypted(world, far):
    far.tokens.add("of-before")
    name = hashlib.sha256(("far\n" + far.base + "/mcp").encode()).hexdigest()
    token = {"access_token": "of-before", "issuer": far.base + "/as"}
    kept(world).write_text(json.dumps({name: token, "0" * 64: {"access_token": "of-another"}}))
    for _ in range(2):
        assert world.command("mcp", "test", "far").code == 0
        assert "of-before" not in kept(world).read_text() and "of-another" not in kept(world).read_text()
    far.tokens.add("of-another")
    assert world.command("mcp", "test", "far").code == 0
    assert auth(world, "--logout").code == 0
    assert world.command("mcp", "test", "far").code == 1


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("damage", [
    lambda sealed, key: key.unlink(),
    lambda sealed, key: key.write_bytes(bytes(32)),
    lambda sealed, key: key.write_bytes(b"short"),
    lambda sealed, key: sealed.write_text("{}"),
    lambda sealed, key: sealed.write_text(sealed.read_text()[:-40] + '"}'),
    lambda sealed, key: sealed.write_text('{"cipher": "aes-256-gcm", "sealed": "00:zz:"}'),
    lambda sealed, key: sealed.write_text('{"cipher": "aes-256-gcm", "sealed": "%s"}' % ("0" * 3000000)),
    lambda sealed, key: sealed.write_bytes(bytes(range(256))),
])
def test_what_cannot_be_opened_is_as_none(world, far, damage):
    assert auth(world).code == 0
    damage(kept(world), kept(world, "hasp-mcp-tokens.key"))
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and "hasp mcp auth far" in done.err
    assert auth(world).code == 0
    assert world.command("mcp", "test", "far").code == 0


def test_two_that_renew_at_once_do_not_use_one_token_twice(world, far):
    """The second waits for the first, and takes what that has got."""
    assert auth(world).code == 0
    far.tokens.clear()
    far.denied, far.expected = 0, 2
    far.crowd.clear()
    done = []
    runs = [threading.Thread(target=lambda: done.append(world.command("mcp", "test", "far")))
            for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [one.code for one in done] == [0, 0], [one.err for one in done]
    assert not far.reused


def test_a_token_that_is_refused_is_renewed_without_a_browser(world, far):
    assert auth(world).code == 0
    for _ in range(2):  # the second with the token that came instead of the first
        far.tokens.clear()
        far.asked.clear()
        done = world.command("mcp", "test", "far")
        assert done.code == 0, done.err
        assert "/token" in far.asked and "/authorize" not in far.asked


def test_a_token_goes_to_no_other_address(world, far):
    assert auth(world).code == 0
    world.use({"far": {"httpUrl": far.base + "/mcp?other"}})
    assert world.command("mcp", "test", "far").code == 1


def test_a_refresh_token_goes_to_no_other_endpoint(world, far):
    """Whoever writes an entry for the same name and address could say that it belongs to the same issuer."""
    assert auth(world).code == 0
    far.tokens.clear()
    with oauth_server.Server() as other:
        world.use({"far": {"httpUrl": far.base + "/mcp", "oauth": {
            "issuer": far.base + "/as", "authorizationUrl": far.base + "/authorize", "tokenUrl": other.base + "/token"}}})
        done = world.command("mcp", "test", "far")
        assert done.code == 1 and "requires a login" in done.err + done.text and not other.asked, done.err
    world.use({"far": {"httpUrl": far.base + "/mcp"}})
    assert world.command("mcp", "test", "far").code == 0  # what was kept is still good


def test_gemini_clis_token_is_read(world, far):
    far.tokens.add("of-gemini")
    file = world.home / ".gemini" / "mcp-oauth-tokens.json"
    row = {"serverName": "far", "mcpServerUrl": far.base + "/mcp",
           "token": {"accessToken": "of-gemini", "tokenType": "Bearer"}}
    file.write_text(json.dumps([row]))
    assert world.command("mcp", "test", "far").code == 0
    file.write_text(json.dumps([dict(row, mcpServerUrl=far.base + "/else")]))
    assert world.command("mcp", "test", "far").code == 1


def test_gemini_clis_encrypted_file_is_read(world, far):
    far.tokens.add("of-gemini")
    row = {"serverName": "far", "mcpServerUrl": far.base + "/mcp", "updatedAt": 1,
           "token": {"accessToken": "of-gemini", "tokenType": "Bearer"}}
    write = """
        const crypto = require('crypto'), os = require('os'), [, file, text] = process.argv;
        const salt = os.hostname() + '-' + os.userInfo().username + '-gemini-cli';
        const key = crypto.scryptSync('gemini-cli-oauth', salt, 32), nonce = crypto.randomBytes(12);
        const seal = crypto.createCipheriv('aes-256-gcm', key, nonce, {authTagLength: 16});
        const data = seal.update(text, 'utf8', 'hex') + seal.final('hex');
        const parts = [nonce.toString('hex'), seal.getAuthTag().toString('hex'), data];
        require('fs').writeFileSync(file, parts.join(':'));
    """
    file = kept(world, "gemini-credentials.json")
    node(write, str(file), json.dumps({"gemini-cli-oauth": {"far": json.dumps(row)}}, indent=2))
    assert world.command("mcp", "test", "far").code == 0
    row["mcpServerUrl"] = far.base + "/else"
    node(write, str(file), json.dumps({"gemini-cli-oauth": {"far": json.dumps(row)}}))
    assert world.command("mcp", "test", "far").code == 1
    row["mcpServerUrl"] = far.base + "/mcp"
    node(write, str(file), json.dumps({"gemini-cli-a2a": {"far": json.dumps(row)}}))
    assert world.command("mcp", "test", "far").code == 1


@pytest.mark.parametrize("where, what, reached", [
    ("resource", {"resource": "http://127.0.0.1:1/mcp"}, "/.well-known/oauth-protected-resource/mcp"),
    ("metadata", {"issuer": "https://evil.example"}, "/.well-known/oauth-authorization-server/as"),
    ("metadata", {"code_challenge_methods_supported": ["plain"]}, "/register"),
    ("metadata", {"authorization_endpoint": "http://evil.example/"}, "/register"),
    ("metadata", {"authorization_endpoint": "file:///etc/passwd"}, "/register"),
    ("registration", {"client_id": "c" * 20000}, "/register"),
    ("metadata", {"registration_endpoint": "http://169.254.169.254/x"},
     "/.well-known/oauth-authorization-server/as"),
    ("metadata", {"registration_endpoint": "https://169.254.169.254/x"},
     "/.well-known/oauth-authorization-server/as"),
    ("back", {"iss": "https://evil.example"}, "/authorize"),
])
def test_what_is_wrong_ends_the_login(world, far, where, what, reached):
    getattr(far, where).update(what)
    done = auth(world)
    assert done.code == 1 and done.err
    assert far.asked[-1] == reached and "/token" not in far.asked, far.asked
    assert not kept(world).exists() and os.path.exists(world.browser)


def test_a_client_that_is_too_long_is_refused(world, far):
    """Not sent, not cut, and asked for anew once."""
    far.registration = {"client_secret": "s" * 20000, "token_endpoint_auth_method": "client_secret_basic"}
    done = auth(world)
    assert done.code == 1 and "invalid_client" in done.err, done.err
    assert far.basic == [None, None] and far.asked.count("/token") == 2
    assert not kept(world).exists()


PLAIN = serialization.NoEncryption()
FORMS = serialization.PrivateFormat
RSA, EC = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())


def pem(key, form=FORMS.PKCS8, encryption=PLAIN):
    return key.private_bytes(serialization.Encoding.PEM, form, encryption).decode()


def use_client(world, far, **oauth):
    world.use({"far": {"httpUrl": far.base + "/mcp", "oauth": {
        "clientId": "the client", "grantType": "client_credentials", **oauth}}})


@pytest.mark.parametrize("key, form, alg", [
    (RSA, FORMS.PKCS8, "RS256"), (RSA, FORMS.TraditionalOpenSSL, "RS256"), (EC, FORMS.PKCS8, "ES256"),
    (EC, FORMS.TraditionalOpenSSL, "ES256")])
def test_a_client_with_a_key_logs_in_alone(world, far, tmp_path, key, form, alg):
    (tmp_path / "key.pem").write_text(pem(key, form))
    far.public_key = key.public_key()
    far.metadata = {"token_endpoint_auth_methods_supported": ["private_key_jwt"],
                    "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256"]}
    use_client(world, far, privateKeyFile=str(tmp_path / "key.pem"), privateKeyId="key 1")
    assert world.command("mcp", "test", "far").code == 0
    far.tokens = set()
    assert world.command("mcp", "test", "far").code == 0
    headers = list(far.assertions.values())
    assert headers == [{"alg": alg, "typ": "JWT", "kid": "key 1"}] * 2 and "/authorize" not in far.asked
    kept_text = "".join(file.read_text(errors="replace") for file in world.home.rglob("*") if file.is_file())
    assert "PRIVATE KEY" not in kept_text


def test_a_client_with_a_key_logs_a_user_in(world, far, tmp_path):
    """The key may come from a variable; renewing is signed anew."""
    far.public_key = EC.public_key()
    redirect = "http://localhost:%d/oauth/callback" % free_port()
    far.clients["the client"] = redirect
    world.use({"far": {"httpUrl": far.base + "/mcp", "oauth": {
        "clientId": "the client", "privateKey": "${FAR_KEY}", "redirectUri": redirect}}})
    done = world.command("mcp", "auth", "far", env={"BROWSER": world.browser, "FAR_KEY": pem(EC)})
    assert done.code == 0, done.err
    far.tokens = set()
    assert world.command("mcp", "test", "far", env={"FAR_KEY": pem(EC)}).code == 0
    assert len(far.assertions) == 2


@pytest.mark.parametrize("oauth, host", [({}, "127.0.0.1"), ({"clientId": "the client"}, "localhost"),
                                         ({"clientId": "the client", "redirectUri": "127.0.0.1"}, "127.0.0.1"),
                                         ({"clientId": "the client", "redirectUri": "localhost"}, "localhost")])
def test_the_way_back_leads_to_what_hasp_listens_on(world, far, tmp_path, oauth, host):
    """RFC 8252, section 8.3.  Of the name localhost both addresses are held."""
    port, seen = free_port(), tmp_path / "seen"
    if "redirectUri" in oauth:
        oauth = {**oauth, "redirectUri": "http://%s:%d/oauth/callback" % (oauth["redirectUri"], port)}
    world.use({"far": {"httpUrl": far.base + "/mcp", "oauth": oauth}})
    browser = tmp_path / "looks"
    browser.write_text("#!%s\n%s" % (sys.executable, LOOKS % (str(seen),)))
    browser.chmod(0o755)
    done = world.command("mcp", "auth", "far", env={"BROWSER": str(browser), "OAUTH_CALLBACK_PORT": str(port)})
    said, v4, v6 = json.loads(seen.read_text()), *json.loads(seen.read_text())[1:]
    assert done.code == 1 and said[0] == "http://%s:%d/oauth/callback" % (host, port), done.err
    assert v4 and (v6 == (host == "localhost") or not has_ipv6())


LOOKS = '''import json, socket, sys, urllib.parse, urllib.request
back = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(sys.argv[1]).query))
where = urllib.parse.urlsplit(back["redirect_uri"])
def listens(host):
    try:
        socket.create_connection((host, where.port), 5).close()
        return True
    except OSError:
        return False
open(%r, "w").write(json.dumps([back["redirect_uri"], listens("127.0.0.1"), listens("::1")]))
urllib.request.urlopen("http://127.0.0.1:%%d%%s?error=access_denied&state=%%s" %% (where.port, where.path, back["state"]))
'''


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.parametrize("token", ["a\r\nX-Evil: b", "a b", "caf\u00e9", "a\0b", ""])
def test_a_token_that_cannot_be_sent_is_an_error_at_once(world, far, token):
    far.granted = token
    done = auth(world)
    assert done.code == 1 and "token" in done.err, done.err
    assert far.asked.count("/authorize") == 1, far.asked
    assert world.command("mcp", "test", "far").code == 1


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("text, oauth, said", [
    (None, {}, "lacks clientId, or one of clientSecret and privateKeyFile"),
    (None, {"privateKeyFile": "key.pem"}, "is not absolute"),
    (None, {"privateKeyFile": "FILE"}, "is not there"),
    (None, {"tokenEndpointAuthMethod": "private_key_jwt"}, "No private key"),
    ("no key", {"privateKeyFile": "FILE"}, "is not in PEM form"),
    (pem(RSA, encryption=serialization.BestAvailableEncryption(b"x")), {"privateKeyFile": "FILE"}, "or it has a passphrase"),
    (pem(ec.generate_private_key(ec.SECP384R1())), {"privateKeyFile": "FILE"}, "neither one on the curve P-256"),
    (pem(rsa.generate_private_key(65537, 1024)), {"privateKeyFile": "FILE"}, "at least 2048 bits"),
    (pem(RSA), {"privateKeyFile": "FILE"}, "does not take signatures of the private key's kind (RS256)"),
], ids=range(9))
def test_a_key_that_cannot_sign_is_told(world, far, tmp_path, text, oauth, said):
    file = tmp_path / "key.pem"
    if text:
        file.write_text(text)
    far.public_key = EC.public_key()
    far.metadata = {"token_endpoint_auth_signing_alg_values_supported": ["ES256"]}
    use_client(world, far, **{name: value.replace("FILE", str(file)) for name, value in oauth.items()})
    done = world.command("mcp", "test", "far")
    assert done.code == 1 and said in done.err and "/token" not in far.asked, done.err
    assert "PRIVATE" not in done.err + done.text

