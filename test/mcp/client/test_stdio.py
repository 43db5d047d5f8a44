# SPDX-License-Identifier: Apache-2.0
"""Servers that are programs: their tools in the model's hands, in the sandbox, by the rules."""
import json
import socket

import pytest
from conftest import declared, headless
from fake_gemini import call, text

pytestmark = pytest.mark.rows_in_turn(3)

ECHO = call("mcp_fake_echo", {"text": "hello"})
ALLOW = ("--allowed-mcp-server-names", "fake")


def attempt(world, one, *args, **options):
    """The result of one call, and the run."""
    done = world.run([[one], [text("Done.")]], "-p", "Do it.", *(args or ALLOW), **options)
    assert done.code == 0, done.err
    return done.results()[0], done


def say(what, **more):
    return call("mcp_fake_say", {"what": what, **more})


# ---- tools ---------------------------------------------------------------------------------------

def test_its_tools_are_declared_and_called(world):
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, sandbox={"write": [str(world.top)]})})
    result, done = attempt(world, ECHO)
    assert "you said hello" in result["output"]
    assert result["output"].startswith("<untrusted_context>")
    tools = declared(done.sent[0])
    assert {"mcp_fake_echo", "mcp_fake_fail", "mcp_fake_say"} <= set(tools)
    assert tools["mcp_fake_echo"]["description"] == "Says it again."
    assert log.read_text().split() == ["start", "initialize", "notifications/initialized",
                                       "tools/list", "tools/call", "end"]


def test_pages_of_tools(world):
    world.use({"fake": world.server("fake", "pages")})
    _, done = attempt(world, ECHO)
    assert {"mcp_fake_echo", "mcp_fake_fail", "mcp_fake_say"} <= set(declared(done.sent[0]))


def test_names_are_cut_and_made_plain(world):
    world.use({"a server": world.server("fake", "odd")})
    done = world.run([[text("Hi.")]], "-p", "Hi.", "--allowed-mcp-server-names", "a server")
    names = [name for name in declared(done.sent[0]) if name.startswith("mcp_")]
    assert "mcp_a_server_echo" in names and "mcp_a_server_colour__31m" in names
    cut = [name for name in names if len(name) == 63]
    assert len(cut) == 1 and cut[0].startswith("mcp_a_server_long")


LONG = "a_name_that_is_much_longer_than_models_%s_take_and_that_ends_like_another"


def tool_named(name):
    return {"name": name, "description": "One.", "inputSchema": {"type": "object"}}


def test_names_that_would_be_one_are_two(world):
    """Cut in the middle, made plain, or two servers' names that run together: each tool can be called."""
    own = [LONG % "one", LONG % "two", "x/y", "x y", "x_y"]
    first, second = world.top / "first", world.top / "second"
    for log, names in (first, own), (second, ["b_c"]):
        (log.parent / (log.name + ".tools")).write_text(json.dumps([tool_named(name) for name in names]))
    (world.top / "third.tools").write_text(json.dumps([tool_named("c")]))
    write = {"write": [str(world.top)]}
    world.use({"s": world.server("s", "--log", first, sandbox=write), "a": world.server("a", "--log", second, sandbox=write),
               "a_b": world.server("a_b", "--log", world.top / "third", sandbox=write)})
    allow = ("--allowed-mcp-server-names", "s,a,a_b")
    done = world.run([[text("Hi.")]], "-p", "Hi.", *allow)
    names = [name for name in declared(done.sent[0]) if name.startswith("mcp_")]
    assert len(set(names)) == 7 and "already" not in done.err, (names, done.err)
    listed = world.command("mcp", "list", "--json").json
    shown = {tool["name"]: (server["name"], tool["tool"]) for server in listed for tool in server["tools"]}
    assert sorted(shown) == sorted(names) and len(set(shown.values())) == 7
    plain = world.command("mcp", "list").text
    assert all("(tool \"%s\")" % name in plain for name in own[:4]), plain


def test_rules_name_a_long_tool_whole(world):
    log = world.top / "log"
    (world.top / "log.tools").write_text(json.dumps([tool_named(LONG % "one"), tool_named(LONG % "two")]))
    world.use({"s": world.server("s", "--log", log, sandbox={"write": [str(world.top)]})}, tools={"exclude": ["mcp_s_" + LONG % "two"]})
    done = world.run([[text("Hi.")]], "-p", "Hi.", "--allowed-mcp-server-names", "s")
    name = [name for name in declared(done.sent[0]) if name.startswith("mcp_s_")]
    assert len(name) == 1
    for rule, said in (LONG % "one", "deny"), (LONG % "other", "ask_user"):
        policies = world.home / ".gemini" / "policies"
        policies.mkdir(exist_ok=True)
        (policies / "own.toml").write_text(
            '[[rule]]\ntoolName = "mcp_s_%s"\ndecision = "deny"\npriority = 900\n' % rule)
        done = world.run([[call(name[0], {})], [text("Done.")]], "-p", "Hi.", "--allowed-mcp-server-names", "s")
        assert ("denied_by_policy" in done.said()) == (said == "deny"), done.said()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_other_providers_names_have_no_dots(world, kind):
    world.use({"s.x": world.server("fake", "odd")})
    done = world.run([[text("Hi.")]], "-p", "Hi.", "--allowed-mcp-server-names", "s.x", kind=kind)
    said = json.dumps(done.sent[0]["tools"])
    assert "mcp_s_x_echo" in said and "mcp_s.x" not in said


def test_half_a_surrogate_pair_loses_no_server(world):
    """In a description, and in an answer: a replacement character each, and one warning for both."""
    log = world.top / "log"
    (world.top / "log.tools").write_text(json.dumps([dict(tool_named("echo"), description="Cut \ud83d here.", inputSchema={
        "type": "object", "properties": {"text": {"type": "string", "description": "\udc00"}}})]))
    world.use({"fake": world.server("fake", "--log", log, "bent", sandbox={"write": [str(world.top)]})})
    bent = r'~{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"said \ud83d"}]}}'
    result, done = attempt(world, call("mcp_fake_echo", {"text": bent}))
    tools = declared(done.sent[0])
    assert tools["mcp_fake_echo"]["description"] == "Cut \ufffd here."
    assert "said \ufffd" in result["output"] and done.err.count("not valid Unicode") == 1, done.err


def test_a_tool_that_the_model_refuses_is_left_out(world):
    """It is refused alone, too, and no tools are not; the prompt goes on, and a warning names the tool and its server."""
    world.use({"fake": world.server()})
    refusal = {"status": 400, "error": "Invalid schema for function 'mcp_fake_echo': no."}
    with world.fake([refusal, refusal, {"reply": [text("OK")]}, {"reply": [text("Yes.")]}]) as server:
        done = world.command("-p", "Hi.", *ALLOW, server=server)
        last = declared(server.requests[-1].body)
        assert list(declared(server.requests[1].body)) == ["mcp_fake_echo"] and not declared(server.requests[2].body)
        assert len(server.requests) == 4 and "mcp_fake_echo" not in last and "mcp_fake_say" in last
    assert (done.code, done.text.strip()) == (0, "Yes."), done.err
    assert done.err.count('It is the tool "echo" of the MCP server "fake".') == 1, done.err


def test_include_and_exclude(world):
    world.use({"fake": world.server(includeTools=["echo", "fail"], excludeTools=["fail"])})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    names = [name for name in declared(done.sent[0]) if name.startswith("mcp_")]
    assert names == ["mcp_fake_echo"]


def test_tools_exclude_leaves_one_out(world):
    world.use({"fake": world.server()}, tools={"exclude": ["mcp_fake_fail"]})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert "mcp_fake_fail" not in declared(done.sent[0])
    assert "mcp_fake_echo" in declared(done.sent[0])


# ---- rules ---------------------------------------------------------------------------------------

def test_nobody_to_ask_is_a_no(world):
    world.use({"fake": world.server()})
    done = world.run([[ECHO], [text("Done.")]], "-p", "Do it.", append_only=False)
    assert done.code == 56
    assert done.results()[0]["success"] is False
    assert done.results()[0]["error"]["code"] == "denied_by_policy"


def test_trust_allows(world):
    world.use({"fake": world.server(trust=True)})
    done = world.run([[ECHO], [text("Done.")]], "-p", "Do it.")
    assert "you said hello" in done.results()[0]["output"]


def test_excluded_and_not_allowed_servers_are_not_started(world):
    log = world.top / "log"
    fake = world.server("fake", "--log", log, sandbox={"write": [str(world.top)]})
    world.use({"fake": fake, "other": fake}, mcp={"excluded": ["fake"]})
    done = world.run([[text("Hi.")]], "-p", "Hi.", "--allowed-mcp-server-names", "fake")
    assert not [name for name in declared(done.sent[0]) if name.startswith("mcp_")]
    assert not log.exists()


def test_a_project_s_servers_count_after_a_question(world):
    world.settings(where="project", mcpServers={"fake": world.server(trust=True)})
    done = world.run([[text("Hi.")]], "-p", "Hi.")
    assert "mcp_fake_echo" not in declared(done.sent[0])
    assert world.command("config", "allow", "mcpServers").code == 0
    done = world.run([[ECHO], [text("Done.")]], "-p", "Do it.")
    assert "you said hello" in done.results()[0]["output"]


def test_an_untrusted_project_s_do_not(world):
    world.settings(where="project", mcpServers={"fake": world.server(trust=True)})
    assert world.command("config", "allow", "mcpServers").code == 0
    done = world.run([[text("Hi.")]], "-p", "Hi.", env={"GEMINI_CLI_TRUST_WORKSPACE": "false"})
    assert "mcp_fake_echo" not in declared(done.sent[0])


def test_arguments_are_checked_first(world):
    world.use({"fake": world.server()})
    result, _ = attempt(world, call("mcp_fake_echo", {"text": {"a": 1}, "more": 2}))
    assert result["error"]["code"] == "invalid_argument" and "text" in result["message"]


def test_hooks_see_server_and_tool(world):
    hook = world.home / "hook.py"
    hook.write_text("import json, sys\njson.dump(json.load(sys.stdin)['mcp_context'], open('seen', 'w'))\n")
    world.use({"fake": world.server()}, hooks={"BeforeTool": [{"matcher": ".*", "hooks": [
        {"type": "command", "command": "python3 %s" % hook}]}]})
    attempt(world, ECHO)
    assert json.loads(world.read("seen")) == {"server_name": "fake", "tool_name": "echo"}


# ---- the sandbox ---------------------------------------------------------------------------------

def test_the_workspace_is_only_read(world):
    world.use({"fake": world.server()})
    result, _ = attempt(world, say("write", path=str(world.root / "made")))
    assert result["success"] is False and not (world.root / "made").exists()


@pytest.mark.parametrize("level,kept", [("full", True), ("landlock", True), ("paths", False)])
def test_each_level(world, level, kept):
    world.use({"fake": world.server()})
    options = ("--sandbox=" + level, *ALLOW)
    assert "you said hello" in attempt(world, ECHO, *options)[0]["output"]
    attempt(world, say("write", path=str(world.root / "made")), *options)
    assert (world.root / "made").exists() != kept


def test_the_workspace_is_written_if_the_settings_say_so(world):
    world.use({"fake": world.server(sandbox={"workspace": "write"})})
    result, _ = attempt(world, say("write", path=str(world.root / "made")))
    assert "written" in result["output"] and world.read("made") == "written"


def test_what_was_denied_is_in_the_result(world):
    world.root.joinpath(".git", "hooks").mkdir(parents=True)
    world.use({"fake": world.server(sandbox={"workspace": "write"})})
    path = world.root / ".git" / "hooks" / "pre-commit"
    result, _ = attempt(world, say("write", path=str(path)))
    assert result["success"] is False and not path.exists()
    (denial,) = result["denials"]
    assert denial["what"] == str(path)
    assert denial["how_to_allow"] == '"sandbox": {"write":["%s"]} in mcpServers.fake' % path


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def test_the_network_is_off_unless_the_settings_say_so(world, port):
    world.use({"fake": world.server()})
    assert attempt(world, say("net", path=port))[0]["success"] is False
    world.use({"fake": world.server(sandbox={"network": True})})
    assert "connected" in attempt(world, say("net", path=port))[0]["output"]
    world.use({"fake": world.server(sandbox={"network": False})}, tools={"sandboxNetworkAccess": True})
    assert attempt(world, say("net", path=port))[0]["success"] is False


def test_the_administrator_s_no_to_the_network_stands(world, port):
    admin = world.top / "admin.json"
    admin.write_text(json.dumps({"tools": {"sandboxNetworkAccess": False}}))
    world.use({"fake": world.server(sandbox={"network": True})})
    result, done = attempt(world, say("net", path=port),
                           env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(admin)})
    assert result["success"] is False and "administrator" in done.err


def test_its_environment_is_scrubbed(world):
    world.use({"fake": world.server(env={"MINE": "$GIVEN", "UNSET": "$NOT_THERE", "N": 5})})
    result, _ = attempt(world, say("env"), env={"GIVEN": "given", "MY_SECRET_TOKEN": "hush"})
    env = json.loads(result["output"].split("\n")[1])
    assert env["MINE"] == "given" and env["UNSET"] == "" and env["N"] == "5"
    assert env["GEMINI_CLI"] == "1" and "MY_SECRET_TOKEN" not in env
    assert "GEMINI_API_KEY" not in env


def test_its_folder(world):
    world.use({"fake": world.server()})
    assert str(world.root) in attempt(world, say("cwd"))[0]["output"]
    world.use({"fake": world.server(cwd=str(world.top))})
    assert "\n%s\n" % world.top in attempt(world, say("cwd"))[0]["output"]


def test_nothing_is_left_running(world):
    headless.become_reaper()
    world.use({"fake": world.server("fake", "silent-call", timeout=2000)})
    attempt(world, ECHO)
    assert headless.nothing_left()


# ---- results -------------------------------------------------------------------------------------

def test_a_reported_error_is_a_failure(world):
    world.use({"fake": world.server()})
    result, _ = attempt(world, call("mcp_fake_fail", {}))
    assert result["success"] is False and result["error"]["code"] == "tool_failed"
    assert result["message"] == ('The tool "fail" of the MCP server "fake" reported an error: '
                                 '<untrusted_context>it went wrong</untrusted_context>')


@pytest.mark.parametrize("name,way,words", [("fail", [], "it went wrong"), ("echo", ["error"], "-32000")])
def test_words_of_a_server_are_marked_for_the_model_and_not_for_people(world, name, way, words):
    """Each word of a stranger's that a model gets is inside the marks; what people read has none."""
    world.use({"fake": world.server("fake", *way)})
    done = world.run([[call("mcp_fake_" + name, {"text": "x"} if name == "echo" else {})], [text("Done.")]],
                     "-p", "Do it.", "-o", "stream-json", *ALLOW, whole=False)
    result, events = done.results()[0], [json.loads(line) for line in done.out.splitlines()]
    message = result["message"]
    assert message.endswith("</untrusted_context>") and words in message and 'MCP server "fake"' in message
    shown = next(event for event in events if event["type"] == "tool_result")
    assert "untrusted_context" not in json.dumps(shown) and words in json.dumps(shown) and "fake" in json.dumps(shown)


def test_people_read_results_without_marks(world):
    world.use({"fake": world.server()})
    done = world.run([[ECHO, say("media")], [text("Done.")]], "-p", "Do it.", "-o", "stream-json", *ALLOW, whole=False)
    outputs = [event["output"] for event in map(json.loads, done.out.splitlines()) if event["type"] == "tool_result"]
    assert "you said hello" in outputs and any("an image\nimage/png\n" in one for one in outputs), outputs
    assert "untrusted_context" not in "".join(outputs)


def test_media_go_beside_the_result(world):
    world.use({"fake": world.server()})
    result, done = attempt(world, say("media"))
    parts = result["output"]
    assert [part.get("mime_type") for part in parts].count("image/png") == 2
    assert "an image" in parts[0]["text"]
    said = json.dumps(parts)
    assert "test://a" in said and "inside" in said and "file:///x" in said
    assert said.count("no kind of media that is known") == 2
    assert said.count("hasp does not know") == 1
    assert done.said().count('"inlineData"') == 2


def test_structured_content_alone(world):
    world.use({"fake": world.server()})
    assert '{"n":5}' in attempt(world, say("structured"))[0]["output"].replace(" ", "")


def test_escapes_and_invisible_characters_do_not_get_through(world):
    world.use({"fake": world.server()})
    result, _ = attempt(world, say("escape"))
    assert "\u202e" not in result["output"] and "\U000e0041" not in result["output"]
    assert result["output"].count("</untrusted_context>") == 1
    assert "unseen_characters" in result


def test_progress_roots_ping_and_a_refusal(world):
    world.use({"fake": world.server()})
    assert "done" in attempt(world, say("progress"))[0]["output"]
    roots, ping, refused = json.loads(attempt(world, say("roots"))[0]["output"].split("\n")[1])
    assert roots["id"] == "r1"
    assert roots["result"]["roots"][0]["uri"] == "file://" + str(world.root)
    assert ping == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert refused["id"] == "r2" and refused["error"]["code"] == -32601


def test_many_calls_at_once(world):
    world.use({"fake": world.server()})
    calls = [call("mcp_fake_echo", {"text": "n%d" % i}) for i in range(12)]
    done = world.run([calls, [text("Done.")]], "-p", "Do it.", *ALLOW)
    assert ["n%d" % i in result["output"] for i, result in enumerate(done.results())] == [True] * 12


# ---- hostile, and broken -------------------------------------------------------------------------

@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("way,words", [
    ("die-on-call", ["fake", "exit code 3", "terrible happened"]),
    ("endless-line", ["fake", "too long"]),
    ("endless-output", ["fake", "unsolicited messages"]),
    ("garbage", ["fake", "unsolicited messages"]),
    ("empty-batches", ["fake", "unsolicited messages"]),
    ("error", ["fake", "-32000"]),
    ("no-object", ["fake", "no object"]),
])
def test_a_broken_call_is_explained(world, way, words):
    world.use({"fake": world.server("fake", way)})
    result, done = attempt(world, ECHO)
    assert result["success"] is False
    assert all(word in result["message"] for word in words), result["message"]
    assert "\x1b" not in result["message"] and "\x1b" not in done.err


@pytest.mark.parametrize("way", ["wrong-ids", "twice", "greeting", "early-ping", "change",
                                 "endless-pages"])
def test_what_is_odd_but_harmless(world, way):
    world.use({"fake": world.server("fake", way)})
    result, _ = attempt(world, ECHO)
    assert ("first" if way == "twice" else "you said hello") in result["output"]


@pytest.mark.parametrize("way,words", [
    ("die-at-start", "cannot find my settings"), ("die-at-initialize", "exit code 6"),
    ("die-at-list", "exit code 7"), ("no-list", "without a list"), ("old", "1999-01-01"),
])
def test_a_server_that_does_not_start_is_named(world, way, words):
    world.use({"fake": world.server("fake", way)})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert done.code == 0 and "fake" in done.err and words in done.err, done.err


def test_what_would_let_it_start_is_said(world):
    path = world.home / "its-cache"
    world.use({"fake": {"command": "sh", "args": ["-c", "echo x > %s || exit 9" % path]}})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert "exit code 9" in done.err and "write %s" % path in done.err
    assert '"sandbox": {"write":["%s"]} in mcpServers.fake' % path in done.err


def test_a_server_that_waits_for_the_network_is_told_of_it(world):
    world.use({"fake": world.server("fake", "silent", timeout=1500)})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert '1500 ms' in done.err
    assert 'network, which it has not: "sandbox": {"network":true} in mcpServers.fake' in done.err


def test_no_such_program(world):
    world.use({"fake": {"command": "no-such-program-here"}})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert done.code == 0 and "fake" in done.err, done.err


def test_a_call_ends_at_its_time(world):
    world.use({"fake": world.server("fake", "silent-call", timeout=4000)})
    result, _ = attempt(world, ECHO)
    assert "4000 ms" in result["message"]


def test_odd_declarations_do_no_harm(world):
    world.use({"fake": world.server("fake", "odd")})
    result, done = attempt(world, call("mcp_fake_refs", {"n": 5}))
    tools = declared(done.sent[0])
    assert "called refs" in result["output"]
    assert "built-in" not in tools["read_file"]["description"]
    assert "mcp_fake_read_file" in tools
    assert "mcp_fake_huge" not in tools and "mcp_fake_deep" not in tools
    assert tools["mcp_fake_echo"]["description"] == "Says it again."
    said = done.said(0)
    assert "\\u001b" not in said and "\u202e" not in said and "\U000e0041" not in said
    assert len(tools[[name for name in tools if len(name) == 63][0]]["description"]) < 4100
    assert done.err.count("left out") == 5 and "\x1b" not in done.err, done.err


def test_too_many_tools(world):
    world.use({"fake": world.server("fake", "many")})
    done = world.run([[text("Hi.")]], "-p", "Hi.", *ALLOW)
    assert len([name for name in declared(done.sent[0]) if name.startswith("mcp_")]) == 256


def test_what_it_prints_goes_to_the_debug_log(world):
    world.use({"fake": world.server("fake", "greeting", "die-on-call")})
    quiet = attempt(world, ECHO)[1].err
    assert "Welcome" not in quiet
    loud = attempt(world, ECHO, "--debug", *ALLOW)[1].err
    assert "mcp fake: Welcome to the server!" in loud and "\x1b" not in loud
    assert [line for line in loud.splitlines() if "mcp fake: " in line and "terrible" in line]


def test_a_large_result_is_cut(world):
    world.use({"fake": world.server()})
    result, _ = attempt(world, say("large"))
    assert len(result["output"]) < 1 << 20


def test_a_server_that_died_is_started_again(world):
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, "die-once",
                                    sandbox={"write": [str(world.top)]})})
    done = world.run([[ECHO], [ECHO], [text("Done.")]], "-p", "Do it.", *ALLOW)
    first, second = done.results(1)[0], done.results(2)[-1]
    assert "exit code 4" in first["message"] and "you said hello" in second["output"]
    assert log.read_text().count("start") == 2


def test_what_hasp_cannot_do_is_said(world):
    world.use({"socket": {"tcp": "127.0.0.1:9"}, "nothing": {}})
    done = world.run([[text("Hi.")]], "-p", "Hi.")
    for name, word in (("socket", "tcp"), ("nothing", "neither")):
        assert any(name in line and word in line for line in done.err.splitlines()), done.err


def test_settings_that_are_wrong_are_named(world):
    world.use({"fake": world.server(timeout="soon", env=5, sandbox={"workspace": "maybe"})})
    result, done = attempt(world, ECHO)
    assert "you said hello" in result["output"]
    for member in ("timeout", "env", "sandbox.workspace"):
        assert "mcpServers.fake." + member in done.err, done.err
