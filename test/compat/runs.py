# SPDX-License-Identifier: Apache-2.0
"""All runs of both programs, once for all tests: runs.all_of(folder)[NAME][PROGRAM].

Where Gemini CLI only ends with a code or an error, it runs with HASP_TESTS=all; its result is None without.
"""
from concurrent.futures import ThreadPoolExecutor

from programs import Program  # also finds fake_gemini for the next

import conversation
import part
from conversation import EDIT, READ, REFUSED, turn


def whole(program):
    return program.run(conversation.steps(), "-p", "Work.", "-o", "stream-json")


def editing(program):
    names = {"BeforeModel": "request", "AfterModel": "reply", "BeforeToolSelection": "narrow"}
    program.settings(hooks={event: [{"hooks": [{
        "type": "command", "name": name,
        "command": "sh $GEMINI_PROJECT_DIR/tools/hook.sh " + name}]}]
        for event, name in names.items()})
    return program.run(conversation.editing(), "-p", conversation.MENTION, "-o", "json",
                       "--approval-mode", "auto_edit", stdin=conversation.PIPED)


def limited(program):
    program.settings(model={"name": "gemini-2.5-pro", "maxSessionTurns": 1})
    return program.run(turn("Never asked for.", READ), "-p", "Go on.")


def refused(program):
    return program.run(REFUSED, "-p", "Hello.", "-o", "json")


def untrusted(program):
    return program.run(turn("Read.", READ), "-p", "Hello.",
                       env={"GEMINI_CLI_TRUST_WORKSPACE": "false"})


def resumed(program):
    """One session in one place: hasp begins it, Gemini CLI goes on, hasp ends it."""
    if program.name == "gemini":
        return None
    first = program.run(turn("First answer.", READ), "-p", "First question.", "-o", "json")
    second = program.run(turn("Second answer.", EDIT), "-p", "Second question.",
                         "--resume", "latest", program="gemini")
    third = program.run(turn("Third answer.", READ), "-p", "Third question.",
                        "--resume", "latest")
    return [first, second, third]


ALL = [whole, editing, resumed, limited, refused, untrusted]
ENDS = [limited, refused, untrusted]  # of Gemini CLI at once


def all_of(folder):
    programs = {(run.__name__, name): Program(name, folder / run.__name__)
                for run in ALL for name in ("gemini", "hasp")}
    with ThreadPoolExecutor(2) as pool:  # a run of Gemini CLI takes some hundred megabytes
        started = {(run.__name__, name): pool.submit(run, programs[run.__name__, name])
                   for run in ALL for name in ("gemini", "hasp")
                   if name == "hasp" or run not in ENDS or part.ALL}
    ended = {way: one.result() for way, one in started.items()}
    return {run.__name__: {name: ended.get((run.__name__, name)) for name in ("gemini", "hasp")} for run in ALL}
