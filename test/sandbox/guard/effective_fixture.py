# SPDX-License-Identifier: Apache-2.0
"""A workspace of a user, git with that user's configuration, and hasp around commands."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HASP = os.environ.get("HASP")
OTHER = 65534
CONFIG = ("[user]\n\tname = A B\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"
          "[protocol \"file\"]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n"
          "[commit]\n\tgpgsign = false\n[advice]\n\tdetachedHead = false\n")
# evil FILE: a program that leaves the marker, and otherwise does what a filter does.
EVIL = ("evil() { mkdir -p \"$(dirname \"$1\")\"; "
        "printf '#!/bin/sh\\ntouch %s\\ncat 2>/dev/null\\n' \"$M\" > \"$1\"; chmod +x \"$1\"; }\n"
        "good() { mkdir -p \"$(dirname \"$1\")\"; printf '#!/bin/sh\\ncat\\n' > \"$1\"; "
        "chmod +x \"$1\"; }\n"
        "brief() { evil \"$1\"; sed -i 's/^cat.*/exit 1/' \"$1\"; }\n")


GIT_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
           "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}


@functools.cache
def repository():
    """A folder with a repository of one commit: to copy it takes a tenth of making one."""
    top = Path(tempfile.mkdtemp(prefix="hasp-git-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    top.chmod(0o755)
    (top / ".gitconfig").write_text(CONFIG)
    made = top / "made"
    made.mkdir()
    subprocess.run(["sh", "-ec", "git init -q; echo one > file; git add file; git commit -qm one"],
                   cwd=made, env=dict(GIT_ENV, HOME=str(top)), check=True)
    return made


class Ground:
    """top/: `work` is the workspace ($W), `outside` is not ($O), the marker ($M) must not appear.
    $T has a repository to copy."""

    def __init__(self, user):
        # Not beneath /tmp, which is another folder inside.
        self.top = Path(tempfile.mkdtemp(prefix="hasp-git-", dir="/var/tmp"))
        self.work, self.outside = self.top / "work", self.top / "outside"
        self.home, self.marker = self.top / "home", self.top / "marker"
        for folder in (self.work, self.outside, self.home):
            folder.mkdir()
        (self.home / ".gitconfig").write_text(CONFIG)
        (self.top / "stdin").write_text("")
        self.prefix = []
        if user == "user" and os.geteuid() == 0:
            self.prefix = ["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER),
                           "--clear-groups"]
            for path in [self.top, *self.top.rglob("*")]:
                os.chown(path, OTHER, OTHER)
        self.env = dict(GIT_ENV, HOME=str(self.home), M=str(self.marker), W=str(self.work),
                        O=str(self.outside), T=str(repository()))

    def use_system(self, path):
        """A file in the place of /etc/gitconfig, named with $W or $O."""
        if path:
            del self.env["GIT_CONFIG_NOSYSTEM"]
            self.env["GIT_CONFIG_SYSTEM"] = path.replace("$W", str(self.work)).replace(
                "$O", str(self.outside))

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, argv, folder=None):
        return subprocess.run([*self.prefix, *argv], cwd=folder or self.work, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, check=False)

    def shell(self, script, folder=None):
        done = self.run(["sh", "-c", EVIL + "set -e\n" + script], folder)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def later(self, script):
        """What somebody does outside afterwards; whether it works is another matter."""
        return self.run(["sh", "-c", EVIL + script]).stdout

    def inside(self, script, level, *flags, folder=None):
        return self.run([HASP, "sandbox", "--sandbox", level, "--env", "keep", *flags, "--", "sh",
                         "-c", EVIL + script], folder)

    def tool(self, name, level, *arguments):
        words = [word for argument in arguments for word in ("-a", argument)]
        return self.run([HASP, "tool", "--sandbox", level, name, *words])
