# SPDX-License-Identifier: Apache-2.0
"""Every attack at every level, as root and as another user in turn, against canaries outside.

An attack that does no harm unconfined (level paths) tests nothing and is a failure; so is one that is
not blocked at full, and one whose outcome differs from docs/attacks.md.
"""

import os
import subprocess
from pathlib import Path

import pytest

from arena import Arena, try_attack
from attacks import LEVELS, all_attacks, table

HASP, PROBE = os.environ["HASP"], os.environ["ATTACK_PROBE"]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/attacks.md"
CALLS = subprocess.run([PROBE, "calls"], check=True, stdout=subprocess.PIPE,
                       text=True).stdout.splitlines()
ATTACKS = list(all_attacks(CALLS))
ROWS = {}


@pytest.fixture(scope="module", params=["root", "user"], name="arena")
def an_arena(request):
    arena = Arena(HASP, PROBE, request.param)
    yield arena
    arena.close()
    print("\n%-60s %s" % ("as " + request.param, "  ".join("%-10s" % level for level in LEVELS)))
    for row in ROWS.get(request.param, []):
        print("%-60s %s" % ((row.attack.group + ": " + row.attack.name)[:60],
                            "  ".join("%-10s" % row.found[level] for level in LEVELS)))


@pytest.mark.in_turn("arena")
@pytest.mark.parametrize("attack", ATTACKS, ids=["%s: %s" % row[:2] for row in ATTACKS])
def test_attack(arena, attack):
    if arena.user not in attack.users:
        return
    row = try_attack(arena, attack, [one for one in ATTACKS if one.batch == attack.batch])
    ROWS.setdefault(arena.user, []).append(row)
    assert not row.wrong, "\n".join(row.wrong)


def test_the_document_has_these_tables():
    text = DOCUMENT.read_text()
    assert table(CALLS) in text, "make it again: ATTACK_PROBE=... test/attack/attacks.py --table"


def test_at_full_only_the_workspace_and_looking_are_let_through():
    assert {attack.name for attack in ATTACKS if attack.full} == {
        "hard link that the user made before", "look at a file's size and times",
        "lock a file that may be read", "being connected to by a socket in the workspace",
        "socket of a daemon that lies in the workspace"}
