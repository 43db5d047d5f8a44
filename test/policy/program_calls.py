# SPDX-License-Identifier: Apache-2.0
"""Random calls of real programs, from what these programs say of themselves (--help, git's completion helper)
and from scripts that are put together at random; nothing here knows hasp's table.

    calls = Calls(seed)
    line = calls.line()
"""

import random
import re
import shlex
import subprocess

# By the program: what its letters are, where --help does not have them; what its operands may be.
PROGRAMS = {
    "sed": "nErsuziefsl", "find": "", "sort": "", "uniq": "", "awk": "Fvfeidolp", "mawk": "FvfWe",
    "gawk": "", "grep": "", "rg": "", "jq": "", "date": "", "tree": "adflxLPIoRHTnJXhst", "shuf": "",
    "base64": "", "diff": "", "file": "", "xxd": "abcCdeEgilnopsurRs", "fdfind": "", "column": "", "cmp": "",
    "od": "", "nl": "", "tac": "", "tail": "", "head": "", "cut": "", "join": "", "stat": "", "ls": "",
    "wc": "", "numfmt": "", "printf": "v", "hexdump": "", "strings": "", "readelf": "", "objdump": "",
    "nm": "", "realpath": "", "du": "", "sha256sum": "", "fold": "", "pr": "", "hostname": "sIfdiAyvbF",
    "xmllint": "", "cat": "", "comm": "", "paste": "", "tr": "", "id": "", "ps": "", "df": "", "getconf": "",
    "read": "rsdnNpt", "set": "eux", "command": "vVp", "locale": "", "size": "", "basename": "", "env": "",
}
# Weights: those that can do much are tried most.
HEAVY = ["sed"] * 14 + ["git"] * 16 + ["find"] * 9 + ["awk", "gawk", "mawk"] * 4 + ["sort"] * 4 + \
    ["rg", "tree", "xxd", "file", "fdfind", "diff", "uniq", "shuf", "date", "tail"] * 2
GIT = ["log", "show", "diff", "status", "branch", "tag", "stash", "reflog", "rev-list", "shortlog", "blame", "grep",
       "config", "remote", "worktree", "symbolic-ref", "cat-file", "for-each-ref", "ls-files", "ls-tree",
       "rev-parse", "describe", "diff-tree", "diff-index", "diff-files", "whatchanged", "show-ref", "name-rev",
       "merge-base", "check-ignore", "check-attr", "count-objects", "cherry", "version", "archive", "notes"]
VALUES = ["M", "./M", "1", "2", "a", "f", "g", "touch M", "./run", "HEAD", "always", "%H", "%G?", "x=M", ",",
          "1,2p", "w M", "{print}", "*.c", "auto", "none", "sub", "0", "name", "--output=M", "-o", "-delete"]
OPERANDS = ["f", "g", "f", "g", ".", "sub", "HEAD", "M", "a", "1", "-", "--", "main", "+%s", "k", "x y", "HEAD~1"]
SED = ["p", "w M", "w", "W M", "e", "e touch M", "1e touch M", "s/a/b/", "s/a/touch M/e", "s/a/b/w M", "s/a/b/gw M",
       "s,[,],x,w M", "s/[/]/w M/p", "s/[^]/]/x/", r"s/\//w M/", "y/a/b/", "a hello", "a\\", "i\\\nw M", "c\\\\\nw M",
       "$!N", "1,3p", "/a/p", r"\,a,p", "/[/]w M/p", "{p", "}", "{", "n", "d", "q", "q1", "Q", "=", "l 2", "h;G;x", ":a",
       "ba", ":a;w M", "ta;w M", "r g", "R g", "r g;w M", "# w M", "#n", "1~2p", "2,+1p", "/a/I,/b/Mp", "1!p", "z", "F",
       "s/a/\\\nw M/", "s|a|b|;w M", "s/a/b/;e touch M", "0,/a/p", "v", "1 w M", "$w M", "w /dev/stdout", "s/x/y/2p"]
AWK = ["{print $1}", "{print > \"M\"}", "{print >> \"M\"}", "{print | \"touch M\"}", "{system(\"touch M\")}",
       "BEGIN{while((\"touch M\"|getline l)>0)print l}", "$1 > 1 {print}", "/a|b/ {print}", "/\"/ {print $1}",
       "{print $1 / 2, \"/\", $2 / 2}", "{x = $1 /2; print > \"M\"; y = 3/ 4}", "{i=1; i++ /system(\"touch M\")/ 2}",
       "{print \"a>b\"}", "{print ($1 > 2)}", "{print $1 > 2 ? \"a\" : \"b\"}", "{printf \"%s\\n\", $1 > \"M\"}",
       "{if ($1 > 2) print \"x|y\"}", "END{print NR}", "@load \"filefuncs\"", "{f=\"system\"; @f(\"touch M\")}",
       "# print > \"M\"\n{print}", "{ # \" \nprint > \"M\" # \"\n}", "{a[$1]++} END{for(k in a) print k, a[k] | \"touch M\"}",
       "{gsub(/[/]/, \"x\"); print > \"M\"}", "{gsub(/\\//, \"x\"); print}", "BEGIN{getline l < \"f\"; print l}",
       "{print > \"/dev/stderr\"}", "{print > \"/dev/stderr\" \"M\"}", "{close(\"x\"); fflush()}",
       "{print length /2; system(\"touch M\") /1}", "BEGIN { print \"\\\"\" > \"M\" }", "{print(1)>\"M\"}",
       "{if (1) /\"/; system(\"touch M\"); /\"/}", "{print 1, 2 > \"M\"}", "BEGIN{print \"a\",\n\"b\" > \"M\"}",
       "{print 1 ||\n2 > \"M\"}", "{print 1 &&\n2 > \"M\"}", "{print 1, # c\n2 > \"M\"}", "{print 1 \\\n > \"M\"}",
       "{print $/\"/ > \"M\"} #\"\n", "{print 1 # c\n if ($1 > 2) print}", "function f(x){return x/2} {print f(1)}"]
FIND = ["-name x", "-delete", "-exec touch M ;", "-exec grep a {} +", "-exec cat {} ;", "-execdir touch M ;", "-fprint M",
        "-fprint0 M", "-fls M", "-fprintf M %p", "-printf %p", "-ok touch M ;", "-okdir touch M ;", "-type f", "-o", "!",
        "( -name a -o -name b )", "-newer f", "-print", "-print0", "-ls", "-maxdepth 1", "-prune", "-size +1", "-quit",
        "-name -delete", "-path -exec", "-newermt 2020-01-01", "-regex -fprint", "-perm -u+r", "-mtime -1", "-L", "-D",
        "-D exec", "-files0-from f", "-O2", "-exec sed -n 1p {} ;", "-exec sort -o M {} ;", "-exec sed -i s/a/b/ {} +"]


def _text(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, timeout=300)
    return done.stdout.decode("utf-8", "replace")


def _of_help(program, letters):
    """Its long options, with whether they take a value, and its letters."""
    text = _text([program, "--help"])
    if program in ("rg", "fdfind", "file", "xmllint", "column", "hexdump"):
        text += _text([program, "-h"])
    longs = sorted(set(re.findall(r"(?<![\w-])--([a-z0-9][a-zA-Z0-9-]+)([=\[]?)", text)))
    found = re.findall(r"(?<![\w-])-([a-zA-Z0-9])(?![\w-])", text)
    return longs, sorted(set(found) | set(letters))


def _of_git(verb):
    text = _text(["git", verb, "--git-completion-helper-all"])
    if " " in text.strip() and "usage" not in text:
        words = [word for word in text.split() if word.startswith("--") and len(word) > 2]
    else:
        words = []
    diff = _text(["git", "diff", "--git-completion-helper-all"]).split() if verb not in ("config", "remote") else []
    words += [word for word in diff if word.startswith("--") and len(word) > 2]
    words += ["--output=", "--ext-diff", "--textconv", "--show-signature", "--format=", "--open-files-in-pager",
              "--oneline", "--stat", "--no-index", "--exec", "--upload-pack=", "--filters", "--edit", "--list",
              "--submodule", "--remote="]
    longs = sorted({(word[2:].rstrip("="), "=" if word.endswith("=") else "") for word in words})
    return longs, list("abcdefghilmnopqrstuvwxzABCDEFGILMNOPRSUWX1")


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.options = {program: _of_help(program, letters) for program, letters in PROGRAMS.items()
                        if program not in ("printf", "read", "set", "command", "find", "[")}
        for builtin in ("printf", "read", "set", "command"):
            self.options[builtin] = ([], list(PROGRAMS[builtin]))
        self.options.update({"git " + verb: _of_git(verb) for verb in GIT})

    def value(self, program):
        pool = VALUES + (SED if program == "sed" else AWK if program.endswith("awk") else [])
        return self.random.choice(pool)

    def _long(self, program, longs):
        choose = self.random
        name, takes = choose.choice(longs)
        if choose.random() < 0.4:
            name = name[:choose.randint(min(2, len(name)), len(name))]
        dash = "-" if program == "xmllint" and choose.random() < 0.5 else "--"
        form = choose.random()
        if form < 0.4 and takes or form < 0.1:
            return [dash + name + "=" + self.value(program)]
        if form < 0.6 and takes or form < 0.2:
            return [dash + name, self.value(program)]
        return [dash + name]

    def _letters(self, program, letters):
        choose = self.random
        word = "-" + "".join(choose.choice(letters) for _ in range(choose.choice([1, 1, 1, 2, 3])))
        form = choose.random()
        if form < 0.15:
            return [word + self.value(program)]
        return [word, self.value(program)] if form < 0.4 else [word]

    def _options(self, program):
        choose = self.random
        longs, letters = self.options[program]
        words = []
        for _ in range(choose.choice([0, 1, 1, 1, 2, 2, 3])):
            if longs and choose.random() < 0.55:
                words += self._long(program, longs)
            elif letters:
                words += self._letters(program, letters)
        return words

    def _operands(self):
        return [self.random.choice(OPERANDS) for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3]))]

    def _scripted(self, program):
        """sed and awk: a script, here or there among the options."""
        choose = self.random
        pieces = SED if program == "sed" else AWK
        joint = choose.choice([";", "\n", "}", " ", "", ";"]) if program == "sed" else choose.choice(["\n", ";", " "])
        script = joint.join(choose.choice(pieces) for _ in range(choose.choice([1, 1, 2, 2, 3])))
        words = self._options(program)
        if choose.random() < 0.2:
            words += ["-e", script]
        else:
            words.insert(choose.choice([0, len(words), len(words)]), script)
        return words + [choose.choice(["f", "g", "f", "M"]) for _ in range(choose.randint(0, 2))]

    def _find(self):
        choose = self.random
        words = [choose.choice([".", "sub", "f", "-L", "-H"]) for _ in range(choose.randint(0, 2))]
        for _ in range(choose.randint(0, 4)):
            words += choose.choice(FIND).split()
        return words

    def _git(self):
        choose = self.random
        verb = choose.choice(GIT)
        before = choose.choice([[], [], [], [], ["-C", "sub"], ["--no-pager"], ["-P"], ["-c", "color.ui=never"],
                                ["-c", "core.pager=./run"], ["--help"], ["-c", "log.showSignature=true"],
                                ["-c", "alias.log=!touch M"], ["-p"],
                                ["--exec-path=sub"], ["-c", "core.fsmonitor=./run"], ["-c", "diff.external=./run"]])
        first = {"stash": ["list", "show", "push"], "reflog": ["show", "expire", "HEAD"], "remote": ["-v", "get-url"],
                 "worktree": ["list", "add"], "config": ["--list", "--get", "user.name", "get", "edit"], "branch": ["-a", "-r"],
                 "tag": ["-l", "-n"]}.get(verb, [])
        words = ["git"] + before + [verb]
        if first and choose.random() < 0.6:
            words.append(choose.choice(first))
        rest = self._options("git " + verb) + self._operands()
        if first and choose.random() < 0.3:
            rest.append(choose.choice(first))
            choose.shuffle(rest)
        return words + rest

    def words(self):
        choose = self.random
        program = choose.choice(HEAVY if choose.random() < 0.7 else list(PROGRAMS))
        if program == "git":
            return self._git()
        if program == "find":
            return ["find"] + self._find()
        if program == "sed" or program.endswith("awk"):
            return [program] + self._scripted(program)
        words = self._options(program) + self._operands()
        if choose.random() < 0.15:
            choose.shuffle(words)
        return [program] + words

    def line(self):
        """Some of the calls are behind xargs, or have a word that only the shell makes known."""
        choose = self.random
        words = self.words()
        line = shlex.join(words)
        form = choose.random()
        if form < 0.05:
            return "cat args | xargs " + line
        if form < 0.08:
            return "cat args | xargs -I@ %s @" % line
        if form < 0.13:
            return line + " " + choose.choice(["*", "$opt", "\"$opt\"", "-*", "s*", "~/f", "\"$HOME/f\"", "--o*"])
        return line
