# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/settings.md from what `hasp config schema` says and from where the sources ask for a
setting.

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
BEGIN, END = "<!-- settings: begin -->\n", "<!-- settings: end -->"
GROUPS = ["hasp", "model", "context", "tools", "mcp", "security", "hooks", "general", "output",
          "advanced"]  # in this order; then the others
MERGED = {"concat": "Files are joined.", "union": "Files are united.",
          "shallow": "Members of the same name are replaced.",
          "intersect": "What all files name counts."}
PROJECT = {"never": "Not from a project.", "only true": "From a project only true.",
           "only false": "From a project only false."}


# Groups are handed over as objects: policy/settings.c, hooks/.
WHOLE = ["tools.core", "tools.exclude", "tools.confirmationRequired", "tools.allowed",
         "mcp.allowed", "mcp.excluded", "hooks.*"]


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


def asked_for():
    """What the sources ask for: the paths that they spell out, and members of groups that they take whole."""
    spelled = set(WHOLE)
    for source in sorted((TOP / "src").rglob("*.c")):
        if source.parent.name != "config" or source.name == "settings.c":
            spelled.update(re.findall(r'"([\w.]+)"', source.read_text(encoding="utf-8")))
    return spelled


def values(leaf):
    if "enum" in leaf:
        return ", ".join(f"`{word}`" for word in leaf["enum"])
    kinds = leaf["type"] if isinstance(leaf["type"], list) else [leaf["type"]]
    if "array" in kinds and "items" in leaf:
        kinds = ["strings" if kind == "array" else kind for kind in kinds]
    return " or ".join(kinds)


def row(path, leaf, used):
    default = f"`{json.dumps(leaf['default'])}`" if "default" in leaf else ""
    extra = leaf["x-hasp"]
    words = [leaf["description"], MERGED.get(extra["merge"]),
             None if path.startswith("admin.") else PROJECT.get(extra["project"])]
    text = " ".join(word for word in words if word).replace("|", "\\|")
    return f"| `{path}` | {values(leaf)} | {default} | {text} |{' yes' if used else ''} |"


def order(path):
    group = path.split(".")[0]
    return GROUPS.index(group) if group in GROUPS else len(GROUPS)


def render():
    run = subprocess.run([program(), "config", "schema"], check=True, capture_output=True)
    schema = json.loads(run.stdout)
    spelled = asked_for()
    lines = ["| key | values | default | what it says | used |", "|---|---|---|---|---|"]
    for path, leaf in sorted(leaves(schema), key=lambda pair: order(pair[0])):
        used = path in spelled or f"{path.split('.')[0]}.*" in spelled
        lines.append(row(path, leaf, used))
    return "\n".join(lines) + "\n"


def updated(page):
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + render() + END + rest.partition(END)[2]


def main():
    page = PAGE.read_text(encoding="utf-8")
    new = updated(page)
    if "--check" in sys.argv:
        if new != page:
            print("docs/settings.md is stale: run script/lib/settings_table.py", file=sys.stderr)
        return 0 if new == page else 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
