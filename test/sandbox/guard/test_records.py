# SPDX-License-Identifier: Apache-2.0
"""What the sandbox refuses leaves a record: every call on every kind of name, at both levels, as root and as another user.

Each call runs outside first: what fails there with the same error is no refusal of the sandbox's.  Then it runs inside, alone,
and where it fails with an error that a refusal has, a record must name the path.
"""

import errno
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from effective_fixture import GIT_ENV, HASP, OTHER

pytestmark = pytest.mark.in_turn("user", "level")

REFUSALS = {errno.EPERM, errno.EACCES, errno.EROFS, errno.EXDEV, errno.EBUSY}
CALLS = r"""
import ctypes, errno, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def rename_over(path):
    if libc.renameat2(-100, b"plain", -100, path.encode(), 2):
        raise OSError(ctypes.get_errno(), "")
def rename_to(path):
    open("new", "w").close()
    os.rename("new", path)
def bind(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path)
def opens(flags):
    return lambda path: os.close(os.open(path, flags))
CALLS = {
    "open": opens(os.O_WRONLY), "open to read and write": opens(os.O_RDWR), "append": opens(os.O_WRONLY | os.O_APPEND),
    "open and truncate": opens(os.O_WRONLY | os.O_TRUNC), "make": opens(os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    "make to read and write": opens(os.O_RDWR | os.O_CREAT | os.O_EXCL), "make or open": opens(os.O_RDWR | os.O_CREAT),
    "nameless": opens(os.O_RDWR | os.O_TMPFILE), "truncate": lambda path: os.truncate(path, 0), "mkdir": os.mkdir,
    "mkfifo": os.mkfifo, "symlink": lambda path: os.symlink("x", path), "link to": lambda path: os.link("plain", path),
    "link from": lambda path: os.link(path, "linked"), "rename to": rename_to, "rename from": lambda path: os.rename(path, "moved"),
    "exchange": rename_over, "unlink": os.unlink, "rmdir": os.rmdir, "chmod": lambda path: os.chmod(path, 0o700),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()), "times": os.utime,
    "attribute": lambda path: os.setxattr(path, "user.x", b"1"), "bind": bind,
}
names, done = sys.argv[1:], {}
for name in names:
    for call, run in CALLS.items():
        path = name.replace("*", call.replace(" ", "-"))
        pid = os.fork()
        if not pid:
            try:
                run(path)
            except OSError as error:
                os._exit(error.errno)
            os._exit(0)
        done[call + "|" + path] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print("calls: " + json.dumps(done))
"""
# Each name is made anew for each run; with "*" each call has one of its own, which is missing.
NAMES = {
    "git's configuration": ".git/config", "a hook": ".git/hooks/post-commit", "a missing hook": ".git/hooks/*",
    "a missing name of git's": ".git/commondir", "settings": ".vscode/settings.json", "missing settings": ".vscode/*",
    "settings in a sub-folder": "sub/.envrc", "missing settings in a sub-folder": "plain.d/.envrc", "denied": "secret",
    "outside": "../out/file", "a folder outside": "../out/folder", "missing outside": "../out/*", "beside what is hidden": "*",
    "in a new folder beside it": "made/*",
}
# At level full these calls do not reach the supervisor (docs/sandbox.md): what the kernel says is all that there is.
SILENT = {"full": {"unlink", "times", "attribute"}, "landlock": set()}


class Ground:
    def __init__(self, user):
        self.top = Path(tempfile.mkdtemp(prefix="hasp-records-", dir="/var/tmp"))
        self.top.chmod(0o755)
        self.as_user = ["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups"] if user == "user" else []
        (self.top / "script.py").write_text(CALLS)
        if self.as_user:
            os.chown(self.top, OTHER, OTHER)

    def make(self):
        shutil.rmtree(self.top / "work", ignore_errors=True)
        shutil.rmtree(self.top / "out", ignore_errors=True)
        made = self.run(["sh", "-ec", "mkdir -p home work out/folder; echo x > out/file; cd work; git init -q\n"
                         "mkdir -p .vscode sub plain.d .git/hooks\n"
                         "for name in .git/hooks/post-commit .vscode/settings.json sub/.envrc secret plain; do echo x > $name; done"],
                        self.top)
        assert made.returncode == 0, made.stdout

    def run(self, argv, folder):
        return subprocess.run([*self.as_user, *argv], cwd=folder, env=dict(GIT_ENV, HOME=str(self.top / "home")),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
                              check=False)


@pytest.fixture(scope="module", params=["root", "user"], name="ground")
def a_ground(request):
    ground = Ground(request.param)
    yield ground
    shutil.rmtree(ground.top)


def calls_of(done):
    line = next(line for line in done.stdout.splitlines() if line.startswith("calls: "))
    return json.loads(line[len("calls: "):])


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("kind", NAMES)
def test_each_refusal_has_a_record(ground, level, kind):
    ground.make()
    name = NAMES[kind]
    argv = ["sh", "-c", 'mkdir made 2>&-; exec "$@"', "sh", "/usr/bin/python3", ground.top / "script.py", name]
    outside = calls_of(ground.run(argv, ground.top / "work"))
    ground.make()
    done = ground.run([HASP, "sandbox", "--sandbox", level, "--deny", "secret", "--", *argv], ground.top / "work")
    inside = calls_of(done)
    told, silent = done.stdout.partition("hasp: ")[2], []
    for call, error in inside.items():
        what, _, path = call.partition("|")
        full = os.path.normpath(ground.top / "work" / path)
        if error in REFUSALS and outside[call] != error and what not in SILENT[level] and full not in told:
            silent.append((call, errno.errorcode[error]))
    assert not silent, "%s\n%s" % (silent, done.stdout)
    assert any(error in REFUSALS for error in inside.values()) or level == "full", "something is refused"


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_entries_of_other_processes_in_proc(level):
    """Opening one of the harmless ones is the kernel's to decide; of the others hasp refuses it and says so."""
    script = """sleep 100 & p=$!
        for name in oom_score_adj comm coredump_filter mem; do echo 0 >/proc/$p/$name; done; kill $p"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        done = subprocess.run([HASP, "sandbox", "--sandbox", level, "--", "sh", "-c", script], cwd=work,
                              capture_output=True, text=True, timeout=60, env={**GIT_ENV, "HOME": work})
    refused = [line for line in done.stderr.splitlines() if line.startswith("hasp: denied:")]
    assert len(refused) == 1 and "an entry of another process in /proc" in refused[0] and "times" not in refused[0], done.stderr
    assert "mem: Permission denied" in done.stderr


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_a_link_on_the_way_to_a_file_of_gits_is_taken_away(level):
    script = "git init -q new && cd new/.git && mv info real; ln -s real info; echo '* filter=x' >real/attributes"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        done = subprocess.run([HASP, "sandbox", "--sandbox", level, "--", "sh", "-c", script], cwd=work,
                              capture_output=True, text=True, timeout=60, env={**GIT_ENV, "HOME": work})
        info = Path(work, "new", ".git", "info")
        assert not info.is_symlink() and not info.exists(), done.stderr
        assert "new/.git/info (taken away" in done.stderr, done.stderr
