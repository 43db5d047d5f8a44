# SPDX-License-Identifier: Apache-2.0
"""Makes cases by the built program, over MCP, and judges the answers by the bytes.

    with Server(program) as server:
        verdict = judge(server, case, rng)     # a Verdict

A Case has the files before, one call, what may be there afterwards, and what the answer may say. Nothing here
knows how hasp finds a place: the outcome is right, refused or wrong by the bytes, and each claim of an answer
is checked against them.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import files

APPLIES, REFUSE, EITHER, ALREADY = "applies", "refuse", "either", "already"
RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


@dataclass
class Case:
    before: dict  # name: bytes of each file
    tool: str
    arguments: dict  # "HASH NAME" stands for the hash of the file as it is
    after: list  # what may be there: a dict as `before` for each possibility; the first is what is meant
    again: bool = False  # making the edit twice is another edit: its old text is in the result
    facts: dict = field(default_factory=dict)  # what claims are checked by
    diff: bytes = b""  # for GNU patch and git apply
    orders: list = field(default_factory=list)  # other calls' arguments that must come to the same

    @property
    def name(self):
        return next(iter(self.before))


@dataclass
class Verdict:
    outcome: str
    wrong: str = ""  # what is wrong with the bytes
    torn: bool = False
    twice: bool = False
    claims: list = field(default_factory=list)
    broken: list = field(default_factory=list)  # properties that do not hold
    answer: dict = field(default_factory=dict)
    got: dict = field(default_factory=dict)


class Server:
    """`hasp serve mcp` on a folder of its own."""

    def __init__(self, program):
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.top = Path(tempfile.mkdtemp(prefix="hasp-edits-", dir=fast))
        self.folder = self.top / "work"
        (self.top / "home").mkdir()
        self.folder.mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": str(self.top / "home")}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        self.process = subprocess.Popen(
            [str(Path(program).resolve()), "serve", "mcp", "--durability", "rename"],
            cwd=self.folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.count = 0
        self.request(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self._send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.top, ignore_errors=True)

    def _send(self, message):
        self.process.stdin.write(json.dumps(dict(message, jsonrpc="2.0")).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.count += 1
        self._send({"id": self.count, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.count and "method" not in message:
                return message

    def lay(self, state):
        """Makes the folder hold these files and nothing else."""
        for name in os.listdir(self.folder):
            if name not in state:
                os.unlink(self.folder / name)
        for name, data in state.items():
            (self.folder / name).write_bytes(data)

    def state(self):
        return {name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}

    def call(self, tool, arguments, before):
        """The tool's answer; hashes of the files as `before` has them."""

        def put(value):
            if isinstance(value, str) and value.startswith("HASH "):
                return hashlib.sha256(before[value[5:]]).hexdigest()
            if isinstance(value, list):
                return [put(one) for one in value]
            return {k: put(v) for k, v in value.items()} if isinstance(value, dict) else value

        arguments = put(arguments)
        arguments.setdefault("return_content", "none")
        reply = self.request("tools/call", {"name": tool, "arguments": arguments})
        result = reply.get("result", {})
        return result.get("structuredContent") or {
            "success": False,
            "message": json.dumps(reply)[:300],
            "error": {"code": "protocol"},
        }


# ---- judging -------------------------------------------------------------------------------------


def judge(server, kind, case, deep=False):
    """`deep`: the properties too, which take further calls."""
    server.lay(case.before)
    answer = server.call(case.tool, case.arguments, case.before)
    got = server.state()
    verdict = Verdict(REFUSED, answer=answer, got=got)
    done = bool(answer.get("success"))
    changed = got != case.before
    verdict.outcome, verdict.wrong = outcome(kind.outcome, case, done, changed, got)
    verdict.torn = changed and not done
    verdict.claims = claims(case, kind.outcome, answer, got)
    if done and changed and verdict.outcome == RIGHT:
        if not case.again:
            second = server.call(case.tool, case.arguments, got)
            verdict.twice = server.state() != got
            if verdict.twice:
                verdict.answer, verdict.got = second, server.state()
        if deep:
            server.lay(case.before)
            verdict.broken = properties(server, case)
    return verdict


def outcome(wanted, case, done, changed, got):
    if changed:
        if wanted in (APPLIES, EITHER) and got in case.after:
            return RIGHT, ""
        return WRONG, "changed the file otherwise" if wanted in (APPLIES, EITHER) else "changed the file"
    if not done:
        return REFUSED, ""
    if case.before in case.after or wanted == ALREADY:
        return RIGHT, ""
    return WRONG, "reports success, and nothing was changed"


def line_bounds(before, after):
    """The fewest lines that were added and removed, whatever the diff."""
    old, new = (Counter(files.split(data.removeprefix(b"\xef\xbb\xbf"))) for data in (before, after))
    return sum((new - old).values()), sum((old - new).values())


def claims(case, wanted, answer, got):
    """What the answer says that is not so."""
    found = []
    parts = answer["changes"] if "changes" in answer else [answer]
    for part in parts:
        state = part.get("latest_file_state") or {}
        name = os.path.basename(state.get("file_path", ""))
        if state.get("sha256") and name in got and state["sha256"] != hashlib.sha256(got[name]).hexdigest():
            found.append("sha256 is not the file's")
    if not answer.get("success"):
        return found + refusal_claims(case, answer)
    if len(parts) == 1 and len(case.before) == len(got) == 1:
        found += success_claims(case, answer, got)
    return found


def refusal_claims(case, answer):
    error = answer.get("error") or {}
    found = []
    if not error.get("code") or len(answer.get("message", "")) < 20:
        found.append("the refusal has no code or no message")
    if error.get("code") in ("internal", "protocol"):
        found.append("the refusal is %s: %s" % (error["code"], answer.get("message", "")[:80]))
    if (
        case.tool == "safe_patch"
        and error.get("code") in ("no_match", "ambiguous_diff")
        and not re.search(r"[Hh]unk \d|[Ll]ine \d", answer["message"])
    ):
        found.append("the refusal names no hunk and no line")
    if len(case.before) == 1 and case.tool in ("safe_patch", "update_file"):
        found += shown_claims(case, error)
    bad = case.facts.get("bad_hunk")
    if bad and error.get("hunk") and error["hunk"] != bad:
        found.append("names hunk %s, not %s" % (error["hunk"], bad))
    return found


def shown_claims(case, error):
    """What a refusal says of the file's lines: where the text occurs, what stands there."""
    data, found = case.before[case.name], []
    lines = [files.bare(line) for line in files.split(data)]
    for one, shown in [("found_line", "found")]:
        text, number = error.get(shown), error.get(one)
        if text is None or not number:
            continue
        real = lines[number - 1].decode("utf-8", "replace") if number <= len(lines) else None
        if real is None or real.isascii() and real.isprintable() and not real.startswith(text[:60]) and len(real) < 200:
            found.append("line %d is not what is shown" % number)
    places = [one["line"] for one in error.get("candidates") or []]
    if any(not 1 <= line <= len(lines) + 1 for line in places):
        found.append("a candidate is beyond the file")
    fits = case.facts.get("fits")
    if fits and error.get("code") == "ambiguous_diff":
        if {files.lead_of(lines, line) for line in places} - {files.lead_of(lines, line) for line in fits} or error.get(
            "candidates_total", len(fits)
        ) != len(fits):
            found.append("candidates %s, and it fits at %s" % (places, fits))
    if case.tool == "update_file" and "matches" in error:
        old, text = (one.replace(b"\r\n", b"\n") for one in (case.arguments["old_content"].encode(), data))
        counts = {text.count(old), files.occurs(old, text)} if old else set()
        if counts - {0} and error["matches"] not in counts:
            found.append("matches %d, and it occurs %d times" % (error["matches"], max(counts)))
    return found


def success_claims(case, answer, got):
    before, after, facts, found = case.before[case.name], got[case.name], case.facts, []
    added, removed = answer.get("lines_added"), answer.get("lines_removed")
    says_made = "already" in (answer.get("message", "") + answer.get("note", "")).lower()
    if before == after:
        if added or removed:
            found.append("counts lines, and nothing was written")
        if not says_made and before not in [one[case.name] for one in case.after]:
            found.append("claims a write, and nothing was written")
    elif added is not None:
        least, lost = line_bounds(before, after)
        if added - removed != len(files.split(after)) - len(files.split(before)) or added < least or removed < lost:
            found.append("lines_added %d, lines_removed %d are not so" % (added, removed))
    found += hunk_claims(facts, answer, files.split(before), files.split(after))
    if case.tool == "update_file" and facts.get("exact") is False and before != after and not answer.get("note"):
        found.append("it was read otherwise than written, and no note says so")
    if "replaced" in answer and facts.get("replaced", answer["replaced"]) != answer["replaced"]:
        found.append("replaced %d, not %d" % (answer["replaced"], facts["replaced"]))
    return found


def hunk_claims(facts, answer, before, after):
    found, made = [], answer.get("hunks")
    if not made:
        return found
    if "starts" in facts and len(made) == len(facts["starts"]):
        for hunk, (old, new) in zip(made, facts["starts"]):
            if hunk["line"] not in (old, new, files.lead_of(before, old), files.lead_of(after, new)):
                found.append("hunk %d went to line %d, not %d" % (hunk["hunk"], old, hunk["line"]))
    for hunk in made:
        by = hunk.get("settled_by")
        if by == "line_number" and facts.get("numbers") is False:
            found.append("settled by a line number that is not there")
        if by == "heading" and facts.get("heading") is False:
            found.append("settled by a heading that is not there")
        if by == "unique" and facts.get("twins"):
            found.append("unique, and there are copies")
        if hunk.get("matched") == "exact" and facts.get("exact") is False:
            found.append("matched exactly, and the text differs")
    total = sum(h["added"] for h in made), sum(h["removed"] for h in made)
    if total != (answer.get("lines_added"), answer.get("lines_removed")):
        found.append("the hunks' counts %r are not the total's" % (total,))
    return found


# ---- properties ----------------------------------------------------------------------------------

_UNSEEN = re.compile(b"\xe2\x80\x8b|\xef\xbb\xbf")  # answers show these as escapes
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def strictly(base, diff):
    """A unified diff applied as its numbers say, or None."""
    lines, out, at = files.split(base), [], 0
    text = files.split(diff)
    i = 0
    while i < len(text) and not _HUNK.match(text[i]):
        i += 1
    while i < len(text):
        match = _HUNK.match(text[i])
        if not match:
            return None
        start, old = int(match[1]), int(match[2] or 1)
        new = int(match[4] or 1)
        start = start if old == 0 else start - 1
        out += lines[at:start]
        at, i = start, i + 1
        while old > 0 or new > 0:
            if i >= len(text):
                return None
            mark, line = text[i][:1], text[i][1:]
            i += 1
            if i < len(text) and text[i].startswith(b"\\"):
                line, i = line[:-1], i + 1
            if mark in b" -":
                if at >= len(lines) or lines[at] != line:
                    return None
                at, old = at + 1, old - 1
            if mark in b" +":
                out.append(line)
                new -= 1
    return b"".join(out + lines[at:])


def reverse(diff):
    """The diff the other way round: the answer's own, so each hunk has removed lines before added ones."""
    out, minus, plus = [], [], []

    def flush():
        out.extend(plus + minus)
        minus.clear()
        plus.clear()

    lines, i = files.split(diff), 0
    while i < len(lines):
        line = lines[i]
        pair = [line] if i + 1 >= len(lines) or not lines[i + 1].startswith(b"\\") else [line, lines[i + 1]]
        i += len(pair)
        match = _HUNK.match(line)
        if (
            not out
            and line.startswith((b"--- ", b"+++ "))
            or line.startswith((b"--- ", b"+++ "))
            and not any(map(_HUNK.match, out))
        ):
            continue
        if match:
            flush()
            a, b = line[3:].split(b" @@")[0].split(b" ")
            out.append(b"@@ -" + b[1:] + b" +" + a[1:] + b" @@\n")
        elif line[:1] == b"-":
            minus += [b"+" + line[1:]] + pair[1:]
        elif line[:1] == b"+":
            plus += [b"-" + line[1:]] + pair[1:]
        else:
            flush()
            out.extend(pair)
    flush()
    return b"".join(out)


def properties(server, case):
    """reverse(edit) restores the bytes, the answer's diff makes them, other orders of the hunks come to the same."""
    broken = []
    answer = server.call(case.tool, dict(case.arguments, return_content="diff"), case.before)
    got = server.state()
    if got not in case.after:
        return ["another call of the same edit has another result"]
    if len(case.before) == len(got) == 1 and "diff" in answer and not _UNSEEN.search(case.before[case.name]):
        diff, name = answer["diff"].encode(), case.name
        if strictly(case.before[name], diff) != got[name]:
            broken.append("the answer's diff does not make the file")
        else:
            back = server.call(
                "safe_patch",
                {"file_path": name, "unified_diff": reverse(diff).decode(), "base_content_sha256": "HASH " + name},
                got,
            )
            if server.state() != case.before:
                broken.append("reversed, it does not restore the file: " + back.get("message", "")[:100])
    for arguments in case.orders:
        server.lay(case.before)
        answer = server.call(case.tool, arguments, case.before)
        if server.state() not in case.after:
            broken.append("hunks in another order: " + answer.get("message", "")[:100])
    return broken
