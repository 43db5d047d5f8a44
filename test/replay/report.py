#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Replays tasks of several edits with hasp's editors, Claude Code's and Gemini CLI's, and prints what it cost.

    test/replay/report.py [--tasks N] [--peers N] [--program build/hasp] [--only NAME;...] [--write]
            [--json FILE]

script/replay runs it whole: 500 tasks with hasp, some with the other programs, for which the rest is computed.
Tokens are bytes by four, of all results of tools as they stand in the requests, the same for all.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib"), str(TOP / "test" / "model")]

import bench  # noqa: E402
import bench_products as ways  # noqa: E402
import scripted  # noqa: E402
import tasks  # noqa: E402
from scripted import EDIT, NO_DAMAGE, READ, RECOVER  # noqa: E402

BEGIN, END = "<!-- replay: begin -->", "<!-- replay: end -->"
AT_ONCE = 2  # runs side by side


@dataclass
class Contender:
    name: str
    product: str  # the beginning of its name in bench_products.products()
    dialect: str
    results: dict = field(default_factory=dict)  # {number of a task: figures}
    missing: str = None

    @property
    def ours(self):
        return self.product.startswith("hasp")

    @property
    def title(self):
        """The name, with the tool that was called if it is not in it: what a model is offered may change."""
        tools = {figures["tool"] for figures in self.results.values()}
        other = sorted(tool for tool in tools if tool not in self.name)
        return self.name + (" (by %s)" % ", ".join(other) if other else "")


def contenders():
    return [Contender("hasp, update_file", "hasp, its own", "exact"),
            Contender("hasp, update_file, a file's edits in one reply", "hasp, its own", "together"),
            Contender("hasp, safe_patch, an edit a call", "hasp, its own", "patch"),
            Contender("hasp, safe_patch, a file a call", "hasp, its own", "patch a file"),
            Contender("hasp, OpenAI's model, apply_patch", "hasp, OpenAI", "envelope"),
            Contender("hasp, Anthropic's model, Edit", "hasp, Anthropic", "exact"),
            Contender("hasp, Gemini's model, replace", "hasp, Gemini", "exact"),
            Contender("claude-code 2.1.328, Edit", "claude-code", "exact"),
            Contender("gemini-cli 0.61, replace", "gemini-cli", "exact")]


def replay(contender, product, task):
    """The figures of one task."""
    # Not beneath /tmp, which sandboxes hide.
    with tempfile.TemporaryDirectory(prefix="hasp-replay-", dir=Path.home()) as folder:
        work = Path(folder) / "work"
        work.mkdir()
        model = scripted.Model(task, work, contender.dialect)
        requests = ways.run(product, Path(folder) / "home", work, scripted.PROMPT, model)
        return model.figures(requests)


def sample(every, count):
    """Numbers of `count` tasks: the first half, then those that have damages which are rare among them."""
    kinds = [[edit.damage for edit in task.edits if edit.damage] for task in every]
    chosen = list(range(min(len(every), count // 2)))
    seen = {}
    for number in chosen:
        for kind in kinds[number]:
            seen[kind] = seen.get(kind, 0) + 1
    left = [number for number in range(len(every)) if number not in set(chosen)]
    while left and len(chosen) < count:
        best = max(left, key=lambda number: sum(1 / (1 + seen.get(kind, 0)) for kind in kinds[number]) /
                   len(every[number].edits))
        left.remove(best)
        chosen.append(best)
        for kind in kinds[best]:
            seen[kind] = seen.get(kind, 0) + 1
    return sorted(chosen)


def run_all(found, every, peers, said):
    """Fills the contenders' results."""
    products = ways.products([one.product for one in found])
    few = sample(every, peers)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for one in found:
            product = next(product for product in products if product.name.startswith(one.product))
            one.missing = product.missing
            if one.missing:
                continue
            start = time.monotonic()
            numbers = range(len(every)) if one.ours else few
            jobs = {number: pool.submit(replay, one, product, every[number]) for number in numbers}
            one.results = {number: job.result() for number, job in jobs.items()}
            said("%s: %d tasks in %.0f s" % (one.name, len(numbers), time.monotonic() - start))
    return few


# ---- figures -----------------------------------------------------------------------------

def tokens(size):
    return "{:,.0f}".format(size / 4)


def complete(found, numbers):
    """Of these tasks those that all contenders ended."""
    run = [one for one in found if one.results]
    return [number for number in numbers if all(
        number in one.results and not one.results[number]["stopped"] for one in run)]


def means(one, numbers):
    """Mean bytes a task: of readings, of edits' answers, of refusals and what followed, all."""
    parts = [sum(one.results[number]["bytes"][part] for number in numbers) / max(1, len(numbers))
             for part in (READ, EDIT, RECOVER)]
    return [*parts, sum(parts[1:]), sum(parts)]


def computed(one, guide, few, numbers):
    """The same for tasks that were not run, by what each kind of edit cost in the sample.

    `guide` is the contender of hasp with the same calls: what its readings were, and which damages there are."""
    cost, count = {}, {}
    for number in few:
        for kind, size in one.results[number]["of"].items():
            cost[kind] = cost.get(kind, 0) + size
        for kind in kinds_of(guide.results[number]):
            count[kind] = count.get(kind, 0) + 1
    each = {kind: cost.get(kind, 0) / count[kind] for kind in count}
    plain = each.get(NO_DAMAGE, 0)
    share = means(one, few)[0] / max(1, means(guide, few)[0])
    reading = share * means(guide, numbers)[0]
    edits = sum(each.get(kind, plain) for number in numbers
                for kind in kinds_of(guide.results[number])) / max(1, len(numbers))
    return reading, edits


def kinds_of(figures):
    """For each edit what it was damaged by; NO_DAMAGE for those as they should be."""
    kinds = [damage.kind for damage in figures["damages"] if damage.kind != NO_DAMAGE]
    plain = figures["edits"] - sum(kind != "sent again" for kind in kinds)
    return kinds + [NO_DAMAGE] * plain


def grid(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def costs(found, numbers):
    """The table of means over these tasks."""
    head = ["tokens of tools' results a task", "reading", "edits' answers", "refusals and what followed",
            "all but reading", "all", "calls", "made otherwise", "not ended"]
    rows = []
    for one in found:
        if one.missing:
            rows.append([one.name, "missing: " + one.missing, *[""] * 7])
            continue
        if not set(numbers) <= set(one.results):
            continue
        ended = [number for number in numbers if not one.results[number]["stopped"]]
        of = [one.results[number] for number in numbers]
        rows.append([one.title, *map(tokens, means(one, ended)),
                     "%.1f" % (sum(each["calls"] for each in of) / max(1, len(of))),
                     str(sum(len(each["wrong"]) for each in of)), str(len(numbers) - len(ended))])
    return grid(head, rows)


def rounds(found):
    """For each damage: how often it was refused, of how many; and mean rounds until the edit was made."""
    kinds = [*tasks.DAMAGES, NO_DAMAGE]
    rows = []
    for kind in kinds:
        cells = []
        for one in found:
            of = [damage for figures in one.results.values() for damage in figures["damages"]
                  if damage.kind == kind]
            refused = [damage for damage in of if damage.refused]
            wrong = sum(damage.end == "wrong" for damage in of)
            total = sum(each["edits"] for each in one.results.values()) if kind == NO_DAMAGE else len(of)
            cells.append("" if not total else "%d of %d%s%s" % (
                len(refused), total, "; %.2f" % (sum(damage.rounds for damage in refused) / len(refused))
                if refused else "", " (%d otherwise)" % wrong if wrong else ""))
        rows.append([kind, *cells])
    return grid(["refused, of how many; rounds to recover", *[one.title for one in found]], rows)


def page(found, few, count):
    run = [one for one in found if one.results]
    guide = next((one for one in run if one.ours and one.dialect == "exact"), None)
    own = [one for one in run if one.ours]
    parts = ["%d tasks of %.1f edits each, %.0f %% of them damaged; %d of the tasks with the other programs." % (
        count, sum(each["edits"] for each in own[0].results.values()) / max(1, count),
        100 * tasks.SHARE, len(few)) if own else "", costs(own, range(count)) if own else ""]
    rest = [one for one in run if not one.ours]
    if rest and guide:
        both = complete(run, few)
        lines = []
        for one in rest:
            reading, edits = computed(one, guide, both, range(count))
            lines.append([one.title, tokens(reading), tokens(edits), tokens(reading + edits)])
        parts += ["The %d tasks that all of them ended, run with all:" % len(both), costs(found, both),
                  "What the others' answers would come to in all %d tasks, computed: readings in proportion to "
                  "hasp's, each edit as its kind (whole, or damaged in one of the ways below) cost on average in "
                  "the sample:" % count,
                  grid(["computed tokens a task", "reading", "all but reading", "all"], lines)]
    elif any(one.missing for one in found):
        parts.append(costs([one for one in found if one.missing], []))
    return "\n\n".join([*parts, rounds(run)])


def ready(value):
    return vars(value) if not isinstance(value, (set, range)) else list(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--peers", type=int, default=30, help="how many of them with the other programs")
    parser.add_argument("--program", help="default: build/hasp")
    parser.add_argument("--only", help="contenders' names' beginnings, with semicolons")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.program:
        os.environ["HASP"] = os.path.abspath(options.program)
    found = [one for one in contenders() if not options.only or
             one.name.startswith(tuple(options.only.split(";")))]
    every = tasks.load(options.tasks)
    few = run_all(found, every, min(options.peers, len(every)),
                  lambda line: print(line, file=sys.stderr, flush=True))
    text = page(found, few, len(every))
    print(text)
    for one in found:
        for number, figures in one.results.items():
            if figures["stopped"]:
                print("%s: %s: %s" % (one.name, every[number].name,
                                      re.sub(r"\s+", " ", figures["stopped"])[:300]), file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps([vars(one) for one in found], default=ready))
    if options.write:
        bench.page_write(BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
