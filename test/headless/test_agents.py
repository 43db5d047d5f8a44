# SPDX-License-Identifier: Apache-2.0
"""Sub-agents: found where they should be and nowhere else; each with a conversation, tools, a model and limits
of its own; what they say is never their parent's."""
import json
import re
import threading
from pathlib import Path

import pytest
from fake_gemini import call, text

HELLO = [[text("Hello.")]]
PLACES = [".claude/agents", ".gemini/agents"]
BUILT_IN = ["cli_help", "codebase_investigator", "generalist", "reviewer"]


def put(top, name, body="Say MANGO.", place=".gemini/agents", file=None, **fields):
    path = top / place / ((file or name) + ".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {"name": name, "description": "Does it.", **fields}
    path.write_text("---\n%s---\n%s\n" % ("".join("%s: %s\n" % field for field in fields.items()), body))
    return path


def tools(body):
    return {tool["name"]: tool for group in body.get("tools", []) for tool in group.get("functionDeclarations", [])}


def declared(done, i=0):
    """The agents that invoke_agent takes; None without the tool."""
    tool = tools(done.sent[i]).get("invoke_agent")
    return tool and re.findall(r"^- ([^\n]+?): ", tool["description"], re.MULTILINE)


def system(body):
    return json.dumps(body["systemInstruction"])


def invoke(name, prompt="Do it."):
    return call("invoke_agent", {"agent_name": name, "prompt": prompt})


class Conversations:
    """Answers each request by the conversation that it belongs to: "main", or the word in an agent's system prompt
    and, behind a colon, the first line of its task; each has a script of its own."""

    def __init__(self, provider, words, **scripts):
        self.provider, self.words, self.scripts = provider, words, {k: list(v) for k, v in scripts.items()}
        self.lock, self.sent = threading.Lock(), {}

    def of(self, body):
        return next((word for word in self.words if word in system(body)), "main")

    def __call__(self, request):
        with self.lock:
            name = self.of(request.body)
            self.sent.setdefault(name, []).append(request)
            step = self.scripts[name].pop(0)
        return step if isinstance(step, dict) else {"reply": step}


def run(world, words, *args, env=None, **scripts):
    """A run whose requests are answered by Conversations; those in `done.talk`."""
    with world.fake([], append_only=False) as server:
        server.auto = Conversations(server.provider, words, **scripts)
        done = world.command("-p", "x", *args, server=server, env=env)
        done.talk = server.auto
    assert not server.violations, server.violations
    assert not any(done.talk.scripts.values()), (done.talk.scripts, done.err)
    return done


def results(done, name, i=-1):
    return done.server.provider.tool_results(done.talk.sent[name][i])


def transcripts(world):
    return sorted(world.home.glob(".gemini/tmp/*/chats/*/*.jsonl"))


# ---- the helper about hasp itself ----

DOCS = Path(__file__).resolve().parents[2] / "docs"
HELPER = "get_internal_docs returns"


def ask_helper(world, *calls, name="cli_help", word=HELPER, **options):
    """The results of these calls of get_internal_docs, made by the helper in one turn each."""
    done = run(world, [word], main=[[invoke(name)], [text("Done.")]], **{
        word: [*([call("get_internal_docs", arguments)] for arguments in calls), [text("SAID")]]}, **options)
    (result,) = results(done, "main")
    assert result["success"] and result["output"] == "SAID" and done.code == 0, (result, done.err)
    return done, results(done, word)


def test_the_helper_answers_from_hasps_own_documents(world):
    # These are about the source, for contributors.
    pages = {path.name: path.read_text() for path in DOCS.glob("*.md") if path.name not in ("choices.md", "where.md")}
    done, (listed, found, page, wrong) = ask_helper(
        world, {}, {"search": "RETENTION maxage"}, {"path": "docs/skills.md"}, {"path": "../README.md"})
    assert [line.split(":")[0] for line in listed["output"].splitlines()] == sorted(pages)
    lines = found["output"].splitlines()
    assert lines and all("maxage" in line.lower() and "retention" in line.lower() for line in lines)
    for line in lines:
        name, number, words = line.split(":", 2)
        assert pages[name].splitlines()[int(number) - 1] == words[1:]
    assert page["output"] == pages["skills.md"] and "next_line" not in page
    assert wrong["error"]["code"] == "file_not_found"
    assert list(tools(done.talk.sent[HELPER][0].body)) == ["get_internal_docs"]
    assert "get_internal_docs" not in tools(done.talk.sent["main"][0].body)


def test_a_long_page_is_read_in_pieces(world):
    whole = (DOCS / "tools.md").read_text()
    _, (first,) = ask_helper(world, {"path": "tools"})
    assert first["lines"] == len(whole.splitlines()) and whole.startswith(first["output"])
    _, (second,) = ask_helper(world, {"path": "tools.md", "start_line": first["next_line"]})
    assert whole.startswith(first["output"] + second["output"])
    _, (none, much, past) = ask_helper(world, {"search": "zebra quagga"}, {"search": "the"},
                                       {"path": "tools.md", "start_line": 10 ** 9})
    assert none["output"] == "No line has all of these words.\n" and much["more"] and past["output"] == ""


def test_who_else_has_the_documents(world):
    put(world.home, "mine", "FRUIT-PROMPT", tools="get_internal_docs, read_file")
    put(world.home, "all", "OTHER-PROMPT")
    done, _ = ask_helper(world, {}, name="mine", word="FRUIT-PROMPT")
    assert sorted(tools(done.talk.sent["FRUIT-PROMPT"][0].body)) == ["get_internal_docs", "read_file"]
    done = run(world, ["OTHER-PROMPT"], main=[[invoke("all")], [text("Done.")]], **{"OTHER-PROMPT": [[text("x")]]})
    assert "get_internal_docs" not in tools(done.talk.sent["OTHER-PROMPT"][0].body)
    world.settings(tools={"exclude": ["get_internal_docs"]})
    done = run(world, ["FRUIT-PROMPT"], main=[[invoke("mine")], [text("Done.")]], **{"FRUIT-PROMPT": [[text("x")]]})
    assert list(tools(done.talk.sent["FRUIT-PROMPT"][0].body)) == ["read_file"]


# ---- agents that a prompt names ----


def test_an_agent_that_is_mentioned_is_asked_for(world):
    put(world.home, "Fruit")
    world.write("reviewer", "The file of that name.\n")
    done = world.run(HELLO, "-p", "@reviewer and @fruit, see @./reviewer, ask @nobody")
    said = json.dumps(done.sent[0]["contents"])
    assert said.count("<system_note>") == 2 and 'agent \\"Fruit\\"' in said
    assert "The file of that name." in said and "Content from @reviewer" not in said
    world.settings(agents={"overrides": {"fruit": {"enabled": False}}})
    assert "<system_note>" not in world.run(HELLO, "-p", "@fruit x").said(0)
    world.settings(tools={"exclude": ["invoke_agent"]})
    done = world.run(HELLO, "-p", "@reviewer x")
    assert "<system_note>" not in done.said(0) and "The file of that name." in done.said(0)


def test_piped_text_asks_for_no_agent(world):
    with world.fake(HELLO) as server:
        done = world.command("-p", "What is it?", server=server, stdin=b"see @reviewer\n")
    assert done.code == 0 and "<system_note>" not in json.dumps(server.requests[0].body)


def test_agents_are_a_slash_command_of_a_prompt_too(world):
    put(world.home, "fruit", description="Does fruit.")
    with world.fake([]) as server:
        assert "Does fruit." in world.command("-p", "/agents", server=server).text
        done = world.command("-p", "/agents disable fruit", server=server)
        assert done.code == 0 and "is disabled now" in done.text
        assert "Disabled Agents" in world.command("-p", "/agents list", server=server).text
        assert world.command("-p", "/agents disable nobody", server=server).code != 0
        assert not server.requests
    assert "fruit" not in declared(world.run(HELLO, "-p", "x"))


# ---- which there are ----


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("where", ["home", "root"])
def test_one_is_found_and_does_its_task(world, where, place):
    put(getattr(world, where), "fruit", "You say MANGO-PROMPT.", place, tools="read_file")
    world.write("notes.txt", "The word is MANGO.\n")
    done = run(world, ["MANGO-PROMPT"], "-y", main=[[invoke("fruit", "Read notes.txt.")], [text("It is MANGO.")]], **{
        "MANGO-PROMPT": [[call("read_file", {"file_path": "notes.txt"})], [text("MANGO-REPORT")]]})
    assert done.text == "It is MANGO.\n" and done.code == 0
    first, second = (request.body for request in done.talk.sent["MANGO-PROMPT"])
    assert "Read notes.txt." in json.dumps(first) and list(tools(first)) == ["read_file"]
    assert system(first) == system(second) and "hasp, a coding agent" not in system(first)
    assert str(world.root) in json.dumps(first["contents"])
    assert "MANGO" in results(done, "MANGO-PROMPT")[0]["content"]
    (result,) = results(done, "main")
    assert result == {"success": True, "agent": "fruit", "end": "answered", "turns": 2, "calls": 1,
                      "output": "MANGO-REPORT"}
    assert "MANGO-PROMPT" not in json.dumps([request.body for request in done.talk.sent["main"]])


def test_those_of_hasp_are_always_there(world):
    done = world.run(HELLO, "-p", "x")
    assert declared(done) == BUILT_IN
    description = tools(done.sent[0])["invoke_agent"]["description"]
    assert all("- %s: " % name in description for name in BUILT_IN)


def test_settings_leave_some_out(world):
    put(world.home, "Fruit")
    world.settings(agents={"overrides": {"fruit": {"enabled": False}, "reviewer": {"enabled": False}}})
    assert declared(world.run(HELLO, "-p", "x")) == BUILT_IN[:3]
    world.settings(experimental={"enableAgents": False})
    assert declared(world.run(HELLO, "-p", "x")) is None


def test_a_projects_count_only_when_it_is_trusted(world):
    put(world.root, "fruit")
    done = world.run(HELLO, "-p", "x", env={"GEMINI_CLI_TRUST_WORKSPACE": None})
    assert "fruit" not in declared(done)


def test_the_later_place_of_one_owner_counts_and_the_users_comes_before_the_projects(world):
    for place in PLACES:
        put(world.home, "fruit", place=place, description="home " + place)
        put(world.root, "fruit", place=place, description="root " + place)
    put(world.root, "reviewer", description="another")
    done = world.run(HELLO, "-p", "x")
    description = tools(done.sent[0])["invoke_agent"]["description"]
    assert "- fruit: home .gemini/agents\n" in description and "- project:fruit: root .gemini/agents\n" in description
    assert "- reviewer: another\n" in description and "- hasp:reviewer: reads a change" in description
    assert done.err.count('The agent "fruit" of ') == 2


def test_folders_in_a_folder_of_agents_are_looked_into(world):
    put(world.home, "pear", place=".claude/agents/fruit/green")
    put(world.root, "plum", place=".claude/agents/fruit")
    put(world.home, "no", place=".claude/agents/node_modules/x")
    assert declared(world.run(HELLO, "-p", "x")) == sorted(["pear", "plum", *BUILT_IN])


def test_what_is_wrong_is_said(world):
    put(world.home, "no name", file="one")
    put(world.home, "nobody", body="")
    put(world.home, "far", kind="remote")
    put(world.home, "farther", kind="elsewhere")
    put(world.home, "bare", description="")
    put(world.home, "_hidden")
    put(world.home, "narrow", tools="Read, Bash(git diff:*), Grep")
    (world.home / ".gemini/agents/open.md").write_text("---\nname: open\n")
    (world.home / ".gemini/agents/bytes.md").write_bytes(b"---\nname: x\ndescription: \xff\n---\nx\n")
    done = world.run(HELLO, "-p", "x")
    assert declared(done) == sorted(["narrow", *BUILT_IN])
    for words in ["letters, digits", "nothing follows its front matter", 'the kind "elsewhere"', 'either "agent_card_url" or', 'no "description"',
                  "has no end", "not UTF-8", '"Bash(git diff:*)" is left out']:
        assert words in done.err, done.err


def test_hostile_files_do_nothing(world):
    put(world.top, "outside", "SECRET-BODY", place="out")
    agents = world.root / ".gemini" / "agents"
    agents.mkdir(parents=True)
    (agents / "link.md").symlink_to(world.top / "out" / "outside.md")
    (agents / "device.md").symlink_to("/dev/zero")
    with open(agents / "large.md", "wb") as file:
        file.truncate(1 << 33)
    put(world.root, "escape", description='"one\\e[31m two"')
    put(world.home, "shared").chmod(0o666)
    put(world.root, "stars", tools="'%s'" % ("*a" * 60))
    done = world.run(HELLO, "-p", "x")
    assert declared(done) == sorted(["escape", "stars", *BUILT_IN])
    assert "SECRET-BODY" not in done.said() and "\x1b" not in done.said() + done.err and "\\u001b" not in done.said()
    assert "others may write it" in done.err


# ---- what one has ----


FOUND = {"search_tools", "call_tool"}  # query_data is a kind of reading, update_data of editing


@pytest.mark.parametrize("fields, expected", [
    ({"tools": "Read, Grep"}, {"read_file", "read_many_files", "search_files"} | FOUND),
    ({"tools": "[replace, run_shell_command]"}, {"replace", "safe_patch", "run_shell_command"} | FOUND),
    ({"tools": "'*_file'", "disallowedTools": "Write"}, {"read_file", "replace"}),
    ({"tools": "Read, Bash", "disallowedTools": "Bash)"}, {"read_file", "read_many_files"} | FOUND),
    ({"tools": "[invoke_agent, nothing, write_todos, read_file]"}, {"read_file"}),
])
def test_its_tools_are_those_that_it_names(world, fields, expected):
    put(world.home, "fruit", "MANGO-PROMPT", **fields)
    done = run(world, ["MANGO-PROMPT"], "-y", main=[[invoke("fruit")], [text("Done.")]],
               **{"MANGO-PROMPT": [[text("Report.")]]})
    assert set(tools(done.talk.sent["MANGO-PROMPT"][0].body)) == expected


def test_without_a_list_it_has_its_parents_but_no_agents_and_none_that_are_excluded(world):
    world.settings(tools={"exclude": ["glob"]})
    done = run(world, ["carry out one task"], "-y", main=[[invoke("generalist")], [text("Done.")]],
               **{"carry out one task": [[invoke("generalist")], [text("Report.")]]})
    own = set(tools(done.talk.sent["carry out one task"][0].body))
    assert own < set(tools(done.sent[0])) and {"write_file", "run_shell_command"} <= own
    assert not own & {"invoke_agent", "write_todos", "ask_user", "glob", "update_topic", "enter_plan_mode"}
    assert results(done, "carry out one task")[0]["error"]["code"] == "unknown_tool"


def test_its_model_and_temperature_are_its_own(world):
    put(world.home, "fruit", "MANGO-PROMPT", model="gemini-2.5-flash-lite", temperature=0.25)
    put(world.home, "same", "SAME-PROMPT", model="sonnet")
    done = run(world, ["MANGO-PROMPT", "SAME-PROMPT"], "-m", "gemini-2.5-pro", "-o", "json",
               main=[[invoke("fruit")], [invoke("same")], [text("Done.")]],
               **{"MANGO-PROMPT": [[text("Report.")]], "SAME-PROMPT": [[text("Report.")]]})
    (request,), (same,) = done.talk.sent["MANGO-PROMPT"], done.talk.sent["SAME-PROMPT"]
    assert "gemini-2.5-flash-lite" in request.path and "gemini-2.5-pro" in same.path
    assert request.body["generationConfig"]["temperature"] == 0.25
    models = done.json["stats"]["models"]
    assert models["gemini-2.5-flash-lite"]["roles"]["subagent"]["totalRequests"] == 1
    assert models["gemini-2.5-pro"]["roles"]["main"]["totalRequests"] == 3
    assert models["gemini-2.5-pro"]["roles"]["subagent"]["totalRequests"] == 1


def test_rules_hold_for_it_and_may_name_it(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    policies = world.home / ".gemini" / "policies"
    policies.mkdir()
    (policies / "one.toml").write_text('[[rule]]\ntoolName = "glob"\nsubagent = "fruit"\ndecision = "deny"\npriority = 500\n'
                                       '[[rule]]\ntoolName = "reviewer"\ndecision = "deny"\npriority = 500\n')
    done = run(world, ["MANGO-PROMPT"], main=[
        [call("glob", {"pattern": "*"}), invoke("fruit"), invoke("reviewer")], [text("Done.")]], **{
            "MANGO-PROMPT": [[call("glob", {"pattern": "*"}),
                              call("write_file", {"file_path": "new.txt", "content": "x"})], [text("Report.")]]})
    own, reviewer = results(done, "main")[0], results(done, "main")[2]
    assert "error" not in own and reviewer["error"]["code"] == "denied_by_policy"
    glob, write = results(done, "MANGO-PROMPT")
    assert glob["error"]["code"] == "denied_by_policy" and write["success"] is False
    assert not (world.root / "new.txt").exists()
    assert done.code == 56 and "--allowed-tools" in done.err  # what it lacked, the run lacked


# ---- limits ----


def test_its_turns_have_an_end_which_is_reported_as_one(world):
    put(world.home, "fruit", "MANGO-PROMPT", max_turns=2)
    search = [text("Half a thought."), call("glob", {"pattern": "*"})]
    done = run(world, ["MANGO-PROMPT"], main=[[invoke("fruit")], [text("Done.")]], **{
        "MANGO-PROMPT": [search, search, [text("PARTIAL-REPORT")]]})
    (result,) = results(done, "main")
    assert result["success"] is False and result["error"]["code"] == "limit_reached"
    assert "limit of 2 turns" in result["message"] and result["output"] == "PARTIAL-REPORT"
    assert (result["end"], result["turns"], result["calls"]) == ("turn_limit", 3, 2)
    last = done.talk.sent["MANGO-PROMPT"][-1].body
    assert "limit of 2 turns" in json.dumps(last["contents"][-1])
    assert last["toolConfig"]["functionCallingConfig"]["mode"] == "NONE"


def test_calls_after_the_limit_are_not_made(world):
    put(world.home, "fruit", "MANGO-PROMPT", max_turns=1)
    write = call("write_file", {"file_path": "new.txt", "content": "x"})
    done = run(world, ["MANGO-PROMPT"], "-y", main=[[invoke("fruit")], [text("Done.")]], **{
        "MANGO-PROMPT": [[text("So far."), call("glob", {"pattern": "*"})], [write]]})
    (result,) = results(done, "main")
    assert result["error"]["code"] == "limit_reached" and result["output"] == "So far."
    assert not (world.root / "new.txt").exists()


def test_its_time_has_an_end_and_what_it_runs_ends_with_it(world):
    put(world.home, "fruit", "MANGO-PROMPT", timeout_mins=0.05)
    done = run(world, ["MANGO-PROMPT"], "-y", main=[[invoke("fruit")], [text("Done.")]], **{
        "MANGO-PROMPT": [[call("run_shell_command", {"command": "sleep 1000"})], [text("PARTIAL-REPORT")]]})
    (result,) = results(done, "main")
    assert result["error"]["code"] == "limit_reached" and result["end"] == "time_limit"
    assert "limit of 3 seconds" in result["message"] and result["output"] == "PARTIAL-REPORT"


def test_a_model_that_fails_is_a_result_like_others(world):
    put(world.home, "fruit", "MANGO-PROMPT", model="anthropic/claude-sonnet-4-5")
    done = run(world, [], main=[[invoke("fruit"), invoke("nobody")], [text("Done.")]])
    failed, unknown = results(done, "main")
    assert failed["error"]["code"] == "authentication_failed" and "ANTHROPIC_API_KEY" in failed["message"]
    assert unknown["error"]["code"] == "invalid_argument"
    assert done.code == 0


# ---- who hears of it ----


def test_what_it_says_is_never_its_parents(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    scripts = {"main": [[text("Asking."), invoke("fruit")], [text("It is done.")]],
               "MANGO-PROMPT": [[text("CHILD-WORDS"), call("glob", {"pattern": "*.zzz"})], [text("CHILD-REPORT")]]}
    done = run(world, ["MANGO-PROMPT"], **scripts)
    assert "CHILD" not in done.text and done.text.endswith("It is done.\n")
    done = run(world, ["MANGO-PROMPT"], "-o", "stream-json", **scripts)
    said = "".join(event["content"] for event in done.of_type("message") if event["role"] == "assistant")
    assert said == "Asking.It is done."
    assert [event["tool_name"] for event in done.of_type("tool_use")] == ["invoke_agent"]
    (used,), (result,) = done.of_type("tool_use"), done.of_type("tool_result")
    own = done.of_type("agent")
    assert {event["agent"] for event in own} == {"fruit"} and {event["tool_id"] for event in own} == {used["tool_id"]}
    kinds = [event["event"]["type"] for event in own]
    assert kinds == ["message", "tool_use", "tool_result", "message"]
    assert own[1]["event"]["tool_name"] == "glob" and own[2]["event"]["status"] == "success"
    assert own[1]["event"]["tool_id"] == own[2]["event"]["tool_id"] != used["tool_id"]
    assert result["output"] == "CHILD-REPORT"
    stats = done.of_type("result")[0]["stats"]
    assert stats["tool_calls"] == 2


def test_its_transcript_is_kept_beside_the_sessions_and_is_no_session(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    done = run(world, ["MANGO-PROMPT"], main=[[invoke("fruit", "THE-TASK")], [text("Done.")]],
               **{"MANGO-PROMPT": [[call("glob", {"pattern": "*"})], [text("CHILD-REPORT")]]})
    (own,), (session,) = transcripts(world), world.sessions()
    lines = [json.loads(line) for line in own.read_text().splitlines()]
    parent = json.loads(session.read_text().splitlines()[0])
    assert own.parent.name == parent["sessionId"] and lines[0]["kind"] == "subagent" and parent["kind"] == "main"
    assert "THE-TASK" in own.read_text() and "CHILD-REPORT" in own.read_text()
    listed = world.command("--list-sessions", server=None)
    assert "THE-TASK" not in listed.text and done.code == 0


def test_hooks_see_its_calls_and_the_agent_as_a_call(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    log = world.top / "log"
    hook = {"type": "command", "command": "cat >>%s; echo >>%s" % (log, log)}
    names = ["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"]
    world.settings(hooks={name: [{"hooks": [hook]}] for name in names})
    run(world, ["MANGO-PROMPT"], main=[[invoke("fruit")], [text("Done.")]],
        **{"MANGO-PROMPT": [[call("glob", {"pattern": "*"})], [text("CHILD-REPORT")]]})
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(event["hook_event_name"], event.get("tool_name")) for event in seen] == [
        ("BeforeAgent", None), ("BeforeTool", "invoke_agent"), ("BeforeTool", "glob"), ("AfterTool", "glob"),
        ("AfterTool", "invoke_agent"), ("AfterAgent", None)]


def test_a_hook_that_stops_its_call_stops_the_run(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    world.settings(hooks={"BeforeTool": [{"matcher": "glob", "hooks": [
        {"type": "command", "command": "echo '{\"continue\": false, \"stopReason\": \"ENOUGH\"}'"}]}]})
    done = run(world, ["MANGO-PROMPT"], main=[[invoke("fruit")]],
               **{"MANGO-PROMPT": [[call("glob", {"pattern": "*"})]]})
    assert "ENOUGH" in done.err


def test_a_recording_with_agents_replays(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    record = world.top / "record"
    scripts = {"main": [[invoke("fruit")], [text("Done.")]], "MANGO-PROMPT": [[text("CHILD-REPORT")]]}
    run(world, ["MANGO-PROMPT"], "--record-responses", record, **scripts)
    done = world.command("-p", "x", "-m", "replay:%s" % record, "-o", "json")
    assert done.json["response"] == "Done." and done.json["stats"]["tools"]["byName"]["invoke_agent"]["success"] == 1


# ---- several at once ----


def test_several_of_one_reply_work_at_the_same_time(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    all_here = threading.Barrier(4)  # none is answered before all have asked
    answer = {"reply": [text("Report.")], "wait": lambda: all_here.wait(120)}
    done = run(world, ["MANGO-PROMPT"], main=[[invoke("fruit", str(i)) for i in range(4)], [text("Done.")]],
               **{"MANGO-PROMPT": [answer] * 4})
    assert [result["success"] for result in results(done, "main")] == [True] * 4
    assert len(transcripts(world)) == 4


class Editors:
    """Eight agents that each replace one line of a file that all have read before any of them edits; each makes
    what a model would of a refusal: the offered rebase, or the edit again from the state that it was shown."""

    COUNT = 8

    def __init__(self, provider):
        self.provider, self.all_have_read = provider, threading.Barrier(self.COUNT)
        self.refused, self.rebased, self.main = 0, 0, 0

    def edit(self, i, state):
        """Of its line and, with a context of one line each, its neighbours."""
        diff = "@@\n line %d\n-slot %d\n+SLOT %d\n line %d\n" % (i, i, i, i)
        return call("safe_patch", {"file_path": "shared.txt", "unified_diff": diff,
                                   "base_content_sha256": state["sha256"]})

    def __call__(self, request):
        said = json.dumps(request.body["contents"])
        if "MANGO-PROMPT" not in system(request.body):
            self.main += 1
            reply = [text("Done.")] if self.main > 1 else [invoke("fruit", "TASK-%d" % i) for i in range(self.COUNT)]
            return {"reply": reply}
        i = next(i for i in range(self.COUNT) if "TASK-%d" % i in said)
        results = self.provider.tool_results(request)
        if not results:
            return {"reply": [call("read_file", {"file_path": "shared.txt"})]}
        last = results[-1]
        if "content" in last:
            return {"reply": [self.edit(i, last)], "wait": lambda: self.all_have_read.wait(120)}
        if last["success"]:
            return {"reply": [text("Done.")]}
        assert last["error"]["code"] == "state_mismatch", last
        self.refused += 1
        state = last["latest_file_state"]
        if "rebased" not in last:
            return {"reply": [self.edit(i, state)]}
        self.rebased += 1
        return {"reply": [call("safe_patch", {"file_path": "shared.txt", "rebase": last["rebased"]["id"],
                                              "base_content_sha256": state["sha256"]})]}


def test_eight_agents_edit_one_file_and_no_edit_is_lost(world):
    put(world.home, "fruit", "MANGO-PROMPT")
    block = "line %d\n%s %d\nline %d\n" + "between\n" * 10
    whole = "".join(block % (i, "slot", i, i) for i in range(Editors.COUNT))
    world.write("shared.txt", whole)
    with world.fake([], append_only=False) as server:
        server.auto = editors = Editors(server.provider)
        done = world.command("-p", "x", "-y", server=server)
    assert not server.violations and done.code == 0, (server.violations, done.err)
    assert world.read("shared.txt") == whole.replace("slot", "SLOT")
    # All made theirs on the first state, so only one of them can have been right at once.
    assert editors.refused >= Editors.COUNT - 1 and editors.rebased > 0


def test_what_another_has_seen_is_no_state_to_write_over(world):
    """write_file without a hash counts on what this conversation has seen, not on what its agents have."""
    put(world.home, "fruit", "MANGO-PROMPT")
    world.write("a.txt", "old\n")
    blind = call("write_file", {"file_path": "a.txt", "content": "mine\n"})
    edit = call("replace", {"file_path": "a.txt", "old_string": "old", "new_string": "theirs"})
    done = run(world, ["MANGO-PROMPT"], "-y", main=[
        [call("read_file", {"file_path": "a.txt"})], [invoke("fruit")], [blind], [text("Done.")]],
        **{"MANGO-PROMPT": [[edit], [text("Report.")]]})
    assert results(done, "main")[-1]["error"]["code"] == "base_required"
    assert world.read("a.txt") == "theirs\n"


def test_those_of_extensions_count(world):
    folder = world.home / ".gemini" / "extensions" / "ext"
    put(folder, "fruit", place="agents")
    (folder / "gemini-extension.json").write_text('{"name": "ext", "version": "1.0.0"}')
    put(world.top, "outside", place="out")
    (folder / "agents" / "link.md").symlink_to(world.top / "out" / "outside.md")
    done = world.run(HELLO, "-p", "x")
    assert declared(done) == sorted(["fruit", *BUILT_IN])
