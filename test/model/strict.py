# SPDX-License-Identifier: Apache-2.0
"""What the strict fakes share: objects with known members of known types.

    found = members(value, "tools[0]", {"name": NAME, "strict": BOOL + OPTIONAL, ...})

A rule is a function (value, at) -> [violation]; OPTIONAL + rule lets the member be missing.
"""
import base64
import json
import re
import struct

MISSING = object()


class Rule:
    def __init__(self, check, optional=False):
        self.check, self.optional = check, optional

    def __call__(self, value, at):
        return self.check(value, at)


def may(rule):
    return Rule(rule, True)


def of(kind, name):
    def check(value, at):
        good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        return [] if good else ["%s: expected %s, got %r" % (at, name, value)]
    return Rule(check)


TEXT = of(str, "a string")
BOOL = of(bool, "a boolean")
INTEGER = of(int, "an integer")
NUMBER = of((int, float), "a number")
OBJECT = of(dict, "an object")
LIST = of(list, "an array")


def is_(*values):
    return Rule(lambda value, at: [] if value in values and not (
        isinstance(value, bool) and True not in values and False not in values)
        else ["%s: expected one of %r, got %r" % (at, values, value)])


def between(least, most):
    def check(value, at):
        found = NUMBER(value, at)
        return found or ([] if least <= value <= most else ["%s: %r is not between %r and %r"
                                                            % (at, value, least, most)])
    return Rule(check)


def matching(pattern):
    compiled = re.compile(pattern)
    return Rule(lambda value, at: [] if isinstance(value, str) and compiled.fullmatch(value)
                else ["%s: String should match pattern '%s': %r" % (at, pattern, value)])


def base64_text(value, at):
    try:
        return [] if isinstance(value, str) and base64.b64decode(value, validate=True) else [
            at + " is empty"]
    except ValueError:
        return [at + " is not base64"]


def pixels(data):
    """Of a PNG; (0, 0) of other types."""
    return struct.unpack(">II", data[16:24]) if data[:4] == b"\x89PNG" and len(data) >= 24 else (0, 0)


def image_faults(images, types, encoded=None, side=None, many=None, many_side=None, count=None):
    """Violations of a provider's limits by images, each (type, base64 text); see the fakes for the pages
    that the limits come from."""
    found = []
    for kind, data in images:
        if kind not in types:
            found.append("Unsupported MIME type: " + kind)
        if encoded and len(data) > encoded:
            found.append("image exceeds %d MB maximum: %d bytes" % (encoded >> 20, len(data)))
        most = many_side if many and len(images) > many else side
        if most and max(pixels(base64.b64decode(data))) > most:
            found.append("At least one of the image dimensions exceed max allowed size: %d pixels" % most)
    if count and len(images) > count:
        found.append("too many images: %d > %d" % (len(images), count))
    return found


def data_url(*types):
    def check(value, at):
        found = re.fullmatch(r"data:([\w.+/-]+);base64,(.*)", value, re.S) if isinstance(
            value, str) else None
        if not found or found.group(1) not in types:
            return ["%s is no data URL of %s" % (at, ", ".join(types))]
        return base64_text(found.group(2), at)
    return Rule(check)


def members(value, at, rules):
    """Violations of an object: unknown, missing and wrong members."""
    if not isinstance(value, dict):
        return ["%s: expected an object, got %r" % (at, value)]
    found = ["%s.%s: Extra inputs are not permitted" % (at, name)
             for name in value if name not in rules]
    for name, rule in rules.items():
        if name in value:
            found += rule(value[name], "%s.%s" % (at, name))
        elif not getattr(rule, "optional", False):
            found.append("%s.%s: Field required" % (at, name))
    return found


def each(rule):
    def check(value, at):
        if not isinstance(value, list):
            return ["%s: expected an array, got %r" % (at, value)]
        return [one for i, item in enumerate(value) for one in rule(item, "%s[%d]" % (at, i))]
    return Rule(check)


def thing(**rules):
    return Rule(lambda value, at: members(value, at, rules))


def by_type(kinds, name="type"):
    """Objects that say of which kind they are: {"text": {member: rule}}."""
    def check(value, at):
        kind = value.get(name) if isinstance(value, dict) else None
        if kind not in kinds:
            return ["%s.%s: %r is none of %s" % (at, name, kind, ", ".join(kinds))]
        return members(value, at, dict(kinds[kind], **{name: is_(kind)}))
    return Rule(check)


def json_object(value, at):
    try:
        return [] if isinstance(json.loads(value), dict) else [at + " is no JSON object"]
    except (TypeError, ValueError):
        return [at + " is not JSON"]


def closed(schema, at, all_required=False):
    """Violations of the rule that every object of a schema is closed."""
    if not isinstance(schema, dict):
        return [at + " is no schema"]
    found = []
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            found.append(at + ": 'additionalProperties' is required to be supplied and to be false")
        if all_required and set(schema.get("required", [])) != set(schema.get("properties", {})):
            found.append(at + ": 'required' has to have every key of properties")
    for name, child in schema.get("properties", {}).items():
        found += closed(child, "%s.%s" % (at, name), all_required)
    if "items" in schema:
        found += closed(schema["items"], at + ".items", all_required)
    return found
