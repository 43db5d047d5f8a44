/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are asked about although they are allowed (Gemini CLI's list, on words instead of
 * text), and that run although somebody would be asked (those that only read, shell/programs.h).
 * They decide about asking where a rule says nothing about the command itself; what a command can
 * do is the sandbox's matter. */
#include <string.h>

#include "base/mem.h"
#include "policy/decide.h"
#include "shell/programs.h"

/* One option: its long name (with its dashes), its letter; either may be missing. */
struct option {
	const char *name;
	char letter;
};

#define OPTIONS(...) ((const struct option[]){ __VA_ARGS__, { NULL, 0 } })

struct row {
	const char *program;
	const char *verb;             /* the next word; NULL: any */
	const struct option *options; /* with one of them */
};

#define FIND_OPTIONS                                                                       \
	OPTIONS({ "-exec", 0 }, { "-execdir", 0 }, { "-ok", 0 }, { "-okdir", 0 },          \
	        { "-delete", 0 }, { "-fls", 0 }, { "-fprint", 0 }, { "-fprint0", 0 },      \
	        { "-fprintf", 0 })
#define RG_OPTIONS OPTIONS({ "--pre", 0 }, { "--hostname-bin", 0 }, { "--search-zip", 'z' })
#define GIT_OPTIONS                                                                        \
	OPTIONS({ "--output", 0 }, { "--ext-diff", 0 }, { "--textconv", 0 }, { "--exec", 0 }, \
	        { "--paginate", 0 })

static const struct row dangerous[] = {
	{ "rm", NULL, OPTIONS({ "--force", 'f' }) },
	{ "find", NULL, FIND_OPTIONS },
	{ "rg", NULL, RG_OPTIONS },
	{ "base64", NULL, OPTIONS({ "--output", 'o' }) },
	{ "ln", NULL, OPTIONS({ "--symbolic", 's' }) },
	{ "git", "diff", GIT_OPTIONS },
	{ "git", "log", GIT_OPTIONS },
	{ "git", "show", GIT_OPTIONS },
	{ "git", "branch", OPTIONS({ "--delete", 'd' }, { NULL, 'D' }, { "--move", 'm' },
	                           { NULL, 'M' }, { "--force", 'f' }) },
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

static bool is_in(struct span name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(name, span_str(list[i])))
			return true;
	return false;
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

/* Variables that change how something is shown, and nothing else; with values that are names. */
static bool is_harmless_assignment(const struct shell_command *command,
                                   const struct shell_assignment *assignment)
{
	static const char *const names[] = {
		"LC_ALL", "LANG", "LC_COLLATE", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_MESSAGES",
		"TZ", "NO_COLOR", "COLUMNS", "GIT_OPTIONAL_LOCKS",
	};
	static const char *const pagers[] = { "PAGER", "GIT_PAGER", "MANPAGER" };
	struct span value = assignment->value.value;

	if (assignment->value.dynamic)
		return false;
	if (span_eq(assignment->name, SPAN("IFS")))
		return span_eq(shell_command_base(command), SPAN("read"));
	if (is_in(assignment->name, pagers, ARRAY_LEN(pagers)))
		return span_eq(value, SPAN("cat"));
	for (size_t i = 0; i < value.len; i++)
		if (!(value.data[i] >= '0' && value.data[i] <= '9') &&
		    !(value.data[i] >= 'A' && value.data[i] <= 'Z') &&
		    !(value.data[i] >= 'a' && value.data[i] <= 'z') &&
		    !(value.data[i] && strchr("_-.@+", value.data[i])))
			return false;
	return is_in(assignment->name, names, ARRAY_LEN(names));
}

bool is_safe_command(const struct shell_command *command)
{
	/* By its name alone: ./cat is somebody's program. */
	if (command->word_count == 0 || command->words[0].dynamic ||
	    command->words[0].value.len == 0 || (command->flags & SHELL_FLAG_REMOTE) ||
	    memchr(command->words[0].value.data, '/', command->words[0].value.len))
		return false;
	for (size_t i = 0; i < command->assignment_count; i++)
		if (!is_harmless_assignment(command, &command->assignments[i]))
			return false;
	return program_reads(command);
}

bool is_mere_wrapper(const struct shell_command *command)
{
	if (!(command->flags & SHELL_FLAG_WRAPPER) || command->word_count == 0 ||
	    command->words[0].dynamic || command->assignment_count > 0)
		return false;
	return is_in(command->words[0].value, wrappers, ARRAY_LEN(wrappers));
}
