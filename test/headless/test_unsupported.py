# SPDX-License-Identifier: Apache-2.0
"""What a user of Gemini CLI has set up and hasp does not do yet: each run says so, and no command becomes
a prompt."""
import re

import pytest
from fake_gemini import text

HELLO = [[text("Hello.")]]
WORDS = "[WARNING] hasp does not use these yet, and ignores them: "


def put(top, name, content="x"):
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def set_up(world, top):
    put(top, ".gemini/extensions/ext/gemini-extension.json", "{}")
    put(top, ".gemini/extensions/empty/README.md")
    put(top, ".gemini/skills/zip/SKILL.md")
    put(top, ".agents/skills/tar/SKILL.md")
    put(top, ".gemini/agents/critic.md")
    put(top, ".gemini/commands/review.toml", 'prompt = "Review."\n')
    put(top, ".gemini/commands/git/sum.toml", 'prompt = "Sum."\n')


ALL = WORDS + "extensions ext; skills tar, zip; agents critic; custom commands git:sum, review.\n"


@pytest.mark.parametrize("where", ["home", "root"])
def test_what_is_set_up_is_named(world, where):
    set_up(world, getattr(world, where))
    assert world.run(HELLO, "-p", "x").err == ALL


def test_a_projects_own_is_named_where_it_would_count(world):
    set_up(world, world.root)
    done = world.run(HELLO, "-p", "x", env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert "not trusted" in done.err and WORDS not in done.err


def test_servers_are_named_in_each_format(world):
    world.settings(mcpServers={name: {"command": "x"} for name in "abcdefg"})
    message = WORDS[10:] + "MCP servers a, b, c, d, e and 2 more."
    assert world.run(HELLO, "-p", "x").err == "[WARNING] %s\n" % message
    assert world.run(HELLO, "-p", "x", "-o", "json").json["warnings"] == [message]
    (event,) = world.run(HELLO, "-p", "x", "-o", "stream-json").of_type("error")
    assert (event["severity"], event["message"]) == ("warning", message)


def test_names_do_not_act_on_a_terminal_and_links_are_not_followed(world):
    put(world.root, ".gemini/skills/a\x1b[31mb/SKILL.md")
    (world.root / ".gemini" / "extensions").symlink_to(world.top)
    put(world.top, "out/gemini-extension.json")
    done = world.run(HELLO, "-p", "x")
    assert "\x1b" not in done.err and "skills a\\x1b[31mb." in done.err and "out" not in done.err


def test_a_forest_of_folders_is_not_looked_through(world):
    for i in range(40):
        for k in range(40):
            put(world.root, ".gemini/commands/%d/%d/c.toml" % (i, k))
    (more,) = re.findall(r"and (\d+) more", world.run(HELLO, "-p", "x").err)
    assert 900 < int(more) + 5 <= 1000


def test_without_any_there_is_no_word(world):
    put(world.home, ".gemini/extensions/README.md")
    assert world.run(HELLO, "-p", "x").err == ""


@pytest.mark.parametrize("prompt,why", [
    ("/review this", "a custom command, and hasp runs none yet"),
    ("/git:sum", "a custom command"),
    ("/compress", "a command of Gemini CLI's"), ("/memory show", "a command of Gemini CLI's"),
    ("/nonesuch", "no command that hasp knows"),
])
@pytest.mark.parametrize("form", [["-p"], ["-y", "--"], ["-o", "json", "-p"]])
def test_a_command_is_no_prompt(world, prompt, why, form):
    set_up(world, world.home)
    with world.fake([]) as server:
        done = world.command(*form, prompt, server=server)
    assert (done.code, done.out, server.requests) == (42, b"", [])
    word = prompt.split()[0]
    assert "%s is %s" % (word, why) in done.err and "write /%s." % word in done.err


@pytest.mark.parametrize("prompt,sent", [
    ("//review this", "/review this"), ("/tmp is full", "/tmp is full"), ("/usr/bin/x fails", None),
    ("a /review", None), ("// is a comment", None), ("/ is full", None), ("/*", None),
    ("//example.org/x", None),
])
def test_what_is_a_prompt_all_the_same(world, prompt, sent):
    set_up(world, world.home)
    done = world.run(HELLO, "-p", prompt)
    assert done.sent[0]["contents"][-1]["parts"][-1]["text"] == (sent or prompt)


def test_a_log_that_begins_with_a_slash(world):
    done = world.run(HELLO, "-p", "why?", stdin=b"/nonesuch: not found\n")
    assert "/nonesuch: not found" in done.said(0)
