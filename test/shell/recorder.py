# SPDX-License-Identifier: Apache-2.0
"""A real bash in which every program is a recorder (shell_recorder.c), and what it recorded
beside the analysis of the same line.

    machine = Machine()
    machine.run("touch M; x=$(id)")     # [["touch", "M"], ["id"]]
    unnamed(analysis, runs)             # those that the analysis does not name

The wrappers whose work is to run others are the real ones.  A line runs in an empty folder of its
own, without what a builtin could do to other processes; no line names a folder of the machine.
"""

import os
import shutil
import signal
import subprocess
import tempfile

RECORDER = os.environ["SHELL_RECORDER"]
WRAPPERS = ["env", "nice", "timeout", "setsid", "stdbuf", "xargs", "find", "bash", "dash", "nohup",
            "flock", "setpriv", "ionice", "chrt", "taskset", "prlimit"]
RECORDED = """touch rm id true false cat echo ls git sort uniq head tail grep rg wc date nproc seq sed awk
    jq cut tr tee cp mv mkdir make npm node npx python3 python pytest cargo go gcc cc curl wget tar
    diff stat file which printf basename dirname realpath readlink sleep ps kill test [ chmod ln du
    df tree less more man uname hostname whoami docker kubectl gh pip pip3 ruby perl java mvn gradle
    yarn pnpm tsc eslint prettier black ruff mypy cmake ctest ninja meson clang clang-format gdb
    strace sqlite3 psql redis-cli openssl base64 md5sum sha256sum xxd od hexdump column paste comm
    split join nl rev tac shuf yes expr bc time watch tput stty clear lsof ss netstat ip ping dig
    systemctl journalctl service apt apt-get dpkg brew rustc rustup deno bun uv poetry tox nox
    a b c d e f g M""".split()
DISABLED = "kill suspend cd pushd popd ulimit umask enable dirs disown fg bg logout hash"
NOT_FOUND = '() { builtin printf "%s\\0" "$#" "$@" >>"$RECORD"; }'
SHELLS = ("bash", "sh", "dash")


# A function between fork and exec would have all of Python copied for each start.
LIMITED = [shutil.which("prlimit"), "--cpu=2", "--fsize=%d" % (1 << 20), "--core=0"]


class Machine:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="hasp-record-")
        self.bin = os.path.join(self.top, "bin")
        self.home = os.path.join(self.top, "in", "here")
        self.record = os.path.join(self.top, "record")
        self.trace = os.path.join(self.top, "trace")
        os.mkdir(self.bin)
        os.makedirs(self.home)
        for name in WRAPPERS:
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        os.symlink(shutil.which("dash"), os.path.join(self.bin, "sh"))
        first = os.path.join(self.bin, RECORDED[0])
        shutil.copy(RECORDER, first)
        for name in RECORDED[1:]:
            os.link(first, os.path.join(self.bin, name))
        start = os.path.join(self.top, "start")
        with open(start, "w") as file:
            file.write("enable -n %s\n" % DISABLED)
        self.environment = {
            "PATH": self.bin, "HOME": self.home, "RECORD": self.record, "FUNCNEST": "8",
            "BASH_ENV": start, "LC_ALL": "C.UTF-8",
            "BASH_FUNC_command_not_found_handle%%": NOT_FOUND,
        }

    def _start(self, argv, seconds):
        shutil.rmtree(self.home)
        os.makedirs(self.home)
        for path in (self.record, self.trace):
            if os.path.exists(path):
                os.unlink(path)
        process = subprocess.Popen([*LIMITED, *argv], cwd=self.home, env=self.environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def run(self, line, seconds=2):
        """What bash -c started: a list of words for each program, its name without folders."""
        data = line.encode("utf-8", "surrogateescape")
        self._start([os.path.join(self.bin, "bash"), "-c", data], seconds)
        return self._records()

    def _records(self):
        runs = []
        if os.path.exists(self.record):
            with open(self.record, errors="surrogateescape", newline="") as file:
                words = file.read().split("\0")[:-1]
            while words:
                count = int(words[0])
                runs.append(words[1:count + 1])
                words = words[count + 1:]
        # A start-up file may have put the real touch in front.
        if os.path.exists(os.path.join(self.home, "M")) and ["touch", "M"] not in runs:
            runs.append(["touch", "M"])
        return runs

    def traced(self, line, seconds=10):
        """The same, and the names that strace saw executed, bash itself left out."""
        self._start([shutil.which("strace"), "-f", "-qq", "-e", "trace=execve,execveat", "-e",
                     "signal=none", "-s", "4096", "-o", self.trace,
                     os.path.join(self.bin, "bash"), "-c",
                     line.encode("utf-8", "surrogateescape")], seconds)
        names, waiting = [], {}
        with open(self.trace, errors="replace") as file:
            for row in file:
                process = row.split(None, 1)[0]
                if "execve" in row and '"' in row:
                    waiting[process] = row.split('"')[1].rsplit("/", 1)[-1]
                if row.rstrip().endswith("= 0") and process in waiting:
                    names.append(waiting.pop(process))
        return self._records(), names[1:]

    def close(self):
        shutil.rmtree(self.top)


def _fits(words, args):
    """Whether the arguments can be what the words become."""
    if not words:
        return not args
    word = words[0]
    if not word["dynamic"]:
        return bool(args) and args[0] == word["value"] and _fits(words[1:], args[1:])
    if not word["splits"] and "braces" not in word["dynamic"]:
        return bool(args) and args[0].startswith(word["value"]) and _fits(words[1:], args[1:])
    return any(_fits(words[1:], args[i:]) for i in range(len(args) + 1))


def _names(command, run):
    words = command["words"]
    if not words or words[0]["dynamic"]:
        return False
    base = words[0]["value"].rsplit("/", 1)[-1]
    if base in SHELLS and len(run) == 1:  # the file that a shell reads is not looked into
        return any(word["value"] == run[0] for word in words)
    if base != run[0].rsplit("/", 1)[-1]:
        return False
    rest = words[1:]
    if "appended" in command["flags"]:
        return any(_fits(rest, run[1:i]) for i in range(1, len(run) + 1))
    return _fits(rest, run[1:])


def unnamed(analysis, runs):
    """The runs that no command of the analysis names, with these words."""
    return [run for run in runs
            if not any(_names(command, run) for command in analysis["commands"])]
