# SPDX-License-Identifier: Apache-2.0
"""hasp.Workspace and its twin: files, search and commands from Python, on real workers."""
import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import typing
from pathlib import Path
from unittest.mock import ANY

import pytest
from conftest import TOP, UNPACKED, call, say

import hasp
from hasp import workspace

sys.path.insert(0, str(TOP / "test" / "worker"))
import places  # noqa: E402


SOON = 1  # seconds


def run(work):
    return asyncio.run(work)


def test_edits_name_their_state(world):
    async def work():
        async with hasp.Workspace(".") as ws:
            made = await ws.write("a", "one\ntwo\n")
            assert made.created and made.state.version > 0 and "+one" in made.diff
            file = await ws.read("a")
            assert (file.content, file.total_lines, file.sha256) == (
                "one\ntwo\n",
                2,
                made.state.sha256,
            )
            done = await ws.update("a", "one", "ONE", base=file)
            assert done.replaced == 1 and done.lines_added == done.lines_removed == 1
            with pytest.raises(hasp.StateMismatch) as caught:
                await ws.update("a", "ONE", "x", base=file)
            assert (
                caught.value.code == "state_mismatch"
                and caught.value.details["latest_file_state"]["sha256"] == done.state.sha256
            )
            await ws.patch("a", "@@\n ONE\n-two\n+TWO\n", base=done)
            await ws.apply_changes(
                [
                    {"kind": "create", "file_path": "b", "content": "b\n"},
                    {"kind": "update", "file_path": "a", "old_content": "ONE", "new_content": "1"},
                ]
            )
        assert world.get("a") == "1\nTWO\n" and world.get("b") == "b\n"

    run(work())


def test_search_and_commands(world):
    world.put("a.py", "x = 1\nneedle = 2\ny = 3\n")
    world.put("b.txt", "needle\n")

    async def work():
        async with hasp.Workspace(".") as ws:
            found = await ws.search("needle", file_types=["py"], context=1)
            assert [
                (match.path, match.line, match.text) for match in found.matches if match.found
            ] == [("a.py", 2, "needle = 2")]
            assert [match.line for match in found.matches if not match.found] == [1, 3]
            assert sorted(await ws.glob("*")) == ["a.py", "b.txt"]
            ended = await ws.run("echo out; echo err >&2; exit 3")
            assert ended.exit_code == 3 and "out" in ended.output and "err" in ended.output
            killed = await ws.run("echo out; kill -9 $$")
            assert (killed.exit_code, killed.signal, killed.output) == (None, "SIGKILL", "out\n")
            with pytest.raises(hasp.CommandStopped) as caught:
                await ws.run("echo out; sleep 1000", timeout=SOON)
            assert caught.value.details["output"] == "out\n"
            behind = await ws.run("sleep 1000", background=True)
            assert behind.exit_code is None and behind.pid
            refused = await ws.run("echo x > /etc/hasp-python-test")
            assert refused.exit_code != 0 and refused.denials
            assert (await ws.call("list_directory", path="."))["success"]
            assert (await ws.call("no_such_tool"))["error"]["code"] == "unknown_tool"

    run(work())


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_methods_that_do_not_raise(world):
    """Whole results, whose names are those of the types of workspace.py."""
    results = workspace
    with hasp.blocking.Workspace(".") as ws:

        def state(text):
            path = str(world.root / "sub" / "a")
            return {"path": path, "sha256": digest(text), "version": ANY}

        def whole(result, kind, **fields):
            names = typing.get_type_hints(kind)
            assert result == {**fields} and set(fields) <= set(names), result
            for name in ("error", "code") if result["success"] else ():
                names.pop(name)
            assert set(fields) == set(names) or not result["success"]

        def failed(result, kind, code, **fields):
            assert result["error"].endswith(".")
            whole(result, kind, success=False, error=result["error"], code=code, **fields)

        wrote = ws.write_file("sub/a", "one\n")
        whole(
            wrote,
            results.WriteFileResult,
            success=True,
            bytes_written=4,
            operation="write",
            **state("one\n"),
        )
        read = ws.read_file("sub/a")
        kind = results.ReadFileResult
        whole(read, kind, success=True, content="one\n", size=4, **state("one\n"))
        again = ws.write_file("sub/a", "two\n")
        whole(
            again,
            results.WriteFileResult,
            success=True,
            bytes_written=4,
            operation="write",
            **state("two\n"),
        )
        changed = ws.update_file("sub/a", "two", "three")
        whole(
            changed,
            results.UpdateFileResult,
            success=True,
            changes_made=True,
            bytes_written=6,
            replaced=1,
            old_content="two",
            new_content="three",
            **state("three\n"),
        )
        match = {"path": "sub/a", "line": 1, "text": "three", "found": True}
        found = ws.search_files("three", directory="sub")
        whole(
            found,
            results.SearchFilesResult,
            success=True,
            matches=[match],
            pattern="three",
            directory="sub",
            more=False,
        )
        assert 0 < wrote["version"] < again["version"] < changed["version"]
        failed(ws.read_file("none"), results.ReadFileResult, "file_not_found", content=None)
        failed(
            ws.write_file("/etc/none", "x"),
            results.WriteFileResult,
            "outside_workspace",
            bytes_written=0,
        )
        failed(
            ws.update_file("sub/a", "zzz", "x"),
            results.UpdateFileResult,
            "wrong_match_count",
            changes_made=False,
            bytes_written=0,
        )
        failed(
            ws.search_files("(", regex=True),
            results.SearchFilesResult,
            "invalid_argument",
            matches=[],
        )


def test_bytes_written_are_those_of_the_file(world):
    """Not of the text that was sent: of the whole file, in its encoding, with its line ends."""
    path = world.root / "wide"
    path.write_bytes("one\r\ntwo\r\n".encode("utf-16"))
    with hasp.blocking.Workspace(".") as ws:
        for edit in (
            lambda: ws.update_file("wide", "one", "eins"),
            lambda: ws.write_file("wide", "eins\ntwo\nthree\n"),
        ):
            result = edit()
            assert result["bytes_written"] == path.stat().st_size > 20, result
        again = ws.write_file("wide", path.read_bytes().decode("utf-16"))
        assert again["success"] and again["bytes_written"] == 0


def test_a_cancelled_task_cancels_its_call(world):
    started = world.started()

    async def work():
        async with hasp.Workspace(".") as ws:
            task = asyncio.create_task(ws.run("echo > started; sleep 1000"))
            await asyncio.to_thread(started.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await ws.run("echo on")).output == "on\n"

    run(work())


def test_ctrl_c_leaves_a_workspace_that_works(world):
    script = (
        "import hasp\n"
        "with hasp.blocking.Workspace('.') as ws:\n"
        "    try:\n"
        "        ws.run('echo > started; sleep 1000')\n"
        "    except KeyboardInterrupt:\n"
        "        print(ws.run('echo on').output, end='')\n"
    )
    started = world.started()
    process = world.python(script)
    started.wait(process)
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("on\n", "") and process.returncode == 0


def test_many_threads(world):
    world.put("a", "one\n")
    with hasp.blocking.Workspace(".") as ws:
        wrong = []

        def work():
            for _ in range(30):
                if ws.read("a").content != "one\n" or ws.run("echo 1").output != "1\n":
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_child_is_refused_in_words(world):
    world.put("a", "one\n")
    with hasp.blocking.Workspace(".") as ws:
        ws.read("a")
        child = os.fork()
        if not child:
            try:
                ws.read("a")
                os._exit(1)
            except hasp.InvalidArgument as error:
                os._exit(0 if "fork" in error.message else 2)
        assert os.waitpid(child, 0)[1] == 0
        assert ws.read("a").content == "one\n"


def test_a_closed_workspace_says_so(world):
    ws = hasp.blocking.Workspace(".")
    ws.close()
    ws.close()
    with pytest.raises(hasp.InvalidArgument, match="closed"):
        ws.read("a")
    with pytest.raises(hasp.NotFound):
        hasp.blocking.Workspace("/no/such/folder")


def test_rules_on_paths_hold(world):
    (world.root / "generated").mkdir()
    with hasp.blocking.Workspace(
        ".", settings={"hasp": {"sandbox": {"keepPaths": ["generated"]}}}, trust=True
    ) as ws:
        with pytest.raises(hasp.Denied):
            ws.write("generated/a", "x")
        assert ws.run("echo x > generated/a").exit_code != 0
    assert not (world.root / "generated" / "a").exists()


@pytest.mark.parametrize("kind", ["ssh", "podman"])
def test_a_workspace_on_another_host_and_in_a_container(world, kind):
    """Every method over sshd on loopback, and in a container: the files are over there."""
    # podman's folders have names of 50 characters at most.
    with tempfile.TemporaryDirectory(prefix="hasp-") as top, places.place(
        kind, Path(top, "there")
    ) as there:
        with hasp.blocking.Workspace(there.root, provider=there.worker) as ws:
            made = ws.write("a/b.txt", "one\ntwo\n")
            assert (there.here / "a" / "b.txt").read_text() == "one\ntwo\n"
            changed = ws.update("a/b.txt", "two", "three", base=made.state)
            diff = "@@ -1 +1 @@\n-one\n+eins\n"
            ws.patch("a/b.txt", diff, base=changed.state)
            assert ws.read("a/b.txt").content == "eins\nthree\n"
            with pytest.raises(hasp.StateMismatch):
                ws.write("a/b.txt", "late\n", base=made.state)
            assert ws.glob("**/*.txt") == ["a/b.txt"]
            assert [match.line for match in ws.search("three").matches] == [2]
            ran = ws.run("pwd; cat a/b.txt; exit 3")
            assert (ran.exit_code, ran.output) == (3, there.root + "\neins\nthree\n")
            assert ws.update_file("a/b.txt", "eins", "1")["bytes_written"] == len("1\nthree\n")
            assert (there.here / "a" / "b.txt").read_text() == "1\nthree\n"
    assert not (world.root / "a").exists()


def test_an_agent_works_on_another_host(world, tmp_path):
    with places.place("ssh", tmp_path / "there") as there:
        model = world.model(
            call("write_file", file_path="a.txt", content="from afar\n"), say("Written.")
        )
        with hasp.blocking.Agent(
            model,
            provider=there.worker,
            provider_folder=there.root,
            approval=hasp.approval.Everything(),
        ) as agent:
            assert agent.run("Write it.").text == "Written."
        assert (there.here / "a.txt").read_text() == "from afar\n"
    assert not (world.root / "a.txt").exists()


def test_a_workspace_elsewhere(world):
    with hasp.blocking.Workspace(str(world.root), provider=[os.environ["HASP"], "worker"]) as ws:
        ws.write("a", "there\n")
        assert ws.run("cat a").output == "there\n"
    with pytest.raises(hasp.Error):
        hasp.blocking.Workspace(".", provider=[])
    with pytest.raises(hasp.NotFound):
        hasp.blocking.Workspace(".", provider=["/no/such/program"])
    with pytest.raises(hasp.Error):
        hasp.blocking.Workspace(".", provider=["true"])


def test_agents_and_calls_leave_nothing(world):
    """A tenth of what python_memory.py does on its own, with its limits."""
    script = str(TOP / "script/lib/python_memory.py")
    done = subprocess.run(
        [sys.executable, script, "100", "1000"],
        env=dict(os.environ, HASP_PACKAGE=str(UNPACKED)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.count("heap") == 2, done.stdout


def test_nothing_is_loaded_before_it_is_used(world):
    process = world.python(
        "import sys, hasp; print(sorted(set(sys.modules) & "
        "{'asyncio', 'cffi', '_cffi_backend', 'hasp._native', 'json'}))"
    )
    assert process.communicate()[0] == "[]\n" and sys.version_info >= (3, 11)
