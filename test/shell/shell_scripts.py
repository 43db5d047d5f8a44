# SPDX-License-Identifier: Apache-2.0
"""Random scripts for the comparison with a real bash.

Scripts(seed).script() follows the grammar of bash, with canaries a to g for commands, and with
wrappers around them; .damaged() changes a few characters of one, where readers go wrong.  No
script names a folder, a process, or a program of the machine.
"""

import random

NAMES = list("abcdefg")
# What damage puts in: everything that is special somewhere.
SPECIAL = ["'", '"', "\\", "`", "$", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "\n",
           " ", "\t", "#", "!", "=", "*", "?", ",", "~", "-", "+", "@", "^", "%", ":", "0", "1",
           "a", "\\\n", "$(", "${", "$((", "))", "((", "<<", "<<<", "<(", ">(", ">|", "&&", "||",
           ";;", "|&", "&>", "[[", "]]", "EOF", "<<EOF", "\nEOF\n", "$'", '$"', " # ", " do ",
           " done ", " if ", " fi ", " then ", " case ", " in ", " esac ", " a ", "\r", "\f",
           "\v", "\xa0", "\u3000", "x=", "a=(", "a[", "f() ", "{ ", "; }", "time ", "coproc ",
           "function ", "select ", "until b", "\x01", "!(", "@(a|b)", "$[", "=~", "${!x}", "${x@P}"]


class Scripts:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        name = self.random.choice(NAMES)
        return self.pick(name, name, name, name, "\\" + name, "'%s'" % name, '"%s"' % name,
                         name + "''", "$'%s'" % name, "$'\\x%02x'" % ord(name), '""' + name)

    def word(self, depth):
        simple = [lambda: self.pick("x", "y1", "-n", "--k=v", "1", "2", "x.y", "a", "b", "=", "+",
                                    "x=1", "%s", "@", "^", "x:y", "do", "if", "{}", "!", "in", "-"),
                  lambda: "'%s'" % self.pick("", "q", "q; a", "$(a)", "`a`", "q # r", "a\nb", '"'),
                  lambda: '"%s"' % self.pick("", "q", "q; a", "\\$(a)", "\\`a\\`", "$x", "$", "'",
                                             "a\nb", "${x}", "${x:-d}", "$((1+2))", "#", "\\\\"),
                  lambda: self.pick("\\;", "\\$x", "\\ ", "\\'", '\\"', "\\|", "\\#", "a\\ b"),
                  lambda: self.pick("$x", "${x}", "${x:-e}", "${x%%y*}", "${#x}", "$?", "$#",
                                    "${x/a/b}", "$1", "$@", '"$@"', "${x:1:2}", "${x^^}", "$"),
                  lambda: self.pick("*", "?x", "[ab]", "~", "{x,y}", "x{1..3}y", "{a,b}{c,d}"),
                  lambda: "$((%s))" % self.pick("1", "1+2", "(1+2)*3", "1<<2", "2>1", "1&1")]
        if depth > 0:
            simple += [lambda: "$(%s)" % self.list(depth - 1),
                       lambda: '"$(%s)"' % self.list(depth - 1),
                       lambda: '"x $(%s) y"' % self.list(depth - 1),
                       lambda: "`%s`" % self.list(0).replace("\\", "\\\\").replace("`", "\\`"),
                       lambda: '"`%s`"' % self.pick("a", "b x", "c; d", "e 'x y'", "f | g"),
                       lambda: "<(%s)" % self.list(depth - 1),
                       lambda: "${x:-$(%s)}" % self.list(depth - 1),
                       lambda: '"${x:-$(%s)}"' % self.list(depth - 1),
                       lambda: "$(($(%s)1 + 2))" % self.list(depth - 1)]
        return "".join(self.random.choice(simple)() for _ in range(self.pick(1, 1, 1, 1, 2, 3)))

    def redirect(self, depth):
        return self.pick(">o", "> o", ">>o", "2>&1", ">&2", "<o", "2>o", "&>o", ">|o", "<>o",
                         "<<<" + self.word(depth), "3<o", "{fd}>o", "> 'o p'", "2>&-", "&>>o")

    def simple(self, depth):
        parts = []
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            parts.append(self.pick("x=1", "y=", "x=" + self.word(depth), "z+=1", "w[1]=2"))
        if self.chance(0.1):
            parts.append(self.redirect(depth))
        if not parts or self.chance(0.9):
            parts.append(self.name())
            parts += [self.word(depth) for _ in range(self.pick(0, 0, 1, 1, 2, 3))]
        if self.chance(0.25):
            parts.insert(self.random.randint(0, len(parts)), self.redirect(depth))
        return self.pick(" ", " ", " ", "  ", "\t", " \\\n ").join(parts)

    def quoted(self, script):
        if "'" not in script:
            return "'%s'" % script
        return '"%s"' % "".join("\\" + c if c in '"$`\\' else c for c in script)

    def wrapped(self, depth):
        inner = self.pick(*NAMES) + self.pick("", " x", " -n y")
        script = self.quoted(self.list(max(depth - 1, 0)))
        return self.pick(
            "env " + inner, "env -i x=1 " + inner, "env -u x " + inner, "nice " + inner,
            "nice -n 5 " + inner, "nice -5 " + inner, "timeout 5 " + inner,
            "timeout -k 1 5 " + inner, "timeout --signal=TERM 5s " + inner, "setsid -w " + inner,
            "stdbuf -oL " + inner, "env nice env " + inner, "command " + inner, "command -p x",
            "exec " + inner, "time " + inner, "time -p " + inner, "! " + inner,
            "xargs " + inner, "xargs -n1 " + inner, "xargs -I{} " + inner + " {}",
            "find . -maxdepth 0 -exec " + inner + " {} \\;",
            "find . -maxdepth 0 \\-exec " + inner + " {} +", "env -S '" + inner + "'",
            "eval " + script, "eval " + inner, "bash -c " + script, "sh -c " + script,
            "bash -ec " + script, "bash -o posix -c " + script, "env bash -c " + script,
            "trap " + script + " EXIT", "builtin eval " + script, "bash -c -- " + script,
            "echo " + inner + " | bash", "bash <<< '" + inner + "'", "dash -c " + script,
            "x='" + inner + "'; $x", "x='" + inner + "'; eval \"$x\"", ". o", "alias x=a; x",
            "v='w[$(" + inner + ")]'; : $((v))", "v='w[$(" + inner + ")]'; [[ $v -eq 1 ]]",
            "v='$(" + inner + ")'; : ${v@P}", "declare -i z='w[$(" + inner + ")]'",
            "PS4='$(" + inner + ")'; set -x; :", "printf -v 'w[$(" + inner + ")]' x",
            "command_not_found_handle() { " + inner + "; }; zz", "x=v; v='w[$(" + inner + ")]'; : ${!v}")

    def heredoc(self, depth):
        word = self.pick("EOF", "EOF", "E", "'EOF'", '"E F"', "\\EOF")
        end = word.replace("\\", "").strip("'\"")
        body = "\n".join(self.pick("x", "a; b", "$(%s)" % self.list(0), "`a`", "\\$(a)", "$x",
                                   " " + end, end + " ", "'", '"', "${x:-$(b)}", "\\")
                         for _ in range(self.pick(0, 1, 1, 2, 3)))
        dash = self.pick("", "", "-")
        tail = self.pick("", "", " | " + self.simple(0), "; " + self.simple(0), " x", " > o",
                         " && " + self.simple(0), " &")
        return "%s <<%s%s%s\n%s%s%s%s\n" % (self.pick(*NAMES), dash, self.pick("", " "), word + tail,
                                            body, "\n" if body else "", "\t" if dash else "", end)

    def condition(self, depth):
        operand = lambda: self.pick("x", "$x", '"$x"', "''", self.word(depth))
        return self.pick("[[ -n %s ]]", "[[ -f %s && ! -d y ]]", "[[ %s == y* ]]",
                         "[[ ( %s < y ) || a = b ]]", "[[ %s =~ ^(a|b)+$ ]]", "[ -n %s ]",
                         "[ %s = y ]", "test -f %s", "(( 1 + 2 ))", "(( x = 3 ))") .replace(
                             "%s", operand())

    def command(self, depth):
        if depth <= 0:
            return self.simple(0)
        body = lambda: self.list(depth - 1)
        if self.chance(0.45):
            return self.simple(depth)
        return self.random.choice([
            lambda: self.wrapped(depth),
            lambda: self.wrapped(depth),
            lambda: "( %s )" % body(),
            lambda: "(%s)" % body(),
            lambda: "{ %s; }" % body(),
            lambda: "{ %s; } %s" % (body(), self.redirect(depth)),
            lambda: "if %s; then %s; fi" % (body(), body()),
            lambda: "if %s\nthen %s\nelse %s\nfi" % (self.condition(depth), body(), body()),
            lambda: "for i in %s; do %s; done" % (self.word(depth), body()),
            lambda: "for ((i=0; i<2; i++)); do %s; done" % body(),
            lambda: "while %s; do %s; break; done" % (body(), body()),
            lambda: "until %s; do %s\nbreak; done" % (self.condition(depth), body()),
            lambda: "case %s in x) %s;; y|z) %s;; *) %s;; esac" % (
                self.word(depth), body(), body(), body()),
            lambda: "case x in (x) %s\n;; esac" % body(),
            lambda: "h() { %s; }; h" % body(),
            lambda: "function h { %s; }; h x" % body(),
            lambda: "h() ( %s ); h" % body(),
            lambda: self.condition(depth),
            lambda: "%s && %s" % (self.condition(depth), body()),
            lambda: "! " + self.simple(depth),
            lambda: "x=(%s %s)" % (self.word(depth), self.word(depth)),
            lambda: "%s x=%s" % (self.pick("export", "declare", "local", "readonly"),
                                 self.word(depth)),
            lambda: self.heredoc(depth),
        ])()

    def list(self, depth):
        parts = [self.command(depth)]
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            separator = self.pick("; ", ";", "\n", " && ", " || ", " | ", " & ", "|", "&&", " |& ",
                                  " ; # x y\n", "\n\n", " \\\n; ")
            if parts[-1].endswith("\n"):
                separator = ""
            parts += [separator, self.command(depth)]
        return "".join(parts)

    def script(self):
        return self.list(self.pick(1, 2, 2, 3))

    def damaged(self):
        text = self.script()
        for _ in range(self.pick(1, 1, 1, 2, 3)):
            at = self.random.randint(0, len(text))
            kind = self.random.random()
            if kind < 0.6:
                text = text[:at] + self.random.choice(SPECIAL) + text[at:]
            elif kind < 0.8:
                text = text[:at] + text[at + 1:]
            else:
                other = self.random.randint(0, len(text))
                low, high = sorted((at, other))
                text = text[:low] + text[high:] if kind < 0.9 else text[:high] + text[low:]
        return text.replace("\0", "")
