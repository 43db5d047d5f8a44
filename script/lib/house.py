# SPDX-License-Identifier: Apache-2.0
"""The figures of the source tree: how large, how named, how commented.

script/check-layers refuses what KINDS finds, and more of what LEFT finds than house_left.txt has; script/house lists
all of it, and what SHOWN finds, and prints the `figures`.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

import c_source
import english
import house_pieces
import strings

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
PROOF = "what two readers may read in two ways proves nothing"
STRICT_JSON = {
    "a2a/serve/keys.c": PROOF, "a2a/serve/token.c": PROOF,
    "a2a/serve/rest.c": ASKED, "a2a/serve/rpc.c": ASKED,
    "a2a/serve/runner.c": "an agent elsewhere, whose events stand for edits: what is not well-formed ends it",
    "agent/checkpoint/note.c": OWN, "agent/host/isolation.c": OWN, "agent/setup/brought.c": FILES, "agent/state.c": OWN,
    "api/agent/agent.c": ARGUMENT, "api/agent/common.c": ARGUMENT, "api/agent/own_tools.c": ARGUMENT,
    "api/agent/reader.c": ARGUMENT,
    "cli/command/confinement.c": ARGUMENT, "cli/command/policy_command.c": ARGUMENT,
    "cli/command/tool_command.c": ARGUMENT, "cli/options/completion.c": OWN, "cli/options/help.c": OWN,
    "cli/view/view.c": OWN, "config/extensions_claude.c": FILES, "config/extensions_manifest.c": FILES,
    "config/home.c": FILES, "config/keystore.c": OWN, "config/schema.c": OWN, "config/scope.c": FILES,
    "config/servers.c": FILES, "data/form.c": OWN, "data/json_read.c": "the reader", "data/jsonc.c": FILES,
    "data/schema.c": "a schema's text, or a model's argument within one", "hooks/held.c": OWN,
    "hooks/list.c": FILES,
    "install/github.c": "decides what is installed: nothing in it is repaired",
    "install/market.c": "decides what is installed: nothing in it is repaired",
    "mcp/auth/google.c": "credentials: nothing in them is repaired", "mcp/auth/store.c": OWN,
    "mcp/servers/approvals.c": OWN, "mcp/servers/cache.c": OWN, "mcp/declared/declare.c": OWN,
    "mcp/client/helper.c": "header fields: nothing in them is repaired", "mcp/offer/names.c": OWN,
    "mcp/protocol/ask.c": ASKED, "mcp/protocol/catalog.c": OWN, "mcp/protocol/receive.c": ASKED,
    "model/arguments.c": "a model's arguments: what is repaired in them is said to the model",
    "model/tagged.c": "a model's arguments, of which the text was repaired when it came",
    "model/stream.c": OWN, "net/rpc/rpc.c": ASKED, "telemetry/events.c": OWN, "tool/alias.c": OWN,
    "tool/dialect.c": OWN, "web/control.c": OWN, "web/route.c": ASKED,
    "tool/builtin/deferred_tools.c": "a model's argument, which was repaired when it came", "tool/set.c": OWN,
    "tool/declaration.c": OWN,
    "tui/stash.c": OWN, "tui/show/transcript.c": OWN,
}

# Where a tool's name stands as text outside of its row (data/tools.c) and its definition (tool/builtin/), and why.
# All else asks the row (tool->info->edit, .files, .runs ...), or names a tool by its identifier: tool_name(TOOL_GLOB).
DEFINES = "defines the tool, as tool/builtin/ does"
WORD = "the word means something else here"
TOOLS_NAMED = {
    "mcp/servers/resources.c": DEFINES,
    "catalog/agents.c": "defines the agents that have a row, and the tools that they have",
    "tool/spelling.c": "the table of how calls under each name are read",
    "hooks/claude.c": "a member of Claude Code's Grep",
    "hooks/answer.c": WORD, "model/anthropic/request.c": WORD, "policy/policy.c": WORD, "sandbox/apply/landlock.c": WORD,
    "shell/analysis.h": WORD, "telemetry/shown.c": WORD,
}

# Where members of arguments that mean something for some tools only (`file_path`, `command`,
# `changes`) are read by their names, and why; all else asks the tool's row (tool_edit_at,
# tool_place_next, tool_command_line ...).
MAKES = "makes the call itself"
TRANSLATES = "makes a tool's arguments of those of a tool of another agent"
ARGUMENTS_READ = {
    "agent/host/documents.c": DEFINES,
    "agent/prompt/expand.c": MAKES,
    "agent/session/figures_response.c": "as the model spelled it: Anthropic's editor reads, too",
    "hooks/claude.c": TRANSLATES,
    "hooks/condition.c": "a hook's input: the tool has Claude Code's name and parameters",
    "mcp/offer/prompts.c": "a prompt's arguments, not a tool's",
    "tool/reading_edits.c": TRANSLATES, "tool/spelling.c": TRANSLATES,
    "model/openai/responses_input.c": "the text of what OpenAI's format calls a custom tool",
    "tui/running.c": "looks for the call that has exactly these questions",
    "tui/view/view.c": "asks the row first: members of one tool alone",
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


def visible(sources):
    """{file: the functions whose prototype or definition its includes bring}"""
    declared = {name: source.declared.union(p.name for p in source.prototypes + source.functions)
                for name, source in sources.items() if name.endswith(".h")}
    found = {}
    for name, source in sources.items():
        seen, todo = set(), [name]
        while todo:
            for _, _, target in sources[todo.pop()].includes:
                if target in declared and target not in seen:
                    seen.add(target)
                    todo.append(target)
        found[name] = set().union(*(declared[header] for header in seen), declared.get(name, ()))
    return found


def used_names(source, macros):
    """What a file uses, that of the macros that it uses too."""
    found, todo = set(source.uses), list(source.uses)
    while todo:
        fresh = macros.get(todo.pop(), set()) - found
        found |= fresh
        todo += fresh
    return found


def calls(sources):
    """{file: {file: the functions of that one which it calls, or takes the address of}}"""
    macros, defined = {}, {}
    for name, source in sources.items():
        macros.update(source.macros)
        defined.update({f.name: name for f in source.functions
                        if not f.static or name.endswith(".h")})
    seen = visible(sources)
    found = {}
    for name, source in sources.items():
        own = {f.name for f in source.functions}
        targets = defaultdict(set)
        for word in (used_names(source, macros) & seen[name] & defined.keys()) - own:
            targets[defined[word]].add(word)
        found[name] = targets
    return found


def call_circles(sources):
    """The circles of files of the whole program that use each other's functions; and those of folders,
    where a room and the folder that it is in count as one.  A header may use what its own file has."""
    by_file, by_folder = {}, {room(name): set() for name in sources}
    for name, targets in calls(sources).items():
        by_file[name] = set(targets)
        here = room(name) + "/"
        by_folder[room(name)] |= {there for there in map(room, targets) if not
                                  (here.startswith(there + "/") or (there + "/").startswith(here))}
    return [members for members in c_source.circles(by_file) + c_source.circles(by_folder)
            if len({member.rsplit(".", 1)[0] for member in members}) > 1]


def in_circles(top, sources):
    for members in call_circles(sources):
        for name in members:
            yield name, 1, "calls in a circle with " + " ".join(m for m in members if m != name)


def misplaced_prototypes(top, sources):
    """Those in a header of another folder than the function's."""
    defined = {f.name: name for name, source in sources.items() for f in source.functions
               if not f.static}
    for name, source in sources.items():
        for prototype in source.prototypes if name.endswith(".h") else []:
            home = defined.get(prototype.name)
            if home and room(home) != room(name):
                yield name, prototype.line, "%s is defined in %s: its prototype belongs there" % (
                    prototype.name, room(home))


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


def tools_named(top, sources):
    """Tools' names as text in files without a row in TOOLS_NAMED; rows that are of no use."""
    texts = {name: c_source.without_comments((top / "src" / name).read_text(errors="replace")) for name in sources}
    tools = set(re.findall(r'\[TOOL_\w+\] = \{\s*"(\w+)"', texts.get("data/tools.c", "")))
    useful = set()
    for name, text in texts.items():
        if name == "data/tools.c" or name.startswith("tool/builtin/"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for word in tools.intersection(re.findall(r'"(\w+)"', line)):
                useful.add(name)
                if name not in TOOLS_NAMED:
                    yield name, number, 'names the tool "%s": ask its row (data/tools.h), or say why not in ' \
                        "TOOLS_NAMED (script/lib/house.py)" % word
    for name in sorted(set(TOOLS_NAMED) - useful):
        if name in sources or "data/tools.c" in sources:
            yield name, 1, "has a row in TOOLS_NAMED (script/lib/house.py) and names no tool"


# The end of a look at a member of arguments.
ARGUMENTS = r'\b(?:\w*arguments|args|input|tool_input)"?\)?,\s*"(\w+)"\)'


def explained_members(tools):
    """The members of arguments that data/tools.c explains, and the texts of edits."""
    paths = re.findall(r"PATHS\((.*?)\),?\n", tools, re.S)
    return set(re.findall(r'(?:json_object_get|of_command)\([^()]*, "(\w+)"\)', tools)) | \
        set(re.findall(r'"(\w+)"', " ".join(paths))) | \
        set(re.findall(r'#define EDITS_MEMBER "(\w+)"', tools)) | \
        {"unified_diff", "old_content", "new_content", "todos", "questions"}


def arguments_read(top, sources):
    """Members of arguments that only a tool's row explains, in files without a row in
    ARGUMENTS_READ; rows that are of no use."""
    texts = {name: c_source.without_comments((top / "src" / name).read_text(errors="replace"))
             for name in sources}
    known = explained_members(texts.get("data/tools.c", ""))
    useful = set()
    for name, text in texts.items():
        if name == "data/tools.c" or name.startswith("tool/builtin/"):
            continue
        for found in re.finditer(r"json_object_get\((?:[^();]|\([^();]*\))*?" + ARGUMENTS, text):
            if found[1] not in known:
                continue
            useful.add(name)
            if name not in ARGUMENTS_READ:
                yield name, text.count("\n", 0, found.start()) + 1, \
                    'reads "%s" of arguments without asking whose they are: use data/tools.h, or ' \
                    "say why not in ARGUMENTS_READ (script/lib/house.py)" % found[1]
    for name in sorted(set(ARGUMENTS_READ) - useful):
        if name in sources or "data/tools.c" in sources:
            yield name, 1, "has a row in ARGUMENTS_READ (script/lib/house.py) and needs none"


# What must not be there, as script/house --list calls it, and the function that finds it: path
# beneath src/, line, what is wrong.
KINDS = {
    "columns": long_lines,
    "long functions": long_functions,
    "shared names": shared_names,
    "foreign names": foreign_names,
    "circles": in_circles,
    "misplaced prototypes": misplaced_prototypes,
    "headers with one reader": lone_headers,
    "bare prototypes": bare_prototypes,
    "strangers' JSON": strangers_json,
    "tools named": tools_named,
    "arguments read": arguments_read,
}
# What must become less: TABLE says how many each folder still has.
LEFT = {
    "doubled structs": house_pieces.doubled_structs,
    "dead exports": house_pieces.dead_exports,
    "exports for tests": house_pieces.exports_for_tests,
    "exports of one file": house_pieces.exports_of_own_file,
    "exports of one file and tests": house_pieces.exports_of_own_file_and_tests,
    "wide headers": house_pieces.wide_headers,
    "long files": house_pieces.long_files,
    "flag parameters": house_pieces.flag_parameters,
    "misnamed": house_pieces.misnamed,
    "words": english.words,
    "words in documents": english.words_of_documents,
    "words in texts": strings.words,
}
# What may be there.
SHOWN = {
    "exports": house_pieces.all_exports,
    "exports with one user": house_pieces.exports_with_one_user,
    "static functions called once": house_pieces.static_called_once,
}
LISTED = {**KINDS, **LEFT, **SHOWN}
TABLE = "script/lib/house_left.txt"
TABLE_HEAD = """# How many findings of each kind a folder still has: NUMBER FOLDER KIND.  script/check-layers refuses a kind whose
# total has grown, and asks for "script/house --lower" when it has shrunk.
"""


def shown(name):
    """A path beneath src/ as one beneath the top."""
    return name[3:] if name.startswith("../") else "src/" + name


def left_at(top, sources):
    """{(kind, folder): how many findings of LEFT}."""
    return Counter((kind, folder(shown(name).removeprefix("src/")))
                   for kind, find in LEFT.items() for name, _, _ in find(top, sources))


def left_allowed(top):
    """The same as the table has it, and the line of each."""
    allowed, lines = Counter(), {}
    text = (top / TABLE).read_text() if (top / TABLE).is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            count, place, kind = line.split(None, 2)
            allowed[kind, place] = int(count)
            lines[kind, place] = number
    return allowed, lines


def of_kind(counts, kind):
    return sum(count for (other, _), count in counts.items() if other == kind)


def left_grown(top, sources):
    """(line of the table, what is wrong) for each folder with more than its number, of kinds with more in all."""
    found, (allowed, lines) = left_at(top, sources), left_allowed(top)
    for kind, place in sorted(found):
        if found[kind, place] > allowed[kind, place] and of_kind(found, kind) > of_kind(allowed, kind):
            yield lines.get((kind, place), 1), "%s: %d in %s, where %d are left (script/house --list \"%s\" %s)" % (
                kind, found[kind, place], place, allowed[kind, place], kind, place)


def left_fallen(top, sources):
    """What may be lowered, as sentences."""
    found, (allowed, _) = left_at(top, sources), left_allowed(top)
    for kind in LEFT:
        if of_kind(found, kind) < of_kind(allowed, kind):
            yield "%s: %d of %d are left: run script/house --lower" % (
                kind, of_kind(found, kind), of_kind(allowed, kind))


def lower(top, sources):
    """Writes the table again, but for kinds that have grown, which it returns."""
    found, (allowed, _) = left_at(top, sources), left_allowed(top)
    grown = [kind for kind in LEFT if of_kind(found, kind) > of_kind(allowed, kind)] if allowed else []
    table = Counter({key: n for key, n in allowed.items() if key[0] in grown})
    table.update({key: n for key, n in found.items() if key[0] not in grown})
    rows = sorted((place, kind, count) for (kind, place), count in table.items() if count)
    (top / TABLE).write_text(TABLE_HEAD + "".join("%d %s %s\n" % (count, place, kind) for place, kind, count in rows))
    return grown


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
    left = {kind: len(list(find(top, sources))) for kind, find in {**LEFT, **SHOWN}.items()}
    structs = {struct.name for source in sources.values() for struct in source.structs}
    doubled = {what.split()[1] for _, _, what in house_pieces.doubled_structs(top, sources)}
    widest = max((len(source.prototypes), name) for name, source in [("-", c_source.read("")), *sources.items()]
                 if name.endswith(".h") or name == "-")
    statics = sum(1 for f in functions if f.static)
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
        ("structs that share their name", "%d of %d" % (len(doubled), len(structs))),
        ("exported functions", left["exports"]),
        ("exported functions that one other file uses",
         percent(left["exports with one user"], left["exports"])),
        ("exported functions that their own file alone uses, or it and tests",
         "%d, %d" % (left["exports of one file"], left["exports of one file and tests"])),
        ("exported functions that nothing uses, or tests alone",
         "%d, %d" % (left["dead exports"], left["exports for tests"])),
        ("static functions that are called once", percent(left["static functions called once"], statics)),
        ("widest header, prototypes", "%s, %d" % widest[::-1]),
        ("files over %d lines" % house_pieces.MOST_FILE_LINES, left["long files"]),
        ("parameters that make two functions of one", left["flag parameters"]),
        ("names with a word that has another name", left["misnamed"]),
        ("words that english.py refuses", left["words"]),
        ("headers with one reader", count["headers with one reader"]),
        ("circles of calls", "%d, of %d files or folders" % (len(circles), sum(map(len, circles)))),
        ("prototypes in another folder than their function", count["misplaced prototypes"]),
        ("prototypes documented",
         percent(len(prototypes) - count["bare prototypes"], len(prototypes))),
        ("lines over %d columns" % MOST_COLUMNS, count["columns"]),
        ("words under docs/", docs),
        ("words of README.md", len((top / "README.md").read_text().split())),
    ]
