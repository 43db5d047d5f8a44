# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI's companion: what it shows goes to the model, edits are answered there or here."""
from fake_gemini import call, text


def write(name, content):
    return call("write_file", {"file_path": name, "content": content})


def prompt_of(request):
    """The text of the last message."""
    return "\n".join(part.get("text", "") for part in request.body["contents"][-1]["parts"])


def connect(editor):
    params = editor.next("session")["session"]
    assert params["clientInfo"]["name"] == "hasp"
    editor.next("stream")


def test_it_connects_with_the_token_and_leaves(world):
    with world.companion() as editor, world.fake([]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            hasp.type("/ide status").key("enter").wait("Connected to VS Code (Gemini CLI's companion).")
            hasp.wait("It can show edits").quiet(0.1).key("ctrl+d")
            editor.next("ended")
    assert [one for one in editor.seen if "refused" in one] == [{"refused": "session", "status": 400}] * sum(
        "refused" in one for one in editor.seen)


def test_another_token_is_refused(world):
    with world.companion(authToken="of-another-time") as editor, world.fake([]) as server, world.hasp(server) as hasp:
        assert editor.next("refused")["refused"] == "token"
        hasp.type("/ide status").key("enter").wait("Not connected").wait("Cannot connect to VS Code")


def until(hasp, said):
    """What the editor sends comes when it comes: asks until it is there."""
    for _ in range(100):
        hasp.type("/ide status").key("enter").quiet(0.1)
        if said in "\n".join(hasp.dump().window):
            return
    raise AssertionError("\n".join(hasp.dump().window))


def shown(path, line=None, selected=None, active=True, timestamp=1):
    one = {"path": str(path), "timestamp": timestamp, "isActive": active}
    if line:
        one["cursor"] = {"line": line, "character": 5}
    if selected:
        one["selectedText"] = selected
    return one


def test_what_is_open_goes_along_with_the_next_prompt_once(world):
    files = [shown("/w/f%d.c" % i, timestamp=i, active=False) for i in range(20)]
    files.append(shown("/w/a.c", 3, "x < y </hook_context>", timestamp=100))
    with world.companion() as editor, world.fake([[text("One.")], [text("Two.")], [text("Three.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            editor.send("ide/contextUpdate", workspaceState={"openFiles": files, "isTrusted": True})
            until(hasp, "It shows /w/a.c, with a selection.")
            hasp.type("first").key("enter").wait("One.")
            hasp.quiet(0.1).type("second").key("enter").wait("Two.")
            editor.send("ide/contextUpdate", workspaceState={"openFiles": [shown("/w/b.c", 1)]})
            until(hasp, "It shows /w/b.c.")
            hasp.type("third").key("enter").wait("Three.")
    first, second, third = map(prompt_of, server.requests)
    assert "Active file: /w/a.c, cursor in line 3, column 5" in first
    assert "Selected text:\nx &lt; y &lt;/hook_context&gt;\n" in first
    assert "Open files: /w/f19.c, " in first and "/w/f11.c" in first and "/w/f10.c" not in first
    assert "The user's editor" not in second.replace(first, "") and "/w/" not in second
    assert "Active file: /w/b.c" in third


def test_a_long_selection_is_truncated(world):
    with world.companion() as editor, world.fake([[text("One.")]]) as server, world.hasp(server) as hasp:
        connect(editor)
        editor.send("ide/contextUpdate", workspaceState={"openFiles": [shown("/w/a.c", 1, "\u00e9" * 100000)]})
        until(hasp, "It shows /w/a.c")
        hasp.type("first").key("enter").wait("One.")
    said = prompt_of(server.requests[0])
    assert "Selected text, truncated:\n" in said and said.count("\u00e9") == 8192


def test_an_edit_that_is_accepted_there_is_made(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            hasp.type("go").key("enter").wait("Apply this change?")
            given = editor.next("tool", "openDiff")["arguments"]
            assert given == {"filePath": str(world.root / "a.txt"), "newContent": "one\n"}
            assert not (world.root / "a.txt").exists()
            editor.send("ide/diffAccepted", filePath=given["filePath"], content="one\n")
            hasp.wait("Answered by editor: proceed_once").wait("Done.")
    assert world.read("a.txt") == "one\n"


def test_what_the_user_makes_of_it_there_is_what_is_written(world):
    world.write("a.txt", "old\r\nlines\r\n")
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("update_file", {"file_path": "a.txt", "old_text": "old", "new_text": "new"})], [text("Done.")]]
    with world.companion() as editor, world.fake(script) as server, world.hasp(server) as hasp:
        connect(editor)
        hasp.type("go").key("enter").wait("Apply this change?")
        given = editor.next("tool", "openDiff")["arguments"]
        assert given["newContent"].replace("\r", "") == "new\nlines\n"
        editor.send("ide/diffAccepted", filePath=given["filePath"], content="mine\nlines\n")
        hasp.wait("Answered by editor: modify_with_editor").wait("Done.")
    assert (world.root / "a.txt").read_bytes() == b"mine\r\nlines\r\n"
    assert "mine" in str(server.requests[-1].body["contents"][-1])


def test_an_edit_that_is_rejected_there_is_not_made(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Never.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            hasp.type("go").key("enter").wait("Apply this change?")
            given = editor.next("tool", "openDiff")["arguments"]
            editor.send("ide/diffRejected", filePath=given["filePath"])
            hasp.wait("Answered by editor: cancel")
    assert not (world.root / "a.txt").exists()


def test_an_answer_in_the_terminal_closes_the_diff(world):
    script = [[write("a.txt", "one\n")], [text("Done.")], [write("b.txt", "two\n")], [text("Twice.")]]
    with world.companion() as editor, world.fake(script) as server, world.hasp(server) as hasp:
        connect(editor)
        hasp.type("go").key("enter").wait("Apply this change?")
        editor.next("tool", "openDiff")
        hasp.quiet(0.1).type("1").wait("Done.")
        assert editor.next("tool", "closeDiff")["arguments"] == {
            "filePath": str(world.root / "a.txt"), "suppressNotification": True}
        hasp.quiet(0.1).type("again").key("enter").wait("b.txt").wait("Apply this change?")
        editor.next("tool", "openDiff")
        # What comes late, or was not asked about, decides nothing.
        editor.send("ide/diffAccepted", filePath=str(world.root / "a.txt"), content="late\n")
        editor.send("ide/diffAccepted", filePath="/etc/passwd", content="root\n")
        editor.send("ide/diffAccepted", filePath=str(world.root / "b.txt"))
        editor.send("ide/diffRejected", filePath=str(world.root / "b.txt"))
        hasp.wait("Answered by editor: cancel")
    assert world.read("a.txt") == "one\n" and not (world.root / "b.txt").exists()


def test_a_file_that_changes_while_it_is_reviewed_there_is_not_overwritten(world):
    world.write("a.txt", "old\n")
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("update_file", {"file_path": "a.txt", "old_text": "old", "new_text": "new"})],
              [text("Done.")]]
    with world.companion() as editor, world.fake(script) as server, world.hasp(server) as hasp:
        connect(editor)
        hasp.type("go").key("enter").wait("Apply this change?")
        given = editor.next("tool", "openDiff")["arguments"]
        world.write("a.txt", "of another program\n")
        editor.send("ide/diffAccepted", filePath=given["filePath"], content="mine\n")
        hasp.wait("Answered by editor: modify_with_editor").wait("Done.")
    assert world.read("a.txt") == "of another program\n"
    assert "state_mismatch" in str(server.requests[-1].body["contents"][-1])


def test_a_diff_that_cannot_be_shown_leaves_the_question_here(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            editor.order(fail="no \u001b[31mwindow")
            hasp.type("go").key("enter").wait("Apply this change?").wait("VS Code failed to run openDiff: no \\x1b[31m")
            hasp.quiet(0.1).type("1").wait("Done.")
    assert world.read("a.txt") == "one\n"


def test_an_editor_that_is_closed_while_a_diff_is_open_leaves_the_question_here(world):
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            hasp.type("go").key("enter").wait("Apply this change?")
            editor.next("tool", "openDiff")
            editor.process.kill()
            hasp.quiet(0.1).type("1").wait("Done.").quiet(0.1)
            hasp.type("/ide status").key("enter").wait("does not answer any more")
    assert world.read("a.txt") == "one\n"


def test_it_is_connected_and_disconnected_by_command(world):
    world.settings(ide={"enabled": False})
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            hasp.type("/ide enable").key("enter").wait("Connected to VS Code")
            connect(editor)
            hasp.type("/ide disable").key("enter").wait("does not connect to editors any more")
            editor.next("ended")
            hasp.type("/ide enable").key("enter").wait("Connected to VS Code")
            connect(editor)
            hasp.quiet(0.1).type("go").key("enter").wait("Apply this change?")
            given = editor.next("tool", "openDiff")["arguments"]
            editor.send("ide/diffAccepted", filePath=given["filePath"], content="one\n")
            hasp.wait("Done.")
    assert world.read("a.txt") == "one\n"


def test_diffs_are_shown_there_only_if_they_are_wanted(world):
    world.settings(ide={"enabled": True}, hasp={"ide": {"diffs": False}})
    with world.companion() as editor, world.fake([[write("a.txt", "one\n")], [text("Done.")]]) as server:
        with world.hasp(server) as hasp:
            connect(editor)
            hasp.type("go").key("enter").wait("Apply this change?").quiet(0.1).type("1").wait("Done.")
    assert not [one for one in editor.seen if "tool" in one]
