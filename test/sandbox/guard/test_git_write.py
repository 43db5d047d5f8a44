# SPDX-License-Identifier: Apache-2.0
"""hasp writes a repository's configuration for a command where the change is harmless, and is no way to write anything else."""

import os
import stat
import subprocess

import pytest

from test_everyday import Place

pytestmark = [pytest.mark.in_turn("user", "level"), pytest.mark.rows_in_turn(3)]

LEVELS = ("full", "landlock")
UPSTREAM = "git branch -q -u origin/topic plain\n"
ADDED = '[branch "plain"]\n\tremote = origin\n\tmerge = refs/heads/topic\n'
# Writes a lock file as git does, with `text` behind what the configuration has, and renames it.
RENAME = r"""
import os, sys
old = open(".git/config").read()
def put(text, name=".git/config.lock"):
    with open(name, "w") as lock:
        lock.write(text)
def move(call=lambda: os.rename(".git/config.lock", ".git/config")):
    try:
        call()
        print("moved")
    except OSError as error:
        print("refused", error.errno)
"""
# Each changes nothing, and is reported with this text.
REFUSED = {
    "a program": ("put(old + '[core]\\n\\tfsmonitor = x\\n'); move()", "It would change core.fsmonitor."),
    "a program, hidden": ("put(old + '[branch \"x\"]\\nremote = origin\\n[CORE]hooksPath=\"/x\" # [branch]\\n'); move()",
                          "It would change core.hookspath."),
    "a second section": ("put('[core]\\nsshCommand = x\\n' + old); move()", "It would change core.sshcommand."),
    "an include": ("put(old + '[include]\\npath = /tmp/x\\n'); move()", "It would change include.path."),
    "another place": ("put(old.replace('up.git', 'elsewhere')); move()", "It would change remote.origin.url."),
    "a remote that is none": ("put(old + '[branch \"x\"]\\nremote = ../x\\n'); move()", "It would change branch.x.remote."),
    "a new submodule": ("put(old + '[submodule \"x\"]\\nurl = ../x\\n'); move()", "It would change submodule.x.url."),
    "a line that goes on": ("put(old + '[branch \"x\"]\\nremote = \\\\\\n origin\\n'); move()", "what cannot be compared"),
    "a NUL": ("put(old + '[branch \"x\"]\\nremote = origin\\0\\n'); move()", "what cannot be compared"),
    "CRLF": ("put(old.replace('\\n', '\\r\\n')); move()", "what cannot be compared"),
    "1 MB": ("put(old + '#' * (1 << 20) + '\\n'); move()", "/.git/config: "),
    "nothing": ("put(''); move()", "It would change "),
    "a link": ("put(old + '[branch \"x\"]\\nremote = origin\\n', 'new'); os.symlink('../new', '.git/config.lock'); move()",
               "/.git/config: "),
    "an exchange": ("put(old + '[branch \"x\"]\\nremote = origin\\n')\nimport ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                    "print('refused' if libc.renameat2(-100, b'.git/config.lock', -100, b'.git/config', 2) else 'moved')",
                    "/.git/config: "),
    "another name": ("put(old + '[branch \"x\"]\\nremote = origin\\n', '.git/other'); move(lambda: os.rename('.git/other', '.git/config'))",
                     "/.git/config: "),
    "a link to the lock": ("put(old, '.git/config.lock'); move(lambda: os.link('.git/config.lock', '.git/.hasp-config-0'))",
                           ".hasp-config-0"),
    "the temporary name": ("move(lambda: open('.git/.hasp-config-0', 'w'))", ".hasp-config-0"),
    "the temporary name, moved to": ("put(old, 'x'); move(lambda: os.rename('x', '.git/.hasp-config-0'))", ".hasp-config-0"),
    "the temporary folder": ("move(lambda: os.mkdir('.git/.hasp-config-0'))", ".hasp-config-0"),
}
# After hasp has written once, and so no mount is on the file any more.
AFTERWARDS = {
    "append": "echo '[core]\n\tfsmonitor = x' >> .git/config",
    "write": "echo > .git/config",
    "remove": "rm -f .git/config",
    "remove and make": "rm -f .git/config; echo '[core]\n\tfsmonitor = x' > .git/config",
    "remove and move": "rm -f .git/config; echo '[core]\n\tfsmonitor = x' > x; mv x .git/config",
    "remove and link": "rm -f .git/config; echo '[core]\n\tfsmonitor = x' > x; ln x .git/config",
    "remove and point": "rm -f .git/config; echo '[core]\n\tfsmonitor = x' > x; ln -s ../x .git/config",
    "remove and make a folder": "rm -f .git/config; mkdir .git/config",
    "move away": "mv .git/config .git/moved; cp .git/moved x; mv x .git/config",
    "link": "ln .git/config x && echo '[core]\n\tfsmonitor = x' >> x",
    "truncate": "truncate -s 0 .git/config; python3 -c 'import os; os.truncate(\".git/config\", 0)'",
    "through /proc": "exec 3< .git/config; echo '[core]\n\tfsmonitor = x' >> /proc/self/fd/3",
    "mode": "chmod 777 .git/config; python3 -c 'import os; os.fchmod(os.open(\".git/config\", 0), 0o777)'",
    "edit": "sed -i s/origin/x/ .git/config",
    "git": "git config core.fsmonitor x; git config --unset remote.origin.url",
}
# To a submodule's .git, which may be removed with all that is beside it, and nothing else.
LINKS = {
    "remove it alone": "rm sub/.git",
    "remove it and make it": "rm sub/.git; echo gitdir: ../evil > sub/.git",
    "remove it and move": "rm sub/.git; echo gitdir: ../evil > x; mv x sub/.git",
    "remove it and link": "rm sub/.git; echo gitdir: ../evil > x; ln x sub/.git",
    "remove it and point": "rm sub/.git; ln -s ../evil/.git sub/.git",
    "remove it and make a folder": "rm sub/.git; cp -r evil sub/.git",
    "remove all and make it": "rm -rf sub; mkdir sub; echo gitdir: ../evil > sub/.git; touch sub/file",
    "remove all and move a folder there": "mkdir new; echo gitdir: ../evil > new/.git; rm -rf sub; mv new sub; mkdir -p sub; touch sub/file",
    "write": "echo gitdir: ../evil > sub/.git",
    "append": "echo x >> sub/.git",
    "move over": "echo gitdir: ../evil > x; mv -f x sub/.git",
    "move away": "mv sub/.git sub/away",
    "move its folder": "mv sub away; mkdir sub; echo gitdir: ../evil > sub/.git",
    "a second name": "ln sub/.git x && echo gitdir: ../evil > x",
    "through /proc": "exec 3< sub/.git; echo gitdir: ../evil > /proc/self/fd/3",
    "truncate": "python3 -c 'import os; os.truncate(\"sub/.git\", 0)'",
    "mode": "python3 -c 'import os; os.fchmod(os.open(\"sub/.git\", 0), 0o777)'",
}
# Another process changes the lock file, and looks for the temporary file, all the while.
RACE = RENAME + r"""
import subprocess, threading
evil, good = old + "[core]\n\tfsmonitor = x\n", old + '[branch "x"]\n\tremote = origin\n'
evil += "#" * (1 << 12) + "\n"
stop = False
def change():
    while not stop:
        for text in (good, evil):
            try:
                with open(".git/config.lock", "r+") as lock:
                    lock.write(text)
            except OSError:
                pass
def seek():
    while not stop:
        for name in os.listdir(".git"):
            if name.startswith(".hasp-config-"):
                try:
                    open(".git/" + name, "r+").write(evil)
                    print("opened")
                except OSError:
                    pass
threads = [threading.Thread(target=one) for one in (change, seek, seek)]
for one in threads: one.start()
for i in range(60):
    put(good.replace('"x"', '"x%d"' % i))
    try:
        os.rename(".git/config.lock", ".git/config")
    except OSError:
        pass
    if "fsmonitor" in open(".git/config").read():
        print("evil")
stop = True
for one in threads: one.join()
"""


@pytest.fixture(scope="module", params=["root", "user"], name="place")
def a_place(request):
    place = Place(request.param)
    yield place
    place.close()


def config(place, name="config"):
    return (place.work / ".git" / name).read_text()


def python(place, text, level):
    (place.top / "script.py").write_text(text)
    return place.inside_argv(["python3", place.top / "script.py"], level)


def leavings(place):
    return [path.name for path in (place.work / ".git").iterdir() if "hasp-config" in path.name]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", REFUSED)
def test_what_is_not_harmless_is_refused(place, level, row):
    place.bring_back()
    before, (script, told) = config(place), REFUSED[row]
    done = python(place, RENAME + script, level)
    assert "refused" in done.stdout and "moved" not in done.stdout, done.stdout
    assert "hasp: denied: write " in done.stdout and told in done.stdout, done.stdout
    assert config(place) == before and not leavings(place)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", AFTERWARDS)
def test_nothing_else_is_writable_afterwards(place, level, row):
    place.bring_back()
    before = config(place)
    done = place.inside_argv(["sh", "-c", UPSTREAM + "grep -q topic .git/config && echo written\n" + AFTERWARDS[row]], level)
    assert "written" in done.stdout, done.stdout
    assert config(place) in (before, before + ADDED), done.stdout + config(place)
    assert not (place.work / ".git/config").is_symlink() and os.stat(place.work / ".git/config").st_nlink == 1
    assert stat.S_IMODE(os.stat(place.work / ".git/config").st_mode) == 0o644
    assert "hasp: denied: " in done.stdout, done.stdout
    assert place.outside("status").returncode == 0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", LINKS)
def test_a_link_of_a_submodule_goes_with_its_files_or_stays(place, level, row):
    place.bring_back()
    path = place.work / "sub/.git"
    before = path.read_text()
    evil = "git init -q evil; git -C evil config core.fsmonitor 'touch ran'\n"
    done = place.inside_argv(["sh", "-c", evil + LINKS[row]], level)
    assert path.read_text() == before and not path.is_symlink() and os.stat(path).st_nlink == 1, done.stdout
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644 and "sub" in done.stdout.partition("hasp: ")[2], done.stdout
    assert place.outside("status").returncode == 0 and not list(place.work.rglob("ran"))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("command", ["rm -rf sub", "rm -rf sub; mkdir sub", "rm -r sub/* sub/.git"])
def test_a_link_of_a_submodule_may_go_with_its_files(place, level, command):
    place.bring_back()
    done = place.inside_argv(["sh", "-c", command], level)
    assert done.returncode == 0 and "hasp: " not in done.stdout, done.stdout
    assert not (place.work / "sub/.git").exists()


@pytest.mark.parametrize("level", LEVELS)
def test_a_race_changes_nothing(place, level):
    place.bring_back()
    before = config(place)
    done = python(place, RACE, level)
    assert "evil" not in done.stdout and "opened" not in done.stdout, done.stdout
    kept = place.outside("config --local -l").stdout.splitlines()
    (place.work / ".git/config").write_text(before)
    wanted = place.outside("config --local -l").stdout.splitlines()
    assert kept[:len(wanted)] == wanted
    assert all(line.startswith("branch.x") and line.endswith(".remote=origin") for line in kept[len(wanted):]), kept
    assert not leavings(place)


@pytest.mark.parametrize("level", LEVELS)
def test_mode_and_owner_are_kept(place, level):
    place.bring_back()
    path = place.work / ".git/config"
    path.chmod(0o640)
    if not place.as_user:
        os.chown(path, -1, 2345)
    before = path.stat()
    done = place.inside_argv(["sh", "-c", UPSTREAM], level)
    after = path.stat()
    assert path.read_text().endswith(ADDED) and "denied" not in done.stdout, done.stdout
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (before.st_uid, before.st_gid, 0o640)


@pytest.mark.parametrize("level", LEVELS)
def test_submodules_and_worktrees_have_it_too(place, level):
    place.bring_back()
    done = place.inside_argv(["sh", "-ec", "git -C sub switch -q -c made --track origin/master 2>&1 || "
                              "git -C sub switch -q -c made --track origin/main\ngit -C tree switch -q -c more -t origin/topic"],
                             level)
    assert done.returncode == 0 and "denied" not in done.stdout, done.stdout
    assert '[branch "made"]' in config(place, "modules/sub/config") and '[branch "more"]' in config(place)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["symlink", "hard link", "worktree"])
def test_a_file_that_is_no_plain_config_stays(place, level, kind):
    place.bring_back()
    path = place.work / ".git/config"
    if kind == "symlink":
        path.rename(place.work / "shared")
        path.symlink_to("../shared")
    elif kind == "hard link":
        os.link(path, place.top / "second")
    else:
        place.run(["git", "config", "extensions.worktreeConfig", "true"], check=True)
        place.run(["git", "config", "--worktree", "core.abbrev", "9"], check=True)
    before, names = path.read_text(), sorted(os.listdir(place.work / ".git"))
    command = "git config --worktree branch.x.remote origin" if kind == "worktree" else UPSTREAM
    done = place.inside_argv(["sh", "-c", command], level)
    assert "hasp: denied: " in done.stdout, done.stdout
    assert path.read_text() == before and sorted(os.listdir(place.work / ".git")) == names
    (place.top / "second").unlink(missing_ok=True)


@pytest.mark.parametrize("level", LEVELS)
def test_another_command_is_under_way(place, level):
    """Its check when it ends does not take for its own what hasp wrote for the other."""
    place.bring_back()
    ready, go = place.top / "up.git/ready", place.top / "up.git/go"
    argv = place.hasp(level) + ["sh", "-c", "touch %s; until [ -e %s ]; do sleep .05; done" % (ready, go)]
    other = subprocess.Popen(place.as_user + argv, cwd=place.work, env=place.env(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while not ready.exists():
            assert other.poll() is None, other.stdout.read()
        done = place.inside_argv(["sh", "-c", UPSTREAM], level)
    finally:
        go.touch()
        told = other.communicate(timeout=120)[0]
    assert config(place).endswith(ADDED) and "denied" not in done.stdout + told, done.stdout + told
