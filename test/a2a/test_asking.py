# SPDX-License-Identifier: Apache-2.0
"""What remote agents ask the user, what is asked before one is called, and how their tasks are cancelled."""
import json
import signal

import pytest
from conftest import Front, call, sdk, text

VERSIONS = ["1.0", "0.3"]
CANCEL = {"1.0": "CancelTask", "0.3": "tasks/cancel"}


@pytest.fixture(scope="module", params=VERSIONS)
def far(request):
    with sdk(request.param) as peer:
        peer.version = request.param
        yield peer


# ---- what it asks ----


def test_what_it_asks_is_a_question_and_the_answer_goes_on_in_the_task(world, far):
    world.agent(far.url)
    front = Front(world, "Blue")
    assert front.questions() == ['The agent "far" asks: Which colour?']
    assert front.result["end"] == "answered" and "The answer was Blue." in front.result["output"]
    first, second = [one["task"] for one in far.all("task")][-2:]
    assert first == second


def test_who_does_not_answer_cancels_the_task(world, far):
    world.agent(far.url)
    result = Front(world, "-").result
    assert result["end"] == "input_required" and result["error"]["code"] == "denied_by_user"
    assert far.methods()[-1] == CANCEL[far.version]


def test_without_anybody_the_error_says_what_was_asked_and_the_next_call_answers(world, far):
    world.agent(far.url)
    first, second = world.ask("ask me", "Green").got
    assert first["end"] == "input_required" and not first["success"]
    assert "this run has no way to ask: Which colour?" in first["message"]
    assert second["success"] and "The answer was Green." in second["output"]
    tasks = [one["task"] for one in far.all("task")][-2:]
    assert tasks[0] == tasks[1]


def test_a_task_that_rests_without_a_question_has_answered(world, far):
    """As Gemini CLI's own server ends each turn."""
    world.agent(far.url)
    first, second = world.ask("rest now", "more").got
    assert first["end"] == "answered" and "MANGO-PART" in first["output"] and second["success"]
    tasks = [one["task"] for one in far.all("task")][-2:]
    assert tasks[0] == tasks[1]


def test_the_context_goes_on_and_is_the_sessions_own(world, far):
    world.agent(far.url)
    world.ask("report", "report")
    world.ask("report")
    one, two, other = [one["task"] for one in far.all("task")][-3:]
    assert one["contextId"] == two["contextId"] != other["contextId"] and one["taskId"] != two["taskId"]


# ---- how it ends early ----


def test_a_call_that_is_interrupted_cancels_the_task(world, far):
    world.agent(far.url)
    with world.fake([[call("invoke_agent", {"agent_name": "far", "prompt": "wait here"})]]) as server:
        process = world.start(server, "-p", "x", "-y", "-o", "stream-json")
        while b"Waiting." not in process.stdout.readline():
            pass
        task = far.all("task")[-1]["task"]["taskId"]
        process.send_signal(signal.SIGINT)
        far.until(lambda one: one.get("cancelled") == task)
        assert process.wait(timeout=120) == 130


def test_at_its_time_limit_the_task_is_cancelled_and_what_there_is_is_kept(world, far):
    world.agent(far.url, timeout_mins=0.3)
    (result,) = world.ask("wait here").got
    assert result["end"] == "time_limit" and result["error"]["code"] == "limit_reached", result
    assert "reached its limit of 0.3 minutes" in result["message"] and "Waiting." in result["output"]
    task = far.all("task")[-1]["task"]["taskId"]
    far.until(lambda one: one.get("cancelled") == task)


# ---- what is asked before ----


def test_a_call_is_asked_about_unless_a_rule_says_more(world, far):
    world.agent(far.url)
    (asked,) = Front(world, mode="default", task="say it").all("tool-confirmation-request")
    assert "Remote: " + far.url in asked["details"]["prompt"] and "Task: say it" in asked["details"]["prompt"]
    (result,) = world.ask("say it", flags=()).got
    assert result["error"]["code"] == "denied_by_policy", result
    world.write("rules.toml", '[[rule]]\ntoolName = "far"\ndecision = "allow"\npriority = 100\n')
    done = world.ask("say it", flags=("--policy", world.root / "rules.toml"))
    assert done.got[0]["success"], done.got


def test_a_projects_is_used_once_its_file_was_allowed(world, far):
    path = world.agent(far.url, where="root", auth={"type": "apiKey", "key": "$FAR_KEY"})
    env = {"FAR_KEY": "hush"}
    (result,) = world.ask("say it", env=env).got
    assert "hasp agents allow far" in result["message"] and "$FAR_KEY" in result["message"]
    listed = world.command("agents", "list").text
    assert "not allowed yet" in listed and far.url in listed
    allowed = world.command("agents", "allow", "far")
    assert allowed.code == 0 and far.url + ", with the value of $FAR_KEY" in allowed.text
    assert world.ask("say it", env=env).got[0]["success"]
    path.write_text(path.read_text() + "more\n")
    (result,) = world.ask("say it", env=env).got
    assert result["error"]["code"] == "denied_by_policy", result
    world.agent(far.url, where="root")
    assert Front(world, "No", task="say it").result["error"]["code"] == "denied_by_user"
    front = Front(world, "Yes", task="say it")
    assert front.result["success"] and far.url in front.questions()[0]
    assert Front(world, task="say it").questions() == []


def test_each_agent_of_a_projects_list_is_allowed_by_itself(world, far):
    folder = world.root / ".gemini/agents"
    folder.mkdir(parents=True)
    one = "- kind: remote\n  name: %s\n  agent_card_url: " + far.url + "\n"
    (folder / "all.md").write_text("---\n%s%s---\n" % (one % "far", one % "other"))
    assert world.command("agents", "list").text.count("not allowed yet") == 2
    assert world.command("agents", "allow", "far").code == 0
    assert world.ask("say it").got[0]["success"]
    (result,) = world.ask("say it", name="other").got
    assert "hasp agents allow other" in result["message"], result
    (folder / "all.md").write_text("---\n%s- name: b\n  description: x\n---\nWork.\n" % (one % "far"))
    told = world.command("agents", "list")
    assert "agent 2 of its list: only remote agents stand in lists." in told.text + told.err, told
    assert far.url not in told.text


def test_the_users_own_needs_no_such_word(world, far):
    world.agent(far.url)
    assert world.command("agents", "allow", "far").code == 1
    done = world.run([[text("Hello.")]], "-p", "x")
    assert "far: Works elsewhere." in json.dumps(done.sent[0])


def test_the_servers_of_a_projects_agent_are_asked_about(world):
    path = world.root / ".gemini/agents/fruit.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: fruit\ndescription: x\nmcp_servers: {own: {command: touch, args: [%s]}}\n---\nWork.\n" %
                    (world.top / "made"))
    front = Front(world, "No", name="fruit")
    assert front.result["error"]["code"] == "denied_by_user"
    assert front.questions() == ['A file of this project describes the agent "fruit", which brings its own MCP servers. Start them when it '
                                 'runs? the MCP server "own" would run: touch %s' % (world.top / "made")]
    assert not world.command("agents", "list").code and "not allowed yet" in world.command("agents", "list").text
