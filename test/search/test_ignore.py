# SPDX-License-Identifier: Apache-2.0
"""Ignore rules against git check-ignore, on a real tree."""
import os
import random
import re
import subprocess

import pytest
from part import TURN, part_of

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["IGNORE_PROBE"]
ENV = dict(os.environ, LC_ALL="C", GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")

NAMES = ["a", "b", "ab", "a.c", "b.o", "foo", "foobar", "Foo", "[x]", "a b", "sp ", "#x", "!n", "back\\s",
         "*star", "q?", "{a,b}", "-", "]", "\u00e9", "tab\tx", ".hid"]
FOLDERS = ["", "a", "a/b", "a/b/a", "foo", "foo/bar", "foo/a b", "Foo", "bar/foo", "x/y/z", "a.d", "[x] d"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", str(root)], env=ENV, check=True)
    paths = set()
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        while folder:
            paths.add(folder + "/")
            folder = os.path.dirname(folder)
    for folder in FOLDERS:
        for name in NAMES:
            path = os.path.join(folder, name)
            if not (root / path).exists():
                (root / path).write_bytes(b"")
            paths.add(path + "/" if (root / path).is_dir() else path)
    return root, sorted(paths)


def ignored_by_git(root, paths):
    data = b"".join(path.rstrip("/").encode() + b"\0" for path in paths)
    done = subprocess.run(["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=root, env=ENV,
                          input=data, capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    return {path.decode() for path in done.stdout.split(b"\0") if path}


def ignored_by_us(root, paths):
    data = b"".join(path.encode() + b"\0" for path in paths)
    done = subprocess.run([PROBE, str(root / ".gitignore")], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return {path.decode().rstrip("/") for path in done.stdout.split(b"\0") if path}


def assert_same(tree, text):
    root, paths = tree
    (root / ".gitignore").write_bytes(text)
    theirs, ours = ignored_by_git(root, paths), ignored_by_us(root, paths)
    assert ours == theirs, (text, sorted(ours - theirs), sorted(theirs - ours))
    return len(theirs)


TRICKY = [
    b"", b"\n\n", b"a", b"a\n", b"/a\n", b"a/\n", b"/a/\n", b"a/b\n", b"/a/b/\n", b"foo/*\n!foo/bar\n",
    b"foo\n!foo/bar\n", b"foo/\n!foo/a.c\n", b"*\n!*/\n!*.c\n", b"*.c\n!a.c\n", b"!a.c\n*.c\n",
    b"sp \n", b"sp\\ \n", b"sp\\  \n", b"a b\n", b"a.c   \n", b"a.c\t\n", b"a \\\n", b"#x\n", b"\\#x\n", b"!n\n",
    b"*\n!!n\n", b"\\!n\n", b"back\\\\s\n", b"back\\s\n", b"back\\\n", b"\\*star\n", b"q\\?\n", b"[x]\n", b"\\[x\\]\n",
    b"[[]x[]]\n", b"[\n", b"[a\n", b"[]]\n", b"[!a]\n", b"[^a]\n", b"[a-b]\n", b"[b-a]\n", b"[]-a]\n", b"[a-]\n",
    b"[[:alpha:]]\n", b"[[:bad:]]\n", b"[[:alpha:\n", b"[[:]]\n", b"[[::]]\n", b"[a/b]\n", b"a[/]b\n", b"a[!x]b\n",
    b"**\n", b"**/\n", b"/**\n", b"/**/\n", b"**/a\n", b"**/a/\n", b"a/**\n", b"a/**/\n", b"a/**/a\n", b"**/b/**\n",
    b"***/a\n", b"a/***\n", b"*/a\n", b"*/\n", b"/*\n", b"/*/\n", b"a**\n", b"**r\n", b"x/**/z\n", b"x/**/**/z\n",
    b"a//b\n", b"//a\n", b"/\n", b"//\n", b"!\n", b"!/\n", b"a\r\n", b"a/\r\n", b"a \r\n", b"a\r", b"\r\n", b"a\r\r\n",
    b"\xef\xbb\xbfa.c\n", b"\xef\xbb\xbf#x\n", b"\n\xef\xbb\xbfa.c\n", b"a\0b\n", b"\0\nb\n", b"\xc3\xa9\n", b"?\n", b"??\n",
    b"[\xc3]?\n", b"{a,b}\n", b"a\\/b\n", b"foo\\/\n", b"\\a\n", b".*\n", b"*.*\n", b"a.*\n", b"*o*b*\n", b"/foo/bar/../a\n",
    b"./a\n", b"foo/bar/*\n!foo/bar/a.c\n", b"/*\n!/foo\n/foo/*\n!/foo/bar\n", b"*/*/\n", b"*/b/a/*.c\n",
]


@pytest.mark.parametrize("text", TRICKY)
def test_a_tricky_file_is_read_as_git_reads_it(tree, text):
    assert_same(tree, text)


ATOMS = ["a", "b", "foo", "bar", "*", "*", "?", "**", "[ab]", "[!a]", "[^f]o", "[a-f]", "\\a", "\\*", ".c", ".o", "o", " ", "\\ ",
         "[[:lower:]]", "x", "F", "\u00e9", "]", "-"]
# Stars right after a literal head are not read by git 2.39 as its page says.
HEAD_AND_STARS = re.compile(r"[^/*]\*\*+(/|$)")


def random_pattern(rng):
    while True:
        text = "".join(rng.choice(ATOMS) + rng.choice(["", "", "/"]) for _ in range(rng.randrange(1, 5)))
        text = rng.choice(["", "", "", "/", "**/"]) + text + rng.choice(["", "", "", "/", "/*", "/**", " "])
        if not HEAD_AND_STARS.search(text):
            return rng.choice(["", "", "", "!"]) + text


def test_hundreds_of_random_files_are_read_as_git_reads_them(tree):
    rng = random.Random(7 + TURN)
    hits = 0
    for _ in range(part_of(500, 10)):
        ending = rng.choice(["\n", "\n", "\r\n"])
        text = ending.join(random_pattern(rng) for _ in range(rng.randrange(1, 6)))
        hits += assert_same(tree, (text + rng.choice(["", ending])).encode())
    assert hits > part_of(1000, 10)  # the patterns do ignore something
