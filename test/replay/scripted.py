# SPDX-License-Identifier: Apache-2.0
"""The scripted model of a replay: reads, edits, and goes on after a refusal with what the answer offers.

    model = Model(task, folder, "exact")     # a job for bench_products.run()
    requests = run(product, home, folder, PROMPT, model)
    model.figures(requests)                  # bytes by what they are for, and what became of each damage

It knows of a file what it was shown, and nothing more.  After a refusal it

 - takes an edit that is offered ready to be made (`rebased`),
 - sends the edit as it was, with the new hash, if the answer says that it fits the file as it is now,
 - sends hunks as they were of which the answer says that they fit,
 - sends the edit again, correct, if the answer shows each line that it had wrong, or names one and says that the
   model was shown this state before; or if it had none wrong (it sent too little, or an old hash), unless the
   answer says that the file has to be read,
 - reads the lines around the place first, otherwise;
 - of an edit that was made already: goes on if the answer says so, reads the place otherwise.

Rounds are the replies after a refusal until the edit is made, that one included.  Another program's or
person's change of a file is made right before the call is sent.
"""

import json
import re
import traceback
from pathlib import Path

import bench_products as ways
import damages
from damages import Block

PROMPT = "Make the changes of the task."
READ, EDIT, RECOVER = "read", "edit", "recover"
ANSWER = 400  # characters of a refusal that are kept
TRIES = 6  # replies for one edit
AROUND = 15  # lines on each side of a place that is read again
FAR = 25  # lines between a place and what others change elsewhere
CONTEXT = {"exact": 1, "together": 1, "patch": 10, "patch a file": 10, "envelope": 3}
TELLS_TO_READ = re.compile(r"read it again|re-?read|read (the file|it) (again|first)|has not been read", re.I)
NO_DAMAGE = "none"  # of an edit that was sent as it should be
REPLACERS = "update_file", "replace", "Edit"
EXACT = "exact", "together"  # by exact replacement, an edit a call; a call a reply, or all of a file
SHOWN_BEFORE = re.compile(r"already shown|shown (before|above|as version)", re.I)
FITS_NOW = re.compile(r"The edit fits at line \d+")
OTHERS_FIT = re.compile(r"The (other hunks?|others) fits?\.")
OTHERS = "changed elsewhere", "changed next to it"


class File:
    """One of the task's: as it is, and as the model believes that it is."""

    def __init__(self, path, where, text):
        self.path, self.where = path, where
        self.lines = text[:-1].split("\n")
        self.picture = list(self.lines)
        self.places = []  # [at in lines, at in the picture, edit]: those to be made

    def text(self, lines=None):
        return ("\n".join(self.lines if lines is None else lines) + "\n").encode()

    def make(self, edits):
        for place in [place for place in self.places if place[2] in edits]:
            at, seen, edit = place
            self.lines[at:at + len(edit.old)] = edit.new
            self.picture[seen:seen + len(edit.old)] = edit.new
            self.places.remove(place)
            for other in self.places:
                for i, start in ((0, at), (1, seen)):
                    other[i] += (len(edit.new) - len(edit.old)) if other[i] >= start else 0

    def learn(self):
        """The model has been shown how it is."""
        self.picture = list(self.lines)
        for place in self.places:
            place[1] = place[0]

    def adopt(self, data, expected):
        """Something else was made: it is how the file is now. False: where the next places are is not known."""
        self.lines = data.decode(errors="replace")[:-1].split("\n")
        for place in self.places:
            place[0] += len(self.lines) - expected
        self.learn()
        return all(self.lines[at:at + len(edit.old)] == edit.old for at, _, edit in self.places)

    def taken(self, at):
        """Whether a line is one that an edit is to change."""
        return any(start <= at < start + len(edit.old) for start, _, edit in self.places)

    def change_elsewhere(self):
        def distance(at):
            return min(abs(at - start - part * len(edit.old)) for start, _, edit in self.places
                       for part in (0, 1))
        at = max(range(len(self.lines) + 1), key=distance)
        if distance(at) < FAR or self.taken(at):
            return False
        self.lines.insert(at, self.lines[max(0, at - 1)] + " (checked)")
        for place in self.places:
            place[0] += place[0] >= at
        return True

    def change_beside(self, edit):
        start = next(place[0] for place in self.places if place[2] is edit)
        for at in (start - 1, start + len(edit.old)):
            if 0 <= at < len(self.lines) and self.lines[at].strip() and not self.taken(at):
                self.lines[at] += " (checked)"
                return True
        return False


class Damage:
    """What became of one."""

    def __init__(self, kind):
        self.kind, self.refused, self.rounds, self.end = kind, False, 0, None
        self.answer = ""  # the beginning of the refusal

    def refuse(self, result):
        self.answer = self.answer or ways.texts(result)[:ANSWER]
        self.refused = True


class Model:
    def __init__(self, task, folder, dialect):
        self.task, self.dialect = task, dialect
        self.files, self.hashes = {}, {}
        for path, text in task.files.items():
            file = self.files[path] = File(path, Path(folder) / path, text)
            file.where.parent.mkdir(parents=True, exist_ok=True)
            file.where.write_bytes(text.encode())
        for edit in task.edits:
            self.files[edit.path].places.append([edit.at, edit.at, edit])
        self.said, self.damages, self.wrong, self.stopped = [], [], [], None
        self.kind = self.failure = None  # the damage that replies are about; what is wrong with this program
        self.replies = self.script()
        self.names = self.results = None

    def __call__(self, request, provider):
        self.names, self.results = ways.tools(request, provider), provider.tool_results(request)
        self.note_hashes()
        try:
            parts = next(self.replies, None)
        except Exception:
            self.failure = traceback.format_exc()  # the server's thread would swallow it
            parts = None
        return {"reply": parts or [{"text": "Done."}]}

    def note_hashes(self):
        for result in self.results[len(self.results) - self.waiting():]:
            for path, sha256 in states(result):
                for file in self.files.values():
                    if str(path).endswith(file.path) and self.hashes.setdefault(
                            file.path, []) [-1:] != [sha256]:
                        self.hashes[file.path].append(sha256)

    def waiting(self):
        return self.said[-1][1] if self.said else 0

    def say(self, purpose, *calls):
        self.said.append([purpose, len(calls), self.kind])
        return list(calls)

    # -- what it does, reply by reply ------------------------------------------------------------

    def script(self):
        yield self.say(READ, *(ways.read_call(self.names, path) for path in self.files))
        before = None
        for group in self.groups():
            for damage in [edit.damage for edit in group if edit.damage == "sent again"][:1]:
                if before:
                    yield from self.again(before)
            before = group
            if not self.stopped:
                yield from self.edit_together(group) if self.dialect == "together" else self.edit(group)
            if self.stopped:
                return

    def groups(self):
        """The edits that go into one call."""
        if self.editor() == "apply_patch":
            return [self.task.edits]
        if self.dialect in ("patch a file", "envelope", "together"):
            return [[edit for edit in self.task.edits if edit.path == path] for path in self.files]
        return [[edit] for edit in self.task.edits]

    def locked(self):
        """Whether its calls name the state by its hash."""
        return "base_content_sha256" in json.dumps(self.names.get(self.editor(), {}))

    def editor(self):
        wanted = REPLACERS if self.dialect in EXACT else \
            ["apply_patch", "safe_patch"] if self.dialect == "envelope" else ["safe_patch"]
        return next((name for name in wanted if name in self.names), None)

    def prepare(self, group):
        """The blocks that are sent for these edits, and their damage, which has been done; None: there is none."""
        self.group, sent = group, self.blocks(group)
        done = [edit.damage for edit in group if edit.damage and self.spoil(edit, sent)]
        damage = Damage(done[0]) if done else None
        self.damages += [damage] if damage else []
        self.kind = damage.kind if damage else NO_DAMAGE
        return sent, damage

    def edit(self, group):
        sent, damage = self.prepare(group)
        self.last = sent
        yield self.say(EDIT, self.call(sent, stale(damage)))
        yield from self.finish(group, damage)

    def edit_together(self, group):
        """Sends all of them in one reply, against one hash, as models do."""
        parts = [self.prepare([edit]) for edit in group]
        calls = [self.call(sent, stale(damage)) for sent, damage in parts]
        self.last = parts[-1][0]
        yield self.say(EDIT, *calls)
        answers = self.results[-len(calls):]
        made = [edit for edit, answer in zip(group, answers) if not failed(answer)]
        if made and not self.settled(made):
            made = []
        for edit, answer, (sent, damage) in zip(group, answers, parts):
            if edit in made and damage:
                damage.end = "made"
            elif edit not in made and not self.stopped:
                self.last, self.kind = sent, damage.kind if damage else NO_DAMAGE
                yield from self.finish([edit], damage, answer)

    def finish(self, group, damage, answer=None):
        """What follows until the edits are made; `answer`: what the call was told, if not the last result."""
        for _ in range(TRIES):
            wrongs = len(self.wrong)
            if self.settled(group):
                if damage:
                    damage.end = "wrong" if len(self.wrong) > wrongs else "made"
                return
            if not damage:
                damage = Damage(NO_DAMAGE)
                self.damages.append(damage)
            answer = answer or self.results[-1]
            damage.refuse(answer)
            self.said[-1][0] = RECOVER
            for reply in self.recover(group, answer, damage):
                damage.rounds += 1
                yield reply
            answer = None
        damage.end = "lost"
        self.stopped = "not made after %d replies: %s" % (TRIES, ways.texts(self.results[-1])[:300])

    def recover(self, group, answer, damage):
        """The replies until the edit is sent again, that one included."""
        files = [self.files[path] for path in dict.fromkeys(edit.path for edit in group)]
        offer = next((found for found in members(answer, "rebased") if found), None)
        if isinstance(offer, dict) and offer.get("id") and len(files) == 1:
            files[0].learn()
            self.last = self.blocks(group)
            yield self.say(EDIT, {"call": "safe_patch", "args": {
                "file_path": files[0].path, "rebase": offer["id"],
                "base_content_sha256": self.hashes[files[0].path][-1]}})
            return
        if len(files) == 1 and FITS_NOW.search(said(answer)):
            yield self.say(EDIT, self.call(self.last))
            return
        known = {line for _, block in self.last for line in block.old()}
        now = self.blocks(group, True)
        fit = self.said_to_fit(answer, now)
        lacking = [] if damage.kind == "not unique" else [
            (path, block) for (path, block), as_sent in zip(now, fit) if not as_sent and block.missing(known)]
        shown = all(self.shows(answer, path, block, known) for path, block in lacking)
        if not shown or not lacking and TELLS_TO_READ.search(said(answer)):
            yield self.say(RECOVER, *(self.look(file, group, damage.rounds >= 3) for file in files))
        for file in files:
            file.learn()
        self.last = [before if as_sent else one for before, one, as_sent in zip(
            self.last, now, fit)] if any(fit) else now
        yield self.say(EDIT, self.call(self.last))

    def said_to_fit(self, answer, now):
        """Of each block that was sent, whether the answer says that it fits the file: it is sent again as it was."""
        paths = [path for path, _ in self.last]
        if self.dialect in EXACT or paths != [path for path, _ in now]:
            return [False] * len(now)
        changes = next((found for found in members(answer, "changes") if isinstance(found, list)), None)
        out = []
        for path in dict.fromkeys(paths):
            one = answer if changes is None else next(
                (change for change in changes if str(change["latest_file_state"]["file_path"]).endswith(path)), {})
            out += hunks_that_fit(one, paths.count(path))
        return out

    def shows(self, answer, path, block, known):
        """Whether an answer shows the lines that the model had wrong; or says that it was shown them before, and where
        they stand."""
        text = ways.texts(answer)
        if all(line in text for line in block.missing(known)):
            return True
        lines = {int(number) for number in re.findall(r"\bline (\d+)", text)}
        return self.files[path].picture == self.files[path].lines and bool(SHOWN_BEFORE.search(text)) and \
            any(block.start < line <= block.start + len(block.true_old()) for line in lines)

    def look(self, file, group, whole):
        if whole:
            return ways.read_call(self.names, file.path)
        places = [(at, edit) for at, _, edit in file.places if edit in group]
        return ways.read_call(self.names, file.path, max(1, places[0][0] + 1 - AROUND), min(
            len(file.lines), places[-1][0] + len(places[-1][1].old) + AROUND))

    def again(self, group):
        """Sends a call once more that was made."""
        damage = Damage("sent again")
        self.damages.append(damage)
        self.kind = damage.kind
        yield self.say(RECOVER, self.call(self.last))
        twice = [file for file in self.files.values() if file.where.read_bytes() != file.text()]
        for file in twice:
            self.wrong.append("made twice in " + file.path)
            if not file.adopt(file.where.read_bytes(), len(file.lines)):
                self.stopped = self.wrong[-1]
        damage.end = "wrong" if twice else "made"
        if not failed(self.results[-1]):
            return
        damage.refuse(self.results[-1])
        damage.rounds = 1
        if not re.search(r"already|identical|no change", said(self.results[-1]), re.I):
            damage.rounds = 2
            path = group[-1].path
            yield self.say(RECOVER, ways.read_call(self.names, path, 1, 2 * AROUND))

    def settled(self, group):
        """Whether the files have the edits, or something else, which self.wrong has then."""
        files = [self.files[path] for path in dict.fromkeys(edit.path for edit in group)]
        data = {file.path: file.where.read_bytes() for file in files}
        if all(data[file.path] == file.text() for file in files):
            return False
        for file in files:
            file.make(group)
            if data[file.path] != file.text():
                self.wrong.append("made otherwise in " + file.path)
                if not file.adopt(data[file.path], len(file.lines)):
                    self.stopped = self.wrong[-1]
        return True

    # -- calls -----------------------------------------------------------------------------------

    def blocks(self, group, true=False):
        """[(path, block)]: as the model sees the files, or as they are."""
        out = []
        for path in dict.fromkeys(edit.path for edit in group):
            file = self.files[path]
            lines = file.lines if true else file.picture
            places = [(at if true else seen, edit) for at, seen, edit in file.places if edit in group]
            out += [(path, block) for block in self.cut(lines, places)]
        return out

    def cut(self, lines, places):
        """Blocks with context enough to occur once; places whose context would meet share one."""
        context = CONTEXT[self.dialect]
        runs = []
        for at, edit in places:
            if runs and at - 2 * context <= runs[-1][-1][0] + len(runs[-1][-1][1].old):
                runs[-1].append((at, edit))
            else:
                runs.append([(at, edit)])
        for run in runs:
            block = Block.of(lines, run, context)
            for more in range(context + 1, 40):
                if damages.occurrences(lines, block) <= 1:
                    break
                block = Block.of(lines, run, more)
            yield block

    def spoil(self, edit, sent):
        """Does what the edit's damage says to the blocks, the file or the hash; False: nothing can be done."""
        file, kind = self.files[edit.path], edit.damage
        if kind in OTHERS:
            done = file.change_elsewhere() if kind == OTHERS[0] else file.change_beside(edit)
            if done:
                file.where.write_bytes(file.text())
            return done
        if kind == "an earlier hash":
            return self.locked() and len(self.hashes.get(edit.path, [])) > 1
        if kind == "sent again":
            return False
        if kind == "not unique":
            return self.shorten(edit, sent)
        exact = None if kind == "line numbers" and self.dialect == "envelope" else \
            self.dialect in EXACT
        block = next(block for path, block in sent if path == edit.path and any(
            at >= block.start and one is edit and at <= block.start + len(block.rows)
            for _, at, one in file.places))
        return damages.damaged(block, kind, exact)

    def shorten(self, edit, sent):
        """Leaves out context until the block occurs more than once."""
        file = self.files[edit.path]
        seen = next(place[1] for place in file.places if place[2] is edit)
        cut = damages.shortened(file.picture, seen, edit) if len(sent) == 1 else None
        if cut and len([place for place in file.places if place[2] in self.group]) == 1:
            sent[0] = (edit.path, cut)
            return True
        return False

    def call(self, blocks, stale=False):
        path, block = blocks[0]
        known = self.hashes.get(path, [])
        sha256 = known[-2] if stale else known[-1] if known else None
        if self.dialect in EXACT:
            name = self.editor()
            return ways.exact_call(name, self.names[name], path, "\n".join(block.old()),
                                   "\n".join(block.new()), sha256)
        if self.dialect == "envelope":
            sections = {}
            for where, one in blocks:
                sections.setdefault(where, []).append(one.marked())
            return ways.patch_call(self.names, list(sections.items()), sha256)
        text = "".join("%s\n%s\n" % (one.header(), "\n".join(one.marked())) for _, one in blocks)
        return {"call": "safe_patch", "args": {"file_path": path, "unified_diff": text,
                                               "base_content_sha256": sha256}}

    # -- what came of it -------------------------------------------------------------------------

    def figures(self, requests):
        """{"tool", "bytes": {purpose: bytes}, "of": {kind of damage: bytes for it}, "calls", "edits",
        "damages": [Damage], "wrong": [what was made otherwise], "stopped": why it ended early, or None}"""
        if self.failure:
            raise RuntimeError(self.failure)
        total, of = {READ: 0, EDIT: 0, RECOVER: 0}, {}
        for (purpose, _, kind), before, after in zip(self.said, requests, requests[1:]):
            fresh = ways.conversation(after.body)[len(ways.conversation(before.body)):]
            size = sum(ways.size(one) + 1 for one in fresh if not ways.is_own(one))
            total[purpose] += size
            if purpose != READ:
                of[kind] = of.get(kind, 0) + size
        return {"tool": self.editor(), "bytes": total, "of": of, "calls": sum(count for _, count, _ in self.said),
                "edits": len(self.task.edits), "damages": self.damages, "wrong": self.wrong,
                "stopped": self.stopped or (None if not any(file.places for file in self.files.values())
                                            else "the product ended the run")}


def stale(damage):
    return bool(damage) and damage.kind == "an earlier hash"


def members(value, name):
    """Each member of this name anywhere in a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if name in one:
                yield one[name]
            left += list(one.values())
        elif isinstance(one, list):
            left += one


def said(result):
    """What an answer says, without the content that it carries."""
    if isinstance(result, dict) and "message" in result:
        return "%s %s" % (result["message"], "already" if result.get("already_applied") else "")
    return ways.texts(result)


def hunks_that_fit(result, count):
    """Of each of the hunks of a file whether a refusal says that it fits the file as it is."""
    error = result.get("error", {}) if isinstance(result, dict) else {}
    if error.get("code") == "rolled_back" or FITS_NOW.search(said(result)):
        return [True] * count
    if not error or not OTHERS_FIT.search(said(result)):
        return [False] * count
    failed = {one["hunk"] for one in error.get("failed_hunks", [error])}
    return [number not in failed for number in range(1, count + 1)]


def states(value):
    """(path, sha256) of each state of a file that a result names."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if one.get("file_path") and one.get("sha256"):
                yield one["file_path"], one["sha256"]
            left += list(one.values())[::-1]
        elif isinstance(one, list):
            left += one[::-1]


def failed(result):
    if isinstance(result, dict):
        return result.get("success") is False or "error" in result
    return "tool_use_error" in str(result)
