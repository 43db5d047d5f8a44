# SPDX-License-Identifier: Apache-2.0
"""What servers say may stand in prompts' arguments and in templates' variables, in the composer."""
import contextlib
import json
import sys

from conftest import TOP
from fake_gemini import text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\U000e0041")


@contextlib.contextmanager
def session(world, ways):
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, ways, sandbox={"write": [str(world.top)]})})
    with world.fake([[text("Zero.")]]) as server:
        with terminal.Vterm(world.argv(server, []), 160, 40, env=world.environment(server), cwd=world.root) as hasp:
            hasp.wait("? for keys").type("hi").key("enter").wait("Zero.").wait("? for keys")
            yield hasp, log
            hasp.key("ctrl+c").key("ctrl+d")
            assert hasp.end() == 0


def asked(log):
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def test_a_prompt_s_arguments(world):
    with session(world, "prompts,complete") as (hasp, log):
        hasp.type("/two-words ").wait("  --how=")
        hasp.type("bet").wait("two beta").key("tab").wait('/two-words "two beta"')
        hasp.type(" --how=al").wait("> alpha").key("tab").wait("--how=alpha")
        shown = hasp.dump().text
    assert not [one for one in RAW if one in shown]
    questions = asked(log)
    assert all(one["ref"] == {"type": "ref/prompt", "name": "two words"} for one in questions)
    assert {"name": "what", "value": "bet"} in [one["argument"] for one in questions]
    assert [one["context"] for one in questions if one["argument"] == {"name": "how", "value": "al"}] == [
        {"arguments": {"what": "two beta"}}]


def test_a_template_s_variables(world):
    with session(world, "resources,complete") as (hasp, log):
        hasp.type("See @fake:test://of/nov").wait("@fake:test://of/nov").wait("fake:test://of/novel/now")
        hasp.key("tab").wait("See @fake:test://of/novel/now")
    assert {"ref": {"type": "ref/resource", "uri": "test://of/{what}/now"}, "context": {"arguments": {}},
            "argument": {"name": "what", "value": "nov"}} in asked(log)


def test_a_server_that_completes_nothing_is_not_asked(world):
    with session(world, "prompts") as (hasp, log):
        hasp.type("/two-words al").wait("/two-words al").quiet()
    assert asked(log) == []
