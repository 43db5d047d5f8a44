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

import candidates  # noqa: E402
import debian_series  # noqa: E402
import demo_agent  # noqa: E402
import scenes  # noqa: E402
from hasp_tool import HASP, Hasp, ToolError  # noqa: E402
from series_run import Count, SeriesRun, compare  # noqa: E402
from term import Progress, paint, printable, table  # noqa: E402

# Long series of moderate size: mail, crypto, boot loader, shell tools, a machine emulator; then
# what stands in for those that the mirror lacks.
PACKAGES = ["cron", "unzip", "exim4", "openssh", "curl", "gnutls28", "libxml2", "busybox",
            "grub2", "qemu", "rsync", "gnupg2", "groff", "postfix", "screen"]
SHOWN = 10   # of them
QUICK = ["cron", "unzip", "bash", "dash"]   # one of them


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


def fetched(names, enough):
    """The sources of the first `enough` of these packages that the mirror has."""
    on_terminal = sys.stdout.isatty()

    def say(name):
        print("\r\x1b[KFetching %s" % name if on_terminal else "fetching %s" % name,
              end="" if on_terminal else "\n", flush=True)

    sources = debian_series.fetch(names, cache_folder(), say, enough)
    if on_terminal:
        print("\r\x1b[K", end="")
    for note in candidates.notes():
        print(note)
    return sources


def apply_all(sources, durability):
    print(paint("Whole patch series, each edit locked by the hash of the one before", "bold"))
    work = [(source, [(patch, debian_series.split(patch.read(), patch.strip))
                      for patch in source.series]) for source in sources]
    parts = sum(len(files) for _, patches in work for _, files in patches)
    print("%d Debian source packages, %d patches, %d file diffs\n" % (
        len(work), sum(len(patches) for _, patches in work), parts))
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


def main():
    parser = argparse.ArgumentParser(prog="script/demo", description=__doc__)
    parser.add_argument("--packages", help="Debian source packages, separated by commas")
    parser.add_argument("--quick", action="store_true", help="one small package")
    parser.add_argument("--scenes", action="store_true", help="only the readable part")
    parser.add_argument("--agent", action="store_true", help="only the agent's job")
    parser.add_argument("--durability", choices=["full", "rename"], default="rename")
    options = parser.parse_args()
    names, enough = (QUICK, 1) if options.quick else (PACKAGES, SHOWN)
    if options.packages:
        names, enough = options.packages.split(","), None
    try:
        if options.scenes:
            return 0 if scenes.play() else 1
        sources = fetched(names, 1 if options.agent and enough else enough)
        if options.agent:
            return 0 if demo_agent.play(sources[0]) else 1
        good = apply_all(sources, options.durability)
        good = scenes.play() and good
        return 0 if demo_agent.play(sources[0]) and good else 1
    except (candidates.Missing, ToolError) as error:
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
