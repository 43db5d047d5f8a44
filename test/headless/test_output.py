# SPDX-License-Identifier: Apache-2.0
"""What the three formats print when things do not go straight: a reply that breaks midway, a model in the
place of another, an output that cannot be written."""
import sys

import json

import pytest
from conftest import HASP, KEY, KINDS
from fake_gemini import call, text
from terminal import Terminal, lines_left

# So many bytes of a body say "Half a", and nothing more.
CUTS = {"gemini": 300, "openai": 600, "openai-responses": 1300, "anthropic": 780}
SHOWN = "[This reply broke off; what follows replaces it.]"


def broken(kind="gemini"):
    return [{"reply": [text("Half a"), text(" reply")], "break_after": CUTS[kind], "pace": 0.2},
            {"reply": [text("Whole.")]}]


def unbroken(events):
    """The answer as a reader of stream-json puts it together."""
    pieces = []
    for event in events:
        if event["type"] == "message" and event["role"] == "assistant":
            pieces.append(event["content"])
        elif event.get("forget"):
            del pieces[-event["forget"]:]
    return "".join(pieces)


# ---- a reply that breaks midway ------------------------------------------------------------------

@pytest.mark.parametrize("kind", list(KINDS))
def test_a_broken_reply_leaves_nothing_in_text(world, kind):
    done = world.run(broken(kind), "-p", "x", kind=kind)
    assert (done.code, done.text) == (0, "Whole.\n")
    assert done.err.startswith("[WARNING] ")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_broken_reply_is_followed_by_what_to_forget_in_stream_json(world, kind):
    done = world.run([[text("I look. "), call("list_directory", {"dir_path": "."})], *broken(kind)],
                     "-p", "x", "-o", "stream-json", kind=kind)
    said = [event["content"] for event in done.of_type("message") if event["role"] == "assistant"]
    assert "".join(said) == "I look. Half aWhole.", "the pieces are told as they come"
    (told,) = done.of_type("error")
    assert told["severity"] == "warning"
    assert unbroken(done.events) == "I look. Whole."


def test_a_retry_before_anything_came_takes_nothing_back(world):
    done = world.run([{"status": 503, "headers": {"retry-after": "0"}}, [text("Whole.")]], "-p", "x",
                     "-o", "stream-json")
    (told,) = done.of_type("error")
    assert "forget" not in told and unbroken(done.events) == "Whole."


def test_a_broken_reply_is_marked_on_a_terminal(world):
    with world.fake(broken()) as server:
        with Terminal([HASP, "-p", "x"], world.root, dict(world.environment(server)),
                      columns=200) as terminal:
            terminal.wait_for(b"Half a")
            assert SHOWN.encode() not in terminal.output, "it is shown as it comes"
            code, out = terminal.finish()
    lines = lines_left(out)
    assert code == 0 and lines[0] == "Half a" and lines[1] == SHOWN
    assert lines[2].startswith("[WARNING] ") and lines[3] == "Whole."


def test_what_came_of_an_answer_that_is_never_whole_is_told(world):
    world.settings(general={"maxAttempts": 1})
    for form in ("text", "stream-json"):
        done = world.run(broken()[:1], "-p", "x", "-o", form)
        assert done.code == 1 and done.err.startswith("hasp: ")
        assert done.text.startswith("Half a\n") if form == "text" else (
            unbroken(done.events).startswith("Half a"))


def test_text_of_each_turn_comes_when_it_is_whole(world):
    """Not all of it at the end: what a turn says is there while its commands run."""
    world.write("wait.sh", "while [ ! -e go ]; do sleep 0.02; done\n")
    with world.fake([[text("I look. "), call("run_shell_command", {"command": "sh wait.sh"})],
                     [text("Done.")]]) as server:
        process = world.start(server, "-p", "x", "--yolo")
        assert process.stdout.read(9) == b"I look. \n"
        world.write("go", "")
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (0, b"Done.\n", b"")


# ---- a model in the place of another -------------------------------------------------------------

QUOTA = {"status": 429, "error": "No more today.",
         "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                      "reason": "QUOTA_EXHAUSTED"}]}
OTHER = "openai/gpt-4.1"


def with_fallback(world, first, second, *args, fallbacks=(OTHER,)):
    """A run with Gemini's server, and OpenAI's for the fallback."""
    world.settings(hasp={"fallbacks": list(fallbacks)})
    with world.fake(first) as server, world.fake(second, "openai") as other:
        base = KINDS["openai"][3]
        done = world.command("-p", "x", "-m", "pro", *args, server=server,
                             env={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": other.url + base})
        assert server.violations == other.violations == [] and not server.script + other.script
    return done


def test_a_fallback_that_answers_is_told(world):
    record = world.top / "record.jsonl"
    done = with_fallback(world, [QUOTA], [[text("Hello.")]], "--record", record)
    assert (done.code, done.text) == (0, "Hello.\n")
    assert done.err.count("No more today.") == 1 and done.err.count("Continuing with %s until " % OTHER) == 1
    assert OTHER in record.read_text()
    done = with_fallback(world, [QUOTA], [[text("Hello.")]], "-o", "json")
    (warning,) = done.json["warnings"]
    assert "No more today. Continuing with %s until " % OTHER in warning and "is tried again." in warning
    assert warning in world.sessions()[-1].read_text()
    done = with_fallback(world, [QUOTA], [[text("Hello.")]], "-o", "stream-json")
    (event,) = done.of_type("error")
    assert event["model"] == OTHER and "No more today. Continuing with " in event["message"]


def test_when_all_models_fail_the_first_cause_is_named(world):
    done = with_fallback(world, [QUOTA], [{"status": 401, "error": "A bad key."}], "-o", "json")
    message = json.loads(done.err[done.err.index("{\n"):])["error"]["message"]
    assert done.code == 41
    assert message.startswith(OTHER) and "asked 2 times" not in message
    assert message.index("A bad key.") < message.index("first model") < message.index("No more today.")


@pytest.mark.parametrize("name,why", [("groq/fast", "GROQ_API_KEY"), ("nowhere/m", "Unknown model provider")])
def test_a_fallback_that_cannot_be_used_is_warned_about(world, name, why):
    done = with_fallback(world, [[text("Hello.")]], [], "-o", "json", fallbacks=[name])
    (warning,) = done.json["warnings"]
    assert name in warning and why in warning and "hasp.fallbacks" in warning
    done = with_fallback(world, [QUOTA], [[text("Hello.")]], fallbacks=[name, OTHER])
    assert done.text == "Hello.\n", "those behind it count"


# ---- the format ----------------------------------------------------------------------------------

def test_the_setting_chooses_the_format_and_the_flag_wins(world):
    world.settings(output={"format": "json"})
    assert world.run([[text("Hello.")]], "-p", "x").json["response"] == "Hello."
    assert world.run([[text("Hello.")]], "-p", "x", "-o", "text").text == "Hello.\n"
    done = world.run([{"status": 400, "error": "API key not valid."}], "-p", "x")
    assert done.out == b"" and json.loads(done.err)["error"]["code"] == done.code == 41
    world.settings(output={"format": "stream-json"})
    assert world.run([[text("Hello.")]], "-p", "x").events[-1]["type"] == "result"


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_an_output_that_cannot_be_written_is_named(world, form):
    with open("/dev/full", "wb") as full, world.fake([[text("Hello.")]]) as server:
        process = world.start(server, "-p", "x", "-o", form, stdout=full)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.decode() == "hasp: Cannot write standard output: No space left on device\n"


def test_raw_output_acts_on_the_terminal(world):
    def shown(*args):
        with world.fake([[text("a\x1b[1mb")]]) as server:
            with Terminal([HASP, "-p", "x", *args], world.root, dict(world.environment(server)),
                          columns=200) as terminal:
                return terminal.finish()[1].decode()

    assert "\x1b[1m" not in shown()
    assert "a\x1b[1mb" in shown("--raw-output") and "[WARNING] --raw-output" in shown("--raw-output")
    assert "WARNING" not in shown("--raw-output", "--accept-raw-output-risk")


# ---- denials -------------------------------------------------------------------------------------

DENIED = [[call("run_shell_command", {"command": "echo x > /usr/outside; true"})], [text("Done.")]]


def test_what_the_sandbox_denied_is_in_stream_json(world):
    done = world.run(DENIED, "-p", "x", "--yolo", "-o", "stream-json")
    (result,) = done.of_type("tool_result")
    (denial,) = result["denials"]
    assert result["status"] == "success" and denial["what"] == "/usr/outside"
    assert "denied: %s" % denial["message"] in result["output"].splitlines()


def test_a_command_that_is_denied_nothing_has_no_denials(world):
    done = world.run([[call("run_shell_command", {"command": "true"})], [text("Done.")]], "-p", "x",
                     "--yolo", "-o", "stream-json")
    (result,) = done.of_type("tool_result")
    assert "denials" not in result and "denied" not in result["output"]


def test_what_the_sandbox_denied_is_told_on_a_terminal(world):
    with world.fake([{"reply": step} for step in DENIED]) as server:
        with Terminal([HASP, "-p", "x", "--yolo"], world.root, dict(world.environment(server)),
                      columns=200) as terminal:
            _, out = terminal.finish()
    (line,) = [line for line in lines_left(out) if line.startswith("  Denied: ")]
    assert "/usr/outside" in line
