# SPDX-License-Identifier: Apache-2.0
"""Every reply that a provider's own SDK reads, hasp reads: the answers of cases/*.json, written in several
ways, go to both.  Texts are the same, and so are the calls of replies that are whole, and the counts of tokens."""
import http.server
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from jobs import last, options, run, user
from part import ALL, TURN, part_of

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "script" / "lib"))
import npm_peers  # noqa: E402

LONE = re.compile("[\ud800-\udfff]")
STYLES = {"plain": lambda text: text, "CRLF": lambda text: text.replace("\n", "\r\n"),
          "comments": lambda text: text.replace("\n\n", "\n\n: alive\n\n"),
          "no space": lambda text: text.replace("data: {", "data:{")}


def stream(events):
    out = []
    for event in events:
        text = event if isinstance(event, str) else json.dumps(event)
        typed = re.match(r'\{"type": "([\w.]+)"', text)
        if typed:
            out.append("event: %s\n" % typed.group(1))
        out.append("data: %s\n\n" % text)
    return "".join(out)


class Server(http.server.ThreadingHTTPServer):
    """Answers everything beneath /N with stream N."""
    daemon_threads = True

    def __init__(self, streams):
        self.streams = streams
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, i):
        return "http://127.0.0.1:%d/%d" % (self.server_address[1], i)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = self.server.streams[int(self.path.split("/")[1])]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def whole(value):
    """As hasp shows half a character."""
    return json.loads(LONE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))


def read_by_sdk(provider, urls):
    argv = [str(npm_peers.node()), str(HERE / "sdk_reader.mjs"), str(npm_peers.folder("models"))]
    jobs = "".join(json.dumps({"provider": provider, "url": url}) + "\n" for url in urls)
    done = subprocess.run(argv, input=jobs.encode(), stdout=subprocess.PIPE, timeout=120, check=True,
                          env=npm_peers.environment())
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_by_hasp(provider, url):
    base = url + {"gemini": "/v1beta", "anthropic": ""}.get(provider, "/v1")
    line = last(run({"options": options(provider=provider, name="m", base_url=base, max_attempts=1),
                     "request": {"contents": [user({"text": "x"})]}}))
    if "reply" not in line:
        return {"error": line["message"]}
    parts = line["reply"]["content"]["parts"]
    return {"text": "".join(p["text"] for p in parts if "text" in p and not p.get("thought")),
            "calls": [{"name": p["functionCall"]["name"], "args": p["functionCall"]["args"]}
                      for p in parts if "functionCall" in p], "finish": line["reply"]["finish"],
            "usage": line["reply"]["usage"]}


def check_usage(provider, sdk, ours, where):
    """What an SDK hands on of the counts is what hasp has: input with what came from a cache, output without
    thoughts.  False: there is no count, or none that can be one (docs/models.md has what hasp makes of that)."""
    given = {name: value or 0 for name, value in (sdk or {}).items()}
    apart = provider == "gemini"  # its thoughts are beside the output
    if not any(given.values()) or not all(type(value) is int and 0 <= value <= 10 ** 12
                                          for value in given.values()):
        return False
    if given.get("thoughts", 0) > given["output"] and not apart:
        return False
    if provider == "anthropic":
        given["input"] += given.get("cached", 0) + given.pop("written", 0)
    ours = dict(ours, output=ours["output"] + (0 if apart else ours["thoughts"]))
    assert {name: ours[name] for name in given} == given, where
    return True


@pytest.mark.parametrize("name", ["gemini", "openai_chat", "openai_responses", "anthropic"])
def test_what_the_sdk_reads_hasp_reads(name):
    cases = json.loads((HERE / "cases" / (name + ".json")).read_text())
    # Each case in one style, in another at another commit.
    rows = [(case, style, STYLES[style](stream(case["events"]))) for i, case in enumerate(cases["answers"])
            for k, style in enumerate(STYLES) if ALL or (i + k + TURN) % len(STYLES) == 0]
    server = Server([text.encode() for _, _, text in rows])
    urls = [server.url(i) for i in range(len(rows))]
    compared = counted = 0
    for (case, style, _), url, sdk in zip(rows, urls, read_by_sdk(cases["provider"], urls), strict=True):
        ours = read_by_hasp(cases["provider"], url)
        where = (case["name"], style, sdk, ours)
        # hasp may read more than the SDK, nothing after the end of a reply, and goes on after a pause.
        if "error" in sdk or "second response" in case["name"] or case.get("word") == "pause_turn":
            continue
        # What the SDK hands on as text, hasp repairs or understands.
        if "in the text" in case["name"] or any("repaired" in part or "unreadable" in part
                                                for part in case.get("parts", ())):
            continue
        if "error" in ours:
            # What cannot be used is refused after it was read.
            assert "Event " not in ours["error"] or case.get("trouble") == "unreadable", where
            continue
        compared += 1
        sdk = whole(sdk)
        counted += check_usage(cases["provider"], sdk.get("usage"), ours["usage"], where)
        # Text in the final object alone, or in parts that a plain reader of the SDK does not look at.
        assert sdk["text"] in ("", ours["text"]), where
        if ours["finish"] in ("stop", "tools") and "withheld" not in case and sdk["calls"]:
            assert ours["calls"] == sdk["calls"], where
        assert all(call in sdk["calls"] for call in ours["calls"]) or not sdk["calls"], where
    server.shutdown()
    assert compared >= len(rows) // 3, "%d of %d were compared" % (compared, len(rows))
    assert counted >= part_of(8, 4), "usage of %d was compared" % counted
