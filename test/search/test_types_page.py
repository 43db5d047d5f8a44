# SPDX-License-Identifier: Apache-2.0
"""docs/search.md lists the types that there are."""
import json
import os
import re
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search.md"


def test_the_table_of_types_is_the_table_of_the_program():
    rows = json.loads(subprocess.run([os.environ["TYPES_PROBE"]], capture_output=True, check=True).stdout)
    section = PAGE.read_text(encoding="utf-8").split("\n## Types of files\n")[1]
    table = [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")]
             for line in section.splitlines() if line.startswith("| `")]
    assert table == [[[row["name"], *row["names"]], row["globs"]] for row in rows]
