# SPDX-License-Identifier: Apache-2.0
"""Late edits of real histories: what is offered is what `git merge-file` makes, or nothing is.

The changes of one real diff are dealt to two people.  One writes the file; the other's
edit, made from the file as it was, comes late.  Some get a change of the other's too,
at the same lines or next to them, so that there are conflicts.

    DAMAGE_PROGRAM=build/hasp test/damage/test_rebase_history.py 1000     prints the counts
"""

import difflib
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import corpus
import model

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for who runs it as a program
from part import ALL  # noqa: E402

CASES = int(os.environ.get("REBASE_CASES", "150" if ALL else "60"))


class Server:
    """`hasp serve mcp` on a folder of its own."""

    def __init__(self, program, folder):
        env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        (folder / "home").mkdir()
        self.folder = folder / "work"
        self.folder.mkdir()
        self.process = subprocess.Popen([program, "serve", "mcp", "--durability", "rename"],
                                        cwd=self.folder, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.count = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "test", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(dict(message, jsonrpc="2.0")).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.count and "method" not in message:
                return message["result"]

    def call(self, name, **arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments})[
            "structuredContent"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _build(base, operations, new):
    """The base with some of difflib's operations done."""
    out, at = [], 0
    for _, i1, i2, j1, j2 in operations:
        out += base[at:i1] + new[j1:j2]
        at = i2
    return b"".join(out + base[at:])


def _deal(triple, rng):
    """(base, mine, theirs), or None."""
    if triple.diffs["U3"].count(b"\n@@ ") < 1:
        return None
    base, new = model.split_lines(triple.base), model.split_lines(triple.result)
    if len(base) > 3000 or b"\r" in triple.base or not triple.base.isascii() or \
            not triple.result.isascii():
        return None
    operations = [op for op in difflib.SequenceMatcher(None, base, new, False).get_opcodes()
                  if op[0] != "equal"]
    if len(operations) < 2 or len(operations) > 200:
        return None
    mine = [op for op in operations if rng.random() < 0.5]
    theirs = [op for op in operations if op not in mine]
    both = rng.random() < 0.3
    if both and mine:
        theirs = sorted(theirs + [rng.choice(mine)], key=lambda op: op[1:3])
    if not mine or not theirs:
        return None
    texts = _build(base, mine, new), _build(base, theirs, new)
    if rng.random() < 0.3:  # somebody else's line beside one of mine
        lines = model.split_lines(texts[1])
        near = rng.choice(mine)[1] + rng.choice([-2, -1, 0, 1, 2])
        lines.insert(max(0, min(near, len(lines))), b"somebody else's line\n")
        texts = texts[0], b"".join(lines)
    return triple.base, texts[0], texts[1]


def _size(old, new):
    """Lines that differ, at most."""
    lines = difflib.unified_diff(old.decode().splitlines(), new.decode().splitlines(), n=0)
    return sum(line[:1] in "+-" for line in lines) - 2


def _git_merge(folder, base, mine, theirs):
    """What git merge-file makes of it; None for a conflict."""
    names = []
    for name, text in (("mine", mine), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(text)
        names.append(str(folder / name))
    done = subprocess.run(["git", "merge-file", "-p", *names], capture_output=True, cwd=folder)
    return done.stdout if done.returncode == 0 else None


def _diff(folder, base, mine):
    (folder / "old").write_bytes(base)
    (folder / "new").write_bytes(mine)
    text = subprocess.run(["git", "diff", "--no-index", "--no-color", "-U10", "old", "new"],
                          capture_output=True, cwd=folder).stdout
    return text[text.index(b"\n@@ ") + 1:].decode()


def try_one(server, folder, triple, rng):
    """The name of what came out, "wrong..." if it must not; None: nothing to try."""
    dealt = _deal(triple, rng)
    if not dealt:
        return None
    base, mine, theirs = dealt
    if len({base, mine, theirs}) < 3:
        return None
    merged = _git_merge(folder, base, mine, theirs)
    file = server.folder / "file"
    file.write_bytes(base)
    read = server.call("read_file", file_path="file", max_lines=100000, max_line_chars=100000)
    if read.get("truncated"):
        return None
    file.write_bytes(theirs)
    if rng.random() < 0.5:
        late = server.call("safe_patch", file_path="file", unified_diff=_diff(folder, base, mine),
                           base_content_sha256=read["sha256"])
    else:
        late = server.call("write_file", file_path="file", content=mine.decode(),
                           base_content_sha256=read["sha256"])
    assert late["error"]["code"] == "state_mismatch", late["message"]
    if "rebased" not in late:
        if merged == theirs:
            # Of large changes it is not known.
            said = "already_applied" in late or _size(base, mine) > 256 or _size(base, theirs) > 256
            return "done already, none offered" if said else "wrong: not said to be done already"
        if "already_applied" in late:
            return "wrong: said to be done already"
        if merged is None:
            return "conflict, none offered"
        return "large, none offered" if _size(base, mine) > 256 or _size(base, theirs) > 256 \
            else "clean for git, none offered"
    if merged is None:
        return "wrong: offered for a conflict"
    done = server.call("safe_patch", file_path="file", rebase=late["rebased"]["id"],
                       base_content_sha256=late["latest_file_state"]["sha256"])
    if not done["success"]:
        return "wrong: an offer that cannot be made"
    assert done["latest_file_state"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    return "offered, as git merges" if file.read_bytes() == merged else "wrong: not as git merges"


def run(program, cases, seed=1):
    triples = corpus.load()
    rng = random.Random(seed)
    rng.shuffle(triples)
    counts = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        server = Server(program, folder)
        for triple in triples * 4:
            outcome = try_one(server, folder, triple, rng)
            counts[outcome] += outcome is not None
            if sum(counts.values()) == cases:
                break
        server.close()
    del counts[None]
    return counts


def test_what_is_offered_is_what_git_merges():
    program = os.environ.get("DAMAGE_PROGRAM")
    assert program, "DAMAGE_PROGRAM must name the hasp to try"
    counts = run(os.path.abspath(program), CASES)
    assert not [name for name in counts if name.startswith("wrong")], counts
    assert counts["offered, as git merges"] > CASES / 4, counts
    assert counts["conflict, none offered"] > 0, counts
    assert counts["clean for git, none offered"] < CASES / 10, counts


if __name__ == "__main__":
    for outcome, n in run(os.path.abspath(os.environ["DAMAGE_PROGRAM"]),
                          int(sys.argv[1]) if len(sys.argv) > 1 else CASES).most_common():
        print("%6d %s" % (n, outcome))
