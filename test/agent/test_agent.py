# SPDX-License-Identifier: Apache-2.0
"""A whole agent against a strict fake of Gemini's API: real tools on real files."""
import fcntl
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "model"))

import fake_gemini  # noqa: E402
from fake_gemini import call, text, thought  # noqa: E402
from fake_server import FakeServer  # noqa: E402

PROBE = os.environ["AGENT_PROBE"]
YOLO = {"mode": "yolo"}


class Run:
    """What the probe told."""

    def __init__(self, lines, server):
        self.lines, self.server = lines, server
        self.outcomes = [line["outcome"] for line in lines if "outcome" in line]
        self.end = lines[-1]
        self.history, self.stats = self.end["history"], self.end["stats"]

    def told(self, topic):
        return [line["message"] for line in self.lines if line.get("topic") == topic]

    def results(self):
        """Of tools, in the order of their calls, as the model got them."""
        return [part["functionResponse"]["response"] for content in self.history
                for part in content["parts"] if "functionResponse" in part]


@pytest.fixture
def world(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "home").mkdir()
    return World(tmp_path)


class World:
    def __init__(self, path):
        self.path, self.root = path, path / "w"

    def write(self, name, content):
        (self.root / name).write_text(content)
        return hashlib.sha256(content.encode()).hexdigest()

    def read(self, name):
        return (self.root / name).read_text()

    def run(self, script, prompts=("Do it.",), violations=0, append_only=True, auto=None,
            fake=fake_gemini, **job):
        provider = fake.Provider(append_only=append_only)
        with FakeServer(provider, [step if isinstance(step, dict) else
                                   {"reply": step} for step in script], auto) as server:
            job = dict({"root": str(self.root), "prompts": list(prompts), "model": {}}, **job)
            path = job["model"].pop("path", "/v1beta")
            job["model"] = dict({"provider": "gemini", "name": "gemini-3-pro-preview",
                                 "base_url": server.url + path}, **job["model"])
            env = {"PATH": os.environ["PATH"], "HOME": str(self.path / "home")}
            env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
            done = subprocess.run([PROBE], input=json.dumps(job), env=env, timeout=300,
                                  stdout=subprocess.PIPE, text=True)
            lines = [json.loads(line) for line in done.stdout.split("\n") if line]
            assert done.returncode == 0, lines[-3:]
            assert len(server.violations) == violations, server.violations
            assert not server.script, "steps that were not asked for: %r" % server.script
        return Run(lines, server)


def patch(name, sha, old, new):
    return call("update_file", {"file_path": name, "old_content": old, "new_content": new,
                                "base_content_sha256": sha})


# ---- the loop ------------------------------------------------------------------------------------

def test_an_answer_is_told_and_kept(world):
    run = world.run([[thought("Hm."), text("Hel"), text("lo.")]])
    assert run.outcomes == [{"end": "answered", "text": "Hello.", "reason": None, "turns": 1,
                             "error": None, "message": None}]
    assert "".join(m["text"] for m in run.told("content")) == "Hello."
    assert [m["text"] for m in run.told("thought")] == ["Hm."]
    assert run.told("prompt") == [{"text": "Do it."}]
    assert run.told("turn-end")[0]["usage"]["input"] > 0


def test_a_stale_edit_is_recovered_from_in_one_turn(world):
    old = world.write("a.txt", "one\n" + "x\n" * 500)
    new = world.write("a.txt", "two\n" + "x\n" * 500)
    run = world.run([[call("read_file", {"file_path": "a.txt"})],
                     [patch("a.txt", old, "two", "three")],
                     [patch("a.txt", new, "two", "three")],
                     [text("Done.")]], **YOLO)
    assert world.read("a.txt").startswith("three\n")
    stale = run.results()[1]
    assert stale["error"]["code"] == "state_mismatch"
    # The new state came with the refusal; what was sent stays until a compaction.
    contents = [r.get("content") or r.get("latest_file_state", {}).get("content")
                for r in run.results()]
    assert [c.splitlines()[0] for c in contents] == ["two", "two", "three"]
    assert run.stats["tools"]["byName"]["update_file"]["fail"] == 1
    assert run.stats["files"] == {"totalLinesAdded": 1, "totalLinesRemoved": 1}
    failed = run.told("tool-result")[1]
    assert failed["status"] == "error" and failed["error"]["type"] == "edit_preparation_failure"


def test_each_call_gets_one_answer_in_order(world):
    for i in range(20):
        world.write("f%d" % i, "file %d\n" % i)
    calls = [call("read_file", {"file_path": "f%d" % i}) for i in range(20)]
    run = world.run([calls + [call("nothing_like_it"), call("read_file", {"bad": 1})],
                     [text("Done.")]])
    results = run.results()
    assert [r["content"] for r in results[:20]] == ["file %d\n" % i for i in range(20)]
    assert [r["error"]["code"] for r in results[20:]] == ["unknown_tool", "invalid_argument"]
    # They run side by side: which ends first is not said.
    assert sorted(m["error"]["type"] for m in run.told("tool-result") if "error" in m) == [
        "invalid_tool_params", "tool_not_registered"]
    assert run.stats["tools"]["totalCalls"] == 22 and run.stats["tools"]["totalFail"] == 2
    assert run.end["stream"]["tool_calls"] == 22 and run.end["stream"]["duration_ms"] == 7


def test_edits_of_one_file_are_made_in_order(world):
    world.write("a", "".join("line %d\n" % i for i in range(10)))
    calls = [call("update_file", {"file_path": "a" if i % 2 else "./a", "old_content":
                                  "line %d\n" % i, "new_content": "line %d!\n" % i})
             for i in range(10)]
    run = world.run([calls + [call("run_shell_command", {"command": "cat a"})], [text("Done.")]],
                    **YOLO)
    # An edit names no state here: it is made on whatever is there, and the next one on that.
    done = [r["success"] for r in run.results()[:10]]
    if all(done):
        assert world.read("a") == "".join("line %d!\n" % i for i in range(10))
    assert run.results()[10]["output"] == world.read("a")
    assert len(run.end["edits"]) == 10


def test_commands_run_beside_each_other_and_after_edits(world):
    meet = "touch $0; for i in $(seq 200); do test -e %s && exit 0; sleep 0.02; done; exit 1"
    run = world.run([[call("write_file", {"file_path": "f", "content": "x\n"}),
                      call("run_shell_command", {"command": "cat f; touch a; " + meet[10:] % "b"}),
                      call("run_shell_command", {"command": "touch b; " + meet[10:] % "a"}),
                      call("run_shell_command", {"command": "ls", "wait_for_previous": True})],
                     [text("Done.")]], **YOLO)
    results = run.results()
    assert results[1]["output"] == "x\n"
    assert [r.get("exit_code") for r in results[1:]] == [0, 0, 0]
    assert results[3]["output"].split() == ["a", "b", "f"]


def test_hundreds_of_calls_are_bounded(world):
    calls = [call("list_directory", {"path": "."}) for _ in range(300)]
    run = world.run([calls, [text("Done.")]], settings={"model": {"disableLoopDetection": True}})
    codes = [r.get("error", {}).get("code") for r in run.results()]
    assert codes == [None] * 128 + ["invalid_argument"] * 172


def test_ids_of_calls_are_unique(world):
    world.write("a", "x\n")
    history = [{"role": "user", "parts": [{"text": "Earlier."}]},
               {"role": "model", "parts": [{"functionCall": {"id": "fc-1", "name": "glob",
                                                             "args": {}}, "thoughtSignature":
                                            fake_gemini.SKIP}]},
               {"role": "user", "parts": [{"functionResponse": {"id": "fc-1", "name": "glob",
                                                                "response": {"files": []}}}]},
               {"role": "model", "parts": [{"text": "So it is."}]}]
    run = world.run([{"reply": {"chunks": [{"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "fc-1", "name": "read_file", "args": {"file_path": "a"}},
         "thoughtSignature": fake_gemini.SKIP}]}, "finishReason": "STOP", "index": 0}]}]}},
                     [text("Done.")]], history=history)
    ids = [m["callId"] for m in run.told("tool-call")]
    assert len(ids) == 1 and ids[0] != "fc-1"


def test_turns_are_limited(world):
    world.write("a", "x\n")
    script = [[call("read_file", {"file_path": "a", "start_line": i + 1})] for i in range(3)]
    run = world.run(script, max_turns=3)
    assert run.outcomes[0]["end"] == "turn_limit" and run.outcomes[0]["turns"] == 3


def test_a_model_that_goes_in_circles_is_told_once_and_then_stopped(world):
    world.write("a", "x\n")
    again = [call("read_file", {"file_path": "a"})]
    run = world.run([again] * 10)
    assert run.outcomes[0]["end"] == "loop" and "5 times in a row" in run.outcomes[0]["reason"]
    told = [part["text"] for content in run.history for part in content["parts"]
            if "go in circles" in part.get("text", "")]
    assert len(told) == 1


def test_a_reply_that_repeats_itself_is_not_heard_to_its_end(world):
    """Each sentence comes by itself; the server would go on for twenty seconds."""
    line = "And so it goes on, without any end that could be seen from here.\n"
    run = world.run([{"reply": [text(line)] * 2000, "pace": 0.01}, [text("I stop.")]])
    said = [part["text"] for content in run.history if content["role"] == "model"
            for part in content["parts"] if "text" in part]
    assert run.outcomes[0]["end"] == "answered" and run.outcomes[0]["text"] == "I stop."
    assert 10 * len(line) <= len(said[0]) < 200 * len(line)
    assert any("go in circles" in part.get("text", "") for content in run.history
               for part in content["parts"])


def test_a_model_that_says_nothing_is_an_error(world):
    run = world.run([[text(" \n")]] * 3)
    assert run.outcomes[0]["error"] == "model_error"
    assert run.outcomes[0]["end"] == "failed"


def test_an_answer_that_was_cut_says_so(world):
    run = world.run([{"reply": [text("It is")], "finish": "MAX_TOKENS"}])
    assert run.outcomes[0]["end"] == "answered" and "cut" in run.outcomes[0]["reason"]


def test_an_answer_after_one_that_was_cut_is_whole(world):
    again = hook("AfterAgent", "test -e once || { touch once; echo '%s'; }" %
                 json.dumps({"decision": "deny", "reason": "Say all of it."}))
    run = world.run([{"reply": [text("It is")], "finish": "MAX_TOKENS"}, [text("It is red.")]],
                    hooks=again)
    assert run.outcomes[0]["text"] == "It is red." and run.outcomes[0]["reason"] is None


def test_a_refusal_of_the_provider_is_an_error(world):
    run = world.run([{"reply": [text("I")], "finish": "SAFETY"}])
    assert run.outcomes[0]["end"] == "failed" and run.outcomes[0]["error"] == "model_error"


def test_what_was_told_of_a_broken_reply_is_taken_back(world):
    run = world.run([{"reply": [text("Wrong "), text("words")], "break_after": 200},
                     [text("Right.")]])
    assert run.outcomes[0]["text"] == "Right."
    taken = [m["forget"] for m in run.told("notice") if "forget" in m]
    said = "".join(m["text"] for m in run.told("content"))
    assert sum(taken) == len(said) - len("Right.")


def test_cancelling_leaves_nothing_running_and_answers_every_call(world):
    calls = [call("run_shell_command", {"command": "echo begun; sleep 30"}),
             call("write_file", {"file_path": "b", "content": "never\n"})]
    run = world.run([calls], cancel_on="tool-output", **YOLO)
    assert run.outcomes[0]["end"] == "cancelled"
    assert [r["error"]["code"] for r in run.results()] == ["cancelled", "cancelled"]
    assert [m["status"] for m in run.told("tool-result")] == ["cancelled", "cancelled"]
    assert not (world.root / "b").exists()
    assert run.end["threads"] == 1


def test_a_bad_key_is_a_failure_of_its_kind(world):
    run = world.run([{"status": 401, "error": "API key not valid. Please pass a valid API key."}])
    assert run.outcomes[0]["end"] == "failed"
    assert run.outcomes[0]["error"] == "authentication_failed"


def test_media_go_beside_the_result(world):
    (world.root / "p.png").write_bytes(bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"))
    run = world.run([[call("read_file", {"file_path": "p.png"})], [text("A picture.")]])
    part = run.history[2]["parts"][0]["functionResponse"]
    assert part["parts"][0]["inlineData"]["mimeType"] == "image/png"
    assert "data" not in part["response"]


def test_confined_workers_and_the_record(world):
    sha = world.write("a.txt", "alpha\nbeta\n")
    run = world.run([[call("read_file", {"file_path": "a.txt"})],
                     [patch("a.txt", sha, "beta", "BETA")],
                     [call("run_shell_command", {"command": "cat a.txt"})],
                     [text("Done.")]], confined=True, record=True, **YOLO)
    assert run.results()[2]["output"] == "alpha\nBETA\n"
    record = Path(run.end["record"]).read_text()
    assert "BETA" in record and "Done." in record


def test_context_found_just_in_time_comes_once_a_folder(world):
    (world.root / "sub").mkdir()
    world.write("sub/a", "x\n")
    world.write("sub/b", "x\n")
    run = world.run([[call("read_file", {"file_path": "sub/a"})],
                     [call("read_file", {"file_path": "sub/b"})], [text("Done.")]], context=True)
    found = ["newly_discovered_project_context" in r for r in run.results()]
    assert found == [True, False]


# ---- questions -----------------------------------------------------------------------------------

def test_nobody_to_ask_means_no_and_says_what_to_do(world):
    for interactive in False, True:
        run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})],
                         [text("No.")]], interactive=interactive)
        assert not (world.root / "a").exists()
        result = run.results()[0]
        assert result["error"]["code"] == ["denied_by_policy", "denied_by_user"][interactive]
        assert "--approval-mode auto_edit" in result["message"]
        assert run.stats["tools"]["totalDecisions"]["reject"] == 1
        assert run.end["edits"] == []


DIFF = "@@ -1 +1 @@\n-1\n+one\n"
CHANGES = {  # of a file aI with "1", or to a new one nI: a tool, its arguments, and what they do
    "write new": ("write_file", {"file_path": "nI", "content": "x\n"}, {"new files"}),
    "write old": ("write_file", {"file_path": "aI", "content": "x\n", "base_content_sha256": "SHA"}, {"edits of files"}),
    "patch": ("safe_patch", {"file_path": "aI", "unified_diff": DIFF, "base_content_sha256": "SHA"}, {"edits of files"}),
    "update": ("update_file", {"file_path": "aI", "old_content": "1", "new_content": "one"}, {"edits of files"}),
    "create": ("apply_changes", {"changes": [{"kind": "create", "file_path": "nI", "content": "x\n"}]}, {"new files"}),
    "delete": ("apply_changes", {"changes": [{"kind": "delete", "file_path": "aI", "base_content_sha256": "SHA"}]},
               {"deletions of files"}),
    "move": ("apply_changes", {"changes": [{"kind": "move", "file_path": "aI", "new_path": "nI",
                                            "base_content_sha256": "SHA"}]}, {"moves of files"}),
    "both": ("apply_changes", {"changes": [{"kind": "create", "file_path": "nI", "content": "x\n"},
                                           {"kind": "patch", "file_path": "aI", "unified_diff": DIFF,
                                            "base_content_sha256": "SHA"}]}, {"edits of files", "new files"}),
}


def change(world, name, number):
    tool, arguments, does = CHANGES[name]
    sha = world.write("a%d" % number, "1\n")
    for text_, by in (("SHA", sha), ("aI", "a%d" % number), ("nI", "n%d" % number)):
        arguments = json.loads(json.dumps(arguments).replace(text_, by))
    return call(tool, arguments), does


def scope_of(name):
    """write_file both makes and replaces files: its choice is about both (requirement 2: per tool)."""
    return CHANGES[name][2] | ({"edits of files", "new files"} if name.startswith("write") else set())


@pytest.mark.parametrize("first", sorted(CHANGES))
def test_always_is_for_the_kind_of_change_that_was_shown_by_whatever_editor(world, first):
    order = [first] + [name for name in CHANGES if name != first] + [first]
    calls = [change(world, name, i) for i, name in enumerate(order)]
    run = world.run([[one] for one, _ in calls] + [[text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_always"}] + [{"outcome": "proceed_once"}] * len(calls))
    asked = run.told("tool-confirmation-request")
    assert set(asked[0]["scope"].replace(" and ", ", ").split(", ")) == scope_of(first)
    expected = [name for name, (_, does) in zip(order[1:], calls[1:]) if not does <= scope_of(first)]
    assert [m["toolName"] for m in asked[1:]] == [CHANGES[name][0] for name in expected], expected
    assert not any("denied" in json.dumps(result) for result in run.results())


@pytest.mark.parametrize("path", ["GEMINI.md", "sub/AGENTS.md", "claude.MD", ".gemini/policies/a.toml", ".mcp.json",
                                  ".claude/agents/x.md", ".agents/skills/x/SKILL.md", "sub/../GEMINI.md", "link.md",
                                  "RULES.md"])
def test_always_is_not_for_what_hasp_obeys(world, path):
    for folder in ("sub", ".gemini/policies", ".claude/agents", ".agents/skills/x"):
        (world.root / folder).mkdir(parents=True)
    (world.root / "GEMINI.md").write_text("old\n")
    (world.root / "link.md").symlink_to("GEMINI.md")
    run = world.run([[call("write_file", {"file_path": "a", "content": "1\n"})],
                     [call("write_file", {"file_path": "b", "content": "2\n"})],
                     [call("update_file", {"file_path": "GEMINI.md", "old_content": "old", "new_content": "new"})
                      if path in ("link.md", "sub/../GEMINI.md") else
                      call("write_file", {"file_path": path, "content": "obey\n"})]
                     if path != "GEMINI.md" else
                     [call("safe_patch", {"file_path": path, "unified_diff": "@@ -1 +1 @@\n-old\n+new\n",
                                          "base_content_sha256": hashlib.sha256(b"old\n").hexdigest()})],
                     [text("Done.")]], interactive=True, settings={"context": {"fileName": ["RULES.md"]}},
                    answers=[{"outcome": "proceed_always"}, {"outcome": "cancel", "message": "No."}])
    asked = run.told("tool-confirmation-request")
    assert len(asked) == 2, asked
    assert not {"proceed_always", "proceed_always_and_save"} & set(asked[1]["outcomes"]) and "scope" not in asked[1]
    assert world.read("b") == "2\n" and world.read("GEMINI.md") == "old\n"


HOSTILE = {
    "long": "begin " + 3000 * "0123456789 " + "end",
    "blank": "first" + 2000 * " " + "hidden" + 40 * "\n" + "below\t\t" + 500 * "\u00a0" + "last",
    "invisible": "a\u202eb\u200bc\u2066d\ufeffe\rf\r\ng\x1b[2Kh\x07i\u00adj\u2028k",
}
ASK_ALL = '[[rule]]\ntoolName = "*"\ndecision = "ask_user"\npriority = 900\n'


def shown_of(message):
    """What the kind of question shows (src/tui/ask/subject.c), as one text for each member."""
    details, arguments = message["details"], message["arguments"]
    return {"edit": [details.get("filePath"), details.get("fileDiff"), details.get("otherArguments")],
            "exec": [details.get("command"), arguments.get("description"), arguments.get("dir_path"),
                     json.dumps(arguments.get("additional_permissions")), details.get("otherArguments")],
            "mcp": [json.dumps(arguments, ensure_ascii=False)],
            "info": [details.get("prompt"), *details.get("urls", [])]}[details["type"]]


def is_shown(value, texts, kind):
    lines = value.split("\n") if kind == "edit" else [value]
    if not any(value in (text_ or "") for text_ in texts):  # among other arguments the lines of one are indented
        texts = [(text_ or "").replace("\n  ", "\n") for text_ in texts]
    forms = lambda line: (line, json.dumps(line, ensure_ascii=False)[1:-1], json.dumps(line)[1:-1])  # noqa: E731
    return all(any(form.rstrip("\r") in (text_ or "") for text_ in texts for form in forms(line)) for line in lines)


def string_arguments(tool):
    def walk(schema, path):
        if schema.get("type") == "string" and "enum" not in schema:
            yield path
        for name, member in schema.get("properties", {}).items():
            yield from walk(member, path + [name])
        if isinstance(schema.get("items"), dict):
            yield from walk(schema["items"], path + [0])
    return list(walk(tool["arguments_schema"], []))


def minimal(schema):
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: minimal(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal(schema["items"])]
    return {"integer": schema.get("minimum", 1), "boolean": True, "number": 1}.get(kind, "a.txt")


TOOLS = json.loads(subprocess.run([os.environ.get("HASP") or str(TOP / "build" / "hasp"), "tool", "--list", "--json"],
                                  stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.parametrize("hostile", sorted(HOSTILE))
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if string_arguments(tool)], ids=lambda tool: tool["name"])
def test_every_argument_of_every_tool_is_in_its_question(world, tool, hostile):
    value, schema = HOSTILE[hostile], tool["arguments_schema"]
    rule = world.path / "ask.toml"
    rule.write_text(ASK_ALL)
    if tool["name"] != "write_file":
        world.write("a.txt", "a.txt\n")
    tried = []
    for path in string_arguments(tool):
        arguments = minimal(schema)
        at = arguments
        for name in path[:-1]:  # what is optional must be made
            if isinstance(name, str):
                at = at.setdefault(name, [] if path[path.index(name) + 1] == 0 else {})
            elif not at:
                at.append({})
                at = at[0]
            else:
                at = at[0]
        if isinstance(at, list):
            at[:] = [value]
        else:
            at[path[-1]] = value
        tried.append((path, arguments))
    asked = 0
    for path, arguments in tried:
        run = world.run([[call(tool["name"], arguments)], [text("Done.")]], interactive=True, policy=[str(rule)],
                        answers=[{"outcome": "cancel", "message": "No."}])
        for message in run.told("tool-confirmation-request"):
            asked += 1
            kind = message["details"]["type"]
            assert is_shown(value, shown_of(message), kind), (path, kind)
    assert asked or tool["name"] in NEVER_ASKED, [r for r in run.results()]


# These texts are no diffs: refused before anybody is asked. Of what is one, the question shows what it makes.
NEVER_ASKED = {"safe_patch", "apply_changes"}


def test_always_counts_for_what_it_says_in_the_session(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "1\n"})],
                     [call("write_file", {"file_path": "b", "content": "2\n"})],
                     [call("run_shell_command", {"command": "make -n"})],
                     [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_always"}, {"outcome": "proceed_once"}])
    asked = run.told("tool-confirmation-request")
    assert [m["toolName"] for m in asked] == ["write_file", "run_shell_command"]
    assert asked[0]["outcomes"] == ["proceed_once", "proceed_always", "modify_with_editor", "cancel"]
    assert run.told("update-policy") == [{"toolName": "write_file", "saved": False}]
    assert world.read("a") == "1\n" and world.read("b") == "2\n"
    assert run.stats["tools"]["totalDecisions"] == {"accept": 2, "reject": 0, "modify": 0,
                                                    "auto_accept": 1}


def test_a_question_shows_the_edit(world):
    world.write("a", "1\n")
    run = world.run([[change(world, "patch", 0)[0]], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_once"}])
    details = run.told("tool-confirmation-request")[0]["details"]
    assert details["type"] == "edit" and details["filePath"] == str(world.root / "a0")
    assert details["originalContent"] == "1\n" and details["newContent"] == "one\n"
    assert "-1\n+one\n" in details["fileDiff"]


def test_what_somebody_made_of_an_edit_is_written(world):
    sha = world.write("a", "one\ntwo\n")
    run = world.run([[patch("a", sha, "two", "2")], [text("Done.")]], interactive=True,
                    answers=[{"outcome": "modify_with_editor", "newContent": "one\nTWO\n"}])
    assert world.read("a") == "one\nTWO\n"
    assert run.stats["tools"]["totalDecisions"]["modify"] == 1


def test_no_to_one_call_is_no_to_the_rest(world):
    calls = [call("write_file", {"file_path": n, "content": "x\n", "wait_for_previous": True})
             for n in "abc"]
    run = world.run([calls], interactive=True, answers=[{"outcome": "cancel"}])
    assert run.outcomes[0]["end"] == "cancelled"
    assert [m["status"] for m in run.told("tool-result")] == ["cancelled"] * 3
    assert [r["error"]["code"] for r in run.results()] == ["denied_by_user", "cancelled",
                                                          "cancelled"]


def test_no_with_a_word_goes_to_the_model(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("As B.")]],
                    interactive=True, answers=[{"outcome": "cancel", "message": "Call it b. " + 3000 * "Really. " + "Now."}])
    assert run.outcomes[0]["end"] == "answered"
    result = run.results()[0]
    assert result["message"].endswith("The user declined this call and says: Call it b. " + 3000 * "Really. " + "Now.")
    assert result["error"]["code"] == "denied_by_user"
    assert "instruction" in result["error"]["advice"] and "retry" not in json.dumps(result)


def test_an_outcome_that_was_not_offered_is_no(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})]],
                    interactive=True, answers=[{"outcome": "proceed_always_server"}])
    assert not (world.root / "a").exists() and run.outcomes[0]["end"] == "cancelled"


def test_commands_are_asked_about_with_all_that_they_run(world):
    run = world.run([[call("run_shell_command", {"command": "make -n || env rm -rf x"})],
                     [call("run_shell_command", {"command": "make"})],
                     [text("Done.")]], interactive=True,
                    answers=[{"outcome": "proceed_once"}, {"outcome": "proceed_once"}])
    details = run.told("tool-confirmation-request")[0]["details"]
    assert details["type"] == "exec" and details["rootCommand"] == "make"
    assert {"make", "env", "rm"} <= set(details["rootCommands"])
    assert "rm -rf x" in details["summary"]


def test_a_rule_that_denies_is_told(world):
    rules = world.path / "rules.toml"
    rules.write_text('[[rule]]\ntoolName = "replace"\ndecision = "deny"\npriority = 500\n'
                     'denyMessage = "Not here."\n')
    sha = world.write("a", "x\n")
    run = world.run([[patch("a", sha, "x", "y")], [text("No.")]], policy=[str(rules)],
                    mode="yolo")
    assert "Not here." in run.results()[0]["message"]
    rejected = run.told("tool-policy-rejection")[0]
    assert rejected["toolName"] == "update_file" and "rules.toml" in rejected["rule"]
    names = fake_gemini.Provider.tool_names(run.server.requests[0])
    # Rules for replace are rules for all that changes a part of a file.
    assert not {"update_file", "safe_patch"} & set(names) and "write_file" in names


def test_always_and_save_writes_a_rule(world):
    saved = world.path / "policies"
    saved.mkdir()
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("Done.")]],
                    interactive=True, save_folder=str(saved),
                    settings={"security": {"enablePermanentToolApproval": True}},
                    answers=[{"outcome": "proceed_always_and_save"}])
    assert "proceed_always_and_save" in run.told("tool-confirmation-request")[0]["outcomes"]
    assert world.read("a") == "x\n"
    assert "write_file" in (saved / "auto-saved.toml").read_text()


def test_always_and_save_gives_up_on_a_lock(world):
    """Another hasp holds the folder: the call is allowed for this session, and a warning names the folder."""
    saved = world.path / "policies"
    saved.mkdir()
    fd = os.open(saved, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("Done.")]],
                        interactive=True, save_folder=str(saved),
                        settings={"security": {"enablePermanentToolApproval": True},
                                  "hasp": {"waits": {"lockSeconds": 1}}},
                        answers=[{"outcome": "proceed_always_and_save"}])
    finally:
        os.close(fd)
    assert world.read("a") == "x\n" and os.listdir(saved) == []
    notices = [notice["message"] for notice in run.told("notice")]
    assert any("gives up after 1 s" in notice for notice in notices)
    assert any("locked by another program for 1 s" in notice and str(saved) in notice
               for notice in notices)


# ---- hooks ---------------------------------------------------------------------------------------

def hook(event, command, matcher=None):
    group = {"hooks": [{"type": "command", "command": command}]}
    return {event: [dict(group, matcher=matcher) if matcher else group]}


def say(**output):
    return "cat >/dev/null; printf '%s' '" + json.dumps(output) + "'"


def test_a_hook_rewrites_arguments_by_geminis_names(world):
    sha = world.write("a", "one\n")
    run = world.run([[patch("a", sha, "one", "two")], [text("Done.")]], mode="yolo",
                    hooks=hook("BeforeTool", say(hookSpecificOutput={
                        "tool_input": {"new_string": "three"}}), "replace"))
    assert world.read("a") == "three\n", run.results()


def test_a_hook_refuses_a_call(world):
    run = world.run([[call("write_file", {"file_path": "a", "content": "x\n"})], [text("No.")]],
                    mode="yolo", hooks=hook("BeforeTool", say(decision="deny", reason="Never."),
                                            "write_file"))
    assert run.results()[0]["message"] == "Tool execution blocked: Never."
    assert not (world.root / "a").exists()


def test_a_hook_stops_the_work(world):
    run = world.run([[call("list_directory", {"path": "."})]],
                    hooks=hook("AfterTool", say(**{"continue": False, "stopReason": "Enough."})))
    assert run.outcomes[0]["end"] == "hook_stopped" and run.outcomes[0]["reason"] == "Enough."


def test_a_hook_has_another_tool_called_instead(world):
    world.write("a", "found\n")
    run = world.run([[call("list_directory", {"path": "."})], [text("Done.")]],
                    hooks=hook("AfterTool", say(hookSpecificOutput={"tailToolCallRequest": {
                        "name": "read_file", "args": {"file_path": "a"}}}), "list_directory"))
    assert run.results()[0]["content"] == "found\n"


def test_a_hook_adds_context_to_prompt_and_result(world):
    hooks = hook("BeforeAgent", say(hookSpecificOutput={"additionalContext": "Be brief."}))
    hooks.update(hook("AfterTool", say(hookSpecificOutput={"additionalContext": "Seen."})))
    run = world.run([[call("list_directory", {"path": "."})], [text("Done.")]], hooks=hooks)
    first = run.server.requests[0].body["contents"][0]["parts"]
    assert first[1]["text"] == "<hook_context>Be brief.</hook_context>"
    assert run.results()[0]["hook_context"] == "Seen."


def test_a_hook_is_not_satisfied_with_an_answer(world):
    once = "grep -q '\"stop_hook_active\": *true' && exit 0; echo 'Say more.' >&2; exit 2"
    run = world.run([[text("Short.")], [text("Longer.")]], hooks=hook("AfterAgent", once))
    assert run.outcomes[0]["text"] == "Longer." and run.outcomes[0]["turns"] == 2
    assert "Say more." in run.history[2]["parts"][0]["text"]


def test_a_hook_blocks_a_prompt(world):
    run = world.run([], hooks=hook("BeforeAgent", say(decision="block", reason="No secrets.")))
    assert run.outcomes[0]["end"] == "hook_stopped"
    assert run.outcomes[0]["reason"] == "No secrets." and run.history == []


def test_hooks_around_the_model(world):
    instead = {"candidates": [{"content": {"role": "model", "parts": ["Instead."]}}]}
    run = world.run([], hooks=hook("BeforeModel", say(hookSpecificOutput={
        "llm_response": instead})))
    assert run.outcomes[0]["text"] == "Instead."
    run = world.run([[text("The secret is 42.")]], hooks=hook("AfterModel", say(
        hookSpecificOutput={"llm_response": {"candidates": [{"content": {
            "role": "model", "parts": ["The secret is hidden."]}}]}})))
    assert run.outcomes[0]["text"] == "The secret is hidden."
    assert "42" not in json.dumps(run.told("content"))
    run = world.run([[text("Done.")]], hooks=hook("BeforeToolSelection", say(
        hookSpecificOutput={"toolConfig": {"mode": "AUTO", "allowedFunctionNames":
                                           ["grep_search", "read_file"]}})))
    assert set(fake_gemini.Provider.tool_names(run.server.requests[0])) == {"search_files",
                                                                           "read_file"}


# ---- what is sent --------------------------------------------------------------------------------

TOO_LARGE = {"status": 400, "error": "The input token count (1200000) exceeds the maximum number "
                                     "of tokens allowed (1048576)."}
SNAPSHOT = "<state_snapshot><goal>To do it, all of it, as was said.</goal></state_snapshot>"


def long_history(calls, size):
    history = [{"role": "user", "parts": [{"text": "Do all of it."}]}]
    for i in range(calls):
        history.append({"role": "model", "parts": [{"functionCall": {
            "id": "old-%d" % i, "name": "run_shell_command", "args": {"command": "x"}},
            "thoughtSignature": fake_gemini.SKIP}]})
        history.append({"role": "user", "parts": [{"functionResponse": {
            "id": "old-%d" % i, "name": "run_shell_command",
            "response": {"output": "y" * size}}}]})
    return history + [{"role": "model", "parts": [{"text": "So far."}]}]


def test_a_long_conversation_is_summarised(world):
    run = world.run([[text(SNAPSHOT)], [text("Done.")]], history=long_history(20, 4000),
                    model={"context_tokens": 20000})
    assert [m["how"] for m in run.told("compressed")] == ["summary"]
    told = run.told("compressed")[0]
    assert 0 < told["after"] < told["before"]
    note, state = (part["text"] for part in run.history[0]["parts"])
    assert "Do all of it." in note and SNAPSHOT in state
    assert run.outcomes[0]["text"] == "Done."
    assert run.history[-2]["parts"][0]["text"] == "Do it."
    assert "tools" not in run.server.requests[0].body
    assert run.stats["models"]["gemini-3-pro-preview"]["roles"]["compress"]["totalRequests"] == 1


def test_without_a_summary_the_oldest_is_left_out(world):
    run = world.run([{"status": 400, "error": "No."}, [text("Done.")]],
                    history=long_history(20, 4000), model={"context_tokens": 20000})
    assert [m["how"] for m in run.told("compressed")] == ["truncation"]
    assert "Do all of it." in run.history[0]["parts"][0]["text"]
    assert run.outcomes[0]["text"] == "Done."


FIRST = "<session_context>It is Monday: PEAR.</session_context>"


@pytest.mark.parametrize("answer", [[text(SNAPSHOT)], {"status": 400, "error": "No."}])
def test_what_the_model_is_told_first_outlives_every_compaction(world, answer):
    run = world.run([answer, [text("Done.")]], first=FIRST, record=True,
                    history=long_history(20, 4000), model={"context_tokens": 20000})
    assert len(run.told("compressed")) == 1
    assert run.history[0]["parts"] == [{"text": FIRST}]
    sent = run.server.requests[-1].body["contents"]
    assert sent[0]["parts"][0]["text"] == FIRST and json.dumps(sent).count("PEAR") == 1
    assert "PEAR" not in Path(run.end["record"]).read_text()


def test_what_is_told_first_is_cut_when_nothing_else_helps(world):
    run = world.run([TOO_LARGE, [text("Done.")]],
                    first="PEAR" + "x" * 90000)
    assert len(run.history[0]["parts"][0]["text"]) < 50000
    assert run.history[0]["parts"][0]["text"].startswith("PEAR")
    assert run.outcomes[0]["text"] == "Done."


def test_a_compaction_tells_what_is_left_of_found_context(world):
    history = long_history(8, 4000)
    for i in (2, 16):
        history[i]["parts"][0]["functionResponse"]["response"][
            "newly_discovered_project_context"] = "found %d" % i
    run = world.run([[text(SNAPSHOT)]], prompts=[], compress=True, history=history)
    assert [line["kept"] for line in run.lines if "kept" in line] == [["found 16"]]


FULL = {"context_tokens": 180000}  # what is masked then is enough


def test_found_context_stays_in_a_masked_result(world):
    history = long_history(12, 40000)
    history[2]["parts"][0]["functionResponse"]["response"][
        "newly_discovered_project_context"] = "found " * 200
    run = world.run([[text("Done.")]], history=history, output_folder=str(world.path / "outputs"),
                    model=FULL)
    assert "masked" in run.results()[0]
    assert run.results()[0]["newly_discovered_project_context"] == "found " * 200


def texts(message):
    return " ".join(part.get("text", "") for part in message["parts"])


def answers(count):
    return [[call("run_shell_command", {"command": "head -c 9000 /dev/zero | tr '\\0' %d" % i})]
            for i in range(count)]


NO = {"status": 400, "error": "No."}


@pytest.mark.parametrize("first, second", [([text(SNAPSHOT)], [text(SNAPSHOT)]), (NO, None),
                                           ([text(SNAPSHOT)], NO)])
def test_a_second_compaction_keeps_the_first_prompt_and_nests_nothing(world, first, second):
    """Also when the second is of a resumed session."""
    steps = [*answers(3), TOO_LARGE, first, [text("So far.")], *answers(3), TOO_LARGE,
             *([second] if second else []), [text("Done.")]]
    run = world.run(steps, prompts=["Sort the BOOKS.", "Go on."], **YOLO)
    assert len(run.told("compressed")) == 2 and run.outcomes[1]["text"] == "Done."
    said = texts(run.history[0])
    assert said.count("Sort the BOOKS.") == said.count("was left out") == 1
    assert said.count("<state_snapshot>") == (0 if first is NO else 1)


def test_the_first_prompt_is_another_one_when_a_hook_cleared_the_conversation(world):
    clear = hook("AfterAgent", say(hookSpecificOutput={"hookEventName": "AfterAgent",
                                                       "clearContext": True}))
    run = world.run([[text("Cleared.")], *answers(3), TOO_LARGE, [text(SNAPSHOT)], [text("Done.")]],
                    prompts=["Sort the BOOKS.", "Count the PEARS."], hooks=clear,
                    compress=False, first=FIRST, **YOLO)
    asked = json.dumps(run.server.requests[-1].body)
    assert "PEARS" in asked and "BOOKS" not in asked and FIRST in asked


def test_an_output_that_is_cut_twice_has_one_note(world):
    """By the tool, for the settings' threshold, and because it is still too much for the model."""
    line = "seq 1 20000; exit 0"
    run = world.run([[call("run_shell_command", {"command": line})], [text("Done.")]],
                    output_folder=str(world.path / "o"), **YOLO)
    output = run.results()[0]["output"]
    assert output.count("left out") == 1 and len(output) > 40000
    assert not (world.path / "o").exists()
    run = world.run([[call("run_shell_command", {"command": line})], TOO_LARGE, NO,
                     [text("Done.")]], output_folder=str(world.path / "o"),
                    settings={"tools": {"truncateToolOutputThreshold": 30000}}, **YOLO)
    output = run.results()[0]["output"]
    assert output.count("left out") == output.count("[...") == 1
    assert output.startswith("1\n2\n") and len(output) < 20200
    (kept,) = (world.path / "o").iterdir()
    assert "what the tool gave of them is in %s ...]" % kept in output
    gone = int(output.split("[... ")[1].split(" bytes")[0])
    shown = sum(len(part) for part in (output.split("\n[...")[0], output.split("...]\n")[1]))
    assert abs(gone + shown - len("".join("%d\n" % i for i in range(1, 20001)))) < 3


def working(turns, state=SNAPSHOT):
    """Each turn a command with an output of 6,000 bytes of its own, then an answer; summaries between."""
    done = []

    def answer(request):
        if not request.body.get("tools"):
            return {"reply": [text(state)]}
        done.append(1)
        if len(done) > turns:
            return {"reply": [text("Done.")]}
        word = "%02d" % len(done)
        return {"reply": [call("run_shell_command", {
            "command": "for i in $(seq 100); do echo OUTPUT-%s$i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                       "xxxxxx; done" % word})]}
    return answer


def test_a_small_limit_leaves_room_for_turns(world):
    """Beside tools and prompt there is little of it: each compaction lasts for turns, and an output stands once
    in the file."""
    run = world.run([], auto=working(30), record=True, model={"context_tokens": 40000}, **YOLO)
    assert run.outcomes[0]["text"] == "Done."
    assert len(run.told("compressed")) <= 10, [m for m in run.told("compressed")]
    record = Path(run.end["record"]).read_text()
    for i in range(1, 31):
        assert record.count("OUTPUT-%02d7 " % i) == 1, i


def test_what_cannot_be_made_shorter_is_said_once_and_not_tried_each_turn(world):
    """The tools alone are above the threshold."""
    run = world.run([], auto=working(12), model={"context_tokens": 40000},
                    settings={"model": {"compressionThreshold": 0.05}}, **YOLO)
    assert run.outcomes[0]["text"] == "Done."
    said = [m["message"] for m in run.told("notice") if "cannot be made shorter" in m["message"]]
    assert len(said) == 1 and len(run.told("compressed")) <= 5, (said, run.told("compressed"))


def test_too_large_is_made_smaller_once_and_sent_again(world):
    run = world.run([TOO_LARGE, [text(SNAPSHOT)], [text("Done.")]],
                    history=long_history(5, 2000))
    assert run.outcomes[0]["text"] == "Done."
    assert [m["how"] for m in run.told("compressed")] == ["summary"]


def test_too_large_again_is_an_error_and_no_endless_loop(world):
    run = world.run([TOO_LARGE, [text(SNAPSHOT)], TOO_LARGE], history=long_history(5, 2000))
    assert run.outcomes[0]["error"] == "context_too_large"


def test_compression_on_demand(world):
    hooks = hook("PreCompress", "cat > trigger.json", "manual")
    run = world.run([[text(SNAPSHOT)]], prompts=[], compress=True, hooks=hooks,
                    history=long_history(5, 2000))
    assert [line["compressed"] for line in run.lines if "compressed" in line] == [True]
    assert json.loads(world.read("trigger.json"))["trigger"] == "manual"
    run = world.run([], prompts=[], compress=True)
    assert [line["compressed"] for line in run.lines if "compressed" in line] == [False]


def test_old_outputs_are_masked(world):
    run = world.run([[text("Done.")]], history=long_history(12, 40000),
                    output_folder=str(world.path / "outputs"))
    assert not any("masked" in r for r in run.results())  # what was sent stays
    run = world.run([[text("Done.")]], history=long_history(12, 40000), model=FULL,
                    output_folder=str(world.path / "outputs"))
    masked = ["masked" in r for r in run.results()]
    assert masked == [True] * 7 + [False] * 5 or masked == [True] * 6 + [False] * 6
    assert len(list((world.path / "outputs").iterdir())) == sum(masked)


def test_trimming_can_be_turned_off(world):
    sha = world.write("a", "one\n" + "x\n" * 500)
    steps = [[call("read_file", {"file_path": "a"})], [patch("a", sha, "one", "two")],
             [text("Done.")]]
    run = world.run(steps, settings={"hasp": {"trimSuperseded": False}}, **YOLO)
    assert run.results()[0]["content"] and "content_left_out" not in run.results()[0]


def test_edits_of_a_file_in_view_bring_only_their_places(world):
    content = "0\n" + "a line of the file\n" * 1000
    steps = [[call("read_file", {"file_path": "a"})]]
    for i in range(10):
        sha = hashlib.sha256(content.encode()).hexdigest()
        if not i:
            world.write("a", content)
        steps.append([patch("a", sha, "%d\n" % i, "%d\n" % (i + 1))])
        content = content.replace("%d\n" % i, "%d\n" % (i + 1))
    run = world.run(steps + [[text("Done.")]], return_content="new", **YOLO)
    results = run.results()
    assert results[0]["content"].startswith("0\n") and world.read("a").startswith("10\n")
    assert [r["latest_file_state"]["content_omitted"] for r in results[1:]] == [
        "line 1 as sent, the rest as version %d" % (i + 1) for i in range(10)]
    assert not any({"diff", "hunks", "lines_added"} & set(r) for r in results)


@pytest.mark.parametrize("compacted", [True, False])
def test_what_a_compaction_took_out_is_seen_no_longer(world, compacted):
    """Nothing of the file is left in the conversation: a write that names no state is refused."""
    world.write("a", "".join("line %d\n" % i for i in range(300)))
    filler = [[call("run_shell_command", {"command": "seq %d000 %d999" % (i, i)})] for i in range(1, 9)]
    again = [TOO_LARGE, [text(SNAPSHOT)]] if compacted else []
    run = world.run([[call("read_file", {"file_path": "a"})], *filler, *again,
                     [call("write_file", {"file_path": "a", "content": "new\n"})], [text("Done.")]],
                    return_content="new", **YOLO)
    answer = run.results()[-1]
    assert answer["success"] is not compacted
    assert compacted == (answer.get("error", {}).get("code") == "base_required")
