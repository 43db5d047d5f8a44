# SPDX-License-Identifier: Apache-2.0
"""Which of the files that editors write are believed, and which are refused, with a reason."""
import json
import os
import subprocess
import sys

import pytest

from conftest import TOKEN


def status(world, *shown, env=None, **fake):
    with world.fake([]) as server, world.hasp(server, env=env, **fake) as hasp:
        hasp.wait("sandbox:").type("/ide status").key("enter").wait("onnected").quiet(0.1)
        said = " ".join(" ".join(hasp.dump().window).split())  # long paths are wrapped
    assert [text for text in shown if text not in said] == [], said
    return said


def test_without_an_editor_nothing_is_looked_for(world):
    """Neither a variable nor the terminal's program says that there is one: the files are not read at the start."""
    world.port_file(1)
    shown = status(world, "Not connected to an editor.", "gemini-ide-server", env={"TERM_PROGRAM": None})
    assert "appears to belong" not in shown and "Cannot connect" not in shown


def test_a_run_without_a_terminal_uses_no_editor(world):
    with world.companion() as editor, world.fake([]) as server:
        done = world.command("-p", "/ide status", server=server)
        assert done.code != 0 and "only when it runs in the editor's terminal" in done.err
        assert editor.lines.empty()


def test_one_that_is_not_enabled_is_not_connected_to(world):
    world.settings(ide={"enabled": False})
    with world.companion() as editor:
        shown = status(world, "Not connected to an editor.", "appears to belong to VS Code", "can be used")
        assert "Cannot connect" not in shown and editor.lines.empty()


def ended():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def edit(change):
    def write(world):
        path = world.port_file(7)
        said = json.loads(path.read_text())
        change(said)
        path.write_text(json.dumps(said))
    return write


def link(world):
    path = world.port_file(7)
    path.rename(world.top / "real")
    path.symlink_to(world.top / "real")


def hard_link(world):
    os.link(world.port_file(7), world.top / "other")


def stranger(world):
    os.chown(world.port_file(7), 12345, -1)


def folder_of_stranger(world):
    os.chown(world.port_file(7).parent, 12345, -1)


def open_folder(world):
    world.port_file(7).parent.chmod(0o777)


def not_json(world):
    world.port_file(7).write_text("port=7")


def large(world):
    world.port_file(7, ideInfo={"displayName": "x" * 100000})


REFUSED = [
    (lambda world: world.port_file(7, mode=0o622), "can be written by other users"),
    (open_folder, "can be written by other users"), (stranger, "belongs to another user"),
    (folder_of_stranger, "belongs to another user"), (link, "is a symbolic link"),
    (hard_link, "not a regular file with one name"), (not_json, "not a JSON object"), (large, "has more than"),
    (lambda world: world.port_file(7, pid=1), "names no process"),
    (lambda world: world.port_file(7, pid=ended()), "has ended"),
    (edit(lambda said: said.update(port=8)), "which port"), (edit(lambda said: said.pop("authToken")), "no usable token"),
    (edit(lambda said: said.update(authToken="a\r\nX: y")), "no usable token"),
    (edit(lambda said: said.update(workspacePath="/usr:/nowhere")), "another folder open"),
    (edit(lambda said: said.update(workspacePath="")), "another folder open"),
    (lambda world: world.port_file(70000), "which port"), (lambda world: world.lock_file(0), "which port"),
    (lambda world: world.lock_file(7, transport="tcp"), 'transport is not "ws"'),
    (lambda world: world.lock_file(7, workspaceFolders="/"), "another folder open"),
    (lambda world: world.lock_file(7, pid="7"), "names no process"),
]


@pytest.mark.parametrize("write,why", REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_cannot_be_believed_is_refused_with_the_reason(world, write, why):
    write(world)
    status(world, "Not connected", why)


def test_a_process_that_is_no_ancestor_counts_only_if_the_user_names_it(world):
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            with world.companion(pid=other.pid):
                status(world, "does not belong to its process %d" % other.pid)
                status(world, "Connected to VS Code", env={"GEMINI_CLI_IDE_PID": str(other.pid)})
        finally:
            other.kill()


def test_of_several_windows_the_terminals_own_is_used(world):
    with world.companion(ideInfo={"displayName": "One"}) as one, world.companion(ideInfo={"displayName": "Two"}) as two:
        status(world, "Connected to One", env={"GEMINI_CLI_IDE_SERVER_PORT": str(one.port)})
        status(world, "Connected to Two", env={"GEMINI_CLI_IDE_SERVER_PORT": str(two.port)})


def test_a_companion_without_a_file_is_found_by_the_variables_of_its_terminal(world):
    with world.companion() as editor:
        (world.temp / "gemini").rename(world.temp / "elsewhere")
        named = {"GEMINI_CLI_IDE_SERVER_PORT": str(editor.port), "GEMINI_CLI_IDE_AUTH_TOKEN": TOKEN}
        status(world, "Connected to VS Code", "GEMINI_CLI_IDE_SERVER_PORT VS Code: can be used",
               env={**named, "GEMINI_CLI_IDE_WORKSPACE_PATH": "/nowhere:%s" % world.root})
        status(world, "The editor has another folder open.",
               env={**named, "GEMINI_CLI_IDE_WORKSPACE_PATH": "/nowhere"})


def test_a_name_is_shown_as_one_line_of_text(world):
    with world.companion(ideInfo={"displayName": "Ev\u202eil\u001b[31m\nX"}):
        shown = status(world, "Connected to Ev")
        assert "\\x1b[31m" in shown and "\u202e" not in shown


NUDGE = "This terminal appears to belong to"


def nudges(world, env=None, wait="sandbox:"):
    """How often the hint is on the screen of a new hasp."""
    with world.fake([]) as server, world.hasp(server, env=env) as hasp:
        hasp.wait(wait).quiet(0.2)
        return " ".join(" ".join(hasp.dump().window).split())


def test_an_editor_that_is_not_enabled_is_mentioned_once(world):
    world.settings(ide={"enabled": False})
    with world.companion():
        first = nudges(world, wait=NUDGE)
        assert first.count(NUDGE + " VS Code. /ide enable shows edits there") == 1, first
        assert json.loads((world.home / ".gemini" / "settings.json").read_text())["ide"]["hasSeenNudge"] is True
        assert NUDGE not in nudges(world)


def test_an_editor_without_its_companion_is_mentioned_with_what_it_needs(world):
    world.settings(ide={"enabled": False})
    assert NUDGE + " Neovim. /ide install lists" in nudges(world, {"TERM_PROGRAM": None, "NVIM": "/tmp/x"}, NUDGE)


def test_it_is_not_mentioned_where_it_is_enabled_or_there_is_none(world):
    assert NUDGE not in nudges(world)
    world.settings(ide={"enabled": False})
    assert NUDGE not in nudges(world, {"TERM_PROGRAM": None})
    assert "hasSeenNudge" not in (world.home / ".gemini" / "settings.json").read_text()
