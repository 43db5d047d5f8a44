# SPDX-License-Identifier: Apache-2.0
"""The file of telemetry.outfile: what is in it, what never is, and beside Gemini CLI's for the
same script."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "compat"), str(TOP / "test" / "model")]

import fake_gemini  # noqa: E402
from programs import HASP, Program  # noqa: E402

SECRET = "the-inside-of-a-file"
STEPS = [
    {"reply": [fake_gemini.call("read_file", {"file_path": "secret.txt"})]},
    {"reply": [fake_gemini.call("write_file", {"file_path": "new.py",
                                               "content": "made-up-contents\n"})]},
    {"reply": [fake_gemini.call("read_file", {"file_path": "absent.txt"})]},
    {"reply": [fake_gemini.text("Done.")]},
]

LONG = [
    {"reply": [fake_gemini.call("run_shell_command", {
        "command": "printf '%s\\n' made-up-contents-{1..3000}", "description": "Much."})]},
    {"reply": [fake_gemini.text("Done.")]},
]

# What quotes a file without being its content: a refused edit, and texts of one short line.
LEAKS = [
    {"reply": [fake_gemini.call("read_file", {"file_path": "secret.txt"})]},
    {"reply": [fake_gemini.call("replace", {
        "file_path": "secret.txt", "instruction": "quote-in-an-instruction",
        "old_string": SECRET + "s", "new_string": "one-short-line"})]},
    {"reply": [fake_gemini.call("run_shell_command", {
        "command": "echo quote-in-a-command", "description": "quote-in-a-description"})]},
    {"reply": [fake_gemini.call("glob", {
        "pattern": "*.txt", "case_sensitive": True, "quote in a name": {"path": "x"}})]},
    {"reply": [fake_gemini.text("Done.")]},
]

# What only one of the two has, and why.
EVENTS_ELSEWHERE = {
    "gemini_cli.startup_stats": "hasp has no phases of its start",
    "gemini_cli.model_routing": "hasp routes nothing",
}
METRICS_ELSEWHERE = {
    "gemini_cli.model_routing.latency": "hasp routes nothing",
    "gemini_cli.startup.duration": "hasp has no phases of its start",
    "gemini_cli.memory.usage": "of Node.js",
    "gemini_cli.cpu.usage": "of Node.js",
}
ATTRIBUTES_ELSEWHERE = {
    "*": {"installation.id", "auth_type"},  # hasp identifies no installation
    "gemini_cli.config": {
        "embedding_model", "sandbox_enabled", "api_key_enabled", "vertex_ai_enabled", "debug_mode", "mcp_tools",
        "mcp_tools_count", "output_format", "extension_ids", "worktree_active"},
    "gemini_cli.api_request": {"request_text"},    # has the contents of files
    "gemini_cli.api_response": {"response_text"},
    "gen_ai.client.inference.operation.details": {
        "gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages",
        "gen_ai.request.temperature", "gen_ai.request.top_p", "gen_ai.request.top_k",
        "gen_ai.response.id", "server.address", "server.port"},
    "gemini_cli.hook_call": {"hook_input", "hook_output", "stdout", "stderr", "error"},
    # Texts of errors quote files.
    "gemini_cli.tool_call": {"error", "error.message"},
    "gemini_cli.file_operation": {"mimetype", "programming_language"},
}
METRIC_ATTRIBUTES_ELSEWHERE = {"gemini_cli.file.operation.count": {"lines", "mimetype", "programming_language"}}
SPAN_ATTRIBUTES_ELSEWHERE = {
    "llm_call": {"gen_ai.system_instructions", "gen_ai.tool.definitions"}, "tool_call": {"gen_ai.tool.description"}}


def objects(path):
    """As Gemini CLI's own integration tests take the file apart."""
    text, decoder, found, at = path.read_text(), json.JSONDecoder(), [], 0
    assert "}\n{" in text
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def events(found):
    return [one["attributes"] for one in found
            if "event.name" in one.get("attributes", {}) and "hrTime" in one]


def spans(found):
    return [one for one in found if "_spanContext" in one]


def metrics(found):
    return {metric["descriptor"]["name"]: metric for one in found
            for scope in one.get("scopeMetrics", []) for metric in scope["metrics"]}


def run(program, log, steps=None, mode="auto_edit", **more):
    (program.root / "secret.txt").write_text(SECRET + "\n")
    program.settings(telemetry={"enabled": True, "target": "local", "outfile": str(log),
                                "logPrompts": True, **more})
    done = program.run(steps or STEPS, "-p", "A prompt of mine.", "--approval-mode", mode)
    assert done.code == 0, done.err
    return done


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    found = {}
    for name in ("gemini", "hasp"):
        folder = tmp_path_factory.mktemp(name)
        log = folder / "telemetry.log"
        program = Program(name, folder)
        program.settings(tools={"truncateToolOutputThreshold": 40000})
        run(program, log, [*STEPS[:-1], *LONG], "yolo")
        found[name] = objects(log)
    return found


def by_name(found):
    names = {}
    for event in events(found):
        names.setdefault(event["event.name"], set()).update(event)
    return names


def test_events_are_those_of_gemini_cli(both):
    theirs, ours = by_name(both["gemini"]), by_name(both["hasp"])
    assert set(ours) <= set(theirs)
    assert set(theirs) - set(ours) <= set(EVENTS_ELSEWHERE)
    assert {"gemini_cli.config", "gemini_cli.user_prompt", "gemini_cli.api_request",
            "gemini_cli.api_response", "gemini_cli.tool_call", "gemini_cli.hook_call",
            "gemini_cli.file_operation"} <= set(ours)


def test_attributes_are_those_of_gemini_cli(both):
    theirs, ours = by_name(both["gemini"]), by_name(both["hasp"])
    for name, attributes in ours.items():
        elsewhere = ATTRIBUTES_ELSEWHERE["*"] | ATTRIBUTES_ELSEWHERE.get(name, set())
        assert attributes <= theirs[name], name
        assert theirs[name] - attributes <= elsewhere, name


def test_what_differs_is_documented():
    """Each name that only Gemini CLI has."""
    text = (TOP / "docs" / "telemetry.md").read_text().split("## What differs from Gemini CLI")[1]
    names = {name.replace("gemini_cli.", "") for name in [*EVENTS_ELSEWHERE, *METRICS_ELSEWHERE]}
    for table in (ATTRIBUTES_ELSEWHERE, METRIC_ATTRIBUTES_ELSEWHERE, SPAN_ATTRIBUTES_ELSEWHERE):
        names.update(*table.values())
    missing = {name for name in names if "`%s`" % name not in text}
    assert missing <= {"hook_input", "hook_output", "stdout", "stderr"}, missing  # "hooks' input and output"


def test_attributes_of_metrics_and_spans_are_those_of_gemini_cli(both):
    def points(found):
        # Gemini CLI's printer leaves "[Circular]" where it has printed the object before.
        return {name: set().union(*(point["attributes"] for point in metric["dataPoints"]
                                    if isinstance(point["attributes"], dict)))
                for name, metric in metrics(found).items()}

    def kinds(found):
        names = {}
        for span in spans(found):
            names.setdefault(span["name"], set()).update(span["attributes"])
        return names

    for of, elsewhere, own in (
            (points, METRIC_ATTRIBUTES_ELSEWHERE, set()),
            (kinds, SPAN_ATTRIBUTES_ELSEWHERE, {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"})):
        theirs, ours = of(both["gemini"]), of(both["hasp"])
        for name, attributes in ours.items():
            if theirs[name]:
                assert attributes - own <= theirs[name], name
                assert theirs[name] - attributes <= ATTRIBUTES_ELSEWHERE["*"] | elsewhere.get(name, set()), name


def test_numbers_of_a_call(both):
    """How much was read and written, never what."""
    operations = {event["tool_name"]: event for event in events(both["hasp"])
                  if event["event.name"] == "gemini_cli.file_operation"}
    assert operations["read_file"]["lines"] == operations["write_file"]["lines"] == 2
    read, written, absent, _ = of_kind(events(both["hasp"]), "tool_call")
    assert json.loads(written["metadata"]) == {"model_added_lines": 1, "model_removed_lines": 0}
    assert read["content_length"] > len(SECRET) and "metadata" not in read and absent["content_length"] > 0


def test_metrics_are_those_of_gemini_cli(both):
    theirs, ours = metrics(both["gemini"]), metrics(both["hasp"])
    assert set(ours) <= set(theirs)
    assert set(theirs) - set(ours) <= set(METRICS_ELSEWHERE)
    for name, metric in ours.items():
        for member in ("type", "unit", "valueType"):
            assert metric["descriptor"][member] == theirs[name]["descriptor"][member], name
        assert metric["dataPointType"] == theirs[name]["dataPointType"], name
        assert set(metric["dataPoints"][0]) == set(theirs[name]["dataPoints"][0]), name
    calls = ours["gemini_cli.tool.call.count"]["dataPoints"]
    assert sum(point["value"] for point in calls) == 4
    latency = ours["gemini_cli.tool.call.latency"]["dataPoints"]
    assert sum(point["value"]["count"] for point in latency) == 4
    for point in latency:
        assert sum(point["value"]["buckets"]["counts"]) == point["value"]["count"]


def test_metrics_of_the_semantic_conventions(both):
    ours = metrics(both["hasp"])
    tokens = {point["attributes"]["gen_ai.token.type"]: point
              for point in ours["gen_ai.client.token.usage"]["dataPoints"]}
    answers = [event for event in events(both["hasp"])
               if event["event.name"] == "gemini_cli.api_response"]
    for kind, name in (("input", "input_token_count"), ("output", "output_token_count")):
        assert tokens[kind]["value"]["sum"] == sum(one[name] for one in answers)
        assert tokens[kind]["value"]["count"] == len(answers)
    (took,) = ours["gen_ai.client.operation.duration"]["dataPoints"]
    assert abs(took["value"]["sum"] * 1000 - sum(one["duration_ms"] for one in answers)) < 1
    assert took["attributes"]["gen_ai.provider.name"] == "gcp.gen_ai"
    assert took["attributes"]["gen_ai.request.model"] == "gemini-2.5-pro"


# Texts: what was asked and answered, and descriptions that hasp's tools have elsewhere.
SPAN_ELSEWHERE = {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.description",
                  "gen_ai.system_instructions", "gen_ai.tool.definitions"}
SPAN_HERE = {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"}  # there: with `traces`


def test_spans_are_those_of_gemini_cli(both):
    theirs, ours = spans(both["gemini"]), spans(both["hasp"])
    assert [one["name"] for one in ours] == [one["name"] for one in theirs]
    for mine, other in zip(ours, theirs):
        for member in ("kind", "links", "events", "_ended", "status"):
            assert mine[member] == other[member], member
        assert set(mine) <= set(other) and ("parentSpanContext" in mine) == (
            "parentSpanContext" in other)
        assert set(mine["attributes"]) - set(other["attributes"]) <= SPAN_HERE, mine["name"]
        assert set(other["attributes"]) - set(mine["attributes"]) <= SPAN_ELSEWHERE, mine["name"]
    ids = [one["_spanContext"]["spanId"] for one in ours]
    assert len(set(ids)) == len(ids) and all(len(one) == 16 and int(one, 16) for one in ids)
    (trace,) = {one["_spanContext"]["traceId"] for one in ours}  # one prompt, one trace
    assert len(trace) == 32 and int(trace, 16)
    for span in ours:
        assert span["startTime"] <= span["endTime"]
        if span["name"] == "tool_call":
            after = ours[ours.index(span):]
            parent = next(one for one in after if one["name"] == "schedule_tool_calls")
            assert span["parentSpanContext"]["spanId"] == parent["_spanContext"]["spanId"]


def test_what_happened(both):
    calls = [event for event in events(both["hasp"])
             if event["event.name"] == "gemini_cli.tool_call"]
    assert [(call["function_name"], call["success"]) for call in calls] == [
        ("read_file", True), ("write_file", True), ("read_file", False), ("run_shell_command", True)]
    assert json.loads(calls[0]["function_args"])["file_path"] == "secret.txt"
    assert calls[2]["error_type"] == "file_not_found"
    operations = [event for event in events(both["hasp"])
                  if event["event.name"] == "gemini_cli.file_operation"]
    assert [(one["operation"], one["extension"]) for one in operations] == [
        ("read", ".txt"), ("create", ".py")]
    tokens = [event["total_token_count"] for event in events(both["hasp"])
              if event["event.name"] == "gemini_cli.api_response"]
    assert len(tokens) == 5 and all(tokens)


def test_contents_and_keys_never(both):
    text = json.dumps(both["hasp"])
    for never in (SECRET, "made-up-contents", "test-key-0f9d17"):
        assert never not in text


def test_refused_edits_and_short_contents_never(tmp_path):
    log = tmp_path / "telemetry.log"
    run(Program("hasp", tmp_path), log, LEAKS)
    calls = [event for event in events(objects(log))
             if event["event.name"] == "gemini_cli.tool_call"]
    assert [(call["function_name"], call["success"]) for call in calls][:2] == [
        ("read_file", True), ("replace", False)]
    assert calls[1]["error_type"] == calls[1]["error.type"] != ""
    assert not {"error", "error.message"} & set(calls[1])
    arguments = json.loads(calls[1]["function_args"])
    assert arguments["file_path"] == "secret.txt"
    assert arguments["old_string"] == "[%d bytes]" % len(SECRET + "s")
    assert arguments["new_string"] == "[14 bytes]"
    globbed = json.loads(calls[3]["function_args"])
    assert globbed["pattern"] == "*.txt" and globbed["case_sensitive"] is True
    text = log.read_text()
    for never in (SECRET, "one-short-line", "quote-in", "quote in a name"):
        assert never not in text


def test_prompts_only_when_asked_for(tmp_path):
    log = tmp_path / "telemetry.log"
    run(Program("hasp", tmp_path), log, logPrompts=False)
    text = log.read_text()
    assert "A prompt of mine." not in text and "function_args" not in text
    assert "secret.txt" not in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_project_turns_nothing_on(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    path = program.root / ".gemini" / "settings.json"
    said = json.dumps({"enabled": True, "outfile": str(log), "logPrompts": True})
    path.write_text(path.read_text().replace("{", '{"telemetry": %s,' % said, 1))
    assert program.run([{"reply": [fake_gemini.text("Done.")]}], "-p", "Hi.").code == 0
    assert not log.exists()


def test_the_environment_turns_it_on(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    done = program.run([{"reply": [fake_gemini.text("Done.")]}], "-p", "Hi.", env={
        "GEMINI_TELEMETRY_ENABLED": "true", "GEMINI_TELEMETRY_OUTFILE": str(log)})
    assert done.code == 0
    assert "gemini_cli.user_prompt" in by_name(objects(log))


@pytest.mark.parametrize("more, says", [
    ({"GEMINI_TELEMETRY_TARGET": "gcp"}, "Google Cloud"),
    ({}, "neither telemetry.outfile nor"),
    ({"GEMINI_TELEMETRY_OUTFILE": "/dev/null"}, "not a regular file"),
    ({"GEMINI_TELEMETRY_OUTFILE": "/absent/file"}, "Cannot write"),
])
def test_what_is_not_there_is_named(tmp_path, more, says):
    program = Program("hasp", tmp_path)
    done = program.run([{"reply": [fake_gemini.text("Done.")]}], "-p", "Hi.",
                       env={"GEMINI_TELEMETRY_ENABLED": "true", **more})
    assert done.code == 0 and says in done.err


@pytest.mark.parametrize("kind", ["link", "hard link", "folder that is a link", "FIFO", "folder"])
def test_what_a_command_may_have_put_there_is_not_written(tmp_path, kind):
    """The file may be in the project."""
    program, mine = Program("hasp", tmp_path), tmp_path / "mine"
    mine.mkdir()
    (mine / "telemetry.log").write_text("mine\n")
    log = program.root / "logs" / "telemetry.log"
    if kind == "folder that is a link":
        log.parent.symlink_to(mine)
    else:
        log.parent.mkdir()
    if kind == "link":
        log.symlink_to(mine / "telemetry.log")
    elif kind == "hard link":
        os.link(mine / "telemetry.log", log)
    elif kind == "FIFO":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    program.settings(telemetry={"enabled": True, "outfile": "logs/telemetry.log"})
    done = program.run([{"reply": [fake_gemini.text("Done.")]}], "-p", "Hi.")
    assert done.code == 0 and "Telemetry is off: " in done.err
    assert (mine / "telemetry.log").read_text() == "mine\n"


def test_texts_of_megabytes_and_names_of_no_tool(tmp_path):
    """A model may write what a file holds where the name of a tool belongs."""
    log = tmp_path / "telemetry.log"
    name = "x" * 3000000
    steps = [{"reply": [fake_gemini.call(name, {})]}, {"reply": [fake_gemini.text("Done.")]}]
    program = Program("hasp", tmp_path)
    program.settings(telemetry={"enabled": True, "outfile": str(log), "logPrompts": True})
    program.run(steps, "-p", "Hi.")
    assert log.stat().st_size < 500000 and name[:200] not in log.read_text()
    (call,) = of_kind(events(objects(log)), "tool_call")
    assert call["function_name"] == "(other)"


HOOKED = [
    {"reply": [fake_gemini.call("run_shell_command", {
        "command": "printf '%s' \"Authorization: Bearer abcdefgh1234\""})]},
    {"reply": [fake_gemini.call("run_shell_command", {
        "command": "cat <<'E'\nmade-up-contents\nE"})]},
    {"reply": [fake_gemini.call("write_file", {"file_path": "new.py",
                                               "content": "made-up-contents\n"})]},
    {"reply": [fake_gemini.call("read_file", {"file_path": "absent.txt"})]},
    {"reply": [fake_gemini.text("Done. API_KEY="), fake_gemini.text("made-up-key")]},
]
HOOK = """#!/bin/sh
echo "API_KEY=made-up-key and sk-ant-made-up-0123456789" >&2
[ -n "$1" ] && printf '%s' "$1" || echo "words of the hook"
"""


def detailed(program, log, **more):
    hook = log.parent / "hook.sh"  # not in the project, where it would have to be trusted
    hook.write_text(HOOK)
    (program.root / "secret.txt").write_text(SECRET + "\n")
    moved = json.dumps({"hookSpecificOutput": {"tool_input": {"file_path": "moved.py"}}})
    program.settings(
        telemetry={"enabled": True, "outfile": str(log), "logPrompts": True},
        hooks={"SessionStart": [{"hooks": [{"type": "command", "command": "sh %s" % hook}]}],
               "AfterTool": [{"matcher": "read_file|run_shell_command", "hooks": [
                   {"type": "command", "command": "sh %s" % hook}]}],
               "BeforeTool": [{"matcher": "write_file", "hooks": [
                   {"type": "command", "command": "sh %s '%s'" % (hook, moved)}]}]}, **more)
    done = program.run(HOOKED, "-p", "A prompt of mine. API_KEY=made-up-words",
                       "--approval-mode", "yolo")
    assert done.code == 0, done.err
    return events(objects(log))


def of_kind(found, name):
    return [event for event in found if event["event.name"] == "gemini_cli." + name]


def test_details_only_when_asked_for(tmp_path):
    found = detailed(Program("hasp", tmp_path), tmp_path / "telemetry.log")
    assert not any("request_text" in one for one in of_kind(found, "api_request"))
    assert not any("gen_ai.output.messages" in one for one in found)
    for hook in of_kind(found, "hook_call"):
        assert not {"hook_input", "hook_output", "stdout", "stderr"} & set(hook)
    commands = [json.loads(call["function_args"])["command"]
                for call in of_kind(found, "tool_call")[:2]]
    assert all(one.endswith(" bytes]") for one in commands)


def test_details(tmp_path):
    log = tmp_path / "telemetry.log"
    found = detailed(Program("hasp", tmp_path), log,
                     hasp={"telemetry": {"logDetails": True}})
    hooks = [hook for hook in of_kind(found, "hook_call") if "hook.sh" in hook["hook_name"]]
    calls = of_kind(found, "tool_call")
    start = next(hook for hook in hooks if hook["hook_event_name"] == "SessionStart")
    assert json.loads(start["hook_input"])["source"] == "startup"
    assert start["stdout"] == "words of the hook\n"
    assert json.loads(start["hook_output"]) == {"systemMessage": "words of the hook\n"}
    assert start["stderr"] == "API_KEY=*** and ***\n"
    asked, *later = of_kind(found, "api_request")
    (sent,) = json.loads(asked["request_text"])
    assert sent["role"] == "user" and [part["text"].strip() for part in sent["parts"]] == [
        "<hook_context>The build is red.</hook_context>", "A prompt of mine. API_KEY=***"]
    assert later and not any("request_text" in one for one in later)
    said = [json.loads(one["gen_ai.output.messages"]) for one in found if "gen_ai.output.messages" in one]
    assert said == [[{"role": "assistant", "finish_reason": "stop", "parts": [
        {"type": "text", "content": "Done. API_KEY=***"}]}]]
    before = next(hook for hook in hooks if hook["hook_event_name"] == "BeforeTool")
    asked = json.loads(before["hook_input"])["tool_input"]
    assert asked["file_path"] == "new.py" and asked["content"] == "[17 bytes]"
    assert "moved.py" in before["hook_output"]
    after = next(hook for hook in hooks if hook["hook_event_name"] == "AfterTool")
    assert json.loads(after["hook_input"])["tool_response"] == "[2 members]"
    commands = [json.loads(call["function_args"])["command"] for call in calls[:2]]
    assert commands == ["printf '%s' \"Authorization: Bearer ***\"", "[28 bytes]"]
    assert json.loads(calls[2]["function_args"])["file_path"] == "moved.py"
    assert calls[3]["error"] == calls[3]["error.message"] and "absent.txt" in calls[3]["error"]
    text = log.read_text()
    for never in ("made-up-key", "made-up-0123456789", "abcdefgh1234", "made-up-contents",
                  "test-key-0f9d17"):
        assert never not in text


def test_a_tail_call_is_what_ran(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    (program.root / "secret.txt").write_text(SECRET + "\n")
    tail = json.dumps({"hookSpecificOutput": {"tailToolCallRequest": {
        "name": "glob", "args": {"pattern": "*.made-up"}}}})
    program.settings(
        telemetry={"enabled": True, "outfile": str(log), "logPrompts": True},
        hooks={"AfterTool": [{"matcher": "read_file", "hooks": [
            {"type": "command", "command": "echo '%s'" % tail}]}]})
    done = program.run([STEPS[0], STEPS[-1]], "-p", "Hi.", "--approval-mode", "yolo")
    assert done.code == 0, done.err
    calls = of_kind(events(objects(log)), "tool_call")
    assert [call["function_name"] for call in calls] == ["glob"]
    assert json.loads(calls[0]["function_args"])["pattern"] == "*.made-up"


def test_requests_that_failed_or_broke_off_and_were_sent_again(tmp_path):
    log = tmp_path / "telemetry.log"
    run(Program("hasp", tmp_path), log, [
        {"status": 503, "error": "Overloaded: made-up-contents."},
        {"reply": [fake_gemini.text("It begins. "), fake_gemini.text("And ends. " * 400)],
         "break_after": 900},
        {"reply": [fake_gemini.text("Done.")]}])
    found = objects(log)
    (network,), (content,) = (of_kind(events(found), name) for name in (
        "network_retry_attempt", "chat.content_retry"))
    assert network["attempt"] == 1 and network["delay_ms"] > 0
    assert content["attempt_number"] == 2 and content["model"] == network["model"] != ""
    for name in ("network_retry.count", "chat.content_retry.count"):
        (point,) = metrics(found)["gemini_cli." + name]["dataPoints"]
        assert point["value"] == 1
    assert "made-up-contents" not in log.read_text()


def test_a_request_that_fails_for_good(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    program.settings(telemetry={"enabled": True, "outfile": str(log)})
    assert program.run([{"status": 400, "error": "made-up-contents"}], "-p", "Hi.").code
    found = objects(log)
    (span,) = spans(found)
    assert (span["name"], span["status"]) == ("llm_call", {"code": 2})
    (point,) = metrics(found)["gen_ai.client.operation.duration"]["dataPoints"]
    assert point["attributes"]["error.type"]
    assert "made-up-contents" not in log.read_text()


def test_a_plan_that_is_made_and_approved(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    program.settings(telemetry={"enabled": True, "outfile": str(log)})
    plan = program.home / ".gemini/tmp/project/one/plans/p.md"
    calls = [("enter_plan_mode", {}), ("write_file", {"file_path": str(plan), "content": "# Do it\n\nAll of it.\n"}),
             ("exit_plan_mode", {"plan_filename": "p.md"})]
    done = program.run([*({"reply": [fake_gemini.call(*one)]} for one in calls), {"reply": [fake_gemini.text("Done.")]}],
                       "-p", "Hi.", "-y", "--session-id", "one")
    assert done.code == 0, done.err
    found = objects(log)
    modes = [(one.get("from_mode"), one["to_mode"]) for one in of_kind(events(found), "plan.approval_mode_switch")]
    assert modes == [("yolo", "plan"), ("plan", "yolo")]
    assert [one["mode"] for one in of_kind(events(found), "plan.approval_mode_duration")] == ["yolo", "plan", "yolo"]
    assert [one["approval_mode"] for one in of_kind(events(found), "plan.execution")] == ["yolo"]
    (point,) = metrics(found)["gemini_cli.plan.execution.count"]["dataPoints"]
    assert point["value"] == 1


def test_a_conversation_that_is_compressed(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    program.settings(telemetry={"enabled": True, "outfile": str(log)}, model={"compressionThreshold": 0.001})
    program.run([{"reply": [fake_gemini.text("Words.")]}] * 3, "-p", "a " * 20000)
    (compressed,) = of_kind(events(objects(log)), "chat_compression")
    assert compressed["tokens_before"] > compressed["tokens_after"] > 0
    assert "gemini_cli.chat_compression" in metrics(objects(log))


def test_what_the_configuration_names(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    program.settings(telemetry={"enabled": True, "outfile": str(log)}, tools={"core": ["read_file", "glob"]},
                     mcpServers={"one": {"command": "false"}, "two": {"httpUrl": "http://127.0.0.1:1/?key=hush"}})
    program.run([{"reply": [fake_gemini.text("Done.")]}], "-p", "Hi.")
    (config,) = of_kind(events(objects(log)), "config")
    assert (config["mcp_servers"], config["mcp_servers_count"]) == ("one,two", 2)
    assert config["core_tools_enabled"] == "read_file,glob"
    assert (config["extensions"], config["extensions_count"]) == ("", 0) and "hush" not in log.read_text()


def test_a_model_that_goes_in_circles(tmp_path):
    log = tmp_path / "telemetry.log"
    again = {"reply": [fake_gemini.call("read_file", {"file_path": "secret.txt"})]}
    program = Program("hasp", tmp_path)
    program.settings(model={"name": "gemini-2.5-pro", "disableLoopDetection": False})
    run(program, log, [again] * 5 + [{"reply": [fake_gemini.text("Done.")]}])
    loops = [event for event in events(objects(log)) if event["event.name"] == "loop_detected"]
    assert [(one["loop_type"], one["count"]) for one in loops] == [
        ("consecutive_identical_tool_calls", 1)]


# ---- long results, and sub-agents ----


def test_a_long_result_is_truncated(both):
    """The same attributes from both."""
    for found in both.values():
        (event,) = of_kind(events(found), "tool_output_truncated")
        assert set(event) - {"installation.id", "user.email", "auth_type"} == {
            "event.name", "event.timestamp", "eventName", "session.id", "interactive", "prompt_id",
            "tool_name", "original_content_length",
            "truncated_content_length", "threshold"}
        assert (event["tool_name"], event["threshold"]) == ("run_shell_command", 40000)
        assert event["original_content_length"] >= 51000 > event["truncated_content_length"] > 39000


def test_old_results_are_masked(tmp_path):
    log = tmp_path / "telemetry.log"
    program = Program("hasp", tmp_path)
    program.settings(
        telemetry={"enabled": True, "outfile": str(log)},
        model={"name": "gemini-2.5-pro", "compressionThreshold": 0.022},
        contextManagement={"tools": {"outputMasking": {"protectionThresholdTokens": 100,
                                                       "minPrunableThresholdTokens": 1000}}})
    done = program.run([LONG[0]] * 3 + [LONG[1]], "-p", "Go.",
                       "--approval-mode", "yolo")
    assert done.code == 0, done.err
    masked = [one for one in events(objects(log))
              if one["event.name"] == "gemini_cli.tool_output_masking"]
    assert masked and masked[0]["masked_count"] >= 1
    for one in masked:
        assert one["tokens_before"] > one["tokens_after"] > 0
        assert one["total_prunable_tokens"] >= 1000
    assert "made-up-contents" not in log.read_text()


def agent_file(program, **fields):
    path = program.root / ".gemini" / "agents" / "looker.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {"name": "looker", "description": "Looks.", **fields}
    path.write_text("---\n%s---\nmade-up-prompt\n" % "".join(
        "%s: %s\n" % one for one in fields.items()))


@pytest.mark.parametrize("fields, replies, end, turns", [
    ({}, [fake_gemini.text("Seen.")], "GOAL", 1),
    ({"max_turns": 1}, [fake_gemini.call("list_directory", {"dir_path": "."}),
                        fake_gemini.text("So far.")], "MAX_TURNS", 2),
])
def test_a_sub_agent_begins_and_ends(tmp_path, fields, replies, end, turns):
    log = tmp_path / "telemetry.log"
    program = Program("hasp", tmp_path)
    program.settings(telemetry={"enabled": True, "outfile": str(log)})
    agent_file(program, **fields)
    steps = [[fake_gemini.call("invoke_agent", {"agent_name": "looker", "prompt": "made-up-task"})],
             *[[reply] for reply in replies], [fake_gemini.text("Done.")]]
    done = program.run([{"reply": step} for step in steps], "-p", "Go.", "--approval-mode", "yolo")
    assert done.code == 0, done.err
    found = objects(log)
    begun, ended = [one for one in events(found) if ".agent." in one["event.name"]]
    assert begun["event.name"] == "gemini_cli.agent.start" and begun["agent_id"]
    assert ended["event.name"] == "gemini_cli.agent.finish"
    assert begun["agent_id"] == ended["agent_id"] and ended["agent_name"] == "looker"
    assert (ended["terminate_reason"], ended["turn_count"]) == (end, turns)
    (count,) = metrics(found)["gemini_cli.agent.run.count"]["dataPoints"]
    assert count["value"] == 1 and count["attributes"]["terminate_reason"] == end
    assert {"gemini_cli.agent.duration", "gemini_cli.agent.turns"} <= set(metrics(found))
    assert "made-up" not in log.read_text()


# ---- extensions: of commands, and in a session

EXTENSION_ATTRIBUTES = {
    "install": {"extension_name", "extension_version", "extension_source", "status"},
    "update": {"extension_name", "extension_version", "extension_previous_version", "extension_source", "status"},
    "uninstall": {"extension_name", "status"},
    "enable": {"extension_name", "setting_scope"},
    "disable": {"extension_name", "setting_scope"},
}


def extension_events(log):
    return [(event["event.name"].removeprefix("gemini_cli.extension_"),
             {name: value for name, value in event.items() if "." not in name and name != "interactive"})
            for event in events(objects(log)) if "extension_" in event["event.name"]]


def test_what_is_done_with_extensions(tmp_path):
    program, log = Program("hasp", tmp_path), tmp_path / "telemetry.log"
    program.settings(telemetry={"enabled": True, "outfile": str(log)})
    folder = program.root / "kit"
    folder.mkdir()

    def extensions(*args, code=0):
        done = subprocess.run([HASP, "extensions", *args], env=program.env, cwd=program.root, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == code, done.stderr

    for version in ("1.0.0", "1.1.0"):
        (folder / "gemini-extension.json").write_text(json.dumps({"name": "kit", "version": version}))
        if version == "1.0.0":
            extensions("install", "kit", code=1)  # nobody says yes
            extensions("install", "kit", "--consent")
    extensions("update", "kit", "--consent")
    extensions("disable", "kit", "--scope", "project")
    extensions("enable", "kit", "--scope", "project")
    done = program.run([], "-p", "/extensions disable kit --scope session")
    assert done.code == 0, done.err
    extensions("list")
    extensions("uninstall", "kit")
    found = extension_events(log)
    assert [(what, own.get("status", own.get("setting_scope"))) for what, own in found] == [
        ("install", "error"), ("install", "success"), ("update", "success"), ("disable", "Workspace"),
        ("enable", "Workspace"), ("disable", "Session"), ("uninstall", "success")]
    for what, own in found:
        assert set(own) == EXTENSION_ATTRIBUTES[what] and own["extension_name"] == "kit"
    assert (found[2][1]["extension_previous_version"], found[2][1]["extension_version"]) == ("1.0.0", "1.1.0")
    assert found[1][1]["extension_source"] == "local"
    # A command is no session: nothing else is written of one.
    assert [event["event.name"] for event in events(objects(log))].count("gemini_cli.config") == 1
    assert len([one for one in objects(log) if "scopeMetrics" in one]) == 1
