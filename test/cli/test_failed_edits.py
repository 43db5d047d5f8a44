# SPDX-License-Identifier: Apache-2.0
"""An edit that fails takes at most one and a half times the file's size of memory."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import failed_edits  # noqa: E402


def test_memory_of_a_failed_edit():
    too_much = [row for row in failed_edits.measure(16) if row[2] > 1.5]
    assert not too_much
