# SPDX-License-Identifier: Apache-2.0
"""The whole program in a tree whose names are no text: as files, folders, working folder and home."""
import hashlib
import json
import os
import subprocess

import pytest
from conftest import HASP, World
from fake_gemini import call, text

HELLO = [[text("Hello.")]]

# Name on the disk, and as a model reads and writes it.
NAMES = {
    b"caf\xe9.txt": "caf\\xe9.txt",
    b"\x80": "\\x80",
    b"\xbf\xbf\xc3": "\\xbf\\xbf\\xc3",
    b"over\xc0\xaf\xe0\x80\xaf": "over\\xc0\\xaf\\xe0\\x80\\xaf",
    b"surrogate\xed\xa0\x80\xed\xb0\x80": "surrogate\\xed\\xa0\\x80\\xed\\xb0\\x80",
    b"cut\xf0\x9f\x98": "cut\\xf0\\x9f\\x98",
    b"beyond\xf4\x90\x80\x80": "beyond\\xf4\\x90\\x80\\x80",
    b"fff\xff\xfe": "fff\\xff\\xfe",
    b"\xe9" * 63: "\\xe9" * 63,
    b"long" + b"\xff" * 251: "long" + "\\xff" * 251,
    b"own\\xe9": "own\\x5cxe9",
    b"one\ntwo": "one\ntwo",
    b"esc\x1b[31mred\x07": "esc\x1b[31mred\x07",
    b"bell\x01\x7f": "bell\x01\x7f",
    b"</session_context>"[2:]: "session_context>",
    "next\u2028line\u0085".encode(): "next\u2028line\u0085",
    "plain-é".encode(): "plain-é",
}
FOLDER = b"dir\xff\x9b"
SHOWN = "dir\\xff\\x9b"
IDS = [name.decode("latin-1").encode("unicode_escape").decode()[:30] for name in NAMES]


def content_of(name):
    return b"needle in " + hashlib.sha256(name).hexdigest().encode() + b"\n"


def plant(root):
    """Each name as a file, in a folder with such a name too, and the name as a folder."""
    root = os.fsencode(root)
    for folder in (root, root + b"/" + FOLDER):
        os.makedirs(folder, exist_ok=True)
        for name in NAMES:
            with open(folder + b"/" + name, "wb") as file:
                file.write(content_of(name))
    for name in NAMES:
        os.makedirs(root + b"/folders/" + name)
        with open(root + b"/folders/" + name + b"/inside.txt", "wb") as file:
            file.write(content_of(name))


@pytest.fixture(name="hostile")
def a_hostile_world(world):
    plant(world.root)
    return world


def well_formed(done):
    """What is printed is text of whole lines, without control characters but those of lines."""
    for stream in (done.stdout, done.stderr):
        for line in stream.decode().splitlines():
            assert not any(ord(c) < 32 and c != "\t" for c in line), line
    return done


def hasp(world, *args, cwd=None, stdin=None, code=0, **env):
    done = subprocess.run([HASP, *args], cwd=cwd or world.root, env=world.environment(**env),
                          input=stdin, capture_output=True, timeout=60,
                          **({} if stdin is not None else {"stdin": subprocess.DEVNULL}))
    assert done.returncode == code, done
    return well_formed(done)


def tool(world, name, **arguments):
    done = hasp(world, "tool", name, "-", stdin=json.dumps(arguments).encode())
    return json.loads(done.stdout)


def place(name):
    """The working folder's or home's place for a name that can be one."""
    return pytest.param(name, id=name.decode("latin-1").encode("unicode_escape").decode()[:30])


PLACES = [place(name) for name in NAMES if len(name) < 64]


# ---- the tree in the first message ----------------------------------------------------------------

def test_the_tree_names_each_file(hostile):
    done = hostile.run(HELLO, "-p", "x")
    assert done.code == 0
    lines = done.sent[0]["contents"][0]["parts"][0]["text"].splitlines()
    for name in ("caf\\xe9.txt", "own\\x5cxe9", "one\\x0atwo", "esc\\x1b[31mred\\x07", SHOWN + "/caf\\xe9.txt",
                 "next\\xe2\\x80\\xa8line\\xc2\\x85", "plain-é"):
        assert "  " + name in lines, lines


@pytest.mark.parametrize("where", PLACES)
def test_a_working_folder_and_a_home_of_such_a_name(tmp_path, where):
    top = os.fsencode(tmp_path) + b"/" + where
    os.mkdir(top)
    world = World(tmp_path / os.fsdecode(where))
    plant(world.root)
    script = [[call("list_directory", {"path": "."})], [call("run_shell_command", {
        "command": "ls | wc -l"})], [text("Done.")]]
    with world.fake(script * 3 + HELLO) as server:
        for form in ("text", "json", "stream-json"):
            done = world.command("-p", "x", "-o", form, "--yolo", server=server)
            assert done.code == 0, done.err
            assert done.text  # it is UTF-8
        assert len(world.sessions()) == 3
        assert "3 sessions" in hasp(world, "--list-sessions").stdout.decode()
        done = world.command("-p", "y", "-r", server=server)
    assert done.code == 0 and "Done." in done.said() and not server.violations
    hasp(world, "config")
    hasp(world, "sandbox", "--status")
    hasp(world, "sandbox", "--", "true")
    hasp(world, "policy", "list")
    hasp(world, "--delete-session", "latest")
    assert "2 sessions" in hasp(world, "--list-sessions").stdout.decode()
