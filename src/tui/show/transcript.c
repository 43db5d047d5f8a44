/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation as it was: blocks with the source that their rows are made from, at any width.
 *
 * Memory is bounded: only texts are kept (calls and results as JSON text, long strings in them
 * cut), and when they are more than TRANSCRIPT_BYTES_MAX the oldest blocks go.  All of a session is
 * in its file; this is what can be looked at. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/clip/dropped.h"
#include "tui/markdown/markdown.h"
#include "tui/show/transcript.h"

enum block_kind { BLOCK_USER, BLOCK_ANSWER, BLOCK_THOUGHT, BLOCK_CALL, BLOCK_NOTICE, BLOCK_ROWS };

struct transcript_item {
	enum block_kind kind;
	char severity[8]; /* BLOCK_NOTICE */
	struct buf text;  /* of a call: its JSON */
	struct buf result; /* BLOCK_CALL: JSON */
	struct rows rows; /* BLOCK_ROWS */
};

struct transcript {
	struct transcript_item *blocks; /* owned; from `first` on */
	size_t first, count, cap;
	size_t bytes;         /* of all of them */
	size_t dropped;       /* blocks that had to go */
	bool ended;           /* the last one is whole */
	unsigned cleared, forgotten; /* how often */
};

struct transcript *transcript_new(void)
{
	return mem_alloc(1, sizeof(struct transcript));
}

static size_t block_bytes(const struct transcript_item *block)
{
	size_t bytes = sizeof(*block) + block->text.cap + block->result.cap +
	               block->rows.cap * sizeof(struct row);

	for (size_t i = 0; i < block->rows.count; i++) {
		const struct row *row = &block->rows.at[i];

		bytes += row->text.cap + row->links.cap + row->cap * sizeof(*row->runs);
	}
	return bytes;
}

static void transcript_drop(struct transcript *transcript)
{
	struct transcript_item *block = &transcript->blocks[transcript->first++];

	transcript->bytes -= block_bytes(block);
	buf_release(&block->text);
	buf_release(&block->result);
	rows_release(&block->rows);
	transcript->dropped++;
	if (transcript->first < transcript->count / 2)
		return;
	transcript->count -= transcript->first;
	memmove(transcript->blocks, transcript->blocks + transcript->first,
	        transcript->count * sizeof(*transcript->blocks));
	transcript->first = 0;
}

void transcript_clear(struct transcript *transcript)
{
	while (transcript->first < transcript->count)
		transcript_drop(transcript);
	transcript->dropped = 0;
	transcript->cleared++;
}

void transcript_free(struct transcript *transcript)
{
	if (!transcript)
		return;
	transcript_clear(transcript);
	free(transcript->blocks);
	free(transcript);
}

void transcript_move(struct transcript *transcript, struct transcript *from)
{
	for (size_t i = from->first; i < from->count; i++) {
		if (transcript->count == transcript->cap)
			transcript->blocks = mem_grow(transcript->blocks, &transcript->cap,
			                              transcript->count + from->count - i,
			                              sizeof(*transcript->blocks));
		transcript->blocks[transcript->count++] = from->blocks[i];
	}
	transcript->bytes += from->bytes;
	transcript->dropped += from->dropped;
	transcript->ended = true;
	from->first = from->count = from->bytes = from->dropped = 0;
}

static struct transcript_item *transcript_last(const struct transcript *transcript,
                                               enum block_kind kind)
{
	struct transcript_item *last = transcript->count > transcript->first ?
	                             &transcript->blocks[transcript->count - 1] : NULL;

	return last && !transcript->ended && last->kind == kind ? last : NULL;
}

static struct transcript_item *transcript_add(struct transcript *transcript, enum block_kind kind)
{
	struct transcript_item *block;

	if (transcript->count == transcript->cap)
		transcript->blocks = mem_grow(transcript->blocks, &transcript->cap,
		                              transcript->count + 1, sizeof(*transcript->blocks));
	block = &transcript->blocks[transcript->count++];
	*block = (struct transcript_item){ .kind = kind, .text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES),
		                 .result = BUF_INIT(LIMIT_MODEL_REPLY_BYTES) };
	transcript->bytes += sizeof(*block);
	transcript->ended = false;
	return block;
}

/* Counts what a block has become, and lets old ones go. */
static void transcript_count(struct transcript *transcript, const struct transcript_item *block,
                             size_t before)
{
	transcript->bytes += block_bytes(block) - before;
	while (transcript->bytes > TRANSCRIPT_BYTES_MAX &&
	       transcript->first + 1 < transcript->count)
		transcript_drop(transcript);
}

static void transcript_put(struct transcript *transcript, enum block_kind kind, struct span text,
                           bool joined)
{
	struct transcript_item *block = joined ? transcript_last(transcript, kind) : NULL;
	size_t before;

	if (!block)
		block = transcript_add(transcript, kind);
	before = block_bytes(block);
	buf_span(&block->text, text);
	transcript_count(transcript, block, before);
}

void transcript_user(struct transcript *transcript, struct span text)
{
	transcript_put(transcript, BLOCK_USER, text, false);
}

void transcript_answer(struct transcript *transcript, struct span piece)
{
	transcript_put(transcript, BLOCK_ANSWER, piece, true);
}

void transcript_thought(struct transcript *transcript, struct span text)
{
	transcript_put(transcript, BLOCK_THOUGHT, text, true);
}

void transcript_forget(struct transcript *transcript, size_t bytes)
{
	struct transcript_item *block = transcript_last(transcript, BLOCK_ANSWER);

	if (block)
		block->text.len -= bytes < block->text.len ? bytes : block->text.len;
	transcript->forgotten++;
}

void transcript_notice(struct transcript *transcript, const char *severity, struct span text)
{
	struct transcript_item *block = transcript_add(transcript, BLOCK_NOTICE);
	const size_t before = block_bytes(block);

	snprintf(block->severity, sizeof(block->severity), "%s", severity);
	buf_span(&block->text, text);
	transcript_count(transcript, block, before);
	transcript->ended = true;
}

void transcript_rows_of(struct transcript *transcript, struct rows *rows)
{
	struct transcript_item *block = transcript_add(transcript, BLOCK_ROWS);
	const size_t before = block_bytes(block);

	rows_move(&block->rows, rows);
	transcript_count(transcript, block, before);
	transcript->ended = true;
}

void transcript_break(struct transcript *transcript)
{
	transcript->ended = true;
}

/* ---- calls ------------------------------------------------------------------- */

/* A copy whose strings have at most BLOCK_TEXT_MAX bytes. The depth is that of a result, which the
 * agent has bounded. */
static json_t *transcript_cut(const json_t *value)
{
	json_t *copy, *child;
	const char *name;
	size_t i;

	if (json_is_string(value) && json_string_length(value) > BLOCK_TEXT_MAX) {
		_cleanup_buf_ struct buf cut = BUF_INIT(BLOCK_TEXT_MAX + 64);

		buf_span(&cut, utf8_head(json_span(value), BLOCK_TEXT_MAX));
		buf_str(&cut, "\n[the rest is not kept here]\n");
		return json_text(buf_view(&cut));
	}
	if (json_is_object(value)) {
		copy = json_object();
		json_object_foreach((json_t *)value, name, child)
			json_object_set_new(copy, name, transcript_cut(child));
		return copy;
	}
	if (!json_is_array(value))
		return json_incref((json_t *)value);
	copy = json_array();
	json_array_foreach(value, i, child)
		json_array_append_new(copy, transcript_cut(child));
	return copy;
}

static bool has_long_string(const json_t *value)
{
	const char *name;
	json_t *child;
	size_t i;

	if (json_is_string(value))
		return json_string_length(value) > BLOCK_TEXT_MAX;
	json_object_foreach((json_t *)value, name, child)
		if (has_long_string(child))
			return true;
	json_array_foreach(value, i, child)
		if (has_long_string(child))
			return true;
	return false;
}

static void print_cut(struct buf *out, const json_t *value)
{
	json_auto_t *cut = has_long_string(value) ? transcript_cut(value) : NULL;

	if (value)
		json_print(out, cut ? cut : value, 0);
}

void transcript_call(struct transcript *transcript, const json_t *call, const json_t *result)
{
	struct transcript_item *block = transcript_add(transcript, BLOCK_CALL);
	const size_t before = block_bytes(block);

	print_cut(&block->text, call);
	print_cut(&block->result, result);
	transcript_count(transcript, block, before);
	transcript->ended = true;
}

static void call_rows(const struct transcript_item *block, const struct view_how *how,
                      struct rows *rows)
{
	json_auto_t *call = NULL, *result = NULL;
	struct err ignored = ERR_INIT;

	if (!json_parse(buf_view(&block->text), &call, &ignored))
		return;
	if (block->result.len && json_parse(buf_view(&block->result), &result, &ignored))
		view_result(rows, call, result, how);
	else
		view_call(rows, call, how);
}

/* ---- rows -------------------------------------------------------------------- */

/* Rows without a source, made for another width: what was cut for it stays cut. */
static void kept_rows(const struct rows *kept, unsigned width, struct rows *rows)
{
	for (size_t i = 0; i < kept->count; i++) {
		if (kept->at[i].width > width)
			rows_wrap(rows, &kept->at[i], width, NULL, NULL);
		else
			row_append(rows_add(rows), &kept->at[i]);
	}
}

static void block_rows(const struct transcript_item *block, const struct view_how *how,
                       struct rows *rows)
{
	const struct span text = buf_view(&block->text);

	switch (block->kind) {
	case BLOCK_USER:
		view_user(rows, text, how);
		break;
	case BLOCK_ANSWER:
		if (how->source)
			markdown_source_rows(text, how->width, rows);
		else
			markdown_rows(text, how->width, rows);
		break;
	case BLOCK_THOUGHT:
		rows_text(rows, text, STYLE(ROLE_DIM), how->width);
		break;
	case BLOCK_CALL:
		call_rows(block, how, rows);
		break;
	case BLOCK_NOTICE:
		view_notice(rows, block->severity, text, how);
		break;
	case BLOCK_ROWS:
		kept_rows(&block->rows, how->width, rows);
		break;
	}
}

static void dropped_row(const struct transcript *transcript, struct rows *rows)
{
	row_printf(rows_add(rows), STYLE(ROLE_DIM),
	           "%zu earlier entries are only in the session's file.", transcript->dropped);
}

void transcript_problems(const struct transcript *transcript, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width };

	for (size_t i = transcript->first; i < transcript->count; i++) {
		const struct transcript_item *block = &transcript->blocks[i];

		if (block->kind == BLOCK_NOTICE && strcmp(block->severity, "info") != 0)
			block_rows(block, &how, rows);
	}
}

static void entries_add(struct transcript_places *entries, size_t row, size_t number)
{
	if (entries->count == entries->cap)
		entries->at = mem_grow(entries->at, &entries->cap, entries->count + 1,
		                       sizeof(*entries->at));
	entries->at[entries->count++] = (struct transcript_place){ row, number };
}

/* NULL: it is folded as the rest. */
static size_t *entries_other(const struct transcript_places *entries, size_t number)
{
	for (size_t i = 0; i < entries->other_count; i++)
		if (entries->other[i] == number)
			return &entries->other[i];
	return NULL;
}

void transcript_fold(struct transcript_places *entries, size_t number)
{
	size_t *other = entries_other(entries, number);

	if (other) {
		*other = entries->other[--entries->other_count];
		return;
	}
	if (entries->other_count == entries->other_cap)
		entries->other = mem_grow(entries->other, &entries->other_cap,
		                          entries->other_count + 1, sizeof(*entries->other));
	entries->other[entries->other_count++] = number;
}

bool transcript_is_other(const struct transcript_places *entries, size_t number)
{
	return entries_other(entries, number) != NULL;
}

void transcript_entries_release(struct transcript_places *entries)
{
	free(entries->at);
	free(entries->other);
}

void transcript_rows(const struct transcript *transcript, const struct view_how *how,
                     struct rows *rows, struct transcript_places *entries)
{
	if (transcript->dropped)
		dropped_row(transcript, rows);
	for (size_t i = transcript->first; i < transcript->count; i++) {
		const size_t number = transcript->dropped + i - transcript->first;
		struct view_how own = *how;

		own.folded = how->folded != transcript_is_other(entries, number);
		if (rows->count)
			rows_add(rows);
		entries_add(entries, rows->count, number);
		block_rows(&transcript->blocks[i], &own, rows);
	}
}

struct transcript_state transcript_state(const struct transcript *transcript)
{
	return (struct transcript_state){
		.first = transcript->dropped,
		.end = transcript->dropped + transcript->count - transcript->first,
		.cleared = transcript->cleared,
		.forgotten = transcript->forgotten,
	};
}

static const struct transcript_item *transcript_at(const struct transcript *transcript,
                                                   size_t number)
{
	return &transcript->blocks[transcript->first + number - transcript->dropped];
}

void transcript_block(const struct transcript *transcript, size_t number, bool thoughts,
                      const struct view_how *how, struct rows *rows)
{
	const struct transcript_item *block = transcript_at(transcript, number);

	if (block->kind != BLOCK_THOUGHT || thoughts)
		block_rows(block, how, rows);
}

void transcript_between(const struct transcript *transcript, size_t number, struct rows *rows)
{
	if (number && number == transcript->dropped)
		dropped_row(transcript, rows);
	else if (number)
		rows_add(rows);
}

size_t transcript_size(const struct transcript *transcript, size_t number)
{
	return transcript_at(transcript, number)->text.len;
}

bool transcript_grows(const struct transcript *transcript, size_t number, struct span *ret_text)
{
	const struct transcript_item *last = transcript_last(transcript, BLOCK_ANSWER);

	if (!last || transcript_at(transcript, number) != last)
		return false;
	*ret_text = buf_view(&last->text);
	return true;
}

/* ---- one block --------------------------------------------------------------- */

static char *block_text(const struct transcript_item *block, unsigned width)
{
	const struct view_how how = { .width = width };
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

	if (block->kind != BLOCK_CALL)
		return mem_dup(block->text.data ? block->text.data : "", block->text.len);
	block_rows(block, &how, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		row_plain(&rows.at[i], &text);
		buf_char(&text, '\n');
	}
	return buf_steal(&text);
}

char *transcript_entry(const struct transcript *transcript, size_t number, unsigned width)
{
	const size_t i = transcript->first + number - transcript->dropped;

	return number < transcript->dropped || i >= transcript->count ?
	               NULL : block_text(&transcript->blocks[i], width);
}
