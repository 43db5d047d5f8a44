/* SPDX-License-Identifier: Apache-2.0 */
/* Grammar (POSIX.1-2017, diff, "Diff Unified Output Format"):
 *
 *     diff  = [ "--- " name LF "+++ " name LF ] hunk { hunk }
 *     hunk  = "@@ -" range " +" range " @@" LF line { line }
 *     range = start [ "," count ]
 *     line  = (" " | "-" | "+") text LF [ "\ No newline at end of file" LF ]
 */
#include "patch/private.h"

#include <stdlib.h>

#include "base/mem.h"

struct strict {
	const struct lines *base;
	struct span rest;       /* of the diff */
	size_t line;            /* 1-based line of the diff that is being read */
	struct script *script;
	struct buf *inserted;
	size_t next_old;        /* 0-based base line after the last hunk */
	int64_t delta;          /* lines added less lines removed so far */
	size_t insert_from;     /* where the open edit's text begins in `inserted` */
	bool open;
	struct edit edit;
};

static bool strict_refuse(const struct strict *s, const char *why, struct err *err)
{
	return err_set(err, ERR_INTERNAL,
	               "Internal Error: The corrected patch failed to apply (line %zu of it: %s). "
	               "Please review the diff for subtle errors.", s->line, why);
}

static bool strict_take_text(struct span *text, struct span literal)
{
	if (!span_starts(*text, literal))
		return false;
	*text = span_skip(*text, literal.len);
	return true;
}

static bool strict_take_count(struct span *text, size_t *ret)
{
	size_t n = 0, digits = 0;

	while (digits < text->len && digits < 18 && ascii_is_digit(text->data[digits]))
		n = n * 10 + (size_t)(text->data[digits++] - '0');
	*text = span_skip(*text, digits);
	*ret = n;
	return digits > 0;
}

static bool strict_take_range(struct span *text, size_t *ret_start, size_t *ret_count)
{
	*ret_count = 1;
	return strict_take_count(text, ret_start) &&
	       (!strict_take_text(text, SPAN(",")) || strict_take_count(text, ret_count));
}

static void strict_close_edit(struct strict *s)
{
	if (!s->open)
		return;
	s->open = false;
	/* An offset for now: the buffer may still move. */
	s->edit.insert = span_of(NULL, s->inserted->len - s->insert_from);
	script_add(s->script, s->edit);
}

static void strict_open_edit(struct strict *s, size_t at)
{
	if (s->open)
		return;
	s->open = true;
	s->edit = (struct edit){ .at = at };
	s->insert_from = s->inserted->len;
}

/* One line of a hunk; `text` is with its LF, or without when the marker follows. */
static bool strict_take_line(struct strict *s, char op, struct span text, size_t *old_at,
                             struct err *err)
{
	if (op == '+') {
		strict_open_edit(s, *old_at);
		return buf_span(s->inserted, text) || strict_refuse(s, "too much text", err);
	}
	if (*old_at >= s->base->count)
		return strict_refuse(s, "an old line is past the end of the file", err);
	if (!span_eq(text, lines_at(s->base, *old_at)))
		return strict_refuse(s, "an old line is not the file's", err);
	if (op == '-') {
		strict_open_edit(s, *old_at);
		s->edit.remove++;
	} else {
		strict_close_edit(s);
	}
	(*old_at)++;
	return true;
}

static bool strict_take_header(struct strict *s, size_t *old_start, size_t *old_count,
                               size_t *new_count,
                               struct err *err)
{
	size_t new_start;
	struct span line;

	if (!line_next(&s->rest, &line) || !strict_take_text(&line, SPAN("@@ -")) ||
	    !strict_take_range(&line, old_start, old_count) ||
	    !strict_take_text(&line, SPAN(" +")) ||
	    !strict_take_range(&line, &new_start, new_count) || !span_eq(line, SPAN(" @@\n")))
		return strict_refuse(s, "a hunk header is malformed", err);
	/* A side without lines names the line before it. */
	if (*old_count) {
		if (!*old_start)
			return strict_refuse(s, "line 0 has no text", err);
		(*old_start)--;
	}
	if (*new_count && !new_start)
		return strict_refuse(s, "line 0 has no text", err);
	if (*old_start < s->next_old)
		return strict_refuse(s, "hunks overlap or are out of order", err);
	if ((int64_t)(new_start - (*new_count ? 1 : 0)) != (int64_t)*old_start + s->delta)
		return strict_refuse(s, "the new line number is wrong", err);
	s->line++;
	return true;
}

static bool take_hunk(struct strict *s, struct err *err)
{
	size_t at, old_count, new_count, old_seen = 0, new_seen = 0, old_at;

	if (!strict_take_header(s, &at, &old_count, &new_count, err))
		return false;
	old_at = at;
	while (old_seen < old_count || new_seen < new_count) {
		struct span line, marker = s->rest;
		char op;

		if (!line_next(&s->rest, &line) || !span_ends(line, SPAN("\n")))
			return strict_refuse(s, "the diff ends inside a hunk", err);
		op = line.data[0];
		if (op != ' ' && op != '-' && op != '+')
			return strict_refuse(s, "a line has no marker", err);
		line = span_skip(line, 1);
		if (line_next(&marker, &(struct span){ 0 }) &&
		    strict_take_text(&marker, SPAN("\\ "))) {
			line.len--;
			line_next(&s->rest, &marker);
		}
		if (!strict_take_line(s, op, line, &old_at, err))
			return false;
		old_seen += op != '+';
		new_seen += op != '-';
		s->line++;
	}
	strict_close_edit(s);
	if (old_seen != old_count || new_seen != new_count)
		return strict_refuse(s, "the counts of a hunk are wrong", err);
	s->next_old = old_at;
	s->delta += (int64_t)new_count - (int64_t)old_count;
	return true;
}

bool strict_apply(const struct lines *base, struct span diff, struct script *ret,
                  struct buf *ret_inserted, struct err *err)
{
	size_t at;

	struct strict s = { .base = base, .rest = diff, .line = 1, .script = ret,
	                    .inserted = ret_inserted };
	struct span line;

	if (span_starts(s.rest, SPAN("--- "))) {
		line_next(&s.rest, &line);
		if (!line_next(&s.rest, &line) || !span_starts(line, SPAN("+++ ")))
			return strict_refuse(&s, "the file header is malformed", err);
		s.line += 2;
	}
	do {
		if (!take_hunk(&s, err))
			return false;
	} while (s.rest.len);
	/* Turns the lengths of the inserted texts into spans, now that the buffer is final. */
	at = 0;
	for (size_t i = 0; i < ret->count; i++) {
		ret->edits[i].insert.data = ret_inserted->data ? ret_inserted->data + at : "";
		at += ret->edits[i].insert.len;
	}
	return true;
}
