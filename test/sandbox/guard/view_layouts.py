# SPDX-License-Identifier: Apache-2.0
"""Repositories in all shapes, places for them, and git's everyday commands: what test_view.py combines."""

from typing import NamedTuple

# A repository `m`: branch `narrow` changes a folder of it, `wide` all of it.
MAKE = """
make() {
	git init -q "$1"
	( cd "$1"; mkdir -p a/deep b; for f in README a/x a/deep/y b/z; do echo one > $f; done
	  git add .; git commit -qm one
	  git checkout -q -b narrow; echo narrow > a/deep/y; git commit -qam narrow
	  git checkout -q -b wide main; echo wide > README; echo wide > b/z; echo wide > a/deep/y
	  git rm -q a/x; git commit -qam wide
	  git checkout -q main )
}
"""


class Layout(NamedTuple):
    make: str            # a script in an empty folder
    root: str            # the workspace, beneath it
    tops: tuple = ("m",)  # work trees
    flags: tuple = ()    # of `hasp sandbox`, with $D for the folder
    env: dict = {}       # with $D
    refused: tuple = ()  # commands that may fail although the view is whole: their files are read-only


OUTSIDE = ("stash", "stash and pop", "stash with new files", "checkout wide", "merge wide", "rebase wide", "reset",
           "restore", "new worktree")

ELSEWHERE = (*OUTSIDE, "checkout narrow", "merge narrow", "rebase narrow")

LAYOUTS = {
    "whole": Layout("make m", "m"),
    "folder": Layout("make m", "m/a", refused=OUTSIDE),
    "deep folder": Layout("make m", "m/a/deep", refused=OUTSIDE),
    "worktree inside": Layout("make m; git -C m worktree add -q wt", "m/wt", ("m", "m/wt")),
    "folder of a worktree inside": Layout("make m; git -C m worktree add -q wt", "m/wt/a", ("m", "m/wt"),
                                          refused=OUTSIDE),
    "worktree beside": Layout("make m; git -C m worktree add -q ../wt", "wt", ("m", "wt")),
    "worktrees elsewhere": Layout("make m; git -C m worktree add -q ../t1; git -C m worktree add -q ../t2", "m",
                                  ("m", "t1", "t2")),
    "folder, worktree elsewhere": Layout("make m; git -C m worktree add -q ../t1", "m/a", ("m", "t1"),
                                         refused=OUTSIDE),
    "bare with worktrees": Layout("make s; git clone -q --bare s b.git; git -C b.git worktree add -q ../m main; "
                                  "git -C b.git worktree add -q ../n narrow", "m", ("m", "n")),
    "the bare one of worktrees": Layout("make s; git clone -q --bare s b.git; "
                                        "git -C b.git worktree add -q ../m main", "b.git", ("m",)),
    "with a submodule": Layout("make s; make m; git -C m submodule --quiet add ../s sub; git -C m commit -qm s",
                               "m", ("m", "m/sub")),
    "submodule": Layout("make s; make m; git -C m submodule --quiet add ../s sub; git -C m commit -qm s",
                        "m/sub", ("m", "m/sub")),
    "folder of a submodule": Layout("make s; make m; git -C m submodule --quiet add ../s sub; git -C m commit -qm s",
                                    "m/sub/a", ("m", "m/sub"), refused=OUTSIDE),
    "core.worktree": Layout("make m; mkdir g; mv m/.git g; git -C g config core.worktree $D/m", "g", (),
                            refused=ELSEWHERE),
    "variables": Layout("make m; mkdir g; mv m/.git g", "g", (), refused=ELSEWHERE,
                        env={"GIT_DIR": "$D/g/.git", "GIT_WORK_TREE": "$D/m"}),
    "git folder elsewhere": Layout("make m; git init -q --separate-git-dir $D/g m", "m"),
    "borrowed objects": Layout("make s; git clone -q -s s m; git -C m branch -q narrow origin/narrow; "
                               "git -C m branch -q wide origin/wide", "m"),
    "borrowed objects, folder": Layout("make s; git clone -q -s s m; git -C m branch -q narrow origin/narrow; "
                                       "git -C m branch -q wide origin/wide", "m/a", refused=OUTSIDE),
    "sparse": Layout("make m; git -C m sparse-checkout set a", "m"),
    "sparse, folder": Layout("make m; git -C m sparse-checkout set a", "m/a", refused=OUTSIDE),
    "hidden file": Layout("make m", "m", flags=("--deny", "$D/m/README")),
    "hidden folder": Layout("make m", "m", flags=("--deny", "$D/m/b")),
    "folder hidden in part": Layout("make m; echo w > m/b/w; git -C m add b; git -C m commit -qm w", "m",
                                    flags=("--deny", "$D/m/b", "--read", "$D/m/b/w")),
    "folder, hidden in part elsewhere": Layout(
        "make m; echo w > m/b/w; git -C m add b; git -C m commit -qm w", "m/a",
        flags=("--deny", "$D/m/b", "--read", "$D/m/b/w")),
    "named with --write": Layout("make m; mkdir w", "w", ("m",), flags=("--write", "$D/m/.git"),
                                 env={"GIT_DIR": "$D/m/.git", "GIT_WORK_TREE": "$D/m"}, refused=ELSEWHERE),
}

# What is not in LAYOUTS' own words: no layout may do more than these with hidden files.
HIDING = {name for name, layout in LAYOUTS.items() if "hidden" in name}

PLACES = {
    "tmp": "/tmp", "shm": "/dev/shm", "run": "/run/user/%d", "var": "/var/tmp",
    "TMPDIR": "/var/tmp",  # with the variable set to the folder that all lies in
    "home": "/var/tmp",    # with HOME likewise
    "home in tmp": "/tmp",
}

# What is done outside first, and the command.
CHANGE = "echo two >> m/a/x; echo two >> m/README; echo new > m/a/new"
COMMANDS = {
    "status": (CHANGE, "git status --porcelain"),
    "add": (CHANGE, "git add -A"),
    "add all": (CHANGE, "git add -A :/"),
    "commit": (CHANGE, "git commit -qam c"),
    "add and commit": (CHANGE, "git add -A :/; git commit -qm c"),
    "commit of nothing": ("", "git commit -qam c"),
    "amend": (CHANGE, "git commit -q -a --amend -m c"),
    "stash": (CHANGE, "git stash -q"),
    "stash and pop": (CHANGE, "git stash -q; git stash pop -q"),
    "stash with new files": (CHANGE, "git stash -q -u"),
    "checkout narrow": ("", "git checkout -q narrow"),
    "checkout wide": ("", "git checkout -q wide"),
    "switch": (CHANGE, "git switch -q -c n"),
    "merge narrow": ("", "git merge -q -m m narrow"),
    "merge wide": ("", "git merge -q -m m wide"),
    "rebase narrow": ("", "git checkout -q -b n; git commit -q --allow-empty -m e; git rebase -q narrow"),
    "rebase wide": ("", "git rebase -q wide"),
    "reset": (CHANGE, "git reset -q --hard"),
    "restore": (CHANGE, "git restore ."),
    "new worktree": ("", "git worktree add -q $ROOT/new"),
    "prune": (CHANGE, "git worktree prune; git worktree list"),
    "rename of a branch": ("", "git branch -m narrow n"),
    "gc": ("", "git gc -q --prune=now"),
    "update of submodules": ("", "git submodule --quiet update --init"),
}
