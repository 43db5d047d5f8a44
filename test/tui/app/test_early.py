# SPDX-License-Identifier: Apache-2.0
"""Keys that come early: before hasp has started, before a question is shown, and while the session is being opened.
A prompt is sent once, whenever Enter came; nothing typed is lost; nothing is answered or run by accident."""
import pytest
from fake_gemini import call, text

UNDECIDED = {"GEMINI_CLI_TRUST_WORKSPACE": None}
KEYLESS = {"GEMINI_API_KEY": None, "GOOGLE_GEMINI_BASE_URL": None}


class Opening:
    """hasp whose session is being opened until `go`: a SessionStart hook waits for a file."""

    def __init__(self, world, server, *args, **options):
        self.file = world.root / "go"
        world.settings(hooks={"SessionStart": [{"hooks": [
            {"type": "command", "command": "until [ -e go ]; do sleep 0.02; done", "timeout": 120000}]}]})
        self.hasp = world.hasp(server, *args, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.touch()
        self.hasp.close()

    def go(self):
        self.file.touch()
        return self.hasp


def raw(world, server, typed, *args, env=None, columns=120, rows=24):
    """hasp to whose terminal, raw as an impatient user's shell leaves it, `typed` came before the program."""
    held = world.root.parent / "begin"
    begin = ["sh", "-c", 'stty raw -echo; echo ready; until [ -e "$0" ]; do sleep 0.02; done; exec "$@"', held]
    hasp = world.Hasp([*begin, *world.argv(server, args)], columns, rows, env=world.environment(server, **(env or {})),
                      cwd=world.root).wait("ready").type(typed)
    held.touch()
    return hasp


def test_enter_before_the_session_is_open_sends_once(world):
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with Opening(world, server) as opening:
            opening.hasp.type("first").key("enter").wait("queued: first").type("second").key("enter").wait("queued: second")
            assert server.requests == []
            opening.go().wait("One.").wait("Two.").wait("sandbox:").quiet(0.2)
            assert opening.hasp.dump().text.count("> first") == opening.hasp.dump().text.count("> second") == 1
    assert len(server.requests) == 2


def test_what_was_typed_before_the_program_began_is_sent_once(world):
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with raw(world, server, "first\rsecond\rthi") as hasp:
            hasp.wait("One.").wait("Two.").wait("> thi").quiet(0.2)
    assert len(server.requests) == 2


def test_what_was_typed_before_trust_is_decided_waits_for_the_answer(world):
    """Its session is opened, hooks included, before it is sent."""
    world.settings(hooks={"SessionStart": [{"hooks": [{"type": "command", "command": "echo Welcome. >&2; exit 0"}]}]})
    typed = "first\r!echo $((40+2))\r\x7f/about\r"
    with world.fake([[text("One.")]]) as server:
        with raw(world, server, typed, env=UNDECIDED, rows=40) as hasp:
            hasp.wait("Trust this folder?").quiet(0.6)
            shown = hasp.dump().text
            assert "queued: first" in shown and "Working" not in shown and server.requests == [], shown
            hasp.key("up", "up", "enter").wait("Trusted.").wait("One.").wait("42").wait("version  ").quiet(0.2)
            shown = hasp.dump().text
    assert shown.index("Welcome.") < shown.index("One.") < shown.index("exit 0") < shown.index("version  ")
    assert len(server.requests) == 1


# What is pressed after "first" and Enter, and what must be there before and after the session is open.
KEYS = [
    (["ctrl+c"], "> first", False),
    (["esc"], "> first", False),
    (["up"], "> first", False),
    (["ctrl+c", "ctrl+c"], "What would you", False),
    (["esc", "esc"], "Esc again clears", False),
    (["?"], "queued: first", True),
    (["shift+tab"], "No session is open yet", True),
    (["ctrl+l"], "queued: first", True),
]


@pytest.mark.parametrize("keys, seen, sent", KEYS, ids=["+".join(row[0]) for row in KEYS])
def test_keys_after_an_early_enter(world, keys, seen, sent):
    with world.fake([[text("One.")]]) as server:
        with Opening(world, server) as opening:
            opening.hasp.type("first").key("enter").wait("queued: first").key(*keys).wait(seen)
            opening.go().wait("sandbox:")
            if sent:
                opening.hasp.wait("One.")
            opening.hasp.quiet(0.3)
    assert len(server.requests) == sent


@pytest.mark.parametrize("quits", [["ctrl+d"], ["ctrl+c", "ctrl+c", "ctrl+c", "ctrl+c"], "/quit\r", "exit\r", "/delete\r"])
def test_quitting_does_not_wait_for_the_session(world, quits):
    with world.fake([]) as server:
        with Opening(world, server) as opening:
            opening.hasp.type("first").key("enter").wait("queued: first")
            if isinstance(quits, str):
                opening.hasp.type(quits)
            else:
                opening.hasp.key(*quits)
            assert opening.hasp.end() == 0 and not opening.file.exists()
    assert server.requests == []


def test_a_paste_and_what_waits_keep_their_order(world):
    """Commands, shell lines and prompts run in the order of their Enters; the rest is the draft."""
    lines = ["one", "!echo $((40+2))", "/about", "two"]
    with world.fake([[text("One.")], [text("Two.")]]) as server:
        with Opening(world, server, rows=50) as opening:
            opening.hasp.paste("pasted\nlines")
            opening.hasp.type(" and ")
            for line in lines:
                opening.hasp.type(line).key("enter").wait("queued: " if line != "two" else "and 1 more")
                if line.startswith("!"):
                    opening.hasp.key("backspace")
            opening.hasp.type("draft")
            opening.go().wait("Two.").wait("> draft").quiet(0.3)
            shown = opening.hasp.dump().text
    assert len(server.requests) == 2 and "> pasted\n  lines and one" in shown
    assert shown.index("One.") < shown.index("exit 0") < shown.index("version  ") < shown.index("Two.")


def test_a_question_that_comes_first_does_not_take_the_prompt(world):
    """The model asks for an edit in the first of two early prompts: the second is not its answer."""
    edit = [call("write_file", {"file_path": "a.txt", "content": "a\n"})]
    with world.fake([edit, [text("One.")], [text("Two.")]]) as server:
        with Opening(world, server, rows=40) as opening:
            opening.hasp.type("first").key("enter").wait("queued: first").type("1").key("enter").wait("queued: 1").type("half")
            opening.go().wait("Allow once").quiet(1)
            assert not (world.root / "a.txt").exists()
            opening.hasp.type("1").wait("One.").wait("Two.").wait("> half").quiet(0.2)
    assert len(server.requests) == 3 and (world.root / "a.txt").exists()


def test_what_cannot_be_opened_gives_the_prompt_back(world):
    with world.fake([]) as server:
        with raw(world, server, "first\r!ls\r\x7fsecond\r", "-m", "nosuch/model") as hasp:
            hasp.wait("Unknown model provider nosuch.").wait("Not run: !ls").wait("second").quiet(0.2)
            assert "queued" not in hasp.dump().text


def test_without_a_key_what_was_typed_early_is_sent_with_it(world):
    with world.fake([[text("One.")]]) as server:
        with raw(world, server, "first\r", env=KEYLESS, rows=30) as hasp:
            hasp.wait("Whose model is to answer?").wait("queued: first").quiet(0.6).key("enter").wait("Key for gemini:")
            (world.home / ".gemini" / ".env").write_text("GOOGLE_GEMINI_BASE_URL=%s\n" % server.url)
            hasp.type(world.KEY).key("enter").wait("One.").wait("sandbox:").quiet(0.2)
    assert len(server.requests) == 1
