# SPDX-License-Identifier: Apache-2.0
"""Calls `hasp tool NAME` as any script would: JSON in, JSON out, one process a call."""

import json
import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HASP = os.environ.get("HASP", str(TOP / "build" / "hasp"))


class ToolError(Exception):
    """The program itself failed: a usage error, or no JSON."""


class Hasp:
    def __init__(self, root, durability="rename"):
        self.prefix = [HASP, "tool"]
        self.options = ["--json", "--root", str(root), "--durability", durability]
        self.calls = 0

    def call(self, name, **arguments):
        self.calls += 1
        done = subprocess.run([*self.prefix, name, "-", *self.options],
                              input=json.dumps(arguments).encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode not in (0, 1):
            raise ToolError("hasp tool %s ended with %d: %s" % (
                name, done.returncode, done.stderr.decode(errors="replace").strip()))
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            raise ToolError("hasp tool %s printed no JSON: %s" % (name, error)) from error
