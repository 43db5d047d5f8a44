# SPDX-License-Identifier: Apache-2.0
"""Texts that are a diff in some other coat: nobody demands that they be read, or refused."""

import dataclasses

import model
from kinds import OPTIONAL, kind


@kind("HTML: &lt; &gt; &amp;", OPTIONAL)
def escaped(draft, rng):
    def escape(text):
        for plain, entity in ((b"&", b"&amp;"), (b"<", b"&lt;"), (b">", b"&gt;")):
            text = text.replace(plain, entity)
        return text
    draft.text.prelude = [escape(line) for line in draft.text.prelude]
    for printed in draft.text.hunks:
        printed.header = escape(printed.header)
    return draft.each_line(b" -+", escape)


@kind("one line with \\n in it", OPTIONAL)
def escaped_newlines(draft, rng):
    draft.after.append(lambda diff: diff.replace(b"\\", b"\\\\").replace(b"\n", b"\\n"))
    return True


@kind("quoted as in a mail: > ", OPTIONAL)
def quoted(draft, rng):
    draft.after.append(lambda diff: b"".join(b"> " + x for x in model.split_lines(diff)))
    return True


@kind("line numbers before each line: 12| ", OPTIONAL)
def numbered(draft, rng):
    draft.after.append(lambda diff: b"".join(
        b"%d| %s" % (n, x) for n, x in enumerate(model.split_lines(diff), 1)))
    return True


@kind("line numbers in the context: 12| ", OPTIONAL)
def numbered_context(draft, rng):
    for hunk, printed in zip(draft.change.hunks, draft.text.hunks):
        n = hunk.at
        for i, raw in enumerate(printed.lines):
            if raw[:1] in (b" ", b"-"):
                n += 1
                printed.lines[i] = raw[:1] + b"%d| %s" % (n, raw[1:])
    return True


@kind("cut off in the middle", OPTIONAL)
def cut_off(draft, rng):
    hunk = draft.text.hunks[-1]
    if len(hunk.lines) < 6:
        return False
    end = rng.randrange(2, len(hunk.lines) - 1)
    shown = sum(not raw.startswith(b"\\") for raw in hunk.lines[:end])
    last = draft.change.hunks[-1]
    said = dataclasses.replace(last, lines=last.lines[:shown])
    del hunk.lines[end:]
    draft.said = draft.change.with_hunks(draft.change.hunks[:-1] + [said])
    return True


@kind("envelope of apply_patch", OPTIONAL)
def envelope(draft, rng):
    name = draft.change.path.encode("utf-8", "surrogateescape")
    draft.text.prelude = [b"*** Begin Patch", b"*** Update File: " + name]
    for i, printed in enumerate(draft.text.hunks):
        printed.header = b"@@"
        draft.numbers[i] = None
    draft.text.tail = [b"*** End Patch"]
    return True
