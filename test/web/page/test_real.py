# SPDX-License-Identifier: Apache-2.0
"""The page as hasp serves it, in a real Chromium: the embedded bundle, links, a session from prompt to file, several people."""
import contextlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "script" / "lib")]

import npm_peers  # noqa: E402
from fake_gemini import call, text  # noqa: E402

SECONDS = 120
OLD = "".join("line %d\n" % i for i in range(40))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")


@contextlib.contextmanager
def driven(story, *arguments):
    """Starts a story of real.mjs, and waits for its end after the body."""
    assert shutil.which("chromium"), "Chromium is missing: script/setup installs it"
    process = subprocess.Popen([npm_peers.node(), str(Path(__file__).with_name("real.mjs")), str(npm_peers.folder("browser")),
                                story, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    first = process.stdout.readline()
    try:
        assert first == "ready\n", first + process.communicate(timeout=SECONDS)[0]
        yield
        output = process.communicate(timeout=SECONDS)[0]
        assert process.returncode == 0 and output.endswith("played\n"), output
    finally:
        process.kill()
        process.wait()


def address(served):
    return re.search(r"https?://\S+", served.address)[0]


def write(content):
    return call("write_file", {"file_path": "a.txt", "content": content})


def test_a_review_from_the_link_to_the_file(world):
    """A link, a new session, a prompt, one hunk refused with a comment, undone afterwards; the key and the cookie suffice after
    a reload."""
    world.write("a.txt", OLD)
    with world.fake([[call("read_file", {"file_path": "a.txt"})], [write(NEW)], [text("**Done.**")]]) as server, \
            world.served(server) as served:
        with driven("review", address(served), world.root):
            pass
        assert world.read("a.txt") == OLD


def test_statistics(world):
    """From a session to its project's figures and back, under the server's Content-Security-Policy."""
    world.settings(general={"defaultApprovalMode": "auto_edit"})
    with world.fake([[write("new\n"), call("read_file", {"file_path": "a.txt"})], [text("Done.")]]) as server, \
            world.served(server) as served:
        owner = served.browser()
        link = owner.post("/api/invite", {"name": "eve", "role": "approve"}).json["url"]
        owner.post("/api/sessions", {"folder": str(world.root)})
        events = owner.events()
        events.until("opened")
        owner.order("prompt", {"text": "go"})
        events.until("ended")
        with driven("stats", link):
            pass


def test_fifty_people(world):
    """One page, 49 other clients over HTTP: each sees the question and who answered it."""
    with world.fake([[write("new\n")], [text("Done.")]]) as server, world.served(server) as served:
        owner = served.browser()
        owner.post("/api/sessions", {"folder": str(world.root)})
        streams = []
        for number in range(48):
            person = owner.invite("person %d" % number, "approve")
            streams.append((person, person.events()))
        link = owner.post("/api/invite", {"name": "eve", "role": "watch"}).json["url"]
        with driven("watch", link):
            owner.order("prompt", {"text": "go"})
            questions = [stream.question() for _, stream in streams]
            assert len({question["correlationId"] for question in questions}) == 1
            assert streams[7][0].answer(questions[7]).status == 200
            for _, stream in streams:
                assert stream.until("bus", "question-answered")["message"]["by"] == "person 7"
                stream.close()
    assert world.read("a.txt") == "new\n"
