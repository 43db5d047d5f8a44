# SPDX-License-Identifier: Apache-2.0
"""script/demo: real patch series through safe_patch, then the edits that need help."""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "corpus"))

import debian_series  # noqa: E402
import demo_agent  # noqa: E402
import scenes  # noqa: E402
from hasp_tool import HASP, Hasp, ToolError  # noqa: E402
from series_run import Count, SeriesRun, compare  # noqa: E402
from term import Progress, paint, printable, table  # noqa: E402

# Long series of moderate size: mail, crypto, boot loader, shell tools, a machine emulator.
PACKAGES = ["cron", "unzip", "exim4", "openssh", "curl", "gnutls28", "libxml2", "busybox",
            "grub2", "qemu"]
QUICK = ["cron"]


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "hasp-demo"


def run_package(source, parts, scratch, progress, durability):
    """Applies one series; the reference tree is made beside it, on the other processor."""
    count = Count()
    tree, other = Path(scratch) / "hasp", Path(scratch) / "reference"
    subprocess.run(["cp", "-a", "--reflink=auto", str(source.orig), str(tree)], check=True)
    failure = []

    def make_reference():
        try:
            debian_series.reference(source, other)
        except debian_series.SeriesError as error:
            failure.append(str(error))

    thread = threading.Thread(target=make_reference)
    thread.start()
    start = time.monotonic()
    hasp = Hasp(tree, durability)
    run = SeriesRun(hasp, tree, count, debian_series.target_name)
    for number, (patch, files) in enumerate(parts, 1):
        for part in files:
            progress.step("%s  patch %d of %d  %s" % (source.name, number, len(parts),
                                                      patch.name))
            run.part(patch, part)
        count.patches += 1
    count.seconds = time.monotonic() - start
    count.calls = hasp.calls
    progress.step("%s  comparing the trees" % source.name, 0)
    thread.join()
    if failure:
        raise debian_series.SeriesError(failure[0])
    compare(tree, other, count)
    return count


def number(value):
    return "{:,}".format(value)


def report(results):
    head = ["package", "patches", "file diffs", "hunks", "lines +-", "new", "gone", "moved",
            "files compared", "MB", "refused", "differ", "seconds"]
    total = Count()
    rows = [head]
    for name, count in results + [("all", total)]:
        rows.append([name, number(count.patches), number(count.files), number(count.hunks),
                     number(count.lines), number(count.created), number(count.deleted),
                     number(count.moved), number(count.compared),
                     "%.1f" % (count.bytes / 1e6), number(count.refused),
                     number(count.mismatches), "%.1f" % count.seconds])
        if count is not total:
            total.add(count)
    print()
    table(rows, footer=1)
    return total


def prepare(names):
    """Fetches and takes apart; [(source, [(patch, parts)])] and the number of parts."""
    started = time.monotonic()

    def say(name):
        print("\r\x1b[KFetching %s" % name if sys.stdout.isatty() else "fetching %s" % name,
              end="" if sys.stdout.isatty() else "\n", flush=True)

    sources = debian_series.fetch(names, cache_folder(), say, skip_missing=True)
    if sys.stdout.isatty():
        print("\r\x1b[K", end="")
    for name in sorted(set(names) - {source.name for source in sources}):
        print("%s is left out: the mirror does not have its source" % name)
    work = [(source, [(patch, debian_series.split(patch.read(), patch.strip))
                      for patch in source.series]) for source in sources]
    parts = sum(len(files) for _, patches in work for _, files in patches)
    print("%d Debian source packages, %d patches, %d file diffs (%.1f s)\n" % (
        len(work), sum(len(patches) for _, patches in work), parts,
        time.monotonic() - started))
    return work, parts


def apply_all(names, durability):
    print(paint("Whole patch series, each edit locked by the hash of the one before", "bold"))
    work, parts = prepare(names)
    progress = Progress(parts)
    results = []
    for source, patches in work:
        with tempfile.TemporaryDirectory(prefix="hasp-demo-") as scratch:
            count = run_package(source, patches, scratch, progress, durability)
        progress.clear()
        good = count.refused == count.mismatches == 0
        print("%s %-10s %-22s %4d patches, %5d file diffs, %6d files the same in %.1f s" % (
            paint("ok  ", "green") if good else paint("FAIL", "red"), source.name,
            source.version, count.patches, count.files, count.compared - count.mismatches,
            count.seconds), flush=True)
        for trouble in count.troubles[:20]:
            print("     " + printable(trouble))
        results.append((source.name, count))
    total = report(results)
    print("\n%s calls of hasp tool, one process each: %.1f ms a call, durability %s." % (
        number(total.calls), 1000 * total.seconds / max(total.calls, 1), durability))
    good = total.refused == total.mismatches == 0
    print(paint("Every tree is byte for byte what GNU patch makes." if good else
                "NOT the same: %d refused, %d files differ." % (
                    total.refused, total.mismatches), "green" if good else "red", "bold"))
    return good


def play_agent(name):
    sources = debian_series.fetch([name], cache_folder())
    return demo_agent.play(sources[0])


def main():
    parser = argparse.ArgumentParser(prog="script/demo", description=__doc__)
    parser.add_argument("--packages", help="Debian source packages, separated by commas")
    parser.add_argument("--quick", action="store_true", help="one small package")
    parser.add_argument("--scenes", action="store_true", help="only the readable part")
    parser.add_argument("--agent", action="store_true", help="only the agent's job")
    parser.add_argument("--durability", choices=["full", "rename"], default="rename")
    options = parser.parse_args()
    names = options.packages.split(",") if options.packages else \
        QUICK if options.quick else PACKAGES
    try:
        if options.agent:
            return 0 if play_agent(names[0]) else 1
        good = options.scenes or apply_all(names, options.durability)
        good = scenes.play() and good
        return 0 if (options.scenes or play_agent(names[0])) and good else 1
    except (debian_series.SeriesError, ToolError) as error:
        print("script/demo: %s" % error, file=sys.stderr)
        return 1
    except FileNotFoundError as error:
        print("script/demo: %s (the program is %s)" % (error, HASP), file=sys.stderr)
        return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
