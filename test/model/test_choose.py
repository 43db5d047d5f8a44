# SPDX-License-Identifier: Apache-2.0
"""From words, settings and variables to an address and a key."""
import json
import os
import re
import subprocess
from pathlib import Path

import fake_gemini
import pytest
from fake_server import FakeServer

PROBE = os.environ["MODEL_PROBE"]


@pytest.fixture
def choose(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".gemini").mkdir(parents=True)
    project.mkdir()

    def ask(words=None, settings=None, dotenv=None, request=None, projects=None, untrusted=False, **env):
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings or {}))
        (home / ".env").write_text(dotenv or "")
        (project / ".env").write_text(projects or "")
        job = {"choose": words, "project": str(project), "untrusted": untrusted}
        if words is None:
            job["choose"] = ""
        if request:
            job["request"] = request
        clean = {"PATH": os.environ["PATH"], "HOME": str(home), "GEMINI_CLI_HOME": str(home),
                 "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(tmp_path / "none"),
                 "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(tmp_path / "none")}
        clean.update((name, os.environ[name]) for name in os.environ if "SAN_OPTIONS" in name)
        out = subprocess.run([PROBE, "--quiet"], input=json.dumps(job) + "\n", text=True,
                             stdout=subprocess.PIPE, env=dict(clean, **env), check=True).stdout
        lines = [json.loads(line) for line in out.splitlines()]
        return lines if request else lines[0].get("chosen") or lines[0]
    return ask


ROWS = [
    ("gemini/gemini-2.5-pro", "GEMINI_API_KEY", "gemini", None),
    ("gemini-2.5-pro", "GEMINI_API_KEY", "gemini", None),
    ("models/gemini-2.5-pro", "GOOGLE_API_KEY", "gemini", None),
    ("openai/gpt-4o", "OPENAI_API_KEY", "openai", None),
    ("openai/gpt-5", "OPENAI_API_KEY", "openai-responses", None),
    ("openai-responses/gpt-5", "OPENAI_API_KEY", "openai-responses", None),
    ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY", "anthropic", None),
    ("openrouter/a/b:free", "OPENROUTER_API_KEY", "openai", "https://openrouter.ai/api/v1"),
    ("groq/x", "GROQ_API_KEY", "openai", "https://api.groq.com/openai/v1"),
    ("deepseek/x", "DEEPSEEK_API_KEY", "openai", "https://api.deepseek.com/v1"),
    ("mistral/x", "MISTRAL_API_KEY", "openai", "https://api.mistral.ai/v1"),
    ("xai/x", "XAI_API_KEY", "openai", "https://api.x.ai/v1"),
    ("together/a/b", "TOGETHER_API_KEY", "openai", "https://api.together.xyz/v1"),
]


@pytest.mark.parametrize("words, variable, provider, base", ROWS)
def test_each_provider_has_its_address_and_its_key(choose, words, variable, provider, base):
    got = choose(words, **{variable: "k-1"})
    assert (got["provider"], got["base_url"], got["api_key"]) == (provider, base, "k-1")
    name = words.partition("/")[2] if "/" in words and not words.startswith("models/") else words
    assert got["name"] == name
    missing = choose(words)
    assert missing["error"] == "authentication_failed" and variable in missing["message"]
    assert choose(words, dotenv="%s='from file'\n" % variable)["api_key"] == "from file"


UNNAMED = [
    # variables, settings; the model that answers, or what the error names
    ({"OPENAI_API_KEY": "k"}, {}, "openai/gpt-5.6"),
    ({"ANTHROPIC_API_KEY": "k"}, {}, "anthropic/claude-sonnet-4-6"),
    ({"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "g"}, {}, "gemini/gemini-3.1-pro-preview"),
    ({"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, {}, None),
    ({"GROQ_API_KEY": "k"}, {}, None),
    ({"OPENAI_API_KEY": "k", "GEMINI_MODEL": "pro"}, {}, None),
    ({"OPENAI_API_KEY": "k"}, {"model": {"name": "flash"}}, None),
    ({"OPENAI_API_KEY": "k", "GOOGLE_GENAI_USE_VERTEXAI": "true"}, {}, None),
    ({"OPENAI_API_KEY": "k"}, {"security": {"auth": {"selectedType": "gemini-api-key"}}}, None),
]


@pytest.mark.parametrize("variables, settings, answers", UNNAMED)
def test_where_no_model_is_named_the_only_key_says_who_answers(choose, variables, settings, answers):
    got = choose(settings=settings, **variables)
    if answers is None:
        assert got["error"] == "authentication_failed", got
        return
    label, _, name = answers.partition("/")
    assert (got["label"], got["name"]) == (label, name)
    said = [text for text in got.get("warnings") or [] if "no model is named" in text]
    assert [answers in text and "_API_KEY" in text for text in said] == ([True] if label != "gemini" else [])


def test_a_projects_key_chooses_no_provider(choose):
    """Contents would go where the author of a repository says."""
    assert choose(projects="OPENAI_API_KEY=projects\n")["error"] == "authentication_failed"
    assert choose(dotenv="OPENAI_API_KEY=mine\n")["name"] == "gpt-5.6"


def test_a_projects_key_comes_last_and_is_named(choose):
    """Contents go out under the account of a key."""
    projects = "GEMINI_API_KEY=projects\nANTHROPIC_API_KEY=projects\n"
    got = choose("gemini-x", projects=projects)
    assert got["api_key"] == "projects" and len(got["warnings"]) == 1
    assert "The key is the project's: GEMINI_API_KEY of /" in got["warnings"][0]
    assert "project/.env" in got["warnings"][0] and "hasp config allow GEMINI_API_KEY" in got["warnings"][0]
    for own in ({"dotenv": "GEMINI_API_KEY=mine"}, {"dotenv": "GOOGLE_API_KEY=mine"},
                {"GEMINI_API_KEY": "mine"}, {"GOOGLE_API_KEY": "mine"}):
        got = choose("gemini-x", projects=projects, **own)
        assert (got["api_key"], got.get("warnings") or []) == ("mine", []), own
    got = choose("anthropic/claude-x", projects=projects, ANTHROPIC_AUTH_TOKEN="mine")
    assert got["api_key"] == "mine"
    provider = {"hasp": {"providers": {"box": {"baseUrl": "http://box/v1", "apiKeyEnv": "BOX_KEY"}}}}
    got = choose("box/m", provider, projects="BOX_KEY=projects\n")
    assert "BOX_KEY of /" in got["warnings"][0]
    got = choose("box/m", provider, projects="BOX_KEY=projects\n", dotenv="BOX_KEY=mine\n")
    assert (got["api_key"], got.get("warnings") or []) == ("mine", [])
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        got = choose("gemini-x", projects="%s=projects\n" % variable, untrusted=True)
        assert got["error"] == "authentication_failed", "of a folder that is not trusted"


@pytest.mark.parametrize("words, env, base", [
    ("ollama/q", {}, "http://127.0.0.1:11434/v1"),
    ("ollama/q", {"OLLAMA_HOST": "box:1"}, "http://box:1/v1"),
    ("ollama/q", {"OLLAMA_HOST": "0.0.0.0:1"}, "http://127.0.0.1:1/v1"),
    ("llama.cpp/q", {"LLAMA_BASE_URL": "http://box:8080/"}, "http://box:8080/v1"),
    ("vllm/q", {}, "http://127.0.0.1:8000/v1"),
    ("openai/gpt-5", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://a/b/v2"}, "https://a/b/v2")])
def test_servers_of_ones_own(choose, words, env, base):
    got = choose(words, **env)
    assert (got["provider"], got["base_url"]) == ("openai", base)


def test_aliases_and_where_the_name_comes_from(choose):
    key = {"GEMINI_API_KEY": "k"}
    names = {words: choose(words, **key)["name"] for words in ("pro", "flash", "flash-lite")}
    assert all(name.startswith("gemini-") for name in names.values()) and len(set(
        names.values())) == 3
    auto = choose(**key)
    assert auto["name"] == names["pro"]
    assert [one["name"] for one in auto["fallbacks"]] == [names["flash"]]
    assert choose("pro", **key)["fallbacks"] == []  # what was asked for by name stays
    assert choose(settings={"model": {"name": "flash"}}, **key)["name"] == names["flash"]
    assert choose(settings={"model": {"name": "flash"}}, GEMINI_MODEL="m", **key)["name"] == "m"
    assert choose("gemini/flash", **key)["name"] == names["flash"]
    own = {"modelConfigs": {"customAliases": {
        "mine": {"extends": "base"}, "base": {"modelConfig": {"model": "gemini-x"}},
        "a": {"extends": "b"}, "b": {"extends": "a"}}}}
    assert choose("mine", own, **key)["name"] == "gemini-x"
    assert choose("a", own, **key)["name"] in ("a", "b")  # a circle has an end
    chain = choose("pro", {"hasp": {"fallbacks": ["flash", "openai/gpt-5", "ollama/q"]}}, **key)
    assert [one["name"] for one in chain["fallbacks"]] == [names["flash"], "q"]  # no key: left out


def test_the_aliases_mean_what_the_page_says(choose):
    page = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text()
    row, = re.findall(r"^\| (`pro`, .*) \| Gemini's model of that size: (.*) \|$", page, re.M)
    aliases, names = (re.findall("`(.*?)`", cell) for cell in row)
    assert aliases == ["pro", "flash", "flash-lite"]
    assert [choose(alias, GEMINI_API_KEY="k")["name"] for alias in aliases] == names


def test_gemini_clis_variables(choose):
    got = choose("m", GEMINI_API_KEY="k", GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:1/",
                 GEMINI_API_KEY_AUTH_MECHANISM="bearer",
                 GEMINI_CLI_CUSTOM_HEADERS="A: 1, B:x,y=z:1 , C : https://a,b,D:")
    assert (got["base_url"], got["bearer"]) == ("http://127.0.0.1:1/v1beta", True)
    assert got["headers"] == ["A: 1", "B: x", "y=z: 1", "C: https://a,b", "D: "]
    got = choose("m", GEMINI_API_KEY="k", GOOGLE_GEMINI_BASE_URL="https://a/v1",
                 GOOGLE_GENAI_API_VERSION="v9")
    assert got["base_url"] == "https://a/v1"
    assert choose("m", GOOGLE_GEMINI_BASE_URL="https://a")["api_key"] is None  # a gateway


def test_vertex(choose):
    place = {"GOOGLE_CLOUD_PROJECT": "p-1", "GOOGLE_CLOUD_LOCATION": "europe-west4"}
    base = "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p-1/locations/"
    got = choose("m", GOOGLE_GENAI_USE_VERTEXAI="true", GOOGLE_CLOUD_ACCESS_TOKEN="t", **place)
    assert (got["vertex"], got["bearer"], got["base_url"]) == (True, True, base + "europe-west4")
    got = choose("m", {"security": {"auth": {"selectedType": "vertex-ai"}}}, GOOGLE_API_KEY="k")
    assert got["base_url"] == "https://aiplatform.googleapis.com/v1beta1" and not got["bearer"]
    got = choose("vertex/claude-sonnet-4-5", GOOGLE_CLOUD_ACCESS_TOKEN="t", **place)
    assert (got["provider"], got["vertex"]) == ("anthropic", True)
    assert "GOOGLE_CLOUD_PROJECT" in choose("vertex/m", GOOGLE_CLOUD_ACCESS_TOKEN="t")["message"]
    bad = choose("vertex/m", GOOGLE_CLOUD_ACCESS_TOKEN="t", GOOGLE_CLOUD_PROJECT="a/../b",
                 GOOGLE_CLOUD_LOCATION="x.evil.example/")
    assert bad["error"] == "invalid_argument"


def test_the_way_that_is_selected_and_the_one_that_is_enforced(choose):
    def auth(**members):
        return {"security": {"auth": members}}
    key = {"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}
    assert choose("m", auth(selectedType="gemini-api-key"), **key)["provider"] == "gemini"
    login = choose("m", auth(selectedType="oauth-personal"), **key)
    assert login["error"] == "authentication_failed" and "GEMINI_API_KEY" in login["message"]
    assert choose("m", auth(enforcedType="gemini-api-key"), **key)["provider"] == "gemini"
    for words in ("m", "openai/gpt-5"):
        got = choose(words, auth(enforcedType="vertex-ai"), **key)
        assert got["error"] == "authentication_failed" and "enforcedType" in got["message"], words
    asked = choose("m", auth(enforcedType="gemini-api-key", selectedType=""),
                   GOOGLE_GENAI_USE_GCA="true", **key)
    assert asked["error"] == "authentication_failed" and asked["message"].startswith(
        "The enforced authentication type is 'gemini-api-key', but the current type is "
        "'oauth-personal'"), asked
    for more in ({}, {"enforcedType": "gemini-api-key", "selectedType": "gemini-api-key"}):
        got = choose("m", auth(**more), GOOGLE_GENAI_USE_GCA="true", **key)
        assert got["provider"] == "gemini", more


def test_providers_of_ones_own(choose):
    settings = {"hasp": {"providers": {
        "box": {"baseUrl": "http://box/v1", "apiKeyEnv": "BOX_KEY", "headers": {"X-A": "1"}},
        "claude": {"format": "anthropic", "baseUrl": "http://box/v1"},
        "openai": {"baseUrl": "http://gateway/v1"}, "bad": {}}}}
    got = choose("box/m", settings, BOX_KEY="b")
    assert (got["provider"], got["label"], got["api_key"]) == ("openai", "box", "b")
    assert got["headers"] == ["X-A: 1"]
    assert "BOX_KEY" in choose("box/m", settings)["message"]
    assert choose("claude/m", settings)["provider"] == "anthropic"
    got = choose("openai/m", settings, OPENAI_API_KEY="k")
    assert (got["base_url"], got["api_key"]) == ("http://gateway/v1", "k")
    assert "baseUrl" in choose("bad/m", settings)["message"]
    nobody = choose("nobody/m", settings)
    assert nobody["error"] == "invalid_argument" and "anthropic" in nobody["message"]


def test_attempts_and_a_proxy_of_the_env_file(choose):
    got = choose("ollama/m", {"general": {"maxAttempts": 3}}, dotenv="HTTPS_PROXY=http://p:1\n")
    assert (got["max_attempts"], got["proxy"]) == (3, "http://p:1")


@pytest.mark.parametrize("given, counts", [
    ({}, [30000, 300000, 900000, 3600000]),
    ({"connectSeconds": 5, "idleSeconds": 20, "pingSeconds": 30, "replySeconds": 70},
     [5000, 20000, 30000, 70000]),
    ({"connectSeconds": 0, "idleSeconds": -1, "pingSeconds": 0, "replySeconds": 0},
     [1000, 10000, 10000, 60000]),
    (dict.fromkeys(["connectSeconds", "idleSeconds", "pingSeconds", "replySeconds"], 10 ** 15),
     [300000, 3600000, 7200000, 86400000])])
def test_waits_have_a_floor_and_a_ceiling(choose, given, counts):
    assert choose("ollama/m", {"hasp": {"waits": given}})["waits"] == counts


def test_a_recording_is_a_model(choose, tmp_path):
    file = tmp_path / "a b.jsonl"
    file.write_text("")
    got = choose("replay:%s" % file)
    assert (got["provider"], got["replay_file"]) == ("replay", str(file))


def test_what_is_chosen_answers(choose):
    with FakeServer(fake_gemini.Provider(), [{"reply": [{"text": "ok"}]}]) as server:
        lines = choose("flash", {}, request={"contents": [{"role": "user",
                                                           "parts": [{"text": "x"}]}]},
                       GEMINI_API_KEY="test-key", GOOGLE_GEMINI_BASE_URL=server.url)
        assert server.violations == []
    assert lines[-1]["reply"]["content"]["parts"] == [{"text": "ok"}]
