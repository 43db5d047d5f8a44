#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the default policies as the table that load.c includes: embed.py FILE.toml..."""
import json
import sys
from pathlib import Path

print("static const struct default_text default_texts[] = {")
for path in map(Path, sys.argv[1:]):
    # ASCII, so that a JSON string is a C string.
    lines = path.read_bytes().decode("ascii").splitlines(keepends=True)
    print('\t{ "%s",\n%s },' % (path.stem, "\n".join("\t  " + json.dumps(line) for line in lines)))
print("\t{ 0, 0 },\n};")
