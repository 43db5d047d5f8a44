# SPDX-License-Identifier: Apache-2.0
"""From OpenCode: pages of packages/web/src/content/docs in its repository."""
import pytest

from conftest import cases
from player import changes, done, reads, tells, writes
from tasks import (Task, asked, earlier, ended, from_page, gone, hint, holds, key, lacks, letting, menu, put, rest, say, see,
                   setting, told, told_by, untold)

PEER = "opencode"


def text(words):
    return {"text": words}


FIX = [reads("prices.py"), changes("prices.py", "result - price", "result + price")]
DONE = done()
SHOP = [reads("README.md"), tells(r"Sells \w+", "It is a shop. %s.")]
MODELS = {"/v1/models": {"data": [
    {"id": "claude-sonnet-4-6", "display_name": "Claude Sonnet 4.6", "max_input_tokens": 200000},
    {"id": "claude-opus-4-8", "display_name": "Claude Opus 4.8", "max_input_tokens": 200000}], "has_more": False}}
STORY = [text("A story: %s" % " ".join(map(str, range(2000))))]
HELLO = [say("hello"), see("Hi there."), rest()]
HI = [[text("Hi there.")]]
EDITED = [key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest()]

SHED = [earlier("Paint the shed", "Green it is.")]
PLANNED = [key("tab"), hint("Shift+Tab", keys=("shift+tab", "shift+tab")), see("plan mode")]

TASKS = [*from_page(
    "index.mdx",
    Task("connect, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("with ANTHROPIC_API_KEY"),
        see("Type your message"), *HELLO], script=HI, first=True, differs="asks about trust first"),
    Task("add a provider", [say("/connect"), see("OpenAI"), see("OpenRouter"), rest(), key("esc")]),
    Task("have instructions written for the project", [say("/init"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[reads("README.md"), writes("GEMINI.md", "# Shop\n\nTests: %s\n", r"tests: `(.*?)`"), DONE],
         after=[holds("GEMINI.md", "Tests: sh test.sh")],
         differs="writes `GEMINI.md`, not `AGENTS.md`; both are read"),
    Task("ask about a file", [put("How is it summed in "), menu("@pric", "prices.py"), rest(), key("enter"),
                              see("It computes result - price.")],
         script=[tells(r"result = (result - price)", "It computes %s.")]),
    Task("switch to plan mode", PLANNED, differs="Shift+Tab, not Tab"),
    Task("have a plan iterated and built", [
        *PLANNED, say("When a price is deleted, we'd like to flag it as deleted."), see("Plan: flag each price in prices"), rest(),
        say("Keep the old design."), see("Plan: return result as before"), rest(),
        key("tab"), hint("Shift+Tab", keys=("shift+tab",)), gone("plan mode"),
        say("Sounds good! Go ahead and make the changes."), see("Allow once"), rest(),
        key("enter"), see("Done as asked.")],
        script=[reads("prices.py"), tells(r"for (price in prices)", "Plan: flag each %s"), tells(r"return result", "Plan: %s as before"),
                *FIX, DONE],
        after=[holds("prices.py", "result + price")], differs="Shift+Tab, not Tab; asks before it edits"),
    Task("have a change made", [say("We need to add up in @prices.py"), see("Allow once"), rest(), key("enter"),
                                see("Done as asked.")],
         script=[FIX[1], DONE], after=[holds("prices.py", "result + price")], differs="asks before it edits"),
    Task("undo", [*EDITED, say("/undo"), rest(), key("enter"), see("> fix it")], script=[*FIX, DONE],
         after=[lacks("prices.py", "result + price")], differs="asks what to undo; Enter undoes both"),
    Task("redo", [*EDITED, say("/undo"), rest(), key("enter"), see("> fix it"), rest(), key("ctrl+c"), rest(), say("/redo"),
                  see("undone")], script=[*FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("share the conversation", [*HELLO, say("/share"), see(".md")], script=HI, differs="writes a file; nothing is published"),
), *from_page(
    "tui.mdx",
    Task("name the folder to work in", [told_by("to work in that folder: cd")], ends=True, start=("./docs",),
         differs="`cd DIR` before it"),
    Task("ask about the project", [say("Give me a quick summary of the codebase."), see("It is a shop. Sells things.")], script=SHOP),
    Task("run a shell command", [say("!ls -la"), see("prices.py")]),
    Task("list the commands", [say("/help"), see("Conversation"), put("q")]),
    Task("make room in the context", [say("tell me all"), see("1999"), rest(), say("/compact"), see("summary")],
         script=[STORY, [text("They asked for a story.")]]),
    Task("see the details of tools", [
        *EDITED, say("/details"), hint("Ctrl+O", keys=("ctrl+o",)), see("result - price"), put("q")],
        script=[*FIX, DONE], differs="Ctrl+O shows the whole conversation"),
    Task("export the conversation", [*HELLO, say("/export"), see(".md")], script=HI, differs="no editor is opened"),
    Task("change the model", [say("/models"), see("Search:"), menu("opus", "claude-opus-4-8", "enter"),
                              see("Model: anthropic/claude-opus-4-8")], lists=MODELS),
    Task("start a new session", [say("remember MANGO"), see("Kept."), rest(), say("/new"), rest(), say("what was it?"),
                                 see("No idea.")], script=[[text("Kept.")], [text("No idea.")]], after=[untold("MANGO")]),
    Task("switch between sessions", [say("/sessions"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")],
         before=SHED),
    Task("change the theme", [say("/themes"), see("dracula"), rest(), put("dracula"), rest(), key("enter"), rest()],
         after=[setting("ui.theme", "dracula")]),
    Task("see the model think", [say("/thinking"), see("ui.inlineThinkingMode")], differs="opens the setting"),
    Task("unshare it", [*HELLO, say("/unshare"), told_by("hasp publishes nothing")], script=HI,
         differs="nothing is published"),
    Task("interrupt", [say("count to a million"), see("esc to interrupt"), asked("count"), key("esc"),
                       see("Interrupted"), letting("count")], script=[("count", [text("1")])]),
    Task("quit", [say("/exit")], after=[ended]),
), *from_page(
    "permissions.mdx",
    Task("allow an edit once", [say("fix it"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[*FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("allow edits always", [say("fix it"), see("Allow for this session"), rest(), put("2"), see("Done as asked.")],
         script=[*FIX, reads("prices.py"), changes("prices.py", "result + price", "price + result"), DONE], after=[holds("prices.py", "price + result")]),
    Task("reject an edit", [say("fix it"), see("Allow once"), rest(), key("esc"), rest()], script=FIX,
         after=[lacks("prices.py", "result + price")]),
), *from_page(
    "cli.mdx",
    Task("run a prompt without the screen", [told_by("to run a prompt: hasp -p PROMPT")], ends=True,
         start=("run", "Explain how closures work in JavaScript"), differs="`hasp -p PROMPT`"),
    Task("continue the last session", [see("Green it is.")], start=("--continue",), before=SHED),
    Task("use a certain model", [see("claude-opus-4-8"), *HELLO], start=("--model", "anthropic/claude-opus-4-8"), script=HI),
    Task("start with an agent that plans", [told_by("to plan first: --approval-mode plan")], ends=True,
         start=("--agent", "plan"), differs="`hasp --approval-mode plan`"),
    Task("log in from the shell", [told_by("to add an API key, run hasp and type /auth")], ends=True, start=("auth", "login"),
         differs="`/auth` in the terminal"),
    Task("list the models from the shell", [see("claude-opus-4-8")], ends=True, start=("models",), lists=MODELS),
    Task("list one provider's models", [told_by("ACTION is list or check, not \"anthropic\"")], ends=True,
         start=("models", "anthropic"), differs="`hasp models` lists those of all keys"),
    Task("list the sessions from the shell", [told_by("\"sessions\"")], ends=True, start=("session", "list"),
         differs="`hasp sessions`"),
    Task("see the statistics from the shell", [see("1 session")], ends=True, start=("stats",), before=SHED),
    Task("export a session from the shell", [told_by("hasp sessions export NUMBER")], ends=True, start=("export",),
         differs="`hasp sessions export NUMBER`"),
    Task("update the program", [told_by("hasp does not update itself")], ends=True, start=("upgrade",),
         differs="no such command: it is updated as it was installed"),
)]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
