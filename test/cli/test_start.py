# SPDX-License-Identifier: Apache-2.0
"""What a start costs: one call of a small tool loads nothing that it does not use."""
import re
import subprocess
from pathlib import Path

from conftest import HASP

# A build that counts lines (script/coverage) has no optimization, maps counters, and is linked with libm.
COUNTED = b"COUNTERS_ONLY" in Path(HASP).read_bytes()
CALL = ["tool", "read_file", '{"file_path": "a.txt"}']


def opened(ws, tmp_path, *args):
    """Paths that were opened, by hasp and its worker: without the C library's own, and without folders
    and places that are only looked at while the sandbox is made."""
    trace = tmp_path / "trace"
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", "trace=open,openat,openat2,execve",
                    HASP, *args], cwd=ws.folder, env=ws.env, check=True, capture_output=True)
    found = re.findall(r'^\d+ +open\w*\((?:\w+, )?"([^"]*)"(.*) = \d+$', trace.read_text(), re.M)
    others = ("/libc.so", "ld.so", *(("/libm.so", ".profraw") if COUNTED else ()))
    return [path for path, how in found if not any(name in path for name in others) and
            not re.search("O_PATH|O_DIRECTORY|OPEN_TREE", how) and not path.startswith("/proc/")]


def test_reading_a_small_file_opens_only_what_it_needs(ws, tmp_path):
    ws.write("a.txt", "text\n")
    paths = opened(ws, tmp_path, *CALL)
    assert "a.txt" in paths
    unneeded = [path for path in paths if path.endswith(".so") or ".so." in path or
                re.search("locale|gconv|openssl|magic|nsswitch", path)]
    assert unneeded == []
    assert len(paths) <= 9 and paths.count("/etc/passwd") <= 1, paths


def test_help_opens_nothing(ws, tmp_path):
    assert [path for path in opened(ws, tmp_path, "--help") if path != "/dev/urandom"] == []


def test_a_command_is_planned_once_and_mounts_are_read_once_for_a_purpose(ws, tmp_path):
    trace = tmp_path / "trace"
    subprocess.run(["strace", "-f", "-o", str(trace), "-e", "trace=newfstatat,openat", HASP,
                    "sandbox", "--", "/bin/true"], cwd=ws.folder, env=ws.env, check=True,
                   capture_output=True)
    text = trace.read_text()
    assert len(re.findall(r'newfstatat\(\d+, "gshadow-"', text)) == 1
    # hasp: for hidden files that are mounted elsewhere, for its groups; the worker: for its own
    assert 1 <= text.count('"/proc/self/mountinfo"') <= 3


def test_no_start_asks_the_processor_what_the_loader_knows():
    # libgcc's answer is a dozen instructions that a virtual machine's host carries out
    done = subprocess.run(["nm", HASP], check=True, capture_output=True)
    assert b"main" in done.stdout and b"__cpu_indicator_init" not in done.stdout


def test_reading_a_small_file_takes_little_memory(ws):
    ws.write("a.txt", "text\n")
    done = subprocess.run(["/usr/bin/time", "-f", "%M", HASP, *CALL], cwd=ws.folder, env=ws.env,
                          check=True, capture_output=True)
    assert int(done.stderr) < (16384 if COUNTED else 8192)


def test_no_library_but_the_c_library_is_loaded_at_start():
    done = subprocess.run(["readelf", "-d", HASP], check=True, capture_output=True)
    needed = re.findall(r"NEEDED.*\[(.*?)\]", done.stdout.decode())
    assert [name for name in needed if not name.startswith(("libc.so", "ld-linux")) and
            not (COUNTED and name.startswith("libm.so"))] == []
