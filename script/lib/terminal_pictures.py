# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of the interactive terminal as it really is, docs/terminal-*.png: the program runs in xterm on an X
server without a screen (Xvfb) against the tests' fake model, and what that server has drawn is kept.

    terminal_pictures.py [--to FOLDER] [review | stale | denial | question | neovim | emacs | pdf | data | plan | working |
                         refused]...

HASP=PROGRAM takes them of another build, to look at side by side.
"""

import importlib.util
import re
import struct
import sys
import tempfile
import zlib
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "tui" / "harness"), str(TOP / "test"), str(TOP / "test" / "read")]

import documents  # noqa: E402
import terminal  # noqa: E402

_spec = importlib.util.spec_from_file_location("headless_world", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)

from fake_gemini import call, text  # noqa: E402

COLUMNS, ROWS = 96, 40
BEHIND, PAD = "#1c2128", 14
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


class Screen(terminal.Xterm):
    """An xterm of which pictures can be taken: nothing above the program's first line, no border of the window."""

    FILLER = 0
    LOOK = ("-fa", "DejaVu Sans Mono", "-fs", "11", "-bg", BEHIND, "-fg", "#cdd9e5", "-bw", "0", "-b", str(PAD), "+sb",
            "-tn", "xterm-256color")

    def server_words(self):
        return ("-fbdir", self.folder)

    def picture(self):
        return png(crop(read_dump((Path(self.folder) / "Xvfb_screen0").read_bytes())))


def read_dump(dump):
    """The rows, RGB bytes each, of what Xvfb keeps in memory: an X window dump (X11/XWDFile.h), 32 bits a pixel."""
    size, version, _, depth, width, height, _, _, _, _, _, bits, stride = struct.unpack(">13I", dump[:52])
    colours = struct.unpack(">I", dump[76:80])[0]
    assert (version, depth, bits) == (7, 24, 32), (version, depth, bits)
    rows, at = [], size + 12 * colours
    for row in range(height):
        pixels = dump[at + row * stride:at + row * stride + 4 * width]
        rgb = bytearray(3 * width)
        rgb[0::3], rgb[1::3], rgb[2::3] = pixels[2::4], pixels[1::4], pixels[0::4]
        rows.append(bytes(rgb))
    return rows


def crop(rows):
    """The window alone, which stands in the corner, without the empty rows beneath its text."""
    behind = bytes.fromhex(BEHIND[1:])
    width = next(x for x in range(len(rows[0]) // 3) if rows[0][3 * x:3 * x + 3] != behind)
    rows = [row[:3 * width] for row in rows if row[:3] == behind]
    while rows[-PAD - 1] == behind * width:
        rows.pop()
    return rows


def png(rows):
    """Of few colours with a palette, else of whole pixels."""
    colours = sorted({row[x:x + 3] for row in set(rows) for x in range(0, len(row), 3)})
    few = len(colours) <= 256
    number = {colour: bytes([i]) for i, colour in enumerate(colours[:256])}
    lines = [b"".join(number[row[x:x + 3]] for x in range(0, len(row), 3)) if few else row for row in rows]

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 3 if few else 2, 0, 0, 0)
    return b"".join([b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"PLTE", b"".join(colours)) if few else b"",
                     chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines), 9)), chunk(b"IEND", b"")])


def start(world, server, *args):
    argv = ["env", "COLORTERM=truecolor", *world.argv(server, args)]  # which xterm would not pass on
    return Screen(argv, COLUMNS, ROWS, env=world.environment(server), cwd=world.root).wait("sandbox:")


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
        return hasp.picture()


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
        return hasp.picture()


def denial(world):
    """A command that writes outside: what was denied, and what would allow it."""
    script = [[call("run_shell_command", {"command": "make -s install"})],
              [text("The sandbox denied the write to /usr/local/bin. Start hasp with --write, or install beneath "
                    "this folder.")]]
    world.write("Makefile", "install:\n\t@echo installing; cp tool /usr/local/bin/tool\n")
    world.write("tool", "#!/bin/sh\n")
    with world.fake(script) as server, start(world, server, "--approval-mode", "yolo") as hasp:
        hasp.type("install it").key("enter").wait("install beneath").quiet(0.5)
        return hasp.picture()


def in_editor(world, server, *argv):
    """An editor that finds the program as "hasp"."""
    binary = world.top / "bin"
    binary.mkdir()
    (binary / "hasp").symlink_to(headless.HASP)
    env = world.environment(server, PATH="%s:%s" % (binary, world.env["PATH"]), LC_ALL="C.UTF-8")
    return Screen(["env", "TERM=xterm-256color", *map(str, argv)], COLUMNS + 24, ROWS - 8, env=env, cwd=world.root)


def editor_script(world):
    world.write("parse.c", PARSER)
    new = PARSER.replace("int port = atoi(text);\n\treturn port;", "return (int)strtol(text, NULL, 10);").replace(
        "strcmp(text", "strcasecmp(text")
    return [[read("parse.c")], [call("write_file", {"file_path": "parse.c", "content": new})], [text("Done.")]]


def neovim(world):
    """A question, and its diff in Neovim's diff mode."""
    with world.fake(editor_script(world)) as server, in_editor(
            world, server, "nvim", "-u", "NONE", "-i", "NONE", "--cmd", "set rtp^=%s" % (TOP / "editors/nvim"), "-c",
            "runtime plugin/hasp.lua", "-c", "syntax on", "-c", "set laststatus=2 shortmess+=I", "parse.c") as nvim:
        nvim.wait("parse_port").type(":Hasp").key("enter").wait("hasp://prompt")
        nvim.type("imake the parsers stricter").key("esc").key("enter").wait("Allow once")
        nvim.type(":Hasp review").key("enter").wait("strcasecmp").quiet(0.5)
        return nvim.picture()


def emacs(world):
    """The conversation and the question that waits in Emacs, next to the file."""
    with world.fake(editor_script(world)) as server, in_editor(
            world, server, "emacs", "-nw", "-Q", "-L", TOP / "editors/emacs", "-l", "hasp", "--eval",
            '(progn (setq inhibit-startup-screen t split-width-threshold 100) (find-file "parse.c") '
            "(delete-other-windows) (hasp))") as screen:
        screen.wait("hasp:").type("p").wait("Prompt:").type("make the parsers stricter").key("enter")
        screen.wait("Allow once").quiet(0.5)
        return screen.picture()


def question(world):
    """An edit that is asked about."""
    world.write("parse.c", PARSER)
    edit = update("parse.c", "strcmp(text", "strcasecmp(text")
    with world.fake([[read("parse.c")], [edit], [text("Done.")]]) as server, start(world, server) as hasp:
        hasp.type("ignore case in parse_bool").key("enter").wait("Allow once").quiet(0.5)
        return hasp.picture()


def plan(world):
    """A plan that waits for a yes."""
    def written(request):
        folder = Path(re.search(r"(/[^\s\"'`]*/plans)", str(request.body))[1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ports.md").write_text("# Accept all ports\n\n1. Replace `atoi` by `strtol`, and check its end.\n"
                                         "2. Refuse what is below 1 or above 65535.\n3. Test both ends.\n")

    leave = [call("exit_plan_mode", {"plan_filename": "ports.md"})]
    with world.fake([{"reply": leave, "expect": written}, [text("Done.")]]) as server, \
            start(world, server, "--approval-mode", "plan") as hasp:
        hasp.type("plan how to accept all ports").key("enter").wait("Refuse what is below").quiet(0.5)
        return hasp.picture()


def working(world):
    """A command that runs, a message that joins, one that waits."""
    script = [[call("run_shell_command", {"command": "echo 'compiling parse.c'; sleep 5"})], [text("Built.")]]
    with world.fake(script) as server, start(world, server, "--approval-mode", "yolo") as hasp:
        hasp.type("build it").key("enter").wait("compiling parse.c\n").type("with -O2").key("enter").wait("joins at the next step")
        hasp.type("then test it").key("ctrl+q").wait("queued: then").type("and")
        return hasp.quiet(0.5).picture()


def pdf(world):
    """A PDF that the model asks about, as its text."""
    rows = [("Part", "Pieces", "Price"), ("Hinge, steel", "40", "3.20"), ("Hasp, brass", "12", "11.75"), ("Padlock", "12", "18.40")]
    lines = [(50, 50, "Order 2026-118")] + [(x, 90 + 20 * i, word) for i, row in enumerate(rows) for x, word in zip((50, 250, 350), row)]
    (world.root / "order.pdf").write_bytes(documents.pdf([lines, [(50, 50, "Delivery: 14 December 2026")]]))
    script = [[read("order.pdf")], [text("The order is for 40 hinges, 12 hasps and 12 padlocks, **489.80** in all; page 2 has them delivered on "
                                         "14 December.")]]
    with world.fake(script) as server, start(world, server) as hasp:
        hasp.type("what does order.pdf come to, and when do we get it?").key("enter").wait("14 December.").quiet(0.5)
        return hasp.picture()


def data(world):
    """A value of a YAML file that is asked about: nothing else changes, comments neither."""
    known = world.write("compose.yaml", "services:\n  web:            # the shop\n    image: 'shop:4.1'\n    ports: [\"80:80\"]  # behind the proxy\n"
                                        "  db:\n    image: postgres:17\n")
    edits = [{"op": "set", "path": ".services.web.image", "value": "shop:4.2"}, {"op": "append", "path": ".services.web.ports", "value": "443:443"}]
    edit = call("update_data", {"file_path": "compose.yaml", "base_content_sha256": known, "edits": edits})
    with world.fake([[read("compose.yaml")], [edit], [text("Done.")]]) as server, start(world, server) as hasp:
        hasp.type("move the shop to 4.2, and open 443").key("enter").wait("Allow once").quiet(0.5)
        return hasp.picture()


def refused(world):
    """A key that the provider refuses."""
    with world.fake([{"status": 401, "error": "API key not valid. Please pass a valid API key."}]) as server, \
            start(world, server) as hasp:
        hasp.type("build it").key("enter").wait("not valid").quiet(0.5)
        return hasp.picture()


# What the documents show; the others are for looking at.
SHOWN = {"review": review, "stale": stale, "denial": denial, "question": question, "neovim": neovim,
         "emacs": emacs, "pdf": pdf, "data": data}
PICTURES = {**SHOWN, "plan": plan, "working": working, "refused": refused}


def main():
    words, folder = sys.argv[1:], TOP / "docs"
    if words[:1] == ["--to"]:
        folder, words = Path(words[1]), words[2:]
    for name in words or SHOWN:
        with tempfile.TemporaryDirectory(prefix="demo-") as home:
            taken = PICTURES[name](headless.World(Path(home)))
        (folder / ("terminal-%s.png" % name)).write_bytes(taken)


if __name__ == "__main__":
    main()
