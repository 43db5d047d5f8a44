# SPDX-License-Identifier: Apache-2.0
"""update_data does not make a valid file invalid by its JSON Schema. HASP names the program."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

HASP = os.environ.get("HASP", str(Path(__file__).resolve().parents[2] / "build" / "hasp"))


def update(folder, name, *edits, home=None, **besides):
    """The answer to edits (op, path, value) of a file there."""
    given = {"file_path": name, "base_content_sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
             "edits": [dict(zip(("op", "path", "value"), edit)) for edit in edits], **besides}
    done = subprocess.run([HASP, "tool", "update_data", "-", "--json", "--root", str(folder), *may_write(folder, name)],
                          input=json.dumps(given), text=True, capture_output=True, check=False, timeout=120,
                          env={**os.environ, "HOME": str(home or folder / "no-home"), "GEMINI_CLI_HOME": ""})
    return json.loads(done.stdout)


def may_write(folder, name):
    """Editors' settings are protected."""
    return ["--write", str(folder / name.split("/")[0])] if name.startswith((".vscode/", ".devcontainer/")) else []


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


WORKFLOW = "on: push\njobs:\n  a: # one\n    runs-on: x\n    steps:\n      - run: make\n"
# (file, text, an edit that makes it invalid, what the refusal says, an edit that does not)
KNOWN = [
    ("package.json", '{"name": "a", "scripts": {"b": "c"}}', ("set", ".scripts.b", 5),
     ".scripts.b must be of type string, and is an integer (type)", ("set", ".scripts.d", "e")),
    ("web/tsconfig.build.json", '{"compilerOptions": {"strict": true} /* yes */}', ("set", ".compilerOptions.strict", "yes"),
     ".compilerOptions.strict must be of type", ("set", ".compilerOptions.newOption", 7)),
    (".eslintrc.json", '{"rules": {"semi": "error"}}', ("set", ".rules.semi", "fatal"),
     ".rules.semi", ("set", ".rules.semi", ["warn", "always"])),
    ("docker-compose.yml", "services:\n  web:\n    image: a\n    ports: ['80:80']\n", ("set", ".services.web.ports", "80:80"),
     ".services.web.ports must be of type array", ("append", ".services.web.ports", "443:443")),
    (".github/workflows/ci.yml", WORKFLOW, ("delete", '.jobs.a["runs-on"]'),
     '.jobs.a must have the member "runs-on" or "uses" (anyOf)', ("append", ".jobs.a.steps", {"uses": "x@v1"})),
    ("action.yml", "name: a\ndescription: b\nruns:\n  using: node20\n", ("delete", ".runs.using"),
     '.runs must have the member "using"', ("set", ".runs.main", "a.js")),
    (".github/dependabot.yml", "version: 2\nupdates:\n  - package-ecosystem: npm\n    directory: /\n    schedule: {interval: daily}\n",
     ("set", ".version", 1), ".version must be 2", ("set", ".updates[0].schedule.interval", "weekly")),
    ("pyproject.toml", '[project]\nname = "a"\nversion = "1"\n', ("set", ".project.dependencies", "requests"),
     ".project.dependencies must be of type array", ("set", ".project.dependencies", ["requests"])),
    ("Cargo.toml", '[package]\nname = "a"\n[dependencies]\nserde = "1"\n', ("set", ".dependencies.serde", 1),
     ".dependencies.serde must be of type", ("set", ".dependencies.tokio", "1")),
    ("renovate.json", '{"extends": ["config:recommended"]}', ("set", ".extends", "config:recommended"),
     ".extends must be of type array", ("append", ".extends", ":docker")),
    (".prettierrc", '{"semi": true}', ("set", ".trailingComma", "some"),
     '.trailingComma must be one of: "none", "es5", "all"', ("set", ".trailingComma", "all")),
    (".babelrc", '{"presets": ["a"]}', ("set", ".presets", "a"), ".presets must be of type array", ("append", ".presets", ["b", {}])),
    ("composer.json", '{"name": "a/b"}', ("set", ".name", "a"), ".name must match the pattern", ("set", ".name", "a/c")),
    (".gitlab-ci.yml", "stages: [a]\n", ("set", ".stages", "a"), ".stages must be of type array", ("append", ".stages", "b")),
    (".vscode/tasks.json", '{"version": "2.0.0", "tasks": []}', ("append", ".tasks", {"label": 1}),
     ".tasks[0].label must be of type string", ("append", ".tasks", {"label": "a"})),
    (".vscode/launch.json", '{"version": "1", "configurations": []}', ("append", ".configurations", {"type": "a", "name": "b"}),
     '.configurations[0] must have the member "request"', ("append", ".configurations", {"type": "a", "name": "b", "request": "launch"})),
    (".devcontainer/devcontainer.json", '{"image": "a"}', ("set", ".forwardPorts", 80),
     ".forwardPorts must be of type array", ("set", ".forwardPorts", [80])),
    ("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n", ("set", ".type", "service"),
     '.type must be one of: "application", "library"', ("set", ".type", "library")),
    (".pre-commit-config.yaml", "repos:\n  - repo: a\n    hooks: [{id: b}]\n", ("delete", ".repos[0].hooks"),
     '.repos[0] must have the member "hooks"', ("append", ".repos[0].hooks", {"id": "c"})),
    ("deno.json", '{"imports": {"a": "b"}}', ("set", ".imports.a", 1), ".imports.a must be of type string", ("set", ".tasks", {"a": "b"})),
]


@pytest.mark.parametrize("name, text, wrong, says, right", KNOWN, ids=[row[0] for row in KNOWN])
def test_known_files_are_kept_valid(tmp_path, name, text, wrong, says, right):
    put(tmp_path, name, text)
    refused = update(tmp_path, name, wrong)
    assert refused["error"]["code"] == "invalid_argument" and says in refused["message"], refused
    assert (tmp_path / name).read_text(encoding="utf-8") == text
    done = update(tmp_path, name, right)
    assert done["success"] and "note" not in done, done


NUMBERS = '{"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}, "additionalProperties": false}'


@pytest.mark.parametrize("name, text", [
    ("a/b.json", '{"$schema": "../schemas/n.json", "n": 1}'), ("a/b.jsonc", '// c\n{"$schema": "../schemas/n.json#", "n": 1,}'),
    ("a/b.yaml", "# yaml-language-server: $schema=../schemas/n.json\nn: 1\n"), ("a/b.toml", "#:schema ../schemas/n.json\nn = 1\n")])
def test_a_file_is_held_to_the_schema_that_it_names(tmp_path, name, text):
    put(tmp_path, "schemas/n.json", NUMBERS)
    put(tmp_path, name, text)
    refused = update(tmp_path, name, ("set", ".n", "one"))
    assert ".n must be of type integer, and is a string (type)" in refused["message"]
    assert '"other", which is not allowed; allowed: "n", "m"' in update(tmp_path, name, ("set", ".other", 1))["message"]
    assert update(tmp_path, name, ("set", ".m", 2))["success"]


def test_an_invalid_file_may_get_better_or_stay_as_it_is(tmp_path):
    put(tmp_path, "schemas/n.json", NUMBERS)
    put(tmp_path, "b.json", '{"$schema": "schemas/n.json", "n": "one", "m": "two"}')
    assert update(tmp_path, "b.json", ("set", ".n", "three"))["success"]
    assert update(tmp_path, "b.json", ("set", ".n", 3))["success"]
    assert update(tmp_path, "b.json", ("set", ".n", "one"))["error"]["code"] == "invalid_argument"
    assert "more problems" in update(tmp_path, "b.json", ("set", ".k", 1))["message"]
    assert update(tmp_path, "b.json", ("set", ".m", 4))["success"]


@pytest.mark.parametrize("named, says", [
    ("https://example.org/n.json", "not known offline, and schemas are not fetched"), ("gone.json", "gone.json does not exist")])
def test_where_there_is_no_schema_the_change_is_made_and_says_so(tmp_path, named, says):
    put(tmp_path, "b.json", json.dumps({"$schema": named, "n": 1}))
    done = update(tmp_path, "b.json", ("set", ".n", "one"))
    assert done["success"], done
    assert done["note"].startswith("Not checked against its schema: ") and says in done["note"]


DOUBLING = {"$ref": "#/$defs/d60", "$defs": {"d0": {"type": "string"}, **{
    "d%d" % i: {"anyOf": [{"$ref": "#/$defs/d%d" % (i - 1)}] * 2} for i in range(1, 61)}}}
# (schema, what is said of it): a text is the file, an object its value.
UNJUDGED = {
    "broken": ('{"type": ', "Not valid JSON"), "list": ("[]", "not a JSON Schema"), "draft": ({"$schema": "https://example.org/mine"}, "not a JSON Schema"),
    "big": ('{"a": "%s"}' % ("x" * (5 << 20)), "bytes"), "text": ("\0\1", "Not valid JSON"),
    "elsewhere": ({"properties": {"n": {"$ref": "other.json#/a"}}}, ".n: where $ref other.json#/a of the schema leads is not known"),
    "dynamic": ({"$dynamicRef": "#a"}, ".: where $dynamicRef #a of the schema leads is not known"), "pattern": ({"properties": {"s": {"pattern": "("}}}, ".s: the pattern ( is not"),
    "slow": ({"properties": {"s": {"pattern": "^(a|a)+$"}}}, ".s: the pattern ^(a|a)+$ takes too long"),
    "number": ({"properties": {"n": 5}}, ".n: the schema has a number where a schema belongs"), "loop": ({"$ref": "#"}, "schemas are within one another"),
    "steps": (DOUBLING, "takes more than 4000000 steps"),
}


@pytest.mark.parametrize("case", sorted(UNJUDGED))
def test_a_schema_that_is_there_and_cannot_be_judged_by_refuses(tmp_path, case):
    schema, says = UNJUDGED[case]
    home, text = tmp_path / "home", json.dumps({"$schema": "s.json", "n": 1, "s": "a" * 200 + "!"})
    put(tmp_path, "s.json", schema if isinstance(schema, str) else json.dumps(schema))
    put(tmp_path, "b.json", text)
    refused = update(tmp_path, "b.json", ("set", ".n", 2))
    assert refused["error"]["code"] == "invalid_argument", refused
    assert says in refused["message"] and "hasp.formats.onSchemaError" in refused["message"], refused
    assert (tmp_path / "b.json").read_text(encoding="utf-8") == text
    put(home, ".gemini/settings.json", '{"hasp": {"formats": {"onSchemaError": "allow"}}}')
    done = update(tmp_path, "b.json", ("set", ".n", 2), home=home)
    assert done["success"] and done["note"].startswith("Not checked against its schema: ") and says[:30] in done["note"], done


@pytest.mark.parametrize("named", ["../outside.json", "/etc/passwd"])
def test_so_does_one_that_may_not_be_read(tmp_path, named):
    put(tmp_path, "outside.json", NUMBERS)
    put(tmp_path / "work", "b.json", json.dumps({"$schema": named, "n": 1}))
    assert "outside the workspace" in update(tmp_path / "work", "b.json", ("set", ".n", "one"))["message"]


def test_so_does_a_broken_one_in_node_modules(tmp_path):
    put(tmp_path, "node_modules/@biomejs/biome/configuration_schema.json", "[]")
    put(tmp_path, "biome.json", '{"n": 1}')
    assert "not a JSON Schema" in update(tmp_path, "biome.json", ("set", ".n", 2))["message"]


def test_what_is_invalid_is_refused_whatever_else_cannot_be_judged(tmp_path):
    home = tmp_path / "home"
    put(home, ".gemini/settings.json", '{"hasp": {"formats": {"onSchemaError": "allow"}}}')
    put(tmp_path, "s.json", '{"properties": {"n": {"type": "integer"}, "m": {"$ref": "x.json"}}}')
    put(tmp_path, "b.json", '{"$schema": "s.json", "n": 1, "m": 1}')
    assert ".n must be of type integer" in update(tmp_path, "b.json", ("set", ".n", "x"), home=home)["message"]


def test_each_document_of_a_yaml_file_is_held_to_its_schema(tmp_path):
    put(tmp_path, "n.json", NUMBERS)
    put(tmp_path, "b.yaml", "# yaml-language-server: $schema=n.json\nn: 1\n---\nn: 2\n")
    assert ".n must be of type integer" in update(tmp_path, "b.yaml", ("set", ".n", "x"), document=2)["message"]
    assert update(tmp_path, "b.yaml", ("set", ".n", 3), document=2)["success"]


def test_addresses_of_known_schemas_are_known_and_others_are_not_taken_for_them(tmp_path):
    for name, address, known in [("a.json", "https://json.schemastore.org/package.json", True), ("b.json", "https://www.schemastore.org/package.json", True),
                                 ("c.json", "https://example.org/package.json", False), ("d.json", "https://evilschemastore.org/package.json", False)]:
        put(tmp_path, name, json.dumps({"$schema": address, "version": "1"}))
        assert update(tmp_path, name, ("set", ".version", 1))["success"] != known, address


def test_a_program_in_node_modules_brings_its_own(tmp_path):
    put(tmp_path, "node_modules/@biomejs/biome/configuration_schema.json", NUMBERS)
    put(tmp_path, "deep/er/biome.json", '{"n": 1}')
    assert ".n must be of type integer" in update(tmp_path, "deep/er/biome.json", ("set", ".n", "x"))["message"]
    put(tmp_path, "deep/node_modules/@biomejs/biome/configuration_schema.json", "{}")
    assert update(tmp_path, "deep/er/biome.json", ("set", ".n", "x"))["success"]


def test_a_schema_is_no_way_to_read_what_is_denied(tmp_path):
    put(tmp_path, "secret.json", '{"properties": {"n": {"enum": ["hidden-words"]}}}')
    put(tmp_path, "b.json", '{"$schema": "secret.json", "n": "hidden-words"}')
    given = {"file_path": "b.json", "base_content_sha256": hashlib.sha256((tmp_path / "b.json").read_bytes()).hexdigest(),
             "edits": [{"op": "set", "path": ".n", "value": 1}]}
    done = subprocess.run([HASP, "tool", "update_data", "-", "--json", "--root", str(tmp_path), "--deny", str(tmp_path / "secret.json")],
                          input=json.dumps(given), text=True, capture_output=True, check=False, timeout=120)
    assert "hidden-words" not in json.loads(done.stdout)["message"]


def test_the_setting_turns_it_off(tmp_path):
    home = tmp_path / "home"
    put(home, ".gemini/settings.json", '{"hasp": {"formats": {"schemas": false}}}')
    put(tmp_path, "package.json", '{"scripts": {"b": "c"}}')
    assert update(tmp_path, "package.json", ("set", ".scripts.b", 5), home=home)["success"]


def test_a_large_file_is_checked_in_time(tmp_path):
    put(tmp_path, "n.json", '{"properties": {"rows": {"items": {"properties": {"a": {"type": "integer"}}}}}}')
    put(tmp_path, "b.json", json.dumps({"$schema": "n.json", "rows": [{"a": i, "b": "x" * 20} for i in range(60000)]}))
    refused = update(tmp_path, "b.json", ("set", ".rows[59999].a", "x"))
    assert ".rows[59999].a must be of type integer" in refused["message"]
