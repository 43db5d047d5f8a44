# SPDX-License-Identifier: Apache-2.0
"""Each code of the C tables has a class, and each class can be raised."""
import os
import re
import sys

import pytest
from conftest import TOP

import hasp
from hasp import errors

sys.path.insert(0, str(TOP / "script" / "lib"))
import error_table  # noqa: E402

HEADER = (TOP / "src/base/err.h").read_text()
SYMBOLS = {name: symbol for symbol, name in re.findall(r'X\((\w+),\s*"(\w+)"', HEADER)}
OF_TOOLS = [name for name, kind, _ in error_table.rows(HEADER) if name != "none"]
OF_AGENTS = {
    name: symbol
    for symbol, name in re.findall(
        r'\[(HASP_AGENT_\w+)\] = "(\w+)"', (TOP / "src/api/agent/common.c").read_text()
    )
    if name != "none"
}


def text_of(folder, *endings):
    return "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted((TOP / folder).rglob("*"))
        if path.suffix in endings and path.name not in ("err.h", "test_errors.py")
    )


@pytest.mark.parametrize("code", sorted({*OF_TOOLS, *OF_AGENTS}))
def test_a_code_has_its_class(code):
    failed = errors.failure(code, "It failed.", advice="Do it again.", details={"a": 1})
    assert type(failed) is errors.BY_CODE[code] is not hasp.Error
    assert (failed.code, str(failed), failed.advice) == (code, "It failed.", "Do it again.")
    assert failed.details == {"a": 1} and getattr(hasp, type(failed).__name__) is type(failed)


def test_each_class_has_its_code_and_a_way_to_come():
    """The program gives its code somewhere, and a test of the program's names it."""
    classes = {
        one
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, hasp.Error)
    }
    assert classes - set(errors.BY_CODE.values()) == {hasp.Error, hasp.AgentError}
    source, tests = text_of("src", ".c", ".h"), text_of("test", ".c", ".py", ".test")
    assert len(OF_TOOLS) > 35 and set(errors.BY_CODE) == {*OF_TOOLS, *OF_AGENTS}
    for code in errors.BY_CODE:
        names = [OF_AGENTS[code]] if code in OF_AGENTS else []
        names += ["ERR_" + SYMBOLS[code]] if code in SYMBOLS else []
        assert any(len(re.findall(r"\b%s\b" % name, source)) > 1 for name in names), code
        assert re.search(r"\b(%s)\b" % "|".join([code, *names]), tests), code


WAYS = [
    (hasp.InvalidArgument, lambda ws: ws.read("a", start_line=0)),
    (hasp.InvalidArgument, lambda ws: ws.read("a\0b")),
    (hasp.UnknownTool, lambda ws: errors.check(ws.call("no_such_tool"))),
    (hasp.StateMismatch, lambda ws: ws.write("a", "x", base="0" * 64)),
    (hasp.BaseRequired, lambda ws: ws.write("a", "x")),
    (hasp.InvalidDiff, lambda ws: ws.patch("a", "nothing", base=ws.read("a"))),
    (hasp.AmbiguousDiff, lambda ws: ws.patch("b", "@@\n-x\n+y\n", base=ws.read("b"))),
    (hasp.NoMatch, lambda ws: ws.patch("a", "@@\n-zzz\n+y\n", base=ws.read("a"))),
    (hasp.WrongMatchCount, lambda ws: ws.update("a", "zzz", "y")),
    (hasp.WrongMatchCount, lambda ws: ws.update("a", "one", "y", expected_matches=2)),
    (hasp.NoChange, lambda ws: ws.update("a", "one", "one")),
    (hasp.FileNotFound, lambda ws: ws.read("missing")),
    (hasp.FileExists, lambda ws: ws.apply_changes([CREATES_AGAIN])),
    (hasp.NotAFile, lambda ws: ws.read("folder")),
    (hasp.NotADirectory, lambda ws: errors.check(ws.call("list_directory", path="a"))),
    (hasp.NotText, lambda ws: ws.update("binary", "one", "two")),
    (hasp.TooLarge, lambda ws: ws.read("sparse", max_lines=1)),
    (hasp.OutsideWorkspace, lambda ws: ws.read("/etc/passwd")),
    (hasp.Ignored, lambda ws: ws.read("ignored")),
    (hasp.DeniedBySandbox, lambda ws: ws.write("kept/a", "x")),
    (hasp.CommandStopped, lambda ws: ws.run("sleep 1000", timeout=SOON)),
]
SOON = 0.01  # seconds
CREATES_AGAIN = {"kind": "create", "file_path": "a", "content": "b\n"}


@pytest.mark.parametrize("error, call", WAYS, ids=[one.__name__ for one, _ in WAYS])
def test_a_failure_is_an_exception_of_its_code(world, error, call):
    world.put("a", "one\n")
    world.put("b", "x\nx\n")
    world.put("ignored", "x\n")
    world.put(".geminiignore", "ignored\n")
    (world.root / "binary").write_bytes(b"\0\1\2one\0")
    (world.root / "folder").mkdir()
    (world.root / "kept").mkdir()
    world.put("sparse", "x\n")
    os.truncate("sparse", 5 << 30)
    settings = {"hasp": {"sandbox": {"keepPaths": ["kept"]}}}
    with hasp.blocking.Workspace(".", settings=settings) as ws:
        with pytest.raises(error) as caught:
            call(ws)
    assert type(caught.value) is error and str(caught.value)
    assert caught.value.code in errors.BY_CODE
    assert world.get("a") == "one\n" and not os.listdir(world.root / "kept")


@hasp.tool(kind="read")
def fails() -> str:
    """Fails."""
    raise OSError("broken")


class Refuses:
    """An approval, and a hook for one word."""

    def ask(self, question):
        return hasp.Answer.no("Not this.")

    def before_tool_execution(self, event_name, agent, kwargs):
        return {"proceed": "hooked" not in str(kwargs["tool_args"])}


OF_AN_AGENT = [
    (hasp.DeniedByPolicy, None, ("run_shell_command", {"command": "touch made"})),
    (hasp.DeniedByUser, Refuses(), ("run_shell_command", {"command": "touch made"})),
    (hasp.DeniedByHook, None, ("run_shell_command", {"command": "touch hooked"})),
    (hasp.ToolFailed, None, ("fails", {})),
]


@pytest.mark.parametrize("error, approval, call", OF_AN_AGENT, ids=lambda value: str(value)[:40])
def test_a_failure_of_an_agent_s_call_has_its_class(world, error, approval, call):
    with hasp.blocking.Agent(
        world.model(), ".", tools=[fails], hooks=[Refuses()], approval=approval
    ) as agent:
        with pytest.raises(error) as caught:
            errors.check(agent.call(call[0], **call[1]))
    assert type(caught.value) is error and os.listdir(world.root) == []


def test_a_prompt_s_failure_has_its_class(world):
    model = world.model({"functionCall": {"name": "fails", "args": {}}})
    with hasp.blocking.Agent(model, ".", tools=[fails]) as agent:
        with pytest.raises(hasp.ModelError):
            agent.run("go")
    with pytest.raises(hasp.NotFound):
        hasp.blocking.Agent(world.model(), "/no/such/folder")
    with pytest.raises(hasp.AuthenticationFailed):
        with hasp.blocking.Agent("gemini-2.5-flash", ".") as agent:
            agent.run("go")


def test_what_is_no_name_of_the_package():
    with pytest.raises(AttributeError):
        hasp.nonsense
