# SPDX-License-Identifier: Apache-2.0
"""The level that a run with a prompt has, where the user or the administrator require one; the other
commands are in test/cli/test_levels.py."""
import json

import pytest
from fake_gemini import call, text

ADMINISTRATORS = {"administrator": "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
                  "administrator's defaults": "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"}


def requires(world, scope, level):
    """Settings that require a level; what must be in the environment besides."""
    value = {"sandbox": {"level": level}}
    if scope == "user":
        world.settings(hasp=value)
        return {}
    path = world.top / "system.json"
    path.write_text(json.dumps({"hasp": value}))
    return {ADMINISTRATORS[scope]: str(path)}


def level_of(world, *flags, env=None):
    """What a command of the model's sees, and what the model is told."""
    script = [[call("run_shell_command", {"command": "echo $HASP_LEVEL"})], [text("Done.")]]
    result = world.run(script, "-p", "x", "--yolo", *flags, env=env).results()[0]
    assert result["output"] == result["sandbox"] + "\n"
    return result["sandbox"]


def refused(world, *flags, env):
    with world.fake([]) as server:
        done = world.command("-p", "x", "--yolo", *flags, server=server, env=env)
        assert server.requests == []
    assert done.code == 44 and done.out == b"", done.err
    return done.err


def test_the_users_setting_holds_unless_something_else_is_said(world):
    requires(world, "user", "landlock")
    assert level_of(world) == "landlock"
    assert level_of(world, "--sandbox", "auto") == "full"
    assert level_of(world, env={"HASP_SANDBOX": "full"}) == "full"


@pytest.mark.parametrize("scope", ["user", *ADMINISTRATORS])
def test_a_variable_never_lowers_what_is_required(world, scope):
    system = requires(world, scope, "full")
    said = refused(world, env={"HASP_SANDBOX": "paths", **system})
    assert "HASP_SANDBOX asks for the sandbox level paths" in said
    assert "the %s requires full" % scope.split("'")[0] in said


def test_a_flag_lowers_the_users_own_requirement_and_says_so(world):
    requires(world, "user", "full")
    done = world.run([[text("Done.")]], "-p", "x", "--sandbox", "landlock")
    assert "--sandbox landlock overrides the level full that hasp.sandbox.level requires" in done.err


@pytest.mark.parametrize("scope", ADMINISTRATORS)
def test_nobody_lowers_the_administrators_requirement(world, scope):
    system = requires(world, scope, "full")
    assert "the administrator requires full" in refused(world, "--sandbox", "none", env=system)
    assert level_of(world, "--sandbox", "auto", env=system) == "full"
