# SPDX-License-Identifier: Apache-2.0
"""Servers of Claude Code's files, Codex's and a project's .mcp.json and .codex/config.toml."""
import http.server
import json
import sys
import threading

import fake_mcp
import pytest
from fake_gemini import call, text



def claude(world, servers=None, projects=None, file=".claude.json", **more):
    path = world.home / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"numStartups": 3, "mcpServers": servers or {}, "projects": projects or {}, **more}))


def codex(world, toml):
    (world.home / ".codex").mkdir(exist_ok=True)
    (world.home / ".codex" / "config.toml").write_text(toml)


def project(world, servers):
    (world.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def project_codex(world, toml):
    world.write(".codex/config.toml", toml)


def codex_entry(name, entry, more=""):
    return "[mcp_servers.%s]\ncommand = %s\nargs = %s\n%s\n" % (
        name, json.dumps(entry["command"]), json.dumps(entry["args"]), more)


def listed(world, **options):
    """{name: row}; of two with one name the first."""
    done = world.command("mcp", "list", "--json", **options)
    assert done.code == 0, done.err
    rows = {}
    for row in json.loads(done.out):
        rows.setdefault(row["name"], row)
    return rows


def environment_of(world, server, **options):
    """What the server named so has in its environment, asked through its tool."""
    done = world.run([[call("mcp_%s_say" % server, {"what": "env"})], [text("Done.")]], "-p", "Go.", "--yolo", **options)
    assert done.code == 0, done.err
    said = str(done.sent[1]["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"])
    return json.loads(said[said.index("{"):said.rindex("}") + 1])


def test_claude_codes_servers_are_used(world):
    fake = world.server()
    claude(world, {"mine": {"type": "stdio", **fake, "env": {"A": "${FROM_ENV}", "B": "${NO:-b}", "C": "c$FROM_ENV"}}},
           {str(world.root): {"mcpServers": {"here": fake}, "disabledMcpServers": ["off"]},
            "/elsewhere": {"mcpServers": {"there": fake}}})
    got = environment_of(world, "mine", env={"FROM_ENV": "set"})
    assert (got["A"], got["B"], got["C"]) == ("set", "b", "c$FROM_ENV")
    rows = listed(world)
    assert set(rows) == {"mine", "here"}
    assert rows["mine"]["origin"] == "Claude Code" and rows["mine"]["file"] == str(world.home / ".claude.json")


def test_a_server_that_claude_code_disables_is_off(world):
    claude(world, {"one": world.server(), "two": world.server()}, {str(world.root): {"disabledMcpServers": ["two"]}})
    rows = listed(world)
    assert rows["one"]["state"] == "unknown" and rows["two"]["state"] == "off"
    assert "Claude Code" in rows["two"]["problem"]


def test_codexs_servers_are_used(world):
    program, *words = fake_mcp.words()
    codex(world, """
model = "gpt-5"
[mcp_servers.mine]
command = %s
args = [%s]
env = { "A" = "1" }
env_vars = ["WANTED", "MISSING"]
startup_timeout_sec = 20
tool_timeout_sec = 7.5
disabled_tools = ["echo"]
[mcp_servers.off]
command = "true"
enabled = false
""" % (json.dumps(program), json.dumps(words)[1:-1]))
    got = environment_of(world, "mine", env={"WANTED": "w", "UNWANTED": "u"})
    assert got["A"] == "1" and got["WANTED"] == "w" and "MISSING" not in got
    rows = listed(world, env={"WANTED": "w"})
    assert rows["mine"]["origin"] == "Codex" and rows["off"]["state"] == "off"
    assert all(not tool["name"].endswith("_echo") for tool in rows["mine"]["tools"])


def test_codexs_tokens_go_to_their_server_and_nowhere_else(world):
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append(dict(self.headers))
            self.send_error(500)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        codex(world, """
[mcp_servers.far]
url = "http://127.0.0.1:%d/mcp?key=in-url"
bearer_token_env_var = "FAR_TOKEN"
http_headers = { "X-Fixed" = "fixed" }
env_http_headers = { "X-Var" = "FAR_VAR" }
""" % server.server_port)
        done = world.command("mcp", "test", "far", env={"FAR_TOKEN": "t0p", "FAR_VAR": "v4r"})
        shown = world.command("mcp", "list", env={"FAR_TOKEN": "t0p", "FAR_VAR": "v4r"})
        server.shutdown()
    assert seen and seen[0]["Authorization"] == "Bearer t0p"
    assert seen[0]["X-Fixed"] == "fixed" and seen[0]["X-Var"] == "v4r"
    for said in (done.text, done.err, shown.text, shown.err):
        assert not any(secret in said for secret in ("t0p", "v4r", "in-url"))


def test_the_settings_come_first_and_can_add(world):
    fake = world.server()
    claude(world, {"same": {"command": "false"}, "more": fake})
    world.use({"same": fake, "more": {"includeTools": ["say"]}})
    rows = listed(world)
    assert rows["same"]["origin"] == "user settings" and rows["same"]["what"] == sys.executable
    assert rows["more"]["origin"] == "Claude Code"
    done = world.command("mcp", "test", "more", "--json")
    assert [tool["name"] for tool in json.loads(done.out)["tools"]] == ["mcp_more_say"]


@pytest.mark.parametrize("which", ["claude", "codex", "mcpJson"])
def test_each_source_can_be_turned_off(world, which):
    claude(world, {"of_claude": world.server()})
    codex(world, '[mcp_servers.of_codex]\ncommand = "true"\n')
    project(world, {"of_mcpJson": world.server()})
    project_codex(world, '[mcp_servers.of_codex_too]\ncommand = "true"\n')
    world.settings(hasp={"servers": {which: False}})
    assert set(listed(world)) == {"of_claude", "of_codex", "of_codex_too", "of_mcpJson"} - {
        "of_" + which, "of_%s_too" % which}


def test_files_that_cannot_be_read_are_named(world):
    (world.home / ".claude.json").write_text("{")
    codex(world, "[mcp_servers")
    project(world, {})
    (world.root / ".mcp.json").write_text('{"mcpServers": [}')
    done = world.command("mcp", "list")
    assert done.code == 0
    assert all(name in done.err for name in (".claude.json", "config.toml", ".mcp.json"))


# ---- a project's .mcp.json

def asked(world, *args, **options):
    return world.run([[text("Done.")]], "-p", "Go.", *args, **options)


def declared(done):
    return {one["name"] for group in done.sent[0].get("tools", []) for one in group.get("functionDeclarations", [])}


def test_a_projects_servers_are_started_only_after_they_are_allowed(world):
    mark = world.temp / "ran"
    project(world, {"theirs": {"command": "touch", "args": [str(mark)]}})
    done = asked(world)
    assert "hasp mcp allow" in done.err and "theirs" in done.err and not mark.exists()
    row = listed(world)["theirs"]
    assert row["state"] == "off" and row["asks"] == "run: touch %s" % mark and row["origin"] == ".mcp.json"


def test_what_is_allowed_is_asked_about_again_when_it_changes(world):
    project(world, {"theirs": world.server()})
    done = world.command("mcp", "allow", "theirs")
    assert done.code == 0 and fake_mcp.words()[-1] in done.text, done.err
    done = asked(world)
    assert "hasp mcp allow" not in done.err and "mcp_theirs_say" in declared(done)
    project(world, {"theirs": world.server("fake", "modern")})
    done = asked(world)
    assert "hasp mcp allow" in done.err and "mcp_theirs_say" not in declared(done)


def test_an_untrusted_folders_servers_are_not_even_named(world):
    project(world, {"theirs": world.server()})
    assert listed(world, env={"GEMINI_CLI_TRUST_WORKSPACE": "false"}) == {}
    assert world.command("mcp", "allow", "theirs", env={"GEMINI_CLI_TRUST_WORKSPACE": "false"}).code != 0


def test_a_projects_server_takes_no_name_of_the_users(world):
    claude(world, {"Mine": world.server()})
    project(world, {"mine": {"command": "false"}})
    rows = json.loads(world.command("mcp", "list", "--json").out)
    assert [(row["origin"], row["state"]) for row in rows] == [("Claude Code", "unknown"), (".mcp.json", "off")]
    assert "asks" not in rows[1] and "comes first" in rows[1]["problem"]


def test_one_that_claude_codes_user_rejected_is_not_asked_about(world):
    project(world, {"a": world.server(), "b": world.server(), "c": world.server()})
    claude(world, projects={str(world.root): {"disabledMcpjsonServers": ["a"]}})
    claude(world, file=".claude/settings.json", disabledMcpjsonServers=["b"])
    assert [name for name, row in listed(world).items() if "asks" in row] == ["c"]


def test_what_is_shown_of_a_project_is_harmless_and_whole(world):
    project(world, {"a": {"command": "x\x1b[2J\u202e", "args": ["two words", "y"], "env": {"KEY": "s3cret"}},
                    "bad\x1bname": {"command": "true"}, "long": {"command": "x" * 9000}})
    done = world.command("mcp", "list", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert rows["a"]["asks"] == 'run: x [2J\\u{202e} "two words" y; with the variables KEY'
    assert "asks" not in rows["long"] and "too long" in rows["long"]["problem"]
    assert set(rows) == {"a", "long"} and "\x1b" not in done.err and "s3cret" not in done.text + done.err


def test_a_project_brings_no_trust_and_no_wider_sandbox(world):
    project(world, {"theirs": world.server(trust=True, sandbox={"network": True, "workspace": "write"})})
    assert world.command("mcp", "allow", "theirs").code == 0
    done = world.run([[call("mcp_theirs_say", {"what": "x"})], [text("Done.")]], "-p", "Go.", whole=False)
    assert done.code == 56, done.err


# ---- a project's .codex/config.toml

def test_codexs_file_of_a_project_is_asked_about_too(world):
    project_codex(world, codex_entry("theirs", world.server(), 'env_vars = ["WANTED"]'))
    done = asked(world)
    assert "theirs (.codex/config.toml)" in done.err and "mcp_theirs_say" not in declared(done)
    row = listed(world, env={"WANTED": "w"})["theirs"]
    assert (row["state"], row["origin"]) == ("off", ".codex/config.toml")
    assert row["asks"].endswith("%s; with your variables WANTED" % fake_mcp.words()[-1])
    done = world.command("mcp", "allow", "theirs")
    assert done.code == 0 and ".codex/config.toml" in done.text, done.err
    got = environment_of(world, "theirs", env={"WANTED": "w", "UNWANTED": "u"})
    assert got["WANTED"] == "w" and "UNWANTED" not in got
    project_codex(world, codex_entry("theirs", world.server(), 'env_vars = ["WANTED", "SECRET"]'))
    assert "mcp_theirs_say" not in declared(asked(world))


def test_a_yes_to_one_file_is_none_to_the_other(world):
    project(world, {"theirs": world.server()})
    assert world.command("mcp", "allow", "theirs").code == 0
    (world.root / ".mcp.json").unlink()
    project_codex(world, codex_entry("theirs", world.server()))
    assert "mcp_theirs_say" not in declared(asked(world))


def test_mcp_json_comes_before_codexs_file(world):
    project(world, {"same": world.server()})
    project_codex(world, codex_entry("same", {"command": "false", "args": []}) +
                  codex_entry("off", world.server(), "enabled = false"))
    rows = json.loads(world.command("mcp", "list", "--json").out)
    assert [(row["name"], row["origin"], "asks" in row) for row in rows] == [
        ("same", ".mcp.json", True), ("off", ".codex/config.toml", False),
        ("same", ".codex/config.toml", False)]


def test_what_codexs_file_wants_of_the_users_is_in_the_question(world):
    project_codex(world, """
[mcp_servers.far]
url = "http://127.0.0.1:1/mcp"
bearer_token_env_var = "FAR_TOKEN"
http_headers = { "X-Fixed" = "s3cret" }
env_http_headers = { "X-Var" = "FAR_VAR" }
""")
    project(world, {"near": {"command": "x", "env": {"A": "${NEAR_VAR:-s3cret}"}}})
    with open(world.root / ".codex/config.toml", "a") as file:  # not Codex' word: what is obeyed is shown
        file.write('[mcp_servers.both]\nhttpUrl = "https://example.org/"\ncommand = "evil"\n')
    rows = listed(world)
    assert rows["both"]["asks"] == "run: evil"
    assert rows["far"]["asks"] == ("contact: http://127.0.0.1:1/mcp; with the headers X-Fixed; "
                                   "with your variables FAR_VAR, FAR_TOKEN")
    assert rows["near"]["asks"] == "run: x; with the variables A; with your variables NEAR_VAR"


def test_an_untrusted_folders_codex_file_counts_for_nothing(world):
    project_codex(world, codex_entry("theirs", world.server()))
    assert listed(world, env={"GEMINI_CLI_TRUST_WORKSPACE": "false"}) == {}
    project_codex(world, "[mcp_servers")
    assert ".codex/config.toml is not used" in world.command("mcp", "list").err


# ---- what settings say of servers

def test_config_shows_where_each_comes_from(world):
    fake = world.server()
    claude(world, {"theirs": {**fake, "env": {"PLAIN": "s3cret"}}, "far": {"type": "http", "url": "https://a.test/x?k=s3cret"}})
    project(world, {"undecided": fake})
    world.settings(mcpServers={"mine": fake}, mcp={"allowed": ["MINE", " Theirs"]})
    done = world.command("config", "--origin")
    lines = {line.split(" = ")[0]: line for line in done.text.splitlines()}
    assert "# user" in lines["mcp.allowed"] and "# user" in lines["mcpServers.mine"]
    assert lines["mcpServers.theirs"].endswith("# Claude Code %s" % (world.home / ".claude.json"))
    assert "PLAIN" in lines["mcpServers.theirs"] and "https://a.test/x" in lines["mcpServers.far"]
    assert "s3cret" not in done.text and "mcpServers.undecided" not in lines


def test_names_are_compared_without_regard_to_case(world):
    servers = {"Mine": world.server(), "Other": world.server()}
    world.settings(mcpServers=servers, mcp={"allowed": ["mINE "]})
    assert {name: row["state"] for name, row in listed(world).items()} == {"Mine": "unknown", "Other": "off"}
    world.settings(mcpServers=servers, mcp={"excluded": ["MINE"]})
    assert {name: row["state"] for name, row in listed(world).items()} == {"Mine": "off", "Other": "unknown"}
    assert world.command("mcp", "enable", "Mine").code != 0


def test_unknown_members_are_named_once(world):
    world.use({"fake": {**world.server(), "includeTool": ["say"], "zzz": 1}})
    done = world.command("mcp", "list")
    assert done.err.count("mcpServers.fake.includeTool ") == 1 and '"includeTools" is like it' in done.err
    assert "mcpServers.fake.zzz is no member" in done.err and done.code == 0
