# SPDX-License-Identifier: Apache-2.0
"""Long conversations: summaries, masked outputs, and what is sent afterwards."""
import hashlib
import json
from pathlib import Path

import pytest
from agent_world import YOLO, call, fake_gemini, hook, patch, say, text, world  # noqa: F401  (world is a fixture)

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
