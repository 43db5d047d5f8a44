# SPDX-License-Identifier: Apache-2.0
"""script/demo acp: the official SDK's client as an editor of hasp, without a network.

A prompt asks for an edit of a file that is open.  The diff is shown; the user types into the buffer meanwhile and says
yes; the edit is refused with the new state; the model makes it again on that, and the user says yes to the new diff.
The model's part is played back (--fake-responses).
"""

import difflib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "acp"), str(TOP / "test" / "corpus")]

import editor
from demo_agent import answer, part_call
from hasp_tool import HASP
from term import paint, printable

SAVED = "def total(prices):\n    return sum(prices)\n\nprint(total([1, 2]))\n"
TYPED = "# prices are net\n" + SAVED
WANTED = TYPED.replace("sum(prices)", "sum(prices) * 1.2")
EDIT = {"file_path": "shop.py", "old_content": "sum(prices)", "new_content": "sum(prices) * 1.2"}


class Place:
    """What editor.Editor starts hasp in: a home and a project of their own."""

    def __init__(self, top):
        self.root, self.home = top / "project", top / "home"
        for folder in (self.root, self.home / ".gemini"):
            folder.mkdir(parents=True)

    @staticmethod
    def argv(_server, arguments, _env=None):
        return [str(HASP), *arguments]

    def environment(self, _server=None, **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": tempfile.gettempdir(),
                "GEMINI_CLI_TRUST_WORKSPACE": "true", **more}


def sha(content):
    return hashlib.sha256(content.encode()).hexdigest()


def say(who, what):
    print("%s %s" % (paint("%-7s" % who, "bold"), printable(what)))


def show(old, new):
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=1):
        colour = {"+": "green", "-": "red"}.get(line[0], "dim")
        print("        " + paint(printable(line), colour))


class Buffer:
    """The one file that is open in the editor."""

    def __init__(self, path):
        self.path, self.text, self.shown = path, SAVED, []

    def read(self, params):
        return {"result": {"content": self.text}} if params["path"] == str(self.path) else {
            "error": {"code": -32002, "message": "not open"}}

    def write(self, params):
        say("hasp", "writes to the buffer, which the editor saves")
        self.text = params["content"]
        self.path.write_text(self.text)
        return {"result": {}}

    def asked(self, params):
        [diff] = [part for part in params["toolCall"]["content"] if part["type"] == "diff"]
        say("hasp", "asks: " + " / ".join(option["name"] for option in params["options"]))
        show(diff["oldText"], diff["newText"])
        self.shown.append((diff["oldText"], diff["newText"]))
        if len(self.shown) == 1:
            say("user", "types a comment into the buffer, does not save it, and says: Allow once")
            self.text = TYPED
        else:
            say("user", "says: Allow once")
        return editor.Editor.chosen("proceed_once")


def story(place):
    path = place.root / "shop.py"
    path.write_text(SAVED)
    answers = [answer(part_call("read_file", {"file_path": "shop.py"})),
               answer(part_call("update_file", {**EDIT, "base_content_sha256": sha(SAVED)})),
               answer(part_call("update_file", {**EDIT, "base_content_sha256": sha(TYPED)})),
               answer({"text": "The total has tax now."})]
    replay = place.home / "answers"
    replay.write_text("\n".join(answers) + "\n")
    buffer = Buffer(path)
    with editor.Editor(place, None, "--fake-responses", str(replay),
                       capabilities={"fs": {"readTextFile": True, "writeTextFile": True}}) as client:
        client.on("fs/read_text_file", buffer.read).on("fs/write_text_file", buffer.write)
        client.on("session/request_permission", buffer.asked)
        session = client.new()
        say("editor", "opened session %s with %s" % (session.id, client.agent["agentInfo"]["name"]))
        say("user", "add 20 % tax to the total")
        end = session.prompt("add 20 % tax to the total")
        calls = [session.call(update["toolCallId"]) for update in session.updates("tool_call")]
        for call in calls:
            say("hasp", "%s: %s" % (call["title"], call["status"]))
        say("model", session.said())
    return buffer, path, calls, end


def main():
    with tempfile.TemporaryDirectory() as top:
        buffer, path, calls, end = story(Place(Path(top).resolve()))
        held = {
            "the first diff was of the saved text, the last of what was typed": (
                buffer.shown[0][0] == SAVED and buffer.shown[-1] == (TYPED, WANTED)),
            "the edit that rested on the old text was refused": (
                [call["status"] for call in calls] == ["completed", "failed", "completed"]),
            "buffer and disk have both the comment and the edit": buffer.text == WANTED == path.read_text(),
            "the prompt ended": end["stopReason"] == "end_turn",
        }
    for what, holds in held.items():
        print("%s %s" % (paint("yes", "green") if holds else paint("NO ", "red"), what))
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
