# SPDX-License-Identifier: Apache-2.0
"""Recorded sessions, modes, options, commands, plans, usage: what an editor's menus and lists show."""
import json
import re
import uuid
from pathlib import Path

import pytest

from editor import Editor, Refused, Session
from fake_gemini import call, text, thought


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def options(answer):
    return {option["id"]: option for option in answer["configOptions"]}


# ---- recorded sessions

def test_a_session_goes_on_in_another_process_with_all_that_was_said(world):
    world.write("a.txt", "one\n")
    script = [[thought("Hm."), call("read_file", {"file_path": "a.txt"})], [text("It says one.")],
              [text("Again: one.")]]
    server = world.fake(script, append_only=False)
    with server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("what does @a.txt say?")
        editor.end()
        editor = Editor(world, server)
        listed = editor.request("session/list", cwd=str(world.root))
        assert [row["sessionId"] for row in listed["sessions"]] == [session.id]
        assert listed["sessions"][0]["cwd"] == str(world.root) and "a.txt" in listed["sessions"][0]["title"]
        answer = editor.request("session/load", sessionId=session.id, cwd=str(world.root), mcpServers=[])
        loaded = Session(editor, session.id, answer)
        assert "configOptions" in answer and "sessionId" not in answer
        # The user's words, without the file that went along; in the order of the conversation.
        kinds = [update["sessionUpdate"] for update in loaded.updates()]
        assert kinds[:4] == ["user_message_chunk", "agent_thought_chunk", "tool_call", "agent_message_chunk"]
        assert loaded.said("user_message_chunk") == "what does @a.txt say?"
        assert loaded.said() == "It says one."
        read = loaded.updates("tool_call")[0]
        assert (read["kind"], read["status"], read["locations"]) == (
            "read", "completed", [{"path": str(world.root / "a.txt")}])
        assert loaded.prompt("again?")["stopReason"] == "end_turn"
        assert "It says one." in json.dumps(server.requests[-1].body)
        assert editor.end() == 0


def test_a_session_of_the_editor_goes_on_in_the_terminal_and_back(world):
    with world.fake([[text("First.")], [text("Second.")], [text("Third.")]], append_only=False) as server:
        with Editor(world, server) as editor:
            session = editor.new()
            session.prompt("one")
        assert world.command("-r", session.id, "-p", "two", server=server).text == "Second.\n"
        with Editor(world, server) as editor:
            answer = editor.request("session/resume", sessionId=session.id, cwd=str(world.root))
            resumed = Session(editor, session.id, answer)
            assert not resumed.updates("user_message_chunk", "agent_message_chunk")
            resumed.prompt("three")
        said = json.dumps(server.requests[-1].body)
        assert "First." in said and "Second." in said


def test_a_session_that_is_not_there_is_not_found(world):
    other = world.top / "other"
    other.mkdir()
    with world.fake([[text("Yes.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("there?")
        session.close()
        for id, folder in ((str(uuid.uuid4()), world.root), ("latest", world.root), ("1", world.root),
                           (session.id, other), ("../x", world.root), ("", world.root)):
            with pytest.raises(Refused) as refused:
                editor.request("session/load", sessionId=id, cwd=str(folder), mcpServers=[])
            assert refused.value.code == -32002, refused.value.message


def test_a_session_that_is_open_is_not_opened_twice(world):
    with world.fake([[text("Yes.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("there?")
        with pytest.raises(Refused):
            editor.request("session/resume", sessionId=session.id, cwd=str(world.root), mcpServers=[])
        with pytest.raises(Refused):
            editor.request("session/delete", sessionId=session.id)


def test_deleted_sessions_are_listed_no_more(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server, Editor(world, server) as editor:
        first, second = editor.new(), editor.new()
        first.prompt("one")
        second.prompt("two")
        first.close()
        assert editor.request("session/delete", sessionId=first.id) == {}
        assert editor.request("session/delete", sessionId=first.id) == {}
        assert [row["sessionId"] for row in editor.request("session/list")["sessions"]] == [second.id]


def test_lists_come_in_pages_the_latest_first(world):
    with world.fake([[text("Hello.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("first")
        session.close()
    [file] = world.sessions()
    lines = file.read_text().splitlines()
    for i in range(1, 61):
        id = str(uuid.uuid4())
        file.with_name("session-2026-01-01T00-%02d-%s.jsonl" % (i % 60, id[:8])).write_text("\n".join(
            line.replace(session.id, id).replace("2026-", "20%02d-" % (30 + i)) for line in lines) + "\n")
    with Editor(world, raw=True) as editor:
        first = editor.request("session/list", cwd=str(world.root))
        second = editor.request("session/list", cwd=str(world.root), cursor=first["nextCursor"])
        times = [row["updatedAt"] for row in first["sessions"] + second["sessions"]]
        assert len(times) == 61 and times == sorted(times, reverse=True) and "nextCursor" not in second
        assert editor.request("session/list", cwd="/nowhere") == {"sessions": []}
        for params in ({"cursor": "x"}, {"cursor": "from-1x"}, {"cwd": "relative"}):
            with pytest.raises(Refused):
                editor.request("session/list", **params)


def test_the_title_is_the_first_prompt_or_what_the_model_says(world):
    script = [[text("Yes.")], [call("update_topic", {"title": "Tests", "strategic_intent": "look"})], [text("Done.")]]
    with world.fake(script) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("Fix the build\nplease")
        assert [update["title"] for update in session.updates("session_info_update")] == ["Fix the build"]
        session.prompt("go on")
        assert [update["title"] for update in session.updates("session_info_update")][1:] in ([], ["Tests"])


# ---- modes and options

def test_modes_are_those_that_may_be_used_here(world):
    world.settings(security={"disableYoloMode": True})
    with world.fake([]) as server, Editor(world, server) as editor:
        session = editor.new()
        modes = session.answer["modes"]
        assert modes["currentModeId"] == "default"
        assert [mode["id"] for mode in modes["availableModes"]] == ["default", "autoEdit", "plan"]
        assert [value["value"] for value in options(session.answer)["mode"]["options"]] == ["default", "autoEdit",
                                                                                          "plan"]
        with pytest.raises(Refused, match="yolo"):
            editor.request("session/set_mode", sessionId=session.id, modeId="yolo")
        with pytest.raises(Refused, match="not a mode"):
            editor.request("session/set_mode", sessionId=session.id, modeId="fast")


@pytest.mark.parametrize("how", ["mode", "option"])
def test_a_mode_counts_from_the_next_call_on(world, how):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        if how == "mode":
            editor.request("session/set_mode", sessionId=session.id, modeId="autoEdit")
        else:
            answer = editor.request("session/set_config_option", sessionId=session.id, configId="mode",
                                    value="autoEdit")
            assert options(answer)["mode"]["currentValue"] == "autoEdit"
        session.prompt("go")
        assert not [m for m in editor.heard if m["method"] == "session/request_permission"]
        assert session.updates("current_mode_update")[-1]["currentModeId"] == "autoEdit"
        assert options(session.updates("config_option_update")[-1])["mode"]["currentValue"] == "autoEdit"
    assert world.read("a.txt") == "one\n"


GEMINI_LIST = "/v1beta/models"
GEMINI = [{"name": "models/gemini-" + name, "supportedGenerationMethods": ["generateContent"], "inputTokenLimit": tokens}
          for name, tokens in (("2.5-pro", 1048576), ("9-flash", 65536))]


def choose(editor, session, id, value):
    return editor.request("session/set_config_option", sessionId=session.id, configId=id, value=value)


def values(answer, id):
    return [value["value"] for value in options(answer)[id]["options"]]


def with_models(world, server, *more):
    """As when the providers were asked for their lists today."""
    server.lists[GEMINI_LIST] = {"models": GEMINI}
    assert "gemini-9-flash" in world.command("models", server=server).text
    return Editor(world, server, "-m", "gemini-2.5-pro", *more)


def test_models_are_those_that_the_providers_list(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server:
        server.lists[GEMINI_LIST] = {"models": GEMINI}
        with Editor(world, server, "-m", "gemini-2.5-pro") as editor:
            session = editor.new()
            assert values(session.answer, "model") == ["gemini/gemini-2.5-pro"]
            assert not server.asked
            session.prompt("one")
            known = editor.wait_update("config_option_update")
            assert values(known, "model") == ["gemini/gemini-2.5-pro", "gemini/gemini-9-flash"]
            # The next ones know them at once, and the provider is not asked again.
            other = editor.new()
            assert values(other.answer, "model") == values(known, "model")
            other.prompt("two")
    assert len([request for request in server.asked if request.path == GEMINI_LIST]) == 1


def test_another_model_answers_from_the_next_prompt_on_and_knows_all(world):
    script = [[write("a.txt", "one\n")], [text("One.")], [write("b.txt", "two\n")], [text("Two.")]]
    with world.fake(script, append_only=False) as server, with_models(world, server) as editor:
        session = editor.new()
        editor.on("session/request_permission", editor.choose("proceed_always"))
        session.prompt("first")
        answer = choose(editor, session, "model", "gemini/gemini-9-flash")
        assert options(answer)["model"]["currentValue"] == "gemini/gemini-9-flash"
        assert session.prompt("second")["stopReason"] == "end_turn"
        assert ["9-flash" in request.path for request in server.requests] == [False, False, True, True]
        assert "One." in json.dumps(server.requests[2].body)
        assert session.said() == "One.Two."
        # It is the same session: what was allowed for it is not asked about again.
        assert len([m for m in editor.heard if m["method"] == "session/request_permission"]) == 1
    assert len(world.sessions()) == 1


def test_a_choice_waits_for_the_prompt_under_way(world):
    with world.fake([[text("One."), text(" ")], [text("Two.")]], append_only=False) as server:
        with with_models(world, server) as editor:
            session = editor.new()
            prompt = session.begin("first")
            chosen = editor.send("session/set_config_option", sessionId=session.id, configId="model",
                                 value="gemini/gemini-9-flash")
            second = session.begin("second")
            assert options(editor.result(chosen))["model"]["currentValue"] == "gemini/gemini-9-flash"
            assert prompt in editor.answers and editor.result(second)["stopReason"] == "end_turn"
            assert ["9-flash" in request.path for request in server.requests] == [False, True]


def test_a_model_can_be_chosen_before_the_first_prompt(world):
    with world.fake([[text("One.")]]) as server, with_models(world, server) as editor:
        session = editor.new()
        choose(editor, session, "model", "gemini/gemini-9-flash")
        editor.request("session/set_mode", sessionId=session.id, modeId="plan")
        session.prompt("first")
        assert "9-flash" in server.requests[0].path
        assert options(session.updates("config_option_update")[-1])["mode"]["currentValue"] == "plan"
        assert "plan" in json.dumps(server.requests[0].body)


def test_a_model_whose_key_has_gone_is_refused_and_the_one_before_goes_on(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server, world.fake([]) as other:
        other.lists["/v1/models"] = {"data": [{"id": "gpt-5", "object": "model"}]}
        env = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": other.url + "/v1"}
        assert "openai/gpt-5" in world.command("models", server=server, env=env).text
        with Editor(world, server, "-m", "gemini-2.5-flash") as editor:
            session = editor.new()
            session.prompt("first")
            with pytest.raises(Refused, match="OPENAI_API_KEY") as refused:
                choose(editor, session, "model", "openai/gpt-5")
            assert refused.value.code == -32000
            assert session.prompt("third")["stopReason"] == "end_turn"
            assert session.said() == "One.Two."


def test_thinking_is_what_was_chosen(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server:
        with Editor(world, server, "-m", "gemini-2.5-flash") as editor:
            session = editor.new()
            assert options(session.answer)["thinking"]["currentValue"] == "default"
            assert values(session.answer, "thinking") == ["default", "off", "low", "medium", "high"]
            assert options(choose(editor, session, "thinking", "off"))["thinking"]["currentValue"] == "off"
            session.prompt("one")
            assert server.requests[0].body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 0
            choose(editor, session, "thinking", "default")
            session.prompt("two")
            before = server.requests[1].body["generationConfig"].get("thinkingConfig", {})
            assert before.get("thinkingBudget") != 0


def test_menus_follow_what_a_command_changes(world):
    with world.fake([]) as server, with_models(world, server) as editor:
        session = editor.new()
        session.prompt("/model gemini/gemini-9-flash")
        session.prompt("/model effort high")
        while options(session.updates("config_option_update")[-1])["thinking"]["currentValue"] != "high":
            editor.receive()
        last = options(session.updates("config_option_update")[-1])
        assert last["model"]["currentValue"] == "gemini/gemini-9-flash"


def test_options_take_only_their_own_values(world):
    with world.fake([]) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        for id, value in (("model", "openai/gpt-5"), ("model", "x"), ("thinking", "much"), ("mode", "x"), ("font", "x"),
                          ("mode", True), ("mode", None)):
            with pytest.raises(Refused) as refused:
                editor.request("session/set_config_option", sessionId=session.id, configId=id, value=value)
            assert refused.value.code == -32602


# ---- commands, plans, usage

def test_commands_come_after_the_answer_and_are_hasps_and_the_users(world):
    (world.home / ".gemini/commands").mkdir()
    (world.home / ".gemini/commands/fix.toml").write_text('description = "Fix it"\nprompt = "Fix {{args}}"\n')
    with world.fake([]) as server, Editor(world, server, raw=True) as editor:
        session = editor.send("session/new", cwd=str(world.root), mcpServers=[])
        while session not in editor.answers:
            editor.receive()
        assert not editor.heard
        commands = {row["name"]: row for row in editor.wait_update("available_commands_update")["availableCommands"]}
        assert commands["fix"]["description"] == "Fix it" and "about" in commands and "compress" in commands
        assert not {"clear", "fork", "ide", "quit", "resume", "theme", "vim", "auth"} & set(commands)
        assert commands["memory"]["input"]["hint"] and "input" not in commands["about"]


def test_commands_that_are_a_terminals_or_open_another_session_are_refused(world):
    with world.fake([[text("One.")]]) as server, Editor(world, server) as editor:
        session, other = editor.new(), editor.new()
        session.prompt("one")
        for line in ("/clear", "/new", "/fork", "/resume " + other.id, "/theme dark", "/quit --delete", "/login"):
            assert session.prompt(line)["stopReason"] == "end_turn"
            assert session.said().endswith("works in hasp's own terminal only.  \n"), line
        session.prompt("/chat resume " + other.id)
        assert "Open it in the program" in session.said()
        session.prompt("/chat rename Fresh")
        session.prompt("/help")
        assert "/theme" not in session.said().rpartition("Fresh")[2] and "/compress" in session.said()
    assert len(world.sessions()) == 1


def skill(world, name, text):
    folder = world.home / ".gemini/skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: %s\ndescription: Does %s.\n---\n%s\n" % (name, name, text))


def test_a_skill_is_a_command(world):
    skill(world, "release-notes", "Group them by subject.")
    with world.fake([[text("Done.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        commands = editor.wait_update("available_commands_update")["availableCommands"]
        assert {"name": "release-notes", "description": "Does release-notes.",
                "input": {"hint": "arguments"}} in commands
        assert session.prompt("/release-notes of today")["stopReason"] == "end_turn"
        said = json.dumps(server.requests[0].body["contents"])
        assert "Group them by subject." in said and "of today" in said


def test_what_a_skill_allows_ends_with_its_prompt(world):
    folder = world.home / ".claude/skills/make"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\ndescription: Makes.\nallowed-tools: Bash(touch:*)\n"
                                     "model: gemini-2.5-flash-lite\n---\nMake.\n")
    touch = [call("run_shell_command", {"command": "touch made"})]
    with world.fake([touch, [text("Done.")], touch], append_only=False) as server, Editor(world, server) as editor:
        session = editor.new()
        editor.on("session/request_permission", editor.choose("cancel"))
        assert session.prompt("/make")["stopReason"] == "end_turn"
        assert (world.root / "made").exists()
        (world.root / "made").unlink()
        session.prompt("Make another one.")
        assert not (world.root / "made").exists()
    assert ["flash-lite" in request.path for request in server.requests] == [True, True, False]


def test_todos_are_the_plan(world):
    todos = [{"description": "Look", "status": "completed"}, {"description": "Do", "status": "in_progress"},
             {"description": "Test", "status": "pending"}, {"description": "Drop", "status": "cancelled"}]
    with world.fake([[call("write_todos", {"todos": todos})], [text("Done.")]]) as server:
        with Editor(world, server) as editor:
            session = editor.new()
            session.prompt("go")
            assert session.updates("plan")[-1]["entries"] == [
                {"content": "Look", "priority": "medium", "status": "completed"},
                {"content": "Do", "priority": "medium", "status": "in_progress"},
                {"content": "Test", "priority": "medium", "status": "pending"}]


def test_a_plan_of_plan_mode_is_the_plan_when_it_is_asked_about(world):
    text_of_it = ("# Plan\n\n1. First the code.\n   - not this\n2. [see] Then `docs`.\n```\n- nor this\n```\n- [ ] Tests\n"
                  "2024 was a year.\n")

    def written(request):
        folder = Path(re.search(r"(/[^\s\"'`]*/plans)", str(request.body)).group(1))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "p.md").write_text(text_of_it)

    leave = {"reply": [call("exit_plan_mode", {"plan_filename": "p.md"})], "expect": written}
    with world.fake([leave, [text("Done.")]]) as server, Editor(world, server, "--approval-mode", "plan") as editor:
        session = editor.new()
        editor.on("session/request_permission", editor.choose("proceed_once"))
        session.prompt("plan it")
        assert [row["content"] for row in session.updates("plan")[-1]["entries"]] == [
            "First the code.", "[see] Then `docs`.", "Tests"]
        shown = editor.wait("session/request_permission")["params"]["toolCall"]["content"]
        assert [part["content"]["text"] for part in shown] == [text_of_it]
        assert session.updates("current_mode_update")[-1]["currentModeId"] == "default"


def test_usage_and_what_it_costs(world):
    world.settings(hasp={"prices": {"gemini*": {"input": 1000000, "output": 1000000}}})
    with world.fake([[text("Hello.")]]) as server, Editor(world, server, "-m", "gemini-2.5-flash") as editor:
        session = editor.new()
        session.prompt("go")
        usage = session.updates("usage_update")[-1]
        assert 0 < usage["used"] < usage["size"]
        assert usage["cost"]["currency"] == "USD" and usage["cost"]["amount"] == usage["used"]


LARGE = {"status": 400, "error": "The input token count (1200000) exceeds the maximum number of tokens allowed "
                                 "(1048576)."}
SHORT = [text("<state_snapshot><goal>Books are sorted, as was said.</goal></state_snapshot>")]
WORK = [[call("run_shell_command", {"command": "head -c 9000 /dev/zero | tr '\\0' %d" % i})] for i in range(3)]


@pytest.mark.parametrize("capabilities", [{}, {"session": {"notices": {}}}, {"session": {"compaction": {}}}], ids=str)
def test_a_compressed_conversation_is_shown_with_its_size(world, capabilities):
    with world.fake([*WORK, LARGE, SHORT, [text("Sorted.")]]) as server:
        with Editor(world, server, "--yolo", capabilities=capabilities) as editor:
            session = editor.new()
            assert session.prompt("Sort the books.")["stopReason"] == "end_turn"
            what = "Chat history compressed from"
            shown = session.updates("compaction_update")
            if "compaction" in str(capabilities):
                assert [row["status"] for row in shown] == ["completed"] and what in shown[0]["summary"][0]["text"]
            else:
                assert not shown
            assert ("notices" in str(capabilities)) == any(what in row["title"] for row in session.updates("notice"))
            assert (not capabilities) == (what in session.said("agent_thought_chunk"))
            used = [row["used"] for row in session.updates("usage_update")]
            assert any(after < before for before, after in zip(used, used[1:]))


def test_notices_are_those_of_a_client_that_shows_them(world):
    (world.home / ".gemini/settings.json").write_text('{"modell": {}}')
    for capabilities in ({}, {"session": {"notices": {}}}):
        with world.fake([]) as server, Editor(world, server, capabilities=capabilities) as editor:
            session = editor.new()
            session.prompt("/about")
            notices, thoughts = session.updates("notice"), session.updates("agent_thought_chunk")
            assert bool(notices) == bool(capabilities) != bool(thoughts)
            for notice in notices:
                assert notice["severity"] in ("info", "warning", "error") and "\n" not in notice["title"]
            for thought in thoughts:
                assert thought["_meta"]["hasp"]["notice"] == "warning"
