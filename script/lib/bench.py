# SPDX-License-Identifier: Apache-2.0
"""script/bench: hasp beside its peers, in one sitting.

Runs are interleaved (A B C A B C ...), so that a slow minute of the machine is everybody's.
Figures are medians; ratios are of medians.  Every run's result is checked: a peer that does
not do the work is not a peer.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import bench_mcp
import figures
import npm_peers

TOP = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP", str(TOP / "build" / "hasp"))
TOOLS = Path(HASP).parent / "test" / "bench"
PAGE = TOP / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def page_write(begin, end, text):
    """Puts a table into the page, in place of what stands between these two lines."""
    head, rest = PAGE.read_text().split(begin)
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])


def page_options(headless, **others):
    """The options of a part that drives hasp by test/'s `headless`: --quick, --hasp PROGRAM, and `others`
    with their defaults."""
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true")
    options.add_argument("--hasp")
    for name, default in others.items():
        options.add_argument("--" + name, default=default)
    options = options.parse_args()
    if options.hasp:
        headless.HASP = str(Path(options.hasp).resolve())
    return options


def page_print(options, begin, end, made):
    """Prints a table, and puts it into the page unless it is of a quick run or of another hasp."""
    print(made)
    if not options.quick and not options.hasp:
        page_write(begin, end, made.rstrip("\n"))


def in_sandbox(folder, *flags):
    """The words before a command that hasp confines to a folder."""
    return [HASP, "sandbox", *flags, "--root", str(folder), "--"]


def in_bubblewrap(folder):
    """The same for bubblewrap. The folder may be in /dev/shm: it follows /dev."""
    return ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/",
            "--dev", "/dev", "--proc", "/proc", "--bind", str(folder), str(folder), "--chdir",
            str(folder), "--"]


class Cost(NamedTuple):
    """CPU: of all processes; memory: of the largest one."""
    wall_ms: float
    cpu_ms: float
    rss_mb: float


class Runner:
    """One contender: a command, what to prepare before each run, what to check after."""

    def __init__(self, name, argv, cwd, prepare=lambda: None, check=lambda: True, stdin=None,
                 stdout=None):
        self.name, self.argv, self.cwd = name, argv, cwd
        self.prepare, self.check, self.stdin = prepare, check, stdin
        self.stdout = stdout
        self.costs = []

    def run(self):
        self.prepare()
        out = self.stdout or os.path.join(self.cwd, "stdout")
        done = subprocess.run([str(TOOLS / "bench_spawn"), self.stdin or "/dev/null", out,
                               *self.argv], cwd=self.cwd, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        fields = done.stdout.split()
        if len(fields) != 4 or fields[3] != "0" or not self.check():
            raise SystemExit("bench: %s did not do the work: %s %s" % (
                self.name, done.stdout.strip(), done.stderr.strip()[:400]))
        self.costs.append(Cost(int(fields[0]) / 1e6, int(fields[1]) / 1e3,
                               int(fields[2]) / 1024))

    def median(self):
        return Cost(*(statistics.median(values) for values in zip(*self.costs)))


def interleave(runners, rounds):
    for runner in runners:
        runner.run()  # warms the caches
        runner.costs.clear()
    for _ in range(rounds):
        for runner in runners:
            runner.run()


def rows_of(title, runners, base=0):
    """Table rows; the ratio is the first contender's wall time over each other's."""
    first = runners[base].median()
    rows = []
    for runner in runners:
        cost = runner.median()
        ratio = "" if runner is runners[base] else "%.2f" % (first.wall_ms / cost.wall_ms)
        rows.append([title, runner.name, "%.1f" % cost.wall_ms if cost.wall_ms < 100
                     else "%.0f" % cost.wall_ms, "%.1f" % cost.cpu_ms, "%.1f" % cost.rss_mb,
                     ratio])
        title = ""
    return rows


def lines_file(path, lines):
    """`lines` lines of 64 bytes; no two are the same."""
    with open(path, "wb") as out:
        for start in range(0, lines, 10000):
            out.write(b"".join(b"%08d the quick brown fox jumps over the lazy dog, again ok\n" % i
                               for i in range(start, min(lines, start + 10000))))


def lines_diff(path, name, changed):
    """A strict diff that changes the given lines (0-based, far apart), 3 lines of context."""
    text = b"%08d the quick brown fox jumps over the lazy dog, again ok\n"
    with open(path, "wb") as out:
        out.write(b"--- a/%s\n+++ b/%s\n" % (name, name))
        for at in changed:
            out.write(b"@@ -%d,7 +%d,7 @@\n" % (at - 2, at - 2))
            out.write(b"".join(b" " + text % i for i in range(at - 3, at)))
            out.write(b"-" + text % at + b"+" + (text % at).upper())
            out.write(b"".join(b" " + text % i for i in range(at + 1, at + 4)))


def digest(path):
    hashed = hashlib.sha256()
    with open(path, "rb") as data:
        while piece := data.read(1 << 20):
            hashed.update(piece)
    return hashed.hexdigest()


def patch_runners(folder, peers, base, diff, expected):
    """Everybody who can apply folder/diff to folder/file, which is put back before each run."""
    target = folder / "file"

    def put_back():
        shutil.copyfile(folder / "base", target)

    def right():
        return digest(target) == expected

    def hasp(durability):
        return Runner("hasp, durability " + durability,
                      [HASP, "tool", "safe_patch", "--json", "--durability", durability,
                       "--arg", "file_path=file", "--arg", "base_content_sha256=" + base,
                       "--arg", "unified_diff=@" + str(diff), "--arg", "return_content=none"],
                      str(folder), put_back, right)

    def peer(name, argv, stdin=None):
        return Runner(name, argv, str(folder), put_back, right, stdin)

    known = {
        "patch": lambda: peer("GNU patch", ["patch", "-s", "-f", "file"], str(diff)),
        "git": lambda: peer("git apply", ["git", "apply", str(diff)]),
        "jsdiff": lambda: peer("npm diff (node)", [
            "node", str(TOP / "script/lib/jsdiff_peer.mjs"), str(npm_peers.folder("jsdiff")),
            "file", str(diff)]),
        "floor": lambda: Runner("floor", [str(TOOLS / "bench_floor"), "base", "copy"],
                                str(folder)),
        "floor-sync": lambda: Runner("floor, synced", [str(TOOLS / "bench_floor"), "base", "copy",
                                                       "sync"], str(folder)),
    }
    return [hasp("rename"), hasp("full"), *(known[name]() for name in peers)]


def bench_patch(folder, title, lines, changed, peers, rounds):
    folder.mkdir()
    lines_file(folder / "base", lines)
    lines_diff(folder / "diff", b"file", changed)
    shutil.copyfile(folder / "base", folder / "file")
    subprocess.run(["patch", "-s", "-f", "file"], stdin=open(folder / "diff", "rb"), cwd=folder,
                   check=True)
    expected, base = digest(folder / "file"), digest(folder / "base")
    runners = patch_runners(folder, peers, base, folder / "diff", expected)
    interleave(runners, rounds)
    return rows_of(title, runners), runners


def bench_read(folder, rounds):
    folder.mkdir()
    (folder / "small.txt").write_text("hello\n" * 20)
    argv = [HASP, "tool", "read_file", "--json", "--arg", "file_path=small.txt"]
    out = folder / "stdout"
    runners = [
        Runner("hasp", argv, str(folder), check=lambda: "sha256" in json.loads(out.read_text())),
        Runner("sha256sum", ["sha256sum", "small.txt"], str(folder)),
        Runner("node, an empty program", ["node", "-e", "0"], str(folder)),
    ]
    interleave(runners, rounds)
    return rows_of("read a small file, whole process", runners), runners


CALLS = {"read_file": "read, 10 KB", "safe_patch": "patch, 10 KB, answer with content",
         "safe_patch_brief": "patch, 10 KB, answer without"}
FLOORS = ["only the system calls of an edit", "the same, when others have just changed the file"]


def bench_calls(folder, rounds):
    """Calls inside one process, on the disk and in memory."""
    rows = []
    places = [("rename", folder / "calls-rename")]
    shm = Path("/dev/shm")
    if shm.is_dir():
        places.append(("rename", Path(tempfile.mkdtemp(prefix="hasp-bench-", dir=shm))))
    for durability, place in places:
        place.mkdir(exist_ok=True)
        out = subprocess.run([str(TOOLS / "bench_calls"), str(place), str(rounds), durability],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in out.splitlines():
            name, wall, cpu = line.split()
            rows.append([CALLS[name], "tmpfs" if place.is_relative_to(shm) else "disk", wall, cpu])
        out = subprocess.run([str(TOOLS / "bench_edit_floor"), str(place), str(rounds)],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        for name, line in zip(FLOORS, out.splitlines()):
            rows.append([name, "tmpfs" if place.is_relative_to(shm) else "disk", *line.split()])
        if place.is_relative_to(shm):
            shutil.rmtree(place, ignore_errors=True)
    return rows


LIBRARY = {"tools_read": "read, 10 KB (`hasp_tools_call`)", "json_text": "a member of its result (`hasp_json_text`)",
           "own_tool": "a tool of the program (`hasp_agent_call`)", "own_hooked": "the same, two functions see it"}


def bench_library(folder, rounds):
    """Calls of a program with libhasp-agent; the worker is a process besides."""
    (folder / "home").mkdir(parents=True)
    out = subprocess.run([str(TOOLS / "bench_library"), HASP, str(rounds)], check=True, stdout=subprocess.PIPE,
                         text=True, cwd=folder, env=dict(os.environ, HOME=str(folder / "home"))).stdout
    return [[LIBRARY[name], wall, cpu] for name, wall, cpu in map(str.split, out.splitlines())]


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def version(argv):
    out = subprocess.run(argv, stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"\d+\.\d+[\w.]*", out)
    return found.group(0) if found else "?"


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return "%s, %d processors, Linux %s" % (model.group(1) if model else platform.machine(),
                                            os.cpu_count(), platform.release().split("-")[0])


def write_page(text):
    page_write(BEGIN, END, text)
    figures.main()


def main():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", help="where to work (default: beneath TMPDIR)")
    options = parser.parse_args()
    small, large, calls = (7, 3, 2000) if options.quick else (41, 9, 20000)
    megabytes = 10 if options.quick else 100
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=options.folder) as name:
        folder = Path(name)
        read, _ = bench_read(folder / "read", small)
        ten, _ = bench_patch(folder / "ten", "patch a 10 KB file, whole process", 160, [80],
                             ["patch", "git", "jsdiff"], small)
        lines = megabytes * 1000000 // 64
        big, _ = bench_patch(folder / "big", "patch a %d MB file, three hunks" % megabytes, lines,
                             [100, lines // 2, lines - 100],
                             ["patch", "git", "floor", "floor-sync"], large)
        inside = bench_calls(folder, calls)
        library = bench_library(folder / "library", calls)
        mcp_rounds = 1 if options.quick else 5
        mcp, mcp_state = bench_mcp.measure(folder / "mcp", mcp_rounds)
    head = ["what", "who", "wall ms", "CPU ms", "peak MB", "hasp takes, times"]
    text = "\n\n".join([
        "%s. hasp %s, GNU patch %s, git %s, node %s. Medians of %d runs (large file: %d), "
        "interleaved." % (machine(), version([HASP, "--version"]), version(["patch", "--version"]),
                          version(["git", "--version"]), version(["node", "--version"]),
                          small, large),
        markdown(head, read + ten + big),
        "One call inside a process that makes many (`test/bench/calls.c`), durability rename:",
        markdown(["call", "where", "wall µs", "CPU µs"], inside),
        "One call of a program with libhasp-agent (`test/bench/library.c`), whose worker is another process:",
        markdown(["call", "wall µs", "CPU µs, without the worker"], library),
        "The MCP server on a pipe, compared with npm's server-filesystem, in %d runs. *hasp makes, "
        "times* is hasp's calls a second over the peer's. CPU and memory are those of all the server's "
        "processes\n(hasp: the server and the worker that does the file's part); *first process* is "
        "the server's own." % mcp_rounds,
        markdown(["call", "who", "calls/s", "CPU µs, all processes", "first process",
                  "hasp makes, times"], mcp),
        markdown(["who", "start to initialized, ms", "MB, all processes", "after 2100 reads"],
                 mcp_state)])
    print(text)
    if not options.quick:
        write_page(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
