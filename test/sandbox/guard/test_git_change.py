# SPDX-License-Identifier: Apache-2.0
"""Which changes of a repository's configuration hasp makes for a command, as data; and that it reads a file as git does."""

import os
import random
import subprocess

import pytest
from part import part_of

PROBE = os.environ["CHANGE_PROBE"]
BEFORE = """[core]
	repositoryformatversion = 0
	bare = false
[alias]
	lol = log
[remote "origin"]
	url = ../up.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "empty"]
	fetch = x
[branch "main"]
	remote = origin
	merge = refs/heads/main
[branch "odd"]
	remote = origin
	mergeoptions = --no-ff
[submodule "sub"]
	active = true
	url = ../sub
[include]
	path = other
"""
NEW, OTHER = '[branch "new"]\n\t', '[branch "other"]\n\t'

# What follows BEFORE, or (before, after) what is replaced in it.
HARMLESS = {
    "an upstream": NEW + "remote = origin\n\tmerge = refs/heads/x\n",
    "a local upstream": NEW + "remote = .\n\tmerge = refs/heads/main\n",
    "another place to push to": NEW + "pushRemote = origin\n",
    "rebase": NEW + "rebase = merges\n",
    "a description": NEW + 'description = "two\\nlines; #no comment \\"\\\\"\n',
    "what an editor compares with": NEW + "vscode-merge-base = origin/main\n",
    "the same twice": NEW + "remote = origin\n" + NEW + "remote = origin\n",
    "written in another way": '[BRANCH "new"]REMOTE="or"igin # why\n',
    "the old form of a section": "[branch.new]\nremote = origin\n",
    "another upstream": ("refs/heads/main", "refs/heads/other"),
    "no upstream": ('	remote = origin\n	merge = refs/heads/main\n[branch "odd"]', '[branch "odd"]'),
    "the old upstream, which git removes before it writes a new one": ("\tmerge = refs/heads/main\n", ""),
    "a branch renamed": ('[branch "main"]', '[branch "moved"]'),
    "a branch removed, with all it had": ('[branch "odd"]\n	remote = origin\n	mergeoptions = --no-ff\n', ""),
}
NONE = {
    "a comment": "# comment\n", "an empty section": '[branch "empty"]\n',
    "other blanks": ("bare = false", "bare=false"), "another case": ("bare", "BARE"), "quotes": ("false", '"fal"se'),
}
# What runs a program, reads another file, or names another place: in a section that may be changed and in others.
DANGEROUS = """
core.fsmonitor=x core.hooksPath=x core.sshCommand=x core.pager=x core.editor=x core.askPass=x core.gitProxy=x
core.attributesFile=x core.alternateRefsCommand=x core.worktree=/x core.excludesFile=x core.bare=true
core.abbrev=8 core.sparseCheckout=true core.repositoryFormatVersion=1 core.protectNTFS=false
sequence.editor=x pager.log=x filter.x.clean=x filter.x.smudge=x filter.x.process=x filter.x.required=false
diff.external=x diff.x.command=x diff.x.textconv=x merge.x.driver=x merge.tool=x mergetool.x.cmd=x difftool.x.cmd=x
interactive.diffFilter=x alias.lol=!x alias.new=log include.path=x includeIf.onbranch:x.path=y
includeIf.gitdir:/.path=x credential.helper=x credential.https://x.helper=x gpg.program=x gpg.format=ssh
gpg.ssh.program=x gpg.ssh.defaultKeyCommand=x gpg.ssh.allowedSignersFile=x commit.gpgSign=false user.signingKey=x
user.name=x user.email=x author.name=x uploadpack.packObjectsHook=x url.x.insteadOf=y url.x.pushInsteadOf=y
remote.origin.url=x remote.origin.pushurl=x remote.origin.fetch=x remote.origin.push=x remote.origin.mirror=true
remote.origin.uploadpack=x remote.origin.receivepack=x remote.origin.vcs=x remote.origin.proxy=x
remote.origin.tagOpt=--tags remote.origin.prune=true remote.new.url=x remote.pushDefault=x remotes.x=y
branch.new.remote=../elsewhere branch.new.remote=https://example.org/x branch.new.remote=ext::x branch.new.remote=-x
branch.new.remote=empty branch.new.remote=Origin branch.new.remote=.. branch.new.pushRemote=x
branch.new.merge=main branch.new.merge=-x branch.new.merge=refs/heads/../x branch.new.rebase=!x
branch.new.rebase=exec-x branch.new.mergeoptions=-s branch.new.sort=x branch.new.vscode-merge-base=-x
branch.new.gh-merge-base=--output=x branch.autoSetupMerge=always branch.sort=x branch.remote=origin
submodule.sub.url=x submodule.new.url=../sub submodule.new.active=true submodule.sub.update=!x
submodule.sub.branch=x submodule.sub.active=false submodule.recurse=true submodule.active=x
protocol.ext.allow=always protocol.file.allow=always trailer.x.command=x trailer.x.cmd=x browser.x.cmd=x
man.x.cmd=x help.browser=x web.browser=x instaweb.httpd=x tar.x.command=x sendemail.smtpserver=/x imap.tunnel=x
init.templateDir=x http.proxy=x http.sslCert=x http.sslVerify=false http.https://x.extraHeader=x gc.recentObjectsHook=x
hook.x.command=x lfs.url=x lfs.customtransfer.x.path=x lfs.extension.x.clean=x rebase.instructionFormat=x
commit.template=x receive.procReceiveRefs=x extensions.worktreeConfig=true extensions.partialClone=x
extensions.refStorage=reftable safe.directory=* safe.bareRepository=all maintenance.repo=/x index.version=4
notes.rewriteRef=x pack.packSizeLimit=1 transfer.credentialsInUrl=allow uploadarchive.allowUnreachable=true
""".split()


def judge(tmp_path, before, after):
    for name, text in (("before", before), ("after", after)):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done = subprocess.run([PROBE, tmp_path / "before", tmp_path / "after"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    assert done.returncode == 0, done.stdout
    return done.stdout.rstrip("\n").split("\n", 1) if "\n" in done.stdout.rstrip("\n") else [done.stdout.strip(), ""]


def changed(row):
    if isinstance(row, str):
        return BEFORE + row
    assert row[0] in BEFORE
    return BEFORE.replace(*row)


@pytest.mark.parametrize("row", HARMLESS)
def test_what_git_needs_is_harmless(tmp_path, row):
    assert judge(tmp_path, BEFORE, changed(HARMLESS[row])) == ["harmless", ""]


@pytest.mark.parametrize("row", NONE)
def test_the_same_settings_are_no_change(tmp_path, row):
    assert judge(tmp_path, BEFORE, changed(NONE[row])) == ["none", ""]


def spellings(key, value):
    """The same setting in every spelling that git takes for it."""
    section, _, rest = key.partition(".")
    sub, _, name = rest.rpartition(".")
    head = '[%s "%s"]' % (section, sub) if sub else "[%s]" % section
    upper = '[%s "%s"]' % (section.upper(), sub) if sub else "[%s]" % section.upper()
    quoted = '"' + value + '"'
    yield "%s\n\t%s = %s\n" % (head, name, value)
    yield "%s%s=%s\n" % (upper, name.upper(), quoted)
    yield "%s %s = %s # comment\n" % (head, name, quoted)
    yield "%s ; [x]\n\t%s\t= %s\"\"\n" % (head, name, quoted)
    yield NEW + "remote = origin\n%s\n%s = %s\n" % (head, name, value)
    yield '[branch "a\\"]"]\n\tdescription = "\\\\"\n%s\n%s=%s\n' % (head, name, value)


@pytest.mark.parametrize("assignment", DANGEROUS)
def test_no_dangerous_key_in_any_spelling(tmp_path, assignment):
    key, _, value = assignment.partition("=")
    for text in spellings(key, value):
        for after in (BEFORE + text, text + BEFORE):
            (tmp_path / "c").write_text(after)
            read = subprocess.run(["git", "config", "--no-includes", "-f", "c", "--get-all", key], cwd=tmp_path,
                                  stdout=subprocess.PIPE, text=True).stdout.splitlines()
            assert value in read, "git reads it: " + after
            kind, keys = judge(tmp_path, BEFORE, after)
            assert kind == "refused" and key.lower() in keys.lower(), (kind, keys, after)
        assert judge(tmp_path, after, after + OTHER + "remote = origin\n") == ["harmless", ""], "what was there stays"
        assert judge(tmp_path, after, BEFORE)[0] == ("harmless" if key.startswith(("branch.new.", "submodule.new.")) else
                                                     "refused"), "it may not be removed either"


@pytest.mark.parametrize("text", [
    b"\xef\xbb\xbf[branch \"x\"]\nremote = .\n", b"[branch \"x\"]\r\nremote = .\r\n", b"[branch \"x\"]\nremote = \\\n.\n",
    b"[branch \"x\"]\nremote = .\0\n", b"[branch \"x\"]\nremote = .", b"[branch \"x\"]\n\x0bremote = .\n",
    b"[branch \"x\"]\nremote = \".\n", b"[branch \"x\nremote = .\n", b"[branch \"x\"\nremote = .\n", b"[branch \"x\"] remote .\n",
    b"[branch \"x\"]\nremote = \\q\n", b"[branch \"x\"]\n9 = .\n", b"[]\n", b"[branch \"x\"]\nremote\x7f = .\n",
    b"[branch \"x\0y\"]\nremote = .\n", b"x" * (1 << 20), b"[branch \"x\"]\ndescription = " + b"y" * (1 << 20) + b"\n",
    b"[branch \"x\"]\ndescription = " + b"y" * (100 << 10) + b"\n",
], ids=lambda text: repr(text[:40]))
def test_what_could_be_mistaken_is_not_read(tmp_path, text):
    assert judge(tmp_path, "", text) == ["refused", "what cannot be compared"]
    assert judge(tmp_path, text, "") == ["refused", "what cannot be compared"]


def test_the_order_counts(tmp_path):
    first, second = BEFORE.index("[alias]"), BEFORE.index("[remote \"origin\"]")
    moved = BEFORE[:first] + BEFORE[second:] + BEFORE[first:second]
    assert judge(tmp_path, BEFORE, moved) == ["refused", "the order of its settings"]
    assert judge(tmp_path, BEFORE, NEW + "remote = origin\n" + BEFORE) == ["harmless", ""]


def test_comments_stay(tmp_path):
    before, added = "# mine\n" + BEFORE + "; too\n", NEW + "remote = origin\n"
    assert judge(tmp_path, before, before + added) == ["harmless", ""]
    assert judge(tmp_path, BEFORE, before + added) == ["harmless", ""]
    assert judge(tmp_path, before, BEFORE + added) == ["refused", "its comments"]
    assert judge(tmp_path, before, "; too\n" + BEFORE + "# mine\n" + added) == ["refused", "its comments"]


@pytest.mark.parametrize("name", ["remote", "pushremote", "mergeoptions"])
def test_what_git_removes_first_stays(tmp_path, name):
    """ "git remote remove" begins with the first two, and could not end; the whole section may go."""
    before = BEFORE + NEW + "description = x\n\t%s = origin\n" % name
    assert judge(tmp_path, before, BEFORE + NEW + "description = x\n") == ["refused", "branch.new." + name]
    assert judge(tmp_path, before, BEFORE) == ["harmless", ""]


@pytest.mark.parametrize("name", ["merge", "rebase", "description", "vscode-merge-base", "gh-merge-base"])
def test_one_setting_is_removed_alone(tmp_path, name):
    value = {"merge": "refs/heads/x", "rebase": "true"}.get(name, "x")
    before = BEFORE + NEW + "remote = origin\n\t%s = %s\n" % (name, value)
    assert judge(tmp_path, before, BEFORE + NEW + "remote = origin\n") == ["harmless", ""]


def test_a_submodule_goes_as_a_whole(tmp_path):
    """As "git submodule deinit" has it; one of its settings stays, and so does the order of the others."""
    section = '[submodule "sub"]\n\tactive = true\n\turl = ../sub\n'
    after = BEFORE.replace(section, "")
    assert after != BEFORE and judge(tmp_path, BEFORE, after) == ["harmless", ""]
    assert judge(tmp_path, BEFORE, BEFORE.replace("\tactive = true\n", "")) == ["refused", "submodule.sub.active"]
    assert judge(tmp_path, BEFORE.replace("[include]", "[core]\n\tabbrev = 9\n[include]"),
                 after.replace("[include]\n\tpath = other\n", "[include]\n\tpath = other\n[core]\n\tabbrev = 9\n")) == \
        ["refused", "the order of its settings"]


def test_a_change_names_its_keys_up_to_a_length(tmp_path):
    kind, keys = judge(tmp_path, "", "".join("[a%d]\nb = c\n" % i for i in range(1000)))
    assert kind == "refused" and keys.startswith("a0.b, a1.b, ") and len(keys) < 160


PIECES = ["[", "]", '"', "\\", "=", "#", ";", " ", "\t", "\n", "\n", "\n", "\r\n", "\r", ".", "-", "a", "B", "branch", "remote",
          "core", "fsmonitor", "\\n", "\\t", "\\\\", '\\"', "\\b", "\\q", "\\\n", '[branch "x"]\n', "[core]\n", "[a.b]", '[a "b"]',
          "[a.B \"c\"]", "x = y\n", "x=\"a b\" c  # d\n", "x\n", "\xe9", "\ufeff", "\0", "\x0b", "9", "_", "%"]


def test_hasp_reads_what_git_reads(tmp_path):
    """Random texts: those that hasp reads git reads, and reads as the same settings."""
    seed = random.randrange(1 << 32)
    chosen, read = random.Random(seed), 0
    for _ in range(part_of(4000, 10)):
        parts = ['[branch "x"]\n'] if chosen.random() < .5 else []
        for _ in range(chosen.randrange(1, 12)):
            parts.append(chosen.choice(PIECES))
        text = ("".join(parts) + "\n").encode()
        (tmp_path / "c").write_bytes(text)
        ours = subprocess.run([PROBE, tmp_path / "c"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert ours.returncode in (0, 1), (seed, text, ours.stderr)
        if ours.returncode == 1:
            continue
        read += 1
        git = subprocess.run(["git", "config", "--no-includes", "-f", "c", "-z", "--list"], cwd=tmp_path,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        theirs = b"".join(one + b"\0" for one in git.stdout.split(b"\0") if b"." in one.partition(b"\n")[0])
        assert git.returncode == 0 and theirs == ours.stdout, (seed, text, git.stderr)
    assert read > 20, "some are read"
