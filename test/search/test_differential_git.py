# SPDX-License-Identifier: Apache-2.0
"""What ignore files leave out is what git leaves out: `git ls-files -co --exclude-standard` and
`git check-ignore`, on trees made at random and real ones, with nothing in the index.
"""

import os
import random
import shutil
from pathlib import Path

import pytest
from part import part_step
import search_trees
from search_peers import ENV, git, git_files, git_ignored, hasp_files, hasp_names, shown

pytestmark = pytest.mark.rows_in_turn(3)

PART = part_step(4)  # of so many random trees one


def init(folder, *more):
    git(folder, "init", "-q", *more)
    return folder


def same_files(tree, env=ENV, **arguments):
    ours, theirs = hasp_files(tree, env=env, **arguments), git_files(tree, env=env)
    assert ours == theirs, {"only hasp": sorted(ours - theirs)[:20], "only git": sorted(theirs - ours)[:20]}
    return ours


@pytest.mark.parametrize("seed", range(0, 40, PART))
def test_random_trees(tmp_path, seed):
    search_trees.random_tree(tmp_path, seed, files=60)
    search_trees.sprinkle_ignores(tmp_path, seed)
    init(tmp_path)
    same_files(tmp_path)


@pytest.mark.parametrize("seed", range(100, 110, PART))
def test_the_rules_of_the_repository_and_of_the_user(tmp_path, seed):
    """.git/info/exclude and core.excludesFile, in their order below .gitignore."""
    tree, home = tmp_path / "tree", tmp_path / "home"
    tree.mkdir()
    home.mkdir()
    search_trees.random_tree(tree, seed, files=60)
    search_trees.sprinkle_ignores(tree, seed)
    init(tree)
    dice = random.Random(seed)

    def some():
        return "\n".join(dice.sample(search_trees.IGNORE_LINES, 5)) + "\n"
    (tree / ".git/info/exclude").write_text(some())
    (home / "excludes").write_text(some())
    (home / "config").write_text("[core]\n\texcludesFile = %s/excludes\n" % home)
    env = dict(ENV, HOME=str(home), GIT_CONFIG_GLOBAL=str(home / "config"))
    same_files(tree, env=env)


def test_the_default_of_the_user(tmp_path):
    tree = tmp_path / "tree"
    (tmp_path / "home/.config/git").mkdir(parents=True)
    (tmp_path / "home/.config/git/ignore").write_text("*.mine\n")
    tree.mkdir()
    init(tree)
    for name in ("a.mine", "b"):
        (tree / name).write_text("x\n")
    env = {key: value for key, value in ENV.items() if key not in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME")}
    env["HOME"] = str(tmp_path / "home")
    assert same_files(tree, env=env) == {"b"}
    assert hasp_files(tree, env=env, respect_git_ignore=False) >= {"a.mine", "b"}


@pytest.mark.parametrize("seed", range(200, 212, PART))
def test_repositories_within_the_repository(tmp_path, seed):
    """The rules of the outer one end where an inner one begins."""
    search_trees.random_tree(tmp_path, seed, files=60)
    search_trees.sprinkle_ignores(tmp_path, seed)
    init(tmp_path)
    for name in ("src/deep", "a/b", "lib"):
        if (tmp_path / name).is_dir():
            init(tmp_path / name)
            (tmp_path / name / ".git/info/exclude").write_text("*.py\n!y.log\n")
    same_files(tmp_path)


def committed(folder):
    """A repository with one commit, for submodules and worktrees."""
    init(folder)
    (folder / "kept.c").write_text("x\n")
    git(folder, "add", "kept.c")
    git(folder, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "one")
    return folder


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")


def test_a_worktree_has_the_exclude_file_of_its_repository(tmp_path):
    (tmp_path / "main").mkdir()
    main = committed(tmp_path / "main")
    git(main, "worktree", "add", "-q", str(main / "inner"))
    git(main, "worktree", "add", "-q", str(tmp_path / "outer"))
    (main / ".git/info/exclude").write_text("*.excluded\n")
    (main / ".gitignore").write_text("*.of-main\n")
    for tree in (main, main / "inner", tmp_path / "outer"):
        make(tree, "a.excluded", "b.of-main", "c", "sub/d.excluded")
        assert (tree / ".git").is_file() == (tree != main)
    assert same_files(main) >= {"kept.c", "c", "inner/kept.c", "inner/b.of-main"}
    assert git_files(main / "inner") == {"kept.c", "b.of-main", "c"}
    assert hasp_files(main, path="inner") == {"inner/" + name for name in ("kept.c", "b.of-main", "c")}
    # What is not beneath a workspace root is out of reach: here hasp shows more than git.
    assert git_files(tmp_path / "outer") == {"kept.c", "b.of-main", "c"}
    assert hasp_files(tmp_path / "outer") == {"kept.c", "b.of-main", "c", "a.excluded", "sub/d.excluded"}
    assert hasp_files(tmp_path, path="outer") == {
        "outer/" + name for name in ("kept.c", "b.of-main", "c")}


def test_a_submodule_is_a_repository_of_its_own(tmp_path):
    for name in ("library", "main"):
        (tmp_path / name).mkdir()
    committed(tmp_path / "library")
    main = committed(tmp_path / "main")
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "library"), "lib")
    (main / ".gitignore").write_text("*.o\n")
    (main / ".git/modules/lib/info/exclude").write_text("*.excluded\n")
    make(main, "a.o", "lib/b.o", "lib/c.excluded", "lib/d", "e.excluded")
    assert (main / "lib/.git").is_file()
    assert same_files(main) == {".gitignore", ".gitmodules", "kept.c", "e.excluded", "lib/kept.c", "lib/b.o", "lib/d"}


@pytest.mark.parametrize("text", [b"gitdir: /nonexistent\n", b"gitdir: ../../../../etc\n", b"", b"nonsense\n", b"gitdir: " + b"x" * 100000,
                                  b"gitdir: .\n", b"gitdir: \0\n", b"gitdir: .git\n"],
                         ids=["missing", "outside", "empty", "nonsense", "long", "itself", "nul", "loop"])
def test_a_git_file_that_lies_harms_nothing(tmp_path, text):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/.git").write_bytes(text)
    make(tmp_path, "a", "inner/b")
    assert hasp_files(tmp_path) == {"a", "inner/b"}


def rules_or_nothing(source, target):
    """For a copy in which only names matter."""
    if os.path.basename(source).startswith(".git"):
        shutil.copyfile(source, target)
    else:
        os.mknod(target)


@pytest.mark.parametrize("which", ["own", "npm", "debian0", "debian1"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_real_trees(tmp_path, which, seed):
    """As they are, and with more ignore files sprinkled over them."""
    tree = tmp_path / "tree"
    if which == "own":
        tree.mkdir()
        search_trees.own_checkout(tree)
    else:
        source = search_trees.npm_tree() if which == "npm" else search_trees.debian_sources()[int(which[-1])]
        shutil.copytree(source, tree, symlinks=True, copy_function=rules_or_nothing)
    if seed is not None:
        search_trees.sprinkle_ignores(tree, seed)
    init(tree)
    assert same_files(tree) or seed is not None


def test_beginning_in_a_folder_changes_nothing(tmp_path):
    """The ignore files above count in every folder that is not ignored itself."""
    search_trees.random_tree(tmp_path, 31, files=80)
    search_trees.sprinkle_ignores(tmp_path, 31)
    init(tmp_path)
    whole = same_files(tmp_path)
    tried = 0
    for base, folders, _ in os.walk(str(tmp_path)):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in folders:
            path = os.path.relpath(os.path.join(base, name), str(tmp_path))
            prefix = shown(os.fsencode(path)) + "/"
            if any("\udc80" <= char <= "\udcff" for char in path):
                continue
            if git_ignored(tmp_path, [os.fsencode(path)]):
                continue
            tried += 1
            assert hasp_files(tmp_path, path=path) == {one for one in whole if one.startswith(prefix)}, path
    assert tried > 3


def test_a_search_sees_what_the_walk_sees(tmp_path):
    search_trees.random_tree(tmp_path, 36)
    search_trees.sprinkle_ignores(tmp_path, 36)
    init(tmp_path)
    kinds = search_trees.kinds(tmp_path)
    marks = (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
    empty = {shown(os.fsencode(os.path.relpath(os.path.join(base, name), str(tmp_path))))
             for base, _, names in os.walk(str(tmp_path)) for name in names
             if Path(base, name).read_bytes() in marks}
    walked = {path for path in same_files(tmp_path) if kinds[path] == "text"} - empty
    found = hasp_names(tmp_path, pattern="^", regex=True)
    assert {path for path in found if kinds[path] == "text"} == walked
    assert len(walked) > 10
