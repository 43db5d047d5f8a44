# SPDX-License-Identifier: Apache-2.0
"""Where GNU patch without fuzz and `git apply` both apply a real diff and agree, hasp agrees.

On every file diff of every patch of Debian's series, in order, each against the tree that the
ones before it left, as the maintainers wrote it (offsets included), and on the changes of the
rest of the corpus.  DAMAGE_DRIVER names the engine on a pipe.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from part import part_step

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "damage"))
import corpus  # noqa: E402
import peers  # noqa: E402


@pytest.fixture(scope="module")
def programs():
    driver = os.environ.get("DAMAGE_DRIVER")
    assert driver, "DAMAGE_DRIVER must name the driver (build target damage_driver)"
    with peers.Engine([driver]) as engine, peers.GitApply() as git, peers.GnuPatch() as gnu:
        yield engine, git, gnu


# Of each so many one, unless HASP_TESTS=all.
PART = part_step(50)


@pytest.fixture(scope="module")
def steps():
    return [step() for step in corpus.kept_steps()[::PART]]


def plain_header(base, diff):
    """The diff with file names that `git apply` finds without being told how many to strip."""
    hunks = diff.split(b"\n", 2)[2]
    return (b"--- a/file\n" if base else b"--- /dev/null\n") + b"+++ b/file\n" + hunks


GROUP = 40  # cases for which a program is started once


def agreed(git, gnu, cases):
    """For each (base, diff) the bytes that both make, or None: one refused, or they differ."""
    plain = [(base, plain_header(base, diff)) for base, diff in cases]
    for start in range(0, len(plain), GROUP):
        group = plain[start:start + GROUP]
        theirs = _together(group, _git_together, git) or [
            git.apply(base, diff) for base, diff in group]
        ours = _together(group, _patch_together, gnu) or [
            corpus.gnu_patch(base, diff, gnu.folder, "-F0", "--binary") for base, diff in group]
        yield from (left if left == right else None for left, right in zip(theirs, ours))


def _git_together(git, folder, diff):
    return subprocess.run(["git", "apply", "-"], input=diff, cwd=folder, env=git.environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _patch_together(_, folder, diff):
    return subprocess.run(["patch", "-s", "-f", "-p1", "-r", "-", "-F0", "--binary"], input=diff,
                          cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _together(group, apply, program):
    """What a program makes of all of them in one go, each of a file of its own; None if it does
    not take all of them, or one makes or empties a file: then each is asked for alone."""
    if not all(base for base, _ in group):
        return None
    with tempfile.TemporaryDirectory(dir=program.folder) as folder:
        paths = [Path(folder) / ("file%d" % i) for i in range(len(group))]
        for path, (base, _) in zip(paths, group):
            path.write_bytes(base)
        named = [diff.replace(b"--- a/file\n+++ b/file\n", b"--- a/%b\n+++ b/%b\n" % (
            (os.fsencode(path.name),) * 2), 1) for path, (_, diff) in zip(paths, group)]
        whole = b"".join(diff if diff.endswith(b"\n") else diff + b"\n" for diff in named)
        if apply(program, folder, whole).returncode != 0:
            return None
        if sorted(os.listdir(folder)) != sorted(path.name for path in paths):
            return None
        results = [path.read_bytes() for path in paths]
        return results if all(results) else None


def _difference(where, note, expected, got, keep):
    """One line for the report; the case itself goes where DIFFERENTIAL_FAILURES says."""
    folder = os.environ.get("DIFFERENTIAL_FAILURES")
    if folder:
        place = Path(folder) / where.replace("/", "_")[:150]
        place.mkdir(parents=True, exist_ok=True)
        for name, data in dict(keep, expected=expected, got=got or b"",
                               note=note.encode()).items():
            (place / name).write_bytes(data)
    return "%s: %s" % (where, "refused: " + note if got is None else "other bytes: " + note)


def test_every_diff_of_the_series_on_which_both_agree(programs, steps):
    engine, git, gnu = programs
    compared, different = 0, []
    both = agreed(git, gnu, [(step.base, step.diff) for step in steps])
    for n, (step, expected) in enumerate(zip(steps, both)):
        if expected is None:
            continue
        compared += 1
        got = engine.apply(step.base, step.diff)
        if got != expected:
            where = "%d %s %s %s" % (n, step.source, step.patch, step.path)
            different.append(_difference(where, engine.note, expected, got,
                                         {"base": step.base, "diff": step.diff}))
    assert compared > 800 // PART, "only %d file diffs to compare" % compared
    assert not different, "%d of %d differ:\n%s" % (len(different), compared,
                                                    "\n".join(different[:40]))


@pytest.mark.parametrize("context", ["U3", "U10"])
def test_every_change_of_the_corpus_on_which_both_agree(programs, context):
    engine, git, gnu = programs
    compared, different = 0, []
    triples = corpus.load()[::PART]
    diffs = [b"--- a/file\n+++ b/file\n" + triple.diffs[context] for triple in triples]
    both = agreed(git, gnu, [(triple.base, diff) for triple, diff in zip(triples, diffs)])
    for n, (triple, diff, expected) in enumerate(zip(triples, diffs, both)):
        if expected is None:
            continue
        assert expected == triple.result, triple.name
        compared += 1
        got = engine.apply(triple.base, diff)
        if got != expected:
            different.append(_difference("%d %s %s" % (n, context, triple.name), engine.note,
                                         expected, got, {"base": triple.base, "diff": diff}))
    assert compared > 1800 // PART, "only %d changes to compare" % compared
    assert not different, "%d of %d differ:\n%s" % (len(different), compared,
                                                    "\n".join(different[:40]))


def test_series_files_give_the_maintainers_result_where_patch_needs_no_fuzz(programs, steps):
    """Apart from git: what GNU patch makes without fuzz is what dpkg-source makes."""
    engine, _, gnu = programs
    compared, different = 0, []
    for n, step in enumerate(steps):
        exact = corpus.gnu_patch(step.base, step.diff, gnu.folder, "-F0", "--binary")
        if exact is None:
            continue
        compared += 1
        got = engine.apply(step.base, step.diff)
        # A refusal is judged above, where two programs agree that it can be applied.
        if got is not None and got != exact:
            where = "%d gnu %s %s %s" % (n, step.source, step.patch, step.path)
            different.append(_difference(where, engine.note, exact, got,
                                         {"base": step.base, "diff": step.diff}))
    assert compared > 800 // PART, "only %d file diffs to compare" % compared
    assert not different, "%d of %d differ:\n%s" % (len(different), compared,
                                                    "\n".join(different[:40]))
