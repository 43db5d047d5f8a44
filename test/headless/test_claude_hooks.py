# SPDX-License-Identifier: Apache-2.0
"""What hooks written for Claude Code are given: the members of docs/hooks.md's table, which are those of its reference."""
import json
import re
from pathlib import Path

from conftest import HASP  # noqa: F401  (the fixtures need it)
from fake_gemini import call, text

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "hooks.md").read_text()
HELLO = [[text("Hello.")]]


def rows(heading):
    """{first cell: names in the second} of the table under a heading."""
    table = next(part for part in PAGE.split(heading)[1].split("\n\n") if part.startswith("|"))
    return {line.split("|")[1].strip().strip("`"): set(re.findall(r"`([a-zA-Z_.]+)`", line.split("|")[2]))
            for line in table.splitlines()[2:]}


def keep(world, *events):
    note = {"hooks": [{"type": "command", "command": 'cat >"$(mktemp "$CLAUDE_PROJECT_DIR/kept.XXXXXX")"'}]}
    path = world.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": {event: [note] for event in events}}))


def kept(world):
    return [json.loads(path.read_text()) for path in world.root.glob("kept.*")]


def test_each_event_has_the_members_of_the_reference(world):
    events = rows("### What they are given")
    keep(world, *events)
    world.write("b.txt", "old\n")
    calls = [call("write_file", {"file_path": "a.txt", "content": "x\n"}),
             call("run_shell_command", {"command": "echo hi"})]
    assert world.run([calls, [text("Done.")]], "-y", "-p", "write").code == 0
    seen = {}
    for given in kept(world):
        seen.setdefault(given["hook_event_name"], given)
        assert given["permission_mode"] == "bypassPermissions" and given["cwd"] == str(world.root)
    assert set(seen) == set(events) - {"PreCompact", "Notification"}
    for event, given in seen.items():
        assert events[event] <= set(given), (event, events[event] - set(given))
    assert seen["Stop"]["last_assistant_message"] == "Done." and seen["Stop"]["stop_hook_active"] is False
    before, after = ({given["tool_name"]: given["tool_use_id"] for given in kept(world) if given["hook_event_name"] == event}
                     for event in ("PreToolUse", "PostToolUse"))
    assert before == after and len(set(before.values())) == 2
    assert "claude" not in seen["Stop"]


def test_results_have_the_members_of_its_tools(world):
    responses = rows("### Results in `tool_response`")
    keep(world, "PostToolUse")
    world.write("b.txt", "old\nline\n")
    done = world.run([[call("write_file", {"file_path": "a.txt", "content": "x\n"})],
                      [call("update_file", {"file_path": "b.txt", "old_string": "old", "new_string": "new"})],
                      [call("run_shell_command", {"command": "echo hi; exit 3"}),
                       call("read_file", {"file_path": "b.txt"}), call("glob", {"pattern": "*.txt"}),
                       call("grep_search", {"pattern": "new", "include": "*.txt"})], *HELLO], "-y", "-p", "x")
    assert done.code == 0
    by_tool = {given["tool_name"]: given for given in kept(world)}
    assert set(responses) <= set(by_tool)
    for tool, members in responses.items():
        assert members == set(by_tool[tool]["tool_response"]), tool
    assert by_tool["Write"]["tool_response"]["type"] == "create"
    edit = by_tool["Edit"]["tool_response"]
    assert edit["filePath"] == by_tool["Edit"]["tool_input"]["file_path"] == str(world.root / "b.txt")
    assert (edit["oldString"], edit["newString"], edit["success"]) == ("old", "new", True)
    assert edit["structuredPatch"] == []
    assert by_tool["Bash"]["tool_response"]["stdout"] == "hi\n"
    assert by_tool["Read"]["tool_response"]["file"]["numLines"] == 2
    assert by_tool["Grep"]["tool_response"]["filenames"] == ["b.txt"] and by_tool["Grep"]["tool_input"]["glob"] == "*.txt"
    assert sorted(by_tool["Glob"]["tool_response"]["filenames"]) == ["a.txt", "b.txt"]


def test_arguments_that_a_hook_changes_have_its_names(world):
    path = world.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    answer = ("python3 -c 'import json,sys; given=json.load(sys.stdin)[\"tool_input\"]; given.update({\"limit\": 1}); "
              "print(json.dumps({\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\", "
              "\"updatedInput\": given}}))'")
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": answer}]}]}}))
    world.write("b.txt", "one\ntwo\n")
    done = world.run([[call("read_file", {"file_path": "b.txt", "max_lines": 2})], *HELLO], "-y", "-p", "x")
    result = done.results(1)[0]
    assert result["success"] and result["content"] == "one\n", result


def test_a_hook_that_is_never_satisfied_is_said_and_stops(world):
    world.settings(hasp={"hooks": {"maxContinuations": 2}})
    path = world.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo More. >&2; exit 2"}]}]}}))
    done = world.run(HELLO * 3, "-p", "x")
    assert done.code == 0 and len(done.sent) == 3 and "hasp.hooks.maxContinuations" in done.err
