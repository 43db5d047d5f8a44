/* SPDX-License-Identifier: Apache-2.0 */
/* git: its own options, then the command's.  Options by git(1), git-log(1), git-diff(1) and the
 * other commands' pages of git 2.39 to 2.47. */
#include "shell/programs_private.h"

#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "shell/private.h"

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
		judging_unknown(j, word, "configuration");
		return;
	}
	if (name_in(key, display_keys) || (is_pager && !pair->dynamic &&
	                                   name_in(value, "cat true false")))
		return;
	j->unsure = true;
	if (git_key_kind(key) != GIT_KEY_HARMLESS || is_signature_key(key))
		judging_effect(j, PROGRAM_RUNS, word, "option -c", NULL);
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

		if (argument_is_operand(command, word))
			break;
		if (text.len < 2 || text.data[0] != '-') {
			judging_unknown(j, i, "argument");
		} else if (span_eq(text, SPAN("-c")) && i + 1 < command->word_count) {
			judge_key(j, i, &command->words[i + 1]);
			i++;
		} else if (span_starts(text, SPAN("--config-env")) ||
		           span_starts(text, SPAN("--exec-path=")) ||
		           name_in(text, "-p --paginate")) {
			judging_effect(j, PROGRAM_RUNS, i,
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
	size_t first;         /* its word; 0: there is none */
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
	struct arguments a;
	enum argument_kind kind;

	*ret = (struct git_call){ 0 };
	arguments_begin(&a, j, at);
	while ((kind = arguments_next(&a)) != ARGUMENT_END) {
		if (kind == ARGUMENT_OPERAND) {
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
			judging_unknown(j, j->command->word_count, "input");
		ret->operands += PROGRAM_MANY;
	}
}

/* Whether the first operand is one of these, right behind the command. */
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

/* Options by which commands without a row of their own run something. */
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
		judging_effect(j, PROGRAM_RUNS, i, what, NULL);
	}
	for (size_t k = 0; k < ARRAY_LEN(writing); k++) {
		struct span only = span_str(writing[k].verb);

		if ((only.len && !span_eq(only, verb)) || !word_gives(word, writing[k].option))
			continue;
		snprintf(what, sizeof(what), "option %s", writing[k].option);
		judging_effect(j, PROGRAM_WRITES, i, what, NULL);
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
			judging_effect(j, PROGRAM_RUNS, at, "command", NULL);
	for (size_t i = at + 1; i < command->word_count && !ended; i++) {
		const struct shell_word *word = &command->words[i];

		ended = !word->dynamic && span_eq(word->value, SPAN("--"));
		if (!argument_is_operand(command, word) && word->dynamic &&
		    !(is_message(command, i) && name_in(verb, "merge notes")))
			judging_unknown(j, i, "argument");
		else
			git_judge_word(j, verb, i);
	}
	if (command->flags & SHELL_FLAG_APPENDED && !ended)
		judging_unknown(j, command->word_count, "input");
}

/* git config KEY VALUE, which lets a later call run the value. */
static void judge_set_keys(struct judging *j, size_t at)
{
	for (size_t i = at; i < j->command->word_count; i++) {
		const struct shell_word *word = &j->command->words[i];

		if (span_find(word->value, '.') && git_key_kind(word->value) != GIT_KEY_HARMLESS)
			judging_effect(j, PROGRAM_RUNS, i, "key", NULL);
	}
}

void judge_git(struct judging *j)
{
	const struct shell_command *command = j->command;
	const struct program *row = NULL;
	struct git_call call;
	size_t at = judge_own_options(j);

	if (at >= command->word_count) {
		if (command->flags & SHELL_FLAG_APPENDED)
			judging_unknown(j, command->word_count, "input");
		return;
	}
	if (command->words[at].dynamic) {
		judging_unknown(j, at, "command");
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

		if (argument_is_operand(command, word))
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
