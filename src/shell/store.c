/* SPDX-License-Identifier: Apache-2.0 */
/* An analysis' memory, and what is added to it. */
#include "shell/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 16 << 10 };

struct shell_chunk {
	struct shell_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

void *store_alloc(struct shell_store *store, size_t count, size_t size)
{
	size_t need = (count * size + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
	              sizeof(max_align_t);
	struct shell_chunk *chunk = store->chunks;

	if (!chunk || chunk->size - chunk->used < need) {
		size_t room = need > CHUNK_BYTES ? need : CHUNK_BYTES;

		chunk = mem_alloc(1, sizeof(*chunk) + room);
		chunk->size = room;
		chunk->next = store->chunks;
		store->chunks = chunk;
	}
	chunk->used += need;
	return chunk->data + chunk->used - need;
}

struct span store_copy(struct shell_store *store, struct span text)
{
	char *copy = store_alloc(store, text.len + 1, 1);

	if (text.len)
		memcpy(copy, text.data, text.len);
	return span_of(copy, text.len);
}

void store_problem(struct shell_store *store, enum shell_problem_kind kind, size_t script,
                   size_t offset, size_t length)
{
	size_t count = store->problem_count;
	const struct shell_problem *last = count ? &store->problems[count - 1] : NULL;

	if (count >= LIMIT_SHELL_PROBLEMS || (last && last->kind == kind &&
	                                      last->script == script && last->offset == offset))
		return;
	SHELL_GROW(store, problem, problems);
	store->problems[store->problem_count++] = (struct shell_problem){
		.kind = kind, .script = script, .offset = offset, .length = length };
}

void store_command_problem(struct shell_store *store, enum shell_problem_kind kind,
                           size_t command)
{
	const struct shell_command *c = &store->commands[command];

	store_problem(store, kind, c->script, c->offset, c->length);
}

/* How many commands and scripts stand around command `i`. */
static unsigned store_depth(const struct shell_store *store, size_t command)
{
	unsigned depth = 0;

	for (; command != SHELL_NONE; command = store->commands[command].parent)
		depth++;
	return depth;
}

void store_script(struct shell_store *store, struct span text, size_t parent,
                  enum shell_via via, unsigned flags)
{
	unsigned depth = parent == SHELL_NONE ? 0 : store_depth(store, parent);

	if (depth > LIMIT_SHELL_WRAPPERS || store->all_bytes + text.len > LIMIT_SHELL_ALL_BYTES ||
	    store->script_count >= LIMIT_SHELL_COMMANDS) {
		if (parent == SHELL_NONE)
			store_problem(store, SHELL_PROBLEM_LIMIT, 0, 0, 0);
		else
			store_command_problem(store, SHELL_PROBLEM_LIMIT, parent);
		return;
	}
	store->all_bytes += text.len;
	if (parent != SHELL_NONE)
		flags |= store->commands[parent].flags & SHELL_FLAG_REMOTE;
	if (store->script_count == store->script_flags_cap)
		store->script_flags = mem_grow(store->script_flags, &store->script_flags_cap,
		                               store->script_count + 1, sizeof(unsigned));
	store->script_flags[store->script_count] = flags;
	SHELL_GROW(store, script, scripts);
	store->scripts[store->script_count++] = (struct shell_script){
		.text = store_copy(store, text), .parent = parent, .via = via, .depth = depth };
}

static bool has_room(struct shell_store *store, size_t script, size_t offset)
{
	if (store->command_count < LIMIT_SHELL_COMMANDS)
		return true;
	store_problem(store, SHELL_PROBLEM_LIMIT, script, offset, 0);
	return false;
}

bool store_spend(struct shell_store *store, const struct shell_command *command)
{
	size_t bytes = command->length;

	for (size_t i = 0; i < command->word_count; i++)
		bytes += command->words[i].dynamic ? command->words[i].raw.len
		                                   : command->words[i].value.len;
	if (store->work <= LIMIT_SHELL_WORK)
		store->work += bytes < LIMIT_SHELL_WORK ? bytes : LIMIT_SHELL_WORK + 1;
	if (store->work <= LIMIT_SHELL_WORK)
		return true;
	store_problem(store, SHELL_PROBLEM_LIMIT, command->script, command->offset, 0);
	return false;
}

/* The first word may be part of the shell, the name of a program, or unknown. */
static void store_check_name(struct shell_store *store, size_t command)
{
	const struct shell_command *c = &store->commands[command];

	if (c->word_count > 0 && c->words[0].dynamic)
		store_command_problem(store, SHELL_PROBLEM_DYNAMIC_COMMAND, command);
}

void store_child(struct shell_store *store, const struct shell_word *words, size_t count,
                 size_t parent, enum shell_via via, unsigned flags)
{
	struct shell_command *outer = &store->commands[parent];
	unsigned inherited = SHELL_FLAG_REMOTE | SHELL_FLAG_APPENDED | SHELL_FLAG_BACKGROUND;
	struct shell_command child = {
		.words = words, .word_count = count, .flags = flags | (outer->flags & inherited),
		.via = via, .parent = parent, .script = outer->script, .offset = outer->offset,
		.length = outer->length };

	outer->flags |= SHELL_FLAG_WRAPPER;
	if (!has_room(store, outer->script, outer->offset))
		return;
	if (store_depth(store, parent) > LIMIT_SHELL_WRAPPERS) {
		store_command_problem(store, SHELL_PROBLEM_LIMIT, parent);
		return;
	}
	if (!store_spend(store, &child))
		return;
	SHELL_GROW(store, command, commands);
	store->commands[store->command_count++] = child;
	store_check_name(store, store->command_count - 1);
}

void store_name(struct stored_names *names, struct stored_name name)
{
	if (names->count == names->cap)
		names->items = mem_grow(names->items, &names->cap, names->count + 1,
		                        sizeof(*names->items));
	names->items[names->count++] = name;
}

void shell_analysis_release(struct shell_analysis *analysis)
{
	struct shell_store *store = analysis->store;

	if (!store)
		return;
	for (struct shell_chunk *chunk = store->chunks; chunk;) {
		struct shell_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	free(store->scripts);
	free(store->commands);
	free(store->redirects);
	free(store->functions);
	free(store->problems);
	free(store->script_flags);
	free(store->values.items);
	free(store->numbers.items);
	free(store->scalars.items);
	free(store);
	*analysis = (struct shell_analysis){ 0 };
}
