/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the shell that change what other commands do, variables that do, and values that
 * are evaluated later. */
#include <stdlib.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "shell/names.h"
#include "shell/store.h"

/* Variables by which a shell or a common program runs something. A * at the end: all that
 * begin so. Programs have more of them; what they run is theirs. */
static const char special_names[] =
	"PATH BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PS0 PROMPT_COMMAND BASH_FUNC_* BASH_CMDS "
	"BASH_ALIASES BASH_LOADABLES_PATH FCEDIT CDPATH EXECIGNORE ZDOTDIR SHELL HOME "
	"XDG_CONFIG_HOME LD_* DYLD_* GCONV_PATH LOCPATH GIT_* SSH_ASKPASS SUDO_ASKPASS PAGER "
	"MANPAGER MANOPT LESS LESSOPEN LESSCLOSE LESSEDIT EDITOR VISUAL BROWSER PYTHONPATH "
	"PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT "
	"RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS "
	"MAKEFLAGS GNUMAKEFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RSYNC_RSH "
	"CVS_RSH TAR_OPTIONS RIPGREP_CONFIG_PATH npm_config_* OPENSSL_CONF";

/* Set in good faith all the time, with these values or none. */
static const char harmless_values[] = "cat true false : 0 1";
static const char harmless_names[] =
	"GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS "
	"GIT_LFS_SKIP_SMUDGE GIT_MERGE_AUTOEDIT";

bool hazard_is_special(struct span name, const struct shell_word *value)
{
	if (!name_in(name, special_names) || name_in(name, harmless_names))
		return false;
	return !value || value->dynamic || span_eq(name, SPAN("PATH")) ||
	       (value->value.len > 0 && !name_in(value->value, harmless_values));
}

struct hazard {
	struct shell_store *store;
	size_t command;
	const struct shell_word *words;
	size_t count;
};

static void report(struct hazard *h, enum shell_problem_kind kind)
{
	store_command_problem(h->store, kind, h->command);
}

static bool word_is(const struct hazard *h, size_t i, const char *text)
{
	return i < h->count && !h->words[i].dynamic && span_eq(h->words[i].value, span_str(text));
}

/* Whether one of the letters stands in a word of options, or a dynamic word may be one. */
static bool has_letter(const struct hazard *h, const char *letters)
{
	for (size_t i = 1; i < h->count; i++) {
		const struct shell_word *word = &h->words[i];

		if (word->dynamic && (word->value.len == 0 || strchr("-+", word->value.data[0])))
			return true;
		if (word->value.len == 0 || !strchr("-+", word->value.data[0]))
			continue;
		for (size_t k = 1; k < word->value.len; k++)
			if (strchr(letters, word->value.data[k]))
				return true;
	}
	return false;
}

/* A word that names a variable: NAME or NAME=VALUE. */
static void check_variable(struct hazard *h, const struct shell_word *word)
{
	const char *equals = span_find(word->value, '=');
	struct span name = equals ? span_head(word->value, (size_t)(equals - word->value.data))
	                          : word->value;
	struct shell_word value = *word;

	if (word->dynamic && !equals) {
		report(h, SHELL_PROBLEM_ARITHMETIC);
		return;
	}
	if (span_ends(name, SPAN("+")))
		name.len--;
	if (span_find(name, '['))
		report(h, SHELL_PROBLEM_ARITHMETIC);
	value.value = equals ? span_skip(word->value, name.len + 1) : span_of("", 0);
	if (equals && hazard_is_special(name, &value))
		report(h, SHELL_PROBLEM_ENVIRONMENT);
	if (!equals)
		store_name(&h->store->values, name, false, h->store->commands[h->command].script,
		           h->store->commands[h->command].offset);
}

static void check_variables(struct hazard *h)
{
	for (size_t i = 1; i < h->count; i++)
		if (h->words[i].dynamic || !span_starts(h->words[i].value, SPAN("-")))
			check_variable(h, &h->words[i]);
}

/* declare, export, local …: -i evaluates values, -n refers to a name that may be more. */
static void check_declaration(struct hazard *h)
{
	if (has_letter(h, "in"))
		report(h, SHELL_PROBLEM_ARITHMETIC);
	check_variables(h);
}

/* read, mapfile, getopts, unset: variables get what nobody knows. */
static void check_setting(struct hazard *h)
{
	for (size_t i = 1; i < h->count; i++)
		if (!h->words[i].dynamic && hazard_is_special(h->words[i].value, NULL))
			report(h, SHELL_PROBLEM_ENVIRONMENT);
	if (word_is(h, 0, "mapfile") || word_is(h, 0, "readarray"))
		if (has_letter(h, "C"))
			report(h, SHELL_PROBLEM_BUILTIN);
	check_variables(h);
}

/* A word that is only a number does no harm where an option could: $x of a known number. */
static void need_number(struct hazard *h, const struct shell_word *word)
{
	struct span name = span_skip(word->raw, 1);
	size_t i = 0;

	while (i < name.len && is_name((unsigned char)name.data[i]))
		i++;
	if (name_in(word->raw, "$# $? $! $$"))
		return;
	if (word->dynamic == SHELL_DYNAMIC_VARIABLE && i > 0 && i == name.len)
		store_name(&h->store->numbers, name, false,
		           h->store->commands[h->command].script,
		           h->store->commands[h->command].offset);
	else
		report(h, SHELL_PROBLEM_ARITHMETIC);
}

/* The name behind -v or -p. */
static void check_named(struct hazard *h, size_t i)
{
	if (i >= h->count)
		return;
	if (hazard_is_special(h->words[i].value, NULL))
		report(h, SHELL_PROBLEM_ENVIRONMENT);
	check_variable(h, &h->words[i]);
}

/* printf -v NAME, wait -p NAME */
static void check_named_option(struct hazard *h)
{
	const char *option = word_is(h, 0, "wait") ? "-p" : "-v";

	for (size_t i = 1; i < h->count; i++) {
		const struct shell_word *word = &h->words[i];

		if (word_is(h, i, option))
			check_named(h, i + 1);
		else if (span_starts(word->value, span_str(option)))
			report(h, SHELL_PROBLEM_ARITHMETIC);
		else if (word->dynamic && (word->splits || word->value.len == 0) &&
		         (word->splits || i + 1 < h->count))
			need_number(h, word);
		else if (!span_starts(word->value, SPAN("-")))
			return; /* an operand: what follows are operands too */
	}
}

/* test -v NAME: a subscript in the name is evaluated. */
static void check_test(struct hazard *h)
{
	size_t end = word_is(h, 0, "[") && h->count > 0 ? h->count - 1 : h->count;

	for (size_t i = 1; i < end; i++) {
		const struct shell_word *word = &h->words[i];
		const struct shell_word *next = i + 1 < end ? word + 1 : NULL;

		if ((word_is(h, i, "-v") || word_is(h, i, "-R")) && next)
			check_named(h, i + 1);
		else if (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB)
			need_number(h, word);
		else if (word->dynamic && word->value.len == 0 && next &&
		         (next->dynamic || span_find(next->value, '[')))
			need_number(h, word);
	}
}

static void check_shopt(struct hazard *h)
{
	for (size_t i = 1; i < h->count; i++)
		if (h->words[i].dynamic ||
		    (!span_starts(h->words[i].value, SPAN("-")) &&
		     !name_in(h->words[i].value, "nullglob globstar dotglob failglob nocaseglob "
		                              "nocasematch inherit_errexit lastpipe huponexit "
		                              "globasciiranges")))
			report(h, SHELL_PROBLEM_BUILTIN);
}

/* set -k reads assignments anywhere; posix and history change how commands are read. */
static void check_set(struct hazard *h)
{
	for (size_t i = 1; i < h->count; i++) {
		const struct shell_word *word = &h->words[i];
		bool option = word->value.len > 0 && strchr("-+", word->value.data[0]);

		if (word_is(h, i, "--"))
			return;
		if (name_in(word->value, "keyword posix history histexpand") ||
		    (option && !span_starts(word->value, SPAN("--")) &&
		     (memchr(word->value.data, 'k', word->value.len) ||
		      memchr(word->value.data, 'H', word->value.len))) ||
		    (word->dynamic && i == 1 && (word->value.len == 0 || option)))
			report(h, SHELL_PROBLEM_BUILTIN);
	}
}

static void check_sourced(struct hazard *h)
{
	report(h, SHELL_PROBLEM_SOURCED);
}

static void check_alias(struct hazard *h)
{
	if (h->count > 1)
		report(h, SHELL_PROBLEM_ALIAS);
}

static void check_let(struct hazard *h)
{
	report(h, SHELL_PROBLEM_ARITHMETIC);
}

static void check_always(struct hazard *h)
{
	report(h, SHELL_PROBLEM_BUILTIN);
}

/* at and batch: what they read runs later. */
static void check_input(struct hazard *h)
{
	report(h, SHELL_PROBLEM_STANDARD_INPUT);
}

static void check_jobs(struct hazard *h)
{
	if (has_letter(h, "x"))
		report(h, SHELL_PROBLEM_BUILTIN);
}

static void check_hash(struct hazard *h)
{
	if (has_letter(h, "p"))
		report(h, SHELL_PROBLEM_BUILTIN);
}

static const struct {
	char name[16];
	void (*check)(struct hazard *h);
} hazards[] = {
	{ ".", check_sourced },
	{ "source", check_sourced },
	{ "alias", check_alias },
	{ "let", check_let },
	{ "declare", check_declaration },
	{ "typeset", check_declaration },
	{ "local", check_declaration },
	{ "export", check_declaration },
	{ "readonly", check_declaration },
	{ "read", check_setting },
	{ "mapfile", check_setting },
	{ "readarray", check_setting },
	{ "getopts", check_setting },
	{ "unset", check_setting },
	{ "printf", check_named_option },
	{ "wait", check_named_option },
	{ "test", check_test },
	{ "[", check_test },
	{ "shopt", check_shopt },
	{ "set", check_set },
	{ "jobs", check_jobs },
	{ "hash", check_hash },
	{ "enable", check_always },
	{ "bind", check_always },
	{ "complete", check_always },
	{ "compgen", check_always },
	{ "compopt", check_always },
	{ "fc", check_always },
	{ "at", check_input },
	{ "batch", check_input },
};

void hazard_check(struct shell_store *store, size_t command)
{
	const struct shell_command *c = &store->commands[command];
	struct hazard h = { .store = store, .command = command, .words = c->words,
		            .count = c->word_count };

	for (size_t i = 0; i < c->assignment_count; i++)
		if (hazard_is_special(c->assignments[i].name, &c->assignments[i].value))
			report(&h, SHELL_PROBLEM_ENVIRONMENT);
	for (size_t i = 0; h.count > 0 && i < ARRAY_LEN(hazards); i++)
		if (word_is(&h, 0, hazards[i].name))
			hazards[i].check(&h);
}

/* Variables that the shell keeps numbers in. */
static bool is_shell_number(struct span name)
{
	return name_in(name, "RANDOM SRANDOM SECONDS EPOCHSECONDS LINENO BASHPID PPID UID EUID "
	                     "OPTIND COLUMNS LINES");
}

static int by_name(const void *a, const void *b)
{
	const struct stored_name *x = a, *y = b;
	size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = len ? memcmp(x->name.data, y->name.data, len) : 0;

	return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

/* One row for each name, sorted; safe when all its values are. */
static void join_values(struct stored_names *values)
{
	size_t kept = 0;

	if (values->count)
		qsort(values->items, values->count, sizeof(*values->items), by_name);
	for (size_t i = 0; i < values->count; i++) {
		if (kept > 0 && by_name(&values->items[kept - 1], &values->items[i]) == 0)
			values->items[kept - 1].safe &= values->items[i].safe;
		else
			values->items[kept++] = values->items[i];
	}
	values->count = kept;
}

/* Whether all values that the variable gets are numbers, and it gets one. */
static bool is_safe(const struct stored_names *values, const struct stored_name *wanted)
{
	const struct stored_name *found =
		values->count ? bsearch(wanted, values->items, values->count,
		                        sizeof(*values->items), by_name)
		              : NULL;

	return found ? found->safe : is_shell_number(wanted->name);
}

/* A function that is called by a command's name hides the program. */
static void check_functions(struct shell_store *store)
{
	size_t checks = 0;

	for (size_t i = 0; i < store->function_count; i++)
		for (size_t k = 0; k < store->command_count; k++) {
			const struct shell_command *c = &store->commands[k];

			if (++checks > LIMIT_SHELL_WORDS * 16) {
				store_problem(store, SHELL_PROBLEM_LIMIT, 0, 0, 0);
				return;
			}
			if (c->word_count > 0 && span_eq(c->words[0].value, store->functions[i]))
				store_command_problem(store, SHELL_PROBLEM_FUNCTION, k);
		}
}

void hazard_finish(struct shell_store *store)
{
	join_values(&store->values);
	for (size_t i = 0; i < store->numbers.count; i++)
		if (!is_safe(&store->values, &store->numbers.items[i]))
			store_problem(store, SHELL_PROBLEM_ARITHMETIC,
			              store->numbers.items[i].script,
			              store->numbers.items[i].offset,
			              store->numbers.items[i].name.len);
	check_functions(store);
}
