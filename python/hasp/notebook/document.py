# SPDX-License-Identifier: Apache-2.0
"""The notebook that a kernel belongs to, as a document: found, read, and written when it is as it
was read.

With a Jupyter server it is read and written through the server. Unsaved changes in the browser are
not lost: the browser sees that the notebook changed and asks which version to keep.  Without a
server it is a file, which hasp writes only over the bytes that were read.
"""
from __future__ import annotations

import json
import os
import re
import stat
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import hasp

LARGEST = 64 << 20
_SECONDS = 20
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NotebookError(Exception):
    """The notebook cannot be found, read or changed; the text says why and what to do."""


class Changed(NotebookError):
    """Someone else has changed the notebook meanwhile; nothing was written."""


class Store(Protocol):
    """Where a notebook is kept."""

    name: str

    async def read(self) -> tuple[dict[str, Any], Any]:
        """The notebook, and what write() compares."""

    async def write(self, document: dict[str, Any], seen: Any) -> None:
        """Replaces what was seen; raises Changed when there is something else by now."""


def parsed(text: str, name: str) -> dict[str, Any]:
    """A notebook of format 4; anything else is refused."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"{name} is no notebook: {error}") from error
    checked(document, name)
    return document  # type: ignore[no-any-return]


def checked(document: Any, name: str) -> None:
    """Raises unless this is a notebook of format 4 that its schema accepts."""
    if (
        not isinstance(document, dict)
        or document.get("nbformat") != 4
        or not isinstance(document.get("cells"), list)
    ):
        raise NotebookError(f"{name} is no notebook of format 4.")
    try:
        from nbformat.validator import iter_validate
    except ImportError:
        return
    wrong = next(iter_validate(document, relax_add_props=True), None)
    if wrong is not None:
        raise NotebookError(f"{name} would be no valid notebook: {wrong.message}")


# ---- through the server -----------------------------------------------------------


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """A Jupyter server of this user on this machine."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._token = token
        # No proxy sees the token, and no redirect carries it elsewhere.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())

    def asks(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the server's API; the JSON of its answer."""
        request = urllib.request.Request(
            urllib.parse.urljoin(self.url, "api/" + path),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self._token}", "Content-Type": "application/json"},
        )
        with self._opener.open(request, timeout=_SECONDS) as answer:
            text = answer.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise NotebookError(f"The server's answer about {path} is too long.")
        return json.loads(text)


class ServerStore:
    """A notebook by its path on a server."""

    def __init__(self, server: Server, path: str) -> None:
        self.name = path
        self._server = server
        self._path = "contents/" + urllib.parse.quote(path)

    async def read(self) -> tuple[dict[str, Any], Any]:
        """The notebook as the server has it; compared are its content and its time."""
        import asyncio

        try:
            model = await asyncio.to_thread(self._server.asks, "GET", self._path + "?content=1")
        except (OSError, ValueError) as error:
            raise NotebookError(f"The Jupyter server cannot read {self.name}: {error}") from error
        document = model.get("content")
        checked(document, self.name)
        return document, (model.get("last_modified"), json.dumps(document, sort_keys=True))

    async def write(self, document: dict[str, Any], seen: Any) -> None:
        """Compares just before it writes: the server has no way to do both in one step."""
        import asyncio

        checked(document, self.name)
        if (await self.read())[1] != seen:
            raise Changed(f"{self.name} was changed meanwhile; nothing was written.")
        try:
            await asyncio.to_thread(
                self._server.asks,
                "PUT",
                self._path,
                {"type": "notebook", "format": "json", "content": document},
            )
        except (OSError, ValueError) as error:
            raise NotebookError(f"The Jupyter server cannot write {self.name}: {error}") from error


def running_servers(folder: Path) -> Iterator[Server]:
    """The servers whose runtime files are in the folder and this user's own."""
    for file in sorted([*folder.glob("jpserver-*.json"), *folder.glob("nbserver-*.json")]):
        try:
            about = file.stat()
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
                continue
            said = json.loads(file.read_text(encoding="utf-8"))
            os.kill(int(said["pid"]), 0)
            url = str(said["url"])
            if urllib.parse.urlsplit(url).hostname in _LOOPBACK:
                yield Server(url, str(said.get("token") or ""))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # of a server that has ended, or half written


def kernel_id() -> str | None:
    """The id that the server knows this kernel by."""
    try:
        import ipykernel

        found = re.fullmatch(r"kernel-(.+)\.json", Path(ipykernel.get_connection_file()).name)
    except Exception:  # no kernel, or one of another kind
        return None
    return found[1] if found else None


def on_server(kernel: str) -> ServerStore | None:
    """The notebook of the kernel, when a server of this machine has it open."""
    from jupyter_core.paths import jupyter_runtime_dir

    for server in running_servers(Path(jupyter_runtime_dir())):
        try:
            sessions = server.asks("GET", "sessions")
        except (OSError, ValueError, NotebookError):
            continue
        for session in sessions if isinstance(sessions, list) else ():
            if session.get("kernel", {}).get("id") == kernel and session.get("type") == "notebook":
                path = session.get("path") or session.get("notebook", {}).get("path")
                if path:
                    return ServerStore(server, str(path))
    return None


# ---- as a file ---------------------------------------------------------------------


class FileStore:
    """A notebook as a file, through hasp: confined, written over what was read or not at all."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    async def read(self) -> tuple[dict[str, Any], Any]:
        """The notebook; compared is the hash of the file."""
        async with hasp.Workspace(str(self._path.parent)) as workspace:
            try:
                file = await workspace.read(self._path.name, part="source")
            except hasp.Error as error:
                raise NotebookError(f"{self.name} cannot be read: {error}") from error
        return parsed(file.content or "", self.name), file

    async def write(self, document: dict[str, Any], seen: Any) -> None:
        """One step: the file is the old one or the new one, also when the kernel is killed."""
        checked(document, self.name)
        text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        async with hasp.Workspace(str(self._path.parent)) as workspace:
            try:
                await workspace.write(self._path.name, text, base=seen)
            except hasp.StateMismatch as error:
                raise Changed(f"{self.name} was changed meanwhile; nothing was written.") from error
            except hasp.Error as error:
                raise NotebookError(f"{self.name} cannot be written: {error}") from error


def found(namespace: dict[str, Any], given: str | None) -> Store:
    """The notebook of this kernel: the file that the user gave, else the server's, else the name
    that the front end passes to the kernel."""
    if given:
        return FileStore(Path(given).resolve())
    kernel = kernel_id()
    store = on_server(kernel) if kernel else None
    if store:
        return store
    passed = namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    if passed and str(passed).endswith(".ipynb") and Path(passed).is_file():
        return FileStore(Path(passed).resolve())
    raise NotebookError(
        "The notebook of this kernel was not found: no Jupyter server of this user "
        "has it open. Name its file with `%hasp notebook FILE`."
    )
