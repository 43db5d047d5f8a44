# SPDX-License-Identifier: Apache-2.0
"""Decisions beside a real bash: what it starts is what the rules were asked about.

The random scripts and the bash that can only write down what it would run are those of the tests of the
analysis (test/shell).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shell"))
from shell_fixture import RecordingBash  # noqa: E402
from shell_scripts import Scripts  # noqa: E402

# Sanitizers make each script ten times as slow, and find what they find in a few of them.
SHARE = 0.2 if "ASAN_OPTIONS" in os.environ else 1

DENY_A = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "a"
decision = "deny"
priority = 500
[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 100
allowRedirection = true
"""
ALLOW_SOME = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["a", "b", "c", "d", "e"]
decision = "allow"
priority = 100
allowRedirection = true
"""


class Probe:
    def __init__(self, folder, text):
        path = folder / "policy.toml"
        path.write_text(text)
        self.process = subprocess.Popen([os.environ["POLICY_PROBE"], str(path)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, script):
        data = script.encode("utf-8", "surrogateescape")
        self.process.stdin.write(b"%d\n" % len(data) + data)
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def bash():
    bash = RecordingBash()
    yield bash
    bash.close()


@pytest.mark.parametrize("seed,count,damage", [(11, 150, False), (12, 250, True)])
def test_what_is_denied_is_never_started(bash, tmp_path, seed, count, damage):
    """Whatever quotes, substitutions and wrappers stand around it."""
    probe = Probe(tmp_path, DENY_A)
    scripts = Scripts(seed)
    seen = {"allow": 0, "deny": 0, "ask_user": 0}
    for _ in range(int(count * SHARE)):
        script = scripts.damaged() if damage else scripts.script()
        decision = probe(script)
        seen[decision] += 1
        if decision == "allow":
            assert "a" not in bash(script), script
    probe.close()
    assert seen["deny"] > 0 and seen["allow"] > 0, seen


@pytest.mark.parametrize("seed,count,damage", [(13, 150, False), (14, 250, True)])
def test_what_is_allowed_starts_nothing_else(bash, tmp_path, seed, count, damage):
    probe = Probe(tmp_path, ALLOW_SOME)
    scripts = Scripts(seed)
    # Those of the rule, those that are known to be harmless, and mere wrappers.
    allowed = set("abcde") | {"true", "xargs", "timeout", "nice", "bash"}
    seen = {"allow": 0, "ask_user": 0}
    for _ in range(int(count * SHARE)):
        script = scripts.damaged() if damage else scripts.script()
        decision = probe(script)
        seen[decision] += 1
        if decision == "allow":
            assert bash(script) <= allowed, script
    probe.close()
    assert seen["allow"] > 0, seen
