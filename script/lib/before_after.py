# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of the twelve screens that are met most, of two builds: docs/pictures/before-NAME.png with the program
$BEFORE, docs/pictures/after-NAME.png with build/hasp, and writes docs/screens.md, which shows them side by side.

    BEFORE=../old/build/hasp before_after.py [NAME]...      both; without BEFORE only those of build/hasp

Nothing waits for a text that only one of the two has: a screen is taken when it has not changed for a while.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import terminal_pictures as pictures
from fake_gemini import call, text

FOLDER, PAGE = pictures.TOP / "docs" / "pictures", pictures.TOP / "docs" / "screens.md"
COLUMNS, ROWS, SETTLED = 80, 28, 0.7
LIST = {"models": [{"name": "models/" + name, "displayName": name, "inputTokenLimit": limit,
                    "supportedGenerationMethods": ["generateContent"]}
                   for name, limit in (("gemini-3.1-pro-preview", 2097152), ("gemini-3.8-flash", 1048576))]}


class Small(pictures.Screen):
    LOOK = tuple("8" if before == "-fs" else word
                 for before, word in zip(("", *pictures.Screen.LOOK), pictures.Screen.LOOK))


def start(world, server, *args, trusted=True):
    server.lists["/v1beta/models"] = LIST
    env = world.environment(server, **({} if trusted else {"GEMINI_CLI_TRUST_WORKSPACE": None}))
    argv = ["env", "COLORTERM=truecolor", *world.argv(server, args)]
    return Small(argv, COLUMNS, ROWS, env=env, cwd=world.root).wait("sandbox:" if trusted else "Trust").quiet(SETTLED)


def typed(*lines, script=(), args=(), enter=True):
    """What there is when these lines were typed."""
    def take(world):
        world.write("parse.c", pictures.PARSER)
        with world.fake(list(script), append_only=False) as server, start(world, server, *args) as hasp:
            for line in lines:
                hasp.type(line).quiet(0.2)
                if enter:
                    hasp.key("enter")
                hasp.quiet(SETTLED)
            return hasp.picture()
    return take


def trust(world):
    world.settings("root", model={"name": "flash"})
    world.write("GEMINI.md", "Say please.\n")
    world.write(".gemini/commands/deploy.toml", 'prompt = "Deploy"\n')
    with world.fake([]) as server, start(world, server, trusted=False) as hasp:
        return hasp.picture()


def written_plan(request):
    folder = Path(re.search(r"(/[^\s\"'`]*/plans)", str(request.body))[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.md").write_text("# Accept all ports\n\n1. Replace `atoi` by `strtol`, and check its end.\n"
                                     "2. Test both ends.\n")


EDIT = [[pictures.read("parse.c")], [pictures.update("parse.c", "strcmp(text", "strcasecmp(text")],
        [text("parse_bool ignores case now.")]]
SLOW = [[call("run_shell_command", {"command": "echo 'compiling parse.c'; sleep 9"})], [text("Built.")]]
PLAN = [{"reply": [call("exit_plan_mode", {"plan_filename": "ports.md"})], "expect": written_plan}, [text("Done.")]]
RUN = [[call("run_shell_command", {"command": "python3 check.py"})], [text("Checked.")]]
SCREENS = {
    "trust": ("a new folder", trust),
    "menu": ("the menu of commands", typed("/m", enter=False)),
    "help": ("`/help`", typed("/help")),
    "edit": ("a question about an edit", typed("ignore case in parse_bool", script=EDIT)),
    "command": ("a question about a command", typed("check it", script=RUN)),
    "working": ("while it works", typed("build it", script=SLOW, args=("--approval-mode", "yolo"))),
    "done": ("after an edit", typed("ignore case in parse_bool", script=EDIT, args=("--approval-mode", "auto_edit"))),
    "plan": ("a plan", typed("how would you do it?", script=PLAN, args=("--approval-mode", "plan"))),
    "model": ("`/model`", typed("/model")),
    "settings": ("`/settings`", typed("/settings")),
    "permissions": ("`/permissions`", typed("/permissions")),
    "refused": ("a key that is refused", typed("build it", script=[
        {"status": 401, "error": "API key not valid. Please pass a valid API key."}])),
}


def page():
    rows = ["# Screens, before and after", "",
            "The twelve screens that are met most, of 80 columns: on the left as they were on 29 November 2026, before what movers",
            "from other agents stumbled over was mended, on the right as they are. `script/lib/before_after.py` takes the pictures.", ""]
    for name, (title, _) in SCREENS.items():
        rows += ["## %s" % (title[0].upper() + title[1:]), "", "| before | after |", "|---|---|",
                 "| ![%s, before](pictures/before-%s.png) | ![%s, after](pictures/after-%s.png) |"
                 % (title, name, title, name), ""]
    return "\n".join(rows)


def main():
    names = sys.argv[1:] or list(SCREENS)
    builds = {"after": str(pictures.headless.HASP)}
    if os.environ.get("BEFORE"):
        builds["before"] = str(Path(os.environ["BEFORE"]).resolve())
    FOLDER.mkdir(exist_ok=True)
    for when, program in builds.items():
        pictures.headless.HASP = program
        for name in names:
            with tempfile.TemporaryDirectory(prefix="demo-") as home:
                taken = SCREENS[name][1](pictures.headless.World(Path(home)))
            (FOLDER / ("%s-%s.png" % (when, name))).write_bytes(taken)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
