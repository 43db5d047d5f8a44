# SPDX-License-Identifier: Apache-2.0
"""What the supervisor refuses has a record, and what the kernel would do for the caller it does: by descriptors' names in /proc, and
in folders whose path is longer than any text."""

import errno
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

HASP = os.environ["HASP"]
# The call that Python makes, as records name it, and the statement; `b` is where the folder is named.
CALLS = """
openat     os.close(os.open(b + "new", os.O_WRONLY | os.O_CREAT))
openat     os.close(os.open(b + "file", os.O_WRONLY))
mkdir      os.mkdir(b + "made")
rename     os.rename(b + "file", b + "moved")
symlink    os.symlink("x", b + "link")
link       os.link(b + "moved", b + "hard")
chmod      os.chmod(b + "moved", 0o600)
chown      os.chown(b + "moved", os.getuid(), os.getgid())
utimensat  os.utime(b + "moved")
truncate   os.truncate(b + "moved", 0)
setxattr   os.setxattr(b + "moved", "user.x", b"1")
unlink     os.unlink(b + "moved")
rmdir      os.rmdir(b + "folder")
"""
OBEYED = """
openat     os.close(os.open(b + ".envrc", os.O_WRONLY | os.O_CREAT))
mkdir      os.mkdir(b + ".vscode")
symlink    os.symlink("x", b + ".mcp.json")
rename     os.rename(b + "other", b + ".envrc")
"""
PROGRAM = """
import os, sys
before, rows = sys.argv[1], sys.stdin.read()
fd = os.dup2(os.open("there", os.O_PATH | os.O_DIRECTORY), 700)
if before == "deep":
    for _ in range(20):
        os.chdir("d" * 250)
    before = ""
b = before
for row in filter(None, rows.splitlines()):
    call, line = row.split(None, 1)
    try:
        exec(line)
        print(call, 0)
    except OSError as error:
        print(call, error.errno)
"""
WAYS = ["/proc/self/fd/700/", "/dev/fd/700/", "/proc/thread-self/fd/700/", "/proc/self/cwd/there/", "there/"]


@pytest.fixture(name="work")
def a_workspace():
    top = Path(tempfile.mkdtemp(prefix="hasp-records-", dir="/var/tmp"))
    here = os.open(".", os.O_PATH)
    try:
        (top / "home").mkdir()
        (top / "work").mkdir()
        for folder in [top / "work/there", None]:
            if folder:
                folder.mkdir()
                os.chdir(folder)
            else:
                os.chdir(top / "work")
                for _ in range(20):
                    os.mkdir("d" * 250)
                    os.chdir("d" * 250)
            for name in ("file", "other"):
                Path(name).write_text("x")
            os.mkdir("folder")
        yield top / "work"
    finally:
        os.fchdir(here)
        os.close(here)
        subprocess.run(["rm", "-rf", top], check=False)


def inside(work, level, argv, text=""):
    report = work.parent / "home/report"
    done = subprocess.run([HASP, "sandbox", "--sandbox", level, "--report", report, "--", *argv], cwd=work, input=text, text=True, timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(work.parent / "home"), "LC_ALL": "C"})
    return done, json.loads(report.read_text())["denials"]


def calls(work, level, before, rows):
    done, denials = inside(work, level, ["/usr/bin/python3", "-c", PROGRAM, before], rows)
    return [(line.split()[0], int(line.split()[1])) for line in done.stdout.splitlines()], denials


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("way", WAYS)
def test_a_name_behind_a_descriptor_works(work, level, way):
    results, denials = calls(work, level, way, CALLS)
    assert len(results) == 13 and not any(error for _, error in results) and denials == [], (results, denials)


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_others_obey_is_refused_with_a_record(work, level, way):
    results, denials = calls(work, level, way, OBEYED)
    assert len(results) == 4 and all(error for _, error in results), results
    said = {record["what"] for record in denials}
    assert {str(work / "there" / name) for name in (".envrc", ".vscode", ".mcp.json")} <= said, denials


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_in_a_folder_without_a_path_each_refusal_has_a_record(work, level):
    results, denials = calls(work, level, "deep", CALLS + OBEYED)
    assert len(results) == 17
    said = {record["what"].split()[0] for record in denials}
    # The kernel's own answer: what was not made is not there.
    assert [call for call, error in results if error not in (0, errno.ENOENT) and call not in said] == [], (results, denials)
    assert all(error for _, error in results[13:]), results


@pytest.mark.parametrize("level", ["full", "landlock"])
@pytest.mark.parametrize("job", ["cp -r folder copy", "rm -rf folder", "mkdir x && rmdir x", "tar -xf $W/t.tar", "git init -q repo", "rm file"])
def test_a_job_in_such_a_folder_works_or_says_why_not(work, level, job):
    subprocess.run(["tar", "-cf", work / "t.tar", "there"], cwd=work, check=True)
    script = "W=$PWD; n=$(printf 'd%.0s' $(seq 250)); for i in $(seq 20); do cd -P $n || exit 3; done; " + job
    done, denials = inside(work, level, ["bash", "-c", script])
    assert done.returncode == 0 or any("too long" in record["what"] for record in denials), (done, denials)


def test_what_is_far_down_goes_from_above(work):
    shutil.rmtree(work / "there")
    done, denials = inside(work, "full", ["sh", "-c", "mkdir a && mv d* a/ && ls a"])
    assert done.returncode == 0 and denials == [], (done, denials)
