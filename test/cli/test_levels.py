# SPDX-License-Identifier: Apache-2.0
"""The level that hasp says is the one in force, also where the kernel refuses what it was believed to
allow; and nothing runs unconfined unless that was said before."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HASP, Done

REFUSED = [sys.executable, str(Path(__file__).with_name("refused.py"))]
COMMAND = 'echo "level $HASP_LEVEL"; echo text > "$0"'


def without_namespaces(kind):
    """More namespaces of a kind cannot be made; nothing tells that but trying."""
    return ["unshare", "-Ur", "sh", "-c",
            'echo 0 > /proc/sys/user/max_%s_namespaces && exec "$@"' % kind, "sh"]


def run(ws, prefix, *args, env=None):
    done = subprocess.run([*prefix, HASP, *args], cwd=ws.folder, env={**ws.env, **(env or {})},
                          capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
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
