# SPDX-License-Identifier: Apache-2.0
"""What a process may be denied: standard descriptors, open files, a stack, memory, /proc. Each run ends by itself,
with a sentence, and the code of an error is that of its cause."""
import itertools
import json
import os
import signal
import subprocess

import pytest
from conftest import HASP, SANITIZED
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(3)

COMMANDS = {
    "--version": [], "--help": [], "prompt": ["-p", "hi"], "config": ["config"],
    "policy": ["policy", "list"], "hooks": ["hooks", "list"], "sessions": ["--list-sessions"],
    "status": ["sandbox", "--status"], "command": ["sandbox", "--", "true"],
    "read": ["tool", "read_file", "-a", "file_path=a.txt"], "mcp": ["serve", "mcp"],
    "models": ["models"], "page": ["--man-page"],
}


def after(words, *argv):
    """What a shell becomes after these words, which deny it something."""
    return ["sh", "-c", words + 'exec "$@"', "sh", *argv]


def run(world, name, denied="", server=None, **options):
    args = COMMANDS[name] or [name]
    (world.root / "a.txt").write_text("a\n")
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.run(after(denied, HASP, *args), env=world.environment(server), cwd=world.root, timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_closed_descriptors(world, name):
    """Any of the three: no crash; without a standard output to write to, that is an error."""
    with world.fake([], auto=lambda request: {"reply": [text("Hello.")]}) as server:
        whole = run(world, name, server=server)
        assert 0 <= whole.returncode < 100, whole
        for closed in itertools.chain.from_iterable(
                itertools.combinations(range(3), n) for n in range(1, 4)):
            done = run(world, name, "exec %s; " % " ".join("%d>&-" % fd for fd in closed), server=server)
            assert 0 <= done.returncode < 100, (closed, done)
            if 1 not in closed and name != "mcp":
                assert (done.returncode, bool(done.stdout)) == (whole.returncode, bool(whole.stdout)), (
                    closed, done)
            elif whole.stdout:
                assert done.returncode != 0, (closed, done)


def test_a_prompt_needs_no_standard_input(world):
    with world.fake([[text("Hello.")]]) as server:
        done = run(world, "prompt", "exec 0<&-; ", server=server)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n"), done


@pytest.mark.skipif(SANITIZED, reason="sanitizers need more")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kilobytes", [64, 200])
def test_a_small_stack(world, name, kilobytes):
    with world.fake([], auto=lambda request: {"reply": [text("Hello.")]}) as server:
        done = run(world, name, "ulimit -s %d; " % kilobytes, server=server)
        whole = run(world, name, server=server)
    assert (done.returncode, bool(done.stdout)) == (whole.returncode, bool(whole.stdout)), done


@pytest.mark.skipif(SANITIZED, reason="sanitizers need more")
@pytest.mark.parametrize("name", COMMANDS)
def test_few_open_files_and_little_memory(world, name):
    for count in (4, 7, 10, 14, 18, 22, 28):
        done = run(world, name, "ulimit -n %d; " % count)
        assert 0 <= done.returncode <= 125, (count, done)
        assert done.returncode == 0 or done.stderr or done.stdout, count
    for megabytes in (24, 48):
        done = run(world, name, "ulimit -v %d; " % (megabytes << 10))
        assert -signal.SIGSEGV < done.returncode <= 127, (megabytes, done)


CHANGES = [{"kind": "create", "file_path": "new%d" % i, "content": "x"} for i in range(40)]
CALLS = {"read_file": {"file_path": "a.txt"}, "apply_changes": {"changes": CHANGES}}


@pytest.mark.skipif(SANITIZED, reason="sanitizers need more")
@pytest.mark.in_turn("level")
@pytest.mark.parametrize("level", ["auto", "paths"])
@pytest.mark.parametrize("tool, codes", [("read_file", {None}),
                                         ("apply_changes", {None, "no_resources"})])
def test_too_few_descriptors_are_said_with_their_code(world, level, tool, codes):
    """From where they suffice down to one: an answer in JSON, or a message where no worker starts.
    A worker that starts has enough to read one file, and not to create many."""
    got = set()
    (world.root / "a.txt").write_text("a\n")
    for count in range(130, 0, -4):
        done = subprocess.run(
            after("ulimit -n %d; " % count, HASP, "tool", tool, "--sandbox", level, json.dumps(CALLS[tool])),
            cwd=world.root, env=world.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        assert 0 <= done.returncode < 128, (count, done)
        if done.stdout:
            code = json.loads(done.stdout).get("error", {}).get("code")
            assert (done.returncode == 0) == (code is None), (count, done)
            assert code in (None, "no_resources"), (count, done)
            got.add(code)
        else:
            assert done.returncode != 0 and done.stderr, (count, done)
        created = list(world.root.glob("new*"))
        whole = len(CHANGES) if tool == "apply_changes" else 0
        assert len(created) == (0 if done.returncode else whole), (count, done)
        for path in created:
            path.unlink()
    assert got >= codes


@pytest.mark.skipif(SANITIZED, reason="sanitizers need /proc")
def test_without_proc(world):
    (world.root / "a.txt").write_text("a\n")
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                           'mount -t tmpfs tmpfs /proc && exec "$@"', "sh", HASP, *COMMANDS["read"]],
                          env=world.environment(), cwd=world.root, capture_output=True, timeout=300)
    assert done.returncode != 0 and b"/proc is not mounted" in done.stderr, done


@pytest.mark.parametrize("path,code", [("loop", "invalid_argument"), ("n" * 300, "invalid_argument"),
                                       ("fifo", "not_a_file"), ("a.txt/b", "not_a_directory")])
def test_the_code_is_that_of_the_cause(world, path, code):
    os.symlink("loop", world.root / "loop")
    os.mkfifo(world.root / "fifo")
    (world.root / "a.txt").write_text("a\n")
    done = subprocess.run([HASP, "tool", "read_file", "-a", "file_path=" + path],
                          env=world.environment(), cwd=world.root, capture_output=True, timeout=300)
    assert json.loads(done.stdout)["error"]["code"] == code, done


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT])
def test_no_memory_of_a_process_that_holds_keys_is_written_down(world, number):
    with world.fake([]) as server:
        process = subprocess.Popen(after("ulimit -c unlimited; ", HASP, "serve", "mcp"), cwd=world.root,
                                   env=world.environment(server), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   # a shell ignores some of them for what it runs in the background
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        with open("/proc/%d/limits" % process.pid) as lines:
            limit = next(line.split()[4] for line in lines if line.startswith("Max core file size"))
        process.send_signal(number)
        process.communicate()
    assert process.returncode == -number
    assert limit == "1", "a limit of 0 keeps no program from being given the memory (core(5))"
    assert list(world.root.glob("*core*")) == []


def test_a_line_without_an_end_in_a_session_costs_its_limit(world):
    """The line is skipped while the file is read, and the rest is there."""
    world.run([[text("Hello.")]], "-p", "first")
    path, = world.sessions()
    with open(path, "a") as file:
        file.write('{"id":"long","type":"user","content":[{"text":"')
        for _ in range(200):
            file.write("x" * (1 << 20))
        file.write('"}]}\n')
    with world.fake([[text("Again.")]]) as server:
        process = world.start(server, "--resume", "-p", "second")
        said = process.stderr.read()
        process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    assert b"1 line of this session's file had more than 64 MB, and was skipped" in said
    assert b"first" in server.requests[0].raw
    assert usage.ru_maxrss < 150 << 10, usage.ru_maxrss
