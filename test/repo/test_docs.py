# SPDX-License-Identifier: Apache-2.0
"""What the documents say about the code is what the code says."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "script" / "lib"))

import error_table  # noqa: E402
import figures  # noqa: E402

HEADER = (TOP / "src" / "base" / "err.h").read_text()


def test_every_row_of_the_error_table_is_understood():
    source = '#define X(symbol, name, class, advice) "\\n" name "|" advice\n' + \
        '#include "base/err.h"\nconst char *all = ERR_TABLE(X);\n'
    done = subprocess.run(["cc", "-E", "-P", "-I", str(TOP / "src"), "-x", "c", "-"],
                          input=source, stdout=subprocess.PIPE, text=True, check=True)
    text = done.stdout[done.stdout.index("const char *all"):]
    joined = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).split("\\n")[1:]
    assert joined == ["%s|%s" % (name, advice)
                      for name, _, advice in error_table.rows(HEADER)]


def test_the_figures_in_the_readme_are_those_of_the_pages():
    readme = (TOP / "README.md").read_text()
    assert figures.updated(readme, (TOP / "docs" / "damage.md").read_text(),
                           (TOP / "docs" / "benchmarks.md").read_text()) == readme, \
        "run script/lib/figures.py"


def test_the_readme_has_the_two_commands_word_for_word():
    text = (TOP / "README.md").read_text()
    assert "\nscript/demo\n" in text and "\nscript/test\n" in text


def test_settled_and_matched_names_in_the_docs_are_those_of_the_code():
    names = re.findall(r'\{ PATCH_SETTLED_\w+, "(\w+)"', (TOP / "src" / "patch" / "settle.c").read_text())
    code = (TOP / "src" / "patch" / "patch.c").read_text()
    page = (TOP / "docs" / "edits.md").read_text()
    assert names and sorted(names) == sorted(re.findall(r"(?m)^\| `(?!settled_by)(\w+)` \| [a-z]",
                                                        page))


def test_files_that_the_documents_name_are_there():
    for page in [TOP / "README.md", TOP / "ARCHITECTURE.md", TOP / "CONTRIBUTING.md", *(TOP / "docs").glob("*.md")]:
        for name in re.findall(r"`((?:src|test|script)/[\w./-]+)`", page.read_text()):
            assert "NAME" in name or (TOP / name).exists(), (page.name, name)
