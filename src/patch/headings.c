/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Texts that begin a line, of which the longest are looked at; lines walked over in all. */
enum { CHAIN_MAX = 64, WALK_MAX = 8 << 20 };

/* A tab in an indentation goes on to the next of these columns. */
enum { TAB_COLUMNS = 8 };

/* What a text names. */
struct heading {
	struct span text;  /* folded; owned by headings.folded */
	size_t *lines;     /* owned; 0-based lines of the base, ascending */
	size_t count, cap;
	bool in_words;     /* `lines` are those that go on in the middle of a word */
	bool opens;        /* one of them has deeper lines below it */
};

struct headings {
	const struct lines *base;
	struct heading *texts; /* owned; sorted by text */
	size_t count, cap;
	struct buf folded;
	size_t walked;
};

static bool is_heading_byte(char c)
{
	return ascii_is_alnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_name_first(struct span text)
{
	return text.len && is_heading_byte(text.data[0]) && !ascii_is_digit(text.data[0]);
}

static bool has_heading_byte(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (is_heading_byte(text.data[i]))
			return true;
	return false;
}

/* ---- looking up ---- */

/* A text in one folding, listed with the others. */
struct key_text {
	struct span text;
	size_t index;  /* in headings.texts */
	size_t parent; /* the longest other one that it begins with; SIZE_MAX: none */
};

static int compare_heading_texts(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.data, b.data, n) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_keys(const void *a, const void *b)
{
	const struct key_text *one = a, *other = b;

	return compare_heading_texts(one->text, other->text);
}

static int compare_headings(const void *a, const void *b)
{
	const struct heading *one = a, *other = b;

	return compare_heading_texts(one->text, other->text);
}

static void note_line(struct heading *heading, size_t line, bool in_word)
{
	/* Lines that end the text with a word are better than all that do not. */
	if (in_word && heading->count && !heading->in_words)
		return;
	if (!in_word && heading->in_words)
		heading->count = 0;
	heading->in_words = in_word;
	heading->lines = mem_grow(heading->lines, &heading->cap, heading->count + 1,
	                          sizeof(*heading->lines));
	heading->lines[heading->count++] = line;
}

/* The last key that is not after the text. */
static size_t last_not_after(const struct key_text *keys, size_t count, struct span text)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_heading_texts(keys[middle].text, text) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low ? low - 1 : SIZE_MAX;
}

/* Looks up the texts that have no line yet, in one folding. */
static void look_up(struct headings *h, enum fold fold)
{
	struct key_text *keys = mem_alloc(h->count + 1, sizeof(*keys));
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf texts = BUF_INIT(LIMIT_DIFF_BYTES);
	size_t count = 0;

	/* Folding what is folded never lengthens it: the spans into `texts` stay valid. */
	buf_reserve(&texts, h->folded.len + 1);
	for (size_t i = 0; i < h->count; i++) {
		size_t start = texts.len;

		if (h->texts[i].count)
			continue;
		buf_span(&texts, fold_line(fold, h->texts[i].text, &scratch));
		keys[count++] = (struct key_text){ buf_from(&texts, start), i, SIZE_MAX };
	}
	if (count)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++) {
		size_t parent = i - 1;

		while (parent != SIZE_MAX && !span_starts(keys[i].text, keys[parent].text))
			parent = keys[parent].parent;
		keys[i].parent = parent;
	}
	for (size_t line = 0; line < h->base->count && count; line++) {
		/* Notes the line with every text that it begins with. */
		struct span body = fold_line(fold, line_body(lines_at(h->base, line)), &scratch);
		size_t at = last_not_after(keys, count, body), looked = 0;

		for (; at != SIZE_MAX && looked < CHAIN_MAX; at = keys[at].parent, looked++) {
			struct span text = keys[at].text;
			bool in_word = body.len > text.len &&
			               is_heading_byte(body.data[text.len]) &&
			               is_heading_byte(text.data[text.len - 1]);

			if (span_starts(body, text))
				note_line(&h->texts[keys[at].index], line, in_word);
		}
	}
	free(keys);
}

static void add_text(struct headings *h, struct span text)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_DIFF_BYTES);
	struct span folded = fold_line(FOLD_LOOKALIKE_COLLAPSE, text, &scratch);
	size_t start = h->folded.len;

	if (!folded.len)
		return;
	buf_span(&h->folded, folded);
	h->texts = mem_grow(h->texts, &h->cap, h->count + 1, sizeof(*h->texts));
	/* The buffer still moves: the offset stands in for the pointer until the end. */
	h->texts[h->count++] = (struct heading){
		.text = { (const char *)(uintptr_t)start, folded.len }
	};
}

static void sort_texts(struct headings *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		h->texts[i].text.data = h->folded.data + (uintptr_t)h->texts[i].text.data;
	if (h->count)
		qsort(h->texts, h->count, sizeof(*h->texts), compare_headings);
	for (size_t i = 0; i < h->count; i++)
		if (!kept || !span_eq(h->texts[kept - 1].text, h->texts[i].text))
			h->texts[kept++] = h->texts[i];
	h->count = kept;
}

static const struct heading *heading_of(const struct headings *h, struct span text)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_DIFF_BYTES);
	struct heading wanted = { .text = fold_line(FOLD_LOOKALIKE_COLLAPSE, text, &scratch) };

	return h->count ? bsearch(&wanted, h->texts, h->count, sizeof(*h->texts),
	                          compare_headings) : NULL;
}

static int compare_line_numbers(const void *a, const void *b)
{
	const size_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static bool names_line(const struct heading *heading, size_t line)
{
	return heading->count && bsearch(&line, heading->lines, heading->count,
	                                 sizeof(*heading->lines), compare_line_numbers);
}

/* ---- blocks ---- */

/* What is seen of a line on the way up. */
struct heading_seen {
	struct span text; /* without indentation; empty: blank */
	size_t depth;     /* in columns */
};

static struct heading_seen see_depth(const struct lines *base, size_t line)
{
	struct span body = line_body(lines_at(base, line));
	size_t i = 0, depth = 0;

	for (; i < body.len && (body.data[i] == ' ' || body.data[i] == '\t'); i++)
		depth += body.data[i] == '\t' ? TAB_COLUMNS - depth % TAB_COLUMNS : 1;
	return (struct heading_seen){ span_trim(span_skip(body, i)), depth };
}

static struct heading_seen see_below(const struct lines *base, size_t line)
{
	struct heading_seen seen = { 0 };

	while (line < base->count && !seen.text.len)
		seen = see_depth(base, line++);
	return seen;
}

static bool seen_opens(const struct heading_seen *seen, const struct heading_seen *below)
{
	return below->text.len && (below->depth > seen->depth ||
	       (below->text.data[0] == '{' && seen->text.data[0] != '{'));
}

/* What begins lines that head no block, whatever stands below them: what closes one or goes on
 * after its end, comments, directives of a preprocessor. */
static const struct span no_heading[] = {
	{ "}", 1 }, { ")", 1 }, { "]", 1 }, { "</", 2 }, { "else", 4 }, { "elif", 4 },
	{ "elsif", 5 }, { "except", 6 }, { "finally", 7 }, { "rescue", 6 }, { "ensure", 6 },
	{ "//", 2 }, { "/*", 2 }, { "*", 1 }, { "--", 2 }, { "#", 1 }, { ";", 1 }, { "%", 1 },
};

/* "out:", a place to jump to. */
static bool is_label(struct span text)
{
	if (text.len < 2 || text.data[text.len - 1] != ':')
		return false;
	for (size_t i = 0; i + 1 < text.len; i++)
		if (!is_heading_byte(text.data[i]))
			return false;
	return true;
}

/* Whether the heading's own lines end their first word with a colon: keys, targets, Python's. */
static bool has_colon(struct span heading)
{
	size_t i = 0;

	while (i < heading.len && heading.data[i] != ' ' && heading.data[i] != ':')
		i++;
	return (i < heading.len && heading.data[i] == ':') || heading.data[heading.len - 1] == ':';
}

static bool may_head(struct span text, struct span heading)
{
	if (!has_heading_byte(text))
		return false;
	if (span_ends(text, SPAN("{")))
		return text.data[0] != '}';
	for (size_t i = 0; i < ARRAY_LEN(no_heading); i++)
		if (span_starts(text, no_heading[i]) &&
		    (!is_heading_byte(text.data[0]) || text.len == no_heading[i].len ||
		     !is_heading_byte(text.data[no_heading[i].len])))
			return false;
	return has_colon(heading) || !is_label(text);
}

/* How many times the first sign is repeated before a blank: the rank of a title ("## x"). */
static size_t title_rank(struct span text)
{
	size_t n = 1;

	if (!text.len || is_heading_byte(text.data[0]) || !strchr("#=*", text.data[0]))
		return 0;
	while (n < text.len && text.data[n] == text.data[0])
		n++;
	return n < text.len && text.data[n] == ' ' ? n : 0;
}

/* The sign and the word that a line begins with: "<section", "def", "\section"; "[" alone. */
static struct span kind_word(struct span text)
{
	size_t n = 0;

	if (text.len && text.data[0] == '[')
		return span_head(text, 1);
	while (n < text.len && !is_heading_byte(text.data[n]) && text.data[n] != ' ')
		n++;
	while (n < text.len && is_heading_byte(text.data[n]))
		n++;
	return span_head(text, n);
}

static bool is_of_its_kind(struct span text, struct span heading)
{
	size_t rank = title_rank(heading);

	if (rank)
		return title_rank(text) && title_rank(text) <= rank &&
		       text.data[0] == heading.data[0];
	return span_eq(kind_word(text), kind_word(heading));
}

/* "BROKEN = {", "x := map[..]..{": the block is a value, which no language counts as a function. */
static bool is_value(struct span text)
{
	const char *sign = text.len ? memchr(text.data, '=', text.len) : NULL;
	size_t before = sign ? (size_t)(sign - text.data) : 0;

	return sign && !memchr(text.data, '(', before) && before &&
	       (size_t)(sign - text.data) + 1 < text.len && sign[1] != '=' && sign[1] != '>';
}

/* "for item in items:": a block, but no function either. */
static bool is_statement(struct span text)
{
	static const struct span words[] = {
		{ "if", 2 }, { "for", 3 }, { "while", 5 }, { "with", 4 }, { "try", 3 }, { "do", 2 },
		{ "switch", 6 }, { "match", 5 }, { "foreach", 7 }, { "until", 5 }, { "unless", 6 },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (span_eq(kind_word(text), words[i]))
			return true;
	return false;
}

/* What a walk from a line upwards has met. */
struct heading_walk {
	size_t parted;   /* least depth of a line that parts it from what is above */
	size_t by_value; /* the same of lines that begin a value or a statement */
	size_t least;    /* the same of any line, but of a lone brace */
	bool by_git;     /* the heading is one that git names, and it named no line since */
};

static void walk_past(struct heading_walk *walk, const struct heading *heading,
                      const struct heading_seen *seen, const struct heading_seen *below)
{
	bool opens = seen_opens(seen, below);
	size_t *least = &walk->parted;

	if (!span_eq(seen->text, SPAN("{")) && seen->depth < walk->least)
		walk->least = seen->depth;
	walk->by_git &= seen->depth || !is_name_first(seen->text);
	if (!is_of_its_kind(seen->text, heading->text)) {
		if (opens && (is_value(seen->text) || is_statement(seen->text)))
			least = &walk->by_value;
		else if (!opens || !may_head(seen->text, heading->text))
			return;
	}
	*least = seen->depth < *least ? seen->depth : *least;
}

size_t headings_above(struct headings *h, struct span text, size_t at, enum heading_hold *ret)
{
	const struct heading *heading = heading_of(h, text);
	struct heading_seen below = see_below(h->base, at);
	struct heading_walk walk = { SIZE_MAX, SIZE_MAX, SIZE_MAX, false };

	*ret = HEADING_ELSEWHERE;
	if (!heading || !heading->count || !has_heading_byte(heading->text))
		return SIZE_MAX;
	walk.by_git = is_name_first(heading->text);
	for (size_t line = at; line-- > 0 && (walk.parted || walk.by_git);) {
		struct heading_seen seen = see_depth(h->base, line);
		bool by_git = walk.by_git && !seen.depth;

		if (h->walked++ > WALK_MAX)
			break;
		if (!seen.text.len)
			continue;
		if (names_line(heading, line) && (seen.depth < walk.parted || by_git)) {
			*ret = walk.least > seen.depth ? HEADING_INSIDE :
			       seen.depth >= walk.by_value && !by_git ? HEADING_BEYOND :
			                                                HEADING_ABOVE;
			return line;
		}
		walk_past(&walk, heading, &seen, &below);
		below = seen;
	}
	return SIZE_MAX;
}

/* Whether a hunk at line `at`, under a heading of this depth, begins after its block: with a line
 * at no greater depth, which does not close it. */
static bool opens_after(const struct lines *base, const struct candidates *hunk, size_t at,
                        size_t depth)
{
	for (size_t i = at; i < at + hunk->old_count && i < base->count; i++) {
		struct heading_seen seen = see_depth(base, i);

		if (seen.text.len)
			return seen.depth <= depth && has_heading_byte(seen.text) &&
			       !span_starts(seen.text, SPAN("</")) &&
			       !span_starts(seen.text, SPAN("end"));
	}
	return false;
}

enum heading_hold headings_hold(struct headings *h, struct span text,
                                const struct candidates *hunk, size_t at)
{
	const struct heading *heading = heading_of(h, text);
	enum heading_hold hold;
	size_t line;

	if (!heading || !heading->count)
		return HEADING_ELSEWHERE;
	for (size_t i = at; i < at + hunk->lead && i < h->base->count; i++)
		if (names_line(heading, i))
			return HEADING_INSIDE;
	line = headings_above(h, text, at, &hold);
	return hold == HEADING_INSIDE &&
	       opens_after(h->base, hunk, at, see_depth(h->base, line).depth) ? HEADING_ABOVE :
	                                                                         hold;
}

size_t headings_find(const struct headings *h, struct span text, size_t from)
{
	const struct heading *heading = heading_of(h, text);
	size_t low = 0, high = heading ? heading->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (heading->lines[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return heading && low < heading->count ? heading->lines[low] : SIZE_MAX;
}

bool headings_opens(const struct headings *h, struct span text)
{
	const struct heading *heading = heading_of(h, text);

	return heading && heading->opens;
}

/* "[x]": a title, whose section is not deeper than itself. */
static bool is_section(struct span text)
{
	return text.len > 2 && text.data[0] == '[' && text.data[text.len - 1] == ']' &&
	       !memchr(text.data, '(', text.len);
}

static void note_opening(struct headings *h)
{
	for (size_t i = 0; i < h->count; i++) {
		struct heading *heading = &h->texts[i];

		for (size_t k = 0; k < heading->count && k < CHAIN_MAX && !heading->opens; k++) {
			struct heading_seen seen = see_depth(h->base, heading->lines[k]);
			struct heading_seen below = see_below(h->base, heading->lines[k] + 1);

			heading->opens = has_heading_byte(heading->text) &&
			                 (is_section(seen.text) || seen_opens(&seen, &below));
		}
	}
}

struct headings *headings_make(const struct lines *base, const struct diff_text *diff)
{
	struct headings *h = mem_alloc(1, sizeof(*h));

	*h = (struct headings){ .base = base, .folded = BUF_INIT(LIMIT_DIFF_BYTES * 2) };
	for (size_t i = 0; i < diff->hunk_count; i++) {
		add_text(h, diff->hunks[i].heading);
		add_text(h, diff->hunks[i].within);
	}
	for (size_t i = 0; i < diff->anchor_count; i++)
		add_text(h, diff->anchors[i].heading);
	sort_texts(h);
	look_up(h, FOLD_LOOKALIKE_COLLAPSE);
	look_up(h, FOLD_LOOKALIKE_DROP);
	note_opening(h);
	return h;
}

void headings_free(struct headings *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->count; i++)
		free(h->texts[i].lines);
	free(h->texts);
	buf_release(&h->folded);
	free(h);
}
