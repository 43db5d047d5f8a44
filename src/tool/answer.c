/* SPDX-License-Identifier: Apache-2.0 */
/* What the answer to an edit carries of the file's state: what the conversation lacks. */
#include "tool/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"
#include "tool/rebase.h"

enum {
	ANSWER_SMALL = 2048,   /* bytes of a content that comes whole */
	LINE_SHOWN = 240,      /* of a longer line what changed is shown */
	LINE_AROUND = 80,      /* and so much on either side of it */
	PLACES_NAMED = 6,
	EXCERPT_AROUND = 3,    /* lines before and after the one that a refusal is about */
	EXCERPT_BYTES = 4096,
	CHANGED_SHARE = 4,     /* of the budget, for what changed since */
	DIFF_CONTEXT = 2,
};

size_t answer_bytes_max(const struct session *session)
{
	return session->answer_tokens * ANSWER_TOKEN_BYTES;
}

/* ---- long lines -------------------------------------------------------------------- */

/* Moves an offset back to where a character begins. */
static size_t char_start(struct span text, size_t at)
{
	while (at > 0 && at < text.len && ((unsigned char)text.data[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Bytes [from, to) of a line, which are what changed in it, and a little around them; what is left
 * out is counted. */
static void put_line_part(struct buf *out, struct span line, size_t from, size_t to)
{
	size_t end;

	from = char_start(line, from > LINE_AROUND ? from - LINE_AROUND : 0);
	end = to - from > LINE_SHOWN ? from + LINE_SHOWN : to + LINE_AROUND;
	end = end < line.len ? char_start(line, end) : line.len;
	if (from)
		buf_printf(out, "[... %zu bytes ...]", from);
	buf_append(out, line.data + from, end - from);
	if (end < line.len)
		buf_printf(out, "[... %zu bytes ...]", line.len - end);
	buf_char(out, '\n');
}

/* A line of a diff, where the other side has `other` in its place (empty: nothing). */
static void put_changed_line(struct buf *out, char sign, struct span line, struct span other)
{
	size_t head = 0, tail = 0, least;

	line = line_body(line);
	other = line_body(other);
	least = line.len < other.len ? line.len : other.len;
	buf_char(out, sign);
	if (line.len <= LINE_SHOWN) {
		buf_span(out, line);
		buf_char(out, '\n');
		return;
	}
	while (head < least && line.data[head] == other.data[head])
		head++;
	while (tail < least - head &&
	       line.data[line.len - 1 - tail] == other.data[other.len - 1 - tail])
		tail++;
	put_line_part(out, line, head, line.len - tail);
}

/* ---- a diff for reading ------------------------------------------------------------ */

/* Lines that are removed and added in one place. */
struct exchanged {
	struct span *lines; /* owned: those that are removed, then those that are added */
	size_t count, cap, removed;
};

static void put_exchanged(struct buf *out, struct exchanged *exchanged)
{
	const size_t removed = exchanged->removed, added = exchanged->count - removed;

	for (size_t i = 0; i < removed; i++)
		put_changed_line(out, '-', exchanged->lines[i],
		                 i < added ? exchanged->lines[removed + i] : span_of("", 0));
	for (size_t i = 0; i < added; i++)
		put_changed_line(out, '+', exchanged->lines[removed + i],
		                 i < removed ? exchanged->lines[i] : span_of("", 0));
	exchanged->count = exchanged->removed = 0;
}

/* Appends the hunks of a diff, long lines cut; as many as `max` bytes have room for, one at least
 * as far as it goes. False: not all of them. */
static bool put_hunks(struct buf *out, struct span diff, size_t max)
{
	struct exchanged exchanged = { 0 };
	bool in_hunk = false, all = true;
	struct span line;

	while (all && line_next(&diff, &line)) {
		const bool header = span_starts(line, SPAN("@@"));
		const char sign = line.data[0];

		in_hunk = in_hunk || header;
		if (!in_hunk)
			continue;
		if (!header && (sign == '-' || sign == '+')) {
			exchanged.lines = mem_grow(exchanged.lines, &exchanged.cap,
			                           exchanged.count + 1, sizeof(*exchanged.lines));
			exchanged.lines[exchanged.count++] = span_skip(line, 1);
			exchanged.removed += sign == '-';
			continue;
		}
		put_exchanged(out, &exchanged);
		all = out->len <= max;
		if (all && (header || sign == '\\'))
			buf_span(out, line);
		else if (all)
			put_changed_line(out, ' ', span_skip(line, 1), span_of("", 0));
	}
	put_exchanged(out, &exchanged);
	free(exchanged.lines);
	if (out->len > max || !all) {
		out->len = utf8_head(buf_view(out), max).len;
		buf_str(out, "\n[... more changed lines are left out; read_file shows them]\n");
		return false;
	}
	return true;
}

static size_t changed_max(const struct session *session)
{
	const size_t bytes = answer_bytes_max(session);

	return (bytes ? bytes : (size_t)ANSWER_TOKENS_DEFAULT * ANSWER_TOKEN_BYTES) / CHANGED_SHARE;
}

/* Sets `changed`. False: there was room for a part of it, or nothing to set. */
static bool put_changed(const struct session *session, json_t *object, struct span diff)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool all = put_hunks(&out, diff, changed_max(session));

	if (out.len)
		json_object_set_new(object, "changed", json_text(buf_view(&out)));
	return all && out.len;
}

/* ---- sentences --------------------------------------------------------------------- */

/* "line 7", "lines 7-9 and 20", in the new state; nothing for no changes. */
static void put_places(struct buf *out, struct span diff)
{
	size_t count, shift = 0;
	_cleanup_free_ struct seen_change *changes = seen_changes(diff, &count);
	const bool one = count == 1 && changes[0].added <= 1;

	for (size_t i = 0; i < count && i < PLACES_NAMED; i++) {
		const size_t first = changes[i].at + shift, added = changes[i].added;

		buf_str(out, i ? ", " : one ? "line " : "lines ");
		if (!added)
			buf_printf(out, "%zu (removed)", first);
		else if (added == 1)
			buf_printf(out, "%zu", first);
		else
			buf_printf(out, "%zu-%zu", first, first + added - 1);
		shift += added - changes[i].removed;
	}
	if (count > PLACES_NAMED)
		buf_printf(out, " and %zu more places", count - PLACES_NAMED);
}

static void omit(json_t *object, const char *why)
{
	json_object_set_new(object, "content_omitted", json_cstr(why));
}

/* ---- edits that were made ---------------------------------------------------------- */

/* The content, unless the mode leaves it out. */
static void show_content(json_t *object, const struct answer_about *about)
{
	const bool shown = about->content && about->mode != RETURN_NONE &&
	                   (about->mode != RETURN_DIFF || !about->done);
	_cleanup_free_ char *why = NULL;

	if (shown && about->content_in) {
		why = mem_printf("as in change %zu", about->content_in);
		omit(object, why);
		return;
	}

	json_object_set_new(object, "content",
	                    shown ? json_text(buf_view(about->content)) : json_null());
}

/* The conversation has the file whole after the edit; `had` is what it had before. */
static void say_made(struct session *session, json_t *object, const struct answer_about *about,
                     const struct seen_state *had)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	if (about->sent_whole && !about->other_than_sent) {
		omit(object, "as sent");
		return;
	}
	if (about->other_than_sent && put_changed(session, object, about->diff))
		buf_str(&text, "changed shows what was made");
	else
		put_places(&text, about->diff);
	if (text.len && !about->other_than_sent)
		buf_str(&text, " as sent");
	if (had && had->whole)
		buf_printf(&text, text.len ? ", the rest as version %llu" :
		                             "already shown as version %llu",
		           (unsigned long long)had->version);
	else if (!about->sent_whole)
		buf_str(&text, text.len ? "; read_file shows the rest" : "read_file shows it");
	omit(object, text.data ? text.data : "as sent");
}

static void made_new(struct session *session, json_t *object, const struct answer_about *about)
{
	struct seen_state had = { 0 };
	const char *path = about->before->path ? about->before->path : about->state->path;
	const bool known = seen_get(session, path, &had) &&
	                   (sha256_eq(&had.sha256, &about->before->sha256) ||
	                    sha256_eq(&had.sha256, &about->state->sha256));
	const bool whole = about->sent_whole || (known && had.whole);

	if (!about->content_is_long &&
	    (!about->content || (!whole && about->content->len <= ANSWER_SMALL)))
		show_content(object, about);
	else
		say_made(session, object, about, known ? &had : NULL);
}

static void learn_made(struct session *session, const struct answer_about *about,
                       const json_t *object, uint64_t version)
{
	const struct file_state *before = about->before, *state = about->state;
	const bool whole = about->sent_whole || json_is_string(json_object_get(object, "content"));

	if (before->path && before->path != state->path && strcmp(before->path, state->path) != 0)
		seen_moved(session, before->path, state->path);
	seen_edited(session, state->path, &before->sha256, &state->sha256, version, about->diff,
	            whole);
	if (about->content && !about->content_in &&
	    !json_is_string(json_object_get(object, "content"))) {
		json_auto_t *text = json_text(buf_view(about->content));

		rebase_keep(session, &state->sha256, text);
	}
}

/* ---- edits that were refused -------------------------------------------------------- */

/* What changed since the state that the conversation has whole. False: that is not kept. */
static bool show_changed(struct session *session, json_t *object, const struct answer_about *about,
                         const struct seen_state *had, bool *ret_all)
{
	static const struct script_print_options print = { .context = DIFF_CONTEXT };
	json_auto_t *old = rebase_kept(session, &had->sha256);
	_cleanup_lines_ struct lines before = { 0 }, now = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *why = NULL;

	if (!old)
		return false;
	lines_index(&before, json_span(old));
	lines_index(&now, buf_view(about->content));
	diff_lines(&before, &now, &script);
	if (!script_print(&diff, &before, &script, &print))
		return false;
	*ret_all = put_changed(session, object, buf_view(&diff));
	why = mem_printf(*ret_all ? "as version %llu but for what changed shows" :
	                            "changed shows the beginning of what changed since version "
	                            "%llu; read_file shows the rest",
	                 (unsigned long long)had->version);
	omit(object, why);
	return true;
}

/* The lines around the one that the refusal is about. */
static bool show_excerpt(struct session *session, json_t *object,
                         const struct answer_about *about, uint64_t version)
{
	_cleanup_lines_ struct lines lines = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(EXCERPT_BYTES * 2);
	struct seen_range range;
	bool cut = false;

	lines_index(&lines, buf_view(about->content));
	if (!about->line || about->line > lines.count)
		return false;
	range.first = about->line > EXCERPT_AROUND ? about->line - EXCERPT_AROUND : 1;
	range.last = about->line + EXCERPT_AROUND < lines.count ? about->line + EXCERPT_AROUND :
	                                                          lines.count;
	for (size_t i = range.first; i <= range.last; i++) {
		const struct span line = lines_at(&lines, i - 1);

		cut = cut || line.len > LINE_SHOWN;
		if (line.len > LINE_SHOWN)
			put_line_part(&out, line_body(line), 0, LINE_SHOWN);
		else
			buf_span(&out, line);
	}
	json_object_set_new(object, "excerpt",
	                    json_pack("{s:I, s:o}", "start_line", (json_int_t)range.first,
	                              "content", json_text(buf_view(&out))));
	if (!cut)
		seen_excerpt(session, about->state->path, &about->state->sha256, version, &range);
	return true;
}

/* The lines that the last read gave are in the new state, too, or not. */
static void say_part(struct session *session, const struct answer_about *about,
                     const struct seen_state *had, struct buf *out)
{
	size_t first = 0;
	json_auto_t *part = seen_part(session, about->state->path, &first);
	const struct span text = json_span(part);
	const char *at = text.len ? memmem(about->content->data, about->content->len, text.data,
	                                   text.len) : NULL;

	if (!part)
		return;
	buf_printf(out, at ? "line %zu and those after it that version %llu showed are unchanged, "
	                     "from line " : "line %zu or those after it that version %llu showed "
	                                    "have changed",
	           first, (unsigned long long)had->version);
	if (at)
		buf_printf(out, "%zu",
		           lines_count(span_of(about->content->data,
		                               (size_t)(at - about->content->data))) + 1);
	buf_str(out, "; ");
}

/* What a conversation that has a part of the file, or another state of it, gets in place of it. */
static void refused_partly(struct session *session, json_t *object,
                           const struct answer_about *about, const struct seen_state *had,
                           uint64_t version)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	const bool same = had && sha256_eq(&had->sha256, &about->state->sha256);

	if (had && !same && !had->whole)
		say_part(session, about, had, &text);
	if (same && had->range_count)
		buf_printf(&text, "lines %zu-%zu%s shown as version %llu; ", had->ranges[0].first,
		           had->ranges[0].last, had->range_count > 1 ? " and others" : "",
		           (unsigned long long)had->version);
	buf_printf(&text, "read_file shows the file (%zu bytes)", about->state->size);
	omit(object, text.data);
	if (!same || !seen_has_lines(had, about->line, about->line))
		show_excerpt(session, object, about, version);
}

static void refused_new(struct session *session, json_t *object, const struct answer_about *about,
                        uint64_t version)
{
	const struct file_state *state = about->state;
	struct seen_state had;
	const bool known = seen_get(session, state->path, &had);
	bool all = true;

	if (known && had.whole && sha256_eq(&had.sha256, &state->sha256)) {
		_cleanup_free_ char *why = mem_printf("already shown as version %llu",
		                                      (unsigned long long)had.version);

		omit(object, why);
		return;
	}
	if (!about->content || about->content_in) {
		show_content(object, about);
		if (about->content_in && about->content &&
		    !(known && seen_has_lines(&had, about->line, about->line)))
			show_excerpt(session, object, about, version);
		return;
	}
	if (about->content->len <= ANSWER_SMALL && !(known && had.whole))
		show_content(object, about);
	else if (!known || !had.whole || !show_changed(session, object, about, &had, &all))
		refused_partly(session, object, about, known ? &had : NULL, version);
	if (!json_object_get(object, "content") && (!json_object_get(object, "changed") || !all))
		return;
	seen_refused(session, state->path, &state->sha256, version);
	if (about->content) {
		json_auto_t *text = json_text(buf_view(about->content));

		rebase_keep(session, &state->sha256, text);
	}
}

/* ---- all modes ----------------------------------------------------------------------- */

void answer_put_form(json_t *object, const struct text_form *form, bool brief)
{
	if (form->encoding[0] && !(brief && !strcasecmp(form->encoding, "UTF-8")))
		json_object_set_new(object, "encoding", json_cstr(form->encoding));
	if (form->line_endings &&
	    !(brief && (!strcmp(form->line_endings, "lf") || !strcmp(form->line_endings, "none"))))
		json_object_set_new(object, "line_endings", json_cstr(form->line_endings));
}

static void put_existing(struct session *session, json_t *object, const struct answer_about *about,
                         uint64_t version)
{
	const bool made = about->done && !about->planned;

	if (about->done && about->planned) {
		json_object_set_new(object, "content", json_null());
		return;
	}
	if (about->mode != RETURN_NEW)
		show_content(object, about);
	else if (made)
		made_new(session, object, about);
	else
		refused_new(session, object, about, version);
	if (made && about->before)
		learn_made(session, about, object, version);
	if (json_is_string(json_object_get(object, "content"))) {
		rebase_keep(session, &about->state->sha256, json_object_get(object, "content"));
		if (!made && about->mode != RETURN_NEW)
			seen_refused(session, about->state->path, &about->state->sha256, version);
	}
}

json_t *answer_state(struct session *session, const struct answer_about *about)
{
	json_t *object = json_object();
	const struct file_state *state = about->state;
	const bool exists = state && state->exists;
	const uint64_t version = session_next_version(session);

	json_object_set_new(object, "file_path",
	                    json_name(state && state->path ? state->path : about->path));
	json_object_set_new(object, "version", json_size(version));
	json_object_set_new(object, "sha256", exists ? json_sha256(&state->sha256) : json_null());
	if (exists)
		put_existing(session, object, about, version);
	else
		json_object_set_new(object, "content", json_null());
	if (state && !exists) {
		json_object_set_new(object, "exists", json_false());
		if (about->done && !about->planned && state->path)
			seen_moved(session, state->path, NULL);
	}
	if (exists)
		answer_put_form(object, about->form, about->mode == RETURN_NEW);
	return object;
}
