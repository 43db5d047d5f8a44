# SPDX-License-Identifier: Apache-2.0
"""The stdio transport over whatever standard input and output are, with clients that do not read,
do not write lines, or go away."""
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import socket
import subprocess
import threading
import time
import tty

import pytest
from part import part_of

SERVER = os.environ["TRANSPORT_SERVER"]
WAIT = 60  # for whatever has to happen at once, on a busy machine
with open(SERVER, "rb") as program:
    # A sanitizer keeps back what was freed.
    SLACK_MB, PEAK_MB = (600, 1400) if b"__asan_init" in program.read() else (160, 256)


def line(message):
    return json.dumps(message).encode() + b"\n"


def request(method, params=None, ident=1):
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params or {}}


def call(tool, arguments=None, ident=1):
    return line(request("tools/call", {"name": tool, "arguments": arguments or {}}, ident))


def hello(capabilities=None):
    return line(request("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": capabilities or {},
        "clientInfo": {"name": "test", "version": "1"}}, 0)) + \
        line({"jsonrpc": "2.0", "method": "notifications/initialized"})


def text_of(message):
    return message["result"]["content"][0]["text"]


def wait_until(true):
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


class Server:
    """The server on two descriptors; reads and writes the other ends."""

    def __init__(self, stdin, stdout, read_fd, write_fd, traced=False):
        # A leak check at the end cannot be traced; every other test of the transports has one.
        env = {**os.environ, "LSAN_OPTIONS": "detect_leaks=0"} if traced else None
        self.process = subprocess.Popen([SERVER], stdin=stdin, stdout=stdout,
                                        stderr=subprocess.PIPE, env=env)
        self.read_fd, self.write_fd = read_fd, write_fd
        self.buffer = b""

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.write_fd, view):]

    def read_line(self):
        return json.loads(self.read_text())

    def read_text(self):
        parts = [self.buffer]
        while b"\n" not in parts[-1]:  # joined once: lines may be long
            ready, _, _ = select.select([self.read_fd], [], [], WAIT)
            assert ready, "the server is silent"
            parts.append(os.read(self.read_fd, 1 << 16))
            assert parts[-1], "the server has ended"
        first, _, self.buffer = b"".join(parts).partition(b"\n")
        return first

    def read_rest(self):
        """Messages until the end of the output."""
        parts = [self.buffer]
        while more := os.read(self.read_fd, 1 << 16):
            parts.append(more)
        return [json.loads(text) for text in b"".join(parts).splitlines()]

    def start(self, capabilities=None):
        self.write(hello(capabilities))
        assert self.read_line()["id"] == 0

    def peak_mb(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) / 1024

    def close_input(self):
        os.close(self.write_fd)
        self.write_fd = -1

    def close_output(self):
        os.close(self.read_fd)
        self.read_fd = -1

    def end(self):
        assert self.process.wait(WAIT) == 0, self.process.stderr.read()

    def release(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        for fd in {self.read_fd, self.write_fd} - {-1}:
            os.close(fd)


def over_pipes(traced=False):
    stdin, write_fd = os.pipe()
    read_fd, stdout = os.pipe()
    server = Server(stdin, stdout, read_fd, write_fd, traced)
    os.close(stdin)
    os.close(stdout)
    return server


@pytest.fixture
def server():
    running = over_pipes()
    yield running
    running.release()


# ---- what standard input and output may be

def test_pipes_from_beginning_to_end(server):
    server.start()
    for i in range(1, 100):
        server.write(call("echo", {"text": "x" * i * 100}, i))
        answer = server.read_line()
        assert answer["id"] == i and text_of(answer) == "x" * i * 100
    server.close_input()
    assert server.read_rest() == []
    server.end()


def test_one_socket_for_both():
    ours, theirs = socket.socketpair()
    server = Server(theirs, theirs, ours.fileno(), ours.fileno())
    with contextlib.closing(ours), contextlib.closing(theirs):
        server.start()
        server.write(call("big", {"kilobytes": 5 << 10}))
        assert len(text_of(server.read_line())) == 5 << 20
        server.write(call("slow", {"ms": 200}))
        ours.shutdown(socket.SHUT_WR)  # half of it: the answer still comes
        assert text_of(server.read_line()) == "slow"
        server.end()
        # It was never made non-blocking for those who share it.
        assert not fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK
        server.read_fd = server.write_fd = -1
    server.release()


def test_files(tmp_path):
    (tmp_path / "in").write_bytes(hello() + b"".join(
        call("echo", {"text": "t%d" % i}, i) for i in range(1, 2000)))
    with open(tmp_path / "in", "rb") as stdin, open(tmp_path / "out", "wb") as stdout:
        server = Server(stdin, stdout, -1, -1)
        server.end()
    answers = [json.loads(text) for text in (tmp_path / "out").read_bytes().splitlines()]
    assert [answer["id"] for answer in answers] == list(range(2000))
    server.release()


def test_a_terminal_keeps_its_flags():
    master, slave = pty.openpty()
    tty.setraw(slave)
    server = Server(slave, slave, master, master)
    server.start()
    server.write(call("echo", {"text": "typed"}))
    assert text_of(server.read_line()) == "typed"
    assert not fcntl.fcntl(slave, fcntl.F_GETFL) & os.O_NONBLOCK
    server.process.kill()  # without a chance to put anything back
    server.process.wait()
    assert not fcntl.fcntl(slave, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(slave)
    server.release()


def test_null():
    done = subprocess.run([SERVER], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, timeout=WAIT)
    assert (done.returncode, done.stderr) == (0, b"")


# ---- in which order

def test_thousands_of_calls_in_flight_in_any_order(server):
    calls = 4000
    server.start()
    waits = [random.Random(1).randrange(30) for _ in range(calls)]
    threading.Thread(target=lambda: server.write(b"".join(
        call("slow", {"ms": ms}, i) for i, ms in enumerate(waits, 1)))).start()
    ids = [server.read_line()["id"] for _ in range(calls)]
    assert sorted(ids) == list(range(1, calls + 1)) and ids != sorted(ids)


def test_quick_answers_overtake_slow_ones(server):
    server.start()
    server.write(call("slow", {"ms": 500}, 1) + call("echo", {"text": "q"}, 2))
    assert [server.read_line()["id"] for _ in range(2)] == [2, 1]


# ---- clients that do not behave

def test_a_client_that_never_reads_costs_no_more_than_its_answers(server):
    server.start()
    # Answers of 460 MiB are asked for, or three times that.
    count, padding = part_of(2800, 3), "p" * 16384
    data = b"".join(call("big", {"kilobytes": 512, "padding": padding}, i)
                    for i in range(1, count + 1))
    os.set_blocking(server.write_fd, False)
    view, quiet = memoryview(data), time.monotonic()
    while view and time.monotonic() - quiet < 3:
        with contextlib.suppress(BlockingIOError):
            view = view[os.write(server.write_fd, view):]
            quiet = time.monotonic()
        time.sleep(0.01)
    assert len(view) > len(data) / 2, "it reads on although nobody takes its answers"
    assert server.peak_mb() < PEAK_MB
    # When the client reads after all, everything that was sent is answered.
    os.set_blocking(server.write_fd, True)
    rest = threading.Thread(target=lambda: server.write(bytes(view)))
    rest.start()
    # Not as JSON: that takes long.
    ids = [int(re.search(rb'"id":(\d+)', server.read_text())[1]) for _ in range(count)]
    rest.join()
    assert sorted(ids) == list(range(1, count + 1))
    assert server.peak_mb() < PEAK_MB


def test_a_line_without_an_end_is_not_kept(server):
    server.start()
    before = server.peak_mb()
    block = b"x" * (1 << 20)
    for _ in range(part_of(1024, 4)):
        server.write(block)
    server.write(b"\n" + call("echo", {"text": "after"}, 5))
    assert server.read_line()["error"]["code"] == -32600
    assert text_of(server.read_line()) == "after"
    # One message of the greatest length, as it grows.
    assert server.peak_mb() - before < SLACK_MB


def test_one_byte_at_a_time(server):
    for i in range(len(hello())):
        server.write(hello()[i:i + 1])
    assert server.read_line()["id"] == 0


# ---- ends

def test_calls_under_way_are_answered_after_the_end_of_the_input(server):
    server.start()
    server.write(call("slow", {"ms": 300}, 1) + call("slow", {"ms": 50}, 2) +
                 call("echo", {"text": "no line end"}, 3)[:-1])
    server.close_input()
    assert sorted(answer["id"] for answer in server.read_rest()) == [1, 2, 3]
    server.end()


def test_a_question_that_nobody_will_answer_is_given_up(server):
    server.start({"elicitation": {}})
    server.write(call("ask"))
    assert server.read_line()["method"] == "elicitation/create"
    server.close_input()
    assert text_of(server.read_rest()[-1]) == "no answer"
    server.end()


def test_the_end_of_the_reader_ends_the_server(server):
    server.start()
    server.close_output()
    server.write(call("echo", {"text": "lost"}))
    server.end()


def test_a_client_that_dies_takes_its_calls_along(server):
    server.start()
    server.write(call("slow", {"ms": 10 * WAIT * 1000}))
    time.sleep(0.3)  # also right if it has not begun
    server.close_input()
    server.close_output()
    server.end()


def test_a_large_answer_is_written_before_the_end(server):
    server.start()
    server.write(call("big", {"kilobytes": 20 << 10}))
    server.close_input()
    time.sleep(0.5)  # reads late
    assert len(text_of(server.read_rest()[-1])) == 20 << 20
    server.end()


def test_system_calls_of_a_conversation(tmp_path):
    """One request at a time costs a wait, a read and a write."""
    server = over_pipes(traced=True)
    server.start()
    trace = subprocess.Popen(["strace", "-f", "-c", "-o", str(tmp_path / "trace"), "-p",
                              str(server.process.pid)], stderr=subprocess.PIPE, text=True)
    assert "attached" in trace.stderr.readline()
    for i in range(500):
        server.write(call("echo", {"text": "t"}, i + 1))
        server.read_line()
    server.close_input()
    server.end()
    trace.communicate(timeout=WAIT)
    rows = [row.split() for row in (tmp_path / "trace").read_text().splitlines()]
    counts = {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdigit()}
    assert 1500 <= counts["total"] < 1500 + 100, counts
    server.release()
