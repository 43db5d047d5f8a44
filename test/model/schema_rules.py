# SPDX-License-Identifier: Apache-2.0
"""What providers document of the schemas of tools, as violations of a schema: written from the documents that the
head of src/model/schema_fit.c names, not from that file.

    found = openai(schema, "tools[0].function.parameters")
"""
import re

TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# A vocabulary: keyword -> what its value has to be.
COUNT = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
FLAGS = {"uniqueItems", "deprecated", "readOnly", "writeOnly"}
TEXTS = {"title", "description", "pattern", "format", "contentEncoding", "contentMediaType", "$ref"}
ONE = {"items", "additionalProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contains", "not",
       "if", "then", "else", "contentSchema"}
SOME = {"anyOf", "oneOf", "allOf", "prefixItems"}
MAPS = {"properties", "patternProperties", "$defs", "dependentSchemas"}
PLAIN = {"type", "enum", "const", "required", "default", "examples", "dependentRequired"}
DRAFT_2020 = COUNT | NUMBERS | FLAGS | TEXTS | ONE | SOME | MAPS | PLAIN
# "Structured outputs", "Supported schemas": what is not in there is no part of the subset.
NOT_OPENAI = {"oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
              "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contains", "minContains", "maxContains",
              "contentSchema", "prefixItems"}


def value(word, got, at):
    whole = isinstance(got, int) and not isinstance(got, bool)
    number = isinstance(got, (int, float)) and not isinstance(got, bool)
    good = (whole and got >= 0 if word in COUNT else number if word in NUMBERS else isinstance(got, bool) if word in FLAGS
            else isinstance(got, str) if word in TEXTS else isinstance(got, (dict, bool)) if word in ONE
            else isinstance(got, list) and got != [] if word in SOME else isinstance(got, dict) if word in MAPS else True)
    return [] if good else ["%s.%s: %r is not valid under any of the given schemas" % (at, word, got)]


def types(schema, at):
    got = schema.get("type", [])
    got = [got] if isinstance(got, str) else got
    if not isinstance(got, list) or not set(map(str, got)) <= TYPES or len(set(got)) != len(got):
        return ["%s: %r is not a type" % (at, schema.get("type"))]
    return []


def plain(schema, at):
    found = types(schema, at)
    if "enum" in schema and not (isinstance(schema["enum"], list) and 1 <= len(schema["enum"]) <= 1000):
        found.append("%s.enum is no list of 1 to 1000" % at)
    if "required" in schema and not (isinstance(schema["required"], list) and all(
            isinstance(one, str) for one in schema["required"]) and
            len(set(schema["required"])) == len(schema["required"])):
        found.append("%s.required: %r is not of type 'array'" % (at, schema["required"]))
    if "pattern" in schema:
        try:
            re.compile(schema["pattern"])
        except (re.error, TypeError):
            found.append("%s: %r is not a 'regex'" % (at, schema["pattern"]))
    return found


def below(schema):
    """(where, schema) of each schema directly within this one."""
    for word in ONE & set(schema):
        yield word, schema[word]
    for word in SOME & set(schema):
        for i, one in enumerate(schema[word] if isinstance(schema[word], list) else []):
            yield "%s[%d]" % (word, i), one
    for word in MAPS & set(schema):
        for name, one in schema[word].items() if isinstance(schema[word], dict) else []:
            yield "%s.%s" % (word, name), one


def walk(schema, at, vocabulary, rule, root, depth=0):
    if isinstance(schema, bool):
        return []
    if not isinstance(schema, dict):
        return ["%s: %r is not of type 'object', 'boolean'" % (at, schema)]
    if depth > 40:
        return [at + ": nested too deep"]
    found = ["%s: '%s' is not permitted" % (at, word) for word in sorted(set(schema) - vocabulary)]
    for word, got in schema.items():
        found += value(word, got, at)
    found += plain(schema, at) + rule(schema, at)
    if "$ref" in schema:
        name = re.fullmatch(r"#/\$defs/([\w]+)", str(schema["$ref"]))
        if not name or name.group(1) not in root.get("$defs", {}):
            found.append("%s: $ref %r leads nowhere" % (at, schema["$ref"]))
    for name in schema.get("properties", {}) if isinstance(schema.get("properties"), dict) else []:
        if not KEY.fullmatch(name):
            found.append("%s.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$': %r" % (at, name))
    for where, one in below(schema):
        found += walk(one, "%s.%s" % (at, where), vocabulary, rule, root, depth + 1)
    return found


def top(schema, at, never):
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return [at + ": schema must be a JSON Schema of 'type: \"object\"'"]
    return ["%s: schema must not have '%s' at the top level" % (at, word) for word in never if word in schema]


def openai_rule(schema, at):
    kinds = schema.get("type", [])
    found = []
    if "array" in kinds and "items" not in schema:
        found.append(at + ": array schema missing items")
    if "object" in kinds and "properties" not in schema:
        found.append(at + ": object schema missing properties")
    if "$ref" in schema and len(schema) > 1:
        found.append("%s: $ref cannot have keywords %r" % (at, sorted(schema)))
    return found


def openai(schema, at):
    found = top(schema, at, ("oneOf", "anyOf", "allOf", "enum", "not"))
    return found or walk(schema, at, DRAFT_2020 - NOT_OPENAI, openai_rule, schema)


def anthropic(schema, at):
    found = top(schema, at, ("oneOf", "anyOf", "allOf"))
    return found or walk(schema, at, DRAFT_2020, lambda *_: [], schema)


# Gemini: parametersJsonSchema. Formats: "Structured output", "JSON Schema support".
GEMINI = {"type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems", "minimum",
          "maximum", "anyOf", "properties", "additionalProperties", "required", "propertyOrdering"}
FORMATS = {"date-time", "date", "time", "int32", "int64", "float", "double"}


def gemini_rule(schema, at):
    found = []
    kinds = schema.get("type")
    for one in schema.get("enum", []):
        if isinstance(one, bool) or not isinstance(one, (str, int, float)) or one == "":
            found.append("%s.enum: %r is no string or number, or empty" % (at, one))
    if len({isinstance(one, str) for one in schema.get("enum", [])}) > 1 or ("enum" in schema and kinds is None):
        found.append("%s.enum: only allowed for STRING type" % at)
    if isinstance(kinds, list) and (len(kinds) > 2 or "null" not in kinds):
        found.append("%s.type: %r" % (at, kinds))
    if "anyOf" in schema and len(schema) > 1:
        found.append("%s: specified other fields alongside any_of: %r" % (at, sorted(schema)))
    if "format" in schema and schema["format"] not in FORMATS:
        found.append("%s.format: %r is not supported" % (at, schema["format"]))
    if "array" in (kinds or []) and "items" not in schema and "prefixItems" not in schema:
        found.append("%s.items: missing field." % at)
    if not set(schema.get("required", [])) <= set(schema.get("properties", {})):
        found.append("%s.required: property is not defined" % at)
    for name in schema.get("properties", {}):
        if not re.match(r"[A-Za-z_]", name):
            found.append("%s.properties: %r does not begin with a letter" % (at, name))
    return found


def gemini(schema, at):
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return [at + ": parameters schema should be of type OBJECT"]
    return walk(schema, at, GEMINI, gemini_rule, schema)
