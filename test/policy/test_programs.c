/* SPDX-License-Identifier: Apache-2.0 */
/* What options and scripts of programs do, in decisions: an allowed prefix does not cover a call that
 * writes or runs something by them, and what only reads runs unasked. */
#include "policy_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct setting interactive = { .mode = MODE_DEFAULT };
static const struct setting edits = { .mode = MODE_AUTO_EDIT };

#define RULE(decision, more)                                                              \
	"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"" decision              \
	"\"\npriority = 100\n" more "\n"

/* Each is asked about although its first words are allowed. */
static void a_prefix_does_not_cover_what_options_do(void **state)
{
	static const char *const commands[] = {
		"sed -n 'w M' f", "sed 's/a/touch M/e' f", "sed 's/a/b/w M' f", "sed -i s/a/b/ f",
		"sed -ni p f", "sed --in-place=.bak p f", "sed --in p f", "sed -f s.sed f",
		"sed -n -e p -e '1e touch M' f", "sed 'a\\' -e 'w M' f", "sed '1!{p;w M\n}' f",
		"sed 'y/a/b/;w M' f", "sed ':a;w M' f", "sed 's,[/],x,w M' f", "sed \"$x\" f",
		"sed -n p *", "sed p $x", "sed --expression='1,2W M' f", "sed '0~3e' f",
		"find . -fprint M", "find . -delete", "find . -fprintf M %p", "find . -fls M",
		"find . -name x -o -fprint0 M", "find . $x", "find . -name \"$x\" $y",
		"git show --ext-diff", "git show --ext-d", "git show --output=M", "git show --outp=M",
		"git show --output M", "git show --textconv", "git show --show-signature", "git show $x",
		"git log --ext-diff -p", "git diff --output=M", "git grep -Oless a", "git grep -nO a",
		"git grep --open-files-in-pager=./x a", "git blame --output=M f",
		"git -c core.pager=./x log", "git --exec-path=. log", "git --config-env=core.pager=X log",
		"git -p log", "git rebase -x ./x main", "git clone -u ./x y z", "git bisect run ./x",
		"git fetch --upload-pack=./x y", "git submodule foreach ./x", "git archive -o M HEAD",
		"git difftool -x ./x", "git filter-branch --tree-filter ./x HEAD", "git ls-remote ext::./x",
		"git rebase -qx 'touch M' HEAD~1", "git clone -qu 'touch M;git-upload-pack' . c",
		"git difftool -yx 'touch M;' HEAD~1", "git clone -qc core.sshCommand=x y z",
		"git remote-ext o 'touch M'", "git merge-index touch -a", "git for-each-repo --config=x gc",
		"git config alias.x '!touch M'", "git config set core.sshCommand x",
		"git -c LOG.showsignature=true show", "git archive -vo M HEAD",
		"git push --receive-pack=./x y", "git push --exec=./x y",
		"sort -o M f", "sort f -oM", "sort --output=M f", "sort --o M f", "sort -uoM f",
		"sort --compress-program=./x f", "sort --comp ./x f", "sort *",
		"uniq f M", "uniq s*", "xxd f M", "xxd -ps f M", "xxd -E -C f M",
		"awk 'BEGIN{system(\"touch M\")}'", "awk '{print > \"M\"}' f", "awk '{print | \"./x\"}' f",
		"awk '{print}' /inet/tcp/0/h/80", "gawk '{print}' f /inet4/udp/0/h/80", "awk 1 /in$x",
		"awk 1 \"$f\"", "awk '{getline x < $1}' f", "awk '{getline x < \"/inet/tcp/0/h/80\"}' f",
		"awk '{while ((getline x < \"/in\" \"et/tcp/0/h/80\") > 0) print x}' f",
		"awk 'BEGIN{getline < \"\\57inet/tcp/0/h/80\"}'", "awk 'BEGIN{ARGV[1]=\"x\"}' f",
		"ls | xargs awk 1",
		"awk '{\"./x\" | getline}' f", "awk -f s.awk f", "awk -W exec=s.awk f", "awk -v x=1 '{print >> x}' f",
		"awk 'BEGIN{print \"a\",\n\"b\" > \"M\"}'", "awk '{print 1 ||\n2 > \"M\"}' f",
		"awk '{print 1 &&\n\n2 > \"M\"}' f", "awk '{print \"a\", # c\n\"b\" > \"M\"}' f",
		"gawk '{print 1 ?\n2 :\n3 > \"M\"}' f", "gawk '{print 1 \\ # c\n > \"M\"}' f",
		"awk '{ print $/\"/ > \"M\" } #\"' f", "awk '{print \"a\", # c\n# d\n\n\"b\" > \"M\"}' f",
		"awk 'BEGIN { i++ /system(\"x\")/ 2 }'", "awk \"$x\" f", "gawk -i inplace '{print}' f",
		"gawk -l filefuncs 1 f", "gawk '@load \"x\"' f", "gawk -oM 1 f", "gawk --profile=M 1 f",
		"tar xf a --to-command=./x", "tar xf a --to-c ./x", "tar -I ./x -xf a",
		"tar -cf a . --checkpoint=1 --checkpoint-action=exec=./x", "tar xf *.tar",
		"tar -xf a --use-compress-program=./x", "rsync -e ./x a b", "rsync --rsh=./x a b",
		"rsync -ave ./x a b", "rsync --rsync-path=./x a b:", "rg --pre ./x a", "rg --pre=./x a",
		"rg -z a", "rg --hostname-bin ./x a", "fd -x ./x", "fd -X ./x", "fd --exec-batch ./x",
		"tree -o M", "tree -do M", "shuf -o M f", "file -C -m x",
		"file -z x", "file -p x", "curl -o M http://x", "curl -O http://x/M", "curl -K c http://x",
		"curl -sSLo M http://x", "wget --use-askpass=./x http://x", "wget -e use_askpass=./x y",
		"man -P ./x ls", "less -o M f", "journalctl --vacuum-size=1M", "split --filter=./x f",
		"yq -i .a f", "xmllint --output M f", "xmllint --shell f", "diff -l a b",
		"sqlite3 x.db '.shell ./x'", "sqlite3 x.db -cmd '.system ./x'", "zip -T a b", "zip -TT ./x a b",
		"vim -c ':!./x' f", "scp -S ./x a b:", "base64 --output=M f", "dmesg -C",
		"cargo --config x=1 build", "npm --script-shell=./x test", "bat --pager=./x f",
		"tar cIf 'sh -c \"touch M;cat\"' o.tar f", "tar xF ./x -M", "tar cfI o.tar ./x f", "tar c\"$x\" a b",
		"tar cf -- o.tar --to-command=./x", "tar cIf \"$x\" o.tar f",
		"sqlite3 :memory: '.she touch M'", "sqlite3 :memory: '.sy touch M'", "sqlite3 :memory: '.outp |x'",
		"sqlite3 :memory: \"select edit('','touch M #')\"", "sqlite3 :memory: \"select EDIT ('','x')\"",
		"sqlite3 :memory: \"select writefile('M','x')\"", "sqlite3 x.db \"select load_extension('./x')\"",
		"sqlite3 x.db '.load ./x'", "sqlite3 x.db '.onc M'", "sqlite3 x.db '.import |x t'",
		"sqlite3 x.db \".$x\"", "sqlite3 -cmd .sh x.db", "scp -D ./evil f h:b",
		"vim '+!touch M'", "vim +cmd f", "vim '+/x|!touch M' f", "vim +\"$x\" f", "less '+!touch M' f",
		"less '++!touch M' f", "more '+!touch M' f", "nvim '+lua x' f",
		"psql -c '\\! touch M'", "psql -c '\\o |x'", "psql -c '\\copy t to program x'", "psql -c \"$x\"",
		"psql -c \"copy t to PROGRAM 'x'\"", "psql --comm='\\! x'", "psql -c '\\d `touch M`'",
		"psql -At -o '|x' d", "psql -c '\\lo_export 1 M'",
		"curl -w '%output{M}x' http://x", "curl -sw '%output{>>M}x' http://x", "curl --write '%output{M}x' y",
		"curl -w @f http://x",
		"echo f | xargs sort", "echo f | xargs sed p", "echo f | xargs -I@ sort @",
		"echo M | xargs sort -o", "echo --output=M | xargs git log", "echo -x | xargs git rebase",
		"echo log | xargs git", "echo -s | xargs date", "git \"$x\" f", "git -c \"$x\" log",
		"sort -o $x f", "find . \"-$x\" M", "sed '/a/I,+3w M' f", "sed '2,~4w M' f",
		"sed 'l 5;w M' f", "sed 's/\\[a[[:alpha:]b/c/;w M' f", "sed 's/[[.a/b/' $x",
		"awk '{print a\n> \"M\"}' f; awk \"$x\" f",
	};
	struct policy *policy = policy_of(
		RULE("allow", "commandPrefix = [\"sed\", \"find\", \"git\", \"sort\", \"uniq\", \"xxd\", "
		     "\"awk\", \"gawk\", \"tar\", \"rsync\", \"rg\", \"fd\", \"tree\", \"shuf\", "
		     "\"file\", \"curl\", \"wget\", \"man\", \"less\", \"journalctl\", \"split\", \"yq\", "
		     "\"xmllint\", \"diff\", \"sqlite3\", \"zip\", \"vim\", \"scp\", \"base64\", "
		     "\"dmesg\", \"more\", \"vi\", \"nvim\", \"psql\", \"cargo\", \"npm\", \"bat\", \"./x\", \"touch\", \"date\"]"), POLICY_USER);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (decide_command(policy, commands[i], &interactive) != POLICY_ASK)
			fail_msg("covered: %s", commands[i]);
	}
	policy_free(policy);
}

/* The words of the prefix are somebody's own. */
static void who_names_the_option_is_not_asked(void **state)
{
	static const struct command_row rows[] = {
		{ "sed -i s/a/b/ f", POLICY_ALLOW },
		{ "sed -i 's/a/b/w M' f", POLICY_ASK },
		{ "sed -n -i p f", POLICY_ASK },
		{ "find . -delete", POLICY_ALLOW },
		{ "find . -delete -fprint M", POLICY_ASK },
		{ "find sub -delete", POLICY_ASK },
		{ "git -c core.pager=cat log", POLICY_ALLOW },
		{ "git -c core.pager=cat log --output=M", POLICY_ASK },
		{ "sort -o M f", POLICY_ALLOW },
		{ "sort -o M --compress-program=./x f", POLICY_ASK },
		{ "tar -I zstd -xf a", POLICY_ALLOW },
		{ "tar -I zstd -xf a --to-command=./x", POLICY_ASK },
		/* What a program is there for needs no word. */
		{ "make all", POLICY_ALLOW },
		{ "npm test -- --watch", POLICY_ALLOW },
		{ "python3 x.py", POLICY_ALLOW },
		{ "git commit -m x", POLICY_ALLOW },
		{ "git commit -m \"$message\"", POLICY_ALLOW },
		{ "git commit -a \"$x\"", POLICY_ALLOW },
		{ "git push \"$x\"", POLICY_ASK }, /* --receive-pack=… */
		{ "git push origin main", POLICY_ALLOW },
		{ "git config user.name x", POLICY_ALLOW },
		{ "cp a b", POLICY_ALLOW },
		{ "tar czvf o.tar.gz -C sub f", POLICY_ALLOW },
		{ "tar xf a.tar", POLICY_ALLOW },
		{ "vim +12 f", POLICY_ALLOW },
		{ "vim +/main f", POLICY_ALLOW },
		{ "psql -c 'select 1'", POLICY_ALLOW },
		{ "psql -c '\\dt'", POLICY_ALLOW },
		{ "psql -c '\\! x'", POLICY_ASK },
		{ "sqlite3 x.db .tables", POLICY_ALLOW },
		{ "sqlite3 x.db '.schema t'", POLICY_ALLOW },
		{ "sqlite3 x.db 'select edited from t'", POLICY_ALLOW },
		{ "curl -s -w '%{http_code}' http://x", POLICY_ALLOW },
	};
	struct policy *policy = policy_of(
		RULE("allow", "commandPrefix = [\"sed -i\", \"find . -delete\", \"git -c core.pager=cat log\", "
		     "\"sort -o\", \"tar -I zstd\", \"make\", \"npm test\", \"python3\", \"git commit\", "
		     "\"git push\", \"git config\", \"cp\", \"tar czvf\", "
		     "\"tar xf\", \"vim\", \"psql -c\", \"sqlite3\", \"curl\", \"zstd\"]"), POLICY_USER);

	(void)state;
	check_commands(policy, &interactive, rows, ARRAY_LEN(rows));
	policy_free(policy);
	/* An expression is somebody's word on the whole command. */
	policy = policy_of(RULE("allow", "commandRegex = 'sed -n '"), POLICY_USER);
	check_commands(policy, &interactive, (const struct command_row[]){
		{ "sed -n 'w M' f", POLICY_ALLOW } }, 1);
	policy_free(policy);
}

/* What only writes files is like a redirection. */
static void writing_options_are_redirections(void **state)
{
	static const char prefix[] = RULE("allow", "commandPrefix = [\"sort\", \"sed\", \"find\"]");
	struct policy *policy = policy_of(prefix, POLICY_USER);

	(void)state;
	check_commands(policy, &edits, (const struct command_row[]){
		{ "sort -o M f", POLICY_ALLOW },
		{ "sed -i s/a/b/ f", POLICY_ALLOW },
		{ "sed 's/a/b/e' f", POLICY_ASK },
		{ "find . -delete", POLICY_ASK },
		{ "sort --compress-program=./x f", POLICY_ASK },
	}, 5);
	policy_free(policy);
	policy = policy_of(RULE("allow", "commandPrefix = [\"sort\", \"sed\"]\nallowRedirection = true"),
	                   POLICY_USER);
	check_commands(policy, &interactive, (const struct command_row[]){
		{ "sort f > M", POLICY_ALLOW },
		{ "sort -o M f", POLICY_ALLOW },
		{ "sed 1e f", POLICY_ASK },
	}, 3);
	policy_free(policy);
}

static void the_question_says_why(void **state)
{
	static const struct {
		const char *command, *message;
	} rows[] = {
		{ "{\"command\": \"sed -n 'w M' f\"}", "sed's command w writes M." },
		{ "{\"command\": \"find . -delete\"}", "find's action -delete deletes files." },
		{ "{\"command\": \"git show --ext-d\"}",
		  "git show's option --ext-diff runs a program or script." },
		{ "{\"command\": \"tar cIf 'x y' o.tar f\"}", "tar's option -I runs x y." },
		{ "{\"command\": \"sort -oM f\"}", "sort's option -o writes M." },
		{ "{\"command\": \"sort -o 'a\\u001b[2J\\u202e' f\"}", "sort's option -o writes a file." },
		{ "{\"command\": \"sed \\\"$x\\\" f\"}", "sed's argument is known only when it runs." },
	};
	struct policy *policy = policy_of(
		RULE("allow", "commandPrefix = [\"sed\", \"find\", \"git\", \"sort\", \"tar\"]"),
		POLICY_USER);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy_verdict verdict;

		decide(policy, "run_shell_command", rows[i].command, &interactive, &verdict);
		assert_int_equal(verdict.decision, POLICY_ASK);
		assert_string_equal(verdict.message, rows[i].message);
		policy_verdict_release(&verdict);
	}
	policy_free(policy);
}

static void what_only_reads_runs_unasked(void **state)
{
	static const struct command_row rows[] = {
		{ "sed -n '/start/,/end/p' f", POLICY_ALLOW },
		{ "sed 's/a|b/[&]/g; s,/x/,y,; $d' f | head", POLICY_ALLOW },
		{ "sed -E -e 's/[[:space:]]+$//' -e '/^#/d' f", POLICY_ALLOW },
		{ "sed 's/[/]/x/' f", POLICY_ASK }, /* other seds end the expression elsewhere */
		{ "awk -F: '$3 > 1000 {print $1, $7}' /etc/passwd", POLICY_ALLOW },
		{ "awk '{ print $1 # c\n if ($1 > 2) x = 3 }\n$2 > 4' f", POLICY_ALLOW },
		{ "awk 'BEGIN{print \"a\",\n\"b\" > \"M\"}'", POLICY_ASK },
		{ "awk '{ print $/\"/ > \"M\" } #\"' f", POLICY_ASK },
		{ "awk '/a|b/ {n++} END {print n > \"/dev/stderr\"}' f", POLICY_ALLOW },
		{ "sort -t, -k2,2nr f | uniq -c", POLICY_ALLOW },
		{ "git -C sub log --oneline -5", POLICY_ALLOW },
		{ "git rev-parse --show-toplevel && git ls-tree -r HEAD", POLICY_ALLOW },
		{ "git log --format='%h %s' --since=2.weeks -- src", POLICY_ALLOW },
		{ "git log --format='%G?'", POLICY_ASK },
		{ "git config --get user.name", POLICY_ALLOW },
		{ "git config user.name x", POLICY_ASK },
		{ "git --help", POLICY_ALLOW },
		{ "git --help log", POLICY_ASK }, /* runs man */
		{ "git rev-parse --help", POLICY_ASK },
		{ "git -c log.date=iso log -1", POLICY_ALLOW },
		{ "git -c log.showSignature=true log", POLICY_ASK },
		{ "git -c Log.ShowSignature log", POLICY_ASK },
		{ "git config user.name", POLICY_ALLOW },
		/* Behind the name everything is a value. */
		{ "git config user.name --no-default=a", POLICY_ASK },
		{ "git config user.name --get", POLICY_ASK },
		{ "git config user.name -l", POLICY_ASK },
		{ "git config --show-origin --get user.name", POLICY_ALLOW },
		{ "git config edit", POLICY_ASK },
		{ "git config --global edit", POLICY_ASK },
		{ "git shortlog --group=author HEAD", POLICY_ALLOW },
		{ "git shortlog --group=%GK HEAD", POLICY_ASK },
		{ "git branch -vv", POLICY_ALLOW },
		{ "git branch x", POLICY_ASK },
		{ "git stash list", POLICY_ALLOW },
		{ "git stash", POLICY_ASK },
		{ "git stash -p list", POLICY_ASK },
		{ "git status -uno", POLICY_ALLOW },
		{ "[ -f f ] && test -n \"$x\"", POLICY_ALLOW },
		{ "[ * ]", POLICY_ASK },
		{ "getconf -v x y", POLICY_ASK },
		{ "git remote -v", POLICY_ALLOW },
		{ "git remote add x y", POLICY_ASK },
		{ "git --no-pager diff --stat", POLICY_ALLOW },
		{ "jq -r '.a[]' f.json", POLICY_ALLOW },
		{ "find . -name '*.c' -exec grep -l x {} +", POLICY_ALLOW },
		{ "find . -type f -exec sed -n 1,3p {} \\;", POLICY_ALLOW },
		{ "find . -type f -exec sed -i s/a/b/ {} \\;", POLICY_ASK },
		{ "find . -execdir git status \\;", POLICY_ASK },
		{ "find . -name x | xargs grep -n y", POLICY_ALLOW },
		{ "find . -name x | xargs sort", POLICY_ASK },
		{ "find . -frobnicate", POLICY_ASK },
		{ "find . -exec cat $x \\;", POLICY_ASK },
		{ "echo -s | xargs date", POLICY_ASK },
		{ "sed -n '/a/I,+3p' f", POLICY_ALLOW },
		{ "sed -n '2,~4p' f", POLICY_ALLOW },
		{ "sed 5q f", POLICY_ALLOW },
		{ "sed -n '1,x p' f", POLICY_ASK },
		{ "sed s/a f", POLICY_ASK },
		{ "sed 's/\\[a/b/' f", POLICY_ALLOW },
		{ "sed 's/[\\]]/b/' f", POLICY_ASK }, /* seds differ in where this ends */
		{ "sed 's/[[.a]/b/' f", POLICY_ASK },
		{ "printf '%s\\n' \"$x\"; sleep 1; date +%s", POLICY_ALLOW },
		{ "date -s 10:00", POLICY_ASK },
		{ "date 01020304", POLICY_ASK },
		{ "node --version && python3 -V && gcc --version | head -1", POLICY_ALLOW },
		{ "cargo --version", POLICY_ASK }, /* rust-toolchain.toml may name a program */
		{ "yarn --version", POLICY_ASK },  /* and .yarnrc.yml */
		{ "./node --version", POLICY_ASK },
		{ "command -v node", POLICY_ALLOW },
		{ "command node x.js", POLICY_ASK },
		{ "LC_ALL=C sort f", POLICY_ALLOW },
		{ "GIT_PAGER=cat git log -3", POLICY_ALLOW },
		{ "GIT_PAGER=./x git log -3", POLICY_ASK },
		{ "GIT_DIR=x git log", POLICY_ASK },
		{ "set -euo pipefail; ls", POLICY_ALLOW },
		{ "while IFS= read -r line; do echo \"$line\"; done < f", POLICY_ALLOW },
		{ "read -r PATH", POLICY_ASK },
		{ "tree -L 2", POLICY_ALLOW },
		{ "tree -Po x M", POLICY_ASK },
		{ "xxd -ps f M", POLICY_ASK },
		{ "hostname", POLICY_ALLOW },
		{ "hostname evil", POLICY_ASK },
		{ "hostname -I", POLICY_ALLOW },
		{ "hostname -f", POLICY_ASK },
		{ "hostname --all-fqdns", POLICY_ASK },
		{ "objdump --info", POLICY_ASK },
		{ "env", POLICY_ALLOW },
		{ "env X=1 ls", POLICY_ASK },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	check_commands(policy, &interactive, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

/* Whose configuration git obeys depends on where it is. */
static void git_is_harmless_in_the_trusted_folder_alone(void **state)
{
	static const struct setting here = { .mode = MODE_DEFAULT, .project = "/project" };
	static const struct command_row rows[] = {
		{ "git status", POLICY_ALLOW },
		{ "cd sub && git status", POLICY_ALLOW },
		{ "cd /project && git status", POLICY_ALLOW },
		{ "cd /project/sub && git status", POLICY_ALLOW },
		{ "cd /project2 && git status", POLICY_ASK },
		{ "cd /project/../x && git status", POLICY_ASK },
		{ "cd .. && git status", POLICY_ASK },
		{ "cd sub/../.. && git status", POLICY_ASK },
		{ "cd \"$x\" && git status", POLICY_ASK },
		{ "cd && git status", POLICY_ASK },
		{ "cd - && git status", POLICY_ASK },
		{ "cd ~/x && git status", POLICY_ASK },
		{ "(cd /tmp/x; git log)", POLICY_ASK },
		{ "bash -c 'cd /tmp/x; git log'", POLICY_ASK },
		{ "pushd /tmp/x; git log", POLICY_ASK },
		{ "git -C /project log", POLICY_ALLOW },
		{ "git -C /tmp/x log", POLICY_ASK },
		{ "git -C sub -C ../.. log", POLICY_ASK },
		{ "git -C $x log", POLICY_ASK },
		{ "git --git-dir=sub log", POLICY_ASK },
		{ "git --git-dir sub log", POLICY_ASK },
		{ "git --work-tree=sub status", POLICY_ASK },
		{ "git --bare log", POLICY_ASK },
		{ "cd /tmp/x && ls", POLICY_ALLOW },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	check_commands(policy, &here, rows, ARRAY_LEN(rows));
	check_rows(policy, (const struct row[]){
		{ "run_shell_command", "{\"command\": \"git log\", \"dir_path\": \"sub\"}", here,
		  POLICY_ALLOW },
		{ "run_shell_command", "{\"command\": \"git log\", \"dir_path\": \"/tmp/x\"}", here,
		  POLICY_ASK },
	}, 2);
	policy_free(policy);
}

/* A rule without a condition that asks is somebody's wish to see every command. */
static void who_asks_to_be_asked_is_asked(void **state)
{
	static const char *const commands[] = {
		"ls", "git status", "cat a | grep b", "bash -c ls", "find . -name x", "sed -n 1p f",
	};
	static const char *const texts[] = {
		RULE("ask_user", ""),
		"[[rule]]\ntoolName = \"*\"\ndecision = \"ask_user\"\npriority = 5\n",
	};
	static const enum policy_tier tiers[] = { POLICY_EXTENSION, POLICY_WORKSPACE, POLICY_USER,
		                                  POLICY_ADMIN };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(texts) * ARRAY_LEN(tiers); k++) {
		struct policy *policy = policy_of(texts[k % 2], tiers[k / 2]);

		for (size_t i = 0; i < ARRAY_LEN(commands); i++)
			if (decide_command(policy, commands[i], &interactive) != POLICY_ASK)
				fail_msg("not asked: %s, rule %zu", commands[i], k);
		policy_free(policy);
	}
}

/* What "always" is offered for is then enough; else nothing is offered. */
static void always_covers_what_it_was_offered_for(void **state)
{
	static const struct {
		const char *command, *prefix;
	} rows[] = {
		{ "sed -i s/a/b/ f", "sed -i" },
		{ "sed -n 'w M' f", NULL },
		{ "sed s/a/b/ -i f", NULL },
		{ "sort -o M f", "sort -o" },
		{ "tar xf a", "tar" },
		{ "tar xf a --to-command=./x", NULL },
		{ "git archive -o M HEAD", "git archive -o" },
		{ "git show --ext-diff", "git show --ext-diff" },
		{ "curl -O http://x", "curl -O" },
		{ "curl -s http://x", "curl" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		json_auto_t *arguments = json_pack("{s:s}", "command", rows[i].command);
		char *text = json_dumps(arguments, 0);
		struct policy_verdict verdict;

		decide(policy, "run_shell_command", text, &interactive, &verdict);
		free(text);
		assert_int_equal(verdict.decision, POLICY_ASK);
		if (rows[i].prefix) {
			assert_string_equal(json_string_value(json_array_get(verdict.prefixes, 0)),
			                    rows[i].prefix);
			policy_allow_for_session(policy, &(struct policy_scope){
				.tool = "run_shell_command", .prefixes = verdict.prefixes,
				.mode = MODE_DEFAULT });
			assert_int_equal(decide_command(policy, rows[i].command, &interactive),
			                 POLICY_ALLOW);
		} else {
			assert_null(verdict.prefixes);
		}
		policy_verdict_release(&verdict);
		policy_free(policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_does_not_cover_what_options_do),
		cmocka_unit_test(who_names_the_option_is_not_asked),
		cmocka_unit_test(writing_options_are_redirections),
		cmocka_unit_test(the_question_says_why),
		cmocka_unit_test(what_only_reads_runs_unasked),
		cmocka_unit_test(git_is_harmless_in_the_trusted_folder_alone),
		cmocka_unit_test(who_asks_to_be_asked_is_asked),
		cmocka_unit_test(always_covers_what_it_was_offered_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
