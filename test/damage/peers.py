# SPDX-License-Identifier: Apache-2.0
"""The programs that are asked to apply a diff, behind one call.

    with Engine([driver]) as hasp, GitApply() as git:
        text = hasp.apply(base, diff)      # the new bytes, or None when refused

Each is asked as its users do: GNU patch with its default fuzz, `git apply` as it stands,
npm's applyPatch with its defaults.  A refusal that leaves the file alone is None.
"""

import hashlib
import json
import os
import struct
import subprocess
import tempfile
from pathlib import Path

import corpus  # finds the next
import npm_peers

HERE = Path(__file__).resolve().parent


class Peer:
    name = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        pass


class Engine(Peer):
    """A program that answers cases on a pipe, in the frames of driver.c."""

    def __init__(self, argv, name="hasp"):
        self.name, self.note = name, ""
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def _read(self, size):
        data = self.process.stdout.read(size) if size else b""
        if len(data) != size:
            raise RuntimeError("%s died (status %s)" % (self.name, self.process.wait()))
        return data

    def apply(self, base, diff, path="file"):
        try:
            self.process.stdin.write(struct.pack("<II", len(base), len(diff)) + base + diff)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the reading below reports the death
        code, text, note = struct.unpack("<III", self._read(12))
        text, self.note = self._read(text), self._read(note).decode("utf-8", "replace")
        return None if code else text

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def js_diff(fuzz=0):
    """npm's `diff`."""
    return Engine([npm_peers.node(), HERE / "jsdiff.cjs", npm_peers.package("jsdiff", "diff"), fuzz],
                  "npm diff" if not fuzz else "npm diff, fuzz %d" % fuzz)


class _Spawned(Peer):
    """A program that is started for each case, in a folder of its own."""

    def __init__(self):
        # Beside other temporary files in memory, if there is such a place: it is only speed.
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._folder = tempfile.TemporaryDirectory(dir=shm)
        self.folder = self._folder.name

    def close(self):
        self._folder.cleanup()


class GnuPatch(_Spawned):
    name = "GNU patch"

    def apply(self, base, diff, path="file"):
        return corpus.gnu_patch(base, diff, self.folder)


class GitApply(_Spawned):
    """`git apply` finds the file by the name in the diff: the file is put where the
    undamaged diff says."""

    def __init__(self, *options):
        super().__init__()
        self.options = options
        self.name = " ".join(("git apply",) + options)
        self.environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(self.folder),
                                GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")

    def apply(self, base, diff, path="file"):
        file = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        if base:
            with open(file, "wb") as out:
                out.write(base)
        done = subprocess.run(["git", "apply", *self.options, "-"], input=diff, cwd=self.folder,
                              env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        try:
            if done.returncode != 0:
                return None
            with open(file, "rb") as result:
                return result.read()
        except FileNotFoundError:
            return b""
        finally:
            if os.path.exists(file):
                os.unlink(file)


class Program(_Spawned):
    """The whole way through the real program: `hasp tool safe_patch` on a file."""

    def __init__(self, program):
        super().__init__()
        self.name, self.program, self.note = "hasp tool", str(program), ""

    def apply(self, base, diff, path="file"):
        file = os.path.join(self.folder, os.path.basename(path))
        with open(file, "wb") as out:
            out.write(base)
        call = {"file_path": file, "base_content_sha256": hashlib.sha256(base).hexdigest(),
                "unified_diff": diff.decode("utf-8")}
        done = subprocess.run([self.program, "tool", "safe_patch", "-", "--json",
                               "--root", self.folder], input=json.dumps(call).encode(),
                              capture_output=True)
        answer = json.loads(done.stdout)
        with open(file, "rb") as result:
            text = result.read()
        self.note = answer.get("message", "")
        if answer["success"] != (done.returncode == 0):
            raise RuntimeError("success is %s, exit status %d" % (answer["success"],
                                                                  done.returncode))
        if answer["latest_file_state"]["sha256"] != hashlib.sha256(text).hexdigest():
            raise RuntimeError("the hash in the answer is not that of the file")
        if answer["success"]:
            return text
        if text != base:
            raise RuntimeError("refused, but the file changed")
        return None
