# SPDX-License-Identifier: Apache-2.0
"""The level that hasp says is the one in force, also where the kernel refuses what it was believed to
allow; and nothing runs unconfined unless that was said before."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HASP, Done, program

pytestmark = pytest.mark.rows_in_turn(3)

REFUSED = [sys.executable, str(Path(__file__).with_name("refused.py"))]
COMMAND = 'echo "level $HASP_LEVEL"; echo text > "$0"'


def without_namespaces(kind):
    """More namespaces of a kind cannot be made; nothing tells that but trying."""
    return ["unshare", "-Ur", "sh", "-c",
            'echo 0 > /proc/sys/user/max_%s_namespaces && exec "$@"' % kind, "sh"]


def run(ws, prefix, *args, env=None):
    done = subprocess.run([*prefix, program(env), *args], cwd=ws.folder, env={**ws.env, **(env or {})},
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def shell_tool(ws, prefix, target, **options):
    command = json.dumps({"command": COMMAND.replace("$0", str(target))})
    return run(ws, prefix, "tool", "run_shell_command", command, **options)


REFUSALS = [without_namespaces("net"), without_namespaces("ipc"), [*REFUSED, "symlinkat"]]


@pytest.mark.parametrize("prefix", REFUSALS, ids=["net", "ipc", "links"])
def test_a_tool_says_the_level_that_its_command_had(ws, outside, prefix):
    result = shell_tool(ws, prefix, outside / "new").json
    assert result["sandbox"] == "landlock"
    assert result["output"].startswith("level landlock\n")
    assert [denial["level"] for denial in result["denials"]] == ["landlock"]
    assert not (outside / "new").exists()


@pytest.mark.parametrize("prefix", REFUSALS, ids=["net", "ipc", "links"])
def test_a_command_says_the_level_that_it_had(ws, outside, prefix):
    done = run(ws, prefix, "sandbox", "--json", "--env", "clean", "--", "sh", "-c", COMMAND,
               str(outside / "new"))
    report = json.loads(done.message.splitlines()[-1])
    assert done.out == b"level landlock\n" and report["sandbox"] == "landlock"
    assert [denial["level"] for denial in report["denials"]] == ["landlock"]
    assert not (outside / "new").exists()


def test_the_reason_is_what_the_kernel_refused(ws):
    done = run(ws, [*REFUSED, "symlinkat"], "sandbox", "--json", "--", "true")
    report = json.loads(done.message.splitlines()[-1])
    assert "mount step" in report["weaker_because"] and "asked for" not in done.message


@pytest.mark.parametrize("prefix,simulate", [
    ([*REFUSED, "landlock_restrict_self"], ""), ([*REFUSED, "symlinkat"], "no-landlock"),
], ids=["landlock", "links"])
def test_nothing_is_run_unconfined_in_place_of_confined(ws, outside, prefix, simulate):
    env = {"HASP_SANDBOX_SIMULATE": simulate}
    done = run(ws, prefix, "sandbox", "--", "sh", "-c", COMMAND, str(outside / "new"), env=env)
    assert done.code == 125 and done.out == b""
    assert "refused" in done.message and "--sandbox paths" in done.message
    shell_tool(ws, prefix, outside / "new", env=env)
    assert list(outside.iterdir()) == []
    # Whoever asks for that gets it.
    done = run(ws, prefix, "sandbox", "--sandbox", "paths", "--", "sh", "-c", COMMAND,
               str(outside / "new"), env=env)
    assert done.code == 0 and (outside / "new").exists()


def test_a_level_that_was_given_is_not_weakened(ws, outside):
    done = run(ws, [*REFUSED, "symlinkat"], "sandbox", "--sandbox", "full", "--", "sh", "-c",
               COMMAND, str(outside / "new"))
    assert done.code == 125 and "mount step" in done.message and done.out == b""


def test_a_level_that_cannot_be_had_is_told_with_its_own_remedy(ws):
    done = run(ws, [], "sandbox", "--sandbox", "landlock", "--", "true",
               env={"HASP_SANDBOX_SIMULATE": "no-landlock"})
    assert done.code == 125 and "Landlock is not switched on" in done.message
    assert "lsm=landlock" in done.message


# ---- the level that was asked for ------------------------------------------------------------


# hasp -p: test/headless/test_required_level.py
COMMANDS = [["tool", "list_directory", '{"path": "."}'], ["sandbox", "--json", "--", "true"],
            ["sandbox", "--status", "--json"], ["sandbox", "--explain", "--json"], ["serve", "mcp"]]
NAMES = ["tool", "sandbox", "status", "explain", "serve"]
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"}}}


def run_command(ws, command, *flags, **options):
    stdin = json.dumps(HELLO).encode() + b"\n" if command[0] == "serve" else b""
    return ws.run(*command[:1], *flags, *command[1:], stdin=stdin, **options)


def level_of(ws, command, *flags, **options):
    done = run_command(ws, command, *flags, **options)
    document = json.loads(done.out.splitlines()[0] if command[0] == "serve" else
                          done.out or done.message.splitlines()[-1])
    if command[0] == "serve":
        return re.search(r"level (\w+)", document["result"]["instructions"])[1]
    return document.get("sandbox") or document["level"]


def user_settings(ws, level):
    path = ws.home / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hasp": {"sandbox": {"level": level}}}))
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_users_setting_holds_unless_something_else_is_said(ws, command):
    assert level_of(ws, command) == "full"
    user_settings(ws, "landlock")
    assert level_of(ws, command) == "landlock"
    assert level_of(ws, command, "--sandbox", "full") == "full"
    assert level_of(ws, command, "--sandbox", "auto") == "full"
    assert level_of(ws, command, env={"HASP_SANDBOX": "auto"}) == "full"
    assert level_of(ws, command, env={"HASP_SANDBOX": "full"}) == "full"


def requires(ws, scope, level):
    """Settings that require a level; what must be in the environment besides."""
    if scope == "user":
        user_settings(ws, level)
        return {}
    path = ws.home / "system.json"
    path.write_text(json.dumps({"hasp": {"sandbox": {"level": level}}}))
    return {ADMINISTRATORS[scope]: str(path)}


ADMINISTRATORS = {"administrator": "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
                  "administrator's defaults": "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"}


@pytest.mark.parametrize("scope", ["user", *ADMINISTRATORS])
@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_variable_never_lowers_what_is_required(ws, command, scope):
    system = requires(ws, scope, "full")
    for level in "paths", "none", "landlock":
        done = run_command(ws, command, env={"HASP_SANDBOX": level, **system})
        assert done.code in (1, 2, 125) and done.out == b"", level
        assert "HASP_SANDBOX asks for the sandbox level %s" % level in done.message
        assert "hasp.sandbox.level" in done.message
        assert "the %s requires full" % scope.split("'")[0] in done.message
    assert level_of(ws, command, env={"HASP_SANDBOX": "auto", **system}) == "full"
    requires(ws, scope, "landlock")
    assert level_of(ws, command, env={"HASP_SANDBOX": "full", **system}) == "full"


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_flag_lowers_the_users_own_requirement_and_says_so(ws, command):
    requires(ws, "user", "full")
    done = run_command(ws, command, "--sandbox", "landlock")
    assert done.code == 0
    assert "--sandbox landlock overrides the level full that hasp.sandbox.level requires" in done.message
    assert "settings.json, line 1" in done.message


@pytest.mark.parametrize("scope", ADMINISTRATORS)
@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_nobody_lowers_the_administrators_requirement(ws, command, scope):
    system = requires(ws, scope, "full")
    if scope == "administrator":
        user_settings(ws, "paths")
    assert level_of(ws, command, env=system) == "full"
    for level in "landlock", "paths", "none":
        done = run_command(ws, command, "--sandbox", level, env=system)
        assert done.code in (1, 2, 125) and done.out == b"", level
        assert "administrator requires full" in done.message
    assert level_of(ws, command, "--sandbox", "auto", env=system) == "full"


@pytest.mark.parametrize("variable", ADMINISTRATORS.values(), ids=ADMINISTRATORS)
def test_nobody_gives_the_network_that_the_administrator_forbids(ws, variable):
    path = ws.home / "system.json"
    path.write_text(json.dumps({"tools": {"sandboxNetworkAccess": False}}))
    done = ws.run("sandbox", "--net", "true", env={variable: str(path)})
    assert done.code in (2, 125) and "administrator forbids" in done.message
    assert str(path) in done.message


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_users_settings_replace_the_administrators_defaults(ws, command):
    system = requires(ws, "administrator's defaults", "full")
    user_settings(ws, "landlock")
    assert level_of(ws, command, env=system) == "landlock"
    assert run_command(ws, command, "--sandbox", "paths", env=system).code == 0


def test_the_installed_program_knows_no_simulation(ws):
    done = run(ws, [], "sandbox", "--status", "--json")
    for what in "no-userns", "no-userns,no-landlock,no-seccomp", "no-cgroup":
        env = {**ws.env, "HASP_SANDBOX_SIMULATE": what}
        same = subprocess.run([HASP, "sandbox", "--status", "--json"], cwd=ws.folder, env=env,
                              capture_output=True, timeout=300, check=True)
        assert json.loads(same.stdout) == done.json, what


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_projects_setting_never_counts(ws, command):
    ws.write(".gemini/settings.json", json.dumps({"hasp": {"sandbox": {"level": "paths"}}}))
    ws.write(".env", "GEMINI_CLI_SYSTEM_SETTINGS_PATH=.gemini/settings.json\n")
    trusted = ws.home / ".gemini" / "trustedFolders.json"
    trusted.parent.mkdir()
    trusted.write_text(json.dumps({str(ws.folder): "TRUST_FOLDER"}))
    assert level_of(ws, command) == "full"
    user_settings(ws, "landlock")
    assert level_of(ws, command) == "landlock"


@pytest.mark.parametrize("command", COMMANDS[:3], ids=["tool", "sandbox", "status"])
def test_a_setting_that_cannot_be_had_or_read_is_an_error(ws, command):
    path = user_settings(ws, "full")
    done = ws.run(*command, env={"HASP_SANDBOX_SIMULATE": "no-userns"})
    assert done.code in (2, 125) and done.out == b"" and "full is not available here" in done.message
    path.write_text("{")
    done = ws.run(*command)
    assert done.code == 2 and done.out == b"" and "settings.json" in done.message


def test_the_status_is_of_the_level_asked_for(ws):
    for env, flags in ({"HASP_SANDBOX": "landlock"}, []), ({}, ["--sandbox", "landlock"]):
        text = ws.run("sandbox", "--status", *flags, env=env).out.decode()
        assert text.startswith("level        landlock\n") and "put back if a command" in text
    done = ws.run("sandbox", "--status", "--sandbox", "full",
                  env={"HASP_SANDBOX_SIMULATE": "no-userns"})
    assert done.code == 2 and done.out == b"" and "full is not available here" in done.message


def test_the_status_takes_no_command(ws):
    done = ws.run("sandbox", "--status", "touch", "made")
    assert done.code == 2 and done.out == b"" and "takes no command" in done.message
    assert not (ws.folder / "made").exists()


@pytest.mark.parametrize("flag", ["--write", "--read", "--deny", "--root"])
def test_an_empty_path_is_a_mistake(ws, flag):
    for command in ["sandbox", flag, "", "--", "true"], ["tool", flag, "", "glob", "{}"]:
        done = ws.run(*command)
        assert done.code == 2 and done.out == b""
        assert "%s requires a path" % flag in done.message


def test_a_server_keeps_to_the_users_setting(ws):
    for level, words in ("landlock", "level landlock"), ("paths", "level paths"):
        user_settings(ws, level)
        done = ws.run("serve", "mcp", stdin=json.dumps(HELLO).encode() + b"\n")
        assert words in json.loads(done.out.splitlines()[0])["result"]["instructions"]


def test_a_setting_that_is_no_level_is_an_error_unless_the_user_waives_it(ws):
    path = user_settings(ws, "ful")
    done = ws.run("sandbox", "--json", "--", "true")
    assert done.code != 0 and '"hasp.sandbox.level" must be' in done.message
    path.write_text(json.dumps({"hasp": {"sandbox": {"level": "ful"}, "ignoreUnknownRules": True}}))
    done = ws.run("sandbox", "--json", "--", "true")
    assert done.code == 0 and "hasp.sandbox.level" in done.message.splitlines()[0]
    assert json.loads(done.message.splitlines()[-1])["sandbox"] == "full"


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_hasp_inside_makes_no_noise_about_control_groups(ws, level):
    """It finds out what it can have; an attempt of another program there is told."""
    script = "'%s' sandbox true; mkdir /sys/fs/cgroup/mine" % HASP
    report = json.loads(ws.run("sandbox", "--sandbox", level, "--json", "--", "sh", "-c",
                               script).message.splitlines()[-1])
    told = [denial["what"] for denial in report["denials"] if denial["kind"] == "write"]
    assert told == ["/sys/fs/cgroup/mine"]
