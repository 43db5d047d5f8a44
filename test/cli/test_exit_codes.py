# SPDX-License-Identifier: Apache-2.0
"""Exit codes of the commands: each is run with a wrong option, too few and too many arguments, and into a failure.

The rule (CLI_EXIT_TABLE in cli/options/command.h): 2, the command line is wrong; 1, the command failed. With 2 nothing
is done, standard output is empty, and standard error names what is wrong; with 1 the cause is named."""
import re

import pytest

USAGE, FAILED = 2, 1

# Command lines that are wrong whatever there is: {command: [arguments]}. Each with an unknown option besides.
WRONG = {
    "tool": ["", "nonesuch", "read_file {} x", "read_file {", "read_file --arg x"],
    "serve": ["", "nonesuch", "mcp x", "mcp --http 99999"],
    "acp": ["x"],
    "sandbox": ["", "--sandbox nonesuch -- true"],
    "config": ["nonesuch", "get", "get a b", "set", "set model.name", "set a b c", "unset", "unset a b", "allow", "allow a b",
               "disallow", "authority a b", "trust a b", "schema x", "show x", "set model.name x --scope nonesuch"],
    "context": ["nonesuch", "list x", "show a b"],
    "policy": ["nonesuch", "check", "check a b c", "check read_file {", "list x", "allow", "allow a b c", "ask", "deny",
               "remove", "allow * ", "deny Edit(*.c)", "allow x --path y"],
    "hooks": ["nonesuch", "list x", "trust x"],
    "agents": ["nonesuch", "list x", "enable", "disable", "allow", "enable a b"],
    "skills": ["nonesuch", "list x", "enable", "disable", "install", "link", "uninstall", "install a b"],
    "extensions": ["nonesuch", "list x", "enable", "disable", "install", "link", "update", "approve", "uninstall", "new",
                   "validate", "install a b", "explore a b", "marketplace nonesuch", "marketplace add", "marketplace remove",
                   "marketplace list x", "list --all"],
    "setup": ["", "nonesuch", "check a b"],
    "mcp": ["nonesuch", "list x", "test", "allow", "auth", "add", "add s", "remove", "enable", "disable", "test a b",
            "test s --env A=b", "enable s --scope user"],
    "checkpoint": ["", "nonesuch", "list x", "restore", "restore a b", "prune", "prune soon", "prune 1 2", "prune 99999999999"],
    "web": ["", "nonesuch", "list x", "invite", "invite a b", "invite a --role nonesuch", "invite a --minutes soon", "revoke"],
    "audit": ["nonesuch", "show x", "sign", "sign x --key none"],
    "sessions": ["nonesuch", "list x", "search a b", "export", "export a b", "rename", "rename a", "rename a b c", "delete",
                 "delete a b", "export a --format nonesuch"],
    "stats": ["x", "--since soon", "--all --project ."],
    "models": ["nonesuch", "list a b", "check a b"],
    "worker": ["x"],
    "completion": ["", "nonesuch", "bash x"],
    "help": ["nonesuch", "tool x"],
}
# Command lines that are right, about what is not there.
FAILING = {
    "tool": ["read_file -a file_path=none", "read_file -a nonesuch=1"],
    "sandbox": [], "serve": [], "acp": [], "worker": [], "completion": [], "help": [], "hooks": ["trust"],
    "config": ["get nonesuch", "set nonesuch 1", "set hasp.contextTokens abc", "unset nonesuch", "unset model.name",
               "allow nonesuch", "disallow nonesuch", "authority nonesuch", "trust /nonesuch", "distrust /nonesuch"],
    "context": ["show nonesuch", "list -m nonesuch/x", "list -r nonesuch"],
    "policy": ["remove nonesuch", "list --policy /nonesuch"],
    "agents": ["enable nonesuch", "disable nonesuch", "allow nonesuch"],
    "skills": ["enable nonesuch", "disable nonesuch", "install /nonesuch", "link /nonesuch", "uninstall nonesuch"],
    "extensions": ["enable nonesuch", "disable nonesuch", "install /nonesuch", "link /nonesuch", "update nonesuch",
                   "approve nonesuch", "config nonesuch", "uninstall nonesuch", "validate /nonesuch", "explore nonesuch",
                   "marketplace remove nonesuch", "marketplace add /nonesuch"],
    "setup": ["check /nonesuch"],
    "mcp": ["test nonesuch", "allow nonesuch", "auth nonesuch", "remove nonesuch", "enable nonesuch", "disable nonesuch"],
    "checkpoint": ["restore nonesuch"],
    "web": ["list", "invite nonesuch", "revoke nonesuch"],
    "audit": ["sign 1 --key /nonesuch"],
    "sessions": ["export nonesuch", "rename nonesuch x", "delete nonesuch"],
    "stats": ["--project /nonesuch", "--html /proc/nonesuch/x"],
    "models": ["list nonesuch", "check nonesuch/x"],
}


def run(ws, command, words):
    ws.home.mkdir(exist_ok=True)
    return ws.run(command, *words.split())


def test_every_command_has_its_rows(ws):
    section = ws.run("--help").out.decode().split("\nCommands:\n")[1].split("\n\n")[0]
    commands = re.findall(r"^  ([a-z]+) ", section, re.M)
    assert len(commands) > 15 and sorted(commands) == sorted(WRONG) == sorted(FAILING)


@pytest.mark.parametrize("command,words", [(command, words) for command in WRONG for words in [*WRONG[command], "--nonesuch"]])
def test_a_wrong_command_line_is_two(ws, command, words):
    done = run(ws, command, words)
    assert (done.code, done.out) == (USAGE, b"") and done.err.startswith(b"hasp: ") and len(done.err) > 12, done.message
    assert not (ws.home / ".gemini/policies").exists()


@pytest.mark.parametrize("command,words", [(command, words) for command in FAILING for words in FAILING[command]])
def test_a_failing_command_is_one(ws, command, words):
    done = run(ws, command, words)
    assert done.code == FAILED, (done.out, done.err)
    if command == "tool":
        assert b'"success":false' in done.out and not done.err
    else:
        assert done.out == b"" and done.err.startswith(b"hasp: ") and done.err.strip().endswith((b".", b"directory", b"trust")), done.err


@pytest.mark.parametrize("words", [["-p", "x", "y"], ["--yolo", "--approval-mode", "plan", "-p", "x"], ["-p"], ["-p", "x", "-p", "y"],
                                   ["--resume", "latest", "--session-id", "a", "-p", "x"], ["-p", "x", "-o", "nonesuch"],
                                   ["--list-sessions", "x"], ["--nonesuch"]])
def test_the_agent_with_a_wrong_command_line_is_two(ws, words):
    done = ws.run(*words)
    assert (done.code, done.out) == (USAGE, b"") and done.err.startswith(b"hasp: "), done.message
