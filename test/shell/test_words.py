# SPDX-License-Identifier: Apache-2.0
"""Words beside those that a real bash hands to a program: thousands of random quotings, in one
bash each hundred."""

import os
import random
import subprocess

import pytest

from shell_fixture import Probe, values

PIECES = [
    "a", "b1", "-x", "--k=v", "=", ".", "+", "%", "@", ":", ",", "^", "{", "}", "!", "]", "#",
    "''", "'q r'", "'\"'", "'\\'", "'$x'", "'`'", "'{a,b}'", "'*'", "'~'", "'\n'", "'\t '",
    '""', '"q r"', "\"'\"", '"\\""', '"\\\\"', '"\\$x"', '"\\`"', '"\\n"', '"\\a\\b"', '"$"',
    '"{a,b}"', '"*?"', '"~"', '"a\\\nb"', '"a\nb"', '"\\ "', '"!"', '"#"',
    "\\ ", "\\a", "\\\\", "\\'", '\\"', "\\$", "\\`", "\\;", "\\|", "\\*", "\\{", "\\}", "\\,",
    "\\~", "\\#", "\\=", "\\-", "\\\t", "$'a'", "$'\\n'", "$'\\t'", "$'\\''", "$'\\\"'", "$'\\\\'",
    "$'\\x41'", "$'\\101'", "$'\\0'", "$'a\\0b'", "$'\\e'", "$'\\E'", "$'\\cA'", "$'\\q'", "$'\\x'",
    "$'\\u41'", "$'\\U00000041'", "$'\\777'", "$'\\x414'", "$'\\8'", "$'$x'", "$'\\u'", "$'\\?'",
    "$'\\a\\b\\f\\r\\v'", "\u00e9", "\u4e2d", "'\u00e9'",
    "{a,b}", "{a,}", "{,a}", "{,}", "{a}", "{1..3}", "{3..1}", "{a..c}", "{01..3}", "{1..10..4}",
    "{-1..1}", "{a,{b,c}}", "{x,'q r',\"s\"}", "{a\\,b,c}", "{'a,b',c}", "{a..}", "{..a}", "{1..a}",
    "{{a,b},c}", "{a,b}{c,d}", "{c..a..2}", "{1..3..0}", "{+1..2}", "{00..2}", "{1..03}", "{Z..X}",
    "{a,b", "a,b}", "{a{b,c}}", "{a,$'x y'}", "{}", "x{}y", "{{}}", "{\"a,b\"}", "{-3..3..3}",
]


def random_words(seed, count):
    numbers = random.Random(seed)
    made = []
    for _ in range(count):
        pieces = numbers.choices(PIECES, k=numbers.choice([1, 1, 2, 2, 3, 4, 5]))
        made.append("".join(pieces))
    return made


def starts_comment(word):
    return word.startswith("#")


def bash_words(batch, folder):
    """What bash makes of each line, or None: printf writes a mark and the words."""
    script = "".join("printf '%%s\\0' @mark@ %s\n" % word for word in batch)
    done = subprocess.run(["/bin/bash", "-c", script], stdout=subprocess.PIPE, check=True, cwd=folder,
                          env={"PATH": "", "LC_ALL": "C.UTF-8", "HOME": "/h"})
    lines = []
    for word in done.stdout.split(b"\0")[:-1]:
        if word == b"@mark@":
            lines.append([])
        else:
            lines[-1].append(word)
    return lines


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("seed", range(4))
def test_words_are_those_of_bash(seed, tmp_path):
    """A word with a known value has exactly the value that bash gives it; most of these have."""
    made = [word for word in random_words(seed, 1500) if not starts_comment(word)]
    probe = Probe()
    known = 0
    for at in range(0, len(made), 100):
        batch = made[at:at + 100]
        real = bash_words(batch, tmp_path)
        assert len(real) == len(batch)
        for word, expected in zip(batch, real):
            analysis = probe("printf " + word)
            ours = values(analysis["commands"][0])[1:]
            if None in ours:
                continue
            known += 1
            encoded = [value.encode("utf-8", "surrogateescape") for value in ours]
            assert encoded == expected, word
    probe.close()
    assert known > len(made) * 0.6, known


LINES = ["a", "'b c'", "\\d", '"e f"', "$'g'", "h\\ i", "-j=k", "x=1", "''", "l#m"]
BLANKS = [" ", "  ", "\t", " \\\n ", " \t "]


def test_blanks_between_words(tmp_path):
    """Words end where they do in bash: blanks, continued lines, comments."""
    numbers = random.Random(7)
    probe = Probe()
    lines = []
    for _ in range(300):
        words = numbers.choices(LINES, k=numbers.randint(1, 6))
        line = "".join(numbers.choice(BLANKS) + word for word in words)
        lines.append(line + numbers.choice(["", " # x 'y", "\t#", " ", ";", " &&:"]))
    made = [real for at in range(0, len(lines), 100) for real in bash_words(lines[at:at + 100], tmp_path)]
    assert len(made) == len(lines)
    for line, real in zip(lines, made):
        analysis = probe("printf @mark@" + line)
        ours = values(analysis["commands"][0])[2:]
        assert [value.encode() for value in ours] == real, line
        assert analysis["problems"] == [], line
    probe.close()


def test_what_makes_a_word_unknown():
    probe = Probe()
    table = {
        "$x": (["variable"], True), "${x}": (["variable"], True), '"$x"': (["variable"], False),
        '"$@"': (["variable"], True), '"${a[@]}"': (["variable"], True),
        "a$x": (["variable"], True), "$(b)": (["substitution"], True),
        '"$(b)"': (["substitution"], False), "`b`": (["substitution"], True),
        "<(b)": (["process_substitution"], False), "$((1))": (["arithmetic"], True),
        "*.c": (["glob"], True), "a[bc]": (["glob"], True), "?": (["glob"], True),
        "~": (["tilde"], False), "~u/x": (["tilde"], False), "x=~/y": (["tilde"], False),
        "{1..99999}": (["braces"], True), "{a,$x}": (["variable", "braces"], True),
        '$"x"': (["locale"], False), "$'\\u00e9'": (["locale"], False),
    }
    for text, expected in table.items():
        word = probe("p " + text)["commands"][0]["words"][1]
        assert (word["dynamic"], word["splits"]) == expected, text
        assert word["raw"] == text
    probe.close()


def test_the_known_part_before_the_unknown():
    probe = Probe()
    for text, known in {"--out=$x": "--out=", "'a b'$x": "a b", "-e\"$x\"y": "-e", "src/*.c": "src/",
                        "$x": "", "a{b,$x}": "a"}.items():
        assert probe("p " + text)["commands"][0]["words"][1]["value"] == known, text
    probe.close()
