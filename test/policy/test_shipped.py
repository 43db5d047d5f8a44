# SPDX-License-Identifier: Apache-2.0
"""Gemini CLI's own policies, from its package: read by hasp they decide as hasp's defaults do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "script" / "lib"))
import npm_peers  # noqa: E402

# Of another format, or for a setting that is off.
LEFT_OUT = ("sandbox-default.toml", "conseca.toml")


def test_the_shipped_policies_decide_the_same(tmp_path):
    shipped = Path(npm_peers.package("gemini", "@google/gemini-cli/bundle/policies/write.toml"))
    for path in shipped.parent.glob("*.toml"):
        if path.name not in LEFT_OUT:
            shutil.copy(path, tmp_path)
    out = subprocess.run([os.environ["COMPARE_SHIPPED"], str(tmp_path)], check=True,
                         stdout=subprocess.PIPE, timeout=300).stdout.decode().splitlines()
    assert int(out[-1]) > 200
    # The one that is meant: a plan is no file of the workspace.
    intended = {'write_file plan %s deny allow {"file_path": "plan.md", "content": ""}' % how
                for how in ("headless", "interactive")}
    assert set(out[:-1]) == intended
