# SPDX-License-Identifier: Apache-2.0
"""What was not seen is not overwritten by a call that names no hash, in any dialect and by any way round."""
import hashlib
import json

import pytest
from fake_gemini import call, text

LINES = "one\ntwo\nthree\n"
LONG = "".join("line %d\n" % i for i in range(3000))
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** End Patch"

# Calls that put a whole content in the place of another, none with a hash.
WHOLE = [
    ("Write", {"file_path": "a.txt", "content": "new\n"}),
    ("write_to_file", {"path": "a.txt", "content": "new\n"}),
    ("create_file", {"filePath": "a.txt", "content": "new\n"}),
    ("str_replace_based_edit_tool", {"command": "create", "path": "a.txt", "file_text": "new\n"}),
    ("write_file", {"file_path": "a.txt", "content": "new\n"}),
    ("write_file", {"file_path": "a.txt", "content": "new\n", "base_content_sha256": "seen"}),
    ("apply_changes", {"changes": [{"kind": "write", "file_path": "a.txt", "content": "new\n",
                                    "base_content_sha256": "seen"}]}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch"}),
]
# Those that say what they take the place of.
PARTS = [
    ("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "2"}),
    ("MultiEdit", {"file_path": "a.txt", "edits": [{"old_string": "two", "new_string": "2"}]}),
    ("apply_patch", {"input": PATCH}),
    ("shell", {"command": ["apply_patch", PATCH]}),
    ("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": 1, "insert_text": "x"}),
    ("replace_in_file", {"path": "a.txt", "diff": "------- SEARCH\ntwo\n=======\n2\n+++++++ REPLACE\n"}),
    ("delete_file", {"target_file": "a.txt"}),
    ("patch", {"file_path": "a.txt", "diff": "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}),
]


def results(done, i):
    """Those that are new in request `i`."""
    return [json.dumps(result) for result in done.results(i)[len(done.results(i - 1)):]]


def steps(world, *replies, **more):
    return world.run([*replies, [text("Done.")]], "--yolo", "-p", "x", **more)


@pytest.mark.parametrize("name, args", WHOLE)
def test_a_part_that_was_read_is_not_enough_for_a_whole_content(world, name, args):
    world.write("a.txt", LONG)
    done = steps(world, [call("Read", {"file_path": "a.txt", "limit": 5})], [call(name, args)], [call(name, args)])
    for result in results(done, 2) + results(done, 3):
        assert '"base_required"' in result, result
    assert world.read("a.txt") == LONG


def changed(*numbers):
    lines = LONG.splitlines(True)
    for number in numbers:
        lines[number] = "LINE %d\n" % number
    return "".join(lines)


def patch(number):
    return {"file_path": "a.txt", "unified_diff": "@@\n line %d\n-line %d\n+LINE %d\n line %d\n" % (
        number - 1, number, number, number + 1)}


def change(kind, **members):
    return {"changes": [dict(members, kind=kind, file_path="a.txt")]}


READ_TEN = call("read_file", {"file_path": "a.txt", "start_line": 101, "max_lines": 10})  # line 100 to line 109
BY_LINES = [  # (name, the call that changes line N)
    ("safe_patch", patch), ("apply_changes", lambda n: change("patch", unified_diff=patch(n)["unified_diff"])),
    ("write_file", lambda n: {"file_path": "a.txt", "content": changed(n)}),
    ("Write", lambda n: {"file_path": "a.txt", "content": changed(n)}),
    ("apply_changes", lambda n: change("write", content=changed(n))),
]


@pytest.mark.parametrize("name, args", BY_LINES)
def test_lines_that_were_read_may_be_changed_without_a_hash_and_no_others(world, name, args):
    """Those of the state that is on disk: nothing is lost that was not seen."""
    world.write("a.txt", LONG)
    done = steps(world, [READ_TEN], [call(name, args(99))], [call(name, args(110))], [call(name, args(105))],
                 [call("run_shell_command", {"command": "echo >> a.txt"})], [call(name, args(106))])
    for i, line in (2, 100), (3, 111):
        assert '"base_required"' in results(done, i)[0] and "changes line %d of a.txt" % line in results(done, i)[0]
    assert '"success": true' in results(done, 4)[0]
    assert '"success": false' in results(done, 6)[0] and world.read("a.txt") == changed(105) + "\n"


def test_what_is_put_between_lines_that_were_not_read_is_not(world):
    world.write("a.txt", LONG)
    lines = LONG.splitlines(True)

    def added(at):
        return call("write_file", {"file_path": "a.txt", "content": "".join([*lines[:at], "new\n", *lines[at:]])})

    done = steps(world, [READ_TEN], [added(500)], [added(110)])
    assert '"base_required"' in results(done, 2)[0] and '"success": true' in results(done, 3)[0]


@pytest.mark.parametrize("more", [dict(kind="write", content="new\n"), dict(kind="delete"),
                                  dict(kind="patch", unified_diff=patch(500)["unified_diff"])])
def test_nor_what_comes_behind_such_a_change_in_its_list(world, more):
    world.write("a.txt", LONG)
    both = [*change("patch", unified_diff=patch(105)["unified_diff"])["changes"], dict(more, file_path="a.txt")]
    done = steps(world, [READ_TEN], [call("apply_changes", {"changes": both})])
    assert '"base_required"' in results(done, 2)[0] and world.read("a.txt") == LONG


@pytest.mark.parametrize("more", [{"exact_line_endings": True}, {"encoding": "UTF-16"}])
def test_nor_where_all_bytes_may_change(world, more):
    world.write("a.txt", LONG)
    done = steps(world, [READ_TEN], [call("write_file", dict(file_path="a.txt", content=changed(105), **more))])
    assert '"base_required"' in results(done, 2)[0] and world.read("a.txt") == LONG


@pytest.mark.parametrize("name, args", BY_LINES[:3])
def test_a_state_that_a_refusal_alone_showed_has_to_be_named(world, name, args):
    """The file was read, and has changed since: the first refusal shows how."""
    lines = "".join("line %d\n" % i for i in range(20))
    world.write("a.txt", lines)
    late = args(10)
    if "content" in late:
        late["content"] = lines.replace("line 10\n", "LINE 10\n")
    done = steps(world, [call("read_file", {"file_path": "a.txt"})],
                 [call("run_shell_command", {"command": "sed -i s/^line.15$/theirs/ a.txt"})],
                 [call(name, late)], [call(name, late)])
    for i in 3, 4:
        assert '"base_required"' in results(done, i)[0], results(done, i)
    assert "+theirs" in results(done, 3)[0] and "LINE" not in world.read("a.txt")


@pytest.mark.parametrize("name, args", WHOLE)
def test_nor_is_a_refusal_that_shows_a_part(world, name, args):
    world.write("a.txt", LONG)
    done = steps(world, *[[call(name, args)]] * 3)
    assert '"base_required"' in results(done, 3)[0] and world.read("a.txt") == LONG


def test_a_file_that_was_read_in_parts_was_read(world):
    world.write("a.txt", LONG)
    steps(world, [call("Read", {"file_path": "a.txt"})], [call("Read", {"file_path": "a.txt", "offset": 2001})],
          [call(*WHOLE[0])])
    assert world.read("a.txt") == "new\n"


@pytest.mark.parametrize("name, args", WHOLE + PARTS)
def test_a_plan_for_hooks_shows_the_model_nothing(world, name, args):
    """They see what would be written; the model has not read the file for that."""
    world.write("a.txt", LINES)
    world.settings(hooks={"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]})
    done = steps(world, [call(name, args)])
    assert '"base_required"' in results(done, 1)[0] and "one\\\\ntwo" in results(done, 1)[0].replace("\\n", "\\\\n")
    assert world.read("a.txt") == LINES


@pytest.mark.parametrize("name, args", WHOLE[:4] + PARTS)
@pytest.mark.parametrize("named", ["base_content_sha256", "sha256"])
def test_a_hash_that_is_named_holds(world, name, args, named):
    """The model means another state than the one it saw last."""
    world.write("a.txt", LINES)
    done = steps(world, [call("Read", {"file_path": "a.txt"})],
                 [call(name, dict(args, **{named: hashlib.sha256(b"old").hexdigest()}))])
    result = results(done, 2)[0]
    assert world.read("a.txt") == LINES and ('"state_mismatch"' in result or '"invalid_argument"' in result), result


def test_a_hash_next_to_several_files_is_refused(world):
    world.write("a.txt", LINES)
    both = PATCH.replace("*** End Patch", "*** Delete File: b.txt\n*** End Patch")
    done = steps(world, [call("Read", {"file_path": "a.txt"})],
                 [call("apply_patch", {"input": both, "sha256": hashlib.sha256(LINES.encode()).hexdigest()})])
    assert "the patch has several" in results(done, 2)[0] and world.read("a.txt") == LINES


def test_a_subagent_has_seen_nothing(world):
    world.write(".gemini/agents/a.md", "---\nname: a\ndescription: d\n---\nWork.\n")
    world.write("a.txt", LINES)
    world.settings(experimental={"enableAgents": True})
    done = steps(world, [call("Read", {"file_path": "a.txt"})],
                 [call("invoke_agent", {"agent_name": "a", "prompt": "x"})], [call(*WHOLE[0])], [text("Done.")],
                 append_only=False)
    assert world.read("a.txt") == LINES and "base_required" in json.dumps(done.sent[3])


# What a shell would make of it is not what stands there, or not this alone.
IS_A_TOOL = "apply_patch is a tool and no command"
COMMANDS = [
    ("apply_patch <<EOF\n%s\nEOF" % PATCH.replace("+2", "+$HOME"), "begin it with <<'EOF'"),
    ("apply_patch <<EOF\n%s\nEOF" % PATCH.replace("+2", "+$(touch b)"), "begin it with <<'EOF'"),
    ("apply_patch <<EOF\n%s\nEOF" % PATCH.replace("+2", "+`touch b`"), "begin it with <<'EOF'"),
    ("apply_patch <<EOF\n%s\nEOF" % PATCH.replace("+2", "+\\\\"), "begin it with <<'EOF'"),
    ("apply_patch <<-'EOF'\n%s\nEOF" % PATCH.replace(" three", "\tthree"), "begin it with <<'EOF'"),
    ("apply_patch <<'EOF' && touch b\n%s\nEOF" % PATCH, IS_A_TOOL),
    ("apply_patch <<'EOF'\n%s\nEOF\ntouch c" % PATCH, IS_A_TOOL),
    ("apply_patch \"%s\"" % PATCH, IS_A_TOOL),
    ("cd - && apply_patch <<'EOF'\n%s\nEOF" % PATCH, IS_A_TOOL),
    ("cd $HOME && apply_patch <<'EOF'\n%s\nEOF" % PATCH, IS_A_TOOL),
    ("git status && apply_patch <<'EOF'\n%s\nEOF" % PATCH, IS_A_TOOL),
    ("apply_patch --help", "not found"),
    ("cat > b.md <<'EOF'\napply_patch <<'X'\n%s\nEOF" % PATCH, '"exit_code": 0'),
    ("cd sub; apply_patch <<'EOF'\n%s\nEOF" % PATCH, IS_A_TOOL),
]


@pytest.mark.parametrize("command, words", COMMANDS)
def test_a_command_that_a_shell_reads_otherwise_is_no_envelope(world, command, words):
    world.write("a.txt", LINES)
    done = steps(world, [call("Read", {"file_path": "a.txt"})], [call("shell", {"command": ["bash", "-c", command]})])
    assert words in results(done, 2)[0]
    assert world.read("a.txt") == LINES and not (world.root / "b").exists()


@pytest.mark.parametrize("command", [
    {"command": "cd sub && apply_patch <<'EOF'\n%s\nEOF" % PATCH, "workdir": "d"},
    {"command": "cd \"d/sub\" && apply_patch <<EOF\n%s\nEOF" % PATCH},
    {"command": ["apply_patch", PATCH], "workdir": "d/sub"},
    {"command": "apply_patch <<'one'\n%s\none" % PATCH, "workdir": "d/sub"},
])
def test_an_envelope_in_a_command_is_for_the_folder_of_the_command(world, command):
    """A line of context may be the here-document's word, too."""
    for folder in ("", "d/", "sub/", "d/sub/"):
        world.write(folder + "a.txt", LINES)
    steps(world, [call("Read", {"file_path": f + "a.txt"}) for f in ("", "d/", "sub/", "d/sub/")],
          [call("shell", command)])
    assert [world.read(f + "a.txt") for f in ("", "d/", "sub/")] == [LINES] * 3
    assert world.read("d/sub/a.txt") == LINES.replace("two", "2")


def test_a_resumed_session_has_seen_what_its_history_shows(world):
    """Of several changes that were made, and of a column that was read."""
    for name in "abc":
        world.write("%s.txt" % name, LINES)
    changes = call("apply_changes", {"changes": [
        {"kind": "update", "file_path": name, "old_content": "two", "new_content": "2"} for name in ("a.txt", "b.txt")]})
    column = call("read_file", {"file_path": "c.txt", "start_line": 1, "start_column": 2})
    writes = [call("write_file", {"file_path": "%s.txt" % name, "content": "new\n"}) for name in "abc"]
    done = [text("Done.")]
    with world.fake([[call("read_many_files", {"paths": ["a.txt", "b.txt"]}), column], [changes], done, writes, done],
                    append_only=False) as server:
        world.command("-p", "x", "--yolo", server=server)
        world.command("--resume", "latest", "-p", "more", "--yolo", server=server)
    assert not server.violations
    assert [world.read("%s.txt" % name) for name in "abc"] == ["new\n", "new\n", LINES]


@pytest.mark.parametrize("others", ["", "*** Add File: b.txt\n+b\n"])
@pytest.mark.parametrize("seen", [True, False])
def test_an_added_file_that_is_there_is_overwritten_if_it_was_seen(world, others, seen):
    """Alone as among others."""
    world.write("a.txt", LINES)
    patch = "*** Begin Patch\n*** Add File: a.txt\n+new\n%s*** End Patch" % others
    done = steps(world, [call("Read", {"file_path": "a.txt"} if seen else {"file_path": "none"})],
                 [call("apply_patch", {"input": patch})])
    result = results(done, 2)[0]
    assert world.read("a.txt") == ("new\n" if seen else LINES) and (world.root / "b.txt").exists() == (seen and bool(others))
    assert '"success": true' in result if seen else '"base_required"' in result and "Nothing of a.txt was read" in result


def test_a_rule_is_asked_before_a_file_is_read_for_lines_put_in(world):
    world.write("a.txt", LINES)
    rules = world.top / "rules.toml"
    rules.write_text('[[rule]]\ntoolName = "safe_patch"\nargsPattern = "secret"\ndecision = "deny"\npriority = 900\n')

    def insert(line, put_in):
        return call("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": line, "insert_text": put_in})
    done = world.run([[insert(99, "secret"), insert(99, "other"), insert(1, "secret")], [text("Done.")]], "--yolo", "-p", "x",
                     "--policy", str(rules))
    denied, wrong, at = results(done, 1)
    assert "denied_by_policy" in denied and "fewer lines" not in denied and "denied_by_policy" in at
    assert "fewer lines than 99" in wrong and world.read("a.txt") == LINES
