# SPDX-License-Identifier: Apache-2.0
"""A kernel for the tests of a file: they take turns in it."""
import shutil

import pytest
from front import Front


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel") / "work"
    folder.mkdir()
    (folder.parent / "home").mkdir()
    one = Front(folder)
    try:
        loaded = one.run("%load_ext hasp")
        assert loaded.reply["status"] == "ok", loaded.error
        yield one
    finally:
        one.close()


@pytest.fixture
def front(kernel):
    """The kernel in an empty workspace, without a conversation."""
    for path in kernel.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    done = kernel.run("%hasp reset\n%hasp ask widget")
    assert done.reply["status"] == "ok", done.error
    return kernel
