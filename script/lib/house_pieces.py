# SPDX-License-Identifier: Apache-2.0
"""How many pieces the program is in: struct names with several meanings, exports without a reader, wide headers.

Each of these functions yields (path beneath src/, line, finding), as those in house.py do; house_left.txt counts what
each folder still has.
"""

import functools
import re
from collections import Counter, defaultdict

import c_source

MOST_PROTOTYPES = 60  # of a header
MOST_FILE_LINES = 800
READERS_OUTSIDE = ("test", "fuzz", "example")
NO_EXPORTS = {"main"}
# The linker looks for these under other libraries' names.
STAND_INS = {"net/http/left_out.c"}

# An export that no other file in src/ uses -> whom it serves.
SERVER = "servers of other tools than hasp's, over mcp/protocol/, finish a call with it"
WRITES = "writes a document of the project"
FUZZED = "what its fuzzer enters, or compares with"
WATCHED = "shows tests a state that no result has"
CASES = "reads or writes one thing, of which a test has a table of cases"
STEPS = "tests look between the steps that its own file takes at once, or take them in other ways"
CHOSEN = "tests compare what hasp chooses by the machine or the kernel it runs on"
FOR_OTHERS = {
    "figures_of_text": FUZZED, "matcher_ignores_case": FUZZED, "recording_replay": FUZZED, "note_parse": FUZZED,
    "journal_parse": FUZZED, "journal_format": FUZZED,
    "mcp_call_close_stream": SERVER, "mcp_call_not_found": SERVER, "mcp_call_lacks": SERVER, "mcp_text_result": SERVER,
    "mcp_error_result": SERVER, "mcp_resources_changed": SERVER, "mcp_call_can_ask": SERVER, "mcp_text_content": SERVER,
    "patch_settled_because": WRITES, "wire_message_at": WRITES,
    "search_cache_settle": WATCHED, "global_ignore_path": WATCHED, "colour_painted": WATCHED, "colour_language": WATCHED,
    "job_output_bytes": WATCHED, "markdown_held": WATCHED, "bus_topic_members": WATCHED, "wire_layout_least": WATCHED,
    "kind_at": "the test that each row names its source",
    "format_at": CASES, "format_by_key": CASES, "query_streams": CASES,
    "format_derive": "tests with readers that are made to do harm",
    "a2a_host_is_loopback": CASES, "compact_transcript_write": CASES, "compact_tail": CASES,
    "structured_find": CASES, "a2a_host_is_loopback": CASES, "compact_transcript_write": CASES, "compact_tail": CASES,
    "memory_resolve_imports": CASES, "mentions_find": CASES, "mentions_free": CASES, "name_read": CASES,
    "ide_place_read": CASES, "ide_problems_read": CASES,
    "mcp_http_endpoint": CASES, "mcp_sign_check": CASES, "result_members_ended": CASES, "act_write_json": CASES,
    "cgroup_places_read": CASES, "cgroup_place": CASES, "explain_access": CASES, "glob_may_match_beneath": CASES,
    "discovered_add_text": CASES, "hunks_header": CASES, "bindings_parse_key": CASES, "bindings_chords": CASES,
    "theme_nearest_16": CASES, "theme_nearest_tint": CASES, "theme_sgr": CASES,
    "read_window_init": STEPS, "read_window_feed": STEPS, "read_window_finish": STEPS, "commit_delete_how": STEPS,
    "literal_best_way": CHOSEN, "literal_use": CHOSEN, "literal_set_use": CHOSEN, "literal_survey_portable": CHOSEN,
    "landlock_files": CHOSEN,
    "audit_line_is_whole": CASES, "audit_read_text": FUZZED, "audit_check_begin": FUZZED, "audit_check_line": FUZZED,
    "audit_check_end": FUZZED, "web_diff_reverse": CASES, "web_diff_choose": CASES, "web_role_parse": CASES,
    "web_cookie_each": CASES, "web_event_print": CASES,
}

# A component of a name -> what hasp calls it: one noun for one thing.
NOUNS = {
    "beside": "outside, of what is not in the workspace; next_to, of a place", "circles": "loop", "asking": "request", "forgo": "drop",
    "bell": "ready_fd", "heard": "event", "anew": "again, or re-", "begins": "two functions, or begin",
    "begun": "started", "told": "reported", "tells": "reports", "gone": "missing, or ended", "whom": "owner", "wants": "requires",
}


def doubled_structs(top, sources):
    """Structs whose name another definition has too."""
    places = defaultdict(list)
    for name, source in sources.items():
        for struct in source.structs:
            places[struct.name].append((name, struct.line))
    for struct, where in sorted(places.items()):
        for name, line in where if len(where) > 1 else []:
            others = sorted("%s:%d" % place for place in where if place != (name, line))
            yield name, line, "struct %s is defined in %s too" % (struct, " and ".join(others))


def is_export(function, name):
    return not (function.static or name.endswith(".h") or name in STAND_INS or function.name in NO_EXPORTS
                or function.name.startswith("hasp_"))


@functools.cache
def words_outside(top):
    """The identifiers of what uses src/ from outside."""
    found = Counter()
    for folder in READERS_OUTSIDE:
        for path in (top / folder).rglob("*.[ch]"):
            found.update(c_source.WORD.findall(c_source.COMMENT_OR_TEXT.sub(" ", path.read_text(errors="replace"))))
    return found


def uses_of(top, sources):
    """{file: {identifier: how often}}, prototypes taken off; files in C++ too."""
    uses = {}
    for name, source in sources.items():
        uses[name] = source.used - Counter(prototype.name for prototype in source.prototypes)
    for path in (top / "src").rglob("*.cc"):
        text = c_source.COMMENT_OR_TEXT.sub(" ", path.read_text(errors="replace"))
        uses[path.relative_to(top / "src").as_posix()] = Counter(c_source.WORD.findall(text))
    return uses


@functools.lru_cache(1)
def users_at(top, key):
    sources = key.sources
    where, uses = defaultdict(set), uses_of(top, sources)
    exported = {f.name: name for name, source in sources.items() for f in source.functions if is_export(f, name)}
    for name, words in uses.items():
        for word in words:
            if word in exported and (name != exported[word] or words[word] > 1):
                where[word].add(name)
    return where


class Key:
    """Sources as an argument that a cache can compare."""

    def __init__(self, sources):
        self.sources = sources

    def __hash__(self):
        return id(self.sources)

    def __eq__(self, other):
        return self.sources is other.sources


def exports(top, sources):
    """(file, function, the other files that use it, whether its own does, whether tests do) of each export."""
    users, outside = users_at(top, Key(sources)), words_outside(top)
    for name, source in sources.items():
        for function in source.functions:
            if is_export(function, name):
                files = users.get(function.name, set())
                yield name, function, files - {name}, name in files, function.name in outside


def all_exports(top, sources):
    for name, function, others, _, _ in exports(top, sources):
        yield name, function.line, "%s is used by %d other files" % (function.name, len(others))


def dead_exports(top, sources):
    for name, function, others, own, tests in exports(top, sources):
        if not (others or own or tests):
            yield name, function.line, "%s is used by nothing" % function.name


def exports_for_tests(top, sources):
    for name, function, others, own, tests in exports(top, sources):
        if tests and not (others or own) and function.name not in FOR_OTHERS:
            yield name, function.line, "%s is used by tests alone: remove it, or say in FOR_OTHERS (script/lib/" \
                "house_pieces.py) whom it serves" % function.name
        if function.name in FOR_OTHERS and (others or not tests):
            yield name, function.line, "%s has a row in FOR_OTHERS and needs none" % function.name


def exports_of_own_file(top, sources):
    for name, function, others, own, tests in exports(top, sources):
        if own and not (others or tests):
            yield name, function.line, "%s is used by its own file alone: make it static" % function.name


def exports_of_own_file_and_tests(top, sources):
    for name, function, others, own, tests in exports(top, sources):
        if own and tests and not others and function.name not in FOR_OTHERS:
            yield name, function.line, "%s is used by its own file and by tests: make it static, or say in FOR_OTHERS " \
                "(script/lib/house_pieces.py) whom it serves" % function.name


def exports_with_one_user(top, sources):
    for name, function, others, _, _ in exports(top, sources):
        if len(others) == 1:
            yield name, function.line, "%s is used by %s alone" % (function.name, *others)


def static_called_once(top, sources):
    """Static functions that their file names once beside definition and declarations."""
    for name, source in sources.items():
        declared = Counter(prototype.name for prototype in source.prototypes)
        for function in source.functions:
            if function.static and source.used[function.name] - declared[function.name] == 2:
                yield name, function.line, "%s is called once" % function.name


def wide_headers(top, sources):
    """Each prototype past the limit is one finding, so that a wide header cannot get wider."""
    for name, source in sources.items():
        for prototype in source.prototypes[MOST_PROTOTYPES:] if name.endswith(".h") else []:
            yield name, prototype.line, "%s is one of %d prototypes: %d are the most of a header" % (
                prototype.name, len(source.prototypes), MOST_PROTOTYPES)


def long_files(top, sources):
    for name, source in sources.items():
        if source.lines > MOST_FILE_LINES:
            yield name, 1, "%d lines: %d are the most of a file" % (source.lines, MOST_FILE_LINES)


def misnamed(top, sources):
    """Names with a word that hasp has another for, where a file first has each."""
    for name, source in sources.items():
        text, seen = None, []
        for word in source.words:
            bad = [part for part in word.lower().split("_") if part in NOUNS]
            if bad:
                text = text or c_source.code_alone((top / "src" / name).read_text(errors="replace"))
                at = re.search(r"\b%s\b" % word, text).start()
                seen.append((text.count("\n", 0, at) + 1, word, bad[0]))
        for line, word, bad in sorted(seen):
            yield name, line, "%s: not %s, but %s" % (word, bad, NOUNS[bad])


def arguments(code, at):
    """The arguments of the call whose parenthesis opens at a place; None when it does not end."""
    depth, start, found = 0, at + 1, []
    for match in re.compile(r"[()\[\]{},]").finditer(code, at):
        sign = match.group(0)
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return found + [code[start:match.start()].strip()]
        elif depth == 1:
            found.append(code[start:match.start()].strip())
            start = match.end()
    return None


def flags_of(sources):
    """{exported function: (header, line, {position: name} of its bool parameters)}."""
    found = {}
    for name, source in sources.items():
        for prototype in source.prototypes if name.endswith(".h") else []:
            words = arguments(prototype.head, prototype.head.index("(")) or []
            flags = {at: match.group(1) for at, word in enumerate(words)
                     for match in [re.fullmatch(r"(?:const )?bool\s+(\w+)", word)] if match}
            if flags and not prototype.name.startswith("hasp_"):
                found[prototype.name] = (name, prototype.line, flags)
    return found


def flag_parameters(top, sources):
    """bool parameters for which all calls have a constant: each value is a function of its own."""
    flags, values = flags_of(sources), defaultdict(lambda: defaultdict(list))
    for name, source in sources.items():
        called = [word for word in source.words if word in flags] if name.endswith(".c") else []
        code = c_source.code_alone((top / "src" / name).read_text(errors="replace")) if called else ""
        for match in re.finditer(r"\b(%s)\s*\(" % "|".join(called), code) if called else []:
            words = arguments(code, match.end() - 1) or []
            for at in flags[match.group(1)][2]:
                if at < len(words) and not words[at].startswith("bool "):
                    values[match.group(1)][at].append(words[at])
    for function, (name, line, positions) in sorted(flags.items()):
        for at, flag in positions.items():
            given = set(values[function][at])
            if given and given <= {"true", "false"}:
                what = "two functions in one" if len(given) == 2 else "always %s" % next(iter(given))
                yield name, line, "bool %s of %s: every call says true or false, so it is %s" % (flag, function, what)
