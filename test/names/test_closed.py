# SPDX-License-Identifier: Apache-2.0
"""A command closes a folder (chmod 000); the next cannot open it again to get at what is protected
in it, which nobody could look for.  For an ordinary user: root may search every folder."""

import subprocess

import pytest

from names_fixture import CANARY, Place

pytestmark = pytest.mark.in_turn("place", "level")

LEVELS = ("full", "landlock")
MODES = ("000", "600", "311")
EVIL = "EVIL"


@pytest.fixture(name="place")
def a_place():
    place = Place("user")
    yield place
    place.close()


def run(place, level, script, *flags, **more):
    ended = place.sandbox(level, script, *flags, **more)
    assert "hasp: internal" not in ended.stdout
    return ended


def git(place, *words):
    env = {"HOME": str(place.home), "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*place.as_user(), "git", *words], cwd=place.work, env=env, check=True,
                   stdout=subprocess.DEVNULL)


# folder that is closed, what is in it, how git leads to it
WAYS = {
    "include": ("conf", "conf/inc", ("config", "include.path", "../conf/inc")),
    "info": (".git/info", ".git/info/attributes", None),
    "hooks": (".hooks", ".hooks/sub/pre-commit", ("config", "core.hooksPath", ".hooks/sub")),
    "modules": (".git/modules", ".git/modules/m/config", None),
    "module": (".git/modules/m", ".git/modules/m/config", None),
    "editor": ("bin", "bin/edit", ("config", "core.editor", "./bin/edit")),
}


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", WAYS)
def test_what_git_obeys_in_a_closed_folder(place, level, way):
    folder, name, config = WAYS[way]
    place.give_away()
    git(place, "init", "-q")
    if config:
        git(place, *config)
    (place.work / folder).mkdir(exist_ok=True, parents=True)
    place.give_away()
    assert run(place, level, "chmod 000 " + folder).returncode == 0
    ended = run(place, level, "chmod 755 %s && mkdir -p $(dirname %s) && echo %s > %s"
                % (folder, name, EVIL, name))
    assert ended.returncode != 0, ended.stdout
    assert not (place.work / name).exists() or EVIL not in (place.work / name).read_text()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mode", MODES)
def test_what_a_closed_folder_of_the_home_hides_stays_hidden(place, level, mode):
    home = {"env": {"HOME": str(place.work)}}
    place.plant(place.work / ".config/gh/hosts.yml")
    startup = place.plant(place.work / ".config/fish/config.fish")
    profile = place.plant(place.work / ".mozilla/firefox/x/cookies.sqlite")
    place.give_away()
    for folder in (".config", ".mozilla"):
        (place.work / folder).chmod(int(mode, 8))
    ended = run(place, level, "chmod 755 .config .mozilla; cat .config/gh/hosts.yml %s; "
                "echo %s > .config/fish/config.fish" % (profile, EVIL), **home)
    assert CANARY not in ended.stdout
    assert EVIL not in startup.read_text()


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_closed_repository_elsewhere_leads_to(place, level):
    (place.work / "real").mkdir()
    place.give_away()
    git(place, "init", "-q", "--separate-git-dir", "real/git")
    place.give_away()
    config = place.work / "real/git/config"
    assert run(place, level, "chmod 000 real").returncode == 0
    ended = run(place, level, "chmod 755 real && echo %s >> real/git/config" % EVIL)
    assert ended.returncode != 0 and EVIL not in config.read_text(), ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_denied_or_named_by_a_variable(place, level):
    place.plant(place.work / "a/denied")
    place.plant(place.work / "b/kube")
    place.give_away()
    for name in ("a", "b"):
        (place.work / name).chmod(0)
    ended = run(place, level, "chmod 755 a b; cat a/denied b/kube; echo finished", "--deny",
                "a/denied", env={"KUBECONFIG": str(place.work / "b/kube")})
    assert CANARY not in ended.stdout and "finished" in ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_workspace_that_is_closed_is_refused(place, level):
    place.give_away()
    place.work.chmod(0o311)
    ended = run(place, level, "chmod 755 .; echo finished")
    assert ended.returncode != 0 and "chmod u+rx" in ended.stdout
    assert "finished" not in ended.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_closed_folder_of_the_projects_own_can_be_opened(place, level):
    (place.work / "build").mkdir()
    place.give_away()
    git(place, "init", "-q")
    assert run(place, level, "chmod 000 build").returncode == 0
    ended = run(place, level, "chmod 755 build && echo made > build/file && rm -r build")
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout
