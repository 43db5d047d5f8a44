# SPDX-License-Identifier: Apache-2.0
"""Failures, each with hasp's code, and a class for each code."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Error(Exception):
    """Something failed: `code` is hasp's name for it, `message` a sentence, `advice` the next step.

    `details` is the whole result of a tool that failed: of an edit also `latest_file_state`, the
    file as it is.
    """

    code = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        advice: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.message = message
        self.advice = advice
        self.details: dict[str, Any] = dict(details or {})


class Denied(Error):
    """A policy, the user, a hook or the sandbox said no."""

    code = "not_permitted"


class AgentError(Error):
    """A prompt ended without an answer, or the agent cannot be opened. The next prompt may work."""


class InvalidArgument(Error):
    """An argument that cannot be: also of the calls of tools."""

    code = "invalid_argument"


class UnknownTool(Error):
    """There is no tool of that name."""

    code = "unknown_tool"


class StateMismatch(Error):
    """The file is not in the state that the edit was meant for; `details` has its current state."""

    code = "state_mismatch"


class BaseRequired(Error):
    """The edit must name the state (`base`) that it is meant for."""

    code = "base_required"


class InvalidDiff(Error):
    """It is no unified diff of one file."""

    code = "invalid_diff"


class AmbiguousDiff(Error):
    """A hunk fits several places; `details` has them."""

    code = "ambiguous_diff"


class NoMatch(Error):
    """The text, or a hunk's context, is not in the file."""

    code = "no_match"


class WrongMatchCount(Error):
    """The text is in the file more or less often than was expected."""

    code = "wrong_match_count"


class NoChange(Error):
    """The file is already as asked."""

    code = "no_change"


class FileNotFound(Error):
    """There is no such file or folder."""

    code = "file_not_found"


class FileExists(Error):
    """There is a file where one should be created."""

    code = "file_exists"


class NotAFile(Error):
    """A file was expected."""

    code = "not_a_file"


class NotADirectory(Error):
    """A folder was expected."""

    code = "not_a_directory"


class NotText(Error):
    """It cannot be shown as text."""

    code = "not_text"


class TooLarge(Error):
    """More than a limit allows."""

    code = "too_large"


class OutsideWorkspace(Denied):
    """The path leads out of the workspace."""

    code = "outside_workspace"


class PermissionDenied(Denied):
    """The system's permissions forbid it."""

    code = "permission_denied"


class Ignored(Denied):
    """An ignore file keeps it from being read."""

    code = "ignored"


class DeniedByPolicy(Denied):
    """A policy forbids it."""

    code = "denied_by_policy"


class DeniedByUser(Denied):
    """The user, or the program that answers for them, said no."""

    code = "denied_by_user"


class DeniedByHook(Denied):
    """A hook said no."""

    code = "denied_by_hook"


class DeniedBySandbox(Denied):
    """The sandbox forbids it."""

    code = "denied_by_sandbox"


class DiskFull(Error):
    """No room, or no quota, is left; nothing was changed."""

    code = "disk_full"


class NoResources(Error):
    """No processes, descriptors or memory are left."""

    code = "no_resources"


class Busy(Error):
    """Something else has it at the moment: a file, or a session."""

    code = "busy"


class CannotPreserve(Error):
    """Owner, attributes or ACL of the file could not be kept; nothing was changed."""

    code = "cannot_preserve"


class IOFailed(Error):
    """The disk, or the system, failed."""

    code = "io_error"


class WorkerFailed(Error):
    """The worker could not be started, or has ended."""

    code = "worker_lost"


class Cancelled(AgentError):
    """It was cancelled: an edit was made or not made, commands were ended."""

    code = "cancelled"


class CommandStopped(Error):
    """A command was ended before it had finished."""

    code = "command_stopped"


class LimitReached(Error):
    """As many as there may be."""

    code = "limit_reached"


class NetworkError(AgentError):
    """The network, or the server, could not be reached."""

    code = "network_error"


class AuthenticationFailed(AgentError):
    """There is no key for the model, or a wrong one."""

    code = "authentication_failed"


class QuotaExceeded(AgentError):
    """The provider's quota is used up."""

    code = "quota_exceeded"


class Overloaded(AgentError):
    """The provider is overloaded: try again later."""

    code = "overloaded"


class ContextTooLarge(AgentError):
    """The conversation does not fit the model."""

    code = "context_too_large"


class ModelError(AgentError):
    """The model's reply could not be used, or is not what was asked for."""

    code = "model_error"


class ToolFailed(Error):
    """A tool failed."""

    code = "tool_failed"


class RolledBack(Error):
    """Another change of the same call failed, so this one was reverted."""

    code = "rolled_back"


class NotFound(AgentError):
    """A folder, a file, a session, or the program `hasp` is not there."""

    code = "not_found"


class Stopped(AgentError):
    """A hook stopped the work."""

    code = "stopped"


class TurnLimit(AgentError):
    """The limit of turns was reached."""

    code = "turn_limit"


class Loop(AgentError):
    """The model repeated itself."""

    code = "loop"


class Internal(Error):
    """A defect of hasp."""

    code = "internal"


def _classes(of: type[Error]) -> dict[str, type[Error]]:
    found: dict[str, type[Error]] = {}
    for one in of.__subclasses__():
        found[one.code] = one
        found.update(_classes(one))
    return found


#: The class of each code.
BY_CODE: dict[str, type[Error]] = _classes(Error)
BY_CODE["not_permitted"] = Denied
BY_CODE["worker_failed"] = WorkerFailed


def failure(
    code: str, message: str, *, advice: str = "", details: Mapping[str, Any] | None = None
) -> Error:
    """The exception for a code; an `Error` with that code if this version does not know it."""
    return BY_CODE.get(code, Error)(message, code=code, advice=advice, details=details)


def check(result: dict[str, Any]) -> dict[str, Any]:
    """A tool's result, unless it says that the call failed: that is raised."""
    if result.get("success") is False:
        error = result.get("error") or {}
        raise failure(
            str(error.get("code", "internal")),
            str(result.get("message", "")),
            advice=str(error.get("advice", "")),
            details=result,
        )
    return result
