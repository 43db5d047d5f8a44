# SPDX-License-Identifier: Apache-2.0
"""What is planted for git, or for people, to run later."""

from typing import NamedTuple

HOOK = r"""hook() { mkdir -p "$1"; printf '#!/bin/sh\ntouch %s\n' "$M" > "$1/$2"; chmod +x "$1/$2"; }
"""
BARE = HOOK + r"""bare() { mkdir -p "$1/objects" "$1/refs"; echo 'ref: refs/heads/main' > "$1/HEAD"
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' > "$1/config"; }
monitor() { printf '[core]\n\tfsmonitor = "touch %s; false"\n' "$M" >> "$1"; }
"""
# Writes to $O/profile where a link in the git folder leads there.
LINK_LATER = "git commit --allow-empty -m x; [ ! -s $O/profile ] || touch $M"


class Attack(NamedTuple):
    name: str
    plant: str                # the command
    later: str                # what somebody does afterwards
    setup: str = ""           # what was there before
    level: str = "full"       # at full, mounts protect what the plan knows
    notes: tuple = ()         # what the supervisor would have said; none: the folders are walked
    first: str = ""           # a command before that one, also guarded


ATTACKS = [
    # part E, row 25
    Attack("hook in a new repository", "git init -q sub; hook sub/.git/hooks pre-commit",
           "cd sub && git commit --allow-empty -m x"),
    Attack("hook in a new repository, noted", "git init -q sub; hook sub/.git/hooks pre-commit",
           "cd sub && git commit --allow-empty -m x",
           notes=("sub/.git", "sub/.git/HEAD.lock", "sub/.git/hooks/pre-commit")),
    Attack("hook in a cloned repository",
           "git clone -q . sub; hook sub/.git/hooks post-checkout", "cd sub && git checkout -b x"),
    Attack("hook at the landlock level", "hook .git/hooks pre-commit",
           "git commit --allow-empty -m x", level="landlock"),
    Attack("new hooks folder at the landlock level",
           "mv .git/hooks .git/h; mkdir .git/hooks; hook .git/hooks pre-commit",
           "git commit --allow-empty -m x", level="landlock"),
    Attack("folder of hooks moved into place", "mv ready sub/.git/hooks",
           "cd sub && git commit --allow-empty -m x",
           setup="git init -q --template= sub; hook ready pre-commit",
           notes=("sub/.git/hooks",)),
    Attack("hooks folder is a symbolic link", "ln -s ../../ready sub/.git/hooks",
           "cd sub && git commit --allow-empty -m x",
           setup="git init -q --template= sub; hook ready pre-commit"),
    Attack("hooks before there is a repository, which the next command makes",
           "cd sub/.git && mkdir objects refs && echo ref: refs/heads/main > HEAD",
           "cd sub && git commit --allow-empty -m x",
           first="hook sub/.git/hooks pre-commit", notes=("sub/.git/objects", "sub/.git/HEAD")),
    # row 27
    Attack("filter", "git config filter.x.clean 'touch $M; cat'; "
           "echo 'file filter=x' > .gitattributes; echo two > file", "git diff; git add file",
           level="landlock"),
    Attack("filter in a new repository",
           "git clone -q . sub; cd sub; git config filter.x.clean \"touch $M; cat\"; "
           "echo 'file filter=x' > .gitattributes; echo two > file",
           "cd sub && git diff; git add file"),
    Attack("included configuration", "git init -q sub; printf '[core]\\n\\tfsmonitor = "
           "\"touch %s; false\"\\n' \"$M\" > sub/c; git -C sub config include.path ../c",
           "git -C sub status"),
    Attack("hooksPath", "git init -q sub; hook sub/h pre-commit; "
           "git -C sub config core.hooksPath h", "git -C sub commit --allow-empty -m x"),
    Attack("alias", "git init -q sub; git -C sub config alias.lol '!touch $M'",
           "git -C sub lol"),
    Attack("configuration that hasp cannot read", "git init -q sub; "
           "printf '[core]fsmonitor=\"touch %s; false\"\\n' \"$M\" > sub/.git/config",
           "git -C sub status"),
    Attack("lines continued", "git init -q sub; printf '[core]\\n\\tfsmonitor = \\\\\\n\"touch "
           "%s; false\"\\n' \"$M\" > sub/.git/config", "git -C sub status"),
    # row 29
    Attack("file .git that leads into the workspace",
           "bare evil; monitor evil/config; mkdir sub; echo gitdir: ../evil > sub/.git",
           "git -C sub status"),
    Attack("file .git that leads out of it", "mkdir sub; echo gitdir: $O/evil > sub/.git",
           "git -C sub status", setup="bare $O/evil; monitor $O/evil/config"),
    Attack("symbolic link .git", "mkdir sub; ln -s $O/evil sub/.git", "git -C sub status",
           setup="bare $O/evil; monitor $O/evil/config"),
    Attack("commondir in a repository beneath",
           "echo ../../evil > sub/.git/commondir", "git -C sub status",
           setup="git init -q sub; bare evil; monitor evil/config"),
    Attack("worktree's commondir", "echo ../../../evil > .git/worktrees/t/commondir",
           "git -C t status",
           setup="bare evil; cp .git/refs/heads/main evil/; monitor evil/config; "
                 "git worktree add -q t"),
    Attack("worktree's own configuration",
           "printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' \"$M\" > "
           ".git/worktrees/t/config.worktree", "git -C t status",
           setup="git config extensions.worktreeConfig true; git worktree add -q t"),
    Attack("new worktree's own configuration",
           "git worktree add -q t; printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' \"$M\" "
           "> .git/worktrees/t/config.worktree", "git -C t status",
           setup="git config extensions.worktreeConfig true"),
    # row 96
    Attack("commondir", "bare evil; monitor evil/config; echo ../evil > .git/commondir",
           "git status"),
    # row 97
    Attack("bare repository in a folder", "bare sub; monitor sub/config; "
           "printf '[core]\\n\\tworktree = .\\n' >> sub/config", "cd sub && git status"),
    Attack("bare repository, noted", "bare sub; monitor sub/config; "
           "printf '[core]\\n\\tworktree = .\\n' >> sub/config", "cd sub && git status",
           notes=("sub/objects", "sub/refs", "sub/HEAD", "sub/config")),
    Attack("submodule that is not one",
           "git init -q sub; git -C sub commit --allow-empty -qm x; git add sub 2> /dev/null; "
           "monitor sub/.git/config", "git status"),
    Attack("module's configuration", "monitor .git/modules/new/config",
           "git -C new status",
           setup="git init -q $O/lib; git -C $O/lib commit -q --allow-empty -m x",
           first="git submodule --quiet add $O/lib new", level="landlock"),
    Attack("module in a new submodule",
           "git submodule --quiet add $O/lib new; hook .git/modules/new/hooks post-checkout",
           "git -C new checkout -b x",
           setup="git init -q $O/lib; git -C $O/lib commit -q --allow-empty -m x"),
    # row 98
    Attack("repository moved away", "mv .git old; bare .git; monitor .git/config", "git status",
           level="landlock"),
    # Git writes to what a link leads to.  The first: a branch whose name is a command, in a log.
    Attack("log is a symbolic link", "rm .git/logs/HEAD; ln -s $O/profile .git/logs/HEAD",
           LINK_LATER, setup=": > $O/profile"),
    Attack("log is a symbolic link, at the landlock level",
           "rm .git/logs/HEAD; ln -s $O/profile .git/logs/HEAD", LINK_LATER,
           setup=": > $O/profile", level="landlock"),
    Attack("log of a branch is a symbolic link",
           "rm .git/logs/refs/heads/main; ln -s $O/profile .git/logs/refs/heads/main",
           LINK_LATER, setup=": > $O/profile"),
    Attack("logs are a symbolic link", "rm -r .git/logs; ln -s $O .git/logs",
           "git commit --allow-empty -m x; [ ! -e $O/HEAD ] || touch $M"),
    Attack("folder with an old link moved into place",
           "rm -r .git/logs/refs/heads; mv ready .git/logs/refs/heads", LINK_LATER,
           setup=": > $O/profile; mkdir ready; ln -s $O/profile ready/main; sleep 0.05"),
    Attack("index is a symbolic link", "rm .git/index; ln -s $O/profile .git/index",
           "echo > new; git add new; cmp -s $O/profile $O/before || touch $M",
           setup="cp .git/index $O/before; cp .git/index $O/profile"),
    Attack("FETCH_HEAD is a symbolic link", "ln -s $O/profile .git/FETCH_HEAD",
           "git fetch . main; [ ! -e $O/profile ] || touch $M"),
    Attack("link made before the repository is noted",
           "cd sub; ln -s $O/profile .git/FETCH_HEAD", "cd sub; git fetch .. main; "
           "[ ! -e $O/profile ] || touch $M", setup="git init -q sub"),
    Attack("log of a linked worktree is a symbolic link",
           "rm .git/worktrees/t/logs/HEAD; ln -s $O/profile .git/worktrees/t/logs/HEAD",
           "cd t; " + LINK_LATER, setup=": > $O/profile; git worktree add -q t"),
    Attack("message of a rebase is a symbolic link",
           "mkdir .git/rebase-merge; ln -s $O/profile .git/COMMIT_EDITMSG.x; rm -f "
           ".git/COMMIT_EDITMSG; mv .git/COMMIT_EDITMSG.x .git/COMMIT_EDITMSG", LINK_LATER,
           setup=": > $O/profile"),
    # beyond the list
    Attack("a rebase's steps", "mkdir .git/rebase-merge; cd .git/rebase-merge; "
           "echo refs/heads/main > head-name; git rev-parse HEAD | tee onto orig-head > /dev/null; "
           ": > interactive; echo 1 | tee msgnum end > /dev/null; : > done; "
           "echo \"exec touch $M\" > git-rebase-todo",
           "git rebase --continue"),
    Attack("a second name for a configuration",
           "monitor other", "git -C sub status", setup="git init -q sub",
           first="mv sub/.git/config other; ln other sub/.git/config"),
    Attack("core.worktree that overwrites what is outside",
           "git clone -q . sub; cd sub; cp $O/../marker.tool file 2> /dev/null; "
           "printf '#!/bin/sh\\ntouch %s\\n' \"$M\" > file; git commit -qam x; "
           "git config core.worktree $O", "git -C sub checkout -f; sh $O/file"),
]
