# SPDX-License-Identifier: Apache-2.0
"""Real patch series: Debian source packages, taken apart into single-file diffs.

    from debian_series import fetch, file_diffs, reference

    for source in fetch(["cron", "unzip", "zip"], cache_dir, enough=2):   # a list of Source
        source.orig        # the upstream tree plus debian/, no patch applied: do not write to it
        source.series      # [Patch(name, path, strip)], in the order they are applied
        for patch in source.series:
            for old, new, diff in file_diffs(patch.read()):
                ...        # names without their first component, None for /dev/null
        reference(source, folder)   # makes folder: the tree with the series applied by GNU patch

file_diffs(patch_bytes) -> [(old_path, new_path, diff_bytes)], in the order of the patch.
A file may come several times.  diff_bytes runs from its "--- " line to the end of its
last hunk.  split() gives the same with what a git prelude says (modes, renames, binary).
target_name(root, old, new) is the file that GNU patch would choose.

fetch() takes names that are missing from the mirror out, and the next ones in (candidates.py).
It uses apt with a sources list of its own, made from the system's by turning deb into deb-src;
the system's lists, settings and caches are neither written nor cleaned.  Of the suites only the
releases themselves are in that list: what updates and security fixes replace leaves their archives
while indexes still name it.  What has been fetched once is used without asking the network again.
Needs apt-get, tar and patch.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Optional

sys.path.append(str(Path(__file__).resolve().parents[2] / "script" / "lib"))
import candidates  # noqa: E402


class SeriesError(candidates.Missing):
    """What went wrong, as one sentence for a reader."""


class Patch(NamedTuple):
    name: str
    path: Path
    strip: int

    def read(self):
        return self.path.read_bytes()


class Source(NamedTuple):
    name: str
    version: str
    orig: Path
    series: list


class FileDiff(NamedTuple):
    old: Optional[str]   # None: /dev/null, or the epoch as its time
    new: Optional[str]
    diff: bytes          # b"" when there are no hunks (mode change, rename, binary)
    hunks: int
    added: int
    removed: int
    notes: tuple         # git prelude lines: "new file mode 100755", "rename from x", ...


# ---- apt, without touching the system's ------------------------------------------------

# A hook of the system's would clean the system's caches after an update.
_APT_CONF = """#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{home}/sources.d";
Dir::State::lists "{home}/lists";
Dir::Cache "{home}/cache";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
"""


def _stanzas(text):
    """The stanzas of a deb822 file, without comments; each is its list of lines."""
    stanza = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line.strip():
            stanza.append(line)
        elif stanza:
            yield stanza
            stanza = []
    if stanza:
        yield stanza


# Suites whose packages are replaced at any time, and older ones removed.
_SHORT_LIVED = re.compile(r"-(?:security|updates|proposed-updates|backports\S*)$|/updates$")


def _lasting(suites):
    """The suites that keep their packages."""
    return [suite for suite in suites if not _SHORT_LIVED.search(suite)]


def _deb822_sources(text):
    """The enabled binary stanzas of `text`, as source stanzas with the suites that last."""
    out = []
    for lines in _stanzas(text):
        fields = {}
        for line in lines:
            if not line[0].isspace() and ":" in line:
                name, value = line.split(":", 1)
                fields[name.lower()] = [name, value.strip()]
            elif fields:  # a continuation
                fields[list(fields)[-1]][1] += "\n" + line
        if "deb" not in fields.get("types", ("", ""))[1].split() or \
                fields.get("enabled", ("", "yes"))[1].lower() in ("no", "false", "0"):
            continue
        suites = _lasting(fields.get("suites", ("", ""))[1].split())
        if suites:
            fields.update(types=["Types", "deb-src"], suites=["Suites", " ".join(suites)])
            out.append("\n".join("%s: %s" % (name, value) for name, value in fields.values()))
    return out


def _oneline_sources(text):
    """The same for lines of the older format."""
    out = []
    for line in text.splitlines():
        entry = re.match(r"deb\s+(\[[^]]*\]\s+)?(\S+)\s+(\S+)", line.split("#", 1)[0].strip())
        if entry and _lasting([entry.group(3)]):
            out.append(re.sub(r"^deb\s+", "deb-src ", entry.string))
    return out


def _prefer_debian(entries):
    """Third parties seldom have sources: leave them out if Debian itself is there."""
    debian = [entry for entry in entries if re.search(r"://\S*debian", entry)]
    return debian or entries


def write_apt_sources(home, etc=Path("/etc/apt")):
    """Writes home/sources.d from the system's lists; the number of entries."""
    parts = etc / "sources.list.d"
    read = lambda path: path.read_text(errors="replace")
    one, deb = [], []
    for path in [etc / "sources.list", *sorted(parts.glob("*.list"))]:
        if path.is_file():
            one += _oneline_sources(read(path))
    for path in sorted(parts.glob("*.sources")):
        deb += _deb822_sources(read(path))
    keep = set(_prefer_debian(one + deb))
    one, deb = [e for e in one if e in keep], [e for e in deb if e in keep]
    folder = home / "sources.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "series.list").write_text("".join(e + "\n" for e in one))
    (folder / "series.sources").write_text("".join(e + "\n\n" for e in deb))
    return len(one) + len(deb)


def _run(argv, **kwargs):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    if result.returncode != 0:
        lines = result.stdout.decode(errors="replace").strip().splitlines()
        tail = [line for line in lines if line.startswith("E: ")][:2] or lines[-6:]
        raise SeriesError("%s failed: %s" % (" ".join(argv[:4]), " / ".join(tail)))
    return result.stdout


def _apt(home, *args, cwd=None):
    argv = ["apt-get", "-q", "-y", "-c", str(home / "apt.conf")]
    if os.geteuid() == 0:  # the _apt user may not write to a cache beneath a home folder
        argv += ["-o", "APT::Sandbox::User=root"]
    return _run(argv + list(args), cwd=cwd, env=dict(os.environ, LC_ALL="C.UTF-8"))


def _prepare_apt(home):
    for folder in ("lists/partial", "cache/archives/partial"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "apt.conf").write_text(_APT_CONF.format(home=home))
    if not write_apt_sources(home):
        raise SeriesError("apt has no sources on this machine: /etc/apt names none")
    _apt(home, "update")


# ---- fetching --------------------------------------------------------------------------

def _read_series(orig):
    folder = orig / "debian" / "patches"
    path = folder / "series"
    patches = []
    for line in path.read_text(errors="replace").splitlines() if path.is_file() else []:
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        strip = [int(w[2:]) for w in words[1:] if re.fullmatch(r"-p[0-9]", w)]
        patches.append(Patch(words[0], folder / words[0], strip[0] if strip else 1))
    return patches


def _tar(archive, folder, strip):
    folder.mkdir(parents=True, exist_ok=True)
    _run(["tar", "--no-same-owner", "--no-same-permissions", "-xf", str(archive),
          "-C", str(folder), "--strip-components=%d" % strip])


def _unpack(name, folder):
    """As dpkg-source does, but without the .dsc: apt has verified the archives."""
    packaging = sorted(folder.glob(name + "_*.debian.tar.*"))
    if len(packaging) != 1:
        raise SeriesError("%s is not in the format 3.0 (quilt)" % name)
    version = packaging[0].name[len(name) + 1:].split(".debian.tar.")[0]
    orig = folder / "orig"
    if not orig.is_dir():
        partial = folder / "orig.partial"
        shutil.rmtree(partial, ignore_errors=True)
        for archive in sorted(folder.glob(name + "_*.orig*.tar.*")):
            component = re.search(r"\.orig(?:-([A-Za-z0-9-]+))?\.tar\.(?:gz|xz|bz2|lzma)$",
                                  archive.name)
            if component:  # and not a signature
                _tar(archive, partial / (component.group(1) or ""), 1)
        shutil.rmtree(partial / "debian", ignore_errors=True)
        _tar(packaging[0], partial, 0)
        partial.rename(orig)  # a run that was stopped half-way leaves no half tree
    return Source(name, version, orig, _read_series(orig))


def _download(home, name, folder):
    partial = home / "source" / (name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    command = ["source", "--only-source", "--download-only"]
    try:
        _apt(home, *command, name, cwd=partial)
    except SeriesError:
        # Some mirrors lack .dsc files; the archives are verified by the index anyway.
        _apt(home, *command, "--tar-only", name, cwd=partial)
        _apt(home, *command, "--diff-only", name, cwd=partial)
    partial.rename(folder)


def fetch(packages, cache_dir, progress=lambda name: None, enough=None):
    """Sources of the first of `packages` (source package names, best first) that can be had.

    `enough` is how many, or a function that says whether a list of Sources suffices; None: all of
    them are needed.  Fetched unless the cache has them.  `progress(name)` is called before each.
    SeriesError says what failed."""
    home = Path(cache_dir).absolute()

    @functools.cache
    def prepare():
        """Once for all: without a mirror each of them would wait for it."""
        try:
            _prepare_apt(home)
        except SeriesError as error:
            return error

    def get(name):
        progress(name)
        folder = home / "source" / name
        if not folder.is_dir():
            if error := prepare():
                raise error
            _download(home, name, folder)
        return _unpack(name, folder)

    if enough is None:
        return [get(name) for name in packages]
    home.mkdir(parents=True, exist_ok=True)
    return [source for _, source in candidates.take(packages, get, enough, home / "chosen")]


# The options of dpkg-source (Dpkg::Source::Patch), so: no fuzz, no questions.
GNU_PATCH = ["patch", "-s", "-t", "-F", "0", "-N", "-u", "-V", "never", "-E",
             "--no-backup-if-mismatch", "--reject-file=-"]


def reference(source, folder):
    """Makes `folder`: the tree with the series applied by GNU patch, as dpkg-source runs it."""
    subprocess.run(["cp", "-a", "--reflink=auto", str(source.orig), str(folder)], check=True)
    for patch in source.series:
        with open(patch.path, "rb") as text:
            done = subprocess.run([*GNU_PATCH, "-p%d" % patch.strip], stdin=text, cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SeriesError("GNU patch refuses %s of %s: %s" % (
                patch.name, source.name, done.stdout.decode(errors="replace").strip()))


# ---- taking a patch apart --------------------------------------------------------------

_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PRELUDE = re.compile(rb"^(?:old mode|new mode|new file mode|deleted file mode|rename from"
                      rb"|rename to|copy from|copy to|Binary files|GIT binary patch)")
_EPOCH = re.compile(rb"\t(?:1970-01-01|1969-12-31|Thu Jan +1 \d\d:\d\d:\d\d 1970)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\"}


def _unquote(name):
    if not name.startswith(b'"'):
        return name.split(b"\t", 1)[0].rstrip(b"\r\n ")
    quoted = re.match(rb'"((?:[^"\\]|\\.)*)"', name)
    text = quoted.group(1) if quoted else name
    return re.sub(rb"\\([0-7]{3}|.)",
                  lambda m: bytes([int(m.group(1), 8) & 255]) if len(m.group(1)) == 3
                  else _ESCAPES.get(m.group(1), m.group(1)), text)


def _header_name(line, strip):
    """The path in a "--- " or "+++ " line; None for /dev/null or an epoch time."""
    text = line[4:]
    name = _unquote(text)
    if name == b"/dev/null":
        return None
    parts = [part for part in name.split(b"/")]
    return b"/".join(parts[strip:] if len(parts) > strip else parts[-1:]).decode(
        "utf-8", "surrogateescape")


def _hunk_end(lines, i):
    """The index past the hunk whose @@ line is lines[i], with its counts of + and -."""
    match = _HUNK.match(lines[i])
    old = int(match.group(2)) if match.group(2) is not None else 1
    new = int(match.group(4)) if match.group(4) is not None else 1
    added = removed = 0
    i += 1
    while i < len(lines) and (old > 0 or new > 0):
        kind = lines[i][:1]
        if kind == b"+":
            new, added = new - 1, added + 1
        elif kind == b"-":
            old, removed = old - 1, removed + 1
        elif kind in (b" ", b"\n", b"\r", b"\t"):
            old, new = old - 1, new - 1
        elif kind != b"\\":
            break
        i += 1
    if i < len(lines) and lines[i].startswith(b"\\"):
        i += 1
    return i, added, removed


def _one_file(lines, i, strip, notes):
    """The diff whose "--- " line is lines[i]; None if no hunk follows it."""
    start = i
    old = None if _EPOCH.search(lines[i]) else _header_name(lines[i], strip)
    new = None if _EPOCH.search(lines[i + 1]) else _header_name(lines[i + 1], strip)
    i += 2
    hunks = added = removed = 0
    while i < len(lines) and _HUNK.match(lines[i]):
        i, plus, minus = _hunk_end(lines, i)
        hunks, added, removed = hunks + 1, added + plus, removed + minus
    diff = b"".join(lines[start:i])
    return i, FileDiff(old, new, diff if hunks else b"", hunks, added, removed, tuple(notes))


def split(patch_bytes, strip=1):
    """The FileDiffs of a patch.  Text around them (descriptions, signatures) is left out."""
    lines = patch_bytes.splitlines(keepends=True) if b"\r" not in patch_bytes else \
        [line + b"\n" for line in patch_bytes.split(b"\n")[:-1]] + \
        ([patch_bytes.split(b"\n")[-1]] if not patch_bytes.endswith(b"\n") else [])
    out, notes, names, i = [], [], None, 0

    def flush():
        if notes and names:  # a prelude without hunks: a mode, a rename, or binary
            out.append(FileDiff(*names, b"", 0, 0, 0, tuple(notes)))

    while i < len(lines):
        line = lines[i]
        git = re.match(rb"diff --git (\"[^\"]*\"|\S+) (\"[^\"]*\"|\S+)", line)
        if git:
            flush()
            names = tuple(_header_name(b"--- " + g, strip) for g in git.groups())
            notes = []
        elif names and _PRELUDE.match(line):
            notes.append(line.decode("utf-8", "replace").strip())
        elif line.startswith(b"--- ") and i + 2 < len(lines) and \
                lines[i + 1].startswith(b"+++ ") and _HUNK.match(lines[i + 2]):
            i, found = _one_file(lines, i, strip, notes)
            out.append(found)
            notes, names = [], None
            continue
        i += 1
    flush()
    return out


def file_diffs(patch_bytes, strip=1):
    """[(old_path, new_path, diff_bytes)] of what has hunks."""
    return [(d.old, d.new, d.diff) for d in split(patch_bytes, strip) if d.hunks]


def target_name(root, old, new):
    """The file beneath `root` that GNU patch changes: of the names that exist the one with
    the fewest components, then the shortest; the new name if none exists."""
    names = [name for name in (old, new) if name]
    there = [name for name in names if (Path(root) / name).is_file()]
    if there:
        return min(there, key=lambda n: (n.count("/"), len(os.path.basename(n)), len(n)))
    return new or old
