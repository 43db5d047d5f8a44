# SPDX-License-Identifier: Apache-2.0
"""Real changes of single files: (base, diff, result), by the thousand.

    for triple in load():      # sorted, the same on every run for the same packages
        triple.base, triple.result           # bytes
        triple.diffs["U3"], ["U10"]          # as `git diff` prints them, with those names

From three kinds of history: Debian's patch series (each patch against the tree that the ones
before it left), two versions of the same npm package, and the commits of this repository.
Languages: whatever is in them; PACKAGES is chosen for C, C++, Python, JavaScript, TypeScript,
Markdown, HTML, CSS, JSON, YAML, shell, Makefiles, manual pages, and files with CRLF.

Everything fetched is kept in ${XDG_CACHE_HOME:-~/.cache}/hasp-corpus; the second run needs no
network.  Versions may move (a point release of Debian), and any of them may be missing: both
lists are longer than needed, and the next name stands in (script/lib/candidates.py).  So no
expectation is stored: the result is what the history says.
"""

import collections
import contextlib
import fcntl
import functools
import hashlib
import itertools
import os
import pickle
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "corpus"))
import debian_series  # noqa: E402
import candidates  # noqa: E402

SOURCES = ["cron", "openssh", "busybox", "exim4", "dash", "bash", "sudo", "procps",
           "shadow", "screen", "inetutils", "gnupg2", "cups", "postfix", "grub2",
           "rsync", "gnutls28", "unzip", "groff", "mutt", "curl", "libxml2"]
FEWEST_SOURCES = 15
FEWEST_DIFFS = 1100   # of single files, in all their series
PACKAGES = [
    ("lodash", "4.17.15", "4.17.21"), ("node-gyp", "9.4.1", "10.2.0"), ("rxjs", "7.5.0", "7.8.1"),
    ("bootstrap", "5.2.3", "5.3.3"), ("usb", "1.9.2", "2.9.0"), ("nan", "2.17.0", "2.20.0"),
    ("node-addon-api", "5.1.0", "7.1.0"), ("node-pty", "0.10.1", "1.0.0"),
    ("adm-zip", "0.5.9", "0.5.16"), ("pyright", "1.1.300", "1.1.320"),
    ("tree-sitter-python", "0.20.4", "0.21.0"), ("better-sqlite3", "8.7.0", "9.4.0"),
    ("commander", "10.0.1", "12.1.0"), ("npm", "9.6.0", "9.8.1"),
    ("highlight.js", "11.8.0", "11.10.0"), ("uglify-js", "3.16.0", "3.19.0"),
    ("@types/node", "18.19.0", "20.11.0"), ("moment", "2.29.1", "2.30.1"),
    ("markdown-it", "13.0.1", "14.1.0"), ("chart.js", "3.9.1", "4.4.0"),
    ("npm", "8.19.2", "9.5.0"), ("node-gyp", "8.4.1", "9.3.1"), ("bootstrap", "5.1.3", "5.2.2"),
    ("usb", "1.8.3", "1.9.1"), ("rxjs", "7.4.0", "7.8.0"), ("jquery", "3.6.0", "3.7.1"),
    ("leaflet", "1.8.0", "1.9.4"), ("highlight.js", "11.6.0", "11.7.0"),
]
FEWEST_PACKAGES = 20
FEWEST_CHANGES = 2000
# Each with at least FEWEST_FILES changes.
EXTENSIONS = ("c", "h", "js", "ts", "py", "md", "html", "css", "json", "sh")
FEWEST_FILES = 3
MAX_BYTES = 300_000   # larger bases make the comparison with the peers slow, not better
MAX_HUNKS = 60        # nobody writes more in one call
PER_EXTENSION = 60    # most files of one kind from one package
FORMAT = 3            # of the cache: raise it when what is stored changes


class CorpusError(candidates.Missing):
    """What could not be fetched or made, as one sentence."""


class Triple:
    """A change.  Its texts are read from the cache when one of them is asked for: most tests look at few."""

    def __init__(self, name, path, load):
        self.name = name   # where it is from, for a reader
        self.path = path   # of the file in its tree
        self._load = load  # () -> (base, result, diffs)

    @functools.cached_property
    def _texts(self):
        return self._load()

    @property
    def base(self):
        return self._texts[0]

    @property
    def result(self):
        return self._texts[1]

    @property
    def diffs(self):
        """"U3", "U10": the diff between them."""
        return self._texts[2]


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home) / "hasp-corpus"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name):
    """Only one process at a time fills this part of the cache; locks of other names may be
    taken inside."""
    with open(cache_folder() / (name + ".lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(argv, ok=(0,), **kwargs):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
    if done.returncode not in ok:
        raise CorpusError("%s failed: %s" % (" ".join(map(str, argv[:4])),
                                             done.stderr.decode(errors="replace")[-300:]))
    return done.stdout


def _usable(base, result):
    """Text on both sides, changed, and of a size that people edit."""
    return (base != result and b"\0" not in base and b"\0" not in result
            and len(base) <= MAX_BYTES and len(result) <= MAX_BYTES)


def stable_order(names):
    """An order that does not follow the alphabet and never changes."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode("utf-8", "replace")).digest())


# ---- npm -------------------------------------------------------------------------------

def _npm_tarball(name, version):
    folder = cache_folder() / "npm"
    folder.mkdir(exist_ok=True)
    path = folder / ("%s-%s.tgz" % (name.lstrip("@").replace("/", "-"), version))
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            run(["npm", "pack", "--loglevel", "error", "--pack-destination", temporary,
                  "%s@%s" % (name, version)])
            (made,) = Path(temporary).iterdir()
            made.rename(path)
    return path


def _npm_files(name, version):
    with tarfile.open(_npm_tarball(name, version)) as tar:
        return {member.name.split("/", 1)[-1]: tar.extractfile(member).read()
                for member in tar if member.isfile() and member.size <= MAX_BYTES}


def _npm_pair(name, before, after):
    old, new = _npm_files(name, before), _npm_files(name, after)
    taken = {}
    for path in stable_order(set(old) & set(new)):
        extension = os.path.splitext(path)[1]
        if not _usable(old[path], new[path]) or path.endswith((".min.js", ".min.css", ".map")):
            continue
        taken[extension] = taken.get(extension, 0) + 1
        if taken[extension] <= PER_EXTENSION:
            yield "%s-%s/%s" % (name, after, path), path, old[path], new[path]


# ---- Debian ----------------------------------------------------------------------------

@dataclass(frozen=True)
class Step:
    """One file's diff of a series, and the file as the patches before it left it."""
    source: str
    patch: str
    path: str
    base: bytes    # b"" when the file is new
    diff: bytes    # the maintainers' own
    result: bytes  # what GNU patch makes of it, with its default fuzz
    deleted: bool


class Tree:
    """A source tree of which only the changed files are held in memory."""

    def __init__(self, root):
        self.root, self.changed = Path(root), {}

    def read(self, path):
        if path not in self.changed:
            file = self.root / path
            self.changed[path] = file.read_bytes() if file.is_file() else None
        return self.changed[path]


def gnu_patch(base, diff, folder, *options):
    """What GNU patch makes of `base`: bytes, or None when it refuses."""
    old, text, out = (os.path.join(folder, name) for name in ("gnu.base", "gnu.diff", "gnu.out"))
    for name, data in ((old, base), (text, diff)):
        with open(name, "wb") as file:
            file.write(data)
    if os.path.exists(out):
        os.unlink(out)
    done = subprocess.run(["patch", "-s", "-f", "-r", "-", *options, "-o", out, old, text],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    with open(out, "rb") as file:
        return file.read()


def _are_enough(sources):
    """Whether their series have as many diffs of single files as tests need."""
    return len(sources) >= FEWEST_SOURCES and FEWEST_DIFFS <= sum(
        patch.read().count(b"\n+++ ") for source in sources for patch in source.series)


def fetched_sources():
    with locked("debian"):
        return debian_series.fetch(SOURCES, cache_folder() / "debian", enough=_are_enough)


def series_steps(fetched=None):
    """Every file diff of every patch of the series, in order, as a Step."""
    fetched = fetched or fetched_sources()
    with tempfile.TemporaryDirectory() as folder:
        for source in fetched:
            tree = Tree(source.orig)
            for patch in source.series:
                for old, new, diff in debian_series.file_diffs(patch.read(), patch.strip):
                    path = old if old and tree.read(old) is not None else new or old
                    base = tree.read(path) or b""
                    # A maintainer's diff may need fuzz; --binary keeps CRs, as dpkg-source does.
                    result = gnu_patch(base, diff, folder, "--binary")
                    if result is None:
                        continue
                    yield Step("%s-%s" % (source.name, source.version), patch.name, path,
                               base, diff, result, new is None)
                    tree.changed[path] = None if new is None else result


def _versions(fetched):
    """A name for these sources."""
    versions = " ".join("%s-%s" % (source.name, source.version) for source in fetched)
    return hashlib.sha256(versions.encode()).hexdigest()[:12]


def kept_steps(fetched=None):
    """For each of series_steps() a function that gives it: GNU patch made them in an earlier run."""
    fetched = fetched or fetched_sources()
    records = _records("steps", _versions(fetched),
                       lambda: ((None, step) for step in series_steps(fetched)))
    return [load for _, load in records]


def _series_pairs(fetched):
    for load in kept_steps(fetched):
        step = load()
        if not step.deleted and step.base and _usable(step.base, step.result):
            yield ("%s/%s (%s)" % (step.source, step.path, step.patch), step.path,
                   step.base, step.result)


# ---- this repository -------------------------------------------------------------------

# The newest commit that counts: with each new one the cases would be others, and a test's result too.
NEWEST = "94280da9523a911709c8c02ddc2bf6dd4eed0254"


def _git(*arguments, data=None):
    return subprocess.run(["git", "-C", str(HERE.parent.parent), *arguments], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def _has_history():
    """A source tarball has none."""
    try:
        return bool(_git("rev-parse", "--verify", NEWEST + "^{commit}"))
    except (OSError, subprocess.CalledProcessError):
        return False


def _blobs(names):
    """The contents of these objects, in their order."""
    text = _git("cat-file", "--batch", data=b"".join(name + b"\n" for name in names))
    at = 0
    for _ in names:
        end = text.index(b"\n", at)
        size = int(text[at:end].split()[2])
        yield text[end + 1:end + 1 + size]
        at = end + size + 2


def _commit_pairs(limit=300):
    commits = _git("rev-list", "--no-merges", "-n", str(limit), NEWEST)
    changes, commit = [], b""
    for line in _git("diff-tree", "--stdin", "-r", "--diff-filter=M", data=commits).splitlines():
        if not line.startswith(b":"):
            commit = line
            continue
        meta, path = line.split(b"\t", 1)
        changes.append((commit, os.fsdecode(path), *meta.split()[2:4]))
    contents = _blobs([blob for change in changes for blob in change[2:]])
    for commit, path, *_ in changes:
        old, new = next(contents), next(contents)
        if _usable(old, new):
            yield "%s/%s" % (commit[:8].decode(), path), path, old, new


# ---- diffs of all pairs at once --------------------------------------------------------

def _write_trees(pairs, folder):
    for side in ("a", "b"):
        os.mkdir(os.path.join(folder, side))
    for i, (_, path, old, new) in enumerate(pairs):
        # The extension chooses git's built-in notion of a function heading.
        leaf = "%06d%s" % (i, os.path.splitext(path)[1])
        for side, data in (("a", old), ("b", new)):
            with open(os.path.join(folder, side, leaf), "wb") as file:
                file.write(data)


def _git_diffs(folder, context):
    """{index: diff} of the trees a and b in `folder`."""
    attributes = os.path.join(folder, "attributes")
    with open(attributes, "w") as file:
        file.write("*.c diff=cpp\n*.h diff=cpp\n*.py diff=python\n*.md diff=markdown\n")
    text = run(["git", "-c", "core.attributesFile=" + attributes, "-c", "core.autocrlf=false",
                 "diff", "--no-index", "--no-color", "--no-prefix", "--no-ext-diff", "--text",
                 "-U%d" % context, "a", "b"], ok=(0, 1), cwd=folder)
    out = {}
    # A line of a hunk begins with a blank, + or -: these words begin only a new file's part.
    for part in re.split(rb"(?m)^diff --git ", text)[1:]:
        index = int(re.match(rb"a/(\d{6})", part)[1])
        start = part.find(b"\n@@ ")
        if start >= 0:
            out[index] = part[start + 1:]
    return out


def _triples(pairs):
    pairs = list(pairs)
    with tempfile.TemporaryDirectory() as folder:
        _write_trees(pairs, folder)
        by_context = {"U%d" % n: _git_diffs(folder, n) for n in (3, 10)}
    for i, (name, path, old, new) in enumerate(pairs):
        diffs = {key: found[i] for key, found in by_context.items() if i in found}
        if len(diffs) == 2 and diffs["U3"].count(b"\n@@ ") < MAX_HUNKS:
            yield (name, path), (old, new, diffs)


def _records(kind, key, make):
    """[(head, load)] of what make() yields as (head, body), now or in an earlier run; load() gives the body.

    The file has the heads, each with the place of its body, and then the bodies: only those that are looked at are read."""
    path = cache_folder() / ("%s-%d-%s" % (kind, FORMAT, key))
    with locked(kind):
        if not path.exists():
            heads, bodies, at = [], [], 0
            for head, body in make():
                heads.append((head, at))
                bodies.append(pickle.dumps(body))
                at += len(bodies[-1])
            partial = path.with_name(path.name + ".partial")
            partial.write_bytes(b"".join([pickle.dumps(heads), *bodies]))
            partial.rename(path)
    with open(path, "rb") as file:
        heads = pickle.load(file)
        start = file.tell()

    def body_at(at):
        with open(path, "rb") as file:
            file.seek(start + at)
            return pickle.load(file)

    return [(head, functools.partial(body_at, at)) for head, at in heads]


def _cached(key, make):
    """The triples made of make()'s pairs, or of an earlier run's."""
    return [Triple(*head, load) for head, load in _records("triples", key, lambda: _triples(make()))]


def extension(triple):
    """The end of a file's name without its dot; the whole name if it has none."""
    return os.path.basename(triple.path).rsplit(".", 1)[-1]


def _npm_changes(pair):
    name, before, after = pair
    key = "%s-%s-%s" % (name.lstrip("@").replace("/", "-"), before, after)
    return _cached(key, lambda: _npm_pair(name, before, after))


def is_broad(triples):
    """Whether there are changes enough, and of each kind of file."""
    kinds = collections.Counter(map(extension, triples))
    return len(triples) >= FEWEST_CHANGES and all(kinds[end] >= FEWEST_FILES for end in EXTENSIONS)


def load():
    """All triples, from the cache once made."""
    fetched = fetched_sources()
    others = _cached("debian-" + _versions(fetched), lambda: _series_pairs(fetched))
    if _has_history():
        others += _cached("commits-" + NEWEST[:12], _commit_pairs)

    def are_enough(groups):
        return len(groups) >= FEWEST_PACKAGES and is_broad([*itertools.chain(*groups), *others])

    with locked("npm"):
        groups = candidates.take(PACKAGES, _npm_changes, are_enough, cache_folder() / "npm" / "chosen",
                                 lambda pair: "npm's %s, %s to %s" % pair)
    return [*itertools.chain(*(group for _, group in groups)), *others]


if __name__ == "__main__":
    kinds = {}
    for triple in load():
        end = extension(triple)
        kinds[end] = kinds.get(end, 0) + 1
        if b"\r\n" in triple.base:
            kinds["(CRLF)"] = kinds.get("(CRLF)", 0) + 1
        if not triple.base.endswith(b"\n"):
            kinds["(no newline)"] = kinds.get("(no newline)", 0) + 1
    for end, count in sorted(kinds.items(), key=lambda item: -item[1])[:40]:
        print("%6d %s" % (count, end))
    print("%6d in all" % sum(n for e, n in kinds.items() if e[0] != "("))
