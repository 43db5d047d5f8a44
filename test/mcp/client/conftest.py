# SPDX-License-Identifier: Apache-2.0
"""hasp as a client of MCP servers: `world` is a home, a project and the program in it (test/headless/), and
`servers` in its settings are programs of this folder or npm's."""
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "test" / "headless"), str(TOP / "script" / "lib")]

import importlib.util  # noqa: E402

import fake_mcp  # noqa: E402
import pytest  # noqa: E402

_spec = importlib.util.spec_from_file_location("headless_conftest",
                                               TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)


class World(headless.World):
    def server(self, name="fake", *args, **more):
        """An entry of mcpServers: the fake server of this folder."""
        return fake_mcp.entry(*args, **more)

    def use(self, servers=None, **settings):
        self.settings(mcpServers=servers or {}, **settings)

    @property
    def cache(self):
        found = list(self.home.glob(".gemini/tmp/*/mcp-tools.json"))
        return found[0] if found else None


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def declared(request):
    """The tools of a request to the fake of Gemini's API, by name."""
    return {one["name"]: one for group in request.get("tools", [])
            for one in group.get("functionDeclarations", [])}
