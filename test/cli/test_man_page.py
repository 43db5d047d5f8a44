# SPDX-License-Identifier: Apache-2.0
"""hasp(1) is clean, complete and the one that the build installs."""
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import HASP


@pytest.fixture
def page(ws, tmp_path):
    done = ws.run("--man-page")
    assert done.code == 0
    path = tmp_path / "hasp.1"
    path.write_bytes(done.out)
    return path


def text_of(page):
    shown = subprocess.run(["mandoc", "-T", "ascii", str(page)], capture_output=True, check=True)
    return subprocess.run(["col", "-b"], input=shown.stdout, capture_output=True,
                          check=True).stdout.decode()


def test_mandoc_has_nothing_to_complain_about(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)],
                          capture_output=True, check=False)
    assert (done.stdout + done.stderr).decode() == ""


def test_groff_has_nothing_to_complain_about(page):
    done = subprocess.run(["groff", "-mdoc", "-ww", "-z", "-T", "utf8", str(page)],
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_it_has_the_customary_sections(page):
    text = text_of(page)
    for name in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "TOOLS", "ENVIRONMENT", "FILES",
                 "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        assert "\n" + name + "\n" in text


def test_it_names_every_flag_that_help_names(page, ws):
    text = text_of(page)
    for line in ws.run("tool", "--help").out.decode().splitlines():
        for word in line[:24].split():
            if word.startswith("-"):
                assert word.rstrip(",") in text


def test_it_names_every_tool(page, ws):
    text = text_of(page)
    for tool in ws.run("tool", "--list", "--json").json:
        assert tool["name"] in text


def test_the_build_makes_it_beside_the_program(page):
    built = Path(os.path.dirname(HASP)) / "hasp.1"
    assert built.read_bytes() == page.read_bytes()


def test_exit_codes_are_those_of_the_document(ws):
    """hasp(1) prints the one table of them; docs/agent-command.md has the same rows."""
    page = ws.run("--man-page").out.decode()
    section = page[page.index("Of the agent:"):page.index(".Sh EXAMPLES")]
    assert section.index("Of the commands:") > section.index(".It 130")
    rows = re.findall(r"^\.It (\d+)\n(.*?)(?=^\.It|^\.El)", section, re.M | re.S)
    table = (Path(__file__).resolve().parents[2] / "docs/agent-command.md").read_text()
    documented = re.findall(r"^\| (\d+) \| (.*?) \|", table[table.index("## Exit codes"):], re.M)
    assert [(code, " ".join(text.split())) for code, text in rows] == documented
