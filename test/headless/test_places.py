# SPDX-License-Identifier: Apache-2.0
"""Where work runs: --worker with a folder of its own over there, and the setting hasp.worker.  A script stands for ssh:
"HOST down" refuses, any other has a home and folders of its own."""
import json
import os

import pytest
from fake_gemini import call, text

READ = call("read_file", {"file_path": "f.txt"})


class Far:
    def __init__(self, world):
        self.world, self.home = world, world.top / "far"
        self.root = self.home / "project"
        self.root.mkdir(parents=True)
        self.root.joinpath("f.txt").write_text("the far file\n")
        self.root.joinpath("GEMINI.md").write_text("FAR CONTEXT\n")
        self.log, self.ssh = world.top / "ssh.log", world.top / "ssh"
        self.ssh.write_text('#!/bin/sh\necho "$*" >> %s\n[ "$1" = down ] && { echo "Connection refused" >&2; exit 255; }\n'
                            'shift\ncd %s && HOME=%s exec "$@"\n' % (self.log, self.home, self.home))
        self.ssh.chmod(0o755)

    def argv(self, host="far", *more):
        return [str(self.ssh), host, os.environ["HASP"], "worker", *more]

    def entry(self, host="far", level=None, root=True, more=()):
        return {"kind": "argv", "argv": self.argv(host, *more), **({"level": level} if level else {}),
                **({"root": str(self.root)} if root else {})}

    def starts(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def far(world):
    world.root.joinpath("f.txt").write_text("the near file\n")
    world.root.joinpath("GEMINI.md").write_text("NEAR CONTEXT\n")
    return Far(world)


def places(world, *entries, where="home"):
    world.settings(where, hasp={"worker": list(entries)})


def attempt(world, *args, **options):
    return world.run([[READ], [text("Done.")]], "-p", "Do it.", *args, **options)


# ---- the folder over there


def test_the_folder_over_there_is_named(world, far):
    done = attempt(world, "--worker", json.dumps(far.argv()), "--worker-root", str(far.root))
    assert done.code == 0 and "the far file" in done.results()[0]["content"], done.err
    said = done.said(0)
    assert "NEAR CONTEXT" not in said and str(far.root) in said and str(world.root) not in said


def test_everything_is_of_the_machine_that_it_is_said_to_be_of(world, far):
    """Context files, @, commands and the folder in hooks' input are over there; hooks run here, where hasp was started."""
    seen = world.top / "hook"
    world.settings(hooks={"BeforeAgent": [{"hooks": [{"type": "command", "command": "pwd > %s; cat >> %s" % (seen, seen)}]}]})
    done = world.run([[call("run_shell_command", {"command": "pwd; cat f.txt"})], [text("Done.")]], "-p", "Look at @f.txt",
                     "-y", "--worker", json.dumps(far.argv()), "--worker-root", str(far.root))
    said = done.said(0)
    assert "FAR CONTEXT" in said and "the far file" in said and "NEAR" not in said and "near file" not in said
    assert done.results(1)[0]["output"] == "%s\nthe far file\n" % far.root
    here, given = seen.read_text().split("\n", 1)
    assert here == str(world.root) and json.loads(given)["cwd"] == str(far.root)


def test_a_folder_that_is_not_there_is_explained(world, far):
    """The script takes this machine's folder away, as if it were another machine."""
    away = '[ "$1" = bare ] && mv %s %s.away\n' % (world.root, world.root)
    far.ssh.write_text(far.ssh.read_text().replace("shift\n", away + "shift\n"))
    done = world.command("-p", "x", "--worker", json.dumps(far.argv("bare")))
    assert done.code == 44 and "workspace root %s" % world.root in done.err, done.err
    assert "That is a path over there; --worker-root PATH names another." in done.err, done.err


@pytest.mark.parametrize("args, said", [
    (("--worker-root", "/x"), "needs --worker"), (("--worker", "true", "--worker-root", "x"), "absolute path"),
])
def test_a_root_that_cannot_be_is_refused(world, far, args, said):
    done = world.command("-p", "x", *args)
    assert done.code != 0 and said in done.err, done.err


# ---- the setting


def test_the_first_place_that_can_be_had_is_used_and_said(world, far):
    places(world, far.entry("down"), far.entry("far", "landlock"), {"kind": "local"})
    done = attempt(world)
    assert done.code == 0 and "the far file" in done.results()[0]["content"], done.err
    assert "Work runs at: %s far" % far.ssh in done.err and "Connection refused" in done.err, done.err
    assert [line.split()[0] for line in far.starts()][:2] == ["down", "far"]


def test_the_only_place_is_started_once(world, far):
    places(world, far.entry())
    done = attempt(world)
    assert "the far file" in done.results()[0]["content"] and len(far.starts()) == 1, done.err


def test_a_local_place_needs_nothing_else(world, far):
    places(world, {"kind": "local", "level": "landlock"}, far.entry())
    done = attempt(world)
    assert "the near file" in done.results()[0]["content"] and far.starts() == [] and "Work runs" not in done.err


def test_a_place_that_is_too_weak_is_passed_over(world, far):
    places(world, far.entry("far", "full", more=("--sandbox", "landlock")), {"kind": "local", "level": "full"})
    done = attempt(world)
    assert "the near file" in done.results()[0]["content"], done.err
    assert "Work runs at: local" in done.err and "the level is landlock, and full is required" in done.err, done.err


@pytest.mark.parametrize("only", [True, False])
def test_when_none_can_be_had_the_start_ends_with_what_each_said(world, far, only):
    weak = far.entry("far", "full", more=("--sandbox", "landlock"))
    places(world, *([] if only else [far.entry("down")]), weak)
    done = world.command("-p", "x")
    assert done.code != 0 and "the level is landlock, and full is required" in done.err, done.err
    assert only or ("Connection refused" in done.err and "No place of hasp.worker can be had" in done.err)


def test_local_at_a_level_that_is_asked_for(world, far):
    places(world, {"kind": "local", "level": "full"})
    done = world.command("-p", "x", "--sandbox", "landlock")
    assert done.code != 0 and "the level is landlock, and full is required" in done.err, done.err


def test_a_flag_goes_before_the_setting_of_the_user(world, far):
    places(world, {"kind": "local", "level": "full"})
    done = attempt(world, "--worker", json.dumps(far.argv()), "--worker-root", str(far.root))
    assert "the far file" in done.results()[0]["content"], done.err


def test_a_project_has_no_say(world, far):
    world.settings("project", hasp={"worker": [far.entry()]})
    done = attempt(world, "--skip-trust")
    assert "the near file" in done.results()[0]["content"] and far.starts() == [], done.err


@pytest.mark.parametrize("argv", [("tool", "search_files", "-a", "pattern=the far"), ("sandbox", "--", "cat", "f.txt")], ids=str)
def test_other_commands_work_there_too(world, far, argv):
    places(world, far.entry())
    world.root.joinpath("f.txt").unlink()
    done = world.command(*argv)
    assert done.code == 0 and "the far file" in done.text, done.err
    status = world.command("sandbox", "--status")
    assert "work runs at %s far" % far.ssh in status.text, status.text
    assert json.loads(world.command("sandbox", "--status", "--json").text)["worker"].startswith(str(far.ssh))


@pytest.mark.parametrize("value, said", [
    ("local", "must be an array"), ([5], 'entry 1 needs "kind"'), ([{"kind": "ssh"}], 'entry 1 needs "kind"'),
    ([{"kind": "local"}, {"kind": "argv"}], 'entry 2 needs "argv"'), ([{"kind": "argv", "argv": []}], 'needs "argv"'),
    ([{"kind": "argv", "argv": ["a", 5]}], 'needs "argv"'), ([{"kind": "local", "level": "strong"}], "has a level"),
    ([{"kind": "local", "argv": ["x"]}], "is local"), ([{"kind": "local", "levle": "full"}], "has a member other"),
    ([{"kind": "argv", "argv": ["x"], "root": "y"}], "not an absolute path"),
], ids=str)
def test_what_is_no_place_ends_the_start(world, far, value, said):
    world.settings(hasp={"worker": value})
    for argv in (("-p", "x"), ("tool", "read_file", "-a", "file_path=f.txt")):
        done = world.command(*argv)
        assert done.code != 0 and "hasp.worker" in done.err and said in done.err, done.err


# ---- what works on this machine only

LOCAL = {"kind": "local"}


@pytest.mark.parametrize("local, runs", [
    (None, False), (LOCAL, True), ({**LOCAL, "level": "full"}, False), ({**LOCAL, "levle": "full"}, None),
], ids=str)
def test_servers_are_programs_of_this_machine(world, far, local, runs):
    """The level is landlock here."""
    mark = world.top / "started"
    world.settings(hasp={"worker": [far.entry(), *([local] if local else [])], "sandbox": {"level": "landlock"}},
                   mcpServers={"own": {"command": "sh", "args": ["-c", "touch %s" % mark], "sandbox": {"write": [str(world.top)]}}})
    done = world.command("mcp", "test", "own")
    assert done.code != 0 and mark.exists() == bool(runs) and far.starts() == [], (done.text, done.err)
    if not runs:
        assert "another machine's" in done.text + done.err, (done.text, done.err)
    assert world.command("mcp", "list").code == 0


def test_places_that_cannot_be_used_are_an_error_for_servers(world, far):
    world.settings(hasp={"worker": "local"})
    done = world.command("mcp", "list")
    assert done.code != 0 and "must be an array" in done.err, done.err
