# SPDX-License-Identifier: Apache-2.0
"""Calls that run unasked, and calls that an allowed prefix covers, in real programs under strace: they open nothing for
writing, change no name, connect to nothing, and run nothing but themselves."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from part import ALL, TURN, in_turn

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program_calls import Calls  # noqa: E402

SHARE = 0.15 if "ASAN_OPTIONS" in os.environ else 12 if ALL else 0.06
BATCH = 40
# sed, sort and the others, each allowed by its name; git by its reading commands.
READERS = ["sed", "find", "sort", "uniq", "awk", "gawk", "mawk", "grep", "rg", "jq", "tree", "shuf", "diff", "file", "xxd",
           "fdfind", "tail", "base64", "git log", "git show", "git diff", "git status", "git rev-list",
           "git shortlog", "git blame", "git grep", "git cat-file"]
BY_PREFIX = """[[rule]]
toolName = "run_shell_command"
commandPrefix = [%s]
decision = "allow"
priority = 100
""" % ", ".join('"%s"' % name for name in READERS)

# What does not write: reading, and devices that keep nothing.
DEVICES = re.compile(r"^/dev/(null|tty|stdout|stderr|fd/[12]|full|zero)$")
# Git refreshes what it remembers of files' times (git-status(1), "background refresh"); sort keeps what memory
# does not hold in files of its own, which are gone when it ends.
OWN = re.compile(r"(^|/)\.git/index(\.lock)?$|^/tmp/sort\w{6}$")
CALLS = "execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link," \
        "linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,fchownat,lchown,utimensat,utime,utimes,mknod,mknodat," \
        "connect,setxattr,mount,settimeofday,clock_settime,sethostname"
# What would wait until it is ended.
WAITS = re.compile(r"tail .*(-\w*[fF]|--f|--p|--retry)|(sleep|wait) |shuf .*-(-r|\w*r)")
LINE = re.compile(r"^\d+ +(\w+)\((.*)$")


class Probe:
    def __init__(self, folder, text):
        path = folder / "policy.toml"
        path.write_text(text)
        self.process = subprocess.Popen([os.environ["POLICY_PROBE"], str(path)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __call__(self, script):
        data = script.encode()
        self.process.stdin.write(b"%d\n" % len(data) + data)
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=environment(folder))


def environment(folder):
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C", "PAGER": "cat", "GIT_PAGER": "cat",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A repository whose files are options, scripts and programs."""
    folder = tmp_path_factory.mktemp("scratch")
    (folder / "sub").mkdir()
    for name, text in {"f": "b 2\na 1\nx/y \"q\"\n", "g": "a\ntouch M\nw M\n1e touch M\n", "k": "a:b\n",
                       "run": "#!/bin/sh\ntouch M\n", "args": "--output=M\n-o M\n-delete\n-i\nw M\n", "x y": "a\n",
                       "sub/f": "a\n", "-oM": "a\n", "--output=M": "a\n", "-i": "a\n", "s.sed": "w M\n"}.items():
        (folder / name).write_text(text)
    (folder / "run").chmod(0o755)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    (folder / "f").write_text("b 2\na 1\nchanged\n")
    git(folder, "commit", "-q", "-a", "-m", "two")
    git(folder, "tag", "k")
    (folder / "f").write_text("b 2\na 1\nx\n")
    git(folder, "stash", "-q")
    # What a user's own configuration has: a call must ask for it by an option to get it.
    git(folder, "config", "gpg.program", str(folder / "run"))
    return folder


def violations(trace):
    """Each system call that writes, or runs something that the line does not name."""
    found = []
    for line in trace.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        name, rest = match.groups()
        paths = re.findall(r'"((?:[^"\\]|\\.)*)"', rest)
        if name in ("execve", "execveat"):
            found.append(("runs", paths[0] if paths else "?"))
        elif name in ("open", "openat", "openat2", "creat"):
            if name == "creat" or re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", rest):
                path = paths[0] if paths else "?"
                if not DEVICES.match(path) and not OWN.search(path):
                    found.append(("writes", path))
        elif name == "connect" and "AF_UNIX" in rest:
            continue  # name services of the machine
        elif not (paths and all(OWN.search(path) for path in paths)):
            found.append((name, rest[:100]))
    return found


def trace(folder, lines):
    """The system calls of all lines; each runs in a shell of its own."""
    output = folder.parent / "trace"
    script = "".join("timeout -s KILL 2 bash -c %s </dev/null >/dev/null 2>&1\n" % quote(line) for line in lines)
    path = folder.parent / "lines.sh"
    path.write_text("export opt=--output=M\n" + script)
    subprocess.run(["strace", "-f", "-qq", "--seccomp-bpf", "-s", "200", "-e", "trace=" + CALLS, "-o", str(output),
                    "bash", str(path)], cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
    return output.read_text(errors="replace")


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def strangers(found, line):
    """Without the programs that the line names: its own, xargs' and find's; of git, git."""
    known = set(re.findall(r"[\w.+-]+", line)) - {"touch", "run"} | {"bash", "timeout"}
    return sorted({row for row in found if row[0] != "runs" or os.path.basename(row[1]) not in known})


def check(folder, lines):
    """What the lines did beyond reading: (line, kind, what)."""
    found = violations(trace(folder, lines))
    bad = strangers(found, " ".join(lines))
    if len(lines) == 1 or not (bad or any(os.path.basename(what) in ("touch", "run") for _, what in found)):
        return [(lines[0], *row) for row in bad]
    each = [row for line in lines for row in check(folder, [line])]
    # What happens once may not happen again.
    return each or [("one of %r" % lines, *row) for row in bad]


def run(scratch, tmp_path, rules, seed, count):
    copy = tmp_path / "scratch"
    shutil.copytree(scratch, copy, symlinks=True)
    probe = Probe(tmp_path, rules)
    calls = Calls(seed)
    tried, allowed, bad = 0, [], []
    while len(allowed) < count and tried < 60 * count:
        line = calls.line()
        tried += 1
        if not WAITS.search(line) and probe(line) == "allow":
            allowed.append(line)
    probe.close()
    for at in range(0, len(allowed), BATCH):
        bad += check(copy, allowed[at:at + BATCH])
    print("%d calls, %d allowed and traced, %d programs" % (
        tried, len(allowed), len({line.split()[0] for line in allowed})))
    assert not bad, "\n".join("%s: %s %s" % row for row in bad)
    assert len(allowed) == count
    return allowed


def test_what_runs_unasked_only_reads(scratch, tmp_path):
    run(scratch, tmp_path, "", 2 * TURN + 1, int(500 * SHARE))


def test_what_a_prefix_covers_only_reads(scratch, tmp_path):
    """Of programs that are there for reading: an option that writes or runs something is not covered."""
    run(scratch, tmp_path, BY_PREFIX, 2 * TURN + 2, int(500 * SHARE))


def test_the_trace_sees_what_writes_and_runs(scratch, tmp_path):
    """Else the other tests would say nothing."""
    copy = tmp_path / "scratch"
    shutil.copytree(scratch, copy, symlinks=True)
    lines = ["sed -n 'w M' f", "sed 1e'touch M' f", "find . -fprint M", "find k -delete", "git log --output=M",
             "sort -o M f", "awk '{print > \"M\"}' f", "uniq f M", "sed -i s/a/b/ f", "tree -o M",
             "find f -exec touch M \\;", "xxd f M",
             "git -c diff.external=./run diff HEAD~1", "git stash push"]
    for line in in_turn(lines, 2):
        assert check(copy, [line]), line
