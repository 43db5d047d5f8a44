# SPDX-License-Identifier: Apache-2.0
"""Every attack at every level, as root and as another user in turn, against canaries outside.

An attack that does no harm unconfined (level paths) tests nothing and is a failure; so is one that is
not blocked at full, and one whose outcome differs from docs/attacks.md.
"""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena import Arena, try_attack
from attacks import LEVELS, all_attacks, table

HASP, PROBE = os.environ["HASP"], os.environ["ATTACK_PROBE"]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/attacks.md"
CALLS = subprocess.run([PROBE, "calls"], check=True, stdout=subprocess.PIPE,
                       text=True).stdout.splitlines()
ATTACKS = list(all_attacks(CALLS))
USERS = ("root", "user")


@pytest.fixture(scope="module", name="rows")
def the_rows(request):
    """What was chosen is tried at once: each user's attacks one after the other, the two users side by side."""
    chosen = [item.callspec.params for item in request.session.items if item.originalname == "test_attack"]
    with ThreadPoolExecutor(1) as root, ThreadPoolExecutor(1) as user:
        pools = {"root": root, "user": user}
        arenas = {name: pools[name].submit(Arena, HASP, PROBE, name) for name in USERS}
        rows = {(one["user"], one["attack"]): pools[one["user"]].submit(
                    lambda user, attack: try_attack(arenas[user].result(), attack,
                                                    [two for two in ATTACKS if two.batch == attack.batch]),
                    one["user"], one["attack"])
                for one in chosen if one["user"] in one["attack"].users}
        yield rows
    for name in USERS:
        arenas[name].result().close()
        print("\n%-60s %s" % ("as " + name, "  ".join("%-10s" % level for level in LEVELS)))
        for row in (tried.result() for (user, _), tried in rows.items()
                    if user == name and not tried.exception()):
            print("%-60s %s" % ((row.attack.group + ": " + row.attack.name)[:60],
                                "  ".join("%-10s" % row.found[level] for level in LEVELS)))


@pytest.mark.in_turn("user")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("attack", ATTACKS, ids=["%s: %s" % row[:2] for row in ATTACKS])
def test_attack(rows, attack, user):
    if user not in attack.users:
        return
    row = rows[user, attack].result()
    assert not row.wrong, "\n".join(row.wrong)


def test_the_document_has_these_tables():
    text = DOCUMENT.read_text()
    assert table(CALLS) in text, "make it again: ATTACK_PROBE=... test/attack/attacks.py --table"


def test_at_full_only_the_workspace_and_looking_are_let_through():
    assert {attack.name for attack in ATTACKS if attack.full} == {
        "hard link that the user made before", "look at a file's size and times",
        "lock a file that may be read", "being connected to by a socket in the workspace",
        "socket of a daemon that lies in the workspace"}
