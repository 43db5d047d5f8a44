# SPDX-License-Identifier: Apache-2.0
"""The MCP server beside npm's server-filesystem, for script/bench.

Both read and edit files of 10 KB over stdio, asked by the official SDK's client and by one that
costs nothing (test/bench/mcp_lines.c).  hasp edits by safe_patch, each call locked by the hash
of the state before it; server-filesystem by edit_file, which has no lock.  Processor time and
memory are those of all processes that a server has.
"""

import hashlib
import json
import statistics
import subprocess
from pathlib import Path
from typing import NamedTuple

import npm_peers

TOP = Path(__file__).resolve().parents[2]
HASP = str(TOP / "build" / "hasp")
LINES = str(TOP / "build" / "test" / "bench" / "bench_mcp_lines")
FILES = ["ten%d.txt" % i for i in range(64)]  # so many that edits under way are of different ones
AT = 80  # the line that the edits turn back and forth


class Server(NamedTuple):
    name: str
    argv: list
    read: list  # calls that take turns
    edit: list


def text(upper):
    lines = ["%08d the quick brown fox jumps over the lazy dog, again ok\n" % i
             for i in range(160)]
    if upper:
        lines[AT] = lines[AT].upper()
    return lines


def diff(name, upper):
    """From the state that is not upper to the one that is, or back."""
    old, new = text(not upper), text(upper)
    body = ["-" + old[AT], "+" + new[AT]]
    return "--- a/%s\n+++ b/%s\n@@ -%d,7 +%d,7 @@\n" % (name, name, AT - 2, AT - 2) + "".join(
        [" " + line for line in old[AT - 3:AT]] + body +
        [" " + line for line in old[AT + 1:AT + 4]])


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def edits(folder, of_one):
    """Calls: every file's line there, then every file's line back."""
    turns = [(name, str(folder / name), upper) for upper in (True, False) for name in FILES]
    bases = {upper: hashlib.sha256("".join(text(not upper)).encode()).hexdigest()
             for upper in (True, False)}
    return [of_one(name, path, upper, bases[upper]) for name, path, upper in turns]


def safe_patch(name, path, upper, base):
    return call("safe_patch", file_path=path, unified_diff=diff(name, upper),
                return_content="none", base_content_sha256=base)


def edit_file(_name, path, upper, _base):
    return call("edit_file", path=path, edits=[{"oldText": text(not upper)[AT].rstrip("\n"),
                                                "newText": text(upper)[AT].rstrip("\n")}])


def servers(folder):
    path = str(folder / FILES[0])
    filesystem = npm_peers.package(
        "filesystem", "@modelcontextprotocol/server-filesystem/dist/index.js")
    return [
        Server("hasp", [HASP, "serve", "mcp", "--root", str(folder), "--durability", "rename"],
               [call("read_file", file_path=path)], edits(folder, safe_patch)),
        Server("npm server-filesystem", [str(npm_peers.node()), str(filesystem), str(folder)],
               [call("read_text_file", path=path)], edits(folder, edit_file)),
    ]


def output(argv, folder):
    done = subprocess.run([str(arg) for arg in argv], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("bench: %s\n%s" % (" ".join(map(str, argv))[:300],
                                            done.stderr[-1000:]))
    if any((folder / name).read_text() != "".join(text(False)) for name in FILES):
        raise SystemExit("bench: the edits did not come back to where they began")
    return done.stdout


def through_sdk(server, calls, count, width, folder):
    """Calls a second."""
    return float(output([npm_peers.node(), TOP / "script/lib/mcp_calls.mjs",
                         npm_peers.folder("sdk"), count, width, json.dumps(calls),
                         *server.argv], folder))


def raw(server, calls, count, width, folder):
    """(start in µs, µs a call, µs of processor a call of all processes and of the first, KB of all
    after the first calls, and after them)."""
    params = [json.dumps(one, separators=(",", ":")) for one in calls]
    return [float(field) for field in
            output([LINES, count, width, *params, "--", *server.argv], folder).split()]


class Row(NamedTuple):
    title: str
    edit: bool
    sdk: bool
    width: int


ROWS = [
    Row("read 10 KB, SDK's client, 1 in flight", False, True, 1),
    Row("read 10 KB, SDK's client, 8 in flight", False, True, 8),
    Row("read 10 KB, raw lines, 1 in flight", False, False, 1),
    Row("read 10 KB, raw lines, 16 in flight", False, False, 16),
    Row("edit 10 KB, SDK's client, 1 in flight", True, True, 1),
    Row("edit 10 KB, raw lines, 1 in flight", True, False, 1),
    Row("edit 10 KB, raw lines, 16 in flight", True, False, 16),
]


def number(value):
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value


def ratio(a, b):
    return "%.1f" % (a / b) if b else ""


def measure(folder, rounds, count=2000):
    """Two tables as rows: (calls, start and memory)."""
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text("".join(text(False)))
    contenders = servers(folder)
    seen = {(row, server.name): [] for row in ROWS for server in contenders}
    for _ in range(rounds):
        for row in ROWS:
            for server in contenders:
                calls = server.edit if row.edit else server.read
                run = through_sdk if row.sdk else raw
                seen[row, server.name].append(run(server, calls, count, row.width, folder))
    return calls_table(seen, contenders), state_table(seen, contenders)


def calls_table(seen, contenders):
    """Calls a second and processor time a call; hasp against the other."""
    table = []
    for row in ROWS:
        rates, costs = [], []
        for server in contenders:
            runs = seen[row, server.name]
            rates.append(statistics.median(runs if row.sdk else [1e6 / run[1] for run in runs]))
            costs.append(["", ""] if row.sdk else [
                number(statistics.median(run[which] for run in runs)) for which in (2, 3)])
        for i, server in enumerate(contenders):
            table.append([row.title if i == 0 else "", server.name, number(rates[i]),
                          *costs[i],
                          "" if i == 0 else ratio(rates[0], rates[i])])
    return table


def state_table(seen, contenders):
    """Start to initialized and memory, from the raw reads with one in flight."""
    row = ROWS[2]
    table = []
    for server in contenders:
        start, _, _, _, idle, after = (statistics.median(values)
                                    for values in zip(*seen[row, server.name]))
        table.append([server.name, number(start / 1000), number(idle / 1024),
                      number(after / 1024)])
    return table
