# SPDX-License-Identifier: Apache-2.0
"""How script/lib/settings_table.py finds out which settings the sources ask for."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "script/lib"))
import settings_table  # noqa: E402

SOURCE = r'''
#define GROUP "tools."
#define LEVEL "hasp.sandbox.level"
#define UNKNOWN_CALL() f("x")
static const char *const names[] = { "ui.theme", "no setting" };
a = settings_bool(settings, GROUP "useRipgrep", true);
b = settings_string(call->settings, LEVEL, NULL);
c = settings_get(settings, "mcp.allowed");
d = settings_origin_of(settings, "model.name");
e = settings_integer(settings, OTHER "x", 1);
f = settings_of_scope(settings,
                      scope, LEVEL);
'''


@pytest.fixture(name="sources")
def some_sources(tmp_path, monkeypatch):
    """A function that puts a source in place of hasp's own."""
    def put(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(settings_table, "TOP", tmp_path)
    return put


@pytest.mark.parametrize("expression, text", [
    ('"a.b"', "a.b"), ('LEVEL', "hasp.level"), ('GROUP "b"', "a.b"), ('GROUP"b"', "a.b"),
    ('GROUP LEVEL', "a.hasp.level"), ('OTHER "b"', None), ("OTHER", None),
])
def test_macros_are_put_in(expression, text):
    assert settings_table.joined(expression, {"GROUP": "a.", "LEVEL": "hasp.level"}) == text


def test_arguments_of_calls_are_told_from_other_strings(sources):
    sources("src/agent/some.c", SOURCE)
    found = {(call, path) for call, path, _ in settings_table.readers()}
    assert {(True, "tools.useRipgrep"), (True, "hasp.sandbox.level"), (True, "mcp.allowed"),
            (False, "ui.theme"), (False, "model.name")} <= found
    # A macro that is not known, of another file or of none, is no name by halves.
    assert not {"x", "no setting", "useRipgrep"} & {path for call, path in found if call}


def test_the_tables_of_settings_ask_for_nothing(sources):
    sources("src/config/schema_rows.c", 'x = settings_get(s, "a.b");')
    sources("src/config/settings.c", 'x = settings_get(s, "a.c");')
    assert [path for _, path, _ in settings_table.readers()] == ["a.c"]


def test_what_is_asked_for_and_has_no_row_is_complained_of(sources):
    sources("src/agent/some.c", SOURCE)
    known = ["tools.useRipgrep", "hasp.sandbox.level", "mcp.allowed.x", "model.name"]
    assert settings_table.unknown(known) == []
    assert settings_table.unknown(known[1:]) == [
        "src/agent/some.c asks for the setting tools.useRipgrep, which has no row"]
    assert {"ui.theme", "hasp.sandbox.level", *settings_table.WHOLE} <= settings_table.asked_for()


def test_a_default_that_the_table_takes_away_is_complained_of(sources):
    sources("src/agent/some.c", 'a = settings_bool(s, "a.on", wanted);\nb = settings_integer(x->s, "a.n", 3);\n'
                                'c = settings_string(s, "a.word", "x");\nd = settings_bool(s, "a.off", false);\n'
                                'e = settings_string(s, "a.none", NULL);\nf = settings_integer(s, "a.limit", LIMIT);\n')
    rows = [("a.on", {}), ("a.n", {"default": 3}), ("a.word", {"default": "x"}), ("a.off", {"default": False}),
            ("a.none", {"default": "y"}), ("a.limit", {"default": 5})]
    assert list(settings_table.contradictions(rows)) == []
    rows = [(path, {**leaf, "default": True}) for path, leaf in rows[:4]]
    assert [line.split()[2] + " " + line.split()[-1] for line in settings_table.contradictions(rows)] == [
        "wanted, true", "3 true", "x true", "False true"]
