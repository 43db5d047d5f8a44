# SPDX-License-Identifier: Apache-2.0
"""From Claude Code: pages of code.claude.com/docs, in the order of the quick start."""
import pytest

from conftest import cases
from player import after_refusal, changes, done, reads, runs, tells, writes
from tasks import (PAGE, Task, asked, document, earlier, ended, file, from_page, git, holds, key, lacks, letting, menu, put,
                   rest, say, see, told, told_by, untold)

PEER = "claude_code"


def text(words):
    return {"text": words}


GREETING = 'print("hello world")'
HELLO = [reads("main.py"), changes("main.py", "print(total([1, 2, 3]))\n", "print(total([1, 2, 3]))\n%s\n" % GREETING)]
FIX = [reads("prices.py"), changes("prices.py", "result - price", "result + price")]
DONE = done()
SHOP = [reads("README.md"), tells(r"Sells \w+", "It is a shop. %s.")]
SUBTRACTS = tells(r"result = (result - price)", "It computes %s.")
MODELS = {"/v1/models": {"data": [
    {"id": "claude-sonnet-4-6", "display_name": "Claude Sonnet 4.6", "max_input_tokens": 200000},
    {"id": "claude-opus-4-8", "display_name": "Claude Opus 4.8", "max_input_tokens": 200000}], "has_more": False}}
STORY = [text("A story: %s" % " ".join(map(str, range(2000))))]

SHED = [earlier("Paint the shed", "Green it is.")]
RED = [[text("Red.")]]

TASKS = [*from_page(
    "Quickstart",
    Task("log in, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("with ANTHROPIC_API_KEY"),
        see("Type your message"), say("hello"), see("Hi there.")], script=[[text("Hi there.")]], first=True,
        differs="asks about trust first; an API key, no account"),
    Task("switch accounts", [say("/login"), see("Anthropic"), key("enter"), see("Key for")], differs="API keys, no accounts"),
    Task("list the commands", [say("/help"), see("Conversation"), see("/resume"), put("q")]),
    Task("continue an earlier conversation", [
        say("/resume"), see("Paint the shed"), rest(), key("enter"), see("Green it is."), say("and the door?"), see("Red.")],
        before=SHED, script=RED, after=[told("Paint the shed")]),
    Task("ask what the project does", [say("what does this project do?"), see("It is a shop. Sells things.")], script=SHOP),
    Task("make a first change, and approve it", [
        say("add a hello world function to the main file"), see("hello world"), see("Allow once"), rest(), key("enter"),
        see("Done as asked.")], script=[*HELLO, DONE], after=[holds("main.py", "hello world")]),
    Task("decline a change, and say what to do instead", [
        say("add a hello world function to the main file"), see("No, suggest changes"), rest(), key("up", "enter"), rest(),
        say("call it greet"), see("def greet"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[*HELLO, after_refusal("call it greet", changes(
            "main.py", "print(total([1, 2, 3]))\n", "print(total([1, 2, 3]))\n\n\ndef greet():\n    print(\"hello\")\n")), DONE],
        after=[lacks("main.py", GREETING), holds("main.py", "def greet")]),
    Task("accept all edits", [
        key("shift+tab"), see("edits accepted"), say("add a hello world function to the main file"), see("Done as asked.")],
        script=[*HELLO, DONE], after=[holds("main.py", "hello world")]),
    Task("accept all edits in a new folder", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("Trusted."), see("sandbox:"), key("shift+tab"),
        see("edits accepted")], trusts=False),
    Task("ask which files have changed", [say("what files have I changed?"), see("Only README.md.")],
         before=[file("README.md", "# Shop 2\n")], script=[runs("git status --short"), tells(r" M (\S+?\.md)", "Only %s.")]),
    Task("commit with a message", [
        say("commit my changes with a descriptive message"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        before=[file("README.md", "# Shop 2\n")], script=[runs("git commit -qam 'Rename the shop'"), DONE],
        after=[git("log -1 --format=%s", "Rename the shop")]),
    Task("create a branch", [
        say("create a new branch called feature/quickstart"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[runs("git switch -qc feature/quickstart"), DONE], after=[git("branch --show-current", "feature/quickstart")]),
    Task("fix a bug", [
        say("there's a bug where the total is negative - fix it"), see("Allow once"), rest(), key("enter"),
        see("sh test.sh"), see("Allow once"), rest(), key("enter"), see("It is fixed: all tests passed.")],
        script=[*FIX, runs("sh test.sh"), tells(r"all tests passed", "It is fixed: %s.")]),
    Task("have the changes reviewed", [say("review my changes and suggest improvements"), see("Who is Shop 2?")],
         before=[file("README.md", "# Shop 2\n")], script=[runs("git diff"), tells(r"\+# (Shop 2)", "Who is %s?")]),
    Task("start with a task", [see("result + price"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         start=("fix the build error",), script=[*FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("ask once, without the screen", [see("It computes result - price.")], ends=True,
         start=("-p", "explain this function"), script=[reads("prices.py"), SUBTRACTS]),
    Task("continue the last conversation", [see("Green it is."), say("and the door?"), see("Red.")], start=("-c",),
         before=SHED, script=RED, after=[told("Paint the shed")]),
    Task("choose a conversation to resume", [see("Paint the shed"), rest(), key("enter"), see("Green it is.")],
         start=("-r",), before=SHED),
    Task("start over", [
        say("remember MANGO"), see("Kept."), rest(), say("/clear"), rest(), say("what was it?"),
        see("No idea.")], script=[[text("Kept.")], [text("No idea.")]], after=[untold("MANGO")]),
    Task("see the keys", [put("?"), see("Shift+Tab"), see("Ctrl+R")]),
    Task("complete a command", [menu("/comp", "compress", "tab"), see("> /compress")],
         differs="`/compress`; `/compact` is another name of it"),
    Task("repeat an earlier prompt", [say("hello"), see("Hi there."), rest(), key("up"), rest(), key("enter"), see("Again?")],
         script=[[text("Hi there.")], [text("Again?")]]),
    Task("quit", [say("exit")], after=[ended]),
), *from_page(
    "Common workflows",
    Task("mention a file", [put("Explain the logic in "), menu("@pric", "prices.py"), rest(), key("enter"),
                            see("It computes result - price.")], script=[SUBTRACTS]),
    Task("plan first", [
        key("shift+tab", "shift+tab"), see("plan mode"), say("refactor the prices"), see("Plan: sum() in place of for price in prices")],
        script=[reads("prices.py"), tells(r"for price in prices", "Plan: sum() in place of %s")]),
    Task("start in plan mode", [told_by("to choose what runs without asking: --approval-mode")], ends=True,
         start=("--permission-mode", "plan"), differs="`hasp --approval-mode plan`"),
    Task("name this session", [say("hello"), see("Hi there."), rest(), say("/rename auth-refactor"), see("auth-refactor")],
         script=[[text("Hi there.")]]),
    Task("pipe a file into a question", [see("It prints total([1, 2, 3]).")],
         shell="cat main.py | hasp -p 'concisely explain the root cause of this build error'",
         script=[tells(r"print\((total\(.*?\))\)", "It prints %s.")]),
), *from_page(
    "CLI reference",
    Task("start with a prompt", [see("It is a shop. Sells things.")], start=("explain this project",), script=SHOP),
    Task("continue without the screen", [see("Red.")], ends=True, start=("-c", "-p", "Check for type errors"),
         before=SHED, script=RED, after=[told("Paint the shed")]),
    Task("resume a session by its name, with a prompt", [see("Red.")], start=("-r", "Paint the shed", "Finish this PR"),
         before=SHED, script=RED, after=[told("Green it is."), told("Finish this PR")]),
    Task("update the program", [told_by("As a prompt: hasp -- update")], ends=True, start=("update",),
         differs="no such command: it is updated as it was installed"),
), *from_page(
    "Commands",
    Task("make room in the context", [say("tell me all"), see("1999"), rest(), say("/compact"), see("summary")],
         script=[STORY, [text("They asked for a story.")]]),
    Task("change the model", [
        say("/model"), see("Search:"), menu("opus", "claude-opus-4-8", "enter"), see("Model: anthropic/claude-opus-4-8")],
         lists=MODELS),
    Task("see what it has cost", [say("hello"), see("Hi there."), rest(), say("/cost"), see("tokens in")],
         script=[[text("Hi there.")]]),
    Task("change a setting", [say("/config"), see("model.name")]),
    Task("see and change what is allowed", [say("/permissions"), see("Mode")]),
    Task("see the instructions that are read", [say("/memory"), see("Sell only apples.")],
         before=[file("CLAUDE.md", "Sell only apples.\n")]),
    Task("write instructions for the project", [say("/init"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[reads("README.md"), writes("GEMINI.md", "# Shop\n\nTests: %s\n", r"tests: `(.*?)`"), DONE],
         after=[holds("GEMINI.md", "Tests: sh test.sh")],
         differs="writes `GEMINI.md`, not `CLAUDE.md`; both are read"),
), *from_page(
    "Interactive mode",
    Task("run a shell command", [say("!git log --oneline"), see("Open the shop")]),
    Task("stop it", [say("count to a million"), see("esc to interrupt"), asked("count"), key("esc"), see("Interrupted"),
                    letting("count")],
         script=[("count", [text("1")])]),
    Task("go back to before a change", [
        key("shift+tab"), say("add a hello world function to the main file"), see("Done as asked."), rest(),
        key("esc", "esc"), see("add a hello"), rest(), key("enter"), rest(), key("enter"), see("> add a hello")],
        script=[*HELLO, DONE], after=[lacks("main.py", "hello")]),
)]


def test_the_page_has_the_tables():
    assert document(PAGE.read_text()) == PAGE.read_text(), "make it again: test/first_hour/tasks.py"


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
