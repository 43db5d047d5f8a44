# SPDX-License-Identifier: Apache-2.0
"""npm's reference servers, in hasp's sandbox and over HTTP."""
import contextlib
import json
import os
import socket
import subprocess

import npm_peers
import pytest
from conftest import declared
from fake_gemini import call, text


def program(name, *args, **more):
    index = npm_peers.package(name, "@modelcontextprotocol/server-%s/dist/index.js" % name)
    return {"command": str(npm_peers.node()), "args": [str(index), *args], "trust": True, **more}


@pytest.fixture(scope="module")
def everything():
    return program("everything", "stdio")


def results(world, *calls, env=None):
    done = world.run([[one] for one in calls] + [[text("Done.")]], "-p", "Do it.", env=env)
    assert done.code == 0, done.err
    return [done.results(i + 1)[-1] for i in range(len(calls))], done


def test_filesystem_reads_and_cannot_write(world):
    world.write("a.txt", "alpha\n")
    world.use({"fs": program("filesystem", str(world.root))})
    (read, wrote), done = results(
        world, call("mcp_fs_read_text_file", {"path": str(world.root / "a.txt")}),
        call("mcp_fs_write_file", {"path": str(world.root / "b.txt"), "content": "beta"}))
    assert "alpha" in read["output"]
    assert wrote["success"] is False and not (world.root / "b.txt").exists()
    assert declared(done.sent[0])["mcp_fs_read_text_file"]["parametersJsonSchema"]["required"] == ["path"]


def test_filesystem_writes_where_it_may(world):
    world.use({"fs": program("filesystem", str(world.root), sandbox={"workspace": "write"})})
    (wrote,), _ = results(
        world, call("mcp_fs_write_file", {"path": str(world.root / "b.txt"), "content": "beta"}))
    assert "success" not in wrote and world.read("b.txt") == "beta"


def use_everything(world, name):
    (echo, total, image), done = results(
        world, call("mcp_%s_echo" % name, {"message": "hello"}),
        call("mcp_%s_get-sum" % name, {"a": 2, "b": 3}), call("mcp_%s_get-tiny-image" % name, {}))
    assert "hello" in echo["output"] and "5" in total["output"]
    assert [part.get("mime_type") for part in image["output"]].count("image/png") == 1
    assert "left out" not in done.err, done.err
    (progress, env), _ = results(
        world, call("mcp_%s_trigger-long-running-operation" % name, {"duration": 1, "steps": 3}),
        call("mcp_%s_get-env" % name, {}), env={"A_TOKEN": "hush"})
    assert "success" not in progress and "GEMINI_API_KEY" not in json.dumps(env)


def test_hasp_mcp_test_names_their_tools(world, everything):
    world.use({"fs": program("filesystem", str(world.root)), "all": everything})
    for name, tool in (("fs", "mcp_fs_read_text_file"), ("all", "mcp_all_echo")):
        done = world.command("mcp", "test", name)
        assert done.code == 0 and tool in done.text and name + ": ready" in done.text, done.err


def test_everything(world, everything):
    world.use({"all": everything})
    use_everything(world, "all")


@contextlib.contextmanager
def served(path, transport="streamableHttp"):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    entry = program("everything", transport)
    with subprocess.Popen([entry["command"], *entry["args"]], env=dict(os.environ, PORT=str(port)),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            for line in server.stderr:
                if b"listening" in line or b"running on" in line:
                    break
            yield "http://127.0.0.1:%d%s" % (port, path)
        finally:
            server.kill()


def test_everything_over_http(world):
    with served("/mcp") as url:
        world.use({"all": {"httpUrl": url, "trust": True}})
        use_everything(world, "all")


@pytest.mark.parametrize("more", [{"type": "sse"}, {}], ids=str)
def test_everything_over_the_old_transport(world, more):
    with served("/sse", "sse") as url:
        world.use({"all": {"url": url, "trust": True, **more}})
        use_everything(world, "all")


def test_a_tool_that_has_to_be_called_as_a_task(world, everything):
    """server-everything's; what it asks meanwhile is declined, since nobody can be asked."""
    world.use({"all": everything})
    (plain, asking), done = results(
        world, call("mcp_all_simulate-research-query", {"topic": "hasps"}),
        call("mcp_all_simulate-research-query", {"topic": "python", "ambiguous": True}))
    assert "# Research Report: hasps" in plain["output"], plain
    assert "User declined - using default interpretation" in asking["output"], asking
    assert "this run has no way to ask" in done.err


def test_a_server_of_the_sdk_has_the_model_answer(world, everything):
    """server-everything's tool, which it has where the client samples."""
    world.use({"all": everything}, hasp={"servers": {"sampling": ["all"]}})
    done = world.run([[call("mcp_all_trigger-sampling-request", {"prompt": "hasps", "maxTokens": 50})],
                      [text("They close.")], [text("Done.")]], "-p", "Do it.", append_only=False)
    assert done.code == 0, done.err
    assert "They close." in done.results(2)[0]["output"]
    assert done.sent[1]["generationConfig"]["maxOutputTokens"] == 50 and "tools" not in done.sent[1]
