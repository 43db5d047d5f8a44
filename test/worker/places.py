# SPDX-License-Identifier: Apache-2.0
"""Places that a worker can work in, made for a test and taken away after it.

    with place("ssh", folder) as there:
        there.worker     # the words of --worker
        there.root       # the workspace, as it is called over there
        there.here       # the same folder, on this side

    ssh       a host: an sshd of the test's own on loopback, with keys of its own
    bwrap     a container made by bubblewrap
    unshare   another root folder in name spaces of its own, made by unshare(1)
    podman    a container that runs, entered by podman exec; its root is made of this machine's files

Nothing is fetched, and nothing listens but the sshd, on 127.0.0.1.
"""
import contextlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HASP = str(Path(os.environ.get("HASP") or TOP / "build" / "hasp").resolve())
NAMES = ["ssh", "bwrap", "unshare", "podman"]
SECONDS = 120


class Place:
    def __init__(self, name, worker, root, here, client=(), container=""):
        self.name, self.worker, self.root, self.here = name, worker, str(root), Path(here)
        self.client = list(client)  # the program that leads there, with its options
        self.container = container  # its name

    @property
    def flags(self):
        return ["--worker", json.dumps(self.worker), "--root", self.root]


def wait_for(condition, what, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("%s: not in time" % what)
        time.sleep(0.02)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# ---- ssh ------------------------------------------------------------------------------------

SSHD = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/user.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
SetEnv PATH={folder}/bin:/usr/bin:/bin
LogLevel QUIET
"""

SSH = """
Host there
HostName 127.0.0.1
Port {port}
User {user}
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
StrictHostKeyChecking yes
BatchMode yes
ConnectTimeout 10
"""


@contextlib.contextmanager
def separation_folder():
    """What sshd of root wants to exist; a system that runs one has it."""
    path = Path("/run/sshd")
    ours = os.geteuid() == 0 and not path.exists()
    if ours:
        path.mkdir(mode=0o755)
    try:
        yield
    finally:
        if ours:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def ssh(folder):
    folder.mkdir()
    port, user = free_port(), pwd.getpwuid(os.geteuid()).pw_name
    for name in "host", "user":
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
                       check=True)
    key = (folder / "host.pub").read_text().split()
    (folder / "known").write_text("[127.0.0.1]:%d %s %s\n" % (port, key[0], key[1]))
    (folder / "sshd_config").write_text(SSHD.format(port=port, folder=folder))
    (folder / "ssh_config").write_text(SSH.format(port=port, folder=folder, user=user))
    work = folder / "work"
    work.mkdir()
    (folder / "bin").mkdir()
    (folder / "bin" / "hasp").symlink_to(HASP)
    with separation_folder():
        daemon = subprocess.Popen([shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e",
                                   "-f", str(folder / "sshd_config")], stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: answers(port), "sshd")
            client = ["ssh", "-F", str(folder / "ssh_config")]
            yield Place("ssh", [*client, "there", "hasp", "worker"], work, work, client)
        finally:
            daemon.terminate()
            daemon.wait()


# ---- containers -----------------------------------------------------------------------------

LINKS = ["bin", "sbin", "lib", "lib64", "lib32", "libx32"]


def links():
    """The system's top folders that are links into /usr."""
    return {name: os.readlink("/" + name) for name in LINKS if os.path.islink("/" + name)}


@contextlib.contextmanager
def bwrap(folder):
    (folder / "work").mkdir(parents=True)
    argv = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]
    for name, target in links().items():
        argv += ["--symlink", target, "/" + name]
    argv += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home",
             "--setenv", "HOME", "/home", "--ro-bind", HASP, "/opt/hasp",
             "--bind", str(folder / "work"), "/work", "--", "/opt/hasp", "worker"]
    yield Place("bwrap", argv, "/work", folder / "work")


def make_root(folder):
    """A root folder of this machine's programs; /usr and the workspace are still to be mounted."""
    root = folder / "root"
    for name in "usr", "proc", "dev", "tmp", "etc", "run", "work", "home", "opt":
        (root / name).mkdir(parents=True)
    for name, target in links().items():
        (root / name).symlink_to(target)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/home:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\n")
    (root / "opt" / "hasp").touch()
    (folder / "work").mkdir()
    return root


UNSHARE = """
mount --rbind /usr {root}/usr && mount --rbind /dev {root}/dev &&
mount --bind {work} {root}/work && mount --bind {hasp} {root}/opt/hasp &&
mount -t proc proc {root}/proc && HOME=/home exec chroot {root} /opt/hasp worker
"""


@contextlib.contextmanager
def unshare(folder):
    root = make_root(folder)
    script = UNSHARE.format(root=root, work=folder / "work", hasp=HASP)
    yield Place("unshare", ["unshare", "--map-root-user", "--mount", "--pid", "--fork",
                            "--kill-child", "sh", "-c", script], "/work", folder / "work")


@contextlib.contextmanager
def podman(folder):
    root = make_root(folder)
    program = ["podman", "--runtime", "runc", "--root", str(folder / "store"),
               "--runroot", str(folder / "run"), "--tmpdir", str(folder / "tmp"),
               "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"]
    name = "hasp-test-%d" % os.getpid()
    # Limits that podman would raise, which not every machine lets it.
    limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]
    mounts = ["--env", "PATH=/opt:/usr/bin:/bin", "--env", "HOME=/home", "-v", "/usr:/usr:ro", "-v", "%s:/opt/hasp:ro" % HASP,
              "-v", "%s:/work" % (folder / "work")]
    subprocess.run([*program, "run", "-d", "--name", name, "--network", "none", *limits, *mounts,
                    "--rootfs", str(root), "/bin/sleep", "1000"], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        yield Place("podman", [*program, "exec", "-i", name, "hasp", "worker"], "/work",
                    folder / "work", program, name)
    finally:
        subprocess.run([*program, "rm", "-f", "-t", "0", name], check=True,
                       stdout=subprocess.DEVNULL)


def place(name, folder):
    """A context that gives a Place; `folder` does not exist yet."""
    return {"ssh": ssh, "bwrap": bwrap, "unshare": unshare, "podman": podman}[name](folder)
