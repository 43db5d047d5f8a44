# SPDX-License-Identifier: Apache-2.0
"""Applies a package's patch series through the tools, and compares the trees.

Every step is locked by the hash of the one before: the first time a file is met read_file
gives its hash, after that the hash is the one that the last edit answered.  Nothing is read
back from the disk in between, so an edit that landed on anything else would be refused.

    safe_patch      each file's part of each patch, also for files that it creates
    apply_changes   moves (git renames), and deletion of what a patch leaves empty or removes

File modes are not the business of these tools: they are set here, and counted.
"""

import hashlib
import os
import re
import stat
from pathlib import Path

EMPTY = hashlib.sha256(b"").hexdigest()


class Count:
    """What was done for one package, in numbers."""

    FIELDS = ("patches", "files", "hunks", "lines", "created", "deleted", "moved", "modes",
              "calls", "compared", "bytes", "refused", "mismatches")

    def __init__(self):
        for field in self.FIELDS:
            setattr(self, field, 0)
        self.seconds = 0.0
        self.troubles = []  # finished sentences

    def add(self, other):
        for field in self.FIELDS:
            setattr(self, field, getattr(self, field) + getattr(other, field))
        self.seconds += other.seconds
        self.troubles += other.troubles


class SeriesRun:
    def __init__(self, hasp, tree, count, choose):
        """`choose(root, old, new)` names the file a diff is for."""
        self.hasp = hasp
        self.tree = Path(tree)
        self.count = count
        self.choose = choose
        self.states = {}  # name -> (sha256 or None when it does not exist, encoding)

    def state(self, name):
        if name not in self.states:
            if os.path.lexists(self.tree / name):
                read = self.hasp.call("read_file", file_path=name, max_lines=1)
                self.states[name] = (read["sha256"], read.get("encoding", "UTF-8"))
            else:
                self.states[name] = (None, "UTF-8")
        return self.states[name]

    def refuse(self, patch, name, result):
        self.count.refused += 1
        error = result.get("error") or {}
        self.count.troubles.append("%s, %s: %s %s" % (
            patch.name, name, error.get("code", "?"), result.get("message", "")))

    def move(self, patch, old, new):
        sha, encoding = self.state(old)
        result = self.hasp.call("apply_changes", return_content="none", changes=[
            {"kind": "move", "file_path": old, "new_path": new, "base_content_sha256": sha}])
        if not result["success"]:
            return self.refuse(patch, old, result)
        self.count.moved += 1
        self.states[new], self.states[old] = (sha, encoding), (None, "UTF-8")

    def delete(self, patch, name):
        result = self.hasp.call("apply_changes", return_content="none", changes=[
            {"kind": "delete", "file_path": name, "base_content_sha256": self.state(name)[0]}])
        if not result["success"]:
            return self.refuse(patch, name, result)
        self.count.deleted += 1
        self.states[name] = (None, "UTF-8")

    def edit(self, patch, name, part):
        sha, encoding = self.state(name)
        try:
            diff = part.diff.decode("utf-8")
        except UnicodeDecodeError:
            diff = part.diff.decode(encoding)
        arguments = {"file_path": name, "unified_diff": diff, "return_content": "none"}
        if sha is not None:
            arguments["base_content_sha256"] = sha
        result = self.hasp.call("safe_patch", **arguments)
        if not result["success"]:
            return self.refuse(patch, name, result)
        self.count.files += 1
        self.count.hunks += part.hunks
        self.count.lines += part.added + part.removed
        self.count.created += sha is None
        self.states[name] = (result["latest_file_state"]["sha256"], encoding)
        if self.states[name][0] == EMPTY:  # as patch -E does
            self.delete(patch, name)

    def set_mode(self, name, notes):
        for note in notes:
            match = re.match(r"new (?:file )?mode 100(755|644)", note)
            path = self.tree / name
            if match and path.is_file():
                want = int(match.group(1), 8)
                if stat.S_IMODE(path.stat().st_mode) != want:
                    os.chmod(path, want)
                    self.count.modes += 1

    def part(self, patch, part):
        """One file's part of a patch."""
        name = self.choose(self.tree, part.old, part.new)
        if any(note.startswith("rename to ") for note in part.notes):
            # As GNU patch: the names are those of the file headers, not of the notes.
            name = part.new
            self.move(patch, part.old, part.new)
        if part.new is None:  # its hunks remove all lines of the state that the hash names
            self.delete(patch, name)
            self.count.files += 1
            self.count.hunks += part.hunks
            self.count.lines += part.removed
        elif part.hunks:
            self.edit(patch, name, part)
        self.set_mode(name, part.notes)


def _inventory(root):
    """{relative name: kind} of everything in a tree, without .pc."""
    found = {}
    for folder, folders, files in os.walk(root):
        if folder == str(root) and ".pc" in folders:
            folders.remove(".pc")
        for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = path
    return found


def _differs(one, two, count):
    """Why two entries differ; None if they are the same."""
    a, b = os.lstat(one), os.lstat(two)
    if stat.S_IFMT(a.st_mode) != stat.S_IFMT(b.st_mode):
        return "another type of file"
    if stat.S_ISLNK(a.st_mode):
        return None if os.readlink(one) == os.readlink(two) else "another link target"
    if stat.S_IMODE(a.st_mode) != stat.S_IMODE(b.st_mode):
        return "mode %o, not %o" % (stat.S_IMODE(a.st_mode), stat.S_IMODE(b.st_mode))
    count.bytes += b.st_size
    with open(one, "rb") as left, open(two, "rb") as right:
        while True:
            x, y = left.read(1 << 20), right.read(1 << 20)
            if x != y:
                return "other bytes"
            if not x:
                return None


def compare(tree, reference, count):
    """Compares two trees byte by byte; what differs goes to count.mismatches and troubles."""
    ours, theirs = _inventory(tree), _inventory(reference)
    for name in sorted(set(ours) | set(theirs)):
        count.compared += 1
        why = "only in one tree" if name not in ours or name not in theirs else \
            _differs(ours[name], theirs[name], count)
        if why:
            count.mismatches += 1
            count.troubles.append("%s: %s" % (name, why))
