# SPDX-License-Identifier: Apache-2.0
"""Commands, flags, help and usage errors."""
import pytest
from conftest import HASP
from terminal import Terminal


def is_usage_error(done, *words):
    assert done.code == 2, done.message
    assert done.out == b""
    assert done.err.startswith(b"hasp: ")
    for word in words:
        assert word in done.message
    return True


def test_without_anything_help_goes_to_standard_error(ws):
    with Terminal(["sh", "-c", '"$0" >out', HASP], ws.folder, ws.env) as terminal:
        code, shown = terminal.finish()
    assert code == 2 and ws.read("out") == b""
    assert b"hasp -p PROMPT" in shown and b"completion" in shown


def test_without_anything_and_no_terminal_there_is_no_prompt(ws):
    done = ws.run()
    assert (done.code, done.out) == (42, b"") and "No prompt" in done.message


def test_help_goes_to_standard_output(ws):
    for flag in ("--help", "-h"):
        done = ws.run(flag)
        assert (done.code, done.err) == (0, b"")
        assert b"hasp -p PROMPT" in done.out and b"hasp COMMAND" in done.out


def test_help_names_every_command_and_no_hidden_flag(ws):
    text = ws.run("help").out.decode()
    for command in ("tool", "completion", "help"):
        assert "\n  " + command in text
    assert "man-page" not in text


@pytest.mark.parametrize("command", ["tool", "completion", "help"])
def test_help_of_a_command_is_the_same_in_both_forms(ws, command):
    one, other = ws.run("help", command), ws.run(command, "--help")
    assert one.code == other.code == 0
    assert one.out == other.out and b"usage: hasp " + command.encode() in one.out


def test_help_before_the_command_is_about_the_command(ws):
    assert ws.run("--help", "tool").out == ws.run("tool", "--help").out


def test_help_fits_eighty_columns(ws):
    for args in (["--help"], ["tool", "--help"], ["tool", "safe_patch", "--help"]):
        assert max(map(len, ws.run(*args).out.decode().splitlines())) < 80


def test_help_of_a_tool_names_its_arguments(ws):
    text = ws.run("tool", "safe_patch", "--help").out.decode()
    for word in ("file_path", "unified_diff", "base_content_sha256", "required"):
        assert word in text


def test_version(ws):
    for flag in ("--version", "-V"):
        done = ws.run(flag)
        assert done.code == 0 and done.out.startswith(b"hasp ") and done.out.count(b"\n") == 1


def test_an_unknown_command_is_answered_with_the_nearest(ws):
    assert is_usage_error(ws.run("toll"), '"toll"', 'did you mean "tool"')
    assert is_usage_error(ws.run("help", "compleion"), 'did you mean "completion"')
    assert "did you mean" not in ws.run("xylophone").message


def test_an_unknown_flag_is_answered_with_the_nearest(ws):
    assert is_usage_error(ws.run("tool", "read_file", "--jsn"), "--jsn", "did you mean --json")
    assert is_usage_error(ws.run("--versoin"), "did you mean --version")
    assert is_usage_error(ws.run("tool", "-x"), "-x")


def test_an_unknown_tool_is_answered_with_the_nearest(ws):
    assert is_usage_error(ws.run("tool", "raed_file"), 'did you mean "read_file"')
    assert is_usage_error(ws.run("tool", "qqqqqqqq"), "--list")
    assert is_usage_error(ws.run("tool"), "--list")


def test_flags_are_not_abbreviated(ws):
    assert is_usage_error(ws.run("tool", "--lis"))


def test_a_flag_without_its_value(ws):
    assert is_usage_error(ws.run("tool", "list_directory", "--root"), "--root", "DIR")


def test_a_switch_with_a_value(ws):
    assert is_usage_error(ws.run("tool", "--list=yes"), "--list", "no value")


@pytest.mark.parametrize("flag, choices", [("--color", "auto, always or never"),
                                           ("--durability", "full or rename")])
def test_a_value_that_is_no_choice(ws, flag, choices):
    assert is_usage_error(ws.run("tool", "list_directory", flag, "sometimes"), choices)
    assert is_usage_error(ws.run("tool", "list_directory", flag + "=sometimes"), choices)
    assert is_usage_error(ws.run("tool", "list_directory", flag + "="), choices)


def test_a_flag_given_twice(ws):
    assert is_usage_error(ws.run("tool", "--color=auto", "--color=never"), "twice")


def test_too_many_words(ws):
    assert is_usage_error(ws.run("tool", "read_file", "{}", "more"), '"more"')
    assert is_usage_error(ws.run("tool", "--list", "read_file"), "--list")


def test_completion_needs_a_shell_it_knows(ws):
    assert is_usage_error(ws.run("completion"), "bash")
    assert is_usage_error(ws.run("completion", "tcsh"), "bash, zsh or fish")


def test_list_names_each_tool_on_a_line(ws):
    done = ws.run("tool", "--list")
    assert done.code == 0
    names = [line.split()[0] for line in done.out.decode().splitlines() if line[2:3].strip()]
    assert {"read_file", "read_many_files", "safe_patch", "write_file", "update_file",
            "apply_changes", "list_directory"} <= set(names)


def test_list_as_json_has_the_schemas(ws):
    tools = ws.run("tool", "--list", "--json").json
    by_name = {tool["name"]: tool for tool in tools}
    assert by_name["read_file"]["arguments_schema"]["properties"]["file_path"]["type"] == "string"
    for tool in tools:
        assert set(tool) == {"name", "title", "kind", "aliases", "description",
                             "arguments_schema", "undeclared", "result_schema"}
        assert tool["arguments_schema"] and tool["result_schema"] and len(tool["description"]) > 40


def test_schema_of_one_tool_is_its_entry_in_the_list(ws):
    tools = ws.run("tool", "--list", "--json").json
    for tool in tools:
        assert ws.run("tool", tool["name"], "--schema").json == tool


def test_short_flags_can_be_joined_and_repeated(ws):
    tools = ws.run("tool", "-ljp").out
    assert tools.startswith(b"[\n  {")
    assert ws.run("tool", "-lllllj", "-j", "-j", "-jl").out == ws.run("tool", "-lj").out


def test_two_dashes_end_the_flags(ws):
    ws.write("--json", b"content\n")
    done = ws.run("tool", "-a", "file_path=--json", "--", "read_file")
    assert done.json["content"] == "content\n"


def test_hostile_words_do_not_reach_the_terminal_raw(ws):
    evil = "\x1b]0;owned\x07\u202e"
    for args in ([evil], ["--" + evil], ["tool", evil], ["tool", "--" + evil], ["tool", "read_file", evil]):
        done = ws.run(*args)
        assert done.code == (41 if args == [evil] else 2)  # a word alone is a prompt
        assert b"\x1b" not in done.err and b"\x07" not in done.err
        assert "\u202e" not in done.message


def test_a_very_long_word_is_survived(ws):
    done = ws.run("tool", "x" * 100000)
    assert done.code == 2 and done.out == b""
