# SPDX-License-Identifier: Apache-2.0
"""A home folder whose start-up files are links into the workspace, a repository of dotfiles."""

import pytest

from names_fixture import Place

pytestmark = pytest.mark.in_turn("place", "level")

LEVELS = ("full", "landlock")
# link in the home folder, its target in the workspace, what a command writes
LINKS = (
    (".bashrc", "dots/bashrc", "dots/bashrc"),
    (".profile", "dots/missing", "dots/missing"),
    (".config/fish", "dots/fish", "dots/fish/config.fish"),
    (".local", "dots/local", "dots/local/bin/ls"),
    (".zshrc", "dots/../dots/link", "dots/zshrc"),
)


@pytest.fixture(params=["root", "user"], name="place")
def a_place(request):
    place = Place(request.param)
    yield place
    place.close()


@pytest.mark.parametrize("level", LEVELS)
def test_what_links_of_the_home_folder_lead_to_is_protected(place, level):
    for name in ("bashrc", "fish/config.fish", "local/bin/ls", "zshrc", "other"):
        place.plant(place.work / "dots" / name, "good\n")
    (place.work / "dots/link").symlink_to("zshrc")
    for link, target, _ in LINKS:
        (place.home / link).parent.mkdir(exist_ok=True)
        (place.home / link).symlink_to(place.work / target)
    place.give_away()
    for _, _, name in LINKS:
        ended = place.sandbox(level, "echo EVIL >> " + name)
        path = place.work / name
        assert "hasp: denied:" in ended.stdout, name + ended.stdout
        assert not path.exists() or path.read_text() == "good\n", name
    ended = place.sandbox(level, "echo more >> dots/other; mkdir dots/new")
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout
    given = place.sandbox(level, "echo more >> dots/bashrc", "--write", "dots/bashrc")
    assert given.returncode == 0 and "more" in (place.work / "dots/bashrc").read_text()
