# SPDX-License-Identifier: Apache-2.0
"""Other clients: acpx of npm; what Gemini CLI's own tests of its ACP mode look at; the demo."""
import contextlib
import json
import os
import socket
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
        done = None
        while done is None or "Queue owner is shutting down" in done.stdout:  # its own, of the last prompt
            done = acpx(world, server, "--ttl", "1", "prompt", "two")
        assert "Second." in done.stdout
        assert "First." in json.dumps(server.requests[-1].body)


def test_telemetry_is_whole_when_the_editor_has_closed(world):
    """As integration-tests/acp-telemetry of Gemini CLI."""
    log = world.top / "telemetry.log"
    env = {"GEMINI_TELEMETRY_ENABLED": "true", "GEMINI_TELEMETRY_TRACES_ENABLED": "true",
           "GEMINI_TELEMETRY_TARGET": "local", "GEMINI_TELEMETRY_OUTFILE": str(log),
           "GEMINI_TELEMETRY_LOG_PROMPTS": "true", "HASP_TELEMETRY_LOG_DETAILS": "true"}
    with world.fake([[text("Hello")]]) as server, Editor(world, server, name="--acp", env=env) as editor:
        session = editor.new()
        session.prompt("Say hello")
        assert session.said() == "Hello"
    # What the model said is a detail with hasp, which is off by itself (docs/telemetry.md).
    assert "api_response" in log.read_text() and "gen_ai.output.messages" in log.read_text()


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


# ---- servers of the editor

@contextlib.contextmanager
def everything(transport, path):
    """npm's server-everything, over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    index = npm_peers.package("everything", "@modelcontextprotocol/server-everything/dist/index.js")
    with subprocess.Popen([npm_peers.node(), index, transport], env=dict(os.environ, PORT=str(port)),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            for line in server.stderr:
                if b"listening" in line or b"running on" in line:
                    break
            yield "http://127.0.0.1:%d%s" % (port, path)
        finally:
            server.kill()


@pytest.mark.parametrize("type, transport, path", [("http", "streamableHttp", "/mcp"), ("sse", "sse", "/sse")])
def test_servers_of_the_editor_are_used_over_http(world, type, transport, path):
    """A server of the SDK; its calls are asked about, whatever the settings say of one of that name."""
    world.settings(mcpServers={"all": {"command": "false", "trust": True}})
    script = [[call("mcp_all_echo", {"message": "hello"})], [text("Done.")]]
    with everything(transport, path) as url, world.fake(script) as server, Editor(world, server) as editor:
        session = editor.new(servers=[{"type": type, "name": "all", "url": url,
                                       "headers": [{"name": "x-editor", "value": "yes"}]}])
        editor.on("session/request_permission", editor.choose("proceed_once"))
        assert session.prompt("go")["stopReason"] == "end_turn"
        asked = editor.wait("session/request_permission")["params"]["toolCall"]
        assert asked["title"] == 'Echo Tool (all MCP Server): {"message":"hello"}' == session.call(asked["toolCallId"])["title"]
        assert asked["content"][0]["content"]["text"] == "Tool Echo Tool of the MCP server all"
        assert asked["rawInput"] == {"message": "hello"}
        assert "Echo: hello" in json.dumps(server.requests[1].body)


def test_a_server_that_cannot_be_reached_is_named_and_the_session_goes_on(world):
    with world.fake([[text("Done.")]]) as server, Editor(world, server) as editor:
        session = editor.new(servers=[{"type": "http", "name": "away", "url": "http://127.0.0.1:9/mcp", "headers": []}])
        assert session.prompt("go")["stopReason"] == "end_turn"
        assert "away" in session.said("agent_thought_chunk")
