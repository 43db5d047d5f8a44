# SPDX-License-Identifier: Apache-2.0
"""Lines that run `touch M` where a reader may miss it: fixed ones, and a generator.

A line of CASES really runs touch in bash 5.2, though its text names no such command.  Hostile(seed)
makes lines from the same parts: each has a way to hold a payload, a way to give it to a name, and
a way to have it evaluated.
"""

import random

PAYLOAD = "a[$(touch M)]"

# The findings, by number, and their siblings.
CASES = {
    "G1": [
        "%s='a[$(touch M)]'; ls" % name for name in ("RANDOM", "SRANDOM", "OPTIND", "HISTCMD")
    ] + [
        "RANDOM+='a[$(touch M)]'", "BASHPID+='+a[$(touch M)]'", "BASHPID[0]='a[$(touch M)]'",
        "RANDOM=(1 'a[$(touch M)]')", "SECONDS=(1 'a[$(touch M)]')",
        ": $SECONDS; SECONDS='a[$(touch M)]'", "for HISTCMD in 'a[$(touch M)]'; do :; done",
        "for SECONDS in 'a[$(touch M)]'; do :; done",
        "printf -v OPTIND %s 'a[$(touch M)]'", "printf -vRANDOM %s 'a[$(touch M)]'",
        "read -r RANDOM <<< 'a[$(touch M)]'", "IFS== read -r x RANDOM <<< 'y=a[$(touch M)]'",
        "export RANDOM='a[$(touch M)]'", "export -n RANDOM='a[$(touch M)]'",
        "command export RANDOM='a[$(touch M)]'", 
        "declare -n r=RANDOM; r='a[$(touch M)]'", "set -- 'a[$(touch M)]'; for OPTIND; do :; done",
        "while read -r RANDOM; do :; done <<< 'a[$(touch M)]'",
        "bash -c \"RANDOM='a[\\$(touch M)]'\"",
    ],
    "G2": [
        "BASH_REMATCH=1; [[ 'a[$(touch M)]' =~ .* ]]; echo $((BASH_REMATCH))",
        "REPLY=1; read <<< 'a[$(touch M)]'; echo $((REPLY))",
        "MAPFILE=1; mapfile -t <<< 'a[$(touch M)]'; echo $((MAPFILE))",
        "OPTARG=1; set -- -x 'a[$(touch M)]'; getopts x: o; echo $((OPTARG))",
        "bash -O extdebug -c 'echo $((BASH_ARGV))' x 'a[$(touch M)]'",
        "BASH_ARGV0='a[$(touch M)]'; echo $((BASH_ARGV0))",
        "i=1; env i='a[$(touch M)]' bash -c 'echo $((i))'",
        "i=1; env UID='a[$(touch M)]' bash -c 'echo $((UID))'",
        "env COLUMNS='a[$(touch M)]' bash -c 'echo $((COLUMNS))'",
        "i=1; command export i='a[$(touch M)]'; echo $((i))",
        "i=1; IFS= read -rai <<< 'a[$(touch M)]'; echo $((i))",
        "a='x[$(touch M)]'; for i in {a..b}; do echo $((i)); done",
        "for i in {1..2}'+a[$(touch M)]+'{3..4}; do echo $((i)); done",
        "x=$((1))'+a[$(touch M)]+'$((1)); echo $((x))",
        "declare -a 'x=($(touch M))'", "y='($(touch M))'; declare -A x=\"$y\"",
        "x=(1); y='($(touch M))'; declare x=$y", "f() { local -a 'x=($(touch M))'; }; f",
        "export -a 'x=($(touch M))'", "x='b[$(touch M)]'; exec {a[x]}>f",
        "for op in v; do test -\"$op\" 'a[$(touch M)]'; done", "op=v; [ -\"$op\" 'a[$(touch M)]' ]",
        "e=; test -v\"$e\" 'a[$(touch M)]'", "op=v; test \"-$op\" 'a[$(touch M)]'",
        "x='a[$(touch M)]'; test -v \"$x\"", "x='a[$(touch M)]'; [ -v \"$x\" ]",
        "x='a[$(touch M)]'; printf -v \"$x\" 1", "true & wait -n -p 'a[$(touch M)]'",
        "a=1; unset -v 'a[$(touch M)]'", "x='a[$(touch M)]'; echo ${PWD: -1:x}",
        "x='a[$(touch M)]'; echo ${@:x}", "x='a[$(touch M)]'; echo $[x]",
    ],
    "G3": [
        "bash -c 'ls ${!@}' x 'a[$(touch M)]'", "bash -c 'ls ${!*}' x 'a[$(touch M)]'",
        "set -- 'a[$(touch M)]'; echo ${!1}", "set -- 'a[$(touch M)]'; echo ${!@:-x}",
        "x='a[$(touch M)]'; echo ${!x}", "x='$(touch M)'; echo ${x[0]@P}",
        "set -- '$(touch M)'; echo ${@@P}", "set -- '$(touch M)'; echo ${*@P}",
        "set -- '$(touch M)'; echo ${1@P}", "x=y; y='$(touch M)'; echo ${!x@P}",
        "declare -A x; printf -v 'x[\"]\"]' '$(touch M)'; x['\"]\"']='$(touch M)'; echo ${x['\"]\"']@P}",
        "x='$(touch M)'; echo {$,}{x@P}", "x='$(touch M)'; echo {$,z}{x@P}",
        "echo >&'$(touch M)'", "echo >&'`touch M`'", "x='$(touch M)'; echo >&\"$x\"",
        "echo >&\"\\$(touch M)\"", "echo >&$'\\x24(touch M)'",
    ],
    "G5": [
        "bash -o keyword -c 'f() { BASH_ENV=; }; ls PATH=.' ; x='a[$(touch M)]'; bash -ko errexit -c 'eval : \"\\$((v))\" v=$0' \"$x\"",
        "echo 'touch M' > .bashrc; bash -ic ls", "echo 'touch M' > .bash_profile; bash -lc ls",
        "echo 'touch M' > .profile; bash --login -c ls",
    ],
    "G6": [
        "x=';'; find . -maxdepth 0 -exec ls {} \"$x\" -exec touch M \\;",
        "find . -maxdepth 0 -exec ls {} $(echo ';') -exec touch M \\;",
        "x='{}'; find . -maxdepth 0 -exec ls $x + -exec touch M \\;",
        "x=';' y=-exec; find . -maxdepth 0 -exec ls \"$x\" \"$y\" touch M \\;",
        "x='; -exec touch M'; find . -maxdepth 0 -exec ls $x \\;",
    ],
}

# Need what a test cannot rely on (catalogues of translations, other builds of bash): asked about.
ASKED = [
    "TEXTDOMAIN=x TEXTDOMAINDIR=. ; echo $\"hello\"", "echo $\"hello\"", "echo ${x:-$\"hello\"}",
    "echo \"${x:-$\"hello\"}\"", "[[ $\"x\" == y ]]", "echo $(( $\"1\" ))", "TEXTDOMAINDIR=. ls",
    "echo {Z..f..6}touch${IFS}M\\'", "echo {A..z}", "echo > {Z..a}x", "x=({a..Z})",
    "for i in {Z..b}; do :; done", "xargs --process-slot-var=PATH ls", "bash -o keyword -c 'ls PATH=.'",
    "bash -c 'ls' --rcfile x; bash --rcfile x -c ls", "LC_ALL=ja_JP.SJIS ls", "POSIXLY_CORRECT=1 ls",
    "echo ${x@Z}", "echo ${x[\"]\"]@P}", "BASH_COMPAT=31 ls", "unshare -rR d ls", "chroot d ls",
    "strace -E LD_PRELOAD=x ls", "MAILPATH='x?$(touch M)' ls",
    "set -e $x; ls PATH=.", "set -o pipefail -o \"$x\"; ls", "set +B; ls {a,b}", "set -euo keyword",
    "command_not_found_handle() { echo 'a[$(touch M)]'; }; echo $(($(nproc)))",
    "find \"$x/\"$y -name z", "find \"$x\"/$y", "find \"$HOME\"$x", "find . -name $x", "find . -name -name \"$x\" y",
    "find . -name -exec -name x -exec touch M \\;",
    "nproc() { echo 'a[$(touch M)]'; }; echo $(($(nproc)))", "find \"$x\"\"/\"", "set -- x; echo ${!#}",
]

EVALUATORS = [
    "echo $((N))", "((N))", "let N", "echo ${PWD:N}", "echo ${PWD:0:N}", "echo ${b[N]}", "b[N]=1",
    "[[ N -eq 1 ]]", "[[ $N -lt 1 ]]", "echo $[N]", "for ((N; 0;)); do :; done", "RANDOM=$N",
    "OPTIND=$N", "SRANDOM=$N ", "export RANDOM=$N", "printf -v HISTCMD %s \"$N\"",
    "read RANDOM <<< \"$N\"", "test -v \"$N\"", "[[ -v $N ]]", "printf -v \"$N\" x",
    "unset \"$N\"", "declare -i z=$N", "echo ${!N}", "echo ${@:N}", "declare \"$N=1\"",
    "read \"$N\" <<< 1", "bash -c 'echo $((N))'", "echo $((1 + N))", "echo $(( $N ))",
    "echo ${b[$N]}", "mapfile -O \"$N\" b <<< x", "exec {b[N]}>o", "declare -n z=$N; echo $z",
    "for OPTIND in $N; do :; done", "SECONDS=(1 $N)", "BASHPID+=$N", "unset 'b['\"$N\"']'",
    "f() { local RANDOM=$N; }; f", "while read -r RANDOM; do :; done <<< $N",
    "export N; bash -c 'echo $((N))'", "env N=\"$N\" bash -c ': $((N))'", "echo ${b[@]:N}",
    "set -- \"$N\"; echo $(($1))", "select SRANDOM in $N; do break; done <<< 1",
]
GIVERS = [
    "N=P", "N=; N+=P", "export N=P", "declare N=P", "readonly N=P", "read -r N <<< P",
    "printf -v N %s P", "for N in P; do :; done", ": ${N:=Q}", "set -- P; N=$1",
    "mapfile -t N <<< P", "read -ra N <<< P", "IFS= read -rd '' N < <(printf '%s\\0' P)",
    "typeset N=P", "N=(P)", "N[0]=P", "getopts x: o -x P; N=$OPTARG", "command export N=P",
    "[[ P =~ .* ]]; N=$BASH_REMATCH", "y=P; N=$y", "N=$(printf %s P)", "N=1; N=P", "N=1; f() { N=P; }; f",
    "declare -g N=P", "N=1; declare -n r=N; r=P", "set -- P; for N; do :; done", "N=$'a[\\x24(touch M)]'",
    "N=1; read -rN99 N <<< P", "readarray -t N < <(echo P)", "builtin declare N=P", "eval N=\\''P'\\'", 
    "N=1; printf -vN %s P", "N=1; read -ra N <<< P", "coproc N { echo P; }", "N=\"$((1))\"+P",
    "N={1..3}P", "N=1 M=P; N=$M",
]
EXPANDED = [
    "echo ${N@P}", "echo ${!N@P}", "echo \"${N@P}\"", "echo ${N[@]@P}", "echo ${N[0]@P}", "eval \"$N\"",
    "eval $N", "bash -c \"$N\"", "trap \"$N\" EXIT", "PS4=$N; set -x; :", "PS4=$N bash -xc :",
    "echo \"$N\" | bash", "bash <<< \"$N\"", "source <(echo \"$N\")", ". /dev/stdin <<< \"$N\"", "$N",
    "echo >&\"$N\"", "echo >&$N", "declare -a \"z=($N)\"", "declare -a z=\"($N)\"", "z=1; echo {$,}{N@P}",
    "find . -maxdepth 0 -exec $N \\;", "find . -maxdepth 0 $N", "xargs -I{} bash -c {} <<< \"$N\"",
    "xargs bash -c <<< \"'$N'\"", "env $N", "timeout 5 $N", "command $N", "exec $N", "nice $N",
    "mapfile -C \"$N\" -c 1 b <<< x", "alias ls=\"$N\"", "BASH_ENV=<(echo \"$N\") bash -c :",
    "PROMPT_COMMAND=$N bash -ic :", "sh -c \"$N\"", "env -S \"$N\"", "bash -c '$0' \"$N\"",
    "set -- $N; \"$@\"", "\"${N[@]}\"", "time $N", "! $N", "coproc $N", "echo <($N)", "echo `$N`", "compgen -C \"$N\"",
    "complete -C \"$N\" z", "export N; bash -c '$N'", "find . -maxdepth 0 -exec bash -c \"$N\" \\;",
    "xargs $N </dev/null", "env \"$N\"", "stdbuf -o0 $N", "setsid -w $N", "trap \"$N\" DEBUG; :", "jobs -x $N",
]
# Nothing is evaluated in these, so a line of them has no problem unless a part is misread.
HARMLESS_USES = [
    "echo \"$N\"", "echo $N", "printf '%s\\n' \"$N\"", "ls \"$N\"", "[[ $N == y ]]", "[ \"$N\" = y ]", "echo ${N:-x}",
    "echo ${#N}", "echo ${N%/*}", "echo ${N/a/b}", "echo ${N^^}", "echo ${N@Q}", "case $N in y) ls;; esac", "cat <<< \"$N\"",
    "cat <<E\n$N\nE\n", "for w in $N; do echo \"$w\"; done", "export N", "test -n \"$N\"", "grep \"$N\" f", "z=$N; ls \"$z\"",
    "echo $((1 + 2))", "i=1; echo $((i))", "echo ${N:1:2}", "x=3 ls \"$N\"", "find \"$HOME/$N\" -name x", "env A=\"$N\" ls",
    "find . -maxdepth 0 -exec grep -l \"$N\" {} \\;", "find \"$N/x\" -name y", "find . -name \"$N\" -type f", "find . -path \"$N\" -newer \"$N\"", "xargs -I{} ls \"$N\" {} <<< x", "ls ~/\"$N\"",
    "printf \"$N\\n\" x", "printf -v z %s \"$N\"; ls \"$z\"", "n=$(echo \"$N\" | wc -l); echo $((n))", "time ( ls \"$N\" )",
    "read -r z <<< \"$N\"; ls \"$z\"", "declare z=1; ls $N", "unset N", "echo {a,b}\"$N\"", "echo \"${N[@]}\"", "trap 'ls' EXIT; echo $N",
    "timeout 5 ls \"$N\"", "nice -n 5 ls \"$N\"", "bash -c 'ls \"$1\"' _ \"$N\"", "set -- \"$N\"; ls \"$1\"", "wait -n", "echo x >&2",
    "local=1; ls \"$N\"", "start=$(date +%s); echo $((start - 1)) \"$N\"", "[[ -v N ]] && ls", "mapfile -t z <<< \"$N\"; ls \"${z[0]}\"",
]
QUOTES = ["'%s'", "'%s'", "\"%s\"", "$'%s'"]
AROUND = [
    "%s", "%s", "%s", "( %s )", "{ %s; }", "if :; then %s; fi", "for q in 1; do %s; done", "f() { %s; }; f",
    "echo $(%s)", "eval '%s'", "bash -c '%s'", "case x in x) %s;; esac", "ls; %s | cat", "while :; do %s; break; done",
    "%s & wait", "trap '%s' EXIT", "! { %s; }", "coproc { %s; }; wait", "true && { %s; }", "[[ -n x ]] && { %s; }",
]
NAMES = ["x", "y", "i", "N", "REPLY", "OPTARG", "BASH_REMATCH", "BASH_ARGV0", "COLUMNS", "LINES", "_", "DIRSTACK",
         "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "BASHPID", "MAPFILE", "PIPESTATUS", "PS4", "PATH",
         "BASH_COMMAND", "LINENO", "GROUPS", "FUNCNAME", "EPOCHSECONDS", "SHLVL", "OPTERR", "PPID", "PWD"]
LOOPS = ("while", "until", "for ((")
SIMPLE_RANGES = ["{Z..f..6}", "{A..z}", "{a..Z}", "{a..c}", "{$,}", "{1..3}", "{$,z}"]


class Hostile:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def quoted(self, payload, name):
        form = self.random.choice(QUOTES)
        if form == "\"%s\"":
            payload = payload.replace("$", "\\$").replace("`", "\\`").replace("\"", "\\\"")
        elif "'" in payload:
            return "\"%s\"" % payload.replace("$", "\\$").replace("`", "\\`").replace("\"", "\\\"")
        return form % payload

    def line(self):
        pick = self.random.choice
        name = pick(NAMES) if self.random.random() < 0.5 else pick("xyi")
        share = self.random.random()
        if share < 0.35:
            payload, use = pick([PAYLOAD, "$(touch M)", "; touch M", "-exec touch M ;"]), pick(HARMLESS_USES)
        elif share < 0.7:
            payload, use = pick([PAYLOAD, PAYLOAD, "b=a[$(touch M)]", "1+a[$(touch M)]"]), pick(EVALUATORS)
        else:
            payload, use = pick(["$(touch M)", "`touch M`", "touch M", "a[$(touch M)]", "; touch M",
                                 "-exec touch M ;"]), pick(EXPANDED)
        giver = pick(GIVERS)
        text = "%s%s%s" % (giver, pick(["; ", "; ", "\n", " && "]), use)
        text = text.replace("N", "\0").replace("P", "\1").replace("Q", "\2")
        # Names in capitals that the parts themselves have
        for word in ("RANDOM", "OPTIND", "SRANDOM", "HISTCMD", "BASHPID", "SECONDS", "PWD", "OPTARG", "IFS", "PS4",
                     "EXIT", "DEBUG", "BASH_ENV", "PROMPT_COMMAND", "BASH_REMATCH", "M"):
            coded = word.replace("N", "\0").replace("P", "\1").replace("Q", "\2")
            if coded != word:
                text = text.replace(coded, word)
        text = text.replace("@\1", "@P").replace("r\0", "rN")
        if "read -rN99" in text:
            text = text.replace("N99 N", "N99 \0")
        text = text.replace("\0", name).replace("\1", self.quoted(payload, name)).replace("\2", payload)
        if self.random.random() < 0.05:
            text += "; echo %sx%s" % (pick(SIMPLE_RANGES), pick(SIMPLE_RANGES))
        around = pick(AROUND)
        if "'" in text and "'%s'" in around:
            around = "{ %s; }"
        text = around % text if "\n" not in text or around == "%s" else text
        # A loop that lost its end would start processes for ever.
        if self.random.random() < 0.08 and not any(word in text for word in LOOPS):
            text = self.damage(text)
        return text

    def damage(self, text):
        """A character more, one less: other readings of nearly the same."""
        at = self.random.randint(0, len(text) - 1)
        if self.random.random() < 0.5:
            return text[:at] + text[at + 1:]
        return text[:at] + self.random.choice("'\"`$(){}[]<>;|&!@#\\* \n,=+") + text[at:]
