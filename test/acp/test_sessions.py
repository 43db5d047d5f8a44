# SPDX-License-Identifier: Apache-2.0
"""Sessions, prompts, questions: what an editor sees and decides, over the official SDK."""
import base64
import json
import signal

import pytest

from editor import Editor, Refused
from fake_gemini import call, text, thought


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


# ---- the beginning

def test_what_hasp_says_of_itself(world):
    with Editor(world) as editor:
        assert editor.agent["protocolVersion"] == 1
        assert editor.agent["agentInfo"]["name"] == "hasp"
        assert editor.agent["agentCapabilities"]["promptCapabilities"] == {
            "image": True, "audio": True, "embeddedContext": True}
        assert [method["id"] for method in editor.agent["authMethods"]] == ["environment", "api-key"]


def test_a_later_version_gets_the_one_that_hasp_speaks_and_is_told_so(world):
    with Editor(world, raw=True, version=2) as editor:
        assert editor.agent["protocolVersion"] == 1
        assert "version 2" in editor.agent["_meta"]["hasp"]["refused"]


@pytest.mark.parametrize("arguments", [["--acp"], ["--experimental-acp"]])
def test_gemini_clis_flags_mean_the_same(world, arguments):
    with Editor(world, name=arguments[0]) as editor:
        assert editor.agent["agentInfo"]["name"] == "hasp"


@pytest.mark.parametrize("arguments", [["--acp", "-p", "x"], ["--acp", "hello"], ["--acp", "--resume", "latest"],
                                       ["acp", "-p", "x"], ["acp", "hello"]])
def test_what_an_editor_gives_is_no_flag(world, arguments):
    done = world.command(*arguments)
    assert done.code and done.err and not done.out


def test_nothing_comes_before_initialize(world):
    with Editor(world, raw=True, begin=False) as editor:
        with pytest.raises(Refused, match="initialize"):
            editor.new()


def test_without_a_key_a_session_needs_authentication(world):
    with Editor(world) as editor:
        with pytest.raises(Refused) as refused:
            editor.new()
        assert refused.value.code == -32000 and "GEMINI_API_KEY" in refused.value.message


def test_params_that_cannot_be_used_are_named(world):
    with world.fake([]) as server, Editor(world, server, raw=True) as editor:
        for params, what in (({"cwd": "relative", "mcpServers": []}, "cwd"), ({"mcpServers": []}, "cwd"),
                             ({"cwd": str(world.root)}, "mcpServers"), ({"cwd": 7, "mcpServers": []}, "cwd"),
                             ({"cwd": str(world.root), "mcpServers": [{"name": "x"}]}, r"mcpServers\[0\]"),
                             ({"cwd": str(world.root), "mcpServers": [], "additionalDirectories": ["x"]},
                              r"additionalDirectories\[0\]")):
            with pytest.raises(Refused, match=what) as refused:
                editor.request("session/new", **params)
            assert refused.value.code == -32602
        with pytest.raises(Refused, match="does not exist") as refused:
            editor.new(world.root / "missing")
        assert refused.value.code == -32002
        with pytest.raises(Refused, match="not a method"):
            editor.request("session/fork")


# ---- prompts

def test_an_answer_comes_in_pieces_of_one_message(world):
    with world.fake([[thought("I think."), text("One "), text("two.")], [text("Three.")]]) as server:
        with Editor(world, server) as editor:
            session = editor.new()
            assert session.prompt("hello")["stopReason"] == "end_turn"
            assert session.said() == "One two."
            assert "I think." in session.said("agent_thought_chunk")
            assert len({update["messageId"] for update in session.updates("agent_message_chunk")}) == 1
            session.prompt("again")
            assert len({update["messageId"] for update in session.updates("agent_message_chunk")}) == 2
        assert "hello" in json.dumps(server.requests[0].body["contents"])


def test_an_edit_is_shown_as_a_diff_asked_about_and_made(world):
    world.write("a.txt", "one\ntwo\n")
    script = [[call("read_file", {"file_path": "a.txt"})], [call("update_file", {
        "file_path": "a.txt", "old_content": "two", "new_content": "2"})], [text("Done.")]]
    with world.fake(script) as server, Editor(world, server) as editor:
        session = editor.new()

        def asked(params):
            # The diff came before the question.
            content = session.call(params["toolCall"]["toolCallId"])["content"]
            assert content == params["toolCall"]["content"]
            assert {"type": "diff", "path": str(world.root / "a.txt"), "oldText": "one\ntwo\n", "newText": "one\n2\n",
                    "_meta": {"hasp": {"modifiable": True}}} in content
            assert [option["kind"] for option in params["options"]] == ["allow_once", "allow_always", "reject_once"]
            assert world.read("a.txt") == "one\ntwo\n"
            return editor.chosen("proceed_once")

        editor.on("session/request_permission", asked)
        assert session.prompt("go")["stopReason"] == "end_turn"
        assert world.read("a.txt") == "one\n2\n"
        read, edit = [session.call(update["toolCallId"]) for update in session.updates("tool_call")]
        assert (read["kind"], read["status"]) == ("read", "completed")
        assert read["title"] == "Read a.txt" and edit["title"] == "Edit a.txt"
        assert read["locations"] == [{"path": str(world.root / "a.txt")}]
        assert (edit["kind"], edit["status"]) == ("edit", "completed")
        assert edit["locations"][0]["line"] == 1 and edit["rawInput"]["new_content"] == "2"


def test_what_was_made_of_a_file_is_shown_by_hunks_with_their_lines(world):
    lines = ["line %d" % i for i in range(1, 41)]
    world.write("a.txt", "\n".join(lines))
    content = "\n".join("2" if line == "line 2" else "40" if line == "line 40" else line for line in lines)
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("write_file", {"file_path": "a.txt", "content": content})], [text("Done.")]]
    with world.fake(script) as server, Editor(world, server, "--yolo") as editor:
        session = editor.new()
        session.prompt("go")
        done = session.updates("tool_call_update")[-1]
        first, last = [part for part in done["content"] if part["type"] == "diff"]
        assert first["oldText"].startswith("line 1\nline 2\n") and first["newText"].startswith("line 1\n2\n")
        assert last["oldText"].endswith("line 39\nline 40") and last["newText"].endswith("line 39\n40")
        path = str(world.root / "a.txt")
        assert [place for place in done["locations"] if "line" in place] == [
            {"path": path, "line": 1}, {"path": path, "line": 37}]


@pytest.mark.parametrize("answer", [
    {"result": {"outcome": {"outcome": "selected", "optionId": "cancel"}}},
    {"result": {"outcome": {"outcome": "cancelled"}}},
    {"error": {"code": -32603, "message": "no window"}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "proceed_always_and_save"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}},
    {"result": {"outcome": {"outcome": "selected"}}},
    {"result": None},
    {"result": [1]},
], ids=["no", "cancelled", "error", "not-offered", "unknown", "without", "null", "array"])
def test_all_but_an_offered_yes_is_a_no(world, answer):
    with world.fake([[write("a.txt", "one\n")]]) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        editor.on("session/request_permission", lambda params: answer)
        assert session.prompt("go")["stopReason"] == "end_turn"
        assert not (world.root / "a.txt").exists()
        assert session.call(session.updates("tool_call")[0]["toolCallId"])["status"] == "failed"


def test_for_this_session_is_said_once(world):
    script = [[write("a.txt", "one\n")], [write("b.txt", "two\n")], [text("Done.")]]
    with world.fake(script) as server, Editor(world, server) as editor:
        session = editor.new()
        editor.on("session/request_permission", editor.choose("proceed_always"))
        session.prompt("go")
        assert len([m for m in editor.heard if m["method"] == "session/request_permission"]) == 1
        always = editor.wait("session/request_permission")["params"]["options"][1]
        assert always["kind"] == "allow_always" and "edits" in always["name"]
    assert world.read("b.txt") == "two\n"


def test_a_mode_of_the_command_line_counts_for_sessions(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with Editor(world, server, "--approval-mode", "auto_edit") as editor:
            editor.new().prompt("go")
            assert not [m for m in editor.heard if m["method"] == "session/request_permission"]
    assert world.read("a.txt") == "one\n"


# ---- taken back

def test_cancel_ends_the_prompt_and_the_next_one_works(world):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]], append_only=False) as server:
        with Editor(world, server) as editor:
            session = editor.new()
            prompt = session.begin("go")
            editor.wait("session/request_permission")
            session.cancel()
            assert editor.result(prompt)["stopReason"] == "cancelled"
            # The question is taken back, too.
            editor.wait("$/cancel_request")
            assert session.prompt("again")["stopReason"] == "end_turn"
    assert not (world.root / "a.txt").exists()


def test_a_request_that_the_client_takes_back_ends_likewise(world):
    with world.fake([[write("a.txt", "one\n")]]) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        prompt = session.begin("go")
        waits = session.begin("then this")
        editor.wait("session/request_permission")
        editor.notify("$/cancel_request", requestId=waits)
        assert editor.result(waits)["stopReason"] == "cancelled"
        editor.notify("$/cancel_request", requestId=prompt)
        assert editor.result(prompt)["stopReason"] == "cancelled"


def test_prompts_of_one_session_wait_for_each_other(world):
    with world.fake([[write("a.txt", "one\n")], [text("First.")], [text("Second.")]]) as server:
        with Editor(world, server) as editor:
            session = editor.new()
            first, second = session.begin("one"), session.begin("two")
            editor.on("session/request_permission", editor.choose("proceed_once"))
            assert editor.result(second)["stopReason"] == "end_turn"
            assert editor.result(first)["stopReason"] == "end_turn"
            assert session.said() == "First.Second."


# ---- side by side, and the end

def test_a_session_that_waits_delays_no_other(world):
    other = world.top / "other"
    other.mkdir()
    script = [[write("a.txt", "one\n")], [text("Quick.")], [text("Done.")]]
    with world.fake(script, append_only=False) as server, Editor(world, server) as editor:
        slow, quick = editor.new(), editor.new(other)
        assert slow.id != quick.id
        prompt = slow.begin("go")
        question = editor.wait("session/request_permission")
        assert quick.prompt("now")["stopReason"] == "end_turn"
        assert quick.said() == "Quick." and not slow.said()
        editor.write({"jsonrpc": "2.0", "id": question["id"], **editor.chosen("proceed_once")})
        assert editor.result(prompt)["stopReason"] == "end_turn"
    assert world.read("a.txt") == "one\n" and not list(other.iterdir())


def test_a_closed_session_is_gone_and_its_prompt_cancelled(world):
    with world.fake([[write("a.txt", "one\n")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        prompt = session.begin("go")
        editor.wait("session/request_permission")
        session.close()
        assert editor.result(prompt)["stopReason"] == "cancelled"
        with pytest.raises(Refused, match="No session"):
            session.prompt("more")
    assert not (world.root / "a.txt").exists()


@pytest.mark.parametrize("how", ["end", "signal"])
def test_an_editor_that_goes_leaves_nothing_running(world, how):
    with world.fake([[call("run_shell_command", {"command": "sleep 600"})]]) as server:
        editor = Editor(world, server, "--yolo", raw=True)
        session = editor.new()
        prompt = session.begin("go")
        editor.wait_update("tool_call")
        if how == "signal":
            editor.signal(signal.SIGTERM)
        assert editor.end() == (128 + signal.SIGTERM if how == "signal" else 0)
        assert editor.result(prompt)["stopReason"] == "cancelled"


def test_a_question_that_is_open_when_the_editor_goes_is_a_no(world):
    with world.fake([[write("a.txt", "one\n")]]) as server:
        editor = Editor(world, server, raw=True)
        session = editor.new()
        prompt = session.begin("go")
        editor.wait("session/request_permission")
        assert editor.end() == 0
        assert editor.result(prompt)["stopReason"] == "cancelled"
    assert not (world.root / "a.txt").exists()


# ---- content, commands

def test_links_are_read_as_mentions_are_and_resources_go_along(world):
    world.write("src/with space.c", "int main;\n")
    with world.fake([[text("Read.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("look at ", {"type": "resource_link", "name": "x",
                                    "uri": (world.root / "src/with space.c").as_uri()}, "and",
                       {"type": "resource", "resource": {"uri": "file:///unsaved.c", "text": "float @secret;\n"}},
                       {"type": "resource_link", "name": "page", "uri": "https://example.org/x"})
        said = json.dumps(server.requests[0].body)
        assert "int main;" in said and "float @secret;" in said and "https://example.org/x" in said


def test_an_image_reaches_the_model(world):
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    with world.fake([[text("Seen.")]]) as server, Editor(world, server) as editor:
        editor.new().prompt("what is it?", {"type": "image", "mimeType": "image/png", "data": pixel})
        assert pixel in json.dumps(server.requests[0].body)


SOUND = base64.b64encode(b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\2\0\0\0\x80\x80"
                         ).decode()


def test_audio_reaches_a_model_that_takes_it(world):
    with world.fake([[text("Heard.")]]) as server, Editor(world, server) as editor:
        editor.new().prompt("what is said?", {"type": "audio", "mimeType": "audio/wav", "data": SOUND})
        sent = [part["inlineData"] for part in server.requests[0].body["contents"][-1]["parts"] if "inlineData" in part]
        assert sent == [{"mimeType": "audio/wav", "data": SOUND}]


def test_audio_is_named_to_a_model_that_takes_none_and_to_the_user(world):
    with world.fake([[text("I cannot hear.")]], kind="anthropic") as server, Editor(world, server) as editor:
        session = editor.new()
        session.prompt("what is said?", {"type": "audio", "mimeType": "audio/wav", "data": SOUND})
        sent = json.dumps(server.requests[0].body["messages"])
        assert SOUND not in sent and "audio/wav" in sent
        assert "audio/wav" in session.said("agent_thought_chunk")


def test_content_that_cannot_be_used_is_named(world):
    with world.fake([]) as server, Editor(world, server, raw=True) as editor:
        session = editor.new()
        for block in ({"type": "video"}, {"type": "image", "mimeType": "image/png", "data": "***"}, {"type": "text"},
                      {"type": "resource", "resource": {}}, 7):
            with pytest.raises(Refused, match=r"prompt\[0\]") as refused:
                session.prompt(block)
            assert refused.value.code == -32602
        with pytest.raises(Refused, match="empty"):
            session.prompt()


def test_slash_commands_answer_without_the_model(world):
    with world.fake([[text("Sent.")]]) as server, Editor(world, server) as editor:
        session = editor.new()
        assert session.prompt("/about")["stopReason"] == "end_turn"
        assert "gemini" in session.said()
        session.prompt("/clear")
        assert "terminal only" in session.said()
        session.prompt("/nosuchcommand")
        assert "Unknown command" in session.said()
        assert not server.requests
        session.prompt("//about")
        assert '"/about"' in json.dumps(server.requests[0].body)


def test_a_command_of_the_users_own_is_sent(world):
    (world.home / ".gemini/commands").mkdir()
    (world.home / ".gemini/commands/fix.toml").write_text('prompt = "Fix {{args}} now."\n')
    with world.fake([[text("Fixed.")]]) as server, Editor(world, server) as editor:
        editor.new().prompt("/fix a.c")
        assert "Fix a.c now." in json.dumps(server.requests[0].body)


def test_a_failing_model_is_an_error_of_the_prompt(world):
    with world.fake([{"status": 401, "body": {"error": {"code": 401, "message": "no", "status": "UNAUTHENTICATED"}}}]
                    ) as server, Editor(world, server) as editor:
        session = editor.new()
        with pytest.raises(Refused) as refused:
            session.prompt("go")
        assert refused.value.code == -32000
