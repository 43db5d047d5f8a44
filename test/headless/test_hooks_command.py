# SPDX-License-Identifier: Apache-2.0
"""hasp hooks: what there is, what runs, and trusting those of a project."""
import json
import re

import pytest
from conftest import HASP
from fake_gemini import call, text
from terminal import Terminal

HELLO = [[text("Hello.")]]


def group(command, **more):
    return dict({"hooks": [dict({"type": "command", "command": command}, **more)]})


def listed(world, *args, **options):
    done = world.command("hooks", "list", "--json", *args, **options)
    assert done.code == 0, done.err
    return done.json


def test_all_are_listed_with_what_they_are(world):
    world.settings(hooks={"BeforeTool": [dict(group("guard", name="g", timeout=500),
                                              matcher="write_.*")],
                          "AfterAgent": [group("after", name="off")]},
                   hooksConfig={"disabled": ["off"]})
    world.settings("project", hooks={"SessionStart": [group("touch started")]})
    world.write(".gemini/hooks.toml",
                '[[hooks.SessionEnd]]\nhooks = [ { type = "command", command = "touch end" } ]\n')
    rows = {row["command"]: row for row in listed(world)}
    assert rows["guard"] == {"event": "BeforeTool", "matcher": "write_.*", "source": "user",
                             "name": "g", "command": "guard", "timeout": 500, "enabled": True,
                             "trusted": True, "format": "gemini",
                             "file": str(world.home / ".gemini/settings.json")}
    assert rows["after"]["enabled"] is False and rows["after"]["trusted"] is True
    for command in ("touch started", "touch end"):
        assert (rows[command]["source"], rows[command]["enabled"], rows[command]["trusted"]) == (
            "project", False, False)
    shown = world.command("hooks").text
    assert shown == world.command("hooks", "list").text
    assert "SessionStart        project  (not trusted)\n    command: touch started\n" in shown
    assert "AfterAgent          user  (off)\n    name:    off\n    command: after\n" in shown
    assert "BeforeTool          user\n    matcher: write_.*\n" in shown


def test_none(world):
    assert world.command("hooks").text == "No hooks are configured.\n" and listed(world) == []


def test_trust_is_for_exactly_these(world):
    world.settings("project", hooks={"SessionStart": [group("touch one")]})
    done = world.run(HELLO, "-p", "x")
    assert "1 hook of this project is not trusted" in done.err
    assert world.command("hooks", "trust").text == "Trusted: :touch one\n"
    assert world.command("hooks", "trust").text == "Nothing of this project is left to trust.\n"
    assert not (world.root / "one").exists(), "trusting runs nothing"
    assert world.run(HELLO, "-p", "x").err == ""
    assert (world.root / "one").exists()
    world.settings("project", hooks={"SessionStart": [group("touch two"), group("touch one")]})
    (world.root / "one").unlink()
    assert "1 hook of this project" in world.run(HELLO, "-p", "x").err
    assert (world.root / "one").exists() and not (world.root / "two").exists()
    trusted = json.loads((world.home / ".gemini" / "trusted_hooks.json").read_text())
    assert trusted == {str(world.root): [":touch one"]}


def test_trust_is_for_its_variables_too(world):
    """The same command with BASH_ENV is another program."""
    hook = {"type": "command", "command": "bash -c 'touch one'"}
    (world.root / "planted").write_text("touch two\n")
    world.settings("project", hooks={"SessionStart": [{"hooks": [hook]}]})
    assert world.command("hooks", "trust").text == "Trusted: :bash -c 'touch one'\n"
    world.settings("project", hooks={"SessionStart": [{"hooks": [{**hook, "env": {"BASH_ENV": "./planted"}}]}]})
    assert "1 hook of this project is not trusted" in world.run(HELLO, "-p", "x").err
    assert not (world.root / "two").exists() and not (world.root / "one").exists()
    assert "    env:     BASH_ENV=./planted\n" in world.command("hooks").text
    said = world.command("hooks", "trust").text
    assert re.match(r"Trusted: :\[BASH_ENV, [0-9a-f]{16}\] bash -c 'touch one'\n"
                    r"Trusted: planted\n    sha256: [0-9a-f]{64}\n", said), "what bash reads is held, too"
    assert world.run(HELLO, "-p", "x").err == "" and (world.root / "two").exists()
    world.settings("project", hooks={"SessionStart": [{"hooks": [{**hook, "env": {"BASH_ENV": "other"}}]}]})
    assert "1 hook of this project is not trusted" in world.run(HELLO, "-p", "x").err


def test_a_value_that_may_be_a_secret_is_not_shown(world):
    hook = {"type": "command", "command": "true", "env": {"PLACE": "here", "API_TOKEN": "tk-4471"}}
    world.settings("project", hooks={"SessionStart": [{"hooks": [hook]}]})
    assert "    env:     PLACE=here\n    env:     API_TOKEN=(hidden)\n" in world.command("hooks").text
    assert [row["env"] for row in listed(world)] == [["PLACE=here", "API_TOKEN=(hidden)"]]
    assert "tk-4471" not in world.command("hooks", "trust").text
    assert "tk-4471" not in (world.home / ".gemini" / "trusted_hooks.json").read_text()


def test_hooks_of_a_folder_that_is_not_trusted(world):
    world.settings("project", hooks={"SessionStart": [group("touch one")]})
    env = {"GEMINI_CLI_TRUST_WORKSPACE": None}
    assert listed(world, env=env) == []
    done = world.command("hooks", "trust", env=env)
    assert (done.code, done.out) == (1, b"") and "hasp config trust" in done.err
    assert not (world.home / ".gemini" / "trusted_hooks.json").exists()
    assert len(listed(world, "--skip-trust", env=env)) == 1


def test_another_folder(world):
    other = world.top / "other"
    (other / ".gemini").mkdir(parents=True)
    (other / ".gemini" / "settings.json").write_text(
        json.dumps({"hooks": {"SessionStart": [group("touch one")]}}))
    assert len(listed(world, "--root", other)) == 1 and listed(world) == []


@pytest.mark.parametrize("words", [["lst"], ["list", "more"], ["trust", "--nothing"]])
def test_a_wrong_command_line(world, words):
    done = world.command("hooks", *words)
    assert (done.code, done.out) == (2, b"")


def test_what_is_wrong_is_told(world):
    world.settings(hooks={"BeforeTool": [{"matcher": "x"}], "NoSuchEvent": [group("x")]})
    done = world.command("hooks")
    assert done.code == 0 and done.err.count("[WARNING] ") >= 1


def test_commands_do_not_act_on_a_terminal(world):
    world.settings(hooks={"BeforeTool": [dict(group("echo \x1b[31m\u202e", name="\x1b]0;x\x07"),
                                              matcher="\x9b2J")], "\x1bEvent": []})
    with Terminal([HASP, "hooks"], world.root, world.env) as terminal:
        code, out = terminal.finish()
    shown = out.decode()
    assert code == 0 and "echo" in shown
    assert [one for one in "\x1b\x07\u202e\x9b" if one in shown] == []


# ---- what is wrong names its file -----------------------------------------------------------------

def test_what_is_wrong_with_hooks_names_the_file_once(world):
    world.settings(hooks={"BeforeTool": [dict(group("true"), matcher="write_(file"), {}]})
    world.settings("project", hooks={"Sometimes": []})
    world.write(".gemini/hooks.toml", "hooks = [\n")
    (world.home / ".gemini" / "hooks.toml").write_text(
        '[[hooks.AfterTool]]\nmatcher = "["\nhooks = [ { type = "command" } ]\n')
    users, projects = world.home / ".gemini", world.root / ".gemini"
    wrong = [(users / "settings.json", r'"write_\(file" of BeforeTool'),
             (users / "settings.json", "an entry of BeforeTool"),
             (projects / "settings.json", 'there is no event "Sometimes"'),
             (projects / "hooks.toml", "TOML"),
             (users / "hooks.toml", r'"\[" of AfterTool'), (users / "hooks.toml", "a hook of AfterTool")]
    for done in (world.command("hooks", "list"), world.run(HELLO, "-p", "x", "--ignore-unknown-rules")):
        assert done.code == 0
        lines = done.err.splitlines()
        assert len(lines) == len(wrong), done.err
        for file, words in wrong:
            found = [line for line in lines if re.match(
                r"\[WARNING\] %s: .*%s" % (re.escape(str(file)), words), line)]
            assert len(found) == 1, (words, done.err)


@pytest.mark.parametrize("text", ["{", "[]", "\0"])
def test_a_file_of_trusted_hooks_that_is_wrong_is_named_and_kept(world, text):
    file = world.home / ".gemini" / "trusted_hooks.json"
    file.write_text(text)
    world.settings("project", hooks={"SessionStart": [group("touch one")]})
    world.write(".gemini/hooks.toml",
                '[[hooks.SessionEnd]]\nhooks = [ { type = "command", command = "touch two" } ]\n')
    done = world.run(HELLO, "-p", "x")
    assert done.err.count(str(file)) == 1 and not (world.root / "one").exists()
    done = world.command("hooks", "trust")
    assert done.code == 1 and str(file) in done.err and file.read_text() == text


@pytest.mark.parametrize("text", ["{", "[]", '{"/": "MAYBE"}'])
def test_a_file_of_trusted_folders_that_is_wrong_is_named(world, text):
    file = world.home / ".gemini" / "trustedFolders.json"
    file.write_text(text)
    for env in ({"GEMINI_CLI_TRUST_WORKSPACE": None}, {"GEMINI_CLI_TRUST_WORKSPACE": "true"}):
        done = world.run(HELLO, "-p", "x", env=env)
        told = env["GEMINI_CLI_TRUST_WORKSPACE"] is None
        assert done.err.count(str(file)) == told and done.code == 0
    done = world.command("config", "trust")
    assert done.code == 1 and str(file) in done.err and file.read_text() == text


def test_policies_that_are_wrong_are_named(world):
    policies = world.home / ".gemini" / "policies"
    policies.mkdir()
    (policies / "a.toml").write_text("[[rule]\n")
    done = world.command("-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and str(policies / "a.toml") + ":" in done.err
    done = world.command("-p", "x", "--policy", policies / "a.toml" / "b", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and done.err.count(str(policies / "a.toml" / "b")) == 1


def test_output_of_the_discovery_command_that_is_wrong_names_the_command(world):
    for printed, words in (("{", "tools.discoveryCommand"), ("{}", "tools.discoveryCommand"),
                           ('[{"name": "a b"}]', '"a b"')):
        world.settings(tools={"discoveryCommand": "echo '%s'" % printed})
        done = world.run(HELLO, "-p", "x")
        assert done.code == 0 and words in done.err, done.err


# ---- those of Claude Code's settings ----

def claude(world, name="settings.json", home=False, **settings):
    path = (world.home if home else world.root) / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings))
    return path


def notes(name, **more):
    """A hook that writes what it is given into `name` of the project."""
    return group("cat >\"$CLAUDE_PROJECT_DIR\"/%s" % name, **more)


WRITE = [[call("write_file", {"file_path": "a.ts", "content": "x"})], *HELLO]


def test_a_projects_hooks_of_claude_code_run_once_they_are_trusted(world):
    path = claude(world, hooks={"PreToolUse": [dict(notes("one", **{"if": "Write(*.ts)"}), matcher="Write|Edit")]},
                  permissions={"deny": ["WebSearch"]}, env={"X": "y"})
    claude(world, "settings.local.json", hooks={"PostToolUse": [notes("two", **{"timeout": 5})]})
    done = world.run(WRITE, "-y", "-p", "x")
    assert "2 hooks of this project are not trusted" in done.err and done.results(1)[0]["success"]
    assert not (world.root / "one").exists() and not (world.root / "two").exists()
    (world.root / "a.ts").unlink()
    assert [(row["event"], row["matcher"], row["source"], row["enabled"], row["timeout"]) for row in listed(world)] == [
        ("AfterTool", "", "project", False, 5000), ("BeforeTool", "^(?:Write|Edit)$", "project", False, 600000)]
    assert world.command("hooks", "trust").text == "".join("Trusted: :cat >\"$CLAUDE_PROJECT_DIR\"/%s\n" % name for name in ("two", "one"))
    assert world.run(WRITE, "-y", "-p", "x").err == ""
    given = json.loads(world.read("one"))
    assert (given["hook_event_name"], given["tool_name"]) == ("PreToolUse", "Write")
    assert json.loads(world.read("two"))["hook_event_name"] == "PostToolUse"
    (world.root / "a.ts").unlink()
    path.write_text(path.read_text().replace("/one", "/other; echo no >&2; exit 2"))
    done = world.run(WRITE, "-y", "-p", "x")
    assert "1 hook of this project is not trusted" in done.err and done.results(1)[0]["success"]
    (world.root / "a.ts").unlink()
    world.command("hooks", "trust")
    done = world.run(WRITE, "-y", "-p", "x")
    assert "no" in str(done.results(1)[0]) and not (world.root / "a.ts").exists()


def test_the_users_hooks_of_claude_code_run(world):
    claude(world, home=True, hooks={"SessionStart": [notes("one")], "Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]})
    assert world.run(HELLO, "-p", "x").err == "" and json.loads(world.read("one"))["hook_event_name"] == "SessionStart"
    told = world.command("hooks", "list")
    assert told.err.endswith('.claude/settings.json: not used by hasp: hooks of Stop of the type "prompt"\n')
    (world.root / "one").unlink()
    moved = world.top / "moved"
    (world.home / ".claude").rename(moved)
    world.run(HELLO, "-p", "x")
    assert not (world.root / "one").exists()
    world.run(HELLO, "-p", "x", env={"CLAUDE_CONFIG_DIR": str(moved)})
    assert (world.root / "one").exists()


def test_who_switches_the_hooks_of_claude_code_off(world):
    """A project may, but only its own."""
    claude(world, home=True, hooks={"SessionStart": [notes("user")]})
    claude(world, hooks={"SessionStart": [notes("project")]}, disableAllHooks=True)
    assert [row["source"] for row in listed(world)] == ["user"]
    claude(world, hooks={"SessionStart": [notes("project")]})
    assert len(listed(world)) == 2
    world.settings(hasp={"hooks": {"claude": False}})
    assert listed(world) == []
    world.settings()
    claude(world, home=True, disableAllHooks=True)
    assert listed(world) == []


@pytest.mark.parametrize("text", ["{", "[" * 9999, '{"hooks": [1]}', '{"hooks": {"Stop": 1}}', '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a\\u0000b"}]}]}}'])
def test_what_is_wrong_with_the_settings_of_claude_code_runs_nothing(world, text):
    claude(world).write_text(text)
    assert listed(world) == []
    lost = "Stop" not in text  # guards may be in there
    assert world.command("-p", "x", env={"GEMINI_API_KEY": "k"}).code == 52 if lost else world.run(HELLO, "-p", "x").code == 0
    assert world.run(HELLO, "-p", "x", "--ignore-unknown-rules").code == 0


def test_settings_of_claude_code_that_lead_out_do_not_count(world):
    outside = world.top / "outside.json"
    outside.write_text(json.dumps({"hooks": {"SessionStart": [group("true")]}}))
    (world.root / ".claude").mkdir()
    (world.root / ".claude/settings.json").symlink_to(outside)
    assert listed(world) == []


def test_a_folder_is_trusted_with_the_hooks_of_claude_code_in_sight(world):
    claude(world, hooks={"PreToolUse": [group("sh guard.sh")]})
    untrusted = {"GEMINI_CLI_TRUST_WORKSPACE": ""}
    assert listed(world, env=untrusted) == []
    shown = world.command("config", "trust", env=untrusted)
    assert ".claude/settings.json" in shown.text + shown.err and "BeforeTool: sh guard.sh" in shown.text + shown.err


# ---- files of the workspace that commands name ------------------------------------------------

MAKE = [[call("write_file", {"file_path": "a.txt", "content": "x\n"})], [text("Done.")]]
GUARD = "#!/bin/sh\nexit 0\n"
CHANGED = "#!/bin/sh\ntouch \"$GEMINI_PROJECT_DIR/planted\"\n"


def guard(world, command, source="project", content=GUARD):
    world.write("tools/guard.sh", content, 0o755)
    world.settings("project" if source == "project" else "home",
                   hooks={"BeforeTool": [group(command, name="guard")]})


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_what_is_trusted_while_hasp_runs_is_held_from_the_next_command_on(world, level):
    world.write("tools/guard.sh", GUARD, 0o755)
    world.settings(hooks={"SessionEnd": [group("$GEMINI_PROJECT_DIR/tools/guard.sh", name="guard")]})
    write = [call("run_shell_command", {"command": "echo '# more' >> tools/guard.sh; echo done"})]
    trusted = []
    steps = [write, {"reply": write, "wait": lambda: trusted.append(world.command("hooks", "trust").text)}, [text("Done.")]]
    done = world.run(steps, "-p", "x", "-y", "--sandbox=" + level)
    assert done.code == 0, done.err
    assert "Trusted: tools/guard.sh" in trusted[0], trusted
    assert (world.root / "tools/guard.sh").read_text() == GUARD + "# more\n", "the first may, the second may not"
    assert "has changed since" not in done.err


@pytest.mark.parametrize("source", ["project", "user"])
@pytest.mark.parametrize("command", [
    "$GEMINI_PROJECT_DIR/tools/guard.sh", '"$CLAUDE_PROJECT_DIR"/tools/guard.sh',
    '"${CLAUDE_PROJECT_DIR}/tools/guard.sh" x', "tools/guard.sh", "./tools/guard.sh >>log.txt 2>&1",
    "cd tools && sh guard.sh", "bash -c 'exec $PWD/tools/guard.sh'", ". tools/guard.sh",
    "env A=b sh -e tools/guard.sh", '[ -x "$PWD/tools/guard.sh" ] && "$PWD/tools/guard.sh"',
    "python3 run.py --with=tools/guard.sh", "cat tools/guard.sh >out.txt",
])
def test_a_script_that_changed_does_not_run(world, command, source):
    world.write("run.py", "")
    guard(world, command, source)
    trusted = world.command("hooks", "trust").text
    assert "Trusted: tools/guard.sh\n    sha256: " in trusted
    for _ in range(2):
        assert world.run(MAKE, "-p", "x", "-y").code == 0
        assert (world.root / "a.txt").exists()
        (world.root / "a.txt").unlink()

    guard(world, command, source, CHANGED)
    done = world.run(MAKE, "-p", "x", "-y")
    assert not (world.root / "planted").exists(), "what was put there did not run"
    assert not (world.root / "a.txt").exists(), "a guard that cannot run refuses"
    assert "tools/guard.sh, which it runs or reads, has changed since it was trusted" in done.err
    assert '"hasp hooks trust" trusts it' in done.err
    assert '+ touch "$GEMINI_PROJECT_DIR/planted"\n' in world.command("hooks", "list").text

    (world.root / "tools/guard.sh").unlink()
    done = world.run(MAKE, "-p", "x", "-y")
    assert "tools/guard.sh, which it runs or reads, was trusted and is missing" in done.err
    assert not (world.root / "a.txt").exists()
    guard(world, command, source)
    assert world.run(MAKE, "-p", "x", "-y").code == 0
    assert (world.root / "a.txt").exists(), "as it was trusted, it runs again"


@pytest.mark.parametrize("command", [
    "echo x >>tools/log.txt", "echo x | tee -a tools/log.txt", "touch tools/log.txt",
    'echo x >> "$CLAUDE_PROJECT_DIR"/tools/log.txt', 'echo "x" > "$CLAUDE_PROJECT_DIR/tools/log.txt"',
    "mkdir -p tools/made.d && rmdir tools/made.d", "true", "ls -d tools/",
])
def test_what_a_hook_only_writes_is_not_compared(world, command):
    world.settings("project", hooks={"BeforeTool": [group(command)]})
    world.write("tools/x", "")
    world.command("hooks", "trust")
    for _ in range(3):
        done = world.run(MAKE, "-p", "x", "-y")
        assert done.code == 0 and "did not run" not in done.err
        (world.root / "a.txt").unlink()


def test_a_link_counts_as_where_it_leads(world):
    (world.root / "tools").mkdir()
    world.write("tools/one.sh", GUARD, 0o755)
    world.write("tools/two.sh", GUARD, 0o755)
    (world.root / "tools/guard.sh").symlink_to("one.sh")
    world.settings("project", hooks={"BeforeTool": [group("tools/guard.sh")]})
    assert "leads to: " in world.command("hooks", "trust").text
    assert world.run(MAKE, "-p", "x", "-y").code == 0
    (world.root / "tools/guard.sh").unlink()
    (world.root / "tools/guard.sh").symlink_to("two.sh")
    assert "has changed since" in world.run(MAKE, "-p", "x", "-y").err
    (world.root / "tools/guard.sh").unlink()
    (world.root / "tools/guard.sh").symlink_to("/bin/true")
    assert "has changed since" in world.run(MAKE, "-p", "x", "-y").err


def test_what_cannot_be_compared_is_named(world):
    (world.root / "checks").mkdir()
    world.settings("project", hooks={"BeforeTool": [group("python3 checks"), group("sh $THERE/x.sh"),
                                                    group("npm run lint")]})
    shown = world.command("hooks", "trust").text
    assert "Not compared: what lies in " in shown and "checks\n" in shown
    assert 'Not compared: what "lint" stands for' in shown


def test_texts_of_hooks_stay_on_their_lines(world):
    world.settings("project", hooks={"BeforeTool": [group("touch M #\r\x1b[K    command: make lint\n"
                                                          "    command: make")]})
    for word in ("list", "trust"):
        shown = world.command("hooks", word).text
        assert "\x1b" not in shown and "\r" not in shown
        assert not any(line.startswith("    command: make") for line in shown.splitlines())
