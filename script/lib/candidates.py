# SPDX-License-Identifier: Apache-2.0
"""Fetching from registries, where any package or version may be missing one day.

    taken = candidates.take(NAMES, get, enough=3, record=cache / "chosen")   # and 12 digits that stand for NAMES
    for name, value in taken: ...

What is fetched is a list of candidates, best first, longer than needed: those that cannot be had are replaced by
the next ones.  A test that needs a number of patches or files says so with `enough`, and names no package.

Each replacement is a line in notes(), which the program that runs the tests prints (test/conftest.py,
script/lib/run_tests.py).  A choice that differs from the first names is kept in `record`, next to the downloads, so the
next run uses the same and needs no network.
"""

import hashlib
import json

MARK = "substitute: "  # begins each line of notes()
REASON = 160  # characters of one, at most
_notes, _given = [], 0


class Missing(Exception):
    """What could not be fetched, as one sentence; `get` raises it."""


def notes():
    """What was replaced since the last call, as lines for a reader."""
    global _given
    fresh, _given = _notes[_given:], len(_notes)
    return fresh


def _note(line):
    if MARK + line not in _notes:
        _notes.append(MARK + line)


def _recorded(record):
    """What take() wrote: {"taken": [...], "missing": {candidate: reason}}; None: there is no such file, or a bad one."""
    try:
        data = json.loads(record.read_text())
        return data if isinstance(data["taken"], list) and isinstance(data["missing"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _get_some(names, get, is_enough, missing):
    """[(name, value)] of the first names that suffice; adds to `missing`. None: they do not suffice."""
    taken = []
    for name in names:
        if is_enough([value for _, value in taken]):
            break
        try:
            taken.append((name, get(name)))
        except Missing as error:
            missing[str(name)] = str(error)
    return taken if taken and is_enough([value for _, value in taken]) else None


def take(names, get, enough=1, record=None, what=str):
    """[(name, get(name))] for the first of `names` that can be had.

    `enough` is their number, or a function that says whether a list of values suffices; then all names before are
    tried.  `get` raises Missing for what cannot be had; `what` shows a name to a reader.  Raises Missing if all of
    them do not suffice."""
    names = list(names)
    if record:
        text = repr((names, getattr(enough, "__name__", enough)))
        record = record.with_name("%s-%s" % (record.name, hashlib.sha256(text.encode()).hexdigest()[:12]))
    is_enough = enough if callable(enough) else lambda values: len(values) >= enough
    known = _recorded(record) if record else None
    if known:
        by_text = {str(name): name for name in names}
        chosen = [by_text[text] for text in known["taken"] if text in by_text]
        taken = _get_some(chosen, get, is_enough, {})
        if taken:
            _explain(names, taken, known["missing"], what)
            return taken
    missing = {}
    taken = _get_some(names, get, is_enough, missing)
    if taken is None:
        raise Missing("not enough of %s can be fetched%s" % (
            ", ".join(what(name) for name in names),
            "".join("; %s" % reason for reason in missing.values())))
    if record and missing:
        partial = record.with_name(record.name + ".partial")
        partial.write_text(json.dumps({"taken": [str(name) for name, _ in taken], "missing": missing}))
        partial.rename(record)
    _explain(names, taken, missing, what)
    return taken


def _explain(names, taken, missing, what):
    """One line for each of the first names that is missing, with what stands in for it."""
    absent = [name for name in names[:len(taken)] if str(name) in missing]
    spares = [name for name, _ in taken if name not in names[:len(taken)]]
    for name, spare in zip(absent, spares):
        reason = " ".join(missing[str(name)].split())
        _note("%s instead of %s (%s)" % (what(spare), what(name), reason if len(reason) <= REASON
                                         else reason[:REASON] + "..."))
