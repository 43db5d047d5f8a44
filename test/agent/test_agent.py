# SPDX-License-Identifier: Apache-2.0
"""A whole agent against a strict fake of Gemini's API: real tools on real files."""
import json
from pathlib import Path

from agent_world import YOLO, call, fake_gemini, hook, patch, say, text, thought, world  # noqa: F401  (world is a fixture)


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


# ---- hooks ---------------------------------------------------------------------------------------

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
