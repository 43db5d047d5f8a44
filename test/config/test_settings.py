# SPDX-License-Identifier: Apache-2.0
"""Settings as the program reads and writes them."""
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

TOP = Path(__file__).resolve().parents[2]


# --- Which file counts -------------------------------------------------------------------------

def test_higher_files_win(place):
    place.trust()
    for scope, value in (("system-defaults", "a"), ("user", "b"), ("project", "c"), ("system", "d")):
        place.write(scope, {"model": {"name": value}})
        assert place.get("model.name") == value
    row = place.origins()["model.name"]
    assert (row["scope"], row["file"], row["line"]) == ("system", str(place.files["system"]), 1)


def test_defaults_are_there(place):
    values = place.values()
    assert values["general.maxAttempts"] == 10
    assert values["advanced.excludedEnvVars"] == ["DEBUG", "DEBUG_MODE"]
    assert "model.name" not in values
    assert place.run("show", "--json").strip() == "{}"


def test_system_paths_can_be_moved(place, tmp_path):
    other = tmp_path / "defaults.json"
    other.write_text('{"ui": {"theme": "x"}}')
    place.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] = str(other)
    assert place.get("ui.theme") == "x"
    assert place.origins()["ui.theme"]["scope"] == "system-defaults"


def test_gemini_cli_home_moves_the_home(place, tmp_path):
    (tmp_path / "h/.gemini").mkdir(parents=True)
    (tmp_path / "h/.gemini/settings.json").write_text('{"ui": {"theme": "x"}}')
    place.env["GEMINI_CLI_HOME"] = str(tmp_path / "h")
    assert place.get("ui.theme") == "x"


def test_values_are_merged_as_their_rows_say(place):
    place.trust()
    place.write("user", {
        "mcpServers": {"a": {"command": "1", "args": ["x"]}, "b": {"command": "2"}},
        "mcp": {"allowed": ["A", "b ", "c"], "excluded": ["x"]},
        "tools": {"exclude": ["t1", "t2"], "core": ["c1"], "shell": {"pager": "less"}},
        "context": {"includeDirectories": ["/a", "/b"]},
        "hooks": {"BeforeTool": [{"hooks": []}], "Odd": [1]},
        "modelConfigs": {"aliases": {"m": {"x": 1}}},
    })
    place.write("project", {
        "mcpServers": {"a": {"command": "3"}},
        "mcp": {"allowed": ["a", "B"], "excluded": ["y", "x"]},
        "tools": {"exclude": ["t2", "t3"], "core": ["c2"], "shell": {"showColor": False}},
        "context": {"includeDirectories": ["/b"]},
        "hooks": {"BeforeTool": [{"matcher": "y", "hooks": []}], "Odd": [2]},
        "modelConfigs": {"aliases": {"m": {"y": 2}}},
    })
    for name in "mcpServers", "mcp.allowed", "tools.core", "context.includeDirectories":
        place.run("allow", name)
    values = place.values()
    assert values["mcpServers.a"] == {"command": "3"}
    assert values["mcpServers.b"] == {"command": "2"}
    assert values["mcp.allowed"] == ["A", "b "]
    assert values["mcp.excluded"] == ["x", "y"]
    assert values["tools.exclude"] == ["t1", "t2", "t3"]
    assert values["tools.core"] == ["c2"]
    assert values["tools.shell.pager"] == "less" and values["tools.shell.showColor"] is False
    assert values["context.includeDirectories"] == ["/a", "/b", "/b"]
    assert values["hooks.BeforeTool"] == [{"hooks": []}, {"matcher": "y", "hooks": []}]
    assert values["hooks.Odd"] == [1, 2]
    assert values["modelConfigs.aliases.m"] == {"x": 1, "y": 2}
    assert place.origins()["mcpServers.b"]["scope"] == "user"


def test_variables_are_put_in(place):
    place.env.update(HT_A="1", HT_B="two words")
    (place.home / ".env").write_text("HT_ENV=file\nHT_A=other\n")
    place.write("user", {"tools": {"shell": {"pager": "$HT_A ${HT_B} ${HT_NO:-d} $HT_NO $HT_ENV"}},
                         "mcpServers": {"s": {"args": ["${HT_A}"]}}})
    assert place.get("tools.shell.pager") == "1 two words d $HT_NO file"
    assert place.get("mcpServers.s") == {"args": ["1"]}


# --- What is wrong -----------------------------------------------------------------------------

def test_odd_settings_are_named_once_and_do_no_harm(place):
    place.write("user", '{\n  "foo": 1,\n  "ui": {"hideTips": "yes", "hideBaner": true},\n'
                        '  "tools": [],\n  "general": {"maxAttempts": 2.5, "defaultApprovalMode": "yolo"},'
                        '\n  "admin": {"secureModeEnabled": true},\n  "context.fileName": "x"\n}')
    values = place.values()
    assert "foo" not in values
    assert values["ui.hideTips"] is False
    assert values["general.maxAttempts"] == 10
    assert values["general.defaultApprovalMode"] == "default"
    assert values["admin.secureModeEnabled"] is False
    said = place.said.replace(str(place.files["user"]), "F")
    for sentence in (
            'F, line 2: unknown setting "foo" has no effect.',
            'F, line 3: "ui.hideTips" must be true or false; it is ignored.',
            'F, line 3: unknown setting "ui.hideBaner"; did you mean "ui.hideBanner"?',
            'F, line 4: "tools" must be an object; it is ignored.',
            'F, line 5: "general.maxAttempts" must be an integer; it is ignored.',
            '"general.defaultApprovalMode" must be one of default, auto_edit, plan; it is',
            'F, line 6: "admin.secureModeEnabled" is for remote administration'):
        assert said.count(sentence) == 1, sentence


@pytest.mark.parametrize("text, place_named", [
    ('{"a": }', "line 1, column 7"), ("{\n\n  'a': 1}", "line 3, column 3"), ("[1]", "an object"),
    ('{"a": "\xff"}', "line 1"), ("/* ", "line 1"), ("{", "line 1"),
])
def test_a_file_that_is_wrong_is_an_error_with_its_place(place, text, place_named):
    place.files["user"].write_bytes(text.encode("latin-1"))
    place.run("show", code=1)
    assert str(place.files["user"]) in place.said and place_named in place.said


def test_names_of_earlier_versions_are_understood(place):
    place.write("user", '{\n "model": "m1",\n "theme": "t",\n "disableAutoUpdate": true,\n'
                        ' "fileFiltering": {"respectGitIgnore": false},\n'
                        ' "context": {"fileFiltering": {"enableFuzzySearch": false}},\n'
                        ' "chatCompression": {"contextPercentageThreshold": 0.7},\n'
                        ' "tools": {"approvalMode": "auto_edit"},\n'
                        ' "coreTools": ["a"], "allowMCPServers": ["s"]\n}')
    values = place.values()
    assert values["model.name"] == "m1"
    assert values["ui.theme"] == "t"
    assert values["general.enableAutoUpdate"] is False
    assert values["context.fileFiltering.respectGitIgnore"] is False
    assert values["context.fileFiltering.enableFuzzySearch"] is False
    assert values["model.compressionThreshold"] == 0.7
    assert values["general.defaultApprovalMode"] == "auto_edit"
    assert values["tools.core"] == ["a"] and values["mcp.allowed"] == ["s"]
    origins = place.origins()
    assert origins["model.name"]["line"] == 2
    assert origins["context.fileFiltering.respectGitIgnore"]["line"] == 5
    assert place.said.count("uses old names, which still work: ") == 1
    assert "theme is now ui.theme" in place.said


@pytest.mark.parametrize("word, counts", [
    ("autoEdit", "auto_edit"), ("AUTO-EDIT", "auto_edit"), ("auto edit", "auto_edit"), ("auto_edit", "auto_edit"),
    ("Plan", "plan"), ("auto_edits", None), ("plan\\u0000", None), ("", None), ("_", None)])
def test_a_choice_counts_in_any_spelling(place, word, counts):
    place.write("user", '{"general": {"defaultApprovalMode": "%s"}}' % word)
    assert place.values()["general.defaultApprovalMode"] == (counts or "default")
    assert ("must be one of default, auto_edit, plan" in place.said) == (counts is None)


def test_new_names_count_more_than_old_ones(place):
    place.write("user", {"theme": "old", "ui": {"theme": "new"}, "model": {"name": "m"}})
    assert place.get("ui.theme") == "new" and place.get("model.name") == "m"


# --- Writing -----------------------------------------------------------------------------------

def test_set_keeps_all_else(place):
    text = '{\n\t// mine\n\t"unknown": [1, 2], // kept\n\t"ui": {"theme": "a"},\n}\n'
    place.write("user", text)
    place.files["user"].chmod(0o640)
    place.run("set", "ui.theme", "b")
    assert place.files["user"].read_text() == text.replace('"a"', '"b"')
    place.run("set", "tools.shell.inactivityTimeout", "20")
    place.run("set", "tools.core", '["x"]')
    assert place.get("tools.core") == ["x"] and place.get("tools.shell.inactivityTimeout") == 20
    place.run("unset", "tools")
    assert place.files["user"].read_text().replace(" \n", "\n").startswith(text[:40])
    assert place.get("tools.core") is None
    assert place.files["user"].stat().st_mode & 0o777 == 0o640
    assert [f.name for f in place.files["user"].parent.iterdir()] == ["settings.json"]


def test_files_and_folders_are_made(place):
    place.files["user"].parent.rmdir()
    place.run("set", "ui.theme", "b")
    assert json.loads(place.files["user"].read_text()) == {"ui": {"theme": "b"}}
    assert place.files["user"].stat().st_mode & 0o777 == 0o600
    assert place.files["user"].parent.stat().st_mode & 0o777 == 0o700
    place.run("unset", "ui.theme", "--scope", "project", code=1)
    assert not place.files["project"].exists()


def test_a_link_to_the_file_stays_one(place, tmp_path):
    (tmp_path / "dotfiles.json").write_text("{}")
    place.files["user"].symlink_to(tmp_path / "dotfiles.json")
    place.run("set", "ui.theme", "b")
    assert place.files["user"].is_symlink()
    assert "theme" in (tmp_path / "dotfiles.json").read_text()


def test_old_names_give_way_when_they_are_written(place):
    place.write("user", '{\n  // m\n  "model": "m1",\n  "theme": "t"\n}\n')
    place.run("set", "model.maxSessionTurns", "5")
    assert place.get("model.name") == "m1" and place.get("model.maxSessionTurns") == 5
    place.run("set", "ui.theme", "u")
    assert place.get("ui.theme") == "u"
    written = place.files["user"].read_text()
    assert "// m" in written and '"t"' not in written


@pytest.mark.parametrize("words, says", [
    (("set", "modl.name", "x"), 'did you mean "model.name"?'),
    (("set", "general.hideBanner", "true"), 'did you mean "ui.hideBanner"?'),
    (("set", "nonsense.enabled", "true"), 'Unknown setting "nonsense.enabled"; "hasp config --all" lists'),
    (("set", "ui.hideTips", "maybe"), "true or false"),
    (("set", "output.format", "xml"), "one of text, json"),
    (("set", "ui", "{}"), "group"),
    (("set", "admin.secureModeEnabled", "true"), "remote"),
    (("set", "hasp.sandbox.level", "full", "--scope", "project"), "A project cannot set"),
    (("get", "model.name"), "not set"),
])
def test_what_cannot_be_done_is_refused(place, words, says):
    place.run(*words, code=1)
    assert says in place.said
    assert not place.files["user"].exists() and not place.files["project"].exists()


@pytest.mark.parametrize("words", [("set", "a"), ("get",), ("show", "x"), ("get", "a", "b"),
                                   ("frob",), ("set", "a", "b", "--scope", "system")])
def test_wrong_command_lines(place, words):
    place.run(*words, code=2)


def test_the_project_s_file_is_written_on_demand(place):
    place.run("set", "context.fileName", "A.md", "--scope", "project")
    assert "ignored: this folder is not trusted" in place.said
    assert place.get("context.fileName") is None
    place.run("trust")
    assert place.get("context.fileName") == "A.md"
    place.run("set", "context.fileName", "B.md")
    assert "overridden by" in place.said
    place.run("distrust", str(place.work))
    assert place.get("context.fileName") == "B.md"


def test_get_prints_values_for_scripts(place):
    place.write("user", {"model": {"name": "m"}, "tools": {"core": ["a"]}})
    assert place.run("get", "model.name") == "m\n"
    assert place.run("get", "model.name", "--json") == '"m"\n'
    assert place.run("get", "tools.core") == '["a"]\n'


def test_secrets_are_not_shown(place):
    place.env.update(MY_TOKEN="tok-123456789", PLAIN="plain-value")
    place.write("user", {"mcpServers": {"s": {
        "env": {"API_KEY": "k-1", "PLAIN": "$PLAIN"}, "headers": {"Authorization": "Bearer x"},
        "args": ["--auth=${MY_TOKEN}"], "url": "https://u:pw@host/"}}})
    for words in (("show",), ("show", "--json"), ("show", "--origin", "--json"),
                  ("get", "mcpServers"), ("get", "mcpServers.s.args")):
        shown = place.run(*words)
        for secret in ("k-1", "Bearer x", "tok-123456789", "pw@"):
            assert secret not in shown
        assert "***" in shown
    assert "plain-value" in place.run("show")


# --- What follows from the table ---------------------------------------------------------------

def test_the_schema_describes_what_is_accepted(place):
    schema = json.loads(place.run("schema"))
    jsonschema.Draft7Validator.check_schema(schema)
    check = jsonschema.Draft7Validator(schema)
    good = {"model": {"name": "x"}, "hooks": {"BeforeTool": [], "Odd": []}, "tools": {"sandbox": True}}
    assert check.is_valid(good)
    for bad in ({"model": {"name": 1}}, {"output": {"format": "xml"}}, {"hooks": {"Odd": 1}},
                {"tools": {"core": [1]}}):
        assert not check.is_valid(bad), bad


def test_defaults_have_the_types_of_their_rows(place):
    schema = json.loads(place.run("schema"))
    seen = []

    def walk(node, path):
        if "default" in node:
            seen.append(path)
            jsonschema.validate(node["default"], node)
        for name, below in node.get("properties", {}).items():
            walk(below, f"{path}.{name}")
        assert node.get("properties") or node.get("description", "").endswith("."), path

    walk(schema, "")
    assert len(seen) > 150


def test_the_page_is_what_the_table_says():
    run = subprocess.run([sys.executable, TOP / "script/lib/settings_table.py", "--check"],
                         env=os.environ, capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("word, meant", [
    ("ui.hideBaner", "ui.hideBanner"), ("hideBanner2", None), ("mcpServer", "mcpServers"), ("autoAccept", None),
    ("security.folderTrust", None), ("tools.maxSessionTurns", "model.maxSessionTurns"), ("ui.enabled", None),
    ("general.telemetry", None), ("model.temperature", None)])
def test_only_what_is_meant_is_proposed(place, word, meant):
    nested = {}
    inner = nested
    for name in word.split(".")[:-1]:
        inner = inner.setdefault(name, {})
    inner[word.split(".")[-1]] = 1
    place.write("user", nested)
    place.values()
    if meant:
        assert 'did you mean "%s"?' % meant in place.said
    else:
        assert "did you mean" not in place.said


def test_what_is_unknown_is_not_listed_as_if_it_counted(place):
    place.write("user", {"foo": {"bar": 1}, "ui": {"theme": "Dark"}})
    lines = place.run("show").splitlines()
    assert 'foo.bar = 1  (unknown setting, without effect)' in lines and 'ui.theme = "Dark"' in lines


def test_servers_of_mcp_settings_count_beneath_those_of_settings(place):
    more = place.files["user"].with_name("mcp-settings.json")
    more.write_text('{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}} // of mine\n')
    place.write("user", {"mcpServers": {"b": {"command": "mine"}}})
    assert place.values()["mcpServers.a"] == {"command": "a"}
    assert place.values()["mcpServers.b"] == {"command": "mine"}
    origins = place.origins()
    assert origins["mcpServers.a"]["file"] == str(more)
    assert origins["mcpServers.b"]["file"] == str(place.files["user"])
    for wrong in "{", "[]", '{"servers": {}}':
        more.write_text(wrong)
        place.run("show", code=1)
        assert str(more) in place.said
