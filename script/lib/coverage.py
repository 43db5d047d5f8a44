# SPDX-License-Identifier: Apache-2.0
"""Which lines and branches of src/ the tests run; called by script/coverage.

The build has clang's counters, each program's in a file that all its processes share (counters.c).  This merges the
files, has llvm-cov lay the counts over the source, and sums them up.

What no test runs stands in coverage_left.txt with the reason, in rows

    FILE-OR-FOLDER | REGULAR EXPRESSION | REASON         (* is every folder)

A row is about each uncovered line that matches, comes after a line that does, or matches together with it (with \n
between), and the uncovered lines around it that are indented as far or farther: the rest of its block, or all of a
function.  A row that is about no uncovered line is
reported: the tests have come to run what it names, or the code has changed.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import run_tests
import stand_in

TOP = run_tests.TOP
BUILD = TOP / run_tests.COVERAGE[0]
COUNTERS = BUILD / "counters"
STAMP = COUNTERS / "program"  # which build of hasp the counts are of
PROFILE = BUILD / "counters.profdata"
LEFT = TOP / "script" / "lib" / "coverage_left.txt"
PAGE = TOP / "CONTRIBUTING.md"  # has the table of the last whole run, between these lines
BEGIN, END = "<!-- script/coverage --write: -->\n", "<!-- end -->\n"
ABREAST = 3  # folders in a line of the table
# Between them these have every function of src/.
IMAGES = ("hasp", "hasp-http.so", "hasp-highlight.so", "test/unit_tests", "src/api/engine/libhasp.so",
          "src/api/agent/libhasp-agent.so")


class File:
    def __init__(self):
        self.lines = {}  # number -> how often
        self.branches = defaultdict(int)  # (line, block, branch) -> how often
        self.left = set()  # uncovered lines that have a reason

    def uncovered(self):
        return sorted(number for number, count in self.lines.items() if not count)


def stamp():
    made = (BUILD / "hasp").stat()
    return "%d %d" % (made.st_mtime_ns, made.st_size)


def forget(always):
    """Removes counts that are another build's, or all."""
    COUNTERS.mkdir(parents=True, exist_ok=True)
    COUNTERS.chmod(0o777)  # tests run programs as other users
    if always or not STAMP.is_file() or STAMP.read_text() != stamp():
        for path in COUNTERS.glob("*.profraw*"):
            path.unlink()
    STAMP.write_text(stamp())


def make_counters():
    """Makes the files of all programs now: tests that count a program's calls should not see it done."""
    for target in run_tests.introspect("c", "targets"):
        program = Path(target["filename"][0])
        # Not what the build runs itself, which has no counters.
        if target["type"] == "executable" and program.is_file() and b"COUNTERS_ONLY" in program.read_bytes():
            subprocess.run([program], env=dict(os.environ, COUNTERS_ONLY="1"), check=True, stdin=subprocess.DEVNULL)


def run(words):
    """Builds, and runs the tests: all with fresh counts, or those with a word in their names, whose counts add up."""
    if why := stand_in.reason(TOP):
        sys.exit("script/coverage: %s %s; clone into another folder" % (TOP, why))
    run_tests.use_coverage()
    if run_tests.build("c", words, str(BUILD)) is None:
        return 1
    forget(not words)
    make_counters()
    return run_tests.main(words)


def merge():
    raw = sorted(str(path) for path in COUNTERS.glob("*.profraw"))
    if not raw:
        sys.exit("script/coverage: no counts yet; run script/coverage, or script/coverage --tests WORD")
    subprocess.run(["llvm-profdata", "merge", "-sparse", *raw, "-o", PROFILE], check=True, stderr=subprocess.DEVNULL)


def export():
    """What llvm-cov says, a line at a time, in lcov's format (geninfo(1))."""
    images = [BUILD / name for name in IMAGES if (BUILD / name).is_file()]
    rest = [word for image in images[1:] for word in ("-object", image)]
    process = subprocess.Popen(["llvm-cov", "export", "-format=lcov", "-instr-profile", PROFILE, images[0], *rest],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    yield from process.stdout
    if process.wait() != 0:
        sys.exit("script/coverage: llvm-cov cannot read the counts")


def source_of(name):
    """A path beneath src/, or None: the compiler's names are relative to a build folder, maybe another clone's."""
    _, found, path = ("/" + os.path.normpath(name)).rpartition("/src/")
    return path if found and (TOP / "src" / path).is_file() else None


def read(lines):
    """{path beneath src/: File}."""
    files, file = {}, None
    for line in lines:
        key, _, value = line.rstrip("\n").partition(":")
        if key == "SF":
            path = source_of(value)
            file = files.setdefault(path, File()) if path else None
        elif file and key == "DA":
            number, count = map(int, value.split(",")[:2])
            file.lines[number] = max(file.lines.get(number, 0), count)
        elif file and key == "BRDA" and path.endswith(".c"):  # of inline functions each file has its own
            number, block, branch, count = value.split(",")
            file.branches[number, block, branch] += int(count) if count != "-" else 0
    return files


def depth(line):
    return len(line) - len(line.lstrip("\t"))


def is_in_block(line, least):
    return not line.strip() or depth(line) >= least or (line.strip() in "{}" and depth(line) == least - 1)


def block_around(number, lines, source):
    """A line and its uncovered neighbours that are indented as far or farther, with their brackets."""
    least, found = depth(source[number]), {number}
    for step in (-1, 1):
        at = number + step
        while not lines.get(at, at < 1 or at >= len(source)) and is_in_block(source[at], least):
            found.add(at)
            at += step
    return found & lines.keys()


def rows_left(text):
    """(line, file or folder beneath src/, pattern, reason) of each row."""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            place, pattern, reason = (part.strip() for part in re.split(r" \| ", line, maxsplit=2))
            yield number, place, re.compile(pattern), reason


def apply_left(files, text, read_source):
    """Marks the lines that have a reason; what is wrong with the rows, a sentence each."""
    wrong = []
    for row_number, place, pattern, _ in rows_left(text):
        found = False
        for path, file in files.items():
            if place != "*" and not (path + "/").startswith(place + "/"):
                continue
            source, lines = [""] + read_source(path).splitlines(), file.lines
            for number in file.uncovered():
                before, line = source[number - 1:number + 1]
                if any(map(pattern.search, (line, before, before + "\n" + line))):
                    file.left |= block_around(number, lines, source)
                    found = True
        if not found:
            wrong.append("%s:%d: no uncovered line of src/%s is meant" % (LEFT.relative_to(TOP), row_number, place))
    return wrong


def percent(part, whole):
    return "%5.1f %%" % (100 * part / whole) if whole else "      -"


def row(name, files):
    lines = [count for file in files for count in file.lines.values()]
    branches = [count for file in files for count in file.branches.values()]
    left = sum(len(file.left) for file in files)
    return "%-20s %s of %7d lines  %s of %6d branches  %5d uncovered lines listed, %5d not" % (
        name, percent(sum(map(bool, lines)), len(lines)), len(lines),
        percent(sum(map(bool, branches)), len(branches)), len(branches),
        left, sum(len(file.uncovered()) for file in files) - left)


def ranges(numbers):
    """1, 2, 3, 7 as "1-3, 7"."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join("%d" % first if first == last else "%d-%d" % (first, last) for first, last in found)


def by_folder(files):
    folders = defaultdict(list)
    for path, file in files.items():
        folders[path.split("/")[0]].append(file)
    return dict(sorted(folders.items()), src=list(files.values()))


def show_folders(files):
    for folder, its in by_folder(files).items():
        print(row(folder, its))
    left = sum(len(file.left) for file in files.values())
    bare = sum(len(file.uncovered()) for file in files.values()) - left
    print("%d uncovered lines, %s" % (left + bare, "%d without a reason" % bare if bare else "all with a reason"))


def share(counts):
    counts = list(counts)
    return percent(sum(map(bool, counts)), len(counts)).strip()


def table(files, day):
    """The percentages of lines and branches of each folder, in Markdown."""
    cells = ["%s | %s | %s" % (folder, share(count for file in its for count in file.lines.values()),
                               share(count for file in its for count in file.branches.values()))
             for folder, its in by_folder(files).items()]
    cells += ["| |"] * (-len(cells) % ABREAST)
    height = len(cells) // ABREAST
    heads = ["folder | lines | branches"] * ABREAST
    rows = [heads, ["--- | --- | ---"] * ABREAST] + [cells[at::height] for at in range(height)]
    left = sum(len(file.left) for file in files.values())
    return ("On %s the tests ran these parts of `src/`; of the %d lines that none runs, `script/lib/coverage_left.txt` has "
            "the reasons of %d:\n\n%s\n" % (day.isoformat(), sum(len(file.uncovered()) for file in files.values()), left,
                                          "\n".join("| %s |" % " | ".join(cells) for cells in rows)))


def write(files, page):
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table(files, datetime.date.today()) + END + after


def show_files(files, place):
    """The lines of each file that no test runs, worst file first."""
    place = place.rstrip("/").removeprefix("src/")
    chosen = {path: file for path, file in files.items() if (path + "/").startswith(place + "/")}
    if not chosen:
        sys.exit("script/coverage: nothing beneath src/%s was compiled" % place)
    for path, file in sorted(chosen.items(), key=lambda pair: -len(pair[1].uncovered())):
        bare = [number for number in file.uncovered() if number not in file.left]
        if bare:
            print("src/%s: %d: %s" % (path, len(bare), ranges(bare)))
    for path, file in chosen.items():
        if file.left:
            print("src/%s: %d listed: %s" % (path, len(file.left), ranges(sorted(file.left))))
    print(row(place, chosen.values()))


def main(argv):
    parser = argparse.ArgumentParser(prog="script/coverage")
    parser.add_argument("folder", nargs="?", help="list the uncovered lines of a folder or file under src/")
    parser.add_argument("--tests", nargs="+", metavar="WORD", help="run only these jobs; counts add up")
    parser.add_argument("--show", action="store_true", help="run nothing: show the counts of earlier runs")
    parser.add_argument("--write", action="store_true", help="put the counts of earlier runs in CONTRIBUTING.md")
    args = parser.parse_args(argv)
    status = 0 if args.show or args.write or (args.folder and not args.tests) else run(args.tests or [])
    merge()
    files = read(export())
    wrong = apply_left(files, LEFT.read_text(), lambda path: (TOP / "src" / path).read_text())
    if args.folder:
        show_files(files, args.folder)
    else:
        show_folders(files)
    if args.write:
        PAGE.write_text(write(files, PAGE.read_text()))
    if wrong:
        print("\n".join(wrong))
    return status or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
