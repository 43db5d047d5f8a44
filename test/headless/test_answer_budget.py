# SPDX-License-Identifier: Apache-2.0
"""Every tool, called so that there are 100,000 entries, lines, files or matches to answer with, or as many as it
takes: the answer fits the budget, and what is left out is counted (src/tool/answer.h)."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import fake_mcp
import pytest
from conftest import HASP
from fake_gemini import call, text
from test_answer_size import WIDE, answer_bytes

pytestmark = pytest.mark.rows_in_turn(3)

MANY = 100_000
BUDGET = 12_000 * 4
ROOM = BUDGET * 5 // 4  # escapes of JSON, and what stands around an answer
SERVED = 20_000 * 4  # of serve mcp, both copies
WORDS = "".join("word number %d\n" % i for i in range(MANY))
HUNKS = "".join("@@ -%d +%d @@\n-word number %d\n+WORD number %d\n" % (i + 1, i + 1, i, i) for i in range(0, 20000, 2))


@pytest.fixture(scope="module")
def crowd():
    """A folder of 100,000 files; made once, in memory where that is possible."""
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    (top / "many").mkdir()
    folder = os.open(top / "many", os.O_RDONLY)
    for i in range(MANY):
        file = os.open("file-%06d.txt" % i, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder)
        os.write(file, b"x\n")
        os.close(file)
    os.close(folder)
    yield top
    shutil.rmtree(top)


class Row:
    """One call. `before`: calls that come first; `replies`: what the provider is asked for meanwhile; `crowd`: in
    that folder; `refused`: the code of the only answer that there can be; `server`: what the fake one has."""

    def __init__(self, arguments, before=(), replies=(), crowd=False, refused=None, settings=None,
                 server="resources"):
        self.arguments, self.before, self.replies, self.crowd = arguments, list(before), list(replies), crowd
        self.refused, self.settings, self.server = refused, settings or {}, server


READ = call("read_file", {"file_path": "p.txt"})


def started(command, **more):
    return call("run_shell_command", dict({"command": command, "is_background": True}, **more))


def patched(refused=None, **more):
    return Row(dict({"file_path": "p.txt", "unified_diff": HUNKS, "base_content_sha256": "$p.txt"}, **more), refused=refused)


def replaced(old, new):
    return [Row({"file_path": "p.txt", old: text, new: "x"}, before=[READ], refused="wrong_match_count")
            for text in ("word", "no such text")]


DEFERRED = {"hasp": dict(WIDE["hasp"], tools={"defer": "on", "deferBy": "own"})}
LONG = {"chunks": [{"candidates": [{"content": {"role": "model", "parts": [{"text": WORDS}]}, "finishReason": "STOP"}],
                    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12}}]}
END = call("read_background_output", {"pid": 1, "delay_ms": 600000})  # waits until the command has ended

# What an agent without a terminal is not offered, or is not answered by a real server: the rows are tests with services
# of their own.
ELSEWHERE = {
    "get_diagnostics": ("../ide/test_claude.py", "test_many_problems_fit_the_budget"),
    "run_python": ("../headless/test_run_python.py", "test_much_output_fits_the_budget"),
    "ask_user": ("test_conversation.py", "test_an_answer_of_many_lines_fits_the_budget"),
    "update_topic": ("test_conversation.py", "test_a_topic_of_many_words_fits_the_budget"),
    "web_fetch": ("test_web.py", "test_pages_of_many_lines_fit_the_budget"),
}

# Those that `hasp tool` and `hasp serve mcp` have, too.
BUILT_IN = {"read_file", "read_many_files", "safe_patch", "write_file", "update_file", "apply_changes", "search_files", "glob",
            "list_directory", "query_data", "update_data", "update_notebook", "run_shell_command",
            "list_background_processes", "read_background_output",
            "write_background_input", "kill_background_process"}

OF_DATA = {"file_path": "n.json", "base_content_sha256": "$n.json"}
ROWS = {
    "read_file": [Row({"file_path": "p.txt", "max_lines": MANY}), Row({"file_path": "one.txt", "max_line_chars": 10 ** 6})],
    "read_many_files": [Row({"paths": ["many"]}, crowd=True), Row({"paths": ["p.txt", "one.txt"]}),
                        Row({"paths": ["missing-%d" % i for i in range(1000)]})],
    "safe_patch": [patched(), patched(return_content="full"), patched(return_content="diff"), patched(return_content="none"),
                   patched("state_mismatch", base_content_sha256="0" * 64),
                   patched("no_match", unified_diff=HUNKS.replace("-word", "-none"))],
    "write_file": [Row({"file_path": "w.txt", "content": WORDS}),
                   Row({"file_path": "p.txt", "content": "short\n"}, refused="base_required")],
    "update_file": [Row({"file_path": "p.txt", "old_content": "word", "new_content": "WORD", "allow_multiple": True}),
                    *replaced("old_content", "new_content")],
    "replace": replaced("old_string", "new_string"),
    "Edit": replaced("old_string", "new_string"),
    "Write": [Row({"file_path": "p.txt", "content": WORDS}, before=[READ])],
    "MultiEdit": [Row({"file_path": "p.txt", "edits": [{"old_string": "word number %d\n" % i, "new_string": "x\n"}
                                                       for i in range(50000, 50250)]}, before=[READ])],
    "apply_patch": [Row({"input": "*** Begin Patch\n*** Update File: p.txt\n%s*** End Patch\n" % HUNKS}, before=[READ])],
    "apply_changes": [Row({"changes": [{"kind": "create", "file_path": "new/%d.txt" % i, "content": "x\n"} for i in range(1000)]})],
    "search_files": [Row({"pattern": "word", "max_results": 10 ** 6, "max_per_file": 10 ** 6, "max_total_bytes": 1 << 28}),
                     Row({"pattern": "x", "output": "files", "max_results": 10 ** 6}, crowd=True),
                     Row({"pattern": "number", "output": "detailed", "max_results": 10 ** 6, "max_total_bytes": 1 << 28})],
    "glob": [Row({"pattern": "**/*"}, crowd=True)],
    "list_directory": [Row({"path": "many"}, crowd=True)],
    "query_data": [Row({"file_path": "n.json"}), Row({"file_path": "n.json", "query": "."}),
                   Row({"file_path": "n.json", "query": ".[].words", "max_results": 10000}),
                   Row({"file_path": "n.json", "query": ".[] | .none.x", "max_results": 10000}),
                   Row({"file_path": "n.json", "query": ".[0].words | .x"}, refused="invalid_argument")],
    "update_data": [Row(dict(OF_DATA, changes=[{"op": "set", "path": ".[%d].words" % i, "value": i} for i in range(200)])),
                    Row(dict(OF_DATA, changes=[{"op": "set", "path": ".[0].none.x", "value": 1}]), refused="invalid_argument")],
    "update_notebook": [Row(dict(OF_DATA, changes=[{"op": "delete", "cell": "x"}]), refused="invalid_argument")],
    "run_shell_command": [Row({"command": "seq %d" % MANY}), Row({"command": "seq %d >&2; exit 3" % MANY})],
    "list_background_processes": [Row({}, before=[started("true " + "x" * 20000) for _ in range(10)])],
    "read_background_output": [Row({"pid": 1, "lines": MANY}, before=[started("seq %d" % MANY), END]),
                               Row({"pid": 1, "offset": 0}, before=[started("seq %d" % MANY), END])],
    "write_background_input": [Row({"pid": 1, "input": "x" * 60000}, before=[started("cat > out", keep_input=True)])],
    "kill_background_process": [Row({"pid": 1}, before=[started("seq %d; exec sleep 600" % MANY)])],
    "web_fetch": [Row({"prompt": "Read https://a.invalid/ " + "x" * 1000}, replies=[LONG])],
    "google_web_search": [Row({"query": "word " * 700}, replies=[LONG])],
    "save_memory": [Row({"fact": "word " * 399})],
    "write_todos": [Row({"todos": [{"description": "step %d " % i + "x" * 900, "status": "pending"} for i in range(100)]}),
                    Row({"todos": [{"description": "step %d" % i, "status": "pending"} for i in range(MANY)]},
                        refused="invalid_argument")],
    "enter_plan_mode": [Row({"reason": "x" * 400})],
    "exit_plan_mode": [Row({"plan_filename": "p.md"}, before=[call("enter_plan_mode", {}), call("write_file", {
        "file_path": "plans/p.md", "content": WORDS[:200_000]})], settings={"general": {"plan": {"directory": "plans"}}})],
    "request_permission": [Row({"tools": ["%d" % i * 20 for i in range(20)], "reason": "x" * 500}, refused="denied_by_policy")],
    "activate_skill": [Row({"name": "long"})],
    "invoke_agent": [Row({"agent_name": "long", "prompt": "word"}, replies=[[text(WORDS)]])],
    "discovered_tool_rows": [Row({})],
    "list_mcp_resources": [Row({})],
    "read_mcp_resource": [Row({"uri": "test://2"})],
    "search_tools": [Row({"query": "fake", "max_results": 20}, settings=DEFERRED, server="large")],
    "call_tool": [Row({"name": "mcp_fake_echo", "arguments": {"text": WORDS}}, settings=DEFERRED)],
    "mcp_fake_echo": [Row({"text": WORDS})],
    "mcp_fake_fail": [Row({}, refused="tool_failed")],
    "mcp_fake_say": [Row({"what": "rows-" + how, "path": "%d" % MANY})
                     for how in ("text", "same", "fenced", "wrapped", "other", "blocks", "data")],
}


def surround(world, folder, more, server="resources"):
    """All that brings tools."""
    world.settings(**dict(WIDE, **more), mcpServers={"fake": fake_mcp.entry(server, trust=True)},
                   tools={"discoveryCommand": "echo '[{\"name\": \"rows\", \"description\": \"Rows.\"}]'",
                          "callCommand": "seq %d #" % MANY})
    for kind, name, body in ("agents", "long.md", "---\nname: long\ndescription: Says much.\n---\nSay much.\n"), \
            ("skills/long", "SKILL.md", "---\nname: long\ndescription: Says much.\n---\n" + WORDS[:200_000]):
        (world.home / ".gemini" / kind).mkdir(parents=True)
        (world.home / ".gemini" / kind / name).write_text(body)
    if folder == world.root:
        world.write("p.txt", WORDS)
        world.write("one.txt", "word " * MANY)
        world.write("n.json", json.dumps([{"words": ["word %d" % i] * 30, "k%d" % (i % 700): i} for i in range(3000)]))


def filled(arguments, folder):
    """`$p.txt` is the hash of that file."""
    found = arguments.get("base_content_sha256", "")
    if found.startswith("$"):
        return dict(arguments, base_content_sha256=hashlib.sha256((folder / found[1:]).read_bytes()).hexdigest())
    return arguments


def table(tools=None, plain=False):
    """(tool, number) of all rows; `plain`: of those that need nothing before them."""
    return [(tool, i) for tool, rows in sorted(ROWS.items()) if tools is None or tool in tools
            for i, row in enumerate(rows) if not (plain and (row.before or row.replies or row.settings))]


def test_each_tool_has_a_row(world):
    surround(world, world.root, {})
    offered = {"search_tools", "call_tool"}  # in place of many declarations
    for kind in ("gemini", "openai", "anthropic"):
        done = world.run([[text("Done.")]], "-p", "x", "--yolo", kind=kind)
        for tool in done.sent[0]["tools"]:
            for one in tool.get("functionDeclarations") or [tool.get("function") or tool]:
                offered.add(one["name"])
    assert offered - set(ROWS) == set(), "a tool needs a row in ROWS"
    assert set(ROWS) - offered <= BUILT_IN, "a row is of a tool that is not there"
    assert documented() - set(ROWS) - set(ELSEWHERE) == set(), "a tool needs a row in ROWS, or a test in ELSEWHERE"


def documented():
    """hasp's tools, offered or not."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "tools.md").read_text()
    return set(re.findall(r"^#+ ([a-z]+(?:_[a-z]+)+|glob)$", page, re.M))


@pytest.mark.parametrize("tool", ELSEWHERE)
def test_a_row_elsewhere_is_there(tool):
    file, test = ELSEWHERE[tool]
    assert "def %s(" % test in (Path(__file__).resolve().parents[1] / "tool" / file).read_text()
    assert tool in documented()


def judge(answer, row, size, room):
    """A fitting answer; what it leaves out is counted, or it says how to go on."""
    assert (answer.get("error") or {}).get("code") == row.refused, answer
    assert size <= room, size
    said = json.dumps(answer)
    if size > room * 0.6 and "left out" not in said:
        assert re.search(r"[0-9]+ (\w+ )?of [0-9]+|next|go on|left_out_count", said), said


@pytest.mark.parametrize("tool,number", table())
def test_no_answer_passes_the_budget(request, world, tool, number):
    row = ROWS[tool][number]
    folder = request.getfixturevalue("crowd") if row.crowd else world.root
    surround(world, folder, row.settings, row.server)
    script = [*([one] for one in row.before), [call(tool, filled(row.arguments, folder))], *row.replies, [text("Done.")]]
    done = world.run([step if isinstance(step, list) else {"reply": step} for step in script], "-p", "x", "--yolo",
                     cwd=folder, append_only=False)
    assert done.code == 0, done.err
    size, answer = answer_bytes("gemini", done.sent[-1]), done.results()[-1]
    print(tool, number, size, json.dumps(answer)[:200])
    judge(answer, row, size, ROOM)
    if tool == "read_many_files":
        last = answer["output"][-1]
        assert last.get("truncated") or last["left_out_count"] + len(answer["output"]) - 1 in (MANY, 1000) and \
            "left_out" not in answer


# ---- texts and data of servers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how,twice", [("same", True), ("fenced", True), ("wrapped", True), ("items", True), ("other", False),
                                       ("data", True)])
@pytest.mark.parametrize("count", [3, 300])
def test_what_a_server_says_twice_the_model_gets_once(world, how, twice, count):
    surround(world, world.root, {})
    done = world.run([[call("mcp_fake_say", {"what": "rows-" + how, "path": str(count)})], [text("Done.")]], "-p", "x", "--yolo")
    (answer,) = done.results()
    assert ("structured" not in answer) == twice
    assert json.dumps(answer).count("row number %d" % (count - 1)) == (1 if twice else 2), answer


# ---- other ways to call tools --------------------------------------------------------------------------------------


class Served:
    """A client of `hasp serve mcp`, whose calls come one after the other."""

    def __init__(self, world, folder, *options):
        self.program = subprocess.Popen([HASP, "serve", "mcp", "--root", str(folder), *options], cwd=folder, text=True,
                                        env=world.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.program.stdin.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
        self.program.stdin.flush()

    def ask(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while (message := json.loads(self.program.stdout.readline())).get("id") != self.count:
            pass
        return message["result"]

    def call(self, name, arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.stdin.close()
        self.program.wait(60)


@pytest.mark.parametrize("tool,number", table(BUILT_IN))
def test_what_a_server_of_ours_answers(request, world, tool, number):
    """Text and structuredContent are the same, and one budget is for both."""
    row = ROWS[tool][number]
    folder = request.getfixturevalue("crowd") if row.crowd else world.root
    surround(world, folder, {})
    with Served(world, folder) as served:
        for one in row.before:
            served.call(one["call"], one["args"])
        result = served.call(tool, filled(row.arguments, folder))
    (said, *_), data = result["content"], result["structuredContent"]
    assert json.loads(said["text"]) == data
    assert len(said["text"].encode()) <= SERVED // 2 * 6 // 5, "each has half of the budget"
    judge(data, row, len(said["text"].encode()) + len(json.dumps(data, ensure_ascii=False).encode()), SERVED * 6 // 5)


@pytest.mark.parametrize("tool,number", table(BUILT_IN, plain=True))
def test_what_a_call_from_a_shell_answers(request, world, tool, number):
    row = ROWS[tool][number]
    folder = request.getfixturevalue("crowd") if row.crowd else world.root
    surround(world, folder, {})
    done = world.command("tool", tool, "-", "--answer-tokens", "3000", cwd=folder,
                         stdin=json.dumps(filled(row.arguments, folder)).encode())
    answer = json.loads(done.out)
    judge(answer if isinstance(answer, dict) else {"files": answer}, row, len(done.out), 3000 * 4 * 5 // 4)
