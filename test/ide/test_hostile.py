# SPDX-License-Identifier: Apache-2.0
"""Editors that flood, hang, or send what no editor does: hasp stays usable, and nothing is decided."""
import contextlib
import socket

from fake_gemini import call, text

from test_companion import connect, until, write
from test_companion import shown as file


def test_one_that_accepts_and_says_nothing_does_not_keep_the_session_waiting(world):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        world.lock_file(silent.getsockname()[1])
        with world.fake([[text("One.")]]) as server, world.hasp(server) as hasp:
            hasp.type("go").key("enter").wait("One.")
            hasp.quiet(0.1).type("/ide status").key("enter").wait("Cannot connect to Neovim")


def test_one_that_hangs_later_is_left_alone(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            editor.order(hang=True)
            hasp.type("go").key("enter").wait("Apply this change?").quiet(0.1).type("1").wait("Done.")
    assert world.read("a.txt") == "one\n"


def test_a_flood_of_what_is_open_is_bounded(world):
    files = [file("/w/%d" % i, 1, "x" * 1000, timestamp=i) for i in range(100)]
    with world.neovim() as editor, world.fake([[text("One.")]]) as server, world.hasp(server) as hasp:
        editor.next("connected")
        for i in range(2000):
            editor.send("ide/contextUpdate", workspaceState={"openFiles": files})
            editor.send("at_mentioned", filePath="/w/%d" % i, lineStart=1, lineEnd=1)
        editor.send("selection_changed", text="last", filePath="/w/last.c")
        until(hasp, "It shows /w/last.c")
        hasp.type("go").key("enter").wait("One.")
    said = str(server.requests[0].body["contents"][-1])
    assert "last.c" in said and said.count(", line 2") == 20


WRONG = [
    ("ide/contextUpdate", {}), ("ide/contextUpdate", {"workspaceState": 7}),
    ("ide/contextUpdate", {"workspaceState": {"openFiles": {"a": 1}}}),
    ("ide/contextUpdate", {"workspaceState": {"openFiles": [None, 1, {"path": 5}, {"path": "relative"}, {"path": ""}]}}),
    ("ide/contextUpdate", {"workspaceState": {"openFiles": [
        {"path": "/" + "x" * 100000, "timestamp": -1e308, "isActive": True, "cursor": {"line": 1e300}}]}}),
    ("selection_changed", {"filePath": 1}), ("selection_changed", {"filePath": "/a", "selection": [], "text": {}}),
    ("at_mentioned", {"lineStart": 1}), ("at_mentioned", {"filePath": "/a\n/b\u202e", "lineStart": -5, "lineEnd": "x"}),
    ("ide/diffAccepted", {}), ("ide/diffAccepted", {"filePath": []}), ("ide/diffRejected", {"filePath": None}),
    ("no/such", {"x": 1}), ("notifications/cancelled", {"requestId": {}}),
]


def test_what_no_editor_sends_is_left_out(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            for method, params in WRONG:
                editor.send(method, **params)
            editor.send("ide/contextUpdate", workspaceState={"openFiles": [file("/w/good.c", 1)]})
            until(hasp, "It shows /w/good.c")
            hasp.quiet(0.1).type("go").key("enter").wait("Apply this change?")
            given = editor.next("tool", "openDiff")["arguments"]
            for content in (None, 7, {"a": 1}):
                editor.send("ide/diffAccepted", filePath=given["filePath"], content=content)
            editor.send("ide/diffAccepted", filePath=given["filePath"] + "x", content="no\n")
            editor.send("ide/diffAccepted", filePath=given["filePath"], content="yes\n")
            hasp.wait("Done.")
    assert world.read("a.txt") == "yes\n"
    assert "good.c" in str(server.requests[0].body["contents"][-1])


def test_requests_of_an_editor_are_answered_and_decide_nothing(world):
    """It is a server: it may ask, and gets that there is no such method."""
    with world.companion() as editor, world.fake([[call("list_directory", {"dir_path": "."})], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            editor.order(send={"id": "x1", "method": "sampling/createMessage", "params": {"messages": []}})
            editor.order(send={"id": "x2", "method": "elicitation/create", "params": {"message": "password?"}})
            hasp.type("go").key("enter").wait("Done.")
            assert "password" not in "\n".join(hasp.dump().window)
