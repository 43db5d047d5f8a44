/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/transfer.h"

#include "base/limits.h"
#include "base/text.h"
#include "patch/fold.h"

/* How many folded characters (white space dropped, look-alikes as ASCII) `text` has. */
static size_t folded_length(struct span text, struct buf *scratch)
{
	return fold_line(FOLD_LOOKALIKE_DROP, text, scratch).len;
}

/* One character of `text` at `at`: its bytes, and how many folded characters it makes. */
static size_t step(struct span text, size_t at, size_t *ret_folded)
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
		size_t folded, len = step(text, at, &folded);

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

static bool continues(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t common_head(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	while (n && ((n < a.len && continues(a.data[n])) || (n < b.len && continues(b.data[n]))))
		n--;
	return n;
}

static size_t common_tail(struct span a, struct span b, size_t max)
{
	size_t n = 0;

	while (n < max && a.data[a.len - 1 - n] == b.data[b.len - 1 - n])
		n++;
	while (n && continues(a.data[a.len - n]))
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
	size_t head = common_head(one, other), tail;

	if (is_space_at(one, head) || is_space_at(other, head))
		while (head && fold_is_space(one.data[head - 1]))
			head--;
	tail = common_tail(one, other, shorter - head);
	if ((tail < one.len && fold_is_space(one.data[one.len - tail - 1])) ||
	    (tail < other.len && fold_is_space(other.data[other.len - tail - 1])))
		while (tail && fold_is_space(one.data[one.len - tail]))
			tail--;
	*ret_head = head;
	*ret_tail = tail;
}

static bool ends_in_space(struct span text)
{
	return text.len && fold_is_space(text.data[text.len - 1]);
}

size_t transfer_share(struct span one, struct span other)
{
	size_t head, tail;

	find_shared(one, other, &head, &tail);
	return head + tail;
}

struct span transfer_middle(struct span removed, struct span added)
{
	size_t head, tail;

	find_shared(removed, added, &head, &tail);
	return span_of(added.data + head, added.len - head - tail);
}

bool transfer_line(struct span removed, struct span file, struct span added, struct buf *out,
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
	                  ends_in_space(span_head(removed, head)), &file_head) ||
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
