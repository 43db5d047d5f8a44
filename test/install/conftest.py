# SPDX-License-Identifier: Apache-2.0
"""Extensions: `world` is a home, a project and the program in it (test/headless/); extend() puts an extension
where Gemini CLI keeps one that it installed."""
import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "test" / "headless")]

_spec = importlib.util.spec_from_file_location("headless_conftest",
                                               TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)


class World(headless.World):
    @property
    def extensions(self):
        return self.home / ".gemini" / "extensions"

    def extend(self, name="ext", files=None, at=None, origin=True, **manifest):
        """Its folder; `files`: {path in it: text, or what becomes JSON}."""
        folder = at or self.extensions / name
        files = {"gemini-extension.json": {"name": name, "version": "1.2.3", **manifest}, **(files or {})}
        if origin and not at:
            files[".gemini-extension-install.json"] = {"source": "https://example.org/%s" % name, "type": "git"}
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content if isinstance(content, str) else json.dumps(content))
        return folder

    def at_once(self, *commands):
        """Exit codes of commands that run side by side; each one is (words, standard input)."""
        with ThreadPoolExecutor(len(commands)) as pool:
            return list(pool.map(lambda command: self.command(*command[0], stdin=command[1]).code, commands))

    def enablement(self, **rules):
        self.extensions.mkdir(parents=True, exist_ok=True)
        path = self.extensions / "extension-enablement.json"
        path.write_text(json.dumps({name: {"overrides": list(all)} for name, all in rules.items()}))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)
