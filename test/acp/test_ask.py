# SPDX-License-Identifier: Apache-2.0
"""What is asked beyond yes and no: the model's questions, those of MCP servers, words to a no; servers of the editor."""
import json
import sys
from pathlib import Path

import pytest

from editor import Editor
from fake_gemini import call, text

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
import fake_mcp  # noqa: E402

FORMS = {"elicitation": {"form": {}, "url": {}}}
COLOURS = {"question": "Which colour?", "header": "Colour", "type": "choice",
           "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}


def server(*arguments):
    """As an editor gives it."""
    command, *args = fake_mcp.words(*arguments)
    return {"name": "fake", "command": command, "args": args, "env": []}


def accept(content):
    return lambda params: {"result": {"action": "accept", "content": content}}


def asked(world, questions, answer, capabilities=FORMS, method="elicitation/create"):
    """What the model got."""
    with world.fake([[call("ask_user", {"questions": questions})], [text("Done.")]]) as model:
        with Editor(world, model, capabilities=capabilities) as editor:
            editor.on(method, answer)
            session = editor.new()
            session.prompt("go")
            return json.dumps(model.requests[-1].body["contents"][-1]), editor


def test_the_models_questions_are_a_form(world):
    questions = [COLOURS, {"question": "Sure?", "header": "Sure", "type": "yesno"},
                 {"question": "A name?", "header": "Name", "type": "text"},
                 {"question": "Sizes?", "header": "Sizes", "type": "choice", "multiSelect": True,
                  "options": [{"label": "S", "description": "small"}, {"label": "L", "description": "large"}]}]
    said, editor = asked(world, questions, accept({"0": "Blue", "1": "Yes", "2": "hasp", "3": ["S"], "3-other": "XL"}))
    for answer in ('"Blue"', '"Yes"', '"hasp"', '"S", "XL"'):
        assert answer in said
    params = editor.wait("elicitation/create")["params"]
    assert params["mode"] == "form"
    colour = params["requestedSchema"]["properties"]["0"]
    assert colour["title"] == "Colour" and colour["description"] == "Which colour?"
    assert colour["oneOf"] == [{"const": "Red", "title": "Red: warm"}, {"const": "Blue", "title": "Blue: cold"}]


def test_another_answer_takes_the_place_of_a_choice(world):
    said, _ = asked(world, [COLOURS], accept({"0": "Red", "0-other": "Green"}))
    assert '"Green"' in said and '"Red"' not in said


@pytest.mark.parametrize("answer", [{"result": {"action": "decline"}}, {"result": {"action": "cancel"}},
                                    {"result": {"action": "accept", "content": {}}}, {"result": {"action": "accept"}},
                                    {"error": {"code": -32603, "message": "no"}}])
def test_no_answer_is_no_answer(world, answer):
    with world.fake([[call("ask_user", {"questions": [COLOURS]})], [text("Done.")]]) as model:
        with Editor(world, model, capabilities=FORMS) as editor:
            editor.on("elicitation/create", lambda params: answer)
            session = editor.new()
            assert session.prompt("go")["stopReason"] == "end_turn"
            assert session.call(session.updates("tool_call")[0]["toolCallId"])["status"] == "failed"


def test_without_forms_one_question_is_asked_with_options(world):
    def choose(params):
        assert [option["name"] for option in params["options"]] == ["Red", "Blue", "No answer"]
        return Editor.chosen("1")

    said, editor = asked(world, [COLOURS], choose, {}, "session/request_permission")
    assert '"Blue"' in said


def test_without_forms_a_text_cannot_be_asked_for(world):
    with world.fake([[call("ask_user", {"questions": [{"question": "A name?", "header": "Name", "type": "text"}]})],
                     [text("Done.")]]) as model:
        with Editor(world, model) as editor:
            session = editor.new()
            session.prompt("go")
            assert session.call(session.updates("tool_call")[0]["toolCallId"])["status"] == "failed"


def test_a_no_can_have_words_and_the_model_goes_on(world):
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "one\n"})], [text("As you like.")]]) as model:
        with Editor(world, model, capabilities=FORMS) as editor:
            editor.on("session/request_permission", editor.choose("cancel_and_say"))
            editor.on("elicitation/create", accept({"message": "use b.txt"}))
            session = editor.new()
            assert session.prompt("go")["stopReason"] == "end_turn"
            assert "use b.txt" in json.dumps(model.requests[-1].body["contents"][-1])
            assert session.said() == "As you like."
    assert not (world.root / "a.txt").exists()


# ---- servers that the editor gives

def asking():
    return {"name": "asking", "command": sys.executable, "args": [str(Path(__file__).with_name("asking_server.py"))],
            "env": []}


@pytest.mark.parametrize("answer, got", [
    (accept({"name": "hasp", "size": "L", "times": 3}), {"action": "accept",
                                                        "content": {"name": "hasp", "size": "L", "times": 3}}),
    (accept({"size": "XL"}), {"action": "cancel"}),
    (lambda params: {"result": {"action": "decline"}}, {"action": "decline"}),
    (lambda params: {"error": {"code": -32603, "message": "no"}}, {"action": "cancel"}),
])
def test_a_form_of_a_server_is_the_editors(world, answer, got):
    script = [[call("mcp_asking_ask", {})], [text("Done.")]]
    with world.fake(script) as model, Editor(world, model, "--yolo", capabilities=FORMS) as editor:
        editor.on("elicitation/create", answer)
        editor.new(servers=[asking()]).prompt("go")
        assert json.dumps(json.dumps(got))[1:-1] in json.dumps(model.requests[1].body["contents"][-1])
        form = editor.wait("elicitation/create")["params"]
        assert form["message"] == "asking: Who?" and form["requestedSchema"]["required"] == ["name"]
        assert form["requestedSchema"]["properties"]["size"]["oneOf"][1] == {"const": "L", "title": "Large"}


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_an_address_of_a_server_is_the_editors_to_open(world, action):
    script = [[call("mcp_fake_say", {"what": "url"})], [text("Done.")]]
    with world.fake(script) as model, Editor(world, model, "--yolo", capabilities=FORMS) as editor:
        editor.on("elicitation/create", lambda params: {"result": {"action": action}})
        editor.new(servers=[server()]).prompt("go")
        assert action in json.dumps(model.requests[1].body["contents"][-1])
        params = editor.wait("elicitation/create")["params"]
        assert params["mode"] == "url" and params["message"].startswith("fake: ")


def test_a_password_is_not_asked_for_in_a_form(world):
    script = [[call("mcp_fake_say", {"what": "form"})], [text("Done.")]]
    with world.fake(script) as model, Editor(world, model, "--yolo", capabilities=FORMS) as editor:
        editor.new(servers=[server()]).prompt("go")
        assert "cancel" in json.dumps(model.requests[1].body["contents"][-1])
        assert not [m for m in editor.heard if m["method"] == "elicitation/create"]


def test_a_server_of_the_editors_is_asked_about_and_not_trusted(world):
    world.settings(mcpServers={"fake": {"command": "false", "trust": True}})
    with world.fake([[call("mcp_fake_say", {"what": "hello"})]]) as model, Editor(world, model) as editor:
        editor.on("session/request_permission", editor.choose("cancel"))
        session = editor.new(servers=[server()])
        session.prompt("go")
        [question] = [m for m in editor.heard if m["method"] == "session/request_permission"]
        assert [option["optionId"] for option in question["params"]["options"]][:1] == ["proceed_once"]
        [begun] = [m["params"]["update"] for m in editor.heard if m["method"] == "session/update" and
                   m["params"]["update"]["sessionUpdate"] == "tool_call"]
        assert "(fake MCP Server)" in begun["title"]


def test_more_folders_are_part_of_the_workspace(world):
    more = world.top / "more"
    more.mkdir()
    (more / "b.txt").write_text("beyond\n")
    script = [[call("read_file", {"file_path": str(more / "b.txt")})], [text("Done.")]]
    with world.fake(script) as model, Editor(world, model) as editor:
        editor.new(additionalDirectories=[str(more)]).prompt("go")
        assert "beyond" in json.dumps(model.requests[1].body["contents"][-1])


# ---- diffs that are taken in part

def in_part(world, script, files, option="proceed_once"):
    """The diffs that were shown; `files(shown)` is the answer's list."""
    shown = []

    def answer(params):
        shown.extend(part for part in params["toolCall"]["content"] if part["type"] == "diff")
        return {"result": {"outcome": {"outcome": "selected", "optionId": option},
                           "_meta": {"hasp": {"files": files(shown)}}}}

    with world.fake(script) as model, Editor(world, model) as editor:
        editor.on("session/request_permission", answer)
        editor.new().prompt("go")
    return shown


def read_then(*calls):
    return [[call("read_file", {"file_path": "a.txt"})], list(calls), [text("Done.")]]


def test_what_the_editors_user_made_of_a_diff_is_written(world):
    world.write("a.txt", "one\ntwo\n")
    change = call("update_file", {"file_path": "a.txt", "old_content": "one\ntwo", "new_content": "1\n2"})
    shown = in_part(world, read_then(change), lambda diffs: [{"path": diffs[0]["path"], "newText": "1\ntwo\n"}])
    assert shown[0]["_meta"] == {"hasp": {"modifiable": True}} and world.read("a.txt") == "1\ntwo\n"


def test_of_several_files_each_is_taken_left_or_modified(world):
    for name in ("a.txt", "b.txt", "c.txt"):
        world.write(name, "one\n")
    changes = [{"kind": "update", "file_path": name, "old_content": "one", "new_content": "1"}
               for name in ("a.txt", "b.txt", "c.txt")]
    in_part(world, [[call("apply_changes", {"changes": changes})], [text("Done.")]], lambda diffs: [
        {"path": diffs[0]["path"]}, {"path": diffs[1]["path"], "newText": None},
        {"path": diffs[2]["path"], "newText": "uno\n"}])
    assert [world.read(name) for name in ("a.txt", "b.txt", "c.txt")] == ["1\n", "one\n", "uno\n"]


@pytest.mark.parametrize("files, option", [
    (lambda diffs: [{"path": "/elsewhere", "newText": "x"}], "proceed_once"), (lambda diffs: [], "proceed_once"),
    (lambda diffs: "all", "proceed_once"), (lambda diffs: [{"path": diffs[0]["path"], "newText": 1}], "proceed_once"),
    (lambda diffs: [{"path": diffs[0]["path"], "newText": "x"}] * 2, "proceed_once"),
    (lambda diffs: [{"path": diffs[0]["path"], "newText": "x"}], "proceed_always")])
def test_an_answer_about_other_files_writes_nothing(world, files, option):
    world.write("a.txt", "one\n")
    change = call("update_file", {"file_path": "a.txt", "old_content": "one", "new_content": "1"})
    in_part(world, read_then(change)[:2], files, option)
    assert world.read("a.txt") == "one\n"


def test_questions_are_recorded_and_counted(world):
    """How each ended, who answered, which rule asked, what was allowed for the session; no arguments."""
    answers = iter(["proceed_once", "proceed_always", "cancel"])
    with world.fake([[call("run_shell_command", {"command": "touch words"})], [call("write_file", {"file_path": "words.txt", "content": "b"})],
                     [call("write_file", {"file_path": "c.txt", "content": "c"})], [call("run_shell_command", {"command": "touch words2"})],
                     [text("Done.")]]) as model:
        with Editor(world, model) as editor:
            editor.on("session/request_permission", lambda params: editor.chosen(next(answers)))
            editor.new().prompt("go")
    found = json.loads(world.command("stats", "--json").text)
    assert found["total"]["questions"] == {"proceed_once": 1, "proceed_always": 1, "cancel": 1}
    assert found["tools"]["write_file"]["questions"] == {"proceed_always": 1}
    assert found["answered_by"].keys() == {"editor"} and found["answered_by"]["editor"]["answers"] == found["total"]["questions"]
    assert found["approval_ms"]["answered"] == 3 and all(name.startswith("default:") for name in found["question_rules"])
    [(scope, allowed)] = found["allowed"].items()
    assert "new files" in scope and allowed["times"] == 1 and allowed["ms"] >= 0
    [path] = world.sessions()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    asked = [one["hasp"]["asked"] for line in lines for one in line.get("toolCalls", []) if "asked" in one["hasp"]]
    assert len(asked) == 3 and "words" not in json.dumps(asked), asked


def test_python_code_is_asked_about_and_shown(world):
    """Once: what is allowed for the session is not asked about again."""
    world.settings(hasp={"python": {"enabled": True}})
    asked = []

    def answer(params):
        asked.append(params)
        return {"result": {"outcome": {"outcome": "selected", "optionId": "proceed_always"}}}

    script = [[call("run_python", {"code": "kept = 6 * 7"})], [call("run_python", {"code": "kept"})], [text("Done.")]]
    with world.fake(script) as model, Editor(world, model) as editor:
        editor.on("session/request_permission", answer)
        editor.new().prompt("go")
    assert len(asked) == 1 and "kept = 6 * 7" in str(asked[0]["toolCall"]), asked
    assert asked[0]["toolCall"]["kind"] == "execute"
    assert model.provider.tool_results(model.requests[-1])[-1]["value"] == "42"
