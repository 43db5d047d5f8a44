# SPDX-License-Identifier: Apache-2.0
"""The real program with a home, a project and files of the system of their own."""
import json
import os
import subprocess

import pytest


class Place:
    def __init__(self, folder):
        self.home, self.work, self.system = folder / "home", folder / "work", folder / "etc"
        for made in (self.home / ".gemini", self.work / ".gemini", self.system):
            made.mkdir(parents=True)
        self.files = {
            "user": self.home / ".gemini/settings.json",
            "project": self.work / ".gemini/settings.json",
            "system": self.system / "settings.json",
            "system-defaults": self.system / "system-defaults.json",
        }
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8",
                    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(self.files["system"])}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def write(self, scope, value):
        text = value if isinstance(value, str) else json.dumps(value)
        self.files[scope].write_text(text)

    def trust(self):
        self.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"

    def run(self, *words, code=0):
        run = subprocess.run([os.environ["HASP"], "config", *words], env=self.env, cwd=self.work,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        assert run.returncode == code, (run.returncode, run.stderr)
        self.said = run.stderr.decode()
        return run.stdout.decode()

    def get(self, key):
        """The value in force; None: not set."""
        return self.values().get(key)

    def values(self):
        return json.loads(self.run("show", "--all", "--json"))

    def origins(self):
        return {row["key"]: row for row in json.loads(self.run("show", "--origin", "--json"))}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
