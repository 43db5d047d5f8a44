# SPDX-License-Identifier: Apache-2.0
"""The other end of --runner that breaks the rules: what the task says is what it does wrong."""
import json
import sys

CONTEXT = sys.argv[sys.argv.index("--context") + 1]
URI = "hasp:runner"


def send(line):
    sys.stdout.write(line if isinstance(line, str) else json.dumps(line) + "\n")
    sys.stdout.flush()


def answer(id, result):
    send({"jsonrpc": "2.0", "id": id, "result": result})


def card(protocol=1, session=True, uri=URI, version="9.9.9"):
    return {
        "name": "hasp",
        "version": version,
        "capabilities": {
            "extensions": [{"uri": uri, "params": {"protocol": protocol, "session": session}}]
        },
    }


def task(id="far-1", context=CONTEXT):
    return {"task": {"id": id, "contextId": context, "status": {"state": "TASK_STATE_SUBMITTED"}}}


def status(state="TASK_STATE_WORKING", id="far-1", context=CONTEXT, **more):
    return {
        "statusUpdate": {"taskId": id, "contextId": context, "status": {"state": state, **more}}
    }


def endless():
    answer("task", task())
    text = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x" * (1 << 20)}]}
    while True:
        answer("task", status(message=text))


def nested():
    answer("task", task())
    value = {}
    for _ in range(200):
        value = {"a": value}
    answer("task", {"statusUpdate": {**status()["statusUpdate"], "metadata": value}})


TASKS = {
    "foreign context": lambda: answer("task", task(context="another")),
    "foreign task": lambda: (
        answer("task", task()),
        answer("task", status("TASK_STATE_COMPLETED", id="far-2")),
    ),
    "two tasks": lambda: (answer("task", task()), answer("task", task("far-2"))),
    "no task": lambda: answer("task", status()),
    "unknown state": lambda: (answer("task", task()), answer("task", status("TASK_STATE_DONE"))),
    "no event": lambda: answer("task", {"kind": "task"}),
    "a message": lambda: answer(
        "task", {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}
    ),
    "early end": lambda: (answer("task", task()), answer("task", None)),
    "a request": lambda: send({"jsonrpc": "2.0", "id": "task", "method": "GetTask", "params": {}}),
    "another id": lambda: answer("other", task()),
    "not asked": lambda: answer("cancel", {}),
    "duplicate names": lambda: send(
        '{"jsonrpc": "2.0", "id": "task", "id": "task", "result": null}\n'
    ),
    "both": lambda: send(
        {"jsonrpc": "2.0", "id": "task", "result": {}, "error": {"code": 1, "message": "x"}}
    ),
    "batch": lambda: send([{"jsonrpc": "2.0", "id": "task", "result": task()}]),
    "garbage": lambda: send("Welcome to node 7!\n"),
    "terminal": lambda: send(
        {"jsonrpc": "2.0", "id": "task", "error": {"code": 1, "message": "\x1b[2J\u202enot me"}}
    ),
    "huge line": lambda: send("x" * (17 << 20)),
    "endless": endless,
    "nested": nested,
    "silence": lambda: answer("task", task()),
}
HELLOS = {
    "version": card(protocol=2),
    "no version": card(version="\x1b[2J"),
    "no runner": card(uri="other"),
    "no session": card(session=False),
    "no card": None,
}

for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "GetExtendedAgentCard":
        answer("hello", HELLOS.get(sys.argv[1], card()))
    elif request["method"] == "SendStreamingMessage":
        words = request["params"]["message"]["parts"][0]["text"]
        TASKS[words]()
        if words == "silence":
            break
for line in sys.stdin:  # nothing is answered any more
    pass
