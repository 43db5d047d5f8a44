# SPDX-License-Identifier: Apache-2.0
"""script/bench's third part: what confinement costs.

Starting a command confined, beside the same without and beside bubblewrap with as much of the same as it
can do; a worker's start, calls and memory, beside the same work in one process; and file
operations, a build and git inside, beside outside.  Runs are interleaved; figures are medians.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bench

sys.path[:0] = [str(bench.TOP / "test" / "corpus"), str(bench.TOP / "test" / "damage")]
import corpus  # noqa: E402
import debian_series  # noqa: E402

BEGIN, END = "<!-- sandbox: begin -->", "<!-- sandbox: end -->"
HASP = bench.HASP


def confined(folder):
    """Ways to run a command: (name, words before it); the first is that of hasp."""
    return [
        ("hasp sandbox", bench.in_sandbox(folder)),
        ("without", []),
        ("hasp sandbox, level landlock", bench.in_sandbox(folder, "--sandbox", "landlock")),
        ("bubblewrap", bench.in_bubblewrap(folder)),
    ]


# ---- starting -------------------------------------------------------------------------------

def starts(folder, rounds):
    runners = [bench.Runner(name, [*before, "/bin/true"], str(folder))
               for name, before in confined(folder)]
    bench.interleave(runners, rounds)
    rows = bench.rows_of("start a command (`true`)", runners)
    (folder / "small.txt").write_text("text\n")
    call = ["tool", "read_file", "--json", "--arg", "file_path=small.txt", "--root", str(folder)]
    runners = [bench.Runner("hasp tool, level " + level, [HASP, *call, "--sandbox", level],
                            str(folder)) for level in ("full", "landlock", "paths")]
    bench.interleave(runners, rounds)
    return rows + bench.rows_of("read a small file, whole process", runners)


def worker_rows(folder, rounds, calls):
    """[(what, {kind: value})]"""
    kinds = ["local", "none", "in-process"]
    found = {kind: {} for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            done = subprocess.run([str(bench.TOOLS / "bench_worker"), str(folder), "20",
                                   str(calls), kind], check=True, stdout=subprocess.PIPE,
                                  text=True)
            for line in done.stdout.splitlines():
                name, value = line.split()
                found[kind].setdefault(name, []).append(float(value))
    titles = [("start_us", "start of a worker, to its first answer, µs"),
              ("first_read_us", "the first read, 10 KB, µs"),
              ("read_us", "read 10 KB, µs"), ("edit_us", "edit 10 KB, durability rename, µs"),
              ("idle_kb", "private memory of the worker, idle, KB"),
              ("used_kb", "the same after %d calls, KB" % (2 * calls))]
    return [(title, [statistics.median(found[kind][name]) for kind in kinds])
            for name, title in titles]


# ---- inside ---------------------------------------------------------------------------------

def timed_lines(argv, cwd):
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("bench: %s failed" % " ".join(argv[:3]))
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def io_table(folder, rounds, files, megabytes):
    ways, found = confined(folder), {}
    program = str(bench.TOOLS / "bench_io")
    local = folder / "bench_io"
    shutil.copy(program, local)
    for number in range(rounds + 1):
        turn = number % len(ways)  # nobody is always the first
        for name, before in ways[turn:] + ways[:turn]:
            os.sync()  # nobody waits for what another wrote
            times = timed_lines([*before, str(local), str(folder), str(files), str(megabytes)],
                                folder)
            for what, took in times.items():
                if number > 0:
                    found.setdefault(what, {}).setdefault(name, []).append(took)
    return {what: {name: statistics.median(values) for name, values in names.items()}
            for what, names in found.items()}


def sources():
    with corpus.locked("debian"):
        (source,) = debian_series.fetch(["zlib"], corpus.cache_folder() / "debian")
    return source.orig


def work_rows(folder, rounds):
    """A build, git and tar, as whole processes."""
    orig = sources()
    tree = folder / "zlib"
    shutil.copytree(orig, tree, symlinks=True)
    subprocess.run("sh ./configure && git init -q . && git add -A && "
                   "git -c user.name=x -c user.email=x@example.org commit -qm x", shell=True,
                   cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tar", "cf", "zlib.tar", "zlib"], cwd=folder, check=True)
    works = [
        ("build zlib (`make`)", "cd zlib && make -s clean && make -s -j2 libz.a"),
        ("`git status`, 500 files", "cd zlib && git status --short > /dev/null"),
        ("unpack it (`tar x`)", "rm -rf out && mkdir out && tar xf zlib.tar -C out"),
    ]
    rows = []
    for title, script in works:
        runners = [bench.Runner(name, [*before, "sh", "-c", script], str(folder))
                   for name, before in confined(folder)]
        bench.interleave(runners, rounds)
        rows += bench.rows_of(title, runners)
    return rows


# ---- the page -------------------------------------------------------------------------------

TITLES = {"create": "create, write 2 KB, close", "read": "open, read 2 KB, close", "stat": "stat",
          "rename": "rename", "unlink": "unlink", "write_MB": "write a megabyte",
          "read_MB": "read a megabyte"}


def process_table(rows):
    lines = ["| what | how | wall ms | CPU ms | peak MB | hasp takes, times |",
             "|---|---|---|---|---|---|"]
    return lines + ["| %s |" % " | ".join(row) for row in rows]


def worker_table(rows):
    lines = ["| what | confined worker | worker at level paths | in one process |",
             "|---|---|---|---|"]
    for title, (local, none, inside) in rows:
        cell = lambda value: "%.0f" % value if value else ""
        lines.append("| %s | %s | %s | %s |" % (title, cell(local), cell(none), cell(inside)))
    return lines


def io_lines(table, names):
    lines = ["| µs for one | %s |" % " | ".join(names), "|---|%s" % ("---|" * len(names))]
    for what, times in table.items():
        cells = ["%.2f (%.2f)" % (times[name], times[name] / times["without"]) for name in names]
        lines.append("| %s | %s |" % (TITLES[what], " | ".join(cells)))
    return lines


def status():
    done = subprocess.run([HASP, "sandbox", "--status", "--json"], check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def page(folder, quick):
    rounds = 5 if quick else 21
    names = [name for name, _ in confined(folder)]
    version = subprocess.run(["bwrap", "--version"], stdout=subprocess.PIPE, text=True).stdout
    lines = ["Level %s, Landlock ABI %s, %s. Medians of %d runs, interleaved; file operations: of %d."
             % (status()["level"], status()["facts"]["landlock_abi"], version.strip(), rounds,
                3 if quick else 5), ""]
    lines += process_table(starts(folder, rounds) + work_rows(folder, 3 if quick else 5))
    lines += ["", "A worker for files, in one process with its caller's work around it:", ""]
    lines += worker_table(worker_rows(folder, 1 if quick else 5, 500 if quick else 2000))
    lines += ["", "File operations of a command, in brackets times those without confinement:", ""]
    lines += io_lines(io_table(folder, 3 if quick else 5, 2000 if quick else 4000,
                               64 if quick else 128), names)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="hasp-bench-", dir=bench.TOP / "build") as folder:
        text = page(Path(folder), quick)
    print(text)
    if not quick:
        bench.page_write(BEGIN, END, text)


if __name__ == "__main__":
    main()
