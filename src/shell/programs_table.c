/* SPDX-License-Identifier: Apache-2.0 */
/* The table of programs.  A row says what each option does beyond reading, or beyond what the
 * program is there for; an option that a row does not have is not known, and the call not harmless.
 *
 * Not in the table, on purpose: programs that are there to run something (make, python, npm, ssh,
 * docker) or to write (cp, mv, tee, dd, touch): who allows one of them allows just that. */
#include "shell/judge.h"

#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "shell/private.h"

/* ---- git -------------------------------------------------------------------------- */

/* git: its own options, then the command's.  Options by git(1), git-log(1), git-diff(1) and the
 * other commands' pages of git 2.39 to 2.47. */

static const struct judged_program *program_find(struct span name, struct span verb);

/* Keys of git -c that change how something is shown. */
static const char display_keys[] =
	"color.* column.* core.quotepath core.quotePath core.abbrev log.date log.decorate "
	"log.abbrevCommit log.follow log.showRoot log.mailmap log.graphColors diff.renames "
	"diff.renameLimit diff.noprefix diff.mnemonicPrefix diff.algorithm diff.context "
	"diff.colorMoved advice.* user.name user.email core.fileMode core.filemode core.autocrlf "
	"safe.directory init.defaultBranch i18n.* status.short status.branch "
	"status.showUntrackedFiles blame.date blame.showEmail grep.lineNumber "
	"core.precomposeUnicode core.commentChar gc.auto maintenance.auto commit.gpgsign "
	"tag.gpgsign";

/* Verifies signatures, by a program, as --show-signature does. Git ignores the case of keys. */
static bool is_signature_key(struct span key)
{
	return key.len == strlen("log.showSignature") &&
	       strncasecmp(key.data, "log.showSignature", key.len) == 0;
}

/* KEY=VALUE of -c. */
static void judge_key(struct judging *j, size_t word, const struct shell_word *pair)
{
	const char *equals = span_find(pair->value, '=');
	struct span key = equals ? span_head(pair->value, (size_t)(equals - pair->value.data))
	                         : pair->value;
	struct span value = span_skip(pair->value, key.len + 1);
	bool is_pager = span_eq(key, SPAN("core.pager")) || span_starts(key, SPAN("pager."));

	if (pair->dynamic && !equals) {
		judge_note_unknown(j, word, "configuration");
		return;
	}
	if (name_in(key, display_keys) || (is_pager && !pair->dynamic &&
	                                   name_in(value, "cat true false")))
		return;
	j->unsure = true;
	if (wrapper_git_key_kind(key) != GIT_KEY_HARMLESS || is_signature_key(key))
		judge_note_effect(j, PROGRAM_RUNS, word, "option -c", NULL);
}

/* git's own options with a value in the next word. */
static const char with_value[] =
	"-C --git-dir --work-tree --namespace --super-prefix --attr-source";
static const char without_value[] =
	"-P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs "
	"--glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-lazy-fetch --no-advice --bare "
	"--version -v -h --html-path --man-path --info-path --exec-path";

/* Returns where the command is. */
static size_t judge_own_options(struct judging *j)
{
	const struct shell_command *command = j->command;
	size_t i = 1;

	for (; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];
		struct span text = word->value;

		if (judge_is_operand(command, word))
			break;
		if (text.len < 2 || text.data[0] != '-') {
			judge_note_unknown(j, i, "argument");
		} else if (span_eq(text, SPAN("-c")) && i + 1 < command->word_count) {
			judge_key(j, i, &command->words[i + 1]);
			i++;
		} else if (span_starts(text, SPAN("--config-env")) ||
		           span_starts(text, SPAN("--exec-path=")) ||
		           name_in(text, "-p --paginate")) {
			judge_note_effect(j, PROGRAM_RUNS, i,
			                  span_starts(text, SPAN("-p")) ? "option -p" :
			                  span_starts(text, SPAN("--p")) ? "option --paginate" :
			                  span_starts(text, SPAN("--c")) ? "option --config-env" :
			                                                "option --exec-path", NULL);
		} else if (name_in(text, with_value)) {
			j->unsure |= !span_eq(text, SPAN("-C"));
			i++;
		} else if (span_eq(text, SPAN("--help"))) { /* of a command: runs man */
			j->unsure |= i + 1 < command->word_count ||
			             command->flags & SHELL_FLAG_APPENDED;
		} else if (word->dynamic || !name_in(text, without_value)) {
			j->unsure = true;
		}
	}
	return i;
}

/* ---- commands ----------------------------------------------------------------------------- */

struct git_call {
	size_t operands;
	size_t first;         /* its word; 0: none */
	bool at_once;         /* nothing stands before it: options could be those of another mode */
	bool lists, gets;     /* --list and the like; --get */
};

static bool is_format_that_runs(const struct arguments *a)
{
	/* %G verifies signatures with gpg, %(signature) too. */
	return a->has_value &&
	       name_in(span_str(a->name), "format pretty sort group") &&
	       (a->value.dynamic || memmem(a->value.value.data, a->value.value.len, "%G", 2) ||
	        memmem(a->value.value.data, a->value.value.len, "signature", 9) ||
	        memmem(a->value.value.data, a->value.value.len, "describe", 8));
}

static void git_read_call(struct judging *j, size_t at, struct git_call *ret)
{
	/* git config takes no options behind its first operand: what stands there is a value. */
	const bool stops = span_eq(span_str(j->row->verb), SPAN("config"));
	struct arguments a;
	enum argument_kind kind;

	*ret = (struct git_call){ 0 };
	judge_arguments_begin(&a, j, at);
	while ((kind = judge_arguments_next(&a)) != ARGUMENT_END) {
		if (kind == ARGUMENT_OPERAND || (stops && ret->first)) {
			ret->operands++;
			if (j->command->words[a.word].splits)
				ret->operands += 2;
			if (!ret->first) {
				ret->first = a.word;
				ret->at_once = a.word == at;
			}
			continue;
		}
		ret->lists |= name_in(span_str(a.name),
		                      "list contains no-contains merged no-merged "
		                                        "points-at");
		ret->gets |= name_in(span_str(a.name),
		                     "get get-all get-regexp get-urlmatch list") ||
		             (a.letter == 'l' && span_eq(span_str(j->row->verb), SPAN("config")));
		if (is_format_that_runs(&a))
			j->unsure = true;
	}
	if (j->command->flags & SHELL_FLAG_APPENDED) {
		if (!a.ended)
			judge_note_unknown(j, j->command->word_count, "input");
		ret->operands += PROGRAM_MANY;
	}
}

/* Whether the first operand is one of these, right after the command. */
static bool first_is(const struct judging *j, const struct git_call *call, const char *list)
{
	const struct shell_word *word = call->first ? &j->command->words[call->first] : NULL;

	return word && call->at_once && !word->dynamic && name_in(word->value, list);
}

/* git config edit (since 2.46) opens an editor. */
static bool may_edit(const struct judging *j, const struct git_call *call)
{
	const struct shell_word *word = &j->command->words[call->first];

	return span_eq(word->value, SPAN("edit")) ||
	       (word->dynamic && span_starts(SPAN("edit"), word->value));
}

/* Commands whose operands say what they do. */
static bool operands_read(const struct judging *j, const struct git_call *call)
{
	struct span verb = span_str(j->row->verb);

	if (name_in(verb, "branch tag"))
		return call->lists || call->operands == 0;
	if (span_eq(verb, SPAN("stash")))
		return first_is(j, call, "list show");
	if (span_eq(verb, SPAN("reflog")))
		return call->operands == 0 || first_is(j, call, "show list exists HEAD");
	if (span_eq(verb, SPAN("worktree")))
		return first_is(j, call, "list") && call->operands == 1;
	if (span_eq(verb, SPAN("remote")))
		return call->operands == 0 || first_is(j, call, "get-url");
	if (span_eq(verb, SPAN("symbolic-ref")))
		return call->operands == 1;
	if (span_eq(verb, SPAN("config")))
		return call->gets || (call->operands == 1 && !may_edit(j, call)) ||
		       (call->operands == 2 && first_is(j, call, "get"));
	return true;
}

/* Options by which git's commands without a row run something. */
static const struct {
	char verb[16]; /* "": any */
	char option[24];
} running[] = {
	{ "", "--exec" }, { "", "--upload-pack" }, { "", "--receive-pack" }, { "", "--ext-diff" },
	{ "", "--textconv" }, { "", "--open-files-in-pager" }, { "", "--extcmd" },
	{ "", "--tree-filter" }, { "", "--index-filter" }, { "", "--msg-filter" },
	{ "", "--env-filter" }, { "", "--commit-filter" }, { "", "--parent-filter" },
	{ "", "--tag-name-filter" }, { "", "--template" }, { "", "--show-signature" },
	{ "", "--config-env" },
	{ "rebase", "-x" }, { "difftool", "-x" }, { "clone", "-u" }, { "clone", "-c" },
	{ "clone", "--config" }, { "bisect", "run" }, { "submodule", "foreach" },
	{ "filter-branch", "" }, { "ls-remote", "ext::" }, { "fetch", "ext::" },
	{ "clone", "ext::" }, { "pull", "ext::" }, { "push", "ext::" },
	{ "send-email", "" }, { "daemon", "" }, { "instaweb", "" }, { "remote-ext", "" },
	{ "merge-index", "" }, { "for-each-repo", "" },
};
static const struct {
	char verb[16];
	char option[24];
} writing[] = {
	{ "", "--output" }, { "", "--output-directory" }, { "archive", "-o" },
	{ "format-patch", "-o" },
};

static bool word_gives(struct span word, const char *option)
{
	struct span name = span_str(option);
	const char *equals = span_find(word, '=');
	struct span given = equals ? span_head(word, (size_t)(equals - word.data)) : word;

	if (span_starts(name, SPAN("--"))) /* an abbreviation, of three letters at least */
		return given.len > 4 && span_starts(name, given);
	if (span_ends(name, SPAN("::")))
		return span_starts(word, name);
	if (span_starts(name, SPAN("-"))) /* anywhere in a cluster */
		return span_starts(word, SPAN("-")) && !span_starts(word, SPAN("--")) &&
		       span_find(word, option[1]);
	return span_eq(word, name);
}

static void git_judge_word(struct judging *j, struct span verb, size_t i)
{
	struct span word = j->command->words[i].value;
	char what[48];

	for (size_t k = 0; k < ARRAY_LEN(running); k++) {
		struct span only = span_str(running[k].verb);

		if ((only.len && !span_eq(only, verb)) || !word_gives(word, running[k].option))
			continue;
		snprintf(what, sizeof(what), "%s %s",
		         running[k].option[0] == '-' ? "option" : "argument", running[k].option);
		judge_note_effect(j, PROGRAM_RUNS, i, what, NULL);
	}
	for (size_t k = 0; k < ARRAY_LEN(writing); k++) {
		struct span only = span_str(writing[k].verb);

		if ((only.len && !span_eq(only, verb)) || !word_gives(word, writing[k].option))
			continue;
		snprintf(what, sizeof(what), "option %s", writing[k].option);
		judge_note_effect(j, PROGRAM_WRITES, i, what, NULL);
	}
}

/* git commit -m "$text": the word is an option's value. */
static bool is_message(const struct shell_command *command, size_t i)
{
	return i > 0 && !command->words[i].splits && !command->words[i - 1].dynamic &&
	       name_in(command->words[i - 1].value, "-m -am --message -F --file");
}

/* Commands that are there for more than reading: push, commit, rebase … */
static void judge_other(struct judging *j, size_t at)
{
	const struct shell_command *command = j->command;
	struct span verb = command->words[at].value;
	bool ended = false;

	j->unsure = true;
	/* None of their options names a program or a file to write. */
	if (name_in(verb, "add checkout switch restore reset rm mv commit"))
		return;
	for (size_t k = 0; k < ARRAY_LEN(running); k++)
		if (!running[k].option[0] && span_eq(span_str(running[k].verb), verb))
			judge_note_effect(j, PROGRAM_RUNS, at, "command", NULL);
	for (size_t i = at + 1; i < command->word_count && !ended; i++) {
		const struct shell_word *word = &command->words[i];

		ended = !word->dynamic && span_eq(word->value, SPAN("--"));
		if (!judge_is_operand(command, word) && word->dynamic &&
		    !(is_message(command, i) && name_in(verb, "merge notes")))
			judge_note_unknown(j, i, "argument");
		else
			git_judge_word(j, verb, i);
	}
	if (command->flags & SHELL_FLAG_APPENDED && !ended)
		judge_note_unknown(j, command->word_count, "input");
}

/* git config KEY VALUE, which lets a later call run the value. */
static void judge_set_keys(struct judging *j, size_t at)
{
	for (size_t i = at; i < j->command->word_count; i++) {
		const struct shell_word *word = &j->command->words[i];

		if (span_find(word->value, '.') &&
		    wrapper_git_key_kind(word->value) != GIT_KEY_HARMLESS)
			judge_note_effect(j, PROGRAM_RUNS, i, "key", NULL);
	}
}

static void judge_git(struct judging *j)
{
	const struct shell_command *command = j->command;
	const struct judged_program *row = NULL;
	struct git_call call;
	size_t at = judge_own_options(j);

	if (at >= command->word_count) {
		if (command->flags & SHELL_FLAG_APPENDED)
			judge_note_unknown(j, command->word_count, "input");
		return;
	}
	if (command->words[at].dynamic) {
		judge_note_unknown(j, at, "command");
		return;
	}
	row = program_find(SPAN("git"), command->words[at].value);
	if (!row || command->words[at].value.len == 0) {
		judge_other(j, at);
		return;
	}
	j->row = row;
	if (at + 1 < command->word_count && span_eq(command->words[at + 1].value, SPAN("--help")))
		j->unsure = true; /* runs man */
	if (row->traits & PROGRAM_ANY)
		return;
	git_read_call(j, at + 1, &call);
	if (operands_read(j, &call))
		return;
	j->unsure = true;
	if (span_eq(span_str(row->verb), SPAN("config")))
		judge_set_keys(j, at + 1);
}

bool program_git_folders(const struct shell_command *command,
                         bool (*judge)(void *data, const struct shell_word *folder), void *data)
{
	for (size_t i = 1; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (judge_is_operand(command, word))
			return true;
		if (span_starts(word->value, SPAN("--git-dir")) ||
		    span_starts(word->value, SPAN("--work-tree")) ||
		    span_starts(word->value, SPAN("--bare")) || word->value.len < 2)
			return false;
		if (span_eq(word->value, SPAN("-C")) &&
		    (i + 1 >= command->word_count || !judge(data, &command->words[i + 1])))
			return false;
		i += name_in(word->value, with_value) || span_eq(word->value, SPAN("-c"));
	}
	return true;
}

/* ---- the table -------------------------------------------------------------------- */

#define READ PROGRAM_READER
#define MANY PROGRAM_MANY
/* All of its options only read, by its manual. */
#define READS(name, source) { name, "", "", "", READ | PROGRAM_ANY, MANY, NULL, source }
/* What it is there for is more than reading; the options are those that do more than that. */
#define DOES(name, letters, longs, source) \
	{ name, "", letters, longs, 0, MANY, NULL, source }

/* The same for editors and pagers, whose +COMMAND is run. */
#define EDITS(name, letters, longs, source) \
	{ name, "", letters, longs, PROGRAM_PLUS, MANY, NULL, source }

#define COREUTILS "GNU coreutils 9.1 manual"
#define UTIL_LINUX "util-linux 2.38 manual pages"
#define BINUTILS "GNU binutils 2.40 manual"
#define BASH "bash 5.2 manual, shell builtin commands"
#define GIT "git 2.39 manual pages"

/* Options of git log, and of all that shows commits and differences (git-log(1), git-diff(1),
 * git-rev-list(1)).  rev-list, shortlog, blame and stash take --output too. */
#define DIFF_LETTERS "pusrtzabwqRWDBcmigEFPC?M?X?S:G:U:O:I:l:n:L:"
#define DIFF_LONGS                                                                              \
	"ext-diff! textconv! output:> show-signature! submodule?@ remerge-diff@ "               \
	"patch no-patch raw stat? numstat shortstat name-only name-status summary dirstat? "    \
	"dirstat-by-file? compact-summary patch-with-stat patch-with-raw unified: minimal "     \
	"patience histogram diff-algorithm: anchored: indent-heuristic color? color-moved? "    \
	"color-moved-ws? color-words? word-diff? word-diff-regex: check full-index binary "     \
	"abbrev? break-rewrites? find-renames? find-copies? find-copies-harder renames "        \
	"rename-empty irreversible-delete diff-filter: pickaxe-all pickaxe-regex text "         \
	"ignore-space-at-eol ignore-cr-at-eol ignore-space-change ignore-all-space "            \
	"ignore-blank-lines ignore-matching-lines: inter-hunk-context: function-context "       \
	"exit-code quiet relative? src-prefix: dst-prefix: no-prefix line-prefix: "             \
	"ita-invisible-in-index ita-visible-in-index skip-to: rotate-to: "                      \
	"output-indicator-new: output-indicator-old: output-indicator-context: "                \
	"ignore-submodules? stat-width: stat-name-width: stat-count: stat-graph-width: "        \
	"diff-merges: cc combined-all-paths cached staged merge-base no-index ours theirs base " \
	"oneline graph pretty? format: date: relative-date since: after: until: before: "       \
	"since-as-filter: author: committer: grep: grep-reflog: all-match invert-grep "         \
	"regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp "            \
	"remove-empty merges no-merges min-parents: max-parents: first-parent "                 \
	"exclude-first-parent-only not all branches? tags? remotes? glob: exclude: "            \
	"exclude-hidden: reflog alternate-refs ignore-missing bisect cherry-mark cherry-pick "  \
	"left-only right-only cherry walk-reflogs merge boundary simplify-by-decoration "       \
	"show-pulls full-history dense sparse simplify-merges ancestry-path? date-order "       \
	"author-date-order topo-order reverse no-walk? do-walk abbrev-commit encoding: "        \
	"expand-tabs? notes? show-notes? standard-notes parents children left-right source "    \
	"use-mailmap mailmap decorate? decorate-refs: decorate-refs-exclude: "                  \
	"clear-decorations log-size max-count: skip: follow max-age: min-age: count timestamp " \
	"objects header root no-commit-id always show-linear-break? end-of-options"
#define DIFF_TRAITS (READ | PROGRAM_DIGITS | PROGRAM_NO)
#define GIT_DIFFS(verb) { "git", verb, DIFF_LETTERS, DIFF_LONGS, DIFF_TRAITS, MANY, NULL, GIT }
/* Options that list refs (git-for-each-ref(1), git-branch(1), git-tag(1)). */
#define REF_LONGS                                                                               \
	"sort: format: contains: no-contains: merged? no-merged? points-at: color? column? "    \
	"ignore-case list count: shell perl python tcl exclude: omit-empty stdin "

/* One row for all of them: an option of one is not known to another, which then refuses it. */
#define AWK_LETTERS "F:v:f:%e:=bcghnNOrsStVi:!l:!o?>d?>p?>D?!E:%L?W:%"
#define AWK_LONGS                                                                      \
	"field-separator: assign: file:% source:= include:! load:! exec:% pretty-print?> " \
	"profile?> dump-variables?> debug?! characters-as-bytes traditional copyright help " \
	"lint? lint-old bignum use-lc-numeric non-decimal-data optimize no-optimize posix " \
	"re-interval sandbox version csv"
#define AWK_ROW(name) { name, "", AWK_LETTERS, AWK_LONGS, READ | PROGRAM_ORDERED, MANY, judge_awk, \
	                "gawk 5.2 manual; mawk(1) 1.3.4" }

#define FD_LETTERS "HIusiFgal@Lp0e:t:d:E:S:c:j:x!X!q1Vh"
#define FD_LONGS \
	"hidden no-ignore unrestricted case-sensitive ignore-case glob fixed-strings " \
	"absolute-path list-details@ follow full-path print0 max-depth: min-depth: exact-depth: " \
	"exclude: prune type: extension: size: changed-within: changed-before: owner: color: " \
	"threads: max-results: quiet show-errors base-directory: path-separator: " \
	"search-path: exec! exec-batch! version help no-ignore-vcs no-ignore-parent glob regex"
#define FD_ROW(name) { name, "", FD_LETTERS, FD_LONGS, READ, MANY, NULL, "fd(1) 8.6 (-l runs ls)" }

static const struct judged_program programs[] = {
	READS("arch", COREUTILS), READS("b2sum", COREUTILS),
	READS("base32", COREUTILS), READS("basename", COREUTILS), READS("basenc", COREUTILS),
	READS("cal", UTIL_LINUX), READS("cat", COREUTILS), READS("cd", BASH),
	READS("cksum", COREUTILS), READS("cmp", "GNU diffutils 3.8 manual"),
	READS("colrm", UTIL_LINUX), READS("column", UTIL_LINUX), READS("comm", COREUTILS),
	READS("cut", COREUTILS), READS("df", COREUTILS), READS("dirname", COREUTILS),
	READS("du", COREUTILS), READS("echo", BASH), READS("egrep", "GNU grep 3.8 manual"),
	READS("exit", BASH), READS("expand", COREUTILS), READS("expr", COREUTILS),
	READS("factor", COREUTILS), READS("false", COREUTILS),
	READS("fgrep", "GNU grep 3.8 manual"), READS("fmt", COREUTILS),
	READS("fold", COREUTILS), READS("free", "procps 4.0 manual pages"),
		READS("grep", "GNU grep 3.8 manual"), READS("groups", COREUTILS),
	READS("head", COREUTILS), READS("hexdump", UTIL_LINUX), READS("id", COREUTILS),
	READS("join", COREUTILS), READS("jq", "jq 1.6 to 1.7 manual"), READS("ls", COREUTILS),
	READS("lsblk", UTIL_LINUX), READS("lscpu", UTIL_LINUX), READS("md5sum", COREUTILS),
	READS("namei", UTIL_LINUX), READS("nl", COREUTILS), READS("nproc", COREUTILS),
	READS("numfmt", COREUTILS), READS("od", COREUTILS), READS("paste", COREUTILS),
	READS("pathchk", COREUTILS),
	READS("break", BASH), READS("continue", BASH), READS("shift", BASH),
	READS("pgrep", "procps 4.0 manual pages"),
	READS("pidof", "procps 4.0 manual pages"), READS("pr", COREUTILS),
	READS("printenv", COREUTILS),
	READS("ps", "procps 4.0 manual pages"), READS("pwd", BASH),
	READS("readelf", BINUTILS), READS("readlink", COREUTILS), READS("realpath", COREUTILS),
	READS("return", BASH), READS("rev", UTIL_LINUX), READS("seq", COREUTILS),
	READS("sha1sum", COREUTILS), READS("sha224sum", COREUTILS),
	READS("sha256sum", COREUTILS), READS("sha384sum", COREUTILS),
	READS("sha512sum", COREUTILS), READS("size", BINUTILS), READS("sleep", COREUTILS),
	READS("stat", COREUTILS), READS("strings", BINUTILS), READS("sum", COREUTILS),
	READS("tac", COREUTILS), READS("tail", COREUTILS),
	READS("tr", COREUTILS), READS("true", COREUTILS), READS("tsort", COREUTILS),
	READS("tty", COREUTILS), READS("type", BASH), READS("uname", COREUTILS),
	READS("unexpand", COREUTILS), READS("uptime", "procps 4.0 manual pages"),
	READS("users", COREUTILS), READS("wc", COREUTILS),
	READS("whereis", UTIL_LINUX), READS("which", "which(1) of debianutils"),
	READS("who", COREUTILS), READS("whoami", COREUTILS), READS(":", BASH),

	/* Readers with options, or operands, that are more. */
	{ "command", "", "", "", READ, MANY, judge_command, BASH },
	{ "env", "", "", "", READ, MANY, judge_env, COREUTILS },
	{ "printf", "", "v:@", "", READ | PROGRAM_ORDERED, MANY, NULL, BASH },
	{ "read", "", "rsd:n:N:p:t:", "", READ | PROGRAM_ORDERED, MANY, judge_read, BASH },
	{ "set", "", "", "", READ, MANY, judge_set, BASH },
	{ "[", "", "", "", READ, MANY, judge_test, BASH },
	{ "test", "", "", "", READ, MANY, judge_test, BASH },
	{ "wait", "", "nf", "", READ, MANY, NULL, BASH },
	AWK_ROW("awk"), AWK_ROW("gawk"), AWK_ROW("mawk"), AWK_ROW("nawk"),
	{ "base64", "", "diw:", "decode ignore-garbage wrap: help version output:>", READ, MANY,
	  NULL, COREUTILS },
	{ "bat", "", "ApnHl:r:dSu",
	  "show-all plain number language: line-range: decorations: color: "
	  "style: wrap: tabs: theme: file-name: highlight-line: diff paging:@ pager:! "
	  "list-languages list-themes version help cache@ generate-config-file>",
	  0, MANY, NULL, "bat(1) 0.22" },
	{ "date", "", "d:f:I?Rur:s:@h",
	  "date: file: iso-8601? rfc-email rfc-822 rfc-2822 rfc-3339: "
	  "reference: set:@ universal utc uct debug resolution help version", READ, MANY,
	  judge_date, COREUTILS },
	{ "diff", "", "qsyuU:cC:enpF:l!L:awbBiI:EZdtTrNx:X:S:vD:W:0123456789",
	  "normal brief report-identical-files context? unified? ed rcs side-by-side width: "
	  "left-column suppress-common-lines show-c-function show-function-line: label: "
	  "expand-tabs initial-tab tabsize: suppress-blank-empty recursive no-dereference "
	  "new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case "
	  "exclude: exclude-from: starting-file: from-file: to-file: ignore-case "
	  "ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space "
	  "ignore-blank-lines ignore-matching-lines: text strip-trailing-cr ifdef: minimal "
	  "horizon-lines: speed-large-files color? palette: help version paginate!",
	  READ, MANY, NULL, "GNU diffutils 3.8 manual (-l runs pr)" },
	FD_ROW("fd"), FD_ROW("fdfind"),
	{ "file", "", "bcdhiIkLnNp>rsvz!Z!0C>e:f:F:m:M:P:S",
	  "brief checking-printout mime mime-type mime-encoding keep-going dereference "
	  "no-dereference no-buffer no-pad raw special-files version uncompress! "
	  "uncompress-noreport! print0 compile> exclude: files-from: separator: magic-file: "
	  "parameter: preserve-date> apple extension help no-sandbox",
	  READ, MANY, NULL, "file(1) 5.44 (-z runs unpackers)" },
	{ "find", "", "", "", READ, MANY, judge_find, "GNU findutils 4.9 manual" },
	{ "getconf", "", "a", "", READ, MANY, NULL,
	  "getconf(1) of glibc 2.36 (-v runs another version)" },
	{ "hostname", "", "sI", "short all-ip-addresses",
	  READ, 0, NULL, "hostname(1) (the other options ask name servers)" },
	{ "logname", "", "", "help version", READ, 0, NULL, COREUTILS },
	{ "objdump", "", "adDSrtTxhfpsCwzlgeGRVHM:j:m:b:",
	  "all-headers disassemble disassemble-all "
	  "disassemble? source? reloc dynamic-reloc syms dynamic-syms section-headers headers "
	  "file-headers private-headers full-contents demangle? wide section: no-show-raw-insn "
	  "no-addresses start-address: stop-address: line-numbers architecture: target: "
	  "archive-headers disassembler-options: help version", READ, MANY, NULL, BINUTILS },
	{ "locale", "", "ack", "all-locales category-name keyword-name", READ, MANY, NULL,
	  "locale(1) of glibc 2.36 (-m runs gzip)" },
	{ "nm", "", "aABCDfgilnopPrsSuvXt:", "debug-syms print-file-name demangle? dynamic "
	  "extern-only line-numbers numeric-sort no-sort portability print-size print-armap "
	  "radix: reverse-sort size-sort undefined-only defined-only format: help version "
	  "no-demangle with-symbol-versions", READ, MANY, NULL,
	  "GNU binutils 2.40 manual (--plugin loads code)" },
	{ "rg", "", "A:B:C:E:e:f:FPg:HhiIj:LlM:m:NnoqsSt:T:UuVvwxz!r:pc0a.", "pre:! hostname-bin:! "
	  "search-zip! after-context: before-context: context: auto-hybrid-regex binary "
	  "block-buffered byte-offset case-sensitive color: colors: column context-separator: "
	  "count count-matches crlf debug dfa-size-limit: encoding: engine: "
	  "field-context-separator: field-match-separator: file: files files-with-matches "
	  "files-without-match fixed-strings follow glob: glob-case-insensitive heading hidden "
	  "iglob: ignore-case ignore-file: ignore-file-case-insensitive include-zero invert-match "
	  "json line-buffered line-number line-regexp max-columns: max-columns-preview max-count: "
	  "max-depth: max-filesize: mmap multiline multiline-dotall no-binary no-config no-heading "
	  "no-filename no-hidden no-ignore no-ignore-dot no-ignore-exclude no-ignore-files "
	  "no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-line-number "
	  "no-messages no-mmap no-require-git no-unicode null null-data one-file-system "
	  "only-matching passthru path-separator: pcre2 pcre2-version pre-glob: pretty quiet "
	  "regex-size-limit: regexp: replace: smart-case sort: sort-files sortr: stats "
	  "stop-on-nonmatch text threads: trace trim type: type-add: type-clear: type-list "
	  "type-not: unrestricted version vimgrep with-filename word-regexp help",
	  READ, MANY, NULL, "rg(1) 13 to 15" },
	{ "sed", "", "nEre:=f:%l:suzi?>", "quiet silent expression:= file:% in-place?> "
	  "regexp-extended line-length: posix separate unbuffered null-data zero-terminated debug "
	  "follow-symlinks sandbox help version", READ, MANY, judge_sed, "GNU sed 4.9 manual" },
	{ "shuf", "", "eo:>i:n:rz", "echo output:> input-range: head-count: repeat random-source: "
	  "zero-terminated help version", READ, MANY, NULL, COREUTILS },
	{ "sort", "", "bdfgiMhnRrVcCmsuzk:S:t:o:>T:@", "ignore-leading-blanks dictionary-order "
	  "ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort "
	  "numeric-sort random-sort random-source: reverse sort: version-sort batch-size: check? "
	  "compress-program:! debug files0-from: key: merge output:> stable buffer-size: "
	  "field-separator: temporary-directory:@ parallel: unique zero-terminated help version",
	  READ, MANY, NULL, COREUTILS },
	{ "tree", "", "adflxL:P:I:R@gpsuDFvtcrUQNqSACXJhiH:T:o:>n",
	  "noreport nolinks hintro: houtro: "
	  "version help prune filelimit: timefmt: inodes device dirsfirst sort: gitignore "
	  "gitfile: matchdirs ignore-case metafirst si du fromfile fromtabfile charset: info "
	  "infofile:", READ | PROGRAM_APART, MANY, NULL, "tree(1) 2.1 (-R writes 00Tree.html)" },
	{ "uniq", "", "cdDf:is:uzw:",
	  "count repeated all-repeated? skip-fields: group? ignore-case "
	  "skip-chars: unique zero-terminated check-chars: help version",
	  READ | PROGRAM_DIGITS | PROGRAM_OUTPUT, 1, NULL,
	  COREUTILS " (the second operand is written)" },
	{ "xmllint", "", "",
	  "format noout noent noblanks nonet nocatalogs recover huge xpath: pretty: "
	  "encode: c14n schema: relaxng: dtdvalid: html valid version quiet output:> shell! "
	  "postvalid timing copy debug xinclude@ catalogs@ load-trace path:@ dropdtd "
	  "nowarning pedantic nsclean nocdata stream walker pattern: sax sax1 o:>",
	  PROGRAM_ONE_DASH, MANY, NULL, "xmllint(1) 2.9 (operands may be addresses)" },
	{ "xxd", "", "abCc:deEg:hil:n:o:ps:uvRr@", "", READ | PROGRAM_ORDERED | PROGRAM_LONE |
	  PROGRAM_OUTPUT, 1, NULL, "xxd(1) 2022 (the second operand is written)" },

	/* git's commands that read. */
	{ "git", "", "", "", READ | PROGRAM_NO, MANY, judge_git, GIT },
	GIT_DIFFS("log"), GIT_DIFFS("show"), GIT_DIFFS("diff"), GIT_DIFFS("diff-tree"),
	GIT_DIFFS("diff-index"), GIT_DIFFS("diff-files"), GIT_DIFFS("whatchanged"),
	GIT_DIFFS("rev-list"), GIT_DIFFS("reflog"), GIT_DIFFS("stash"),
	{ "git", "status", "sbu?vz", "short branch show-stash porcelain? long verbose "
	  "untracked-files? ignore-submodules? ignored? column? ahead-behind renames "
	  "find-renames? null", READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "blame", "bcltfnspewL:M?C?S:", "root show-stats reverse porcelain line-porcelain "
	  "incremental encoding: contents: date: ignore-rev: ignore-revs-file: color-lines "
	  "color-by-age score-debug show-name show-number show-email abbrev? first-parent "
	  "progress since: output:> ext-diff! textconv! show-signature!", READ | PROGRAM_NO, MANY,
	  NULL, GIT },
	{ "git", "shortlog", "nsecw?",
	  "numbered summary email committer group: format: all no-merges "
	  "merges since: until: after: before: author: output:> ext-diff! textconv! "
	  "show-signature! max-count: branches? tags? remotes? first-parent", READ | PROGRAM_NO,
	  MANY, NULL, GIT },
	{ "git", "branch", "arvqili", REF_LONGS "remotes all verbose quiet show-current abbrev? "
	  "delete@ move@ copy@ force@ edit-description@ set-upstream-to:@ unset-upstream@ "
	  "track?@ create-reflog@ recurse-submodules@", READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "tag", "ln?iv@d@",
	  REF_LONGS "verify@ delete@ annotate@ sign@ force@ message:@ file:@ "
	  "edit@ cleanup: local-user:@ create-reflog@", READ | PROGRAM_NO | PROGRAM_DIGITS, MANY,
	  NULL, GIT },
	{ "git", "for-each-ref", "sp", REF_LONGS, READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "remote", "v", "verbose all push", READ, MANY, NULL, GIT },
	{ "git", "worktree", "vz", "verbose porcelain expire:", READ, MANY, NULL, GIT },
	{ "git", "symbolic-ref", "qd@m:@", "quiet short recurse delete@", READ | PROGRAM_NO, MANY,
	  NULL,
	  GIT },
	{ "git", "config", "lzf:", "list get get-all get-regexp get-urlmatch get-color: "
	  "get-colorbool name-only null show-origin show-scope global local system worktree "
	  "file: blob: type: bool int bool-or-int path expiry-date default: includes "
	  "add@ unset@ unset-all@ replace-all@ rename-section@ remove-section@ edit@",
	  READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "cat-file", "tspe", "batch? batch-check? batch-command? batch-all-objects buffer "
	  "unordered allow-unknown-type follow-symlinks filters! textconv! path: "
	  "use-mailmap mailmap", READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "grep", "aiIwvhHEGPFnlLzcopqWrA:B:C:m:e:f:O?!", "cached untracked no-index "
	  "exclude-standard text ignore-case max-depth: recursive word-regexp invert-match "
	  "full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column "
	  "files-with-matches name-only files-without-match null only-matching count color? "
	  "break heading show-function function-context context: after-context: "
	  "before-context: threads: and or not all-match quiet max-count: "
	  "open-files-in-pager?! textconv! ext-grep@ recurse-submodules@",
	  READ | PROGRAM_NO | PROGRAM_DIGITS, MANY, NULL, GIT },
	{ "git", "rev-parse", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "ls-tree", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "ls-files", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "describe", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "merge-base", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "name-rev", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "show-ref", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "check-ignore", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "check-attr", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "count-objects", "", "", READ | PROGRAM_ANY, MANY, NULL, GIT },
	{ "git", "cherry", "v", "verbose abbrev?", READ | PROGRAM_NO, MANY, NULL, GIT },
	{ "git", "version", "", "build-options", READ, 0, NULL, GIT },

	/* Programs that are there for more; what their options do beyond that. */
	{ "tar", "", "I:!F:!C:f:T:X:b:g:>H:K:L:N:V:", "to-command:! use-compress-program:! "
	     "checkpoint-action:! info-script:! new-volume-script:! rsh-command:! rmt-command:! "
	     "index-file:> volno-file:> listed-incremental:> remove-files# file: directory: "
	     "files-from: exclude: exclude-from: transform: xform: strip-components: checkpoint? "
	     "create extract list verbose gzip bzip2 xz zstd auto-compress", 0, MANY, judge_tar,
	  "GNU tar 1.34 manual" },
	DOES("rsync", "e:!M:!B:f:T:",
	     "rsh:! rsync-path:! daemon! config:% log-file:> remote-option:! "
	     "write-batch:> only-write-batch:> read-batch:% files-from: exclude: include: "
	     "backup-dir:> recursive verbose archive", "rsync(1) 3.2"),
	DOES("scp", "S:!o:!D:!F:%i:P:c:l:J:!", "", "scp(1) of OpenSSH 9.2"),
	DOES("sftp", "S:!o:!F:%b:%D:!i:P:c:l:s:B:R:J:!", "", "sftp(1) of OpenSSH 9.2"),
	{ "curl", "", "o:>O>J>K:%c:>D:>T:b:H:d:u:A:e:X:F:x:m:w:r:E:z:U:y:Y:P:Q:t:",
	     "output:> remote-name> remote-name-all> remote-header-name> config:% cookie-jar:> "
	     "dump-header:> stderr:> trace:> trace-ascii:> libcurl:> etag-save:> hsts:> alt-svc:> "
	     "output-dir:> write-out:", 0, MANY, judge_curl, "curl(1) 7.88 to 8.3" },
	DOES("wget", "e:!o:>a:>i:O:P:t:T:U:w:Q:A:R:D:I:X:l:B:", "use-askpass:! execute:! config:% "
	     "output-file:> append-output:> save-cookies:> rejected-log:> warc-file:> hsts-file:>",
	     "GNU wget 1.21 manual"),
	DOES("zip", "T!b:n:t:i:x:", "unzip-command:!", "zip(1) 3.0 (-T runs unzip, -TT a program)"),
	DOES("man", "P:!H?!p:C:%M:m:S:s:e:L:R:E:r:", "pager:! html?! browser:! config-file:% "
	     "preprocessor:!", "man(1) 2.11"),
	EDITS("more", "n:", "lines:", UTIL_LINUX),
	EDITS("less", "o:>O:>k:%b:h:j:p:P:t:T:x:y:z:D:", "log-file:> LOG-FILE:> lesskey-file:% "
	     "lesskey-src:% lesskey-content:%", "less(1) 590"),
	DOES("journalctl", "o:n:u:t:p:g:S:U:b?D:",
	     "vacuum-size:# vacuum-files:# vacuum-time:# rotate@> "
	     "flush@> cursor-file:> setup-keys> update-catalog> output:", "journalctl(1) 252"),
	DOES("dmesg", "C>c>D>E>n:>", "clear> read-clear> console-off> console-on> console-level:>",
	     UTIL_LINUX),
	DOES("split", "a:b:C:l:n:t:", "filter:!", COREUTILS),
	DOES("diff3", "", "diff-program:!", "GNU diffutils 3.8 manual"),
	DOES("sdiff", "o:>w:I:", "diff-program:! output:>", "GNU diffutils 3.8 manual"),
	DOES("yq", "i>s:>p:o:I:", "inplace> in-place> split-exp:> split-exp-file:%",
	     "yq 4 (Go): help; "
	     "yq 3 (Python): README"),
	EDITS("vim", "c:!S?!s:!u:%w:>W:>i:>o?p?T:",
	      "cmd:! startuptime:> remote-expr:! remote-send:!",
	     "vim(1) 9.0"),
	EDITS("vi", "c:!S?!s:!u:%w:>W:>i:>o?p?T:", "cmd:! startuptime:>", "vim(1) 9.0"),
	EDITS("ex", "c:!S?!s:!u:%w:>W:>i:>", "cmd:! startuptime:>", "vim(1) 9.0"),
	EDITS("nvim", "c:!S?!s:!u:%w:>W:>i:>l:!", "cmd:! startuptime:> headless remote-expr:!",
	     "nvim(1) 0.9"),
	{ "sqlite3", "", "", "cmd:= init:% bail batch box column csv header html json line list "
	  "markdown readonly safe separator: newline: nullvalue: mode: version table ascii "
	  "echo", PROGRAM_ONE_DASH, MANY, judge_sqlite, "sqlite3 3.40: .help" },
	{ "psql", "", "c:f:%o:>L:>v:d:h:p:U:P:F:R:T:", "file:% output:> log-file:> command:", 0,
	  MANY,
	  judge_psql, "psql(1) 15" },
	DOES("cargo", "", "config:!", "cargo 1.70 book"),
	DOES("npm", "", "script-shell:! node-options:! git:! ", "npm 9, config"),
};

/* Whether PROGRAM --version prints its version and reads nothing of the folder that it is in. */
static bool program_has_version(struct span name)
{
	/* Not: what reads the folder's files before it prints (cargo and rustc by rustup, yarn,
	 * pnpm, mvn, gradle, go). */
	static const char printing[] =
		"ar as awk bash bat bc bison bzip2 cat clang clang++ clang-format clang-tidy cmake "
		"cp cpp curl cut date dash dd df diff docker du emacs env fd file find flex g++ "
		"gawk gcc gcov gdb gfortran gh git gpg grep gzip head helm java javac jq kubectl "
		"ld less ls lua make mawk mkdir mv mysql nano ninja node npm nvim openssl patch "
		"perl php pkg-config podman psql python python2 python3 readelf rg rm rsync ruby "
		"sed sha256sum sort sqlite3 ssh strace strings systemctl tail tar tee tmux touch "
		"tr tree uname uniq unzip vim wc wget which xargs xz zip zsh zstd";

	return name_in(name, printing);
}

/* Whether "-v" or "-V" does that. */
static bool program_has_short_version(struct span name, struct span option)
{
	if (span_eq(option, SPAN("-v")))
		return name_in(name, "node npm perl php ruby lua");
	return span_eq(option, SPAN("-V")) &&
	       name_in(name, "python python2 python3 ssh tmux rg jq");
}

/* ---- the two questions ----------------------------------------------------------------------- */

/* The row, NULL: none. `verb`: "" but for git. */
static const struct judged_program *program_find(struct span name, struct span verb)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (span_eq(name, span_str(programs[i].name)) &&
		    span_eq(verb, span_str(programs[i].verb)))
			return &programs[i];
	return NULL;
}

static void judging_run(struct judging *j)
{
	struct span base = shell_command_base(j->command);

	j->row = base.len ? program_find(base, span_of("", 0)) : NULL;
	if (j->row && j->row->judge)
		j->row->judge(j);
	else if (j->row && !(j->row->traits & PROGRAM_ANY))
		judge_common(j);
}

static bool asks_for_version(const struct shell_command *command)
{
	struct span base = shell_command_base(command);

	if (command->word_count != 2 || command->words[1].dynamic ||
	    command->flags & SHELL_FLAG_APPENDED)
		return false;
	return (name_in(command->words[1].value, "--version --help") &&
	        program_has_version(base)) ||
	       program_has_short_version(base, command->words[1].value);
}

bool program_reads(const struct shell_command *command)
{
	struct program_excess excess;
	struct judging j = { .command = command, .excess = &excess };

	if (command->word_count == 0 || command->words[0].dynamic)
		return false;
	if (asks_for_version(command))
		return true;
	judging_run(&j);
	return j.row && j.row->traits & PROGRAM_READER && !j.unsure && !j.found;
}

bool program_exceeds(const struct shell_command *command, size_t from, struct program_excess *ret)
{
	struct judging j = { .command = command, .excess = ret, .from = from };

	if (command->word_count == 0 || command->words[0].dynamic)
		return false;
	judging_run(&j);
	return j.found;
}
