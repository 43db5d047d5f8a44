# SPDX-License-Identifier: Apache-2.0
"""editors/vscode, in a VS Code that is played, with hasp in its terminal: what is open, and a diff until the bytes are
on the disk."""
import os
import sys

import pytest

from fake_gemini import call, text

from conftest import TOP
from test_companion import prompt_of, until, write

sys.path[:0] = [str(TOP / "script" / "lib")]

import vsix  # noqa: E402


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vsix")
    vsix.build(folder)
    return folder / "vscode/dist/extension.js"


@pytest.fixture
def vscode(world, extension):
    with world.played(extension, "hasp.accept", "hasp.reject") as editor:
        yield editor


def test_it_is_found_and_says_what_is_open(world, vscode):
    with world.fake([[text("One.")]]) as server, world.hasp(server) as hasp:
        vscode.order(show=str(world.root / "a.c"), line=2, character=4, text="chosen")
        until(hasp, "It shows %s, with a selection" % (world.root / "a.c"))
        hasp.type("first").key("enter").wait("One.")
    assert "Active file: %s, cursor in line 3, column 5\nSelected text:\nchosen" % (world.root / "a.c") in prompt_of(
        server.requests[0])


def test_its_port_file_ends_with_it(world, vscode):
    names = os.listdir(world.temp / "gemini/ide")
    assert names == ["gemini-ide-server-%d-%d.json" % (os.getpid(), vscode.port)]


@pytest.mark.parametrize("content", [None, "mine\n"], ids=["as it is", "changed"])
def test_a_diff_that_is_taken_there_is_written(world, vscode, content):
    with world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server, world.hasp(server) as hasp:
        hasp.type("go").key("enter").wait("Apply this change?")
        assert vscode.next("diff") == {"diff": str(world.root / "a.txt"), "content": "one\n"}
        vscode.order(take=str(world.root / "a.txt"), **({"content": content} if content else {}))
        hasp.wait("Answered by editor").wait("Done.")
        vscode.next("closed")
    assert world.read("a.txt") == (content or "one\n")


@pytest.mark.parametrize("order", [{"reject": True}, {"close": True}], ids=["rejected", "its tab is closed"])
def test_a_diff_that_is_not_taken_is_not_written(world, vscode, order):
    path = str(world.root / "a.txt")
    with world.fake([[write("a.txt", "one\n")], [text("Never.")]]) as server, world.hasp(server) as hasp:
        hasp.type("go").key("enter").wait("Apply this change?")
        vscode.next("diff")
        vscode.order(**({"reject": path} if "reject" in order else order))
        hasp.wait("Answered by editor: cancel")
    assert not os.path.exists(path)


def test_an_answer_in_the_terminal_closes_the_diff_there(world, vscode):
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("update_file", {"file_path": "a.txt", "old_text": "old", "new_text": "new"})], [text("Done.")]]
    world.write("a.txt", "old\r\nlines\r\n")
    with world.fake(script) as server, world.hasp(server) as hasp:
        hasp.type("go").key("enter").wait("Apply this change?")
        assert vscode.next("diff")["content"].replace("\r", "") == "new\nlines\n"
        hasp.quiet(0.1).type("1").wait("Done.")
        assert vscode.next("closed") == {"closed": str(world.root / "a.txt")}
    assert (world.root / "a.txt").read_bytes() == b"new\r\nlines\r\n"
