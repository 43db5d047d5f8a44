# SPDX-License-Identifier: Apache-2.0
"""Servers that want tokens of Google's (authProviderType): where credentials are found, what is asked with them, where
tokens go."""
import json

import google_server
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google_server import CLOUD, METADATA, POOL, ROBOT, SUBJECT, TOKEN_TYPE, USER

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
    ({"type": "external_account_authorized_user"}, "neither a service account's key nor a user's"),
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


# ---- another provider's token (workload identity federation) ------------------------------------

def federated(google, source, **more):
    return {"type": "external_account", "audience": POOL, "subject_token_type": TOKEN_TYPE + "jwt",
            "token_url": google.base + "/token", "credential_source": source, **more}


def acting(google):
    return {"service_account_impersonation_url":
            "%s/v1/projects/-/serviceAccounts/%s:generateAccessToken" % (google.base, ROBOT)}


def from_url(google, query=""):
    return {"url": google.base + "/subject" + query, "headers": {"X-Metadata": "yes", "X-Bad": "a\r\nb"}}


@pytest.mark.parametrize("kind", ["file", "json", "url", "url-json"])
def test_another_providers_token_is_exchanged(world, google, tmp_path, kind):
    source = from_url(google, "?x" if kind == "url-json" else "") if kind.startswith("url") else {
        "file": write(tmp_path / "token", {"value": SUBJECT} if kind == "json" else SUBJECT + "\n")}
    if kind.endswith("json"):
        source["format"] = {"type": "json", "subject_token_field_name": "value"}
    file = write(tmp_path / "key.json", federated(google, source))
    done = tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file)
    assert done.code == 0, done.err
    assert google.scopes == [" ".join(SCOPES)] and google.options == google.basic == [None] and not google.acted
    assert SUBJECT not in done.text + done.err and google.access not in done.text + done.err


def test_the_exchanged_token_acts_for_its_service_account(world, google, tmp_path):
    """Of the file, and then for that of the settings."""
    more = {**acting(google), "service_account_impersonation": {"token_lifetime_seconds": 900}}
    file = write(tmp_path / "key.json", federated(google, {"file": write(tmp_path / "token", SUBJECT)}, **more))
    assert tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file).code == 0
    assert google.scopes == [CLOUD] and google.acted == [{"scope": SCOPES, "lifetime": "900s"}]
    act_for(world, google)
    assert tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file).code == 0
    assert google.acted[1:] == [{"scope": [CLOUD], "lifetime": "900s"}]


@pytest.mark.parametrize("client", [False, True])
def test_a_workforce_pools_token(world, google, tmp_path, client):
    more = {"client_id": "the client", "client_secret": "hush"} if client else {}
    file = write(tmp_path / "key.json", federated(google, {"file": write(tmp_path / "token", SUBJECT)},
                                                  workforce_pool_user_project="12", **more))
    assert tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file).code == 0
    assert google.basic == (["Basic dGhlIGNsaWVudDpodXNo"] if client else [None])
    assert [one and json.loads(one) for one in google.options] == [None if client else {"userProject": "12"}]


def test_an_exchanged_token_is_renewed_before_it_ends(world, google, tmp_path):
    google.holds = 20
    file = write(tmp_path / "key.json", federated(google, {"file": write(tmp_path / "token", SUBJECT)}, **acting(google)))
    assert tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file).code == 0
    assert google.asked.count("/token") == len(google.acted) > 1


@pytest.mark.parametrize("source, more, said", [
    ({"file": "token"}, {}, "is no absolute path"),
    ({"file": "/nowhere/token"}, {}, "names is not there"),
    ({"file": "/dev/zero"}, {}, "/dev/zero"),
    ({"file": "/dev/null/token"}, {}, "names is not there"),
    ({"file": "TOKEN", "format": {"type": "json", "subject_token_field_name": "value"}}, {}, "has no token"),
    ({"executable": {"command": "touch mark"}}, {}, "neither a file nor an address"),
    ({"environment_id": "aws1", "url": "http://169.254.169.254/"}, {}, "neither a file nor an address"),
    ({"url": "file:///etc/passwd"}, {}, "neither https nor this machine's own"),
    ({"url": "ftp://127.0.0.1/x"}, {}, "neither https nor this machine's own"),
    ({"url": "URL"}, {}, "gave no token (HTTP status 403)"),
    ({"file": "TOKEN"}, {"token_url": "http://192.0.2.1/token"}, "neither https nor this machine's own"),
    ({"file": "TOKEN"}, {"token_url": None}, "lack token_url, audience or subject_token_type"),
    ({"file": "TOKEN"}, {"service_account_impersonation_url": "http://192.0.2.1/"}, "neither https nor this machine's own"),
    ({"file": "WRONG"}, {}, "it refused the other provider's token (HTTP status 400: invalid_grant)"),
], ids=range(14))
def test_what_of_another_provider_is_of_no_use_is_told(world, google, tmp_path, source, more, said):
    names = {"TOKEN": write(tmp_path / "token", SUBJECT), "WRONG": write(tmp_path / "wrong", "hush"), "URL": google.base + "/subject"}
    source = {name: names.get(value, value) if isinstance(value, str) else value for name, value in source.items()}
    write(world.root / "token", SUBJECT)
    file = write(tmp_path / "key.json", federated(google, source, **more))
    done = tried(world, google, GOOGLE_APPLICATION_CREDENTIALS=file)
    assert done.code == 1 and said in done.err, done.err
    assert SUBJECT not in done.err and "hush" not in done.err and "\x1b" not in done.err and not (world.root / "mark").exists()


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
