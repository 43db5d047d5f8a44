# SPDX-License-Identifier: Apache-2.0
"""What logs in at a remote agent: keys, passwords, Google's credentials, OAuth; and that it goes nowhere else."""
import base64
import json

import far_server
import oauth_server
import pytest
from conftest import Front
from google_server import USER


@pytest.fixture
def far():
    with far_server.Server() as server:
        yield server


BASIC = "Basic " + base64.b64encode(b"me:s3cret").decode()


@pytest.mark.parametrize("auth, field, value", [
    ({"type": "apiKey", "key": "$FAR_KEY"}, "x-api-key", "hush"),
    ({"type": "apiKey", "key": "$$FAR", "name": "X-Mine"}, "x-mine", "$FAR"),
    ({"type": "http", "scheme": "Bearer", "token": "$FAR_KEY"}, "authorization", "Bearer hush"),
    ({"type": "http", "scheme": "Basic", "username": "me", "password": "s3cret"}, "authorization", BASIC),
    ({"type": "http", "scheme": "Digest", "value": "!!x"}, "authorization", "Digest !x"),
])
def test_keys_and_passwords_go_with_the_card_and_the_task(world, far, auth, field, value):
    world.agent(far.url, auth=auth)
    (result,) = world.ask("x", env={"FAR_KEY": "hush"}).got
    assert result["success"], result
    assert far.sent(field) == [value, value]


@pytest.mark.parametrize("auth, said", [
    ({"type": "apiKey", "key": "$FAR_KEY"}, "FAR_KEY, which is not set"),
    ({"type": "apiKey", "key": "x", "name": "!touch ran"}, "which can have none"),
    ({"type": "apiKey", "key": "!touch ran; false", "name": "$NONE"}, '"key" that the agent far logs in with failed'),
    ({"type": "apiKey", "key": "! "}, "which can have none"),
    ({"type": "apiKey", "key": "!true"}, "printed nothing"),
    ({"type": "apiKey", "key": "!printf 'a\\0b'"}, "printed something that is no text"),
    ({"type": "apiKey", "key": "!printf 'a\\r\\nb: c'"}, "control characters"),
    ({"type": "apiKey", "key": "!head -c 99999 /dev/zero | tr '\\0' a"}, "longer than"),
    ({"type": "apiKey"}, 'no "key"'),
    ({"type": "apiKey", "key": "x", "name": "a: b"}, "no name of a header"),
    ({"type": "apiKey", "key": "x\r\ny: z"}, "control characters"),
    ({"type": "http", "scheme": "Bearer"}, 'no "token"'),
    ({"type": "http", "scheme": "Basic", "username": "me"}, 'no "username" and "password"'),
    ({"type": "mtls"}, 'type "mtls"'),
    ({}, 'no "type"'),
])
def test_what_is_wrong_is_said_and_nothing_is_sent(world, far, auth, said):
    world.agent(far.url, auth=auth or {"key": "x"})
    (result,) = world.ask("x").got
    assert said in result["message"] and not far.got, result
    assert (world.root / "ran").exists() == ("ran;" in str(auth))


def test_a_command_that_is_not_one_line_is_no_file_of_an_agent(world, far):
    for command in ("!true\nfalse", "!" + 1001 * "a"):
        world.agent(far.url, auth={"type": "apiKey", "key": command})
        done = world.command("agents", "list")
        assert "must be one line" in done.text + done.err and far.url not in done.text


def test_commands_print_what_logs_in(world, far):
    """Once for a session, and again when that is not taken; nowhere is it kept."""
    tokens = world.top / "tokens"
    tokens.write_text("tok-1\ntok-2\ntok-3\n")
    command = "!head -n 1 %s; sed -i 1d %s; echo tok-odd >&2" % (tokens, tokens)
    far.protected, far.tokens = True, {"tok-2"}
    world.agent(far.url, auth={"type": "http", "scheme": "Bearer", "token": command})
    done = world.ask("x", "y")
    assert [result["success"] for result in done.got] == [True, True], done.got
    assert far.sent("authorization") == ["Bearer tok-1"] + 3 * ["Bearer tok-2"]
    assert tokens.read_text() == "tok-3\n" and "tok-" not in done.text + done.err
    kept = [path for path in world.home.rglob("*") if path.is_file() and path.name != "far.md"]
    assert kept and not [path for path in kept if b"tok-" in path.read_bytes()]
    far.tokens, command = {"tok-4"}, "!echo tok-3"
    world.agent(far.url, auth={"type": "http", "scheme": "Bearer", "token": command})
    (result,) = world.ask("x").got
    assert "does not take what it is logged in with" in result["message"]
    assert far.sent("authorization")[4:] == ["Bearer tok-3"]


def test_a_projects_command_runs_once_it_was_allowed(world, far):
    ran = world.top / "ran"
    command = "!echo hush; echo >%s" % ran
    path = world.agent(far.url, where="root", auth={"type": "apiKey", "key": command})
    (result,) = world.ask("x").got
    said = 'with what the command \"%s\" prints as its \"key\"' % command[1:]
    said = said.replace("\\", "")
    assert said in result["message"] and "hasp agents allow far" in result["message"] and not ran.exists()
    front = Front(world, "No", task="x")
    assert said in front.questions()[0] and not ran.exists() and front.result["error"]["code"] == "denied_by_user"
    assert Front(world, "Yes", task="x").result["success"] and ran.exists() and far.sent("x-api-key") == ["hush", "hush"]
    ran.unlink()
    path.write_text(path.read_text().replace("hush", "rush"))
    (result,) = world.ask("x").got
    assert result["error"]["code"] == "denied_by_policy" and not ran.exists()
    allowed = world.command("agents", "allow", "far")
    assert said.replace("hush", "rush") in allowed.text


def test_who_wants_a_login_and_gets_none_is_told(world, far):
    far.protected = True
    world.agent(far.url)
    (result,) = world.ask("x").got
    assert result["error"]["code"] == "authentication_failed" and 'has no "auth"' in result["message"]
    world.agent(far.url, auth={"type": "apiKey", "key": "x"})
    (result,) = world.ask("x").got
    assert "does not take what it is logged in with" in result["message"]


def test_googles_credentials(world, far, tmp_path):
    far.protected = True
    world.agent(far.url, auth={"type": "google-credentials", "scopes": ["a"]})
    env = {"GCE_METADATA_HOST": "127.0.0.1:1"}
    (result,) = world.ask("x", env=env).got
    assert 'credentials of Google for the agent "far"' in result["message"], result
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps({"type": "authorized_user", "token_uri": far.base + "/token", **USER}))
    (result,) = world.ask("x", env={**env, "GOOGLE_APPLICATION_CREDENTIALS": str(path)}).got
    assert result["success"], result
    assert far.sent("authorization")[-1] == "Bearer " + far.access


def test_a_login_in_the_browser(world, far, tmp_path):
    """The fake's resource is /mcp, where its card is as well."""
    far.protected, far.card = True, far.card_of(far.base + "/mcp")
    world.agent(far.base + "/mcp", auth={"type": "oauth", "scopes": ["tools"]})
    (result,) = world.ask("x").got
    assert result["error"]["code"] == "authentication_failed" and "hasp mcp" not in result["message"], result
    browser, log = oauth_server.browser_in(tmp_path)
    front = Front(world, task="x", env={"BROWSER": browser})
    assert front.result["success"] and log.exists(), front.result
    (asked,) = [one for one in front.all("elicitation-request") if not one["opened"]]
    assert asked["serverName"] == "far" and "agent" in asked["message"]
    assert world.ask("x").got[0]["success"]
