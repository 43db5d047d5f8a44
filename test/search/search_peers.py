# SPDX-License-Identifier: Apache-2.0
"""hasp, ripgrep and git asked the same, and their answers in one form.

    found = hasp_search(tree, pattern="x", regex=True)      # {path: {line number: Line}}
    found = rg_search(tree, ["-i"], "x")                    # the same
    names = hasp_files(tree), rg_files(tree, [...]), git_files(tree)   # sets of paths

Paths are relative to the tree; bytes that are not UTF-8 are written \\xNN, as hasp does.
"""

import base64
import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP") or str(TOP / "build" / "hasp")
RG = os.environ.get("RG") or "/usr/bin/rg"
SECONDS = 600
# Nothing of the user's own set-up counts.
ENV = dict({key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
           GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", XDG_CONFIG_HOME="/nonexistent",
           GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8", RIPGREP_CONFIG_PATH="/dev/null")
WITHOUT_LIMITS = {"max_results": 1000000, "max_total_bytes": 268435456, "max_line_bytes": 1048576}


class Line(NamedTuple):
    match: bool     # or context
    text: str
    start: int      # of the first match, in characters; None for context
    end: int


def shown(raw):
    return raw.decode("utf-8", "backslashreplace")


def hasp_call(tree, tool, env=ENV, **arguments):
    done = subprocess.run([HASP, "tool", tool, "--json", "-r", str(tree), "-"], env=env, cwd=str(tree),
                          input=json.dumps(arguments).encode(), capture_output=True, timeout=SECONDS)
    assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


def hasp_result(tree, env=ENV, **arguments):
    result = hasp_call(tree, "search_files", env, **{**WITHOUT_LIMITS, **arguments})
    assert "error" not in result, (arguments, result["message"])
    assert not result["more"] and "timed_out" not in result, (arguments, result.get("message"))
    return result


def hasp_search(tree, env=ENV, **arguments):
    result = hasp_result(tree, env, output="detailed", **arguments)
    names = [entry["file_path"] for entry in result["files"]]
    assert len(names) == len(set(names)), "a file was returned twice"
    return {entry["file_path"]: {
        line["line"]: Line("start" in line, line["text"], line.get("start"), line.get("end"))
        for line in entry["lines"]} for entry in result["files"]}


def hasp_counts(tree, **arguments):
    result = hasp_result(tree, output="counts", **arguments)
    return {entry["file_path"]: entry["matches"] for entry in result["files"]}


def hasp_names(tree, **arguments):
    return set(hasp_result(tree, output="files", **arguments)["files"])


def hasp_files(tree, env=ENV, **arguments):
    result = hasp_call(tree, "glob", env, patterns=["**"], order="name", max_results=1000000,
                       **arguments)
    assert "error" not in result, result
    assert not result["more"]
    return set(result["files"])


def _rg(tree, arguments):
    done = subprocess.run([RG, "--no-config", "--no-ignore-parent", *arguments], cwd=str(tree), env=ENV,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    # 2 with output: some file could not be read.
    assert done.returncode in (0, 1) or (done.returncode == 2 and b"regex parse" not in done.stderr), \
        done.stderr.decode(errors="replace")
    return done.stdout


def rg_understands(pattern):
    """Whether it is a regular expression to ripgrep at all."""
    done = subprocess.run([RG, "--no-config", "-q", "-e", pattern, "/dev/null"], env=ENV,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    return done.returncode in (0, 1)


def _bytes(value):
    return base64.b64decode(value["bytes"]) if "bytes" in value else value["text"].encode()


def _relative(path):
    path = _bytes(path)
    return shown(path[2:] if path.startswith(b"./") else path)


def _add_match(lines, data):
    """A match may span several lines; where it begins is known of the first."""
    first = data["submatches"][0] if data["submatches"] else None
    text = data["lines"].get("text", "")
    if text.isascii() and "\n" not in text[:-1]:  # most are, and characters are bytes
        body = text[:-1].removesuffix("\r") if text.endswith("\n") else text
        start, end = (first["start"], first["end"]) if first else (None, None)
        if text:
            lines.setdefault(data["line_number"],
                             Line(True, body, start, first and min(end, max(start, len(body)))))
            return
    raw = _bytes(data["lines"])
    for i, one in enumerate(re.split(rb"(?<=\n)(?=.)", raw, flags=re.S) or [b""]):
        body = re.sub(rb"\r?\n\Z", b"", one)
        start = end = None
        if i == 0 and first:
            start = len(raw[:first["start"]].decode("utf-8", "replace"))
            end = start + len(raw[first["start"]:first["end"]].decode("utf-8", "replace"))
            end = min(end, max(start, len(body.decode("utf-8", "replace"))))
        lines.setdefault(data["line_number"] + i,
                         Line(True, body.decode("utf-8", "replace"), start, end))


def _with_one_match(row):
    """A line's JSON without all but its first match: no more is compared, and some have hundreds.  What is looked
    for is in no text, whose quotes are escaped."""
    end = row.find(b'},{"match":', row.find(b'"submatches":['))
    return row if end < 0 else row[:end] + b"}]}}"


def rg_search(tree, options, pattern):
    found = {}
    output = _rg(tree, ["--json", *options, "-e", pattern, "./"])
    for event in json.loads(b"[" + b",".join(map(_with_one_match, output.splitlines())) + b"]"):
        data = event["data"]
        if event["type"] == "begin":
            found[_relative(data["path"])] = {}
        elif event["type"] == "match":
            _add_match(found[_relative(data["path"])], data)
        elif event["type"] == "context":
            body = re.sub(rb"\r?\n\Z", b"", _bytes(data["lines"]))
            found[_relative(data["path"])].setdefault(
                data["line_number"], Line(False, body.decode("utf-8", "replace"), None, None))
    return {path: lines for path, lines in found.items() if lines}


def rg_counts(tree, options, pattern):
    rows = _rg(tree, ["-c", "--null", "--with-filename", *options, "-e", pattern, "./"])
    pairs = re.findall(rb"([^\0]+)\0(\d+)\r?\n", rows)
    return {shown(path[2:]): int(count) for path, count in pairs}


def rg_names(tree, options, pattern):
    rows = _rg(tree, ["-l", "--null", *options, "-e", pattern, "./"])
    return {shown(path[2:]) for path in rows.split(b"\0") if path}


def rg_files(tree, options):
    rows = _rg(tree, ["--files", "--null", *options, "./"])
    return {shown(path[2:]) for path in rows.split(b"\0") if path}


def git(tree, *arguments, env=ENV, data=None):
    done = subprocess.run(["git", "-c", "core.quotePath=false", *arguments], cwd=str(tree), env=env,
                          input=data, capture_output=True, timeout=SECONDS)
    assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
    return done.stdout


def git_files(tree, env=ENV):
    """What git would add, regular files only, those of repositories within too."""
    top, found = os.fsencode(str(tree)), set()
    todo = [b""]
    while todo:
        base = todo.pop()
        rows = git(os.fsdecode(os.path.join(top, base)), "ls-files", "-co", "--exclude-standard",
                   "-z", env=env)
        for name in rows.split(b"\0"):
            path = os.path.join(base, name)
            if not name:
                continue
            mode = os.lstat(os.path.join(top, path)).st_mode
            if stat.S_ISREG(mode):
                found.add(shown(path))
            elif stat.S_ISDIR(mode):
                todo.append(path if path.endswith(b"/") else path + b"/")
    return found


def git_ignored(tree, paths, env=ENV):
    """Those of `paths` (bytes) that git would ignore if they were not tracked."""
    rows = git(tree, "check-ignore", "--no-index", "-z", "--stdin", env=env,
               data=b"".join(path + b"\0" for path in paths))
    return set(rows.split(b"\0")) - {b""}
