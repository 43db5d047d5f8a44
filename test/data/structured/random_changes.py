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
        if self.rng.random() < .1:
            shape = self.padded(shape)
        end = self.rng.choice(["\n", "", "\r\n"])
        text = self.put(shape, 0)
        return (text.replace("\n", "\r\n") if end == "\r\n" else text) + end

    def padded(self, shape):
        more, first = filler(self.rng), self.rng.random() < .5
        if isinstance(shape, dict):
            return {"more": more, **shape} if first else {**shape, "more": more}
        return [more] + shape if first else shape + [more]

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


def filler(rng):
    """More values than a change's tree keeps where it has nothing to do."""
    return rng.choice([[[i, {"a": i}] for i in range(700)], list(range(3000)), {"k%d" % i: {"n": [i]} for i in range(900)}])


class Lines:
    name = "a.jsonl"

    def __init__(self, rng):
        self.rng = rng

    def make(self):
        values = [value(self.rng) for _ in range(self.rng.randrange(1, 6))] + ([filler(self.rng)] if self.rng.random() < .2 else [])
        self.rng.shuffle(values)
        return "\n".join(json.dumps(it, ensure_ascii=False) for it in values) + self.rng.choice(["", "\n"])

    @staticmethod
    def read(text):
        return [json.loads(line) for line in text.split("\n") if line]


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


class Csv:
    name, comma = "a.csv", ","
    COLUMNS = ["name", "price", "a b", "note"]

    def __init__(self, rng):
        self.rng = rng

    def field(self, text):
        quoted = self.rng.random() < .2 or any(c in text for c in self.comma + '"\n') or text != text.strip() or not text
        return '"%s"' % text.replace('"', '""') if quoted else text

    def make(self):
        rows = [self.COLUMNS] + [[self.value(self.rng) for _ in self.COLUMNS] for _ in range(4)]
        end = self.rng.choice(["\n", "\r\n"])
        return end.join(self.comma.join(map(self.field, row)) for row in rows) + self.rng.choice(["", end])

    @staticmethod
    def value(rng):
        return rng.choice([t for t in TEXTS])

    @classmethod
    def change(cls, rng, whole):
        i, column = rng.randrange(len(whole)) if whole else 0, rng.choice(cls.COLUMNS)
        op = rng.choice(["set", "delete", "append", "insert"])
        row = {name: cls.value(rng) for name in cls.COLUMNS}
        whole = copy.deepcopy(whole)
        if op in ("append", "insert") or not whole:
            whole.insert(len(whole) if op != "insert" else i, row)
            return ({"op": "insert", "path": ".[%d]" % i, "value": row} if op == "insert" else
                    {"op": "append", "path": ".", "value": row}), whole
        if op == "delete":
            del whole[i]
            return {"op": op, "path": ".[%d]" % i}, whole
        if whole[i][column] == row[column]:
            return None, whole
        whole[i][column] = row[column]
        return {"op": op, "path": written((i, column)), "value": row[column]}, whole

    @classmethod
    def read(cls, text):
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=cls.comma))


class Tsv(Csv):
    name, comma = "a.tsv", "\t"


class Ini:
    name = "a.ini"
    KEYS = ["name", "a.b", "long key", "x-y", "Case"]

    def __init__(self, rng):
        self.rng, self.mark = rng, rng.choice([" = ", "=", ": "])

    def make(self):
        lines = []
        for section in self.rng.sample(["one", "two.x", "three four", "DEF"], 3):
            lines += [self.rng.choice(["", "; about"]), "[%s]" % section]
            for key in self.rng.sample(self.KEYS, 3):
                lines += [key + self.mark + self.value(self.rng)] + self.rng.choice([[], ["# next"], ["    more"], [""]])
        return "\n".join(lines) + self.rng.choice(["", "\n"])

    @staticmethod
    def value(rng):
        return rng.choice(["1", "yes", "a: b", "x = y", "it's", "ünï", "[no]", "two\nlines", "%s"])[0:3] if rng.random() < .5 else "word"

    @classmethod
    def change(cls, rng, whole):
        section, key = rng.choice(list(whole) + ["new"]), rng.choice(cls.KEYS)
        op, new = rng.choice(["set", "set", "delete", "drop", "rename"]), rng.choice(["1", "a: b", "x # y", "two\nlines", "", "ü"])
        whole = copy.deepcopy(whole)
        if section not in whole:
            whole[section] = {key: new}
            return {"op": "set", "path": written((section,)), "value": {key: new}}, whole
        here = whole[section]
        if op == "drop" and len(whole) > 1:
            del whole[section]
            return {"op": "delete", "path": written((section,))}, whole
        if op == "rename" and key in here and "other" not in here:
            whole[section] = {("other" if k == key else k): v for k, v in here.items()}
            return {"op": op, "path": written((section, key)), "value": "other"}, whole
        if op == "delete" and key in here:
            del here[key]
            return {"op": op, "path": written((section, key))}, whole
        if op != "set" or here.get(key) == new:
            return None, whole
        here[key] = new
        return {"op": op, "path": written((section, key)), "value": new}, whole

    @staticmethod
    def read(text):
        import configparser
        parser = configparser.RawConfigParser(default_section="\0")
        parser.optionxform = str
        parser.read_string(text)
        return {section: dict(parser[section]) for section in parser.sections()}


class Properties:
    """Read by npm's dot-properties, which random_updates.py brings."""
    name, node, reader = "a.properties", None, None
    KEYS = ["name", "a.b", "long key", "x-y", "Größe", "a:b", "#no"]

    def __init__(self, rng):
        self.rng = rng

    def word(self, text, key):
        out = "".join("\\" + c if c in ("\\" + "=:#! " * key) else {"\n": "\\n", "\t": "\\t"}.get(c, c) for c in text)
        return "\\" + out if out.startswith(" ") else out

    def make(self):
        mark, lines = self.rng.choice(["=", " = ", ": ", " "]), []
        for key in self.rng.sample(self.KEYS, 4):
            text = self.word(self.value(self.rng), False)
            if self.rng.random() < .2:
                text += "\\\n    more"
            lines += [self.rng.choice(["# about", "! of it", ""]), self.word(key, True) + mark + text]
        return "\n".join(lines) + self.rng.choice(["", "\n"])

    @staticmethod
    def value(rng):
        return rng.choice([text for text in TEXTS if text and text[0] not in "=:"])

    @classmethod
    def change(cls, rng, whole):
        key, new = rng.choice(cls.KEYS), cls.value(rng)
        op = rng.choice(["set", "set", "delete", "rename"]) if key in whole else "set"
        if op == "set" and whole.get(key) == new or op == "rename" and "other" in whole:
            return None, whole
        if op == "rename":
            return {"op": op, "path": written((key,)), "value": "other"}, {("other" if k == key else k): v for k, v in whole.items()}
        after = {k: v for k, v in whole.items() if k != key or op == "set"}
        if op == "delete":
            return {"op": op, "path": written((key,))}, after
        return {"op": op, "path": written((key,)), "value": new}, {**after, key: new}

    @classmethod
    def read(cls, text):
        cls.reader = cls.reader or subprocess.Popen(cls.node, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        cls.reader.stdin.write(json.dumps(text) + "\n")
        cls.reader.stdin.flush()
        return json.loads(cls.reader.stdout.readline())


class Toml:
    name = "a.toml"
    KEYS = ["name", "ports", "x-y", "a b", "Größe"]

    def __init__(self, rng):
        self.rng = rng

    @classmethod
    def value(cls, rng, depth=0):
        it = rng.choice([rng.choice(TEXTS), rng.randrange(-5, 90000), True, 1.5, rng.choice(TEXTS)])
        if depth < 2 and rng.random() < .4:
            return [cls.value(rng, depth + 1) for _ in range(rng.randrange(4))]
        if depth < 2 and rng.random() < .2:
            return {k: cls.value(rng, 2) for k in rng.sample(cls.KEYS, rng.randrange(3))}
        return it

    def word(self, key):
        return key if key.replace("-", "").isalnum() and key.isascii() else json.dumps(key, ensure_ascii=False)

    def flat(self, it):
        if isinstance(it, dict):
            return "{ " + ", ".join(self.word(k) + " = " + self.flat(v) for k, v in it.items()) + " }" if it else "{}"
        if isinstance(it, list):
            if it and self.rng.random() < .3:
                return "[\n" + "".join("    %s, # item\n" % self.flat(v) for v in it) + "]"
            return "[" + ", ".join(map(self.flat, it)) + "]"
        return json.dumps(it, ensure_ascii=False)

    def make(self):
        lines = ["# head"]
        for key in self.rng.sample(self.KEYS, 2):
            lines.append("%s = %s%s" % (self.word(key), self.flat(self.value(self.rng)), self.rng.choice(["", "  # why"])))
        for table in self.rng.sample(["server", "tool.one", "tool.two", "[item]", "[item]", "deep.a.b"], 4):
            lines += ["", self.rng.choice(["", "# of it"]), "[%s]" % table]
            for key in self.rng.sample(self.KEYS, 2):
                lines.append("%s = %s" % (self.word(key), self.flat(self.value(self.rng))))
        return "\n".join(lines) + "\n"

    @staticmethod
    def read(text):
        import tomllib
        return tomllib.loads(text)

    @staticmethod
    def may_refuse(error):
        return any(part in error for part in ("with a header is not replaced", "Several headers", "no place for the key", "through a dotted",
                                              "array of tables"))


class Xml:
    name = "a.xml"

    def __init__(self, rng):
        self.rng = rng

    NAMES = ["item", "web", "x-y", "ns:b"]

    def element(self, name, depth):
        pad, kind = "  " * depth, self.rng.random()
        attributes = "".join(' %s="%s"' % (a, self.escaped()) for a in self.rng.sample(["id", "lang", "k"], self.rng.randrange(3)))
        if kind < .2:
            return pad + "<%s%s/>\n" % (name, attributes)
        if kind < .6 or depth > 3:
            return pad + "<%s%s>%s</%s>\n" % (name, attributes, self.escaped(), name)
        inner = "".join(self.element(self.rng.choice(self.NAMES), depth + 1) + self.rng.choice(["", "", pad + "  <!-- note -->\n"])
                        for _ in range(self.rng.randrange(1, 4)))
        return pad + "<%s%s>\n%s%s</%s>\n" % (name, attributes, inner, pad, name)

    def escaped(self):
        return self.rng.choice(["1", "a &amp; b", "x &lt; y", "ünï", "it's", "&#233;", "yes"])

    def make(self):
        return '<?xml version="1.0"?>\n' + '<root xmlns:ns="u">\n%s</root>\n' % "".join(
            self.element(self.rng.choice(self.NAMES), 1) for _ in range(3))

    @classmethod
    def value(cls, rng, depth=0):
        if depth < 2 and rng.random() < .4:
            return {k: cls.value(rng, depth + 1) if k[0] != "@" else "v" for k in rng.sample(cls.NAMES[:3] + ["@id", "#text"], 2) if k != "#text"}
        return rng.choice(["1", "a & b", "x < y > z", 'say "hi"', "ünï", None])

    @staticmethod
    def normal(it):
        if isinstance(it, str):
            return it.strip() or None
        if isinstance(it, list):
            return Xml.normal(it[0]) if len(it) == 1 else [Xml.normal(i) for i in it]
        if not isinstance(it, dict):
            return it
        out = {k: (v if k[0] == "@" else Xml.normal(v)) for k, v in it.items()}
        out = {k: v for k, v in out.items() if v != [] and not (k == "#text" and v is None)}
        return out.get("#text") if not set(out) - {"#text"} else out

    @classmethod
    def change(cls, rng, whole):
        path, it = rng.choice([p for p in places(whole) + [(("root", "none"), None)] if len(p[0]) > 1 and p[0][-1] != "@xmlns:ns"])
        op, new = rng.choice(["set", "set", "delete", "append", "add", "attribute"]), cls.value(rng)
        if path[-1] == "none":
            return None, whole
        whole = copy.deepcopy(whole)
        above = at(whole, path[:-1])
        if op == "append" and isinstance(it, list):
            it = at(whole, path)
            it.append(new)
            return {"op": op, "path": written(path), "value": new}, {"root": cls.normal(whole["root"])}
        if op in ("add", "attribute") and isinstance(it, dict):
            key = "@new" if op == "attribute" else rng.choice(cls.NAMES)
            if key in it:
                return None, whole
            at(whole, path)[key] = new = "v" if op == "attribute" else new
            return {"op": "set", "path": written(path + (key,)), "value": new}, {"root": cls.normal(whole["root"])}
        if op == "delete":
            del above[path[-1]]
            return {"op": op, "path": written(path)}, {"root": cls.normal(whole["root"])}
        if op != "set" or isinstance(it, list):
            return None, whole
        if path[-1] in ("#text",) or str(path[-1])[0] == "@":
            new = "other & <>"
        if new == it:
            return None, whole
        above[path[-1]] = new
        return {"op": op, "path": written(path), "value": new}, {"root": cls.normal(whole["root"])}

    @staticmethod
    def read(text):
        import xml.etree.ElementTree as ElementTree

        def value(element):
            out = {"@" + short(k): v for k, v in element.attrib.items()}
            for child in element:
                out.setdefault(short(child.tag), []).append(value(child))
            pieces = [element.text or ""] + [child.tail or "" for child in element]
            if "".join(pieces).strip():
                out["#text"] = "".join(pieces).strip()
            return Xml.normal(out) if out else None

        def short(tag):
            return tag.replace("{u}", "ns:")
        root = ElementTree.fromstring(text.encode())
        found = value(root)
        if 'xmlns:ns' in text:
            found = {"@xmlns:ns": "u", **found} if isinstance(found, dict) else {"@xmlns:ns": "u", **({"#text": found} if found else {})}
        return {"root": found}


FORMATS = {"json": Json, "lines": Lines, "yaml": Yaml, "toml": Toml, "xml": Xml, "csv": Csv, "tsv": Tsv, "ini": Ini, "properties": Properties}
UNORDERED = ("toml", "xml", "ini")
OURS = [kind for kind in FORMATS if kind != "properties"]  # read by Python's modules


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
    first = [()] + [(step,) for step in (whole if isinstance(whole, dict) else range(len(whole)))]
    start = rng.choice(first)
    path, it = rng.choice(places(at(whole, start), start) if start else [((), whole)])
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


def same(a, b, unordered=False):
    return json.dumps(a, sort_keys=unordered) == json.dumps(b, sort_keys=unordered)


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
        change, after = printer.change(rng, whole) if hasattr(printer, "change") else a_change(rng, whole, getattr(printer, "value", value))
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
    if not same(found, whole, kind in UNORDERED):
        raise AssertionError("another value:\n%s\n--- before\n%s\n--- after\n%s\n--- wanted\n%s\n--- found\n%s" % (
            json.dumps(changes, ensure_ascii=False), text, answer["text"], json.dumps(whole), json.dumps(found)))
    return len(changes), 0


def run_many(runner, kind, count, seed):
    """Random files until so many changes were made: (changes, files, calls refused, differences)."""
    made = refused = failures = turn = 0
    while made < count and failures < 3:
        turn += 1
        try:
            done, no = run(runner, kind, random.Random("%s %s %d" % (seed, kind, turn)))
        except Exception as error:
            failures += 1
            print("%s, seed %s, turn %d: %s" % (kind, seed, turn, error))
            done, no = 1, 0
        made, refused = made + done, refused + no
    return made, turn, refused, failures


def main(program, count=300, seed=1, *kinds):
    runner, failures = Runner(program), 0
    for kind in kinds or OURS:
        made, files, refused, wrong = run_many(runner, kind, int(count), seed)
        failures += wrong
        print("%-10s %d changes in %d files as %s reads them; %d calls refused" % (kind, made, files, FORMATS[kind].name, refused))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
