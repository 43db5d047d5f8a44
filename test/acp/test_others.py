# SPDX-License-Identifier: Apache-2.0
"""Other clients: acpx of npm; what Gemini CLI's own tests of its ACP mode look at; the demo."""
import json
import os
import subprocess

import pytest

import npm_peers
from conftest import TOP
from editor import Editor
from fake_gemini import call, text


def acpx(world, server, *arguments):
    env = {**world.environment(server), "PATH": "%s:%s" % (npm_peers.node().parent, os.environ["PATH"])}
    program = npm_peers.folder("acpx") / "node_modules/acpx/dist/cli.js"
    agent = " ".join(world.argv(None, ["acp"]))
    return subprocess.run([npm_peers.node(), program, "--agent", agent, "--cwd", world.root, *arguments],
                          cwd=world.root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, text=True)


@pytest.mark.parametrize("files", [[], ["--no-fs"]])
def test_acpx_runs_a_prompt_with_an_edit(world, files):
    world.write("a.txt", "one\ntwo\n")
    script = [[call("read_file", {"file_path": "a.txt"})], [call("update_file", {
        "file_path": "a.txt", "old_content": "two", "new_content": "2"})], [text("All done.")]]
    with world.fake(script) as server:
        done = acpx(world, server, "--approve-all", *files, "exec", "go")
    assert done.returncode == 0, done.stderr
    assert "All done." in done.stdout and world.read("a.txt") == "one\n2\n"


def test_acpx_that_denies_changes_nothing(world):
    with world.fake([[call("write_file", {"file_path": "a.txt", "content": "one\n"})]]) as server:
        acpx(world, server, "--deny-all", "exec", "go")
    assert not (world.root / "a.txt").exists()


def test_acpx_goes_on_with_a_session_in_another_process(world):
    with world.fake([[text("First.")], [text("Second.")]], append_only=False) as server:
        assert acpx(world, server, "--ttl", "1", "sessions", "new").returncode == 0
        assert "First." in acpx(world, server, "--ttl", "1", "prompt", "one").stdout
        assert "Second." in acpx(world, server, "--ttl", "1", "prompt", "two").stdout
        assert "First." in json.dumps(server.requests[-1].body)


def test_telemetry_is_whole_when_the_editor_has_closed(world):
    """As integration-tests/acp-telemetry of Gemini CLI."""
    log = world.top / "telemetry.log"
    world.settings(telemetry={"logPrompts": True}, hasp={"telemetry": {"logDetails": True}})
    env = {"GEMINI_TELEMETRY_ENABLED": "true", "GEMINI_TELEMETRY_TRACES_ENABLED": "true",
           "GEMINI_TELEMETRY_TARGET": "local", "GEMINI_TELEMETRY_OUTFILE": str(log)}
    with world.fake([[text("Hello")]]) as server, Editor(world, server, name="--acp", env=env) as editor:
        session = editor.new()
        session.prompt("Say hello")
        assert session.said() == "Hello"
    # What the model said, as gen_ai.output.messages there, hasp writes nowhere (docs/telemetry.md).
    assert "api_response" in log.read_text() and "Say hello" in log.read_text()


def test_a_projects_env_brings_the_key_where_the_user_has_none(world):
    """As integration-tests/acp-env-auth."""
    (world.root / ".env").write_text("GEMINI_API_KEY=of-the-project\n")
    with Editor(world, name="--acp") as editor:
        assert editor.new().id


def test_the_demo_holds(world):
    done = subprocess.run(["/usr/bin/python3", TOP / "script/lib/demo_acp.py"], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\nyes ") == 4 and "types a comment" in done.stdout
