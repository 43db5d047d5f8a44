#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/protocol-worker.md has the tables of the code.

    PRINT_PROTOCOL=build/test/worker/print_protocol test/worker/test_document.py --write
"""
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DOCUMENT = TOP / "docs" / "protocol-worker.md"
MARK = "puts them here -->\n"


def tables():
    return subprocess.run([os.environ["PRINT_PROTOCOL"]], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def parts():
    head, tail = DOCUMENT.read_text().split(MARK)
    return head + MARK, tail


def test_the_tables_are_those_of_the_code():
    assert parts()[1].strip() == tables().strip(), "run test/worker/test_document.py --write"


def test_the_numbers_in_the_text_are_those_of_the_code():
    head = parts()[0]
    header = (TOP / "src/worker/wire/wire.h").read_text() + (TOP / "src/base/limits.h").read_text()
    assert re.search(r"WIRE_GREETING_BYTES = 32\b", header) and "greeting of 32 bytes" in head
    assert re.search(r"WIRE_HEADER_BYTES = 24\b", header) and "| 24 | | the fields" in head
    assert "LIMIT_RUN_WINDOW ((size_t)512 << 10)" in header and "512 KiB of output" in head
    assert "LIMIT_RUN_INPUT_BYTES ((size_t)8 << 20)" in header and "8 MiB of input" in head
    assert "LIMIT_WIRE_BANNER ((size_t)64 << 10)" in header and "up to 64 KiB" in head
    assert "LIMIT_WIRE_CALLS 10000" in header and "10,000 requests" in head
    magic = re.search(r'WIRE_MAGIC "(.*?)"', header).group(1).encode().decode("unicode_escape")
    assert " ".join("%02x" % ord(c) for c in magic) in head


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(parts()[0] + "\n" + tables())
    else:
        sys.exit(__doc__)
