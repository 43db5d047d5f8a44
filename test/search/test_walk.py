# SPDX-License-Identifier: Apache-2.0
"""Walks: against git ls-files on real and random trees, and the cases git has no word on."""
import os
import random
import resource
import shutil
import subprocess

import pytest
from part import TURN, part_of

pytestmark = pytest.mark.rows_in_turn(3)

PROBE = os.environ["WALK_PROBE"]
ENV = dict(os.environ, LC_ALL="C", GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")


def git(root, *arguments):
    done = subprocess.run(["git", *arguments], cwd=root, env=ENV, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def probe(root, path, *options, program=PROBE, **kwargs):
    return subprocess.run([program, *options, str(root), path], capture_output=True, **kwargs)


def walk(root, path=".", *options, **kwargs):
    done = probe(root, path, *options, **kwargs)
    assert done.returncode == 0, (done.stdout, done.stderr)
    *entries, tail = done.stdout.split(b"\0")
    mark, ignored, more = tail.split()
    assert mark == b"="
    return [os.fsdecode(entry) for entry in entries], int(ignored), int(more)


def files(root, path=".", *options, **kwargs):
    entries, _, _ = walk(root, path, "-r", *options, **kwargs)
    assert all(entry.startswith("f ") for entry in entries)
    return [entry[2:] for entry in entries]


def write(root, path, text=""):
    path = root / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def listed_by_git(root):
    names = git(root, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
    return sorted(os.fsdecode(name) for name in set(names)
                  if name and not os.path.islink(os.path.join(os.fsencode(root), name)))


def by_bytes(names):
    return sorted(names, key=os.fsencode)


def test_a_real_tree_is_walked_as_git_lists_it(tmp_path):
    source = "/usr/include"
    # What is in the files does not matter.
    subprocess.run(["cp", "-r", "--attributes-only", source, str(tmp_path / "include")], check=True)
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "*.hpp\n/include/linux/*\n!/include/linux/f*.h\nsys/\n[a-c]*.h\n")
    write(tmp_path, "include/linux/.gitignore", "!version.h\nfs.h\n")
    write(tmp_path, ".git/info/exclude", "math*.h\n!std*\nx*/\n")
    ours = files(tmp_path)
    assert ours == by_bytes(listed_by_git(tmp_path))
    assert len(ours) > 100


NAMES = ["a", "b", "c", "a.c", "b.o", "foo", "bar", "x y", "-z", "a!", "A", "\u00e9"]
RULES = ["a", "/a", "a/", "*.c", "!a.c", "*.o", "foo", "!foo", "/foo/*", "!/foo/a", "b/**", "**/c", "a/b", "*",
         "!*/", "!b*", "x y", "[a-c]", "!c", "a?", "bar/", "/*/b"]


def random_tree(rng, root):
    for _ in range(60):
        path = root.joinpath(*[rng.choice(NAMES) for _ in range(rng.randrange(1, 5))])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(b"x")
        except (FileExistsError, NotADirectoryError):
            pass
    folders = [folder for folder, _, _ in os.walk(root) if "/.git" not in folder]
    for folder in rng.sample(folders, min(len(folders), 4)) + [str(root)]:
        text = "\n".join(rng.choice(RULES) for _ in range(rng.randrange(1, 4)))
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as out:
            out.write(text)
    with open(os.path.join(root, ".git/info/exclude"), "w", encoding="utf-8") as out:
        out.write(rng.choice(RULES))


def test_random_trees_with_nested_rules_are_walked_as_git_lists_them(tmp_path):
    rng = random.Random(11 + TURN)
    total = 0
    for n in range(part_of(120, 8)):
        root = tmp_path / str(n)
        root.mkdir()
        git(root, "init", "-q")
        random_tree(rng, root)
        ours = files(root)
        assert ours == by_bytes(listed_by_git(root)), n
        total += len(ours)
    assert total > part_of(500, 8)


def test_a_walk_of_a_folder_counts_the_rules_above_it(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "/sub/x\n*.o\n")
    for name in ["sub/x", "sub/y", "sub/z.o", "sub/deep/x"]:
        write(tmp_path, name)
    assert files(tmp_path, "sub") == ["deep/x", "y"]
    assert files(tmp_path, "sub", "-G") == ["deep/x", "x", "y", "z.o"]


def test_rules_outside_of_a_repository_do_not_count_in_it(tmp_path):
    write(tmp_path, ".gitignore", "*.log\n")
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q")
    for name in ["a.log", "repo/b.log", "repo/c.o", "plain/d.log"]:
        write(tmp_path, name)
    write(tmp_path, "repo/.gitignore", "*.o\n")
    assert files(tmp_path) == [".gitignore", "repo/.gitignore", "repo/b.log"]
    assert files(tmp_path, "repo") == [".gitignore", "b.log"]


def test_geminiignore_counts_at_the_root_and_decides_over_gitignore(tmp_path):
    write(tmp_path, ".gitignore", "*.log\n")
    write(tmp_path, ".geminiignore", "secret/\n!keep.log\n")
    for name in ["a.log", "keep.log", "secret/x", "sub/secret/y", "sub/z"]:
        write(tmp_path, name)
    write(tmp_path, "sub/.geminiignore", "z\n")
    assert files(tmp_path, ".", "-H") == ["keep.log", "sub/z"]
    assert files(tmp_path, ".", "-H", "-M") == ["secret/x", "sub/secret/y", "sub/z"]
    assert files(tmp_path, ".", "-H", "-G") == ["a.log", "keep.log", "sub/z"]


def test_git_folders_are_not_entered_but_listed(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, "sub/.git/config")
    write(tmp_path, "worktree/.git", "gitdir: elsewhere")
    write(tmp_path, "a")
    assert files(tmp_path) == ["a"]
    assert walk(tmp_path)[0] == ["d .git", "d sub", "d worktree", "f a"]
    assert walk(tmp_path, ".", "-H")[0] == ["d sub", "d worktree", "f a"]


@pytest.mark.parametrize("kind", "pxdt")
def test_temporaries_of_edits_are_passed_over(tmp_path, kind):
    temporary = ".hasp-%s-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3" % kind
    write(tmp_path, temporary)
    write(tmp_path, temporary + "0")
    write(tmp_path, ".hasp-notes")
    assert sorted(files(tmp_path)) == sorted([".hasp-notes", temporary + "0"])


def test_links_are_entries_and_never_followed(tmp_path):
    root = tmp_path / "root"
    write(root, "real/x")
    write(tmp_path, "outside/secret")
    (root / "in").symlink_to("real")
    (root / "out").symlink_to("../outside")
    (root / "loop").symlink_to(".")
    (root / ".gitignore").symlink_to("../outside/rules")
    write(tmp_path, "outside/rules", "x\n")
    os.mkfifo(root / "fifo")
    assert walk(root)[0] == ["d real", "l .gitignore", "o fifo", "l in", "l loop", "l out"]
    assert files(root) == ["real/x"]
    assert files(root, "in") == ["x"]
    assert probe(root, "out").stdout == b"outside_workspace"
    assert probe(root, "..").stdout == b"outside_workspace"


def test_what_is_no_folder_is_an_error(tmp_path):
    write(tmp_path, "file")
    assert probe(tmp_path, "file").stdout == b"not_a_directory"
    assert probe(tmp_path, "none").stdout == b"file_not_found"
    assert probe(tmp_path, ".", "-i", "[a").stdout == b"invalid_argument"
    assert probe(tmp_path, ".", "-x", "{a").stdout == b"invalid_argument"


def test_globs_select_and_leave_out(tmp_path):
    for name in ["a.c", "a.h", "src/b.c", "src/b.h", "src/gen/c.c", "node_modules/m/d.c", "doc/e.md"]:
        write(tmp_path, name)
    assert files(tmp_path, ".", "-i", "*.c", "-x", "node_modules/**") == ["a.c", "src/b.c", "src/gen/c.c"]
    assert files(tmp_path, ".", "-i", "src/*.{c,h}") == ["src/b.c", "src/b.h"]
    assert files(tmp_path, ".", "-i", "/*.c", "-i", "doc/**") == ["a.c", "doc/e.md"]
    assert files(tmp_path, "src", "-i", "gen/*") == ["gen/c.c"]
    entries, ignored, _ = walk(tmp_path, ".", "-r", "-x", "src", "-x", "*.h", "-x", "node_modules/**")
    assert entries == ["f a.c", "f doc/e.md"] and ignored == 3
    assert walk(tmp_path, ".", "-i", "*.c")[0] == ["d doc", "d node_modules", "d src", "f a.c"]


def test_the_first_entries_in_order_are_kept_when_there_are_too_many(tmp_path):
    names = ["n%04d" % n for n in range(300)] + ["a/z", "a-b", "a0"]
    for name in names:
        write(tmp_path, name)
    entries, _, more = walk(tmp_path, ".", "-r", "-n", "5")
    assert entries == ["f a-b", "f a/z", "f a0", "f n0000", "f n0001"] and more == 1
    _, _, more = walk(tmp_path, ".", "-r", "-n", "303")
    assert more == 0


def test_odd_names_are_kept_byte_for_byte(tmp_path):
    names = [b"new\nline", b"\xff\xfe", b" lead", b"tab\t", b"*", b"..."]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass
    assert [os.fsencode(name) for name in files(tmp_path)] == sorted(names)


def make_deep(root, depth):
    fd = os.open(root, os.O_RDONLY)
    for level in range(depth):
        os.mkdir("dd", dir_fd=fd)
        below = os.open("dd", os.O_RDONLY, dir_fd=fd)
        if level in (10, 900):
            os.close(os.open("leaf", os.O_CREAT, dir_fd=below))
        os.close(fd)
        fd = below
    os.close(fd)


def test_the_deepest_tree_is_walked_with_few_descriptors(tmp_path):
    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    try:
        make_deep(tmp_path, 1500)
        # 4,096 bytes of path are 1,365 levels: what is deeper is counted, not entered.
        entries, ignored, _ = walk(tmp_path, ".", "-r", preexec_fn=few_descriptors)
        assert entries == ["f " + "dd/" * 901 + "leaf", "f " + "dd/" * 11 + "leaf"]
        assert ignored == 1
    finally:  # pytest itself cannot remove so deep a tree
        subprocess.run(["rm", "-rf", str(tmp_path / "dd")], check=True)


def test_unreadable_folders_are_counted(tmp_path):
    write(tmp_path, "open/a")
    write(tmp_path, "shut/b")
    os.chmod(tmp_path / "shut", 0)
    os.chmod(tmp_path, 0o755)
    user, program = None, PROBE
    if os.getuid() == 0:  # root reads everything: be nobody, who must reach folder and program
        user, program = 65534, shutil.copy(PROBE, tmp_path.parent / "walk_probe")
        for folder in list(tmp_path.parents)[:-2]:
            os.chmod(folder, os.stat(folder).st_mode | 0o755)
    try:
        entries, ignored, _ = walk(tmp_path, ".", "-r", user=user, program=program)
        assert entries == ["f open/a"] and ignored == 1
        assert probe(tmp_path, "shut", user=user, program=program).stdout == b"permission_denied"
    finally:
        os.chmod(tmp_path / "shut", 0o755)


def test_a_wide_tree_is_walked_whole(tmp_path):
    for folder in range(100):
        (tmp_path / ("d%d" % folder)).mkdir()
        for name in range(100):
            os.close(os.open(tmp_path / ("d%d" % folder) / ("f%d.c" % name), os.O_CREAT))
    assert len(files(tmp_path)) == 10000


@pytest.mark.parametrize("options", [[], ["-r"]])
def test_an_empty_folder_gives_nothing(tmp_path, options):
    assert walk(tmp_path, ".", *options) == ([], 0, 0)
