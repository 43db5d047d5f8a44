/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the shell that change what other commands do, variables that do, and values that
 * are evaluated later. */
#include <stdlib.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "shell/private.h"

struct hazard {
	struct shell_store *store;
	size_t command;
	const struct shell_word *words;
	size_t count;
};

static void hazard_report(struct hazard *h, enum shell_problem_kind kind)
{
	store_command_problem(h->store, kind, h->command);
}

static bool hazard_word_is(const struct hazard *h, size_t i, const char *text)
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

void hazard_value(struct shell_store *store, size_t command, struct span name,
                  const struct shell_word *value, bool certain)
{
	const struct shell_command *c = &store->commands[command];

	if (shell_variable_decides(name, value))
		store_command_problem(store, SHELL_PROBLEM_ENVIRONMENT, command);
	store_name(&store->values, (struct stored_name){
		.name = name, .safe = certain, .script = c->script, .offset = c->offset });
}

/* NAME[…]: the subscript is evaluated; digits, @ and * do no harm. */
static bool has_subscript(struct span name)
{
	const char *open = span_find(name, '[');
	size_t i;

	if (!open)
		return false;
	i = (size_t)(open - name.data) + 1;
	while (i < name.len && (ascii_is_digit((unsigned char)name.data[i]) ||
	                        strchr("@*", name.data[i])))
		i++;
	return i + 1 != name.len || name.data[i] != ']';
}

/* A word that is only a number does no harm where an option could: $x of a known number. */
static void need_number(struct hazard *h, const struct shell_word *word)
{
	struct span name = span_skip(word->raw, 1);
	size_t i = 0;

	while (i < name.len && shell_is_name((unsigned char)name.data[i]))
		i++;
	if (name_in(word->raw, "$# $? $! $$"))
		return;
	if (word->dynamic == SHELL_DYNAMIC_VARIABLE && i > 0 && i == name.len)
		store_name(&h->store->numbers, (struct stored_name){
			.name = name, .script = h->store->commands[h->command].script,
			.offset = h->store->commands[h->command].offset });
	else
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
}

/* ---- builtins that give variables values ------------------------------------------------- */

enum {
	SETS_OPERANDS = 1,  /* each operand is a name, or NAME=VALUE */
	SETS_SECOND = 2,    /* the second operand is a name */
	SETS_NOTHING = 4,   /* takes values away (unset), or none is given without = (declare) */
	DECLARES = 8,       /* -i, -n, -a and -A matter, and NAME=(…) is read as an array */
	CALLS = 16,         /* -C is a command */
};

static const struct setter {
	struct shell_wrapper options;
	char named[4]; /* letters whose value is a name */
	unsigned traits;
} setters[] = {
	{ { "read", "ersEa:d:i:n:N:p:t:u:", "", 0, 0, 0 }, "a", SETS_OPERANDS },
	{ { "mapfile", "td:n:O:s:u:C:c:", "", 0, 0, 0 }, "", SETS_OPERANDS | CALLS },
	{ { "readarray", "td:n:O:s:u:C:c:", "", 0, 0, 0 }, "", SETS_OPERANDS | CALLS },
	{ { "getopts", "", "", 0, 0, 0 }, "", SETS_SECOND },
	{ { "unset", "fvn", "", 0, 0, 0 }, "", SETS_OPERANDS | SETS_NOTHING },
	{ { "printf", "v:", "", 0, 0, 0 }, "v", 0 },
	{ { "wait", "fnp:", "", 0, 0, 0 }, "p", 0 },
#define DECLARATION(name) \
	{ { name, "aAfFgiIlnprtux", "", 0, 0, TRAIT_PLUS }, "", \
	  SETS_OPERANDS | SETS_NOTHING | DECLARES }
	DECLARATION("declare"), DECLARATION("typeset"), DECLARATION("local"),
	DECLARATION("export"), DECLARATION("readonly"),
#undef DECLARATION
};

/* A name whose value is not known afterwards. */
static void set_name(struct hazard *h, const struct shell_word *word)
{
	if (word->dynamic || has_subscript(word->value))
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
	else
		hazard_value(h->store, h->command, word->value, NULL, false);
}

/* Whether the value may be text that begins with a ( which a script does not have as an array:
 * declare -a 'x=($(a))' */
static bool may_be_array_text(const struct shell_word *word, size_t at)
{
	struct span value = span_skip(word->value, at);

	if (span_starts(word->raw, span_head(word->value, at)) &&
	    span_starts(span_skip(word->raw, at), SPAN("(")))
		return false;
	return value.len == 0 ? word->dynamic != 0 : span_starts(value, SPAN("("));
}

/* NAME=VALUE after declare and its kin. */
static void declare_value(struct hazard *h, const struct shell_word *word, struct span name,
                          bool arrays)
{
	struct shell_word value = *word;
	size_t at = name.len + 1;
	struct span raw;

	if (span_ends(name, SPAN("+")))
		name.len--;
	value.value = span_skip(word->value, at);
	raw = span_starts(word->raw, span_head(word->value, at)) ? span_skip(word->raw, at)
	                                                         : SPAN("?");
	if (may_be_array_text(word, at)) {
		const struct shell_command *c = &h->store->commands[h->command];

		if (arrays)
			hazard_report(h, SHELL_PROBLEM_EXPANSION);
		store_name(&h->store->scalars, (struct stored_name){
			.name = name, .script = c->script, .offset = c->offset });
	}
	if (has_subscript(name))
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
	hazard_value(h->store, h->command, name, &value, shell_number_is_certain(raw));
}

static void hazard_check_operand(struct hazard *h, const struct shell_word *word, unsigned traits,
                                 bool arrays)
{
	const char *equals = span_find(word->value, '=');
	struct span name = equals ? span_head(word->value, (size_t)(equals - word->value.data))
	                          : word->value;

	if (equals && traits & DECLARES)
		declare_value(h, word, name, arrays);
	else if (!(traits & SETS_NOTHING))
		set_name(h, word);
	else if (word->dynamic || has_subscript(name))
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
	else if (!(traits & DECLARES) && shell_variable_decides(name, NULL))
		hazard_report(h, SHELL_PROBLEM_ENVIRONMENT);
}

/* A first operand that is not known may be an option, but not -vNAME with what it ends in. */
static bool may_be_named_option(const struct hazard *h, size_t i)
{
	const struct shell_word *word;
	char last;

	if (i + 1 >= h->count || h->words[i].value.len > 0 || !h->words[i].dynamic)
		return false;
	word = &h->words[i];
	if (word->splits || word->raw.len < 3)
		return true;
	if (span_ends(word->raw, SPAN("\\n\"")))
		return false;
	last = word->raw.data[word->raw.len - 2];
	return word->raw.data[word->raw.len - 1] != '"' || shell_is_name((unsigned char)last) ||
	       strchr("}])`*@#?$!-\\", last);
}

static void check_setter(struct hazard *h)
{
	const struct setter *row = setters;
	bool arrays = false;
	struct options options;

	while (!hazard_word_is(h, 0, row->options.name))
		row++;
	wrapper_options_begin(&options, h->words, h->count, &row->options);
	while (wrapper_options_next(&options)) {
		if (!options.letter)
			continue;
		if (options.has_value && strchr(row->named, options.letter))
			set_name(h, &options.value);
		if (row->traits & CALLS && options.letter == 'C')
			hazard_report(h, SHELL_PROBLEM_BUILTIN);
		arrays |= row->traits & DECLARES && strchr("aA", options.letter);
		if (row->traits & DECLARES && strchr("in", options.letter))
			hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
	}
	if (options.unknown)
		hazard_report(h, SHELL_PROBLEM_UNKNOWN_OPTION);
	if (row->named[0] && !(row->traits & SETS_OPERANDS)) {
		if (may_be_named_option(h, options.at))
			need_number(h, &h->words[options.at]);
		return;
	}
	if (options.dynamic)
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
	if (row->traits & SETS_SECOND && options.at + 1 < h->count)
		set_name(h, &h->words[options.at + 1]);
	for (size_t i = options.at; row->traits & SETS_OPERANDS && i < h->count; i++)
		hazard_check_operand(h, &h->words[i], row->traits, arrays);
}

/* The name after test's -v or -R. */
static void check_named(struct hazard *h, size_t i)
{
	if (i < h->count && (h->words[i].dynamic || has_subscript(h->words[i].value)))
		hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
}

/* test -v NAME: a subscript in the name is evaluated. */
static void check_test(struct hazard *h)
{
	size_t end = hazard_word_is(h, 0, "[") && h->count > 0 ? h->count - 1 : h->count;

	for (size_t i = 1; i < end; i++) {
		const struct shell_word *word = &h->words[i];
		const struct shell_word *next = i + 1 < end ? word + 1 : NULL;

		if ((hazard_word_is(h, i, "-v") || hazard_word_is(h, i, "-R")) && next)
			check_named(h, i + 1);
		else if (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB)
			need_number(h, word);
		else if (word->dynamic && next && (next->dynamic || span_find(next->value, '[')) &&
		         (word->value.len == 0 || word->value.data[0] == '-'))
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
			hazard_report(h, SHELL_PROBLEM_BUILTIN);
}

/* set -k reads assignments anywhere; posix, history and +B change how commands are read. The
 * options end at --, or at a word that is neither one nor the value of -o. */
static void check_set(struct hazard *h)
{
	bool value = false;

	for (size_t i = 1; i < h->count; i++) {
		const struct shell_word *word = &h->words[i];
		bool option = word->value.len > 0 && strchr("-+", word->value.data[0]);

		if (hazard_word_is(h, i, "--") || hazard_word_is(h, i, "-"))
			return;
		if (!option && !value && !(word->dynamic && word->value.len == 0))
			return;
		if (word->dynamic || (value && !wrapper_is_harmless_mode(word->value)) ||
		    (option && !span_starts(word->value, SPAN("--")) &&
		     (span_find(word->value, 'k') || span_find(word->value, 'H') ||
		      span_find(word->value, 'B'))))
			hazard_report(h, SHELL_PROBLEM_BUILTIN);
		value = option && span_find(word->value, 'o');
	}
}

static void check_sourced(struct hazard *h)
{
	hazard_report(h, SHELL_PROBLEM_SOURCED);
}

static void check_alias(struct hazard *h)
{
	if (h->count > 1)
		hazard_report(h, SHELL_PROBLEM_ALIAS);
}

static void check_let(struct hazard *h)
{
	hazard_report(h, SHELL_PROBLEM_ARITHMETIC);
}

static void check_always(struct hazard *h)
{
	hazard_report(h, SHELL_PROBLEM_BUILTIN);
}

/* at and batch: what they read runs later. */
static void check_input(struct hazard *h)
{
	hazard_report(h, SHELL_PROBLEM_STANDARD_INPUT);
}

static void check_jobs(struct hazard *h)
{
	if (has_letter(h, "x"))
		hazard_report(h, SHELL_PROBLEM_BUILTIN);
}

static void hazard_check_hash(struct hazard *h)
{
	if (has_letter(h, "p"))
		hazard_report(h, SHELL_PROBLEM_BUILTIN);
}

static const struct {
	char name[16];
	void (*check)(struct hazard *h);
} hazards[] = {
	{ ".", check_sourced },
	{ "source", check_sourced },
	{ "alias", check_alias },
	{ "let", check_let },
	{ "declare", check_setter },
	{ "typeset", check_setter },
	{ "local", check_setter },
	{ "export", check_setter },
	{ "readonly", check_setter },
	{ "read", check_setter },
	{ "mapfile", check_setter },
	{ "readarray", check_setter },
	{ "getopts", check_setter },
	{ "unset", check_setter },
	{ "printf", check_setter },
	{ "wait", check_setter },
	{ "test", check_test },
	{ "[", check_test },
	{ "shopt", check_shopt },
	{ "set", check_set },
	{ "jobs", check_jobs },
	{ "hash", hazard_check_hash },
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
		if (shell_variable_decides(c->assignments[i].name, &c->assignments[i].value))
			hazard_report(&h, SHELL_PROBLEM_ENVIRONMENT);
	for (size_t i = 0; h.count > 0 && i < ARRAY_LEN(hazards); i++)
		if (hazard_word_is(&h, 0, hazards[i].name))
			hazards[i].check(&h);
}

static int stored_name_order(const void *a, const void *b)
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
		qsort(values->items, values->count, sizeof(*values->items), stored_name_order);
	for (size_t i = 0; i < values->count; i++) {
		if (kept == 0 ||
		    stored_name_order(&values->items[kept - 1], &values->items[i]) != 0) {
			values->items[kept++] = values->items[i];
			continue;
		}
		values->items[kept - 1].safe &= values->items[i].safe;
		values->items[kept - 1].array |= values->items[i].array;
	}
	values->count = kept;
}

static const struct stored_name *find_value(const struct stored_names *values,
                                            const struct stored_name *wanted)
{
	return values->count ? bsearch(wanted, values->items, values->count,
	                               sizeof(*values->items), stored_name_order)
	                     : NULL;
}

/* Whether all values that the variable gets are numbers, and it gets one. */
static bool is_safe(const struct stored_names *values, const struct stored_name *wanted)
{
	const struct stored_name *found = find_value(values, wanted);
	unsigned traits = shell_variable_traits(wanted->name);

	return found ? found->safe && !(traits & VARIABLE_SHELL) : traits & VARIABLE_NUMBER;
}

static void report_name(struct shell_store *store, enum shell_problem_kind kind,
                        const struct stored_name *name)
{
	store_problem(store, kind, name->script, name->offset, name->name.len);
}

/* What was noted of variables, once all of their values are known. */
static void check_names(struct shell_store *store)
{
	join_values(&store->values);
	for (size_t i = 0; i < store->values.count; i++)
		if (!store->values.items[i].safe &&
		    shell_variable_traits(store->values.items[i].name) & VARIABLE_EVALUATES)
			report_name(store, SHELL_PROBLEM_ARITHMETIC, &store->values.items[i]);
	for (size_t i = 0; i < store->numbers.count; i++)
		if (!is_safe(&store->values, &store->numbers.items[i]))
			report_name(store, SHELL_PROBLEM_ARITHMETIC, &store->numbers.items[i]);
	for (size_t i = 0; i < store->scalars.count; i++) {
		const struct stored_name *found =
			find_value(&store->values, &store->scalars.items[i]);

		if (found && found->array)
			report_name(store, SHELL_PROBLEM_EXPANSION, &store->scalars.items[i]);
	}
}

/* A function that is called by a command's name hides the program. */
static void check_functions(struct shell_store *store)
{
	size_t checks = 0;

	for (size_t i = 0; i < store->function_count; i++) {
		/* Called for any program that is not there. */
		if (span_eq(store->functions[i], SPAN("command_not_found_handle")))
			store_problem(store, SHELL_PROBLEM_FUNCTION, 0, 0, 0);
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
}

void hazard_finish(struct shell_store *store)
{
	check_names(store);
	check_functions(store);
}
