# SPDX-License-Identifier: Apache-2.0
"""From OpenCode: its pages Intro, TUI, CLI and Agents."""
import pytest

from conftest import cases
from tasks import (Task, earlier, ended, gone, hint, holds, key, lacks, letting, menu, put, rest, say, see, setting,
                   told, told_by, untold)

PEER = "opencode"


def text(words):
    return {"text": words}


def call(name, **arguments):
    return {"call": name, "args": arguments}


def run(command):
    return call("run_shell_command", command=command)


READ = [call("read_file", file_path="prices.py")]
FIX = [call("update_file", file_path="prices.py", old_content="result - price", new_content="result + price")]
MODELS = {"/v1/models": {"data": [
    {"id": "claude-sonnet-4-6", "display_name": "Claude Sonnet 4.6", "max_input_tokens": 200000},
    {"id": "claude-opus-4-8", "display_name": "Claude Opus 4.8", "max_input_tokens": 200000}], "has_more": False}}
DONE = [text("Done as asked.")]
STORY = [text("A story: %s" % " ".join(map(str, range(2000))))]
HELLO = [say("hello"), see("Hi there."), rest()]
HI = [[text("Hi there.")]]
EDITED = [key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest()]

TASKS = [
    Task("connect, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("anthropic/claude-sonnet-4-6 answers,"), *HELLO],
        script=HI, first=True),
    Task("add a provider", [say("/connect"), see("OpenAI"), see("OpenRouter"), rest(), key("esc")]),
    Task("ask about the project", [say("Give me a quick summary of the codebase."), see("It is a shop.")],
         script=[[call("read_file", file_path="README.md")], [text("It is a shop.")]], after=[told("Sells things")]),
    Task("run a prompt without the screen", [told_by("to run a prompt: hasp -p PROMPT")], ends=True, start=("run", "Explain the use of total")),
    Task("continue the last session", [see("Green it is.")], start=("--continue",),
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("ask about a file", [put("How is it summed in "), menu("@pric", "prices.py"), rest(), key("enter"),
                              see("It subtracts.")], script=[[text("It subtracts.")]], after=[told("result - price")]),
    Task("have instructions written for the project", [say("/init"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[[call("write_file", file_path="GEMINI.md", content="# Shop\n")], DONE], after=[holds("GEMINI.md", "# Shop")]),
    Task("switch to plan mode", [key("tab"), hint("Shift+Tab", keys=("shift+tab", "shift+tab")), see("plan mode")]),
    Task("have a plan iterated and built", [
        key("shift+tab", "shift+tab"), see("plan mode"), say("how would you fix it?"), see("It is a plan."), rest(),
        key("shift+tab"), gone("plan mode"), say("Sounds good! Go ahead and make the changes."), see("Allow once"), rest(),
        key("enter"), see("Done as asked.")], script=[[text("It is a plan.")], READ, FIX, DONE],
        after=[holds("prices.py", "result + price")]),
    Task("allow an edit once", [say("fix it"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[READ, FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("allow edits always", [say("fix it"), see("Allow for this session"), rest(), put("2"), see("Done as asked.")],
         script=[READ, FIX, [call("update_file", file_path="prices.py", old_content="result + price",
                                   new_content="price + result")], DONE], after=[holds("prices.py", "price + result")]),
    Task("reject an edit", [say("fix it"), see("Allow once"), rest(), key("esc"), rest()], script=[READ, FIX],
         after=[lacks("prices.py", "result + price")]),
    Task("undo", [*EDITED, say("/undo"), rest(), key("enter"), see("> fix it")], script=[READ, FIX, DONE],
         after=[lacks("prices.py", "result + price")]),
    Task("redo", [*EDITED, say("/undo"), rest(), key("enter"), see("> fix it"), rest(), key("ctrl+c"), rest(), say("/redo"),
                  see("undone")], script=[READ, FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("share the conversation", [*HELLO, say("/share"), see(".md")], script=HI),
    Task("unshare it", [*HELLO, say("/unshare"), told_by("hasp publishes nothing")], script=HI),
    Task("run a shell command", [say("!ls -la"), see("prices.py")]),
    Task("make room in the context", [say("tell me all"), see("1999"), rest(), say("/compact"), see("summary")],
         script=[STORY, [text("They asked for a story.")]]),
    Task("see the details of tools", [
        *EDITED, say("/details"), hint("Ctrl+O", keys=("ctrl+o",)), see("result - price"), put("q")],
        script=[READ, FIX, DONE]),
    Task("export the conversation", [*HELLO, say("/export"), see(".md")], script=HI),
    Task("list the commands", [say("/help"), see("Conversation"), put("q")]),
    Task("change the model", [say("/models"), see("Search:"), menu("opus", "claude-opus-4-8", "enter"),
                              see("Model: anthropic/claude-opus-4-8")], lists=MODELS),
    Task("start a new session", [say("remember MANGO"), see("Kept."), rest(), say("/new"), rest(), say("what was it?"),
                                 see("No idea.")], script=[[text("Kept.")], [text("No idea.")]], after=[untold("MANGO")]),
    Task("switch between sessions", [say("/sessions"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")],
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("change the theme", [say("/themes"), see("dracula"), rest(), put("dracula"), rest(), key("enter"), rest()],
         after=[setting("ui.theme", "dracula")]),
    Task("see the model think", [say("/thinking"), see("ui.inlineThinkingMode")]),
    Task("interrupt", [say("count to a million"), see("esc to interrupt"), key("esc"), see("Interrupted"),
                       letting("count")], script=[("count", [text("1")])]),
    Task("list the models from the shell", [see("claude-opus-4-8")], ends=True, start=("models",), lists=MODELS),
    Task("list the sessions from the shell", [told_by("\"sessions\"")], ends=True, start=("session", "list")),
    Task("quit", [say("/exit")], after=[ended]),
]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
