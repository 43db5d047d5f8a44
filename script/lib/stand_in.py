# SPDX-License-Identifier: Apache-2.0
"""A copy of a clone that lies where its tests cannot run, in a place where they can.

    why = stand_in.reason(top)           # "" where tests can run in the clone itself
    copy = stand_in.make(top)            # brought up to date; the copy's builds stay, for the next time

Sandboxes have a /tmp and a /dev/shm of their own, so programs in a clone there cannot be started in them; and what starts
programs by a line of a shell, or by the first line of a script, takes a blank in a path for its end.

Copies are in ${XDG_CACHE_HOME:-~/.cache}/hasp-test, or in /var/tmp where that cannot be used either.  One whose clone does
not exist any more is removed.
"""

import os
import re
import subprocess
import zlib
from pathlib import Path

HIDDEN = ("/tmp", "/dev/shm")
PLAIN = re.compile(r"[A-Za-z0-9/._+@=,-]+")
LONGEST = 200  # bytes: with its ends, a path must fit into 255


class CopyError(Exception):
    """Why there is no copy, as one sentence."""


def reason(top):
    """Why tests fail in this folder; "" if they do not."""
    for folder in HIDDEN:
        if top.is_relative_to(folder):
            return "is beneath %s, which programs in sandboxes do not see" % folder
    if not PLAIN.fullmatch(os.fsencode(str(top)).decode("latin-1")):
        return "has a path with blanks or other letters than A to Z"
    if len(os.fsencode(str(top))) > LONGEST:
        return "has a path of more than %d bytes" % LONGEST
    return ""


def _places():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "hasp-test", Path("/var/tmp/hasp-test-%d" % os.getuid())


def _own_folder(path):
    """Whether it is there, and nobody else's."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path.stat().st_uid == os.getuid() and not path.is_symlink()
    except OSError:
        return False


def _remove_orphans(place):
    for note in place.glob("*.clone"):
        if not Path(os.fsdecode(note.read_bytes())).is_dir():
            subprocess.run(["rm", "-rf", note.with_suffix("")], check=False)
            note.unlink(missing_ok=True)


def make(top):
    """The folder of the copy: all files of the clone but its builds, with their times."""
    place = next((path for path in _places() if not reason(path.absolute()) and _own_folder(path)), None)
    if not place:
        raise CopyError("neither %s nor %s can be used" % _places())
    _remove_orphans(place)
    copy = place / ("clone-%08x" % zlib.crc32(os.fsencode(str(top))))
    copy.with_suffix(".clone").write_bytes(os.fsencode(str(top)))
    done = subprocess.run(["rsync", "-a", "--delete", "--exclude=/build*/", "%s/" % top, "%s/" % copy],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise CopyError("%s cannot be copied to %s: %s" % (top, copy, done.stdout.strip()[-300:]))
    return copy
