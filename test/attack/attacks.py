# SPDX-License-Identifier: Apache-2.0
"""The attacks as data: what each tries, how its success is seen, and what each level makes of it.

A row's `script` is run by sh inside the sandbox; the variables are those of arena.py:

    $W the workspace   $O a folder outside it   $S sockets outside   $P attack_probe   $C a process
    outside, $ADDRESS its memory, $SHM its shared memory, $CFD its descriptor   $TCP $UDP $LISTEN ports

`seen` says how the harm is seen: a function of arena.py, which looks outside.  Every row must be
seen to do harm at the level paths, unless `paths` says why it cannot.  `landlock` and `full` say why a
level lets it through; empty: blocked.  docs/attacks.md is made of these rows:

    attacks.py --table        prints its tables
"""

import sys
from typing import NamedTuple

PROBE_FILE = "a file beneath the workspace that is known outside under another name is in the workspace"
CLOSED = "hasp hands on no descriptors, at any level"
LIMITED = "limits hold at every level"
# A PID namespace, for attacks that could reach too far.
PID = ("--pid", "--fork", "--kill-child", "--mount-proc")
READABLE = "what may be read may be looked at"
NODE = "Landlock knows no device nodes; those in /dev are hidden"
SHARED = "a socket in the workspace is a file of the workspace"


class Attack(NamedTuple):
    group: str
    name: str
    source: str
    script: str
    seen: str = "outside"
    landlock: str = ""
    full: str = ""
    paths: str = ""           # why it is blocked even there; then it must do harm without hasp
    root: bool = False        # unconfined it works for root alone
    options: tuple = ()       # of hasp sandbox
    before: str = ""          # outside, earlier
    later: str = ""           # outside, afterwards
    bare: bool = True         # it can be tried without hasp
    batch: str = ""           # tried together with others of the same word
    own: tuple = ()           # options of unshare(1) around it all, where it would harm this machine
    fds: bool = False         # $FD and $SOCKET are inherited
    tty: bool = False
    users: tuple = ("root", "user")


def files():
    def row(name, source, script, **more):
        return Attack("files", name, source, script, **more)

    yield row("overwrite", "Kilo, A9 2", "$P overwrite $O/target")
    yield row("append", "Kilo", "$P append $O/target")
    yield row("truncate", "Kilo, D2", "$P truncate $O/target")
    yield row("write through a mapping", "Kilo", "$P mmap $O/target")
    yield row("remove", "Kilo", "$P unlink $O/target")
    yield row("move out of its folder", "Kilo, D2", "$P rename $O/target $W/x")
    yield row("replace by rename", "Kilo", "$P rename $W/file $O/target")
    yield row("exchange by rename", "Kilo", "$P exchange $W/file $O/target")
    yield row("make a file", "A9 2", "$P create $O/new")
    yield row("make a folder", "A9 25", "$P mkdir $O/new")
    yield row("make a symbolic link", "D2", "$P symlink $O/new")
    yield row("make a FIFO", "D2", "$P mkfifo $O/new")
    yield row("make a nameless file, then a name", "D2", "$P tmpfile $O $O/new")
    yield row("hard link into the workspace, written", "D2", "$P link $O/target $W/x")
    yield row("the same by descriptor", "D2", "$P link-descriptor $O/target $W/x")
    yield row("mode", "Kilo, D2", "$P chmod $O/target")
    yield row("owner", "D2", "$P chown $O/target")
    yield row("times", "Kilo, D2", "$P utimes $O/target")
    yield row("extended attribute", "Kilo, D2", "$P setxattr $O/target")
    yield row("mode, times, attribute by a descriptor open for reading", "D2",
              "$P metadata-by-descriptor $O/target")
    yield row("mode by /proc/self/fd", "D2", "$P chmod-by-magic-link $O/target")
    yield row("opened again by /dev/fd", "D2", "$P open-again $O/target")
    yield row("inode flags (chattr)", "D2", "$P setflags $O/target")
    yield row("file handle", "E 95", "$P handle $O/target $O", root=True)
    yield row("inherited descriptor", "D2, E 95", "$P write-inherited $FD", fds=True, paths=CLOSED)
    yield row("inherited descriptor, truncated", "D2", "$P truncate-inherited $FD", fds=True,
              paths=CLOSED)
    yield row("neighbour whose name begins alike", "E 1", "$P overwrite $W-evil/target")
    yield row("path with ..", "E 1", "$P overwrite $W/../outside/target")
    yield row("symbolic link that was there", "E 3, 13", "echo x > out/target; echo x > out/new",
              before="ln -s $O $W/out")
    yield row("symbolic link made inside", "E 5, A9 22", "ln -s $O d; echo x > d/target")
    yield row("symbolic link made inside, then hasp's file tool", "E 5", "ln -s $O d",
              later="$HASP tool write_file '{\"file_path\":\"d/target\",\"content\":\"x\"}'; "
                    "$HASP tool write_file '{\"file_path\":\"d/new\",\"content\":\"x\"}'",
              paths="file tools check paths at every level", bare=False)
    yield row("folder and link swapped in a race", "E 7, Kilo", "$P race-links $W/a $W/b target",
              before="mkdir $W/a; echo a > $W/a/target; ln -s $O $W/b")
    yield row("/proc/self/root", "E 95", "$P overwrite /proc/self/root$O/target")
    yield row("/proc/1/root", "E 95", "$P overwrite /proc/1/root$O/target", root=True, own=PID)
    yield row("root of the parent", "E 95", "$P overwrite /proc/$PPID/root$O/target", root=True)
    yield row("folder of the parent", "E 95", "$P overwrite /proc/$PPID/cwd/../outside/target",
              root=True)
    yield row("link to /proc/self/root", "E 95", "ln -s /proc/self/root r; $P overwrite r$O/target")
    yield row("program that is only in memory", "E 95", "$P memfd-exec $O/target")
    yield row("a file of others in /tmp", "A9 27", "$P overwrite $T/target")
    yield row("a file of others in /dev/shm", "A9 5", "$P overwrite $SHMFILE",
              landlock="/dev/shm is the machine's where there is no mount namespace")
    yield row("kernel setting", "E 95", "$P write-back /proc/sys/vm/swappiness", seen="done",
              root=True)
    yield row("what handles core dumps", "E 95", "$P write-back /proc/sys/kernel/core_pattern",
              seen="done", root=True)
    yield row("device made in the workspace", "A9 4", "$P mknod $W/disk", seen="done", root=True)
    yield row("the kernel's log", "A9 4", "$P open-for-writing /dev/kmsg", seen="done", root=True)
    yield row("a disk, read", "A9 4", "for d in /dev/loop0 /dev/vda /dev/sda /dev/nvme0n1; do "
              "dd if=$d of=/dev/null bs=512 count=1 && exit 0; done; echo No such device; exit 1",
              seen="done", root=True)
    yield row("a disk by a node that root put elsewhere", "A9 4",
              "dd if=disk of=/dev/null bs=512 count=1", seen="done", root=True,
              before="mknod $W/disk b 7 0", landlock=NODE, users=("root",))
    yield row("file beyond the limit of size", "E 95", "$P grow $W/big 17", seen="big", paths=LIMITED)
    yield row("hard link that the user made before", "D2", "echo ATTACK > $W/linked",
              full=PROBE_FILE, landlock=PROBE_FILE)
    yield row("look at a file's size and times", "D2", "$P stat $O/target", seen="done",
              full=READABLE, landlock=READABLE)
    yield row("lock a file that may be read", "D2", "$P flock $O/target", seen="done",
              full=READABLE, landlock=READABLE)


def hidden():
    def row(name, source, script, **more):
        return Attack("hidden files", name, source, script, seen="secret", **more)

    deny = ("--deny", "$O/hidden")
    yield row("read", "E 19", "cat $O/hidden/secret", options=deny)
    yield row("denied with a trailing slash", "E 19", "cat $O/hidden/secret",
              options=("--deny", "$O/hidden/"))
    yield row("/proc/self/root", "E 19", "cat /proc/self/root$O/hidden/secret", options=deny)
    yield row("root of the parent", "E 19", "cat /proc/$PPID/root$O/hidden/secret", options=deny,
              root=True)
    yield row("symbolic link", "E 3", "ln -s $O/hidden h; cat h/secret", options=deny)
    yield row("cover taken away", "D3", "$P uncover $O/hidden; cat $O/hidden/secret", options=deny)
    yield row("folder above renamed", "E 98", "mv $O/hidden $O/seen; cat $O/*/secret", options=deny)
    yield row("hidden folder in the workspace", "A9 26", "cat hidden/secret; mv hidden x; cat x/secret",
              options=("--deny", "$W/hidden"), before="mkdir $W/hidden; cp $O/secret $W/hidden")
    yield row("SSH key", "A12", "cat ~/.ssh/id_rsa")
    yield row("cloud keys", "A9 21", "cat ~/.aws/credentials")
    yield row("cloud keys, mounted elsewhere", "A9 21", "cat $O/keys/credentials", root=True,
              before="mkdir $O/keys; mount --bind ~/.aws $O/keys", later="umount $O/keys")
    yield row("GitHub's token where a variable says", "A9 21", "cat $O/config/gh/hosts.yml",
              before="mkdir -p $O/config/gh; cp $O/secret $O/config/gh/hosts.yml")
    yield row("hasp's tokens", "E 75", "cat ~/.gemini/oauth_creds.json")
    yield row("secrets in the environment of others", "E 73",
              "tr '\\0' '\\n' < /proc/$C/environ | grep API_TOKEN")
    yield row("secrets in hasp's environment", "E 73",
              "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep ^$TOKEN=",
              paths="hasp blanks what it was given there")


def settings():
    def row(name, source, script, **more):
        return Attack("settings in the workspace", name, source, script, **more)

    yield row("editor's tasks, where there were none", "E 21",
              "mkdir -p .vscode; echo x > .vscode/tasks.json", seen="settings")
    yield row("agent's hooks, where there were none", "E 35",
              "mkdir -p .gemini; echo x > .gemini/settings.json", seen="settings")
    yield row("made by a thread that changes the path meanwhile", "E 35",
              "$P race-text $W/.mcp.jsox $W/.mcp.json", seen="settings")
    yield row("in a sub-folder", "E 21", "mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json",
              seen="settings", before="mkdir $W/sub")
    yield row("in a sub-folder, overwritten", "E 21", "echo x > sub/.vscode/tasks.json",
              seen="settings",
              before="mkdir -p $W/sub/.vscode; echo old > $W/sub/.vscode/tasks.json")
    yield row("in a sub-folder, what a shell runs", "E 35", "echo x > sub/.envrc", seen="settings",
              before="mkdir $W/sub")
    yield row("in a sub-folder, by a thread that changes the path meanwhile", "E 35",
              "$P race-text $W/sub/.envrx $W/sub/.envrc", seen="settings", before="mkdir $W/sub")
    yield row("in a sub-folder that replaces another", "E 35",
              "mkdir new; echo x > new/.envrc; mv sub old; mv new sub", seen="settings",
              before="mkdir $W/sub")
    yield row("moved into place", "E 35", "mkdir x; echo x > x/settings.json; mv x .gemini",
              seen="settings")
    yield row("overwritten", "A9 20", "echo x > .codex/config.toml", seen="settings",
              before="mkdir $W/.codex; echo old > $W/.codex/config.toml")
    yield row("replaced by a symbolic link", "A9 22", "mv .codex x; ln -s $O .codex",
              seen="settings", before="mkdir $W/.codex; echo old > $W/.codex/config.toml")
    yield row("mode", "Kilo", "chmod 777 .codex/config.toml", seen="settings",
              before="mkdir $W/.codex; echo old > $W/.codex/config.toml")


def processes():
    def row(name, source, script, **more):
        more.setdefault("seen", "canary")
        return Attack("processes", name, source, script, **more)

    visible = "other processes of the same user can be seen where there is no PID namespace"
    slower = "the kernel lets a user slow down the user's own processes"
    yield row("kill a process outside", "E 95", "$P kill $C 9")
    yield row("kill by pidfd", "E 95", "$P kill-by-pidfd $C")
    yield row("kill by F_SETOWN", "E 95", "$P kill-by-owner $C")
    yield row("kill all", "E 95", "$P kill -1 9; true", own=PID)
    yield row("kill the parent", "E 95", "$P kill $PPID 9; sleep 0.1; exit 0", seen="lost")
    yield row("ptrace", "E 95", "$P ptrace $C $ADDRESS")
    yield row("process_vm_writev", "E 95", "$P vm-write $C $ADDRESS")
    yield row("process_vm_readv", "E 75", "$P vm-read $C $ADDRESS", seen="memory")
    yield row("/proc/PID/mem, written", "E 95", "$P mem-write $C $ADDRESS")
    yield row("/proc/PID/mem, read", "E 75", "$P mem-read $C $ADDRESS", seen="memory")
    yield row("memory of the parent", "E 75", "$P mem-any $PPID", seen="done", root=True)
    yield row("a descriptor of it (pidfd_getfd)", "E 95", "$P pidfd-getfd $C $CFD", seen="outside")
    yield row("a descriptor of it (/proc/PID/fd)", "E 95", "$P proc-fd $C $CFD", seen="outside")
    yield row("its limits", "D2", "$P prlimit $C")
    # Root's processes have capabilities that a command of root's lacks.
    yield row("its priority", "D2", "$P renice $C", landlock=slower, users=("user",))
    yield row("its scheduling", "D2", "$P sched $C", landlock=slower, users=("user",))
    yield row("its chance to be killed for memory", "D2", "$P oom $C")
    yield row("its System V memory", "D2", "$P shm $SHM", seen="memory_changed")
    yield row("its command line", "D2", "tr '\\0' ' ' < /proc/$C/cmdline", seen="command_line",
              landlock=visible)
    yield row("a daemon that outlives the command", "A9 11", "$P outlive $W/late 300", seen="late",
              paths="nothing outlives a command of hasp, at any level")
    yield row("more processes than the limit", "E 95", "$P fork 1200", seen="many",
              paths=LIMITED)
    yield row("the parent's namespaces", "E 95", "$P setns $PPID mnt", seen="done", root=True)


def kernel(calls=()):
    def row(name, source, script, **more):
        more.setdefault("seen", "done")
        return Attack("kernel", name, source, script, **more)

    yield row("mount in a user namespace", "D2, D3", "$P mount-over $O")
    yield row("namespaces by clone and clone3", "E 95", "$P clone-namespace")
    yield row("chroot in a user namespace", "D2", "$P chroot $O")
    yield row("typing into the terminal (TIOCSTI)", "E 95", "$P tiocsti < $TTY", tty=True, root=True)
    yield row("pasting into the console (TIOCLINUX)", "D5", "$P tioclinux < $TTY", tty=True)
    yield row("system calls of 32 bits (int 0x80)", "A12", "$P ia32")
    yield row("system calls of x32", "A3, E 95", "$P x32")
    yield row("capabilities", "A9 9, 10", "$P capabilities", root=True)
    yield row("new privileges by execve", "A9 8", "$P new-privileges")
    yield row("no filter", "A3", "$P unfiltered")
    yield row("another control group", "E 95", "for f in /sys/fs/cgroup/cgroup.procs "
              "/sys/fs/cgroup/*/cgroup.procs; do $P cgroup $f && exit 0; done; exit 1", root=True)
    for call in calls:
        yield row("call: " + call, "D5, E 95", "$P call '%s'" % call, root=True, batch="calls")


def network():
    def row(name, source, script, **more):
        more.setdefault("seen", "received")
        return Attack("network", name, source, script, **more)

    yield row("TCP", "A9 12-18", "$P tcp4 127.0.0.1 $TCP")
    yield row("TCP over IPv6", "A9 12-18", "$P tcp6 ::1 $TCP6")
    yield row("bash's /dev/tcp", "A9 18", "bash -c 'echo ATTACK > /dev/tcp/127.0.0.1/'$TCP")
    yield row("curl", "A9 12", "curl -s -m 2 http://127.0.0.1:$TCP/ATTACK")
    yield row("Python", "E 63", "/usr/bin/python3 -c \"import socket; "
              "socket.create_connection(('127.0.0.1', $TCP), 2).send(b'ATTACK')\"")
    yield row("TCP Fast Open", "D5", "$P fast-open 127.0.0.1 $TCP")
    yield row("UDP, as DNS is", "E 63, D2", "$P udp4 127.0.0.1 $UDP")
    yield row("UDP, connected", "E 63", "$P udp4-connected 127.0.0.1 $UDP")
    yield row("UDP by sendmsg and sendmmsg", "E 63", "$P udp-message 127.0.0.1 $UDP")
    yield row("UDP over IPv6", "E 63", "$P udp6 ::1 $UDP6")
    yield row("multicast", "E 95", "$P multicast 239.255.77.1 $MULTICAST")
    yield row("unix socket of a daemon", "E 71, A9 daemon_sockets", "$P unix-stream $S/daemon")
    yield row("the same through a symbolic link", "E 71", "ln -s $S/daemon d; $P unix-stream d")
    yield row("the same through a hard link", "E 71", "ln $S/daemon d; $P unix-stream d")
    yield row("unix datagrams", "E 71", "$P unix-datagram $S/datagrams")
    yield row("abstract unix socket", "D2, E 95", "$P unix-stream @$ABSTRACT")
    yield row("a descriptor handed over by a socket", "D5", "$P receive-descriptor $S/giver",
              seen="outside")
    yield row("inherited socket", "A1", "$P send-inherited $SOCKET", fds=True, paths=CLOSED)
    yield row("being connected to by this machine's programs", "A9 ingress",
              "$P listen $LISTEN 300", seen="connected",
              landlock="a command's servers are the machine's where there is no network namespace")
    yield row("being connected to by others", "A9 ingress", "$P listen $LISTEN 300",
              seen="connected_from_afar")
    yield row("being connected to by a socket in the workspace", "A9 ingress",
              "$P listen-unix $W/socket 300", seen="connected_by_path", full=SHARED,
              landlock=SHARED)
    yield row("socket of a daemon that lies in the workspace", "E 71", "$P unix-stream daemon",
              before="ln $S/daemon $W/daemon", full=SHARED, landlock=SHARED)
    yield row("another address for the machine", "E 95", "$P add-address 127.77.0.1", seen="done",
              root=True, own=("--net",))
    for name, numbers in (("packets", "17 3 0"), ("raw IP", "2 3 1"), ("netfilter", "16 3 12"),
                          ("audit", "16 3 9"), ("kernel crypto", "38 5 0"), ("vsock", "40 1 0"),
                          ("key management", "15 3 2"), ("Bluetooth", "31 3 1"),
                          ("CAN", "29 3 1"), ("XDP", "44 3 0")):
        yield row("sockets: " + name, "D5", "$P socket " + numbers, seen="done", batch="sockets",
                  root=name in ("packets", "raw IP", "key management", "CAN", "XDP", "netfilter",
                                "audit"))


def shell():
    def row(name, source, script, **more):
        return Attack("tricks of the shell", name, source, script, **more)

    yield row("what a long blank hides", "E 45", "grep x file" + " " * 2000 + "; touch $O/new")
    yield row("$IFS and options that run programs", "E 47",
              "printf '#!/bin/sh\\ntouch %s\\n' $O/new > x; chmod +x x; "
              "rg$IFS--pre=./x$IFS'one'$IFS'file'; sort -o $O/other file")
    yield row(">|", "E 49", "echo x >| $O/new")
    yield row("escaped options", "E 51", "find . -maxdepth 0 \\-exec touch $O/new \\;; "
              "git diff --no-index --out\\put=$O/new /dev/null file")
    yield row("programs that start programs", "E 53", "env rm -f $O/target; setsid rm -f $O/secret; "
              "echo $O/linked | xargs rm -f")
    yield row("substitutions and PATH", "E 55", "echo `touch $O/new`$(touch $O/other); mkdir bin; "
              "printf '#!/bin/sh\\ntouch %s\\n' $O/third > bin/ls; chmod +x bin/ls; "
              "PATH=$W/bin:$PATH; ls")
    yield row("a shell's startup file", "E 57", "printf 'touch %s\\n' $O/new > e; BASH_ENV=$W/e bash -c :")


def all_attacks(calls):
    """`calls`: what attack_probe calls prints."""
    for group in (files, hidden, settings, processes, network, shell):
        yield from group()
    yield from kernel(calls)


LEVELS = ("full", "landlock", "paths")


def outcome(attack, level):
    """"blocked", or "open"."""
    if level == "paths":
        return "blocked" if attack.paths else "open"
    return "open" if getattr(attack, level) else "blocked"


def cell(attack, level):
    why = getattr(attack, level)
    return outcome(attack, level) + (": " + why if why and level != "paths" else "")


def group_lines(rows):
    """What is blocked at both levels as a list, the rest as a table."""
    blocked = [row for row in rows if not row.full and not row.landlock]
    others = [row for row in rows if row.full or row.landlock]
    lines = ["Blocked at `full` and `landlock`:", ""] if blocked else []
    lines += ["- " + row.name for row in blocked]
    if others:
        lines += [""] * bool(blocked) + ["| attack | full | landlock |", "|---|---|---|"]
    return lines + ["| %s | %s | %s |" % (row.name.replace("|", "\\|"), cell(row, "full"),
                                          "open likewise" if row.full and row.full == row.landlock
                                          else cell(row, "landlock")) for row in others]


def table(calls):
    lines = []
    rows = list(all_attacks(calls))
    short = [row for row in rows if not row.name.startswith(("call: ", "sockets: "))]
    for group in dict.fromkeys(row.group for row in short):
        lines += ["", "### " + group[0].upper() + group[1:], "",
                  *group_lines([row for row in short if row.group == group])]
    for kind, title in (("call: ", "System calls"), ("sockets: ", "Kinds of sockets")):
        names = [row.name[len(kind):] for row in rows if row.name.startswith(kind)]
        lines += ["", "### " + title, "", "Blocked at `full` and `landlock`: %s." % ", ".join(names)]
    return "\n".join(lines).strip() + "\n"


if __name__ == "__main__":
    import os
    import subprocess
    sys.stdout.write(table(subprocess.run([os.environ["ATTACK_PROBE"], "calls"], check=True,
                                          stdout=subprocess.PIPE, text=True).stdout.splitlines()))
