/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/ask/hunks.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"
#include "diff/unified.h"

struct hunks {
	struct span original, planned; /* borrowed */
	struct lines old, new;         /* of them; owned */
	struct script script;          /* owned; from `old` to `new` */
	struct hunk_choice *choices;   /* owned */
	size_t count, cap;
};

static void choice_release(struct hunk_choice *choice)
{
	free(choice->comment);
	free(choice->edited);
}

static struct hunk_choice *hunks_add(struct hunks *hunks, size_t first, size_t count)
{
	if (hunks->count == hunks->cap)
		hunks->choices = mem_grow(hunks->choices, &hunks->cap, hunks->count + 1,
		                          sizeof(*hunks->choices));
	hunks->choices[hunks->count] = (struct hunk_choice){ .first = first, .count = count };
	return &hunks->choices[hunks->count++];
}

/* ---- reading ----------------------------------------------------------------- */

/* Where a hunk of a diff is: lines before it in the old and the new text. */
struct hunk_place {
	size_t old, new;
};

static struct hunk_place hunk_place_of(const struct unified_header *header)
{
	return (struct hunk_place){
		header->old_at - (header->old_count && header->old_at ? 1 : 0),
		header->new_at - (header->new_count && header->new_at ? 1 : 0),
	};
}

/* Adds the changed lines as an edit whose text is the planned text's. */
static bool hunks_add_edit(struct hunks *hunks, struct hunk_place *place,
                           const struct unified_block *block)
{
	const size_t removed = block->removed, added = block->count - removed;

	if (!hunks->count || place->old > hunks->old.count ||
	    removed > hunks->old.count - place->old || place->new > hunks->new.count ||
	    added > hunks->new.count - place->new)
		return false;
	if (hunks->script.count) {
		const struct edit *last = &hunks->script.edits[hunks->script.count - 1];

		if (place->old < last->at + last->remove)
			return false;
	}
	script_add(&hunks->script, (struct edit){
		place->old, removed,
		lines_range(&hunks->new, place->new, place->new + added) });
	hunks->choices[hunks->count - 1].count++;
	place->old += removed;
	place->new += added;
	return true;
}

/* Whether the script makes of the original what is planned. */
static bool leads_to_planned(const struct hunks *hunks)
{
	_cleanup_buf_ struct buf made = BUF_INIT(LIMIT_FILE_BYTES);

	return script_apply(&hunks->old, &hunks->script, &made) &&
	       span_eq(buf_view(&made), hunks->planned);
}

/* Takes the hunks of a diff, by their numbers. */
static bool hunks_from_diff(struct hunks *hunks, struct span diff)
{
	_cleanup_unified_ struct unified reader;
	struct unified_block block;
	struct hunk_place place = { 0 };
	bool fits = true;

	unified_init(&reader, diff, false);
	while (fits && unified_next(&reader, &block)) {
		if (block.kind == UNIFIED_HUNK && block.header.old_count != SIZE_MAX) {
			place = hunk_place_of(&block.header);
			hunks_add(hunks, hunks->script.count, 0);
		} else if (block.kind == UNIFIED_HUNK) {
			fits = false;
		} else if (block.kind == UNIFIED_SAME) {
			place.old++;
			place.new++;
		} else if (block.kind == UNIFIED_CHANGED) {
			fits = hunks_add_edit(hunks, &place, &block);
		}
	}
	for (size_t i = 0; i < hunks->count; i++)
		fits = fits && hunks->choices[i].count;
	return fits && leads_to_planned(hunks);
}

/* Compares the texts: a hunk ends where its context would not touch the next one's. */
static void hunks_compare(struct hunks *hunks)
{
	script_release(&hunks->script);
	hunks->count = 0; /* without comments yet */
	diff_lines(&hunks->old, &hunks->new, &hunks->script);
	for (size_t i = 0; i < hunks->script.count; i++) {
		const struct edit *edit = &hunks->script.edits[i], *before = edit - 1;

		if (!i || edit->at - (before->at + before->remove) > 2 * HUNK_CONTEXT)
			hunks_add(hunks, i, 0);
		hunks->choices[hunks->count - 1].count++;
	}
}

struct hunks *hunks_new(struct span original, struct span planned, struct span diff)
{
	struct hunks *hunks = mem_alloc(1, sizeof(*hunks));

	/* No text is one without lines. */
	hunks->original = original.data ? original : SPAN("");
	hunks->planned = planned.data ? planned : SPAN("");
	lines_index(&hunks->old, hunks->original);
	lines_index(&hunks->new, hunks->planned);
	if (!hunks_from_diff(hunks, diff))
		hunks_compare(hunks);
	if (hunks->count)
		return hunks;
	hunks_free(hunks);
	return NULL;
}

void hunks_free(struct hunks *hunks)
{
	if (!hunks)
		return;
	for (size_t i = 0; i < hunks->count; i++)
		choice_release(&hunks->choices[i]);
	free(hunks->choices);
	script_release(&hunks->script);
	lines_release(&hunks->old);
	lines_release(&hunks->new);
	free(hunks);
}

size_t hunks_count(const struct hunks *hunks)
{
	return hunks->count;
}

struct hunk_choice *hunks_at(struct hunks *hunks, size_t i)
{
	return &hunks->choices[i];
}

bool hunks_split(struct hunks *hunks, size_t i)
{
	struct hunk_choice whole = hunks->choices[i];
	size_t more = whole.count - 1;

	if (!more)
		return false;
	for (size_t k = 0; k < more; k++)
		hunks_add(hunks, 0, 0);
	memmove(&hunks->choices[i + whole.count], &hunks->choices[i + 1],
	        (hunks->count - more - i - 1) * sizeof(*hunks->choices));
	for (size_t k = 0; k < whole.count; k++)
		hunks->choices[i + k] = (struct hunk_choice){ .first = whole.first + k,
			                                      .count = 1 };
	hunks->choices[i].comment = whole.comment;
	free(whole.edited);
	return true;
}

/* ---- one hunk ---------------------------------------------------------------- */

/* Lines [at, end) of the original that the hunk is about. */
static void hunk_range(const struct hunks *hunks, const struct hunk_choice *choice,
                       size_t *ret_at, size_t *ret_end)
{
	const struct edit *last = &hunks->script.edits[choice->first + choice->count - 1];

	*ret_at = hunks->script.edits[choice->first].at;
	*ret_end = last->at + last->remove;
}

static void hunk_add_edits(const struct hunks *hunks, const struct hunk_choice *choice,
                           struct script *script)
{
	size_t at, end;

	if (choice->verdict == HUNK_EDITED) {
		hunk_range(hunks, choice, &at, &end);
		script_add(script, (struct edit){
			at, end - at, span_of(choice->edited, choice->edited_len) });
		return;
	}
	for (size_t i = 0; i < choice->count; i++)
		script_add(script, hunks->script.edits[choice->first + i]);
}

/* The hunk as script_print has it: as if it were the only one. */
static void hunk_print(const struct hunks *hunks, const struct hunk_choice *choice,
                       struct buf *out)
{
	const struct script_print_options options = { .context = HUNK_CONTEXT };
	_cleanup_script_ struct script script = { 0 };

	hunk_add_edits(hunks, choice, &script);
	script_print(out, &hunks->old, &script, &options);
}

/* How many lines the hunks before this one add, modulo 2^64. */
static size_t drift_before(const struct hunks *hunks, const struct hunk_choice *choice)
{
	size_t drift = 0;

	for (size_t i = 0; i < choice->first; i++)
		drift += lines_count(hunks->script.edits[i].insert) -
		         hunks->script.edits[i].remove;
	return drift;
}

static void put_hunk_range(struct buf *out, char sign, size_t at, size_t count)
{
	buf_printf(out, " %c%zu", sign, at);
	if (count != 1)
		buf_printf(out, ",%zu", count);
}

/* Prints the header to `out`, and returns what is behind it in `text`, the printed hunk. */
static struct span print_header(const struct hunks *hunks, size_t i, struct span text,
                                struct buf *out)
{
	_cleanup_unified_ struct unified reader;
	struct unified_block block;

	unified_init(&reader, text, false);
	if (unified_next(&reader, &block) && block.kind == UNIFIED_HUNK) {
		buf_str(out, "@@");
		put_hunk_range(out, '-', block.header.old_at, block.header.old_count);
		put_hunk_range(out, '+',
		            block.header.new_at + drift_before(hunks, &hunks->choices[i]),
		            block.header.new_count);
		buf_str(out, " @@");
	}
	return reader.rest;
}

void hunks_header(const struct hunks *hunks, size_t i, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES);
	struct hunk_choice planned = hunks->choices[i];

	planned.verdict = HUNK_OPEN;
	hunk_print(hunks, &planned, &text);
	print_header(hunks, i, buf_view(&text), out);
}

void hunks_diff(const struct hunks *hunks, size_t i, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES);
	struct span rest;

	hunk_print(hunks, &hunks->choices[i], &text);
	rest = print_header(hunks, i, buf_view(&text), out);
	buf_char(out, '\n');
	buf_span(out, rest);
}

/* ---- editing ----------------------------------------------------------------- */

/* The lines that the hunk makes, with their endings. */
static void hunk_new_lines(const struct hunks *hunks, const struct hunk_choice *choice,
                           struct buf *out)
{
	size_t at, end;

	if (choice->verdict == HUNK_EDITED) {
		buf_append(out, choice->edited, choice->edited_len);
		return;
	}
	hunk_range(hunks, choice, &at, &end);
	for (size_t i = 0; i < choice->count; i++) {
		const struct edit *edit = &hunks->script.edits[choice->first + i];

		buf_span(out, lines_range(&hunks->old, at, edit->at));
		buf_span(out, edit->insert);
		at = edit->at + edit->remove;
	}
}

static void put_bodies(struct span text, struct buf *out)
{
	struct span line;

	while (line_next(&text, &line)) {
		buf_span(out, line_body(line));
		buf_char(out, '\n');
	}
}

void hunks_text(const struct hunks *hunks, size_t i, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES);

	hunk_new_lines(hunks, &hunks->choices[i], &text);
	put_bodies(buf_view(&text), out);
}

/* What lines get that have nothing to go by: the ending of the file's first line. */
static struct span usual_ending(const struct hunks *hunks)
{
	struct span ending = hunks->old.count ? line_ending(lines_at(&hunks->old, 0)) :
	                     hunks->new.count ? line_ending(lines_at(&hunks->new, 0)) :
	                                        SPAN("\n");

	return ending.len ? ending : SPAN("\n");
}

/* `edited` (bodies and line feeds) with endings: those of the same lines in `before`. */
static void put_edited(const struct hunks *hunks, struct span before, struct span edited,
                       struct buf *out)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_lines_ struct lines raw = { 0 }, from = { 0 }, to = { 0 };
	_cleanup_script_ struct script script = { 0 };
	struct span ending = usual_ending(hunks), line, insert;
	size_t at = 0;

	put_bodies(before, &shown);
	lines_index(&raw, before);
	lines_index(&from, buf_view(&shown));
	lines_index(&to, edited);
	diff_lines(&from, &to, &script);
	for (size_t i = 0; i <= script.count; i++) {
		const size_t until = i < script.count ? script.edits[i].at : raw.count;

		for (; at < until; at++) {
			buf_span(out, lines_at(&raw, at));
			if (line_ending(lines_at(&raw, at)).len)
				ending = line_ending(lines_at(&raw, at));
		}
		if (i == script.count)
			break;
		insert = script.edits[i].insert;
		if (insert.len && out->len && out->data[out->len - 1] != '\n')
			buf_span(out, ending);
		while (line_next(&insert, &line)) {
			buf_span(out, line_body(line));
			buf_span(out, ending);
		}
		at += script.edits[i].remove;
	}
}

/* Whether the hunk reaches the end of both texts, so that its last line may lack an ending. */
static bool ends_the_file(const struct hunks *hunks, const struct hunk_choice *choice)
{
	size_t at, end;

	hunk_range(hunks, choice, &at, &end);
	return end == hunks->old.count;
}

/* A last line without an ending is the file's last one, and stays so. */
static void set_last_ending(const struct hunks *hunks, const struct hunk_choice *choice,
                            struct span before, struct buf *edited)
{
	const bool last = ends_the_file(hunks, choice);

	if (!edited->len)
		return;
	if (last && before.len && before.data[before.len - 1] != '\n')
		edited->len = line_body(buf_view(edited)).len;
	else if (!last && edited->data[edited->len - 1] != '\n')
		buf_span(edited, usual_ending(hunks));
}

void hunks_edit(struct hunks *hunks, size_t i, struct span text)
{
	struct hunk_choice *choice = &hunks->choices[i];
	_cleanup_buf_ struct buf before = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf edited = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf given = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf planned = BUF_INIT(LIMIT_FILE_BYTES);
	struct span original;
	size_t at, end;

	hunk_new_lines(hunks, choice, &before);
	choice->verdict = HUNK_OPEN;
	hunk_new_lines(hunks, choice, &planned);
	buf_span(&given, text);
	if (text.len && text.data[text.len - 1] != '\n')
		buf_char(&given, '\n');
	put_edited(hunks, buf_view(&before), buf_view(&given), &edited);
	set_last_ending(hunks, choice, buf_view(&before), &edited);
	hunk_range(hunks, choice, &at, &end);
	original = lines_range(&hunks->old, at, end);
	free(choice->edited);
	choice->edited = NULL;
	if (span_eq(buf_view(&edited), buf_view(&planned))) {
		choice->verdict = HUNK_TAKEN;
	} else if (span_eq(buf_view(&edited), original)) {
		choice->verdict = HUNK_LEFT;
	} else {
		choice->verdict = HUNK_EDITED;
		choice->edited_len = edited.len;
		choice->edited = buf_steal(&edited);
	}
}

/* ---- what is left ------------------------------------------------------------ */

static void script_of_choices(const struct hunks *hunks, struct script *script)
{
	for (size_t i = 0; i < hunks->count; i++)
		if (hunks->choices[i].verdict == HUNK_TAKEN ||
		    hunks->choices[i].verdict == HUNK_EDITED)
			hunk_add_edits(hunks, &hunks->choices[i], script);
}

void hunks_content(const struct hunks *hunks, struct buf *out)
{
	_cleanup_script_ struct script script = { 0 };

	script_of_choices(hunks, &script);
	script_apply(&hunks->old, &script, out);
}

void hunks_content_diff(const struct hunks *hunks, struct buf *out)
{
	const struct script_print_options options = { .context = HUNK_CONTEXT };
	_cleanup_script_ struct script script = { 0 };

	script_of_choices(hunks, &script);
	script_print(out, &hunks->old, &script, &options);
}

json_t *hunks_review(const struct hunks *hunks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < hunks->count; i++) {
		const struct hunk_choice *choice = &hunks->choices[i];
		_cleanup_buf_ struct buf header = BUF_INIT(256);
		json_t *row = json_object();

		hunks_header(hunks, i, &header);
		json_object_set_new(row, "header", json_text(buf_view(&header)));
		json_object_set_new(row, "taken",
		                    choice->verdict == HUNK_EDITED ?
		                            json_string("edited") :
		                            json_boolean(choice->verdict == HUNK_TAKEN));
		if (choice->comment)
			json_object_set_new(row, "comment", json_text(span_str(choice->comment)));
		json_array_append_new(list, row);
	}
	return list;
}
