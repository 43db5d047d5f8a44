# SPDX-License-Identifier: Apache-2.0
"""One schema of a tool's arguments for each construct of JSON Schema: 2020-12's keywords, those of older drafts and of
OpenAPI, and the forms that servers really declare."""


def member(**schema):
    """A tool with one member of this schema."""
    return {"type": "object", "properties": {"a": schema}}


def top(**more):
    return dict({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}, **more)


TREE = {"type": "object", "properties": {"name": {"type": "string"}, "children": {
    "type": "array", "items": {"$ref": "#/$defs/Node"}}}, "required": ["name"]}
EITHER = [{"type": "object", "properties": {"kind": {"const": "x"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
          {"type": "object", "properties": {"kind": {"const": "y"}, "y": {"type": "string"}}, "required": ["kind", "y"]}]
# By keyword, each under its name in the table of schema_fit.c.
KEYWORDS = {
    "$schema": top(**{"$schema": "http://json-schema.org/draft-07/schema#"}),
    "$vocabulary": top(**{"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True}}),
    "$comment": member(type="string", **{"$comment": "Hm."}),
    "$id": {"type": "object", "properties": {"a": {"$ref": "https://example.org/a"}}, "$defs": {
        "A": {"$id": "https://example.org/a", "type": "string"}}},
    "$anchor": {"type": "object", "properties": {"a": {"$ref": "#one"}}, "$defs": {
        "A": {"$anchor": "one", "type": "string"}}},
    "$dynamicAnchor": {"type": "object", "properties": {"a": {"$dynamicRef": "#one"}}, "$defs": {
        "A": {"$dynamicAnchor": "one", "type": "string"}}},
    "$ref": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "description": "Said here."},
                                              "b": {"$ref": "#/$defs/A"}, "c": {"$ref": "https://example.org/none"}},
             "$defs": {"A": {"type": "object", "properties": {"c": {"type": "string"}}}}},
    "$dynamicRef": {"type": "object", "properties": {"a": {"$dynamicRef": "#/$defs/A"}}, "$defs": {
        "A": {"type": "string"}}},
    "$defs": {"$ref": "#/$defs/Args", "$defs": {"Args": top(), "unused": {"type": "date"}}},
    "definitions": {"type": "object", "properties": {"a": {"$ref": "#/definitions/A B"}}, "definitions": {
        "A B": {"type": "string"}}},
    "type": member(type=["string", "integer", "array", "null"]),
    "enum": member(enum=["x", "", 1, None, True]),
    "const": member(const="x"),
    "properties": {"type": "object", "properties": {"StartTime<": {"type": "string"}, "a[]": {"type": "string"},
                                                    "$filter": {"type": "string"}, "n" * 80: {"type": "string"},
                                                    "no": False, "any": True}, "required": ["a[]"]},
    "patternProperties": member(type="object", patternProperties={"^x-": {"type": "string"}, "^y-": {"type": "integer"}}),
    "additionalProperties": member(type="object", additionalProperties={"type": "string", "minLength": 1}),
    "propertyNames": member(type="object", propertyNames={"pattern": "^[a-z]+$"}),
    "unevaluatedProperties": member(type="object", unevaluatedProperties=False),
    "unevaluatedItems": member(type="array", items={}, unevaluatedItems=False),
    "required": top(required=["a", "a", "missing", 1]),
    "minProperties": member(type="object", minProperties=1),
    "maxProperties": member(type="object", maxProperties=3),
    "dependentRequired": member(type="object", properties={"x": {}, "y": {}}, dependentRequired={"x": ["y"]}),
    "dependentSchemas": member(type="object", properties={"x": {}}, dependentSchemas={
        "x": {"properties": {"y": {"type": "string"}}}}),
    "dependencies": member(type="object", properties={"x": {}}, dependencies={"x": ["y"], "z": {"properties": {
        "y": {"type": "string"}}}}),
    "items": member(type="array", items=[{"type": "string"}, {"type": "integer"}]),
    "prefixItems": member(type="array", prefixItems=[{"type": "string"}, {"type": "integer"}], items=False),
    "additionalItems": member(type="array", items=[{"type": "string"}], additionalItems={"type": "integer"}),
    "contains": member(type="array", items={}, contains={"type": "string"}),
    "minContains": member(type="array", items={}, contains={}, minContains=1),
    "maxContains": member(type="array", items={}, contains={}, maxContains=1),
    "uniqueItems": member(type="array", items={"type": "string"}, uniqueItems=True),
    "minItems": member(type="array", items={"type": "string"}, minItems=1),
    "maxItems": member(type="array", items={"type": "string"}, maxItems=4),
    "minimum": member(type="integer", minimum=1),
    "maximum": member(type="number", maximum=1.5),
    "exclusiveMinimum": member(type="integer", minimum=0, exclusiveMinimum=True),
    "exclusiveMaximum": member(type="integer", exclusiveMaximum=10),
    "multipleOf": member(type="number", multipleOf=0.5),
    "minLength": member(type="string", minLength=2),
    "maxLength": member(type="string", maxLength=20),
    "pattern": member(type="string", pattern=r"^\p{L}+(?<n>x)++$"),
    "format": member(type="string", format="uri"),
    "anyOf": top(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "oneOf": {"type": "object", "oneOf": EITHER},
    "allOf": {"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {
        "$ref": "#/$defs/B"}], "$defs": {"B": {"type": "object", "properties": {"b": {"type": "string"}}}}},
    "not": member(type="string", **{"not": {"const": "x"}}),
    "if": member(type="object", **{"if": {"required": ["x"]}}),
    "then": member(type="object", **{"if": {"required": ["x"]}, "then": {"properties": {"y": {"type": "string"}}}}),
    "else": member(type="object", **{"if": {"required": ["x"]}, "else": {"properties": {"y": {"type": "string"}}}}),
    "title": member(type="string", title="A"),
    "description": member(type="string", description="What it is."),
    "default": member(type="string", default="x"),
    "examples": member(type="string", examples=["x"]),
    "deprecated": member(type="string", deprecated=True),
    "readOnly": member(type="string", readOnly=True),
    "writeOnly": member(type="string", writeOnly=True),
    "contentEncoding": member(type="string", contentEncoding="base64"),
    "contentMediaType": member(type="string", contentMediaType="image/png"),
    "contentSchema": member(type="string", contentSchema={"type": "object"}),
    "nullable": member(type="string", nullable=True, enum=["x", "y"]),
    "propertyOrdering": top(propertyOrdering=["b", "a"]),
}
# Forms that real servers declare, and hostile ones.
FORMS = {
    "oneOf at the top without a type": {"oneOf": EITHER},
    "anyOf of references at the top": {"anyOf": [{"$ref": "#/$defs/X"}, {"$ref": "#/$defs/Y"}], "$defs": {
        "X": EITHER[0], "Y": EITHER[1]}},
    "alternatives within alternatives": {"type": "object", "anyOf": [{"oneOf": EITHER}, {"allOf": [EITHER[0]]}]},
    "enum and not at the top": top(enum=[{}], **{"not": {"required": ["a"]}}),
    "if, then, else at the top": top(**{"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {
        "properties": {"c": {"type": "string"}}}}),
    "a recursive definition": {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": TREE}},
    "a recursive definition with words": {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node", "description": "The next."}}}}},
    "a schema that is its own member": {"type": "object", "properties": {"self": {"$ref": "#"}}},
    "a required recursive member": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {
        "type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}}},
    "references in a circle": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    "allOf in a circle": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}, {"type": "string"}]}}},
    "definitions that double": {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": dict(
        {"d%d" % i: {"type": "object", "properties": {"x": {"$ref": "#/$defs/d%d" % (i + 1), "title": "X"}, "y": {
            "$ref": "#/$defs/d%d" % (i + 1)}}} for i in range(20)}, d20={"type": "string"})},
    "a reference into properties": {"type": "object", "properties": {"a": {"type": "string"}, "b": {
        "$ref": "#/properties/a"}, "c": {"$ref": "#/properties/none/0"}}},
    "escaped pointers": {"type": "object", "properties": {"a": {"$ref": "#/$defs/x~1y%20z"}}, "$defs": {
        "x/y z": {"type": "string"}}},
    "draft 3's required": {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
    "draft 4's id": {"id": "http://x.example/", "type": "object", "properties": {"a": {"id": "#b", "type": "string"}}},
    "upper-case types": member(type="OBJECT", properties={"b": {"type": "STRING", "nullable": True}}),
    "a type that is none": member(type="any"),
    "types of Python": member(type="dict", properties={"b": {"type": "int"}, "c": {"type": "list"}}),
    "items that are true": member(type="array", items=True),
    "no items": member(type="array"),
    "an array or a string": member(type=["array", "string"], description="Either."),
    "a nullable array": member(type=["array", "null"], items={"type": "string"}),
    "an object without properties": member(type="object"),
    "no properties at all": {"type": "object"},
    "no schema at all": {},
    "an empty required": top(required=[]),
    "required that is none": top(required="a"),
    "an empty enum": member(type="string", enum=[]),
    "an enum of objects": member(enum=[{"x": 1}, ["y"]]),
    "an enum of 2,000": member(type="string", enum=["v%d" % i for i in range(2000)]),
    "an enum of booleans": member(type="boolean", enum=[True]),
    "an enum of integers": member(type="integer", enum=[1, 2]),
    "a nullable enum": member(type=["string", "null"], enum=["x", None]),
    "an enum without a type": member(enum=["x", "y"]),
    "a const that is null": member(const=None),
    "a const that is an object": member(const={"x": 1}),
    "anyOf with words next to it": member(anyOf=[{"type": "string"}, {"type": "null"}], description="Or nothing.",
                                          default=None),
    "anyOf of constants": member(oneOf=[{"const": "x", "title": "X"}, {"const": "y"}]),
    "anyOf with an empty list": member(anyOf=[]),
    "words that are none": member(type="string", description=5, title=["x"], format=1, pattern={}, minLength="2", minimum="1"),
    "unknown keywords": member(type="string", **{"x-order": 1, "xml": {}, "discriminator": {}, "example": 1,
                                                 "errorMessage": "no"}),
    "40 levels": None,
    "members that hold names that are not taken": {"type": "object", "properties": {"q": {"type": "array", "items": {
        "type": "object", "properties": {"$gt": {"type": "integer"}, "a b": {"type": "string"}},
        "required": ["$gt", "a b"]}}}},
    "names that become one": {"type": "object", "properties": {"T<": {"type": "string"}, "T>": {"type": "string"},
                                                              "T_": {"type": "string"}}},
    "names of other scripts": {"type": "object", "properties": {"名前": {"type": "string"}, "": {"type": "string"},
                                                               "1st": {"type": "string"}}},
    "a long description": member(type="string", description="word " * 2000),
}
deep = {"type": "string"}
for _ in range(40):
    deep = {"type": "object", "properties": {"a": deep}}
FORMS["40 levels"] = deep
