# SPDX-License-Identifier: Apache-2.0
"""Tasks of several edits each, from public histories: real changes, cut into the edits that a model would make.

    for task in load(500):      # the same on every run for the same packages
        task.files              # {path: text} as the model first reads them
        for edit in task.edits: # in the order of the change
            edit.path, edit.at, edit.old, edit.new      # lines; old or new may be empty
            edit.damage         # a name of DAMAGES, or None

A patch of a Debian series with two to fourteen changed places in up to four files is a task; of an npm package
two to three files that its next version changed are one (test/damage/corpus.py fetches both, names what is
missing and what stands in).  SHARE of the edits are damaged as models damage them.  What a damage does to a
call is in damages.py.
"""

import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "damage"))
import corpus  # noqa: E402
import damages  # noqa: E402

FEWEST, MOST = 2, 14  # edits of a task
FILES = 4  # most files of one
LINES, LONGEST = 1800, 300  # of a file, and characters of a line: any product's reading shows all of it
BYTES = 60_000  # of a file
# Products ask about these, or take them for settings, and nobody answers here.
ASKED = re.compile(r"(^|/)(\.|package(-lock)?\.json$|(GNU)?[Mm]akefile|CMakeLists|Dockerfile|setup\.(py|cfg)$|config"
                   r"ure|meson|tsconfig)|\.(gypi?|gradle|mk|am|in|toml|lock|config\.[cm]?js)$")
SHARE = 0.3  # of the edits that are damaged
DAMAGES = ("changed elsewhere", "changed next to it", "line numbers", "indentation", "blanks", "quotes",
           "escaped", "misremembered", "not unique", "sent again", "an earlier hash")


@dataclass
class Edit:
    path: str
    at: int  # first line that changes, counted from 0, in the file before the task
    old: list
    new: list
    damage: str = None


@dataclass
class Task:
    name: str
    files: dict
    edits: list = field(default_factory=list)
    seed: int = 0


# Few places allow these: they are drawn so many times more often there.
RARE = {"not unique": 20, "blanks": 12, "escaped": 8, "quotes": 5, "indentation": 3}


def lines_of(data):
    """The lines of a plain text file, or None: what products show or write in ways of their own."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if len(data) > BYTES or not text.endswith("\n") or re.search("[^\t\n -\ufefe]|[\x7f-\x9f\u2028\u2029]", text):
        return None
    lines = text[:-1].split("\n")
    return lines if len(lines) <= LINES and max(map(len, lines)) <= LONGEST else None


def edits_of(path, diff):
    """The places of a diff, each from its first changed line to its last."""
    for hunk in re.split(r"(?m)^(?=@@ )", diff)[1:]:
        head, *body = hunk.split("\n")[:-1]
        if any(line[:1] == "\\" for line in body):
            return
        changed = [i for i, line in enumerate(body) if line[:1] in "+-"]
        first, last = changed[0], changed[-1] + 1
        start = int(re.match(r"@@ -(\d+)", head)[1])
        yield Edit(path, start - 1 + first, [line[1:] for line in body[first:last] if line[:1] in " -"],
                   [line[1:] for line in body[first:last] if line[:1] in " +"])


def group_of(triple):
    """What belongs to one change: a patch of a series, or a folder of a package between two versions."""
    patch = re.search(r" \((.+)\)$", triple.name)
    where = triple.name.split("/")[0]
    return (where, patch[1]) if patch else (where, triple.path.rpartition("/")[0])


def is_public(triple):
    """Not this repository's own commits, which a source archive lacks."""
    return not re.fullmatch(r"[0-9a-f]{8}", triple.name.split("/")[0])


def take_file(task, triple):
    """Adds a file's edits to the task; False if it does not fit in."""
    base, result = lines_of(triple.base), lines_of(triple.result)
    # Products leave node_modules out of what they read.
    path = triple.path.replace("node_modules", "packages")
    if base is None or result is None or ASKED.search(path) or path in task.files or len(task.files) >= FILES:
        return False
    edits = list(edits_of(path, triple.diffs["U3"].decode()))
    if not edits or len(task.edits) + len(edits) > MOST:
        return False
    task.files[path] = triple.base.decode()
    task.edits += edits
    return True


def size_of(triple):
    """How many edits are enough for a task that ends with this file: 2 to 4."""
    return FEWEST + corpus.hashlib.sha256(triple.name.encode()).digest()[0] % 3


def tasks_of(name, triples):
    """A patch is one task, or none; the files of a package are as many as they give."""
    task = Task("%s %s" % name, {})
    for triple in triples:
        if not take_file(task, triple):
            if triple.name.endswith(")"):
                return  # not the whole patch: no task
            if len(task.edits) >= FEWEST:
                yield task
            task = Task("%s %s %s" % (*name, triple.path), {})
            take_file(task, triple)
        elif not triple.name.endswith(")") and len(task.edits) >= size_of(triple):
            yield task
            task = Task("%s %s after %s" % (*name, triple.path), {})
    if len(task.edits) >= FEWEST:
        yield task


def damage(task):
    """Marks a share of the edits, each with a damage that has something to change there."""
    task.seed = int(corpus.hashlib.sha256(task.name.encode()).hexdigest()[:8], 16)
    rng = random.Random(task.seed)
    for number, edit in enumerate(task.edits):
        if rng.random() >= SHARE:
            continue
        lines = task.files[edit.path][:-1].split("\n")
        earlier = any(other.path == edit.path for other in task.edits[:number])
        # Blank lines that are put in twice may be meant.
        again = number and any(line.strip() for line in task.edits[number - 1].new
                               if line not in task.edits[number - 1].old)
        kinds = [kind for kind in DAMAGES if (again or kind != "sent again") and
                 (earlier or kind != "an earlier hash") and
                 damages.possible(kind, lines, edit.at, edit)]
        edit.damage = rng.choices(kinds, [RARE.get(kind, 1) for kind in kinds])[0]


def load(count):
    """So many tasks, in an order that mixes their sources; for few of them not all sources are looked at."""
    groups = {}
    for triple in corpus.load():
        if is_public(triple):
            groups.setdefault(group_of(triple), []).append(triple)
    found = {}
    for name in corpus.stable_order(["\0".join(name) for name in groups]):
        where = tuple(name.split("\0"))
        for task in tasks_of(where, groups[where]):
            found.setdefault(task.name, task)
            if len(found) >= 4 * count:  # enough to mix
                break
    names = corpus.stable_order(found)[:count]
    for name in names:
        damage(found[name])
    return [found[name] for name in names]
