# SPDX-License-Identifier: Apache-2.0
import os
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "script" / "lib"), str(Path(__file__).resolve().parent)]
HASP = os.environ.get("HASP", str(TOP / "build" / "hasp"))
