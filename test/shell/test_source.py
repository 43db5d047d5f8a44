# SPDX-License-Identifier: Apache-2.0
"""Where the grammar comes from: its archive's hash is checked, a copy is used without network."""

import io
import os
import pathlib
import subprocess
import tarfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "script" / "lib" / "npm_peers.py"
NAME = "tree-sitter-bash"


def fetch(cache, into, path):
    return subprocess.run(
        ["/usr/bin/python3", str(SCRIPT), "--source", NAME, str(into)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env={"XDG_CACHE_HOME": str(cache), "PATH": "%s:/usr/bin:/bin" % path, "HOME": str(cache)})


def false_npm(folder, text):
    """An npm that gives an archive with `text` for the parser."""
    archive = folder / "false.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("parser.c", "scanner.c"):
            info = tarfile.TarInfo("package/src/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    npm = folder / "npm"
    npm.write_text("#!/bin/sh\ncp %s ./x.tgz\n" % archive)
    npm.chmod(0o755)


def test_another_archive_is_refused(tmp_path):
    """What npm gives is compared with the hash in the repository, before anything is unpacked."""
    false_npm(tmp_path, b"int evil;\n")
    done = fetch(tmp_path / "cache", tmp_path / "out", tmp_path)
    assert done.returncode == 1
    assert "is not the one that is expected" in done.stderr
    assert not (tmp_path / "out").exists()
    assert list((tmp_path / "cache" / "hasp-npm").glob("*/src/parser.c")) == []


def test_a_copy_needs_no_npm(tmp_path):
    """Once it is there, building again fetches nothing."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    done = fetch(cache, tmp_path / "out", tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "src" / "parser.c").read_text()
    assert "#define LANGUAGE_VERSION 14" in text[:4000]
    assert (tmp_path / "out" / "LICENSE").is_file()
