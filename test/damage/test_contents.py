# SPDX-License-Identifier: Apache-2.0
"""What people write is not taken for a placeholder, a listing or a diff in place of a file (src/edit/content.c).

    CONTENT_DRIVER=build/test/damage/content_driver test/damage/test_contents.py [FOLDER]...

A folder that is a repository, bare or not, stands for all changes of files in its history; any other for its files,
written as new.  Without folders: this repository's newest changes, as the test takes them.  Prints counts and refusals.
"""

import os
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
LARGEST = 1 << 20
CHANGES = 3000  # of the newest commits, in the test


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([os.environ["CONTENT_DRIVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def refusal(self, path, before, after):
        """Lines added, and the message, empty if the change is fine."""
        name = os.fsencode(path)
        self.process.stdin.write(struct.pack("<3I", len(name), len(before), len(after)) + name + before + after)
        self.process.stdin.flush()
        added, length = struct.unpack("<2I", self.process.stdout.read(8))
        return added, self.process.stdout.read(length).decode()


def is_text(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return len(data) <= LARGEST and b"\0" not in data


def git(folder, *words, data=None):
    return subprocess.run(["git", "-C", str(folder), *words], input=data, capture_output=True, check=True).stdout


def history(folder, most=None):
    """(path, before, after) of each change of a file; the newest first."""
    commits = git(folder, "rev-list", "--no-merges", "--all" if most is None else "HEAD")
    rows = git(folder, "diff-tree", "--stdin", "-r", "--root", "--no-renames", "--diff-filter=AM", data=commits)
    seen = {}
    for line in rows.decode("utf-8", "surrogateescape").splitlines():
        if line.startswith(":"):
            fields, path = line.split("\t", 1)
            _, mode, old, new, _ = fields.split()
            if mode in ("100644", "100755"):
                seen.setdefault((old, new), path)
    names = list(seen)[:most]
    blobs = subprocess.Popen(["git", "-C", str(folder), "cat-file", "--batch"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)

    def blob(name):
        if not name.strip("0"):
            return b""
        blobs.stdin.write(name.encode() + b"\n")
        blobs.stdin.flush()
        head = blobs.stdout.readline().split()
        return blobs.stdout.read(int(head[2]) + 1)[:-1] if len(head) == 3 else b"\0"

    for old, new in names:
        before, after = blob(old), blob(new)
        if is_text(before) and is_text(after):
            yield seen[old, new], before, after
    blobs.communicate()


def files(folder):
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            data = path.read_bytes()
            if is_text(data):
                yield str(path), b"", data


def is_repository(folder):
    return subprocess.run(["git", "-C", str(folder), "rev-parse", "--resolve-git-dir", "."],
                          capture_output=True).returncode == 0 or (Path(folder) / ".git").exists()


def check(changes):
    driver, count, lines, refused = Driver(), 0, 0, []
    for path, before, after in changes:
        added, message = driver.refusal(path, before, after)
        count += 1
        lines += added
        if message:
            refused.append("%s: %s" % (path, message))
    return count, lines, refused


def test_the_newest_changes_of_this_repository_are_fine():
    count, lines, refused = check(history(TOP, CHANGES) if is_repository(TOP) else files(TOP / "src"))
    assert refused == []
    assert count > 100 and lines > 10000


def test_files_of_the_system_are_fine_as_new_ones():
    """Python's own library: prose, samples, doctests, and functions whose body is "..."."""
    count, _, refused = check(files(os.path.dirname(os.__file__)))
    assert refused == []
    assert count > 100


def main(folders):
    for folder in folders or [TOP]:
        changes = history(folder, None if folders else CHANGES) if is_repository(folder) else files(folder)
        count, lines, refused = check(changes)
        print("%s: %d changes, %d lines added, %d refused" % (folder, count, lines, len(refused)))
        for one in refused:
            print("    " + one)


if __name__ == "__main__":
    main(sys.argv[1:])
