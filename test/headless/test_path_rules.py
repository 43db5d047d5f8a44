# SPDX-License-Identifier: Apache-2.0
"""Rules on paths hold for the file that is opened, whatever path leads to it, and for each file of many."""
import json
import os
import subprocess
import sys

import pytest
from fake_gemini import call, text

SECRET = "TOKEN=hunter2-7fd1"
ALL = {"use_default_excludes": False}  # .env is among those
DENY = [{"toolName": "*", "argsPattern": r"\.env", "decision": "deny", "priority": 900}]


def rules(world, *rows):
    """The user's policy file."""
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(exist_ok=True)
    lines = []
    for row in rows:
        lines.append("[[rule]]")
        for name, value in row.items():
            quoted = "'%s'" % value if name == "argsPattern" else json.dumps(value)
            lines.append("%s = %s" % (name, quoted))
    (folder / "paths.toml").write_text("\n".join(lines) + "\n")


@pytest.fixture
def tree(world):
    world.write("a/b/.env", SECRET + "\n")
    world.write("a/b/plain.txt", "TOKEN=public\n")
    world.write("top.txt", "TOKEN=top\n")
    (world.root / "l2").symlink_to("a/b/.env")
    (world.root / "chain").symlink_to("l2")
    (world.root / "d").symlink_to("a/b")
    rules(world, *DENY)
    return world


def attempts(world, calls, *args):
    """The results of calls, one after the other."""
    done = world.run([calls, [text("Done.")]], "-p", "Do it.", *args)
    assert done.code in (0, 56), done.err
    return done.results(), done


def denied(result):
    result = result if isinstance(result, dict) else {"error": {}}
    return result.get("error", {}).get("code") == "denied_by_policy"


def output(result):
    """The list that read_many_files gives."""
    return result["output"]


# ---- one file ------------------------------------------------------------------------------------

def spellings(world):
    return ["a/b/.env", "l2", "chain", "d/.env", "a/../l2", "./a/b/../b/.env", "d/../b/.env",
            str(world.root / "l2"), str(world.root / "d" / ".env")]


def test_a_file_is_denied_by_every_path_that_leads_to_it(tree):
    paths = spellings(tree)
    results, done = attempts(tree, [call("read_file", {"file_path": path}) for path in paths])
    assert [denied(result) for result in results] == [True] * len(paths), results
    assert SECRET not in done.said()
    assert "l2 is a/b/.env" in results[1]["message"], results[1]


def test_rules_tell_names_apart_that_are_no_text(tree):
    """a\\xe9 in six characters, which a result spells a\\x5cxe9, and the two bytes that are shown as a\\xe9."""
    tree.write("a\\xe9", "TOKEN=letters\n")
    with open(os.path.join(os.fsencode(tree.root), b"a\xe9"), "w") as file:
        file.write("TOKEN=bytes\n")
    rules(tree, {"toolName": "read_file", "argsPattern": r'"file_path":"a\\\\x5cxe9"', "decision": "deny",
                 "priority": 900})
    (one, two, found, many), _ = attempts(tree, [
        call("read_file", {"file_path": "a\\x5cxe9"}), call("read_file", {"file_path": "a\\xe9"}),
        call("search_files", {"pattern": "TOKEN=", "path": "."}), call("read_many_files", {"paths": ["a*"]})])
    assert denied(one) and two["content"] == "TOKEN=bytes\n"
    for shown in (json.dumps(found), json.dumps(many)):
        assert "TOKEN=letters" not in shown and "TOKEN=bytes" in shown, shown


def test_other_files_are_read_as_before(tree):
    (tree.root / "ok").symlink_to("a/b/plain.txt")
    results, _ = attempts(tree, [call("read_file", {"file_path": path})
                                 for path in ["ok", "d/plain.txt", "top.txt", "missing"]])
    assert [result.get("content") for result in results] == [
        "TOKEN=public\n", "TOKEN=public\n", "TOKEN=top\n", None]
    assert results[3]["error"]["code"] == "file_not_found"


@pytest.mark.parametrize("name", ["read_file", "query_data", "read_many_files", "search_files", "grep_search",
                                  "glob", "list_directory"])
def test_a_rule_for_any_tool_is_as_strong_as_one_for_each(tree, name):
    """What the reproduction of the finding did with "*", with every tool's own name too."""
    calls = {
        "read_file": {"file_path": "l2"},
        "query_data": {"file_path": "l2"},
        "read_many_files": {"paths": ["a/b/.e*"], **ALL},
        "search_files": {"pattern": "TOKEN", "include": ["a/b/.e*"]},
        "grep_search": {"pattern": "TOKEN", "dir_path": "a"},
        "glob": {"pattern": "a/b/.e*"},
        "list_directory": {"dir_path": "a/b"},
    }
    for tool in ("*", name):
        rules(tree, dict(DENY[0], toolName=tool))
        results, done = attempts(tree, [call(name, calls[name])])
        said = json.dumps(results)
        assert SECRET not in done.said() and "policy" in said, (tool, said)
        if name in ("glob", "list_directory"):
            assert results[0]["left_out_by_policy"] == 1 and '.env"' not in said, said


def test_what_is_allowed_by_a_path_is_not_allowed_by_a_link_there(world):
    world.write("docs/a.md", "a\n")
    world.write("src/x", "inside\n")
    (world.root / "docs/l.md").symlink_to("../src/x")
    (world.root / "out").symlink_to("docs/a.md")
    rules(world, {"toolName": ["read_file", "read_many_files"], "decision": "ask_user",
                  "priority": 100},
          {"toolName": "read_file", "argsPattern": r'\x00"file_path":"docs/', "decision": "allow",
           "priority": 200},
          {"toolName": "write_file", "argsPattern": r'\x00"file_path":"docs/', "decision": "allow",
           "priority": 200})
    results, _ = attempts(world, [call("read_file", {"file_path": "docs/a.md"}),
                                  call("read_file", {"file_path": "docs/l.md"}),
                                  call("read_file", {"file_path": "out"}),
                                  call("write_file", {"file_path": "docs/new.md", "content": "n\n"}),
                                  call("write_file", {"file_path": "docs/l.md", "content": "n\n"})])
    assert [denied(result) for result in results] == [False, True, True, False, True], results
    assert world.read("src/x") == "inside\n" and world.read("docs/new.md") == "n\n"


def test_a_plan_is_not_written_through_a_link(world):
    world.write("main.c", "int main;\n")
    folder = world.root / ".gemini/tmp/p/plans"
    folder.mkdir(parents=True)
    (folder / "plan.md").symlink_to("../../../../main.c")
    results, _ = attempts(world, [
        call("write_file", {"file_path": ".gemini/tmp/p/plans/plan.md", "content": "x\n",
                            "base_content_sha256": world.write("main.c", "int main;\n")}),
        call("write_file", {"file_path": ".gemini/tmp/p/plans/new.md", "content": "x\n"}),
    ], "--approval-mode", "plan")
    assert denied(results[0]) and world.read("main.c") == "int main;\n", results
    assert not denied(results[1]), results


# ---- edits ---------------------------------------------------------------------------------------

def edits(base):
    return [
        ("write_file", {"file_path": "l2", "content": "x\n", "base_content_sha256": base}),
        ("write_file", {"file_path": "d/.env", "content": "x\n"}),
        ("update_file", {"file_path": "l2", "old_content": "TOKEN", "new_content": "T"}),
        ("replace", {"file_path": "chain", "old_string": "nonesuch", "new_string": "T"}),
        ("safe_patch", {"file_path": "d/.env", "base_content_sha256": base,
                        "unified_diff": "@@ -1 +1 @@\n-%s\n+x\n" % SECRET}),
        ("write_file", {"file_path": "d/.env.new", "content": "x\n"}),
        ("apply_changes", {"changes": [
            {"kind": "write", "file_path": "ok.txt", "content": "x\n"},
            {"kind": "delete", "file_path": "l2", "base_content_sha256": base}]}),
        ("apply_changes", {"changes": [
            {"kind": "move", "file_path": "l2", "new_path": "seen", "base_content_sha256": base}]}),
        ("apply_changes", {"changes": [
            {"kind": "create", "file_path": "n.txt", "content": "x\n"},
            {"kind": "move", "file_path": "n.txt", "new_path": "d/.env.d/n"}]}),
        # What does not pass validation has the file's state in its answer, too.
        ("update_file", {"file_path": "l2", "old_content": 5}),
        ("write_file", {"file_path": "a/b/.env", "content": []}),
    ]


@pytest.mark.parametrize("mode", ["yolo", "default"])
def test_no_editor_writes_or_shows_a_denied_file(tree, mode):
    base = tree.write("a/b/.env", SECRET + "\n")
    calls = [call(name, arguments) for name, arguments in edits(base)]
    sent = json.dumps([arguments for _, arguments in edits(base)]).count(SECRET)
    results, done = attempts(tree, calls, "--approval-mode", mode)
    assert tree.read("a/b/.env") == SECRET + "\n"
    assert sorted(path.name for path in (tree.root / "a/b").iterdir()) == [".env", "plain.txt"]
    assert not (tree.root / "seen").exists() and not (tree.root / "ok.txt").exists()
    assert done.said().count(SECRET) == sent
    assert SECRET not in json.dumps(results), results
    assert [result["success"] for result in results] == [False] * len(results)


def test_a_file_that_must_not_be_read_is_not_shown_by_an_edit(tree):
    rules(tree, dict(DENY[0], toolName="read_file"))
    results, _ = attempts(tree, [
        call("update_file", {"file_path": "l2", "old_content": "nonesuch", "new_content": "x"}),
        call("write_file", {"file_path": "d/.env", "content": "x\n"})], "--yolo")
    assert SECRET not in json.dumps(results), results


# ---- many files ----------------------------------------------------------------------------------

def test_many_files_leave_denied_ones_out_and_say_how_many(tree):
    tree.write("c/.env", SECRET + "\n")
    results, done = attempts(tree, [
        call("read_many_files", {"paths": ["a", "c/.e*", "top.txt"], **ALL}),
        call("read_many_files", {"paths": ["l2", "d/.env", "top.txt"]}),
        call("read_many_files", {"paths": ["d"], **ALL}),
        call("read_many_files", {"include": ["**/.e*"], **ALL})])
    assert SECRET not in done.said()
    first = output(results[0])
    assert [file.get("content") for file in first[:2]] == ["TOKEN=public\n", "TOKEN=top\n"], first
    assert first[2]["left_out_count"] == 2 and denied(first[2]), first
    assert denied(results[1]), results[1]  # those that are named are a matter of the whole call
    assert [denied(file) for file in output(results[2])] == [False, True], results[2]
    assert [file.get("left_out_count") for file in output(results[3])] == [2], results[3]


@pytest.mark.parametrize("more", [{}, {"output": "files"}, {"output": "counts"},
                                  {"output": "detailed"}, {"with_hashes": True}])
def test_a_search_says_nothing_of_denied_files(tree, more):
    calls = [dict(more, pattern=pattern, **where) for pattern in ("hunter2", "nonesuch")
             for where in ({}, {"path": "a"}, {"path": "d"}, {"include": [".e*"]})]
    results, done = attempts(tree, [call("search_files", one) for one in calls])
    assert "7fd1" not in done.said()
    for found, absent in zip(results[:4], results[4:]):
        assert found["left_out_by_policy"] == 1 and found["files"] == [], found
        assert found == absent  # whether it is in them cannot be told


def test_limits_of_a_search_count_what_may_be_seen(tree):
    for i in range(20):
        tree.write("a/.env%02d" % i, "TOKEN\n")
    tree.write("z.txt", "TOKEN\n")
    results, _ = attempts(tree, [
        call("search_files", {"pattern": "TOKEN", "max_results": 3}),
        call("glob", {"pattern": "**/*", "max_results": 4, "order": "name"}),
        call("glob", {"pattern": "**/*", "max_results": 2, "order": "name"})])
    assert [file["file_path"] for file in results[0]["files"]] == [
        "a/b/plain.txt", "top.txt", "z.txt"], results[0]
    assert results[0]["more"] is False and results[0]["left_out_by_policy"] == 21
    assert results[1]["files"] == ["a/b/plain.txt", "top.txt", "z.txt"], results[1]
    assert results[1]["more"] is False and results[1]["left_out_by_policy"] == 21
    assert results[2]["files"] == ["a/b/plain.txt", "top.txt"] and results[2]["more"] is True


def test_one_denied_file_is_not_searched_by_name(tree):
    paths = spellings(tree)
    results, done = attempts(tree, [call("search_files", {"pattern": "TOKEN", "path": path})
                                    for path in paths])
    assert [denied(result) for result in results] == [True] * len(paths), results
    assert SECRET not in done.said()


def test_names_that_patterns_could_take_for_more_are_left_out_alone(tree):
    for name in ("x[1].env", "a*.env", "{b,c}.env", "back\\slash.env", "!not.env", "x1.txt", "ab.txt"):
        tree.write("odd/" + name, "TOKEN\n")
    (result,), _ = attempts(tree, [call("search_files", {"pattern": "TOKEN", "path": "odd"})])
    assert [file["file_path"] for file in result["files"]] == ["odd/ab.txt", "odd/x1.txt"]
    assert result["left_out_by_policy"] == 5


def test_a_file_that_would_be_asked_about_is_left_out_of_many(tree):
    rules(tree, {"toolName": "read_file", "argsPattern": r"\.env", "decision": "ask_user",
                 "priority": 900})
    results, done = attempts(tree, [call("read_many_files", {"paths": ["a"], **ALL}),
                                    call("search_files", {"pattern": "TOKEN"}),
                                    call("list_directory", {"path": "a/b"})])
    assert SECRET not in done.said()
    assert output(results[0])[1]["left_out_count"] == 1
    assert results[1]["left_out_by_policy"] == 1
    # Only its name: the rule is about reading.
    assert [entry["name"] for entry in results[2]["entries"]] == [".env", "plain.txt"]


def test_a_folder_that_a_link_leads_to_is_that_folder(world):
    world.write("vault/key", SECRET + "\n")
    (world.root / "v").symlink_to("vault")
    rules(world, {"toolName": "*", "argsPattern": '"(file_path|path|dir_path)":"vault',
                  "decision": "deny", "priority": 900})
    results, done = attempts(world, [
        call("list_directory", {"path": "v"}), call("glob", {"pattern": "*", "path": "v"}),
        call("search_files", {"pattern": "TOKEN", "path": "v"}),
        call("read_many_files", {"paths": ["v"]}), call("read_file", {"file_path": "v/key"})])
    assert SECRET not in done.said()
    assert [denied(result) for result in results] == [True] * 5, results


# ---- mentions --------------------------------------------------------------------------------------

@pytest.mark.parametrize("named", ["l2", "a/b/.env", "d/.env", "a", "a/b/.e*", "./a/../l2"])
def test_a_prompt_does_not_bring_in_a_denied_file(tree, named):
    done = tree.run([[text("Done.")]], "-p", "What is in @%s ?" % named)
    assert done.code == 0 and SECRET not in done.said(0)
    assert ("TOKEN=public" in done.said(0)) == (named == "a")
    assert "policy" in done.said(0)


def test_instructions_do_not_bring_in_a_denied_file(tree):
    tree.write("GEMINI.md", "Read this: @./a/b/.env and @./d/.env and @./l2 and @./top.txt\n")
    (tree.root / "AGENTS.md").symlink_to("a/b/.env")
    tree.settings(context={"fileName": ["GEMINI.md", "AGENTS.md"]})
    done = tree.run([[text("Done.")]], "-p", "Hello")
    assert SECRET not in done.said(0) and "Read this" in done.said(0)


# ---- commands --------------------------------------------------------------------------------------

def test_a_command_is_judged_by_its_text_and_kept_from_a_file_by_deny(tree):
    """What docs/policy.md says about commands."""
    written = ["cat a/b/.env", "ls; cat ./a/b/.e\"nv\" | head", "sh -c 'cat a/b/.env'",
               "X=$(cat a/b/.env); echo $X"]
    others = ["cat l2", "cat a/b/.e*", "cd a/b && cat .[e]nv"]
    results, done = attempts(tree, [call("run_shell_command", {"command": command})
                                    for command in written], "--yolo")
    assert [denied(result) for result in results] == [True] * len(written), results
    assert SECRET not in done.said()
    _, done = attempts(tree, [call("run_shell_command", {"command": command})
                              for command in others], "--yolo", "--deny", "a/b/.env")
    assert SECRET not in done.said()


# ---- links that change ---------------------------------------------------------------------------

def test_a_link_that_changes_all_the_time_leads_to_nothing_denied(tree):
    """The path is judged first and opened then; what was opened is what counts."""
    swap = tree.root / "swap"
    swap.symlink_to("top.txt")
    script = tree.top / "swap.py"
    script.write_text(
        "import os, sys\n"
        "while os.path.exists(sys.argv[2]):\n"
        "    for target in ('a/b/.env', 'top.txt'):\n"
        "        os.symlink(target, sys.argv[1] + '.n')\n"
        "        os.replace(sys.argv[1] + '.n', sys.argv[1])\n")
    going = tree.top / "going"
    going.write_text("")
    swapper = subprocess.Popen([sys.executable, str(script), str(swap), str(going)])
    try:
        calls = [call("read_file", {"file_path": "swap"}) for _ in range(40)]
        calls += [call("read_many_files", {"paths": ["swap"]}) for _ in range(20)]
        calls += [call("search_files", {"pattern": "TOKEN", "path": "swap"}) for _ in range(20)]
        calls += [call("update_file", {"file_path": "swap", "old_content": "TOKEN",
                                       "new_content": "TOKEN"}) for _ in range(20)]
        _, done = attempts(tree, calls, "--yolo")
    finally:
        going.unlink()
        swapper.wait()
    assert SECRET not in done.said()
    assert tree.read("a/b/.env") == SECRET + "\n"
