# SPDX-License-Identifier: Apache-2.0
"""The MCP server of mcp_client/fake_server.py for settings of every folder's tests: `entry("--log", file)`.

It is compiled once, beside the build's programs where also sandboxes read it, and started without site and what
variables say: a start takes half of the time then, and there are hundreds."""
import os
import py_compile
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SOURCE = TOP / "test" / "mcp" / "client" / "fake_server.py"


def compiled(source):
    """The bytecode of this interpreter, made anew when the source is younger."""
    build = Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve().parent
    into = build / source.relative_to(TOP).with_suffix(".%s.pyc" % sys.implementation.cache_tag)
    if not into.exists() or into.stat().st_mtime_ns <= source.stat().st_mtime_ns:
        own = "%s.%d" % (into, os.getpid())  # others may do so at once
        py_compile.compile(str(source), cfile=own, doraise=True)
        os.replace(own, into)
    return str(into)


def words(*arguments):
    return [sys.executable, "-ESs", compiled(SOURCE), *map(str, arguments)]


def entry(*arguments, **more):
    """Of mcpServers."""
    command, *args = words(*arguments)
    return {"command": command, "args": args, **more}
