# SPDX-License-Identifier: Apache-2.0
"""Copying and pasting: with xclip and xsel on a real X server (Xvfb), with wl-clipboard on a real Wayland compositor
(sway), with the terminal's own protocols, and what is dropped on the terminal."""
import base64
import os
import re
import struct
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import pytest
import terminal
from fake_gemini import call, text

READY = "? for keys"


def png(colour=b"\xff\x00\x00"):
    """One pixel."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(b"\x00" + colour)) + chunk(b"IEND", b"")


class Display:
    """An X server, and what is in its clipboard."""

    def __init__(self):
        reading, writing = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp", "-noreset", "-screen",
                                        "0", "64x64x8"], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as number:
            self.name = ":" + number.readline().strip()
        assert self.name != ":", "there is no Xvfb"

    def xclip(self, *words, **options):
        return subprocess.run(["xclip", "-selection", "clipboard", *words], env={**os.environ, "DISPLAY": self.name},
                              check=True, timeout=60, **options)

    def put(self, data, kind="UTF8_STRING"):
        self.xclip("-in", "-target", kind, input=data, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)

    def get(self):
        return self.xclip("-out", stdout=subprocess.PIPE).stdout

    def wait(self, data):
        """Until it has this: hasp says that it has copied before and after."""
        while self.get() != data:
            time.sleep(0.02)

    def close(self):
        self.server.terminate()
        self.server.wait()


class Wayland:
    """A compositor, and what is in its clipboard."""

    def __init__(self, folder):
        # It does not run as root.
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        self.env = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-1"}
        folder.chmod(0o700)
        if other:
            os.chown(folder, 65534, 65534)
        self.server = subprocess.Popen([*other, "sway", "-c", "/dev/null"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env={
                                           "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(folder),
                                           "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
                                           "WLR_LIBINPUT_NO_DEVICES": "1"})
        end = time.monotonic() + 60
        while not (folder / "wayland-1").exists():
            assert self.server.poll() is None and time.monotonic() < end, "there is no sway"
            time.sleep(0.01)

    def tool(self, *words, **options):
        return subprocess.run(words, env={**os.environ, **self.env}, check=True, timeout=60, **options)

    def put(self, data, kind="text/plain"):
        self.tool("wl-copy", "--type", kind, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self):
        return self.tool("wl-paste", "--no-newline", stdout=subprocess.PIPE).stdout

    def wait(self, data):
        while self.get() != data:
            time.sleep(0.02)

    def close(self):
        self.server.terminate()
        self.server.wait()


@pytest.fixture(scope="module")
def wayland():
    # A short path: that of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="hasp-sway-") as folder:
        one = Wayland(Path(folder))
        yield one
        one.close()


@pytest.fixture(scope="module")
def display():
    one = Display()
    yield one
    one.close()


def on(display, **more):
    return {"DISPLAY": display.name, "WAYLAND_DISPLAY": None, "SSH_CONNECTION": None, **more}


NOWHERE = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "SSH_CONNECTION": None}


def only(world, *names):
    """A PATH with these programs alone."""
    folder = world.top / "programs"
    folder.mkdir(exist_ok=True)
    for name in ("bash", "sh", *names):
        if not (folder / name).exists():
            (folder / name).symlink_to(subprocess.run(["which", name], check=True, stdout=subprocess.PIPE,
                                                      text=True).stdout.strip())
    return str(folder)


def sent(server):
    """The parts of the user's side of the last request."""
    return [part for content in server.requests[-1].body["contents"] for part in content["parts"]]


def images(server):
    return [base64.b64decode(part["inlineData"]["data"]) for part in sent(server) if "inlineData" in part]


# ---- copying


def answered(hasp, said="The *answer* \N{SNOWMAN}"):
    """Until the turn is over, too, which is when there is something to copy: the row that is there while it works is
    drawn together with the answer. (The status line may have no room for its last words.)"""
    hasp.type("hi").key("enter").wait("The answer")
    end = time.monotonic() + terminal.PATIENCE
    while True:
        window = hasp.dump().window
        # A frame of many rows comes in pieces: it is whole when the composer is there.
        if any(line.rstrip() == ">" for line in window) and not any(line.startswith("* ") for line in window):
            break
        assert time.monotonic() < end
        time.sleep(0.02)
    return said


@pytest.mark.parametrize("tool", ["xclip", "xsel"])
def test_copy_by_a_tool(world, display, tool):
    display.put(b"before")
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env=on(display, PATH=only(world, tool))) as hasp:
            said = answered(hasp)
            hasp.raw()
            hasp.type("/copy").key("enter").wait("Copied with %s." % tool)
            assert b"]52;" not in hasp.raw()
            hasp.key("ctrl+d").end()
    display.wait(said.encode())  # also when hasp is gone; xsel's own process may still be about to


def test_copy_on_wayland(world, wayland):
    wayland.put(b"before")
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env={**NOWHERE, **wayland.env}) as hasp:
            said = answered(hasp)
            hasp.type("/copy").key("enter").wait("Copied with wl-copy.").key("ctrl+d").end()
    wayland.wait(said.encode())


def test_copy_over_ssh_goes_to_the_terminal_too(world, display):
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env=on(display, SSH_CONNECTION="::1 1 ::1 22")) as hasp:
            said = answered(hasp)
            hasp.type("/copy").key("enter").wait("Copied on this machine with xclip. Sent to the terminal (OSC 52)")
            assert b"\x1b]52;c;" + base64.b64encode(said.encode()) + b"\x1b\\" in hasp.raw()


def test_copy_without_a_display(world):
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            said = answered(hasp)
            hasp.type("/copy").key("enter").wait("whether it took it, only the terminal knows.")
            assert b"\x1b]52;c;" + base64.b64encode(said.encode()) + b"\x1b\\" in hasp.raw()


def test_copy_through_tmux(world):
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env={**NOWHERE, "TMUX": "/nowhere,1,0"}) as hasp:
            said = base64.b64encode(answered(hasp).encode())
            hasp.type("/copy").key("enter").wait("allow-passthrough on.")
            assert b"\x1bPtmux;\x1b\x1b]52;c;" + said + b"\x07\x1b\\" in hasp.raw()


def test_copy_in_a_real_tmux(world):
    said = "The *answer* \N{SNOWMAN}"
    with world.fake([[text(said)]]) as server:
        with world.hasp(server, env={name: "" for name in NOWHERE}, kind=terminal.Tmux) as hasp:
            hasp.run("set", "-s", "set-clipboard", "on")
            answered(hasp)
            hasp.type("/copy").key("enter").wait("only the terminal knows")
            assert hasp.run("show-buffer") == said


def test_copy_in_a_real_screen(world):
    """What screen hands on to the terminal outside."""
    said = "The *answer* \N{SNOWMAN}" + " and more of it" * 60
    with world.fake([[text(said)]]) as server:
        with world.hasp(server, env={name: "" for name in NOWHERE}, kind=terminal.Screen) as hasp:
            answered(hasp)
            hasp.outer.raw()
            hasp.type("/copy").key("enter").wait("only the terminal knows").quiet()
            found = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", hasp.outer.raw())
            assert found and base64.b64decode(found[1]).decode() == said


def test_a_display_that_is_gone(world):
    """A tool that fails is named, and the terminal is asked instead."""
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env={**NOWHERE, "DISPLAY": ":4711"}) as hasp:
            answered(hasp)
            hasp.type("/copy").key("enter").wait("xclip failed. Sent to the terminal (OSC 52)")


def test_a_tool_in_the_workspace_is_not_run(world, display):
    world.write("bin/xclip", "#!/bin/sh\ntouch %s\n" % (world.top / "ran"), 0o755)
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        path = "%s:.:%s" % (world.root / "bin", only(world))
        with world.hasp(server, env=on(display, PATH=path)) as hasp:
            answered(hasp)
            hasp.type("/copy").key("enter").wait("Sent to the terminal").key("ctrl+v").wait("No tool reads")
    assert not (world.top / "ran").exists()


def test_the_pager_copies_an_entry(world, display):
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            said = answered(hasp)
            hasp.key("ctrl+o").wait("y copies the entry").type("}y").wait("Copied with xclip.")
            display.wait(said.encode())
            assert hasp.dump().alternate
            display.put(b"other")
            hasp.type("/answer").key("enter").type("y")
            display.wait(said.encode())
            hasp.type("{y")
            display.wait(b"hi")
            hasp.type("q").wait(READY)


class Kitty:
    """The terminal's side of OSC 5522: what it was told is in `written`, what it has in `types`."""

    def __init__(self, hasp, types=None, refuses=False):
        self.hasp, self.types, self.refuses = hasp, types or {}, refuses
        self.seen, self.written, self.reads = b"", {}, []
        hasp.raw()
        hasp.type("\x1b[?5522;2$y")

    def send(self, metadata, payload=None):
        self.hasp.type("\x1b]5522;%s%s\x1b\\" % (metadata, "" if payload is None else
                                                 ";" + base64.b64encode(payload).decode()))

    def read(self, number, kinds):
        if self.refuses and kinds != ["."]:
            self.send("type=read:status=EPERM:id=" + number)
            return
        self.send("type=read:status=OK:id=" + number)
        for kind in kinds:
            data = " ".join(self.types).encode() if kind == "." else self.types[kind]
            name = base64.b64encode(kind.encode()).decode()
            for at in range(0, len(data), 4096):
                self.send("type=read:status=DATA:id=%s:mime=%s" % (number, name), data[at:at + 4096])
        self.send("type=read:status=DONE:id=" + number)

    def take(self, metadata, payload):
        fields = dict(field.split("=", 1) for field in metadata.decode().split(":"))
        payload = base64.b64decode(payload)
        if fields["type"] == "read":
            self.reads.append(payload.decode())
            self.read(fields["id"], payload.decode().split())
        elif fields["type"] == "write":
            self.written = {}
        elif "mime" in fields:
            kind = base64.b64decode(fields["mime"]).decode()
            self.written[kind] = self.written.get(kind, b"") + payload
        else:
            self.send("type=write:status=%s:id=%s" % ("EPERM" if self.refuses else "DONE", fields["id"]))

    def until(self, wanted, seconds=terminal.PATIENCE):
        """Plays until the screen has the text."""
        end = time.monotonic() + seconds
        while wanted not in self.hasp.dump().text:
            assert time.monotonic() < end, self.hasp.dump().text
            self.seen += self.hasp.raw()
            while True:
                found = re.search(rb"\x1b\]5522;([^;\x1b]*)(?:;([^\x1b]*))?\x1b\\", self.seen)
                if not found:
                    break
                self.seen = self.seen[found.end():]
                self.take(found[1], found[2] or b"")
            time.sleep(0.01)
        return self.hasp


def test_copy_that_the_terminal_confirms(world):
    long = "The *answer* \N{SNOWMAN}" + "".join("\n\nand %d more" % i for i in range(1000))
    with world.fake([[text(long)]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp)
            answered(hasp)
            hasp.type("/copy").key("enter")
            kitty.until("Copied: the terminal has it in its clipboard (OSC 5522).")
            assert kitty.written == {"text/plain": long.encode()}


def test_copy_that_the_terminal_refuses(world):
    with world.fake([[text("The *answer* \N{SNOWMAN}")]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp, refuses=True)
            answered(hasp)
            hasp.type("/copy").key("enter")
            kitty.until("The terminal does not permit to set its clipboard.")
            assert "Copied" not in hasp.dump().text


# ---- pasting


def kept(world):
    return sorted(world.home.glob(".gemini/tmp/*/images/*"))


def test_an_image_is_pasted(world, display):
    display.put(png(), "image/png")
    with world.fake([[text("Red.")]]) as server:
        with world.hasp(server, env=on(display), columns=250) as hasp:
            hasp.wait("sandbox:").type("which colour has").key("ctrl+v").wait("images/clipboard-")
            assert re.search(r"> which colour has @/\S*\.gemini/tmp/\S*", hasp.dump().text)
            hasp.type("?").key("enter").wait("Red.")
        assert images(server) == [png()]
    [path] = kept(world)
    assert re.fullmatch(r"clipboard-\d{13}\.png", path.name) and path.read_bytes() == png()
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_image_is_pasted_on_wayland(world, wayland):
    wayland.put(png(), "image/png")
    with world.fake([[text("Red.")]]) as server:
        with world.hasp(server, env={**NOWHERE, **wayland.env}) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").wait("images/clipboard-").key("enter").wait("Red.").wait(READY)
            assert images(server) == [png()]
            wayland.put("some \N{SNOWMAN}".encode())
            hasp.key("ctrl+v").wait("> some \N{SNOWMAN}")


def test_old_images_go(world, display):
    display.put(png(), "image/png")
    with world.fake([]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").wait("images/clipboard-")
            [old] = kept(world)
            mine = old.with_name("mine.png")
            mine.write_bytes(png())
            for path in (old, mine):
                os.utime(path, (0, 0))
            hasp.key("ctrl+v").quiet().key("ctrl+c")
            display.put(png(b"\x00\xff\x00"), "image/png")
            hasp.key("ctrl+v").wait("images/clipboard-")
    assert not old.exists() and mine.exists()


@pytest.mark.parametrize("kind", ["image/png", "image/svg+xml", "\x1b]0;evil"])
def test_what_is_no_image(world, display, kind):
    """Types are the clipboard's word alone: the bytes decide."""
    display.put(b"<svg onload=evil>", kind)
    with world.fake([]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").key("ctrl+v")
            hasp.wait("is no PNG, JPEG, GIF or WebP" if kind == "image/png" else "neither text nor an image")
            assert "evil" not in hasp.dump().title
    assert kept(world) == []


def test_text_is_pasted(world, display):
    display.put("for \N{SNOWMAN}\x1b[2J you".encode())
    with world.fake([[text("Thanks.")]]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").wait("for \N{SNOWMAN}\\x1b[2J you").key("enter").wait("Thanks.")
    assert kept(world) == []


def test_text_is_pasted_into_an_answer(world, display):
    display.put(b"use printf instead")
    edit = call("write_file", {"file_path": "a.txt", "content": "x\n"})
    with world.fake([[edit], [text("Then so.")]]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").type("go").key("enter").wait("No, suggest changes")
            number = re.search(r"(\d)\W+No, suggest changes", hasp.dump().text)[1]
            hasp.type(number).quiet().key("ctrl+v").wait("use printf instead").key("enter").wait("Then so.")
    assert "use printf instead" in str(sent(server))


def test_at_signs_of_pasted_text(world, display):
    world.write("a.txt", "content\n")
    world.settings(ui={"escapePastedAtSymbols": True})
    with world.fake([[text("Thanks.")]]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").paste("@a.txt \\@b").wait("> \\@a.txt \\@b").key("enter").wait("Thanks.")
    assert [part["text"] for part in sent(server)][-1] == "@a.txt @b"


def test_copied_files_are_pasted_as_files(world, display):
    world.write("a b.txt", "here\n")
    display.put(("file://%s\r\n" % (world.root / "a%20b.txt")).encode(), "text/uri-list")
    with world.fake([[text("Read.")]]) as server:
        with world.hasp(server, env=on(display)) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").wait("> @a\\ b.txt").key("enter").wait("Read.")
    assert "here" in str(sent(server))


def test_a_clipboard_that_does_not_answer(world, display):
    """A tool that hangs is ended; what is typed meanwhile is not held up."""
    folder = only(world)
    os.mkfifo(world.top / "never")
    (world.top / "programs" / "xclip").write_text("#!/bin/sh\nexec cat %s\n" % (world.top / "never"))
    (world.top / "programs" / "xclip").chmod(0o755)
    (world.top / "programs" / "cat").symlink_to("/bin/cat")
    with world.fake([]) as server:
        with world.hasp(server, env=on(display, PATH=folder)) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").type("typed").wait("> typed")
            hasp.wait("The clipboard is empty, or cannot be read").key("ctrl+c").key("ctrl+d")
            assert hasp.end() == 0


def test_an_image_by_the_terminal(world):
    big = png() + bytes(range(256)) * 8000  # as large as a screenshot
    with world.fake([[text("Red.")]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp, {"text/html": b"<img>", "text/uri-list": b"file:///a.png", "image/png": big})
            hasp.key("ctrl+v")
            kitty.until("images/clipboard-").key("enter").wait("Red.")
            assert kitty.reads == [".", "image/png"]
        assert images(server) == [big]


def test_text_by_the_terminal(world):
    with world.fake([]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp, {"text/plain": b"over there"})
            hasp.key("ctrl+v")
            kitty.until("> over there")


def test_a_terminal_that_refuses(world):
    with world.fake([]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp, {"text/plain": b"over there"}, refuses=True)
            hasp.key("ctrl+v")
            kitty.until("does not permit to read")


def test_what_was_not_asked_for_does_nothing(world):
    with world.fake([]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:")
            kitty = Kitty(hasp)
            kitty.send("type=read:status=OK:id=hasp1")
            kitty.send("type=read:status=DATA:id=hasp1:mime=aW1hZ2UvcG5n", png())
            kitty.send("type=read:status=DONE:id=hasp1")
            hasp.type("still here").wait("> still here")
    assert kept(world) == []


# ---- dropping


def drop(hasp, world, dropped, shown):
    hasp.paste(dropped)
    hasp.wait(shown)
    hasp.key("ctrl+c").quiet(0.05)


def test_files_are_dropped(world):
    for name in ("a b.txt", "it's.txt", "sub/c.txt", "(d).txt", "e.", "f%41.txt"):
        world.write(name, "x\n")
    root = str(world.root)
    rows = [
        (root + "/sub/c.txt ", "> @sub/c.txt"),
        (root + "/a b.txt", "> @a\\ b.txt"),
        (root + "/a\\ b.txt ", "> @a\\ b.txt"),
        ("'" + root + "/a b.txt' ", "> @a\\ b.txt"),
        ('"%s/it\'s.txt"' % root, "> @it's.txt"),
        ("'%s/it'\\''s.txt'" % root, "> @it's.txt"),
        ("file://%s/a%%20b.txt\r\n" % root, "> @a\\ b.txt"),
        ("file://localhost%s/f%%2541.txt" % root, "> @f%41.txt"),
        ("%s/a\\ b.txt %s/sub/c.txt\n'%s/(d).txt'" % (root, root, root), "> @a\\ b.txt @sub/c.txt @\\(d\\).txt"),
        (root + "/e.", "> @e\\."),
        (root + "/sub", "> @sub"),
        (root, "> @" + root),
        # Not files: text.
        (root + "/missing.txt", "> %s/missing.txt" % root),
        ("see %s/sub/c.txt" % root, "> see %s/sub/c.txt" % root),
        (root + "/sub/c.txt and", "> %s/sub/c.txt and" % root),
        ("file://elsewhere%s/sub/c.txt" % root, "> file://elsewhere%s/sub/c.txt" % root),
        ("'%s/sub/c.txt" % root, "> '%s/sub/c.txt" % root),
        ("sub/c.txt", "> sub/c.txt"),
    ]
    with world.fake([]) as server:
        with world.hasp(server, env=NOWHERE, columns=250) as hasp:
            hasp.wait("sandbox:")
            for dropped, shown in rows:
                drop(hasp, world, dropped, shown)


def test_where_files_are_dropped(world):
    world.write("c.txt", "x\n")
    path = str(world.root / "c.txt")
    with world.fake([]) as server:
        with world.hasp(server, env=NOWHERE, columns=250) as hasp:
            hasp.wait("sandbox:")
            for before, shown in (("look at", "> look at @c.txt"), ("look at ", "> look at @c.txt"),
                                  ("look at @", "> look at @c.txt"), ("!cat ", "! cat " + path),
                                  ("/export ", "> /export " + path)):
                hasp.type(before).quiet(0.05)
                drop(hasp, world, path, shown)
                hasp.key("backspace").quiet(0.05)


def test_a_dropped_file_is_read(world):
    world.write("(a) b.txt", "the content\n")
    with world.fake([[text("Read.")]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:").paste(str(world.root / "(a) b.txt")).wait("@").key("enter").wait("Read.")
    assert "the content" in str(sent(server))


def test_an_image_from_outside_is_copied(world):
    outside = world.top / "outside.jpg"  # its bytes say that it is a PNG
    outside.write_bytes(png())
    with world.fake([[text("Red.")]]) as server:
        with world.hasp(server, env=NOWHERE) as hasp:
            hasp.wait("sandbox:").paste(str(outside))
            hasp.wait("images/clipboard-").key("enter").wait("Red.")
        assert images(server) == [png()]
    assert kept(world)[0].suffix == ".png" and outside.read_bytes() == png()


def test_other_files_from_outside_are_refused_by_name(world):
    outside = world.top / "secret.txt"
    outside.write_text("hidden\n")
    with world.fake([[text("No.")]]) as server:
        with world.hasp(server, env=NOWHERE, columns=200) as hasp:
            hasp.wait("sandbox:").paste(str(outside)).wait("@%s" % outside).key("enter").wait("No.")
            assert "secret.txt: " in hasp.dump().text
    assert "hidden" not in str(sent(server)) and kept(world) == []


def test_of_the_projects_temporary_folder_only_images_are_read(world, display):
    display.put(png(), "image/png")
    with world.fake([[text("No.")]]) as server:
        with world.hasp(server, env=on(display), columns=250) as hasp:
            hasp.wait("sandbox:").key("ctrl+v").wait("images/clipboard-").key("ctrl+c")
            secret = kept(world)[0].parent.parent / "secret.txt"
            secret.write_text("hidden\n")
            hasp.type("see @%s/images/../secret.txt and @%s " % (secret.parent, secret)).key("enter").wait("No.")
    assert "hidden" not in str(sent(server))
