# SPDX-License-Identifier: Apache-2.0
"""However a run ends, nothing of it stays behind, no file is torn and no session is lost."""
import contextlib
import hashlib
import json
import os
import signal
import time

import pytest
from conftest import KEY, KINDS, SANITIZED, become_reaper, nothing_left
from fake_gemini import call, text, thought
from part import part_of

STATES = ["value = %d\n%s" % (i, "# a line that stays\n" * 3000) for i in range(3)]


@pytest.fixture(autouse=True)
def reaper():
    become_reaper()
    yield
    assert nothing_left()


# ---- killed at any point -------------------------------------------------------------------------

class Counter:
    """A model that looks at the file itself and does what is still to be done."""

    def __init__(self, world, kind):
        self.world = world
        self.results = KINDS[kind][0].tool_results
        # OpenAI's chat completions have no thoughts; others' are signed and have to come back.
        self.thoughts = [] if kind == "openai" else [thought("Hm.")]

    def __call__(self, request):
        state = STATES.index(self.world.read("value.py"))
        if state == 2:
            return {"reply": [text("It is 2 now.")]}
        if not self.results(request):
            return {"reply": [*self.thoughts, text("Reading. "),
                              call("read_file", {"file_path": "value.py"})]}
        return {"reply": [
            *self.thoughts,
            call("update_file", {
                "file_path": "value.py", "old_content": "value = %d" % state,
                "new_content": "value = %d" % (state + 1),
                "base_content_sha256": hashlib.sha256(STATES[state].encode()).hexdigest()}),
            call("run_shell_command", {"command": "sleep 0.02; cat value.py | head -1"})]}


def job(world, server, *args):
    return world.start(server, "-p", "Count to 2.", "--yolo", "-o", "json", *args,
                       start_new_session=True)


def length_of_a_run(world):
    world.write("value.py", STATES[0])
    with world.fake([], auto=Counter(world, "gemini")) as server:
        start = time.monotonic()
        process = job(world, server)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and server.violations == [], err
    assert json.loads(out)["response"] == "It is 2 now."
    return time.monotonic() - start


def check_killed(world, server, delay):
    """True if it was early enough to be killed."""
    process = job(world, server)
    time.sleep(delay)
    process.kill()
    process.communicate()
    assert nothing_left()
    assert world.read("value.py") in STATES
    requests = len(server.requests)
    # A file may have been made, and killed before its first line.
    recorded = any("Count to 2." in path.read_text() for path in world.sessions())
    assert recorded or not requests, "the model was asked, and there is no session"
    done = world.command("-p", "Go on.", "--yolo", "-o", "json",
                         *(["--resume", "latest"] if recorded else []), server=server)
    assert done.code == 0, done.err
    assert done.json["response"] == "It is 2 now."
    assert server.violations == []
    assert world.read("value.py") == STATES[2]
    assert os.listdir(world.root) == ["value.py"]
    if recorded:
        # The server may get to the killed one's last request as late as now: that does not say "Go on.".
        said = [json.dumps(request.body) for request in server.requests[requests:]]
        assert "Count to 2." in next(one for one in said if "Go on." in one)
        assert len(world.sessions()) == 1
    # Of the killed one: the next that needs such a folder removes it, or one after that when time is short.
    for _ in range(20):
        if os.listdir(world.temp):
            world.run([[call("run_shell_command", {"command": "true"})], [text("Done.")]], "-p", "Go.", "--yolo")
    assert os.listdir(world.temp) == []
    return process.returncode == -signal.SIGKILL


def test_a_killed_run_can_be_resumed_from_any_point(world, tmp_path):
    points = 4 if SANITIZED else part_of(28, 4)
    # The shortest of some: on a busy machine one of them alone may take several times as long.  Runs that
    # end before they are killed say that they have become shorter.
    seconds = min(length_of_a_run(world) for _ in range(3))
    killed = 0
    for i in range(points):
        place = type(world)(tmp_path / str(i))
        place.write("value.py", STATES[0])
        kind = list(KINDS)[i % len(KINDS)]
        with place.fake([], kind, auto=Counter(place, kind)) as server:
            early = check_killed(place, server, seconds * (i + 0.5) / points)
        killed += early
        seconds *= 1 if early else 0.8
    assert killed >= points // 4


# ---- signals -------------------------------------------------------------------------------------

BUSY = "touch started; sleep 1000 & (setsid sleep 1000 &) ; sleep 1000"
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def check_signalled(world, server, number, code, ready, times=1):
    process = world.start(server, "-p", "Wait.", "--yolo", "-o", "stream-json",
                          start_new_session=True)
    wait_for(ready)
    start = time.monotonic()
    for _ in range(times):
        process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert time.monotonic() - start < 60
    assert nothing_left()
    # Whoever is ended at once removes nothing; a later session does.
    assert times > 1 or os.listdir(world.temp) == []
    return [json.loads(line) for line in out.splitlines()]


def check_result(events):
    assert events[-1]["type"] == "result" and events[-1]["status"] == "error"
    assert events[-1]["error"]["type"] == "FatalCancellationError"
    assert "stats" in events[-1]


@pytest.mark.parametrize("number,code", SIGNALS)
def test_a_signal_while_a_command_runs(world, number, code):
    with world.fake([[call("run_shell_command", {"command": BUSY})]]) as server:
        events = check_signalled(world, server, number, code,
                                 lambda: (world.root / "started").exists())
    check_result(events)
    uses = [event["tool_id"] for event in events if event["type"] == "tool_use"]
    assert uses == [event["tool_id"] for event in events if event["type"] == "tool_result"]
    assert server.violations == []


@pytest.mark.parametrize("number,code", SIGNALS[:2])
@pytest.mark.parametrize("step", [{"reply": [text("late")], "delay": 20},
                                  {"reply": [text("%d " % i) for i in range(100)], "pace": 0.2},
                                  {"status": 503, "headers": {"retry-after": "20"}}])
def test_a_signal_while_the_model_is_waited_for(world, number, code, step):
    with world.fake([step]) as server:
        check_result(check_signalled(world, server, number, code, lambda: server.requests))


def test_a_signal_while_a_hook_runs(world):
    world.settings(hooks={"BeforeTool": [{"hooks": [
        {"type": "command", "command": "touch started; " + BUSY}]}]})
    with world.fake([[call("list_directory", {"dir_path": "."})]]) as server:
        check_result(check_signalled(world, server, signal.SIGTERM, 143,
                                     lambda: (world.root / "started").exists()))


def test_a_second_signal_ends_it_at_once(world):
    with world.fake([[call("run_shell_command", {"command": BUSY})]]) as server:
        check_signalled(world, server, signal.SIGINT, 130,
                        lambda: (world.root / "started").exists(), times=2)


def beneath(pid):
    """The processes that come from this one."""
    try:
        below = [int(child) for task in os.listdir("/proc/%d/task" % pid)
                 for child in open("/proc/%d/task/%s/children" % (pid, task)).read().split()]
    except OSError:  # it has ended
        return []
    return below + [one for child in below for one in beneath(child)]


def test_an_end_that_takes_too_long_is_cut_short(world):
    """An idle worker that is stopped is waited for longer than the setting allows."""
    world.settings(hasp={"endSeconds": 1})
    steps = [{"reply": [call("run_shell_command", {"command": "true"})]},
             {"reply": [text("late")], "delay": 100}]
    with world.fake(steps) as server:
        process = world.start(server, "-p", "Wait.", "--yolo")
        wait_for(lambda: len(server.requests) == 2)
        workers = beneath(process.pid)
        assert workers
        try:
            for worker in workers:
                os.kill(worker, signal.SIGSTOP)
            process.terminate()
            _, err = process.communicate(timeout=300)
        finally:
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGCONT)
    assert process.returncode == -signal.SIGTERM, err
    assert b"The end took longer than hasp.endSeconds" in err


def test_an_end_is_cut_short_though_nobody_reads_its_messages(world):
    """Standard error is a pipe that is full."""
    world.settings(hasp={"endSeconds": 1})
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    with world.fake([{"reply": [text("late")], "delay": 100}]) as server:
        process = world.start(server, "-p", "Wait.", stderr=writer)
        wait_for(lambda: server.requests)
        process.terminate()
        assert process.wait(300) in (-signal.SIGTERM, 143)
    os.close(reader)
    os.close(writer)


def test_hooks_of_the_end_run_after_a_signal(world):
    world.settings(hooks={"SessionEnd": [{"hooks": [
        {"type": "command", "command": "sleep 0.2; cat > ended"}]}]})
    with world.fake([{"reply": [text("late")], "delay": 100}]) as server:
        process = world.start(server, "-p", "Wait.")
        wait_for(lambda: server.requests)
        process.terminate()
        _, err = process.communicate(timeout=300)
    assert process.returncode == 143, err
    assert json.loads(world.read("ended"))["hook_event_name"] == "SessionEnd"
    assert b"ended" not in err


def test_a_signal_in_json_has_its_code(world):
    with world.fake([{"reply": [text("late")], "delay": 20}]) as server:
        process = world.start(server, "-p", "Wait.", "-o", "json")
        wait_for(lambda: server.requests)
        process.terminate()
        out, err = process.communicate(timeout=300)
    error = json.loads(err)["error"]
    assert out == b"" and (process.returncode, error["code"]) == (143, 143)
    assert error["type"] == "FatalCancellationError"


def test_what_was_interrupted_can_be_resumed(world):
    steps = [[text("I wait. "), call("run_shell_command", {"command": BUSY})], [text("Resumed.")]]
    with world.fake([{"reply": step} for step in steps]) as server:
        check_signalled(world, server, signal.SIGINT, 130,
                        lambda: (world.root / "started").exists())
        done = world.command("-p", "Again.", "-r", server=server)
    assert (done.code, done.text) == (0, "Resumed.\n")
    assert server.violations == [] and "I wait." in done.said()


# ---- nobody reads --------------------------------------------------------------------------------

LINES = ["".join("%d of %d\n" % (j, i) for j in range(5000)) for i in range(20)]  # more than a pipe holds


@pytest.mark.parametrize("form, step", [
    ("text", {"reply": [text(piece) for piece in LINES]}),  # an answer that is written when it is whole
    ("stream-json", {"reply": [text("line %d\n" % i) for i in range(400)], "pace": 0.5}),  # all of it takes 200 s
], ids=["text", "stream-json"])
def test_a_reader_that_goes_away_ends_the_run(world, form, step):
    with world.fake([step]) as server:
        process = world.start(server, "-p", "Talk.", "-o", form)
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(120) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_reader_that_goes_away_ends_commands(world):
    with world.fake([[text("Now. "), call("run_shell_command", {
            "command": "touch started; sleep 1000 & wait"})]]) as server:
        process = world.start(server, "-p", "Work.", "--yolo", "-o", "text")
        wait_for(lambda: (world.root / "started").exists())
        process.stdout.close()
        # Nothing is written while the command runs, so only a signal or its end shows it.
        process.terminate()
        assert process.wait(30) in (0, 143)
        process.stderr.close()


def test_a_reader_that_stands_still_does_not_keep_a_signal_waiting(world):
    with world.fake([[text(piece) for piece in LINES]]) as server:
        process = world.start(server, "-p", "Talk.", "-o", "stream-json")
        wait_for(lambda: server.requests)
        time.sleep(0.5)  # the pipe is full by now
        assert process.poll() is None
        process.terminate()
        assert process.wait(10) == 143
        process.stdout.close()
        process.stderr.close()


def test_a_slow_reader_gets_all(world):
    with world.fake([[text(piece) for piece in LINES]]) as server:
        process = world.start(server, "-p", "Talk.")
        time.sleep(0.5)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out.decode(), err) == (0, "".join(LINES), b"")


def test_a_full_disk_on_standard_output_is_an_error(world):
    with open("/dev/full", "wb") as full, world.fake([[text("Hello.")]]) as server:
        process = world.start(server, "-p", "Talk.", stdout=full)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1 and b"No space left" in err


# ---- again and again -----------------------------------------------------------------------------

def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def is_session(path):
    return "/chats/" in path or "/tool-outputs/" in path or "/checkpoints/" in path


def test_many_runs_leave_nothing_but_sessions(world):
    world.write("a.txt", "alpha\n")
    records = [world.top / "talk.jsonl", world.top / "work.jsonl"]
    world.run([[text("Seen.")]], "-p", "Look.", "--record", records[0])
    world.run([[call("read_file", {"file_path": "a.txt"}),
                call("run_shell_command", {"command": "cat a.txt"})], [text("Seen.")]],
              "-p", "Look.", "--yolo", "--record", records[1])
    homes, sessions = tree(world.home), len(world.sessions())
    runs = 8 if SANITIZED else part_of(200, 8)
    for i in range(runs):  # each eighth works, the others talk
        done = world.command("-p", "Look.", "--yolo", "--fake-responses", records[i % 8 == 0])
        assert (done.code, done.text, done.err) == (0, "Seen.\n", "")
    assert nothing_left()
    assert tree(world.temp) == [] and tree(world.root) == ["a.txt"]
    assert len(world.sessions()) == sessions + runs
    assert [path for path in tree(world.home) if not is_session(path)] == [
        path for path in homes if not is_session(path)]
    # What is known of a workspace has room for each command that may run, and takes it when one does.
    sizes = {path: path.stat().st_blocks * 512 if path.parent.name == "guard" else path.stat().st_size
             for path in world.home.rglob("*") if path.is_file() and not is_session(str(path))}
    # What the check after a command remembers of a small workspace is a table of some pages.
    assert all(size < (65536 if path.parent.name == "guard" else 4096) for path, size in sizes.items()), sizes
    assert all(KEY not in record.read_text() for record in records)


def test_a_command_whose_worker_dies_is_told_with_its_time(world):
    """Neither nothing nor the session's."""
    steps = [[call("run_shell_command", {"command": "sleep 1"})],
             [call("run_shell_command", {"command": "sleep 0.6; kill -9 $PPID; sleep 20"})],
             [text("Done.")]]
    start = time.monotonic()
    done = world.run(steps, "-p", "x", "--yolo", "-s", "paths")
    milliseconds = (time.monotonic() - start) * 1000
    result = done.results()[-1]
    assert result["success"] is False and "died after" in result["message"]
    assert "running it again" in result["error"]["advice"]
    assert 600 <= result["duration_ms"] < milliseconds - 1000
