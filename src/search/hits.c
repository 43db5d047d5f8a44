/* SPDX-License-Identifier: Apache-2.0 */
/* What a search finds: from matches in a piece of text to lines with context, and the files with
 * matches as threads find them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "search/private.h"

/* ---- lines with context ---- */

/* What a line costs in addition to its text. */
enum { LINE_BYTES = sizeof(struct gathered_line) };

void search_gather_init(struct gather *g, const struct search_request *request)
{
	*g = (struct gather){ .request = request, .max = request->max_matches };
	if (request->max_per_file > 0 && request->max_per_file < g->max)
		g->max = request->max_per_file;
	g->max_bytes = request->max_bytes;
	/* One line more than fits is kept, so that the limit shows. */
	g->text = (struct buf)BUF_INIT(g->max_bytes + 8 * (request->max_line_bytes + 16));
}

void search_gather_release(struct gather *g)
{
	buf_release(&g->text);
	free(g->lines);
}

void search_gather_begin(struct gather *g)
{
	g->text.len = 0;
	g->text.overflowed = false;
	g->count = g->matches = 0;
	g->more = false;
	g->line_at = g->emitted = g->matched = g->after_left = 0;
	g->line_number = 1;
}

typedef unsigned char block __attribute__((vector_size(16)));

static size_t sum_counts(block counts)
{
	unsigned char bytes[sizeof(block)];
	size_t total = 0;

	memcpy(bytes, &counts, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		total += bytes[i];
	return total;
}

static size_t count_newlines(const char *data, size_t len)
{
	size_t count = 0;

	while (len >= sizeof(block)) {
		/* Each byte of the counts can hold 255. */
		size_t blocks = len / sizeof(block) < 255 ? len / sizeof(block) : 255;
		block counts = { 0 }, bytes;

		len -= blocks * sizeof(block);
		for (; blocks > 0; blocks--, data += sizeof(block)) {
			memcpy(&bytes, data, sizeof(bytes));
			counts -= (block)(bytes == '\n');
		}
		count += sum_counts(counts);
	}
	for (; len > 0; len--)
		count += *data++ == '\n';
	return count;
}

/* The number of the line that starts at `at`, which is not before the last one asked for. */
static size_t number_at(struct gather *g, struct span text, size_t at)
{
	g->line_number += count_newlines(text.data + g->line_at, at - g->line_at);
	g->line_at = at;
	return g->line_number;
}

/* After the end of the line that `at` is in. */
static size_t line_end(struct span text, size_t at)
{
	const char *end = at < text.len ? memchr(text.data + at, '\n', text.len - at) : NULL;

	return end ? (size_t)(end - text.data) + 1 : text.len;
}

static size_t gather_line_start(struct span text, size_t at)
{
	const char *before = at > 0 ? memrchr(text.data, '\n', at) : NULL;

	return before ? (size_t)(before - text.data) + 1 : 0;
}

/* Appends well-formed UTF-8 as it is, and U+FFFD for each byte that is not. */
static void put_valid_text(struct buf *out, struct span text)
{
	struct utf8_char c;

	if (utf8_valid(text)) {
		buf_span(out, text);
		return;
	}
	while (utf8_next(&text, &c))
		buf_span(out, c.bad ? SPAN("\xef\xbf\xbd") : c.bytes);
}

/* The window of at most `max` bytes that is shown of a long line: around the match, and not in the
 * middle of a character where that can be helped. */
static struct span window(struct span line, size_t max, size_t match_start)
{
	size_t from = 0, to;

	if (line.len <= max)
		return line;
	if (match_start > max / 4)
		from = match_start - max / 4;
	if (from > line.len - max)
		from = line.len - max;
	for (int i = 0; i < 3 && from > 0 && ((unsigned char)line.data[from] & 0xc0) == 0x80; i++)
		from++;
	to = from + max < line.len ? from + max : line.len;
	return span_of(line.data + from, utf8_head(span_skip(line, from), to - from).len);
}

static size_t clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Keeps the line at [start, end) of the text; `match` is NULL for context. */
static void gather_add_line(struct gather *g, struct span text, size_t start, size_t end,
                            const struct text_match *match)
{
	struct span line = line_body(span_of(text.data + start, end - start));
	const size_t at = match ? clamp(match->start, start, start + line.len) - start : 0;
	struct span shown = window(line, g->request->max_line_bytes, at);
	const size_t skipped = (size_t)(shown.data - line.data);
	size_t from = 0, to = 0;
	struct gathered_line *kept;

	if (match) {
		from = clamp(at, skipped, skipped + shown.len) - skipped;
		to = clamp(match->end, start + skipped + from, start + skipped + shown.len) -
		     start - skipped;
	}
	if (g->count == g->cap)
		g->lines = mem_grow(g->lines, &g->cap, g->count + 1, sizeof(*g->lines));
	kept = &g->lines[g->count++];
	*kept = (struct gathered_line){
		.line = { .number = number_at(g, text, start), .match = match != NULL,
			  .starts_match = match && match->start >= start,
			  .cut = shown.len < line.len },
		.at = g->text.len,
	};
	put_valid_text(&g->text, span_head(shown, from));
	kept->line.match_start = g->text.len - kept->at;
	put_valid_text(&g->text, span_of(shown.data + from, to - from));
	kept->line.match_end = g->text.len - kept->at;
	put_valid_text(&g->text, span_skip(shown, to));
	kept->line.text.len = g->text.len - kept->at;
	g->emitted = end;
}

/* The context after the last match, as far as it lies before `end`. */
static void add_after(struct gather *g, struct span text, size_t end)
{
	while (g->after_left > 0 && g->emitted < end) {
		gather_add_line(g, text, g->emitted, line_end(text, g->emitted), NULL);
		g->after_left--;
	}
}

/* The context before a line, as far as it is not there yet. */
static void add_before(struct gather *g, struct span text, size_t start)
{
	size_t from = start;

	for (size_t i = 0; i < g->request->before && from > g->emitted; i++)
		from = gather_line_start(text, from - 1);
	if (from < g->emitted)
		from = g->emitted;
	while (from < start) {
		size_t end = line_end(text, from);

		gather_add_line(g, text, from, end, NULL);
		from = end;
	}
}

/* Takes a match in. Returns where to go on. */
static size_t add_match(struct gather *g, struct span text, const struct text_match *match,
                        bool multiline)
{
	const size_t start = gather_line_start(text, match->start);
	const size_t last = match->end > match->start ? match->end - 1 : match->start;
	const size_t end = line_end(text, multiline ? last : match->start);

	/* A line counts once, also when a match ends in it and another begins. */
	if (start >= g->matched || g->matches == 0)
		g->matches++;
	if (g->request->output == SEARCH_LINES) {
		/* Keeps the lines of a match, [start, end), as far as they are not there yet. */
		add_after(g, text, start);
		add_before(g, text, start);
		for (size_t at = start > g->emitted ? start : g->emitted; at < end;) {
			size_t next = line_end(text, at);

			gather_add_line(g, text, at, next, match);
			at = next;
		}
		g->after_left = g->request->after;
	}
	g->matched = end;
	if (!multiline)
		return end;
	return match->end > match->start ? match->end : match->end + 1;
}

/* Whether a match is in no line: an empty one after the last line's end. */
static bool is_past_lines(struct span text, const struct text_match *match)
{
	return match->start == text.len && (text.len == 0 || text.data[text.len - 1] == '\n');
}

enum gather_outcome search_gather_piece(struct gather *g, const struct matcher *matcher,
                                        struct matcher_scratch *scratch, struct span text,
                                        size_t from, const struct text_match *first)
{
	const bool multiline = matcher_is_multiline(matcher);
	const bool lines = g->request->output == SEARCH_LINES;

	for (size_t at = from; at < text.len;) {
		struct text_match match;
		enum match_outcome outcome = MATCH_FOUND;

		if (first)
			match = *first;
		else
			outcome = matcher_find(matcher, scratch, text, at, &match);
		first = NULL;
		if (outcome == MATCH_TOO_HARD)
			return GATHER_TOO_HARD;
		if (outcome == MATCH_NONE || is_past_lines(text, &match))
			break;
		if (lines &&
		    (g->matches >= g->max || g->text.len + g->count * LINE_BYTES > g->max_bytes) &&
		    gather_line_start(text, match.start) >= g->matched) {
			g->more = true;
			add_after(g, text, gather_line_start(text, match.start));
			return GATHER_DONE;
		}
		at = add_match(g, text, &match, multiline);
		if (g->request->output == SEARCH_NAMES)
			return GATHER_DONE;
	}
	add_after(g, text, text.len);
	return GATHER_MORE_TEXT;
}

size_t search_gather_keep(const struct gather *g, struct span text)
{
	size_t at = text.len;

	if (g->request->output != SEARCH_LINES)
		return at;
	for (size_t i = 0; i < g->request->before && at > 0; i++)
		at = gather_line_start(text, at - 1);
	return at;
}

void search_gather_advance(struct gather *g, struct span text, size_t keep)
{
	if (keep > g->line_at)
		number_at(g, text, keep);
	g->line_at -= keep;
	g->emitted = g->emitted > keep ? g->emitted - keep : 0;
	g->matched = g->matched > keep ? g->matched - keep : 0;
}

void search_gather_take(struct gather *g, struct file_match *ret)
{
	ret->matches = g->matches;
	ret->more = g->more;
	ret->line_count = g->count;
	if (g->count == 0)
		return;
	ret->text = mem_dup(g->text.data ? g->text.data : "", g->text.len);
	ret->lines = mem_alloc(g->count, sizeof(*ret->lines));
	for (size_t i = 0; i < g->count; i++) {
		ret->lines[i] = g->lines[i].line;
		ret->lines[i].text.data = ret->text + g->lines[i].at;
	}
}

/* ---- the files with matches ---- */

/* The first line is shown, however small the limits are. */
enum { FIRST_LINE_BYTES = 1 << 20 };

void hits_init(struct hits *hits, const struct search_request *request)
{
	*hits = (struct hits){ .request = request };
	pthread_mutex_init(&hits->lock, NULL);
}

static void file_match_release(struct file_match *file)
{
	free(file->path);
	free(file->lines);
	free(file->text);
}

void hits_release(struct hits *hits)
{
	for (size_t i = 0; i < hits->count; i++)
		file_match_release(&hits->files[i]);
	free(hits->files);
	free(hits->horizon);
	free(hits->too_hard);
	pthread_mutex_destroy(&hits->lock);
}

static size_t hits_weigh(const struct hits *hits, const struct file_match *file)
{
	return hits->request->output == SEARCH_LINES ? file->matches : 1;
}

static size_t file_match_bytes(const struct file_match *file)
{
	size_t bytes = sizeof(*file) + file->line_count * sizeof(*file->lines);

	for (size_t i = 0; i < file->line_count; i++)
		bytes += file->lines[i].text.len;
	return bytes;
}

static int compare_match_paths(const void *a, const void *b)
{
	const struct file_match *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static void sort(struct hits *hits)
{
	if (hits->count > 1)
		qsort(hits->files, hits->count, sizeof(*hits->files), compare_match_paths);
}

/* Drops the files after the first that together have more than is asked for. */
static void hits_settle(struct hits *hits)
{
	const struct search_request *request = hits->request;
	size_t keep = 0;

	sort(hits);
	hits->weight = hits->bytes = 0;
	while (keep < hits->count && hits->weight <= request->max_matches &&
	       hits->bytes <= request->max_bytes) {
		hits->weight += hits_weigh(hits, &hits->files[keep]);
		hits->bytes += file_match_bytes(&hits->files[keep]);
		keep++;
	}
	if (keep == hits->count)
		return;
	while (hits->count > keep)
		file_match_release(&hits->files[--hits->count]);
	hits->more = true;
	free(hits->horizon);
	hits->horizon = mem_strdup(hits->files[keep - 1].path);
	atomic_store(&hits->has_horizon, true);
}

void hits_add(struct hits *hits, struct file_match *file)
{
	const struct search_request *request = hits->request;

	pthread_mutex_lock(&hits->lock);
	if (hits->count == hits->cap)
		hits->files = mem_grow(hits->files, &hits->cap, hits->count + 1,
		                       sizeof(*hits->files));
	hits->files[hits->count++] = *file;
	hits->weight += hits_weigh(hits, file);
	hits->bytes += file_match_bytes(file);
	if (hits->weight / 2 > request->max_matches || hits->bytes / 2 > request->max_bytes)
		hits_settle(hits);
	pthread_mutex_unlock(&hits->lock);
}

void hits_note_too_hard(struct hits *hits, char *path)
{
	char *old = path;

	pthread_mutex_lock(&hits->lock);
	if (!hits->too_hard || strcmp(path, hits->too_hard) < 0) {
		old = hits->too_hard;
		hits->too_hard = path;
	}
	pthread_mutex_unlock(&hits->lock);
	free(old);
}

bool hits_is_past(struct hits *hits, const char *path)
{
	bool past;

	if (!atomic_load_explicit(&hits->has_horizon, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&hits->lock);
	past = strcmp(path, hits->horizon) > 0;
	pthread_mutex_unlock(&hits->lock);
	return past;
}

/* Cuts the lines of a file after `max` matches and `max_bytes` bytes. Returns false when there
 * is nothing left of it. */
static bool file_match_cut(struct file_match *file, size_t max, size_t max_bytes, size_t after)
{
	size_t matches = 0, bytes = 0, keep = 0;

	for (; keep < file->line_count; keep++) {
		const struct search_line *line = &file->lines[keep];

		bytes += sizeof(*line) + line->text.len;
		if (bytes > max_bytes || (line->starts_match && matches == max))
			break;
		matches += line->starts_match;
	}
	if (keep < file->line_count) {
		size_t last;

		file->more = true;
		file->line_count = keep;
		/* Drops the context at the end that belongs to a match that was cut off. */
		last = 0;
		for (size_t i = 0; i < file->line_count; i++)
			if (file->lines[i].match)
				last = file->lines[i].number;
		while (file->line_count > 0 &&
		       file->lines[file->line_count - 1].number > last + after)
			file->line_count--;
	}
	return matches > 0;
}

/* Matches that begin in what is left of a file. */
static size_t shown_matches(const struct file_match *file)
{
	size_t count = 0;

	for (size_t i = 0; i < file->line_count; i++)
		count += file->lines[i].starts_match;
	return count;
}

static void cut_lines(struct hits *hits, struct search_result *ret)
{
	size_t left = hits->request->max_matches, bytes = hits->request->max_bytes, keep = 0;

	for (; keep < hits->count; keep++) {
		struct file_match *file = &hits->files[keep];
		size_t used;

		if (left == 0 ||
		    !file_match_cut(file, left, keep == 0 ? bytes + FIRST_LINE_BYTES : bytes,
		                    hits->request->after))
			break;
		used = file_match_bytes(file);
		bytes = bytes > used ? bytes - used : 0;
		left -= shown_matches(file) < left ? shown_matches(file) : left;
		ret->matches += shown_matches(file);
		ret->more |= file->more;
		if (bytes == 0)
			left = 0;
	}
	ret->more |= keep < hits->count;
	while (hits->count > keep)
		file_match_release(&hits->files[--hits->count]);
}

static void cut_files(struct hits *hits, struct search_result *ret)
{
	while (hits->count > hits->request->max_matches) {
		file_match_release(&hits->files[--hits->count]);
		ret->more = true;
	}
	for (size_t i = 0; i < hits->count; i++)
		ret->matches += hits->files[i].matches;
}

void hits_finish(struct hits *hits, struct search_result *ret)
{
	sort(hits);
	ret->more |= hits->more;
	if (hits->request->output == SEARCH_LINES)
		cut_lines(hits, ret);
	else
		cut_files(hits, ret);
	ret->too_hard_path = mem_steal(&hits->too_hard);
	ret->files = hits->files;
	ret->count = hits->count;
	hits->files = NULL;
	hits->count = hits->cap = 0;
}
