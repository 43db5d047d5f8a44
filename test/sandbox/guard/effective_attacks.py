# SPDX-License-Identifier: Apache-2.0
"""What git obeys in a workspace because its configuration, or a link, says so."""

from typing import NamedTuple

REPOSITORY = "cp -r $T/. .\n"  # one file and one commit (effective_fixture.py)
FILTERED = REPOSITORY + "echo 'file filter=f' > .gitattributes\n"
COMMIT = "git commit --allow-empty -m x"
ADD = "echo two > file; git add file"


class Attack(NamedTuple):
    name: str
    setup: str         # what a person has
    plant: str         # the command
    later: str         # what the person does afterwards
    folder: str = "."  # where the command works, beneath the workspace: its root
    system: str = ""   # the system's configuration (GIT_CONFIG_SYSTEM); else none counts


ATTACKS = [
    # finding A6, its five
    Attack("target of a link in hooks", REPOSITORY + "good scripts/x; "
           "ln -s ../../scripts/x .git/hooks/pre-commit", "evil scripts/x", COMMIT),
    Attack("included file of the workspace", REPOSITORY + "git config include.path ../.gitconfig",
           "git config -f .gitconfig core.fsmonitor \"touch $M; false\"", "git status"),
    Attack("user's configuration is a link", REPOSITORY +
           "mv ~/.gitconfig dot; ln -s $W/dot ~/.gitconfig",
           "git config -f dot core.fsmonitor \"touch $M; false\"", "git status"),
    Attack("user's hooksPath", REPOSITORY + "git config --global core.hooksPath .hooks",
           "evil .hooks/pre-commit", COMMIT),
    Attack("filter in the workspace", FILTERED + "good tools/clean.sh; "
           "git config filter.f.clean ./tools/clean.sh", "evil tools/clean.sh", ADD),
    # links
    Attack("link behind a link in hooks", REPOSITORY + "good scripts/x; ln -s scripts/x now; "
           "ln -s ../../now .git/hooks/pre-commit",
           "evil other; rm now; ln -s other now", COMMIT),
    Attack("absent target of a link in hooks", REPOSITORY +
           "ln -s ../../scripts/x .git/hooks/pre-commit", "evil scripts/x", COMMIT),
    Attack("folder of hooks is a link", REPOSITORY + "rm -r .git/hooks; mkdir h; good h/x; "
           "ln -s ../h .git/hooks", "evil h/pre-commit", COMMIT),
    Attack("link in a folder of hooks outside", REPOSITORY + "mkdir ~/hooks; good scripts/x; "
           "ln -s $W/scripts/x ~/hooks/pre-commit; git config --global core.hooksPath '~/hooks'",
           "evil scripts/x", COMMIT),
    Attack("system's hooksPath", REPOSITORY + "git config -f $O/etc core.hooksPath .hooks",
           "evil .hooks/pre-commit", COMMIT, system="$O/etc"),
    Attack("system's configuration in the workspace", REPOSITORY +
           "git config -f etc core.pager cat",
           "git config -f etc core.fsmonitor \"touch $M; false\"", "git status", system="$W/etc"),
    Attack("folder of the user's configuration is a link", REPOSITORY +
           "mkdir -p ~/.config dots/git; ln -s $W/dots/git ~/.config/git",
           "git config -f dots/git/config core.fsmonitor \"touch $M; false\"", "git status"),
    # includes
    Attack("included when a condition comes true", REPOSITORY +
           "git config includeIf.onbranch:new.path ../more",
           "git config -f more core.fsmonitor \"touch $M; false\"", "git checkout -qb new; "
           "git status"),
    Attack("included by an included file", REPOSITORY + "git config --global include.path more; "
           "git config -f ~/more include.path $W/last",
           "git config -f last core.fsmonitor \"touch $M; false\"", "git status"),
    Attack("hooksPath in an included file outside", REPOSITORY +
           "git config --global include.path more; git config -f ~/more core.hooksPath ci/h",
           "evil ci/h/pre-commit", COMMIT),
    Attack("worktree's own configuration", REPOSITORY +
           "git config extensions.worktreeConfig true; git config --worktree core.hooksPath h",
           "evil h/pre-commit", COMMIT),
    # ways to write a path
    Attack("absent filter, by an interpreter", FILTERED +
           "git config --global filter.f.clean 'sh clean.sh %f'", "evil clean.sh", ADD),
    Attack("filter from the top", FILTERED + "good tools/c; git config filter.f.clean "
           "'\"$(git rev-parse --show-toplevel)/tools/c\" --x'", "evil tools/c", ADD),
    Attack("filter from the working folder", FILTERED + "good t/c; "
           "git config filter.f.clean '$PWD/t/c'", "evil t/c", ADD),
    Attack("filter in a shell's words", FILTERED + "good t/c; "
           "git config filter.f.clean \"LC_ALL=C exec sh -c 'true && t/c'\"", "evil t/c", ADD),
    Attack("filter behind cd", FILTERED + "good t/c; git config filter.f.clean 'cd t && ./c'",
           "evil t/c", ADD),
    Attack("filter beneath the home folder", FILTERED + "good t/c; ln -s $W ~/ws; "
           "git config filter.f.clean '~/ws/t/c'", "evil t/c", ADD),
    Attack("filter with an unknown begin", FILTERED + "good t/c; "
           "git config filter.f.clean '\"$(readlink -f .)\"/t/c'", "evil t/c", ADD),
    Attack("filter behind other commands", FILTERED +
           "git config filter.f.clean 'timeout 5s bash -eo pipefail clean.sh'", "evil clean.sh", ADD),
    Attack("filter read by a shell", FILTERED + "good clean.sh; "
           "git config filter.f.clean 'cat clean.sh | sh'", "evil clean.sh", ADD),
    # keys
    Attack("process filter", FILTERED + "good t/c; git config filter.f.process t/c", "evil t/c",
           ADD),
    Attack("smudge filter", FILTERED + "good t/c; git config filter.f.smudge t/c", "evil t/c",
           "rm file; git checkout file"),
    Attack("diff driver", FILTERED + "good t/c; git config diff.f.textconv 'sh t/c'; "
           "echo 'file diff=f' > .gitattributes", "evil t/c", "echo 2 > file; git diff"),
    Attack("external diff", REPOSITORY + "good t/c; git config diff.external t/c", "evil t/c",
           "echo 2 > file; git diff"),
    Attack("merge driver", REPOSITORY + "good t/c; git config merge.f.driver 't/c %A'; "
           "echo 'file merge=f' > .gitattributes; git checkout -qb b; echo b > file; "
           "git commit -qam b; git checkout -q main; echo m > file; git commit -qam m",
           "evil t/c", "git merge b"),
    Attack("fsmonitor", REPOSITORY + "good t/c; git config core.fsmonitor t/c", "evil t/c",
           "git status"),
    Attack("editor", REPOSITORY + "good t/c; git config core.editor t/c", "evil t/c", COMMIT +
           " -e"),
    Attack("ssh command", REPOSITORY + "mkdir t; ln -s /bin/false t/c; git config core.sshCommand t/c",
           "rm t/c; brief t/c",
           "git ls-remote ssh://host.invalid/x"),
    Attack("credential helper", REPOSITORY + "good t/c; git config credential.helper '!t/c'",
           "evil t/c", "echo url=https://host.invalid | git credential fill"),
    Attack("signing program", REPOSITORY + "good t/c; git config gpg.program ./t/c",
           "evil t/c", COMMIT + " -S"),
    Attack("trailer", REPOSITORY + "good t/c; git config trailer.t.command ./t/c", "evil t/c",
           "echo x | git interpret-trailers --trailer t=1"),
    Attack("alias", REPOSITORY + "git config alias.lint '!sh lint.sh'", "evil lint.sh",
           "git lint"),
    Attack("command in a URL", REPOSITORY + "git config url.'ext::./t/c '.insteadOf tool:",
           "brief t/c", "git ls-remote tool:x"),
    Attack("templates", "mkdir -p t/hooks; git config --global init.templateDir $W/t",
           "evil t/hooks/post-checkout", "git init -q $O/n; cd $O/n; " + COMMIT +
           "; git checkout -b x"),
    Attack("husky in a folder", REPOSITORY + "good hk/pre-commit; mkdir hk/_; "
           "printf '#!/bin/sh\\nsh hk/pre-commit\\n' > hk/_/pre-commit; chmod +x hk/_/pre-commit; "
           "git config core.hooksPath hk/_", "evil hk/pre-commit", COMMIT),
    Attack("the top as the folder of hooks", REPOSITORY + "git config core.hooksPath $W",
           "evil pre-commit", COMMIT),
    # other repositories
    Attack("submodule's filter", REPOSITORY + "git init -q $O/l; cd $O/l; echo l > file; "
           "git add file; git commit -qm l; cd $W; git submodule --quiet add $O/l sub; "
           "git -C sub config filter.f.clean t/c; git commit -qm s; "
           "echo 'file filter=f' > sub/.gitattributes", "evil sub/t/c",
           "cd sub; " + ADD),
    Attack("linked worktree's filter", "cd $O; " + REPOSITORY + "git config filter.f.clean t/c; "
           "rmdir $W; git worktree add -q $W; echo 'file filter=f' > $W/.gitattributes",
           "evil t/c", ADD),
    Attack("filter in a linked worktree inside", REPOSITORY + "git config filter.f.clean ./tools/c; "
           "git worktree add -q tree; echo 'file filter=f' > tree/.gitattributes",
           "evil tree/tools/c", "cd tree; " + ADD),
    Attack("moved submodule's filter", REPOSITORY + "git init -q $O/l; cd $O/l; echo l > file; "
           "git add file; git commit -qm l; cd $W; git submodule --quiet add $O/l sub; "
           "git commit -qm s; git mv sub moved; git -C moved config filter.f.clean ./t/c; "
           "echo 'file filter=f' > moved/.gitattributes", "evil moved/t/c", "cd moved; " + ADD),
    Attack("hooks where core.worktree leads", "mkdir sub; " + REPOSITORY +
           "git config core.worktree ../sub; git config core.hooksPath .hooks",
           "evil sub/.hooks/pre-commit", COMMIT),
    Attack("hooks of the enclosing repository", REPOSITORY + "mkdir sub",
           "evil ../.git/hooks/pre-commit", COMMIT, folder="sub"),
    Attack("configuration of the enclosing repository", REPOSITORY + "mkdir sub",
           "git config core.fsmonitor \"touch $M; false\"", "git status", folder="sub"),
    Attack("filter of the enclosing repository", FILTERED + "mkdir sub; "
           "git config filter.f.clean sub/c", "evil c", ADD, folder="sub"),
    Attack("hook in a new repository", "true", "git init -q; evil .git/hooks/pre-commit", COMMIT),
    Attack("configuration of a new repository", "true",
           "git init -q; git config core.fsmonitor \"touch $M; false\"", "git status"),
    Attack("hook in what will be a repository", "true",
           "evil .git/hooks/pre-commit", "git init -q; " + COMMIT),
]
