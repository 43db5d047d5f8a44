# SPDX-License-Identifier: Apache-2.0
"""What servers report of a call while it runs: shown in the session and with `-p` on a terminal, clean, and gone with it."""
import sys

import pytest
from conftest import TOP
from fake_gemini import call, text

sys.path.insert(0, str(TOP / "test" / "tui" / "harness"))

import terminal  # noqa: E402

HELD = "3 of 10, 30 %  Reticulating splines"
RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\U000e0041")


@pytest.mark.parametrize("args", [["-p", "do it"], []], ids=["prompt", "session"])
def test_progress_is_shown_while_the_call_runs(world, args):
    world.use({"fake": world.server(trust=True)})
    go = world.root / "go"
    with world.fake([[call("mcp_fake_say", {"what": "progress-held", "path": str(go)})], [text("All done.")]]) as server:
        with terminal.Vterm(world.argv(server, args), 160, 30, env=world.environment(server),
                            cwd=world.root) as hasp:
            if not args:
                hasp.wait("? for keys").type("do it").key("enter")
            hasp.wait(HELD)
            shown = hasp.dump()
            go.write_text("")
            hasp.wait("All done.")
            if args:
                assert hasp.end() == 0
            else:
                hasp.wait("? for keys")
            after = hasp.dump().text
            if not args:
                hasp.key("ctrl+d")
                assert hasp.end() == 0
    assert not [one for one in RAW if one in shown.text] and "PWNED" not in (shown.title or "")
    assert HELD not in after


def test_nothing_of_it_without_a_terminal(world):
    world.use({"fake": world.server(trust=True)})
    done = world.run([[call("mcp_fake_say", {"what": "progress"})], [text("Done.")]], "-p", "Go.")
    assert done.code == 0 and "done" in done.results()[0]["output"]
    assert "of 3" not in done.err + done.text
