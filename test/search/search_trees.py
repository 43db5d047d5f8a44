# SPDX-License-Identifier: Apache-2.0
"""Trees to search in: made at random from a seed, and real ones."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

WORDS = ["alpha", "Alpha", "ALPHA", "beta", "foo", "foobar", "Foo_Bar", "x", "xy", "0x1F", "123", "int",
         "return", "TODO", "FIXME:", "a.b", "(c)", "[d]", "f()", "a->b", "--", "::", "\u00dcber", "stra\u00dfe",
         "STRASSE", "\u017f", "K", "\u212a", "k", "\u0130", "i", "\u03c3\u03c2", "\u4e2d\u6587", "\U0001f600",
         "\u00e9", "\t", "  ", "a\tb", "$var", "%d", "\\n", "\\", "\"q\"", "'s'", "# c", "// d"]
NAMES = ["a.c", "b.h", "c.py", "d.rs", "README.md", "Makefile", "x.txt", "y.log", "data", ".hidden", ".conf.yml",
         "sp ace", "\u00fcml", "UPPER.C", "z.tar.gz", "a-b_c.d", "#x#", "~", "-dash", "[b]", "{c,d}", "q?", "st*r",
         "new\nline", "esc\x1b[31m", "quote\"s", "back\\slash", "\udcff\udcfe.bin"]
FOLDERS = ["src", "src/deep", "src/deep/deeper", "lib", ".dot", "sp dir", "\u00fcber", "src/.git-not", "a", "a/b", "a/b/c",
           "a.b", "a-b", "node_modules", "node_modules/x", "nl\ndir", "\udc80bad"]


def _line(dice):
    return dice.choice(["", " ", "", ""]) + dice.choice([" ", "", "_", ", "]).join(
        dice.choice(WORDS) for _ in range(dice.choice([0, 1, 1, 2, 3, 5, 9])))


def _content(dice, longest):
    end = dice.choice(["\n", "\n", "\n", "\r\n"])
    lines = [_line(dice) for _ in range(dice.choice([0, 1, 2, 5, 20, 60]))]
    if dice.random() < 0.05:
        lines.append((("long " + dice.choice(WORDS) + " ") * 3000)[:longest])
    text = end.join(lines) + (end if dice.random() < 0.8 else "")
    kind = dice.random()
    if kind < 0.03:
        return text.encode("utf-16")
    if kind < 0.06:
        return b"\xfe\xff" + text.encode("utf-16-be")
    if kind < 0.10:
        return b"\xef\xbb\xbf" + text.encode()
    if kind < 0.13:
        return text.encode() + b"\0" + text.encode()
    if kind < 0.15:
        return b"\x80\x81 alpha\n" + text.encode()
    return text.encode()


def random_tree(folder, seed, files=120, newlines=True, longest=100000):
    """A tree of odd names and contents; the same for the same seed.  `newlines`: in names too;
    `longest`: characters of a line."""
    dice = random.Random(seed)
    usable = [name for name in NAMES if newlines or "\n" not in name]
    for name in FOLDERS:
        if dice.random() < 0.8 and (newlines or "\n" not in name):
            os.makedirs(os.path.join(str(folder), name), exist_ok=True)
    places = [str(folder)] + [os.path.join(base, name) for base, names, _ in os.walk(str(folder)) for name in names]
    for _ in range(files):
        path = os.path.join(dice.choice(sorted(places)), dice.choice(["", "", "n%d." % dice.randrange(9)]) + dice.choice(usable))
        with open(path, "wb") as file:
            file.write(_content(dice, longest))
    return folder


IGNORE_LINES = ["*.c", "*.h", "!b.h", "/a.c", "src/", "src", "/src/deep", "deep/", "**/deeper", "deep/**", "a/**/c",
                "!*.py", "*.log", "!/y.log", "a/b", "a/*", "!a/b", "!a/b/", "*", "!*/", "!*.md", "[a-c]*", "[!a]*.h",
                "node_modules/", "\\#x#", "\\!x", "# comment", "", "sp ace", "sp\\ ace ", "*~", "*.tar.*", ".*",
                "!.conf.yml", "\u00fcber/", "UPPER.*", "upper.c", "st\\*r", "q\\?", "q?", "/*", "!/lib", "lib/*.rs",
                "foo/../bar", "a//b", "/", "//", "**", "**/", "/**", "*/b", "a/*/c", "?", "??", "x.t[x]t", "z.tar.g[!a]",
                "README*", "trailing\t", "\\", "a\\", "[", "[a", "x.txt/", "!x.txt", "data\r"]


def sprinkle_ignores(folder, seed, name=".gitignore"):
    """Ignore files in some folders of the tree."""
    dice = random.Random(seed)
    for base, folders, _ in os.walk(str(folder)):
        folders.sort()
        if dice.random() < (0.9 if base == str(folder) else 0.3):
            lines = [dice.choice(IGNORE_LINES) for _ in range(dice.randrange(1, 7))]
            text = dice.choice(["", "", "\ufeff"]) + dice.choice(["\n", "\n", "\r\n"]).join(lines)
            with open(os.path.join(base, name), "wb") as file:
                file.write(text.encode() + dice.choice([b"\n", b""]))


def own_checkout(folder):
    """The project's own files, as they are, without what is built and what fuzzers made."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True).stdout
    for name in names.split(b"\0"):
        source = os.path.join(os.fsencode(str(TOP)), name)
        target = os.path.join(os.fsencode(str(folder)), name)
        if name and not name.startswith(b"fuzz/corpus/") and os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
    return folder


def debian_sources():
    """Trees of real packages; shared with the damage tests, which fetch more of them."""
    sys.path.insert(0, str(TOP / "test" / "damage"))
    import corpus
    import debian_series
    with corpus.locked("debian"):
        sources = debian_series.fetch(["busybox", "openssh", "exim4", "gnupg2", "grub2"],
                                      corpus.cache_folder() / "debian", enough=2)
    return [source.orig for source in sources]


def npm_tree():
    """A node_modules as npm makes it."""
    sys.path.insert(0, str(TOP / "script" / "lib"))
    import npm_peers
    return Path(npm_peers.folder("sdk"))


def part(tree, folder, share):
    """A copy of one of so many of the tree's files, each at its place; the tree itself for 1."""
    if share == 1:
        return tree
    top, paths = os.fsencode(str(tree)), []
    for base, _, names in os.walk(top):
        paths += [os.path.relpath(os.path.join(base, name), top) for name in names]
    for path in sorted(paths)[::share]:
        source, target = os.path.join(top, path), os.path.join(os.fsencode(str(folder)), path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target, follow_symlinks=False)
    return folder


def kinds(folder):
    """{path as shown: "text" | "other" (not UTF-8) | "binary" (a NUL)} of all regular files."""
    found = {}
    top = os.fsencode(str(folder))
    for base, _, names in os.walk(top):
        for name in names:
            path = os.path.join(base, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            shown = os.path.relpath(path, top).decode("utf-8", "backslashreplace")
            found[shown] = _kind(data)
    return found


def _kind(data):
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"),
                           (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            try:
                return "text" if "\0" not in data.decode(encoding) and encoding == "utf-16" else "other"
            except UnicodeDecodeError:
                return "other"
    if b"\0" in data:
        return "binary"
    try:
        data.decode()
        return "text"
    except UnicodeDecodeError:
        return "other"
