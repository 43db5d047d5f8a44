# SPDX-License-Identifier: Apache-2.0
"""What a confined command plants does not run when git is used outside; what git makes stays.

The attacks are those of test/guard, which shows that each of them works unhindered.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sandbox" / "guard"))
from guard_fixture import Place  # noqa: E402
from guard_work import WORK  # noqa: E402
from guard_attacks import ATTACKS, BARE  # noqa: E402

pytestmark = [pytest.mark.in_turn("level"), pytest.mark.rows_in_turn(2)]

HASP = os.environ["HASP"]


@pytest.fixture(name="place")
def a_place():
    # Not beneath /tmp, which is another folder inside.
    top = Path(tempfile.mkdtemp(prefix="hasp-attack-", dir="/var/tmp"))
    yield Place(top / "top")
    shutil.rmtree(top, ignore_errors=True)


def confined(place, script, level):
    words = "".join("%s='%s'; " % (name, place.env[name]) for name in "MWO")
    return subprocess.run([HASP, "sandbox", "--sandbox", level, "--env", "keep", "--", "sh", "-c",
                           words + script], cwd=place.work, env=place.env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_what_was_planted_does_not_run(place, attack, level):
    if attack.setup:
        place.shell(BARE + attack.setup)
    for script in filter(None, (attack.first, attack.plant)):
        ended = confined(place, BARE + script, level)
        assert "cannot be made" not in ended.stdout, ended.stdout
    assert not place.marker.exists(), "it ran inside, and reached the outside"
    place.later(attack.later)
    assert not place.marker.exists(), ended.stdout


# Those write the workspace's own configuration, which is protected.
REFUSED = ("submodule", "submodule inside a clone")


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("name", [name for name in WORK if name not in REFUSED])
def test_git_works(place, name, level):
    place.library()
    before = set(os.listdir(place.work))
    ended = confined(place, "set -e; " + WORK[name], level)
    assert ended.returncode == 0, ended.stdout
    assert "hasp-" not in place.shell("find .")
    assert not {path for path in set(os.listdir(place.work)) - before
                if path.startswith(".")}, "no ghosts"
    place.shell("git fsck --strict; git status")
