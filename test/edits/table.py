# SPDX-License-Identifier: Apache-2.0
"""The table of kinds: a format, a damage, a file's property, copies elsewhere; and what must become of such an
edit.

    applies   the edit says what it means: the result must be the truth; a refusal counts as refused
    either    it may be refused; if it is made, the result must be the truth
    refuse    nothing decides where it belongs, or it is wrong: any change of the file is wrong, and so is a success
    already   it was made before: the file stays as it is, with success or not

A kind is a function (rng) -> Case, or None if this draw does not fit; kinds_*.py have them, in groups. A kind
must draw only cases in which its outcome follows from the edit, the file, and the published format;
`files.File.alone` and `places` decide that.
"""

import hashlib
import random
from dataclasses import dataclass

import changes
import files
import formats
from changes import PROPERTIES, SHAPES
from drive import ALREADY, APPLIES, EITHER, REFUSE, Case  # noqa: F401  (for the kinds)
from files import File, bare

SIMPLE = [name for name in SHAPES if name not in ("several", "blank")]
WORDY = [name for name in SIMPLE if name not in ("swap", "delete")]  # what they add is new in the file
TRIES = 60  # draws for each case wanted


@dataclass(frozen=True)
class Kind:
    name: str
    group: str
    outcome: str
    make: object

    def cases(self, count, seed="1"):
        """`count` cases, always the same for a seed; fewer if the corpus has no more."""
        made = 0
        for draw in range(count * TRIES):
            rng = random.Random(hashlib.sha256(("%s/%s/%d" % (seed, self.name, draw)).encode()).digest())
            case = self.make(rng)
            if case is not None:
                made += 1
                yield case
            if made == count:
                return


KINDS = []


def kind(group, name, outcome):
    def add(make):
        KINDS.append(Kind(name, group, outcome, make))
        return make

    return add


def load():
    """All kinds."""
    if not KINDS:
        import kinds_damaged, kinds_envelope, kinds_patch, kinds_twins, kinds_update, kinds_whole  # noqa: F401, E401

        names = [one.name for one in KINDS]
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    return KINDS


# ---- draws ---------------------------------------------------------------------------------------


def pick(rng, shape=None, prop=None, languages=None, test=None):
    """An Edit of a file from the corpus, or None."""
    pool = files.load() if languages is None else [f for f in files.load() if f.language in languages]
    file = rng.choice(pool)
    if test and not test(file):
        return None
    if prop:
        file = PROPERTIES[prop](rng, file)
        if file is None:
            return None
    return SHAPES[shape or rng.choice(SIMPLE)](rng, file)


def around(rng, edit, least=1, most=4):
    """One Hunk around all places of an edit, with context before and after; None if the edit is too wide."""
    first, last = edit.places[0], edit.places[-1]
    if last.end - first.start > 40:
        return None
    made = (
        formats.hunks(edit, 1000, rng.randint(least, most), rng.randint(least, most)) if len(edit.places) == 1 else None
    )
    if made is None:
        wide = changes.Edit(edit.file, edit.places)
        made = formats.hunks(wide, 0, 40, 40)
        if len(made) != 1:
            return None
        made = [narrowed(made[0], rng.randint(least, most), rng.randint(least, most))]
    return made[0] if made[0].lead >= least and trail(made[0]) >= least else None


def trail(hunk):
    return next((i for i, (mark, _) in enumerate(reversed(hunk.rows)) if mark != b" "), len(hunk.rows))


def narrowed(hunk, before, after):
    """The hunk with at most so much context."""
    cut, tail = max(0, hunk.lead - before), max(0, trail(hunk) - after)
    return formats.Hunk(hunk.start + cut, hunk.new_start + cut, hunk.rows[cut : len(hunk.rows) - tail], hunk.places)


# ---- cases ---------------------------------------------------------------------------------------


def text_of(data):
    return data.decode("utf-8")


def update(edit, old, new, truths=None, again=None, **facts):
    """update_file with these texts; by default the result is the edit's."""
    name, before = edit.file.name, edit.file.data
    truths = [edit.result] if truths is None else truths
    if again is None:
        again = files.occurs(formats.lf(old), formats.lf(truths[0])) > 0 if truths and old else False
    arguments = {"file_path": name, "old_content": text_of(old), "new_content": text_of(new)}
    arguments.update(facts.pop("arguments", {}))
    return Case({name: before}, "update_file", arguments, [{name: one} for one in truths], again, facts)


def patch(edit, made, diff, truths=None, again=None, **facts):
    """safe_patch with this diff; `made` are the hunks that are meant."""
    name, before = edit.file.name, edit.file.data
    truths = [edit.result] if truths is None else truths
    if again is None:
        again = bool(truths) and repeatable(edit, made, truths[0])
    facts.setdefault("starts", [(h.start + 1, h.new_start + 1) for h in made])
    arguments = {"file_path": name, "unified_diff": text_of(diff), "base_content_sha256": "HASH " + name}
    changed = facts.pop("arguments", {})
    arguments.update(changed)
    beside = b"" if changed else diff  # GNU patch and git apply know nothing of hashes
    return Case({name: before}, "safe_patch", arguments, [{name: one} for one in truths], again, facts, beside)


def repeatable(edit, made, result):
    """The old text of a hunk is in the result as it was in the file."""
    after = File(edit.file.name, result)
    return any(not hunk.old or after.places(hunk.old) for hunk in made)


def unchanged(case, before):
    """The same call when the file is this already, or is something else: nothing is to be written."""
    case.before = {case.name: before}
    case.after, case.again, case.facts = [], False, {}
    return case


def single(edit, made):
    """Each hunk's old lines stand in one place, as they are."""
    return all(hunk.old and len(edit.file.places(hunk.old)) == 1 for hunk in made)


def clear(edit, made):
    """Each hunk's old lines stand in one place in whatever reading, and its new ones nowhere yet."""
    return all(
        edit.file.alone(hunk.old) and files.occurs("".join(map(files.loose, hunk.new)), edit.file.squeezed) == 0
        for hunk in made
    )


def same_but_place(lines):
    return [bare(line) for line in lines]
