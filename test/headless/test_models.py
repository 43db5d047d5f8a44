# SPDX-License-Identifier: Apache-2.0
"""hasp models: what there is to choose from; and what of a model works, in the provider's own words what does not."""
import json

import pytest
from conftest import KEY
from fake_gemini import call, text, thought

WORKS = [[text("yes")], [call("report_number", {"number": 7})], [thought("Hm."), text("391")]]
SUMMARY = json.dumps({"error": {
    "message": "Your organization must be verified to generate reasoning summaries.",
    "type": "invalid_request_error", "param": "reasoning.summary",
    "code": "unsupported_value"}}).encode()


def checked(world, server, *args):
    """The command's end, and its document."""
    name = world.argv(server, [])[-1] if server.kind != "gemini" else "gemini-2.5-flash"
    done = world.command("models", "check", name, "--json", *args, server=None,
                         env=world.environment(server))
    return done, json.loads(done.out) if done.out else None


@pytest.mark.parametrize("kind", ["gemini", "openai-responses", "anthropic"])
def test_all_that_works_is_said_to(world, kind):
    with world.fake(WORKS, kind) as server:
        done, document = checked(world, server)
        assert server.violations == [] and len(server.requests) == 3
    assert (done.code, document["success"]) == (0, True)
    assert [(one["check"], one["status"]) for one in document["checks"]] == [
        ("text", "works"), ("tool", "works"), ("thinking", "works")]
    assert document["contextTokens"] > 100000 and "notices" not in document["checks"][0]


def test_what_is_refused_is_told_in_the_providers_words(world):
    script = [{"reply": WORKS[0]}, {"status": 400, "error": "Tools are not for this model, sorry."},
              {"reply": WORKS[2]}]
    with world.fake(script, "anthropic") as server:
        done, document = checked(world, server)
    assert (done.code, document["success"]) == (1, False)
    assert [one["status"] for one in document["checks"]] == ["works", "fails", "works"]
    assert "Tools are not for this model, sorry." in document["checks"][1]["message"]


def test_what_is_missing_in_a_reply_is_said(world):
    script = [WORKS[0], [text("I would rather not.")], [text("391")]]
    with world.fake([{"reply": one, "usage": {"thoughtsTokenCount": 0}} for one in script]) as server:
        done, document = checked(world, server)
    assert done.code == 1
    assert [one["status"] for one in document["checks"]] == ["works", "missing", "missing"]
    assert "without calling the tool" in document["checks"][1]["message"]


def test_a_parameter_that_is_refused_is_named_and_left_out(world):
    script = [{"status": 400, "error": SUMMARY}] + [{"reply": one} for one in WORKS]
    with world.fake(script, "openai-responses") as server:
        done, document = checked(world, server)
        assert len(server.requests) == 4
    assert done.code == 0
    (notice,) = document["checks"][0]["notices"]
    assert "must be verified" in notice and "Retrying without reasoning.summary." in notice


def test_a_wrong_key_ends_it_at_once(world):
    refusal = {"status": 401, "error": json.dumps({"error": {
        "message": "Incorrect API key provided: sk-pr***9.", "code": "invalid_api_key"}}).encode()}
    with world.fake([refusal], "openai-responses") as server:
        done, document = checked(world, server)
        assert len(server.requests) == 1
    assert (done.code, document["success"]) == (41, False)
    assert [one["status"] for one in document["checks"]] == ["fails", "not tried", "not tried"]
    assert "Incorrect API key" in document["checks"][0]["message"]


def test_no_key_at_all(world):
    done = world.command("models", "check", "openai/gpt-5", "--json")
    assert (done.code, done.out) == (41, b"") and "OPENAI_API_KEY" in done.err


def test_nobody_there(world):
    with world.fake([], "anthropic") as server:
        pass  # it has gone
    done, document = checked(world, server)
    assert (done.code, document["success"]) == (1, False)
    assert [one["status"] for one in document["checks"]] == ["fails", "not tried", "not tried"]


def test_what_people_see(world):
    with world.fake([{"reply": WORKS[0]}, {"status": 400, "error": "No\x1b[31m tools."},
                     {"reply": WORKS[2]}], "anthropic") as server:
        done = world.command("models", "check", "anthropic/claude-sonnet-4-5",
                             env=world.environment(server))
    lines = done.text.splitlines()
    assert lines[0] == "anthropic/claude-sonnet-4-5, 200000 tokens of context"
    assert lines[1].startswith("text      works     ") and lines[1].endswith(" s")
    assert lines[2].startswith("tool      fails     ") and "\x1b" not in done.text
    assert lines[3].startswith("thinking  works     ") and done.code == 1


LISTS = {
    "gemini": {"/v1beta/models": {"models": [
        {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1048576, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/gemini-9-nova", "inputTokenLimit": 500000, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]}]}},
    "openai": {"/v1/models": {"data": [{"id": "gpt-5.4"}, {"id": "whisper-1"}, {"id": "my-model", "context_length": 65536}]}},
    "anthropic": {"/v1/models": {"data": [{"id": "claude-opus-4-8", "max_input_tokens": 1000000}]}},
}


@pytest.mark.parametrize("kind, found", [
    ("gemini", [("gemini/gemini-3.8-flash", 1048576, 3.75), ("gemini/gemini-9-nova", 500000, None)]),
    ("openai", [("openai/gpt-5.4", 1050000, 15), ("openai/my-model", 65536, None)]),
    ("anthropic", [("anthropic/claude-opus-4-8", 1000000, 25)])])
def test_what_the_key_reaches_is_listed(world, kind, found):
    with world.fake([], kind) as server:
        server.lists = LISTS[kind]
        done = world.command("models", "--json", env=world.environment(server))
        assert (len(server.asked), server.requests) == (1, [])
        assert KEY in "".join(server.asked[0].headers.values())
    document = json.loads(done.out)
    mine = [one for one in document["models"] if one["reachable"]]
    assert [(one["model"], one["contextTokens"], one.get("price", {}).get("output")) for one in mine] == found
    states = {one["provider"]: one["state"] for one in document["providers"]}
    assert states.pop(kind) == "listed" and set(states.values()) == {"no key"}
    assert KEY not in done.text + done.err


def test_without_a_key_there_is_a_list_too(world):
    done = world.command("models")
    assert done.code == 0 and "anthropic/claude-opus-4-8" in done.text and "needs ANTHROPIC_API_KEY" in done.text
    assert "No API key: gemini, vertex, openai" in done.text and "list prices known on 20" in done.text


def test_the_users_prices_come_first(world):
    world.settings(hasp={"prices": {"claude-opus-*": {"input": 1, "output": 2}}})
    document = json.loads(world.command("models", "list", "anthropic", "--json").out)
    prices = {one["name"]: one.get("price") for one in document["models"]}
    assert prices["claude-opus-4-8"] == {"input": 1, "output": 2, "source": "settings"}
    assert prices["claude-haiku-4-5"]["source"] == "list"
    assert {one["provider"] for one in document["models"]} == {"anthropic"}


def test_a_key_that_is_refused_and_a_server_that_is_away_are_said(world):
    with world.fake([], "anthropic") as server:
        pass
    done = world.command("models", env=world.environment(server))
    assert done.code == 0 and "anthropic: " in done.text and "127.0.0.1" in done.text
    with world.fake([], "openai") as server:
        server.listed = lambda request: {"status": 401, "error": b"{}"}
        done = world.command("models", env=world.environment(server))
    assert "does not accept the key (HTTP 401)" in done.text


def test_a_provider_of_the_settings_is_asked(world):
    with world.fake([], "openai") as server:
        server.lists = LISTS["openai"]
        world.settings(hasp={"providers": {"box": {"baseUrl": server.url + "/v1"}}})
        done = world.command("models", "list", "box", "--json")
    assert "box/my-model" in [one["model"] for one in done.json["models"]]
    done = world.command("models", "list", "nonesuch")
    assert done.code == 1 and "Unknown provider" in done.err


@pytest.mark.parametrize("args", [["list", "a", "b"], ["check", "a", "b"], ["lst"]])
def test_a_wrong_line_is_the_usage(world, args):
    done = world.command("models", *args)
    assert done.code == 2 and "models" in done.err and not done.out


def test_a_model_that_ends_is_said_when_it_is_chosen(world):
    for name, words in [("gemini-2.5-pro", "2026-12-01"), ("anthropic/claude-sonnet-4-5",
                                                           "being retired")]:
        # An address where nobody listens, by a proxy: nothing leaves this machine.
        done = world.command("models", "check", name, env={
            "GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "https_proxy": "http://127.0.0.1:1"})
        assert words in done.err and "as of 2026-11-23" in done.err
    done = world.command("models", "check", "gemini-2.5-flash-lite", env={
        "GEMINI_API_KEY": "k", "https_proxy": "http://127.0.0.1:1"})
    assert "as of" not in done.err


LONG = ("Unable to submit request because the input token count is 1193000 but model only supports up to "
        "1048576. Reduce the input token count and try again.")


def test_too_long_is_told_in_the_providers_words(world):
    """A prompt that cannot be made shorter: why it cannot is hasp's to say, how long it is the provider's."""
    with world.fake([{"status": 400, "error": LONG}] * 4) as server:
        done = world.command("-p", "Go on.", server=server)
    assert done.code == 1 and "input token count is 1193000" in done.err


def test_a_setting_says_how_long_a_conversation_may_be_and_what_is_never_sent(world):
    world.settings(hasp={"contextTokens": 5000,
                         "withoutParameters": ["reasoning.summary", "nonsense"]})
    with world.fake(WORKS, "openai-responses") as server:
        done, document = checked(world, server)
        sent = [request.body.get("reasoning", {}) for request in server.requests]
    assert (done.code, document["contextTokens"]) == (0, 5000)
    assert "nonsense" in done.err and all("summary" not in one for one in sent)


def test_what_was_refused_once_is_not_sent_by_the_next_run(world):
    script = [{"status": 400, "error": SUMMARY}, {"reply": WORKS[0]}, {"reply": WORKS[0]}]
    with world.fake(script, "openai-responses") as server:
        first = world.command("-p", "x", server=server)
        again = world.command("-p", "x", server=server)
        sent = [request.body.get("reasoning", {}) for request in server.requests]
        assert server.violations == []
    assert (first.code, again.code) == (0, 0) and "must be verified" in first.err
    assert ["summary" in one for one in sent] == [True, False, False]
    assert "must be verified" not in again.err
    file = world.home / ".gemini" / "hasp-models.json"
    assert file.stat().st_mode & 0o777 == 0o600 and "test-key" not in file.read_text()


def test_a_password_in_the_address_is_not_shown(world):
    with world.fake([], "anthropic") as server:
        env = {name: value.replace("://", "://me:hidden@") if isinstance(value, str) else value
               for name, value in world.environment(server).items()}
    done = world.command("models", "check", "anthropic/claude-sonnet-4-5", "--json", env=env)
    document = json.loads(done.out)
    assert document["address"].startswith("http://127.0.0.1:")
    assert "hidden" not in done.text + done.err


REFUSED = json.dumps({"error": {"code": 401, "message": "API key not valid.", "status": "UNAUTHENTICATED"}}).encode()
UNKNOWN = json.dumps({"error": {"code": 404, "message": "models/nix is not found.", "status": "NOT_FOUND"}}).encode()


@pytest.mark.parametrize("status, error, set_up, says", [
    (401, REFUSED, {}, "The key is GEMINI_API_KEY from the environment. Change it there."),
    (404, UNKNOWN, {"args": ["-m", "nix"]}, "To list the models that your key reaches: hasp models"),
    (404, UNKNOWN, {"env": {"GEMINI_MODEL": "nix"}}, "The name comes from the variable GEMINI_MODEL."),
    (404, UNKNOWN, {"settings": {"model": {"name": "nix"}}}, "The name comes from model.name in {home}/.gemini/settings.json, line 1."),
])
def test_a_failure_says_where_the_value_comes_from_and_what_changes_it(world, status, error, set_up, says):
    if "settings" in set_up:
        world.settings(**set_up["settings"])
    with world.fake([{"status": status, "error": error}]) as server:
        done = world.command("-p", "x", *set_up.get("args", []), server=server, env=set_up.get("env"))
    assert done.code in (41, 42) and says.format(home=world.home) in done.err, done.err


def test_a_key_of_a_file_is_named_with_it(world):
    (world.home / ".gemini/.env").write_text("GEMINI_API_KEY=%s\n" % KEY)
    with world.fake([{"status": 401, "error": REFUSED}]) as server:
        done = world.command("-p", "x", server=server, env={"GEMINI_API_KEY": None})
    assert "The key is GEMINI_API_KEY in %s/.gemini/.env. To replace it, type /auth" % world.home in done.err
    assert KEY not in done.err


def test_a_server_that_is_away_is_named_with_its_variable(world):
    world.settings(general={"maxAttempts": 1})
    with world.fake([], "anthropic") as server:
        pass
    done = world.command("-p", "x", server=server)
    assert "The address comes from the variable ANTHROPIC_BASE_URL." in done.err, done.err
