# SPDX-License-Identifier: Apache-2.0
"""Workers behind commands: every tool over ssh and in containers, and connections that are cut."""
import hashlib
import itertools
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import zipfile

import pytest
from places import HASP, NAMES, SECONDS, place, wait_for

pytestmark = pytest.mark.rows_in_turn(3)


class Session:
    """`hasp serve mcp --worker ...`, spoken to line by line."""

    def __init__(self, folder, *flags):
        env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        self.process = subprocess.Popen([HASP, "serve", "mcp", *flags], cwd=folder, env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.arrived = {}
        self.logged = queue.Queue()
        self.changed = threading.Condition()
        self.last = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "test", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "notifications/message":
                self.logged.put(message["params"])
            with self.changed:
                self.arrived[message.get("id")] = message
                self.changed.notify_all()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, number):
        with self.changed:
            assert self.changed.wait_for(lambda: number in self.arrived, SECONDS), "no answer"
        return self.arrived[number]["result"]

    def ask(self, method, params):
        return self.wait(self.start(method, params))

    def begin(self, name, **arguments):
        return self.start("tools/call", {"name": name, "arguments": arguments})

    def call(self, name, **arguments):
        return self.wait(self.begin(name, **arguments))["structuredContent"]

    def worker(self):
        """The process that --worker started."""
        pid = self.process.pid
        wait_for(lambda: children(pid), "the worker's process")
        return children(pid)[0]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(SECONDS)


def children(pid):
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as text:
            found += [int(word) for word in text.read().split()]
    return found


@pytest.fixture(scope="module", params=NAMES)
def there(request, tmp_path_factory):
    with place(request.param, tmp_path_factory.mktemp("place") / request.param) as made:
        yield made


@pytest.fixture
def session(there, tmp_path):
    for name in os.listdir(there.here):
        subprocess.run(["rm", "-rf", str(there.here / name)], check=True)
    opened = Session(tmp_path, *there.flags)
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
        opened.process.wait()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- every tool -----------------------------------------------------------------------------

def read_file(s, there):
    result = s.call("read_file", file_path="a.txt")
    assert result["content"] == "one\ntwo\n" and result["sha256"] == sha256(there.here / "a.txt")
    assert result["file_path"] == there.root + "/a.txt"
    with zipfile.ZipFile(there.here / "a.zip", "w") as archive:
        archive.writestr("in/b.csv", "within\n")
    derived = s.call("read_file", file_path="a.zip", part="member in/b.csv")
    assert derived["content"] == "within\n" and derived["sha256"] == sha256(there.here / "a.zip")
    assert derived["derived"]["by"].startswith("libarchive")


def read_many_files(s, there):
    files = s.call("read_many_files", paths=["a.txt", "sub/b.txt"])["files"]
    assert [file["content"] for file in files] == ["one\ntwo\n", "needle\n"]


def safe_patch(s, there):
    base = sha256(there.here / "a.txt")
    diff = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    assert s.call("safe_patch", file_path="a.txt", unified_diff=diff,
                  base_content_sha256=base)["success"]
    assert (there.here / "a.txt").read_text() == "one\nTWO\n"
    refused = s.call("safe_patch", file_path="a.txt", unified_diff=diff, base_content_sha256=base)
    assert refused["error"]["code"] == "state_mismatch"
    # The answer to the first call showed this state, so it is named and not repeated.
    assert refused["latest_file_state"]["sha256"] == sha256(there.here / "a.txt")
    assert "already shown as version" in refused["latest_file_state"]["content_omitted"]


def write_file(s, there):
    content = "\u00e9 \u4e2d \U0001f600\n" * 100000  # more than a pipe holds
    assert s.call("write_file", file_path="new/big.txt", content=content,
                  return_content="none")["success"]
    assert (there.here / "new" / "big.txt").read_text() == content
    assert s.call("read_file", file_path="new/big.txt", max_lines=1)["sha256"] == \
        sha256(there.here / "new" / "big.txt")


def update_file(s, there):
    assert s.call("update_file", file_path="a.txt", old_content="one", new_content="ONE",
                  base_content_sha256=sha256(there.here / "a.txt"))["success"]
    assert (there.here / "a.txt").read_text() == "ONE\ntwo\n"


def apply_changes(s, there):
    changes = [{"kind": "write", "file_path": "c.txt", "content": "c\n"},
               {"kind": "delete", "file_path": "a.txt",
                "base_content_sha256": sha256(there.here / "a.txt")}]
    assert s.call("apply_changes", changes=changes)["success"]
    assert (there.here / "c.txt").read_text() == "c\n" and not (there.here / "a.txt").exists()


def search_files(s, there):
    found = s.call("search_files", pattern="needle")
    assert found["matches"] == 1 and "sub/b.txt" in json.dumps(found)


def glob(s, there):
    assert "sub/b.txt" in json.dumps(s.call("glob", pattern="**/*.txt"))


def list_directory(s, there):
    assert "a.txt" in json.dumps(s.call("list_directory", path="."))


def run_shell_command(s, there):
    result = s.call("run_shell_command", command="cat a.txt && echo made > made.txt && exit 3")
    assert result["exit_code"] == 3 and "one" in json.dumps(result)
    assert (there.here / "made.txt").read_text() == "made\n"


def query_data(s, there):
    (there.here / "a.json").write_text('{"ports": [80, 443]}')
    assert s.call("query_data", file_path="a.json", query=".ports[1]")["results"] == [443]


def update_data(s, there):
    (there.here / "a.yaml").write_text("port: 80  # kept\n")
    base = s.call("query_data", file_path="a.yaml", query=".")["sha256"]
    s.call("update_data", file_path="a.yaml", base_content_sha256=base,
                 changes=[{"op": "set", "path": ".port", "value": 443}])
    assert (there.here / "a.yaml").read_text() == "port: 443  # kept\n"


def update_notebook(s, there):
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["one"]}]
    book = there.here / "a.ipynb"
    book.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n")
    base = s.call("read_file", file_path="a.ipynb", part="source")["sha256"]
    s.call("update_notebook", file_path="a.ipynb", base_content_sha256=base,
                 cells=[{"op": "replace", "cell": "a", "source": "two"}])
    assert json.loads(book.read_text())["cells"][0]["source"] == ["two"]


CALLS = {call.__name__: call for call in (
    read_file, read_many_files, safe_patch, write_file, update_file, apply_changes, search_files,
    glob, list_directory, run_shell_command, query_data, update_data, update_notebook)}


@pytest.mark.in_turn("there")
@pytest.mark.parametrize("name", CALLS)
def test_each_tool_works_there(there, session, name):
    (there.here / "a.txt").write_text("one\ntwo\n")
    (there.here / "sub").mkdir()
    (there.here / "sub" / "b.txt").write_text("needle\n")
    CALLS[name](session, there)
    assert session.close() == 0


def test_no_tool_is_left_out():
    done = subprocess.run([HASP, "tool", "--list", "--json"], check=True, capture_output=True)
    with_jobs = {"list_background_processes", "read_background_output", "write_background_input",
                 "kill_background_process"}  # test_background_processes
    assert {tool["name"] for tool in json.loads(done.stdout)} == set(CALLS) | with_jobs


def test_background_processes(there, session):
    started = session.call("run_shell_command", is_background=True, keep_input=True,
                           command="read line; echo \"got $line\" > line; sleep 1000")
    pid = started["pid"]
    assert pid in [job["pid"] for job in session.call("list_background_processes")["processes"]]
    assert session.call("write_background_input", pid=pid, input="words\n")["success"]
    wait_for((there.here / "line").exists, "what was written")
    assert session.call("read_background_output", pid=pid)["state"] == "running"
    assert session.call("kill_background_process", pid=pid)["success"]
    assert session.call("read_background_output", pid=pid)["state"] == "ended"


def test_it_is_confined_there_too(there, session):
    number = session.begin("run_shell_command", command="echo x > /usr/hasp-was-here; exit 0")
    result = session.wait(number)
    assert result["_meta"]["hasp/sandbox"] in ("full", "landlock")
    assert not os.path.exists("/usr/hasp-was-here")
    outside = session.call("read_file", file_path="/etc/passwd")
    assert outside["error"]["code"] == "outside_workspace"


def test_hasp_tool_and_hasp_sandbox_reach_it(there, tmp_path):
    (there.here / "f").write_text("text\n")
    done = subprocess.run([HASP, "tool", "read_file", "-a", "file_path=f", *there.flags],
                          cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["content"] == "text\n"
    done = subprocess.run([HASP, "sandbox", *there.flags, "--", "sh", "-c", "cat; pwd; exit 5"],
                          cwd=tmp_path, input=b"in\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (5, b"in\n%s\n" % there.root.encode()), done.stderr


# ---- connections that are cut -----------------------------------------------------------------

TICKS = ("ticks%d" % number for number in itertools.count())  # no test sees what another's command does


def ticking(there):
    """A command that shows whether it still runs."""
    name = next(TICKS)
    return there.here / name, "while :; do echo >> %s; sleep 0.05; done" % name


def still(path):
    wait_for(path.exists, "the command's first sign")
    time.sleep(0.3)
    size = path.stat().st_size
    time.sleep(0.3)
    return path.stat().st_size == size


def test_a_cut_connection_is_one_error_and_the_next_call_works(there, session):
    path, command = ticking(there)
    (there.here / "a.txt").write_text("one\n")
    version = session.call("read_file", file_path="a.txt")["version"]
    number = session.begin("run_shell_command", command=command)
    wait_for(path.exists, "the command's first sign")
    begin = time.monotonic()
    os.kill(session.worker(), signal.SIGKILL)
    failed = session.wait(number)["structuredContent"]
    assert time.monotonic() - begin < 60
    assert failed["success"] is False and failed["message"].endswith(".")
    again = session.call("read_file", file_path="a.txt")
    assert again["content"] == "one\n" and again["version"] > version
    # podman's conmon now and then does not notice it: then it takes as long as a lease.
    wait_for(lambda: still(path), "the end of what ran over there", 3 * SECONDS)


def test_a_hanging_connection_does_not_hold_a_cancelled_call(there, session):
    (there.here / "a.txt").write_text("one\n")
    session.call("read_file", file_path="a.txt")
    worker = session.worker()
    os.kill(worker, signal.SIGSTOP)
    number = session.begin("search_files", pattern="needle")
    time.sleep(0.2)
    session.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    begin = time.monotonic()
    session.process.stdin.close()
    os.kill(worker, signal.SIGKILL)
    assert session.process.wait(SECONDS) == 0
    assert time.monotonic() - begin < 60


def test_cancel_ends_what_runs_there(there, session):
    path, command = ticking(there)
    number = session.begin("run_shell_command", command=command)
    wait_for(path.exists, "the command's first sign")
    session.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    wait_for(lambda: still(path), "the end of what ran over there")
    (there.here / "a.txt").write_text("one\n")
    assert session.call("read_file", file_path="a.txt")["content"] == "one\n"


def test_a_command_that_cannot_be_started(tmp_path):
    for worker, words in (["/no/such/program"], "/no/such/program"), \
            (["sh", "-c", "echo broken pipe fitter >&2; exit 9"], "broken pipe fitter"), \
            (["cat"], ""), (["yes"], ""), (["sh", "-c", "printf '\\033]0;x\\007' >&2"], ""):
        done = subprocess.run([HASP, "tool", "list_directory", "-a", "path=.", "--root", "/tmp",
                               "--worker", shlex.join(worker)], cwd=tmp_path, capture_output=True,
                              timeout=SECONDS, check=False)
        assert done.returncode in (1, 2) and words in (done.stderr + done.stdout).decode(), worker
        assert b"\x1b" not in done.stderr
