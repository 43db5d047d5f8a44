# SPDX-License-Identifier: Apache-2.0
"""Large input costs in proportion to its size: of each kind so much that a step for every pair of members would
take far longer than the seconds of processor time that are given."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HASP, LIMITED, SANITIZED
from fake_gemini import call

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import failed_edits


def hasp(world, *args, stdin=b"", code=0):
    done = subprocess.run([*LIMITED, HASP, *args], env=world.environment(), cwd=world.root, input=stdin,
                          capture_output=True, timeout=600)
    assert done.returncode == code, (done.returncode, done.stderr[-500:])
    return done.stdout


def settings(world, values):
    path = world.home / ".gemini/settings.json"
    path.write_text(json.dumps(values, indent=1))
    assert path.stat().st_size < 4 << 20
    return path


@pytest.mark.parametrize("args", [["config", "--json", "--origin"], ["policy", "list"]], ids=" ".join)
def test_unknown_settings(world, args):
    settings(world, {"k%d" % i: i for i in range(60000)})
    hasp(world, *args)


def test_unknown_settings_in_depth(world):
    settings(world, {"ui": {"k%d" % i: "v" for i in range(30000)},
                     "mcpServers": {"s%d" % i: {"command": "x"} for i in range(10000)}})
    hasp(world, "config")


def test_variables_of_a_project(world):
    lines = ["GEMINI_SYSTEM_MD=%d\nX%d=1" % (i, i) for i in range(15000)]
    (world.root / ".env").write_text("\n".join(lines))
    hasp(world, "config")


def test_rules_of_a_policy(world):
    folder = world.home / ".gemini/policies"
    folder.mkdir()
    (folder / "p.toml").write_text("".join(
        '[[rule]]\ntoolName = "t%d"\ndecision = "deny"\npriority = %d\n' % (i, i % 1000)
        for i in range(2000)))
    hasp(world, "policy", "list")


@pytest.mark.parametrize("where", ["home", "project"])
def test_hooks(world, where):
    """More than there may be, in groups of their own, and many names that are disabled. Few are run: each is a
    process of its own, and what those cost is not the question here."""
    groups = [{"matcher": "mcp_t%d" % i if i % 100 else "list", "hooks": [
        {"type": "command", "name": "n%d" % i, "command": "exit 7"}]} for i in range(3000)]
    world.settings(where, hooks={"BeforeTool": groups})
    if where == "project":
        hasp(world, "hooks", "trust")
    world.settings(hooksConfig={"disabled": ["x%d" % i for i in range(75000)]},
                   **({"hooks": {"BeforeTool": groups}} if where == "home" else {}))
    listed = hasp(world, "hooks", "list")
    assert 900 < listed.count(b"command: exit 7") < 1100
    with world.fake([[call("list_directory", {"dir_path": "."})], [{"text": "Done."}]]) as server:
        refused, done = (subprocess.run([*LIMITED, HASP, "-p", "x", *flags], env=world.environment(server),
                                        cwd=world.root, timeout=600, stdin=subprocess.DEVNULL, capture_output=True)
                         for flags in ([], ["--ignore-unknown-rules"]))
    assert refused.returncode == 52 and b"2000 of its hooks are left out" in refused.stderr
    assert (done.returncode, done.stdout) == (0, b"Done.\n"), done.stderr[-500:]


def session(lines):
    head = {"sessionId": "0a1b2c3d-0000-4000-8000-000000000001", "projectHash": "p",
            "startTime": "2026-11-22T10:00:00.000Z", "lastUpdated": "2026-11-22T10:00:00.000Z"}
    return "".join(json.dumps(line) + "\n" for line in [head, *lines])


MANY = 30000
SESSIONS = {
    "messages": lambda: [{"id": "u%d" % i, "type": "user", "content": "x"} for i in range(MANY)],
    "one message again and again": lambda: [
        {"id": "u", "type": "user", "content": "x"} for i in range(MANY)],
    "rewinds": lambda: [line for i in range(MANY) for line in (
        {"id": "u%d" % i, "type": "user", "content": "x"},
        {"id": "g%d" % i, "type": "gemini", "content": "y"}, {"$rewindTo": "g%d" % i})],
    "rewinds to nothing": lambda: [{"id": "u", "type": "user", "content": "x"}] + [
        {"$rewindTo": "g%d" % i} for i in range(MANY)],
    "calls of one message": lambda: [
        {"id": "u", "type": "user", "content": "x"}, {"id": "g", "type": "gemini", "content": ""}] + [
        {"hasp": {"callOf": "g", "call": {"id": "c%d" % i, "name": "t", "args": {}, "result": "r"}}}
        for i in range(MANY)],
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_lines_of_a_session(world, kind):
    hasp(world, "--list-sessions")  # makes the project's folder, if it is to be made
    with world.fake([[{"text": "Hello."}]]) as server:
        assert world.command("-p", "x", server=server).code == 0
    path, = world.sessions()
    path.write_text(session(SESSIONS[kind]()))
    assert b"1 session of" in hasp(world, "--list-sessions")


def test_members_of_arguments(world):
    arguments = {"file_path": "a.txt", **{"x%d" % i: i for i in range(50000)}}
    out = hasp(world, "tool", "read_file", "-", stdin=json.dumps(arguments).encode(), code=1)
    assert b"invalid_argument" in out
    todos = [{"description": "d%d" % i, "status": "pending"} for i in range(25000)]
    hasp(world, "tool", "apply_changes", "-", stdin=json.dumps({"changes": todos}).encode(), code=1)


@pytest.mark.parametrize("new", ["b", "a" * 1000000], ids=["refused", "made"])
def test_a_text_that_overlaps_itself(world, new):
    """Each of a million places, whether the next one would do as well."""
    world.write("a.txt", "a" * 2000000)
    edit = {"file_path": "a.txt", "old_content": "a" * 1000001, "new_content": new}
    hasp(world, "tool", "update_file", "-", stdin=json.dumps(edit).encode(), code=int(new == "b"))


@pytest.mark.skipif(SANITIZED, reason="the sanitizer's own memory")
@pytest.mark.parametrize("form", ["lines", "short lines"])
def test_memory_of_a_failed_edit(form):
    for _, name, share, _ in failed_edits.measure(32, [form], ["update, near", "patch, near"]):
        assert share < 1.5, (name, share)
