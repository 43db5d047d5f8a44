# SPDX-License-Identifier: Apache-2.0
"""script/bench data: queries of data (query_data) beside jq and sqlite3, on the same files in the same run; one key of
large files changed (update_data); and what libraries of other formats cost runs that do not need them.

    python3 script/lib/bench_data.py [--quick] [--mb N] [--before HASP]

--before: a hasp without readers of other formats, next to this one on a text file.
"""
import argparse
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import bench

sys.path.insert(0, str(bench.TOP / "test/read"))
import documents  # noqa: E402

BEGIN, END = "<!-- data: begin -->", "<!-- data: end -->"
LEVELS = ("info", "warn", "debug")


def record(i):
    return json.dumps({"id": i, "level": LEVELS[i % 3], "message": "something happened, number %d" % (i * 7919 % 1000003),
                       "tags": ["a", "b"], "user": {"id": i % 1000, "name": "n%d" % (i % 97)}, "ms": i % 900 / 8})


def json_lines(path, size):
    with open(path, "w") as out:
        written = i = 0
        while written < size:
            piece = "".join(record(k) + "\n" for k in range(i, i + 10000))
            out.write(piece)
            written, i = written + len(piece), i + 10000


def json_array(path, size):
    with open(path, "w") as out:
        out.write("[")
        written = i = 0
        while written < size:
            piece = ",\n".join(record(k) for k in range(i, i + 10000))
            out.write((",\n" if i else "") + piece)
            written, i = written + len(piece), i + 10000
        out.write("]\n")


def database(path, rows):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, level TEXT, ms REAL)")
        db.executemany("INSERT INTO log VALUES (?, ?, ?)", ((i, LEVELS[i % 3], i % 900 / 8) for i in range(rows)))
    db.close()


def hasp(folder, path, expected, **arguments):
    """A runner whose answer has these results."""
    out = folder / "hasp.out"
    argv = [bench.HASP, "tool", "query_data", "--json", "--arg", "file_path=" + path]
    for name, value in arguments.items():
        argv += ["--arg", "%s=%s" % (name, value)]

    def right():
        answer = json.loads(out.read_text())
        return answer["success"] and (expected is None or answer["results"] == expected)

    return bench.Runner("hasp", argv, str(folder), check=right, stdout=str(out))


def peer(folder, name, argv, expected):
    out = folder / (name + ".out")
    return bench.Runner(name, argv, str(folder), stdout=str(out),
                        check=lambda: [json.loads(line) for line in out.read_text().splitlines()] == expected)


def measured(folder, megabytes, rounds):
    sizes = {"lines.jsonl": megabytes, "array.json": megabytes // 4 or 1, "small.json": 0}
    json_lines(folder / "lines.jsonl", sizes["lines.jsonl"] * 10 ** 6)
    json_array(folder / "array.json", sizes["array.json"] * 10 ** 6)
    (folder / "small.json").write_text(json.dumps({"services": [{"name": "web", "ports": [80, 443]}, {"name": "db"}]}))
    database(folder / "log.db", megabytes * 2000)
    cases = (("JSON Lines of %d MB, one record" % sizes["lines.jsonl"], "lines.jsonl", 'select(.id == 77777) | .user.name', rounds),
             ("JSON Lines of %d MB, a sum" % sizes["lines.jsonl"], "lines.jsonl", "reduce (., inputs) as $x (0; . + $x.ms)", rounds),
             ("an array of %d MB, one element" % sizes["array.json"], "array.json", ".[] | select(.id == 77777) | .user.name", rounds),
             ("a file of 80 bytes", "small.json", ".services[].name", 21))
    rows = []
    for title, path, query, count in cases:
        lines = subprocess.run(["jq", "-c", query, path], cwd=folder, capture_output=True, text=True, check=True).stdout
        expected = [json.loads(line) for line in lines.splitlines()]
        runners = [hasp(folder, path, expected, query=query), peer(folder, "jq", ["jq", "-c", query, path], expected)]
        bench.interleave(runners, count)
        rows += bench.rows_of(title, runners)
    whole = hasp(folder, "lines.jsonl", None)
    bench.interleave([whole], rounds)
    rows += bench.rows_of("structure of the JSON Lines", [whole])
    sql = "SELECT level, count(*) FROM log GROUP BY level ORDER BY level"
    with sqlite3.connect(folder / "log.db") as db:
        expected = [list(row) for row in db.execute(sql)]
    runners = [hasp(folder, "log.db", expected, sql=sql),
               bench.Runner("sqlite3", ["sqlite3", "log.db", sql], str(folder))]
    bench.interleave(runners, 7)
    return rows + bench.rows_of("SQLite, %d rows, grouped" % (megabytes * 2000), runners)


def packages(count):
    """A file of each format with so many entries, and a last one whose path and value are given: {name: (text, path)}."""
    rows = [("package-%d" % i, "%d.%d" % (i % 9, i % 31), hashlib.sha256(b"%d" % i).hexdigest()) for i in range(count)]
    return {
        "large.json": (json.dumps({"packages": {row[0]: {"version": row[1], "sum": row[2], "tags": ["a", "b"]} for row in rows},
                                   "end": {"key": "value"}}, indent=2) + "\n", ".end.key"),
        "large.yaml": ("".join("%s:\n  version: '%s'\n  sum: %s\n  tags: [a, b]\n" % row for row in rows) + "end:\n  key: value\n",
                       ".end.key"),
        "large.toml": ("".join('[[package]]\nname = "%s"\nversion = "%s"\nsum = "%s"\n\n' % row for row in rows) +
                       '[end]\nkey = "value"\n', ".end.key"),
        "large.xml": ("<list>\n" + "".join('  <package name="%s"><version>%s</version><sum>%s</sum></package>\n' % row for row in rows) +
                      "  <end><key>value</key></end>\n</list>\n", ".list.end.key"),
        "large.csv": ("name,version,sum\n" + "".join("%s,%s,%s\n" % row for row in rows) + "end,value,0\n",
                      ".[%d].version" % count),
    }


def updates(folder, count, rounds):
    """One key of each of the large files."""
    rows = []
    for name, (text, path) in packages(count).items():
        (folder / ("base-" + name)).write_text(text)
        argv = [bench.HASP, "tool", "update_data", "-a", "file_path=" + name, "-a", "return_content=diff",
                "-a", "base_content_sha256=" + hashlib.sha256(text.encode()).hexdigest(),
                "-a", "edits=" + json.dumps([{"op": "set", "path": path, "value": "changed"}])]
        runner = bench.Runner("hasp", argv, str(folder),
                              prepare=lambda name=name: shutil.copyfile(folder / ("base-" + name), folder / name),
                              check=lambda name=name, text=text: (folder / name).read_text() == "changed".join(text.rsplit("value", 1)))
        bench.interleave([runner], rounds)
        rows += bench.rows_of("one key of %.1f MB of %s" % (len(text) / 1e6, name.rpartition(".")[2].upper()), [runner])
    return rows


def readings(folder, before, rounds):
    """Runs that need no library of other formats, and one that does."""
    (folder / "notes.txt").write_text("one line\n" * 100)
    (folder / "page.pdf").write_bytes(documents.pdf([[(50, 50, "one line")]]))
    rows = []
    for title, name, programs in (("a text file is read", "notes.txt", [("hasp", bench.HASP)] + [("hasp without readers", before)] * bool(before)),
                                  ("a PDF of one page", "page.pdf", [("hasp", bench.HASP)])):
        runners = [bench.Runner(who, [program, "tool", "read_file", "-a", "file_path=" + name], str(folder)) for who, program in programs]
        bench.interleave(runners, rounds)
        rows += bench.rows_of(title, runners)
    return rows


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true")
    options.add_argument("--mb", type=int, help="size of the JSON Lines")
    options.add_argument("--before", help="a hasp to read a text file with, too")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-data-", dir="/var/tmp") as folder:
        rows = measured(Path(folder), options.mb or (50 if options.quick else 1000), 3)
        rows += updates(Path(folder), 2000 if options.quick else 40000, 5)
        rows += readings(Path(folder), options.before, 5 if options.quick else 21)
    lines = ["| what | who | wall ms | CPU ms | peak MB | hasp takes, times |", "|---" * 6 + "|"]
    made = "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
    print(made)
    if not options.quick and not options.mb:
        bench.page_write(BEGIN, END, made)


if __name__ == "__main__":
    main()
