# SPDX-License-Identifier: Apache-2.0
"""Every text under src/ that a person or a model may read: messages, help, descriptions, screens.

A text is a C string, or several that stand next to each other.  It is listed if it is an argument of one of SAYING,
or reads as prose: two words with a blank between them, in a call, a table or an array.  Not listed: comments,
#include lines, and what a program alone reads (NOT_PROSE, MACHINES).
"""

import bisect
import re
from typing import NamedTuple

import c_source
import english

# Functions whose texts are for readers, whatever they look like.
SAYING = {
    "err_set", "err_set_errno", "output_complain", "output_fail", "warnings_add_line", "command_say", "command_text",
    "early_notice", "agent_output_notice", "host_warn", "host_notice", "notices_say", "scope_warn", "scope_add_unusable",
    "choice_warn", "load_problem", "policy_warn", "config_problem", "config_unused", "sink_note",
}
# Files that write or read another program's text: scripts of shells, sandbox profiles, requests, SQL, HTML.
MACHINES = {
    "cli/options/completion.c", "sandbox/report/seatbelt.c", "telemetry/otlp.c", "sandbox/plan/calls.c",
}
# What has blanks and is no prose: a path, a header field, a template of JSON, of C, of a shell or of an escape.
NOT_PROSE = re.compile(r"""^[\s%\\{}\[\]<>()|:;,.\-+*/=_"'0-9a-z]*$|^[\w-]+: %|^\{s:|\\\\x|^#!|\\033|^[%\w./-]+$""")
PROSE = re.compile(r"[A-Za-z][A-Za-z',]* (?:%[-.*0-9]*[a-z]+ |\"%s\" )?[a-z][a-z'-]+")
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
CALL = re.compile(r"([A-Za-z_]\w*)\s*$")


class Text(NamedTuple):
    file: str  # beneath src/
    line: int
    call: str  # the function that gets it; "": a table, an array, a variable
    text: str  # as written between the quotes, joined


def joined(code):
    """(offset, text) of each run of strings with nothing but white space and macros of formats between."""
    at, parts, last = None, [], None
    for match in STRING.finditer(code):
        between = code[last:match.start()] if last is not None else None
        if between is not None and not between.strip():
            parts.append(match.group(1))
        else:
            if parts:
                yield at, "".join(parts)
            at, parts = match.start(), [match.group(1)]
        last = match.end()
    if parts:
        yield at, "".join(parts)


def callers(code):
    """For each offset of a string: the name before the innermost open parenthesis."""
    open_at, found = [], {}
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[(){}\[\];]', code):
        char = match.group(0)[0]
        if char == '"':
            call = ""
            if open_at and open_at[-1][0] == "(":
                name = CALL.search(code, max(0, open_at[-1][1] - 64), open_at[-1][1])
                call = name.group(1) if name else ""
            found[match.start()] = call
        elif char in "({[":
            open_at.append((char, match.start()))
        elif char in ")}]" and open_at:
            open_at.pop()
        elif char == ";" and not any(one[0] == "(" for one in open_at):
            pass
    return found


def is_prose(text):
    plain = re.sub(r"\\[nt]", " ", text)
    return bool(PROSE.search(plain)) and not re.match(r"^\s*[<{]", plain)


def texts_of(name, source):
    """The texts of one file, in order."""
    if name in MACHINES or name.endswith(".h") and "macro" in name:
        return
    code = c_source.DIRECTIVE.sub(lambda m: c_source.blank(m) if "include" in m.group(0)[:12] else m.group(0),
                                  c_source.without_comments(source))
    code = c_source.SCHEMA.sub(c_source.blank, code)
    calls, ends = callers(code), c_source.line_ends(code)
    for at, text in joined(code):
        call = calls.get(at, "")
        if (call in SAYING and re.search(r"[A-Za-z]{2}", text)) or is_prose(text):
            yield Text(name, bisect.bisect_left(ends, at) + 1, call, text)


def all_texts(top):
    for path in sorted((top / "src").rglob("*.[ch]")):
        name = path.relative_to(top / "src").as_posix()
        yield from texts_of(name, path.read_text(errors="replace"))


def plain(text):
    """As it is read: without escapes and conversions."""
    return re.sub(r"%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z%]", "x",
                  text.replace('\\"', '"').replace("\\n", " ").replace("\\t", " "))


def words(top, sources):
    """As the kinds of house.py: texts with words that english.py refuses."""
    for name in sources:
        for one in texts_of(name, (top / "src" / name).read_text(errors="replace")):
            for _, said, instead in english.found_in(plain(one.text)):
                yield name, one.line, "%s: write %s" % (said, instead)
