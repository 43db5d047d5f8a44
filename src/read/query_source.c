/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a file for libjq: JSON by its own parser, a piece of the file at a time, the other
 * formats as trees. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "read/query.h"

/* ---- elements of an array ---------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* A byte of an element that is in no string. */
static void split_inside(struct query_elements *split, char c)
{
	if (c == '"')
		split->in_string = true;
	else if (c == '[' || c == '{')
		split->depth++;
	else if ((c == ']' || c == '}') && split->depth && --split->depth == 0)
		split->at = SPLIT_AFTER;
}

static void split_string(struct query_elements *split, char c)
{
	if (split->escaped) {
		split->escaped = false;
	} else if (c == '\\') {
		split->escaped = true;
	} else if (c == '"') {
		split->in_string = false;
		if (!split->depth)
			split->at = SPLIT_AFTER;
	}
}

/* The first byte of an element, or the array's end. */
static bool split_begin(struct query_elements *split, char *c)
{
	if (*c == ']' && !split->after_comma) {
		split->at = SPLIT_ENDED;
		*c = ' ';
		return true;
	}
	if (*c == ',' || *c == ']' || *c == '}')
		return false;
	split->at = SPLIT_INSIDE;
	split->depth = 0;
	split_inside(split, *c);
	return true;
}

/* A byte between elements, after the first `[`. */
static bool split_between(struct query_elements *split, char *c)
{
	if (split->at == SPLIT_VALUE)
		return split_begin(split, c);
	if (split->at == SPLIT_ENDED || (*c != ',' && *c != ']'))
		return false;
	split->after_comma = *c == ',';
	split->at = *c == ',' ? SPLIT_VALUE : SPLIT_ENDED;
	*c = ' ';
	return true;
}

/* One byte. */
static bool split_byte(struct query_elements *split, char *c)
{
	if (split->at == SPLIT_INSIDE && split->in_string) {
		split_string(split, *c);
		return true;
	}
	if (split->at == SPLIT_INSIDE && !split->depth && (*c == ',' || *c == ']' || is_blank(*c)))
		split->at = SPLIT_AFTER; /* a number or a word has ended */
	if (split->at == SPLIT_INSIDE) {
		split_inside(split, *c);
		return true;
	}
	if (is_blank(*c))
		return true;
	if (split->at != SPLIT_BEFORE)
		return split_between(split, c);
	split->at = SPLIT_VALUE;
	if (*c != '[')
		return false;
	*c = ' ';
	return true;
}

bool query_elements(struct query_elements *split, char *bytes, size_t len, size_t *ret_at)
{
	for (size_t i = 0; i < len; i++) {
		if (split->at == SPLIT_INSIDE && split->in_string && !split->escaped)
			while (i < len && bytes[i] != '"' && bytes[i] != '\\')
				i++;
		if (i < len && !split_byte(split, &bytes[i])) {
			*ret_at = i;
			return false;
		}
	}
	return true;
}

/* ---- pieces ------------------------------------------------------------------------ */

enum {
	SOURCE_PIECE = 128 << 10,
	DIGITS_EXACT = 15, /* of a decimal number that a double always holds */
};

/* Whether a number of more digits than a double holds stands in the piece: one in each so many
 * bytes must be a digit of it. */
static bool has_long_number(const char *bytes, size_t len)
{
	for (size_t i = DIGITS_EXACT; i < len; i += DIGITS_EXACT + 1) {
		size_t from = i, to = i;

		if (!ascii_is_digit(bytes[i]))
			continue;
		while (from && ascii_is_digit(bytes[from - 1]))
			from--;
		while (to < len && ascii_is_digit(bytes[to]))
			to++;
		if (to - from > DIGITS_EXACT + 1 && from && to < len &&
		    strchr(" \t\r\n:,[-", bytes[from - 1]) && strchr(" \t\r\n,]}", bytes[to]))
			return true;
	}
	return false;
}

/* Reads the next piece and hands it to the parser; an invalid value with a message if that
 * fails. */
static jv source_feed(struct query_source *source)
{
	const struct jq_library *jq = source->jq;
	ssize_t got = pread(source->input->fd, source->piece, SOURCE_PIECE, (off_t)source->at);
	size_t wrong;

	if (got < 0)
		return jq->jv_invalid_with_msg(jq->jv_string("The file cannot be read"));
	source->ended = got == 0;
	source->at += (uint64_t)got;
	source->rounded = source->rounded || has_long_number(source->piece, (size_t)got);
	if (source->max_bytes && source->at >= source->max_bytes &&
	    source->at < source->input->size)
		source->stopped = true;
	if (source->elements &&
	    !query_elements(&source->split, source->piece, (size_t)got, &wrong)) {
		_cleanup_free_ char *text = mem_printf("Expected elements between commas, and "
		                                       "nothing after the array, at byte %zu",
		                                       (size_t)source->at - (size_t)got + wrong);

		return jq->jv_invalid_with_msg(jq->jv_string(text));
	}
	if (source->elements && source->ended && source->split.at != SPLIT_ENDED)
		return jq->jv_invalid_with_msg(jq->jv_string("The array has no end"));
	jq->jv_parser_set_buf(source->parser, source->piece, (int)got, !source->ended);
	return jq->jv_invalid();
}

static jv source_parsed(struct query_source *source)
{
	const struct jq_library *jq = source->jq;

	for (;;) {
		jv value = jq->jv_parser_next(source->parser);

		if (jq->jv_get_kind(value) != JV_KIND_INVALID ||
		    jq->jv_invalid_has_msg(jq->jv_copy(value))) {
			source->ended = jq->jv_get_kind(value) == JV_KIND_INVALID;
			return value;
		}
		jq->jv_free(value);
		if (source->ended || source->stopped)
			return jq->jv_invalid();
		value = source_feed(source);
		if (jq->jv_invalid_has_msg(jq->jv_copy(value))) {
			source->ended = true;
			return value;
		}
		jq->jv_free(value);
	}
}

/* ---- opening ----------------------------------------------------------------------- */

static bool is_array_head(struct span head)
{
	head = utf8_skip_mark(head);
	while (head.len && is_blank(head.data[0]))
		head = span_skip(head, 1);
	return head.len && head.data[0] == '[';
}

bool query_source_open(struct query_source *source, const struct jq_library *jq,
                       const struct format_input *input, enum query_way way, struct err *err)
{
	char head[512];
	const ssize_t got = pread(input->fd, head, sizeof(head), 0);
	const struct span start = span_of(head, got > 0 ? (size_t)got : 0);

	*source = (struct query_source){ .jq = jq, .input = input, .value = jq->jv_invalid() };
	if (got < 0)
		return err_set(err, ERR_IO_ERROR, "It cannot be read.");
	if (!query_tree_of(source, start, err))
		return false;
	if (source->whole)
		return true;
	if (source->format == STRUCTURED_JSON && input->size > LIMIT_QUERY_WHOLE_BYTES) {
		source->elements = way != QUERY_WHOLE && is_array_head(start);
		source->events = way == QUERY_EVENTS && !source->elements;
	}
	if (span_starts(start, SPAN("\xef\xbb\xbf")))
		source->at = 3;
	source->piece = mem_alloc(1, SOURCE_PIECE);
	source->parser = jq->jv_parser_new(source->events ? JV_PARSE_STREAMING : 0);
	return true;
}

jv query_source_next(struct query_source *source)
{
	const struct jq_library *jq = source->jq;
	jv value = source->value;

	if (source->whole) {
		source->value = jq->jv_invalid();
	} else if (source->ended) {
		return jq->jv_invalid();
	} else {
		value = source_parsed(source);
		if (jq->jv_get_kind(value) == JV_KIND_INVALID && !source->values &&
		    source->format == STRUCTURED_JSON && !source->elements &&
		    jq->jv_invalid_has_msg(jq->jv_copy(value)) && query_tree_comments(source)) {
			jq->jv_free(value);
			return query_source_next(source);
		}
	}
	source->values += jq->jv_get_kind(value) != JV_KIND_INVALID;
	return value;
}

void query_source_close(struct query_source *source)
{
	free(source->piece);
	source->piece = NULL;
	if (source->parser)
		source->jq->jv_parser_free(source->parser);
	source->parser = NULL;
	source->jq->jv_free(source->value);
	source->value = source->jq->jv_invalid();
}
