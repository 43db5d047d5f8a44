# SPDX-License-Identifier: Apache-2.0
"""From Gemini CLI: README.md and docs/ of its repository."""
import pytest

from conftest import cases
from player import changes, done, reads, reads_all, remembers, runs, searches, tells, writes
from tasks import (Task, earlier, ended, file, from_page, gone, holds, hint, in_home, key, lacks, menu, put, rest, say, see,
                   setting, told, told_by)

PEER = "gemini_cli"


def text(words):
    return {"text": words}


FIX = [reads("prices.py"), changes("prices.py", "result - price", "result + price")]
DONE = done()
SHOP = [reads("README.md"), tells(r"Sells \w+", "It is a shop. %s.")]
SUBTRACTS = tells(r"result = (result - price)", "It computes %s.")
HELLO = [say("hello"), see("Hi there."), rest()]
HI = [[text("Hi there.")]]
MODELS = {"/v1beta/models": {"models": [
    {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1048576, "supportedGenerationMethods": ["generateContent"]},
    {"name": "models/gemini-3.1-pro-preview", "inputTokenLimit": 2097152,
     "supportedGenerationMethods": ["generateContent"]}]}}

SHED = [earlier("Paint the shed", "Green it is.")]
RED = [[text("Red.")]]
EDITED = [key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest()]
FLASH = {"/v1beta/models/gemini-2.5-flash": {"name": "models/gemini-2.5-flash"}, **MODELS}

TASKS = [*from_page(
    "README.md",
    Task("start, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("Type your message"), *HELLO], script=HI, first=True,
        differs="asks about trust first"),
    Task("include other folders", [see("sandbox:"), *HELLO], start=("--include-directories", "docs"), script=HI),
    Task("use a certain model", [see("gemini-2.5-flash"), *HELLO], start=("-m", "gemini-2.5-flash"), script=HI, lists=FLASH),
    Task("ask without the screen", [see("It is a shop. Sells things.")], ends=True,
         start=("-p", "Explain the architecture of this codebase"), script=SHOP),
    Task("have the answer as JSON", [see("\"response\""), see("Sells things.")], ends=True, script=SHOP,
         start=("-p", "Explain the architecture of this codebase", "--output-format", "json")),
    Task("have events as they come", [see("\"type\""), see("It fails: -6")], ends=True,
         script=[reads("test.sh"), tells(r"\]\)\" = (6)|= (6) ", "It fails: -%s")],
         start=("-p", "Run tests and deploy", "--output-format", "stream-json")),
    Task("ask what has changed", [
        say("Give me a summary of all of the changes that went in yesterday"), 
        see("One change: Open the shop")],
        script=[runs("git log --oneline"), tells(r"\) (Open the shop)", "One change: %s")]),
), *from_page(
    "docs/get-started/index.md",
    Task("rename files by what is in them", [
        say("Rename the files in my \"docs\" directory based on their contents."), see("Allow once"), rest(), key("enter"),
        see("Done as asked.")], script=[reads("docs/guide.md"), runs("mv docs/guide.md docs/moon.md"), DONE],
        after=[holds("docs/moon.md", "moon"), lacks("docs/guide.md")]),
    Task("combine two tables into one", [
        say("Combine the two .csv files into a single .csv file, with each year a different column."), see("Allow once"),
        rest(), key("enter"), see("Done as asked.")],
        before=[file("Revenue - 2023.csv", "a,1\n"), file("Revenue - 2024.csv", "a,2\n")],
        script=[reads_all("*.csv"), writes("Revenue.csv", "a,1,%s\n", r"a,(2)"), DONE],
        after=[holds("Revenue.csv", "a,1,2")]),
    Task("write tests", [say("Write unit tests for prices.py."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[reads("prices.py"), writes("test_prices.py", "import prices\n\nassert prices.%s([]) == 0\n", r"def (\w+)"), DONE],
         after=[holds("test_prices.py", "assert prices.total([]) == 0")]),
    Task("check the usage", [*HELLO, say("/stats model"), see("gemini-3.1-pro-preview")], script=HI),
), *from_page(
    "docs/cli/cli-reference.md",
    Task("start with a prompt", [see("It is a shop. Sells things.")], start=("explain this project",), script=SHOP),
    Task("pipe a file into a question", [see("It prints total([1, 2, 3]).")], shell="cat main.py | hasp",
         script=[tells(r"print\((total\(.*?\))\)", "It prints %s.")]),
    Task("ask, and go on", [see("It is a shop. Sells things."), say("more"), see("Tests: sh test.sh")],
         start=("-i", "What is the purpose of this project?"), script=[*SHOP, tells(r"tests: `(.*?)`", "Tests: %s")]),
    Task("resume the last session by name", [see("Green it is.")], start=("-r", "latest"), before=SHED),
    Task("resume it with a prompt", [see("Red.")], start=("-r", "latest", "Check for type errors"), before=SHED, script=RED,
         after=[told("Paint the shed")]),
    Task("update the program", [told_by("As a prompt: hasp -- update")], ends=True, start=("update",),
         differs="no such command: it is updated as it was installed"),
), *from_page(
    "docs/cli/tutorials/file-management.md",
    Task("include a file", [say("@prices.py Explain how this component handles user data."), see("It computes result - price.")],
         script=[SUBTRACTS]),
    Task("include a folder", [say("@docs/ Check these utility functions for any deprecated API usage."), see("It says: Ask for the moon.")],
         script=[tells(r"Ask for the moon\.", "It says: %s")]),
    Task("find a file", [say("Find the file that defines the total function."), see("prices.py has it.")],
         script=[searches("def total"), tells(r"\w+\.py", "%s has it.")]),
    Task("change a file", [
        say("Update @prices.py to add up."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[*FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("create a file", [
        say("Create a new file @docs/faq.md with a question."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[writes("docs/faq.md", "Why?\n"), DONE], after=[holds("docs/faq.md", "Why?")]),
    Task("run the tests", [
        say("Run the tests for the total function."), see("Allow once"), rest(), key("enter"), see("They fail with 1.")],
        script=[runs("sh test.sh"), tells(r"\"exit_code\": ?(\d+)", "They fail with %s.")]),
), *from_page(
    "docs/cli/tutorials/session-management.md",
    Task("resume the last session", [see("Paint the shed"), rest(), key("enter"), see("Green it is.")], start=("-r",),
         before=SHED, differs="lists the sessions; Enter opens the last one"),
    Task("browse past sessions", [say("/resume"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")], before=SHED),
    Task("delete a session in the browser", [
        say("/resume"), see("Paint the shed"), rest(), hint("Ctrl+X to delete", keys=("ctrl+x",)),
        hint("y to delete", keys=("y",)), gone("Paint the shed")], before=SHED, differs="Ctrl+X, not x, which searches"),
    Task("list the sessions", [see("Paint the shed")], ends=True, start=("--list-sessions",), before=SHED),
    Task("delete a session", [see("eleted")], ends=True, start=("--delete-session", "1"), before=SHED),
    Task("delete this session on exit", [*HELLO, say("/exit --delete")], script=HI, after=[ended]),
    Task("rewind", [*EDITED, say("/rewind"), see("fix it"), rest(), key("enter"), rest(), key("enter"), see("> fix it")],
         script=[*FIX, DONE], after=[lacks("prices.py", "result + price")]),
    Task("save the state, and return to it", [
        *HELLO, say("/resume save decision-point"), see("decision-point"), rest(), say("/clear"), rest(),
        say("/resume resume decision-point"), see("Hi there."), say("more"), see("More it is.")],
        script=[*HI, [text("More it is.")]], after=[told("hello")]),
), *from_page(
    "docs/cli/tutorials/shell-commands.md",
    Task("run a shell command", [say("!ls -la"), see("prices.py")]),
    Task("run tests and fix failures", [
        say("Run the unit tests. If any fail, analyze the error and try to fix the code."), see("sh test.sh"),
        see("Allow once"), rest(), key("enter"), see("result + price"), see("Allow once"), rest(), key("enter"),
        see("Done as asked.")], script=[runs("sh test.sh"), *FIX, DONE], after=[holds("prices.py", "result + price")]),
), *from_page(
    "docs/cli/tutorials/memory-management.md",
    Task("have something remembered", [
        say("Remember that I prefer tabs."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[remembers("I prefer tabs."), DONE]),
    Task("see the instructions that are read", [say("/memory show"), see("Sell only apples.")],
         before=[in_home(".gemini/GEMINI.md", "Sell only apples.\n")]),
), *from_page(
    "docs/reference/commands.md",
    Task("see version and state", [say("/about"), see("gemini-3.1-pro-preview")]),
    Task("authenticate again", [say("/auth"), see("Google Gemini"), key("enter"), see("aistudio.google.com")],
         differs="API keys, no Google account"),
    Task("keep the conversation under a name, and return to it", [
        *HELLO, say("/chat save moon"), see("moon"), rest(), say("/clear"), rest(), say("/chat resume moon"),
        see("Hi there."), say("more"), see("More it is.")], script=[*HI, [text("More it is.")]], after=[told("hello")]),
    Task("list the conversations", [say("/chat list"), see("Paint the shed")], before=SHED,
         differs="lists sessions as well as saved conversations"),
    Task("copy the last answer", [*HELLO, say("/copy"), see("to the terminal")], script=HI),
    Task("change the model", [say("/model"), see("Search:"), menu("flash", "gemini-3.8-flash", "enter"),
                              see("Model: gemini/gemini-3.8-flash")], lists=MODELS),
    Task("plan first", [say("/plan"), see("lan mode"), say("how would you fix it?"),
                          see("Plan: add in place of result - price")],
         script=[reads("prices.py"), tells(r"result - price", "Plan: add in place of %s")]),
    Task("restore the files before an edit", [*EDITED, say("/restore"), see("prices.py"), rest(), key("enter"), rest()],
         script=[*FIX, DONE], after=[lacks("prices.py", "result + price")]),
    Task("change a setting", [say("/settings"), see("policyPaths")]),
    Task("change the theme", [say("/theme"), see("dracula"), rest(), put("dracula"), rest(), key("enter"), rest()],
         after=[setting("ui.theme", "dracula")]),
    Task("list the tools", [say("/tools"), see("read_file")]),
    Task("use a command of one's own", [menu("/dep", "Deploys it", "tab"), rest(), key("enter"), see("Deployed.")],
         before=[in_home(".gemini/commands/deploy.toml", 'description = "Deploys it"\nprompt = "Deploy the shop."\n')],
         script=[[text("Deployed.")]], after=[told("Deploy the shop.")]),
    Task("quit", [say("/quit")], after=[ended]),
), *from_page(
    "docs/reference/keyboard-shortcuts.md",
    Task("let everything run", [
        key("ctrl+y"), hint("YOLO mode: /yolo", "/yolo"), rest(), say("fix it and run the tests"),
        see("It is fixed: all tests passed.")],
        script=[*FIX, runs("sh test.sh"), tells(r"all tests passed", "It is fixed: %s.")],
        differs="Ctrl+Y pastes what was deleted; `/yolo`"),
)]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
