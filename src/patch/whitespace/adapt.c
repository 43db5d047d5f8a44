/* SPDX-License-Identifier: Apache-2.0 */
/* Added lines as they were before what happened to the diff's text on its way. */
#include "patch/whitespace/whitespace.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "patch/nearest.h"
#include "patch/whitespace/indent.h"

/* ---- the file's bytes in place of a damaged copy ---------------------------------- */

/* Carrying the file's own bytes from a replaced line to the line that replaces it.
 *
 * A model shows a line as removed and changes a part of it.  Where its copy of the
 * removed line is damaged (a typographic quote, lost double spaces) the unchanged
 * parts of the added line are damaged in the same way; they are taken from the file.
 */

/* How many folded characters (white space dropped, look-alikes as ASCII) `text` has. */
static size_t folded_length(struct span text, struct buf *scratch)
{
	return fold_line(FOLD_LOOKALIKE_DROP, text, scratch).len;
}

/* One character of `text` at `at`: its bytes, and how many folded characters it makes. */
static size_t folded_step(struct span text, size_t at, size_t *ret_folded)
{
	struct span rest = span_skip(text, at);
	const char *ascii;
	struct utf8_char c = utf8_first(rest);
	size_t len = c.bytes.len;

	ascii = len > 1 ? fold_lookalike(c.code) : NULL;
	if (ascii) {
		*ret_folded = 0;
		for (; *ascii; ascii++)
			*ret_folded += !fold_is_space(*ascii);
	} else {
		*ret_folded = len == 1 && fold_is_space(rest.data[0]) ? 0 : len;
	}
	return len;
}

/* The offset in `text` after `count` folded characters; with the invisible ones that follow
 * if `greedy`. False when a character would be split. */
static bool offset_after(struct span text, size_t count, bool greedy, size_t *ret)
{
	size_t at = 0, seen = 0;

	while (at < text.len) {
		size_t folded, len = folded_step(text, at, &folded);

		if (seen == count && (folded || !greedy))
			break;
		if (seen + folded > count)
			return false;
		seen += folded;
		at += len;
	}
	*ret = at;
	return seen == count;
}

static bool byte_continues(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t lines_common_head(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	while (n && ((n < a.len && byte_continues(a.data[n])) ||
	             (n < b.len && byte_continues(b.data[n]))))
		n--;
	return n;
}

static size_t lines_common_tail(struct span a, struct span b, size_t max)
{
	size_t n = 0;

	while (n < max && a.data[a.len - 1 - n] == b.data[b.len - 1 - n])
		n++;
	while (n && byte_continues(a.data[a.len - n]))
		n--;
	return n;
}

static bool is_space_at(struct span text, size_t at)
{
	return at < text.len && fold_is_space(text.data[at]);
}

/* What two lines share at both ends. A run of white space of which they share only a
 * part is not shared. */
static void find_shared(struct span one, struct span other, size_t *ret_head, size_t *ret_tail)
{
	size_t shorter = one.len < other.len ? one.len : other.len;
	size_t head = lines_common_head(one, other), tail;

	if (is_space_at(one, head) || is_space_at(other, head))
		while (head && fold_is_space(one.data[head - 1]))
			head--;
	tail = lines_common_tail(one, other, shorter - head);
	if ((tail < one.len && fold_is_space(one.data[one.len - tail - 1])) ||
	    (tail < other.len && fold_is_space(other.data[other.len - tail - 1])))
		while (tail && fold_is_space(one.data[one.len - tail]))
			tail--;
	*ret_head = head;
	*ret_tail = tail;
}

static bool span_ends_in_space(struct span text)
{
	return text.len && fold_is_space(text.data[text.len - 1]);
}

/* How many bytes at both ends two lines share. */
static size_t transfer_share(struct span one, struct span other)
{
	size_t head, tail;

	find_shared(one, other, &head, &tail);
	return head + tail;
}

/* The part of `added` that it does not share with `removed`. */
static struct span transfer_middle(struct span removed, struct span added)
{
	size_t head, tail;

	find_shared(removed, added, &head, &tail);
	return span_of(added.data + head, added.len - head - tail);
}

/* Appends `added` with the beginning and the end that it shares with `removed` taken
 * from `file`; `removed` and `file` are equal when folded.  False (nothing appended)
 * when the two share less than half.  The rest of `added` is appended by `middle`. */
static bool transfer_line(struct span removed, struct span file, struct span added, struct buf *out,
                          void (*middle)(void *context, struct span text, struct buf *out),
                          void *context)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_FILE_BYTES);
	size_t head, tail, total, file_head, file_tail;
	struct span tail_text;

	find_shared(removed, added, &head, &tail);
	if (2 * (head + tail) < added.len)
		return false;
	tail_text = span_skip(removed, removed.len - tail);
	total = folded_length(file, &scratch);
	if (!offset_after(file, folded_length(span_head(removed, head), &scratch),
	                  span_ends_in_space(span_head(removed, head)), &file_head) ||
	    !offset_after(file, total - folded_length(tail_text, &scratch),
	                  !(tail && fold_is_space(tail_text.data[0])), &file_tail))
		return false;
	if (file_tail < file_head)
		file_tail = file_head;
	buf_span(out, span_head(file, file_head));
	middle(context, span_of(added.data + head, added.len - head - tail), out);
	buf_span(out, span_skip(file, file_tail));
	return true;
}

/* ---- added lines ------------------------------------------------------------------ */

/* Classes of look-alikes, as bits: what kinds the diff was seen to have changed. */
enum {
	CLASS_SINGLE = 1, /* quotes; a damage has both or neither */
	CLASS_DOUBLE = 2,
	CLASS_QUOTE = CLASS_SINGLE | CLASS_DOUBLE,
	CLASS_DASH = 4,
	CLASS_SPACE = 8,
	CLASS_DOTS = 16,
	CLASS_INVISIBLE = 32,
	CLASS_APOSTROPHE = 64, /* a single quotation mark within a word, which is none */
};

/* Different look-alikes remembered; typographic damage uses a handful. */
enum { SEEN_MAX = 16 };

struct adapter {
	const struct diff_text *diff;
	const struct placement *places;
	const struct pairing *pairing;
	struct evidence evidence;    /* what the old lines of the whole diff say of indentation */
	struct uniform *uniform;   /* owned; what those of each hunk do */
	const struct lines *base;
	unsigned lookalikes;       /* classes that the diff has and the file has as ASCII */
	uint32_t seen[SEEN_MAX];   /* the very characters of the diff that did so */
	size_t seen_count;
	unsigned carried;          /* classes with such a character in an added line, too, where it
	                            * has the words of the removed line that it takes the place
	                            * of */
	unsigned old_plain;        /* classes that old lines did not lose throughout */
	unsigned spared;           /* classes that they did, and added lines did not */
	bool lost_apostrophes;     /* old lines lost those within words, too */
	bool kept_spaces;          /* see keeps_inner_space */
	bool whole_blocks;         /* see writes_whole_blocks */
	struct buf scratch;
};

/* ---- look-alikes ---- */

static unsigned class_of(const char *ascii)
{
	switch (*ascii) {
	case '"':
		return CLASS_DOUBLE;
	case '\'':
		return CLASS_SINGLE;
	case '-':
		return CLASS_DASH;
	case ' ':
		return CLASS_SPACE;
	case '.':
		return CLASS_DOTS;
	default:
		return CLASS_INVISIBLE;
	}
}

/* Takes the next character of a text; *ret_ascii is what it looks like, NULL for none. */
static struct span next_character(struct span *text, uint32_t *ret_code, const char **ret_ascii)
{
	struct utf8_char c = utf8_first(*text);

	*ret_code = c.code;
	*ret_ascii = c.bytes.len > 1 ? fold_lookalike(c.code) : NULL;
	*text = span_skip(*text, c.bytes.len);
	return c.bytes;
}

static bool text_contains(struct span text, struct span part)
{
	return text.len && memmem(text.data, text.len, part.data, part.len) != NULL;
}

static bool has_seen(const struct adapter *a, uint32_t code)
{
	for (size_t i = 0; i < a->seen_count; i++)
		if (a->seen[i] == code)
			return true;
	return false;
}

/* Whether the character stands between two letters or digits. */
static bool is_within_word(struct span text, struct span character)
{
	size_t at = (size_t)(character.data - text.data), end = at + character.len;

	return at && end < text.len && isalnum((unsigned char)text.data[at - 1]) &&
	       isalnum((unsigned char)text.data[end]);
}

/* Remembers the look-alikes of an old line that the file's line does not have. */
static void see_line(struct adapter *a, struct span line, struct span file)
{
	struct span text = line;

	while (text.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&text, &code, &ascii);

		if (!ascii || text_contains(file, character))
			continue;
		a->lost_apostrophes |= *ascii == '\'' && is_within_word(line, character);
		a->lookalikes |= class_of(ascii);
		if (!has_seen(a, code) && a->seen_count < SEEN_MAX)
			a->seen[a->seen_count++] = code;
	}
}

/* The classes of which the text has plain characters. One space between words is enough. */
static unsigned plain_classes(struct span text)
{
	unsigned classes = 0;

	for (size_t i = 0; i < text.len; i++)
		switch (text.data[i]) {
		case '"':
			classes |= CLASS_DOUBLE;
			break;
		case '\'':
			classes |= is_within_word(text, span_of(text.data + i, 1)) ?
			                   CLASS_APOSTROPHE : CLASS_SINGLE;
			break;
		case '-':
			classes |= CLASS_DASH;
			break;
		case '.':
			if (span_starts(span_skip(text, i), SPAN("...")))
				classes |= CLASS_DOTS;
			break;
		default:
			break;
		}
	return classes;
}

static unsigned whole_quotes(unsigned classes)
{
	return classes & CLASS_QUOTE ? classes | CLASS_QUOTE : classes;
}

/* The same, where plain apostrophes say something of quotation marks: what changes these may leave
 * those within words. */
static unsigned with_apostrophes(const struct adapter *a, unsigned classes)
{
	return a->lost_apostrophes && classes & CLASS_APOSTROPHE ? classes | CLASS_SINGLE :
	                                                           classes;
}

/* Whether some hunk has the quotation marks of the file in its old lines: then hunks that do not
 * lack them say nothing of those that do. */
static bool some_keep_quotes(const struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(a->diff, a->places, h);

		while (a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE && evidence_walk_next(&walk))
			if (plain_classes(walk.line->text) & CLASS_QUOTE)
				return true;
	}
	return false;
}

/* The classes of look-alikes that an added line has from the removed line that it replaces. */
static unsigned carried_classes(const struct adapter *a, struct span removed, struct span added)
{
	unsigned classes = 0;

	while (added.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&added, &code, &ascii);

		if (ascii && has_seen(a, code) && text_contains(removed, character))
			classes |= class_of(ascii);
	}
	return classes;
}

/* Finds out whether added lines share the damage of the old ones.  Two things show it: the
 * look-alikes that an added line takes over from its removed line, or from the one that it is most
 * like; and plain characters that it has. */
static void ask_added_lines(struct adapter *a)
{
	const bool apart = some_keep_quotes(a);
	unsigned added_plain = 0;

	for (size_t h = 0; h < a->diff->hunk_count; h++) {
		const struct hunk_line *lines = &a->diff->lines[a->diff->hunks[h].first];
		const struct line_pair *pairs = &a->pairing->of[a->diff->hunks[h].first];
		const struct hunk_line *removed = NULL; /* the next to be replaced */
		const bool whole = a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE;
		const unsigned said = apart && whole ? ~(unsigned)CLASS_QUOTE : ~0u;
		size_t replaceable = 0;

		for (size_t i = 0; i < a->places[h].count; i++) {
			if (lines[i].op == '+') {
				added_plain |= plain_classes(lines[i].text) & said;
				if (pairs[i].likest)
					a->carried |= carried_classes(a, pairs[i].likest->text,
					                              lines[i].text);
				if (replaceable) {
					a->carried |= carried_classes(a, removed++->text,
					                              lines[i].text);
					replaceable--;
				}
				continue;
			}
			a->old_plain |= plain_classes(lines[i].text) & said;
			if (lines[i].op == ' ') {
				replaceable = 0;
			} else if (!replaceable || lines[i - 1].op != '-') {
				removed = &lines[i];
				replaceable = 1;
			} else {
				replaceable++;
			}
		}
	}
	a->old_plain = with_apostrophes(a, a->old_plain);
	/* Only some hyphens become dashes. */
	a->spared = whole_quotes(with_apostrophes(a, added_plain) & ~a->old_plain &
	                         ~(unsigned)CLASS_DASH);
}

/* Whether a look-alike in an added line is damage: one that damaged old lines, or the other
 * quotation mark of a pair of which one did, and which the file nowhere has.  Where it may as well
 * be meant, because the file has it elsewhere or because people write it themselves, as they do
 * ellipses, an added line has to have it in the words of its removed line. */
static bool is_damage(const struct adapter *a, uint32_t code, const char *ascii,
                      struct span character)
{
	unsigned class = class_of(ascii);
	bool may_be_meant = class == CLASS_DOTS ||
	                    (class != CLASS_SPACE && text_contains(a->base->text, character));

	if (!(class & whole_quotes(a->lookalikes) & ~a->spared) ||
	    (may_be_meant && !(class & whole_quotes(a->carried))))
		return false;
	return has_seen(a, code) ||
	       (class & CLASS_QUOTE && !text_contains(a->base->text, character));
}

/* Appends text with damaged look-alikes as ASCII, but those of the classes `kept`. */
static void put_plainly(const struct adapter *a, struct span text, unsigned kept, struct buf *out)
{
	while (text.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&text, &code, &ascii);

		if (ascii && !(class_of(ascii) & kept) && is_damage(a, code, ascii, character))
			buf_str(out, ascii);
		else
			buf_span(out, character);
	}
}

/* A line, or what follows its indentation.  What damaged every quote or ellipsis in the old lines
 * did not touch a line that has a plain one. */
static void adapter_put_text(const struct adapter *a, struct span text, struct buf *out)
{
	unsigned plain = with_apostrophes(a, plain_classes(text));

	put_plainly(a, text, whole_quotes(plain & ~(a->old_plain & CLASS_QUOTE)), out);
}

/* The part of a line that its removed line does not have; the rest shows that it is damaged. */
static void put_middle(void *context, struct span text, struct buf *out)
{
	put_plainly(context, text, 0, out);
}

/* Whether the text has a look-alike and the very character that it stands for. */
static bool has_both(struct span text)
{
	struct span rest = text;

	while (rest.len) {
		const char *ascii;
		uint32_t code;

		next_character(&rest, &code, &ascii);
		if (ascii && *ascii && *ascii != ' ' && text_contains(text, span_str(ascii)))
			return true;
	}
	return false;
}

/* How many more double quotation marks a text opens than it closes. */
static long open_quotes(struct span text)
{
	struct utf8_char c;
	long open = 0;

	while (utf8_next(&text, &c))
		open += (c.code == 0x201C) - (c.code == 0x201D);
	return open;
}

/* Whether the file has typographic quotation marks where the diff has plain ones, and the added
 * line adds plain ones: carrying over would then make mixed pairs. */
static bool would_mix_quotes(struct span old, struct span file, struct span rest)
{
	struct span middle = transfer_middle(old, rest);
	bool typographic = false;

	while (file.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&file, &code, &ascii);

		typographic |= ascii && class_of(ascii) & CLASS_QUOTE &&
		               !text_contains(old, character);
	}
	return typographic && (plain_classes(middle) & CLASS_QUOTE);
}

/* ---- lines spelled as the removed ones that they stand for ---- */

/* What the file has for an old line of the diff. */
static struct span base_line_body(const struct adapter *a, const struct hunk_line *old)
{
	return line_body(lines_at(a->base, a->pairing->of[old - a->diff->lines].base_line));
}

/* Whether an added line is spelled as the removed one that it stands for. */
static bool line_repeats(const struct adapter *a, size_t index)
{
	const struct line_pair *pair = &a->pairing->of[index];

	return pair->removed && pair->change != BLOCK_IDLE &&
	       span_eq(pair->removed->text, a->diff->lines[index].text);
}

/* Whether the diff writes lines that stay as removed and added, which no program that compares
 * files does. */
static bool writes_whole_blocks(const struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++)
		for (size_t i = 0; i < a->places[h].count; i++) {
			size_t index = a->diff->hunks[h].first + i;
			const struct line_pair *pair = &a->pairing->of[index];

			if (a->diff->lines[index].op == '+' && line_repeats(a, index) &&
			    !span_is_blank(pair->removed->text) &&
			    span_eq(pair->removed->text,
			            line_body(lines_at(a->base, pair->base_line))))
				return true;
		}
	return false;
}

/* Whether the hunk differs from the file in white space alone. */
static bool is_respaced(const struct adapter *a, size_t h)
{
	return a->places[h].fold > FOLD_TRAILING && a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE;
}

/* Whether an added line has the file's white space between its words where the removed one that it
 * stands for has other: then added lines were spared what happened to old ones. */
static bool keeps_inner_space(const struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++)
		for (size_t i = 0; i < a->places[h].count && is_respaced(a, h); i++) {
			const struct hunk_line *line = &a->diff->lines[a->diff->hunks[h].first + i];
			const struct hunk_line *old =
				a->pairing->of[line - a->diff->lines].likest;
			struct span text = span_trim(line->text);

			if (line->op == '+' && old && !span_eq(text, span_trim(old->text)) &&
			    span_eq(text, span_trim(base_line_body(a, old))))
				return true;
		}
	return false;
}

/* ---- the adapter ---- */

struct adapter *adapt_make(const struct lines *base, const struct diff_text *diff,
                           const struct placement *places, const struct pairing *pairing)
{
	struct adapter *a = mem_alloc(1, sizeof(*a));

	*a = (struct adapter){ .diff = diff, .places = places, .pairing = pairing,
	                       .base = base, .scratch = BUF_INIT(LIMIT_FILE_BYTES) };
	for (size_t h = 0; h < a->diff->hunk_count; h++) {
		struct evidence_walk walk = evidence_walk_begin(a->diff, a->places, h);

		if (a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE)
			continue;
		while (evidence_walk_next(&walk))
			see_line(a, walk.line->text, line_body(lines_at(a->base, walk.base_line)));
	}
	if (a->lookalikes)
		ask_added_lines(a);
	evidence_collect(&a->evidence, base, diff, places, pairing,
	                 a->lookalikes & CLASS_SPACE);
	a->uniform = uniform_make(base, diff, places);
	a->whole_blocks = a->evidence.any_folded && writes_whole_blocks(a);
	a->kept_spaces = a->evidence.any_folded && keeps_inner_space(a);
	return a;
}

void adapt_free(struct adapter *a)
{
	evidence_release(&a->evidence);
	uniform_free(a->uniform);
	buf_release(&a->scratch);
	free(a);
}

/* Runs of spaces inside a line that may have been a tab. Two spaces after a sentence are not. */
static size_t count_wide_gaps(struct span text)
{
	size_t n = 0;

	for (size_t i = 1; i + 1 < text.len; i++)
		if (text.data[i] == ' ' && text.data[i + 1] == ' ' && text.data[i - 1] != ' ')
			n += !strchr(".!?:", text.data[i - 1]) ||
			     (i + 2 < text.len && text.data[i + 2] == ' ');
	return n;
}

/* Takes the text that the line shares with the removed one from the file; false (nothing appended)
 * if that would put unlike characters next to each other. */
static bool carry_over(struct adapter *a, struct span old, struct span file, struct span rest,
                       struct buf *out)
{
	size_t start = out->len;

	if (would_mix_quotes(old, file, rest) || has_both(transfer_middle(old, rest)) ||
	    !transfer_line(old, file, rest, out, put_middle, a))
		return false;
	/* A pair of which the file has the one and the line the other. */
	if (open_quotes(buf_from(out, start)) == open_quotes(file))
		return true;
	out->len = start;
	return false;
}

/* The text after the indentation. Where the diff's copy of the replaced line differs from the
 * file, and the added line shares more with that copy than with the file, it
 * has the same damage; what it shares is taken from the file. */
static bool put_body(struct adapter *a, struct span rest, const struct hunk_line *removed,
                     const struct span *body, struct buf *out)
{
	size_t start = out->len, honest_runs = 0;

	if (removed && !a->evidence.keeps_tabs) {
		struct span old = span_skip(removed->text, indent_of_line(removed->text).len);
		struct span file = span_skip(*body, indent_of_line(*body).len);

		while (!span_ends_in_space(rest) && span_ends_in_space(file))
			file.len--;
		while (!span_ends_in_space(rest) && span_ends_in_space(old))
			old.len--;
		if (span_eq(old, file))
			honest_runs = count_wide_gaps(old);
		else if (transfer_share(old, rest) > transfer_share(file, rest) &&
		         carry_over(a, old, file, rest, out))
			return true;
	}
	adapter_put_text(a, rest, out);
	return !a->evidence.inner_tabs ||
	       count_wide_gaps(buf_from(out, start)) <= honest_runs;
}

/* What the shift says that all old lines of the hunk have, and what the evidence of the whole diff
 * say; nothing if they disagree. */
static bool put_indent(struct adapter *a, size_t h, size_t index, struct span indent,
                       const struct hunk_line *removed, const struct span *body, struct buf *out)
{
	bool exact = a->places[h].fold == FOLD_EXACT;
	size_t start = out->len, end;

	switch (uniform_indent(a->uniform, h, index, out)) {
	case UNIFORM_UNKNOWN:
		return false;
	case UNIFORM_NONE:
		return evidence_indent(&a->evidence, h, exact, indent, removed, body, out) &&
		       !uniform_doubts(a->uniform, h, index, buf_from(out, start));
	default:
		break;
	}
	end = out->len;
	if (evidence_indent(&a->evidence, h, exact, indent, removed, body, out) &&
	    !span_eq(buf_from(out, end), span_of(out->data + start, end - start)))
		return false;
	out->len = end;
	return true;
}

/* New lines that are looked past for a neighbour: bounds the work on hostile diffs. */
enum { NEIGHBOUR_FAR = 64 };

/* Whether the added line plainly stands for a removed one: it repeats it, or much of it. */
static bool corresponds(const struct adapter *a, size_t index)
{
	const struct hunk_line *old = a->pairing->of[index].likest;

	return old && !span_is_blank(old->text) &&
	       nearest_likeness(old->text, a->diff->lines[index].text) >= LIKE_ENOUGH;
}

/* Whether the next line of the new text that the old one has, too, in that direction is its
 * neighbour there. */
static bool has_neighbour(const struct adapter *a, size_t h, size_t index, int step)
{
	const struct hunk_line *lines = a->diff->lines;
	size_t first = a->diff->hunks[h].first, end = first + a->places[h].count;
	const struct line_pair *pair = &a->pairing->of[index];
	size_t i = index + (size_t)step;

	for (int n = 0; n < NEIGHBOUR_FAR && i >= first && i < end && lines[i].op == '+' &&
	                !a->pairing->of[i].likest; n++)
		i += (size_t)step;
	if (i < first || i >= end || (lines[i].op == '+' && !a->pairing->of[i].likest))
		return false;
	/* Upwards the removed lines come before the added ones: what is above them counts. */
	if (lines[i].op == '-')
		return pair->replaces && pair->removed > &lines[first] &&
		       pair->removed[-1].op == ' ';
	if (lines[i].op == ' ')
		return pair->replaces &&
		       a->pairing->of[i].base_line == pair->base_line + (size_t)step;
	return corresponds(a, i) && a->pairing->of[i].likest == pair->removed + step;
}

/* Whether a blank line stands for the removed one that it repeats: they may be alike by chance. */
static bool stands_in_place(const struct adapter *a, size_t h, size_t index)
{
	const struct line_pair *pair = &a->pairing->of[index];

	if (a->whole_blocks ||
	    span_eq(pair->removed->text, line_body(lines_at(a->base, pair->base_line))))
		return true;
	return (pair->replaces && pair->same_blanks) || has_neighbour(a, h, index, -1) ||
	       has_neighbour(a, h, index, 1);
}

/* The file's line.  But where all else says that the added lines were not changed on the way, such
 * a line may be in the diff for its white space, which the removed line lost. */
static bool keep_line(struct adapter *a, size_t h, size_t index, struct span body,
                         struct buf *out)
{
	struct span text = a->diff->lines[index].text, indent = indent_of_line(text);
	size_t start = out->len;
	bool about_space;

	if (span_eq(text, body) || span_is_blank(text) || a->lookalikes & CLASS_SPACE)
		return buf_span(out, body);
	about_space = a->pairing->of[index].change == BLOCK_RESPACES ||
	              (span_starts(body, text) && span_is_blank(span_skip(body, text.len)));
	if ((about_space && !a->whole_blocks) ||
	    (a->kept_spaces && is_respaced(a, h) && !span_eq(span_trim(text), span_trim(body))))
		return false;
	if (!span_eq(indent, indent_of_line(body)) &&
	    !(put_indent(a, h, index, indent, a->pairing->of[index].removed, &body, out) &&
	      span_eq(buf_from(out, start), indent_of_line(body))))
		return false;
	out->len = start;
	return buf_span(out, body);
}

/* Whether the added line is plainly its removed one, changed, and the diff indents both alike: then
 * it is indented as that one is in the file, unless others show that added lines were spared. */
static bool keeps_indent_of(const struct adapter *a, size_t index, struct span indent)
{
	const struct line_pair *pair = &a->pairing->of[index];

	return a->evidence.verdict != VERDICT_SPARED && !a->evidence.keeps_tabs &&
	       pair->removed && pair->removed == pair->likest && corresponds(a, index) &&
	       span_eq(indent_of_line(pair->removed->text), indent) &&
	       indent_is_always(a->evidence.pairs, a->evidence.pair_count, indent,
	                        indent_of_line(line_body(lines_at(a->base, pair->base_line))));
}

bool adapt_line(struct adapter *a, size_t h, size_t index, struct buf *out)
{
	const struct line_pair *pair = &a->pairing->of[index];
	const struct hunk_line *removed = pair->removed;
	struct span text = a->diff->lines[index].text, indent, body = { 0 };
	bool exact = a->places[h].fold == FOLD_EXACT;

	if (!a->evidence.any_folded && !a->lookalikes)
		return buf_span(out, text);
	if (removed)
		body = line_body(lines_at(a->base, pair->base_line));
	if (line_repeats(a, index) && (!span_is_blank(text) || stands_in_place(a, h, index)))
		return keep_line(a, h, index, body, out);
	while (a->evidence.extra_cr && span_ends(text, SPAN("\r")))
		text.len--;
	if (a->evidence.extra_end.len && span_ends(text, a->evidence.extra_end))
		text.len -= a->evidence.extra_end.len;
	else if (a->evidence.doubtful_ends && span_ends_in_space(text) && !span_is_blank(text))
		return false;
	if (span_is_blank(text))
		return evidence_blank(&a->evidence, text, out);
	/* No-break spaces in front are damaged indentation. */
	if (a->lookalikes & CLASS_SPACE) {
		buf_clear(&a->scratch);
		adapter_put_text(a, text, &a->scratch);
		text = buf_view(&a->scratch);
	}
	indent = indent_of_line(text);
	return (!exact && keeps_indent_of(a, index, indent) ?
	                buf_span(out, indent_of_line(body)) :
	                put_indent(a, h, index, indent, removed, &body, out)) &&
	       put_body(a, span_skip(text, indent.len), exact ? NULL : removed, &body, out);
}
