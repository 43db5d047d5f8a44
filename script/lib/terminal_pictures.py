# SPDX-License-Identifier: Apache-2.0
"""Draws the interactive terminal as it really is, into docs/terminal-*.svg: the program runs in the tests' terminal
against the tests' fake model, and what stands in the window's cells is drawn."""

import importlib.util
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "tui" / "harness"), str(TOP / "script" / "lib")]

import picture  # noqa: E402
import terminal  # noqa: E402

_spec = importlib.util.spec_from_file_location("headless_world", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)

from fake_gemini import call, text  # noqa: E402

COLUMNS, ROWS = 96, 40
PARSER = """int parse_port(const char *text)
{
\tint port = atoi(text);
\treturn port;
}

const char *parse_name(const char *text)
{
\treturn *text ? text : NULL;
}

int parse_bool(const char *text)
{
\treturn strcmp(text, "yes") == 0;
}
"""


def start(world, server, *args):
    env = world.environment(server, COLORTERM="truecolor")
    return terminal.Vterm(world.argv(server, args), COLUMNS, ROWS, env=env, cwd=world.root).wait("sandbox:")


def read(name):
    return call("read_file", {"file_path": name})


def update(name, old, new):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new})


def review(world):
    """A review by hunk: one is taken, the next is looked at."""
    world.write("parse.c", PARSER)
    new = PARSER.replace("int port = atoi(text);\n\treturn port;", "return (int)strtol(text, NULL, 10);").replace(
        "strcmp(text", "strcasecmp(text")
    script = [[read("parse.c")], [call("write_file", {"file_path": "parse.c", "content": new})], [text("Done.")]]
    with world.fake(script) as server, start(world, server) as hasp:
        hasp.type("make the parsers stricter").key("enter").wait("Allow once")
        number = next(line.split(".")[0].strip("> ") for line in hasp.dump().window if "Review by hunk" in line)
        hasp.type(number).wait("Hunk 1/2?").type("y").wait("Hunk 2/2?").quiet()
        return hasp.cells()


def stale(world):
    """Somebody changes the file after it was read: the edit is refused, read again, and made."""
    known = world.write("limits.c", "enum { PORT_MAX = 1024 };\n")

    def changed(_request):
        world.write("limits.c", "/* See RFC 6335. */\nenum { PORT_MAX = 1024 };\n")

    edit = call("write_file", {"file_path": "limits.c", "content": "enum { PORT_MAX = 65535 };\n",
                               "base_content_sha256": known})
    again = update("limits.c", "1024", "65535")
    script = [[read("limits.c")], {"reply": [edit], "expect": changed}, [text("The file has changed: I look again."),
              read("limits.c")], [again], [text("The limit is 65535 now, and your comment is still there.")]]
    with world.fake(script) as server, start(world, server, "--approval-mode", "auto_edit") as hasp:
        hasp.type("allow all ports").key("enter").wait("still there.").quiet(0.5)
        return hasp.cells()


def denial(world):
    """A command that writes outside: what was denied, and what would allow it."""
    script = [[call("run_shell_command", {"command": "make -s install"})],
              [text("The sandbox denied the write to /usr/local/bin. Start hasp with --write, or install beneath "
                    "this folder.")]]
    world.write("Makefile", "install:\n\t@echo installing; cp tool /usr/local/bin/tool\n")
    world.write("tool", "#!/bin/sh\n")
    with world.fake(script) as server, start(world, server, "--approval-mode", "yolo") as hasp:
        hasp.type("install it").key("enter").wait("install beneath").quiet(0.5)
        return hasp.cells()


PICTURES = {"review": (review, "A review by hunk: each is taken or left out before anything is written"),
            "stale": (stale, "A stale edit is refused, the file is read again, and the edit is made"),
            "denial": (denial, "A denial is explained, with what would allow it")}


def main():
    for name in sys.argv[1:] or PICTURES:
        scene, title = PICTURES[name]
        with tempfile.TemporaryDirectory(prefix="demo-") as folder:
            rows = scene(headless.World(Path(folder)))
        while rows and not any(piece.strip() for piece, _ in rows[-1]):
            rows.pop()
        (TOP / "docs" / ("terminal-%s.svg" % name)).write_text(picture.draw_cells(rows, COLUMNS, title))


if __name__ == "__main__":
    main()
