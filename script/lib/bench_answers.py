# SPDX-License-Identifier: Apache-2.0
"""script/bench answers: what one edit's answer adds to the conversation, beside other agents.

Each agent does the same headless task with files of 13, 303, 3,003 and 60,000 lines: read it (whole, or
only the lines around the place), change one word by each editor that it offers, say that it is done.
Counted are bytes of requests as they were sent: of the first; what the request after the edit has more than
the one before it, without the model's own call; and the whole of that request.  Where a call is refused the
model sends it again with what the answer told it (a hash), and all answers until the file is changed count.
A reading that did not show the place, because the product bounds what it shows, is followed by one in part.

    python3 script/lib/bench_answers.py [--only NAME,...] [--lines N,...] [--json FILE]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import bench
import bench_products as ways
from fake_server import find

BEGIN, END = "<!-- answers: begin -->", "<!-- answers: end -->"
LINES = (13, 303, 3003, 60000)
AROUND = 12  # lines on each side of the place, of a reading in part
CONTEXT = 10  # lines on each side, of a diff: what safe_patch's description demands
TRIES = 3
TARGET = 450
EXACT = ("update_file", "replace", "Edit", "edit")
WHOLE = ("write_file", "Write")
EDITORS = ("safe_patch", "update_file", *WHOLE, "apply_changes", "replace", "Edit", "MultiEdit",
           "str_replace_based_edit_tool", "apply_patch")
LOCKED = "base_content_sha256"


def line(number):
    return "    total_%05d = sum(parts[%d], factor)" % (number, number % 100)


class Place:
    """The file and the change in it."""

    def __init__(self, lines):
        self.before = [line(number) for number in range(lines)]
        self.at = lines // 2
        self.old, self.new = self.before[self.at], self.before[self.at].replace("factor", "FACTOR")
        self.after = [*self.before[:self.at], self.new, *self.before[self.at + 1:]]

    def around(self, count):
        """(first line from 0, lines before, lines after)"""
        first, last = max(0, self.at - count), min(len(self.before), self.at + count + 1)
        return first, self.before[first:self.at], self.before[self.at + 1:last]

    def hunk(self, count=CONTEXT):
        _, before, after = self.around(count)
        return [*(" " + one for one in before), "-" + self.old, "+" + self.new,
                *(" " + one for one in after)]

    def diff(self):
        first, _, _ = self.around(CONTEXT)
        hunk = self.hunk()
        return "@@ -%d,%d +%d,%d @@\n%s\n" % (first + 1, len(hunk) - 1, first + 1, len(hunk) - 1,
                                             "\n".join(hunk))


def edit_call(editor, names, place, sha256):
    """The call of one editor; `sha256` None: without a hash."""
    path, schema = "file.txt", names.get(editor, {})
    lock = {LOCKED: sha256} if sha256 else {}
    if editor in EXACT:
        return ways.exact_call(editor, schema, path, place.old, place.new, sha256)
    if editor == "safe_patch":
        return {"call": editor, "args": dict(lock, file_path=path, unified_diff=place.diff())}
    if editor in WHOLE:
        return {"call": editor, "args": dict(lock, file_path=path,
                                             content="\n".join(place.after) + "\n")}
    if editor == "apply_changes":
        return {"call": editor, "args": {"changes": [dict(lock, kind="patch", file_path=path,
                                                          unified_diff=place.diff())]}}
    if editor == "MultiEdit":
        return {"call": editor, "args": {ways.path_argument(schema): path, "edits": [
            {"old_string": place.old, "new_string": place.new}]}}
    if editor == "str_replace_based_edit_tool":
        return {"call": editor, "args": {"command": "str_replace", "path": path,
                                         "old_str": place.old, "new_str": place.new}}
    return ways.patch_call(names, [(path, [place.hunk(3)])], sha256)


class Task:
    """The model: reads, edits by `editor` (None: only looks at the tools), ends."""

    def __init__(self, file, place, editor, part, locked):
        self.file, self.place, self.editor = file, place, editor
        self.part, self.locked = part, locked
        self.calls, self.first_edit, self.done_at, self.reads = [], None, None, 0

    def __call__(self, request, provider):
        names, results = ways.tools(request, provider), provider.tool_results(request)
        if not self.editor or self.done_at is not None:
            return {"reply": [{"text": "Done."}]}
        if self.first_edit is None and not (self.reads and
                                            self.place.old in ways.texts(results[-1])):
            return self.read(names)
        if self.first_edit is None:
            self.first_edit = len(self.calls)
        elif self.file.read_bytes() == ("\n".join(self.place.after) + "\n").encode():
            self.done_at = len(self.calls)
            return {"reply": [{"text": "Done."}]}
        elif len(self.calls) - self.first_edit >= TRIES:
            return {"reply": [{"text": "Done."}]}
        again = len(self.calls) > self.first_edit
        sha256 = latest_hash(results) if self.locked or again else None
        return self.say(edit_call(self.editor, names, self.place, sha256))

    def read(self, names):
        if self.reads >= 2:
            return {"reply": [{"text": "Done."}]}
        self.reads += 1
        if not self.part and self.reads == 1:
            return self.say(ways.read_call(names, "file.txt"))
        first, before, after = self.place.around(AROUND)
        return self.say(ways.read_call(names, "file.txt", first + 1,
                                       first + len(before) + 1 + len(after)))

    def say(self, call):
        self.calls.append(call)
        return {"reply": [call]}


def latest_hash(results):
    return next((found for found in (find(one, "sha256") for one in results[::-1]) if found), None)


def measure(product, folder, number, lines, editor, part, locked):
    """{"answer", "request", "calls", "reads"} of one run; SystemExit if the file is not changed."""
    work = Path(folder) / "work"
    work.mkdir(exist_ok=True)
    place, file = Place(lines), work / "file.txt"
    file.write_text("\n".join(place.before) + "\n")
    task = Task(file, place, editor, part, locked)
    prompt = "In file.txt, replace the word factor by FACTOR in line %d." % (place.at + 1)
    requests = ways.run(product, Path(folder) / ("home%d" % number), work, prompt, task)
    if task.done_at is None:
        raise SystemExit("bench: %s did not change %d lines by %s: %s" % (
            product.name, lines, editor, ways.texts(conversation_end(requests))[-600:]))
    pairs = list(zip(requests, requests[1:]))[task.first_edit:task.done_at]
    return {"answer": sum(ways.added(*pair) for pair in pairs),
            "shortened": not all(ways.grew(*pair) for pair in pairs),
            "request": len(requests[task.done_at].raw), "calls": len(pairs), "reads": task.reads}


def conversation_end(requests):
    return ways.conversation(requests[-1].body)[-1:]


def look(product, folder, number):
    """The first request's bytes, its tools, and the editors among them."""
    work = Path(folder) / "empty"
    work.mkdir(exist_ok=True)
    seen = {}

    def task(request, provider):
        seen.update(ways.tools(request, provider))
        return {"reply": [{"text": "Done."}]}

    requests = ways.run(product, Path(folder) / ("home%d" % number), work, "Say hello.", task)
    editors = [name for name in EDITORS if name in seen]
    return {"bytes": len(requests[0].raw), "tools": len(seen),
            "editors": editors if has_reader(seen) else ["apply_patch"],
            "locked": [name for name in editors if LOCKED in json.dumps(seen[name])]}


def has_reader(names):
    return any(name in names for name in ways.READERS)


def variants(product, first, known):
    """[(editor, with a hash)] to be measured of this product."""
    for editor in first["editors"]:
        if not product.strict and editor in WHOLE:
            continue  # the peers' editor for a change is another
        if product.strict and (editor in known or known.add(editor)):
            continue  # measured before
        for locked in ([True, False] if editor in first["locked"] else [False]):
            yield editor, locked


def gather(products, lines):
    """{"first": {name: look()}, "rows": [{"who", "editor", "locked", "cells": {(lines, part): measure()}}]}"""
    found, known = {"first": {}, "rows": []}, set()
    # Not beneath /tmp: codex starts no helper from there.
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=Path.home()) as folder:
        for number, product in enumerate(products):
            if product.missing:
                found["rows"].append({"who": product.name, "missing": product.missing})
                continue
            first = found["first"][product.name] = look(product, folder, number)
            for editor, locked in variants(product, first, known):
                cells = {(count, part): measure(product, folder, number, count, editor, part, locked)
                         for count in lines for part in (False, True)}
                found["rows"].append({"who": product.name, "editor": editor, "locked": locked,
                                      "cells": cells})
    return found


# ---- tables ------------------------------------------------------------------------------

def number(value):
    return "{:,}".format(value)


def marked(cell, key):
    """A figure; `*`: after a call that was refused, `†`: the place was not shown by the first reading; `‡`: the
    product shortened the conversation, so that what the answer added cannot be seen."""
    return number(cell[key]) + "*" * (cell["calls"] - 1) + "†" * (cell["reads"] - 1) + \
        "‡" * (cell["shortened"] and key == "answer")


def label(row):
    return row["editor"] + ("" if not row["who"].startswith("hasp") else
                            ", with a hash" if row["locked"] else ", without a hash")


def grid(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def answers_table(found, lines, key, title):
    places = [(count, part) for count in lines for part in (False, True)]
    rows = []
    for row in found["rows"]:
        if "missing" in row:
            rows.append([row["who"], "missing: " + row["missing"], *[""] * len(places)])
        else:
            rows.append([row["who"], label(row)] + [marked(row["cells"][at], key) for at in places])
    return grid([title, "by"] + ["%s lines, read %s" % (number(count), "in part" if part else "whole")
                                 for count, part in places], rows)


def first_table(found):
    return grid(["first request of a session", "bytes", "tokens (bytes by four)", "tools"],
                [[who, number(one["bytes"]), number(one["bytes"] // 4), str(one["tools"])]
                 for who, one in found["first"].items()])


def page(found, lines):
    return "\n\n".join([
        answers_table(found, lines, "answer", "bytes that the edit's answer adds"),
        answers_table(found, lines, "request", "bytes of the whole next request"),
        first_table(found),
        "\\* after a call that was refused for want of a hash; its answer is counted too. † the reading of the "
        "whole file did not show the place, and a second one in part did. ‡ the product shortened the conversation: "
        "what the answer added cannot be seen."])


def worst(found):
    """hasp's largest answer, and where."""
    cells = [(cell["answer"], row, at) for row in found["rows"] if row["who"].startswith("hasp")
             for at, cell in row.get("cells", {}).items()]
    return max(cells, key=lambda one: one[0]) if cells else None


def plain(found):
    """As JSON can have it."""
    rows = [dict(row, cells=[[*at, cell] for at, cell in row.get("cells", {}).items()])
            for row in found["rows"]]
    return dict(found, rows=rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small files only; docs/ is not touched")
    parser.add_argument("--only", help="names' beginnings, with commas")
    parser.add_argument("--lines", help="numbers of lines, with commas")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    options = parser.parse_args()
    lines = [int(one) for one in options.lines.split(",")] if options.lines else \
        LINES[:2] if options.quick else LINES
    found = gather(ways.products(options.only.split(",") if options.only else None), lines)
    text = page(found, lines)
    print(text)
    if most := worst(found):
        print("\nhasp's largest: %s bytes (%s, %s; %d lines%s); aim: %d" % (
            number(most[0]), most[1]["who"], label(most[1]), most[2][0],
            ", read in part" if most[2][1] else "", TARGET))
    if options.json:
        options.json.write_text(json.dumps(plain(found), indent=1))
    if not (options.quick or options.only or options.lines):
        bench.page_write(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
