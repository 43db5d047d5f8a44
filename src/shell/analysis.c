/* SPDX-License-Identifier: Apache-2.0 */
/* The order of things: a queue of scripts and commands, each of which may add more. */
#include "shell/analysis.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "shell/reader.h"
#include "shell/store.h"

static void check_bytes(struct shell_store *store, size_t script)
{
	struct span text = store->scripts[script].text;

	if (!utf8_valid(text))
		store_problem(store, SHELL_PROBLEM_ENCODING, script, 0, text.len);
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
			store_problem(store, SHELL_PROBLEM_CONTROL, script, i, 1);
			return;
		}
	}
}

/* The second reading is for what the first found nothing wrong with. */
static bool is_fit_for_tree(const struct reading *reading)
{
	for (size_t i = 0; i < reading->problem_count; i++)
		if (reading->problems[i].kind == SHELL_PROBLEM_SYNTAX ||
		    reading->problems[i].kind == SHELL_PROBLEM_LIMIT)
			return false;
	return reading->command_count > 0 && utf8_valid(reading->text) &&
	       !memchr(reading->text.data, '\0', reading->text.len);
}

static void compare_with_tree(struct shell_store *store, struct reading *reading)
{
	if (!store->parser)
		store->parser = tree_parser_new();
	if (store->parser)
		tree_compare(store->parser, reading, &store->parse_budget_us);
	else
		reading_problem(reading, SHELL_PROBLEM_LIMIT, 0, reading->text.len);
}

static void read_script(struct shell_store *store, size_t script)
{
	struct reading reading;

	check_bytes(store, script);
	reading_init(&reading, store->scripts[script].text);
	reading_make(&reading);
	if (reading.text.len > 0 && is_fit_for_tree(&reading))
		compare_with_tree(store, &reading);
	store_reading(store, script, &reading);
	reading_release(&reading);
}

static void work(struct shell_store *store)
{
	size_t script = 0, command = 0;

	while (script < store->script_count || command < store->command_count) {
		if (script < store->script_count) {
			read_script(store, script++);
		} else {
			hazard_check(store, command);
			unwrap_command(store, command++);
		}
	}
	hazard_finish(store);
}

void shell_analyse(struct span script, struct shell_analysis *ret)
{
	struct shell_store *store = mem_alloc(1, sizeof(*store));

	store->parse_budget_us = LIMIT_SHELL_PARSE_US;
	store_script(store, span_head(script, LIMIT_SHELL_BYTES), SHELL_NONE, SHELL_VIA_SCRIPT, 0);
	if (script.len > LIMIT_SHELL_BYTES)
		store_problem(store, SHELL_PROBLEM_LIMIT, 0, LIMIT_SHELL_BYTES, 0);
	work(store);
	tree_parser_free(store->parser);
	store->parser = NULL;
	*ret = (struct shell_analysis){
		.scripts = store->scripts, .script_count = store->script_count,
		.commands = store->commands, .command_count = store->command_count,
		.redirects = store->redirects, .redirect_count = store->redirect_count,
		.functions = store->functions, .function_count = store->function_count,
		.problems = store->problems, .problem_count = store->problem_count,
		.background = store->background,
		.store = store,
	};
}

/* Arrays of arrays here and in other tables of this folder: pointers would have to be relocated
 * at each start of the program. */
static const char problem_names[][24] = {
#define ROW(symbol, name, sentence) name,
	SHELL_PROBLEM_TABLE(ROW)
#undef ROW
};

static const char problem_sentences[][112] = {
#define ROW(symbol, name, sentence) sentence,
	SHELL_PROBLEM_TABLE(ROW)
#undef ROW
};

static const char redirect_names[][16] = {
#define ROW(symbol, name) name,
	SHELL_REDIRECT_TABLE(ROW)
#undef ROW
};

static const char via_names[][16] = {
#define ROW(symbol, name) name,
	SHELL_VIA_TABLE(ROW)
#undef ROW
};

static const char dynamic_names[][24] = {
#define ROW(symbol, name) name,
	SHELL_DYNAMIC_TABLE(ROW)
#undef ROW
};

static const char flag_names[][16] = {
#define ROW(symbol, name, value) name,
	SHELL_FLAG_TABLE(ROW)
#undef ROW
};

const char *shell_problem_name(enum shell_problem_kind kind)
{
	return problem_names[kind];
}

const char *shell_problem_sentence(enum shell_problem_kind kind)
{
	return problem_sentences[kind];
}

const char *shell_redirect_name(enum shell_redirect_kind kind)
{
	return redirect_names[kind];
}

const char *shell_via_name(enum shell_via via)
{
	return via_names[via];
}

const char *shell_dynamic_name(unsigned bit)
{
	return bit < ARRAY_LEN(dynamic_names) ? dynamic_names[bit] : NULL;
}

const char *shell_flag_name(unsigned bit)
{
	return bit < ARRAY_LEN(flag_names) ? flag_names[bit] : NULL;
}
