# SPDX-License-Identifier: Apache-2.0
"""The promise, beside a real bash: what it starts is in the list, or there is a problem.

bash runs random scripts in an empty folder where all that it finds are recorders and a few
wrappers; what it started is compared with the analysis of the same text.
"""

import socket
import subprocess

import pytest

from part import part_step
from shell_fixture import Probe, RecordingBash, commands
from shell_scripts import Scripts

pytestmark = pytest.mark.rows_in_turn(3)

SHELLS = ("bash", "sh", "dash")
PART = part_step(6)  # of so many generated scripts one


@pytest.fixture(scope="module")
def bash():
    bash = RecordingBash()
    yield bash
    bash.close()


def missing(probe, bash, script):
    """Names that bash started and the analysis has not; whether it says that it knows all."""
    analysis = probe(script)
    if analysis["problems"]:
        return set(), False
    started = bash(script)
    found = set()
    for words in commands(analysis):
        base = words[0].rsplit("/", 1)[-1]
        # The file that a shell reads is an argument of the shell.
        found.update(words if base in SHELLS else [base])
    return started - found, True


def test_the_recorder_records(bash):
    """What the other tests rest on."""
    assert bash("a; env b; x=$(c); sh -c d; echo e | xargs f; \\g x > o") == set("abcdfg")
    assert bash("eval 'a b'; trap 'c' EXIT; find . -maxdepth 0 -exec d {} +") == set("acd")
    assert bash("v='w[$(a)]'; : $((v))") == {"a"}
    assert bash("'nobody knows'") == {"nobody knows"}
    assert bash("kill -9 $$; a") == {"kill", "a"}


@pytest.mark.parametrize("seed,count,damage", [(1, 400, False), (2, 800, True)])
def test_nothing_is_started_that_is_not_listed(bash, seed, count, damage):
    probe = Probe()
    scripts = Scripts(seed)
    complete = 0
    count //= PART
    for _ in range(count):
        script = scripts.damaged() if damage else scripts.script()
        names, known = missing(probe, bash, script)
        assert names == set(), script
        complete += known
    probe.close()
    # The scripts are strange; yet a good part of them is analysed whole.
    assert complete > count * (0.1 if damage else 0.3)


# Each starts canary "a" in a way that a reader may miss.
TRICKS = [
    "[ x || a ]", "[ x -o y | a ]", "cat <<EOF;a\nx\nEOF\n", "cat <<EOF\n$(a)\nEOF\n",
    "cat <<'E'F\n$(b)\nEF\na\n", "cat <<EO\\F\nEO\nEOF\na", "b <<-E\n\tx\n\t\tE\na",
    "b\\\n;a", "b &\\\n& a", "b $\\\n(a)", "b \"$\\\n(a)\"", "b `a`", "b \"`a`\"", "b \"`\\`a\\``\"",
    "b ${x:-`a`}", "b ${x:-$(a)}", "b \"${x:-\"$(a)\"}\"", "b \"${x:-'$(a)'}\"", "b ${x:-'}'} ; a",
    "b ${x#'}'}; a", "b \"${x#\"}\"}\"; a", "x=$(a)", "x[$(a)]=1", "b ${x[$(a)]}",
    "b $((1+$(a)))", "b $[1+$(a)]", "(( $(a) ))", "((b); a)", "b $((c); a)", "[[ $(a) ]]",
    "[[ x == $(a) ]]", "[[ x =~ $(a) ]]", "[[ -v v[$(a)] ]]", "for i in $(a); do b; done",
    "case $(a) in x) b;; esac", "case x in $(a)) b;; esac", "case x in (x) a;; esac",
    "case x in x) a; esac", "case esac in esac) a;; esac", "b > $(a)", "b <<< $(a)", "b <(a)",
    "b >(a)", "< <(a)", "b > >(a)", "! a", "! ! a", "time a", "time -p a", "time -- a", "coproc a",
    "coproc N { a; }", "f() { a; }; f", "f() a; f", "function f { a; }; f", "f() (a); f",
    "f() { eval \"$1\"; }; f a", "{ a; }", "{ a\n}", "(a)", "if a; then b; fi", "if b; then :; elif a; then :; fi",
    "while a; do break; done", "until a; do break; done", "for ((i=0; i<1; i++)) { a; }",
    "for i in x; { a; }", "select i in x; do a; done <<< 1", "if (true) then a; fi",
    "x=1 a", "x= a", "x+=1 a", ">o a", "a>o", "2>o a", "{v}>o a", "&>o a", ">&o a", "<o>o a",
    "'a'", "\\a", "\"a\"", "$'a'", "$'\\x61'", "$'\\141'", "a''", "\"\"a", "a\\\n", "\\\na", "$\"a\"",
    "{a,b}", "{a..a}", "b{,} ; a", "$(b; echo a)", "x=a; $x", "x='a b'; $x", "${x:-a}", "${x:=a}",
    "$(printf a)", "b #c\na", "b #c\\\na", "b '#'; a", "b$IFS;a", "b # c; d\na", "#\na", "#b\n a",
    "eval a", "eval 'a'", "eval \"a\" b", "eval eval a", "eval $'a'", "command eval a", "builtin eval a",
    "eval \"\"a", "eval 'x=1' ';' a", "bash -c a", "bash -c 'a'", "bash -c -- a", "bash -xc a",
    "bash -o posix -c a", "bash +x -c a", "sh -c a", "dash -c 'b;a'", "env a", "env -i a", "env x=1 a",
    "env -- a", "env - a", "env -S a", "env -S'a b'", "env --split-string=a", "env -u x a",
    "env --unset x a", "nice a", "nice -n 1 a", "nice -1 a", "nice -n1 a", "nice --adj=1 a",
    "nice --adjustment 1 a", "timeout 1 a", "timeout -s 9 1 a", "timeout --sig 9 1 a", "timeout -- 1 a",
    "setsid -w a", "stdbuf -o0 a", "stdbuf --output 0 a", "xargs a", "xargs -- a", "xargs -r a; xargs a",
    "echo a | xargs env", "echo a | xargs -I{} {}", "echo a | xargs -i {}", "echo a | xargs sh -c",
    "echo x | xargs -I{} sh -c a", "xargs -n 1 a", "xargs -n1 env a", "echo a | bash", "bash <<< a",
    "bash <<E\na\nE\n", "bash < <(echo a)", "bash <(echo a)", "echo a > o; bash o; . o", "echo a >o; . ./o",
    "find . -maxdepth 0 -exec a \\;", "find . -maxdepth 0 -exec a {} +", "find . -maxdepth 0 \\-e\"xe\"c a \\;",
    "find . -maxdepth 0 -exec env a \\;", "x=-exec; find . -maxdepth 0 $x a \\;",
    "find . -maxdepth 0 -execdir a \\;", "trap a EXIT", "trap 'a' 0", "trap -- a EXIT", "trap a DEBUG; :",
    "trap a ERR; false", "trap 'a' RETURN; f() { :; }; f", "exec a", "exec -a x a", "exec -c a",
    "(exec a)", "command a", "command -p a", "command -- a", "PATH=$PATH a", "hash -r; a",
    "alias x=a\nx", "shopt -s expand_aliases\nalias x=a\nx", "shopt -s extglob\na", "set -k; b x=1; a",
    "x='v[$(a)]'; : $((x))", "x='v[$(a)]'; ((x))", "x='v[$(a)]'; let x", "x='v[$(a)]'; [[ $x -eq 1 ]]",
    "x='v[$(a)]'; [[ 1 -lt x ]]", "x='v[$(a)]'; : ${y[x]}", "x='v[$(a)]'; y[x]=1", "x='v[$(a)]'; : ${PWD:x}",
    "x='v[$(a)]'; : ${PWD:0:x}", "x='v[$(a)]'; for ((x;0;)); do :; done", "declare -i x='v[$(a)]'",
    "declare -i x; x='v[$(a)]'", "printf -v 'v[$(a)]' x", "printf '-vv[$(a)]' x", "read 'v[$(a)]' <<< x",
    "unset 'v[$(a)]'", "test -v 'v[$(a)]'", "[ -v 'v[$(a)]' ]", "x=-v; [ $x 'v[$(a)]' ]",
    "x='v[$(a)]'; : ${!x}", "x='$(a)'; : ${x@P}", "declare -n x='v[$(a)]'; : $x", "PS4='$(a)'; set -x; :",
    "x='$(a)' PS4='$(a)'; set -x; b", "mapfile -C a -c 1 <<< x", "readarray -C 'a' -c1 <<< x",
    "compgen -C a x", "compgen -W '$(a)'", "complete -C a b", "jobs -x a", "BASH_ENV=o; echo a>o; bash -c :",
    "echo a >o; BASH_ENV=o bash -c :", "echo a >o; env BASH_ENV=o bash -c :", "echo a >o; export BASH_ENV=o; bash -c :",
    "export 'PS4=$(a)'; bash -xc :", "env 'PS4=$(a)' bash -xc :", "f() { a; }; export -f f; bash -c f",
    "env 'BASH_FUNC_f%%=() { a; }' bash -c f", "wait -p 'v[$(a)]' -n", "getopts x 'v[$(a)]'",
    "b;a", "b\na", "b&a", "b|a", "b||a", "b&&a", "b|&a", "b;;a", "b & & a", "; a", "b\r\na", "b\ra",
    "\u00a0; a", "b\u00a0; a", "b \u2028 a", "b\ufeff; a", "\ufeffa", "b\va", "b\fa",
    "coproc { a; }; wait", "b 3<<<x;a", "b <<<x&a", "b<<E&&a\nE\n", "b <<E | a\nE\n", "b <<E\\\n;a\nE\n",
    "b <<E\n\\$(a)\nE\n", "b <<E\n\\\\$(a)\nE\n", "b <<E\nE\\\n\nE\na", "b <<\"E\nE\"\nx\nE\nE\na", "b <<$'E'\nx\nE\na",
    "b <<E\"\"\n$(c)\nE\na", "b <<''\n$(c)\n\na", "b <<E$x\nE$x\na", "b <<`c`\n`c`\na", "b << # c\na",
    "x=(a b); a", "x=($(a))", "x=([$(a)]=1)", "x=(b #c)\na)\na", "declare x=(a $(a))", "export x=$(a)",
    "local x=$(a)", "readonly x=`a`", "echo b >o;a<o", "b 2>&1;a", "b >&2;a", "b 2>&-;a", "b >|o;a", "b <>o;a",
]


@pytest.mark.parametrize("script", TRICKS)
def test_tricks(bash, script):
    probe = Probe()
    names, _ = missing(probe, bash, script)
    probe.close()
    assert names == set()


class Listener:
    """Counts the connections that a script makes to a port of this machine."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def connects(self, script):
        subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60, check=False, env={"PATH": "/usr/bin:/bin", "HOME": "/root"})
        self.socket.settimeout(0)
        found = False
        try:
            while True:
                self.socket.accept()[0].close()
                found = True
        except OSError:
            return found


# @: the address as bash has it. What connects must be a problem; what is marked "-" must be none.
NETWORK = [
    ": <@", ": <\"@\"", ": <'@'", ": < \\@", ": >@", ": >>@", ": >|@", ": <>@", ": &>@", ": >&@", ": &>>@", "exec 3<>@",
    "exec {fd}<>@", ": 2>&1 >@", "<@", ">@", "{ :; } <@", "( : ) >@", "while false; do :; done <@", "if true; then :; fi <@",
    "f() { :; } <@; f", "x=$(: <@)", ": $(<@)", ": <(: <@)", "sh -c ': <@'; bash -c ': <@'", "eval ': <@'", "read -t 0.1 x <@",
    "p=@; : <$p", "p=@; : <\"$p\"", "p=/dev; : <$p/tcp/127.0.0.1/PORT", ": <$(echo @)", ": <`echo @`", "set -- @; : <$1",
    "a=(@); : <${a[0]}", ": <${x:-@}", ": </dev/tcp/${x:-127.0.0.1}/PORT", ": </dev/{t..t}cp/127.0.0.1/PORT",
    ": <\"/dev\"/{t..t}cp/127.0.0.1/PORT", ": <$'/dev/t\\x63p/127.0.0.1/PORT'", ": <$\"@\"", "cd /dev; : <~+/tcp/127.0.0.1/PORT",
    "cd /dev; cd /; : <~-/tcp/127.0.0.1/PORT", ": <~sys/tcp/127.0.0.1/PORT", "HOME=/dev; : <~/tcp/127.0.0.1/PORT",
    "coproc : <@; wait", ": <<< $(: <@)", ": </dev/tcp/$((127)).0.0.1/PORT",
    "- : <~/x", "- : <x*", "- : <dir/$x", "- : <<< @", "- : <<E\n@\nE", "- : @", "- [[ a < @ ]]", "- : <x@", "- : </tmp/$x", "- : 2>&1",
    "- : <(a)", "- : < <(a)", "- : <&3",
]


@pytest.mark.parametrize("script", NETWORK)
def test_a_redirection_that_connects_is_a_problem(script):
    listener, probe = Listener(), Probe()
    harmless = script.startswith("- ")
    script = script[2:] if harmless else script
    script = script.replace("@", "/dev/tcp/127.0.0.1/PORT").replace("PORT", str(listener.port))
    said = {problem["kind"] for problem in probe(script)["problems"]} - {"syntax"}
    probe.close()
    assert not (harmless and said)
    if listener.connects(script):
        assert not harmless
        assert said & {"network", "expansion", "environment"}, script
    elif not harmless:
        assert "network" in said, "bash does not connect, so nothing requires this row"
