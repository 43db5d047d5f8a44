# SPDX-License-Identifier: Apache-2.0
"""The script that both programs' models follow: one call a row, with Gemini CLI's names."""
from fake_gemini import call, text


def shell(command):
    return call("run_shell_command", {"command": command, "description": "as told"})


CALLS = [
    ("read", call("read_file", {"file_path": "src/parse.c"})),
    ("replace", call("replace", {"file_path": "src/parse.c", "instruction": "two",
                                 "old_string": "return 1;", "new_string": "return 2;"})),
    ("no match", call("replace", {"file_path": "src/parse.c", "instruction": "three",
                                  "old_string": "return 7;", "new_string": "return 3;"})),
    ("write", call("write_file", {"file_path": "notes/new.md", "content": "# New\n"})),
    ("denied by message", call("write_file", {"file_path": "generated/a.c", "content": "x\n"})),
    ("no rule", call("write_file", {"file_path": "elsewhere.txt", "content": "x\n"})),
    ("command by prefix", shell("sh tools/show.sh")),
    ("command by setting", shell("printf 'a%sc' b")),
    ("command by regex", shell("echo word")),
    ("command by a low rule", shell("sleep 0")),
    ("not by regex", shell("echo word; whoami")),
    ("denied prefix", shell("git push origin")),
    ("denied in a chain", shell("test -d src && git push")),
    ("ask", shell("make all")),
    ("no rule for the command", shell("ls src")),
    ("redirection", shell("test -d src > notes/out.txt")),
    ("substitution", shell("printf '%s' $(printf inner)")),
    ("failing", shell("test -e missing")),
    ("list", call("list_directory", {"dir_path": "."})),
    ("another in its place", call("list_directory", {"dir_path": "docs"})),
    ("glob", call("glob", {"pattern": "**/*.txt"})),
    ("project's rule", call("glob", {"pattern": "drafts/*"})),
    ("grep", call("grep_search", {"pattern": "gr.en"})),
    ("ignored", call("read_file", {"file_path": "private/key.txt"})),
    ("denied reading", call("read_file", {"file_path": "docs/never.md"})),
    ("outside", call("read_file", {"file_path": "/etc/hostname"})),
    ("missing", call("read_file", {"file_path": "src/none.c"})),
    ("no argument", call("read_file", {})),
    ("unknown tool", call("no_such_tool", {})),
    ("excluded", call("write_todos", {"todos": [{"description": "a",
                                                 "status": "pending"}]})),
    ("hook denies", call("write_file", {"file_path": "notes/blocked.md", "content": "x\n"})),
    ("hook's exit code", call("write_file", {"file_path": "notes/by-code.md", "content": "x\n"})),
    ("hook rewrites a part", call("write_file", {"file_path": "notes/hook.md",
                                                 "content": "HOOKME\n"})),
    ("hook rewrites whole", call("write_file", {"file_path": "notes/whole.md",
                                                "content": "WHOLE\n"})),
    ("create", call("replace", {"file_path": "notes/made.md", "instruction": "make",
                                "old_string": "", "new_string": "made\n"})),
    ("several", call("replace", {"file_path": "src/table.txt", "instruction": "all",
                                 "old_string": "e", "new_string": "E", "allow_multiple": True})),
    ("range", call("read_file", {"file_path": "src/table.txt", "start_line": 2, "end_line": 2})),
]

# Of one file, in one reply: each has to see what those before it did.
TOGETHER = [("read together", call("read_file", {"file_path": "src/table.txt"})),
            ("first edit", call("replace", {"file_path": "src/table.txt", "instruction": "first",
                                            "old_string": "rEd", "new_string": "RED"})),
            ("second edit", call("replace", {"file_path": "src/table.txt", "instruction": "second",
                                             "old_string": "bluE", "new_string": "BLUE"}))]


def replies():
    """Four calls a reply, so that there are few."""
    return [CALLS[:1]] + [CALLS[i:i + 4] for i in range(1, len(CALLS), 4)] + [TOGETHER]


NAMES = [name for reply in replies() for name, _ in reply]


def steps():
    """What the model says; its calls get the ids fc-1, fc-2, ... in the order of NAMES."""
    return [{"reply": [text("Step. "), *[one for _, one in reply]]} for reply in replies()] + [
        {"reply": [text("All "), text("done.")]}]


MENTION = "What is in @notes/mentioned.txt and @private/key.txt?"
PIPED = "This was piped in.\n"


def editing():
    """In the mode auto_edit: what no rule allows otherwise, and what a rule denies in this mode."""
    return [{"reply": [call("write_file", {"file_path": "elsewhere.txt", "content": "x\n"}),
                       call("grep_search", {"pattern": "red"})]},
            {"reply": [text("Edited.")]}]


def turn(answer, *calls):
    """A call, and an answer after it."""
    return [{"reply": [text("I look. "), *calls]}, {"reply": [text(answer)]}]


READ = call("read_file", {"file_path": "notes/mentioned.txt"})
EDIT = call("replace", {"file_path": "src/table.txt", "instruction": "one", "old_string": "blue",
                        "new_string": "BLUE"})
REFUSED = [{"status": 400, "error": "The request is not to the server's liking."}]
