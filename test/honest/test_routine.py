# SPDX-License-Identifier: Apache-2.0
"""Which denials are shown: routine ones after a failure alone, all others always, and reports have them all."""

import json
import os
import subprocess

import pytest

pytestmark = pytest.mark.in_turn("level")

HASP = os.environ["HASP"]
DATAGRAM = "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)' 2> /dev/null"
# What is refused; whether that is routine.
REFUSED = {
    "a datagram socket": (DATAGRAM, True),
    "a name server, or a datagram to it": (
        "/usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        "s.connect((\"192.0.2.1\", 53))' 2> /dev/null", True),
    "a cache in the home folder": ("mkdir ~/.npm 2> /dev/null", True),
    "a file in the home folder": ("echo x 2> /dev/null > ~/lost", False),
    "a name that only looks like a cache": ("echo x 2> /dev/null > ~/my.cache", False),
    "a server": ("/usr/bin/python3 -c 'import socket; s = socket.socket(); s.settimeout(1); "
                 "s.connect((\"192.0.2.1\", 80))' 2> /dev/null", False),
}


def run(folder, level, *argv):
    for name in ("home", "work"):
        (folder / name).mkdir(exist_ok=True)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "HASP_SANDBOX": level}
    return subprocess.run([HASP, *argv], cwd=folder / "work", env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_shown(tmp_path, name, level, code):
    script, routine = REFUSED[name]
    script += "; exit %d" % code
    shown = code != 0 or not routine
    ended = run(tmp_path, level, "sandbox", "--report", str(tmp_path / "report"), "--", "sh", "-c", script)
    assert ended.returncode == code and ("hasp: denied" in ended.stderr) == shown, ended.stderr
    denials = json.loads((tmp_path / "report").read_text())["denials"]
    assert denials and all(denial.get("routine", False) == routine for denial in denials), denials

    ended = run(tmp_path, level, "tool", "run_shell_command", json.dumps({"command": script}))
    result = json.loads(ended.stdout)
    assert result["exit_code"] == code
    assert ("denials" in result) == shown and ("see denials" in result["message"]) == shown, result


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_what_the_user_has_set_stays(tmp_path, level):
    for given, told in (("", "detect_leaks=0"), ("LSAN_OPTIONS=a", "a"), ("ASAN_OPTIONS=b", "")):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HASP_SANDBOX": level}
        env.update([given.split("=")] if given else [])
        ended = subprocess.run([HASP, "sandbox", "--", "sh", "-c",
                                'echo "$LSAN_OPTIONS" ${TMUX_TMPDIR:+tmux}'], cwd=tmp_path, env=env,
                               stdout=subprocess.PIPE, text=True, check=True)
        assert ended.stdout.split() == [*([told] if told else []),
                                        *(["tmux"] if level == "landlock" else [])]
