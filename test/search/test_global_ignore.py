# SPDX-License-Identifier: Apache-2.0
"""Git's global excludes file: found where git finds it."""
import os
import random
import subprocess
import time

import pytest
from part import TURN, part_of

PROBE = os.environ["GLOBAL_IGNORE_PROBE"]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    return tmp_path / "home"


def environment(home, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env.pop("XDG_CONFIG_HOME", None)
    env.update(HOME=str(home), GIT_CONFIG_SYSTEM=str(home.parent / "etc" / "gitconfig"), LC_ALL="C")
    env.update(more)
    return {key: value for key, value in env.items() if value is not None}


def ours(env):
    done = subprocess.run([PROBE], env=env, input=b"", capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    path, text, rest = done.stdout.split(b"\0")
    assert not rest
    return path.decode(errors="surrogateescape"), text.decode(errors="surrogateescape")


def theirs(env, cwd):
    """The path that git takes, None when it takes the default, or the exit code of a refusal."""
    done = subprocess.run(["git", "config", "--includes", "-z", "--type=path", "core.excludesFile"],
                          env=env, cwd=cwd, capture_output=True, timeout=300)
    if done.returncode == 0:
        return done.stdout.split(b"\0")[0].decode(errors="surrogateescape")
    return None if done.returncode == 1 else done.returncode


def default(home):
    return str(home / ".config" / "git" / "ignore")


def test_without_configuration_the_default_file_counts(home):
    (home / ".config/git/ignore").write_text("*.default\n")
    assert ours(environment(home)) == (default(home), "*.default\n")


def test_xdg_config_home_moves_the_default(home, tmp_path):
    folder = tmp_path / "xdg" / "git"
    folder.mkdir(parents=True)
    (folder / "ignore").write_text("*.xdg\n")
    env = environment(home, XDG_CONFIG_HOME=str(tmp_path / "xdg"))
    assert ours(env) == (str(folder / "ignore"), "*.xdg\n")


def test_a_missing_file_is_empty(home):
    assert ours(environment(home)) == (default(home), "")


def test_without_a_home_there_is_none(home):
    assert ours(environment(home, HOME=None)) == ("", "")


def test_later_files_win(home):
    system = home.parent / "etc/gitconfig"
    system.write_text("[core]\nexcludesFile = /system\n")
    assert ours(environment(home))[0] == "/system"
    (home / ".config/git/config").write_text("[core]\nexcludesFile = /xdg\n")
    assert ours(environment(home))[0] == "/xdg"
    (home / ".gitconfig").write_text("[core]\nexcludesFile = /dotfile\n")
    assert ours(environment(home))[0] == "/dotfile"
    (home / "other").write_text("[user]\nname = x\n")
    assert ours(environment(home, GIT_CONFIG_GLOBAL=str(home / "other")))[0] == "/system"
    for value, path in (("1", default(home)), ("true", default(home)), ("0", "/system"),
                        ("no", "/system"), ("", "/system")):
        env = environment(home, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM=value)
        assert ours(env)[0] == path, value


def test_set_to_nothing_means_none(home):
    (home / ".config/git/ignore").write_text("*.default\n")
    (home / ".gitconfig").write_text("[core]\nexcludesFile =\n")
    assert ours(environment(home)) == ("", "")


def test_the_repository_one_stands_in_does_not_count(home, tmp_path):
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(repo)], env=environment(home), check=True)
    subprocess.run(["git", "config", "core.excludesFile", "/of/the/repository"], cwd=repo, check=True,
                   env=environment(home))
    done = subprocess.run([PROBE], env=environment(home), cwd=repo, input=b"", capture_output=True)
    assert done.stdout.split(b"\0")[0].decode() == default(home)


def test_includes_count_where_they_stand(home):
    (home / "inner").write_text("[core]\nexcludesFile = /inner\n[include]\npath = deeper/more\n")
    (home / "deeper").mkdir()
    (home / "deeper/more").write_text("[CORE]\nEXCLUDESFILE = /more\n")
    (home / ".gitconfig").write_text("[core]\nexcludesFile = /first\n[include]\npath = inner\n")
    assert ours(environment(home))[0] == "/more"
    (home / ".gitconfig").write_text("[include]\npath = ~/inner\n[core]\nexcludesFile = /last\n")
    assert ours(environment(home))[0] == "/last"


def test_a_file_that_includes_itself_comes_to_an_end(home):
    (home / ".gitconfig").write_text("[include]\npath = .gitconfig\n" * 50 +
                                     "[core]\nexcludesFile = /mine\n")
    assert ours(environment(home))[0] == "/mine"


@pytest.mark.parametrize("make", ["fifo", "folder", "endless", "huge"])
def test_what_is_no_file_of_rules_is_empty(home, make):
    path = home / "rules"
    if make == "fifo":
        os.mkfifo(path)
    elif make == "folder":
        path.mkdir()
    elif make == "endless":
        path = "/dev/zero"
    else:
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    (home / ".gitconfig").write_text("[core]\nexcludesFile = %s\n" % path)
    assert ours(environment(home)) == (str(path), "")
    assert ours(environment(home, GIT_CONFIG_GLOBAL=str(path)))[0] == default(home)


LINES = ["[core]", "[core ]", "[CORE]", "[core] excludesFile = /same-line", "[core]excludesfile=/tight",
         "[core \"sub\"]", "[core.sub]", "[other]", "\texcludesFile = /plain", "excludesFile = ~/home",
         "excludesFile = %(prefix)/share/x", "excludesFile = \"/with space \" # comment",
         "excludesFile = /a ; comment", "excludesFile = /a\\tb", "excludesFile = /a\\\\b",
         "excludesFile = /go\\\n   on", "excludesFile = \"/quo\"ted\" pa\"rt", "excludesFile = /semi\";\"colon",
         "excludesFile=/trailing   ", "  excludesFile  =   /spaces in between  ", "excludesFile = /cr\r",
         "excludesFile-2 = /other", "# comment", "; comment", "", "name", "excludesFile = ",
         "excludesFile = /bad\\q", "excludesFile = \"/open", "[broken", "[include]\npath = included",
         "[include]\npath = ~/included", "[include]\npath = missing", "[core]\nexcludesFile = /utf8-\u00e9",
         "[includeIf \"gitdir:/nowhere/\"]\npath = included"]


def test_git_reads_the_same(home, tmp_path):
    """Random configuration files; where git refuses one, the reader only has to survive."""
    dice = random.Random(20261 + TURN)
    agreed = set()
    for turn in range(part_of(250, 5)):
        for name in (".gitconfig", "included"):
            lines = [dice.choice(LINES) for _ in range(dice.randrange(1, 9))]
            text = "\n".join((["[core]"] if dice.random() < 0.7 else []) + lines)
            bom = "\ufeff" if dice.random() < 0.1 else ""
            end = dice.choice(["\n", "\n", "\r\n", ""])
            (home / name).write_bytes((bom + text + end).encode())
        env = environment(home)
        want = theirs(env, tmp_path)
        got, _ = ours(env)
        if isinstance(want, int):
            continue
        agreed.add(want)
        want = default(home) if want is None else want
        assert got == want, (turn, (home / ".gitconfig").read_bytes(), (home / "included").read_bytes())
    assert len(agreed) > part_of(10, 2)


class Watcher:
    def __init__(self, env):
        self.process = subprocess.Popen([PROBE], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        while self.process.stdout.read(1) != b"\0":
            pass
        while self.process.stdout.read(1) != b"\0":
            pass

    def current(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.process.stdout.read(1) == b"1"

    def settle(self):
        """Until nothing is so young that it may have changed in the same tick."""
        for _ in range(100):
            if self.current():
                return
            time.sleep(0.05)
        raise AssertionError("never current")

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def test_any_change_is_noticed(home):
    rules, config = home / ".config/git/ignore", home / ".gitconfig"
    rules.write_text("*.a\n")
    watcher = Watcher(environment(home))
    watcher.settle()
    rules.write_text("*.b\n")
    assert not watcher.current()
    watcher.settle()
    config.write_text("[core]\nexcludesFile = ~/other\n")
    assert not watcher.current()
    watcher.settle()
    (home / "other").write_text("*.c\n")
    assert not watcher.current()
    watcher.settle()
    (home / "new").write_text("*.d\n")
    os.replace(home / "new", home / "other")
    assert not watcher.current()
    watcher.settle()
    config.unlink()
    assert not watcher.current()
    watcher.settle()
    watcher.close()


def test_a_change_in_the_same_tick_is_not_missed(home):
    """Same size, same time stamp: only who distrusts young stamps sees it."""
    rules = home / ".config/git/ignore"
    for _ in range(30):
        rules.write_text("*.a\n")
        watcher = Watcher(environment(home))
        rules.write_text("*.b\n")
        assert not watcher.current()
        watcher.close()
