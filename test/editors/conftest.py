# SPDX-License-Identifier: Apache-2.0
"""`world` as of headless runs, for the plugins of editors/."""
import importlib.util
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("headless_world", TOP / "test" / "headless" / "conftest.py")
headless = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(headless)
sys.path[:0] = [str(Path(__file__).resolve().parent)]


@pytest.fixture
def world(tmp_path):
    return headless.World(tmp_path)
