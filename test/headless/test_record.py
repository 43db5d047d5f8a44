# SPDX-License-Identifier: Apache-2.0
"""A session that cannot be recorded whole: said at the end of the run, in every format, and when it goes on."""
import json
import subprocess

import pytest
from conftest import Done
from fake_gemini import call, text

STEPS = 6
LONG = "line of a file that is long enough to fill what is left\n" * 150

# A home on a file system of its own, of which so much is left that the session begins.
FULL = """set -e
mount -t tmpfs -o size=512k tmpfs "$HOME"
mkdir -p "$HOME/.gemini"
cd "$WHERE"
head -c 480000 /dev/zero > "$HOME/filler"
set +e
"$@"
echo "code $?" >> "$NOTES"
"$1" --list-sessions >> "$NOTES"
%s
"""
GO_ON = """rm "$HOME/filler"
"$1" -p more -r >> "$NOTES" 2>&1
echo "code $?" >> "$NOTES"
"""


def script(world):
    world.write("long.txt", LONG)
    return [[call("read_file", {"file_path": "long.txt", "start_line": i + 1})]
            for i in range(STEPS)] + [[text("All read.")]]


def run(world, server, *args, after=""):
    notes = world.top / "notes"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", FULL % after, "sh",
         *world.argv(server, args)],
        env=world.environment(server, NOTES=str(notes), WHERE=str(world.root)), cwd=world.root,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    assert notes.exists(), done.stderr
    found = Done(done.returncode, done.stdout, done.stderr, server)
    found.notes = notes.read_text()
    return found


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_full_disk_is_said_at_the_end(world, form):
    with world.fake(script(world)) as server:
        done = run(world, server, "-p", "Read it.", "-o", form)
        assert len(server.requests) == STEPS + 1 and not server.violations
    assert "code 57\n" in done.notes, done.err
    last = done.err.rstrip().splitlines()[-1]
    assert "not recorded whole" in last and "No space left" in last and "lines of it, from 20" in last
    assert "not recorded whole" in done.notes  # in the list
    if form == "text":
        assert "All read." in done.text
    elif form == "json":
        assert done.json["response"] == "All read." and done.json["error"]["code"] == 57
        assert done.json["error"]["type"] == "FatalRecordError"
    else:
        end = done.events[-1]
        assert (end["type"], end["status"]) == ("result", "error")
        assert end["error"]["type"] == "FatalRecordError"
        assert "not recorded whole" in end["error"]["message"]


def test_a_session_that_goes_on_says_what_is_missing(world):
    # What is missing is no beginning of the next request.
    with world.fake(script(world) + [[text("On it.")]], append_only=False) as server:
        done = run(world, server, "-p", "Read it.", after=GO_ON)
        assert len(server.requests) == STEPS + 2 and not server.violations
    head, tail = done.notes.split("code 57\n")
    assert head == "" and tail.endswith("code 0\n"), done.notes
    assert "On it." in tail and tail.count("not recorded whole") == 2  # the list, and when it goes on
    said = json.dumps(server.requests[-1].body)
    assert "Read it." in said and "more" in said


def test_what_finds_room_later_is_no_gap(world):
    """A hook makes room: what waited is written before anything else is."""
    system = world.top / "system.json"
    system.write_text(json.dumps({"hooks": {"AfterTool": [{
        "matcher": "run_shell_command", "hooks": [{
            "type": "command", "command": "rm '%s'" % (world.home / "filler")}]}]}}))
    world.env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] = str(system)
    steps = script(world)[:STEPS] + [
        [call("run_shell_command", {"command": "true"})], [text("Room.")]]
    with world.fake(steps) as server:
        done = run(world, server, "-p", "Read it.", "--yolo", "-o", "json",
                   after='cat "$HOME"/.gemini/tmp/*/chats/*.jsonl > "$NOTES.jsonl"')
    assert "code 0\n" in done.notes and "not recorded whole" not in done.notes, done.err
    lines = [json.loads(line) for line in (world.top / "notes.jsonl").read_text().splitlines()]
    assert not any("gap" in line.get("hasp", {}) for line in lines)
    calls = {one["id"] for line in lines for one in line.get("toolCalls", [])}
    assert len(calls) == STEPS + 1


def test_half_a_surrogate_pair_in_a_record_is_replaced_when_it_goes_on(world):
    world.run([[text("Hello.")]], "-p", "Look at the emoji.")
    (path,) = world.sessions()
    path.write_text(path.read_text().replace("the emoji", "the \\ud83d emoji"))
    done = world.run([[text("Hello again.")]], "-p", "Go on.", "--resume", "latest")
    assert "Look at the \ufffd emoji." in done.said(0)
