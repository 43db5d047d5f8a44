# SPDX-License-Identifier: Apache-2.0
"""libhasp-agent as a program finds it: installed, by pkg-config."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["HASP_BUILD"])
SOURCE = pathlib.Path(os.environ["HASP_SOURCE"])
CC = shlex.split(os.environ["HASP_CC"])


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    destdir = tmp_path_factory.mktemp("destdir")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", destdir,
        "--tags", "libhasp-agent,devel")
    (pc,) = destdir.rglob("hasp-agent.pc")
    return destdir, pc


def flags(installed, *options):
    destdir, pc = installed
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent),
                       PKG_CONFIG_SYSROOT_DIR=str(destdir))
    return shlex.split(run("pkg-config", *options, "hasp-agent", env=environment))


def declared():
    header = re.sub(r"/\*.*?\*/", "", (SOURCE / "include/hasp_agent.h").read_text(), flags=re.S)
    names = re.findall(r"HASP_AGENT_API[^;(]*?\b(hasp_\w+)\s*\(", header)
    assert len(names) > 12
    return sorted(names)


def test_the_library_exports_the_functions_of_the_header_and_nothing_else(installed):
    (library,) = installed[0].rglob("libhasp-agent.so.0")
    symbols = run("nm", "-D", "--defined-only", library).split("\n")
    exported = sorted(line.split()[2] for line in symbols if line.split()[1:2] != ["A"] and line)
    assert exported == [f"{name}@@HASP_AGENT_0.1" for name in declared()]
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))
    assert not [name for name in needed if not re.match(r"lib(c|m)\.so|ld-linux", name)]


def test_the_header_is_fit_for_cplusplus_and_beside_that_of_libhasp(installed, tmp_path):
    source = tmp_path / "use.cc"
    source.write_text("#include <hasp.h>\n#include <hasp_agent.h>\n"
                      "int main() { hasp_agent_options o = HASP_AGENT_OPTIONS_INIT;\n"
                      "return hasp_agent_open(&o, 0) != 0; }\n")
    run("c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", source,
        *flags(installed, "--cflags"))
    assert flags(installed, "--modversion")
