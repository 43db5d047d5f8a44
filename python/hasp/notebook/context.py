# SPDX-License-Identifier: Apache-2.0
"""Variables of the kernel in a prompt: `{df}`.

A name in braces that is a variable of the notebook is described after the prompt: shape, types and
first rows of a table, otherwise type, length and beginning.  Nothing else of the kernel goes to the
model, what is no name stays as it is written, and `{{df}}` is the text `{df}`.
"""
from __future__ import annotations

import inspect
import re
import reprlib
import types
from collections.abc import Callable, Mapping
from typing import Any

MOST_VARIABLES = 16
LONGEST = 4_000  # characters about one variable
LONGEST_IN_ALL = 16_000
_ROWS = 5
_COLUMNS = 40

_BRACES = re.compile(r"\{\{([^{}\n]*)\}\}|\{([^\W\d]\w*)\}")


def with_variables(prompt: str, namespace: Mapping[str, Any]) -> str:
    """The prompt, and after it what is known of the variables that it names in braces."""
    named: dict[str, None] = {}

    def word(found: re.Match[str]) -> str:
        if found[2] is None:
            return "{" + found[1] + "}"
        if found[2] not in namespace:
            return found[0]
        named[found[2]] = None
        return f"`{found[2]}`"

    text = _BRACES.sub(word, prompt)
    parts = [text]
    left = LONGEST_IN_ALL
    for count, name in enumerate(named):
        if count == MOST_VARIABLES or left <= 0:
            parts.append(f"(Not described, because the prompt names too many variables: `{name}`)")
            continue
        described = _cut(describe(name, namespace[name]), min(LONGEST, left))
        left -= len(described)
        parts.append(described)
    return "\n\n".join(parts)


def describe(name: str, value: Any) -> str:
    """What a model is told of one variable.  What its own methods raise is told, too."""
    kind = type(value)
    title = f"Variable `{name}` of the notebook: {kind.__module__}.{kind.__qualname__}"
    for fits, tell in _KINDS:
        try:
            if fits(value):
                return title + tell(value)
        except Exception as error:
            return title + f"; asking it raised {type(error).__name__}"
    return title + "\n" + _beginning(value)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " ... (cut)"


def _beginning(value: Any) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 1_000
    short.maxlist = short.maxtuple = short.maxset = short.maxdict = short.maxfrozenset = 20
    return _block(short.repr(value))


def _block(text: str) -> str:
    return "```\n" + text.replace("```", "'''") + "\n```"


def _has(*names: str) -> Callable[[Any], bool]:
    # Of the class: objects that make attributes of any name are not asked.
    return lambda value: all(hasattr(type(value), name) for name in names)


def _table(value: Any) -> str:
    rows, columns = value.shape
    types_of = value.dtypes
    named = (
        list(types_of.items()) if hasattr(types_of, "items") else list(zip(value.columns, types_of))
    )
    lines = [f"{column!s}: {kind}" for column, kind in named[:_COLUMNS]]
    if columns > _COLUMNS:
        lines.append(f"... and {columns - _COLUMNS} more columns")
    head = value.head(_ROWS)
    shown = head.to_string(max_cols=_COLUMNS) if hasattr(head, "to_string") else str(head)
    return (
        f", {rows} rows x {columns} columns\n"
        + _block("\n".join(lines))
        + f"\nFirst rows:\n"
        + _block(shown)
    )


def _column(value: Any) -> str:
    head = value.head(_ROWS)
    shown = head.to_string() if hasattr(head, "to_string") else str(head)
    return f", {len(value)} values of {value.dtype}\n" + _block(shown)


def _array(value: Any) -> str:
    text = f", shape {tuple(value.shape)}, {value.dtype}"
    size = 1
    for length in value.shape:
        size *= int(length)
    if size <= 64:
        return text + "\n" + _block(str(value))
    first = value.reshape(-1)[:16] if hasattr(value, "reshape") else value
    return text + "\nFirst values:\n" + _block(_cut(str(first), 1_000))


def _text(value: Any) -> str:
    begins = value[:2_000]
    return f", length {len(value)}\n" + _block(begins if isinstance(value, str) else repr(begins))


def _several(value: Any) -> str:
    return f", length {len(value)}\n" + _beginning(value)


def _function(value: Any) -> str:
    try:
        heading = f"{value.__name__}{inspect.signature(value)}"
    except (TypeError, ValueError):
        heading = str(value.__name__)
    written = inspect.getdoc(value) or ""
    return "\n" + _block(f"{heading}\n{_cut(written, 1_000)}".strip())


# The first that fits is asked.
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], str]], ...] = (
    (lambda value: isinstance(value, (str, bytes, bytearray)), _text),
    (lambda value: isinstance(value, (dict, list, tuple, set, frozenset)), _several),
    (lambda value: isinstance(value, (types.FunctionType, type, types.ModuleType)), _function),
    (_has("shape", "dtypes", "columns", "head"), _table),
    (_has("dtype", "head", "__len__"), _column),
    (_has("shape", "dtype"), _array),
)
