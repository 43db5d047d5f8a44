# SPDX-License-Identifier: Apache-2.0
"""The command lines of docs/providers.md do what they say, as far as this machine has the programs.

The page names hosts, containers and folders that are not here; these are put in their place, and
nothing else is changed.  podman stands in for docker, whose command line it has."""
import json
import os
import re
import shlex
import shutil
import subprocess

import pytest
from places import HASP, SECONDS, TOP, place

PAGE = (TOP / "docs" / "providers.md").read_text()
LINES = [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```", PAGE)
         for line in block.splitlines()]
HELLO = [{"id": 1, "method": "initialize", "params": {
             "protocolVersion": "2025-11-25", "capabilities": {},
             "clientInfo": {"name": "test", "version": "1"}}},
         {"method": "notifications/initialized"},
         {"id": 2, "method": "tools/call", "params": {
             "name": "read_file", "arguments": {"file_path": "README.md"}}}]


def about(*words):
    return [line for line in LINES if all(word in line for word in words)]


def prepare(there):
    (there.here / "README.md").write_text("read me\n")
    (there.here / "Makefile").write_text("test:\n\t@cat README.md\n")


def programs(folder, **commands):
    """A PATH on which hasp is, and each name is a program with its options."""
    folder.mkdir()
    (folder / "hasp").symlink_to(HASP)
    for name, (program, *options) in commands.items():
        words = shlex.join([shutil.which(program), *options])  # not these files themselves
        (folder / name).write_text("#!/bin/sh\nexec %s \"$@\"\n" % words)
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": "%s:%s" % (folder, os.environ["PATH"])}


def run(line, env, folder):
    """Runs a line as a shell does; the text it got of README.md."""
    stdin = "".join(json.dumps({"jsonrpc": "2.0", **m}) + "\n" for m in HELLO)
    done = subprocess.run(["sh", "-c", line], input=stdin if "serve mcp" in line else "",
                          env=env, cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    assert done.returncode == 0, done.stderr
    if "serve mcp" in line:
        answers = [json.loads(text) for text in done.stdout.splitlines()]
        (answer,) = [a for a in answers if a.get("id") == 2]
        return answer["result"]["structuredContent"]["content"]
    return json.loads(done.stdout)["content"] if "hasp tool" in line else done.stdout


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with place("ssh", tmp_path_factory.mktemp("page") / "ssh") as made:
        prepare(made)
        yield made


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    with place("podman", tmp_path_factory.mktemp("page") / "podman") as made:
        prepare(made)
        yield made


@pytest.mark.parametrize("line", about('"ssh me@host'))
def test_ssh(host, tmp_path, line):
    env = programs(tmp_path / "bin", ssh=host.client)
    line = line.replace("me@host", "there").replace("/home/me/project", host.root)
    assert run(line, env, tmp_path) == "read me\n"


@pytest.mark.parametrize("line", about("exec -i mycontainer"))
def test_a_container_that_runs(container, tmp_path, line):
    env = programs(tmp_path / "bin", docker=container.client, podman=container.client)
    assert run(line.replace("mycontainer", container.container), env, tmp_path) == "read me\n"


@pytest.mark.parametrize("line", about('"bwrap'))
def test_a_container_for_a_session(tmp_path, line):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "README.md").write_text("read me\n")
    line = line.replace("/home/me/project", str(tmp_path / "project"))
    line = line.replace("/usr/local/bin/hasp", HASP)
    assert run(line, programs(tmp_path / "bin"), tmp_path) == "read me\n"


def test_kubectl_gets_its_words(tmp_path):
    """There is no cluster here: what is tested is how the line is cut into words."""
    (line,) = about("kubectl")
    env = programs(tmp_path / "bin", kubectl=["sh", "-c", 'printf "<%s>" "$@" >&2; exit 1', "-"])
    done = subprocess.run(["sh", "-c", line], env=env, cwd=tmp_path, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    assert "<exec><-i><mypod><--><hasp><worker>" in done.stderr


def test_the_profile_for_macos_is_printed_by_the_line_on_the_page(tmp_path):
    (line,) = about("--seatbelt")
    (tmp_path / "project").mkdir()
    env = {**programs(tmp_path / "bin"), "HOME": str(tmp_path)}
    subprocess.run(["sh", "-c", line], env=env, cwd=tmp_path, check=True, timeout=SECONDS)
    assert (tmp_path / "project.sb").read_text().startswith("(version 1)")


def test_the_script_for_modal_is_python():
    compile((TOP / "example" / "modal-worker").read_text(), "modal-worker", "exec")


def test_every_line_is_about_something_that_is_tested():
    tested = about('"ssh me@host') + about("exec -i mycontainer") + about('"bwrap') + \
        about("kubectl") + about("--seatbelt")
    others = [line for line in LINES if line not in tested]
    assert [line for line in others if "docker run" not in line and "modal" not in line and
            "sandbox-exec" not in line] == []
