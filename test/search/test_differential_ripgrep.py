# SPDX-License-Identifier: Apache-2.0
"""search_files finds what ripgrep finds: on trees made at random, and on real ones.

Compared are lines, numbers, where the first match is, context, counts, names, globs and
types.  What the two mean to do differently is left out of the comparison, and told here:

- hasp leaves a file with a NUL byte out; ripgrep may print what stands before it.
- hasp decodes legacy encodings; ripgrep takes their bytes as they are.  test_encodings.py.
- hasp's `$` stands before CRLF; ripgrep is told --crlf, with which its `.` does not match a CR.
- To ripgrep's * a line end in a name is no character.
- Word characters: combining marks are some to ripgrep, not to PCRE2 before 10.43; [[:upper:]] is
  ASCII to ripgrep; \\p{Lu} stands for all letters with case when ripgrep ignores case.
"""

import fnmatch
import json
import os
import random
import subprocess

import pytest
from part import in_turn, part_of, part_step
import search_trees
from search_peers import (hasp_counts, hasp_files, hasp_names, hasp_search, rg_counts, rg_files,
                          rg_names, rg_search, rg_understands)

pytestmark = pytest.mark.rows_in_turn(3)

ALL = {"no_ignore": True}
RG_ALL = ["--no-ignore", "--hidden", "--crlf"]
# A sample, unless HASP_TESTS=all.
SEEDS = [11, 12, 13, 14][:part_of(4, 4)]
PART = part_step(8)
SHARE = part_step(16)  # of so many files of a real tree one: its lines are like each other


@pytest.fixture(scope="module", params=SEEDS)
def nasty(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nasty%d" % request.param)
    search_trees.random_tree(folder, request.param, newlines=False)
    return folder, search_trees.kinds(folder), request.param


@pytest.fixture(scope="module", params=["own", "npm", "debian0", "debian1"])
def real(request, tmp_path_factory):
    if request.param == "own":
        whole = search_trees.own_checkout(tmp_path_factory.mktemp("checkout"))
    else:
        whole = (search_trees.npm_tree() if request.param == "npm" else
                 search_trees.debian_sources()[int(request.param[-1])])
    tree = search_trees.part(whole, tmp_path_factory.mktemp(request.param), SHARE)
    return tree, search_trees.kinds(tree), request.param


def same_search(tree, kinds, arguments, options, pattern, starts=True):
    """The number of lines that both found; they must be the same ones.  `starts`: and so must
    be where the first match in each is."""
    ours = hasp_search(tree, pattern=pattern, **{**ALL, **arguments})
    theirs = rg_search(tree, RG_ALL + options, pattern)
    assert list(ours) == sorted(ours, key=lambda path: path.encode("utf-8", "surrogateescape")) or \
        any("\\x" in path for path in ours), "not in the order of paths"
    compared = 0
    for path in set(ours) | set(theirs):
        if kinds[path] != "text":
            assert kinds[path] != "binary" or path not in ours, path
            continue
        left, right = ours.get(path, {}), theirs.get(path, {})
        for n in set(left) & set(right):
            if not starts or right[n].start is None: # ripgrep tells no place of an empty match at the end
                left[n] = left[n]._replace(start=None, end=None)
                right[n] = right[n]._replace(start=None, end=None)
        assert left == right, (str(tree), path, pattern, arguments, options)
        compared += len(left)
    return compared


# ---- one pattern after another ---------------------------------------------------------

LITERALS = ["alpha", "Alpha", "foo", "x", "0x1F", "a.b", "(c)", "[d]", "->", "--", "\\n", "\\", "$var", "\"q\"", " ",
            "\t", "\u00dcber", "\u00fcber", "stra\u00dfe", "STRASSE", "k", "\u212a", "s", "\u017f", "i", "\u0130", "\u03c3",
            "\u03c2", "\u4e2d", "\U0001f600", "not in there", "long", "# c", "'s'"]
REGEXES = ["alpha|beta", "^int", "return$", "^$", "^\\s*$", "[A-Z]{3,}", "\\bfoo\\b", "\\w+\\(", "fo+", "(?:a|b)\\.b",
           "[^a-z ]+", "\\d+", "\\D\\d\\D", "x{2,}|xy", "T(O)DO", "(?i)todo", "a.b", ".", ".*", "^.{0,5}$", "\\S+\\s+\\S+$",
           "[\u00e4\u00f6\u00fc]", "\u03c3|\u03c2", "\\p{L}+", "\\p{Greek}", "[[:digit:]x]+",
           "(foo|bar)+", "(a+)+b", "\\x{4e2d}", "\\.", "a\\tb", "\\\\n", "\\B_\\B", "^(?:#|//)", "(?:)", "x*"]


@pytest.mark.parametrize("pattern", LITERALS[::PART])
@pytest.mark.parametrize("case", [("sensitive", "-s"), ("ignore", "-i"), ("smart", "-S")], ids=lambda c: c[0])
def test_literals(nasty, pattern, case):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"case": case[0]}, ["-F", case[1]], pattern)


@pytest.mark.parametrize("pattern", REGEXES[::PART])
@pytest.mark.parametrize("case", [("sensitive", "-s"), ("ignore", "-i")], ids=lambda c: c[0])
def test_regexes(nasty, pattern, case):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"case": case[0], "regex": True}, [case[1]], pattern)


@pytest.mark.parametrize("pattern", ["alpha", "foo", "x", "a.b", "\u00dcber", "\u00e9", "int", "123", "stra\u00dfe", "\u4e2d"])
def test_whole_words(nasty, pattern):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"whole_word": True}, ["-F", "-w", "-i"], pattern)


@pytest.mark.parametrize("pattern", ["alpha\\s+\\S", "foo[^x]*x", "\\}?\\n\\s*\\n", "a\\nb", "\\n", "^$\\n^$", "beta$\\s^",
                                     "(?s)int.{0,80}return", "alpha\\r?\\n"])
def test_multiline(nasty, pattern):
    """Where a match ends in CRLF the two differ: those files are left out."""
    tree, kinds, _ = nasty
    unix = {path: kind if b"\r" not in (tree / path).read_bytes() else "CRLF"
            for path, kind in kinds.items() if "\\x" not in path}
    for path in kinds:
        unix.setdefault(path, "odd name")
    same_search(tree, unix, {"multiline": True, "regex": True, "case": "sensitive"}, ["-U", "-s"], pattern,
                starts=False)


@pytest.mark.parametrize("before,after", [(1, 1), (3, 0), (0, 2), (1000, 1000), (2, 7)])
@pytest.mark.parametrize("pattern", ["alpha", "foo|int", "^$"])
def test_context(nasty, pattern, before, after):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"regex": True, "case": "sensitive", "before": before, "after": after},
                ["-s", "-B", str(before), "-A", str(after)], pattern)


@pytest.mark.parametrize("pattern", ["alpha", "x|y", "^$", "no such text"])
def test_counts_and_names(nasty, pattern):
    tree, kinds, _ = nasty
    text = {path for path, kind in kinds.items() if kind == "text"}
    ours = hasp_counts(tree, pattern=pattern, regex=True, case="sensitive", **ALL)
    theirs = rg_counts(tree, RG_ALL + ["-s"], pattern)
    assert {path: n for path, n in ours.items() if path in text} == \
        {path: n for path, n in theirs.items() if path in text}
    assert hasp_names(tree, pattern=pattern, regex=True, case="sensitive", **ALL) & text == \
        rg_names(tree, RG_ALL + ["-s"], pattern) & text


GLOBS = [["*.c"], ["*.{c,h}"], ["src/**"], ["src/*"], ["/*.py"], ["**/deep/**"], ["*"], ["n[0-4].*"], ["[!n]*"], ["sp ace"],
         ["a/b"], ["a/b/**"], ["*.c", "*.md"], ["???"], ["README*", "Makefile"], ["**/*.rs"], ["\u00fcml"], ["st\\*r"],
         ["*.{c,py}", "src/**"]]


@pytest.mark.parametrize("globs", GLOBS[::PART], ids=" ".join)
def test_include(nasty, globs):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"include": globs}, [word for glob in globs for word in ("-g", glob)] + ["-i"], "a")
    assert hasp_names(tree, pattern=".", regex=True, include=globs, **ALL) - {p for p in kinds if kinds[p] != "text"} == \
        rg_names(tree, RG_ALL + [word for glob in globs for word in ("-g", glob)], ".") - \
        {p for p in kinds if kinds[p] != "text"}


@pytest.mark.parametrize("globs", GLOBS[::PART], ids=" ".join)
def test_exclude(nasty, globs):
    tree, kinds, _ = nasty
    same_search(tree, kinds, {"exclude": globs}, [word for glob in globs for word in ("-g", "!" + glob)] + ["-i"], "a")


def test_hidden(nasty):
    tree, kinds, _ = nasty
    assert hasp_files(tree, **ALL) == rg_files(tree, ["--no-ignore", "--hidden"])
    assert hasp_files(tree, hidden=False, **ALL) == rg_files(tree, ["--no-ignore"])
    ours = hasp_search(tree, pattern="a", hidden=False, **ALL)
    theirs = rg_search(tree, ["--no-ignore", "--crlf", "-i"], "a")
    text = {path for path, kind in kinds.items() if kind == "text"}
    assert set(ours) & text == set(theirs) & text


@pytest.mark.parametrize("seed", range(6))
def test_ignore_files_of_other_names(nasty, tmp_path, seed):
    """.ignore is ripgrep's own; a custom ignore file to hasp."""
    search_trees.random_tree(tmp_path, seed, newlines=False)
    lines = ["*.c", "!b.h", "/a.c", "src/", "/src/deep", "**/deeper", "*.log", "a/b", "[a-c]*", "node_modules/", "*.tar.*",
             ".*", "README*", "UPPER.*"]
    dice = random.Random(seed)
    for place in [tmp_path, tmp_path / "src", tmp_path / "a"]:
        if place.is_dir():
            (place / ".ignore").write_text("\n".join(dice.sample(lines, 3)) + "\n")
    assert hasp_files(tmp_path, ignore_files=[".ignore"]) == rg_files(tmp_path, ["--hidden", "--no-ignore-vcs"])


# ---- patterns made at random -----------------------------------------------------------

ATOMS = ["a", "b", "x", "alpha", "foo", "Foo", "int", "\\w", "\\d", "\\s", ".", "[a-f]", "[^a]", "[A-Z_]", "\\(", "\\.", "k",
         "\u00fc", "\u03c3", "\\b", "_", "0", " ", "(?:ab|a)", "(?:x|xy|)", "t"]
SUFFIXES = ["", "", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"]


def random_pattern(dice):
    def branch():
        atoms = []
        for _ in range(dice.randrange(1, 5)):
            atom = dice.choice(ATOMS)
            suffix = dice.choice(SUFFIXES)
            if suffix and len(atom) > 1 and atom[0] not in "\\[(":
                atom = "(?:%s)" % atom
            atoms.append(atom + (suffix if atom != "\\b" else ""))
        return "".join(atoms)
    pattern = "|".join(branch() for _ in range(dice.choice([1, 1, 1, 2, 3])))
    return dice.choice(["", "", "", "", "^"]) + pattern + dice.choice(["", "", "", "", "$"])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_regexes(tmp_path, seed):
    """Without the very long lines, on which some of these patterns take more steps than are allowed."""
    tree = search_trees.random_tree(tmp_path, seed, newlines=False, longest=500)
    kinds = search_trees.kinds(tree)
    dice = random.Random(seed)
    found = 0
    for _ in range(part_of(120, 8)):
        pattern = random_pattern(dice)
        if not rg_understands(pattern):
            continue
        case = dice.choice([("sensitive", "-s"), ("ignore", "-i")])
        found += same_search(tree, kinds, {"regex": True, "case": case[0]}, [case[1]], pattern)
    assert found > 500


# ---- real trees ------------------------------------------------------------------------

REAL = [("the", {}, ["-F", "-i"]), ("TODO", {"case": "sensitive"}, ["-F", "-s"]),
        ("Copyright", {"case": "smart"}, ["-F", "-S"]), ("license", {"whole_word": True}, ["-F", "-i", "-w"]),
        ("no such text anywhere", {}, ["-F", "-i"]),
        ("\\b[A-Z]+_[A-Z]+\\(", {"regex": True, "case": "sensitive"}, ["-s"]),
        ("return\\s+-?\\d+;", {"regex": True}, ["-i"]),
        ("(get|set)_\\w+\\s*\\(", {"regex": True, "case": "sensitive"}, ["-s"]),
        ("^\\s*(//|#|/\\*)", {"regex": True}, ["-i"]),
        ("[^\\x00-\\x7f]", {"regex": True}, ["-i"]),
        ("[a-z_]{20,}", {"regex": True}, ["-i"]),
        ("^\\s*if\\s*\\(.*\\{$", {"regex": True, "context": 2}, ["-i", "-C2"]),
        ("static", {"context": 1, "include": ["*.c", "*.h"]}, ["-F", "-i", "-C1", "-g", "*.c", "-g", "*.h"]),
        ("a", {"include": ["**/test*/**", "*.md"], "exclude": ["*.json"]},
         ["-F", "-i", "-g", "**/test*/**", "-g", "*.md", "-g", "!*.json"]),
        ("\\{\\s*\\n\\s*\\}", {"regex": True, "multiline": True}, ["-U", "-i"]),
        ("e", {}, ["-F", "-i"])]


@pytest.mark.parametrize("pattern,arguments,options", REAL[::PART], ids=[row[0] for row in REAL[::PART]])
def test_real_trees(real, pattern, arguments, options):
    tree, kinds, _ = real
    same_search(tree, kinds, arguments, options, pattern)


def test_types(real):
    """ripgrep is taught hasp's types; of those that the tree has a part, and a few more."""
    tree, kinds, name = real
    text = {path for path in kinds if kinds[path] == "text"}
    rows = json.loads(subprocess.run([os.environ["TYPES_PROBE"]], capture_output=True, check=True).stdout)
    names = {path.rsplit("/", 1)[-1] for path in text}
    present = [row for row in rows
               if any(fnmatch.fnmatchcase(one, glob) for glob in row["globs"] for one in names)]
    assert len(present) > 8, name
    for row in in_turn(present, 3) + in_turn(rows, 12)[:3]:
        taught = [word for glob in row["globs"] for word in ("--type-add", "mine:" + glob)]
        left = hasp_names(tree, pattern=".", regex=True, file_types=[row["name"]], **ALL) & text
        right = rg_names(tree, RG_ALL + taught + ["-t", "mine"], ".") & text
        assert left == right, (name, row)
        assert (row in present) == bool(left) or name != "own"
