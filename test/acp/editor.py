# SPDX-License-Identifier: Apache-2.0
"""An editor: a client of `hasp acp`, over the official SDK or (`raw`) by itself.

    with editor.Editor(world, server) as ed:
        session = ed.new()
        ed.on("session/request_permission", ed.choose("proceed_once"))
        assert session.prompt("go")["stopReason"] == "end_turn"
        session.updates("tool_call")

Each message of hasp's is checked against the schema that the SDK's package has.
"""
import functools
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib")]
import npm_peers  # noqa: E402

SECONDS = 120


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]


@functools.cache
def schema():
    path = npm_peers.folder("acp") / "node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"
    return json.loads(path.read_text())


@functools.cache
def definition(kind, method):
    """The validator of `kind` ("Request", "Response", "Notification") of a method."""
    for name, row in schema()["$defs"].items():
        if row.get("x-method") == method and name.endswith(kind):
            return jsonschema.Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": schema()["$defs"]})
    raise AssertionError("the protocol has no %s of %s" % (kind, method))


def check(message, asked):
    """A message of the agent's; `asked`: the method that it answers."""
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        kind = "Request" if "id" in message else "Notification"
        definition(kind, message["method"]).validate(message.get("params"))
        assert set(message) <= {"jsonrpc", "id", "method", "params"}, message
    elif "error" in message:
        assert set(message) == {"jsonrpc", "id", "error"}, message
        assert isinstance(message["error"]["code"], int) and message["error"]["message"], message
    else:
        definition("Response", asked).validate(message["result"])
        assert set(message) == {"jsonrpc", "id", "result"}, message


class Session:
    def __init__(self, editor, id, answer):
        self.editor, self.id, self.answer = editor, id, answer

    def begin(self, *blocks, **more):
        """Sends a prompt; its id."""
        blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return self.editor.send("session/prompt", sessionId=self.id, prompt=blocks, **more)

    def prompt(self, *blocks, **more):
        return self.editor.result(self.begin(*blocks, **more))

    def cancel(self):
        self.editor.notify("session/cancel", sessionId=self.id)

    def close(self):
        return self.editor.request("session/close", sessionId=self.id)

    def updates(self, *kinds):
        """Those that came so far."""
        return [message["params"]["update"] for message in self.editor.heard
                if message.get("method") == "session/update" and message["params"]["sessionId"] == self.id
                and (not kinds or message["params"]["update"]["sessionUpdate"] in kinds)]

    def said(self, kind="agent_message_chunk"):
        return "".join(update["content"]["text"] for update in self.updates(kind))

    def call(self, id):
        """What the client knows of a tool call: the first update, and what the others changed."""
        known = {}
        for update in self.updates("tool_call", "tool_call_update"):
            if update["toolCallId"] == id:
                known.update(update)
        return known


class Editor:
    def __init__(self, world, server=None, *arguments, raw=False, capabilities=None, env=None, name="acp", begin=True,
                 version=1):
        argv = world.argv(server, arguments, env)
        argv.insert(1, name)
        self.world, self.raw, self.last, self.rest = world, raw, 0, b""
        self.heard, self.asked, self.answers, self.handlers = [], {}, {}, {}
        self.capabilities = capabilities or {}
        environment = world.environment(server, **(env or {}))
        if not raw:
            chosen = {"home": str(npm_peers.folder("acp")), "command": argv, "cwd": str(world.root)}
            argv = [npm_peers.node(), str(Path(__file__).with_name("sdk_client.mjs")), json.dumps(chosen)]
        self.process = subprocess.Popen(argv, cwd=world.root, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        if begin:
            self.agent = self.request("initialize", protocolVersion=version, clientCapabilities=self.capabilities,
                                      clientInfo={"name": "tests", "version": "1"})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0]:
            self.process.kill()
            self.process.wait()
        else:
            assert self.end() == 0

    def end(self):
        """Closes its end; the exit code."""
        if self.process.stdin.closed:
            return self.process.wait(SECONDS)
        self.process.stdin.close()
        while self.receive(may_end=True):
            pass
        return self.process.wait(SECONDS)

    # ---- messages

    def write(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, method, **params):
        self.last += 1
        self.asked[self.last] = method
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def notify(self, method, **params):
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def line(self, may_end):
        end = time.monotonic() + SECONDS
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.process.stdout], [], [], left)[0], "nothing comes"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                assert may_end and not self.rest, "it ended: %r" % self.rest
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def receive(self, may_end=False):
        """The next message, checked, kept and answered; None: the end."""
        line = self.line(may_end)
        if line is None:
            return None
        message = json.loads(line)
        if "method" not in message:
            check(message, self.asked.get(message["id"]))
            self.answers[message["id"]] = message
            return message
        check(message, None)
        self.heard.append(message)
        handler = self.handlers.get(message["method"])
        if handler and "id" in message:
            answer = handler(message["params"])
            if answer is not None:
                self.write({"jsonrpc": "2.0", "id": message["id"], **answer})
        return message

    def result(self, id):
        while id not in self.answers:
            self.receive()
        answer = self.answers.pop(id)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def request(self, method, **params):
        return self.result(self.send(method, **params))

    def wait(self, method, count=1):
        """The last of `count` messages of this method."""
        while True:
            found = [message for message in self.heard if message["method"] == method]
            if len(found) >= count:
                return found[count - 1]
            self.receive()

    def wait_update(self, kind, count=1):
        while True:
            found = [message["params"]["update"] for message in self.heard if message["method"] == "session/update"
                     and message["params"]["update"]["sessionUpdate"] == kind]
            if len(found) >= count:
                return found[count - 1]
            self.receive()

    # ---- answers

    def on(self, method, handler):
        """`handler(params)` returns {"result": ...}, {"error": ...}, or None: no answer."""
        self.handlers[method] = handler
        return self

    @staticmethod
    def chosen(option):
        return {"result": {"outcome": {"outcome": "selected", "optionId": option}}}

    def choose(self, option):
        return lambda params: self.chosen(option)

    def new(self, folder=None, servers=(), **more):
        answer = self.request("session/new", cwd=str(folder or self.world.root), mcpServers=list(servers), **more)
        return Session(self, answer["sessionId"], answer)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)
