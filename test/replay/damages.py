# SPDX-License-Identifier: Apache-2.0
"""How a model's picture of a place goes wrong: damages to a block of lines.

    block = Block.of(lines, [(at, edit), ...], context)     # a hunk: context, old and new lines
    damaged(block, "quotes", number)                        # True, and the block's sent lines are changed
    block.old(), block.new()                                # as an exact replacement has them
    block.marked()                                          # as a hunk has them
    block.missing(sent.old())                               # lines that a model has to see to do it right

What a damage has nothing to change in is sent as it is, and does not count as damaged.
"""

import re


class Block:
    def __init__(self, start, rows):
        self.start = start  # first line, counted from 0
        self.rows = rows  # [mark, text as sent, text as it is]
        self.prefix = False  # whether old lines carry the numbers of a listing
        self.shift = 0  # of the numbers in a hunk's header

    @classmethod
    def of(cls, lines, places, context):
        first, rows = max(0, places[0][0] - context), []
        at = first
        for where, edit in places:
            rows += [[" ", line, line] for line in lines[at:where]]
            rows += [["-", line, line] for line in edit.old] + [["+", line, line] for line in edit.new]
            at = where + len(edit.old)
        rows += [[" ", line, line] for line in lines[at:at + context]]
        return cls(first, rows)

    def old(self):
        texts = [text for mark, text, _ in self.rows if mark != "+"]
        return ["%d\t%s" % (self.start + 1 + i, text) for i, text in enumerate(texts)] \
            if self.prefix else texts

    def new(self):
        return [text if mark == "+" or self.both else true for mark, text, true in self.rows
                if mark != "-"]

    both = False  # whether the picture is wrong of new text too

    def marked(self):
        return [mark + text for mark, text, _ in self.rows]

    def header(self):
        old = sum(mark != "+" for mark, _, _ in self.rows)
        new = sum(mark != "-" for mark, _, _ in self.rows)
        return "@@ -%d,%d +%d,%d @@" % (self.start + 1 + self.shift, old,
                                       self.start + 1 + self.shift, new)

    def true_old(self):
        return [true for mark, _, true in self.rows if mark != "+"]

    def missing(self, known):
        """Its old lines as they are that are not among these."""
        return [line for line in self.true_old() if line not in known and line.strip()]


def _indented(text):
    blanks = re.match(r"[ \t]*", text)[0]
    rest = text[len(blanks):]
    if not blanks or not rest:
        return text
    return (blanks.replace("\t", "    ") if "\t" in blanks else 2 * blanks) + rest


def _curly(text):
    text = re.sub(r'"([^"]*)"', "“\\1”", text)
    return re.sub(r"'([^']*)'", "‘\\1’", text)


def _misremembered(text):
    words = re.findall(r"[A-Za-z]{4,}", text)
    return text.replace(max(words, key=len), max(words, key=len)[::-1]) if words else text


def _blanks(text):
    lead = re.match(r"[ \t]*", text)[0]
    return lead + re.sub(r"[ \t]+", " ", text[len(lead):]).rstrip()


# name: (what becomes of a line, whether of added lines too, whether of one line only)
LINES = {
    "indentation": (_indented, True, False),
    "blanks": (_blanks, False, False),
    "quotes": (_curly, True, False),
    "escaped": (lambda text: text.replace('"', '\\"'), True, False),
    "misremembered": (_misremembered, False, True),
}


def damaged(block, kind, exact):
    """Changes what is sent; False if there is nothing to change."""
    if kind == "line numbers":
        block.prefix, block.shift = exact, 0 if exact else 37
        return exact is not None
    change, block.both, one = LINES[kind]
    changed = False
    # Of one line: the old one nearest to the middle that has something to change.
    rows = sorted(block.rows, key=lambda row: (row[0] != " ", -len(row[1]))) if one else block.rows
    for row in rows:
        if row[0] == "+" and not block.both:
            continue
        text = change(row[1])
        changed |= text != row[1] and row[0] != "+"
        row[1] = text
        if one and changed:
            break
    return changed


def occurrences(lines, block):
    """How often the text of a block's old side stands in a file, in the middle of lines too."""
    old = "\n".join(block.true_old())
    return "\n".join(lines).count(old) if old else len(lines) + 1


def shortened(lines, at, edit):
    """A block for the edit with so little context that it occurs more than once, or None."""
    for before, after in ((0, 0), (0, 1), (1, 0)):
        if at < before or at + len(edit.old) + after > len(lines):
            continue
        whole = Block.of(lines, [(at, edit)], 1)
        context = at - whole.start  # lines before the place
        rows = whole.rows[context - before:]
        rest = len(rows) - before - len(edit.old) - len(edit.new)  # lines after it
        block = Block(at - before, rows[:len(rows) - rest + after])
        if any(block.true_old()) and occurrences(lines, block) > 1:
            return block
    return None


def possible(kind, lines, at, edit):
    """Whether there is something that this damage can change, whoever makes the edit."""
    if kind == "not unique":
        return shortened(lines, at, edit) is not None
    return kind not in LINES or damaged(Block.of(lines, [(at, edit)], 1), kind, True)
