# SPDX-License-Identifier: Apache-2.0
"""A change of several files of which some are outside of the workspace: one question, and all of it or nothing."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from agent_world import call, world  # noqa: F401  (world is a fixture)
from test_outside import (  # noqa: F401  (outside is a fixture)
    ALWAYS, AUTO, LEVELS, NO, YES, allowed, asked, code, listing, outside, read, run, sha, swapping, update)

pytestmark = [pytest.mark.in_turn("level"), pytest.mark.rows_in_turn(3)]


def changes(*all, **more):
    return call("apply_changes", {"changes": list(all), **more})


def edit(path, old, new, **more):
    return {"kind": "update", "file_path": str(path), "old_content": old, "new_content": new, **more}


def create(path, content):
    return {"kind": "create", "file_path": str(path), "content": content}


def remove(path, content, **more):
    return {"kind": "delete", "file_path": str(path), "base_content_sha256": sha(content), **more}


def move(path, to, content):
    return {"kind": "move", "file_path": str(path), "new_path": str(to), "base_content_sha256": sha(content)}


def all_of(folder):
    """Every file beneath it, with its content: also what a change would leave lying."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


BEFORE = {"notes.md": "the notes\n", "other.md": "others\n", "deep/a.c": "int needle;\n"}


def nothing_is_left(world):  # noqa: F811
    """Of what was written down for a crash."""
    return list((world.path / "home" / ".gemini" / "tmp" / "hasp").glob("journal*/*")) == []


@LEVELS
def test_a_change_inside_and_outside_is_one_question(world, outside, level):  # noqa: F811
    """All that is to be done is named, and then one worker does it."""
    world.write("mine", "the mine\n")
    steps = [edit(outside / "notes.md", "the", "my"), create(outside / "new.md", "new\n"), edit("mine", "the", "my"),
             remove(outside / "other.md", "others\n"), create("folder/made", "made\n"),
             move(outside / "deep" / "a.c", outside / "b.c", "int needle;\n")]
    done = run(world, changes(*steps), answers=[YES], level=level, **AUTO)
    question, = asked(done)
    assert allowed(question) == [("write", str(outside / "notes.md")), ("create", str(outside / "new.md")),
                                 ("remove", str(outside / "other.md")), ("move", str(outside / "deep" / "a.c"))]
    assert question["details"]["allowed"][3]["to"] == str(outside / "b.c")
    assert question["details"]["canRewind"] is False and question["details"]["stillDenied"] == []
    assert question["details"]["additionalPermissions"]["fileSystem"]["write"] == [
        str(outside / n) for n in ("notes.md", "new.md", "other.md", "deep/a.c", "b.c")]
    result, = done.results()
    assert result["success"] and "move %s/deep/a.c to %s/b.c" % (outside, outside) in result["user_review"]["message"]
    assert all_of(outside) == {"notes.md": "my notes\n", "new.md": "new\n", "b.c": "int needle;\n"}
    assert all_of(world.root) == {"mine": "my mine\n", "folder/made": "made\n"} and nothing_is_left(world)


def test_a_change_wholly_outside(world, outside):  # noqa: F811
    """In two folders, one of them above the workspace."""
    (world.path / "beside.md").write_text("beside\n")
    done = run(world, changes(edit("../beside.md", "b", "B"), create(outside / "new.md", "new\n")), answers=[YES], **AUTO)
    assert allowed(asked(done)[0]) == [("write", str(world.path / "beside.md")), ("create", str(outside / "new.md"))]
    assert done.results()[0]["success"] and (world.path / "beside.md").read_text() == "Beside\n"
    assert all_of(outside) == {**BEFORE, "new.md": "new\n"} and nothing_is_left(world)


def test_one_file_by_a_change_of_several(world, outside):  # noqa: F811
    done = run(world, changes(remove(outside / "notes.md", "the notes\n")),
               changes(remove(outside / "other.md", "others\n", base_content_sha256="")), answers=[YES, YES], **AUTO)
    assert [allowed(q) for q in asked(done)] == [[("remove", str(outside / n))] for n in ("notes.md", "other.md")]
    assert done.results()[0]["success"] and code(done.results()[1]) == "base_required"
    assert listing(outside) == ["deep", "other.md"] and nothing_is_left(world)


def test_a_file_moves_into_the_workspace_and_is_changed_there(world, outside):  # noqa: F811
    done = run(world, changes(move(outside / "notes.md", "notes.md", "the notes\n"), edit("notes.md", "the", "my")),
               changes(move(outside / "other.md", "x/other.md", "others\n")), answers=[YES, YES], **AUTO)
    for question, name, to in zip(asked(done), ("notes.md", "other.md"), ("notes.md", "x/other.md")):
        item, = question["details"]["allowed"]
        assert (item["kind"], item["what"], item["to"]) == ("move", str(outside / name), str(world.root / to))
    assert not [r for r in done.results() if not r["success"]]
    assert all_of(world.root) == {"notes.md": "my notes\n", "x/other.md": "others\n"}
    assert listing(outside) == ["deep"] and nothing_is_left(world)


def test_nothing_moves_out_of_the_workspace(world, outside):  # noqa: F811
    """Another name of it, or a descriptor, would reach out there. What does the same is offered."""
    base = world.write("mine", "mine\n")
    done = run(world, changes(move("mine", outside / "mine", "mine\n")),
               changes(create(outside / "mine", "mine\n"), remove("mine", "mine\n")), answers=[YES], **AUTO)
    assert [allowed(q) for q in asked(done)] == [[("create", str(outside / "mine"))]] and base
    refused, made = done.results()
    assert not refused["success"] and "Make the file there with its content and delete it here" in refused["message"]
    assert made["success"] and not (world.root / "mine").exists() and (outside / "mine").read_text() == "mine\n"


def test_a_change_is_refused_as_a_whole(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    done = run(world, changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my")),
               answers=[dict(NO, message="Not there.")], **AUTO)
    result, = done.results()
    assert code(result) == "denied_by_user" and "They say: Not there." in result["message"]
    assert all_of(outside) == BEFORE and world.read("mine") == "the mine\n" and nothing_is_left(world)


def test_a_change_once_and_for_this_session(world, outside):  # noqa: F811
    """A yes to one use of a path is none to another."""
    both = lambda old, new: changes(edit(outside / "notes.md", old, new), edit(outside / "other.md", "o", "o"))  # noqa: E731
    one = lambda old, new: changes(edit(outside / "notes.md", old, new))  # noqa: E731
    done = run(world, one("the", "a"), one("a", "b"), one("b", "c"), update(outside / "notes.md", "c", "d"),
               changes(remove(outside / "notes.md", "d notes\n")), both("d", "e"),
               changes(move(outside / "notes.md", outside / "x.md", "d notes\n")), answers=[YES, ALWAYS, NO, NO, NO], **AUTO)
    assert [allowed(q) for q in asked(done)] == [
        [("write", str(outside / "notes.md"))]] * 2 + [[("remove", str(outside / "notes.md"))],
                                                       [("write", str(outside / "other.md"))],
                                                       [("move", str(outside / "notes.md"))]]
    assert [r["success"] for r in done.results()] == [True] * 4 + [False] * 3
    assert all_of(outside) == {**BEFORE, "notes.md": "d notes\n"}


def test_a_move_for_this_session_is_to_that_name(world, outside):  # noqa: F811
    there, back = (outside / "notes.md", outside / "x.md"), (outside / "x.md", outside / "notes.md")
    done = run(world, changes(move(*there, "the notes\n")), changes(move(*back, "the notes\n")),
               changes(move(*there, "the notes\n")), changes(move(*back, "the notes\n")),
               changes(move(outside / "notes.md", outside / "y.md", "the notes\n")), answers=[ALWAYS, ALWAYS, NO], **AUTO)
    assert [(q["details"]["allowed"][0]["what"], q["details"]["allowed"][0]["to"]) for q in asked(done)] == [
        tuple(map(str, pair)) for pair in (there, back, (outside / "notes.md", outside / "y.md"))]
    assert all_of(outside) == BEFORE and [r["success"] for r in done.results()] == [True] * 4 + [False]


def test_the_change_itself_is_asked_about_after_that(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    one = changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my"))
    done = run(world, one, one, answers=[ALWAYS, dict(NO, message="Not mine."), YES])
    assert [q["details"]["type"] for q in done.told("tool-confirmation-request")] == ["sandbox_expansion", "edit", "edit"]
    diff = done.told("tool-confirmation-request")[1]["details"]["fileDiff"]
    assert "--- a/mine\n" in diff and "+++ b/%s/notes.md\n" % outside in diff  # no name of the workspace's
    assert code(done.results()[0]) == "denied_by_user" and done.results()[1]["success"]
    assert world.read("mine") == "my mine\n" and (outside / "notes.md").read_text() == "my notes\n"
    assert nothing_is_left(world)


@pytest.mark.parametrize("bad", [
    ("stale", lambda o: remove(o / "other.md", "stale\n")), ("text", lambda o: edit(o / "other.md", "nowhere", "x")),
    ("inside", lambda o: edit("mine", "nowhere", "x")), ("taken", lambda o: create("mine", "x"))],
    ids=lambda bad: bad[0])
def test_one_of_several_fails_and_all_are_as_they_were(world, outside, bad):  # noqa: F811
    world.write("mine", "the mine\n")
    done = run(world, changes(edit(outside / "notes.md", "the", "my"), create(outside / "new.md", "new\n"), edit("mine", "the", "my"),
                              move(outside / "deep" / "a.c", outside / "b.c", "int needle;\n"), bad[1](outside)),
               answers=[YES], **AUTO)
    result, = done.results()
    assert len(asked(done)) == 1 and not result["success"] and "Nothing was changed. Change 5 of 5" in result["message"]
    assert [code(c) for c in result["changes"][:4]] == ["rolled_back"] * 4
    assert all_of(outside) == BEFORE and all_of(world.root) == {"mine": "the mine\n"} and nothing_is_left(world)


def test_one_that_fails_when_it_is_written(world, outside):  # noqa: F811
    """Who has a file open for writing is met when others are in place already."""
    world.write("mine", "the mine\n")
    with open(outside / "other.md", "r+"):
        done = run(world, changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my"),
                                  edit(outside / "other.md", "others", "x")), answers=[YES], **AUTO)
    result, = done.results()
    assert len(asked(done)) == 1 and not result["success"] and code(result["changes"][2]) == "busy"
    assert all_of(outside) == BEFORE and world.read("mine") == "the mine\n" and nothing_is_left(world)


@pytest.mark.in_turn("kind")
@pytest.mark.parametrize("name", [".ssh/id_rsa", ".bashrc", ".git/config", ".gemini/settings.json", "program", "fifo",
                                  "twin", "/proc/self/comm", "/etc/hostname", "none/new", "deep"])
@pytest.mark.parametrize("kind", ["update", "delete", "move", "move to"])
def test_one_path_that_is_never_offered_is_enough(world, outside, name, kind):  # noqa: F811
    """A secret, what programs obey, a program, the system's: then nothing of the change is asked about."""
    target = outside / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        if name not in ("none/new", "fifo"):
            target.write_text("old\n")
    if name == "none/new":
        target.parent.rmdir()
    if name == "fifo":
        os.mkfifo(target)
    if name == "twin":
        os.link(target, outside / "another")
    if name == "program":
        target.chmod(0o755)
    if name == ".git/config":
        for part in ("objects", "refs"):
            (outside / ".git" / part).mkdir()
        (outside / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    bad = {"update": edit(target, "old", "new"), "delete": remove(target, "old\n"),
           "move": move(target, outside / "moved", "old\n"),
           "move to": move(outside / "other.md", target, "others\n")}[kind]
    done = run(world, changes(edit(outside / "notes.md", "the", "my"), bad), answers=[YES], **AUTO)
    result, = done.results()
    assert asked(done) == [] and not result["success"] and (outside / "notes.md").read_text() == "the notes\n"
    assert (outside / "other.md").exists() and not (outside / "moved").exists()
    assert "this cannot be allowed: " in result["message"] and "it holds" not in result["message"]


def test_a_question_names_eight_paths_at_most(world, outside):  # noqa: F811
    for i in range(8):
        (outside / str(i)).write_text("x\n")
    edits = [edit(outside / str(i), "x", "y") for i in range(8)]
    done = run(world, changes(*edits, create(outside / "new", "x")),
               changes(*edits[:7], move(outside / "7", outside / "8", "x\n")), changes(*edits), answers=[YES], **AUTO)
    question, = asked(done)
    assert len(allowed(question)) == 8
    many, moved, made = done.results()
    for refused in (many, moved):
        assert not refused["success"] and "more than 8 paths outside the workspace" in refused["message"]
        assert "Split it." in refused["message"]
    assert made["success"] and (outside / "7").read_text() == "y\n"


@pytest.mark.parametrize("swap", ["ln -sfn other.md notes.md", "rm notes.md", "mv deep gone; ln -sfn secret deep",
                                  "echo else > notes.md"])
def test_a_swap_before_a_change_changes_nothing_else(world, outside, swap):  # noqa: F811
    (outside / "secret").mkdir()
    (outside / "secret" / "a.c").write_text("int needle;\n")
    world.write("mine", "the mine\n")
    hooks = swapping(world, "cd %s && [ -e swapped ] || { touch swapped; %s; }\n" % (outside, swap))
    done = run(world, changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my"),
                              edit(outside / "deep" / "a.c", "needle", "x")), answers=[YES, NO], hooks=hooks, **AUTO)
    assert not done.results()[0]["success"] and world.read("mine") == "the mine\n"
    assert (outside / "other.md").read_text() == "others\n"
    for path in outside.rglob("a.c"):
        assert path.read_text() == "int needle;\n"
    for question in asked(done)[1:]:
        assert allowed(question)[0][1] in (str(outside / "other.md"), str(outside / "notes.md"), str(outside / "secret" / "a.c"))
    assert len(asked(done)) == (2 if "ln" in swap else 1) and nothing_is_left(world)


def test_a_link_inside_that_is_swapped_to_an_allowed_file(world, outside):  # noqa: F811
    """One worker has both folders: a path in the workspace stays in it."""
    world.write("a", "others\n")
    (world.root / "link").symlink_to("a")
    hooks = swapping(world, "ln -sfn %s/other.md %s/link\n" % (outside, world.root))
    done = run(world, changes(edit("link", "others", "changed"), edit(outside / "notes.md", "the", "my")),
               answers=[YES, NO], hooks=hooks, **AUTO)
    assert not done.results()[0]["success"]
    assert world.read("a") == "others\n" and all_of(outside) == BEFORE


def test_a_rule_denies_a_path_of_a_change(world, outside):  # noqa: F811
    rule = world.path / "deny.toml"
    rule.write_text('[[rule]]\ntoolName = "apply_changes"\ndecision = "deny"\npriority = 200\nargsPattern = %s\n'
                    % json.dumps("%s/notes" % outside))
    (world.root / "link").symlink_to(outside / "notes.md")
    done = run(world, changes(edit("link", "the", "my"), edit(outside / "other.md", "o", "0")), answers=[YES],
               policy=[str(rule)], **AUTO)
    assert asked(done) == [] and code(done.results()[0]) == "denied_by_policy" and all_of(outside) == BEFORE


@pytest.mark.parametrize("tool", ["update_file", "apply_changes"])
def test_a_link_that_is_swapped_to_what_a_rule_denies(world, outside, tool):  # noqa: F811
    """The rules were asked about what it led to first."""
    rule = world.path / "deny.toml"
    rule.write_text('[[rule]]\ntoolName = "%s"\ndecision = "deny"\npriority = 200\nargsPattern = %s\n'
                    % (tool, json.dumps("%s/other" % outside)))
    (outside / "link").symlink_to("notes.md")
    hooks = swapping(world, "ln -sfn other.md %s/link\n" % outside)
    one = update(outside / "link", "o", "0") if tool == "update_file" else changes(edit(outside / "link", "o", "0"))
    done = run(world, one, answers=[YES, YES], policy=[str(rule)], hooks=hooks, **AUTO)
    assert not done.results()[0]["success"] and (outside / "other.md").read_text() == "others\n"
    assert (outside / "notes.md").read_text() == "the notes\n"


def test_a_change_inside_of_links_to_outside(world, outside):  # noqa: F811
    (world.root / "link").symlink_to(outside / "notes.md")
    world.write("mine", "the mine\n")
    done = run(world, changes(edit("link", "the", "my"), edit("mine", "the", "my")), answers=[YES], **AUTO)
    item, = asked(done)[0]["details"]["allowed"]
    assert item["what"] == str(outside / "notes.md") and item["named"] == "link"
    assert (world.root / "link").is_symlink() and (outside / "notes.md").read_text() == "my notes\n"


# ---- a change that is cut short ------------------------------------------------------------------

def processes():
    """Number: parent's number, of all that can be seen."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            pass
    return found


def descendants(of):
    known = processes()
    found = [pid for pid, parent in known.items() if parent == of]
    return found + [pid for child in found for pid in descendants(child)]


def kill_at_once(mine, too):
    """Kills what descends from processes, and them `too`: all stand still first, so that none sees that another is gone."""
    stopped, more = [], list(mine) if too else [pid for one in mine for pid in descendants(one)]
    while more:
        for pid in more:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped += more
        more = [pid for one in mine for pid in descendants(one) if pid not in stopped]
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_in_the_middle(world, outside, whom):  # noqa: F811
    """Runs a change of three files, and kills the agent with its workers, or these alone, when the first two are in
    place and the last is not: somebody has the lock of its folder. Who has given up waiting for that tries again.
    Returns the run, or None if the agent is dead."""
    one = changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my"),
                  edit(outside / "deep" / "a.c", "needle", "x"))
    lock = os.open(outside / "deep", os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        while True:
            with ThreadPoolExecutor(1) as pool:
                before = os.stat(outside / "notes.md").st_ino  # who opened it would have to wait
                ended = pool.submit(run, world, one, answers=[YES], **AUTO)
                while os.stat(outside / "notes.md").st_ino == before and not ended.done():
                    time.sleep(0.001)
                probe = [pid for pid, parent in processes().items() if parent == os.getpid()]
                kill_at_once(probe, whom != "workers")
                try:
                    done = ended.result()
                except AssertionError:
                    done = None
            lost = done and code(done.results()[0]["changes"][0]) == "worker_lost"
            if lost or not done:
                return done
    finally:
        os.close(lock)


def records(world):  # noqa: F811
    return list((world.path / "home" / ".gemini" / "tmp" / "hasp" / "journal-outside").glob("*"))


def test_workers_killed_in_the_middle(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    done = kill_in_the_middle(world, outside, "workers")
    assert not done.results()[0]["success"] and world.read("mine") == "the mine\n"
    assert all_of(outside) == BEFORE and nothing_is_left(world)


def test_the_agent_killed_in_the_middle(world, outside):  # noqa: F811
    """The next one, in another workspace, puts it right before it does anything."""
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    assert world.read("mine") == "my mine\n" and (outside / "notes.md").read_text() == "my notes\n"
    assert len(records(world)) == 1
    first, world.root = world.root, world.path / "else"
    world.root.mkdir()
    world.write("x", "x\n")
    run(world, read("x"))
    assert (first / "mine").read_text() == "the mine\n" and all_of(outside) == BEFORE and nothing_is_left(world)


def test_what_was_done_meanwhile_stays(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    (outside / "notes.md").write_text("somebody's\n")
    run(world, read("mine"))
    assert all_of(outside) == {**BEFORE, "notes.md": "somebody's\n"} and nothing_is_left(world)


def test_a_living_ones_change_is_left_alone(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    record, = records(world)
    with open(record / "what") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run(world, read("mine"))
        assert (outside / "notes.md").read_text() == "my notes\n" and records(world) == [record]
    run(world, read("mine"))
    assert all_of(outside) == BEFORE and nothing_is_left(world)


def journal(kind, path, to="", new=0, content="", old=0, made=0):
    """A journal's text with one entry."""
    text = "hasp-journal 1\n%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\n" % (
        kind, path, to, old, new, sha(content), sha(content), made)
    return text + "end %s\n" % sha(text)


@pytest.mark.parametrize("forged", ["create", "move", "move in", "folders", "own"])
def test_a_journal_is_not_obeyed_beyond_what_was_allowed(world, outside, forged):  # noqa: F811
    """Whoever has written it: it would remove a file, or give one another name."""
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    other, record = outside / "other.md", records(world)[0]
    inode = os.stat(other).st_ino
    entry = {"create": lambda: journal("create", other, new=inode, content="others\n"),
             "move": lambda: journal("move", outside / "stolen", other, old=inode, content="others\n"),
             "move in": lambda: journal("move", world.root / "stolen", other, old=inode, content="others\n"),
             "folders": lambda: journal("create", outside / "deep" / "a.c", content="x", made=1),
             "own": lambda: journal("create", world.root / "mine", new=os.stat(world.root / "mine").st_ino,
                                    content="my mine\n")}[forged]
    (record / "journal" / "tx-0123456789abcdef.undo").write_text(entry())
    run(world, read("mine"))
    assert other.read_text() == "others\n" and not (outside / "stolen").exists() and not (world.root / "stolen").exists()
    assert (outside / "notes.md").read_text() == "the notes\n"  # the one that was allowed is undone
    assert records(world) == ([] if forged == "own" else [record.with_name(record.name + ".bad")])


def test_a_workspaces_own_journal_reaches_nothing_outside(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    other, folder = outside / "other.md", world.path / "home" / ".gemini" / "tmp" / "hasp" / "journal"
    folder.mkdir(parents=True)
    (folder / "tx-0123456789abcdef.undo").write_text(
        journal("create", other, new=os.stat(other).st_ino, content="others\n"))
    run(world, read("mine"), changes(edit("mine", "the", "my"), edit(outside / "notes.md", "the", "my")), answers=[YES],
        **AUTO)
    assert other.read_text() == "others\n" and (outside / "notes.md").read_text() == "my notes\n"


def test_a_folder_that_is_gone_does_not_keep_the_rest_from_it(world, outside):  # noqa: F811
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    shutil.rmtree(outside / "deep")
    run(world, read("mine"))
    assert (outside / "notes.md").read_text() == "the notes\n" and world.read("mine") == "the mine\n"
    assert nothing_is_left(world)


@pytest.mark.parametrize("broken", ["no record", "half a record", "other record", "no folders"])
def test_a_broken_record_is_not_obeyed(world, outside, broken):  # noqa: F811
    world.write("mine", "the mine\n")
    kill_in_the_middle(world, outside, "all")
    record, = records(world)
    what = record / "what"
    if broken == "no record":
        what.unlink()
    elif broken == "half a record":
        what.write_bytes(what.read_bytes()[:-4])
    elif broken == "other record":
        what.write_bytes(b"hasp-outside 1\0folder\0%s\0write\0%s\0end\0" % (
            os.fsencode(outside), os.fsencode(outside / "other.md")))
    else:
        outside.rename(str(outside) + "-gone")
    try:
        run(world, read("mine"))
        run(world, read("mine"))
    finally:
        if broken == "no folders":
            os.rename(str(outside) + "-gone", outside)
    assert [r.name for r in records(world)] == [record.name + ".bad"]
    assert (outside / "notes.md").read_text() == "my notes\n"
