# SPDX-License-Identifier: Apache-2.0
"""The readable part of script/demo: three edits that other tools get wrong.

Each scene is a real file, real calls and their real answers; what is claimed is checked, and
a scene that does not go as told makes the demo fail.
"""

import subprocess
import tempfile
import textwrap
from pathlib import Path

from hasp_tool import Hasp
from term import paint, print_diff, printable

INVENTORY = """\
from dataclasses import dataclass


@dataclass
class Item:
    name: str
    price: float
    count: int = 0


class Inventory:
    def __init__(self):
        self.items = {}

    def add(self, item):
        self.items[item.name] = item

    def total(self):
        result = 0
        for item in self.items.values():
            result += item.price
        return result
"""

FIX_TOTAL = """\
--- a/inventory.py
+++ b/inventory.py
@@ -18,5 +18,5 @@
     def total(self):
         result = 0
         for item in self.items.values():
-            result += item.price
+            result += item.price * item.count
         return result
"""

HANDLERS = """\
def on_open(request):
    log(request)
    return check(request)


def on_save(request):
    log(request)
    return check(request)


def on_close(request):
    log(request)
    return check(request)
"""

AMBIGUOUS = """\
@@
     log(request)
-    return check(request)
+    return check(request, strict=True)
"""


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


def heading(number, text):
    print("\n" + paint("%d. %s" % (number, text), "bold"))


def say(text):
    print("  " + text)


def show_call(name, **arguments):
    shown = ", ".join("%s=%s" % (key, value[:12] + "..." if key.endswith("sha256") else value)
                      for key, value in arguments.items())
    print("  " + paint("> %s(%s)" % (name, shown), "cyan"))


def show_answer(result):
    good = result["success"]
    error = result.get("error") or {}
    head = "success" if good else error.get("code", "failure")
    lines = textwrap.wrap(printable(result["message"]), 98 - len(head)) or [""]
    print("  %s  %s" % (paint("< " + head, "green" if good else "red", "bold"), lines[0]))
    for line in lines[1:]:
        print(" " * (len(head) + 6) + line)
    for hunk in result.get("hunks") or []:
        stated = hunk.get("stated_line") or 0
        say("  hunk %d: line %d%s, matched %s, settled by %s" % (
            hunk["hunk"], hunk["line"],
            "" if stated in (0, hunk["line"]) else " (its header said %d)" % stated,
            hunk.get("matched", "?"), hunk.get("settled_by", "?")))
    state = result.get("latest_file_state") or {}
    if state.get("sha256"):
        say(paint("  version %s, sha256 %s..." % (state.get("version"), state["sha256"][:12]),
                  "dim"))


def read(hasp, name):
    show_call("read_file", file_path=name)
    state = hasp.call("read_file", file_path=name)
    say(paint("< version %d, sha256 %s..., %d lines" % (
        state["version"], state["sha256"][:12], state["total_lines"]), "dim"))
    return state


def patch(hasp, name, diff, sha):
    show_call("safe_patch", file_path=name, base_content_sha256=sha, unified_diff="...")
    print_diff(diff)
    result = hasp.call("safe_patch", file_path=name, unified_diff=diff,
                       base_content_sha256=sha)
    show_answer(result)
    return result


def scene_stale(hasp, root):
    heading(1, "A stale state is refused, and the answer is all that is needed to go on")
    path = root / "inventory.py"
    path.write_text(INVENTORY)
    state = read(hasp, "inventory.py")
    say("Meanwhile somebody else edits the file (a docstring goes in).")
    changed = INVENTORY.replace("    def total(self):\n",
                                '    def total(self):\n        """Worth of all items."""\n')
    path.write_text(changed)
    refused = patch(hasp, "inventory.py", FIX_TOTAL, state["sha256"])
    expect(refused["error"]["code"] == "state_mismatch", "a stale hash was accepted")
    expect(path.read_text() == changed, "a refused edit changed the file")
    latest = refused["latest_file_state"]
    expect(latest["content"] == changed, "the answer does not have the new state")
    say("The answer carries the new content. One call later, against it:")
    diff = FIX_TOTAL.replace("     def total(self):\n",
                             '     def total(self):\n         """Worth of all items."""\n'
                             ).replace("-18,5 +18,5", "-18,6 +18,6")
    done = patch(hasp, "inventory.py", diff, latest["sha256"])
    expect(done["success"], "the recovery failed: %s" % done["message"])
    expect(path.read_text() == changed.replace("item.price\n", "item.price * item.count\n"),
           "the recovery made something else")


def scene_numbers(hasp, root):
    heading(2, "Wrong line numbers and counts are repaired, because the lines say where")
    path = root / "inventory.py"
    path.write_text(INVENTORY)
    state = read(hasp, "inventory.py")
    diff = FIX_TOTAL.replace("@@ -18,5 +18,5 @@", "@@ -112,9 +112,7 @@")
    other = subprocess.run(["patch", "-s", "-f", "--dry-run", str(path)], input=diff,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    done = patch(hasp, "inventory.py", diff, state["sha256"])
    expect(done["success"], "wrong numbers were refused: %s" % done["message"])
    expect(path.read_text() == INVENTORY.replace("+= item.price\n",
                                                 "+= item.price * item.count\n"),
           "the edit is not what the diff says")
    if other.returncode != 0:
        say(paint("  (GNU patch on the same: %s)" % other.stdout.strip().split("\n")[-1], "dim"))


def scene_ambiguous(hasp, root):
    heading(3, "A diff that fits three places is refused, with the places")
    path = root / "handlers.py"
    path.write_text(HANDLERS)
    state = read(hasp, "handlers.py")
    refused = patch(hasp, "handlers.py", AMBIGUOUS, state["sha256"])
    expect(not refused["success"] and refused["error"]["code"] == "ambiguous_diff",
           "an ambiguous diff was accepted")
    expect(path.read_text() == HANDLERS, "a refused edit changed the file")
    for candidate in refused["error"].get("candidates", []):
        line = candidate["line"]
        say("  candidate: line %d, after %s" % (
            line, printable(HANDLERS.split("\n")[line - 2].strip())))
    expect(len(refused["error"].get("candidates", [])) == 3, "there are three candidates")
    say("With one more line of context it can only mean one:")
    diff = AMBIGUOUS.replace("@@\n", "@@\n def on_save(request):\n")
    done = patch(hasp, "handlers.py", diff, state["sha256"])
    expect(done["success"], "the clear diff was refused: %s" % done["message"])
    parts = HANDLERS.split("\n\n\n")
    parts[1] = parts[1].replace("check(request)", "check(request, strict=True)")
    expect(path.read_text() == "\n\n\n".join(parts), "the edit is not where it belongs")


def play():
    """All scenes; whether each went as told."""
    good = True
    print()
    with tempfile.TemporaryDirectory(prefix="hasp-scenes-") as folder:
        for scene in (scene_stale, scene_numbers, scene_ambiguous):
            try:
                scene(Hasp(folder), Path(folder))
            except (Failed, KeyError, TypeError) as error:
                print(paint("  NOT as told: %s %s" % (type(error).__name__, error), "red",
                            "bold"))
                good = False
    return good
