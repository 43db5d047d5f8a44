# SPDX-License-Identifier: Apache-2.0
"""hasp.Agent: prompts, tools of the program's, hooks, questions, results in a form, from Python."""
import asyncio
import contextlib
import dataclasses
import enum
import os
import pty
import signal
import threading
import typing

import pytest
from conftest import call, say

import hasp


def run(work):
    return asyncio.run(work)


@hasp.tool(kind="read")
async def shout(word: str, times: int = 1) -> str:
    """Shouts a word."""
    await asyncio.sleep(0)
    return (word.upper() + "!") * times


@hasp.tool
def wipe(path: str) -> str:
    """Wipes something."""
    return "wiped " + path


async def events_of(agent, prompt="go"):
    return [event async for event in agent.prompt(prompt)]


def results_of(events):
    return [event.data["result"] for event in events if event.kind == "tool_result"]


def test_a_prompt_is_a_row_of_events(world):
    model = world.model(
        call("shout", word="hey", times=2),
        call("write_file", file_path="a", content="x\n"),
        say("Done."),
    )

    async def work():
        async with hasp.Agent(model, ".", tools=[shout], mode="yolo", trust=True) as agent:
            events = await events_of(agent)
            kinds = [event.kind for event in events]
            assert (
                kinds.count("tool_call") == kinds.count("tool_result") == 2 and kinds[-1] == "done"
            )
            assert (
                "".join(event.text for event in events if event.kind == "text")
                == events[-1].text
                == "Done."
            )
            assert results_of(events)[0]["output"] == "HEY!HEY!" and agent.session_id
            assert agent.stats()["tools"]["totalCalls"] == 2

    run(work())
    assert world.get("a") == "x\n"


class Rules:
    """Requirement 4's decisions, by the word of the arguments."""

    def __init__(self):
        self.after = []

    async def before_tool_execution(self, event_name, agent, kwargs):
        assert event_name == "before_tool_execution" and isinstance(agent, hasp.Agent)
        said = str(kwargs["tool_args"])
        if "alternative" in said:
            return {"proceed": False, "alternative_response": "Instead."}
        if "refused" in said:
            return {"proceed": False}
        if "modified" in said:
            return {
                "proceed": True,
                "modified_args": {
                    **kwargs["tool_args"],
                    **{
                        name: value.replace("modified", "changed")
                        for name, value in kwargs["tool_args"].items()
                        if isinstance(value, str)
                    },
                },
            }
        if "raises" in said:
            raise RuntimeError("No idea.")
        if "nonsense" in said:
            return 7
        return None

    def after_tool_execution(self, event_name, agent, kwargs):
        self.after.append((kwargs["tool_name"], kwargs["tool_args"]))


def put_agent(world, name):
    """A sub-agent of the project."""
    path = world.root / ".gemini" / "agents" / (name + ".md")
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: %s\ndescription: Does it.\n---\nDo it.\n" % name)


# A built-in tool, one that edits, a command, one of the program's, an MCP server's and a
# sub-agent: each hook is for all.
TOOLS = [
    ("read_file", "file_path"),
    ("write_file", "content"),
    ("run_shell_command", "command"),
    ("shout", "word"),
    ("mcp_fake_echo", "text"),
    ("invoke_agent", "prompt"),
]


def arguments_of(tool, argument, word):
    more = {"write_file": {"file_path": "w-" + word}, "invoke_agent": {"agent_name": "mango"}}
    said = "echo " + word if tool == "run_shell_command" else word
    return {argument: said, **more.get(tool, {})}


@pytest.mark.parametrize("tool, argument", TOOLS)
def test_hooks_decide_on_every_tool(world, tool, argument):
    import fake_mcp

    put_agent(world, "mango")
    turns = []
    for word in ("plain", "alternative", "refused", "modified", "raises", "nonsense"):
        turns.append(call(tool, **arguments_of(tool, argument, word)))
        if tool == "invoke_agent" and word in ("plain", "modified"):
            turns.append(say("As it was asked."))
    for word in ("plain", "changed"):
        world.put(word, "content of %s\n" % word)
    rules = Rules()
    settings = {"mcpServers": {"fake": {**fake_mcp.entry(), "trust": True}}}

    async def work():
        async with hasp.Agent(
            world.model(*turns, say("Done.")),
            ".",
            tools=[shout],
            hooks=[rules],
            mode="yolo",
            trust=True,
            settings=settings,
        ) as agent:
            return results_of(await events_of(agent))

    plain, alternative, refused, modified, raised, nonsense = run(work())
    assert plain.get("success", True) and "content of plain" in str(plain) or tool != "read_file"
    assert alternative["output"] == "Instead." and refused["error"]["code"] == "denied_by_hook"
    assert "changed" in str(modified).lower() or tool in ("write_file", "invoke_agent")
    if tool == "write_file":
        assert world.get("w-changed") == "changed" and world.get("w-plain") == "plain"
        assert not (world.root / "w-refused").exists() and not (world.root / "w-raises").exists()
    for failed, words in ((raised, "No idea."), (nonsense, "returns None or a dict")):
        assert failed["success"] is False and words in failed["message"], failed
    ran = [arguments for name, arguments in rules.after if name == tool]
    for word in ("plain", "changed"):
        expected = arguments_of(tool, argument, word).items()
        assert any(expected <= arguments.items() for arguments in ran), (word, ran)


def test_a_sub_agent_s_calls_are_hooked_and_asked_about(world):
    put_agent(world, "mango")
    model = world.model(
        call("invoke_agent", agent_name="mango", prompt="Do it."),
        call("run_shell_command", command="echo mango > made"),
        say("I did."),
        say("Done."),
    )
    rules = Rules()
    once = hasp.Answer.once()
    asked = Asked({"run_shell_command": once, "invoke_agent": once})

    async def work():
        async with hasp.Agent(model, ".", hooks=[rules], approval=asked, trust=True) as agent:
            return (await agent.run("go")).text

    assert run(work()) == "Done." and world.get("made") == "mango\n"
    assert [name for name, _ in rules.after] == ["run_shell_command", "invoke_agent"]
    question = asked.questions[-1]
    assert (question.tool, question.raw["agentName"]) == ("run_shell_command", "mango")


def test_what_a_tool_raises_goes_to_the_model(world):
    @hasp.tool(kind="read")
    def fails(word: str) -> str:
        """Fails."""
        raise ValueError("It cannot be " + word)

    @hasp.tool(kind="read")
    def pictures() -> list:
        """A picture."""
        return ["a picture:", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"]

    model = world.model(call("fails", word="done"), call("pictures"), say("Done."))

    async def work():
        async with hasp.Agent(model, ".", tools=[fails, pictures]) as agent:
            return results_of(await events_of(agent))

    failed, shown = run(work())
    assert (
        failed["error"]["code"] == "tool_failed"
        and "ValueError: It cannot be done" in failed["message"]
    )
    assert (
        shown["output"][0]["text"] == "a picture:"
        and shown["output"][1]["mime_type"] == "image/png"
    )


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Row(typing.TypedDict):
    name: str


@pytest.mark.parametrize(
    "kind, schema, given, value",
    [
        (str, {"type": "string"}, "a", "a"),
        (int, {"type": "integer"}, 1, 1),
        (float, {"type": "number"}, 1, 1.0),
        (bool, {"type": "boolean"}, True, True),
        (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
        (
            dict[str, bool],
            {"type": "object", "additionalProperties": {"type": "boolean"}},
            {"a": True},
            {"a": True},
        ),
        (typing.Literal["a", "b"], {"enum": ["a", "b"]}, "b", "b"),
        (Size, {"enum": ["small", "large"]}, "large", Size.LARGE),
        (typing.Optional[int], {"type": "integer"}, None, None),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "a", "a"),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
                "required": ["x"],
                "additionalProperties": False,
            },
            {"x": 1},
            Point(1),
        ),
        (
            Row,
            {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
            },
            {"name": "a"},
            {"name": "a"},
        ),
        (typing.Annotated[int, "How many."], {"type": "integer", "description": "How many."}, 2, 2),
    ],
)
def test_types_are_schemas(kind, schema, given, value):
    from hasp.tools import build, schema_of

    assert schema_of(kind) == schema and build(kind, given) == value


@pytest.mark.parametrize(
    "make",
    [
        lambda: hasp.tool(lambda x: x),
        lambda: hasp.tool(kind="nonsense")(wipe.function),
        lambda: hasp.tool(_star),
        lambda: hasp.tool(_untyped),
        lambda: hasp.tool(_object),
    ],
)
def test_what_no_model_can_give_is_refused_at_once(make):
    with pytest.raises((TypeError, ValueError)):
        make()


def _star(*words: str) -> str:
    """Takes any."""
    return ""


def _untyped(word) -> str:
    """Has no type."""
    return word


def _object(thing: threading.Thread) -> str:
    """Takes an object."""
    return str(thing)


class Asked:
    """Answers by the name of the tool, and notes what was asked."""

    def __init__(self, answers):
        self.answers, self.questions = answers, []

    def ask(self, question):
        self.questions.append(question)
        answer = self.answers[question.tool]
        if isinstance(answer, Exception):
            raise answer
        return answer(question) if callable(answer) else answer


def test_questions_are_answered_by_the_program(world):
    old = world.put("b", "".join("%d\n" % i for i in range(40)))
    new = old.replace("3\n", "x\n", 1).replace("30\n", "y\n")
    model = world.model(
        call("read_file", file_path="b"),
        call("write_file", file_path="b", content=new),
        call("wipe", path="a"),
        call("run_shell_command", command="touch made"),
        call("wipe", path="b"),
        say("Done."),
    )
    asked = Asked(
        {
            "write_file": lambda question: hasp.Answer.hunks(
                {question.files[0].path: [1]}, "The first is wrong."
            ),
            "wipe": hasp.Answer.no("Leave that."),
            "run_shell_command": hasp.Answer.once(),
        }
    )

    async def work():
        async with hasp.Agent(model, ".", tools=[wipe], approval=asked, trust=True) as agent:
            return results_of(await events_of(agent))

    results = run(work())
    assert [question.kind for question in asked.questions] == ["edit", "tool", "command", "tool"]
    edit = asked.questions[0]
    assert (
        len(edit.files[0].hunks) == 2
        and edit.choices[0] == "once"
        and "+y" in edit.files[0].hunks[1].lines
    )
    assert world.get("b") == old.replace("30\n", "y\n") and (world.root / "made").exists()
    assert "The first is wrong." in str(results[1]) and "Leave that." in str(results[2])


@pytest.mark.parametrize(
    "answer, error, words",
    [
        (RuntimeError("broken"), RuntimeError, "broken"),
        (7, hasp.InvalidArgument, "returned 7, which is not a hasp.Answer"),
        (hasp.Answer.always(), hasp.InvalidArgument, r"Answer.always\(\) is not offered"),
        (hasp.Answer.text("yes"), hasp.InvalidArgument, "is for ask_user and forms"),
        (hasp.Answer.hunks({"b": [0]}), hasp.InvalidArgument, "has no file b"),
        (hasp.Answer.edited({"b": "x"}), hasp.InvalidArgument, "has no file b"),
    ],
    ids=lambda value: str(getattr(value, "__name__", value))[:40],
)
def test_what_is_no_answer_is_a_no_and_an_error(world, answer, error, words):
    model = world.model(call("run_shell_command", command="touch made"), say("Done."), say("On."))

    async def work():
        asked = Asked({"run_shell_command": answer})
        async with hasp.Agent(model, ".", approval=asked) as agent:
            with pytest.raises(error, match=words):
                await agent.run("go")
            with pytest.raises(error, match=words):
                await agent.call("run_shell_command", command="touch made")
            assert (await agent.run("again")).text

    run(work())
    assert not (world.root / "made").exists()


def test_an_approval_that_fails_too_late_is_not_the_next_prompt_s(world):
    model = world.model(call("wipe", path="a"), say("On."), say("On."))
    asked, late, failed = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def ask(self, question):
            asked.set()
            late.wait()
            try:
                raise RuntimeError("too late")
            finally:
                failed.set()

    async def work():
        async with hasp.Agent(model, ".", tools=[wipe], approval=Slow()) as agent:
            task = asyncio.create_task(agent.run("go"))
            await asyncio.to_thread(asked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            late.set()
            await asyncio.to_thread(failed.wait)
            assert (await agent.run("again")).text == "On."

    run(work())


def test_hunks_that_the_edit_does_not_have_are_an_error(world):
    model = world.model(call("write_file", file_path="b", content="1\n"), say("Done."))

    async def work():
        answer = lambda question: hasp.Answer.hunks({question.files[0].path: [3]})
        async with hasp.Agent(model, ".", approval=Asked({"write_file": answer})) as agent:
            with pytest.raises(hasp.InvalidArgument, match="has no hunk 3"):
                await agent.run("go")

    run(work())
    assert not (world.root / "b").exists()


def test_a_tool_s_question_shows_its_preview(world):
    @hasp.tool(kind="edit", preview=lambda old, new: [hasp.FileDiff.between("names", old, new)])
    def rename(old: str, new: str) -> str:
        """Renames."""
        return new

    model = world.model(call("rename", old="old\n", new="new\n"), say("Done."))
    main, side = pty.openpty()
    os.write(main, b"y\n")

    async def work(source, shown):
        approval = hasp.approval.Terminal(shown, source)
        async with hasp.Agent(model, ".", tools=[rename], approval=approval, trust=True) as agent:
            await agent.run("go")

    with open(side, encoding="utf-8") as source, open("shown", "w", encoding="utf-8") as shown:
        run(work(source, shown))
    os.close(main)
    assert "names\n@@ -1,1 +1,1 @@\n-old\n+new\n" in world.get("shown")
    assert "new:" not in world.get("shown")


@pytest.mark.parametrize(
    "approval, made",
    [(None, False), (hasp.approval.Nothing(), False), (hasp.approval.Everything(), True)],
)
def test_who_answers(world, approval, made):
    model = world.model(call("run_shell_command", command="touch made"), say("Done."))

    async def work():
        async with hasp.Agent(model, ".", approval=approval) as agent:
            return results_of(await events_of(agent))

    result = run(work())[0]
    assert (world.root / "made").exists() == made and result["success"] == made


@pytest.mark.parametrize(
    "typed, content",
    [
        ("y\n", "1\n2\nx\n"),
        ("n\n", None),
        ("\n", None),
        ("Call it z.\n", None),
        ("s\n", "1\n2\nx\n"),
        ("q\ny\n", "1\n2\nx\n"),
    ],
)
def test_a_terminal_asks(world, typed, content):
    model = world.model(call("write_file", file_path="b", content="1\n2\nx\n"), say("Done."))
    main, side = pty.openpty()
    os.write(main, typed.encode())

    async def work(approval):
        async with hasp.Agent(model, ".", approval=approval, trust=True) as agent:
            events = []
            with contextlib.suppress(hasp.Cancelled):  # a no without words ends the prompt
                async for event in agent.prompt("go"):
                    events.append(event)
            return results_of(events)

    with open(side, "r", encoding="utf-8") as source, open(
        world.home / "shown", "w", encoding="utf-8"
    ) as shown:
        results = run(work(hasp.approval.Terminal(shown, source)))
    os.close(main)
    assert (world.get("b") if (world.root / "b").exists() else None) == content
    assert "+x" in (world.home / "shown").read_text() and (
        "Call it z." in str(results)
    ) == typed.startswith("Call")


def test_hostile_text_does_not_act_on_a_terminal(world):
    assert hasp.approval.visible("a\x1b[2J\u202eb\r") == "a<U+001B>[2J<U+202E>b<U+000D>"


@dataclasses.dataclass
class Verdict:
    good: bool
    reasons: list[str]


def test_results_in_a_form(world):
    model = world.model(
        call("give_result", good=True, reasons=["tests"]),
        say("Given."),
        call("give_result", good="yes", reasons=[]),
        say("That was wrong."),
        say("I will not."),
    )

    async def work():
        async with hasp.Agent(model, ".") as agent:
            result = await agent.run("judge", output=Verdict)
            assert result.output == Verdict(True, ["tests"]) and result.text == "Given."
            with pytest.raises(hasp.ModelError, match="I will not"):
                await agent.run("again", output=Verdict)

    run(work())


def test_calls_of_the_program_and_more_tools(world):
    async def work():
        async with hasp.Agent(world.model(say("Hi.")), ".", mode="default") as agent:
            await agent.add_tool(shout)
            assert (await agent.call("shout", word="a"))["output"] == "A!"
            assert (await agent.call("run_shell_command", command="true"))["error"][
                "code"
            ] == "denied_by_policy"
            with pytest.raises(hasp.InvalidArgument, match="already"):
                await agent.add_tool(shout)
            with pytest.raises(hasp.InvalidArgument):
                hasp.Agent(world.model(), ".", tools=[lambda: 1])._native_tool(len)
            assert (await agent.share()).startswith("http://127.0.0.1:")
            assert (await agent.run("hi")).text == "Hi."

    run(work())


def test_errors_of_a_prompt_and_of_opening(world):
    async def work():
        async with hasp.Agent(world.model(), ".") as agent:
            with pytest.raises(hasp.AgentError):
                await agent.run("x")
        with pytest.raises(hasp.Error, match="mode"):
            async with hasp.Agent(world.model(say("x")), ".", mode="nonsense"):
                pass
        agent = hasp.Agent(world.model(say("x")), ".")
        await agent.close()
        with pytest.raises(hasp.InvalidArgument):
            agent.steer("x")

    run(work())


def test_a_session_goes_on(world):
    async def work():
        async with hasp.Agent(world.model(say("One.")), ".") as agent:
            await agent.run("first")
            session = agent.session_id
        async with hasp.Agent(world.model(say("Two.")), ".", resume=session) as agent:
            assert agent.session_id == session and (await agent.run("second")).text == "Two."

    run(work())


def test_leaving_the_loop_cancels_the_prompt(world):
    model = world.model(
        call("run_shell_command", command="echo > started; sleep 1000"), say("Late."), say("On.")
    )

    started = world.started()

    async def work():
        async with hasp.Agent(model, ".", mode="yolo", trust=True) as agent:
            task = asyncio.create_task(agent.run("go"))
            await asyncio.to_thread(started.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await agent.run("again")).text

    run(work())


def test_ctrl_c_leaves_an_agent_that_works(world):
    model = world.model(
        call("run_shell_command", command="echo > started; sleep 1000"), say("Late."), say("On.")
    )
    started = world.started()
    process = world.python(
        "import hasp, sys\n"
        "with hasp.blocking.Agent(sys.argv[1], '.', mode='yolo', trust=True) as agent:\n"
        "    try:\n"
        "        agent.run('go')\n"
        "    except KeyboardInterrupt:\n"
        "        print(bool(agent.run('again').text))\n",
        model,
    )
    started.wait(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (out, process.returncode) == ("True\n", 0), err


def test_agents_without_asyncio(world):
    model = world.model(call("shout", word="hey"), say("Done."))
    with hasp.blocking.Agent(model, ".", tools=[shout], hooks=[Rules()]) as agent:
        assert [event.text for event in agent.prompt("go") if event.kind == "done"] == ["Done."]
        assert agent.call("shout", word="a")["output"] == "A!"


def test_agents_side_by_side_and_one_after_another(world):
    async def one(number):
        path = world.home / ("model%d" % number)
        os.replace(
            world.model(call("shout", word="w%d" % number), say("Done %d." % number))[7:], path
        )
        async with hasp.Agent("replay:%s" % path, ".", tools=[shout]) as agent:
            return (await agent.run("go")).text

    async def work():
        assert await asyncio.gather(*(one(number) for number in range(8))) == [
            "Done %d." % number for number in range(8)
        ]
        before = len(os.listdir("/proc/self/fd")), threading.active_count()
        for number in range(5):
            await one(number)
        after = len(os.listdir("/proc/self/fd")), threading.active_count()
        assert after[0] <= before[0] + 1 and after[1] <= before[1] + 1, (before, after)

    run(work())
