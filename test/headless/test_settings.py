# SPDX-License-Identifier: Apache-2.0
"""Settings that a run obeys: what commands see, what is searched, how the model is asked, what is kept."""
import json
import os
import re
import time

import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]


def shell(world, command, *args, **options):
    """What a command prints."""
    done = world.run([[call("run_shell_command", {"command": command})], [text("Done.")]], "-p", "x",
                     "--yolo", *args, **options)
    return done.results()[0]


# ---- commands ------------------------------------------------------------------------------------

def test_variables_that_commands_get_and_do_not_get(world):
    world.write(".env", "STAGE=testing\nOTHER=hidden\n")
    world.settings(security={"environmentVariableRedaction": {
        "allowed": ["DEPLOY_TOKEN", "STAGE", "NOT_SET", "HASP"], "blocked": ["GOFLAGS", "DEPLOY_B"]}})
    env = {"DEPLOY_TOKEN": "t-1", "DEPLOY_B": "t-2", "GOFLAGS": "-v", "GOPATH": "/go"}
    said = shell(world, "env", env=env)["output"]
    seen = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    assert (seen["DEPLOY_TOKEN"], seen["STAGE"], seen["GOPATH"]) == ("t-1", "testing", "/go")
    assert not {"OTHER", "DEPLOY_B", "GOFLAGS", "NOT_SET", "GEMINI_API_KEY"} & set(seen)
    assert seen["HASP"] == "1" and seen["HASP_LEVEL"] in ("full", "landlock") and "TMPDIR" in seen


def test_a_project_may_hide_variables_and_not_show_them(world):
    world.settings("project", security={"environmentVariableRedaction": {
        "allowed": ["DEPLOY_TOKEN"], "blocked": ["GOFLAGS"]}})
    said = shell(world, "env", env={"DEPLOY_TOKEN": "CANARY", "GOFLAGS": "-v"})["output"]
    assert "CANARY" not in said and "GOFLAGS" not in said


def test_the_pager(world):
    world.settings(tools={"shell": {"pager": "tac"}})
    said = shell(world, "echo $PAGER $GIT_PAGER $MANPAGER; git --version")["output"]
    assert said.startswith("tac tac tac\n")


def test_silence_of_commands(world):
    world.settings(tools={"shell": {"inactivityTimeout": 0.5}})
    result = shell(world, "echo begun; sleep 30; echo over")
    assert result["state"] == "ended" and "over" not in result["output"]
    assert result["error"]["code"] == "command_stopped", result


def test_further_paths_and_the_network(world):
    (world.top / "more").mkdir()
    line = "echo x >%s/more/made && cat /proc/net/dev | wc -l" % world.top
    world.settings(tools={"sandboxAllowedPaths": [str(world.top / "more")],
                          "sandboxNetworkAccess": True})
    inside = shell(world, line)
    assert inside["exit_code"] == 0 and (world.top / "more" / "made").exists()
    assert int(inside["output"]) == len(open("/proc/net/dev").readlines())


def test_a_project_cannot_open_its_sandbox(world):
    (world.top / "more").mkdir()
    world.settings("project", tools={"sandboxAllowedPaths": [str(world.top / "more")],
                                     "sandboxNetworkAccess": True})
    result = shell(world, "echo x >%s/more/made; cat /proc/net/dev | wc -l" % world.top)
    assert not (world.top / "more" / "made").exists()


def test_folders_to_read(world):
    """File tools and @ read there unasked; an edit is refused in every mode."""
    more = world.top / "more"
    more.mkdir()
    (more / "a.txt").write_text("needle\n")
    calls = [call("read_file", {"file_path": str(more / "a.txt")}),
             call("search_files", {"pattern": "needle", "path": str(more)}),
             call("write_file", {"file_path": str(more / "b.txt"), "content": "x\n"})]
    world.settings(hasp={"sandbox": {"readPaths": [str(more)]}})
    done = world.run([calls, [text("Done.")]], "-p", "see @%s/a.txt" % more, "--yolo")
    read, found, written = done.results()
    assert read["content"] == "needle\n" and found["matches"] == 1
    assert written["error"]["code"] == "denied_by_sandbox" and "can only be read" in written["message"]
    assert not (more / "b.txt").exists()
    asked = json.dumps(done.server.requests[0].body)
    assert "Outside the workspace these can be read: %s." % more in asked and "needle" in asked


def test_a_project_cannot_have_more_read(world):
    (world.top / "more").mkdir()
    (world.top / "more" / "a.txt").write_text("needle\n")
    world.settings("project", hasp={"sandbox": {"readPaths": [str(world.top / "more")]}})
    done = world.run([[call("read_file", {"file_path": str(world.top / "more" / "a.txt")})], [text("Done.")]], "-p", "x")
    assert done.results()[0]["error"]["code"] == "outside_workspace"


# ---- files ---------------------------------------------------------------------------------------

def test_ignore_files_of_the_user(world):
    world.write(".aiignore", "*.key\n!kept.key\n")
    world.write(".otherignore", "kept.key\nopen.key\n")
    for name in ("a.key", "kept.key", "open.key", "b.txt"):
        world.write(name, "word\n")
    world.settings(context={"fileFiltering": {"customIgnoreFilePaths": [".aiignore", ".otherignore"]}})
    calls = [call("search_files", {"pattern": "word", "output": "files"}),
             *[call("read_file", {"file_path": name}) for name in ("a.key", "kept.key", "b.txt")]]
    found, *read = world.run([calls, [text("Done.")]], "-p", "see @open.key").results()
    # The first file of the setting decides, as in Gemini CLI.
    assert sorted(found["files"]) == [".aiignore", ".otherignore", "b.txt", "kept.key"] or \
        sorted(found["files"]) == ["b.txt", "kept.key"]
    assert [one.get("error", {}).get("code") for one in read] == ["ignored", None, None]


def test_ignore_files_can_be_switched_off(world):
    world.write(".geminiignore", "secret.txt\n")
    world.write(".gitignore", "built.txt\n")
    world.write("secret.txt", "word\n")
    world.write("built.txt", "word\n")
    calls = [call("search_files", {"pattern": "word", "output": "files"}),
             call("read_file", {"file_path": "secret.txt"})]
    found, read = world.run([calls, [text("Done.")]], "-p", "x").results()
    assert found["files"] == [] and read["error"]["code"] == "ignored"
    world.settings(context={"fileFiltering": {"respectGeminiIgnore": False, "respectGitIgnore": False}})
    found, read = world.run([calls, [text("Done.")]], "-p", "x").results()
    assert sorted(found["files"]) == ["built.txt", "secret.txt"] and read["content"] == "word\n"


def test_an_output_that_was_cut_can_be_read(world):
    world.settings(tools={"truncateToolOutputThreshold": 1000})
    world.write("made.sh", "for i in $(seq 2000); do echo line $i of all; done\n")
    run = call("run_shell_command", {"command": "sh made.sh"})
    with world.fake([[run], [text("Done.")]]) as server:
        assert world.command("-p", "x", "--yolo", server=server).code == 0
        path = next(world.home.glob(".gemini/tmp/*/tool-outputs/session-*/*"))
        assert str(path) in json.dumps(server.provider.tool_results(server.requests[1]))
        read = [call("read_file", {"file_path": str(path)}),
                call("read_file", {"file_path": "%s/../../chats" % path.parent}),
                call("read_file", {"file_path": str(path.parent.parent)})]
        server.script.extend({"reply": reply} for reply in (read, [text("Done.")]))
        assert world.command("-p", "x", "-r", "latest", server=server).code == 0
        inside, above, beside = server.provider.tool_results(server.requests[-1])[-3:]
    assert "line 1000 of all" in inside["content"], inside
    assert [one["error"]["code"] for one in (above, beside)] == ["outside_workspace"] * 2


@pytest.mark.parametrize("load", [False, True])
def test_instructions_of_further_folders(world, load):
    more = world.top / "more"
    (more / "sub").mkdir(parents=True)
    (more / "GEMINI.md").write_text("There: QUINCE.\n")
    (more / "sub" / "GEMINI.md").write_text("Deeper: MEDLAR.\n")
    (more / "sub" / "a.txt").write_text("alpha\n")
    world.write("GEMINI.md", "Here: PEAR.\n")
    world.settings(context={"loadMemoryFromIncludeDirectories": load})
    done = world.run([[call("read_file", {"file_path": str(more / "sub" / "a.txt")})],
                      [text("Done.")]], "-p", "x", "--include-directories", more)
    assert "PEAR" in done.said(0) and ("QUINCE" in done.said(0)) == load
    assert "MEDLAR" not in done.said(0) and ("MEDLAR" in done.said(1)) == load


# ---- the model -----------------------------------------------------------------------------------

def test_parameters_of_an_alias(world):
    world.settings(modelConfigs={
        "aliases": {"base": {"modelConfig": {"model": "gemini-2.5-pro", "generateContentConfig": {
            "temperature": 0.1, "topP": 0.5, "thinkingConfig": {"thinkingBudget": 777}}}}},
        "customAliases": {"careful": {"extends": "base", "modelConfig": {
            "generateContentConfig": {"temperature": 0.2, "maxOutputTokens": 4000}}}},
        "overrides": [
            {"match": {"model": "gemini-2.5-pro", "overrideScope": "core"},
             "modelConfig": {"generateContentConfig": {"topK": 7}}},
            {"match": {"model": "base"}, "modelConfig": {"generateContentConfig": {"topK": 3}}},
            {"match": {"model": "gemini-2.5-flash"},
             "modelConfig": {"generateContentConfig": {"temperature": 1.9}}}]})
    done = world.run(HELLO, "-p", "x", "-m", "careful")
    config = done.sent[0]["generationConfig"]
    assert (config["temperature"], config["topP"], config["topK"], config["maxOutputTokens"]) == (
        0.2, 0.5, 7, 4000)
    assert config["thinkingConfig"]["thinkingBudget"] == 777
    config = world.run(HELLO, "-p", "x", "-m", "gemini-2.5-flash").sent[0]["generationConfig"]
    assert config["temperature"] == 1.9 and "topK" not in config


def test_a_name_that_repeats(world):
    (world.home / ".gemini" / "settings.json").write_text(
        '{"model": {"name": "gemini-2.5-pro"},\n"model": {"name": "gemini-2.5-flash"}}')
    done = world.run(HELLO, "-p", "x")
    assert "gemini-2.5-flash" in done.server.requests[0].path
    assert re.search(r"line 2 repeats a name; the last one counts", done.err)


# ---- sessions ------------------------------------------------------------------------------------

def sessions_of_ages(world, ages):
    """Sessions whose files are so many days old."""
    for days in ages:
        world.run(HELLO, "-p", "x", "--session-id", "%08d-of-days" % days)
        path = next(path for path in world.sessions() if "-%08d" % days in path.name)
        then = time.time() - days * 86400
        os.utime(path, (then, then))


def days_left(world):
    """A session of the test's own has another id."""
    found = [re.search(r"-(00000\d{3})\.", path.name) for path in world.sessions()]
    return sorted(int(match.group(1)) for match in found if match)


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("retention,left", [
    ({}, [0, 3, 20]),
    ({"enabled": False}, [0, 3, 20, 40, 400]),
    ({"maxAge": "2d"}, [0]),
    ({"maxAge": "5w"}, [0, 3, 20]),
    ({"maxCount": 3}, [0, 3]),
    ({"maxAge": "1d", "minRetention": "1w"}, [0, 3, 20, 40, 400]),
    ({"maxAge": "soon"}, [0, 3, 20, 40, 400]),
])
def test_old_sessions(world, retention, left):
    world.settings(general={"sessionRetention": {"enabled": False}})
    sessions_of_ages(world, [400, 40, 20, 3, 0])
    world.settings(general={"sessionRetention": retention})
    for args in (["--list-sessions"], ["--help"]):
        world.command(*args)
    assert days_left(world) == [0, 3, 20, 40, 400], "reading deletes nothing"
    done = world.run(HELLO, "-p", "x")
    assert days_left(world) == left
    assert ("sessionRetention" in done.err) == (len(left) == 5 and retention.get("enabled") is None)
