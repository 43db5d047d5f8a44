# SPDX-License-Identifier: Apache-2.0
"""libhasp as a program finds it: installed, by pkg-config, shared and static."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["HASP_BUILD"])
SOURCE = pathlib.Path(os.environ["HASP_SOURCE"])
CC = shlex.split(os.environ["HASP_CC"])
CXX = "c++"
SANITIZE = os.environ["HASP_SANITIZE"]  # what the library was built with

BASE = "one\ntwo\nthree\nfour\nfive\n"
DIFF = "@@ -40,3 +40,3 @@\n two\n-three\n+3\n four\n"
PATCHED = BASE.replace("three", "3")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    destdir = tmp_path_factory.mktemp("destdir")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", destdir,
        "--tags", "libhasp,devel")
    (pc,) = destdir.rglob("hasp.pc")
    return destdir, pc


def flags(installed, *options):
    destdir, pc = installed
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent),
                       PKG_CONFIG_SYSROOT_DIR=str(destdir))
    text = run("pkg-config", *options, "hasp", env=environment)
    return shlex.split(text)


def sanitizer():
    return [] if SANITIZE == "none" else [f"-fsanitize={SANITIZE}"]


def check_program(program, folder, **options):
    file = folder / "file.txt"
    file.write_text(BASE)
    out = run(program, "file.txt", input=DIFF, cwd=folder, **options)
    assert file.read_text() == PATCHED
    assert "hunk 1: line 2 (exact)" in out
    assert hashlib.sha256(PATCHED.encode()).hexdigest() in out


def test_the_example_works_with_the_shared_library(installed, tmp_path):
    program = tmp_path / "patch_a_file"
    run(*CC, "-Wall", "-Wextra", "-Werror", *sanitizer(), "-o", program,
        SOURCE / "example/patch_a_file.c", *flags(installed, "--cflags", "--libs"))
    needed = run("readelf", "-d", program)
    assert "libhasp.so.0" in needed
    (library,) = installed[0].rglob("libhasp.so.0")
    check_program(program, tmp_path, env=dict(os.environ, LD_LIBRARY_PATH=str(library.parent)))


def test_the_example_works_with_the_static_library_alone(installed, tmp_path):
    program = tmp_path / "patch_a_file"
    (archive,) = installed[0].rglob("libhasp.a")
    libraries = [str(archive) if flag == "-lhasp" else flag
                 for flag in flags(installed, "--static", "--libs")]
    assert str(archive) in libraries
    run(*CC, *sanitizer(), "-o", program, SOURCE / "example/patch_a_file.c",
        *flags(installed, "--cflags"), *libraries)
    assert "libhasp" not in run("readelf", "-d", program)
    assert "libcrypto" not in run("readelf", "-d", program)
    check_program(program, tmp_path)


def test_a_refused_diff_is_explained_and_changes_nothing(installed, tmp_path):
    program = tmp_path / "patch_a_file"
    (archive,) = installed[0].rglob("libhasp.a")
    run(*CC, *sanitizer(), "-o", program, SOURCE / "example/patch_a_file.c",
        *flags(installed, "--cflags"), archive, "-lpthread")
    (tmp_path / "file.txt").write_text(BASE + BASE)
    done = subprocess.run([program, "file.txt"], input=DIFF.replace("-40,3", ""), text=True,
                          cwd=tmp_path, capture_output=True)
    assert done.returncode == 1
    assert "perhaps line 2" in done.stderr and "perhaps line 7" in done.stderr
    assert (tmp_path / "file.txt").read_text() == BASE + BASE


def declared():
    header = (SOURCE / "include/hasp.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    names = re.findall(r"HASP_API[^;(]*?\b(hasp_\w+)\s*\(", header)
    assert len(names) > 40
    return sorted(names)


def test_the_shared_library_exports_the_functions_of_the_header_and_nothing_else(installed):
    (library,) = installed[0].rglob("libhasp.so.0")
    symbols = run("nm", "-D", "--defined-only", library).split("\n")
    exported = sorted(line.split()[2] for line in symbols if line.split()[1:2] != ["A"] and line)
    assert exported == [f"{name}@@HASP_0.1" for name in declared()]
    assert "libcrypto" not in run("readelf", "-d", library)


def test_the_static_library_takes_no_other_names(installed):
    (archive,) = installed[0].rglob("libhasp.a")
    symbols = [line.split() for line in run("nm", "--defined-only", archive).splitlines()]
    taken = sorted(s[2] for s in symbols if len(s) == 3 and s[1].isupper())
    if SANITIZE != "none":
        taken = [name for name in taken if name.startswith("hasp_")]
    assert taken == declared()


def test_the_header_is_alone_and_fit_for_cplusplus(installed, tmp_path):
    source = tmp_path / "use.cc"
    source.write_text(
        "#include <hasp.h>\n"
        "int main() { hasp_read_options o = HASP_READ_OPTIONS_INIT; hasp_error e;\n"
        "return hasp_read(0, \"\", &o, &e) != 0; }\n")
    run(CXX, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", source,
        *flags(installed, "--cflags"))
    alone = tmp_path / "use.c"
    alone.write_text("#include <hasp.h>\n")
    run(*CC, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", alone,
        *flags(installed, "--cflags"))


def test_the_version_is_that_of_pkg_config(installed, tmp_path):
    source = tmp_path / "version.c"
    source.write_text("#include <hasp.h>\n#include <stdio.h>\n"
                      "int main(void) { puts(hasp_version()); return 0; }\n")
    (archive,) = installed[0].rglob("libhasp.a")
    run(*CC, *sanitizer(), "-o", tmp_path / "version", source, *flags(installed, "--cflags"),
        archive, "-lpthread")
    assert run(tmp_path / "version") == "".join(flags(installed, "--modversion")) + "\n"
