/* SPDX-License-Identifier: Apache-2.0 */
/* From places in a script to commands with values; and the order of things: a queue of scripts and
 * commands, each of which may add more. */
#include "shell/analysis.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "shell/private.h"
#include "shell/reading.h"

struct converter {
	struct shell_store *store;
	const struct shell_reading *reading;
	size_t script;
	size_t base; /* number of the reading's first command */
};

static struct span raw_of(const struct converter *c, struct text_place at)
{
	return span_of(c->store->scripts[c->script].text.data + at.start, at.end - at.start);
}

static struct shell_word converter_finish_word(struct converter *c, struct span raw,
                                               struct word_reading *word)
{
	struct shell_word result = { .raw = raw, .dynamic = word->dynamic,
		                     .splits = word->splits };

	result.value = store_copy(c->store, span_head(buf_from(&word->text, 0), word->known));
	word_release(word);
	return result;
}

static struct shell_word convert_word(struct converter *c, struct text_place at, bool assignment)
{
	struct word_reading word;

	word_read(c->reading, at, assignment, &word);
	return converter_finish_word(c, raw_of(c, at), &word);
}

/* A word with the dynamic kind BRACES added. */
static struct shell_word unclear_word(struct converter *c, struct text_place at)
{
	const char *brace = memchr(c->reading->text.data + at.start, '{', at.end - at.start);
	struct shell_word word = convert_word(c, at, false);
	size_t known = brace ? (size_t)(brace - c->reading->text.data) - at.start : 0;

	word.value = span_head(word.value, known);
	word.dynamic |= SHELL_DYNAMIC_BRACES;
	word.splits = true;
	return word;
}

/* Whether a word with pieces has a brace expansion around or next to them. */
static bool may_have_braces(struct span raw)
{
	const char *open = memchr(raw.data, '{', raw.len);

	while (open) {
		size_t left = raw.len - (size_t)(open - raw.data);

		if (open == raw.data || open[-1] != '$')
			return memchr(open, ',', left) || memmem(open, left, "..", 2);
		open = memchr(open + 1, '{', left - 1);
	}
	return false;
}

struct word_list {
	struct shell_word *items;
	size_t count, cap;
};

static void word_list_add(struct word_list *list, struct shell_word word)
{
	if (list->count == list->cap)
		list->items = mem_grow(list->items, &list->cap, list->count + 1,
		                       sizeof(*list->items));
	list->items[list->count++] = word;
}

static void add_expanded(struct converter *c, struct span raw, const struct buf *words,
                         size_t count, struct word_list *list)
{
	const char *at = words->data;

	for (size_t i = 0; i < count; i++) {
		struct word_reading word;
		struct span text = span_str(at);

		word_read_plain(text, &word);
		/* What braces leave empty and unquoted is no word. */
		if (word.text.len > 0 || word.quoted)
			word_list_add(list, converter_finish_word(c, raw, &word));
		else
			word_release(&word);
		at += text.len + 1;
	}
}

static void expand_word(struct converter *c, struct text_place at, struct word_list *list)
{
	_cleanup_buf_ struct buf words = BUF_INIT(LIMIT_SHELL_ALL_BYTES);
	struct span raw = raw_of(c, at);
	size_t count = 0;
	enum braces_outcome outcome = BRACES_NONE;

	if (memchr(raw.data, '{', raw.len)) {
		if (memchr(raw.data, '\0', raw.len))
			outcome = BRACES_UNCLEAR;
		else if (word_has_pieces(c->reading, at))
			outcome = may_have_braces(raw) ? BRACES_UNCLEAR : BRACES_NONE;
		else
			outcome = word_expand_braces(raw, &words, &count);
	}
	if (outcome == BRACES_WORDS && c->store->word_count + count > LIMIT_SHELL_WORDS)
		outcome = BRACES_UNCLEAR;
	if (outcome == BRACES_WORDS)
		add_expanded(c, raw, &words, count, list);
	else
		word_list_add(list, outcome == BRACES_UNCLEAR ? unclear_word(c, at)
		                                         : convert_word(c, at, false));
	c->store->word_count += count + 1;
}

/* To a descriptor, to nowhere, or not to a file. */
static bool is_harmless_target(struct span target)
{
	return name_in(target, "/dev/null /dev/stdout /dev/stderr /dev/tty /dev/full /dev/zero");
}

static bool is_descriptor(struct span word)
{
	size_t digits = span_digits(word);

	return digits == word.len || (digits + 1 == word.len && word.data[digits] == '-');
}

/* bash opens a connection for these two, by the expanded word as it is: with another "/" or a "."
 * in it, it is a file (bash(1), REDIRECTION).  <& takes descriptors alone. */
static bool redirect_may_connect(const struct shell_redirect *redirect)
{
	return redirect->kind != SHELL_REDIRECT_HERESTRING &&
	       redirect->kind != SHELL_REDIRECT_DUP_IN &&
	       (shell_word_may_begin(&redirect->target, "/dev/tcp/") ||
	        shell_word_may_begin(&redirect->target, "/dev/udp/"));
}

static struct shell_redirect convert_redirect(struct converter *c,
                                              const struct read_redirect *from)
{
	struct shell_redirect to = { .kind = from->kind, .fd = from->fd };
	struct span raw = raw_of(c, from->target);

	if (from->kind == SHELL_REDIRECT_HEREDOC) {
		to.target = (struct shell_word){ .raw = raw, .value = raw };
		if (!from->raw && (word_has_pieces(c->reading, from->target) ||
		                   memchr(raw.data, '\\', raw.len))) {
			to.target.dynamic = SHELL_DYNAMIC_VARIABLE;
			to.target.value = span_head(raw, 0);
		}
		return to;
	}
	to.target = memchr(raw.data, '{', raw.len) && may_have_braces(raw) &&
	                            from->kind != SHELL_REDIRECT_HERESTRING
	                    ? unclear_word(c, from->target)
	                    : convert_word(c, from->target, false);
	if (from->kind == SHELL_REDIRECT_DUP_OUT && from->fd == 1 &&
	    (to.target.dynamic || !is_descriptor(to.target.value)))
		to.kind = SHELL_REDIRECT_WRITE_BOTH;
	/* >&WORD: what the word gives is expanded again when it is no descriptor. */
	if (from->kind == SHELL_REDIRECT_DUP_OUT &&
	    (to.target.dynamic || span_find(to.target.value, '$') ||
	     span_find(to.target.value, '`')))
		store_problem(c->store, SHELL_PROBLEM_EXPANSION, c->script, from->target.start,
		              raw.len);
	if (redirect_may_connect(&to))
		store_problem(c->store, SHELL_PROBLEM_NETWORK, c->script, from->target.start,
		              raw.len);
	to.writes_file = to.kind == SHELL_REDIRECT_WRITE || to.kind == SHELL_REDIRECT_APPEND ||
	                 to.kind == SHELL_REDIRECT_CLOBBER ||
	                 to.kind == SHELL_REDIRECT_READ_WRITE ||
	                 to.kind == SHELL_REDIRECT_WRITE_BOTH ||
	                 to.kind == SHELL_REDIRECT_APPEND_BOTH;
	if (!to.target.dynamic && is_harmless_target(to.target.value))
		to.writes_file = false;
	return to;
}

static const struct shell_redirect *convert_redirects(struct converter *c, struct index_chain chain)
{
	struct shell_redirect *list = store_alloc(c->store, chain.count, sizeof(*list));
	size_t i = 0;

	for (uint32_t next = chain.first; next; next = c->reading->redirects[next - 1].next)
		list[i++] = convert_redirect(c, &c->reading->redirects[next - 1]);
	return list;
}

static struct shell_assignment convert_assignment(struct converter *c, struct text_place at)
{
	struct span raw = raw_of(c, at);
	size_t name = 0, value;
	struct shell_assignment to;

	while (name < raw.len && raw.data[name] != '=' && raw.data[name] != '+' &&
	       raw.data[name] != '[')
		name++;
	to.name = span_head(raw, name);
	value = name < raw.len && raw.data[name] == '=' ? name + 1 : 0;
	to.value = convert_word(c, (struct text_place){ at.start + (uint32_t)value, at.end },
	                        /* assignment= */ true);
	to.value.splits = false;
	if (!value || (value < raw.len && raw.data[value] == '(')) {
		to.value.dynamic |= SHELL_DYNAMIC_VARIABLE;
		to.value.value = span_head(to.value.value, 0);
	}
	/* No patterns in assignments. */
	if (value && to.value.dynamic == SHELL_DYNAMIC_GLOB) {
		struct word_reading word;

		word_read(c->reading, (struct text_place){ at.start + (uint32_t)value, at.end },
			  true,
		          &word);
		to.value.value = store_copy(c->store, buf_from(&word.text, 0));
		to.value.dynamic = 0;
		word_release(&word);
	}
	return to;
}

static void convert_command(struct converter *c, const struct read_command *from)
{
	struct shell_store *store = c->store;
	const struct shell_reading *reading = c->reading;
	struct word_list words = { 0 };
	struct shell_command *to = &store->commands[store->command_count++];
	struct shell_assignment *assignments =
		store_alloc(store, from->assignments.count, sizeof(*assignments));
	struct shell_word *kept;
	size_t count = 0;

	for (uint32_t i = from->words.first; i; i = reading->words[i - 1].next)
		expand_word(c, reading->words[i - 1].at, &words);
	kept = store_alloc(store, words.count, sizeof(*kept));
	if (words.count)
		memcpy(kept, words.items, words.count * sizeof(*kept));
	free(words.items);
	for (uint32_t i = from->assignments.first; i; i = reading->words[i - 1].next)
		assignments[count++] = convert_assignment(c, reading->words[i - 1].at);
	*to = (struct shell_command){
		.words = kept, .word_count = words.count,
		.assignments = assignments, .assignment_count = count,
		.redirects = convert_redirects(c, from->redirects),
		.redirect_count = from->redirects.count,
		.flags = from->flags | (store->script_flags[c->script] & ~STORE_POSIX_SCRIPT),
		.via = store->scripts[c->script].via,
		.parent = store->scripts[c->script].parent,
		.script = c->script,
		.offset = from->at.start, .length = from->at.end - from->at.start };
	if (words.count > 0 && kept[0].dynamic)
		store_command_problem(store, SHELL_PROBLEM_DYNAMIC_COMMAND,
		                      store->command_count - 1);
}

static void convert_commands(struct converter *c)
{
	struct shell_store *store = c->store;

	for (size_t i = 0; i < c->reading->command_count; i++) {
		if (store->command_count >= LIMIT_SHELL_COMMANDS) {
			store_problem(store, SHELL_PROBLEM_LIMIT, c->script,
			              c->reading->commands[i].at.start, 0);
			return;
		}
		SHELL_GROW(store, command, commands);
		convert_command(c, &c->reading->commands[i]);
		if (!store_spend(store, &store->commands[store->command_count - 1]))
			return;
	}
}

/* The script in backticks: \$ \` \\ lose their backslash, in "…" also \". */
static void convert_backtick(struct converter *c, const struct read_backtick *from)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_BYTES);
	struct span raw = raw_of(c, from->inside);
	size_t parent = from->command == SHELL_NONE ? SHELL_NONE : c->base + from->command;

	for (size_t i = 0; i < raw.len; i++) {
		char next = i + 1 < raw.len ? raw.data[i + 1] : '\0';

		if (raw.data[i] == '\\' && next &&
		    (strchr("$`\\", next) || (from->quoted && next == '"')))
			i++;
		buf_char(&text, raw.data[i]);
	}
	if (parent == SHELL_NONE || parent >= c->store->command_count)
		parent = c->store->scripts[c->script].parent;
	store_script(c->store, buf_from(&text, 0), parent, SHELL_VIA_BACKTICK,
	             SHELL_FLAG_SUBSTITUTION);
}

static void convert_value(struct converter *c, const struct read_value *value)
{
	struct span name = raw_of(c, value->name), raw = raw_of(c, value->value);
	struct span behind = span_skip(c->reading->text, value->name.end);
	bool known = value->value.end > value->value.start || value->assignment;

	store_name(&c->store->values, (struct stored_name){
		.name = name,
		.safe = value->safe || (known && (value->assignment
		                                          ? shell_number_is_certain(raw)
		                                          : shell_number_is_certain_item(raw))),
		.array = span_starts(raw, SPAN("(")) ||
		         (value->assignment && span_starts(behind, SPAN("["))),
		.script = c->script, .offset = value->name.start });
	if (!value->assignment && shell_variable_decides(name, NULL))
		store_problem(c->store, SHELL_PROBLEM_ENVIRONMENT, c->script, value->name.start,
		              name.len);
}

static void convert_names(struct converter *c)
{
	const struct shell_reading *reading = c->reading;

	for (size_t i = 0; i < reading->value_count; i++)
		convert_value(c, &reading->values[i]);
	for (size_t i = 0; i < reading->number_count; i++)
		store_name(&c->store->numbers, (struct stored_name){
			.name = raw_of(c, reading->numbers[i]), .script = c->script,
			.offset = reading->numbers[i].start });
}

static void convert_functions(struct converter *c)
{
	struct shell_store *store = c->store;

	for (size_t i = 0; i < c->reading->function_count; i++) {
		SHELL_GROW(store, function, functions);
		store->functions[store->function_count++] =
			raw_of(c, c->reading->functions[i]);
	}
}

static void convert_group_redirects(struct converter *c)
{
	struct shell_store *store = c->store;
	const struct shell_reading *reading = c->reading;

	for (uint32_t i = reading->group_redirects.first; i; i = reading->redirects[i - 1].next) {
		SHELL_GROW(store, redirect, redirects);
		store->redirects[store->redirect_count++] =
			convert_redirect(c, &reading->redirects[i - 1]);
	}
}

/* Puts what a script's reading found into the store. */
static void store_reading(struct shell_store *store, size_t script,
                          const struct shell_reading *reading)
{
	struct converter c = { .store = store, .reading = reading, .script = script,
		               .base = store->command_count };

	for (size_t i = 0; i < reading->problem_count; i++)
		store_problem(store, reading->problems[i].kind, script,
		              reading->problems[i].at.start,
		              reading->problems[i].at.end - reading->problems[i].at.start);
	convert_commands(&c);
	convert_group_redirects(&c);
	convert_functions(&c);
	convert_names(&c);
	for (size_t i = 0; i < reading->backtick_count; i++)
		convert_backtick(&c, &reading->backticks[i]);
	store->background |= reading->background;
	if (reading->bashisms && store->script_flags[script] & STORE_POSIX_SCRIPT)
		store_problem(store, SHELL_PROBLEM_DIALECT, script, 0, reading->text.len);
}

/* ---- analysing -------------------------------------------------------------------- */

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
static bool is_fit_for_tree(const struct shell_reading *reading)
{
	for (size_t i = 0; i < reading->problem_count; i++)
		if (reading->problems[i].kind == SHELL_PROBLEM_SYNTAX ||
		    reading->problems[i].kind == SHELL_PROBLEM_LIMIT)
			return false;
	return reading->command_count > 0 && utf8_valid(reading->text) &&
	       !memchr(reading->text.data, '\0', reading->text.len);
}

static void read_script(struct shell_store *store, size_t script)
{
	struct shell_reading reading;

	check_bytes(store, script);
	reading_init(&reading, store->scripts[script].text);
	reading_make(&reading);
	if (reading.text.len > 0 && is_fit_for_tree(&reading)) {
		/* The second reading can only add problems: without it some decisions are
		 * milder, none stricter. docs/choices.md has what it has found, and what it
		 * costs. */
		if (!store->parser)
			store->parser = tree_parser_new();
		if (store->parser)
			tree_compare(store->parser, &reading, &store->parse_budget_us);
		else
			reading_problem(&reading, SHELL_PROBLEM_LIMIT, 0, reading.text.len);
	}
	store_reading(store, script, &reading);
	reading_release(&reading);
}

static void analysis_work(struct shell_store *store)
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
	analysis_work(store);
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

/* Arrays of arrays here and in other tables of this folder: pointers would need relocation
 * at each start of the program. */
static const char problem_sentences[][112] = {
#define ROW(symbol, name, sentence) sentence,
	SHELL_PROBLEM_TABLE(ROW)
#undef ROW
};

const char *shell_problem_sentence(enum shell_problem_kind kind)
{
	return problem_sentences[kind];
}
