# SPDX-License-Identifier: Apache-2.0
"""The official SDK's client as an object; the other end of sdk_client.mjs.

    with Sdk(2, mode="2026-07-28", command=[HASP, "serve", "mcp"], cwd=folder) as client:
        client.do("tools")["tools"]
        call = client.begin("call", name="read_file", arguments={...})
        client.finish(call)             # raises SdkError with the client's own error
        client.event("progress", of=call)
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


class Sdk:
    def __init__(self, sdk, mode=None, **options):
        if mode and mode not in ("auto", "legacy"):
            mode = {"pin": mode}
        given = {"home": str(npm_peers.folder("sdk")), "sdk": sdk, "mode": mode, **options}
        self._process = subprocess.Popen(
            [npm_peers.node(), Path(__file__).with_name("sdk_client.mjs"), json.dumps(given)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answers, self._lines, self._last = {}, queue.Queue(), 0
        self.events = []  # those that nobody waited for yet
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def _next(self):
        """Takes one line in; false when there will be no more."""
        try:
            message = self._lines.get(timeout=SECONDS)
        except queue.Empty:
            raise AssertionError("the SDK's client is silent; events: %s" % self.events) from None
        if message is None:
            return False
        if "event" in message:
            self.events.append(message)
        else:
            self._answers[message["id"]] = message
        return True

    def __enter__(self):
        self._next()
        assert self.events == [{"event": "connected"}], self.events
        self.events.clear()
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.do("end")
                assert self._process.wait(timeout=SECONDS) == 0
                assert self.seen("error") == []
        finally:
            self._process.kill()
            self._process.wait()

    def begin(self, what, **arguments):
        self._last += 1
        self._process.stdin.write(json.dumps({"id": self._last, "do": what, **arguments}) + "\n")
        self._process.stdin.flush()
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
