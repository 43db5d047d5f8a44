# SPDX-License-Identifier: Apache-2.0
"""What must work inside, and what a model's own arguments must not widen (part E 15 and 17; A9)."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn("level")

HASP = os.environ["HASP"]


@pytest.fixture(name="top")
def a_top():
    with tempfile.TemporaryDirectory(prefix="hasp-attack-", dir="/var/tmp") as top:
        for name in ("work/sub", "outside", "home"):
            Path(top, name).mkdir(parents=True)
        Path(top, "outside/target").write_text("TARGET\n")
        subprocess.run(["git", "init", "-q", Path(top, "work")], check=True)
        yield Path(top)


def hasp(top, *argv, level="full"):
    env = {"PATH": os.environ["PATH"], "HOME": str(top / "home"), "HASP_SANDBOX": level}
    return subprocess.run([HASP, *argv], cwd=top / "work", env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)


WORKS = {
    "reading of what is not hidden (A9 1)": "ls / && cat /etc/passwd",
    "/dev/null (A9 3)": "echo x > /dev/null && test ! -s /dev/null",
    "devices (A9 4)": "for d in zero urandom random; do head -c 1 /dev/$d > /dev/null || exit 1; done; "
                      "! echo x > /dev/full",
    "shared memory (A9 5)": "echo x > /dev/shm/$$.hasp && rm /dev/shm/$$.hasp",
    "the workspace (A9 6)": "mkdir a && echo x > a/b && mv a c && chmod 600 c/b && ln c/b d && "
                            "ln -s b c/e && touch -d 2020-01-01 d && rm -r c d",
    "moving between folders": "mkdir a b && echo x > a/x && /usr/bin/python3 -c "
                              "'import os; os.rename(\"a/x\", \"b/y\"); os.link(\"b/y\", \"a/z\")'",
    "temporary files": "f=$(mktemp) && echo x > $f && rm $f",
    "loopback": "/usr/bin/python3 -c 'import socket; s = socket.socket(); "
                "s.bind((\"127.0.0.1\", 0)); s.listen(); c = socket.create_connection("
                "s.getsockname()); a = s.accept()[0]; c.send(b\"x\"); assert a.recv(1) == b\"x\"'",
    "unix sockets of its own": "/usr/bin/python3 -c 'import socket; s = socket.socket("
                               "socket.AF_UNIX); s.bind(\"s\"); s.listen(); "
                               "socket.socket(socket.AF_UNIX).connect(\"s\")'",
    "signals to its own": "sleep 9 & kill $! && ! wait $!",
    "the repository above (A9 25)": "cd sub && git status && git rev-parse --show-toplevel",
    "threads and pipes": "seq 1000 | xargs -P 4 -n 100 echo | wc -l",
}


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("name", WORKS)
def test_works(top, name, level):
    ended = hasp(top, "sandbox", "--", "sh", "-c", WORKS[name], level=level)
    assert ended.returncode == 0, ended.stdout
    assert "denied" not in ended.stdout


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("user", ["root", "nobody"])
@pytest.mark.parametrize("mask", ["0777", "0700", "0377", "0077", "0027", "0"])
def test_a_umask_takes_nothing_from_what_is_hasps(top, mask, user, level):
    """The command has the user's umask, but the session's folder and hasp's own belong to their user."""
    if user == "nobody" and os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534:65534", top], check=True)
        as_user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    else:
        as_user = []
    script = "test $(umask) -eq %s && : > $TMPDIR/x && mkdir $TMPDIR/d && : > y && test -e $TMPDIR/x" % mask
    env = {"PATH": os.environ["PATH"], "HOME": str(top / "home"), "HASP_SANDBOX": level}
    ended = subprocess.run([*as_user, "sh", "-c", 'umask $1; exec "$2" tool run_shell_command -a command="$3"', "sh",
                            mask, HASP, script], cwd=top / "work", env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert json.loads(ended.stdout)["exit_code"] == 0, ended.stdout
    for path in (top / "home").rglob("*"):
        assert not path.is_dir() or path.stat().st_mode & 0o777 == 0o700, path


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_nothing_is_left_behind(top, level):
    def look():
        return sorted(str(path) for path in top.rglob("*") if not path.is_relative_to(top / "home"))

    before = look()
    hasp(top, "sandbox", "--", "sh", "-c", "git status; mkdir .vscode .codex .git/commondir; "
         "git init sub; rm -rf sub/.git; echo x > $TMPDIR/x", level=level)
    assert look() == before
    assert "hasp" not in subprocess.run(["git", "status", "--porcelain"], cwd=top / "work",
                                        stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize("level", ["full", "landlock", "paths"])
def test_the_working_folder_that_a_model_names_widens_nothing(top, level):
    # E 15
    call = json.dumps({"command": "echo x > new; echo x > target", "directory": str(top / "outside")})
    answer = hasp(top, "tool", "run_shell_command", call, level=level).stdout
    assert json.loads(answer.splitlines()[-1])["error"]["code"] == "outside_workspace"
    assert [path.name for path in (top / "outside").iterdir()] == ["target"]


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_patch_of_a_file_elsewhere_grants_nothing(top, level):
    # E 17
    call = json.dumps({"file_path": str(top / "outside/x"), "content": "x"})
    answer = hasp(top, "tool", "write_file", call, level=level).stdout
    assert json.loads(answer.splitlines()[-1])["error"]["code"] == "outside_workspace"
    hasp(top, "tool", "run_shell_command", json.dumps(
        {"command": "echo x > ../outside/y; echo x > ../z"}), level=level)
    assert [path.name for path in (top / "outside").iterdir()] == ["target"]
    assert not (top / "z").exists()


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_models_command_gets_no_secrets(top, level):
    # E 73
    env = {"PATH": os.environ["PATH"], "HOME": str(top / "home"), "HASP_SANDBOX": level,
           "GEMINI_API_KEY": "CANARY1", "GITHUB_TOKEN": "CANARY2", "AWS_SECRET_ACCESS_KEY": "CANARY3",
           "SSH_AUTH_SOCK": "/CANARY4", "MY_PASSWORD": "CANARY5"}
    ended = subprocess.run([HASP, "tool", "run_shell_command", '{"command":"env; set"}'],
                           cwd=top / "work", env=env, stdout=subprocess.PIPE, text=True)
    assert ended.returncode == 0 and "PATH=" in ended.stdout
    assert "CANARY" not in ended.stdout


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_plan_of_many_long_paths(top, level):
    """Larger than what a socket takes at once, before the worker has said a word (A12)."""
    deny = [word for i in range(1400) for word in ("--deny", str(top / "work" / ("n" * 200 + str(i))))]
    ended = hasp(top, "sandbox", *deny, "--", "sh", "-c", "echo works; ! echo x > %s7" % ("n" * 200), level=level)
    assert ended.returncode == 0 and "works" in ended.stdout, ended.stdout
