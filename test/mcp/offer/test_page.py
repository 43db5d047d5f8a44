# SPDX-License-Identifier: Apache-2.0
"""docs/mcp.md says what the program says."""
import json
import re
import subprocess
import tomllib
from pathlib import Path

from conftest import HASP
from snippets import PAGE, snippets

AGENTS = ("gemini", "claude", "codex", "vscode")


def test_every_option_is_on_the_page_and_no_other():
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("## Options")[1].split("## ")[0]
    on_page = re.findall(r"(?m)^\| .*?`(--[a-z-]+)", table)
    shown = subprocess.run([HASP, "help", "serve"], stdout=subprocess.PIPE, text=True, check=True)
    in_help = re.findall(r"(?m)^ {2}.{4}(--[a-z-]+)", shown.stdout)
    assert set(on_page) <= set(in_help) and len(on_page) == len(set(on_page))
    for flag in sorted(set(in_help) - {"--help"} - set(on_page)):
        refused = refusal(flag)
        assert "is for hasp serve" in refused, refused


def refusal(flag):
    """What `hasp serve mcp` says to a flag of the other servers, which may want a value."""
    for value in ([], ["1"], ["plan"]):
        run = subprocess.run([HASP, "serve", "mcp", flag, *value], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        if "is for hasp serve" in run.stdout:
            break
    return "%s: %s" % (flag, run.stdout)


def test_there_is_a_snippet_for_each_agent_and_way():
    found = snippets()
    assert set(found) == {"%s-%s" % (agent, way) for agent in AGENTS
                          for way in ("stdio", "http")} | {"http-start"}


def test_snippets_are_what_their_language_says_and_start_this_server():
    for name, (language, text) in snippets().items():
        if language == "json":
            config = json.loads(text)
            server = (config.get("mcpServers") or config["servers"])["hasp"]
        elif language == "toml":
            server = tomllib.loads(text)["mcp_servers"]["hasp"]
        else:
            continue
        if name.endswith("stdio"):
            assert server["command"] == "hasp" and server["args"][:2] == ["serve", "mcp"]
        else:
            assert (server.get("url") or server["httpUrl"]) == "http://127.0.0.1:8731/mcp"


def test_the_prompts_are_named():
    text = PAGE.read_text(encoding="utf-8")
    source = (Path(PAGE).parents[1] / "src" / "mcp" / "offer" / "prompts.c").read_text(encoding="utf-8")
    names = re.findall(r'(?m)^\t\t\.name = "(\w+)"', source)
    assert names and all("`%s`" % name in text for name in names)
