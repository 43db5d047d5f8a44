# SPDX-License-Identifier: Apache-2.0
"""What a command plants does not run when git is used outside afterwards.

Each attack is first tried without the guard and must work, so that the test could fail.
"""

import pytest

from guard_attacks import ATTACKS, BARE
from guard_fixture import Place

pytestmark = pytest.mark.rows_in_turn(3)


def make(tmp_path, attack, name):
    place = Place(tmp_path / name)
    if attack.setup:
        place.shell(BARE + attack.setup)
    return place


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_what_was_planted_does_not_run(tmp_path, attack):
    place = make(tmp_path, attack, "open")
    place.shell(BARE + (attack.first + "\n" if attack.first else "") + attack.plant)
    place.later(attack.later)
    assert place.marker.exists(), "the attack does not work even unhindered"

    place = make(tmp_path, attack, "guarded")
    options = ["--level", attack.level]
    if attack.first:
        place.guarded(BARE + attack.first, *options, "--lost")
    notes = [word for note in attack.notes for word in ("--note", str(place.work / note))]
    report = place.guarded(BARE + attack.plant, *options, *(notes or ["--lost"]), works=False)
    place.later(attack.later)
    assert not place.marker.exists(), report.told
    assert report.count == len(report.told)
    assert report.count or attack.first, "nothing was told"


@pytest.mark.parametrize("name", [".gemini/settings.json", ".vscode/tasks.json", ".mcp.json",
                                  ".claude/settings.json", ".envrc", ".husky/pre-commit"])
def test_settings_that_were_not_there_are_taken_away(tmp_path, name):
    # part E, rows 21 and 35
    place = Place(tmp_path / "top")
    top = name.split("/")[0]
    report = place.guarded("mkdir -p $(dirname %s); echo text > %s" % (name, name), "--lost")
    assert not (place.work / top).exists()
    assert report.count == 1 and top in report.told[0]
    kept = place.work / (top + ".hasp-taken") / "/".join(name.split("/")[1:])
    assert kept.read_text() == "text\n", "what is taken away is not lost"


def test_a_symbolic_link_made_on_the_way_is_taken_away(tmp_path):
    place = Place(tmp_path / "top")
    place.guarded("mkdir -p x/hooks && touch x/hooks/y && ln -s x .github", "--lost")
    assert not (place.work / ".github").exists()
    assert (place.work / "x/hooks/y").exists()


def test_a_symbolic_link_that_was_there_stays(tmp_path):
    place = Place(tmp_path / "top")
    place.shell("mkdir $O/claude; ln -s $O/claude .claude")
    report = place.guarded("touch x", "--lost")
    assert report.count == 0
    assert (place.work / ".claude").is_symlink()
    place.guarded("rm .claude; mkdir .claude; touch .claude/settings.json", "--lost")
    assert (place.work / ".claude").is_symlink()


def test_a_folder_that_is_closed_hides_nothing(tmp_path):
    place = Place(tmp_path / "top")
    place.shell("chmod o+x $(realpath .. ../.. ../../.. ../../../..); chown -R 65534:65534 ..")
    plant = BARE + ("git init -q a/sub; hook a/sub/.git/hooks pre-commit; "
                    "chmod 000 a/sub/.git/hooks a/sub a")
    report = place.guarded(plant, "--lost", user=65534)
    place.later("cd a/sub && git commit --allow-empty -m x")
    assert not place.marker.exists(), report.told
    assert (place.work / "a").stat().st_mode & 0o777 == 0, "folders are closed again"


def test_at_the_landlock_level_content_and_mode_come_back(tmp_path):
    place = Place(tmp_path / "top")
    place.shell("mkdir .vscode; echo a > .vscode/settings.json; chmod 640 .vscode/settings.json; "
                "ln -s settings.json .vscode/link; echo b > .mcp.json")
    before = (place.work / ".git/config").read_text()
    report = place.guarded(
        "echo x > .vscode/settings.json; chmod 777 .vscode/settings.json; rm .vscode/link; "
        "touch .vscode/tasks.json; rm .mcp.json; git config core.pager x; rm -r .git/hooks",
        "--level", "landlock", "--lost")
    assert (place.work / ".vscode/settings.json").read_text() == "a\n"
    assert (place.work / ".vscode/settings.json").stat().st_mode & 0o777 == 0o640
    assert (place.work / ".vscode/link").readlink().name == "settings.json"
    assert not (place.work / ".vscode/tasks.json").exists()
    assert (place.work / ".mcp.json").read_text() == "b\n"
    assert (place.work / ".git/config").read_text() == before
    assert (place.work / ".git/hooks/pre-commit.sample").exists()
    assert report.count == len(report.told) >= 6


def test_at_the_landlock_level_depth_is_no_matter(tmp_path):
    place = Place(tmp_path / "top")
    deep = ".vscode/" + "/".join(["d"] * 60)
    place.shell("mkdir -p %s; echo a > %s/f" % (deep, deep))
    report = place.guarded("echo x > %s/f; echo x > %s/new" % (deep, deep), "--level", "landlock", "--lost")
    assert (place.work / deep / "f").read_text() == "a\n" and not (place.work / deep / "new").exists()
    assert report.count == 2, report.told


def test_at_the_landlock_level_what_cannot_be_remembered_is_reported(tmp_path):
    place = Place(tmp_path / "top")
    place.shell("mkdir -p .vscode/a .vscode/b; for i in $(seq 2300); do echo a > .vscode/a/$i; echo a > .vscode/b/$i; done; "
                "mkdir .vscode/z .vscode/y; echo a > .vscode/z/f; mkdir .claude; echo a > .claude/settings.json; sleep 0.05")
    before = sorted(place.work.rglob("*"))
    changed = [".vscode/a/2300", ".vscode/b/2300", ".vscode/z/f", ".vscode/a/1", ".vscode/b/1", ".claude/settings.json"]
    report = place.guarded("for f in %s; do echo x > $f; done; echo x > .vscode/a/new; echo x > .vscode/z/new; mkdir .vscode/y/n; "
                           "rm .vscode/a/7 .vscode/b/7" % " ".join(changed), "--level", "landlock", "--lost")
    told = "\n".join(report.told)
    for name in changed:
        text = (place.work / name).read_text()
        assert name in told and (text == "a\n") == ("%s (put back" % name in told), (name, told)
    # What was not touched stays where it is, what was made goes.
    names = sorted(path for path in place.work.rglob("*") if ".hasp-taken" not in str(path))
    assert not [name for name in names if name not in set(before)], told
    assert not set(before) - set(names) - {place.work / ".vscode/a/7", place.work / ".vscode/b/7"}, told
    assert (place.work / ".vscode/a/7").exists() or "/.vscode/a (" in told
    assert (place.work / ".vscode/b/7").exists() or "/.vscode/b (" in told


def test_only_the_dangerous_keys_leave_a_configuration(tmp_path):
    place = Place(tmp_path / "top")
    report = place.guarded("git clone -q . sub; git -C sub config core.pager 'touch $M'; "
                           "git -C sub config credential.helper x", "--lost")
    assert "core.pager, credential.helper" in report.told[0]
    out = place.shell("git -C sub config -l --local; git -C sub status; git -C sub fetch origin")
    assert "remote.origin.url" in out and "pager" not in out and "credential" not in out
    assert "pager" in (place.work / "sub/.git/config.hasp-taken").read_text()


def test_what_a_person_had_in_a_repository_beneath_stays(tmp_path):
    place = Place(tmp_path / "top")
    place.shell(BARE + "git clone -q . sub; hook sub/.git/hooks pre-push; "
                "git -C sub config filter.lfs.clean 'git-lfs clean %f'; sleep 0.05")
    for options in (["--lost"], ["--note", str(place.work / "sub/.git/HEAD")],
                    ["--note", str(place.work / "sub/.git/config")]):
        report = place.guarded("cd sub && git checkout -q -b b$$ && git commit -q --allow-empty "
                               "-m x", *options)
        assert report.count == 0, report.told
        assert (place.work / "sub/.git/hooks/pre-push").exists()
    report = place.guarded("cd sub; git config branch.b.merge refs/heads/main", "--note",
                           str(place.work / "sub/.git/config.lock"))
    assert report.count == 0, report.told
    assert "lfs" in place.shell("git -C sub config -l")


def test_the_same_name_is_taken_away_again_and_again(tmp_path):
    place = Place(tmp_path / "top")
    for number in range(3):
        place.guarded("echo %d > .git/commondir" % number, "--lost")
    names = sorted(path.name for path in (place.work / ".git").glob("commondir*"))
    assert names == ["commondir.hasp-taken", "commondir.hasp-taken-2", "commondir.hasp-taken-3"]


@pytest.mark.parametrize("name", ["x.hasp-taken.desktop", "a.hasp-taken-x", "a.hasp-taken-123", "a.hasp-taken-", "a.hasp-taken~",
                                  "a.hasp-taken-0123456789abcdeF", "a.hasp-taken-0123456789abcdef0"])
@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_name_of_the_commands_own_is_not_taken_for_one_put_aside(tmp_path, level, name):
    place = Place(tmp_path / "top")
    hook = "" if level == "full" else "hook .git/hooks '%s'; " % name  # at full a mount keeps the folder
    report = place.guarded(BARE + hook + "ln -s $O '.git/logs/%s'" % name, "--level", level)
    assert report.count == (2 if hook else 1), report.told
    assert not (place.work / ".git/hooks" / name).exists() and not (place.work / ".git/logs" / name).is_symlink()


@pytest.mark.parametrize("end", ["", "-2", "-99", "-0123456789abcdef"])
def test_what_was_put_aside_stays(tmp_path, end):
    place = Place(tmp_path / "top")
    assert place.guarded(BARE + "hook .git/hooks 'x.hasp-taken%s'" % end).count == 0


def test_symbolic_links_that_were_in_a_git_folder_stay(tmp_path):
    place = Place(tmp_path / "top")
    place.shell("mkdir $O/rr $O/log; ln -s $O/rr .git/rr-cache; mv .git/logs/refs $O/log/refs; "
                "ln -s $O/log/refs .git/logs/refs; mkdir -p .git/logs/x/y; "
                "ln -s $O/rr .git/logs/x/y/z; sleep 0.05")
    commit = "git commit -q --allow-empty -m x; git branch b$$; touch .git/hello"
    for level in ("full", "landlock"):
        report = place.guarded(commit, "--level", level, "--lost")
        assert report.count == 0, report.told
    for name in ("rr-cache", "logs/refs", "logs/x/y/z"):
        assert (place.work / ".git" / name).is_symlink()


def test_references_that_git_writes_as_symbolic_links_stay(tmp_path):
    place = Place(tmp_path / "top")
    report = place.guarded("rm .git/HEAD; ln -s refs/heads/main .git/HEAD", "--lost")
    assert report.count == 0, report.told
    report = place.guarded("rm .git/HEAD; ln -s $O/HEAD .git/HEAD", "--lost", works=False)
    assert report.count == 1 and "/.git/HEAD " in report.told[0]
