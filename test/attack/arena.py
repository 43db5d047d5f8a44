# SPDX-License-Identifier: Apache-2.0
"""Where attacks take place: a workspace, canaries outside it, and what sees that one was touched."""

import array
import os
import pty
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from attacks import LEVELS, outcome

UNPRIVILEGED = 65534
SECRET = "CANARY-SECRET-7f3a"


class Result(NamedTuple):
    code: int
    output: str


class Listeners:
    """Sockets outside; what arrives at any of them is counted."""

    def __init__(self, folder, target, mark):
        self.arrivals = []  # appended to by a thread for each socket
        self.folder = folder
        self.target = target
        self.sockets = []
        self.ports = {}
        self.abstract = "hasp-attack-%d-%s" % (os.getpid(), mark)
        for name, family, kind, address in (
                ("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
                ("TCP6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
                ("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
                ("UDP6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
                ("MULTICAST", socket.AF_INET, socket.SOCK_DGRAM, ("239.255.77.1", 0))):
            self.ports[name] = self.listen(family, kind, address).getsockname()[1]
        self.sockets[-1].setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                                    socket.inet_aton("239.255.77.1") + socket.inet_aton("127.0.0.1"))
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "daemon"))
        self.listen(socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagrams"))
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract)
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "giver"), self.give)
        for path in folder.iterdir():
            path.chmod(0o777)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.ports["LISTEN"] = free.getsockname()[1]

    def listen(self, family, kind, address, serve=None):
        sock = socket.socket(family, kind)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5) \
                if family == socket.AF_INET else None
            sock.listen(16)
        self.sockets.append(sock)
        threading.Thread(target=serve or self.serve, args=(sock, kind), daemon=True).start()
        return sock

    def serve(self, sock, kind):
        while True:
            try:
                if kind == socket.SOCK_DGRAM:
                    sock.recv(100)
                else:
                    sock.accept()[0].close()
            except OSError:
                return
            self.arrivals.append(sock)

    def give(self, sock, _):
        while True:
            try:
                peer = sock.accept()[0]
                fd = os.open(self.target(), os.O_RDWR)
            except OSError:
                return
            peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
            os.close(fd)
            peer.close()

    # Nothing is closed: threads wait in accept and recv for as long as this program runs. A call that the
    # kernel restarts looks its number up again, which after a close may be that of the next arena's socket.


class Canary:
    """A process outside, of the same user."""

    def __init__(self, arena):
        self.process = subprocess.Popen(
            [*arena.as_user(), arena.probe, "canary", arena.held], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "CANARY_API_TOKEN": SECRET})
        self.address, self.shm, self.fd = self.process.stdout.readline().split()
        self.pid = self.process.pid
        self.before = self.state()

    def state(self):
        pid = "/proc/%d/" % self.pid
        fields = Path(pid + "stat").read_text().rsplit(")", 1)[1].split()
        return (Path(pid + "limits").read_text(), Path(pid + "oom_score_adj").read_text(),
                fields[16], fields[38], fields[0] in "TtZX")  # nice, policy, stopped

    def holds(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def is_well(self):
        if self.process.poll() is not None:
            return False
        try:
            return self.state() == self.before and self.holds()[0] == "CANARY-IN-MEMORY"
        except (OSError, IndexError):
            return False

    def end(self):
        self.process.kill()
        self.process.communicate()


class Arena:
    """One for a user; `fresh` puts everything back."""

    def __init__(self, hasp, probe, user):
        self.user = user
        self.uid = 0 if user == "root" else UNPRIVILEGED
        self.token = user.upper() + "_API_TOKEN"  # another arena's may be seen
        # Not beneath /tmp: at full that is another one, and attacks would fail for that alone.
        self.top = Path(tempfile.mkdtemp(prefix="hasp-attack-", dir="/var/tmp"))
        self.shared = Path(tempfile.mkdtemp(prefix="hasp-attack-", dir="/tmp"))
        self.top.chmod(0o755)
        self.shared.chmod(0o777)
        self.shm = Path("/dev/shm/hasp-attack-%d-%s" % (os.getpid(), user))
        self.hasp, self.probe = self.top / "hasp", self.top / "attack_probe"
        shutil.copy(hasp, self.hasp)
        shutil.copy(probe, self.probe)
        (self.top / "sockets").mkdir()
        self.work, self.outside = self.top / "work", self.top / "outside"
        self.home, self.evil = self.top / "home", self.top / "work-evil"
        self.listeners = Listeners(self.top / "sockets", lambda: self.outside / "target", user)
        self.held = self.top / "held"
        subprocess.run(["git", "init", "-q", "--template=", self.top / "template"], check=True)
        self.canary = None
        self.batches = {}
        self.fresh()

    def as_user(self):
        if self.user == "root":
            return []
        return ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]

    # ---- what is there ----

    def fresh(self):
        for path in (self.work, self.outside, self.home, self.evil):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        for path, text in (
                (self.work / "file", "one\n"), (self.outside / "target", "TARGET\n"),
                (self.outside / "secret", SECRET + "\n"), (self.outside / "linked", "linked\n"),
                (self.outside / "hidden/secret", SECRET + "\n"), (self.evil / "target", "TARGET\n"),
                (self.home / ".ssh/id_rsa", SECRET + "\n"),
                (self.home / ".aws/credentials", SECRET + "\n"),
                (self.home / ".gemini/oauth_creds.json", SECRET + "\n"),
                (self.shared / "target", "TARGET\n"), (self.shm, "TARGET\n"),
                (self.held, "TARGET\n")):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        os.link(self.outside / "linked", self.work / "linked")
        (self.home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n")
        shutil.copytree(self.top / "template/.git", self.work / ".git")
        self.give_away()
        if self.canary is None or not self.canary.is_well():
            if self.canary:
                self.canary.end()
            self.canary = Canary(self)
        self.before = self.look()
        self.count = len(self.listeners.arrivals)

    def give_away(self):
        for top in (self.work, self.outside, self.home, self.evil, self.shared, self.shm, self.held,
                    self.top / "sockets"):
            for path in [top, *top.rglob("*")]:
                os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def look(self):
        """All that an attack could change outside, change times included."""
        seen = {}
        places = [self.shm, self.held, self.shared, self.outside, self.home, self.evil]
        for place in places:
            for path in [place, *sorted(place.rglob("*"))]:
                if path.is_relative_to(self.home / ".gemini") and path.name != "oauth_creds.json":
                    continue  # hasp's own folders
                st = path.lstat()
                seen[str(path)] = (st.st_mode, st.st_uid, st.st_size if not path.is_dir() else 0,
                                   st.st_nlink, st.st_mtime_ns, st.st_ctime_ns)
                if stat.S_ISREG(st.st_mode):
                    seen[str(path)] += (path.read_bytes(),)
        for path in (self.home, self.home / ".gemini"):
            seen.pop(str(path), None)
        return seen

    def variables(self):
        return {"W": self.work, "O": self.outside, "S": self.top / "sockets", "P": self.probe,
                "T": self.shared, "SHMFILE": self.shm, "C": self.canary.pid, "HASP": self.hasp,
                "ADDRESS": self.canary.address, "SHM": self.canary.shm, "CFD": self.canary.fd,
                "ABSTRACT": self.listeners.abstract, "TOKEN": self.token, **self.listeners.ports}

    # ---- an attack ----

    def shell(self, script, variables, env):
        words = "".join("%s='%s'; " % item for item in variables.items())
        subprocess.run([*self.as_user(), "sh", "-c", words + script], cwd=self.work, env=env,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def argv(self, attack, level, words):
        options = [word.replace("$O", str(self.outside)).replace("$W", str(self.work))
                   for word in attack.options]
        hasp = [] if level == "bare" else [self.hasp, "sandbox", "--sandbox", level, *options, "--"]
        argv = [*self.as_user(), *hasp, "sh", "-c", words + "echo started; " + attack.script]
        if "--pid" in attack.own:
            # A canary must be where the attack could reach it.
            argv = ["sh", "-c", '%s sleep 60 & "$@"; code=$?; sleep 0.1; '
                    'grep -q "State:.*sleeping" /proc/$!/status && echo canary lives; '
                    'kill -9 $! 2> /dev/null; exit $code' % " ".join(self.as_user()), "sh", *argv]
        return ["unshare", *attack.own, *argv] if attack.own else argv

    def run(self, attack, level):
        """Runs it; whether harm was done, and what it printed."""
        self.fresh()
        variables = self.variables()
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.home),
               "LC_ALL": "C", "HASP_SANDBOX": level, self.token: SECRET,
               "XDG_CONFIG_HOME": str(self.outside / "config")}
        if attack.before:
            self.shell(attack.before, variables, env)
            self.before = self.look()
        fds, owned = self.inherit(attack, variables)
        words = "".join("%s='%s'; " % item for item in variables.items())
        connector = self.connect_later(attack)
        ended = subprocess.run(self.argv(attack, level, words), cwd=self.work, env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=300,
                               stderr=subprocess.STDOUT, pass_fds=fds,
                               start_new_session=attack.tty)
        self.ended = True
        for thing in owned:
            os.close(thing)
        if connector:
            connector.join()
        if attack.later:
            self.shell(attack.later, variables, env)
        result = Result(ended.returncode, ended.stdout.decode(errors="replace"))
        assert "started" in result.output, "the command did not run: " + result.output
        must = level == "bare" or (level == "paths" and not attack.paths)
        return self.is_seen(attack, must, result), result

    def is_seen(self, attack, must, result):
        """What happens in another process may take a moment; where it must happen, even longer."""
        see = getattr(self, "seen_" + attack.seen)
        moment = {"late": 0.6, "received": 0.03, "canary": 0.01}.get(attack.seen, 0)
        until = time.monotonic() + (60 if moment and must else moment)
        harm = see(attack, result)
        while not harm and time.monotonic() < until:
            time.sleep(0.01)
            harm = see(attack, result)
        return harm

    def run_batch(self, attack, level, attacks):
        """Those that disturb nothing are tried in one sandbox."""
        key = (attack.batch, level)
        if key not in self.batches:
            script = "; ".join("%s && echo 'done: %s'" % (one.script, one.name) for one in attacks)
            self.batches[key] = self.run(attack._replace(script=script), level)[1]
        result = self.batches[key]
        return "done: %s\n" % attack.name in result.output, result

    def inherit(self, attack, variables):
        owned = []
        if attack.fds:
            owned.append(os.open(self.outside / "target", os.O_RDWR))
            given, self.pair = socket.socketpair()
            self.pair.setblocking(False)
            owned.append(given.detach())
            variables.update(FD=owned[0], SOCKET=owned[1])
            return tuple(owned), owned
        if attack.tty:
            owned += list(pty.openpty())
            os.fchmod(owned[1], 0o666)
            variables.update(TTY=os.ttyname(owned[1]))
        return (), owned

    def connect_to(self, host, path):
        if not path:
            return socket.create_connection((host, self.listeners.ports["LISTEN"]), 0.2)
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(0.2)
        try:
            sock.connect(path)
        except OSError:
            sock.close()
            raise
        return sock

    def connect_later(self, attack):
        self.connected = self.ended = False
        if not attack.seen.startswith("connected"):
            return None
        path = str(self.work / "socket") if attack.seen.endswith("by_path") else None
        host = "127.0.0.2" if attack.seen.endswith("afar") else "127.0.0.1"

        def connect():
            while not self.ended:
                time.sleep(0.02)
                try:
                    with self.connect_to(host, path) as sock:
                        self.connected |= sock.recv(6) == b"ATTACK"
                        return
                except OSError:
                    pass
        thread = threading.Thread(target=connect)
        thread.start()
        return thread

    # ---- how harm is seen ----

    def seen_outside(self, _attack, _result):
        return self.look() != self.before

    def seen_done(self, _attack, result):
        """The kernel did it, or at least looked at it: nothing can be seen outside."""
        return result.code == 0

    def seen_secret(self, _attack, result):
        return SECRET in result.output

    def seen_big(self, _attack, _result):
        path = self.work / "big"
        return path.exists() and path.stat().st_size > 16 << 30

    def seen_settings(self, _attack, _result):
        codex = self.work / ".codex"
        tasks = self.work / "sub/.vscode/tasks.json"
        if (self.work / "sub/.envrc").exists() or (tasks.exists() and tasks.read_text() != "old\n"):
            return True
        if any((self.work / name).exists() for name in (".vscode", ".gemini", ".mcp.json")):
            return True
        return codex.is_symlink() or codex.exists() and (
            (codex / "config.toml").read_text() != "old\n" or
            bool((codex / "config.toml").stat().st_mode & 0o022))

    def seen_canary(self, attack, result):
        if "--pid" in attack.own:
            return "canary lives" not in result.output
        return not self.canary.is_well()

    def seen_lost(self, _attack, result):
        return result.code != 0

    def seen_memory(self, _attack, result):
        return "CANARY-IN-MEMORY" in result.output

    def seen_memory_changed(self, _attack, _result):
        changed = self.canary.holds()[1] != "CANARY-IN-MEMORY"
        if changed:
            self.canary.end()
        return changed

    def seen_command_line(self, _attack, result):
        return "canary" in result.output

    def seen_late(self, _attack, _result):
        return (self.work / "late").exists()

    def seen_many(self, _attack, result):
        return "no limit" in result.output

    def seen_received(self, attack, _result):
        if attack.fds:
            try:
                return self.pair.recv(6) == b"ATTACK"
            except OSError:
                return False
        return len(self.listeners.arrivals) > self.count

    def seen_connected(self, _attack, _result):
        return self.connected

    def seen_connected_by_path(self, _attack, _result):
        return self.connected

    def seen_connected_from_afar(self, _attack, _result):
        return self.connected

    def close(self):
        self.canary.end()
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.rmtree(self.shared, ignore_errors=True)
        self.shm.unlink(missing_ok=True)


class Row(NamedTuple):
    attack: object
    found: dict     # level: "blocked", "open" or why it cannot be said
    wrong: list


UNKNOWN = ("not implemented", "not supported", "No such device")


def attempt(arena, attack, level, batch):
    if attack.batch:
        return arena.run_batch(attack, level, batch)
    return arena.run(attack, level)


def try_attack(arena, attack, batch=()):
    """Tries it at each level and compares with what is documented."""
    found, wrong = {}, []
    for level in [*reversed(LEVELS), *(["bare"] if attack.paths and attack.bare else [])]:
        harm, result = attempt(arena, attack, level, batch)
        found[level] = "open" if harm else "blocked"
        expected = "open" if level == "bare" else outcome(attack, level)
        if found[level] == expected:
            continue
        if level == "paths" and not harm and attack.root and arena.user != "root":
            found[level] = "needs root"
        elif level == "paths" and not harm and (
                attack.batch or any(word in result.output for word in UNKNOWN)):
            found[level] = "not here"
        else:
            wrong.append("%s, %s, at %s as %s: %s instead of %s, exit code %d\n%s" % (
                attack.group, attack.name, level, arena.user, found[level], expected, result.code,
                result.output[-600:]))
    return Row(attack, found, wrong)
