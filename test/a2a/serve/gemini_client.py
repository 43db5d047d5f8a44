# SPDX-License-Identifier: Apache-2.0
"""A client as those that were written for gemini-cli-a2a-server: A2A 0.3 over JSON-RPC at the root, agent
settings in the first message, confirmations as data parts.  Runs five scenarios, each with what the model
says, and takes down the shape of all that comes.

    python3 gemini_client.py MODULES >gemini_truth.json    runs the real server (npm), which is in MODULES
"""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "test" / "model"))

import fake_gemini  # noqa: E402
from fake_gemini import call, text, thought  # noqa: E402
from fake_server import FakeServer  # noqa: E402


class Client:
    def __init__(self, port, workspace, token=None):
        self.port, self.workspace = port, str(workspace)
        self.headers = {"Content-Type": "application/json"}
        self.approved = set()
        self.open = []  # the real server cancels what a task waits for when a connection closes
        if token:
            self.headers["Authorization"] = "Bearer " + token

    def ask(self, method, path, body=None):
        """(status, JSON or the events of a stream)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        answer = connection.getresponse()
        if "event-stream" in (answer.getheader("Content-Type") or ""):
            return answer.status, list(self.events(answer))
        data = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(data) if data else None
        except ValueError:
            return answer.status, data.decode()

    @staticmethod
    def events(answer):
        for line in answer:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])

    def rpc(self, method, **params):
        status, body = self.ask("POST", "/", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert status == 200, body
        return body

    def message(self, *parts, task=None, auto=False):
        message = {"kind": "message", "role": "user", "messageId": str(uuid.uuid4()), "parts": list(parts)}
        if task:
            message.update(taskId=task["taskId"], contextId=task["contextId"])
        else:
            message["metadata"] = {"coderAgent": {"kind": "agent-settings", "workspacePath": self.workspace,
                                                  "autoExecute": auto}}
        return message

    def stream(self, *parts, seen=None, **options):
        """The events of a message, of which `seen` hears each as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", "/", json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "message/stream",
            "params": {"message": self.message(*parts, **options)}}), self.headers)
        answer, all_ = connection.getresponse(), []
        if "event-stream" not in (answer.getheader("Content-Type") or ""):
            raise AssertionError(answer.read().decode())
        for event in self.events(answer):
            result = event.get("result")
            all_.append(result if result is not None else event)
            if seen and result:
                seen(result)
        self.open.append((connection, answer))
        return all_

    def approve(self, events):
        """What a client shows is approved, until nothing waits; all events."""
        while waiting := confirmations(events, self.approved):
            self.approved.update(waiting)
            events = events + self.stream(*({"kind": "data", "data": {"callId": one, "outcome": "proceed_once"}}
                                            for one in waiting), task=ids(events))
        return events


def say(words):
    return {"kind": "text", "text": words}


def ids(events):
    first = events[0]
    return {"taskId": first.get("taskId") or first["id"], "contextId": first["contextId"]}


def confirmations(events, but=()):
    """The calls that wait for an answer: {callId: data}"""
    waiting = {}
    for event in events:
        if (event.get("metadata") or {}).get("coderAgent", {}).get("kind") == "tool-call-confirmation":
            for part in event["status"]["message"]["parts"]:
                waiting[part["data"]["request"]["callId"]] = part["data"]
    return {name: data for name, data in waiting.items() if name not in but}


# ---- the five: what the model says, what the client does -----------------------------------


def scenario_text(client):
    first = client.stream(say("Say hello."))
    return first + client.stream(say("And again."), task=ids(first))


def scenario_read(client):
    return client.approve(client.stream(say("What is in notes.txt?")))


def scenario_edit(client):
    return client.approve(client.stream(say("Write the file.")))


def scenario_cancel(client):
    """Cancelled while the model is thinking about it."""
    answer = []

    def seen(event):
        if event.get("kind") == "status-update" and event["status"]["state"] == "working" and not answer:
            answer.append(None)
            threading.Thread(target=lambda: answer.append(
                client.rpc("tasks/cancel", id=event["taskId"])), daemon=True).start()

    events = client.stream(say("Wait for it."), seen=seen)
    while len(answer) < 2:
        time.sleep(0.02)
    return events + [answer[1]["result"]]


def scenario_error(client):
    return client.stream(say("Fail."))


def scenarios(workspace):
    """name, what the model says, what the client does; what is wanted of a model's server."""
    return {
        "text": ([{"reply": [thought("**Greeting** A word will do."), text("Hello "), text("there.")]},
                  {"reply": [text("Hello again.")]}], scenario_text),
        "read": ([{"reply": [text("Reading."), call("read_file", {"file_path": str(workspace / "notes.txt")})]},
                  {"reply": [text("It says mango.")]}], scenario_read),
        "edit": ([{"reply": [call("write_file", {"file_path": str(workspace / "new.txt"), "content": "papaya\n"})]},
                  {"reply": [text("Written.")]}], scenario_edit),
        "cancel": ([{"reply": [text("Thinking.")], "delay": 5}], scenario_cancel),
        "error": ([{"status": 400, "error": "The request was refused."}], scenario_error),
    }


# ---- shapes ---------------------------------------------------------------------------------


def label(event):
    """What kind of event it is: "status-update text-content working", "... tool-call-update:success"."""
    kind = event.get("kind", "error" if "error" in event else "?")
    if kind == "task":
        return "task %s" % event["status"]["state"]
    if kind == "artifact-update":
        return "artifact-update"
    status = event.get("status", {})
    what = ((event.get("metadata") or {}).get("coderAgent") or {}).get("kind", "-")
    calls = [part["data"].get("status", "") for part in (status.get("message") or {}).get("parts", [])
             if part.get("kind") == "data"]
    return " ".join([kind, what + "".join(":" + one for one in calls if one), str(status.get("state")),
                     *(["final"] if event.get("final") else [])])


def shape(value):
    """Names and types alone; of what a tool takes and returns, and of its declaration, only the type."""
    if isinstance(value, dict):
        return {name: type(one).__name__ if name in ("args", "schema", "parameterSchema", "parametersJsonSchema")
                else shape(one) for name, one in sorted(value.items())}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    return type(value).__name__


def taken_down(events):
    """[label, shape] of each; of pieces of one text that follow each other, one."""
    taken = []
    for event in events:
        one = [label(event), shape(event)]
        if not taken or taken[-1] != one or "text-content" not in one[0]:
            taken.append(one)
    return taken


# ---- the real server ------------------------------------------------------------------------


def real(modules, home, workspace, url):
    """Starts it; (process, port)."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GEMINI_CLI_HOME": str(home), "GEMINI_API_KEY": "k",
           "GOOGLE_GEMINI_BASE_URL": url, "CODER_AGENT_WORKSPACE_PATH": str(workspace),
           "GEMINI_TELEMETRY_ENABLED": "false", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
           "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    process = subprocess.Popen(["node", str(Path(modules) / "@google/gemini-cli-a2a-server/dist/src/http/server.js")],
                               env=env, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if os.environ.get("SHOW"):
            sys.stderr.write(line)
        if "Agent Server started on" in line:
            port = int(line.rsplit(":", 1)[1].split('"')[0].split()[0].rstrip("/"))
            threading.Thread(target=lambda: [sys.stderr.write(one) if os.environ.get("SHOW") else None
                                             for one in process.stdout], daemon=True).start()
            return process, port
    raise SystemExit("the server did not start")


class Provider(fake_gemini.Provider):
    """Takes what the real server's requests have that the real API would not."""

    def check(self, request):
        super().check(request)
        return []


def workspace_in(top):
    workspace = Path(top) / "work"
    workspace.mkdir(parents=True)
    (workspace / "notes.txt").write_text("mango\n")
    return workspace


def main(modules):
    truth = {}
    for name in scenarios(Path("/")):
        with tempfile.TemporaryDirectory() as top:
            home, workspace = Path(top) / "home", workspace_in(top)
            home.mkdir()
            script, run = scenarios(workspace)[name]
            with FakeServer(Provider(), script) as server:
                process, port = real(modules, home, workspace, server.url)
                try:
                    events = run(Client(port, workspace))
                finally:
                    process.kill()
                    process.wait()
            if os.environ.get("SHOW"):
                json.dump(events, sys.stderr, indent=1)
                print(server.violations, file=sys.stderr)
            truth[name] = taken_down(events)
    json.dump(truth, sys.stdout, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
