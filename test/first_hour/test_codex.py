# SPDX-License-Identifier: Apache-2.0
"""From Codex: docs/ of its repository, and pages of developers.openai.com/codex/cli."""
import pytest

from conftest import cases
from player import changes, done, reads, runs, tells, writes
from tasks import (Task, earlier, ended, file, from_page, git, hint, holds, key, letting, menu, put, rest, say, see,
                   setting, told, told_by, untold)

PEER = "codex"


def text(words):
    return {"text": words}


FIX = [reads("prices.py"), changes("prices.py", "result - price", "result + price")]
SUM = [reads("prices.py"), changes("prices.py", """    result = 0
    for price in prices:
        result = result - price
    return result
""", "    return sum(prices)\n")]
DONE = done()
SHOP = [reads("README.md"), tells(r"Sells \w+", "It is a shop. %s.")]
SUBTRACTS = tells(r"result = (result - price)", "It computes %s.")
MODELS = {"/v1/models": {"data": [{"id": "gpt-5.6"}, {"id": "gpt-5.6-mini"}]}}
STORY = [text("A story: %s" % " ".join(map(str, range(2000))))]

SHED = [earlier("Paint the shed", "Green it is.")]
HELLO = [say("hello"), see("Hi there."), rest()]
HI = [[text("Hi there.")]]

TASKS = [*from_page(
    "Codex CLI",
    Task("sign in, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("openai/gpt-5.6 answers,")],
        first=True, differs="an API key, no account"),
    Task("have instructions written for the project", [say("/init"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[reads("README.md"), writes("GEMINI.md", "# Shop\n\nTests: %s\n", r"tests: `(.*?)`"), DONE],
         after=[holds("GEMINI.md", "Tests: sh test.sh")],
         differs="writes `GEMINI.md`, not `AGENTS.md`; both are read"),
    Task("see the state of the session", [say("/status"), see("openai-responses/gpt-5.6"), see("andbox")]),
    Task("choose what needs approval", [
        say("/permissions"), see("Mode"), rest(), key("enter"), see("auto_edit"), rest(), key("down", "enter"),
        see("edits accepted"), say("fix it"), see("Done as asked.")],
        script=[*FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("choose the model and its effort", [
        say("/model"), see("Search:"), menu("mini", "gpt-5.6-mini", "enter"), see("gpt-5.6-mini, from"), rest(),
        say("/model"), see("Search:"), menu("high", "Effort: high", "enter"), see("Effort: high")], lists=MODELS,
        differs="the effort is chosen by opening the list again"),
    Task("have the changes reviewed", [say("/review"), see("Who is Shop 2?")], before=[file("README.md", "# Shop 2\n")],
         script=[runs("git diff"), tells(r"\+# (Shop 2)", "Who is %s?")], differs="reviews the uncommitted changes without asking what to review"),
), *from_page(
    "docs/getting-started.md",
    Task("begin with a prompt", [see("It is a shop. Sells things.")], start=("explain this codebase to me",), script=SHOP),
    Task("run without a terminal", [told_by("to run a prompt: hasp -p PROMPT")], ends=True, start=("exec", "explain prices.py"),
         differs="`hasp -p PROMPT`"),
    Task("choose an earlier session", [told_by("to resume a session: hasp --resume")], ends=True, start=("resume",),
         differs="`hasp --resume`"),
    Task("resume the last session", [told_by("to continue the last session: hasp -c")], ends=True,
         start=("resume", "--last"), differs="`hasp -c`"),
    Task("begin with full autonomy", [told_by("without asking, in the sandbox: -y")],
         ends=True, start=("--full-auto", "create the fanciest todo-list app"), differs="`hasp -y PROMPT`"),
    Task("refactor", [see("Allow once"), rest(), key("enter"), see("Done as asked.")], start=("Refactor total to use sum()",),
         script=[*SUM, DONE], after=[holds("prices.py", "return sum(prices)")]),
    Task("write tests, and run them", [
        see("Allow once"), rest(), key("enter"), see("python3 test_prices.py"), see("Allow once"), rest(), key("enter"),
        see("It fails: AssertionError")], start=("Write unit tests for prices.py",),
        script=[reads("prices.py"), writes("test_prices.py", "import prices\n\nassert prices.%s([1, 2]) == 3\n", r"def (\w+)"),
                runs("python3 test_prices.py"), tells(r"AssertionError", "It fails: %s")]),
    Task("rename files with git mv", [see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         start=("Bulk-rename *.sh -> *.bash with git mv",),
         script=[runs("git mv test.sh test.bash"), DONE], after=[git("status --short", "R  test.sh -> test.bash")]),
    Task("have something explained", [see("An upper-case letter.")],
         start=("Explain what this regex does: ^(?=.*[A-Z]).{8,}$",), script=[[text("An upper-case letter.")]],
         after=[told("^(?=.*[A-Z]).{8,}$")]),
    Task("have AGENTS.md obeyed", [
        see("AGENTS.md"), rest(), key("up", "up", "enter"), see("Trusted"), say("hello"), see("Hi there.")],
        before=[file("AGENTS.md", "Sell only apples.\n")], script=HI, trusts=False, after=[told("Sell only apples.")]),
    Task("search for a file", [put("explain "), menu("@pric", "prices.py"), rest(), key("enter"), see("It computes result - price.")],
         script=[SUBTRACTS]),
    Task("edit an earlier message", [
        say("hello wrold"), see("Hi there."), rest(), key("esc", "esc"), see("hello wrold"), rest(), key("enter"), rest(),
        see("> hello wrold")], script=HI),
    Task("attach an image", [told_by("To add an image, name it in the prompt: @FILE")], ends=True,
         start=("-i", "screenshot.png", "Explain this error"), differs="`@screenshot.png` in the prompt; `-i` begins with a prompt"),
    Task("have the shell complete", [see("bash completion")], shell="hasp completion bash | head -1"),
    Task("name the folder to work in", [told_by("change to the folder first: cd DIR")], ends=True, start=("--cd", "docs"),
         differs="`cd DIR` before it"),
), *from_page(
    "Codex CLI features",
    Task("change the theme", [say("/theme"), see("dracula"), rest(), put("dracula"), rest(), key("enter"), rest()],
         after=[setting("ui.theme", "dracula")]),
    Task("copy the last answer", [*HELLO, say("/copy"), see("to the terminal")], script=HI),
    Task("copy the last answer with a key", [*HELLO, key("ctrl+o"), see("hello"), put("q"), rest(), say("/copy"),
                                             see("to the terminal")],
         script=HI, differs="Ctrl+O shows the whole conversation; `/copy` copies"),
    Task("queue a prompt", [
        say("hello"), see("esc to interrupt"), put("and now"), hint("to queue", keys=("ctrl+q",)), see("queued: and now"),
        letting("hello"), see("Second.")], script=[("hello", [text("First.")]), [text("Second.")]],
        differs="Ctrl+Q, not Tab"),
    Task("steer while it works", [
        say("fix it"), see("esc to interrupt"), say("and be quick"), see("and be quick"), letting("read"),
        see("As you say: and be quick.")], script=[("read", reads("README.md")), tells(r"and be quick", "As you say: %s.")]),
    Task("approve a kind of command until the end", [
        say("fix the file times"), see("for this session"), rest(), put("2"), see("Done as asked.")],
        script=[runs("touch main.py"), runs("touch prices.py"), DONE]),
    Task("run a shell command", [say("!ls docs"), see("guide.md")]),
), *from_page(
    "Slash commands",
    Task("make room in the context", [say("tell me all"), see("1999"), rest(), say("/compact"), see("summary")],
         script=[STORY, [text("They asked for a story.")]]),
    Task("see the difference", [say("/diff"), see("+# Shop 2")], before=[file("README.md", "# Shop 2\n")]),
    Task("mention a file by command", [say("/mention"), hint("Type @", "@prices.py explain"), see("It computes result - price.")],
         script=[SUBTRACTS], differs="`@` in the prompt"),
    Task("list the tools of servers", [say("/mcp"), see("MCP")]),
    Task("plan first", [say("/plan"), see("lan mode"), say("how would you fix it?"),
                          see("Plan: add in place of result - price")],
         script=[reads("prices.py"), tells(r"result - price", "Plan: add in place of %s")]),
    Task("start a new chat", [say("remember MANGO"), see("Kept."), rest(), say("/new"), rest(), say("what was it?"),
                              see("No idea.")], script=[[text("Kept.")], [text("No idea.")]], after=[untold("MANGO")]),
    Task("resume an old chat", [say("/resume"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")], before=SHED),
    Task("continue in a copy", [*HELLO, say("/fork"), see("opy")], script=HI),
    Task("log out", [say("/logout"), see("OPENAI_API_KEY")], differs="says where the key is; it is removed there"),
    Task("quit", [say("/quit")], after=[ended]),
), *from_page(
    "Command line options",
    Task("log in from the shell", [told_by("to add an API key, run hasp and type /auth")], ends=True, start=("login",),
         differs="`/auth` in the terminal"),
    Task("ask whether one is logged in", [told_by("to add an API key, run hasp and type /auth")], ends=True,
         start=("login", "status"), differs="`/auth` in the terminal"),
    Task("continue the last session in a copy", [told_by("in a copy: type /fork there")], ends=True,
         start=("fork", "--last"), differs="`hasp -c`, then `/fork`"),
    Task("choose a session to continue in a copy", [told_by("to continue in a copy: run hasp -c and type /fork")], ends=True,
         start=("fork",), differs="`hasp -c` or `hasp --resume`, then `/fork`"),
)]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
