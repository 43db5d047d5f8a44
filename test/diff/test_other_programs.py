# SPDX-License-Identifier: Apache-2.0
"""What unified_print prints is read by GNU patch and git apply, to the byte, and
is about as short as git diff --minimal."""
import os
import random
import subprocess

import pytest
from part import part_step

PROBE = os.environ["DIFF_PROBE"]
PART = part_step(6)  # of so many generated texts one
# Headers of the C library and of the kernel: real text that every build machine has.
TEXTS = ["/usr/include/stdio.h", "/usr/include/stdlib.h", "/usr/include/string.h",
         "/usr/include/unistd.h", "/usr/include/math.h", "/usr/include/fcntl.h"]


def run(*command, cwd=None, check=True, stdin=b""):
    env = dict(os.environ, LC_ALL="C", GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
               GIT_CEILING_DIRECTORIES="/")
    done = subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True)
    assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
    return done


def diff(folder, old, new, context, *names):
    (folder / "old").write_bytes(old)
    (folder / "new").write_bytes(new)
    return run(PROBE, str(folder / "old"), str(folder / "new"), str(context), *names).stdout


ODD = [b"", b" ", b"\t", b"-- a", b"++ b", b"\\ No newline", b"@@ -1 +1 @@", b"\xff\x80 \x01", b"\xc3\xa9", b"\r",
       b"end \r x"]


def random_lines(rng, count, kinds):
    endings = rng.choice([[b"\n"], [b"\r\n"], [b"\n", b"\r\n"]])

    def body():
        n = rng.randrange(len(ODD) + kinds)
        return ODD[n] if n < len(ODD) else b"line %d" % (n - len(ODD))
    return [body() + rng.choice(endings) for _ in range(count)]


def damaged(rng, lines, kinds):
    result = []
    for line in lines:
        roll = rng.random()
        if roll < 0.08:
            continue
        if roll < 0.16:
            result += random_lines(rng, rng.randrange(1, 4), kinds)
        if roll < 0.24:
            line = random_lines(rng, 1, kinds)[0]
        result.append(line)
    return result


def text_of(rng, lines):
    text = b"".join(lines)
    if text.endswith(b"\n") and rng.random() < 0.3:
        text = text[:-1]
    return text


def pairs(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        kinds = rng.choice([1, 3, 20, 500])
        old = random_lines(rng, rng.randrange(1, 60), kinds)
        new = damaged(rng, old, kinds)
        old, new = text_of(rng, old), text_of(rng, new)
        if old and new and old != new:
            yield rng.choice([0, 1, 3, 3, 10]), old, new


def test_gnu_patch_makes_the_new_text_from_it(tmp_path):
    for context, old, new in pairs(1, 150 // PART):
        text = diff(tmp_path, old, new, context)
        (tmp_path / "file").write_bytes(old)
        run("patch", "-F0", "--binary", "-s", "-p1", "file", cwd=tmp_path, stdin=text)
        assert (tmp_path / "file").read_bytes() == new


def test_git_apply_makes_the_new_text_from_it(tmp_path):
    for context, old, new in pairs(2, 150 // PART):
        text = diff(tmp_path, old, new, context)
        (tmp_path / "file").write_bytes(old)
        extra = ["--unidiff-zero"] if context == 0 else []
        run("git", "apply", *extra, "--whitespace=nowarn", "-", cwd=tmp_path, stdin=text)
        assert (tmp_path / "file").read_bytes() == new


NAMES = ["plain", "two words", "tab\there", "quote\"d", "back\\slash", "\u00e9t\u00e9", "new\nline"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("new", [b"one\ntwo\n", b"no newline"])
def test_creation_and_deletion_are_read_under_any_name(tmp_path, name, new):
    text = diff(tmp_path, b"", new, 3, "/dev/null", "b/" + name)
    run("git", "apply", "-", cwd=tmp_path, stdin=text)
    assert (tmp_path / name).read_bytes() == new
    text = diff(tmp_path, new, b"", 3, "a/" + name, "/dev/null")
    run("git", "apply", "-", cwd=tmp_path, stdin=text)
    assert not (tmp_path / name).exists()
    text = diff(tmp_path, b"", new, 3, "/dev/null", "b/" + name)
    if "\n" not in name:  # GNU patch refuses such names
        run("patch", "-F0", "-s", "-p1", cwd=tmp_path, stdin=text)
        assert (tmp_path / name).read_bytes() == new


def changed_lines(text):
    body = [line for line in text.split(b"\n") if line[:4] not in (b"--- ", b"+++ ")]
    return sum(line[:1] in b"+-" and line != b"" for line in body)


def test_it_is_about_as_short_as_git_diff_minimal(tmp_path):
    rng = random.Random(3)
    ours = theirs = 0
    for path in TEXTS:
        lines = open(path, "rb").read().splitlines(keepends=True)
        for _ in range(8 // PART):
            new = damaged(rng, lines, 5)
            for _ in range(rng.randrange(3)):  # and a block moved
                at, size, to = rng.randrange(len(new)), rng.randrange(40), rng.randrange(len(new))
                block = new[at:at + size]
                del new[at:at + size]
                new[to:to] = block
            ours += changed_lines(diff(tmp_path, b"".join(lines), b"".join(new), 3))
            theirs += changed_lines(run("git", "diff", "--no-index", "--minimal", "--text", "old",
                                        "new", cwd=tmp_path, check=False).stdout)
    print("changed lines:", ours, "git diff --minimal:", theirs)
    assert ours <= theirs * 1.02


def test_unrelated_texts_are_about_as_short_as_git_diff_minimal(tmp_path):
    texts = [open(path, "rb").read() for path in TEXTS]
    for old, new in zip(texts, texts[1:]):
        ours = changed_lines(diff(tmp_path, old, new, 3))
        theirs = changed_lines(run("git", "diff", "--no-index", "--minimal", "old", "new",
                                   cwd=tmp_path, check=False).stdout)
        assert ours <= theirs * 1.02


def merges(folder, base, mine, theirs):
    """What merge_scripts makes of it, and git; None: a conflict."""
    for name, text in (("base", base), ("mine", mine), ("theirs", theirs)):
        (folder / name).write_bytes(text)
    paths = [str(folder / name) for name in ("base", "mine", "theirs")]
    ours = run(PROBE, "merge", *paths, check=False)
    git = run("git", "merge-file", "-p", paths[1], paths[0], paths[2], check=False)
    assert ours.returncode in (0, 1) and git.returncode < 128, (ours, git)
    return (None if ours.returncode else ours.stdout), (None if git.returncode else git.stdout)


@pytest.mark.parametrize("kinds", [3, 40, 100000])
def test_what_is_merged_is_what_git_merges(tmp_path, kinds):
    """Changes that touch are a conflict here and may be none there; the other way round never."""
    rng = random.Random(kinds)
    offered = clean = 0
    for _ in range(25 if PART > 1 else 50):
        lines = random_lines(rng, rng.randrange(1, 80), kinds)
        few = rng.random() < 0.8

        def change():
            if not few:
                return damaged(rng, lines, kinds)
            at = rng.randrange(len(lines) + 1)
            return lines[:at] + random_lines(rng, rng.randrange(3), kinds) + lines[at + rng.randrange(3):]
        base = text_of(rng, lines)
        mine, theirs = text_of(rng, change()), text_of(rng, change())
        ours, git = merges(tmp_path, base, mine, theirs)
        clean += git is not None
        offered += ours is not None
        assert ours is None or ours == git, (base, mine, theirs)
    assert offered > clean / (4 if kinds == 3 else 2), (offered, clean)
