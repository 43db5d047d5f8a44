# SPDX-License-Identifier: Apache-2.0
"""Everyday jobs that must work in the sandbox as they do outside: one table, read by test_honest.py
and printed into docs/honest-work.md (run this file).

A job is a script for `sh -e`.  It begins in an empty folder, after `before`, which always runs outside.
To add one: a row in the group it belongs to; what it runs is a package in script/setup; then
test/honest/jobs.py prints the document's tables anew.

    flags     what hasp sandbox is given for it, at both levels or at those of `levels`; `why` says so in
              the document.  Without them the job must end differently: a flag that nobody needs is an error.
    cannot    level: why the job ends differently there; the document's sentence.  It must.
    unlike    patterns of files whose content differs from run to run: their names are compared alone
    folder    where the script begins, and what the sandbox takes for the workspace
    users     who does it, where not everybody does
"""

import sys
from typing import NamedTuple

LEVELS = ("full", "landlock")
USERS = ("root", "user")


class Job(NamedTuple):
    name: str
    script: str
    before: str = ""
    folder: str = "."
    flags: tuple = ()
    levels: tuple = LEVELS
    why: str = ""
    cannot: dict = {}
    unlike: tuple = ()
    users: tuple = USERS
    group: str = ""


PTRACE = "tracing is refused inside (`ptrace`); run it outside"
REPOSITORY = "git init -q; echo one > file; git add file; git commit -q -m first; "


def version_control():
    yield Job("git init, add, commit", "git init -q; echo one > file; git add file; git commit -q -m first; "
              "git status --porcelain; git log --format='%H %an %s'", unlike=("index",))
    yield Job("git commit where the workspace is a sub-folder of the repository",
              "echo two > file; git add .; git commit -q -m second; git log --format=%H; "
              "git status --porcelain; git show --stat --format=", folder="sub", unlike=("index",),
              before="git init -q; mkdir sub; echo one > sub/file; git add .; git commit -q -m first")
    yield Job("git checkout between branches with tracked editor settings",
              "git checkout -q other; cat .vscode/settings.json; git status --porcelain; "
              "git checkout -q -; cat .vscode/settings.json; git status --porcelain",
              before="git init -q; mkdir .vscode; echo 1 > .vscode/settings.json; git add .; "
              "git commit -q -m one; git checkout -q -b other; echo 2 > .vscode/settings.json; "
              "git commit -q -a -m two; git checkout -q -", unlike=("index",),
              flags=("--write", ".vscode"), why="what editors obey is protected, from git too")
    yield Job("git branch, merge, a conflict resolved",
              "git checkout -q -b side; echo side > file; git commit -q -a -m side; git checkout -q main; "
              "echo here > file; git commit -q -a -m here; git merge side > /dev/null && exit 9; "
              "git status --porcelain; echo both > file; git add file; git commit -q -m merged; "
              "git log --graph --format=%s; git status --porcelain",
              before=REPOSITORY, unlike=("index",))
    yield Job("git config, remote add, branch -m and -d",
              "git config core.abbrev 8; git remote add up ../up; git branch side; git branch -m side other; "
              "git branch -q -d other; git config --get-regexp '^remote|abbrev'", before=REPOSITORY,
              flags=("--write", ".git/config"), why="they write git's configuration, which git obeys",
              unlike=("index",))
    yield Job("git rebase and rebase --interactive",
              "git checkout -q -b side; for i in 1 2 3; do echo $i > new$i; git add .; git commit -q -m $i; done; "
              "git checkout -q main; echo x > other; git add .; git commit -q -m main; git checkout -q side; "
              "git rebase -q main; GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=true "
              "git rebase -q -i main; git log --format=%s; git status --porcelain",
              before=REPOSITORY, unlike=("index",))
    yield Job("git cherry-pick, revert, stash, tag",
              "git checkout -q -b side; echo x > new; git add .; git commit -q -m new; git checkout -q main; "
              "git cherry-pick side > /dev/null; git revert --no-edit HEAD > /dev/null; echo y > file; "
              "git stash -q; git stash pop -q; git tag -a v1 -m v1; git describe; git reset -q --hard; "
              "git log --format=%s; git tag", before=REPOSITORY, unlike=("index",))
    yield Job("git worktree add, commit there, remove",
              "git worktree add -q -b side tree; cd tree; echo x > new; git add .; git commit -q -m new; cd ..; "
              "git worktree list | wc -l; git worktree remove tree; git log --format=%s side",
              before=REPOSITORY, unlike=("index",))
    yield Job("git submodule add", "git -c protocol.file.allow=always submodule --quiet add ../library lib; "
              "git commit -q -m lib; git submodule status | cut -c 1-41; cat .gitmodules lib/file",
              before="mkdir library project; cd library; " + REPOSITORY + "cd ../project; " + REPOSITORY,
              folder="project", unlike=("index", "packed-refs", "project/.git/modules/*"),
              flags=("--write", ".git/config", "--write", "../library"),
              why="it writes git's configuration, and links the other repository's files")
    yield Job("git clone of a folder, push and fetch",
              "git clone -q one two; cd two; echo x > new; git add .; git commit -q -m new; "
              "git push -q origin HEAD:side; cd ../one; git log --format=%s side; cd ../two; git fetch -q; "
              "git branch -a", before="mkdir one; cd one; " + REPOSITORY, unlike=("index", "FETCH_HEAD", "two/.git/objects/*"))
    yield Job("git bisect run", "git bisect start HEAD HEAD~6 > /dev/null; "
              "git bisect run sh -c 'test $(cat n) -lt 5' | grep 'first bad'; git bisect reset 2> /dev/null",
              before="git init -q; for n in 1 2 3 4 5 6 7 8; do echo $n > n; git add n; "
              "git commit -q -m $n; done", unlike=("index",))
    yield Job("git gc, fsck, repack, reflog", "git gc -q; git fsck; git repack -q -a -d; "
              "git reflog --format=%gs; git count-objects", before=REPOSITORY, unlike=("index", "*.pack", "*.rev"))
    yield Job("git format-patch, am, apply, archive",
              "echo two >> file; git commit -q -a -m second; git format-patch -q -1; git reset -q --hard HEAD~; "
              "git am -q 0001*; git log --format=%s; git diff HEAD~ > d; git checkout -q HEAD~ 2> /dev/null; "
              "git apply d; cat file; git archive HEAD | tar t; git blame -s file", before=REPOSITORY,
              unlike=("index",))
    yield Job("git clean, rm, mv, grep, sparse listing", "mkdir d; echo x > d/new; git add d; git mv file moved; "
              "git commit -q -m moved; touch rubbish; git clean -q -f; git rm -q d/new; git grep -n one; "
              "git ls-files -s; git status --porcelain", before=REPOSITORY, unlike=("index",))


def javascript():
    package = "echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"bin\": \"cli.js\"}' > a/package.json; " \
              "printf '#!/usr/bin/env node\\nconsole.log(\"hello\")\\n' > a/cli.js; chmod +x a/cli.js; "
    cache = "export npm_config_cache=$PWD/.cache; "
    yield Job("npm init, pack, install of an archive, npx",
              cache + "(cd a; npm pack --silent); cd b; "
              "npm install --offline --no-audit --no-fund --silent ../a/a-1.0.0.tgz; npx --no-install a",
              before="mkdir a b; echo '{\"name\": \"b\"}' > b/package.json; " + package,
              unlike=(".cache/*", "package-lock.json", ".package-lock.json", "*.tgz"))
    yield Job("npm run of a project's script, without a cache that can be written",
              "npm run --silent greet", before="echo '{\"name\": \"a\", \"scripts\": "
              "{\"greet\": \"echo greeted; node -p 6*7\"}}' > package.json")
    yield Job("node: test runner, worker threads, child processes",
              "node --test > /dev/null; node -e 'const w = require(\"worker_threads\"); "
              "new w.Worker(\"console.log(1 + 1)\", { eval: true })'; node -e 'console.log("
              "require(\"child_process\").execSync(\"echo child\").toString())'",
              before="echo 'require(\"node:test\")(\"adds\", () => require(\"assert\").equal(1 + 1, 2))' > a.test.js")
    yield Job("node: an HTTP server and fetch", "node server.js",
              before="cat > server.js <<'EOF'\nconst s = require('http').createServer((q, r) => r.end('served ' + q.url));\n"
              "s.listen(0, '127.0.0.1', async () => { const r = await fetch('http://127.0.0.1:' + s.address().port + '/x');\n"
              "console.log(await r.text()); s.closeAllConnections(); s.close(); });\nEOF")
    yield Job("husky: a commit runs the project's hook", "echo two > file; git commit -q -a -m second; cat ran; "
              "git log --format=%s", before=REPOSITORY + "cp -r $HUSKY/node_modules .; echo node_modules > .gitignore; "
              "echo '{\"name\":\"a\"}' > package.json; node node_modules/husky/bin.js > /dev/null; "
              "echo 'echo hook > ran' > .husky/pre-commit; git add .; git commit -q -m husky; rm -f ran",
              unlike=("index",))


def python():
    project = "mkdir -p p/lib; echo 'def one(): return 1' > p/lib/__init__.py; cat > p/setup.py <<'EOF'\n" \
              "from setuptools import setup\nsetup(name='lib', version='1.0', packages=['lib'],\n" \
              "      entry_points={'console_scripts': ['lib-one=lib:one']})\nEOF\n"
    yield Job("python -m venv, pip install of a folder, offline",
              "python3 -m venv --system-site-packages --without-pip v; v/bin/python -m pip install -q --no-index "
              "--no-build-isolation --disable-pip-version-check ./p; v/bin/lib-one || echo $?; "
              "v/bin/python -c 'import lib; print(lib.one(), lib.__file__)'", before=project,
              unlike=("*.pyc", "direct_url.json", "RECORD", "SOURCES.txt"))
    yield Job("pytest with fixtures for temporary files",
              "python3 -m pytest -q -p no:cacheprovider > out; grep -o '2 passed' out; rm out",
              before="cat > test_a.py <<'EOF'\nimport subprocess\ndef test_file(tmp_path):\n    (tmp_path / 'x').write_text('x')\n"
              "def test_run(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n"
              "    assert subprocess.check_output(['pwd']).decode().strip() == str(tmp_path)\nEOF", unlike=("*.pyc",))
    yield Job("python: multiprocessing, shared memory, semaphores", "python3 m.py", before="cat > m.py <<'EOF'\n"
              "from multiprocessing import Lock, Pool, Queue, Process, shared_memory, Manager\n"
              "def square(x): return x * x\n"
              "def put(q, lock):\n    with lock: q.put('from a process')\n"
              "if __name__ == '__main__':\n    with Pool(2) as p: print(p.map(square, range(5)))\n"
              "    q, lock = Queue(), Lock(); p = Process(target=put, args=(q, lock)); p.start(); print(q.get()); p.join()\n"
              "    m = shared_memory.SharedMemory(create=True, size=16); m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()\n"
              "    with Manager() as g: d = g.dict(); d['a'] = 1; print(dict(d))\nEOF", unlike=("*.pyc",))
    yield Job("python: asyncio with subprocesses and a server", "python3 a.py", before="cat > a.py <<'EOF'\n"
              "import asyncio\nasync def answer(r, w):\n    w.write((await r.readline()).upper()); w.close()\n"
              "async def main():\n    p = await asyncio.create_subprocess_shell('echo child', stdout=-1)\n"
              "    print((await p.communicate())[0])\n    s = await asyncio.start_server(answer, '127.0.0.1', 0)\n"
              "    r, w = await asyncio.open_connection(*s.sockets[0].getsockname()); w.write(b'line\\n')\n"
              "    print(await r.readline()); u = await asyncio.start_unix_server(answer, 's')\n"
              "    r, w = await asyncio.open_unix_connection('s'); w.write(b'unix\\n'); print(await r.readline())\n"
              "asyncio.run(main())\nEOF")
    yield Job("python -m http.server and curl", "python3 -u -m http.server 0 --bind 127.0.0.1 > log 2>&1 & "
              "p=$!; until grep -q port log 2> /dev/null; do sleep 0.02; done; "
              "port=$(grep -o 'port [0-9]*' log | cut -c 6-); curl -sS http://127.0.0.1:$port/page; "
              "curl -sS -o /dev/null -w '%{http_code}\\n' http://localhost:$port/none; kill $p; rm log",
              before="echo contents > page")
    yield Job("python: UDP on loopback", "python3 u.py", before="cat > u.py <<'EOF'\nimport socket\n"
              "a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'ab')\n"
              "a.bind(('127.0.0.1', 0)); b.sendto(b'question', a.getsockname())\ntext, peer = a.recvfrom(99)\n"
              "a.sendto(b'answer', peer); print(text, b.recvfrom(99)[0])\nEOF",
              flags=("--net",), levels=("landlock",), why="without a network namespace nothing in the kernel reports "
              "where datagrams go")
    yield Job("python: datagrams of unix sockets", "python3 u.py", before="cat > u.py <<'EOF'\nimport os, socket\n"
              "a, b = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in 'ab')\n"
              "a.bind('a'); b.bind('b'); b.sendto(b'question', 'a'); text, peer = a.recvfrom(99)\n"
              "a.sendto(b'answer', peer); print(text, b.recvfrom(99)[0], peer)\nos.unlink('a'); os.unlink('b')\nEOF",
              cannot=dict.fromkeys(LEVELS, "a datagram names its receiver where no filter sees it, so sockets of "
              "that kind are refused; `SOCK_STREAM` and `SOCK_SEQPACKET` work"))
    yield Job("python: sqlite3, with a write-ahead log", "python3 s.py", before="cat > s.py <<'EOF'\nimport sqlite3\n"
              "d = sqlite3.connect('db'); d.execute('pragma journal_mode=wal'); d.execute('create table t (a)')\n"
              "d.executemany('insert into t values (?)', [(i,) for i in range(9)]); d.commit()\n"
              "print(d.execute('select sum(a) from t').fetchone()); d.close()\nEOF")
    yield Job("pre-commit: a local hook runs at a commit", "echo two > file; git commit -q -a -m second 2>&1 | "
              "grep -o 'Passed'; git log --format=%s", before="export PRE_COMMIT_HOME=$PWD/.cache; " + REPOSITORY +
              "cat > .pre-commit-config.yaml <<'EOF'\nrepos:\n- repo: local\n  hooks:\n"
              "  - {id: a, name: a, entry: grep -q two, language: system, files: file}\nEOF\n"
              "git add .; git commit -q -m hooks; pre-commit install > /dev/null; rm -rf .cache",
              flags=("--write", "$HOME/.cache"), unlike=("index",),
              why="pre-commit keeps a lock and a log in the home folder; or `PRE_COMMIT_HOME=$PWD/.cache`")


def building():
    main = "cat > main.c <<'EOF'\n#include <stdio.h>\n#include \"part.h\"\nint main(void) { printf(\"%d\\n\", part(41)); return 0; }\nEOF\n" \
           "echo 'int part(int n);' > part.h; echo '#include \"part.h\"\nint part(int n) { return n + 1; }' > part.c; "
    binaries = ("*.o", "*.a", "*.so", "prog", "build/*", "CMakeFiles/*")
    yield Job("gcc and clang: compile, archive, link, run",
              "gcc -O1 -g -c main.c part.c; ar rcD lib.a part.o; gcc main.o lib.a -o prog; ./prog; "
              "clang -shared -fPIC part.c -o libpart.so; clang main.c -L. -lpart -Wl,-rpath,$PWD -o prog; ./prog",
              before=main, unlike=binaries)
    yield Job("gcc with the address and undefined behaviour sanitizers",
              "gcc -g -fsanitize=address,undefined main.c part.c -o prog; ./prog", before=main, unlike=binaries)
    yield Job("gcc with sanitizers: an error is found and named",
              "gcc -g -fsanitize=address,undefined bad.c -o prog; ./prog 2> err || echo code $?; "
              "grep -o 'heap-use-after-free' err | head -n 1; rm err", unlike=binaries,
              before="echo '#include <stdlib.h>\nint main(void) { char *p = malloc(9); free(p); return p[1]; }' > bad.c")
    yield Job("gcc with the address sanitizer: a leak is found", "gcc -g -fsanitize=address leak.c -o prog; "
              "./prog 2> err || echo code $?; grep -c 'detected memory leaks' err || true; rm err",
              unlike=binaries, cannot=dict.fromkeys(LEVELS, "leaks are not looked for (hasp sets "
              "`LSAN_OPTIONS=detect_leaks=0`, because it is done by `ptrace`); run it outside"),
              before="echo '#include <stdlib.h>\nint main(void) { return !malloc(99); }' > leak.c")
    yield Job("clang with the thread sanitizer", "clang -g -fsanitize=thread main.c part.c -o prog; ./prog",
              before=main, unlike=binaries)
    yield Job("make -j with a job server", "make -s -j 3; ./prog; make -s clean; ls", before=main +
              "printf 'prog: main.o part.o\\n\\t+$(CC) -o $@ $^\\nclean:\\n\\trm -f prog *.o\\n' > Makefile",
              unlike=binaries)
    yield Job("cmake, build and ctest", "cmake -S . -B build > /dev/null; cmake --build build -j 2 > /dev/null; "
              "cd build; ctest > log 2>&1; grep -o '100% tests passed' log; ./prog", before=main +
              "printf 'cmake_minimum_required(VERSION 3.13)\\nproject(p C)\\nenable_testing()\\n"
              "add_executable(prog main.c part.c)\\nadd_test(NAME t COMMAND prog)\\n' > CMakeLists.txt", unlike=("*",))
    yield Job("meson and ninja, with tests", "export XDG_CACHE_HOME=$PWD/.cache; meson setup build > /dev/null; meson test -C build > log; "
              "grep -o 'Ok: *1' log; build/prog", before=main + "printf \"project('p', 'c')\\n"
              "e = executable('prog', 'main.c', 'part.c')\\ntest('t', e)\\n\" > meson.build", unlike=("*",))
    yield Job("ccache", "export CCACHE_DIR=$PWD/.ccache; ccache gcc -c part.c; ccache gcc -c part.c; "
              "ccache --print-stats | grep -c '^direct_cache_hit.*1'; rm -rf .ccache", before=main, unlike=binaries)
    yield Job("gdb runs a program to a breakpoint", "gcc -g main.c part.c -o prog; "
              "gdb -batch -ex 'break part' -ex run -ex 'print n' ./prog 2>&1 | grep '^\\$1'", before=main,
              unlike=binaries, cannot={"full": PTRACE, "landlock": PTRACE})
    yield Job("strace of a program", "strace -o trace -e trace=write ./prog; grep -c write trace; rm trace",
              before=main + "gcc main.c part.c -o prog", unlike=binaries,
              cannot={"full": PTRACE, "landlock": PTRACE})


def text_and_files():
    yield Job("tar, zip, unzip, xz, zstd there and back",
              "tar cJf a.tar.xz d; tar cf - d | zstd -q > a.zst; zip -q -r a.zip d; mkdir x y z; "
              "tar xf a.tar.xz -C x; zstd -d -q < a.zst | tar x -C y; unzip -q a.zip -d z; "
              "diff -r d x/d; diff -r d y/d; diff -r d z/d; stat -c '%a %Y %n' x/d/* z/d/*",
              before="mkdir d; echo 1 > d/a; ln -s a d/l; chmod 755 d/a; touch -d '2020-01-01 UTC' d/a; "
              "touch -h -d '2020-01-01 UTC' d/l", unlike=("*.xz", "*.zst", "*.zip"))
    yield Job("rsync -a of a tree", "rsync -a --delete d/ e/; stat -c '%a %Y %n' e/a; rsync -a -i d/ e/; echo x > d/new; "
              "rsync -a -i --omit-dir-times d/ e/ | cut -c 1-3,12-", before="mkdir d e; echo 1 > d/a; echo old > e/old; "
              "chmod 640 d/a; touch -d '2020-01-01 UTC' d/a")
    yield Job("cp -a, mv, ln, install, touch, chmod, truncate", "cp -a d e; mv e/a e/b; ln e/b e/h; ln -s b e/s; "
              "install -m 755 d/a e/i; touch -d '2021-01-01 UTC' e/i; chmod -R g-w e; truncate -s 5 e/b; "
              "stat -c '%a %s %h %n' e/*; dd if=/dev/zero of=e/z bs=1k count=3 2> /dev/null; rm -r d",
              before="mkdir d; echo 12345678 > d/a")
    yield Job("patch, diff, sed -i, perl -i", "cp file old; sed -i s/one/two/ file; perl -pi -e 's/$/!/' file; "
              "diff -u --label a --label b old file > d || true; patch -s old d; cmp old file; cat d",
              before="echo one > file")
    yield Job("find, xargs -P, sort, awk, jq", "find . -name '*.json' -print0 | sort -z | xargs -0 -P 2 -n 1 jq .a | sort; "
              "awk 'BEGIN { while (i++ < 3) print i }' | sort -r -o out; cat out; seq 20000 | sort -R | sort -n | tail -n 1",
              before="mkdir a b; echo '{\"a\": 1}' > a/x.json; echo '{\"a\": 2}' > b/y.json")
    yield Job("named pipes, flock, mktemp", "mkfifo p; (echo through > p) & cat p; wait; flock lock echo locked; "
              "f=$(mktemp); echo x > $f; cat $f; rm $f; d=$(mktemp -d); touch $d/a; ls $d; rm -r $d")
    yield Job("files in /tmp by name", "echo text > /tmp/honest-$$; cat /tmp/honest-$$; mkdir /tmp/honest-$$.d; "
              "mv /tmp/honest-$$ /tmp/honest-$$.d/x; ls /tmp/honest-$$.d; rm -r /tmp/honest-$$.d",
              flags=("--write", "/tmp"), levels=("landlock",), why="without a mount namespace the machine's /tmp is "
              "seen, which others use too: a program takes $TMPDIR, or gets the flag")
    yield Job("here-documents, process substitution, coprocesses", "bash -c 'cat <<< text; diff <(echo a) <(echo a) "
              "&& echo same; coproc c { cat; }; echo hi >&${c[1]}; read -r x <&${c[0]}; echo $x'")
    yield Job("vim -es, ed: edit a file", "vim -es -u NONE -c '%s/one/two/' -c 'wq' file < /dev/null; cat file; "
              "printf '1s/two/three/\\nw\\nq\\n' | ed -s file; cat file; ls -a", before="echo one > file")
    yield Job("iconv, locale, date, bc, printf", "printf 'caf\\303\\251' | iconv -f UTF-8 -t LATIN1 | od -An -c; "
              "TZ=Europe/Berlin date -d @0; echo '2^100' | bc; LC_ALL=C.UTF-8 printf '%s\\n' é")
    yield Job("sqlite3, the command", "sqlite3 db 'create table t (a); insert into t values (1), (2); select sum(a) from t'; "
              "sqlite3 db .dump")


def processes():
    yield Job("background jobs, wait, trap, timeout, kill", "sleep 60 & p=$!; kill $p; wait $p || echo $?; "
              "timeout 0.1 sleep 9 || echo $?; sh -c 'trap \"echo trapped\" TERM; kill $$; :'; (sleep 0.02; echo late) & wait")
    yield Job("nohup, setsid, nice, ulimit", "nohup sh -c 'echo kept' > out 2> /dev/null; cat out; setsid -w echo session; "
              "nice -n 5 nice; (ulimit -n 64; ulimit -n); ulimit -c 0; chrt -p 0 > /dev/null 2>&1 || true; ionice true")
    yield Job("script: a program in a separate terminal", "script -q -e -c 'tty > /dev/null && stty size && echo in a terminal' "
              "/dev/null < /dev/null | tr -d '\\r' | tail -n 1")
    yield Job("expect drives a program", "expect -c 'log_user 0; spawn sh -c {read x; echo got $x}; send \"line\\r\"; "
              "expect -re {got (\\w+)}; puts $expect_out(1,string)'")
    yield Job("tmux: a session, its screen, its end", "t=\"tmux -L honest-$$ -f /dev/null\"; "
              "$t new-session -d -s s -x 80 -y 24 'echo shown; cat'; "
              "until $t capture-pane -p -t s | grep shown; do sleep 0.02; done; $t kill-server")
    yield Job("ps, pgrep, /proc, uname, id", "sleep 30 & until [ \"$(ps -o comm= -p $!)\" = sleep ]; do :; done; ps -o comm= -p $!; kill $!; test -r /proc/self/status; uname -s; id -u; "
              "nproc > /dev/null; test -n \"$(hostname)\"")


def keys_and_services():
    yield Job("gpg: a key, sign, verify, encrypt", "mkdir -m 700 g; export GNUPGHOME=$PWD/g; gpg -q --batch --passphrase '' "
              "--quick-gen-key a@example.org ed25519 sign 2> /dev/null; echo text > file; gpg -q --batch --sign file; "
              "gpg -q --verify file.gpg 2>&1 | grep -c 'Good signature'; gpg -q -d file.gpg 2> /dev/null; "
              "gpg -q --batch --passphrase x --pinentry-mode loopback -o c.gpg -c file; gpgconf --kill all; "
              "gpgconf --remove-socketdir 2> /dev/null; rm -rf g",
              unlike=("*.gpg",))
    yield Job("ssh-keygen, sign and verify", "ssh-keygen -q -t ed25519 -N '' -C c -f k; echo text > file; "
              "ssh-keygen -q -Y sign -f k -n file file 2> /dev/null; (printf 'a@example.org '; cat k.pub) > signers; "
              "ssh-keygen -Y verify -f signers -I a@example.org -n file -s file.sig < file | grep -c Good",
              unlike=("k", "k.pub", "signers", "*.sig"))
    yield Job("openssl: a certificate, a server, a client", "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert "
              "-subj /CN=localhost -days 1 2> /dev/null; openssl s_server -accept 127.0.0.1:0 -cert cert -key key -www > log 2>&1 & "
              "p=$!; until grep -q '^ACCEPT' log 2> /dev/null; do sleep 0.02; done; "
              "port=$(sed -n 's/^ACCEPT .*://p' log); curl -sS --cacert cert https://localhost:$port/ | grep -c 'Ciphers supported'; "
              "kill $p; rm log", unlike=("key", "cert"))
    yield Job("initdb, pg_ctl, psql by a unix socket and by TCP",
              "if [ $(id -u) = 0 ]; then initdb -D db 2>&1 | head -n 1; exit; fi; initdb -A trust -N -D db > /dev/null; "
              "port=$(python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])'); "
              "pg_ctl -s -w -D db -l log -o \"-p $port -k $PWD -F\" start; psql -X -At -h $PWD -p $port postgres -c 'select 1 + 1'; "
              "psql -X -At -h 127.0.0.1 -p $port postgres -c \"create table t (a int); insert into t values (7); select * from t\"; "
              "pg_ctl -s -m fast -D db stop; rm -r db log")


GROUPS = {"version control": version_control, "JavaScript": javascript, "Python": python, "building": building,
          "text and files": text_and_files, "processes": processes, "keys and services": keys_and_services}


def all_jobs():
    for group, rows in GROUPS.items():
        for job in rows():
            yield job._replace(group=group)


def cell(job, level):
    if level in job.cannot:
        return "no"
    return "with a flag" if job.flags and level in job.levels else "as outside"


def remark(job):
    flags = " ".join(word.replace("$HOME", "~") for word in job.flags)
    notes = ["`%s`: %s" % (flags, job.why)] if flags else []
    return "; ".join(notes + list(dict.fromkeys(job.cannot.values())))


def table():
    """What docs/honest-work.md has: as a list what works as outside at both levels, the rest as a table."""
    lines = []
    for group in GROUPS:
        jobs = [job for job in all_jobs() if job.group == group]
        others = [job for job in jobs if remark(job) or any(cell(job, level) != "as outside" for level in LEVELS)]
        lines += ["### " + group[0].upper() + group[1:], "", "As outside at both levels:", "",
                  *("- " + job.name for job in jobs if job not in others), ""]
        if others:
            lines += ["| job | full | landlock | what helps, and why |", "|---|---|---|---|"]
        lines += ["| %s | %s | %s | %s |" % (job.name, *(cell(job, level) for level in LEVELS), remark(job))
                  for job in others] + [""] * bool(others)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table())
