# SPDX-License-Identifier: Apache-2.0
"""Files, search and commands of a workspace, confined: hasp's tools, called by your program.

    async with hasp.Workspace("project") as ws:
        file = await ws.read("main.py")
        await ws.update("main.py", "old", "new", base=file)

Nothing is asked about. Rules on paths hold, and nothing is reached outside the workspace that the
sandbox does not allow.
`hasp.blocking.Workspace` is the same without `await`.
"""
from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NotRequired, TypedDict

from . import _calls, errors
from ._native import ffi, lib

Path = str | os.PathLike[str]

_THREADS = 16
_LINE = re.compile(r"(\d+)([:-])(.*)", re.S)


# ---- results ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """A file at one moment: what an edit names as its base."""

    path: str
    sha256: str | None
    version: int
    content: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class File(State):
    """What was read of a file. `sha256` is of all of it, also where `content` is a part."""

    total_lines: int = 0
    start_line: int = 0
    end_line: int = 0
    truncated: bool = False
    next_start_line: int | None = None
    encoding: str | None = None
    line_endings: str | None = None
    size: int = 0
    mime_type: str | None = None
    data: str | None = None  # of media: the bytes, in base64


@dataclasses.dataclass(frozen=True, slots=True)
class Edited:
    """An edit that was made: `state` is the file now."""

    message: str
    state: State
    created: bool
    lines_added: int
    lines_removed: int
    replaced: int
    diff: str | None
    raw: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A line that was found."""

    path: str
    line: int
    text: str
    found: bool = True  # False: a line around one that was found (`context`)


@dataclasses.dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found; `more`: there is more than was asked for."""

    matches: list[Match]
    files: list[str]
    more: bool
    message: str
    raw: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class CommandResult:
    """A command that has ended, or goes on in the background (`exit_code` None, `pid`)."""

    exit_code: int | None
    signal: str | None
    output: str
    truncated: bool
    pid: int | None
    denials: list[dict[str, Any]]
    raw: dict[str, Any]


# ---- requests: the name of a tool and its arguments ---------------------------------------

Request = tuple[str, dict[str, Any]]


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _base(base: State | Edited | str | None) -> str | None:
    if isinstance(base, Edited):
        base = base.state
    return base.sha256 if isinstance(base, State) else base


def _read(
    path: Path,
    start_line: int | None,
    max_lines: int | None,
    end_line: int | None,
    encoding: str | None,
    part: str | None,
) -> Request:
    return "read_file", _given(
        file_path=os.fspath(path),
        part=part,
        start_line=start_line,
        end_line=end_line,
        max_lines=max_lines,
        encoding=encoding,
    )


def _write(
    path: Path,
    content: str,
    base: State | Edited | str | None,
    create_dirs: bool,
    encoding: str | None,
) -> Request:
    return "write_file", _given(
        file_path=os.fspath(path),
        content=content,
        base_content_sha256=_base(base),
        create_dirs=create_dirs or None,
        encoding=encoding,
        literal=True,
        return_content="diff",
    )


def _update(
    path: Path, old: str, new: str, base: State | Edited | str | None, expected_matches: int
) -> Request:
    return "update_file", _given(
        file_path=os.fspath(path),
        old_content=old,
        new_content=new,
        base_content_sha256=_base(base),
        expected_matches=expected_matches,
        return_content="diff",
    )


def _patch(path: Path, diff: str, base: State | Edited | str | None) -> Request:
    return "safe_patch", _given(
        file_path=os.fspath(path),
        unified_diff=diff,
        base_content_sha256=_base(base),
        return_content="diff",
    )


def _search(
    pattern: str,
    path: Path | None,
    regex: bool,
    case_sensitive: bool | None,
    include: Sequence[str] | None,
    file_types: Sequence[str] | None,
    context: int | None,
    max_results: int | None,
) -> Request:
    return "search_files", _given(
        pattern=pattern,
        path=None if path is None else os.fspath(path),
        regex=regex,
        case_sensitive=case_sensitive,
        include=list(include) if include else None,
        file_types=list(file_types) if file_types else None,
        context=context,
        max_results=max_results,
    )


def _glob(pattern: str | Sequence[str], path: Path | None, max_results: int | None) -> Request:
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    return "glob", _given(
        patterns=patterns, path=None if path is None else os.fspath(path), max_results=max_results
    )


def _command(command: str, timeout: float | None, folder: Path | None, background: bool) -> Request:
    return "run_shell_command", _given(
        command=command,
        timeout_ms=None if timeout is None else int(timeout * 1000),
        dir_path=None if folder is None else os.fspath(folder),
        is_background=background or None,
    )


# ---- answers --------------------------------------------------------------------------


def _state(of: Mapping[str, Any] | None) -> State:
    of = of or {}
    return State(
        str(of.get("file_path", "")),
        of.get("sha256"),
        int(of.get("version") or 0),
        of.get("content"),
    )


def _file(result: dict[str, Any]) -> File:
    kept = {
        field.name: result[field.name]
        for field in dataclasses.fields(File)
        if field.name != "path" and result.get(field.name) is not None
    }
    return File(
        path=str(result["file_path"]),
        sha256=kept.pop("sha256"),
        version=kept.pop("version"),
        **kept,
    )


def _edited(result: dict[str, Any]) -> Edited:
    return Edited(
        str(result.get("message", "")),
        _state(result.get("latest_file_state")),
        bool(result.get("created")),
        int(result.get("lines_added") or 0),
        int(result.get("lines_removed") or 0),
        int(result.get("replaced") or 0),
        result.get("diff"),
        result,
    )


def _found(result: dict[str, Any]) -> SearchResult:
    matches: list[Match] = []
    files: list[str] = []
    for file in result.get("files", []):
        path = str(file["file_path"]) if isinstance(file, dict) else str(file)
        files.append(path)
        for line in file.get("lines", []) if isinstance(file, dict) else []:
            number, mark, text = _LINE.match(line).groups()  # type: ignore[union-attr]
            matches.append(Match(path, int(number), text, mark == ":"))
    return SearchResult(
        matches, files, bool(result.get("more")), str(result.get("message", "")), result
    )


def _names(result: dict[str, Any]) -> list[str]:
    return [
        str(file["file_path"]) if isinstance(file, dict) else str(file)
        for file in result.get("files", [])
    ]


def _ended(result: dict[str, Any]) -> CommandResult:
    if "exit_code" not in result and "signal" not in result:
        errors.check(result)
    return CommandResult(
        result.get("exit_code"),
        result.get("signal"),
        str(result.get("output", "")),
        bool(result.get("truncated")),
        result.get("pid"),
        list(result.get("denials", [])),
        result,
    )


# ---- the methods that do not raise -----------------------------------------------------


class ReadFileResult(TypedDict):
    """Of `read_file`. After a failure `success`, `error`, `code`, and `content` None."""

    success: bool
    content: str | None
    path: NotRequired[str]
    size: NotRequired[int]
    sha256: NotRequired[str | None]
    version: NotRequired[int]
    error: NotRequired[str]
    code: NotRequired[str]


class WriteFileResult(TypedDict):
    """Of `write_file`. After a failure `success`, `error`, `code`, and `bytes_written` 0."""

    success: bool
    bytes_written: int
    path: NotRequired[str]
    operation: NotRequired[str]
    sha256: NotRequired[str | None]
    version: NotRequired[int]
    error: NotRequired[str]
    code: NotRequired[str]


class UpdateFileResult(TypedDict):
    """Of `update_file`. After a failure `success`, `error`, `code`, `changes_made` False, and
    `bytes_written` 0."""

    success: bool
    changes_made: bool
    bytes_written: int
    path: NotRequired[str]
    old_content: NotRequired[str]
    new_content: NotRequired[str]
    replaced: NotRequired[int]
    sha256: NotRequired[str | None]
    version: NotRequired[int]
    error: NotRequired[str]
    code: NotRequired[str]


class SearchFilesResult(TypedDict):
    """Of `search_files`. After a failure `success`, `error`, `code`, and no `matches`."""

    success: bool
    matches: list[dict[str, Any]]
    pattern: NotRequired[str]
    directory: NotRequired[str]
    more: NotRequired[bool]
    error: NotRequired[str]
    code: NotRequired[str]


# ---- the library ------------------------------------------------------------------------


class _Tools:
    """What both twins are: the library's `hasp_tools`."""

    def __init__(
        self,
        path: Path = ".",
        *,
        folders: Sequence[Path] = (),
        provider: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        trust: bool = False,
        program: str | None = None,
    ) -> None:
        self._keep: list[Any] = []
        self._pool: ThreadPoolExecutor | None = None
        self._tools: Any = None
        self.notices: list[tuple[str, str]] = []
        handle = ffi.new_handle(lambda severity, message: self.notices.append((severity, message)))
        options = ffi.new("hasp_tools_options *")
        options.struct_size = ffi.sizeof("hasp_tools_options")
        options.folders = _calls.words([path, *folders], self._keep)
        options.folder_count = 1 + len(folders)
        options.provider = _calls.words(provider, self._keep)
        options.settings = self._kept(_calls.settings_text(settings))
        options.program = self._kept(_calls.text(program or _calls.program()))
        options.trust = trust
        options.notice = lib.hasp_python_notice
        options.notice_data = handle
        self._keep += [handle, options]
        error = ffi.new("hasp_agent_error *")
        self._tools = lib.hasp_tools_open(options, error)
        if not self._tools:
            self._tools = None
            raise _calls.reported(error)

    def _kept(self, value: Any) -> Any:
        self._keep.append(value)
        return value

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, "hasp-workspace")
        return self._pool

    def _now(self, request: Request, cancel: Any = ffi.NULL) -> dict[str, Any]:
        if self._tools is None:
            raise errors.InvalidArgument("The workspace is closed.")
        result = ffi.new("char **")
        error = ffi.new("hasp_agent_error *")
        if not lib.hasp_tools_call(
            self._tools,
            request[0].encode(),
            _calls.compact(request[1]).encode(),
            cancel,
            result,
            error,
        ):
            raise _calls.reported(error)
        answer = json.loads(_calls.taken(result[0]))
        return answer if isinstance(answer, dict) else {"results": answer}

    def _shut(self) -> None:
        tools, self._tools = self._tools, None
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
        if tools:
            lib.hasp_tools_close(tools)

    def __del__(self) -> None:
        if getattr(self, "_tools", None):
            warnings.warn(
                "A workspace was not closed: use `with`, or close()", ResourceWarning, stacklevel=2
            )
            self._shut()


class Workspace(_Tools):
    """A folder, and further `folders`, that tools work in.

    `provider`: the words of a command that leads to a worker elsewhere (`["ssh", "host", "hasp",
    "worker"]`); the path is then one over there. `settings` override single settings; `trust`: the
    project's own count. Methods raise `hasp.Error` with hasp's code. Cancelling a task cancels its
    call.
    """

    async def _run(self, request: Request) -> dict[str, Any]:
        with _calls.Cancel() as cancel:
            return await _calls.on_thread(
                self._threads(), lambda: self._now(request, cancel.handle), cancel.set
            )

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls any tool by its own arguments (docs/tools.md); the result, also of a failure."""
        return await self._run((tool, arguments))

    async def read(
        self,
        path: Path,
        *,
        start_line: int | None = None,
        max_lines: int | None = None,
        end_line: int | None = None,
        encoding: str | None = None,
        part: str | None = None,
    ) -> File:
        """A file, or a range of its lines, counted from 1. `part`: of a file that is not plain
        text, "pages 3-5" and the like (docs/formats.md); "source": its own text."""
        request = _read(path, start_line, max_lines, end_line, encoding, part)
        return _file(errors.check(await self._run(request)))

    async def write(
        self,
        path: Path,
        content: str,
        *,
        base: State | Edited | str | None = None,
        create_dirs: bool = False,
        encoding: str | None = None,
    ) -> Edited:
        """Writes the whole content. An existing file needs `base`: what was read, or its hash."""
        return _edited(
            errors.check(await self._run(_write(path, content, base, create_dirs, encoding)))
        )

    async def update(
        self,
        path: Path,
        old: str,
        new: str,
        *,
        base: State | Edited | str | None = None,
        expected_matches: int = 1,
    ) -> Edited:
        """Replaces a text that is there exactly so often."""
        return _edited(
            errors.check(await self._run(_update(path, old, new, base, expected_matches)))
        )

    async def patch(
        self, path: Path, diff: str, *, base: State | Edited | str | None = None
    ) -> Edited:
        """Applies a unified diff of one file, strictly; wrong line numbers are repaired."""
        return _edited(errors.check(await self._run(_patch(path, diff, base))))

    async def apply_changes(self, changes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Changes of many files, all or none (docs/tools.md#apply_changes)."""
        return errors.check(
            await self._run(("apply_changes", {"changes": [dict(one) for one in changes]}))
        )

    async def search(
        self,
        pattern: str,
        *,
        path: Path | None = None,
        regex: bool = False,
        case_sensitive: bool | None = None,
        include: Sequence[str] | None = None,
        file_types: Sequence[str] | None = None,
        context: int | None = None,
        max_results: int | None = None,
    ) -> SearchResult:
        """Lines with a text, or a regular expression."""
        return _found(
            errors.check(
                await self._run(
                    _search(
                        pattern,
                        path,
                        regex,
                        case_sensitive,
                        include,
                        file_types,
                        context,
                        max_results,
                    )
                )
            )
        )

    async def glob(
        self,
        pattern: str | Sequence[str],
        *,
        path: Path | None = None,
        max_results: int | None = None,
    ) -> list[str]:
        """Paths of the files whose names fit."""
        return _names(errors.check(await self._run(_glob(pattern, path, max_results))))

    async def run(
        self,
        command: str,
        *,
        timeout: float | None = None,
        folder: Path | None = None,
        background: bool = False,
    ) -> CommandResult:
        """Runs a line of bash in the sandbox.

        An exit code other than 0 raises nothing. After `timeout` seconds the command is ended:
        `hasp.CommandStopped`, whose `details["output"]` is what it printed.
        """
        return _ended(await self._run(_command(command, timeout, folder, background)))

    async def read_file(
        self,
        file_path: str,
        start_line: int = 1,
        max_lines: int | None = None,
        encoding: str | None = None,
    ) -> ReadFileResult:
        """As `read`, with a dict as result; does not raise."""
        try:
            file = await self.read(
                file_path, start_line=start_line, max_lines=max_lines, encoding=encoding
            )
        except errors.Error as error:
            return {"success": False, "error": error.message, "code": error.code, "content": None}
        return {
            "success": True,
            "content": file.content,
            "path": file.path,
            "size": file.size or len(file.content or ""),
            "sha256": file.sha256,
            "version": file.version,
        }

    async def write_file(
        self,
        file_path: str,
        content: str,
        create_dirs: bool = True,
        encoding: str | None = None,
    ) -> WriteFileResult:
        """As `write`, with a dict as result; does not raise. An existing file is read first."""
        try:
            base = await self._last_state(file_path)
            done = await self.write(
                file_path, content, base=base, create_dirs=create_dirs, encoding=encoding
            )
        except errors.Error as error:
            return {
                "success": False,
                "error": error.message,
                "code": error.code,
                "bytes_written": 0,
            }
        return {
            "success": True,
            "path": done.state.path,
            "bytes_written": done.raw["bytes_written"],
            "operation": "write",
            "sha256": done.state.sha256,
            "version": done.state.version,
        }

    async def update_file(
        self, file_path: str, old_content: str, new_content: str, expected_matches: int = 1
    ) -> UpdateFileResult:
        """As `update`, with a dict as result; does not raise."""
        try:
            done = await self.update(
                file_path, old_content, new_content, expected_matches=expected_matches
            )
        except errors.Error as error:
            return {
                "success": False,
                "error": error.message,
                "code": error.code,
                "changes_made": False,
                "bytes_written": 0,
            }
        return {
            "success": True,
            "path": done.state.path,
            "changes_made": True,
            "bytes_written": done.raw["bytes_written"],
            "old_content": old_content,
            "new_content": new_content,
            "replaced": done.replaced,
            "sha256": done.state.sha256,
            "version": done.state.version,
        }

    async def search_files(
        self,
        pattern: str,
        directory: str = ".",
        file_types: list[str] | None = None,
        case_sensitive: bool = False,
        regex: bool = False,
    ) -> SearchFilesResult:
        """As `search`, with a dict as result; does not raise."""
        try:
            found = await self.search(
                pattern,
                path=directory,
                regex=regex,
                case_sensitive=case_sensitive,
                file_types=file_types,
            )
        except errors.Error as error:
            return {"success": False, "error": error.message, "code": error.code, "matches": []}
        return {
            "success": True,
            "matches": [dataclasses.asdict(match) for match in found.matches],
            "pattern": pattern,
            "directory": directory,
            "more": found.more,
        }

    async def _last_state(self, path: str) -> str | None:
        try:
            return (await self.read(path, max_lines=1)).sha256
        except errors.FileNotFound:
            return None

    async def close(self) -> None:
        """Ends commands in the background and the worker."""
        await asyncio.get_running_loop().run_in_executor(None, self._shut)

    async def __aenter__(self) -> Workspace:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
