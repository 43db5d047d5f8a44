# SPDX-License-Identifier: Apache-2.0
"""The agent: prompts, events, hooks, tools of yours, and questions that your program answers.

    async with hasp.Agent(model="gemini-3-pro", workspace="project") as agent:
        async for event in agent.prompt("Why does the build fail?"):
            if event.kind == "text":
                print(event.text, end="")
"""
from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import threading
import warnings
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from . import _calls, errors, questions, tools as _tools
from ._native import ffi, lib
from .workspace import Path

EventKind = Literal[
    "text",
    "thought",
    "tool_call",
    "tool_output",
    "tool_result",
    "question",
    "answer",
    "notice",
    "usage",
    "done",
    "other",
]
Mode = Literal["default", "autoEdit", "yolo", "plan"]

_KINDS: dict[str, EventKind] = {
    "content": "text",
    "thought": "thought",
    "tool-call": "tool_call",
    "tool-output": "tool_output",
    "tool-result": "tool_result",
    "tool-confirmation-request": "question",
    "ask-user-request": "question",
    "elicitation-request": "question",
    "question-answered": "answer",
    "notice": "notice",
    "api-response": "usage",
}
_QUESTIONS = frozenset(("tool-confirmation-request", "ask-user-request", "elicitation-request"))
_HOOKS = {"before_tool_execution": 0, "after_tool_execution": 1}


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `data` is the bus's message (docs/bus.md), `topic` its topic."""

    kind: EventKind
    text: str
    data: dict[str, Any]
    topic: str


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """The end of a prompt: what the model said last, and the `output` that was asked for."""

    text: str
    output: Any
    stats: dict[str, Any]
    session_id: str


class Agent:
    """An agent's session in this process.

    `model` as hasp's `--model`; `workspace`, `folders`: the project and further folders; `tools`:
    functions made by `@hasp.tool`; `hooks`: objects with `before_tool_execution` or
    `after_tool_execution`; `approval`: answers questions (`hasp.approval`), None: calls that need
    confirmation are refused; `settings` override single settings; `mode`: "default", "autoEdit",
    "yolo", "plan"; `resume`: "latest", a number or an id of a recorded session; `provider`: the
    words of a command that leads to a worker elsewhere; `python`: turns on the tool `run_python`;
    `trust`: the project's own settings, policies and hooks count.
    """

    def __init__(
        self,
        model: str | None = None,
        workspace: Path = ".",
        *,
        folders: Sequence[Path] = (),
        tools: Sequence[_tools.Tool] = (),
        hooks: Sequence[Any] = (),
        approval: Any = None,
        settings: Mapping[str, Any] | None = None,
        mode: str | None = None,
        resume: str | None = None,
        session_id: str | None = None,
        provider: Sequence[str] | None = None,
        provider_folder: str | None = None,
        python: bool = False,
        trust: bool = False,
        program: str | None = None,
        notice: Callable[[str, str], None] | None = None,
    ) -> None:
        self._agent: Any = None
        self._use = threading.RLock()  # of the agent by other threads than its own
        self._keep: list[Any] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = ThreadPoolExecutor(1, "hasp-agent")
        self._queue: asyncio.Queue[Event] | None = None
        self._under_way = False
        self._turn = 0  # counts prompts and calls: a question belongs to one
        self._unanswered: BaseException | None = None  # why one of this turn got no proper answer
        self._outputs: dict[str, str] = {}
        self._output: Any = None
        self._output_given = False
        self._give: Callable[..., str] = _no_output
        self.approval = approval
        self.hooks = list(hooks)
        self.notices: list[tuple[str, str]] = []
        self._notice = notice
        self._tools = list(tools)
        self._own: dict[str, _tools.Tool] = {}
        self._options: dict[str, Any] = {
            "model": model,
            "folders": [workspace, *folders],
            "settings": _with_python(settings, python),
            "mode": mode,
            "resume": resume,
            "session_id": session_id,
            "provider": provider,
            "provider_folder": provider_folder,
            "trust": trust,
            "program": program,
        }

    # ---- opening, closing -------------------------------------------------------------

    async def open(self) -> Agent:
        """Opens the session; `async with` does that, and so does the first prompt."""
        if self._agent is None:
            self._loop = asyncio.get_running_loop()
            await self._loop.run_in_executor(self._thread, self._open_now)
            opened = getattr(self.approval, "opened", None)
            if opened is not None:
                try:
                    await opened(self)
                except BaseException:
                    await self.close()
                    raise
        return self

    def _kept(self, value: Any) -> Any:
        self._keep.append(value)
        return value

    def _open_now(self) -> None:
        given = self._options
        options = ffi.new("hasp_agent_options *")
        options.struct_size = ffi.sizeof("hasp_agent_options")
        options.folders = _calls.words(given["folders"], self._keep)
        options.folder_count = len(given["folders"])
        options.model = self._kept(_calls.text(given["model"]))
        options.approval_mode = self._kept(_calls.text(given["mode"]))
        options.session_id = self._kept(_calls.text(given["session_id"]))
        options.resume = self._kept(_calls.text(given["resume"]))
        options.settings = self._kept(_calls.settings_text(given["settings"]))
        options.trust = given["trust"]
        options.interactive = self.approval is not None
        options.program = self._kept(_calls.text(given["program"] or _calls.program()))
        options.provider = _calls.words(given["provider"], self._keep)
        options.provider_folder = self._kept(_calls.text(given["provider_folder"]))
        options.notice = lib.hasp_python_notice
        options.notice_data = self._kept(ffi.new_handle(self._heard))
        native = [self._native_tool(one) for one in self._tools]
        options.tools = self._kept(ffi.new("hasp_agent_tool *[]", native)) if native else ffi.NULL
        options.tool_count = len(native)
        error = ffi.new("hasp_agent_error *")
        agent = lib.hasp_agent_open(options, error)
        if not agent:
            raise _calls.reported(error)
        self._agent = agent
        for name, number in _HOOKS.items():
            if any(hasattr(hook, name) for hook in self.hooks):
                handle = self._kept(ffi.new_handle((self, name)))
                self._checked(lib.hasp_agent_on, number, ffi.NULL, lib.hasp_python_hook, handle)
        handle = self._kept(ffi.new_handle(self))
        self._checked(lib.hasp_agent_listen, lib.hasp_python_message, handle)

    def _heard(self, severity: str, message: str) -> None:
        self.notices.append((severity, message))
        if self._notice:
            self._notice(severity, message)

    def _native_tool(self, one: _tools.Tool) -> Any:
        if not isinstance(one, _tools.Tool):
            raise errors.InvalidArgument(f"{one!r} is no tool: make it one with @hasp.tool")
        self._own[one.name] = one
        native = self._kept(ffi.new("hasp_agent_tool *"))
        native.struct_size = ffi.sizeof("hasp_agent_tool")
        native.name = self._kept(_calls.text(one.name))
        native.description = self._kept(_calls.text(one.description))
        native.parameters = self._kept(_calls.text(_calls.compact(one.parameters)))
        native.kind = _tools.KINDS.index(one.kind)
        native.run = lib.hasp_python_tool
        native.data = self._kept(ffi.new_handle((self, one)))
        return native

    def _checked(self, function: Callable[..., bool], *args: Any) -> None:
        """Calls a function of the library that fills an error."""
        if self._agent is None:
            raise errors.InvalidArgument("The agent is not open.")
        error = ffi.new("hasp_agent_error *")
        if not function(self._agent, *args, error):
            raise _calls.reported(error)

    async def close(self) -> None:
        """Ends the session: SessionEnd hooks run, commands in the background end."""
        with self._use:
            agent, self._agent = self._agent, None
        if agent:
            await asyncio.get_running_loop().run_in_executor(
                self._thread, lib.hasp_agent_close, agent
            )
        self._thread.shutdown(wait=False)
        self._keep.clear()

    async def __aenter__(self) -> Agent:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __del__(self) -> None:
        if getattr(self, "_agent", None):
            warnings.warn(
                "An agent was not closed: use `async with`, or close()",
                ResourceWarning,
                stacklevel=2,
            )
            self._thread.submit(lib.hasp_agent_close, self._agent)
            self._thread.shutdown(wait=True)

    # ---- prompts ------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """For `resume`, and for the session's file."""
        if self._agent is None:
            raise errors.InvalidArgument("The agent is not open.")
        return _calls.string(lib.hasp_agent_session_id(self._agent))

    async def prompt(self, text: str) -> AsyncGenerator[Event, None]:
        """Events until the answer is complete; the last is "done", with the answer as its text.

        Raises the `hasp.AgentError` that ended the prompt. Leaving the loop earlier cancels the
        prompt.
        """
        await self.open()
        if self._under_way:
            raise errors.InvalidArgument("A prompt is under way.")
        self._under_way = True
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self._queue = queue
        work = self._loop.run_in_executor(self._thread, self._prompt_now, text)
        try:
            while not (work.done() and queue.empty()):
                one = asyncio.ensure_future(queue.get())
                both: set[asyncio.Future[Any]] = {one, work}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if one.done():
                    yield one.result()
                    continue
                one.cancel()
                await asyncio.sleep(0)  # messages that were posted before the end
            yield Event("done", work.result(), {}, "")
        finally:
            if not work.done():
                self.cancel()
                await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # it was seen
            self._under_way = False
            self._queue = None

    def _prompt_now(self, text: str) -> str:
        answer = ffi.new("char **")
        error = ffi.new("hasp_agent_error *")
        if self._agent is None:
            raise errors.InvalidArgument("The agent is not open.")
        self._begin_turn()
        done = lib.hasp_agent_prompt(self._agent, _calls.text(text), answer, error)
        said = _calls.taken(answer[0])
        self._raise_unanswered()
        if not done:
            raise _calls.reported(error)
        return said

    def _begin_turn(self) -> None:
        with self._use:
            self._turn += 1
            self._unanswered = None

    def _raise_unanswered(self) -> None:
        """Raises what the approval raised in this turn, which is over."""
        with self._use:
            error, self._unanswered = self._unanswered, None
            self._turn += 1
        if error is not None:
            raise error

    async def run(self, text: str, *, output: Any = None) -> Result:
        """The answer.

        `output`: a dataclass, a TypedDict or a JSON Schema of type "object". The model gives its
        result in that form, which is checked and becomes `Result.output`. ModelError: it did not.
        """
        said = ""
        if output is None:
            async for event in self.prompt(text):
                said = event.text
            return Result(said, None, self.stats(), self.session_id)
        await self.open()
        name = await self._output_tool(output)
        for words in (
            f"{text}\n\nGive your result by calling the tool {name} once, when you are done.",
            f"Call the tool {name} now, with your result.",
        ):
            async for event in self.prompt(words):
                said = event.text
            if self._output_given:
                return Result(said, self._output, self.stats(), self.session_id)
        raise errors.ModelError(
            f"The model did not give its result in the form that was asked for: {said}"
        )

    async def _output_tool(self, output: Any) -> str:
        schema = dict(output) if isinstance(output, Mapping) else _tools.schema_of(output)
        key = _calls.compact(schema)
        self._output_given = False

        def give(**arguments: Any) -> str:
            self._output = (
                arguments if isinstance(output, Mapping) else _tools.build(output, arguments)
            )
            self._output_given = True
            return "Taken."

        if key not in self._outputs:
            name = "give_result" if not self._outputs else f"give_result_{len(self._outputs) + 1}"
            await self.add_tool(
                _tools.Tool(
                    name,
                    "Gives the result of the work, in the form that was asked for.",
                    schema,
                    "think",
                    lambda **arguments: self._give(**arguments),
                    {},
                )
            )
            self._outputs[key] = name
        self._give = give
        return self._outputs[key]

    async def add_tool(self, tool: _tools.Tool) -> None:
        """A tool more, from the next prompt on."""
        await self.open()
        native = self._native_tool(tool)
        assert self._loop is not None
        await self._loop.run_in_executor(
            self._thread, lambda: self._checked(lib.hasp_agent_add_tool, native)
        )

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls any tool, through hooks, policies and questions; the result, also of a failure."""
        await self.open()
        return await _calls.on_thread(
            self._thread, lambda: self._call_now(tool, arguments), self.cancel
        )

    def _call_now(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = ffi.new("char **")
        failed = None
        self._begin_turn()
        try:
            self._checked(
                lib.hasp_agent_call,
                _calls.text(tool),
                _calls.text(_calls.compact(arguments)),
                result,
            )
        except errors.Error as error:
            failed = error
        said = _calls.taken(result[0]) if result[0] else ""
        self._raise_unanswered()
        if failed is not None:
            raise failed
        answer = json.loads(said)
        return answer if isinstance(answer, dict) else {"results": answer}

    def cancel(self) -> None:
        """Ends the prompt that is under way, soon. From any thread."""
        with self._use:
            if self._agent is not None:
                lib.hasp_agent_cancel(self._agent)

    def steer(self, text: str) -> None:
        """A message for the prompt that is under way. From any thread."""
        with self._use:
            self._checked(lib.hasp_agent_steer, _calls.text(text))

    def set_mode(self, mode: str) -> None:
        """The approval mode of all calls from now on. From any thread."""
        with self._use:
            self._checked(lib.hasp_agent_set_mode, _calls.text(mode))

    async def share(self, port: int = 0) -> str:
        """A link to the session for a browser, which can also answer questions; it works once."""
        await self.open()
        assert self._loop is not None
        return await self._loop.run_in_executor(self._thread, self._share_now, port)

    def _share_now(self, port: int) -> str:
        link = ffi.new("char **")
        self._checked(lib.hasp_agent_share, ffi.NULL, port, link)
        return _calls.taken(link[0])

    def stats(self) -> dict[str, Any]:
        """Requests, tokens, calls, decisions and lines so far, as `hasp -o json` has them."""
        if self._agent is None:
            raise errors.InvalidArgument("The agent is not open.")
        found = json.loads(_calls.taken(lib.hasp_agent_stats(self._agent)))
        return dict(found)

    # ---- what the library calls, on its threads ---------------------------------------------

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The value of a coroutine that a function of the program's gave, on the agent's loop."""
        loop = self._loop
        if loop is None or not loop.is_running():
            return asyncio.run(coroutine)
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    def _settled(self, value: Any) -> Any:
        return self._wait_for(value) if inspect.iscoroutine(value) else value

    def _message(self, topic: str, text: str) -> None:
        data = json.loads(text)
        if topic in _QUESTIONS and self.approval is not None:
            self._ask(topic, data)
        queue, loop = self._queue, self._loop
        if queue is not None and loop is not None and not loop.is_closed():
            event = Event(
                _KINDS.get(topic, "other"),
                str(data.get("text") or data.get("message") or ""),
                data,
                topic,
            )
            loop.call_soon_threadsafe(queue.put_nowait, event)

    def _ask(self, topic: str, data: dict[str, Any]) -> None:
        """On a separate thread: the listener must not wait."""
        thread = threading.Thread(
            target=self._answer, args=(topic, data, self._turn), name="hasp-question", daemon=True
        )
        thread.start()

    def _answer(self, topic: str, data: dict[str, Any], turn: int) -> None:
        question = questions.question_of(topic, data)
        try:
            answer = self._settled(self.approval.ask(self._with_preview(question)))
            if answer is None:
                return  # it is answered elsewhere, as in a browser
            name, message = questions.response_of(question, answer)
        except BaseException as error:  # the prompt raises it, and the call is refused
            self._fail_turn(turn, error)
            name, message = questions.response_of(question, questions.Answer.no())
        try:
            with self._use:
                self._checked(
                    lib.hasp_agent_answer, _calls.text(name), _calls.text(_calls.compact(message))
                )
        except errors.Error as error:
            if "not open" not in error.message:  # as it is when it was answered elsewhere
                self._heard("error", f"An answer was not taken: {error.message}")

    def _fail_turn(self, turn: int, error: BaseException) -> None:
        with self._use:
            if turn == self._turn:  # not one that was cancelled while the approval waited
                self._unanswered = self._unanswered or error
                self.cancel()

    def _with_preview(self, question: questions.Question) -> questions.Question:
        own = self._own.get(question.tool) if question.kind == "tool" else None
        if own is None or own.preview is None:
            return question
        try:
            files = self._settled(own.preview(**own.built(question.arguments)))
        except Exception:  # the arguments are shown instead
            return question
        return dataclasses.replace(question, preview=list(files))

    def _hook(self, name: str, text: str, decision: Any) -> None:
        data = json.loads(text)
        given = {
            "tool_name": data.get("tool_name"),
            "tool_args": data.get("tool_input"),
            "result": data.get("tool_response"),
            "input": data,
        }
        for hook in self.hooks:
            method = getattr(hook, name, None)
            said = self._settled(method(name, self, given)) if method else None
            if said and not _decide(said, decision):
                return
            if said and said.get("modified_args") is not None:
                given["tool_args"] = said["modified_args"]

    def _tool(self, tool: _tools.Tool, text: str, answer: Any) -> None:
        for part in _tools.answer_parts(self._settled(tool.invoke(json.loads(text)))):
            if isinstance(part, str):
                lib.hasp_tool_answer_text(
                    answer, part.replace("\0", "\ufffd").encode("utf-8", "replace")
                )
            else:
                lib.hasp_tool_answer_media(answer, part, len(part))


def _no_output(**_: Any) -> str:
    raise errors.ToolFailed("No result was asked for.")


def _with_python(settings: Mapping[str, Any] | None, python: bool) -> dict[str, Any] | None:
    """The settings, with `run_python` on."""
    if not python:
        return None if settings is None else dict(settings)
    merged = dict(settings or {})
    merged["hasp"] = {
        **merged.get("hasp", {}),
        "python": {**merged.get("hasp", {}).get("python", {}), "enabled": True},
    }
    return merged


def _decide(said: Any, decision: Any) -> bool:
    """Hands on what a hook said. False: no other hook is asked."""
    if not isinstance(said, Mapping):
        raise TypeError(f"a hook returns None or a dict, not {said!r}")
    unknown = set(said) - {"proceed", "alternative_response", "modified_args"}
    if unknown:
        raise TypeError(f"a hook's decision has no {', '.join(sorted(unknown))}")
    if said.get("modified_args") is not None:
        lib.hasp_decision_modify(decision, _calls.compact(said["modified_args"]).encode())
    response = said.get("alternative_response")
    if response is not None:
        lib.hasp_decision_respond(decision, str(response).replace("\0", "\ufffd").encode())
    elif not said.get("proceed", True):
        lib.hasp_decision_refuse(decision, ffi.NULL)
    return bool(said.get("proceed", True)) and response is None


def _said(error: BaseException) -> bytes:
    text = str(error) if isinstance(error, errors.Error) else f"{type(error).__name__}: {error}"
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


@_calls.extern
def hasp_python_message(data: Any, topic: Any, message: Any) -> None:
    ffi.from_handle(data)._message(_calls.string(topic), _calls.string(message))


@_calls.extern
def hasp_python_hook(data: Any, _event: Any, given: Any, decision: Any) -> None:
    agent, name = ffi.from_handle(data)
    try:
        agent._hook(name, _calls.string(given), decision)
    except BaseException as error:  # whatever a hook raises is a no with its text
        lib.hasp_decision_fail(decision, _said(error))


@_calls.extern
def hasp_python_tool(data: Any, arguments: Any, answer: Any) -> None:
    agent, tool = ffi.from_handle(data)
    try:
        agent._tool(tool, _calls.string(arguments), answer)
    except BaseException as error:
        lib.hasp_tool_answer_fail(answer, _said(error))
