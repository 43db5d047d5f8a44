/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are asked about although they are allowed, and that run although somebody would be
 * asked: Gemini CLI's lists, on words instead of text.  They decide about asking where a rule says
 * nothing about the command itself; what a command can do is the sandbox's matter. */
#include <string.h>

#include "base/mem.h"
#include "policy/decide.h"

/* One option: its long name (with its dashes), its letter; either may be missing. */
struct option {
	const char *name;
	char letter;
};

#define OPTIONS(...) ((const struct option[]){ __VA_ARGS__, { NULL, 0 } })

struct row {
	const char *program;
	const char *verb;             /* the next word; NULL: any */
	const struct option *options; /* dangerous: with one of them; safe: with none of them.
	                               * NULL: always */
	size_t operands_max;          /* safe: with at most so many words that are no options */
};

#define MANY SIZE_MAX
#define FIND_OPTIONS                                                                       \
	OPTIONS({ "-exec", 0 }, { "-execdir", 0 }, { "-ok", 0 }, { "-okdir", 0 },          \
	        { "-delete", 0 }, { "-fls", 0 }, { "-fprint", 0 }, { "-fprint0", 0 },      \
	        { "-fprintf", 0 })
#define RG_OPTIONS OPTIONS({ "--pre", 0 }, { "--hostname-bin", 0 }, { "--search-zip", 'z' })
#define GIT_OPTIONS                                                                        \
	OPTIONS({ "--output", 0 }, { "--ext-diff", 0 }, { "--textconv", 0 }, { "--exec", 0 }, \
	        { "--paginate", 0 })

static const struct row dangerous[] = {
	{ "rm", NULL, OPTIONS({ "--force", 'f' }), MANY },
	{ "find", NULL, FIND_OPTIONS, MANY },
	{ "rg", NULL, RG_OPTIONS, MANY },
	{ "base64", NULL, OPTIONS({ "--output", 'o' }), MANY },
	{ "ln", NULL, OPTIONS({ "--symbolic", 's' }), MANY },
	{ "git", "diff", GIT_OPTIONS, MANY },
	{ "git", "log", GIT_OPTIONS, MANY },
	{ "git", "show", GIT_OPTIONS, MANY },
	{ "git", "branch", OPTIONS({ "--delete", 'd' }, { NULL, 'D' }, { "--move", 'm' },
	                           { NULL, 'M' }, { "--force", 'f' }), MANY },
};

static const struct row safe[] = {
	{ "cat", NULL, NULL, MANY },      { "cd", NULL, NULL, MANY },
	{ "cut", NULL, NULL, MANY },      { "echo", NULL, NULL, MANY },
	{ "expr", NULL, NULL, MANY },     { "false", NULL, NULL, MANY },
	{ "grep", NULL, NULL, MANY },     { "head", NULL, NULL, MANY },
	{ "id", NULL, NULL, MANY },       { "ls", NULL, NULL, MANY },
	{ "nl", NULL, NULL, MANY },       { "paste", NULL, NULL, MANY },
	{ "pwd", NULL, NULL, MANY },      { "rev", NULL, NULL, MANY },
	{ "seq", NULL, NULL, MANY },      { "stat", NULL, NULL, MANY },
	{ "tail", NULL, NULL, MANY },     { "tr", NULL, NULL, MANY },
	{ "true", NULL, NULL, MANY },     { "uname", NULL, NULL, MANY },
	{ "uniq", NULL, NULL, 1 },        { "wc", NULL, NULL, MANY },
	{ "which", NULL, NULL, MANY },    { "whoami", NULL, NULL, MANY },
	{ "numfmt", NULL, NULL, MANY },   { "tac", NULL, NULL, MANY },
	{ "base64", NULL, OPTIONS({ "--output", 'o' }), MANY },
	{ "find", NULL, FIND_OPTIONS, MANY },
	{ "rg", NULL, RG_OPTIONS, MANY },
	{ "git", "status", GIT_OPTIONS, MANY },
	{ "git", "log", GIT_OPTIONS, MANY },
	{ "git", "diff", GIT_OPTIONS, MANY },
	{ "git", "show", GIT_OPTIONS, MANY },
	{ "git", "branch", OPTIONS({ "--delete", 'd' }, { NULL, 'D' }, { "--move", 'm' },
	                           { NULL, 'M' }, { "--copy", 'c' }, { NULL, 'C' },
	                           { "--force", 'f' }, { "--edit-description", 0 },
	                           { "--set-upstream-to", 'u' }, { "--unset-upstream", 0 },
	                           { "--track", 't' }), 0 },
};

/* Programs that change nothing but what runs their command, and say so in their name. */
static const char *const wrappers[] = { "bash", "sh", "time", "timeout", "nice", "nohup", "xargs" };

static bool has_any(const struct shell_command *command, const struct option *options)
{
	for (; options->name || options->letter; options++) {
		/* A letter without a name needs some name that nothing abbreviates. */
		const char *name = options->name ? options->name : "--\x01";

		if (shell_command_has_option(command, name, options->letter))
			return true;
	}
	return false;
}

/* Words after the first `from` that are no options. */
static size_t operands(const struct shell_command *command, size_t from)
{
	size_t count = command->flags & SHELL_FLAG_APPENDED ? MANY / 2 : 0;

	for (size_t i = from; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (word->splits)
			return MANY / 2;
		count += word->dynamic || word->value.len == 0 || word->value.data[0] != '-';
	}
	return count;
}

static bool has_verb(const struct shell_command *command, const char *verb)
{
	return !verb || (command->word_count > 1 && !command->words[1].dynamic &&
	                 span_eq(command->words[1].value, span_str(verb)));
}

bool is_git_command(const struct shell_command *command)
{
	return span_eq(shell_command_base(command), SPAN("git"));
}

/* git -c NAME=VALUE and the like: the configuration can name programs. */
static bool configures_git(const struct shell_command *command)
{
	for (size_t i = 1; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (!word->dynamic && (word->value.len == 0 || word->value.data[0] != '-'))
			return false;
		if (span_starts(word->value, SPAN("-c")) ||
		    span_starts(word->value, SPAN("--config-env")) ||
		    span_starts(word->value, SPAN("--exec-path")))
			return true;
	}
	return false;
}

/* Of the words that are known alone: what may be there is no reason. */
static bool has_known(const struct shell_command *command, const struct option *options)
{
	_cleanup_free_ struct shell_word *words = mem_alloc(command->word_count, sizeof(*words));
	struct shell_command known = { .words = words };

	for (size_t i = 0; i < command->word_count; i++)
		if (!command->words[i].dynamic)
			words[known.word_count++] = command->words[i];
	return has_any(&known, options);
}

bool is_dangerous_command(const struct shell_command *command)
{
	struct span base = shell_command_base(command);

	if (!base.len)
		return false;
	if (is_git_command(command) && configures_git(command))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(dangerous); i++)
		if (span_eq(base, span_str(dangerous[i].program)) &&
		    has_verb(command, dangerous[i].verb) && has_known(command, dangerous[i].options))
			return true;
	return false;
}

/* sed -n 3p, sed -n 3,9p, and a file. */
static bool is_safe_sed(const struct shell_command *command)
{
	struct span script;
	size_t digits = 0, commas = 0;

	if (command->word_count < 3 || command->word_count > 4 ||
	    !shell_command_is_static(command, 0) ||
	    !span_eq(command->words[1].value, SPAN("-n")) ||
	    (command->word_count == 4 && command->words[3].value.len > 0 &&
	     command->words[3].value.data[0] == '-'))
		return false;
	script = command->words[2].value;
	if (script.len < 2 || script.data[script.len - 1] != 'p')
		return false;
	for (size_t i = 0; i + 1 < script.len; i++) {
		bool digit = script.data[i] >= '0' && script.data[i] <= '9';

		digits += digit;
		commas += script.data[i] == ',';
		if (!digit && script.data[i] != ',')
			return false;
	}
	return commas <= 1 && digits > 0 && script.data[0] != ',' &&
	       script.data[script.len - 2] != ',';
}

bool is_safe_command(const struct shell_command *command, bool trusted)
{
	struct span name;

	if (command->word_count == 0 || command->words[0].dynamic || command->assignment_count > 0 ||
	    (command->flags & SHELL_FLAG_REMOTE) || (is_git_command(command) && !trusted))
		return false;
	/* By its name alone: ./cat is somebody's program. */
	name = command->words[0].value;
	if (span_eq(name, SPAN("sed")))
		return is_safe_sed(command);
	for (size_t i = 0; i < ARRAY_LEN(safe); i++) {
		const struct row *row = &safe[i];

		if (!span_eq(name, span_str(row->program)) || !has_verb(command, row->verb))
			continue;
		return (!row->options || !has_any(command, row->options)) &&
		       operands(command, row->verb ? 2 : 1) <= row->operands_max;
	}
	return false;
}

bool is_mere_wrapper(const struct shell_command *command)
{
	if (!(command->flags & SHELL_FLAG_WRAPPER) || command->word_count == 0 ||
	    command->words[0].dynamic || command->assignment_count > 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (span_eq(command->words[0].value, span_str(wrappers[i])))
			return true;
	return false;
}
