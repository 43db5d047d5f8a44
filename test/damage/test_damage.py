# SPDX-License-Identifier: Apache-2.0
"""Nothing damaged is applied wrongly; what is recoverable is recovered; what is stale is refused.

DAMAGE_DRIVER names the engine on a pipe (driver.c).  DAMAGE_CASES is how many cases of each kind
are tried, DAMAGE_SEED chooses others, DAMAGE_PROGRAM a hasp to try end to end.
"""

import functools
import os

import pytest

import corpus
import kinds
from part import ALL, in_turn
import peers
import report
from kinds import RECOVER, REFUSE

pytestmark = pytest.mark.rows_in_turn(3)

CASES = int(os.environ.get("DAMAGE_CASES", "150" if ALL else "32"))
SEED = os.environ.get("DAMAGE_SEED", "1")


@pytest.fixture(scope="module")
def triples():
    return corpus.load()


@pytest.fixture(scope="module")
def engine():
    driver = os.environ.get("DAMAGE_DRIVER")
    assert driver, "DAMAGE_DRIVER must name the driver (build target damage_driver)"
    with peers.Engine([driver]) as program:
        yield program


def _describe(row):
    shown = ["%s: %s, got %s; %s" % (case.name, case.demand,
                                     "a refusal" if got is None else "other bytes", note)
             for case, got, note in row.failures[:3]]
    return "; ".join(report.complaints([row], "hasp")) + "\n" + "\n".join(shown)


@pytest.fixture(scope="module")
def row_of(engine, triples):
    """The row of a kind, made once."""
    return functools.cache(
        lambda entry: report.run_kind(entry, triples, [engine], CASES, 0, SEED))


@pytest.mark.parametrize("entry", kinds.load_all(), ids=lambda entry: entry.name)
def test_a_damage_is_recovered_or_refused_as_its_kind_demands(entry, engine, row_of):
    row = row_of(entry)
    assert row.cases() > 0, "the corpus has nothing to damage so"
    assert not report.complaints([row], engine.name), _describe(row)


def test_nearly_all_recoverable_cases_are_recovered(engine, row_of):
    # Of those whose rows have their turn above.
    rows = [row_of(entry) for entry in in_turn(kinds.load_all(), 2) if entry.group == RECOVER]
    right, total = report.share_right(rows, engine.name)
    assert right >= report.SHARE * total, "%d of %d" % (right, total)


def test_the_corpus_is_broad(triples):
    assert corpus.is_broad(triples)
    assert any(b"\r\n" in triple.base for triple in triples)
    assert any(not triple.base.endswith(b"\n") for triple in triples)


def test_every_diff_of_the_corpus_makes_its_result(triples):
    """The generator's own model: what it prints undamaged is the real change."""
    for triple in in_turn(triples, 12):
        for context in ("U3", "U10"):
            assert kinds.parse(triple, context).result() == triple.result, triple.name


def test_the_generator_is_deterministic(triples):
    for entry in in_turn(kinds.load_all(), 12):
        first = list(report.cases_of(entry, triples, 3, SEED))
        assert first == list(report.cases_of(entry, triples, 3, SEED)), entry.name


def test_a_program_that_guesses_would_be_caught(triples):
    """GNU patch, with fuzz, applies some stale diffs: the same demands must fail for it."""
    stale = [entry for entry in kinds.load_all() if entry.name.startswith("stale: the outermost")]
    with peers.GnuPatch() as patch:
        row = report.run_kind(stale[0], triples, [patch], 30, 0, SEED)
        assert report.complaints([row], patch.name)


@pytest.mark.parametrize("group", [RECOVER, REFUSE])
def test_the_whole_program_agrees_with_the_engine(group, engine, triples):
    program = os.environ.get("DAMAGE_PROGRAM")
    assert program, "DAMAGE_PROGRAM must name the hasp to try"
    with peers.Program(program) as hasp:
        for entry in in_turn([e for e in kinds.load_all() if e.group == group], 12):
            for case in report.cases_of(entry, triples, 3, SEED):
                if case.diff.strip() and _is_utf8(case.base) and _is_utf8(case.diff):
                    expected = engine.apply(case.base, case.diff)
                    assert hasp.apply(case.base, case.diff, case.path) == expected, entry.name


def _is_utf8(data):
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False
