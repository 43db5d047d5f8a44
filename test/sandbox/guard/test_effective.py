# SPDX-License-Identifier: Apache-2.0
"""What git's effective configuration names in the workspace is protected like the configuration.

Each attack is first carried out without hasp and must work, so that the test could fail.  Each job of
honest work gives the same result and exit code as outside.
"""

import json
import os
import time

import pytest

from effective_attacks import ADD, ATTACKS, COMMIT, FILTERED, REPOSITORY
from effective_fixture import HASP, Ground

pytestmark = [pytest.mark.in_turn("level", "ground", "grounds"), pytest.mark.rows_in_turn(3)]

LEVELS = ("full", "landlock")
USERS = ("root", "user")


@pytest.fixture(name="ground", params=USERS)
def a_ground(request):
    ground = Ground(request.param)
    yield ground
    ground.close()


@pytest.fixture(name="root_ground")
def a_ground_of_root():
    ground = Ground("root")
    yield ground
    ground.close()


@pytest.fixture(name="grounds")
def some_grounds(request):
    made = []

    def make():
        made.append(Ground(request.param))
        return made[-1]
    yield make
    for ground in made:
        ground.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("grounds", USERS, indirect=True)
@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_what_was_planted_does_not_run(grounds, attack, level):
    open_ground = grounds()
    open_ground.use_system(attack.system)
    open_ground.shell(attack.setup)
    open_ground.shell("cd %s; %s" % (attack.folder, attack.plant))
    said = open_ground.later(attack.later)
    assert open_ground.marker.exists(), "the attack does not work even unhindered: " + said
    ground = grounds()
    ground.use_system(attack.system)
    ground.shell(attack.setup)
    ended = ground.inside(attack.plant, level, folder=ground.work / attack.folder)
    assert "hasp: denied:" in ended.stdout, ended.stdout
    assert not ground.marker.exists()
    ground.later(attack.later)
    assert not ground.marker.exists(), ended.stdout


@pytest.mark.parametrize("level", (*LEVELS, "paths"))
def test_file_tools_refuse_the_same(ground, level):
    ground.shell(FILTERED + "good scripts/x; ln -s ../../scripts/x .git/hooks/pre-commit; "
                 "git config filter.f.clean 'sh clean.sh'; git config include.path ../.gitconfig")
    before = (ground.work / "scripts/x").read_text()
    calls = (("update_file", "file_path=scripts/x", "old_string=cat", "new_string=dog"),
             ("write_file", "file_path=clean.sh", "content=x"),
             ("write_file", "file_path=.gitconfig", "content=x"))
    for name, *arguments in calls:
        ended = ground.tool(name, level, *arguments)
        assert ended.returncode != 0 and "denied_by_sandbox" in ended.stdout, ended.stdout
    assert (ground.work / "scripts/x").read_text() == before
    assert not (ground.work / "clean.sh").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_named_by_write_is_given(ground, level):
    ground.shell(FILTERED + "good tools/clean.sh; git config filter.f.clean ./tools/clean.sh; "
                 "git config core.hooksPath .hooks")
    ended = ground.inside("echo '# more' >> tools/clean.sh; mkdir .hooks; good .hooks/pre-commit",
                          level, "--write", "tools/clean.sh", "--write", ".hooks")
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout
    assert "more" in (ground.work / "tools/clean.sh").read_text()
    assert (ground.work / ".hooks/pre-commit").exists()


def test_what_cannot_be_judged_is_explained(ground):
    ground.shell(FILTERED + "git config filter.f.clean '$TOOLS/clean.sh'; "
                 "git config core.pager less; git config alias.s status")
    ended = ground.run(["env", "PATH=%s:%s" % (ground.work, ground.env["PATH"]), HASP, "sandbox",
                        "--explain", "--json"])
    told = json.loads(ended.stdout)["unjudged"]
    assert any("filter" in sentence and "clean.sh" in sentence for sentence in told), told
    assert any("$PATH" in sentence for sentence in told), told
    assert len(told) == 2, told


@pytest.mark.parametrize("level", LEVELS)
def test_ordinary_words_protect_nothing(ground, level):
    """Words of commands that are files of a project by chance."""
    ground.shell(REPOSITORY + "mkdir test src; touch build status src/x; "
                 "git config alias.t '!make test && git status -- src/x'; "
                 "git config core.editor 'vim build'; git config filter.lfs.clean 'git-lfs clean'; "
                 "git config --global credential.helper /usr/bin/store")
    ended = ground.inside("echo x > test/x; echo x > build; echo x > status; echo x > src/x", level)
    assert ended.returncode == 0 and "denied" not in ended.stdout, ended.stdout


# Where the guard could be in git's way; what git does in any folder is among test/honest's jobs.
# name, what is there before, the command, what is compared afterwards, its folder
SHOW = "find . -name '*.hasp*' | sort; git status --porcelain; git log --all --format=%H; git stash list"
LIBRARY = "git init -q $O/l; cd $O/l; echo l > l; git add l; git commit -qm l; cd $W\n"
BRANCHES = REPOSITORY + ("git checkout -qb b; echo b > b; git add b; git commit -qm b; "
                         "git checkout -q main; echo m > m; git add m; git commit -qm m\n")
WORK = [
    ("init, settings and hooks' samples", "true",
     "git init -q && git config user.name X && ls .git/hooks", "git config user.name; " + SHOW, "."),
    ("clone into the workspace itself", LIBRARY + "git clone -q --bare $O/l $O/l.git",
     "git clone -q $O/l.git . && cat l", SHOW, "."),
    ("clone of a bare repository", LIBRARY + "git clone -q --bare $O/l l.git",
     "git clone -q l.git c && git -C c log --format=%H", "cat c/l; git -C c status", "."),
    ("commit in a sub-folder", REPOSITORY + "mkdir s; echo 1 > s/f; git add s; git commit -qm s",
     "echo 2 > f && git commit -qam two && git log --format=%s", SHOW, "s"),
    ("branch, merge and tag in a sub-folder", BRANCHES + "mkdir s; echo 1 > s/f",
     "git add f && git commit -qm s && git tag t && git checkout -qb c && git gc -q", SHOW, "s"),
    ("commit in a sub-folder of a linked worktree", "cd $O; " + REPOSITORY +
     "mkdir s; echo 1 > s/f; git add s; git commit -qm s; rmdir $W; git worktree add -q $W",
     "echo 2 > f && git commit -qam two && git log --format=%s", SHOW, "s"),
    ("commit with a hook that is a link", REPOSITORY + "mkdir scripts; "
     "printf '#!/bin/sh\\necho ran > ran\\n' > scripts/x; chmod +x scripts/x; "
     "ln -s ../../scripts/x .git/hooks/pre-commit", COMMIT + " && cat ran", SHOW, "."),
    ("commit with the user's hooksPath", REPOSITORY + "mkdir .hooks; "
     "printf '#!/bin/sh\\necho ran > ran\\n' > .hooks/pre-commit; chmod +x .hooks/pre-commit; "
     "git config --global core.hooksPath .hooks", COMMIT + " && cat ran", SHOW, "."),
    ("add with a filter", FILTERED + "mkdir tools; "
     "printf '#!/bin/sh\\ntr a-z A-Z\\n' > tools/up; chmod +x tools/up; "
     "git config filter.f.clean ./tools/up", ADD + " && git commit -qm x && git show HEAD:file", SHOW,
     "."),
    ("submodule update", LIBRARY + "mkdir $O/s; cd $O/s; " + REPOSITORY +
     "git submodule --quiet add ../l sub; git commit -qm s; rmdir $W; git clone -q $O/s $W; cd $W; "
     "git submodule --quiet init",
     "git submodule --quiet update && cat sub/l", "git submodule status; " + SHOW, "."),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("grounds", USERS, indirect=True)
@pytest.mark.parametrize("job", WORK, ids=[job[0] for job in WORK])
def test_work_gives_the_same_as_outside(grounds, job, level):
    _, setup, command, show, folder = job
    results = []
    for confined in (False, True):
        ground = grounds()
        ground.shell(setup)
        where = ground.work / folder
        ended = (ground.inside(command, level, folder=where) if confined else
                 ground.run(["sh", "-c", command], where))
        # Local clones try hard links first, which are refused, and said.
        output = "".join(line + "\n" for line in ended.stdout.splitlines()
                         if "/objects/" not in line and not line.startswith("hasp: end of hasp's report"))
        results.append((ended.returncode, output, ground.run(["sh", "-c", show]).stdout))
    assert results[0][0] == 0, results[0]
    assert results[1] == results[0]


@pytest.mark.parametrize("level", LEVELS)
def test_checkout_of_other_settings_says_what_is_missing(ground, level):
    ground.shell(REPOSITORY + "mkdir .vscode; echo 1 > .vscode/settings.json; git add .; "
                 "git commit -qm 1; git checkout -qb b; echo 2 > .vscode/settings.json; "
                 "git commit -qam 2")
    ended = ground.inside("git checkout -q main", level)
    assert "unable to unlink old '.vscode/settings.json'" in ended.stdout
    # At full the mount alone refuses it, which leaves no record.
    assert level == "full" or "To allow: --write %s/.vscode" % ground.work in ended.stdout, ended.stdout
    ground.shell("git restore .vscode; git checkout -q b")
    ended = ground.inside("git checkout -q main", level, "--write", ".vscode")
    assert ended.returncode == 0 and ended.stdout == "", ended.stdout
    assert ground.shell("git status --porcelain; cat .vscode/settings.json") == "1\n"


@pytest.mark.parametrize("level", LEVELS)
def test_only_the_users_own_enclosing_repository_is_given(ground, level):
    """Not a home folder's, not one of another owner, not what no repository is."""
    ground.shell("cd ~; git init -q; mkdir p")
    ended = ground.inside("echo x > ../.git/x", level, folder=ground.home / "p")
    assert ended.returncode != 0 and not (ground.home / ".git/x").exists()
    ground.shell("cd $O; mkdir -p .git/objects p")
    ended = ground.inside("echo x > ../.git/x", level, folder=ground.outside / "p")
    assert ended.returncode != 0 and not (ground.outside / ".git/x").exists()
    ground.shell(REPOSITORY + "mkdir s")
    ended = ground.inside("echo x > ../file", level, folder=ground.work / "s")
    assert ended.returncode != 0, "the rest of the worktree stays as it is"


@pytest.mark.parametrize("level", LEVELS)
def test_no_enclosing_repository_is_given_while_the_home_folder_is_not_known(ground, level):
    nobody = 54321  # in no user database
    ground.shell(REPOSITORY + "mkdir s")
    for path in [ground.top, *ground.top.rglob("*")]:
        os.chown(path, nobody, nobody, follow_symlinks=False)
    ground.prefix = ["setpriv", "--reuid", str(nobody), "--regid", str(nobody), "--clear-groups"]
    ended = ground.inside("echo x > ../.git/x", level, folder=ground.work / "s")
    assert ended.returncode == 0 and (ground.work / ".git/x").exists(), ended.stdout
    del ground.env["HOME"]
    ended = ground.inside("echo x > ../.git/y", level, folder=ground.work / "s")
    assert ended.returncode != 0 and not (ground.work / ".git/y").exists(), ended.stdout


def test_too_many_names_cost_little_and_are_reported(ground):
    ground.shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git init -q p$i; for k in $(seq 500); do "
                 "printf '[filter \"%d\"]\\n\\tclean = ./f%d\\n' $k $k; "
                 "done >> p$i/.git/config; done")
    ended = ground.inside("echo started", "full")
    assert (ended.returncode, ended.stdout) == (0, "started\n")
    explained = ground.run([HASP, "sandbox", "--explain", "--json"]).stdout
    unjudged = json.loads(explained)["unjudged"]
    assert any("could not be read completely" in sentence for sentence in unjudged), unjudged


@pytest.mark.parametrize("level", LEVELS)
def test_variables_of_the_environment_count(ground, level):
    ground.shell(FILTERED + "good tools/clean.sh")
    for name, value in {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath",
                        "GIT_CONFIG_VALUE_0": ".hooks", "GIT_EDITOR": "sh tools/clean.sh",
                        "GIT_CONFIG_GLOBAL": str(ground.work / "conf")}.items():
        ground.env[name] = value
    for path in (".hooks", "tools/clean.sh", "conf"):
        ended = ground.inside("echo x >> " + path, level)
        assert "denied: write %s/%s" % (ground.work, path) in ended.stdout, ended.stdout


def test_what_is_known_of_workspaces_that_nobody_uses_goes(root_ground):
    """Beneath ~/.gemini/tmp/hasp/guard: after 30 days, but not where a command ended without its check; looked for once an hour."""
    ground = root_ground
    ground.inside("true", "full")
    folder = ground.home / ".gemini/tmp/hasp/guard"
    looked = folder / ".looked"
    own, = (path for path in folder.iterdir() if path != looked)
    data = bytearray(own.read_bytes())
    # The first command's place is behind the head: magic, two times, and six numbers.
    unchecked = data[:88] + (1).to_bytes(8, "little") + data[96:]
    assert data[88:112] == bytes(24), data[:200]
    month = 30 * 24 * 3600
    files = {"a" * 32: (data, month + 60), "b" * 32: (data, month - 3600), "c" * 32: (unchecked, month + 60), "d" * 32: (b"", month + 60)}
    for name, (content, age) in files.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (time.time() - age,) * 2)
    kept = {own.name, "b" * 32, "c" * 32}
    for age, there in ((3500, kept | set(files)), (3700, kept), (-3700, kept)):
        for name in files.keys() - kept:
            (folder / name).write_bytes(files[name][0])
            os.utime(folder / name, (time.time() - month - 60,) * 2)
        os.utime(own, (time.time() - month - 60,) * 2)
        os.utime(looked, (time.time() - age,) * 2)
        ground.inside("true", "full")
        assert {path.name for path in folder.iterdir()} == there | {looked.name}, age
