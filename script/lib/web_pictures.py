# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/web.md in Chromium: docs/web-*.png.  The page is the real one, its server is played
(test/web/page/played.mjs)."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib")]
import npm_peers  # noqa: E402
import web_page  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        web_page.build(folder)
        subprocess.run([npm_peers.node(), str(TOP / "test/web/page/pictures.mjs"), str(npm_peers.folder("browser")), folder,
                        str(TOP / "docs")], check=True, timeout=120)


if __name__ == "__main__":
    main()
