# SPDX-License-Identifier: Apache-2.0
"""The wheel, its types and its declarations."""
import os
import re
import subprocess
import sys
import venv

from conftest import TOP, UNPACKED, WHEEL


def test_it_is_typed():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            str(TOP / "python" / "pyproject.toml"),
            "--cache-dir",
            os.devnull,
            str(TOP / "python" / "hasp"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert (UNPACKED / "hasp" / "py.typed").exists()


def test_it_is_installed_without_a_network(tmp_path):
    venv.create(tmp_path / "v", system_site_packages=True, with_pip=True)
    python = str(tmp_path / "v" / "bin" / "python")
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-index", "--no-cache-dir", str(WHEEL)],
        check=True,
    )
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        [
            python,
            "-c",
            "import hasp; print(hasp.__version__); ws = hasp.blocking.Workspace('.'); "
            "print(ws.run('echo hi').output); ws.close()",
        ],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert re.fullmatch(r"[0-9.]+\nhi\n\n", done.stdout), done


def test_every_function_of_the_header_is_there():
    from hasp._native import lib

    names = set(
        re.findall(
            r"\b(hasp_\w+)\(",
            re.sub(r"/\*.*?\*/", "", (TOP / "include" / "hasp_agent.h").read_text(), flags=re.S),
        )
    )
    names -= {"hasp_hook", "hasp_listener", "hasp_tool_function"}
    assert len(names) > 30 and not [name for name in names if not hasattr(lib, name)]


def test_every_public_name_says_what_it_is():
    import hasp

    missing = []
    for name in hasp.__all__ + ["errors"]:
        value = getattr(hasp, name)
        for one in (
            [value, *(getattr(value, part) for part in vars(value) if not part.startswith("_"))]
            if hasattr(value, "__dict__")
            else [value]
        ):
            if (
                callable(one)
                and getattr(one, "__module__", "").startswith("hasp")
                and not one.__doc__
            ):
                missing.append("%s: %s" % (name, getattr(one, "__qualname__", one)))
    assert not missing, missing
