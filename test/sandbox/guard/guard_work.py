# SPDX-License-Identifier: Apache-2.0
"""Ordinary work with git: each line must do all it does, and leave nothing for the guard."""

WORK = {
    "add and commit": "echo two > file; git add file; git commit -qm two",
    "branch, checkout and tag": "git branch b; git checkout -q b; echo x > x; git add x; "
                                "git commit -qm x; git tag -a -m t t; git checkout -q main",
    "merge with a conflict": "git checkout -q -b b; echo b > file; git commit -qam b; "
                             "git checkout -q main; echo m > file; git commit -qam m; "
                             "git merge b || true; echo r > file; git commit -qam merged",
    "rebase with a conflict": "git checkout -q -b b; echo b > file; git commit -qam b; "
                              "git checkout -q main; echo m > file; git commit -qam m; "
                              "git rebase main b || true",
    "rebase goes on": "git checkout -q -b c; echo c > c; git add c; git commit -qm c; "
                      "git rebase -q main; git rebase -q -i HEAD~1",
    "stash": "echo two > file; git stash -q; git stash pop -q",
    "gc": "git gc -q --aggressive --prune=now",
    "reflog, notes, bundle": "git notes add -m n; git bundle create -q b HEAD; git reflog expire "
                             "--all --expire=now",
    "worktree": "git worktree add -q t; cd t; echo t > t; git add t; git commit -qm t; cd ..; "
                "git worktree list; git worktree move t u; git worktree lock u; "
                "git worktree unlock u; git worktree remove u; git worktree prune",
    "worktree that stays": "git worktree add -q trees/t; git -C trees/t checkout -q -b other",
    "worktree whose files are gone": "git worktree add -q t; rm -r t",
    "clone into a subfolder": "git clone -q . sub; cd sub; git checkout -q -b b; echo b > b; "
                              "git add b; git commit -qm b; git push -q origin b; git gc -q",
    "mirror and bare clone": "git clone -q --bare . sub.git; git clone -q --mirror . m.git; "
                             "git -C sub.git worktree add -q $W/wt",
    "init with another git folder": "git init -q --separate-git-dir sep sub",
    "submodule": "git submodule --quiet add $O/lib sub; git commit -qm sub; "
                 "git submodule --quiet update --init --recursive; git -C sub checkout -q -b b; "
                 "git submodule --quiet deinit -f sub; git submodule --quiet update --init",
    "submodule inside a clone": "git submodule --quiet add $O/lib deep/sub; git commit -qm s; "
                                "git clone -q --recurse-submodules . copy",
    "shallow and partial": "git clone -q --depth 1 file://$O/lib s; "
                           "git clone -q --filter=blob:none file://$O/lib p",
    "sparse": "git clone -q --sparse $O/lib s; git -C s sparse-checkout add x",
    "identity and remotes of a new repository": "git init -q n; cd n; git config user.name x; "
        "git remote add o ssh://git@example.org/x; git config branch.main.remote o; "
        "git config pull.rebase true; git config core.autocrlf input; git config gc.auto 0",
}
