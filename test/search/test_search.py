# SPDX-License-Identifier: Apache-2.0
"""search(): against a model in a few lines of Python on random trees, and what the model has not."""
import hashlib
import os
import random
import re
import subprocess
import time

import pytest
from part import part_of

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["SEARCH_PROBE"]
ENV = dict(os.environ, LC_ALL="C", GIT_CONFIG_GLOBAL="/dev/null", XDG_CONFIG_HOME="/nonexistent")
LINES, NAMES, COUNTS = 0, 1, 2


def probe(root, pattern, path=".", timeout=120, **options):
    flags = ["%s=%s" % (name, int(value) if isinstance(value, bool) else value)
             for name, values in options.items()
             for value in (values if isinstance(values, list) else [values])]
    return subprocess.run([PROBE, str(root), path, pattern, *flags], capture_output=True, env=ENV,
                          timeout=timeout)


def search(root, pattern, path=".", **options):
    """[(path, matches, more, hash, [(number, kind, text)])], (matches, more)"""
    done = probe(root, pattern, path, **options)
    assert done.returncode == 0, (done.stdout[:500], done.stderr[-2000:])
    files = []
    *rows, tail = done.stdout.decode("utf-8").split("\n")[:-1]
    for row in rows:
        kind, rest = row[0], row[2:]
        if kind == "F":
            name, matches, more, sum_ = rest.rsplit(" ", 3)
            files.append((name, int(matches), int(more), sum_, []))
        else:
            number, mark, text = rest.split(" ", 2)
            files[-1][4].append((int(number), mark, text))
    mark, matches, more, *_ = tail.split()
    assert mark == "="
    return files, (int(matches), int(more))


def write(root, path, data):
    path = root / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


class Model:
    """What search.h says, for plain ASCII patterns, one line at a time."""

    def __init__(self, root, pattern, before=0, after=0, max_matches=1000, max_per_file=0,
                 output=LINES):
        self.regex = re.compile(pattern)
        self.before, self.after, self.output = before, after, output
        self.max_matches, self.max_per_file = max_matches, max_per_file or 10 ** 9
        paths = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names]
        self.root, self.paths = root, sorted(paths, key=os.fsencode)

    def lines(self, path):
        text = (self.root / path).read_bytes().decode()
        lines = text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    def file(self, path, limit):
        """Rows of the first `limit` matches, and whether there are more."""
        lines = self.lines(path)
        hits = [i for i, line in enumerate(lines) if self.regex.search(line)]
        shown, more = hits[:limit], len(hits) > limit
        rows = {}
        for i in shown:
            for j in range(max(0, i - self.before), i):
                rows.setdefault(j, "c")
            rows[i] = "m"
            for j in range(i + 1, min(len(lines), i + self.after + 1)):
                rows.setdefault(j, "c")
        # The lines of the first match that is not shown end the context.
        if more:
            rows = {j: kind for j, kind in rows.items() if j < hits[limit]}
        return [(j + 1, rows[j], lines[j]) for j in sorted(rows)], len(hits), more

    def run(self):
        files, left, more, total = [], self.max_matches, False, 0
        for path in self.paths:
            rows, hits, _ = self.file(path, 0)
            if hits == 0:
                continue
            if left == 0:
                more = True
                break
            if self.output != LINES:
                files.append((path, hits if self.output == COUNTS else 1, []))
                left -= 1
                total += hits if self.output == COUNTS else 1
                continue
            limit = min(left, self.max_per_file)
            rows, hits, cut = self.file(path, limit)
            files.append((path, None, rows))
            left -= min(limit, hits)
            total += min(limit, hits)
            more |= cut
        return files, (total, int(more))


WORDS = ["alpha", "beta", "needle", "gamma", "need", "le", "x", "", "needle needle", "[y]"]


def random_text(rng):
    shape = rng.random()
    if shape < 0.05:
        return ""
    count = rng.choice([1, 3, 20, 200]) if shape < 0.9 else rng.choice([20000, 60000])
    density = rng.choice([0, 0.01, 0.2])
    lines = [rng.choice(WORDS) if rng.random() < density + 0.001 else
             "plain line %d" % rng.randrange(10 ** rng.randrange(1, 30)) for _ in range(count)]
    return "\n".join(lines) + rng.choice(["\n", "", "\n\n"])


def random_tree(rng, root):
    for _ in range(rng.choice([1, 5, 30])):
        folder = "/".join(rng.choice(["a", "b", "a-b", "a.b", "c d"])
                          for _ in range(rng.randrange(4)))
        write(root, os.path.join(folder, rng.choice("fgh") + rng.choice(["", ".c", ".txt", "-1"])),
              random_text(rng)) if not os.path.isdir(root / folder / "x") else None


@pytest.mark.parametrize("seed", range(part_of(40, 3)))
def test_it_finds_what_the_model_finds(tmp_path, seed):
    rng = random.Random(seed)
    random_tree(rng, tmp_path)
    for _ in range(6):
        options = {"max_matches": rng.choice([1, 2, 7, 50, 100000])}
        options["output"] = rng.choice([LINES, LINES, LINES, NAMES, COUNTS])
        if options["output"] == LINES:
            options.update(before=rng.choice([0, 0, 1, 3]), after=rng.choice([0, 0, 2, 5]))
            if rng.random() < 0.3:
                options["max_per_file"] = rng.choice([1, 3])
        pattern = rng.choice(["needle", "need|alpha", "^x$", "^$", "line 1+$", "nothing like it"])
        expected = Model(tmp_path, pattern, **options).run()
        for threads in (1, 4):
            found, tail = search(tmp_path, pattern, cases=1, threads=threads, max_bytes=1 << 30,
                                 **options)
            got = [(name, None if options["output"] == LINES else matches, lines)
                   for name, matches, _, _, lines in found]
            assert (got, tail) == expected, (pattern, options, threads)


def test_a_second_search_uses_the_cache_and_finds_the_same(tmp_path):
    rng = random.Random(1000)
    for i in range(3):
        random_tree(rng, tmp_path)
    for pattern in ["needle", "alpha|beta", "line 77", "no such thing"]:
        cold = probe(tmp_path, pattern, max_matches=100000).stdout
        warm = probe(tmp_path, pattern, max_matches=100000, twice=True).stdout
        assert warm.endswith(b"warm\n") and cold.endswith(b"cold\n")
        assert warm[:-5] == cold[:-5], pattern


def test_only_the_part_beneath_the_start_is_searched(tmp_path):
    for path in ["a/x", "a/b/x", "a-b/x", "a.b/x", "ab/x", "x"]:
        write(tmp_path, path, "needle\n")
    for twice in (False, True):
        found, _ = search(tmp_path, "needle", "a", twice=twice)
        assert [file[0] for file in found] == ["b/x", "x"]
    found, _ = search(tmp_path, "needle", "a/b/x")
    assert [file[0] for file in found] == ["x"]


def test_globs_and_types(tmp_path):
    for path in ["a.c", "a.h", "b.py", "sub/c.c", "sub/deep/d.py", "skip/e.c"]:
        write(tmp_path, path, "needle\n")

    def names(**options):
        cold = [file[0] for file in search(tmp_path, "needle", **options)[0]]
        assert cold == [file[0] for file in search(tmp_path, "needle", twice=True, **options)[0]]
        return cold

    assert names(include="*.c") == ["a.c", "skip/e.c", "sub/c.c"]
    assert names(include="sub/**") == ["sub/c.c", "sub/deep/d.py"]
    assert names(include="sub/**", type="python") == ["sub/deep/d.py"]
    assert names(type=["c"], exclude="skip") == ["a.c", "a.h", "sub/c.c"]
    assert names(type=[".h"]) == ["a.h"]
    assert names(include="*.c", exclude=["sub/**", "skip/"]) == ["a.c", "skip/e.c"]
    assert probe(tmp_path, "needle", type="nonsense").stdout == b"invalid_argument\n"


def test_context_crosses_pieces_of_a_large_file(tmp_path):
    lines = ["%07d %s" % (i, "padding" * 4) for i in range(100000)]
    for i in (0, 6900, 6901, 27600, 50000, 99999):
        lines[i] = "needle %d" % i
    write(tmp_path, "large", "\n".join(lines) + "\n")
    expected = Model(tmp_path, "needle", before=9, after=9).run()[0]
    found, _ = search(tmp_path, "needle", before=9, after=9, max_bytes=1 << 30)
    assert [(name, None, rows) for name, _, _, _, rows in found] == expected


def test_long_lines_are_cut_around_the_match(tmp_path):
    write(tmp_path, "long", "a" * 3_000_000 + "needle" + "b" * 3_000_000 + "\nneedle\n")
    found, tail = search(tmp_path, "needle", max_line_bytes=100)
    (first, second) = found[0][4]
    assert first[:2] == (1, "m!") and "needle" in first[2] and len(first[2]) == 100
    assert second == (2, "m", "needle") and tail == (2, 0)


def test_a_line_longer_than_any_piece_may_be_context(tmp_path):
    write(tmp_path, "long", "first\n" + "abcdefghij" * 4_000_000 + "\nneedle\n")
    found, _ = search(tmp_path, "needle", before=1, max_line_bytes=20)
    assert [row[0] for row in found[0][4]][-1] == 3 and found[0][4][-1][2] == "needle"


def test_characters_are_not_cut(tmp_path):
    write(tmp_path, "wide", "é" * 5000 + "needle" + "é" * 5000 + "\n")
    for size in range(50, 60):
        ((_, _, text),) = search(tmp_path, "needle", max_line_bytes=size)[0][0][4]
        assert "needle" in text and "�" not in text and len(text.encode()) <= size


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1",
                                      "shift-jis", "koi8-r", "gb18030"])
def test_other_encodings_are_searched_as_text(tmp_path, encoding):
    word = {"shift-jis": "検索エンジンのテスト", "koi8-r": "поиск по файлам",
            "gb18030": "搜索文件中的内容"}.get(encoding, "größer")
    # Enough of the language for its encoding to be told.
    text = "".join("%s %d\n" % (word, i) for i in range(40)) + "needle %s\n" % word
    bom = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    write(tmp_path, "file", bom + text.encode(encoding))
    for pattern in (word, "needle .+" + word[-1] + "$"):
        for twice in (False, True):
            found, _ = search(tmp_path, pattern, hashes=True, twice=twice)
            assert found and found[0][4][-1][2] == "needle " + word, (pattern, twice)
            assert found[0][3] == hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()


def test_binary_files_are_left_out(tmp_path):
    write(tmp_path, "early", b"needle\n\0\1\2" + os.urandom(100) + b"\nneedle\n")
    write(tmp_path, "middle", b"needle\n" * 1000 + b"\0" + b"needle\n" * 1000)
    write(tmp_path, "late", b"needle\n" + b"filler\n" * 60000 + b"\0" + b"needle\n")
    for output in (LINES, NAMES, COUNTS):
        for twice in (False, True):
            found, _ = search(tmp_path, "needle", output=output, twice=twice)
            assert [(file[0], file[1]) for file in found] == [("late", 1)]


def test_lossy_utf8_is_shown_with_replacements(tmp_path):
    write(tmp_path, "file", "größe ".encode() * 200 + b"needle \xff\xfe after\n")
    found, _ = search(tmp_path, "needle")
    assert found[0][4][0][2].endswith("needle \ufffd\ufffd after")


def test_bytes_in_no_encoding_are_searched_as_they_are(tmp_path):
    write(tmp_path, "file", b"first needle\n\xff\xfe\xfa\x80\x81 middle needle \xc3\x28\n"
                            b"last needle \x9f\n")
    found, _ = search(tmp_path, "needle")
    assert [row[2] for row in found[0][4]] == [
        "first needle", "\ufffd" * 5 + " middle needle \ufffd(", "last needle \ufffd"]


def test_multiline(tmp_path):
    write(tmp_path, "file", "one\nbegin\nmiddle\nend\ntwo\nbegin end\n")
    found, tail = search(tmp_path, r"begin[\s\S]*?end", multiline=True, before=1, after=1)
    assert found[0][4] == [(1, "c", "one"), (2, "m", "begin"), (3, "+", "middle"), (4, "+", "end"),
                           (5, "c", "two"), (6, "m", "begin end")]
    assert tail == (2, 0)
    found, tail = search(tmp_path, r"begin[\s\S]*?end", multiline=True, max_matches=1)
    assert [row[0] for row in found[0][4]] == [2, 3, 4] and tail == (1, 1)
    assert search(tmp_path, r"begin[\s\S]*?end")[1] == (1, 0)


def test_a_multiline_match_may_begin_where_another_ends(tmp_path):
    write(tmp_path, "file", "foobar x\n_ foo\nx")
    found, tail = search(tmp_path, "foo[^x]*x", multiline=True)
    assert found[0][4] == [(1, "m", "foobar x"), (2, "m", "_ foo"), (3, "+", "x")]
    assert tail == (2, 0)
    write(tmp_path, "file", "beta\n\nx\ny\n\n\n\nz\n")
    found, tail = search(tmp_path, "^$", multiline=True)
    assert [row[0] for row in found[0][4]] == [2, 5, 6, 7] and tail == (4, 0)


def test_crlf(tmp_path):
    write(tmp_path, "file", "one needle\r\ntwo\r\nneedle\r\n")
    found, _ = search(tmp_path, "needle$")
    assert found[0][4] == [(1, "m", "one needle"), (3, "m", "needle")]


def test_a_byte_order_mark_is_not_part_of_the_first_line(tmp_path):
    write(tmp_path, "file", b"\xef\xbb\xbfneedle\n" + b"x\n" * 300000 + b"needle\n")
    found, _ = search(tmp_path, "^needle", hashes=True)
    assert found[0][4] == [(1, "m", "needle"), (300002, "m", "needle")]
    assert found[0][3] == hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()


def test_hashes_are_of_whole_files(tmp_path):
    rng = random.Random(5)
    for name, size in [("small", 10), ("exact", 262144), ("more", 262145), ("large", 5000000)]:
        body = b"needle\n" + bytes(rng.choice(b"abc \n") for _ in range(1000)) * (size // 1000)
        write(tmp_path, name, body[:size])
    for output in (LINES, NAMES):
        found, _ = search(tmp_path, "needle", hashes=True, output=output)
        assert {file[0]: file[3] for file in found} == {
            name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
            for name in ("small", "exact", "more", "large")}


def test_what_is_no_file_is_passed_by(tmp_path):
    write(tmp_path, "file", "needle\n")
    os.mkfifo(tmp_path / "fifo")
    os.symlink("file", tmp_path / "link")
    os.symlink("/etc", tmp_path / "away")
    os.symlink(".", tmp_path / "loop")
    found, _ = search(tmp_path, "needle")
    assert [file[0] for file in found] == ["file"]
    assert probe(tmp_path, "needle", "fifo").stdout == b"not_a_file\n"
    assert probe(tmp_path, "needle", "away").stdout == b"outside_workspace\n"
    assert probe(tmp_path, "needle", "gone").stdout == b"file_not_found\n"


def peak_kb(command):
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], capture_output=True, env=ENV)
    return int(done.stderr.split()[-1]), done.stdout


def test_a_huge_sparse_file_harms_nothing(tmp_path):
    for name, head in [("hole", b""), ("text", b"needle\n" * 50000)]:
        with open(tmp_path / name, "wb") as file:
            file.write(head)
            file.truncate(1 << 40)
    write(tmp_path, "z", "needle\n")
    begin = time.monotonic()
    peak, out = peak_kb([PROBE, str(tmp_path), ".", "needle", "output=1"])
    assert time.monotonic() - begin < 100  # of the terabyte's minutes
    assert b"F text" in out and b"F z" in out and b"F hole" not in out
    assert peak < 100_000


def test_a_million_matches_are_bounded_by_what_is_asked_for(tmp_path):
    for i in range(10):
        write(tmp_path, "file%d" % i, "needle here\n" * 200_000)
    peak, out = peak_kb([PROBE, str(tmp_path), ".", "needle", "max_matches=100"])
    assert out.count(b"\nL ") == 100 and out.split()[-5:-4] == [b"1"]
    assert peak < 40_000
    found, _ = search(tmp_path, "needle", output=COUNTS)
    assert [file[1] for file in found] == [200_000] * 10


def test_bytes_are_bounded(tmp_path):
    write(tmp_path, "file", ("needle " + "x" * 500 + "\n") * 1000)
    found, tail = search(tmp_path, "needle", max_bytes=10_000)
    assert 5 < len(found[0][4]) < 20 and tail[1] == 1


def test_a_pattern_that_is_too_hard_ends_within_seconds(tmp_path):
    for i in range(20):
        write(tmp_path, "file%d" % i, ("a" * 60 + "!\n") * 2000)
    for pattern in ["(a+)+$", "(a|aa)+$", "(a|a|aa)*b$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"]:
        begin = time.monotonic()
        done = probe(tmp_path, pattern)
        assert time.monotonic() - begin < 100
        assert done.stdout in (b"too_large\n",) or done.returncode == 0, done.stdout


def test_time_is_up(tmp_path):
    write(tmp_path, "file", "x" * 50_000_000)
    done = probe(tmp_path, r"(x|y)+(z|q)+\d", timeout_ms=1)
    assert done.returncode in (0, 1)


def test_a_file_without_its_last_newline(tmp_path):
    write(tmp_path, "file", "one\nneedle")
    assert search(tmp_path, "needle")[0][0][4] == [(2, "m", "needle")]
    write(tmp_path, "empty", "")
    assert search(tmp_path, "^$")[0] == []
