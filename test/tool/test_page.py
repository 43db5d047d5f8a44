# SPDX-License-Identifier: Apache-2.0
"""docs/tools.md says of each tool what its schemas say, and explains each error code."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP") or str(TOP / "build" / "hasp")
sys.path.insert(0, str(TOP / "script" / "lib"))
import error_table  # noqa: E402


def page():
    return (TOP / "docs" / "tools.md").read_text(encoding="utf-8")


def tools():
    done = subprocess.run([HASP, "tool", "--list", "--json"], stdout=subprocess.PIPE, check=True,
                          cwd=TOP)
    return json.loads(done.stdout)


def sections(text):
    """{heading: text beneath it} of the headings of the second level."""
    parts = re.split(r"(?m)^## (.*)$", text)
    return dict(zip(parts[1::2], parts[2::2]))


def rows(text, first_cell):
    """The cells of the table whose header begins with `first_cell`."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("| %s |" % first_cell)]
    assert len(starts) == 1, "one table of %ss" % first_cell
    found = []
    for line in lines[starts[0] + 2:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


def described(schema):
    required = schema.get("required", [])
    return [(name, member["type"], name in required)
            for name, member in schema["properties"].items()]


TOOLS = tools()


def ids(tool):
    return tool["name"]


def test_there_is_a_section_for_each_tool_in_the_order_of_the_list():
    headings = [heading for heading in sections(page()) if re.fullmatch(r"[a-z_]+", heading)]
    assert headings == [tool["name"] for tool in TOOLS]


@pytest.mark.parametrize("tool", TOOLS, ids=ids)
def test_the_parameters_are_those_of_the_schema(tool):
    table = rows(sections(page())[tool["name"]], "parameter")
    assert [(codes(name)[0], kind, default == "required")
            for name, kind, default, _ in table] == described(tool["arguments_schema"])


def test_changes_are_those_of_several_files():
    """Policies, hooks, questions and checkpoints take `changes` for the edits of apply_changes, each with its path."""
    assert [tool["name"] for tool in TOOLS if "changes" in tool["arguments_schema"]["properties"]] == ["apply_changes"]


def test_the_parameters_that_are_not_declared():
    table = rows(sections(page())["What is declared to a model"], "tool")
    assert [(codes(tool)[0], codes(names)) for tool, names in table] == \
        [(tool["name"], tool["undeclared"]) for tool in TOOLS if tool["undeclared"]]


@pytest.mark.parametrize("tool", TOOLS, ids=ids)
def test_other_names_of_the_tool_are_told(tool):
    names = {codes(name)[0]: codes(others) for name, others in rows(sections(page())["Other names"], "canonical")}
    assert names.get(tool["name"], []) == tool["aliases"]


@pytest.mark.parametrize("tool", TOOLS, ids=ids)
def test_defaults_in_the_table_are_those_that_the_model_is_told(tool):
    for name, kind, default, _ in rows(sections(page())[tool["name"]], "parameter"):
        text = tool["arguments_schema"]["properties"][codes(name)[0]].get("description", "")
        stated = re.search(r"Default (?:is )?(\d+|true|false)\.", text)
        if stated and kind in ("integer", "boolean"):
            assert default == stated[1], name


@pytest.mark.parametrize("tool", TOOLS, ids=ids)
def test_there_is_an_example_of_the_tool(tool):
    text = sections(page())[tool["name"]]
    assert re.search(r"(?m)^\$ .*hasp tool %s " % tool["name"], text.split("```console")[1])


def test_the_kinds_of_changes_are_those_of_the_schema():
    apply_changes = next(tool for tool in TOOLS if tool["name"] == "apply_changes")
    kinds = apply_changes["arguments_schema"]["properties"]["changes"]["items"]["oneOf"]
    wanted = []
    for kind in kinds:
        names = [name for name in kind["properties"] if name not in ("kind", "file_path")]
        wanted.append((kind["properties"]["kind"]["const"],
                       [name for name in names if name in kind["required"]],
                       [name for name in names if name not in kind["required"]]))
    table = rows(sections(page())["apply_changes"], "kind")
    assert [(codes(kind)[0], codes(required), codes(optional))
            for kind, required, optional in table] == wanted


def test_the_names_in_the_results_are_those_of_the_schemas():
    """What is set in code in a paragraph about results is a name that a result can have."""
    for tool in TOOLS:
        known = set(re.findall(r"\w+", json.dumps([tool["result_schema"],
                                                   tool["arguments_schema"]])))
        text = sections(page())[tool["name"]]
        for paragraph in re.findall(r"(?ms)^The result .*?\n\n", text):
            for name in codes(paragraph):
                if re.fullmatch(r"[a-z]+(_[a-z]+)+", name) and name not in TOOL_AND_CODE_NAMES:
                    assert name in known, "%s: %s" % (tool["name"], name)


TOOL_AND_CODE_NAMES = {tool["name"] for tool in TOOLS} | {
    name for name, _, _ in error_table.rows((TOP / "src" / "base" / "err.h").read_text())}


def test_every_error_code_has_its_class_and_meaning():
    rows_of_code = error_table.rows((TOP / "src" / "base" / "err.h").read_text())
    wanted = [(name, kind) for name, kind, _ in rows_of_code if name != "none"]
    assert [(codes(cell)[0], kind)
            for cell, kind, _ in rows(sections(page())["Errors"], "code")] == wanted


def test_the_protocol_is_told_in_five_points():
    assert len(re.findall(r"(?m)^\d\. ", sections(page())["The protocol"])) == 5
