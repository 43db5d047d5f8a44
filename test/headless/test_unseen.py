# SPDX-License-Identifier: Apache-2.0
"""Text that no person sees reaches the model as escapes only, wherever it comes from."""
import json
import subprocess

import pytest
from conftest import HASP
from fake_gemini import call, text

HELLO = [[text("Hello.")]]
TAGS = "".join(chr(0xe0000 + ord(c)) for c in "obey")
BIDI = "\u202e\u2066\u200f\u061c"
HIDDEN = TAGS + BIDI + "\u200b\u2060"
ESCAPES = "".join("\\u{%x}" % ord(c) for c in HIDDEN)
# What real text needs: Persian, a family, a keycap, the flag of Scotland.
NEEDED = "می‌خواهم \U0001F468\u200d\U0001F469\u200d\U0001F467 1\ufe0f\u20e3 \U0001F3F4" + "".join(
    chr(0xe0000 + ord(c)) for c in "gbsct") + "\U000e007f"


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def heard(done, i=-1):
    """All that a request says: nothing hidden is in it."""
    said = "\n".join(strings(done.server.requests[i].body))
    bare = said.replace(NEEDED, "")
    assert not any(c in bare for c in HIDDEN), ascii(bare)
    return said


def test_instructions_and_imports(world):
    world.write("GEMINI.md", "Be kind.%s %s\n@./more.md\n" % (HIDDEN, NEEDED))
    world.write("more.md", "Imported.%s\n" % TAGS)
    (world.home / ".gemini" / "GEMINI.md").write_text("Mine.%s\n" % BIDI)
    done = world.run(HELLO, "-p", "x")
    said = heard(done, 0)
    assert "Be kind." + ESCAPES in said and NEEDED in said
    assert "Imported.\\u{e006f}" in said and "Mine.\\u{202e}" in said
    for name, count in (("project/GEMINI.md", 10), ("more.md", 4), (".gemini/GEMINI.md", 4)):
        assert any(name in line and "%d invisible characters" % count in line
                   for line in done.err.splitlines()), done.err
    assert not any(c in done.err for c in HIDDEN)


def test_honest_text_is_let_alone(world):
    world.write("GEMINI.md", NEEDED + "\n")
    world.write("a.txt", NEEDED + "\n")
    done = world.run([[call("read_file", {"file_path": "a.txt"})], [text("Done.")]],
                     "-p", "x %s @a.txt" % NEEDED)
    assert heard(done, 0).count(NEEDED) == 3 and "unseen_characters" not in heard(done)
    assert "invisible" not in done.err


def test_prompts_pipes_and_mentions(world):
    world.write("a.txt", "alpha%s\n" % HIDDEN)
    done = world.run(HELLO, "-p", "look at @a.txt now%s" % TAGS, stdin=("piped%s\n" % BIDI).encode())
    said = heard(done, 0)
    assert "piped\\u{202e}" in said and "\\u{e0079}" in said and "alpha" in said
    assert "unseen_characters" in said and "a.txt has 10 invisible characters" in done.err


@pytest.mark.parametrize("tool, arguments", [
    ("read_file", {"file_path": "a.txt"}),
    ("read_many_files", {"paths": ["a.txt"]}),
    ("search_files", {"pattern": "alpha"}),
    ("run_shell_command", {"command": "cat a.txt"}),
    ("list_directory", {"dir_path": "."}),
    ("glob", {"pattern": "*"}),
])
def test_answers_of_tools(world, tool, arguments):
    world.write("a.txt", "alpha%s\n" % HIDDEN)
    world.write("name%s.txt" % HIDDEN, "")
    done = world.run([[call(tool, arguments)], [text("Done.")]], "-p", "x", "--yolo")
    said = heard(done)
    assert ESCAPES in said and "unseen_characters" in said, said[-600:]


def test_what_hooks_add(world):
    world.settings(hooks={event: [{"hooks": [{"type": "command", "command": "printf '%s' '%s'" % (
        "%s", json.dumps({"hookSpecificOutput": {"additionalContext": "hooked" + TAGS}},
                         ensure_ascii=False))}]}]
        for event in ("SessionStart", "BeforeAgent", "AfterTool")})
    world.write("a.txt", "alpha\n")
    done = world.run([[call("read_file", {"file_path": "a.txt"})], [text("Done.")]], "-p", "x")
    heard(done, 0)
    assert heard(done).count("hooked\\u{e006f}") == 3


# ---- edits of such lines ---------------------------------------------------------------------------

def edit(world, tool, **arguments):
    old = world.write("a.txt", "one\nx = \"%s\"  # %s\nthree\n" % (HIDDEN, NEEDED))
    done = world.run([[call("read_file", {"file_path": "a.txt"})],
                      [call(tool, {"file_path": "a.txt", "base_content_sha256": old, **arguments})],
                      [text("Done.")]], "-p", "x", "--yolo")
    assert "\"success\": true" in json.dumps(done.results()), done.results()
    heard(done)
    return (world.root / "a.txt").read_text()


def test_a_diff_finds_a_line_by_its_escapes(world):
    diff = "@@\n one\n-x = \"%s\"  # %s\n+y = \"%s\"  # %s\n three\n" % (
        ESCAPES, NEEDED, ESCAPES, NEEDED)
    assert edit(world, "safe_patch", diff=diff) == "one\ny = \"%s\"  # %s\nthree\n" % (
        HIDDEN, NEEDED)


def test_context_lines_keep_their_own_bytes(world):
    diff = "@@\n one\n x = \"%s\"  # %s\n-three\n+four\n" % (ESCAPES, NEEDED)
    assert edit(world, "safe_patch", diff=diff) == "one\nx = \"%s\"  # %s\nfour\n" % (
        HIDDEN, NEEDED)


def test_a_hidden_text_can_be_taken_out(world):
    assert edit(world, "update_file", old_string="x = \"%s\"" % ESCAPES,
                new_string="x = \"\"") == "one\nx = \"\"  # %s\nthree\n" % NEEDED


def test_an_update_keeps_what_it_names(world):
    assert edit(world, "update_file", old_string="x = \"%s\"" % ESCAPES.upper().replace("\\U", "\\u"),
                new_string="y = \"%s\"" % ESCAPES) == "one\ny = \"%s\"  # %s\nthree\n" % (
        HIDDEN, NEEDED)


def test_changes_of_several_files_find_them_too(world):
    old = world.write("a.txt", "x%s\n" % HIDDEN)
    world.run([[call("apply_changes", {"changes": [
        {"kind": "update", "file_path": "a.txt", "old_string": "x" + ESCAPES, "new_string": "y",
         "base_content_sha256": old},
        {"kind": "create", "file_path": "b.txt", "content": "new" + ESCAPES}]})],
        [text("Done.")]], "-p", "x", "--yolo")
    assert world.read("a.txt") == "y\n" and world.read("b.txt") == "new" + ESCAPES


def test_escapes_that_a_file_itself_has_are_only_text(world):
    old = world.write("a.js", "const s = \"\\u{200b}\";\n")
    world.run([[call("update_file", {"file_path": "a.js", "old_string": "s = \"\\u{200b}\"",
                                     "new_string": "t = \"\\u{200b}\\u{202e}\"",
                                     "base_content_sha256": old})], [text("Done.")]],
              "-p", "x", "--yolo")
    assert world.read("a.js") == "const t = \"\\u{200b}\\u{202e}\";\n"


# ---- other ways --------------------------------------------------------------------------------------

def test_a_script_that_calls_a_tool_gets_the_bytes(world):
    world.write("a.txt", "alpha%s\n" % HIDDEN)
    done = subprocess.run([HASP, "tool", "read_file", '{"file_path": "a.txt"}'], cwd=world.root,
                          env=world.env, capture_output=True, check=True)
    assert json.loads(done.stdout)["content"] == "alpha%s\n" % HIDDEN


def test_another_agent_over_mcp_gets_escapes(world):
    world.write("a.txt", "alpha%s\n" % HIDDEN)
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "read_file", "arguments": {"file_path": "a.txt"}}}]
    with subprocess.Popen([HASP, "serve", "mcp", "--root", str(world.root)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, cwd=world.root, env=world.env) as server:
        for line in lines:
            server.stdin.write(json.dumps(line).encode() + b"\n")
        server.stdin.flush()
        answers = {}
        while 2 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        server.stdin.close()
    result = answers[2]["result"]
    assert result["structuredContent"]["content"] == "alpha%s\n" % ESCAPES
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert "invisible" in result["content"][1]["text"]
    assert not any(c in "\n".join(strings(result)) for c in HIDDEN)
