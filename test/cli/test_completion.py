# SPDX-License-Identifier: Apache-2.0
"""Completion, in the shells themselves."""
import os
import subprocess

import pytest
from conftest import HASP
from terminal import Terminal

TOOLS = ["apply_changes", "glob", "kill_background_process", "list_background_processes",
         "list_directory", "query_data", "read_background_output", "read_file", "read_many_files",
         "run_shell_command", "safe_patch", "search_files", "update_data", "update_file", "update_notebook",
         "write_background_input", "write_file"]

BASH_OFFER = r"""
source "$1"
COMP_LINE=$2
COMP_POINT=${#2}
COMP_WORDS=()
_hasp
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(ws, tmp_path):
    def write(shell):
        done = ws.run("completion", shell)
        assert done.code == 0 and done.err == b""
        path = tmp_path / ("completion." + shell)
        path.write_bytes(done.out)
        return str(path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hasp").symlink_to(HASP)
    ws.env["PATH"] = "%s:%s" % (tmp_path / "bin", os.environ["PATH"])
    return write


def bash(ws, script, line):
    done = subprocess.run(["bash", "--norc", "-c", BASH_OFFER, "bash", script("bash"), line],
                          cwd=ws.folder, env=ws.env, capture_output=True, check=True)
    assert done.stderr == b""
    return sorted(done.stdout.decode().split())


def fish(ws, script, line):
    done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"',
                           script("fish"), line],
                          cwd=ws.folder, env=ws.env, capture_output=True, check=True)
    assert done.stderr == b""
    return sorted(offer.split("\t")[0] for offer in done.stdout.decode().splitlines())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_syntax_is_right(script, shell):
    subprocess.run([shell, "-n", script(shell)], check=True)


@pytest.mark.parametrize("offers", [bash, fish])
def test_commands_and_tools(ws, script, offers):
    assert offers(ws, script, "hasp ") == ["acp", "agents", "audit", "checkpoint", "completion", "config", "context", "extensions", "help", "hooks",
                                             "mcp", "models", "policy", "sandbox", "serve", "sessions", "setup", "skills", "stats", "tool", "web", "worker"]
    assert offers(ws, script, "hasp -o ") == ["json", "stream-json", "text"]
    assert offers(ws, script, "hasp --yolo --approval-mode pl") == ["plan"]
    assert offers(ws, script, "hasp --output-format=str")[0].endswith("stream-json")
    assert offers(ws, script, "hasp -s --approval-mode pl") == ["plan"]
    assert offers(ws, script, "hasp hooks ") == ["list", "trust"]
    assert offers(ws, script, "hasp skills ") == [
        "disable", "enable", "install", "link", "list", "uninstall"]
    assert offers(ws, script, "hasp to") == ["tool"]
    assert offers(ws, script, "hasp tool ") == TOOLS
    assert offers(ws, script, "hasp tool read_f") == ["read_file"]
    assert offers(ws, script, "hasp tool --json s") == ["safe_patch", "search_files"]
    assert offers(ws, script, "hasp tool --root . s") == ["safe_patch", "search_files"]
    assert offers(ws, script, "hasp completion ") == ["bash", "fish", "zsh"]
    assert offers(ws, script, "hasp help t") == ["tool"]
    assert offers(ws, script, "hasp serve ") == ["a2a", "mcp", "web"]
    assert offers(ws, script, "hasp serve mcp --confirm ") == ["all", "commands", "edits", "never"]
    assert offers(ws, script, "hasp serve mcp --tools up") == ["update_data", "update_file", "update_notebook"]


@pytest.mark.parametrize("offers", [bash, fish])
def test_flags(ws, script, offers):
    assert offers(ws, script, "hasp --v") == ["--version"]
    assert offers(ws, script, "hasp tool --du") == ["--durability"]
    assert set(offers(ws, script, "hasp tool read_file --")) >= {
        "--arg", "--root", "--json", "--pretty", "--color", "--durability", "--schema", "--help"}
    assert "--man-page" not in offers(ws, script, "hasp --")


@pytest.mark.parametrize("offers", [bash, fish])
def test_values_of_flags(ws, script, offers):
    assert offers(ws, script, "hasp tool --color ") == ["always", "auto", "never"]
    assert offers(ws, script, "hasp tool --durability r") == ["rename"]


def test_bash_completes_a_value_after_an_equals_sign(ws, script):
    assert bash(ws, script, "hasp tool --color=al") == ["always"]


def test_the_parameters_of_the_tool(ws, script):
    for offers in (bash, fish):
        assert offers(ws, script, "hasp tool safe_patch --arg uni") == ["unified_diff="]
        assert "content=" not in offers(ws, script, "hasp tool read_file --arg ")
        assert "file_path=" in offers(ws, script, "hasp tool read_file -a ")


def test_files_and_folders(ws, script):
    ws.write("arguments.json", "{}")
    ws.write("area/f", "")
    for offers in (bash, fish):
        found = {name.rstrip("/") for name in offers(ws, script, "hasp tool read_file ar")}
        assert found == {"arguments.json", "area"}
        found = {name.rstrip("/") for name in offers(ws, script, "hasp tool --root ar")}
        assert found == {"area"}
    assert bash(ws, script, "hasp tool read_file --arg file_path=arg") == ["arguments.json"]
    assert fish(ws, script, "hasp tool read_file --arg file_path=arg") == [
        "file_path=arguments.json"]


def typed(ws, shell, setup, lines):
    """Types lines with tabs in one interactive shell; checks the words it runs for each."""
    env = {**ws.env, "PS1": "ready> ", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    show = "hasp() { printf '<%s>' \"$@\"; printf 'run\\n'; }"
    with Terminal(shell, ws.folder, env, columns=200) as terminal:
        terminal.type("%s; %s; PS1='rea''dy> '\n" % (setup, show))
        since = 0
        for line, expected in lines:
            terminal.wait_for(b"ready> ", since)
            since = len(terminal.output)
            terminal.type(line + "\n")
            shown = terminal.wait_for(b">run", since)
            assert "".join("<%s>" % word for word in expected).encode() + b"run" in shown


SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source "),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source "),
}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tabs_in_an_interactive_shell(ws, script, shell):
    ws.write("unusual-name.txt", "")
    argv, setup = SETUP[shell]
    setup += script(shell)
    typed(ws, argv, setup, [
        ("hasp to\tsafe\t--dur\tre\t", ["tool", "safe_patch", "--durability", "rename"]),
        ("hasp tool read_file --arg file_p\tunu\t",
         ["tool", "read_file", "--arg", "file_path=unusual-name.txt"]),
        ("hasp tool write_file --arg content=@unu\t",
         ["tool", "write_file", "--arg", "content=@unusual-name.txt"]),
        ("hasp completion f\t", ["completion", "fish"])])


def test_zsh_finds_the_installed_function(ws, script, tmp_path):
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "_hasp").write_bytes(open(script("zsh"), "rb").read())
    setup = "fpath=(%s $fpath); autoload -U compinit; compinit -u -D" % functions
    typed(ws, SETUP["zsh"][0], setup, [
        ("hasp to\tsafe\t--dur\tre\t", ["tool", "safe_patch", "--durability", "rename"])])


def test_the_build_makes_the_scripts_that_it_installs(ws):
    for shell, name in (("bash", "hasp.bash"), ("zsh", "_hasp"), ("fish", "hasp.fish")):
        built = os.path.join(os.path.dirname(HASP), name)
        with open(built, "rb") as file:
            assert file.read() == ws.run("completion", shell).out


@pytest.mark.parametrize("offers", [bash, fish])
def test_what_follows_a_confined_command_is_its_own(ws, script, offers):
    ws.write("some-file", "")
    assert offers(ws, script, "hasp sandbox --sandbox f") == ["full"]
    assert "--explain" in offers(ws, script, "hasp sandbox --e")
    assert "zdump" in offers(ws, script, "hasp sandbox --net zdum")


def test_bash_offers_no_flags_of_hasp_to_a_confined_command(ws, script):
    ws.write("some-file", "")
    assert bash(ws, script, "hasp sandbox ls --e") == []
    assert bash(ws, script, "hasp sandbox ls some") == ["some-file"]
