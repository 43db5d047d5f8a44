# SPDX-License-Identifier: Apache-2.0
"""docs/search.md lists the types that there are."""
import json
import os
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search.md"


def test_the_types_are_those_of_the_program():
    rows = json.loads(subprocess.run([os.environ["TYPES_PROBE"]], capture_output=True, check=True).stdout)
    block = PAGE.read_text(encoding="utf-8").split("\n## Types of files\n")[1].split("```\n")[1]
    lines = [line.split(": ") for line in block.splitlines()]
    assert [[names.split(", "), globs.split()] for names, globs in lines] == \
        [[[row["name"], *row["names"]], row["globs"]] for row in rows]
