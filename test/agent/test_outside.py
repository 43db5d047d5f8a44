# SPDX-License-Identifier: Apache-2.0
"""A file tool that is refused what is outside of the workspace: somebody is asked, and exactly that is allowed. Real
workers in a real sandbox; every answer against what the model is told and what is on disk."""
import fcntl
import hashlib
import json
import os
import shutil
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_agent import call, text, world  # noqa: F401  (world is a fixture)

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
pytestmark = [pytest.mark.in_turn("level"), pytest.mark.rows_in_turn(2)]


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


# ---- several files as one change -----------------------------------------------------------------

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
                for pid in (probe if whom != "workers" else []) + [d for p in probe for d in descendants(p)]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
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
