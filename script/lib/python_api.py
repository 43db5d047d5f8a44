# SPDX-License-Identifier: Apache-2.0
"""Writes docs/python-api.md from the docstrings and signatures of the Python package.

    python3 script/lib/python_api.py           rewrites the page
    python3 script/lib/python_api.py --check   exits 1 if it would change

The sources are read and not imported: no wheel is needed.
"""

import ast
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PACKAGE = TOP / "python" / "hasp"
PAGE = TOP / "docs" / "python-api.md"
# Modules in the order of the page, with what of them is public: names without underscore, or these.
MODULES = {
    "workspace": None,
    "agent": None,
    "tools": ("Tool", "tool"),
    "questions": ("Hunk", "FileDiff", "Question", "Approval", "Answer"),
    "approval": None,
    "errors": ("Error",),
    "blocking": None,
}


def said(node):
    """A docstring as one paragraph a block, with its examples as code."""
    text = ast.get_docstring(node) or ""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("    "):
            lines = [line[4:] for line in block.splitlines()]
            blocks.append("```python\n%s\n```" % "\n".join(lines))
        else:
            blocks.append(" ".join(block.split()))
    return "\n\n".join(blocks)


def signature(node):
    given = ast.unparse(node.args)
    given = re.sub(r"^(self|cls)(, )?", "", given)
    given = re.sub(r"^/, ", "", given)
    back = " -> %s" % ast.unparse(node.returns) if node.returns else ""
    return "%s(%s)%s" % (node.name, given, back)


def of_class(node):
    out = ["### `%s`\n" % node.name, said(node) + "\n"]
    fields = [
        one
        for one in node.body
        if isinstance(one, ast.AnnAssign) and not one.target.id.startswith("_")
    ]
    if fields:
        out.append(
            "Fields: %s.\n"
            % ", ".join("`%s: %s`" % (one.target.id, ast.unparse(one.annotation)) for one in fields)
        )
    same = [
        one.targets[0].id
        for one in node.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
    ]
    if same:
        names = ", ".join("`%s`" % name for name in same)
        out.append("- Without `await`, and otherwise the same: %s." % names)
    for one in node.body:
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if one.decorator_list and one.name == "__init__":
            continue
        if one.name == "__init__":
            one.name = node.name
            out.insert(1, "`%s`\n" % signature(one).removesuffix(" -> None"))
        elif not one.name.startswith("_"):
            word = (
                "await "
                if isinstance(one, ast.AsyncFunctionDef)
                and "AsyncGenerator" not in ast.unparse(one.returns)
                else ""
            )
            out.append("- `%s%s`: %s" % (word, signature(one), said(one).replace("\n\n", " ")))
    return "\n".join(out).rstrip() + "\n"


def of_errors(tree):
    """The classes of single codes, as a table."""
    rows = ["| class | code | |", "| --- | --- | --- |"]
    for node in tree.body:
        code = [
            one.value.value
            for one in getattr(node, "body", [])
            if isinstance(one, ast.Assign) and one.targets[0].id == "code"
        ]
        if isinstance(node, ast.ClassDef) and node.name != "Error":
            base = ast.unparse(node.bases[0])
            rows.append(
                "| `%s`%s | %s | %s |"
                % (
                    node.name,
                    "" if base == "Error" else " (a `%s`)" % base,
                    "`%s`" % code[0] if code else "",
                    said(node).replace("\n\n", " "),
                )
            )
    return "\n".join(rows) + "\n"


def page():
    out = [
        "# The Python package: reference\n",
        "From the package's docstrings, by `script/lib/python_api.py`. "
        "[python.md](python.md) is the guide.\n",
    ]
    for module, names in MODULES.items():
        tree = ast.parse((PACKAGE / (module + ".py")).read_text(encoding="utf-8"))
        out += [
            "## hasp%s\n"
            % ("." + module if module in ("approval", "blocking", "errors") else ": " + module),
            said(tree) + "\n",
        ]
        for node in tree.body:
            name = getattr(node, "name", "_")
            if name.startswith("_") or (names and name not in names):
                continue
            if isinstance(node, ast.ClassDef):
                out.append(of_class(node))
            elif isinstance(node, ast.FunctionDef) and not any(
                ast.unparse(one) == "overload" for one in node.decorator_list
            ):
                out.append(
                    "### `%s`\n\n```python\n%s\n```\n\n%s\n" % (name, signature(node), said(node))
                )
        if module == "errors":
            out.append(of_errors(tree))
    return "\n".join(out)


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit(
                "docs/python-api.md differs from the docstrings: "
                "run python3 script/lib/python_api.py"
            )
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
