# SPDX-License-Identifier: Apache-2.0
"""The questions about calls: their content, their answers, and what "always" allows."""
import fcntl
import hashlib
import json
import os
import subprocess

import pytest
from agent_world import TOP, call, fake_gemini, patch, text, world  # noqa: F401  (world is a fixture)


def test_nobody_to_ask_means_no_and_says_what_to_do(world):
    for interactive in False, True:
        run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})],
                         [text("No.")]], interactive=interactive)
        assert not (world.root / "a").exists()
        result = run.results()[0]
        assert result["error"]["code"] == ["denied_by_policy", "denied_by_user"][interactive]
        assert "--approval-mode auto_edit" in result["message"]
        assert run.stats["tools"]["totalDecisions"]["reject"] == 1
        assert run.end["edits"] == []


DIFF = "@@ -1 +1 @@\n-1\n+one\n"
CHANGES = {  # of a file aI with "1", or to a new one nI: a tool, its arguments, and what they do
    "write new": ("write_file", {"file_path": "nI", "content": "x\n"}, {"new files"}),
    "write old": ("write_file", {"file_path": "aI", "content": "x\n", "base_content_sha256": "SHA"}, {"edits of any file"}),
    "patch": ("safe_patch", {"file_path": "aI", "unified_diff": DIFF, "base_content_sha256": "SHA"}, {"edits of any file"}),
    "update": ("update_file", {"file_path": "aI", "old_content": "1", "new_content": "one"}, {"edits of any file"}),
    "data": ("update_data", {"file_path": "aI.ini", "changes": [{"op": "set", "path": ".k", "value": "new"}],
                             "base_content_sha256": "INI"}, {"edits of any file"}),
    "create": ("apply_changes", {"changes": [{"kind": "create", "file_path": "nI", "content": "x\n"}]}, {"new files"}),
    "delete": ("apply_changes", {"changes": [{"kind": "delete", "file_path": "aI", "base_content_sha256": "SHA"}]},
               {"deletions of files"}),
    "move": ("apply_changes", {"changes": [{"kind": "move", "file_path": "aI", "new_path": "nI",
                                            "base_content_sha256": "SHA"}]}, {"moves of files"}),
    "both": ("apply_changes", {"changes": [{"kind": "create", "file_path": "nI", "content": "x\n"},
                                           {"kind": "patch", "file_path": "aI", "unified_diff": DIFF,
                                            "base_content_sha256": "SHA"}]}, {"edits of any file", "new files"}),
}


def change(world, name, number):
    tool, arguments, does = CHANGES[name]
    sha, ini = world.write("a%d" % number, "1\n"), world.write("a%d.ini" % number, "k = old\n")
    for text_, by in (("SHA", sha), ("INI", ini), ("aI", "a%d" % number), ("nI", "n%d" % number)):
        arguments = json.loads(json.dumps(arguments).replace(text_, by))
    return call(tool, arguments), does


def scope_of(name):
    """write_file both makes and replaces files: its choice is about both (requirement 2: per tool)."""
    return CHANGES[name][2] | ({"edits of any file", "new files"} if name.startswith("write") else set())


@pytest.mark.parametrize("first", sorted(CHANGES))
def test_always_is_for_the_kind_of_change_that_was_shown_by_whatever_editor(world, first):
    order = [first] + [name for name in CHANGES if name != first] + [first]
    calls = [change(world, name, i) for i, name in enumerate(order)]
    run = world.run([[one] for one, _ in calls] + [[text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_always"}] + [{"outcome": "proceed_once"}] * len(calls))
    asked = run.told("tool-confirmation-request")
    assert set(asked[0]["scope"].replace(" and ", ", ").split(", ")) == scope_of(first)
    expected = [name for name, (_, does) in zip(order[1:], calls[1:]) if not does <= scope_of(first)]
    assert [m["toolName"] for m in asked[1:]] == [CHANGES[name][0] for name in expected], expected
    assert not any("denied" in json.dumps(result) for result in run.results())


@pytest.mark.parametrize("path", ["GEMINI.md", "sub/AGENTS.md", "claude.MD", ".gemini/policies/a.toml", ".mcp.json",
                                  ".claude/agents/x.md", ".agents/skills/x/SKILL.md", "sub/../GEMINI.md", "link.md",
                                  "RULES.md"])
def test_always_is_not_for_what_hasp_obeys(world, path):
    for folder in ("sub", ".gemini/policies", ".claude/agents", ".agents/skills/x"):
        (world.root / folder).mkdir(parents=True)
    (world.root / "GEMINI.md").write_text("old\n")
    (world.root / "link.md").symlink_to("GEMINI.md")
    run = world.run([[call("write_file", {"file_path": "a", "content": "1\n"})],
                     [call("write_file", {"file_path": "b", "content": "2\n"})],
                     [call("update_file", {"file_path": "GEMINI.md", "old_content": "old", "new_content": "new"})
                      if path in ("link.md", "sub/../GEMINI.md") else
                      call("write_file", {"file_path": path, "content": "obey\n"})]
                     if path != "GEMINI.md" else
                     [call("safe_patch", {"file_path": path, "unified_diff": "@@ -1 +1 @@\n-old\n+new\n",
                                          "base_content_sha256": hashlib.sha256(b"old\n").hexdigest()})],
                     [text("Done.")]], interactive=True, settings={"context": {"fileName": ["RULES.md"]}},
                    answers=[{"outcome": "proceed_always"}, {"outcome": "cancel", "message": "No."}])
    asked = run.told("tool-confirmation-request")
    assert len(asked) == 2, asked
    assert not {"proceed_always", "proceed_always_and_save"} & set(asked[1]["outcomes"]) and "scope" not in asked[1]
    assert world.read("b") == "2\n" and world.read("GEMINI.md") == "old\n"


def test_what_hasp_obeys_is_asked_about_each_time(world):
    """A yes is for the one call, also where the file is the same, and where "always" was said of other files before."""
    contents = ["%d\n" % i for i in range(3)]
    run = world.run([[call("write_file", {"file_path": "a", "content": "1\n"})],
                     *([call("write_file", {"file_path": "GEMINI.md", "content": content})] for content in contents),
                     [call("write_file", {"file_path": "b", "content": "2\n"})], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_always"}] + [{"outcome": "proceed_once"}] * len(contents))
    asked = [message["arguments"]["file_path"] for message in run.told("tool-confirmation-request")]
    assert asked == ["a"] + ["GEMINI.md"] * len(contents)
    assert world.read("GEMINI.md") == contents[-1] and world.read("b") == "2\n"


HOSTILE = {
    "long": "begin " + 3000 * "0123456789 " + "end",
    "blank": "first" + 2000 * " " + "hidden" + 40 * "\n" + "below\t\t" + 500 * "\u00a0" + "last",
    "invisible": "a\u202eb\u200bc\u2066d\ufeffe\rf\r\ng\x1b[2Kh\x07i\u00adj\u2028k",
}
ASK_ALL = '[[rule]]\ntoolName = "*"\ndecision = "ask_user"\npriority = 900\n'


def shown_of(message):
    """What the kind of question shows (src/tui/ask/subject.c), as one text for each member."""
    details, arguments = message["details"], message["arguments"]
    return {"edit": [details.get("filePath"), details.get("fileDiff"), details.get("otherArguments")],
            "exec": [details.get("command"), arguments.get("description"), arguments.get("dir_path"),
                     json.dumps(arguments.get("additional_permissions")), details.get("otherArguments")],
            "mcp": [json.dumps(arguments, ensure_ascii=False)],
            "info": [details.get("prompt"), *details.get("urls", [])]}[details["type"]]


def is_shown(value, texts, kind):
    lines = value.split("\n") if kind == "edit" else [value]
    if not any(value in (text_ or "") for text_ in texts):  # among other arguments the lines of one are indented
        texts = [(text_ or "").replace("\n  ", "\n") for text_ in texts]
    forms = lambda line: (line, json.dumps(line, ensure_ascii=False)[1:-1], json.dumps(line)[1:-1])  # noqa: E731
    return all(any(form.rstrip("\r") in (text_ or "") for text_ in texts for form in forms(line)) for line in lines)


def string_arguments(tool):
    def walk(schema, path):
        if schema.get("type") == "string" and "enum" not in schema:
            yield path
        for name, member in schema.get("properties", {}).items():
            yield from walk(member, path + [name])
        if isinstance(schema.get("items"), dict):
            yield from walk(schema["items"], path + [0])
    return list(walk(tool["arguments_schema"], []))


def minimal(schema):
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: minimal(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal(schema["items"])]
    return {"integer": schema.get("minimum", 1), "boolean": True, "number": 1}.get(kind, "a.txt")


TOOLS = json.loads(subprocess.run([os.environ.get("HASP") or str(TOP / "build" / "hasp"), "tool", "--list", "--json"],
                                  stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if string_arguments(tool)], ids=lambda tool: tool["name"])
def test_every_argument_of_every_tool_is_in_its_question(world, tool, hostile):
    value, schema = HOSTILE[hostile], tool["arguments_schema"]
    rule = world.path / "ask.toml"
    rule.write_text(ASK_ALL)
    if tool["name"] != "write_file":
        world.write("a.txt", "a.txt\n")
    tried = []
    for path in string_arguments(tool):
        arguments = minimal(schema)
        at = arguments
        for name in path[:-1]:  # what is optional has to be made
            if isinstance(name, str):
                at = at.setdefault(name, [] if path[path.index(name) + 1] == 0 else {})
            elif not at:
                at.append({})
                at = at[0]
            else:
                at = at[0]
        if isinstance(at, list):
            at[:] = [value]
        else:
            at[path[-1]] = value
        tried.append((path, arguments))
    asked = 0
    for path, arguments in tried:
        run = world.run([[call(tool["name"], arguments)], [text("Done.")]], interactive=True, policy=[str(rule)],
                        answers=[{"outcome": "cancel", "message": "No."}])
        for message in run.told("tool-confirmation-request"):
            asked += 1
            kind = message["details"]["type"]
            assert is_shown(value, shown_of(message), kind), (path, kind)
    assert asked or tool["name"] in NEVER_ASKED, [r for r in run.results()]


# These texts are no diffs: refused before anybody is asked. Of what is one, the question shows what it makes.
NEVER_ASKED = {"safe_patch", "apply_changes", "update_data", "update_notebook"}


def test_always_counts_for_what_it_says_in_the_session(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "1\n"})],
                     [call("write_file", {"file_path": "b", "content": "2\n"})],
                     [call("run_shell_command", {"command": "make -n"})],
                     [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_always"}, {"outcome": "proceed_once"}])
    asked = run.told("tool-confirmation-request")
    assert [m["toolName"] for m in asked] == ["write_file", "run_shell_command"]
    assert asked[0]["outcomes"] == ["proceed_once", "proceed_always", "modify_with_editor", "cancel"]
    assert run.told("update-policy") == [{"toolName": "write_file", "saved": False}]
    assert world.read("a") == "1\n" and world.read("b") == "2\n"
    assert run.stats["tools"]["totalDecisions"] == {"accept": 2, "reject": 0, "modify": 0,
                                                    "auto_accept": 1}


def test_a_question_shows_the_edit(world):
    world.write("a", "1\n")
    run = world.run([[change(world, "patch", 0)[0]], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_once"}])
    details = run.told("tool-confirmation-request")[0]["details"]
    assert details["type"] == "edit" and details["filePath"] == str(world.root / "a0")
    assert details["originalContent"] == "1\n" and details["newContent"] == "one\n"
    assert "-1\n+one\n" in details["fileDiff"]


def test_what_somebody_made_of_an_edit_is_written(world):
    sha = world.write("a", "one\ntwo\n")
    run = world.run([[patch("a", sha, "two", "2")], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "modify_with_editor", "newContent": "one\nTWO\n"}])
    assert world.read("a") == "one\nTWO\n"
    assert run.stats["tools"]["totalDecisions"]["modify"] == 1


def test_no_to_one_call_is_no_to_the_rest(world):
    calls = [call("write_file", {"file_path": n, "content": "x\n", "wait_for_previous": True})
             for n in "abc"]
    run = world.run([calls], interactive=True, answers=[{"outcome": "cancel"}])
    assert run.outcomes[0]["end"] == "cancelled"
    assert [m["status"] for m in run.told("tool-result")] == ["cancelled"] * 3
    assert [r["error"]["code"] for r in run.results()] == ["denied_by_user", "cancelled",
                                                          "cancelled"]


def test_no_with_a_word_goes_to_the_model(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("As B.")]],
                    interactive=True, answers=[{"outcome": "cancel", "message": "Call it b. " + 3000 * "Really. " + "Now."}])
    assert run.outcomes[0]["end"] == "answered"
    result = run.results()[0]
    assert result["message"].endswith("The user declined this call and says: Call it b. " + 3000 * "Really. " + "Now.")
    assert result["error"]["code"] == "denied_by_user"
    assert "instruction" in result["error"]["advice"] and "retry" not in json.dumps(result)


def test_an_outcome_that_was_not_offered_is_no(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})]],
                    interactive=True, answers=[{"outcome": "proceed_always_server"}])
    assert not (world.root / "a").exists() and run.outcomes[0]["end"] == "cancelled"


def test_commands_are_asked_about_with_all_that_they_run(world):
    run = world.run([[call("run_shell_command", {"command": "make -n || env rm -rf x"})],
                     [call("run_shell_command", {"command": "make"})],
                     [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_once"}, {"outcome": "proceed_once"}])
    details = run.told("tool-confirmation-request")[0]["details"]
    assert details["type"] == "exec" and details["rootCommand"] == "make"
    assert {"make", "env", "rm"} <= set(details["rootCommands"])
    assert "rm -rf x" in details["summary"]


def test_a_rule_that_denies_is_told(world):
    rules = world.path / "rules.toml"
    rules.write_text('[[rule]]\ntoolName = "replace"\ndecision = "deny"\npriority = 500\n'
                     'denyMessage = "Not here."\n')
    sha = world.write("a", "x\n")
    run = world.run([[patch("a", sha, "x", "y")], [text("No.")]], policy=[str(rules)],
                    mode="yolo")
    assert "Not here." in run.results()[0]["message"]
    rejected = run.told("tool-policy-rejection")[0]
    assert rejected["toolName"] == "update_file" and "rules.toml" in rejected["rule"]
    names = fake_gemini.Provider.tool_names(run.server.requests[0])
    # Rules for replace are rules for all that changes a part of a file.
    assert not {"update_file", "safe_patch"} & set(names) and "write_file" in names


def test_always_and_save_writes_a_rule(world):
    saved = world.path / "policies"
    saved.mkdir()
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("Done.")]],
                    interactive=True, save_folder=str(saved),
                    settings={"security": {"enablePermanentToolApproval": True}},
                    answers=[{"outcome": "proceed_always_and_save"}])
    assert "proceed_always_and_save" in run.told("tool-confirmation-request")[0]["outcomes"]
    assert world.read("a") == "x\n"
    assert "write_file" in (saved / "auto-saved.toml").read_text()


def test_always_and_save_gives_up_on_a_lock(world):
    """Another hasp holds the folder: the call is allowed for this session, and a warning names the folder."""
    saved = world.path / "policies"
    saved.mkdir()
    fd = os.open(saved, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("Done.")]],
                        interactive=True, save_folder=str(saved),
                        settings={"security": {"enablePermanentToolApproval": True},
                                  "hasp": {"waits": {"lockSeconds": 1}}},
                        answers=[{"outcome": "proceed_always_and_save"}])
    finally:
        os.close(fd)
    assert world.read("a") == "x\n" and os.listdir(saved) == []
    notices = [notice["message"] for notice in run.told("notice")]
    assert any("gives up after 1 s" in notice for notice in notices)
    assert any("locked by another program for 1 s" in notice and str(saved) in notice
               for notice in notices)
