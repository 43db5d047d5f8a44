# SPDX-License-Identifier: Apache-2.0
"""The plugins as "meson install" puts them: each editor finds its own there."""
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

BUILD = Path(os.environ["HASP_BUILD"])


def run(*argv, **options):
    done = subprocess.run([str(one) for one in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=200, **options)
    assert done.returncode == 0, done.stdout.decode()
    return done.stdout.decode()


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where the prefix is beneath DESTDIR."""
    top = tmp_path_factory.mktemp("installed")
    run("ninja", "-C", BUILD, "vsix")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", top, "--tags", "editors")
    (share,) = top.rglob("share")
    return share.parent


def test_neovim_finds_the_plugin(prefix, tmp_path):
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_DATA_DIRS": str(prefix / "share")}
    said = run("nvim", "--headless", "-u", "NORC", "-i", "NONE", "+echo exists(':Hasp') luaeval('type(require(\"hasp\").setup)')", "+qa",
               env=env)
    assert said.split() == ["2", "function"], said
    # The folders of /usr and /usr/local are Neovim's own.
    found = run("nvim", "--headless", "-u", "NONE", "-i", "NONE", "+echo &packpath", "+qa", env={name: env[name] for name in ("PATH", "HOME")})
    assert "/usr/share/nvim/site" in found and "/usr/local/share/nvim/site" in found


def test_emacs_finds_the_package(prefix, tmp_path):
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    said = run("emacs", "--batch", "-L", prefix / "share/emacs/site-lisp", "--eval", "(progn (require 'hasp) (princ (commandp 'hasp)))",
               env=env)
    assert said.endswith("\nt") or said == "t", said
    assert "yes" in run("emacs", "--batch", "--eval",
                        '(princ (if (member "/usr/local/share/emacs/site-lisp" load-path) "yes" load-path))', env=env)


def test_the_extension_is_among_the_files(prefix):
    with zipfile.ZipFile(prefix / "share/hasp/editors/hasp-companion.vsix") as archive:
        assert "extension/package.json" in archive.namelist()


def test_what_is_installed_is_what_the_sources_have(prefix):
    editors = Path(__file__).resolve().parents[2] / "editors"
    plugin = prefix / "share/nvim/site/pack/hasp/start/hasp"
    for source, installed in ((editors / "nvim", plugin), (editors / "emacs", prefix / "share/emacs/site-lisp")):
        names = {str(one.relative_to(source)) for one in source.rglob("*") if one.suffix in (".lua", ".el")}
        assert names == {str(one.relative_to(installed)) for one in installed.rglob("*") if one.is_file()}
        assert all((source / name).read_bytes() == (installed / name).read_bytes() for name in names)
