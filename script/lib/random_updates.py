# SPDX-License-Identifier: Apache-2.0
"""script/random-updates: random changes of each format, compared with a reparse by another library.

    python3 script/lib/random_updates.py [--write] [COUNT [SEED [FORMAT...]]]
"""
import argparse
import sys
import tempfile
from pathlib import Path

import npm_peers

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test/data/structured"))
import random_changes  # noqa: E402

PAGE = TOP / "docs/data-updates.md"
BEGIN, END = "<!-- random updates: begin -->", "<!-- random updates: end -->"
# what is compared with; the order of members counts where the format has one
OTHERS = {"json": "Python's json", "lines": "Python's json, by line", "yaml": "PyYAML, with the core schema", "toml": "Python's tomllib",
          "xml": "Python's ElementTree (expat)", "csv": "Python's csv", "tsv": "Python's csv", "ini": "Python's configparser",
          "properties": "npm's dot-properties"}
READ_PROPERTIES = """
const {parse} = require(process.argv[2] + "/node_modules/dot-properties");
require("readline").createInterface({input: process.stdin}).on("line", line => {
  console.log(JSON.stringify(parse(JSON.parse(line))));
});
"""


def properties_reader(folder):
    script = Path(folder) / "read.js"
    script.write_text(READ_PROPERTIES)
    return [npm_peers.node(), str(script), str(npm_peers.folder("properties"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--program", default=str(TOP / "build/test/data/structured/change_lines"))
    parser.add_argument("count", nargs="?", type=int, default=10000)
    parser.add_argument("seed", nargs="?", default="1")
    parser.add_argument("formats", nargs="*", default=list(OTHERS))
    options = parser.parse_args()
    runner, rows, failures = random_changes.Runner(options.program), [], 0
    with tempfile.TemporaryDirectory() as folder:
        random_changes.Properties.node = properties_reader(folder) if "properties" in options.formats else None
        for kind in options.formats:
            made, files, refused, wrong = random_changes.run_many(runner, kind, options.count, options.seed)
            rows.append("| %s | %s | %s | %s | %d | %d |" % (kind, OTHERS[kind], format(made, ","), format(files, ","), refused, wrong))
            failures += wrong
            print(rows[-1], flush=True)
    if options.write:
        head, rest = PAGE.read_text().split(BEGIN)
        table = ["| format | read again by | changes | files | calls refused | differences |", "|---|---|---|---|---|---|"] + rows
        PAGE.write_text(head + BEGIN + "\n" + "\n".join(table) + "\n" + END + rest.split(END)[1])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
