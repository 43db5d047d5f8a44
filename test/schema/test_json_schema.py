# SPDX-License-Identifier: Apache-2.0
"""JSON Schema as src/schema judges it, next to Python's jsonschema, and the table of known files."""

import json
import os
import random
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

PROBE = os.environ["SCHEMA_PROBE"]
DRAFTS = {"http://json-schema.org/draft-04/schema#": jsonschema.Draft4Validator,
          "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
          "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator}
NEWEST = "https://json-schema.org/draft/2020-12/schema"
SEVEN = "http://json-schema.org/draft-07/schema#"
FOUR = "http://json-schema.org/draft-04/schema#"

VALUES = [None, True, False, 0, 1, 1.0, -1, 2.5, 7, 100, "", "a", "ab", "abc", "日本語", "x-1", [], [1], [1, 1], [1, 1.0],
          [1, "a", None], [[]], {}, {"a": 1}, {"a": "1", "b": 2}, {"x-a": 1}, {"a": {"b": {"c": [1, {"d": 2}]}}},
          {"kind": "a", "n": 1}, {"kind": "b", "s": "t"}, {"list": [1, 2, 3, 4]}, {"children": [{"children": []}]}]

# Each keyword, alone and with those that it depends on.
SCHEMAS = [
    (NEWEST, {"type": "integer"}), (NEWEST, {"type": ["string", "null"]}), (NEWEST, {"enum": [1, "a", None, {"a": 1}]}),
    (NEWEST, {"const": 1}), (NEWEST, {"enum": [[1.0], {"a": 1.0}, [1, 1]]}), (NEWEST, {"minimum": 1, "maximum": 7}), (NEWEST, {"exclusiveMinimum": 1}),
    (NEWEST, {"exclusiveMaximum": 7}), (FOUR, {"minimum": 1, "exclusiveMinimum": True}),
    (FOUR, {"maximum": 7, "exclusiveMaximum": True}), (NEWEST, {"multipleOf": 0.5}), (NEWEST, {"multipleOf": 2}),
    (NEWEST, {"minLength": 2, "maxLength": 3}), (NEWEST, {"pattern": "^[a-z]-?\\d*$"}), (NEWEST, {"minItems": 1, "maxItems": 2}),
    (NEWEST, {"uniqueItems": True}), (NEWEST, {"minProperties": 1, "maxProperties": 1}),
    (NEWEST, {"properties": {"a": {"type": "integer"}}, "required": ["a"]}),
    (NEWEST, {"properties": {"a": {}}, "additionalProperties": False}),
    (NEWEST, {"properties": {"a": {}}, "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "object"}}),
    (NEWEST, {"propertyNames": {"maxLength": 1}}), (SEVEN, {"dependencies": {"a": ["b"], "kind": {"required": ["n"]}}}),
    (NEWEST, {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"kind": {"properties": {"n": {"type": "string"}}}}}),
    (NEWEST, {"items": {"type": "integer"}}), (NEWEST, {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}),
    (NEWEST, {"prefixItems": [True, True], "items": False}), (SEVEN, {"items": [{"type": "integer"}], "additionalItems": False}),
    (SEVEN, {"items": [{}], "additionalItems": {"type": "integer"}}), (NEWEST, {"contains": {"type": "string"}}),
    (NEWEST, {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}), (NEWEST, {"contains": {"const": 1}, "minContains": 0}),
    (NEWEST, {"allOf": [{"type": "object"}, {"required": ["a"]}]}), (NEWEST, {"anyOf": [{"type": "string"}, {"minimum": 3}]}),
    (NEWEST, {"oneOf": [{"type": "integer"}, {"minimum": 2}]}), (NEWEST, {"not": {"type": ["string", "object"]}}),
    (NEWEST, {"if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, "then": {"required": ["n"]}, "else": {"minProperties": 1}}),
    (NEWEST, {"if": {"type": "string"}, "then": False}), (NEWEST, {"else": False}),
    (NEWEST, {"$ref": "#/$defs/deep~1one", "$defs": {"deep/one": {"type": "object"}}}),
    (NEWEST, {"$ref": "#/%24defs/a%25", "$defs": {"a%": {"type": "array"}}}),
    (NEWEST, {"$ref": "#named", "$defs": {"x": {"$anchor": "named", "type": "array"}}}),
    (NEWEST, {"$ref": "#/$defs/s", "minLength": 2, "$defs": {"s": {"type": "string"}}}),
    (SEVEN, {"properties": {"a": {"$ref": "#/definitions/s", "minimum": 100}}, "definitions": {"s": {"type": "integer"}}}),
    (NEWEST, {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "additionalProperties": False}),
    (NEWEST, {"properties": {"a": {}}, "unevaluatedProperties": False}),
    (NEWEST, {"allOf": [{"properties": {"a": {}}}, {"patternProperties": {"^x": {}}}], "unevaluatedProperties": {"type": "integer"}}),
    (NEWEST, {"anyOf": [{"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, {"properties": {"a": {}}}], "unevaluatedProperties": False}),
    (NEWEST, {"if": {"required": ["kind"]}, "then": {"$ref": "#/$defs/s"}, "else": {"additionalProperties": True}, "unevaluatedProperties": False,
              "$defs": {"s": {"properties": {"kind": {}, "s": {}}}}}),
    (NEWEST, {"dependentSchemas": {"a": {"properties": {"a": {}}}}, "not": {"properties": {"b": {}}}, "unevaluatedProperties": False}),
    (NEWEST, {"prefixItems": [{}], "unevaluatedItems": {"type": "string"}}), (NEWEST, {"contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}),
    (NEWEST, {"allOf": [{"prefixItems": [True, True]}], "unevaluatedItems": False}), (NEWEST, {"$dynamicRef": "#n", "$defs": {"x": {"$dynamicAnchor": "n", "type": "array"}}}),
    (NEWEST, {"properties": {"a": False}}), (NEWEST, {"properties": {"a": True}}), (NEWEST, {"format": "ipv4"}),
]


def judged(pairs):
    text = "".join(json.dumps({"schema": schema, "value": value}) + "\n" for schema, value in pairs)
    run = subprocess.run([PROBE], input=text, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in run.stdout.splitlines()]


def expected(schema, value):
    try:
        return "valid" if DRAFTS[schema["$schema"]](schema).is_valid(value) else "invalid"
    except TypeError:  # jsonschema sorts what it complains about: there is something
        return "invalid"


def test_each_keyword_means_what_it_means_elsewhere():
    pairs = [({"$schema": draft, **schema}, value) for draft, schema in SCHEMAS for value in VALUES]
    wrong = [(schema, value, mine["verdict"]) for (schema, value), mine in zip(pairs, judged(pairs))
             if mine["verdict"] != expected(schema, value)]
    assert not wrong
    assert all(bool(mine["problems"]) == (mine["verdict"] == "invalid") for mine in judged(pairs))


def test_put_together_at_random_they_still_do():
    source = random.Random(45)

    def grown(draft, depth):
        parts = [dict(schema) for own, schema in source.sample(SCHEMAS, 2) if own == draft and not re.search(r"(\$r|R)ef\"", json.dumps(schema))]
        if depth and parts:
            parts[0][source.choice(["not", "if", "then", "contains", "items"])] = grown(draft, depth - 1)
            parts[0][source.choice(["anyOf", "oneOf", "allOf"])] = [grown(draft, depth - 1), grown(draft, depth - 1)]
            parts[0]["properties"] = {name: grown(draft, depth - 1) for name in ("a", "kind", "list")}
        return {key: part for one in parts for key, part in one.items()}

    pairs = [({"$schema": NEWEST, **grown(NEWEST, 2)}, value) for _ in range(100) for value in source.sample(VALUES, 8)]
    verdicts = [mine["verdict"] for mine in judged(pairs)]
    wrong = [(schema, value, mine) for (schema, value), mine in zip(pairs, verdicts) if mine != expected(schema, value)]
    assert not wrong
    assert {"valid", "invalid"} <= set(verdicts)


@pytest.mark.parametrize("schema", [
    {"$ref": "https://example.org/other.json"}, {"$ref": "#/nowhere"}, {"$dynamicRef": "#a"}, {"unevaluatedProperties": False, "anyOf": [{"$ref": "other"}, {"type": "object"}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$id": "https://example.org/a"}}},
    {"properties": {"a": {"pattern": "("}}}, {"properties": {"a": {"pattern": "(a+)+$"}}},
    {"not": {"$ref": "other"}}, {"if": {"$ref": "other"}, "then": False}, {"allOf": [{"$ref": "#"}]}, {"$ref": "#"}])
def test_what_cannot_be_judged_is_neither(schema):
    assert judged([(schema, {"a": "x", "b": 1})])[0]["verdict"] == "unknown"


def test_what_is_wrong_beside_what_cannot_be_judged_is_still_wrong():
    assert judged([({"$ref": "other", "required": ["z"]}, {})])[0]["verdict"] == "invalid"
    assert judged([({"anyOf": [{"$ref": "other"}, {"required": ["z"]}]}, {})])[0]["verdict"] == "unknown"


def test_no_schema_takes_more_than_its_steps():
    doubling = {"$defs": {"d0": {"type": "string"}}}
    for i in range(1, 100):
        doubling["$defs"]["d%d" % i] = {"anyOf": [{"$ref": "#/$defs/d%d" % (i - 1)}] * 2}
    doubling["$ref"] = "#/$defs/d99"
    deep = value = []
    for _ in range(900):
        value.append([])
        value = value[0]
    long = {"uniqueItems": True}
    answers = judged([(doubling, 1), ({"items": {"$ref": "#"}}, deep), (long, list(range(5000))),
                      ({"enum": list(range(3000))}, -1)])
    assert [answer["verdict"] for answer in answers] == ["unknown", "unknown", "unknown", "invalid"]


def test_problems_name_the_place_the_keyword_and_what_is_allowed():
    schema = {"properties": {"a b": {"items": {"type": "string"}}, "level": {"enum": ["off", "on"]}}, "required": ["name"],
              "additionalProperties": False}
    answer = judged([(schema, {"a b": ["x", 1], "level": "of", "other": 0})])[0]
    assert answer["count"] == 4
    assert answer["problems"].split("; ") == [
        '."a b"[1] must be of type string, and is an integer (type)', '.level must be one of: "off", "on" (enum)',
        '. must have the member "name" (required)',
        '. has the member "other", which is not allowed', 'allowed: "a b", "level" (additionalProperties)']


def test_a_branch_that_is_meant_says_what_is_wrong():
    schema = {"anyOf": [{"type": "string"}, {"type": "object", "required": ["uses"]}]}
    assert judged([(schema, {})])[0]["problems"] == '. must have the member "uses" (required)'


@pytest.mark.parametrize("text", ["[]", "5", '{"$schema": "https://example.org/mine"}', '{"$schema": 7}'])
def test_what_is_no_schema_is_an_error(text):
    assert judged([(json.loads(text), {})])[0]["verdict"] == "error"


# ---- known files -----------------------------------------------------------------------------------------------------

NAMES = ["package.json", "tsconfig.json", "a/tsconfig.app.json", ".eslintrc", "docker-compose.yml", "compose.prod.yaml", ".github/workflows/a.yml",
         "action.yml", ".github/dependabot.yml", "pyproject.toml", "Cargo.toml", "renovate.json", ".prettierrc", ".babelrc", "composer.json",
         ".gitlab-ci.yml", ".vscode/tasks.json", ".vscode/launch.json", ".devcontainer/devcontainer.json", "Chart.yaml",
         ".pre-commit-config.yaml", "deno.json"]
KNOWN = [json.loads(line) for line in subprocess.run([PROBE, *NAMES], capture_output=True, text=True, check=True).stdout.splitlines()]


def test_the_known_schemas_are_schemas():
    assert len({row["title"] for row in KNOWN}) == 20
    for row in KNOWN:
        jsonschema.Draft7Validator.check_schema(json.loads(row["schema"]))
        assert json.loads(row["schema"])["type"] in ("object", ["object", "string"])


def test_other_files_have_none():
    names = ["my-package.json", "a/tasks.json", "workflows/a.yml", ".github/workflows/deep/a.yml", "xaction.yml"]
    out = subprocess.run([PROBE, *names], capture_output=True, text=True, check=True).stdout
    assert [json.loads(line)["title"] for line in out.splitlines()] == [""] * len(names)


def test_no_reference_of_theirs_leads_nowhere():
    for row in KNOWN:
        for ref in re.findall(r'"\$ref": *"#/definitions/(\w+)"', row.get("schema", "")):
            assert ref in json.loads(row["schema"])["definitions"], row["title"]


def test_real_files_of_the_machine_are_valid():
    schema = next(json.loads(row["schema"]) for row in KNOWN if row["title"] == "package.json")
    found = [path for top in ("/usr/share/nodejs", "/usr/lib/node_modules", str(Path(__file__).parents[2])) if Path(top).is_dir()
             for path in Path(top).rglob("package.json")][:2000]
    pairs = []
    for path in found:
        try:
            pairs.append((schema, json.loads(path.read_text(encoding="utf-8"))))
        except ValueError:
            continue
    assert pairs
    wrong = [(path, answer["problems"]) for path, answer in zip(found, judged(pairs)) if answer["verdict"] != "valid"]
    assert len(wrong) <= len(pairs) / 50, wrong
