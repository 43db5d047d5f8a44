# SPDX-License-Identifier: Apache-2.0
"""A file tool that is refused what is outside of the workspace: somebody is asked, and exactly that is allowed (changes
of several files: test_outside_changes.py). Real workers in a real sandbox; every answer against what the model is told
and what is on disk."""
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from agent_world import call, text, world  # noqa: F401  (world is a fixture)

YES, ALWAYS, NO = ({"outcome": o} for o in ("proceed_once", "proceed_always", "cancel"))
NOT_ROOTS = lambda *paths: paths if os.geteuid() else ()  # noqa: E731  (root may)
HEADER = "/usr/include/stdio.h"


@pytest.fixture
def outside():
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix="hasp-outside-", dir="/var/tmp")))
    (path / "notes.md").write_text("the notes\n")
    (path / "other.md").write_text("others\n")
    (path / "deep").mkdir()
    (path / "deep" / "a.c").write_text("int needle;\n")
    yield path
    shutil.rmtree(path)


def read(path, **more):
    return call("read_file", {"file_path": str(path), **more})


def run(world, *steps, answers=(), **job):  # noqa: F811
    """A step is a call, or a list of calls of one reply."""
    job = {"interactive": True, **{k: v for k, v in job.items() if v is not None}}
    return world.run([*(s if isinstance(s, list) else [s] for s in steps), [text("Done.")]], confined=True,
                     answers=list(answers), **job)


def asked(done):
    questions = done.told("tool-confirmation-request")
    assert all(q["details"]["type"] == "sandbox_expansion" for q in questions)
    assert all("command" not in q["details"] for q in questions)
    return questions


def allowed(question):
    return [(a["kind"], a["what"]) for a in question["details"]["allowed"]]


def code(result):
    return result["error"]["code"]


# ---- reading -------------------------------------------------------------------------------------

LEVELS = pytest.mark.parametrize("level", [None, "landlock", "paths"])
pytestmark = [pytest.mark.in_turn("level"), pytest.mark.rows_in_turn(3)]


@LEVELS
def test_a_file_is_asked_about_and_read(world, outside, level):  # noqa: F811
    notes = outside / "notes.md"
    done = run(world, read(notes), answers=[YES], level=level)
    question, = asked(done)
    assert allowed(question) == [("read", str(notes))] and question["toolName"] == "read_file"
    assert question["outcomes"] == ["proceed_once", "proceed_always", "cancel"] and "canRewind" not in question["details"]
    assert question["details"]["additionalPermissions"] == \
        {"network": False, "fileSystem": {"read": [str(notes)], "write": []}}
    assert "this file may be read, and nothing else" in question["details"]["allowed"][0]["allows"]
    result, = done.results()
    assert result["content"] == "the notes\n" and result["file_path"] == str(notes)
    assert result["sha256"] == hashlib.sha256(b"the notes\n").hexdigest()
    assert "read %s" % notes in result["user_review"]["message"]
    assert "for this one call" in result["user_review"]["message"]


def test_a_file_of_the_system_is_read(world):  # noqa: F811
    done = run(world, read(HEADER, max_lines=3), answers=[YES])
    assert allowed(asked(done)[0]) == [("read", os.path.realpath(HEADER))]
    assert done.results()[0]["total_lines"] > 100


def test_once_is_for_one_call_and_nothing_beside(world, outside):  # noqa: F811
    done = run(world, read(outside / "notes.md"), read(outside / "notes.md"), read(outside / "other.md"),
               answers=[YES, NO, NO])
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / n) for n in ("notes.md", "notes.md",
                                                                                 "other.md")]
    first, second, third = done.results()
    assert first["content"] == "the notes\n"
    assert code(second) == code(third) == "denied_by_user"


def test_for_this_session_is_for_that_path_and_kind(world, outside):  # noqa: F811
    notes = str(outside / "notes.md")
    done = run(world, read(notes), read(notes), call("search_files", {"pattern": "notes", "path": notes}),
               call("read_many_files", {"paths": [notes]}), read(outside / "other.md"),
               call("list_directory", {"path": str(outside)}), answers=[ALWAYS, NO, NO])
    assert [allowed(q) for q in asked(done)] == [
        [("read", notes)], [("read", str(outside / "other.md"))], [("list", str(outside))]]
    first, second, found, many, other, listed = done.results()
    assert first["content"] == second["content"] == "the notes\n"
    assert "for this session" in first["user_review"]["message"] and "user_review" not in second
    assert found["matches"] == 1 and many["output"][0]["content"] == "the notes\n"
    assert code(other) == code(listed) == "denied_by_user"


def test_parallel_calls_ask_once_for_the_session(world, outside):  # noqa: F811
    notes = outside / "notes.md"
    done = run(world, [read(notes), read(notes), read(notes)], answers=[ALWAYS, NO, NO])
    assert len(asked(done)) == 1
    assert [r["content"] for r in done.results()] == ["the notes\n"] * 3


def test_parallel_calls_ask_each_when_it_is_once(world, outside):  # noqa: F811
    notes = outside / "notes.md"
    done = run(world, [read(notes), read(notes)], answers=[YES, NO])
    assert len(asked(done)) == 2
    assert sorted("content" in r for r in done.results()) == [False, True]


@pytest.mark.parametrize("answer", [NO, {"outcome": "proceed_always_and_save"}, {"outcome": "x"}])
def test_a_no_is_told(world, outside, answer):  # noqa: F811
    done = run(world, read(outside / "notes.md"), answers=[answer])
    result, = done.results()
    assert code(result) == "denied_by_user"
    assert "read %s" % (outside / "notes.md") in result["message"]
    assert "Do not reach it by another way" in result["message"] and "content" not in result
    assert done.outcomes[0]["end"] == "answered"
    assert done.told("tool-result")[0]["status"] == "error"


def test_a_no_with_words(world, outside):  # noqa: F811
    done = run(world, read(outside / "notes.md"), answers=[dict(NO, message="Read ./notes.")])
    assert "They say: Read ./notes." in done.results()[0]["message"]


def test_a_range_and_a_relative_path(world, outside):  # noqa: F811
    (world.path / "beside.md").write_text("1\n2\n3\n")
    done = run(world, call("read_file", {"file_path": "../beside.md", "start_line": 2, "max_lines": 1}), answers=[YES])
    item, = asked(done)[0]["details"]["allowed"]
    assert item["what"] == str(world.path / "beside.md") and item["named"] == "../beside.md"
    assert done.results()[0]["content"].startswith("2\n")


def test_a_link_is_shown_as_what_it_leads_to(world, outside):  # noqa: F811
    (world.root / "harmless").symlink_to(outside / "notes.md")
    done = run(world, read("harmless"), answers=[YES])
    item, = asked(done)[0]["details"]["allowed"]
    assert item["what"] == str(outside / "notes.md") and item["named"] == "harmless"
    assert done.results()[0]["content"] == "the notes\n"


# ---- folders -------------------------------------------------------------------------------------

def test_a_folder_is_listed_and_no_more(world, outside):  # noqa: F811
    done = run(world, call("list_directory", {"path": str(outside)}), call("list_directory", {"path": str(outside)}),
               call("list_directory", {"path": str(outside / "deep")}), read(outside / "notes.md"),
               call("glob", {"patterns": ["**/*"], "path": str(outside)}), answers=[ALWAYS, NO, NO, NO])
    assert [allowed(q)[0] for q in asked(done)] == [
        ("list", str(outside)), ("list", str(outside / "deep")), ("read", str(outside / "notes.md")),
        ("list", str(outside))]
    first, second, *others = done.results()
    for listing in (first, second):
        assert "notes.md" in json.dumps(listing) and "a.c" not in json.dumps(listing)
    assert [code(o) for o in others] == ["denied_by_user"] * 3


def test_a_glob_is_for_names(world, outside):  # noqa: F811
    done = run(world, call("glob", {"patterns": ["**/*.c"], "path": str(outside)}), read(outside / "deep" / "a.c"),
               call("list_directory", {"path": str(outside / "deep")}), answers=[ALWAYS, NO])
    found, file, listing = done.results()
    assert "a.c" in json.dumps(found) and code(file) == "denied_by_user" and "a.c" in json.dumps(listing)
    assert "and no file" in asked(done)[0]["details"]["allowed"][0]["allows"]


def test_a_pattern_that_leads_outside(world, outside):  # noqa: F811
    done = run(world, call("glob", {"patterns": ["%s/**/*.c" % outside]}), answers=[YES])
    assert allowed(asked(done)[0]) == [("list", str(outside))]
    assert "a.c" in json.dumps(done.results()[0])


@pytest.mark.parametrize("answer", [YES, NO])
def test_a_pattern_that_leads_outside_beside_others(world, outside, answer):  # noqa: F811
    """Relative ones, ones for the same folder, a folder in a folder, exceptions: one question for all of it."""
    world.write("mine.c", "x")
    (outside / "b.h").write_text("x")
    (outside / "deep" / "skip.c").write_text("x")
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="hasp-outside-", dir="/var/tmp")))
    (folder / "b.c").write_text("x")
    patterns = ["**/*.c", "%s/**/*.c" % outside, "%s/*.h" % outside, "%s/deep/*.c" % outside, "%s/*.c" % folder,
                "!**/skip.c"]
    try:
        done = run(world, call("glob", {"patterns": patterns}), call("glob", {"patterns": patterns[1:3]}),
                   answers=[answer] * 2)
    finally:
        shutil.rmtree(folder)
    first, second = asked(done)
    assert allowed(first) == [("list", str(path)) for path in (outside, folder)]  # deep is beneath
    assert allowed(second) == [("list", str(outside))]
    both, alone = done.results()
    if answer is NO:
        assert code(both) == code(alone) == "denied_by_user"
        return
    assert both["path"] == str(world.root) and "roots" not in both and alone["path"] == str(outside)
    assert sorted(both["files"]) == sorted(["mine.c", "%s/deep/a.c" % outside, "%s/b.h" % outside, "%s/b.c" % folder])
    assert sorted(alone["files"]) == sorted("%s/%s" % (outside, name) for name in ("deep/a.c", "deep/skip.c", "b.h"))


def test_patterns_are_for_a_path_that_is_given(world, outside):  # noqa: F811
    world.write("mine.c", "x")
    done = run(world, call("glob", {"patterns": ["*.c", "%s/**/*.c" % outside], "path": "."}), answers=[YES])
    assert asked(done) == [] and code(done.results()[0]) == "outside_workspace"


@pytest.mark.parametrize("tool, argument", [("read_many_files", "paths"), ("read_many_files", "include")])
def test_all_that_many_files_name_outside_is_asked_about(world, outside, tool, argument):  # noqa: F811
    world.write("mine.c", "mine\n")
    names = ["*.c", "mine.c", "../beside.c", str(outside / "notes.md"), "%s/deep" % outside]
    (world.path / "beside.c").write_text("beside\n")
    done = run(world, call(tool, {argument: names}), answers=[YES])
    assert allowed(asked(done)[0]) == [("read", str(path)) for path in (
        world.path / "beside.c", outside / "notes.md", outside / "deep")]
    assert [f["content"] for f in done.results()[0]["output"]] == \
        ["mine\n", "beside\n", "the notes\n", "int needle;\n"]


@pytest.mark.parametrize("answer", [YES, NO])
def test_a_glob_of_many_files_is_its_folder(world, outside, answer):  # noqa: F811
    world.write("mine.c", "mine\n")
    (outside / "deep" / "[b].c").write_text("brackets\n")
    (outside / "deep" / ".ssh").mkdir()
    (outside / "deep" / ".ssh" / "key.c").write_text("secret\n")
    names = ["*.c", "%s/deep/**/a*" % outside, "%s/deep/[b].c" % outside, "%s/deep/none*" % outside]
    done = run(world, call("read_many_files", {"paths": names}), answers=[answer])
    question, = asked(done)
    assert allowed(question) == [("read", str(outside / "deep"))] and question["details"]["stillDenied"] == []
    files = done.results()[0]["output"]
    if answer is NO:
        assert files[0]["content"] == "mine\n" and [code(f) for f in files[1:]] == ["denied_by_user"] * 3
        return
    assert [f.get("content") for f in files] == ["mine\n", "int needle;\n", "brackets\n", None]
    assert code(files[3]) == "file_not_found"


@pytest.mark.parametrize("glob", ["/*", "/**/*.c", "{o}/.ssh/*", "{o}/none/*.c", "/proc/self/*"])
def test_a_glob_of_what_is_not_offered(world, outside, glob):  # noqa: F811
    (outside / ".ssh").mkdir()
    (outside / ".ssh" / "id_rsa").write_text("secret\n")
    done = run(world, call("read_many_files", {"paths": [glob.format(o=outside)]}), answers=[YES])
    assert asked(done) == [] and code(done.results()[0]["output"][0]) == "outside_workspace"


def test_rules_that_look_at_files_are_no_second_item(world, outside):  # noqa: F811
    """Where rules on paths are asked, a search is preceded by a walk."""
    rule = world.path / "deny.toml"
    rule.write_text('[[rule]]\ntoolName = "search_files"\ndecision = "deny"\npriority = 200\n'
                    'argsPattern = "other.md"\n')
    notes = str(outside / "notes.md")
    done = run(world, call("search_files", {"pattern": "o", "path": notes}),
               call("search_files", {"pattern": "o", "path": str(outside)}), answers=[YES, YES], policy=[str(rule)])
    first, second = asked(done)
    assert allowed(first) == [("read", notes)] and first["details"]["stillDenied"] == []
    assert allowed(second) == [("read", str(outside))] and second["details"]["stillDenied"] == []
    assert done.results()[0]["matches"] == 1
    found = json.dumps(done.results()[1]["files"])
    assert "notes.md" in found and "other.md" not in found


@pytest.mark.parametrize("name", [b"\xff\x1b[m.md", "\u202egpj.md".encode(), b"a b\nc"])
def test_odd_names(world, outside, name):  # noqa: F811
    path = os.fsencode(outside) + b"/" + name
    with open(path, "w") as file:
        file.write("odd\n")
    shown = name.decode(errors="replace").replace("\ufffd", "\\xff")
    done = run(world, read("%s/%s" % (outside, shown)), answers=[YES])
    assert len(asked(done)) == 1 and done.results()[0]["content"] == "odd\n"


def test_a_search_is_for_all_beneath(world, outside):  # noqa: F811
    done = run(world, call("search_files", {"pattern": "needle", "path": str(outside)}), read(outside / "deep" / "a.c"),
               call("read_many_files", {"paths": [str(outside)]}),
               call("list_directory", {"path": str(outside.parent)}), answers=[ALWAYS, NO])
    assert [allowed(q)[0] for q in asked(done)] == [("read", str(outside)), ("list", str(outside.parent))]
    found, file, many, above = done.results()
    assert found["matches"] == 1 and file["content"] == "int needle;\n" and len(many["output"]) == 3
    assert code(above) == "denied_by_user"


def test_many_files_are_one_question(world, outside):  # noqa: F811
    world.write("mine", "mine\n")
    paths = ["mine", str(outside / "notes.md"), str(outside / "deep"), str(outside / "none")]
    done = run(world, call("read_many_files", {"paths": paths}), call("read_many_files", {"paths": paths}),
               answers=[YES, NO])
    first, second = asked(done)
    assert allowed(first) == [("read", str(outside / "notes.md")), ("read", str(outside / "deep"))]
    assert [k["what"] for k in first["details"]["stillDenied"]] == [str(outside / "none")]
    files, refused = (r["output"] for r in done.results())
    assert [f.get("content") for f in files] == ["mine\n", "the notes\n", "int needle;\n", None]
    assert refused[0]["content"] == "mine\n" and {code(f) for f in refused[1:]} == {"denied_by_user"}


def test_a_flood_is_cut(world, outside):  # noqa: F811
    names = [outside / ("f%02d" % i) for i in range(20)]
    for name in names:
        name.write_text("x")
    done = run(world, call("read_many_files", {"paths": [str(n) for n in names]}), answers=[YES, NO])
    question = asked(done)[0]
    assert len(allowed(question)) == 8 and len(question["details"]["stillDenied"]) == 8
    assert question["details"]["leftOut"] == 4


# ---- what is never offered -----------------------------------------------------------------------

@pytest.mark.in_turn("home")
@pytest.mark.parametrize("name", [".ssh/id_rsa", ".aws/credentials", ".netrc", ".gemini/oauth_creds.json",
                                  ".gemini/tmp/x", ".config/gh/hosts.yml"])
@pytest.mark.parametrize("home", ["own", "other"])
def test_secrets_are_refused_without_a_question(world, outside, name, home):  # noqa: F811
    target = (world.path / "home" if home == "own" else outside) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("secret\n")
    done = run(world, read(target), call("search_files", {"pattern": "secret", "path": str(target)}),
               call("read_many_files", {"paths": [str(target)]}), answers=[YES] * 3)
    assert asked(done) == [] and "secret\n" not in json.dumps(done.results())
    assert code(done.results()[0]) == "outside_workspace"


@LEVELS
def test_a_folder_of_secrets_is_not_offered_and_what_is_hidden_stays_so(world, level):  # noqa: F811
    home = world.path / "home"
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_rsa").write_text("needle\n")
    (home / "x").write_text("needle\n")
    done = run(world, call("list_directory", {"path": str(home / ".ssh")}),
               call("search_files", {"pattern": "needle", "path": str(home), "hidden": True}),
               answers=[YES], level=level)
    assert [allowed(q) for q in asked(done)] == [[("read", str(home))]]
    assert done.results()[1]["matches"] == 1


@LEVELS
@pytest.mark.parametrize("beneath", ["", "other", "other/.config"])
def test_secrets_of_others_stay_hidden(world, level, beneath):  # noqa: F811
    """In a folder with home folders, in one that may be one, and in one in it."""
    other = world.path / "other"
    for name in (".ssh/id_rsa", ".config/gh/hosts.yml", ".netrc", ".gemini/oauth_creds.json"):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text("needle\n")
    (other / ".config" / "plain").write_text("needle\n")
    folder = world.path / beneath
    secret = str(other / ".config" / "gh" / "hosts.yml")
    done = run(world, call("search_files", {"pattern": "needle", "path": str(folder), "hidden": True}), read(secret),
               call("read_many_files", {"paths": [secret, str(folder)]}), answers=[ALWAYS], level=level)
    assert [allowed(q) for q in asked(done)] == [[("read", str(folder))]]
    found, one, many = done.results()
    assert [f["file_path"].split("/")[-1] for f in found["files"]] == ["plain"] and found["matches"] == 1
    assert "needle" not in json.dumps(one) and json.dumps(many).count("needle") == 1
    assert "hosts" not in json.dumps(found)


@pytest.mark.parametrize("path", [
    "/proc/self/environ", "/proc/self/cmdline", "/proc/1/status", "/proc/self/fd/0", "/sys/kernel/uevent_seqnum",
    "/dev/null", "/dev/stdin", "/dev/shm", "/nowhere/at/all", "{o}/fifo", "{o}/socket", "{o}/deep", "{o}/loop",
    *NOT_ROOTS("{o}/closed", "{o}/closed-folder/x"), "{o}/notes.md/x", "{o}/a" + "a" * 300, "/" + "a/" * 3000])
def test_what_is_no_file_is_refused_without_a_question(world, outside, path):  # noqa: F811
    import socket
    os.mkfifo(outside / "fifo")
    socket.socket(socket.AF_UNIX).bind(str(outside / "socket"))
    (outside / "closed").write_text("x")
    (outside / "closed").chmod(0)
    (outside / "closed-folder").mkdir()
    (outside / "closed-folder" / "x").write_text("x")
    (outside / "closed-folder").chmod(0)
    (outside / "loop").symlink_to("loop")
    try:
        done = run(world, read(path.format(o=outside)), answers=[YES])
    finally:
        (outside / "closed-folder").chmod(0o700)
    assert asked(done) == []
    assert code(done.results()[0]) in ("outside_workspace", "invalid_argument")


def test_a_way_around_into_the_workspace_is_no_question(world):  # noqa: F811
    world.write("a", "a\n")
    (world.path / "link").symlink_to(world.root)
    done = run(world, read(world.path / "link" / "a"), read("/proc/self/cwd/a"), answers=[YES, YES])
    assert asked(done) == [] and [code(r) for r in done.results()] == ["outside_workspace"] * 2


def test_a_magic_link_is_its_text(world, outside):  # noqa: F811
    done = run(world, read("/proc/self/root%s/notes.md" % outside), answers=[NO])
    assert allowed(asked(done)[0]) == [("read", str(outside / "notes.md"))]


def test_a_hard_link_is_read_as_what_it_is_named(world, outside):  # noqa: F811
    os.link(outside / "notes.md", outside / "twin")
    done = run(world, read(outside / "twin"), read(outside / "notes.md"), answers=[ALWAYS, NO])
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / "twin"), str(outside / "notes.md")]
    assert done.results()[0]["content"] == "the notes\n"


# ---- what changes meanwhile ----------------------------------------------------------------------

def swapping(world, script):  # noqa: F811
    """A hook that runs when the question is put, before it is answered."""
    path = world.path / "swap"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return {"Notification": [{"matcher": "ToolPermission", "hooks": [{"type": "command", "command": str(path)}]}]}


def test_a_link_that_is_swapped_is_asked_about_again(world, outside):  # noqa: F811
    (outside / "link").symlink_to("notes.md")
    hooks = swapping(world, "ln -sfn other.md %s/link\n" % outside)
    done = run(world, read(outside / "link"), answers=[ALWAYS, NO], hooks=hooks)
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / "notes.md"), str(outside / "other.md")]
    assert code(done.results()[0]) == "denied_by_user"


def test_a_file_that_becomes_a_link_is_asked_about_again(world, outside):  # noqa: F811
    hooks = swapping(world, "cd %s && ln -sfn other.md notes.md\n" % outside)
    done = run(world, read(outside / "notes.md"), answers=[ALWAYS, NO], hooks=hooks)
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / "notes.md"), str(outside / "other.md")]
    assert code(done.results()[0]) == "denied_by_user"


def test_a_folder_that_becomes_a_link_is_asked_about_again(world, outside):  # noqa: F811
    (outside / "secret").mkdir()
    (outside / "secret" / "a.c").write_text("secret\n")
    hooks = swapping(world, "cd %s && mv deep gone && ln -sfn secret deep\n" % outside)
    done = run(world, read(outside / "deep" / "a.c"), answers=[ALWAYS, NO], hooks=hooks)
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / "deep" / "a.c"), str(outside / "secret" / "a.c")]
    assert "secret\n" not in json.dumps(done.results())


def test_not_more_than_three_runs(world, outside):  # noqa: F811
    for i in range(9):
        (outside / str(i)).write_text("x\n")
    (outside / "link").symlink_to("0")
    hooks = swapping(world, "cd %s; ln -sfn $(( $(readlink link) + 1 )) link\n" % outside)
    done = run(world, read(outside / "link"), answers=[YES] * 9, hooks=hooks)
    assert len(asked(done)) == 2 and code(done.results()[0]) == "outside_workspace"


# ---- writing -------------------------------------------------------------------------------------

AUTO = {"mode": "auto_edit"}


def sha(content):
    return hashlib.sha256(content.encode()).hexdigest()


def write(path, content, **more):
    return call("write_file", {"file_path": str(path), "content": content, **more})


def update(path, old, new, **more):
    return call("update_file", {"file_path": str(path), "old_content": old, "new_content": new, **more})


def listing(folder):
    return sorted(os.listdir(folder))


@LEVELS
def test_a_file_is_edited_and_only_that(world, outside, level):  # noqa: F811
    notes, before = outside / "notes.md", listing(outside)
    done = run(world, update(notes, "the", "my", base_content_sha256=sha("the notes\n")),
               update(outside / "other.md", "others", "x"), answers=[YES, NO], level=level, **AUTO)
    first, second = asked(done)
    assert allowed(first) == [("write", str(notes))] and allowed(second) == [("write", str(outside / "other.md"))]
    assert first["details"]["canRewind"] is False
    assert first["details"]["additionalPermissions"]["fileSystem"] == {"read": [], "write": [str(notes)]}
    edited, refused = done.results()
    assert edited["success"] and edited["latest_file_state"]["sha256"] == sha("my notes\n")
    assert "write %s" % notes in edited["user_review"]["message"] and "runs" not in edited["user_review"]
    assert code(refused) == "denied_by_user" and not refused["success"]
    assert notes.read_text() == "my notes\n" and (outside / "other.md").read_text() == "others\n"
    assert listing(outside) == before


def test_the_edit_itself_is_asked_about_after_that(world, outside):  # noqa: F811
    """Which file is one question, what is written to it another."""
    notes = outside / "notes.md"
    done = run(world, update(notes, "the", "my"), update(notes, "the", "your"),
               answers=[ALWAYS, dict(NO, message="Not mine."), YES])
    questions = done.told("tool-confirmation-request")
    assert [q["details"]["type"] for q in questions] == ["sandbox_expansion", "edit", "edit"]
    assert questions[1]["details"]["newContent"] == "my notes\n"
    assert code(done.results()[0]) == "denied_by_user" and notes.read_text() == "your notes\n"


def test_the_state_has_to_be_named_as_inside(world, outside):  # noqa: F811
    notes = outside / "notes.md"
    done = run(world, write(notes, "new\n"), write(notes, "new\n", base_content_sha256=sha("else")),
               write(notes, "new\n", base_content_sha256=sha("the notes\n")), answers=[ALWAYS], **AUTO)
    assert [code(r) for r in done.results()[:2]] == ["base_required", "state_mismatch"]
    assert done.results()[1]["latest_file_state"]["content"] == "the notes\n"
    assert done.results()[2]["success"] and notes.read_text() == "new\n"
    assert len(asked(done)) == 1


@LEVELS
def test_a_new_file_is_that_name_alone(world, outside, level):  # noqa: F811
    done = run(world, write(outside / "new.md", "new\n"), write(outside / "newer.md", "x\n"),
               write(outside / "none" / "x.md", "x\n"), answers=[ALWAYS, NO, YES], level=level, **AUTO)
    assert [allowed(q) for q in asked(done)] == [[("create", str(outside / n))] for n in ("new.md", "newer.md")]
    assert (outside / "new.md").read_text() == "new\n"
    assert listing(outside) == ["deep", "new.md", "notes.md", "other.md"]
    assert [code(r) for r in done.results()[1:]] == ["denied_by_user", "outside_workspace"]


def test_a_new_file_beside_the_workspace_and_at_home(world):  # noqa: F811
    world.write("mine", "mine\n")
    home = world.path / "home"
    done = run(world, write("../new.md", "new\n"), write(home / "todo.md", "todo\n"), answers=[YES, YES], **AUTO)
    assert [allowed(q)[0][1] for q in asked(done)] == [str(world.path / "new.md"), str(home / "todo.md")]
    assert (world.path / "new.md").read_text() == "new\n" and (home / "todo.md").read_text() == "todo\n"
    assert listing(world.root) == ["mine"]


def test_reading_is_not_writing_and_writing_is_reading(world, outside):  # noqa: F811
    notes, other = outside / "notes.md", outside / "other.md"
    done = run(world, read(notes), update(notes, "the", "my"), update(other, "others", "mine"), read(other),
               answers=[ALWAYS, NO, ALWAYS], **AUTO)
    assert [allowed(q)[0][0] for q in asked(done)] == ["read", "write", "write"]
    assert notes.read_text() == "the notes\n" and done.results()[3]["content"] == "mine\n"


def test_what_is_allowed_to_file_tools_is_not_to_commands(world, outside):  # noqa: F811
    notes = outside / "notes.md"
    rule = world.path / "allow.toml"
    rule.write_text('[[rule]]\ntoolName = "run_shell_command"\ndecision = "allow"\npriority = 100\n'
                    'allowRedirection = true\n')
    done = run(world, update(notes, "the", "my"), call("run_shell_command", {"command": "echo x >> %s" % notes}),
               answers=[ALWAYS, NO], policy=[str(rule)], **AUTO)
    assert notes.read_text() == "my notes\n"
    assert len(done.told("tool-confirmation-request")) == 2


@pytest.mark.in_turn("there")
@pytest.mark.parametrize("name", [
    ".bashrc", ".profile", ".ssh/config", ".ssh/new", ".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json",
    ".config/git/config", ".gemini/settings.json", ".gemini/policies/x.toml", "deep/er/.mcp.json", ".netrc",
    ".gitconfig", "sub/.gemini/settings.json"])
@pytest.mark.parametrize("there", [True, False])
def test_protected_files_are_refused_without_a_question(world, outside, name, there):  # noqa: F811
    target = outside / name
    target.parent.mkdir(parents=True, exist_ok=True)
    for part in ("objects", "refs"):
        (outside / ".git" / part).mkdir(parents=True, exist_ok=True)
    (outside / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if there:
        target.write_text("old\n")
    done = run(world, write(target, "new\n", base_content_sha256=sha("old\n")), answers=[YES], **AUTO)
    assert asked(done) == [] and not done.results()[0]["success"]
    assert target.exists() == there and (not there or target.read_text() == "old\n")


@pytest.mark.parametrize("path", [
    "/etc/hasp-new", "/usr/lib/hasp-new", "/proc/self/comm", "/proc/self/attr/x", "/dev/shm/hasp-new", "/hasp-new",
    "{o}/program", "{o}/fifo", "{o}/twin", "{o}/deep", *NOT_ROOTS("{o}/sealed/new"), "{o}/none/new", "/etc/hostname"])
def test_what_is_no_plain_file_of_the_users_is_refused(world, outside, path):  # noqa: F811
    os.mkfifo(outside / "fifo")
    (outside / "program").write_text("#!/bin/sh\n")
    (outside / "program").chmod(0o755)
    os.link(outside / "notes.md", outside / "twin")
    (outside / "sealed").mkdir()
    (outside / "sealed").chmod(0o500)
    path = path.format(o=outside)
    done = run(world, write(path, "new\n"), answers=[YES], **AUTO)
    assert asked(done) == [] and not done.results()[0]["success"]
    assert (outside / "notes.md").read_text() == "the notes\n" and not os.path.exists("/hasp-new")


def test_a_written_link_is_the_file_that_it_leads_to(world, outside):  # noqa: F811
    (world.root / "link").symlink_to(outside / "notes.md")
    done = run(world, update("link", "the", "my"), answers=[YES], **AUTO)
    assert allowed(asked(done)[0]) == [("write", str(outside / "notes.md"))]
    assert (outside / "notes.md").read_text() == "my notes\n" and (world.root / "link").is_symlink()


@pytest.mark.parametrize("swap", ["ln -sfn other.md notes.md", "mv deep gone; ln -sfn notes.md link",
                                  "rm notes.md; mkfifo notes.md", "ln notes.md twin"])
def test_a_swap_before_the_write_writes_nothing_else(world, outside, swap):  # noqa: F811
    hooks = swapping(world, "cd %s && [ -e swapped ] || { touch swapped; %s; }\n" % (outside, swap))
    done = run(world, update(outside / "notes.md", "o", "0"), answers=[YES, NO, NO], hooks=hooks, **AUTO)
    assert (outside / "other.md").read_text() == "others\n"
    for question in asked(done)[1:]:
        assert allowed(question) == [("write", str(outside / "other.md"))]
    if "notes.md" in swap and "link" not in swap and "twin" not in swap:
        assert not done.results()[0]["success"]


def test_a_folder_swapped_before_the_write(world, outside):  # noqa: F811
    (outside / "secret").mkdir()
    (outside / "secret" / "a.c").write_text("int needle;\n")
    hooks = swapping(world, "cd %s && [ -e gone ] || { mv deep gone; ln -sfn secret deep; }\n" % outside)
    done = run(world, update(outside / "deep" / "a.c", "needle", "x"), answers=[ALWAYS, NO], hooks=hooks, **AUTO)
    assert [allowed(q)[0][1] for q in asked(done)] == [str(outside / "deep" / "a.c"), str(outside / "secret" / "a.c")]
    assert (outside / "secret" / "a.c").read_text() == (outside / "gone" / "a.c").read_text() == "int needle;\n"


# ---- whom nobody asks ----------------------------------------------------------------------------

def test_nobody_is_asked_in_yolo_mode_or_without_a_front(world, outside):  # noqa: F811
    for job in ({"interactive": True, "mode": "yolo"}, {"interactive": False, "mode": "yolo"},
                {"interactive": False, "mode": "default"}):
        done = run(world, read(outside / "notes.md"), answers=[YES], **job)
        assert asked(done) == []
        result, = done.results()
        assert code(result) == "outside_workspace" and "is outside the workspace." in result["message"]


def test_always_can_be_disabled(world, outside):  # noqa: F811
    done = run(world, read(outside / "notes.md"), answers=[ALWAYS],
               settings={"security": {"disableAlwaysAllow": True}})
    assert asked(done)[0]["outcomes"] == ["proceed_once", "cancel"]
    assert code(done.results()[0]) == "denied_by_user"


@pytest.mark.parametrize("named", ["notes.md", "link"])
def test_a_deny_rule_is_no_question(world, outside, named):  # noqa: F811
    (outside / "link").symlink_to("notes.md")
    rule = world.path / "deny.toml"
    rule.write_text('[[rule]]\ntoolName = "read_file"\ndecision = "deny"\npriority = 200\nargsPattern = %s\n'
                    % json.dumps("%s/notes" % outside))
    done = run(world, read(outside / named), answers=[YES], policy=[str(rule)])
    assert asked(done) == [] and code(done.results()[0]) == "denied_by_policy"
