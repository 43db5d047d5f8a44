# SPDX-License-Identifier: Apache-2.0
"""The figures of the source tree: how large, how named, how commented.

script/check-layers refuses what KINDS finds, script/house lists it and prints the `figures`.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

import c_source

MOST_COLUMNS = 100
MOST_LINES = 60  # of a function

# What looks like a breach and is none: the name or the file -> why.
EXEMPT = {
    "main": "each program has its own",
    "net/http/left_out.c": "stands in for functions of other libraries, under their names",
}


# Who reads JSON strictly, and why that is not a stranger's; all others read it with json_parse_foreign (data/json.h),
# or, from a provider's stream, with json_parse_lenient.
FILES = "a file of the user's or of hasp's own: an error names it and its place"
OWN = "hasp wrote or printed it"
ARGUMENT = "an argument of the command line or of the library"
ASKED = "asks hasp for something that may be an edit: what is not well-formed is refused"
STRICT_JSON = {
    "agent/checkpoint/note.c": OWN, "agent/host/isolation.c": OWN, "agent/setup/prepare.c": FILES, "agent/state.c": OWN,
    "api/agent/agent.c": ARGUMENT, "cli/command/confinement.c": ARGUMENT, "cli/command/policy_command.c": ARGUMENT,
    "cli/command/tool_command.c": ARGUMENT, "cli/options/completion.c": OWN, "cli/options/help.c": OWN,
    "cli/view/view.c": OWN, "config/extensions_claude.c": FILES, "config/extensions_manifest.c": FILES,
    "config/home.c": FILES, "config/keystore.c": OWN, "config/schema.c": OWN, "config/scope.c": FILES,
    "config/servers.c": FILES, "data/form.c": OWN, "data/json_read.c": "the reader", "data/jsonc.c": FILES,
    "data/schema.c": "a schema's text, or a model's argument within one", "front/events.c": OWN, "hooks/held.c": OWN,
    "hooks/list.c": FILES,
    "install/github.c": "decides what is installed: nothing in it is repaired",
    "install/market.c": "decides what is installed: nothing in it is repaired",
    "mcp/auth/google.c": "credentials: nothing in them is repaired", "mcp/auth/store.c": OWN,
    "mcp/client/approvals.c": OWN, "mcp/client/cache.c": OWN, "mcp/client/declare.c": OWN,
    "mcp/client/helper.c": "header fields: nothing in them is repaired", "mcp/offer/names.c": OWN,
    "mcp/protocol/ask.c": ASKED, "mcp/protocol/catalog.c": OWN, "mcp/protocol/receive.c": ASKED,
    "model/arguments.c": "a model's arguments: what is repaired in them is said to the model",
    "model/tagged.c": "a model's arguments, of which the text was repaired when it came",
    "model/stream.c": OWN, "net/rpc/rpc.c": ASKED, "telemetry/events.c": OWN, "tool/alias.c": OWN,
    "tool/dialect.c": OWN,
    "tool/builtin/deferred_tools.c": "a model's argument, which was repaired when it came", "tool/set.c": OWN,
    "tui/stash.c": OWN, "tui/transcript.c": OWN,
}


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
                yield name, number, "%d columns: %d are the most" % (len(line.expandtabs(8)),
                                                                     MOST_COLUMNS)


def long_functions(top, sources):
    for name, source in sources.items():
        for function in source.functions:
            if function.lines > MOST_LINES:
                yield name, function.line, "%s has %d lines: %d are the most" % (
                    function.name, function.lines, MOST_LINES)


def shared_names(top, sources):
    """Functions whose name another file's function has too."""
    where = defaultdict(set)
    for name, source in sources.items():
        for function in source.functions:
            where[function.name].add(name)
    for name, source in sources.items():
        for function in source.functions:
            others = where[function.name] - {name}
            if others and function.name not in EXEMPT:
                yield name, function.line, "%s is the name of a function in %s too" % (
                    function.name, " and ".join(sorted(others)))


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
            if function.static or function.name.startswith("hasp_") or \
                    name in EXEMPT or function.name in EXEMPT:
                continue
            words = words_of(name).union(*(words_of(h) for h in headers[function.name]))
            if not any(function.name == w or function.name.startswith(w + "_") for w in words):
                yield name, function.line, "%s begins with no word of its folder, file or header" % (
                    function.name)


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


def readers(top, sources):
    """{header: who includes it}, files in C++ too."""
    found = defaultdict(set)
    for path in (top / "src").rglob("*.cc"):
        for _, _, target in c_source.includes(path.read_text(errors="replace")):
            found[target].add(path.name)
    for name, source in sources.items():
        for _, quote, target in source.includes:
            if quote == '"':
                found[target].add(name)
    return found


def lone_headers(top, sources):
    """Headers that one file beside their own .c includes, or none."""
    found = readers(top, sources)
    for name in sources:
        if name.endswith(".h") and len(found[name] - {name[:-2] + ".c"}) <= 1:
            yield name, 1, "at most one file beside its own includes it"


def bare_prototypes(top, sources):
    for name, source in sources.items():
        for prototype in source.prototypes if name.endswith(".h") else []:
            if not prototype.documented:
                yield name, prototype.line, "%s has no comment" % prototype.name


def strangers_json(top, sources):
    """Files that read JSON strictly, or by themselves, without a row in STRICT_JSON; rows that are of no use."""
    reads = {name: source for name, source in sources.items() if name.endswith(".c") for call in [
        re.search(r"\bjson_(parse|parse_depth|parse_repeating|load\w+)\(", (top / "src" / name).read_text(
            errors="replace"))] if call}
    for name in sorted(set(reads) - set(STRICT_JSON)):
        yield name, 1, "reads JSON strictly: use json_parse_foreign, or say why not in STRICT_JSON (script/lib/house.py)"
    for name in sorted(set(STRICT_JSON) - set(reads)):
        if name in sources or "data/json_read.c" in sources:
            yield name, 1, "has a row in STRICT_JSON (script/lib/house.py) and reads no JSON strictly"


# What must not be there, as script/house --list calls it, and the function that finds it: path
# beneath src/, line, what is wrong.
KINDS = {
    "columns": long_lines,
    "long functions": long_functions,
    "shared names": shared_names,
    "foreign names": foreign_names,
    "files in circles": in_circles,
    "headers with one reader": lone_headers,
    "bare prototypes": bare_prototypes,
    "strangers' JSON": strangers_json,
}


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
        ("functions under 60 lines", percent(sum(n < MOST_LINES for n in sizes), len(functions))),
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
