# SPDX-License-Identifier: Apache-2.0
"""How the tools of an MCP server are confined, who is told, and what commands leave behind."""
import json
import os
import time

import pytest

from conftest import STATELESS, Refused

pytestmark = pytest.mark.in_turn("level")

YES = {"action": "accept", "content": {"allow": True}}
LEVELS = ["full", "landlock"]


def asking(ws, answer, *flags, **options):
    return ws.client(*flags, capabilities={"elicitation": {}},
                     answers={"elicitation/create": lambda _: answer}, **options)


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def ticking(ws):
    return "while :; do echo >> ticks; sleep 0.05; done", ws.folder / "ticks"


def still(path):
    size = path.stat().st_size
    time.sleep(0.3)
    return path.stat().st_size == size


# ---- the level ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS + ["paths"])
def test_each_result_says_its_level(ws, level):
    ws.write("a.txt", "one\n")
    client = ws.client("--sandbox", level)
    for name, arguments in ("read_file", {"file_path": "a.txt"}), \
            ("read_many_files", {"paths": ["a.txt"]}), ("read_file", {"file_path": "none"}), \
            ("run_shell_command", {"command": "true"}):
        assert client.tool(name, **arguments)["_meta"]["hasp/sandbox"] == level


def test_a_stateless_client_is_told_too(ws):
    ws.write("a.txt", "one\n")
    client = ws.client(version=STATELESS, initialize=False)
    assert client.tool("read_file", file_path="a.txt")["_meta"]["hasp/sandbox"] == "full"


@pytest.mark.parametrize("level, words", [("full", "level full"), ("landlock", "level landlock"),
                                          ("paths", "WARNING")])
def test_the_model_is_told(ws, level, words):
    assert words in ws.client("--sandbox", level).hello["instructions"]


def test_the_log_says_how_the_workspace_is_confined(ws):
    ws.write("a.txt", "one\n")
    for flags, level, data in ([], "info", {"sandbox": "full"}), \
            (["--sandbox", "none"], "warning", {"sandbox": "paths"}):
        client = ws.client(*flags)
        client.call("read_file", file_path="a.txt")
        note = client.note("notifications/message")
        assert note["logger"] == "workspace" and note["level"] == level
        assert note["data"].items() >= data.items()


def test_a_level_that_cannot_be_had_is_an_error_at_the_start(ws):
    code, out, err = ws.run("--sandbox", "full", "--root", ".",
                            env={"HASP_SANDBOX_SIMULATE": "no-userns"})
    assert code == 2 and out == "" and "namespaces" in err


def test_the_front_has_no_file_of_the_workspace_open(ws):
    """Nothing but the worker knows the workspace."""
    ws.write("a.txt", "one\n")
    client = ws.client()
    client.call("read_file", file_path="a.txt")
    client.call("search_files", pattern="one")
    fds = "/proc/%d/fd" % client.process.pid
    opened = [os.readlink(os.path.join(fds, name)) for name in os.listdir(fds)]
    assert [path for path in opened if path.startswith(str(ws.folder))] == []


# ---- commands -------------------------------------------------------------------------------


def test_a_command_runs_in_the_workspace(ws):
    result = ws.client().call("run_shell_command", command="echo made > made; echo said; exit 3")
    assert ws.read("made") == "made\n" and result["exit_code"] == 3
    assert "said" in json.dumps(result)


def test_reading_servers_offer_no_commands(ws):
    names = [tool["name"] for tool in ws.client("--read-only").request("tools/list")["tools"]]
    assert "read_file" in names and "run_shell_command" not in names


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_denied_is_in_the_result_and_in_the_log(ws, level):
    client = ws.client("--sandbox", level)
    result = client.call("run_shell_command", command="echo x > /usr/outside")
    assert "/usr/outside" in json.dumps(result["denials"])
    while True:
        note = client.note("notifications/message")
        if note["logger"] == "sandbox":
            break
    assert note["level"] == "warning" and "/usr/outside" in note["data"]["message"]
    assert not os.path.exists("/usr/outside")


def test_a_denied_file_is_the_same_record_everywhere(ws):
    """In the result, in the log, and in the error of a resource."""
    ws.write("hidden.txt", "one\n")
    path = str(ws.folder / "hidden.txt")
    client = ws.client("--deny", path)
    for name, arguments in ("read_file", {"file_path": path}), \
            ("read_many_files", {"paths": [path]}):
        result = client.call(name, **arguments)
        error = result.get("files", [result])[0]["error"]
        assert error["denial"].items() >= {"kind": "read", "what": path, "rule": path,
                                           "reason": "deny", "level": "full"}.items()
        while True:
            note = client.note("notifications/message")
            if note["logger"] == "sandbox":
                break
        assert note["data"] == {"message": error["denial"]["message"], "denial": error["denial"]}
    with pytest.raises(Refused) as refused:
        client.request("resources/read", {"uri": ws.uri("hidden.txt")})
    assert refused.value.data["denial"] == error["denial"]


@pytest.mark.parametrize("level", LEVELS + ["paths"])
def test_a_command_that_failed_is_told_what_it_could_not_read(ws, level):
    """The kernel refuses that and tells nobody: what is told is the plan's, not what was tried."""
    ws.write("hidden/key", "secret")
    ws.write("hidden/inner/key", "secret")
    ws.write("alone", "secret")
    hidden = [str(ws.folder / name) for name in ("alone", "hidden")]
    client = ws.client("--sandbox", level, *(flag for path in [*hidden, hidden[1] + "/inner"]
                                             for flag in ("--deny", path)))
    result = client.call("run_shell_command", command="cat hidden/key alone; exit 3")
    if level == "paths":
        assert "hidden_paths" not in result
        return
    assert "secret" not in result["output"] and "denials" not in result
    assert [path for path in result["hidden_paths"] if path.startswith(str(ws.folder))] == hidden
    assert "hidden_paths" not in client.call("run_shell_command", command="true")


@pytest.mark.parametrize("when", ["commands", "all", "edits"])
def test_the_user_is_asked_before_a_command(ws, when):
    client = asking(ws, YES, "--confirm", when)
    assert client.call("run_shell_command", command="echo 'a  b' > made")["exit_code"] == 0
    ((_, question),) = client.asked
    assert "    echo 'a  b' > made\n" in question["message"]
    assert "run_shell_command" in question["message"] and ws.read("made") == "a  b\n"


def test_a_command_that_is_declined_is_not_run(ws):
    result = asking(ws, {"action": "decline"}, "--confirm", "commands").call(
        "run_shell_command", command="touch made")
    assert result["error"]["code"] == "denied_by_user" and "run" in result["message"]
    assert not (ws.folder / "made").exists()


def test_edits_are_not_asked_about_where_only_commands_are(ws):
    client = asking(ws, {"action": "decline"}, "--confirm", "commands")
    assert client.call("write_file", file_path="a.txt", content="x")["success"]
    assert client.asked == []


def test_the_whole_command_is_shown(ws):
    hidden = "echo harmless" + " " * 3000 + "; touch made\u202e\x1b[2K"
    client = asking(ws, {"action": "decline"}, "--confirm", "all")
    client.call("run_shell_command", command=hidden)
    ((_, question),) = client.asked
    assert "touch made" in question["message"]
    assert "\x1b" not in question["message"] and "\u202e" not in question["message"]


def test_a_command_too_long_to_be_shown_is_not_run(ws):
    client = asking(ws, YES, "--confirm", "all")
    result = client.call("run_shell_command", command="true " + "x" * (1 << 20))
    assert result["error"]["code"] == "denied_by_user" and client.asked == []


MORE = {"additional_permissions": {"network": True}}


def test_more_permissions_need_somebody_who_gives_them(ws):
    result = ws.client().call("run_shell_command", command="touch made", **MORE)
    assert result["error"]["code"] == "denied_by_user" and not (ws.folder / "made").exists()
    result = asking(ws, {"action": "decline"}).call("run_shell_command", command="touch made",
                                                    **MORE)
    assert result["error"]["code"] == "denied_by_user" and not (ws.folder / "made").exists()


def test_more_permissions_are_asked_for_and_given_to_one_command(ws):
    client = asking(ws, YES)
    count = "grep -c : /proc/net/dev"
    own = client.call("run_shell_command", command=count)["output"]
    more = client.call("run_shell_command", command=count, **MORE)["output"]
    assert len(client.asked) == 1 and "network" in client.asked[0][1]["message"]
    with open("/proc/net/dev") as devices:
        assert int(more) == sum(":" in line for line in devices) > int(own) == 1


def test_cancel_ends_the_command(ws):
    command, ticks = ticking(ws)
    client = ws.client()
    number = client.start("tools/call", {"name": "run_shell_command",
                                         "arguments": {"command": command}})
    wait_until(ticks.exists)
    client.notify("notifications/cancelled", {"requestId": number})
    wait_until(lambda: still(ticks))


def test_no_background_process_survives_its_client(ws):
    command, ticks = ticking(ws)
    client = ws.client()
    client.call("run_shell_command", command=command, is_background=True)
    wait_until(ticks.exists)
    assert client.close() == 0
    assert still(ticks)


def test_no_background_process_survives_a_server_that_is_killed(ws):
    command, ticks = ticking(ws)
    client = ws.client()
    client.call("run_shell_command", command=command, is_background=True)
    wait_until(ticks.exists)
    client.process.kill()
    wait_until(lambda: still(ticks))


def test_a_worker_that_is_killed_is_one_error(ws):
    ws.write("a.txt", "one\n")
    client = ws.client()
    version = client.call("read_file", file_path="a.txt")["version"]
    path = "/proc/%d/task" % client.process.pid
    workers = [int(pid) for task in os.listdir(path)
               for pid in open("%s/%s/children" % (path, task)).read().split()]
    for pid in workers:
        os.kill(pid, 9)
    results = [client.call("read_file", file_path="a.txt") for _ in range(3)]
    assert workers and sum("error" in result for result in results) <= 1
    assert results[-1]["content"] == "one\n" and results[-1]["version"] > version


# ---- rules on paths ---------------------------------------------------------------------------

TRIES = ["echo x > generated/a", "cd generated && echo x > new", "rm -rf generated", "mv generated g2", "ln -s /etc generated/l", "echo x > link/a"]


def guarded(ws, decision="deny", more=""):
    ws.write("generated/a", "old\n")
    ws.write("src/s", "s\n")
    (ws.folder / "link").symlink_to("generated")
    policies = ws.home / ".gemini" / "policies.toml"
    policies.parent.mkdir()
    policies.write_text('[[rule]]\npath = "generated/**"\ndecision = "%s"\n%s' % (decision, more))


def holds(ws, client):
    for name, arguments in [("write_file", {"file_path": "generated/new", "content": "x"}),
                            ("update_file", {"file_path": "link/a", "old_content": "old", "new_content": "new"}),
                            ("safe_patch", {"file_path": "generated/a", "unified_diff": "@@ -1 +1 @@\n-old\n+new\n"}),
                            ("apply_changes", {"changes": [{"kind": "delete", "file_path": "./generated/a"}]}),
                            ("apply_changes", {"changes": [{"kind": "move", "file_path": "src/s", "new_path": "generated/s"}]})]:
        assert client.call(name, **arguments)["success"] is False, name
    for command in TRIES:
        client.call("run_shell_command", command=command)
    client.call("run_shell_command", command=TRIES[0],
                additional_permissions={"fileSystem": {"write": [str(ws.folder / "generated")]}})
    assert client.call("write_file", file_path="src/made", content="x")["success"]
    assert [path.name for path in (ws.folder / "generated").iterdir()] == ["a"] and ws.read("generated/a") == "old\n"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("decision", ["deny", "ask_user"])
def test_a_rule_on_a_path_holds_for_a_served_session(ws, level, decision):
    guarded(ws, decision)
    holds(ws, ws.client("--sandbox", level))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule,when", [(("deny",), "all"), (("ask_user", "approvals = 2\n"), "all"),
                                       (("ask_user", "approvals = 1\nreviewers = [\"anna\"]\n"), "commands")])
def test_a_rule_on_a_path_holds_whatever_the_client_confirms(ws, level, rule, when):
    """One client is not the reviewers of a rule."""
    guarded(ws, *rule)
    holds(ws, asking(ws, YES, "--confirm", when, "--sandbox", level))


def test_a_rule_that_asks_is_a_question_to_the_client(ws):
    guarded(ws, "ask_user")
    client = asking(ws, YES, "--confirm", "all")
    assert client.call("write_file", file_path="generated/new", content="x")["success"] and ws.read("generated/new") == "x"
    other = asking(ws, {"action": "decline"}, "--confirm", "all")
    assert other.call("write_file", file_path="generated/other", content="x")["error"]["code"] == "denied_by_user"
    commands = asking(ws, YES, "--confirm", "commands")
    assert not commands.call("write_file", file_path="generated/other", content="x")["success"]
    permission = {"fileSystem": {"write": [str(ws.folder / "generated")]}}
    commands.call("run_shell_command", command="echo y > generated/a", additional_permissions=permission)
    assert ws.read("generated/a") == "y\n" and not (ws.folder / "generated" / "other").exists()


def test_a_rule_on_a_path_holds_below_the_clients_root(ws):
    """Which is another folder than the one that the server was started in."""
    guarded(ws)
    (ws.folder.parent / "elsewhere").mkdir()
    client = ws.client(cwd=ws.folder.parent / "elsewhere", capabilities={"roots": {}},
                       answers={"roots/list": lambda _: {"roots": [{"uri": ws.uri()}]}})
    holds(ws, client)
