# SPDX-License-Identifier: Apache-2.0
"""script/setup with an apt of the test's own: what a release lacks is replaced, or named with what needs it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# Words of $INSTALLED are installed, those of $HAS can be; a package of $BROKEN fails. What is asked for is in "asked".
APT = """#!/bin/sh
echo "${0##*/} $*" >>asked
case "${0##*/}:$1" in
dpkg-query:*)
	for package in $INSTALLED $(cat now 2>/dev/null); do
		case $2 in
		*Package*) echo "<$package installed>" ;;
		*) [ "$package" != "$3" ] || echo installed ;;
		esac
	done ;;
apt-cache:policy)
	case " $HAS " in
	*" $2 "*) printf '%s:\\n  Candidate: 1.0\\n' "$2" ;;
	*) [ "$2" != tree ] || printf 'tree:\\n  Candidate: (none)\\n' ;;
	esac ;;
apt-get:update) [ -z "${OFFLINE-}" ] ;;
apt-get:install)
	shift 4
	for package in "$@"; do
		case " $BROKEN " in
		*" $package "*) echo "E: Failed to fetch $package: 404"; exit 100 ;;
		esac
	done
	printf '%s\\n' "$@" >>now ;;
esac
"""


def rows():
    done = subprocess.run([TOP / "script" / "setup", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split(None, 1) for line in done.stdout.splitlines()]


ALL = [name for names, _ in rows() for name in names.split("|")]


class Machine:
    def __init__(self, top):
        self.top = top
        (top / "script").mkdir()
        (top / "bin").mkdir()
        shutil.copy(TOP / "script" / "setup", top / "script")
        for name in ("dpkg-query", "apt-cache", "apt-get", "sudo"):
            (top / "bin" / name).write_text(APT)
            (top / "bin" / name).chmod(0o755)
        (top / "bin" / "sudo").write_text('#!/bin/sh\n[ "$1" != -E ] || shift\ncase $1 in\nrm | tee | chmod) ;;\n'
                                          '*) exec "$@" ;;\nesac\n')
        for name in ("node", "npm", "clang"):
            (top / "bin" / name).write_text("#!/bin/sh\necho 19\n")
            (top / "bin" / name).chmod(0o755)

    def setup(self, *more, lacks=(), installed=(), broken="", **env):
        """Of a release that has all packages but these; with these installed. Its exit status, and what it says."""
        (self.top / "asked").write_text("")
        have = [name for name in (*ALL, "libclang-rt-19-dev") if name not in lacks]
        done = subprocess.run([self.top / "script" / "setup", *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={"PATH": "%s:%s" % (self.top / "bin", os.environ["PATH"]), "HAS": " ".join([*have, *more]),
                                   "INSTALLED": " ".join(installed), "BROKEN": broken, **env})
        return done.returncode, done.stdout

    def asked(self, command):
        return [line for line in (self.top / "asked").read_text().splitlines() if line.startswith(command)]

    def now(self):
        return set((self.top / "now").read_text().split())


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def but(*names):
    return [name for name in (*ALL, "libclang-rt-19-dev") if name not in names]


def test_where_all_is_there_nothing_is_asked_and_said(machine):
    assert machine.setup(installed=but()) == (0, "")
    assert machine.asked("apt") == []


def test_what_is_asked_for_by_name_is_installed_as_well(machine):
    assert machine.setup("python3-pandas", installed=but("jq"))[0] == 0
    assert machine.now() == {"jq", "python3-pandas"}
    assert machine.setup("python3-pandas", installed=but()) == (0, "") and machine.asked("apt") == []


def test_one_of_two_names_is_enough(machine):
    assert machine.setup(installed=but("xxd")) == (0, "")
    assert machine.setup(installed=but("vim-common")) == (0, "")


def test_what_the_release_has_by_another_name_is_installed_by_that(machine):
    assert machine.setup(installed=but("xxd", "vim-common"), lacks=["xxd"])[0] == 0
    assert machine.now() == {"vim-common"}


def test_a_package_that_the_release_lacks_is_named_with_what_needs_it_and_the_others_are_installed(machine):
    installed = but("ripgrep", "tree", "jq")
    line = "script/setup: this release of Debian has no %s: %s\n"
    reasons = dict(rows())
    expected = "".join(line % (name, reasons[name]) for name in ("ripgrep", "tree"))
    code, said = machine.setup(installed=installed, lacks=["ripgrep", "tree"])
    assert code == 0 and said.endswith(expected) and machine.now() == {"jq"}
    # The next time it is said again, and nobody is asked.
    assert machine.setup(installed=installed, lacks=["ripgrep", "tree"]) == (0, expected)
    assert machine.asked("apt") == []


def test_a_package_that_the_archive_cannot_deliver_keeps_no_other_away(machine):
    code, said = machine.setup(installed=but("ripgrep", "jq"), broken="jq")
    assert code == 0 and "E: Failed to fetch jq: 404\nscript/setup: jq cannot be installed: " in said
    assert machine.now() == {"ripgrep"}
    assert not (machine.top / "build").exists()


def test_where_nothing_can_be_installed_it_fails(machine):
    code, said = machine.setup(installed=but("jq"), broken="jq")
    assert code == 1 and said.endswith("script/setup: apt-get install failed\n")


def test_without_network_nothing_is_taken_for_absent(machine):
    code, said = machine.setup(installed=but("jq"), lacks=["jq"], OFFLINE="yes")
    assert "apt-get update failed" in said and "apt knows no jq: " in said
    assert not (machine.top / "build").exists()
