#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints hasp's documents as C: embed.py FILE.md..."""
import sys
from pathlib import Path


def literal(line):
    """A C string of one line, in ASCII whatever the line has."""
    out = ""
    for byte in line.encode() + b"\n":
        if byte in b'"\\?':
            out += "\\" + chr(byte)
        else:
            out += chr(byte) if 32 <= byte < 127 else "\\n" if byte == 10 else "\\%03o" % byte
    return '\t  "%s"' % out


print('#include "catalog/private.h"\n')
print("const struct manual_page documents_rows[] = {")
for path in sorted(map(Path, sys.argv[1:])):
    lines = path.read_text(encoding="utf-8").splitlines()
    title = lines[0].lstrip("# ")
    print("\t{ %s,\n%s,\n%s },"
          % (literal(path.name)[:-3] + '"', literal(title)[:-3] + '"', "\n".join(map(literal, lines))))
print("\t{ 0, 0, 0 },\n};")
