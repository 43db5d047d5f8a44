# SPDX-License-Identifier: Apache-2.0
"""From Codex: its pages Quickstart, CLI features and Slash commands, and docs/getting-started.md."""
import pytest

from conftest import cases
from tasks import (Task, earlier, ended, file, git, hint, holds, key, lacks, letting, menu, put, rest, say, see, setting,
                   told, told_by, untold)

PEER = "codex"


def text(words):
    return {"text": words}


def call(name, **arguments):
    return {"call": name, "args": arguments}


def run(command):
    return call("run_shell_command", command=command)


READ = [call("read_file", file_path="prices.py")]
FIX = [call("update_file", file_path="prices.py", old_content="result - price", new_content="result + price")]
MODELS = {"/v1/models": {"data": [{"id": "gpt-5.6"}, {"id": "gpt-5.6-mini"}]}}
DONE = [text("Done as asked.")]
STORY = [text("A story: %s" % " ".join(map(str, range(2000))))]

TASKS = [
    Task("sign in, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("openai/gpt-5.6 answers,")],
        first=True),
    Task("begin with a prompt", [see("It is a shop.")], start=("explain this codebase to me",),
         script=[[text("It is a shop.")]]),
    Task("run without a terminal", [told_by("to run a prompt: hasp -p PROMPT")], ends=True, start=("exec", "explain prices.py")),
    Task("choose an earlier session", [told_by("to resume a session: hasp --resume")], ends=True, start=("resume",)),
    Task("refactor", [say("Refactor total to use sum()"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[READ, FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("write tests, and run them", [
        say("Write unit tests for prices.py"), see("Allow once"), rest(), key("enter"), see("sh t.sh"), see("Allow once"),
        rest(), key("enter"), see("Done as asked.")],
        script=[[call("write_file", file_path="t.sh", content="echo 1 passed\n")], [run("sh t.sh")], DONE],
        after=[told("1 passed")]),
    Task("rename files with git mv", [
        say("Bulk-rename *.sh -> *.bash with git mv"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[[run("git mv test.sh test.bash")], DONE], after=[git("status --short", "R  test.sh -> test.bash")]),
    Task("begin with full autonomy", [told_by("without asking, in the sandbox: -y")],
         ends=True, start=("--full-auto", "create the fanciest todo-list app")),
    Task("choose the model and its effort", [
        say("/model"), see("Search:"), menu("mini", "gpt-5.6-mini", "enter"), see("gpt-5.6-mini, from"), rest(),
        say("/model"), see("Search:"), menu("high", "Effort: high", "enter"), see("Effort: high")], lists=MODELS),
    Task("choose what needs approval", [
        say("/approvals"), see("Mode"), rest(), key("enter"), see("auto_edit"), rest(), key("down", "enter"),
        see("edits accepted"), say("fix it"), see("Done as asked.")],
        script=[READ, FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("approve a kind of command until the end", [
        say("fix the file times"), see("for this session"), rest(), put("2"), see("Done as asked.")],
        script=[[run("touch main.py")], [run("touch prices.py")], DONE]),
    Task("have the changes reviewed", [say("/review"), see("Looks good.")], before=[file("README.md", "# Shop 2\n")],
         script=[[text("Looks good.")]]),
    Task("start a new chat", [say("remember MANGO"), see("Kept."), rest(), say("/new"), rest(), say("what was it?"),
                              see("No idea.")], script=[[text("Kept.")], [text("No idea.")]], after=[untold("MANGO")]),
    Task("resume an old chat", [say("/resume"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")],
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("have instructions written for the project", [say("/init"), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
         script=[[call("write_file", file_path="GEMINI.md", content="# Shop\n")], DONE], after=[holds("GEMINI.md", "# Shop")]),
    Task("have AGENTS.md obeyed", [
        see("AGENTS.md"), rest(), key("up", "up", "enter"), see("Trusted"), say("hello"), see("Hi there.")],
        before=[file("AGENTS.md", "Sell only apples.\n")], script=[[text("Hi there.")]], trusts=False,
        after=[told("Sell only apples.")]),
    Task("make room in the context", [say("tell me all"), see("1999"), rest(), say("/compact"), see("summary")],
         script=[STORY, [text("They asked for a story.")]]),
    Task("undo a turn", [
        key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest(), say("/undo"), rest(),
        key("enter"), see("> fix it")], script=[READ, FIX, DONE], after=[lacks("prices.py", "result + price")]),
    Task("see the difference", [say("/diff"), see("+# Shop 2")], before=[file("README.md", "# Shop 2\n")]),
    Task("mention a file by command", [say("/mention"), hint("Type @", "@prices.py explain"), see("It subtracts.")],
         script=[[text("It subtracts.")]], after=[told("result - price")]),
    Task("search for a file", [put("explain "), menu("@pric", "prices.py"), rest(), key("enter"), see("It subtracts.")],
         script=[[text("It subtracts.")]], after=[told("result - price")]),
    Task("see the state of the session", [say("/status"), see("openai-responses/gpt-5.6"), see("andbox")]),
    Task("list the tools of servers", [say("/mcp"), see("MCP")]),
    Task("steer while it works", [
        say("fix it"), see("esc to interrupt"), say("and be quick"), see("and be quick"), letting("read"),
        see("Done as asked.")], script=[("read", READ), DONE], after=[told("and be quick")]),
    Task("queue a prompt", [
        say("hello"), see("esc to interrupt"), put("and now"), hint("to queue", keys=("ctrl+q",)), see("queued: and now"),
        letting("hello"), see("Second.")], script=[("hello", [text("First.")]), [text("Second.")]]),
    Task("edit an earlier message", [
        say("hello wrold"), see("Hi there."), rest(), key("esc", "esc"), see("hello wrold"), rest(), key("enter"), rest(),
        see("> hello wrold")], script=[[text("Hi there.")]]),
    Task("run a shell command", [say("!ls docs"), see("guide.md")]),
    Task("continue in a copy", [say("hello"), see("Hi there."), rest(), say("/fork"), see("opy")],
         script=[[text("Hi there.")]]),
    Task("log out", [say("/logout"), see("OPENAI_API_KEY")]),
    Task("quit", [say("/quit")], after=[ended]),
]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
