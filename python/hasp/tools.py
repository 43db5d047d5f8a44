# SPDX-License-Identifier: Apache-2.0
"""Functions as tools: `@hasp.tool` takes the schema from the signature, the description from the
docstring."""
from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, overload

from . import errors

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["other", "read", "edit", "delete", "move", "search", "execute", "think", "fetch"]

KINDS: tuple[str, ...] = get_args(Kind)
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    type(None): {"type": "null"},
}


@dataclasses.dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the program: for `Agent(tools=[...])`."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: str
    function: Callable[..., Any]
    types: Mapping[str, Any]
    preview: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **arguments: Any) -> Any:
        return self.function(*args, **arguments)

    def invoke(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the function with arguments that fit the schema, made what the signature says."""
        return self.function(**self.built(arguments))

    def built(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the signature has them."""
        return {name: build(self.types.get(name, Any), value) for name, value in arguments.items()}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type. Raises TypeError for what a model cannot give."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, inside = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        notes = [note for note in inside[1:] if isinstance(note, str)]
        return {**schema_of(inside[0]), **({"description": notes[0]} if notes else {})}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, types.UnionType):
        if len(inside) == 2 and type(None) in inside:
            return schema_of(inside[0] if inside[1] is type(None) else inside[1])
        return {"anyOf": [schema_of(one) for one in inside]}
    if origin in (list, set, frozenset, tuple):
        if origin is tuple and not (len(inside) == 2 and inside[1] is Ellipsis):
            raise TypeError(f"{kind} has elements of several types: use a dataclass")
        return {"type": "array", "items": schema_of(inside[0])}
    if origin is dict:
        if inside[0] is not str:
            raise TypeError(f"{kind}: the names of a JSON object are strings")
        return {"type": "object", "additionalProperties": schema_of(inside[1])}
    if inspect.isclass(kind):
        if issubclass(kind, enum.Enum):
            return {"enum": [one.value for one in kind]}
        if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
            return _object_schema(kind)
    raise TypeError(
        f"{kind} cannot be said as JSON Schema: use str, int, float, bool, list, dict, Literal, "
        "an enum, a dataclass or a TypedDict"
    )


def _object_schema(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        fields = [field for field in dataclasses.fields(kind) if field.init]
        names = [field.name for field in fields]
        required = [
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
    else:
        names, required = list(hints), [name for name in hints if name in kind.__required_keys__]
    return {
        "type": "object",
        "properties": {name: schema_of(hints[name]) for name in names},
        "required": required,
        "additionalProperties": False,
    }


def build(kind: Any, value: Any) -> Any:
    """JSON as a value of the type. Raises ValueError where it is none."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return build(inside[0], value)
    if origin in (Union, types.UnionType):
        return _build_one_of(inside, value)
    if origin is Literal:
        if value not in inside:
            raise ValueError(f"{value!r} is none of {', '.join(map(repr, inside))}")
        return value
    if origin in (list, set, frozenset, tuple):
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is no list")
        return origin(build(inside[0], one) for one in value)
    if origin is dict:
        if not isinstance(value, dict):
            raise ValueError(f"{value!r} is no object")
        return {name: build(inside[1], one) for name, one in value.items()}
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        return kind(value)
    if inspect.isclass(kind) and (dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)):
        return _build_object(kind, value)
    return _build_plain(kind, value)


def _build_one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    for one in kinds:
        try:
            return build(one, value)
        except (ValueError, TypeError):
            continue
    raise ValueError(f"{value!r} fits none of {', '.join(map(str, kinds))}")


def _build_object(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")
    hints = typing.get_type_hints(kind, include_extras=True)
    unknown = set(value) - set(hints)
    missing = set(_object_schema(kind)["required"]) - set(value)
    if unknown or missing:
        raise ValueError(
            f"{kind.__name__}: {'unknown' if unknown else 'missing'} "
            f"{', '.join(sorted(unknown or missing))}"
        )
    return kind(**{name: build(hints[name], one) for name, one in value.items()})


def _build_plain(kind: Any, value: Any) -> Any:
    if kind in (Any, inspect.Parameter.empty):
        return value
    if kind is type(None):
        kind = types.NoneType
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if (
        not inspect.isclass(kind)
        or not isinstance(value, kind)
        or (kind is int and isinstance(value, bool))
    ):
        raise ValueError(f"{value!r} is no {getattr(kind, '__name__', kind)}")
    return value


@overload
def tool(function: Function, /) -> Tool:
    ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = "other",
    preview: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = "other",
    preview: Callable[..., Any] | None = None,
) -> Any:
    """Makes a function, plain or `async`, a tool.

    `kind` says what it does: "read", "search" and "think" run without a question; for all others
    the mode and the policies decide. It runs in this process, unconfined. What it returns goes to
    the model: text, what JSON can say, `bytes` of a picture, or a list of these. An exception goes
    to the model as a failure.

    `preview` gets the same arguments when a person is asked about a call, and returns a list of
    `hasp.FileDiff` that the question shows instead of the arguments.
    """
    if function is None:
        return lambda decorated: _make(decorated, name, description, kind, preview)
    return _make(function, name, description, kind, preview)


def _make(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    kind: str,
    preview: Callable[..., Any] | None,
) -> Tool:
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of tool: {', '.join(KINDS)}")
    said = description or inspect.getdoc(function)
    if not said:
        raise ValueError(
            f"{function.__name__} needs a docstring: it is what the model knows of the tool"
        )
    hints = typing.get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
            parameter.POSITIONAL_ONLY,
        ):
            raise TypeError(
                f"{function.__name__}: the parameter {parameter.name} has no name that a model "
                "could give"
            )
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: the parameter {parameter.name} has no type")
        properties[parameter.name] = schema_of(hints[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(name or function.__name__, said, parameters, kind, function, hints, preview)


def answer_parts(value: Any) -> list[str | bytes]:
    """What a function returned, as texts and media."""
    if value is None:
        return []
    if isinstance(value, (str, bytes, bytearray)):
        return [bytes(value) if isinstance(value, bytearray) else value]
    picture = getattr(value, "_repr_png_", None)
    if callable(picture) and (png := picture()):
        return [bytes(png)]
    if isinstance(value, (list, tuple)) and any(
        isinstance(one, (bytes, bytearray)) for one in value
    ):
        return [part for one in value for part in answer_parts(one)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    try:
        return [json.dumps(value, ensure_ascii=False, default=str)]
    except (TypeError, ValueError) as error:
        raise errors.ToolFailed(f"The tool's result cannot be said in JSON: {error}") from None
