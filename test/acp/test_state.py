# SPDX-License-Identifier: Apache-2.0
"""Recorded sessions, modes, options, commands, plans, usage: what an editor's menus and lists show."""
import json
import uuid

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


def test_another_model_answers_from_the_next_prompt_on_and_knows_all(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("first")
        model = options(session.answer)["model"]
        assert model["currentValue"] in [value["value"] for value in model["options"]]
        answer = editor.request("session/set_config_option", sessionId=session.id, configId="model", value="flash-lite")
        assert options(answer)["model"]["currentValue"] == "flash-lite"
        assert session.prompt("second")["stopReason"] == "end_turn"
        assert "flash-lite" in server.requests[1].path and "flash-lite" not in server.requests[0].path
        assert "One." in json.dumps(server.requests[1].body)
        assert session.said() == "One.Two."
    assert len(world.sessions()) == 1


def test_a_model_can_be_chosen_before_the_first_prompt(world):
    with world.fake([[text("One.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        editor.request("session/set_config_option", sessionId=session.id, configId="model", value="flash-lite")
        editor.request("session/set_mode", sessionId=session.id, modeId="plan")
        session.prompt("first")
        assert "flash-lite" in server.requests[0].path
        # The mode is kept.
        assert options(session.updates("config_option_update")[-1])["mode"]["currentValue"] == "plan"
        assert "plan" in json.dumps(server.requests[0].body)


def test_a_model_without_a_key_fails_its_prompt_and_the_one_before_goes_on(world):
    world.settings(model={"name": "openai/gpt-5"})
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server:
        with Editor(world, server, "-m", "flash") as editor:
            session = editor.new()
            session.prompt("first")
            editor.request("session/set_config_option", sessionId=session.id, configId="model", value="openai/gpt-5")
            with pytest.raises(Refused, match="OPENAI_API_KEY") as refused:
                session.prompt("second")
            assert refused.value.code == -32000
            assert session.prompt("third")["stopReason"] == "end_turn"
            assert session.said() == "One.Two."
            assert "gemini" in options(session.updates("config_option_update")[-1])["model"]["currentValue"]


def test_thinking_is_what_was_chosen(world):
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as server:
        with Editor(world, server, "-m", "gemini-2.5-flash") as editor:
            session = editor.new()
            assert options(session.answer)["thinking"]["currentValue"] == "default"
            editor.request("session/set_config_option", sessionId=session.id, configId="thinking", value="off")
            session.prompt("one")
            assert server.requests[0].body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 0
            editor.request("session/set_config_option", sessionId=session.id, configId="thinking", value="default")
            session.prompt("two")
            before = server.requests[1].body["generationConfig"].get("thinkingConfig", {})
            assert before.get("thinkingBudget") != 0


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
        assert not {"clear", "quit", "theme", "vim", "auth", "chat"} & set(commands)
        assert commands["memory"]["input"]["hint"] and "input" not in commands["about"]


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


def test_usage_and_what_it_costs(world):
    world.settings(hasp={"prices": {"gemini*": {"input": 1000000, "output": 1000000}}})
    with world.fake([[text("Hello.")]]) as server, Editor(world, server, "-m", "gemini-2.5-flash") as editor:
        session = editor.new()
        session.prompt("go")
        usage = session.updates("usage_update")[-1]
        assert 0 < usage["used"] < usage["size"]
        assert usage["cost"]["currency"] == "USD" and usage["cost"]["amount"] == usage["used"]
