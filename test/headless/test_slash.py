# SPDX-License-Identifier: Apache-2.0
"""Words that begin with a slash: commands, none of which becomes a prompt by itself, and what is none."""
import json

import pytest
from fake_gemini import text

HELLO = [[text("Hello.")]]


def put(top, name, content="x"):
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def set_up(world, top):
    put(top, ".gemini/commands/review.toml", 'prompt = "Review."\n')
    put(top, ".gemini/commands/git/sum.toml", 'prompt = "Sum."\n')


@pytest.mark.parametrize("prompt,why", [
    ("/nonesuch", "Unknown command /nonesuch."), ("/comp", "Unknown command /comp."),
])
@pytest.mark.parametrize("form", [["-p"], ["-y", "--"], ["-o", "json", "-p"]])
def test_what_is_no_command_is_refused(world, prompt, why, form):
    set_up(world, world.home)
    with world.fake([]) as server:
        done = world.command(*form, prompt, server=server)
    assert (done.code, done.out, server.requests) == (42, b"", [])
    assert why in done.err


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


@pytest.mark.parametrize("line, runs", [
    ("printf %s {{args}}", True), ('printf %s "{{args}}"', True), ("printf %s '{{args}}'", True),
    ('bash -c "printf %s {{args}}"', False), ("cat <<EOF\n{{args}}\nEOF", False)])
def test_what_is_typed_stays_words_of_a_commands_shell_line(world, line, runs):
    """In Gemini CLI's commands; in Claude Code's, all that fits on a line."""
    typed = "a; $(touch made) `touch made` it's"
    put(world.home, ".gemini/commands/gemini.toml", "prompt = %s\n" % json.dumps("A !{%s}" % line))
    put(world.home, ".claude/commands/claude.md", "A !`%s`\n" % line.replace("{{args}}", "$ARGUMENTS[0]"))
    for name, words in ("gemini", typed), ("claude", "'a; $(touch made)'"):
        if name == "claude" and "\n" in line:
            continue
        if runs:
            done = world.run(HELLO, "-y", "-p", "/%s %s" % (name, words))
            assert "A a; $(touch made)" in done.said(0)
        else:
            with world.fake([]) as server:
                done = world.command("-y", "-p", "/%s %s" % (name, words), server=server)
            assert done.code == 42 and "cannot be put into this command as words alone" in done.err
        assert not (world.root / "made").exists()


@pytest.mark.parametrize("name, content", [
    ("gemini/commands/x.toml", 'prompt = ""\n'), ("gemini/commands/x.toml", 'prompt = " \\n"\n'),
    ("gemini/commands/x.toml", 'prompt = "{{args}}"\n'), ("claude/commands/x.md", "---\ndescription: d\n---\n\n"),
    ("claude/commands/x.md", "$ARGUMENTS\n")])
def test_an_empty_prompt_is_not_sent(world, name, content):
    """Whether its file has none, or nothing was typed of what it is made of."""
    put(world.home, "." + name, content)
    with world.fake([]) as server:
        done = world.command("-p", "/x", server=server)
    assert done.code == 42 and "/.%s is empty. Nothing was sent." % name in done.err and not server.requests


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


@pytest.mark.parametrize("prompt, code", [("/help", 0), ("/tools", 0), ("/context", 0), ("/mcp", 0)])
def test_what_asks_no_model_needs_no_key(world, prompt, code):
    done = world.command("-p", prompt)
    assert done.code == code and done.text and "API key" not in done.err


def test_what_asks_a_model_says_that_there_is_no_key(world):
    put(world.home, ".gemini/commands/sum.toml", 'prompt = "Sum."\n')
    for prompt in ("/sum", "/init", "Hello"):
        done = world.command("-p", prompt)
        assert done.code == 41 and "No API key for gemini. Add one with /auth in the terminal, or set GEMINI_API_KEY" in done.err


# Variables of other providers, and what the sentence about the missing key says of the first. One key of a provider that
# has a usual model would choose that (test/model/test_choose.py).
OTHER_KEYS = [
    (("ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
     "-m anthropic/claude-sonnet-4-6, or /model anthropic/claude-sonnet-4-6 in a session."),
    (("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "-m openai/gpt-5.6, or /model openai/gpt-5.6 in a session."),
    (("GROQ_API_KEY",), "-m groq/MODEL (hasp models lists them)."),
]


@pytest.mark.parametrize("names,use", OTHER_KEYS)
def test_a_missing_key_names_the_keys_that_are_set(world, names, use):
    done = world.command("-p", "Hello", env=dict.fromkeys(names, "k"))
    assert done.code == 41 and "No API key for gemini. " in done.err
    assert f"{names[0]} is set. To use it: {use}" in done.err and done.err.count(" is set.") == len(names)


def test_at_most_three_keys_are_named_and_each_once(world):
    keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "XAI_API_KEY"]
    done = world.command("-p", "Hello", env=dict.fromkeys(keys, "k"))
    assert done.code == 41 and [f"{name} is set" in done.err for name in keys] == [True, True, True, False]
    assert done.err.count("OPENAI_API_KEY") == 1


def test_no_key_of_others_is_named_where_an_administrator_chose(world):
    put(world.home, ".gemini/settings.json", '{"security": {"auth": {"enforcedType": "gemini-api-key"}}}')
    done = world.command("-p", "Hello", env={"OPENAI_API_KEY": "k"})
    assert done.code == 41 and "OPENAI_API_KEY" not in done.err


def test_a_provider_of_the_settings_without_its_key_names_the_others(world):
    put(world.home, ".gemini/settings.json",
        '{"hasp": {"providers": {"mine": {"baseUrl": "http://127.0.0.1:9/v1", "apiKeyEnv": "MY_KEY"}}}}')
    done = world.command("-m", "mine/x", "-p", "Hello", env={"OPENAI_API_KEY": "k"})
    assert done.code == 41 and "Set MY_KEY" in done.err and "OPENAI_API_KEY is set." in done.err
