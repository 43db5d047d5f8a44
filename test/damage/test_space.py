# SPDX-License-Identifier: Apache-2.0
"""White space, line endings and look-alikes: an edit is made to the byte, or refused.

Random files (tabs, spaces or both; either line ending or both; white space at line ends, on blank
lines and in between; typographic quotation marks; a CR at the very end), random edits of them, and
each written as a hunk, as a hunk that removes and adds whole blocks, and as an update.  Then the
white space of its context, of its changed lines, or of all its lines is damaged.  Lines that the
edit leaves alone keep their bytes whatever happens.

UPDATE_DRIVER names the engine on a pipe (update_driver.c); SPACE_EDITS is how many edits are made.
"""

import os
import random
import re
from dataclasses import dataclass

import pytest

import updates
from part import ALL

EDITS = int(os.environ.get("SPACE_EDITS", "10000" if ALL else "2000"))
SEED = os.environ.get("SPACE_SEED", "1")


# ---- files and edits ---------------------------------------------------------------------

@dataclass
class Line:
    """A line of an edit's window: what the file has, and what it becomes."""
    old: str = None     # without its ending; None: a new line
    new: str = None     # None: it goes
    ending: str = ""    # the file's

    @property
    def stays(self):
        return self.old == self.new


def _words(rng, count):
    return " ".join("".join(rng.choice("bcdfghjklmnpqrstvwz") + rng.choice("aeiou")
                            for _ in range(rng.randint(2, 4))) for _ in range(count))


def _body(rng, words):
    """The text of a line that stays: double blanks, tabs and quotation marks included."""
    text = _words(rng, words)
    if rng.random() < 0.15:
        text = text.replace(" ", rng.choice(("  ", "\t", "   ")), 1)
    if rng.random() < 0.1:
        text = "\u201c%s\u201d" % text
    return text


def make_file(rng):
    """(lines with (indentation, text, white space at the end, ending), unit)"""
    unit = rng.choice(("\t", "    ", "  ", "\t"))
    endings = rng.choice((("\n",), ("\n",), ("\r\n",), ("\n", "\r\n")))
    tails = rng.random() < 0.4
    depth, lines = rng.randint(0, 2), []
    for _ in range(rng.randint(12, 30)):
        depth = max(0, min(4, depth + rng.choice((-1, 0, 0, 0, 1))))
        tail = rng.choice((" ", "  ", "\t")) if tails and rng.random() < 0.25 else ""
        if rng.random() < 0.12:
            lines.append(["", "", rng.choice(("", " ", unit)) if tails else "",
                          rng.choice(endings)])
        else:
            lines.append([unit * depth, _body(rng, rng.randint(2, 5)) + rng.choice(";{}):"), tail,
                          rng.choice(endings)])
    if rng.random() < 0.2:
        lines[-1][3] = ""
        if lines[-1][1] and rng.random() < 0.3:
            lines[-1][2] = "\r"
    return lines, unit


def make_edit(rng, lines, unit):
    """(first line, window): context around changes of some lines."""
    count = rng.randint(4, min(10, len(lines)))
    first = rng.randrange(len(lines) - count + 1)
    window = []
    for n, (indent, text, tail, ending) in enumerate(lines[first:first + count]):
        line = Line(indent + text + tail, indent + text + tail, ending)
        kind = rng.random() if 0 < n < count - 1 else 1
        if kind < 0.25 and text and "\r" not in tail and tail == "" and not re.search(
                "  |\t|[\u201c\u201d]", text):
            words = text[:-1].split(" ")
            words[rng.randrange(len(words))] = _words(rng, 1)
            line.new = indent + " ".join(words) + text[-1]
        elif kind < 0.33 and text:
            line.new = None
        window.append(line)
        if rng.random() < 0.12 and n < count - 1:
            deeper = unit if rng.random() < 0.3 else ""
            window.append(Line(None, indent + deeper + _words(rng, 3) + ";"))
    return first, window


def result(lines, first, window):
    """What the file becomes, as (text, endings that are allowed) for each line."""
    out = [(indent + text + tail, (ending,)) for indent, text, tail, ending in lines[:first]]
    for line in window:
        if line.old is None:
            out.append((line.new, ("\n", "\r\n")))
        elif line.new is not None:
            # Which line it replaces may be a matter of opinion, if others go or come.
            out.append((line.new, (line.ending,) if line.stays else ("\n", "\r\n")))
    rest = lines[first + sum(line.old is not None for line in window):]
    return out + [(indent + text + tail, (ending,)) for indent, text, tail, ending in rest]


def is_result(text, wanted):
    for body, endings in wanted:
        if not text.startswith(body):
            return False
        text = text[len(body):]
        ending = next((e for e in ("\r\n", "\n") if text.startswith(e)), "")
        if ending not in endings:
            return False
        text = text[len(ending):]
    return not text


# ---- damages: each gives what becomes of a line's text -------------------------------------

def _indent(line):
    return re.match(r"[ \t]*", line)[0]


def _reindent(function):
    return lambda line: line if not line.strip() else \
        function(_indent(line)) + line[len(_indent(line)):]


DAMAGES = {
    "none": lambda line: line,
    "white space at the end gone": lambda line: line.rstrip(" \t"),
    "white space at the end": lambda line: line + " " if line.strip() else line,
    "tabs as 4 spaces": _reindent(lambda indent: indent.replace("\t", "    ")),
    "tabs as 8 spaces": _reindent(lambda indent: indent.replace("\t", "        ")),
    "all tabs as spaces": lambda line: line.replace("\t", "    "),
    "4 spaces as a tab": _reindent(lambda indent: indent.replace("    ", "\t")),
    "4 spaces deeper": _reindent(lambda indent: "    " + indent),
    "a tab deeper": _reindent(lambda indent: "\t" + indent),
    "a level less": _reindent(lambda indent: indent[1:] if indent[:1] == "\t" else indent[4:]),
    "no indentation": _reindent(lambda indent: ""),
    "half the indentation": _reindent(lambda indent: indent[:len(indent) // 2]),
    "single blanks": lambda line: _indent(line) + re.sub(r"[ \t]+", " ", line[len(_indent(line)):]),
    "plain quotation marks": lambda line: re.sub("[\u201c\u201d]", '"', line),
    "typographic quotation marks": lambda line: line.replace('"', "\u201d"),
}
STRIPS = [DAMAGES[name] for name in ("a level less", "no indentation", "half the indentation")]
SCOPES = {"context": " ", "changes": "-+", "all": " -+"}


# ---- forms ---------------------------------------------------------------------------------

def as_hunk(window, blocks):
    """[(marker, text, is the last line of a file without a line ending)]; with `blocks`, what stays
    between changes is removed and added."""
    changed = [i for i, line in enumerate(window) if not line.stays]
    inside = range(changed[0], changed[-1] + 1) if blocks else changed
    out, removed, added = [], [], []

    def flush():
        out.extend([("-", text) for text in removed] + [("+", text) for text in added])
        removed.clear()
        added.clear()

    for i, line in enumerate(window):
        if i not in inside:
            flush()
            out.append((" ", line.old))
            continue
        if line.old is not None:
            removed.append(line.old)
        if line.new is not None:
            added.append(line.new)
    flush()
    return out


def write_hunk(lines):
    return "@@\n" + "".join("%s%s\n" % line for line in lines)


def damaged_hunk(window, blocks, scope, damage):
    lines = as_hunk(window, blocks)
    return write_hunk([(marker, damage(text) if marker in scope else text)
                       for marker, text in lines])


def damaged_update(window, damage):
    old = [damage(line.old) for line in window if line.old is not None]
    new = [damage(line.new) for line in window if line.new is not None]
    end = "\n" if window[-1].ending else ""
    return "\n".join(old) + end, "\n".join(new) + (end if new else "")


# ---- the tests -------------------------------------------------------------------------------

def leaves_evidence(window, damage, context_only, changes_only):
    """Whether what was done follows from the edit at all: it shows on an old line, and on one that
    resembles a new one, and different indentations stay different."""
    was, removed, shows, old_depths, new_depths = {}, set(), False, False, False
    if context_only and not any(line.old != line.new and line.old for line in window):
        return False  # as if all lines had it
    if changes_only and not any(line.old and line.new and not line.stays and
                                len(line.old.split()) > 3 for line in window):
        return False  # as if one removed line alone had it
    for line in window:
        if changes_only and line.stays or context_only and not line.stays:
            continue
        shows |= line.old is not None and damage(line.old) != line.old
        for text in (line.old, line.new):
            if not text or not text.strip():
                continue
            indent, left = _indent(text), _indent(damage(text))
            if was.setdefault(left, indent) != indent:
                return False
            removed.add(len(indent) - len(left))
            old_depths |= text is line.old and left != indent
            new_depths |= left != indent
    if damage is DAMAGES["half the indentation"] and (
            len(was) < 3 or any(len(indent) % 2 for indent in was.values())):
        return False  # one depth that is a space less may have lost a space
    return shows and old_depths == new_depths and not (damage in STRIPS and (
        len(removed) > 1 if damage is STRIPS[0] else "" in was.values()))


def cases(seed, count):
    """(name, base, wanted, (old text or "", new text or diff)) of every damage of `count` edits."""
    rng = random.Random(seed)
    for n in range(count):
        lines, unit = make_file(rng)
        first, window = make_edit(rng, lines, unit)
        if all(line.stays for line in window):
            continue
        base = "".join("".join(line) for line in lines)
        wanted = result(lines, first, window)
        for scope in SCOPES:
            name = rng.choice(list(DAMAGES))
            damage = DAMAGES[name]
            for form in ("hunk", "blocks", "update"):
                if form == "update" and scope != "all" or name != "none" and not leaves_evidence(
                        window, damage, scope == "context", scope == "changes"):
                    continue
                texts = damaged_update(window, damage) if form == "update" else \
                    ("", damaged_hunk(window, form == "blocks", SCOPES[scope], damage))
                if form == "blocks" and not re.search(r"(?m)^-.*\S", texts[1]):
                    continue  # a blank line alone is written twice for its white space
                if texts[0] != texts[1]:
                    yield "%d: %s, %s, %s" % (n, form, scope, name), base, wanted, texts


@pytest.fixture(scope="module")
def answers():
    """[(name, base, wanted, texts, (code, replaced, line, text, note))]"""
    with updates.Driver(os.environ["UPDATE_DRIVER"]) as driver:
        return [(*case, driver.update(case[1], *case[3])) for case in cases(SEED, EDITS)]


def test_an_edit_is_made_to_the_byte_or_refused(answers):
    wrong = [(name, base, texts, got[3], got[4]) for name, base, wanted, texts, got in answers
             if got[0] == 0 and not is_result(got[3], wanted)]
    for name, base, texts, text, note in wrong[:3]:
        print("==", name, "\n", base, "\n--", *texts, "\n--", text, "\n--", note)
    assert not wrong, [name for name, *_ in wrong[:20]]


def test_what_is_not_damaged_is_made(answers):
    """An old text that is found twice, or that the parser cannot tell from prose, may be refused."""
    plain = [got[0] == 0 for name, *_, got in answers if name.endswith("none")]
    assert sum(plain) >= 0.95 * len(plain)
