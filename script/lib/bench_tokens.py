#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens sent for edits of one large file, by what becomes of superseded contents.

    script/lib/bench_tokens.py [--build build] [--lines 2000] [--edits 10] [--json]

A whole agent reads a file and patches it, one edit a turn, against a fake of Gemini's API; what counts
is what it sends.  Columns, in tokens of four bytes:

  sent    of all requests together
  new     of those, what stands behind the part that was the same in the request before, from its
          beginning: what a provider's cache does not have
  last    of the last request: how large the conversation has become

Rows: hasp as it is; with hasp.returnContent full: each edit returns the whole content; an exchange as Gemini CLI's
replace has it, whose results carry no content and no state, made from the same edits (no program of
theirs runs here).
"""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "model"))

import fake_gemini  # noqa: E402
from fake_gemini import call, text  # noqa: E402
from fake_server import FakeServer  # noqa: E402


def line(number):
    return "    value_%d = compute(value_%d, factor)  # line %d\n" % (number, number - 1, number)


def edits(lines, count):
    """(old line, new line, number) of each edit, spread over the file."""
    for i in range(count):
        number = (i + 1) * lines // (count + 1)
        yield line(number), line(number).replace("factor", "factor + %d" % i), number


def states(lines, count):
    """The contents before each edit, and at the end."""
    content = "".join(map(line, range(lines)))
    yield content
    for old, new, _ in edits(lines, count):
        content = content.replace(old, new)
        yield content


def patch(content, old, new, number):
    all_lines = content.splitlines(True)
    around = lambda a, b: "".join(" " + one for one in all_lines[a:b])
    diff = "@@ -%d,7 +%d,7 @@\n%s-%s+%s%s" % (number - 2, number - 2, around(number - 3, number),
                                            old, new, around(number + 1, number + 4))
    return call("safe_patch", {"file_path": "big.py", "unified_diff": diff, "base_content_sha256":
                               hashlib.sha256(content.encode()).hexdigest()})


def run_agent(build, lines, count, **more):
    contents = list(states(lines, count))
    script = [{"reply": [call("read_file", {"file_path": "big.py", "max_lines": lines + 1})]}]
    for before, edit in zip(contents, edits(lines, count)):
        script.append({"reply": [patch(before, *edit)]})
    script.append({"reply": [text("Done.")]})
    with tempfile.TemporaryDirectory() as folder, \
            FakeServer(fake_gemini.Provider(), script) as server:
        file = Path(folder) / "w" / "big.py"
        file.parent.mkdir()
        file.write_text(contents[0])
        job = dict({"root": str(file.parent), "prompts": ["Change ten lines of big.py."],
                    "mode": "yolo", "model": {"provider": "gemini", "name": "gemini-2.5-pro",
                                              "base_url": server.url + "/v1beta"}}, **more)
        subprocess.run([str(build / "test" / "agent" / "agent_probe")], input=json.dumps(job),
                       env={"PATH": os.environ["PATH"], "HOME": folder}, text=True, check=True,
                       stdout=subprocess.DEVNULL)
        assert not server.violations, server.violations
        assert file.read_text() == contents[-1], "the edits were not made"
        return [request.body["contents"] for request in server.requests]


def replace_exchange(lines, count):
    """The requests of the same work done with replace, as Gemini CLI answers it."""
    history = [{"role": "user", "parts": [{"text": "Change ten lines of big.py."}]}]
    requests = [list(history)]

    def turn(name, args, output):
        history.append({"role": "model", "parts": [{"functionCall": {"name": name, "args": args}}]})
        history.append({"role": "user", "parts": [{"functionResponse": {
            "name": name, "response": {"output": output}}}]})
        requests.append(list(history))

    turn("read_file", {"file_path": "big.py"}, next(states(lines, count)))
    for (old, new, number) in edits(lines, count):
        around = [line(number + i) for i in (-3, -2, -1, 1, 2, 3)]
        before, after = "".join(around[:3]), "".join(around[3:])
        turn("replace", {"file_path": "big.py", "instruction": "Change line %d." % number,
                         "old_string": before + old + after, "new_string": before + new + after},
             "Successfully modified file: big.py (1 replacements).")
    return requests


def common(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def figures(requests):
    sent = new = size = 0
    before = ""
    for contents in requests:
        now = json.dumps(contents, ensure_ascii=False)[:-1]  # the next one goes on here
        size = len(now.encode())
        sent += size
        new += size - len(now[:common(before, now)].encode())
        before = now
    return {"sent": sent // 4, "new": new // 4, "last": size // 4}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    of = (options.build, options.lines, options.edits)
    rows = {
        "hasp": run_agent(*of),
        "content after each edit": run_agent(*of, settings={"hasp": {"returnContent": "full"}}),
        "replace (no state)": replace_exchange(*of[1:]),
    }
    rows = {name: figures(requests) for name, requests in rows.items()}
    one = len(next(states(*of[1:])).encode()) // 4
    if options.json:
        print(json.dumps({"one_reading": one, "rows": rows}, indent=1))
        return
    print("One reading of the file: %d tokens. %d edits:" % (one, options.edits))
    for name, row in rows.items():
        print("%-34s" % name + "".join("  %s %9d (%5.1f readings)" % (
            column, row[column], row[column] / one) for column in ("sent", "new", "last")))


if __name__ == "__main__":
    main()
