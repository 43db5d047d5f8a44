# SPDX-License-Identifier: Apache-2.0
"""editors/vscode: its types, its bundle, its server with clients of the official SDK, the whole in a VS Code that is
played, and the .vsix."""
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "script" / "lib")]

import npm_peers  # noqa: E402
import vsix  # noqa: E402

SECONDS = 120


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vsix")
    vsix.build(folder)
    return folder


def node(built, name, *arguments, temporary):
    temporary.mkdir(exist_ok=True)
    return subprocess.run([npm_peers.node(), str(Path(__file__).with_name(name)), str(built / "vscode"), *arguments],
                          env=npm_peers.environment(TMPDIR=str(temporary)), timeout=SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_the_server_with_clients_of_the_official_sdk(built, tmp_path):
    done = node(built, "vscode_companion.mjs", temporary=tmp_path / "tmp")
    assert done.returncode == 0 and done.stdout == b"8 tests\n", done.stdout.decode()


def test_the_whole_extension(built, tmp_path):
    done = node(built, "vscode_stub.mjs", temporary=tmp_path / "tmp")
    assert done.returncode == 0 and done.stdout.endswith(b"played\n"), done.stdout.decode()
    assert not list((tmp_path / "tmp/gemini/ide").iterdir())


@pytest.mark.parametrize("kind", ["writable", "another's", "link", "file"])
def test_the_token_is_not_put_where_others_can_write(built, tmp_path, kind):
    temporary = tmp_path / "tmp"
    folder = temporary / "gemini"
    temporary.mkdir()
    if kind == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o700)
    if kind == "writable":
        folder.chmod(0o777)
    if kind == "another's":
        assert os.getuid() == 0, "this test gives a folder to another user, which root may"
        os.chown(folder, 12345, 12345)
    done = node(built, "vscode_stub.mjs", "strangers", temporary=temporary)
    assert done.returncode == 0, done.stdout.decode()


def test_the_package_has_what_vs_code_reads(built):
    with zipfile.ZipFile(built / "hasp-companion.vsix") as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("extension/package.json"))
        assert "extension/" + manifest["main"].removeprefix("./") in names
        assert {"extension.vsixmanifest", "[Content_Types].xml", "extension/LICENSE.txt", "extension/readme.md"} <= names
        assert not any("src/" in name or "node_modules" in name for name in names)
        assert b'Id="hasp-companion"' in archive.read("extension.vsixmanifest")
        assert str(TOP).encode() not in archive.read("extension/dist/extension.js")
