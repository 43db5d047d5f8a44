/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a command that runs others: its words, and what is added of them (private.h). */
#include "base/limits.h"
#include "base/mem.h"
#include "shell/private.h"

struct shell_word unwrapping_word_behind(const struct shell_word *word, size_t count)
{
	struct shell_word rest = *word;

	rest.value = span_skip(word->value, count);
	return rest;
}

bool unwrapping_word_is(const struct unwrapping *u, size_t i, const char *text)
{
	return i < u->count && !u->words[i].dynamic && span_eq(u->words[i].value, span_str(text));
}

void unwrapping_problem(struct unwrapping *u, enum shell_problem_kind kind)
{
	store_command_problem(u->store, kind, u->command);
}

void unwrapping_child(struct unwrapping *u, size_t from, size_t to, enum shell_via via)
{
	if (from < to)
		store_child(u->store, u->words + from, to - from, u->command, via, 0);
}

void unwrapping_script(struct unwrapping *u, const struct shell_word *word, enum shell_via via,
                   unsigned flags)
{
	u->store->commands[u->command].flags |= SHELL_FLAG_WRAPPER;
	if (word->dynamic)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
	else
		store_script(u->store, word->value, u->command, via, flags);
}

void unwrapping_joined(struct unwrapping *u, size_t from, size_t to, enum shell_via via,
                   unsigned flags)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_SHELL_BYTES);
	struct shell_word joined = { 0 };

	if (from >= to)
		return;
	for (size_t i = from; i < to; i++) {
		if (i > from)
			buf_char(&text, ' ');
		buf_span(&text, u->words[i].value);
		joined.dynamic |= u->words[i].dynamic;
	}
	if (u->appended)
		joined.dynamic |= SHELL_DYNAMIC_INSERTED;
	joined.value = buf_from(&text, 0);
	if (text.overflowed)
		unwrapping_problem(u, SHELL_PROBLEM_LIMIT);
	else
		unwrapping_script(u, &joined, via, flags);
}

bool unwrapping_may_be_option(const struct shell_word *word)
{
	/* ~ becomes a path or stays. */
	if (!word->dynamic || word->dynamic == SHELL_DYNAMIC_TILDE)
		return false;
	return word->value.len == 0 || word->value.data[0] == '-' ||
	       (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB);
}
