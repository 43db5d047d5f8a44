# SPDX-License-Identifier: Apache-2.0
"""A workspace, and for every tool that hasp offers a call that succeeds in it.

    folder = workspace(tmp_path)
    for call in calls(folder): ...         # call.name, call.arguments, call.check(result, folder)
"""

import base64
import hashlib
from pathlib import Path
from typing import Callable, NamedTuple

NOTE = "alpha\nbeta\ngamma\n"
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSu"
         "QmCC")
PORTS = '{"ports": [80, 443]}\n'
BOOK = ('{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["one"]}],'
        ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n')
MAIN = "int main(void)\n{\n\treturn 0;\n}\n"


class Call(NamedTuple):
    name: str
    arguments: dict
    check: Callable  # (structuredContent, folder) -> None; asserts
    alone: bool = True  # it needs no other call of the same session before it


def workspace(folder):
    folder = Path(folder) / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "note.txt").write_text(NOTE)
    (folder / "list.txt").write_text("one\ntwo\nthree\n")
    (folder / "ports.json").write_text(PORTS)
    (folder / "book.ipynb").write_text(BOOK)
    (folder / "src" / "main.c").write_text(MAIN)
    (folder / "dot.png").write_bytes(base64.b64decode(PIXEL))
    return folder


def digest(text):
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def diff(name, before, after, old, new):
    return "--- a/%s\n+++ b/%s\n@@ -1,3 +1,3 @@\n %s\n-%s\n+%s\n %s\n" % (
        name, name, before, old, new, after)


def _read(result, _):
    assert result["content"] == NOTE and result["sha256"] == digest(NOTE)
    assert result["version"] >= 1


def _read_many(result, _):
    files = {Path(file["file_path"]).name: file for file in result["files"]}
    assert set(files) == {"main.c", "note.txt"}
    assert files["main.c"]["sha256"] == digest(MAIN)


def _patched(result, folder):
    assert result["success"] is True
    text = (folder / "note.txt").read_text()
    assert text == "alpha\nBETA\ngamma\n"
    assert result["latest_file_state"]["sha256"] == digest(text)


def _updated(result, folder):
    assert result["success"] is True
    assert (folder / "list.txt").read_text() == "one\ntwo\nfour\n"


def _written(result, folder):
    assert result["success"] is True
    assert (folder / "src" / "new.c").read_text() == "new\n"


def _applied(result, folder):
    assert result["success"] is True
    assert (folder / "one.txt").read_text() == "1\n"
    assert (folder / "two.txt").read_text() == "2\n"


def _queried(result, _):
    assert result["results"] == [443] and result["sha256"] == digest(PORTS)


def _data_updated(result, folder):
    assert result["success"] is True
    assert (folder / "ports.json").read_text() == '{"ports": [80, 8443]}\n'


def _cell_replaced(result, folder):
    assert result["success"] is True
    assert "two" in (folder / "book.ipynb").read_text()


def _listed(result, _):
    names = [entry["name"] for entry in result["entries"]]
    assert names[0].rstrip("/") == "src" and "note.txt" in names


def _found(result, _):
    (file,) = result["files"]
    assert file["file_path"] == "src/main.c" and file["matches"] == 1
    assert "int main(void)" in str(file["lines"][0])


def _globbed(result, _):
    assert [str(file) for file in result["files"]] == ["src/main.c"]


def _ran(result, folder):
    assert result["exit_code"] == 0 and result["output"] == "made\n"
    assert (folder / "made.txt").read_text() == "made\n"


def _started(result, _):
    assert result["state"] == "running"


def _jobs(result, _):
    (job,) = [job for job in result["processes"] if job["state"] == "running"]
    assert job["command"].startswith("read line")


def _done(result, _):
    assert result["success"] is True


def _ended(result, _):
    assert "got words" in result["output"]


CALLS = [
    Call("read_file", {"file_path": "note.txt"}, _read),
    Call("read_many_files", {"paths": ["src/*.c", "note.txt"]}, _read_many),
    Call("safe_patch", {"file_path": "note.txt", "base_content_sha256": digest(NOTE),
                        "unified_diff": diff("note.txt", "alpha", "gamma", "beta", "BETA")},
         _patched),
    Call("update_file", {"file_path": "list.txt", "old_content": "three",
                         "new_content": "four"},
         _updated),
    Call("write_file", {"file_path": "src/new.c", "content": "new\n"}, _written),
    Call("apply_changes", {"changes": [
        {"kind": "create", "file_path": "one.txt", "content": "1\n"},
        {"kind": "create", "file_path": "two.txt", "content": "2\n"}]}, _applied),
    Call("query_data", {"file_path": "ports.json", "query": ".ports[1]"}, _queried),
    Call("update_data", {"file_path": "ports.json", "base_content_sha256": digest(PORTS),
                         "changes": [{"op": "set", "path": ".ports[1]", "value": 8443}]},
         _data_updated),
    Call("update_notebook", {"file_path": "book.ipynb", "base_content_sha256": digest(BOOK),
                             "cells": [{"op": "replace", "cell": "a", "source": "two"}]},
         _cell_replaced),
    Call("list_directory", {"path": "."}, _listed),
    Call("search_files", {"pattern": "INT MAIN"}, _found),
    Call("glob", {"patterns": ["**/*.c", "!new.c"]}, _globbed),
    Call("run_shell_command", {"command": "read line; echo got $line; sleep 1000",
                               "is_background": True, "keep_input": True}, _started),
    Call("list_background_processes", {}, _jobs, False),
    Call("write_background_input", {"pid": 1, "input": "words\n"}, _done, False),
    Call("read_background_output", {"pid": 1, "delay_ms": 300}, _ended, False),
    Call("kill_background_process", {"pid": 1}, _done, False),
    Call("run_shell_command", {"command": "echo made | tee made.txt"}, _ran),
]


def calls(alone=False):
    """In an order in which each finds what it needs; `alone`: those that find it in any session."""
    return [call for call in CALLS if call.alone or not alone]
