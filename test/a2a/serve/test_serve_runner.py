# SPDX-License-Identifier: Apache-2.0
"""Tasks whose agents are processes elsewhere (--runner): what becomes of them when these are killed, and what comes from the
other end that hasp would not send."""
import contextlib
import json
import os
import shlex
import signal
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from serving import asks, headless, rules, serve

from fake_gemini import call, text

HERE = Path(__file__).resolve().parent
FAR_END = [sys.executable, str(HERE / "far_end.py")]
V1 = {"A2A-Version": "1.0"}
COMPLETED, FAILED, CANCELED = "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"
WORKING, ASKED = "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED"
WRITE = call("write_file", {"file_path": "new.txt", "content": "made\n"})


@contextlib.contextmanager
def fleet(world, model, runner="env", *flags, env=None, runner_settings=None, **options):
    """A server whose agents the words of `runner` start; `lines` are what it prints for its user."""
    path = "%s:%s" % (os.path.dirname(headless.HASP), os.environ["PATH"])
    settings = {"runner": runner_settings} if runner_settings else {}
    words = runner if isinstance(runner, str) else json.dumps(runner)
    with serve(
        world,
        model,
        "--runner",
        words,
        *flags,
        env={"PATH": path, **(env or {})},
        **options,
        **settings,
    ) as served:
        served.lines = []
        reader = threading.Thread(
            target=lambda: served.lines.extend(served.process.stderr), daemon=True
        )
        reader.start()
        try:
            yield served
        finally:
            served.process.terminate()
            served.process.wait(timeout=120)
            reader.join(timeout=120)
    assert headless.nothing_left()


def send(served, words="Do it.", configuration=None, **message):
    status, answer = served.ask(
        "POST",
        "/message:send",
        {
            "message": {
                "messageId": str(uuid.uuid4()),
                "role": "ROLE_USER",
                "parts": [{"text": words}],
                **message,
            },
            "configuration": configuration or {},
        },
        **V1,
    )
    assert status == 200, answer
    return answer["task"]


def begin(served, words="Do it.", **message):
    return send(served, words, {"returnImmediately": True}, **message)


def get(served, task):
    return served.ask("GET", "/tasks/" + task["id"], **V1)[1]


def until(served, task, *states):
    """The task when it has such a state."""
    end = time.monotonic() + 120
    while (now := get(served, task))["status"]["state"] not in states:
        assert time.monotonic() < end, now["status"]
        time.sleep(0.05)
    return now


def said(task):
    return " ".join(
        part.get("text", "") for part in task["status"].get("message", {}).get("parts", ())
    )


def with_pid(world):
    """A runner that writes the process's number to a file, and how to kill what it started last."""
    file = world.top / "pid"
    return [
        "sh",
        "-c",
        'echo $$ > %s; exec "$@"' % shlex.quote(str(file)),
        "sh",
    ], lambda *_: os.kill(int(file.read_text()), signal.SIGKILL)


# ---- a task elsewhere


def test_a_task_is_carried_out_by_a_process_that_the_runner_starts(world):
    rules(world)
    seen = world.top / "seen"
    runner = ["sh", "-c", 'printf \'%%s\\n\' "$@" > %s; exec "$@"' % seen, "sh"]
    with world.fake(
        [[WRITE], [text("Written.")], [text("Again.")]], append_only=False
    ) as model, fleet(
        world, model, runner, "--ignore-env", "--approval-mode", "default", "--tasks", "2"
    ) as served:
        task = send(served)
        assert (task["status"]["state"], said(task)) == (COMPLETED, "Written.")
        assert world.read("new.txt") == "made\n"
        edits = [one for one in task["artifacts"] if one["artifactId"] == "edits"]
        assert edits[0]["parts"][0]["data"]["edits"][0]["file_path"] == str(world.root / "new.txt")
        words = seen.read_text().split("\n")
        assert words[:4] == ["hasp", "serve", "a2a", "--stdio"]
        assert words[words.index("--workspace") + 1] == str(world.root)
        assert words[-3:-1] == ["--ignore-env", "--approval-mode=default"]
        # The session is one: its next task is the next process's.
        again = send(served, "And now?", contextId=task["contextId"])
        assert (again["status"]["state"], said(again)) == (COMPLETED, "Again.")
        assert "Do it." in json.dumps(model.requests[-1].body)
        assert len(world.sessions()) == 1
        assert {one["id"] for one in served.ask("GET", "/tasks", **V1)[1]["tasks"]} == {
            task["id"],
            again["id"],
        }
    with world.fake([], append_only=False) as model, fleet(world, model) as served:
        assert get(served, task)["status"]["state"] == COMPLETED
        assert len(served.ask("GET", "/tasks", **V1)[1]["tasks"]) == 2


def test_what_a_caller_may_do_is_judged_there(world):
    with world.fake([[WRITE], [text("Refused.")]], append_only=False) as model, fleet(
        world, model
    ) as served:
        task = send(served)
    assert task["status"]["state"] == COMPLETED and "No rule lets the caller" in said(task)
    assert not (world.root / "new.txt").exists()


@pytest.mark.parametrize(
    "confirms, answer, made", [(True, "yes", True), (True, "no", False), (False, None, False)]
)
def test_a_question_goes_to_those_who_may_answer_here(world, confirms, answer, made):
    asks(world)
    with world.fake([[WRITE], [text("Ready.")]], append_only=False) as model, fleet(
        world, model, confirms=confirms
    ) as served:
        task = send(served)
        if answer:
            assert task["status"]["state"] == ASKED
            assert task["status"]["message"]["parts"][-1]["data"]["hasp"]["question"][
                "outcomes"
            ] == ["proceed_once", "cancel"]
            task = send(served, "always", taskId=task["id"])
            assert task["status"]["state"] in (ASKED, WORKING) and until(served, task, ASKED)
            task = send(served, answer, taskId=task["id"])
        assert until(served, task, COMPLETED, CANCELED)
    assert (world.root / "new.txt").exists() == made


def test_words_for_a_task_under_way_reach_it(world):
    """The model looks for one file after the other until it has heard them."""
    asked, count = threading.Event(), iter(range(1000))

    def auto(request):
        asked.set()
        heard = "Mind the comma." in json.dumps(request.body)
        return {
            "delay": 0.1,
            "reply": [text("Heard.") if heard else call("glob", {"pattern": "*.%d" % next(count)})],
        }

    with world.fake([], append_only=False, auto=auto) as model, fleet(world, model) as served:
        task = begin(served)
        asked.wait(120)
        begin(served, "Mind the comma.", taskId=task["id"])
        assert said(until(served, task, COMPLETED, FAILED)) == "Heard."
    assert [one["parts"][0]["text"] for one in get_history(world)] == ["Do it.", "Mind the comma."]


def get_history(world):
    lines = [json.loads(line) for line in world.sessions()[0].read_text().splitlines()]
    tasks = [one["hasp"]["a2aTask"] for one in lines if "a2aTask" in one.get("hasp", {})]
    return [*tasks[0]["task"]["history"], *(one["said"] for one in tasks if "said" in one)]


def test_clients_of_gemini_clis_server(world):
    settings = {"coderAgent": {"kind": "agent-settings", "workspacePath": str(world.root)}}
    with world.fake([[text("One.")], [text("Two.")]], append_only=False) as model, fleet(
        world, model
    ) as served:
        task = send(served, "First.", metadata=settings)
        assert task["status"]["state"] == ASKED
        again = send(served, "Second.", taskId=task["id"])
        assert again["id"] == task["id"] and until(served, task, ASKED)
        assert len(model.requests) == 2 and "First." in json.dumps(model.requests[1].body)
        events = served.ask("GET", "/tasks/" + task["id"] + "/metadata", **V1)
        assert events[0] == 200


def test_a_workspace_with_blanks_and_quotes_by_ssh(world):
    """ssh joins its words for a shell over there, as this one does."""
    folder = world.top / "bin"
    folder.mkdir()
    (folder / "ssh").write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    (folder / "ssh").chmod(0o755)
    odd = world.top / 'it\'s a $(touch canary) "place"'
    odd.mkdir()
    with world.fake([[text("Here.")]], append_only=False) as model, fleet(
        world, model, [str(folder / "ssh"), "host"], "--workspace", odd
    ) as served:
        assert said(send(served)) == "Here."
    assert not (world.root / "canary").exists() and not list(world.top.rglob("canary"))


# ---- agents that are lost


def test_killed_before_an_edit_it_goes_on_elsewhere(world):
    rules(world)
    runner, kill = with_pid(world)
    script = [{"expect": kill, "reply": [WRITE]}, [WRITE], [text("Written.")]]
    with world.fake(script, append_only=False) as model, fleet(world, model, runner) as served:
        task = send(served)
        assert (task["status"]["state"], said(task)) == (COMPLETED, "Written."), task["status"]
        assert task["metadata"]["hasp"]["attempts"] == 2
        continued = json.dumps(model.requests[1].body)
        assert "you continue in its place" in continued and "Do it." in continued
    assert world.read("new.txt") == "made\n" and len(world.sessions()) == 1
    assert any("It was ended by SIGKILL." in line for line in served.lines), served.lines


GROW = ("count.txt", "n\n", "n\nn\n")


def grow(sha):
    """An edit that could be made again and again, but for the hash."""
    return call(
        "update_file",
        {
            "file_path": GROW[0],
            "old_content": "n\n",
            "new_content": "n\nn\n",
            "base_content_sha256": sha,
        },
    )


def edits_of(world):
    """What the record says of edits that were made, the last of each call."""
    calls = {}
    for line in world.sessions()[0].read_text().splitlines():
        message = json.loads(line)
        for one in message.get("toolCalls", ()):
            calls[one["id"]] = (one["name"], one["status"])
    return [one for one in calls.values() if one[0] == "update_file"]


def test_killed_after_an_edit_it_is_not_made_twice(world):
    rules(world, allow=("update_file",))
    sha = world.write(*GROW[:2])
    runner, kill = with_pid(world)
    script = [
        [grow(sha)],
        {"expect": kill, "reply": [text("Lost.")]},
        [grow(sha)],
        [text("It was there.")],
    ]
    with world.fake(script, append_only=False) as model, fleet(world, model, runner) as served:
        task = send(served)
        assert (task["status"]["state"], said(task)) == (COMPLETED, "It was there."), task["status"]
        results = json.dumps(model.requests[-1].body)
    assert world.read(GROW[0]) == GROW[2] and "state_mismatch" in results


def test_killed_between_an_edit_and_its_record_it_is_not_made_twice(world):
    rules(world, allow=("update_file",))
    sha = world.write(*GROW[:2])
    runner, _ = with_pid(world)
    once = "test -e %s/once || { touch %s/once; kill -9 $(cat %s/pid); }" % (
        (shlex.quote(str(world.top)),) * 3
    )
    hooks = {"AfterTool": [{"matcher": "*", "hooks": [{"type": "command", "command": once}]}]}
    write = world.settings
    world.settings = lambda **settings: write(hooks=hooks, **settings)
    script = [[grow(sha)], [grow(sha)], [text("It was there.")]]
    with world.fake(script, append_only=False) as model, fleet(world, model, runner) as served:
        task = send(served)
        assert (task["status"]["state"], said(task)) == (COMPLETED, "It was there."), task["status"]
        assert task["metadata"]["hasp"]["attempts"] == 2
        results = json.dumps(model.requests[-1].body)
    assert world.read(GROW[0]) == GROW[2] and "state_mismatch" in results


def test_a_record_that_is_open_elsewhere_is_waited_for(world):
    """The process that ended was only the way to the agent, which stands still, and is not over."""
    pids = world.top / "pids"
    runner = [
        "sh",
        "-c",
        'exec 3<&0; "$@" <&3 & echo $$ $! > %s; wait' % shlex.quote(str(pids)),
        "sh",
    ]
    stopped, agent = threading.Event(), []

    def cut(*_):
        way, pid = map(int, pids.read_text().split())
        agent.append(pid)
        os.kill(pid, signal.SIGSTOP)
        os.kill(way, signal.SIGKILL)
        stopped.set()

    script = [{"expect": cut, "reply": [text("Lost.")]}, [text("Mine again.")]]
    with world.fake(script, append_only=False) as model, fleet(world, model, runner) as served:
        task = begin(served)
        stopped.wait(120)
        while not any("SIGKILL" in line for line in served.lines):
            time.sleep(0.05)
        time.sleep(1.5)  # it looks at the lock meanwhile
        assert get(served, task)["status"]["state"] == WORKING and len(model.requests) == 1
        os.kill(agent[0], signal.SIGCONT)
        assert said(until(served, task, COMPLETED, FAILED)) == "Mine again."


def test_after_the_last_attempt_the_task_says_why(world):
    with world.fake([], append_only=False) as model, fleet(
        world,
        model,
        ["sh", "-c", "echo 'no nodes' \033[2J >&2; exit 3"],
        runner_settings={"attempts": 2},
    ) as served:
        task = send(served)
    assert task["status"]["state"] == FAILED
    assert "attempt 2 of 2" in said(task) and "no nodes" not in json.dumps(task)
    printed = "".join(served.lines)
    assert "exit code 3" in printed and "no nodes" in printed and "\033" not in printed
    task = None
    with world.fake([], append_only=False) as model, fleet(world, model, "/none/such") as served:
        task = send(served)
    assert task["status"]["state"] == "TASK_STATE_REJECTED" and "cannot be started" in said(task)
    assert "/none/such" in "".join(served.lines)


# ---- the other end breaks the rules


@pytest.mark.parametrize(
    "what, words",
    [
        ("version", "speaks version 2"),
        ("no version", "does not say"),
        ("no runner", "does not say"),
        ("no session", "GEMINI_CLI_HOME"),
        ("no card", "does not say"),
    ],
)
def test_another_program_at_the_other_end_is_refused_in_words(world, what, words):
    with world.fake([], append_only=False) as model, fleet(
        world, model, [*FAR_END, what]
    ) as served:
        task = send(served)
    assert task["status"]["state"] == FAILED and words in said(task), task["status"]
    assert "\033" not in "".join(served.lines)


def test_what_the_other_end_sends_is_read_strictly(world):
    wrong = {
        "foreign context": "does not have",
        "foreign task": "does not have",
        "two tasks": "does not have",
        "no task": "does not have",
        "unknown state": "A2A 1.0",
        "no event": "A2A 1.0",
        "a message": "without a task",
        "early end": "ended its report",
        "a request": "is no answer",
        "another id": "is no answer",
        "not asked": "is no answer",
        "duplicate names": "not JSON",
        "both": "is no answer",
        "batch": "is no answer",
        "garbage": "not JSON",
        "terminal": "did not take the task",
        "huge line": "16777216 bytes",
        "endless": "64 MiB",
        "nested": "not JSON",
    }
    with world.fake([], append_only=False) as model, fleet(
        world, model, [*FAR_END, "task"], "--tasks", "8"
    ) as served:
        tasks = {what: begin(served, what) for what in wrong}
        ends = {
            what: until(served, task, FAILED, COMPLETED, CANCELED) for what, task in tasks.items()
        }
    assert all(one["status"]["state"] == FAILED for one in ends.values())
    assert {what: said(one) for what, one in ends.items() if wrong[what] not in said(one)} == {}
    assert "\033" not in "".join(served.lines) and "\u202e" not in "".join(served.lines)


@pytest.mark.parametrize(
    "runner, limits, words",
    [
        (["sh", "-c", "exec sleep 1000"], {"startSeconds": 1}, "did not start in time"),
        ([*FAR_END, "task"], {}, "has not answered for too long"),
    ],
)
def test_what_says_nothing_is_given_up(world, runner, limits, words):
    limits = {"attempts": 1, "silenceSeconds": 1, **limits}
    with world.fake([], append_only=False) as model, fleet(
        world, model, runner, runner_settings=limits
    ) as served:
        task = send(served, "silence")
        assert task["status"]["state"] == FAILED and words in said(task)


# ---- its end


def test_a_cancel_travels(world):
    asked, go = threading.Event(), threading.Event()
    step = {"reply": [text("Late.")], "wait": lambda: (asked.set(), go.wait(120))}
    with world.fake([step], append_only=False) as model, fleet(world, model) as served:
        task = begin(served)
        asked.wait(120)
        status, ended = served.ask("POST", "/tasks/%s:cancel" % task["id"], {}, **V1)
        go.set()
        assert status == 200 and ended["status"]["state"] == CANCELED
    with world.fake([], append_only=False) as model, fleet(
        world, model, ["sh", "-c", "exec sleep 1000"]
    ) as served:
        task = begin(served)
        until(served, task, WORKING)
        status, ended = served.ask("POST", "/tasks/%s:cancel" % task["id"], {}, **V1)
        assert status == 200 and ended["status"]["state"] == CANCELED


@pytest.mark.parametrize("how", ["drain", "interrupt", "kill"])
def test_the_server_ends(world, how):
    asked, go = threading.Event(), threading.Event()
    step = {"reply": [text("In time.")], "wait": lambda: (asked.set(), go.wait(120))}
    with world.fake([step], append_only=False) as model, fleet(world, model) as served:
        task = begin(served)
        asked.wait(120)
        served.process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
        if how == "interrupt":
            time.sleep(0.2)
            served.process.send_signal(signal.SIGINT)
        if how != "drain":
            served.process.wait(timeout=120)
            assert headless.nothing_left()  # the agent ends with its input
        go.set()
        served.process.wait(timeout=120)
    with world.fake([], append_only=False) as model, fleet(world, model) as served:
        ended = get(served, task)
    assert (ended["status"]["state"], said(ended)) == {
        "drain": (COMPLETED, "In time."),
        "interrupt": (
            FAILED,
            "The server was shut down while this task was under way. Send another message with this "
            "contextId to continue.",
        ),
        "kill": (
            FAILED,
            "The server stopped while this task was under way. Edits that were made before are kept; send "
            "another message with this contextId to continue.",
        ),
    }[how]


# ---- flags


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--runner", "srun", "--stdio"], "exclude"),
        (["--runner", "srun", "--web"], "exclude"),
        (["--runner", "'srun"], "--runner"),
        (["--runner", ""], "--runner"),
        (["--context", "x"], "--stdio"),
        (["--stdio", "--context", "../x"], "id of a session"),
        (
            ["--stdio", "--context", "x", "--workspace", "/", "--workspace", "/tmp"],
            "one --workspace",
        ),
    ],
)
def test_flags_that_cannot_be(world, flags, words):
    done = world.command("serve", "a2a", *flags)
    assert done.code == 2 and words in done.err, done.err
