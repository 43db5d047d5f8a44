# SPDX-License-Identifier: Apache-2.0
"""Each screen in windows of 80 and 40 columns, without colours, with 16, for a screen reader, with text that is wide, of
clusters, or written from right to left.

What the program writes never goes beyond the width that it was told (the terminal is wider: there it would stand), what
one needs to go on is in the window, the cursor is where one types, and after Esc the window is the one before.  For a
screen reader, what a screen has is printed once."""
import subprocess
import unicodedata
from typing import NamedTuple

import fake_mcp
import pytest
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(10)

MARGIN = 60
ODD = "模型 👩‍👩‍👧‍👦 דגם مرحبا e\u0301u\u0308 ｆ"
NAME = "模型-דגם-e\u0301.txt"
MODELS = {"models": [
    {"name": "models/" + name, "displayName": title, "inputTokenLimit": 1048576, "supportedGenerationMethods": ["generateContent"]}
    for name, title in (("gemini-3.8-flash", "Gemini 3.8 Flash"), ("gemini-3.1-pro-preview", "Gemini 3.1 Pro"), ("模型", ODD))]}

VARIANTS = {
    "80": {"columns": 80}, "40": {"columns": 40}, "no-colour": {"columns": 80, "env": {"NO_COLOR": "1"}},
    "16": {"columns": 80, "env": {"TERM": "xterm"}}, "reader": {"columns": 80, "flags": ["--screen-reader"]},
    "40-no-colour": {"columns": 40, "env": {"NO_COLOR": "1"}},
}


class Screen(NamedTuple):
    name: str
    types: str            # what opens it
    shown: str            # what says that it is there
    wants: tuple = ()     # also in the window
    script: tuple = ()    # what the model says to the prompt before, or to what opens it
    prompt: str = ""      # before
    closes: tuple = ("esc",)
    leaves: str = ""      # what stands then in place of the window before
    stays: bool = False   # it is printed above the prompt
    start: str = "runs a"
    spoken: bool = True   # there for a screen reader, too
    args: tuple = ()
    env: dict = {}


ANSWER = text("Here is %s, at length: %s." % (ODD, " ".join(["word"] * 30)))
QUESTION = {"questions": [
    {"question": "Which of %s?" % ODD, "header": "模型", "type": "choice", "options": [
        {"label": ODD, "description": "The first, %s" % ODD}, {"label": "Another", "description": "No."}]},
    {"question": "What else?", "header": "דגם", "type": "text"}]}

SCREENS = [
    Screen("menu", "/", "about", closes=("esc", "ctrl+u"), spoken=False),
    Screen("files", "@", NAME, closes=("esc", "ctrl+u"), spoken=False),
    Screen("keys", "?", "Shift+Tab", spoken=False),
    Screen("model", "/model\r", "模型", ("Search:", "ancel"), leaves="Model: gemini/"),
    Screen("settings", "/settings\r", "Settings", ("Search:", "ancel")),
    Screen("permissions", "/permissions\r", "Mode: default", ("ancel",)),
    Screen("theme", "/theme\r", "dracula", ("ancel",)),
    Screen("sessions", "/resume\r", "מודל", ("ancel",)),
    Screen("rewind", "/rewind\r", "1. go", ("ancel",), ([ANSWER],), "go"),
    Screen("help", "/help\r", "Conversation", closes=("q",), stays=True),
    Screen("shortcuts", "/keys\r", "confirm the selection", closes=("q",), stays=True),
    Screen("transcript", "\x0f", "Here is 模型", ("q closes",), ([ANSWER],), "go", closes=("q",), spoken=False),
    Screen("stats", "/stats\r", "okens", stays=True, script=([ANSWER],), prompt="go"),
    Screen("diff", "/diff\r", NAME, stays=True, closes=("q",)),
    Screen("mcp", "/mcp\r", "fake", stays=True),
    Screen("hooks", "/hooks\r", "模型-hook", stays=True),
    Screen("extensions", "/extensions\r", "xtension", stays=True),
    Screen("context", "/context\r", "System prompt", stays=True, script=([ANSWER],), prompt="go"),
    Screen("tools", "/tools\r", "read_file", stays=True, closes=("q",)),
    Screen("auth", "/auth\r", "Anthropic", ("ancel",)),
    Screen("question about an edit", "go\r", "Allow once", ("No, suggest changes",),
           ([call("write_file", {"file_path": NAME + "2", "content": (ODD + "\n") * 3})],), leaves="declined"),
    Screen("question about a command", "go\r", "Allow once", ("No, suggest changes",),
           ([call("run_shell_command", {"command": "touch '%s' && python3 -c 'print(\"%s\")'" % (NAME, ODD)})],), leaves="declined"),
    Screen("question of a server", "go\r", "Allow once", (),
           ([call("mcp_fake_say", {"what": ODD})],), leaves="declined"),
    Screen("questions of the model", "go\r", "Which of", ("Another",), ([call("ask_user", QUESTION)],), leaves="did not answer"),
    Screen("trust", "", "Trust this folder?", ("Trust",), start="Trust this folder?", leaves="rusted",
           env={"GEMINI_CLI_TRUST_WORKSPACE": None}),
]


def prepared(world):
    world.write(NAME, ODD + "\n")
    world.settings(mcpServers={"fake": fake_mcp.entry()}, hooks={"BeforeTool": [{"matcher": "web_fetch", "hooks": [
        {"type": "command", "name": "模型-hook", "command": "true"}]}]})
    for words in (["init", "-q", "-b", "main"], ["add", "."],
                  ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(world.root), *words], check=True, env=world.env)
    world.write(NAME, ODD + "\n" + "more " * 30 + ODD + "\n")


def resting(hasp):
    """The window when nothing moves, without its hint and what counts time."""
    hasp.quiet(0.3)
    return hasp.dump()


def opened(hasp, screen, there):
    hasp.type(screen.types)
    hasp.wait(there)
    return resting(hasp)


def columns_of(row):
    """In libvterm, which gives each part of a joined emoji its columns; hasp counts two for all of it, as terminals do that
    know clusters."""
    wide = sum(0 if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Mn") else
               1 + (unicodedata.east_asian_width(c) in "WF") for c in row)
    return wide - 2 * row.count("\u200d")


def check_within(dump, columns):
    too_long = [row for row in dump.beyond if columns_of(row) > columns]
    assert not too_long, too_long
    assert not dump.visible or dump.cursor[1] < columns, dump.cursor


def body(window):
    """Without the empty rows at its end."""
    rows = [row.replace("Type your message or @path/to/file", "").rstrip() for row in window]  # until the first command
    while rows and not rows[-1]:
        rows.pop()
    return rows


def check_closed(hasp, screen, before):
    for key in screen.closes:
        hasp.key(key).quiet(0.2) if len(key) > 1 else hasp.type(key).quiet(0.2)
    if screen.leaves:
        hasp.wait(screen.leaves)
    after = resting(hasp)
    if not (screen.leaves or screen.stays):
        assert body(after.window) == body(before.window), "\n".join(before.window + ["-" * 20] + after.window)
        assert after.cursor == before.cursor and after.visible == before.visible
    return after


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("screen", [pytest.param(screen, id=screen.name) for screen in SCREENS])
def test_screen(world, screen, variant):
    options = VARIANTS[variant]
    columns, reader = options["columns"], variant == "reader"
    if reader and not screen.spoken:
        return  # it comes and goes while one types; nothing of it is printed
    prepared(world)
    with world.fake([[text("Painted.")], *screen.script, [text("Over.")]], append_only=False) as server:
        server.lists["/v1beta/models"] = MODELS
        if screen.name == "sessions":
            assert world.command("-p", "Paint the מודל %s" % ODD, server=server).code == 0
        else:
            server.script.pop(0)
        argv = world.argv(server, [*options.get("flags", []), *screen.args])
        env = world.environment(server, **{**options.get("env", {}), **screen.env})
        with world.Hasp(argv, columns, 24, env=env, cwd=world.root, margin=MARGIN).wait(screen.start) as hasp:
            if screen.types:
                hasp.quiet(0.7)
            if screen.prompt:
                hasp.type(screen.prompt).key("enter").wait("word").quiet(0.3)
            before = resting(hasp)
            there = opened(hasp, screen, screen.shown)
            if reader:
                check_spoken(before, there, screen)
                return
            check_within(there, columns)
            shown = "\n".join(there.window)
            for words in (screen.shown, *screen.wants):
                assert words in (shown if not screen.stays else there.text), there.text
            check_within(check_closed(hasp, screen, before), columns)


def check_spoken(before, there, screen):
    """Nothing that was printed since is printed twice."""
    rows = [row for row in there.text[len(before.text.rstrip()):].split("\n") if len(row) > 30]  # not the end of a wrapped line
    twice = {row for row in rows if rows.count(row) > 1}
    assert not twice, twice
