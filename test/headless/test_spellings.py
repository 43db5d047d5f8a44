# SPDX-License-Identifier: Apache-2.0
"""Calls as other products' models write them: each row is made, and does what it does there."""
import json

import pytest
from fake_gemini import call, text

LINES = "one\ntwo\nthree\n"
TWO = "one\n2\nthree\n"
PATCH = "*** Begin Patch\n*** Update File: {0}\n@@\n one\n-two\n+2\n three\n*** End Patch"
BLOCKS = "------- SEARCH\ntwo\n=======\n2\n+++++++ REPLACE\n"


def many(path, *edits):
    return {"file_path": path, "edits": [dict(zip(("old_string", "new_string"), edit)) for edit in edits]}


# Product, name, arguments for a file "{0}" of three lines, which was read; what it has then (None: it is gone).
EDITS = [
    ("Claude Code", "Edit", {"file_path": "{0}", "old_string": "two", "new_string": "2"}, TWO),
    ("Claude Code", "Edit", {"file_path": "{0}", "old_string": "t", "new_string": "T", "replace_all": True},
     "one\nTwo\nThree\n"),
    ("Claude Code", "MultiEdit", many("{0}", ("two", "2"), ("2", "zwei")), "one\nzwei\nthree\n"),
    ("Claude Code", "MultiEdit", many("{0}", ("two", "2")), TWO),
    ("Claude Code", "Write", {"file_path": "{0}", "content": TWO}, TWO),
    ("Anthropic", "str_replace_based_edit_tool",
     {"command": "str_replace", "path": "{0}", "old_str": "two", "new_str": "2"}, TWO),
    ("Anthropic", "str_replace_based_edit_tool", {"command": "str_replace", "path": "{0}", "old_str": "two\n"},
     "one\nthree\n"),
    ("Anthropic", "str_replace_based_edit_tool",
     {"command": "insert", "path": "{0}", "insert_line": 1, "insert_text": "1.5\n"}, "one\n1.5\ntwo\nthree\n"),
    ("Anthropic", "str_replace_editor", {"command": "insert", "path": "{0}", "insert_line": 0, "new_str": "zero"},
     "zero\none\ntwo\nthree\n"),
    ("Anthropic", "str_replace_editor", {"command": "insert", "path": "{0}", "insert_line": 3, "new_str": "four\n"},
     LINES + "four\n"),
    ("Anthropic", "str_replace_editor", {"command": "create", "path": "{0}", "file_text": TWO}, TWO),
    ("Codex", "apply_patch", {"input": PATCH}, TWO),
    ("Codex", "functions.apply_patch", {"input": PATCH}, TWO),
    ("Codex", "apply_patch", {"patch": "```\n" + PATCH + "\n```\n"}, TWO),
    ("Codex", "shell", {"command": ["apply_patch", PATCH], "workdir": "."}, TWO),
    ("Codex", "shell", {"command": ["bash", "-lc", "apply_patch <<'EOF'\n" + PATCH + "\nEOF\n"]}, TWO),
    ("Codex", "exec_command", {"cmd": "cd . && apply_patch <<'PATCH'\n" + PATCH + "\nPATCH"}, TWO),
    ("Codex", "apply_patch", {"input": "*** Begin Patch\n*** Delete File: {0}\n*** End Patch\n"}, None),
    ("OpenCode", "edit", {"filePath": "{0}", "oldString": "two", "newString": "2", "replaceAll": False}, TWO),
    ("OpenCode", "multiedit", {"filePath": "{0}", "edits": [
        {"filePath": "{0}", "oldString": "two", "newString": "2"}]}, TWO),
    ("OpenCode", "write", {"filePath": "{0}", "content": TWO}, TWO),
    ("OpenCode", "patch", {"patchText": PATCH}, TWO),
    ("Gemini CLI", "replace", {"file_path": "{0}", "instruction": "x", "old_string": "two", "new_string": "2"}, TWO),
    ("Gemini CLI", "replace", {"file_path": "{0}", "old_string": "t", "new_string": "T",
                               "expected_replacements": 2}, "one\nTwo\nThree\n"),
    ("Gemini CLI", "default_api.replace", {"file_path": "{0}", "old_string": "t", "new_string": "T",
                                           "allow_multiple": True}, "one\nTwo\nThree\n"),
    ("qwen-code", "edit", {"file_path": "{0}", "old_string": "two", "new_string": "2"}, TWO),
    ("Cline", "replace_in_file", {"path": "{0}", "diff": BLOCKS}, TWO),
    ("Cline", "replace_in_file", {"path": "{0}", "diff": BLOCKS + BLOCKS.replace("two", "one").replace("2", "1")},
     "1\n2\nthree\n"),
    ("Cline", "write_to_file", {"path": "{0}", "content": TWO}, TWO),
    ("Cursor", "search_replace", {"file_path": "{0}", "old_string": "two", "new_string": "2"}, TWO),
    ("Cursor", "write", {"file_path": "{0}", "contents": TWO}, TWO),
    ("Cursor", "delete_file", {"target_file": "{0}", "explanation": "x"}, None),
    ("VS Code", "replace_string_in_file", {"filePath": "{0}", "oldString": "two", "newString": "2"}, TWO),
    ("VS Code", "create_file", {"filePath": "{0}", "content": TWO}, TWO),
    ("MCP filesystem", "edit_file", {"path": "{0}", "edits": [{"oldText": "two", "newText": "2"}]}, TWO),
]

# Product, name, arguments; what the result says.
READS = [
    ("Claude Code", "Read", {"file_path": "a.txt"}, '"content": "one\\ntwo\\nthree\\n"'),
    ("Claude Code", "Read", {"file_path": "a.txt", "offset": 2, "limit": 1}, '"content": "two\\n"'),
    ("OpenCode", "read", {"filePath": "a.txt", "offset": 3}, '"content": "three\\n"'),
    ("B6", "readFile", {"filePath": "a.txt"}, '"content": "one'),
    ("B6", "default_api.read_file", {"path": "a.txt", "offset": 1}, '"content": "two\\nthree\\n"'),
    ("Cursor", "read_file", {"target_file": "a.txt", "should_read_entire_file": False,
                             "start_line_one_indexed": 2, "end_line_one_indexed_inclusive": 2,
                             "explanation": "x"}, '"content": "two\\n"'),
    ("Cline", "read_file", {"path": "a.txt"}, '"content": "one'),
    ("Anthropic", "str_replace_based_edit_tool", {"command": "view", "path": "a.txt", "view_range": [2, -1]},
     '"content": "two\\nthree\\n"'),
    ("Anthropic", "str_replace_editor", {"command": "view", "path": "."}, '"name": "a.txt"'),
    ("B6", "view", {"path": "a.txt", "view_range": [1, 1]}, '"content": "one\\n"'),
    ("Claude Code", "Grep", {"pattern": "t[wx]o", "output_mode": "content", "-n": True, "-i": False, "-C": 1},
     "2:two"),
    ("Claude Code", "Grep", {"pattern": "t.o", "glob": "*.txt", "head_limit": 5}, '"a.txt"'),
    ("Claude Code", "Grep", {"pattern": "TWO", "-i": True, "output_mode": "count"}, '"matches": 1'),
    ("OpenCode", "grep", {"pattern": "t.o", "include": "*.txt"}, "2:two"),
    ("Codex", "grep_files", {"pattern": "t.o", "path": ".", "limit": 10}, '"a.txt"'),
    ("Cline", "search_files", {"path": ".", "regex": "t.o", "file_pattern": "*.txt"}, "2:two"),
    ("Cursor", "grep_search", {"query": "t.o", "include_pattern": "*.txt", "case_sensitive": True,
                               "explanation": "x"}, "2:two"),
    ("Gemini CLI", "search_file_content", {"pattern": "t.o", "include": "*.txt"}, "2:two"),
    ("Claude Code", "Glob", {"pattern": "*.txt", "path": "."}, '"a.txt"'),
    ("Cursor", "file_search", {"query": "a.tx", "explanation": "x"}, '"a.txt"'),
    ("Cursor", "glob_file_search", {"glob_pattern": "*.txt", "target_directory": "."}, '"a.txt"'),
    ("Claude Code", "LS", {"path": ".", "ignore": ["b*"]}, '"name": "a.txt"'),
    ("B6", "ls", {"path": "."}, '"name": "a.txt"'),
    ("Codex", "list_dir", {"dir_path": ".", "offset": 1, "limit": 25, "depth": 2}, '"name": "a.txt"'),
    ("Cline", "list_files", {"path": "."}, '"name": "a.txt"'),
    ("Cursor", "list_dir", {"relative_workspace_path": ".", "explanation": "x"}, '"name": "a.txt"'),
    ("Claude Code", "Bash", {"command": "cat a.txt", "description": "x", "timeout": 60000}, "one\\ntwo"),
    ("OpenCode", "bash", {"command": "pwd", "workdir": "sub", "timeout": 60000, "description": "x"},
     "/project/sub"),
    ("Codex", "shell", {"command": ["bash", "-lc", "cat a.txt | head -1"], "timeout_ms": 60000,
                        "justification": "x"}, '"output": "one\\n"'),
    ("Codex", "shell", {"command": ["printf", "%s|", "a b", "it's"], "workdir": "."}, '"output": "a b|it\'s|"'),
    ("Codex", "container.exec", {"cmd": ["cat", "a.txt"], "timeout": 60000}, "one\\ntwo"),
    ("Codex", "exec_command", {"cmd": "cat a.txt", "yield_time_ms": 1000, "max_output_tokens": 500, "login": True},
     "one\\ntwo"),
    ("Codex", "shell_command", {"command": "cat a.txt", "workdir": "."}, "one\\ntwo"),
    ("Cline", "execute_command", {"command": "cat a.txt", "requires_approval": False, "timeout": 60}, "one\\ntwo"),
    ("Cursor", "run_terminal_cmd", {"command": "cat a.txt", "is_background": False, "explanation": "x"},
     "one\\ntwo"),
    ("VS Code", "run_in_terminal", {"command": "cat a.txt", "isBackground": False, "explanation": "x",
                                    "goal": "y"}, "one\\ntwo"),
    ("Claude Code", "TodoWrite", {"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]}, "1 "),
    ("OpenCode", "todowrite", {"todos": [{"id": "1", "content": "a", "status": "pending", "priority": "low"}]}, "1 "),
    ("Codex", "update_plan", {"explanation": "x", "plan": [{"step": "a", "status": "in_progress"}]}, "1 "),
]


def put(value, path):
    return json.loads(json.dumps(value).replace("{0}", path))


def results(done, i):
    """Those that are new in request `i`."""
    return [json.dumps(result, ensure_ascii=False) for result in done.results(i)[len(done.results(i - 1)):]]


def test_each_edit_is_made(world):
    names = ["f%d.txt" % i for i in range(len(EDITS))]
    for name in names:
        world.write(name, LINES)
    reads = [call("read_file", {"file_path": name}) for name in names]
    edits = [call(row[1], put(row[2], name)) for row, name in zip(EDITS, names)]
    done = world.run([reads, edits, [text("Done.")]], "--yolo", "-p", "x")
    said = results(done, 2)
    for row, name, result in zip(EDITS, names, said):
        there = world.read(name) if (world.root / name).exists() else None
        assert there == row[3], (row, result)
        assert '"success": true' in result, (row, result)


def test_each_other_call_is_made(world):
    world.write("a.txt", LINES)
    world.write("sub/b.md", "b\n")
    done = world.run([[call(row[1], row[2]) for row in READS], [text("Done.")]], "--yolo", "-p", "x")
    for row, result in zip(READS, results(done, 1)):
        assert row[3] in result and '"error"' not in result, (row, result)


ROUNDS = [row for row in EDITS if row[1] not in ("replace", "default_api.replace")]


def test_a_file_that_was_never_read_is_refused_and_shown(world):
    """One round: the refusal shows the state, and the same call is made on it."""
    names = ["f%d.txt" % i for i in range(len(ROUNDS))]
    for name in names:
        world.write(name, LINES)
    edits = [call(row[1], put(row[2], name)) for row, name in zip(ROUNDS, names)]
    done = world.run([edits, edits, [text("Done.")]], "--yolo", "-p", "x")
    for row, name, first, second in zip(ROUNDS, names, results(done, 1), results(done, 2)):
        assert '"base_required"' in first and "send it again as it is" in first and "sha256 of" not in first and "one\\\\ntwo" in first.replace("\\n", "\\\\n"), (row, first)
        assert '"success": true' in second, (row, second)
        assert (world.read(name) if (world.root / name).exists() else None) == row[3]


def test_a_file_that_was_changed_since_is_refused(world):
    names = ["f%d.txt" % i for i in range(len(ROUNDS))]
    for name in names:
        world.write(name, LINES)
    reads = [call("read_file", {"file_path": name}) for name in names]
    change = [call("run_shell_command", {"command": "for f in f*.txt; do echo four >> $f; done"})]
    edits = [call(row[1], put(row[2], name)) for row, name in zip(ROUNDS, names)]
    done = world.run([reads, change, edits, [text("Done.")]], "--yolo", "-p", "x")
    for row, name, result in zip(ROUNDS, names, results(done, 3)):
        assert '"state_mismatch"' in result and "four" in result, (row, result)
        assert world.read(name) == LINES + "four\n"


def test_a_part_that_was_read_counts(world):
    world.write("a.txt", LINES)
    done = world.run([[call("Read", {"file_path": "a.txt", "offset": 2, "limit": 1})],
                      [call("Edit", {"file_path": str(world.root / "a.txt"), "old_string": "two",
                                     "new_string": "2"})],
                      [call("MultiEdit", many("./a.txt", ("one", "1"), ("three", "3")))],
                      [text("Done.")]], "--yolo", "-p", "x")
    assert done.code == 0 and world.read("a.txt") == "1\n2\n3\n"


def test_a_link_is_the_file_that_was_read(world):
    world.write("a.txt", LINES)
    (world.root / "link").symlink_to("a.txt")
    world.run([[call("Read", {"file_path": "a.txt"})],
               [call("Edit", {"file_path": "link", "old_string": "two", "new_string": "2"})],
               [text("Done.")]], "--yolo", "-p", "x")
    assert world.read("a.txt") == TWO


@pytest.mark.parametrize("before, line, put_in, after", [
    ("", 0, "x", "x\n"), ("a", 1, "x\n", "a\nx"), ("a\r\nb\r\n", 1, "x\ny\n", "a\r\nx\r\ny\r\nb\r\n"),
    ("same\n" * 40, 17, "x", "same\n" * 17 + "x\n" + "same\n" * 23),
    ("l" * 5000 + "\n" + "z\n", 1, "x", "l" * 5000 + "\nx\nz\n"),
])
def test_lines_are_put_in_where_the_number_says(world, before, line, put_in, after):
    (world.root / "a.txt").write_bytes(before.encode())
    done = world.run([[call("Read", {"file_path": "a.txt"})],
                      [call("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": line,
                                                   "insert_text": put_in}),
                       call("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": 99,
                                                   "insert_text": put_in}),
                       call("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": "no",
                                                   "insert_text": put_in})],
                      [text("Done.")]], "--yolo", "-p", "x")
    assert (world.root / "a.txt").read_bytes().decode() == after, results(done, 2)
    assert "fewer lines than 99" in results(done, 2)[1] and "number of a line" in results(done, 2)[2]


def test_an_envelope_is_all_or_nothing(world):
    world.write("a.txt", LINES)
    world.write("b.txt", LINES)
    patch = ("*** Begin Patch\n*** Update File: a.txt\n*** Move to: c/a.txt\n@@ one\n-two\n+2\n three\n"
             "*** Add File: new.txt\n+new\n*** Delete File: b.txt\n*** End Patch\n")
    wrong = patch.replace("-two", "-zwei")
    done = world.run([[call("Read", {"file_path": "a.txt"}), call("Read", {"file_path": "b.txt"})],
                      [call("apply_patch", {"input": wrong})], [call("apply_patch", {"input": patch})],
                      [text("Done.")]], "--yolo", "-p", "x")
    assert '"no_match"' in results(done, 2)[0] and '"success": true' in results(done, 3)[0]
    assert sorted(p.name for p in world.root.iterdir() if p.is_file()) == ["new.txt"]
    assert world.read("c/a.txt") == TWO and world.read("new.txt") == "new\n"


@pytest.mark.parametrize("patch, words", [
    ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", "each line of a new file begins with +"),
    ("*** Begin Patch\n*** Update File:\n@@\n-x\n*** End Patch", "it names no file"),
    ("*** Begin Patch\n*** Update File: a\n*** End Patch", "changes nothing"),
    ("*** Begin Patch\n*** Rename File: a\n*** End Patch", "expected *** Add File:"),
    ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nand more", "text after *** End Patch"),
    ("*** Begin Patch\n*** End Patch", "names no file"),
    ("", "no *** Begin Patch"),
])
def test_what_is_no_envelope_is_said(world, patch, words):
    done = world.run([[call("apply_patch", {"input": patch})], [text("Done.")]], "--yolo", "-p", "x")
    (result,) = done.results(1)
    assert words in json.dumps(result) and "invalid_argument" in json.dumps(result)


def test_what_is_not_done_is_said_in_the_words_that_were_sent(world):
    world.write("a.txt", LINES)
    done = world.run([[call("str_replace_based_edit_tool", {"command": "undo_edit", "path": "a.txt"}),
                       call("edit_file", {"target_file": "a.txt", "instructions": "x", "code_edit": "// ..."}),
                       call("MultiEdit", {"file_path": "a.txt", "edits": [{"old_string": "x"}]}),
                       call("Edit", {"filePath": "a.txt", "oldString": {"x": 1}, "newString": "x"}),
                       call("shell", {"command": ["cat", 5]})], [text("Done.")]], "--yolo", "-p", "x")
    undo, code, many_, edit, shell = results(done, 1)
    assert "undo_edit is not available" in undo and "code_edit leaves text out" in code
    assert "edits[0] needs old_string and new_string" in many_ and "list of them" in shell
    assert "oldString: expected a string" in edit and "old_content" not in edit


RULES = [("Edit", {"file_path": "a.txt", "old_string": "two", "new_string": "2"}),
         ("MultiEdit", many("a.txt", ("two", "2"), ("one", "1"))), ("apply_patch", {"input": PATCH.format("a.txt")}),
         ("shell", {"command": ["apply_patch", PATCH.format("a.txt")]}), ("replace_in_file", {"path": "a.txt", "diff": BLOCKS}),
         ("str_replace_editor", {"command": "insert", "path": "a.txt", "insert_line": 0, "new_str": "x"})]


@pytest.mark.parametrize("rule", ["Edit", "apply_patch"])
def test_a_rule_on_any_editor_holds_for_each_spelling(world, rule):
    world.write("a.txt", LINES)
    (world.home / ".gemini" / "policies").mkdir()
    (world.home / ".gemini" / "policies" / "a.toml").write_text(
        '[[rule]]\ntoolName = "%s"\ndecision = "deny"\npriority = 900\n' % rule)
    done = world.run([[call("Read", {"file_path": "a.txt"})], [call(*row) for row in RULES], [text("Done.")]],
                     "--yolo", "-p", "x")
    for row, result in zip(RULES, results(done, 2)):
        assert "denied_by_policy" in result, (row, result)
    assert world.read("a.txt") == LINES


def test_hooks_see_the_tool_that_runs(world):
    """Whatever it was called."""
    world.write("a.txt", LINES)
    log = world.top / "log"
    world.settings(hooks={"BeforeTool": [{"hooks": [{"type": "command", "command": "cat >> %s; echo >> %s" % (log, log)}]}]})
    world.run([[call("Read", {"file_path": "a.txt"})], [call("apply_patch", {"input": PATCH.format("a.txt")})],
               [call("shell", {"command": ["bash", "-lc", "true"]})], [text("Done.")]], "--yolo", "-p", "x")
    seen = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [one["tool_name"] for one in seen] == ["Read", "safe_patch", "shell"] or \
        [one["tool_name"] for one in seen] == ["read_file", "safe_patch", "run_shell_command"]
    assert seen[1]["tool_input"]["file_path"] == "a.txt"
    assert seen[2]["tool_input"]["command"] == "true"
