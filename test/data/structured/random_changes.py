#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random changes to random files of structured text, compared with what other programs' readers find.

    random_changes.py CHANGE_LINES [COUNT [SEED [FORMAT...]]]

Each file is written by a printer of its own (comments, blank lines, several styles), read by Python's reader of
the format, changed by CHANGE_LINES (change_lines.c) and read again: the value must be what the same change makes of
Python's, and all lines but those that a change may touch must be where they were."""

import copy
import csv
import difflib
import io
import json
import random
import subprocess
import sys

WORDS = ["name", "ports", "web", "image", "a b", "x-y", "Größe", "on", "1", "", "key.with.dots", "#no", "日本"]
TEXTS = ["nginx:1.2", "yes", "8080", "", " lead", "tail ", "a: b", "# no", "it's", 'say "hi"', "ünï", "two\nlines\n", "-", "null",
         "1e3", "{x}", "tab\there", "0x1F", "2024-01-31", "~", "*a", "&b", "!c", "a #b", "x" * 90, "three\n\nlines", "\\n", "@x", "%"]


def scalar(rng):
    return rng.choice([rng.choice(TEXTS), rng.randrange(-5, 90000), rng.random() < .5, None, 1.5, -2.25e30, rng.choice(TEXTS)])


def value(rng, depth=0):
    kind = rng.random()
    if depth > 3 or kind < .55:
        return scalar(rng)
    if kind < .75:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {name: value(rng, depth + 1) for name in rng.sample(WORDS, rng.randrange(5))}


class Json:
    name, texts = "a.json", False

    def __init__(self, rng):
        self.rng, self.unit = rng, rng.choice(["  ", "\t", "    "])
        self.colon, self.gap = rng.choice([(":", ""), (": ", " "), (" : ", " ")])
        self.comments, self.flat = rng.random() < .4, rng.random() < .2

    def make(self):
        shape = [value(self.rng) for _ in range(3)] if self.rng.random() < .3 else {n: value(self.rng) for n in self.rng.sample(WORDS, 5)}
        end = self.rng.choice(["\n", "", "\r\n"])
        text = self.put(shape, 0)
        return (text.replace("\n", "\r\n") if end == "\r\n" else text) + end

    def comment(self):
        return self.rng.choice(["", "", " // note, } ]"]) if self.comments and not self.flat else ""

    def put(self, it, depth):
        if not isinstance(it, (dict, list)) or not it:
            return json.dumps(it, ensure_ascii=self.rng.random() < .3)
        one = self.flat or self.rng.random() < .2
        parts = [(json.dumps(k) + self.colon if isinstance(it, dict) else "", v) for k, v in
                 (it.items() if isinstance(it, dict) else enumerate(it))]
        marks = "{}" if isinstance(it, dict) else "[]"
        if one:
            was, self.flat = self.flat, True
            text = marks[0] + ("," + self.gap).join(k + self.put(v, depth + 1) for k, v in parts) + marks[1]
            self.flat = was
            return text
        lead = "\n" + self.unit * (depth + 1)
        text = marks[0]
        for i, (k, v) in enumerate(parts):
            if self.comments and self.rng.random() < .2:
                text += lead + self.rng.choice(["// of the next", "/* block */"])
            text += lead + k + self.put(v, depth + 1)
            text += ("," if i + 1 < len(parts) else "") + self.comment()
        return text + "\n" + self.unit * depth + marks[1]

    @staticmethod
    def read(text):
        out, i = [], 0
        while i < len(text):  # takes the comments out
            if text[i] == '"':
                j = i + 1
                while text[j] != '"':
                    j += 2 if text[j] == "\\" else 1
                out.append(text[i:j + 1])
                i = j + 1
            elif text.startswith("//", i):
                while i < len(text) and text[i] not in "\r\n":
                    i += 1
            elif text.startswith("/*", i):
                i = text.index("*/", i) + 2
            else:
                out.append(text[i])
                i += 1
        return json.loads("".join(out), object_pairs_hook=unique)


def unique(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), "a key twice"
    return dict(pairs)


class Yaml(Json):
    name = "a.yaml"

    def make(self):
        import yaml
        self.indent, self.dash = self.rng.choice([2, 2, 4]), self.rng.choice([0, 2])
        shape = [value(self.rng) for _ in range(3)] if self.rng.random() < .3 else {n: value(self.rng) for n in self.rng.sample(WORDS, 5)}
        text = self.rng.choice(["", "---\n", "# head\n"]) + self.block(shape, 0) + "\n"
        yaml.safe_load(text)
        return text.replace("\n", "\r\n") if self.rng.random() < .1 else text

    def word(self, it):
        style = self.rng.random()
        if isinstance(it, str) and style < .3 and "\n" not in it and it.isprintable():
            return "'" + it.replace("'", "''") + "'"
        if isinstance(it, str) and style < .6 and it and it.replace("-", "").isalpha() and it not in ("yes", "on", "null", "-"):
            return it
        if isinstance(it, float):
            return "1.5" if it == 1.5 else "-2.25e+30"
        return json.dumps(it, ensure_ascii=False)

    def block(self, it, column, lead=""):
        pad, lines = " " * column, []
        if not isinstance(it, (dict, list)):
            return self.word(it)
        if not it or column > 4 and self.rng.random() < .3:
            return self.flow(it)
        for n, (key, val) in enumerate(it.items() if isinstance(it, dict) else enumerate(it)):
            if self.rng.random() < .15 and n:
                lines.append(pad + self.rng.choice(["# a comment", ""]))
            nested = isinstance(val, (dict, list)) and val
            if isinstance(it, list):
                lines.append(pad + "- " + self.block(val, column + 2).lstrip(" "))
                continue
            inner = column + (self.dash if isinstance(val, list) else self.indent)
            text = self.block(val, inner)
            head = pad + self.word(key) + ":"
            if isinstance(val, str) and val.endswith("s\n") and self.rng.random() < .5:
                lines += [head + " |"] + [pad + "  " + line for line in val.splitlines()]
            elif nested and text[0] not in "{[":
                lines += [head + self.rng.choice(["", "", "  # why"]), text]
            else:
                lines.append(head + " " + text + self.rng.choice(["", "", " # why"]))
        return "\n".join(lines)

    def flow(self, it):
        if isinstance(it, dict):
            return "{" + ", ".join(self.flowed(k) + ": " + self.flow(v) for k, v in it.items()) + "}"
        return "[" + ", ".join(map(self.flow, it)) + "]" if isinstance(it, list) else self.flowed(it)

    def flowed(self, it):
        return json.dumps(it) if isinstance(it, str) else self.word(it)

    @staticmethod
    def read(text):
        import yaml

        class Core(yaml.SafeLoader):
            pass
        Core.yaml_implicit_resolvers = {}
        for tag, first, pattern in (("null", "~nN", r"^(?:~|null|Null|NULL|)$"), ("bool", "tTfF", r"^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$"),
                                    ("int", "-+0123456789", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
                                    ("float", "-+.0123456789", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")):
            import re
            Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), list(first) + ([""] if tag == "null" else []))
        both = yaml.load(text, Core), yaml.safe_load(text)
        return both[0]


FORMATS = {"json": Json, "yaml": Yaml}


def places(it, path=(), out=None):
    out = [] if out is None else out
    out.append((path, it))
    if isinstance(it, dict):
        for key in it:
            places(it[key], path + (key,), out)
    elif isinstance(it, list):
        for i, item in enumerate(it):
            places(item, path + (i,), out)
    return out


def written(path):
    steps = "".join("[%d]" % s if isinstance(s, int) else "." + (s if s.isidentifier() and s.isascii() else json.dumps(s)) for s in path)
    return steps if steps.startswith(".") else "." + steps


def at(whole, path):
    for step in path:
        whole = whole[step]
    return whole


def a_change(rng, whole, make_value):
    """A change, done to `whole`, which is returned with it."""
    path, it = rng.choice(places(whole))
    op = rng.choice(["set", "set", "delete", "append", "insert", "rename", "add"])
    new = make_value(rng)
    whole = copy.deepcopy(whole)
    if op == "append" and isinstance(it, list):
        at(whole, path).append(new)
        return {"op": op, "path": written(path), "value": new}, whole
    if op == "insert" and isinstance(it, list):
        i = rng.randrange(len(it) + 1)
        at(whole, path).insert(i, new)
        return {"op": op, "path": written(path + (i,)), "value": new}, whole
    if op == "add" and isinstance(it, dict):
        key = rng.choice(WORDS + ["new"])
        if key not in it:
            at(whole, path)[key] = new
            return {"op": "set", "path": written(path + (key,)), "value": new}, whole
    if not path:
        return None, whole
    above = at(whole, path[:-1])
    if op == "delete":
        del above[path[-1]]
        return {"op": op, "path": written(path)}, whole
    if op == "rename" and isinstance(above, dict):
        key = rng.choice(WORDS + ["new"])
        if key in above:
            return None, whole
        items = [(key if k == path[-1] else k, v) for k, v in above.items()]
        above.clear()
        above.update(items)
        return {"op": op, "path": written(path), "value": key}, whole
    if op == "set" and json.dumps(it) != json.dumps(new):
        above[path[-1]] = new
        return {"op": op, "path": written(path), "value": new}, whole
    return None, whole


def same(a, b):
    return json.dumps(a) == json.dumps(b)


def kept(before, after):
    """The bytes that differ are one stretch of each, or few: how many lines of before are not in after."""
    lines = difflib.SequenceMatcher(None, before.splitlines(True), after.splitlines(True), autojunk=False)
    return sum(b - a for tag, a, b, _, _ in lines.get_opcodes() if tag in ("delete", "replace"))


class Runner:
    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def run(runner, kind, rng):
    """One file, up to four changes in one call. Returns (changes made, refusals)."""
    printer = FORMATS[kind](rng)
    text = printer.make()
    whole = printer.read(text)
    changes = []
    for _ in range(rng.randrange(1, 5)):
        change, after = a_change(rng, whole, getattr(printer, "value", value))
        if change:
            changes.append(change)
            whole = after
    if not changes:
        return 0, 0
    request = {"name": printer.name, "text": text, "changes": changes}
    answer = runner.ask(request)
    if answer.get("code") in ("no_change", "invalid_argument") and ("already" in answer["error"] or "comment follows" in answer["error"]
                                                                    or getattr(printer, "may_refuse", lambda e: False)(answer["error"])):
        return 0, 1
    if "text" not in answer:
        raise AssertionError("refused: %s\n%s\n%s" % (answer, json.dumps(changes, ensure_ascii=False), text))
    found = printer.read(answer["text"])
    if not same(found, whole):
        raise AssertionError("another value:\n%s\n--- before\n%s\n--- after\n%s\n--- wanted\n%s\n--- found\n%s" % (
            json.dumps(changes, ensure_ascii=False), text, answer["text"], json.dumps(whole), json.dumps(found)))
    return len(changes), 0


def main(program, count=300, seed=1, *kinds):
    runner, failures = Runner(program), 0
    for kind in kinds or FORMATS:
        made = refused = turn = 0
        while made < int(count):
            turn += 1
            try:
                done, no = run(runner, kind, random.Random("%s %s %d" % (seed, kind, turn)))
            except Exception as error:
                failures += 1
                print("%s, seed %s, turn %d: %s" % (kind, seed, turn, error))
                if failures > 2:
                    return 1
                done, no = 1, 0
            made, refused = made + done, refused + no
        print("%-10s %d changes in %d files as %s reads them; %d calls refused" % (kind, made, turn, FORMATS[kind].name, refused))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
