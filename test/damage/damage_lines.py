# SPDX-License-Identifier: Apache-2.0
"""Damages of the lines of hunks: white space, markers, line endings, look-alike characters."""

import dataclasses
import re

import model
import oracle
from kinds import RECOVER, EFFORT, OPTIONAL, EITHER, MISLED, kind

CONTEXT, OLD, ALL = b" ", b" -", b" -+"


# ---- white space -----------------------------------------------------------------------

def _untabify(width):
    return lambda text: text.expandtabs(width) if b"\t" in text else text


def _indent_tabs(width):
    """Leading spaces to tabs, as an editor's "retab" does."""
    def convert(text):
        body = text.lstrip(b" ")
        blanks = len(text) - len(body)
        return b"\t" * (blanks // width) + b" " * (blanks % width) + body
    return convert


def _flat_indent(width):
    """Each tab of the indentation to so many spaces."""
    def convert(text):
        body = text.lstrip(b" \t")
        return text[:len(text) - len(body)].replace(b"\t", b" " * width) + body
    return convert


def _flat(width):
    """Each tab to so many spaces, wherever it stands."""
    return lambda text: text.replace(b"\t", b" " * width)


def _white_space(name, tags, function, level=oracle.SPACE, group=RECOVER, composable=False,
                 shown=None):
    """A damage of white space. `shown`(draft) tells whether the diff still shows which lines
    have it; without that a reader cannot know whether the added lines are to be read with it."""
    @kind(name, group, composable)
    def damage(draft, rng):
        draft.needs(level)
        if not draft.each_line(tags, function):
            return False
        if shown and not shown(draft):
            draft.demand = MISLED
        if tags == ALL and not _visible(draft, function):
            draft.demand = MISLED
        return True
    return damage


def _visible(draft, function):
    """Whether each hunk with added lines that were damaged has damaged old lines too: without
    them the text is a correct diff of another change."""
    for hunk in draft.change.hunks:
        body = lambda text: text.rstrip(b"\r\n")
        changed = {tag for tag, text in hunk.lines if function(body(text)) != body(text)}
        if b"+" in changed and len(changed) == 1:
            return False
    return True


def _added(draft):
    return [text for hunk in draft.change.hunks for tag, text in hunk.lines if tag == b"+"]


def _added_shows_tabs(draft):
    """Added lines have tabs, so tabs were not lost in them; or no indentation to wonder about."""
    added = _added(draft)
    return any(b"\t" in text for text in added) or not any(b"  " in text for text in added)


def _added_shows_blanks(draft):
    """Added lines are indented with blanks, so these did not become tabs."""
    added = _added(draft)
    return any(text.startswith(b"        ") for text in added) or \
        not any(b"\t" in text for text in added)


def _added_without(blanks):
    """Added lines begin with tabs or with blanks, not with both: the other way is not lost."""
    def shown(draft):
        return not any(text[:len(text) - len(text.lstrip(b" \t"))].count(blanks)
                       for text in _added(draft))
    return shown


def _removed_in_each(draft):
    """Every hunk that adds also removes a line with text: it shows what was not damaged."""
    for hunk in draft.change.hunks:
        tags = {tag for tag, text in hunk.lines if text.strip()}
        if b"+" in tags and b"-" not in tags:
            return False
    return True


def _none_repeated(function):
    """No removed line is spelled, once it is damaged, as an added one of its hunk: such a line stays as the file has
    it, since nothing says that its white space is what changes."""
    def shown(draft):
        for hunk in draft.change.hunks:
            body = lambda text: text.rstrip(b"\r\n")
            added = {body(text) for tag, text in hunk.lines if tag == b"+"}
            if any(tag == b"-" and function(body(text)) != body(text) and function(body(text)) in added
                   for tag, text in hunk.lines):
                return False
        return True
    return shown


def _spared_in_each(function):
    """Every hunk that adds and whose context was damaged also removes a line that the damage
    would have changed: it shows that only context was damaged."""
    def shown(draft):
        for hunk in draft.change.hunks:
            body = lambda text: text.rstrip(b"\r\n")
            changed = {tag for tag, text in hunk.lines if function(body(text)) != body(text)}
            adds = any(tag == b"+" and text.strip() for tag, text in hunk.lines)
            if adds and b" " in changed and b"-" not in changed:
                return False
        return True
    return shown


def _dedent(draft):
    """Takes the indentation that all lines of a hunk share off them."""
    changed = False
    for hunk in draft.text.hunks:
        bodies = [raw[1:] for raw in hunk.lines
                  if raw[:1] in (b" ", b"-", b"+") and raw[1:].strip()]
        blanks = [len(body) - len(body.lstrip(b" ")) for body in bodies]
        by = min(blanks, default=0)
        if by:
            hunk.lines = [raw[:1] + raw[1 + by:] if raw[:1] != b"\\" else raw
                          for raw in hunk.lines]
            changed = True
    return changed


@kind("whole diff: hunks dedented", EFFORT)
def dedented(draft, rng):
    draft.needs(oracle.SPACE)
    return _dedent(draft)


for _width in (8, 4, 2):
    _white_space("context: tabs to %d spaces" % _width, OLD, _untabify(_width),
                 shown=_added_shows_tabs)
    _white_space("whole diff: tabs to %d spaces" % _width, ALL, _flat(_width), group=EFFORT,
                 shown=_added_without(b" " * _width))
    _white_space("whole diff: indentation tabs to %d spaces" % _width, ALL,
                 _flat_indent(_width), group=EFFORT, shown=_added_without(b" " * _width))
for _width in (8, 4):
    _white_space("context: %d spaces to tabs" % _width, OLD, _indent_tabs(_width),
                 shown=_added_shows_blanks)
    _white_space("whole diff: %d spaces to tabs" % _width, ALL, _indent_tabs(_width), group=EFFORT,
                 shown=_added_without(b"\t"))
_white_space("context: tabs to spaces, removed lines right", CONTEXT, _untabify(8),
             shown=lambda draft: _added_shows_tabs(draft) or
             _spared_in_each(_untabify(8))(draft))
for _name, _function in (
        ("indented two more", lambda text: b"  " + text if text else text),
        ("indented four more", lambda text: b"    " + text if text else text),
        ("an extra space after the marker", lambda text: b" " + text if text else text),
        ("one blank less", lambda text: text[1:] if text[:1] in (b" ", b"\t") else text),
        ("indentation removed", lambda text: text.lstrip(b" \t"))):
    _white_space("context: " + _name, CONTEXT, _function, shown=_spared_in_each(_function))
    _white_space("context and removed lines: " + _name, OLD, _function, group=OPTIONAL,
                 shown=_removed_in_each)
_white_space("context: runs of blanks to one", CONTEXT,
             lambda text: re.sub(rb"(?<=\S)[ \t]{2,}", b" ", text))
_white_space("context: words run together", CONTEXT,
             lambda text: re.sub(rb"(?<=[a-z]) (?=[a-z])", b"", text), group=EFFORT)
_white_space("context: trailing white space stripped", CONTEXT, lambda text: text.rstrip(b" \t"),
             oracle.TRAILING, composable=True)
_white_space("context and removed lines: trailing white space stripped", OLD,
             lambda text: text.rstrip(b" \t"), oracle.TRAILING,
             shown=_none_repeated(lambda text: text.rstrip(b" \t")))
_white_space("whole diff: trailing white space stripped", ALL, lambda text: text.rstrip(b" \t"),
             oracle.TRAILING, group=EFFORT)
_white_space("whole diff: an extra space after the marker", ALL,
             lambda text: b" " + text if text else text, group=EFFORT)
_white_space("whole diff: indented four more", ALL,
             lambda text: b"    " + text if text else text, group=EFFORT)
_white_space("whole diff: indented one tab more", ALL,
             lambda text: b"\t" + text if text else text, group=EFFORT)


@kind("context: trailing white space added", RECOVER, composable=True)
def trailing_added(draft, rng):
    draft.needs(oracle.TRAILING)
    return draft.each_line(CONTEXT, lambda text: text + rng.choice([b"", b" ", b"  ", b"\t"]))


@kind("base has trailing white space that the diff lacks", RECOVER)
def trailing_in_base(draft, rng):
    """The other way round: the file is untidy, and stays so outside the change."""
    draft.needs(oracle.TRAILING)
    untidy = lambda line: model.split_lines(line)[0][:-1] + b"  \n" \
        if line.endswith(b"\n") and not line.endswith(b"\r\n") and len(line) % 3 else line
    change = draft.change
    hunks = [h.mapped(untidy, b" ") for h in change.hunks]
    removed = {h.at + i for h in change.hunks
               for i, tag in enumerate(t for t, _ in h.lines if t != b"+") if tag == b"-"}
    text = draft.text
    draft.reset(model.Change([line if i in removed else untidy(line)
                              for i, line in enumerate(change.base)], hunks, change.path))
    draft.text = text
    return True


@kind("every line: trailing white space stripped", RECOVER)
def strip_all(draft, rng):
    """An editor that strips on saving. Only where the added lines had none."""
    if any(text.rstrip(b"\r\n").endswith((b" ", b"\t"))
           for hunk in draft.change.hunks for tag, text in hunk.lines if tag == b"+"):
        return False
    draft.needs(oracle.TRAILING)
    changed = False
    for hunk in draft.text.hunks:
        stripped = [raw.rstrip(b" \t") for raw in hunk.lines]
        changed = changed or stripped != hunk.lines
        hunk.lines = stripped
    return changed


@kind("context: blank lines without their space", RECOVER, composable=True)
def blank_context(draft, rng):
    changed = False
    for hunk in draft.text.hunks:
        stripped = [b"" if raw == b" " else b"\r" if raw == b" \r" else raw for raw in hunk.lines]
        changed = changed or stripped != hunk.lines
        hunk.lines = stripped
    return changed


def _unmark(draft, choose):
    """Takes the marker off context lines; where another marker appears, nobody can tell."""
    changed = False
    for hunk in draft.text.hunks:
        for i, raw in enumerate(hunk.lines):
            if raw[:1] == b" " and choose():
                if raw[1:2] in (b"+", b"-", b"\\") or raw[1:3] == b"@@":
                    draft.demand = EITHER
                if raw[1:2] == b" ":
                    draft.needs(oracle.SPACE)
                hunk.lines[i] = raw[1:]
                changed = True
    return changed


@kind("context: markers missing", RECOVER)
def unmarked(draft, rng):
    return _unmark(draft, lambda: True)


@kind("context: some markers missing", RECOVER)
def some_unmarked(draft, rng):
    return _unmark(draft, lambda: rng.random() < 0.3)


@kind("context: blank lines dropped", EFFORT)
def blanks_dropped(draft, rng):
    changed = False
    for hunk in draft.text.hunks:
        kept = [raw for raw in hunk.lines if raw != b" "]
        changed = changed or kept != hunk.lines
        hunk.lines = kept
    draft.counts_lost = True
    return changed


@kind("context: a blank line doubled", EFFORT)
def blanks_doubled(draft, rng):
    spots = [(hunk, i) for hunk in draft.text.hunks for i, raw in enumerate(hunk.lines)
             if raw == b" "]
    if not spots:
        return False
    hunk, i = rng.choice(spots)
    hunk.lines.insert(i, b" ")
    return True


@kind("context: trailing white space added to removed lines too", RECOVER)
def trailing_added_old(draft, rng):
    draft.needs(oracle.TRAILING)
    return draft.each_line(OLD, lambda text: text + rng.choice([b"", b"", b" ", b"  ", b"\t"]))


# ---- line endings ----------------------------------------------------------------------

def _to_crlf(line):
    return line[:-1] + b"\r\n" if line.endswith(b"\n") else line


def _crlf_text(diff):
    return re.sub(rb"\r?\n", b"\r\n", diff)


def _pure_lf(draft):
    """Whether there are line feeds and no CRs: a base without either shows no line ending."""
    base = draft.change.base_bytes()
    return b"\n" in base and b"\r" not in base + draft.change.result()


@kind("CRLF: file and hunk lines", RECOVER)
def crlf_both(draft, rng):
    if not _pure_lf(draft):
        return False
    draft.reset(draft.change.mapped(_to_crlf))
    return True


@kind("CRLF: file and every line of the diff", RECOVER)
def crlf_everywhere(draft, rng):
    if not _pure_lf(draft):
        return False
    text = draft.text
    draft.reset(draft.change.mapped(_to_crlf))
    draft.text = text
    draft.after.append(_crlf_text)
    return True


@kind("CRLF: file only", RECOVER)
def crlf_file(draft, rng):
    if not _pure_lf(draft):
        return False
    text = draft.text
    draft.reset(draft.change.mapped(_to_crlf))
    draft.text = text
    return True


@kind("CRLF: diff only", RECOVER)
def crlf_diff(draft, rng):
    if not _pure_lf(draft):
        return False
    draft.after.append(_crlf_text)
    return True


@kind("CRLF: file, and diff with some", RECOVER)
def crlf_some(draft, rng):
    if not crlf_file(draft, rng):
        return False
    draft.after.append(lambda diff: b"".join(
        line + (b"\r\n" if rng.random() < 0.5 else b"\n")
        for line in diff.replace(b"\r\n", b"\n").split(b"\n")[:-1]))
    if len(draft.change.base) < 5 or sum(len(hunk.lines) for hunk in draft.change.hunks) < 12:
        draft.demand = MISLED  # by chance only the added line may lack it: another change
    return True


@kind("CRLF: LF file, old lines of the diff with some", RECOVER)
def crlf_context(draft, rng):
    if not _pure_lf(draft):
        return False
    for hunk in draft.text.hunks:
        hunk.lines = [raw + b"\r" if raw[:1] in OLD and rng.random() < 0.5 else raw
                      for raw in hunk.lines]
    return True


@kind("CRLF: in one half of the file, diff with LF only", RECOVER)
def crlf_half(draft, rng):
    """Added lines end as the lines around them do."""
    change = draft.change
    if not _pure_lf(draft) or len(change.base) < 20:
        return False
    middle = len(change.base) // 2
    if any(h.at - 1 <= middle <= h.at + len(h.old()) for h in change.hunks) or \
            not all(h.old() for h in change.hunks):
        return False
    text = draft.text
    base = [_to_crlf(line) if i < middle else line for i, line in enumerate(change.base)]
    hunks = [h.mapped(_to_crlf) if h.at < middle else h for h in change.hunks]
    draft.reset(model.Change(base, hunks, change.path))
    draft.text = text
    return True


def _only_endings_differ(hunk):
    """Whether removed lines come again as added lines with another ending."""
    bare = lambda tag: {text.rstrip(b"\r\n") for t, text in hunk.lines if t == tag}
    endings = {(tag, text.endswith(b"\r\n")) for tag, text in hunk.lines if tag != b" "}
    return len({crlf for _, crlf in endings}) == 2 and bool((bare(b"-") & bare(b"+")) - {b""})


@kind("CRLF: really mixed file, diff with LF only", EFFORT)
def crlf_mixed(draft, rng):
    if _pure_lf(draft):
        return False
    if any(_only_endings_differ(hunk) for hunk in draft.change.hunks):
        draft.demand = MISLED  # a change of line endings, which such a diff cannot say
    for hunk in draft.text.hunks:
        hunk.lines = [raw.rstrip(b"\r") for raw in hunk.lines]
    return True


@kind("CRLF: mixed file, diff exact", RECOVER)
def mixed_exact(draft, rng):
    """What git prints for a file with both endings is to be taken at its word."""
    if not _pure_lf(draft):
        return b"\n" in draft.change.base_bytes().replace(b"\r\n", b"")
    draft.reset(draft.change.mapped(lambda line: _to_crlf(line) if sum(line) % 3 == 0 else line))
    return True


# ---- the end of the file ---------------------------------------------------------------

def _chomped(draft):
    """Makes both sides end without a line feed, if the last hunk reaches the end."""
    change = draft.change
    hunk = change.hunks[-1]
    if not hunk.old() or not hunk.new() or hunk.at + len(hunk.old()) != len(change.base):
        return False
    chomp = lambda text: text[:-2] if text.endswith(b"\r\n") else text.rstrip(b"\n")
    lines = list(hunk.lines)
    last = [max(i for i, (tag, _) in enumerate(lines) if tag in tags) for tags in (b" -", b" +")]
    if last[0] != last[1] and b" " in (lines[last[0]][0], lines[last[1]][0]):
        return False  # a last line that only one side has would have to be printed twice
    for i in set(last):
        lines[i] = (lines[i][0], chomp(lines[i][1]))
        if not lines[i][1]:
            return False
    base = change.base[:-1] + [chomp(change.base[-1])]
    hunks = change.hunks[:-1] + [dataclasses.replace(hunk, lines=tuple(lines))]
    draft.reset(model.Change(base, hunks, change.path))
    return True


def _without_markers(draft):
    found = False
    for hunk in draft.text.hunks:
        kept = [raw for raw in hunk.lines if not raw.startswith(b"\\ No newline")]
        found = found or len(kept) != len(hunk.lines)
        hunk.lines = kept
    return found


@kind("no newline at the end: exact", RECOVER)
def no_newline_exact(draft, rng):
    return _chomped(draft)


@kind("no newline at the end: markers missing", RECOVER)
def no_newline_missing(draft, rng):
    if not _chomped(draft):
        return False
    last = draft.change.hunks[-1].lines[-1]
    if last[0] != b" ":
        draft.demand = MISLED  # the new last line: with or without, nothing says
    return _without_markers(draft)


@kind("no newline at the end: one marker of two missing", EFFORT)
def no_newline_half(draft, rng):
    if not _chomped(draft):
        return False
    lines = draft.text.hunks[-1].lines
    spots = [i for i, raw in enumerate(lines) if raw.startswith(b"\\")]
    if len(spots) < 2:
        return False
    del lines[spots[0]]
    return True


@kind("no newline at the end: other words", RECOVER)
def no_newline_words(draft, rng):
    if not _chomped(draft):
        return False
    words = rng.choice([b"\\ No newline at end of file\r", b"\\No newline at end of file",
                        b"\\ Kein Zeilenumbruch am Dateiende.", b"\\ no newline"])
    for hunk in draft.text.hunks:
        hunk.lines = [words if raw.startswith(b"\\ No") else raw for raw in hunk.lines]
    return True


@kind("no newline at the end: marker where the file goes on", RECOVER)
def no_newline_spurious(draft, rng):
    hunk, printed = draft.change.hunks[-1], draft.text.hunks[-1]
    if hunk.at + len(hunk.old()) >= len(draft.change.base) or printed.lines[-1][:1] != b" ":
        return False
    printed.lines.append(model.NO_NEWLINE)
    return True


@kind("no newline at the end: marker though the file has one", EFFORT)
def no_newline_wrong(draft, rng):
    hunk, printed = draft.change.hunks[-1], draft.text.hunks[-1]
    if hunk.at + len(hunk.old()) != len(draft.change.base) or printed.lines[-1][:1] != b" ":
        return False
    printed.lines.append(model.NO_NEWLINE)
    return True


@kind("the diff's own last line feed missing", RECOVER)
def unfinished(draft, rng):
    draft.after.append(lambda diff: diff[:-1] if diff.endswith(b"\n") else diff)
    return True


@kind("blank lines after the diff", RECOVER, composable=True)
def blank_tail(draft, rng):
    draft.text.tail += [b""] * rng.randint(1, 5)
    return True


@kind("lines of white space after the diff", RECOVER)
def white_tail(draft, rng):
    draft.text.tail += [rng.choice([b"", b" ", b"  ", b"\t"]) for _ in range(rng.randint(1, 4))]
    return True


@kind("blank lines between hunks", RECOVER)
def blank_between(draft, rng):
    if len(draft.text.hunks) < 2:
        return False
    for hunk in draft.text.hunks[:-1]:
        hunk.lines += [b""] * rng.randint(1, 2)
    return True


@kind("blank lines between hunks, no counts", RECOVER)
def blank_between_absent(draft, rng):
    from damage_numbers import _headers
    return _headers(draft, lambda hunk: b"@@") and blank_between(draft, rng)


# ---- look-alikes -----------------------------------------------------------------------

def _curly(text):
    """What a word processor makes of quotes and dashes."""
    text = re.sub(rb'"([^"]*)"', "“".encode() + rb"\1" + "”".encode(), text)
    text = text.replace(b"'", "’".encode())
    return re.sub(rb" - ", " – ".encode(), text)


def _nbsp(text):
    return re.sub(rb"(?<=\S) (?=\S)", "\u00a0".encode(), text)


def _dashes(text):
    return re.sub(rb"(?<=\w)-(?=\w)", "‑".encode(), text)


def _lookalike(name, tags, function, group=RECOVER):
    @kind(name, group)
    def damage(draft, rng):
        draft.needs(oracle.LOOKALIKE)
        if not draft.each_line(tags, function):
            return False
        if tags == ALL and (not _visible(draft, function) or _has_own(draft, function)):
            draft.demand = MISLED
        return True
    return damage


def _has_own(draft, function):
    """Whether an added line means one of the characters that the damage makes: then nothing
    tells these from those."""
    made = set(function(b"\"a\" 'a' - a-a a a").decode()) - set("\"a' -")
    return any(made & set(text.decode("utf-8", "replace")) for text in _added(draft))


_lookalike("look-alikes in context: curly quotes, en dashes", OLD, _curly)
_lookalike("look-alikes in context: no-break spaces", OLD, _nbsp)
_lookalike("look-alikes in context: hyphens", OLD, _dashes)
_lookalike("look-alikes in context: ellipsis", OLD,
           lambda text: text.replace(b"...", "…".encode()), EFFORT)
_lookalike("look-alikes in context: -- to a dash", OLD,
           lambda text: text.replace(b" -- ", " — ".encode()), EFFORT)
_lookalike("look-alikes in the whole diff: curly quotes", ALL, _curly, EFFORT)
_lookalike("look-alikes in the whole diff: no-break spaces", ALL, _nbsp, EFFORT)
_lookalike("look-alikes in the whole diff: hyphens", ALL, _dashes, EFFORT)


def _curly_history(draft, plain_tags):
    """The change as if the file were written with curly quotes; the diff is plain in the lines
    with these markers."""
    draft.needs(oracle.LOOKALIKE)
    change = draft.change
    if not any(_curly(x) != x for h in change.hunks for x in h.old()):
        return False
    if any(not line.isascii() for line in change.base):
        return False
    curly = change.mapped(_curly)
    shown = curly.with_hunks([
        dataclasses.replace(h, lines=tuple((t, x if t in plain_tags else _curly(x))
                                           for t, x in h.lines)) for h in change.hunks])
    text = shown.print()
    draft.reset(curly)
    draft.text = text
    return True


@kind("look-alikes in the file, plain in the context", RECOVER)
def curly_base(draft, rng):
    return _curly_history(draft, CONTEXT)


@kind("look-alikes in the file, plain in the whole diff", OPTIONAL)
def curly_base_whole(draft, rng):
    """To write what an added line says, plain, is no mistake; nor is it to do as the file, or
    in the words that it shares with the line that it replaces, as that line."""
    if not _curly_history(draft, ALL):
        return False
    for hunk in draft.change.hunks:
        lines = {tag: any(not x.isascii() for t, x in hunk.lines if t == tag) for tag in
                 (b" ", b"-", b"+")}
        if lines[b"+"] and not (lines[b" "] or lines[b"-"]):
            draft.demand = MISLED
    return True


@kind("a byte-order mark before the diff", RECOVER)
def bom_diff(draft, rng):
    draft.after.append(lambda diff: b"\xef\xbb\xbf" + diff)
    return True


@kind("a byte-order mark in the file, none in the diff", RECOVER)
def bom_file(draft, rng):
    if draft.change.base_bytes().startswith(b"\xef\xbb\xbf") or not draft.change.base:
        return False
    draft.truth_bytes = b"\xef\xbb\xbf" + draft.change.result()
    draft.base_bytes = b"\xef\xbb\xbf" + draft.change.base_bytes()
    return True


@kind("a byte-order mark in the file, in the diff too", RECOVER)
def bom_both(draft, rng):
    change = draft.change
    first = change.hunks[0]
    if change.base_bytes().startswith(b"\xef\xbb\xbf") or first.at != 0 or not first.old():
        return False
    if first.lines[0][0] != b" ":
        return False
    mark = lambda lines: (lines[0][0], b"\xef\xbb\xbf" + lines[0][1])
    hunks = [dataclasses.replace(first, lines=(mark(first.lines),) + first.lines[1:])]
    base = [b"\xef\xbb\xbf" + change.base[0]] + change.base[1:]
    draft.reset(model.Change(base, hunks + change.hunks[1:], change.path))
    return True
