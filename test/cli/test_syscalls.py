# SPDX-License-Identifier: Apache-2.0
"""hasp.sandbox.syscalls: what is forbidden on top of hasp's own filters is refused and reported, and what cannot be
understood ends the start."""
import json
import re
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LEVELS = ["full", "landlock"]

# Makes each of the calls that its arguments name, in vain: all arguments are wrong.
CALLS = """import ctypes, sys
syscall = ctypes.CDLL(None, use_errno=True).syscall
for word in sys.argv[1:]:
    name, number = word.split("=")
    ctypes.set_errno(0)
    syscall(ctypes.c_long(int(number)), *[ctypes.c_long(-1)] * 6)
    print(name, ctypes.get_errno())
"""


def groups():
    """As the source has them."""
    source = (TOP / "src/sandbox/plan/calls.c").read_text()
    table = source[source.index("groups[] = {"):source.index("/* What hasp's own start")]
    return {name: "".join(re.findall(r'"([^"]*)"', calls)).split()
            for name, calls in re.findall(r'\{ "(@[a-z-]+)", ((?:"[^"]*"\s*)+)\}', table)}


def numbers():
    for path in "/usr/include/asm/unistd_64.h", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", \
            "/usr/include/asm-generic/unistd.h":
        if Path(path).exists():
            return dict(re.findall(r"#define __NR_(\w+) (\d+)", Path(path).read_text()))
    raise AssertionError("no header names system calls")


def set_calls(ws, calls, where="home"):
    folder = getattr(ws, where) / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"hasp": {"sandbox": {"syscalls": calls}}}))


def confined(ws, level, *argv):
    return ws.run("sandbox", "--sandbox", level, "--json", "--", *argv)


def attempt(ws, level, names):
    known = numbers()
    words = ["%s=%s" % (name, known[name]) for name in names if name in known]
    done = confined(ws, level, sys.executable, "-c", CALLS, *words)
    assert done.code == 0, done.message
    return (dict(line.split() for line in done.out.decode().splitlines()),
            [one["what"] for one in json.loads(done.err)["denials"] if one["reason"] == "syscalls"])


@pytest.mark.parametrize("level", LEVELS)
def test_every_call_of_every_group_is_refused_and_reported(ws, level):
    all_groups = groups()
    assert len(all_groups) > 15 and "settimeofday" in all_groups["@clock"]
    set_calls(ws, sorted(all_groups))
    names = sorted({name for calls in all_groups.values() for name in calls} & set(numbers()))
    # What hasp makes absent (ENOSYS) or kills for its own part stays so.
    names = [name for name in names if not name.startswith("io_uring")]
    got, denied = attempt(ws, level, names)
    assert {name: code for name, code in got.items() if code != "1"} == {}
    assert set(denied) <= set(names) and len(denied) >= min(len(names), 60), denied


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["mkdir", "unlink", "rename", "connect", "socket", "chmod", "ptrace", "getcpu"])
def test_a_call_that_the_supervisor_would_allow_is_refused(ws, level, name):
    set_calls(ws, [name])
    got, denied = attempt(ws, level, [name, "getppid"])
    assert got[name] == "1" and got["getppid"] != "1" and denied == [name]


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_less_is_refused_than_without(ws, level):
    set_calls(ws, ["getcpu"])
    got, _ = attempt(ws, level, ["ptrace", "mount", "bpf"])
    assert set(got.values()) == {"1"}


@pytest.mark.parametrize("value, said", [
    (["mlokc"], '"mlokc" is neither a system call nor a group of them; did you mean "mlock"?'),
    (["@clok"], 'did you mean "@clock"?'), (["qqqqqqqq"], '"qqqqqqqq" is neither a system call nor a group of them.'),
    (["MLOCK"], "A name there is not"), ([""], "A name there is not"), (["x" * 300], "A name there is not"),
    (["execve"], "no command starts without it"), ("@clock", "must be an array of strings"),
    ([5], "must be an array of strings"), ({"a": 1}, "must be an array of strings"),
])
@pytest.mark.parametrize("command", [("sandbox", "--", "true"), ("tool", "read_file", "x.json"), ("serve", "mcp")], ids=str)
def test_what_is_no_call_ends_the_start(ws, value, said, command):
    ws.write("x.json", json.dumps({"file_path": "x.json"}))
    set_calls(ws, value)
    done = ws.run(*command)
    assert done.code != 0 and "hasp.sandbox.syscalls" in done.message and said in done.message, done.message


def test_level_paths_cannot_forbid_calls(ws):
    set_calls(ws, ["mlock"])
    done = ws.run("sandbox", "--sandbox", "paths", "--", "true")
    assert done.code != 0 and "hasp.sandbox.syscalls" in done.message, done.message


def test_the_document_has_the_groups():
    page = (TOP / "docs/sandbox.md").read_text()
    rows = dict(re.findall(r"^\| `(@[a-z-]+)` \| (.*) \|$", page, re.M))
    assert {name: re.findall(r"`(\w+)`", calls) for name, calls in rows.items()} == groups()
