# SPDX-License-Identifier: Apache-2.0
"""The rows of the table of error codes in src/base/err.h, for tests."""

import re


def rows(header):
    """(name, class, advice) of each row of ERR_TABLE."""
    table = header[header.index("#define ERR_TABLE(X)"):header.index("enum err_code")]
    table = table.replace("\\\n", " ")
    row = r'X\(\s*(\w+),\s*"(\w+)",\s*(\w+),((?:\s*"(?:\\.|[^"\\])*")+)\s*\)'
    for match in re.finditer(row, table):
        advice = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match.group(4)))
        yield match.group(2), match.group(3).lower(), advice
