# SPDX-License-Identifier: Apache-2.0
"""The A2A server: `world` is a home, a project and the program in it (test/headless/)."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from serving import headless  # noqa: E402


@pytest.fixture
def world(tmp_path):
    return headless.World(tmp_path)
