# SPDX-License-Identifier: Apache-2.0
"""From Gemini CLI: its pages Get started, CLI commands, and the tutorials about files, sessions, shell and memory."""
import pytest

from conftest import cases
from tasks import Task, earlier, ended, file, holds, hint, in_home, key, lacks, menu, put, rest, say, see, setting, told

PEER = "gemini_cli"


def text(words):
    return {"text": words}


def call(name, **arguments):
    return {"call": name, "args": arguments}


def run(command):
    return call("run_shell_command", command=command)


READ = [call("read_file", file_path="prices.py")]
FIX = [call("replace", file_path="prices.py", old_string="result - price", new_string="result + price")]
DONE = [text("Done as asked.")]
HELLO = [say("hello"), see("Hi there."), rest()]
HI = [[text("Hi there.")]]
MODELS = {"/v1beta/models": {"models": [
    {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1048576, "supportedGenerationMethods": ["generateContent"]},
    {"name": "models/gemini-3.1-pro-preview", "inputTokenLimit": 2097152,
     "supportedGenerationMethods": ["generateContent"]}]}}

TASKS = [
    Task("start, with the key that is in the environment", [
        see("Trust this folder?"), rest(), key("up", "up", "enter"), see("Type your message"), *HELLO], script=HI, first=True),
    Task("authenticate again", [say("/auth"), see("Google Gemini"), key("enter"), see("aistudio.google.com")]),
    Task("rename files by what is in them", [
        say("Rename the files in docs based on their contents."), see("Allow once"), rest(), key("enter"),
        see("Done as asked.")], script=[[run("mv docs/guide.md docs/moon.md")], DONE],
        after=[holds("docs/moon.md", "moon"), lacks("docs/guide.md")]),
    Task("combine two tables into one", [
        say("Combine the two .csv files into one."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        before=[file("Revenue - 2023.csv", "a,1\n"), file("Revenue - 2024.csv", "a,2\n")],
        script=[[call("read_many_files", include=["*.csv"])],
                [call("write_file", file_path="Revenue.csv", content="a,1,2\n")], DONE],
        after=[holds("Revenue.csv", "a,1,2")]),
    Task("include a file", [say("@prices.py Explain how this works."), see("It subtracts.")],
         script=[[text("It subtracts.")]], after=[told("result - price")]),
    Task("include a folder", [say("@docs/ Check this."), see("It is fine.")], script=[[text("It is fine.")]],
         after=[told("Ask for the moon.")]),
    Task("change a file", [
        say("Update @prices.py to add up."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[READ, FIX, DONE], after=[holds("prices.py", "result + price")]),
    Task("create a file", [
        say("Create a new file docs/faq.md."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[[call("write_file", file_path="docs/faq.md", content="Why?\n")], DONE], after=[holds("docs/faq.md", "Why?")]),
    Task("run the tests", [
        say("Run the tests."), see("Allow once"), rest(), key("enter"), see("They fail.")],
        script=[[run("sh test.sh")], [text("They fail.")]], after=[told("exit_code")]),
    Task("see version and state", [say("/about"), see("gemini-3.1-pro-preview")]),
    Task("see statistics", [*HELLO, say("/stats"), see("tokens in")], script=HI),
    Task("list the tools", [say("/tools"), see("read_file")]),
    Task("see the instructions that are read", [say("/memory show"), see("Sell only apples.")],
         before=[in_home(".gemini/GEMINI.md", "Sell only apples.\n")]),
    Task("keep the conversation under a name, and return to it", [
        *HELLO, say("/chat save moon"), see("moon"), rest(), say("/clear"), rest(), say("/chat resume moon"),
        see("Hi there."), say("more"), see("More it is.")], script=[*HI, [text("More it is.")]], after=[told("hello")]),
    Task("list the conversations", [say("/chat list"), see("Paint the shed")],
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("browse and resume", [say("/resume"), see("Paint the shed"), rest(), key("enter"), see("Green it is.")],
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("resume the last session", [see("Green it is.")], start=("-r", "latest"),
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("list the sessions", [see("Paint the shed")], ends=True, start=("--list-sessions",),
         before=[earlier("Paint the shed", "Green it is.")]),
    Task("rewind", [
        key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest(), say("/rewind"),
        see("fix it"), rest(), key("enter"), rest(), key("enter"), see("> fix it")], script=[READ, FIX, DONE],
        after=[lacks("prices.py", "result + price")]),
    Task("restore the files before an edit", [
        key("shift+tab"), see("edits accepted"), say("fix it"), see("Done as asked."), rest(), say("/restore"),
        see("prices.py"), rest(), key("enter"), rest()], script=[READ, FIX, DONE],
        after=[lacks("prices.py", "result + price")]),
    Task("copy the last answer", [*HELLO, say("/copy"), see("to the terminal")], script=HI),
    Task("change the theme", [say("/theme"), see("dracula"), rest(), put("dracula"), rest(), key("enter"), rest()],
         after=[setting("ui.theme", "dracula")]),
    Task("change a setting", [say("/settings"), see("policyPaths")]),
    Task("change the model", [say("/model"), see("Search:"), menu("flash", "gemini-3.8-flash", "enter"),
                              see("Model: gemini/gemini-3.8-flash")], lists=MODELS),
    Task("plan first", [say("/plan"), see("lan mode"), say("how would you fix it?"), see("It is a plan.")],
         script=[[text("It is a plan.")]]),
    Task("run a shell command", [say("!ls docs"), see("guide.md")]),
    Task("let everything run", [key("ctrl+y"), hint("YOLO mode: /yolo", "/yolo"), rest(), say("fix it and run the tests"), see("Done as asked.")],
         script=[READ, FIX, [run("sh test.sh")], DONE], after=[told("all tests passed")]),
    Task("use a command of one's own", [menu("/dep", "Deploys it", "tab"), rest(), key("enter"), see("Deployed.")],
         before=[in_home(".gemini/commands/deploy.toml", 'description = "Deploys it"\nprompt = "Deploy the shop."\n')],
         script=[[text("Deployed.")]], after=[told("Deploy the shop.")]),
    Task("have something remembered", [
        say("Remember that I prefer tabs."), see("Allow once"), rest(), key("enter"), see("Done as asked.")],
        script=[[call("save_memory", fact="I prefer tabs.")], DONE]),
    Task("quit", [say("/quit")], after=[ended]),
]


@pytest.mark.parametrize("task, place", cases(TASKS))
def test_task(mover, task, place):
    mover.do(task, place)
