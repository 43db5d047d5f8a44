# SPDX-License-Identifier: Apache-2.0
"""`hasp serve mcp` over HTTP, for the tests of this folder.

    with served.http(workspace, environment) as port:
        ...
"""

import contextlib
import os
import re
import selectors
import subprocess
import time

from conftest import HASP

TOKEN = "a-token-of-the-tests-0123456789"
START_SECONDS = 60  # with sanitizers, on a busy machine


def _address(process):
    """The port in the line that tells where it serves."""
    said, end = b"", time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.select(max(0, end - time.monotonic())):
            more = os.read(process.stderr.fileno(), 65536)
            said += more
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/mcp\b", said)
            if found:
                return int(found.group(1))
            if not more:
                break
    process.kill()
    process.wait()
    raise AssertionError("hasp serve mcp --http 0 did not say where it is: %r" % said)


@contextlib.contextmanager
def http(folder, environment=None, arguments=()):
    """Serves `folder` with the token TOKEN; ends it and asks for a clean exit."""
    env = {**(os.environ if environment is None else environment), "HASP_MCP_TOKEN": TOKEN}
    process = subprocess.Popen([HASP, "serve", "mcp", "--http", "0", *arguments], cwd=folder,
                               env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    try:
        yield _address(process)
        assert process.poll() is None, "hasp died: %s" % process.stderr.read()
    finally:
        process.terminate()
        try:
            _, rest = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            _, rest = process.communicate()
            raise AssertionError("hasp did not end at SIGTERM") from None
    assert process.returncode == 143, rest.decode(errors="replace")
