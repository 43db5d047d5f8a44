# SPDX-License-Identifier: Apache-2.0
"""How long a reply is waited for: a server that falls silent, that sends signs of life alone, that never
ends; with limits of fractions of a second."""
import contextlib
import socket
import threading

import pytest
from jobs import Talk

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
PIECE = b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}\n\n'
PING = b"event: ping\ndata: {\"type\": \"ping\"}\n\n"


class Slow:
    """Answers each request with `first`, then `again` every 20 ms, until the client goes."""

    def __init__(self, first, again=b""):
        self.first, self.again, self.asked = first, again, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.over = threading.Event()
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)  # ends accept, before the number is used again
        self.thread.join()
        self.listener.close()

    def serve(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            self.asked += 1
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        with client, contextlib.suppress(OSError):
            client.recv(1 << 20)
            client.sendall(self.first)
            while not self.over.wait(0.02):
                if self.again:
                    client.sendall(self.again)


def ask(server, **limits):
    talk = Talk(provider="gemini", name="gemini-2.5-flash", base_url=server.url + "/v1beta", **limits)
    with pytest.raises(AssertionError):
        talk.say("x")
    return talk.lines


def told(lines, kind):
    return [line for line in lines if line.get("event") == kind]


@pytest.mark.parametrize("first", [b"", HEAD, HEAD + PIECE])
def test_a_server_that_falls_silent_is_asked_once_more_and_the_wait_is_told(first):
    with Slow(first) as server:
        lines = ask(server, idle_ms=250, waiting_ms=60, max_attempts=9)
    assert lines[-1]["error"] == "network_error" and server.asked == 2
    assert "sent nothing for 0.25 seconds" in lines[-1]["message"]
    waits = told(lines, "waiting")
    assert len(waits) >= 2 and waits[0]["waited_ms"] >= 60 and 200 < waits[0]["limit_ms"] < 500
    assert "has sent nothing for" in waits[0]["text"]
    (restart,) = told(lines, "restart")
    assert "sent nothing" in restart["text"]


@pytest.mark.parametrize("again", [b":\n\n", b": ping\r\n", PING, b"data:\n\n"])
def test_signs_of_life_alone_keep_no_reply_alive(again):
    with Slow(HEAD + PIECE, again) as server:
        lines = ask(server, idle_ms=10000, ping_ms=250, waiting_ms=60, max_attempts=9)
    assert lines[-1]["error"] == "network_error"
    assert "Only keep-alives came for 0.25 seconds" in lines[-1]["message"]
    assert told(lines, "waiting")[0]["limit_ms"] == 250


def test_a_reply_that_never_ends_is_given_up_and_not_asked_for_again():
    with Slow(HEAD, PIECE) as server:
        lines = ask(server, idle_ms=10000, reply_ms=300, max_attempts=9)
    assert (lines[-1]["error"], server.asked) == ("network_error", 1)
    assert "did not end within 0.3 seconds" in lines[-1]["message"]
