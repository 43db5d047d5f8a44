/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/private.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/unseen.h"

/* Bounds of the work: wanted lines that are looked for, places of one of them, lines of the
 * base that are compared letter by letter, and bytes of each. */
enum { WANTED_MAX = 64, PLACES_MAX = 64, LIKENESS_LINES = 200000, LIKENESS_BYTES = 400 };

/* Lines less alike than this have nothing to do with each other. */
enum { LIKENESS_MIN = 55 };

/* Bytes of a line in a message, and of those before the difference. */
enum { SHOWN_MAX = 160, SHOWN_BEFORE = 60 };

bool nearest_is_distinctive(struct span line)
{
	size_t letters = 0;

	for (size_t i = 0; i < line.len; i++)
		letters += isalnum((unsigned char)line.data[i]) || (line.data[i] & 0x80);
	return letters >= 4;
}

/* ---- likeness ---- */

static unsigned pair_at(struct span line, size_t i)
{
	return ((unsigned char)line.data[i] * 31u + (unsigned char)line.data[i + 1]) % 1024;
}

/* Dice's coefficient over pairs of neighbouring bytes. */
unsigned nearest_likeness(struct span a, struct span b)
{
	unsigned short counts[1024] = { 0 };
	size_t common = 0;

	a = span_head(span_trim(a), LIKENESS_BYTES);
	b = span_head(span_trim(b), LIKENESS_BYTES);
	if (span_eq(a, b))
		return 100;
	if (a.len < 2 || b.len < 2)
		return 0;
	for (size_t i = 0; i + 1 < a.len; i++)
		counts[pair_at(a, i)]++;
	for (size_t i = 0; i + 1 < b.len; i++)
		if (counts[pair_at(b, i)]) {
			counts[pair_at(b, i)]--;
			common++;
		}
	return (unsigned)(common * 200 / (a.len + b.len - 2)) * 99 / 100;
}

/* ---- places ---- */

struct folded {
	struct buf text;
	struct span *lines;
	uint64_t *hashes;
	size_t count;
};

static uint64_t hash_line(struct span line)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < line.len; i++)
		hash = (hash ^ (unsigned char)line.data[i]) * 0x100000001b3u;
	return hash;
}

static void fold_all(const struct lines *lines, struct folded *ret)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_FILE_BYTES);

	*ret = (struct folded){ .text = BUF_INIT(LIMIT_FILE_BYTES), .count = lines->count,
	                        .lines = mem_alloc(lines->count + 1, sizeof(*ret->lines)),
	                        .hashes = mem_alloc(lines->count + 1, sizeof(*ret->hashes)) };
	/* Folding never lengthens a line, so the buffer never moves. */
	buf_reserve(&ret->text, lines->text.len + 1);
	for (size_t i = 0; i < lines->count; i++) {
		struct span line = fold_line(FOLD_LOOKALIKE_DROP, line_body(lines_at(lines, i)),
		                             &scratch);
		size_t start = ret->text.len;

		buf_span(&ret->text, line);
		ret->lines[i] = buf_from(&ret->text, start);
		ret->hashes[i] = hash_line(ret->lines[i]);
	}
}

static void folded_release(struct folded *folded)
{
	buf_release(&folded->text);
	free(folded->lines);
	free(folded->hashes);
}
#define _cleanup_folded_ __attribute__((cleanup(folded_release)))

static bool same_folded(const struct folded *a, size_t i, const struct folded *b, size_t k)
{
	return a->hashes[i] == b->hashes[k] && span_eq(a->lines[i], b->lines[k]);
}

/* Counts what is the same when the first wanted line is at `at`. */
static void nearest_count_equal(const struct lines *base, const struct lines *wanted,
                                const struct folded *base_folded,
                                const struct folded *wanted_folded, size_t at, struct nearest *ret)
{
	*ret = (struct nearest){ .line = at, .differs = wanted->count };
	for (size_t i = 0; i < wanted->count; i++) {
		struct span line = line_body(lines_at(wanted, i));
		bool there = at + i < base->count;
		bool equal = there && span_eq(line, line_body(lines_at(base, at + i)));

		if (!equal && ret->differs == wanted->count &&
		    (span_trim(line).len || !there || base_folded->lines[at + i].len))
			ret->differs = i;
		if (!span_trim(line).len)
			continue;
		ret->equal += equal;
		ret->similar += there && same_folded(wanted_folded, i, base_folded, at + i);
	}
}

static bool is_better(const struct nearest *a, const struct nearest *b)
{
	return a->similar != b->similar ? a->similar > b->similar : a->equal > b->equal;
}

/* Each line that is distinctive, or not blank, votes for the places where it would be in line. */
static bool nearest_find_by_lines(const struct lines *base, const struct lines *wanted,
                                  const struct folded *base_folded,
                                  const struct folded *wanted_folded, bool distinctive,
                                  struct nearest *ret)
{
	size_t used = 0, tries = 0;
	bool found = false;

	for (size_t i = 0; i < wanted->count && used < WANTED_MAX && tries < 256; i++) {
		size_t places = 0;

		if (distinctive ? !nearest_is_distinctive(wanted_folded->lines[i]) :
		              !wanted_folded->lines[i].len)
			continue;
		used++;
		for (size_t k = i; k < base->count && places < PLACES_MAX; k++) {
			struct nearest place;

			if (!same_folded(wanted_folded, i, base_folded, k))
				continue;
			places++;
			tries++;
			if (found && ret->line == k - i)
				continue;
			nearest_count_equal(base, wanted, base_folded, wanted_folded, k - i,
			                    &place);
			if (!found || is_better(&place, ret))
				*ret = place;
			found = true;
		}
	}
	return found;
}

static bool find_by_likeness(const struct lines *base, const struct lines *wanted,
                             const struct folded *base_folded,
                             const struct folded *wanted_folded, struct nearest *ret)
{
	unsigned best = LIKENESS_MIN - 1;
	size_t first = 0, at = 0;

	while (first < wanted->count && !nearest_is_distinctive(wanted_folded->lines[first]))
		first++;
	if (first == wanted->count)
		return false;
	for (size_t k = first; k < base->count && k < LIKENESS_LINES; k++) {
		unsigned likeness = nearest_likeness(base_folded->lines[k],
		                                     wanted_folded->lines[first]);

		if (likeness > best) {
			best = likeness;
			at = k - first;
		}
	}
	if (best < LIKENESS_MIN)
		return false;
	nearest_count_equal(base, wanted, base_folded, wanted_folded, at, ret);
	return true;
}

bool nearest_find(const struct lines *base, const struct lines *wanted, struct nearest *ret)
{
	_cleanup_folded_ struct folded base_folded = { 0 }, wanted_folded = { 0 };

	fold_all(base, &base_folded);
	fold_all(wanted, &wanted_folded);
	return nearest_find_by_lines(base, wanted, &base_folded, &wanted_folded, true, ret) ||
	       find_by_likeness(base, wanted, &base_folded, &wanted_folded, ret) ||
	       nearest_find_by_lines(base, wanted, &base_folded, &wanted_folded, false, ret);
}

/* ---- for messages ---- */

static size_t nearest_common_head(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	return n;
}

/* How the characters of a line are shown. */
enum show_how {
	SHOW_PLAINLY,
	SHOW_CLOSELY, /* tabs, unusual spaces and look-alikes as escapes */
	SHOW_SPELLED, /* and everything that is not ASCII */
};

static void show_one(struct span line, size_t from, enum show_how how, struct buf *out)
{
	_cleanup_buf_ struct buf seen = BUF_INIT(LIMIT_FILE_BYTES);
	struct span rest = utf8_head(span_skip(line, from), SHOWN_MAX);
	bool cut = from + rest.len < line.len;
	struct utf8_char c;

	unseen_show(&seen, rest);
	rest = buf_view(&seen);
	if (from)
		buf_str(out, "...");
	while (utf8_next(&rest, &c)) {
		if (c.bad)
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (c.code == '\t' && how != SHOW_PLAINLY)
			buf_str(out, "\\t");
		else if (c.code == '\r')
			buf_str(out, "\\r");
		else if ((c.code < ' ' && c.code != '\t') || c.code == 0x7F)
			buf_printf(out, "\\x%02x", c.code);
		else if (c.bytes.len > 1 && (how == SHOW_SPELLED ||
		                             (how == SHOW_CLOSELY && fold_lookalike(c.code))))
			buf_printf(out, "\\u{%x}", c.code);
		else
			buf_span(out, c.bytes);
	}
	if (cut)
		buf_str(out, "...");
}

/* Whether the line has letters and combining marks, which together may look like one character. */
static bool has_combining_marks(struct span line)
{
	struct utf8_char c;

	while (utf8_next(&line, &c))
		if ((c.code >= 0x300 && c.code <= 0x36F) || c.code == 0x3099 || c.code == 0x309A ||
		    (c.code >= 0x1160 && c.code <= 0x11FF))
			return true;
	return false;
}

static bool differ_in_marks(struct span one, struct span other)
{
	return has_combining_marks(one) != has_combining_marks(other);
}

/* Appends both lines for a message, cut to a readable length from about where they differ.  Control
 * characters are escapes; so are tabs, unusual spaces and look-alikes if nothing else differs, and
 * all but ASCII if one has accents as characters of their own, and the other has not. */
static void nearest_show_lines(struct span one, struct span other, struct buf *ret_one,
                               struct buf *ret_other)
{
	_cleanup_buf_ struct buf first = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf second = BUF_INIT(LIMIT_FILE_BYTES);
	size_t from = nearest_common_head(one, other);
	bool alike = span_eq(fold_line(FOLD_LOOKALIKE_DROP, one, &first),
	                     fold_line(FOLD_LOOKALIKE_DROP, other, &second));
	enum show_how how = differ_in_marks(one, other) ? SHOW_SPELLED :
	                    alike ? SHOW_CLOSELY : SHOW_PLAINLY;

	from = from > SHOWN_BEFORE && (one.len > SHOWN_MAX || other.len > SHOWN_MAX) ?
	               from - SHOWN_BEFORE : 0;
	while (from && (one.data[from] & 0xC0) == 0x80)
		from--;
	show_one(one, from, how, ret_one);
	show_one(other, from, how, ret_other);
}

void nearest_say_difference(size_t line, struct span body, struct span given, const char *who,
                            struct patch_failure *failure, struct buf *out)
{
	_cleanup_buf_ struct buf file = BUF_INIT(4096), other = BUF_INIT(4096);

	failure->expected = mem_dup(given.data, given.len);
	failure->found = mem_dup(body.data, body.len);
	failure->found_line = line;
	nearest_show_lines(body, given, &file, &other);
	buf_printf(out, " First difference: line %zu of the file is `%.*s`, %s has `%.*s`.", line,
	           (int)file.len, file.data ? file.data : "", who, (int)other.len,
	           other.data ? other.data : "");
	if (differ_in_marks(body, given))
		buf_printf(out, " They may look alike: only %s has accents as combining marks "
		           "(NFD).", has_combining_marks(body) ? "the file" : who);
}
