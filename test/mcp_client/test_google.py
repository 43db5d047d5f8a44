# SPDX-License-Identifier: Apache-2.0
"""Servers that want tokens of Google's (authProviderType): where credentials are found, what is asked with them, where
tokens go."""
import json

import google_server
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google_server import CLOUD, METADATA, ROBOT, USER

KEY = rsa.generate_private_key(65537, 2048)
PEM = KEY.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                        serialization.NoEncryption()).decode()
SCOPES = [CLOUD, "https://www.googleapis.com/auth/userinfo.email"]


@pytest.fixture
def google(world):
    with google_server.Server() as server:
        server.public_key = KEY.public_key()
        use(world, server)
        yield server


def use(world, google, **entry):
    world.use({"far": {"httpUrl": google.base + "/mcp", "authProviderType": "google_credentials",
                       "oauth": {"scopes": SCOPES}, **entry}})


def act_for(world, google, **entry):
    google.iam = True
    use(world, google, **{"authProviderType": "service_account_impersonation", "targetAudience": "the audience",
                          "targetServiceAccount": ROBOT, "oauth": {"iamUrl": google.base}, **entry})


def credentials(google, **more):
    """A service account's, or a user's."""
    own = USER if more.get("type") == "authorized_user" else {
        "client_email": ROBOT, "private_key": PEM, "private_key_id": "key 7"}
    return {"type": "service_account", "token_uri": google.base + "/token", **own, **more}


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def tried(world, google, **env):
    """No machine at Google answers unless a test says so."""
    return world.command("mcp", "test", "far", env={"GCE_METADATA_HOST": "127.0.0.1:1", **env})


def host(google):
    return google.base.removeprefix("http://")


@pytest.mark.parametrize("type, scopes", [("service_account", [" ".join(SCOPES)]), ("authorized_user", [])])
@pytest.mark.parametrize("where", ["named", "gcloud", "moved"])
def test_credentials_of_a_file(world, google, tmp_path, type, scopes, where):
    name = "application_default_credentials.json"
    file = {"named": tmp_path / "key.json", "gcloud": world.home / ".config/gcloud" / name, "moved": tmp_path / name}[where]
    write(file, credentials(google, type=type))
    env = {"named": {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}, "gcloud": {},
           "moved": {"CLOUDSDK_CONFIG": str(tmp_path)}}[where]
    done = tried(world, google, **env)
    assert done.code == 0, done.err
    assert "echo" in done.text and google.scopes == scopes and google.asked.count("/token") == 1
    found = [one.read_bytes() for one in world.home.rglob("*") if one.is_file() and one != file]
    assert not any(google.access.encode() in text for text in found)
    assert google.access not in done.text + done.err


def test_a_projects_env_file_names_no_credentials(world, google, tmp_path):
    file = write(tmp_path / "key.json", credentials(google))
    write(world.root / ".env", "GOOGLE_APPLICATION_CREDENTIALS=%s\nGCE_METADATA_HOST=%s\n" % (file, host(google)))
    assert tried(world, google).code == 1 and "/token" not in google.asked and METADATA not in google.asked


def test_credentials_of_the_machine(world, google):
    done = tried(world, google, GCE_METADATA_HOST=host(google))
    assert done.code == 0, done.err
    assert google.asked.count(METADATA) == 1 and google.scopes == [",".join(SCOPES)]


def test_who_is_no_metadata_server_is_not_believed(world, google):
    google.flavor = False
    done = tried(world, google, GCE_METADATA_HOST=host(google))
    assert done.code == 1 and "no metadata server" in done.err


def test_a_token_is_renewed_before_it_ends(world, google, tmp_path):
    google.holds = 20
    file = write(tmp_path / "key.json", credentials(google))
    assert tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file).code == 0
    assert google.asked.count("/token") > 1


@pytest.mark.parametrize("type", ["service_account", "authorized_user"])
def test_acting_for_a_service_account(world, google, tmp_path, type):
    act_for(world, google)
    file = write(tmp_path / "key.json", credentials(google, type=type))
    done = tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file)
    assert done.code == 0, done.err
    assert google.scopes == ([CLOUD] if type == "service_account" else [])
    assert sum(path.startswith("/v1/") for path in google.asked) == 1 and google.asked.count("/token") == 1


def test_who_may_not_act_for_it_is_told(world, google, tmp_path):
    act_for(world, google)
    google.iam = False
    file = write(tmp_path / "key.json", credentials(google))
    done = tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file)
    assert done.code == 1 and "may not be acted for (HTTP status 403: PERMISSION_DENIED)" in done.err
    assert "\x1b" not in done.err


def test_a_server_that_refuses_each_token_is_given_up(world, google, tmp_path, monkeypatch):
    file = write(tmp_path / "key.json", credentials(google))
    monkeypatch.setattr(google_server.Handler, "may",
                        lambda self: self.reply(401, {}, WWW_Authenticate="Bearer"))
    done = tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file)
    assert done.code == 1 and "refused a new token of Google's" in done.err
    assert google.asked.count("/token") <= 2


@pytest.mark.parametrize("file, said", [
    (None, "There are no application default credentials"),
    ("gone", "names is not there"), ("{", "neither a service account's key nor a user's"),
    ({"type": "external_account"}, "neither a service account's key nor a user's"),
    ({"type": "service_account", "private_key": 5}, "lack client_email or private_key"),
    ({"type": "service_account", "private_key": "none"}, "is not in PEM form"),
    ({"type": "authorized_user", "refresh_token": None}, "lack refresh_token"),
    ({"type": "authorized_user", "refresh_token": "old"}, "it refused the user's login"),
    ({"type": "service_account", "token_uri": "http://192.0.2.1/token"}, "neither https nor this machine's own"),
    ({"type": "service_account", "token_uri": "http://127.0.0.1@192.0.2.1/"}, "neither https nor this machine's own"),
], ids=range(10))
def test_credentials_that_are_of_no_use_are_told(world, google, tmp_path, file, said):
    path = tmp_path / "key.json"
    if file and file != "gone":
        write(path, credentials(google, **file) if isinstance(file, dict) else file)
    done = tried(world, google, **({"GOOGLE_APPLICATION_CREDENTIALS": str(path)} if file else {}))
    assert done.code == 1 and said in done.err, done.err
    assert "PRIVATE" not in done.err and USER["client_secret"] not in done.err


@pytest.mark.parametrize("entry, said", [
    ({"httpUrl": "https://example.com/mcp"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"httpUrl": "https://notgoogleapis.com/mcp"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"httpUrl": "https://x.googleapis.com@example.com/mcp"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"httpUrl": "http://x.googleapis.com/mcp"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"httpUrl": "http://127.0.0.1:80@example.com/mcp"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"httpUrl": "https://example.com/.googleapis.com"}, "go to hosts of googleapis.com and luci.app alone"),
    ({"oauth": {}}, "google_credentials needs oauth.scopes"),
    ({"authProviderType": "service_account_impersonation"}, "needs targetAudience and targetServiceAccount"),
    ({"authProviderType": "service_account_impersonation", "targetAudience": "a", "targetServiceAccount": "a/b"},
     "needs targetAudience and targetServiceAccount"),
    ({"authProviderType": "service_account_impersonation", "targetAudience": "a", "targetServiceAccount": "a",
      "httpUrl": "http://example.com/mcp"}, "needs an https address"),
    ({"authProviderType": "service_account_impersonation", "targetAudience": "a", "targetServiceAccount": "a",
      "oauth": {"iamUrl": "https://iam.example.com"}}, "its oauth.iamUrl is no host of googleapis.com"),
    ({"httpUrl": None, "command": "true"}, "is for servers over HTTP alone"),
    ({"authProviderType": "another"}, "hasp has no logins of that authProviderType"),
], ids=range(13))
def test_what_cannot_be_used_is_off(world, google, entry, said):
    whole = {"httpUrl": google.base + "/mcp", "authProviderType": "google_credentials", "oauth": {"scopes": SCOPES}, **entry}
    world.use({"far": {name: value for name, value in whole.items() if value is not None}})
    done = tried(world, google, GCE_METADATA_HOST=host(google))
    assert done.code == 1 and said in done.err and not google.asked


@pytest.mark.parametrize("address", ["https://logging.googleapis.com/mcp", "https://luci.app/mcp", "https://x.luci.app/"])
def test_googles_own_hosts_may_get_it(world, google, address):
    """Nothing is sent: there are no credentials, and the address is not looked up before."""
    use(world, google, httpUrl=address)
    row = [one for one in json.loads(world.command("mcp", "list", "--json").text) if one["name"] == "far"]
    assert row[0]["state"] != "off"
