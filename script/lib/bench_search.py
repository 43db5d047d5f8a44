# SPDX-License-Identifier: Apache-2.0
"""script/bench's second part: searching the kernel's source tree, beside both ripgreps.

Three ways to ask: a process of its own for each search, the first search of a session
(`hasp serve mcp`), and the same search again in that session, once the tree is known.
Everybody's matching lines are counted and have to be the same.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import bench
import bench_agent
import candidates
import npm_peers

HASP = str(bench.TOP / "build" / "hasp")
BEGIN, END = "<!-- search: begin -->", "<!-- search: end -->"
SOURCES = ["linux-source-6.1", "linux-source-6.12"]  # Debian 12, 13

# What is asked, and how each program is told.
QUERIES = [
    ("a literal, 18,000 lines", "EXPORT_SYMBOL_GPL", {}),
    ("a literal, 5 lines", "zstd_get_error_name", {}),
    ("a literal, whatever the case", "export_symbol_gpl", {"case_sensitive": False}),
    ("a regular expression", r"\bkmalloc\([^)]*GFP_ATOMIC", {"regex": True}),
    ("one that begins with a class", r"[A-Z]+_SUSPEND", {"regex": True}),
    ("nothing to be found", "zstd_get_error_nameX", {}),
]


def unpacked(name):
    """The source that this package holds, fetched once into the cache folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "hasp-bench"
    tree = home / name
    if (tree / "MAINTAINERS").exists():
        return tree
    home.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["apt-get", "download", "-qq", name], cwd=home,
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise candidates.Missing("apt-get cannot download it")
    package = glob.glob(str(home / (name + "_*.deb")))[0]
    subprocess.run("dpkg-deb --fsys-tarfile '%s' | tar xf - --to-stdout "
                   "./usr/src/%s.tar.xz | tar xJf -" % (package, name), shell=True, check=True,
                   cwd=home)
    os.unlink(package)
    # Debian's own .gitignore ends with a line that leaves out everything.
    ignore = tree / ".gitignore"
    ignore.write_text(ignore.read_text().replace("\n/*\n", "\n"))
    return tree


def kernel_tree():
    try:
        ((_, tree),) = candidates.take(SOURCES, unpacked)
        return tree
    except candidates.Missing as error:
        raise SystemExit("bench: no package with the kernel's source: %s" % error) from None


def npm_ripgrep():
    found = list(Path(npm_peers.folder("codex")).glob("node_modules/**/codex-path/rg"))
    return str(found[0])


def arguments(pattern, options):
    return {"pattern": pattern, "case_sensitive": True, "max_results": 1000000,
            "max_total_bytes": 268435456, **options}


def ripgrep(program, pattern, options):
    argv = [program, "--hidden", "--no-require-git", "-n", "--no-config", "-g", "!.git"]
    if not options.get("case_sensitive", True):
        argv.append("-i")
    if not options.get("regex"):
        argv.append("-F")
    return argv + ["-e", pattern, "."]


def run(argv, tree):
    """(milliseconds, lines found)"""
    begin = time.monotonic()
    done = subprocess.run(argv, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = (time.monotonic() - begin) * 1e3
    if argv[0] == HASP:
        return took, json.loads(done.stdout)["matches"]
    if done.returncode not in (0, 1):
        raise SystemExit("bench: %s: %s" % (argv[0], done.stderr.decode()[:300]))
    return took, done.stdout.count(b"\n")


class Session:
    """hasp serve mcp, spoken to line by line."""

    def __init__(self, tree):
        self.process = subprocess.Popen([HASP, "serve", "mcp"], cwd=tree, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = self.process.stdout.readline()
            if b'"id":%d' % self.last in answer[:64]:
                return answer

    def search(self, pattern, options):
        begin = time.monotonic()
        answer = self.ask("tools/call", {"name": "search_files",
                                         "arguments": arguments(pattern, options)})
        took = (time.monotonic() - begin) * 1e3
        return took, json.loads(answer)["result"]["structuredContent"]["matches"]

    def memory_mb(self):
        return bench_agent.memory_of(bench_agent.descendants(self.process.pid)) / (1 << 20)

    def cpu_s(self):
        """Of the server and its worker, which is what keeps the tree."""
        return bench_agent.cpu_of(bench_agent.descendants(self.process.pid)) / 1e9

    def settle(self):
        """Until it uses no processor time any more: it knows the tree."""
        idle, last = 0, -1.0
        while idle < 10:
            time.sleep(0.1)
            now = self.cpu_s()
            idle, last = (idle + 1, last) if now - last < 0.02 else (0, now)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def same(results, what):
    counts = {lines for _, lines in results}
    if len(counts) != 1:
        raise SystemExit("bench: %s: not the same lines: %s" % (what, results))
    return counts.pop()


def measure(tree, programs, rounds):
    """Medians in milliseconds by query and contender."""
    session = Session(tree)
    table = {}
    session.search("warms the session up", {})
    before = time.monotonic()
    session.settle()
    built = time.monotonic() - before - 1.0
    for title, pattern, options in QUERIES:
        costs = {}
        for number in range(rounds + 1):
            results = {"hasp": run([HASP, "tool", "search_files", "--json",
                                    json.dumps(arguments(pattern, options))], tree)}
            for name, program in programs:
                results[name] = run(ripgrep(program, pattern, options), tree)
            results["again"] = session.search(pattern, options)
            same(results.values(), title)
            for name, (took, _) in results.items():
                if number > 0:  # the first warms the caches
                    costs.setdefault(name, []).append(took)
        table[title] = {name: statistics.median(values) for name, values in costs.items()}
    memory = session.memory_mb()
    session.close()
    return table, built, memory


def version(program):
    return subprocess.run([program, "--version"], capture_output=True,
                          text=True).stdout.split()[1]


def cell(value):
    return "%.1f" % value if value < 10 else "%.0f" % value


def page(tree, programs, rounds):
    table, built, memory = measure(tree, programs, rounds)
    names = [name for name, _ in programs]
    lines = ["%s, %d rounds, everything in the page cache. Milliseconds of wall time; in brackets "
             "what hasp takes, times." % (tree.name, rounds), "",
             "| what | hasp, a process each | %s | hasp, asked again |" % " | ".join(names),
             "|---|---|%s---|" % ("---|" * len(names))]
    for title, costs in table.items():
        rows = [cell(costs["hasp"])]
        rows += ["%s (%.2f)" % (cell(costs[name]), costs["hasp"] / costs[name]) for name in names]
        rows.append("%s (%.3f of %s)" % (cell(costs["again"]), costs["again"] / costs[names[0]],
                                         names[0]))
        lines.append("| %s | %s |" % (title, " | ".join(rows)))
    lines += ["", "*Asked again* is a second search in a session of `hasp serve mcp`, %.1f s after "
              "the first, when what is kept of the tree is complete; its processes then hold %.0f MB."
              % (built, memory)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    tree = kernel_tree()
    newer = npm_ripgrep()
    programs = [("ripgrep " + version(newer), newer), ("ripgrep " + version("rg"), "rg")]
    text = page(tree, programs, 3 if quick else 11)
    print(text)
    if not quick:
        bench.page_write(BEGIN, END, text)


if __name__ == "__main__":
    main()
