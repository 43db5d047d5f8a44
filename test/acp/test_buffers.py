# SPDX-License-Identifier: Apache-2.0
"""Unsaved changes in the editor: read with their hash, edited in the editor, compared before each write."""
import hashlib
import json

import pytest

from editor import Editor
from fake_gemini import call, text

FS = {"fs": {"readTextFile": True, "writeTextFile": True}}


class Buffers:
    """The editor's open files; `saves`: what is written to them goes to the disk, too."""

    def __init__(self, editor, saves=True, **texts):
        self.editor, self.saves, self.open, self.asked, self.written = editor, saves, dict(texts), [], []
        editor.on("fs/read_text_file", self.read).on("fs/write_text_file", self.write)

    def name(self, params):
        path = params["path"]
        assert path.startswith("/")
        return path.rsplit("/", 1)[1]

    def read(self, params):
        self.asked.append(params["path"])
        if self.name(params) in self.open:
            return {"result": {"content": self.open[self.name(params)]}}
        return {"error": {"code": -32002, "message": "not open"}}

    def write(self, params):
        self.written.append(params["path"])
        self.open[self.name(params)] = params["content"]
        if self.saves:
            with open(params["path"], "w", newline="") as file:
                file.write(params["content"])
        return {"result": {}}


def sha(content):
    return hashlib.sha256(content.encode()).hexdigest()


def start(world, server, *arguments, capabilities=FS, raw=False, **texts):
    editor = Editor(world, server, *(arguments or ("--yolo",)), capabilities=capabilities, raw=raw)
    editor.buffers = Buffers(editor, **{name.replace("_", "."): value for name, value in texts.items()})
    return editor


def results(server, i):
    """What the request `i` says of calls, whatever their names."""
    return json.dumps(server.requests[i].body["contents"][-1])


def test_a_read_has_what_the_editor_has_and_its_hash(world):
    world.write("a.txt", "saved\n")
    world.write("b.txt", "same\n")
    script = [[call("read_file", {"file_path": "a.txt"}), call("read_file", {"file_path": "b.txt"})], [text("Done.")]]
    with world.fake(script) as server, start(world, server, a_txt="unsaved\n", b_txt="same\n") as editor:
        editor.new().prompt("go")
        said = results(server, 1)
        assert "unsaved" in said and sha("unsaved\n") in said and sha("saved\n") not in said
        assert sha("same\n") in said and str(world.root / "a.txt") in editor.buffers.asked


def test_files_that_the_editor_has_not_open_are_the_disks(world):
    world.write("a.txt", "one\n")
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "one", "new_content": "two"})], [text("Done.")]]
    with world.fake(script) as server, start(world, server) as editor:
        editor.new().prompt("go")
        assert not editor.buffers.written
    assert world.read("a.txt") == "two\n"


def test_an_edit_of_an_unsaved_file_goes_to_the_editor(world):
    world.write("a.txt", "one\ntwo\n")
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("update_file", {"file_path": "a.txt", "old_content": "2", "new_content": "3"})], [text("Done.")]]
    with world.fake(script) as server, start(world, server, a_txt="one\n2\n") as editor:
        session = editor.new()
        session.prompt("go")
        assert editor.buffers.written == [str(world.root / "a.txt")]
        assert editor.buffers.open["a.txt"] == "one\n3\n" == world.read("a.txt")
        assert sha("one\n3\n") in results(server, 2)
        edit = session.call(session.updates("tool_call")[1]["toolCallId"])
        assert edit["status"] == "completed" and edit["content"][0]["path"] == str(world.root / "a.txt")


def test_an_editor_that_keeps_the_edit_unsaved_is_believed_until_it_saves(world):
    world.write("a.txt", "saved\n")
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "unsaved", "new_content": "edited"})],
              [call("update_file", {"file_path": "a.txt", "old_content": "edited", "new_content": "again"})],
              [text("Done.")]]
    with world.fake(script) as server, start(world, server, a_txt="unsaved\n") as editor:
        editor.buffers.saves = False
        editor.new().prompt("go")
        assert editor.buffers.open["a.txt"] == "again\n" and len(editor.buffers.written) == 2
    assert world.read("a.txt") == "saved\n"


def test_what_the_user_typed_meanwhile_is_a_mismatch_with_the_new_state_and_then_rebased(world):
    """The whole story: a diff is shown, the buffer changes, the yes is refused, the model makes the edit anew."""
    world.write("a.txt", "one\ntwo\nthree\n")
    edit = {"file_path": "a.txt", "old_content": "three", "new_content": "3"}
    script = [[call("read_file", {"file_path": "a.txt"})],
              [call("update_file", {**edit, "base_content_sha256": sha("one\ntwo\nthree\n")})],
              [call("update_file", {**edit, "base_content_sha256": sha("ONE\ntwo\nthree\n")})], [text("Done.")]]
    with world.fake(script) as server, start(world, server, "--approval-mode", "default",
                                             a_txt="one\ntwo\nthree\n") as editor:
        session = editor.new()
        shown = []

        def asked(params):
            diff = [part for part in params["toolCall"]["content"] if part["type"] == "diff"][0]
            shown.append((diff["oldText"], diff["newText"]))
            if len(shown) == 1:
                editor.buffers.open["a.txt"] = "ONE\ntwo\nthree\n"
            return editor.chosen("proceed_once")

        editor.on("session/request_permission", asked)
        assert session.prompt("go")["stopReason"] == "end_turn"
        assert shown[0] == ("one\ntwo\nthree\n", "one\ntwo\n3\n")
        assert shown[-1] == ("ONE\ntwo\nthree\n", "ONE\ntwo\n3\n")
        assert editor.buffers.open["a.txt"] == "ONE\ntwo\n3\n" == world.read("a.txt")
        assert sha("ONE\ntwo\nthree\n") in json.dumps(server.requests[-1].body)


def test_line_endings_and_a_mark_that_an_editor_drops_are_no_change(world):
    (world.root / "a.txt").write_bytes("\ufeffone\r\ntwo\r\n".encode())
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "two", "new_content": "2"})], [text("Done.")]]
    with world.fake(script) as server, start(world, server, a_txt="one\ntwo\n") as editor:
        editor.new().prompt("go")
        assert not editor.buffers.written
    assert (world.root / "a.txt").read_bytes() == "\ufeffone\r\n2\r\n".encode()


def test_a_file_changed_in_both_places_is_read_and_not_edited(world):
    world.write("a.txt", "one\n")
    edit = call("update_file", {"file_path": "a.txt", "old_content": "unsaved", "new_content": "edited"})
    script = [[call("read_file", {"file_path": "a.txt"})], [edit], [text("Done.")]]
    with world.fake(script) as server, start(world, server, a_txt="unsaved\n") as editor:
        session = editor.new()
        reads = []

        def read(params):
            reads.append(1)
            if len(reads) == 2:
                world.write("a.txt", "from elsewhere\n")
            return editor.buffers.read(params)

        editor.on("fs/read_text_file", read)
        session.prompt("go")
        assert "changed on disk, too" in results(server, 2)
        assert session.said("agent_thought_chunk").count("was changed on disk, too") == 1
        assert not editor.buffers.written
    assert world.read("a.txt") == "from elsewhere\n"


@pytest.mark.parametrize("change,what", [
    ([{"kind": "update", "file_path": "a.txt", "old_content": "un", "new_content": "in"},
      {"kind": "create", "file_path": "b.txt", "content": "new\n"}], "together"),
    ([{"kind": "delete", "file_path": "a.txt", "base_content_sha256": sha("unsaved\n")}], "moved or deleted"),
])
def test_what_an_editor_cannot_do_is_refused_in_words(world, change, what):
    world.write("a.txt", "saved\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [call("apply_changes", {"changes": change})],
                     [text("Done.")]]) as server:
        with start(world, server, a_txt="unsaved\n") as editor:
            editor.new().prompt("go")
            assert what in results(server, 2)
            assert not editor.buffers.written
    assert world.read("a.txt") == "saved\n" and not (world.root / "b.txt").exists()


@pytest.mark.parametrize("code,said", [(-32001, "Permission denied"), (-32603, "Internal error"), (-32000, "x" * 5000)])
@pytest.mark.parametrize("wanted", [
    call("read_file", {"file_path": "a.txt"}),
    call("update_file", {"file_path": "a.txt", "old_content": "saved", "new_content": "x"}),
    call("apply_changes", {"changes": [
        {"kind": "create", "file_path": "b.txt", "content": "new\n"},
        {"kind": "delete", "file_path": "a.txt", "base_content_sha256": sha("saved\n")}]}),
], ids=["read", "edit", "delete"])
def test_an_editor_that_refuses_a_file_is_obeyed(world, wanted, code, said):
    world.write("a.txt", "saved\n")
    with world.fake([[wanted], [text("No.")]]) as server, start(world, server) as editor:
        editor.on("fs/read_text_file", lambda params: {"error": {"code": code, "message": said}})
        session = editor.new()
        session.prompt("go")
        answer = results(server, 1)
        assert "refused to give" in answer and said[:200] in answer and len(answer) < 4000
        assert "permission_denied" in answer and "saved" not in answer
        assert session.call(session.updates("tool_call")[0]["toolCallId"])["status"] == "failed"
    assert world.read("a.txt") == "saved\n" and not (world.root / "b.txt").exists()


def test_an_editor_that_reads_no_files_after_all_leaves_them_to_the_disk(world):
    world.write("a.txt", "saved\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [text("Yes.")]]) as server, start(world, server) as editor:
        editor.on("fs/read_text_file", lambda params: {"error": {"code": -32601, "message": "no such method"}})
        editor.new().prompt("go")
        assert "saved" in results(server, 1)


def test_an_editor_that_takes_no_edits_keeps_its_text(world):
    world.write("a.txt", "saved\n")
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "unsaved", "new_content": "x"})], [text("No.")]]
    with world.fake(script) as server:
        with start(world, server, capabilities={"fs": {"readTextFile": True}}, a_txt="unsaved\n") as editor:
            editor.new().prompt("go")
            assert "takes no edits" in results(server, 1)
    assert world.read("a.txt") == "saved\n"


def test_an_editor_that_changes_what_is_written_is_found_out(world):
    world.write("a.txt", "saved\n")
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "unsaved", "new_content": "x"})], [text("No.")]]
    with world.fake(script) as server, start(world, server, a_txt="unsaved\n") as editor:
        def write(params):
            editor.buffers.open["a.txt"] = "formatted\n"
            return {"result": {}}

        editor.on("fs/write_text_file", write)
        session = editor.new()
        session.prompt("go")
        assert "has another text" in results(server, 1)
        assert session.call(session.updates("tool_call")[0]["toolCallId"])["status"] == "failed"


def test_an_editor_that_does_not_answer_can_be_cancelled(world):
    world.write("a.txt", "saved\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})]]) as server:
        with start(world, server) as editor:
            editor.on("fs/read_text_file", lambda params: None)
            session = editor.new()
            prompt = session.begin("go")
            editor.wait("fs/read_text_file")
            session.cancel()
            assert editor.result(prompt)["stopReason"] == "cancelled"


def test_an_editor_that_goes_in_the_middle_of_an_edit_tears_nothing(world):
    world.write("a.txt", "saved\n")
    script = [[call("update_file", {"file_path": "a.txt", "old_content": "unsaved", "new_content": "x"})]]
    with world.fake(script) as server, start(world, server, raw=True, a_txt="unsaved\n") as editor:
        editor.on("fs/write_text_file", lambda params: None)
        prompt = editor.new().begin("go")
        editor.wait("fs/write_text_file")
        assert editor.end() == 0
        assert editor.answers[prompt]["result"]["stopReason"] == "cancelled"
    assert world.read("a.txt") == "saved\n"
    assert not list((world.home / ".gemini").glob("hasp-buffers-*"))


def test_without_the_capability_the_editor_is_not_asked(world):
    world.write("a.txt", "saved\n")
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [text("Done.")]]) as server:
        with start(world, server, capabilities={}, a_txt="unsaved\n") as editor:
            editor.new().prompt("go")
            assert not editor.buffers.asked and sha("saved\n") in results(server, 1)
