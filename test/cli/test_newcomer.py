# SPDX-License-Identifier: Apache-2.0
"""What somebody meets who has not read the manual: help of tools, words that are nearly right, empty answers."""
import json

import pytest
from conftest import HASP
from terminal import Terminal


def described(schema, path=""):
    """(path, required, choices) of each argument, within others too."""
    for name, member in schema.get("properties", {}).items():
        items = member.get("items", {})
        choices = member.get("enum") or items.get("enum") or (
            [member["const"]] if "const" in member else [])
        yield path + name, choices
        inside = path + name + ("[]." if items else ".")
        below = items or member
        for branch in [below, *below.get("oneOf", [])]:
            yield from described(branch, inside)


def test_help_of_a_tool_has_all_its_arguments(ws):
    for tool in ws.run("tool", "--list", "--json").json:
        text = " ".join(ws.run("tool", tool["name"], "--help").out.decode().split())
        for path, choices in described(tool["arguments_schema"]):
            assert " %s (" % path in text, (tool["name"], path)
            for choice in choices:
                assert any(str(choice) in part.split(")")[0]
                           for part in text.split(" %s (" % path)[1:]), (tool["name"], path, choice)
        for name, member in tool["arguments_schema"].get("properties", {}).items():
            assert len(member.get("description", "").split()) > 1, (tool["name"], name)
    text = ws.run("tool", "apply_changes", "--help").out.decode()
    assert "changes[].kind" in text and "(array of object, required)" in text
    assert "(string, one of full, diff, none)" in text


@pytest.mark.parametrize("name,tool", [("Edit", "update_file"), ("replace", "update_file"),
                                       ("ShellTool", "run_shell_command"), ("Bash", "run_shell_command")])
def test_other_programs_names_of_tools(ws, name, tool):
    assert ws.run("tool", name, "--help").out == ws.run("tool", tool, "--help").out


def test_a_tool_that_is_called_as_elsewhere(ws):
    done = ws.run("tool", "ShellTool", "-a", "command=echo hi")
    assert done.code == 0 and "hi" in done.json["output"]


def test_help_of_no_tool(ws):
    done = ws.run("tool", "raed_file", "--help")
    assert (done.code, done.out) == (2, b"") and 'did you mean "read_file"' in done.message


@pytest.mark.parametrize("tool,word,meant", [
    ("read_file", "README.md", "-a file_path=README.md"), ("read_file", "none.md", "-a file_path=none.md"),
    ("run_shell_command", "ls", "-a command=ls"), ("search_files", "TODO", "-a pattern=TODO"),
])
def test_a_word_that_is_meant_as_an_argument(ws, tool, word, meant):
    ws.write("README.md", "# Hello\n")
    done = ws.run("tool", tool, word)
    assert (done.code, done.out) == (2, b"") and "Did you mean %s?" % meant in done.message


def test_trust_is_confirmed(ws):
    done = ws.run("config", "trust")
    assert (done.code, done.out.decode(), done.err) == (0, "Trusted: %s\n" % ws.folder, b"")
    done = ws.run("config", "distrust")
    assert (done.code, done.out.decode()) == (0, "Not trusted: %s\n" % ws.folder)


def test_settings_without_any_set(ws):
    done = ws.run("config")
    assert (done.code, done.out) == (0, b"") and "All settings are at their defaults" in done.message
    assert ws.run("config", "--json").json == {}


def test_rules_have_a_heading_and_no_escapes(ws):
    text = ws.run("policy", "list").out.decode()
    assert text.startswith("PRIO   DECISION") and "\\x00" not in text and '|"agent_name"' in text
    assert any("\\x00" in rule.get("argsPattern", "") for rule in ws.run("policy", "list", "--json").json)


@pytest.mark.parametrize("args,decision", [(["write_file"], "deny"), (["read_file"], None)])
def test_a_check_says_what_happens_where_nobody_can_be_asked(ws, args, decision):
    text = ws.run("policy", "check", *args).out.decode()
    assert ("in a run that cannot ask (hasp -p in a script): %s" % decision in text) == bool(decision)
    assert ws.run("policy", "check", *args, "--json").json.get("headless") == decision


def test_a_server_on_a_terminal_says_what_it_waits_for(ws):
    with Terminal([HASP, "serve", "mcp"], ws.folder, ws.env) as terminal:
        terminal.wait_for(b"is waiting for an MCP client")
        terminal.type("\x04")
        code, _ = terminal.finish()
    assert code == 0


def test_the_name_alone_is_a_short_screen_where_it_cannot_be_interactive(ws):
    with Terminal(["sh", "-c", '"$0" >out', HASP], ws.folder, ws.env) as terminal:
        code, shown = terminal.finish()
    assert code == 2 and shown.count(b"\n") <= 15
    for words in (b"usage: hasp", b"hasp -p PROMPT", b"hasp config trust", b"hasp --help"):
        assert words in shown


def test_no_key_says_how_to_give_one(ws):
    done = ws.run("-p", "x")
    assert done.code == 41
    for words in ("GEMINI_API_KEY", "~/.gemini/.env", "/auth"):
        assert words in done.message


@pytest.mark.parametrize("args", [["--delete-session", "1", "2"], ["--list-sessions", "x"]])
def test_what_would_be_ignored_is_refused(ws, args):
    done = ws.run(*args)
    assert (done.code, done.out) == (2, b"") and "Nothing was done" in done.message


@pytest.mark.parametrize("words, instead", [
    (["--dangerously-skip-permissions"], "-y"), (["--full-auto", "x"], "-y"),
    (["--permission-mode", "plan"], "--approval-mode"), (["-a", "never"], "--approval-mode"), (["--add-dir", "../lib"], "--include-directories"),
    (["--print", "x"], "-p PROMPT"), (["--oss"], "ollama"), (["--image", "a.png"], "@FILE"), (["--max-turns", "3"], "model.maxSessionTurns"),
    (["exec", "explain utils.ts"], "hasp -p PROMPT"), (["run", "explain the code"], "hasp -p PROMPT"), (["resume"], "--resume"),
    (["login"], "/auth"), (["connect"], "/auth"), (["doctor"], "hasp models check"), (["review"], "hasp -p")])
def test_what_other_agents_have_says_what_does_it_here(ws, words, instead):
    done = ws.run(*words)
    assert done.code in (2, 42) and done.out == b"" and instead in done.message, done.message


def test_a_prompt_of_two_words_is_a_prompt(ws):
    assert "No API key" in ws.run("run", "tests").message
