#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the Python side of run_python as the string that private.h declares: embed_driver.py FILE."""
import json
import sys
from pathlib import Path

# ASCII, so that a JSON string is a C string.
lines = Path(sys.argv[1]).read_bytes().decode("ascii").splitlines(keepends=True)
print('#include "tool/builtin/private.h"\n\nconst char python_driver[] =')
print("\n".join("\t" + json.dumps(line) for line in lines) + ";")
