# SPDX-License-Identifier: Apache-2.0
"""What an agent does, below the cell that prompted it.

Text is shown as it comes.  Each call of a tool is one line that unfolds: its arguments, and what it
answered.  In a terminal all of it is text.
"""
from __future__ import annotations

import base64
import binascii
import html
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .markdown import rendered, wrapped
from .widget import cut, preformatted, visible

LONGEST_PIECE = 4_000  # characters of text that are rendered anew when more comes
LONGEST_RESULT = 20_000  # characters of a result that are shown
MOST_PICTURES = 8  # of one result
LARGEST_PICTURE = 8 << 20
_PICTURES = ("image/png", "image/jpeg")
_numbers = itertools.count(1)


class _Piece:
    """One output of the cell, which can be shown anew."""

    def __init__(self) -> None:
        self._id = f"hasp-{next(_numbers)}-{id(self):x}"
        self._shown = False
        self.dirty = True

    def show(self, inside: str, plain: str) -> None:
        """The first time below what there is, later in its place."""
        from IPython.display import display

        display(
            {"text/html": wrapped(inside), "text/plain": plain},
            raw=True,
            display_id=self._id,
            update=self._shown,
        )
        self._shown = True
        self.dirty = False


class _Text(_Piece):
    def __init__(self, thought: bool) -> None:
        super().__init__()
        self.text = ""
        self.thought = thought

    def flush(self) -> None:
        inside = rendered(self.text)
        if self.thought:
            inside = f"<details><summary>Thoughts</summary>{inside}</details>"
        self.show(inside, self.text)

    def full(self) -> bool:
        """Whether a new piece may begin here: at the end of a paragraph, not within code."""
        return (
            len(self.text) > LONGEST_PIECE
            and self.text.endswith("\n\n")
            and not self.text.count("```") % 2
            and not self.text.count("~~~") % 2
        )


class _Call(_Piece):
    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__()
        self.title = str(data.get("title") or data.get("toolName") or "call")
        self.what = str(data.get("description") or "")
        self.arguments = data.get("arguments") or {}
        self.output = ""
        self.status = ""
        self.result: Any = None

    def flush(self) -> None:
        mark = {"": "…", "success": "✓", "cancelled": "–"}.get(self.status, "✗")
        line = " ".join(visible(f"{mark} {self.title} {self.what}").split())[:300]
        parts = [f"<summary>{html.escape(line)}</summary>"]
        for name, value in self.arguments.items():
            parts.append(f"<div>{html.escape(visible(str(name)))}</div>" + _value(value))
        if self.output:
            parts.append("<div>output</div>" + preformatted(self.output[-LONGEST_RESULT:]))
        if self.result not in (None, ""):
            parts.append("<div>result</div>" + _value(self.result))
        self.show(f"<details>{''.join(parts)}</details>", line)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return preformatted(cut(text, LONGEST_RESULT))


def pictures(value: Any) -> Iterator[tuple[str, bytes]]:
    """The pictures within a result: members {"mimeType", "data"} with base64, at any place."""
    waiting = [value]
    found = 0
    while waiting and found < MOST_PICTURES:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, dict):
            kind = one.get("mimeType") or one.get("mime_type")
            if kind in _PICTURES and isinstance(one.get("data"), str):
                picture = _decoded(one["data"])
                if picture:
                    found += 1
                    yield str(kind), picture
            waiting.extend(reversed(list(one.values())))


def _decoded(text: str) -> bytes | None:
    if len(text) > LARGEST_PICTURE * 4 // 3 + 4:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def without_pictures(value: Any, depth: int = 0) -> Any:
    """The result as text: where a picture was it says so."""
    if depth > 32:
        return "..."
    if isinstance(value, list):
        return [without_pictures(one, depth + 1) for one in value]
    if isinstance(value, dict):
        if (value.get("mimeType") or value.get("mime_type")) and "data" in value:
            return {**value, "data": "(shown below)"}
        return {name: without_pictures(one, depth + 1) for name, one in value.items()}
    return value


class View:
    """The outputs of one prompt.  Of the kernel's main thread alone."""

    def __init__(self, plain: bool) -> None:
        self._plain = plain
        self._pieces: list[_Text | _Call] = []
        self._calls: dict[str, _Call] = {}

    def add(self, event: Any) -> None:
        """Takes one event of the agent; flush() shows it."""
        shown = self._KINDS.get(event.kind)
        if shown:
            shown(self, event)

    def flush(self) -> None:
        """Shows what has changed."""
        if self._plain:
            sys.stdout.flush()
            return
        for piece in self._pieces:
            if piece.dirty:
                piece.flush()
        # What cannot change any more need not be looked at again.
        self._pieces = self._pieces[-1:] if not self._calls else self._pieces

    def note(self, text: str, severity: str = "info") -> None:
        """A sentence of hasp's own, or of a notice."""
        self.flush()
        if self._plain:
            print(visible(text))
            return
        shade = {"error": "#a00", "warning": "#850"}.get(severity, "#555")
        _Piece().show(
            f'<div style="color:{shade}">{html.escape(visible(cut(text, 4_000)))}</div>', text
        )

    def _text(self, event: Any, thought: bool = False) -> None:
        if self._plain:
            if not thought:
                print(visible(event.text), end="")
            return
        last = self._pieces[-1] if self._pieces else None
        if not isinstance(last, _Text) or last.thought != thought or last.full():
            self.flush()
            last = _Text(thought)
            self._pieces.append(last)
        last.text += event.text
        last.dirty = True

    def _thought(self, event: Any) -> None:
        self._text(event, thought=True)

    def _call(self, event: Any) -> None:
        self.flush()
        call = _Call(event.data)
        if self._plain:
            print(f"\n[{visible(call.title)} {visible(cut(call.what, 300))}]")
            return
        self._calls[str(event.data.get("callId"))] = call
        self._pieces.append(call)

    def _output(self, event: Any) -> None:
        call = self._calls.get(str(event.data.get("callId")))
        if call:
            call.output = (call.output + event.text)[-2 * LONGEST_RESULT :]
            call.dirty = True

    def _result(self, event: Any) -> None:
        data = event.data
        call = self._calls.pop(str(data.get("callId")), None)
        status = str(data.get("status") or "")
        result = data.get("display") or data.get("result")
        if self._plain:
            if status != "success":
                print(f"[{visible(str(data.get('toolName')))}: {visible(status)}]")
            return
        if call:
            call.status = status or "success"
            call.result = without_pictures(result)
            if data.get("error"):
                call.result = data["error"]
            call.flush()
        for kind, picture in pictures(data.get("result")):
            self._picture(kind, picture)

    def _picture(self, kind: str, picture: bytes) -> None:
        from IPython.display import display

        display({kind: base64.b64encode(picture).decode(), "text/plain": f"<{kind}>"}, raw=True)

    def _notice(self, event: Any) -> None:
        severity = str(event.data.get("severity") or "info")
        self.note(event.text or str(event.data.get("message") or ""), severity)

    _KINDS: dict[str, Callable[[View, Any], None]] = {
        "text": _text,
        "thought": _thought,
        "tool_call": _call,
        "tool_output": _output,
        "tool_result": _result,
        "notice": _notice,
    }
