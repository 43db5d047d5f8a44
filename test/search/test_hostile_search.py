# SPDX-License-Identifier: Apache-2.0
"""Trees, files, patterns and ignore files that were made to hurt: answered in time and in bounded memory."""

import json
import os
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from part import part_of
from search_peers import ENV, HASP, hasp_call, hasp_files, hasp_search

pytestmark = pytest.mark.rows_in_turn(3)

MIB = 1 << 20
SANITIZED = "ASAN_OPTIONS" in os.environ  # memory and time are not the program's own then
SECONDS = 60
# Generous for a loaded machine; what must not be is minutes, or growth with the input.
MEMORY = 200 * MIB
# With sanitizers a tenth of what is only there to be much: nothing is measured then.
MUCH = 10 if SANITIZED else 1


class Measured:
    def __init__(self, result, seconds, memory):
        self.result, self.seconds, self.memory = result, seconds, memory


def measured(tree, tool="search_files", **arguments):
    """The result, with the seconds of CPU and the largest memory of the process.  time(1) starts it: the
    kernel counts what a process was before it became another program, and this one is large."""
    with tempfile.NamedTemporaryFile() as said:
        done = subprocess.run(["/usr/bin/time", "-q", "-f", "%M %U %S", "-o", said.name, HASP, "tool", tool, "--json", "-r", str(tree), "-"],
                              input=json.dumps(arguments).encode(), cwd=str(tree), env=ENV, capture_output=True,
                              timeout=SECONDS * 2)
        assert done.returncode in (0, 1), (done.returncode, done.stderr.decode(errors="replace"))
        memory, user, system = map(float, said.read().split())
        return Measured(json.loads(done.stdout), user + system, memory * 1024)


def bounded(done, memory=MEMORY):
    assert SANITIZED or done.memory < memory, "%d MiB" % (done.memory // MIB)
    assert done.seconds < SECONDS
    return done.result


# ---- files -----------------------------------------------------------------------------

def test_a_sparse_file_of_a_terabyte(tmp_path):
    (tmp_path / "a").write_text("needle\n")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    with open(tmp_path / "text", "wb") as file:
        file.write(b"needle\n" * 100000)
        file.truncate(1 << 40)
    result = bounded(measured(tmp_path, pattern="needle", max_results=1000))
    names = [entry["file_path"] for entry in result["files"]]
    assert names[0] == "a" and "sparse" not in names


def test_a_million_matches(tmp_path):
    lines = 500000 // MUCH
    (tmp_path / "a").write_bytes(b"x\n" * lines)
    (tmp_path / "b").write_bytes(b"x" * lines)
    result = bounded(measured(tmp_path, pattern="x", max_results=10))
    assert result["matches"] == 10 and result["more"]
    result = bounded(measured(tmp_path, pattern="x", output="counts"))
    assert result["files"] == [{"file_path": "a", "matches": lines}, {"file_path": "b", "matches": 1}]
    result = bounded(measured(tmp_path, pattern="x", max_results=1000000, max_total_bytes=65536))
    assert result["more"] and len(json.dumps(result)) < 3 * MIB
    result = bounded(measured(tmp_path, pattern="x|y", regex=True, multiline=True, output="counts"))
    assert result["files"][0]["matches"] == lines


def test_memory_follows_what_is_asked_for_and_not_the_file(tmp_path):
    (tmp_path / "large").write_bytes((b"some text that is not looked for\n" * 31 + b"needle\n") * (100000 // MUCH))  # 105 MB
    result = bounded(measured(tmp_path, pattern="needle", max_results=5), 64 * MIB)
    assert [line.split(":")[0] for line in result["files"][0]["lines"]] == ["32", "64", "96", "128", "160"]
    result = bounded(measured(tmp_path, pattern="needle", output="counts"), 64 * MIB)
    assert result["files"][0]["matches"] == 100000 // MUCH
    result = bounded(measured(tmp_path, pattern="needle", with_hashes=True, max_results=1), 64 * MIB)
    assert len(result["files"][0]["sha256"]) == 64


def test_a_line_of_a_hundred_megabytes(tmp_path):
    with open(tmp_path / "a", "wb") as file:
        file.write(b"first line\n" + b"abcdefghij" * (10 * MIB // MUCH) + b"needle" + b"xyz" * 1000 + b"\nlast line\n")
    result = bounded(measured(tmp_path, pattern="needle"), 500 * MIB)
    (line,) = result["files"][0]["lines"]
    assert line.startswith("2:") and "needle" in line and len(line) < 600
    result = bounded(measured(tmp_path, pattern="last line", before=1), 500 * MIB)
    assert [len(line) < 600 for line in result["files"][0]["lines"]] == [True, True]
    assert result["files"][0]["lines"][-1] == "3:last line"


# ---- trees -----------------------------------------------------------------------------

def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a").write_text("needle\n")
    os.symlink("fifo", tmp_path / "link")
    os.symlink("/dev/zero", tmp_path / "zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        if os.geteuid() == 0:
            os.mknod(tmp_path / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        assert set(bounded(measured(tmp_path, pattern="needle", output="files"))["files"]) == {"a"}
        for name in ("fifo", "s", "device"):
            if (tmp_path / name).exists():
                done = measured(tmp_path, pattern="needle", path=name)
                assert done.result["error"]["code"] == "not_a_file" and done.seconds < SECONDS, name
        assert hasp_files(tmp_path) == {"a"}


def test_links_that_lead_in_circles(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("needle\n")
    os.symlink("..", tmp_path / "d/up")
    os.symlink("self", tmp_path / "self")
    os.symlink("d", tmp_path / "again")
    os.symlink("/", tmp_path / "root")
    assert set(hasp_search(tmp_path, pattern="needle")) == {"d/a"}
    assert "error" in hasp_call(tmp_path, "search_files", pattern="needle", path="self")
    assert set(hasp_search(tmp_path, pattern="needle", path="again")) == {"d/a"}
    assert hasp_call(tmp_path, "search_files", pattern="needle", path="root")["error"]["code"] == "outside_workspace"


def test_what_may_not_be_read_is_counted_and_left():
    """As a user who is not root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir()
        for path in ("a", "closed/b", "secret"):
            (folder / path).write_text("needle\n")
        (folder / "secret").chmod(0)
        (folder / "closed").chmod(0)
        program = folder / "hasp"
        program.write_bytes(Path(HASP).read_bytes())
        program.chmod(0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = subprocess.run([*nobody, str(program), "tool", "search_files", "--json", "-a", "pattern=needle", "-a", "exclude=hasp"],
                              cwd=name, env=dict(ENV, HOME=name), capture_output=True, timeout=SECONDS, check=True)
        (folder / "closed").chmod(0o700)
    result = json.loads(done.stdout)
    assert [entry["file_path"] for entry in result["files"]] == ["a"]
    assert result["unreadable"] == 2 and "could not be read" in result["message"]


ODD = [b"new\nline", b"cr\rx", b"esc\x1b[2J\x1b]0;owned\x07", b"\xff\xfe\xc0", b"-rf", b"--", b" ", b"'\"`$(x)", b"*", b"\\", b"~",
       "\u202egnp".encode(), b"a" * 255]


def test_names_of_any_bytes(tmp_path):
    top = os.fsencode(str(tmp_path))
    for name in ODD:
        os.mkdir(os.path.join(top, b"d" + name[:200]))
        for path in (name, os.path.join(b"d" + name[:200], name)):
            with open(os.path.join(top, path), "wb") as file:
                file.write(b"needle\n")
    wanted = {name.decode("utf-8", "backslashreplace") for name in ODD}
    wanted |= {(b"d" + name[:200] + b"/" + name).decode("utf-8", "backslashreplace") for name in ODD}
    assert set(hasp_search(tmp_path, pattern="needle")) == wanted
    assert hasp_files(tmp_path) == wanted


def test_a_folder_deeper_than_a_path_is_long(tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    for i in range(30):
        with open("f", "wb", opener=lambda path, flags: os.open(path, flags, dir_fd=fd)) as file:
            file.write(b"needle\n")
        os.mkdir("x" * 250, dir_fd=fd)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    result = bounded(measured(tmp_path, pattern="needle", output="files"))
    assert 14 <= len(result["files"]) <= 17 and result["unreadable"] >= 1
    subprocess.run(["rm", "-rf", str(tmp_path / ("x" * 250))], check=True)


def test_very_many_files(tmp_path):
    folders = 2 if SANITIZED else part_of(20, 3)
    for folder in range(folders):
        (tmp_path / str(folder)).mkdir()
        for name in range(1000):
            (tmp_path / str(folder) / str(name)).write_text("needle %d\n" % name)
    result = bounded(measured(tmp_path, pattern="needle", max_results=30))
    assert result["matches"] == 30 and result["files"][0]["file_path"] == "0/0"
    assert len(bounded(measured(tmp_path, "glob", patterns=["**"], max_results=20001))["files"]) == 1000 * folders


# ---- patterns --------------------------------------------------------------------------

HARD = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}$", "((a*)*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "(?:a?){60}a{60}",
        "(a*?)*?b$", "(\\w*)*\\W$", "(?=(a+))\\1*b", "(.+)+\\1$"]


@pytest.mark.parametrize("pattern", HARD)
def test_patterns_that_take_for_ever_are_given_up(tmp_path, pattern):
    """Within a second, by the issue; here a slow machine has some more."""
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).write_text(("a" * 5000 + "!\n" + "x" * 3000 + "\n" + "aB" * 2000 + "\n") * 5)
    (tmp_path / "z").write_text("a\n")
    done = measured(tmp_path, pattern=pattern, regex=True)
    assert done.seconds < (5 if not SANITIZED else 60)
    assert "error" not in done.result or done.result["error"]["code"] in ("too_large", "invalid_argument"), done.result


def test_a_pattern_that_is_hard_for_one_file_does_not_hide_the_others(tmp_path):
    """Quadratic in the length of a line: harmless, but for a line of megabytes."""
    (tmp_path / "a").write_text("if (x) {\n")
    (tmp_path / "b.min.js").write_text("if(a)b();" * 300000)
    (tmp_path / "c").write_text("if (y) {\n")
    done = measured(tmp_path, pattern="if\\s*\\(.*\\{$", regex=True)
    assert done.seconds < SECONDS
    assert [entry["file_path"] for entry in done.result["files"]] == ["a", "c"]
    assert done.result.get("too_hard") == "b.min.js" and "b.min.js" in done.result["message"]


@pytest.mark.parametrize("pattern", ["a{60000}", "(a{1000}){1000}", "((((a{50}){50}){50}){50}){50}", "(" * 30000 + ")" * 30000, "[" * 60000,
                                     "(?:" * 2000 + "a" + ")" * 2000, "a|" * 30000 + "b", "\\x{10ffff}{60000}", "(?R)", "(?1)(a(?1)?)",
                                     "(*LIMIT_MATCH=4000000000)(a+)+$", "(*NO_JIT)(a+)+$", "(*UTF)\\xff", "(*CRLF)a.", "(*BSR_ANYCRLF)a\\R",
                                     "\\C", "\\K", "(?{1})", "(?C1)a", "a(?#" + "x" * 60000, "\\Q" + "(" * 60000], ids=range(21))
def test_patterns_that_are_much_to_compile(tmp_path, pattern):
    (tmp_path / "a").write_text("a" * 5000 + "!\n")
    done = measured(tmp_path, pattern=pattern, regex=True)
    assert done.seconds < (10 if not SANITIZED else 60)
    assert SANITIZED or done.memory < MEMORY
    assert "error" not in done.result or done.result["error"]["code"] in ("too_large", "invalid_argument"), done.result


def test_a_pattern_that_is_too_long_is_refused(tmp_path):
    done = measured(tmp_path, pattern="a" * 70000)
    assert done.result["error"]["code"] == "invalid_argument"


# ---- ignore files ----------------------------------------------------------------------

@pytest.mark.parametrize("line", [b"*a*b*c*d*e*f*g*\n", b"**/a/**/b/**/c/**\n", b"[a-z]*[a-z]*[a-z]*x\n", b"file%d\n", b"/d/*%d*\n"])
def test_ignore_files_of_megabytes(tmp_path, line):
    """The rules are many, and so are the files."""
    text = b"".join(line % i if b"%" in line else line for i in range(3 * MIB // MUCH // (len(line) + 4)))
    (tmp_path / ".gitignore").write_bytes(text)
    (tmp_path / "d").mkdir()
    for i in range(300):
        (tmp_path / "d" / ("entry-with-a-rather-long-name-%d" % i)).write_text("needle\n")
    done = measured(tmp_path, pattern="needle", output="counts", max_results=1000)
    assert done.seconds < SECONDS and (SANITIZED or done.memory < 600 * MIB), (done.seconds, done.memory // MIB)
    assert len(done.result["files"]) == (300 if b"/d/" not in line else len(done.result["files"]))


def test_ignore_files_that_are_no_files(tmp_path):
    for name, folder in (("a", None), ("b", "fifo"), ("c", "folder"), ("d", "endless"), ("e", "binary")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("needle\n")
        ignore = tmp_path / name / ".gitignore"
        if folder == "fifo":
            os.mkfifo(ignore)
        elif folder == "folder":
            ignore.mkdir()
        elif folder == "endless":
            ignore.symlink_to("/dev/zero")
        elif folder == "binary":
            ignore.write_bytes(bytes(range(256)) * 100)
    assert hasp_files(tmp_path) == {"a/f", "b/f", "c/f", "d/f", "e/f", "e/.gitignore"}
