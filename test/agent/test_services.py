# SPDX-License-Identifier: Apache-2.0
"""The program with the tools of a conversation: the plan mode, what a model looks up, memory, tools
of the project."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "model"))

import fake_gemini  # noqa: E402
from fake_gemini import call, text  # noqa: E402
from fake_server import FakeServer  # noqa: E402

SANITIZERS = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())


class World:
    def __init__(self, top):
        self.root, self.home = top / "project", top / "home"
        self.root.mkdir()
        (self.home / ".gemini").mkdir(parents=True)
        self.plans = self.home / ".gemini" / "tmp" / "project" / "one" / "plans"

    def settings(self, **settings):
        (self.home / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def run(self, script, *flags, trust="true", session="one"):
        with FakeServer(fake_gemini.Provider(append_only=True), [step if isinstance(step, dict) else
                                                 {"reply": step} for step in script]) as server:
            env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GEMINI_API_KEY": "test-key",
                   "GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_CLI_TRUST_WORKSPACE": trust}
            env.update(SANITIZERS)
            done = subprocess.run([HASP, "-p", "Do it.", "--session-id", session, *flags],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  stdin=subprocess.DEVNULL, cwd=self.root, env=env, timeout=300,
                                  check=False)
            assert server.violations == [] and done.returncode in (0, 56), done.stderr
            assert not server.script, "steps that were not asked for: %r" % server.script
        return Done(done, server)


class Done:
    def __init__(self, done, server):
        self.err, self.sent = done.stderr, [request.body for request in server.requests]

    def offered(self, i):
        return {tool["name"] for group in self.sent[i].get("tools", [])
                for tool in group.get("functionDeclarations", [])}

    def results(self):
        """Of tools, in the order of their calls, as the model got them in the end."""
        return [part["functionResponse"]["response"] for content in self.sent[-1]["contents"]
                for part in content["parts"] if "functionResponse" in part]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def level():
    """Of what runs here."""
    done = subprocess.run([HASP, "tool", "run_shell_command", "-a", "command=true"], check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)["sandbox"]


def code(result):
    return result["error"]["code"]


def write(path, content="# Plan\n"):
    return call("write_file", {"file_path": str(path), "content": content})


# ---- plan mode -----------------------------------------------------------------------------------

def test_a_plan_is_written_and_carried_out(world):
    plan = world.plans / "big.md"
    done = world.run([[call("enter_plan_mode", {"reason": "It is large."})],
                      [write("a.txt")],
                      [call("run_shell_command", {"command": "touch b.txt"})],
                      [write(plan)],
                      [write(world.plans / "note.txt")],
                      [write(world.plans / ".." / "big.md")],
                      [call("read_file", {"file_path": str(plan)})],
                      [call("exit_plan_mode", {"plan_filename": "none.md"})],
                      [call("exit_plan_mode", {"plan_filename": "big.md"})],
                      [write("a.txt", "done\n")],
                      [text("Done.")]], "--yolo")
    results = done.results()
    assert results[0]["plans_folder"] == str(world.plans)
    assert [code(results[i]) for i in (1, 2, 4, 5)] == ["denied_by_policy"] * 4
    assert results[3]["success"] and results[6]["content"] == "# Plan\n"
    assert code(results[7]) == "file_not_found" and results[8]["file_path"] == str(plan)
    assert results[9]["success"] and plan.read_text() == "# Plan\n"
    assert os.listdir(world.root) == ["a.txt"] and os.listdir(world.plans) == ["big.md"]
    assert all({"enter_plan_mode", "exit_plan_mode", "write_file"} <= done.offered(i)
               for i in range(11))
    # What a mode means is said once, when it begins.
    modes = [part["text"] for content in done.sent[-1]["contents"] for part in content["parts"]
             if "Approval mode: " in part.get("text", "")]
    assert len(modes) == 3 and ["# Plan mode" in text for text in modes] == [False, True, False]


def test_who_begins_in_plan_mode_is_told_the_folder(world):
    done = world.run([[write(world.plans / "p.md")],
                      [call("exit_plan_mode", {"plan_filename": "p.md"})],
                      [write("a.txt")], [text("Done.")]], "--approval-mode", "plan")
    first = done.sent[0]["contents"][0]["parts"][0]["text"]
    assert "The plans folder is %s." % world.plans in first
    results = done.results()
    assert results[0]["success"] and "file_path" in results[1]
    assert code(results[2]) == "denied_by_policy"  # the default mode, and nobody is there
    assert not (world.root / "a.txt").exists()


def test_plans_may_be_in_the_project(world):
    world.settings(general={"plan": {"directory": "docs/plans (new)"}})
    done = world.run([[write("docs/plans (new)/p.md")], [write("docs/p.md")],
                      [write(world.root / "docs" / "plans (new)" / "q.md")],
                      [write("docs/plans (new)/sub/q.md")],
                      [call("exit_plan_mode", {"plan_filename": "p.md"})],
                      [text("Done.")]], "--approval-mode", "plan")
    results = done.results()
    assert [result.get("success", True) for result in results] == [True, False, True, False, True]
    assert sorted(os.listdir(world.root / "docs" / "plans (new)")) == ["p.md", "q.md"]


def test_plans_outside_of_the_project_are_not_where_a_setting_says(world):
    world.settings(general={"plan": {"directory": "../elsewhere"}})
    done = world.run([[write(world.plans / "p.md")], [text("Done.")]], "--approval-mode", "plan")
    assert "general.plan.directory" in done.err and done.results()[0]["success"]


def test_plan_mode_can_be_switched_off(world):
    world.settings(general={"plan": {"enabled": False}, "topicUpdateNarration": False}, useWriteTodos=False)
    done = world.run([[text("Hello.")]], "--yolo")
    assert not done.offered(0) & {"enter_plan_mode", "exit_plan_mode", "write_todos", "ask_user",
                                     "update_topic"}
    assert {"web_fetch", "google_web_search", "save_memory"} <= done.offered(0)


# ---- a model that looks things up ----------------------------------------------------------------

def chunk(words, **more):
    return {"candidates": [dict({"content": {"role": "model", "parts": [{"text": words}]},
                                 "finishReason": "STOP"}, **more)],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7,
                              "totalTokenCount": 12}}


def asks_for(tool):
    def check(request):
        return [] if request.body.get("tools") == [{tool: {}}] else [str(request.body.get("tools"))]
    return check


def test_a_search_is_a_request_of_its_own(world):
    found = chunk("It is 5.", groundingMetadata={
        "groundingChunks": [{"web": {"uri": "https://a.org", "title": "A"}}],
        "groundingSupports": [{"segment": {"endIndex": 8}, "groundingChunkIndices": [0]}]})
    done = world.run([[call("google_web_search", {"query": "how many"})],
                      {"expect": asks_for("googleSearch"), "reply": {"chunks": [found]}},
                      [text("Five.")]])
    assert done.results()[0]["sources"] == [
        {"title": "<untrusted_context>A</untrusted_context>", "url": "https://a.org"}]
    assert "It is 5.[1]\n" in done.results()[0]["text"]
    assert "how many" in json.dumps(done.sent[1]["contents"]) and len(done.sent[1]["contents"]) == 1


def test_what_was_looked_up_is_recorded_and_replayed(world, tmp_path):
    recorded = tmp_path / "recorded"
    world.run([[call("google_web_search", {"query": "how many"})],
               {"reply": {"chunks": [chunk("It is 5.")]}}, [text("Five.")]],
              "--record-responses", str(recorded))
    done = subprocess.run([HASP, "-m", "replay:%s" % recorded, "-o", "stream-json", "-p", "Again."],
                          cwd=world.root, env=dict(SANITIZERS, PATH=os.environ["PATH"],
                                                   HOME=str(world.home)),
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["It is 5." in event["output"] for event in events
            if event["type"] == "tool_result"] == [True]
    assert [event["content"] for event in events
            if event["type"] == "message" and event["role"] == "assistant"] == ["Five."]


def test_two_pages_are_read_at_once_by_the_model(world):
    read = {"expect": asks_for("urlContext"), "reply": {"chunks": [chunk("A page.")]}}
    done = world.run([[call("web_fetch", {"prompt": "Read https://a.invalid/1"}),
                       call("web_fetch", {"prompt": "Read https://a.invalid/2"})],
                      read, read, [text("Read.")]], "--yolo")
    assert ["A page." in result["text"] for result in done.results()] == [True, True]


# ---- memory, tools of the project ----------------------------------------------------------------

def test_a_fact_is_in_the_next_sessions_prompt(world):
    world.run([[call("save_memory", {"fact": "The user likes tabs."})], [text("Noted.")]], "--yolo")
    done = world.run([[text("Hello.")]], session="two")
    assert "- The user likes tabs." in json.dumps(done.sent[0]["systemInstruction"])


def test_tools_of_the_project_run_in_its_sandbox(world):
    (world.root / "tool.sh").write_text('#!/bin/sh\ncat; touch here; touch "$HOME/there"\n')
    (world.root / "tool.sh").chmod(0o755)
    world.settings(tools={"discoveryCommand": "echo '[{\"name\": \"mine\"}]'",
                          "callCommand": "./tool.sh"})
    script = [[call("discovered_tool_mine", {"a": 1})], [text("Done.")]]
    done = world.run(script, "--yolo")
    result = done.results()[0]
    assert (world.root / "here").exists()
    if level() == "paths":  # this machine cannot confine
        assert result["output"] == "<untrusted_context>\n{\"a\":1}\n</untrusted_context>"
    else:
        assert code(result) == "tool_failed" and "there" in result["stderr"]
        assert not (world.home / "there").exists()


def test_the_users_own_tools_are_there_in_any_folder(world):
    world.settings(tools={"discoveryCommand": "echo '[{\"name\": \"mine\"}]'",
                          "callCommand": "sh -c cat"})
    (world.root / ".gemini").mkdir()
    (world.root / ".gemini" / "settings.json").write_text(json.dumps(
        {"tools": {"discoveryCommand": "touch ran; echo '[{\"name\": \"theirs\"}]'",
                   "callCommand": "touch ran"}}))
    done = world.run([[call("discovered_tool_mine", {"a": 1})], [text("Done.")]],
                     "--allowed-tools", "discovered_tool_mine", trust="false")
    assert [name for name in done.offered(0) if name.startswith("discovered")] == \
        ["discovered_tool_mine"]
    assert '{"a":1}' in done.results()[0]["output"]
    assert not (world.root / "ran").exists()


def test_an_untrusted_project_brings_no_tools(world):
    (world.root / ".gemini").mkdir()
    (world.root / ".gemini" / "settings.json").write_text(json.dumps(
        {"tools": {"discoveryCommand": "touch ran; echo '[{\"name\": \"mine\"}]'"}}))
    done = world.run([[text("Hello.")]], trust="false")
    assert not [name for name in done.offered(0) if name.startswith("discovered")]
    assert not (world.root / "ran").exists()
    world.run([[text("Hello.")]], session="two")
    assert not (world.root / "ran").exists()
    subprocess.run([HASP, "config", "allow", "tools.discoveryCommand", "--skip-trust"], check=True,
                   cwd=world.root, env={"HOME": str(world.home), **SANITIZERS}, capture_output=True)
    world.run([[text("Hello.")]], session="three")
    assert (world.root / "ran").exists()
