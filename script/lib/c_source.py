# SPDX-License-Identifier: Apache-2.0
"""What script/check-layers and script/house know of a C file: its functions, prototypes and calls.

No compiler: the text is read in the one style that this repository is written in.  Comments, strings and
preprocessor lines are blanked out, line numbers kept; then whatever stands at depth 0 before a brace or a
semicolon is a definition or a declaration.
"""

import bisect
import functools
import re
from collections import Counter
from typing import NamedTuple

COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
# JSON written as C (tool/builtin/builtin.h), whose braces need not match; and a macro called at depth 0.
SCHEMA = re.compile(r"\bSCHEMA\s*\((?:[^()]|\([^()]*\))*\)")
MACRO_CALL = re.compile(r"^\s*[A-Z_0-9]+\s*\([^()]*\)\s*")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
WORD = re.compile(r"[A-Za-z_]\w*")
STRUCT = re.compile(r"\bstruct\s+([A-Za-z_]\w*)\s*\{")
# A name; none behind ".", "->" or the word for a type.
USE = re.compile(r"(?:(?:\.|->)\s*|\b(?:struct|enum|union)\s+)\w+|\b([A-Za-z_]\w*)")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof", "struct", "union", "enum",
                 "_Static_assert", "static_assert"}


class Function(NamedTuple):
    name: str
    line: int
    lines: int  # from its head to its closing brace
    static: bool


class Prototype(NamedTuple):
    name: str
    line: int
    documented: bool
    head: str  # its text, without attributes


class Struct(NamedTuple):
    name: str
    line: int  # of its definition


class Source(NamedTuple):
    functions: list
    prototypes: list
    structs: list
    words: Counter  # each identifier -> how often, outside of comments, strings and directives
    used: Counter  # the same with directives: macros use functions, too
    declared: set  # identifiers of declarations that are no prototypes: functions of a named type, too
    uses: set  # identifiers in bodies and initial values: what may be called, or have its address taken
    macros: dict  # each macro -> identifiers of its text
    includes: list  # (line, quote, target)
    lines: int


def blank(match):
    return "\n".join(" " * len(line) for line in match.group(0).split("\n"))


@functools.cache  # several checks read the same files
def without_comments(text):
    """The code alone, strings kept, line numbers kept."""
    return COMMENT_OR_TEXT.sub(
        lambda m: m.group(0) if m.group(0)[0] in "\"'" else blank(m), text)


def code_alone(text):
    """No comments, no strings, no directives, no JSON; line numbers kept."""
    return SCHEMA.sub(blank, DIRECTIVE.sub(blank, COMMENT_OR_TEXT.sub(blank, text)))


@functools.cache
def includes(text):
    found = []
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = INCLUDE.match(line) if "#" in line else None
        if match:
            found.append((number, match.group(1), match.group(2)))
    return found


def head_name(head):
    """The name that a definition's or declaration's head introduces as a function, or None."""
    head = MACRO_CALL.sub(" ", ATTRIBUTE.sub(" ", head))
    match = re.search(r"([A-Za-z_]\w*)\s*\(", head)
    if not match or "=" in head or head.lstrip().startswith("typedef"):
        return None
    before = head[:match.start()].split()
    # A macro called at depth 0 has no type before its name.
    return match.group(1) if before and match.group(1) not in NOT_FUNCTIONS else None


def top_level(code):
    """(head, position of the head, position after, True for a body) of what stands at depth 0."""
    depth, start, body = 0, 0, 0
    for match in re.finditer(r"[{};]", code):
        at, sign = match.start(), match.group(0)
        if sign == "{":
            if depth == 0:
                body = at
            depth += 1
        elif sign == "}":
            depth = max(0, depth - 1)
            if depth == 0 and head_name(code[start:body]):
                yield code[start:body], start, at, True
                start = at + 1
        elif depth == 0:
            yield code[start:at], start, at, False
            start = at + 1


def line_ends(text):
    return [match.start() for match in re.finditer("\n", text)]


def comment_lines(text):
    """Numbers of the lines that hold a comment, or a part of one."""
    found, ends = set(), line_ends(text)
    for match in COMMENT_OR_TEXT.finditer(text):
        if match.group(0)[0] == "/":
            first = bisect.bisect_left(ends, match.start()) + 1
            found.update(range(first, first + match.group(0).count("\n") + 1))
    return found


def is_documented(first, last, lines, comments):
    """A comment stands on its lines, or above the run of declarations that it stands in."""
    if any(n in comments for n in range(first, last + 1)):
        return True
    above = first - 1
    while above >= 1 and lines[above - 1].strip() and above not in comments:
        if lines[above - 1].lstrip().startswith(("#", "}")):
            return False
        above -= 1
    return above in comments


def uses(code):
    """Members, labels of designated values and names of types are left out."""
    found = set()
    for head, start, end, has_body in top_level(code):
        if has_body or "=" in head:
            piece = code[start + len(head):end] if has_body else head
            found.update(match.group(1) for match in USE.finditer(piece) if match.group(1))
    return found


def macros(text):
    return {match.group(1): set(WORD.findall(match.group(2)))
            for match in MACRO.finditer(without_comments(text))}


def read(text):
    code = code_alone(text)
    lines = text.splitlines()
    comments, ends = comment_lines(text), line_ends(code)
    functions, prototypes, declared = [], [], set()
    for head, start, end, has_body in top_level(code):
        name = head_name(head)
        if not name:
            declared.update(() if re.search(r"[{=(]", head) else WORD.findall(head))
            continue
        start += len(head) - len(head.lstrip())
        first, last = bisect.bisect_left(ends, start) + 1, bisect.bisect_left(ends, end) + 1
        if has_body:
            functions.append(Function(name, first, last - first + 1,
                                      bool(re.search(r"\bstatic\b", head))))
        elif not name.isupper():  # a table of macros (X macros), expanded
            prototypes.append(Prototype(name, first, is_documented(first, last, lines, comments),
                                        ATTRIBUTE.sub(" ", head).strip()))
    structs = [Struct(match.group(1), bisect.bisect_left(ends, match.start()) + 1)
               for match in STRUCT.finditer(code)]
    return Source(functions, prototypes, structs, Counter(WORD.findall(code)),
                  Counter(WORD.findall(COMMENT_OR_TEXT.sub(blank, text))), declared, uses(code), macros(text),
                  list(includes(text)), len(lines))


def circles(graph):
    """The sets of more than one node from each of which every other can be reached (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on.add(target)
                    work.append((target, iter(sorted(graph.get(target, ())))))
                    break
                if target in on:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        members.append(stack.pop())
                        on.discard(members[-1])
                        if members[-1] == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found)
