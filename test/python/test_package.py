# SPDX-License-Identifier: Apache-2.0
"""The wheel, its types and its declarations."""
import inspect
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import cffi
import pytest
from conftest import TOP, UNPACKED, WHEEL

sys.path.insert(0, str(TOP / "python"))
import build_native  # noqa: E402

sys.path.remove(str(TOP / "python"))


def mypy(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file"]
        + [str(TOP / "python" / "pyproject.toml"), "--cache-dir", os.devnull, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "MYPYPATH": str(TOP / "python")},
    )


def test_it_is_typed():
    done = mypy(TOP / "python" / "hasp")
    assert done.returncode == 0, done.stdout
    assert (UNPACKED / "hasp" / "py.typed").exists()


# What a program would write, and what mypy has to say to it.
WRITTEN = [
    ('reveal_type(ws.read("a", max_lines=1))', 'Revealed type is "hasp.workspace.File"'),
    ('reveal_type(ws.glob("*"))', 'Revealed type is "builtins.list[builtins.str]"'),
    ('reveal_type(ws.read_file("a")["content"])', 'Revealed type is "Union[builtins.str, None]"'),
    ('ws.read("a", max_lines="1")', '"max_lines" has incompatible type "str"'),
    ('ws.write("a")', "Too few arguments"),
    ("ws.nonsense()", 'has no attribute "nonsense"'),
    ("hasp.blocking.Workspace(trusted=True)", 'Unexpected keyword argument "trusted"'),
    ('reveal_type(agent.run("x"))', 'Revealed type is "hasp.agent.Result"'),
    ('reveal_type(agent.stats()["models"])', 'Revealed type is "Any"'),
    ("agent.steer(7)", 'incompatible type "int"; expected "str"'),
    ("hasp.blocking.Agent(modle='x')", 'Unexpected keyword argument "modle"'),
]


def test_the_blocking_twins_have_the_types_of_the_others(tmp_path):
    lines = ["import hasp, hasp.blocking", "ws = hasp.blocking.Workspace()"]
    lines += ["agent = hasp.blocking.Agent()", *(line for line, _ in WRITTEN)]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n")
    done = mypy(tmp_path / "program.py")
    for number, (line, words) in enumerate(WRITTEN, 4):
        found = [said for said in done.stdout.splitlines() if "program.py:%d:" % number in said]
        assert len(found) == 1 and words in found[0], (line, done.stdout)


@pytest.mark.parametrize("name", ["Workspace", "Agent"])
def test_the_blocking_twins_have_all_methods_of_the_others(name):
    import hasp

    def public(one):
        return {part for part in dir(one) if not part.startswith("_")}

    mine, theirs = getattr(hasp.blocking, name), getattr(hasp, name)
    assert public(theirs) - public(mine) == ({"open"} if name == "Agent" else set())
    for part in public(mine) & public(theirs) - {"session_id"}:
        ours, other = (inspect.signature(getattr(one, part)) for one in (mine, theirs))
        assert list(ours.parameters) == list(other.parameters), part


def test_libhasp_of_the_wheel_edits_a_file(tmp_path):
    """By ctypes with the library alone, and by cffi with its header."""
    import hasp

    script = (
        "import ctypes, sys\n"
        "lib = ctypes.CDLL(sys.argv[1])\n"
        "lib.hasp_version.restype = ctypes.c_char_p\n"
        "print(lib.hasp_version().decode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, hasp.libhasp], stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == hasp.__version__ + "\n"
    header = (Path(hasp.libhasp).parent / "hasp.h").read_text()
    assert header == (TOP / "include" / "hasp.h").read_text()
    ffi = cffi.FFI()
    ffi.cdef(build_native.declarations(header))
    lib = ffi.dlopen(hasp.libhasp)
    (tmp_path / "a").write_text("one\n")
    folder = ffi.new("char[]", os.fsencode(tmp_path))
    workspace = lib.hasp_workspace_open(ffi.new("const char *[]", [folder]), 1, ffi.NULL, ffi.NULL)
    file = lib.hasp_read(workspace, b"a", ffi.NULL, ffi.NULL)
    diff = b"@@\n-one\n+two\n"
    sha256 = lib.hasp_file_sha256(file)
    assert lib.hasp_patch(workspace, b"a", sha256, diff, len(diff), 0, ffi.NULL, ffi.NULL)
    lib.hasp_file_free(file)
    lib.hasp_workspace_free(workspace)
    assert (tmp_path / "a").read_text() == "two\n"


def test_the_wheel_has_the_size_that_its_guide_says():
    said = re.search(
        r"(\d+) MB, of which libhasp is (\d+) KB", (TOP / "docs/python.md").read_text()
    )
    library = os.path.getsize(UNPACKED / "hasp" / "_lib" / "libhasp.so.0")
    assert abs(os.path.getsize(WHEEL) / 1e6 - int(said[1])) < 1
    assert abs(library / 1e3 - int(said[2])) < 50


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
