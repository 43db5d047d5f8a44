# SPDX-License-Identifier: Apache-2.0
"""Writes edits in the formats that agents' prompts and programs publish.

Unified diffs as GNU diff, git, Subversion and Mercurial print them, and as aider's prompt asks for them (`@@
... @@`, no numbers); mails of git format-patch; the patch language of Codex and OpenAI's V4A (`*** Begin
Patch`, its grammar is in Codex' apply_patch/src/parser.rs, with what that parser and the older cookbook's take
besides); old and new text as Gemini CLI's `replace` and Claude Code's `Edit` take them.

    made = hunks(edit, context=3)             # Hunks, in the order of the file
    unified(edit, made, head="git")           # bytes
    envelope(edit, made, anchors=...)         # *** Begin Patch

A Hunk's rows are (mark, line), mark one of b" -+", line with the end that the file (or the result) has.
"""

from dataclasses import dataclass, field

from files import bare, end_of


@dataclass
class Hunk:
    start: int  # in the file, from 0; of the first row
    new_start: int
    rows: list
    places: list = field(default_factory=list)

    @property
    def old(self):
        return [line for mark, line in self.rows if mark != b"+"]

    @property
    def new(self):
        return [line for mark, line in self.rows if mark != b"-"]

    @property
    def lead(self):
        """How many lines of context come first."""
        return next((i for i, (mark, _) in enumerate(self.rows) if mark != b" "), len(self.rows))


def hunks(edit, context=3, before=None, after=None, apart=False):
    """The edit's hunks; `apart`: one for each place, though their context overlaps."""
    before = context if before is None else before
    after = context if after is None else after
    groups = []
    for place in edit.places:
        if groups and not apart and place.start - groups[-1][-1].end <= before + after:
            groups[-1].append(place)
        else:
            groups.append([place])
    out, shift, lines = [], 0, edit.file.lines
    for k, group in enumerate(groups):
        floor = groups[k - 1][-1].end if k else 0
        ceiling = groups[k + 1][0].start if k + 1 < len(groups) else len(lines)
        start = max(floor, group[0].start - before)
        rows, at = [], start
        for place in group:
            rows += [(b" ", line) for line in lines[at : place.start]]
            rows += [(b"-", line) for line in lines[place.start : place.end]] + [(b"+", line) for line in place.new]
            at = place.end
        rows += [(b" ", line) for line in lines[at : min(ceiling, at + after)]]
        out.append(Hunk(start, start + shift, rows, group))
        shift += sum(len(p.new) - (p.end - p.start) for p in group)
    return out


# ---- unified diffs -------------------------------------------------------------------------------


def row(mark, line, cr=True, marker=True):
    """One line of a diff; `cr`: with the file's CR, as git prints it; `marker`: says that there is no end of line."""
    end = end_of(line)
    text = mark + (line if cr and end else bare(line) + b"\n")
    return text + (b"\\ No newline at end of file\n" if marker and not end else b"")


def body(hunk, cr=True, marker=True):
    return b"".join(row(mark, line, cr, marker) for mark, line in hunk.rows)


def span(start, count):
    if count == 0:
        return b"%d,0" % start
    return b"%d" % (start + 1) if count == 1 else b"%d,%d" % (start + 1, count)


def numbers(hunk, off=0, new_off=0):
    """`@@ -12,7 +12,8 @@`, as diff prints it."""
    return b"@@ -%s +%s @@" % (
        span(hunk.start + off, len(hunk.old)),
        span(hunk.new_start + off + new_off, len(hunk.new)),
    )


def _git(name):
    return b"diff --git a/%s b/%s\nindex 3b18e51..a042389 100644\n--- a/%s\n+++ b/%s\n" % ((name,) * 4)


HEADS = {
    "none": lambda name: b"",
    "plain": lambda name: b"--- %s\n+++ %s\n" % (name, name),
    "prefixed": lambda name: b"--- a/%s\n+++ b/%s\n" % (name, name),
    "git": _git,
    "dated": lambda name: b"--- %s\t2024-03-01 10:20:30.000000000 +0100\n+++ %s\t2024-03-02 11:21:31.000000000 +0100\n"
    % (name, name),
    "orig": lambda name: b"--- %s.orig\t2024-03-01 10:20:30\n+++ %s\t2024-03-02 11:21:31\n" % (name, name),
    "recursive": lambda name: b"diff -ruN old/%s new/%s\n--- old/%s\t2024-03-01 10:20:30\n+++ new/%s\t2024-03-02 11:21:31\n"
    % ((name,) * 4),
    "svn": lambda name: b"Index: %s\n%s\n--- %s\t(revision 41)\n+++ %s\t(working copy)\n"
    % (name, b"=" * 67, name, name),
    "hg": lambda name: b"diff -r 3e7a1d0c9f11 %s\n--- a/%s\tFri Mar 01 10:20:30 2024 +0100\n+++ b/%s\tSat Mar 02 11:21:31 2024 +0100\n"
    % ((name,) * 3),
    "mnemonic": lambda name: b"diff --git i/%s w/%s\nindex 3b18e51..a042389 100644\n--- i/%s\n+++ w/%s\n"
    % ((name,) * 4),
    "quoted": lambda name: b'--- "a/%s"\n+++ "b/%s"\n' % (name, name),
}


def unified(edit, made, head="prefixed", header=numbers, cr=True, marker=True, order=None):
    name = edit.file.name.encode()
    parts = [(header(hunk) + b"\n" if header else b"") + body(hunk, cr, marker) for hunk in made]
    return HEADS[head](name) + b"".join(parts[i] for i in order or range(len(parts)))


def mail(edit, made, message=b"", footer=b"2.39.2\n\n", header=numbers):
    name, plus, minus = edit.file.name.encode(), sum(len(h.new) for h in made), sum(len(h.old) for h in made)
    return (
        b"From 9c1f0e7d54f0d41a5d0f8fb4f0f9b1e3f4a5b6c7 Mon Sep 17 00:00:00 2001\nFrom: A Developer <dev@example.org>\n"
        b"Date: Sat, 2 Mar 2024 11:21:31 +0100\nSubject: [PATCH 1/2] Change what is computed here\n\n"
        + message
        + b"Signed-off-by: A Developer <dev@example.org>\n---\n %s | %d %s\n 1 file changed, %d insertions(+), %d deletions(-)\n\n"
        % (name, plus + minus, b"+" * min(plus, 9) + b"-" * min(minus, 9), plus, minus)
        + unified(edit, made, "git", header)
        + b"-- \n"
        + footer
    )


def fenced(text, language=b"diff", fence=b"```"):
    return fence + language + b"\n" + text + (b"" if text.endswith(b"\n") else b"\n") + fence + b"\n"


# ---- *** Begin Patch -----------------------------------------------------------------------------


def chunk(hunk, anchors=(b"",), ends=False):
    """A chunk; an anchor b"" is a bare @@, no anchors none at all; `ends`: with *** End of File."""
    heads = b"".join(b"@@ " + a + b"\n" if a else b"@@\n" for a in anchors)
    return heads + body(hunk, False, False) + (b"*** End of File\n" if ends else b"")


def section(edit, chunks):
    return b"*** Update File: %s\n" % edit.file.name.encode() + b"".join(chunks)


def enveloped(text):
    return b"*** Begin Patch\n" + text + b"*** End Patch\n"


def envelope(edit, made, anchors=(b"",)):
    return enveloped(section(edit, [chunk(hunk, anchors) for hunk in made]))


# ---- old and new text ----------------------------------------------------------------------------


def texts(hunk, last=True):
    """(old, new) of a hunk; `last`: with the end of their last line, if both have it."""
    old, new = b"".join(hunk.old), b"".join(hunk.new)
    if not last and old and new:
        if end_of(old) and end_of(old) == end_of(new):
            return old[: -len(end_of(old))], new[: -len(end_of(new))]
    return old, new


def lf(text):
    return text.replace(b"\r\n", b"\n")


# ---- listings: how tools print a file with numbers -----------------------------------------------

LISTINGS = {
    "cat -n": lambda n, line: b"%6d\t%s" % (n, line),
    "arrow": lambda n, line: b"%6d\xe2\x86\x92%s" % (n, line),
    "arrow, narrow": lambda n, line: b"%d\xe2\x86\x92%s" % (n, line),
    "colon": lambda n, line: b"%d:%s" % (n, line),
    "colon, blank": lambda n, line: b"%d: %s" % (n, line),
    "bar": lambda n, line: b"%d|%s" % (n, line),
    "blank, bar": lambda n, line: b"%4d | %s" % (n, line),
    "bar, blank": lambda n, line: b"%d| %s" % (n, line),
    "L12:": lambda n, line: b"L%d: %s" % (n, line),
    "[12]": lambda n, line: b"[%d] %s" % (n, line),
}


def listed(lines, start, style):
    return b"".join(LISTINGS[style](start + 1 + i, line) for i, line in enumerate(lines))
