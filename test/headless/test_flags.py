# SPDX-License-Identifier: Apache-2.0
"""The command line: where the prompt comes from, what excludes what, exit codes, what the formats print
when it fails."""
import json
import os
import re
import subprocess
import time

import pytest
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(3)

HELLO = [[text("Hello.")]]


def prompt_of(done, i=-1):
    """What the user said last in a request."""
    return done.sent[i]["contents"][-1]["parts"][-1]["text"]


def error_of(done):
    """The error of -o json: on standard error, behind notices."""
    assert done.out == b""
    return json.loads(done.err[done.err.index("{\n"):])["error"]


# ---- the prompt ----------------------------------------------------------------------------------

@pytest.mark.parametrize("args,stdin,prompt", [
    (["-p", "ask"], None, "ask"),
    (["-pask"], None, "ask"),
    (["--prompt=ask me"], None, "ask me"),
    (["-o", "text", "ask", "me"], None, "ask me"),
    (["what is this?"], None, "what is this?"),
    (["--", "--help"], None, "--help"),
    (["-p", "ask"], b"given\n", "given\n\n\nask"),
    (["-p", "ask"], b" \n\t\n", "ask"),
    ([], b"given", "given"),
    (["-o", "text"], b"given", "given"),
    (["-p", ""], b"given", "given\n\n"),
    (["-p", "x"], "ä€😀".encode(), "ä€😀\n\nx"),
])
def test_the_prompt(world, args, stdin, prompt):
    done = world.run(HELLO, *args, stdin=stdin)
    assert (done.code, done.text, done.err) == (0, "Hello.\n", "")
    assert prompt_of(done) == prompt


@pytest.mark.parametrize("args,stdin", [
    ([], None), ([], b""), ([], b" \n"), (["-p", ""], None), (["-p", " \n"], b"\n"),
    (["-o", "json"], b"")])
def test_without_a_prompt(world, args, stdin):
    done = world.command(*args, stdin=stdin)
    assert (done.code, done.out) == (42, b"") and "No prompt" in done.err
    if "json" in args:
        assert error_of(done)["code"] == 42


def test_standard_input_that_never_comes_is_waited_for_half_a_second(world):
    with world.fake([{"reply": step} for step in HELLO]) as server:
        ours, theirs = os.pipe()
        start = time.monotonic()
        process = world.start(server, "-p", "ask", stdin=ours)
        out, err = process.communicate(timeout=300)
        os.close(theirs)
        os.close(ours)
    assert (process.returncode, out) == (0, b"Hello.\n")
    assert err.startswith(b"hasp: Nothing arrived on standard input; continuing without it.")
    assert time.monotonic() - start > 0.5


def test_standard_input_that_comes_slowly_is_read_to_its_end(world):
    with world.fake([{"reply": step} for step in HELLO]) as server:
        process = world.start(server, "-p", "ask", stdin=subprocess.PIPE)
        process.stdin.write(b"one ")
        process.stdin.flush()
        time.sleep(0.7)
        out, _ = process.communicate(b"two", timeout=300)
    assert out == b"Hello.\n"
    said = server.requests[0].body["contents"][-1]["parts"][-1]
    assert said == {"text": "one two\n\nask"}


def test_standard_input_has_a_limit(world):
    most = 8 << 20
    done = world.command("-p", "ask", stdin=b"x" * most)
    assert done.code == 41, "it is read, and then there is no key"
    done = world.command("-p", "ask", stdin=b"x" * (most + 1))
    assert (done.code, done.out) == (42, b"") and "8 MB" in done.err


def test_bytes_that_are_no_text(world):
    done = world.run(HELLO, "-p", "ask", stdin=b"a\xff\xfeb\0c")
    assert done.code == 0 and prompt_of(done).startswith("a") and prompt_of(done).endswith("ask")


# ---- flags ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("args,code,word", [
    (["-p", "x", "y"], 2, "twice"),
    (["-p", "x", "--yolo", "--approval-mode", "plan"], 2, "--approval-mode"),
    (["-p", "x", "--resume", "latest", "--session-id", "a"], 2, "exclude"),
    (["-p", "x", "--session-file", "f", "--session-id", "a"], 2, "exclude"),
    (["-p", "x", "--session-file", "f", "-r"], 2, "exclude"),
    (["-p", "x", "--session-id", "no/where"], 42, "session"),
    (["-p", "x", "--session-id", ""], 42, "session"),
])
def test_flags_that_cannot_be(world, args, code, word):
    done = world.command(*args, env={"GEMINI_API_KEY": "k"})
    assert (done.code, done.out) == (code, b"") and word in done.err
    assert not world.sessions()


@pytest.mark.parametrize("args", [
    ["--nothing"], ["-p"], ["-o", "yaml", "-p", "x"], ["--approval-mode", "always", "-p", "x"],
    ["-p", "x", "--sandbox=strong"], ["toool"],
    ["-p", "x", "-p", "y"]])
def test_flags_that_do_not_exist(world, args):
    done = world.command(*args)
    assert (done.code, done.out) == (2, b"") and done.err.startswith("hasp: ")


def test_behind_two_dashes_are_words(world):
    for word in ("tool", "--yolo"):
        assert prompt_of(world.run(HELLO, "--", word)) == word


def test_a_sandbox_without_a_level_before_the_prompt(world):
    """--sandbox may stand without a value: what is no level is the prompt's."""
    done = world.run(HELLO, "-s", "paths", "-p", "x", "-o", "json")
    assert done.json["response"] == "Hello." and "not confined" in done.err


def test_folders_can_be_added(world):
    (world.top / "more").mkdir()
    (world.top / "more" / "b.txt").write_text("beta\n")
    for args, env in [(["--include-directories", "../more,.."], {}), ([], {"SET": "1"})]:
        if env:
            world.settings(context={"includeDirectories": [str(world.top / "more")]})
        done = world.run([[call("read_file", {"file_path": str(world.top / "more" / "b.txt")})],
                          [text("Done.")]], "-p", "x", *args)
        assert done.results()[0]["content"] == "beta\n"


def test_folders_that_are_not_there_are_left_out(world):
    (world.home / "b.txt").write_text("beta\n")
    world.write("file", "")
    world.settings(context={"includeDirectories": ["/nowhere", "~"]})
    done = world.run([[call("read_file", {"file_path": str(world.home / "b.txt")})],
                      [text("Done.")]], "-p", "x", "-o", "json", "--include-directories",
                     "../missing,file")
    assert done.code == 0 and done.results()[0]["content"] == "beta\n"
    told = done.json["warnings"]
    assert [warning.split(" (")[0] for warning in told] == ["../missing", "file", "/nowhere"]
    assert "does not exist" in told[0] and "not a folder" in told[1]
    assert "--include-directories" in told[0] and "context.includeDirectories" in told[2]


# ---- Gemini CLI's flags --------------------------------------------------------------------------

@pytest.mark.parametrize("args", [
    ["--screen-reader"], ["--screen-reader=false"], ["--no-screen-reader"], ["-e", "none"],
    ["--extensions=none"], ["--allowed-mcp-server-names", "a,b"], ["--raw-output"],
    ["--accept-raw-output-risk"], ["--debug=false"], ["--skip-trust", "true"], ["--yolo=false"],
    ["--yolo", "--no-yolo", "--approval-mode", "plan"], ["--sandbox=auto"], ["-y", "false"]])
def test_flags_that_change_nothing_are_taken(world, args):
    done = world.run(HELLO, *args, "-p", "ask")
    assert (done.code, done.text, done.err) == (0, "Hello.\n", "")
    assert prompt_of(done) == "ask"


@pytest.mark.parametrize("args,word", [
    (["-i", "x"], "--prompt-interactive flag cannot be used when input is piped from stdin"),
    (["--prompt-interactive", "x"], "needs a terminal"),
    (["-w"], "git worktree add"), (["--worktree", "name", "-p", "x"], "git worktree add")])
def test_flags_for_what_there_is_not_say_so(world, args, word):
    done = world.command(*args, "-o", "json", env={"GEMINI_API_KEY": "k"})
    assert done.code == error_of(done)["code"] == 42 and word in error_of(done)["message"]
    assert not world.sessions()


def test_extensions_are_listed(world):
    for flag in ("-l", "--list-extensions"):
        done = world.command(flag)
        assert (done.code, done.text, done.err) == (0, "No extensions installed.\n", "")


@pytest.mark.parametrize("args,level", [
    (["--sandbox=false"], "paths"), (["--sandbox", "false"], "paths"), (["--no-sandbox"], "paths"),
    (["--sandbox=true"], "full"), (["-s", "true"], "full")])
def test_a_sandbox_can_be_true_or_false(world, args, level):
    done = world.run([[call("run_shell_command", {"command": "echo $HASP_LEVEL"})],
                      [text("Done.")]], *args, "-p", "x", "--yolo")
    assert ("not confined" in done.err) == (level == "paths")
    assert done.results()[0]["output"].strip() == ("full" if level == "full" else "")


OWN = ["tool", "serve", "sandbox", "config", "policy", "hooks", "skills", "extensions", "mcp", "checkpoint", "sessions", "help",
       "completion"]
GEMINIS = ["gemma", "update"]
LONE = ["version", "login", "logout", "auth", "init", "install", "upgrade", "resume", "exec", "fork", "export"]


def refused(world, *args):
    """Why the words are no prompt: nothing is sent anywhere."""
    with world.fake([]) as server:
        done = world.command(*args, server=server)
    assert (done.code, done.out, server.requests) == (2, b"", []), (args, done.err)
    assert "As a prompt: hasp -- %s ..., or hasp -p " % [a for a in args if a[0] != "-"][0] in done.err
    return done.err


@pytest.mark.parametrize("flags", [[], ["--debug"], ["-y", "--debug"], ["-otext"]])
def test_a_command_behind_flags_is_no_prompt(world, flags):
    for word in GEMINIS:
        assert '"%s"' % word in refused(world, *flags, word, "list")
    for word in OWN if flags[1:] or flags == ["-otext"] else []:
        said = refused(world, *flags, word, "list")
        assert '"%s" is a command' % word in said and "hasp %s ..." % word in said
    for word, meant in [("extensoins", "extensions"), ("mpc", "mcp"), ("hlep", "help"), ("hepl", "help"),
                        ("tools", "tool"), ("confg", "config")]:
        assert '"%s"' % meant in refused(world, *flags, word)
    for word in LONE:
        refused(world, *flags, word)
    refused(world, *flags, "extensoins", "uninstall", "foo")
    for word in ("exec", "run"):
        assert "to run a prompt: hasp -p PROMPT" in refused(world, *flags, word, "explain this")
    for words in (["auth", "login"], ["auth", "list"], ["auth", "ls"], ["login", "status"]):
        assert "type /auth" in refused(world, *flags, *words)


def test_a_folder_is_no_prompt(world):
    world.write("docs/guide.md", "x")
    for word in ("./docs", "docs/", ".", "..", str(world.root)):
        assert '"%s" is a folder; to work in that folder: cd %s && hasp. ' % (word, word) in refused(world, word)
    for words in (["docs"], ["docs/", "what", "is", "here?"], ["./docs: what is it?"], ["docs/guide.md"], ["/docs/none"]):
        assert prompt_of(world.run(HELLO, *words)) == " ".join(words)


def test_the_last_session_of_another_agent_is_named(world):
    for words in (["resume", "--last"], ["fork", "--last"], ["exec", "resume", "--last"]):
        done = world.command(*words)
        assert done.code == 2 and "to continue the last session: hasp -c; in a copy: type /fork there" in done.err


@pytest.mark.parametrize("flags", [["--debug"], ["-d"], ["--debug=true"], ["--debug", "--no-debug"]])
def test_debug_may_stand_before_a_command(world, flags):
    for words in (["extensions", "list"], ["mcp", "list"], ["config", "nothing.of.the.kind"], ["skills", "lits"]):
        done, same = world.command(*flags, *words), world.command(*words)
        assert (done.code, done.text, done.err) == (same.code, same.text, same.err)


def test_what_is_in_the_way_of_a_command_is_named(world):
    assert "--yolo is none of its flags: leave it out, hasp mcp ..." in refused(world, "-y", "mcp", "list")
    assert "--yolo is none of its flags" in refused(world, "--debug", "-y", "extensions", "uninstall", "foo")
    assert "it stands before its flags, hasp context ..." in refused(world, "--resume=1", "context")


@pytest.mark.parametrize("args,prompt", [
    (["-p", "mcp list"], "mcp list"), (["--", "mcp", "list"], "mcp list"),
    (["-y", "--", "login"], "login"), (["mcp list in short"], "mcp list in short"),
    (["-y", "login fails, fix it"], "login fails, fix it"), (["login", "fails"], "login fails"),
    (["-y", "hello"], "hello"), (["what", "is", "this?"], "what is this?"),
    (["-y", "fix", "it"], "fix it"), (["-o", "text", "explain", "config"], "explain config"),
    (["help me to find it"], "help me to find it"), (["run", "the", "tests"], "run the tests"),
])
def test_what_is_a_prompt_all_the_same(world, args, prompt):
    assert prompt_of(world.run(HELLO, *args)) == prompt


def test_continue_is_resume_latest(world):
    world.run([[text("First.")]], "-p", "one")
    for flag in ("-c", "--continue"):
        assert "First." in world.run([[text("Second.")]], flag, "-p", "two").said()
    with world.fake([]) as server:
        assert "given twice" in world.command("-c", "-r", "1", "-p", "x", server=server).err


def test_hook_is_hooks(world):
    done, same = world.command("hook", "list"), world.command("hooks", "list")
    assert (done.code, done.text) == (0, same.text) == (0, "No hooks are configured.\n")


def test_policies_are_named_with_commas(world):
    for name in ("a", "b"):
        (world.top / name).write_text('[[rule]]\ntoolName = "%s"\ndecision = "deny"\npriority = 9\n'
                                      % {"a": "list_directory", "b": "read_file"}[name])
    world.write("x.txt", "x")
    done = world.run([[call("list_directory", {"dir_path": "."})],
                      [call("read_file", {"file_path": "x.txt"})], [text("Done.")]], "-p", "x",
                     "--policy", "%s,%s" % (world.top / "a", world.top / "b"), "-o", "stream-json")
    assert [event["status"] for event in done.of_type("tool_result")] == ["error", "error"]


# ---- exit codes ----------------------------------------------------------------------------------

def server_says(status, error):
    return [{"status": status, "error": error}]


def no_key(world):
    return world.command("-p", "x", "-o", "json")


def bad_key(world):
    return world.run(server_says(400, "API key not valid. Please pass a valid API key."), "-p",
                     "x", "-o", "json")


def bad_model(world):
    return world.run(server_says(404, "models/nothing is not found"), "-p", "x", "-o", "json",
                     "-m", "gemini-nothing")


def no_session(world):
    return world.command("-p", "x", "-o", "json", "--resume", "3", env={"GEMINI_API_KEY": "k"})


def no_level(world):
    return world.command("-p", "x", "-o", "json", "--sandbox", "full",
                         env={"GEMINI_API_KEY": "k", "HASP_SANDBOX_SIMULATE": "no-userns"})


def bad_settings(world):
    world.settings()
    (world.home / ".gemini" / "settings.json").write_text("{ nonsense")
    return world.command("-p", "x", "-o", "json", env={"GEMINI_API_KEY": "k"})


def bad_policy(world):
    (world.top / "p.toml").write_text("[[rule]]\ndecision = 7\n")
    return world.command("-p", "x", "-o", "json", "--policy", world.top / "p.toml",
                         env={"GEMINI_API_KEY": "k"})


def too_many_turns(world):
    world.write("a.txt", "alpha\n")
    world.settings(model={"maxSessionTurns": 2})
    step = [call("list_directory", {"dir_path": "."})]
    return world.run([step, [call("read_file", {"file_path": "a.txt"})]], "-p", "x", "-o", "json")


def untrusted(world):
    return world.command("-p", "x", "-o", "json", "--yolo",
                         env={"GEMINI_API_KEY": "k", "GEMINI_CLI_TRUST_WORKSPACE": None})


def forbidden_yolo(world):
    world.settings(security={"disableYoloMode": True})
    return world.command("-p", "x", "-o", "json", "--yolo", env={"GEMINI_API_KEY": "k"})


def no_plan_mode(world):
    world.settings(general={"plan": {"enabled": False}})
    return world.command("-p", "x", "-o", "json", "--approval-mode", "plan",
                         env={"GEMINI_API_KEY": "k"})


def no_plan_mode_by_settings(world):
    world.settings(general={"plan": {"enabled": False}, "defaultApprovalMode": "plan"})
    return world.command("-p", "x", "-o", "json", env={"GEMINI_API_KEY": "k"})


def test_an_error_is_told_once(world):
    done = world.command("-p", "x", "--admin-policy", "/nowhere", env={"GEMINI_API_KEY": "k"})
    assert done.err == "hasp: /nowhere: it cannot be read: No such file or directory.\n"


def test_a_mode_is_called_as_its_flag_is(world):
    done = world.command("-p", "x", "--approval-mode", "auto_edit",
                         env={"GEMINI_API_KEY": "k", "GEMINI_CLI_TRUST_WORKSPACE": None})
    assert done.code == 55 and done.err.startswith("hasp: auto_edit requires a trusted folder.")


@pytest.mark.parametrize("how,code,kind", [
    (no_key, 41, "Error"),
    (bad_key, 41, "FatalAuthenticationError"),
    (bad_model, 42, "FatalInputError"),
    (no_session, 42, "FatalInputError"),
    (no_level, 44, "FatalSandboxError"),
    (bad_settings, 52, "FatalConfigError"),
    (bad_policy, 52, "FatalConfigError"),
    (too_many_turns, 53, "FatalTurnLimitedError"),
    (untrusted, 55, "FatalUntrustedWorkspaceError"),
    (forbidden_yolo, 52, "FatalConfigError"),
    (no_plan_mode, 52, "FatalConfigError"),
    (no_plan_mode_by_settings, 52, "FatalConfigError"),
])
def test_exit_codes(world, how, code, kind):
    done = how(world)
    error = error_of(done)
    assert (done.code, error["code"], error["type"]) == (code, code, kind), done.err
    assert set(error) == {"type", "message", "code"} and error["message"]


def test_a_run_without_a_session_has_an_id(world):
    settings = {"security": {"auth": {"enforcedType": "gemini-api-key"}}}
    (world.home / ".gemini/settings.json").write_text(json.dumps(settings))
    env = {"GEMINI_API_KEY": "k", "GOOGLE_GENAI_USE_GCA": "true"}
    done = world.command("-p", "x", "-o", "json", env=env)
    said = json.loads(done.err)
    assert done.code == 41 and said["error"]["type"] == "Error", done.err
    assert "enforced authentication type is 'gemini-api-key'" in said["error"]["message"]
    assert re.fullmatch(r"[0-9a-f-]{36}", said["session_id"]), said
    done = world.command("-p", "x", "-o", "json", "--session-id", "mine", env=env)
    assert json.loads(done.err)["session_id"] == "mine"


def test_a_full_disk_is_fatal(world):
    small = 'mount -t tmpfs -o size=64k none "$0" && cd "$0" && exec "$@"'
    with world.fake([[call("write_file", {"file_path": "b.txt", "content": "b" * 200000})],
                     [text("It goes on.")]]) as server:
        process = subprocess.run(
            ["unshare", "-rm", "sh", "-c", small, str(world.root), *world.argv(server, [
                "-p", "x", "-o", "json", "--yolo", "-s", "paths"])],
            env=world.environment(server), cwd=world.top, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=300)
    error = json.loads(process.stderr[process.stderr.index(b"{\n"):])["error"]
    assert (process.returncode, error["code"], error["type"]) == (
        54, 54, "FatalToolExecutionError"), process.stderr


@pytest.mark.parametrize("form", ["text", "stream-json"])
def test_failures_in_the_other_formats(world, form):
    done = world.run(server_says(400, "API key not valid."), "-p", "x", "-o", form)
    assert done.code == 41
    assert done.err.startswith("hasp: ") and done.err.count("\n") == 1
    if form == "text":
        assert done.out == b""
        return
    assert [event["type"] for event in done.events] == ["init", "message", "result"]
    assert done.events[-1]["status"] == "error"
    assert set(done.events[-1]["error"]) == {"type", "message"}


def test_a_stream_that_fails_early_is_a_result(world):
    (world.home / ".gemini" / "settings.json").write_text("{ nonsense")
    done = world.command("-p", "x", "-o", "stream-json")
    assert done.code == 52 and [event["type"] for event in done.events] == ["result"]


def test_warnings_are_told_in_each_format(world):
    world.settings(general={"vimMode": "yes please"})
    done = world.run(HELLO, "-p", "x", "-o", "text")
    assert done.text == "Hello.\n" and done.err.startswith("[WARNING] ")
    done = world.run(HELLO, "-p", "x", "-o", "json")
    assert len(done.json["warnings"]) == 1 and "vimMode" in done.json["warnings"][0]
    done = world.run(HELLO, "-p", "x", "-o", "stream-json")
    assert [event["type"] for event in done.events] == ["init", "error", "message", "message",
                                                        "result"]
    assert done.events[1]["severity"] == "warning" and "vimMode" in done.events[1]["message"]


def test_answers_are_recorded_and_replayed(world):
    record = world.top / "answers.jsonl"
    world.write("a.txt", "alpha\n")
    script = [[call("read_file", {"file_path": "a.txt"})], [text("alpha it is.")]]
    first = world.run(script, "-p", "look", "--record", record, "-o", "json")
    done = world.command("-p", "look", "--model", "replay:%s" % record, "-o", "json")
    assert done.json["response"] == first.json["response"] == "alpha it is."
    assert done.json["stats"]["tools"]["totalCalls"] == 1


@pytest.mark.parametrize("where", ["no/such/answers", "", "locked/answers"])
def test_a_recording_that_cannot_be_opened_ends_the_run_before_anything_is_asked(world, where):
    (world.top / "locked").write_text("a file where a folder would have to be\n")
    world.settings(hooks={"SessionStart": [{"hooks": [{"type": "command", "command":
                                                       "touch %s/started" % world.top}]}]})
    done = world.run([], "-p", "x", "--record", world.top / where, "-o", "json")
    error = error_of(done)
    assert done.code in (1, 42) and "record" in error["message"], error
    assert str(world.top / where).rstrip("/") in error["message"]
    assert not (world.top / "started").exists() and not list(world.home.glob(".gemini/tmp/*/chats/*"))


def test_a_recording_that_cannot_be_written_is_told_once_and_the_run_goes_on(world):
    script = [[call("list_directory", {"dir_path": "."})], [text("Done.")]]
    done = world.run(script, "-p", "x", "--record", "/dev/full")
    assert (done.code, done.text) == (0, "Done.\n")
    assert done.err.count("no longer recorded in /dev/full") == 1


def test_version_and_help(world):
    assert world.command("--version").text.startswith("hasp ")
    assert world.command("-v").text == world.command("-V").text
    assert "--output-format" in world.command("--help").text
