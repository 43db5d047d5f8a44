/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/editor/draft.h"

#include "base/mem.h"
#include "base/text.h"
#include "tui/text/width.h"

/* ---- clusters ---- */

static unsigned char draft_byte(const struct draft *draft, size_t at)
{
	return (unsigned char)draft->text.data[at];
}

size_t draft_next(const struct draft *draft, size_t at)
{
	size_t len = draft->text.len, most = 64;

	if (at >= len)
		return len;
	if (draft_byte(draft, at) == DRAFT_MARK)
		return at + DRAFT_MARK_BYTES;
	if (draft_byte(draft, at) < 0x80 && (at + 1 == len || draft_byte(draft, at + 1) < 0x80))
		return at + 1;
	for (;;) {
		struct span rest = span_head(buf_from(&draft->text, at), most);
		const char *mark = memchr(rest.data, DRAFT_MARK, rest.len);
		size_t room = rest.len;
		struct cluster cluster;

		if (mark)
			rest.len = (size_t)(mark - rest.data);
		cluster_next(&rest, &cluster);
		/* What was cut off may belong to it. */
		if (cluster.bytes.len + 4 < room || at + room == len || mark)
			return at + cluster.bytes.len;
		most *= 4;
	}
}

/* A byte at or before `at` where a cluster begins for certain: a line's start, a mark, or between
 * two characters of ASCII. */
static size_t sure_boundary(const struct draft *draft, size_t at)
{
	while (at > 0) {
		unsigned char here = at < draft->text.len ? draft_byte(draft, at) : 0;
		unsigned char before = draft_byte(draft, at - 1);

		if (before == '\n' || here == DRAFT_MARK || (here < 0x80 && before < 0x80))
			return at;
		at--;
	}
	return 0;
}

size_t draft_floor(const struct draft *draft, size_t at)
{
	if (at >= draft->text.len)
		return draft->text.len;
	size_t start = sure_boundary(draft, at);
	for (size_t next; (next = draft_next(draft, start)) <= at;)
		start = next;
	return start;
}

size_t draft_previous(const struct draft *draft, size_t at)
{
	return at ? draft_floor(draft, at - 1) : 0;
}

size_t draft_line_start(const struct draft *draft, size_t at)
{
	const char *lf = at ? memrchr(draft->text.data, '\n', at) : NULL;

	return lf ? (size_t)(lf - draft->text.data) + 1 : 0;
}

size_t draft_line_end(const struct draft *draft, size_t at)
{
	struct span rest = span_skip(draft_view(draft), at);
	const char *lf = rest.len ? memchr(rest.data, '\n', rest.len) : NULL;

	return lf ? (size_t)(lf - draft->text.data) : draft->text.len;
}

void draft_place(struct draft *draft, size_t at)
{
	draft->caret = draft_floor(draft, at);
}

/* ---- marks ---- */

static size_t mark_number(const char *mark)
{
	const unsigned char *bytes = (const unsigned char *)mark;

	return (size_t)(bytes[1] & 0x3f) << 12 | (size_t)(bytes[2] & 0x3f) << 6 | (bytes[3] & 0x3f);
}

/* Takes the next mark and what stands before it off the front of *rest; false: no more marks. */
static bool mark_next(struct span *rest, struct span *ret_before, size_t *ret_number)
{
	const char *mark = rest->len ? memchr(rest->data, DRAFT_MARK, rest->len) : NULL;

	if (!mark)
		return false;
	*ret_before = span_of(rest->data, (size_t)(mark - rest->data));
	*ret_number = mark_number(mark);
	*rest = span_skip(*rest, ret_before->len + DRAFT_MARK_BYTES);
	return true;
}

/* Bytes of what the marks of a text stand for. */
static size_t marked_bytes(const struct draft *draft, struct span text)
{
	struct span before;
	size_t number, bytes = 0;

	while (mark_next(&text, &before, &number))
		bytes += draft->pastes[number].len;
	return bytes;
}

/* ---- changes ---- */

void draft_init(struct draft *draft)
{
	*draft = (struct draft){ .text = { .max = DRAFT_BYTES_MAX } };
}

static void release_edits(struct draft *draft, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		draft->undo_bytes -= draft->edits[i].before_len + draft->edits[i].after_len;
		free(draft->edits[i].before);
		free(draft->edits[i].after);
	}
}

void draft_drop_undo(struct draft *draft)
{
	release_edits(draft, 0, draft->count);
	draft->count = draft->done = 0;
	draft->running = false;
}

void draft_clear(struct draft *draft)
{
	draft_drop_undo(draft);
	buf_clear(&draft->text);
	draft->caret = draft->shown_bytes = 0;
	draft->held = false;
	draft->version++;
}

void draft_drop(struct draft *draft)
{
	draft_clear(draft);
	for (size_t i = 0; i < draft->paste_count; i++) {
		free(draft->pastes[i].text);
		free(draft->pastes[i].label);
	}
	free(draft->pastes);
	free(draft->edits);
	buf_release(&draft->text);
}

/* The change itself, without a record of it. */
static bool swap_bytes(struct draft *draft, size_t at, size_t len, struct span text)
{
	size_t old = draft->text.len, tail = old - at - len;
	size_t shown = draft->shown_bytes + marked_bytes(draft, text) -
		       marked_bytes(draft, span_head(span_skip(draft_view(draft), at), len));

	if (old - len + text.len > DRAFT_BYTES_MAX || shown > DRAFT_EXPANDED_BYTES_MAX)
		return false;
	if (text.len > len && !buf_reserve(&draft->text, text.len - len))
		return false;
	if (!draft->text.data)
		return true;
	draft->shown_bytes = shown;
	memmove(draft->text.data + at + text.len, draft->text.data + at + len, tail);
	if (text.len)
		memcpy(draft->text.data + at, text.data, text.len);
	draft->text.len = old - len + text.len;
	draft->text.data[draft->text.len] = '\0';
	draft->version++;
	return true;
}

/* Makes room in what undo keeps: whole steps, the oldest first, never the one under way. */
static void drop_old_steps(struct draft *draft)
{
	size_t dropped = 0;

	while (draft->undo_bytes > DRAFT_UNDO_BYTES_MAX && dropped < draft->count &&
	       draft->edits[dropped].step != draft->step) {
		unsigned step = draft->edits[dropped].step;

		while (dropped < draft->count && draft->edits[dropped].step == step) {
			release_edits(draft, dropped, dropped + 1);
			dropped++;
		}
	}
	if (!dropped)
		return;
	memmove(draft->edits, draft->edits + dropped,
	        (draft->count - dropped) * sizeof(*draft->edits));
	draft->count -= dropped;
	draft->done -= dropped;
}

/* Whether the record of a text typed at `at` can be that of the edit before, which it goes on. */
static bool grow_last_edit(struct draft *draft, size_t at, size_t len, struct span text)
{
	struct draft_edit *last = draft->count ? &draft->edits[draft->count - 1] : NULL;

	if (!last || len || last->step != draft->step || at != last->at + last->after_len)
		return false;
	char *grown = realloc(last->after, last->after_len + text.len + 1);
	if (!grown)
		return false;
	memcpy(grown + last->after_len, text.data, text.len);
	last->after = grown;
	last->after_len += text.len;
	draft->undo_bytes += text.len;
	return true;
}

bool draft_replace(struct draft *draft, size_t from, size_t to, struct span text)
{
	struct span old = span_head(span_skip(draft_view(draft), from), to - from);
	size_t before = draft->caret;

	if (old.len == 0 && text.len == 0)
		return true;
	_cleanup_free_ char *kept = mem_dup(old.data, old.len), *new = mem_dup(text.data, text.len);
	if (!swap_bytes(draft, from, old.len, span_of(new, text.len)))
		return false;
	release_edits(draft, draft->done, draft->count);
	draft->count = draft->done;
	draft->caret = from + text.len;
	if (draft_floor(draft, draft->caret) != draft->caret)
		draft->caret = draft_next(draft, draft_floor(draft, draft->caret));
	if (!grow_last_edit(draft, from, old.len, span_of(new, text.len))) {
		draft->edits = mem_grow(draft->edits, &draft->cap, draft->count + 1,
		                        sizeof(*draft->edits));
		draft->undo_bytes += old.len + text.len;
		draft->edits[draft->count++] = (struct draft_edit){
			.at = from, .before_len = old.len, .after_len = text.len,
			.before = mem_steal(&kept), .after = mem_steal(&new),
			.caret_before = before, .shell_before = draft->shell,
			.step = draft->step };
	}
	draft->done = draft->count;
	draft->edits[draft->count - 1].caret_after = draft->caret;
	draft->edits[draft->count - 1].shell_after = draft->shell;
	drop_old_steps(draft);
	return true;
}

void draft_begin(struct draft *draft)
{
	draft->running = false;
	if (!draft->held)
		draft->step++;
}

void draft_begin_run(struct draft *draft, int kind)
{
	if (!draft->running || draft->run_kind != kind || draft->run_caret != draft->caret)
		draft_begin(draft);
	draft->running = true;
	draft->run_kind = kind;
}

void draft_end_run(struct draft *draft)
{
	draft->run_caret = draft->caret;
}

/* What an undo or redo touched, of the text as it is now: bytes [at, at + after) were `before`. */
static void note_undone(struct draft *draft, bool first, size_t at, size_t before, size_t after)
{
	if (first || at < draft->undone_from)
		draft->undone_from = at;
	if (first || draft->undone_to < at + before)
		draft->undone_to = at + after;
	else
		draft->undone_to += after - before;
}

bool draft_undo(struct draft *draft)
{
	if (!draft->done)
		return false;
	unsigned step = draft->edits[draft->done - 1].step;
	bool first = true;
	draft->running = false;
	draft->step++;
	for (; draft->done && draft->edits[draft->done - 1].step == step; first = false) {
		struct draft_edit *edit = &draft->edits[--draft->done];

		swap_bytes(draft, edit->at, edit->after_len,
		           span_of(edit->before, edit->before_len));
		note_undone(draft, first, edit->at, edit->after_len, edit->before_len);
		draft->caret = draft->undone_caret = edit->caret_before;
		draft->shell = edit->shell_before;
	}
	return true;
}

bool draft_redo(struct draft *draft)
{
	if (draft->done == draft->count)
		return false;
	unsigned step = draft->edits[draft->done].step;
	bool first = true;
	draft->running = false;
	for (; draft->done < draft->count && draft->edits[draft->done].step == step;
	     first = false) {
		struct draft_edit *edit = &draft->edits[draft->done++];

		swap_bytes(draft, edit->at, edit->before_len,
		           span_of(edit->after, edit->after_len));
		note_undone(draft, first, edit->at, edit->before_len, edit->after_len);
		if (first)
			draft->undone_caret = edit->caret_before;
		draft_place(draft, edit->caret_after);
		draft->shell = edit->shell_after;
	}
	return true;
}

/* ---- foreign text ---- */

void draft_clean(struct buf *out, struct span text)
{
	struct span as_it_is = { text.data, 0 };
	struct utf8_char c;

	while (utf8_next(&text, &c)) {
		if (c.code != '\r' && c.code && !c.bad) {
			as_it_is.len += c.bytes.len;
			continue;
		}
		buf_span(out, as_it_is);
		as_it_is = (struct span){ text.data, 0 };
		if (c.code != '\r')
			buf_str(out, "\xEF\xBF\xBD");
		else if (!span_starts(text, SPAN("\n")))
			buf_char(out, '\n');
	}
	buf_span(out, as_it_is);
}

/* ---- placeholders ---- */

static bool label_is_shown(const struct draft *draft, const char *label)
{
	struct span rest = draft_view(draft), before;
	size_t number;

	while (mark_next(&rest, &before, &number))
		if (strcmp(draft->pastes[number].label, label) == 0)
			return true;
	return false;
}

static void measure_paste(struct span text, size_t *ret_lines, size_t *ret_chars)
{
	struct utf8_char c;

	*ret_lines = 1;
	*ret_chars = 0;
	while (utf8_next(&text, &c)) {
		(*ret_chars)++;
		*ret_lines += c.code == '\n' && text.len;
	}
}

bool draft_is_long_paste(struct span text)
{
	size_t lines, chars;

	if (text.len > 4 * DRAFT_PASTE_CHARS_MAX) /* a character has four bytes at most */
		return true;
	measure_paste(text, &lines, &chars);
	return lines > DRAFT_PASTE_LINES_MAX || chars > DRAFT_PASTE_CHARS_MAX;
}

/* "[Pasted Text: 9 lines]"; with " #2" if the draft has that one already. */
static char *label_paste(const struct draft *draft, struct span text)
{
	size_t lines, chars;

	measure_paste(text, &lines, &chars);
	bool by_lines = lines > DRAFT_PASTE_LINES_MAX;
	for (unsigned n = 1;; n++) {
		_cleanup_free_ char *suffix = n > 1 ? mem_printf(" #%u", n) : mem_strdup("");
		_cleanup_free_ char *label = mem_printf("[Pasted Text: %zu %s%s]",
		                                        by_lines ? lines : chars,
		                                        by_lines ? "lines" : "chars", suffix);
		if (!label_is_shown(draft, label))
			return mem_steal(&label);
	}
}

void draft_print_mark(size_t number, char ret_mark[DRAFT_MARK_BYTES])
{
	ret_mark[0] = (char)DRAFT_MARK;
	ret_mark[1] = (char)(0x80 | number >> 12);
	ret_mark[2] = (char)(0x80 | (number >> 6 & 0x3f));
	ret_mark[3] = (char)(0x80 | (number & 0x3f));
}

bool draft_keep_paste(struct draft *draft, struct span text, char ret_mark[DRAFT_MARK_BYTES])
{
	size_t number = draft->paste_count;

	if (number == DRAFT_PASTES_MAX || text.len > DRAFT_PASTES_BYTES_MAX - draft->paste_bytes)
		return false;
	char *label = label_paste(draft, text);
	draft->pastes = mem_grow(draft->pastes, &draft->paste_cap, number + 1,
	                         sizeof(*draft->pastes));
	draft->pastes[draft->paste_count++] = (struct pasted){
		.text = mem_dup(text.data, text.len), .len = text.len, .label = label };
	draft->paste_bytes += text.len;
	draft_print_mark(number, ret_mark);
	return true;
}

const struct pasted *draft_paste_at(const struct draft *draft, size_t at)
{
	if (at >= draft->text.len || draft_byte(draft, at) != DRAFT_MARK)
		return NULL;
	return &draft->pastes[mark_number(draft->text.data + at)];
}

void draft_expand(const struct draft *draft, struct span text, struct buf *out)
{
	struct span before;
	size_t number;

	while (mark_next(&text, &before, &number)) {
		buf_span(out, before);
		buf_append(out, draft->pastes[number].text, draft->pastes[number].len);
	}
	buf_span(out, text);
}

void draft_labels(const struct draft *draft, struct span text, struct buf *out)
{
	struct span before;
	size_t number;

	while (mark_next(&text, &before, &number)) {
		buf_span(out, before);
		buf_str(out, draft->pastes[number].label);
	}
	buf_span(out, text);
}

void draft_forget(struct draft *draft, const struct span *texts, size_t count)
{
	_cleanup_free_ bool *used = mem_alloc(draft->paste_count + 1, sizeof(*used));

	for (size_t i = 0; i < count; i++) {
		struct span rest = texts[i], before;
		size_t number;

		while (mark_next(&rest, &before, &number))
			used[number] = true;
	}
	for (size_t i = 0; i < draft->paste_count; i++) {
		struct pasted *paste = &draft->pastes[i];

		if (used[i] || !paste->text)
			continue;
		draft->paste_bytes -= paste->len;
		free(paste->text);
		free(paste->label);
		*paste = (struct pasted){ 0 };
	}
}
