# SPDX-License-Identifier: Apache-2.0
"""Where GNU patch without fuzz and `git apply` both apply a real diff and agree, hasp agrees.

On every file diff of every patch of Debian's series, in order, each against the tree that the
ones before it left, as the maintainers wrote it (offsets included), and on the changes of the
rest of the corpus.  DAMAGE_DRIVER names the engine on a pipe.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "damage"))
import corpus  # noqa: E402
import peers  # noqa: E402


@pytest.fixture(scope="module")
def programs():
    driver = os.environ.get("DAMAGE_DRIVER")
    assert driver, "DAMAGE_DRIVER must name the driver (build target damage_driver)"
    with peers.Engine([driver]) as engine, peers.GitApply() as git, peers.GnuPatch() as gnu:
        yield engine, git, gnu


# Of each so many one, unless HASP_TESTS=all; with sanitizers fewer: what a diff makes is
# seen without them.
PART = 1 if os.environ.get("HASP_TESTS") == "all" else 5 if "ASAN_OPTIONS" in os.environ else 2


@pytest.fixture(scope="module")
def steps():
    return list(corpus.series_steps())[::PART]


def plain_header(base, diff):
    """The diff with file names that `git apply` finds without being told how many to strip."""
    hunks = diff.split(b"\n", 2)[2]
    return (b"--- a/file\n" if base else b"--- /dev/null\n") + b"+++ b/file\n" + hunks


def agreed(git, gnu, base, diff):
    """The bytes that both make, or None: one refused, or they differ."""
    plain = plain_header(base, diff)
    theirs = git.apply(base, plain)
    if theirs is None:
        return None
    ours = corpus.gnu_patch(base, plain, gnu.folder, "-F0", "--binary")
    return theirs if ours == theirs else None


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
    for n, step in enumerate(steps):
        expected = agreed(git, gnu, step.base, step.diff)
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
    for n, triple in enumerate(corpus.load()[::PART]):
        diff = b"--- a/file\n+++ b/file\n" + triple.diffs[context]
        expected = agreed(git, gnu, triple.base, diff)
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
