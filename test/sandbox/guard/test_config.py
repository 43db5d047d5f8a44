# SPDX-License-Identifier: Apache-2.0
"""What stays of a git configuration, by git's own reading of it."""

import os
import random
import subprocess

import pytest
from part import part_of, in_turn

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["CONFIG_PROBE"]

# git-config(1): keys that name a program, or bring in what does.
DANGEROUS = """
core.fsmonitor=x core.hooksPath=x core.sshCommand=x core.pager=x core.editor=x core.askPass=x
core.gitProxy=x core.attributesFile=x core.alternateRefsCommand=x core.worktree=/x
sequence.editor=x pager.log=x filter.x.clean=x filter.x.smudge=x filter.x.process=x
diff.external=x diff.x.command=x diff.x.textconv=x merge.x.driver=x merge.tool=x mergetool.x.cmd=x
difftool.x.cmd=x interactive.diffFilter=x alias.lol=!x alias.lol=log include.path=x
includeIf.gitdir:/.path=x credential.helper=x credential.https://x.helper=x gpg.program=x
gpg.ssh.program=x gpg.ssh.defaultKeyCommand=x uploadpack.packObjectsHook=x url.x.insteadOf=y
url.x.pushInsteadOf=y remote.o.uploadpack=x remote.o.receivepack=x remote.o.vcs=x
remote.o.url=ext::x remote.o.url=-x remote.o.pushurl=foo::x submodule.s.url=ext::x
submodule.s.update=!x protocol.ext.allow=always trailer.x.command=x trailer.x.cmd=x
browser.x.cmd=x man.x.cmd=x help.browser=x web.browser=x instaweb.httpd=x guitool.x.cmd=x
tar.x.command=x sendemail.smtpserver=/x imap.tunnel=x init.templateDir=x http.proxy=x
http.sslCert=x gc.recentObjectsHook=x hook.x.command=x lfs.customtransfer.x.path=x
lfs.extension.x.clean=x rebase.instructionFormat=x branch.b.mergeoptions=x branch.b.remote=foo::x
commit.template=x core.fsmonitor=/x core.fsmonitor=yes receive.procReceiveRefs=x
""".split()

HARMLESS = """
core.repositoryformatversion=0 core.filemode=true core.bare=false core.logallrefupdates=true
core.ignorecase=true core.symlinks=false core.autocrlf=input core.fsmonitor=true
core.sparseCheckout=true remote.origin.url=https://example.org/x.git
remote.origin.url=git@example.org:x/y remote.origin.url=ssh://git@[::1]/x remote.origin.url=../x
remote.origin.fetch=+refs/heads/*:refs/remotes/origin/* remote.origin.promisor=true
branch.main.remote=origin branch.main.merge=refs/heads/main branch.a.b/c.rebase=true
submodule.lib.url=../lib submodule.lib.active=true submodule.lib.update=rebase user.name=A
user.email=a@example.org extensions.worktreeConfig=true extensions.partialClone=origin
pull.rebase=true push.default=simple gc.auto=0 color.ui=auto color.diff.meta=blue
""".split()


def clean(tmp_path, text, known=""):
    (tmp_path / "text").write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "known").write_text(known)
    done = subprocess.run([PROBE, tmp_path / "text", tmp_path / "known"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.decode() if done.returncode == 0 else None, done.stderr.decode()


def git(tmp_path, *argv, text=None):
    if text is not None:
        (tmp_path / "c").write_text(text)
    return subprocess.run(["git", "config", "--no-includes", "-f", "c", *argv], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def written(tmp_path, assignments):
    """As git itself writes them."""
    (tmp_path / "c").write_text("")
    for assignment in assignments:
        key, _, value = assignment.partition("=")
        assert git(tmp_path, "--add", key, value).returncode == 0, assignment
    return (tmp_path / "c").read_text()


@pytest.mark.parametrize("assignment", DANGEROUS)
def test_keys_that_run_programs_go(tmp_path, assignment):
    text = written(tmp_path, ["core.bare=false", assignment, "user.name=A B"])
    left, keys = clean(tmp_path, text)
    assert left is not None
    assert git(tmp_path, "-l", text=left).stdout.splitlines() == ["core.bare=false", "user.name=A B"]
    assert keys.lower() == assignment.partition("=")[0].lower()
    assert clean(tmp_path, text, known=text) == (text, ""), "what was there before stays"


def test_what_git_writes_stays(tmp_path):
    text = written(tmp_path, HARMLESS)
    assert clean(tmp_path, text) == (text, "")


@pytest.mark.parametrize("text", [
    "[core] pager = x\n", "[core]pager=x", "[core]\npager = \\\nx\n", "[core.sub]\nkey = x\n",
    "\ufeff[core]\nbare = true\n", "[core]\r\nbare = true\r\n", "[core]\nbare = \"x\n",
    "bare = true\n", "[core\nbare = true\n", "[core \"x]\nbare = true\n", "[core]\n9 = true\n",
    "[core]\nbare = \\q\n", "[core]\nbare = true\0\n", "[core]\nbare true\n", "[]\n", "[ core]\n",
    "[core ]\n", "[core]] x\n", "[core \"a\" b]\n", "[a\"b\"]\n", "[core]\n\x0bbare = x\n",
    "[" + "a" * 100 + "]\n",
])
def test_what_is_not_understood_is_not_believed(tmp_path, text):
    assert clean(tmp_path, text)[0] is None


@pytest.mark.parametrize("text, key, value", [
    ("[user]\n\tname = a b ; c\n", "user.name", "a b"),
    ("[user]\n\tname = \"a ; b\" # c\n", "user.name", "a ; b"),
    ("[user]\n\tname = a\\\"b\\\\\n", "user.name", 'a"b\\'),
    ("[USER]\n\tNAME=a\n", "user.name", "a"),
    ("# [core]\n; pager = x\n[user]\nname\n", "user.name", ""),
    ("[branch \"a\\\"]b\"]\nmerge = x\n", 'branch.a"]b.merge', "x"),
])
def test_forms_that_are_understood(tmp_path, text, key, value):
    assert clean(tmp_path, text) == (text, "")
    assert git(tmp_path, "--get", key, text=text).stdout.rstrip("\n") == value


def test_random_texts_hide_nothing_from_git(tmp_path):
    """Whatever git finds in what is left is harmless; whatever is understood git reads as well."""
    pieces = ["[core]", "[core", "]", "[user \"", "\"", "\n", "\n", "\n\t", "pager", "bare", "name",
              " = ", "=", "x", "\\", "\\\n", "#", ";", " ", "\\\"", "\\n", "[user]", "\r", "true",
              "[branch \"b\"]\n", "merge = m\n", "fsmonitor = x\n", "\t", "[include]\npath = x\n"]
    chance = random.Random(4)
    understood = 0
    texts = ["[user]\n\tname = " * chance.randrange(2) +
             "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 14))) for _ in range(1500)]
    for text in in_turn(texts, 12):
        left, _ = clean(tmp_path, text)
        if left is None:
            continue
        understood += 1
        listed = git(tmp_path, "-z", "--name-only", "-l", text=left)
        assert listed.returncode == 0, (text, left, listed.stderr)
        for key in filter(None, listed.stdout.split("\0")):
            assert key in ("core.bare", "user.name", "branch.b.merge"), (text, left)
    assert understood > part_of(100, 12)
