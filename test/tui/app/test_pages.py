# SPDX-License-Identifier: Apache-2.0
"""Lists and pages that slash commands open: models, themes."""
import json

from fake_gemini import text

READY = "? for keys"
GEMINI_LIST = "/v1beta/models"
GEMINI = {"models": [
    {"name": "models/gemini-3.8-flash", "displayName": "Gemini 3.8 Flash", "inputTokenLimit": 1048576,
     "supportedGenerationMethods": ["generateContent", "countTokens"]},
    {"name": "models/gemini-3.1-pro-preview", "displayName": "Gemini 3.1 Pro", "inputTokenLimit": 2097152,
     "supportedGenerationMethods": ["generateContent"]},
    {"name": "models/text-embedding-9", "supportedGenerationMethods": ["embedContent"]}]}


def models_of(server):
    return [request.path.split("/models/")[1].split(":")[0] for request in server.requests]


def saved(world):
    path = world.home / ".gemini" / "settings.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_model_is_chosen_from_the_list_of_its_provider(world):
    with world.fake([[text("First.")], [text("Second.")]], append_only=False) as server:
        server.lists[GEMINI_LIST] = GEMINI
        with world.hasp(server, columns=80, shown=READY) as hasp:
            hasp.type("one").key("enter").wait("First.").quiet()
            hasp.type("/model").key("enter").wait("gemini/gemini-3.1-pro-preview").wait("2.1M tokens")
            assert "text-embedding-9" not in hasp.dump().text
            hasp.type("3.8-fl").wait("(1 of 7)").key("enter").wait("Model: gemini/gemini-3.8-flash")
            hasp.type("two").key("enter").wait("Second.")
    assert models_of(server)[1] == "gemini-3.8-flash" != models_of(server)[0]
    assert "First." in str(server.requests[1].body["contents"])
    assert "name" not in saved(world).get("model", {})


def test_a_model_is_kept_for_new_sessions_and_unknown_ones_are_refused(world):
    with world.fake([[text("First.")]], append_only=False) as server:
        server.lists[GEMINI_LIST] = GEMINI
        with world.hasp(server, columns=100) as hasp:
            hasp.wait("sandbox:").type("/model gemini/gemini-3.8-flush").key("enter")
            hasp.wait("Did you mean gemini/gemini-3.8-flash?").wait("--unchecked")
            hasp.type("/model gemini/gemini-3.1").wait("> gemini/gemini-3.1-pro-preview").key("tab")
            hasp.type(" --save").key("enter").wait("New sessions use gemini/gemini-3.1-pro-preview, too")
            assert saved(world)["model"]["name"] == "gemini/gemini-3.1-pro-preview"
            hasp.type("/model").key("enter").wait("(7 of 7)").type("3.8").key("ctrl+s")
            hasp.wait("New sessions use gemini/gemini-3.8-flash, too")
            assert saved(world)["model"]["name"] == "gemini/gemini-3.8-flash"
            assert len(server.asked) == 1  # it is remembered


def test_a_conversation_goes_on_with_another_providers_model(world):
    """What the first model thought and signed does not reach the other's API, which would refuse it."""
    first = [[{"text": "Hm.", "thought": True}, text("First.")]]
    with world.fake(first) as gemini, world.fake([[text("Second.")]], kind="openai") as openai:
        openai.lists["/v1/models"] = {"data": [{"id": "gpt-4.1"}, {"id": "text-embedding-3"}]}
        with world.hasp(gemini, env={"OPENAI_API_KEY": world.KEY, "OPENAI_BASE_URL": openai.url + "/v1"}) as hasp:
            hasp.type("one").key("enter").wait("First.").wait(READY)
            hasp.type("/model openai/gpt-4.1").key("enter").wait("Model: openai/gpt-4.1")
            hasp.type("two").key("enter").wait("Second.")
            hasp.wait("openai/gpt-4.1")
    assert not gemini.violations and not openai.violations
    assert "First." in str(openai.requests[0].body["messages"])


def test_a_provider_that_cannot_be_asked_is_named(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("/model").key("enter").wait("gemini: ").wait("/model PROVIDER/NAME")


def test_a_theme_is_seen_before_it_is_chosen(world):
    """In its colours, while it is selected; Esc brings the old ones back."""
    with world.fake([]) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("/theme").key("enter").wait("Theme  Search:").quiet()
            before = hasp.raw() if hasattr(hasp, "raw") else None
            hasp.key("down").quiet()
            after = hasp.raw() if hasattr(hasp, "raw") else None
            hasp.key("esc").quiet()
            assert before is None or before != after
            assert "theme" not in saved(world).get("ui", {})
            hasp.type("/theme nothing").key("enter").wait('There is no theme "nothing"')
