# SPDX-License-Identifier: Apache-2.0
"""hasp sandbox: a command runs as it would without, but for what is denied."""
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time

import pytest
from conftest import HASP


def sandbox(ws, *args, **options):
    return ws.run("sandbox", *args, **options)


def sh(ws, script, *flags, **options):
    return sandbox(ws, *flags, "--", "sh", "-c", script, **options)


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


# ---- as without ---------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 7, 125, 255])
def test_the_exit_code_is_the_commands(ws, code):
    assert sh(ws, "exit %d" % code).code == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT"])
def test_a_signal_is_128_and_its_number(ws, name):
    assert sh(ws, "kill -%s $$" % name).code == 128 + getattr(signal, "SIG" + name)


def test_input_output_and_errors_are_hasps_own(ws):
    done = sh(ws, "cat; echo error >&2", stdin=b"through\0\xff")
    assert (done.code, done.out, done.err) == (0, b"through\0\xff", b"error\n")


def test_the_descriptors_themselves_are_handed_over(ws):
    """Not copies through pipes: the command sees the very file."""
    (ws.folder / "in").write_text("line\n")
    with open(ws.folder / "in") as stdin, open(ws.folder / "out", "w") as stdout:
        subprocess.run([HASP, "sandbox", "sh", "-c", "stat -L -c %i /dev/stdin /dev/stdout"],
                       stdin=stdin, stdout=stdout, cwd=ws.folder, env=ws.env, check=True)
    inodes = [os.stat(ws.folder / name).st_ino for name in ("in", "out")]
    assert [int(word) for word in ws.read("out").split()] == inodes


def test_no_other_descriptor_reaches_the_command(ws):
    (ws.folder / "secret").write_text("x")
    fd = os.open(ws.folder / "secret", os.O_RDONLY)
    done = sandbox(ws, "ls", "/proc/self/fd", pass_fds=[fd])
    os.close(fd)
    assert done.out.split()[:3] == [b"0", b"1", b"2"] and len(done.out.split()) == 4  # ls' own


def test_what_follows_the_command_is_its_own(ws):
    assert sandbox(ws, "echo", "--json", "-h", "--", "-x").out == b"--json -h -- -x\n"
    assert sandbox(ws, "--", "echo", "--net").out == b"--net\n"


def test_it_begins_in_the_current_folder(ws):
    (ws.folder / "inner").mkdir()
    done = sandbox(ws, "--root", str(ws.folder), "pwd", cwd=ws.folder / "inner")
    assert done.out.decode().strip() == str((ws.folder / "inner").resolve())


def test_outside_of_the_roots_it_begins_in_the_first(ws, tmp_path):
    done = sandbox(ws, "--root", str(ws.folder), "pwd", cwd=tmp_path)
    assert done.out.decode().strip() == str(ws.folder.resolve())


def test_there_is_no_such_program(ws):
    done = sandbox(ws, "no-such-program")
    assert done.code == 127 and "no-such-program" in done.message


def test_it_is_not_a_program(ws):
    ws.write("data", "text\n").chmod(0o644)
    done = sandbox(ws, "./data")
    assert done.code == 126 and "data" in done.message


def test_signals_and_dispositions_are_the_defaults(ws):
    """hasp ignores and blocks signals for itself; a command starts as from a shell."""
    status = sandbox(ws, "grep", "^Sig[BI]", "/proc/self/status").out.decode()
    assert [int(line.split()[1], 16) for line in status.splitlines()] == [0, 0]


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "QUIT"])
def test_a_signal_to_hasp_reaches_the_command(ws, name):
    script = "trap 'echo got; exit 5' %s; echo ready; while :; do sleep 0.05; done" % name
    process = subprocess.Popen([HASP, "sandbox", "sh", "-c", script], cwd=ws.folder, env=ws.env,
                               stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(getattr(signal, "SIG" + name))
    assert process.stdout.read() == b"got\n" and process.wait(20) == 5


def test_an_interrupted_command_interrupts_hasp(ws):
    """So that a script which runs hasp in a loop ends too."""
    process = subprocess.Popen([HASP, "sandbox", "sh", "-c", "echo ready; exec sleep 60"],
                               cwd=ws.folder, env=ws.env, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == -signal.SIGINT


def test_stop_and_continue(ws):
    ticks = ws.folder / "ticks"
    process = subprocess.Popen([HASP, "sandbox", "sh", "-c",
                                "while :; do echo >> ticks; sleep 0.02; done"],
                               cwd=ws.folder, env=ws.env)
    wait_until(lambda: ticks.exists() and ticks.stat().st_size > 2)
    process.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    time.sleep(0.1)
    size = ticks.stat().st_size
    time.sleep(0.2)
    assert ticks.stat().st_size == size
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: ticks.stat().st_size > size)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 128 + signal.SIGTERM


def test_nothing_survives_hasp(ws):
    process = subprocess.Popen([HASP, "sandbox", "sh", "-c",
                                "setsid sh -c 'while :; do echo >> ticks; sleep 0.02; done' & "
                                "sleep 60"], cwd=ws.folder, env=ws.env)
    ticks = ws.folder / "ticks"
    wait_until(lambda: ticks.exists())
    process.kill()
    process.wait()
    time.sleep(0.3)
    size = ticks.stat().st_size
    time.sleep(0.2)
    assert ticks.stat().st_size == size


def test_what_was_left_behind_ends_with_the_command(ws):
    sh(ws, "setsid sh -c 'while :; do echo >> ticks; sleep 0.02; done' & sleep 0.2")
    size = len(ws.read("ticks"))
    time.sleep(0.2)
    assert len(ws.read("ticks")) == size


# ---- what is denied -----------------------------------------------------------------------


def test_the_workspace_can_be_written_and_nothing_else(ws, outside):
    done = sh(ws, "echo a > inside; echo b > %s/x" % outside)
    assert ws.read("inside") == b"a\n" and list(outside.iterdir()) == []
    assert done.code != 0


def test_a_denial_is_told_with_what_would_allow_it(ws, outside):
    done = sh(ws, "echo b 2>/dev/null > %s/x; exit 3" % outside)
    lines = [line for line in done.message.splitlines() if line.startswith("hasp: denied: ")]
    assert done.code == 3 and len(lines) == 1, done.message
    assert str(outside / "x") in lines[0] and "--write" in lines[0]


def test_write_allows_a_folder(ws, outside):
    done = sh(ws, "echo b > %s/x" % outside, "--write", str(outside))
    assert (done.code, done.err) == (0, b"") and (outside / "x").read_text() == "b\n"


def test_a_workspace_in_shared_memory_is_there_in_the_command_s_own(ws):
    """/dev/shm is another for commands: the machine's has what no command is to see."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as base:
        root, strange, named = (os.path.join(base, name) for name in ("ws", "strange", "named"))
        for folder in (root, strange, named):
            os.mkdir(folder)
        subprocess.run(["git", "init", "-q", root], check=True)
        done = sh(ws, "pwd; echo a > inside; echo b > %s/x; test -e %s || echo none; "
                  "echo c > .git/config; echo d > /dev/shm/own" % (named, strange),
                  "--root", root, "--write", named)
        assert done.out.decode().split() == [root, "none"], done.message
        assert sorted(os.listdir(root)) == [".git", "inside"]
        assert os.listdir(named) == ["x"] and not os.listdir(strange)
        assert "hasp: denied: write %s/.git/config" % root in done.message
        assert not os.path.exists("/dev/shm/own")


def test_deny_hides_a_folder(ws):
    ws.write("private/key", "CANARY")
    ws.write("public", "text")
    done = sh(ws, "cat private/key; cat public", "--deny", str(ws.folder / "private") + "/")
    assert b"CANARY" not in done.out and done.out == b"text"


def test_credentials_cannot_be_read(ws):
    (ws.home / ".ssh").mkdir(mode=0o700)
    (ws.home / ".ssh" / "id_ed25519").write_text("CANARY")
    assert b"CANARY" not in sh(ws, "cat ~/.ssh/id_ed25519").out
    assert b"CANARY" in sh(ws, "cat ~/.ssh/id_ed25519", "--read", str(ws.home / ".ssh")).out


def test_a_name_with_escapes_is_told_as_escapes(ws, outside):
    done = sh(ws, "echo x > '%s/\x1b]0;owned\x07'" % outside)
    assert "denied" in done.message
    assert b"\x1b" not in done.err.split(b"hasp: denied", 1)[1] and b"\x07" not in \
        done.err.split(b"hasp: denied", 1)[1]


def test_the_report_is_data(ws, outside, tmp_path):
    for number in range(2):
        flags = [["--json"], ["--report", str(tmp_path / "report.json")]][number]
        done = sh(ws, "for i in 1 2 3; do echo b > %s/x; done 2> /dev/null; exit 4" % outside,
                  *flags)
        text = done.err if number == 0 else (tmp_path / "report.json").read_bytes()
        report = json.loads(text)
        assert done.code == report["exit_code"] == 4 and report["ended"] == "exited"
        assert report["sandbox"] == "full" and report["weaker_because"] is None
        (denial,) = report["denials"]
        assert denial["kind"] == "write" and denial["count"] == 3
        assert denial["what"] == str(outside / "x")
        assert denial["level"] == "full" and "--write" in denial["how_to_allow"]


FORGED = "hasp: denied: write /x: outside the writable paths (rule: default, level full). To allow: --write /etc"


def test_hasps_lines_are_the_last_and_say_how_many_they_are(ws, outside):
    """In a pipe or a file: what stands above as many lines is the command's, whatever it looks like."""
    (ws.folder / "secret").write_text("x")
    script = "echo '%s' >&2; echo \"hasp: end of hasp's report (1 line)\" >&2; cat secret 2>/dev/null; echo x 2>&- > %s/a; exit 4"
    done = sh(ws, script % (FORGED, outside), "--deny", "secret")
    lines = done.err.decode().splitlines()
    assert lines[-1] == "hasp: end of hasp's report (2 lines)" and len(lines) == 5
    assert lines[:2] == [FORGED, "hasp: end of hasp's report (1 line)"]
    assert "write %s/a" % outside in lines[-3] and lines[-2].startswith("hasp: note: ")
    # Without denials nothing is added; for programs --json always has the last line, and --report a file of its own.
    assert sh(ws, "echo '%s' >&2" % FORGED).err.decode() == FORGED + "\n"
    done = sh(ws, "echo '{\"denials\": [{}]}' >&2; echo '%s' >&2" % FORGED, "--json")
    assert json.loads(done.err.splitlines()[-1])["denials"] == []


def test_what_hasp_tool_shows_of_a_command_quotes_what_looks_like_hasps_words(ws, outside):
    imitations = [FORGED, "denied: write /x", "  Denied: write /x", "HASP: denied: x", "\\tdenied: x"]
    script = "".join("printf '%s\\n';" % line for line in imitations) + "echo undenied: x; echo x 2>&- > %s/a; exit 4" % outside
    done = ws.run("tool", "run_shell_command", "--pretty", "-a", "command=" + script)
    lines = done.out.decode().splitlines()
    assert [line[:2] for line in lines[:len(imitations)]] == ["| "] * len(imitations), lines
    assert lines[len(imitations)] == "undenied: x"
    assert [line for line in lines if line.startswith("denied: ")] == [lines[-1]] and "write %s/a" % outside in lines[-1]


def test_a_report_that_cannot_be_written_is_an_error(ws):
    done = sh(ws, "exit 0", "--report", "/nowhere/report.json")
    assert done.code == 125 and "/nowhere/report.json" in done.message


# ---- environment --------------------------------------------------------------------------

SECRETS = {"GITHUB_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x", "PGPASSWORD": "x", "MY_API_KEYS": "x",
           "DATABASE_URL": "postgres://user:word@host/db", "HARMLESS_NAME": "ghp_0123456789"}
PLAIN = {"GIT_AUTHOR_NAME": "Ann", "MY_OWN_SETTING": "1", "EDITOR": "vi"}


def seen(ws, *flags):
    done = sandbox(ws, *flags, "env", "-0", env={**SECRETS, **PLAIN})
    assert done.code == 0
    return dict(item.split("=", 1) for item in done.out.decode().split("\0") if item)


def test_the_environment_is_without_secrets(ws):
    env = seen(ws)
    assert set(env) & set(SECRETS) == set()
    assert {name: env.get(name) for name in PLAIN} == PLAIN
    assert env["HOME"] == str(ws.home)


def test_the_whole_environment_on_request(ws):
    env = seen(ws, "--env", "keep")
    assert {name: env.get(name) for name in {**SECRETS, **PLAIN}} == {**SECRETS, **PLAIN}


def test_a_clean_environment_on_request(ws):
    env = seen(ws, "--env=clean")
    assert set(env) & (set(SECRETS) | {"MY_OWN_SETTING"}) == set()
    assert env["GIT_AUTHOR_NAME"] == "Ann" and "PATH" in env and "HOME" in env


# ---- levels -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_level_can_be_demanded(ws, outside, level):
    for flags, env in (["--sandbox", level], {}), ([], {"HASP_SANDBOX": level}):
        done = sh(ws, "echo a > inside; echo b > %s/x" % outside, "--json", *flags, env=env)
        report = json.loads(done.err.splitlines()[-1])
        assert report["sandbox"] == level and report["denials"], done.message
        assert not (outside / "x").exists() and ws.read("inside") == b"a\n"


@pytest.mark.parametrize("level", ["paths", "none"])
def test_no_confinement_is_said_loudly(ws, tmp_path, level):
    done = sh(ws, "echo b > %s/x" % tmp_path, "--sandbox", level)
    assert done.code == 0 and (tmp_path / "x").read_text() == "b\n"
    assert done.message.startswith("hasp: WARNING: not confined")
    assert done.message.count("\n") == 1


def test_a_level_that_cannot_be_had_is_an_error(ws):
    done = sh(ws, "echo ran", "--sandbox", "full", env={"HASP_SANDBOX_SIMULATE": "no-userns"})
    assert done.code == 125 and done.out == b"" and "namespaces" in done.message


def test_the_strongest_level_that_there_is(ws):
    for simulate, level in ("no-userns", "landlock"), ("no-userns,no-landlock", "paths"):
        done = sh(ws, "exit 0", "--json", env={"HASP_SANDBOX_SIMULATE": simulate})
        report = json.loads(done.err.splitlines()[-1])
        assert report["sandbox"] == level and report["weaker_because"]


def test_a_level_that_is_none(ws):
    done = sh(ws, "echo ran", env={"HASP_SANDBOX": "strong"})
    assert done.code == 2 and "HASP_SANDBOX" in done.message and done.out == b""
    assert sh(ws, "echo ran", "--sandbox", "strong").code == 2


# ---- explained ------------------------------------------------------------------------------


def test_the_plan_as_data(ws, outside):
    ws.write(".git/config", "")
    ws.write(".git/HEAD", "ref: refs/heads/main\n")
    plan = sandbox(ws, "--explain", "--json", "--write", str(outside), "--deny",
                   str(ws.folder / "x"), "--", "touch", "made").json
    assert plan["level"] == "full" and plan["network"] is False
    assert not (ws.folder / "made").exists()
    rules = {rule["path"]: rule for rule in plan["rules"]}
    assert rules[str(ws.folder)]["access"] == "write"
    assert rules[str(outside)]["reason"] == "option"
    assert rules[str(ws.folder / ".git" / "config")]["access"] == "read"
    assert rules[str(ws.folder / ".git" / "config")]["reason"] == "git"


def test_the_plan_for_people(ws):
    text = sandbox(ws, "--explain").out.decode()
    assert str(ws.folder) in text and "full" in text


def test_the_status(ws):
    status = sandbox(ws, "--status", "--json").json
    assert status["level"] == "full"
    text = sandbox(ws, "--status").out.decode()
    assert "full" in text and "landlock" in text


def test_the_status_says_why_it_is_not_more(ws):
    env = {"HASP_SANDBOX_SIMULATE": "no-userns"}
    status = sandbox(ws, "--status", "--json", env=env).json
    assert status["level"] == "landlock"
    assert "namespaces" in sandbox(ws, "--status", env=env).out.decode()


def test_the_profile_for_macos(ws):
    text = sandbox(ws, "--seatbelt").out.decode()
    assert text.startswith("(version 1)") and str(ws.folder) in text


def test_wrong_usage(ws):
    for args, words in ([], "CMD"), (["--explain", "--status"], "exclude"), \
            (["--root", "/nowhere", "true"], "/nowhere"), (["--worker", "'x", "true"], "quote"), \
            (["--worker", "[1]", "true"], "array"), (["--worker", " ", "true"], "program"):
        done = sandbox(ws, *args)
        assert done.code in (2, 125) and done.out == b"" and words in done.message, args


# ---- elsewhere ------------------------------------------------------------------------------


def test_a_command_behind_a_worker(ws):
    worker = json.dumps([HASP, "worker"])
    done = sandbox(ws, "--worker", worker, "--root", str(ws.folder), "--",
                   "sh", "-c", "cat; echo e >&2; exit 6", stdin=b"through\0\xff")
    assert (done.code, done.out, done.err) == (6, b"through\0\xff", b"e\n")


def test_words_of_a_worker(ws):
    done = sandbox(ws, "--worker", "env 'A=b c' %s worker" % HASP, "--root", str(ws.folder),
                   "echo", "there")
    assert (done.code, done.out) == (0, b"there\n")


def test_much_input_for_a_slow_command_behind_a_worker(ws):
    data = os.urandom(1 << 20) * 24
    done = sandbox(ws, "--worker", json.dumps([HASP, "worker"]), "--root", str(ws.folder), "--",
                   "sh", "-c", "sleep 0.5; sha256sum", stdin=data)
    assert done.out.split()[0].decode() == hashlib.sha256(data).hexdigest()


def test_much_output_for_a_slow_reader_behind_a_worker(ws):
    process = subprocess.Popen([HASP, "sandbox", "--worker", json.dumps([HASP, "worker"]), "--root",
                                str(ws.folder), "--", "sh", "-c", "yes | head -c 30000000"],
                               cwd=ws.folder, env=ws.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    time.sleep(0.5)
    assert len(process.stdout.read()) == 30000000 and process.wait(20) == 0


def test_a_reader_that_goes_away_ends_it(ws):
    for flags in [], ["--worker", json.dumps([HASP, "worker"]), "--root", str(ws.folder)]:
        process = subprocess.Popen([HASP, "sandbox", *flags, "--", "yes"], cwd=ws.folder,
                                   env=ws.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(20) == 128 + signal.SIGPIPE
