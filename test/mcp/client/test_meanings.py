# SPDX-License-Identifier: Apache-2.0
"""A server's tool whose parameters have the names of hasp's own and mean something else: only the
tool's row says what its arguments mean, so rules, questions, hooks, checkpoints and telemetry see
nothing of that here."""
import json

import pytest
from fake_gemini import call, text
from test_stdio import ALLOW

# By name: something of another type, and something that looks like what it is elsewhere.
ODD = {
    "changes": [7, [{"kind": "delete", "file_path": "kept.txt"}]],
    "file_path": [{"row": 3}, "kept.txt"],
    "new_path": [True, "kept.txt"],
    "path": [3, "kept.txt"],
    "paths": ["all", ["kept.txt"]],
    "include": [{"x": 1}, ["*.txt"]],
    "dir_path": [None, "/"],
    "command": [{"name": "left"}, "rm -rf kept.txt"],
    "content": [[1, 2], "other"],
    "input": [0, "rm -rf kept.txt\n"],
    "additional_permissions": [1, {"network": True, "fileSystem": {"write": ["/"]}}],
    "todos": [1, [{"description": "x", "status": "pending"}]],
    "questions": ["none", [{"question": "Why?"}]],
}
KINDS = pytest.mark.parametrize("which", [0, 1], ids=["other types", "alike"])


def arguments(which):
    return {"text": "hello", **{name: values[which] for name, values in ODD.items()}}


def declare(world, **settings):
    """The tool echo of the server takes all that."""
    log = world.top / "log"
    properties = {name: {} for name in ODD}
    (world.top / "log.tools").write_text(json.dumps([{"name": "echo", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}, **properties}}}]))
    world.write("kept.txt", "kept\n")
    server = world.server("fake", "--log", log, sandbox={"write": [str(world.top)]})
    world.use({"fake": server}, **settings)


def attempt(world, which, *options):
    done = world.run([[call("mcp_fake_echo", arguments(which))], [text("Done.")]], "-p", "Do it.",
                     *(options or ALLOW))
    assert done.code == 0, done.err
    (result,) = done.results()
    return result


def policy(world, rules):
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(rules)


@KINDS
@pytest.mark.parametrize("options", [ALLOW, ("-y",)], ids=["allowed", "yolo"])
def test_it_asks_for_no_permissions(world, which, options):
    declare(world)
    assert "you said hello" in attempt(world, which, *options)["output"]


@KINDS
def test_rules_about_commands_and_edits_are_not_about_it(world, which):
    declare(world)
    policy(world, """
[[rule]]
toolName = ["run_shell_command", "write_background_input", "apply_changes", "update_file"]
decision = "deny"
priority = 998

[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm"
decision = "deny"
priority = 999
""")
    assert "you said hello" in attempt(world, which)["output"]


@KINDS
def test_a_hook_sees_the_arguments_as_they_are_once(world, which):
    hook = world.home / "hook.py"
    hook.write_text("import sys\nopen('seen', 'a').write(sys.stdin.read() + '\\n')\n")
    entry = [{"matcher": ".*", "hooks": [{"type": "command", "command": "python3 %s" % hook}]}]
    declare(world, hooks={"BeforeTool": entry, "AfterTool": entry})
    assert "you said hello" in attempt(world, which)["output"]
    seen = [json.loads(line) for line in world.read("seen").splitlines()]
    assert [one["hook_event_name"] for one in seen] == ["BeforeTool", "AfterTool"]
    for one in seen:
        assert one["tool_input"] == arguments(which) and one["tool_name"] == "mcp_fake_echo"
        assert "absolute_path" not in one and "diff" not in one


@KINDS
def test_nothing_is_kept_counted_or_masked_as_an_edit(world, which):
    log = world.top / "events.log"
    declare(world, general={"checkpointing": {"enabled": True}},
            telemetry={"enabled": True, "target": "local", "outfile": str(log)})
    assert "you said hello" in attempt(world, which)["output"]
    assert not list(world.home.glob(".gemini/tmp/*/checkpoints/*"))
    assert "gemini_cli.tool_call" in log.read_text() and "file_operation" not in log.read_text()
    assert world.read("kept.txt") == "kept\n"
