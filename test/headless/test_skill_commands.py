# SPDX-License-Identifier: Apache-2.0
"""What the files of skills and commands ask for, and whose a name is: as /NAME, and when the model calls a skill."""
import json

import pytest
from fake_gemini import call, text
from test_skills import HELLO, declared

SHELL = "run_shell_command"


def put(top, path, content):
    path = top / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def skill(top, name, body="Do it.", place=".claude/skills", **fields):
    fields = {"description": "Does %s." % name, **fields}
    lines = "".join("%s: %s\n" % (key.replace("_", "-"), value) for key, value in fields.items())
    return put(top, "%s/%s/SKILL.md" % (place, name), "---\n%s---\n%s\n" % (lines, body))


def plugin(world, name, files):
    folder = world.top / "plugins" / name
    put(folder, ".claude-plugin/plugin.json", json.dumps({"name": name}))
    for path, content in files.items():
        put(folder, path, content)
    done = world.command("extensions", "install", "--consent", str(folder))
    assert done.code == 0, done.err


def said(done, i=0):
    whole = "".join(part.get("text", "") for part in done.sent[i]["contents"][-1]["parts"])
    return whole.rpartition("</session_context>")[2].strip()


def refused(world, *args):
    with world.fake([]) as server:
        done = world.command("-p", *args, server=server)
    assert done.code == 42 and not server.requests
    return done.err


def test_a_skills_text_is_expanded(world):
    path = skill(world.home, "sum", """A !`printf %s $1` $ARGUMENTS[1] ${CLAUDE_SKILL_DIR}/x @note @own.md $what.
```!
echo block-$((40 + 2))
```
End.""", arguments="[what]")
    (path.parent / "own.md").write_text("The skill's MANGO.\n")
    put(world.root, "note", "Read !`touch made`.")
    done = world.run(HELLO, "-y", "-p", "/sum one 'two three'")
    expanded = said(done)
    assert "A two three two three %s/x @note @own.md one." % path.parent in expanded
    assert "\nblock-42\nEnd." in expanded and "The skill's MANGO." in expanded and "Read !`touch made`." in expanded
    assert not (world.root / "made").exists()


def test_the_model_gets_the_same_with_its_arguments(world):
    skill(world.home, "sum", "Sum $ARGUMENTS by !`printf %s tool`.")
    skill(world.home, "plain", "Plain.")
    done = world.run([[call("activate_skill", {"name": "sum", "arguments": "it; touch made"})],
                      [call("activate_skill", {"name": "plain", "arguments": "more"})], [text("Done.")]], "-y", "-p", "x")
    assert "Sum it; touch made by tool." in done.results(1)[0]["output"]
    assert "Plain.\n\nARGUMENTS: more" in done.results(2)[-1]["output"] and not (world.root / "made").exists()


@pytest.mark.parametrize("where", ["home", "root"])
def test_typing_its_name_is_the_yes(world, where):
    skill(getattr(world, where), "sum", "Sum them.")
    assert "Sum them." in said(world.run(HELLO, "-p", "/sum"))
    put(world.home, ".gemini/policies/no.toml",
        '[[rule]]\ntoolName = "activate_skill"\ndecision = "deny"\npriority = 100\n')
    assert "denied by policy" in refused(world, "/sum")


def test_a_name_and_a_description_may_be_missing(world):
    put(world.home, ".claude/skills/bare/SKILL.md", "---\nlicense: MIT\n---\n# Counts words\n\nCount.\n")
    done = world.run(HELLO, "-p", "/bare")
    assert declared(done) == ["bare"] and "- bare: Counts words (" in done.said(0) and done.err == ""


def test_some_are_the_users_alone_and_some_the_models(world):
    skill(world.home, "deploy", "DEPLOY-BODY", disable_model_invocation="true")
    skill(world.home, "facts", "FACTS-BODY", user_invocable="false")
    done = world.run([[call("activate_skill", {"name": "deploy"}), call("activate_skill", {"name": "facts"})],
                      [text("No.")]], "-y", "-p", "x")
    assert declared(done) == ["facts"] and "deploy" not in json.dumps(done.sent[0])
    first, second = done.results()
    assert "Only the user can call" in first["message"] and "FACTS-BODY" in second["output"]
    assert "DEPLOY-BODY" in said(world.run(HELLO, "-p", "/deploy"))
    assert "Unknown command /facts" in refused(world, "/facts")
    (world.home / ".claude/skills/facts/SKILL.md").unlink()
    done = world.run(HELLO, "-p", "/deploy")
    assert declared(done) is None and "DEPLOY-BODY" in said(done)
    notes = {row["name"]: row.get("notes") for row in json.loads(world.command("skills", "list", "--json").text)}
    assert notes == {"deploy": "only you can call it"}


def test_what_has_no_effect_is_named_with_the_skill(world):
    skill(world.home, "odd", hooks="{}", paths="'*.c'", effort="high", metadata="{a: b}")
    text_of = world.command("skills", "list").text
    assert "Notes:       without effect here: hooks, paths, effort\n" in text_of
    assert "without effect here: hooks, paths, effort" in world.command("-p", "/skills").text


# ---- allowed-tools ----

def test_harmless_commands_run_where_no_one_can_be_asked(world):
    put(world.home, ".claude/commands/look.md", "A !`echo harmless` B")
    put(world.home, ".gemini/commands/see.toml", "prompt = 'A !{ls note} B'\n")
    put(world.root, "note", "x")
    assert said(world.run(HELLO, "-p", "/look")) == "A harmless B"
    assert said(world.run(HELLO, "-p", "/see")) == "A note B"
    put(world.home, ".claude/commands/look.md", "A !`touch made` B")
    assert "requires approval" in refused(world, "/look") or "no way to ask" in refused(world, "/look")
    put(world.home, ".gemini/policies/no.toml", '[[rule]]\ntoolName = "run_shell_command"\ndecision = "deny"\npriority = 100\n')
    put(world.home, ".claude/commands/look.md", "A !`echo harmless` B")
    assert "denied by policy" in refused(world, "/look")


@pytest.mark.parametrize("kind", ["skill", "command"])
@pytest.mark.parametrize("word, line, runs", [
    ("Bash(touch:*)", "touch made", True), ("Bash(touch *), Read", "touch made", True),
    ("[Read, 'Bash(touch made)']", "touch made", True), ("Bash", "touch made", True),
    ("Bash(touch other)", "touch made", False), ("Bash(touch:*)", "touch made; mkdir more", False),
    ("Bash(t* made)", "touch made", False), ("Read", "touch made", False)])
def test_allowed_tools_need_no_question_while_the_prompt_is_under_way(world, kind, word, line, runs):
    if kind == "skill":
        skill(world.home, "make", "Make.", allowed_tools=word)
    else:
        put(world.home, ".claude/commands/make.md", "---\nallowed-tools: %s\n---\nMake.\n" % word)
    done = world.run([[call(SHELL, {"command": line})], [text("Done.")]], "-p", "/make")
    assert (world.root / "made").exists() == runs, done.results()
    assert not (world.root / "more").exists()


def test_allowed_tools_allow_no_more_than_the_users_rules(world):
    skill(world.home, "make", "Make.", allowed_tools="Bash(touch:*), Write")
    put(world.home, ".gemini/policies/no.toml",
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 1\n')
    done = world.run([[call(SHELL, {"command": "touch made"}),
                call("write_file", {"file_path": "new", "content": "x"}),
                call("write_file", {"file_path": "GEMINI.md", "content": "x"})], [text("Done.")]], "-p", "/make")
    assert not (world.root / "made").exists() and (world.root / "new").exists(), done.results()
    assert not (world.root / "GEMINI.md").exists()


def test_an_extensions_allowed_tools_allow_nothing(world):
    body = "---\ndescription: d\nallowed-tools: Bash(touch:*)\n---\nMake.\n"
    plugin(world, "kit", {"skills/make/SKILL.md": body, "commands/do.md": body})
    for name in ("/make", "/do", "/kit:make", "/kit:do"):
        done = world.run([[call(SHELL, {"command": "touch made"})], [text("Done.")]], "-p", name)
        assert "Make." in said(done) and not (world.root / "made").exists()
    assert "an extension's allowed-tools allow nothing" in world.command("skills", "list").text


def test_a_skill_that_the_model_has_changed_lends_nothing(world):
    path = skill(world.home, "make", "Make.", allowed_tools="Bash(touch:*)")
    world.settings(hooks={"BeforeTool": [{"matcher": "activate_skill", "hooks": [
        {"type": "command", "command": "sed -i s/Make/Made/ %s" % path}]}]})
    done = world.run([[call("activate_skill", {"name": "make"})], [call(SHELL, {"command": "touch made"})],
                      [text("Done.")]], "-p", "x", "--allowed-tools", "activate_skill")
    assert "Made." in done.results(1)[0]["output"] and not (world.root / "made").exists()


# ---- model, context: fork ----

def test_a_model_answers_the_prompt_alone(world):
    skill(world.home, "sum", "Sum.", model="gemini-2.5-flash-lite")
    put(world.home, ".claude/commands/sub.md", "---\nmodel: gemini-2.5-flash-lite\n---\nSubtract.\n")
    for name in ("/sum", "/sub"):
        with world.fake(HELLO) as server:
            done = world.command("-m", "gemini-2.5-pro", "-p", name, server=server)
        assert done.code == 0 and "gemini-2.5-flash-lite" in server.requests[0].path


@pytest.mark.parametrize("kind", ["skill", "command"])
def test_a_fork_is_an_agents_task_and_its_report_is_passed_on(world, kind):
    put(world.home, ".claude/agents/fruit.md", "---\nname: fruit\ndescription: d\n---\nMANGO-PROMPT\n")
    if kind == "skill":
        skill(world.home, "look", "Look at $ARGUMENTS.", context="fork", agent="fruit")
    else:
        put(world.home, ".claude/commands/look.md", "---\ncontext: fork\nagent: fruit\n---\nLook at $ARGUMENTS.\n")
    done = world.run([[text("REPORT-1")], [text("Done.")]], "-p", "/look a.c")
    agents, main = done.sent
    assert "MANGO-PROMPT" in json.dumps(agents["systemInstruction"]) and "Look at a.c." in json.dumps(agents["contents"])
    assert "REPORT-1" in json.dumps(main["contents"]) and "Look at" not in json.dumps(main["contents"])
    assert "MANGO-PROMPT" not in json.dumps(main) and done.text == "Done.\n"


def test_the_model_forks_one_likewise(world):
    skill(world.home, "look", "Look at $ARGUMENTS.", context="fork", agent="Explore")
    done = world.run([[call("activate_skill", {"name": "look", "arguments": "a.c"})], [text("REPORT-1")], [text("Done.")]],
                     "-y", "-p", "x", append_only=False)
    assert "You investigate a codebase" in json.dumps(done.sent[1]["systemInstruction"])
    (result,) = done.results(2)
    assert result["output"] == "REPORT-1" and result["skill"] == "look"


# ---- names ----

def test_of_one_name_the_user_comes_first_then_the_project_then_the_only_extension(world):
    plugin(world, "kit", {"commands/hi.md": "Kit.\n", "commands/solo.md": "Solo.\n"})
    put(world.root, ".claude/commands/hi.md", "Project's Claude.\n")
    put(world.root, ".gemini/commands/hi.toml", 'prompt = "Project."\n')
    put(world.home, ".gemini/commands/hi.toml", 'prompt = "User."\n')
    for name, words in [("hi", "User."), ("user:hi", "User."), ("user.hi", "User."), ("project:hi", "Project."),
                        ("workspace.hi", "Project."), ("claude:hi", "Project's Claude."), ("kit:hi", "Kit."),
                        ("kit.hi", "Kit."), ("solo", "Solo."), ("kit:solo", "Solo."), ("HI", "User.")]:
        assert said(world.run(HELLO, "-p", "/" + name)) == words, name
    helped = world.command("-p", "/help").text
    for name in ("/hi ", "/project:hi", "/claude:hi", "/kit:hi", "/solo", "extension kit", "~/.gemini/commands/hi.toml"):
        assert name in helped, name
    (world.home / ".gemini/commands/hi.toml").unlink()
    assert said(world.run(HELLO, "-p", "/hi")) == "Project."


def test_a_name_that_two_extensions_have_is_neithers_and_both_are_named(world):
    for name in ("one", "two"):
        plugin(world, name, {"commands/go.md": "Go %s.\n" % name,
                             "skills/fly/SKILL.md": "---\ndescription: Flies.\n---\nFly %s.\n" % name,
                             "agents/deep/seer.md": "---\nname: seer\ndescription: Sees.\n---\nSEER-%s\n" % name})
    assert "Several commands are called /go: one:go, two:go." in refused(world, "/go")
    assert "Several commands are called /fly: one:fly, two:fly." in refused(world, "/fly")
    assert said(world.run(HELLO, "-p", "/two:go")) == "Go two." and "Fly one." in said(world.run(HELLO, "-p", "/one:fly"))
    agent = {"prompt": "Look."}
    done = world.run([[call("activate_skill", {"name": "fly"}), call("activate_skill", {"name": "two:fly"})],
                      [call("invoke_agent", {"agent_name": "seer", **agent})],
                      [call("invoke_agent", {"agent_name": "two:seer", **agent})], [text("Seen.")], [text("Done.")]],
                     "-y", "-p", "x", append_only=False)
    assert declared(done) == ["one:fly", "two:fly"]
    assert "one:fly, two:fly" in done.results(1)[0]["message"] and "Fly two." in done.results(1)[1]["output"]
    assert "one:seer, two:seer" in json.dumps(done.results(2)[-1])
    assert "SEER-two" in json.dumps(done.sent[3]["systemInstruction"])


def test_a_rule_about_an_agent_holds_under_each_of_its_names(world):
    plugin(world, "kit", {"agents/seer.md": "---\nname: seer\ndescription: Sees.\n---\nSEER\n"})
    put(world.home, ".gemini/policies/no.toml", '[[rule]]\ntoolName = "seer"\ndecision = "deny"\npriority = 100\n')
    for name in ("seer", "kit:seer", "kit.seer", "KIT:seer", "kit:SEER"):
        done = world.run([[call("invoke_agent", {"agent_name": name, "prompt": "x"})], [text("Done.")]], "-y", "-p", "x")
        assert done.results()[0]["success"] is False and len(done.sent) == 2, name


# ---- said once ----

def test_warnings_come_when_they_change_and_are_listed_always(world):
    bad = put(world.home, ".claude/skills/bad/SKILL.md", "no front matter\n")
    put(world.home, ".claude/agents/bad.md", "---\nname: no name\n---\nx\n")
    for times in (2, 0, 0):
        assert world.run(HELLO, "-p", "x").err.count("is ignored") == times
    put(world.home, ".claude/skills/worse/SKILL.md", "---\n")
    assert world.run(HELLO, "-p", "x").err.count("is ignored") == 2
    assert str(bad) in world.command("skills", "list").err and "no name" not in world.command("skills", "list").err
    assert "bad.md is ignored" in world.command("agents", "list").err
    assert str(bad) in world.command("-p", "/skills").text


# ---- many ----

def test_a_large_set_up_fits_in_the_first_request_and_all_of_it_is_found(world):
    words = "A description of some length, as public ones have it, with the words of its task number %d: " + "and so on " * 12
    for i in range(300):
        skill(world.home, "some-skill-%d" % i, "BODY-%d." % i, description=json.dumps(words % i))
    for i in range(150):
        put(world.home, ".claude/agents/group-%d/some-agent-%d.md" % (i % 7, i),
            "---\nname: some-agent-%d\ndescription: %s\n---\nAGENT-%d.\n" % (i, json.dumps(words % i), i))
    for i in range(100):
        put(world.home, ".claude/commands/some-command-%d.md" % i, "---\ndescription: d\n---\nDo %d.\n" % i)
    skill(world.home, "zebra-crossing", "ZEBRA-BODY.", description="Paints stripes on asphalt.")
    put(world.home, ".claude/agents/zoo.md", "---\nname: zoo-keeper\ndescription: Feeds giraffes.\n---\nZOO-PROMPT.\n")
    done = world.run([[call("activate_skill", {"name": "stripes asphalt"}), call("activate_skill", {"name": "some-skill-299"}),
                       call("invoke_agent", {"agent_name": "giraffes", "prompt": "x"})],
                      [call("invoke_agent", {"agent_name": "zoo-keeper", "prompt": "x"})], [text("Fed.")], [text("Done.")]],
                     "-y", "-p", "x", append_only=False)
    size = len(json.dumps(done.sent[0], separators=(",", ":")))
    assert "is ignored" not in done.err and size <= 24 << 10, size
    by_words, by_name, agent = done.results(1)
    assert "- zebra-crossing: Paints stripes" in by_words["message"] and "BODY-299." in by_name["output"]
    assert "- zoo-keeper: Feeds giraffes." in agent["message"] and "ZOO-PROMPT" in json.dumps(done.sent[2])
    assert said(world.run(HELLO, "-p", "/some-command-99")) == "Do 99."
    assert "ZEBRA-BODY." in said(world.run(HELLO, "-p", "/zebra-crossing"))
