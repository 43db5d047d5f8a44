# SPDX-License-Identifier: Apache-2.0
"""Lists and pages that slash commands open: models, themes."""
import json

import terminal
from fake_gemini import call, text

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


def test_what_is_allowed_is_shown_and_taken_back_by_a_key(world):
    from test_dialogs import choose, write
    script = [[write("a", "1\n")], [text("One.")], [write("b", "2\n")], [text("Two.")]]
    with world.fake(script) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("go").key("enter")
            choose(hasp, "Allow for this session").wait("One.").quiet(0.1)
            hasp.type("/permissions").key("enter").wait("Mode: default").wait("since ")
            hasp.type("files").wait("(1 of 3)").key("ctrl+x").wait("No longer allowed for this session")
            hasp.quiet(0.2).type("again").key("enter").wait("Apply this change?").key("esc").quiet()
            hasp.type("/permissions mode plan").key("enter").wait("Mode: plan.")


def test_settings_are_changed_on_their_page(world):
    with world.fake([]) as server:
        with world.hasp(server, rows=30) as hasp:
            hasp.wait("sandbox:").type("/settings").key("enter").wait("Settings  Search:")
            hasp.type("hideBanner").wait("ui.hideBanner").key("enter").wait("ui.hideBanner = true")
            hasp.wait("(user").wait("Search: hideBanner")  # the page stays, with what was searched for
            assert saved(world)["ui"]["hideBanner"] is True
            hasp.key("ctrl+x").wait("ui.hideBanner = false").quiet()
            assert "hideBanner" not in saved(world).get("ui", {})
            hasp.type("/settings edit general.defaultApprovalMode").key("enter").wait("auto_edit").key("down", "enter")
            hasp.wait("general.defaultApprovalMode = ").type("/settings edit model.name").key("enter")
            hasp.wait("> /settings model.name")


def test_clear_clears_and_quit_names_a_session_only_if_there_is_one(world):
    with world.fake([[text("First.")]], append_only=False) as server:
        with world.hasp(server) as hasp:
            hasp.type("one").key("enter").wait("First.").wait("4").quiet()
            hasp.type("/clear").key("enter").wait("New session.").quiet()
            assert not any("First." in line for line in hasp.dump().window)
            assert not any(" in, " in line for line in hasp.dump().window)
            hasp.type("/quit").key("enter")
            assert hasp.end() == 0
            assert "--resume" not in hasp.dump().text
        with world.hasp(server, "--resume", "latest", shown="First.") as hasp:
            hasp.type("/quit").key("enter")
            assert hasp.end() == 0
            assert "To continue this session: hasp --resume " in hasp.dump().text


def test_clear_takes_the_scrollback_unless_it_is_to_be_kept(world):
    lines = "".join("line %d of it\n\n" % number for number in range(60))
    for keeps in (False, True):
        if keeps:
            world.settings(hasp={"clearScrollback": False})
        with world.fake([[text(lines)], [text("Anew.")]], append_only=False) as server:
            with world.hasp(server, kind=terminal.Tmux) as hasp:
                hasp.wait("sandbox:").type("one").key("enter").wait("line 59 of it").quiet(0.3)
                assert "line 2 of it" in "\n".join(hasp.dump().scrollback)
                hasp.type("/clear").key("enter").wait("New session.").quiet(0.3)
                assert ("line 2 of it" in hasp.dump().text) == keeps
                assert not any("line" in row for row in hasp.dump().window)
                hasp.type("two").key("enter").wait("Anew.")


def test_nothing_of_the_session_before_is_left_and_a_resumed_one_has_its_own(world):
    """To-do lists, tokens, and what "!" printed for the next prompt."""
    todos = [call("write_todos", {"todos": [{"description": "Paint the shed", "status": "in_progress"}]})]
    with world.fake([todos, [text("One.")], [text("Two.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("one").key("enter").wait("One.").quiet()
            hasp.key("ctrl+t").wait("Paint the shed").type("!echo MANGO").key("enter").wait("MANGO").quiet(0.3)
            hasp.key("esc").quiet(0.1).type("/clear").key("enter").wait("New session.").quiet(0.2)
            hasp.key("ctrl+t").wait("There are no todos.").type("two").key("enter").wait("Two.").quiet()
            assert "MANGO" not in str(server.requests[-1].body) and "Paint" not in str(server.requests[-1].body["contents"])
            hasp.type("/resume 1").key("enter").wait("The session continues here.").quiet()
            assert not any(" in, " in line for line in hasp.dump().window)
            hasp.key("ctrl+t").quiet(0.2)
            assert "Paint the shed" in hasp.dump().text.split("continues here")[1]
        with world.hasp(server, "--resume", "1", shown="continues here") as hasp:
            hasp.key("ctrl+t").quiet(0.2)
            assert "Paint the shed" in hasp.dump().text.split("continues here")[1]


def test_what_is_typed_while_a_list_is_fetched_chooses_nothing(world, held):
    with world.fake([]) as server:
        server.lists[GEMINI_LIST] = lambda request: (held(request), GEMINI)[1]
        with world.hasp(server, rows=30) as hasp:
            hasp.wait("sandbox:").type("/model").key("enter")
            held.wait()
            hasp.type("draft").wait("> draft")
            held.go.set()
            hasp.wait("Search:").key("enter").quiet(0.2)
            assert "Search:" in hasp.dump().text and "Model: gemini" not in hasp.dump().text.split("Search:")[1]
            hasp.quiet(0.6).type("3.8-fl").wait("(1 of 7)").key("enter").wait("Model: gemini/gemini-3.8-flash").wait("> draft")


def test_a_command_that_asks_the_model_is_one_line_now_and_later(world):
    with world.fake([[text("Looks good.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("/review main").key("enter").wait("Looks good.").quiet(0.2)
            assert "> /review main" in hasp.dump().text and "Report problems" not in hasp.dump().text
            hasp.type("/chat list").key("enter").wait("*    /review main").quiet(0.2)
            hasp.type("/rewind").key("enter").wait("1. /review main").key("enter").wait("> /review main").quiet(0.2)
            assert "Report problems" not in hasp.dump().text
            hasp.key("ctrl+u").quiet(0.1).type("/rewind undo").key("enter").quiet(0.5)
        with world.hasp(server, "--resume", "latest", rows=40, shown="Looks good.") as hasp:
            hasp.wait("continues here").quiet(0.2)
            assert "> /review main" in hasp.dump().text and "Report problems" not in hasp.dump().text
    assert "Report problems" in str(server.requests[0].body["contents"])


def test_effort_is_kept_by_a_key_and_stands_in_the_status_line(world):
    with world.fake([[text("First.")]], append_only=False) as server:
        server.lists[GEMINI_LIST] = GEMINI
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("/model").key("enter").wait("Search:").type("effort high").wait("(1 of 7)")
            hasp.key("enter").wait("Effort: high, in this session.").wait("-preview high")
            assert "effort" not in saved(world).get("hasp", {})
            hasp.type("/model").key("enter").wait("Search:").type("effort low").wait("(1 of 7)").key("ctrl+s")
            hasp.wait("Effort: low, in this session and in new ones.").wait("-preview low")
            assert saved(world)["hasp"]["effort"] == "low"
        with world.hasp(server) as hasp:
            hasp.wait("-preview low").type("one").key("enter").wait("First.").quiet()
            assert "'thinkingLevel': 'low'" in str(server.requests[0].body).lower().replace("thinkinglevel", "thinkingLevel")
            hasp.type("/model effort default --save").key("enter").wait("Effort: default").gone("-preview low")
            assert "effort" not in saved(world).get("hasp", {})


def test_a_session_that_begins_with_a_command_is_called_after_it(world):
    with world.fake([[text("First.")]], append_only=False) as server:
        with world.hasp(server, rows=40) as hasp:
            hasp.wait("sandbox:").type("!").wait("Shell command (Esc").type("echo hello").key("enter").wait("hello").quiet()
            hasp.key("esc").quiet(0.2).type("what was that?").key("enter").wait("First.").quiet()
            hasp.type("/chat list").key("enter").wait("$ echo hello")
            assert "The user ran" not in hasp.dump().text


def test_a_file_that_goes_along_leaves_a_line(world):
    world.write("notes.md", "a\n")
    world.write("src/a.c", "1\n")
    world.write("src/b.c", "2\n")
    with world.fake([[text("First.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("see @notes.md and @src ").key("enter").wait("Attached: notes.md, src (2 files)")
            hasp.wait("First.")


def test_the_shell_completes_commands_and_what_bash_knows(world):
    with world.fake([]) as server:
        with world.hasp(server) as hasp:
            hasp.wait("sandbox:").type("!printe").wait("> printenv").key("tab").wait("! printenv").key("ctrl+u")
            assert not server.requests


def test_an_unknown_command_does_not_wait_for_the_turn(world, held):
    with world.fake([{"reply": [text("First.")], "expect": held}]) as server:
        with world.hasp(server) as hasp:
            hasp.type("one").key("enter")
            held.wait()
            hasp.type("/nonsense").key("enter").wait("Unknown command /nonsense.")
            hasp.type("/chat foo").key("enter").wait("Usage: /chat [list")
            held.go.set()
            hasp.wait("First.")


def test_pages_fit_any_window(world):
    """40, 80 and 200 columns, without colours, with wide and right-to-left names, and for a screen reader."""
    odd = [{"name": "models/" + name, "displayName": title, "supportedGenerationMethods": ["generateContent"]}
           for name, title in (("模型", "大きなモデル"), ("דגם", "דגם גדול"))]
    for columns, rows, env, flags in ((40, 24, {}, []), (80, 24, {"NO_COLOR": "1"}, []), (200, 50, {}, []),
                                      (80, 24, {}, ["--screen-reader"])):
        with world.fake([]) as server:
            server.lists[GEMINI_LIST] = {"models": GEMINI["models"] + odd}
            with world.hasp(server, *flags, columns=columns, rows=rows, env=env, shown="hasp 0.1.0") as hasp:
                hasp.quiet(0.3)
                for line, shown in (("/model", "模型"), ("/permissions", "Mode: default"), ("/theme", "dracula"),
                                    ("/settings", "1 of" if not flags else "policyPaths")):
                    hasp.type(line).key("enter").wait(shown if not line == "/settings" or flags else "Settings").quiet()
                    window = hasp.dump().window
                    assert all(len(row) <= columns for row in window), window
                    assert flags or any("Esc to cancel" in row or "to cancel" in row for row in window), window
                    hasp.key("esc").quiet()


def test_questions_fit_any_window(world):
    """The same of edits and commands, with wide and right-to-left names in them."""
    odd = "模型-דגם.txt"
    script = [[call("write_file", {"file_path": odd, "content": "大きな דגם\n" * 3})],
              [call("run_shell_command", {"command": "python3 " + odd})], [text("Done.")]]
    for columns, rows, env, flags in ((40, 24, {}, []), (80, 24, {"NO_COLOR": "1"}, []), (200, 50, {}, []),
                                      (80, 24, {}, ["--screen-reader"])):
        with world.fake(script, append_only=False) as server:
            with world.hasp(server, *flags, columns=columns, rows=rows, env=env, shown="hasp 0.1.0") as hasp:
                hasp.quiet(0.3).type("go").key("enter").wait("Allow once").wait("模型").wait("大きな").quiet(0.3)
                hasp.type("1").wait("python3").wait("Allow once").quiet(0.3)
                assert any("Allow once" in row for row in hasp.dump().window)
                hasp.type("1").wait("Done.").quiet(0.2)
                after = hasp.dump()
                assert "Allow once" not in "\n".join(after.window) or flags, after.window
                assert (world.root / odd).exists()
                (world.root / odd).unlink()
