# SPDX-License-Identifier: Apache-2.0
"""Markdown of a model as HTML for a cell.

A notebook that is open in the browser shows the Markdown and the HTML of its outputs as they are,
scripts and pictures from elsewhere included.  What a model wrote is no markup of ours: here every
character of it is escaped, and the tags are those that this module writes.  Links go to http,
https and mailto only, and pictures of other sites are shown as links, so that looking at an answer
asks no one for anything.  The cost is linear in the text.
"""
from __future__ import annotations

import html
import re

_MOST_NESTED = 6
_LONGEST_SPAN = 400  # characters between the marks of bold, italic and struck text

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|)$")
_DELIMITERS = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")

_INLINE = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`{1,8})(?!`)(?P<inside>.{1,4000}?)(?<!`)(?P=ticks)(?!`))"
    r"|!?\[(?P<text>[^\[\]\n]{0,400})\]\([ \t]*<?(?P<target>[^\s()<>]{1,2000})>?"
    r"(?:[ \t]+\"[^\"\n]{0,400}\")?[ \t]*\)"
    r"|(?P<address>https?://[^\s<>\"'`*|\\)\]]{1,2000}(?<![.,;:!?]))"
    r"|\*\*(?=\S)(?P<strong>.{1,%d}?)(?<=\S)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<star>[^*\n]{1,%d}?)(?<=\S)\*(?!\*)"
    r"|(?<!\w)_(?=[^\s_])(?P<line>[^_\n]{1,%d}?)(?<=\S)_(?!\w)"
    r"|~~(?=\S)(?P<struck>.{1,%d}?)(?<=\S)~~" % ((_LONGEST_SPAN,) * 4),
    re.DOTALL,
)
_ALLOWED = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def wrapped(inside: str) -> str:
    """HTML of this package for a cell; MathJax leaves it alone, whose \\href takes scripts."""
    return f'<div class="hasp tex2jax_ignore mathjax_ignore">{inside}</div>'


def inline(text: str, depth: int = 0) -> str:
    """The HTML of text within a paragraph."""
    if depth >= _MOST_NESTED:
        return html.escape(text)
    pieces = []
    end = 0
    for found in _INLINE.finditer(text):
        pieces.append(html.escape(text[end : found.start()]))
        pieces.append(_span(found, depth + 1))
        end = found.end()
    pieces.append(html.escape(text[end:]))
    return "".join(pieces)


def _span(found: re.Match[str], depth: int) -> str:
    if found["escaped"]:
        return html.escape(found["escaped"][1])
    if found["code"]:
        inside = found["inside"].replace("\n", " ")
        if inside.strip() and inside[0] == inside[-1] == " ":
            inside = inside[1:-1]
        return f"<code>{html.escape(inside)}</code>"
    if found["target"]:
        return _link(found["target"], inline(found["text"] or found["target"], depth), found[0])
    if found["address"]:
        return _link(found["address"], html.escape(found["address"]), found[0])
    for name, tag in (("strong", "strong"), ("star", "em"), ("line", "em"), ("struck", "del")):
        if found[name]:
            return f"<{tag}>{inline(found[name], depth)}</{tag}>"
    return html.escape(found[0])


def _link(target: str, shown: str, source: str) -> str:
    if not _ALLOWED.match(target):
        return html.escape(source)
    return (
        f'<a href="{html.escape(target)}" target="_blank" '
        f'rel="noopener noreferrer nofollow">{shown}</a>'
    )


def _code(lines: list[str]) -> str:
    return f"<pre><code>{html.escape(chr(10).join(lines))}</code></pre>"


class _Blocks:
    """Reads lines from the first to the last, once each at every depth of nesting."""

    def __init__(self, lines: list[str], depth: int) -> None:
        self.lines = lines
        self.depth = depth
        self.at = 0
        self.done: list[str] = []

    def all(self) -> str:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif not (
                self._fence(line)
                or self._heading(line)
                or self._quote(line)
                or self._list(line)
                or self._table(line)
            ):
                self._paragraph()
        return "\n".join(self.done)

    def _fence(self, line: str) -> bool:
        opening = _FENCE.match(line)
        if not opening:
            return False
        mark = opening[1]
        first = self.at = self.at + 1
        while self.at < len(self.lines):
            stripped = self.lines[self.at].strip()
            if len(stripped) >= len(mark) and stripped == mark[0] * len(stripped):
                break
            self.at += 1
        self.done.append(_code(self.lines[first : self.at]))
        self.at += 1
        return True

    def _heading(self, line: str) -> bool:
        if _RULE.match(line):
            self.done.append("<hr>")
            self.at += 1
            return True
        found = _HEADING.match(line)
        if not found:
            return False
        tag = f"h{len(found[1])}"
        self.done.append(f"<{tag}>{inline(found[2] or '')}</{tag}>")
        self.at += 1
        return True

    def _quote(self, line: str) -> bool:
        if not line.lstrip().startswith(">") or self.depth >= _MOST_NESTED:
            return False
        inside = []
        while self.at < len(self.lines) and self.lines[self.at].lstrip().startswith(">"):
            inside.append(re.sub(r"^\s*> ?", "", self.lines[self.at]))
            self.at += 1
        quoted = _Blocks(inside, self.depth + 1).all()
        self.done.append(f"<blockquote>{quoted}</blockquote>")
        return True

    def _list(self, line: str) -> bool:
        first = _ITEM.match(line)
        if not first or self.depth >= _MOST_NESTED:
            return False
        ordered = first[2][0].isdigit()
        indent = len(first[1])
        items = []
        while self.at < len(self.lines):
            found = _ITEM.match(self.lines[self.at])
            if not found or len(found[1]) > indent + 1 or found[2][0].isdigit() != ordered:
                break
            items.append(self._item(found))
        tag = "ol" if ordered else "ul"
        start = f' start="{int(first[2][:-1])}"' if ordered else ""
        self.done.append(f"<{tag}{start}>{''.join(items)}</{tag}>")
        return True

    def _item(self, found: re.Match[str]) -> str:
        """One item with the lines that are indented below it."""
        indent = len(found[1])
        inside = [found[3] or ""]
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            deeper = len(line) - len(line.lstrip(" ")) > indent + 1
            if line.strip() and not deeper:
                break
            if not line.strip() and not self._goes_on(indent):
                break
            inside.append(line[indent + 2 :] if line.strip() else "")
            self.at += 1
        text = _Blocks(inside, self.depth + 1).all()
        only = re.fullmatch(r"<p>(.*?)</p>(.*)", text, re.DOTALL)
        return f"<li>{only[1] + only[2] if only else text}</li>"

    def _goes_on(self, indent: int) -> bool:
        """Whether the line after the blank one at hand belongs to the list."""
        if self.at + 1 >= len(self.lines):
            return False
        line = self.lines[self.at + 1]
        return len(line) - len(line.lstrip(" ")) > indent + 1

    def _table(self, line: str) -> bool:
        after = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if "|" not in line or "-" not in after or not _DELIMITERS.match(after):
            return False
        rows = [_row(line, "th")]
        self.at += 2
        while self.at < len(self.lines) and "|" in self.lines[self.at]:
            rows.append(_row(self.lines[self.at], "td"))
            self.at += 1
        self.done.append(f"<table>{''.join(rows)}</table>")
        return True

    def _paragraph(self) -> None:
        inside = [self.lines[self.at]]
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line):
                break
            inside.append(line)
            self.at += 1
        if all(line.startswith("    ") for line in inside):
            self.done.append(_code([line[4:] for line in inside]))
        else:
            text = inline("\n".join(line.strip() for line in inside))
            self.done.append(f"<p>{text}</p>")


def _row(line: str, tag: str) -> str:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    inside = "".join(f"<{tag}>{inline(cell.strip())}</{tag}>" for cell in cells)
    return f"<tr>{inside}</tr>"


def rendered(text: str) -> str:
    """The HTML of a whole answer, or of as much of it as there is yet."""
    return _Blocks(text.expandtabs(4).splitlines(), 0).all()
