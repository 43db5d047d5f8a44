# SPDX-License-Identifier: Apache-2.0
"""Matches beside ripgrep's: where they are, in source code and in text that is hardly any.

Left out, since the two differ: CR before LF (a part of the line end here, of the line there), words with
combining marks (Unicode's \\w has them, PCRE2's of today has not), [[:upper:]] (Unicode's here, ASCII's there),
\\p{Lu} without regard to case (it stays as it is here), and whole words other than those that are words, in valid
text (ripgrep 13 has other ideas of them than 15, which is the model here and agrees on all of them).
"""
import os
import pathlib
import random
import subprocess

import pytest
from part import in_turn, part_step

PROBE = os.environ["MATCHES_PROBE"]
SOURCE = pathlib.Path(__file__).resolve().parents[3] / "src"

LITERALS = [
    "struct", "size_t", "return", "EXPORT", "err_set", "x", "(", "_", "span_of(",
]
REGEXES = [
    "struct|enum|union", "foo|bar|baz", r"\bkmalloc\([^)]*GFP", r"[A-Z]+_MAX", r"\w+\s*\(", r"^\s*return\b", r"[0-9]{3}",
    r"if \(.*\) \{?$", r"[^;]$", r"\s+$", r"^$", r"^.", r".$", r"\d+", r"\bsize_t\s+\w+", r"\*\w+", r"(?i)Error", r"a.*b",
    r"a.*?b", r"(a|ab)(c|bcd)?", r"\S+", r"[^\s]+;", r"[^a-z\n]+", r"\(\)", r"(\w+)_(\w+)", r"e{2}", r"e{2,}", r"[aeiou]{3}",
    r"\.(c|h)\b", r"//|/\*", r"\bs\w*k\b", r"(?i)k+s*", r"\pL+", r"\p{Lu}{2,}", r"\W+", r"\D\d", "\u00e9+",
    "[\u00e0-\u00ff]+", r"\bstatic\s+(const\s+)?\w+", r"!=|==|<=|>=", r"\t{2,}", r"[^\x00-\x7f]+", r"(?s).", r"\x{e9}", r"x*", r"(un)?signed",
    r"int|integer", r"integer|int", r"[a-f]*c", r"(ab|a)(bc|c)?", r"\bT\B",
]
PIECES = ["foo", "bar", "Foo", "kmalloc(", "GFP", "ask", "K", "\u212a", "s", "\u017f", " ", "  ", "\t", "\u00e9", "\u00c9", "12", "345", "_MAX",
          "A", "if (x) {", "return", ";", "err", "Error", "ab", "abcd", "\u4f60\u597d", "\u00df", "()", "static const int", "x", ""]


def odd_text(rng):
    lines = ("".join(rng.choices(PIECES, k=rng.randrange(12))).encode() for _ in range(3000))
    broken = [line if rng.randrange(20) else line[:len(line) // 2] + rng.choice([b"\xff", b"\xc3", b"\xe2\x84", b"\x80"])
              for line in lines]
    return b"\n".join(broken)


def is_word(pattern):
    return pattern[0].isidentifier() and pattern[-1].isidentifier()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    source = b"".join(path.read_bytes() for path in sorted(SOURCE.rglob("*.[ch]"))[::part_step(20)])
    (folder / "source").write_bytes(source.replace(b"\r", b""))
    (folder / "odd").write_bytes(odd_text(random.Random(4)))
    (folder / "valid").write_bytes(odd_text(random.Random(5)).decode(errors="ignore").encode())
    (folder / "one_line").write_bytes(source[:20000].replace(b"\r", b"").replace(b"\n", b" "))
    return [folder / name for name in ("source", "valid", "one_line", "odd")]


def ripgrep(letters, pattern, path):
    flags = {"i": "-i", "s": "-S", "w": "-w", "x": "-x", "l": "-F"}
    done = subprocess.run(["rg", "--no-config", "-a", "-o", "-b", "-N", "--no-heading", "-E", "none",
                           *(flags[letter] for letter in letters), "-e", pattern, str(path)], capture_output=True)
    assert done.returncode < 2, done.stderr
    matches = []
    for line in done.stdout.split(b"\n"):
        if line:
            offset, _, text = line.partition(b":")
            if text:
                matches.append((int(offset), len(text)))
    return matches


def probe(letters, pattern, path):
    done = subprocess.run([PROBE, letters, pattern, str(path)], capture_output=True)
    assert done.returncode == 0, done.stderr
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def compare(letters, pattern, path):
    ours, theirs = probe(letters, pattern, path), ripgrep(letters, pattern, path)
    if ours != theirs:
        first = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
        return [f"{pattern!r} ({letters}) in {path.name}: {first}"]
    return []


# Of so many literals one.
PART = part_step(8)


@pytest.mark.parametrize("letters", ["", "i", "s", "x"])
def test_regular_expressions_match_where_ripgreps_do(files, letters):
    regexes = [regex for regex in REGEXES if letters != "i" or "\\p{Lu}" not in regex]
    wrong = [note for regex in in_turn(regexes, 12) for path in files for note in compare(letters, regex, path)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("letters", ["l", "li", "ls", "lw", "lx"])
def test_literals_match_where_ripgreps_do(files, letters):
    texts = files[:-1] if letters == "lw" else files
    literals = [literal for literal in LITERALS if letters != "lw" or is_word(literal)]
    wrong = [note for literal in literals[::PART] for path in texts for note in compare(letters, literal, path)]
    assert not wrong, "\n".join(wrong)


def test_the_texts_have_what_is_looked_for(files):
    regexes = in_turn(REGEXES, 12)
    found = sum(bool(ripgrep("", pattern, path)) for pattern in regexes for path in files)
    assert found > 2 * len(regexes)
