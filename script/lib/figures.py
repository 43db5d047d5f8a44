# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of README.md from the pages that have them all: docs/benchmarks.md and
docs/damage.md.  Run by script/bench; run it, too, after writing docs/damage.md.
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
README = TOP / "README.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->"

# Sections of docs/damage.md, by the beginning of their heading, and what README says of them
DAMAGE = [("Recoverable", "diffs damaged as models damage them, recoverable"),
          ("To be refused", "stale, contradictory or no diffs: to be refused")]
PEERS = ["hasp", "GNU patch", "git apply", "npm `diff`"]

# Rows of docs/benchmarks.md: the beginning of the row's group, and the contenders wanted
SPEED = [("patch a 10 KB file", ["hasp, durability rename", "GNU patch", "git apply"]),
         ("patch a 100 MB file", ["hasp, durability rename", "GNU patch", "git apply"])]


def cells(line):
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split(" | ")]


def share(cell):
    """"right/refused/wrong" as percentages, wrong also as its count."""
    right, refused, wrong = (int(n) for n in cell.split("/"))
    total = max(1, right + refused + wrong)

    def percent(n):
        value = 100 * n / total
        return "%.0f" % value if value in (0, 100) else \
            "%.2f" % value if not 0.1 <= value <= 99.9 else "%.1f" % value

    return "%s / %s / %s %%" % (percent(right), percent(refused), percent(wrong)), total


def damage_rows(page):
    sections = re.split(r"(?m)^### ", page)
    for start, words in DAMAGE:
        section = next(s for s in sections if s.startswith(start))
        row = cells(next(line for line in section.splitlines() if line.startswith("| **all**")))
        shares = [share(cell) for cell in row[1:]]
        yield ["%s (%s cases)" % (words, "{:,}".format(shares[0][1]))] + [s for s, _ in shares]


def speed_groups(page):
    """{group: {contender: cells}} of the table of whole processes."""
    groups, group = {}, ""
    for line in page.splitlines():
        row = cells(line) if line.startswith("| ") else []
        if len(row) == 6 and row[0] != "what":
            group = row[0] or group
            groups.setdefault(group, {})[row[1]] = row
    return groups


def speed_rows(page):
    groups = speed_groups(page)
    for start, contenders in SPEED:
        group = next(name for name in groups if name.startswith(start))
        for number, contender in enumerate(contenders):
            row = groups[group][contender]
            yield ["" if number else group, contender, row[2], row[4]]


def table(head, rows):
    return "\n".join(["| " + " | ".join(row) + " |"
                      for row in [head, ["---"] * len(head), *rows]])


def render(damage, speed):
    return "\n\n".join([
        "Real diffs, damaged: *right / refused / wrong*, where wrong is any other result reported as "
        "success.", table(["", *PEERS], damage_rows(damage)),
        "Speed, whole processes, measured with peers in one sitting:",
        table(["", "", "ms", "peak MB"], speed_rows(speed))]) + "\n"


def updated(readme, damage, speed):
    before, _, rest = readme.partition(BEGIN)
    return before + BEGIN + render(damage, speed) + END + rest.partition(END)[2]


def main():
    readme = README.read_text()
    README.write_text(updated(readme, (TOP / "docs" / "damage.md").read_text(),
                              (TOP / "docs" / "benchmarks.md").read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
