# SPDX-License-Identifier: Apache-2.0
"""script/build python: the wheel of python/, in build/python/, with libraries and program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


def strip(source, target):
    subprocess.run(["strip", "--strip-unneeded", "-o", target, source], check=True)
    target.chmod(0o755)


def main(build, stamp=None):
    work = build / "python" / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(
        TOP / "python",
        work,
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "build", "*.egg-info"),
    )
    inside = work / "hasp" / "_lib"
    inside.mkdir()
    for folder, library in (("agent", "libhasp-agent.so.0"), ("engine", "libhasp.so.0")):
        strip(build / "src/api" / folder / library, inside / library)
    strip(build / "hasp", inside / "hasp")
    shutil.copy(TOP / "include" / "hasp.h", inside)
    link = build / "python" / "link"
    link.mkdir(exist_ok=True)
    if not (link / "libhasp-agent.so").is_symlink():
        (link / "libhasp-agent.so").symlink_to(build / "src/api/agent/libhasp-agent.so.0")
    for old in (build / "python").glob("*.whl"):
        old.unlink()
    environment = dict(
        os.environ,
        HASP_INCLUDE=str(TOP / "include"),
        HASP_LIBRARIES=str(link),
        SOURCE_DATE_EPOCH="315532800",
    )
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", str(build / "python")],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        return done.returncode
    if stamp:
        stamp.touch()
    else:
        print(os.path.relpath(next((build / "python").glob("*.whl"))))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *map(Path, sys.argv[2:])))
