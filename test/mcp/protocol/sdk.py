# SPDX-License-Identifier: Apache-2.0
"""The official SDK's client as an object; the other end of sdk_client.mjs.

    with Sdk(2, mode="2026-07-28", command=[HASP, "serve", "mcp"], cwd=folder) as client:
        client.do("tools")["tools"]
        call = client.begin("call", name="read_file", arguments={...})
        client.finish(call)             # raises SdkError with the client's own error
        client.event("progress", of=call)

Clients of one version of the SDK live in one process, a Host, which is started by the first of
them.  sdk.end_hosts() ends these processes, and fails where one does not end well.
"""

import json
import queue
import subprocess
import threading
from pathlib import Path

import npm_peers

SECONDS = 120


class SdkError(Exception):
    """What the client threw."""

    def __init__(self, error):
        super().__init__("%s %s: %s" % (error.get("name"), error.get("code"), error["message"]))
        self.code, self.data = error.get("code"), error.get("data")


class Host:
    """The process of all clients of one version."""

    running = {}  # by version of the SDK

    @classmethod
    def of(cls, sdk):
        if sdk not in cls.running:
            cls.running[sdk] = cls(sdk)
        return cls.running[sdk]

    def __init__(self, sdk):
        self._sdk, self._clients, self._last = sdk, {}, 0
        self._process = subprocess.Popen(
            [npm_peers.node(), Path(__file__).with_name("sdk_client.mjs"),
             json.dumps({"home": str(npm_peers.folder("sdk")), "sdk": sdk})],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            message = json.loads(line)
            if message["client"] in self._clients:
                self._clients[message["client"]].put(message)
        for lines in list(self._clients.values()):
            lines.put(None)

    def join(self, lines, options):
        """Opens a client whose messages go to the queue `lines`; its number."""
        self._last += 1
        self._clients[self._last] = lines
        self.tell(self._last, open=options)
        return self._last

    def leave(self, client):
        self._clients.pop(client, None)

    def tell(self, client, **message):
        self._process.stdin.write(json.dumps({"client": client, **message}) + "\n")
        self._process.stdin.flush()

    def kill(self):
        """Ends it with all its clients; the next client gets another process."""
        self.running.pop(self._sdk, None)
        self._process.kill()
        self._process.wait()

    def end(self):
        self.running.pop(self._sdk, None)
        self._process.stdin.close()
        try:
            assert self._process.wait(timeout=SECONDS) == 0
        finally:
            self._process.kill()


def end_hosts():
    for host in list(Host.running.values()):
        host.end()


class Sdk:
    def __init__(self, sdk, mode=None, **options):
        if mode and mode not in ("auto", "legacy"):
            mode = {"pin": mode}
        self._answers, self._lines, self._last = {}, queue.Queue(), 0
        self.events = []  # those that nobody waited for yet
        self._host = Host.of(sdk)
        self._number = self._host.join(self._lines, {"mode": mode, **options})

    def _next(self):
        """Takes one line in; false when there will be no more."""
        try:
            message = self._lines.get(timeout=SECONDS)
        except queue.Empty:
            raise AssertionError("the SDK's client is silent; events: %s" % self.events) from None
        if message is None:
            return False
        del message["client"]
        if "event" in message:
            self.events.append(message)
        else:
            self._answers[message["id"]] = message
        return True

    def __enter__(self):
        self._next()
        if self.events != [{"event": "connected"}]:
            self._host.kill()
        assert self.events == [{"event": "connected"}], self.events
        self.events.clear()
        return self

    def __exit__(self, kind, *_):
        ended = False
        try:
            if kind is None:
                self.do("end")
                ended = True
                assert self.seen("error") == []
        finally:
            self._host.leave(self._number)
            if not ended:
                self._host.kill()  # whatever state it is in

    def begin(self, what, **arguments):
        self._last += 1
        self._host.tell(self._number, id=self._last, do=what, **arguments)
        return self._last

    def finish(self, call):
        while call not in self._answers:
            assert self._next(), "the SDK's client ended"
        answer = self._answers.pop(call)
        if "error" in answer:
            raise SdkError(answer["error"])
        return answer.get("result")

    def do(self, what, **arguments):
        return self.finish(self.begin(what, **arguments))

    def event(self, name, **members):
        """Waits for an event that has these members, and takes it out."""
        while True:
            for i, event in enumerate(self.events):
                if event["event"] == name and \
                        all(event.get(key) == value for key, value in members.items()):
                    return self.events.pop(i)
            assert self._next(), "the SDK's client ended"

    def seen(self, name):
        """The events of this name that have come and were not taken."""
        return [event for event in self.events if event["event"] == name]
