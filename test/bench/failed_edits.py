#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Memory and time of edits that fail, by the form of the file: prints a table.

    test/bench/failed_edits.py [MEGABYTES...]

The peak is that of the process that uses most (the worker, or hasp itself), less what the same call takes
for a file of one line.  HASP names the program.
"""
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HASP = str(Path(os.environ.get("HASP") or Path(__file__).resolve().parents[2] / "build" / "hasp").resolve())


def words(megabytes, end, count=5):
    """Lines of so many words, none twice but by chance."""
    rng = random.Random(megabytes)
    some = [b"%08x" % rng.getrandbits(32) for _ in range(4096)]
    size, out = int(megabytes * 1_000_000), bytearray()
    while len(out) < size:
        out += b" ".join(rng.choices(some, k=count)) + end
    return bytes(out)


FORMS = {"lines": (b"\n",), "short lines": (b"\n", 1), "CRLF": (b"\r\n",), "one line": (b" ",)}


def edits(content):
    """The ways to miss: a word of a line in the middle, nothing like it, a hunk, an old hash."""
    middle = content[len(content) // 2:][:200].replace(b"\r", b"").split(b"\n")
    near = (middle[1] if len(middle) > 2 else middle[0][:44])[:-1].decode() + "Q"
    state = hashlib.sha256(content).hexdigest()
    return {
        "update, near": ("update_file", {"old_content": near, "new_content": "x"}),
        "update, two lines": ("update_file", {"old_content": near + "\n" + near, "new_content": "x"}),
        "update, nowhere": ("update_file", {"old_content": "nothing of this is there", "new_content": "x"}),
        "patch, near": ("safe_patch", {"unified_diff": "@@\n-%s\n+x\n" % near, "base_content_sha256": state}),
        "patch, old state": ("safe_patch", {"unified_diff": "@@\n-%s\n+x\n" % near, "base_content_sha256": "0" * 64}),
    }


def once(folder, tool, arguments):
    """Peak in bytes and seconds of one call, which has to fail."""
    given = ["-a" + name + "=" + value for name, value in {**arguments, "file_path": "f", "return_content": "none"}.items()]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:  # the children of a process of its own are those of this call alone
        begun = time.monotonic()
        done = subprocess.run([HASP, "tool", tool, *given], cwd=folder, stdout=subprocess.PIPE, env={
            **os.environ, "HOME": folder + "/home"}, check=False)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        ok = b'"success":false' in done.stdout[:200]
        os.write(write, b"%d %f %d" % (peak, time.monotonic() - begun, ok))
        os._exit(0)
    os.waitpid(pid, 0)
    peak, seconds, failed = os.read(read, 100).split()
    os.close(read)
    os.close(write)
    assert failed == b"1", (tool, arguments)
    return int(peak), float(seconds)


def make(megabytes, form):
    """Writes the file f; prints the edits."""
    content = words(megabytes, *FORMS[form])
    Path("f").write_bytes(content)
    print(json.dumps([len(content), edits(content)]))


def measure(megabytes, forms=FORMS, names=None):
    """(form, edit, peak as a multiple of the file, seconds) of each; of the edits so named."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/home")
        for form in forms:
            # By another process: a child's peak is at least that of the process that started it.
            made = subprocess.run([sys.executable, __file__, "--make", str(megabytes), form], cwd=folder,
                                  stdout=subprocess.PIPE, check=True)
            size, calls = json.loads(made.stdout)
            for name, (tool, arguments) in calls.items():
                if names and name not in names:
                    continue
                peak, seconds = once(folder, tool, arguments)
                os.rename(folder + "/f", folder + "/large")
                Path(folder, "f").write_bytes(b"one line\n")
                idle, _ = once(folder, tool, arguments)
                os.rename(folder + "/large", folder + "/f")
                yield form, name, (peak - idle) / size, seconds


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(float(sys.argv[2]), sys.argv[3])
        sys.exit()
    for size in [float(word) for word in sys.argv[1:]] or [10, 100]:
        for row in measure(size):
            print("%5g MB  %-11s %-18s %.2f x  %.2f s" % (size, *row), flush=True)
