# SPDX-License-Identifier: Apache-2.0
"""The probe as a function, and a real bash that can only write down what it would run."""

import json
import os
import shutil
import signal
import subprocess
import tempfile

PROBE = os.environ["SHELL_PROBE"]

# Real programs that run others; all else that bash finds are recorders.
WRAPPERS = ["env", "nice", "timeout", "setsid", "stdbuf", "xargs", "find", "bash", "dash"]
RECORDED = list("abcdefgtuvwM") + ["rm", "touch", "true", "id", "[["]
# Nothing of the machine is to be reached, whatever a random script says.
DISABLED = "kill suspend cd pushd popd ulimit umask enable dirs disown fg bg logout hash"

RECORDER = """#!/bin/dash
printf '%s\\0' "${0##*/}" >>"$RECORD"
"""
NOT_FOUND = '() { builtin printf "%s\\0" "$1" >>"$RECORD"; }'


class Probe:
    """analysis = Probe()("git status"), as shell_probe.c prints it."""

    def __init__(self):
        self.process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, text):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        self.process.stdin.write(b"%d\n" % len(data) + data)
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def values(command):
    """The words' values; None for one that is not known."""
    return [None if word["dynamic"] else word["value"] for word in command["words"]]


def commands(analysis):
    return [values(command) for command in analysis["commands"] if command["words"]]


def kinds(analysis):
    return sorted({problem["kind"] for problem in analysis["problems"]})


# A function between fork and exec would have all of Python copied for each start.
LIMITED = [shutil.which("prlimit"), "--cpu=2", "--fsize=%d" % (1 << 20), "--core=0"]


class RecordingBash:
    """names = RecordingBash()(script): what bash -c started, by name, builtins left out."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="hasp-shell-")
        self.bin = os.path.join(self.top, "bin")
        self.home = os.path.join(self.top, "in", "here")
        self.record = os.path.join(self.top, "record")
        os.mkdir(self.bin)
        os.makedirs(self.home)
        for name in WRAPPERS:
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        os.symlink(shutil.which("dash"), os.path.join(self.bin, "sh"))
        for name in RECORDED:
            path = os.path.join(self.bin, name)
            with open(path, "w") as file:
                file.write(RECORDER)
            os.chmod(path, 0o755)
        self.start = os.path.join(self.top, "start")
        with open(self.start, "w") as file:
            file.write("enable -n %s\n" % DISABLED)
        self.environment = {
            "PATH": self.bin, "HOME": self.home, "RECORD": self.record, "FUNCNEST": "8",
            "BASH_ENV": self.start, "LC_ALL": "C.UTF-8",
            "BASH_FUNC_command_not_found_handle%%": NOT_FOUND,
        }

    def __call__(self, script, seconds=2):
        data = script if isinstance(script, bytes) else script.encode("utf-8", "surrogateescape")
        shutil.rmtree(self.home)
        os.makedirs(self.home)
        if os.path.exists(self.record):
            os.unlink(self.record)
        process = subprocess.Popen([*LIMITED, os.path.join(self.bin, "bash"), "-c", data], cwd=self.home,
                                   env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        try:
            with open(self.record, errors="surrogateescape", newline="") as file:
                return set(file.read().split("\0")) - {""}
        except FileNotFoundError:
            return set()

    def close(self):
        shutil.rmtree(self.top)
