# SPDX-License-Identifier: Apache-2.0
"""The whole program in a tree whose names are no text: as files, folders, working folder and home."""
import hashlib
import json
import os
import re
import subprocess

import pytest
from conftest import HASP, World
from fake_gemini import call, text
from part import part_step

pytestmark = pytest.mark.rows_in_turn(3)

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
                          input=stdin, capture_output=True, timeout=300,
                          **({} if stdin is not None else {"stdin": subprocess.DEVNULL}))
    assert done.returncode == code, done
    return well_formed(done)


def tool(world, name, **arguments):
    done = hasp(world, "tool", name, "-", stdin=json.dumps(arguments).encode())
    return json.loads(done.stdout)


def place(name):
    """The working folder's or home's place for a name that can be one."""
    return pytest.param(name, id=name.decode("latin-1").encode("unicode_escape").decode()[:30])


# Of so many one, unless HASP_TESTS=all.
PART = part_step(4)
PLACES = [place(name) for name in NAMES if len(name) < 64][::PART]


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


# ---- the round trip -------------------------------------------------------------------------------

def test_each_name_that_is_shown_names_its_file(hostile):
    listed = tool(hostile, "list_directory", path=SHOWN)
    shown = {entry["name"] for entry in listed["entries"]}
    assert shown == set(NAMES.values())
    for name, text in NAMES.items():
        read = tool(hostile, "read_file", file_path=SHOWN + "/" + text)
        assert read["content"].encode() == content_of(name)
        assert read["file_path"].endswith(SHOWN + "/" + text)
        below = tool(hostile, "list_directory", path="folders/" + text)
        assert [entry["name"] for entry in below["entries"]] == ["inside.txt"]


def test_found_names_can_be_edited(hostile):
    found = tool(hostile, "glob", pattern=["**/*"])
    assert len(found["files"]) == 3 * len(NAMES)
    hits = tool(hostile, "search_files", pattern="needle", path=SHOWN)
    assert hits["matches"] == len(NAMES)
    assert {hit["file_path"].rpartition(SHOWN + "/")[2] for hit in hits["files"]} == set(NAMES.values())
    many = tool(hostile, "read_many_files", paths=[SHOWN + "/" + text for text in NAMES.values()])
    assert len(many) == len(NAMES) and all(one.get("content") for one in many)
    for name, text in NAMES.items():
        place = SHOWN + "/" + text
        sum_ = hashlib.sha256(content_of(name)).hexdigest()
        done = tool(hostile, "update_file", file_path=place, old_content="needle",
                    new_content="pin", base_content_sha256=sum_)
        assert done["success"], done
        path = os.fsencode(hostile.root) + b"/" + FOLDER + b"/" + name
        with open(path, "rb") as file:
            assert file.read() == content_of(name).replace(b"needle", b"pin")
        done = tool(hostile, "write_file", file_path="new/" + text, content="x")
        assert done["success"] and os.path.exists(os.fsencode(hostile.root) + b"/new/" + name)


def test_apply_changes_moves_such_files(hostile):
    changes = [{"kind": "move", "file_path": SHOWN + "/" + text, "new_path": "moved/" + text,
                "base_content_sha256": hashlib.sha256(content_of(name)).hexdigest()}
               for name, text in NAMES.items()]
    done = tool(hostile, "apply_changes", changes=changes)
    assert done["success"], done
    assert set(os.listdir(os.fsencode(hostile.root) + b"/moved")) == set(NAMES)


def test_a_rule_on_such_a_path_holds(hostile):
    """As the model spells it, and as the name is shown; by another spelling too."""
    folder = hostile.home / ".gemini/policies"
    folder.mkdir()
    (folder / "p.toml").write_text("[[rule]]\ntoolName = \"*\"\nargsPattern = 'caf.{0,2}xe9'\n"
                                   "decision = \"deny\"\npriority = 900\n")
    os.symlink(b"caf\xe9.txt", os.fsencode(hostile.root) + b"/link")
    for path in ("caf\\xe9.txt", "caf\\xE9.txt", "./caf\\xe9.txt", "link", SHOWN + "/caf\\xe9.txt"):
        done = hostile.run([[call("read_file", {"file_path": path})], [text("Done.")]], "-p", "x")
        assert hashlib.sha256(b"caf\xe9.txt").hexdigest() not in done.said(), path
        assert "polic" in done.said().lower(), path


# ---- checkpoints and hooks ------------------------------------------------------------------------

KEPT = [b"caf\xe9.txt", b"one\ntwo", b"own\\xe9", b'say "hi"', b"esc\x1b[31mred\x07", b"plain",
        FOLDER + b"/caf\xe9.txt"]


def shown_as(name):
    """As a model writes it."""
    return NAMES.get(name) or name.replace(FOLDER, SHOWN.encode("latin-1")).decode(
        "latin-1").replace("\xe9", "\\xe9")


def bytes_of(shown):
    """The rule that docs/hooks.md gives to hooks."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda escape: bytes([int(escape[1], 16)]), shown.encode())


def edits(world):
    """Calls that give each of KEPT another content and then make a new file; what there was is returned."""
    before = {}
    for i, name in enumerate(KEPT):
        path = os.fsencode(world.root) + b"/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        before[name] = b"before %d\xe9\r\n" % i if i % 2 else b"before %d\n" % i
        with open(path, "wb") as file:
            file.write(before[name])
    return before, [call("write_file", {
        "file_path": shown_as(name), "content": "after\n",
        "base_content_sha256": hashlib.sha256(before[name]).hexdigest()}) for name in KEPT]


def contents(world):
    found = {}
    for name in KEPT:
        with open(os.fsencode(world.root) + b"/" + name, "rb") as file:
            found[name] = file.read()
    return found


def test_checkpoints_bring_back_names_and_contents(world):
    world.settings(general={"checkpointing": {"enabled": True}})
    before, calls = edits(world)
    new = call("write_file", {"file_path": "new\\xff", "content": "x\n"})
    done = world.run([[step] for step in [*calls, new]] + [[text("Done.")]], "-p", "x", "--yolo")
    assert (done.code, done.err) == (0, "")
    after = contents(world)
    assert {content.strip() for content in after.values()} == {b"after"}  # line ends are kept
    names = set(os.listdir(os.fsencode(world.root)))
    listed = json.loads(hasp(world, "checkpoint", "list").stdout)
    assert [bytes_of(note["files"][0]["path"]) for note in listed] == [
        os.fsencode(world.root) + b"/" + name for name in [*KEPT, b"new\xff"]]
    back = json.loads(hasp(world, "checkpoint", "restore", listed[0]["id"], "--json").stdout)
    assert back["success"] is True and contents(world) == before
    assert set(os.listdir(os.fsencode(world.root))) == names - {b"new\xff"}
    assert {bytes_of(file["path"]) for file in back["files"]} == {
        os.fsencode(world.root) + b"/" + name for name in [*KEPT, b"new\xff"]}
    hasp(world, "checkpoint", "restore", back["undo"], "--json")
    assert contents(world) == after and set(os.listdir(os.fsencode(world.root))) == names


@pytest.mark.parametrize("where", [b"caf\xe9", b"own\\xe9", b'one\n"two"\x1b'])
def test_a_hook_finds_the_files_that_it_is_told_of(tmp_path, where):
    """Its input is JSON in UTF-8; the names in it, read by the rule of the document, are those on the disk."""
    top = os.fsencode(tmp_path) + b"/" + where
    os.mkdir(top)
    world = World(tmp_path / os.fsdecode(where))
    log = tmp_path / "log"
    hook = [{"hooks": [{"type": "command", "command": "{ cat; echo; } >> '%s'" % log}]}]
    world.settings(hooks={"BeforeTool": hook, "AfterTool": hook})
    before, calls = edits(world)
    reads = [call("read_file", {"file_path": shown_as(name)}) for name in KEPT]
    done = world.run([[step] for step in [*calls, *reads]] + [[text("Done.")]], "-p", "x", "--yolo")
    assert (done.code, done.err) == (0, "")
    told = [json.loads(line) for line in log.read_bytes().decode().split("\n") if line]
    assert len(told) == 4 * len(KEPT)
    root = os.fsencode(world.root)
    for input in told:
        assert bytes_of(input["cwd"]) == root
        assert os.path.exists(bytes_of(input["transcript_path"]))
    for i, name in enumerate(2 * KEPT):
        for input in told[2 * i:2 * i + 2]:
            assert os.path.join(root, bytes_of(input["tool_input"]["file_path"])) == root + b"/" + name
    for i, name in enumerate(KEPT):
        response = told[2 * len(KEPT) + 2 * i + 1]["tool_response"]
        assert "after" in json.dumps(response)


def test_the_mention_and_the_argument_of_such_a_name(hostile):
    done = hostile.run(HELLO, "-p", os.fsdecode(b"x @caf\xe9.txt"))
    assert hashlib.sha256(b"caf\xe9.txt").hexdigest() in done.said(0)
    out = hasp(hostile, "tool", "read_file", "-a", "file_path=caf\\xe9.txt").stdout
    assert json.loads(out)["content"].encode() == content_of(b"caf\xe9.txt")
    out = hasp(hostile, "tool", "read_file", "-a", "file_path=a\\xff.txt", code=1).stdout
    assert json.loads(out)["error"]["code"] == "file_not_found"
