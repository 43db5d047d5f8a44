/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader finds, and its limits. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "shell/reader_private.h"

#define GROW(reading, name, names)                                                             \
	do {                                                                                   \
		if ((reading)->name##_count == (reading)->name##_cap)                          \
			(reading)->names = mem_grow((reading)->names, &(reading)->name##_cap,  \
			                            (reading)->name##_count + 1,               \
			                            sizeof(*(reading)->names));                \
	} while (0)

void reading_problem(struct reading *reading, enum shell_problem_kind kind, size_t start,
                     size_t end)
{
	if (reading->problem_count >= LIMIT_SHELL_PROBLEMS)
		return;
	GROW(reading, problem, problems);
	reading->problems[reading->problem_count++] = (struct read_problem){
		.kind = kind, .at = { (uint32_t)start, (uint32_t)end } };
}

void reader_problem(struct reader *r, enum shell_problem_kind kind, size_t start)
{
	size_t end = r->pos > start ? r->pos : start + (start < r->len);

	reading_problem(r->out, kind, start, end);
}

void reader_stop(struct reader *r)
{
	if (!r->stopped)
		reader_problem(r, SHELL_PROBLEM_LIMIT, r->pos);
	r->stopped = true;
}

bool reader_enter(struct reader *r)
{
	if (r->depth >= LIMIT_SHELL_NESTING)
		reader_stop(r);
	else
		r->depth++;
	return !r->stopped;
}

void reader_leave(struct reader *r)
{
	r->depth--;
}

uint32_t reader_add_word(struct reader *r, struct chain *chain, struct place at)
{
	struct reading *out = r->out;

	if (out->word_count >= LIMIT_SHELL_WORDS) {
		reader_stop(r);
		return 0;
	}
	GROW(out, word, words);
	out->words[out->word_count++] = (struct read_word){ .at = at };
	if (chain->last)
		out->words[chain->last - 1].next = (uint32_t)out->word_count;
	else
		chain->first = (uint32_t)out->word_count;
	chain->last = (uint32_t)out->word_count;
	chain->count++;
	return chain->last;
}

uint32_t reader_add_redirect(struct reader *r, struct chain *chain,
                             struct read_redirect redirect)
{
	struct reading *out = r->out;

	if (out->redirect_count >= LIMIT_SHELL_WORDS) {
		reader_stop(r);
		return 0;
	}
	GROW(out, redirect, redirects);
	out->redirects[out->redirect_count++] = redirect;
	if (chain->last)
		out->redirects[chain->last - 1].next = (uint32_t)out->redirect_count;
	else
		chain->first = (uint32_t)out->redirect_count;
	chain->last = (uint32_t)out->redirect_count;
	chain->count++;
	return chain->last;
}

void reader_value(struct reader *r, struct read_value value)
{
	struct reading *out = r->out;

	if (out->value_count >= LIMIT_SHELL_WORDS)
		return; /* the words are over too */
	GROW(out, value, values);
	out->values[out->value_count++] = value;
}

void reader_add_function(struct reader *r, struct place name)
{
	GROW(r->out, function, functions);
	r->out->functions[r->out->function_count++] = name;
}

void reading_init(struct reading *reading, struct span text)
{
	*reading = (struct reading){ .text = text };
}

void reading_make(struct reading *reading)
{
	struct reader r = { .out = reading, .text = reading->text.data, .len = reading->text.len,
		            .command = SHELL_NONE };

	reader_list(&r, LIST_END_TEXT);
	if (r.heredoc_count > 0)
		reader_problem(&r, SHELL_PROBLEM_SYNTAX, r.pos);
}

void reading_release(struct reading *reading)
{
	free(reading->commands);
	free(reading->words);
	free(reading->redirects);
	free(reading->functions);
	free(reading->backticks);
	free(reading->pieces);
	free(reading->values);
	free(reading->numbers);
	free(reading->problems);
	*reading = (struct reading){ 0 };
}
