# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/settings.md from what `hasp config schema` and `hasp config authority` say, and from
where the sources ask for a setting.

    python3 script/lib/settings_table.py           rewrites the tables
    python3 script/lib/settings_table.py --check   exits 1 if they would change

The program is $HASP, else build/hasp.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "settings.md"
MARKS = {name: ("<!-- %s: begin -->\n" % name, "<!-- %s: end -->" % name)
         for name in ("settings", "variables", "files", "editors", "pages", "callers")}
GROUPS = ["hasp", "model", "context", "tools", "mcp", "security", "hooks", "general", "output",
          "advanced"]  # in this order; then the others
MERGED = {"concat": "Lists are joined.", "union": "Lists are merged.",
          "shallow": "Members of the same name are replaced.",
          "intersect": "Only what all files name counts."}
PROJECT = {"trusted": "yes", "content": "after `hasp hooks trust`", "ask": "when allowed",
           "plain": "a plain name; else when allowed", "inside": "paths inside it; else when allowed",
           "text names": "names of Markdown and text files; else when allowed", "never": "no",
           "only true": "only `true`", "only false": "only `false`", "remote": "no",
           "lacking": "where you have none; else when allowed",
           "any file": "yes; an untrusted one too",
           "process": "never"}


# Groups are handed over as objects: policy/policy.c, hooks/.
WHOLE = ["tools.core", "tools.exclude", "tools.confirmationRequired", "tools.allowed",
         "mcp.allowed", "mcp.excluded", "hooks.*"]


# Without effect although the sources spell them: prepare.c warns of them.
WARNED = {"tools.sandbox", "security.toolSandboxing", "security.enableConseca"}


def program():
    return os.environ.get("HASP") or str(TOP / "build" / "hasp")


def leaves(schema, path=()):
    """(path, schema) of each setting, in the schema's order."""
    for name, below in schema["properties"].items():
        if "properties" in below:
            yield from leaves(below, (*path, name))
        else:
            yield ".".join((*path, name)), below
    if "additionalProperties" in schema:
        yield ".".join((*path, "*")), schema["additionalProperties"]


def joined(expression, macros):
    """The text of 'MACRO "literal"' and the like; None: not known."""
    parts = re.findall(r'"([^"]*)"|(\w+)', expression)
    texts = [macros.get(word) if word else literal for literal, word in parts]
    return None if None in texts else "".join(texts)


def readers():
    """(whether it is the argument of a settings_... call, text, file) of each string in the sources, macros put in."""
    for source in sorted((TOP / "src").rglob("*.c")):
        if source.parent.name == "config" and source.name not in ("settings.c", "servers.c", "extensions.c"):
            continue
        text = source.read_text(encoding="utf-8")
        macros = dict(re.findall(r'^#define (\w+) "([^"]*)"$', text, re.M))
        for match in re.finditer(r'(\bsettings_(?:get|string|bool|integer|number|of_scope)\([^;"{}]*?,\s*)?'
                                 r'((?:\b[A-Z_]+\s*)?"[\w.]+"|\b[A-Z_]+\b)', text):
            path = joined(match[2], macros)
            if path:
                yield bool(match[1]), path, source.relative_to(TOP)


def asked_for():
    """What the sources ask for: the paths that they spell out, and members of groups that they take whole."""
    return {*WHOLE, *(path for _, path, _ in readers())} - WARNED


def unknown(paths):
    """Complaints about what is asked for and is no setting, nor a group of some."""
    known = {*paths, *(path.rsplit(".", i)[0] for path in paths for i in range(1, 4))}
    return sorted("%s asks for the setting %s, which has no row" % (file, path)
                  for call, path, file in readers() if call and path not in known)


LITERALS = {"true": True, "false": False, "NULL": None}


def fallbacks():
    """(path, what the source takes where nothing is set, file) of each read of one setting, but for named constants."""
    for source in sorted((TOP / "src").rglob("*.c")):
        text = source.read_text(encoding="utf-8")
        macros = dict(re.findall(r'^#define (\w+) "([^"]*)"$', text, re.M))
        for match in re.finditer(r'\bsettings_(?:string|bool|integer|number)\([^;"{}]*?,\s*((?:\b[A-Z_]+\s*)?"[\w.]+"|\b[A-Z_]+\b),'
                                 r'\s*([^;{}()]+?)\)', text):
            path = joined(match[1], macros)
            if path and not re.fullmatch(r"[A-Z][A-Z_0-9]+", match[2]) or match[2] == "NULL":
                yield path, match[2], source.relative_to(TOP)


def contradictions(settings):
    """Complaints about reads whose own default is not the table's, which comes first: theirs never counts."""
    defaults = {path: leaf["default"] for path, leaf in settings if "default" in leaf}
    for path, fallback, file in fallbacks():
        if path not in defaults:
            continue
        try:
            own = LITERALS[fallback] if fallback in LITERALS else json.loads(fallback)
        except ValueError:
            own = "%s, which is decided there" % fallback
        if own != defaults[path] and own is not None:
            yield "%s takes %s for %s where it is not set, but its row says %s" % (
                file, own, path, json.dumps(defaults[path]))


def values(leaf):
    if "enum" in leaf:
        return ", ".join(f"`{word}`" for word in leaf["enum"])
    kinds = leaf["type"] if isinstance(leaf["type"], list) else [leaf["type"]]
    if "array" in kinds and "items" in leaf:
        kinds = ["strings" if kind == "array" else kind for kind in kinds]
    return " or ".join(kinds)


def row(path, leaf):
    default = f"`{json.dumps(leaf['default'])}`" if "default" in leaf else ""
    extra = leaf["x-hasp"]
    words = [leaf["description"], MERGED.get(extra["merge"])]
    text = " ".join(word for word in words if word).replace("|", "\\|")
    project = PROJECT[extra["project"]]
    return f"| `{path}` | {values(leaf)} | {default} | {text} | {project} |"


def order(path):
    group = path.split(".")[0]
    return GROUPS.index(group) if group in GROUPS else len(GROUPS)


def said(*words):
    run = subprocess.run([program(), "config", *words], check=True, capture_output=True)
    return json.loads(run.stdout)


def render_settings():
    """A table of the settings that hasp uses, then the names of the others."""
    schema = said("schema")
    spelled = asked_for()
    lines = ["| key | values | default | what it says | from a project |", "|---|---|---|---|---|"]
    unused, used, hooks = {}, set(), []
    for path, leaf in sorted(leaves(schema), key=lambda pair: order(pair[0])):
        group = path.split(".")[0]
        if group == "hooks":
            hooks.append((path, leaf))
        elif path in spelled or f"{group}.*" in spelled:
            used.add(group)
            lines.append(row(path, leaf))
        else:
            unused.setdefault(group, []).append(f"`{path}`")
    leaf = {**hooks[0][1], "description": "Hooks of these events: [hooks.md](hooks.md)."}
    lines.append(row("`, `".join(path for path, _ in hooks), leaf))
    lines += ["", "Without effect on hasp:", ""]
    lines += ["- " + ", ".join(f"`{group}.*`" for group, names in unused.items()
                               if group not in used and len(names) > 1)]
    lines += ["- " + ", ".join(names) for group, names in unused.items()
              if group in used or len(names) == 1]
    return "\n".join(lines) + "\n"


def render_authority(kind):
    """The table of what is no setting; names that decide the same, alike from a project, share a row.
    Variables that only others obey are listed beneath."""
    shared, foreign = {}, []
    for row in said("authority", "--json"):
        if row["kind"] == kind == "variable" and row["project"] == "never":
            foreign.append(f"`{row['name']}`")
        elif row["kind"] == kind:
            text = row["help"] + (f" Flag `{row['flag']}`." if row["flag"] else "")
            shared.setdefault((text, PROJECT[row["project"]]), []).append(f"`{row['name']}`")
    lines = [f"| {kind} | what it decides | from a project |", "|---|---|---|"]
    lines += [f"| {', '.join(names)} | {text} | {project} |" for (text, project), names in shared.items()]
    if foreign:
        lines += ["", "Ignored in a project's `.env`, because other programs obey them: " + ", ".join(foreign) + "."]
    return "\n".join(lines) + "\n"


def updated(page):
    for name, (begin, end) in MARKS.items():
        before, _, rest = page.partition(begin)
        table = render_settings() if name == "settings" else render_authority(name[:-1])
        page = before + begin + table + end + rest.partition(end)[2]
    return page


def main():
    page = PAGE.read_text(encoding="utf-8")
    new = updated(page)
    settings = list(leaves(said("schema")))
    complaints = unknown([path for path, _ in settings]) + list(contradictions(settings))
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        return 1
    if "--check" in sys.argv:
        if new != page:
            print("docs/settings.md is stale: run script/lib/settings_table.py", file=sys.stderr)
        return 0 if new == page else 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
