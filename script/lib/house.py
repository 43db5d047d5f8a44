# SPDX-License-Identifier: Apache-2.0
"""The figures of the source tree: how large, how named, how commented.

script/check-layers holds each folder to them (`debts`), script/house prints them (`figures`).
"""

from collections import Counter, defaultdict
from pathlib import Path

import c_source

MOST_COLUMNS = 100
MOST_LINES = 100  # of a function
FEW_LINES = 60    # that nearly every function has at most


def read_all(top, files):
    """{path beneath src/: what c_source.read has of it}, for each .c and .h."""
    src = top / "src"
    return {path.relative_to(src).as_posix(): c_source.read(path.read_text(errors="replace"))
            for path in files if src in path.parents and path.suffix in (".c", ".h")}


def folder(name):
    return name.split("/")[0]


def room(name):
    return name.rsplit("/", 1)[0]


def stem(name):
    return name.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def long_lines(top, sources):
    for name in sources:
        text = (top / "src" / name).read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if len(line.expandtabs(8)) > MOST_COLUMNS:
                yield name, number, "%d columns" % len(line.expandtabs(8))


def long_functions(top, sources):
    for name, source in sources.items():
        for function in source.functions:
            if function.lines > FEW_LINES:
                yield name, function.line, "%s: %d lines" % (function.name, function.lines)


def shared_names(top, sources):
    """Functions whose name another file's function has too; main is each program's own."""
    where = defaultdict(set)
    for name, source in sources.items():
        for function in source.functions:
            where[function.name].add(name)
    for name, source in sources.items():
        for function in source.functions:
            if len(where[function.name]) > 1:
                yield name, function.line, function.name


def words_of(name):
    """The words that an exported name of this file may begin with, in singular and plural."""
    found = set(name.split("/")[:-1]) | {stem(name)}
    return found | {word.rstrip("s") for word in found} | {word + "s" for word in found}


def foreign_names(top, sources):
    """Exported functions that do not begin with the word of their folder, file or header."""
    headers = defaultdict(set)
    for name, source in sources.items():
        for prototype in source.prototypes:
            headers[prototype.name].add(name)
    for name, source in sources.items():
        for function in source.functions:
            if function.static or function.name == "main" or function.name.startswith("hasp_"):
                continue
            words = words_of(name).union(*(words_of(h) for h in headers[function.name]))
            if not any(function.name == w or function.name.startswith(w + "_") for w in words):
                yield name, function.line, function.name


def call_circles(sources):
    """The circles of files of one room that use each other's functions."""
    homes = defaultdict(dict)
    for name, source in sources.items():
        for function in source.functions:
            if not function.static:
                homes[room(name)][function.name] = name
    found = []
    for place, defined in sorted(homes.items()):
        graph = {name: {defined[word] for word in source.words
                        if word in defined and defined[word] != name}
                 for name, source in sources.items() if room(name) == place}
        found += c_source.circles(graph)
    return found


def in_circles(top, sources):
    for members in call_circles(sources):
        for name in members:
            yield name, 1, "calls in a circle with " + " ".join(m for m in members if m != name)


def readers(sources):
    found = defaultdict(set)
    for name, source in sources.items():
        for _, quote, target in source.includes:
            if quote == '"':
                found[target].add(name)
    return found


def lone_headers(top, sources):
    """Headers that one file beside their own .c includes, or none."""
    found = readers(sources)
    for name in sources:
        if name.endswith(".h") and len(found[name] - {name[:-2] + ".c"}) <= 1:
            yield name, 1, "has one reader"


def bare_prototypes(top, sources):
    for name, source in sources.items():
        for prototype in source.prototypes if name.endswith(".h") else []:
            if not prototype.documented:
                yield name, prototype.line, prototype.name


# What is counted, its name in debts.json, and how script/house lists it.
KINDS = {
    "columns": long_lines,
    "long functions": long_functions,
    "shared names": shared_names,
    "foreign names": foreign_names,
    "files in circles": in_circles,
    "headers with one reader": lone_headers,
    "bare prototypes": bare_prototypes,
}


def debts(top, sources):
    """{kind: {folder: how many}}"""
    return {kind: dict(Counter(folder(name) for name, _, _ in find(top, sources)))
            for kind, find in KINDS.items()}


def percent(part, whole):
    return "%.1f %%" % (100 * part / whole if whole else 0)


def figures(top, sources):
    """[(what, figure)], in the order in which script/house prints them."""
    lines = sorted((top / "src" / name).read_text(errors="replace").count("\n")
                   for name in sources) or [0]
    functions = [f for source in sources.values() for f in source.functions]
    sizes = sorted(f.lines for f in functions) or [0]
    prototypes = [p for name, source in sources.items() if name.endswith(".h")
                  for p in source.prototypes]
    rooms = Counter(room(name) for name in sources)
    circles = call_circles(sources)
    count = {kind: len(list(find(top, sources))) for kind, find in KINDS.items()}
    exported = sum(1 for f in functions if not f.static)
    docs = sum(len(path.read_text().split()) for path in (top / "docs").glob("*.md"))
    return [
        ("files under src/ (.c, .h)", len(sources)),
        ("lines", sum(lines)),
        ("median lines of a file", lines[len(lines) // 2]),
        ("files under 60 lines", sum(n < 60 for n in lines)),
        ("largest folder, files side by side", "%s, %d" % rooms.most_common(1)[0]
         if rooms else "-"),
        ("functions", len(functions)),
        ("median lines of a function", sizes[len(sizes) // 2]),
        ("functions under 60 lines", percent(sum(n < FEW_LINES for n in sizes), len(functions))),
        ("longest function", sizes[-1]),
        ("functions that share their name", percent(count["shared names"], len(functions))),
        ("exported names without their folder's or header's word",
         percent(count["foreign names"], exported)),
        ("headers with one reader", count["headers with one reader"]),
        ("circles of calls inside folders", "%d, of %d files" % (len(circles), sum(map(len, circles)))),
        ("prototypes documented",
         percent(len(prototypes) - count["bare prototypes"], len(prototypes))),
        ("lines over %d columns" % MOST_COLUMNS, count["columns"]),
        ("words under docs/", docs),
        ("words of README.md", len((top / "README.md").read_text().split())),
    ]
