# SPDX-License-Identifier: Apache-2.0
"""How long a conversation may be: by the table, by the setting, by the provider's own word."""
import json
import os
import subprocess

import fake_anthropic
import fake_gemini
import fake_openai
import pytest
from fake_server import FakeServer
from jobs import ends_well  # noqa: F401
from jobs import options, run

LISTS = {
    "gemini": (fake_gemini.Provider, "gemini-9-new", "/v1beta", "/v1beta/models/gemini-9-new",
               {"name": "models/gemini-9-new", "inputTokenLimit": 2097152}, 2097152),
    "anthropic": (fake_anthropic.Provider, "claude-new-9", "/v1", "/v1/models/claude-new-9",
                  {"id": "claude-new-9", "max_input_tokens": 777000}, 777000),
    # OpenRouter, Groq, Mistral, vLLM, llama.cpp.
    "context_length": (fake_openai.Provider, "a/b", "/v1", "/v1/models",
                       {"data": [{"id": "x", "context_length": 1}, {"id": "a/b",
                                 "context_length": 65536}]}, 65536),
    "context_window": (fake_openai.Provider, "m", "/v1", "/v1/models",
                       {"data": [{"id": "m", "context_window": 131072}]}, 131072),
    "max_context_length": (fake_openai.Provider, "m", "/v1", "/v1/models",
                           {"data": [{"id": "m", "max_context_length": 40000}]}, 40000),
    "max_model_len": (fake_openai.Provider, "m", "/v1", "/v1/models",
                      {"data": [{"id": "m", "max_model_len": 4096}]}, 4096),
    "meta": (fake_openai.Provider, "m", "/v1", "/v1/models",
             {"data": [{"id": "m", "meta": {"n_ctx": 8192, "n_ctx_train": 131072}}]}, 8192),
}


def limits(opened):
    return run({"options": opened, "limits": True})[-1]


@pytest.mark.parametrize("kind", sorted(LISTS))
def test_the_provider_says_it_itself(tmp_path, kind):
    fake, name, base, path, answer, tokens = LISTS[kind]
    file = str(tmp_path / "learnt.json")
    with FakeServer(fake(), []) as server:
        server.lists[path] = answer
        opened = options(provider=kind if kind in ("gemini", "anthropic") else "openai", name=name,
                         base_url=server.url + base, learnt_file=file)
        assert limits(opened)["limits"] == tokens
        # It is remembered, and not asked again; a setting goes before it.
        assert limits(opened)["limits"] == tokens and len(server.asked) == 1
        assert limits(dict(opened, context_tokens=5000))["limits"] == 5000
        key = {"gemini": "x-goog-api-key", "anthropic": "x-api-key"}.get(kind, "authorization")
        assert "test-key" in server.asked[0].headers[key]
        known = json.loads((tmp_path / "learnt.json").read_text())
        (entry,) = known.values()
        entry["contextUntil"] = "2026-01-01"
        (tmp_path / "learnt.json").write_text(json.dumps(known))
        assert limits(opened)["limits"] == tokens and len(server.asked) == 2


def test_what_many_learn_at_once_is_all_kept(tmp_path):
    """Each process asks about models of its own, and adds them to the same file."""
    processes, each = 12, 8
    names = [["m%d-%d" % (i, k) for k in range(each)] for i in range(processes)]
    with FakeServer(fake_openai.Provider(), []) as server:
        server.lists["/v1/models"] = {"data": [{"id": name, "context_length": 65536}
                                               for mine in names for name in mine]}
        probes = [subprocess.Popen([os.environ["MODEL_PROBE"]], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL) for _ in names]
        for probe, mine in zip(probes, names):
            for name in mine:
                opened = options(provider="openai", name=name, base_url=server.url + "/v1",
                                 learnt_file=str(tmp_path / "learnt.json"))
                probe.stdin.write(json.dumps({"options": opened, "limits": True}).encode() + b"\n")
            probe.stdin.close()
        assert [probe.wait(60) for probe in probes] == [0] * processes
    known = json.loads((tmp_path / "learnt.json").read_text())
    assert sorted(entry["model"] for entry in known.values()) == sorted(
        "openai/" + name for mine in names for name in mine)
    assert os.listdir(tmp_path) == ["learnt.json"]


@pytest.mark.parametrize("answer", [None, [], {}, {"data": 3}, {"data": [{"id": "m"}]},
                                    {"data": [{"id": "m", "context_length": 1}]},
                                    {"data": [{"id": "m", "context_length": "many"}]}])
def test_an_answer_that_says_nothing_changes_nothing(answer):
    with FakeServer(fake_openai.Provider(), []) as server:
        if answer is not None:
            server.lists["/v1/models"] = answer
        opened = options(provider="openai", name="m", base_url=server.url + "/v1")
        assert limits(opened)["limits"] == 262144 and len(server.asked) == 1
    # Nobody is there any more.
    assert limits(opened)["limits"] == 262144


@pytest.mark.parametrize("provider, name, tokens", [
    ("openai-responses", "gpt-5.6", 1050000), ("openai-responses", "gpt-5.6-sol", 1050000),
    ("openai-responses", "gpt-6", 1050000), ("openai-responses", "gpt-6.1-terra", 1050000),
    ("openai-responses", "gpt-5.4", 1050000), ("openai-responses", "gpt-5.4-mini", 400000),
    ("openai-responses", "gpt-5.2", 400000), ("openai-responses", "gpt-7", 262144),
    ("gemini", "gemini-3.8-flash", 1048576), ("anthropic", "claude-opus-5-5", 1000000)])
def test_what_the_tables_say(provider, name, tokens):
    # Nobody listens there: what is known needs no answer.
    assert limits(options(provider=provider, name=name,
                          base_url="http://127.0.0.1:1/v1"))["limits"] == tokens
