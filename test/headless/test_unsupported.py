# SPDX-License-Identifier: Apache-2.0
"""What a user of Gemini CLI has set up and hasp does not do yet: each run says so; and commands, none of which
becomes a prompt by itself."""
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
    put(top, ".gemini/commands/review.toml", 'prompt = "Review."\n')
    put(top, ".gemini/commands/git/sum.toml", 'prompt = "Sum."\n')


ALL = WORDS + "extensions ext.\n"


@pytest.mark.parametrize("where", ["home", "root"])
def test_what_is_set_up_is_named(world, where):
    set_up(world, getattr(world, where))
    assert world.run(HELLO, "-p", "x").err == ALL


def test_a_projects_own_is_named_where_it_would_count(world):
    set_up(world, world.root)
    done = world.run(HELLO, "-p", "x", env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert "not trusted" in done.err and WORDS not in done.err


def test_names_in_each_format(world):
    for name in "abcdefg":
        put(world.home, ".gemini/extensions/%s/gemini-extension.json" % name)
    message = WORDS[10:] + "extensions a, b, c, d, e and 2 more."
    assert world.run(HELLO, "-p", "x").err == "[WARNING] %s\n" % message
    assert world.run(HELLO, "-p", "x", "-o", "json").json["warnings"] == [message]
    (event,) = world.run(HELLO, "-p", "x", "-o", "stream-json").of_type("error")
    assert (event["severity"], event["message"]) == ("warning", message)


def test_names_do_not_act_on_a_terminal_and_links_are_not_followed(world):
    put(world.root, ".gemini/extensions/a\x1b[31mb/gemini-extension.json")
    put(world.top, "out/gemini-extension.json")
    (world.root / ".gemini" / "extensions" / "link").symlink_to(world.top / "out")
    done = world.run(HELLO, "-p", "x")
    assert "\x1b" not in done.err and "extensions a\\x1b[31mb." in done.err and "link" not in done.err


def test_without_any_there_is_no_word(world):
    put(world.home, ".gemini/extensions/README.md")
    assert world.run(HELLO, "-p", "x").err == ""


@pytest.mark.parametrize("prompt,why", [
    ("/agents list", "a command of Gemini CLI's"), ("/nonesuch", "no command that hasp knows"),
    ("/comp", "no command that hasp knows"),
])
@pytest.mark.parametrize("form", [["-p"], ["-y", "--"], ["-o", "json", "-p"]])
def test_what_is_no_command_is_refused(world, prompt, why, form):
    set_up(world, world.home)
    with world.fake([]) as server:
        done = world.command(*form, prompt, server=server)
    assert (done.code, done.out, server.requests) == (42, b"", [])
    word = prompt.split()[0]
    assert "%s is %s" % (word, why) in done.err and "write /%s." % word in done.err


def test_commands_run_without_the_model(world):
    with world.fake([]) as server:
        done = world.command("-p", "/tools", server=server)
        assert done.code == 0 and b"read_file" in done.out
        done = world.command("-o", "json", "-p", "/settings vimMode", server=server)
        assert "general.vimMode = false" in done.json["response"]
        done = world.command("-p", "/theme Dark", server=server)
        assert done.code == 42 and "is for a terminal" in done.err
    assert server.requests == []


def test_custom_commands_are_prompts(world):
    put(world.home, ".gemini/commands/git/sum.toml", 'prompt = "Sum @a: {{args}}"\n')
    put(world.root, "a", "not to be read")
    done = world.run(HELLO, "-p", "/git:sum of this", stdin=b"piped\n")
    assert done.sent[0]["contents"][-1]["parts"][-1]["text"].endswith("Sum @a: of this")
    assert "piped" in done.said(0) and "not to be read" not in done.said(0)


def test_what_a_custom_command_runs_needs_to_be_allowed(world):
    put(world.home, ".gemini/commands/run.toml", "prompt = 'A !{touch made}'\n")
    with world.fake([]) as server:
        done = world.command("-p", "/run", server=server)
    assert done.code == 42 and not (world.root / "made").exists()
    done = world.run(HELLO, "-y", "-p", "/run")
    assert (world.root / "made").exists()


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
